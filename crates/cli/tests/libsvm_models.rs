//! Models of LIBSVM on the command line: every verb takes them, and `export` turns them into ours and back.
#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use crate::common::{Place, close, numbers};
use std::process::Command;

/// Two classes in the plane; f(x) = Σ ± exp(−½‖x − x_i‖²) − 0.25.
const MODEL: &str = "svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 2\nrho 0.25\nlabel 1 -1\nprobA -2\n\
                     probB 0.5\nnr_sv 1 1\nSV\n1 1:1 2:1 \n-1 1:-1 \n";
const DATA: &str = "1 1:1 2:1\n-1 1:-1 2:0\n-1 1:1 2:-2\n";

#[test]
fn every_verb_that_takes_a_model_takes_one_of_libsvm() {
    let place = Place::with(&[("svm", MODEL), ("a.svm", DATA), ("a.csv", "a,b,y\n1,1,1\n-1,0,-1\n1,-2,-1\n")]);
    let said = place.run("predict svm a.svm --scores --probabilities").ok().out;
    assert_eq!(said, place.run("predict svm a.csv --scores --probabilities").ok().out);
    let f = 1.0 - (-2.5_f64).exp() - 0.25;
    let first: Vec<String> = said.lines().nth(1).unwrap().split(',').map(str::to_owned).collect();
    let p = 1.0 / (1.0 + (-2.0 * f + 0.5).exp());
    close(&numbers(&first), &[1.0, f, -f, p, 1.0 - p], 1e-12);
    assert_eq!(place.json("evaluate svm a.csv")["error"], 0.0);
    let shown = place.json("show svm");
    assert_eq!((&shown["kind"], &shown["machine"], &shown["n_support"]), (&"model".into(), &"svc".into(), &2.into()));
    assert!(shown["n"].is_null() && shown["status"].is_null(), "the file does not tell");
    let said = place.run("show svm").ok().out;
    assert!(said.contains("not told") && said.contains("candidates") && said.contains("unknown: how many"), "{said}");
    assert!(shown["candidates"].is_null() && shown["candidates_paid_for"].is_null(), "{shown}");
    for data in ["a.svm", "a.csv"] {
        place.run(&format!("plot svm {data} -o a.svg")).ok();
        assert!(place.read("a.svg").contains("f = 0"), "a decision surface");
    }
    place.run("fit svm --machine svc -o m").fails(3, &["svm is a model, not data"]);
    place.write("cut", &MODEL[..MODEL.len() - 9]);
    place.run("predict cut a.svm").fails(3, &["cut line 12", "ends after 1 of 2 support vectors"]);
}

#[test]
fn models_are_exported_and_come_back() {
    let place = Place::with(&[("svm", MODEL), ("a.svm", DATA)]);
    let report = place.json("export svm -o ours.mercer");
    assert_eq!((&report["format"], &report["machine"]), (&"mercer".into(), &"svc".into()));
    let said = place.run("export ours.mercer -o back --format libsvm").ok();
    assert!(said.err.is_empty(), "{}", said.err);
    let plain = |text: &str| text.lines().map(|l| l.trim_end().to_owned()).collect::<Vec<_>>();
    assert_eq!(plain(&place.read("back")), plain(MODEL));
    let wanted = place.run("predict svm a.svm --scores").ok().out;
    for model in ["ours.mercer", "back"] {
        assert_eq!(place.run(&format!("predict {model} a.svm --scores")).ok().out, wanted, "{model}");
    }
}

#[test]
fn what_gets_lost_is_a_warning_and_what_cannot_be_said_an_error() {
    let place = Place::with_banana(60);
    place.run("fit banana.csv --machine svc -o m").ok();
    let ran = place.run("export m -o svm").ok();
    assert!(ran.err.starts_with("warning: ") && ran.err.contains("columns are scaled"), "{}", ran.err);
    assert_eq!(place.json("export m -o svm")["warnings"].as_array().unwrap().len(), 1);
    place.run("fit banana.csv --machine svc --scale none -o m").ok();
    assert!(place.run("export m -o svm").ok().err.is_empty());
    assert_eq!(place.run("predict m banana.csv").ok().out, place.run("predict svm banana.csv").ok().out);
    place.run("fit banana.csv --machine svc --kernel laplacian -o m").ok();
    place.run("export m -o none.svm").fails(2, &["no kernel laplacian", "linear, polynomial, rbf and sigmoid"]);
    place.run("fit banana.csv --machine kernel_pca -o m").ok();
    place.run("export m -o none.svm").fails(2, &["no such model as kernel_pca"]);
    place.run("export m").fails(2, &["--output"]);
    place.run("export banana.csv -o x").fails(3, &["banana.csv is not a mercer model"]);
    assert!(!place.has("none.svm"));
}

#[test]
fn scores_of_pairs_are_exported_for_two_classes_and_for_more() {
    let place = Place::new();
    place.run("data banana --n 60 -o two.csv").ok();
    place.run("data iris -o iris.csv").ok();
    // models of LIBSVM call their target y
    place.write("three.csv", place.read("iris.csv").replacen("species", "y", 1));
    for (data, machine, kernel) in [
        ("two.csv", "linear_svc", "linear"),
        ("two.csv", "logistic_regression", "linear"),
        ("two.csv", "kfd", "rbf(gamma=1)"),
        ("two.csv", "perceptron", "rbf(gamma=1)"),
        ("two.csv", "lp_machine", "rbf(gamma=1)"),
        ("two.csv", "kernel_logistic", "rbf(gamma=1)"),
        ("two.csv", "kfd(strategy=one_vs_one)", "rbf(gamma=1)"),
        ("three.csv", "kfd(strategy=one_vs_one)", "rbf(gamma=1)"),
        ("three.csv", "linear_svc", "linear"),
    ] {
        place.run(&format!("fit {data} -m '{machine}' -k '{kernel}' --scale none -o m")).ok();
        place.run("export m -o svm.model").ok();
        let predicted = |model: &str| -> Vec<String> {
            place.run(&format!("predict {model} {data}")).ok().lines()[1..].iter().map(ToString::to_string).collect()
        };
        let ours = predicted("m");
        let mut known: Vec<&String> = ours.iter().collect();
        known.sort();
        known.dedup();
        // labels of LIBSVM are whole numbers, and words are numbered in their order
        let numbered = |label: &String| match label.parse::<f64>() {
            Ok(_) => label.clone(),
            Err(_) => (known.iter().position(|k| *k == label).unwrap() + 1).to_string(),
        };
        assert_eq!(ours.iter().map(numbered).collect::<Vec<_>>(), predicted("svm.model"), "{machine} {data}");
    }
}

#[test]
fn svm_predict_says_the_same() {
    if Command::new("svm-predict").output().is_err() {
        eprintln!("skipped: svm-predict is not there (Debian has it in libsvm-tools)");
        return;
    }
    let place = Place::new();
    place.run("data iris -o iris.csv").ok();
    let mut known: Vec<String> = Vec::new();
    let (mut classes, mut numeric) = (String::new(), String::new());
    for line in place.read("iris.csv").lines().skip(1) {
        let (x, label) = line.rsplit_once(',').unwrap();
        if !known.iter().any(|c| c == label) {
            known.push(label.to_owned());
        }
        let class = known.iter().position(|c| c == label).unwrap();
        // the first coordinate is the target of regressions
        let (first, rest) = x.split_once(',').unwrap();
        let pairs: Vec<String> = rest.split(',').enumerate().map(|(j, v)| format!("{}:{v}", j + 1)).collect();
        classes.push_str(&format!("{class} {}\n", pairs.join(" ")));
        numeric.push_str(&format!("{first} {}\n", pairs.join(" ")));
    }
    place.write("classes.svm", classes);
    place.write("numbers.svm", numeric);
    for (data, fit) in [
        ("classes.svm", "--machine svc"),
        ("classes.svm", "--machine svc --strategy one_vs_rest"),
        ("classes.svm", "--machine nu_svc --nu 0.2 --kernel 'polynomial(degree=2)'"),
        ("classes.svm", "--machine nearest_mean --kernel linear"),
        ("numbers.svm", "--machine svr --kernel 'rbf(gamma=0.2)'"),
        ("numbers.svm", "--machine nu_svr --kernel linear"),
        ("numbers.svm", "--machine ridge"),
    ] {
        let ours: Vec<String> = place.fitted(&format!("{data} {fit}"), data);
        place.run("export fitted.mercer -o svm.model").ok();
        let ran = Command::new("svm-predict").args([data, "svm.model", "out"]).current_dir(place.path("")).output();
        assert!(ran.unwrap().status.success(), "{fit}");
        let theirs: Vec<String> = place.read("out").lines().map(str::to_owned).collect();
        // svm-predict prints six digits
        close(&numbers(&theirs), &numbers(&ours), 1e-4);
    }
}
