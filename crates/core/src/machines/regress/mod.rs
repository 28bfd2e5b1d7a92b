//! Machines that predict numbers.

mod primal;
pub mod ridge;

pub use ridge::{LooPoint, Ridge, RidgeSolver};

use super::MachineEntry;

/// All machines that predict numbers.
pub static ENTRIES: &[&MachineEntry] = &[&ridge::ENTRY];
