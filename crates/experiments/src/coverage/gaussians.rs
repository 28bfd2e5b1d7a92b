//! Two normal distributions N(±μ, I) and linear machines without offset.
//!
//! ```text
//! R[w] = Φ(−⟨w, μ⟩/‖w‖)        P(y ⟨w, x⟩ < 1) = Φ((1 − ⟨w, μ⟩)/‖w‖)
//! ```

use super::super::samples::{facts, fit, gaussians, weights};
use super::{Must, Said, World, claims};
use mercer::bounds::Quantity;
use mercer::certify::Options;
use mercer::distributions::upper_normal;
use mercer::formula::{Formula, linear};
use mercer::machines::classify::Svc;
use mercer::seed::Random;
use mercer_terminal::Failure;

/// A soft margin and examples that are held out. The errors on the training examples are the control that must fail.
pub(super) const SOFT: World = World {
    name: "gaussians",
    about: "60 examples in the plane, ±(1, 0), svc with C = 1; 40 held out",
    delta: 0.2,
    one_in: 1,
    draw: soft,
};

/// The kernel of unit vectors, whose radius is known, and a C so small that stability says something.
pub(super) const NORMALISED: World = World {
    name: "unit vectors",
    about: "400 examples in three dimensions, ±(1.5, 0, 0), scaled to length 1, svc with C = 0.002",
    delta: 0.2,
    one_in: 1,
    draw: normalised,
};

/// A hard margin in the plane. At times one support vector determines it, so that the bound before the data has room.
pub(super) const SEPARABLE: World = World {
    name: "separable",
    about: "50 examples in the plane, ±(4, 0), svc with a hard margin",
    delta: 0.05,
    one_in: 1,
    draw: separable,
};

/// A fit to a sample and what is true of it.
struct Fit {
    said: Vec<Said>,
    risk: f64,
    training_error: f64,
}

/// Sizes of the sample and of what is held out, coordinates, and the distance of the means from 0.
struct Sample {
    examples: usize,
    held_out: usize,
    width: usize,
    shift: f64,
}

fn fitted(random: &mut Random, delta: f64, sample: &Sample, machine: &Svc, kernel: &Formula) -> Result<Fit, Failure> {
    let data = gaussians(random, sample.examples, sample.width, sample.shift)?;
    let held_out = gaussians(random, sample.held_out, sample.width, sample.shift)?;
    let model = fit(machine, kernel, &data)?;
    let w = weights(&model, sample.width)?;
    let norm = w.iter().map(|w| w * w).sum::<f64>().sqrt();
    let towards = w[0] * sample.shift;
    // a model that never decides errs for one class
    let risk = if norm > 0.0 { upper_normal(towards / norm) } else { 0.5 };
    let margin_violation = if norm > 0.0 { upper_normal((towards - 1.0) / norm) } else { 1.0 };
    let held_out = (sample.held_out > 0).then_some(&held_out);
    let unlabelled = gaussians(random, sample.examples, sample.width, sample.shift)?.without_target();
    let options = Options { delta, held_out, informed: true, unlabelled: Some(&unlabelled), ..Options::default() };
    let facts = facts(&model, &data, &options)?;
    let unscaled = *kernel == linear();
    let said = claims(&facts, delta, |_, _, quantity| match quantity {
        Quantity::ZeroOneRisk => Some(risk),
        Quantity::MarginViolation => unscaled.then_some(margin_violation),
        _ => None,
    });
    Ok(Fit { said, risk, training_error: facts.error_rate().unwrap_or(1.0) })
}

fn soft(random: &mut Random, delta: f64) -> Result<Vec<Said>, Failure> {
    let sample = Sample { examples: 60, held_out: 40, width: 2, shift: 1.0 };
    let machine = Svc { c: 1.0, bias: false, ..Svc::default() };
    let mut fit = fitted(random, delta, &sample, &machine, &linear())?;
    fit.said.push(Said::upper("no bound, the training error", Must::Fail, fit.training_error, fit.risk));
    Ok(fit.said)
}

fn normalised(random: &mut Random, delta: f64) -> Result<Vec<Said>, Failure> {
    let sample = Sample { examples: 400, held_out: 0, width: 3, shift: 1.5 };
    let machine = Svc { c: 0.002, bias: false, ..Svc::default() };
    Ok(fitted(random, delta, &sample, &machine, &linear().normalise())?.said)
}

fn separable(random: &mut Random, delta: f64) -> Result<Vec<Said>, Failure> {
    let sample = Sample { examples: 50, held_out: 0, width: 2, shift: 4.0 };
    let machine = Svc { c: f64::INFINITY, bias: false, ..Svc::default() };
    Ok(fitted(random, delta, &sample, &machine, &linear())?.said)
}
