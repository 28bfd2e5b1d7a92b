//! Shared parts of the support vector machines: the effort that is allowed, and the way from their problems to the solver.

use super::evidence::{Evidence, join};
use super::fitted::each;
use super::settle::{Matrix, settle, settle_in_rounds};
use super::{FitError, SolverReport, Task};
use crate::gram::{Gram, Side, diagonal, show_bytes};
use crate::linalg::SolveError;
use crate::machines::Fact;
use crate::params::{Params, Rule, Visit};
use crate::solvers::conjugate_gradient::not_finite;
use crate::solvers::smo::{Equality, SmoOptions, Solution, Start, Workspace, rounds_pay};
use crate::watch::{Monitor, Status};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// The tolerance of a solution, and the steps and memory it may take.
#[derive(Clone, Debug, PartialEq)]
pub struct Effort {
    /// The largest violation of the optimality conditions that is left.
    pub tolerance: f64,
    /// The most steps of a sub-problem; 0 for LIBSVM's limit, 100 n but at least ten million.
    pub max_iterations: usize,
    /// Megabytes for kernel rows, divided over the sub-problems that run at once.
    pub cache: usize,
}

impl Default for Effort {
    fn default() -> Self {
        Self { tolerance: 1e-3, max_iterations: 0, cache: 200 }
    }
}

impl Params for Effort {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.real("tolerance", &mut self.tolerance, Rule::Above(0.0), "largest violation of the optimality conditions");
        v.count("max_iterations", &mut self.max_iterations, Rule::AtLeast(0.0), "most steps, 0 for 100 n or 10⁷");
        v.count("cache", &mut self.cache, Rule::AtLeast(0.0), "megabytes for kernel rows");
    }
}

/// One problem of a machine, over ranges of the examples of a matrix.
pub(super) struct Sub {
    pub(super) columns: Vec<Range<usize>>,
    pub(super) linear: Vec<f64>,
    pub(super) lower: Vec<f64>,
    pub(super) upper: Vec<f64>,
    pub(super) epsilon: f64,
    pub(super) ridge: Option<Vec<f64>>,
    pub(super) equality: Equality,
    pub(super) start: Option<Start>,
    /// The fold of each column and how many there are, where held-out scores are wanted.
    pub(super) folds: Option<(Vec<u32>, usize)>,
}

/// Sub-problems of a machine: how many, how large, and each of them when its turn comes.
pub(super) struct Subs<'a> {
    pub(super) sizes: Vec<usize>,
    pub(super) make: &'a (dyn Fn(usize) -> Sub + Sync),
}

/// Solves all sub-problems. Where rows are best computed many at once and can be kept, all problems are solved together, in rounds. Else those
/// that are large among them are divided over threads by columns, one after the other; the rest are taken from a queue, the largest first,
/// one thread each. The solutions are the same bits for any number of threads.
pub(super) fn solve(
    gram: &Arc<dyn Gram>,
    subs: &Subs<'_>,
    effort: &Effort,
    task: &Task<'_>,
    watch: &dyn Monitor,
) -> Result<Vec<Solution>, SolveError> {
    let known = gram.self_similarities(Side::Rows).filter(|_| gram.is_symmetric());
    let own = known.unwrap_or_else(|| diagonal(gram.as_ref()));
    if own.iter().any(|k| !k.is_finite()) {
        return Err(not_finite(gram.as_ref()));
    }
    let threads = task.threads.max(1);
    let mut order: Vec<usize> = (0..subs.sizes.len()).collect();
    order.sort_by_key(|&p| std::cmp::Reverse(subs.sizes[p]));
    let square = |p: usize| (subs.sizes[p] as f64).powi(2);
    let total: f64 = order.iter().map(|&p| square(p)).sum();
    let large = order.iter().take_while(|&&p| threads > 1 && square(p) > 0.25 * total).count();
    let bytes = cache_bytes(effort, task);
    let matrix = Matrix::new(gram, own);
    let named = |error: SolveError| match error {
        SolveError::NotFinite { .. } => not_finite(gram.as_ref()),
        other => other,
    };
    let one = |p: usize, threads: usize, bytes: usize, workspace: &mut Workspace| {
        let Effort { tolerance, max_iterations, .. } = *effort;
        let options = SmoOptions { tolerance, max_iterations, cache: bytes, threads, most_rows: false };
        settle(&matrix, &(subs.make)(p), &options, workspace, watch).map_err(named)
    };
    // a single problem finds its own way
    if subs.sizes.len() > 1 && !matrix.is_far() && rounds_pay(gram.as_ref(), &subs.sizes, bytes) {
        let made: Vec<Sub> = (0..subs.sizes.len()).map(subs.make).collect();
        let Effort { tolerance, max_iterations, .. } = *effort;
        let options = SmoOptions { tolerance, max_iterations, cache: bytes, threads, most_rows: false };
        return settle_in_rounds(&matrix, &made, &options, watch).map_err(named);
    }
    let mut found: Vec<Option<Result<Solution, SolveError>>> = order.iter().map(|_| None).collect();
    let mut workspace = Workspace::default();
    for &p in &order[..large] {
        found[p] = Some(one(p, threads, bytes, &mut workspace));
    }
    let rest = &order[large..];
    let workers = threads.min(rest.len());
    if workers <= 1 {
        for &p in rest {
            found[p] = Some(one(p, 1, bytes, &mut workspace));
        }
    } else {
        let next = AtomicUsize::new(0);
        let results = Mutex::new(Vec::with_capacity(rest.len()));
        let work = || {
            let mut workspace = Workspace::default();
            let mut mine = Vec::new();
            while let Some(&p) = rest.get(next.fetch_add(1, Ordering::Relaxed)) {
                mine.push((p, one(p, 1, bytes / workers, &mut workspace)));
            }
            if let Ok(mut all) = results.lock() {
                all.extend(mine);
            }
        };
        std::thread::scope(|scope| {
            (1..workers).for_each(|_| {
                scope.spawn(work);
            });
            work();
        });
        for (p, result) in results.into_inner().unwrap_or_default() {
            found[p] = Some(result);
        }
    }
    found.into_iter().flatten().collect()
}

/// Largest cache of rows that are computed many at once.
const MAX_CACHE_OF_PANELS: usize = 1 << 30;
/// Largest cache of cheap rows in bytes: memory that is touched for the first time costs more than to compute them
/// again.
const MAX_CACHE_OF_CHEAP_ROWS: usize = 64 << 20;

/// Bytes for rows: what was asked for, within half of the memory, and no more than pays.
fn cache_bytes(effort: &Effort, task: &Task<'_>) -> usize {
    let asked = effort.cache.saturating_mul(1 << 20).min(task.budget.memory / 2);
    if task.gram.rows_are_expensive() {
        asked
    } else if task.gram.panel_rows() > 1 {
        asked.min(MAX_CACHE_OF_PANELS)
    } else {
        asked.min(MAX_CACHE_OF_CHEAP_ROWS)
    }
}

/// Shares that fill bounds from the first on until their sum is reached, as LIBSVM starts; `None` if bounds do not hold it.
pub(super) fn fill(bounds: &[f64], sum: f64) -> Option<Vec<f64>> {
    let mut left = sum;
    let shares = bounds
        .iter()
        .map(|&u| {
            let share = left.min(u);
            left -= share;
            share
        })
        .collect();
    // rounding may leave a trace of a sum that just fits
    (left <= 1e-9 * sum.max(f64::MIN_POSITIVE)).then_some(shares)
}

/// An earlier solution inside new bounds: shrunk as a whole where they are narrower, so that its sum stays zero.
pub(super) fn within(beta: &[f64], bounds: &[f64]) -> Start {
    let over = |(b, u): (&f64, &f64)| if b.abs() > *u { u / b.abs() } else { 1.0 };
    let factor = beta.iter().zip(bounds).map(over).fold(1.0, f64::min);
    Start::of(&beta.iter().zip(bounds).map(|(b, u)| (b * factor).clamp(-u, *u)).collect::<Vec<_>>())
}

/// The weight of each example: that of the task, or one.
pub(super) fn weights(task: &Task<'_>) -> Vec<f64> {
    task.weights.map_or_else(|| vec![1.0; task.len()], <[f64]>::to_vec)
}

/// The report of several solutions; `gap` is the sum of primal minus dual objectives where they are known.
pub(super) fn prove(
    solutions: &[Solution],
    gap: Option<f64>,
    support: usize,
    effort: &Effort,
    task: &Task<'_>,
    notes: Vec<(String, f64)>,
) -> SolverReport {
    let evidence: Vec<Evidence> = solutions
        .iter()
        .map(|s| Evidence {
            objective: Some(s.objective),
            violation: Some(s.violation),
            ..Evidence::new(s.status, s.iterations)
        })
        .collect();
    let sum = |of: fn(&Solution) -> f64| solutions.iter().map(of).sum::<f64>();
    let mut all = vec![
        ("kernel_rows".to_owned(), sum(|s| s.rows as f64)),
        ("kernel_evaluations".to_owned(), sum(|s| s.evaluations as f64)),
        Fact::SquaredNorm.note(sum(|s| s.squared_norm)),
        Fact::LooseOffsets.note(sum(|s| s.loose as f64)),
    ];
    // the gap is primal minus dual value, and the objective that is minimised is minus the dual value
    all.extend(gap.map(|gap| ("primal_objective".to_owned(), gap - sum(|s| s.objective))));
    all.extend(notes);
    SolverReport {
        iterations_of_each: each(solutions.iter().map(|s| s.iterations)),
        duality_gap: gap.filter(|_| solutions.iter().all(|s| s.whole)),
        support: Some(support),
        storage: format!("rows in f32, up to {} kept", show_bytes(cache_bytes(effort, task))),
        notes: all,
        ..join(&evidence)
    }
}

/// True if no multiplier of a solution stands at its bound, so that the solution is unchanged for every larger C.
pub(super) fn nothing_bounded(report: &SolverReport) -> bool {
    let none = report.fact(Fact::BoundedMultipliers) == Some(0.0);
    none && report.status == Status::Converged
}

/// An error of the solver as one of a machine.
pub(super) fn broke(machine: &'static str) -> impl Fn(SolveError) -> FitError {
    move |error| FitError::Solve { machine, error }
}
