//! Two bananas that hook into each other.
//!
//! The banana set of Rätsch, Onoda & Müller (Soft Margins for AdaBoost, 2001) is published only as data; its
//! distribution is not stated. This one is made in its spirit, not a copy: each class is a bent normal distribution
//! (Haario, Saksman & Tamminen, Adaptive Proposal Distribution for Random Walk Metropolis Algorithm, 1999),
//! u = z₁, v = 0.4 z₂ + 0.7 (z₁² − 1) with standard normal z₁, z₂. Class −1 is (u + 0.6, v − 0.2) and opens upwards,
//! class 1 is its mirror image (−u − 0.6, −v + 0.2). The density is known, and so is the Bayes error: 10.0 %.

use super::SetEntry;
use super::build::{classes, columns, count, halves, table};
use crate::data::{DataError, Table};
use crate::seed::Seed;

/// Spread across the banana.
const WIDTH: f64 = 0.4;
/// How strongly it is bent.
const BEND: f64 = 0.7;
/// The centre of class −1; that of class 1 is its negative.
const CENTRE: [f64; 2] = [0.6, -0.2];

/// The entry.
pub(super) static BANANA: SetEntry = SetEntry {
    name: "banana",
    summary: "two banana-shaped classes in the plane that overlap (Bayes error 10 %)",
    task: "classification",
    examples: 400,
    source: "generated: bent normal distributions after Haario, Saksman & Tamminen (1999), \
             in the spirit of the banana set of Rätsch, Onoda & Müller (2001)",
    generated: true,
    make,
};

fn make(n: Option<usize>, seed: Seed) -> Result<Table, DataError> {
    let n = count("banana", n, BANANA.examples)?;
    let mut random = seed.stream("banana");
    let positive = halves(n, &mut random);
    let rows: Vec<Vec<f64>> = positive
        .iter()
        .map(|&positive| {
            let (u, v) = (random.normal(), WIDTH * random.normal());
            let side = if positive { -1.0 } else { 1.0 };
            vec![side * (u + CENTRE[0]), side * (v + BEND * (u * u - 1.0) + CENTRE[1])]
        })
        .collect();
    Ok(table("banana", n, columns(&rows), classes(&positive, [-1, 1])))
}

/// The optimal decision: whether class 1 is the more probable one.
#[cfg(test)]
pub(super) fn optimal(x: [f64; 2]) -> bool {
    let log_density = |side: f64| {
        let u = side * x[0] - CENTRE[0];
        let z = (side * x[1] - CENTRE[1] - BEND * (u * u - 1.0)) / WIDTH;
        -0.5 * (u * u + z * z)
    };
    log_density(-1.0) > log_density(1.0)
}
