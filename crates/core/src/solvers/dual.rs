//! The dual of programmes with the penalty ½‖w‖²: a lower bound of the optimum at any β.
//!
//! ```text
//! min over α, b   Σ_i w_i ℓ(y_i, f_i) + ½ λ αᵀKα,   f = Kα + b
//! max over β      yᵀβ − Σ_i w_i ℓ*(β_i / w_i) − βᵀKβ / 2λ,   β within the bounds of ℓ*, and 1ᵀβ = 0 where there is an offset
//! ```
//! At the optimum β = λα is a solution, and so are the slopes of the losses at the scores. Where K has directions that are nearly zero, α
//! is not determined by the scores, and the slopes are the better proof.
//!
//! # Source
//! Fenchel's duality; the conjugates are those of [`Loss`].

use super::balance::balanced;
use super::{Conjugate, Loss};
use crate::gram::{Gram, apply};
use crate::linalg::dot;

/// Part of Σ|β| by which rounding may have moved multipliers from their bounds and from 1ᵀβ = 0.
const ROUNDING: f64 = 1e-12;

/// A programme with the penalty ½‖w‖², all but its matrix.
#[derive(Clone, Copy, Debug)]
pub struct NormDual<'a> {
    /// ℓ.
    pub loss: Loss,
    /// y.
    pub y: &'a [f64],
    /// w, above zero.
    pub weights: &'a [f64],
    /// λ > 0.
    pub lambda: f64,
    /// True if there is an offset.
    pub bias: bool,
}

impl NormDual<'_> {
    /// The largest dual value that is known at a solution: coefficients α with ‖w‖² = αᵀKα and the scores f.
    pub fn best(&self, gram: &dyn Gram, alpha: &[f64], squared_norm: f64, scores: &[f64]) -> f64 {
        let multipliers: Vec<f64> = alpha.iter().map(|a| self.lambda * a).collect();
        let feasible = self.feasible(&multipliers);
        let moved: f64 = feasible.iter().zip(&multipliers).map(|(f, m)| (f - m).abs()).sum();
        let own = if moved <= ROUNDING * feasible.iter().map(|b| b.abs()).sum::<f64>() {
            self.value(&feasible, self.lambda * self.lambda * squared_norm)
        } else {
            self.at(gram, &feasible)
        };
        match self.slopes(scores) {
            Some(slopes) => own.max(self.at(gram, &self.feasible(&slopes))),
            None => own,
        }
    }

    /// β within its bounds, with 1ᵀβ = 0 where there is an offset.
    fn feasible(&self, beta: &[f64]) -> Vec<f64> {
        let bounds = |i: usize| {
            let (y, w) = (self.y[i], self.weights[i]);
            match self.loss.conjugate(y) {
                Some(Conjugate { lower, upper, .. }) => (lower * w, upper * w),
                None => (y.min(0.0) * w, y.max(0.0) * w),
            }
        };
        balanced(beta, self.weights, self.bias, bounds)
    }

    /// −∂/∂f of Σ w ℓ, for the one loss that is not a square between bounds.
    fn slopes(&self, scores: &[f64]) -> Option<Vec<f64>> {
        let slope = |((y, f), w): ((&f64, &f64), &f64)| w * y / (1.0 + (y * f).exp());
        (self.loss == Loss::Logistic).then(|| self.y.iter().zip(scores).zip(self.weights).map(slope).collect())
    }

    /// The dual value at a feasible β.
    fn at(&self, gram: &dyn Gram, beta: &[f64]) -> f64 {
        let mut image = vec![0.0; beta.len()];
        apply(gram, beta, 1, &mut image);
        self.value(beta, dot(beta, &image))
    }

    /// The dual value at a feasible β with βᵀKβ.
    fn value(&self, beta: &[f64], squared_norm: f64) -> f64 {
        let each = |((b, y), w): ((&f64, &f64), &f64)| {
            // β that was cut at its bound times w may be above it by a digit once it is divided
            let price = b / w;
            let price = match self.loss.conjugate(*y) {
                Some(c) => price.clamp(c.lower, c.upper),
                None => price.clamp(y.min(0.0), y.max(0.0)),
            };
            y * b - w * self.loss.conjugate_value(*y, price)
        };
        let terms: f64 = beta.iter().zip(self.y).zip(self.weights).map(each).sum();
        terms - squared_norm / (2.0 * self.lambda)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gram::Dense;

    #[test]
    fn a_function_of_zeros_is_proved_optimal_where_it_is() {
        // pairs of examples that contradict each other: nothing is better than zero, and α = 0 says nothing about the slopes
        let (n, x) = (30, |i: usize| (i / 2) as f64);
        let k = (0..n * n).map(|p| (-(x(p / n) - x(p % n)).powi(2)).exp()).collect();
        let k = Dense::new(k, n, n).unwrap();
        let y: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let weights = vec![1.0; n];
        for bias in [true, false] {
            let dual = NormDual { loss: Loss::Logistic, y: &y, weights: &weights, lambda: 1.0, bias };
            let zeros = vec![0.0; n];
            let value = n as f64 * 2.0_f64.ln();
            assert!((dual.best(&k, &zeros, 0.0, &zeros) - value).abs() < 1e-12 * value);
        }
    }

    #[test]
    fn no_dual_value_is_above_a_primal_one() {
        let n = 24;
        let mut random = crate::seed::Seed(4).stream("dual");
        let x: Vec<f64> = (0..n).map(|_| 100.0 + random.normal()).collect();
        let k = Dense::new((0..n * n).map(|p| x[p / n] * x[p % n]).collect(), n, n).unwrap();
        let y: Vec<f64> = x.iter().map(|x| if *x > 100.2 { 1.0 } else { -1.0 }).collect();
        let weights: Vec<f64> = (0..n).map(|i| 0.5 + (i % 3) as f64).collect();
        for loss in [Loss::Logistic, Loss::Hinge, Loss::SquaredHinge, Loss::Squared, Loss::Huber { width: 0.5 }] {
            for bias in [true, false] {
                let dual = NormDual { loss, y: &y, weights: &weights, lambda: 0.1, bias };
                for trial in 0..20 {
                    // out of bounds, out of balance
                    let alpha: Vec<f64> = (0..n).map(|_| 3.0 * random.normal()).collect();
                    let mut image = vec![0.0; n];
                    apply(&k, &alpha, 1, &mut image);
                    let told = dual.best(&k, &alpha, dot(&alpha, &image), &image);
                    // the zero function with the best of some offsets is a primal point
                    let primal = |b: f64| (0..n).map(|i| weights[i] * loss.value(y[i], b)).sum::<f64>();
                    let offsets = if bias { 200 } else { 0 };
                    let least = (-offsets..=offsets).map(|b| primal(f64::from(b) * 0.01)).fold(f64::INFINITY, f64::min);
                    assert!(told <= least * (1.0 + 1e-12), "{loss:?} {bias} {trial}: {told} above {least}");
                }
            }
        }
    }
}
