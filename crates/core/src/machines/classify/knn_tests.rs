//! k nearest neighbours against loops over all pairs.

use super::*;
use crate::data::{Dataset, Rows, SparseRows, Target};
use crate::formula::{Formula, linear, precomputed, rbf};
use crate::job::Fit;
use crate::machines::Output;
use crate::machines::regress::KnnRegression;
use crate::seed::Seed;

/// n examples in three coordinates and their classes.
fn clouds(n: usize, seed: u64) -> (Rows<f64>, Vec<usize>) {
    let mut random = Seed(seed).stream("clouds");
    let codes: Vec<usize> = (0..n).map(|_| random.below(3)).collect();
    let x = codes.iter().flat_map(|&c| [c as f64, 0.0, 1.0].map(|m| m + random.normal())).collect();
    (Rows::new(x, n, 3).unwrap(), codes)
}

fn labelled(x: &Rows<f64>, codes: &[usize]) -> Dataset {
    let labels: Vec<String> = codes.iter().map(|c| ["a", "b", "c"][*c].to_owned()).collect();
    Dataset::new(x.clone()).with_target(Target::from(labels)).unwrap()
}

/// The neighbours of z by the definition: distances of all, sorted.
fn sorted(x: &Rows<f64>, z: &[f64], keep: impl Fn(usize) -> bool) -> Vec<(f64, usize)> {
    let distance = |i: usize| x.row(i).iter().zip(z).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
    let mut all: Vec<(f64, usize)> = (0..x.len()).filter(|&i| keep(i)).map(|i| (distance(i), i)).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all
}

#[test]
fn scores_are_those_of_all_pairs() {
    // several tiles, and some examples without weight
    let ((x, codes), (z, _)) = (clouds(1300, 1), clouds(150, 2));
    let weights: Vec<f64> = (0..1300).map(|i| if i % 5 == 0 { 0.0 } else { f64::from(1 + i % 3) }).collect();
    let numbers: Vec<f64> = (0..1300).map(|i| x.row(i)[0].sin()).collect();
    let classified = labelled(&x, &codes).with_weights(weights.clone()).unwrap();
    let numbered = Dataset::new(x.clone()).with_target(Target::from(numbers.clone())).unwrap();
    let numbered = numbered.with_weights(weights.clone()).unwrap();
    for (k, weighting) in
        [(1, Weighting::Uniform), (7, Weighting::Uniform), (7, Weighting::Distance), (700, Weighting::Distance)]
    {
        let votes = Knn { k, weighting }.fit(&linear(), &classified).unwrap().scores(&Dataset::new(z.clone())).unwrap();
        let model = KnnRegression { k, weighting }.fit(&linear(), &numbered).unwrap();
        let means = model.scores(&Dataset::new(z.clone())).unwrap();
        for i in 0..z.len() {
            let near = &sorted(&x, z.row(i), |j| weights[j] > 0.0)[..k];
            let weight =
                |&(d, j): &(f64, usize)| weights[j] * if weighting == Weighting::Distance { 1.0 / d } else { 1.0 };
            let sum: f64 = near.iter().map(weight).sum();
            let mean = near.iter().map(|n| weight(n) * numbers[n.1]).sum::<f64>() / sum;
            assert!((means[i] - mean).abs() < 1e-9, "{k} {weighting:?} {i}: {} {mean}", means[i]);
            for c in 0..3 {
                let share = near.iter().filter(|n| codes[n.1] == c).map(weight).sum::<f64>() / sum;
                assert!((votes[i * 3 + c] - share).abs() < 1e-9, "{k} {weighting:?} {i}: {}", votes[i * 3 + c]);
            }
        }
    }
}

#[test]
fn a_radial_kernel_has_the_neighbours_of_the_plain_distance() {
    let ((x, codes), (z, _)) = (clouds(300, 3), clouds(80, 4));
    let data = labelled(&x, &codes);
    let votes = |kernel: &Formula| Knn::default().fit(kernel, &data).unwrap().scores(&Dataset::new(z.clone())).unwrap();
    assert_eq!(votes(&linear()), votes(&rbf(0.1)));
    // dense and sparse, and a polynomial that is another geometry
    let sparse = Dataset::new(SparseRows::from_dense(&x)).with_target(data.target().unwrap().clone()).unwrap();
    let model = Knn::default().fit(&linear(), &sparse).unwrap();
    assert_eq!(model.scores(&Dataset::new(SparseRows::from_dense(&z))).unwrap(), votes(&linear()));
    assert_ne!(votes(&"polynomial(degree=3)".parse().unwrap()), votes(&linear()));
}

#[test]
fn far_from_all_examples_the_nearest_are_still_the_nearest() {
    let (x, codes) = clouds(200, 5);
    let data = labelled(&x, &codes);
    // 1 − κ is 1 to rounding from a squared distance of 37/γ on, and κ is zero from about 740/γ on
    let z = Rows::from_vectors(&[[9.0, 0.0, 1.0], [1.0, 14.0, 1.0], [-12.0, 12.0, -12.0]]).unwrap();
    for kernel in ["rbf(gamma=1)", "rbf(gamma=0.7) * 3", "laplacian(gamma=4)", "normalise(rbf(gamma=1))"] {
        let kernel: Formula = kernel.parse().unwrap();
        for weighting in [Weighting::Uniform, Weighting::Distance] {
            let model = Knn { k: 1, weighting }.fit(&kernel, &data).unwrap();
            let scores = model.scores(&Dataset::new(z.clone())).unwrap();
            for (i, row) in scores.chunks_exact(3).enumerate() {
                let city = |j: usize| x.row(j).iter().zip(z.row(i)).map(|(a, b)| (a - b).abs()).sum::<f64>();
                let nearest = if kernel.to_string().contains("laplacian") {
                    (0..200).min_by(|&a, &b| city(a).total_cmp(&city(b))).unwrap()
                } else {
                    sorted(&x, z.row(i), |_| true)[0].1
                };
                assert_eq!(row[codes[nearest]], 1.0, "{kernel} {weighting:?} {i}");
            }
        }
    }
}

#[test]
fn examples_that_are_strangers_to_each_other_are_told() {
    let (x, codes) = clouds(60, 6);
    let data = labelled(&x, &codes);
    let advice = |kernel: Formula| Knn::default().fit(&kernel, &data).unwrap().fitted.report.advice.join("; ");
    assert!(advice(rbf(1e9)).contains("equally far") && advice(rbf(1e9)).contains("wider"), "{}", advice(rbf(1e9)));
    assert!(advice(rbf(1.0)).is_empty() && advice(linear()).is_empty());
}

#[test]
fn ties_go_to_the_first_and_examples_at_distance_zero_decide_alone() {
    let x = Rows::from_vectors(&[[0.0], [1.0], [1.0], [2.0]]).unwrap();
    let data = Dataset::new(x).with_target(Target::from_text("y", &["b", "a", "b", "a"])).unwrap();
    let at = |machine: &Knn, z: f64| {
        let model = machine.fit(&linear(), &data).unwrap();
        let Output::Labels { codes, scores, .. } =
            model.predict(&Dataset::new(Rows::new(vec![z], 1, 1).unwrap())).unwrap()
        else {
            panic!()
        };
        (codes[0], scores)
    };
    // two of each class among four: the first class
    assert_eq!(at(&Knn { k: 4, ..Knn::default() }, 0.1), (0, vec![0.5, 0.5]));
    // two examples are nearest and equally so: the one that comes first
    assert_eq!(at(&Knn { k: 1, ..Knn::default() }, 1.2), (0, vec![1.0, 0.0]));
    // more than there are: all
    assert_eq!(at(&Knn { k: 9, ..Knn::default() }, 0.1), (0, vec![0.5, 0.5]));
    let near = Knn { k: 3, weighting: Weighting::Distance };
    assert_eq!(at(&near, 0.0), (1, vec![0.0, 1.0]));
    assert_eq!(at(&near, 1.0), (0, vec![0.5, 0.5]));
    let (code, scores) = at(&near, 0.5);
    assert!(code == 1 && (scores[0] - 1.0 / 3.0).abs() < 1e-12, "{scores:?}");
}

#[test]
fn what_a_precomputed_matrix_does_not_tell_is_said() {
    let k = Dataset::new(Rows::from_vectors(&[[1.0, 0.1, 0.2], [0.1, 1.0, 0.3], [0.2, 0.3, 1.0]]).unwrap());
    let data = k.with_target(Target::from_text("y", &["a", "b", "b"])).unwrap();
    let new = Dataset::new(Rows::from_vectors(&[[0.9, 0.2, 0.1]]).unwrap());
    let plain = Knn { k: 1, ..Knn::default() }.fit(&precomputed(), &data).unwrap();
    assert_eq!(plain.predict(&new).unwrap().labels(), ["a"]);
    let weighted = Knn { k: 1, weighting: Weighting::Distance }.fit(&precomputed(), &data).unwrap();
    let said = weighted.scores(&new).unwrap_err().to_string();
    assert!(said.contains("weighting = uniform"), "{said}");
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let ((x, codes), (z, _)) = (clouds(1100, 5), clouds(300, 6));
    let data = labelled(&x, &codes);
    let with = |threads: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let machine = Knn { k: 9, weighting: Weighting::Distance };
            let scores = machine.fit(&rbf(0.5), &data).unwrap().scores(&Dataset::new(z.clone())).unwrap();
            scores.iter().map(|s| s.to_bits()).collect::<Vec<_>>()
        })
    };
    let one = with(1);
    assert!(with(2) == one && with(3) == one);
}

/// κ(x, x) that is a number, but twice which is none: what cannot be scored is not fitted.
#[test]
fn what_cannot_be_scored_is_not_fitted() {
    use crate::machines::reduce::EmpiricalMap;
    use crate::prelude::PacBayes;
    let rows = Rows::new((0..20).map(|i| 1.2e154 + f64::from(i) * 1e152).collect(), 20, 1).unwrap();
    let labels: Vec<String> = (0..20).map(|i| (i / 10).to_string()).collect();
    let data = Dataset::new(rows).with_target(Target::from(labels)).unwrap();
    let machines: [Box<dyn Machine>; 3] =
        [Box::new(Knn::default()), Box::new(EmpiricalMap { examples: 0 }), Box::new(PacBayes::default())];
    for machine in machines {
        let name = machine.entry().name;
        if let Ok(model) = crate::job::Job::new(machine.as_ref(), &linear()).run(&data, &crate::watch::Silent) {
            assert!(model.predict(&data).is_ok(), "{name} is fitted and cannot predict");
        }
    }
    assert!(Knn::default().fit(&linear(), &data).is_err());
}
