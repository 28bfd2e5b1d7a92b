//! Chunking: a large problem is solved on the examples that are likely to get a multiplier, then on all.
//!
//! Most examples of a large problem never get one, yet each step passes over all of them, and each row is computed for all of them, until
//! shrinking has found them out. Here a random sample finds them out beforehand:
//! 1. the problem of one example in eight is solved, with bounds and prices eight times as high;
//! 2. its function is evaluated on all examples; those that would violate the conditions of optimality without a multiplier, and some more that
//!    come next, are the chunk;
//! 3. the problem of the chunk is solved;
//! 4. the state of all other examples is computed, and the problem of all is solved from there: mostly nothing is left to do.
//!
//! No kernel value of 4. is kept, so that memory holds rows over the chunk only.
//!
//! # Source
//! Boser, Guyon & Vapnik (1992), A training algorithm for optimal margin classifiers, §3, and Osuna, Freund & Girosi (1997), An improved
//! training algorithm for support vector machines, for chunks to which violators are added; here shrinking adds them (`shrink.rs`).

use super::passes;
use super::slots::Columns;
use super::{Equality, Known, Problem, SmoOptions, Solution, Start, Workspace, directly, smo};
use crate::linalg::SolveError;
use crate::parallel;
use crate::seed::Seed;
use crate::watch::{Monitor, Phase, Progress, Status};
use std::sync::Arc;

/// Smallest number of variables of a problem that is solved so.
const MIN_VARIABLES: usize = 8192;
/// One variable of so many is in the sample.
const ONE_IN: usize = 8;
/// Factor of the tolerance to which the sample is solved: it is another problem anyway.
const SAMPLE_TOLERANCE_FACTOR: f64 = 30.0;
/// Size of the chunk, in parts of the number of examples that would violate the conditions without a multiplier.
const CHUNK_FACTOR: f64 = 1.15;
/// Largest share of the variables that a chunk may have for it to pay: if all of its rows can be kept, and otherwise.
const MAX_SHARE_IN_MEMORY: f64 = 0.8;
const MAX_SHARE: f64 = 0.6;
/// Products with an example that cost as much as to pack it: memory that is touched for the first time is dear.
const PRODUCTS_PER_PACKING: usize = 256;
/// Rows whose products are taken between two looks at the monitor.
pub(super) const ROWS_BETWEEN_LOOKS: usize = 480;
/// Rows and columns of a product that is computed in one go.
const ROWS_AT_ONCE: usize = 48;
const COLUMNS_AT_ONCE: usize = 1024;

/// True if a problem is large, with rows that are computed many at once, and has neither a start of its own nor a limit of steps. (Where a row costs little beside the
/// step that asks for it, solving twice took up to ten times as long.)
pub(super) fn pays(problem: &Problem<'_>, options: &SmoOptions) -> bool {
    problem.linear.len() >= MIN_VARIABLES
        && problem.start.is_none()
        && options.max_iterations == 0
        && problem.equality != Equality::Signs
        && problem.gram.is_symmetric()
        && problem.gram.panel_rows() > 1
}

/// Some variables of a problem, as a problem of their own.
struct Part {
    columns: Columns,
    diagonal: Vec<f64>,
    linear: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    ridge: Option<Vec<f64>>,
    epsilon: f64,
    equality: Equality,
}

impl Part {
    /// The variables at some places, each of which stands for `weight` of them.
    fn of(problem: &Problem<'_>, whole: &Columns, places: &[usize], weight: f64) -> Self {
        let pick = |values: &[f64]| -> Vec<f64> { places.iter().map(|&t| values[t]).collect() };
        let times = |values: Vec<f64>, factor: f64| -> Vec<f64> { values.into_iter().map(|v| v * factor).collect() };
        Self {
            columns: whole.choose(places),
            diagonal: pick(problem.diagonal),
            linear: pick(problem.linear),
            lower: times(pick(problem.lower), weight),
            upper: times(pick(problem.upper), weight),
            ridge: problem.ridge.map(|d| times(pick(d), weight.recip())),
            epsilon: problem.epsilon,
            equality: problem.equality,
        }
    }

    fn problem(&self) -> Problem<'_> {
        Problem {
            gram: Arc::clone(&self.columns.gram),
            columns: &self.columns.ranges,
            diagonal: &self.diagonal,
            linear: &self.linear,
            lower: &self.lower,
            upper: &self.upper,
            epsilon: self.epsilon,
            ridge: self.ridge.as_deref(),
            equality: self.equality,
            start: None,
            folds: None,
        }
    }
}

/// Work that was done before the last problem.
#[derive(Default)]
struct Spent {
    iterations: usize,
    rows: usize,
    evaluations: u64,
}

impl Spent {
    fn add(&mut self, solution: &Solution) {
        self.iterations += solution.iterations;
        self.rows += solution.rows;
        self.evaluations += solution.evaluations;
    }

    fn products(&mut self, rows: usize, columns: usize) {
        self.rows += rows;
        self.evaluations += (rows * columns) as u64;
    }
}

/// Solves a problem by way of a chunk; none where the chunk would be nearly everything, or the work was stopped before there was one.
pub(super) fn solve(
    problem: &Problem<'_>,
    options: &SmoOptions,
    workspace: &mut Workspace,
    watch: &dyn Monitor,
) -> Result<Option<Solution>, SolveError> {
    let n = problem.linear.len();
    let whole = Columns { gram: Arc::clone(&problem.gram), ranges: problem.columns.to_vec() };
    // packed as a whole first, so that parts have the layout and the values of the whole
    let _ = problem.gram.row_group();
    let mut spent = Spent::default();

    // 1. the problem of a sample
    let places = sample(n);
    let part = Part::of(problem, &whole, &places, ONE_IN as f64);
    let loose = SmoOptions { tolerance: SAMPLE_TOLERANCE_FACTOR * options.tolerance, ..*options };
    let found = smo(&part.problem(), &loose, workspace, watch)?;
    drop(part);
    if found.status != Status::Converged {
        return Ok(None);
    }
    spent.add(&found);

    // 2. its function on all examples, and the chunk
    let mut state = problem.linear.to_vec();
    let changes = nonzero(&found.beta, &places);
    spent.products(changes.len(), n);
    for some in changes.chunks(ROWS_BETWEEN_LOOKS) {
        if watch.alive(Progress::new(Phase::keeping("smo"), found.iterations)).is_err() {
            return Ok(None);
        }
        subtract_products(&whole, some, &mut state);
    }
    let chunk = choose(problem, &state, found.offsets[0]);
    let fits = |variables: usize| (variables as f64).powi(2) * size_of::<f32>() as f64 <= options.cache as f64;
    let most = if fits(chunk.len()) { MAX_SHARE_IN_MEMORY } else { MAX_SHARE };
    if chunk.len() as f64 > most * n as f64 || chunk.len() < 2 {
        return Ok(None);
    }

    // 3. the problem of the chunk
    let part = Part::of(problem, &whole, &chunk, 1.0);
    let found = directly(&part.problem(), &SmoOptions { most_rows: true, ..*options }, workspace, watch)?;
    drop(part);
    spent.add(&found);
    let mut beta = vec![0.0; n];
    chunk.iter().zip(&found.beta).for_each(|(&t, &b)| beta[t] = b);
    let mut stopped = !matches!(found.status, Status::Converged | Status::IterationLimit);

    // 4. the state of all others, and the problem of all from there
    let mut state = problem.linear.to_vec();
    if !stopped {
        let changes = nonzero(&found.beta, &chunk);
        let others = complement(&chunk, n);
        // the columns of the chunk are computed once more where that costs less than packing all others
        let all = chunk.len() * changes.len() <= PRODUCTS_PER_PACKING * others.len();
        let apart = if all { None } else { Some(Apart::new(&whole, &others, &changes)) };
        let (columns, changes) = match &apart {
            Some(apart) => (&apart.columns, &apart.changes),
            None => (&whole, &changes),
        };
        let mut outside = if all { state.clone() } else { others.iter().map(|&t| state[t]).collect() };
        spent.products(changes.len(), outside.len());
        for some in changes.chunks(ROWS_BETWEEN_LOOKS) {
            if watch.alive(Progress::new(Phase::keeping("smo"), found.iterations)).is_err() {
                stopped = true;
                break;
            }
            subtract_products(columns, some, &mut outside);
        }
        if all {
            state = outside;
        } else {
            others.iter().zip(outside).for_each(|(&t, s)| state[t] = s);
        }
    }
    chunk.iter().zip(&found.state).for_each(|(&t, &s)| state[t] = s);
    if stopped {
        let status = match watch.alive(Progress::new(Phase::keeping("smo"), found.iterations)) {
            Err(stop) => stop.into(),
            Ok(()) => found.status,
        };
        return Ok(Some(Solution { beta, state, status, whole: false, held_out: None, ..found }));
    }
    let start = Start { known: Some(Known { state, nearly_solved: true }), ..Start::of(&beta) };
    let problem = Problem { start: Some(&start), gram: Arc::clone(&problem.gram), ..*problem };
    let mut solution = directly(&problem, options, workspace, watch)?;
    solution.iterations += spent.iterations;
    solution.rows += spent.rows;
    solution.evaluations += spent.evaluations;
    Ok(Some(solution))
}

/// One place at random of each eight that follow one another, so that no order of the examples makes the sample one-sided.
fn sample(n: usize) -> Vec<usize> {
    let mut random = Seed(0).stream("sample of a chunk");
    (0..n).step_by(ONE_IN).map(|first| first + random.below(ONE_IN.min(n - first))).collect()
}

/// Variables that would move from zero if all heights were to meet at `offset`, and of the others those that are nearest to that; in order.
fn choose(problem: &Problem<'_>, state: &[f64], offset: f64) -> Vec<usize> {
    // an equality lets heights meet anywhere, else they meet at zero
    let middle = if problem.equality == Equality::None { 0.0 } else { offset };
    let excess = |t: usize| {
        let rises = if problem.upper[t] > 0.0 { state[t] - problem.epsilon - middle } else { f64::NEG_INFINITY };
        let falls = if problem.lower[t] < 0.0 { middle - (state[t] + problem.epsilon) } else { f64::NEG_INFINITY };
        rises.max(falls)
    };
    let mut ranked: Vec<(f64, usize)> = (0..state.len()).map(|t| (excess(t), t)).collect();
    let violating = ranked.iter().filter(|(excess, _)| *excess > 0.0).count();
    let size = ((CHUNK_FACTOR * violating as f64) as usize).min(ranked.len());
    if size > 0 && size < ranked.len() {
        ranked.select_nth_unstable_by(size - 1, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    }
    let mut chunk: Vec<usize> = ranked[..size].iter().map(|r| r.1).collect();
    chunk.sort_unstable();
    chunk
}

/// Columns and the rows of some changes as a matrix of their own, so that nothing is computed for all other columns.
pub(super) struct Apart {
    pub(super) columns: Columns,
    /// The changes, by their places in that matrix.
    pub(super) changes: Vec<(usize, f64)>,
}

impl Apart {
    pub(super) fn new(whole: &Columns, others: &[usize], changes: &[(usize, f64)]) -> Self {
        let together: Vec<usize> = others.iter().copied().chain(changes.iter().map(|c| c.0)).collect();
        let moved = changes.iter().enumerate().map(|(k, c)| (others.len() + k, c.1)).collect();
        Self { columns: whole.choose(&together), changes: moved }
    }
}

/// The places and values of what is not zero.
fn nonzero(values: &[f64], places: &[usize]) -> Vec<(usize, f64)> {
    places.iter().copied().zip(values.iter().copied()).filter(|(_, value)| *value != 0.0).collect()
}

/// The numbers below n that are not in a rising list.
pub(super) fn complement(places: &[usize], n: usize) -> Vec<usize> {
    let mut rest = places.iter().copied().peekable();
    (0..n).filter(|&t| rest.next_if_eq(&t).is_none()).collect()
}

/// s ← s − K β at the first columns, by all threads, each for some of the columns; every column adds up the changes in their order.
pub(super) fn subtract_products(columns: &Columns, changes: &[(usize, f64)], s: &mut [f64]) {
    let (rows, weights): (Vec<usize>, Vec<f64>) = changes.iter().copied().unzip();
    let len = s.len();
    parallel::strips(s, COLUMNS_AT_ONCE, |strip, state| {
        let part = strip * COLUMNS_AT_ONCE..len.min((strip + 1) * COLUMNS_AT_ONCE);
        let mut lines = vec![0.0_f32; ROWS_AT_ONCE.min(rows.len()) * part.len()];
        for (rows, weights) in rows.chunks(ROWS_AT_ONCE).zip(weights.chunks(ROWS_AT_ONCE)) {
            columns.pass_by(rows, &part, &mut lines);
            passes::absorb(state, weights, &lines, part.len());
        }
    });
}
