//! Times of linear machines on a sparse file: `bench_linear TRAIN TEST LOSS TOLERANCE [ROUNDS]` prints one JSON line with the
//! smallest seconds of fit and prediction.
#![allow(clippy::print_stdout)]

use mercer::data::read::{ReadOptions, read};
use mercer::machines::classify::MarginLoss;
use mercer::params::Choice;
use mercer::prelude::*;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), mercer::Error> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [train, test, loss, tolerance, rounds @ ..] = words.as_slice() else {
        eprintln!("bench_linear TRAIN TEST LOSS TOLERANCE [ROUNDS]");
        return Ok(());
    };
    let rounds: usize = rounds.first().and_then(|r| r.parse().ok()).unwrap_or(5);
    let mut machine = LinearSvc { tolerance: tolerance.parse().unwrap_or(1e-4), ..LinearSvc::default() };
    let options = MarginLoss::default().options();
    machine.loss.set(options.iter().position(|o| o == loss).unwrap_or(1));
    let (schema, data) = Schema::learn_and_apply(
        &read(Path::new(train), &ReadOptions::default())?,
        &SchemaOptions { scale: Some(Scale::None), ..SchemaOptions::default() },
    )?;
    let new = schema.apply(&read(Path::new(test), &ReadOptions::default())?)?;
    let (mut fit, mut predict) = (f64::INFINITY, f64::INFINITY);
    let mut report = None;
    for _ in 0..rounds {
        let start = Instant::now();
        let model = machine.fit(&linear(), &data)?;
        fit = fit.min(start.elapsed().as_secs_f64());
        for _ in 0..5 {
            let start = Instant::now();
            model.predict(&new)?;
            predict = predict.min(start.elapsed().as_secs_f64());
        }
        report = Some(model.fitted().report.clone());
    }
    let Some(report) = report else { return Ok(()) };
    println!(
        "{{\"loss\": \"{loss}\", \"tolerance\": {tolerance}, \"fit\": {fit}, \"predict\": {predict}, \"objective\": {}, \"gap\": {}, \"passes\": {}, \"status\": \"{}\"}}",
        report.objective.unwrap_or(f64::NAN),
        report.duality_gap.unwrap_or(f64::NAN),
        report.iterations,
        report.status
    );
    Ok(())
}
