//! The quality of predicted numbers: the root of the mean squared error beside that of the mean.

use crate::data::{DataError, Target};
use serde::Serialize;

/// The quality of predicted numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NumberMetrics {
    /// Number of examples.
    pub n: usize,
    /// Root of the mean squared error, over all outputs.
    pub rmse: f64,
    /// An interval that holds the true root mean squared error with about 95 % probability, for many examples, if these were held out;
    /// `None` for examples of training, and where there are fewer than two or none is wrong.
    pub rmse_interval: Option<(f64, f64)>,
    /// The root mean squared error of always predicting the mean of these examples: what can be had without learning.
    pub base_rmse: f64,
    /// Mean absolute error.
    pub mae: f64,
    /// 1 − squared error / variance, averaged over outputs; `None` where a target is constant.
    pub r2: Option<f64>,
}

impl NumberMetrics {
    /// Compares n × outputs values with the truth.
    pub(super) fn of(outputs: usize, values: &[f64], truth: &Target) -> Result<Self, DataError> {
        let truth = truth.numbers()?;
        if truth.names.len() != outputs {
            return Err(DataError::Lengths {
                what: "the target's columns".to_owned(),
                got: truth.names.len(),
                other: "the model's outputs".to_owned(),
                wanted: outputs,
            });
        }
        let n = values.len() / outputs.max(1);
        let count = values.len().max(1) as f64;
        let squared: f64 = values.iter().zip(&truth.values).map(|(a, b)| (a - b) * (a - b)).sum();
        let absolute: f64 = values.iter().zip(&truth.values).map(|(a, b)| (a - b).abs()).sum();
        let mut spreads = 0.0;
        let r2: Vec<Option<f64>> = (0..outputs)
            .map(|k| {
                let column = || truth.values.iter().skip(k).step_by(outputs);
                let mean = column().sum::<f64>() / n.max(1) as f64;
                let spread: f64 = column().map(|y| (y - mean) * (y - mean)).sum();
                let residual: f64 =
                    column().zip(values.iter().skip(k).step_by(outputs)).map(|(y, f)| (y - f) * (y - f)).sum();
                spreads += spread;
                (spread > 0.0).then(|| 1.0 - residual / spread)
            })
            .collect();
        let r2: Option<Vec<f64>> = r2.into_iter().collect();
        let of_example = |(f, y): (&[f64], &[f64])| {
            f.iter().zip(y).map(|(a, b)| (a - b) * (a - b)).sum::<f64>() / outputs.max(1) as f64
        };
        let width = outputs.max(1);
        let squares: Vec<f64> =
            values.chunks_exact(width).zip(truth.values.chunks_exact(width)).map(of_example).collect();
        Ok(Self {
            n,
            rmse: (squared / count).sqrt(),
            rmse_interval: interval(&squares),
            base_rmse: (spreads / count).sqrt(),
            mae: absolute / count,
            r2: r2.map(|all| all.iter().sum::<f64>() / all.len().max(1) as f64),
        })
    }
}

/// The quantile of the normal distribution for 95 % on both sides.
const NORMAL: f64 = 1.959_963_984_540_054;

/// √m e^(± z s / (2 m √n)), with the mean m and the deviation s of the squared errors: the central limit theorem for ln m, whose
/// interval cannot reach below zero (the delta method).
fn interval(squares: &[f64]) -> Option<(f64, f64)> {
    let n = squares.len() as f64;
    let mean = squares.iter().sum::<f64>() / n;
    if squares.len() < 2 || mean <= 0.0 || !mean.is_finite() {
        return None;
    }
    let variance = squares.iter().map(|s| (s - mean) * (s - mean)).sum::<f64>() / (n - 1.0);
    let half = NORMAL * (variance / n).sqrt() / (2.0 * mean);
    half.is_finite().then(|| (mean.sqrt() * (-half).exp(), mean.sqrt() * half.exp()))
}

#[cfg(test)]
mod tests {
    use super::interval;
    use crate::seed::Seed;

    #[test]
    fn the_interval_holds_the_true_error_nineteen_times_in_twenty() {
        // squares of normal errors with deviation 2
        let mut random = Seed(9).stream("rmse");
        let rounds = 1000;
        let mut held = 0;
        for _ in 0..rounds {
            let squares: Vec<f64> = (0..200).map(|_| (2.0 * random.normal()).powi(2)).collect();
            let (low, high) = interval(&squares).unwrap();
            held += usize::from(low <= 2.0 && 2.0 <= high);
        }
        assert!((920..=975).contains(&held), "{held} of {rounds}");
        assert_eq!(interval(&[1.0]), None);
        assert_eq!(interval(&[0.0, 0.0]), None);
        assert_eq!(interval(&[4.0, 4.0]), Some((2.0, 2.0)));
    }
}
