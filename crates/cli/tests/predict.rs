//! `predict` and `evaluate`: what a model says about new examples, and how good that is.
#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use crate::common::{Place, ran};
use std::io::Read;

#[test]
fn predictions_have_a_header_and_one_line_for_each_example() {
    let place = Place::with_banana(50);
    place.run("fit banana.csv --machine svc -o m").ok();
    let said = place.run("predict m banana.csv").ok();
    let lines = said.lines();
    assert_eq!((lines.len(), lines[0]), (51, "prediction"));
    assert!(lines[1..].iter().all(|l| ["-1", "1"].contains(l)));
    let to_file = place.run("predict m banana.csv -o p.csv").ok();
    assert!(to_file.out.contains("p.csv"));
    assert_eq!(place.read("p.csv"), said.out);
}

#[test]
fn scores_are_appended_and_the_largest_is_the_prediction() {
    let place = Place::new();
    place.run("data iris -o iris.csv").ok();
    place.run("fit iris.csv --machine nearest_mean -o m").ok();
    let said = place.run("predict m iris.csv --scores").ok();
    assert_eq!(said.lines()[0], "prediction,score_setosa,score_versicolor,score_virginica");
    let labels = ["setosa", "versicolor", "virginica"];
    for line in &said.lines()[1..] {
        let cells: Vec<&str> = line.split(',').collect();
        let scores: Vec<f64> = cells[1..].iter().map(|c| c.parse().unwrap()).collect();
        let best = (0..3).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap();
        assert_eq!(cells[0], labels[best]);
    }
    place.run("fit iris.csv --machine svc -o m").ok();
    for line in &place.run("predict m iris.csv --scores").ok().lines()[1..] {
        let cells: Vec<&str> = line.split(',').collect();
        let of = |label: &str| cells[1 + labels.iter().position(|l| *l == label).unwrap()].parse::<f64>().unwrap();
        assert!(labels.iter().all(|l| of(l) <= of(cells[0])), "{line}");
    }
    place.run("data noisy_sinc -o sinc.csv").ok();
    place.run("fit sinc.csv --machine ridge -o r").ok();
    place.run("predict r sinc.csv --scores").fails(2, &["--scores is for classifiers"]);
}

#[test]
fn numbers_are_the_shortest_that_read_back_the_same() {
    let place = Place::with(&[("a.csv", "x,y\n1,0.1\n2,0.30000000000000004\n4,1e-7\n")]);
    let lines = place.fitted("a.csv --machine ridge --lambda 1e-12", "a.csv");
    for line in &lines {
        let value: f64 = line.parse().unwrap();
        assert_eq!(&value.to_string(), line);
    }
    let document = place.json("predict fitted.mercer a.csv");
    let exact: Vec<String> =
        document["predictions"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap().to_string()).collect();
    assert_eq!(exact, lines);
}

#[test]
fn the_target_column_may_be_there_or_not() {
    let place = Place::with_banana(40);
    place.run("fit banana.csv --machine svc -o m").ok();
    let cut = |line: &str| line.rsplit_once(',').unwrap().0.to_owned();
    let without: Vec<String> = place.read("banana.csv").lines().map(cut).collect();
    place.write("x.csv", without.join("\n"));
    place.write("bare.csv", without[1..].join("\n"));
    let wanted = place.run("predict m banana.csv").ok().out;
    assert_eq!(place.run("predict m x.csv").ok().out, wanted);
    assert_eq!(place.run("predict m bare.csv").ok().out, wanted);
    place.run("evaluate m x.csv").fails(3, &["x.csv has no target column"]);
    place.run("evaluate m bare.csv").fails(3, &["bare.csv has no target column"]);
}

#[test]
fn columns_are_found_by_name_and_others_are_left_aside() {
    let place = Place::with(&[
        ("a.csv", "a,b,y\n1,5,u\n2,9,v\n3,4,u\n"),
        ("b.csv", "y,note,b,a\nu,hello,5,1\nv,you,9,2\nu,there,4,3\n"),
    ]);
    place.run("fit a.csv --machine svc -o m").ok();
    assert_eq!(place.run("predict m a.csv").ok().out, place.run("predict m b.csv").ok().out);
    assert_eq!(place.json("evaluate m a.csv")["error"], place.json("evaluate m b.csv")["error"]);
}

#[test]
fn the_wrong_width_is_told() {
    let place = Place::with(&[
        ("a.csv", "a,b,y\n1,5,u\n2,9,v\n3,4,u\n"),
        ("narrow.csv", "a\n1\n"),
        ("wide.csv", "1,2,3,4,5\n6,7,8,9,10\n"),
        ("other.csv", "p,q,y\n1,5,u\n2,5,v\n"),
        ("a.svm", "1 1:1 2:2 3:3\n"),
        ("t.svm", "1 1:1 2:2\n-1 1:2\n"),
    ]);
    place.run("fit a.csv --machine svc -o m").ok();
    place.run("predict m narrow.csv").fails(3, &["\"b\"", "narrow.csv has a"]);
    place.run("predict m other.csv").fails(3, &["\"a\"", "other.csv has p, q, y"]);
    place.run("predict m wide.csv").fails(3, &["wide.csv"]);
    place.run("predict m a.svm").fails(3, &["a.svm", "3 coordinates"]);
    // sparse vectors may be wider: what was never seen in training counts nothing there
    place.run("fit t.svm --machine svc -o s").ok();
    place.run("predict s a.svm").ok();
}

#[test]
fn a_broken_cell_at_prediction_is_named() {
    let place = Place::with(&[
        ("a.csv", "a,b,y\n1,5,u\n2,9,v\n3,4,u\n"),
        ("hole.csv", "a,b\n1,2\n3,\n"),
        ("word.csv", "a,b\n1,2\n3,four\n"),
        ("inf.csv", "a,b\n1,2\n3,inf\n"),
        ("header.csv", "a,b\n"),
        ("empty.csv", ""),
    ]);
    place.run("fit a.csv --machine svc -o m").ok();
    place.run("predict m hole.csv").fails(3, &["hole.csv line 3, column \"b\""]);
    place.run("predict m word.csv").fails(3, &["word.csv line 3, column \"b\": \"four\" is not a number"]);
    place.run("predict m inf.csv").fails(3, &["inf.csv line 3, column \"b\""]);
    place.run("predict m header.csv").fails(3, &["header.csv has no examples"]);
    place.run("predict m empty.csv").fails(3, &["empty.csv has no examples"]);
    place.run("predict m a.csv -o none/p.csv").fails(3, &["there is no folder none"]);
    place.run("predict m hole.csv -o p.csv").fails(3, &[]);
    assert!(!place.has("p.csv"));
}

#[test]
fn evaluation_of_classes_is_error_confusion_and_auc() {
    let place =
        Place::with(&[("a.csv", "x,y\n0,no\n1,no\n9,yes\n10,yes\n"), ("b.csv", "x,y\n0,no\n10,no\n9,yes\n8,yes\n")]);
    place.run("fit a.csv --machine svc --kernel linear -o m").ok();
    let report = place.json("evaluate m b.csv");
    assert_eq!((&report["error"], &report["n"]), (&0.25.into(), &4.into()));
    assert_eq!(report["labels"], serde_json::json!(["no", "yes"]));
    assert_eq!(report["confusion"], serde_json::json!([[1, 1], [0, 2]]));
    // of the four pairs, 10 (no) stands above 9 and 8 (yes)
    assert_eq!(report["auc"], 0.5);
    assert!(report.get("rmse").is_none());
    let said = place.run("evaluate m b.csv").ok().out;
    assert!(said.contains("25.00 %") && said.contains("AUC"), "{said}");
}

#[test]
fn evaluation_of_numbers_is_rmse_and_r2() {
    let place = Place::with(&[("a.csv", "x,y\n1,1\n2,2\n3,3\n")]);
    place.run("fit a.csv --machine ridge --kernel linear --scale none --lambda 1 -o m").ok();
    // w = 14/15: residuals are 1/15, 2/15, 3/15
    let report = place.json("evaluate m a.csv");
    let value = |key: &str| report[key].as_f64().unwrap();
    assert!((value("rmse") - (14.0_f64 / 225.0 / 3.0).sqrt()).abs() < 1e-12);
    assert!((value("r2") - (1.0 - 14.0 / 225.0 / 2.0)).abs() < 1e-12);
    assert!(report.get("error").is_none() && report.get("confusion").is_none());
}

#[test]
fn a_class_that_was_never_learned_is_an_error_of_the_model() {
    let place = Place::with(&[("a.csv", "x,y\n0,u\n1,v\n"), ("b.csv", "x,y\n0,u\n1,w\n")]);
    place.run("fit a.csv --machine svc -o m").ok();
    let report = place.json("evaluate m b.csv");
    assert_eq!((&report["error"], &report["labels"]), (&0.5.into(), &serde_json::json!(["u", "v", "w"])));
    place.run("fit a.csv --machine kernel_pca -o p").ok();
    place.run("evaluate p a.csv").fails(2, &["kernel_pca has no target"]);
}

#[test]
fn words_cannot_be_compared_with_predicted_numbers() {
    let place = Place::with(&[("a.csv", "x,y\n0,1\n1,2\n3,4\n"), ("b.csv", "x,y\n0,u\n1,w\n")]);
    place.run("fit a.csv --machine ridge -o m").ok();
    place.run("evaluate m b.csv").fails(3, &["\"u\""]);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let place = Place::with_banana(2000);
    place.run("fit banana.csv --machine nearest_mean -o m").ok();
    for line in
        ["predict m banana.csv --scores", "data banana --n 100000", "list kernels", "predict m banana.csv --json"]
    {
        let mut child = place.command(line).spawn().unwrap();
        let mut first = [0; 10];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let ran = ran(line, child.wait_with_output().unwrap());
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{line}");
    }
}

#[test]
fn a_score_that_is_not_finite_is_a_numerical_error() {
    let place = Place::with(&[("a.csv", "x,y\n2,a\n3,b\n"), ("big.csv", "x,y\n2,a\n1.7e308,b\n")]);
    place.run("fit a.csv --machine svc --kernel linear --scale none --c 10 -o m").ok();
    for verb in ["predict", "evaluate"] {
        place.run(&format!("{verb} m big.csv")).fails(4, &["the score of example 2 is not finite"]);
    }
}

/// What `predict` says of the models that the tests of Python load, and with which flags.
const PREPARED: [(&str, &str); 9] = [
    ("standard", "--scores --probabilities"),
    ("minmax", "--conformal 0.8"),
    ("unit", "--scores"),
    ("categories", "--scores"),
    ("missing", "--scores"),
    ("text", "--scores"),
    ("places", "--scores"),
    ("novelty", "--scores"),
    ("clusters", "--scores"),
];

#[test]
fn predictions_of_saved_models_are_those_that_python_is_compared_with() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/prepared");
    let place = Place::new();
    for (name, flags) in PREPARED {
        let file = |end: &str| folder.join(format!("{name}.{end}")).display().to_string();
        let said = place.run(&format!("predict {} {} {flags}", file("mercer"), file("csv"))).ok();
        let told = std::fs::read_to_string(file("predictions.csv")).unwrap();
        assert_eq!(said.lines().len(), told.lines().count(), "{name}");
        for (line, known) in said.lines().iter().zip(told.lines()) {
            for (cell, known) in line.split(',').zip(known.split(',')) {
                match (cell.parse::<f64>(), known.parse::<f64>()) {
                    (Ok(cell), Ok(known)) => assert!((cell - known).abs() < 1e-9, "{name}: {line}"),
                    _ => assert_eq!(cell, known, "{name}: {line}"),
                }
            }
        }
    }
}

#[test]
fn a_name_that_promises_another_format_is_refused() {
    let place = Place::with_banana(60);
    place.run("fit banana.csv -m svc -o m.mercer").ok();
    for name in ["out.json", "out.xlsx", "out.arff", "out.dat", "out.json.gz"] {
        place
            .run(&format!("predict m.mercer banana.csv -o {name}"))
            .fails(2, &["which is not written here", ".csv or .npy"]);
    }
    place.run("predict m.mercer banana.csv -o out.txt").ok();
}

#[test]
fn what_no_example_of_a_model_has_is_told() {
    let place = Place::with(&[
        ("a.svm", "1 1:1 2:3\n-1 1:2\n1 1:4 2:2\n-1 2:1\n"),
        ("b.svm", "1 1:1 9:3\n"),
        ("a.fa", ">a\nACGT\n>b\nACCT\n>c\nAGGT\n"),
        ("b.fa", ">d\nAXYT\n"),
    ]);
    place.run("fit a.svm -m svc -o s.mercer").ok();
    let said = place.run("predict s.mercer b.svm");
    assert!(
        said.err.contains("indices of b.svm go up to 9, and those of the model's examples up to 2"),
        "{}",
        said.err
    );
    place.run("fit a.fa -m one_class --nu 1 -k spectrum(length=2) -o f.mercer").ok();
    let said = place.run("predict f.mercer b.fa");
    assert!(said.err.contains("X, Y") && said.err.contains("in no example"), "{}", said.err);
    for line in ["predict s.mercer a.svm", "predict f.mercer a.fa"] {
        assert!(!place.run(line).err.contains("no example"), "{line}");
    }
}
