//! The quality of probabilities: proper scores, and the reliability diagram in numbers.

use super::joined;
use crate::data::{DataError, Target};
use crate::machines::Output;
use serde::Serialize;

/// Scores of predicted probabilities.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProbabilityMetrics {
    /// The mean of −ln p of the true label; `None`, as it were infinite, if a true label is one the model does not know.
    pub log_loss: Option<f64>,
    /// The mean of Σ_c (p_c − [c is true])², halved for two classes, so that it is (p − y)² there (Brier 1950).
    pub brier: f64,
    /// Expected calibration error: the mean distance of the share that is observed from the probability that was
    /// predicted, over the bins of the reliability diagram (Naeini, Cooper & Hauskrecht 2015, with equal counts).
    pub calibration_error: f64,
}

/// Examples with neighbouring predictions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// The mean probability that was predicted.
    pub predicted: f64,
    /// The share of examples for which it came true.
    pub came_true: usize,
    /// The number of examples.
    pub count: usize,
}

/// Predictions, and how often they came true.
#[derive(Clone, Debug, PartialEq)]
pub struct Reliability {
    /// The label whose probability is looked at: the second of two. `None`: the predicted label, whichever it is.
    pub label: Option<String>,
    /// The probability of each example.
    pub predicted: Vec<f64>,
    /// Bins with about equal counts, rising; equal predictions are in one bin.
    pub bins: Vec<Bin>,
}

/// Largest number of bins.
const MAX_BINS: usize = 10;
/// Smallest number of examples of a bin, so that a share means something.
const MIN_EXAMPLES_PER_BIN: usize = 10;

/// The reliability of probabilities: of the second label for two classes, of the predicted label for more; `None` if there
/// are no probabilities.
pub fn reliability(output: &Output, truth: &Target) -> Result<Option<Reliability>, DataError> {
    let Output::Labels { labels, codes, probabilities: Some(probabilities), .. } = output else { return Ok(None) };
    let truth = truth.classes()?;
    let (_, place) = joined(labels, &truth);
    let known: Vec<usize> = truth.codes.iter().map(|&c| place[c as usize]).collect();
    let (predicted, bins) = binned(labels.len(), probabilities, codes, &known);
    let label = if let [_, second] = labels.as_slice() { Some(second.clone()) } else { None };
    Ok(Some(Reliability { label, predicted, bins }))
}

/// `true_codes` are places among the model's labels, or beyond them for labels it does not know.
pub(super) fn measure(k: usize, probabilities: &[f64], codes: &[u32], true_codes: &[usize]) -> ProbabilityMetrics {
    let n = codes.len().max(1) as f64;
    let (mut log_loss, mut brier) = (Some(0.0), 0.0);
    for (row, &truth) in probabilities.chunks_exact(k.max(1)).zip(true_codes) {
        log_loss = log_loss.zip(row.get(truth)).map(|(sum, p)| sum - p.ln());
        let squares = row.iter().enumerate().map(|(c, p)| (p - f64::from(u8::from(c == truth))).powi(2)).sum::<f64>();
        brier += squares + f64::from(u8::from(truth >= k));
    }
    if k == 2 {
        brier /= 2.0;
    }
    let (_, bins) = binned(k, probabilities, codes, true_codes);
    let error = bins.iter().map(|b| (b.predicted * b.count as f64 - b.came_true as f64).abs()).sum::<f64>();
    ProbabilityMetrics {
        log_loss: log_loss.map(|sum| sum / n).filter(|mean| mean.is_finite()),
        brier: brier / n,
        calibration_error: error / n,
    }
}

fn binned(k: usize, probabilities: &[f64], codes: &[u32], true_codes: &[usize]) -> (Vec<f64>, Vec<Bin>) {
    let rows = || probabilities.chunks_exact(k.max(1)).zip(codes);
    let looked_at = |code: u32| if k == 2 { 1 } else { code as usize };
    let predicted: Vec<f64> = rows().map(|(row, &code)| row[looked_at(code)]).collect();
    let came_true: Vec<bool> = codes.iter().zip(true_codes).map(|(&code, &t)| looked_at(code) == t).collect();
    let n = predicted.len();
    let mut order: Vec<usize> = (0..n).collect();
    crate::order::rising(&mut order, &predicted);
    let count = (n / MIN_EXAMPLES_PER_BIN).clamp(1, MAX_BINS);
    let (mut bins, mut start) = (Vec::new(), 0);
    for bin in 1..=count {
        let mut end = bin * n / count;
        // equal predictions are not torn apart
        while end > start && end < n && predicted[order[end]] == predicted[order[end - 1]] {
            end += 1;
        }
        if end > start {
            let part = &order[start..end];
            bins.push(Bin {
                predicted: part.iter().map(|&i| predicted[i]).sum::<f64>() / part.len() as f64,
                came_true: part.iter().filter(|&&i| came_true[i]).count(),
                count: part.len(),
            });
            start = end;
        }
    }
    (predicted, bins)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{Metrics, measure as measure_all};

    fn output(labels: &[&str], probabilities: Vec<f64>) -> Output {
        let k = labels.len();
        let top = |row: &[f64]| (0..k).max_by(|&a, &b| row[a].total_cmp(&row[b]).then(b.cmp(&a))).unwrap() as u32;
        Output::Labels {
            labels: labels.iter().map(|&l| l.to_owned()).collect(),
            codes: probabilities.chunks_exact(k).map(top).collect(),
            scores: probabilities.clone(),
            probabilities: Some(probabilities),
        }
    }

    fn measured(output: &Output, truth: &[&str]) -> ProbabilityMetrics {
        let Metrics::Classes(m) = measure_all(output, &Target::from_text("y", truth)).unwrap() else { panic!() };
        m.probability.unwrap()
    }

    #[test]
    fn scores_by_hand() {
        let two = output(&["n", "p"], vec![0.8, 0.2, 0.4, 0.6]);
        let m = measured(&two, &["n", "n"]);
        assert!((m.log_loss.unwrap() + f64::midpoint(0.8_f64.ln(), 0.4_f64.ln())).abs() < 1e-15);
        assert!((m.brier - f64::midpoint(0.04, 0.36)).abs() < 1e-15);
        // one bin: 0.4 predicted of p, and never true
        assert!((m.calibration_error - 0.4).abs() < 1e-15);
        let three = output(&["a", "b", "c"], vec![0.5, 0.3, 0.2, 0.1, 0.1, 0.8]);
        let m = measured(&three, &["a", "b"]);
        assert!((m.brier - f64::midpoint(0.25 + 0.09 + 0.04, 0.01 + 0.81 + 0.64)).abs() < 1e-15);
        assert!((m.calibration_error - (0.65 - 0.5)).abs() < 1e-15);
    }

    #[test]
    fn a_label_the_model_does_not_know_has_no_log_loss() {
        let m = measured(&output(&["n", "p"], vec![0.8, 0.2, 0.4, 0.6]), &["n", "x"]);
        assert_eq!(m.log_loss, None);
        assert!((m.brier - (0.08 + 0.16 + 0.36 + 1.0) / 4.0).abs() < 1e-15);
    }

    #[test]
    fn bins_have_equal_counts_and_keep_equal_predictions_together() {
        let n = 200;
        let spread: Vec<f64> = (0..n).flat_map(|i| [1.0 - f64::from(i) / 200.0, f64::from(i) / 200.0]).collect();
        let truth: Vec<&str> = (0..n).map(|i| if i % 2 == 0 { "n" } else { "p" }).collect();
        let target = Target::from_text("y", &truth);
        let found = reliability(&output(&["n", "p"], spread), &target).unwrap().unwrap();
        assert!(found.bins.len() == 10 && found.bins.iter().all(|b| b.count == 20 && b.came_true == 10));
        assert_eq!(found.label.as_deref(), Some("p"));
        let flat: Vec<f64> = (0..n).flat_map(|i| if i < 150 { [0.5, 0.5] } else { [0.1, 0.9] }).collect();
        let found = reliability(&output(&["n", "p"], flat), &target).unwrap().unwrap();
        assert_eq!(found.bins.iter().map(|b| b.count).collect::<Vec<_>>(), [150, 50]);
        let bare = Output::numbers(vec!["y".into()], vec![0.0]);
        assert_eq!(reliability(&bare, &target).unwrap(), None);
    }
}
