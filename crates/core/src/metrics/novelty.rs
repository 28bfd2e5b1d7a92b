//! The meaning of labels for a detector of novelties: which class is the usual one.

use crate::data::{DataError, Target};

/// A target of one or two classes, told in the words of a detector.
#[derive(Clone, Debug)]
pub struct Usual {
    /// The class of the inliers; `None` if the target has outliers only.
    pub inlier: Option<String>,
    /// The class of the outliers; `None` if the target has inliers only.
    pub outlier: Option<String>,
    /// True if the labels themselves say which is which; else the larger class was taken for the usual one.
    pub named: bool,
    /// `inlier` or `outlier` for each example.
    pub target: Target,
}

const INLIERS: [&str; 6] = ["inlier", "inliers", "normal", "usual", "regular", "nominal"];
const OUTLIERS: [&str; 9] =
    ["outlier", "outliers", "anomaly", "abnormal", "anomalous", "novelty", "novel", "attack", "unusual"];

/// The meaning of a label by itself: inlier, or outlier; 1 and −1 are LIBSVM's and scikit-learn's words.
fn says(label: &str) -> Option<bool> {
    let word = label.trim().to_lowercase();
    if let Ok(number) = word.parse::<f64>() {
        return if number.abs() == 1.0 { Some(number > 0.0) } else { None };
    }
    let among = |words: &[&str]| words.contains(&word.as_str());
    if among(&INLIERS) { Some(true) } else { among(&OUTLIERS).then_some(false) }
}

/// Finds the usual class: the one whose label says so, else the larger one (the first, if they are alike).
///
/// `None` where there are more than two classes, which no detector can tell apart.
///
/// # Errors
/// If the target has several columns.
pub fn usual(truth: &Target) -> Result<Option<Usual>, DataError> {
    let classes = truth.classes()?;
    let (usual, named) = match classes.labels.as_slice() {
        [only] => (if says(only).unwrap_or(true) { Some(0) } else { None }, says(only).is_some()),
        [first, second] => match (says(first), says(second)) {
            // 0 and 1 may mean either, and so may two words of one side
            (Some(true), Some(false)) => (Some(0), true),
            (Some(false), Some(true)) => (Some(1), true),
            (Some(said), None) if first.parse::<f64>().is_err() => (Some(u32::from(!said)), true),
            (None, Some(said)) if second.parse::<f64>().is_err() => (Some(u32::from(said)), true),
            _ => {
                let seconds = classes.codes.iter().filter(|&&c| c == 1).count();
                (Some(u32::from(2 * seconds > classes.codes.len())), false)
            }
        },
        _ => return Ok(None),
    };
    let words: Vec<&str> = classes.codes.iter().map(|&c| if Some(c) == usual { "inlier" } else { "outlier" }).collect();
    let name = truth.names().into_iter().next().unwrap_or_default();
    let label = |inlier: bool| {
        let mut all = classes.labels.iter().enumerate();
        all.find(|(c, _)| (Some(*c as u32) == usual) == inlier).map(|(_, label)| label.clone())
    };
    Ok(Some(Usual { inlier: label(true), outlier: label(false), named, target: Target::from_text(&name, &words) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(labels: &[&str]) -> Option<(Option<String>, bool)> {
        usual(&Target::from_text("y", labels)).unwrap().map(|u| (u.inlier, u.named))
    }

    #[test]
    fn labels_say_what_is_usual_and_else_the_larger_class_is() {
        let of = |inlier: &str, named: bool| Some((Some(inlier.to_owned()), named));
        assert_eq!(found(&["-1", "-1", "+1"]), of("+1", true));
        assert_eq!(found(&["outlier", "outlier", "inlier"]), of("inlier", true));
        assert_eq!(found(&["Normal", "fault", "fault"]), of("Normal", true));
        assert_eq!(found(&["anomaly", "fine", "anomaly"]), of("fine", true));
        // outliers are often called 1, so that 0 and 1 say nothing
        assert_eq!(found(&["0", "0", "1"]), of("0", false));
        assert_eq!(found(&["0", "1", "1"]), of("1", false));
        assert_eq!(found(&["cat", "dog", "dog"]), of("dog", false));
        assert_eq!(found(&["cat", "dog"]), of("cat", false));
        assert_eq!(found(&["-1", "-1"]), Some((None, true)));
        assert_eq!(found(&["whatever"]), of("whatever", false));
        assert_eq!(found(&["a", "b", "c"]), None);
    }

    #[test]
    fn the_target_is_told_in_two_words() {
        let found = usual(&Target::from_text("y", &["1", "-1", "1"])).unwrap().unwrap();
        assert_eq!(found.outlier.as_deref(), Some("-1"));
        let classes = found.target.classes().unwrap();
        assert_eq!((classes.labels, classes.codes), (vec!["inlier".to_owned(), "outlier".to_owned()], vec![0, 1, 0]));
    }
}
