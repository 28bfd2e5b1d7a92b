//! Model files of earlier releases are read, and predict bit for bit what the release that wrote them predicted.
//!
//! `tests/fixtures/models/README.md` tells what the files are and how a new machine gets one.

use mercer::conformal::Regions;
use mercer::data::FieldData;
use mercer::data::read::{ReadOptions, read};
use mercer::machines::Output;
use mercer::prelude::*;
use mercer::{kernels, machines};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Fixtures whose numbers may differ by [`NEAR`], each with the reason.
const NEARLY: &[(&str, &str)] = &[
    ("cross_words.mercer", NUMBERED),
    ("kernel_bag_of_words.mercer", NUMBERED),
    ("kernel_blended_spectrum.mercer", NUMBERED),
];

/// Pieces of strings were numbered by the new examples first, so that the order of a sum depended on the batch; since the training
/// examples are prepared once, it does not.
const NUMBERED: &str = "pieces are numbered like the training examples";

/// The error that numbers may have where bits cannot be asked for, as a part of the largest of their kind.
const NEAR: f64 = 1e-12;

/// True if this machine rounds as the one that the fixtures were written on. Products of matrices add in the order of the
/// widest vectors that there are, so the last bits of a prediction belong to the instruction set (AVX-512 for these files);
/// those of logarithms and the like belong to the library of the system.
fn rounds_alike() -> bool {
    // what a few functions of the system's library give there, folded into one number
    const FUNCTIONS: u64 = 0x3687_31cd_97aa_573e;
    let found = (1..500).map(|i| f64::from(i) / 64.0).fold(0_u64, |sum, x| {
        let values = [x.exp(), (-x).exp_m1(), x.ln(), x.ln_1p(), x.tanh(), x.powf(0.65), x.sin()];
        values.iter().fold(sum, |sum, v| sum.rotate_left(5) ^ v.to_bits())
    });
    #[cfg(target_arch = "x86_64")]
    let wide = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512cd")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl");
    #[cfg(not(target_arch = "x86_64"))]
    let wide = false;
    wide && found == FUNCTIONS
}

/// The coverages of the regions that are asked for.
const COVERAGES: [f64; 2] = [0.6, 0.9];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/models")
}

fn document(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// A model file with what it is judged on and by.
struct Fixture {
    /// The name of the file.
    name: String,
    model: PathBuf,
    input: PathBuf,
    expected: PathBuf,
}

/// All of them, as `index.json` lists them.
fn fixtures() -> Vec<Fixture> {
    let index = document(&folder().join("index.json"));
    let models = index["models"].as_object().unwrap();
    let fixture = |(name, about): (&String, &Value)| Fixture {
        name: name.clone(),
        model: folder().join(name),
        input: folder().join("inputs").join(about["input"].as_str().unwrap()),
        expected: folder().join("expected").join(name).with_extension("json"),
    };
    models.iter().map(fixture).collect()
}

fn load(path: &Path) -> Model {
    Model::load(path).unwrap_or_else(|e| panic!("{e}"))
}

/// The examples of a file as a model takes them.
fn examples(model: &Model, input: &Path) -> Dataset {
    let Some(schema) = model.schema() else { return vectors(input) };
    let table = read(input, &ReadOptions { words: schema.word_columns(), ..ReadOptions::default() }).unwrap();
    model.data(&table).unwrap_or_else(|e| panic!("{}: {e}", input.display()))
}

/// The vectors of a file in f32, for models that were fitted in memory.
fn vectors(input: &Path) -> Dataset {
    let table = read(input, &ReadOptions::default()).unwrap();
    let vectors = table.fields.into_iter().find_map(|field| match field.data {
        FieldData::Matrix32(rows) => Some(Dataset::new(rows)),
        FieldData::Sparse(rows) => Some(Dataset::new(rows.convert::<f32>())),
        _ => None,
    });
    vectors.unwrap_or_else(|| panic!("{} has no vectors", input.display()))
}

/// Numbers row by row; JSON has no word for those that are not finite.
fn rows(values: &[f64], width: usize) -> Value {
    let number = |&v: &f64| if v.is_finite() { json!(v) } else { json!(v.to_string()) };
    values.chunks(width.max(1)).map(|row| row.iter().map(number).collect::<Value>()).collect()
}

/// Everything that a model says about the examples of a file.
fn said(model: &Model, input: &Path) -> Value {
    let data = examples(model, input);
    let mut all =
        json!({"machine": model.machine(), "trained_on": model.trained_on(), "candidates": model.candidates()});
    let settings = model.settings().iter().map(|(name, value)| (name.clone(), json!(value.to_string())));
    all["settings"] = Value::Object(settings.collect());
    all["scores"] = rows(&model.scores(&data).unwrap(), model.fitted().expansion.outputs());
    let output = model.predict(&data).unwrap();
    all["predictions"] = match &output {
        Output::Labels { .. } => json!(output.labels()),
        Output::LabelSets { .. } => json!(output.label_sets()),
        Output::Order { .. } => json!(output.ranks()),
        Output::Values { names, values, .. } => rows(values, names.len()),
        Output::Parts(parts) => parts.iter().map(|part| rows(&part.values, part.width())).collect(),
    };
    match &output {
        Output::Labels { labels, scores, probabilities, .. } => {
            all["labels"] = json!(labels);
            all["scores_of_labels"] = rows(scores, labels.len());
            if let Some(probabilities) = probabilities {
                all["probabilities"] = rows(probabilities, labels.len());
            }
        }
        Output::LabelSets { labels, scores, .. } => {
            all["labels"] = json!(labels);
            all["scores_of_labels"] = rows(scores, labels.len());
        }
        Output::Order { .. } => {}
        Output::Values { names, .. } => all["names"] = json!(names),
        Output::Parts(parts) => all["names"] = json!(parts.iter().map(|part| &part.names).collect::<Vec<_>>()),
    }
    if model.conformal().is_some() {
        let at = |c: f64| (c.to_string(), told(&model.regions(&data, c).unwrap()));
        all["regions"] = Value::Object(COVERAGES.map(at).into_iter().collect::<Map<_, _>>());
    }
    all
}

fn told(regions: &Regions) -> Value {
    match regions {
        Regions::Sets { labels, inside, p_values, .. } => {
            let k = labels.len();
            json!({"sets": inside.chunks(k).collect::<Vec<_>>(), "p_values": rows(p_values, k)})
        }
        Regions::Intervals { names, lower, upper } => {
            json!({"lower": rows(lower, names.len()), "upper": rows(upper, names.len())})
        }
        Regions::Alarms { p_values, alarms } => json!({"alarms": alarms, "p_values": rows(p_values, 1)}),
    }
}

/// The largest number of a document.
fn largest(value: &Value) -> f64 {
    match value {
        Value::Array(list) => list.iter().map(largest).fold(0.0, f64::max),
        Value::Object(map) => map.values().map(largest).fold(0.0, f64::max),
        other => other.as_f64().map_or(0.0, f64::abs),
    }
}

/// The first place where two documents differ: numbers by a bit, or by more than a part of the largest number of `expected`.
fn difference(expected: &Value, found: &Value, part: f64, place: &str) -> Option<String> {
    match (expected, found) {
        (Value::Object(e), Value::Object(f)) if e.keys().eq(f.keys()) => {
            let each = |(key, value): (&String, &Value)| difference(value, &f[key], part, &format!("{place} {key}"));
            e.iter().find_map(each)
        }
        (Value::Array(e), Value::Array(f)) => {
            let width = if part > 0.0 { part * largest(expected) } else { 0.0 };
            same(e, f, width).map(|(at, e, f)| format!("{place}{at}: {f} instead of {e}"))
        }
        _ => (expected != found).then(|| format!("{place}: {found} instead of {expected}")),
    }
}

/// The first entry of nested lists that differs, with its place.
fn same(expected: &[Value], found: &[Value], width: f64) -> Option<(String, Value, Value)> {
    if expected.len() != found.len() {
        return Some((" length".to_owned(), json!(expected.len()), json!(found.len())));
    }
    expected.iter().zip(found).enumerate().find_map(|(i, (e, f))| {
        let equal = match (e, f) {
            (Value::Array(e), Value::Array(f)) => {
                return same(e, f, width).map(|(at, e, f)| (format!("[{i}]{at}"), e, f));
            }
            (Value::Number(a), Value::Number(b)) => {
                let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
                a.to_bits() == b.to_bits() || (a - b).abs() <= width
            }
            _ => e == f,
        };
        (!equal).then(|| (format!("[{i}]"), e.clone(), f.clone()))
    })
}

#[test]
fn every_fixture_predicts_what_the_release_that_wrote_it_predicted() {
    let alike = rounds_alike();
    if !alike {
        eprintln!(
            "this machine rounds otherwise than the one that wrote the fixtures: compared to {NEAR:e}, not to the bit"
        );
    }
    let wrong = fixtures().into_iter().filter_map(|fixture| {
        let (expected, found) = (document(&fixture.expected), said(&load(&fixture.model), &fixture.input));
        let nearly = !alike || NEARLY.iter().any(|(name, _)| *name == fixture.name);
        difference(&expected, &found, if nearly { NEAR } else { 0.0 }, &fixture.name)
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{} fixtures:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_fixture_predicts_the_same_after_it_is_written_again() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("again.mercer");
    for fixture in fixtures() {
        let model = load(&fixture.model);
        model.save(&path).unwrap();
        let again = load(&path);
        let (one, two) = (said(&model, &fixture.input), said(&again, &fixture.input));
        assert_eq!(difference(&one, &two, 0.0, &fixture.name), None);
        assert!(again.to_bytes().unwrap() == std::fs::read(&path).unwrap(), "{}: another file", fixture.name);
    }
}

#[test]
fn every_file_is_tested() {
    let mut wanted: BTreeSet<PathBuf> = ["README.md", "index.json"].map(|name| folder().join(name)).into();
    for fixture in fixtures() {
        assert!(wanted.insert(fixture.model) && wanted.insert(fixture.expected), "{} is not unique", fixture.name);
        wanted.insert(fixture.input);
    }
    let mut found = BTreeSet::new();
    let parts = ["inputs", "expected"].map(|part| folder().join(part));
    for part in parts.iter().chain([&folder()]) {
        let entries = std::fs::read_dir(part).unwrap().map(|entry| entry.unwrap().path());
        found.extend(entries.filter(|path| !parts.contains(path)));
    }
    let missing: Vec<_> = wanted.difference(&found).collect();
    let strange: Vec<_> = found.difference(&wanted).collect();
    assert!(missing.is_empty() && strange.is_empty(), "missing: {missing:?}; in no list: {strange:?}");
    for (name, reason) in NEARLY {
        assert!(folder().join(name).is_file() && !reason.is_empty(), "{name}");
    }
}

/// Fails unless each name of the catalogue either has a fixture or is listed as newer than all of them.
#[track_caller]
fn covered(what: &str, catalogue: &BTreeSet<&str>, fixtures: &BTreeSet<&str>) {
    let index = document(&folder().join("index.json"));
    let newer: BTreeSet<&str> = index["newer"][what].as_array().unwrap().iter().map(|n| n.as_str().unwrap()).collect();
    let without: Vec<_> = catalogue.iter().filter(|n| !fixtures.contains(*n) && !newer.contains(*n)).collect();
    assert!(
        without.is_empty(),
        "{what} without a fixture: {without:?}; add them to `newer` of tests/fixtures/models/index.json, until a release has written their models"
    );
    let stale: Vec<_> = newer.iter().filter(|n| fixtures.contains(*n) || !catalogue.contains(*n)).collect();
    assert!(stale.is_empty(), "{what} that are newer than all fixtures: {stale:?} are not");
}

#[test]
fn every_machine_and_every_kernel_has_a_fixture() {
    let models: Vec<Model> = fixtures().iter().map(|fixture| load(&fixture.model)).collect();
    let found = models.iter().filter_map(|model| machines::find(model.machine())).map(|entry| entry.name).collect();
    covered("machines", &machines::all().map(|entry| entry.name).collect(), &found);
    let formulas: Vec<String> = models.iter().map(|model| model.kernel().to_string()).collect();
    let words = formulas.iter().flat_map(|formula| formula.split(|c: char| !c.is_alphanumeric() && c != '_'));
    let found = words.filter_map(kernels::find).map(|entry| entry.name).collect();
    covered("kernels", &kernels::all().map(|entry| entry.name).collect(), &found);
}

/// A model of what files cannot hold: it has no schema, and vectors in f32 that may be sparse.
fn fitted_in_memory(fixture: &Fixture) -> Model {
    let data = vectors(&fixture.input);
    if fixture.name == "memory_sparse.mercer" {
        let target = Target::from_text("y", &["a", "b", "c", "a", "b", "c"]);
        return Svc::default().fit(&rbf(0.2), &data.with_target(target).unwrap()).unwrap();
    }
    let target = Target::from(vec![1.0, -2.0, 0.5, 3.0, -1.0, 2.0]);
    Ridge::default().fit(&"centre(rbf(gamma=scale))".parse().unwrap(), &data.with_target(target).unwrap()).unwrap()
}

#[test]
#[ignore = "writes: what new fixtures predict, by the release that wrote them; what is there already stays"]
fn what_new_fixtures_predict_is_written() {
    std::fs::create_dir_all(folder().join("expected")).unwrap();
    for fixture in fixtures().into_iter().filter(|fixture| !fixture.expected.exists()) {
        if fixture.name.starts_with("memory_") && !fixture.model.exists() {
            fitted_in_memory(&fixture).save(&fixture.model).unwrap();
        }
        let said = said(&load(&fixture.model), &fixture.input);
        let line = |(key, value): (&String, &Value)| format!("\"{key}\": {value}");
        let lines: Vec<String> = said.as_object().unwrap().iter().map(line).collect();
        std::fs::write(&fixture.expected, format!("{{\n{}\n}}\n", lines.join(",\n"))).unwrap();
    }
}
