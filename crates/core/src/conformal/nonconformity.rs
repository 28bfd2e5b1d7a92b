//! Nonconformity measures: numbers that say how badly an example fits a model.

use crate::calibrate::Form;
use serde::{Deserialize, Serialize};

/// A nonconformity measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// 1 − p(y), where a classifier has learned probabilities.
    Probability,
    /// The margin against the label: the largest other score minus its own, or the largest loss to another class where pairs of
    /// classes are compared.
    Margin,
    /// |y − f(x)|.
    Residual,
    /// −f(x) of a detector of novelties.
    Novelty,
}

impl Measure {
    /// True if labels are measured, not numbers or examples.
    pub(crate) fn is_of_labels(self) -> bool {
        matches!(self, Self::Probability | Self::Margin)
    }
}

/// The nonconformity of each of `k` labels from the scores of a classifier; infinite for a label without scores, which the
/// model does not know.
///
/// Scores of classes: max_{c ≠ y} s_c − s_y. Scores of pairs: −min_{c ≠ y} f_yc, where f_yc is positive if y beats c. Both are
/// below zero for the label that wins, and do not change if a number is added to all scores of classes.
pub fn nonconformities(form: Form, k: usize, scores: &[f64]) -> Vec<f64> {
    match form {
        Form::Classes => (0..k)
            .map(|y| {
                let others = scores.iter().enumerate().filter(|(c, s)| *c != y && !s.is_nan());
                let best = others.map(|(_, s)| *s).fold(f64::NEG_INFINITY, f64::max);
                known(best - scores[y])
            })
            .collect(),
        Form::Pairs => {
            let mut worst = vec![f64::NAN; k];
            let mut duel = |y: usize, f: f64| {
                // the larger of two, where the first may be missing
                worst[y] = worst[y].max(-f);
            };
            let mut p = 0;
            for a in 0..k {
                for b in a + 1..k {
                    duel(a, scores[p]);
                    duel(b, -scores[p]);
                    p += 1;
                }
            }
            worst.into_iter().map(known).collect()
        }
    }
}

/// A number, or infinity where there is none.
fn known(r: f64) -> f64 {
    if r.is_nan() { f64::INFINITY } else { r }
}
