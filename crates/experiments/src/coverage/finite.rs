//! A domain of 64 places, each with its own chance of class +1: every risk is a sum.

use super::super::samples::{facts, fit, labelled, points, scores};
use super::{Must, Said, World, claims};
use mercer::bounds::{ComplexityPenalty, Facts, HeldOutErrors, Quantity, Task, test_set};
use mercer::certify::Options;
use mercer::data::Dataset;
use mercer::distributions::binomial_upper;
use mercer::formula::rbf;
use mercer::machines::classify::Svc;
use mercer::seed::Random;
use mercer_terminal::Failure;

/// A kernel machine whose examples repeat.
pub(super) const WORLD: World = World {
    name: "64 places",
    about: "80 examples on a grid with a noisy disc, svc with rbf(gamma=2), C = 1; 40 held out",
    delta: 0.2,
    one_in: 1,
    draw,
};

/// Many models and one held-out sample, by which the best is chosen.
pub(super) const GRID: World = World {
    name: "best of 100",
    about: "100 random classifiers, the best of them on 50 examples chosen",
    delta: 0.2,
    one_in: 1,
    draw: grid,
};

pub(super) const SIDE: usize = 8;
/// The chance of the class that is rarer at a place.
const NOISE: f64 = 0.1;

pub(super) fn place(k: usize) -> [f64; 2] {
    let at = |i: usize| (2 * i + 1) as f64 / SIDE as f64 - 1.0;
    [at(k % SIDE), at(k / SIDE)]
}

/// P(+1 | place).
pub(super) fn chance(k: usize) -> f64 {
    let [x, y] = place(k);
    if x * x + y * y < 0.5 { 1.0 - NOISE } else { NOISE }
}

pub(super) fn sample(random: &mut Random, n: usize) -> Result<Dataset, Failure> {
    let places: Vec<usize> = (0..n).map(|_| random.below(SIDE * SIDE)).collect();
    let positive: Vec<bool> = places.iter().map(|&k| random.uniform() < chance(k)).collect();
    labelled(places.iter().flat_map(|&k| place(k)).collect(), 2, &positive)
}

fn draw(random: &mut Random, delta: f64) -> Result<Vec<Said>, Failure> {
    let (data, held_out) = (sample(random, 80)?, sample(random, 40)?);
    let model = fit(&Svc { c: 1.0, bias: false, ..Svc::default() }, &rbf(2.0), &data)?;
    let scores = scores(&model, &places()?)?;
    let wrong = |(k, s): (usize, &f64)| if *s > 0.0 { 1.0 - chance(k) } else { chance(k) };
    let risk = scores.iter().enumerate().map(wrong).sum::<f64>() / (SIDE * SIDE) as f64;
    let violation = margin_violation(&scores);
    let options = Options { delta, held_out: Some(&held_out), informed: true, ..Options::default() };
    let facts = facts(&model, &data, &options)?;
    Ok(claims(&facts, delta, |_, _, quantity| match quantity {
        Quantity::ZeroOneRisk => Some(risk),
        Quantity::MarginViolation => Some(violation),
        _ => None,
    }))
}

/// P(y f(x) < 1) from the scores of all places.
pub(super) fn margin_violation(scores: &[f64]) -> f64 {
    let short = |(k, s): (usize, &f64)| {
        chance(k) * f64::from(*s < 1.0 - TOUCHING) + (1.0 - chance(k)) * f64::from(-*s < 1.0 - TOUCHING)
    };
    scores.iter().enumerate().map(short).sum::<f64>() / (SIDE * SIDE) as f64
}

/// All places.
pub(super) fn places() -> Result<Dataset, Failure> {
    points((0..SIDE * SIDE).flat_map(place).collect(), 2)
}

/// Support vectors on the margin are at 1 within the solver's tolerance.
pub(super) const TOUCHING: f64 = 0.01;

/// Classifiers that know nothing, so that the best of them is so by luck alone.
fn grid(random: &mut Random, delta: f64) -> Result<Vec<Said>, Failure> {
    const MODELS: usize = 100;
    const HELD_OUT: usize = 50;
    let places: Vec<usize> = (0..HELD_OUT).map(|_| random.below(SIDE * SIDE)).collect();
    let truth: Vec<bool> = places.iter().map(|&k| random.uniform() < chance(k)).collect();
    let mut best = (usize::MAX, 1.0);
    for _ in 0..MODELS {
        let says: Vec<bool> = (0..SIDE * SIDE).map(|_| random.uniform() < 0.5).collect();
        let errors = places.iter().zip(&truth).filter(|(k, t)| says[**k] != **t).count();
        if errors < best.0 {
            let wrong = |(k, s): (usize, &bool)| if *s { 1.0 - chance(k) } else { chance(k) };
            best = (errors, says.iter().enumerate().map(wrong).sum::<f64>() / (SIDE * SIDE) as f64);
        }
    }
    let (errors, n, nats) = (best.0 as f64, HELD_OUT as f64, -delta.ln());
    let facts = Facts {
        held_out: Some(HeldOutErrors { examples: n, errors }),
        penalty: ComplexityPenalty { held_out_candidates: MODELS, ..ComplexityPenalty::default() },
        ..Facts::bare(1.0, Task::Classes(2))
    };
    let mut said = claims(&facts, delta, |_, _, quantity| (quantity == Quantity::ZeroOneRisk).then_some(best.1));
    let finite = test_set::finite_class(errors / n, n, (MODELS as f64).ln(), nats);
    said.push(Said::upper("finite_class", Must::Hold, finite, best.1));
    said.push(Said::upper("held_out, the choice not paid for", Must::Fail, binomial_upper(errors, n, nats), best.1));
    Ok(said)
}
