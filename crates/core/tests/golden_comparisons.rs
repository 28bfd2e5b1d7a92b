//! Machines for comparisons against the numbers of scikit-learn, kept in `golden/`.
#![allow(clippy::unwrap_used, clippy::panic)]

use mercer::machines::baseline::{LinearFisher, LinearRegression, LogisticRegression, QuadraticDiscriminant};
use mercer::machines::{Coefficients, Output, Weighting};
use mercer::prelude::*;
use serde_json::Value;
use std::path::Path;

fn golden() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/comparisons.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// A list of numbers, or a list of lists of them, row by row.
fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().unwrap();
    list.iter().flat_map(|v| if v.is_array() { numbers(v) } else { vec![v.as_f64().unwrap()] }).collect()
}

fn vectors(value: &Value) -> Dataset {
    let rows: Vec<Vec<f64>> = value.as_array().unwrap().iter().map(numbers).collect();
    Dataset::new(Rows::from_vectors(&rows).unwrap())
}

#[track_caller]
fn near(got: &[f64], wanted: &[f64], tolerance: f64, what: &str) {
    assert_eq!(got.len(), wanted.len(), "{what}");
    for (i, (g, w)) in got.iter().zip(wanted).enumerate() {
        assert!((g - w).abs() < tolerance, "{what}, {i}: {g}, not {w}");
    }
}

fn labels(model: &Model, z: &Dataset) -> Vec<f64> {
    model.predict(z).unwrap().labels().iter().map(|l| l.parse().unwrap()).collect()
}

/// The cases of a machine: data with classes, data with numbers, new examples, and the case.
fn each(machine: &str, check: impl Fn(&Dataset, &Dataset, &Dataset, &Value)) {
    let file = golden();
    let mut count = 0;
    for case in file["cases"].as_array().unwrap().iter().filter(|c| c["machine"] == machine) {
        let data = &file["data"][case["data"].as_str().unwrap()];
        let classes = vectors(&data["x"]).with_target(Target::from(numbers(&data["y"]))).unwrap();
        let means = vectors(&data["x"]).with_target(Target::from(numbers(&data["t"]))).unwrap();
        check(&classes, &means, &vectors(&data["z"]), case);
        count += 1;
    }
    assert!(count >= 6, "{machine}: {count}");
}

#[test]
fn neighbours_vote_and_are_averaged_as_in_scikit_learn() {
    each("knn", |classes, means, z, case| {
        let kernel: Formula = case["formula"].as_str().unwrap().parse().unwrap();
        let k = case["k"].as_u64().unwrap() as usize;
        let weighting = if case["weighting"] == "distance" { Weighting::Distance } else { Weighting::Uniform };
        let what = format!("{kernel}, k = {k}, {weighting:?}");
        let model = Knn { k, weighting }.fit(&kernel, classes).unwrap();
        near(&model.scores(z).unwrap(), &numbers(&case["shares"]), 1e-9, &what);
        assert_eq!(labels(&model, z), numbers(&case["labels"]), "{what}");
        let model = KnnRegression { k, weighting }.fit(&kernel, means).unwrap();
        near(&model.scores(z).unwrap(), &numbers(&case["means"]), 1e-9, &what);
    });
}

#[test]
fn lines_are_those_of_scikit_learn() {
    each("linear_regression", |_, means, z, case| {
        let data = if case["weights"].is_array() {
            means.clone().with_weights(numbers(&case["weights"])).unwrap()
        } else {
            means.clone()
        };
        let model = LinearRegression::default().fit(&linear(), &data).unwrap();
        let Coefficients::Primal { weights, .. } = &model.fitted().expansion.coefficients else { panic!() };
        near(weights, &numbers(&case["coefficients"]), 1e-10, "weights");
        near(&model.fitted().expansion.offsets, &[case["intercept"].as_f64().unwrap()], 1e-10, "intercept");
        near(&model.scores(z).unwrap(), &numbers(&case["scores"]), 1e-10, "scores");
    });
}

#[test]
fn logarithms_of_odds_are_those_of_scikit_learn() {
    each("logistic_regression", |classes, _, z, case| {
        let lambda = case["lambda"].as_f64().unwrap();
        let machine = LogisticRegression { lambda, tolerance: 1e-10, ..LogisticRegression::default() };
        let model = machine.fit(&linear(), classes).unwrap();
        // with two classes a positive score is the first class here, and the second there
        let sign = if model.fitted().expansion.outputs() == 1 { -1.0 } else { 1.0 };
        let scores: Vec<f64> = model.scores(z).unwrap().iter().map(|s| sign * s).collect();
        near(&scores, &numbers(&case["scores"]), 1e-6, &format!("λ = {lambda}"));
        assert_eq!(labels(&model, z), numbers(&case["labels"]), "λ = {lambda}");
    });
}

/// Scores of classes here are odds of pairs; with two classes a positive one is the first here, and the second there.
fn clouds(model: &Model, z: &Dataset, case: &Value, what: &str) {
    let (scores, wanted) = (model.scores(z).unwrap(), numbers(&case["scores"]));
    let outputs = model.fitted().expansion.outputs();
    let wanted: Vec<f64> = match outputs {
        1 => wanted.iter().map(|s| -s).collect(),
        _ => wanted.chunks_exact(3).flat_map(|s| [s[0] - s[1], s[0] - s[2], s[1] - s[2]]).collect(),
    };
    near(&scores, &wanted, 1e-8, what);
    assert_eq!(labels(model, z), numbers(&case["labels"]), "{what}");
    let Output::Labels { probabilities: Some(probabilities), .. } = model.predict(z).unwrap() else { panic!("{what}") };
    near(&probabilities, &numbers(&case["probabilities"]), 1e-3, what);
}

#[test]
fn discriminants_are_those_of_scikit_learn() {
    each("linear_fisher", |classes, _, z, case| {
        let gamma = case["gamma"].as_f64().unwrap();
        let machine = LinearFisher { gamma, ..LinearFisher::default() };
        clouds(&machine.fit(&linear(), classes).unwrap(), z, case, &format!("linear, γ = {gamma}"));
    });
    each("quadratic_discriminant", |classes, _, z, case| {
        let gamma = case["gamma"].as_f64().unwrap();
        let machine = QuadraticDiscriminant { gamma, ..QuadraticDiscriminant::default() };
        clouds(&machine.fit(&linear(), classes).unwrap(), z, case, &format!("quadratic, γ = {gamma}"));
    });
}
