//! Scores: single numbers by which models are chosen.
//!
//! Each is an entry of [`SCORES`]. Some are sums over examples, some functions of the counts of true and predicted labels, which parts
//! of the data add up; an area or a squared correlation belongs to one part and can only be averaged.

use super::counts::{correlation, f1, precision, recall};
use super::{ClassMetrics, Metrics, NumberMetrics, ProbabilityMetrics, measure, roc};
use crate::data::{DataError, Target, places_of_labels};
use crate::machines::{Learns, Output};
use crate::params::nearest;

/// A score of the catalogue.
#[derive(Debug)]
pub struct ScoreEntry {
    /// Its name in options.
    pub name: &'static str,
    /// The name that tables and pictures show.
    pub label: &'static str,
    /// Its meaning, in a line.
    pub summary: &'static str,
    /// Classes or numbers.
    pub learns: Learns,
    /// True if a larger score is better.
    pub larger_is_better: bool,
    /// True if it looks at one class among the others, which can be named.
    pub of_a_class: bool,
    pub(crate) rule: Rule,
}

/// The computation of a score.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rule {
    /// From predicted labels; parts of the data are averaged by their sizes.
    Labels(fn(&ClassMetrics) -> Option<f64>),
    /// From the counts of true (rows) and predicted (columns) labels and the place of the class that is looked for; counts of several
    /// parts are added up first (Forman & Scholz 2010).
    Counts(fn(&[Vec<usize>], Option<usize>) -> f64),
    /// The area under the ROC curve: ranks of different fits cannot be compared, so parts are averaged by their sizes.
    Area,
    /// From probabilities; parts are averaged by their sizes.
    Probabilities(fn(&ProbabilityMetrics) -> Option<f64>),
    /// From predicted numbers; parts are averaged by their sizes.
    Numbers(fn(&NumberMetrics) -> Option<f64>),
    /// From predicted numbers; parts are averaged through their squares.
    Root(fn(&NumberMetrics) -> f64),
}

const fn of_classes(name: &'static str, label: &'static str, summary: &'static str, rule: Rule) -> ScoreEntry {
    ScoreEntry { name, label, summary, learns: Learns::Classes, larger_is_better: true, of_a_class: false, rule }
}

const fn of_numbers(name: &'static str, label: &'static str, summary: &'static str, rule: Rule) -> ScoreEntry {
    let usual = of_classes(name, label, summary, rule);
    ScoreEntry { learns: Learns::Numbers, larger_is_better: false, ..usual }
}

/// All scores; the first of classes and the first of numbers are the usual ones.
pub static SCORES: [ScoreEntry; 12] = [
    ScoreEntry {
        larger_is_better: false,
        ..of_classes("error", "error", "share of wrong labels", Rule::Labels(|m| Some(m.error)))
    },
    ScoreEntry {
        larger_is_better: false,
        ..of_classes(
            "balanced",
            "balanced error",
            "mean over the classes of the share that is not found",
            Rule::Counts(|counts, _| 1.0 - mean((0..counts.len()).filter_map(|c| recall(counts, c)))),
        )
    },
    ScoreEntry {
        of_a_class: true,
        ..of_classes(
            "auc",
            "AUC",
            "area under the ROC curve; of several classes the mean of each against the rest",
            Rule::Area,
        )
    },
    ScoreEntry {
        of_a_class: true,
        ..of_classes(
            "f1",
            "F1",
            "harmonic mean of recall and precision: of the second of two classes, the mean of several, or of --positive",
            Rule::Counts(|counts, class| over(counts, class, |c| f1(counts, c))),
        )
    },
    ScoreEntry {
        of_a_class: true,
        ..of_classes(
            "precision",
            "precision",
            "share of the predictions of a class that are right; 0 where it is never predicted",
            Rule::Counts(|counts, class| {
                // a class that occurs and is never predicted has none that are right
                over(counts, class, |c| precision(counts, c).or_else(|| recall(counts, c).map(|_| 0.0)))
            }),
        )
    },
    ScoreEntry {
        of_a_class: true,
        ..of_classes(
            "recall",
            "recall",
            "share of the examples of a class that are found",
            Rule::Counts(|counts, class| over(counts, class, |c| recall(counts, c))),
        )
    },
    of_classes(
        "mcc",
        "MCC",
        "correlation of true and predicted labels (Matthews 1975, Gorodkin 2004); 0 where all predictions are one class",
        Rule::Counts(|counts, _| correlation(counts).unwrap_or(0.0)),
    ),
    ScoreEntry {
        larger_is_better: false,
        ..of_classes(
            "log_loss",
            "log loss",
            "mean of −ln p of the true label, p by curves that are learned from the scores of the other folds",
            Rule::Probabilities(|p| p.log_loss),
        )
    },
    ScoreEntry {
        larger_is_better: false,
        ..of_classes(
            "brier",
            "Brier score",
            "mean squared error of the probabilities, learned as for log_loss",
            Rule::Probabilities(|p| Some(p.brier)),
        )
    },
    of_numbers("rmse", "RMSE", "root of the mean squared error", Rule::Root(|m| m.rmse)),
    of_numbers("mae", "mean absolute error", "mean absolute error", Rule::Numbers(|m| Some(m.mae))),
    ScoreEntry {
        larger_is_better: true,
        ..of_numbers("r2", "R²", "share of the variance that is explained", Rule::Numbers(|m| m.r2))
    },
];

/// A score, and the class that it looks for.
#[derive(Clone, Debug)]
pub struct Score {
    /// The entry.
    pub entry: &'static ScoreEntry,
    /// The class that is looked for; `None`: the second of two, all of more.
    pub positive: Option<String>,
}

impl Score {
    /// The usual score: the error of labels, the root mean squared error of numbers.
    pub fn usual(learns: Learns) -> Self {
        let entry = SCORES.iter().find(|entry| entry.learns == learns).unwrap_or(&SCORES[0]);
        Self { entry, positive: None }
    }

    /// The score of a name, for a machine that learns classes or numbers, of a class where one is named.
    ///
    /// # Errors
    /// If there is none, it is of another kind, or does not look at one class.
    pub fn named(name: &str, learns: Learns, positive: Option<&str>) -> Result<Self, DataError> {
        let names =
            |of: Learns| SCORES.iter().filter(|s| s.learns == of).map(|s| s.name).collect::<Vec<_>>().join(", ");
        let Some(entry) = SCORES.iter().find(|entry| entry.name == name) else {
            let remedy = match nearest(name, SCORES.iter().map(|s| s.name)) {
                Some(close) => format!("did you mean {close}?"),
                None => format!("scores are {}", names(learns)),
            };
            return Err(DataError::NoSuch { what: "score", name: name.to_owned(), remedy });
        };
        if entry.learns != learns {
            let (this, other) = if learns == Learns::Numbers { ("numbers", "classes") } else { ("classes", "numbers") };
            let finding =
                format!("{name} is a score of {other}, and {this} are predicted; choose one of {}", names(learns));
            return Err(DataError::Usage { finding });
        }
        if positive.is_some() && !entry.of_a_class {
            let of: Vec<&str> = SCORES.iter().filter(|s| s.of_a_class).map(|s| s.name).collect();
            let finding = format!("{name} looks at all classes alike; a positive class is for {}", of.join(", "));
            return Err(DataError::Usage { finding });
        }
        Ok(Self { entry, positive: positive.map(str::to_owned) })
    }

    /// The score of predictions; `None` where it has no meaning, as an area without examples of both sides.
    ///
    /// # Errors
    /// If the target does not fit, or does not have the class that is looked for.
    pub fn of(&self, output: &Output, truth: &Target) -> Result<Option<f64>, DataError> {
        Ok(match (self.entry.rule, measure(output, truth)?) {
            (Rule::Labels(of), Metrics::Classes(m)) => of(&m),
            (Rule::Counts(of), Metrics::Classes(m)) => Some(of(&m.confusion, self.place(&m.labels)?)),
            (Rule::Area, Metrics::Classes(m)) => self.area(output, truth, &m.labels)?,
            (Rule::Probabilities(of), Metrics::Classes(m)) => m.probability.as_ref().and_then(of),
            (Rule::Numbers(of), Metrics::Numbers(m)) => of(&m),
            (Rule::Root(of), Metrics::Numbers(m)) => Some(of(&m)),
            _ => None,
        })
    }

    /// Checks that the class that is looked for is one of the target.
    ///
    /// # Errors
    /// If it is not, or the target is not of classes.
    pub fn check(&self, target: &Target) -> Result<(), DataError> {
        match &self.positive {
            Some(wanted) => positive(wanted, &target.classes()?.labels).map(|_| ()),
            None => Ok(()),
        }
    }

    /// The place of the class that is looked for among labels; `None` where all are.
    pub(crate) fn place(&self, labels: &[String]) -> Result<Option<usize>, DataError> {
        let Some(wanted) = self.positive.as_ref().filter(|_| self.entry.of_a_class) else {
            return Ok((labels.len() == 2).then_some(1));
        };
        positive(wanted, labels).map(Some)
    }

    fn area(&self, output: &Output, truth: &Target, labels: &[String]) -> Result<Option<f64>, DataError> {
        let place = self.place(labels)?;
        let curves = roc(output, truth)?;
        // of two classes there is one curve, whose area is that of either
        if labels.len() > 2 && place.is_some() {
            let label = place.map(|c| &labels[c]);
            return Ok(curves.iter().find(|curve| Some(&curve.label) == label).map(|curve| curve.area));
        }
        let areas = curves.iter().map(|curve| curve.area);
        Ok((!curves.is_empty()).then(|| mean(areas)))
    }

    /// True if the first score is better than the second; a score that has no meaning is better than none.
    pub fn is_better(&self, a: f64, b: f64) -> bool {
        self.loss(a) < self.loss(b) || (b.is_nan() && !a.is_nan())
    }

    /// The score with its sign such that less is better.
    pub(crate) fn loss(&self, score: f64) -> f64 {
        if self.entry.larger_is_better { -score } else { score }
    }
}

/// The place of a class that is looked for.
///
/// # Errors
/// If it is not among the labels.
pub fn positive(wanted: &str, labels: &[String]) -> Result<usize, DataError> {
    places_of_labels(labels, &[wanted])[0].ok_or_else(|| {
        let remedy = match nearest(wanted, labels.iter().map(String::as_str)) {
            Some(close) => format!("did you mean {close}?"),
            None => format!("classes are {}", labels.iter().take(12).cloned().collect::<Vec<_>>().join(", ")),
        };
        DataError::NoSuch { what: "class", name: wanted.to_owned(), remedy }
    })
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    sum / f64::from(count.max(1))
}

/// A number of one class, or its mean over all classes that have one; 0 where none has.
fn over(counts: &[Vec<usize>], class: Option<usize>, of: impl Fn(usize) -> Option<f64>) -> f64 {
    match class {
        Some(class) => of(class).unwrap_or(0.0),
        None => mean((0..counts.len()).filter_map(of)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labelled(labels: &[&str], codes: &[u32], scores: Vec<f64>) -> Output {
        let labels = labels.iter().map(|l| (*l).to_owned()).collect();
        Output::Labels { labels, codes: codes.to_vec(), scores, probabilities: None }
    }

    fn score(name: &str, positive: Option<&str>, output: &Output, truth: &[&str]) -> f64 {
        let score = Score::named(name, Learns::Classes, positive).unwrap();
        score.of(output, &Target::from_text("y", truth)).unwrap().unwrap()
    }

    #[test]
    fn scores_of_two_classes_by_hand() {
        // 5 n (4 found), 3 p (1 found): confusion [[4, 1], [2, 1]]
        let truth = ["n", "n", "n", "n", "n", "p", "p", "p"];
        let codes = [0, 0, 0, 0, 1, 0, 0, 1];
        let scores = codes.iter().flat_map(|&c| [0.0, f64::from(c)]).collect();
        let output = labelled(&["n", "p"], &codes, scores);
        let close = |name: &str, positive: Option<&str>, wanted: f64| {
            let got = score(name, positive, &output, &truth);
            assert!((got - wanted).abs() < 1e-15, "{name} {positive:?}: {got} should be {wanted}");
        };
        close("error", None, 3.0 / 8.0);
        close("balanced", None, 1.0 - f64::midpoint(4.0 / 5.0, 1.0 / 3.0));
        close("recall", None, 1.0 / 3.0);
        close("recall", Some("n"), 4.0 / 5.0);
        close("precision", None, 1.0 / 2.0);
        close("precision", Some("n"), 4.0 / 6.0);
        close("f1", None, 2.0 / 5.0);
        close("f1", Some("n"), 8.0 / 11.0);
        // (TP·TN − FP·FN) / √(…) = (1·4 − 1·2) / √(2·3·5·6)
        close("mcc", None, 2.0 / 180.0_f64.sqrt());
        // pairs of a p above an n: one of three p is above four n, level with one; two are level with four and below one
        close("auc", None, (4.5 + 2.0 + 2.0) / 15.0);
        close("auc", Some("n"), (4.5 + 2.0 + 2.0) / 15.0);
    }

    #[test]
    fn several_classes_are_averaged_unless_one_is_named() {
        let truth = ["a", "a", "b", "c"];
        let output = labelled(&["a", "b", "c"], &[0, 1, 1, 1], vec![1., 0., 0., 0., 1., 0., 0., 2., 0., 0., 1., 0.5]);
        let close = |name: &str, positive: Option<&str>, wanted: f64| {
            let got = score(name, positive, &output, &truth);
            assert!((got - wanted).abs() < 1e-15, "{name} {positive:?}: {got} should be {wanted}");
        };
        close("balanced", None, 1.0 - (0.5 + 1.0) / 3.0);
        close("f1", None, (2.0 / 3.0 + 0.5) / 3.0);
        close("f1", Some("b"), 0.5);
        close("precision", Some("c"), 0.0);
        let areas = ["a", "b", "c"].map(|class| score("auc", Some(class), &output, &truth));
        close("auc", None, areas.iter().sum::<f64>() / 3.0);
        assert!(areas[1] > areas[0] - 1.0 && areas.iter().all(|a| (0.0..=1.0).contains(a)));
    }

    #[test]
    fn what_has_no_meaning_is_said() {
        let said = |name: &str, learns: Learns, positive: Option<&str>| {
            Score::named(name, learns, positive).unwrap_err().to_string()
        };
        assert!(said("balancd", Learns::Classes, None).contains("did you mean balanced?"));
        assert!(said("rmse", Learns::Classes, None).contains("a score of numbers, and classes are predicted"));
        assert!(said("auc", Learns::Numbers, None).contains("choose one of rmse, mae, r2"));
        assert!(said("error", Learns::Classes, Some("p")).contains("a positive class is for auc, f1"));
        let output = labelled(&["n", "p"], &[0, 0], vec![1.0, 0.0, 1.0, 0.0]);
        let of = |name: &str, positive: Option<&str>| {
            Score::named(name, Learns::Classes, positive).unwrap().of(&output, &Target::from_text("y", &["n", "n"]))
        };
        assert_eq!(of("auc", None).unwrap(), None, "there is no positive example");
        assert_eq!((of("mcc", None).unwrap(), of("f1", None).unwrap()), (Some(0.0), Some(0.0)));
        assert_eq!(of("brier", None).unwrap(), None, "there are no probabilities");
        assert!(of("f1", Some("q")).unwrap_err().to_string().contains("classes are n, p"));
    }
}
