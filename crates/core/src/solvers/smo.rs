//! Sequential minimal optimisation: every support vector machine is one of these problems.
//!
//! ```text
//! min ½ βᵀ(K + D)β − cᵀβ + ε Σ|β|   subject to   l ≤ β ≤ u, l ≤ 0 ≤ u, and none, one or two equalities
//! ```
//! β carries the sign of the class, so rows of K are used as they come and no signed copy of Q exists. The state is
//! s = c − (K + D)β; a step of size λ that raises β_i and lowers β_j is s ← s − λ (K_i − K_j). The optimum has all that may
//! rise at most at the same height as all that may fall; the difference of the two heights is the violation.
//!
//! # Source
//! Fan, Chen & Lin (2005): the pair is the maximal violator i and the j that promises the largest decrease (WSS 2). The
//! stopping rule is LIBSVM's. Shrinking packs a smaller problem (`shrink.rs`) instead of permuting indices; large problems
//! are divided over threads by columns (`team.rs`), and every thread repeats the same scalar decisions, so that the
//! result is the same bits for any number of threads.

mod chunk;
mod copies;
mod held_out;
mod level;
mod passes;
mod pool;
mod rounds;
mod rows;
mod run;
mod shrink;
mod slots;
mod team;
#[cfg(test)]
mod tests;

pub use rounds::{rounds_pay, smo_in_rounds};
pub use slots::Workspace;

use crate::gram::Gram;
use crate::linalg::SolveError;
use crate::watch::{Monitor, Status};
use level::Level;
use passes::Reading;
use run::Run;
use slots::Columns;
use std::ops::Range;
use std::sync::Arc;
use team::Team;

/// The equalities that β obeys, beside its bounds. The sums are those of the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Equality {
    /// None: one variable moves at a time.
    None,
    /// Σβ stays what it is.
    Sum,
    /// The sum of the positive shares and the sum of the negative shares both stay what they are.
    Signs,
}

/// A problem over some of the examples of a square matrix.
pub struct Problem<'a> {
    /// K.
    pub gram: Arc<dyn Gram>,
    /// The examples, as ranges of K; everything below is in their order.
    pub columns: &'a [Range<usize>],
    /// K_tt.
    pub diagonal: &'a [f64],
    /// c.
    pub linear: &'a [f64],
    /// l, not above zero.
    pub lower: &'a [f64],
    /// u, not below zero; may be infinite.
    pub upper: &'a [f64],
    /// ε; needs `Equality::None` or `Sum` where it is not zero.
    pub epsilon: f64,
    /// D, added to the diagonal; none: zero.
    pub ridge: Option<&'a [f64]>,
    /// The equalities.
    pub equality: Equality,
    /// Feasible positive and negative shares to start from; none: zero.
    pub start: Option<&'a Start>,
    /// The fold of each example and how many folds there are, where held-out scores are wanted as well.
    pub folds: Option<(&'a [u32], usize)>,
}

/// Where to start: β = plus + minus.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// Positive shares, between 0 and u.
    pub plus: Vec<f64>,
    /// Negative shares, between l and 0.
    pub minus: Vec<f64>,
    /// What is known of the start; none: its state is computed.
    pub known: Option<Known>,
}

/// Facts about a start that spare the solver their computation.
#[derive(Clone, Debug)]
pub struct Known {
    /// s = c − (K + D)β.
    pub state: Vec<f64>,
    /// True if few variables will move, so that the others are left out at once.
    pub nearly_solved: bool,
}

impl Start {
    /// The shares of a β.
    pub fn of(beta: &[f64]) -> Self {
        let (plus, minus) = (beta.iter().map(|b| b.max(0.0)).collect(), beta.iter().map(|b| b.min(0.0)).collect());
        Self { plus, minus, known: None }
    }
}

/// When to stop, and how much memory and how many threads to take.
#[derive(Clone, Copy, Debug)]
pub struct SmoOptions {
    /// The largest violation that is left.
    pub tolerance: f64,
    /// The most steps; 0 for LIBSVM's limit, 100 n but at least ten million.
    pub max_iterations: usize,
    /// Bytes for rows of K.
    pub cache: usize,
    /// Threads that may divide a large problem.
    pub threads: usize,
    /// True if most rows will be asked for sooner or later.
    pub most_rows: bool,
}

/// The solution with its evidence.
#[derive(Clone, Debug)]
pub struct Solution {
    /// β.
    pub beta: Vec<f64>,
    /// The multipliers of the equalities: the bias b of f(x) = Σ β_i κ(x_i, x) + b for `Sum`, one for each sign for
    /// `Signs`, zero for `None`.
    pub offsets: [f64; 2],
    /// Number of those that no free variable fixes, but those next to them on both sides, which need not have a multiplier.
    pub loose: usize,
    /// s = c − (K + D)β at the end.
    pub state: Vec<f64>,
    /// ½ βᵀ(K + D)β − cᵀβ + ε Σ|β|.
    pub objective: f64,
    /// βᵀKβ = ‖w‖².
    pub squared_norm: f64,
    /// The violation: how far the gradients of variables that may rise stand above those of variables that may fall.
    pub violation: f64,
    /// Steps taken.
    pub iterations: usize,
    /// Rows of K that were computed, of whatever width.
    pub rows: usize,
    /// Entries of K that were computed.
    pub evaluations: u64,
    /// Status of the solver.
    pub status: Status,
    /// True if `state` is up to date for every example; not so only after an interruption in a shrunken problem.
    pub whole: bool,
    /// f(x_t) of solutions without the fold of x_t, where folds were given.
    pub held_out: Option<Vec<f64>>,
}

/// The error of a sum of kernel values in single precision, relative to the sum of their sizes.
const ROW_ERROR: f64 = 1e-6;
/// Columns below which a further thread costs more than it brings.
const COLUMNS_PER_THREAD: usize = 2048;

/// Solves a problem. `workspace` is memory that may be used again for the next.
pub fn smo(
    problem: &Problem<'_>,
    options: &SmoOptions,
    workspace: &mut Workspace,
    watch: &dyn Monitor,
) -> Result<Solution, SolveError> {
    if chunk::pays(problem, options)
        && let Some(solution) = chunk::solve(problem, options, workspace, watch)?
    {
        return Ok(solution);
    }
    directly(problem, options, workspace, watch)
}

/// Solves a problem without a chunk.
fn directly(
    problem: &Problem<'_>,
    options: &SmoOptions,
    workspace: &mut Workspace,
    watch: &dyn Monitor,
) -> Result<Solution, SolveError> {
    let nearly_solved =
        problem.start.is_some_and(|start| start.known.as_ref().is_some_and(|known| known.nearly_solved));
    // of a problem that is nearly solved, the few variables that move are left at once
    let several = nearly_solved && problem.gram.panel_rows() > 1;
    if several || rounds_pay(problem.gram.as_ref(), &[problem.linear.len()], options.cache) {
        return rounds::solve_one(problem, options, workspace, watch);
    }
    by_team(problem, options, workspace, watch)
}

/// Solves a problem with threads that divide its columns.
fn by_team(
    problem: &Problem<'_>,
    options: &SmoOptions,
    workspace: &mut Workspace,
    watch: &dyn Monitor,
) -> Result<Solution, SolveError> {
    let n = problem.linear.len();
    let threads = options.threads.min(n / COLUMNS_PER_THREAD).max(1);
    let team = Team::new(threads);
    let columns = Columns { gram: Arc::clone(&problem.gram), ranges: problem.columns.to_vec() };
    let work = |place: usize, workspace: Workspace| {
        let part = part_of(n, place, threads);
        let mut run = Run::new(team.member(place), problem, options, watch);
        let mut level = Level::new(problem, columns.clone(), part, options.cache / threads, workspace);
        run.start(problem, &mut level)?;
        let (level, extremes) = run.descend(level, options.tolerance, 0)?;
        let (level, held_out) = run.hold_out(problem, level, &extremes, options.tolerance)?;
        Ok::<_, SolveError>((run, level, extremes, held_out))
    };
    let mine = std::mem::take(workspace);
    let mut parts = if threads == 1 {
        vec![work(0, mine)?]
    } else {
        std::thread::scope(|scope| {
            let others: Vec<_> =
                (1..threads).map(|place| scope.spawn(move || work(place, Workspace::default()))).collect();
            let first = work(0, mine);
            std::iter::once(first)
                .chain(others.into_iter().map(|handle| handle.join().unwrap_or_else(|e| std::panic::resume_unwind(e))))
                .collect::<Result<Vec<_>, _>>()
        })?
    };
    let state: Vec<f64> = parts.iter().flat_map(|(_, level, ..)| &level.s[..level.part.len()]).copied().collect();
    let held_out: Option<Vec<Vec<f64>>> = parts.iter_mut().map(|part| part.3.take()).collect();
    let (run, level, extremes, _) = parts.swap_remove(0);
    let mut solution = finish(problem, &run, &level, &extremes, state);
    solution.held_out = held_out.map(|parts| held_out::complete(problem, &solution, parts.concat()));
    *workspace = level.into_workspace();
    Ok(solution)
}

/// The columns of a member: whole words, as even as they can be.
fn part_of(n: usize, place: usize, threads: usize) -> Range<usize> {
    let words = n.div_ceil(passes::WORD);
    let cut = |p: usize| (words * p / threads * passes::WORD).min(n);
    cut(place)..cut(place + 1)
}

fn finish(
    problem: &Problem<'_>,
    run: &Run<'_>,
    level: &Level,
    extremes: &passes::Extremes,
    state: Vec<f64>,
) -> Solution {
    let n = state.len();
    let beta: Vec<f64> = (0..n).map(|t| level.v.plus[t] + level.v.minus[t]).collect();
    let (c, epsilon) = (problem.linear, problem.epsilon);
    // (K + D)β = c − s
    let quadratic: f64 = (0..n).map(|t| beta[t] * (c[t] - state[t])).sum();
    let ridge: f64 = problem.ridge.map_or(0.0, |d| (0..n).map(|t| beta[t] * beta[t] * d[t]).sum());
    let linear: f64 = (0..n).map(|t| epsilon * beta[t].abs() - c[t] * beta[t]).sum();
    let groups = if run.reading == Reading::Grouped { 2 } else { 1 };
    let (mut offsets, mut loose) = ([0.0; 2], 0);
    if problem.equality != Equality::None {
        for (group, offset) in offsets.iter_mut().enumerate().take(groups) {
            let (found, fixed) = height(level, run.reading, group, &state, extremes);
            *offset = found;
            loose += usize::from(!fixed);
        }
    }
    Solution {
        objective: 0.5 * quadratic + linear,
        squared_norm: length(quadratic - ridge, &beta, &state, c),
        violation: run.violation(extremes).0.max(0.0),
        beta,
        offsets,
        loose,
        state,
        iterations: run.iterations,
        rows: run.rows,
        evaluations: run.evaluations,
        status: run.status.unwrap_or(Status::Converged),
        whole: run.whole,
        held_out: None,
    }
}

/// ‖w‖², which rounding may put below zero; a kernel that is not positive definite may truly do so.
fn length(squared: f64, beta: &[f64], state: &[f64], linear: &[f64]) -> f64 {
    let size: f64 = beta.iter().zip(state).zip(linear).map(|((b, s), c)| (b * (c - s)).abs()).sum();
    if squared < 0.0 && -squared <= ROW_ERROR * size { 0.0 } else { squared }
}

/// The height at which rising and falling meet, and whether free variables fix it: that of every free variable; without any, the
/// middle of what bounds allow.
fn height(level: &Level, reading: Reading, group: usize, state: &[f64], extremes: &passes::Extremes) -> (f64, bool) {
    let (mut sum, mut count) = (0.0, 0_usize);
    for (t, &s) in state.iter().enumerate() {
        let (rises, falls) = level.v.heights(t, s, reading, group);
        if let (Some(a), Some(b)) = (rises, falls)
            && a == b
        {
            sum += a;
            count += 1;
        }
    }
    let (top, bottom) = (extremes.top[group].value, extremes.bottom[group].value);
    if count > 0 {
        return (sum / count as f64, true);
    }
    let middle = match (top.is_finite(), bottom.is_finite()) {
        (true, true) => f64::midpoint(top, bottom),
        (true, false) => top,
        (false, true) => bottom,
        (false, false) => 0.0,
    };
    (middle, false)
}
