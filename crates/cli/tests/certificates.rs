//! `certify`, `plan`, `select --by certificate` and `fit --certified`, from outside.
#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use crate::common::Place;
use serde_json::Value;

fn of<'a>(told: &'a Value, name: &str) -> &'a Value {
    told.as_array().unwrap().iter().find(|c| c["bound"] == name).unwrap()
}

#[test]
fn a_model_is_certified_in_words_json_markdown_and_a_picture() {
    let place = Place::new();
    place.run("data banana --n 500 --seed 1 -o train.csv").ok();
    place.run("data banana --n 400 --seed 2 -o fresh.csv").ok();
    place.run("fit train.csv --machine svc --c 1 --scale none --kernel 'rbf(gamma=1)' -o m.mercer").ok();
    let told = place.json("certify m.mercer train.csv --held-out fresh.csv -o c.svg");
    assert_eq!(told.as_array().unwrap().len(), mercer::bounds::all().count());
    for c in told.as_array().unwrap() {
        for key in [
            "bound",
            "quantity",
            "value",
            "guarantee",
            "delta",
            "applicable",
            "reason",
            "vacuous",
            "source",
            "conditions",
        ] {
            assert!(c.get(key).is_some(), "{key} of {c}");
        }
        if c["applicable"] == true && c["quantity"] != "capacity" && c["quantity"] != "expected loss" {
            let value = c["value"].as_f64().unwrap();
            assert!((0.0..=1.0).contains(&value), "{c}");
        }
        if c["vacuous"] == true && c["guarantee"] == "high probability" {
            assert!(c["reason"].as_str().unwrap().contains("examples"), "{c}");
        }
    }
    let scenario = of(&told, "scenario");
    assert!(scenario["applicable"] == true && scenario["value"].as_f64().unwrap() < 0.6 && scenario["delta"] == 0.05);
    let held_out = of(&told, "held_out");
    assert!(held_out["value"].as_f64().unwrap() < scenario["value"].as_f64().unwrap());
    // a smaller probability of failure costs something
    let surer = place.json("certify m.mercer train.csv --delta 0.001");
    assert!(of(&surer, "scenario")["value"].as_f64() > scenario["value"].as_f64());
    assert_eq!(of(&surer, "held_out")["applicable"], false);
    assert!(place.read("c.svg").contains(">held_out<"));
    let words = place.run("certify m.mercer train.csv --held-out fresh.csv").ok();
    assert!(words.out.contains("With probability 95 % over the held-out sample, at most"), "{words:?}");
    let all = place.run("certify m.mercer train.csv --all").ok();
    assert!(
        all.out.contains("Do not apply:") && all.out.contains("checked:") && all.out.contains("declared:"),
        "{all:?}"
    );
    assert!(place.run("certify m.mercer train.csv --markdown").ok().out.contains("| scenario |"));
    let wrong = place.run("certify m.mercer fresh.csv");
    assert!(wrong.code == Some(2) || wrong.code == Some(3), "{wrong:?}");
    assert!(wrong.err.contains("hash"), "{wrong:?}");
    assert_eq!(place.run("certify m.mercer train.csv --delta 2").code.unwrap_or(0) / 2, 1);
}

#[test]
fn cross_validation_stands_beside_the_certificates_as_an_estimate() {
    let place = Place::new();
    place.run("data banana --n 200 --seed 1 -o train.csv").ok();
    place.run("data banana --n 200 --seed 2 -o fresh.csv").ok();
    place.run("fit train.csv --machine svc --c 1 --scale none --kernel 'rbf(gamma=1)' -o m.mercer").ok();
    let judged =
        place.json("select train.csv --machine svc --scale none --kernel 'rbf(gamma=1)' --grid c=1 -o s.mercer");
    let error = judged["best"]["score"].as_f64().unwrap();
    let line =
        format!("{error:.4} ± {:.4} in 5 folds: an estimate", judged["best"]["standard_error"].as_f64().unwrap());
    let words = place.run("certify m.mercer train.csv --held-out fresh.csv --folds 5 -o c.svg").ok();
    assert!(words.out.contains("cross-validated error") && words.out.contains(&line), "{line} {words:?}");
    let svg = place.read("c.svg");
    for name in ["training error", "cross-validated error", "held-out error"] {
        assert!(svg.contains(&format!(">{name} ")), "{name}");
    }
    assert!(svg.contains(&format!(">cross-validated error (an estimate) {error:.4}<")));
    let markdown = place.run("certify m.mercer train.csv --folds 5 --markdown").ok();
    assert!(markdown.out.contains(&format!("- cross-validated error: {line}")), "{markdown:?}");
    // the array is one of certificates still
    let told = place.run("certify m.mercer train.csv --folds 5 --json").ok();
    let all: Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!(all.as_array().unwrap().len(), mercer::bounds::all().count());
    assert!(told.err.contains(&line), "{told:?}");
    assert_eq!(place.run("certify m.mercer train.csv --folds 1").code, Some(2));
    place.run("fit train.csv --machine one_class -o usual.mercer").ok();
    let refused = place.run("certify usual.mercer train.csv --folds 5");
    assert!(refused.code == Some(2) && refused.err.contains("no target"), "{refused:?}");
}

#[test]
fn what_scaling_and_widths_take_from_the_examples_is_paid_for() {
    let place = Place::new();
    place.run("data banana --n 500 --seed 1 -o train.csv").ok();
    place.run("fit train.csv --machine svc -o usual.mercer").ok();
    let told = place.run("certify usual.mercer train.csv").ok();
    assert!(told.out.contains("paid for") && told.out.contains("scaling"), "{told:?}");
    // two columns with two numbers each and gamma, 64 bits a number
    let found = place.json("certify usual.mercer train.csv");
    let price = of(&found, "scenario")["price"].as_f64().unwrap();
    assert!((price - 5.0 * 64.0 * 2.0_f64.ln()).abs() < 1e-6, "{price}");
}

#[test]
fn a_share_of_the_examples_prepares_the_others_for_nothing() {
    let place = Place::new();
    place.run("data wdbc -o train.csv").ok();
    place.run("fit train.csv --machine svc -o dear.mercer").ok();
    let dear = place.run("certify dear.mercer train.csv").ok();
    assert!(dear.out.contains("at most 99.") && dear.out.contains("--preparation-share 0.2"), "{dear:?}");
    let words = place.run("fit train.csv --machine svc --preparation-share 0.2 -o m.mercer").ok();
    assert!(words.out.contains("114 others, drawn at random"), "{words:?}");
    let found = place.json("certify m.mercer train.csv");
    let scenario = of(&found, "scenario");
    assert_eq!(scenario["price"], 0.0);
    let value = scenario["value"].as_f64().unwrap();
    assert!((0.05..0.40).contains(&value), "{value}");
    let free = place.run("certify m.mercer train.csv").ok();
    assert!(!free.out.contains("paid for  ") && !free.out.contains("--preparation-share"), "{free:?}");
    // a search and cross-validation are prepared in the same way
    let chosen = place
        .json("select train.csv --by certificate --machine svc --grid 'c=1|10' --preparation-share 0.2 -o s.mercer");
    assert!((0.05..0.40).contains(&chosen["certificate"]["value"].as_f64().unwrap()), "{}", chosen["certificate"]);
    let told = place.json("select train.csv --machine svc --grid 'c=1|10' --preparation-share 0.2 -o v.mercer");
    assert_eq!((&told["n"], &told["n_set_apart"]), (&455.into(), &114.into()));
    place.run("fit train.csv --machine svc --preparation-share 1 -o n.mercer").fails(2, &["between 0 and 1"]);
}

#[test]
fn a_prior_and_named_bounds_judge_the_candidates() {
    let place = Place::new();
    place.run("data banana --n 300 --seed 1 -o train.csv").ok();
    let select = "select train.csv --by certificate --machine svc --scale none --kernel 'rbf(gamma=1)' --grid 'c=1|10'";
    let plain = place.json(&format!("{select} -o a.mercer"));
    let price = |told: &Value| told["certificate"]["price"].as_f64().unwrap();
    assert!((price(&plain) - 8.0_f64.ln()).abs() < 1e-12);
    let believed = place.json(&format!("{select} --candidate-prior 9,1 -o b.mercer"));
    let part = if believed["best"]["parameters"]["c"] == plain["table"][0]["parameters"]["c"] { 0.9 } else { 0.1 };
    assert!((price(&believed) - (4.0_f64 / part).ln()).abs() < 1e-12, "{believed}");
    let named = place.json(&format!("{select} --bounds scenario:3,stability -o c.mercer"));
    assert_eq!(named["certificate"]["bound"], "scenario");
    assert!((price(&named) - (2.0_f64 * 4.0 / 3.0).ln()).abs() < 1e-12);
    // what was paid is remembered, and told
    let words = place.run("certify b.mercer train.csv").ok();
    assert!(words.out.contains("by the prior over them"), "{words:?}");
    place.run(&format!("{select} --candidate-prior harmonic -o d.mercer")).fails(2, &["geometric(0.8)"]);
    place.run(&format!("{select} --candidate-prior 1,2,3 -o d.mercer")).fails(2, &["3 weights for 2 candidates"]);
    place.run(&format!("{select} --bounds scenary -o d.mercer")).fails(2, &["did you mean scenario"]);
    for flag in ["--candidate-prior geometric", "--bounds scenario", "--target-range 0,1"] {
        place
            .run(&format!("select train.csv --machine svc --grid 'c=1|10' {flag} -o d.mercer"))
            .fails(2, &["is for --by certificate"]);
    }
    // λ by stability
    let row = |i: i32| format!("{},{}", f64::from(i) / 200.0, f64::from(i % 7) / 100.0);
    place.write("line.csv", format!("x,y\n{}\n", (0..200).map(row).collect::<Vec<_>>().join("\n")));
    let told = place.json(
        "select line.csv --by certificate --machine ridge --target y --scale none --kernel 'rbf(gamma=1)' --grid 'lambda=1|100|10000' --bounds stability_squares --target-range 0,0.1 -o r.mercer",
    );
    assert_eq!(told["certificate"]["quantity"], "expected loss");
    let values: Vec<f64> =
        told["table"].as_array().unwrap().iter().map(|c| c["certificate"].as_f64().unwrap()).collect();
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    assert_eq!(told["best"]["certificate"].as_f64(), Some(least));
}

#[test]
fn candidates_are_chosen_by_certificates_and_paid_for() {
    let place = Place::new();
    place.run("data banana --n 400 --seed 1 -o train.csv").ok();
    let told = place.json(
        "select train.csv --machine svc --scale none --by certificate --grid 'c=0.3|3, gamma=0.5|2' -o best.mercer",
    );
    assert_eq!(told["table"].as_array().unwrap().len(), 4);
    let least =
        told["table"].as_array().unwrap().iter().map(|c| c["certificate"].as_f64().unwrap()).fold(1.0, f64::min);
    assert_eq!(told["best"]["certificate"].as_f64(), Some(least));
    let found = place.json("certify best.mercer train.csv");
    let bound = told["certificate"]["bound"].as_str().unwrap();
    assert!((of(&found, bound)["value"].as_f64().unwrap() - least).abs() < 1e-6);
    assert!((of(&found, bound)["price"].as_f64().unwrap() - 16.0_f64.ln()).abs() < 1e-9);
    // four models were tried; pairs of a model and a bound are paid for
    let shown = place.json("show best.mercer");
    assert_eq!((&shown["candidates"], &shown["candidates_paid_for"]), (&4.into(), &16.into()));
    assert!(place.run("show best.mercer").ok().out.contains("4 tried on the same examples; with the bounds"));
    let refused =
        place.run("select train.csv --machine kfd --by certificate --grid 'lambda=1|2' --heat h.svg -o x.mercer");
    assert_eq!(refused.code, Some(2));
}

#[test]
fn any_machine_is_certified_by_training_again_on_a_part() {
    let place = Place::new();
    place.run("data banana --n 600 --seed 3 -o train.csv").ok();
    let told =
        place.json("fit train.csv --machine kfd --scale none --kernel 'rbf(gamma=1)' --certified -o part.mercer");
    let bound = told["certified"]["bound"].as_f64().unwrap();
    // the training error is that of the examples that were learned from
    let (size, part) = (told["certified"]["examples"].as_u64().unwrap(), &told["training"]["n"]);
    assert!(size < 600 && *part == size, "{size} {part}");
    assert!(bound < 0.6, "{bound}");
    let found = place.json("certify part.mercer train.csv");
    assert!((of(&found, "compression_binomial")["value"].as_f64().unwrap() - bound).abs() < 1e-9);
    assert_eq!(place.run("fit train.csv --machine kfd --certified 2 -o x.mercer").code, Some(2));
}

#[test]
fn a_plan_tells_how_many_examples_a_certificate_needs() {
    let place = Place::new();
    let told =
        place.json("plan --certificate 0.1 --support 50 --held-out-error 0.05 --dimension 10 --margin 0.3 -o plan.svg");
    let needed = |name: &str| of(&told, name)["examples"].as_u64().unwrap();
    assert!(needed("held_out") < needed("scenario") && needed("scenario") < needed("compression_exact"));
    // the number is the least one
    let at = |m: f64| mercer::bounds::scenario::scenario(m, 50.0, -(0.05_f64.ln()));
    let m = needed("scenario") as f64;
    assert!(at(m) < 0.1 && at(m - 1.0) >= 0.1);
    assert!(place.read("plan.svg").contains(">scenario<"));
    assert_eq!(place.run("plan --certificate 0.1").code, Some(2));
    assert_eq!(place.run("plan --certificate 3 --support 5").code, Some(2));
    assert_eq!(place.run("plan --support 5 --bound nonsense").code, Some(2));
    place.run("data banana --n 300 --seed 1 -o train.csv").ok();
    place.run("fit train.csv --machine svc --scale none --kernel 'rbf(gamma=1)' -o m.mercer").ok();
    let words = place.run("plan m.mercer train.csv --certificate 0.2").ok();
    assert!(words.out.contains("scenario"), "{words:?}");
    let refused = place.run("plan m.mercer train.csv --support 5");
    assert!(refused.code == Some(2) && refused.err.contains("knows its own support"), "{refused:?}");
    let of_many = place.json("plan m.mercer train.csv --certificate 0.2 --candidates 1000");
    let of_one = place.json("plan m.mercer train.csv --certificate 0.2");
    assert!(of(&of_many, "scenario")["examples"].as_u64() > of(&of_one, "scenario")["examples"].as_u64());
    assert!(place.run("list bounds").ok().out.contains("pac_bayes_kl"));
}

#[test]
fn rows_are_held_out_by_chance_whatever_their_classes() {
    let place = Place::new();
    place.run("data banana --n 200 --seed 1 -o all.csv").ok();
    let select =
        "select all.csv --machine nearest_mean --kernel rbf(gamma=1) --grid gamma=1|2 --held-out 0.5 -o m.mercer";
    let counts: Vec<u64> = (0..6)
        .map(|seed| {
            let told = place.json(&format!("{select} --seed {seed}"));
            told["held_out"]["metrics"]["by_class"][0]["examples"].as_u64().unwrap()
        })
        .collect();
    // a share of each class would be the same number each time, or one more; by chance it has a standard deviation of 3.5
    let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
    assert!(most - least > 2, "{counts:?}");
}

#[test]
fn a_model_of_a_search_with_held_out_rows_is_certified_by_the_same_file() {
    let place = Place::new();
    place.run("data banana --n 400 --seed 1 -o all.csv").ok();
    for more in ["", " --preparation-share 0.2"] {
        let select = format!(
            "select all.csv --machine svc --grid c=1|10 --kernel rbf(gamma=1) --held-out 0.25{more} -o m.mercer"
        );
        let searched = place.json(&select);
        assert_eq!(searched["held_out"]["n"], 100);
        let told = place.json("certify m.mercer all.csv");
        let held_out = of(&told, "held_out");
        assert_eq!((&held_out["applicable"], held_out["price"].as_f64()), (&Value::Bool(true), Some(0.0)));
        assert!(of(&told, "scenario")["price"].as_f64().unwrap() >= 2.0_f64.ln());
        let words = place.run("certify m.mercer all.csv").ok().out;
        let examples = if more.is_empty() { "300" } else { "240" };
        assert!(words.lines().any(|l| l.trim().starts_with("examples") && l.ends_with(examples)), "{words}");
        assert!(words.contains("over the held-out sample") && words.contains(" of 100"), "{words}");
        // another file is none of both
        place.run("data banana --n 400 --seed 2 -o other.csv").ok();
        let wrong = place.run("certify m.mercer other.csv");
        assert!(wrong.code != Some(0) && wrong.err.contains("held out before the search"), "{wrong:?}");
    }
}
