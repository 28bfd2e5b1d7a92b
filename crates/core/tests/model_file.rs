//! Damaged and made-up model files: always a sentence, never a panic and never memory without bound (`support/memory.rs`
//! refuses what no small model can need).
#![allow(clippy::unwrap_used, clippy::panic)]

use mercer::calibrate::Method as Curves;
use mercer::conformal::{Method, Recipe};
use mercer::data::Table;
use mercer::data::read::{ReadOptions, read};
use mercer::formula::Landmarking;
use mercer::machines::baseline::{AdaBoost, NetOptions, RbfNetworkRegression};
use mercer::machines::{Coefficients, Expansion, Fitted, Part, PartNames, SolverReport};
use mercer::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A model, and what it is asked to predict.
struct Sample {
    name: &'static str,
    bytes: Vec<u8>,
    new: Dataset,
    table: Option<Table>,
}

fn sample(name: &'static str, model: &Model, new: &Dataset, table: Option<&Table>) -> Sample {
    let bytes = model.to_bytes().unwrap();
    assert!(Model::from_bytes(&bytes, "m").is_ok(), "{name}");
    Sample { name, bytes, new: new.clone().without_target(), table: table.cloned() }
}

fn samples() -> Vec<Sample> {
    let x = Rows::new((0..24).map(|i| f64::from(i * i % 11) / 3.0).collect(), 12, 2).unwrap();
    let labels: Vec<String> = (0..12).map(|i| ["a", "b", "c"][i % 3].to_owned()).collect();
    let dense = Dataset::new(x.clone()).with_target(Target::from(labels.clone())).unwrap();
    let numbers = Target::from((0..12).map(f64::from).collect::<Vec<_>>());
    let plain = Dataset::new(x.clone()).with_target(numbers.clone()).unwrap();
    let sparse = Dataset::new(SparseRows::from_dense(&x)).with_target(numbers.clone()).unwrap();
    let single = Dataset::new(x.convert::<f32>()).with_target(numbers.clone()).unwrap();
    let wide = Dataset::new(wide()).with_target(Target::from(labels.clone())).unwrap();
    let words: Vec<String> = (0..12).map(|i| "abcabé".chars().cycle().skip(i).take(4 + i % 3).collect()).collect();
    let text = Dataset::new(words).with_target(Target::from(labels)).unwrap();
    let matrix = Rows::new((0..144).map(|i| f64::from(u8::from(i % 13 == 0))).collect(), 12, 12).unwrap();
    let matrix = Dataset::new(matrix).with_target(numbers).unwrap();
    let centred = "centre(rbf(gamma=0.5))".parse::<Formula>().unwrap();
    let net = NetOptions { centres: 3, ..NetOptions::default() };
    let mut all = vec![
        sample("svc", &Svc::default().fit(&rbf(0.5), &dense).unwrap(), &dense, None),
        sample("primal", &Ridge::default().fit(&linear(), &plain).unwrap(), &plain, None),
        sample("columns left out", &LinearSvc::default().fit(&linear(), &wide).unwrap(), &wide, None),
        sample("sparse", &Ridge::default().fit(&rbf(0.5), &sparse).unwrap(), &sparse, None),
        sample("single", &KernelPca::default().fit(&rbf(0.5), &single).unwrap(), &single, None),
        sample("text", &NearestMean::default().fit(&spectrum(2).normalise(), &text).unwrap(), &text, None),
        sample("neighbours", &Knn::default().fit(&rbf(0.5), &dense).unwrap(), &dense, None),
        sample("stumps", &AdaBoost { rounds: 3, ..AdaBoost::default() }.fit(&linear(), &dense).unwrap(), &dense, None),
        sample("net", &RbfNetworkRegression { net }.fit(&linear(), &sparse).unwrap(), &sparse, None),
        sample("calibrated", &calibrated(&dense, Curves::Platt), &dense, None),
        sample("isotonic", &calibrated(&dense, Curves::Isotonic), &dense, None),
        sample("split", &conformal(&Svc::default(), &rbf(0.5), Method::Split, &dense), &dense, None),
        sample("folds", &conformal(&Svc::default(), &rbf(0.5), Method::Cross, &dense), &dense, None),
        sample("left out", &conformal(&Ridge::default(), &rbf(0.5), Method::Jackknife, &plain), &plain, None),
        sample("candidates", &conformal(&Ridge::default(), &rbf(0.5), Method::Full, &plain), &plain, None),
        sample("centred folds", &conformal(&Ridge::default(), &centred, Method::Cross, &sparse), &sparse, None),
        sample("centred", &Svc::default().fit(&centred, &dense).unwrap(), &dense, None),
        sample(
            "landmarks",
            &Svc::default().fit(&rbf(0.5).nystrom(4, Landmarking::Uniform), &dense).unwrap(),
            &dense,
            None,
        ),
        sample("precomputed", &Ridge::default().fit(&precomputed(), &matrix).unwrap(), &matrix, None),
    ];
    let views = plain.clone().with_view("b", x.clone()).unwrap();
    all.push(sample("parts", &parts(&views), &views, None));
    // models of files bring their schema: columns with categories and gaps, and sparse vectors
    let folder = tempfile::tempdir().unwrap();
    let (csv, svm) = (folder.path().join("a.csv"), folder.path().join("a.svm"));
    std::fs::write(&csv, "size,colour,y\n1,red,0\n,blue,1\n3,,0\n2,red,1\n").unwrap();
    std::fs::write(&svm, "1 1:2 3:1\n-1 2:1\n1 1:1\n-1 2:3 3:1\n").unwrap();
    for (name, path) in [("columns", csv), ("vectors", svm)] {
        let table = read(&path, &ReadOptions::default()).unwrap();
        let options = SchemaOptions { missing: mercer::data::Missing::Mean, ..SchemaOptions::default() };
        let (_, data) = Schema::learn_and_apply(&table, &options).unwrap();
        let model = Svc::default().fit(&rbf(0.5), &data).unwrap();
        all.push(sample(name, &model, &data, Some(&table)));
    }
    all
}

/// Two views, of which one part has weights on examples and the other on coordinates.
fn parts(data: &Dataset) -> Model {
    let names = |name: &str| PartNames { name: name.to_owned(), coordinates: vec!["c1".to_owned(), "c2".to_owned()] };
    let dual = Coefficients::Dual { points: vec![3, 7, 1], alpha: vec![1.0, -1.0, 0.5, 2.0, -3.0, 0.25] };
    let primal = Coefficients::Primal { weights: vec![1.0, 0.0, -0.5, 2.0], width: 2, scale: 1.0 };
    let part = |term: usize, coefficients: Coefficients| Part {
        term,
        expansion: Expansion { coefficients, offsets: vec![0.5, -0.5] },
    };
    let fitted =
        Fitted::of_parts(vec![(names("x"), part(0, dual)), (names("b"), part(1, primal))], SolverReport::direct());
    Model::assembled("kernel_pca", Vec::new(), rbf(0.5).on("x") + linear().on("b"), fitted, data)
}

/// Vectors of 41 coordinates, of which three occur.
fn wide() -> SparseRows<f64> {
    let mut rows = SparseRows::new(41);
    for i in 0..12_u32 {
        let (index, value) = ([3, 17, 40][i as usize % 3], f64::from(1 + i));
        assert!(rows.push(&[mercer::data::Coordinate { index, value }]));
    }
    rows
}

/// A classifier with probabilities.
fn calibrated(data: &Dataset, method: Curves) -> Model {
    let (machine, kernel) = (Svc::default(), rbf(0.5));
    let job = Job { probabilities: Some(method), calibration_folds: 2, ..Job::new(&machine, &kernel) };
    job.run(data, &mercer::watch::Silent).unwrap()
}

/// A model with sets or intervals; classes are dealt out, so that every fold has some.
fn conformal(machine: &dyn mercer::machines::Machine, kernel: &Formula, method: Method, data: &Dataset) -> Model {
    let classes = machine.entry().learns == mercer::machines::Learns::Classes;
    let recipe = Recipe { folds: 3, mondrian: classes, ..Recipe::new(method) };
    Job { conformal: Some(recipe), ..Job::new(machine, kernel) }.run(data, &mercer::watch::Silent).unwrap()
}

fn find(name: &str) -> Sample {
    samples().into_iter().find(|s| s.name == name).unwrap()
}

#[test]
fn every_cut_of_a_file_is_an_error() {
    for sample in samples() {
        for len in 0..sample.bytes.len() {
            let error = Model::from_bytes(&sample.bytes[..len], "cut.model").err();
            let error = error.unwrap_or_else(|| panic!("{} cut to {len} bytes is read", sample.name)).to_string();
            assert!(
                error.starts_with("cut.model is not a mercer model") || error.starts_with("cut.model is damaged"),
                "{error}"
            );
        }
    }
}

#[test]
fn every_change_of_a_file_is_an_error() {
    let mut random = Seed(7).stream("damage");
    for sample in samples() {
        let header = 8 + u64::from_le_bytes(sample.bytes[..8].try_into().unwrap()) as usize;
        let text_end = sample.bytes[..header].iter().rposition(|&b| b != b' ').unwrap() + 1;
        for _ in 0..4000 {
            let mut bytes = sample.bytes.clone();
            let at = random.below(bytes.len());
            let byte = random.below(256) as u8;
            match random.below(4) {
                0 => bytes[at] ^= 1 << random.below(8),
                1 => bytes[at] = byte,
                2 => bytes.insert(at, byte),
                _ => drop(bytes.remove(at)),
            }
            // blanks after the header mean nothing, whichever they are
            if bytes != sample.bytes && !(text_end..header).contains(&at) {
                assert!(Model::from_bytes(&bytes, "m").is_err(), "{}: a change at {at} is not seen", sample.name);
            } else if let Ok(read) = Model::from_bytes(&bytes, "m") {
                assert!(read.to_bytes().unwrap() == sample.bytes, "{}", sample.name);
            }
        }
    }
}

#[test]
fn other_files_are_told_apart_from_damaged_ones() {
    let error = |bytes: &[u8]| Model::from_bytes(bytes, "x").unwrap_err().to_string();
    for bytes in [&b""[..], b"PK\x03\x04 and more of it", b"\x10\0\0\0\0\0\0\0{\"a\":1}         ", &[0xff; 64]] {
        assert!(error(bytes).starts_with("x is not a mercer model"), "{}", error(bytes));
    }
    // a safetensors file of somebody else
    let foreign = b"{\"__metadata__\":{\"format\":\"pt\"}} ";
    let bytes: Vec<u8> = (foreign.len() as u64).to_le_bytes().iter().chain(foreign).copied().collect();
    assert!(error(&bytes).starts_with("x is not a mercer model"), "{}", error(&bytes));
    assert!(matches!(Model::load("/no/such/file"), Err(mercer::model::FileError::Io { .. })));
}

type Arrays = BTreeMap<String, (String, Vec<u64>, Vec<u8>)>;

/// Takes a file apart, lets the document and the arrays be changed, and puts it together with the right checksum.
fn forged(bytes: &[u8], change: impl FnOnce(&mut Value, &mut Arrays), edit: impl FnOnce(String) -> String) -> Vec<u8> {
    let end = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&bytes[8..end]).unwrap();
    let mut document: Value = serde_json::from_str(header["__metadata__"]["mercer"].as_str().unwrap()).unwrap();
    let mut arrays = Arrays::new();
    for (name, entry) in header.as_object().unwrap().iter().filter(|(name, _)| *name != "__metadata__") {
        let offset = |k: usize| end + entry["data_offsets"][k].as_u64().unwrap() as usize;
        let shape = entry["shape"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
        let dtype = entry["dtype"].as_str().unwrap().to_owned();
        arrays.insert(name.clone(), (dtype, shape, bytes[offset(0)..offset(1)].to_vec()));
    }
    change(&mut document, &mut arrays);
    let text = edit(document.to_string());
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(text.as_bytes());
    let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
    for (name, (dtype, shape, values)) in &arrays {
        hasher.update(format!("\n{name} {dtype} {shape:?}\n").as_bytes());
        hasher.update(values);
        let offsets = [data.len(), data.len() + values.len()];
        header.insert(name.clone(), json!({"dtype": dtype, "shape": shape, "data_offsets": offsets}));
        data.extend_from_slice(values);
    }
    header.insert("__metadata__".to_owned(), json!({"mercer": text, "checksum": format!("{:08x}", hasher.finalize())}));
    let header = serde_json::to_string(&header).unwrap();
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend_from_slice(header.as_bytes());
    file.extend(data);
    file
}

fn keep(text: String) -> String {
    text
}

/// True if a file is refused with a sentence; else it gives a model that predicts finite numbers or says why not.
fn is_refused(sample: &Sample, bytes: &[u8], what: &str) -> bool {
    let model = match Model::from_bytes(bytes, "m") {
        Err(error) => {
            let words = error.to_string();
            assert!(words.starts_with("m is damaged: ") && words.len() > 20, "{}, {what}: {words}", sample.name);
            return true;
        }
        Ok(model) => model,
    };
    let data = sample.table.as_ref().map(|table| model.data(table));
    for data in [Some(Ok(sample.new.clone())), data].into_iter().flatten().flatten() {
        if let Ok(scores) = model.scores(&data) {
            assert!(scores.iter().all(|s| s.is_finite()), "{}, {what}: scores are not finite", sample.name);
            let predicted = model.predict(&data).unwrap();
            assert_eq!(predicted.len(), data.len(), "{}, {what}", sample.name);
            assert!(predicted.labels().len() <= data.len());
            if let Ok(regions) = model.regions(&data, 0.8) {
                assert_eq!(regions.len(), data.len(), "{}, {what}", sample.name);
            }
        }
    }
    false
}

#[test]
fn weights_of_hashed_features_take_the_place_of_those_that_occur() {
    let format = |bytes: &[u8]| {
        let mut found = Value::Null;
        forged(bytes, |document, _| found = document["format"].clone(), keep);
        found
    };
    let words = ["free prize now", "call me now", "win a prize", "see you at home"].map(str::to_owned);
    let data = Dataset::new(words.to_vec()).with_target(Target::from_text("y", &["s", "h", "s", "h"])).unwrap();
    let model = LinearSvc::default().fit(&"normalise(bag_of_words)".parse().unwrap(), &data).unwrap();
    assert!(model.fitted().expansion.width().unwrap() > 1 << 19, "a weight for every coordinate up to the last");
    let bytes = model.to_bytes().unwrap();
    assert!((500..5000).contains(&bytes.len()), "{} bytes", bytes.len());
    let read = Model::from_bytes(&bytes, "m").unwrap();
    assert_eq!(read.fitted().expansion, model.fitted().expansion);
    assert_eq!(model.fitted().training_scores, Some(read.scores(&data).unwrap()));
    // who has read files without that can read all others as before
    assert_eq!((format(&bytes), format(&find("primal").bytes)), (json!(2), json!(1)));
    // candidates that are learned from, and centres of a part, are for later readers; what older ones know is not
    let found = ["split", "folds", "left out", "centred", "candidates", "centred folds", "landmarks", "parts"]
        .map(|name| format(&find(name).bytes));
    assert_eq!(found, [1, 1, 1, 1, 3, 3, 4, 5].map(|version| json!(version)));
}

#[test]
fn a_forged_file_without_a_change_is_read() {
    for sample in samples() {
        assert!(!is_refused(&sample, &forged(&sample.bytes, |_, _| {}, keep), "no change"), "{}", sample.name);
    }
}

#[test]
fn every_field_of_the_document_may_lie_without_harm() {
    // every place of the document, replaced by every kind of nonsense
    fn places(value: &Value, at: &str, all: &mut Vec<String>) {
        all.push(at.to_owned());
        match value {
            Value::Object(map) => map.iter().for_each(|(k, v)| places(v, &format!("{at}/{k}"), all)),
            Value::Array(list) => list.iter().enumerate().for_each(|(k, v)| places(v, &format!("{at}/{k}"), all)),
            _ => {}
        }
    }
    let lies = [
        json!(null),
        json!(-1),
        json!(0),
        json!(1),
        json!(7),
        json!(1_u64 << 32),
        json!(1_u64 << 60),
        json!(u64::MAX),
        json!(-2.5),
        json!(1e100),
        json!(""),
        json!("spectrum"),
        json!([]),
        json!([1e300, 2]),
        json!({}),
        json!(true),
    ];
    for sample in samples() {
        let mut all = Vec::new();
        forged(&sample.bytes, |document, _| places(document, "", &mut all), keep);
        let (mut refused, mut tried) = (0, 0);
        for place in all.iter().filter(|p| !p.is_empty() && *p != "/format") {
            for lie in &lies {
                let bytes = forged(&sample.bytes, |d, _| *d.pointer_mut(place).unwrap() = lie.clone(), keep);
                refused += usize::from(is_refused(&sample, &bytes, &format!("{place} = {lie}")));
                tried += 1;
            }
        }
        assert!(refused * 2 > tried, "{}: {refused} of {tried} refused", sample.name);
    }
}

#[test]
fn every_array_may_lie_without_harm() {
    let mut random = Seed(9).stream("arrays");
    for sample in samples() {
        let mut names = Vec::new();
        forged(&sample.bytes, |_, arrays| names.extend(arrays.keys().cloned()), keep);
        for name in &names {
            let gone = forged(&sample.bytes, |_, arrays| drop(arrays.remove(name)), keep);
            assert!(is_refused(&sample, &gone, &format!("{name} missing")), "{} {name}", sample.name);
            let short = |_: &mut Value, arrays: &mut Arrays| {
                let (dtype, shape, values) = arrays.get_mut(name).unwrap();
                let width = if dtype.ends_with("64") {
                    8
                } else if dtype.ends_with("32") {
                    4
                } else {
                    1
                };
                values.truncate(values.len().saturating_sub(width));
                *shape = vec![(values.len() / width) as u64];
            };
            is_refused(&sample, &forged(&sample.bytes, short, keep), &format!("{name} shorter"));
            let empty = |_: &mut Value, arrays: &mut Arrays| {
                let (_, shape, values) = arrays.get_mut(name).unwrap();
                (*shape, *values) = (vec![0, 1 << 60], Vec::new());
            };
            is_refused(&sample, &forged(&sample.bytes, empty, keep), &format!("{name} empty but wide"));
            for _ in 0..60 {
                let bytes = forged(
                    &sample.bytes,
                    |_, arrays| {
                        let (dtype, _, values) = arrays.get_mut(name).unwrap();
                        let width = if dtype.ends_with("64") { 8 } else { 4 };
                        if values.len() >= width {
                            let at = random.below(values.len() / width) * width;
                            let lie: [u8; 8] = match random.below(5) {
                                0 => f64::NAN.to_le_bytes(),
                                1 => [0x00, 0x00, 0x80, 0x7f, 0x00, 0x00, 0xf0, 0x7f], // ∞ in f32 and f64
                                2 => [0xff; 8],
                                3 => (random.below(30) as u64).to_le_bytes(),
                                _ => (random.bits() >> 32 << 20).to_le_bytes(),
                            };
                            values[at..at + width].copy_from_slice(&lie[..width]);
                        }
                    },
                    keep,
                );
                // an array of numbers may hold other finite numbers: sums of them may pass the range, which is no harm
                if let Ok(model) = Model::from_bytes(&bytes, "m") {
                    let _ = model.predict(&sample.new);
                }
            }
        }
    }
}

#[test]
fn lies_that_would_cost_most_are_refused_in_words() {
    let refused =
        |name: &str, change: &dyn Fn(&mut Value, &mut Arrays), edit: &dyn Fn(String) -> String, words: &str| {
            let sample = find(name);
            let error = Model::from_bytes(&forged(&sample.bytes, change, edit), "m").err();
            let error = error.unwrap_or_else(|| panic!("{name}: not refused, wanted {words}")).to_string();
            assert!(error.contains(words), "{name}: {error}, wanted {words}");
        };
    let set = |place: &'static str, value: Value| {
        move |d: &mut Value, _: &mut Arrays| *d.pointer_mut(place).unwrap() = value.clone()
    };
    let kernel = |text: String| set("/kernel", json!(text));
    refused("svc", &set("/format", json!(7)), &keep, "has format version 7, but this mercer reads up to 6");
    refused("svc", &set("/format", json!(u64::MAX)), &keep, "has format version 18446744073709551615");
    refused("svc", &set("/machine", json!("oracle")), &keep, "no machine called oracle");
    refused("svc", &kernel("magic(3)".to_owned()), &keep, "no kernel called \"magic\"");
    refused("svc", &kernel(format!("{}linear{}", "exp(".repeat(100_000), ")".repeat(100_000))), &keep, "nested");
    refused("svc", &kernel("rbf(gamma=scale)".to_owned()), &keep, "a word where a number should be");
    refused("svc", &kernel("rbf(linear, gamma=median)".to_owned()), &keep, "a word where a number should be");
    refused("svc", &kernel("rbf(gamma=-1)".to_owned()), &keep, "must be > 0");
    refused("svc", &kernel("centre(rbf(gamma=1))".to_owned()), &keep, "another number of centres");
    let outside = |_: &mut Value, arrays: &mut Arrays| arrays.get_mut("centring.0.part").unwrap().2.fill(0xff);
    refused("centred folds", &outside, &keep, "examples that are not in the file");
    let outside = |_: &mut Value, arrays: &mut Arrays| arrays.get_mut("conformal.compared").unwrap().2.fill(0xff);
    refused("candidates", &outside, &keep, "does not fit its examples");
    let flat = |_: &mut Value, arrays: &mut Arrays| arrays.get_mut("conformal.factor").unwrap().2.fill(0);
    refused("candidates", &flat, &keep, "does not fit its examples");
    refused("candidates", &set("/conformal/lambda", json!(-1.0)), &keep, "does not fit its examples");
    refused("centred", &set("/centrings", json!(u64::MAX)), &keep, "is missing");
    refused("svc", &kernel("nystrom(rbf(gamma=1))".to_owned()), &keep, "another number of approximations");
    refused("landmarks", &kernel("rbf(gamma=1)".to_owned()), &keep, "another number of approximations");
    let short = |_: &mut Value, arrays: &mut Arrays| {
        let map = arrays.get_mut("landmarks.0.map").unwrap();
        map.2.truncate(map.2.len() - 8);
        map.1 = vec![map.2.len() as u64 / 8];
    };
    refused("landmarks", &short, &keep, "does not fit it");
    refused("svc", &set("/readout/vote/labels", json!(["a", "b"])), &keep, "readout does not fit");
    refused("svc", &set("/readout/vote/labels", json!(["a", "b", "a"])), &keep, "stands for two of its classes");
    refused("svc", &set("/coefficients/pairwise/count", json!(1_u64 << 60)), &keep, "do not fit its classes");
    refused("neighbours", &set("/coefficients/neighbours/k", json!(13)), &keep, "do not fit together");
    refused("neighbours", &set("/coefficients/neighbours/k", json!(0)), &keep, "do not fit together");
    refused("stumps", &set("/coefficients/committee/width", json!(1)), &keep, "ensemble does not fit");
    refused("net", &set("/coefficients/committee/nets/0/centres", json!(1_u64 << 62)), &keep, "ensemble does not fit");
    refused("net", &set("/coefficients/committee/nets/0/centres", json!(2)), &keep, "ensemble does not fit");
    refused("net", &set("/coefficients/committee/nets/0/output", json!(u64::MAX)), &keep, "ensemble does not fit");
    refused("svc", &set("/views/0/len", json!(u64::MAX)), &keep, "wrong shape");
    refused("svc", &set("/views/0/width", json!(1_u64 << 60)), &keep, "wrong shape");
    refused("sparse", &set("/views/0/width", json!(1)), &keep, "wrong shape");
    refused("calibrated", &set("/calibration/curves", json!([])), &keep, "another number of curves");
    refused(
        "calibrated",
        &set("/calibration/method", json!("isotonic")),
        &keep,
        "a curve of its probabilities is none",
    );
    refused("calibrated", &set("/calibration/method", json!("magic")), &keep, "document");
    let knots = "/calibration/curves/0/isotonic/knots";
    refused("isotonic", &set(knots, json!([])), &keep, "a curve of its probabilities is none");
    refused("isotonic", &set(knots, json!([[0, 0.5], [0, 0.6]])), &keep, "a curve of its probabilities is none");
    refused("isotonic", &set(knots, json!([[0, 1.5]])), &keep, "a curve of its probabilities is none");
    refused(
        "primal",
        &set("/coefficients/primal/scale", json!(1)),
        &|t| t.replace("\"scale\":1", "\"scale\":1e999"),
        "document",
    );
    let (width, columns) = ("/coefficients/primal/width", "/coefficients/primal/columns");
    for lie in [0, 40, 1 << 25, u64::MAX] {
        refused("columns left out", &set(width, json!(lie)), &keep, "columns that it does not have");
    }
    refused("columns left out", &set(columns, json!(2)), &keep, "weights have the wrong shape");
    refused("columns left out", &set(columns, json!(null)), &keep, "weights have the wrong shape");
    let twice = |_: &mut Value, arrays: &mut Arrays| arrays.get_mut("weights.columns").unwrap().2.copy_within(0..4, 4);
    refused("columns left out", &twice, &keep, "columns that it does not have");
    refused("svc", &|_, _| {}, &|t| format!("{}{}", "[".repeat(100_000), t), "document");
    refused("svc", &set("/views", json!([])), &keep, "no examples");
    refused("columns", &set("/schema/fields", json!(0)), &keep, "a column that the training file did not have");
    refused("columns", &set("/schema/views", json!([])), &keep, "another number of views");
    refused(
        "columns",
        &set("/schema/views/0/content/columns/columns/1/code/categories/fill", json!(9)),
        &keep,
        "schema does not fit",
    );
    refused(
        "columns",
        &set("/schema/views/0/content/columns/scaler/Affine/shift", json!([1.0])),
        &keep,
        "schema does not fit",
    );
    refused("vectors", &set("/schema/views/0/content/sparse/width", json!(1_u64 << 60)), &keep, "schema does not fit");
    let swap = |_: &mut Value, arrays: &mut Arrays| {
        let indices = &mut arrays.get_mut("view.0.indices").unwrap().2;
        let first: Vec<u8> = indices[..4].to_vec();
        indices.copy_within(4..8, 0);
        indices[4..8].copy_from_slice(&first);
    };
    refused("sparse", &swap, &keep, "wrong shape");
    let far = |_: &mut Value, arrays: &mut Arrays| {
        arrays.get_mut("points").unwrap().2[..8].copy_from_slice(&99_u64.to_le_bytes());
    };
    refused("svc", &far, &keep, "an example that is not in the file");
    let far = |_: &mut Value, arrays: &mut Arrays| arrays.get_mut("part.0.points").unwrap().2.fill(0xff);
    refused("parts", &far, &keep, "an example that is not in the file");
    refused("parts", &set("/coefficients/parts/1/term", json!(2)), &keep, "a term that its kernel does not have");
    refused("parts", &kernel("rbf(gamma=1)@x".to_owned()), &keep, "a term that its kernel does not have");
    refused("parts", &set("/coefficients/parts/0/coefficients", json!({"parts": []})), &keep, "has parts");
    refused("parts", &set("/coefficients/parts", json!([])), &keep, "its parts do not fit its readout");
    refused("parts", &set("/readout/parts/1/name", json!("x")), &keep, "its parts do not fit its readout");
    refused("parts", &set("/readout", json!("order")), &keep, "its parts do not fit its readout");
    refused("svc", &set("/readout", json!({"parts": []})), &keep, "its parts do not fit its readout");
    refused("parts", &set("/readout/parts/0/coordinates", json!([])), &keep, "readout does not fit its outputs");
    let uncertain = |d: &mut Value, _: &mut Arrays| d["posterior"] = json!({"prior": 1.0, "added": []});
    refused("parts", &uncertain, &keep, "one posterior cannot belong");
    // a field that is never reached costs nothing, however large it claims to be
    let sample = find("columns");
    let bytes = forged(&sample.bytes, set("/schema/fields", json!(1_u64 << 60)), keep);
    assert!(!is_refused(&sample, &bytes, "fields = 2^60"));
}

#[test]
fn a_model_that_could_not_be_read_again_is_not_written_and_its_number_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.mercer");
    let x = Rows::new((0..24).map(|i| f64::from(i * i % 11) / 3.0).collect(), 12, 2).unwrap();
    let data = Dataset::new(x).with_target(Target::from((0..12).map(f64::from).collect::<Vec<_>>())).unwrap();
    let good = Ridge::default().fit(&rbf(0.5), &data).unwrap();
    good.save(&path).unwrap();
    let old = std::fs::read(&path).unwrap();
    let refused = |change: fn(&mut Fitted), named: &str| {
        let mut bad = good.fitted().clone();
        change(&mut bad);
        let said = good.clone().with_fitted(bad).save(&path).unwrap_err().to_string();
        assert!(said.contains("could not be read again") && said.contains(named), "{said}");
        assert_eq!(std::fs::read(&path).unwrap(), old);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    };
    refused(|f| f.report.notes.push(("residual".to_owned(), f64::NAN)), "\"residual\" is not finite");
    refused(|f| f.expansion.offsets = vec![f64::INFINITY], "not finite");
    let infinite = |f: &mut Fitted| match &mut f.expansion.coefficients {
        Coefficients::Dual { alpha, .. } => alpha[1] = f64::NEG_INFINITY,
        _ => panic!("an expansion over examples"),
    };
    refused(infinite, "is -inf, which is not finite");
}
