//! The solver of a discriminant, and the memory it takes.
//!
//! `auto` takes the Cholesky factorisation of the bordered system where it fits into memory; else pairs of coefficients (‖w‖²) or
//! a greedy expansion (‖α‖²), and the path over λ where λ is chosen by leaving out.

use super::{Kfd, KfdSolver, NAME, WHAT};
use crate::gram::views::FarOrigin;
use crate::gram::{Gram, show_bytes};
use crate::linalg::SolveError;
use crate::linalg::symmetric_eigen_bytes;
use crate::machines::{FitError, HeldOutRequest, Order, Task};
use crate::params::Auto;
use crate::solvers::direct::choose_lambda;
use crate::solvers::fisher::direct::{LeftOut, bordered, bordered_bytes};
use crate::solvers::fisher::eigen::{rayleigh, rayleigh_bytes};
use crate::solvers::fisher::greedy::{GreedyOptions, greedy, greedy_bytes};
use crate::solvers::fisher::pair_descent::{Measure, PairOptions, pair_descent};
use crate::solvers::fisher::path::Path;
use crate::solvers::fisher::shifted::discriminants;
use crate::solvers::fisher::subset::{subset, subset_bytes};
use crate::solvers::fisher::{Aim, Discriminants, Quadratic};
use crate::watch::{Monitor, Phase, Progress, Status};
use std::cell::Cell;
use std::sync::Arc;

/// Largest number of examples for which the Cholesky solver also computes the leave-one-out error, which at most doubles its cost.
const MAX_EXAMPLES_FOR_LEAVE_ONE_OUT: usize = 2000;
/// The range of the search for λ, in multiples of the largest eigenvalue of K or K².
const SEARCH: (f64, f64) = (1e-14, 1e3);
/// Largest cache of rows of K in bytes: pairs come back to few of them.
const MAX_CACHE_BYTES: usize = 256 << 20;
/// Number of pairs of a step: larger blocks take fewer steps, but more rows, which cost more than steps do.
const PAIRS: usize = 1;
/// Largest number of steps for each right-hand side, as a multiple of the examples.
const MAX_STEPS_PER_EXAMPLE: usize = 1000;

/// A solution, and how it was found.
pub(super) struct Solved {
    pub(super) found: Discriminants,
    pub(super) lambda: f64,
    pub(super) left_out: Option<Vec<f64>>,
    /// α and offsets of the discriminants without each example, where these are wanted.
    pub(super) models: Option<(Vec<f64>, Vec<f64>)>,
    pub(super) status: Status,
    pub(super) iterations: usize,
    /// True if it is the exact minimiser, so that its value gives the Rayleigh quotient.
    pub(super) exact: bool,
    /// The part of the order of the examples: where some are chosen, others would be in another one.
    pub(super) order: Order,
    pub(super) storage: String,
    pub(super) notes: Vec<(&'static str, f64)>,
}

/// A machine on a task.
pub(super) struct Problem<'a> {
    pub(super) kfd: &'a Kfd,
    pub(super) task: &'a Task<'a>,
    pub(super) gram: Arc<dyn Gram>,
    /// The request for leave-one-out residuals, for any number of examples, or for the models as well.
    pub(super) held_out: HeldOutRequest<'a>,
    pub(super) watch: &'a dyn Monitor,
}

impl Problem<'_> {
    /// Solves by the method that the machine names, or by the first one that memory allows.
    pub(super) fn solve(&self, aim: Aim<'_>) -> Result<Solved, FitError> {
        match self.kfd.solver {
            KfdSolver::Auto if matches!(self.kfd.lambda, Auto::Word(_)) => self.path(aim),
            KfdSolver::Auto => match (self.cholesky_bytes(&aim), aim.penalty) {
                (bytes, _) if bytes <= self.task.budget.memory => self.cholesky(&aim),
                (_, Quadratic::Norm) => self.pairs(&aim),
                (_, Quadratic::Coefficients) => self.greedy(&aim),
            },
            KfdSolver::Cholesky => self.cholesky(&aim),
            KfdSolver::Eigen => self.eigen(&aim),
            KfdSolver::Pairs => self.pairs(&aim),
            KfdSolver::Greedy => self.greedy(&aim),
            KfdSolver::Subset => self.subset(&aim),
        }
    }

    /// True if the Cholesky solver computes leave-one-out residuals.
    fn leaves_out(&self, aim: &Aim<'_>) -> bool {
        self.held_out.leaves_one_out() || aim.len() <= MAX_EXAMPLES_FOR_LEAVE_ONE_OUT
    }

    /// Memory of the Cholesky solver, with the leave-one-out residuals where they are computed.
    fn cholesky_bytes(&self, aim: &Aim<'_>) -> usize {
        bordered_bytes(aim.len(), aim.outputs, aim.penalty, self.leaves_out(aim))
    }

    fn cholesky(&self, aim: &Aim<'_>) -> Result<Solved, FitError> {
        self.task.budget.check(self.cholesky_bytes(aim), WHAT)?;
        if !self.leaves_out(aim) {
            return Ok(direct(discriminants(&*self.gram, aim, self.watch).map_err(solve)?, aim));
        }
        let solved = bordered(&*self.gram, aim, self.watch).map_err(solve)?;
        let left_out = Some(solved.left_out(LeftOut::Example));
        let modelled =
            self.held_out == HeldOutRequest::LeaveOneOutModels || (self.held_out.leaves_one_out() && self.kfd.moves());
        let models = modelled.then(|| solved.left_out_models());
        Ok(Solved { left_out, models, ..direct(solved.found, aim) })
    }

    fn eigen(&self, aim: &Aim<'_>) -> Result<Solved, FitError> {
        self.task.budget.check(rayleigh_bytes(aim.len(), aim.outputs), WHAT)?;
        let solved = rayleigh(&*self.gram, aim, self.watch).map_err(solve)?;
        Ok(direct(solved.found, aim))
    }

    /// The λ with the smallest leave-one-out squares; stopping in the middle keeps the best so far.
    fn path(&self, mut aim: Aim<'_>) -> Result<Solved, FitError> {
        let n = aim.len();
        let beside = if aim.penalty == Quadratic::Norm { 16 } else { 32 };
        let matrix = self.task.budget.dense(&*self.gram, symmetric_eigen_bytes(n) + beside * n * n, WHAT)?;
        let path = Path::new(matrix.into_values(), &aim).map_err(solve)?;
        let (done, status) = (Cell::new(0), Cell::new(Status::Converged));
        let mut loss = |lambda: f64| {
            let progress = Progress::new(Phase::LEAVE_ONE_OUT, done.get());
            if let Err(reason) = self.watch.alive(progress) {
                status.set(reason.into());
                return Err(SolveError::Stopped { reason });
            }
            done.set(done.get() + 1);
            let left_out = path.at(lambda)?.left_out;
            let weigh = |(p, r): (usize, &f64)| aim.weights[p / aim.outputs] * r * r;
            Ok(left_out.iter().enumerate().map(weigh).sum::<f64>())
        };
        // a kernel that is zero everywhere has no scale: any λ gives the zero function
        let top = if path.top() > 0.0 { path.top() } else { 1.0 };
        let lambda = choose_lambda(SEARCH.0 * top, SEARCH.1 * top, &mut loss).map_err(solve)?;
        aim.lambda = lambda;
        let point = path.at(lambda).map_err(solve)?;
        let found = path.conclude(&point, &aim);
        Ok(Solved { left_out: Some(point.left_out), status: status.get(), ..direct(found, &aim) })
    }

    fn pairs(&self, aim: &Aim<'_>) -> Result<Solved, FitError> {
        let n = aim.len();
        let options = PairOptions {
            pairs: PAIRS,
            figures: self.kfd.figures,
            infeasibility: 10.0_f64.powf(-self.kfd.figures),
            measure: Measure::Printed,
            max_iterations: MAX_STEPS_PER_EXAMPLE.saturating_mul(n),
            cache: MAX_CACHE_BYTES.min(self.task.budget.memory / 2),
            // where the origin is far away, f32 cannot tell examples apart
            double: FarOrigin::of(&*self.gram).is_some(),
        };
        let solved = pair_descent(&*self.gram, aim, &options, self.watch).map_err(solve)?;
        let notes = vec![
            ("figures", solved.figures),
            ("infeasibility", solved.infeasibility),
            ("kernel_rows", solved.rows as f64),
        ];
        Ok(Solved {
            status: solved.status,
            iterations: solved.iterations.iter().sum(),
            exact: false,
            order: Order::Matters,
            storage: format!(
                "rows in {}, up to {} kept",
                if options.double { "f64" } else { "f32" },
                show_bytes(options.cache)
            ),
            notes,
            ..direct(solved.found, aim)
        })
    }

    fn greedy(&self, aim: &Aim<'_>) -> Result<Solved, FitError> {
        let (n, points) = (aim.len(), self.kfd.points.min(aim.len()));
        self.task.budget.check(greedy_bytes(n, points, aim.outputs), WHAT)?;
        let options = GreedyOptions { points, tolerance: self.kfd.tolerance, seed: self.task.seed };
        let solved = greedy(&*self.gram, aim, &options, self.watch).map_err(solve)?;
        Ok(Solved {
            status: solved.status,
            iterations: solved.chosen.iter().map(Vec::len).max().unwrap_or(0),
            order: Order::Matters,
            storage: format!("chosen columns in f64, {}", show_bytes(8 * n * solved.found.points.len())),
            ..direct(solved.found, aim)
        })
    }

    fn subset(&self, aim: &Aim<'_>) -> Result<Solved, FitError> {
        let (n, m) = (aim.len(), self.kfd.points.min(aim.len()));
        self.task.budget.check(subset_bytes(n, m, aim.outputs), WHAT)?;
        let mut points = self.task.seed.stream("subset").permutation(n);
        points.truncate(m);
        points.sort_unstable();
        // its residuals of leaving out keep the functions of all chosen examples, which learning again would choose anew
        let (found, _) = subset(&*self.gram, &points, aim, self.watch).map_err(solve)?;
        let storage = format!("chosen columns in f64, twice {}", show_bytes(8 * n * m));
        Ok(Solved { order: Order::Matters, storage, ..direct(found, aim) })
    }
}

/// A direct solution with its matrix in memory.
fn direct(found: Discriminants, aim: &Aim<'_>) -> Solved {
    let n = aim.len();
    Solved {
        found,
        lambda: aim.lambda,
        left_out: None,
        models: None,
        status: Status::Converged,
        iterations: 0,
        exact: true,
        order: Order::Irrelevant,
        storage: format!("kernel matrix stored in f64, {}", show_bytes(8 * n * n)),
        notes: Vec::new(),
    }
}

fn solve(error: SolveError) -> FitError {
    FitError::Solve { machine: NAME, error }
}
