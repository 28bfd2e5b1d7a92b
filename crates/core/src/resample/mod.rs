//! Resampling: fits on parts of the examples, and their scores of the others.

mod refit;
mod split;

pub use refit::held_out_scores;
pub(crate) use refit::without;
pub use split::folds;
