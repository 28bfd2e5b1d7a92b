//! Laws of prepared sides: training examples that are prepared once give the bits of those that are prepared for each
//! question, whatever else they met before, and a predictor gives the bits of its model.

#![allow(clippy::unwrap_used, clippy::panic)]

use crate::support::{self, samples, show, text, values, variants};
use mercer::data::{Dataset, Rows, SparseRows, Target, Values, View};
use mercer::formula::Formula;
use mercer::job::Fit;
use mercer::kernels::{self, KernelError, Leaf, Prepared};
use mercer::machines::{self, Machine};
use mercer::params::{Setting, assign};
use std::sync::Arc;

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|v| v.to_bits()).collect()
}

fn side(leaf: &dyn Leaf, values: &Values, like: Option<&Arc<dyn Prepared>>) -> Arc<dyn Prepared> {
    leaf.prepare(values, like).unwrap_or_else(|e| panic!("{}: {e}", show(leaf)))
}

#[test]
fn a_side_that_is_kept_gives_the_bits_of_a_new_one_for_every_kernel() {
    for entry in kernels::all() {
        for sample in samples(entry, 12, 40) {
            for leaf in variants(entry, &sample.training, 1) {
                let leaf = leaf.as_ref();
                let training = side(leaf, &sample.training, None);
                // others first, in any form: whatever they leave behind must not be seen
                let few = side(leaf, &sample.new.select(&[3, 3, 1]), Some(&training));
                let _ = values(leaf.gram_between(&few, &training).unwrap().as_ref());
                let _ = leaf.gram_between(&training, &training).unwrap().row_group();
                let new = side(leaf, &sample.new, Some(&training));
                let kept = leaf.gram_between(&new, &training).unwrap();
                let fresh = leaf.gram(&sample.new, &sample.training, false).unwrap();
                let context = format!("{} {}", show(leaf), sample.name);
                assert_eq!(bits(&values(kept.as_ref())), bits(&values(fresh.as_ref())), "{context}");
                let square = leaf.gram_between(&training, &training).unwrap();
                let alone = leaf.gram(&sample.training, &sample.training, true).unwrap();
                assert_eq!(bits(&values(square.as_ref())), bits(&values(alone.as_ref())), "{context}");
                assert_eq!(square.is_symmetric(), alone.is_symmetric());
                let own = leaf.self_similarities(&training).unwrap();
                assert_eq!(own, alone.self_similarities(mercer::gram::Side::Rows), "{context}");
            }
        }
    }
}

#[test]
fn a_part_of_a_side_is_the_part_of_its_matrix() {
    let (rows, cols) = ([5, 0, 5, 11], [39, 2, 17, 17, 8]);
    for entry in kernels::all() {
        for sample in samples(entry, 12, 40) {
            for leaf in variants(entry, &sample.training, 1) {
                let leaf = leaf.as_ref();
                let training = side(leaf, &sample.training, None);
                let new = side(leaf, &sample.new, Some(&training));
                let whole = leaf.gram_between(&new, &training).unwrap();
                let (left, right) = (Arc::clone(&new).select(&rows), Arc::clone(&training).select(&cols));
                assert_eq!((left.len(), right.len()), (4, 5));
                let part = leaf.gram_between(&left, &right).unwrap();
                let wanted = whole.restrict(&rows, &cols);
                let context = format!("{} {}", show(leaf), sample.name);
                assert_eq!(bits(&values(part.as_ref())), bits(&values(wanted.as_ref())), "{context}");
                // new examples may be prepared like a part
                let again = side(leaf, &sample.new, Some(&right));
                let again = leaf.gram_between(&again.select(&rows), &right).unwrap();
                assert_eq!(bits(&values(again.as_ref())), bits(&values(part.as_ref())), "{context}");
            }
        }
    }
}

#[test]
fn sides_of_another_kernel_are_refused() {
    let x = Values::from(support::dense(kernels::Domain::Any, 5, 3, 0.0));
    let strings = Values::from(text(5, 1));
    let make = |name: &str| (kernels::find(name).unwrap().make)();
    for (name, other, values, theirs) in [
        ("linear", "spectrum", &x, &strings),
        ("spectrum", "mismatch", &strings, &strings),
        ("noise", "rank_one", &x, &x),
        ("subsequence", "weighted_degree", &strings, &strings),
    ] {
        let (leaf, other) = (make(name), make(other));
        let (own, theirs) = (leaf.prepare(values, None).unwrap(), other.prepare(theirs, None).unwrap());
        assert_eq!(leaf.gram_between(&own, &theirs).err(), Some(KernelError::Side { kernel: name }));
        if !["noise"].contains(&name) {
            // two training sides number their examples in their own ways
            let second = leaf.prepare(values, None).unwrap();
            let met = leaf.gram_between(&own, &second);
            assert!(name == "subsequence" || met.err() == Some(KernelError::Side { kernel: name }), "{name}");
        }
    }
}

/// Numbers and strings with two classes and a target, and new ones of the same kind.
fn data(n: usize, seed: u64) -> Dataset {
    let mut random = mercer::seed::Seed(seed).stream("sides");
    let x: Vec<f64> = (0..n * 3).map(|_| random.normal()).collect();
    let sparse = SparseRows::from_dense(&support::dense(kernels::Domain::NonNegative, n, 6, 0.6));
    let views = vec![
        View { name: "x".to_owned(), values: Rows::new(x.clone(), n, 3).unwrap().into() },
        View { name: "s".to_owned(), values: text(n, seed).into() },
        View { name: "w".to_owned(), values: sparse.into() },
    ];
    let y = (0..n).map(|i| f64::from(x[3 * i] + 0.3 * x[3 * i + 1] > 0.0)).collect();
    Dataset::from_views(views).unwrap().with_target(Target::from_numbers("y", y)).unwrap()
}

const FORMULAS: &[&str] = &[
    "rbf(gamma=0.5)@x",
    "linear@w + 0.5*laplacian(gamma=0.3)@x",
    "normalise(spectrum(length=2)@s)",
    "normalise(mismatch(length=2, mismatches=1)@s) * rbf(gamma=0.2)@x",
    "centre(rbf(gamma=0.5)@x)",
    "normalise(centre(blended_spectrum(length=3)@s))",
    "rbf(bag_of_words@s, gamma=0.1) + noise(variance=0.1)@x",
    "set(spectrum(length=2)@s, separator=\" \") + 1",
    "normalise(set(rbf(gamma=1)@x, columns=1))",
    "exp(0.1*polynomial(degree=2, gamma=1, offset=1)@x)",
    "weighted_degree_shifts(degree=3, shift=1)@s + subsequence(length=2)@s",
];

fn machine(name: &str, settings: &[(&str, f64)]) -> Box<dyn Machine> {
    let mut machine = (machines::find(name).unwrap().make)();
    for (key, value) in settings {
        assign(name, machine.as_mut(), key, &Setting::Number(*value)).unwrap();
    }
    machine
}

#[test]
fn a_predictor_gives_the_bits_of_its_model_for_every_batch() {
    let (training, new) = (data(60, 1), data(25, 2));
    for formula in FORMULAS {
        let kernel: Formula = formula.parse().unwrap();
        for (name, settings) in
            [("svc", &[("c", 1.0)][..]), ("ridge", &[("lambda", 0.1)]), ("knn", &[("k", 3.0)]), ("one_class", &[])]
        {
            let machine = machine(name, settings);
            let model = mercer::job::Job::new(machine.as_ref(), &kernel)
                .run(&training, &mercer::watch::Silent)
                .unwrap_or_else(|e| panic!("{name} {formula}: {e}"));
            let predictor = model.clone().predictor();
            for batch in [vec![7], (0..25).collect(), vec![24, 0, 24], vec![7]] {
                let some = new.select(&batch);
                let (got, wanted) = (predictor.scores(&some).unwrap(), model.scores(&some).unwrap());
                assert_eq!(bits(&got), bits(&wanted), "{name} {formula}");
                assert_eq!(predictor.predict(&some).unwrap().labels(), model.predict(&some).unwrap().labels());
            }
        }
    }
}

#[test]
fn a_predictor_of_a_precomputed_matrix_gives_the_bits_of_its_model() {
    let x = support::dense(kernels::Domain::Any, 30, 3, 0.0);
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let matrix = |rows: std::ops::Range<usize>| {
        let all = rows.clone().flat_map(|i| (0..20).map(move |j| (i, j))).map(|(i, j)| product(x.row(i), x.row(j)));
        Dataset::new(Rows::new(all.collect(), rows.len(), 20).unwrap())
    };
    let y = (0..20).map(|i| f64::from(x.row(i)[0] > 0.0)).collect();
    let training = matrix(0..20).with_target(Target::from_numbers("y", y)).unwrap();
    let kernel: Formula = "precomputed".parse().unwrap();
    let model = mercer::machines::classify::Svc::default().fit(&kernel, &training).unwrap();
    let predictor = model.clone().predictor();
    for rows in [20..30, 21..22] {
        let new = matrix(rows);
        assert_eq!(bits(&predictor.scores(&new).unwrap()), bits(&model.scores(&new).unwrap()));
    }
    assert!(predictor.scores(&Dataset::new(Rows::new(vec![0.5; 6], 2, 3).unwrap())).is_err());
}
