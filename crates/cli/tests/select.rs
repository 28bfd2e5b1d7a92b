//! `select`: a grid, folds, a table and the best model.
#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use crate::common::Place;

#[test]
fn the_best_of_the_grid_is_fitted_on_everything() {
    let place = Place::with_banana(120);
    let report =
        place.json("select banana.csv --machine svc --grid 'c=1e-2..1e2:log3, gamma=0.01|1|100' --folds 4 -o m");
    let table = report["table"].as_array().unwrap();
    assert_eq!((table.len(), &report["candidates"]), (9, &9.into()));
    let score = |c: &serde_json::Value| c["score"].as_f64().unwrap();
    let least = table.iter().map(score).fold(f64::INFINITY, f64::min);
    assert_eq!(score(&report["best"]), least);
    assert!(table.iter().all(|c| c["folds"].as_array().unwrap().len() == 4));
    assert_eq!(report["n"], 120);
    assert_eq!(report["kernel"], report["best"]["kernel"]);
    assert_eq!(report["parameters"]["c"], report["best"]["parameters"]["c"]);
    assert!(report["seconds"]["total"].is_number() && report["training"]["error"].is_number());
    // the model is the one that fit gives with the same parameters
    let best = &report["best"]["parameters"];
    place
        .run(&format!("fit banana.csv --machine svc --c {} --kernel 'rbf(gamma={})' -o n", best["c"], best["gamma"]))
        .ok();
    assert_eq!(
        place.run("predict m banana.csv --scores").ok().out,
        place.run("predict n banana.csv --scores").ok().out
    );
    assert_eq!(place.files(), ["banana.csv", "m", "n"]);
}

#[test]
fn the_table_for_people_says_what_is_measured() {
    let place = Place::with_banana(60);
    let said = place.run("select banana.csv --machine svc --grid c=1|10 -o m").ok().out;
    assert!(said.contains("cv error") && said.contains("best"), "{said}");
    let said = place.run("select banana.csv --machine ridge --grid lambda=1|10 -o m").ok().out;
    assert!(said.contains("cv RMSE"), "{said}");
    let long = place.run("select banana.csv --machine nearest_mean --grid gamma=0.1..1:lin40 --folds 2 -o m").ok().out;
    assert!(long.contains("best 20 of 40"), "{long}");
}

#[test]
fn words_are_values_too_and_fixed_parameters_stay() {
    let place = Place::with_banana(60);
    let report = place.json("select banana.csv --machine svc --tolerance 0.01 --grid 'gamma=scale|median' -o m");
    assert_eq!(report["parameters"]["tolerance"], 0.01);
    assert_eq!(report["table"][1]["parameters"]["gamma"], "median");
    assert!(report["kernel"].as_str().unwrap().starts_with("rbf(gamma=0."), "{}", report["kernel"]);
}

#[test]
fn a_seed_and_any_threads_give_the_same_selection() {
    let place = Place::with_banana(80);
    let select = "select banana.csv --machine svc --grid 'c=0.1|1|10, gamma=0.1|1'";
    let table = |more: &str| place.json(&format!("{select} {more}"))["table"].clone();
    let first = table("--seed 3 --threads 1 -o a");
    assert!(first == table("--seed 3 --threads 2 -o b"));
    assert!(place.bytes("a") == place.bytes("b"));
    assert!(first != table("--seed 4 -o c"), "another seed, other folds");
}

#[test]
fn grid_errors_name_the_part_and_how_to_write_it() {
    let place = Place::with_banana(20);
    for (grid, part) in [
        ("", "no parameter"),
        ("c", "= is missing"),
        ("c=", "no values"),
        ("c=1..", ":logN"),
        ("c=1..2", ":logN"),
        ("c=1..2:foo3", ":logN"),
        ("c=1..2:log", "whole number"),
        ("c=1..2:log0", "whole number"),
        ("c=0..2:log3", "above 0"),
        ("c=1..x:log3", "\"x\" is not a number"),
        ("c=1, c=2", "twice"),
        ("c=1..2:lin9999, gamma=1..2:lin9999", "1000000"),
    ] {
        place.run(&format!("select banana.csv --machine svc --grid '{grid}' -o m")).fails(2, &["grid \"", part]);
    }
    for (grid, part) in [
        ("c=-1|1", "c = -1 must be > 0"),
        ("c=nan", "c = NaN is not a finite number"),
        ("c=1|x", "c = x is not a number"),
        ("gamma=0|1", "gamma = 0 must be > 0"),
        ("foo=1", "parameter called foo"),
        ("lambda=1", "neither svc nor the kernel"),
    ] {
        place.run(&format!("select banana.csv --machine svc --grid '{grid}' -o m")).fails(2, &[part]);
    }
    assert_eq!(place.files(), ["banana.csv"]);
}

#[test]
fn folds_must_fit_the_data() {
    let place = Place::with_banana(20);
    place.write("few.csv", "x,y\n1,u\n2,v\n3,v\n4,v\n");
    for (folds, finding) in [("0", "from 2 on, or loo"), ("1", "from 2 on, or loo"), ("21", "from 2 to 20")] {
        place.run(&format!("select banana.csv --machine svc --grid c=1 --folds {folds} -o m")).fails(2, &[finding]);
    }
    place.run("select few.csv --machine svc --grid c=1 --folds 2 -o m").fails(3, &["class \"u\" has a single example"]);
    place.run("select banana.csv --machine kernel_pca --grid components=1 -o m").fails(2, &["no target"]);
    place.run("select banana.csv --machine svc --grid c=1 --target none -o m").fails(3, &["no target"]);
    assert_eq!(place.files(), ["banana.csv", "few.csv"]);
}

#[test]
fn a_search_without_time_keeps_nothing_and_says_why() {
    let place = Place::with_banana(100);
    place.run("select banana.csv --machine svc --grid c=1|10 --max-seconds 0 -o m").fails(4, &["time_limit"]);
    assert_eq!(place.files(), ["banana.csv"]);
}

#[test]
fn explicit_features_serve_the_folds_too() {
    let place = Place::new();
    place.run("data noisy_sinc -o a.csv").ok();
    let primal = place.json("select a.csv --machine ridge --solver primal --kernel linear --grid lambda=0.1|1 -o m");
    let dual = place.json("select a.csv --machine ridge --solver cholesky --kernel linear --grid lambda=0.1|1 -o n");
    for k in 0..2 {
        let score = |document: &serde_json::Value| document["table"][k]["score"].as_f64().unwrap();
        assert!((score(&primal) - score(&dual)).abs() < 1e-9, "{k}");
    }
}

#[test]
fn one_standard_error_prefers_the_simpler_and_says_so() {
    let place = Place::with_banana(150);
    let select = "select banana.csv --machine svc --kernel 'rbf(gamma=1)' --grid c=0.1..1000:log5";
    let plain = place.json(&format!("{select} -o m"));
    assert_eq!(plain["best"], plain["chosen"]);
    let report = place.json(&format!("{select} --one-standard-error -o m"));
    let number = |v: &serde_json::Value| v.as_f64().unwrap();
    let limit = number(&report["best"]["score"]) + number(&report["best"]["standard_error"]);
    let table = report["table"].as_array().unwrap();
    let first = table.iter().find(|c| number(&c["score"]) <= limit).unwrap();
    assert_eq!((&report["chosen"], &report["best"]), (first, &plain["best"]));
    assert_eq!(report["parameters"]["c"], first["parameters"]["c"]);
    let said = place.run(&format!("{select} --one-standard-error -o m")).ok().out;
    assert_eq!(said.contains("best, not chosen"), report["chosen"] != report["best"], "{said}");
}

#[test]
fn a_heat_map_shows_the_grid() {
    let place = Place::with_banana(80);
    let select = "select banana.csv --machine svc -o m --folds 3";
    let report = place.json(&format!("{select} --grid 'c=0.5|32, gamma=0.0625|7' --heat map.svg"));
    assert_eq!(report["heat"], "map.svg");
    let svg = place.read("map.svg");
    for label in ["c", "gamma", "0.5", "32", "0.0625", "7"] {
        assert!(svg.contains(&format!(">{label}<")), "{label}");
    }
    place.run(&format!("{select} --grid c=0.5|32 --heat curve.svg")).ok();
    assert!(place.read("curve.svg").contains(">32<"));
    place.run(&format!("{select} --grid c=0.5|32 --heat map.pdf")).fails(2, &["written as .svg or .png"]);
    place.run(&format!("{select} --grid c=0.5|32 --heat no/map.svg")).fails(3, &["no folder"]);
}

#[test]
fn little_memory_streams_the_same_table() {
    let place = Place::with_banana(120);
    let select = "select banana.csv --machine svc --grid 'c=0.1|1|10, gamma=0.1|1' -o m";
    let scores = |more: &str| {
        let report = place.json(&format!("{select} {more}"));
        report["table"].as_array().unwrap().iter().map(|c| c["folds"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(scores(""), scores("--memory 20K"));
}

#[test]
fn without_machine_and_grid_a_search_does_a_sensible_thing() {
    let place = Place::with_banana(60);
    let ran = place.run("select banana.csv -o m --folds 2 --json").ok();
    let report = ran.document();
    assert_eq!((&report["machine"], report["table"].as_array().unwrap().len()), (&"svc".into(), 30));
    assert!(ran.err.contains("has 2 classes, so the machine is svc"), "{}", ran.err);
    assert!(ran.err.contains("these are tried: c=0.1|1|10|100|1000, gamma=0.0001|"), "{}", ran.err);
    // what is written stays as it is
    let said = place.json("select banana.csv -m 'svc(c=3)' --kernel 'rbf(gamma=scale) + polynomial' --folds 2 -o m");
    assert_eq!((&said["parameters"]["c"], said["table"].as_array().unwrap().len()), (&3.0.into(), 4));
    assert_eq!(said["table"][3]["parameters"], serde_json::json!({"degree": 4.0}));
    let numbers = place.run("data noisy_sinc --n 60 -o sinc.csv").ok();
    assert!(numbers.err.is_empty());
    let ran = place.run("select sinc.csv --folds 2 -o m --json").ok();
    assert!(ran.err.contains("different numbers, so the machine is ridge"), "{}", ran.err);
    assert_eq!(ran.document()["table"].as_array().unwrap().len(), 36);
    let page = place.run("help svc").ok().out;
    assert!(page.contains("select tries") && page.contains("c=0.1..1000:log5"), "{page}");
    assert!(place.run("help rbf").ok().out.contains("gamma=1e-4..10:log6"));
}
