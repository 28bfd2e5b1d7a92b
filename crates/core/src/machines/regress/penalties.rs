//! Ridge regression with a penalty for each target.

use super::ridge::{Ridge, RidgeSolver, Run, WHAT, solve, wrong};
use crate::data::Numbers;
use crate::linalg::{cholesky_bytes, symmetric_eigen_bytes};
use crate::machines::Fact;
use crate::machines::{
    Coefficients, Expansion, Features, FitError, Fitted, HeldOutRequest, Readout, SolverReport, Task,
};
use crate::params::Auto;
use crate::solvers::direct::Spectrum;
use crate::watch::{Monitor, Status};
use std::sync::Arc;

/// From so many different λ on one eigendecomposition (9n³) costs less than their factorisations (n³/3 each, and the copies).
const DECOMPOSE_FROM: usize = 20;

/// Targets that share a λ.
struct Group {
    lambda: f64,
    /// Their places.
    columns: Vec<usize>,
    target: Numbers,
}

impl Ridge {
    /// One fit for each different λ, on the targets that have it, side by side in the end.
    pub(super) fn with_a_penalty_each(
        &self,
        lambdas: &[f64],
        target: &Numbers,
        task: &Task<'_>,
        watch: &dyn Monitor,
    ) -> Result<Fitted, FitError> {
        let outputs = target.names.len();
        if lambdas.len() != outputs {
            let finding = format!(
                "lambda has {} numbers for {outputs} targets; give one for all, or one for each target",
                lambdas.len()
            );
            return Err(wrong(&finding));
        }
        let groups = groups(lambdas, target);
        let solver = self.solver(&groups, target, task, watch);
        let machine = Self { solver, ..self.clone() };
        if solver == RidgeSolver::Eigen {
            let fits = machine.decomposed(&groups, target, task, watch)?;
            return join(&groups, &fits, target, lambdas);
        }
        // what every factorisation starts from, computed once
        let bytes = 8 * task.len() * (task.len() + 6 * outputs) + cholesky_bytes(task.len());
        let stored =
            if solver == RidgeSolver::Cholesky { task.budget.dense(&*task.gram, bytes, WHAT).ok() } else { None };
        let again = Task {
            gram: stored.map_or_else(|| Arc::clone(&task.gram), |dense| Arc::new(dense)),
            features: task.features.clone(),
            kernel: task.kernel.clone(),
            held_out: HeldOutRequest::Nothing,
            ..*task
        };
        let fits: Result<Vec<Fitted>, FitError> =
            groups.iter().map(|g| machine.on(Auto::Value(g.lambda), &g.target, &again, watch)).collect();
        join(&groups, &fits?, target, lambdas)
    }

    /// The solver of all groups, so that their solutions are of one form.
    fn solver(&self, groups: &[Group], target: &Numbers, task: &Task<'_>, watch: &dyn Monitor) -> RidgeSolver {
        if self.solver != RidgeSolver::Auto {
            return self.solver;
        }
        let n = task.len();
        let run = Run::new(self, Auto::Value(1.0), target, task, watch);
        let fits = |bytes: usize| task.budget.check(bytes, WHAT).is_ok();
        match task.features.as_ref().and_then(Features::dense) {
            Some((rows, _)) if rows.width() < n && fits(run.primal_bytes(rows)) => RidgeSolver::Primal,
            _ if groups.len() >= DECOMPOSE_FROM && fits(8 * n * n + symmetric_eigen_bytes(n)) => RidgeSolver::Eigen,
            _ if fits(8 * n * (n + 6 * target.names.len()) + cholesky_bytes(n)) => RidgeSolver::Cholesky,
            _ => RidgeSolver::Cg,
        }
    }

    /// K = UΛUᵀ once; every λ costs O(n² outputs) from there on.
    fn decomposed(
        &self,
        groups: &[Group],
        target: &Numbers,
        task: &Task<'_>,
        watch: &dyn Monitor,
    ) -> Result<Vec<Fitted>, FitError> {
        let (n, outputs) = (task.len(), target.names.len());
        let whole = Run::new(self, Auto::Value(1.0), target, task, watch);
        let matrix = whole.dense(task, symmetric_eigen_bytes(n))?.into_values();
        let spectrum = Spectrum::new(matrix, n, &target.values, outputs).map_err(solve)?;
        let mut fits = Vec::with_capacity(groups.len());
        for group in groups {
            let point = spectrum.at(group.lambda).map_err(solve)?;
            let residual = spectrum.residual(&point.alpha, &target.values, group.lambda);
            let of = |all: &[f64]| columns(all, outputs, &group.columns);
            let run = Run::new(self, Auto::Value(group.lambda), &group.target, task, watch);
            let end = (group.lambda, Status::Converged, 0, false);
            fits.push(run.dual(of(&point.alpha), &of(&residual), Some(of(&point.left_out)), end));
        }
        Ok(fits)
    }
}

/// Some columns of numbers row by row.
fn columns(all: &[f64], outputs: usize, chosen: &[usize]) -> Vec<f64> {
    all.chunks_exact(outputs).flat_map(|row| chosen.iter().map(|&c| row[c])).collect()
}

/// The different λ in the order of their first targets.
fn groups(lambdas: &[f64], target: &Numbers) -> Vec<Group> {
    let mut places: Vec<(f64, Vec<usize>)> = Vec::new();
    for (c, &lambda) in lambdas.iter().enumerate() {
        match places.iter_mut().find(|(known, _)| *known == lambda) {
            Some((_, columns)) => columns.push(c),
            None => places.push((lambda, vec![c])),
        }
    }
    let group = |(lambda, chosen): (f64, Vec<usize>)| Group {
        lambda,
        target: Numbers {
            names: chosen.iter().map(|&c| target.names[c].clone()).collect(),
            values: columns(&target.values, target.names.len(), &chosen),
        },
        columns: chosen,
    };
    places.into_iter().map(group).collect()
}

/// The fits of all groups as one.
fn join(groups: &[Group], fits: &[Fitted], target: &Numbers, lambdas: &[f64]) -> Result<Fitted, FitError> {
    let outputs = target.names.len();
    let numbers = |fit: &Fitted| match &fit.expansion.coefficients {
        Coefficients::Dual { alpha, .. } => alpha.clone(),
        Coefficients::Primal { weights, .. } => weights.clone(),
        _ => Vec::new(),
    };
    let rows = fits.first().map_or(0, |fit| numbers(fit).len() / groups[0].columns.len());
    let mut joined = vec![0.0; rows * outputs];
    for (group, fit) in groups.iter().zip(fits) {
        let part = numbers(fit);
        for (to, from) in joined.chunks_exact_mut(outputs).zip(part.chunks_exact(group.columns.len())) {
            group.columns.iter().zip(from).for_each(|(&c, value)| to[c] = *value);
        }
    }
    let coefficients = match fits.first().map(|fit| &fit.expansion.coefficients) {
        Some(Coefficients::Dual { points, .. }) => Coefficients::Dual { points: points.clone(), alpha: joined },
        Some(Coefficients::Primal { width, scale, .. }) => {
            Coefficients::Primal { weights: joined, width: *width, scale: *scale }
        }
        _ => return Err(wrong("there is no target to learn")),
    };
    let mut notes: Vec<(String, f64)> =
        lambdas.iter().enumerate().map(|(c, l)| (format!("lambda_{}", c + 1), *l)).collect();
    let residuals = fits.iter().filter_map(|fit| fit.report.fact(Fact::RelativeResidual));
    notes.push(Fact::RelativeResidual.note(residuals.fold(0.0, f64::max)));
    // the mean square over all targets, each group counting its own
    let shares = groups.iter().zip(fits);
    let squares: Option<f64> = shares
        .map(|(g, fit)| fit.report.fact(Fact::LeftOutRootMeanSquare).map(|r| r * r * g.columns.len() as f64))
        .sum();
    notes.extend(squares.map(|sum| Fact::LeftOutRootMeanSquare.note((sum / outputs as f64).sqrt())));
    let first = fits.first().map_or_else(SolverReport::direct, |fit| fit.report.clone());
    Ok(Fitted::new(
        Expansion { coefficients, offsets: vec![0.0; outputs] },
        Readout::Values { names: target.names.clone() },
        SolverReport {
            status: fits.iter().map(|fit| fit.report.status).find(|s| *s != Status::Converged).unwrap_or(first.status),
            iterations: fits.iter().map(|fit| fit.report.iterations).sum(),
            objective: fits.iter().map(|fit| fit.report.objective).sum(),
            notes,
            ..first
        },
    ))
}
