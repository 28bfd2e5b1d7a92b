//! Sparse kernel regression with absolute errors, a linear programme.
//!
//! From some λ on the median of the target is all that is left.

use crate::machines::programme::{Cell, LossName, Programme};
use crate::machines::{Learns, MachineEntry};
use crate::solvers::Penalty;
use crate::sources::{MIKA, Source};

/// The cell of the table.
static CELL: Cell = Cell::new(&ENTRY, LossName::Absolute, Penalty::Sparse);

/// The machine with a λ.
pub fn linear_sparse_regression(lambda: f64) -> Programme {
    Programme { lambda, ..Programme::of(&CELL) }
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: "linear_sparse_regression",
    aliases: &[],
    summary: "kernel regression as a linear programme: absolute errors, very few coefficients",
    formula: "min Σ |y_i − f(x_i)| + λ ‖α‖₁",
    learns: Learns::Numbers,
    source: Source::new(&MIKA, "(3.55), §3.6.3"),
    use_when: "numbers are to be predicted as cheaply as can be, and the noise has long tails",
    cost: "K is stored, n² numbers; a few passes over it, and systems of as many unknowns as coefficients come into question: far less than n³ where few are needed, some ten times n³ where not.",
    make: || Box::new(Programme::of(&CELL)),
};
