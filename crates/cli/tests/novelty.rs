//! Detectors of novelties on the command line: the list of unusual examples, evaluation and pictures.
#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use crate::common::Place;

/// A dense cloud around the origin, and one point far away in row 4.
fn place() -> Place {
    let place = Place::with(&[("far.csv", "a,b\n0.1,0\n0,0.2\n-0.1,0.1\n9,9\n0.2,-0.1\n")]);
    let mut text = "a,b\n".to_owned();
    for i in 0..40 {
        let (angle, radius) = (f64::from(i) * 1.7, f64::from(i % 8) / 8.0);
        text.push_str(&format!("{},{}\n", radius * angle.sin(), radius * angle.cos()));
    }
    place.write("cloud.csv", text);
    place
}

#[test]
fn the_most_unusual_examples_come_first() {
    let place = place();
    for machine in ["one_class", "svdd"] {
        place.run(&format!("fit cloud.csv --machine {machine} --kernel 'rbf(gamma=0.1)' --target none -o m")).ok();
        let report = place.json("predict m far.csv --rank 3");
        let list = report["ranking"].as_array().unwrap();
        assert_eq!((report["n"].as_u64(), list.len()), (Some(5), 3));
        assert_eq!((&list[0]["rank"], &list[0]["row"]), (&1.into(), &4.into()));
        assert_eq!((&list[0]["prediction"], &list[1]["prediction"]), (&"outlier".into(), &"inlier".into()));
        let scores: Vec<f64> = list.iter().map(|l| l["score"].as_f64().unwrap()).collect();
        assert!(scores[0] < 0.0 && scores.is_sorted(), "{scores:?}");
        place.run("predict m far.csv --rank 99 -o r.csv").ok();
        let csv = place.read("r.csv");
        assert_eq!(csv.lines().next(), Some("rank,row,score,prediction"));
        assert_eq!(csv.lines().count(), 6);
        assert!(csv.lines().nth(1).unwrap().starts_with("1,4,-"), "{csv}");
        let said = place.run("predict m far.csv --rank 1").ok().out;
        assert!(said.contains("rank") && said.contains("outlier") && !said.contains("inlier"), "{said}");
    }
}

#[test]
fn only_detectors_rank() {
    let place = Place::with_banana(40);
    place.run("fit banana.csv --machine svc -o m").ok();
    place.run("predict m banana.csv --rank 5").fails(2, &["--rank is for", "one_class", "svc"]);
    place.run("predict m banana.csv --rank 0").fails(2, &["--rank"]);
    place.run("predict m banana.csv --rank 5 --scores").fails(2, &["--rank", "--scores"]);
}

#[test]
fn evaluation_tells_the_share_and_finds_the_usual_class() {
    let place = place();
    place.run("fit cloud.csv --machine one_class --kernel 'rbf(gamma=0.1)' --target none -o m").ok();
    let bare = place.json("evaluate m far.csv");
    assert_eq!((&bare["outliers"], &bare["outlier_share"], &bare["n"]), (&1.into(), &0.2.into(), &5.into()));
    assert!(bare.get("error").is_none());
    assert!(place.run("evaluate m far.csv").ok().out.contains("1 of 5 (20.00 %)"));

    let rows: Vec<String> = place.read("cloud.csv").lines().skip(1).map(str::to_owned).collect();
    let labelled = |name: &str, usual: &str, unusual: &str| {
        let mut text = format!("a,b,y\n9,9,{unusual}\n-8,7,{unusual}\n");
        rows.iter().for_each(|row| text.push_str(&format!("{row},{usual}\n")));
        place.write(name, text);
    };
    for (usual, unusual, larger) in [("1", "-1", false), ("normal", "fault", false), ("0", "1", true)] {
        labelled("y.csv", usual, unusual);
        place.run("fit y.csv --machine one_class -o m").ok();
        let report = place.json("evaluate m y.csv");
        assert_eq!((&report["inlier_label"], &report["outlier_label"]), (&usual.into(), &unusual.into()));
        assert_eq!(report["labels"], serde_json::json!(["inlier", "outlier"]));
        assert_eq!(report["auc"], 1.0, "the far points score lowest");
        let said = place.run("evaluate m y.csv").ok().out;
        assert!(said.contains("usual class") && said.contains("larger class") == larger, "{said}");
    }
}

#[test]
fn more_than_two_classes_have_no_error() {
    let place = Place::new();
    place.run("data iris -o iris.csv").ok();
    place.run("fit iris.csv --machine one_class -o m").ok();
    let report = place.json("evaluate m iris.csv");
    assert!(report.get("error").is_none() && report["outliers"].as_u64().unwrap() > 0);
    assert!(place.run("evaluate m iris.csv").ok().out.contains("more than two classes"));
}

#[test]
fn the_picture_has_a_border_and_no_margin() {
    let place = Place::with_banana(80);
    for machine in ["one_class", "svdd"] {
        place.run(&format!("fit banana.csv --machine {machine} -o m")).ok();
        place.run("plot m banana.csv -o a.svg").ok();
        let svg = place.read("a.svg");
        assert!(svg.contains("f = 0") && svg.contains("outliers of 80"));
        assert!(!svg.contains("f = ±1") && !svg.contains("misclassified") && !svg.contains("stroke-dasharray"));
    }
}
