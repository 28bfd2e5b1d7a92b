//! Outputs of every form, from models made by hand: deviations, sets of labels, orders and several parts. The same model files serve the
//! tests of the command line and of Python (`fixtures/outputs`); `REGENERATE=1 cargo test -p mercer --test main outputs::` writes them.
#![allow(clippy::unwrap_used, clippy::panic)]

use mercer::data::read::{ReadOptions, read};
use mercer::data::{Dataset, Scale, View};
use mercer::gram::fill;
use mercer::linalg::Cholesky;
use mercer::machines::{
    Coefficients, Expansion, FitError, Fitted, MachineEntry, NamedTerm, Output, Part, PartNames, Posterior,
    PosteriorTerm, Readout, SolverReport, Task,
};
use mercer::machines::{Machine, find};
use mercer::params::{Params, Visit};
use mercer::prelude::*;
use mercer::watch::{Monitor, Silent};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The variance of the noise of the uncertain model.
const NOISE: f64 = 0.25;
/// α and b of the uncertain model, of the sets and of the order.
const ALPHA: [f64; 3] = [1.0, -0.5, 2.0];
const ALPHA_OF_LABELS: [f64; 6] = [1.0, 0.5, -2.0, 0.25, 0.0, -1.0];
/// α and b of the part that looks at `a`, on the first two examples, and of the one that looks at `b`, on the last two.
const ALPHA_A: [f64; 4] = [1.0, -2.0, 0.5, 3.0];
const OFFSETS_A: [f64; 2] = [0.5, -1.0];
const ALPHA_B: [f64; 2] = [2.0, -1.5];
const OFFSETS_B: [f64; 1] = [0.25];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/outputs")
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn part_names(name: &str, coordinates: &[&str]) -> PartNames {
    PartNames { name: name.to_owned(), coordinates: names(coordinates) }
}

fn dual(points: &[usize], alpha: &[f64], offsets: &[f64]) -> Expansion {
    let coefficients = Coefficients::Dual { points: points.to_vec(), alpha: alpha.to_vec() };
    Expansion { coefficients, offsets: offsets.to_vec() }
}

/// The training examples: one view of three columns, or `a` of two and `b` of one.
fn training(two_views: bool) -> Dataset {
    let table = read(&folder().join("train.csv"), &ReadOptions::default()).unwrap();
    let mut options = SchemaOptions { scale: Some(Scale::None), ..SchemaOptions::default() };
    if two_views {
        options.add_view("a=p,q").unwrap();
        options.add_view("b=r").unwrap();
    }
    Schema::learn_and_apply(&table, &options).unwrap().1
}

/// The new examples as a model takes them.
fn new(model: &Model) -> Dataset {
    model.data(&read(&folder().join("new.csv"), &ReadOptions::default()).unwrap()).unwrap()
}

/// The columns of the file of new examples.
const NEW: [[f64; 3]; 4] = [[0.5, 0.25, 1.0], [-1.0, 2.0, 0.0], [3.0, 1.0, -2.0], [0.0, 0.0, 0.5]];
/// Those of the training file.
const OLD: [[f64; 3]; 3] = [[0.0, 1.0, 2.0], [1.0, 0.0, -1.0], [2.0, -1.0, 0.5]];

fn deviations() -> Model {
    let (data, kernel) = (training(false), rbf(0.5));
    let mut matrix = vec![0.0; 9];
    fill(kernel.training_gram(&data).unwrap().as_ref(), &mut matrix);
    (0..3).for_each(|i| matrix[4 * i] += NOISE);
    let factor = Cholesky::factor(matrix, 3).unwrap().into_triangle();
    let posterior = Posterior { prior: 1.0, terms: vec![PosteriorTerm { added: false, factor }], noise: vec![NOISE] };
    let readout = Readout::Values { names: names(&["y"]) };
    let fitted = Fitted::new(dual(&[0, 1, 2], &ALPHA, &[0.75]), readout, SolverReport::direct());
    Model::assembled("ridge", Vec::new(), kernel, fitted.with_posterior(Some(posterior)), &data)
}

fn label_sets() -> Model {
    let readout = Readout::LabelSets { labels: names(&["news", "sport"]) };
    let expansion = dual(&[0, 1, 2], &ALPHA_OF_LABELS, &[0.5, -0.5]);
    let fitted = Fitted::new(expansion, readout, SolverReport::direct());
    Model::assembled("ridge", Vec::new(), linear(), fitted, &training(false))
}

fn order() -> Model {
    let fitted = Fitted::new(dual(&[0, 1, 2], &ALPHA, &[0.0]), Readout::Order, SolverReport::direct());
    Model::assembled("ridge", Vec::new(), linear(), fitted, &training(false))
}

fn parts() -> Model {
    let fitted = Fitted::of_parts(
        vec![
            (part_names("a", &["c1", "c2"]), Part { term: 0, expansion: dual(&[0, 1], &ALPHA_A, &OFFSETS_A) }),
            (part_names("b", &["c1"]), Part { term: 1, expansion: dual(&[1, 2], &ALPHA_B, &OFFSETS_B) }),
        ],
        SolverReport::direct(),
    );
    Model::assembled("kernel_pca", Vec::new(), linear().on("a") + rbf(0.5).on("b"), fitted, &training(true))
}

/// The file of a model made by hand: written where that is asked for, else read.
fn file(name: &str, model: &Model) -> Model {
    let path = folder().join(name);
    if std::env::var_os("REGENERATE").is_some() {
        model.save(&path).unwrap();
    }
    Model::load(&path).unwrap()
}

fn close(found: &[f64], wanted: &[f64]) {
    assert_eq!(found.len(), wanted.len());
    for (f, w) in found.iter().zip(wanted) {
        assert!((f - w).abs() <= 1e-13 * (1.0 + w.abs()), "{found:?} should be {wanted:?}");
    }
}

fn squared_distance(x: &[f64], z: &[f64]) -> f64 {
    x.iter().zip(z).map(|(a, b)| (a - b) * (a - b)).sum()
}

fn product(x: &[f64], z: &[f64]) -> f64 {
    x.iter().zip(z).map(|(a, b)| a * b).sum()
}

#[test]
fn deviations_are_those_of_the_inverse_by_hand() {
    let model = file("deviations.mercer", &deviations());
    let Output::Values { values, variances: Some(known), .. } = model.predict(&new(&model)).unwrap() else { panic!() };
    let k = |x: &[f64; 3], z: &[f64; 3]| (-0.5 * squared_distance(x, z)).exp();
    let m = |i: usize, j: usize| k(&OLD[i % 3], &OLD[j % 3]) + if i % 3 == j % 3 { NOISE } else { 0.0 };
    // the inverse of a 3 × 3 matrix by its minors, taken round the corners
    let minor = |i: usize, j: usize| m(i + 1, j + 1) * m(i + 2, j + 2) - m(i + 1, j + 2) * m(i + 2, j + 1);
    let determinant: f64 = (0..3).map(|j| m(0, j) * minor(0, j)).sum();
    for (x, (value, deviation)) in NEW.iter().zip(values.iter().zip(known.deviations())) {
        let row = OLD.map(|z| k(x, &z));
        close(&[*value], &[product(&row, &ALPHA) + 0.75]);
        let quadratic: f64 = (0..9).map(|p| row[p / 3] * row[p % 3] * minor(p % 3, p / 3) / determinant).sum();
        close(&[deviation], &[(1.0 - quadratic + NOISE).sqrt()]);
    }
}

#[test]
fn sets_and_orders_are_those_of_the_scores_by_hand() {
    let model = file("label_sets.mercer", &label_sets());
    let output = model.predict(&new(&model)).unwrap();
    for (x, set) in NEW.iter().zip(output.label_sets()) {
        let score = |c: usize| (0..3).map(|i| ALPHA_OF_LABELS[2 * i + c] * product(x, &OLD[i])).sum::<f64>();
        let wanted: Vec<&str> =
            [(score(0) + 0.5, "news"), (score(1) - 0.5, "sport")].iter().filter(|s| s.0 > 0.0).map(|s| s.1).collect();
        assert_eq!(set, wanted);
    }
    assert_eq!(output.label_sets().iter().map(Vec::len).collect::<Vec<_>>(), [1, 2, 0, 1]);
    let model = file("order.mercer", &order());
    assert_eq!(model.predict(&new(&model)).unwrap().ranks(), [1, 4, 2, 3]);
}

/// The coordinates of the new examples in the two parts.
fn by_hand() -> (Vec<f64>, Vec<f64>) {
    let a = NEW.iter().flat_map(|x| {
        let row = [product(&x[..2], &OLD[0][..2]), product(&x[..2], &OLD[1][..2])];
        [0, 1].map(|c| row[0] * ALPHA_A[c] + row[1] * ALPHA_A[2 + c] + OFFSETS_A[c])
    });
    let b = NEW.iter().map(|x| {
        let row = [1, 2].map(|i| (-0.5 * (x[2] - OLD[i][2]).powi(2)).exp());
        row[0] * ALPHA_B[0] + row[1] * ALPHA_B[1] + OFFSETS_B[0]
    });
    (a.collect(), b.collect())
}

#[test]
fn each_part_is_the_expansion_under_its_own_kernel() {
    let (a, b) = by_hand();
    for model in [parts(), file("parts.mercer", &parts())] {
        let data = new(&model);
        let output = model.predict(&data).unwrap();
        assert_eq!(output.parts().iter().map(|p| p.names.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!((output.len(), output.parts()[0].width()), (4, 2));
        close(&output.parts()[0].values, &a);
        close(&output.parts()[1].values, &b);
        // scores have part beside part
        let rows: Vec<f64> = (0..4).flat_map(|i| [a[2 * i], a[2 * i + 1], b[i]]).collect();
        close(&model.scores(&data).unwrap(), &rows);
        let kernels: Vec<String> = model.parts().iter().map(|part| part.kernel.to_string()).collect();
        assert_eq!(kernels, ["linear@a", "rbf(gamma=0.5)@b"]);
        // in batches, and with sides that are prepared once
        let predictor = model.clone().predictor();
        let mut batches = predictor.predict(&data.select(&[0])).unwrap();
        batches.append(predictor.predict(&data.select(&[1, 2, 3])).unwrap());
        for (part, whole) in batches.parts().iter().zip(output.parts()) {
            assert_eq!(part.names, whole.names);
            close(&part.values, &whole.values);
        }
        assert_eq!(predictor.predict(&data).unwrap(), output);
    }
}

#[test]
fn one_view_is_enough_for_its_part() {
    let model = parts();
    let data = new(&model);
    let only = |name: &str| {
        let values = data.view(name).unwrap().clone();
        Dataset::from_views(vec![View { name: name.to_owned(), values }]).unwrap()
    };
    let whole = model.predict(&data).unwrap();
    for (i, name) in ["a", "b"].into_iter().enumerate() {
        let some = model.predict(&only(name)).unwrap();
        assert_eq!(some.parts(), &whole.parts()[i..=i]);
        let told = model.scores(&only(name)).unwrap_err().to_string();
        assert!(told.contains("view"), "{told}");
    }
    let other = Dataset::new(Rows::new(vec![1.0], 1, 1).unwrap());
    let told = model.predict(&other).unwrap_err().to_string();
    assert_eq!(
        told,
        "every part of this model looks at a view that the data do not have (a, b); give at least one of these views"
    );
}

#[test]
fn a_part_may_have_weights_on_features_or_the_whole_centred_kernel() {
    let data = training(true);
    let kernel = 2.0 * (linear().on("a") + rbf(0.5).on("b").centre());
    let kernel = kernel.resolve(&data, Seed(0)).unwrap();
    let primal = Coefficients::Primal { weights: vec![1.0, -1.0], width: 2, scale: 2.0 };
    let fitted = Fitted::of_parts(
        vec![
            (part_names("b", &["c1"]), Part { term: 1, expansion: dual(&[2], &[3.0], &[0.5]) }),
            (
                part_names("a", &["c1"]),
                Part { term: 0, expansion: Expansion { coefficients: primal, offsets: vec![1.0] } },
            ),
        ],
        SolverReport::direct(),
    );
    let model = Model::assembled("kernel_pca", Vec::new(), kernel, fitted, &data);
    assert_eq!(model.examples().len(), 3, "the centre is that of all");
    let k = |x: f64, z: f64| (-0.5 * (x - z) * (x - z)).exp();
    let r = OLD.map(|z| z[2]);
    let mean = |x: f64| r.iter().map(|&z| k(x, z)).sum::<f64>() / 3.0;
    let total = r.iter().map(|&x| mean(x)).sum::<f64>() / 3.0;
    let b: Vec<f64> = NEW.iter().map(|x| 3.0 * 2.0 * (k(x[2], r[2]) - mean(x[2]) - mean(r[2]) + total) + 0.5).collect();
    let a: Vec<f64> = NEW.iter().map(|x| 2.0 * (x[0] - x[1]) + 1.0).collect();
    let again = Model::from_bytes(&model.to_bytes().unwrap(), "m").unwrap();
    for model in [model, again] {
        let output = model.predict(&new(&model)).unwrap();
        close(&output.parts()[0].values, &b);
        close(&output.parts()[1].values, &a);
    }
}

/// The mean similarity to each class, term by term of the kernel: the smallest machine that has parts.
#[derive(Clone)]
struct MeanSimilarities;

const NAME: &str = "mean_similarities";

impl Params for MeanSimilarities {
    fn visit(&mut self, _: &mut dyn Visit) {}
}

impl Machine for MeanSimilarities {
    /// Files name a machine of the catalogue.
    fn entry(&self) -> &'static MachineEntry {
        find("kernel_pca").unwrap()
    }

    fn run(&self, task: &Task<'_>, _: &dyn Monitor) -> Result<Fitted, FitError> {
        let classes = task.classes(NAME)?;
        let k = classes.labels.len();
        let count = |c: u32| classes.codes.iter().filter(|&&code| code == c).count() as f64;
        let alpha: Vec<f64> = classes
            .codes
            .iter()
            .flat_map(|&code| (0..k as u32).map(move |c| if c == code { 1.0 / count(c) } else { 0.0 }))
            .collect();
        let parts = task.parts(NAME)?.into_iter().enumerate().map(|(term, NamedTerm { name, kernel })| {
            assert_eq!(kernel.gram().shape(), task.gram.shape());
            let names = PartNames { name, coordinates: classes.labels.clone() };
            let points: Vec<usize> = (0..task.len()).collect();
            (names, Part { term, expansion: dual(&points, &alpha, &vec![0.0; k]) })
        });
        Ok(Fitted::of_parts(parts.collect(), SolverReport::direct()))
    }
}

#[test]
fn a_machine_of_parts_goes_the_whole_way() {
    let x = Rows::new((0..18).map(|i| f64::from(i * i % 7) / 3.0).collect(), 9, 2).unwrap();
    let words: Vec<String> = (0..9).map(|i| "abcab".chars().cycle().skip(i).take(3 + i % 3).collect()).collect();
    let labels: Vec<String> = (0..9).map(|i| ["u", "v"][usize::from(i % 3 == 0)].to_owned()).collect();
    let data = Dataset::new(x).with_view("title", words).unwrap().with_target(Target::from(labels.clone())).unwrap();
    let kernel = rbf(0.5).on("x") + spectrum(2).normalise().on("title");
    let model = MeanSimilarities.fit(&kernel, &data).unwrap();
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("m.mercer");
    model.save(&path).unwrap();
    let read = Model::load(&path).unwrap();
    let new = data.select(&[1, 4, 8]).without_target();
    let output = read.predict(&new).unwrap();
    assert_eq!(output, model.predict(&new).unwrap());
    for (part, term) in output.parts().iter().zip(kernel.terms()) {
        assert_eq!(part.names.coordinates, ["u", "v"]);
        let mut cross = vec![0.0; 27];
        fill(term.cross(&new, &data).unwrap().as_ref(), &mut cross);
        let wanted: Vec<f64> = cross
            .chunks_exact(9)
            .flat_map(|row| {
                ["u", "v"].map(|label| {
                    let of = row.iter().zip(&labels).filter(|(_, l)| *l == label).map(|(k, _)| *k);
                    of.clone().sum::<f64>() / of.count() as f64
                })
            })
            .collect();
        close(&part.values, &wanted);
    }
    let called: Vec<&str> = output.parts().iter().map(|p| p.names.name.as_str()).collect();
    assert_eq!(called, ["x", "title"]);
    // scores that are held out are those of one expansion
    let similarity = kernel.similarity(&data).unwrap();
    let task = Task {
        kernel: Some(Arc::clone(&similarity)),
        target: data.target(),
        ..Task::new(Arc::clone(similarity.gram()))
    };
    let told = mercer::resample::held_out_scores(&MeanSimilarities, &task, model.fitted(), &[vec![0, 1]], &Silent);
    assert!(told.unwrap_err().to_string().contains("scores of several parts are not held out"));
    let alone = MeanSimilarities.run(&Task { kernel: None, ..task }, &Silent).unwrap_err().to_string();
    assert!(alone.contains("a matrix alone has none"), "{alone}");
}

#[test]
fn names_of_parts_are_views_or_formulas_and_never_alike() {
    let data = training(true);
    let names = |text: &str| text.parse::<Formula>().unwrap().similarity(&data).unwrap().part_names();
    assert_eq!(names("linear@a + rbf(gamma=1)@b"), ["a", "b"]);
    assert_eq!(names("linear@a * rbf(gamma=2)@a + rbf(gamma=1)@b"), ["a", "b"]);
    assert_eq!(names("linear@a + rbf(gamma=1)@a"), ["linear@a", "rbf(gamma=1)@a"]);
    assert_eq!(names("linear@a + rbf(gamma=1)@b + 2"), ["linear@a", "rbf(gamma=1)@b", "2"]);
    assert_eq!(names("linear@a * linear@b + linear@b"), ["linear@a * linear@b", "linear@b"]);
    assert_eq!(names("2*linear@a"), ["a"]);
}

#[test]
fn what_has_no_place_for_parts_says_so() {
    let model = parts();
    let data = new(&model);
    let target = Target::from_numbers("y", vec![1.0; 4]);
    let told = mercer::metrics::measure(&model.predict(&data).unwrap(), &target).unwrap_err().to_string();
    assert!(told.contains("several parts predict no target"), "{told}");
    let told = model.to_onnx().err().unwrap().to_string();
    assert!(told.contains("several parts") && told.contains("mercer's own file"), "{told}");
    let told = model.to_libsvm().err().unwrap().to_string();
    assert!(!told.is_empty(), "{told}");
    let told = model.profile(&data, 0).unwrap_err().to_string();
    assert!(told.contains("several parts"), "{told}");
    let told = model.figure(&data, mercer::plot::Theme::Light).unwrap_err().to_string();
    assert!(told.contains("no picture"), "{told}");
    let told = model.clone().calibrate_on(&data, false).unwrap_err().to_string();
    assert!(told.contains("predicts no target"), "{told}");
}
