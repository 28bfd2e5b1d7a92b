//! Smoothers: fits that are linear in the targets, with what it takes to fit one example more.

use super::{FitError, Task};
use crate::linalg::{Triangle, cholesky_bytes};
use crate::solvers::direct::solve_shifted;
use crate::watch::{Monitor, Phase};

/// A fit (K + λ1) α = Y with the factor of its matrix. The fit on one example (x, y) more, at the same λ, has the coefficients
/// ```text
/// α − r u   and   r = (y − k(x)ᵀα) / s,   with u = (K + λ1)⁻¹ k(x) and s = κ(x, x) + λ − k(x)ᵀu
/// ```
/// and its residuals are λ times these: linear in y, whatever it is.
///
/// # Source
/// The inverse of a matrix of blocks (Rasmussen & Williams 2006, A.3).
#[derive(Clone, Debug, PartialEq)]
pub struct Smoother {
    /// λ, the same number for any number of examples.
    pub lambda: f64,
    /// U with UᵀU = K + λ1.
    pub factor: Triangle,
    /// α, n × outputs numbers row by row.
    pub alpha: Vec<f64>,
}

impl Smoother {
    /// Solves for the targets of a task, by Cholesky: n³/3 multiplications and n² numbers.
    ///
    /// # Errors
    /// If the target is not of numbers, the matrix does not fit into memory or is not positive definite, or the monitor ends it.
    pub fn new(machine: &'static str, lambda: f64, task: &Task<'_>, watch: &dyn Monitor) -> Result<Self, FitError> {
        let solve = |error| FitError::Solve { machine, error };
        let alive = |phase: Phase| watch.alive(phase.into()).map_err(|reason| solve(reason.into()));
        let (n, target) = (task.len(), task.numbers(machine)?);
        let outputs = target.names.len();
        alive(Phase::KERNEL_MATRIX)?;
        // a handful of right-hand sides, too
        let bytes = cholesky_bytes(n) + 8 * n * 6 * outputs;
        let matrix = task.budget.dense(&*task.gram, bytes, "a fit that takes candidates in")?;
        alive(Phase::FACTORISATION)?;
        let found = solve_shifted(matrix.into_values(), n, lambda, &target.values, outputs).map_err(solve)?;
        Ok(Self { lambda, factor: found.factor.into_triangle(), alpha: found.alpha })
    }
}
