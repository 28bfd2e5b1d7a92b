//! A dual point made feasible: how much is left to gain, proved.
//!
//! β is moved to 1ᵀβ = 0 inside its bounds, then drawn towards zero until |Kᵀβ| ≤ λ. Zero is within all bounds, so neither step
//! undoes the other, and every dual value of such a β is a lower bound of the optimum.

use super::terms::Terms;

/// β − τw cut off at the bounds, with the τ that makes it sum to zero.
pub(super) fn balanced(terms: &Terms<'_>, beta: &[f64]) -> Vec<f64> {
    let bounds = |i: usize| {
        let c = terms.conjugate(i);
        (c.lower, c.upper)
    };
    crate::solvers::balance::balanced(beta, &terms.w, terms.bias, bounds)
}

/// β drawn towards zero until no price is above λ, and its dual value; `most` is the largest |Kᵀβ|.
pub(super) fn drawn(terms: &Terms<'_>, mut beta: Vec<f64>, most: f64) -> (Vec<f64>, f64) {
    if most > terms.lambda {
        let part = terms.lambda / most;
        beta.iter_mut().for_each(|b| *b *= part);
    }
    let value = terms.dual(&beta);
    (beta, value)
}

/// The largest of |prices|.
pub(super) fn most(prices: &[f64]) -> f64 {
    prices.iter().fold(0.0, |most, p| p.abs().max(most))
}
