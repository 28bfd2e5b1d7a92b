//! The eigendecomposition K = UΛUᵀ of a symmetric matrix.
//!
//! faer reduces K to a tridiagonal matrix by Householder reflections, decomposes that by divide and conquer, and carries the
//! eigenvectors back. Up to the size that one thread works on, the numbers do not depend on the number of threads.
//!
//! # Source
//! Golub & Van Loan, Matrix Computations (4th ed. 2013), §8.3 (reduction) and §8.4 (divide and conquer); Cuppen (1981), A divide
//! and conquer method for the symmetric tridiagonal eigenproblem, Numer. Math. 36.

use super::threads_for;
use crate::linalg::SolveError;
use crate::parallel;
use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd;
use faer::{MatMut, MatRef};

/// Rows that one thread takes at a time.
const ROWS: usize = 16;

/// All eigenvalues and eigenvectors of a symmetric matrix.
#[derive(Clone, Debug)]
pub struct Eigen {
    /// The eigenvalues, the largest first.
    pub values: Vec<f64>,
    /// n × n numbers, row by row; column j is the unit eigenvector of `values[j]`.
    pub vectors: Vec<f64>,
}

/// The memory that [`symmetric_eigen`] needs beyond the given matrix, in bytes.
pub fn symmetric_eigen_bytes(n: usize) -> usize {
    let yes = evd::ComputeEigenvectors::Yes;
    let scratch = evd::self_adjoint_evd_scratch::<f64>(n, yes, threads_for(n), faer::Spec::default());
    scratch.unaligned_bytes_required() + 8 * n * (n + 1)
}

/// Decomposes a symmetric matrix of n × n numbers, with the threads of the current pool. Takes about
/// 9n³ operations. Above 256 rows the last digits depend on the number of threads.
///
/// # Panics
/// If there are not n × n numbers.
pub fn symmetric_eigen(mut matrix: Vec<f64>, n: usize) -> Result<Eigen, SolveError> {
    assert_eq!(matrix.len(), n * n, "the matrix is square");
    if n == 0 {
        return Ok(Eigen { values: Vec::new(), vectors: Vec::new() });
    }
    // faer does not look for values that are not finite, and would not end well
    if let Some(p) = matrix.iter().position(|x| !x.is_finite()) {
        return Err(SolveError::NotFinite { row: p / n + 1, column: p % n + 1 });
    }
    let par = threads_for(n);
    let (mut values, mut columns) = (vec![0.0; n], vec![0.0; n * n]);
    {
        let wants = evd::self_adjoint_evd_scratch::<f64>(n, evd::ComputeEigenvectors::Yes, par, faer::Spec::default());
        let mut memory = MemBuffer::new(wants);
        evd::self_adjoint_evd(
            MatRef::from_row_major_slice(&matrix, n, n).transpose(),
            DiagMut::from_slice_mut(&mut values),
            Some(MatMut::from_column_major_slice_mut(&mut columns, n, n)),
            par,
            MemStack::new(&mut memory),
            faer::Spec::default(),
        )
        .map_err(|_| SolveError::Eigen { size: n })?;
    }
    // smallest first becomes largest first while the columns become rows; the given matrix is no longer needed
    values.reverse();
    parallel::strips(&mut matrix, ROWS * n, |strip, rows| {
        for (i, row) in rows.chunks_exact_mut(n).enumerate() {
            for (j, entry) in row.iter_mut().enumerate() {
                *entry = columns[(n - 1 - j) * n + strip * ROWS + i];
            }
        }
    });
    Ok(Eigen { values, vectors: matrix })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    #[test]
    fn rebuilds_the_matrix_from_orthonormal_vectors() {
        for n in [1, 2, 5, 40, 150] {
            let mut random = Seed(n as u64).stream("eigen");
            let mut a = vec![0.0; n * n];
            for i in 0..n {
                for j in 0..=i {
                    a[i * n + j] = random.normal();
                    a[j * n + i] = a[i * n + j];
                }
            }
            let Eigen { values, vectors } = symmetric_eigen(a.clone(), n).unwrap();
            assert!(values.windows(2).all(|w| w[0] >= w[1]));
            for i in 0..n {
                for j in 0..n {
                    let sum = |f: &dyn Fn(usize) -> f64| (0..n).map(f).sum::<f64>();
                    let rebuilt = sum(&|k| vectors[i * n + k] * values[k] * vectors[j * n + k]);
                    let product = sum(&|k| vectors[k * n + i] * vectors[k * n + j]);
                    assert!((rebuilt - a[i * n + j]).abs() < 1e-12 * (n as f64 + 10.0));
                    assert!((product - f64::from(u8::from(i == j))).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn refuses_what_is_not_finite() {
        let found = symmetric_eigen(vec![1.0, 0.0, f64::NAN, 1.0], 2).unwrap_err();
        assert_eq!(found, SolveError::NotFinite { row: 2, column: 1 });
        assert!(symmetric_eigen(Vec::new(), 0).unwrap().values.is_empty());
    }
}
