//! Intervals of leading eigenvalues by a bootstrap.

use super::Judgement;
use super::forms::FEWER;
use crate::error::Error;
use crate::gram::{Budget, Gram, apply};
use crate::linalg::SolveError;
use crate::linalg::{KrylovOptions, gram_of_columns, symmetric_eigen, symmetric_eigen_bytes, top_eigen};
use crate::seed::Seed;
use crate::watch::{Monitor, Phase, Progress};

/// Eigenvalues with an interval.
const WANTED: usize = 5;
/// Directions in which the draws are decomposed: what lies beyond couples with the wanted ones in second order only.
const DIRECTIONS: usize = 48;
/// Largest number of examples of which all directions are computed.
const MAX_EXAMPLES_FOR_FULL_SPECTRUM: usize = 1000;

/// An eigenvalue λ_i(K)/m and where the true one is likely to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The eigenvalue of the sample.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// Intervals [2λ̂ − q_{1−δ/2}, 2λ̂ − q_{δ/2}] with the quantiles q of eigenvalues of samples that are drawn with replacement. Turned
/// round like this they take away the bias of eigenvalues (the first is too large on average), which plain quantiles would double.
///
/// # Source
/// B. Efron & R. Tibshirani, An Introduction to the Bootstrap (1993), chapter 13; A. C. Davison & D. V. Hinkley (1997), §2.4, for the
/// basic interval. Right for many examples and eigenvalues that differ.
///
/// # Cost
/// The leading 48 eigenvectors, and 48² multiplications for each example and draw.
///
/// # Errors
/// If a value is not finite, or memory does not hold the directions.
pub fn eigenvalue_intervals(
    gram: &dyn Gram,
    how: &Judgement,
    budget: Budget,
    watch: &dyn Monitor,
) -> Result<Vec<Interval>, Error> {
    let m = gram.shape().0;
    let (values, features) = coordinates(gram, budget)?;
    let directions = values.len();
    let wanted = WANTED.min(directions);
    if how.draws == 0 || wanted == 0 {
        return Ok(Vec::new());
    }
    let numbers = how.draws.saturating_mul(wanted).saturating_add(features.len());
    budget
        .check(numbers.saturating_mul(size_of::<f64>()), format!("a bootstrap of {} draws", how.draws))
        .map_err(|e| e.remedy(FEWER))?;
    let mut random = how.seed.stream("eigenvalues");
    let mut drawn = vec![Vec::with_capacity(how.draws); wanted];
    let mut weighted = vec![0.0; features.len()];
    for draw in 0..how.draws {
        watch.alive(Progress::new(Phase::new("bootstrap"), draw).of(how.draws)).map_err(SolveError::from)?;
        let mut counts = vec![0_u32; m];
        (0..m).for_each(|_| counts[random.below(m)] += 1);
        // (1/m) Σ c_i φ_i φ_iᵀ
        let lines = features.chunks_exact(directions).zip(weighted.chunks_exact_mut(directions));
        for ((from, to), count) in lines.zip(&counts) {
            let factor = (f64::from(*count) / m as f64).sqrt();
            to.iter_mut().zip(from).for_each(|(t, f)| *t = factor * f);
        }
        let found = symmetric_eigen(gram_of_columns(&weighted, m, directions), directions)?.values;
        drawn.iter_mut().zip(found).for_each(|(all, value)| all.push(value));
    }
    let interval = |(value, mut all): (&f64, Vec<f64>)| {
        all.sort_by(f64::total_cmp);
        let value = value.max(0.0) / m as f64;
        let [low, high] = [how.delta / 2.0, 1.0 - how.delta / 2.0].map(|p| quantile(&all, p));
        Interval { value, low: (2.0 * value - high).max(0.0), high: 2.0 * value - low }
    };
    Ok(values.iter().zip(drawn).map(interval).collect())
}

/// The leading eigenvalues of K and the coordinates √λ_j u_ij of the examples along their vectors, row by row.
fn coordinates(gram: &dyn Gram, budget: Budget) -> Result<(Vec<f64>, Vec<f64>), Error> {
    let m = gram.shape().0;
    let (values, vectors, width) = if m <= MAX_EXAMPLES_FOR_FULL_SPECTRUM {
        let matrix = budget.dense(gram, symmetric_eigen_bytes(m), "the bootstrap")?;
        let found = symmetric_eigen(matrix.into_values(), m)?;
        (found.values, found.vectors, m)
    } else {
        budget.check(16 * m * (2 * DIRECTIONS + 96), "the bootstrap")?;
        let stored = budget.dense(gram, 16 * m * (2 * DIRECTIONS + 96), "the bootstrap").ok();
        let gram = stored.as_ref().map_or(gram, |dense| dense as &dyn Gram);
        let mut product = |v: &[f64], b: usize, out: &mut [f64]| apply(gram, v, b, out);
        let options = KrylovOptions { seed: Seed(0), tolerance: 1e-8, ..KrylovOptions::default() };
        let found = top_eigen(m, &mut product, DIRECTIONS, &options, &mut |_, _| true)?;
        let width = found.values.len();
        (found.values, found.vectors, width)
    };
    let kept = DIRECTIONS.min(values.len());
    let mut features = Vec::with_capacity(m * kept);
    for line in vectors.chunks_exact(width.max(1)) {
        features.extend(line[..kept].iter().zip(&values).map(|(u, v)| u * v.max(0.0).sqrt()));
    }
    Ok((values[..kept].to_vec(), features))
}

/// Linear between order statistics.
fn quantile(sorted: &[f64], p: f64) -> f64 {
    let at = p * (sorted.len() - 1) as f64;
    let (low, high) = (at.floor() as usize, at.ceil() as usize);
    sorted[low] + (at - low as f64) * (sorted[high] - sorted[low])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::testing::{linear, points};
    use crate::watch::Silent;

    fn how(draws: usize, seed: u64) -> Judgement {
        Judgement { radius: 100.0, delta: 0.1, draws, seed: Seed(seed) }
    }

    #[test]
    fn intervals_hold_the_true_eigenvalues_about_as_often_as_they_say() {
        // three directions with variances 4, 1 and 0.25
        let mut held = [0_u32; 3];
        for round in 0..60 {
            let mut x = points(250, 3, 900 + round);
            x.chunks_exact_mut(3).for_each(|row| {
                row[0] *= 2.0;
                row[2] *= 0.5;
            });
            let found = eigenvalue_intervals(&linear(&x, 3), &how(120, 5), Budget::default(), &Silent).unwrap();
            for (k, truth) in [4.0, 1.0, 0.25].into_iter().enumerate() {
                held[k] += u32::from(found[k].low <= truth && truth <= found[k].high);
            }
        }
        // 54 of 60 in expectation; four standard deviations are 9
        assert!(held.iter().all(|h| (43..=60).contains(h)), "{held:?}");
    }

    #[test]
    fn few_directions_are_those_of_all_and_draws_repeat() {
        let gram = linear(&points(1100, 4, 77), 4);
        let found = eigenvalue_intervals(&gram, &how(30, 1), Budget::default(), &Silent).unwrap();
        assert_eq!(found, eigenvalue_intervals(&gram, &how(30, 1), Budget::default(), &Silent).unwrap());
        assert_ne!(found, eigenvalue_intervals(&gram, &how(30, 2), Budget::default(), &Silent).unwrap());
        let whole = symmetric_eigen(gram.values().to_vec(), 1100).unwrap().values;
        for (interval, value) in found.iter().zip(&whole).take(4) {
            assert!((interval.value - value / 1100.0).abs() < 1e-6);
            assert!(interval.low < interval.value && interval.value < interval.high);
        }
        assert!(eigenvalue_intervals(&gram, &how(0, 1), Budget::default(), &Silent).unwrap().is_empty());
    }
}
