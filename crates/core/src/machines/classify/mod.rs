//! Machines that learn classes.

mod nearest_mean;
mod svc;

pub use nearest_mean::NearestMean;
pub use svc::Svc;

use super::MachineEntry;

/// The machines of this folder.
pub static ENTRIES: &[&MachineEntry] = &[&svc::ENTRY, &nearest_mean::ENTRY];
