//! `mercer export` to ONNX; what the graphs compute is compared with onnxruntime in `python/tests/test_onnx.py`.
#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use crate::common::Place;

#[test]
fn the_name_or_the_flag_says_onnx() {
    let place = Place::with_banana(60);
    place.run("fit banana.csv --machine svc -o m").ok();
    let ran = place.run("export m -o a.onnx").ok();
    assert!(ran.err.is_empty() && ran.out.contains("onnx"), "{} {}", ran.out, ran.err);
    place.run("export m -o b --format onnx").ok();
    let (a, b) = (std::fs::read(place.path("a.onnx")).unwrap(), std::fs::read(place.path("b")).unwrap());
    assert_eq!(a, b);
    // the IR version 8 and the producer come first
    assert!(a.starts_with(b"\x08\x08\x12\x06mercer"));
    let report = place.json("export m -o a.onnx");
    assert_eq!((&report["format"], &report["machine"]), (&"onnx".into(), &"svc".into()));
    assert!(report["warnings"].as_array().unwrap().is_empty(), "scaling is part of the graph");
    assert!(place.run("export --help").ok().out.contains("mercer export model.mercer -o model.onnx"));
}

#[test]
fn what_a_graph_cannot_say_is_a_warning_or_an_error() {
    let place = Place::with(&[("a.csv", "size,kind,y\n1,red,0\n2,blue,0\n5,red,1\n6,blue,1\n")]);
    place.run("fit a.csv --machine svc -o m").ok();
    let ran = place.run("export m -o a.onnx").ok();
    assert!(ran.err.contains("words become one-hot codes") && ran.err.contains("kind=blue"), "{}", ran.err);
    place.run("fit a.csv --machine svc --kernel 'matern(nu=1)' -o m").ok();
    place.run("export m -o none.onnx").fails(2, &["needs a Bessel function", "0.5, 1.5 or 2.5"]);
    assert!(!place.has("none.onnx"));
}
