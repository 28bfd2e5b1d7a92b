//! The binomial distribution: exact tails, and the probability that a count cannot rule out.
//!
//! # Source
//! Clopper & Pearson (1934); Herbrich (2002), Thm. A.116; Langford (2005), JMLR 6, for its use with few or no errors.

use super::{ln_beta_tails, ln_falling, ln_gamma, ln_sum_exp, rising_root};

/// ln C(n, k) for real arguments; minus infinity outside 0 ≤ k ≤ n.
pub fn ln_choose(n: f64, k: f64) -> f64 {
    if k < 0.0 || k > n {
        return f64::NEG_INFINITY;
    }
    if k == 0.0 || k == n {
        return 0.0;
    }
    let few = k.min(n - k);
    ln_falling(n, few) - ln_gamma(few + 1.0)
}

/// ln Σ_{i ≤ d} C(m, i): how many ways at most a class of dimension d can label m examples (Sauer); m ln 2 for m ≤ d.
pub fn ln_sauer(m: f64, d: f64) -> f64 {
    if d >= m {
        return m * std::f64::consts::LN_2;
    }
    // the last term and its ratios to those before: a sum that ends where nothing is added
    let (last, mut term, mut sum, mut i) = (ln_choose(m, d.floor()), 1.0, 1.0, d.floor());
    while i > 0.0 && term > 1e-18 * sum {
        term *= i / (m - i + 1.0);
        sum += term;
        i -= 1.0;
    }
    // beyond the middle the terms before are larger, and all are needed
    if d.floor() > 0.5 * m {
        return ln_sum_exp((0..=d as u64).map(|i| ln_choose(m, i as f64)));
    }
    last + f64::ln(sum)
}

/// ln P(Bin(n, p) ≤ k).
pub fn ln_binomial_cdf(k: f64, n: f64, p: f64) -> f64 {
    if k < 0.0 {
        return f64::NEG_INFINITY;
    }
    if k >= n {
        return 0.0;
    }
    ln_beta_tails(p, k + 1.0, n - k).1
}

/// The largest p under which k or fewer of n still happen with probability δ = e^{−nats}: with probability 1 − δ the true
/// rate is not above it.
pub fn binomial_upper(k: f64, n: f64, nats: f64) -> f64 {
    if n <= 0.0 || k >= n {
        return 1.0;
    }
    if k <= 0.0 {
        return -(-nats / n).exp_m1();
    }
    rising_root(0.0, 1.0, |p| -nats - ln_binomial_cdf(k, n, p))
}

/// The smallest p under which k or more of n still happen with probability δ = e^{−nats}.
pub fn binomial_lower(k: f64, n: f64, nats: f64) -> f64 {
    1.0 - binomial_upper(n - k, n, nats)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NATS: f64 = 2.995_732_273_553_991;

    #[test]
    fn reference_values() {
        assert!((ln_choose(500.0, 25.0) - 96.751_549_946_928_4).abs() < 1e-10);
        assert!((ln_sauer(2000.0, 10.0) - 60.887_109_013_017_1).abs() < 1e-10);
        for (k, n, wanted) in
            [(0.0, 100.0, 0.029_513_049_6), (5.0, 100.0, 0.102_253_377_6), (20.0, 500.0, 0.057_595_562_1)]
        {
            assert!((binomial_upper(k, n, NATS) - wanted).abs() < 1e-10, "{k} of {n}");
        }
    }

    #[test]
    fn edges() {
        assert_eq!(binomial_upper(5.0, 5.0, NATS), 1.0);
        assert_eq!(binomial_upper(0.0, 0.0, NATS), 1.0);
        assert_eq!(binomial_lower(0.0, 7.0, NATS), 0.0);
        assert!((binomial_upper(0.0, 1.0, NATS) - 0.95).abs() < 1e-12);
        // a price of thousands of nats leaves nothing, and no NaN
        assert!(binomial_upper(3.0, 100.0, 5000.0) > 0.999_999);
        assert!((ln_sauer(5.0, 9.0) - 5.0 * 2.0_f64.ln()).abs() < 1e-12);
        // half of all subsets, by symmetry
        assert!((ln_sauer(11.0, 5.0) - 10.0 * 2.0_f64.ln()).abs() < 1e-12);
        assert!((ln_sauer(11.0, 10.0) - (2048.0_f64 - 1.0).ln()).abs() < 1e-12);
    }

    #[test]
    fn the_upper_end_is_where_the_tail_is_the_probability_of_failure() {
        for (k, n) in [(1.0, 10.0), (40.0, 1000.0), (999.0, 1000.0)] {
            for nats in [0.1, NATS, 50.0] {
                let p = binomial_upper(k, n, nats);
                // next to 1 numbers are too far apart
                let known = p > 1.0 - 1e-9 || (ln_binomial_cdf(k, n, p) + nats).abs() < 1e-6 * nats.max(1.0);
                assert!(known, "{k} {n} {nats}");
                assert!(p > 0.0 && p <= 1.0 && (p > k / n || nats < 0.7));
            }
        }
    }
}
