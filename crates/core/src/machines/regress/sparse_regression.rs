//! Sparse kernel regression: squared errors and few coefficients.
//!
//! α = 0 from λ = ‖K(y − ȳ)‖_∞ on.

use crate::machines::programme::{Cell, LossName, Programme};
use crate::machines::{Learns, MachineEntry};
use crate::solvers::Penalty;
use crate::sources::{MIKA, Source};

/// The cell of the table.
static CELL: Cell = Cell::new(&ENTRY, LossName::Squared, Penalty::Sparse);

/// The machine with a λ.
pub fn sparse_regression(lambda: f64) -> Programme {
    Programme { lambda, ..Programme::of(&CELL) }
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: "sparse_regression",
    aliases: &["kernel_lasso"],
    summary: "kernel regression carried by few examples: a lasso on the columns of K",
    formula: "min ½ Σ (y_i − f(x_i))² + λ ‖α‖₁",
    learns: Learns::Numbers,
    source: Source::new(&MIKA, "(3.53), §3.6.3"),
    use_when: "numbers are to be predicted cheaply, from few examples",
    cost: "K is stored, n² numbers; a few passes over it, and systems of as many unknowns as coefficients come into question: far less than n³ where few are needed, some ten times n³ where not.",
    make: || Box::new(Programme::of(&CELL)),
};
