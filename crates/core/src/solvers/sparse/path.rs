//! Solutions over a range of λ, each from the one before.

use super::certificate::{balanced, most};
use super::offset::best_offset;
use super::terms::Terms;
use super::{SparseOptions, SparseProgramme, SparseSolution, coordinate_descent, solve};
use crate::linalg::SolveError;
use crate::watch::Monitor;

/// A λ from which on α = 0 is optimal: ‖Kᵀβ‖∞ for the slopes β of the losses at α = 0 with the best b.
///
/// For smooth losses it is the least such λ; ‖Kᵀ(y − ȳ)‖∞ for the squared one. A loss that bends has several β at α = 0, of
/// which this takes the one that treats all examples at a bend alike: α may then vanish a little below already.
///
/// # Source
/// Mika (2002), after (3.54), worked out for all losses.
///
/// # Errors
/// As [`solve`]; `programme.lambda` plays no part but must be positive.
pub fn lambda_max(programme: &SparseProgramme<'_>) -> Result<f64, SolveError> {
    let terms = Terms::new(programme)?;
    programme.columns.finite()?;
    let (_, slopes) = best_offset(&terms, &vec![0.0; terms.len()]);
    let slopes = balanced(&terms, &slopes);
    Ok(most(&programme.columns.prices(&terms.spread(&slopes))?))
}

/// The solutions at the given λ, in their order: each starts from the one before, so λ is best given from the largest on
/// ([`lambda_max`] is a natural top). Smooth losses go by coordinate descent, the others by [`solve`].
///
/// # Errors
/// As [`solve`].
pub fn path(
    programme: &SparseProgramme<'_>,
    lambdas: &[f64],
    options: &SparseOptions,
    watch: &dyn Monitor,
) -> Result<Vec<SparseSolution>, SolveError> {
    let mut found: Vec<SparseSolution> = Vec::with_capacity(lambdas.len());
    for &lambda in lambdas {
        let start = found.last().map(|s| s.alpha.as_slice()).or(programme.start);
        let one = SparseProgramme { lambda, start, ..*programme };
        let smooth = Terms::new(&one)?.steepest().is_some();
        let solution = if smooth { coordinate_descent(&one, options, watch) } else { solve(&one, options, watch) }?;
        found.push(solution);
    }
    Ok(found)
}
