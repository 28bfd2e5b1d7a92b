//! Two half circles that hook into each other.
//!
//! The usual form: class 0 is the upper half of the unit circle, class 1 the lower half of the unit circle around
//! (1, ½), both with normal noise of standard deviation 0.1 (as `make_moons` of scikit-learn has it; Pedregosa et al.,
//! Scikit-learn: Machine Learning in Python, 2011). Here the angle is uniformly random instead of equally spaced.

use super::SetEntry;
use super::build::{classes, columns, count, halves, table};
use crate::data::{DataError, Table};
use crate::seed::Seed;
use std::f64::consts::PI;

/// Standard deviation of the noise.
const NOISE: f64 = 0.1;

/// The entry.
pub(super) static TWO_MOONS: SetEntry = SetEntry {
    name: "two_moons",
    summary: "two interleaved half circles in the plane with noise 0.1",
    task: "classification",
    examples: 200,
    source: "generated: as make_moons of scikit-learn (Pedregosa et al. 2011), with random angles",
    generated: true,
    make,
};

fn make(n: Option<usize>, seed: Seed) -> Result<Table, DataError> {
    let n = count("two_moons", n, TWO_MOONS.examples)?;
    let mut random = seed.stream("two_moons");
    let lower = halves(n, &mut random);
    let rows: Vec<Vec<f64>> = lower
        .iter()
        .map(|&lower| {
            let (sin, cos) = (PI * random.uniform()).sin_cos();
            let (x, y) = if lower { (1.0 - cos, 0.5 - sin) } else { (cos, sin) };
            vec![x + NOISE * random.normal(), y + NOISE * random.normal()]
        })
        .collect();
    Ok(table("two_moons", n, columns(&rows), classes(&lower, [0, 1])))
}
