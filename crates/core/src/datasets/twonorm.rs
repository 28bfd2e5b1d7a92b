//! Breiman's twonorm: two normal distributions in 20 dimensions, best told apart by a plane.
//!
//! L. Breiman, Bias, Variance, and Arcing Classifiers (1996): unit covariance, means (a, …, a) for class 1 and
//! (−a, …, −a) for class −1, a = 2/√20. The optimal rule is the sign of Σ xⱼ; its error is Φ(−2) ≈ 2.3 %.

use super::SetEntry;
use super::build::{classes, columns, count, halves, table};
use crate::data::{DataError, Table};
use crate::seed::Seed;

/// Dimensions.
const DIMENSION: usize = 20;

/// The entry.
pub(super) static TWONORM: SetEntry = SetEntry {
    name: "twonorm",
    summary: "two normal distributions with different means in 20 dimensions (Bayes error 2.3 %)",
    task: "classification",
    examples: 400,
    source: "generated: L. Breiman, Bias, Variance, and Arcing Classifiers (1996)",
    generated: true,
    make,
};

fn make(n: Option<usize>, seed: Seed) -> Result<Table, DataError> {
    let n = count("twonorm", n, TWONORM.examples)?;
    let mut random = seed.stream("twonorm");
    let positive = halves(n, &mut random);
    let a = 2.0 / (DIMENSION as f64).sqrt();
    let rows: Vec<Vec<f64>> = positive
        .iter()
        .map(|&positive| {
            let mean = if positive { a } else { -a };
            (0..DIMENSION).map(|_| mean + random.normal()).collect()
        })
        .collect();
    Ok(table("twonorm", n, columns(&rows), classes(&positive, [-1, 1])))
}
