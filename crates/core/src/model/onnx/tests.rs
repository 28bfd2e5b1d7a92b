//! The structure of written graphs; what they compute is compared in `python/tests/test_onnx.py`.

use crate::data::{Dataset, Rows, Schema, SchemaOptions, Target};
use crate::formula::{Formula, laplacian, linear, matern, rbf, spectrum};
use crate::job::Fit;
use crate::machines::classify::Svc;
use crate::model::{FileError, Model};
use crate::seed::Seed;
use std::collections::BTreeSet;

/// The fields of a message: number, and the value of a varint or the bytes of anything else.
fn fields(mut bytes: &[u8]) -> Vec<(u64, u64, &[u8])> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let (mut value, mut shift) = (0, 0);
        loop {
            let (first, rest) = bytes.split_first().unwrap();
            *bytes = rest;
            value |= u64::from(first & 0x7f) << shift;
            shift += 7;
            if first & 0x80 == 0 {
                return value;
            }
        }
    }
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let value = varint(&mut bytes);
        match key & 7 {
            0 => all.push((key >> 3, value, &[][..])),
            2 => {
                let (inside, rest) = bytes.split_at(value as usize);
                all.push((key >> 3, value, inside));
                bytes = rest;
            }
            other => panic!("wire type {other}, but only numbers and bytes are written"),
        }
    }
    all
}

fn inside(bytes: &[u8], field: u64) -> Vec<&[u8]> {
    fields(bytes).into_iter().filter(|f| f.0 == field).map(|f| f.2).collect()
}

fn texts(bytes: &[u8], field: u64) -> Vec<String> {
    inside(bytes, field).into_iter().map(|b| String::from_utf8(b.to_vec()).unwrap()).collect()
}

fn moons(kernel: &Formula) -> Model {
    let table = crate::datasets::load("two_moons", Some(40), Seed(1)).unwrap();
    let (_, data) = Schema::learn_and_apply(&table, &SchemaOptions::default()).unwrap();
    Svc::default().fit(kernel, &data).unwrap()
}

/// Every tensor is made once and before it is read, also in the bodies of loops.
fn check(graph: &[u8], around: &BTreeSet<String>) -> BTreeSet<String> {
    let mut known = around.clone();
    let add = |name: String, known: &mut BTreeSet<String>| assert!(known.insert(name.clone()), "{name} twice");
    inside(graph, 5).iter().flat_map(|t| texts(t, 8)).for_each(|name| add(name, &mut known));
    inside(graph, 11).iter().flat_map(|i| texts(i, 1)).for_each(|name| add(name, &mut known));
    for node in inside(graph, 1) {
        for name in texts(node, 1) {
            assert!(known.contains(&name), "{name} is read before it is made");
        }
        for attribute in inside(node, 5) {
            inside(attribute, 6).iter().for_each(|body| drop(check(body, &known)));
        }
        texts(node, 2).into_iter().for_each(|name| add(name, &mut known));
    }
    for name in inside(graph, 12).iter().flat_map(|o| texts(o, 1)) {
        assert!(known.contains(&name), "{name} is never made");
    }
    known
}

#[test]
fn tensors_are_made_once_and_before_they_are_read() {
    for kernel in [rbf(0.5), 0.1 * linear() + laplacian(1.0).centre().normalise(), matern(0.5, 1.0).rbf(0.3) + 2.0] {
        let model = moons(&kernel);
        let file = model.to_onnx().unwrap();
        assert!(file.notes.is_empty());
        let graph = inside(&file.bytes, 7)[0];
        let known = check(graph, &BTreeSet::new());
        assert!(["x", "scores", "code", "label"].iter().all(|name| known.contains(*name)));
        let version: Vec<u64> = fields(inside(&file.bytes, 8)[0]).iter().filter(|f| f.0 == 2).map(|f| f.1).collect();
        assert_eq!((fields(&file.bytes)[0].1, version), (8, vec![17]));
        assert_eq!(texts(&file.bytes, 2), ["mercer"]);
        let told: Vec<Vec<String>> =
            inside(&file.bytes, 14).iter().map(|e| [texts(e, 1), texts(e, 2)].concat()).collect();
        assert!(told.contains(&vec!["kernel".to_owned(), model.kernel.to_string()]));
    }
}

#[test]
fn equal_models_are_equal_files() {
    assert_eq!(moons(&rbf(0.5)).to_onnx().unwrap(), moons(&rbf(0.5)).to_onnx().unwrap());
}

#[test]
fn what_has_no_operators_is_refused() {
    let words: Vec<String> = ["abc", "abd", "xyz", "xyw"].map(str::to_owned).to_vec();
    let target = || Target::from_text("y", &["a", "a", "b", "b"]);
    let data = Dataset::new(words).with_target(target()).unwrap();
    let model = Svc::default().fit(&spectrum(2), &data).unwrap();
    let refused = |model: &Model, word: &str| match model.to_onnx() {
        Err(FileError::Inexpressible { finding }) => assert!(finding.contains(word), "{finding}"),
        other => panic!("{other:?}"),
    };
    refused(&model, "spectrum compares strings");
    let rows = Rows::new(vec![0.0, 1.0, 4.0, 5.0], 4, 1).unwrap();
    let data = Dataset::new(rows).with_target(target()).unwrap();
    let model = Svc::default().fit(&matern(1.0, 1.0), &data).unwrap();
    refused(&model, "fit with nu = 0.5, 1.5 or 2.5");
}
