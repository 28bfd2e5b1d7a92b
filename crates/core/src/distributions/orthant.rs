//! The probability that all coordinates of a normal vector N(0, LLᵀ) are positive, by sequential importance sampling.
//!
//! # Source
//! Geweke, Hajivassiliou & Keane (GHK): coordinate by coordinate, the new standard normal variable is drawn from the half
//! line that makes the coordinate positive, and the weight is multiplied by that half line's mass. The mean of the weights is
//! unbiased, so by Markov's inequality the true probability is at least δ' times the estimate with probability 1 − δ'.

use super::{ln_sum_exp, ln_upper_normal, normal_quantile};
use crate::seed::Seed;

/// An estimate of an orthant's probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Orthant {
    /// ln of the mean of the weights.
    pub ln_probability: f64,
    /// The standard deviation of the weights over their mean and √draws: how far off the estimate may typically be.
    pub relative_error: f64,
}

/// ln P(all (Lz)_i > 0) for a standard normal z and the lower triangle L, n × n row by row; `more` is asked after each draw
/// whether to go on, and `None` is the answer to no.
pub fn ln_orthant(
    l: &[f64],
    n: usize,
    draws: usize,
    seed: Seed,
    mut more: impl FnMut(usize) -> bool,
) -> Option<Orthant> {
    let mut random = seed.stream("orthant");
    let mut weights = Vec::with_capacity(draws);
    let mut z = vec![0.0; n];
    for draw in 0..draws {
        let mut ln_weight = 0.0;
        for i in 0..n {
            let row = &l[i * n..=i * n + i];
            let sum: f64 = row[..i].iter().zip(&z).map(|(l, z)| l * z).sum();
            // z_i > −sum / l_ii
            let least = if row[i] > 0.0 { -sum / row[i] } else { 0.0 };
            let ln_tail = ln_upper_normal(least);
            ln_weight += ln_tail;
            let u = random.uniform().max(f64::MIN_POSITIVE);
            z[i] = normal_quantile(ln_tail + u.ln());
        }
        weights.push(ln_weight);
        if !more(draw + 1) {
            return None;
        }
    }
    let ln_mean = ln_sum_exp(weights.iter().copied()) - (draws as f64).ln();
    let spread: f64 = weights.iter().map(|w| ((w - ln_mean).exp() - 1.0).powi(2)).sum::<f64>() / draws as f64;
    Some(Orthant { ln_probability: ln_mean, relative_error: (spread / draws as f64).sqrt() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_variables_have_a_closed_form() {
        // P(both > 0) = ¼ + arcsin(ρ)/2π
        for rho in [-0.9, 0.0, 0.5, 0.99] {
            let l = [1.0, 0.0, rho, f64::sqrt(1.0 - rho * rho)];
            let found = ln_orthant(&l, 2, 20_000, Seed(3), |_| true).unwrap();
            let wanted = 0.25 + f64::asin(rho) / (2.0 * std::f64::consts::PI);
            let error = found.ln_probability.exp() / wanted - 1.0;
            assert!(error.abs() < 5.0 * found.relative_error.max(1e-4), "{rho}: {error}");
        }
        assert_eq!(ln_orthant(&[1.0], 1, 10, Seed(1), |_| false), None);
    }

    #[test]
    fn independent_variables_are_exact() {
        let n = 40;
        let l: Vec<f64> = (0..n * n).map(|p| if p % (n + 1) == 0 { 2.0 } else { 0.0 }).collect();
        let found = ln_orthant(&l, n, 3, Seed(1), |_| true).unwrap();
        assert!((found.ln_probability + 40.0 * std::f64::consts::LN_2).abs() < 1e-10 && found.relative_error < 1e-10);
    }
}
