//! Judging the points of a grid that share a kernel: fold by fold, from weak to strong, on all threads.

use super::met::Met;
use crate::data::{DataError, Dataset, Target};
use crate::error::Error;
use crate::gram::Plan;
use crate::machines::{FitError, Fitted, Learns, Machine, Task};
use crate::metrics::{Metrics, measure};
use crate::params::Setting;
use crate::seed::Seed;
use crate::solvers::{Monitor, Progress, SolveError, Status, Stop};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The examples in the order in which the matrix is stored, and what each fold holds out.
pub(super) struct Folds {
    /// The example at each place: class by class, and fold by fold within a class, so that the columns of a class without
    /// a fold are two stretches of the matrix.
    pub(super) order: Vec<usize>,
    pub(super) all: Vec<Fold>,
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
    pub(super) fn new(data: &Dataset, folds: &[Vec<usize>], learns: Learns) -> Result<Self, DataError> {
        let target = data.target().ok_or(DataError::NoTarget)?;
        let mut fold_of = vec![0; target.len()];
        for (f, held_out) in folds.iter().enumerate() {
            held_out.iter().for_each(|&i| fold_of[i] = f);
        }
        let codes = if learns == Learns::Classes { target.classes()?.codes } else { vec![0; target.len()] };
        let mut order: Vec<usize> = (0..target.len()).collect();
        order.sort_by_key(|&i| (codes[i], fold_of[i]));
        let fold = |f: usize| {
            let (held_out, rest): (Vec<usize>, Vec<usize>) =
                (0..order.len()).partition(|&place| fold_of[order[place]] == f);
            let (out, known) = (examples(&order, &held_out), examples(&order, &rest));
            let weights = data.weights().map(|w| known.iter().map(|&i| w[i]).collect());
            Fold { held_out, rest, known: target.select(&known), unknown: target.select(&out), weights }
        };
        Ok(Self { all: (0..folds.len()).map(fold).collect(), order })
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

/// The parameter along which a fit starts from the one before: what was found for a small price is nearly right for one
/// that is a little higher.
const PRICE: &str = "c";

/// Points that differ only in the price, the lowest first; as places in the list of points.
fn chains(points: &[Point<'_>]) -> Vec<Vec<usize>> {
    let price = |p: usize| match points[p].settings.iter().find(|(name, _)| name == PRICE) {
        Some((_, Setting::Number(c))) => *c,
        _ => 0.0,
    };
    let others = |p: usize| {
        let settings = points[p].settings.iter().filter(|(name, _)| name != PRICE);
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
    chains.iter_mut().for_each(|chain| chain.sort_by(|&a, &b| price(a).total_cmp(&price(b))));
    chains
}

/// The scores of one kernel's points: by point, by fold; a point that was not wholly judged has none.
pub(super) struct Verdict {
    /// In the order of the points.
    pub(super) scores: Vec<Option<Vec<f64>>>,
    /// Why judging ended early.
    pub(super) stopped: Option<Stop>,
}

/// What judging needs to know beside the points.
pub(super) struct Judge<'a> {
    pub(super) met: &'a Met,
    pub(super) folds: &'a Folds,
    pub(super) seed: Seed,
    pub(super) watch: &'a dyn Monitor,
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
struct Judged {
    score: f64,
    fitted: Fitted,
    /// Whether the next point, whose price is higher, has the same fit.
    settled: bool,
}

/// What all threads see.
struct Board {
    /// Walks that no thread is at work on, with how the point before did.
    waiting: BTreeMap<Walk, Option<Judged>>,
    /// By point and fold.
    scores: Vec<Vec<Option<f64>>>,
    judged: usize,
    stopped: Option<Stop>,
    failed: Option<Error>,
}

impl Judge<'_> {
    /// Judges all points on all folds. The walk that is least far is taken first, so that whole points are judged when
    /// somebody stops the search, and no thread waits for another; a score depends on its own walk alone, so the scores
    /// are the same bits for any number of threads.
    pub(super) fn run(&self, points: &[Point<'_>]) -> Result<Verdict, Error> {
        let chains = chains(points);
        let folds = self.folds.all.len();
        let waiting: BTreeMap<Walk, Option<Judged>> = (0..chains.len())
            .flat_map(|chain| (0..folds).map(move |fold| (Walk { next: 0, chain, fold }, None)))
            .collect();
        let threads = rayon::current_num_threads().max(1);
        let workers = threads.min(waiting.len()).max(1);
        let board = Mutex::new(Board {
            waiting,
            scores: vec![vec![None; folds]; points.len()],
            judged: 0,
            stopped: None,
            failed: None,
        });
        // threads that have no walk of their own help inside the fits; memory is divided among them
        let share = (threads / workers, Plan { memory: self.met.left.memory / workers });
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

    /// The next walk to be taken up. A thread that finds none is not needed any more: every walk that is left is in the
    /// hands of another, which goes on with it.
    fn take(&self, board: &Mutex<Board>) -> Option<(Walk, Option<Judged>)> {
        let mut seen = lock(board);
        if seen.stopped.is_some() || seen.failed.is_some() {
            return None;
        }
        let walk = seen.waiting.pop_first()?;
        let done = self.done + seen.judged;
        drop(seen);
        match self.watch.step(&Progress { phase: "cross-validation", done, total: Some(self.total), gap: None }) {
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
        before: Option<&Judged>,
        (threads, plan): (usize, Plan),
    ) -> Result<ControlFlow<Stop, Judged>, Error> {
        let Fold { held_out, rest, known, unknown, weights } = &self.folds.all[fold];
        let order = &self.folds.order;
        let task = Task {
            gram: Arc::clone(&self.met.gram).restrict(rest, rest),
            features: self.met.part(&examples(order, rest)),
            target: Some(known),
            weights: weights.as_deref(),
            start: before.map(|b| &b.fitted),
            threads,
            plan,
            seed: self.seed,
        };
        let fitted = match machine.run(&task, self.watch) {
            Err(FitError::Solve { error: SolveError::Stopped { reason }, .. }) => {
                return Ok(ControlFlow::Break(reason));
            }
            other => other?,
        };
        // a machine that was stopped in the middle is no measure of its parameters
        match fitted.proof.status {
            Status::Interrupted => return Ok(ControlFlow::Break(Stop::Interrupted)),
            Status::TimeLimit => return Ok(ControlFlow::Break(Stop::TimeLimit)),
            Status::Converged | Status::IterationLimit => {}
        }
        let features = self.met.part(&examples(order, held_out));
        let primal = features.and_then(|features| fitted.expansion.primal_scores(&features.rows));
        let scores = primal.unwrap_or_else(|| {
            let points: Vec<usize> = fitted.expansion.points().iter().map(|&p| rest[p]).collect();
            fitted.expansion.scores(Arc::clone(&self.met.gram).restrict(held_out, &points).as_ref())
        });
        let score = match measure(&fitted.readout.read(scores), unknown)? {
            Metrics::Classes(m) => m.error,
            Metrics::Numbers(m) => m.rmse,
        };
        let settled = machine.is_settled(&fitted);
        Ok(ControlFlow::Continue(Judged { score, fitted, settled }))
    }
}

/// Writes down how a point did, and lets its walk go on.
fn note(board: &mut Board, walk: Walk, chain: &[usize], outcome: Result<ControlFlow<Stop, Judged>, Error>) {
    match outcome {
        Ok(ControlFlow::Continue(judged)) => {
            let scores = &mut board.scores[chain[walk.next]];
            scores[walk.fold] = Some(judged.score);
            board.judged += usize::from(scores.iter().all(Option::is_some));
            if walk.next + 1 < chain.len() {
                board.waiting.insert(Walk { next: walk.next + 1, ..walk }, Some(judged));
            }
        }
        Ok(ControlFlow::Break(stop)) => board.stopped = Some(stop),
        Err(error) => board.failed = Some(error),
    }
}

fn lock(board: &Mutex<Board>) -> MutexGuard<'_, Board> {
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
