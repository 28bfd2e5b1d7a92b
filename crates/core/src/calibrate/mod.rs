//! Calibration: probabilities from scores.
//!
//! A curve for each output of a classifier (each pair of classes, or each class against the rest) turns scores into
//! probabilities; it is learned from scores that each example got from a fit without it. Pairs are coupled to
//! probabilities of the classes. Prediction is not touched: the label is the one of the votes or of the largest score as
//! without probabilities, and where the largest probability would be another, the probabilities give way (see `agree`).
//! Only where the labels weigh the errors of some classes more than those of others they do not: such labels are not meant to be the
//! most probable ones, and all that they decide against the odds would be levelled.

mod agree;
mod couple;
mod gaussian;
mod isotonic;
mod platt;

pub use agree::agree;
pub use couple::couple;
pub(crate) use couple::{ROUNDS, TOLERANCE};
pub use gaussian::gaussian;
pub use isotonic::{Block, isotonic, pool};
pub use platt::platt;

use crate::parallel;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Methods of calibration: the form of the curve that turns scores into probabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// A sigmoid with two parameters: for few examples, and scores whose errors are alike on both sides.
    Platt,
    /// Any curve that rises: for many examples (a thousand or more).
    Isotonic,
    /// A Gaussian for each side: for scores that are close to normal, as those of Fisher discriminants are.
    Gaussian,
}

impl Method {
    /// All methods, as the command line spells them.
    pub const WORDS: [(&'static str, Self); 3] =
        [("platt", Self::Platt), ("isotonic", Self::Isotonic), ("gaussian", Self::Gaussian)];
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Platt => "platt",
            Self::Isotonic => "isotonic",
            Self::Gaussian => "gaussian",
        })
    }
}

/// The meaning of the outputs of a classifier: classes, or pairs of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Pairs (a, b) of classes, a < b, in order; positive for a.
    Pairs,
    /// Classes; the largest decides.
    Classes,
}

/// The probability of the positive side as a function of the score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Curve {
    /// 1 / (1 + e^(af + b))
    Platt {
        /// Factor of the score; below zero where a larger score is more likely positive.
        a: f64,
        /// Offset.
        b: f64,
    },
    /// Linear between knots, constant outside.
    Isotonic {
        /// (score, probability), both rising.
        knots: Vec<(f64, f64)>,
    },
    /// 1 / (1 + e^−(square f² + slope f + offset))
    Gaussian {
        /// Factor of the squared score: zero where both sides vary alike.
        square: f64,
        /// Factor of the score.
        slope: f64,
        /// Offset.
        offset: f64,
    },
}

/// Smallest probability that a curve gives, and one minus the largest (LIBSVM's bound), so that no logarithm is
/// infinite.
pub(crate) const MIN_PROBABILITY: f64 = 1e-7;

impl Curve {
    /// Learns a curve from finite scores.
    pub fn learn(method: Method, scores: &[f64], positive: &[bool], weights: Option<&[f64]>) -> Self {
        match method {
            Method::Platt => {
                let (a, b) = if scores.len() > MAX_SCORES_ONE_BY_ONE {
                    let (scores, positive, weights) = gathered(scores, positive, weights);
                    platt(&scores, &positive, Some(&weights))
                } else {
                    platt(scores, positive, weights)
                };
                Self::Platt { a, b }
            }
            Method::Isotonic => Self::Isotonic { knots: isotonic(scores, positive, weights) },
            Method::Gaussian => {
                let [square, slope, offset] = gaussian(scores, positive, weights);
                Self::Gaussian { square, slope, offset }
            }
        }
    }

    /// The probabilities of the positive and of the negative side at a score.
    pub fn at(&self, score: f64) -> (f64, f64) {
        // a difference of scores may pass the range of numbers; times a zero it would be none
        let score = score.clamp(f64::MIN, f64::MAX);
        let (p, q) = match self {
            Self::Platt { a, b } => platt::sigmoid(a * score + b),
            Self::Gaussian { square, slope, offset } => {
                // what passes the range of numbers is certain
                let odds = ((square * score + slope) * score + offset).clamp(f64::MIN, f64::MAX);
                platt::sigmoid(if odds.is_nan() { 0.0 } else { -odds })
            }
            Self::Isotonic { knots } => {
                let p = isotonic::interpolate(knots, score);
                (p, 1.0 - p)
            }
        };
        (p.clamp(MIN_PROBABILITY, 1.0 - MIN_PROBABILITY), q.clamp(MIN_PROBABILITY, 1.0 - MIN_PROBABILITY))
    }

    fn check(&self, method: Method) -> Result<(), String> {
        let fits = match self {
            Self::Platt { a, b } => method == Method::Platt && a.is_finite() && b.is_finite(),
            Self::Gaussian { square, slope, offset } => {
                method == Method::Gaussian && [square, slope, offset].iter().all(|x| x.is_finite())
            }
            Self::Isotonic { knots } => {
                method == Method::Isotonic
                    && !knots.is_empty()
                    && knots.iter().all(|k| k.0.is_finite() && k.1 > 0.0 && k.1 < 1.0)
                    && knots.windows(2).all(|k| k[0].0 < k[1].0 && k[0].1 <= k[1].1)
            }
        };
        if fits { Ok(()) } else { Err("a curve of its probabilities is none".to_owned()) }
    }
}

/// Largest number of scores that a curve of two parameters is fitted to one by one; more are fitted in groups.
const MAX_SCORES_ONE_BY_ONE: usize = 512;
/// Number of groups of neighbouring scores, of equal size, that stand for many scores.
const SCORE_GROUPS: usize = 128;

/// Sorted scores in groups of neighbours: the mean of each group, once with the weight of its positive and once with that
/// of its negative members.
fn gathered(scores: &[f64], positive: &[bool], weights: Option<&[f64]>) -> (Vec<f64>, Vec<bool>, Vec<f64>) {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    crate::order::rising(&mut order, scores);
    let (mut means, mut sides, mut sums) = (Vec::new(), Vec::new(), Vec::new());
    for group in order.chunks(scores.len().div_ceil(SCORE_GROUPS)) {
        for side in [true, false] {
            let members = || group.iter().filter(|&&i| positive[i] == side);
            let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
            let sum: f64 = members().map(|&i| weight(i)).sum();
            if sum > 0.0 {
                means.push(members().map(|&i| weight(i) * scores[i]).sum::<f64>() / sum);
                sides.push(side);
                sums.push(sum);
            }
        }
    }
    (means, sides, sums)
}

/// Curves for all outputs of a classifier.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// The kind of the curves.
    pub method: Method,
    /// In how many folds the scores were held out; 0 where nothing was learned because scores are odds already.
    pub folds: usize,
    /// One for each output.
    pub curves: Vec<Curve>,
    /// True if the predicted label has the largest probability. False where errors of the classes were weighed differently: probabilities
    /// then are those of the frequencies of the classes, and the label follows the weighted decision.
    #[serde(default = "always", skip_serializing_if = "Clone::clone")]
    pub agrees: bool,
}

/// The value that older files mean by saying nothing.
fn always() -> bool {
    true
}

impl Calibration {
    /// Curves for scores that are logarithms of odds, of pairs of classes: 1 / (1 + e^(−f)). Of a class against the rest there are none, since
    /// these are calibrated on margins.
    pub fn of_log_odds(outputs: usize) -> Self {
        Self { method: Method::Platt, folds: 0, curves: vec![Curve::Platt { a: -1.0, b: 0.0 }; outputs], agrees: true }
    }

    /// Learns the curves from held-out scores and the classes 0..k of the examples.
    ///
    /// The curve of a pair is learned from the examples of its two classes only. A score that is not finite is one that
    /// the example did not get.
    pub fn learn(method: Method, folds: usize, form: Form, k: usize, held_out: &HeldOutScores<'_>) -> Self {
        let curves = match form {
            Form::Pairs => {
                let all: Vec<(usize, usize)> = pairs(k).collect();
                let members = held_out.members(k);
                let curve = |(p, &(a, b)): (usize, &(usize, usize))| {
                    let both = members[a].iter().chain(&members[b]).copied();
                    let score = |i: usize| match held_out.layout {
                        Layout::Outputs => held_out.scores[i * all.len() + p],
                        // the other class, without its own
                        Layout::Others => {
                            held_out.scores[i * (k - 1) + if held_out.codes[i] as usize == a { b - 1 } else { a }]
                        }
                    };
                    held_out.curve(method, a, both, score)
                };
                parallel::map(all.len(), |i| curve((i, &all[i])))
            }
            Form::Classes => {
                let margins = margins(held_out.scores, k);
                let all = 0..held_out.codes.len();
                let curve = |c: usize| held_out.curve(method, c, all.clone(), |i| margins[i * k + c]);
                parallel::map(k, curve)
            }
        };
        Self { method, folds, curves, agrees: true }
    }

    /// The same for labels that weigh the errors of some classes more than those of others: they are left as they are, and so are the
    /// probabilities.
    #[must_use]
    pub fn beside_weighted_labels(self) -> Self {
        Self { agrees: false, ..self }
    }

    /// The probabilities of `k` classes, n × k row by row, from n × outputs scores and the class that is predicted for
    /// each example, which has the largest (see `agree`) unless its errors were weighed.
    pub fn probabilities(&self, form: Form, k: usize, scores: &[f64], predicted: &[u32]) -> Vec<f64> {
        let outputs = self.curves.len().max(1);
        let mut all = vec![0.0; predicted.len() * k];
        let rows = all.par_chunks_mut(k.max(1)).zip(scores.par_chunks(outputs)).zip(predicted);
        rows.for_each(|((p, scores), &label)| {
            match form {
                Form::Pairs => self.of_pairs(scores, p),
                Form::Classes => self.of_classes(scores, p),
            }
            if self.agrees {
                agree(p, label as usize);
            }
        });
        all
    }

    fn of_pairs(&self, scores: &[f64], p: &mut [f64]) {
        let k = p.len();
        if let ([curve], [score], [first, second]) = (self.curves.as_slice(), scores, &mut *p) {
            (*first, *second) = curve.at(*score);
            return;
        }
        let mut r = vec![0.0; k * k];
        for ((a, b), (curve, &score)) in pairs(k).zip(self.curves.iter().zip(scores)) {
            (r[a * k + b], r[b * k + a]) = curve.at(score);
        }
        p.copy_from_slice(&couple(&r, k));
    }

    /// Each class against the rest, divided by the sum.
    fn of_classes(&self, scores: &[f64], p: &mut [f64]) {
        for ((p, curve), margin) in p.iter_mut().zip(&self.curves).zip(margins(scores, scores.len())) {
            *p = curve.at(margin).0;
        }
        let sum: f64 = p.iter().sum();
        p.iter_mut().for_each(|p| *p /= sum);
    }

    /// Says what is wrong with curves that were read, for that many outputs.
    pub fn check(&self, outputs: usize) -> Result<(), String> {
        if self.curves.len() != outputs {
            return Err("its probabilities have another number of curves than it has outputs".to_owned());
        }
        self.curves.iter().try_for_each(|curve| curve.check(self.method))
    }
}

/// All pairs (a, b), a < b < k, in order.
fn pairs(k: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..k).flat_map(move |a| (a + 1..k).map(move |b| (a, b)))
}

/// The margin of each class, its score minus the largest of the others, row by row. The largest score decides, whatever is
/// added to all of them; so does the margin, and it is what probabilities are learned from.
fn margins(scores: &[f64], k: usize) -> Vec<f64> {
    if k < 2 {
        return scores.to_vec();
    }
    let mut margins = Vec::with_capacity(scores.len());
    for row in scores.chunks_exact(k) {
        for (c, score) in row.iter().enumerate() {
            let others = row.iter().enumerate().filter(|&(b, _)| b != c).map(|(_, &s)| s);
            margins.push(score - others.fold(f64::NEG_INFINITY, f64::max));
        }
    }
    margins
}

/// The layout of held-out scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// n × outputs, row by row.
    Outputs,
    /// For pairs of classes, n × (k − 1): an example against each class that is not its own, in order.
    Others,
}

/// Scores from fits that did not see the example.
#[derive(Clone, Copy)]
pub struct HeldOutScores<'a> {
    /// The scores; not finite where there is none.
    pub scores: &'a [f64],
    /// Their layout.
    pub layout: Layout,
    /// The class of each example.
    pub codes: &'a [u32],
    /// The weight of each example; `None`: all alike.
    pub weights: Option<&'a [f64]>,
}

impl HeldOutScores<'_> {
    /// The examples of each class.
    fn members(&self, k: usize) -> Vec<Vec<usize>> {
        let mut members = vec![Vec::new(); k];
        self.codes.iter().enumerate().for_each(|(i, &c)| members[c as usize].push(i));
        members
    }

    /// The curve of one output: class a against class b, or against all others.
    fn curve(
        &self,
        method: Method,
        a: usize,
        examples: impl Iterator<Item = usize>,
        score: impl Fn(usize) -> f64,
    ) -> Curve {
        let chosen: Vec<usize> = examples.filter(|&i| score(i).is_finite()).collect();
        let scores: Vec<f64> = chosen.iter().map(|&i| score(i)).collect();
        let positive: Vec<bool> = chosen.iter().map(|&i| self.codes[i] as usize == a).collect();
        let weights: Option<Vec<f64>> = self.weights.map(|w| chosen.iter().map(|&i| w[i]).collect());
        Curve::learn(method, &scores, &positive, weights.as_deref())
    }
}

#[cfg(test)]
mod tests;
