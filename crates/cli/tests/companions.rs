//! Noise, copies and points beside the data, and discriminants for comparisons, from outside.
#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use crate::common::Place;
use std::fmt::Write;

/// Images of 4 × 4 pixels: a bright column, and a bright row of which the class is the height.
fn images(n: usize) -> String {
    let mut text = (0..16).fold(String::new(), |mut t, p| {
        write!(t, "p{p},").unwrap();
        t
    });
    text.push_str("class\n");
    for i in 0..n {
        for p in 0..16 {
            let row = if i % 2 == 0 { 1 } else { 2 };
            let bright = f64::from(u8::from(p % 4 == i / 2 % 4)) + f64::from(u8::from(p / 4 == row));
            write!(text, "{},", bright + ((i * 31 + p * 17) % 13) as f64 / 50.0).unwrap();
        }
        writeln!(text, "{}", if i % 2 == 0 { "up" } else { "down" }).unwrap();
    }
    text
}

#[test]
fn transformed_images_enter_the_fit_and_stay_in_the_model() {
    let place = Place::with(&[("images.csv", &images(40))]);
    let kernel = "--kernel 'rbf(gamma=0.1)'";
    let fit = |more: &str| place.json(&format!("fit images.csv --machine invariant_kfd {kernel} {more} -o m"));
    let plain = fit("--scale none");
    let held = fit(
        "--unwanted 'within + 0.001*coefficients + 5*tangent' --transform shift_x=1,shift_x=-1,rotate=5,thicken=0.3 --image 4x4",
    );
    let of = |told: &serde_json::Value| told["notes"]["quotient"].as_f64().unwrap();
    // more is unwanted, so less is left
    assert!(of(&held) < 0.9 * of(&plain), "{} {}", of(&plain), of(&held));
    assert_eq!(held["n"], 40, "{held}");
    // the copies themselves as points, and centres of all
    let all = fit("--expansion all --transform shift_x=1 --image 4x4");
    assert_eq!(all["n_support"], 80);
    let centres = fit("--expansion points --transform shift_x=1 --image 4x4 --centre-points 9");
    assert_eq!(centres["n_support"], 9);
    let said = place.run("predict m images.csv --with-target").ok();
    assert_eq!(said.lines().len(), 41);
    // copies from a file are as good as made ones
    place.write("copies.csv", images(40));
    fit("--scale none --unwanted 'within + 0.01*norm + tangent(copies)' --copies copies.csv");
}

#[test]
fn what_does_not_go_with_the_flags_is_told() {
    let place = Place::with(&[("images.csv", &images(12))]);
    let fails = |flags: &str, words: &[&str]| {
        place.run(&format!("fit images.csv {flags} -o m")).fails(2, words);
    };
    fails("--machine svc --noise images.csv", &["svc takes no noise", "invariant_kfd"]);
    fails("--machine kda --transform shift_x=1 --image 4", &["WIDTHxHEIGHT"]);
    fails("--machine kda --transform blur=1 --image 4x4", &["blur=1 is not shift_x=PIXELS"]);
    fails("--machine kda --transform shift_x=1 --image 4x4 --scale standard", &["--scale none"]);
    fails("--machine kda --transform shift_x=1 --image 5x5", &["5 × 5", "16 coordinates"]);
    fails("--machine kda --unwanted 'within + tangent'", &["--transform"]);
    fails("--machine kda --unwanted 'inside'", &["within, coefficients"]);
    fails("--machine oriented_kpca --unwanted within", &["norm, coefficients"]);
    fails("--machine kda --probabilities platt", &["kda is none"]);
    fails("--machine invariant_kfd --unwanted within --kernel 'rbf(gamma=5)'", &["within + 0.001*coefficients"]);
}

#[test]
fn noise_is_read_with_the_columns_of_the_data_and_directions_beyond_the_rank_are_told() {
    let place = Place::new();
    place.run("data iris -o iris.csv").ok();
    place.run("data iris -o noise.csv").ok();
    let machine = "--machine oriented_kpca --unwanted 'noise + 0.1*norm' --noise noise.csv";
    let told = place.json(&format!("fit iris.csv {machine} --kernel 'rbf(gamma=0.2)' -o m"));
    // the noise is the data: var/(var + 0.1) < 1 in every direction
    let quotient = told["notes"]["quotient_1"].as_f64().unwrap();
    assert!(quotient > 0.3 && quotient < 1.0, "{told}");
    let told = place.json("fit iris.csv --machine kda --components 5 -o m");
    assert_eq!(told["notes"]["components"], 2.0);
    assert!(told["advice"][0].as_str().unwrap().contains("5 directions were asked for"), "{told}");
    let lines = place.run("predict m iris.csv").ok();
    assert!(lines.lines()[0] == "prediction_d1,prediction_d2" && lines.lines().len() == 151, "{}", lines.lines()[0]);
}

#[test]
fn discriminants_give_probabilities_without_calibration() {
    let place = Place::new();
    place.run("data iris -o iris.csv").ok();
    for machine in ["lda", "qda --lambda 0.1 --gamma 0.01", "rda --lambda 0.5 --priors equal"] {
        let told = place.json(&format!("fit iris.csv --machine {machine} -o m"));
        assert!(told["training"]["error"].as_f64().unwrap() < 0.03, "{told}");
        let said = place.run("predict m iris.csv --probabilities").ok();
        assert_eq!(said.lines().len(), 151);
        let shares = said.lines()[1].split(',').skip(1).map(|c| c.parse::<f64>().unwrap()).sum::<f64>();
        assert!((shares - 1.0).abs() < 1e-6, "{}", said.lines()[1]);
        let shown = place.run("show m").ok().out;
        assert!(shown.contains("those of the model itself"), "{shown}");
    }
    place.run("fit iris.csv --machine lda --kernel 'rbf(gamma=1)' -o m").fails(2, &["regularised_fisher"]);
    place.run("fit iris.csv --machine lda --priors setosa:1 -o m").fails(2, &["each of the 3 classes"]);
}
