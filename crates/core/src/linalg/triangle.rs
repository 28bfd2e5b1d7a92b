//! Inverses of triangles.

use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::{MatMut, MatRef, Par};

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
