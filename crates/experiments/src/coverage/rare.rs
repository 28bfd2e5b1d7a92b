//! A rare point: x is 0, or with probability 1.5/ℓ one of ±1. Of samples of ℓ a share e^{−1.5} has seen the 0 alone.
//!
//! # Source
//! Shawe-Taylor & Cristianini (2004), Algorithm 5.4 and Prop. 5.5: at most 1/(ℓ + 1) of new examples are rejected, with
//! probability 1 − δ over the sample. Here it is 0.0015 > 1/1001 in 22 % of all samples, at δ = 0.01. Code 5.3 takes
//! max κ(x_i, x_i) for the support's squared radius, which is as wrong.

use super::{Must, Said, World, claims};
use mercer::bounds::{Facts, Novelty, Task, novelty};
use mercer::seed::Random;
use mercer_terminal::Failure;

pub(super) const WORLD: World = World {
    name: "rare point",
    about: "1000 numbers, of which 1.5 on average are ±1 and the others 0",
    delta: 0.01,
    one_in: 1,
    draw,
};

const EXAMPLES: usize = 1000;
const RARE_PROBABILITY: f64 = 1.5 / EXAMPLES as f64;

fn draw(random: &mut Random, delta: f64) -> Result<Vec<Said>, Failure> {
    let (mut counts, m, nats) = ([0_usize; 3], EXAMPLES as f64, -delta.ln());
    for _ in 0..EXAMPLES {
        let u = random.uniform();
        counts[if u < 0.5 * RARE_PROBABILITY {
            0
        } else if u < RARE_PROBABILITY {
            2
        } else {
            1
        }] += 1;
    }
    let values = [-1.0, 0.0, 1.0];
    let chances = [0.5 * RARE_PROBABILITY, 1.0 - RARE_PROBABILITY, 0.5 * RARE_PROBABILITY];
    let centre = (counts[2] as f64 - counts[0] as f64) / m;
    let farthest = (0..3).filter(|&k| counts[k] > 0).map(|k| (values[k] - centre).abs()).fold(0.0, f64::max);
    let threshold = farthest + 2.0 * novelty::centre_radius_printed(1.0, m, nats);
    let rejected: f64 = (0..3).filter(|&k| (values[k] - centre).abs() > threshold).map(|k| chances[k]).sum();
    let seen_radius = if counts[0] + counts[2] > 0 { 1.0 } else { 0.0 };
    let distance = centre.abs();
    let facts = Facts {
        novelty: Some(Novelty {
            outliers: 0.0,
            hard: false,
            norm: None,
            shortfall: 0.0,
            rho: 0.0,
            centre_delta: Some(0.5 * delta),
        }),
        ..Facts::bare(m, Task::Novelty)
    };
    let mut said = claims(&facts, delta, |_, _, _| Some(rejected));
    said.extend([
        Said::upper("Prop. 5.5 as printed", Must::Fail, 1.0 / (m + 1.0), rejected),
        Said::upper("centre, as printed", Must::Hold, novelty::centre_radius_printed(1.0, m, nats), distance),
        Said::upper("centre", Must::Hold, novelty::centre_radius(1.0, m, nats), distance),
    ]);
    // |x| has a mean that is not 0, and a sample that has seen no length but 0 is sure of it
    let shifted = ((counts[0] + counts[2]) as f64 / m - RARE_PROBABILITY).abs();
    let (seen, true_radius) = (novelty::centre_radius(seen_radius, m, nats), novelty::centre_radius(1.0, m, nats));
    said.push(Said::upper("centre of |x|, radius of the sample", Must::Fail, seen, shifted));
    said.push(Said::upper("centre of |x|, radius of the support", Must::Hold, true_radius, shifted));
    Ok(said)
}
