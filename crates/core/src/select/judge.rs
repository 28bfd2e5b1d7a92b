//! Judging the points of a grid that share a kernel: fold by fold, from weak to strong, on all threads.

use super::grid::{Owner, owner};
use super::met::Met;
use crate::data::{DataError, Dataset, Target};
use crate::error::Error;
use crate::gram::Budget;
use crate::linalg::SolveError;
use crate::machines::{FitError, Fitted, HeldOut, HeldOutRequest, Learns, Machine, Task};
use crate::params::Setting;
use crate::seed::Seed;
use crate::watch::{Monitor, Phase, Progress, Status, Stop};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The examples in the order in which the matrix is stored, and what each fold holds out.
pub(super) struct Folds {
    /// The example at each place: class by class, and fold by fold within a class, so that the columns of a class without
    /// a fold are two stretches of the matrix.
    pub(super) order: Vec<usize>,
    pub(super) all: Vec<Fold>,
    /// The target and the weights of all examples, in that order.
    whole: (Target, Option<Vec<f64>>),
}

/// Which examples are learned from, and which are predicted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Split {
    /// Places of the examples that are learned from.
    pub train: Vec<usize>,
    /// Places of those that are held out.
    pub test: Vec<usize>,
    /// Weights of the examples of `train`, in their order.
    pub weights: Option<Vec<f64>>,
}

/// A fold: what is held out, and what is learned from.
pub(super) struct Fold {
    /// Places of the examples that are held out.
    held_out: Vec<usize>,
    /// Places of the others.
    rest: Vec<usize>,
    /// The target of the rest.
    known: Target,
    /// The target of what is held out.
    unknown: Target,
    /// The weights of the rest.
    weights: Option<Vec<f64>>,
}

impl Folds {
    /// Folds that are disjoint and together all examples: each is held out once.
    pub(super) fn new(data: &Dataset, folds: &[Vec<usize>], learns: Learns) -> Result<Self, DataError> {
        let mut fold_of = vec![0; data.len()];
        for (f, held_out) in folds.iter().enumerate() {
            held_out.iter().for_each(|&i| fold_of[i] = f);
        }
        let split = |f: usize| {
            let train: Vec<usize> = (0..data.len()).filter(|&i| fold_of[i] != f).collect();
            let weights = data.weights().map(|w| train.iter().map(|&i| w[i]).collect());
            Split { train, test: folds[f].clone(), weights }
        };
        Self::of(data, (0..folds.len()).map(split).collect(), learns)
    }

    /// Splits of any kind.
    pub(super) fn of(data: &Dataset, splits: Vec<Split>, learns: Learns) -> Result<Self, DataError> {
        let mut fold_of = vec![splits.len(); data.len()];
        for (f, split) in splits.iter().enumerate() {
            split.test.iter().filter(|&&i| i < data.len()).for_each(|&i| fold_of[i] = fold_of[i].min(f));
        }
        Self::ordered(data, splits, learns, &fold_of)
    }

    /// Splits of any kind, with examples of one class stored in the order of a number of each.
    pub(super) fn ordered(
        data: &Dataset,
        splits: Vec<Split>,
        learns: Learns,
        fold_of: &[usize],
    ) -> Result<Self, DataError> {
        let target = data.target().ok_or(DataError::NoTarget)?;
        let n = target.len();
        for (f, split) in splits.iter().enumerate() {
            let finding = if split.train.iter().chain(&split.test).any(|&i| i >= n) {
                "points outside the data"
            } else if split.weights.as_ref().is_some_and(|w| w.len() != split.train.len()) {
                "has not as many weights as examples to learn from"
            } else if split.weights.iter().flatten().any(|w| !w.is_finite() || *w < 0.0) {
                "has a weight below zero or no number"
            } else {
                ""
            };
            if !finding.is_empty() {
                return Err(DataError::Usage { finding: format!("split {} {finding}", f + 1) });
            }
        }
        let codes = if learns == Learns::Classes { target.classes()?.codes } else { vec![0; n] };
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&i| (codes[i], fold_of[i]));
        let mut place_of = vec![0; n];
        order.iter().enumerate().for_each(|(place, &i)| place_of[i] = place);
        let fold = |split: Split| {
            // rows of the matrix are copied in stretches if places rise
            let mut rest: Vec<usize> = (0..split.train.len()).collect();
            rest.sort_by_key(|&t| place_of[split.train[t]]);
            let known: Vec<usize> = rest.iter().map(|&t| split.train[t]).collect();
            Fold {
                held_out: split.test.iter().map(|&i| place_of[i]).collect(),
                weights: split.weights.map(|w| rest.iter().map(|&t| w[t]).collect()),
                rest: known.iter().map(|&i| place_of[i]).collect(),
                known: target.select(&known),
                unknown: target.select(&split.test),
            }
        };
        let weights = data.weights().map(|w| order.iter().map(|&i| w[i]).collect());
        Ok(Self { all: splits.into_iter().map(fold).collect(), whole: (target.select(&order), weights), order })
    }
}

fn examples(order: &[usize], places: &[usize]) -> Vec<usize> {
    places.iter().map(|&place| order[place]).collect()
}

/// A point of the grid that is to be judged: its place in the grid, and the machine there.
pub(super) struct Point<'a> {
    pub(super) place: usize,
    pub(super) settings: &'a [(String, Setting)],
    pub(super) machine: Box<dyn Machine>,
}

/// Points that differ only in the parameter along which fits start from one another, the lowest value first; as places in the list
/// of points. A solution for a small value is nearly right for one that is a little larger.
fn chains(points: &[Point<'_>]) -> Vec<Vec<usize>> {
    let path = points.first().and_then(|p| p.machine.traits().path).map(|path| path.parameter);
    let on_path = |name: &str| match owner(name) {
        (None | Some(Owner::Machine), parameter) => Some(parameter) == path,
        _ => false,
    };
    let value = |p: usize| match points[p].settings.iter().find(|(name, _)| on_path(name)) {
        Some((_, Setting::Number(c))) => *c,
        _ => 0.0,
    };
    let others = |p: usize| {
        let settings = points[p].settings.iter().filter(|(name, _)| !on_path(name));
        settings.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(",")
    };
    let mut chains: Vec<Vec<usize>> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for p in 0..points.len() {
        match known.entry(others(p)) {
            Entry::Occupied(chain) => chains[*chain.get()].push(p),
            Entry::Vacant(place) => {
                place.insert(chains.len());
                chains.push(vec![p]);
            }
        }
    }
    chains.iter_mut().for_each(|chain| chain.sort_by(|&a, &b| value(a).total_cmp(&value(b))));
    chains
}

/// The scores of one kernel's points: by point, by fold; a point that was not wholly judged has none.
pub(super) struct Verdict<T> {
    /// In the order of the points.
    pub(super) scores: Vec<Option<Vec<T>>>,
    /// Why judging ended early.
    pub(super) stopped: Option<Stop>,
}

/// Held-out scores of a fit, and what it took to get them.
pub(super) struct Heard<'a> {
    /// The place of the split.
    pub(super) split: usize,
    pub(super) fitted: &'a Fitted,
    /// n × outputs, row by row.
    pub(super) scores: Vec<f64>,
    pub(super) unknown: &'a Target,
    pub(super) fit_seconds: f64,
    pub(super) score_seconds: f64,
}

/// What judging needs to know beside the points.
pub(super) struct Judge<'a, T> {
    pub(super) met: &'a Met,
    pub(super) folds: &'a Folds,
    pub(super) seed: Seed,
    pub(super) watch: &'a dyn Monitor,
    /// What is made of the held-out scores.
    pub(super) read: &'a (dyn Fn(Heard<'_>) -> Result<T, Error> + Sync),
    /// Points judged before, and points in all.
    pub(super) done: usize,
    pub(super) total: usize,
}

/// A chain of points on one fold, and how far it is; those that are least far come first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Walk {
    next: usize,
    chain: usize,
    fold: usize,
}

/// A score, and the fit that it is of.
struct Judged<T> {
    score: T,
    fitted: Fitted,
    /// Whether the next point on the path has the same fit.
    settled: bool,
}

/// What all threads see.
struct Board<T> {
    /// Walks that no thread is at work on, with how the point before did.
    waiting: BTreeMap<Walk, Option<Judged<T>>>,
    /// By point and fold.
    scores: Vec<Vec<Option<T>>>,
    judged: usize,
    stopped: Option<Stop>,
    failed: Option<Error>,
}

impl<T: Clone + Send> Judge<'_, T> {
    /// Judges all points on all folds. The walk that is least far is taken first, so that whole points are judged when
    /// somebody stops the search, and no thread waits for another; a score depends on its own walk alone, so the scores
    /// are the same bits for any number of threads.
    pub(super) fn run(&self, points: &[Point<'_>]) -> Result<Verdict<T>, Error> {
        if let Some(verdict) = self.left_out(points)? {
            return Ok(verdict);
        }
        let chains = chains(points);
        let folds = self.folds.all.len();
        let waiting: BTreeMap<Walk, Option<Judged<T>>> = (0..chains.len())
            .flat_map(|chain| (0..folds).map(move |fold| (Walk { next: 0, chain, fold }, None)))
            .collect();
        let threads = rayon::current_num_threads().max(1);
        let workers = threads.min(waiting.len()).max(1);
        let board = Mutex::new(Board {
            waiting,
            scores: points.iter().map(|_| vec![None; folds]).collect(),
            judged: 0,
            stopped: None,
            failed: None,
        });
        // threads that have no walk of their own help inside the fits; memory is divided among them
        let share = (threads / workers, Budget { memory: self.met.left.memory / workers });
        rayon::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|_| {
                    while let Some((walk, before)) = self.take(&board) {
                        let point = chains[walk.chain][walk.next];
                        let outcome = match before {
                            Some(before) if before.settled => Ok(ControlFlow::Continue(before)),
                            before => self.judge(points[point].machine.as_ref(), walk.fold, before.as_ref(), share),
                        };
                        note(&mut lock(&board), walk, &chains[walk.chain], outcome);
                    }
                });
            }
        });
        let board = board.into_inner().unwrap_or_else(PoisonError::into_inner);
        match board.failed {
            Some(error) => Err(error),
            None => Ok(Verdict {
                scores: board.scores.into_iter().map(|s| s.into_iter().collect()).collect(),
                stopped: board.stopped,
            }),
        }
    }

    /// Leaving out one example at a time, by machines that need not learn again for that; `None` where folds are larger or a
    /// machine must.
    fn left_out(&self, points: &[Point<'_>]) -> Result<Option<Verdict<T>>, Error> {
        let (all, n) = (&self.folds.all, self.folds.order.len());
        if all.len() != n || all.iter().any(|fold| fold.held_out.len() != 1 || fold.rest.len() + 1 != n) {
            return Ok(None);
        }
        if points.iter().any(|point| !point.machine.traits().leaves_one_out) {
            return Ok(None);
        }
        let mut verdict = Verdict { scores: points.iter().map(|_| None).collect(), stopped: None };
        for (done, point) in points.iter().enumerate() {
            let progress = Progress::new(Phase::LEAVE_ONE_OUT, self.done + done).of(self.total);
            if let Err(stop) = self.watch.alive(progress) {
                verdict.stopped = Some(stop);
                break;
            }
            let began = Instant::now();
            let task = Task {
                kernel: self.met.kernel.clone(),
                features: self.met.part(&self.folds.order),
                target: Some(&self.folds.whole.0),
                weights: self.folds.whole.1.as_deref(),
                held_out: HeldOutRequest::LeaveOneOutScores,
                threads: rayon::current_num_threads().max(1),
                budget: self.met.left,
                seed: self.seed,
                ..Task::new(Arc::clone(&self.met.gram))
            };
            let mut fitted = match point.machine.run(&task, self.watch) {
                Ok(fitted) => fitted,
                Err(FitError::Solve { error: SolveError::Stopped { reason }, .. }) => {
                    verdict.stopped = Some(reason);
                    break;
                }
                Err(error) => return Err(error.into()),
            };
            verdict.stopped = stop_of(fitted.report.status);
            if verdict.stopped.is_some() {
                break;
            }
            let Some(HeldOut { scores, .. }) = fitted.held_out.take() else { return Ok(None) };
            let (outputs, fit_seconds) = (scores.len() / n.max(1), began.elapsed().as_secs_f64() / n as f64);
            let of_fold = |(split, fold): (usize, &Fold)| {
                let own = fold.held_out[0] * outputs;
                let scores = scores[own..own + outputs].to_vec();
                let unknown = &fold.unknown;
                (self.read)(Heard { split, fitted: &fitted, scores, unknown, fit_seconds, score_seconds: 0.0 })
            };
            verdict.scores[done] = Some(all.iter().enumerate().map(of_fold).collect::<Result<_, _>>()?);
        }
        Ok(Some(verdict))
    }

    /// The next walk to be taken up. A thread that finds none is not needed any more: every walk that is left is in the
    /// hands of another, which goes on with it.
    fn take(&self, board: &Mutex<Board<T>>) -> Option<(Walk, Option<Judged<T>>)> {
        let mut seen = lock(board);
        if seen.stopped.is_some() || seen.failed.is_some() {
            return None;
        }
        let walk = seen.waiting.pop_first()?;
        let done = self.done + seen.judged;
        drop(seen);
        match self.watch.step(&Progress::new(Phase::CROSS_VALIDATION, done).of(self.total)) {
            ControlFlow::Continue(()) => Some(walk),
            ControlFlow::Break(stop) => {
                lock(board).stopped = Some(stop);
                None
            }
        }
    }

    /// The score on the held-out examples of what is learned from the rest, unless the learning was stopped.
    fn judge(
        &self,
        machine: &dyn Machine,
        fold: usize,
        before: Option<&Judged<T>>,
        (threads, budget): (usize, Budget),
    ) -> Result<ControlFlow<Stop, Judged<T>>, Error> {
        let Fold { held_out, rest, known, unknown, weights } = &self.folds.all[fold];
        let order = &self.folds.order;
        let began = Instant::now();
        let task = Task {
            kernel: self.met.kernel.as_ref().map(|kernel| kernel.restrict(rest)),
            features: self.met.part(&examples(order, rest)),
            target: Some(known),
            weights: weights.as_deref(),
            start: before.map(|b| &b.fitted),
            threads,
            budget,
            seed: self.seed,
            ..Task::new(Arc::clone(&self.met.gram).restrict(rest, rest))
        };
        let fitted = match machine.run(&task, self.watch) {
            Err(FitError::Solve { error: SolveError::Stopped { reason }, .. }) => {
                return Ok(ControlFlow::Break(reason));
            }
            other => other?,
        };
        // a machine that was stopped in the middle is no measure of its parameters
        if let Some(stop) = stop_of(fitted.report.status) {
            return Ok(ControlFlow::Break(stop));
        }
        let fit_seconds = began.elapsed().as_secs_f64();
        let features = self.met.part(&examples(order, held_out));
        let primal = features.and_then(|features| fitted.expansion.primal_scores(&features.rows));
        let scores = primal.unwrap_or_else(|| {
            let points: Vec<usize> = fitted.expansion.points().iter().map(|&p| rest[p]).collect();
            fitted.expansion.scores(Arc::clone(&self.met.gram).restrict(held_out, &points).as_ref())
        });
        let score_seconds = began.elapsed().as_secs_f64() - fit_seconds;
        let score = (self.read)(Heard { split: fold, fitted: &fitted, scores, unknown, fit_seconds, score_seconds })?;
        let settled = machine.traits().path.is_some_and(|path| (path.is_final)(&fitted));
        Ok(ControlFlow::Continue(Judged { score, fitted, settled }))
    }
}

/// Why a fit ended before its end.
fn stop_of(status: Status) -> Option<Stop> {
    match status {
        Status::Interrupted => Some(Stop::Interrupted),
        Status::TimeLimit => Some(Stop::TimeLimit),
        Status::Converged | Status::IterationLimit => None,
    }
}

/// Writes down how a point did, and lets its walk go on.
fn note<T: Clone>(
    board: &mut Board<T>,
    walk: Walk,
    chain: &[usize],
    outcome: Result<ControlFlow<Stop, Judged<T>>, Error>,
) {
    match outcome {
        Ok(ControlFlow::Continue(judged)) => {
            let scores = &mut board.scores[chain[walk.next]];
            scores[walk.fold] = Some(judged.score.clone());
            board.judged += usize::from(scores.iter().all(Option::is_some));
            if walk.next + 1 < chain.len() {
                board.waiting.insert(Walk { next: walk.next + 1, ..walk }, Some(judged));
            }
        }
        Ok(ControlFlow::Break(stop)) => board.stopped = Some(stop),
        Err(error) => board.failed = Some(error),
    }
}

fn lock<T>(board: &Mutex<Board<T>>) -> MutexGuard<'_, Board<T>> {
    board.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machines::classify::Svc;

    #[test]
    fn chains_rise_in_the_price_and_share_everything_else() {
        let setting = |name: &str, value: f64| (name.to_owned(), Setting::Number(value));
        let settings: Vec<Vec<(String, Setting)>> = [(3.0, 0.1), (3.0, 0.2), (1.0, 0.1), (2.0, 0.2), (2.0, 0.1)]
            .map(|(c, t)| vec![setting("c", c), setting("tolerance", t)])
            .to_vec();
        let points: Vec<Point<'_>> = settings
            .iter()
            .enumerate()
            .map(|(place, settings)| Point { place, settings, machine: Box::new(Svc::default()) })
            .collect();
        assert_eq!(chains(&points), [vec![2, 4, 0], vec![3, 1]]);
    }
}
