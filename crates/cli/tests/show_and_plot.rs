//! `show` and `plot`: what is in a file, and what it looks like.
#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use crate::common::Place;

#[test]
fn a_data_file_is_shown_column_by_column() {
    let place = Place::with(&[("a.csv", "size,colour,odd,y\n1,red,1,u\n2,,x,v\n4,red,2,u\n")]);
    let report = place.json("show a.csv");
    assert_eq!((&report["kind"], &report["format"], &report["n"]), (&"data".into(), &"csv".into(), &3.into()));
    let kinds: Vec<&str> = report["fields"].as_array().unwrap().iter().map(|f| f["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["numbers", "words", "mixed", "words"]);
    let said = place.run("show a.csv").ok().out;
    for part in ["size", "1 to 4", "1 missing", "\"x\"", "u: 2, v: 1"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn sparse_and_wide_files_are_shown_in_a_few_lines() {
    let header: Vec<String> = (0..100).map(|k| format!("c{k}")).collect();
    let row = vec!["1"; 100].join(",");
    let place =
        Place::with(&[("a.svm", "1 1:1 1000:2\n-1 5:1\n"), ("w.csv", &format!("{}\n{row}\n", header.join(",")))]);
    assert!(place.run("show a.svm").ok().out.contains("2 × 1000"));
    let said = place.run("show w.csv").ok().out;
    assert!(said.contains("and 60 more fields") && said.lines().count() < 60, "{said}");
    assert_eq!(place.json("show w.csv")["fields"].as_array().unwrap().len(), 100);
}

#[test]
fn a_model_is_shown_with_its_parameters_and_evidence() {
    let place = Place::with_banana(50);
    let fitted = place.json("fit banana.csv --machine svc --c 3 -o m");
    let shown = place.json("show m");
    for key in
        ["machine", "kernel", "parameters", "n", "d", "iterations", "status", "objective", "duality_gap", "n_support"]
    {
        assert_eq!(fitted[key], shown[key], "{key}");
    }
    assert_eq!(shown["kind"], "model");
    let said = place.run("show m").ok().out;
    for part in ["svc (c=3", "rbf(gamma=", "converged", "class", "scaled"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

fn is_svg(text: &str) {
    assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"), "{}", &text[..text.len().min(200)]);
    assert!(!text.contains("NaN"), "a coordinate is not a number");
}

#[test]
fn every_kind_of_model_has_its_picture() {
    let place = Place::new();
    place.run("data banana --n 60 -o plane.csv").ok();
    place.run("data noisy_sinc --n 60 -o line.csv").ok();
    place.run("data iris -o iris.csv").ok();
    place.run("data dna_motifs --n 20 -o dna.csv").ok();
    for (data, machine, more) in [
        ("plane.csv", "svc", ""),
        ("plane.csv", "nearest_mean", ""),
        ("plane.csv", "ridge", ""),
        ("plane.csv", "kernel_pca", ""),
        ("line.csv", "ridge", ""),
        ("iris.csv", "svc", ""),
        ("iris.csv", "ridge", "--target 1"),
        ("iris.csv", "kernel_pca", "--components 3"),
        ("iris.csv", "kernel_pca", "--components 1"),
        ("dna.csv", "svc", "--kernel spectrum"),
        ("plane.csv", "kernel_k_means", "--clusters 3"),
        ("plane.csv", "spectral_clustering", ""),
        ("dna.csv", "kernel_k_means", "--kernel spectrum"),
        ("plane.csv", "parzen_density", ""),
    ] {
        place.run(&format!("fit {data} --machine {machine} {more} -o m")).ok();
        let report = place.json(&format!("plot m {data} -o a.svg"));
        let svg = place.read("a.svg");
        assert_eq!(report["bytes"], svg.len(), "{data} {machine}");
        is_svg(&svg);
    }
}

#[test]
fn a_picture_is_drawn_without_the_target_where_it_can_be() {
    let place = Place::with_banana(30);
    place.run("fit banana.csv --machine svc -o m").ok();
    place.write("x.csv", "x1,x2\n0,1\n2,3\n-1,0\n");
    place.run("plot m x.csv -o a.svg").ok();
    is_svg(&place.read("a.svg"));
}

#[test]
fn labels_in_pictures_are_escaped() {
    let place = Place::with(&[("a.csv", "x,<b>&,y\n1,2,<i>\n2,5,a&b\n3,3,<i>\n")]);
    place.run("fit a.csv --machine svc -o m").ok();
    place.run("plot m a.csv -o a.svg").ok();
    let svg = place.read("a.svg");
    is_svg(&svg);
    assert!(!svg.contains("<i>") && !svg.contains("<b>") && !svg.contains("a&b"));
}

#[test]
fn other_formats_are_refused_before_any_work() {
    let place = Place::with_banana(30);
    place.run("fit banana.csv --machine svc -o m").ok();
    place.run("plot m banana.csv -o a.pdf").fails(2, &["a.pdf", ".svg or .png"]);
    place.run("plot m banana.csv -o none/a.svg").fails(3, &["there is no folder none"]);
    assert_eq!(place.files(), ["banana.csv", "m"]);
}
