//! Machines that learn classes.

mod adatron;
mod huber_kfd;
mod invariant_kfd;
mod kernel_logistic;
mod kfd;
mod knn;
mod linear_sparse_kfd;
mod linear_svc;
mod lp_boost;
mod lp_machine;
mod nearest_mean;
mod nu_svc;
mod pac_bayes;
mod parzen;
mod perceptron;
mod programme;
mod regularised_fisher;
mod robust_kfd;
mod sparse_kfd;
mod svc;
#[cfg(test)]
mod windows;

pub use adatron::Adatron;
pub use huber_kfd::huber_kfd;
pub use invariant_kfd::InvariantKfd;
pub use kernel_logistic::kernel_logistic;
pub use kfd::{Kfd, KfdSolver};
pub use knn::Knn;
pub use linear_sparse_kfd::linear_sparse_kfd;
pub use linear_svc::{LinearSvc, MarginLoss};
pub use lp_boost::lp_boost;
pub use lp_machine::lp_machine;
pub use nearest_mean::NearestMean;
pub use nu_svc::NuSvc;
pub use pac_bayes::PacBayes;
pub use parzen::Parzen;
pub use perceptron::Perceptron;
pub use programme::programme;
pub use regularised_fisher::{FisherTarget, RegularisedFisher};
pub use robust_kfd::robust_kfd;
pub use sparse_kfd::sparse_kfd;
pub use svc::{Loss, Svc};

use super::MachineEntry;
pub use super::Strategy;

/// The machines of this folder.
pub static ENTRIES: &[&MachineEntry] = &[
    &svc::ENTRY,
    &nu_svc::ENTRY,
    &linear_svc::ENTRY,
    &nearest_mean::ENTRY,
    &perceptron::ENTRY,
    &pac_bayes::ENTRY,
    &parzen::ENTRY,
    &adatron::ENTRY,
    &regularised_fisher::ENTRY,
    &kfd::ENTRY,
    &robust_kfd::ENTRY,
    &huber_kfd::ENTRY,
    &sparse_kfd::ENTRY,
    &linear_sparse_kfd::ENTRY,
    &lp_machine::ENTRY,
    &lp_boost::ENTRY,
    &kernel_logistic::ENTRY,
    &programme::ENTRY,
    &invariant_kfd::ENTRY,
    &knn::ENTRY,
    #[cfg(test)]
    &windows::MACHINE,
];
