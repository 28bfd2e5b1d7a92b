//! Views: matrices made of other matrices. The algebra of kernels at run time.
//!
//! Sums and products of matrices need no common type of example, so a formula may mix views of the data freely.

mod adjusted;
mod combined;
mod hollow;
mod identity;
mod lazy;
mod memoised;
mod pointwise;
mod referred;
mod row_cache;
mod segmented;
mod submatrix;

pub(crate) use adjusted::row_means;
pub use adjusted::{Adjusted, Centring};
pub use combined::{Combine, Combined};
pub(crate) use hollow::Hollow;
pub use identity::{Constant, Identity};
pub(crate) use lazy::Lazy;
pub(crate) use memoised::Memoised;
pub use pointwise::{Pointwise, Shape};
pub(crate) use referred::{FarOrigin, Referred};
pub use row_cache::RowCache;
pub use segmented::{Segmented, Sets};
pub use submatrix::Submatrix;
