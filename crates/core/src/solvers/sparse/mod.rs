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
    let smooth = terms::Terms::new(programme)?.steepest().is_some();
    if smooth && programme.columns.at_hand() {
        let found = coordinate_descent(programme, options, watch)?;
        if found.status != Status::IterationLimit || options.max_iterations > 0 {
            return Ok(found);
        }
    }
    column_generation(programme, options, watch)
}
