//! `mercer gram`: the kernel matrix of a file, as NPY.

use crate::failure::Failure;
use crate::watch::Watch;
use crate::{Verb, arguments, input, report};
use clap::{Arg, ArgMatches, Command};
use mercer::gram::{Gram, Precision, fill_rows, show_bytes};
use mercer::machines::Learns;
use mercer::solvers::{Monitor, Progress};
use serde_json::json;
use std::io::Write;
use std::ops::{ControlFlow, Range};
use std::path::PathBuf;
use std::time::Instant;

pub(crate) const VERB: Verb = Verb { command, run };

fn command() -> Command {
    let command = Command::new("gram")
        .about("Compute the kernel matrix of a data file and write it as NPY")
        .after_help("Example:\n  mercer gram data.csv --kernel 'rbf(gamma=median)' --scale none -o K.npy")
        .arg(arguments::path("DATA", "Data file; its target column, if any, is left aside"))
        .arg(arguments::kernel())
        .arg(arguments::output("K.npy", "NPY file to write").required(true))
        .arg(
            Arg::new("precision")
                .long("precision")
                .value_name("TYPE")
                .value_parser(["f64", "f32"])
                .default_value("f64")
                .help("Numbers to compute and write"),
        );
    arguments::common(arguments::reading(command))
}

fn run(flags: &ArgMatches) -> Result<(), Failure> {
    let started = Instant::now();
    let formula = arguments::formula(flags)?;
    let plan = arguments::plan(flags)?;
    let (Some(path), Some(target)) = (flags.get_one::<PathBuf>("DATA"), arguments::target(flags)?) else {
        return Err(Failure::usage("DATA and -o K.npy are needed"));
    };
    let watch = Watch::new(flags);
    let training = input::training(path, flags, &formula, Learns::Unsupervised)?;
    let read = started.elapsed().as_secs_f64();
    let computing = Instant::now();
    let kernel = formula.resolve(&training.data, arguments::seed(flags))?;
    let gram = kernel.training_gram(&training.data)?;
    let narrow = flags.get_one::<String>("precision").is_some_and(|p| p == "f32");
    let n = gram.shape().0;
    let size = if narrow { 4 } else { 8 };
    // strips of rows go straight to the file, so that memory is bounded for any n, and Ctrl-C is answered between them
    let strip = (plan.memory / 4 / (size * n.max(1))).min((1 << 21) / n.max(1)).clamp(1, n.max(1)).min(1024);
    plan.check(strip * n * size, "a strip of the kernel matrix")?;
    let (mut stopped, mut broken) = (None, None);
    mercer::write::streamed(target, |out| {
        out.write_all(&header(n, if narrow { "<f4" } else { "<f8" }))?;
        for start in (0..n).step_by(strip) {
            let progress = Progress { phase: "gram", done: start, total: Some(n), gap: None };
            if let ControlFlow::Break(stop) = watch.step(&progress) {
                stopped = Some(stop);
                return Err(std::io::Error::other("stopped"));
            }
            let end = (start + strip).min(n);
            let written = if narrow {
                write_strip(out, gram.as_ref(), start..end, f32::to_le_bytes)
            } else {
                write_strip(out, gram.as_ref(), start..end, f64::to_le_bytes)
            };
            if let Some((row, column)) = written? {
                broken = Some(mercer::solvers::SolveError::NotFinite { row, column });
                return Err(std::io::Error::other("not finite"));
            }
        }
        Ok(())
    })
    .map_err(|e| match (stopped, broken) {
        (Some(stop), _) => mercer::Error::from(mercer::solvers::SolveError::Stopped { reason: stop }).into(),
        (_, Some(broken)) => mercer::Error::from(broken).into(),
        _ => Failure::file(target, &e),
    })?;
    watch.finish();
    let compute = computing.elapsed().as_secs_f64();
    let bytes = n * n * size;
    if flags.get_flag("json") {
        report::print_json(&json!({
            "kernel": kernel.to_string(), "n": n, "precision": if narrow { "f32" } else { "f64" }, "bytes": bytes,
            "output": target.display().to_string(),
            "seconds": {"read": read, "gram": compute, "total": started.elapsed().as_secs_f64()},
        }));
    } else {
        report::print(&report::facts(&[
            ("kernel", kernel.to_string()),
            ("matrix", format!("{n} × {n}, {}", show_bytes(bytes))),
            ("seconds", format!("read {read:.3}, gram {compute:.3}")),
            ("file", target.display().to_string()),
        ]));
    }
    Ok(())
}

/// Writes some rows; the place of the first value that is not finite, from one, if there is one.
fn write_strip<S: Precision, const N: usize>(
    out: &mut dyn Write,
    gram: &dyn Gram,
    rows: Range<usize>,
    bytes: fn(S) -> [u8; N],
) -> std::io::Result<Option<(usize, usize)>> {
    let cols = gram.shape().1;
    let mut values = vec![S::default(); rows.len() * cols];
    fill_rows(gram, rows.clone(), &mut values);
    if let Some(place) = values.iter().position(|v| !v.wide().is_finite()) {
        return Ok(Some((rows.start + place / cols + 1, place % cols + 1)));
    }
    for part in values.chunks(4096) {
        out.write_all(&part.iter().flat_map(|&v| bytes(v)).collect::<Vec<u8>>())?;
    }
    Ok(None)
}

/// The header of an NPY file, version 1.0, padded to a multiple of 64 bytes.
fn header(n: usize, dtype: &str) -> Vec<u8> {
    let mut dictionary = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({n}, {n}), }}");
    while (10 + dictionary.len() + 1) % 64 != 0 {
        dictionary.push(' ');
    }
    dictionary.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((dictionary.len() as u16).to_le_bytes());
    bytes.extend(dictionary.into_bytes());
    bytes
}
