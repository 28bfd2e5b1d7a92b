//! Numbers of a table of counts: how often each true label (rows) was predicted to be which (columns).

/// Examples of a class.
pub(super) fn size(counts: &[Vec<usize>], class: usize) -> usize {
    counts[class].iter().sum()
}

/// Predictions of a class.
pub(super) fn predicted(counts: &[Vec<usize>], class: usize) -> usize {
    counts.iter().map(|row| row[class]).sum()
}

fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The share of the examples of a class that are found; `None` where there are none.
pub(super) fn recall(counts: &[Vec<usize>], class: usize) -> Option<f64> {
    share(counts[class][class], size(counts, class))
}

/// The share of the predictions of a class that are right; `None` where there are none.
pub(super) fn precision(counts: &[Vec<usize>], class: usize) -> Option<f64> {
    share(counts[class][class], predicted(counts, class))
}

/// The harmonic mean of recall and precision; `None` where the class neither occurs nor is predicted.
pub(super) fn f1(counts: &[Vec<usize>], class: usize) -> Option<f64> {
    share(2 * counts[class][class], size(counts, class) + predicted(counts, class))
}

/// R_K = (c s − Σ p_k t_k) / √((s² − Σ p_k²)(s² − Σ t_k²)), with c right of s examples, t_k of class k and p_k predicted to be; `None`
/// where a factor of the root is 0.
///
/// # Source
/// Gorodkin (2004), eq. (8); for two classes it is Matthews' (1975).
pub(super) fn correlation(counts: &[Vec<usize>]) -> Option<f64> {
    let of = |number: fn(&[Vec<usize>], usize) -> usize| {
        (0..counts.len()).map(|c| number(counts, c) as f64).collect::<Vec<_>>()
    };
    let (sizes, predictions) = (of(size), of(predicted));
    let right: usize = (0..counts.len()).map(|c| counts[c][c]).sum();
    let all: f64 = sizes.iter().sum();
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let spread = (all * all - product(&predictions, &predictions)) * (all * all - product(&sizes, &sizes));
    (spread > 0.0).then(|| (right as f64 * all - product(&predictions, &sizes)) / spread.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_by_hand() {
        // 5 n (4 found), 3 p (1 found)
        let counts = vec![vec![4, 1], vec![2, 1]];
        assert_eq!((size(&counts, 1), predicted(&counts, 1)), (3, 2));
        assert_eq!(
            (recall(&counts, 1), precision(&counts, 1), f1(&counts, 1)),
            (Some(1.0 / 3.0), Some(0.5), Some(0.4))
        );
        let wanted = 2.0 / 180.0_f64.sqrt();
        assert!((correlation(&counts).unwrap() - wanted).abs() < 1e-15);
        // a class that never occurs, and one that is never predicted
        let counts = vec![vec![2, 0], vec![0, 0]];
        assert_eq!((recall(&counts, 1), precision(&counts, 1), f1(&counts, 1)), (None, None, None));
        assert_eq!(correlation(&counts), None);
    }
}
