//! mercer against the numbers of other implementations, kept in `golden/`.
#![allow(clippy::unwrap_used, clippy::panic)]

use mercer::calibrate::{Form, HeldOutScores, Layout, Method, platt, pool};
use mercer::gram::{Gram, fill};
use mercer::machines::reduce::PcaSolver;
use mercer::machines::regress::RidgeSolver;
use mercer::machines::{Coefficients, Machine, Output, Task};
use mercer::metrics::{Metrics, measure};
use mercer::params::{Setting, assign};
use mercer::prelude::*;
use mercer::watch::Silent;
use serde_json::Value;
use std::path::Path;

fn golden(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden").join(name);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn cases(file: &Value) -> &[Value] {
    let cases = file["cases"].as_array().unwrap();
    assert!(!cases.is_empty());
    cases
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("no text {key}"))
}

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("no number {key}"))
}

/// A list of numbers, or a list of lists of them, row by row.
fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().unwrap();
    list.iter().flat_map(|v| if v.is_array() { numbers(v) } else { vec![v.as_f64().unwrap()] }).collect()
}

fn vectors(value: &Value) -> Rows<f64> {
    let rows: Vec<Vec<f64>> = value.as_array().unwrap().iter().map(numbers).collect();
    Rows::from_vectors(&rows).unwrap()
}

fn matrix(gram: &dyn Gram) -> Vec<f64> {
    let mut values = vec![0.0; gram.shape().0 * gram.shape().1];
    fill(gram, &mut values);
    values
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |m, v| m.max(v.abs()))
}

/// Fails unless both have the same length and differ by less than the tolerance everywhere.
#[track_caller]
fn near(got: &[f64], wanted: &[f64], tolerance: f64, what: &str) {
    assert_eq!(got.len(), wanted.len(), "{what}");
    for (i, (g, w)) in got.iter().zip(wanted).enumerate() {
        assert!((g - w).abs() <= tolerance, "{what}: entry {i} is {g}, not {w}; off by {:e}", (g - w).abs());
    }
}

#[test]
fn kernel_values_are_those_of_others_in_every_representation() {
    let file = golden("kernels.json");
    for case in cases(&file) {
        let (formula, name) = (text(case, "formula"), text(case, "data"));
        let what = format!("{formula} on {name}");
        let (x, z) = (vectors(&file["data"][name]["x"]), vectors(&file["data"][name]["z"]));
        let kernel: Formula = formula.parse().unwrap();
        let expected = numbers(&case["expected"]);
        let dense = |x: &Rows<f64>| Dataset::new(x.clone());
        let got = matrix(kernel.cross(&dense(&x), &dense(&z)).unwrap().as_ref());
        let scale = largest(&expected);
        // ours may be off by rounding, a hundred units in the last place of the largest entry; theirs by `error`
        let rounding = 100.0 * f64::EPSILON * scale.max(f64::MIN_POSITIVE);
        near(&got, &expected, rounding + 2.0 * number(case, "error"), &what);
        if case["exact"].is_array() {
            // distances through products lose what the spread is smaller than the mean; centring gives it back
            near(&got, &numbers(&case["exact"]), rounding.max(2e-12 * scale.max(1e-300)), &format!("{what}, exact"));
        }
        // sparse vectors hold the same numbers
        let sparse = |x: &Rows<f64>| Dataset::new(SparseRows::from_dense(x));
        let cancelled = if name == "offset" { 1e-8 } else { 0.0 };
        let thin = matrix(kernel.cross(&sparse(&x), &sparse(&z)).unwrap().as_ref());
        near(&thin, &got, rounding + cancelled * scale.max(1e-2), &format!("{what}, sparse"));
        let mixed = matrix(kernel.cross(&sparse(&x), &dense(&z)).unwrap().as_ref());
        near(&mixed, &thin, rounding + cancelled * scale.max(1e-2), &format!("{what}, sparse with dense"));
        // single precision is compared with the values at the rounded data, so that only the arithmetic differs
        let narrow = |x: &Rows<f64>| Dataset::new(x.convert::<f32>());
        let widened = |x: &Rows<f64>| Dataset::new(x.convert::<f32>().convert::<f64>());
        let single = matrix(kernel.cross(&narrow(&x), &narrow(&z)).unwrap().as_ref());
        let at = matrix(kernel.cross(&widened(&x), &widened(&z)).unwrap().as_ref());
        near(&single, &at, 2e-5 * scale.max(1e-30), &format!("{what}, f32"));
    }
}

#[test]
fn gamma_scale_is_that_of_scikit_learn() {
    for (name, data) in golden("kernels.json")["data"].as_object().unwrap() {
        let gamma = number(data, "gamma_scale");
        let x = vectors(&data["x"]);
        for data in [Dataset::new(x.clone()), Dataset::new(SparseRows::from_dense(&x))] {
            let resolved = rbf_scaled().resolve(&data, Seed(0)).unwrap().to_string();
            let got: f64 = resolved.trim_start_matches("rbf(gamma=").trim_end_matches(')').parse().unwrap();
            assert!((got / gamma - 1.0).abs() < 1e-9, "{name}: {resolved}, not {gamma}");
        }
    }
}

#[test]
fn string_kernels_count_as_brute_force_does() {
    let file = golden("strings.json");
    let strings: Vec<String> =
        file["strings"].as_array().unwrap().iter().map(|s| s.as_str().unwrap().to_owned()).collect();
    let data = Dataset::new(strings);
    for case in cases(&file) {
        let length = case["length"].as_u64().unwrap() as usize;
        let exact = text(case, "kernel") == "spectrum";
        let formula = if exact {
            format!("spectrum({length})")
        } else {
            format!("subsequence({length}, {})", number(case, "decay"))
        };
        let kernel: Formula = formula.parse().unwrap();
        let wanted = numbers(&case["expected"]);
        for gram in [kernel.cross(&data, &data).unwrap(), kernel.gram(&data).unwrap()] {
            let got = matrix(gram.as_ref());
            for (g, w) in got.iter().zip(&wanted) {
                // counts are whole numbers; weighted sums differ by rounding
                assert!((g - w).abs() <= if exact { 0.0 } else { 1e-13 * w.abs() }, "{formula}: {g} is not {w}");
            }
            assert_eq!(got.len(), wanted.len());
        }
    }
}

fn ridge_target(file: &Value, name: &str) -> Target {
    let y = &file["data"]["y"][name];
    if name == "one" {
        return Target::from(numbers(y));
    }
    let rows: Vec<Vec<f64>> = y.as_array().unwrap().iter().map(numbers).collect();
    let column = |k: usize| Target::from_numbers(&format!("y{k}"), rows.iter().map(|r| r[k]).collect());
    column(0).beside(column(1)).unwrap().beside(column(2)).unwrap()
}

#[test]
fn ridge_regression_has_the_coefficients_predictions_and_left_out_residuals_of_others() {
    let file = golden("ridge.json");
    let (x, z) = (vectors(&file["data"]["x"]), Dataset::new(vectors(&file["data"]["z"])));
    for case in cases(&file) {
        let (formula, lambda) = (text(case, "formula"), number(case, "lambda"));
        let target = ridge_target(&file, text(case, "target"));
        let outputs = target.names().len();
        let y = target.numbers().unwrap().values;
        let data = Dataset::new(x.clone()).with_target(target).unwrap();
        let kernel: Formula = formula.parse().unwrap();
        let (alpha, wanted) = (numbers(&case["dual_coef"]), numbers(&case["predictions"]));
        let left_out = numbers(&case["leave_one_out_residuals"]);
        // a condition number of up to 1e4 (λ = 0.01) leaves twelve digits
        for (solver, digits) in [
            (RidgeSolver::Auto, 1e-10),
            (RidgeSolver::Cholesky, 1e-10),
            (RidgeSolver::Eigen, 1e-10),
            (RidgeSolver::Cg, 1e-5),
        ] {
            let what = format!("{formula}, lambda {lambda}, {outputs} outputs, {solver:?}");
            let model = Ridge { lambda: lambda.into(), solver, ..Ridge::default() }.fit(&kernel, &data).unwrap();
            if let Coefficients::Dual { alpha: got, .. } = &model.fitted().expansion.coefficients {
                near(got, &alpha, digits * largest(&alpha), &what);
            } else {
                assert!(formula == "linear" && solver == RidgeSolver::Auto, "{what}: only linear has features");
            }
            near(model.predict(&z).unwrap().values(), &wanted, digits * largest(&wanted), &what);
            let rmse = (left_out.iter().map(|r| r * r).sum::<f64>() / left_out.len() as f64).sqrt();
            match model.fitted().report.notes.iter().find(|(name, _)| name == "loo_rmse") {
                Some((_, told)) => assert!((told / rmse - 1.0).abs() < 1e-9, "{what}: {told}, not {rmse}"),
                None => assert_eq!(solver, RidgeSolver::Cg, "{what}"),
            }
        }
        let path =
            Ridge::default().loo_path(kernel.gram(&data).unwrap().as_ref(), &y, outputs, &[1e9, lambda]).unwrap();
        near(&path[1].residuals, &left_out, 1e-10 * largest(&left_out), &format!("{formula}, path"));
        // with a huge λ nothing is learned and the residual is the target itself
        near(&path[0].residuals, &y, 1e-5 * largest(&y), &format!("{formula}, huge lambda"));
    }
}

#[test]
fn principal_components_are_those_of_others() {
    let file = golden("pca.json");
    let (x, z) = (Dataset::new(vectors(&file["data"]["x"])), Dataset::new(vectors(&file["data"]["z"])));
    for case in cases(&file) {
        let kernel: Formula = text(case, "formula").parse().unwrap();
        let components = case["components"].as_u64().unwrap() as usize;
        let eigenvalues = numbers(&case["eigenvalues"]);
        for solver in [PcaSolver::Auto, PcaSolver::Krylov] {
            let what = format!("{kernel}, {solver:?}");
            // Krylov stops at residuals of 1e-12 · λ₁, hence vectors to about 1e-12/gap
            let machine = KernelPca { components, solver, tolerance: 1e-12, ..KernelPca::default() };
            let model = machine.fit(&kernel, &x).unwrap();
            let note = |name: &str| model.fitted().report.notes.iter().find(|(n, _)| n == name).unwrap().1;
            let got: Vec<f64> = (1..=components).map(|j| note(&format!("eigenvalue_{j}"))).collect();
            near(&got, &eigenvalues, 1e-11 * eigenvalues[0], &what);
            for (data, key) in [(&x, "abs_train"), (&z, "abs_new")] {
                let got: Vec<f64> = model.predict(data).unwrap().values().iter().map(|v| v.abs()).collect();
                let wanted = numbers(&case[key]);
                near(&got, &wanted, 1e-8 * largest(&wanted), &format!("{what}, {key}"));
            }
        }
    }
}

#[test]
fn nearest_means_have_the_scores_and_distances_of_a_loop_over_pairs() {
    let file = golden("nearest_mean.json");
    for case in cases(&file) {
        let name = text(case, "data");
        let kernel: Formula = text(case, "formula").parse().unwrap();
        let y = Target::from(numbers(&file["data"][name]["y"]));
        let data = Dataset::new(vectors(&file["data"][name]["x"])).with_target(y).unwrap();
        let z = Dataset::new(vectors(&file["data"][name]["z"]));
        let model = NearestMean::default().fit(&kernel, &data).unwrap();
        let scores = model.scores(&z).unwrap();
        let wanted = numbers(&case["scores"]);
        near(&scores, &wanted, 1e-12 * largest(&wanted), &format!("{kernel} on {name}"));
        let classes = case["classes"].as_array().unwrap().len();
        let own = mercer::gram::diagonal(kernel.gram(&z).unwrap().as_ref());
        let apart: Vec<f64> = scores.iter().enumerate().map(|(i, s)| own[i / classes] - 2.0 * s).collect();
        let distances = numbers(&case["squared_distances"]);
        near(&apart, &distances, 1e-12 * largest(&distances), &format!("{kernel} on {name}, distances"));
        let labels = model.predict(&z).unwrap();
        let labels: Vec<f64> = labels.labels().iter().map(|l| l.parse().unwrap()).collect();
        assert_eq!(labels, numbers(&case["predictions"]), "{kernel} on {name}");
        if case["nearest_centroid"].is_array() {
            assert_eq!(labels, numbers(&case["nearest_centroid"]), "{kernel} on {name}");
        }
    }
}

#[test]
fn support_vector_machines_reach_the_optimum_that_others_reach() {
    let file = golden("svc.json");
    for case in cases(&file) {
        let (name, c) = (text(case, "data"), number(case, "C"));
        let kernel: Formula = text(case, "formula").parse().unwrap();
        let what = format!("{kernel} on {name}, C = {c}");
        let y = Target::from(numbers(&file["data"][name]["y"]));
        let data = Dataset::new(vectors(&file["data"][name]["x"])).with_target(y).unwrap();
        let z = Dataset::new(vectors(&file["data"][name]["z"]));
        let model = Svc { c, effort: Effort { tolerance: 1e-6, ..Effort::default() }, ..Svc::default() }
            .fit(&kernel, &data)
            .unwrap();
        let report = &model.fitted().report;
        assert_eq!(report.status.to_string(), "converged", "{what}");
        // rows of K are f32 in the solver. Where its values are at most 1 that costs seven digits of them. Where they are
        // large next to the margin, rounding moves the optimum itself: up to 2e-4 of the largest decision was seen.
        let radial = kernel.to_string().starts_with("rbf");
        let (value_digits, decision_digits) = if radial { (1e-6, 1e-5) } else { (4e-4, 4e-4) };
        let (objective, wanted) = (report.objective.unwrap(), number(case, "objective"));
        assert!((objective / wanted - 1.0).abs() < value_digits, "{what}: {objective}, not {wanted}");
        let classes = numbers(&case["classes"]);
        let sign = if text(case, "positive") == "second of the pair" { -1.0 } else { 1.0 };
        let decisions: Vec<f64> = model.scores(&z).unwrap().iter().map(|s| sign * s).collect();
        let theirs = numbers(&case["decisions"]);
        let margin = 4.0 * number(case, "decision_error") + decision_digits * largest(&theirs);
        near(&decisions, &theirs, margin, &what);
        let pairs = theirs.len() / z.len();
        let labels = model.predict(&z).unwrap();
        for (i, (label, wanted)) in labels.labels().iter().zip(numbers(&case["predictions"])).enumerate() {
            let doubtful = theirs[i * pairs..(i + 1) * pairs].iter().any(|d| d.abs() <= margin);
            assert!(doubtful || label.parse::<f64>().unwrap() == wanted, "{what}: {label}, not {wanted}, at {i}");
        }
        let Coefficients::Pairwise { classes: of, .. } = &model.fitted().expansion.coefficients else {
            panic!("{what}")
        };
        for (k, wanted) in numbers(&case["n_support"]).into_iter().enumerate() {
            // a point on the margin may have weight or not
            let count = of.iter().filter(|&&c| c as usize == k).count() as f64;
            assert!((count - wanted).abs() <= 1.0, "{what}: {count} of class {}, not {wanted}", classes[k]);
        }
    }
}

#[test]
fn curves_of_probabilities_are_those_of_scikit_learn() {
    let file = golden("calibration.json");
    for case in file["curves"].as_array().unwrap() {
        let (scores, y) = (numbers(&case["scores"]), numbers(&case["y"]));
        let weights = case["weights"].is_array().then(|| numbers(&case["weights"]));
        let positive: Vec<bool> = y.iter().map(|&y| y == 1.0).collect();
        let (a, b) = platt(&scores, &positive, weights.as_deref());
        let name = text(case, "name");
        near(&[a, b], &numbers(&case["newton"]), 1e-9, &format!("{name}, Newton"));
        near(&[a, b], &numbers(&case["sigmoid"]), 1e-9 + 2.0 * number(case, "sigmoid_error"), name);
        let blocks = pool(&scores, &y, weights.as_deref());
        let at = |s: &f64| blocks.iter().find(|b| b.low <= *s && *s <= b.high).unwrap().value();
        near(&scores.iter().map(at).collect::<Vec<_>>(), &numbers(&case["isotonic"]), 1e-12, name);
    }
}

#[test]
fn calibrated_support_vectors_are_those_of_scikit_learn() {
    let file = golden("calibration.json");
    for case in cases(&file) {
        let (name, formula) = (text(case, "data"), text(case, "formula"));
        let what = format!("{formula} on {name}");
        let data = &file["data"][name];
        let target = Target::from(numbers(&data["y"]));
        let training = Dataset::new(vectors(&data["x"])).with_target(target.clone()).unwrap();
        let kernel: Formula = formula.parse().unwrap();
        let task = Task { target: Some(&target), threads: 2, ..Task::new(kernel.training_gram(&training).unwrap()) };
        let machine =
            Svc { c: number(case, "C"), effort: Effort { tolerance: 1e-8, ..Effort::default() }, ..Svc::default() };
        let mut fitted = machine.run(&task, &Silent).unwrap();
        let folds: Vec<Vec<usize>> = case["folds"]
            .as_array()
            .unwrap()
            .iter()
            .map(|fold| numbers(fold).into_iter().map(|i| i as usize).collect())
            .collect();
        let scores = mercer::resample::held_out_scores(&machine, &task, &fitted, &folds, &Silent).unwrap();
        // theirs are positive for the second class
        let turned: Vec<f64> = scores.iter().map(|s| -s).collect();
        near(&turned, &numbers(&case["held_out"]), 2e-4, &format!("{what}, held out"));

        let codes = target.classes().unwrap().codes;
        let held_out = HeldOutScores { scores: &scores, layout: Layout::Outputs, codes: &codes, weights: None };
        let curves = mercer::calibrate::Calibration::learn(Method::Platt, folds.len(), Form::Pairs, 2, &held_out);
        fitted.calibration = Some(curves);
        let model = Model::assembled("svc", Vec::new(), kernel, fitted, &training);
        let Output::Labels { probabilities: Some(got), .. } =
            model.predict(&Dataset::new(vectors(&data["z"]))).unwrap()
        else {
            panic!("{what} has no probabilities")
        };
        let decisions = numbers(&case["decisions"]);
        for ((got, theirs), f) in got.chunks(2).zip(numbers(&case["probabilities"]).chunks(2)).zip(&decisions) {
            // where theirs contradict the sign of f, ours are one half each
            let wanted = if (theirs[1] > 0.5) == (*f > 0.0) { theirs.to_vec() } else { vec![0.5, 0.5] };
            near(got, &wanted, 3e-4, &what);
        }

        let output = Output::Labels {
            labels: vec!["0".into(), "1".into()],
            codes: codes.clone(),
            scores: vec![0.0; 2 * codes.len()],
            probabilities: Some(numbers(&case["inside"])),
        };
        let Metrics::Classes(m) = measure(&output, &target).unwrap() else { panic!() };
        let found = m.probability.unwrap();
        near(&[found.log_loss.unwrap(), found.brier], &[number(case, "log_loss"), number(case, "brier")], 1e-12, &what);
    }
}

#[test]
fn linear_machines_reach_the_optimum_that_others_reach() {
    let file = golden("linear.json");
    for case in cases(&file) {
        let (name, loss, c) = (text(case, "data"), text(case, "loss"), number(case, "C"));
        let what = format!("{loss} on {name}, C = {c}");
        let (x, z) = (vectors(&file["data"][name]["x"]), vectors(&file["data"][name]["z"]));
        let mut machine = (mercer::machines::find("linear_svc").unwrap().make)();
        let (mut x, mut z, mut y) = (x, z, numbers(&file["data"][name]["y"]));
        let numeric = loss.ends_with("epsilon_insensitive");
        if numeric {
            machine = (mercer::machines::find("linear_svr").unwrap().make)();
            let first = |r: &Rows<f64>| {
                let part: Vec<&[f64]> = (0..r.len()).map(|i| &r.row(i)[..3]).collect();
                Rows::from_vectors(&part).unwrap()
            };
            y = (0..x.len()).map(|i| x.row(i)[3]).collect();
            (x, z) = (first(&x), first(&z));
        }
        let mut set = |name: &str, value: Setting| assign("m", machine.as_mut(), name, &value).unwrap();
        set("c", Setting::Number(c));
        set("loss", Setting::Word(loss.to_owned()));
        set("tolerance", Setting::Number(1e-10));
        set("max_iterations", Setting::Number(0.0));
        if numeric {
            set("epsilon", Setting::Number(number(case, "epsilon")));
        } else {
            set("class_weight", Setting::Word(text(case, "class_weight").to_owned()));
        }
        for sparse in [false, true] {
            let view =
                |x: &Rows<f64>| if sparse { Dataset::new(SparseRows::from_dense(x)) } else { Dataset::new(x.clone()) };
            let data = view(&x).with_target(Target::from(y.clone())).unwrap();
            let model = Job::new(machine.as_ref(), &linear()).run(&data, &mercer::watch::Silent).unwrap();
            let report = &model.fitted().report;
            let (objective, wanted) = (report.objective.unwrap(), number(case, "objective"));
            assert!((objective / wanted - 1.0).abs() < 1e-7, "{what}: {objective}, not {wanted}");
            assert!((0.0..1e-6 * wanted).contains(&report.duality_gap.unwrap().max(0.0)), "{what}: {report:?}");
            let theirs = numbers(&case["decisions"]);
            // two classes: ours is positive for the first, theirs for the second
            let sign = if !numeric && theirs.len() == z.len() { -1.0 } else { 1.0 };
            let ours: Vec<f64> = model.scores(&view(&z)).unwrap().iter().map(|s| sign * s).collect();
            near(&ours, &theirs, 2e-4 * largest(&theirs), &what);
            if !numeric {
                let labels = model.predict(&view(&z)).unwrap();
                let labels: Vec<f64> = labels.labels().iter().map(|l| l.parse().unwrap()).collect();
                assert_eq!(labels, numbers(&case["predictions"]), "{what}");
            }
        }
    }
}
