//! Readouts: how scores become predictions.

use super::parts::split;
use super::{Output, PartNames};
use crate::calibrate::Form;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Readouts, which turn the scores of an example into its prediction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Readout {
    /// The scores are the predictions, one for each name.
    Values {
        /// The outputs.
        names: Vec<String>,
    },
    /// The label of the largest score; ties go to the first.
    ArgMax {
        /// Labels in the order of the outputs.
        labels: Vec<String>,
    },
    /// One score for each pair (a, b), a < b, positive for a; the label with most votes, ties to the first (LIBSVM).
    Vote {
        /// Labels in class order.
        labels: Vec<String>,
    },
    /// The set of all labels whose scores are above zero.
    LabelSets {
        /// Labels in the order of the outputs.
        labels: Vec<String>,
    },
    /// One score, by which examples are put in order: the highest comes first.
    Order,
    /// One score: at or above zero the example is like the training examples, below it is not.
    Novelty,
    /// The scores are coordinates, one for each name.
    Coordinates {
        /// The coordinates.
        names: Vec<String>,
    },
    /// The cluster of the largest score; ties go to the first. Clusters are not classes, whatever the data call those.
    Clusters {
        /// Clusters in the order of the outputs.
        names: Vec<String>,
    },
    /// The scores of each part are its coordinates; parts follow one another.
    Parts(Vec<PartNames>),
}

/// Labels of a detector of novelties.
pub(crate) const NOVELTY: [&str; 2] = ["inlier", "outlier"];

impl Readout {
    /// The number of scores of an example.
    pub fn outputs(&self) -> usize {
        match self {
            Self::Values { names } | Self::Coordinates { names } | Self::Clusters { names } => names.len(),
            Self::ArgMax { labels } | Self::LabelSets { labels } => labels.len(),
            Self::Novelty | Self::Order => 1,
            Self::Parts(parts) => parts.iter().map(|part| part.coordinates.len()).sum(),
            Self::Vote { labels } => labels.len() * labels.len().saturating_sub(1) / 2,
        }
    }

    /// The oldest version of model files whose readers know it; those of the first version know most.
    pub(crate) fn file_version(&self) -> u64 {
        match self {
            Self::Parts(_) => 5,
            Self::LabelSets { .. } | Self::Order => 4,
            _ => 1,
        }
    }

    /// A label that stands for two outputs, which no training target gives.
    pub(crate) fn repeated(&self) -> Option<&str> {
        let (Self::ArgMax { labels } | Self::Vote { labels } | Self::LabelSets { labels }) = self else { return None };
        let mut known = HashSet::new();
        labels.iter().find(|label| !known.insert(label.as_str())).map(String::as_str)
    }

    /// The form of the scores and the number of labels; `None` where they cannot become probabilities.
    pub fn form(&self) -> Option<(Form, usize)> {
        match self {
            Self::ArgMax { labels } => Some((Form::Classes, labels.len())),
            Self::Vote { labels } => Some((Form::Pairs, labels.len())),
            Self::Values { .. }
            | Self::LabelSets { .. }
            | Self::Order
            | Self::Novelty
            | Self::Coordinates { .. }
            | Self::Clusters { .. }
            | Self::Parts(_) => None,
        }
    }

    /// Reads a batch of scores, row by row.
    pub fn read(&self, scores: Vec<f64>) -> Output {
        match self {
            Self::Values { names } | Self::Coordinates { names } => Output::numbers(names.clone(), scores),
            Self::LabelSets { labels } => {
                let inside = scores.iter().map(|&f| f > 0.0).collect();
                Output::LabelSets { labels: labels.clone(), inside, scores }
            }
            Self::Order => Output::Order { scores },
            Self::Parts(parts) => Output::Parts(split(parts, &scores)),
            Self::Novelty => Output::Labels {
                labels: NOVELTY.map(str::to_owned).to_vec(),
                codes: scores.iter().map(|&f| u32::from(f < 0.0)).collect(),
                scores: scores.iter().flat_map(|&f| [f, -f]).collect(),
                probabilities: None,
            },
            Self::ArgMax { labels } | Self::Clusters { names: labels } => {
                let codes = scores.chunks_exact(labels.len()).map(first_largest).collect();
                Output::Labels { labels: labels.clone(), codes, scores, probabilities: None }
            }
            Self::Vote { labels } => {
                let k = labels.len();
                let mut all = vec![0.0; scores.len() / self.outputs().max(1) * k];
                let rows = scores.chunks_exact(self.outputs()).zip(all.chunks_exact_mut(k));
                let codes = rows.map(|(pairs, row)| vote(pairs, row)).collect();
                Output::Labels { labels: labels.clone(), codes, scores: all, probabilities: None }
            }
        }
    }
}

fn first_largest(row: &[f64]) -> u32 {
    let mut best = 0;
    for (c, &score) in row.iter().enumerate() {
        if score > row[best] {
            best = c;
        }
    }
    best as u32
}

/// LIBSVM's vote. For two classes the scores are f and −f, where a positive f decides for the first label and f = 0 for the
/// second; for more, the number of votes plus a part below one half that grows with the summed decision values.
fn vote(pairs: &[f64], scores: &mut [f64]) -> u32 {
    let k = scores.len();
    if let [first, second] = scores {
        // positive decides for the first class
        let f = pairs[0];
        (*first, *second) = (f, -f);
        return u32::from(f <= 0.0);
    }
    let (mut votes, mut sums) = (vec![0.0; k], vec![0.0; k]);
    let mut p = 0;
    for a in 0..k {
        for b in a + 1..k {
            votes[if pairs[p] > 0.0 { a } else { b }] += 1.0;
            sums[a] += pairs[p];
            sums[b] -= pairs[p];
            p += 1;
        }
    }
    let code = first_largest(&votes);
    for ((score, v), s) in scores.iter_mut().zip(&votes).zip(&sums) {
        let s: f64 = *s;
        *score = v + s / (3.0 * (s.abs() + 1.0));
    }
    // the label that is predicted has the largest score, also where the sums disagree with LIBSVM's tie rule
    let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if first_largest(scores) != code {
        scores[code as usize] = top.next_up();
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tie_goes_to_the_first_label() {
        // 0 beats 1, 1 beats 2, 2 beats 0: one vote each
        let readout = Readout::Vote { labels: vec!["a".into(), "b".into(), "c".into()] };
        let Output::Labels { codes, scores, .. } = readout.read(vec![0.1, -5.0, 0.2]) else { panic!() };
        assert_eq!(codes, [0]);
        assert_eq!(first_largest(&scores), 0);
    }

    #[test]
    fn two_classes_show_the_decision_value() {
        let readout = Readout::Vote { labels: vec!["n".into(), "p".into()] };
        let Output::Labels { codes, scores, .. } = readout.read(vec![0.5, -0.25]) else { panic!() };
        assert_eq!((codes, scores), (vec![0, 1], vec![0.5, -0.5, -0.25, 0.25]));
    }
}
