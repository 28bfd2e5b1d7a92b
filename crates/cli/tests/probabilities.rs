//! Probabilities at the terminal: fit, predict, evaluate, show and plot.
#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use crate::common::Place;

/// A folder with a calibrated model `m` and a plain one `plain` of the banana set.
fn place() -> Place {
    let place = Place::with_banana(120);
    place.run("fit banana.csv --machine svc --probabilities platt -o m").ok();
    place.run("fit banana.csv --machine svc -o plain").ok();
    place
}

#[test]
fn predictions_get_a_column_for_each_class() {
    let place = place();
    let said = place.run("predict m banana.csv --probabilities").ok();
    let lines = said.lines();
    assert_eq!((lines[0], lines.len()), ("prediction,probability_-1,probability_1", 121));
    let labels: Vec<&str> = lines[1..].iter().map(|l| l.split(',').next().unwrap()).collect();
    for line in &lines[1..] {
        let cells: Vec<&str> = line.split(',').collect();
        let p: Vec<f64> = cells[1..].iter().map(|c| c.parse().unwrap()).collect();
        assert!((p[0] + p[1] - 1.0).abs() < 1e-12);
        assert_eq!(cells[0], if p[0] >= p[1] { "-1" } else { "1" }, "{line}");
    }
    // the labels are those of the model without
    let plain = place.run("predict plain banana.csv").ok();
    assert_eq!(plain.lines()[1..], labels);
    assert_eq!(place.run("predict m banana.csv").ok().out, plain.out);
    let both = place.run("predict m banana.csv --scores --probabilities -o p.csv").ok();
    assert!(both.out.contains("p.csv"));
    assert!(place.read("p.csv").starts_with("prediction,score_-1,score_1,probability_-1,probability_1\n"));
}

#[test]
fn several_classes_have_probabilities_too() {
    let place = Place::new();
    place.run("data iris -o iris.csv").ok();
    for machine in ["svc", "nearest_mean"] {
        for method in ["platt", "isotonic", "gaussian"] {
            place.run(&format!("fit iris.csv --machine {machine} --probabilities {method} -o m")).ok();
            let report = place.json("predict m iris.csv --probabilities");
            let labels: Vec<&str> = report["labels"].as_array().unwrap().iter().map(|l| l.as_str().unwrap()).collect();
            assert_eq!(labels.len(), 3);
            assert!(report.get("scores").is_none());
            let rows = report["probabilities"].as_array().unwrap();
            for (row, label) in rows.iter().zip(report["predictions"].as_array().unwrap()) {
                let p: Vec<f64> = row.as_array().unwrap().iter().map(|p| p.as_f64().unwrap()).collect();
                let first = (0..3).rev().max_by(|&a, &b| p[a].total_cmp(&p[b])).unwrap();
                assert_eq!(labels[first], label.as_str().unwrap(), "{p:?}");
            }
            let report = place.json("evaluate m iris.csv");
            assert!(report["log_loss"].as_f64().unwrap() < 0.4, "{machine} {method}: {report}");
        }
    }
}

#[test]
fn evaluation_tells_the_quality_of_probabilities_where_there_are_some() {
    let place = place();
    let report = place.json("evaluate m banana.csv");
    let value = |key: &str| report[key].as_f64().unwrap();
    assert!(value("log_loss") > 0.0 && value("log_loss") < 0.693);
    assert!(value("brier") > 0.0 && value("brier") < 0.25);
    assert!((0.0..0.5).contains(&value("calibration_error")));
    let said = place.run("evaluate m banana.csv").ok().out;
    for part in ["log loss", "Brier score", "calibration error"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let plain = place.json("evaluate plain banana.csv");
    assert!(plain.get("log_loss").is_none() && plain.get("brier").is_none());
    assert_eq!(plain["error"], report["error"]);
    assert!(!place.run("evaluate plain banana.csv").ok().out.contains("Brier"));
    // a label that the model does not know has no probability
    place.write("new.csv", "x1,x2,class\n0,1,-1\n1,0,7\n");
    assert!(place.json("evaluate m new.csv")["log_loss"].is_null());
    assert!(place.run("evaluate m new.csv").ok().out.contains("infinite"));
}

#[test]
fn a_model_tells_its_calibration() {
    let place = place();
    let shown = place.json("show m");
    assert_eq!(shown["calibration"]["method"], "platt");
    assert_eq!(shown["calibration"]["folds"], 3);
    assert!(shown["calibration"]["curves"][0]["platt"]["a"].as_f64().unwrap() < 0.0);
    let said = place.run("show m").ok().out;
    assert!(said.contains("platt, learned from scores held out in 3 folds"), "{said}");
    assert!(place.json("show plain")["calibration"].is_null());
    assert!(!place.run("show plain").ok().out.contains("probabilities"));
    let fitted = place.json("fit banana.csv --machine svc --probabilities isotonic --calibration-folds 3 -o m");
    assert_eq!(
        fitted["calibration"],
        serde_json::json!({"method": "isotonic", "folds": 3, "curves": 1, "label_has_the_largest": true})
    );
    assert!(place.run("show m").ok().out.contains("isotonic, learned from scores held out in 3 folds"));
}

#[test]
fn equal_seeds_give_equal_models_with_any_number_of_threads() {
    let place = place();
    place.run("fit banana.csv --machine svc --probabilities platt --threads 1 -o again").ok();
    assert!(place.bytes("m") == place.bytes("again"));
    place.run("fit banana.csv --machine svc --probabilities platt --seed 9 -o other").ok();
    assert!(place.bytes("m") != place.bytes("other"), "other folds, other curves");
}

#[test]
fn the_reliability_diagram_is_a_picture() {
    let place = place();
    place.run("data banana --n 200 --seed 5 -o new.csv").ok();
    let report = place.json("plot m new.csv --what reliability -o r.svg");
    let svg = place.read("r.svg");
    assert_eq!(report["bytes"], svg.len());
    assert!(svg.contains("observed share of 1") && svg.contains("95 % interval") && !svg.contains("NaN"));
    // the other picture is still there, with and without its name
    place.run("plot m banana.csv -o a.svg").ok();
    place.run("plot m banana.csv --what model -o b.svg").ok();
    assert_eq!(place.read("a.svg"), place.read("b.svg"));
    assert_ne!(place.read("a.svg"), svg);
    place.run("data iris -o iris.csv").ok();
    place.run("fit iris.csv --machine nearest_mean --probabilities isotonic -o i").ok();
    place.run("plot i iris.csv --what reliability -o i.svg").ok();
    assert!(place.read("i.svg").contains("probability of the predicted label"));
    place.write("x.csv", "x1,x2\n0,1\n2,3\n");
    place.run("plot m x.csv --what reliability -o x.svg").fails(3, &["x.csv has no target column"]);
    place.run("plot m banana.csv --what magic -o x.svg").fails(2, &["magic"]);
    assert!(!place.has("x.svg"));
}

#[test]
fn what_has_no_probabilities_names_the_remedy() {
    let place = place();
    let remedy = &["no probabilities", "--probabilities platt"];
    place.run("predict plain banana.csv --probabilities -o p.csv").fails(2, remedy);
    place.run("plot plain banana.csv --what reliability -o r.svg").fails(2, remedy);
    place.run("fit banana.csv --machine ridge -o r").ok();
    place.run("predict r banana.csv --probabilities").fails(2, &["for classifiers", "ridge"]);
    assert!(!place.has("p.csv") && !place.has("r.svg"));
}

#[test]
fn a_selection_gives_its_best_probabilities() {
    let place = Place::with_banana(80);
    let select = "select banana.csv --machine svc --grid 'c=1|10' -o m";
    let report = place.json(&format!("{select} --probabilities isotonic --calibration-folds 4"));
    assert_eq!(report["calibration"]["folds"], 4);
    place.run("predict m banana.csv --probabilities").ok();
    assert!(place.json(select)["calibration"].is_null());
    let ridge = "select banana.csv --machine ridge --grid 'lambda=1|10' --probabilities platt -o r";
    place.run(ridge).fails(2, &["--probabilities is for classifiers", "ridge"]);
}

#[test]
fn only_classifiers_learn_probabilities() {
    let place = Place::with_banana(30);
    for machine in ["ridge", "kernel_pca"] {
        let line = format!("fit banana.csv --machine {machine} --probabilities platt -o m");
        place.run(&line).fails(2, &["--probabilities is for classifiers", machine]);
    }
    place.run("fit banana.csv --machine svc --probabilities magic -o m").fails(2, &["magic", "isotonic"]);
    for folds in ["1", "21", "-3", "many"] {
        let line = format!("fit banana.csv --machine svc --probabilities platt --calibration-folds {folds} -o m");
        place.run(&line).fails(2, &[folds]);
    }
    place.run("fit banana.csv --machine svc --calibration-folds 3 -o m").fails(2, &["--probabilities"]);
    assert_eq!(place.files(), ["banana.csv"]);
}

#[test]
fn small_classes_are_calibrated_and_single_examples_told() {
    let place = Place::with(&[("a.csv", "x,y\n1,a\n2,a\n3,a\n7,b\n8,b\n"), ("one.csv", "x,y\n1,a\n2,a\n3,a\n7,b\n")]);
    place.run("fit a.csv --machine svc --probabilities platt -o m").ok();
    place.run("predict m a.csv --probabilities").ok();
    place.run("fit a.csv --machine svc --probabilities isotonic --calibration-folds 20 -o m").ok();
    assert_eq!(place.json("show m")["calibration"]["folds"], 5);
    place.run("fit one.csv --machine svc --probabilities platt -o n").ok();
    let told = place.json("show n").to_string();
    assert!(told.contains("\\\"b\\\" has a single example"), "{told}");
    place.run("predict n one.csv --probabilities").ok();
}

#[test]
fn a_calibration_that_runs_out_of_time_keeps_the_model() {
    let place = Place::with_banana(4000);
    let fit =
        "fit banana.csv --machine svc --c 1e6 --tolerance 1e-9 --probabilities platt --max-seconds 0.2 -o m --json";
    let ran = place.run(fit).ok();
    assert!(ran.err.contains("stopped (time_limit) before probabilities were learned"), "{}", ran.err);
    let report = ran.document();
    assert_eq!(report["status"], "time_limit");
    assert_eq!(report["notes"]["calibration_cut_short"], 1.0);
    assert!(report["calibration"].is_null());
    place.run("predict m banana.csv").ok();
    place.run("predict m banana.csv --probabilities").fails(2, &["no probabilities"]);
}
