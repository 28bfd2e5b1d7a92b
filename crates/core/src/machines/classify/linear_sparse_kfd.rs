//! Linear sparse kernel Fisher discriminants: absolute errors and few coefficients, a linear programme.
//!
//! From some λ on α = 0, and the median of the labels is all that is left: the larger class.

use crate::machines::programme::{Cell, LossName, Programme};
use crate::machines::{Learns, MachineEntry};
use crate::solvers::Penalty;
use crate::sources::{MIKA, Source};

/// The cell of the table.
static CELL: Cell = Cell::new(&ENTRY, LossName::Absolute, Penalty::Sparse);

/// The machine with a λ.
pub fn linear_sparse_kfd(lambda: f64) -> Programme {
    Programme { lambda, ..Programme::of(&CELL) }
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: "linear_sparse_kfd",
    aliases: &["lskfd"],
    summary: "kernel Fisher discriminant as a linear programme: absolute errors, very few coefficients",
    formula: "min Σ |y_i − f(x_i)| + λ ‖α‖₁",
    learns: Learns::Classes,
    source: Source::corrected(&MIKA, "(3.55), (3.56)", "α are the multipliers of the dual's constraints and not K⁻¹β"),
    use_when: "predictions must be as cheap as can be",
    cost: "K is stored, n² numbers; a few passes over it, and systems of as many unknowns as coefficients come into question: far less than n³ where few are needed, some ten times n³ where not.",
    make: || Box::new(Programme::of(&CELL)),
};
