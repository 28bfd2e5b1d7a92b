//! Norms and distances.

use crate::gram::{BlockMut, Gram, Pick, Side, apply, diagonal};

/// ‖φ(x)‖ = √κ(x, x) of every example; NaN where κ(x, x) < 0, as a kernel that is not positive definite may have it: such an example has no
/// length.
///
/// # Source
/// KMPA §5.1.1.
pub fn norms(gram: &dyn Gram) -> Vec<f64> {
    selves(gram).into_iter().map(f64::sqrt).collect()
}

/// κ(x, x) of every example.
pub(super) fn selves(gram: &dyn Gram) -> Vec<f64> {
    gram.self_similarities(Side::Rows).unwrap_or_else(|| diagonal(gram))
}

/// ‖Σ a_i φ(x_i)‖ = √(aᵀKa).
///
/// # Source
/// KMPA §5.1.1.
pub fn combination_norm(gram: &dyn Gram, a: &[f64]) -> f64 {
    let mut ka = vec![0.0; a.len()];
    apply(gram, a, 1, &mut ka);
    a.iter().zip(&ka).map(|(a, k)| a * k).sum::<f64>().max(0.0).sqrt()
}

/// ‖φ(x_i) − φ(x_j)‖, zero where rounding makes the square negative.
///
/// # Source
/// KMPA §5.1.1: κ(x, x) − 2κ(x, z) + κ(z, z).
pub fn distance(gram: &dyn Gram, i: usize, j: usize) -> f64 {
    let mut block = [0.0; 4];
    gram.block(Pick::List(&[i, j]), Pick::List(&[i, j]), BlockMut::new(&mut block, 2, 2));
    (block[0] - 2.0 * block[1] + block[3]).max(0.0).sqrt()
}

/// All squared distances, n × n row by row, with an exact zero diagonal.
pub fn squared_distances(gram: &dyn Gram) -> Vec<f64> {
    let n = gram.shape().0;
    let mut values = vec![0.0; n * n];
    crate::gram::fill(gram, &mut values);
    let own: Vec<f64> = (0..n).map(|i| values[i * n + i]).collect();
    for i in 0..n {
        for j in 0..n {
            let d = own[i] - 2.0 * values[i * n + j] + own[j];
            values[i * n + j] = if i == j { 0.0 } else { d.max(0.0) };
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::super::testing::{linear, points};
    use super::*;

    #[test]
    fn lengths_are_those_of_the_vectors_under_the_linear_kernel() {
        let x = points(9, 3, 1);
        let gram = linear(&x, 3);
        let length = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
        for (i, norm) in norms(&gram).into_iter().enumerate() {
            assert!((norm - length(&x[3 * i..3 * i + 3])).abs() < 1e-12);
        }
        let a: Vec<f64> = (0..9).map(|i| f64::from(i).sin()).collect();
        let sum: Vec<f64> = (0..3).map(|k| (0..9).map(|i| a[i] * x[3 * i + k]).sum()).collect();
        assert!((combination_norm(&gram, &a) - length(&sum)).abs() < 1e-12);
        let all = squared_distances(&gram);
        for i in 0..9 {
            for j in 0..9 {
                let apart: Vec<f64> = (0..3).map(|k| x[3 * i + k] - x[3 * j + k]).collect();
                assert!((all[9 * i + j] - length(&apart).powi(2)).abs() < 1e-12);
                assert!((distance(&gram, i, j) - length(&apart)).abs() < 1e-7);
            }
        }
    }
}
