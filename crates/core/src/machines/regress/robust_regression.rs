//! Regression with absolute errors.
//!
//! With P = ½‖w‖² it is support vector regression with a tube of no width and C = 1/λ.

use crate::machines::programme::{Cell, LossName, Programme};
use crate::machines::{Learns, MachineEntry};
use crate::solvers::Penalty;
use crate::sources::{MIKA, Source};

/// The cell of the table.
static CELL: Cell = Cell::new(&ENTRY, LossName::Absolute, Penalty::Norm).free_penalty();

/// The machine with a λ.
pub fn robust_regression(lambda: f64) -> Programme {
    Programme { lambda, ..Programme::of(&CELL) }
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: "robust_regression",
    aliases: &["least_absolute"],
    summary: "regression with absolute errors, which outliers do not pull",
    formula: "min Σ |y_i − f(x_i)| + λ P(α)",
    learns: Learns::Numbers,
    source: Source::corrected(&MIKA, "(3.50), §3.6.3", "the bounds of the dual are −1 and 1"),
    use_when: "the noise has long tails: medians are wanted instead of means",
    cost: "As `svc`; with penalty=coefficients the same on K², which is stored, with penalty=sparse as `sparse_regression`.",
    make: || Box::new(Programme::of(&CELL)),
};
