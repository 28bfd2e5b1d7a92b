//! Every format, plain and compressed, gives the same model; matrices that were computed elsewhere.
#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use crate::common::{Place, close, gzip, npy, npy32};
use std::io::Write;

const ROWS: [[f64; 2]; 4] = [[0.5, 1.0], [2.0, 0.25], [0.0, 3.0], [4.0, 0.0]];
const LABELS: [u8; 4] = [1, 2, 1, 2];

fn csv(delimiter: &str) -> String {
    let mut text = ["a", "b", "y\n"].join(delimiter);
    for (row, label) in ROWS.iter().zip(LABELS) {
        text.push_str(&[row[0].to_string(), row[1].to_string(), format!("{label}\n")].join(delimiter));
    }
    text
}

fn libsvm() -> String {
    let line = |(row, label): (&[f64; 2], u8)| format!("{label} 1:{} 2:{}", row[0], row[1]);
    ROWS.iter().zip(LABELS).map(line).collect::<Vec<_>>().join("\n")
}

fn npz() -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in [("X.npy", npy(&[4, 2], &ROWS.concat())), ("y.npy", npy(&[4], &LABELS.map(f64::from)))] {
        archive.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(&bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn idx(shape: &[u32], bytes: &[u8]) -> Vec<u8> {
    let mut all = vec![0, 0, 8, shape.len() as u8];
    shape.iter().for_each(|s| all.extend(s.to_be_bytes()));
    all.extend(bytes);
    all
}

fn idx_of_doubles() -> Vec<u8> {
    let mut all = vec![0, 0, 0x0e, 2, 0, 0, 0, 4, 0, 0, 0, 2];
    ROWS.concat().iter().for_each(|v| all.extend(v.to_be_bytes()));
    all
}

const FIT: &str = "--machine svc --kernel 'rbf(gamma=0.5)' --scale none";

#[test]
fn every_format_gives_the_same_predictions() {
    let place = Place::new();
    let files: Vec<(&str, Vec<u8>, &str)> = vec![
        ("a.csv", csv(",").into_bytes(), ""),
        ("b.csv", csv(";").into_bytes(), ""),
        ("a.tsv", csv("\t").into_bytes(), ""),
        ("bars.txt", csv("|").into_bytes(), ""),
        ("blanks.txt", csv(" ").into_bytes(), ""),
        ("a.svm", libsvm().into_bytes(), ""),
        ("a.npz", npz(), ""),
        ("a.npy", npy(&[4, 2], &ROWS.concat()), "--labels y.npy"),
        ("words.npy", npy(&[4, 2], &ROWS.concat()), "--labels y.txt"),
        ("single.npy", npy32(&[4, 2], &ROWS.concat().iter().map(|v| *v as f32).collect::<Vec<_>>()), "--labels y.npy"),
        ("rows.idx", idx_of_doubles(), "--labels y.idx"),
    ];
    place.write("y.npy", npy(&[4], &LABELS.map(f64::from)));
    place.write("y.idx", idx(&[4], &LABELS));
    place.write("y.txt", "1\n2\n1\n2\n");
    let mut wanted: Option<Vec<Vec<f64>>> = None;
    for (name, bytes, more) in files {
        place.write(name, &bytes);
        place.write(&format!("{name}.gz"), gzip(&bytes));
        for file in [name.to_owned(), format!("{name}.gz")] {
            place.run(&format!("fit {file} {more} {FIT} -o m")).ok();
            let said = place.run(&format!("predict m {file} --scores")).ok().out;
            assert_eq!(said.lines().next().unwrap(), "prediction,score_1,score_2", "{file}");
            let got: Vec<Vec<f64>> =
                said.lines().skip(1).map(|l| l.split(',').map(|c| c.parse().unwrap()).collect()).collect();
            let error = place.json(&format!("evaluate m {file} {more}"))["error"].clone();
            assert_eq!(error, 0.0, "{file}");
            let first = wanted.get_or_insert_with(|| got.clone());
            for (g, w) in got.concat().iter().zip(first.concat()) {
                assert!((g - w).abs() < 1e-5, "{file}: {got:?} should be {first:?}");
            }
        }
    }
}

#[test]
fn a_format_can_be_named_where_the_name_of_the_file_says_nothing() {
    let place = Place::with(&[("data.txt", &libsvm()), ("table", &csv(","))]);
    place.run(&format!("fit data.txt --format libsvm {FIT} -o m")).ok();
    place.run(&format!("fit table --format csv {FIT} -o m")).ok();
    assert_eq!(place.json("show data.txt")["format"], "libsvm");
    assert_eq!(place.json("show table")["format"], "csv");
    place.run(&format!("fit table --format libsvm {FIT} -o m")).fails(3, &["table line 1"]);
}

#[test]
fn the_user_may_overrule_header_and_delimiter() {
    let place = Place::with(&[("a.csv", "1;2;u\n3;4;v\n5;6;u\n")]);
    assert_eq!(place.json("show a.csv --delimiter ;")["n"], 3);
    assert_eq!(place.json("show a.csv --header true")["n"], 2);
    assert_eq!(place.json("show a.csv --delimiter ,")["fields"].as_array().unwrap().len(), 1);
}

#[test]
fn images_and_labels_are_read_as_vectors() {
    let place = Place::new();
    let pixels: Vec<u8> = (0..6).flat_map(|i| [i * 40, 0, 255 - i * 40, 7]).collect();
    place.write("images", idx(&[6, 2, 2], &pixels));
    place.write("labels", idx(&[6], &[0, 0, 0, 1, 1, 1]));
    let report = place.json("fit images --labels labels --machine svc -o m");
    assert_eq!((&report["n"], &report["d"]), (&6.into(), &4.into()));
    assert_eq!(place.run("predict m images").ok().lines(), ["prediction", "0", "0", "0", "1", "1", "1"]);
    assert_eq!(place.json("evaluate m images --labels labels")["error"], 0.0);
    place.run("evaluate m images").fails(3, &["no target"]);
    place.write("few", idx(&[5], &[0, 0, 0, 1, 1]));
    place.run("fit images --labels few --machine svc -o n").fails(3, &["5 examples", "6"]);
    place.run("fit images --machine svc -o n").fails(3, &["no labels to learn from", "--labels FILE"]);
}

const MATRIX: [f64; 9] = [2.0, 1.0, 0.0, 1.0, 2.0, 0.5, 0.0, 0.5, 1.0];

#[test]
fn a_matrix_computed_elsewhere_is_a_kernel() {
    let place = Place::with(&[("y.csv", "1\n2\n4\n"), ("c.csv", "u\nv\nv\n")]);
    place.write("K.npy", npy(&[3, 3], &MATRIX));
    place.write("new.npy", npy(&[2, 3], &[1.0, 0.0, 0.0, 0.0, 1.0, 1.0]));
    place.run("fit K.npy --labels y.csv --machine ridge --kernel precomputed --lambda 1 -o m").ok();
    let new: Vec<f64> = place.run("predict m new.npy").ok().lines()[1..].iter().map(|l| l.parse().unwrap()).collect();
    let fitted: Vec<f64> = place.run("predict m K.npy").ok().lines()[1..].iter().map(|l| l.parse().unwrap()).collect();
    // α = y − K α, so predictions of the training rows give α back
    let alpha: Vec<f64> = [1.0, 2.0, 4.0].iter().zip(&fitted).map(|(y, f)| y - f).collect();
    close(&new, &[alpha[0], alpha[1] + alpha[2]], 1e-12);
    let again: Vec<f64> = (0..3).map(|i| (0..3).map(|j| MATRIX[3 * i + j] * alpha[j]).sum()).collect();
    close(&again, &fitted, 1e-12);
    place.run("fit K.npy --labels c.csv --machine svc --kernel precomputed --c 10 -o s").ok();
    assert_eq!(place.run("predict s K.npy").ok().lines(), ["prediction", "u", "v", "v"]);
    // only the columns of support vectors matter, but all must be there
    place.write("narrow.npy", npy(&[1, 2], &[1.0, 2.0]));
    place.run("predict s narrow.npy").fails(3, &["2", "3"]);
}

#[test]
fn what_a_precomputed_matrix_cannot_be_is_said_at_the_fit() {
    let place = Place::new();
    place.write("y.csv", "1\n-1\n1\n-1\n");
    let matrix = |odd: f64| -> Vec<f64> {
        let of = |i: usize, j: usize| if (i, j) == (2, 1) { odd } else { (-0.5 * (i as f64 - j as f64).abs()).exp() };
        (0..16).map(|p| of(p / 4, p % 4)).collect()
    };
    place.write("K.npy", npy(&[4, 4], &matrix((-0.5_f64).exp())));
    place.run("fit K.npy --labels y.csv -m svc -k precomputed -o m").ok();
    place
        .run("fit K.npy --labels y.csv -m svc -k 'precomputed + rbf(gamma=1)' -o m")
        .fails(2, &["rbf and precomputed", "a view of its own"]);
    place.write("odd.npy", npy(&[4, 4], &matrix(0.3)));
    place
        .run("fit odd.npy --labels y.csv -m svc -k precomputed -o m")
        .fails(3, &["not symmetric", "row 3 has 0.3 in column 2"]);
    // rows that leave have columns that stay
    place.write("k.csv", "a,b,c,y\n1,0.5,0.1,u\n0.5,1,0.5,\n0.1,0.5,1,v\n");
    place.run("fit k.csv -m svc -k precomputed --missing drop -o m").fails(3, &["2 rows and 3 columns", "left out"]);
}

#[test]
fn a_precomputed_matrix_must_be_square() {
    let place = Place::with(&[("y.csv", "1\n2\n")]);
    place.write("K.npy", npy(&[2, 3], &[1.0; 6]));
    place
        .run("fit K.npy --labels y.csv --machine ridge --kernel precomputed -o m")
        .fails(3, &["precomputed", "3", "2"]);
    assert!(!place.has("m"));
}

#[test]
fn a_matrix_written_by_gram_gives_the_model_of_its_kernel() {
    let place = Place::with_banana(60);
    place.run("gram banana.csv --kernel 'rbf(gamma=0.5)' -o K.npy").ok();
    let labels: Vec<String> =
        place.read("banana.csv").lines().skip(1).map(|l| l.rsplit(',').next().unwrap().to_owned()).collect();
    place.write("y.csv", labels.join("\n"));
    place.run("fit K.npy --labels y.csv --machine svc --kernel precomputed -o a").ok();
    place.run("fit banana.csv --machine svc --kernel 'rbf(gamma=0.5)' -o b").ok();
    assert_eq!(place.run("predict a K.npy").ok().out, place.run("predict b banana.csv").ok().out);
}

#[test]
fn arrays_of_objects_are_tables() {
    let rows: Vec<String> =
        (0..20).map(|i| format!("{{\"a\":{i},\"b\":{}.5,\"y\":\"{}\"}}", i % 3, ["u", "v"][i % 2])).collect();
    let indented = format!("[\n  {}\n]\n", rows.join(",\n  ").replace(',', ",\n    "));
    let place = Place::with(&[
        ("a.jsonl", &rows.join("\n")),
        ("a.json", &format!("[{}]", rows.join(","))),
        ("b.json", &indented),
        ("c", &format!("[{}]", rows.join(", "))),
    ]);
    place.run("fit a.jsonl -m svc -o m.mercer").ok();
    let told = place.run("predict m.mercer a.jsonl --scores");
    let told = told.ok();
    let told = told.lines();
    for name in ["a.json", "b.json", "c"] {
        assert_eq!(place.run(&format!("predict m.mercer {name} --scores")).ok().lines(), told, "{name}");
        // rows that are no lines are not copied as lines
        place.run(&format!("split {name} --train-file t.json --test-file h.json")).fails(3, &["mercer convert"]);
    }
    place.write("cut.json", "[{\"a\": 1}, {\"a\"");
    place.run("show cut.json").fails(3, &["line 1", "does not end"]);
}
