//! Probabilities as numbers: tails of the binomial, beta and normal distributions, and divergences, all in logarithms.
//!
//! Certificates ask for tails far below the smallest f64 (a price of a few hundred nats is ordinary), so probabilities of
//! failure are given as nats, ln(1/δ), and tails are returned as logarithms.

mod beta;
mod binomial;
mod divergence;
mod normal;
mod orthant;

pub use beta::{beta_quantile, ln_beta_tails};
pub use binomial::{binomial_lower, binomial_upper, ln_binomial_cdf, ln_choose, ln_sauer};
pub use divergence::{kl, kl_inverse, ln_maurer};
pub use normal::{ln_upper_normal, normal_quantile, upper_normal};
pub use orthant::{Orthant, ln_orthant};

/// ln Γ(x) for x > 0.
pub fn ln_gamma(x: f64) -> f64 {
    libm::lgamma(x)
}

/// ln Γ(n + 1) − ln Γ(n − k + 1) for 0 ≤ k ≤ n: the logarithm of n (n − 1) ⋯ (n − k + 1), without subtracting numbers that are
/// larger than the result by n/k.
pub fn ln_falling(n: f64, k: f64) -> f64 {
    let rest = n - k;
    if rest < 64.0 {
        return ln_gamma(n + 1.0) - ln_gamma(rest + 1.0);
    }
    // Stirling's series of both, the large parts taken together
    let series = |x: f64| (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / (1260.0 * x * x)) / (x * x)) / x;
    -(rest + 0.5) * (-k / n).ln_1p() + k * (n.ln() - 1.0) + series(n) - series(rest)
}

/// ln Σ exp(x_i); minus infinity for nothing.
pub fn ln_sum_exp(terms: impl Iterator<Item = f64> + Clone) -> f64 {
    let top = terms.clone().fold(f64::NEG_INFINITY, f64::max);
    if !top.is_finite() {
        return top;
    }
    top + terms.map(|t| (t - top).exp()).sum::<f64>().ln()
}

/// The place where a rising function passes zero, between `low` and `high`, to the last bit.
pub fn rising_root(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if f(middle) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}
