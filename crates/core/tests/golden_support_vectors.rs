//! Support vector machines against LIBSVM: objective, offsets, support vectors and decisions, kept in `golden/libsvm.json`.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::support::expected::{expected, make};
use mercer::data::{Dataset, Rows, Target};
use mercer::formula::Formula;
use mercer::machines::{Coefficients, Fitted, Output, Task};
use mercer::watch::{Silent, Status};
use serde_json::Value;
use std::path::Path;

fn golden() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/libsvm.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// A list of numbers, or a list of lists of them, row by row.
fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().unwrap();
    list.iter().flat_map(|v| if v.is_array() { numbers(v) } else { vec![v.as_f64().unwrap()] }).collect()
}

fn vectors(value: &Value) -> Rows<f64> {
    let rows: Vec<Vec<f64>> = value.as_array().unwrap().iter().map(numbers).collect();
    Rows::from_vectors(&rows).unwrap()
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |m, v| m.max(v.abs()))
}

#[track_caller]
fn near(got: &[f64], wanted: &[f64], room: f64, what: &str) {
    assert_eq!(got.len(), wanted.len(), "{what}");
    for (i, (g, w)) in got.iter().zip(wanted).enumerate() {
        assert!((g - w).abs() <= room, "{what}: entry {i} is {g}, not {w}; off by {:e}", (g - w).abs());
    }
}

fn note(fitted: &Fitted, name: &str) -> Option<f64> {
    fitted.report.notes.iter().find(|(n, _)| n == name).map(|n| n.1)
}

/// Compares every case of a machine; weights of classes are asked for or left out.
fn compare(machine: &str, weighted: bool) {
    let file = golden();
    let chosen: Vec<&Value> = file["cases"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|c| c["machine"] == machine && c["settings"].as_str().unwrap().contains("class_weight") == weighted)
        .collect();
    assert!(chosen.len() >= 6, "{machine}: {} cases", chosen.len());
    for case in chosen {
        let data = &file["data"][case["data"].as_str().unwrap()];
        let (formula, settings) = (case["formula"].as_str().unwrap(), case["settings"].as_str().unwrap());
        let what = format!("{machine} on {}, {formula}, {settings}", case["data"]);
        let kernel: Formula = formula.parse().unwrap();
        let (x, z) = (Dataset::new(vectors(&data["x"])), Dataset::new(vectors(&data["z"])));
        let target = (machine != "one_class").then(|| Target::from(numbers(&data["y"])));
        let task = Task { target: target.as_ref(), threads: 2, ..Task::new(kernel.gram(&x).unwrap()) };
        let fitted = make(machine, &format!("{settings}; tolerance=1e-6")).run(&task, &Silent).unwrap();
        assert_eq!(fitted.report.status, Status::Converged, "{what}");
        // rows of K are f32 on both sides: seven digits of values up to 1, and less next to the margin where they are large
        let radial = formula.starts_with("rbf");
        let (value_digits, decision_digits) = if radial { (3e-6, 2e-5) } else { (4e-4, 5e-4) };

        let (told, objectives) = (fitted.report.objective.unwrap(), numbers(&case["objectives"]));
        let rho = if case["rho"].is_array() { numbers(&case["rho"]) } else { vec![1.0; objectives.len()] };
        let divided: f64 = objectives.iter().sum();
        let whole: f64 = objectives.iter().zip(&rho).map(|(o, r)| o * r * r).sum();
        let right = [divided, whole].iter().any(|o| (told - o).abs() <= value_digits * o.abs());
        assert!(right, "{what}: objective {told}, not {divided} (nor {whole})");

        let theirs = numbers(&case["decisions"]);
        let size = largest(&theirs).max(if machine.ends_with("svr") { largest(&numbers(&data["y"])) } else { 0.0 });
        let room = 4.0 * case["decision_error"].as_f64().unwrap() + decision_digits * size;
        let support = x.select(fitted.expansion.points());
        let decisions = fitted.expansion.scores(kernel.cross(&z, &support).unwrap().as_ref());
        near(&decisions, &theirs, room, &what);
        near(&fitted.expansion.offsets, &numbers(&case["offsets"]), room, &format!("{what}, offsets"));

        let (count, wanted) = (fitted.expansion.points().len() as f64, case["n_support"].as_f64().unwrap());
        // a point on the margin may have weight or not
        assert!((count - wanted).abs() <= 2.0, "{what}: {count} support vectors, not {wanted}");
        if let (Some(told), Some(wanted)) = (note(&fitted, "epsilon"), case["epsilon"].as_f64()) {
            near(&[told], &[wanted], room.max(1e-5), &format!("{what}, ε"));
        }
        if machine == "nu_svr" {
            assert!(note(&fitted, "epsilon").is_some(), "{what}: the tube is not told");
        }
        if let Some(wanted) = case["predictions"].as_array() {
            let pairs = theirs.len() / z.len();
            let output = fitted.readout.read(decisions);
            assert!(matches!(output, Output::Labels { .. }), "{what}");
            for (i, (label, wanted)) in output.labels().iter().zip(wanted).enumerate() {
                let doubtful = theirs[i * pairs..(i + 1) * pairs].iter().any(|d| d.abs() <= room);
                assert!(
                    doubtful || label.parse::<f64>().unwrap() == wanted.as_f64().unwrap(),
                    "{what}: {label} at {i}"
                );
            }
        }
        match machine {
            "svc" | "nu_svc" => assert!(matches!(fitted.expansion.coefficients, Coefficients::Pairwise { .. })),
            _ => assert!(matches!(fitted.expansion.coefficients, Coefficients::Dual { .. })),
        }
    }
}

#[test]
fn classifiers_are_those_of_libsvm() {
    compare("svc", false);
}

#[test]
fn classifiers_with_weights_of_classes_are_those_of_libsvm() {
    if expected(&["svc.class_weight"]) {
        compare("svc", true);
    }
}

#[test]
fn nu_classifiers_are_those_of_libsvm() {
    if expected(&["nu_svc"]) {
        compare("nu_svc", false);
    }
}

#[test]
fn regressions_are_those_of_libsvm() {
    if expected(&["svr"]) {
        compare("svr", false);
    }
}

#[test]
fn nu_regressions_are_those_of_libsvm() {
    if expected(&["nu_svr"]) {
        compare("nu_svr", false);
    }
}

#[test]
fn detectors_of_novelties_are_those_of_libsvm() {
    if expected(&["one_class"]) {
        compare("one_class", false);
    }
}
