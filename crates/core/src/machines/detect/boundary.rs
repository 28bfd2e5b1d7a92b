//! The offset of a region that holds all but a share ν of its examples.

use crate::gram::apply;
use crate::machines::Task;
use crate::solvers::smo::Solution;
use crate::watch::Status;
use std::sync::Arc;

/// The rounding of scores, relative to the largest sum that they may be: a score of a model that was saved, and of an example that
/// stands alone or among others, differs by less.
const ROUNDING: f64 = 64.0 * f64::EPSILON;
/// The error of the solver's state, whose kernel values are single precision.
const ROW_ERROR: f64 = 1e-6;

/// A region f(x_t) = (Kβ)_t − c_t + b ≥ 0.
pub(super) struct Region {
    /// b.
    pub(super) offset: f64,
    /// The number of examples with f < 0.
    pub(super) outside: usize,
}

/// The region of a solution of min ½ βᵀKβ − cᵀβ, 0 ≤ β ≤ w, Σβ = ν Σw: as the solver found it, but that no example below its bound is
/// outside.
///
/// Examples on the boundary are there up to the tolerance only, half of them on the wrong side. At most ν Σw can be at their bounds, so
/// that the offset at which all others have f ≥ 0 leaves at most a share ν outside, whatever the tolerance. It is at most the violation
/// away from the solver's. A fit that ended early keeps the offset of the solver, since its examples may be anywhere.
pub(super) fn region(task: &Task<'_>, weights: &[f64], linear: &[f64], own: &[f64], solution: &Solution) -> Region {
    let offset = solution.offsets[0];
    let points: Vec<usize> = (0..weights.len()).filter(|&t| solution.beta[t] != 0.0).collect();
    let beta: Vec<f64> = points.iter().map(|&t| solution.beta[t]).collect();
    let most = |values: &[f64]| values.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    // for kernels with a diagonal of zeros the state tells the size of the sums
    let size = solution.beta.iter().sum::<f64>() * most(own) + most(&solution.state) + most(linear) + offset.abs();
    // the state of all others is beyond doubt
    let ended = solution.status == Status::Converged && solution.whole;
    let near: Vec<usize> = (0..weights.len())
        .filter(|&t| !solution.whole || offset - solution.state[t] <= solution.violation + ROW_ERROR * size)
        .collect();
    let mut heights = vec![0.0; near.len()];
    apply(Arc::clone(&task.gram).restrict(&near, &points).as_ref(), &beta, 1, &mut heights);
    heights.iter_mut().zip(&near).for_each(|(height, &t)| *height -= linear[t]);
    let free = heights.iter().zip(&near).filter(|&(_, &t)| solution.beta[t] < weights[t]);
    let lowest = free.fold(f64::INFINITY, |lowest, (height, _)| lowest.min(*height));
    let offset = if ended && lowest.is_finite() { offset.max(ROUNDING * size - lowest) } else { offset };
    Region { offset, outside: heights.iter().filter(|&&height| height + offset < 0.0).count() }
}
