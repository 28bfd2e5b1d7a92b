//! Machines that predict numbers.

mod expectile;
mod huber_regression;
mod knn_regression;
mod left_out;
mod linear_sparse_regression;
mod linear_svr;
mod nu_svr;
mod penalties;
mod primal;
mod programme_regression;
mod quantile;
pub(crate) mod ridge;
mod robust_regression;
mod sparse_regression;
mod svr;

pub use expectile::Expectile;
pub use huber_regression::huber_regression;
pub use knn_regression::KnnRegression;
pub use left_out::LooPoint;
pub use linear_sparse_regression::linear_sparse_regression;
pub use linear_svr::{InsensitiveLoss, LinearSvr};
pub use nu_svr::NuSvr;
pub use programme_regression::programme_regression;
pub use quantile::Quantile;
pub use ridge::{Ridge, RidgeSolver};
pub use robust_regression::robust_regression;
pub use sparse_regression::sparse_regression;
pub use svr::{Svr, TubeLoss};

use super::MachineEntry;

/// All machines that predict numbers.
pub static ENTRIES: &[&MachineEntry] = &[
    &ridge::ENTRY,
    &svr::ENTRY,
    &nu_svr::ENTRY,
    &linear_svr::ENTRY,
    &quantile::ENTRY,
    &expectile::ENTRY,
    &knn_regression::ENTRY,
    &robust_regression::ENTRY,
    &huber_regression::ENTRY,
    &sparse_regression::ENTRY,
    &linear_sparse_regression::ENTRY,
    &programme_regression::ENTRY,
];
