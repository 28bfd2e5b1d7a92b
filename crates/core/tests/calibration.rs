//! Probabilities from end to end: held-out scores, jobs, files, and what happens when the work is stopped.
#![allow(clippy::unwrap_used, clippy::panic)]

use mercer::calibrate::Method;
use mercer::machines::classify::Strategy;
use mercer::machines::{HeldOutRequest, Learns, Machine, Output, Task};
use mercer::metrics::{Metrics, measure};
use mercer::prelude::*;
use mercer::resample::{folds, held_out_scores};
use mercer::watch::{Monitor, Phase, Progress, Silent, Status, Stop};
use std::ops::ControlFlow;

fn load(set: &str, n: Option<usize>) -> Dataset {
    let table = mercer::datasets::load(set, n, Seed(4)).unwrap();
    Schema::learn_and_apply(&table, &SchemaOptions::default()).unwrap().1
}

fn job(machine: &dyn Machine, kernel: &Formula, method: Method) -> Job {
    Job { probabilities: Some(method), ..Job::new(machine, kernel) }
}

fn task<'a>(kernel: &Formula, data: &'a Dataset, threads: usize) -> Task<'a> {
    Task { target: data.target(), threads, ..Task::new(kernel.training_gram(data).unwrap()) }
}

fn probabilities(output: &Output) -> &[f64] {
    let Output::Labels { probabilities: Some(all), .. } = output else { panic!("there are no probabilities") };
    all
}

/// Every largest probability is that of the label.
fn agrees(output: &Output) {
    let Output::Labels { labels, codes, .. } = output else { panic!() };
    for (row, &code) in probabilities(output).chunks_exact(labels.len()).zip(codes) {
        let first = (0..row.len()).rev().max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap();
        assert_eq!(first, code as usize, "{row:?}");
        assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}

#[test]
fn held_out_scores_are_those_of_fits_by_hand() {
    let (svc, mean) =
        (Svc { effort: Effort { tolerance: 1e-8, ..Effort::default() }, ..Svc::default() }, NearestMean::default());
    for (set, n) in [("banana", Some(60)), ("iris", None)] {
        let data = load(set, n);
        let target = data.target().unwrap();
        let kernel = rbf(0.5);
        for machine in [&svc as &dyn Machine, &mean] {
            let task = task(&kernel, &data, 2);
            let fitted = machine.run(&task, &Silent).unwrap();
            let outputs = fitted.expansion.outputs();
            let parts = folds(target, Learns::Classes, 4, Seed(1)).unwrap();
            let scores = held_out_scores(machine, &task, &fitted, &parts, &Silent).unwrap();
            assert_eq!(scores.len(), data.len() * outputs);
            for fold in &parts {
                let rest: Vec<usize> = (0..data.len()).filter(|i| !fold.contains(i)).collect();
                let model = Job::new(machine, &kernel).run(&data.select(&rest), &Silent).unwrap();
                let wanted = model.scores(&data.select(fold)).unwrap();
                for (&i, row) in fold.iter().zip(wanted.chunks(outputs)) {
                    for (got, wanted) in scores[i * outputs..(i + 1) * outputs].iter().zip(row) {
                        assert!((got - wanted).abs() < 1e-4, "{set}: {got} {wanted}");
                    }
                }
            }
        }
    }
}

#[test]
fn scores_held_out_beside_a_fit_are_near_those_of_whole_fits() {
    // more examples than a small problem has, so that only what is near the margins is solved again
    for (n, c, strategy) in
        [(300, 1.0, Strategy::OneVsOne), (300, 100.0, Strategy::OneVsRest), (9000, 1.0, Strategy::OneVsOne)]
    {
        let data = load("waveform", Some(n));
        let target = data.target().unwrap();
        let with = |threads: usize| task(&rbf(0.02), &data, threads);
        let machine = Svc { c, strategy, ..Svc::default() };
        let parts = folds(target, Learns::Classes, 3, Seed(1)).unwrap();
        let beside = |threads: usize| {
            let asked = Task { held_out: HeldOutRequest::Scores(&parts), ..with(threads) };
            let mut fitted = machine.run(&asked, &Silent).unwrap();
            let held_out = fitted.held_out.take().unwrap();
            (fitted, held_out.scores)
        };
        // two classes: against the other one and for the pair are the same
        let (fitted, scores) = beside(1);
        let bits = |s: &[f64]| s.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&scores), bits(&beside(2).1), "threads change no bit");
        let whole = held_out_scores(&machine, &with(2), &fitted, &parts, &Silent).unwrap();
        let apart: Vec<f64> = scores
            .iter()
            .zip(&whole)
            .filter(|(s, w)| s.is_finite() && w.is_finite())
            .map(|(s, w)| (s - w).abs())
            .collect();
        let mean = apart.iter().sum::<f64>() / apart.len() as f64;
        assert!(apart.len() >= n && mean < 0.02, "{n} examples, C = {c}: {mean} apart in the mean");
    }
}

#[test]
fn scores_of_examples_that_no_fold_held_are_like_those_of_the_folds() {
    let data = load("waveform", Some(3000));
    let target = data.target().unwrap();
    let task = task(&rbf(0.05), &data, 2);
    let machine = Svc { c: 5.0, ..Svc::default() };
    let parts = folds(target, Learns::Classes, 3, Seed(1)).unwrap();
    let held = |folds| {
        let asked = Task { held_out: HeldOutRequest::Scores(folds), ..task.clone() };
        let mut fitted = machine.run(&asked, &Silent).unwrap();
        let held_out = fitted.held_out.take().unwrap();
        (fitted, held_out.scores)
    };
    let (fitted, all) = held(&parts[..]);
    let some = held(&parts[..1]).1;
    let trained = fitted.training_scores;
    let outputs = fitted.expansion.outputs();
    let codes = target.classes().unwrap().codes;
    // how much better each example looks, in the mean, than in scores of whole folds
    let better = |scores: &[f64]| {
        let rest = parts[1..].concat();
        let each = rest.iter().map(|&i| {
            let sign = if codes[i] == 0 { 1.0 } else { -1.0 };
            sign * (scores[i * outputs] - all[i * outputs])
        });
        each.filter(|d| d.is_finite()).sum::<f64>() / rest.len() as f64
    };
    let rosy = trained.map_or(0.0, |t| better(&t));
    assert!(rosy > 0.05, "scores of the training are better than held-out ones: {rosy}");
    assert!(better(&some).abs() < 0.5 * rosy, "{} against {rosy}", better(&some));
}

#[test]
fn every_classifier_has_probabilities_that_agree_and_survive_the_file() {
    let (svc, mean) = (Svc { c: 10.0, ..Svc::default() }, NearestMean::default());
    for (set, n) in [("banana", Some(120)), ("iris", None), ("wine", None)] {
        let data = load(set, n);
        for machine in [&svc as &dyn Machine, &mean] {
            for method in [Method::Platt, Method::Isotonic, Method::Gaussian] {
                let kernel = rbf_scaled();
                let model = job(machine, &kernel, method).run(&data, &Silent).unwrap();
                let plain = Job::new(machine, &kernel).run(&data, &Silent).unwrap();
                let output = model.predict(&data).unwrap();
                agrees(&output);
                assert_eq!(output.labels(), plain.predict(&data).unwrap().labels(), "no label changes");
                let bytes = model.to_bytes().unwrap();
                let read = Model::from_bytes(&bytes, "m").unwrap();
                assert_eq!(read.predict(&data).unwrap(), output);
                assert_eq!(read.fitted().calibration, model.fitted().calibration);
                assert_eq!(read.to_bytes().unwrap(), bytes);
                // a model without has a file without: what was written before there were any is read
                assert!(!String::from_utf8_lossy(&plain.to_bytes().unwrap()).contains("\\\"calibration\\\":"));
                let Metrics::Classes(m) = measure(&output, data.target().unwrap()).unwrap() else { panic!() };
                let found = m.probability.unwrap();
                let worst = f64::from(m.labels.len() as u32).ln();
                assert!(found.log_loss.unwrap() < 0.8 * worst, "{set} {method}: {found:?}");
            }
        }
    }
}

#[test]
fn probabilities_are_near_a_known_truth() {
    // two Gaussian clouds one apart: P(second | x) = 1 / (1 + e^(−2x)) exactly, with x along the line between them
    let n = 1200;
    let mut random = Seed(8).stream("clouds");
    let labels: Vec<String> = (0..n).map(|i| ["left", "right"][i % 2].to_owned()).collect();
    let x: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { -1.0 } else { 1.0 } + random.normal()).collect();
    let data = Dataset::new(Rows::new(x, n, 1).unwrap()).with_target(Target::from(labels)).unwrap();
    let grid: Vec<f64> = (-20..=20).map(|i| f64::from(i) / 10.0).collect();
    let new = Dataset::new(Rows::new(grid.clone(), grid.len(), 1).unwrap());
    for method in [Method::Platt, Method::Isotonic, Method::Gaussian] {
        let machine = Svc { c: 1.0, ..Svc::default() };
        let model = job(&machine, &linear(), method).run(&data, &Silent).unwrap();
        let output = model.predict(&new).unwrap();
        let off: f64 = probabilities(&output)
            .chunks_exact(2)
            .zip(&grid)
            .map(|(p, x)| (p[1] - 1.0 / (1.0 + (-2.0 * x).exp())).abs())
            .sum();
        assert!(off < 0.04 * grid.len() as f64, "{method}: {off}");
    }
}

#[test]
fn small_classes_are_dealt_out_and_single_examples_are_told() {
    let x = Rows::new((0..14).map(f64::from).collect(), 14, 1).unwrap();
    let labels = |rare: usize| -> Vec<String> {
        (0..14).map(|i| if i < rare { "rare" } else { ["a", "b"][i % 2] }.to_owned()).collect()
    };
    let data = |rare: usize| Dataset::new(x.clone()).with_target(Target::from(labels(rare))).unwrap();
    let machine = Svc::default();
    for rare in [2, 3] {
        let model = job(&machine, &rbf(1.0), Method::Platt).run(&data(rare), &Silent).unwrap();
        agrees(&model.predict(&data(rare)).unwrap());
        assert_eq!(model.fitted().calibration.as_ref().unwrap().folds, 3);
    }
    let model = job(&machine, &rbf(1.0), Method::Platt).run(&data(1), &Silent).unwrap();
    let advice = model.fitted().report.advice.join(" ");
    assert!(advice.contains("rare"), "{advice}");
    agrees(&model.predict(&data(1)).unwrap());
    // more folds than examples are as many as there are
    let kernel = rbf(1.0);
    let many = Job { calibration_folds: 20, ..job(&machine, &kernel, Method::Isotonic) };
    let many = many.run(&data(3), &Silent).unwrap();
    assert_eq!(many.fitted().calibration.as_ref().unwrap().folds, 14);
}

#[test]
fn only_classifiers_have_probabilities() {
    let data = load("noisy_sinc", Some(20));
    for machine in [&Ridge::default() as &dyn Machine, &KernelPca::default()] {
        let error = job(machine, &rbf(1.0), Method::Platt).run(&data, &Silent).err().unwrap();
        assert!(error.to_string().contains("probabilities are for machines that predict classes"), "{error}");
    }
}

/// Ends the work at the first step of the calibration.
struct StopsCalibration(Stop);

impl Monitor for StopsCalibration {
    fn step(&self, progress: &Progress) -> ControlFlow<Stop> {
        if progress.phase == Phase::CALIBRATION { ControlFlow::Break(self.0) } else { ControlFlow::Continue(()) }
    }
}

#[test]
fn a_stopped_calibration_keeps_the_model_without_probabilities() {
    let data = load("banana", Some(80));
    let (svc, mean) = (Svc::default(), NearestMean::default());
    for machine in [&svc as &dyn Machine, &mean] {
        for (stop, status) in [(Stop::Interrupted, Status::Interrupted), (Stop::TimeLimit, Status::TimeLimit)] {
            let kernel = rbf(0.5);
            let model = job(machine, &kernel, Method::Platt).run(&data, &StopsCalibration(stop)).unwrap();
            assert!(model.fitted().calibration.is_none());
            assert_eq!(model.fitted().report.status, status);
            assert!(model.fitted().report.fact(mercer::machines::Fact::CalibrationCutShort).is_some());
            let whole = Job::new(machine, &kernel).run(&data, &Silent).unwrap();
            assert_eq!(model.predict(&data).unwrap(), whole.predict(&data).unwrap(), "the fit itself is whole");
        }
    }
}

#[test]
fn the_reliability_diagram_is_drawn_or_says_what_is_missing() {
    let data = load("banana", Some(200));
    let machine = Svc::default();
    let model = job(&machine, &rbf(0.5), Method::Platt).run(&data, &Silent).unwrap();
    let svg = model.reliability_figure(&data, mercer::plot::Theme::Light).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("predicted probability of 1") && !svg.contains("NaN"));
    assert!(model.reliability_figure(&data.clone().without_target(), mercer::plot::Theme::Light).is_err());
    let plain = machine.fit(&rbf(0.5), &data).unwrap();
    let error = plain.reliability_figure(&data, mercer::plot::Theme::Light).unwrap_err().to_string();
    assert!(error.contains("fit it again with --probabilities"), "{error}");
}
