//! Isotonic regression: a probability that only has to rise with the score.
//!
//! min Σ w_i (g_i − t_i)² over all g that do not fall where the score rises. Pool adjacent violators: go through the
//! scores in rising order; as long as the last block's mean is not below the next one's, the two become one block.
//! Between the centres of blocks (their mean scores) the curve is linear, outside the first and last it is constant, so
//! it is continuous and rises with the score.
//!
//! # Source
//! Ayer, Brunk, Ewing, Reid & Silverman (1955), An Empirical Distribution Function for Sampling with Incomplete
//! Information, for the algorithm; Zadrozny & Elkan (2002), Transforming Classifier Scores into Accurate Multiclass
//! Probability Estimates, for its use on scores.

use super::platt::smoothed_targets;

/// Neighbouring scores that share one value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block {
    /// The smallest score.
    pub low: f64,
    /// The largest score.
    pub high: f64,
    /// The mean score.
    pub centre: f64,
    /// The sum of targets by weight.
    pub sum: f64,
    /// The sum of weights.
    pub weight: f64,
}

impl Block {
    /// The mean target: the value of the regression here.
    pub fn value(&self) -> f64 {
        self.sum / self.weight
    }

    /// True if the next block's mean is not above this one's: exact for counts, where sums and weights are whole numbers.
    fn violates(&self, next: &Self) -> bool {
        self.sum * next.weight >= next.sum * self.weight
    }

    /// Two neighbours as one.
    fn join(self, next: Self) -> Self {
        let weight = self.weight + next.weight;
        // as a step from one to the other, which cannot overflow and stays between them
        let share = next.weight / weight;
        let centre = (self.centre * (1.0 - share) + next.centre * share).clamp(self.centre, next.centre);
        Self { low: self.low, high: next.high, centre, sum: self.sum + next.sum, weight }
    }
}

/// The isotonic regression of targets on scores, as blocks with rising scores and strictly rising values. Examples with
/// equal scores share a block; those without weight have no say.
pub fn pool(scores: &[f64], targets: &[f64], weights: Option<&[f64]>) -> Vec<Block> {
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let mut order: Vec<usize> = (0..scores.len()).filter(|&i| weight(i) > 0.0).collect();
    crate::order::rising(&mut order, scores);
    let mut blocks: Vec<Block> = Vec::new();
    let mut next = order.into_iter().peekable();
    while let Some(i) = next.next() {
        // equal scores are one point, with the mean of their targets
        let (mut sum, mut total) = (weight(i) * targets[i], weight(i));
        while let Some(j) = next.next_if(|&j| scores[j] == scores[i]) {
            sum += weight(j) * targets[j];
            total += weight(j);
        }
        let score = scores[i];
        let mut block = Block { low: score, high: score, centre: score, sum, weight: total };
        // pool adjacent violators
        while let Some(last) = blocks.pop_if(|last| last.violates(&block)) {
            block = last.join(block);
        }
        blocks.push(block);
    }
    blocks
}

/// The curve of probabilities as (score, probability) at the centres of blocks. Targets are smoothed as Platt's are, so
/// that no probability is 0 or 1; without examples it is ½ everywhere.
pub fn isotonic(scores: &[f64], positive: &[bool], weights: Option<&[f64]>) -> Vec<(f64, f64)> {
    let (_, (high, low)) = smoothed_targets(positive, weights);
    // the regression of a + bt is a + b times that of t, so the smoothing can wait until after the counting
    let targets: Vec<f64> = positive.iter().map(|&p| f64::from(u8::from(p))).collect();
    let knot = |b: &Block| (b.centre, low + (high - low) * b.value());
    let knots: Vec<(f64, f64)> = pool(scores, &targets, weights).iter().map(knot).collect();
    if knots.is_empty() { vec![(0.0, 0.5)] } else { knots }
}

/// The value of a curve at a score: linear between knots, constant outside.
pub(super) fn interpolate(knots: &[(f64, f64)], score: f64) -> f64 {
    let after = knots.partition_point(|k| k.0 <= score);
    match (after.checked_sub(1).and_then(|k| knots.get(k)), knots.get(after)) {
        (Some(&(x, p)), Some(&(y, q))) => {
            // halves, so that a difference of the largest numbers is finite
            let part = (score / 2.0 - x / 2.0) / (y / 2.0 - x / 2.0);
            if part.is_finite() { (p + (q - p) * part.clamp(0.0, 1.0)).clamp(p, q.max(p)) } else { p }
        }
        (Some(&(_, p)), None) | (None, Some(&(_, p))) => p,
        (None, None) => 0.5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    /// The isotonic regression by its max-min formula: g_i = max over a ≤ i of min over b ≥ i of the mean of a..b.
    fn by_formula(targets: &[f64], weights: &[f64]) -> Vec<f64> {
        let n = targets.len();
        let mean = |a: usize, b: usize| {
            (a..=b).map(|k| weights[k] * targets[k]).sum::<f64>() / (a..=b).map(|k| weights[k]).sum::<f64>()
        };
        (0..n)
            .map(|i| {
                let least = |a: usize| (i..n).map(|b| mean(a, b)).fold(f64::INFINITY, f64::min);
                (0..=i).map(least).fold(f64::NEG_INFINITY, f64::max)
            })
            .collect()
    }

    /// The quadratic programme by brute force: each way of cutting the line into blocks has its means; the best of those
    /// that do not fall is the solution.
    fn by_force(targets: &[f64], weights: &[f64]) -> f64 {
        let n = targets.len();
        let mut best = f64::INFINITY;
        for cuts in 0..1_u32 << (n - 1) {
            let (mut start, mut last, mut loss, mut rises) = (0, f64::NEG_INFINITY, 0.0, true);
            for end in 1..=n {
                if end == n || cuts >> (end - 1) & 1 == 1 {
                    let part = start..end;
                    let mean = part.clone().map(|k| weights[k] * targets[k]).sum::<f64>()
                        / part.clone().map(|k| weights[k]).sum::<f64>();
                    rises &= mean >= last - 1e-12;
                    loss += part.map(|k| weights[k] * (targets[k] - mean).powi(2)).sum::<f64>();
                    (start, last) = (end, mean);
                }
            }
            if rises {
                best = best.min(loss);
            }
        }
        best
    }

    fn values(blocks: &[Block], scores: &[f64]) -> Vec<f64> {
        let at = |s: f64| blocks.iter().find(|b| b.low <= s && s <= b.high).map_or(f64::NAN, Block::value);
        scores.iter().map(|&s| at(s)).collect()
    }

    #[test]
    fn pooling_solves_the_quadratic_programme() {
        let mut random = Seed(2).stream("isotonic");
        for round in 0..60 {
            let n = 1 + round % 10;
            let scores: Vec<f64> = (0..n).map(|i| i as f64).collect();
            let targets: Vec<f64> = (0..n).map(|_| random.normal()).collect();
            let weights: Vec<f64> = (0..n).map(|_| 0.1 + random.uniform()).collect();
            let blocks = pool(&scores, &targets, Some(&weights));
            let got = values(&blocks, &scores);
            let loss: f64 = (0..n).map(|i| weights[i] * (targets[i] - got[i]).powi(2)).sum();
            assert!((loss - by_force(&targets, &weights)).abs() < 1e-12, "{targets:?} {got:?}");
            for (g, w) in got.iter().zip(by_formula(&targets, &weights)) {
                assert!((g - w).abs() < 1e-12);
            }
            assert!(blocks.windows(2).all(|b| b[0].value() < b[1].value() && b[0].high < b[1].low));
        }
    }

    #[test]
    fn equal_scores_are_one_point_and_no_weight_has_no_say() {
        let blocks = pool(&[1.0, 0.0, 1.0, 2.0], &[1.0, 0.0, 0.5, 9.0], Some(&[1.0, 1.0, 1.0, 0.0]));
        let ends: Vec<(f64, f64)> = blocks.iter().map(|b| (b.centre, b.value())).collect();
        assert_eq!(ends, [(0.0, 0.0), (1.0, 0.75)]);
        assert_eq!(isotonic(&[], &[], None), [(0.0, 0.5)]);
    }

    #[test]
    fn the_curve_rises_and_stays_inside() {
        let mut random = Seed(4).stream("curve");
        let scores: Vec<f64> = (0..200).map(|_| (random.normal() * 8.0).round() / 8.0).collect();
        let positive: Vec<bool> = scores.iter().map(|f| random.uniform() < 1.0 / (1.0 + (-2.0 * f).exp())).collect();
        let knots = isotonic(&scores, &positive, None);
        let curve: Vec<f64> = (-5000..5000).map(|i| interpolate(&knots, f64::from(i) / 1000.0)).collect();
        assert!(curve.windows(2).all(|p| p[0] <= p[1] && p[1] - p[0] < 0.02), "it rises without jumps");
        assert!(curve.iter().all(|&p| p > 0.0 && p < 1.0));
        for &(score, p) in &knots {
            assert_eq!(interpolate(&knots, score), p);
        }
        for score in [f64::MAX, f64::MIN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(interpolate(&knots, score) > 0.0);
        }
        assert_eq!(interpolate(&[(f64::MIN, 0.25), (f64::MAX, 0.75)], 0.0), 0.5);
    }
}
