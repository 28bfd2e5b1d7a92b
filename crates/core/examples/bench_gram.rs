//! Times kernel matrices for `bench/run.py`: one case, one JSON line. Its arguments are told in `bench/README.md`.
#![allow(clippy::print_stdout)]

use mercer::data::read::{ReadOptions, read};
use mercer::data::{FieldData, Table, Values};
use mercer::gram::{Gram, apply, fill, fill32};
use mercer::prelude::*;
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

const USAGE: &str = "usage: bench_gram CASE FILE [--gamma G] [--rows N] [--length P] [--threads N] [--repeat K]\n\
    cases: rbf_f64, rbf_f32, product_f64, rbf_sparse, stream, spectrum, anova (of degree P)";

struct Arguments {
    case: String,
    file: String,
    gamma: f64,
    rows: Option<usize>,
    length: usize,
    threads: usize,
    repeat: usize,
}

fn arguments(mut given: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut next = |what: &str| given.next().ok_or_else(|| format!("{what} is missing\n{USAGE}"));
    let (case, file) = (next("CASE")?, next("FILE")?);
    let mut all = Arguments { case, file, gamma: 1.0, rows: None, length: 4, threads: 0, repeat: 1 };
    while let Some(flag) = given.next() {
        let value = given.next().ok_or_else(|| format!("{flag} needs a value\n{USAGE}"))?;
        let whole = || value.parse::<usize>().map_err(|_| format!("{flag} {value}: not a whole number"));
        match flag.as_str() {
            "--gamma" => {
                let gamma: f64 = value.parse().map_err(|_| format!("--gamma {value}: not a number"))?;
                all.gamma = Some(gamma).filter(|g| *g > 0.0 && g.is_finite()).ok_or("--gamma must be above 0")?;
            }
            "--rows" => all.rows = Some(whole()?),
            "--length" => all.length = whole()?.max(1),
            "--threads" => all.threads = whole()?,
            "--repeat" => all.repeat = whole()?.max(1),
            _ => return Err(format!("there is no option {flag}\n{USAGE}")),
        }
    }
    Ok(all)
}

/// The vectors of a file: its matrix, or its sparse rows.
fn vectors(table: &Table) -> Result<Values, String> {
    let found = table.fields.iter().find_map(|field| match &field.data {
        FieldData::Matrix(rows) => Some(rows.clone().into()),
        FieldData::Matrix32(rows) => Some(rows.clone().into()),
        FieldData::Sparse(rows) => Some(rows.clone().into()),
        _ => None,
    });
    found.ok_or_else(|| format!("{} holds no vectors", table.file))
}

fn load(args: &Arguments) -> Result<Values, String> {
    let values: Values = if args.case == "spectrum" {
        let text = std::fs::read_to_string(&args.file).map_err(|e| format!("{}: {e}", args.file))?;
        text.split_whitespace().map(str::to_owned).collect::<Vec<_>>().into()
    } else {
        let table = read(Path::new(&args.file), &ReadOptions::default()).map_err(|e| e.to_string())?;
        vectors(&table)?
    };
    let fits = match args.case.as_str() {
        "rbf_f32" => matches!(values, Values::Dense32(_)),
        "rbf_sparse" => matches!(values, Values::Sparse(_)),
        "spectrum" => true,
        _ => matches!(values, Values::Dense(_)),
    };
    if !fits {
        return Err(format!("{} does not hold what {} compares", args.file, args.case));
    }
    let count = args.rows.map_or(values.len(), |rows| rows.min(values.len()));
    if count < 2 {
        return Err(format!("{} has {count} examples; two or more are needed", args.file));
    }
    Ok(if count < values.len() { values.select(&(0..count).collect::<Vec<_>>()) } else { values })
}

/// The seconds of each repetition; what depends on the data alone (packing, counting) is part of the work.
fn timed(repeat: usize, mut work: impl FnMut() -> Result<(), mercer::Error>) -> Result<Vec<f64>, String> {
    let mut seconds = Vec::with_capacity(repeat);
    for _ in 0..repeat {
        let start = Instant::now();
        work().map_err(|e| e.to_string())?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    Ok(seconds)
}

/// K[0][1], K[n−1][0] and the sum of row ⌊n/2⌋.
fn entries<S: Copy + Into<f64>>(k: &[S], n: usize) -> Vec<f64> {
    let row = k[n / 2 * n..(n / 2 + 1) * n].iter().map(|&v| v.into()).sum();
    vec![k[1].into(), k[(n - 1) * n].into(), row]
}

fn run(args: &Arguments) -> Result<serde_json::Value, String> {
    let kernel = match args.case.as_str() {
        "rbf_f64" | "rbf_f32" | "rbf_sparse" | "stream" => rbf(args.gamma),
        "product_f64" => linear(),
        "spectrum" => spectrum(args.length),
        "anova" => format!("anova(degree={})", args.length).parse().map_err(|e| format!("{e}"))?,
        other => return Err(format!("there is no case {other}\n{USAGE}")),
    };
    let data = Dataset::new(load(args)?);
    let n = data.len();
    let gram = || -> Result<Arc<dyn Gram>, mercer::Error> { kernel.gram(&data) };
    // ones instead of zeros: memory that was never written to is not there yet
    let (seconds, check) = match args.case.as_str() {
        "rbf_f32" => {
            let mut k = vec![1.0_f32; n * n];
            let seconds = timed(args.repeat, || gram().map(|g| fill32(g.as_ref(), &mut k)))?;
            (seconds, entries(&k, n))
        }
        "stream" => {
            let v: Vec<f64> = (0..n).map(|i| (i as f64).cos()).collect();
            let mut out = vec![1.0; n];
            let seconds = timed(args.repeat, || gram().map(|g| apply(g.as_ref(), &v, 1, &mut out)))?;
            (seconds, vec![out[0], out[n - 1]])
        }
        _ => {
            let mut k = vec![1.0; n * n];
            let seconds = timed(args.repeat, || gram().map(|g| fill(g.as_ref(), &mut k)))?;
            (seconds, entries(&k, n))
        }
    };
    let note = format!("mercer {kernel}, {n} examples, {} threads", rayon::current_num_threads());
    Ok(json!({"case": args.case, "seconds": seconds, "note": note, "check": check}))
}

fn main() -> ExitCode {
    let answer = arguments(std::env::args().skip(1)).and_then(|args| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads).build().map_err(|e| e.to_string())?;
        pool.install(|| run(&args))
    });
    match answer {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("bench_gram: {error}");
            ExitCode::from(2)
        }
    }
}
