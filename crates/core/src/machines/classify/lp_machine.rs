//! Linear programming machines: the hinge loss with few coefficients.
//!
//! Boosting by linear programming solves the same programme with hypotheses κ(x_j, ·): the margin for ‖α‖₁ = 1 is 1/‖α‖₁. The kernel
//! need not be positive definite.

use crate::machines::programme::{Cell, LossName, Programme};
use crate::machines::{Learns, MachineEntry};
use crate::solvers::Penalty;
use crate::sources::{MIKA, Source};

/// The cell of the table.
static CELL: Cell = Cell::new(&ENTRY, LossName::Hinge, Penalty::Sparse);

/// The machine with a λ.
pub fn lp_machine(lambda: f64) -> Programme {
    Programme { lambda, ..Programme::of(&CELL) }
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: "lp_machine",
    aliases: &["one_norm_svm"],
    summary: "support vector machine with ‖α‖₁ for ‖w‖²: a linear programme with few coefficients",
    formula: "min Σ max(0, 1 − y_i f(x_i)) + λ ‖α‖₁",
    learns: Learns::Classes,
    source: Source::new(&MIKA, "§3.6, Table 3.1"),
    use_when: "margins are wanted, and an expansion sparser than that of a support vector machine",
    cost: "K is stored, n² numbers; a few passes over it, and systems of as many unknowns as coefficients come into question: far less than n³ where few are needed, some ten times n³ where not.",
    make: || Box::new(Programme::of(&CELL)),
};
