//! The beta distribution: I_x(a, b) = ∫₀ˣ t^{a−1}(1−t)^{b−1} dt / B(a, b), in logarithms.
//!
//! # Source
//! The continued fraction is that of Didonato & Morris (ACM TOMS 18, 1992), by Lentz's recursion; it converges in about
//! √max(a, b) steps on the side of the mean, so the other tail is the complement.

use super::{ln_falling, ln_gamma, rising_root};

/// ln I_x(a, b) and ln(1 − I_x(a, b)) for a, b > 0 and x in [0, 1].
pub fn ln_beta_tails(x: f64, a: f64, b: f64) -> (f64, f64) {
    if x <= 0.0 {
        return (f64::NEG_INFINITY, 0.0);
    }
    if x >= 1.0 {
        return (0.0, f64::NEG_INFINITY);
    }
    // the tail away from the mean is small and computed; the other is its complement
    if x <= a / (a + b) {
        let lower = ln_small_tail(x, 1.0 - x, a, b).min(0.0);
        (lower, complement(lower))
    } else {
        let upper = ln_small_tail(1.0 - x, x, b, a).min(0.0);
        (complement(upper), upper)
    }
}

/// ln(1 − eᵗ) for t ≤ 0.
fn complement(t: f64) -> f64 {
    if t > -std::f64::consts::LN_2 { (-t.exp_m1()).ln() } else { (-t.exp()).ln_1p() }
}

/// ln I_x(a, b) where x is below the mean; y = 1 − x.
fn ln_small_tail(x: f64, y: f64, a: f64, b: f64) -> f64 {
    // Γ(a + b)/Γ(b) or Γ(a + b)/Γ(a), whichever has fewer factors
    let (few, many) = if a < b { (a, b) } else { (b, a) };
    let ln_over_beta = ln_falling(few + many - 1.0, few) - ln_gamma(few);
    let front = a * x.ln() + b * y.ln() + ln_over_beta;
    // even and odd terms of the fraction for ∫ / (x^a y^b / a)
    let tiny = 1e-300;
    let (mut c, mut d) = (1.0, 1.0 - (a + b) * x / (a + 1.0));
    d = 1.0 / if d.abs() < tiny { tiny } else { d };
    let mut h = d;
    for k in 1..200_000 {
        let k = f64::from(k);
        for term in [
            k * (b - k) * x / ((a + 2.0 * k - 1.0) * (a + 2.0 * k)),
            -(a + k) * (a + b + k) * x / ((a + 2.0 * k) * (a + 2.0 * k + 1.0)),
        ] {
            d = 1.0 + term * d;
            d = 1.0 / if d.abs() < tiny { tiny } else { d };
            c = 1.0 + term / c;
            c = if c.abs() < tiny { tiny } else { c };
            h *= c * d;
        }
        if (c * d - 1.0).abs() < 1e-16 {
            break;
        }
    }
    front + (h / a).ln()
}

/// The x with I_x(a, b) = p.
pub fn beta_quantile(p: f64, a: f64, b: f64) -> f64 {
    if p <= 0.0 {
        return 0.0;
    }
    if p >= 1.0 {
        return 1.0;
    }
    if p < 0.5 {
        rising_root(0.0, 1.0, |x| ln_beta_tails(x, a, b).0 - p.ln())
    } else {
        rising_root(0.0, 1.0, |x| (-p).ln_1p() - ln_beta_tails(x, a, b).1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_sums_of_binomial_terms() {
        // I_x(a, b) = P(Bin(a + b − 1, x) ≥ a)
        for (a, b, x) in [(3_u32, 5_u32, 0.2), (1, 1, 0.7), (10, 2, 0.95), (4, 9, 0.5)] {
            let n = a + b - 1;
            let term = |j: u32| {
                let choose = (0..j).fold(1.0, |c, i| c * f64::from(n - i) / f64::from(i + 1));
                choose * f64::powi(x, j as i32) * f64::powi(1.0 - x, (n - j) as i32)
            };
            let (upper, lower): (f64, f64) = ((a..=n).map(term).sum(), (0..a).map(term).sum());
            let (got, rest) = ln_beta_tails(x, f64::from(a), f64::from(b));
            assert!((got - upper.ln()).abs() < 1e-12, "{a} {b} {x}: {got}");
            assert!((rest - lower.ln()).abs() < 1e-12);
        }
    }

    #[test]
    fn the_quantile_inverts_and_tails_go_far_below_the_smallest_number() {
        assert!((beta_quantile(0.05, 91.0, 10.0) - 0.848_204_571_4).abs() < 1e-10);
        assert!((beta_quantile(0.95, 10.0, 191.0) - 0.077_210_975).abs() < 1e-10);
        // I_x(a, 1) = x^a
        assert!((ln_beta_tails(1e-5, 1000.0, 1.0).0 + 1000.0 * 1e5_f64.ln()).abs() < 1e-9);
        for (a, b) in [(0.5, 0.5), (1e5, 0.5), (3.0, 2e4)] {
            let x = beta_quantile(0.3, a, b);
            assert!((ln_beta_tails(x, a, b).0 - 0.3_f64.ln()).abs() < 1e-9, "{a} {b}");
        }
        assert_eq!(ln_beta_tails(0.0, 2.0, 3.0), (f64::NEG_INFINITY, 0.0));
        assert_eq!(ln_beta_tails(1.0, 2.0, 3.0), (0.0, f64::NEG_INFINITY));
    }
}
