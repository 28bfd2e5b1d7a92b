//! Data files that cannot be learned from, and models that cannot be read.
#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use crate::common::{Place, gzip, npy};

/// Fits a file of that name and content; nothing may be left behind.
fn refused(name: &str, content: impl AsRef<[u8]>, parts: &[&str]) {
    let place = Place::new();
    place.write(name, content);
    place.run(&format!("fit {name} --machine svc -o m.mercer")).fails(3, parts);
    assert_eq!(place.files(), [name]);
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let place = Place::with_banana(20);
    std::fs::create_dir(place.path("folder")).unwrap();
    place.run("fit none.csv --machine svc -o m").fails(3, &["none.csv: No such file or directory"]);
    place.run("fit folder --machine svc -o m").fails(3, &["folder: is a directory"]);
    place.run("show none.csv").fails(3, &["none.csv: No such file or directory"]);
    place.run("show folder").fails(3, &["folder: is a directory"]);
    place.run("predict none.mercer banana.csv").fails(3, &["none.mercer: No such file or directory\n"]);
    place.run("predict folder banana.csv").fails(3, &["folder: "]);
    place.run("fit banana.csv --labels none.csv --machine svc -o m").fails(3, &["none.csv"]);
    place.run("fit banana.csv --machine svc -o model").ok();
    place.run("predict model none.csv").fails(3, &["none.csv: No such file or directory"]);
}

#[test]
fn a_file_without_examples_is_told_so() {
    refused("a.csv", "", &["a.csv has no examples"]);
    refused("a.csv", "\n\n\n", &["a.csv has no examples"]);
    refused("a.csv", "a,b,y\n", &["a.csv has no examples"]);
    refused("a.svm", "", &["a.svm"]);
    refused("a.npy", npy(&[0, 3], &[]), &["a.npy"]);
    refused("a.npz", "", &["a.npz"]);
    refused("a.csv.gz", gzip(""), &["a.csv.gz has no examples"]);
}

#[test]
fn a_ragged_row_is_named_by_its_line() {
    refused("a.csv", "a,b,y\n1,2,u\n3,4\n", &["a.csv line 3: 2 fields, but line 1 has 3"]);
    refused("a.csv", "a,b,y\n1,2,u\n3,4,v,5\n", &["a.csv line 3: 4 fields, but line 1 has 3"]);
}

#[test]
fn numbers_that_are_none_are_named_by_their_cell() {
    refused("a.csv", "a,b,y\n1,2,u\n3,nan,v\n", &["a.csv line 3, column \"b\"", "missing"]);
    refused("a.csv", "a,b,y\n1,2,u\n3,inf,v\n", &["a.csv line 3, column \"b\"", "not finite"]);
    refused("a.csv", "a,b,y\n1,2,u\n3,-Infinity,v\n", &["a.csv line 3, column \"b\"", "not finite"]);
    refused("a.csv", "a,b,y\n1,2,u\n3,1e999,v\n", &["a.csv line 3, column \"b\""]);
    refused("a.svm", "1 1:2\n-1 1:nan\n", &["a.svm line 2"]);
    refused("a.svm", "1 1:2\n-1 1:inf\n", &["a.svm line 2"]);
    let place = Place::with(&[("y.csv", "y\nu\nv\n")]);
    place.write("a.npy", npy(&[2, 2], &[1.0, 2.0, f64::NAN, 4.0]));
    place.run("fit a.npy --labels y.csv --machine svc -o m").fails(3, &["a.npy"]);
    place.write("a.npy", npy(&[2, 2], &[1.0, 2.0, f64::INFINITY, 4.0]));
    place.run("fit a.npy --labels y.csv --machine svc -o m").fails(3, &["a.npy"]);
}

#[test]
fn one_class_is_not_enough() {
    refused("a.csv", "a,b,y\n1,2,u\n3,4,u\n", &["only the class \"u\"", "at least two"]);
    refused("a.svm", "1 1:2\n+1 1:3\n1.0 1:4\n", &["only the class \"1\""]);
}

#[test]
fn broken_libsvm_lines_are_named() {
    refused("a.svm", "1 1:0.5 2:1\n-1 99999999999:3\n", &["a.svm line 2: index 99999999999 is too large"]);
    refused("a.svm", "1 4294967295:3\n", &["a.svm line 1: index 4294967295 is too large"]);
    refused("a.svm", "1 2:1 1:1\n", &["a.svm line 1: index 1 comes after index 2"]);
    refused("a.svm", "1 0:1\n", &["a.svm line 1: index 0"]);
    refused("a.svm", "1 a:1\n", &["a.svm line 1", "\"a:1\""]);
    refused("a.svm", "1 1:x\n", &["a.svm line 1"]);
}

#[test]
fn a_large_index_is_not_a_large_memory() {
    let place = Place::with(&[("a.svm", "1 1:1 2000000000:1\n-1 2:1\n1 3:1\n-1 2000000000:2\n")]);
    let report = place.json("fit a.svm --machine svc --kernel linear -o m");
    assert_eq!(report["d"], 2_000_000_000);
    place.run("predict m a.svm").ok();
}

#[test]
fn bytes_that_are_no_text_are_told_so() {
    refused("a.csv", b"a,b,y\n1,\xff\xfe,u\n3,4,v\n", &["a.csv line 2", "UTF-8"]);
    refused("a.svm", b"1 1:1\n\xff 1:2\n", &["a.svm line 2"]);
    refused("a.npy", b"no array at all", &["a.npy"]);
    refused("a.npz", b"no archive at all", &["a.npz"]);
    refused("a.idx", b"\x01\x02\x03\x04\x05", &["a.idx"]);
    refused("a.csv.gz", b"\x1f\x8b\x08\x00broken", &["a.csv.gz"]);
    refused("a.bin", b"\x00\x01\x02\x03\x00\x00", &["a.bin", "--format"]);
    let half = gzip("a,y\n1,u\n2,v\n".repeat(1000));
    refused("a.csv.gz", &half[..half.len() / 2], &["a.csv.gz"]);
    let array = npy(&[100, 2], &[1.0; 200]);
    refused("a.npy", &array[..array.len() - 8], &["a.npy"]);
}

#[test]
fn an_array_that_claims_too_much_is_refused_without_taking_it() {
    refused("a.npy", npy(&[1 << 40, 1 << 20], &[1.0]), &["a.npy"]);
    let mut idx = vec![0, 0, 8, 2];
    idx.extend([255; 8]);
    refused("a.idx", idx, &["a.idx"]);
}

#[test]
fn two_columns_of_one_name_are_refused() {
    refused("a.csv", "a,a,y\n1,2,u\n3,4,v\n", &["a.csv line 1", "\"a\""]);
}

#[test]
fn a_model_is_not_data_and_data_are_no_model() {
    let place = Place::with_banana(20);
    place.run("fit banana.csv --machine svc -o m.mercer").ok();
    place.run("fit banana.csv --machine svc -o m").ok();
    for model in ["m", "m.mercer"] {
        place.run(&format!("fit {model} --machine svc -o n")).fails(3, &[model, "is a model, not data"]);
        place.run(&format!("predict m {model}")).fails(3, &[model, "is a model, not data"]);
        place.run(&format!("gram {model} -o K.npy")).fails(3, &[model, "is a model, not data"]);
    }
    for verb in ["predict", "evaluate"] {
        place.run(&format!("{verb} banana.csv banana.csv")).fails(3, &["banana.csv is not a mercer model"]);
    }
    place.run("plot banana.csv banana.csv -o a.svg").fails(3, &["banana.csv is not a mercer model"]);
    assert_eq!(place.files(), ["banana.csv", "m", "m.mercer"]);
}

#[test]
fn a_truncated_or_damaged_model_is_refused() {
    let place = Place::with_banana(30);
    place.run("fit banana.csv --machine svc -o m.mercer").ok();
    let whole = place.bytes("m.mercer");
    for keep in [0, 1, 7, 8, 9, 100, whole.len() / 2, whole.len() - 1] {
        place.write("t.mercer", &whole[..keep]);
        place.run("predict t.mercer banana.csv").fails(3, &["t.mercer"]);
        place.run("show t.mercer").fails(3, &["t.mercer"]);
    }
    let mut flipped = whole.clone();
    let last = flipped.len() - 3;
    flipped[last] ^= 64;
    place.write("t.mercer", flipped);
    place.run("predict t.mercer banana.csv").fails(3, &["t.mercer is damaged"]);
    let mut longer = whole;
    longer.extend(b"more");
    place.write("t.mercer", longer);
    place.run("predict t.mercer banana.csv").fails(3, &["t.mercer"]);
}

#[test]
fn only_a_target_is_nothing_to_learn_from() {
    let place = Place::with(&[("a.csv", "y\nu\nv\n")]);
    place.run("fit a.csv --machine svc -o m").fails(2, &["a.csv has no column besides the target"]);
}
