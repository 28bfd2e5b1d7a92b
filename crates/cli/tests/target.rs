//! The choice of the target: the column that is predicted, and the meaning of its cells.
#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use crate::common::{Place, npy};

const TABLE: &str = "a,b,kind\n1,5,u\n2,6,v\n3,5,u\n4,7,v\n";

#[test]
fn the_target_is_the_last_column_of_csv() {
    let place = Place::with(&[("a.csv", TABLE)]);
    place.run("fit a.csv --machine svc -o m").ok();
    assert_eq!(place.json("show m")["target"][0], "kind");
    assert_eq!(place.json("show a.csv")["target"], "kind");
}

#[test]
fn the_target_is_the_first_token_of_libsvm() {
    let place = Place::with(&[("a.svm", "3 1:1\n5 1:2\n3 1:3\n")]);
    let report = place.json("fit a.svm --machine ridge -o m");
    assert_eq!((&report["n"], &report["d"]), (&3.into(), &1.into()));
    place.run("fit a.svm --machine svc -o m").ok();
    assert!(place.run("predict m a.svm").ok().lines()[1..].iter().all(|l| ["3", "5"].contains(l)));
}

#[test]
fn the_target_is_chosen_by_name_number_or_none() {
    let place = Place::with(&[("a.csv", TABLE)]);
    for target in ["b", "2", "-2"] {
        place.run(&format!("fit a.csv --machine ridge --target {target} -o m")).ok();
        assert_eq!(place.json("show m")["target"][0], "b", "{target}");
    }
    let report = place.json("fit a.csv --machine kernel_pca --target none -o m");
    // a, b and the one-hot code of kind
    assert_eq!(report["d"], 4);
    place.run("fit a.csv --machine svc --target none -o n").fails(3, &["no target", "--target"]);
    for wrong in ["9", "0", "-9", "zzz"] {
        place.run(&format!("fit a.csv --machine svc --target {wrong} -o n")).fails(3, &[wrong, "a, b, kind"]);
    }
    place.run("fit a.csv --machine svc --target kin -o n").fails(3, &["did you mean \"kind\"?"]);
    assert!(!place.has("n"));
}

#[test]
fn a_column_named_like_a_number_is_meant_by_its_name() {
    let place = Place::with(&[("a.csv", "2,x,1\n5,1,7\n6,2,8\n7,3,9\n")]);
    place.run("fit a.csv --header true --machine ridge --target 2 -o m").ok();
    assert_eq!(place.json("show m")["target"][0], "2");
}

#[test]
fn spellings_of_a_number_are_one_label_printed_as_first_spelled() {
    let place = Place::with(&[("a.csv", "x,y\n1,1\n1.1,1.0\n1.2,1e0\n9,2\n9.1,02\n9.2,2.00\n")]);
    place.run("fit a.csv --machine svc -o m").ok();
    let said = place.run("predict m a.csv --scores").ok().out;
    assert_eq!(said.lines().next().unwrap(), "prediction,score_1,score_2");
    let labels: Vec<&str> = said.lines().skip(1).map(|l| l.split(',').next().unwrap()).collect();
    assert_eq!(labels, ["1", "1", "1", "2", "2", "2"]);
    let spelled = Place::with(&[("a.csv", "x,y\n1,1.50\n2,1.5\n9,2\n")]);
    assert_eq!(spelled.fitted("a.csv --machine svc --c 1000", "a.csv"), ["1.50", "1.50", "2"]);
}

#[test]
fn labels_match_across_files_whatever_their_spelling() {
    let place = Place::with(&[("a.csv", "x,y\n1,1\n2,1\n8,2\n9,2\n"), ("b.csv", "x,y\n1,1.0\n9,2e0\n8,2.0\n")]);
    place.run("fit a.csv --machine svc -o m").ok();
    let report = place.json("evaluate m b.csv");
    assert_eq!(report["error"], 0.0);
    assert_eq!(report["labels"], serde_json::json!(["1", "2"]));
}

#[test]
fn a_classifier_takes_any_target_as_classes() {
    let place = Place::with(&[("a.csv", "x,y\n1,3\n2,abc\n9,3\n10,abc\n")]);
    place.run("fit a.csv --machine svc -o m").ok();
    assert_eq!(place.json("show m")["readout"]["vote"]["labels"], serde_json::json!(["3", "abc"]));
    place.json("evaluate m a.csv");
    place.run("gram a.csv -o K.npy").ok();
    place.run("fit a.csv --machine kernel_pca -o p").ok();
}

#[test]
fn a_regressor_requires_numbers() {
    let place = Place::with(&[("words.csv", TABLE), ("mixed.csv", "x,y\n1,3\n2,abc\n9,3\n")]);
    place.run("fit words.csv --machine ridge -o m").fails(3, &["kind", "\"u\"", "--target"]);
    place
        .run("fit mixed.csv --machine ridge -o m")
        .fails(3, &["mixed.csv line 3, column \"y\": \"abc\" is not a number"]);
}

#[test]
fn several_numbers_can_be_predicted_at_once() {
    let place = Place::with(&[("a.csv", "x,u,v\n1,2,3\n2,4,5\n3,6,8\n")]);
    place.run("fit a.csv --machine ridge --target u,v -o m").ok();
    assert_eq!(place.run("predict m a.csv").ok().lines()[0], "prediction_u,prediction_v");
    place.run("fit a.csv --machine svc --target u,v -o m").fails(3, &["one target column"]);
    place.run("fit a.csv --machine ridge --target u,u -o m").fails(2, &["named twice"]);
}

#[test]
fn a_label_of_commas_and_quotes_is_quoted() {
    let place = Place::with(&[("a.csv", "x,y\n1,\"a, \"\"b\"\"\"\n9,c\n")]);
    assert_eq!(place.fitted("a.csv --machine svc", "a.csv"), ["\"a, \"\"b\"\"\"", "c"]);
}

#[test]
fn labels_that_are_equal_as_numbers_only_are_told_with_the_remedy() {
    let place = Place::with(&[
        ("a.csv", "x,y\n1,1\n2,01\n8,001\n9,2\n"),
        ("b.csv", "x,y\n1,01\n2,1.0\n8,2\n9,2.0\n"),
        ("v.csv", "x,y\n1,3.1\n2,3.10\n8,3.2\n9,3.2\n"),
        ("c.csv", "x,y\n1,1\n2,1.0\n8,2\n9,+2\n"),
        ("d.csv", "x,y\n1,c1\n2,c01\n8,c001\n9,c2\n"),
    ]);
    for (file, a, b) in [("a.csv", "1", "001"), ("b.csv", "01", "1"), ("v.csv", "3.1", "3.10")] {
        for (flags, taken) in
            [("", "taken for one; spell them alike"), (" --categorical y", "two classes here; spell them alike")]
        {
            let said = place.run(&format!("fit {file} --machine svc -o m{flags}")).ok().err;
            let told = format!("the target \"y\" has the labels {a} and {b}, which are equal as numbers and {taken}");
            let other = told.replace("001", "01").replace("01 and 1,", "01 and 1.0,");
            assert!(said.contains(&told) || said.contains(&other), "{file}{flags}: {said}");
            assert_eq!(said.contains("told apart (--categorical y)"), flags.is_empty(), "{said}");
        }
    }
    // declared, they are as many classes as spellings, in every file
    for (file, labels) in [("a.csv", 4), ("b.csv", 4), ("v.csv", 3)] {
        place.run(&format!("fit {file} -m knn --k 1 --categorical y -o m")).ok();
        let known = place.json("show m")["readout"].to_string();
        let said = place.run(&format!("predict m {file}")).ok();
        let predicted = &said.lines()[1..];
        let truth: Vec<String> = place
            .read(file)
            .lines()
            .skip(1)
            .map(|line| line.rsplit(',').next().unwrap_or_default().to_owned())
            .collect();
        assert_eq!(predicted, truth, "{file}: {known}");
        assert_eq!(place.json(&format!("evaluate m {file}"))["error"], 0.0, "{file}");
        assert_eq!(truth.iter().collect::<std::collections::HashSet<_>>().len(), labels);
    }
    // 1 and 1.0 are one class, and that is no surprise
    assert!(!place.run("fit c.csv --machine svc -o m").ok().err.contains("labels"));
    let report = place.json("fit d.csv --machine svc -o m");
    assert_eq!(report["advice"], serde_json::json!([]));
    assert_eq!(place.json("show m")["readout"]["vote"]["labels"].as_array().unwrap().len(), 4);
    // as categories they are two
    let place = Place::with(&[("a.csv", "c,y\n1,u\n01,v\n2,u\n2,v\n")]);
    let said = place.run("fit a.csv --machine svc --categorical c -o m").ok().err;
    let told = "column \"c\" has the categories 01 and 1, which are equal as numbers and two categories here";
    assert!(said.contains(told), "{said}");
}

#[test]
fn columns_of_a_matrix_are_named_by_their_numbers() {
    let rows: Vec<f64> =
        (0..40).flat_map(|i| [f64::from(i % 7), f64::from(i % 5), f64::from(i), f64::from(i % 2)]).collect();
    let inputs: Vec<f64> = rows.chunks(4).flat_map(|row| row[..3].to_vec()).collect();
    let place = Place::new();
    place.write("a.npy", npy(&[40, 4], &rows));
    place.write("x.npy", npy(&[40, 3], &inputs));
    let lines = rows.chunks(4).map(|r| format!("{},{},{},{}\n", r[0], r[1], r[2], r[3]));
    place.write("a.csv", lines.collect::<Vec<_>>().concat());
    place.run("fit a.csv -m svc --target 4 --drop 3 -o c.mercer").ok();
    let told = place.run("predict c.mercer a.csv --scores");
    let told = told.ok();
    let told = told.lines();
    for target in ["4", "-1"] {
        place.run(&format!("fit a.npy -m svc --target {target} --drop 3 -o m.mercer")).ok();
        for file in ["a.npy", "x.npy", "a.csv"] {
            assert_eq!(place.run(&format!("predict m.mercer {file} --scores")).ok().lines(), told, "{target} {file}");
        }
        assert_eq!(place.json("evaluate m.mercer a.npy")["n"], 40);
    }
    place.run("convert a.npy two.csv --columns 1,4").ok();
    assert_eq!(place.read("two.csv").lines().nth(1).unwrap(), "1,1");
    // what nobody counts stays a block
    place.run("fit a.npy -m kpca -o k.mercer").ok();
    place.run("fit a.npy -o n.mercer").fails(2, &["--target", "--labels"]);
    place.run("fit a.npy -m svc --target 5 -o m.mercer").fails(3, &["there is no column \"5\""]);
}
