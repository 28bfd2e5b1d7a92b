//! The laws that hold for whatever is read; a law that is broken is a panic, and so a finding.

#![allow(clippy::panic)] // a broken law is one

use crate::trial::Outcome;
use mercer::data::read::{ReadOptions, read_bytes};
use mercer::data::{Schema, SchemaOptions};
use mercer::formula::Formula;
use mercer::model::Model;
use mercer::select::Grid;

fn refused(error: &impl ToString) -> Outcome {
    let words = error.to_string();
    assert!(words.len() > 10, "an error that says nothing: {words:?}");
    assert!(words.len() < 8192, "an error of {} bytes", words.len());
    Outcome { accepted: false, words }
}

/// Options that follow from the input, so that it can be given again; every other input has those of most users.
fn options(bytes: &[u8]) -> ReadOptions {
    let sum = crc32fast::hash(bytes);
    let usual = ReadOptions::default();
    if sum.is_multiple_of(2) {
        return usual;
    }
    ReadOptions {
        header: [None, Some(true), Some(false)][(sum >> 1) as usize % 3],
        delimiter: [None, None, Some(b','), Some(b' '), Some(b'"'), Some(b'\n')][(sum >> 4) as usize % 6],
        words: if (sum >> 8).is_multiple_of(4) { vec!["1".to_owned(), "-1".to_owned()] } else { Vec::new() },
        names: (sum >> 11).is_multiple_of(4).then(|| vec!["y".to_owned()]),
        ..usual
    }
}

/// Reads a table, and learns a schema of it, which must fit it.
pub fn table(name: &str, bytes: &[u8]) -> Outcome {
    let table = match read_bytes(name, bytes, &options(bytes)) {
        Ok(table) => table,
        Err(error) => return refused(&error),
    };
    assert!(table.len > 0 && !table.fields.is_empty(), "a table without rows or columns");
    let kinds: Vec<String> = table.fields.iter().map(|field| format!("{:.8}", format!("{:?}", field.data))).collect();
    let learned = match Schema::learn_and_apply(&table, &SchemaOptions::default()) {
        // its remedies repeat the names of columns as they are to be typed
        Err(error) => error.to_string(),
        Ok((schema, data)) => match schema.apply(&table) {
            Ok(again) => {
                assert_eq!(again.len(), data.len(), "a schema gives its own table another length");
                "learned".to_owned()
            }
            Err(error) => panic!("a schema refuses the table that it was learned from: {error}"),
        },
    };
    let (len, target) = (table.len.ilog2(), table.target.is_some());
    Outcome { accepted: true, words: format!("{} 2^{len} {target} {kinds:?} {learned}", table.format) }
}

/// Predicts a few of a model's own examples and writes it again, in every form that there is.
fn use_model(model: &Model) -> String {
    let few: Vec<usize> = (0..model.examples().len().min(3)).collect();
    let data = model.examples().select(&few).without_target();
    let mut words = match model.scores(&data) {
        Ok(scores) => {
            assert!(scores.iter().all(|score| score.is_finite()), "scores that are not finite: {scores:?}");
            match model.predict(&data) {
                Ok(predicted) => assert_eq!(predicted.len(), data.len(), "predictions of another number"),
                Err(error) => panic!("there are scores, but no predictions: {error}"),
            }
            let regions = model.regions(&data, 0.8);
            regions.map_or_else(|error| refused(&error).words, |_| "regions".to_owned())
        }
        Err(error) => refused(&error).words,
    };
    match model.to_bytes() {
        Ok(bytes) => match Model::from_bytes(&bytes, "the copy") {
            Ok(copy) => assert!(copy.to_bytes().is_ok_and(|again| again == bytes), "a copy is written otherwise"),
            Err(error) => panic!("what was written cannot be read: {error}"),
        },
        Err(error) => words += &refused(&error).words,
    }
    words += &model.to_onnx().map_or_else(|error| refused(&error).words, |_| "onnx".to_owned());
    words += &model.to_libsvm().map_or_else(|error| refused(&error).words, |_| "libsvm".to_owned());
    words
}

/// Loads a model and uses it.
pub fn model(_: &str, bytes: &[u8]) -> Outcome {
    match Model::from_bytes(bytes, "the model") {
        Err(error) => refused(&error),
        Ok(model) => {
            let words = format!("{} {}", model.machine(), use_model(&model));
            Outcome { accepted: true, words }
        }
    }
}

/// Reads a model of LIBSVM, writes it and uses it.
pub fn libsvm_model(name: &str, bytes: &[u8]) -> Outcome {
    let model = match Model::from_libsvm(bytes, name) {
        Ok(model) => model,
        Err(error) => return refused(&error),
    };
    if let Ok(file) = model.to_libsvm() {
        match Model::from_libsvm(file.text.as_bytes(), "the copy") {
            Ok(copy) => {
                assert!(copy.to_libsvm().is_ok_and(|again| again.text == file.text), "a copy is written otherwise");
            }
            Err(error) => panic!("what was written cannot be read: {error}"),
        }
    }
    Outcome { accepted: true, words: format!("{} {}", model.machine(), use_model(&model)) }
}

/// Reads a formula, a machine and a grid of the same text; what they print must read as the same.
pub fn formula(_: &str, bytes: &[u8]) -> Outcome {
    let text = String::from_utf8_lossy(bytes);
    let machine = match mercer::machines::parse(&text) {
        Ok(machine) => {
            let again = mercer::machines::parse(&machine.to_string());
            assert!(again.is_ok_and(|a| a.to_string() == machine.to_string()), "{machine} reads as another machine");
            "machine".to_owned()
        }
        Err(error) => refused(&error).words,
    };
    let grid =
        text.parse::<Grid>().map_or_else(|error| refused(&error).words, |grid| format!("{} axes", grid.axes.len()));
    match text.parse::<Formula>() {
        Ok(formula) => {
            let print = formula.to_string();
            let again = print.parse::<Formula>();
            assert!(again.as_ref() == Ok(&formula), "{print} reads as {again:?}");
            let kinds: String = print.chars().filter(|c| !c.is_ascii_digit()).collect();
            Outcome { accepted: true, words: kinds }
        }
        Err(error) => Outcome { words: format!("{} {machine} {grid}", refused(&error).words), accepted: false },
    }
}
