//! The primal–dual interior point method.
//!
//! With α = α⁺ − α⁻ and the price g_j = K_jᵀβ of a column, optimality is
//! ```text
//! α⁺ ⟂ λ − g      α⁻ ⟂ λ + g      1ᵀβ = 0
//! σ(y − f) − e − φ′(v) − ξ⁺ + ξ⁻ = 0      ξ⁺ ⟂ upper − v      ξ⁻ ⟂ v − lower
//! ```
//! where β = Σ σv over the branches of an example: one (σ = 1, v = β) unless its loss has a tube of width e, then one for either
//! side. φ is what ℓ* is between its bounds: ½ρv², or an entropy for the logistic loss. Products of pairs (⟂) are drawn to μ, and μ
//! to zero. α⁺ and α⁻ share their columns and every branch its row, so a step costs one factorisation (`reduced.rs`). Prices
//! start within ±λ and stay there, since they are computed afresh from β: the dual is feasible but for 1ᵀβ = 0.
//!
//! # Source
//! Mehrotra (1992), On the implementation of a primal–dual interior point method, SIAM J. Optim. 2; Mika (2002), App. A.

use super::barrier::Barrier;
use super::columns::Working;
use super::crossover::{Ending, finish, nothing, sharpened};
use super::terms::Terms;
use super::{SparseOptions, SparseProgramme, SparseSolution};
use crate::linalg::SolveError;
use crate::watch::{Monitor, Phase, Progress, Status};

/// Largest number of steps where no limit is given: twenty are usual.
const DEFAULT_MAX_STEPS: usize = 200;
/// Largest gap, as a share of the objective, at which a crossover to the solution itself is tried.
const CROSSOVER_GAP: f64 = 1e-3;
/// Share of its tolerance to which a master is solved again that came near the solution but not onto it.
const TOLERANCE_SHARE: f64 = 1e-3;
/// After so many steps in which the gap did not become less nothing more is expected; far from the end four times as many.
const MAX_STALLED_STEPS: usize = 6;

/// The end of a master problem.
pub(super) struct Inner {
    /// α of the master's columns.
    pub(super) alpha: Vec<f64>,
    pub(super) offset: f64,
    /// f of the examples that count.
    pub(super) scores: Vec<f64>,
    /// β, feasible for the master.
    pub(super) beta: Vec<f64>,
    pub(super) objective: f64,
    pub(super) dual: f64,
    pub(super) iterations: usize,
    pub(super) status: Status,
    /// True if it is the solution of the system that zeros and bounds leave, and no longer a point inside.
    pub(super) sharp: bool,
}

impl Inner {
    pub(super) fn gap(&self) -> f64 {
        self.objective - self.dual
    }
}

/// Solves a programme with all columns at once.
///
/// # Use when
/// Most coefficients are expected not to be zero; else [`super::column_generation()`] is faster.
///
/// # Cost
/// Ten to thirty steps of nm min(n, m) operations and a factorisation; K is stored.
///
/// # Errors
/// As [`super::solve`].
pub fn interior_point(
    programme: &SparseProgramme<'_>,
    options: &SparseOptions,
    watch: &dyn Monitor,
) -> Result<SparseSolution, SolveError> {
    let terms = Terms::new(programme)?;
    programme.columns.finite()?;
    // streamed values are seen here for the first time
    if let (Some(zero), _) = nothing(programme, &terms, options.tolerance)? {
        return Ok(zero);
    }
    let (_, m) = programme.columns.shape();
    let matrix = programme.columns.whole();
    let x = Working::new(&matrix, m, &terms.rows, terms.bias);
    let limit = if options.max_iterations == 0 { DEFAULT_MAX_STEPS } else { options.max_iterations };
    let inner = master(&x, &terms, options.tolerance, limit, watch);
    let inner = settled(&x, &terms, inner, (options.tolerance, limit), watch);
    let which: Vec<usize> = (0..m).collect();
    finish(programme, &terms, &Ending { x: &x, which: &which, inner, tolerance: options.tolerance }, None)
}

/// Σ of products that are not to be told from the optimum: a part of the objective, or rounding in what zero scores cost.
pub(super) fn enough(terms: &Terms<'_>, tolerance: f64, objective: f64) -> f64 {
    tolerance * objective + 1e-14 * terms.losses(&vec![0.0; terms.len()])
}

/// Solves for the columns of x.
pub(super) fn master(x: &Working, terms: &Terms<'_>, tolerance: f64, limit: usize, watch: &dyn Monitor) -> Inner {
    let barrier = Barrier::new(x, terms);
    let (mut point, level) = barrier.begin();
    let floor = enough(terms, 0.0, 0.0);
    let mut state = barrier.look(&point);
    let mut best = barrier.certify(&point, &state);
    let (mut steps, mut stalled) = (0, 0);
    best.status = loop {
        let progress = Progress::new(Phase::new("interior point"), steps).gap(best.gap());
        if let Err(stop) = watch.alive(progress) {
            break stop.into();
        }
        if best.gap() <= tolerance * best.objective + floor {
            break Status::Converged;
        }
        let patience =
            if best.gap() <= CROSSOVER_GAP * best.objective { MAX_STALLED_STEPS } else { 4 * MAX_STALLED_STEPS };
        if steps >= limit || stalled > patience || barrier.step(&mut point, &state, level).is_none() {
            break Status::IterationLimit;
        }
        steps += 1;
        state = barrier.look(&point);
        let now = barrier.certify(&point, &state);
        stalled = if now.gap() < 0.9 * best.gap() { 0 } else { stalled + 1 };
        if now.gap() < best.gap() {
            best = now;
            if best.gap() <= CROSSOVER_GAP * best.objective
                && let Some(sharp) = sharpened(x, terms, &best, tolerance)
            {
                best = sharp;
                break Status::Converged;
            }
        }
    };
    best.iterations = steps;
    best
}

/// The same master once more where it ended inside, near enough but with nothing exactly zero: nearer to the solution it is
/// easier to tell what is.
pub(super) fn settled(
    x: &Working,
    terms: &Terms<'_>,
    inner: Inner,
    (tolerance, limit): (f64, usize),
    watch: &dyn Monitor,
) -> Inner {
    if inner.sharp || inner.status != Status::Converged {
        return inner;
    }
    let steps = inner.iterations;
    let again = master(x, terms, TOLERANCE_SHARE * tolerance, limit.saturating_sub(steps).max(1), watch);
    if again.sharp { Inner { iterations: steps + again.iterations, ..again } } else { inner }
}
