//! AdaBoost against its theorems and a word-for-word loop.

use super::super::RbfNetwork;
use super::*;
use crate::data::{Dataset, Rows, Target};
use crate::formula::{linear, rbf};
use crate::job::Fit;
use crate::watch::Silent;
use std::ops::ControlFlow;

/// Two noisy classes in two coordinates.
fn noisy(n: usize, seed: u64) -> (Rows<f64>, Vec<f64>) {
    let mut random = Seed(seed).stream("noisy");
    let x: Vec<f64> = (0..n * 2).map(|_| (random.normal() * 8.0).round() / 8.0).collect();
    let flip = |random: &mut crate::seed::Random| if random.uniform() < 0.1 { -1.0 } else { 1.0 };
    let signs = (0..n).map(|i| if x[2 * i] * x[2 * i] + x[2 * i + 1] > 0.7 { 1.0 } else { -1.0 } * flip(&mut random));
    let signs = signs.collect();
    (Rows::new(x, n, 2).unwrap(), signs)
}

/// +1 is the first class.
fn labelled(x: &Rows<f64>, signs: &[f64]) -> Dataset {
    let labels: Vec<&str> = signs.iter().map(|&s| if s > 0.0 { "a" } else { "b" }).collect();
    Dataset::new(x.clone()).with_target(Target::from_text("y", &labels)).unwrap()
}

fn note(model: &crate::model::Model, name: &str) -> f64 {
    model.fitted.report.notes.iter().find(|(n, _)| n == name).unwrap().1
}

#[test]
fn scores_are_those_of_the_algorithm_word_for_word() {
    let (x, signs) = noisy(90, 1);
    let rounds = 25;
    let model = AdaBoost { rounds, ..AdaBoost::default() }.fit(&linear(), &labelled(&x, &signs)).unwrap();
    let scores = model.scores(&Dataset::new(x.clone())).unwrap();
    // every stump between two values of a coordinate or the same for all, by brute force
    let n = signs.len();
    let (mut weights, mut sums, mut total) = (vec![1.0 / n as f64; n], vec![0.0; n], 0.0);
    let mut bound = 1.0;
    for _ in 0..rounds {
        let mut best = (f64::INFINITY, vec![0.0; n]);
        let mut take = |says: Vec<f64>| {
            let error: f64 = (0..n).filter(|&i| says[i] != signs[i]).map(|i| weights[i]).sum();
            if error < best.0 - 5e-13 {
                best = (error, says);
            }
        };
        let total_edge: f64 = (0..n).map(|i| weights[i] * signs[i]).sum();
        take(vec![if total_edge < 0.0 { -1.0 } else { 1.0 }; n]);
        for j in 0..2 {
            let mut values: Vec<f64> = (0..n).map(|i| x.row(i)[j]).collect();
            values.sort_by(f64::total_cmp);
            values.dedup();
            for v in &values[..values.len() - 1] {
                for sign in [1.0, -1.0] {
                    take((0..n).map(|i| if x.row(i)[j] > *v { sign } else { -sign }).collect());
                }
            }
        }
        let (error, says) = best;
        let b = 0.5 * ((1.0 - error) / error).ln();
        total += b;
        bound *= 2.0 * (error * (1.0 - error)).sqrt();
        for i in 0..n {
            sums[i] += b * says[i];
            weights[i] *= (-b * signs[i] * says[i]).exp();
        }
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|w| *w /= sum);
    }
    for i in 0..n {
        assert!((scores[i] - sums[i] / total).abs() < 1e-9, "{i}: {} {}", scores[i], sums[i] / total);
    }
    assert!((note(&model, "error_bound") - bound).abs() < 1e-9);
    let smallest = (0..n).map(|i| signs[i] * sums[i] / total).fold(f64::INFINITY, f64::min);
    assert!((note(&model, "smallest_margin") - smallest).abs() < 1e-9);
    assert_eq!(model.fitted.report.iterations, rounds);
}

#[test]
fn half_of_the_weight_moves_to_what_was_wrong_and_the_bound_holds() {
    let (x, signs) = noisy(200, 2);
    for rounds in [1, 5, 40, 150] {
        let model = AdaBoost { rounds, ..AdaBoost::default() }.fit(&linear(), &labelled(&x, &signs)).unwrap();
        let scores = model.scores(&Dataset::new(x.clone())).unwrap();
        let wrong = scores.iter().zip(&signs).filter(|(f, y)| *f * *y <= 0.0).count() as f64 / 200.0;
        let bound = note(&model, "error_bound");
        assert!(wrong <= bound + 1e-12 && bound < 1.0, "{rounds}: {wrong} {bound}");
    }
    let prior = vec![1.0 / 200.0; 200];
    let mut state = State::new(&prior, &AdaBoost::default());
    let right: Vec<f64> = (0..200).map(|i| if i % 7 == 0 { -1.0 } else { 1.0 }).collect();
    let error: f64 = 29.0 / 200.0;
    let b = state.coefficient(error, &right).unwrap();
    state.add(b, &right);
    let moved: f64 = (0..200).step_by(7).map(|i| state.weights[i]).sum();
    assert!((moved - 0.5).abs() < 1e-12, "{moved}");
    assert_eq!(state.coefficient(0.5, &right), None);
}

#[test]
fn soft_margins_become_hard_ones_and_the_line_search_ends_at_a_minimum() {
    let (x, signs) = noisy(150, 3);
    let data = labelled(&x, &signs);
    let fit = |regularisation: f64, power: f64| {
        let machine = AdaBoost { rounds: 30, regularisation, power, ..AdaBoost::default() };
        machine.fit(&linear(), &data).unwrap().scores(&Dataset::new(x.clone())).unwrap()
    };
    // the line search alone, where the price is next to nothing
    let (hard, nearly) = (fit(0.0, 1.0), fit(1e-12, 1.0));
    assert!(hard.iter().zip(&nearly).all(|(a, b)| (a - b).abs() < 1e-5));
    let soft = fit(15.0, 1.0);
    assert!(hard.iter().zip(&soft).any(|(a, b)| (a - b).abs() > 1e-2));
    for power in [0.5, 1.0, 2.0] {
        // a third of a margin for an example of mean weight
        let price = 60.0_f64.powf(power) / 3.0;
        let machine = AdaBoost { regularisation: price, power, ..AdaBoost::default() };
        let prior: Vec<f64> = (0..60).map(|i| f64::from(1 + i % 3) / 120.0).collect();
        let mut state = State::new(&prior, &machine);
        for round in 0..4_usize {
            let right: Vec<f64> = (0..60).map(|i| if (i * (round + 2)) % 7 == 0 { -1.0 } else { 1.0 }).collect();
            let error: f64 = state.weights.iter().zip(&right).filter(|(_, r)| **r < 0.0).map(|(w, _)| w).sum();
            let Some(b) = state.coefficient(error, &right) else { continue };
            // Σ v exp(−(B + b)(ρ + C μ^p)) from the definition
            let value = |b: f64| {
                let total = state.total + b;
                (0..60)
                    .map(|i| {
                        let margin = (state.sums[i] + b * right[i]) / total;
                        let mean = (state.influence[i] + b * state.weights[i]) / total;
                        prior[i] * (-total * (margin + price * mean.powf(power))).exp()
                    })
                    .sum::<f64>()
            };
            assert!(b < MAX_COEFFICIENT, "{power} {round}");
            for other in [0.5 * b, 0.99 * b, 1.01 * b, 2.0 * b, 5.0] {
                assert!(value(b) <= value(other) * (1.0 + 1e-9), "{power} {round}: {b} {other}");
            }
            state.add(b, &right);
            let sum: f64 = state.weights.iter().sum();
            assert!((sum - 1.0).abs() < 1e-12);
        }
        assert!(state.total > 0.0);
    }
}

#[test]
fn a_weight_of_two_is_an_example_twice() {
    let (x, signs) = noisy(80, 4);
    let weights: Vec<f64> = (0..80).map(|i| f64::from(i % 3)).collect();
    let places: Vec<usize> = (0..80).flat_map(|i| vec![i; i % 3]).collect();
    let twice = labelled(&x, &signs).select(&places);
    let weighted = labelled(&x, &signs).with_weights(weights).unwrap();
    let machine = AdaBoost { rounds: 20, ..AdaBoost::default() };
    let scores = |data: &Dataset| machine.fit(&linear(), data).unwrap().scores(&Dataset::new(x.clone())).unwrap();
    assert!(scores(&twice).iter().zip(scores(&weighted)).all(|(a, b)| (a - b).abs() < 1e-9));
}

#[test]
fn networks_and_several_classes_are_boosted_too() {
    let (x, signs) = noisy(120, 5);
    let net = NetOptions { centres: 4, steps: 2, ..NetOptions::default() };
    let machine = AdaBoost { rounds: 10, learner: Learner::RbfNetwork, net, ..AdaBoost::default() };
    let model = machine.fit(&linear(), &labelled(&x, &signs)).unwrap();
    let scores = model.scores(&Dataset::new(x.clone())).unwrap();
    let wrong = scores.iter().zip(&signs).filter(|(f, y)| *f * *y <= 0.0).count() as f64 / 120.0;
    assert!(wrong <= note(&model, "error_bound") + 1e-12 && wrong < 0.25, "{wrong}");
    assert!(scores.iter().all(|s| s.abs() <= 1.0 + 1e-12));
    let three: Vec<String> = (0..120).map(|i| ["p", "q", "r"][(x.row(i)[0] + 5.0) as usize % 3].to_owned()).collect();
    let data = Dataset::new(x.clone()).with_target(Target::from(three.clone())).unwrap();
    let model = AdaBoost::default().fit(&linear(), &data).unwrap();
    let labels = model.predict(&Dataset::new(x)).unwrap();
    let right = labels.labels().iter().zip(&three).filter(|(a, b)| **a == b.as_str()).count();
    assert!(right >= 108, "{right} of 120: classes are stretches of a coordinate");
    assert_eq!(model.fitted.report.iterations_of_each.len(), 3);
}

#[test]
fn a_first_network_that_is_worse_than_chance_gives_way_to_the_heavier_class() {
    // one bump in the middle: least squares follow the rings of one sign and miss more than half of the examples
    let rings = [(2.0, 1.0, 12), (1.0, -1.0, 10), (0.0, 1.0, 6)];
    let each = rings.iter().flat_map(|&(radius, sign, count)| (0..count).map(move |i| (radius, sign, i)));
    let (x, signs): (Vec<[f64; 1]>, Vec<f64>) =
        each.map(|(radius, sign, i)| ([if i % 2 == 0 { radius } else { -radius }], sign)).unzip();
    let data = labelled(&Rows::from_vectors(&x).unwrap(), &signs);
    let net = NetOptions { centres: 1, steps: 0, ..NetOptions::default() };
    let network = RbfNetwork { net }.fit(&linear(), &data).unwrap().scores(&data).unwrap();
    let missed = network.iter().zip(&signs).filter(|(f, y)| *f * *y <= 0.0).count();
    assert_eq!(missed, 16, "of 28");
    let machine = AdaBoost { rounds: 1, learner: Learner::RbfNetwork, net, ..AdaBoost::default() };
    let model = machine.fit(&linear(), &data).unwrap();
    assert_eq!(model.scores(&data).unwrap(), vec![1.0; 28]);
}

#[test]
fn what_cannot_be_boosted_is_said() {
    // every stump is right on half
    let x = Rows::from_vectors(&[[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]).unwrap();
    let said = AdaBoost::default().fit(&linear(), &labelled(&x, &[1.0, 1.0, -1.0, -1.0])).unwrap_err().to_string();
    assert!(said.contains("better than chance"), "{said}");
    let said = AdaBoost::default().fit(&rbf(1.0), &labelled(&x, &[1.0, 1.0, -1.0, -1.0])).unwrap_err().to_string();
    assert!(said.contains("explicit features") && said.contains("svc"), "{said}");
    let zeros = Rows::new(vec![0.0; 8], 4, 2).unwrap();
    let sparse = Dataset::new(crate::data::SparseRows::from_dense(&zeros));
    let data = sparse.with_target(Target::from_text("y", &["a", "b", "a", "b"])).unwrap();
    let said = AdaBoost::default().fit(&linear(), &data).unwrap_err().to_string();
    assert!(said.contains("not zero"), "{said}");
    // one coordinate tells all: one stump, alone
    let model = AdaBoost::default().fit(&linear(), &labelled(&x, &[1.0, -1.0, 1.0, -1.0])).unwrap();
    assert_eq!(
        (model.fitted.report.iterations, model.scores(&Dataset::new(x)).unwrap()),
        (1, vec![1.0, -1.0, 1.0, -1.0])
    );
}

#[test]
fn stopped_in_the_middle_the_rounds_so_far_are_kept() {
    struct After(std::sync::atomic::AtomicUsize);
    impl Monitor for After {
        fn step(&self, _: &Progress) -> ControlFlow<crate::watch::Stop> {
            if self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed) < 7 {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(crate::watch::Stop::Interrupted)
            }
        }
    }
    let (x, signs) = noisy(100, 6);
    let (machine, kernel, data) = (AdaBoost::default(), linear(), labelled(&x, &signs));
    let job = crate::job::Job::new(&machine, &kernel);
    let model = job.run(&data, &After(std::sync::atomic::AtomicUsize::new(0))).unwrap();
    assert_eq!((model.fitted.report.status, model.fitted.report.iterations), (Status::Interrupted, 7));
    let seven = AdaBoost { rounds: 7, ..AdaBoost::default() };
    let whole = crate::job::Job::new(&seven, &kernel).run(&data, &Silent).unwrap();
    assert_eq!(model.scores(&data).unwrap(), whole.scores(&data).unwrap());
}
