//! Neighbours and classical methods at the terminal: every verb takes them.
#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use crate::common::Place;

const CLASSIFIERS: [&str; 8] = [
    "knn",
    "knn --kernel linear --weighting distance --k 7",
    "adaboost --rounds 30",
    "adaboost --learner rbf_network --rounds 4 --regularisation 10",
    "rbf_network --centres 8",
    "logistic_regression",
    "linear_fisher",
    "quadratic_discriminant --gamma 0.1",
];
const REGRESSIONS: [&str; 4] =
    ["knn_regression --k 3", "linear_regression", "rbf_network_regression", "rbf_network_regression --widths cluster"];

#[test]
fn every_verb_takes_every_method() {
    let place = Place::new();
    place.run("data iris -o iris.csv").ok();
    place.run("data noisy_sinc --n 80 -o line.csv").ok();
    let methods = CLASSIFIERS.iter().map(|m| ("iris.csv", m)).chain(REGRESSIONS.iter().map(|m| ("line.csv", m)));
    for (data, method) in methods {
        let name = method.split(' ').next().unwrap();
        let report = place.json(&format!("fit {data} --machine {method} -o m"));
        assert_eq!(report["machine"], name);
        let worst = if name == "linear_regression" { 1.0 } else { 0.3 };
        let evaluated = place.json(&format!("evaluate m {data}"));
        let loss = evaluated.get("error").or(evaluated.get("rmse")).and_then(serde_json::Value::as_f64).unwrap();
        assert!(loss >= 0.0 && loss < worst, "{method}: {loss}");
        let lines = place.run(&format!("predict m {data}")).ok().lines().len();
        assert_eq!(lines, if data == "iris.csv" { 151 } else { 81 }, "{method}");
        place.run(&format!("plot m {data} -o a.svg")).ok();
        assert!(place.read("a.svg").contains(name), "{method}");
        assert!(place.run("show m").ok().out.contains(name), "{method}");
        place.run(&format!("fit {data} --machine {method} -o m1 --threads 1")).ok();
        place.run(&format!("fit {data} --machine {method} -o m2 --threads 2")).ok();
        assert!(place.bytes("m1") == place.bytes("m2"), "{method}: threads");
    }
    assert!(place.run("list machines").ok().out.contains("rbf_network_regression"));
}

#[test]
fn parameters_are_selected_and_probabilities_learned() {
    let place = Place::with_banana(90);
    for (machine, grid) in [
        ("knn", "k=1|5|9,weighting=uniform|distance"),
        ("adaboost", "rounds=2|20,learner=stump|rbf_network"),
        ("rbf_network", "centres=2|10,widths=cluster|nearest"),
        ("logistic_regression", "lambda=0|1|100"),
        ("linear_fisher", "gamma=0|0.5"),
        ("quadratic_discriminant", "lambda=0|0.5|1,gamma=0|0.1"),
    ] {
        place.run(&format!("select banana.csv --machine {machine} --grid {grid} --folds 3 -o s")).ok();
        place.run(&format!("fit banana.csv --machine {machine} --probabilities platt -o p")).ok();
        let report = place.json("evaluate p banana.csv");
        assert!(report["log_loss"].as_f64().is_some_and(|l| l > 0.0 && l < 0.72), "{machine}: {report}");
    }
}

#[test]
fn mistakes_are_told_with_their_remedy() {
    let place = Place::with_banana(30);
    for machine in ["adaboost", "rbf_network", "logistic_regression"] {
        let fit = format!("fit banana.csv --machine {machine} --kernel 'rbf(gamma=1)' -o m");
        place.run(&fit).fails(2, &["explicit features", "svc"]);
    }
    place.run("fit banana.csv --machine knn --k 0 -o m").fails(2, &["k", "≥ 1"]);
    place.run("fit banana.csv --machine rbf_network --centres 256 -o m").fails(2, &["centres", "255"]);
    for machine in ["knn", "adaboost"] {
        place.run(&format!("fit banana.csv --machine {machine} -o m")).ok();
        place.run("export m -o m.onnx").fails(2, &[machine, "ONNX", "own file"]);
        place.run("export m --format libsvm -o m.libsvm").fails(2, &[machine, "LIBSVM", "own file"]);
    }
}
