//! Views: matrices made of other matrices. The algebra of kernels at run time.
//!
//! Sums and products of matrices need no common type of example, so a formula may mix views of the data freely.

mod adjusted;
mod chosen;
mod combined;
mod identity;
mod kept;
mod pointwise;
mod segmented;

pub use adjusted::{Adjusted, Centring};
pub use chosen::Chosen;
pub use combined::{Combine, Combined};
pub use identity::{Constant, Identity};
pub use kept::Kept;
pub use pointwise::{Pointwise, Shape};
pub use segmented::{Segmented, Sets};
