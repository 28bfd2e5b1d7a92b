//! Times of sparse programmes: `programmes FILE LOSS LAMBDA ROAD [ROUNDS]` prints one JSON line with the seconds of every round.
//!
//! FILE holds 64-bit numbers: n as an integer, then y (n) and K (n × n, row by row) as floating-point numbers. LOSS is hinge,
//! squared_hinge, logistic, squared, absolute, epsilon_insensitive (0.1) or huber (1.0); ROAD is solve, interior_point,
//! coordinate_descent, column_generation or path (20 values of λ down to LAMBDA).
#![allow(clippy::print_stdout)]

use mercer::solvers::Loss;
use mercer::solvers::sparse::{
    Columns, SparseOptions, SparseProgramme, column_generation, coordinate_descent, interior_point, lambda_max, path,
    solve,
};
use mercer::watch::Silent;
use std::error::Error;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [file, loss, lambda, road, rounds @ ..] = words.as_slice() else {
        eprintln!("programmes FILE LOSS LAMBDA ROAD [ROUNDS]");
        return Ok(());
    };
    let loss = match loss.as_str() {
        "hinge" => Loss::Hinge,
        "squared_hinge" => Loss::SquaredHinge,
        "logistic" => Loss::Logistic,
        "squared" => Loss::Squared,
        "absolute" => Loss::Absolute,
        "epsilon_insensitive" => Loss::EpsilonInsensitive { epsilon: 0.1 },
        "huber" => Loss::Huber { width: 1.0 },
        other => return Err(format!("{other} is no loss").into()),
    };
    let bytes = std::fs::read(file)?;
    let words: Vec<[u8; 8]> = bytes.chunks_exact(8).filter_map(|w| w.try_into().ok()).collect();
    let n = u64::from_le_bytes(*words.first().ok_or("the file is empty")?) as usize;
    let numbers: Vec<f64> = words[1..].iter().map(|w| f64::from_le_bytes(*w)).collect();
    if numbers.len() != n + n * n {
        return Err(format!("n = {n} needs {} numbers, the file has {}", n + n * n, numbers.len()).into());
    }
    let (y, matrix) = numbers.split_at(n);
    let programme = SparseProgramme {
        columns: Columns::Stored { matrix, columns: n },
        y,
        weights: None,
        loss,
        lambda: lambda.parse()?,
        bias: true,
        start: None,
    };
    let options = SparseOptions::default();
    let rounds: usize = rounds.first().map_or(Ok(1), |r| r.parse())?;
    let (mut seconds, mut found) = (Vec::new(), None);
    for _ in 0..rounds {
        let start = Instant::now();
        let solution = match road.as_str() {
            "solve" => solve(&programme, &options, &Silent)?,
            "interior_point" => interior_point(&programme, &options, &Silent)?,
            "coordinate_descent" => coordinate_descent(&programme, &options, &Silent)?,
            "column_generation" => column_generation(&programme, &options, &Silent)?,
            "path" => {
                let top = lambda_max(&programme)?;
                let lambdas: Vec<f64> =
                    (1..=20).map(|k| top * (programme.lambda / top).powf(f64::from(k) / 20.0)).collect();
                path(&programme, &lambdas, &options, &Silent)?.pop().ok_or("no λ")?
            }
            other => return Err(format!("{other} is no road").into()),
        };
        seconds.push(start.elapsed().as_secs_f64());
        found = Some(solution);
    }
    let Some(found) = found else { return Ok(()) };
    println!(
        "{{\"road\": \"{road}\", \"seconds\": {seconds:?}, \"objective\": {:.12e}, \"gap\": {:.3e}, \"support\": {}, \"iterations\": {}, \"status\": \"{}\"}}",
        found.objective,
        found.gap(),
        found.support(),
        found.iterations,
        found.status
    );
    Ok(())
}
