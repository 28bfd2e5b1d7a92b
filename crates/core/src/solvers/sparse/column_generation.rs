//! Column generation: a master problem on few columns, which others join where their price says so.
//!
//! The master is the programme on a subset of the columns, with the multipliers β. A column outside would change its coefficient
//! only if |K_jᵀβ| > λ, so those join, and columns that were not used for several rounds leave. Where K is streamed a random
//! batch of 59 columns is priced first (the best of 59 is among the best twentieth with probability 0.95), and all of
//! them only when the batch has nothing to offer. The end is a proof: β drawn until no price of any column is above λ.
//!
//! The master is solved the more sharply the nearer the end is: only the last ones need all digits.
//!
//! # Source
//! Mika (2002), §3.5.6, and Lemma 3.2 for the 59.

use super::certificate::{drawn, most};
use super::columns::{Columns, Working};
use super::crossover::{Ending, active, finish, nothing};
use super::interior_point::{Inner, enough, master, settled};
use super::terms::Terms;
use super::{SparseOptions, SparseProgramme, SparseSolution};
use crate::linalg::SolveError;
use crate::watch::{Monitor, Status};
use std::collections::BTreeMap;

/// Number of columns that are priced at random before all are, and join at first.
const BATCH: usize = 59;
/// Number of rounds after which a column that was not used leaves.
const MAX_IDLE_ROUNDS: usize = 2;
/// Largest number of rounds: every column joins long before.
const MAX_ROUNDS: usize = 500;
/// Largest number of steps of all masters where no limit is given.
const DEFAULT_MAX_STEPS: usize = 2000;

/// Solves a programme on as few columns as it takes.
///
/// # Use when
/// The solution is sparse, or K is too large to be held.
///
/// # Cost
/// One pass over K a round, of which there are five to fifteen; masters of n times the square of the columns in question.
///
/// # Errors
/// As [`super::solve`].
pub fn column_generation(
    programme: &SparseProgramme<'_>,
    options: &SparseOptions,
    watch: &dyn Monitor,
) -> Result<SparseSolution, SolveError> {
    let terms = Terms::new(programme)?;
    programme.columns.finite()?;
    let (zero, mut prices) = nothing(programme, &terms, options.tolerance)?;
    if let Some(zero) = zero {
        return Ok(zero);
    }
    let mut pool = Pool::new(programme, &terms, &prices);
    let mut random = options.seed.stream("column generation");
    let mut sharpness = 0.1_f64.max(options.tolerance);
    let limit = if options.max_iterations == 0 { DEFAULT_MAX_STEPS } else { options.max_iterations };
    let (_, m) = programme.columns.shape();
    let (mut steps, mut round) = (0, 0);
    loop {
        round += 1;
        let x = pool.working(&terms);
        let mut inner = master(&x, &terms, sharpness, limit.saturating_sub(steps).max(1), watch);
        steps += inner.iterations;
        inner.iterations = steps;
        pool.note_use(&active(&x, &terms, &inner));
        let stopped = !matches!(inner.status, Status::Converged | Status::IterationLimit);
        let last = stopped || steps >= limit || round >= MAX_ROUNDS;
        let gap = inner.objective - inner.dual;
        if !last && !programme.columns.at_hand() && pool.which.len() < m {
            let batch: Vec<usize> = (0..BATCH).map(|_| random.below(m)).filter(|j| !pool.holds(*j)).collect();
            if pool.join_batch(&terms, &batch, &inner) {
                continue;
            }
        }
        prices = programme.columns.prices(&terms.spread(&inner.beta))?;
        let (_, dual) = drawn(&terms, inner.beta.clone(), most(&prices));
        let good = enough(&terms, options.tolerance, inner.objective);
        if last || inner.objective - dual <= good {
            let was_sharp = inner.sharp;
            if !last {
                inner = settled(&x, &terms, inner, (options.tolerance, limit), watch);
            }
            // prices are known of the β that was priced
            let known = (inner.sharp == was_sharp).then_some(prices.as_slice());
            let ending = Ending { x: &x, which: &pool.which, inner, tolerance: options.tolerance };
            let mut solution = finish(programme, &terms, &ending, known)?;
            if solution.status == Status::IterationLimit {
                let left = solution.gap();
                solution.notes.push(format!("the duality gap is {left:.1e}; what is left to gain is at most that"));
            }
            return Ok(solution);
        }
        let joined = pool.join(&terms, &prices, round);
        // the master is sharper than what the columns outside can still bring
        let outside = (inner.objective - dual) / inner.objective;
        let wanted = if joined { 0.1 * outside } else { 0.1 * gap / inner.objective };
        sharpness = wanted.clamp(0.3 * options.tolerance, sharpness);
        if !joined && inner.status == Status::IterationLimit {
            // neither columns nor steps can bring more
            let ending = Ending { x: &x, which: &pool.which, inner, tolerance: options.tolerance };
            let mut solution = finish(programme, &terms, &ending, Some(&prices))?;
            if solution.status == Status::IterationLimit {
                let left = solution.gap();
                solution.notes.push(format!("rounding stopped the steps with a duality gap of {left:.1e}"));
            }
            return Ok(solution);
        }
    }
}

/// The columns in question.
struct Pool<'a> {
    columns: Columns<'a>,
    which: Vec<usize>,
    /// Rounds since each was used.
    idle: Vec<usize>,
    /// Computed columns of a streamed matrix.
    kept: BTreeMap<usize, Vec<f64>>,
}

impl<'a> Pool<'a> {
    /// The columns of a given start, and those with the largest prices at α = 0.
    fn new(programme: &SparseProgramme<'a>, terms: &Terms<'_>, prices: &[f64]) -> Self {
        let mut which: Vec<usize> = match terms.start {
            Some(start) => (0..start.len()).filter(|&j| start[j] != 0.0).collect(),
            None => Vec::new(),
        };
        if which.is_empty() {
            which = leading(prices, terms.lambda, BATCH);
        }
        which.sort_unstable();
        Self { columns: programme.columns, idle: vec![0; which.len()], which, kept: BTreeMap::new() }
    }

    fn holds(&self, column: usize) -> bool {
        self.which.binary_search(&column).is_ok()
    }

    /// The master's matrix.
    fn working(&mut self, terms: &Terms<'_>) -> Working {
        let (n, m) = self.columns.shape();
        let s = self.which.len();
        if s == m {
            return Working::new(&self.columns.whole(), m, &terms.rows, terms.bias);
        }
        if self.columns.at_hand() {
            return Working::new(&self.columns.gather(&self.which), s, &terms.rows, terms.bias);
        }
        let missing: Vec<usize> = self.which.iter().copied().filter(|j| !self.kept.contains_key(j)).collect();
        let fresh = self.columns.gather(&missing);
        for (k, &j) in missing.iter().enumerate() {
            self.kept.insert(j, (0..n).map(|i| fresh[i * missing.len() + k]).collect());
        }
        let mut values = vec![0.0; n * s];
        for (k, j) in self.which.iter().enumerate() {
            if let Some(column) = self.kept.get(j) {
                column.iter().enumerate().for_each(|(i, v)| values[i * s + k] = *v);
            }
        }
        Working::new(&values, s, &terms.rows, terms.bias)
    }

    /// Counts the rounds in which a column had no part in the solution.
    fn note_use(&mut self, active: &[usize]) {
        self.idle.iter_mut().for_each(|idle| *idle += 1);
        active.iter().for_each(|&k| self.idle[k] = 0);
    }

    /// Takes in the columns of a random batch whose price is above λ; whether there were any.
    fn join_batch(&mut self, terms: &Terms<'_>, batch: &[usize], inner: &Inner) -> bool {
        let values = self.columns.gather(batch);
        let prices = super::columns::transposed(&values, batch.len(), &terms.spread(&inner.beta));
        let mut found: Vec<usize> =
            batch.iter().zip(&prices).filter(|(_, p)| p.abs() > terms.lambda * 1.01).map(|(j, _)| *j).collect();
        found.sort_unstable();
        found.dedup();
        let any = !found.is_empty();
        self.take(found, false);
        any
    }

    /// Takes in the columns with the largest prices above λ, and lets idle ones go; whether any joined.
    fn join(&mut self, terms: &Terms<'_>, prices: &[f64], round: usize) -> bool {
        let used = self.idle.iter().filter(|idle| **idle == 0).count();
        let (m, count) = (prices.len(), used.max(BATCH));
        let mut outside = prices.to_vec();
        self.which.iter().for_each(|&j| outside[j] = 0.0);
        let found = leading(&outside, terms.lambda, count);
        let any = !found.is_empty();
        // late in the day columns only join, so that no two sets can alternate without end
        self.take(found, any && round < 50);
        if 3 * used > m || 4 * self.which.len() > 3 * m {
            self.which = (0..m).collect();
            self.idle = vec![0; m];
        }
        any
    }

    fn take(&mut self, found: Vec<usize>, drop: bool) {
        let mut all: Vec<(usize, usize)> = self.which.iter().copied().zip(self.idle.iter().copied()).collect();
        if drop {
            all.retain(|(_, idle)| *idle < MAX_IDLE_ROUNDS);
        }
        all.extend(found.into_iter().map(|j| (j, 0)));
        all.sort_unstable();
        (self.which, self.idle) = all.into_iter().unzip();
    }
}

/// The columns with the largest |price| above λ, at most so many.
fn leading(prices: &[f64], lambda: f64, count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..prices.len()).filter(|&j| prices[j].abs() > lambda * (1.0 + 1e-12)).collect();
    let sizes: Vec<f64> = prices.iter().map(|price| price.abs()).collect();
    crate::order::falling(&mut order, &sizes);
    order.truncate(count);
    order
}
