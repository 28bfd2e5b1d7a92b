//! Machines that predict numbers.

mod expectile;
mod knn_regression;
mod linear_svr;
mod nu_svr;
mod penalties;
mod primal;
mod quantile;
pub mod ridge;
mod svr;

pub use expectile::Expectile;
pub use knn_regression::KnnRegression;
pub use linear_svr::{InsensitiveLoss, LinearSvr};
pub use nu_svr::NuSvr;
pub use quantile::Quantile;
pub use ridge::{LooPoint, Ridge, RidgeSolver};
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
];
