//! Directions in feature space: projections, what they leave, variances along them, and deflation.

use crate::gram::{Gram, apply};

/// The direction w = Σ a_i φ(x_i), seen from the examples.
///
/// # Source
/// KMPA §5.1.3 (projections and residuals), §5.3 (means and variances).
#[derive(Clone, Debug, PartialEq)]
pub struct Direction {
    /// a.
    pub coefficients: Vec<f64>,
    /// Ka.
    pub products: Vec<f64>,
    /// ‖w‖.
    pub norm: f64,
}

impl Direction {
    /// The direction with these coefficients.
    pub fn new(gram: &dyn Gram, coefficients: Vec<f64>) -> Self {
        let mut products = vec![0.0; coefficients.len()];
        apply(gram, &coefficients, 1, &mut products);
        let squared: f64 = coefficients.iter().zip(&products).map(|(a, k)| a * k).sum();
        Self { coefficients, products, norm: squared.max(0.0).sqrt() }
    }

    /// ⟨w, φ(x_i)⟩ / ‖w‖ of every training example: the signed length of its projection.
    pub fn projections(&self) -> Vec<f64> {
        self.products.iter().map(|p| p / self.norm).collect()
    }

    /// The same of new examples, which are the rows of `cross`.
    pub fn projections_of(&self, cross: &dyn Gram) -> Vec<f64> {
        let mut products = vec![0.0; cross.shape().0];
        apply(cross, &self.coefficients, 1, &mut products);
        products.iter().map(|p| p / self.norm).collect()
    }

    /// κ(x, x) − projection², what the direction leaves of each training example, given the self-similarities.
    pub fn residuals(&self, selves: &[f64]) -> Vec<f64> {
        self.projections().iter().zip(selves).map(|(p, own)| (own - p * p).max(0.0)).collect()
    }

    /// The mean of ⟨w, φ(x_i)⟩ over the training examples: (1/n) aᵀK1.
    pub fn mean(&self) -> f64 {
        self.products.iter().sum::<f64>() / self.products.len().max(1) as f64
    }

    /// Its variance: (1/n) aᵀK²a − ((1/n) aᵀK1)².
    pub fn variance(&self) -> f64 {
        covariance(&self.products, &self.products)
    }

    /// The correlation of two directions over the training examples; NaN where one of them has no variance.
    pub fn correlation(&self, other: &Self) -> f64 {
        covariance(&self.products, &other.products) / (self.variance() * other.variance()).sqrt()
    }
}

/// The covariance (1/n) Σ u v − mean(u) mean(v), computed around the means.
pub fn covariance(u: &[f64], v: &[f64]) -> f64 {
    let n = u.len().max(1) as f64;
    let (mu, mv) = (u.iter().sum::<f64>() / n, v.iter().sum::<f64>() / n);
    u.iter().zip(v).map(|(a, b)| (a - mu) * (b - mv)).sum::<f64>() / n
}

/// K − λ v vᵀ in place, for a unit eigenvector v with eigenvalue λ: what is left once the direction is taken out of all
/// examples.
///
/// # Source
/// KMPA §5.1.3, deflation.
pub fn deflate(matrix: &mut [f64], lambda: f64, v: &[f64]) {
    for (row, &a) in matrix.chunks_exact_mut(v.len().max(1)).zip(v) {
        for (k, &b) in row.iter_mut().zip(v) {
            *k -= lambda * a * b;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{linear, points};
    use super::*;
    use crate::gram::{Dense, fill};
    use crate::linalg::symmetric_eigen;

    #[test]
    fn projections_means_and_variances_are_those_of_the_weight_vector() {
        let (n, d) = (25, 3);
        let x = points(n, d, 6);
        let gram = linear(&x, d);
        let a: Vec<f64> = (0..n).map(|i| (1.3 * i as f64).cos()).collect();
        let w: Vec<f64> = (0..d).map(|k| (0..n).map(|i| a[i] * x[d * i + k]).sum()).collect();
        let direction = Direction::new(&gram, a);
        let along: Vec<f64> = x.chunks_exact(d).map(|x| x.iter().zip(&w).map(|(x, w)| x * w).sum()).collect();
        let length = w.iter().map(|w| w * w).sum::<f64>().sqrt();
        assert!((direction.norm - length).abs() < 1e-10);
        for (p, f) in direction.projections().iter().zip(&along) {
            assert!((p - f / length).abs() < 1e-10);
        }
        let mean = along.iter().sum::<f64>() / n as f64;
        assert!((direction.mean() - mean).abs() < 1e-10);
        let variance = along.iter().map(|f| (f - mean).powi(2)).sum::<f64>() / n as f64;
        assert!((direction.variance() - variance).abs() < 1e-10);
        assert!((direction.correlation(&direction) - 1.0).abs() < 1e-12);
        let own: Vec<f64> = x.chunks_exact(d).map(|x| x.iter().map(|x| x * x).sum()).collect();
        for ((r, own), f) in direction.residuals(&own).iter().zip(&own).zip(&along) {
            assert!((r - (own - (f / length).powi(2)).max(0.0)).abs() < 1e-10);
        }
        assert_eq!(direction.projections_of(&gram), direction.projections());
    }

    #[test]
    fn deflation_takes_one_eigenvalue_to_zero_and_leaves_the_others() {
        let (n, d) = (8, 8);
        let gram: Dense<f64> = linear(&points(n, d, 7), d);
        let mut matrix = vec![0.0; n * n];
        fill(&gram, &mut matrix);
        let before = symmetric_eigen(matrix.clone(), n).unwrap();
        let v: Vec<f64> = (0..n).map(|i| before.vectors[i * n]).collect();
        deflate(&mut matrix, before.values[0], &v);
        let after = symmetric_eigen(matrix, n).unwrap();
        for (a, b) in after.values.iter().zip(&before.values[1..]) {
            assert!((a - b).abs() < 1e-10 * before.values[0]);
        }
        assert!(after.values[n - 1].abs() < 1e-10 * before.values[0]);
    }
}
