//! Cross-validation of many points that share a kernel: fold by fold, along each chain from weak to strong, on all threads.

use super::KernelOnData;
use super::chain::{Point, chains};
use super::folds::{Fold, Folds};
use super::refit::{Part, PartFit, Share, Whole, fit_part, stop_of};
use super::suits::doubt;
use crate::data::Target;
use crate::error::Error;
use crate::gram::Budget;
use crate::linalg::SolveError;
use crate::machines::{FitError, Fitted, HeldOutAnswer, HeldOutRequest, Machine, Task};
use crate::seed::Seed;
use crate::watch::{Monitor, Phase, Progress, Stop};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// A cross-validation of points that share a kernel.
pub(crate) struct CrossValidator<'a, T> {
    /// The kernel, with examples in the order of the folds.
    pub(crate) kernel: &'a KernelOnData,
    pub(crate) folds: &'a Folds,
    pub(crate) seed: Seed,
    pub(crate) watch: &'a dyn Monitor,
    /// The measure of a fit by its held-out scores.
    pub(crate) measure: &'a (dyn Fn(FoldResult<'_>) -> Result<T, Error> + Sync),
    /// Points that other kernels had before, and points in all.
    pub(crate) done: usize,
    pub(crate) total: usize,
}

/// Held-out scores of a fit on one fold, and the time they took.
pub(crate) struct FoldResult<'a> {
    /// The place of the fold.
    pub(crate) fold: usize,
    pub(crate) fitted: &'a Fitted,
    /// n × outputs, row by row.
    pub(crate) scores: Vec<f64>,
    /// The target of the held-out examples.
    pub(crate) target: &'a Target,
    pub(crate) fit_seconds: f64,
    pub(crate) score_seconds: f64,
}

/// The measures of all points.
pub(crate) struct Measures<T> {
    /// In the order of the points, by fold; none for a point that was not finished on every fold.
    pub(crate) points: Vec<Option<Vec<T>>>,
    /// Why the cross-validation ended early.
    pub(crate) stopped: Option<Stop>,
}

/// A chain of points on one fold, and how far it is; those that are least far come first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ChainOnFold {
    next: usize,
    chain: usize,
    fold: usize,
}

/// A measure, and the fit that it is of.
struct Measured<T> {
    measure: T,
    fitted: Fitted,
    /// True if the next point of the chain has the same fit.
    is_final: bool,
}

/// The work that is left and the measures so far, shared by all threads.
struct Queue<T> {
    /// Chains that no thread is at work on, with the point before.
    waiting: BTreeMap<ChainOnFold, Option<Measured<T>>>,
    /// By point and fold.
    measures: Vec<Vec<Option<T>>>,
    /// Points that are finished on every fold.
    finished: usize,
    stopped: Option<Stop>,
    failed: Option<Error>,
}

impl<T: Clone + Send> CrossValidator<'_, T> {
    /// Measures all points on all folds. The chain that is least far is taken first, so that whole points are finished when
    /// somebody stops the work, and no thread waits for another; a measure depends on its own chain alone, so that measures
    /// are the same bits for any number of threads.
    pub(crate) fn run(&self, points: &[Point]) -> Result<Measures<T>, Error> {
        for point in points {
            doubt(point.machine.as_ref(), &self.kernel.resolved)?;
        }
        if let Some(measures) = self.in_closed_form(points)? {
            return Ok(measures);
        }
        let chains = chains(points);
        let folds = self.folds.all.len();
        let waiting: BTreeMap<ChainOnFold, Option<Measured<T>>> = (0..chains.len())
            .flat_map(|chain| (0..folds).map(move |fold| (ChainOnFold { next: 0, chain, fold }, None)))
            .collect();
        let threads = rayon::current_num_threads().max(1);
        let workers = threads.min(waiting.len()).max(1);
        let queue = Mutex::new(Queue {
            waiting,
            measures: points.iter().map(|_| vec![None; folds]).collect(),
            finished: 0,
            stopped: None,
            failed: None,
        });
        // threads that have no chain of their own help inside the fits; memory is divided among them
        let budget = Budget { memory: self.kernel.left.memory / workers };
        let share = Share { budget, threads: threads / workers, seed: self.seed };
        rayon::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|_| {
                    while let Some((at, before)) = self.take(&queue) {
                        let point = chains[at.chain][at.next];
                        let outcome = match before {
                            Some(before) if before.is_final => Ok(ControlFlow::Continue(before)),
                            before => self.on_fold(points[point].machine.as_ref(), at.fold, before.as_ref(), share),
                        };
                        lock(&queue).put(at, &chains[at.chain], outcome);
                    }
                });
            }
        });
        let queue = queue.into_inner().unwrap_or_else(PoisonError::into_inner);
        match queue.failed {
            Some(error) => Err(error),
            None => Ok(Measures {
                points: queue.measures.into_iter().map(|m| m.into_iter().collect()).collect(),
                stopped: queue.stopped,
            }),
        }
    }

    /// Leaving out one example at a time, by machines that need not learn again for that; `None` where folds are larger or a
    /// machine must.
    fn in_closed_form(&self, points: &[Point]) -> Result<Option<Measures<T>>, Error> {
        let closed = points.iter().all(|point| point.machine.traits().leaves_one_out);
        if !closed || !self.folds.leave_one_out() {
            return Ok(None);
        }
        let (all, n) = (&self.folds.all, self.folds.order.len());
        let mut measures = Measures { points: points.iter().map(|_| None).collect(), stopped: None };
        for (done, point) in points.iter().enumerate() {
            let progress = Progress::new(Phase::LEAVE_ONE_OUT, self.done + done).of(self.total);
            if let Err(stop) = self.watch.alive(progress) {
                measures.stopped = Some(stop);
                break;
            }
            let began = Instant::now();
            let task = Task {
                target: Some(&self.folds.target),
                weights: self.folds.weights.as_deref(),
                held_out: HeldOutRequest::LeaveOneOutScores,
                ..self.kernel.task(self.seed)
            };
            let mut fitted = match stopping(point.machine.run(&task, self.watch))? {
                ControlFlow::Continue(fitted) => fitted,
                ControlFlow::Break(stop) => {
                    measures.stopped = Some(stop);
                    break;
                }
            };
            measures.stopped = stop_of(fitted.report.status);
            if measures.stopped.is_some() {
                break;
            }
            let Some(HeldOutAnswer { scores, .. }) = fitted.held_out.take() else { return Ok(None) };
            let (outputs, fit_seconds) = (scores.len() / n.max(1), began.elapsed().as_secs_f64() / n as f64);
            let of_fold = |(place, fold): (usize, &Fold)| {
                let own = fold.test[0] * outputs;
                let scores = scores[own..own + outputs].to_vec();
                let (fitted, target) = (&fitted, &fold.unknown);
                (self.measure)(FoldResult { fold: place, fitted, scores, target, fit_seconds, score_seconds: 0.0 })
            };
            measures.points[done] = Some(all.iter().enumerate().map(of_fold).collect::<Result<_, _>>()?);
        }
        Ok(Some(measures))
    }

    /// The next chain to be taken up. A thread that finds none is not needed any more: every chain that is left is in the
    /// hands of another, which goes on with it.
    fn take(&self, queue: &Mutex<Queue<T>>) -> Option<(ChainOnFold, Option<Measured<T>>)> {
        let mut seen = lock(queue);
        if seen.stopped.is_some() || seen.failed.is_some() {
            return None;
        }
        let next = seen.waiting.pop_first()?;
        let done = self.done + seen.finished;
        drop(seen);
        match self.watch.step(&Progress::new(Phase::CROSS_VALIDATION, done).of(self.total)) {
            ControlFlow::Continue(()) => Some(next),
            ControlFlow::Break(stop) => {
                lock(queue).stopped = Some(stop);
                None
            }
        }
    }

    /// The measure of the machine on the held-out examples of a fold, unless the learning was stopped.
    fn on_fold(
        &self,
        machine: &dyn Machine,
        place: usize,
        before: Option<&Measured<T>>,
        share: Share,
    ) -> Result<ControlFlow<Stop, Measured<T>>, Error> {
        let Fold { train, test, known, unknown, weights } = &self.folds.all[place];
        let features = |places: &[usize]| self.kernel.features_at(places);
        let whole = Whole { gram: &self.kernel.gram, kernel: self.kernel.kernel.as_ref(), features: &features };
        let start = before.map(|b| &b.fitted);
        let part = Part { train, test, target: Some(known), weights: weights.as_deref(), start };
        let found = match stopping(fit_part(machine, &whole, &part, share, self.watch))? {
            ControlFlow::Continue(found) => found,
            ControlFlow::Break(stop) => return Ok(ControlFlow::Break(stop)),
        };
        let PartFit { fitted, scores, fit_seconds, score_seconds } = found;
        let target = unknown;
        let result = FoldResult { fold: place, fitted: &fitted, scores, target, fit_seconds, score_seconds };
        // scores of values that were given up say nothing
        if let Some(stop) = self.watch.sign().broken() {
            return Ok(ControlFlow::Break(stop));
        }
        let measure = (self.measure)(result)?;
        let is_final = machine.traits().path.is_some_and(|path| (path.is_final)(&fitted));
        Ok(ControlFlow::Continue(Measured { measure, fitted, is_final }))
    }
}

/// A fit that somebody stopped is no error of a cross-validation: it ends there.
fn stopping<F>(fit: Result<F, FitError>) -> Result<ControlFlow<Stop, F>, FitError> {
    match fit {
        Ok(fit) => Ok(ControlFlow::Continue(fit)),
        Err(FitError::Solve { error: SolveError::Stopped { reason }, .. }) => Ok(ControlFlow::Break(reason)),
        Err(error) => Err(error),
    }
}

impl<T: Clone> Queue<T> {
    /// Keeps the measure of a point, and lets its chain go on.
    fn put(&mut self, at: ChainOnFold, chain: &[usize], outcome: Result<ControlFlow<Stop, Measured<T>>, Error>) {
        match outcome {
            Ok(ControlFlow::Continue(measured)) => {
                let of_point = &mut self.measures[chain[at.next]];
                of_point[at.fold] = Some(measured.measure.clone());
                self.finished += usize::from(of_point.iter().all(Option::is_some));
                if at.next + 1 < chain.len() {
                    self.waiting.insert(ChainOnFold { next: at.next + 1, ..at }, Some(measured));
                }
            }
            Ok(ControlFlow::Break(stop)) => self.stopped = Some(stop),
            Err(error) => self.failed = Some(error),
        }
    }
}

fn lock<T>(queue: &Mutex<Queue<T>>) -> MutexGuard<'_, Queue<T>> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}
