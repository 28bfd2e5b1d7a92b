//! Reads a file and prints its shape, a checksum and the seconds: what `bench/formats.py` compares.
//!
//! `seconds` is from the name to the table: columns of numbers in memory, as a data frame is. `whole` is from the name to a
//! matrix of all columns, row after row, without scaling.
#![allow(clippy::print_stdout, clippy::expect_used)] // a program for measurements

use mercer::data::read::{ReadOptions, read};
use mercer::data::{FieldData, Scale, Schema, SchemaOptions};
use std::path::Path;
use std::time::Instant;

fn main() {
    let mut words = std::env::args().skip(1);
    let file = words.next().expect("bench_read FILE [THREADS]");
    let threads = words.next().map_or(0, |t| t.parse().expect("a number of threads"));
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().expect("threads");
    let started = Instant::now();
    let table = read(Path::new(&file), &ReadOptions::default()).expect("a file that can be read");
    let seconds = started.elapsed().as_secs_f64();
    let options = SchemaOptions { target: Some(Vec::new()), scale: Some(Scale::None), ..SchemaOptions::default() };
    let numbers = table.fields.iter().all(|f| matches!(f.data, FieldData::Numbers { .. }));
    let matrix = numbers.then(|| Schema::learn_and_apply(&table, &options).expect("a table of numbers"));
    let whole = started.elapsed().as_secs_f64();
    drop(matrix);
    let (mut columns, mut sum, mut stored) = (0, 0.0, 0);
    for field in &table.fields {
        let (width, values): (usize, Box<dyn Iterator<Item = f64>>) = match &field.data {
            FieldData::Numbers { values, .. } => (1, Box::new(values.iter().copied())),
            FieldData::Matrix(rows) => (rows.width(), Box::new(rows.values().iter().copied())),
            FieldData::Matrix32(rows) => (rows.width(), Box::new(rows.values().iter().map(|&v| f64::from(v)))),
            FieldData::Sparse(rows) => (rows.width(), Box::new(rows.coordinates().iter().map(|c| c.value))),
            FieldData::Words(cells) | FieldData::Mixed { cells, .. } => {
                (1, Box::new(cells.iter().map(|c| c.len() as f64)))
            }
        };
        columns += width;
        for value in values {
            sum += value;
            stored += 1;
        }
    }
    println!(
        "{{\"rows\": {}, \"columns\": {columns}, \"stored\": {stored}, \"sum\": {sum:?}, \"seconds\": {seconds}, \"whole\": {whole}}}",
        table.len
    );
}
