//! Samples of distributions that are known, and fits to them.

use mercer::bounds::Facts;
use mercer::certify::{self, Options};
use mercer::data::{Dataset, Rows, Target};
use mercer::formula::Formula;
use mercer::job::Job;
use mercer::machines::{Machine, Output};
use mercer::model::Model;
use mercer::seed::Random;
use mercer::watch::Silent;
use mercer_terminal::Failure;

/// Points with a number of coordinates each.
pub(super) fn points(values: Vec<f64>, width: usize) -> Result<Dataset, Failure> {
    let n = values.len() / width.max(1);
    let rows = Rows::new(values, n, width)
        .ok_or_else(|| Failure { message: format!("points have {width} coordinates each"), code: 4 })?;
    Ok(Dataset::new(rows))
}

/// Points with classes +1 and −1.
pub(super) fn labelled(values: Vec<f64>, width: usize, positive: &[bool]) -> Result<Dataset, Failure> {
    let labels: Vec<String> = positive.iter().map(|&p| if p { "+1" } else { "-1" }.to_owned()).collect();
    Ok(points(values, width)?.with_target(Target::from(labels))?)
}

/// Two classes N(±μ, I), equally likely, μ = (shift, 0, …).
pub(super) fn gaussians(random: &mut Random, n: usize, width: usize, shift: f64) -> Result<Dataset, Failure> {
    let (mut values, mut positive) = (Vec::with_capacity(n * width), Vec::with_capacity(n));
    for _ in 0..n {
        let side = random.uniform() < 0.5;
        positive.push(side);
        values.extend((0..width).map(|k| {
            random.normal()
                + if k > 0 {
                    0.0
                } else if side {
                    shift
                } else {
                    -shift
                }
        }));
    }
    labelled(values, width, &positive)
}

/// A fit with nobody watching.
pub(super) fn fit(machine: &dyn Machine, kernel: &Formula, data: &Dataset) -> Result<Model, Failure> {
    Ok(Job::new(machine, kernel).run(data, &Silent)?)
}

/// Facts that theorems ask about a fit.
pub(super) fn facts(model: &Model, data: &Dataset, options: &Options<'_>) -> Result<Facts, Failure> {
    Ok(certify::facts(model, data, options, &Silent)?)
}

/// Scores of a classifier of two classes, positive where it says +1.
pub(super) fn scores(model: &Model, data: &Dataset) -> Result<Vec<f64>, Failure> {
    let scores = model.scores(data)?;
    let Output::Labels { labels, codes, .. } = model.predict(data)? else {
        return Err(Failure { message: "the model tells no classes".to_owned(), code: 4 });
    };
    let says = |code: u32| labels.get(code as usize).is_some_and(|l| l == "+1");
    // a positive score may stand for either class
    let sign = scores
        .iter()
        .zip(&codes)
        .find(|(s, _)| **s != 0.0)
        .map_or(1.0, |(s, &c)| if (*s > 0.0) == says(c) { 1.0 } else { -1.0 });
    Ok(scores.iter().map(|s| sign * s).collect())
}

/// The weight vector of a linear classifier without offset: its scores of unit vectors.
pub(super) fn weights(model: &Model, width: usize) -> Result<Vec<f64>, Failure> {
    let unit = |k: usize| (0..width).map(move |i| if i == k { 1.0 } else { 0.0 });
    scores(model, &points((0..width).flat_map(unit).collect(), width)?)
}
