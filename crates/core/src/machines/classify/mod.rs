//! Machines that learn classes.

mod adatron;
mod knn;
mod linear_svc;
mod nearest_mean;
mod nu_svc;
mod pairs;
mod parzen;
mod perceptron;
mod regularised_fisher;
mod svc;

pub use adatron::Adatron;
pub use knn::Knn;
pub use linear_svc::{LinearSvc, MarginLoss};
pub use nearest_mean::NearestMean;
pub use nu_svc::NuSvc;
pub use parzen::Parzen;
pub use perceptron::Perceptron;
pub use regularised_fisher::{FisherTarget, RegularisedFisher};
pub use svc::{Loss, Strategy, Svc};

use super::MachineEntry;

/// The machines of this folder.
pub static ENTRIES: &[&MachineEntry] = &[
    &svc::ENTRY,
    &nu_svc::ENTRY,
    &linear_svc::ENTRY,
    &nearest_mean::ENTRY,
    &perceptron::ENTRY,
    &parzen::ENTRY,
    &adatron::ENTRY,
    &regularised_fisher::ENTRY,
    &knn::ENTRY,
];
