//! Derivatives from differences, with the errors that these have themselves, and formulas to take them of.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::panic)]

use mercer::data::Dataset;
use mercer::formula::{Formula, Members, ard, laplacian, linear, noise, polynomial, rbf, spectrum, subsequence};
use mercer::kernels::{Domain, Leaf};
use mercer::seed::Seed;

/// Numbers from differences, and how far each may be off.
pub struct Difference {
    /// The derivatives.
    pub values: Vec<f64>,
    /// The error that each may have.
    pub errors: Vec<f64>,
}

/// The derivative of several numbers by one coordinate of θ, from five points. Its error is h⁴ of the fifth derivative, or h where a
/// kink lies between the points: steps four times as long tell both, since they are off by at least four times as much.
pub fn difference(theta: &[f64], p: usize, of: impl Fn(&[f64]) -> Vec<f64>) -> Difference {
    let at = |step: f64| {
        let mut moved = theta.to_vec();
        moved[p] += step;
        of(&moved)
    };
    let by = |h: f64| -> Vec<f64> {
        let (far, near, next, beyond) = (at(-2.0 * h), at(-h), at(h), at(2.0 * h));
        (0..far.len()).map(|k| (8.0 * (next[k] - near[k]) + far[k] - beyond[k]) / (12.0 * h)).collect()
    };
    let size = theta[p].abs().max(0.05);
    let (rough, values) = (by(1e-3 * size), by(2.5e-4 * size));
    let errors = rough.iter().zip(&values).map(|(a, b)| (a - b).abs()).collect();
    Difference { values, errors }
}

/// Numbers agree with differences, but for the errors of these and a share of the largest number they were made of.
#[track_caller]
pub fn near(got: &[f64], wanted: &Difference, size: f64, share: f64, context: &str) {
    let largest = size.max(largest(&wanted.values));
    for (k, (g, (w, e))) in got.iter().zip(wanted.values.iter().zip(&wanted.errors)).enumerate() {
        let allowed = share * largest + e;
        assert!((g - w).abs() <= allowed, "{context}, number {k}: {g} instead of {w} ± {e:e}, size {largest}");
    }
    // most differences are sharp, so that a wrong derivative cannot hide
    let sharp = wanted.errors.iter().filter(|e| **e <= 1e-3 * largest).count();
    assert!(10 * sharp >= 9 * got.len() && got.len() == wanted.values.len(), "{context}: {:?}", wanted.errors);
}

/// Two lists agree, but for a share of the largest number that either was made of.
#[track_caller]
pub fn agree(got: &[f64], wanted: &[f64], size: f64, share: f64, context: &str) {
    let exact = Difference { values: wanted.to_vec(), errors: vec![0.0; wanted.len()] };
    near(got, &exact, size, share, context);
}

/// The largest number in size.
pub fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |m, v| m.max(v.abs()))
}

/// Normal numbers that depend on the name.
pub fn random(n: usize, name: &str) -> Vec<f64> {
    let mut random = Seed(5).stream(name);
    (0..n).map(|_| random.normal()).collect()
}

/// A kernel as a formula.
pub fn formula(leaf: &dyn Leaf) -> Formula {
    super::show(leaf).parse().unwrap()
}

/// Vectors of four coordinates, and strings beside them.
pub fn mixed(n: usize) -> Dataset {
    let rows = super::dense(Domain::Any, n, 4, 0.0);
    Dataset::new(rows).with_view("words", super::text(n, 3)).unwrap()
}

/// A formula for every node, and some of nodes in nodes.
pub fn composites() -> Vec<Formula> {
    let gauss = || rbf(0.4);
    let poly = || polynomial(2, 0.7);
    let lengths = || ard(&[0.9, 1.4, 2.0, 0.7]);
    let words = || subsequence(2, 0.6).on("words");
    vec![
        2.5 * gauss(),
        gauss() + 0.3 * linear() + 0.2,
        gauss() * poly() * lengths(),
        1.7 * (gauss() * (laplacian(0.3) + 0.5)),
        poly().power(3),
        gauss().power(2),
        gauss().series(&[0.3, 0.0, 1.2, 0.4]),
        (0.2 * poly()).exp(),
        poly().normalise(),
        (poly() * lengths()).normalise(),
        (0.5 * poly() + noise(0.3)).rbf(0.2),
        poly().normalise().rbf(0.8),
        poly().centre(),
        (gauss() * poly().centre() + lengths()).exp().normalise(),
        (lengths() + noise(0.2)).centre().normalise(),
        (1.3 * poly().centre()).rbf(0.3),
        polynomial(1, 0.4).set(Members::vectors(2)),
        gauss().set(Members::vectors(2).mean()).normalise(),
        (0.7 * (gauss() * polynomial(2, 0.4)).set(Members::vectors(1)) * lengths()).centre(),
        (gauss().set(Members::vectors(2)).centre() + 1.0).rbf(0.5),
        words() * gauss() + 0.5 * spectrum(2).on("words") + noise(0.1),
        (words() + poly()).normalise() * 2.0,
    ]
}
