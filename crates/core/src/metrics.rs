//! Numbers about predictions: errors, intervals, areas.

mod classes;
mod clusters;
mod counts;
mod novelty;
mod numbers;
mod probability;
mod roc;
mod score;

pub use classes::{ClassMetrics, OneClass};
pub use clusters::{ClusterMetrics, agreement};
pub use novelty::{Usual, usual};
pub use numbers::NumberMetrics;
pub use probability::{Bin, ProbabilityMetrics, Reliability, reliability};
pub use roc::{Roc, roc, roc_of};
pub(crate) use score::Rule;
pub use score::{SCORES, Score, ScoreEntry, positive};

use crate::data::{Classes, DataError, Target, places_of_labels};
use crate::machines::Output;
use serde::Serialize;

/// Measures of predictions, by the kind of task.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Metrics {
    /// Of labels.
    Classes(ClassMetrics),
    /// Of numbers.
    Numbers(NumberMetrics),
}

impl Metrics {
    /// The same without intervals: those of examples that the model has learned from would promise what nobody knows.
    #[must_use]
    pub fn without_intervals(self) -> Self {
        match self {
            Self::Classes(m) => Self::Classes(ClassMetrics { error_interval: None, ..m }),
            Self::Numbers(m) => Self::Numbers(NumberMetrics { rmse_interval: None, rmse_interval_is: None, ..m }),
        }
    }

    /// The same with the baseline of another target: of all examples, where some of them were judged.
    #[must_use]
    pub fn with_baseline_of(self, target: &Target) -> Self {
        match self {
            Self::Classes(m) => Self::Classes(m.with_baseline_of(target)),
            Self::Numbers(m) => Self::Numbers(m.with_baseline_of(target)),
        }
    }
}

/// Compares predictions with the truth. Clusters are no predictions of classes: see [`agreement`].
pub fn measure(output: &Output, truth: &Target) -> Result<Metrics, DataError> {
    same_length(output, truth)?;
    match output {
        Output::Labels { labels, codes, scores, probabilities } => {
            ClassMetrics::of(labels, codes, scores, probabilities.as_deref(), truth).map(Metrics::Classes)
        }
        Output::Values { names, values, .. } => NumberMetrics::of(names.len(), values, truth).map(Metrics::Numbers),
        Output::LabelSets { .. } | Output::Order { .. } => {
            let finding = "sets of labels and orders are not compared with one target column".to_owned();
            Err(DataError::Usage { finding })
        }
        Output::Parts(_) => {
            let finding =
                "the coordinates of several parts predict no target, so none is compared with them".to_owned();
            Err(DataError::Usage { finding })
        }
    }
}

fn same_length(output: &Output, truth: &Target) -> Result<(), DataError> {
    if output.len() == truth.len() {
        return Ok(());
    }
    Err(DataError::Lengths {
        what: "the predictions".to_owned(),
        got: output.len(),
        other: "the target".to_owned(),
        wanted: truth.len(),
    })
}

/// All labels, of the model and of the data, and the place of each label of the data among them ([`places_of_labels`]).
fn joined(labels: &[String], truth: &Classes) -> (Vec<String>, Vec<usize>) {
    let mut all = labels.to_vec();
    let found = places_of_labels(labels, &truth.labels).into_iter().zip(&truth.labels);
    let place = found.map(|(place, label)| {
        place.unwrap_or_else(|| {
            all.push(label.clone());
            all.len() - 1
        })
    });
    let place = place.collect();
    (all, place)
}

/// The probability that a positive example scores higher than a negative one, ties counting half; `None` without both, or
/// if a score is not a number.
pub fn area_under_curve(scores: &[f64], positive: &[bool]) -> Option<f64> {
    if scores.iter().any(|s| s.is_nan()) {
        return None;
    }
    let mut order: Vec<usize> = (0..scores.len()).collect();
    crate::order::rising(&mut order, scores);
    let (mut ranks, mut i) = (0.0, 0);
    while i < order.len() {
        let mut j = i;
        while j < order.len() && scores[order[j]] == scores[order[i]] {
            j += 1;
        }
        // tied scores share the mean of their ranks
        let rank = (i + 1 + j) as f64 / 2.0;
        ranks += rank * order[i..j].iter().filter(|&&t| positive[t]).count() as f64;
        i = j;
    }
    let p = positive.iter().filter(|&&b| b).count() as f64;
    let q = positive.len() as f64 - p;
    (p > 0.0 && q > 0.0).then(|| (ranks - p * (p + 1.0) / 2.0) / (p * q))
}

/// The exact interval for a probability from `k` successes in `n` trials that holds it with probability 1 − `delta`.
///
/// # Source
/// Clopper & Pearson (1934): the ends are where the binomial tails are δ/2.
pub fn clopper_pearson(k: usize, n: usize, delta: f64) -> (f64, f64) {
    if n == 0 {
        return (0.0, 1.0);
    }
    let solve = |wanted: f64, tail: &dyn Fn(f64) -> f64| {
        // tail rises from 0 to 1
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..200 {
            let middle = f64::midpoint(low, high);
            if tail(middle) < wanted {
                low = middle;
            } else {
                high = middle;
            }
        }
        f64::midpoint(low, high)
    };
    let at_least = |k: usize, p: f64| 1.0 - binomial_cdf(k, n, p);
    let low = if k == 0 { 0.0 } else { solve(delta / 2.0, &|p| at_least(k - 1, p)) };
    let high = if k == n { 1.0 } else { solve(1.0 - delta / 2.0, &|p| at_least(k, p)) };
    (low, high)
}

/// P[Bin(n, p) ≤ k], summed in logarithms from the larger end of each term.
fn binomial_cdf(k: usize, n: usize, p: f64) -> f64 {
    if k >= n || p <= 0.0 {
        return 1.0;
    }
    if p >= 1.0 {
        return 0.0;
    }
    let (log_p, log_q) = (p.ln(), (-p).ln_1p());
    let mut log_choose = 0.0;
    let mut sum = 0.0;
    for i in 0..=k {
        if i > 0 {
            log_choose += ((n - i + 1) as f64 / i as f64).ln();
        }
        sum += (log_choose + i as f64 * log_p + (n - i) as f64 * log_q).exp();
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clopper_pearson_against_tables() {
        // scipy.stats.binomtest(k, n).proportion_ci(method="exact")
        for (k, n, low, high) in [
            (0, 10, 0.0, 0.308_497_1),
            (1, 10, 0.002_528_6, 0.445_016_1),
            (5, 100, 0.016_431_9, 0.112_834_9),
            (10, 10, 0.691_502_9, 1.0),
        ] {
            let (l, h) = clopper_pearson(k, n, 0.05);
            assert!((l - low).abs() < 1e-6 && (h - high).abs() < 1e-6, "{k}/{n}: {l} {h}");
        }
    }

    #[test]
    fn area_counts_pairs() {
        let scores = [0.1, 0.4, 0.35, 0.8, 0.4];
        let positive = [false, false, true, true, true];
        let mut pairs = 0.0;
        for i in 0..5 {
            for j in 0..5 {
                if positive[i] && !positive[j] {
                    pairs += if scores[i] > scores[j] {
                        1.0
                    } else if scores[i] == scores[j] {
                        0.5
                    } else {
                        0.0
                    };
                }
            }
        }
        assert!((area_under_curve(&scores, &positive).unwrap() - pairs / 6.0).abs() < 1e-15);
        assert_eq!(area_under_curve(&scores, &[true; 5]), None);
        assert_eq!(area_under_curve(&[0.1, f64::NAN], &[true, false]), None, "and it ends");
    }

    #[test]
    fn an_unknown_true_label_counts_as_wrong() {
        let output = Output::Labels {
            labels: vec!["1".into(), "2".into()],
            codes: vec![0, 1, 1],
            scores: vec![0.0; 6],
            probabilities: None,
        };
        let truth = Target::from_text("y", &["1.0", "2", "3"]);
        let Metrics::Classes(m) = measure(&output, &truth).unwrap() else { panic!() };
        assert!((m.error - 1.0 / 3.0).abs() < 1e-15);
        assert_eq!(m.labels, ["1", "2", "3"]);
        assert_eq!(m.confusion, [[1, 0, 0], [0, 1, 0], [0, 1, 0]]);
        assert_eq!(m.auc, None);
    }

    #[test]
    fn regression_metrics_by_hand() {
        let output = Output::numbers(vec!["y".into()], vec![1.0, 2.0, 4.0]);
        let Metrics::Numbers(m) = measure(&output, &Target::from(vec![1.0, 3.0, 5.0])).unwrap() else { panic!() };
        assert!((m.rmse - (2.0_f64 / 3.0).sqrt()).abs() < 1e-15);
        assert!((m.mae - 2.0 / 3.0).abs() < 1e-15);
        assert!((m.base_rmse - (8.0_f64 / 3.0).sqrt()).abs() < 1e-15, "that of the mean, 3");
        assert!((m.r2.unwrap() - (1.0 - 2.0 / 8.0)).abs() < 1e-15);
        assert_eq!(m.rmse_interval, None, "of three examples there is none");
        let twelve = Output::numbers(vec!["y".into()], (0..12).map(f64::from).collect());
        let truth = Target::from((0..12).map(|i| f64::from(i * i % 7)).collect::<Vec<f64>>());
        let Metrics::Numbers(m) = measure(&twelve, &truth).unwrap() else { panic!() };
        let told = Metrics::Numbers(m.clone()).without_intervals();
        assert!(
            m.rmse_interval.is_some()
                && told
                    == Metrics::Numbers(crate::metrics::NumberMetrics {
                        rmse_interval: None,
                        rmse_interval_is: None,
                        ..m.clone()
                    })
        );
        assert!(m.rmse_interval_is.is_some_and(|told| told.starts_with("approximate")));
    }
}
