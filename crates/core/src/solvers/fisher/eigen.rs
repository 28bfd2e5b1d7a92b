//! The Rayleigh quotient itself: S_μ g = δ, scaled to the least squares solution.

use super::subset::penalties;
use super::{Aim, Discriminants, Quadratic, column_sums, factor};
use crate::gram::{Gram, fill};
use crate::linalg::SolveError;
use crate::linalg::{cholesky_bytes, gram_of_columns};
use crate::solvers::direct::{difference, finite, squares};
use crate::watch::{Monitor, Phase, Progress};

/// The discriminants with their quotients.
#[derive(Clone, Debug)]
pub struct Rayleigh {
    /// The discriminants in the scale of least squares.
    pub found: Discriminants,
    /// J of each output: the only eigenvalue of (δδᵀ, S_μ) that is not zero.
    pub quotients: Vec<f64>,
}

/// The bytes that [`rayleigh`] takes.
pub fn rayleigh_bytes(n: usize, outputs: usize) -> usize {
    8 * n * (3 * n + 6 * outputs) + cholesky_bytes(n)
}

/// Maximises (αᵀδ)² / αᵀS_μα for each output, whose y must be ±1.
///
/// S = Σ_i w_i (k_i − μ_class)(k_i − μ_class)ᵀ is the scatter inside the two classes, δ the difference of their means and
/// S_μ = S + μI or S + μK. With g = S_μ⁻¹δ the quotient is J = δᵀg, and α = 2m₊m₋/(m + m₊m₋J) g, b = ȳ − mean(Kα) solve the
/// programme with λ = μ.
///
/// # Source
/// Mika (2002), eqs. (3.31)–(3.34); the scale is derived. The thesis's pseudo-inverse for μ = 0 is not the optimum: with a
/// kernel matrix of full rank J has no bound, so μ must be above zero.
///
/// # Cost
/// For each output n³/2 multiplications for the scatter and n³/3 for the factor.
pub fn rayleigh(gram: &dyn Gram, aim: &Aim<'_>, watch: &dyn Monitor) -> Result<Rayleigh, SolveError> {
    let (n, k) = (aim.len(), aim.outputs);
    let mut kernel = vec![0.0; n * n];
    fill(gram, &mut kernel);
    finite(&kernel, n)?;
    let (mut alpha, mut scores) = (vec![0.0; n * k], vec![0.0; n * k]);
    let (mut offsets, mut quotients) = (vec![0.0; k], Vec::with_capacity(k));
    let (mut worst, mut largest): (f64, f64) = (0.0, 0.0);
    let mass = aim.mass();
    for c in 0..k {
        watch.alive(Progress::new(Phase::new("class scatter"), c))?;
        let y: Vec<f64> = aim.column(c).collect();
        let sum = |sign: f64| y.iter().zip(aim.weights).filter(|(y, _)| **y == sign).map(|(_, w)| w).sum::<f64>();
        let (plus, minus) = (sum(1.0), sum(-1.0));
        let mean =
            |sign: f64, mass: f64| column_sums(&kernel, n, |i| if y[i] == sign { aim.weights[i] / mass } else { 0.0 });
        let (mean_plus, mean_minus) = (mean(1.0, plus), mean(-1.0, minus));
        let delta = difference(&mean_plus, &mean_minus);
        let mut make = || {
            let mut centred = kernel.clone();
            for (i, row) in centred.chunks_exact_mut(n).enumerate() {
                let (root, own) = (aim.weights[i].sqrt(), if y[i] > 0.0 { &mean_plus } else { &mean_minus });
                row.iter_mut().zip(own).for_each(|(x, mean)| *x = root * (*x - mean));
            }
            let mut matrix = gram_of_columns(&centred, n, n);
            match aim.penalty {
                Quadratic::Coefficients => (0..n).for_each(|i| matrix[i * n + i] += aim.lambda),
                Quadratic::Norm => matrix.iter_mut().zip(&kernel).for_each(|(s, x)| *s += aim.lambda * x),
            }
            Ok(matrix)
        };
        let (factor, jitter) = factor(n, &mut make, watch)?;
        let mut g = delta.clone();
        factor.solve(&mut g, 1);
        let rest = |g: &[f64]| -> Vec<f64> {
            let image = factor.multiply(g, 1);
            (0..n).map(|i| delta[i] - image[i] + jitter * g[i]).collect()
        };
        let mut left = rest(&g);
        let mut step = left.clone();
        factor.solve(&mut step, 1);
        let refined: Vec<f64> = g.iter().zip(&step).map(|(g, s)| g + s).collect();
        let again = rest(&refined);
        if squares(&again) < squares(&left) {
            (g, left) = (refined, again);
        }
        worst = worst.max((squares(&left) / squares(&delta).max(f64::MIN_POSITIVE)).sqrt());
        largest = largest.max(jitter);
        let quotient: f64 = delta.iter().zip(&g).map(|(d, g)| d * g).sum();
        let scale = 2.0 * plus * minus / (mass + plus * minus * quotient);
        g.iter_mut().for_each(|g| *g *= scale);
        let image = super::direct::product(&kernel, n, &g, 1);
        let middle = image.iter().zip(aim.weights).map(|(f, w)| w * f).sum::<f64>() / mass;
        offsets[c] = (plus - minus) / mass - middle;
        for i in 0..n {
            alpha[i * k + c] = g[i];
            scores[i * k + c] = image[i] + offsets[c];
        }
        quotients.push(quotient);
    }
    let mut objectives = penalties(aim, &alpha, &kernel, n);
    for (p, score) in scores.iter().enumerate() {
        objectives[p % k] += 0.5 * aim.weights[p / k] * (aim.y[p] - score).powi(2);
    }
    let found = Discriminants {
        points: (0..n).collect(),
        alpha,
        offsets,
        scores,
        objectives,
        gaps: None,
        relative_residual: worst,
        jitter: largest,
    };
    Ok(Rayleigh { found, quotients })
}
