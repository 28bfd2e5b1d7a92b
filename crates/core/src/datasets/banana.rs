//! Two bananas that hook into each other.
//!
//! The banana set of Rätsch, Onoda & Müller (Soft Margins for AdaBoost, 2001) is published only as data; its
//! distribution is not stated. This one is made in its spirit, not a copy: each class is a parabola with normal noise
//! across, u uniform in [−1.8, 1.8] and v = 0.4 z + 0.7 (u² − 1.08) with standard normal z. Class −1 is (u + 0.8, v − 0.34)
//! and opens upwards, class 1 is its mirror image (−u − 0.8, −v + 0.34). The density is known, and so is the Bayes error:
//! 9.9 %.

use super::SetEntry;
use super::build::{classes, columns, count, halves, table};
use crate::data::{DataError, Table};
use crate::seed::Seed;

/// Half the length of a banana.
const REACH: f64 = 1.8;
/// Spread across the banana.
const WIDTH: f64 = 0.4;
/// The strength of the bend.
const BEND: f64 = 0.7;
/// The centre of class −1; that of class 1 is its negative.
const CENTRE: [f64; 2] = [0.8, -0.34];

/// The entry.
pub(super) static BANANA: SetEntry = SetEntry {
    name: "banana",
    summary: "two banana-shaped classes in the plane that overlap (Bayes error 10 %)",
    task: "classification",
    examples: 400,
    source: "generated: noisy parabolas, in the spirit of the banana set of Rätsch, Onoda & Müller (2001)",
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
            let (u, v) = (REACH * (2.0 * random.uniform() - 1.0), WIDTH * random.normal());
            let side = if positive { -1.0 } else { 1.0 };
            vec![side * (u + CENTRE[0]), side * (v + BEND * (u * u - REACH * REACH / 3.0) + CENTRE[1])]
        })
        .collect();
    Ok(table("banana", n, columns(&rows), classes(&positive, [-1, 1])))
}

/// The optimal decision: whether class 1 is the more probable one.
#[cfg(test)]
pub(super) fn optimal(x: [f64; 2]) -> bool {
    let log_density = |side: f64| {
        let u = side * x[0] - CENTRE[0];
        let z = (side * x[1] - CENTRE[1] - BEND * (u * u - REACH * REACH / 3.0)) / WIDTH;
        if u.abs() <= REACH { -0.5 * z * z } else { f64::NEG_INFINITY }
    };
    log_density(-1.0) > log_density(1.0)
}
