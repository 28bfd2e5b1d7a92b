//! Times of the solvers of kernel Fisher discriminants, one JSON line for each measurement; `bench/fisher.py` makes tables of them.
//!
//! `bench_fisher system N ROUNDS`: the bordered system beside the bare Gram matrix and factorisation.
//! `bench_fisher pairs FILE ROUNDS`: one digit against the rest to one significant figure, beside the direct solution.
//! `bench_fisher greedy FILE TOLERANCE SIZES…`: the greedy search on the first so many examples.
#![allow(clippy::print_stdout)]

use mercer::data::read::{ReadOptions, read};
use mercer::gram::{diagonal, fill, fill32};
use mercer::linalg::Cholesky;
use mercer::prelude::*;
use mercer::solvers::fisher::direct::bordered;
use mercer::solvers::fisher::greedy::{GreedyOptions, greedy};
use mercer::solvers::fisher::pair_descent::{Measure, PairOptions, pair_descent};
use mercer::solvers::fisher::shifted::discriminants;
use mercer::solvers::fisher::{Aim, Quadratic};
use mercer::solvers::smo::{Equality, Problem, SmoOptions, Workspace, smo};
use mercer::watch::Silent;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["system", n, rounds] => system(n.parse()?, rounds.parse()?),
        ["pairs", file, rounds] => pairs(file, rounds.parse()?),
        ["greedy", file, tolerance, sizes @ ..] => {
            let sizes = sizes.iter().map(|s| s.parse()).collect::<Result<Vec<usize>, _>>()?;
            growth(file, tolerance.parse()?, &sizes)
        }
        _ => Err("bench_fisher system N ROUNDS | pairs FILE ROUNDS | greedy FILE TOLERANCE SIZES…".into()),
    }
}

/// Seconds of some work, and what it gave.
fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed().as_secs_f64(), result)
}

fn system(n: usize, rounds: usize) -> Result<(), Failure> {
    let mut random = Seed(1).stream("bench");
    let x: Vec<f64> = (0..n * 10).map(|_| random.normal()).collect();
    let y: Vec<f64> = (0..n).map(|i| if x[10 * i] + random.normal() > 0.0 { 1.0 } else { -1.0 }).collect();
    let gram = rbf(0.1).gram(&Dataset::new(Rows::new(x, n, 10).ok_or("n rows of ten")?))?;
    let weights = vec![1.0; n];
    for _ in 0..rounds {
        let (bare, ()) = timed(|| {
            let mut matrix = vec![0.0; n * n];
            fill(gram.as_ref(), &mut matrix);
            (0..n).for_each(|i| matrix[i * n + i] += 0.01);
            assert!(Cholesky::factor(matrix, n).is_ok(), "the matrix is positive definite");
        });
        let whole = |penalty| {
            let aim = Aim { y: &y, outputs: 1, weights: &weights, lambda: 0.01, penalty };
            timed(|| discriminants(gram.as_ref(), &aim, &Silent))
        };
        let (norm, a) = whole(Quadratic::Norm);
        let (coefficients, b) = whole(Quadratic::Coefficients);
        let aim = Aim { y: &y, outputs: 1, weights: &weights, lambda: 0.01, penalty: Quadratic::Coefficients };
        let (square, c) = timed(|| bordered(gram.as_ref(), &aim, &Silent));
        let worst = a?.relative_residual.max(b?.relative_residual).max(c?.found.relative_residual);
        println!(
            "{{\"n\": {n}, \"bare\": {bare}, \"norm\": {norm}, \"coefficients\": {coefficients}, \"square\": {square}, \
             \"residual\": {worst}}}"
        );
    }
    Ok(())
}

/// The matrix of a file of digits with c = 0.3 · 256, and the class of each example.
fn digits(file: &str, first: usize) -> Result<(Arc<dyn Gram>, Vec<u32>), Failure> {
    let options = SchemaOptions { scale: Some(Scale::None), ..SchemaOptions::default() };
    let (_, data) = Schema::learn_and_apply(&read(Path::new(file), &ReadOptions::default())?, &options)?;
    let data = data.select(&(0..first.min(data.len())).collect::<Vec<_>>());
    let codes = data.target().ok_or("the file has no target")?.classes()?.codes;
    Ok((rbf(1.0 / 76.8).gram(&data)?, codes))
}

fn pairs(file: &str, rounds: usize) -> Result<(), Failure> {
    let (gram, codes) = digits(file, usize::MAX)?;
    let n = codes.len();
    let weights = vec![1.0; n];
    // packing is part of no one's work
    gram.row_group();
    for round in 0..rounds {
        let mut matrix = vec![0.0_f32; n * n];
        let (gram_time, ()) = timed(|| fill32(gram.as_ref(), &mut matrix));
        drop(matrix);
        let signs = |digit: u32| codes.iter().map(|&c| if c == digit { 1.0 } else { -1.0 }).collect::<Vec<f64>>();
        let y = signs(round as u32 % 10);
        let aim = Aim { y: &y, outputs: 1, weights: &weights, lambda: 0.01, penalty: Quadratic::Norm };
        let (direct, solved) = timed(|| bordered(gram.as_ref(), &aim, &Silent));
        drop(solved?);
        println!("{{\"round\": {round}, \"road\": \"direct\", \"seconds\": {direct}, \"gram32\": {gram_time}}}");
        for digit in 0..10 {
            let y = signs(digit);
            let aim = Aim { y: &y, ..aim };
            for (pairs, measure) in
                [1, 4, 8, 16, 32].into_iter().map(|p| (p, Measure::Printed)).chain([(32, Measure::Gap)])
            {
                let options = PairOptions {
                    pairs,
                    figures: 1.0,
                    infeasibility: 0.1,
                    measure,
                    max_iterations: 100_000,
                    cache: 256 << 20,
                    double: false,
                };
                let (seconds, found) = timed(|| pair_descent(gram.as_ref(), &aim, &options, &Silent));
                let found = found?;
                println!(
                    "{{\"round\": {round}, \"road\": \"{pairs} pairs, {measure:?}\", \"digit\": {digit}, \"seconds\": {seconds}, \
                     \"steps\": {}, \"rows\": {}, \"figures\": {}, \"infeasibility\": {}}}",
                    found.iterations[0], found.rows, found.figures, found.infeasibility
                );
            }
            second_order(&gram, &y, round, digit)?;
        }
    }
    Ok(())
}

/// The support vector solver on the same dual, at the first of some tolerances that is as feasible.
fn second_order(gram: &Arc<dyn Gram>, y: &[f64], round: usize, digit: u32) -> Result<(), Failure> {
    let n = y.len();
    let own = diagonal(gram.as_ref());
    let (low, high, ridge, columns) = (vec![f64::NEG_INFINITY; n], vec![f64::INFINITY; n], vec![0.01; n], [0..n]);
    let problem = Problem {
        gram: Arc::clone(gram),
        columns: &columns,
        diagonal: &own,
        linear: y,
        lower: &low,
        upper: &high,
        epsilon: 0.0,
        ridge: Some(&ridge),
        equality: Equality::Sum,
        start: None,
        folds: None,
    };
    for tolerance in [1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3] {
        let options = SmoOptions { tolerance, max_iterations: 0, cache: 64 << 20, threads: 2, most_rows: false };
        let (seconds, found) = timed(|| smo(&problem, &options, &mut Workspace::default(), &Silent));
        let found = found?;
        let mean = found.state.iter().sum::<f64>() / n as f64;
        let left = (found.state.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / n as f64).sqrt();
        if left <= 0.1 {
            println!(
                "{{\"round\": {round}, \"road\": \"second order\", \"digit\": {digit}, \"seconds\": {seconds}, \"steps\": {}, \
                 \"rows\": {}, \"infeasibility\": {left}}}",
                found.iterations, found.rows
            );
            break;
        }
    }
    Ok(())
}

fn growth(file: &str, tolerance: f64, sizes: &[usize]) -> Result<(), Failure> {
    for &size in sizes {
        let (gram, codes) = digits(file, size)?;
        let weights = vec![1.0; codes.len()];
        gram.row_group();
        let (mut total, mut chosen) = (0.0, 0);
        for digit in 0..10 {
            let y: Vec<f64> = codes.iter().map(|&c| if c == digit { 1.0 } else { -1.0 }).collect();
            let aim = Aim { y: &y, outputs: 1, weights: &weights, lambda: 1.0, penalty: Quadratic::Coefficients };
            let options = GreedyOptions { points: 500, tolerance, seed: Seed(0) };
            let (seconds, found) = timed(|| greedy(gram.as_ref(), &aim, &options, &Silent));
            total += seconds;
            chosen += found?.found.points.len();
        }
        println!(
            "{{\"n\": {}, \"tolerance\": {tolerance}, \"seconds\": {}, \"points\": {}}}",
            codes.len(),
            total / 10.0,
            chosen as f64 / 10.0
        );
    }
    Ok(())
}
