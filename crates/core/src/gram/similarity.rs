//! A kernel met with its training examples that stays alive: its matrix, its parameters, and the same examples at other ones.

use super::Gram;
use crate::data::Vectors;
use crate::error::Error;
use crate::params::Parameter;
use std::sync::Arc;

/// A kernel met with its training examples.
///
/// A machine that chooses parameters by itself asks for the matrix at any θ, and for sums of derivatives: with L a function of the
/// matrix and W_ij = ∂L/∂K_ij, the gradient of L is [`contract`](Self::contract)(W).
///
/// # Source
/// Rasmussen & Williams, *Gaussian Processes for Machine Learning* (2006), (5.8), (5.9) and §5.4.1.
///
/// # Example
/// The gradient of the log evidence −½ yᵀK⁻¹y − ½ ln det K of a Gaussian process is the contraction with ½(ααᵀ − K⁻¹), where α = K⁻¹y:
///
/// ```
/// use mercer::data::{Dataset, Rows};
/// use mercer::formula::{noise, rbf};
/// use mercer::gram::{Dense, Similarity, fill};
/// use mercer::linalg::Cholesky;
///
/// // K⁻¹, α and the log evidence, but for a constant
/// fn evidence(kernel: &dyn Similarity, y: &[f64]) -> (Vec<f64>, Vec<f64>, f64) {
///     let n = y.len();
///     let mut k = vec![0.0; n * n];
///     fill(kernel.gram().as_ref(), &mut k);
///     let factor = Cholesky::factor(k, n).unwrap();
///     let (mut alpha, mut inverse) = (y.to_vec(), vec![0.0; n * n]);
///     (0..n).for_each(|i| inverse[i * n + i] = 1.0);
///     factor.solve(&mut alpha, 1);
///     factor.solve(&mut inverse, n);
///     let lower = factor.factor_rows();
///     let half_log: f64 = (0..n).map(|i| lower[i * n + i].ln()).sum();
///     let fit: f64 = y.iter().zip(&alpha).map(|(y, a)| y * a).sum();
///     (inverse, alpha, -0.5 * fit - half_log)
/// }
///
/// let data = Dataset::new(Rows::new(vec![0.0, 0.7, 1.9, 3.2, 4.0], 5, 1).unwrap());
/// let y = [0.3, 0.8, 0.6, -0.4, -0.9];
/// let kernel = (1.5 * rbf(0.8) + noise(0.1)).similarity(&data)?;
/// let (inverse, alpha, _) = evidence(kernel.as_ref(), &y);
/// let weights = (0..25).map(|p| 0.5 * (alpha[p / 5] * alpha[p % 5] - inverse[p])).collect();
/// let gradient = kernel.contract(&Dense::<f64>::new(weights, 5, 5).unwrap())?;
/// for (p, parameter) in kernel.parameters().iter().enumerate() {
///     let at = |step: f64| {
///         let mut theta: Vec<f64> = kernel.parameters().iter().map(|p| p.value).collect();
///         theta[p] += step;
///         evidence(kernel.at(&theta).unwrap().as_ref(), &y).2
///     };
///     let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
///     assert!((gradient[p] - difference).abs() < 1e-7, "{parameter}: {} {difference}", gradient[p]);
/// }
/// # Ok::<(), mercer::Error>(())
/// ```
pub trait Similarity: Send + Sync {
    /// The matrix between the training examples, not yet computed.
    fn gram(&self) -> &Arc<dyn Gram>;

    /// A length that no image of an example exceeds, whatever the example, where the kernel tells one.
    fn radius(&self) -> Option<f64> {
        None
    }

    /// Explicit features X and a factor s with K = s X Xᵀ, where the kernel has them.
    fn features(&self) -> Option<(&Vectors, f64)>;

    /// The kernel between some of the examples. What it learned from all of them, such as a centre, stays.
    fn restrict(&self, keep: &[usize]) -> Arc<dyn Similarity>;

    /// The terms of a sum, each with the factor in front of the sum; a kernel that is no sum is its only part.
    ///
    /// # Errors
    /// If a term does not fit the examples.
    fn parts(&self) -> Result<Vec<Arc<dyn Similarity>>, Error>;

    /// A name for each of the [`parts`](Self::parts), no two alike: the view that a part looks at, where each looks at one of its own;
    /// else its formula.
    fn part_names(&self) -> Vec<String>;

    /// Its real parameters θ.
    fn parameters(&self) -> &[Parameter];

    /// The same examples at another θ. Centres are learned anew; what was prepared of the examples is kept where no parameter is in it.
    ///
    /// # Errors
    /// If there are more or fewer numbers than parameters, or a rule forbids one.
    fn at(&self, theta: &[f64]) -> Result<Arc<dyn Similarity>, Error>;

    /// Σ_ij W_ij ∂K_ij/∂θ_p for all p, tile by tile: no matrix of derivatives is stored.
    ///
    /// # Errors
    /// If the weights have another shape than the matrix, or a kernel has no derivative by one of its parameters.
    fn contract(&self, weights: &dyn Gram) -> Result<Vec<f64>, Error>;
}
