//! Huber's kernel Fisher discriminants: squares for small errors, absolute values for large ones.
//!
//! The thesis leaves its dual out; it is that of absolute errors with −½ s ‖β‖² added, so that a width of zero would be the robust
//! discriminant and a large one with λ scaled the plain one.

use crate::machines::programme::{Cell, LossName, Programme};
use crate::machines::{Learns, MachineEntry};
use crate::solvers::Penalty;
use crate::sources::{MIKA, Source};

/// The cell of the table.
static CELL: Cell = Cell::new(&ENTRY, LossName::Huber, Penalty::Norm);

/// The machine with a λ.
pub fn huber_kfd(lambda: f64) -> Programme {
    Programme { lambda, ..Programme::of(&CELL) }
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: "huber_kfd",
    aliases: &[],
    summary: "kernel Fisher discriminant with Huber's loss: squares up to a width, then straight lines",
    formula: "min Σ huber_s(y_i − f(x_i)) + ½ λ ‖w‖², huber_s(e) = e²/(2s) up to |e| = s = width, |e| − s/2 beyond",
    learns: Learns::Classes,
    source: Source::new(&MIKA, "§3.4.8"),
    use_when: "errors are Gaussian but for a few outliers",
    cost: "As `svc`.",
    make: || Box::new(Programme::of(&CELL)),
};
