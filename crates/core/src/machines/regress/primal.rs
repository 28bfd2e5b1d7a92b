//! Ridge regression on explicit features: (s XᵀX + λI) w = Xᵀy with f(x) = s⟨w, x⟩.
//!
//! With K = s XXᵀ and w = Xᵀα, multiplying (K + λI) α = y by Xᵀ gives that system, and f(x) = s Σ α_i ⟨x_i, x⟩ = s⟨w, x⟩;
//! ‖f‖² = αᵀKα = s‖w‖².

use crate::linalg::SolveError;
use crate::linalg::{Cholesky, Eigen, gram_of_columns, multiply_add, symmetric_eigen, transposed_multiply};
use crate::parallel;
use crate::solvers::direct::{factor_shifted, finite, shifted_inverse};
use rayon::prelude::*;

/// Rows that one thread takes at a time.
const STRIP: usize = 256;

/// The data of a problem: X (n × d), the scale s and Y (n × outputs).
#[derive(Clone, Copy)]
pub(super) struct Explicit<'a> {
    pub(super) x: &'a [f64],
    pub(super) width: usize,
    pub(super) scale: f64,
    pub(super) y: &'a [f64],
    pub(super) outputs: usize,
}

/// A solution.
pub(super) struct PrimalFit {
    /// w, d × outputs.
    pub(super) weights: Vec<f64>,
    /// f(x_i), n × outputs.
    pub(super) fitted: Vec<f64>,
    /// y_i − f₋ᵢ(x_i), n × outputs.
    pub(super) left_out: Vec<f64>,
}

impl Explicit<'_> {
    /// s XᵀX.
    fn matrix(&self) -> Result<Vec<f64>, SolveError> {
        let mut matrix = gram_of_columns(self.x, self.x.len() / self.width, self.width);
        for m in &mut matrix {
            *m *= self.scale;
        }
        finite(&matrix, self.width).map(|()| matrix)
    }

    /// Solves for one λ by Cholesky.
    pub(super) fn solve(&self, lambda: f64) -> Result<PrimalFit, SolveError> {
        let factor: Cholesky = factor_shifted(self.matrix()?, self.width, lambda)?;
        let mut weights = transposed_multiply(self.x, self.width, self.y, self.outputs);
        factor.solve(&mut weights, self.outputs);
        let fitted = self.predict(self.x, &weights);
        let left_out = self.left_out(&fitted, &factor.inverse_norms(self.x));
        Ok(PrimalFit { weights, fitted, left_out })
    }

    /// s Z v for rows Z of d numbers.
    fn predict(&self, rows: &[f64], weights: &[f64]) -> Vec<f64> {
        let (d, k) = (self.width, self.outputs);
        let mut out = vec![0.0; rows.len() / d * k];
        parallel::strips_beside((&mut out, STRIP * k), (rows, STRIP * d), |out, rows| {
            multiply_add(rows, rows.len() / d, d, weights, k, out);
            for f in out {
                *f *= self.scale;
            }
        });
        out
    }

    /// y_i − f₋ᵢ(x_i) = (y_i − f(x_i)) / (1 − H_ii) with H_ii = s x_iᵀ (s XᵀX + λI)⁻¹ x_i: the dual form α_i / (A⁻¹)_ii
    /// with α = (y − f)/λ and A⁻¹ = (I − H)/λ.
    fn left_out(&self, fitted: &[f64], norms: &[f64]) -> Vec<f64> {
        let rest = self.y.iter().zip(fitted).enumerate();
        rest.map(|(p, (y, f))| (y - f) / (1.0 - self.scale * norms[p / self.outputs])).collect()
    }

    /// ‖Xᵀ(y − f) − λw‖ / ‖Xᵀy‖: how well the system is solved.
    pub(super) fn relative_residual(&self, fit: &PrimalFit, lambda: f64) -> f64 {
        let rest: Vec<f64> = self.y.iter().zip(&fit.fitted).map(|(y, f)| y - f).collect();
        let left = transposed_multiply(self.x, self.width, &rest, self.outputs);
        let right = transposed_multiply(self.x, self.width, self.y, self.outputs);
        let off: f64 = left.iter().zip(&fit.weights).map(|(l, w)| (l - lambda * w).powi(2)).sum();
        let size: f64 = right.iter().map(|r| r * r).sum();
        if size > 0.0 { (off / size).sqrt() } else { off.sqrt() }
    }
}

/// s XᵀX = QΛQᵀ and XQ: every λ costs O(n d outputs) from here on.
pub(super) struct PrimalSpectrum<'a> {
    problem: Explicit<'a>,
    eigen: Eigen,
    /// XQ, row by row.
    turned: Vec<f64>,
    /// QᵀXᵀY, row by row.
    target: Vec<f64>,
}

impl<'a> PrimalSpectrum<'a> {
    pub(super) fn new(problem: Explicit<'a>) -> Result<Self, SolveError> {
        let d = problem.width;
        let eigen = symmetric_eigen(problem.matrix()?, d)?;
        let mut turned = vec![0.0; problem.x.len()];
        parallel::strips_beside((&mut turned, STRIP * d), (problem.x, STRIP * d), |out, rows| {
            multiply_add(rows, rows.len() / d, d, &eigen.vectors, d, out);
        });
        let target = transposed_multiply(&turned, d, problem.y, problem.outputs);
        Ok(Self { problem, eigen, turned, target })
    }

    /// The eigenvalues of s XᵀX, which are those of K that are not zero; the largest first.
    pub(super) fn values(&self) -> &[f64] {
        &self.eigen.values
    }

    pub(super) fn at(&self, lambda: f64) -> Result<PrimalFit, SolveError> {
        let (d, k) = (self.problem.width, self.problem.outputs);
        let inverse = shifted_inverse(&self.eigen.values, lambda)?;
        let scaled: Vec<f64> = self.target.iter().enumerate().map(|(p, t)| t * inverse[p / k]).collect();
        let mut weights = vec![0.0; d * k];
        multiply_add(&self.eigen.vectors, d, d, &scaled, k, &mut weights);
        let fitted = self.problem.predict(&self.turned, &scaled);
        let norm = |row: &[f64]| row.iter().zip(&inverse).map(|(b, i)| b * b * i).sum::<f64>();
        let norms: Vec<f64> = self.turned.par_chunks_exact(d).map(norm).collect();
        let left_out = self.problem.left_out(&fitted, &norms);
        Ok(PrimalFit { weights, fitted, left_out })
    }
}
