//! Robust kernel Fisher discriminants: absolute errors instead of squares.
//!
//! It is support vector regression on ±1 with a tube of no width and C = 1/λ: examples that it fits exactly have multipliers between
//! the bounds.

use crate::machines::programme::{Cell, LossName, Programme};
use crate::machines::{Learns, MachineEntry};
use crate::solvers::Penalty;
use crate::sources::{MIKA, Source};

/// The cell of the table.
static CELL: Cell = Cell::new(&ENTRY, LossName::Absolute, Penalty::Norm);

/// The machine with a λ.
pub fn robust_kfd(lambda: f64) -> Programme {
    Programme { lambda, ..Programme::of(&CELL) }
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: "robust_kfd",
    aliases: &[],
    summary: "kernel Fisher discriminant with absolute errors, which outliers do not pull",
    formula: "min Σ |y_i − f(x_i)| + ½ λ ‖w‖²",
    learns: Learns::Classes,
    source: Source::corrected(&MIKA, "(3.50), (3.51)", "the bounds of the dual are −1 and 1"),
    use_when: "outputs are to gather at ±1 as a Fisher discriminant's do, and some examples are far off or wrongly labelled",
    cost: "As `svc`.",
    make: || Box::new(Programme::of(&CELL)),
};
