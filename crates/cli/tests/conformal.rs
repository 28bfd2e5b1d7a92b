//! Sets, intervals and p-values at the terminal: fit, predict, evaluate and show.
#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use crate::common::Place;
use serde_json::Value;

/// A folder with training, held-out and new examples of two classes and of noisy sinc.
fn place() -> Place {
    let place = Place::new();
    for (set, seeds) in [("banana", [1, 2, 3]), ("noisy_sinc", [1, 2, 3])] {
        for (name, seed) in ["train", "held", "new"].iter().zip(seeds) {
            let n = if *name == "new" { 2000 } else { 200 };
            place.run(&format!("data {set} --n {n} --seed {seed} -o {set}_{name}.csv")).ok();
        }
    }
    place
}

fn cells(line: &str) -> Vec<&str> {
    line.split(',').collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[test]
fn sets_stand_beside_the_prediction_and_cover() {
    let place = place();
    for method in ["split", "cross", "split --probabilities platt", "split --mondrian", "cross --mondrian"] {
        place.run(&format!("fit banana_train.csv --machine svc --conformal {method} -o m")).ok();
        let said = place.run("predict m banana_new.csv --conformal 0.9").ok();
        let lines = said.lines();
        // where classes are judged by themselves, nothing excludes another one, which a column tells
        let open = method.contains("mondrian");
        let header = if open { "prediction,set,set_size,set_unknown" } else { "prediction,set,set_size" };
        assert_eq!((lines[0], lines.len()), (header, 2001));
        assert!(lines[1..].iter().all(|line| line.ends_with(",true") == open));
        for line in &lines[1..] {
            let cells = cells(line);
            let set: Vec<&str> = cells[1].split('|').filter(|l| !l.is_empty()).collect();
            assert_eq!(set.len().to_string(), cells[2], "{line}");
            assert!(set.iter().all(|l| ["-1", "1"].contains(l)), "{line}");
        }
        // the label itself is that of the plain prediction
        let plain = place.run("predict m banana_new.csv").ok();
        let labels: Vec<&str> = lines.iter().map(|l| cells(l)[0]).collect();
        assert_eq!(plain.lines(), labels);
        let report = place.json("evaluate m banana_new.csv --conformal 0.9");
        let (measured, proven) = (&report["conformal"]["measured"], &report["conformal"]["guarantee"]);
        // 2000 new examples, 50 to 200 held-out ones: far from both ends, but not by chance
        let coverage = number(&measured["coverage"]);
        assert!((0.8..0.97).contains(&coverage), "{method}: {coverage}");
        assert!((0.9..1.8).contains(&number(&measured["size"])), "{method}: {measured}");
        assert_eq!(proven.as_array().unwrap().len(), if method.contains("mondrian") { 2 } else { 1 });
        let sizes: usize = lines[1..].iter().map(|l| cells(l)[2].parse::<usize>().unwrap()).sum();
        assert!((number(&measured["size"]) - sizes as f64 / 2000.0).abs() < 1e-9);
        let document = place.json("predict m banana_new.csv --conformal 0.9");
        assert_eq!((&document["set_unknown"], &proven[0]["unknown"]), (&open.into(), &open.into()));
        let sets = document["sets"].as_array().unwrap();
        assert_eq!(sets.iter().map(|s| s.as_array().unwrap().len()).sum::<usize>(), sizes);
        let p = document["p_values"].as_array().unwrap();
        for (row, set) in p.iter().zip(sets) {
            let above = row.as_array().unwrap().iter().filter(|p| number(p) > 0.1 + 1e-12).count();
            assert_eq!(above, set.as_array().unwrap().len(), "a set holds what has p > 0.1");
        }
    }
}

#[test]
fn intervals_stand_beside_the_prediction_and_cover() {
    let place = place();
    for method in ["split", "jackknife", "full", "full --conformal-share 0.1", "cross", "cross --conformal-folds 4"] {
        place.run(&format!("fit noisy_sinc_train.csv --machine ridge --lambda 0.1 --conformal {method} -o m")).ok();
        let said = place.run("predict m noisy_sinc_new.csv --conformal 0.9 --with-target").ok();
        let lines = said.lines();
        assert!(lines[0].starts_with("prediction,lower,upper,"), "{}", lines[0]);
        let mut held = 0;
        for line in &lines[1..] {
            let n: Vec<f64> = cells(line).iter().map(|c| c.parse().unwrap()).collect();
            assert!(n[1] < n[0] && n[0] < n[2], "{line}");
            held += usize::from(n[1] <= n[3] && n[3] <= n[2]);
        }
        let report = place.json("evaluate m noisy_sinc_new.csv");
        let measured = &report["conformal"]["measured"];
        assert!((number(&measured["coverage"]) - held as f64 / 2000.0).abs() < 1e-9);
        assert!((0.82..0.97).contains(&number(&measured["coverage"])), "{method}: {measured}");
        let said = place.run("evaluate m noisy_sinc_new.csv").ok().out;
        assert!(said.contains("coverage") && said.contains("mean width"), "{said}");
    }
    // files: the same columns in CSV, and three numbers a row in NPY
    place.run("predict m noisy_sinc_new.csv --conformal 0.9 -o p.csv").ok();
    assert!(place.read("p.csv").starts_with("prediction,lower,upper\n"));
    place.run("predict m noisy_sinc_new.csv --conformal 0.9 -o p.npy").ok();
    assert!(String::from_utf8_lossy(&place.bytes("p.npy")).contains("(2000, 3)"));
    let document = place.json("predict m noisy_sinc_new.csv --conformal 0.9");
    assert_eq!(document["intervals"].as_array().unwrap().len(), 2000);
    assert_eq!(document["conformal"]["method"], "cross");
    let shown = place.run("show m").ok().out;
    assert!(shown.contains("held-out examples") && shown.contains("proven"), "{shown}");
}

#[test]
fn detectors_tell_p_values_and_alarms() {
    let place = place();
    place.run("fit noisy_sinc_train.csv --machine one_class --nu 0.1 --target none --conformal split -o m").ok();
    let lines = place.run("predict m noisy_sinc_new.csv --conformal 0.9").ok();
    let lines = lines.lines();
    assert_eq!(lines[0], "prediction,p_value,alarm");
    let alarms = lines[1..].iter().filter(|l| l.ends_with(",true")).count();
    assert!((20..400).contains(&alarms), "{alarms} of 2000");
    for line in &lines[1..] {
        let cells = cells(line);
        assert_eq!(cells[1].parse::<f64>().unwrap() <= 0.1 + 1e-12, cells[2] == "true", "{line}");
    }
    let report = place.json("evaluate m noisy_sinc_new.csv");
    assert!((number(&report["conformal"]["measured"]["coverage"]) - (1.0 - alarms as f64 / 2000.0)).abs() < 1e-9);
    assert!(place.run("evaluate m noisy_sinc_new.csv").ok().out.contains("alarms"));
}

#[test]
fn any_model_can_be_calibrated_after_the_fact() {
    let place = place();
    place.run("fit banana_train.csv --machine svc -o m").ok();
    place.run("predict m banana_new.csv --conformal 0.9").fails(2, &["--conformal split", "--calibration"]);
    place.run("evaluate m banana_new.csv --conformal 0.9").fails(2, &["--conformal split"]);
    assert!(place.json("evaluate m banana_new.csv").get("conformal").is_none());
    let document = place.json("predict m banana_new.csv --conformal 0.9 --calibration banana_held.csv");
    assert_eq!(document["conformal"]["guarantee"][0]["held_out"], 200);
    let fifth = number(&document["conformal"]["guarantee"][0]["conditional"]["fifth"]);
    assert!((0.86..0.9).contains(&fifth), "{fifth}");
    let each = place.json("predict m banana_new.csv --conformal 0.9 --calibration banana_held.csv --mondrian");
    assert_eq!(each["conformal"]["guarantee"].as_array().unwrap().len(), 2);
    assert_eq!(each["conformal"]["guarantee"][0]["class"], "-1");
}

#[test]
fn training_examples_do_not_calibrate() {
    let place = place();
    place.run("fit banana_train.csv --machine svc -o m").ok();
    let (held, train) = (place.read("banana_held.csv"), place.read("banana_train.csv"));
    let some: Vec<&str> = train.lines().skip(1).take(6).collect();
    place.write("mixed.csv", format!("{held}{}\n", some.join("\n")));
    let said = place.run("predict m banana_new.csv --conformal 0.9 --calibration mixed.csv").ok();
    assert!(said.err.contains("6 of the 206 examples to calibrate with are those of training"), "{}", said.err);
    let document = place.json("predict m banana_new.csv --conformal 0.9 --calibration mixed.csv");
    assert_eq!(document["conformal"]["guarantee"][0]["held_out"], 200);
}

#[test]
fn labels_that_no_model_knows_are_in_the_sets_that_say_so() {
    // each class stands once or twice: many held-out labels are new
    let (mut train, mut new) = ("x,name\n".to_owned(), "x,name\n".to_owned());
    for i in 0..60 {
        train.push_str(&format!("{}.{},c{}\n", i % 40, i % 7, i % 40));
        new.push_str(&format!("{}.{},c{}\n", i, i % 5, i));
    }
    let place = crate::common::Place::with(&[("t.csv", &train), ("n.csv", &new)]);
    place.run("fit t.csv --categorical name --machine knn --k 1 --kernel linear --conformal split -o m").ok();
    let said = place.run("predict m n.csv --conformal 0.9").ok();
    assert!(said.err.contains("since so many of the held-out examples had a label that was new"), "{}", said.err);
    assert!(said.lines()[0].ends_with("set_unknown"));
    let report = place.json("evaluate m n.csv --conformal 0.9")["conformal"].clone();
    assert!(number(&report["measured"]["unknown"]) >= 20.0, "{report}");
    assert_eq!(number(&report["measured"]["coverage"]), 1.0, "all labels of so few sets, and all others");
    let said = place.run("evaluate m n.csv --conformal 0.9").ok().out;
    assert!(said.contains("have one that the model does not know, and every set holds any such"), "{said}");
}

#[test]
fn several_targets_are_covered_each_by_itself() {
    let mut rows = "x,a,b\n".to_owned();
    (0..60).for_each(|i| rows.push_str(&format!("{i},{},{}\n", i * i % 17, i % 11)));
    let place = crate::common::Place::with(&[("t.csv", &rows)]);
    let fit = "fit t.csv --machine ridge --lambda 1 --kernel linear --conformal split -o m";
    let said = place.run(&format!("{fit} --target a,b")).ok().out;
    assert!(said.contains("is proven for each target by itself, not for all of them at once"), "{said}");
    assert!(place.run("evaluate m t.csv").ok().out.contains("each target counted by itself"));
    assert!(!place.run(&format!("{fit} --target a --drop b")).ok().out.contains("each target"));
}

#[test]
fn mistakes_are_told() {
    let place = place();
    let fit = |more: &str| place.run(&format!("fit banana_train.csv --machine svc --conformal {more} -o m"));
    fit("jackknife").fails(2, &["svc", "learns again for each of the 150 examples", "cross"]);
    fit("split --conformal-folds 5").fails(2, &["--conformal-folds", "cross"]);
    fit("full").fails(2, &["svc", "ridge", "split, cross or jackknife"]);
    fit("full --conformal-folds 5").fails(2, &["--conformal-folds", "cross"]);
    fit("cross --conformal-share 1.5").fails(2, &["between 0 and 1"]);
    fit("split --conformal-share 1.5").fails(2, &["between 0 and 1"]);
    place.run("fit banana_train.csv --machine svc --mondrian -o m").fails(2, &["required"]);
    place.run("fit noisy_sinc_train.csv --machine ridge --conformal split --mondrian -o m").fails(2, &["no classes"]);
    place.run("fit banana_train.csv --machine kernel_pca --conformal split -o m").fails(2, &["predicts no target"]);
    fit("split").ok();
    for coverage in ["0", "1", "-0.5", "90"] {
        place.run(&format!("predict m banana_new.csv --conformal {coverage}")).fails(2, &["between 0 and 1"]);
    }
    // 50 held-out examples are too few for 99.9 %
    let said = place.run("predict m banana_new.csv --conformal 0.999").ok();
    assert!(said.err.contains("50 held-out examples are too few for coverage 0.999, which needs 999"), "{}", said.err);
    assert!(said.err.contains("every set holds every label that the model knows, and any other"), "{}", said.err);
    assert!(said.lines()[1..].iter().all(|l| l.ends_with("-1|1,2,true")));
    let numbers = "fit noisy_sinc_train.csv --machine ridge --conformal full";
    place.run(&format!("{numbers} --lambda loo -o m")).fails(2, &["lambda = loo", "give a number"]);
    place.run("fit banana_train.csv --machine svc --conformal jackknife --conformal-retrain -o m").ok();
    assert!(place.run("show m").ok().out.contains("by the models without each"));
    place.run("predict m banana_new.csv --rank 3 --conformal 0.9").fails(2, &["cannot be used with"]);
}

#[test]
fn what_is_held_out_has_no_part_in_scaling() {
    let place = Place::new();
    let cells = |odd: Option<usize>| {
        let line = |i: usize| {
            let x = i as f64 + if odd == Some(i) { 1000.0 } else { 0.0 };
            format!("{x},{}\n", (i as f64).sin())
        };
        format!("x,y\n{}", (0..12).map(line).collect::<String>())
    };
    place.write("new.csv", "x\n1.5\n7\n");
    // a quarter of twelve examples is set aside by split, and kept by the others: an odd one that is held out changes nothing that
    // split predicts, and nothing of how the others scale and compare
    for (method, silent) in [("split", 3), ("cross", 9), ("jackknife", 9), ("full", 9)] {
        let learned = |odd: Option<usize>| {
            place.write("t.csv", cells(odd));
            if method == "split" {
                place.run("fit t.csv --machine ridge --kernel linear --target y --conformal split -o m").ok();
                return place.run("predict m new.csv").ok().lines().join(";");
            }
            // gamma is settled on columns that are scaled already, so that its digits tell of both
            let how = "--machine ridge --kernel rbf(gamma=scale) --scale minmax --target y";
            place.run(&format!("fit t.csv {how} --conformal {method} -o m")).ok();
            place.json("show m")["kernel"].to_string()
        };
        let usual = learned(None);
        assert_eq!((0..12).filter(|&i| learned(Some(i)) == usual).count(), silent, "{method}: {usual}");
    }
}

#[test]
fn a_coverage_is_promised_only_where_nothing_held_out_was_looked_at() {
    let place = place();
    let promised = |data: &str, how: &str| {
        place.run(&format!("fit {data} {how} -o m")).ok();
        let told = place.run("predict m new.csv --conformal 0.9 --json").ok().out;
        let told: Value = serde_json::from_str(&told).unwrap();
        let one = told["conformal"]["guarantee"][0].clone();
        assert_eq!(one["least"].is_null(), one["reason"].as_str().is_some_and(|r| r.contains("nothing is proven")));
        (one["held_out"].as_u64().unwrap(), one["least"].as_f64())
    };
    place.write("new.csv", place.read("banana_new.csv"));
    let classes = |how: &str| promised("banana_train.csv", &format!("--machine svc --conformal {how}"));
    let near = |least: Option<f64>, wanted: f64| assert!((least.unwrap() - wanted).abs() < 1e-9, "{least:?} {wanted}");
    assert!(classes("split").1.is_some_and(|least| least >= 0.9 - 1e-9));
    assert!(classes("split --mondrian").1.is_some());
    // 150 of 200 are held out where columns are scaled or gamma is, and all where neither is
    let bound = |n: f64| 0.8 - (1.8 * 9.0 / (n + 10.0)).min((1.0 - 10.0 / n) / 11.0);
    for (how, held) in [
        ("cross", 150),
        ("cross --scale none", 150),
        ("cross --kernel rbf(gamma=0.5)", 150),
        ("cross --kernel rbf(gamma=0.5) --scale none", 200),
        ("cross --conformal-share 0.5", 100),
    ] {
        let (n, least) = classes(how);
        assert_eq!(n, held, "{how}");
        near(least, bound(n as f64));
    }
    place.write("new.csv", place.read("noisy_sinc_new.csv"));
    let numbers = |how: &str| promised("noisy_sinc_train.csv", &format!("--machine ridge --conformal {how}"));
    let (n, least) = numbers("jackknife");
    assert_eq!(n, 150);
    near(least, 0.8);
    let (n, least) = numbers("full");
    assert_eq!(n, 150);
    near(least, 0.9);
    let (n, least) = numbers("full --kernel rbf(gamma=0.5) --scale none");
    assert_eq!(n, 200);
    near(least, 0.9);
    // a category that is rare cannot be coded by a part that has not met it
    let line = |i: usize| format!("{},{},{}\n", i % 7, if i == 3 { "rare" } else { "usual" }, (i as f64).sin());
    place.write("words.csv", format!("x,word,y\n{}", (0..40).map(line).collect::<String>()));
    place.write("new.csv", "x,word\n1,usual\n");
    let mut told = Vec::new();
    for seed in 0..8 {
        let how = format!("--machine ridge --target y --conformal jackknife --seed {seed}");
        told.push(promised("words.csv", &how));
    }
    // whether the part has met it is chance; where it has not, nothing is proven
    let proven = told.iter().filter(|t| t.1.is_some()).count();
    assert!((1..8).contains(&proven) && told.iter().all(|t| t.0 == 30), "{told:?}");
}

#[test]
fn full_is_told_by_every_verb() {
    let place = place();
    place.run("fit noisy_sinc_train.csv --machine ridge --lambda 0.1 --conformal full -o m").ok();
    let shown = place.run("show m").ok().out;
    assert!(shown.contains("full: residuals of 150 examples by the fit on them and on each candidate"), "{shown}");
    assert!(shown.contains("at coverage 0.9 at least 90.0 % is proven"), "{shown}");
    let told = place.json("show m")["conformal"].clone();
    assert_eq!((&told["method"], &told["models"]), (&Value::from("full"), &Value::from(1)));
    let one = &told["guarantee"][0];
    assert!(one["most"].is_null() && one["exact"].is_null() && one["conditional"].is_null(), "{one}");
    let said = place.run("predict m noisy_sinc_new.csv --conformal 0.999").ok();
    assert!(said.err.contains("150 examples are too few for coverage 0.999"), "{}", said.err);
    assert!(said.lines()[1..].iter().all(|l| l.ends_with("-inf,inf")));
    let document = place.json("predict m noisy_sinc_new.csv --conformal 0.999");
    assert_eq!(document["intervals"][0], serde_json::json!([null, null]));
}
