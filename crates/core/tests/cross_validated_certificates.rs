//! The error of cross-validation beside certificates: that of fits by hand, and refused where it would be of something else.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used)]

use mercer::certify::{CrossValidated, Options, part};
use mercer::machines::{Learns, Machine, Output};
use mercer::prelude::*;
use mercer::select::folds;
use mercer::watch::Silent;

/// Three Gaussians in the plane, as classes, and a wave of the first coordinate, as numbers.
fn examples(n: usize, seed: u64) -> (Dataset, Dataset) {
    let mut random = Seed(seed).stream("examples");
    let (mut x, mut names, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..n {
        let at = [random.normal() + 1.5 * (i % 3) as f64, random.normal()];
        names.push(["c", "a", "b"][i % 3]);
        numbers.push(at[0].sin() + 0.1 * random.normal());
        x.extend(at);
    }
    let bare = || Dataset::new(Rows::new(x.clone(), n, 2).unwrap());
    let classes = bare().with_target(Target::from_text("y", &names)).unwrap();
    (classes, bare().with_target(Target::from_numbers("y", numbers)).unwrap())
}

fn crossed(model: &Model, data: &Dataset, folds: usize) -> Result<CrossValidated, mercer::Error> {
    let options = Options { folds: Some(folds), ..Options::default() };
    model.certify(data, &options, &Silent).map(|found| found.cross_validated.unwrap())
}

/// The share of wrong predictions of models that are fitted without a part, and the share in each part.
fn by_hand(
    parts: &[Vec<usize>],
    data: &Dataset,
    fit: impl Fn(&Dataset) -> Model,
    wrong: impl Fn(&Output, &Dataset) -> usize,
) -> (f64, Vec<f64>) {
    let errors: Vec<usize> = parts
        .iter()
        .map(|part| {
            let rest: Vec<usize> = (0..data.len()).filter(|i| !part.contains(i)).collect();
            let held_out = data.select(part);
            wrong(&fit(&data.select(&rest)).predict(&held_out).unwrap(), &held_out)
        })
        .collect();
    let shares = errors.iter().zip(parts).map(|(e, part)| *e as f64 / part.len() as f64).collect();
    (errors.iter().sum::<usize>() as f64 / data.len() as f64, shares)
}

fn other_labels(output: &Output, data: &Dataset) -> usize {
    let Output::Labels { labels, codes, .. } = output else { panic!("labels") };
    let truth = data.target().unwrap().classes().unwrap();
    let told = codes.iter().map(|&c| &labels[c as usize]);
    told.zip(&truth.codes).filter(|(told, c)| **told != truth.labels[**c as usize]).count()
}

#[test]
fn the_error_is_that_of_fits_by_hand() {
    let (data, _) = examples(91, 1);
    let mut machine = Svc { c: 2.0, ..Svc::default() };
    machine.effort.tolerance = 1e-8;
    let kernel = rbf(0.4);
    let model = machine.fit(&kernel, &data).unwrap();
    let parts = folds(data.target().unwrap(), Learns::Classes, 4, Seed(0)).unwrap();
    let found = crossed(&model, &data, 4).unwrap();
    let (error, shares) = by_hand(&parts, &data, |rest| machine.fit(&kernel, rest).unwrap(), other_labels);
    assert_eq!((found.error, found.folds), (error, 4));
    assert!(error > 0.05, "there is something to be estimated: {error}");
    let mean = shares.iter().sum::<f64>() / 4.0;
    let spread = (shares.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / 12.0).sqrt();
    assert!((found.spread - spread).abs() < 1e-15);
    // one at a time
    let alone: Vec<Vec<usize>> = (0..data.len()).map(|i| vec![i]).collect();
    let (error, _) = by_hand(&alone, &data, |rest| machine.fit(&kernel, rest).unwrap(), other_labels);
    let found = crossed(&model, &data, 0).unwrap();
    assert_eq!((found.error, found.folds), (error, data.len()));
}

#[test]
fn misses_of_a_tube_are_counted() {
    let (_, data) = examples(80, 2);
    let epsilon = 0.15;
    let mut machine = Svr { c: 5.0, epsilon, ..Svr::default() };
    machine.effort.tolerance = 1e-8;
    let kernel = rbf(0.5);
    let model = machine.fit(&kernel, &data).unwrap();
    let parts = folds(data.target().unwrap(), Learns::Numbers, 5, Seed(0)).unwrap();
    let outside = |output: &Output, data: &Dataset| {
        let Output::Values { values, .. } = output else { panic!("values") };
        let truth = data.target().unwrap().numbers().unwrap().values;
        values.iter().zip(&truth).filter(|(f, y)| (*f - *y).abs() > epsilon).count()
    };
    let (error, _) = by_hand(&parts, &data, |rest| machine.fit(&kernel, rest).unwrap(), outside);
    let found = crossed(&model, &data, 5).unwrap();
    assert!(error > 0.0 && found.error == error, "{} {error}", found.error);
}

#[test]
fn it_is_told_and_drawn_as_an_estimate() {
    let (data, _) = examples(60, 3);
    let model = Svc::default().fit(&rbf(0.4), &data).unwrap();
    let (fresh, _) = examples(40, 5);
    let options = Options { folds: Some(3), held_out: Some(&fresh), ..Options::default() };
    let found = model.certify(&data, &options, &Silent).unwrap();
    let told = found.summary().into_iter().find(|(name, _)| *name == "cross-validated error").unwrap().1;
    assert!(told.contains("in 3 folds: an estimate, not a guarantee"), "{told}");
    let svg = found.figure("svc", &[], mercer::plot::Theme::Light);
    let error = found.cross_validated.unwrap().error;
    for line in [
        format!(">cross-validated error (an estimate) {error:.4}<"),
        ">training error ".into(),
        ">held-out error ".into(),
    ] {
        assert!(svg.contains(&line), "{line}");
    }
    let without = model.certify(&data, &Options::default(), &Silent).unwrap();
    assert!(without.cross_validated.is_none());
    assert!(!without.figure("svc", &[], mercer::plot::Theme::Light).contains("cross-valid"));
}

#[test]
fn what_folds_cannot_judge_is_refused() {
    let (data, numbers) = examples(60, 4);
    let said = |model: &Model, data: &Dataset, folds| crossed(model, data, folds).unwrap_err().to_string();
    let plain = Svc::default().fit(&rbf(0.4), &data).unwrap();
    assert!(said(&plain, &data, 1).contains("folds") && said(&plain, &data, 61).contains("folds"));
    let heavy = data.clone().with_weights((0..60).map(|i| 1.0 + f64::from(i % 2)).collect()).unwrap();
    let weighted = Svc::default().fit(&rbf(0.4), &heavy).unwrap();
    assert!(said(&weighted, &data, 3).contains("weights"));
    assert!(crossed(&weighted, &heavy, 3).is_ok());
    let (machine, kernel) = (Kfd::default(), rbf(0.4));
    let job = Job::new(&machine, &kernel);
    let few = part::fit(&job, &data, &Options::default(), None, &Silent).unwrap();
    assert!(said(&few.model, &data, 3).contains("a part of the examples"));
    let ridge = Ridge::default().fit(&kernel, &numbers).unwrap();
    assert!(said(&ridge, &numbers, 3).contains("ridge predicts numbers"));
    let data = data.without_target();
    let usual = OneClass::default().fit(&kernel, &data).unwrap();
    assert!(said(&usual, &data, 3).contains("no target"));
}

#[test]
fn a_certified_fit_needs_errors_to_count() {
    let (data, numbers) = examples(60, 5);
    let kernel = rbf(0.4);
    let said = |machine: &dyn Machine, data: &Dataset, wanted, delta| {
        let options = Options { delta, ..Options::default() };
        part::fit(&Job::new(machine, &kernel), data, &options, wanted, &Silent).err().unwrap().to_string()
    };
    assert!(said(&Ridge::default(), &numbers, None, 0.05).contains("ridge cannot be certified"));
    let square =
        Dataset::new(Rows::new(vec![1.0; 3600], 60, 60).unwrap()).with_target(data.target().unwrap().clone()).unwrap();
    let table = precomputed();
    let whole = part::fit(&Job::new(&Svc::default(), &table), &square, &Options::default(), None, &Silent);
    assert!(whole.err().unwrap().to_string().contains("a kernel on the data"));
    assert!(said(&Svc::default(), &data, Some(1.5), 0.05).contains("certified = 1.5 must lie between 0 and 1"));
    assert!(said(&Svc::default(), &data, None, 0.0).contains("delta = 0 must lie between 0 and 1"));
}
