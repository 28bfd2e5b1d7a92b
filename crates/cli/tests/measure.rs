//! `measure`: geometry of a kernel on data, from outside.
#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use crate::common::Place;

#[test]
fn a_linear_kernel_has_the_rank_of_its_data_and_the_picture_is_written() {
    let place = Place::new();
    place.run("data iris -o iris.csv").ok();
    let told = place.json("measure iris.csv --kernel linear --scale none -o spectrum.svg");
    assert_eq!(told["spectrum"]["rank"], 4);
    assert_eq!(told["n"], 150);
    assert_eq!(told["positive_semi_definite"], true);
    assert!(told["smallest_eigenvalue"].as_f64().unwrap().abs() < 1e-8, "{told}");
    assert!(told["alignment"].as_f64().unwrap() > 0.5);
    assert_eq!(told["farthest"].as_array().unwrap().len(), 3);
    assert!(place.read("spectrum.svg").starts_with("<svg"));
}

#[test]
fn a_matrix_with_negative_eigenvalues_is_told_in_words() {
    let place = Place::with(&[("d.csv", "a,b\n1,2\n-1,0.5\n2,-2\n0.3,1\n")]);
    let ran = place.run("measure d.csv --kernel 'sigmoid(gamma=1, offset=-1)' --scale none --target none");
    assert!(ran.out.contains("no: the smallest eigenvalue is -") && ran.out.contains("--repair"), "{ran:?}");
    assert!(!ran.out.contains("alignment"), "there is no target: {ran:?}");
    assert_eq!(place.run("measure d.csv --kernel linear --ridge 0").code, Some(2));
}
