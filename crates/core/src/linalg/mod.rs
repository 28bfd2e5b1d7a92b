//! Dense linear algebra on numbers: products, Cholesky factors, triangular systems, and eigenvalues of symmetric matrices.
//!
//! The only folder that names faer, whose blocked algorithms do the work where `factor` does not; each file names the method and its
//! source. Products, substitutions and Cholesky factors are cut into tiles that do not depend on the number of threads, so that
//! neither do the numbers; eigendecompositions of more than 256 rows depend on it in their last digits.

mod cholesky;
mod eigen;
mod error;
mod factor;
mod inverse;
mod krylov;
mod product;
mod sweeps;
mod symmetric;
mod triangle;

pub use cholesky::{Cholesky, NotPositive, cholesky_bytes};
pub use eigen::{Eigen, symmetric_eigen, symmetric_eigen_bytes};
pub use error::SolveError;
pub use inverse::{Inverse, inverse_and_log_determinant};
pub use krylov::{Apply, KrylovOptions, Proceed, TopEigen, top_eigen};
pub use product::{dot, gram_of_columns, multiply_add, multiply_transposed, transposed_multiply};
pub use triangle::{Triangle, inverse_lower};

/// Largest size of a matrix that one thread works on: it is no slower, and its numbers do not depend on how many there
/// are.
const MAX_SIZE_FOR_ONE_THREAD: usize = 256;

/// The threads of the current rayon pool for a matrix of n rows, as faer wants to be told.
fn threads_for(n: usize) -> faer::Par {
    match rayon::current_num_threads() {
        threads if n > MAX_SIZE_FOR_ONE_THREAD && threads > 1 => faer::Par::rayon(threads),
        _ => faer::Par::Seq,
    }
}
