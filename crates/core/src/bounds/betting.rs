//! The mean of numbers in [0, 1] by betting: valid at every number of them at once.
//!
//! Whoever holds that the mean is p bets, before each number X_t, that it is smaller than p: the capital
//! K_t(p) = Π (1 + λ_s (p − X_s)) is a martingale if the mean is p and each λ_s depends on earlier numbers only. It comes to 1/δ at any time
//! with probability δ at most, so the largest p at which it never does is an upper end. Bets of at most ½ keep the capital above zero for
//! all p at once, and it rises in p, so one root is the end.
//!
//! # Source
//! Waudby-Smith & Ramdas (2024), §4: capital processes, with their λ_t = √(2 ln(1/δ)/(σ²_{t−1} t ln(1 + t))) cut off at ½; Ville (1939).

use crate::distributions::rising_root;

/// The largest share of the capital in one bet.
const MOST: f64 = 0.5;

/// The upper end for the mean of numbers in [0, 1] in the order in which they came; 1 where nothing is excluded. It holds at every
/// number of them at once, so that more may be drawn until it is small enough.
pub fn upper_end(losses: &[f64], nats: f64) -> f64 {
    let bets = bets(losses, nats);
    // ln of the largest capital so far, at a mean p
    let most = |p: f64| {
        let step = |(sum, most): (f64, f64), (bet, x): (&f64, &f64)| {
            let sum = sum + (bet * (p - x)).ln_1p();
            (sum, most.max(sum))
        };
        bets.iter().zip(losses).fold((0.0, 0.0), step).1
    };
    if most(1.0) < nats { 1.0 } else { rising_root(0.0, 1.0, |p| most(p) - nats) }
}

/// Bets from the running mean and variance of earlier numbers, which start as those of one number ½ and a variance ¼.
fn bets(losses: &[f64], nats: f64) -> Vec<f64> {
    // t times the variance
    let (mut sum, mut squares) = (0.5, 0.25);
    let mut all = Vec::with_capacity(losses.len());
    for (place, x) in losses.iter().enumerate() {
        let t = (place + 1) as f64;
        all.push((2.0 * nats / (squares * (1.0 + t).ln())).sqrt().min(MOST));
        sum += x;
        squares += (x - sum / (t + 1.0)).powi(2);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::test_set::{empirical_bernstein, hoeffding};
    use crate::distributions::binomial_upper;
    use crate::seed::Seed;

    /// ln 20.
    const NATS: f64 = 2.995_732_273_553_991;

    #[test]
    fn the_end_is_the_root_of_the_capital() {
        // one number: the bet is at ½, and 1 + ½(p − x) reaches no 1/δ
        assert_eq!(upper_end(&[0.0], NATS), 1.0);
        // zeros: Π (1 + λ_t p) with λ_t from σ² = ¼/t, by a scan over p
        let (zeros, mut scan) = (vec![0.0; 40], 0.0);
        let capital = |p: f64| {
            let mut squares = 0.25_f64;
            let (mut sum, mut capital) = (0.5_f64, 1.0);
            for t in 1..=40 {
                let t = f64::from(t);
                capital *= 1.0 + (2.0 * NATS / (squares * (1.0 + t).ln())).sqrt().min(0.5) * p;
                squares += (sum / (t + 1.0)).powi(2);
                sum += 0.0;
            }
            capital
        };
        while capital(scan) < 20.0 {
            scan += 1e-4;
        }
        let end = upper_end(&zeros, NATS);
        assert!((end - scan).abs() < 2e-4, "{end} {scan}");
    }

    #[test]
    fn ends_fail_rarely_at_any_time_and_are_below_hoeffdings_for_small_variances() {
        // losses 0.4 u² of mean 2/15: the end of all prefixes at once fails in a share δ at most
        let (draws, n, mean) = (1000, 100, 0.4 / 3.0);
        let (mut failures, mut shorter) = (0, 0);
        for draw in 0..draws {
            let mut random = Seed(draw).stream("betting");
            let losses: Vec<f64> = (0..n).map(|_| 0.4 * random.uniform().powi(2)).collect();
            let (delta, nats) = (0.2, 0.2_f64.ln().abs());
            assert!((delta - (-nats).exp()).abs() < 1e-12);
            // the capital's maximum so far never falls, so the last end is the least of all
            failures += usize::from(upper_end(&losses, nats) < mean);
            let seen = losses.iter().sum::<f64>() / n as f64;
            shorter += usize::from(upper_end(&losses, NATS) < hoeffding(seen, n as f64, NATS));
            if draw == 0 {
                let ends: Vec<f64> = (1..=n).map(|t| upper_end(&losses[..t], nats)).collect();
                assert!(ends.windows(2).all(|w| w[1] <= w[0] + 1e-12), "{ends:?}");
            }
        }
        // 200 of 1000 are allowed, and the standard deviation is 13; bets of at most ½ leave room for losses of so small a variance
        assert!((1..=240).contains(&failures), "{failures} of {draws}");
        assert!(shorter > 900, "{shorter}");
    }

    #[test]
    fn an_end_of_coins_is_above_that_of_the_exact_tail_and_an_end_of_losses_below_bernsteins() {
        let coins: Vec<f64> = (0..200).map(|i| f64::from(u8::from(i % 10 == 3))).collect();
        let (end, exact) = (upper_end(&coins, NATS), binomial_upper(20.0, 200.0, NATS));
        assert!(end > exact && end < exact + 0.1, "{end} {exact}");
        let losses: Vec<f64> = (0..200).map(|i| 0.1 + 0.001 * f64::from(i % 7)).collect();
        let mean = losses.iter().sum::<f64>() / 200.0;
        let variance = losses.iter().map(|l| (l - mean).powi(2)).sum::<f64>() / 199.0;
        let (end, bernstein) = (upper_end(&losses, NATS), empirical_bernstein(mean, variance, 1.0, 200.0, NATS));
        assert!(end > mean && end < bernstein, "{mean} {end} {bernstein}");
    }
}
