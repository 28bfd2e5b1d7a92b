//! Times and profiles support vector fits in one process, without anything around them:
//! `profile_svm FILE [--labels FILE] [--machine svc] [--gamma 0.1] [--threads 2] [--repeat 3] [--c 1 …]`.
//! A line for each fit: wall seconds, processor seconds of all threads, and what the solver tells.
#![allow(clippy::print_stdout)]

use mercer::calibrate::Method;
use mercer::data::read::{ReadOptions, read};
use mercer::params::{Setting, assign};
use mercer::prelude::*;
use mercer::watch::Silent;
use std::path::Path;
use std::time::Instant;

/// Processor time of this process in seconds, as far as the system tells it.
fn processor() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    (11..13).filter_map(|i| fields.get(i)?.parse::<f64>().ok()).sum::<f64>() / 100.0
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut given = std::env::args().skip(1);
    let file = given.next().ok_or("FILE is missing")?;
    let (mut labels, mut name, mut gamma, mut threads, mut repeat) = (None, "svc".to_owned(), 1.0, 2, 3);
    let (mut settings, mut probabilities) = (Vec::new(), None);
    while let Some(flag) = given.next() {
        let value = given.next().ok_or("a flag needs a value")?;
        match flag.as_str() {
            "--labels" => labels = Some(value.into()),
            "--machine" => name = value,
            "--gamma" => gamma = value.parse()?,
            "--threads" => threads = value.parse()?,
            "--repeat" => repeat = value.parse()?,
            "--probabilities" => probabilities = Method::WORDS.iter().find(|w| w.0 == value).map(|w| w.1),
            other => settings.push((other.trim_start_matches('-').replace('-', "_"), value)),
        }
    }
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    let table = read(Path::new(&file), &ReadOptions { labels, ..ReadOptions::default() })?;
    let options = SchemaOptions { scale: Some(Scale::None), ..SchemaOptions::default() };
    let (_, data) = Schema::learn_and_apply(&table, &options)?;
    let entry = mercer::machines::find(&name).ok_or("no such machine")?;
    let mut machine = (entry.make)();
    for (name, value) in settings {
        let value = value.parse().map_or_else(|_| Setting::Word(value.clone()), Setting::Number);
        assign(entry.name, machine.as_mut(), &name, &value)?;
    }
    for _ in 0..repeat {
        let (wall, used) = (Instant::now(), processor());
        let kernel = rbf(gamma);
        let job = Job { probabilities, ..Job::new(machine.as_ref(), &kernel) };
        let model = job.run(&data, &Silent)?;
        let report = &model.fitted().report;
        println!(
            "{:.3} s wall, {:.2} s processor, {} after {} iterations, objective {:.6}, {} support vectors, {:?}",
            wall.elapsed().as_secs_f64(),
            processor() - used,
            report.status,
            report.iterations,
            report.objective.unwrap_or(f64::NAN),
            report.support.unwrap_or(0),
            report.notes.iter().take(2).collect::<Vec<_>>()
        );
    }
    Ok(())
}
