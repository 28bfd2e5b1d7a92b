//! Linear algebra: the only folder that names faer.

mod cholesky;
mod eigen;
mod krylov;
mod product;

pub use cholesky::{Cholesky, NotPositive};
pub use eigen::{Eigen, symmetric_eigen};
pub use krylov::{KrylovOptions, TopEigen, top_eigen};
pub use product::{multiply_add, multiply_transposed};
