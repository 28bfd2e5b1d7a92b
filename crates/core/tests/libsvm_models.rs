//! Models of LIBSVM: files that LIBSVM wrote (`golden/libsvm_models.json`) decide as LIBSVM does, ours are written so that
//! they say the same when they are read again, and damaged ones give a sentence.
#![allow(clippy::unwrap_used, clippy::panic)]

use mercer::calibrate::Method;
use mercer::data::Table;
use mercer::data::read::ReadOptions;
use mercer::machines::{Coefficients, Output, Readout};
use mercer::prelude::*;
use serde_json::Value;
use std::path::Path;

fn golden() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/libsvm_models.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// A list of numbers, or a list of lists of them, row by row.
fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().unwrap();
    list.iter().flat_map(|v| if v.is_array() { numbers(v) } else { vec![v.as_f64().unwrap()] }).collect()
}

/// The lines of a file in LIBSVM's format, without labels.
fn lines(rows: &Value) -> String {
    let line = |row: &Value| {
        let pairs = numbers(row).into_iter().enumerate().map(|(j, x)| format!("{}:{x}", j + 1)).collect::<Vec<_>>();
        pairs.join(" ") + "\n"
    };
    rows.as_array().unwrap().iter().map(line).collect()
}

fn table(name: &str, text: &str) -> Table {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    mercer::data::read::read(&path, &ReadOptions::default()).unwrap()
}

fn read(text: &str) -> Model {
    Model::from_bytes(text.as_bytes(), "a.model").unwrap_or_else(|e| panic!("{e}\n{text}"))
}

#[track_caller]
fn near(got: &[f64], wanted: &[f64], room: f64, what: &str) {
    assert_eq!(got.len(), wanted.len(), "{what}");
    for (i, (g, w)) in got.iter().zip(wanted).enumerate() {
        assert!((g - w).abs() <= room, "{what}: entry {i} is {g}, not {w}; off by {:e}", (g - w).abs());
    }
}

/// Writes a model for LIBSVM and reads it again.
#[track_caller]
fn round(model: &Model) -> (Model, Vec<String>) {
    let file = model.to_libsvm().unwrap_or_else(|e| panic!("{e}"));
    (read(&file.text), file.notes)
}

#[test]
fn line_ends_of_old_macs_are_found() {
    let golden = golden();
    let text = golden["cases"][0]["text"].as_str().unwrap().replace('\n', "\r");
    let error = Model::from_bytes(text.as_bytes(), "a.model").unwrap_err().to_string();
    assert!(error.contains("carriage returns alone") && error.contains("tr '\\r' '\\n'"), "{error}");
}

#[test]
fn files_of_libsvm_decide_as_libsvm_does() {
    let file = golden();
    let mut kinds = std::collections::BTreeSet::new();
    for case in file["cases"].as_array().unwrap() {
        let what = format!("{} {} on {}", case["svm_type"], case["options"], case["data"]);
        let model = read(case["text"].as_str().unwrap());
        let data = model.data(&table("z.svm", &lines(&file["data"][case["data"].as_str().unwrap()]["z"]))).unwrap();
        let scores = model.scores(&data).unwrap();
        let decisions = numbers(&case["decisions"]);
        // LIBSVM computes in double precision; the order of a sum is all that may differ
        let size = decisions.iter().fold(1.0, |m: f64, d| m.max(d.abs()));
        near(&scores, &decisions, 1e-9 * size, &what);
        let Output::Labels { labels, probabilities, codes, .. } = model.predict(&data).unwrap() else {
            assert!(case["svm_type"].as_str().unwrap().ends_with("svr"), "{what}");
            kinds.insert(case["svm_type"].to_string());
            continue;
        };
        kinds.insert(case["svm_type"].to_string());
        if case["svm_type"] == "one_class" {
            assert!(codes.iter().zip(&decisions).all(|(c, d)| (*c == 0) == (*d > 0.0)), "{what}");
            continue;
        }
        let order: Vec<f64> = labels.iter().map(|l| l.parse().unwrap()).collect();
        assert_eq!(order, numbers(&case["labels"]), "{what}");
        let said: Vec<f64> = codes.iter().map(|&c| order[c as usize]).collect();
        assert_eq!(said, numbers(&case["predictions"]), "{what}");
        assert_eq!(case["probabilities"].is_array(), probabilities.is_some(), "{what}");
        if let Some(probabilities) = probabilities {
            let (theirs, k) = (numbers(&case["probabilities"]), labels.len());
            for ((i, ours), theirs) in probabilities.chunks(k).enumerate().zip(theirs.chunks(k)) {
                let largest = (0..k).max_by(|&a, &b| theirs[a].total_cmp(&theirs[b])).unwrap();
                // ours give way where they contradict the vote
                if largest == codes[i] as usize {
                    near(ours, theirs, if k == 2 { 1e-9 } else { 5e-3 }, &what);
                }
            }
        }
    }
    assert_eq!(kinds.len(), 5);
}

#[test]
fn files_of_libsvm_come_back_as_they_were() {
    for case in golden()["cases"].as_array().unwrap() {
        let text = case["text"].as_str().unwrap();
        let model = read(text);
        let file = model.to_libsvm().unwrap();
        assert!(file.notes.is_empty(), "{:?}", file.notes);
        // the same words and the same numbers, spelled in fewer digits; only the density of one_class has no place here
        let words = |text: &str| -> Vec<String> {
            let kept = text.lines().filter(|l| !l.starts_with("prob_density_marks"));
            let plain = |w: &str| w.parse::<f64>().map_or_else(|_| w.to_owned(), |x| x.to_string());
            kept.flat_map(|l| l.split([' ', ':'])).filter(|w| !w.is_empty()).map(plain).collect()
        };
        assert_eq!(words(&file.text), words(text));
        // and the file of ours that holds it gives the same bits
        let again = Model::from_bytes(&model.to_bytes().unwrap(), "m").unwrap();
        assert_eq!(again.to_libsvm().unwrap(), file);
    }
}

/// Points in the plane with classes of `labels` by turns.
fn sample(labels: &[&str]) -> Dataset {
    let table = mercer::datasets::load("banana", Some(60), Seed(3)).unwrap();
    let data = Schema::learn_and_apply(&table, &SchemaOptions::default()).unwrap().1.without_target();
    let Some(mercer::data::Values::Dense(rows)) = data.view("x") else { panic!() };
    let place = |i: usize| ((rows.row(i)[0] * 2.0).floor() + 9.0) as usize % labels.len();
    let y: Vec<String> = (0..60).map(|i| labels[place(i)].to_owned()).collect();
    // numbers in memory: no schema, of which the file would say nothing
    Dataset::new(rows.as_ref().clone()).with_target(Target::from(y)).unwrap()
}

fn numeric() -> Dataset {
    let data = sample(&["1"]).without_target();
    let Some(mercer::data::Values::Dense(rows)) = data.view("x") else { panic!() };
    let y: Vec<f64> = (0..60).map(|i| rows.row(i)[0].sin() + rows.row(i)[1]).collect();
    data.with_target(Target::from(y)).unwrap()
}

/// The same points as LIBSVM keeps them.
fn sparse(data: &Dataset) -> Dataset {
    let Some(mercer::data::Values::Dense(rows)) = data.view("x") else { panic!() };
    Dataset::new(SparseRows::from_dense(rows))
}

#[test]
fn what_is_written_decides_as_what_was_fitted() {
    let (two, three, y) = (sample(&["-1", "1"]), sample(&["3", "1", "2"]), numeric());
    let poly: Formula = "polynomial(degree=2, gamma=0.5, offset=0.25)".parse().unwrap();
    let scaled: Formula = "2.5*rbf(gamma=0.7)".parse().unwrap();
    for kernel in [linear(), rbf(0.5), poly, sigmoid(0.1, -0.2), scaled, rbf(0.3).on("x")] {
        let fits = [
            (Svc::default().fit(&kernel, &two).unwrap(), "c_svc"),
            (Svc::default().fit(&kernel, &three).unwrap(), "c_svc"),
            (
                Svc { loss: mercer::machines::classify::Loss::SquaredHinge, ..Svc::default() }
                    .fit(&kernel, &three)
                    .unwrap(),
                "c_svc",
            ),
            (NuSvc { nu: 0.2, ..NuSvc::default() }.fit(&kernel, &two).unwrap(), "nu_svc"),
            (Svr::default().fit(&kernel, &y).unwrap(), "epsilon_svr"),
            (NuSvr::default().fit(&kernel, &y).unwrap(), "nu_svr"),
            (OneClass::default().fit(&kernel, &y).unwrap(), "one_class"),
        ];
        for (model, kind) in fits {
            let text = model.to_libsvm().unwrap().text;
            assert!(text.starts_with(&format!("svm_type {kind}\n")), "{text}");
            let (again, notes) = round(&model);
            assert!(notes.is_empty(), "{notes:?}");
            let (ours, theirs) = (model.scores(&two).unwrap(), again.scores(&sparse(&two)).unwrap());
            near(&theirs, &ours, 1e-9, &format!("{} with {kernel}", model.machine()));
            assert_eq!(model.predict(&two).unwrap().labels(), again.predict(&sparse(&two)).unwrap().labels());
        }
    }
}

#[test]
fn scores_of_classes_become_duels_and_weights_become_vectors() {
    let (three, y) = (sample(&["3", "1", "2"]), numeric());
    let rest = Svc { strategy: mercer::machines::classify::Strategy::OneVsRest, ..Svc::default() };
    for model in [rest.fit(&rbf(0.5), &three).unwrap(), NearestMean::default().fit(&rbf(0.5), &three).unwrap()] {
        assert!(matches!(model.fitted().readout, Readout::ArgMax { .. }));
        let (again, _) = round(&model);
        let (ours, duels) = (model.scores(&three).unwrap(), again.scores(&sparse(&three)).unwrap());
        for (f, d) in ours.chunks(3).zip(duels.chunks(3)) {
            near(d, &[f[0] - f[1], f[0] - f[2], f[1] - f[2]], 1e-9, model.machine());
        }
        assert_eq!(model.predict(&three).unwrap().labels(), again.predict(&sparse(&three)).unwrap().labels());
    }
    let ridge = Ridge::default().fit(&"2*linear".parse().unwrap(), &y).unwrap();
    assert!(matches!(ridge.fitted().expansion.coefficients, Coefficients::Primal { .. }));
    let (again, _) = round(&ridge);
    assert_eq!(again.fitted().expansion.points().len(), 1);
    near(&again.scores(&sparse(&y)).unwrap(), &ridge.scores(&y).unwrap(), 1e-9, "explicit weights");
}

#[test]
fn a_ball_is_written_where_the_diagonal_is_constant() {
    let y = numeric();
    let kernel: Formula = "2.5*rbf(gamma=0.7)".parse().unwrap();
    let ball = Svdd::default().fit(&kernel, &y).unwrap();
    let (again, _) = round(&ball);
    near(&again.scores(&sparse(&y)).unwrap(), &ball.scores(&y).unwrap(), 1e-9, "svdd");
    let error = Svdd::default().fit(&linear(), &y).unwrap().to_libsvm().unwrap_err().to_string();
    assert!(error.contains("κ(x, x)") && error.contains("one_class"), "{error}");
}

#[test]
fn probabilities_go_and_come() {
    for (labels, method) in [(&["-1", "1"][..], Method::Platt), (&["3", "1", "2"], Method::Platt)] {
        let data = sample(labels);
        let (machine, kernel) = (Svc::default(), rbf(0.5));
        let job = Job { probabilities: Some(method), calibration_folds: 5, ..Job::new(&machine, &kernel) };
        let model = job.run(&data, &mercer::watch::Silent).unwrap();
        let (again, notes) = round(&model);
        assert!(notes.is_empty(), "{notes:?}");
        assert_eq!(again.fitted().calibration, model.fitted().calibration);
    }
    let (machine, kernel) = (Svc::default(), rbf(0.5));
    let job = Job { probabilities: Some(Method::Isotonic), calibration_folds: 2, ..Job::new(&machine, &kernel) };
    let (again, notes) = round(&job.run(&sample(&["-1", "1"]), &mercer::watch::Silent).unwrap());
    assert!(again.fitted().calibration.is_none());
    assert!(notes.len() == 1 && notes[0].contains("isotonic"), "{notes:?}");
}

#[test]
fn labels_that_are_words_are_numbered_and_this_is_told() {
    let model = Svc::default().fit(&rbf(0.5), &sample(&["red", "blue"])).unwrap();
    let file = model.to_libsvm().unwrap();
    assert!(file.text.contains("\nlabel 1 2\n"), "{}", file.text);
    assert!(file.notes.len() == 1 && file.notes[0].contains("1 is blue, 2 is red"), "{:?}", file.notes);
    let model = Svc::default().fit(&rbf(0.5), &sample(&["1.0", "-2"])).unwrap();
    assert!(model.to_libsvm().unwrap().text.contains("\nlabel -2 1\n"));
    let model = Svc::default().fit(&rbf(0.5), &sample(&["1.5", "2"])).unwrap();
    assert_eq!(model.to_libsvm().unwrap().notes.len(), 1);
}

#[test]
fn what_libsvm_has_no_words_for_is_refused_in_words() {
    let (data, y) = (sample(&["1", "2"]), numeric());
    let refused = |model: Model, words: &str| {
        let error = model.to_libsvm().map(|f| f.text).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    refused(
        Svc::default().fit(&laplacian(1.0), &data).unwrap(),
        "no kernel laplacian(gamma=1); linear, polynomial, rbf",
    );
    refused(Svc::default().fit(&(rbf(1.0) + linear()), &data).unwrap(), "no kernel rbf(gamma=1) + linear");
    refused(KernelPca::default().fit(&rbf(1.0), &data).unwrap(), "no such model as kernel_pca");
    let target =
        Target::from_numbers("a", vec![1.0; 60]).beside(Target::from_numbers("b", (0..60).map(f64::from).collect()));
    let several = y.clone().without_target().with_target(target.unwrap()).unwrap();
    refused(Svr::default().fit(&rbf(1.0), &several).unwrap(), "predicts one number, and this model predicts 2");
    let views = data.with_view("more", Rows::new(vec![1.0; 60], 60, 1).unwrap()).unwrap();
    let model = Svc::default().fit(&(rbf(1.0).on("x")), &views).unwrap();
    assert!(model.to_libsvm().is_ok(), "the kernel looks at one view");
}

#[test]
fn what_a_schema_does_is_told() {
    let text = "size,colour,y\n1,red,1\n2,blue,-1\n3,red,1\n5,blue,-1\n";
    let (_, data) = Schema::learn_and_apply(&table("a.csv", text), &SchemaOptions::default()).unwrap();
    let model = Svc::default().fit(&rbf(0.5), &data).unwrap();
    let (_, notes) = round(&model);
    assert!(notes.len() == 1 && notes[0].contains("one-hot") && notes[0].contains("columns are scaled"), "{notes:?}");
}

const SMALL: &str = "svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 3\ntotal_sv 3\nrho 0.5 0 -0.25\nlabel 7 -3 2\n\
                     nr_sv 1 1 1\nSV\n1 0.5 1:1 3:2 \n-1 0.25 2:1 \n-0.5 -0.25 \n";

#[test]
fn files_are_read_with_their_labels_in_order_and_dense_data_too() {
    let model = read(SMALL);
    let Readout::Vote { labels } = &model.fitted().readout else { panic!() };
    assert_eq!(labels, &["7", "-3", "2"]);
    let wanted = model.scores(&model.data(&table("a.svm", "1 1:1 3:2\n2 2:1 3:1\n")).unwrap()).unwrap();
    for dense in ["1,0,2\n0,1,1\n", "1,0,2,7\n0,1,1,2\n", "a,b,c,y\n1,0,2,7\n0,1,1,2\n"] {
        let data = model.data(&table("a.csv", dense)).unwrap();
        assert_eq!(model.scores(&data).unwrap(), wanted, "{dense}");
        assert_eq!(data.target().is_some(), dense.contains('7'));
    }
    // a coordinate that no support vector has is one of the new example all the same
    assert!(model.data(&table("a.svm", "1 1:1 9:2\n")).is_ok());
    assert!(read(&SMALL.replace('\n', "\r\n")).scores(&sparse(&sample(&["1"]))).is_ok());
}

#[test]
fn a_function_without_support_vectors_is_its_offset() {
    let model = read("svm_type epsilon_svr\nkernel_type linear\nnr_class 2\ntotal_sv 0\nrho -1.5\nSV\n");
    let data = model.data(&table("a.svm", "1 1:1\n2 2:1\n")).unwrap();
    assert_eq!(model.scores(&data).unwrap(), [1.5, 1.5]);
}

#[test]
fn mistakes_are_named_with_their_line() {
    for (from, to, line, words) in [
        ("c_svc", "d_svc", 1, "no svm_type d_svc"),
        ("rbf", "wavelet", 2, "no kernel_type wavelet"),
        ("rbf", "precomputed", 2, "--kernel precomputed"),
        ("gamma 0.5", "gamma -1", 3, "must be > 0"),
        ("gamma 0.5", "gamma inf", 3, "not a finite number"),
        ("gamma 0.5", "gama 0.5", 3, "\"gama\" is not a keyword"),
        ("gamma 0.5\n", "", 8, "gamma is missing"),
        ("nr_class 3", "nr_class 1", 4, "at least two"),
        ("nr_class 3", "nr_class 4294967296", 6, "rho has 3 values"),
        ("nr_class 3", "nr_class 18446744073709551615", 4, "at least two"),
        ("total_sv 3", "total_sv 4", 5, "another sum"),
        ("total_sv 3", "total_sv many", 5, "not a whole number"),
        ("label 7 -3 2", "label 7 7 2", 7, "label 7 stands for two classes"),
        ("label 7 -3 2", "label 7 2", 7, "label has 2 values, but there are 3"),
        ("label 7 -3 2", "label 7 x 2", 7, "label x is not"),
        ("nr_sv 1 1 1", "nr_sv 1 18446744073709551615 1", 5, "another sum"),
        ("nr_sv 1 1 1", "probA 1 1 1\nnr_sv 1 1 1", 10, "probB is missing"),
        ("SV\n1 0.5", "SV\n1", 10, "1 coefficients instead of 2"),
        ("1 0.5 1:1 3:2", "1 0.5 3:1 3:2", 10, "index 3 comes after index 3"),
        ("1 0.5 1:1 3:2", "1 0.5 0:1 3:2", 10, "index 0"),
        ("1 0.5 1:1 3:2", "1 0.5 1:1 99999999999:2", 10, "too large"),
        ("1 0.5 1:1 3:2", "1 0.5 1:1 3:nan", 10, "no finite value"),
        ("-0.5 -0.25 \n", "-0.5 -0.25 \n1 1 1:1\n", 13, "more support vectors than total_sv"),
        ("-0.5 -0.25 \n", "", 11, "ends after 2 of 3"),
        ("-0.5 -0.25 \n", "-0.5 -0.25", 12, "does not end"),
        ("SV\n", "SV\n\u{fffd} ", 10, "not a finite number"),
    ] {
        assert!(SMALL.contains(from), "{from}");
        let error = Model::from_bytes(SMALL.replacen(from, to, 1).as_bytes(), "a.model").err();
        let error = error.unwrap_or_else(|| panic!("{to}: not refused")).to_string();
        assert!(error.starts_with(&format!("a.model line {line}: ")) && error.contains(words), "{to}: {error}");
    }
}

#[test]
fn no_cut_and_no_change_of_a_file_is_a_panic() {
    let mut texts: Vec<String> = golden()["cases"]
        .as_array()
        .unwrap()
        .iter()
        .step_by(3)
        .map(|c| c["text"].as_str().unwrap().to_owned())
        .collect();
    texts.push(SMALL.to_owned());
    let mut random = Seed(11).stream("damage");
    let (mut refused, mut taken) = (0, 0);
    let new = sparse(&sample(&["1"]));
    for text in &texts {
        for len in 0..text.len() {
            assert!(Model::from_bytes(&text.as_bytes()[..len], "cut").is_err(), "cut to {len} is read\n{text}");
        }
        for _ in 0..1500 {
            let mut bytes = text.clone().into_bytes();
            let at = random.below(bytes.len());
            match random.below(5) {
                0 => bytes[at] = random.below(256) as u8,
                1 => bytes[at] = b"0123456789 :.-e\n"[random.below(16)],
                2 => drop(bytes.remove(at)),
                3 => bytes.insert(at, b"0123456789 :.-e\n"[random.below(16)]),
                _ => {
                    let digits = b"999999999999";
                    bytes.splice(at..at, digits.iter().copied());
                }
            }
            match Model::from_bytes(&bytes, "changed") {
                Ok(model) => {
                    taken += 1;
                    let _ = model.predict(&new);
                    let _ = model.to_libsvm();
                }
                Err(error) => {
                    refused += 1;
                    assert!(error.to_string().starts_with("changed "), "{error}");
                }
            }
        }
    }
    assert!(refused > 1000 && taken > 1000, "{refused} refused, {taken} taken: both sides are to be seen");
}
