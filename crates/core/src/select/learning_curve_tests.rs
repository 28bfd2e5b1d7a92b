//! Learning curves against plain cross-validation, and against fits by hand.

use super::*;
use crate::machines;
use crate::metrics::{Metrics, measure};
use crate::prelude::{Fit, Ridge, Schema, SchemaOptions, Svc, rbf};
use crate::select::{Choose, Grid, Search};
use crate::watch::{Progress, Silent};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

fn load(name: &str, n: usize) -> Dataset {
    let table = crate::datasets::load(name, Some(n), Seed(3)).unwrap();
    Schema::learn_and_apply(&table, &SchemaOptions::default()).unwrap().1
}

fn curve<'a>(machine: &str, kernel: &'a Formula, sizes: &'a [usize], repeats: usize) -> LearningCurve<'a> {
    LearningCurve {
        score: None,
        machine: machines::find(machine).unwrap(),
        settings: &[],
        kernel,
        sizes,
        folds: 4,
        repeats,
        budget: Budget::default(),
        seed: Seed(7),
    }
}

#[test]
fn the_largest_size_is_the_plain_cross_validation() {
    for (machine, set, n, grid) in [("svc", "two_moons", 97, "c=1"), ("ridge", "noisy_sinc", 61, "lambda=1")] {
        let (data, kernel) = (load(set, n), rbf(1.0));
        let grid: Grid = grid.parse().unwrap();
        let search = Search {
            score: None,
            machine: machines::find(machine).unwrap(),
            settings: &[],
            kernel: &kernel,
            grid: &grid,
            folds: 4,
            choose: Choose::Best,
            probabilities: None,
            calibration_folds: 0,
            budget: Budget::default(),
            seed: Seed(7),
        };
        let plain = search.run(&data, &Silent).unwrap().candidates.remove(0);
        let settings = plain.point.clone();
        let learned =
            LearningCurve { settings: &settings, ..curve(machine, &kernel, &[], 1) }.run(&data, &Silent).unwrap();
        assert_eq!(learned.points.len(), DEFAULT_SIZES);
        assert_eq!(learned.points[DEFAULT_SIZES - 1].test, plain.folds, "{machine}: bit by bit");
        assert_ne!(learned.points[0].test, plain.folds, "{machine}: fewer examples are not as good");
        assert_eq!(learned.points[DEFAULT_SIZES - 1].size, n - n.div_ceil(4));
    }
}

#[test]
fn a_point_is_a_fit_on_a_part_that_holds_the_smaller_ones() {
    let (data, kernel) = (load("two_moons", 80), rbf(0.5));
    let settings = [("c".to_owned(), Setting::Number(2.0)), ("tolerance".to_owned(), Setting::Number(1e-6))];
    let wanted = LearningCurve { settings: &settings, ..curve("svc", &kernel, &[40, 10], 2) };
    let learned = wanted.run(&data, &Silent).unwrap();
    let parts = wanted.parts(data.target().unwrap(), Learns::Classes, &Silent).unwrap();
    assert_eq!(parts.len(), 8);
    let codes = data.target().unwrap().classes().unwrap().codes;
    for (k, size) in [10, 40].into_iter().enumerate() {
        assert_eq!((learned.points[k].size, learned.points[k].test.len()), (size, 8));
        for (f, part) in parts.iter().enumerate() {
            let train = &part.train[..size];
            let ones = train.iter().filter(|&&i| codes[i] == 1).count();
            assert!((ones as f64 - size as f64 / 2.0).abs() <= 1.5, "{ones} of {size}");
            let mut machine = Svc { c: 2.0, ..Svc::default() };
            machine.effort.tolerance = 1e-6;
            let model = machine.fit(&kernel, &data.select(train)).unwrap();
            for (places, told) in [(&part.test[..], &learned.points[k].test), (train, &learned.points[k].train)] {
                let there = data.select(places);
                let Metrics::Classes(m) = measure(&model.predict(&there).unwrap(), there.target().unwrap()).unwrap()
                else {
                    panic!()
                };
                assert!((m.error - told[f]).abs() < 1e-12, "{} {}", m.error, told[f]);
            }
        }
    }
}

#[test]
fn a_curve_of_numbers_falls_and_is_the_same_for_any_number_of_threads() {
    let (data, kernel) = (load("noisy_sinc", 120), rbf(1.0));
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| curve("ridge", &kernel, &[10, 30, 90], 2).run(&data, &Silent).unwrap().points)
    };
    let one = run(1);
    assert_eq!(one, run(3));
    let mean = |k: usize| mean_and_deviation(&one[k].test).0;
    assert!(mean(2) < mean(0), "{} {}", mean(0), mean(2));
    // oracle for the smallest: a fit by hand
    let wanted = curve("ridge", &kernel, &[10, 30, 90], 2);
    let part = &wanted.parts(data.target().unwrap(), Learns::Numbers, &Silent).unwrap()[0];
    let model = Ridge::default().fit(&kernel, &data.select(&part.train[..10])).unwrap();
    let there = data.select(&part.test);
    let Metrics::Numbers(m) = measure(&model.predict(&there).unwrap(), there.target().unwrap()).unwrap() else {
        panic!()
    };
    assert!((m.rmse - one[0].test[0]).abs() < 1e-9, "{} {}", m.rmse, one[0].test[0]);
}

#[test]
fn mean_and_deviation_by_hand() {
    assert_eq!(mean_and_deviation(&[1.0, 2.0, 6.0]), (3.0, 7.0_f64.sqrt()));
    assert_eq!(mean_and_deviation(&[4.0]), (4.0, 0.0));
}

#[test]
fn what_cannot_be_is_refused_in_words() {
    let (data, kernel) = (load("two_moons", 40), rbf(1.0));
    let told = |c: LearningCurve<'_>| c.run(&data, &Silent).err().unwrap().to_string();
    assert!(told(curve("svc", &kernel, &[10, 31], 1)).contains("a part of 31 examples"));
    assert!(told(curve("svc", &kernel, &[1], 1)).contains("sizes from 2 to 30"));
    assert!(told(curve("svc", &kernel, &[], 0)).contains("0 repeats"));
    assert!(told(curve("one_class", &kernel, &[], 1)).contains("no target"));
    assert!(told(LearningCurve { folds: 1, ..curve("svc", &kernel, &[], 1) }).contains("1 folds"));
}

/// Ends it after so many steps.
struct After(AtomicUsize);

impl Monitor for After {
    fn step(&self, _: &Progress) -> ControlFlow<Stop> {
        let left = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
        if left.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(Stop::Interrupted) }
    }
}

#[test]
fn a_stopped_curve_keeps_the_sizes_that_were_done() {
    let (data, kernel) = (load("two_moons", 200), rbf(1.0));
    let counted = After(AtomicUsize::new(usize::MAX));
    let whole = curve("svc", &kernel, &[], 1).run(&data, &counted).unwrap();
    let steps = usize::MAX - counted.0.load(Ordering::Relaxed);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let part = pool.install(|| curve("svc", &kernel, &[], 1).run(&data, &After(AtomicUsize::new(steps / 2)))).unwrap();
    assert_eq!(part.status, Status::Interrupted);
    assert!(!part.points.is_empty() && part.points.len() < whole.points.len());
    assert_eq!(part.points[..], whole.points[..part.points.len()]);
    assert!(curve("svc", &kernel, &[], 1).run(&data, &After(AtomicUsize::new(0))).is_err());
}
