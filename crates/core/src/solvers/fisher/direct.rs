//! The bordered linear system by one Cholesky factorisation, and exact leave-one-out residuals from it.

use super::{Aim, Discriminants, Quadratic, column_sums, factor};
use crate::gram::{Gram, fill};
use crate::linalg::SolveError;
use crate::linalg::{Cholesky, cholesky_bytes, gram_of_columns, multiply_add};
use crate::parallel;
use crate::solvers::direct::{finite, squares};
use crate::watch::{Monitor, Phase};

/// Steps of refinement at most; each must halve the residual to be followed by another.
const REFINEMENTS: usize = 4;
/// Rows that one thread takes at a time.
const STRIP: usize = 64;

/// The solution of (G + λW⁻¹)γ + b1 = y, 1ᵀγ = 0 with what leave-one-out residuals need.
#[derive(Clone, Debug)]
pub struct Bordered {
    /// The discriminants.
    pub found: Discriminants,
    /// γ = β/λ, n × outputs row by row.
    pub gamma: Vec<f64>,
    pub(super) factor: Cholesky,
    /// A⁻¹1 with A = G + λW⁻¹.
    pub(super) ones: Vec<f64>,
    /// K, kept where G is its square.
    pub(super) kernel: Option<Vec<f64>>,
    /// λ/w where all weights are alike.
    pub(super) even: Option<f64>,
}

/// The bytes that [`bordered`] takes, with the leave-one-out residuals if these are wanted.
pub fn bordered_bytes(n: usize, outputs: usize, penalty: Quadratic, leave_one_out: bool) -> usize {
    let matrices = match penalty {
        Quadratic::Norm => 1,
        Quadratic::Coefficients => 2 + usize::from(leave_one_out),
    };
    8 * n * (matrices * n + 6 * (outputs + 1)) + cholesky_bytes(n)
}

/// Solves the bordered system for all right-hand sides with one factorisation.
///
/// # Source
/// Mika (2002), eqs. (3.63) and (3.64), with β = λγ; the offset by eliminating: u = A⁻¹1, t = A⁻¹y, b = 1ᵀt / 1ᵀu, γ = t − bu.
///
/// # Cost
/// n³/3 multiplications for the norm; n³/2 more for the square of K.
pub fn bordered(gram: &dyn Gram, aim: &Aim<'_>, watch: &dyn Monitor) -> Result<Bordered, SolveError> {
    let (n, k) = (aim.len(), aim.outputs);
    watch.alive(Phase::KERNEL_MATRIX.into())?;
    let mut kernel = None;
    if aim.penalty == Quadratic::Coefficients {
        let mut values = vec![0.0; n * n];
        fill(gram, &mut values);
        finite(&values, n)?;
        kernel = Some(values);
    }
    let mut own = vec![0.0; n];
    let mut make = || {
        let mut matrix = match &kernel {
            // K is symmetric, so that KᵀK is KKᵀ, the dual's matrix
            Some(values) => gram_of_columns(values, n, n),
            None => {
                let mut values = vec![0.0; n * n];
                fill(gram, &mut values);
                values
            }
        };
        for (i, own) in own.iter_mut().enumerate() {
            *own = matrix[i * n + i];
            matrix[i * n + i] += aim.lambda / aim.weights[i];
        }
        Ok(matrix)
    };
    let (factor, jitter) = factor(n, &mut make, watch)?;
    let exact = Exact { aim, kernel: kernel.as_deref(), factor: &factor, excess: excess(&factor, &own) };
    let mut ones = vec![1.0; n];
    factor.solve(&mut ones, 1);
    let system = System { factor: &factor, ones: &ones, total: ones.iter().sum(), k };
    // the first step is a refinement of nothing
    let (mut gamma, mut offsets) = (vec![0.0; n * k], vec![0.0; k]);
    let (mut alpha, mut residual) = (gamma.clone(), aim.y.to_vec());
    let size = squares(aim.y).sqrt().max(f64::MIN_POSITIVE);
    for _ in 0..REFINEMENTS {
        let (step, shift) = system.solve(&residual, &column_sums(&gamma, k, |_| -1.0));
        let next: Vec<f64> = gamma.iter().zip(&step).map(|(g, s)| g + s).collect();
        let moved: Vec<f64> = offsets.iter().zip(&shift).map(|(b, s)| b + s).collect();
        let (image, rest) = exact.residual(&next, &moved);
        let (before, after) = (squares(&residual), squares(&rest));
        if after.is_nan() || after >= before {
            break;
        }
        (gamma, offsets, alpha, residual) = (next, moved, image, rest);
        if after > 0.25 * before || after.sqrt() <= 1e-15 * size {
            break;
        }
    }
    let found = conclude(aim, alpha, &gamma, offsets, &residual, jitter);
    let even = aim.weights.windows(2).all(|w| w[0] == w[1]).then(|| aim.lambda / aim.weights[0]);
    Ok(Bordered { found, gamma, factor, ones, kernel, even })
}

/// Scores, values and gaps from γ and r = y − Gγ − λW⁻¹γ − b1, where Gγ is Kα.
pub(super) fn conclude(
    aim: &Aim<'_>,
    alpha: Vec<f64>,
    gamma: &[f64],
    offsets: Vec<f64>,
    residual: &[f64],
    jitter: f64,
) -> Discriminants {
    let (n, k, lambda) = (aim.len(), aim.outputs, aim.lambda);
    let (mut scores, mut objectives, mut gaps) = (Vec::with_capacity(n * k), vec![0.0; k], vec![0.0; k]);
    for (p, ((y, g), r)) in aim.y.iter().zip(gamma).zip(residual).enumerate() {
        let (w, c) = (aim.weights[p / k], p % k);
        // Kα + b = y − λγ/w − r, so no term needs another product with K
        let score = y - lambda * g / w - r;
        let penalty = match aim.penalty {
            Quadratic::Norm => g * (score - offsets[c]),
            Quadratic::Coefficients => alpha[p] * alpha[p],
        };
        objectives[c] += 0.5 * w * (y - score).powi(2) + 0.5 * lambda * penalty;
        gaps[c] += 0.5 * w * r * r;
        scores.push(score);
    }
    let size = squares(aim.y).sqrt().max(f64::MIN_POSITIVE);
    Discriminants {
        points: (0..n).collect(),
        alpha,
        offsets,
        scores,
        objectives,
        gaps: Some(gaps),
        relative_residual: squares(residual).sqrt() / size,
        jitter,
    }
}

/// K X for n × n and n × k numbers, strip by strip.
pub(super) fn product(kernel: &[f64], n: usize, x: &[f64], k: usize) -> Vec<f64> {
    let mut out = vec![0.0; n * k];
    if !out.is_empty() {
        parallel::strips_beside((&mut out, STRIP * k), (kernel, STRIP * n), |out, rows| {
            multiply_add(rows, rows.len() / n, n, x, k, out);
        });
    }
    out
}

/// The bordered matrix [[A, 1], [1ᵀ, 0]] by the factor of A.
struct System<'a> {
    factor: &'a Cholesky,
    ones: &'a [f64],
    total: f64,
    k: usize,
}

impl System<'_> {
    /// A X + 1e = R with 1ᵀX = s.
    fn solve(&self, right: &[f64], sums: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut x = right.to_vec();
        self.factor.solve(&mut x, self.k);
        let shift: Vec<f64> =
            column_sums(&x, self.k, |_| 1.0).iter().zip(sums).map(|(t, s)| (t - s) / self.total).collect();
        for (row, u) in x.chunks_exact_mut(self.k).zip(self.ones) {
            row.iter_mut().zip(&shift).for_each(|(x, e)| *x -= u * e);
        }
        (x, shift)
    }
}

/// What was added to the diagonal of a matrix before it was factorised, as it came out of the sum.
pub(super) fn excess(factor: &Cholesky, own: &[f64]) -> Vec<f64> {
    factor.diagonal().iter().zip(own).map(|(sum, own)| sum - own).collect()
}

/// The system as it was posed. The matrix that was factorised has lost digits of it: those of K in its square, and those of λ where it
/// was added to a much larger diagonal.
struct Exact<'a> {
    aim: &'a Aim<'a>,
    /// K, where G is its square.
    kernel: Option<&'a [f64]>,
    factor: &'a Cholesky,
    /// The diagonal of the factorised matrix less that of G.
    excess: Vec<f64>,
}

impl Exact<'_> {
    /// α, and Y − KA − λW⁻¹Γ − 1b.
    fn residual(&self, gamma: &[f64], offsets: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (n, k, aim) = (self.aim.len(), self.aim.outputs, self.aim);
        let (alpha, image) = match self.kernel {
            Some(kernel) => {
                let alpha = product(kernel, n, gamma, k);
                let image = product(kernel, n, &alpha, k);
                (alpha, image)
            }
            None => {
                let mut image = self.factor.multiply(gamma, k);
                image.iter_mut().zip(gamma).enumerate().for_each(|(p, (f, g))| *f -= self.excess[p / k] * g);
                (gamma.to_vec(), image)
            }
        };
        let rest = |p: usize| {
            let own = aim.lambda / aim.weights[p / k] * gamma[p];
            aim.y[p] - image[p] - own - offsets[p % k]
        };
        (alpha, (0..aim.y.len()).map(rest).collect())
    }
}

/// The part that is left out with an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// Its error only: under the penalty on coefficients κ(·, x_p) stays among the functions to choose from.
    Error,
    /// All of it, as learning again without it.
    Example,
}

impl Bordered {
    /// y_p − f₋ₚ(x_p), n × outputs row by row, the offset learned again each time.
    ///
    /// With A the bordered matrix it is γ_p / (A⁻¹)_pp, whatever the weights. That leaves out the error; where α = Kγ, leaving
    /// out the example also takes k_p k_pᵀ from A, a change of rank one: with u = A⁻¹[k_p; 0] and s = k_pᵀu the solution
    /// becomes γ + u (k_pᵀγ)/(1 − s) and the inverse A⁻¹ + uuᵀ/(1 − s).
    ///
    /// # Source
    /// Mika (2002), §4.4, in a shorter form; the printed vectors lack the row of the offset, and for the penalty on
    /// coefficients the thesis leaves out the error only.
    ///
    /// # Cost
    /// n³/3 multiplications; n³ and another n² numbers for leaving out examples under the penalty on coefficients.
    pub fn left_out(&self, what: LeftOut) -> Vec<f64> {
        let (n, k) = (self.ones.len(), self.found.offsets.len());
        let total: f64 = self.ones.iter().sum();
        let inverse = self.factor.inverse_diagonal();
        let own = |p: usize| inverse[p] - self.ones[p] * self.ones[p] / total;
        let (Some(kernel), LeftOut::Example) = (&self.kernel, what) else {
            return (0..n * k).map(|q| self.gamma[q] / own(q / k)).collect();
        };
        // A⁻¹K of the matrix without border
        let mut solved = kernel.clone();
        self.factor.solve(&mut solved, n);
        let touch = product(kernel, n, &self.ones, 1);
        let mut out = Vec::with_capacity(n * k);
        for p in 0..n {
            let u = solved[p * n + p] - self.ones[p] * touch[p] / total;
            let left = match self.even {
                // KA⁻¹K = I − (λ/w)A⁻¹: no cancellation where λ is small
                Some(ridge) => ridge * inverse[p],
                None => 1.0 - (0..n).map(|j| kernel[p * n + j] * solved[j * n + p]).sum::<f64>(),
            };
            let left = left + touch[p] * touch[p] / total;
            for c in 0..k {
                // k_pᵀγ = α_p
                let gamma = self.gamma[p * k + c] + u * self.found.alpha[p * k + c] / left;
                out.push(gamma / (own(p) + u * u / left));
            }
        }
        out
    }
}
