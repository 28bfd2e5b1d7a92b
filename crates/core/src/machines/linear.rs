//! Shared parts of linear machines: features packed once, problems solved side by side, one report of all.

use super::evidence::{Evidence, join};
use super::fitted::each;
use super::{Coefficients, Expansion, FitError, SolverReport, Task};
use crate::data::Vectors;
use crate::solvers::coordinate_descent::{
    DescentOptions, Design, LinearLoss, LinearProblems, LinearSolution, coordinate_descent,
};
use crate::solvers::newton::{newton, suits};
use crate::watch::Monitor;

/// One linear machine on its way to a solution.
pub(super) struct Linear<'a> {
    /// Its name.
    pub(super) machine: &'static str,
    /// The machine for other kernels.
    pub(super) instead: &'static str,
    pub(super) task: &'a Task<'a>,
    pub(super) loss: LinearLoss,
    pub(super) tolerance: f64,
    pub(super) max_iterations: usize,
    /// The value of the constant feature.
    pub(super) bias: Option<f64>,
    /// C_t of every example.
    pub(super) costs: Vec<f64>,
}

impl Linear<'_> {
    /// Solves `count` problems on the same examples; `targets` gives y of an example (second) in a problem (first).
    pub(super) fn solve(
        &self,
        count: usize,
        targets: &(dyn Fn(usize, usize) -> f64 + Sync),
        watch: &dyn Monitor,
    ) -> Result<(Expansion, SolverReport), FitError> {
        let design = self.design(count)?;
        let (tolerance, max_iterations, seed) = (self.tolerance, self.max_iterations, self.task.seed);
        let problems = LinearProblems { design: &design, count, targets, costs: &self.costs, loss: self.loss };
        let options = DescentOptions { tolerance, max_iterations, seed };
        // the rows with their zeros, and those with curvature scaled
        let copies = design.len().saturating_mul(design.weights()).saturating_mul(16);
        let roomy = self.task.budget.check(copies, "Newton's method").is_ok();
        let solutions = if roomy && suits(&design, self.loss) {
            newton(&problems, &options, watch)
        } else {
            coordinate_descent(&problems, &options, watch)
        };
        let solutions = solutions.map_err(|error| FitError::Solve { machine: self.machine, error })?;
        let report = prove(&solutions);
        let packed: Vec<Vec<f64>> = solutions.into_iter().map(|s| s.weights).collect();
        let (weights, offsets) = design.unpack(&packed);
        let width = weights.len() / count.max(1);
        Ok((Expansion { coefficients: Coefficients::Primal { weights, width, scale: 1.0 }, offsets }, report))
    }

    /// Packs the features.
    fn design(&self, count: usize) -> Result<Design, FitError> {
        let features = self.task.features.as_ref().filter(|f| f.scale >= 0.0);
        let none = FitError::NoFeatures { machine: self.machine, instead: self.instead };
        let features = features.ok_or(none)?;
        let (n, width) = (features.rows.len(), features.rows.width());
        let stored = match &features.rows {
            Vectors::Dense(_) => n.saturating_mul(width).saturating_mul(8),
            Vectors::Sparse(rows) => rows.coordinates().len().saturating_mul(12),
        };
        // weights as they are solved for, and as they are kept
        let weights = width.saturating_mul(count).saturating_mul(16);
        self.task.budget.check(stored.saturating_add(weights), "the features and weights of a linear machine")?;
        Ok(match &features.rows {
            Vectors::Dense(rows) => Design::dense(rows.values(), n, width, features.scale, self.bias),
            Vectors::Sparse(rows) => {
                let coordinates = rows.coordinates().iter().map(|c| (c.index, c.value));
                Design::sparse(coordinates, rows.starts(), width, features.scale, self.bias)
            }
        })
    }
}

/// The evidence of all problems: sums, and the worst.
fn prove(solutions: &[LinearSolution]) -> SolverReport {
    let evidence: Vec<Evidence> = solutions
        .iter()
        .map(|s| Evidence {
            objective: Some(s.primal),
            gap: Some(s.gap()),
            violation: Some(s.violation),
            ..Evidence::new(s.status, s.iterations)
        })
        .collect();
    let n = solutions.first().map_or(0, |s| s.coefficients.len());
    let support = (0..n).filter(|&i| solutions.iter().any(|s| s.coefficients[i] != 0.0)).count();
    SolverReport {
        iterations_of_each: each(solutions.iter().map(|s| s.iterations)),
        support: Some(support),
        storage: "explicit features, no kernel matrix".to_owned(),
        notes: vec![("dual_objective".to_owned(), solutions.iter().map(|s| s.dual).sum())],
        ..join(&evidence)
    }
}
