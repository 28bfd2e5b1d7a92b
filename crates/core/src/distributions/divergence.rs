//! The divergence of two coins, kl(q‖p) = q ln(q/p) + (1 − q) ln((1 − q)/(1 − p)), and its inverse.
//!
//! # Source
//! Langford & Seeger (2001); Maurer (2004) for the constant ξ(m) = Σ_k C(m, k) (k/m)^k (1 − k/m)^{m−k}, √m ≤ ξ(m) ≤ 2√m.

use super::{ln_choose, ln_sum_exp, rising_root};

/// kl(q‖p).
pub fn kl(q: f64, p: f64) -> f64 {
    let part = |q: f64, p: f64| if q <= 0.0 { 0.0 } else { q * (q / p).ln() };
    part(q, p) + part(1.0 - q, 1.0 - p)
}

/// The largest p with kl(q‖p) ≤ c.
pub fn kl_inverse(q: f64, c: f64) -> f64 {
    if q >= 1.0 || !c.is_finite() {
        return 1.0;
    }
    if c <= 0.0 {
        return q;
    }
    if q <= 0.0 {
        return -(-c).exp_m1();
    }
    rising_root(q, 1.0, |p| kl(q, p) - c)
}

/// ln ξ(m), which PAC-Bayes bounds pay for holding at all training errors at once. The sum is taken up to 1000 examples,
/// above the bound 2√m.
pub fn ln_maurer(m: f64) -> f64 {
    if m > 1000.0 {
        return (2.0 * m.sqrt()).ln();
    }
    let power = |count: f64| if count <= 0.0 { 0.0 } else { count * (count / m).ln() };
    let term = |k: u32| {
        let k = f64::from(k);
        ln_choose(m, k) + power(k) + power(m - k)
    };
    ln_sum_exp((0..=m as u32).map(term))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_constant_has_its_printed_values() {
        for (m, wanted) in [(8.0, 4.245_018_0), (100.0, 13.209_960_6), (1000.0, 40.303_212_9)] {
            let got = ln_maurer(m).exp();
            assert!((got - wanted).abs() < 1e-6, "{m}: {got}");
            assert!(m.sqrt() <= got && got <= 2.0 * m.sqrt());
        }
    }

    #[test]
    fn the_inverse_lies_below_pinsker_and_is_one_minus_exp_without_errors() {
        for q in [0.0, 0.01, 0.3, 0.99, 1.0] {
            for c in [0.0, 1e-6, 0.01, 0.5, 30.0] {
                let p = kl_inverse(q, c);
                assert!(p >= q && p <= 1.0 && p <= q + (c / 2.0_f64).sqrt() + 1e-10, "{q} {c} {p}");
                assert!(p <= q + (2.0 * q * c).sqrt() + 2.0 * c + 1e-10);
                if q > 0.0 && q < 1.0 && p < 1.0 - 1e-9 {
                    assert!((kl(q, p) - c).abs() < 1e-9);
                }
            }
        }
        assert!((kl_inverse(0.0, 0.2) - (1.0 - (-0.2_f64).exp())).abs() < 1e-15);
    }
}
