//! Programmes with few coefficients: any loss with the penalty ‖α‖₁.
//!
//! ```text
//! primal  min over α, b   Σ_i w_i ℓ(y_i, f_i) + λ Σ_j |α_j|      f = Kα + 1b, K of n × m numbers
//! dual    max over β      yᵀβ − Σ_i w_i ℓ*(β_i / w_i)            |Kᵀβ| ≤ λ, and 1ᵀβ = 0 where there is a bias
//! ```
//! With the squared loss it is sparse KFD (a lasso on the columns of K), with absolute errors linear sparse KFD, with the hinge
//! a linear programming machine. Three solvers find the same optimum: [`interior_point()`] on all columns,
//! [`coordinate_descent()`] for smooth losses (which also makes paths over λ) and [`column_generation()`], which never looks at
//! more columns than it needs and ends with a proof over all of them. [`solve`] takes the fastest.
//!
//! Every solution comes with a dual point made feasible, so `objective − dual_objective` bounds what is left to gain.
//!
//! # Source
//! Mika (2002), (3.53)–(3.56), §3.5.5, §3.5.6 and App. A; the reduced systems and the conditions of optimality are worked out
//! in the files.

mod barrier;
mod certificate;
mod column_generation;
mod columns;
mod coordinate_descent;
mod crossover;
mod interior_point;
mod offset;
mod path;
mod reduced;
mod terms;
#[cfg(test)]
mod tests;

pub use column_generation::column_generation;
pub use columns::Columns;
pub use coordinate_descent::coordinate_descent;
pub use interior_point::interior_point;
pub use path::{lambda_max, path};

use super::Loss;
use crate::linalg::SolveError;
use crate::seed::Seed;
use crate::watch::{Monitor, Status};

/// Distance of targets from zero, in ranges of theirs, from which on their middle is taken away first.
const FAR: f64 = 10.0;

/// min Σ_i w_i ℓ(y_i, f_i) + λ‖α‖₁ with f = Kα + 1b.
#[derive(Clone, Copy)]
pub struct SparseProgramme<'a> {
    /// K.
    pub columns: Columns<'a>,
    /// y, one for each row of K; ±1 for losses of margins.
    pub y: &'a [f64],
    /// w_i, none below zero; all one where there are none. An example of weight zero takes no part.
    pub weights: Option<&'a [f64]>,
    /// ℓ.
    pub loss: Loss,
    /// λ > 0.
    pub lambda: f64,
    /// True if there is a b, which is never penalised; else b = 0.
    pub bias: bool,
    /// An α to start from, of a neighbouring problem: its columns are looked at first. The answer does not depend on it but
    /// for rounding.
    pub start: Option<&'a [f64]>,
}

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub struct SparseOptions {
    /// The duality gap as a part of the objective.
    pub tolerance: f64,
    /// The most steps: of Newton's method in all masters together, or passes over coordinates; 0 for no limit of one's own.
    pub max_iterations: usize,
    /// The columns that are priced first where K is streamed.
    pub seed: Seed,
}

impl Default for SparseOptions {
    fn default() -> Self {
        Self { tolerance: 1e-8, max_iterations: 0, seed: Seed(0) }
    }
}

/// The solution with its evidence, computed afresh from α, b and β.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseSolution {
    /// α, m numbers; those that are not needed are exactly zero.
    pub alpha: Vec<f64>,
    /// b.
    pub offset: f64,
    /// β, n numbers, feasible for the dual to rounding.
    pub beta: Vec<f64>,
    /// f = Kα + 1b, n numbers.
    pub scores: Vec<f64>,
    /// Σ w ℓ + λ‖α‖₁.
    pub objective: f64,
    /// The dual objective of β, never above the optimum but for rounding.
    pub dual_objective: f64,
    /// Steps.
    pub iterations: usize,
    /// Status of the solver.
    pub status: Status,
    /// Remarks for a careful user, in sentences.
    pub notes: Vec<String>,
}

impl SparseSolution {
    /// The largest distance of the objective from its optimum.
    pub fn gap(&self) -> f64 {
        self.objective - self.dual_objective
    }

    /// Number of coefficients that are not zero.
    pub fn support(&self) -> usize {
        self.alpha.iter().filter(|a| **a != 0.0).count()
    }
}

/// Solves the programme by the solver that suits it.
///
/// # Use when
/// Few examples shall carry the function, whatever the loss.
///
/// # Cost
/// A few products with K, and systems with as many unknowns as coefficients come into question: far less than n³ where the
/// solution is sparse, some ten times n³ where it is not.
///
/// # Errors
/// If the programme is not one: sizes that do not fit, λ that is not positive, targets that a loss does not take, or values
/// of K that are not finite.
pub fn solve(
    programme: &SparseProgramme<'_>,
    options: &SparseOptions,
    watch: &dyn Monitor,
) -> Result<SparseSolution, SolveError> {
    let terms = terms::Terms::new(programme)?;
    match far_from_zero(programme, &terms) {
        // the offset takes the middle up, and everything else is the same as for targets around zero
        Some(middle) => {
            let y: Vec<f64> = programme.y.iter().map(|y| y - middle).collect();
            let mut found = by_what_suits(&SparseProgramme { y: &y, ..*programme }, options, watch)?;
            found.offset += middle;
            found.scores.iter_mut().for_each(|f| *f += middle);
            Ok(found)
        }
        None => by_what_suits(programme, options, watch),
    }
}

/// A middle of the targets that lies farther from zero than they are apart, so that rounding in the losses of zero scores would be taken for
/// what is left to gain. None without an offset, and none of the sides of two classes.
fn far_from_zero(programme: &SparseProgramme<'_>, terms: &terms::Terms<'_>) -> Option<f64> {
    if !programme.bias || programme.loss.is_margin() {
        return None;
    }
    let (low, high) = terms.y.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), y| (l.min(*y), h.max(*y)));
    let middle = f64::midpoint(low, high);
    (middle.abs() > FAR * (high - low)).then_some(middle)
}

fn by_what_suits(
    programme: &SparseProgramme<'_>,
    options: &SparseOptions,
    watch: &dyn Monitor,
) -> Result<SparseSolution, SolveError> {
    let smooth = terms::Terms::new(programme)?.steepest().is_some();
    if smooth && programme.columns.at_hand() {
        let found = coordinate_descent(programme, options, watch)?;
        if found.status != Status::IterationLimit || options.max_iterations > 0 {
            return Ok(found);
        }
    }
    column_generation(programme, options, watch)
}
