//! The covariance of training vectors, mixed with a multiple of the identity so that it has an inverse.
//!
//! ```text
//! S  = Σ_k x_k x_kᵀ / n  of centred x_k          μ = tr S / d
//! Σ* = (1 − ρ) S + ρ μ I                         ρ = 10⁻⁶, or min(1, Σ_k ‖x_k x_kᵀ − S‖² / n² / ‖S − μI‖²) if that is more
//! ```
//!
//! The least ρ gives directions in which the training vectors do not vary at all a place in the inverse, and changes others
//! in the sixth digit. The other one, of shrunken covariances, makes Σ* the mixture nearest to the true covariance as far as
//! the examples tell, and goes to zero with 1/n.
//!
//! # Source
//! Ledoit & Wolf (2004) for the shrunken covariance.

use crate::data::{Coordinate, Rows, Scalar, SparseRows, Values};
use crate::linalg::{Cholesky, gram_of_columns};

/// Largest number of coordinates with an inverse: it is printed in formulas as d² numbers, and larger factorisations
/// would depend on the number of threads.
pub(super) const MAX_COORDINATES: usize = 256;

/// Smallest share ρ of the identity.
const MIN_IDENTITY_SHARE: f64 = 1e-6;

/// The inverse of Σ*, row by row; the identity where the vectors do not vary at all. `None` if they are too wide, or too
/// large for numbers.
pub(super) fn inverse(values: &Values, shrink: bool) -> Option<Vec<f64>> {
    let (n, d) = (values.len(), values.width().unwrap_or(0));
    if !(1..=MAX_COORDINATES).contains(&d) {
        return None;
    }
    let factor = Cholesky::factor(mixed(&centred(values, d), n, d, shrink)?, d).ok()?;
    let mut inverse = identity(d);
    factor.solve(&mut inverse, d);
    for (i, j) in (0..d).flat_map(|i| (0..i).map(move |j| (i, j))) {
        let mean = 0.5 * (inverse[i * d + j] + inverse[j * d + i]);
        (inverse[i * d + j], inverse[j * d + i]) = (mean, mean);
    }
    inverse.iter().all(|x| x.is_finite()).then_some(inverse)
}

fn identity(d: usize) -> Vec<f64> {
    (0..d * d).map(|p| f64::from(u8::from(p / d == p % d))).collect()
}

/// Σ* of centred vectors, row by row; the identity where that is zero, and `None` where it is no number.
fn mixed(x: &[f64], n: usize, d: usize, shrink: bool) -> Option<Vec<f64>> {
    let count = n.max(1) as f64;
    let mut s = gram_of_columns(x, n, d);
    s.iter_mut().for_each(|v| *v /= count);
    let mean = (0..d).map(|i| s[i * d + i]).sum::<f64>() / d as f64;
    let whole: f64 = s.iter().map(|v| v * v).sum();
    if !whole.is_finite() {
        return None;
    }
    if mean <= 0.0 || 1.0 / mean == f64::INFINITY {
        return Some(identity(d));
    }
    // Σ_k ‖x_k x_kᵀ − S‖² = Σ_k ‖x_k‖⁴ − n‖S‖²
    let fourth: f64 = x.chunks(d).map(|x| x.iter().map(|v| v * v).sum::<f64>().powi(2)).sum();
    let noise = (fourth / count - whole) / count;
    let spread = (0..d * d).map(|p| (s[p] - if p / d == p % d { mean } else { 0.0 }).powi(2)).sum::<f64>();
    let share =
        if shrink && spread > 0.0 { (noise / spread).clamp(MIN_IDENTITY_SHARE, 1.0) } else { MIN_IDENTITY_SHARE };
    s.iter_mut().for_each(|v| *v *= 1.0 - share);
    (0..d).for_each(|i| s[i * d + i] += share * mean);
    Some(s)
}

/// The vectors without their mean, in f64.
fn centred(values: &Values, d: usize) -> Vec<f64> {
    fn dense<S: Scalar>(rows: &Rows<S>) -> Vec<f64> {
        rows.values().iter().map(|v| v.wide()).collect()
    }
    fn sparse<S: Scalar>(rows: &SparseRows<S>, d: usize) -> Vec<f64> {
        let mut x = vec![0.0; rows.len() * d];
        for (i, line) in x.chunks_mut(d).enumerate() {
            rows.row(i).iter().for_each(|c: &Coordinate<S>| line[c.index as usize] = c.value.wide());
        }
        x
    }
    let mut x = match values {
        Values::Dense(r) => dense(r),
        Values::Dense32(r) => dense(r),
        Values::Sparse(r) => sparse(r, d),
        Values::Sparse32(r) => sparse(r, d),
        Values::Text(_) | Values::Index(_) | Values::Items(_) => Vec::new(),
    };
    let mut means = vec![0.0; d];
    x.chunks(d).for_each(|x| means.iter_mut().zip(x).for_each(|(m, v)| *m += v));
    means.iter_mut().for_each(|m| *m /= values.len().max(1) as f64);
    x.chunks_mut(d).for_each(|x| x.iter_mut().zip(&means).for_each(|(v, m)| *v -= m));
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::symmetric_eigen;
    use crate::seed::Seed;

    /// Correlated vectors, the last coordinate the sum of the first two.
    fn sample(n: usize) -> Rows<f64> {
        let mut random = Seed(5).stream("covariance");
        let row = |a: f64, b: f64, c: f64| [a, 0.9 * a + 0.1 * b, 30.0 + c, a + 0.9 * a + 0.1 * b];
        let x = (0..n).flat_map(|_| row(random.normal(), random.normal(), 5.0 * random.normal())).collect();
        Rows::new(x, n, 4).unwrap()
    }

    /// Σ* by the sums of its definition, pair by pair.
    fn by_definition(rows: &Rows<f64>, shrink: bool) -> Vec<f64> {
        let (n, d) = (rows.len(), rows.width());
        let mean = |j: usize| (0..n).map(|k| rows.row(k)[j]).sum::<f64>() / n as f64;
        let x = |k: usize, j: usize| rows.row(k)[j] - mean(j);
        let s: Vec<f64> =
            (0..d * d).map(|p| (0..n).map(|k| x(k, p / d) * x(k, p % d)).sum::<f64>() / n as f64).collect();
        let mu = (0..d).map(|i| s[i * d + i]).sum::<f64>() / d as f64;
        let unit = |p: usize| f64::from(u8::from(p / d == p % d));
        let spread: f64 = (0..d * d).map(|p| (s[p] - mu * unit(p)).powi(2)).sum();
        let mut noise = 0.0;
        for k in 0..n {
            noise += (0..d * d).map(|p| (x(k, p / d) * x(k, p % d) - s[p]).powi(2)).sum::<f64>();
        }
        let rho = if shrink { (noise / (n * n) as f64 / spread).min(1.0) } else { MIN_IDENTITY_SHARE };
        (0..d * d).map(|p| (1.0 - rho) * s[p] + rho * mu * unit(p)).collect()
    }

    #[test]
    fn the_inverse_times_the_covariance_of_the_definition_is_the_identity() {
        for (n, shrink) in [(3, true), (10, true), (500, true), (10, false), (500, false)] {
            let rows = sample(n);
            let sigma = by_definition(&rows, shrink);
            for values in [Values::from(rows.clone()), SparseRows::from_dense(&rows).into()] {
                let p = inverse(&values, shrink).unwrap();
                for (i, j) in (0..4).flat_map(|i| (0..4).map(move |j| (i, j))) {
                    let got: f64 = (0..4).map(|k| p[i * 4 + k] * sigma[k * 4 + j]).sum();
                    let wanted = f64::from(u8::from(i == j));
                    assert!((got - wanted).abs() < 1e-6, "{n}: {i} {j} {got}");
                    assert_eq!(p[i * 4 + j], p[j * 4 + i]);
                }
                assert!(symmetric_eigen(p, 4).unwrap().values.iter().all(|v| *v > 0.0));
            }
        }
    }

    #[test]
    fn vectors_without_variance_have_an_inverse_too() {
        let of = |x: Vec<f64>, n: usize, d: usize| inverse(&Rows::new(x, n, d).unwrap().into(), true);
        // one vector, equal vectors, none
        for (x, n) in [(vec![3.0, 1.0], 1), (vec![2.0; 6], 3), (Vec::new(), 0)] {
            assert_eq!(of(x, n, 2), Some(vec![1.0, 0.0, 0.0, 1.0]));
        }
        // two opposite vectors: ρ of the definition is zero, and S has rank one; S = [[1, 0], [0, 0]], μ = ½
        let p = of(vec![1.0, 0.0, -1.0, 0.0], 2, 2).unwrap();
        assert!((p[3] / (2.0 / MIN_IDENTITY_SHARE) - 1.0).abs() < 1e-9 && (p[0] - 1.0).abs() < 1e-6, "{p:?}");
        assert_eq!(of(vec![1e200, -1e200], 2, 1), None);
        assert_eq!(of(vec![1.0; 2 * (MAX_COORDINATES + 1)], 2, MAX_COORDINATES + 1), None);
        // one coordinate: nothing to shrink
        assert!((of(vec![1.0, 3.0], 2, 1).unwrap()[0] - 1.0).abs() < 1e-12);
    }
}
