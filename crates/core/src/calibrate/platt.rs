//! Platt's sigmoid: a probability from a score by two numbers.
//!
//! P(y = 1 | f) = 1 / (1 + e^(Af + B)), where A and B minimise the cross-entropy
//!
//! F(A, B) = −Σ w_i [t_i ln p_i + (1 − t_i) ln(1 − p_i)], t_i = (N₊ + 1)/(N₊ + 2) for a positive example and
//! 1/(N₋ + 2) for a negative one.
//!
//! The targets are those of Bayes' rule with a uniform prior on the share of wrong labels, so that A stays finite where
//! the scores separate the classes.
//!
//! # Source
//! Platt (2000), Probabilities for SV Machines, for the model and its targets; Lin, Lin & Weng (2007), A Note on Platt's
//! Probabilistic Outputs for Support Vector Machines, algorithm 1 and appendix, for Newton's method with backtracking and
//! for the forms that neither overflow nor cancel.

/// The sum of weights on each side, and the target of each side, (positive, negative).
pub(super) fn smoothed_targets(positive: &[bool], weights: Option<&[f64]>) -> ((f64, f64), (f64, f64)) {
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let sum = |side: bool| (0..positive.len()).filter(|&i| positive[i] == side).map(weight).sum::<f64>();
    let (above, below) = (sum(true), sum(false));
    ((above, below), ((above + 1.0) / (above + 2.0), 1.0 / (below + 2.0)))
}

/// p and 1 − p of the sigmoid at z = Af + B, both to full relative accuracy.
pub(super) fn sigmoid(z: f64) -> (f64, f64) {
    if z >= 0.0 {
        let e = (-z).exp();
        (e / (1.0 + e), 1.0 / (1.0 + e))
    } else {
        let e = z.exp();
        (1.0 / (1.0 + e), e / (1.0 + e))
    }
}

/// −t ln p − (1 − t) ln(1 − p) at z: log1p of a number below one, whatever the sign of z.
fn cross_entropy(t: f64, z: f64) -> f64 {
    if z >= 0.0 { t * z + (-z).exp().ln_1p() } else { (t - 1.0) * z + z.exp().ln_1p() }
}

/// Largest number of steps of Newton's method; ten are many.
const MAX_STEPS: usize = 100;
/// Ridge of the Hessian, which is singular where all scores are equal.
const RIDGE: f64 = 1e-12;
/// Smallest step of the backtracking.
const MIN_STEP: f64 = 1e-10;
/// The gradient that is left, for each unit of weight.
const TOLERANCE: f64 = 1e-13;

/// A and B of the sigmoid for finite scores; where there is nothing to learn from, A = 0 and B tells the shares.
pub fn platt(scores: &[f64], positive: &[bool], weights: Option<&[f64]>) -> (f64, f64) {
    let ((above, below), (high, low)) = smoothed_targets(positive, weights);
    let prior = ((below + 1.0) / (above + 1.0)).ln();
    let total = above + below;
    // scores of mean 0 and deviation 1 make the tolerances mean the same for every machine
    let size = scores.iter().fold(0.0, |m: f64, f| m.max(f.abs()));
    if size == 0.0 || total == 0.0 {
        return (0.0, prior);
    }
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let mean = (0..scores.len()).map(|i| weight(i) * (scores[i] / size)).sum::<f64>() / total;
    let variance = (0..scores.len()).map(|i| weight(i) * (scores[i] / size - mean).powi(2)).sum::<f64>() / total;
    let deviation = if variance > 0.0 { variance.sqrt() } else { 1.0 };
    let f: Vec<f64> = scores.iter().map(|s| (s / size - mean) / deviation).collect();
    let target = |i: usize| if positive[i] { high } else { low };
    let value = |a: f64, b: f64| (0..f.len()).map(|i| weight(i) * cross_entropy(target(i), a * f[i] + b)).sum::<f64>();

    let (mut a, mut b) = (0.0, prior);
    let mut now = value(a, b);
    for _ in 0..MAX_STEPS {
        // gradient Σ w (t − p)(f, 1) and Hessian Σ w p(1 − p)(f, 1)(f, 1)ᵀ
        let (mut haa, mut hbb, mut hab, mut ga, mut gb) = (RIDGE, RIDGE, 0.0, 0.0, 0.0);
        for i in 0..f.len() {
            let (p, q) = sigmoid(a * f[i] + b);
            // t − p = (1 − p) − (1 − t), the form that does not cancel where p is near 1
            let slope = weight(i) * if p > 0.5 { q - (1.0 - target(i)) } else { target(i) - p };
            let bend = weight(i) * p * q;
            haa += f[i] * f[i] * bend;
            hbb += bend;
            hab += f[i] * bend;
            ga += f[i] * slope;
            gb += slope;
        }
        if ga.abs().max(gb.abs()) <= TOLERANCE * total {
            break;
        }
        // Newton's direction −H⁻¹g
        let determinant = haa * hbb - hab * hab;
        let (da, db) = (-(hbb * ga - hab * gb) / determinant, -(haa * gb - hab * ga) / determinant);
        let descent = ga * da + gb * db;
        // near the solution the decrease is lost in the rounding of F, and the whole step is right
        let rounding = 4.0 * f64::EPSILON * now.abs();
        let mut step = 1.0;
        let moved = loop {
            let (a_new, b_new) = (a + step * da, b + step * db);
            let new = value(a_new, b_new);
            if new < now + 1e-4 * step * descent + rounding {
                (a, b, now) = (a_new, b_new, new);
                break true;
            }
            step /= 2.0;
            if step < MIN_STEP {
                break false;
            }
        };
        if !moved {
            break;
        }
    }
    // back to the scores as they came: A′(f/size − mean)/deviation + B′
    let (slope, offset) = (a / deviation / size, b - a * mean / deviation);
    if slope.is_finite() && offset.is_finite() { (slope, offset) } else { (0.0, prior) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    /// Scores from a normal distribution, labels by a logistic truth, weights in (0, 2).
    fn sample(n: usize, scale: f64, seed: u64) -> (Vec<f64>, Vec<bool>, Vec<f64>) {
        let mut random = Seed(seed).stream("platt");
        let scores: Vec<f64> = (0..n).map(|_| scale * (random.normal() + 0.3)).collect();
        let positive = scores.iter().map(|f| random.uniform() < sigmoid(-1.5 * f / scale + 0.4).0).collect();
        let weights = (0..n).map(|_| 2.0 * random.uniform()).collect();
        (scores, positive, weights)
    }

    fn objective(scores: &[f64], positive: &[bool], weights: Option<&[f64]>, a: f64, b: f64) -> f64 {
        let (_, (high, low)) = smoothed_targets(positive, weights);
        (0..scores.len())
            .map(|i| {
                let t = if positive[i] { high } else { low };
                weights.map_or(1.0, |w| w[i]) * cross_entropy(t, a * scores[i] + b)
            })
            .sum()
    }

    #[test]
    fn the_gradient_vanishes_at_the_result() {
        for (n, scale) in [(7, 1.0), (50, 1e-6), (400, 1.0), (400, 1e9)] {
            let (scores, positive, weights) = sample(n, scale, n as u64);
            for weights in [None, Some(weights.as_slice())] {
                let (a, b) = platt(&scores, &positive, weights);
                let (_, (high, low)) = smoothed_targets(&positive, weights);
                let (mut ga, mut gb) = (0.0, 0.0);
                for i in 0..n {
                    let slope = weights.map_or(1.0, |w| w[i])
                        * (if positive[i] { high } else { low } - sigmoid(a * scores[i] + b).0);
                    ga += slope * scores[i] / scale;
                    gb += slope;
                }
                assert!(ga.abs().max(gb.abs()) < 1e-9 * n as f64, "{n} {scale}: {ga} {gb}");
            }
        }
    }

    #[test]
    fn no_point_of_a_fine_grid_is_better() {
        let (scores, positive, weights) = sample(60, 1.0, 5);
        for weights in [None, Some(weights.as_slice())] {
            let (a, b) = platt(&scores, &positive, weights);
            let best = objective(&scores, &positive, weights, a, b);
            let mut nearest = (f64::INFINITY, 0.0, 0.0);
            for i in -400..=400 {
                for j in -400..=400 {
                    let (x, y) = (f64::from(i) / 50.0, f64::from(j) / 50.0);
                    let value = objective(&scores, &positive, weights, x, y);
                    assert!(value >= best - 1e-12);
                    if value < nearest.0 {
                        nearest = (value, x, y);
                    }
                }
            }
            assert!((nearest.1 - a).abs() < 0.03 && (nearest.2 - b).abs() < 0.03, "{nearest:?} {a} {b}");
        }
    }

    #[test]
    fn a_weight_of_two_is_an_example_twice_up_to_the_prior() {
        let (scores, positive, _) = sample(300, 1.0, 9);
        let twice: Vec<f64> = scores.iter().chain(&scores).copied().collect();
        let sides: Vec<bool> = positive.iter().chain(&positive).copied().collect();
        let (a, b) = platt(&scores, &positive, Some(&vec![2.0; 300]));
        let (c, d) = platt(&twice, &sides, None);
        assert!((a - c).abs() < 1e-10 && (b - d).abs() < 1e-10);
    }

    #[test]
    fn separated_equal_and_missing_scores_have_finite_answers() {
        // separated: the smoothed targets are met exactly by two groups of scores
        let (a, b) = platt(&[-1.0, -1.0, 2.0, 2.0, 2.0], &[false, false, true, true, true], None);
        assert!((sigmoid(2.0 * a + b).0 - 0.8).abs() < 1e-12 && (sigmoid(-a + b).0 - 0.25).abs() < 1e-12);
        let (a, b) = platt(&[3.0; 5], &[true, true, true, false, false], None);
        assert!((sigmoid(3.0 * a + b).0 - (3.0 * 0.8 + 2.0 * 0.25) / 5.0).abs() < 1e-9, "{a} {b}");
        assert_eq!(platt(&[], &[], None), (0.0, 0.0));
        for scores in [[1e308, -1e308], [5e-324, -5e-324], [0.0, 0.0]] {
            let (a, b) = platt(&scores, &[true, false], None);
            assert!(a.is_finite() && b.is_finite(), "{scores:?}");
        }
        let (a, b) = platt(&[0.5, 0.7], &[true, true], None);
        assert!(a.is_finite() && (sigmoid(0.6 * a + b).0 - 0.75).abs() < 1e-6);
    }

    #[test]
    fn a_logistic_truth_is_found_again() {
        let (scores, positive, _) = sample(20_000, 1.0, 3);
        let (a, b) = platt(&scores, &positive, None);
        assert!((a + 1.5).abs() < 0.06 && (b - 0.4).abs() < 0.06, "{a} {b}");
    }
}
