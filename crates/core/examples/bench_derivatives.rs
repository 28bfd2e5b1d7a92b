//! Times contractions with derivatives beside the matrix itself: `bench_derivatives [EXAMPLES] [COORDINATES]`.
//!
//! The matrix of n examples with d coordinates takes one product of 2n²d operations and an exponential for each pair. The contraction
//! for all d lengths of `ard` takes two products (distances, and weights times data) and as many exponentials, so that it should take
//! about twice as long as the matrix, and d times as long only if it went over the pairs once for each length.
#![allow(clippy::print_stdout)]

use mercer::data::{Dataset, Rows};
use mercer::formula::{Formula, ard, rbf};
use mercer::gram::{Dense, fill};
use mercer::seed::Seed;
use std::time::Instant;

fn time(name: &str, kernel: &Formula, data: &Dataset, weights: &Dense<f64>) -> Result<(), mercer::Error> {
    let n = data.len();
    let met = kernel.similarity(data)?;
    let mut k = vec![0.0; n * n];
    let start = Instant::now();
    fill(met.gram().as_ref(), &mut k);
    let matrix = start.elapsed();
    let start = Instant::now();
    let sums = met.contract(weights)?;
    let contraction = start.elapsed();
    println!("{name}: matrix {matrix:.1?}, contraction for {} parameters {contraction:.1?}", sums.len());
    Ok(())
}

fn main() -> Result<(), mercer::Error> {
    let mut given = std::env::args().skip(1).map_while(|word| word.parse::<usize>().ok());
    let (n, d) = (given.next().unwrap_or(2000), given.next().unwrap_or(20));
    let mut random = Seed(1).stream("bench");
    let mut normal = |count: usize| (0..count).map(|_| random.normal()).collect::<Vec<f64>>();
    let (Some(rows), Some(weights)) = (Rows::new(normal(n * d), n, d), Dense::new(normal(n * n), n, n)) else {
        return Ok(());
    };
    let data = Dataset::new(rows);
    time("rbf", &rbf(1.0 / d as f64), &data, &weights)?;
    time("ard, one length", &ard(&[(d as f64).sqrt()]), &data, &weights)?;
    time("ard, a length for each", &ard(&vec![(d as f64).sqrt(); d]), &data, &weights)
}
