//! Helpers that tests of maps share.

use super::super::{Coefficients, FitError, Fitted, Machine, Task};
use crate::gram::{Budget, Dense};
use crate::seed::Seed;
use crate::watch::Silent;
use std::sync::Arc;

pub(super) type Points = Vec<Vec<f64>>;
pub(super) type Kernel = fn(&[f64], &[f64]) -> f64;

pub(super) fn points(n: usize, d: usize) -> Points {
    let mut random = Seed(n as u64).stream("points");
    (0..n).map(|_| (0..d).map(|_| random.normal()).collect()).collect()
}

pub(super) fn linear(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub(super) fn gauss(a: &[f64], b: &[f64]) -> f64 {
    (-0.3 * a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>()).exp()
}

pub(super) fn tanh(a: &[f64], b: &[f64]) -> f64 {
    (2.0 * linear(a, b) - 1.0).tanh()
}

pub(super) fn matrix(x: &Points, kernel: Kernel) -> Vec<f64> {
    x.iter().flat_map(|a| x.iter().map(move |b| kernel(a, b))).collect()
}

pub(super) fn fit_on(machine: &dyn Machine, k: Vec<f64>, budget: Budget) -> Result<Fitted, FitError> {
    let n = k.len().isqrt();
    let gram = Arc::new(Dense::new(k, n, n).unwrap());
    let task = Task { budget, ..Task::new(gram) };
    machine.run(&task, &Silent)
}

pub(super) fn fit(machine: &dyn Machine, x: &Points, kernel: Kernel) -> Fitted {
    fit_on(machine, matrix(x, kernel), Budget { memory: 1 << 30 }).unwrap()
}

/// The coordinates of any example, by the expansion written out.
pub(super) fn mapped(fitted: &Fitted, x: &Points, kernel: Kernel, z: &[f64]) -> Vec<f64> {
    let Coefficients::Dual { points, alpha } = &fitted.expansion.coefficients else { panic!() };
    let width = fitted.expansion.outputs();
    let mut out = fitted.expansion.offsets.clone();
    for (line, &p) in alpha.chunks_exact(width).zip(points) {
        let value = kernel(&x[p], z);
        out.iter_mut().zip(line).for_each(|(o, a)| *o += a * value);
    }
    out
}

pub(super) fn note(fitted: &Fitted, name: &str) -> f64 {
    fitted.report.notes.iter().find(|n| n.0 == name).unwrap().1
}
