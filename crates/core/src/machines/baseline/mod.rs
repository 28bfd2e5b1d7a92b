//! Machines for comparisons: classical methods on explicit coordinates, beside which kernel machines are judged.

mod adaboost;
mod clouds;
mod k_means;
mod linear_fisher;
mod linear_regression;
mod logistic_regression;
mod net;
mod quadratic_discriminant;
mod rbf_network;
mod rbf_network_regression;
mod stumps;
mod table;

pub use adaboost::{AdaBoost, Learner};
pub(crate) use k_means::centres;
pub use linear_fisher::LinearFisher;
pub use linear_regression::LinearRegression;
pub use logistic_regression::LogisticRegression;
pub use net::{NetOptions, Widths};
pub use quadratic_discriminant::QuadraticDiscriminant;
pub use rbf_network::RbfNetwork;
pub use rbf_network_regression::RbfNetworkRegression;

use super::MachineEntry;

/// The machines of this folder.
pub static ENTRIES: &[&MachineEntry] = &[
    &adaboost::ENTRY,
    &logistic_regression::ENTRY,
    &linear_fisher::ENTRY,
    &quadratic_discriminant::ENTRY,
    &rbf_network::ENTRY,
    &linear_regression::ENTRY,
    &rbf_network_regression::ENTRY,
];
