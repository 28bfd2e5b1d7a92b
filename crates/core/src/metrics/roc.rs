//! ROC curves: the share of positives that is found against the share of false alarms, at every threshold.

use super::{area_under_curve, joined, positive};
use crate::data::{DataError, Target};
use crate::machines::Output;

/// The ROC curve of one class against the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Roc {
    /// The class that is looked for.
    pub label: String,
    /// Share of false alarms and share that is found, from (0, 0) to (1, 1): one point for each different score. Points on
    /// a straight line between their neighbours are left out.
    pub points: Vec<(f64, f64)>,
    /// The area below: the probability that a positive example scores higher than a negative one.
    pub area: f64,
}

/// The ROC curves of predicted labels: that of the second class where there are two, else that of each class against the
/// rest. An example's score for a class is its margin, the score of the class minus the largest other one. Classes that
/// the data lack, or have nothing else but, have no curve.
///
/// # Source
/// Fawcett (2006), An introduction to ROC analysis, Pattern Recognition Letters 27, Algorithm 2; equal scores are one step.
///
/// # Errors
/// If there are not as many predictions as examples, or the target is not of classes.
pub fn roc(output: &Output, truth: &Target) -> Result<Vec<Roc>, DataError> {
    roc_of(output, truth, None)
}

/// The same for one class, where one is looked for.
///
/// # Errors
/// As [`roc`], and if the model does not know the class.
pub fn roc_of(output: &Output, truth: &Target, looked_for: Option<&str>) -> Result<Vec<Roc>, DataError> {
    let Output::Labels { labels, scores, .. } = output else { return Ok(Vec::new()) };
    if output.len() != truth.len() {
        return Err(DataError::Lengths {
            what: "the predictions".to_owned(),
            got: output.len(),
            other: "the target".to_owned(),
            wanted: truth.len(),
        });
    }
    let truth = truth.classes()?;
    let (_, place) = joined(labels, &truth);
    let looked_for = match looked_for.map(|wanted| positive(wanted, labels)).transpose()? {
        Some(class) => class..class + 1,
        None if labels.len() == 2 => 1..2,
        None => 0..labels.len(),
    };
    let of = |c: usize| {
        let margins = margins(scores, labels.len(), c);
        let positive: Vec<bool> = truth.codes.iter().map(|&code| place[code as usize] == c).collect();
        let area = area_under_curve(&margins, &positive)?;
        Some(Roc { label: labels[c].clone(), points: curve(&margins, &positive), area })
    };
    Ok(looked_for.filter_map(of).collect())
}

/// The score of a class minus the largest other one.
fn margins(scores: &[f64], labels: usize, class: usize) -> Vec<f64> {
    all_margins(scores, labels).into_iter().skip(class).step_by(labels.max(1)).collect()
}

/// The score of each class minus the largest other one, row by row; not a number where one of the row is none.
pub(super) fn all_margins(scores: &[f64], labels: usize) -> Vec<f64> {
    let mut margins = Vec::with_capacity(scores.len());
    for row in scores.chunks_exact(labels.max(1)) {
        if row.iter().any(|s| s.is_nan()) {
            margins.extend(row.iter().map(|_| f64::NAN));
            continue;
        }
        let (mut first, mut second, mut place) = (f64::NEG_INFINITY, f64::NEG_INFINITY, 0);
        for (c, &score) in row.iter().enumerate() {
            if c == 0 || score > first {
                (second, first, place) = (first, score, c);
            } else {
                second = second.max(score);
            }
        }
        margins.extend(row.iter().enumerate().map(|(c, s)| s - if c == place { second } else { first }));
    }
    margins
}

/// The points of the curve; there are positives and negatives, and every score is a number.
fn curve(scores: &[f64], positive: &[bool]) -> Vec<(f64, f64)> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    crate::order::falling(&mut order, scores);
    let found = positive.iter().filter(|&&p| p).count();
    let counts = (found, positive.len() - found);
    let mut steps: Vec<(usize, usize)> = vec![(0, 0)];
    let (mut hits, mut alarms) = (0, 0);
    for (k, &i) in order.iter().enumerate() {
        hits += usize::from(positive[i]);
        alarms += usize::from(!positive[i]);
        // equal scores cannot be told apart by a threshold
        if order.get(k + 1).is_some_and(|&next| scores[next] == scores[i]) {
            continue;
        }
        if let [.., a, b] = steps.as_slice() {
            let straight = (b.0 - a.0) * (hits - b.1) == (b.1 - a.1) * (alarms - b.0);
            if straight {
                steps.pop();
            }
        }
        steps.push((alarms, hits));
    }
    steps.into_iter().map(|(alarms, hits)| (alarms as f64 / counts.1 as f64, hits as f64 / counts.0 as f64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    /// Predictions by scores, n × labels.
    fn predicted(labels: &[&str], scores: Vec<f64>) -> Output {
        let codes = scores.chunks_exact(labels.len()).map(|_| 0).collect();
        Output::Labels { labels: labels.iter().map(|&l| l.to_owned()).collect(), codes, scores, probabilities: None }
    }

    #[test]
    fn the_area_below_the_curve_is_the_share_of_pairs_in_order() {
        let mut random = Seed(5).stream("roc");
        for classes in [2, 3, 5] {
            // few different scores, so that many are equal
            let n = 60;
            let scores: Vec<f64> = (0..n * classes).map(|_| random.below(4) as f64).collect();
            let labels: Vec<String> = (0..classes).map(|c| c.to_string()).collect();
            let words: Vec<&str> = labels.iter().map(String::as_str).collect();
            let truth: Vec<usize> = (0..n).map(|_| random.below(classes)).collect();
            let target = Target::from_text("y", &truth.iter().map(ToString::to_string).collect::<Vec<_>>());
            let curves = roc(&predicted(&words, scores.clone()), &target).unwrap();
            assert_eq!(curves.len(), if classes == 2 { 1 } else { classes });
            for curve in &curves {
                let class: usize = curve.label.parse().unwrap();
                let margin = |i: usize| {
                    let row = &scores[i * classes..(i + 1) * classes];
                    let other = (0..classes).filter(|&c| c != class).map(|c| row[c]).fold(f64::MIN, f64::max);
                    row[class] - other
                };
                let (mut pairs, mut all) = (0.0, 0.0);
                for i in (0..n).filter(|&i| truth[i] == class) {
                    for j in (0..n).filter(|&j| truth[j] != class) {
                        all += 1.0;
                        pairs += match margin(i).total_cmp(&margin(j)) {
                            std::cmp::Ordering::Greater => 1.0,
                            std::cmp::Ordering::Equal => 0.5,
                            std::cmp::Ordering::Less => 0.0,
                        };
                    }
                }
                assert!((curve.area - pairs / all).abs() < 1e-12, "{} {}", curve.area, pairs / all);
                let below: f64 = curve.points.windows(2).map(|p| (p[1].0 - p[0].0) * (p[0].1 + p[1].1) / 2.0).sum();
                assert!((below - pairs / all).abs() < 1e-12, "{below} {}", pairs / all);
                assert_eq!((curve.points[0], *curve.points.last().unwrap()), ((0.0, 0.0), (1.0, 1.0)));
                assert!(curve.points.windows(2).all(|p| p[0].0 <= p[1].0 && p[0].1 <= p[1].1));
            }
        }
    }

    #[test]
    fn a_class_that_is_looked_for_has_the_only_curve() {
        let output = predicted(&["a", "b"], vec![0.0, 1.0, 0.0, 2.0, 1.0, 0.0, 2.0, 3.0]);
        let truth = Target::from_text("y", &["b", "b", "a", "a"]);
        let of = |wanted| roc_of(&output, &truth, wanted).unwrap();
        assert_eq!((of(Some("b")), of(None).len()), (of(None), 1));
        let first = &of(Some("a"))[0];
        assert_eq!(
            (first.label.as_str(), first.area),
            ("a", of(None)[0].area),
            "the area of two classes is that of either"
        );
        // the curve of the other side is mirrored
        let mirrored: Vec<(f64, f64)> = of(None)[0].points.iter().rev().map(|&(x, y)| (1.0 - y, 1.0 - x)).collect();
        assert_eq!(first.points, mirrored);
        assert!(roc_of(&output, &truth, Some("c")).unwrap_err().to_string().contains("classes are a, b"));
    }

    #[test]
    fn scores_that_tell_everything_have_three_points_and_one_class_has_no_curve() {
        let scores = vec![0.0, 1.0, 0.0, 2.0, 1.0, 0.0, 2.0, 0.0];
        let curves =
            roc(&predicted(&["a", "b"], scores.clone()), &Target::from_text("y", &["b", "b", "a", "a"])).unwrap();
        assert_eq!(curves[0].points, [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0)]);
        assert_eq!((curves[0].label.as_str(), curves[0].area), ("b", 1.0));
        assert!(roc(&predicted(&["a", "b"], scores.clone()), &Target::from_text("y", &["a"; 4])).unwrap().is_empty());
        assert!(roc(&predicted(&["a", "b"], scores), &Target::from_text("y", &["a"; 3])).is_err());
        let broken = predicted(&["a", "b"], vec![f64::NAN, 0.0, 1.0, 0.0]);
        assert!(roc(&broken, &Target::from_text("y", &["a", "b"])).unwrap().is_empty());
    }
}
