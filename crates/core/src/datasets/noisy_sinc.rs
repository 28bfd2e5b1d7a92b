//! The cardinal sine with noise, the standard picture of regression with kernels.
//!
//! y = sin(πx)/(πx) + ε with x uniform in [−3, 3] and normal ε of standard deviation 0.1; the function is that of
//! V. Vapnik, S. Golowich & A. Smola, Support Vector Method for Function Approximation, Regression Estimation, and
//! Signal Processing (1997), on three periods to each side.

use super::SetEntry;
use super::build::{column, count, table};
use crate::data::{DataError, Table};
use crate::seed::Seed;
use std::f64::consts::PI;

/// Standard deviation of the noise.
const NOISE: f64 = 0.1;
/// x lies between minus this and this.
const REACH: f64 = 3.0;

/// The entry.
pub(super) static NOISY_SINC: SetEntry = SetEntry {
    name: "noisy_sinc",
    summary: "sin(πx)/(πx) on [−3, 3] with normal noise 0.1",
    task: "regression",
    examples: 200,
    source: "generated: the test function of Vapnik, Golowich & Smola, Support Vector Method for Function \
             Approximation, Regression Estimation, and Signal Processing (1997)",
    generated: true,
    make,
};

fn make(n: Option<usize>, seed: Seed) -> Result<Table, DataError> {
    let n = count("noisy_sinc", n, NOISY_SINC.examples)?;
    let mut random = seed.stream("noisy_sinc");
    let x: Vec<f64> = (0..n).map(|_| REACH * (2.0 * random.uniform() - 1.0)).collect();
    let y = x.iter().map(|&x| sinc(x) + NOISE * random.normal()).collect();
    Ok(table("noisy_sinc", n, vec![column("x", x)], column("y", y)))
}

/// sin(πx)/(πx), continued to zero.
pub(super) fn sinc(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { (PI * x).sin() / (PI * x) }
}
