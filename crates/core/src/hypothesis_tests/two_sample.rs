//! Do two samples come from one distribution? The distance between their means in feature space tells.
//!
//! ```text
//! MMD²_b = (1/m²) Σ k(x, x′) + (1/n²) Σ k(y, y′) − (2/mn) Σ k(x, y)              all pairs: ‖mean φ(x) − mean φ(y)‖²
//! MMD²_u = the same over x ≠ x′ and y ≠ y′, divided by m(m − 1) and n(n − 1)      no bias, may be negative
//! MMD²_l = mean of k(x₁, x₂) + k(y₁, y₂) − k(x₁, y₂) − k(x₂, y₁) over disjoint pairs      4 kernel values for two pairs
//! ```
//! With s the mark of the first sample in the pooled one, a = Σ_{i≠j} s_i K_ij s_j and c = sᵀr (r the sums of rows), the three sums are
//! a, c − a and 1ᵀr − 2c + a: one quadratic form a permutation, all of them in one product.
//!
//! # Source
//! A. Gretton, K. Borgwardt, M. Rasch, B. Schölkopf & A. Smola, A kernel two-sample test, JMLR 13 (2012): (3), (5), lemma 14 and
//! corollary 9; K. Chwialkowski, D. Sejdinovic & A. Gretton, A wild bootstrap for degenerate kernel tests, NIPS 27 (2014).

use super::forms::{FEWER, quadratic_forms};
use super::gamma::upper_normal;
use super::p_value::{Null, PValue, critical, rank_p, subset};
use crate::error::Error;
use crate::gram::{BlockMut, Budget, Gram, Pick};
use crate::linalg::SolveError;
use crate::seed::Seed;
use crate::watch::{Monitor, Phase, Progress};
use std::ops::Range;

/// The level of the critical value.
const LEVEL: f64 = 0.05;
/// Rounding of equal statistics, relative to the largest kernel value.
const ROUNDING: f64 = 1e-12;

/// Statistics of the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// MMD²_b.
    Biased,
    /// MMD²_u.
    Unbiased,
}

/// Methods that give the null distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chance {
    /// Examples change places between the samples: exact.
    Permute(Statistic),
    /// Random signs for the examples, centred within each sample, in MMD²_b: for many examples, also where the samples differ.
    WildBootstrap,
}

/// Two samples, compared.
#[derive(Clone, Debug, PartialEq)]
pub struct TwoSample {
    /// The numbers of examples of both samples.
    pub sizes: [usize; 2],
    /// MMD²_b.
    pub biased: f64,
    /// MMD²_u.
    pub unbiased: f64,
    /// The p-value: the probability of as large a statistic under the null hypothesis.
    pub p: PValue,
    /// The threshold that the statistic exceeds with probability 5 % under the null hypothesis.
    pub critical: f64,
}

/// Compares the marked examples of a pooled sample with the others.
///
/// Permutations are exact where the kernel is the same for every order of the pooled sample, as is one with a width that all examples
/// give (`gamma=scale`). Landmarks know the places of the examples: [`Formula::of_pool`](crate::formula::Formula::of_pool) learns them
/// so that the order does not matter.
///
/// # Use when
/// Two batches, sites or years are to be compared as wholes, in any features that a kernel knows.
///
/// # Cost
/// (m + n)² kernel values and (m + n)² multiplications for each draw; nothing of that size is stored.
///
/// # Errors
/// If a sample has fewer than two examples, a value is not finite, or memory does not hold the draws.
pub fn two_sample(
    gram: &dyn Gram,
    first: &[bool],
    chance: Chance,
    draws: usize,
    seed: Seed,
    budget: Budget,
    watch: &dyn Monitor,
) -> Result<TwoSample, Error> {
    let (sizes, total) = (sizes(gram, first)?, first.len());
    let [m, n] = sizes.map(|s| s as f64);
    let count = draws.saturating_add(1);
    budget.check(total.saturating_mul(count), "the test").map_err(|e| e.remedy(FEWER))?;
    let marks = marks(first, chance, count, seed);
    // the mean sign of each sample in each draw, and the weight of an example
    let means = if chance == Chance::WildBootstrap { means(&marks, first, count) } else { Vec::new() };
    let weights = [1.0 / (m * (m - 1.0)).sqrt(), -1.0 / (n * (n - 1.0)).sqrt()];
    let row = |i: usize, columns: Range<usize>, out: &mut [f64]| {
        let line = &marks[i * count + columns.start..i * count + columns.end];
        out.iter_mut().zip(line).for_each(|(o, s)| *o = f64::from(*s));
        if chance == Chance::WildBootstrap {
            let sample = usize::from(!first[i]);
            for (o, b) in out.iter_mut().zip(columns).filter(|(_, b)| *b > 0) {
                *o = (2.0 * *o - 1.0 - means[b][sample]) * weights[sample];
            }
        }
    };
    let found = quadratic_forms(gram, count, &row, budget, watch)?;
    let (all, own) = (found.sums.iter().sum::<f64>(), found.diagonal.iter().sum::<f64>());
    let both = |form: f64, sums: f64, selves: f64| {
        let (xx, xy, yy) = (form, sums - form, all - 2.0 * sums + form);
        let cross = 2.0 * xy / (m * n);
        let biased = (xx + selves) / (m * m) + (yy + own - selves) / (n * n) - cross;
        [biased, xx / (m * (m - 1.0)) + yy / (n * (n - 1.0)) - cross]
    };
    let mut sums = vec![[0.0; 2]; count];
    let mut line = vec![0.0; count];
    for i in 0..total {
        row(i, 0..count, &mut line);
        for (b, (sum, s)) in sums.iter_mut().zip(&line).enumerate() {
            // of signs the squares are wanted, for the diagonal
            let square = if chance == Chance::WildBootstrap && b > 0 { s * s } else { *s };
            *sum = [sum[0] + s * found.sums[i], sum[1] + square * found.diagonal[i]];
        }
    }
    let values = |b: usize| both(found.values[b], sums[b][0], sums[b][1]);
    let [biased, unbiased] = values(0);
    let (observed, replicates, null): (f64, Vec<f64>, Null) = match chance {
        Chance::Permute(Statistic::Biased) => {
            (biased, (1..count).map(|b| values(b)[0]).collect(), Null::Permutations(draws))
        }
        Chance::Permute(Statistic::Unbiased) => {
            (unbiased, (1..count).map(|b| values(b)[1]).collect(), Null::Permutations(draws))
        }
        Chance::WildBootstrap => {
            (biased, (1..count).map(|b| found.values[b] + sums[b][1]).collect(), Null::WildBootstrap(draws))
        }
    };
    let value = rank_p(observed, &replicates, ROUNDING * found.largest);
    let critical = critical(&replicates, LEVEL);
    // a squared distance but for rounding
    Ok(TwoSample { sizes, biased: biased.max(0.0), unbiased, p: PValue { value, null }, critical })
}

/// The sizes of both samples.
fn sizes(gram: &dyn Gram, first: &[bool]) -> Result<[usize; 2], SolveError> {
    let m = first.iter().filter(|f| **f).count();
    let sizes = [m, first.len() - m];
    if gram.shape() != (first.len(), first.len()) {
        let (rows, cols) = gram.shape();
        let length = first.len();
        return Err(SolveError::Programme(format!(
            "a matrix of {rows} × {cols} does not fit samples of {length} examples in all"
        )));
    }
    if sizes.iter().any(|s| *s < 2) {
        let [m, n] = sizes;
        return Err(SolveError::Programme(format!(
            "two samples are compared by two examples each or more, not {m} and {n}"
        )));
    }
    Ok(sizes)
}

/// Ones and zeros, examples × draws: the samples as they are, then the draws.
fn marks(first: &[bool], chance: Chance, count: usize, seed: Seed) -> Vec<u8> {
    let total = first.len();
    let m = first.iter().filter(|f| **f).count();
    let mut marks = vec![0; total * count];
    (0..total).for_each(|i| marks[i * count] = u8::from(first[i]));
    match chance {
        Chance::Permute(_) => {
            let mut random = seed.stream("two samples");
            let mut order: Vec<u32> = (0..total as u32).collect();
            for b in 1..count {
                subset(&mut random, &mut order, m, &mut |i| marks[i * count + b] = 1);
            }
        }
        Chance::WildBootstrap => {
            let mut random = seed.stream("wild bootstrap");
            for line in marks.chunks_exact_mut(count) {
                line[1..].iter_mut().for_each(|mark| *mark = (random.bits() >> 63) as u8);
            }
        }
    }
    marks
}

/// The mean sign of both samples in every draw.
fn means(marks: &[u8], first: &[bool], count: usize) -> Vec<[f64; 2]> {
    let (mut sums, mut sizes) = (vec![[0.0; 2]; count], [0.0; 2]);
    for (line, is_first) in marks.chunks_exact(count).zip(first) {
        let sample = usize::from(!is_first);
        sizes[sample] += 1.0;
        sums.iter_mut().zip(line).for_each(|(sum, s)| sum[sample] += 2.0 * f64::from(*s) - 1.0);
    }
    sums.into_iter().map(|[a, b]| [a / sizes[0], b / sizes[1]]).collect()
}

/// Compares two samples by MMD²_l on random disjoint pairs, with the normal distribution of a mean.
///
/// # Use when
/// Examples are so many that all pairs are too many; it sees less than the others in the same examples.
///
/// # Cost
/// Two kernel values for each example of the smaller sample, and no memory.
///
/// # Errors
/// If a sample has fewer than four examples, or a value is not finite.
pub fn linear_two_sample(
    gram: &dyn Gram,
    first: &[bool],
    seed: Seed,
    watch: &dyn Monitor,
) -> Result<LinearTwoSample, Error> {
    let sizes = sizes(gram, first)?;
    let pairs = sizes[0].min(sizes[1]) / 2;
    if pairs < 2 {
        let [m, n] = sizes;
        let finding = format!("the linear-time test needs four examples of each sample or more, not {m} and {n}");
        return Err(SolveError::Programme(finding).into());
    }
    let mut random = seed.stream("pairs");
    let mut shuffled = |wanted: bool| -> Vec<usize> {
        let places: Vec<usize> = (0..first.len()).filter(|&i| first[i] == wanted).collect();
        random.permutation(places.len()).into_iter().map(|k| places[k]).collect()
    };
    let (x, y) = (shuffled(true), shuffled(false));
    let (mut sum, mut squares) = (0.0, 0.0);
    for p in 0..pairs {
        if p % 1024 == 0 {
            watch.alive(Progress::new(Phase::new("test"), p).of(pairs)).map_err(SolveError::from)?;
        }
        let (rows, cols) = ([x[2 * p], y[2 * p]], [x[2 * p + 1], y[2 * p + 1]]);
        let mut k = [0.0; 4];
        gram.block(Pick::List(&rows), Pick::List(&cols), BlockMut::new(&mut k, 2, 2));
        if let Some(place) = k.iter().position(|k| !k.is_finite()) {
            return Err(SolveError::NotFinite { row: rows[place / 2] + 1, column: cols[place % 2] + 1 }.into());
        }
        let h = k[0] + k[3] - k[1] - k[2];
        sum += h;
        squares += h * h;
    }
    let count = pairs as f64;
    let value = sum / count;
    let variance = ((squares - count * value * value) / (count - 1.0)).max(0.0);
    // equal values everywhere differ by nothing or for sure
    let z = if variance > 0.0 {
        value / (variance / count).sqrt()
    } else if value > 0.0 {
        f64::INFINITY
    } else {
        0.0
    };
    Ok(LinearTwoSample { sizes, value, p: PValue { value: upper_normal(z), null: Null::Normal } })
}

/// Two samples, compared in linear time.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearTwoSample {
    /// The numbers of examples of both samples.
    pub sizes: [usize; 2],
    /// MMD²_l.
    pub value: f64,
    /// The p-value: the probability of as large a statistic under the null hypothesis.
    pub p: PValue,
}

/// The threshold that MMD_b = √MMD²_b exceeds with probability δ at most if both samples come from one distribution with ‖φ(x)‖ ≤ R:
/// R √(1/m + 1/n) (1 + √(2 ln(1/δ))).
///
/// # Source
/// The bound of the centre of mass, in its sharper form, for the difference of two centres: E‖·‖ ≤ R√(1/m + 1/n) under the null, and
/// an example that is replaced moves it by 2R/m or 2R/n (McDiarmid). For m = n it is corollary 9 of Gretton et al. (2012).
pub fn mmd_bound(sizes: [usize; 2], radius: f64, delta: f64) -> f64 {
    scale(sizes, radius) * (1.0 + (2.0 * (1.0 / delta).ln()).sqrt())
}

/// The smallest δ at which MMD_b is above [`mmd_bound`]: a p-value that holds for every distribution and sample size. The kernel
/// and the radius must have been fixed before the samples were seen.
pub fn mmd_bound_p(found: &TwoSample, radius: f64) -> PValue {
    let above = (found.biased.sqrt() / scale(found.sizes, radius) - 1.0).max(0.0);
    PValue { value: (-0.5 * above * above).exp(), null: Null::Bound }
}

fn scale([m, n]: [usize; 2], radius: f64) -> f64 {
    radius * (1.0 / m.max(1) as f64 + 1.0 / n.max(1) as f64).sqrt()
}

#[cfg(test)]
#[path = "two_sample_tests.rs"]
mod tests;
