//! The distribution of errors over random training sets: the Wisconsin breast cancer data, the mean of each class against
//! support vector machines. Means hardly move with the size of the training set, but tails do.
//!
//! # Source
//! J. Shawe-Taylor, tutorial slides 36 to 58, 87 and 88, which have no numbers but the sizes.

use super::normalisation::{error, moments, step};
use super::{Drawn, Number, Request};
use mercer::data::read::{ReadOptions, read};
use mercer::data::{Dataset, Missing, Scale, Schema, SchemaOptions};
use mercer::formula::{Formula, linear, rbf};
use mercer::job::Job;
use mercer::machines::Machine;
use mercer::machines::classify::{NearestMean, Svc};
use mercer::plot::{DensityPair, Distributions};
use mercer_terminal::Failure;
use rayon::prelude::*;

const FILE: &str = "uci/breast_w.csv.gz";
/// Examples learned from: 50, 30, 10, 3 and 1 per cent of 683.
const SIZES: [usize; 5] = [342, 205, 68, 20, 7];
/// The range of errors that is drawn, and the number of bins.
const DRAWN_ERRORS: (f64, f64) = (0.0, 0.38);
const BINS: usize = 38;
/// Training sets for each split that was asked for.
const TRAINING_SETS_PER_SPLIT: usize = 5;

fn load(request: &Request<'_>) -> Result<Dataset, Failure> {
    let options = ReadOptions { format: Some("csv".to_owned()), header: Some(false), ..ReadOptions::default() };
    let table = read(&request.folder()?.join(FILE), &options)?;
    let schema = SchemaOptions {
        scale: Some(Scale::Standard),
        target: Some(vec!["-1".to_owned()]),
        missing: Missing::Drop,
        ..SchemaOptions::default()
    };
    Ok(Schema::learn_and_apply(&table, &schema)?.1)
}

pub(super) fn draw(request: &Request<'_>) -> Result<Vec<Drawn>, Failure> {
    let data = load(request)?;
    let Some(target) = data.target() else { return Err(mercer::data::DataError::NoTarget.into()) };
    let codes = target.classes()?.codes;
    let svc = Svc::default();
    let means = NearestMean {};
    let machines: [(&str, &dyn Machine, Formula); 3] =
        [("means", &means, linear()), ("linear SVM", &svc, linear()), ("Gaussian SVM", &svc, rbf(1.0 / 9.0))];
    let sets = TRAINING_SETS_PER_SPLIT * request.splits;
    let mut errors: Vec<Vec<Vec<f64>>> = Vec::new();
    for (k, &size) in SIZES.iter().enumerate() {
        let mut random = request.seed.stream(&format!("errors {size}"));
        // a training set needs both classes
        let mut orders: Vec<Vec<usize>> = Vec::with_capacity(sets);
        while orders.len() < sets {
            let order = random.permutation(data.len());
            if order[..size].iter().any(|&i| codes[i] != codes[order[0]]) {
                orders.push(order);
            }
        }
        let mut of_size = Vec::new();
        for (j, (_, machine, kernel)) in machines.iter().enumerate() {
            step(request, k * machines.len() + j, SIZES.len() * machines.len())?;
            let job = Job { seed: request.seed, ..Job::new(*machine, kernel) };
            let of = |order: &Vec<usize>| error(&job, &data, &order[..size], &order[size..]);
            of_size.push(orders.par_iter().map(of).collect::<Result<Vec<f64>, Failure>>()?);
        }
        errors.push(of_size);
    }
    let mut numbers = Vec::new();
    for (size, of_size) in SIZES.iter().zip(&errors) {
        for ((name, _, _), errors) in machines.iter().zip(of_size) {
            let mut sorted = errors.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            numbers.push(Number::new(format!("{size} examples, {name}, mean error"), moments(errors).0, None));
            let tail = sorted[(0.95 * (sorted.len() - 1) as f64).round() as usize];
            numbers.push(Number::new(format!("{size} examples, {name}, 95 % of errors below"), tail, None));
        }
    }
    let pair = |row: usize, of_size: &[Vec<f64>]| DensityPair {
        first: density(&of_size[0]),
        second: density(&of_size[row + 1]),
        // means stand in the table: at the peak there is no room for words
        note: String::new(),
    };
    let figure = Distributions {
        title: "Errors over random training sets: Wisconsin breast cancer".to_owned(),
        x_label: "error on all other examples".to_owned(),
        range: DRAWN_ERRORS,
        names: ["nearest mean".to_owned(), "support vector machine".to_owned()],
        rows: machines[1..].iter().map(|m| m.0.to_owned()).collect(),
        columns: SIZES.iter().map(|s| format!("{s} examples")).collect(),
        panels: (0..2).flat_map(|row| errors.iter().map(move |of_size| pair(row, of_size))).collect(),
        note: Some(format!("{sets} training sets of each size; every panel has a height of its own")),
    };
    Ok(vec![Drawn { file: "errors.svg".to_owned(), svg: figure.draw(request.theme), numbers }])
}

/// A histogram whose area is the share that is shown.
fn density(values: &[f64]) -> Vec<f64> {
    let bin = (DRAWN_ERRORS.1 - DRAWN_ERRORS.0) / BINS as f64;
    let mut counts = vec![0_usize; BINS];
    for value in values.iter().filter(|v| (DRAWN_ERRORS.0..DRAWN_ERRORS.1).contains(*v)) {
        counts[(((value - DRAWN_ERRORS.0) / bin) as usize).min(BINS - 1)] += 1;
    }
    counts.iter().map(|&c| c as f64 / (bin * values.len().max(1) as f64)).collect()
}
