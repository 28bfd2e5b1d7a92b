//! Learning again on a part of the examples: the fit and its scores of examples it has not seen.

use super::split::complement;
use crate::data::{DataError, Target};
use crate::gram::{Budget, Gram, Similarity};
use crate::machines::{Coefficients, Features, FitError, Fitted, Machine, Readout, Task};
use crate::parallel;
use crate::seed::Seed;
use crate::watch::{Monitor, Status, Stop};
use std::sync::Arc;
use std::time::Instant;

/// The score of every example by a fit without its fold, n × outputs row by row in the order of `fitted`, which is the fit on all
/// of them, by learning once for each fold.
///
/// A class that a fold takes away whole is unknown to that fit: its scores there are not a number.
///
/// # Errors
/// As [`Machine::run`]; also [`SolveError::Stopped`](crate::linalg::SolveError::Stopped) if the monitor ends a fold, or if there is no target.
pub fn held_out_scores(
    machine: &dyn Machine,
    task: &Task<'_>,
    fitted: &Fitted,
    folds: &[Vec<usize>],
    watch: &dyn Monitor,
) -> Result<Vec<f64>, FitError> {
    let outputs = fitted.expansion.outputs();
    let part = |f: usize| scores_of_fold(machine, task, fitted, &folds[f], folds.len(), watch);
    let parts = parallel::map(folds.len(), part).into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut scores = vec![f64::NAN; task.len() * outputs];
    for (fold, part) in folds.iter().zip(parts) {
        for (&i, row) in fold.iter().zip(part.chunks_exact(outputs.max(1))) {
            scores[i * outputs..(i + 1) * outputs].copy_from_slice(row);
        }
    }
    Ok(scores)
}

fn scores_of_fold(
    machine: &dyn Machine,
    task: &Task<'_>,
    whole: &Fitted,
    held_out: &[usize],
    folds: usize,
    watch: &dyn Monitor,
) -> Result<Vec<f64>, FitError> {
    let name = machine.entry().name;
    if task.target.is_none() {
        return Err(FitError::Target { machine: name, error: DataError::NoTarget });
    }
    let (fitted, scores) = without(machine, task, held_out, folds, watch)?;
    Ok(spread(&scores, &fitted.readout, &whole.readout))
}

/// The kernel between all examples, parts of which are learned from.
pub(super) struct Whole<'a> {
    pub(super) gram: &'a Arc<dyn Gram>,
    pub(super) kernel: Option<&'a Arc<dyn Similarity>>,
    /// The explicit features of some examples.
    pub(super) features: &'a (dyn Fn(&[usize]) -> Option<Features> + Sync),
}

/// A part of the examples to be learned from, and others to be scored.
pub(super) struct Part<'a> {
    /// Places of the examples that are learned from.
    pub(super) train: &'a [usize],
    /// Places of the examples that are scored.
    pub(super) test: &'a [usize],
    /// The target of the examples that are learned from.
    pub(super) target: Option<&'a Target>,
    /// Their weights.
    pub(super) weights: Option<&'a [f64]>,
    /// A fit on the same part to start from.
    pub(super) start: Option<&'a Fitted>,
}

/// Memory, threads and randomness of one fit.
#[derive(Clone, Copy)]
pub(super) struct Share {
    pub(super) budget: Budget,
    pub(super) threads: usize,
    pub(super) seed: Seed,
}

/// A fit on a part, whose points are places in it, and its scores of the others.
pub(super) struct PartFit {
    pub(super) fitted: Fitted,
    /// n × outputs, row by row.
    pub(super) scores: Vec<f64>,
    pub(super) fit_seconds: f64,
    pub(super) score_seconds: f64,
}

/// Learns from a part of the examples and scores others.
///
/// # Errors
/// As [`Machine::run`]; also [`SolveError::Stopped`](crate::linalg::SolveError::Stopped) if the monitor ends it.
pub(super) fn fit_part(
    machine: &dyn Machine,
    whole: &Whole<'_>,
    part: &Part<'_>,
    share: Share,
    watch: &dyn Monitor,
) -> Result<PartFit, FitError> {
    let began = Instant::now();
    let task = Task {
        kernel: whole.kernel.map(|kernel| kernel.restrict(part.train)),
        features: (whole.features)(part.train),
        target: part.target,
        weights: part.weights,
        start: part.start,
        threads: share.threads,
        budget: share.budget,
        seed: share.seed,
        ..Task::new(Arc::clone(whole.gram).restrict(part.train, part.train))
    };
    let fitted = machine.run(&task, watch)?;
    // the scores of a fit that was stopped in the middle say nothing about its parameters
    if let Some(reason) = stop_of(fitted.report.status) {
        return Err(FitError::stopped(machine.entry().name, reason));
    }
    let fit_seconds = began.elapsed().as_secs_f64();
    let primal = (whole.features)(part.test).and_then(|features| fitted.expansion.primal_scores(&features.rows));
    let scores = match primal {
        Some(scores) => scores,
        None if !matches!(fitted.expansion.coefficients, Coefficients::Parts(_)) => {
            let points: Vec<usize> = fitted.expansion.points().iter().map(|&p| part.train[p]).collect();
            fitted.expansion.scores(Arc::clone(whole.gram).restrict(part.test, &points).as_ref())
        }
        None => {
            let finding = "it has a part for each term of the kernel, and scores of several parts are not held out; fit it on all examples";
            return Err(FitError::Param { machine: machine.entry().name, finding: finding.to_owned() });
        }
    };
    let score_seconds = began.elapsed().as_secs_f64() - fit_seconds;
    Ok(PartFit { fitted, scores, fit_seconds, score_seconds })
}

/// The reason why a fit was stopped.
pub(super) fn stop_of(status: Status) -> Option<Stop> {
    match status {
        Status::Interrupted => Some(Stop::Interrupted),
        Status::TimeLimit => Some(Stop::TimeLimit),
        Status::Converged | Status::IterationLimit => None,
    }
}

/// A fit without some examples, whose points are places among all of them, and its scores of those left out. As many as `folds` such
/// fits may run side by side.
///
/// # Errors
/// As [`Machine::run`]; also [`SolveError::Stopped`](crate::linalg::SolveError::Stopped) if the monitor ends it.
pub(crate) fn without(
    machine: &dyn Machine,
    task: &Task<'_>,
    held_out: &[usize],
    folds: usize,
    watch: &dyn Monitor,
) -> Result<(Fitted, Vec<f64>), FitError> {
    let rest = complement(held_out, task.len());
    let known = task.target.map(|target| target.select(&rest));
    let weights = task.weights.map(|w| rest.iter().map(|&i| w[i]).collect::<Vec<_>>());
    let at_once = rayon::current_num_threads().min(folds).max(1);
    let features = |examples: &[usize]| task.features.as_ref().map(|features| features.select(examples));
    let PartFit { mut fitted, scores, .. } = fit_part(
        machine,
        &Whole { gram: &task.gram, kernel: task.kernel.as_ref(), features: &features },
        &Part { train: &rest, test: held_out, target: known.as_ref(), weights: weights.as_deref(), start: None },
        Share { budget: Budget { memory: task.budget.memory / at_once }, threads: 1, seed: task.seed },
        watch,
    )?;
    for points in fitted.expansion.points_mut() {
        points.iter_mut().for_each(|p| *p = rest[*p]);
    }
    Ok((fitted, scores))
}

/// Puts the scores of a fit that knows fewer classes at the places they have among all outputs.
fn spread(scores: &[f64], some: &Readout, all: &Readout) -> Vec<f64> {
    let (few, many) = (some.outputs(), all.outputs());
    let places: Vec<usize> = match (some, all) {
        (Readout::ArgMax { labels }, Readout::ArgMax { labels: known }) => places_of(labels, known),
        (Readout::Vote { labels }, Readout::Vote { labels: known }) => {
            let (places, k) = (places_of(labels, known), known.len());
            // labels keep their order, so a < b stays so; the pairs before (a, ·) are Σ_{c<a} (k − 1 − c)
            let place = |a: usize, b: usize| a * (2 * k - a - 1) / 2 + (b - a - 1);
            (0..places.len())
                .flat_map(|a| (a + 1..places.len()).map(move |b| (a, b)))
                .map(|(a, b)| place(places[a], places[b]))
                .collect()
        }
        _ => (0..few).collect(),
    };
    let mut wide = vec![f64::NAN; scores.len() / few.max(1) * many];
    for (from, to) in scores.chunks_exact(few.max(1)).zip(wide.chunks_exact_mut(many.max(1))) {
        for (score, &place) in from.iter().zip(&places) {
            to[place] = *score;
        }
    }
    wide
}

fn places_of(labels: &[String], known: &[String]) -> Vec<usize> {
    labels.iter().filter_map(|label| known.iter().position(|k| k == label)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(labels: &[&str]) -> Vec<String> {
        labels.iter().map(|&l| l.to_owned()).collect()
    }

    #[test]
    fn scores_of_fewer_classes_find_their_places() {
        let all = words(&["a", "b", "c", "d"]);
        let some = words(&["a", "c", "d"]);
        let spread_to = |some: Readout, all: Readout| {
            spread(&[1.0, 2.0, 3.0], &some, &all).iter().map(|s| if s.is_nan() { 0.0 } else { *s }).collect::<Vec<_>>()
        };
        // pairs of all: ab ac ad bc bd cd
        let pairs = spread_to(Readout::Vote { labels: some.clone() }, Readout::Vote { labels: all.clone() });
        assert_eq!(pairs, [0.0, 1.0, 2.0, 0.0, 0.0, 3.0]);
        let classes = spread_to(Readout::ArgMax { labels: some }, Readout::ArgMax { labels: all });
        assert_eq!(classes, [1.0, 0.0, 2.0, 3.0]);
    }
}
