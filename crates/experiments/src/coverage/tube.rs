//! Numbers with uniform noise and a support vector regression: how much of the noise its tube misses is a sum of lengths.

use super::super::samples::{facts, fit, points};
use super::{Said, World, claims};
use mercer::bounds::Quantity;
use mercer::certify::Options;
use mercer::data::Target;
use mercer::formula::rbf;
use mercer::machines::regress::Svr;
use mercer::seed::Random;
use mercer_terminal::Failure;
use std::f64::consts::PI;

pub(super) const WORLD: World = World {
    name: "tube",
    about: "60 values of a sine with uniform noise of ±0.3, svr with rbf(gamma=10), C = 1, ε = 0.2; 40 held out",
    delta: 0.2,
    one_in: 1,
    draw,
};

/// Half of the noise's width, and of the tube's.
const NOISE: f64 = 0.3;
const TUBE: f64 = 0.2;
/// Places of x at which the missed share is averaged: x is one of them.
const PLACES: usize = 200;

fn at(k: usize) -> f64 {
    (k as f64 + 0.5) / PLACES as f64
}

fn draw(random: &mut Random, delta: f64) -> Result<Vec<Said>, Failure> {
    let mut sample = |n: usize| -> Result<_, Failure> {
        let x: Vec<f64> = (0..n).map(|_| at(random.below(PLACES))).collect();
        let y: Vec<f64> = x.iter().map(|x| (2.0 * PI * x).sin() + NOISE * (2.0 * random.uniform() - 1.0)).collect();
        Ok(points(x, 1)?.with_target(Target::from(y))?)
    };
    let (data, held_out) = (sample(60)?, sample(40)?);
    let model = fit(&Svr { c: 1.0, epsilon: TUBE, ..Svr::default() }, &rbf(10.0), &data)?;
    let values = model.scores(&points((0..PLACES).map(at).collect(), 1)?)?;
    let missed = |(k, f): (usize, &f64)| {
        let off = (f - (2.0 * PI * at(k)).sin()).abs();
        let caught = (NOISE.min(off + TUBE) - (-NOISE).max(off - TUBE)).max(0.0);
        1.0 - caught / (2.0 * NOISE)
    };
    let misses = values.iter().enumerate().map(missed).sum::<f64>() / PLACES as f64;
    let options = Options { delta, held_out: Some(&held_out), ..Options::default() };
    let facts = facts(&model, &data, &options)?;
    Ok(claims(&facts, delta, |_, _, quantity| (quantity == Quantity::TubeMisses).then_some(misses)))
}
