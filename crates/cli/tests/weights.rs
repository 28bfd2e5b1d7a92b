//! `--weights`: a column that says how much each example counts.
#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use crate::common::Place;
use std::fmt::Write as _;

/// Examples with whole weights as `weighted.csv`, and each as often as it weighs as `repeated.csv`.
fn twice() -> Place {
    let place = Place::with_banana(60);
    let (mut weighted, mut repeated) = (String::new(), String::new());
    for (k, line) in place.read("banana.csv").lines().enumerate() {
        let times = if k == 0 { 1 } else { (k % 3 + 1) % 3 };
        let weight = if k == 0 { "w".to_owned() } else { times.to_string() };
        writeln!(weighted, "{weight},{line}").unwrap();
        (0..times).for_each(|_| writeln!(repeated, "{line}").unwrap());
    }
    place.write("weighted.csv", weighted);
    place.write("repeated.csv", repeated);
    place
}

#[test]
fn a_weight_of_two_is_an_example_that_stands_there_twice() {
    let place = twice();
    let fit = "--machine svc --kernel 'rbf(gamma=1)' --scale none --tolerance 1e-6";
    place.run(&format!("fit weighted.csv --weights w {fit} -o m")).ok();
    place.run(&format!("fit repeated.csv {fit} -o n")).ok();
    let scores = |model: &str, data: &str| -> Vec<f64> {
        let said = place.run(&format!("predict {model} {data} --scores")).ok().out;
        said.lines().skip(1).map(|l| l.rsplit(',').next().unwrap().parse().unwrap()).collect()
    };
    let (a, b) = (scores("m", "banana.csv"), scores("n", "banana.csv"));
    assert!(a.len() == 60 && a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-3), "{a:?}\n{b:?}");
    // a file that has the column is read as one that has not
    assert_eq!(a, scores("m", "weighted.csv"));
    let evaluate = |data: &str| place.json(&format!("evaluate m {data}"))["error"].clone();
    assert_eq!(evaluate("weighted.csv"), evaluate("banana.csv"));
    // by number, too; and without weights the column is a feature
    assert_eq!(place.json(&format!("fit weighted.csv --weights 1 {fit} -o k"))["d"], 2);
    assert_eq!(place.json(&format!("fit weighted.csv {fit} -o k"))["d"], 3);
    assert_eq!(place.bytes("m").len(), {
        place.run(&format!("fit weighted.csv --weights w {fit} -o k")).ok();
        place.bytes("k").len()
    });
}

#[test]
fn select_takes_weights_along() {
    let place = twice();
    let select = "--machine svc --grid c=0.1|10 --scale none -o m";
    let weighted = place.json(&format!("select weighted.csv --weights w {select}"));
    let plain = place.json(&format!("select banana.csv {select}"));
    assert_eq!((&weighted["d"], &weighted["n"]), (&plain["d"], &plain["n"]));
    assert_ne!(weighted["n_support"], plain["n_support"]);
}

#[test]
fn weights_that_mean_nothing_are_refused() {
    let place = twice();
    for machine in ["ridge", "kernel_pca", "nearest_mean"] {
        place
            .run(&format!("fit weighted.csv --weights w --machine {machine} -o m"))
            .fails(2, &[machine, "does not weigh examples"]);
    }
    place.run("select weighted.csv --weights w --machine ridge --grid lambda=1 -o m").fails(2, &["does not weigh"]);
    for (weights, parts) in [
        (["1", "-2"], ["line 3, column \"w\"", "the weight -2 is not a number ≥ 0"]),
        (["", "1"], ["line 2, column \"w\"", "the entry is missing"]),
        (["1", "much"], ["line 3, column \"w\"", "\"much\" is not a number"]),
        (["0", "0"], ["column \"w\"", "every weight is zero"]),
    ] {
        place.write("bad.csv", format!("w,a,y\n{},1,u\n{},2,v\n", weights[0], weights[1]));
        place.run("fit bad.csv --weights w --machine svc -o m").fails(3, &parts);
    }
    place.run("fit weighted.csv --weights v --machine svc -o m").fails(3, &["no column \"v\""]);
    place.run("fit weighted.csv --weights -1 --machine svc -o m").fails(2, &["is the target"]);
    assert!(!place.has("m"));
}

#[test]
fn folds_of_a_weighted_fit_take_the_weights_of_the_models_column() {
    let place = twice();
    let fit = "--machine svc --kernel 'rbf(gamma=1)' --scale none";
    place.run(&format!("fit weighted.csv --weights w {fit} -o m")).ok();
    let said = place.run("certify m weighted.csv --folds 5").ok().out;
    assert!(said.contains("cross-validated error"), "{said}");
    // a file without the column has no weights to take
    place.run("certify m banana.csv --folds 5").fails(2, &["weights, which are not known here"]);
    // weights that balance classes are counted again
    place.run(&format!("fit banana.csv --class-weight balanced {fit} -o b")).ok();
    assert!(place.run("certify b banana.csv --folds 5").ok().out.contains("cross-validated error"));
}
