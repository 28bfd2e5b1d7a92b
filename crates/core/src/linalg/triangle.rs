//! Triangular matrices: systems with them, and their inverses.
//!
//! Systems are solved by block substitution (`sweeps.rs`); L⁻¹ is computed by faer, block by block.
//!
//! # Source
//! Golub & Van Loan, Matrix Computations (4th ed. 2013), §3.1.

use super::sweeps;
use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::{MatMut, MatRef, Par};

/// The triangle U of a factorisation A = UᵀU, for systems with new right-hand sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Triangle {
    /// n × n numbers, row by row; those below the diagonal are zero.
    values: Vec<f64>,
    n: usize,
}

impl Triangle {
    /// From n × n numbers, row by row, of which those below the diagonal do not count.
    ///
    /// # Panics
    /// If there are not n × n numbers.
    pub fn new(mut values: Vec<f64>, n: usize) -> Self {
        assert_eq!(values.len(), n * n, "the triangle is square");
        (0..n).for_each(|i| values[i * n..i * n + i].fill(0.0));
        Self { values, n }
    }

    /// From the n(n + 1)/2 numbers on and above the diagonal, row by row; `None` if there are not so many, one is not finite, or one on
    /// the diagonal is not positive.
    pub fn from_packed(packed: &[f64], n: usize) -> Option<Self> {
        let wanted = n.checked_mul(n.checked_add(1)?)? / 2;
        if packed.len() != wanted || packed.iter().any(|u| !u.is_finite()) {
            return None;
        }
        let mut values = vec![0.0; n * n];
        let mut rest = packed;
        for i in 0..n {
            let (row, more) = rest.split_at(n - i);
            values[i * n + i..(i + 1) * n].copy_from_slice(row);
            rest = more;
        }
        (0..n).all(|i| values[i * n + i] > 0.0).then_some(Self { values, n })
    }

    /// The numbers on and above the diagonal, row by row.
    pub fn packed(&self) -> Vec<f64> {
        (0..self.n).flat_map(|i| &self.values[i * self.n + i..(i + 1) * self.n]).copied().collect()
    }

    /// Rows.
    pub fn len(&self) -> usize {
        self.n
    }

    /// True if it is empty.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Replaces right-hand sides (n numbers each, one after the other) by U⁻ᵀ times them. The numbers do not depend on how many threads
    /// there are.
    ///
    /// # Panics
    /// If there is a right-hand side that is not complete.
    pub fn forward(&self, columns: &mut [f64]) {
        assert_eq!(columns.len() % self.n.max(1), 0, "n numbers for each column");
        sweeps::forward(&self.values, self.n, columns);
    }

    /// Replaces right-hand sides by U⁻¹ times them, as [`Triangle::forward`]: after that, by A⁻¹ times what they were.
    ///
    /// # Panics
    /// If there is a right-hand side that is not complete.
    pub fn backward(&self, columns: &mut [f64]) {
        assert_eq!(columns.len() % self.n.max(1), 0, "n numbers for each column");
        sweeps::backward(&self.values, self.n, columns);
    }
}

/// L⁻¹ for a lower triangle of n × n numbers, row by row, whose diagonal has no zero. One thread, so that the numbers do not
/// depend on how many there are; n³/3 operations.
///
/// # Panics
/// If there are not n × n numbers.
pub fn inverse_lower(lower: &[f64], n: usize) -> Vec<f64> {
    assert_eq!(lower.len(), n * n, "the triangle is square");
    let mut inverse = vec![0.0; n * n];
    if n > 0 {
        let source = MatRef::from_row_major_slice(lower, n, n);
        invert_lower_triangular(MatMut::from_row_major_slice_mut(&mut inverse, n, n), source, Par::Seq);
    }
    inverse
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Cholesky;

    #[test]
    fn the_triangle_of_a_factorisation_solves_and_survives_packing() {
        for n in [1, 2, 9, 140] {
            // diagonally dominant, hence positive definite
            let entry = |i: usize, j: usize| if i == j { n as f64 + 1.0 } else { ((i * j) as f64 + 1.0).sin() };
            let matrix: Vec<f64> = (0..n * n).map(|p| entry(p / n, p % n)).collect();
            let triangle = Cholesky::factor(matrix.clone(), n).unwrap().into_triangle();
            let rhs: Vec<f64> = (0..3 * n).map(|p| (p as f64).cos()).collect();
            let mut x = rhs.clone();
            triangle.forward(&mut x);
            triangle.backward(&mut x);
            for (x, b) in x.chunks(n).zip(rhs.chunks(n)) {
                for (row, b) in matrix.chunks(n).zip(b) {
                    let product: f64 = row.iter().zip(x).map(|(a, x)| a * x).sum();
                    assert!((product - b).abs() < 1e-12, "{n}: {product} {b}");
                }
            }
            let packed = triangle.packed();
            assert_eq!(packed.len(), n * (n + 1) / 2);
            assert_eq!(Triangle::from_packed(&packed, n), Some(triangle));
            assert_eq!(Triangle::from_packed(&packed, n + 1), None);
            assert_eq!(Triangle::from_packed(&packed, usize::MAX), None);
            for wrong in [f64::NAN, 0.0, -1.0] {
                let damaged: Vec<f64> = [&[wrong], &packed[1..]].concat();
                assert_eq!(Triangle::from_packed(&damaged, n), None, "{wrong}");
            }
        }
    }

    #[test]
    fn the_inverse_times_the_triangle_is_the_identity_and_above_the_diagonal_there_is_nothing() {
        for n in [0, 1, 2, 7, 65, 130] {
            let entry = |i: usize, j: usize| match i.cmp(&j) {
                std::cmp::Ordering::Less => 0.0,
                std::cmp::Ordering::Equal => 1.0 + (i % 3) as f64,
                std::cmp::Ordering::Greater => ((i * n + j) as f64).sin() / n as f64,
            };
            let lower: Vec<f64> = (0..n * n).map(|p| entry(p / n, p % n)).collect();
            let inverse = inverse_lower(&lower, n);
            for i in 0..n {
                assert!(inverse[i * n + i + 1..(i + 1) * n].iter().all(|&x| x == 0.0), "{n}");
                for j in 0..n {
                    let sum: f64 = (0..n).map(|k| inverse[i * n + k] * lower[k * n + j]).sum();
                    assert!((sum - f64::from(u8::from(i == j))).abs() < 1e-12, "{n}: {i} {j}");
                }
            }
        }
    }
}
