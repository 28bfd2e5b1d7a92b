//! Resampling: fits on parts of the examples, and their scores of the others.
//!
//! Probabilities, conformal regions, searches, learning curves, trials and the folds beside certificates all need fits that have not
//! seen some examples. They share one builder of a kernel on data (`KernelOnData`), one fit on a part (`refit`) and one
//! cross-validation of many parameters on many splits (`engine`), so that kernel values are computed once.

mod chain;
mod engine;
mod folds;
mod kernel_on_data;
mod refit;
mod split;
mod spread;
mod suits;

pub(crate) use chain::Point;
pub(crate) use engine::{CrossValidator, FoldResult};
pub(crate) use folds::Folds;
#[cfg(test)]
pub(crate) use kernel_on_data::BUILT;
pub(crate) use kernel_on_data::KernelOnData;
pub use refit::held_out_scores;
pub(crate) use refit::without;
pub use split::{Split, SplitBy, folds, folds_of_shared_classes, set_aside};
pub use spread::{mean_and_deviation, standard_error};
pub use suits::doubt;
