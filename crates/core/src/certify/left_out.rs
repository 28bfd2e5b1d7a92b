//! The fits without one example each, in closed form: of squared errors and ‖f‖² without an offset.
//!
//! ```text
//! f = argmin Σ (y − f)² + μ‖f‖²,  G = K + μI,  a = G⁻¹y
//! y − f(x_i) = μ aᵢ      y − f₋ᵢ(x_i) = aᵢ/[G⁻¹]ᵢᵢ      tr H = m − μ tr G⁻¹
//! ```
//!
//! # Source
//! Golub, Heath & Wahba (1979), (1.3) and (1.4); Herbrich (2002), Remark 5.35.

use super::seen::Seen;
use crate::bounds::{Facts, Task};
use crate::gram::{Gram, fill};
use crate::linalg::Cholesky;
use crate::machines::{Cost, Theory};

/// Adds what theorems ask of the fits without one example each, and of generalised cross-validation.
pub(super) fn left_out(facts: &mut Facts, gram: &dyn Gram, seen: &Seen, theory: &Theory) {
    let Ok(loss) = theory.loss else { return };
    let Some(regularised) = &mut facts.regularised else { return };
    if loss.cost != Cost::Squared || loss.free_offset || !theory.homogeneous {
        return;
    }
    let y = if facts.task == Task::Numbers { &seen.values } else { &seen.signs };
    let n = gram.shape().0;
    if y.len() != n || n == 0 {
        return;
    }
    // ½‖w‖² + C Σ (y − f)²
    let mu = 0.5 / loss.c;
    let mut g = vec![0.0; n * n];
    fill(gram, &mut g);
    (0..n).for_each(|i| g[i * n + i] += mu);
    let Ok(factor) = Cholesky::factor(g, n) else { return };
    let mut a = y.clone();
    factor.solve(&mut a, 1);
    let inverse = factor.inverse_diagonal();
    let m = n as f64;
    let residuals: Vec<f64> = a.iter().zip(&inverse).map(|(a, d)| a / d).collect();
    // μ cancels: (1/m) Σ (μa)²/(μ tr G⁻¹/m)²
    let trace: f64 = inverse.iter().sum();
    facts.leave_one_out.generalised = Some(m * a.iter().map(|a| a * a).sum::<f64>() / (trace * trace));
    if facts.task == Task::Numbers {
        let squares = residuals.iter().map(|r| r * r).sum::<f64>() / m;
        regularised.left_out = regularised.left_out.or(Some(squares));
        return;
    }
    let margins: Vec<f64> = y.iter().zip(&residuals).map(|(y, r)| y * (y - r)).collect();
    regularised.left_out_clipped = Some(margins.iter().map(|f| (1.0 - f).clamp(0.0, 1.0)).sum::<f64>() / m);
    let errors = margins.iter().filter(|f| **f <= 0.0).count() as f64;
    facts.leave_one_out.errors = facts.leave_one_out.errors.or(Some(errors));
}
