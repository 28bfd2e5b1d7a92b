//! The inverse and the determinant of a symmetric positive definite matrix.
//!
//! Both come from one sweep over the matrix (`factor/inverse.rs`), in its own memory; small matrices, and processors without fused operations on
//! vectors, have faer's factorisation and inverse of the factor.
//!
//! # Source
//! Bientinesi, Gunter & van de Geijn (2008), Families of algorithms related to the inversion of a symmetric positive definite matrix,
//! ACM Trans. Math. Softw. 35.

use super::{Cholesky, MAX_SIZE_FOR_ONE_THREAD, NotPositive, factor, threads_for};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::inverse as llt;
use faer::{MatMut, MatRef};

/// A⁻¹ and log det A.
#[derive(Clone, Debug, PartialEq)]
pub struct Inverse {
    /// A⁻¹, n × n numbers, exactly symmetric.
    pub values: Vec<f64>,
    /// log det A.
    pub log_determinant: f64,
}

/// The inverse of a symmetric positive definite matrix of n × n numbers, in its own memory, and the logarithm of its determinant:
/// n³ operations. The numbers do not depend on how many threads there are (on processors without fused operations on vectors: up to 256
/// rows).
///
/// # Panics
/// If there are not n × n numbers.
pub fn inverse_and_log_determinant(mut matrix: Vec<f64>, n: usize) -> Result<Inverse, NotPositive> {
    assert_eq!(matrix.len(), n * n, "the matrix is square");
    match factor::instructions() {
        Some(arch) if n > MAX_SIZE_FOR_ONE_THREAD => {
            let log_determinant = factor::invert(arch, &mut matrix, n)?;
            Ok(Inverse { values: matrix, log_determinant })
        }
        _ => from_factor(matrix, n),
    }
}

/// By way of the factor, in a second matrix.
fn from_factor(matrix: Vec<f64>, n: usize) -> Result<Inverse, NotPositive> {
    let lower = Cholesky::factor(matrix, n)?.into_rows();
    let log_determinant = 2.0 * (0..n).map(|i| lower[i * n + i].ln()).sum::<f64>();
    let mut values = vec![0.0; n * n];
    if n > 0 {
        let par = threads_for(n);
        let mut memory = MemBuffer::new(llt::inverse_scratch::<f64>(n, par));
        let to = MatMut::from_column_major_slice_mut(&mut values, n, n);
        llt::inverse(to, MatRef::from_column_major_slice(&lower, n, n), par, MemStack::new(&mut memory));
    }
    // the lower triangle by columns was written, which is the upper one by rows
    factor::mirror(&mut values, n);
    Ok(Inverse { values, log_determinant })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    /// A symmetric matrix with a strong diagonal.
    fn positive(n: usize) -> Vec<f64> {
        let mut random = Seed(7).stream("inverse");
        let mut a = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                a[i * n + j] = random.normal();
                a[j * n + i] = a[i * n + j];
            }
            a[i * n + i] = 3.0 * (n as f64).sqrt() + random.uniform();
        }
        a
    }

    #[test]
    fn the_inverse_times_the_matrix_is_the_identity_and_the_determinant_is_that_of_the_factor() {
        for n in [0, 1, 2, 7, 100, 256, 257, 300, 401, 600] {
            let a = positive(n);
            let found = inverse_and_log_determinant(a.clone(), n).unwrap();
            let other = from_factor(a.clone(), n).unwrap();
            assert!((found.log_determinant - other.log_determinant).abs() < 1e-13 * (n + 1) as f64, "{n}");
            for (i, j) in (0..n).flat_map(|i| (i % 11..n).step_by(11).map(move |j| (i, j))) {
                assert!(found.values[i * n + j] == found.values[j * n + i], "{n}");
                assert!((found.values[i * n + j] - other.values[i * n + j]).abs() < 1e-13, "{n}");
                let sum: f64 = (0..n).map(|k| a[i * n + k] * found.values[j * n + k]).sum();
                assert!((sum - f64::from(u8::from(i == j))).abs() < 1e-12, "{n}: {sum}");
            }
        }
        let two = inverse_and_log_determinant(vec![2.0, 1.0, 1.0, 2.0], 2).unwrap();
        assert!((two.log_determinant - 3f64.ln()).abs() < 1e-15 && (two.values[1] + 1.0 / 3.0).abs() < 1e-15);
    }

    #[test]
    fn threads_change_no_bit_of_an_inverse() {
        let n = 700;
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| inverse_and_log_determinant(positive(n), n).unwrap())
        };
        let alone = with(1);
        if factor::instructions().is_some() {
            [2, 3, 5].iter().for_each(|&threads| assert!(with(threads) == alone, "{threads}"));
        }
    }

    #[test]
    fn an_inverse_names_the_pivot_that_is_not_positive() {
        for (n, bad) in [(2, 1), (300, 3), (300, 100), (300, 250), (500, 499)] {
            let mut a = positive(n);
            a[bad * n + bad] = -1e6;
            let found = inverse_and_log_determinant(a.clone(), n).unwrap_err();
            let wanted = Cholesky::factor(a, n).unwrap_err();
            assert!(found.index == bad && (found.value / wanted.value - 1.0).abs() < 1e-12, "{found:?} {wanted:?}");
        }
    }
}
