//! Quadratic discriminants against densities by hand, and at the corners where they are other methods.

use super::super::LinearFisher;
use super::*;
use crate::data::{Dataset, Rows, Target};
use crate::formula::linear;
use crate::job::Fit;
use crate::machines::classify::NearestMean;
use crate::model::Model;
use crate::seed::Seed;

/// Two or three clouds of different shapes.
fn clouds(sizes: &[usize], seed: u64) -> (Rows<f64>, Vec<usize>) {
    let mut random = Seed(seed).stream("clouds");
    let codes: Vec<usize> = sizes.iter().enumerate().flat_map(|(c, &n)| vec![c; n]).collect();
    let mut values = Vec::new();
    for &c in &codes {
        let (a, b) = (random.normal(), random.normal());
        values.extend([a * (1.0 + c as f64) + 0.5 * c as f64, 0.3 * a + b + 2.0]);
    }
    (Rows::new(values, codes.len(), 2).unwrap(), codes)
}

fn data(sizes: &[usize], seed: u64) -> (Dataset, Rows<f64>, Vec<usize>) {
    let (x, codes) = clouds(sizes, seed);
    let words: Vec<String> = codes.iter().map(|c| format!("c{c}")).collect();
    (Dataset::new(x.clone()).with_target(Target::from(words)).unwrap(), x, codes)
}

fn machine(lambda: f64, gamma: f64) -> QuadraticDiscriminant {
    QuadraticDiscriminant { lambda, gamma, ..QuadraticDiscriminant::default() }
}

/// ln π_c N(x; m_c, Σ_c) of two coordinates with Friedman's covariance, from loops.
fn density(x: &Rows<f64>, codes: &[usize], c: usize, (lambda, gamma): (f64, f64), z: &[f64]) -> f64 {
    let k = codes.iter().max().unwrap() + 1;
    let members = |c: usize| (0..x.len()).filter(move |&i| codes[i] == c);
    let count = |c: usize| members(c).count() as f64;
    let mean = |c: usize, j: usize| members(c).map(|i| x.row(i)[j]).sum::<f64>() / count(c);
    let scatter = |c: usize, a: usize, b: usize| {
        members(c).map(|i| (x.row(i)[a] - mean(c, a)) * (x.row(i)[b] - mean(c, b))).sum::<f64>()
    };
    let entry = |a: usize, b: usize| {
        let pooled: f64 = (0..k).map(|c| scatter(c, a, b)).sum();
        ((1.0 - lambda) * scatter(c, a, b) + lambda * pooled) / ((1.0 - lambda) * count(c) + lambda * x.len() as f64)
    };
    let round = gamma * (entry(0, 0) + entry(1, 1)) / 2.0;
    let s = |a: usize, b: usize| (1.0 - gamma) * entry(a, b) + if a == b { round } else { 0.0 };
    let determinant = s(0, 0) * s(1, 1) - s(0, 1) * s(1, 0);
    let (u, v) = (z[0] - mean(c, 0), z[1] - mean(c, 1));
    let form = (s(1, 1) * u * u - 2.0 * s(0, 1) * u * v + s(0, 0) * v * v) / determinant;
    -0.5 * form - 0.5 * determinant.ln() + (count(c) / x.len() as f64).ln()
}

#[test]
fn scores_are_the_logarithms_of_densities() {
    for sizes in [&[25, 40][..], &[30, 18, 22]] {
        let (data, x, codes) = data(sizes, 1);
        for at in [(0.0, 0.0), (0.4, 0.0), (0.0, 0.3), (0.7, 0.2), (1.0, 1.0)] {
            let model = machine(at.0, at.1).fit(&linear(), &data).unwrap();
            let scores = model.scores(&data).unwrap();
            let outputs = model.fitted.expansion.outputs();
            for i in 0..x.len() {
                let s: Vec<f64> = (0..sizes.len()).map(|c| density(&x, &codes, c, at, x.row(i))).collect();
                for (p, (a, b)) in pairs(sizes.len()).enumerate() {
                    assert!((scores[i * outputs + p] - (s[a] - s[b])).abs() < 1e-9, "{at:?} {i}");
                }
            }
        }
    }
}

#[test]
fn the_corners_are_the_linear_discriminant_and_the_nearest_mean() {
    let (data, ..) = data(&[30, 30, 30], 2);
    let labels =
        |model: &Model| model.predict(&data).unwrap().labels().iter().map(ToString::to_string).collect::<Vec<_>>();
    let quadratic = machine(1.0, 0.0).fit(&linear(), &data).unwrap();
    let fisher = LinearFisher::default().fit(&linear(), &data).unwrap();
    let (a, b) = (quadratic.scores(&data).unwrap(), fisher.scores(&data).unwrap());
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-10));
    // as many of each class, so the priors say nothing
    let round = machine(1.0, 1.0).fit(&linear(), &data).unwrap();
    let nearest = NearestMean::default().fit(&linear(), &data).unwrap();
    assert_eq!(labels(&round), labels(&nearest));
    assert_ne!(labels(&machine(0.0, 0.0).fit(&linear(), &data).unwrap()), labels(&round), "shapes matter");
}

#[test]
fn a_model_is_the_same_from_its_file() {
    let (data, ..) = data(&[15, 20, 12], 3);
    let model = machine(0.2, 0.1).fit(&linear(), &data).unwrap();
    let bytes = model.to_bytes().unwrap();
    let read = Model::from_bytes(&bytes, "a file").unwrap();
    assert_eq!(read.scores(&data).unwrap(), model.scores(&data).unwrap());
    assert_eq!(read.predict(&data).unwrap(), model.predict(&data).unwrap());
}

#[test]
fn a_singular_covariance_is_told_with_its_class() {
    let x = Rows::from_vectors(&[[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [5.0, 5.0], [6.0, 6.0], [8.0, 8.0]]).unwrap();
    let data = Dataset::new(x).with_target(Target::from_text("y", &["a", "a", "a", "b", "b", "b"])).unwrap();
    let said = machine(0.0, 0.0).fit(&linear(), &data).unwrap_err().to_string();
    assert!(said.contains("the class b is singular") && said.contains("gamma"), "{said}");
    machine(0.5, 0.0).fit(&linear(), &data).unwrap();
    machine(0.0, 0.01).fit(&linear(), &data).unwrap();
}
