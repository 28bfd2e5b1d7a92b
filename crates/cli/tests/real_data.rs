//! Sets of the world outside, where MERCER_DATA names a folder of them.
#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use crate::common::{Place, real_data};

#[test]
fn heart_scale_is_learned_as_libsvm_learns_it() {
    let Some(path) = real_data("libsvm/heart_scale.svm.gz") else { return };
    let place = Place::new();
    let fit = format!("fit {} --machine svc --c 1 --kernel 'rbf(gamma=0.07692307692307693)' -o m", path.display());
    let report = place.json(&fit);
    assert_eq!((&report["n"], &report["d"]), (&270.into(), &13.into()));
    // svm-train's defaults: obj = -100.877288, nSV = 132
    assert!((report["objective"].as_f64().unwrap() + 100.877).abs() < 0.01, "{}", report["objective"]);
    let support = report["n_support"].as_i64().unwrap();
    assert!((130..=134).contains(&support), "{support}");
    let evaluated = place.json(&format!("evaluate m {}", path.display()));
    assert!(evaluated["error"].as_f64().unwrap() < 0.15);
}

#[test]
fn a1a_is_read_sparse_and_learned() {
    let Some(path) = real_data("libsvm/a1a.svm.gz") else { return };
    let place = Place::new();
    let report = place.json(&format!("fit {} --machine svc --kernel linear -o m", path.display()));
    assert_eq!(report["n"], 1605);
    assert_eq!(report["status"], "converged");
    assert!(report["training"]["error"].as_f64().unwrap() < 0.16);
}

#[test]
fn digits_of_images_are_told_apart() {
    let Some(path) = real_data("digits/digits.csv.gz") else { return };
    let place = Place::new();
    let report = place.json(&format!("fit {} --machine svc --c 10 -o m", path.display()));
    assert!(report["training"]["error"].as_f64().unwrap() < 0.01);
    assert_eq!(report["training"]["labels"].as_array().unwrap().len(), 10);
}

#[test]
fn mnist_is_read_from_its_own_files() {
    let (Some(images), Some(labels)) =
        (real_data("mnist/t10k-images-idx3-ubyte.gz"), real_data("mnist/t10k-labels-idx1-ubyte.gz"))
    else {
        return;
    };
    let place = Place::new();
    let fit = format!(
        "fit {} --labels {} --machine svc --max-seconds 1 --kernel linear -o m",
        images.display(),
        labels.display()
    );
    let shown = place.json(&format!("show {}", images.display()));
    assert_eq!(shown["n"], 10000);
    assert_eq!(place.json(&format!("{fit} --max-iterations 1"))["d"], 784);
}

#[test]
fn banana_of_the_benchmark_is_read_and_selected() {
    let Some(path) = real_data("raetsch/banana.csv.gz") else { return };
    let place = Place::new();
    let report = place.json(&format!("fit {} --machine svc --c 100 --kernel 'rbf(gamma=0.5)' -o m", path.display()));
    assert!(report["training"]["error"].as_f64().unwrap() < 0.12);
}
