//! Formulas that meet data: matrices of composites are arithmetic on the matrices of the parts, words become numbers,
//! and views are found or asked for.

#![allow(clippy::unwrap_used, clippy::panic)]

use crate::support::{self, values};
use mercer::data::{Dataset, Kind, Rows, SparseRows, Values};
use mercer::error::{Blame, Error};
use mercer::formula::*;
use mercer::kernels::{Definite, Domain};
use mercer::linalg::symmetric_eigen;
use mercer::params::{ParamError, Setting};
use mercer::seed::Seed;

fn read(text: &str) -> Formula {
    text.parse().unwrap_or_else(|e| panic!("{e}"))
}

/// Examples with pixels, words and counts.
fn data(n: usize, skip: usize) -> Dataset {
    let keep: Vec<usize> = (skip..skip + n).collect();
    let pixels = support::dense(Domain::Any, skip + n, 3, 0.0).select(&keep);
    let counts = SparseRows::from_dense(&support::dense(Domain::NonNegative, skip + n, 17, 0.5)).select(&keep);
    let title = support::text(skip + n, 1)[skip..].to_vec();
    Dataset::new(pixels).with_view("title", title).unwrap().with_view("counts", counts.convert::<f32>()).unwrap()
}

fn matrix(formula: &Formula, data: &Dataset) -> Vec<f64> {
    values(formula.gram(data).unwrap_or_else(|e| panic!("{formula}: {e}")).as_ref())
}

fn assert_same(got: &[f64], wanted: impl Iterator<Item = f64>, context: &str) {
    let mut count = 0;
    for (&g, w) in got.iter().zip(wanted) {
        assert!((g - w).abs() <= 1e-12 * (1.0 + w.abs()), "{context}: {g} instead of {w}");
        count += 1;
    }
    assert_eq!(count, got.len(), "{context}");
}

#[test]
fn views_of_different_kinds_are_added_and_multiplied() {
    let data = data(60, 0);
    let (a, b, c) = (read("rbf(gamma=0.5)@x"), read("spectrum(length=2)@title"), read("chi2@counts"));
    let [ka, kb, kc] = [&a, &b, &c].map(|f| matrix(f, &data));
    let at = |f: &dyn Fn(usize) -> f64| (0..3600).map(f).collect::<Vec<f64>>();
    let whole = [
        (a.clone() * b.clone() + 0.1 * c.clone(), at(&|p| ka[p] * kb[p] + 0.1 * kc[p])),
        ((a.clone() + c.clone() + 2.0).power(3), at(&|p| (ka[p] + kc[p] + 2.0).powi(3))),
        ((0.01 * (b.clone() + c.clone())).exp(), at(&|p| (0.01 * (kb[p] + kc[p])).exp())),
        (a.clone() * b.clone() * c.clone() * 0.5, at(&|p| 0.5 * ka[p] * kb[p] * kc[p])),
        (a + noise(0.25), at(&|p| ka[p] + if p % 61 == 0 { 0.25 } else { 0.0 })),
        ((c + 1.0).rbf(0.05), at(&|p| (-0.05 * (kc[p / 60 * 61] + kc[p % 60 * 61] - 2.0 * kc[p])).exp())),
        ((b + 1.0).normalise(), at(&|p| (kb[p] + 1.0) / ((kb[p / 60 * 61] + 1.0) * (kb[p % 60 * 61] + 1.0)).sqrt())),
    ];
    for (formula, wanted) in whole {
        assert_same(&matrix(&formula, &data), wanted.into_iter(), &formula.to_string());
    }
}

#[test]
fn new_examples_meet_training_examples_as_the_whole_met_itself() {
    // every formula that needs no centre: the cross matrix is a part of the matrix of all examples
    let (all, training, new) = (data(70, 0), data(50, 20), data(20, 0));
    for text in [
        "rbf(1)@x * normalise(spectrum(2)) + 0.5*chi2@counts",
        "normalise(set(spectrum(1), separator=\"a\")) + set(rbf(1)@x, columns=1)",
        "rbf(subsequence(2, 0.5), 0.3) + 1",
        "(linear@x + 1)^2",
    ] {
        let formula = read(text);
        let whole = matrix(&formula, &all);
        let cross = values(formula.cross(&new, &training).unwrap().as_ref());
        assert_same(&cross, (0..1000).map(|p| whole[p / 50 * 70 + 20 + p % 50]), text);
    }
    // noise is never shared, even by equal examples
    let cross = values(noise(1.0).cross(&training, &training).unwrap().as_ref());
    assert!(cross.iter().all(|&k| k == 0.0));
}

#[test]
fn a_centre_is_learned_from_training_examples_and_kept() {
    let (training, new) = (data(50, 20), data(20, 0));
    let formula = read("centre(rbf(0.5)@x) * linear@x");
    assert!(formula.needs_all_examples() && !read("normalise(linear)").needs_all_examples());
    assert!(read("1 + exp(rbf(centre(linear)))").needs_all_examples());
    let unmet = formula.cross(&new, &training).err().unwrap();
    assert_eq!(unmet.to_string(), "centre(…) must meet its training examples before new ones; call resolve first");
    let resolved = formula.resolve(&training, Seed(1)).unwrap();
    let (inner, other) = (read("rbf(0.5)@x"), read("linear@x"));
    let (k, c, l) = (
        matrix(&inner, &training),
        values(inner.cross(&new, &training).unwrap().as_ref()),
        values(other.cross(&new, &training).unwrap().as_ref()),
    );
    let mean = |k: &[f64], i: usize| k[i * 50..(i + 1) * 50].iter().sum::<f64>() / 50.0;
    let total = k.iter().sum::<f64>() / 2500.0;
    let wanted = (0..1000).map(|p| (c[p] - mean(&c, p / 50) - mean(&k, p % 50) + total) * l[p]);
    assert_same(&values(resolved.cross(&new, &training).unwrap().as_ref()), wanted, "crossed");
    // the learned centres can be taken out and put back
    let centrings = resolved.state();
    assert_eq!(centrings.len(), 1);
    let mut again = read(&resolved.to_string());
    assert!(again.clone().state().is_empty() && !again.clone().set_state(Vec::new()));
    assert!(again.set_state(centrings));
    let (a, b) = (resolved.cross(&new, &training).unwrap(), again.cross(&new, &training).unwrap());
    assert_eq!(values(a.as_ref()), values(b.as_ref()));
}

#[test]
fn words_become_numbers_that_print_and_read_back() {
    let data = data(60, 0);
    let written = [
        "rbf@x",
        "rbf(median)@x",
        "rbf(1/d)@x",
        "laplacian@counts",
        "sigmoid@x",
        "polynomial(2, scale)@x",
        "rbf(spectrum(2))",
        "rbf(normalise(subsequence), gamma=median)",
        "rbf(rbf@x, median) + centre(laplacian@x)",
    ];
    for text in written {
        let formula = read(text);
        let resolved = formula.resolve(&data, Seed(1)).unwrap();
        let print = resolved.to_string();
        for word in ["scale", "median", "1/d"] {
            assert!(!print.contains(word), "{print}");
        }
        assert_ne!(formula, resolved);
        assert_eq!(read(&print).to_string(), print);
        assert_eq!(matrix(&read(&print), &data), values(resolved.training_gram(&data).unwrap().as_ref()), "{text}");
        assert_eq!(resolved.resolve(&data, Seed(2)).unwrap(), resolved, "a number stays");
    }
    assert_eq!(read("rbf(1/d)@x").resolve(&data, Seed(1)).unwrap(), rbf(1.0 / 3.0).on("x"));
    // in feature space, scale is one over the total variance: for the linear kernel that of the vectors
    let Some(Values::Dense(x)) = data.view("x") else { panic!("dense") };
    let mean: Vec<f64> = (0..3).map(|j| (0..60).map(|i| x.row(i)[j]).sum::<f64>() / 60.0).collect();
    let spread = (0..180).map(|p| (x.row(p / 3)[p % 3] - mean[p % 3]).powi(2)).sum::<f64>() / 60.0;
    let scaled = read("rbf(linear@x)").resolve(&data, Seed(1)).unwrap().to_string();
    let gamma: f64 = scaled.trim_end_matches(')').rsplit('=').next().unwrap().parse().unwrap();
    assert!((gamma * spread - 1.0).abs() < 1e-10, "{scaled}, variance {spread}");
}

#[test]
fn what_composites_are_follows_from_their_parts() {
    use Definite::{Conditionally, Indefinite, Positive};
    let known = [
        ("linear + rbf(1) * chi2", Positive),
        ("distance", Conditionally),
        ("distance + linear", Conditionally),
        ("0.5*distance + 3", Conditionally),
        ("centre(distance)", Positive),
        ("exp(distance)", Positive),
        ("exp(distance + linear)", Positive),
        ("rbf(distance, 1)", Positive),
        ("normalise(centre(distance))", Positive),
        ("distance * distance", Indefinite),
        ("distance * linear", Indefinite),
        ("distance^2", Indefinite),
        ("normalise(distance)", Indefinite),
        ("sigmoid", Indefinite),
        ("sigmoid + linear", Indefinite),
        ("sigmoid + distance", Indefinite),
        ("centre(sigmoid)", Indefinite),
        ("exp(sigmoid)", Indefinite),
        ("7", Positive),
        ("series(linear, [1, 2, 3])", Positive),
        ("series(distance, [1, 2])", Conditionally),
        ("series(distance, [1, 2, 3])", Indefinite),
        ("series(sigmoid, [1, 2, 3])", Indefinite),
        ("set(linear, columns=2)", Positive),
        ("set(distance, columns=2)", Indefinite),
        ("set(distance, columns=2, mean=true)", Conditionally),
        ("set(sigmoid, columns=2, mean=true)", Indefinite),
    ];
    for (text, definite) in known {
        assert_eq!(read(text).definite(), definite, "{text}");
    }
    assert_eq!((-1.0 * linear()).definite(), Indefinite);
    assert_eq!((linear() + -1.0).definite(), Conditionally);
    assert_eq!(linear().series(&[1.0, -1.0, 1.0]).definite(), Indefinite);
    assert_eq!(linear().series(&[-1.0, 1.0, 1.0]).definite(), Conditionally);
    assert_eq!((linear() + -1.0).exp().definite(), Positive);
    assert_eq!(linear().power(0).to_string(), "1");
}

#[test]
fn what_is_called_positive_has_no_negative_eigenvalue() {
    let data = data(40, 0);
    let lowest = |k: Vec<f64>| {
        let all = symmetric_eigen(k, 40).unwrap().values;
        all[39] / all[0].abs().max(all[39].abs())
    };
    for text in [
        "centre(distance@x)",
        "exp(distance(0.7)@x)",
        "rbf(distance@x, 1)",
        "normalise(centre(distance(1.5)@x))",
        "exp(distance@x + linear@x)",
        "(spectrum(2) + linear@x + 1)^3",
        "series(linear@x + 0.1*spectrum(2), [0, 1, 0.2, 0.1])",
        "set(rbf(0.5), columns=1)@x",
        "set(spectrum(1), separator=\"a\")@title",
        "centre(set(distance@x, columns=1, mean=true))",
        "rbf(spectrum(1) * chi2@counts, 0.01)",
        "normalise(exp(centre(spectrum(1) + rbf(1)@x)))",
    ] {
        let formula = read(text);
        assert_eq!(formula.definite(), Definite::Positive);
        let low = lowest(matrix(&formula, &data));
        assert!(low > -1e-10, "{text}: {low:e}");
    }
    // and the counter-examples
    for text in ["distance@x", "distance@x * distance@x", "distance@x^2", "distance@x * linear@x", "sigmoid(1, -1)@x"] {
        let low = lowest(matrix(&read(text), &data));
        assert!(low < -1e-2, "{text}: {low:e}");
    }
    assert!(lowest(matrix(&(-1.0 * linear().on("x")), &data)) < -1e-2);
}

#[test]
fn a_view_is_found_by_its_kind_or_must_be_named() {
    let several = data(12, 0);
    // spectrum fits one view only; of several vector views, x is meant
    assert_eq!(matrix(&read("spectrum"), &several), matrix(&read("spectrum@title"), &several));
    assert_eq!(matrix(&linear(), &several), matrix(&linear().on("x"), &several));
    let rows = || support::dense(Domain::Any, 12, 3, 0.0);
    let named = Dataset::from_views(vec![
        mercer::data::View { name: "a".into(), values: rows().into() },
        mercer::data::View { name: "b".into(), values: rows().into() },
    ])
    .unwrap();
    let only_text = Dataset::new(support::text(12, 1));
    let wrong = [
        (read("linear@y"), &several, Blame::Data, "view", "y"),
        (read("linear"), &named, Blame::Usage, "linear could look at several views; say which with @", "a, b"),
        (read("spectrum"), &named, Blame::Usage, "spectrum works on text, but no view holds any", "a, b"),
        (read("linear"), &only_text, Blame::Data, "linear works on vectors, but the view holds text", ""),
        (read("rbf@title"), &several, Blame::Data, "rbf works on vectors, but the view holds text", ""),
        (read("spectrum@x"), &several, Blame::Data, "spectrum works on text, but the view holds vectors", ""),
        (read("1 + exp(linear@y)"), &several, Blame::Data, "the data have x, title, counts", "y"),
        (read("ard([1, 2])@x"), &several, Blame::Usage, "ard: 2 lengths were given for vectors of 3 coordinates", ""),
    ];
    for (formula, data, blame, part, other) in wrong {
        let error = formula.gram(data).err().unwrap_or_else(|| panic!("{formula} was bound"));
        let text = error.to_string();
        assert!(text.contains(part) && text.contains(other), "{formula}: {text}");
        assert_eq!(error.blame(), blame, "{text}");
    }
    // noise looks at no data, whatever there is
    assert_eq!(matrix(&noise(2.0), &only_text)[..3], [2.0, 0.0, 0.0]);
    assert_eq!(
        read("noise + spectrum@t * (linear + chi2)@v").views(),
        [(Some("t"), Kind::Text), (Some("v"), Kind::Vectors), (Some("v"), Kind::Vectors)]
    );
}

#[test]
fn a_precomputed_matrix_has_no_self_similarities_for_new_examples() {
    let points = support::dense(Domain::Any, 9, 2, 0.0);
    let k = |rows: std::ops::Range<usize>| {
        let product = |i: usize, j: usize| points.row(i)[0] * points.row(j)[0] + points.row(i)[1] * points.row(j)[1];
        let all = rows.clone().flat_map(|i| (0..6).map(move |j| (i, j))).map(|(i, j)| product(i, j)).collect();
        Dataset::new(Rows::<f64>::new(all, rows.len(), 6).unwrap())
    };
    let (training, new) = (k(0..6), k(6..9));
    let formula = precomputed().normalise();
    assert!(formula.training_gram(&training).is_ok());
    let error = formula.cross(&new, &training).err().unwrap();
    assert!(matches!(&error, Error::Kernel(_)) && error.to_string().starts_with("normalise needs κ(x, x)"), "{error}");
    let error = precomputed().rbf(1.0).cross(&new, &training).err().unwrap();
    assert!(error.to_string().starts_with("rbf needs κ(x, x)"), "{error}");
    assert_eq!(values(precomputed().cross(&new, &training).unwrap().as_ref()).len(), 18);
}

#[test]
fn parameters_are_assigned_wherever_they_are() {
    let mut formula = read("rbf(1)@x + laplacian(2)@x * rbf(linear@x, 3) + spectrum(3)");
    assert!(formula.has_parameter("gamma") && formula.has_parameter("length") && !formula.has_parameter("beta"));
    assert!(formula.assign("gamma", &Setting::Number(0.5)).unwrap());
    assert!(!formula.assign("beta", &Setting::Number(0.5)).unwrap());
    assert_eq!(
        formula.to_string(),
        "rbf(gamma=0.5)@x + laplacian(gamma=0.5)@x * rbf(linear@x, gamma=0.5) + spectrum(length=3)"
    );
    let refused = formula.assign("gamma", &Setting::Number(-1.0)).unwrap_err();
    assert_eq!(refused.to_string(), "rbf: gamma = -1 must be > 0");
    let refused = read("rbf(linear, 3)").assign("gamma", &Setting::Word("1/d".into())).unwrap_err();
    assert!(matches!(refused, ParamError::Kind { .. }), "{refused}");
}
