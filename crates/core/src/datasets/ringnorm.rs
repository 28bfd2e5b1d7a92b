//! Breiman's ringnorm: a normal distribution inside a wider one in 20 dimensions.
//!
//! L. Breiman, Bias, Variance, and Arcing Classifiers (1996), in the form of the DELVE archive: class 1 has mean 0 and
//! covariance 4 I, class −1 has mean (a, …, a), a = 2/√20, and unit covariance. No plane tells them apart; the optimal
//! boundary is a sphere, with an error of about 1.3 %.

use super::SetEntry;
use super::build::{classes, columns, count, halves, table};
use crate::data::{DataError, Table};
use crate::seed::Seed;

/// Dimensions.
const DIMENSION: usize = 20;

/// The entry.
pub(super) static RINGNORM: SetEntry = SetEntry {
    name: "ringnorm",
    summary: "a normal distribution inside a wider one in 20 dimensions (Bayes error 1.3 %)",
    task: "classification",
    examples: 400,
    source: "generated: L. Breiman, Bias, Variance, and Arcing Classifiers (1996), as in the DELVE archive",
    generated: true,
    make,
};

fn make(n: Option<usize>, seed: Seed) -> Result<Table, DataError> {
    let n = count("ringnorm", n, RINGNORM.examples)?;
    let mut random = seed.stream("ringnorm");
    let positive = halves(n, &mut random);
    let a = 2.0 / (DIMENSION as f64).sqrt();
    let rows: Vec<Vec<f64>> = positive
        .iter()
        .map(|&positive| {
            let (mean, spread) = if positive { (0.0, 2.0) } else { (a, 1.0) };
            (0..DIMENSION).map(|_| mean + spread * random.normal()).collect()
        })
        .collect();
    Ok(table("ringnorm", n, columns(&rows), classes(&positive, [-1, 1])))
}
