//! Regression with Huber's loss.
//!
//! The width s is in units of the target.

use crate::machines::programme::{Cell, LossName, Programme};
use crate::machines::{Learns, MachineEntry};
use crate::solvers::Penalty;
use crate::sources::{MIKA, Source};

/// The cell of the table.
static CELL: Cell = Cell::new(&ENTRY, LossName::Huber, Penalty::Norm).free_penalty();

/// The machine with a λ.
pub fn huber_regression(lambda: f64) -> Programme {
    Programme { lambda, ..Programme::of(&CELL) }
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: "huber_regression",
    aliases: &[],
    summary: "regression with squares for small errors and absolute values for large ones",
    formula: "min Σ huber_s(y_i − f(x_i)) + λ P(α), huber_s(e) = e²/(2s) up to |e| = s = width, |e| − s/2 beyond",
    learns: Learns::Numbers,
    source: Source::new(&MIKA, "§3.4.8, §3.6.3"),
    use_when: "the noise is Gaussian but for a few outliers",
    cost: "As `svc`; with penalty=coefficients the same on K², which is stored, with penalty=sparse as `sparse_regression`.",
    make: || Box::new(Programme::of(&CELL)),
};
