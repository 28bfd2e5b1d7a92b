//! Laws of scales: kernels of distances on neighbours that are far from all others, compared with the width of the kernel. Products
//! lose all digits of such distances, and differences none.

#![allow(clippy::unwrap_used, clippy::panic)]

use crate::support::{values, values32};
use mercer::data::{Dataset, Rows, SparseRows, Target, Values};
use mercer::formula::Formula;
use mercer::kernels::{self, Leaf};
use mercer::machines;
use mercer::params::{Setting, assign};
use mercer::prelude::*;
use mercer::watch::Silent;

/// Groups of a few neighbours, about one apart, around centres that are about so far apart; some meet exactly.
fn groups(n: usize, d: usize, spread: f64, offset: f64, seed: u64) -> Rows<f64> {
    let (mut centres, mut near) = (Seed(3).stream("centres"), Seed(seed).stream("neighbours"));
    let centres: Vec<f64> = (0..8 * d).map(|_| offset + spread * centres.normal()).collect();
    let mut points: Vec<f64> = Vec::new();
    for i in 0..n {
        let centre = &centres[(i % 8) * d..][..d];
        points.extend(centre.iter().map(|c| if i % 5 == 0 { *c } else { c + 0.3 * near.normal() }));
    }
    Rows::new(points, n, d).unwrap()
}

/// Radial kernels whose width is about one.
fn of_width_one() -> Vec<Box<dyn Leaf>> {
    let make = |name: &str, settings: &[(&str, f64)]| {
        let mut leaf = (kernels::find(name).unwrap().make)();
        for (key, value) in settings {
            assign(name, leaf.as_mut(), key, &Setting::Number(*value)).unwrap();
        }
        leaf
    };
    let mut all = vec![make("rbf", &[("gamma", 1.0)]), make("cauchy", &[]), make("inverse_multiquadric", &[])];
    all.extend([0.5, 1.0, 1.5, 2.5].map(|nu| make("matern", &[("nu", nu), ("length", 1.0)])));
    all.push(make("rational_quadratic", &[("alpha", 0.7), ("length", 1.0)]));
    all.push(make("ard", &[("lengths", 1.0)]));
    all
}

/// Vectors in every form, at a precision that tells neighbours apart.
fn forms(training: &Rows<f64>, new: &Rows<f64>, single: bool) -> Vec<(&'static str, Values, Values)> {
    let thin = |rows: &Rows<f64>| SparseRows::from_dense(rows);
    let mut all = vec![
        ("dense", Values::from(training.clone()), Values::from(new.clone())),
        ("sparse", thin(training).into(), thin(new).into()),
    ];
    if single {
        all.push(("dense f32", training.convert::<f32>().into(), new.convert::<f32>().into()));
        all.push(("sparse f32", thin(training).convert::<f32>().into(), thin(new).convert::<f32>().into()));
    }
    all
}

#[test]
fn neighbours_far_from_all_others_have_the_value_of_the_definition() {
    // the largest spread at which the numbers themselves still tell neighbours apart
    for (spread, offset, single) in
        [(1.0, 0.0, true), (1e2, 1e3, true), (1e3, 0.0, true), (1e4, 0.0, false), (1e6, 1e6, false), (1e7, 0.0, false)]
    {
        for d in [1, 3, 20] {
            let (training, new) = (groups(45, d, spread, offset, 1), groups(20, d, spread, offset, 2));
            for (form, training, new) in forms(&training, &new, single) {
                for leaf in of_width_one() {
                    let context =
                        format!("{} {form}, d = {d}, spread {spread:e}, offset {offset:e}", leaf.entry().name);
                    let cross = leaf.gram(&new, &training, false).unwrap();
                    let own = leaf.gram(&training, &training, true).unwrap();
                    for (rows, gram) in [(&new, cross), (&training, own)] {
                        let (wide, narrow) = (values(gram.as_ref()), values32(gram.as_ref()));
                        let mut row = vec![0.0_f32; 45];
                        for i in 0..rows.len() {
                            gram.row32(i, 0..45, &mut row);
                            for j in 0..45 {
                                let (got, wanted) = (wide[i * 45 + j], leaf.eval(rows, i, &training, j));
                                assert!((got - wanted).abs() <= 4e-6, "{context}: {got} at {i}, {j}, not {wanted}");
                                if single {
                                    for got in [narrow[i * 45 + j], row[j]] {
                                        let off = (f64::from(got) - wanted).abs();
                                        assert!(off <= 0.1, "{context}: {got} in f32 at {i}, {j}, not {wanted}");
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn one_example_alone_has_the_scores_that_it_has_in_a_batch_at_every_scale() {
    for (spread, offset) in [(1.0, 0.0), (1e3, 1e5), (1e5, 0.0), (1e7, 1e7)] {
        for sparse in [false, true] {
            let make = |n, seed| {
                let rows = groups(n, 4, spread, offset, seed);
                let values: Values = if sparse { SparseRows::from_dense(&rows).into() } else { rows.into() };
                Dataset::new(values)
            };
            let numbers: Vec<f64> = (0..60).map(|i| f64::from(i % 7) - 3.0).collect();
            let labels: Vec<String> = (0..60).map(|i| ["a", "b"][usize::from(i % 3 == 0)].to_owned()).collect();
            for (machine, target) in [
                ("ridge(lambda=0.1)", Target::from(numbers.clone())),
                ("svc(c=1)", Target::from(labels.clone())),
                ("knn(k=3)", Target::from(labels)),
            ] {
                let machine = machines::parse(machine).unwrap();
                let kernel: Formula = "rbf(gamma=1) + 0.5*matern(nu=0.5, length=1)".parse().unwrap();
                let training = make(60, 1).with_target(target).unwrap();
                let job = Job { settings: machine.settings.clone(), ..Job::of(machine.entry, kernel) };
                let model = job.run(&training, &Silent).unwrap();
                let new = make(70, 2);
                let batch = model.scores(&new).unwrap();
                let outputs = batch.len() / 70;
                let room = 1e-5 * (1.0 + batch.iter().fold(0.0_f64, |most, s| most.max(s.abs())));
                for i in 0..70 {
                    let alone = model.scores(&new.select(&[i])).unwrap();
                    for (a, b) in alone.iter().zip(&batch[i * outputs..]) {
                        assert!((a - b).abs() <= room, "{machine} at spread {spread:e}: {a} alone, {b} in a batch");
                    }
                }
            }
        }
    }
}
