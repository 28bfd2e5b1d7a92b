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

/// The place where a rising function passes zero, between `low` and `high`, to the last bit. The ends themselves are never
/// asked: many functions have no value there.
///
/// # Source
/// False position; the value at an end that stays twice is halved (the Illinois rule). Where three steps have not halved the
/// interval, a bisection does, and every second step is one until a line serves again.
pub fn rising_root(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    // values at the ends, as far as they are known and finite
    let (mut below, mut above) = (f64::NAN, f64::NAN);
    let (mut width, mut steps, mut patience, mut side) = (high - low, 0, 3, 0);
    for _ in 0..400 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        steps += 1;
        let guess = (low * above - high * below) / (above - below);
        // where the line ends next to an end, a step of some last bits beyond the root closes the interval
        let bits = 2.0 * f64::EPSILON * guess.abs();
        let guess = guess.max(low + bits).min(high - bits);
        let by_line = steps <= patience && guess > low && guess < high;
        let place = if by_line { guess } else { middle };
        let value = f(place);
        let known = if value.is_finite() { value } else { f64::NAN };
        if value < 0.0 {
            (low, below) = (place, known);
            above *= if side < 0 { 0.5 } else { 1.0 };
            side = -1;
        } else {
            (high, above) = (place, known);
            below *= if side > 0 { 0.5 } else { 1.0 };
            side = 1;
        }
        if high - low <= 0.5 * width {
            (width, steps, patience) = (high - low, 0, if by_line { 3 } else { 1 });
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Ends, root and function.
    type Case<'a> = (f64, f64, f64, &'a dyn Fn(f64) -> f64);

    #[test]
    fn roots_are_found_to_the_last_bits_with_few_questions() {
        let asked = Cell::new(0);
        let root = |low: f64, high: f64, f: &dyn Fn(f64) -> f64| {
            asked.set(0);
            rising_root(low, high, |x| {
                asked.set(asked.get() + 1);
                f(x)
            })
        };
        let cases: [Case<'_>; 6] = [
            (0.0, 1.0, 0.3, &|x| x - 0.3),
            (0.0, 2.0, 2.0_f64.sqrt(), &|x| x * x - 2.0),
            // no value at one end or both, and flat or steep places
            (0.0, 1.0, 0.01_f64.exp_m1(), &|x: f64| x.ln_1p() - 0.01 + 0.0 * x.ln()),
            (0.0, 1.0, 0.5, &|x: f64| (x / (1.0 - x)).ln()),
            (0.0, 1.0, 1e-30, &|x: f64| x.ln() - 1e-30_f64.ln()),
            (-3.0, 5.0, 1.0, &|x: f64| (x - 1.0).powi(5)),
        ];
        for (i, (low, high, wanted, f)) in cases.into_iter().enumerate() {
            let found = root(low, high, f);
            // the logarithm of the fifth is 69, and has fewer digits left
            let bits = if i == 4 { 64.0 } else { 4.0 };
            assert!((found - wanted).abs() <= bits * f64::EPSILON * wanted, "{i}: {found} {wanted}");
            let most = [20, 20, 20, 20, 250, 120][i];
            assert!(asked.get() <= most, "{i}: {}", asked.get());
        }
        // a step, whose values say nothing about the place
        let found = root(0.0, 1.0, &|x| if x < 0.7 { -1e-9 } else { 1e9 });
        assert!((found - 0.7).abs() < 1e-15);
        // minus infinity below, infinity above
        let found = root(0.0, 1.0, &|x| if x < 0.2 { f64::NEG_INFINITY } else { f64::INFINITY });
        assert!((found - 0.2).abs() < 1e-15 && asked.get() < 70);
        // no root: the end
        assert!(root(0.0, 1.0, &|_| 1.0) < 1e-60);
        assert!((root(0.0, 1.0, &|_| -1.0) - 1.0).abs() < 1e-15);
    }
}
