//! Machines for comparisons: classical methods on explicit coordinates, beside which kernel machines are judged.

mod adaboost;
mod clouds;
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
pub use linear_fisher::LinearFisher;
pub use linear_regression::LinearRegression;
pub use logistic_regression::LogisticRegression;
pub use net::{NetOptions, Widths};
pub use quadratic_discriminant::QuadraticDiscriminant;
pub use rbf_network::RbfNetwork;
pub use rbf_network_regression::RbfNetworkRegression;

use super::MachineEntry;
use crate::data::Rows;
use crate::geometry::k_means;
use crate::seed::Seed;

/// The centres of at most `k` clusters of rows that count alike.
pub(crate) fn centres(rows: &Rows<f64>, k: usize, seed: Seed) -> Rows<f64> {
    let (n, d) = (rows.len(), rows.width());
    let found = k_means(rows.values(), d, &vec![1.0; n], k, &mut seed.stream("centres")).centres;
    let count = found.len() / d.max(1);
    Rows::new(found, count, d).unwrap_or_else(|| rows.select(&[]))
}

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
