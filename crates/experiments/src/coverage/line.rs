//! Numbers between 0 and 1 and the interval of all that were seen: a new one lies outside with a probability that is
//! Beta(2, m − 1), whatever the distribution. The smallest ball with a linear kernel is that interval again.

use super::super::samples::{facts, fit, points};
use super::{Must, Said, World, claims};
use mercer::bounds::{Compression, Facts, Quantity, Task, scenario};
use mercer::certify::Options;
use mercer::formula::linear;
use mercer::machines::detect::Svdd;
use mercer::seed::Random;
use mercer_terminal::Failure;

pub(super) const WORLD: World = World {
    name: "interval",
    about: "40 numbers, and the smallest interval that holds them; svdd with ν = 1/40",
    delta: 0.2,
    one_in: 1,
    draw,
};

const EXAMPLES: usize = 40;

fn draw(random: &mut Random, delta: f64) -> Result<Vec<Said>, Failure> {
    let x: Vec<f64> = (0..EXAMPLES).map(|_| random.uniform()).collect();
    let (low, high) = x.iter().fold((1.0_f64, 0.0_f64), |(low, high), &x| (low.min(x), high.max(x)));
    let (m, risk) = (EXAMPLES as f64, 1.0 - (high - low));
    let interval = Facts {
        machine: "svdd".to_owned(),
        errors: Some(0.0),
        compression: Some(Compression {
            size: 2.0,
            surely: 2.0,
            errors_outside: 0.0,
            stable: true,
            scenario: true,
            share_of_all: false,
        }),
        ..Facts::bare(m, Task::Novelty)
    };
    let outside = |risk: f64| move |quantity| (quantity == Quantity::NoveltyRate).then_some(risk);
    let mut said = claims(&interval, delta, |_, _, quantity| outside(risk)(quantity));
    let a_priori = scenario::a_priori(m, 2.0, -delta.ln());
    said.push(Said::upper("scenario_a_priori, two unknowns", Must::BeSharp, a_priori, risk));
    let (ball, missed) = ball(x, delta)?;
    let of_ball = claims(&ball, delta, |_, _, quantity| outside(missed)(quantity));
    said.extend(of_ball.into_iter().map(|s| Said { statement: format!("{}, svdd", s.statement), ..s }));
    Ok(said)
}

/// The facts of the smallest ball, and how much lies outside.
fn ball(x: Vec<f64>, delta: f64) -> Result<(Facts, f64), Failure> {
    let data = points(x, 1)?;
    let model = fit(&Svdd { nu: 1.0 / EXAMPLES as f64, ..Svdd::default() }, &linear(), &data)?;
    // f(x) = R² − (x − a)² from its values at 0 and 1
    let f = model.scores(&points(vec![0.0, 1.0], 1)?)?;
    let centre = 0.5 * (f[1] - f[0] + 1.0);
    let radius = (f[0] + centre * centre).max(0.0).sqrt();
    let inside = ((centre + radius).min(1.0) - (centre - radius).max(0.0)).max(0.0);
    Ok((facts(&model, &data, &Options { delta, ..Options::default() })?, 1.0 - inside))
}
