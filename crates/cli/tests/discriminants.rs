//! Kernel Fisher discriminants from the command line.

use crate::common::Place;

#[test]
fn a_discriminant_is_fitted_selected_and_saved_on_every_road() {
    let place = Place::with_banana(120);
    let error = |model: &str| place.json(&format!("evaluate {model} banana.csv"))["error"].as_f64();
    for flags in [
        "",
        "--lambda loo",
        "--penalty norm --lambda 0.1 --threshold errors",
        "--solver eigen",
        "--solver greedy --points 40",
        "--solver subset --points 60 --penalty norm",
        "--solver pairs --penalty norm --lambda 0.1 --figures 2",
    ] {
        let fitted = place.json(&format!("fit banana.csv --machine kfd {flags} -o m"));
        assert_eq!(fitted["machine"], "kfd", "{flags}");
        assert!(error("m").is_some_and(|e| e < 0.2), "{flags}: {:?}", error("m"));
    }
    let chosen = place.json("select banana.csv --machine kfd --grid 'lambda=0.001|0.1|10' -o n");
    assert_eq!(chosen["machine"], "kfd");
    assert!(error("n").is_some_and(|e| e < 0.2));
    place.run("fit banana.csv --machine kernel_fisher --probabilities platt -o p").ok();
    place.run("predict p banana.csv --probabilities").ok();
}

#[test]
fn what_does_not_go_together_is_told_with_the_remedy() {
    let place = Place::with_banana(40);
    for (flags, parts) in [
        ("--lambda 0", ["lambda", "must be > 0"]),
        ("--penalty sparse", ["penalty", "one of norm, coefficients"]),
        ("--solver pairs", ["solver = pairs", "penalty = norm"]),
        ("--lambda loo --solver greedy", ["lambda = loo", "solver = auto"]),
    ] {
        place.run(&format!("fit banana.csv --machine kfd {flags} -o m")).fails(2, &parts);
    }
    assert!(!place.has("m"));
}

#[test]
fn one_example_at_a_time_is_left_out_on_request() {
    let place = Place::new();
    place.run("data banana --n 120 -o d.csv").ok();
    let told = place.json("select d.csv --machine kfd --grid 'lambda=0.01|1|100' --folds loo -o m");
    let candidates = told["table"].as_array().unwrap();
    assert_eq!(candidates.len(), 3);
    assert!(candidates.iter().all(|c| c["folds"].as_array().unwrap().len() == 120));
    place.run("select d.csv --machine kfd --grid lambda=1 --folds 1 -o n").fails(2, &["folds", "loo"]);
    // costs that are not alike: the border moves, and the direction stays
    place.run("fit d.csv --machine kfd --shift 0.5 -o shifted").ok();
    place.run("fit d.csv --machine kfd -o plain").ok();
    let first = |model: &str| {
        let told = place.json(&format!("evaluate {model} d.csv"));
        told["confusion"].as_array().unwrap().iter().map(|row| row[0].as_f64().unwrap()).sum::<f64>()
    };
    assert!(first("shifted") > first("plain"), "more are told to be of the first class");
}
