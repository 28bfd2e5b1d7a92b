//! Probabilities from two Gaussians: each side's scores are taken as normal, and Bayes' rule does the rest.
//!
//! log odds = ln(π₊/π₋) + ½ ln(σ₋²/σ₊²) − (f − m₊)²/2σ₊² + (f − m₋)²/2σ₋², a parabola in the score f. Scores of Fisher
//! discriminants are close to normal, on new examples as on old ones, which those of support vector machines are not.
//!
//! # Source
//! Mika (2002), §3.2.2 and §5.1, with variances divided by the size of the class, which the print leaves out.

/// Smallest variance of a side, as a share of the variance of all scores.
const MIN_VARIANCE_SHARE: f64 = 1e-6;

/// The factors of f², f and 1 in the log odds of the positive side.
pub fn gaussian(scores: &[f64], positive: &[bool], weights: Option<&[f64]>) -> [f64; 3] {
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let moments = |side: Option<bool>| {
        let chosen = || (0..scores.len()).filter(|&i| side.is_none_or(|s| positive[i] == s));
        let sum: f64 = chosen().map(weight).sum();
        let mean = chosen().map(|i| weight(i) * scores[i]).sum::<f64>() / sum;
        let variance = chosen().map(|i| weight(i) * (scores[i] - mean).powi(2)).sum::<f64>() / sum;
        (sum, mean, variance)
    };
    let ((plus, m, u), (minus, n, v), all) = (moments(Some(true)), moments(Some(false)), moments(None).2);
    // without scores on both sides, or with one and the same score for all, only the counts speak
    let counts = [0.0, 0.0, ((plus + 1.0) / (minus + 1.0)).ln()];
    if !(plus > 0.0 && minus > 0.0 && all > 0.0) {
        return counts;
    }
    let (u, v) = (u.max(MIN_VARIANCE_SHARE * all), v.max(MIN_VARIANCE_SHARE * all));
    let odds = [
        0.5 / v - 0.5 / u,
        m / u - n / v,
        (plus / minus).ln() + 0.5 * (v / u).ln() - 0.5 * m * m / u + 0.5 * n * n / v,
    ];
    if odds.iter().all(|o| o.is_finite()) { odds } else { counts }
}
