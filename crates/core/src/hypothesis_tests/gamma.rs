//! The incomplete gamma function, for tails of distributions.

use crate::distributions::ln_gamma;

/// Largest number of terms of a series or continued fraction.
const MAX_TERMS: usize = 10_000;

/// Q(a, x) = Γ(a, x)/Γ(a): the probability that a gamma variable of shape a > 0 and scale 1 is above x.
///
/// # Source
/// Abramowitz & Stegun (1964), 6.5.29 (series, below the mean) and 6.5.31 (continued fraction, above, by Lentz's method).
pub(super) fn upper_gamma(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    if x.is_infinite() {
        return 0.0;
    }
    let front = (a * x.ln() - x - ln_gamma(a)).exp();
    if x < a + 1.0 {
        let (mut term, mut sum) = (1.0 / a, 1.0 / a);
        for k in 1..MAX_TERMS {
            term *= x / (a + k as f64);
            sum += term;
            if term < sum * 1e-17 {
                break;
            }
        }
        return (1.0 - front * sum).clamp(0.0, 1.0);
    }
    let tiny = f64::MIN_POSITIVE / f64::EPSILON;
    let mut b = x + 1.0 - a;
    let (mut c, mut d) = (1.0 / tiny, 1.0 / b);
    let mut fraction = d;
    for k in 1..MAX_TERMS {
        let step = -(k as f64) * (k as f64 - a);
        b += 2.0;
        d = step * d + b;
        d = 1.0 / if d.abs() < tiny { tiny } else { d };
        c = b + step / c;
        c = if c.abs() < tiny { tiny } else { c };
        fraction *= d * c;
        if (d * c - 1.0).abs() < 1e-16 {
            break;
        }
    }
    (front * fraction).clamp(0.0, 1.0)
}

/// P(Z > z) of a standard normal variable: ½Q(½, z²/2) above zero.
pub(super) fn upper_normal(z: f64) -> f64 {
    let tail = 0.5 * upper_gamma(0.5, 0.5 * z * z);
    if z >= 0.0 { tail } else { 1.0 - tail }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_tables_and_closed_forms() {
        // factorials and Γ(½) = √π
        assert!((ln_gamma(6.0) - 120.0_f64.ln()).abs() < 1e-13);
        assert!((ln_gamma(0.5) - 0.5 * std::f64::consts::PI.ln()).abs() < 1e-13);
        assert!((ln_gamma(0.25) - 3.625_609_908_221_908_f64.ln()).abs() < 1e-13);
        // Q(1, x) = e⁻ˣ, Q(3, x) = e⁻ˣ(1 + x + x²/2), on both sides of the mean
        for x in [0.01_f64, 0.5, 1.9, 2.1, 3.9, 4.1, 30.0] {
            assert!((upper_gamma(1.0, x) - (-x).exp()).abs() < 1e-14);
            let three = (-x).exp() * (1.0 + x + 0.5 * x * x);
            assert!((upper_gamma(3.0, x) / three - 1.0).abs() < 1e-12, "{x}");
        }
        for (z, p) in [(0.0, 0.5), (1.644_853_626_951_472, 0.05), (-1.959_963_984_540_054, 0.975)] {
            assert!((upper_normal(z) - p).abs() < 1e-12, "{z}");
        }
        assert_eq!((upper_gamma(2.0, 0.0), upper_gamma(2.0, f64::INFINITY)), (1.0, 0.0));
    }

    #[test]
    fn the_tail_falls_smoothly_where_series_and_fraction_meet() {
        for a in [0.3, 2.5, 80.0, 5000.0] {
            let at = |x: f64| upper_gamma(a, x);
            let (below, above) = (at(a + 1.0 - 1e-9), at(a + 1.0 + 1e-9));
            assert!(below >= above && below - above < 1e-8, "{a}");
        }
    }
}
