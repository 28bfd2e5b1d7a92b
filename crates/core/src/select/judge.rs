//! The score of a candidate from what a cross-validation predicts on its folds.

use crate::calibrate::{Calibration, Form, HeldOutScores, Layout, Method};
use crate::data::{DataError, Target, places_of_labels};
use crate::error::Error;
use crate::machines::{FitError, Output};
use crate::metrics::{Metrics, Rule, Score, measure};
use crate::resample::{FoldResult, standard_error};

/// The score of one fold.
#[derive(Clone, Debug)]
pub(super) struct OnFold {
    /// Its score; not a number where it has none by itself.
    value: f64,
    /// All labels, and how often each (rows) was predicted to be which.
    counts: Option<(Vec<String>, Vec<Vec<usize>>)>,
    /// Scores of the machine, from which probabilities are to be learned.
    scores: Option<Scores>,
}

/// Scores of a classifier on a fold.
#[derive(Clone, Debug)]
struct Scores {
    form: Form,
    labels: Vec<String>,
    values: Vec<f64>,
    target: Target,
    /// The predicted labels.
    output: Output,
}

/// A score over all folds.
pub(super) struct Judged {
    /// The score.
    pub(super) score: f64,
    /// The standard error of the score: that of the folds' scores, or by the jackknife where counts of all folds are added up because single folds
    /// lack a class; not a number where there is none.
    pub(super) spread: f64,
    /// The score of each fold; not a number where it has none by itself.
    pub(super) folds: Vec<f64>,
}

/// Looks at the predictions of one fold.
pub(super) fn on_fold(result: &FoldResult<'_>, score: &Score) -> Result<OnFold, Error> {
    let FoldResult { fitted, target, .. } = result;
    let mut found = OnFold { value: f64::NAN, counts: None, scores: None };
    match score.entry.rule {
        Rule::Probabilities(_) if fitted.calibration.is_none() => {
            let output = fitted.readout.read(result.scores.clone());
            let (Some((form, _)), Output::Labels { labels, .. }) = (fitted.readout.form(), &output) else {
                let finding = "its scores have no form that probabilities could be learned from".to_owned();
                return Err(DataError::Unfit { finding }.into());
            };
            let (labels, target) = (labels.clone(), (*target).clone());
            found.scores = Some(Scores { form, labels, values: result.scores.clone(), target, output });
        }
        Rule::Counts(_) => {
            let output = fitted.readout.read(result.scores.clone());
            if let Metrics::Classes(m) = measure(&output, target)? {
                found.counts = Some((m.labels, m.confusion));
            }
            found.value = score.of(&output, target)?.unwrap_or(f64::NAN);
        }
        _ => found.value = score.of(&fitted.read(result.scores.clone()), target)?.unwrap_or(f64::NAN),
    }
    Ok(found)
}

/// Joins the folds, of these sizes, to one score.
pub(super) fn join(folds: &[OnFold], sizes: &[usize], score: &Score, machine: &'static str) -> Result<Judged, Error> {
    let mut values: Vec<f64> = folds.iter().map(|fold| fold.value).collect();
    if let (Rule::Probabilities(_), Some(scores)) =
        (score.entry.rule, folds.iter().map(|fold| fold.scores.as_ref()).collect::<Option<Vec<_>>>())
    {
        values = by_the_others(&scores, score)?;
    }
    let total: usize = sizes.iter().sum();
    let weighted = |f: &dyn Fn(f64) -> f64| -> f64 {
        values.iter().zip(sizes).map(|(s, size)| f(*s) * *size as f64 / total.max(1) as f64).sum()
    };
    let whole = match score.entry.rule {
        Rule::Counts(of) => {
            let (labels, counts) = summed(folds);
            of(&counts, score.place(&labels)?)
        }
        // errors average over examples; root mean squared errors through their squares
        Rule::Root(_) => weighted(&|s| s * s).sqrt(),
        Rule::Labels(_) | Rule::Area | Rule::Probabilities(_) | Rule::Numbers(_) => weighted(&|s| s),
    };
    if whole.is_nan() && values.iter().any(|value| value.is_nan()) {
        let finding = format!(
            "{} has no meaning on one of the folds, which are too small or lack a class; take fewer folds, or another score",
            score.entry.name
        );
        return Err(FitError::Param { machine, finding }.into());
    }
    let known: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    let spread = match score.entry.rule {
        Rule::Counts(of) if lacks_a_class(folds) => {
            let (labels, counts) = summed(folds);
            jackknife(folds, (&labels, &counts), of, score.place(&labels)?)
        }
        _ if known.len() < 2 => f64::NAN,
        _ => standard_error(&known),
    };
    Ok(Judged { score: whole, spread, folds: values })
}

/// True if a fold has no score of counts by itself, or has no example of some class.
fn lacks_a_class(folds: &[OnFold]) -> bool {
    let (labels, counts) = summed(folds);
    let there = |label: &String, fold: &OnFold| {
        let (own, counts) = fold.counts.as_ref()?;
        let row = own.iter().position(|l| l == label)?;
        Some(counts[row].iter().sum::<usize>() > 0)
    };
    let judged = |place: usize| counts[place].iter().sum::<usize>() > 0;
    let classes = || labels.iter().enumerate().filter(|&(place, _)| judged(place));
    folds.iter().any(|fold| fold.value.is_nan() || classes().any(|(_, label)| there(label, fold) != Some(true)))
}

/// The standard error of a score of added-up counts, from what it is without each of the k folds:
/// √((k − 1)/k Σ (θ₋ − mean θ₋)²). Not a number where it has no value without one of them.
///
/// # Source
/// Efron & Tibshirani (1993), An introduction to the bootstrap, (11.5), with folds in the place of examples.
fn jackknife(
    folds: &[OnFold],
    (labels, counts): (&[String], &[Vec<usize>]),
    of: fn(&[Vec<usize>], Option<usize>) -> f64,
    place: Option<usize>,
) -> f64 {
    let without = |fold: &OnFold| {
        let mut rest = counts.to_vec();
        if let Some((own, of_fold)) = &fold.counts {
            add(&mut rest, labels, (own, of_fold), usize::wrapping_sub);
        }
        of(&rest, place)
    };
    let left: Vec<f64> = folds.iter().map(without).collect();
    // the standard error of a mean has k (k − 1) below the sum, and the jackknife (k − 1)/k before it
    if left.len() < 2 { f64::NAN } else { (left.len() as f64 - 1.0) * standard_error(&left) }
}

/// Changes counts by those of a fold, whose labels may be fewer.
fn add(
    counts: &mut [Vec<usize>],
    labels: &[String],
    (own, of_fold): (&[String], &[Vec<usize>]),
    how: fn(usize, usize) -> usize,
) {
    let place: Vec<usize> = own.iter().map(|o| labels.iter().position(|l| l == o).unwrap_or(0)).collect();
    for (row, r) in of_fold.iter().zip(&place) {
        row.iter().zip(&place).for_each(|(count, c)| counts[*r][*c] = how(counts[*r][*c], *count));
    }
}

/// The counts of all folds, whose labels may differ.
fn summed(folds: &[OnFold]) -> (Vec<String>, Vec<Vec<usize>>) {
    let mut labels: Vec<String> = Vec::new();
    for (own, _) in folds.iter().filter_map(|fold| fold.counts.as_ref()) {
        for label in own {
            if !labels.contains(label) {
                labels.push(label.clone());
            }
        }
    }
    // in the order of the classes, so that the second of two is the second
    let order = Target::from_words("", &labels);
    if let Ok(classes) = order.classes() {
        labels = classes.labels;
    }
    let mut counts = vec![vec![0; labels.len()]; labels.len()];
    for (own, of_fold) in folds.iter().filter_map(|fold| fold.counts.as_ref()) {
        add(&mut counts, &labels, (own, of_fold), usize::wrapping_add);
    }
    (labels, counts)
}

/// Probabilities of each fold by curves that are learned from the scores of all others, and their scores.
fn by_the_others(folds: &[&Scores], score: &Score) -> Result<Vec<f64>, Error> {
    let Some(first) = folds.first() else { return Ok(Vec::new()) };
    if folds.len() < 2 || folds.iter().any(|fold| fold.labels != first.labels) {
        let finding =
            format!("{} needs every class in every fold; take fewer folds, or another score", score.entry.name);
        return Err(DataError::Unfit { finding }.into());
    }
    let codes = |fold: &Scores| -> Result<Vec<u32>, DataError> {
        let classes = fold.target.classes()?;
        let places = places_of_labels(&first.labels, &classes.labels);
        Ok(classes.codes.iter().map(|&code| places[code as usize].unwrap_or(0) as u32).collect())
    };
    let known: Vec<Vec<u32>> = folds.iter().map(|fold| codes(fold)).collect::<Result<_, _>>()?;
    let of = |place: usize| {
        let others = || (0..folds.len()).filter(move |&other| other != place);
        let scores: Vec<f64> = others().flat_map(|other| folds[other].values.iter().copied()).collect();
        let codes: Vec<u32> = others().flat_map(|other| known[other].iter().copied()).collect();
        let held_out = HeldOutScores { scores: &scores, layout: Layout::Outputs, codes: &codes, weights: None };
        let k = first.labels.len();
        let learned = Calibration::learn(Method::Platt, folds.len() - 1, first.form, k, &held_out);
        let mut output = folds[place].output.clone();
        if let Output::Labels { codes, probabilities, .. } = &mut output {
            *probabilities = Some(learned.probabilities(first.form, k, &folds[place].values, codes));
        }
        score.of(&output, &folds[place].target).map(|value| value.unwrap_or(f64::NAN))
    };
    Ok((0..folds.len()).map(of).collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machines::Learns;

    /// A fold with the labels a and b, and how often each (rows) was predicted to be which.
    fn fold(counts: [[usize; 2]; 2], value: f64) -> OnFold {
        let labels = vec!["a".to_owned(), "b".to_owned()];
        OnFold { value, counts: Some((labels, counts.map(|row| row.to_vec()).to_vec())), scores: None }
    }

    #[test]
    fn a_score_of_counts_that_folds_do_not_have_is_judged_by_the_jackknife() {
        let score = Score::named("mcc", Learns::Classes, None).unwrap();
        let truth = [(0, 0), (0, 0), (0, 1), (0, 0), (1, 1), (1, 0), (1, 1), (1, 1), (1, 1)];
        let single = |&(t, p): &(usize, usize)| {
            let mut counts = [[0; 2]; 2];
            counts[t][p] = 1;
            fold(counts, f64::NAN)
        };
        let folds: Vec<OnFold> = truth.iter().map(single).collect();
        let found = join(&folds, &[1; 9], &score, "knn").unwrap();
        let matthews = |pairs: &[(usize, usize)]| {
            let of = |t: usize, p: usize| pairs.iter().filter(|pair| **pair == (t, p)).count() as f64;
            let (a, b, c, d) = (of(0, 0), of(0, 1), of(1, 0), of(1, 1));
            (a * d - b * c) / ((a + b) * (c + d) * (a + c) * (b + d)).sqrt()
        };
        assert!((found.score - matthews(&truth)).abs() < 1e-12);
        let left: Vec<f64> = (0..9)
            .map(|f| matthews(&truth.iter().enumerate().filter(|(i, _)| *i != f).map(|(_, t)| *t).collect::<Vec<_>>()))
            .collect();
        let mean = left.iter().sum::<f64>() / 9.0;
        let wanted = (8.0 / 9.0 * left.iter().map(|l| (l - mean).powi(2)).sum::<f64>()).sqrt();
        assert!((found.spread - wanted).abs() < 1e-12 && wanted > 0.1, "{} {wanted}", found.spread);
        // one value of a fold that has a single class is no sample of the score either
        let one = fold([[0, 0], [1, 2]], 0.0);
        let other = fold([[2, 1], [1, 2]], 0.3);
        let mixed = join(&[one, other], &[3, 6], &score, "knn").unwrap();
        assert!((mixed.spread - standard_error(&[0.0, 0.3])).abs() > 1e-3, "{}", mixed.spread);
        // a single fold says nothing about the spread
        let alone = join(&[fold([[2, 1], [1, 2]], 0.3)], &[6], &score, "knn").unwrap();
        assert!(alone.spread.is_nan());
        // where every fold has both classes, nothing changes
        let (one, other) = (fold([[2, 1], [0, 3]], 0.7), fold([[2, 1], [1, 2]], 0.3));
        let usual = join(&[one, other], &[6, 6], &score, "knn").unwrap();
        assert!((usual.spread - standard_error(&[0.7, 0.3])).abs() < 1e-15);
    }
}
