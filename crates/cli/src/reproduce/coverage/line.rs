//! Numbers between 0 and 1 and the interval of all that were seen: a new one lies outside with a probability that is
//! Beta(2, m − 1), whatever the distribution.

use super::{Must, Said, World, claims};
use crate::failure::Failure;
use mercer::bounds::{Compression, Facts, Quantity, Task, scenario};
use mercer::seed::Random;

pub(super) const WORLD: World =
    World { name: "interval", about: "40 numbers, and the smallest interval that holds them", delta: 0.2, draw };

const EXAMPLES: usize = 40;

fn draw(random: &mut Random, delta: f64) -> Result<Vec<Said>, Failure> {
    let (mut low, mut high) = (1.0_f64, 0.0_f64);
    for _ in 0..EXAMPLES {
        let x = random.uniform();
        (low, high) = (low.min(x), high.max(x));
    }
    let (m, risk) = (EXAMPLES as f64, 1.0 - (high - low));
    let facts = Facts {
        machine: "svdd".to_owned(),
        errors: Some(0.0),
        compression: Some(Compression { size: 2.0, errors_outside: 0.0, stable: true, scenario: true, atoms: false }),
        ..Facts::bare(m, Task::Novelty)
    };
    let outside = |quantity| (quantity == Quantity::NoveltyRate).then_some(risk);
    let mut said = claims(&facts, delta, |_, _, quantity| outside(quantity));
    let a_priori = scenario::a_priori(m, 2.0, -delta.ln());
    said.push(Said::upper("scenario_a_priori, two unknowns", Must::BeSharp, a_priori, risk));
    Ok(said)
}
