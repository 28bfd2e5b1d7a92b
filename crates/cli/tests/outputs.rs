//! Outputs of every form at the terminal: deviations, sets of labels, orders and several parts, of models made by hand.
//!
//! `tests/outputs.rs` of the library writes their files and has the same coefficients.

use crate::common::{Place, close, read_npy};
use serde_json::{Value, json};
use std::path::Path;

/// A folder with a model and new examples.
fn place(model: &str) -> Place {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/tests/fixtures/outputs");
    let place = Place::new();
    for (name, file) in [("m", format!("{model}.mercer")), ("new.csv", "new.csv".to_owned())] {
        place.write(name, std::fs::read(fixtures.join(file)).unwrap());
    }
    place
}

const NEW: [[f64; 3]; 4] = [[0.5, 0.25, 1.0], [-1.0, 2.0, 0.0], [3.0, 1.0, -2.0], [0.0, 0.0, 0.5]];

/// The numbers of a table, row by row, below its header.
fn numbers(lines: &[&str]) -> Vec<f64> {
    lines[1..].iter().flat_map(|line| line.split(',')).map(|cell| cell.parse().unwrap()).collect()
}

fn floats(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(list) => list.iter().flat_map(floats).collect(),
        other => vec![other.as_f64().unwrap()],
    }
}

#[test]
fn deviations_stand_beside_their_numbers() {
    let place = place("deviations");
    let plain = place.run("predict m new.csv").ok();
    assert_eq!(plain.lines()[0], "prediction");
    let said = place.run("predict m new.csv --deviations").ok();
    assert_eq!(said.lines()[0], "prediction,deviation");
    let both = numbers(&said.lines());
    close(&both.iter().copied().step_by(2).collect::<Vec<_>>(), &numbers(&plain.lines()), 0.0);
    let deviations: Vec<f64> = both.iter().copied().skip(1).step_by(2).collect();
    // √(1.25 − kᵀ(K + 0.25)⁻¹k) by numpy
    close(
        &deviations,
        &[1.047_675_614_173_992, 1.117_103_410_296_95, 1.117_146_324_705_252, 1.088_586_157_389_506],
        1e-13,
    );
    let document = place.json("predict m new.csv --deviations");
    close(&floats(&document["deviations"]), &deviations, 0.0);
    for other in ["order", "label_sets", "parts"] {
        self::place(other).run("predict m new.csv --deviations").fails(2, &["--deviations is for models that know"]);
    }
}

#[test]
fn sets_of_labels_are_told_in_one_cell() {
    let place = place("label_sets");
    assert_eq!(place.run("predict m new.csv").ok().lines(), ["prediction", "news", "news|sport", "", "news"]);
    let said = place.run("predict m new.csv --scores").ok();
    assert_eq!(said.lines()[0], "prediction,score_news,score_sport");
    for line in &said.lines()[1..] {
        let cells: Vec<&str> = line.split(',').collect();
        for (label, score) in ["news", "sport"].into_iter().zip(&cells[1..]) {
            assert_eq!(cells[0].split('|').any(|l| l == label), score.parse::<f64>().unwrap() > 0.0, "{line}");
        }
    }
    let document = place.json("predict m new.csv --scores");
    assert_eq!(document["predictions"], json!([["news"], ["news", "sport"], [], ["news"]]));
    assert_eq!(document["labels"], json!(["news", "sport"]));
    place.write("with.csv", "p,q,r,y\n0,0,0,1\n");
    place.run("evaluate m with.csv").fails(2, &["sets of labels and orders are not compared"]);
}

#[test]
fn an_order_is_told_by_ranks() {
    let place = place("order");
    assert_eq!(place.run("predict m new.csv").ok().lines(), ["prediction", "1", "4", "2", "3"]);
    let said = place.run("predict m new.csv --scores").ok();
    assert_eq!(said.lines()[0], "prediction,score");
    // w = Σ α_i z_i
    let score = |x: &[f64; 3]| 3.5 * x[0] - x[1] + 3.5 * x[2];
    let cells = numbers(&said.lines());
    close(&cells.iter().copied().skip(1).step_by(2).collect::<Vec<_>>(), &NEW.each_ref().map(score), 1e-12);
    assert_eq!(place.json("predict m new.csv")["predictions"], json!([1, 4, 2, 3]));
}

/// The columns of the two parts: linear in `a`, and Gaussians round −1 and 0.5 in `b`.
fn parts_by_hand() -> Vec<f64> {
    let row = |x: &[f64; 3]| {
        let k = |centre: f64| (-0.5 * (x[2] - centre) * (x[2] - centre)).exp();
        [x[1] + 0.5 * x[0] + 0.5, -2.0 * x[1] + 3.0 * x[0] - 1.0, 2.0 * k(-1.0) - 1.5 * k(0.5) + 0.25]
    };
    NEW.iter().flat_map(row).collect()
}

#[test]
fn parts_have_columns_of_their_names() {
    let place = place("parts");
    let said = place.run("predict m new.csv").ok();
    assert_eq!(said.lines()[0], "prediction_a_c1,prediction_a_c2,prediction_b");
    let table = numbers(&said.lines());
    close(&table, &parts_by_hand(), 1e-12);
    place.run("predict m new.csv -o p.npy").ok();
    let (header, values) = read_npy(&place.bytes("p.npy"));
    assert!(header.contains("(4, 3)"), "{header}");
    close(&values, &table, 0.0);
    let document = place.json("predict m new.csv");
    assert_eq!(document["n"], 4);
    assert_eq!(document["coordinates"], json!({"a": ["c1", "c2"], "b": ["c1"]}));
    let (a, b) = (floats(&document["predictions"]["a"]), floats(&document["predictions"]["b"]));
    let beside: Vec<f64> = (0..4).flat_map(|i| [a[2 * i], a[2 * i + 1], b[i]]).collect();
    close(&beside, &table, 0.0);
    // the target of a file may be appended, so that coordinates can be learned from
    place.write("with.csv", "p,q,r,y\n0.5,0.25,1,7\n");
    let lines = place.run("predict m with.csv --with-target").ok().out;
    assert!(
        lines.starts_with("prediction_a_c1,prediction_a_c2,prediction_b,y\n") && lines.ends_with(",7\n"),
        "{lines}"
    );
}

#[test]
fn parts_are_shown_and_what_needs_a_target_is_refused() {
    let place = place("parts");
    let said = place.run("show m").ok().out;
    assert!(said.contains("a: c1, c2 with linear@a") && said.contains("b: c1 with rbf(gamma=0.5)@b"), "{said}");
    let parts = &place.json("show m")["parts"];
    assert_eq!(parts[1], json!({"name": "b", "coordinates": ["c1"], "kernel": "rbf(gamma=0.5)@b"}));
    place.run("predict m new.csv --scores").fails(2, &["--scores is for classifiers"]);
    place.run("predict m new.csv --profile").fails(2, &[]);
    place.run("evaluate m new.csv").fails(2, &["no target to be compared with"]);
    place.run("certify m new.csv").fails(2, &["predicts nothing that could be wrong"]);
    place.run("plot m new.csv -o f.svg").fails(2, &["no picture"]);
    place.run("export m -o m.onnx").fails(2, &["several parts"]);
    // a file has all columns of the model; Rust and Python also take one view alone
    place.write("one.csv", "p,q\n1,2\n");
    place.run("predict m one.csv").fails(3, &["\"r\""]);
}
