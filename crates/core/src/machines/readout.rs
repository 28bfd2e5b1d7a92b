//! Readouts: how scores become predictions.

use crate::calibrate::Form;
use serde::{Deserialize, Serialize};

/// How the scores of an example become its prediction.
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
}

/// What a detector of novelties says.
pub(crate) const NOVELTY: [&str; 2] = ["inlier", "outlier"];

/// Predictions of a batch of examples.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// A label for each example, and a score for each example and label (row by row) whose largest is that label.
    Labels {
        /// All labels.
        labels: Vec<String>,
        /// The place of each example's label.
        codes: Vec<u32>,
        /// n × labels scores.
        scores: Vec<f64>,
        /// n × labels probabilities, where the model has learned them; the largest is the label's.
        probabilities: Option<Vec<f64>>,
    },
    /// Numbers for each example, row by row.
    Values {
        /// What they are.
        names: Vec<String>,
        /// n × names numbers.
        values: Vec<f64>,
    },
}

impl Output {
    /// The predicted label of each example; empty for numbers.
    pub fn labels(&self) -> Vec<&str> {
        match self {
            Self::Labels { labels, codes, .. } => codes.iter().map(|&c| labels[c as usize].as_str()).collect(),
            Self::Values { .. } => Vec::new(),
        }
    }

    /// The predicted numbers, row by row; empty for labels.
    pub fn values(&self) -> &[f64] {
        match self {
            Self::Labels { .. } => &[],
            Self::Values { values, .. } => values,
        }
    }

    /// Appends the predictions of further examples by the same model.
    pub fn append(&mut self, more: Self) {
        match (self, more) {
            (
                Self::Labels { codes, scores, probabilities, .. },
                Self::Labels { codes: c, scores: s, probabilities: p, .. },
            ) => {
                codes.extend(c);
                scores.extend(s);
                if let (Some(all), Some(p)) = (probabilities, p) {
                    all.extend(p);
                }
            }
            (Self::Values { values, .. }, Self::Values { values: v, .. }) => values.extend(v),
            _ => {}
        }
    }

    /// How many examples.
    pub fn len(&self) -> usize {
        match self {
            Self::Labels { codes, .. } => codes.len(),
            Self::Values { names, values } => values.len() / names.len().max(1),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Readout {
    /// How many scores an example has.
    pub fn outputs(&self) -> usize {
        match self {
            Self::Values { names } | Self::Coordinates { names } | Self::Clusters { names } => names.len(),
            Self::ArgMax { labels } => labels.len(),
            Self::Novelty => 1,
            Self::Vote { labels } => labels.len() * labels.len().saturating_sub(1) / 2,
        }
    }

    /// What the scores are of, and how many labels there are; `None` where they cannot become probabilities.
    pub fn form(&self) -> Option<(Form, usize)> {
        match self {
            Self::ArgMax { labels } => Some((Form::Classes, labels.len())),
            Self::Vote { labels } => Some((Form::Pairs, labels.len())),
            Self::Values { .. } | Self::Novelty | Self::Coordinates { .. } | Self::Clusters { .. } => None,
        }
    }

    /// Reads a batch of scores, row by row.
    pub fn read(&self, scores: Vec<f64>) -> Output {
        match self {
            Self::Values { names } | Self::Coordinates { names } => {
                Output::Values { names: names.clone(), values: scores }
            }
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
