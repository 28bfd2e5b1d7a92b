//! Outputs: what a model says about a batch of examples.

use super::PartOutput;

/// Predictions of a batch of examples. Each form holds what belongs to it and nothing else, so that no reader has to ask whether a
/// label could have a variance.
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
        /// n × labels probabilities, where the model has learned them; the largest is the label's unless classes were weighed.
        probabilities: Option<Vec<f64>>,
    },
    /// A set of labels for each example: none, one or several.
    LabelSets {
        /// All labels.
        labels: Vec<String>,
        /// n × labels: whether the label is in the set.
        inside: Vec<bool>,
        /// n × labels scores; a label is in the set if its score is above zero.
        scores: Vec<f64>,
    },
    /// Numbers for each example, row by row.
    Values {
        /// The names of the numbers.
        names: Vec<String>,
        /// n × names numbers.
        values: Vec<f64>,
        /// Their variances, where the model has a posterior.
        variances: Option<Variances>,
    },
    /// A score for each example, by which examples are put in order: the highest comes first.
    Order {
        /// n scores.
        scores: Vec<f64>,
    },
    /// Numbers for each example and each part of the model. Parts that look at a view that the examples do not have are left out.
    Parts(Vec<PartOutput>),
}

/// The variances of predicted numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Variances {
    /// n × names variances of the function, row by row, without noise.
    pub function: Vec<f64>,
    /// The variance of the noise around the function, for each name.
    pub noise: Vec<f64>,
}

impl Variances {
    /// The standard deviations of new targets, n × names row by row: √(variance of the function + variance of the noise).
    pub fn deviations(&self) -> Vec<f64> {
        let noise = self.noise.iter().cycle();
        self.function.iter().zip(noise).map(|(f, noise)| (f + noise).max(0.0).sqrt()).collect()
    }
}

impl Output {
    /// Numbers without variances.
    pub fn numbers(names: Vec<String>, values: Vec<f64>) -> Self {
        Self::Values { names, values, variances: None }
    }

    /// The predicted label of each example; empty for other outputs.
    pub fn labels(&self) -> Vec<&str> {
        match self {
            Self::Labels { labels, codes, .. } => codes.iter().map(|&c| labels[c as usize].as_str()).collect(),
            Self::LabelSets { .. } | Self::Values { .. } | Self::Order { .. } | Self::Parts(_) => Vec::new(),
        }
    }

    /// The labels in the set of each example; empty for other outputs.
    pub fn label_sets(&self) -> Vec<Vec<&str>> {
        let Self::LabelSets { labels, inside, .. } = self else { return Vec::new() };
        let of =
            |row: &[bool]| labels.iter().zip(row).filter(|(_, inside)| **inside).map(|(l, _)| l.as_str()).collect();
        inside.chunks_exact(labels.len().max(1)).map(of).collect()
    }

    /// The predicted numbers, row by row; empty for other outputs.
    pub fn values(&self) -> &[f64] {
        match self {
            Self::Values { values, .. } => values,
            Self::Labels { .. } | Self::LabelSets { .. } | Self::Order { .. } | Self::Parts(_) => &[],
        }
    }

    /// Predictions of every part of the model; empty for other outputs.
    pub fn parts(&self) -> &[PartOutput] {
        match self {
            Self::Parts(parts) => parts,
            Self::Labels { .. } | Self::LabelSets { .. } | Self::Values { .. } | Self::Order { .. } => &[],
        }
    }

    /// The rank of each example in the batch, 1 for the highest score; equal scores share the best of their ranks. Empty for other
    /// outputs.
    pub fn ranks(&self) -> Vec<u32> {
        let Self::Order { scores } = self else { return Vec::new() };
        let mut order: Vec<usize> = (0..scores.len()).collect();
        crate::order::falling(&mut order, scores);
        let mut ranks = vec![0; scores.len()];
        for (place, &i) in order.iter().enumerate() {
            ranks[i] = match place.checked_sub(1).map(|before| order[before]) {
                Some(before) if scores[before] == scores[i] => ranks[before],
                _ => place as u32 + 1,
            };
        }
        ranks
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
            (Self::LabelSets { inside, scores, .. }, Self::LabelSets { inside: i, scores: s, .. }) => {
                inside.extend(i);
                scores.extend(s);
            }
            (Self::Values { values, variances, .. }, Self::Values { values: v, variances: more, .. }) => {
                values.extend(v);
                if let (Some(all), Some(more)) = (variances, more) {
                    all.function.extend(more.function);
                }
            }
            (Self::Order { scores }, Self::Order { scores: s }) => scores.extend(s),
            (Self::Parts(parts), Self::Parts(more)) => {
                parts.iter_mut().zip(more).for_each(|(part, more)| part.values.extend(more.values));
            }
            _ => {}
        }
    }

    /// The number of examples.
    pub fn len(&self) -> usize {
        match self {
            Self::Labels { codes, .. } => codes.len(),
            Self::LabelSets { labels, inside, .. } => inside.len() / labels.len().max(1),
            Self::Values { names, values, .. } => values.len() / names.len().max(1),
            Self::Order { scores } => scores.len(),
            Self::Parts(parts) => parts.first().map_or(0, PartOutput::len),
        }
    }

    /// True if there is no example.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_count_from_the_highest_and_equal_scores_share_one() {
        let mut output = Output::Order { scores: vec![0.5, 2.0] };
        output.append(Output::Order { scores: vec![0.5, -1.0] });
        assert_eq!(output.ranks(), [2, 1, 2, 4]);
        assert_eq!(output.len(), 4);
    }

    #[test]
    fn sets_are_listed_label_by_label() {
        let labels = ["a", "b", "c"].map(str::to_owned).to_vec();
        let mut output = Output::LabelSets { labels, inside: vec![true, false, true], scores: vec![1.0, -1.0, 0.5] };
        let more = Output::LabelSets { labels: Vec::new(), inside: vec![false; 3], scores: vec![-1.0; 3] };
        output.append(more);
        assert_eq!(output.label_sets(), [vec!["a", "c"], vec![]]);
        assert_eq!(output.len(), 2);
    }

    #[test]
    fn deviations_add_the_noise_of_each_name() {
        let variances = Variances { function: vec![3.0, 0.0, 8.0, 1.0], noise: vec![1.0, 4.0] };
        assert_eq!(variances.deviations(), [2.0, 2.0, 3.0, 5.0_f64.sqrt()]);
    }
}
