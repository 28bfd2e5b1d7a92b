//! Times Cholesky factors, inverses and solutions for `bench/factor.py`: one case, one JSON line.
#![allow(clippy::print_stdout)]

use mercer::linalg::{Cholesky, Inverse, NotPositive, inverse_and_log_determinant};
use serde_json::json;
use std::process::ExitCode;
use std::time::Instant;

const USAGE: &str = "usage: bench_factor CASE N [--columns K] [--threads T] [--repeat R]\n\
    cases: factor, inverse, solve (for K right-hand sides)";

struct Arguments {
    case: String,
    n: usize,
    columns: usize,
    threads: usize,
    repeat: usize,
}

fn arguments(mut given: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let whole = |value: String| value.parse::<usize>().map_err(|_| format!("{value}: not a whole number\n{USAGE}"));
    let mut next = |what: &str| given.next().ok_or_else(|| format!("{what} is missing\n{USAGE}"));
    let (case, n) = (next("CASE")?, whole(next("N")?)?);
    let mut all = Arguments { case, n: n.max(1), columns: 1000, threads: 0, repeat: 2 };
    while let Some(flag) = given.next() {
        let value = whole(given.next().ok_or_else(|| format!("{flag} needs a value\n{USAGE}"))?)?;
        match flag.as_str() {
            "--columns" => all.columns = value.max(1),
            "--threads" => all.threads = value,
            "--repeat" => all.repeat = value.max(1),
            _ => return Err(format!("there is no option {flag}\n{USAGE}")),
        }
    }
    Ok(all)
}

/// e^(−|i − j|/100), and 1.1 on the diagonal.
fn matrix(n: usize) -> Vec<f64> {
    let decay: Vec<f64> = (0..n).map(|d| (-(d as f64) / 100.0).exp() + if d == 0 { 0.1 } else { 0.0 }).collect();
    (0..n * n).map(|p| decay[(p / n).abs_diff(p % n)]).collect()
}

/// The seconds of each repetition, without those for preparing it, and a few numbers of the last result.
fn timed<R>(
    repeat: usize,
    prepare: impl Fn() -> Vec<f64>,
    work: impl Fn(Vec<f64>) -> Result<R, NotPositive>,
    look: impl Fn(R) -> Vec<f64>,
) -> Result<(Vec<f64>, Vec<f64>), String> {
    let (mut seconds, mut check) = (Vec::with_capacity(repeat), Vec::new());
    for _ in 0..repeat {
        let prepared = prepare();
        let start = Instant::now();
        let result = work(prepared);
        seconds.push(start.elapsed().as_secs_f64());
        check = look(result.map_err(|e| format!("pivot {} is {}", e.index, e.value))?);
    }
    Ok((seconds, check))
}

fn run(args: &Arguments) -> Result<serde_json::Value, String> {
    let (n, k) = (args.n, args.columns);
    let a = matrix(n);
    let repeat = args.repeat;
    let (seconds, check) = match args.case.as_str() {
        "factor" => {
            let look = |factor: Cholesky| vec![factor.least_pivot().unwrap_or_default().1];
            timed(repeat, || a.clone(), |a| Cholesky::factor(a, n), look)?
        }
        "inverse" => {
            let look = |i: Inverse| vec![i.values[n - 1], i.values[n / 2 * n], i.log_determinant];
            timed(repeat, || a.clone(), |a| inverse_and_log_determinant(a, n), look)?
        }
        "solve" => {
            let factor = Cholesky::factor(a, n).map_err(|e| format!("pivot {} is {}", e.index, e.value))?;
            let prepare = || (0..n * k).map(|p| ((p / k + p % k) as f64).cos()).collect();
            let work = |mut b: Vec<f64>| {
                factor.solve(&mut b, k);
                Ok(b)
            };
            timed(repeat, prepare, work, |x| vec![x[0], x[n * k - 1]])?
        }
        other => return Err(format!("there is no case {other}\n{USAGE}")),
    };
    Ok(json!({"case": args.case, "seconds": seconds, "check": check}))
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
            eprintln!("bench_factor: {error}");
            ExitCode::from(2)
        }
    }
}
