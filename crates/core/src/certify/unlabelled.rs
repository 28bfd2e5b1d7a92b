//! A prior from examples without labels: short where nothing lies, so that the directions in which examples lie cost less.
//!
//! ```text
//! P = N(0, S),  S⁻¹ = I + (c/u) Σ φ(u_j)φ(u_j)ᵀ,  Q = N(μ w, S) with wᵀS⁻¹w = 1,  KL = ½μ²
//! wᵀS⁻¹w = ‖w‖² + (c/u) Σ f(u_j)²
//! φ(x)ᵀSφ(x) = κ(x, x) − κ_xᵀ (K_u + (u/c) I)⁻¹ κ_x
//! ```
//! The prior is fixed before the labelled examples whatever the unlabelled ones are, so that nothing is paid for them; c is taken from a
//! grid, whose logarithm is.
//!
//! # Source
//! Herbrich (2002), Remark 5.13; Catoni (2007), chapter 1, and Langford & Shawe-Taylor (2003), Thm. 3.1, with the covariance of the prior
//! in the place of the identity.

use super::held_out::seen_before;
use super::seen::Seen;
use crate::bounds::{Facts, Task};
use crate::data::{DataError, Dataset};
use crate::error::Error;
use crate::gram::{Side, diagonal, fill};
use crate::linalg::Cholesky;
use crate::model::Model;

/// The grid of c, fixed before the data.
const WEIGHTS: [f64; 8] = [0.1, 1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6];
/// Largest number of unlabelled examples, of which a matrix is factored.
const MAX_EXAMPLES: usize = 5000;

/// Γ_i of the model under the prior of each c.
pub(super) fn unlabelled(
    facts: &mut Facts,
    model: &Model,
    training: &Dataset,
    seen: &Seen,
    examples: &Dataset,
) -> Result<(), Error> {
    let usage = |finding: String| Error::from(DataError::Usage { finding });
    let Some(linear) = facts.linear.as_ref().filter(|_| facts.task == Task::Classes(2)) else { return Ok(()) };
    if model.kernel.tells_places() || linear.squared_norm <= 0.0 {
        return Ok(());
    }
    let u = examples.len();
    if u == 0 || u > MAX_EXAMPLES {
        return Err(usage(format!("{u} unlabelled examples: give 1 to {MAX_EXAMPLES} of them")));
    }
    // in any order, and a part of them, too: the prior would know examples that it is judged by
    seen_before(&training.clone().without_target(), &examples.clone().without_target(), "unlabelled")?;
    let plus = if linear.homogeneous { 0.0 } else { 1.0 };
    let of_examples = model.kernel.cross(examples, examples)?;
    let across = model.kernel.cross(training, examples)?;
    let n = training.len();
    let (mut k, mut rows) = (vec![0.0; u * u], vec![0.0; n * u]);
    fill(of_examples.as_ref(), &mut k);
    fill(across.as_ref(), &mut rows);
    k.iter_mut().chain(&mut rows).for_each(|value| *value += plus);
    let own = across.self_similarities(Side::Rows);
    let own = own.map_or_else(|| model.kernel.cross(training, training).map(|g| diagonal(g.as_ref())), Ok)?;
    let scores = model.scores(examples)?;
    let told = |j: usize| match seen.outputs {
        2 => 0.5 * (scores[2 * j] - scores[2 * j + 1]),
        _ => scores[j],
    };
    let squares = (0..u).map(|j| told(j).powi(2)).sum::<f64>() / u as f64;
    let mut found = Vec::with_capacity(WEIGHTS.len());
    for c in WEIGHTS {
        let mut ridged = k.clone();
        (0..u).for_each(|j| ridged[j * u + j] += u as f64 / c);
        // a matrix that has no factor within rounding is left out: the prior of another c holds as well
        let Ok(factor) = Cholesky::factor(ridged, u) else { continue };
        let explained = factor.inverse_norms(&rows);
        let length = (linear.squared_norm + c * squares).sqrt();
        let gamma = |i: usize| {
            let squared = own[i] + plus - explained[i];
            let reach = length * squared.max(0.0).sqrt();
            if reach > 0.0 { ((linear.margins[i] - linear.slack) / reach).clamp(-1.0, 1.0) } else { f64::NEG_INFINITY }
        };
        found.push((0..n).map(gamma).collect());
    }
    facts.unlabelled = found;
    Ok(())
}
