//! Kernel ridge regression.

use super::primal::{Explicit, PrimalFit, PrimalSpectrum};
use crate::data::{DataError, Numbers, Rows};
use crate::gram::{Dense, Gram, show_bytes};
use crate::linalg::SolveError;
use crate::linalg::{cholesky_bytes, symmetric_eigen_bytes};
use crate::machines::Fact;
use crate::machines::{
    Coefficients, ConvexLoss, Cost, Expansion, Features, FitError, Fitted, HeldOutRequest, Learns, Machine,
    MachineEntry, Readout, SolverReport, Task, Theory, Traits,
};
use crate::params::{Auto, AutoList, Choice, Params, Rule, Visit};
use crate::solvers::conjugate_gradient::{CgOptions, conjugate_gradient};
use crate::solvers::direct::{self, Direct, Spectrum, choose_lambda, leave_one_out, squares};
use crate::sources::{KMPA, Source};
use crate::watch::{Monitor, Phase, Progress, Status};
use std::cell::Cell;
use std::cmp::Ordering;

const NAME: &str = "ridge";
pub(super) const WHAT: &str = "kernel ridge regression";
/// Largest number of examples for which the Cholesky solver also computes the leave-one-out error, which doubles its cost.
const MAX_EXAMPLES_FOR_LEAVE_ONE_OUT: usize = 1000;
/// The search for λ goes from and to these multiples of the largest eigenvalue: below the first K + λI is singular to
/// rounding, above the second the function is zero.
const SEARCH: (f64, f64) = (1e-11, 1e3);

/// (K + λI) α = y, f(x) = Σ_i α_i κ(x_i, x): the minimiser of ½ Σ_i (y_i − f(x_i))² + ½ λ ‖f‖².
///
/// There is no offset (where the target lies far from zero, the report says how to have one), nothing is centred, and λ is not multiplied by the number of examples. Several targets are solved
/// at once; a list of λ gives each its own. `lambda = loo` chooses λ by the exact leave-one-out error: a grid from 1e-11 to 1e3 times the largest
/// eigenvalue, then golden section. The report's objective is ½‖y − Kα‖² + ½ λ αᵀKα, summed over the targets; its notes
/// are `lambda` (`lambda_1`, … of a list), `relative_residual` (‖y − (K + λI)α‖ / ‖y‖, with UΛUᵀ for K in the eigen solver; or that of the primal
/// system) and `loo_rmse` (over all examples and targets; by the Cholesky solver only up to 1000 examples, since it doubles
/// the cost).
///
/// # Source
/// Shawe-Taylor & Cristianini 2004, §2.2.2 (primal and dual ridge regression).
///
/// # Use when
/// Numbers are to be predicted, the noise is roughly Gaussian and there are up to some ten thousand examples.
///
/// # Cost
/// Cholesky n³/3 multiplications and n² numbers; eigen about 9n³ and five times the memory; primal n d² and d² numbers;
/// cg n² kernel values a step and no matrix. A list of λ is solved once for each that is different, with K computed once and a
/// second copy of it; by eigen, which decomposes once, from 20 different ones on.
#[derive(Clone, Debug, PartialEq)]
pub struct Ridge {
    /// λ > 0, one for all targets or one for each, or `loo`.
    pub lambda: AutoList,
    /// The solver.
    pub solver: RidgeSolver,
    /// The relative residual at which conjugate gradients stop.
    pub tolerance: f64,
    /// The most steps of conjugate gradients.
    pub max_iterations: usize,
}

/// Solvers of ridge regression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RidgeSolver {
    /// Primal where features exist and are fewer than examples; else Cholesky (eigen for `lambda = loo`); else, where
    /// memory forbids that, conjugate gradients.
    #[default]
    Auto,
    /// One factorisation of K + λI.
    Cholesky,
    /// One eigendecomposition of K.
    Eigen,
    /// Explicit features.
    Primal,
    /// Conjugate gradients, streaming K.
    Cg,
}

impl Choice for RidgeSolver {
    fn options(&self) -> &'static [&'static str] {
        &["auto", "cholesky", "eigen", "primal", "cg"]
    }
    fn get(&self) -> usize {
        *self as usize
    }
    fn set(&mut self, position: usize) {
        let all = [Self::Auto, Self::Cholesky, Self::Eigen, Self::Primal, Self::Cg];
        *self = all[position.min(all.len() - 1)];
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: NAME,
    aliases: &["krr", "kernel_ridge"],
    summary: "kernel ridge regression: least squares with a penalty on the norm",
    formula: "min ½ Σᵢ (yᵢ − f(xᵢ))² + ½ λ ‖f‖²: (K + λI) α = y",
    learns: Learns::Numbers,
    source: Source::new(&KMPA, "§2.2.2"),
    use_when: "numbers are to be predicted, the noise is roughly Gaussian and there are up to some ten thousand examples",
    cost: "Cholesky n³/3 multiplications and n² numbers; eigen about 9n³ and five times the memory; primal n d² and d² numbers; cg n² kernel values a step and no matrix. A list of λ is solved once for each that is different, with K computed once and a second copy of it; by eigen, which decomposes once, from 20 different ones on.",
    make: || Box::new(Ridge::default()),
};

impl Default for Ridge {
    fn default() -> Self {
        Self { lambda: 1.0.into(), solver: RidgeSolver::Auto, tolerance: 1e-8, max_iterations: 1000 }
    }
}

impl Params for Ridge {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.autos(
            "lambda",
            &mut self.lambda,
            &["loo"],
            Rule::Above(0.0),
            "weight of the penalty ½ λ ‖f‖², or a list with one for each target; loo chooses it",
        );
        v.choice("solver", &mut self.solver, "auto, cholesky, eigen, primal (explicit features) or cg (streams K)");
        v.real("tolerance", &mut self.tolerance, Rule::AboveUpTo(0.0, 1.0), "relative residual at which cg stops");
        v.count("max_iterations", &mut self.max_iterations, Rule::AtLeast(1.0), "most steps of cg");
    }
}

impl Machine for Ridge {
    fn entry(&self) -> &'static MachineEntry {
        &ENTRY
    }

    fn traits(&self) -> Traits {
        let theory = {
            // a λ that the examples chose makes another problem of each sample; conjugate gradients stop before the minimum
            let fixed = match &self.lambda {
                AutoList::Values(each) if self.solver != RidgeSolver::Cg => each.as_slice(),
                _ => &[],
            };
            let loss = match fixed {
                // Σ (f − y)² + λ‖w‖² is 2λ times ½‖w‖² + (1/2λ) Σ (f − y)²
                [lambda] if *lambda > 0.0 => {
                    Ok(ConvexLoss { c: 0.5 / lambda, cost: Cost::Squared, free_offset: false, scale: *lambda })
                }
                _ if self.solver == RidgeSolver::Cg => {
                    Err("conjugate gradients stop before the minimum, and the theorem is about the minimum")
                }
                _ => Err(
                    "there is not one λ that was given beforehand: the examples chose it, or each target has its own",
                ),
            };
            Theory { loss, homogeneous: true, ..Theory::default() }
        };
        let smoother = match &self.lambda {
            AutoList::Values(each) if each.windows(2).all(|l| l[0] == l[1]) => each.first().copied().map(Ok),
            AutoList::Values(_) => Some(Err("--conformal full wants one lambda for all targets")),
            AutoList::Word(_) => Some(Err(
                "lambda = loo is chosen by the targets, and --conformal full keeps it whatever a new target is; give a number, or use --conformal split or cross",
            )),
        };
        Traits {
            leaves_one_out: true,
            smoother,
            regularised_by: &[("lambda", Ordering::Greater)],
            searched: "lambda=1e-4..10:log6",
            theory,
            without_offset: true,
            ..Traits::default()
        }
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let target = targets(NAME, task)?;
        let lambda = match &self.lambda {
            AutoList::Word(word) => Auto::Word(word),
            AutoList::Values(each) => match each.as_slice() {
                [lambda] => Auto::Value(*lambda),
                several => return self.with_a_penalty_each(several, &target, task, watch),
            },
        };
        if self.solver == RidgeSolver::Cg || !task.held_out.leaves_one_out() {
            return self.on(lambda, &target, task, watch);
        }
        match (lambda, task.held_out) {
            // λ was chosen with the help of the example that is left out: there is no closed form
            (Auto::Word(_), _) => self.on(lambda, &target, task, watch),
            (_, HeldOutRequest::LeaveOneOutScores) => {
                let fitted = self.on(lambda, &target, task, watch)?;
                self.with_left_out(fitted, &target, task, watch)
            }
            // models are made of the factor of K + λI, whatever the solver
            _ => {
                let run = Run::new(self, lambda, &target, task, watch);
                run.cholesky(run.dense(task, 8 * run.n * run.n * (1 + run.outputs))?)
            }
        }
    }
}

impl Ridge {
    /// Learns some targets with one λ.
    pub(super) fn on(
        &self,
        lambda: Auto,
        target: &Numbers,
        task: &Task<'_>,
        watch: &dyn Monitor,
    ) -> Result<Fitted, FitError> {
        let searches = matches!(lambda, Auto::Word(_));
        if searches && matches!(self.solver, RidgeSolver::Cholesky | RidgeSolver::Cg) {
            return Err(wrong("lambda = loo needs solver = auto, eigen or primal"));
        }
        let run = Run::new(self, lambda, target, task, watch);
        let n = run.n;
        let explicit = task.features.as_ref().and_then(Features::dense);
        match (self.solver, explicit) {
            (RidgeSolver::Primal, None) => Err(wrong(
                "solver = primal needs a kernel with explicit features, such as the linear kernel on dense vectors; use auto",
            )),
            (RidgeSolver::Primal, Some(features)) => {
                task.budget.check(run.primal_bytes(features.0), WHAT)?;
                run.primal(features)
            }
            (RidgeSolver::Auto, Some(features))
                if features.0.width() < n && task.budget.check(run.primal_bytes(features.0), WHAT).is_ok() =>
            {
                run.primal(features)
            }
            (RidgeSolver::Cg, _) => run.streamed(&*task.gram),
            (RidgeSolver::Eigen, _) => run.eigen(run.dense(task, symmetric_eigen_bytes(n))?),
            (RidgeSolver::Cholesky, _) => run.cholesky(run.dense(task, 0)?),
            (RidgeSolver::Auto, _) if searches => run.eigen(run.dense(task, symmetric_eigen_bytes(n))?),
            (RidgeSolver::Auto, _) => match run.dense(task, 0) {
                Err(FitError::Budget(_)) => run.streamed(&*task.gram),
                matrix => run.cholesky(matrix?),
            },
        }
    }
}

/// One task on its way to a solution.
pub(super) struct Run<'a> {
    ridge: &'a Ridge,
    lambda: Auto,
    watch: &'a dyn Monitor,
    pub(super) target: &'a Numbers,
    pub(super) held_out: HeldOutRequest<'a>,
    pub(super) n: usize,
    pub(super) outputs: usize,
}

/// The common end of all solvers: scores, objective and report.
struct End {
    lambda: f64,
    /// ½‖y − f‖² + ½ λ ‖f‖².
    objective: f64,
    relative_residual: f64,
    left_out: Option<Vec<f64>>,
    status: Status,
    iterations: usize,
    streamed: bool,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        ridge: &'a Ridge,
        lambda: Auto,
        target: &'a Numbers,
        task: &Task<'a>,
        watch: &'a dyn Monitor,
    ) -> Self {
        Self { ridge, lambda, watch, target, held_out: task.held_out, n: task.len(), outputs: target.names.len() }
    }

    pub(super) fn dense(&self, task: &Task<'_>, extra: usize) -> Result<Dense<f64>, FitError> {
        self.alive(Phase::KERNEL_MATRIX)?;
        // a handful of right-hand sides, too
        let bytes = extra + cholesky_bytes(self.n) + 8 * self.n * 6 * self.outputs;
        let matrix = task.budget.dense(&*task.gram, bytes, WHAT)?;
        self.alive(Phase::FACTORISATION).map(|()| matrix)
    }

    pub(super) fn primal_bytes(&self, rows: &Rows<f64>) -> usize {
        let d = rows.width();
        let search = if matches!(self.lambda, Auto::Word(_)) { symmetric_eigen_bytes(d) + 8 * self.n * d } else { 0 };
        8 * d * d + cholesky_bytes(d) + 8 * self.n * 4 * self.outputs + search
    }

    fn alive(&self, phase: Phase) -> Result<(), FitError> {
        self.watch.alive(phase.into()).map_err(|reason| solve(reason.into()))
    }

    /// λ as given, or the one with the smallest leave-one-out error; stopping in the middle keeps the best so far.
    fn chosen(
        &self,
        top: f64,
        left_out: &dyn Fn(f64) -> Result<Vec<f64>, SolveError>,
    ) -> Result<(f64, Status), FitError> {
        if let Auto::Value(lambda) = self.lambda {
            return Ok((lambda, Status::Converged));
        }
        let (done, status) = (Cell::new(0), Cell::new(Status::Converged));
        let mut loss = |lambda: f64| {
            let progress = Progress::new(Phase::LEAVE_ONE_OUT, done.get());
            if let Err(reason) = self.watch.alive(progress) {
                status.set(reason.into());
                return Err(reason.into());
            }
            done.set(done.get() + 1);
            left_out(lambda).map(|r| rms(&r))
        };
        // a kernel that is zero everywhere has no scale: any λ gives the zero function
        let top = if top > 0.0 { top } else { 1.0 };
        let lambda = choose_lambda(SEARCH.0 * top, SEARCH.1 * top, &mut loss).map_err(solve)?;
        Ok((lambda, status.get()))
    }

    /// (K + λI) α = y with the factor of the matrix.
    pub(super) fn factorised(&self, matrix: Dense<f64>) -> Result<Direct, FitError> {
        let (lambda, y) = (self.lambda.value(), &self.target.values);
        direct::solve_shifted(matrix.into_values(), self.n, lambda, y, self.outputs).map_err(solve)
    }

    fn cholesky(&self, matrix: Dense<f64>) -> Result<Fitted, FitError> {
        let found = self.factorised(matrix)?;
        let (affordable, asked) = (self.n <= MAX_EXAMPLES_FOR_LEAVE_ONE_OUT, self.held_out.leaves_one_out());
        let residuals = (affordable || asked).then(|| leave_one_out(&found.alpha, &found.factor.inverse_diagonal()));
        let held_out = residuals.as_ref().filter(|_| asked).map(|residuals| self.left_out(&found, residuals));
        let end = (self.lambda.value(), Status::Converged, 0, false);
        let fitted = self.dual(found.alpha, &found.residual, residuals.filter(|_| affordable), end);
        Ok(fitted.with_held_out(held_out))
    }

    fn eigen(&self, matrix: Dense<f64>) -> Result<Fitted, FitError> {
        let y = &self.target.values;
        let spectrum = Spectrum::new(matrix.into_values(), self.n, y, self.outputs).map_err(solve)?;
        let top = spectrum.values().first().copied().unwrap_or(0.0);
        let (lambda, status) = self.chosen(top, &|l| spectrum.at(l).map(|p| p.left_out))?;
        let point = spectrum.at(lambda).map_err(solve)?;
        // K is gone, but UΛUᵀ α stands for it
        let residual = spectrum.residual(&point.alpha, y, lambda);
        Ok(self.dual(point.alpha, &residual, Some(point.left_out), (lambda, status, 0, false)))
    }

    fn streamed(&self, gram: &dyn Gram) -> Result<Fitted, FitError> {
        let lambda = self.lambda.value();
        let options = CgOptions { tolerance: self.ridge.tolerance, max_iterations: self.ridge.max_iterations };
        let y = &self.target.values;
        let found = conjugate_gradient(gram, lambda, y, self.outputs, &options, self.watch).map_err(solve)?;
        Ok(self.dual(found.alpha, &found.residual, None, (lambda, found.status, found.iterations, true)))
    }

    pub(super) fn dual(
        &self,
        alpha: Vec<f64>,
        residual: &[f64],
        left_out: Option<Vec<f64>>,
        (lambda, status, iterations, streamed): (f64, Status, usize, bool),
    ) -> Fitted {
        // y − Kα = λα + residual, so neither term of the objective needs another product with K
        let rows = self.target.values.iter().zip(&alpha).zip(residual);
        let objective: f64 = rows
            .map(|((y, a), r)| {
                let rest = lambda * a + r;
                0.5 * rest * rest + 0.5 * lambda * a * (y - rest)
            })
            .sum();
        let size = squares(&self.target.values).sqrt();
        let relative_residual = squares(residual).sqrt() / if size > 0.0 { size } else { 1.0 };
        let end = End { lambda, objective, relative_residual, left_out, status, iterations, streamed };
        self.fitted(Coefficients::Dual { points: (0..self.n).collect(), alpha }, &end)
    }

    fn primal(&self, (rows, scale): (&Rows<f64>, f64)) -> Result<Fitted, FitError> {
        self.alive(Phase::new("normal equations"))?;
        let width = rows.width();
        let (x, y, outputs) = (rows.values(), self.target.values.as_slice(), self.outputs);
        let problem = Explicit { x, width, scale, y, outputs };
        let (lambda, status, fit): (f64, Status, PrimalFit) = match self.lambda {
            Auto::Value(lambda) => (lambda, Status::Converged, problem.solve(lambda).map_err(solve)?),
            Auto::Word(_) => {
                let spectrum = PrimalSpectrum::new(problem).map_err(solve)?;
                let top = spectrum.values().first().copied().unwrap_or(0.0);
                let (lambda, status) = self.chosen(top, &|l| spectrum.at(l).map(|p| p.left_out))?;
                (lambda, status, spectrum.at(lambda).map_err(solve)?)
            }
        };
        let rest: f64 = y.iter().zip(&fit.fitted).map(|(y, f)| (y - f).powi(2)).sum();
        let end = End {
            lambda,
            objective: 0.5 * rest + 0.5 * lambda * scale * squares(&fit.weights),
            relative_residual: problem.relative_residual(&fit, lambda),
            left_out: Some(fit.left_out),
            status,
            iterations: 0,
            streamed: false,
        };
        Ok(self.fitted(Coefficients::Primal { weights: fit.weights, width, scale }, &end))
    }

    fn fitted(&self, coefficients: Coefficients, end: &End) -> Fitted {
        let mut notes = vec![Fact::Lambda.note(end.lambda), Fact::RelativeResidual.note(end.relative_residual)];
        if let Some(left_out) = &end.left_out {
            notes.push(Fact::LeftOutRootMeanSquare.note(rms(left_out)));
        }
        let storage = match &coefficients {
            Coefficients::Primal { .. } => "explicit features, no kernel matrix".to_owned(),
            _ if end.streamed => "kernel matrix streamed".to_owned(),
            _ => format!("kernel matrix stored in f64, {}", show_bytes(8 * self.n * self.n)),
        };
        let support = matches!(coefficients, Coefficients::Dual { .. }).then_some(self.n);
        Fitted::new(
            Expansion { coefficients, offsets: vec![0.0; self.outputs] },
            Readout::Values { names: self.target.names.clone() },
            SolverReport {
                status: end.status,
                iterations: end.iterations,
                objective: Some(end.objective),
                support,
                storage,
                notes,
                ..SolverReport::direct()
            },
        )
    }
}

/// The target as finite numbers, one row for each example, at least one.
pub(in crate::machines) fn targets(machine: &'static str, task: &Task<'_>) -> Result<Numbers, FitError> {
    let numbers = task.numbers(machine)?;
    let (n, outputs) = (task.len(), numbers.names.len().max(1));
    let error = if n == 0 {
        DataError::Empty { place: "the training data".to_owned() }
    } else if numbers.values.len() != n * outputs {
        let (what, other) = ("the target".to_owned(), "the kernel matrix".to_owned());
        DataError::Lengths { what, got: numbers.values.len() / outputs, other, wanted: n }
    } else if let Some(p) = numbers.values.iter().position(|y| !y.is_finite()) {
        let (name, row) = (&numbers.names[p % outputs], p / outputs + 1);
        DataError::Usage { finding: format!("the target {name} of example {row} is not a finite number") }
    } else {
        return Ok(numbers);
    };
    Err(FitError::Target { machine, error })
}

pub(super) fn rms(x: &[f64]) -> f64 {
    (squares(x) / x.len().max(1) as f64).sqrt()
}

pub(super) fn solve(error: SolveError) -> FitError {
    FitError::Solve { machine: NAME, error }
}

pub(super) fn wrong(finding: &str) -> FitError {
    FitError::Param { machine: NAME, finding: finding.to_owned() }
}

#[cfg(test)]
#[path = "ridge_tests.rs"]
mod tests;
