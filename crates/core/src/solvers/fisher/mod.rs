//! Kernel Fisher discriminants: least squares on ±1 with a quadratic penalty and a free offset.
//!
//! ```text
//! min over (α, b)  ½ Σ_i w_i ξ_i² + λ P(α),   ξ = y − Kα − b1,   P = ½ αᵀKα (norm) or ½ ‖α‖² (coefficients)
//! ```
//! With G = K or KᵀK the optimum is (G + λW⁻¹)γ + b1 = y, 1ᵀγ = 0, where W holds the weights; the dual variables are
//! β = λγ = Wξ, and α = γ or Kγ. The direction is that of the Rayleigh quotient (αᵀδ)² / αᵀ(S + μP″)α with the scatter S
//! inside the classes, and μ = λ exactly. All of it holds for any number of right-hand sides, which share the matrix.
//!
//! # Source
//! Mika (2002), §3.4.4–3.4.7 and §3.5. The thesis claims nonsingular systems for large C only; they are for every C > 0.

pub mod direct;
pub mod eigen;
pub mod greedy;
mod left_out;
pub mod pair_descent;
pub mod path;
pub mod shifted;
pub mod subset;
#[cfg(test)]
mod tests;

use super::Penalty;
use crate::linalg::SolveError;
use crate::linalg::{Cholesky, NotPositive};
use crate::watch::{Monitor, Phase, Progress, Status};

/// The penalties of plain discriminants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quadratic {
    /// ½ αᵀKα = ½‖w‖².
    Norm,
    /// ½ ‖α‖².
    Coefficients,
}

impl Quadratic {
    /// The quadratic one of the penalties; `None` for ‖α‖₁.
    pub fn of(penalty: Penalty) -> Option<Self> {
        match penalty {
            Penalty::Norm => Some(Self::Norm),
            Penalty::Coefficients => Some(Self::Coefficients),
            Penalty::Sparse => None,
        }
    }
}

/// The targets, weights and penalty of a fit: all but the matrix.
#[derive(Clone, Copy, Debug)]
pub struct Aim<'a> {
    /// y, n × outputs numbers row by row.
    pub y: &'a [f64],
    /// Number of right-hand sides.
    pub outputs: usize,
    /// Weight of each example, above zero.
    pub weights: &'a [f64],
    /// λ > 0.
    pub lambda: f64,
    /// P.
    pub penalty: Quadratic,
}

impl Aim<'_> {
    /// Number of examples.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// True if it is empty.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// Σw.
    pub fn mass(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// One right-hand side.
    pub fn column(&self, output: usize) -> impl Iterator<Item = f64> + '_ {
        self.y.iter().skip(output).step_by(self.outputs.max(1)).copied()
    }

    /// Σ w y / Σ w of each right-hand side.
    fn means(&self) -> Vec<f64> {
        let mass = self.mass();
        let mean = |c| self.column(c).zip(self.weights).map(|(y, w)| w * y).sum::<f64>() / mass;
        (0..self.outputs).map(mean).collect()
    }
}

/// A discriminant for each right-hand side.
#[derive(Clone, Debug)]
pub struct Discriminants {
    /// The examples that carry α.
    pub points: Vec<usize>,
    /// α, points × outputs numbers row by row.
    pub alpha: Vec<f64>,
    /// b of each output.
    pub offsets: Vec<f64>,
    /// Kα + b of all examples, n × outputs row by row.
    pub scores: Vec<f64>,
    /// ½ Σ w ξ² + λ P(α) of each output.
    pub objectives: Vec<f64>,
    /// ½ Σ w r² of each output, where r is what the optimality conditions lack: exactly primal minus dual objective at
    /// β = λγ where α = Kγ, to which ½ λ ‖α − Kγ‖² is added where that is refined on its own. `None` where the solver has no dual variables.
    pub gaps: Option<Vec<f64>>,
    /// Residual of the system that was solved, relative to its right-hand side. Of the greedy search: the value that its
    /// drops add up to beside that of the function, relative to the first.
    pub relative_residual: f64,
    /// The number that had to be added to the diagonal before the matrix could be factorised.
    pub jitter: f64,
}

/// Relative residual of the equations that is allowed where rounding permits no less.
pub const RESIDUAL_ALLOWED: f64 = 1e-6;

impl Discriminants {
    /// True if the equations hold but for rounding.
    pub fn holds(&self) -> bool {
        self.relative_residual <= RESIDUAL_ALLOWED
    }

    /// The status of equations that are solved and refined: where the steps of refinement have left more than rounding, their limit came
    /// first.
    pub fn status(&self) -> Status {
        if self.holds() { Status::Converged } else { Status::IterationLimit }
    }
}

/// The Rayleigh quotient J of a discriminant from its optimal value: ½ yᵀβ = 2 m₊m₋ / (m + m₊m₋ J), where m are the sums of
/// the weights.
pub fn quotient(objective: f64, plus: f64, minus: f64) -> f64 {
    2.0 / objective - (plus + minus) / (plus * minus)
}

/// Numbers that are added to the diagonal in turn, as parts of its mean, where the matrix is singular to rounding.
const JITTERS: [f64; 5] = [0.0, 1e-14, 1e-12, 1e-10, 1e-8];
/// The remedy where even that does not help.
const REMEDY: &str = "increase lambda, or take a kernel that is positive definite";

/// Factorises a matrix that `make` writes, adding ever larger jitter where that fails; with the jitter.
fn factor(
    n: usize,
    make: &mut dyn FnMut() -> Result<Vec<f64>, SolveError>,
    watch: &dyn Monitor,
) -> Result<(Cholesky, f64), SolveError> {
    let mut failure = NotPositive { index: 0, value: f64::NAN };
    for (done, part) in JITTERS.into_iter().enumerate() {
        watch.alive(Progress::new(Phase::FACTORISATION, done))?;
        let mut matrix = make()?;
        super::direct::finite(&matrix, n)?;
        let mean = (0..n).map(|i| matrix[i * n + i].abs()).sum::<f64>() / n.max(1) as f64;
        let jitter = part * mean;
        (0..n).for_each(|i| matrix[i * n + i] += jitter);
        match Cholesky::factor(matrix, n) {
            Ok(factor) => return Ok((factor, jitter)),
            Err(error) => failure = error,
        }
    }
    Err(SolveError::Pivot { index: failure.index + 1, value: failure.value, remedy: REMEDY })
}

/// Sums over the rows of each column of n × k numbers, each row times its factor.
fn column_sums(x: &[f64], k: usize, factor: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut sums = vec![0.0; k];
    for (i, row) in x.chunks_exact(k.max(1)).enumerate() {
        let f = factor(i);
        sums.iter_mut().zip(row).for_each(|(s, x)| *s += f * x);
    }
    sums
}
