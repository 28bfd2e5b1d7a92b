//! Clusters on the command line: sizes, agreement with classes, predictions and pictures.
#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use crate::common::Place;

/// Two rings around each other, with their class.
fn rings() -> Place {
    let mut text = "a,b,ring\n".to_owned();
    for i in 0..120 {
        let (angle, radius) = (f64::from(i) * 2.4, if i % 3 == 0 { 1.0 } else { 4.0 });
        let ring = if i % 3 == 0 { "1" } else { "2" };
        text.push_str(&format!("{},{},{ring}\n", radius * angle.sin(), radius * angle.cos()));
    }
    let place = Place::new();
    place.write("rings.csv", text);
    place
}

#[test]
fn clusters_are_compared_with_classes_and_never_taken_for_them() {
    let place = rings();
    let fit = "fit rings.csv --machine spectral_clustering --kernel 'rbf(gamma=10)' --target ring -o m";
    let report = place.json(fit);
    assert_eq!((&report["notes"]["size_1"], &report["notes"]["size_2"]), (&40.0.into(), &80.0.into()));
    assert!(report["objective"].as_f64().unwrap() < 0.01 && report["training"].is_null());
    let report = place.json("evaluate m rings.csv");
    assert_eq!(report["adjusted_rand"], 1.0);
    assert_eq!(report["normalised_mutual_information"], 1.0);
    assert_eq!(report["sizes"], serde_json::json!([40, 80]));
    assert_eq!(report["contingency"], serde_json::json!([[40, 0], [0, 80]]));
    assert!(report["error"].is_null(), "labels 1 and 2 are not cluster1 and cluster2");
    let said = place.run("evaluate m rings.csv").ok().out;
    assert!(said.contains("adjusted Rand index") && said.contains("cluster1 40, cluster2 80"), "{said}");
    // the rings are no balls: k-means cuts across them
    place.run("fit rings.csv --machine kernel_k_means --kernel linear --target ring -o k").ok();
    assert!(place.json("evaluate k rings.csv")["adjusted_rand"].as_f64().unwrap() < 0.2);
}

#[test]
fn predictions_are_names_of_clusters_with_their_scores() {
    let place = rings();
    place.run("fit rings.csv --machine kernel_k_means --clusters 3 --target ring -o m").ok();
    place.write("new.csv", "a,b\n0,4\n4,0\n-4,0\n");
    let csv = place.run("predict m new.csv --scores").ok().out;
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines[0], "prediction,score_cluster1,score_cluster2,score_cluster3");
    for line in &lines[1..] {
        let (name, scores) = line.split_once(',').unwrap();
        let scores: Vec<f64> = scores.split(',').map(|s| s.parse().unwrap()).collect();
        let best = (0..3).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap();
        assert_eq!(name, format!("cluster{}", best + 1));
    }
    let report = place.json("evaluate m new.csv");
    assert_eq!((&report["n"], &report["adjusted_rand"]), (&3.into(), &serde_json::Value::Null));
    assert_eq!(report["sizes"].as_array().unwrap().iter().map(|s| s.as_u64().unwrap()).sum::<u64>(), 3);
    place.run("predict m new.csv --probabilities").fails(2, &["probabilities"]);
    place.run("fit rings.csv --machine kernel_k_means --probabilities platt -o p").fails(2, &["probabilities"]);
}

#[test]
fn what_cannot_be_divided_is_said() {
    let place = rings();
    let fails = |more: &str, parts: &[&str]| {
        place.run(&format!("fit rings.csv --target ring {more} -o m")).fails(2, parts);
    };
    fails("--machine kernel_k_means --clusters 121", &["121 clusters need as many examples, and there are 120"]);
    fails("--machine spectral_clustering --kernel linear", &["no edge weighs less than nothing", "kernel_k_means"]);
    fails("--machine kernel_k_means --clusters 0", &["clusters = 0"]);
}

#[test]
fn a_model_of_coordinates_has_nothing_to_compare() {
    let place = rings();
    place.run("fit rings.csv --machine kernel_pca --target ring -o m").ok();
    place.run("evaluate m rings.csv").fails(2, &["kernel_pca has no target to be compared with"]);
}
