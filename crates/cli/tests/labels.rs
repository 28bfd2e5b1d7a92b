//! Labels are told apart by their spelling: versions, codes, and whatever else is a number only by chance.
#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use crate::common::Place;

/// Three classes in clouds far from one another, under labels that are given.
fn clouds(labels: [&str; 3], n: usize) -> String {
    let line = |i: usize| {
        let (a, b) = ((i * 37 % 11) as f64 / 11.0, (i * 53 % 13) as f64 / 13.0);
        format!("{:.3},{:.3},{}\n", a + 10.0 * (i % 3) as f64, b - 7.0 * (i % 3) as f64, labels[i % 3])
    };
    format!("a,b,v\n{}", (0..n).map(line).collect::<String>())
}

#[test]
fn versions_among_words_are_told_apart_wherever_labels_meet() {
    let place = Place::with(&[("v.csv", &clouds(["3.1", "3.10", "3.2rc"], 240))]);
    place.run("fit v.csv -m svc --probabilities platt -o m").ok();
    let truth: Vec<String> =
        place.read("v.csv").lines().skip(1).map(|l| l.rsplit(',').next().unwrap().to_owned()).collect();
    assert_eq!(place.run("predict m v.csv").ok().lines()[1..], truth);
    assert_eq!(place.json("evaluate m v.csv")["error"], 0.0);
    // also where the file has only the labels that are numbers
    let part: String = place
        .read("v.csv")
        .lines()
        .filter(|line| !line.contains("rc"))
        .map(|line| format!("{line}\n"))
        .collect::<Vec<_>>()
        .concat();
    place.write("part.csv", part);
    assert_eq!(place.json("evaluate m part.csv")["error"], 0.0);
    // each label is weighed and looked for by its own name
    let weighed = |label: &str| {
        place.run(&format!("fit v.csv -m svc --class-weight {label}:5 --c 0.001 -o w")).ok();
        place.run("predict w v.csv --scores").ok().out
    };
    assert_ne!(weighed("3.1"), weighed("3.10"));
    place.run("select v.csv -m svc --grid c=1 --score recall --positive 3.10 -o s").ok();
    place.run("select v.csv -m svc --grid c=1 --score recall --positive 3.100 -o s").fails(3, &["no class \"3.100\""]);
    // sets hold the truth
    place.run("fit v.csv -m svc --conformal split --mondrian -o c").ok();
    let told = &place.json("evaluate c v.csv")["conformal"];
    for class in told["guarantee"].as_array().unwrap() {
        assert!(class["held_out"].as_u64().unwrap() > 0, "{class}");
    }
    assert!(told["measured"]["size"].as_f64().unwrap() < 2.5, "{told}");
}

#[test]
fn words_of_other_formats_and_label_files_stay_words() {
    let rows = ["3.1", "3.10", "3.2", "3.1", "3.10", "3.2"];
    let json: String =
        rows.iter().enumerate().map(|(i, v)| format!("{{\"a\": {i}, \"v\": \"{v}\"}}\n")).collect::<Vec<_>>().concat();
    let place = Place::with(&[
        ("t.jsonl", &json),
        ("x.csv", "a\n0\n1\n2\n3\n4\n5\n"),
        ("l.csv", &format!("{}\n", rows.join("\n"))),
        ("id.csv", "a,y\n0,01\n9,1\n1,01\n8,1\n"),
    ]);
    for fit in ["t.jsonl --target v", "x.csv --labels l.csv --categorical y"] {
        place.run(&format!("fit {fit} -m 'knn(k=1)' -o m")).ok();
        assert_eq!(place.run("predict m x.csv").ok().lines()[1..], rows, "{fit}");
    }
    assert_eq!(place.json("evaluate m x.csv --labels l.csv")["error"], 0.0);
    place.run("fit id.csv -m svc --categorical y -o m").ok();
    assert_eq!(place.run("predict m id.csv").ok().lines()[1..], ["01", "1", "01", "1"]);
}

#[test]
fn spellings_outlive_marks_of_missing_entries_and_a_thousand_classes() {
    let place = Place::with(&[("u.csv", "a,y\n0,01\n1,02\n2,unknown\n9,02\n0.5,01\n8,02\n")]);
    place.run("fit u.csv -m 'knn(k=1)' --missing drop --missing-words unknown -o m").ok();
    assert_eq!(place.run("predict m u.csv").ok().lines()[1..3], ["01", "02"]);
    let many: String = (0..2400).map(|i| format!("{i},{:05}\n", i / 2)).collect::<Vec<_>>().concat();
    place.write("many.csv", format!("a,code\n{many}"));
    place.run("fit many.csv -m 'knn(k=1)' --categorical code -o d").ok();
    place.run("fit many.csv -m 'knn(k=1)' -o m").fails(3, &["too many for classes"]);
    let many: String = (0..12_000).map(|i| format!("{},{:05}\n", i / 10, i / 10)).collect::<Vec<_>>().concat();
    place.write("many.csv", format!("a,code\n{many}"));
    place.run("fit many.csv -m 'knn(k=1)' -o m").ok();
    place.write("new.csv", "a\n3\n1150\n");
    assert_eq!(place.run("predict m new.csv").ok().lines()[1..], ["00003", "01150"]);
}
