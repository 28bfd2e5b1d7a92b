//! Linear algebra: the only folder that names faer.

mod cholesky;
mod eigen;
mod krylov;
mod product;

pub use cholesky::{Cholesky, NotPositive};
pub use eigen::{Eigen, symmetric_eigen, symmetric_eigen_bytes};
pub use krylov::{Apply, KrylovOptions, Proceed, TopEigen, top_eigen};
pub use product::{gram_of_columns, multiply_add, multiply_transposed, transposed_multiply};

/// The threads of the current rayon pool, as faer wants to be told.
fn threads() -> faer::Par {
    match rayon::current_num_threads() {
        0 | 1 => faer::Par::Seq,
        n => faer::Par::rayon(n),
    }
}
