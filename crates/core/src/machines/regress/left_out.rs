//! Ridge regression without each example in turn, in closed form.

use super::ridge::{Ridge, Run, rms};
use crate::data::Numbers;
use crate::gram::{Gram, fill};
use crate::linalg::SolveError;
use crate::machines::{Coefficients, Expansion, Fact, FitError, Fitted, HeldOutAnswer, HeldOutRequest, Task};
use crate::params::Auto;
use crate::solvers::direct::{self, Direct, Spectrum, leave_one_out};
use crate::watch::{Monitor, Status};

/// The leave-one-out error at one λ.
#[derive(Clone, Debug, PartialEq)]
pub struct LooPoint {
    /// λ.
    pub lambda: f64,
    /// Root of the mean square of all residuals.
    pub rmse: f64,
    /// y_i − f₋ᵢ(x_i), n × outputs numbers row by row.
    pub residuals: Vec<f64>,
}

impl Ridge {
    /// The scores of examples left out at the λ of a fit, by a factorisation of its own where the fit was none.
    pub(super) fn with_left_out(
        &self,
        fitted: Fitted,
        target: &Numbers,
        task: &Task<'_>,
        watch: &dyn Monitor,
    ) -> Result<Fitted, FitError> {
        let whole = matches!(fitted.report.status, Status::Converged | Status::IterationLimit);
        let Some(lambda) = fitted.report.fact(Fact::Lambda).filter(|_| whole && fitted.held_out.is_none()) else {
            return Ok(fitted);
        };
        let run = Run::new(self, Auto::Value(lambda), target, task, watch);
        let found = run.factorised(run.dense(task, 0)?)?;
        let residuals = leave_one_out(&found.alpha, &found.factor.inverse_diagonal());
        let held_out = run.left_out(&found, &residuals);
        Ok(fitted.with_held_out(Some(held_out)))
    }

    /// The exact leave-one-out error along a path of λ, from one eigendecomposition of K: O(n³) once and O(n² outputs) for
    /// each λ. Stores K; the parameters of the machine play no part.
    pub fn loo_path(
        &self,
        gram: &dyn Gram,
        y: &[f64],
        outputs: usize,
        lambdas: &[f64],
    ) -> Result<Vec<LooPoint>, SolveError> {
        let n = gram.shape().0;
        let mut matrix = vec![0.0; n * n];
        fill(gram, &mut matrix);
        let spectrum = Spectrum::new(matrix, n, y, outputs)?;
        let point = |&lambda: &f64| {
            let residuals = spectrum.at(lambda)?.left_out;
            Ok(LooPoint { lambda, rmse: rms(&residuals), residuals })
        };
        lambdas.iter().map(point).collect()
    }
}

impl Run<'_> {
    /// Scores y − r of examples left out from their residuals r, and the models where they are wanted.
    pub(super) fn left_out(&self, found: &Direct, residuals: &[f64]) -> HeldOutAnswer {
        let scores = self.target.values.iter().zip(residuals).map(|(y, r)| y - r).collect();
        let models = (self.held_out == HeldOutRequest::LeaveOneOutModels).then(|| Expansion {
            coefficients: Coefficients::Dual {
                points: (0..self.n).collect(),
                alpha: direct::left_out_models(&found.alpha, &found.factor),
            },
            offsets: vec![0.0; self.n * self.outputs],
        });
        HeldOutAnswer { models, ..HeldOutAnswer::outputs(scores) }
    }
}
