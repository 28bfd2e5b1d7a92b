//! Measures of predicted labels: the error beside that of the largest class, and each class by itself.

use super::{ProbabilityMetrics, area_under_curve, clopper_pearson, counts, joined, probability, roc};
use crate::data::{DataError, Target};
use serde::Serialize;

/// Measures of predicted labels.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassMetrics {
    /// Number of examples.
    pub n: usize,
    /// The fraction of wrong labels.
    pub error: f64,
    /// An interval that holds the true error with 95 % probability (Clopper and Pearson), if the examples were held out; `None` for
    /// examples of training.
    pub error_interval: Option<(f64, f64)>,
    /// The error of always predicting the largest class of these examples: what can be had without learning.
    pub base_error: f64,
    /// The largest class, the first of equals.
    pub base_label: String,
    /// One minus the mean recall of the classes that occur: the error if all of them were equally frequent.
    pub balanced_error: f64,
    /// The correlation of predicted and true labels, 0 for guessing (Matthews 1975; Gorodkin 2004 for several classes); `None` where all
    /// predictions, or all examples, are of one class.
    pub matthews: Option<f64>,
    /// All labels, of the model and of the data.
    pub labels: Vec<String>,
    /// Rows are true labels, columns predicted ones.
    pub confusion: Vec<Vec<usize>>,
    /// Each label by itself, in the order of the labels.
    pub by_class: Vec<OneClass>,
    /// Labels of the data that the model does not know; their examples count as errors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown_labels: Vec<String>,
    /// Area under the ROC curve; of more than two classes the mean of each against the rest.
    pub auc: Option<f64>,
    /// Measures of the probabilities, where the model has them.
    #[serde(flatten)]
    pub probability: Option<ProbabilityMetrics>,
}

/// Measures of one class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OneClass {
    /// The label.
    pub label: String,
    /// The number of examples of the class.
    pub examples: usize,
    /// The share of the examples of the class that is found; `None` where there are none.
    pub recall: Option<f64>,
    /// The share of the predictions of the class that is right; `None` where it is never predicted.
    pub precision: Option<f64>,
    /// The harmonic mean of recall and precision; `None` where the class neither occurs nor is predicted.
    pub f1: Option<f64>,
    /// The area under the ROC curve of the class against the rest; `None` without examples of both.
    pub auc: Option<f64>,
}

/// The error of always predicting the largest class, the first of equals, and its label.
fn baseline(labels: &[String], sizes: &[usize]) -> (f64, String) {
    let n: usize = sizes.iter().sum();
    let largest = (0..labels.len()).max_by(|&a, &b| sizes[a].cmp(&sizes[b]).then(b.cmp(&a)));
    let error = largest.map_or(0.0, |c| (n - sizes[c]) as f64 / n.max(1) as f64);
    (error, largest.map(|c| labels[c].clone()).unwrap_or_default())
}

impl ClassMetrics {
    /// The same with the baseline of another target; of one without classes nothing changes.
    pub(super) fn with_baseline_of(self, target: &Target) -> Self {
        let Ok(classes) = target.classes() else { return self };
        let mut sizes = vec![0; classes.labels.len()];
        classes.codes.iter().for_each(|&c| sizes[c as usize] += 1);
        let (base_error, base_label) = baseline(&classes.labels, &sizes);
        Self { base_error, base_label, ..self }
    }

    /// Compares codes, n × k scores and probabilities with the truth.
    pub(super) fn of(
        labels: &[String],
        codes: &[u32],
        scores: &[f64],
        probabilities: Option<&[f64]>,
        truth: &Target,
    ) -> Result<Self, DataError> {
        let truth = truth.classes()?;
        let (all, place) = joined(labels, &truth);
        let known: Vec<usize> = truth.codes.iter().map(|&c| place[c as usize]).collect();
        let mut confusion = vec![vec![0; all.len()]; all.len()];
        for (&predicted, &code) in codes.iter().zip(&known) {
            confusion[code][predicted as usize] += 1;
        }
        let n = codes.len();
        let right: usize = (0..all.len()).map(|c| confusion[c][c]).sum();
        let sizes: Vec<usize> = (0..all.len()).map(|c| counts::size(&confusion, c)).collect();
        let areas = areas(scores, labels.len(), &known);
        let by_class: Vec<OneClass> = (0..all.len())
            .map(|c| OneClass {
                label: all[c].clone(),
                examples: sizes[c],
                recall: counts::recall(&confusion, c),
                precision: counts::precision(&confusion, c),
                f1: counts::f1(&confusion, c),
                auc: areas.get(c).copied().flatten(),
            })
            .collect();
        let recalls: Vec<f64> = by_class.iter().filter_map(|c| c.recall).collect();
        let auc = match (labels.len(), all.len()) {
            (2, 2) => areas[1],
            // examples of a third class stand on no side
            (2, _) => None,
            _ => mean(&areas.iter().copied().flatten().collect::<Vec<_>>()),
        };
        let (base_error, base_label) = baseline(&all, &sizes);
        Ok(Self {
            n,
            error: (n - right) as f64 / n.max(1) as f64,
            error_interval: Some(clopper_pearson(n - right, n, 0.05)),
            base_error,
            base_label,
            balanced_error: mean(&recalls).map_or(0.0, |recall| 1.0 - recall),
            matthews: counts::correlation(&confusion),
            unknown_labels: all[labels.len()..].to_vec(),
            labels: all,
            confusion,
            by_class,
            auc,
            probability: probabilities.map(|p| probability::measure(labels.len(), p, codes, &known)),
        })
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The area of each class against the rest, by its score minus the largest other one; the score of a class alone says nothing where a
/// number may be added to all.
fn areas(scores: &[f64], k: usize, truth: &[usize]) -> Vec<Option<f64>> {
    let margins = roc::all_margins(scores, k);
    let area = |c: usize| {
        let margins: Vec<f64> = margins.iter().skip(c).step_by(k).copied().collect();
        let positive: Vec<bool> = truth.iter().map(|&t| t == c).collect();
        area_under_curve(&margins, &positive)
    };
    (0..k).map(area).collect()
}

#[cfg(test)]
mod tests {
    use crate::data::Target;
    use crate::machines::Output;
    use crate::metrics::{ClassMetrics, Metrics, measure};

    fn measured(labels: &[&str], codes: &[u32], scores: Vec<f64>, truth: &[&str]) -> ClassMetrics {
        let labels = labels.iter().map(|&l| l.to_owned()).collect();
        let output = Output::Labels { labels, codes: codes.to_vec(), scores, probabilities: None };
        let Metrics::Classes(m) = measure(&output, &Target::from_text("y", truth)).unwrap() else { panic!() };
        m
    }

    /// Scores that are largest at the code.
    fn scores(k: usize, codes: &[u32]) -> Vec<f64> {
        codes.iter().flat_map(|&c| (0..k).map(move |j| f64::from(u8::from(j == c as usize)))).collect()
    }

    #[test]
    fn each_class_is_judged_by_itself_beside_the_share_of_the_largest() {
        // scikit-learn: recall_score, precision_score, f1_score, balanced_accuracy_score, matthews_corrcoef
        let codes = [0, 0, 0, 1, 1, 0, 2, 2];
        let m = measured(&["a", "b", "c"], &codes, scores(3, &codes), &["a", "a", "a", "a", "b", "b", "c", "a"]);
        let close = |got: Option<f64>, wanted: f64| assert!((got.unwrap() - wanted).abs() < 1e-12, "{got:?} {wanted}");
        close(m.by_class[0].recall, 0.6);
        close(m.by_class[0].precision, 0.75);
        close(m.by_class[0].f1, 2.0 * 0.6 * 0.75 / 1.35);
        close(m.by_class[1].recall, 0.5);
        close(m.by_class[2].precision, 0.5);
        close(Some(m.balanced_error), 1.0 - (0.6 + 0.5 + 1.0) / 3.0);
        // c = 5, s = 8, t = (5, 2, 1), p = (4, 2, 2)
        close(m.matthews, (5.0 * 8.0 - 26.0) / (40.0_f64 * 34.0).sqrt());
        assert_eq!((m.base_error, m.base_label.as_str()), (3.0 / 8.0, "a"));
        assert!(m.auc.is_some_and(|auc| auc > 0.5 && auc < 1.0), "each against the rest: {:?}", m.auc);
    }

    #[test]
    fn what_never_occurs_has_no_share() {
        let m = measured(&["a", "b"], &[0, 0], scores(2, &[0, 0]), &["a", "a"]);
        assert_eq!((m.by_class[1].recall, m.by_class[1].precision, m.by_class[1].f1), (None, None, None));
        assert_eq!((m.matthews, m.balanced_error, m.base_error, m.auc), (None, 0.0, 0.0, None));
        assert!(m.unknown_labels.is_empty());
        let m = measured(&["a", "b"], &[0, 1, 1], scores(2, &[0, 1, 1]), &["a", "b", "z"]);
        assert_eq!((m.unknown_labels, m.auc), (vec!["z".to_owned()], None));
    }
}
