//! Machines that learn classes.

mod linear_svc;
mod nearest_mean;
mod nu_svc;
mod pairs;
mod perceptron;
mod svc;

pub use linear_svc::{LinearSvc, MarginLoss};
pub use nearest_mean::NearestMean;
pub use nu_svc::NuSvc;
pub use perceptron::Perceptron;
pub use svc::{Loss, Strategy, Svc};

use super::MachineEntry;

/// The machines of this folder.
pub static ENTRIES: &[&MachineEntry] =
    &[&svc::ENTRY, &nu_svc::ENTRY, &linear_svc::ENTRY, &nearest_mean::ENTRY, &perceptron::ENTRY];
