//! Conformal regions: how often they miss a new value, on average over what they were learned from.
//!
//! ```text
//! split, full       E miss ≤ α, and of split exactly 1 − ⌈(n + 1)(1 − α)⌉/(n + 1)
//! jackknife+        E miss ≤ 2α
//! folds             E miss ≤ the complement of the coverage that is told
//! ```
//! Control: the quantile of the residuals of the training examples, which the model has seen.
//!
//! # Source
//! Vovk, Gammerman & Shafer (2005), chapter 4; Barber, Candès, Ramdas & Tibshirani (2021), Thm. 1 and 4.

use super::super::samples::points;
use super::{Must, Said, World};
use mercer::conformal::{Method, Recipe, Regions, rank};
use mercer::data::{Dataset, Target};
use mercer::formula::rbf;
use mercer::job::Job;
use mercer::machines::regress::Ridge;
use mercer::seed::{Random, Seed};
use mercer::watch::Silent;
use mercer_terminal::Failure;
use std::f64::consts::PI;

pub(super) const WORLD: World = World {
    name: "conformal regions",
    about: "24 values of a sine with uniform noise of ±0.3, ridge with rbf(gamma=40), λ = 0.01, regions at 0.8",
    delta: 0.2,
    one_in: 2,
    draw,
};

const EXAMPLES: usize = 24;
/// Half of the noise's width.
const NOISE: f64 = 0.3;
/// Places of x at which the missed share is averaged: x is one of them.
const PLACES: usize = 50;

fn at(k: usize) -> f64 {
    (k as f64 + 0.5) / PLACES as f64
}

fn wave(x: f64) -> f64 {
    (2.0 * PI * x).sin()
}

/// The share of new values outside the interval of their place.
fn missed(lower: &[f64], upper: &[f64]) -> f64 {
    let one = |k: usize| {
        let (low, high) = (lower[k] - wave(at(k)), upper[k] - wave(at(k)));
        1.0 - (high.min(NOISE) - low.max(-NOISE)).max(0.0) / (2.0 * NOISE)
    };
    (0..PLACES).map(one).sum::<f64>() / PLACES as f64
}

fn draw(random: &mut Random, delta: f64) -> Result<Vec<Said>, Failure> {
    let x: Vec<f64> = (0..EXAMPLES).map(|_| at(random.below(PLACES))).collect();
    let y: Vec<f64> = x.iter().map(|&x| wave(x) + NOISE * (2.0 * random.uniform() - 1.0)).collect();
    let data = points(x, 1)?.with_target(Target::from(y.clone()))?;
    let new = points((0..PLACES).map(at).collect(), 1)?;
    let (machine, seed) = (Ridge { lambda: 0.01.into(), ..Ridge::default() }, Seed(random.below(1 << 30) as u64));
    let mut said = Vec::new();
    for (word, method) in Method::WORDS {
        let job =
            Job { conformal: Some(Recipe { folds: 6, ..Recipe::new(method) }), seed, ..Job::new(&machine, &rbf(40.0)) };
        let model = job.run(&data, &Silent)?;
        let Regions::Intervals { lower, upper, .. } = model.regions(&new, 1.0 - delta)? else { continue };
        let guarantee = model.needs_conformal()?.guarantees(1.0 - delta).swap_remove(0);
        let truth = missed(&lower, &upper);
        let mut add = |name: &str, must: Must, coverage: Option<f64>| {
            let claim =
                coverage.map(|c| Said::upper(name, must, 1.0 - c, truth).about("ridge", &format!("ridge, {word}")));
            said.extend(claim);
        };
        add("misses at most", Must::HoldOnAverage, guarantee.least);
        add("misses exactly", Must::BeUnbiased, guarantee.exact);
    }
    said.push(resubstituted(&data, &y, &new, delta)?.about("ridge", "ridge, residuals of training"));
    Ok(said)
}

/// The interval of the residuals that the model has on its own examples.
fn resubstituted(data: &Dataset, y: &[f64], new: &Dataset, delta: f64) -> Result<Said, Failure> {
    let machine = Ridge { lambda: 0.01.into(), ..Ridge::default() };
    let model = Job::new(&machine, &rbf(40.0)).run(data, &Silent)?;
    let mut residuals: Vec<f64> = model.scores(data)?.iter().zip(y).map(|(f, y)| (f - y).abs()).collect();
    residuals.sort_unstable_by(f64::total_cmp);
    let half = residuals[(rank(EXAMPLES, 1.0 - delta) - 1).min(EXAMPLES - 1)];
    let f = model.scores(new)?;
    let shifted = |by: f64| f.iter().map(|f| f + by).collect::<Vec<_>>();
    Ok(Said::upper("misses at most", Must::FailOnAverage, delta, missed(&shifted(-half), &shifted(half))))
}
