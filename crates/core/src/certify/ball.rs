//! The smallest ball that holds the training examples in feature space.

use super::Options;
use crate::bounds::Facts;
use crate::data::{Dataset, Kind};
use crate::error::Error;
use crate::gram::{Side, diagonal};
use crate::job::Job;
use crate::machines::detect::Svdd;
use crate::machines::{Effort, Fact};
use crate::model::Model;
use crate::watch::Monitor;

/// The accuracy of the ball's multipliers.
const TOLERANCE: f64 = 1e-6;

/// The radius of the smallest ball: without an offset around the origin, where it is the longest example, and with one anywhere, where it is
/// that of `svdd` with ν = 1/m: max_i ‖φ(x_i) − a‖ with the centre a that the solver finds, so that no example is outside whatever its
/// tolerance. A kernel that knows examples by their places has no such ball in the space of predictions.
pub(super) fn ball(
    facts: &mut Facts,
    model: &Model,
    training: &Dataset,
    options: &Options<'_>,
    watch: &dyn Monitor,
) -> Result<(), Error> {
    let Some(linear) = facts.linear.as_ref().filter(|_| !model.kernel.tells_places()) else { return Ok(()) };
    if linear.homogeneous {
        let gram = model.kernel.training_gram(training)?;
        let lengths = gram.self_similarities(Side::Rows).unwrap_or_else(|| diagonal(gram.as_ref()));
        facts.kernel.ball = Some(lengths.into_iter().fold(0.0, f64::max).sqrt());
        return Ok(());
    }
    // a matrix that is given tells no κ(x, x) of an example to be judged
    if model.kernel.views().iter().any(|(_, kind)| *kind == Kind::Precomputed) {
        return Ok(());
    }
    let effort = Effort { tolerance: TOLERANCE, ..Effort::default() };
    let machine = Svdd { nu: 1.0 / training.len().max(1) as f64, effort };
    let job = Job { budget: options.budget, seed: options.seed, ..Job::new(&machine, &model.kernel) };
    let found = job.run(training, watch)?;
    // f(x) = R² − ‖φ(x) − a‖², and the offset is R² − ‖a‖²
    let (Some(centre), Some(offset)) =
        (found.fitted.report.fact(Fact::SquaredNorm), found.fitted.expansion.offsets.first())
    else {
        return Ok(());
    };
    let least = found.scores(training)?.into_iter().fold(f64::INFINITY, f64::min);
    facts.kernel.ball = Some((offset + centre - least).max(0.0).sqrt());
    Ok(())
}
