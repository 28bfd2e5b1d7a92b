//! Parquet and Arrow IPC: what is written comes back, and damaged files are errors.
//!
//! Only with the feature: `cargo test --release -p mercer --features parquet --test columns`.
#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests fail as tests do

use crate::support::damage::mutated;
use crate::support::memory::most_held;
use arrow_array::types::{Float32Type, Int32Type};
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, FixedSizeListArray, Float64Array, Int32Array, Int64Array, ListArray,
    RecordBatch, StringArray, UInt8Array,
};
use mercer::data::read::{ReadOptions, read};
use mercer::data::{FieldData, Schema, SchemaOptions, Table};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

const ROWS: i32 = 30;

/// Rows of every kind of single column; entries are missing where `gaps` says so.
fn batch(rows: std::ops::Range<i32>, gaps: bool) -> RecordBatch {
    let gap = |k: i32, every: i32| gaps && k % every == 1;
    let reals: Float64Array = rows.clone().map(|k| (!gap(k, 7)).then(|| f64::from(k) / 8.0 - 1.0)).collect();
    let counts: Int64Array = rows.clone().map(|k| (!gap(k, 5)).then(|| i64::from(k) * 1_000_000_007)).collect();
    let small: UInt8Array = rows.clone().map(|k| Some((k * 7 % 256) as u8)).collect();
    let flags: BooleanArray = rows.clone().map(|k| Some(k % 3 == 0)).collect();
    let pets: StringArray = rows.clone().map(|k| (!gap(k, 6)).then(|| ["cat", "dog", "été"][k as usize % 3])).collect();
    let codes: DictionaryArray<Int32Type> = rows.clone().map(|k| Some(["red", "blue"][k as usize % 2])).collect();
    let labels: StringArray = rows.map(|k| Some(if k % 2 == 0 { "u" } else { "v" })).collect();
    let columns: [(&str, ArrayRef); 7] = [
        ("real", Arc::new(reals)),
        ("count", Arc::new(counts)),
        ("small", Arc::new(small)),
        ("flag", Arc::new(flags)),
        ("pet", Arc::new(pets)),
        ("colour", Arc::new(codes)),
        ("y", Arc::new(labels)),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true))).unwrap()
}

/// The same rows as delimited text.
fn text(gaps: bool) -> String {
    let gap = |k: i32, every: i32| gaps && k % every == 1;
    let mut text = "real,count,small,flag,pet,colour,y\n".to_owned();
    for k in 0..ROWS {
        let real = if gap(k, 7) { String::new() } else { (f64::from(k) / 8.0 - 1.0).to_string() };
        let count = if gap(k, 5) { String::new() } else { (i64::from(k) * 1_000_000_007).to_string() };
        let pet = if gap(k, 6) { "" } else { ["cat", "dog", "été"][k as usize % 3] };
        let (flag, colour) = (u8::from(k % 3 == 0), ["red", "blue"][k as usize % 2]);
        let label = if k % 2 == 0 { "u" } else { "v" };
        writeln!(text, "{real},{count},{},{flag},{pet},{colour},{label}", k * 7 % 256).unwrap();
    }
    text
}

/// A row group for each batch.
fn parquet(batches: &[RecordBatch], compression: Compression) -> Vec<u8> {
    let properties = WriterProperties::builder().set_compression(compression).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batches[0].schema(), Some(properties)).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
        writer.flush().unwrap();
    }
    writer.into_inner().unwrap()
}

fn arrow(batches: &[RecordBatch]) -> Vec<u8> {
    let mut writer = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batches[0].schema()).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

/// The rows in three batches, in every format.
fn files(gaps: bool) -> [(&'static str, Vec<u8>); 3] {
    let batches = [batch(0..4, gaps), batch(4..17, gaps), batch(17..ROWS, gaps)];
    [
        ("t.parquet", parquet(&batches, Compression::UNCOMPRESSED)),
        ("s.pq", parquet(&batches, Compression::SNAPPY)),
        ("t.arrow", arrow(&batches[..1])),
    ]
}

fn read_as(name: &str, bytes: &[u8]) -> Result<Table, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    read(&path, &ReadOptions::default()).map_err(|e| e.to_string())
}

#[test]
fn columns_give_the_data_set_of_the_same_table_as_text() {
    for gaps in [false, true] {
        let plain = read_as("t.csv", text(gaps).as_bytes()).unwrap();
        let options = SchemaOptions { missing: mercer::data::Missing::Mean, ..SchemaOptions::default() };
        let (schema, data) = Schema::learn_and_apply(&plain, &options).unwrap();
        for (name, bytes) in files(gaps) {
            let table = read_as(name, &bytes).unwrap();
            let names = |table: &Table| table.fields.iter().map(|f| f.name.clone()).collect::<Vec<_>>();
            assert_eq!((names(&table), table.target, table.named), (names(&plain), Some(6), true), "{name}");
            if name == "t.arrow" {
                assert_eq!(table.len, 4);
                continue;
            }
            let (same_schema, same) = Schema::learn_and_apply(&table, &options).unwrap();
            assert_eq!(same_schema, schema, "{name}");
            assert_eq!(format!("{same:?}"), format!("{data:?}"), "{name}");
            // what was learned on one is applied to the other
            assert_eq!(format!("{:?}", schema.apply(&table).unwrap()), format!("{data:?}"), "{name}");
        }
    }
}

#[test]
fn batches_of_arrow_follow_each_other() {
    let pieces = [0..4, 4..17, 17..ROWS];
    // a dictionary must not change within a file, so it is left out
    let batches = pieces.map(|rows| batch(rows, true).project(&[0, 1, 2, 3, 4, 6]).unwrap());
    let table = read_as("t.feather", &arrow(&batches)).unwrap();
    let plain = read_as("t.csv", text(true).as_bytes()).unwrap();
    assert_eq!(table.len, ROWS as usize);
    for field in &table.fields {
        let other = &plain.fields[plain.find(&field.name).unwrap()];
        match (&field.data, &other.data) {
            (FieldData::Numbers { values: a, .. }, FieldData::Numbers { values: b, .. }) => {
                assert!(a.iter().zip(b).all(|(a, b)| a == b || (a.is_nan() && b.is_nan())), "{}", field.name);
            }
            (FieldData::Words(a), FieldData::Words(b)) => assert_eq!(a, b),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn lists_of_one_length_are_blocks() {
    let rows = [[1.0_f32, 2.0], [3.0, 4.5], [5.0, -6.0]].map(|row| Some(row.map(Some)));
    let fixed = FixedSizeListArray::from_iter_primitive::<Float32Type, _, _>(rows, 2);
    let free = ListArray::from_iter_primitive::<Float32Type, _, _>(rows);
    let y: Int32Array = [1, 2, 1].into_iter().map(Some).collect();
    for list in [Arc::new(fixed) as ArrayRef, Arc::new(free)] {
        let batch = RecordBatch::try_from_iter([("x", list), ("y", Arc::new(y.clone()) as ArrayRef)]).unwrap();
        for (name, bytes) in [
            ("t.parquet", parquet(std::slice::from_ref(&batch), Compression::SNAPPY)),
            ("t.arrow", arrow(std::slice::from_ref(&batch))),
        ] {
            let table = read_as(name, &bytes).unwrap();
            let FieldData::Matrix(block) = &table.fields[0].data else { panic!("{:?}", table.fields[0]) };
            assert_eq!((block.values(), block.width()), (&[1.0, 2.0, 3.0, 4.5, 5.0, -6.0][..], 2), "{name}");
            assert_eq!(table.target, Some(1));
        }
    }
    let ragged = ListArray::from_iter_primitive::<Float32Type, _, _>([Some(vec![Some(1.0)]), Some(vec![])]);
    let batch = RecordBatch::try_from_iter([("x", Arc::new(ragged) as ArrayRef)]).unwrap();
    let error = read_as("t.parquet", &parquet(&[batch], Compression::SNAPPY)).unwrap_err();
    assert!(error.contains("column \"x\": the list has 0 numbers, but the first has 1"), "{error}");
}

#[test]
fn what_cannot_be_learned_from_is_named_with_its_place() {
    let column = |array: ArrayRef| RecordBatch::try_from_iter([("a", array)]).unwrap();
    let far = column(Arc::new(Float64Array::from(vec![1.0, f64::INFINITY])));
    let error = read_as("t.parquet", &parquet(&[far], Compression::SNAPPY)).unwrap_err();
    assert!(error.contains("t.parquet line 2, column \"a\": the number is not finite"), "{error}");
    let days = column(Arc::new(arrow_array::Date32Array::from(vec![1, 2])));
    let error = read_as("t.parquet", &parquet(&[days], Compression::SNAPPY)).unwrap_err();
    assert!(error.contains("is not read; cast it to numbers"), "{error}");
}

/// Reads a file that may be damaged: a table, or an error, in little memory.
fn survives(path: &Path, bytes: &[u8]) -> bool {
    std::fs::write(path, bytes).unwrap();
    let (table, most) = most_held(|| read(path, &ReadOptions::default()));
    // files of some thousand bytes; buffers and tables of the decoders take a fixed amount
    assert!(most < 64 << 20, "{}: {most} bytes for {bytes:?}", path.display());
    if let Ok(table) = &table {
        assert!(table.len > 0 && !table.fields.is_empty());
    }
    table.is_ok()
}

#[test]
fn damaged_files_of_columns_neither_panic_nor_take_memory_without_bound() {
    // decoders that panic are caught, and their messages would fill the screen
    std::panic::set_hook(Box::new(|_| {}));
    let folder = tempfile::tempdir().unwrap();
    let mut random = mercer::seed::Seed(9).stream("damage");
    for (name, seed) in files(true) {
        let path = folder.path().join(name);
        assert!(survives(&path, &seed), "{name}");
        for cut in (0..seed.len()).step_by(11) {
            assert!(!survives(&path, &seed[..cut]), "{name}: {cut} of {} bytes were read", seed.len());
        }
        // the footer's length stands before the last mark
        for length in [0_u32, 1, 1 << 20, u32::MAX, i32::MAX as u32] {
            let mut bytes = seed.clone();
            let end = bytes.len() - if name == "t.arrow" { 6 } else { 4 };
            bytes[end - 4..end].copy_from_slice(&length.to_le_bytes());
            assert!(!survives(&path, &bytes), "{name}: a footer of {length} bytes was read");
        }
        // numbers in the footer are small; let them become large
        for at in seed.len().saturating_sub(1200)..seed.len() {
            let mut bytes = seed.clone();
            bytes[at] = 0xff;
            survives(&path, &bytes);
        }
        for _ in 0..600 {
            survives(&path, &mutated(&seed, &mut random));
        }
    }
}
