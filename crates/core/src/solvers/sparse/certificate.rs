//! A dual point made feasible: how much is left to gain, proved.
//!
//! β is moved to 1ᵀβ = 0 inside its bounds, then drawn towards zero until |Kᵀβ| ≤ λ. Zero is within all bounds, so neither step
//! undoes the other, and every dual value of such a β is a lower bound of the optimum.

use super::terms::Terms;

/// β − τw cut off at the bounds, with the τ that makes it sum to zero.
pub(super) fn balanced(terms: &Terms<'_>, beta: &[f64]) -> Vec<f64> {
    let n = terms.len();
    let moved = |shift: f64| -> Vec<f64> {
        (0..n)
            .map(|i| {
                let c = terms.conjugate(i);
                (beta[i] - shift * terms.w[i]).clamp(c.lower, c.upper)
            })
            .collect()
    };
    let mut out = moved(0.0);
    if !terms.bias {
        return out;
    }
    // a sum of nothing but rounding is left alone
    let sum: f64 = out.iter().sum();
    let size: f64 = out.iter().map(|b| b.abs()).sum();
    if sum.abs() <= 1e-15 * size {
        return out;
    }
    // secant steps, halved where they leave the interval: the sum falls with τ and is linear between cuts
    let reach = terms.w.iter().zip(beta).map(|(w, b)| b.abs() / w).fold(0.0, f64::max);
    let (mut low, mut high) = (-2.0 * reach, 2.0 * reach);
    let mut shift = sum / terms.w.iter().sum::<f64>();
    for _ in 0..100 {
        out = moved(shift);
        let sum: f64 = out.iter().sum();
        if sum.abs() <= 1e-15 * size {
            break;
        }
        if sum > 0.0 {
            low = shift;
        } else {
            high = shift;
        }
        let loose: f64 = (0..n)
            .filter(|&i| {
                let c = terms.conjugate(i);
                out[i] > c.lower && out[i] < c.upper
            })
            .map(|i| terms.w[i])
            .sum();
        let next = shift + sum / loose;
        shift = if next > low && next < high { next } else { 0.5 * (low + high) };
    }
    out
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
