//! Tails that bounds are made of: those of sums, of functions of bounded differences, of empirical distributions, of counts.
//!
//! ```text
//! Bernstein      mean + √(2 σ² nats/n) + nats/3n           losses in [0, 1] with variance σ²
//! McDiarmid      f < E f + √(½ Σ c_i² nats)
//! Dvoretzky, Kiefer, Wolfowitz, Massart    sup |F_n − F| ≤ √(ln(2/δ)/2n)
//! ```
//!
//! # Source
//! Herbrich (2002), appendix A.5, with McDiarmid's exponent −2ε²/Σc²; Massart (1990).

use super::{Must, Said, World};
use mercer::bounds::test_set;
use mercer::distributions::{binomial_lower, binomial_upper, kl_inverse};
use mercer::seed::Random;
use mercer_terminal::Failure;
use std::f64::consts::LN_2;

pub(super) const WORLD: World = World {
    name: "tails",
    about: "100 coins of 0.1, 100 squares of uniform numbers, 60 balls in 40 boxes",
    delta: 0.2,
    one_in: 1,
    draw,
};

const N: usize = 100;
const COIN: f64 = 0.1;
const BALLS: usize = 60;
const BOXES: usize = 40;

fn draw(random: &mut Random, delta: f64) -> Result<Vec<Said>, Failure> {
    let (n, nats) = (N as f64, -delta.ln());
    let heads = (0..N).filter(|_| random.uniform() < COIN).count() as f64;
    let mut said = vec![
        Said::upper("binomial", Must::Hold, binomial_upper(heads, n, nats), COIN),
        Said::lower("binomial, lower end", Must::Hold, binomial_lower(heads, n, nats), COIN),
        Said::upper("kl", Must::Hold, kl_inverse(heads / n, nats / n), COIN),
        Said::upper("Hoeffding", Must::Hold, test_set::hoeffding(heads / n, n, nats), COIN),
        Said::upper("no bound, the mean itself", Must::Fail, heads / n, COIN),
    ];
    // u² has mean 1/3, variance 4/45 and distribution function √x
    let mut losses: Vec<f64> = (0..N).map(|_| random.uniform().powi(2)).collect();
    let (expected, variance) = (1.0 / 3.0, 4.0 / 45.0);
    let mean = losses.iter().sum::<f64>() / n;
    let seen = losses.iter().map(|l| (l - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let bernstein = mean + (2.0 * variance * nats / n).sqrt() + nats / (3.0 * n);
    said.extend([
        Said::upper("Hoeffding, losses", Must::Hold, test_set::hoeffding(mean, n, nats), expected),
        Said::upper("Bernstein", Must::Hold, bernstein, expected),
        Said::upper(
            "empirical Bernstein",
            Must::Hold,
            test_set::empirical_bernstein(mean, seen, 1.0, n, nats),
            expected,
        ),
    ]);
    losses.sort_unstable_by(f64::total_cmp);
    let gap = |(k, x): (usize, &f64)| (x.sqrt() - k as f64 / n).abs().max(((k + 1) as f64 / n - x.sqrt()).abs());
    let widest = losses.iter().enumerate().map(gap).fold(0.0, f64::max);
    said.push(Said::upper("Dvoretzky, Kiefer, Wolfowitz", Must::Hold, ((nats + LN_2) / (2.0 * n)).sqrt(), widest));
    // a ball that moves changes the number of empty boxes by one at most
    let mut full = [false; BOXES];
    (0..BALLS).for_each(|_| full[random.below(BOXES)] = true);
    let empty = full.iter().filter(|f| !**f).count() as f64;
    let mean = BOXES as f64 * (1.0 - 1.0 / BOXES as f64).powi(BALLS as i32);
    // shares of boxes, so that bounds and truths of the table are on one scale
    let bound = (mean + (0.5 * BALLS as f64 * nats).sqrt()) / BOXES as f64;
    said.push(Said::upper("McDiarmid", Must::Hold, bound, empty / BOXES as f64));
    Ok(said)
}
