//! Data for the tests of this folder.

use crate::gram::Dense;
use crate::seed::Seed;

/// n × d normal numbers.
pub(crate) fn points(n: usize, d: usize, seed: u64) -> Vec<f64> {
    let mut random = Seed(seed).stream("geometry");
    (0..n * d).map(|_| random.normal()).collect()
}

/// The matrix of inner products of rows of d numbers.
pub(crate) fn linear(x: &[f64], d: usize) -> Dense<f64> {
    let n = x.len() / d;
    let inner = |p: usize| (0..d).map(|k| x[p / n * d + k] * x[p % n * d + k]).sum();
    Dense::new((0..n * n).map(inner).collect(), n, n).unwrap_or_else(|| unreachable!("n × n numbers"))
}
