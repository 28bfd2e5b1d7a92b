//! From a table as people have it to a model: columns left out, categories that are new, missing marks, splits, scores.
#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use crate::common::Place;

/// Customers with a number, a remark, a city and calls; many calls make them leave.
fn customers() -> String {
    let mut text = "id,age,city,calls,note,left\n".to_owned();
    for i in 0..80 {
        let (calls, city) = (i * 7 % 10, ["Bern", "Basel", "Zug"][i % 3]);
        let left = if calls + usize::from(i % 11 == 0) * 4 > 6 { "yes" } else { "no" };
        text += &format!("C{i:03},{},{city},{calls},\"hello, {i}\",{left}\n", 20 + i * 13 % 50);
    }
    text
}

#[test]
fn columns_are_dropped_or_kept_and_prediction_does_not_ask_for_them() {
    let place = Place::with(&[("a.csv", &customers()), ("new.csv", "calls,city,age\n3,Zug,40\n9,Bern,30\n")]);
    let dropped = place.json("fit a.csv -m svc --drop id,note -o m");
    assert_eq!(dropped["d"], 5);
    assert_eq!(place.run("predict m new.csv").ok().lines().len(), 3);
    assert_eq!(place.json("fit a.csv -m svc --columns 2-4 -o k")["kernel"], dropped["kernel"]);
    assert_eq!(place.json("fit a.csv -m svc --columns calls,age,left -o n")["d"], 2);
    place.run("fit a.csv -m svc --drop left -o n").fails(2, &["\"left\" is the target and cannot be dropped"]);
    place.run("fit a.csv -m svc --drop nots -o n").fails(3, &["did you mean \"note\"?"]);
    // the job keeps what was asked for
    assert_eq!(place.json("show m")["job"]["columns"]["drop"], serde_json::json!(["id", "note"]));
}

#[test]
fn every_verb_that_reads_a_training_file_leaves_columns_out() {
    let place = Place::with(&[("a.csv", &customers())]);
    let grid = "select a.csv -m svc --drop id,note --grid c=0.1|1 -o s";
    assert_eq!(place.json(grid)["d"], 5);
    place.run("learning-curve a.csv -m svc --drop id,note --sizes 20").ok();
    assert!(
        place
            .run("learning-curve a.csv -m svc --columns 2-4 --sizes 20 --score balanced")
            .ok()
            .out
            .contains("balanced error")
    );
    assert_eq!(place.json("gram a.csv --kernel linear --columns age,calls -o K.npy")["n"], 80);
    place.run("measure a.csv --kernel linear --columns age,calls").ok();
    place.run("convert a.csv b.csv --drop note,id --target none").ok();
    assert_eq!(place.read("b.csv").lines().next(), Some("age,city,calls,left"));
    let shown = place.run("show a.csv --columns age").ok().out;
    assert!(shown.contains("age") && !shown.contains("city"), "{shown}");
    place.run("show s --drop 1").fails(2, &["this is a model"]);
}

#[test]
fn new_categories_are_counted_where_they_are_ignored() {
    let new = "age,city,calls\n40,Paris,3\n30,Bern,9\n20,Rome,1\n";
    let place = Place::with(&[("a.csv", &customers()), ("new.csv", new)]);
    place.run("fit a.csv -m svc --columns 2-4 -o strict").ok();
    place.run("predict strict new.csv").fails(3, &["line 2, column \"city\": \"Paris\"", "--unseen ignore"]);
    place.run("fit a.csv -m svc --columns 2-4 --unseen ignore -o lenient").ok();
    for asked in ["predict strict new.csv --unseen ignore", "predict lenient new.csv"] {
        let ran = place.run(asked);
        assert!(
            ran.err.contains("2 cells of new.csv, column \"city\"") && ran.err.contains("\"Paris\""),
            "{}",
            ran.err
        );
        assert_eq!(ran.ok().lines().len(), 4);
        let unseen = place.json(asked)["unseen"].clone();
        assert_eq!(unseen, serde_json::json!([{"column": "city", "cells": 2, "example": "Paris"}]));
    }
    place.run("predict lenient new.csv --unseen error").fails(3, &["\"Paris\""]);
}

#[test]
fn files_that_a_model_is_compared_with_lose_the_rows_that_training_lost() {
    let place = Place::with(&[("a.csv", "a,b,y\n1,2,u\n3,,v\n5,6,\n7,8,v\n2,1,u\n4,4,v\n")]);
    place.run("fit a.csv -m svc --missing drop -o m").ok();
    let measured = place.json("evaluate m a.csv");
    assert_eq!((measured["n"].as_u64(), measured["rows_left_out"].as_u64()), (Some(4), Some(2)));
    let ran = place.run("plot m a.csv -o m.svg");
    assert!(ran.err.contains("2 rows of a.csv are left out"), "{}", ran.err);
    ran.ok();
    // the rows that are left are the training examples
    place.run("certify m a.csv").ok();
    place.run("evaluate m a.csv --missing error").fails(3, &["line 3, column \"b\": the entry is missing"]);
    place.run("evaluate m a.csv --missing mean").fails(2, &["trained with --missing drop", "knows nothing of mean"]);
    place.run("predict m a.csv").fails(3, &["line 3"]);
    place.run("fit a.csv -m svc --missing drop -o m").ok();
    let place = Place::with(&[("a.csv", "a,b,y\n1,2,u\n3,5,v\n"), ("b.csv", "a,b,y\n1,,u\n3,5,v\n")]);
    place.run("fit a.csv -m svc -o m").ok();
    place.run("evaluate m b.csv").fails(3, &["b.csv line 2"]);
    assert_eq!(place.json("evaluate m b.csv --missing drop")["n"], 1);
}

#[test]
fn a_split_copies_rows_as_they_are() {
    let place = Place::with(&[("a.csv", &customers())]);
    let said = place.run("split a.csv --test 0.25 --stratify target --train-file x.csv --test-file y.csv").ok().err;
    assert!(said.contains("warning") && said.contains("may be too narrow. Leave out --stratify"), "{said}");
    let plain = place.run("split a.csv --test 0.25 --train-file x.csv --test-file y.csv").ok();
    assert!(plain.err.is_empty(), "{plain:?}");
    let told = place.json("split a.csv --test 0.25 --stratify target --seed 3");
    assert_eq!(told["stratified"], true);
    assert_eq!((told["train"]["n"].as_u64(), told["test"]["n"].as_u64()), (Some(60), Some(20)));
    let (train, test) = (place.read("a-train.csv"), place.read("a-test.csv"));
    let mut rows: Vec<&str> = train.lines().skip(1).chain(test.lines().skip(1)).collect();
    rows.sort_unstable();
    assert!(rows.iter().eq(customers().lines().skip(1).collect::<Vec<_>>().iter()), "every row once, byte by byte");
    assert_eq!((train.lines().next(), test.lines().next()), (customers().lines().next(), customers().lines().next()));
    let left = |text: &str| text.lines().filter(|line| line.ends_with("yes")).count();
    assert!(left(&train).abs_diff(3 * left(&test)) <= 3, "{} {}", left(&train), left(&test));
    place.run("split a.csv").fails(2, &["a-train.csv is there already"]);
    place.run("split a.csv --test 1.5 --train-file b --test-file c").fails(2, &["neither a share"]);
    place.run("split a.csv --test 30 --groups city --train-file b.csv --test-file c.csv").ok();
    let cities = |name: &str| -> Vec<String> {
        let mut all: Vec<String> =
            place.read(name).lines().skip(1).map(|l| l.split(',').nth(2).unwrap().to_owned()).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    assert!(cities("b.csv").iter().all(|city| !cities("c.csv").contains(city)));
    place.run("split a.csv --test 0.5 --train-file b.csv --test-file b.csv").fails(2, &["the same file"]);
}

#[test]
fn a_search_is_judged_by_the_score_that_is_asked_for() {
    let place = Place::with(&[("a.csv", &customers())]);
    let search = "select a.csv -m svc --columns 2-4 --class-weight balanced --grid c=0.01|1|100 -o s";
    let told = place.json(&format!("{search} --score f1 --positive yes"));
    assert_eq!((told["score"]["name"].as_str(), told["score"]["positive"].as_str()), (Some("f1"), Some("yes")));
    let scores: Vec<f64> = told["table"].as_array().unwrap().iter().map(|c| c["score"].as_f64().unwrap()).collect();
    let best = scores.iter().copied().fold(f64::MIN, f64::max);
    assert_eq!(told["best"]["score"].as_f64(), Some(best), "the largest F1 is the best: {scores:?}");
    for score in ["error", "balanced", "auc", "mcc", "precision", "recall", "log_loss", "brier"] {
        let told = place.json(&format!("{search} --score {score}"));
        assert!(told["best"]["score"].as_f64().is_some_and(f64::is_finite), "{score}");
    }
    assert!(place.run(&format!("{search} --score auc")).ok().out.contains("cv AUC"));
    place.run(&format!("{search} --score rmse")).fails(2, &["rmse is a score of numbers"]);
    place.run(&format!("{search} --score f1 --positive maybe")).fails(3, &["no class \"maybe\"", "no, yes"]);
    place.run(&format!("{search} --score error --positive yes")).fails(2, &["looks at all classes alike"]);
    place.run(&format!("{search} --score auc --folds loo")).fails(2, &["auc has no meaning on one of the folds"]);
    let numbers = "select a.csv -m ridge --columns calls,city --target age --grid lambda=0.1|10 -o s";
    for score in ["rmse", "mae", "r2"] {
        assert!(place.json(&format!("{numbers} --score {score}"))["best"]["score"].as_f64().is_some(), "{score}");
    }
}

#[test]
fn a_split_is_not_written_over_what_it_is_cut_from() {
    let place = Place::new();
    place.write("d.csv", "a,y\n1,u\n2,v\n3,u\n4,v\n");
    place.run("split d.csv --test 1 --train-file d.csv --test-file t.csv").fails(2, &["d.csv"]);
    place.run("split d.csv --test 1 --train-file t.csv --test-file ./d.csv").fails(2, &["d.csv"]);
    assert_eq!(place.read("d.csv"), "a,y\n1,u\n2,v\n3,u\n4,v\n");
    place.run("split - --train-file a.csv --test-file b.csv").fails(2, &["standard input"]);
}

#[test]
fn what_is_held_out_judges_the_chosen_model_once() {
    let place = Place::with(&[("a.csv", &customers())]);
    let search = "select a.csv -m svc --columns 2-4 --grid c=0.1|1|10 -o s";
    let told = place.json(&format!("{search} --held-out 0.25"));
    assert_eq!((told["n"].as_u64(), told["held_out"]["n"].as_u64()), (Some(60), Some(20)));
    let error = told["held_out"]["metrics"]["error"].as_f64().unwrap();
    assert_eq!(told["held_out"]["score"].as_f64(), Some(error));
    let said = place.run(&format!("{search} --held-out 0.25")).ok().out;
    assert!(said.contains("that of the best of 3 candidates") && said.contains("the search never saw"), "{said}");
    assert!(place.run(search).ok().out.contains("--held-out 0.25 tells how much"));
    place.run(&format!("{search} --held-out 1.5")).fails(2, &["no share of the examples"]);
    place.run(&format!("{search} --held-out 0.2 --by certificate")).fails(2, &["belong to cross-validation"]);
}

#[test]
fn the_confusion_of_any_classifier_is_drawn_with_shares_by_row() {
    let place = Place::with(&[("a.csv", &customers())]);
    place.run("fit a.csv -m svc --columns 2-4 -o m").ok();
    place.run("plot m a.csv --what confusion -o c.svg").ok();
    let svg = place.read("c.svg");
    assert!(svg.contains(" %</text>") && svg.contains("% of each true class"), "{svg}");
    place.run("plot m a.csv --what roc --positive no -o r.svg").ok();
    assert!(place.read("r.svg").contains("looking for no"));
    place.run("plot m a.csv --what roc --positive never -o r.svg").fails(3, &["no class \"never\"", "no, yes"]);
    place.run("plot m a.csv --positive no -o r.svg").fails(2, &["--positive is for --what roc"]);
    place.run("fit a.csv -m ridge --columns calls --target age -o r").ok();
    place.run("plot r a.csv --what confusion -o c.svg").fails(2, &["for classifiers and detectors"]);
}

#[test]
fn slips_of_those_who_come_from_other_programs_are_told_the_right_spelling() {
    let place = Place::with(&[("a.csv", &customers())]);
    place
        .run("fit a.csv -m svc --gamma 0.1 -o m")
        .fails(2, &["svc has no parameter gamma", "--kernel 'rbf(gamma=0.1)'"]);
    for flag in ["--C 10", "-C 10"] {
        place.run(&format!("fit a.csv -m svc {flag} -o m")).fails(2, &["unexpected argument '-", "write --c"]);
    }
    place.run("fit a.csv -m svc --sigma 1 -o m").fails(2, &["sigma", "--kernel"]);
    place.run("select a.csv -m svc --grid C=1|2 -o m").fails(2, &["did you mean c?"]);
    place.run("select a.csv -m svc --grid Gamma=1|2 -o m").fails(2, &["did you mean gamma?"]);
}

#[test]
fn wrong_files_are_told_apart() {
    let place = Place::new();
    let text = "a,b,y\n1,2,u\n3,4,v\n5,6,u\n";
    let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    place.write("bare.csv", &wide);
    place.write("marked.csv", [&[0xff, 0xfe], wide.as_slice()].concat());
    place.write("mac.csv", text.replace('\n', "\r").as_bytes());
    place.write("comma.csv", b"a;y\n1,5;u\n2,5;v\n3,0;u\n");
    place.write("text.csv", b"n,t,y\n1,7,u\n2,this is a remark of several words,v\n3,and here is another long one,u\n");
    place.write("images", [0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 2, 5, 6, 7, 8]);
    let fails = |file: &str, said: &[&str]| place.run(&format!("fit {file} -m svc -o m")).fails(3, said);
    fails("bare.csv", &["UTF-16", "iconv -f utf-16le"]);
    fails("marked.csv", &["UTF-16", "iconv -f utf-16 "]);
    fails("mac.csv", &["carriage returns alone", "tr '\\r' '\\n'"]);
    fails("comma.csv", &["\"1,5\" has a decimal comma", "write 1.5"]);
    fails("text.csv", &["--text t", "spectrum"]);
    fails("images", &["--labels"]);
}

#[test]
fn words_for_missing_entries_are_kept_in_the_model() {
    let text = "a,b,y\n1,x,u\n-999,z,v\n5,gone,u\n7,z,v\n2,x,u\n";
    let place = Place::with(&[("a.csv", text), ("new.csv", "a,b\n-999,gone\n")]);
    let fit = "fit a.csv -m svc --missing-words -999,gone";
    place.run(&format!("{fit} -o m")).fails(3, &["line 3, column \"a\": the entry is missing"]);
    assert_eq!(place.json(&format!("{fit} --missing drop -o m"))["n"], 3);
    place.run(&format!("{fit} --missing mean -o m")).ok();
    assert_eq!(place.run("predict m new.csv").ok().lines().len(), 2);
    assert_eq!(place.json("show m")["views"][0]["width"], 3, "gone is no category");
    place.run("fit a.csv -m svc --missing mean -o m").ok();
    assert_eq!(place.json("show m")["views"][0]["width"], 4);
}

#[test]
fn usual_marks_among_numbers_are_missing_entries() {
    for mark in ["n/a", "na", "None", "#N/A", "-", "."] {
        let text = format!("a,b,y\n1,2,u\n3,{mark},v\n5,6,u\n7,9,v\n");
        let place = Place::with(&[("a.csv", &text), ("new.csv", &format!("a,b\n3,{mark}\n"))]);
        place.run("fit a.csv -m svc -o m").fails(3, &["line 3, column \"b\": the entry is missing", "--missing mean"]);
        assert_eq!(place.json("fit a.csv -m svc --missing drop -o m")["n"], 3, "{mark}");
        place.run("fit a.csv -m svc --missing mean -o m").ok();
        assert_eq!(place.run("predict m new.csv").ok().lines().len(), 2, "{mark}");
    }
    // among words they are words like others, and a class may be called none
    let place = Place::with(&[("a.csv", "a,b,y\n1,x,1\n3,-,none\n5,x,1\n7,-,none\n")]);
    assert_eq!(place.json("fit a.csv -m svc -o m")["d"], 3);
    assert_eq!(place.json("evaluate m a.csv")["labels"], serde_json::json!(["1", "none"]));
}

#[test]
fn dates_are_numbers_of_days() {
    let text = "since,y\n2024-01-01,u\n2024-01-03 12:00,v\n2024-01-02,u\n2024-01-05T00:00:00Z,v\n";
    let place = Place::with(&[("a.csv", text), ("new.csv", "since\n2024-02-30\n")]);
    assert_eq!(place.json("fit a.csv -m svc -o m")["d"], 4, "without a word they are categories");
    assert_eq!(place.json("fit a.csv -m svc --dates since -o m")["d"], 1);
    assert_eq!(place.json("evaluate m a.csv")["n"], 4);
    place.run("predict m new.csv").fails(3, &["new.csv line 2, column \"since\": \"2024-02-30\" is no date"]);
    place.run("convert a.csv b.csv --dates since").fails(2, &["say --encode with it"]);
    place.run("convert a.csv b.csv --dates since --encode").ok();
    assert_eq!(place.read("b.csv").lines().nth(2), Some("19725.5,v"));
}

#[test]
fn rows_left_out_in_training_are_counted_and_unused_columns_cost_none() {
    let gaps = "a,b,c,y\n1,2,1,u\n3,NA,2,v\n2,1,3,u\n4,5,,v\n5,1,4,u\n2,7,5,v\n1,7,2,v\n3,3,1,u\n";
    let place = Place::with(&[("a.csv", gaps)]);
    let ran = place.run("fit a.csv -m svc --missing drop -o m --json").ok();
    assert!(ran.err.contains("2 rows of a.csv are left out, since something is missing in them"), "{}", ran.err);
    assert_eq!((&ran.document()["rows_left_out"], &ran.document()["n"]), (&2.into(), &6.into()));
    let ran = place.run("select a.csv -m svc --missing drop --grid c=1|2 --folds 2 -o m --json").ok();
    assert_eq!(ran.document()["rows_left_out"], 2);
    // no kernel looks at c: its gap is nobody's, and the model does not ask for it
    let ran = place.run("fit a.csv -m svc --missing drop --view v=a,b --kernel rbf@v -o m --json").ok();
    assert_eq!(ran.document()["rows_left_out"], 1);
    assert!(ran.err.contains("view x (c) is not part of the model"), "{}", ran.err);
    place.write("new.csv", "a,b\n1,2\n");
    place.run("predict m new.csv").ok();
}

#[test]
fn rows_with_gaps_have_an_empty_prediction_where_that_is_asked_for() {
    let place =
        Place::with(&[("a.csv", "a,b,y\n1,2,u\n3,4,v\n2,1,u\n4,5,v\n"), ("n.csv", "a,b\n,2\n3,4\n2,\n1,2\n,\n")]);
    place.run("fit a.csv -m svc -o m").ok();
    place.run("predict m n.csv").fails(3, &["n.csv line 2, column \"a\"", "missing"]);
    let ran = place.run("predict m n.csv --missing empty").ok();
    assert_eq!(ran.lines(), ["prediction", "\"\"", "v", "\"\"", "u", "\"\""]);
    assert!(ran.err.contains("3 of the 5 rows of n.csv have an empty prediction"), "{}", ran.err);
    let scored = place.run("predict m n.csv --missing empty --scores").ok();
    assert_eq!(scored.lines()[1], ",,");
    place.run("predict m n.csv --missing empty --scores -o p.csv").ok();
    assert_eq!(place.read("p.csv").lines().count(), 6);
    let told = place.json("predict m n.csv --missing empty --scores");
    assert_eq!(told["predictions"], serde_json::json!([null, "v", null, "u", null]));
    assert!(told["scores"][0].is_null() && told["scores"][1].is_array());
    assert_eq!((&told["rows_without_prediction"], &told["labels"]), (&3.into(), &serde_json::json!(["u", "v"])));
    // a target that is known for some rows does not matter; a file of gaps has empty predictions
    place.write("t.csv", "a,b,y\n1,2,u\n3,4,\n");
    assert_eq!(place.run("predict m t.csv").ok().lines(), ["prediction", "u", "v"]);
    place.write("gaps.csv", "a,b\n,1\n");
    assert_eq!(place.run("predict m gaps.csv --missing empty").ok().lines(), ["prediction", "\"\""]);
    // what training has prepared for is predicted
    place.run("fit a.csv -m svc --missing mean -o m").ok();
    assert!(!place.run("predict m n.csv --missing empty").ok().out.contains("\"\""));
    place.run("fit a.csv -m ridge --target b -o r").ok();
    place.write("o.csv", "a,y\n1,u\n,v\n");
    place.run("predict r o.csv --missing empty -o p.npy").ok();
}
