//! The spread of the scores of folds.

/// The mean of some scores and the sum of their squared deviations from it.
fn moments(scores: &[f64]) -> (f64, f64) {
    let mean = scores.iter().sum::<f64>() / scores.len() as f64;
    (mean, scores.iter().map(|s| (s - mean) * (s - mean)).sum::<f64>())
}

/// The mean of some scores, and their standard deviation (with one degree of freedom less).
pub fn mean_and_deviation(scores: &[f64]) -> (f64, f64) {
    let (mean, squares) = moments(scores);
    (mean, (squares / (scores.len() as f64 - 1.0).max(1.0)).sqrt())
}

/// The standard error of the mean of some scores: their standard deviation over √k.
pub fn standard_error(scores: &[f64]) -> f64 {
    let k = scores.len() as f64;
    (moments(scores).1 / (k * (k - 1.0).max(1.0))).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviation_and_standard_error_are_those_of_the_definition() {
        let scores = [0.1, 0.4, 0.25, 0.05];
        let (mean, deviation) = mean_and_deviation(&scores);
        // Σ s² − k m² = 0.235 − 0.16 = 0.075, over 3 degrees of freedom
        assert!((mean - 0.2).abs() < 1e-15 && (deviation - 0.025_f64.sqrt()).abs() < 1e-15);
        assert!((standard_error(&scores) - deviation / 2.0).abs() < 1e-15);
        assert_eq!((mean_and_deviation(&[0.3]), standard_error(&[0.3])), ((0.3, 0.0), 0.0));
    }
}
