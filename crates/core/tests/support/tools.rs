//! Small things that the tests of support vector machines share.

#![allow(unreachable_pub, clippy::unwrap_used, clippy::panic)]

use super::expected::expected;
use super::trials::{Kernel, Trial};
use super::verdict::parts;
use mercer::machines::Fitted;
use mercer::seed::Seed;

/// Tight enough that decision functions agree to five digits.
pub const TIGHT: &str = "tolerance=1e-8";

/// Noisy classes and numbers. Equal points have equal labels: a ν classifier has no margin to divide by otherwise.
pub fn trial(n: usize, classes: usize, seed: u64) -> Trial {
    let mut drawn = Trial::new(n, classes, Kernel::Rbf(0.5), 0.15, &mut Seed(seed).stream("identities"));
    for i in classes..n {
        if let Some(twin) = (0..i).find(|&j| drawn.x[j] == drawn.x[i]) {
            drawn.codes[i] = drawn.codes[twin];
        }
    }
    drawn
}

/// Places all over the plane.
pub fn probes() -> Vec<Vec<f64>> {
    (0..49).map(|p| vec![f64::from(p / 7) - 3.0, f64::from(p % 7) - 3.125]).collect()
}

#[track_caller]
pub fn same(got: &[f64], wanted: &[f64], digits: f64, what: &str) {
    assert_eq!(got.len(), wanted.len(), "{what}");
    let room = digits * (1.0 + wanted.iter().fold(0.0_f64, |m, v| m.max(v.abs())));
    for (i, (g, w)) in got.iter().zip(wanted).enumerate() {
        assert!((g - w).abs() <= room, "{what}: entry {i} is {g}, not {w}");
    }
}

pub fn objective(fitted: &Fitted) -> f64 {
    fitted.report.objective.unwrap()
}

/// y α of the only problem.
pub fn beta(fitted: &Fitted, trial: &Trial) -> Vec<f64> {
    let [part] = parts(fitted, &trial.codes).try_into().unwrap();
    part.beta
}

pub fn total(values: &[f64]) -> f64 {
    values.iter().map(|v| v.abs()).sum()
}

/// Settings of every machine that is there, for two classes or a number.
pub fn everyone() -> Vec<(&'static str, &'static str)> {
    let all = [
        ("svc", "c=2", vec![]),
        ("svc", "c=2; loss=squared_hinge", vec!["svc.loss"]),
        ("svc", "c=2; bias=false", vec!["svc.bias"]),
        ("svc", "c=2; loss=squared_hinge; bias=false", vec!["svc.bias", "svc.loss"]),
        ("svc", "c=2; strategy=one_vs_rest", vec!["svc.strategy"]),
        ("nu_svc", "nu=0.4", vec![]),
        ("svr", "c=2; epsilon=0.125", vec![]),
        ("svr", "c=2; epsilon=0.125; bias=false", vec![]),
        ("svr", "c=2; epsilon=0.125; loss=squared_epsilon_insensitive", vec![]),
        ("nu_svr", "c=2; nu=0.4", vec![]),
        ("one_class", "nu=0.4", vec![]),
        ("svdd", "nu=0.4", vec![]),
    ];
    let there = all.into_iter().filter(|(machine, _, needs)| expected(&[machine]) && expected(needs));
    there.map(|(machine, settings, _)| (machine, settings)).collect()
}
