//! `quickstart`: everything it promises is there.
#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use crate::common::Place;
use std::time::{Duration, Instant};

const FILES: [&str; 5] = ["model.mercer", "predictions.csv", "surface.svg", "test.csv", "train.csv"];

#[test]
fn everything_is_written_under_the_folder_and_nothing_elsewhere() {
    let place = Place::new();
    let started = Instant::now();
    let said = place.run("quickstart").ok();
    assert!(started.elapsed() < Duration::from_mins(1));
    assert!(said.err.is_empty(), "{}", said.err);
    assert_eq!(place.files(), ["mercer-quickstart"]);
    let mut inside: Vec<String> = std::fs::read_dir(place.path("mercer-quickstart"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    inside.sort();
    assert_eq!(inside, FILES);
    for file in FILES {
        assert!(said.out.contains(&format!("mercer-quickstart/{file}")), "{file}: {}", said.out);
    }
    let predictions = place.read("mercer-quickstart/predictions.csv");
    assert_eq!(predictions.lines().count(), 1001);
    assert_eq!(predictions.lines().next().unwrap(), "prediction,score_-1,score_1");
    let svg = place.read("mercer-quickstart/surface.svg");
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    let evaluated = place.json("evaluate mercer-quickstart/model.mercer mercer-quickstart/test.csv");
    assert_eq!(evaluated["n"], 1000);
    assert!(evaluated["error"].as_f64().unwrap() < 0.15, "{evaluated}");
}

#[test]
fn the_commands_it_prints_do_the_same_by_hand() {
    let place = Place::new();
    let said = place.run("quickstart --out first").ok().out;
    let model = place.bytes("first/model.mercer");
    let (predictions, svg) = (place.read("first/predictions.csv"), place.read("first/surface.svg"));
    let commands: Vec<&str> = said.lines().filter_map(|l| l.strip_prefix("  mercer ")).collect();
    assert_eq!(commands.len(), 5, "{said}");
    for command in &commands {
        place.run(command).ok();
        if command.starts_with("select") {
            assert!(place.bytes("first/model.mercer") == model, "the same selection, the same file");
        }
    }
    assert!(place.read("first/predictions.csv") == predictions);
    assert!(place.read("first/surface.svg") == svg);
}

#[test]
fn the_folder_may_be_named_and_the_report_a_document() {
    let place = Place::new();
    let ran = place.run("quickstart --out deep/er --json").ok();
    let report = ran.document();
    assert_eq!(report["files"].as_array().unwrap().len(), 5);
    for file in report["files"].as_array().unwrap() {
        assert!(place.has(file.as_str().unwrap()), "{file}");
    }
    assert!(report["held_out"]["error"].is_number() && report["machine"] == "svc");
    assert_eq!(place.files(), ["deep"]);
    // again into the same folder: the same bytes
    let model = place.bytes("deep/er/model.mercer");
    place.run("quickstart --out deep/er --threads 1").ok();
    assert!(place.bytes("deep/er/model.mercer") == model);
}

#[test]
fn a_file_in_the_way_is_told() {
    let place = Place::with(&[("taken", "x")]);
    place.run("quickstart --out taken").fails(3, &["taken"]);
    assert_eq!(place.read("taken"), "x");
}

#[test]
fn files_that_somebody_has_changed_are_never_replaced() {
    let place = Place::new();
    place.run("quickstart").ok();
    let again = place.run("quickstart").ok();
    assert!(again.err.is_empty() && place.files() == ["mercer-quickstart"], "{}", again.err);
    place.write("mercer-quickstart/train.csv", "mine\n1\n");
    place.write("mercer-quickstart/notes.txt", "mine");
    let other = place.run("quickstart").ok();
    assert!(other.err.contains("mercer-quickstart/train.csv is not as quickstart writes it"), "{}", other.err);
    assert!(other.out.contains("mercer-quickstart-2/model.mercer"), "{}", other.out);
    assert_eq!(place.files(), ["mercer-quickstart", "mercer-quickstart-2"]);
    place.run("quickstart --seed 3").ok();
    assert!(place.has("mercer-quickstart-3/train.csv"), "another seed has other files");
    place.run("quickstart --out mercer-quickstart").fails(3, &["train.csv", "--out", "--force"]);
    assert_eq!(place.read("mercer-quickstart/train.csv"), "mine\n1\n");
    place.run("quickstart -o mercer-quickstart --force").ok();
    assert_eq!(place.read("mercer-quickstart/train.csv"), place.read("mercer-quickstart-2/train.csv"));
    assert_eq!(place.read("mercer-quickstart/notes.txt"), "mine");
}
