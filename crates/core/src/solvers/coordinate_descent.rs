//! Dual coordinate descent for linear machines.
//!
//! ```text
//! min over w  ½‖w‖² + Σ_i C_i ℓ(y_i, ⟨w, x_i⟩)        w = Σ_i c_i x_i at every step
//! ```
//! The dual has one variable for each example. A step minimises over one of them exactly: its gradient is one inner product
//! with w, its change one addition to w. Neither a matrix of pairs nor a line search is needed, and a pass over all examples
//! costs as much as reading them.
//!
//! Problems on the same examples are solved four side by side: what a row brings from memory then serves all of them. A row
//! is visited as long as one of the four has not left it aside, so the gain is less than it might be.
//!
//! # Source
//! Hsieh et al. (2008) for hinge losses, Ho & Lin (2012) for ε-insensitive losses, Yu, Huang & Lin (2011) for the logistic
//! loss; each file states its problem. Stopping and shrinking are LIBLINEAR's. Passes go through the examples in random
//! order, and less and less often to those that no longer move. Where rows are stored with their zeros, variables between
//! their bounds are now and then settled together (`free_variables.rs`).

mod descend;
mod design;
mod free_variables;
mod insensitive;
mod logistic;
mod margin;
#[cfg(test)]
mod tests;

pub use design::Design;

use crate::linalg::SolveError;
use crate::parallel;
use crate::seed::Seed;
use crate::watch::{Monitor, Status};
use descend::descend;
use design::Packed;
use free_variables::Free;
use insensitive::Insensitive;
use logistic::Logistic;
use margin::Margin;

/// ℓ(y, f).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinearLoss {
    /// max(0, 1 − yf), y = ±1.
    Hinge,
    /// max(0, 1 − yf)², y = ±1.
    SquaredHinge,
    /// log(1 + exp(−yf)), y = ±1.
    Logistic,
    /// max(0, |y − f| − ε).
    Insensitive(f64),
    /// max(0, |y − f| − ε)².
    SquaredInsensitive(f64),
}

/// Linear problems on the same examples.
pub struct LinearProblems<'a> {
    /// X.
    pub design: &'a Design,
    /// Number of problems.
    pub count: usize,
    /// y of an example (second) in a problem (first), ±1 for the losses of classifiers.
    pub targets: &'a (dyn Fn(usize, usize) -> f64 + Sync),
    /// C_i, none below zero; an example of no cost takes no part.
    pub costs: &'a [f64],
    /// ℓ.
    pub loss: LinearLoss,
}

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub struct DescentOptions {
    /// Hinge losses: the largest minus the smallest projected gradient of a pass. Logistic loss: the largest gradient.
    /// ε-insensitive losses: the summed violations of a pass as a part of those of the first.
    pub tolerance: f64,
    /// The most passes, each counted as the part of the examples that it visits; 0 for no limit.
    pub max_iterations: usize,
    /// The order of the examples.
    pub seed: Seed,
}

/// The solution with its evidence, all of it computed afresh from the dual variables.
#[derive(Clone, Debug)]
pub struct LinearSolution {
    /// w in the numbering of the design; [`Design::unpack`] turns it.
    pub weights: Vec<f64>,
    /// c_i with w = Σ c_i x_i.
    pub coefficients: Vec<f64>,
    /// ½‖w‖² + Σ C ℓ.
    pub primal: f64,
    /// The dual objective, never above the primal one of any w.
    pub dual: f64,
    /// The largest projected gradient.
    pub violation: f64,
    /// Passes.
    pub iterations: usize,
    /// Status of the solver.
    pub status: Status,
}

impl LinearSolution {
    /// Primal minus dual objective: how far the primal one is from its optimum at most.
    pub fn gap(&self) -> f64 {
        self.primal - self.dual
    }
}

/// The next step after a pass.
enum Verdict {
    /// Another one; the violation that was seen.
    GoOn(f64),
    /// Those that are left have converged: see whether all have.
    TakeAll,
    Done,
}

/// The dual variables of problems with one loss, and how they move: example i, problem b.
trait Loss {
    /// True if a step leads to the minimum, not only towards it.
    const EXACT_STEPS: bool;
    /// c_i.
    fn coefficient(&self, i: usize, b: usize) -> f64;
    /// Minimises over one variable, given the score of its example, and tells how c_i changed and how large its violation was;
    /// `None` (and nothing done) if it may be left aside.
    fn step(&mut self, i: usize, b: usize, score: f64) -> Option<(f64, f64)>;
    /// Judges a pass, which saw the `whole` or what was not left aside.
    fn end(&mut self, b: usize, whole: bool, tolerance: f64) -> Verdict;
    /// True if the variable stands between its bounds, in a problem that is quadratic there.
    fn is_free(&self, _i: usize, _b: usize) -> bool {
        false
    }
    /// The variable between its bounds, given the score of its example.
    fn free(&self, _i: usize, _b: usize, _score: f64) -> Option<Free> {
        None
    }
    /// Moves a free variable and tells how c_i changed.
    fn shift(&mut self, _i: usize, _b: usize, _change: f64) -> f64 {
        0.0
    }
    /// C_i ℓ(y_i, f).
    fn primal(&self, i: usize, b: usize, score: f64) -> f64;
    /// The term that the variable adds to the dual objective −½‖w‖² + Σ.
    fn dual(&self, i: usize, b: usize) -> f64;
    /// The size of the projected gradient where the score is this.
    fn violation(&self, i: usize, b: usize, score: f64) -> f64;
}

/// Problems that are solved side by side. Eight were no faster than four on text with 105 classes, and share less between
/// threads where classes are few.
const SIDE_BY_SIDE: usize = 4;

/// Solves the problems from zero, groups of them in parallel.
pub fn coordinate_descent(
    problems: &LinearProblems<'_>,
    options: &DescentOptions,
    watch: &dyn Monitor,
) -> Result<Vec<LinearSolution>, SolveError> {
    let squares = &problems.design.squares;
    assert!(problems.costs.len() == squares.len(), "one cost for each example");
    if let Some(i) = squares.iter().position(|s| !s.is_finite()) {
        return Err(SolveError::NotFinite { row: i + 1, column: i + 1 });
    }
    let groups: Vec<usize> = (0..problems.count).step_by(SIDE_BY_SIDE).collect();
    let solve = |g: usize| match problems.count - groups[g] {
        1 => group::<1>(problems, groups[g], options, watch),
        _ => group::<SIDE_BY_SIDE>(problems, groups[g], options, watch),
    };
    let solutions: Vec<Vec<LinearSolution>> = parallel::map(groups.len(), solve);
    let solutions: Vec<LinearSolution> = solutions.into_iter().flatten().collect();
    if solutions.iter().all(|s| s.primal.is_finite() && s.dual.is_finite()) {
        Ok(solutions)
    } else {
        Err(SolveError::NotFinite { row: 1, column: 1 })
    }
}

/// The problems from `first` on, up to B of them.
fn group<const B: usize>(
    problems: &LinearProblems<'_>,
    first: usize,
    options: &DescentOptions,
    watch: &dyn Monitor,
) -> Vec<LinearSolution> {
    let (squares, costs, count) = (&problems.design.squares, problems.costs, B.min(problems.count - first));
    // lanes without a problem repeat the last one and are never looked at
    let of = |i: usize| std::array::from_fn::<f64, B, _>(|b| (problems.targets)(first + b.min(count - 1), i));
    let y = (0..squares.len()).map(of);
    match problems.loss {
        LinearLoss::Hinge => solve::<_, B>(problems, Margin::new(y, costs, squares, false), count, options, watch),
        LinearLoss::SquaredHinge => {
            solve::<_, B>(problems, Margin::new(y, costs, squares, true), count, options, watch)
        }
        LinearLoss::Logistic => solve::<_, B>(problems, Logistic::new(y, costs, squares), count, options, watch),
        LinearLoss::Insensitive(epsilon) => {
            solve::<_, B>(problems, Insensitive::new(y, costs, squares, epsilon, false), count, options, watch)
        }
        LinearLoss::SquaredInsensitive(epsilon) => {
            solve::<_, B>(problems, Insensitive::new(y, costs, squares, epsilon, true), count, options, watch)
        }
    }
}

fn solve<L: Loss, const B: usize>(
    problems: &LinearProblems<'_>,
    loss: L,
    count: usize,
    options: &DescentOptions,
    watch: &dyn Monitor,
) -> Vec<LinearSolution> {
    match &problems.design.rows {
        Packed::Dense(rows) => descend::<_, _, B>(rows, loss, count, problems.costs, options, watch),
        Packed::Sparse(rows) => descend::<_, _, B>(rows, loss, count, problems.costs, options, watch),
    }
}
