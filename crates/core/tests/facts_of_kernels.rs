//! Facts that kernels declare about themselves, each against the kernel's own definition on samples.

#![allow(clippy::unwrap_used, clippy::panic)]

use crate::support::{self, Sample, numbers, random_kernel, samples, show, variants};
use mercer::data::{Dataset, Kind, Rows, Values, Vectors};
use mercer::formula::{Formula, State};
use mercer::gram::Budget;
use mercer::kernels::{self, Expression, Feature, Inexpressible, KernelEntry, Leaf};
use mercer::params::Setting;
use mercer::seed::Seed;

/// Calls `law` with every kernel, every sample and a few parameters.
fn everywhere(law: impl Fn(&dyn Leaf, &Sample)) {
    for entry in kernels::all() {
        for sample in samples(entry, 1, 40) {
            for leaf in variants(entry, &sample.training, 4) {
                law(leaf.as_ref(), &sample);
            }
        }
    }
}

#[test]
fn self_similarities_lie_in_the_declared_interval_and_attain_it_where_it_is_one_number() {
    let declared = std::cell::Cell::new(0);
    everywhere(|leaf, sample| {
        let Some([low, high]) = leaf.facts().self_similarity else { return };
        assert!(low <= high, "{}", show(leaf));
        let v = &sample.training;
        let unit = 1e-12 * low.abs().max(high.abs()).max(1.0);
        for i in 0..v.len() {
            let own = leaf.eval(v, i, v, i);
            assert!(own >= low - unit && own <= high + unit, "{} on {}: {own}", show(leaf), sample.name);
        }
        declared.set(declared.get() + 1);
    });
    assert!(declared.get() > 100, "{}", declared.get());
}

#[test]
fn kernels_that_are_never_negative_are_not_and_others_are_somewhere() {
    let mut negative = Vec::new();
    for entry in kernels::all() {
        let mut least = f64::INFINITY;
        let mut declared = false;
        for sample in samples(entry, 1, 40) {
            for leaf in variants(entry, &sample.training, 4) {
                let v = &sample.training;
                let all = (0..v.len()).flat_map(|i| (0..=i).map(move |j| (i, j)));
                let lowest = all.map(|(i, j)| leaf.eval(v, i, v, j)).fold(f64::INFINITY, f64::min);
                if leaf.facts().never_negative {
                    assert!(lowest >= 0.0, "{} on {}: {lowest}", show(leaf.as_ref()), sample.name);
                    declared = true;
                }
                least = least.min(lowest);
            }
        }
        if least < 0.0 {
            negative.push(entry.name);
        }
        assert!(!(declared && least < 0.0), "{}: {least}", entry.name);
    }
    // the samples can tell: some kernels do have negative values
    assert!(negative.len() >= 5, "{negative:?}");
}

#[test]
fn feature_spaces_have_no_more_coordinates_than_declared() {
    let mut declared = 0;
    for entry in kernels::all().filter(|e| e.kind == Kind::Vectors) {
        for width in [1, 2, 3] {
            let rows = support::dense(entry.domain, 60, width, 0.0);
            let values = Values::from(rows);
            for seed in 0..3 {
                let mut leaf = random_kernel(entry, width, seed);
                kernels::resolve(leaf.as_mut(), &values, Seed(seed));
                let Some(dimension) = leaf.dimension(width) else { continue };
                let gram = leaf.gram(&values, &values, true).unwrap();
                let rank = mercer::geometry::spectrum(gram.as_ref(), 60, Budget::default()).unwrap().rank();
                assert!(rank as f64 <= dimension, "{}: rank {rank} in {dimension}", show(leaf.as_ref()));
                declared += 1;
            }
        }
    }
    assert!(declared >= 18, "{declared}");
}

/// The state that a kernel keeps beside single numbers.
fn kept(leaf: &dyn Leaf) -> (Vec<(String, usize)>, bool) {
    let lists = leaf.settings().into_iter().filter_map(|(name, value)| match value {
        Setting::Numbers(all) => Some((name.to_owned(), all.len())),
        Setting::Word(word) => Some((format!("{name}={word}"), 0)),
        _ => None,
    });
    (lists.collect(), leaf.learned().is_some())
}

#[test]
fn a_kernel_declares_that_it_learns_where_resolving_takes_more_than_numbers() {
    let mut learning = Vec::new();
    for entry in kernels::all() {
        for sample in samples(entry, 1, 30) {
            let width = sample.training.width().unwrap_or(1);
            let mut all: Vec<Box<dyn Leaf>> = vec![(entry.make)()];
            all.extend((0..6).map(|seed| random_kernel(entry, width, seed)));
            for mut leaf in all {
                let declared = leaf.facts().learns;
                let mut plain = leaf.boxed();
                // single numbers first, so that what is left is more than that
                replace_words(plain.as_mut(), &sample.training);
                let before = kept(plain.as_ref());
                kernels::resolve(leaf.as_mut(), &sample.training, Seed(1));
                let taken = before != kept(leaf.as_ref());
                assert_eq!(declared, taken, "{} on {}", show(leaf.as_ref()), sample.name);
                if declared && !learning.contains(&entry.name) {
                    learning.push(entry.name);
                }
            }
        }
    }
    assert!(learning.len() >= 5, "{learning:?}");
}

/// Replaces the words of single numbers by one, without learning anything.
fn replace_words(leaf: &mut dyn Leaf, _: &Values) {
    let numbers: Vec<&str> = {
        let mut copy = leaf.boxed();
        let all = mercer::params::describe(copy.as_mut());
        all.into_iter().filter(|d| d.kind == "number" && !d.words.is_empty()).map(|d| d.name).collect()
    };
    for (name, value) in leaf.settings() {
        if matches!(value, Setting::Word(_)) && numbers.contains(&name) {
            let owner = leaf.entry().name;
            mercer::params::assign(owner, leaf, name, &Setting::Number(1.0)).unwrap();
        }
    }
}

#[test]
fn kernels_that_look_at_no_data_have_one_matrix_for_all() {
    let mut blind = Vec::new();
    for entry in kernels::all().filter(|e| e.kind == Kind::Vectors) {
        let leaf = (entry.make)();
        if leaf.facts().looks_at_data {
            continue;
        }
        blind.push(entry.name);
        let matrix = |zeros: f64| {
            let v = Values::from(support::dense(entry.domain, 20, 3, zeros));
            support::values(leaf.gram(&v, &v, true).unwrap().as_ref())
        };
        assert_eq!(matrix(0.0), matrix(0.9));
    }
    assert_eq!(blind.len(), 1, "{blind:?}");
}

#[test]
fn features_that_are_the_examples_are_their_coordinates() {
    let mut found = 0;
    for entry in kernels::all().filter(|e| e.kind == Kind::Vectors) {
        let leaf = (entry.make)();
        if !leaf.facts().features_are_examples {
            continue;
        }
        found += 1;
        for sample in samples(entry, 1, 20) {
            let features = match leaf.features(&sample.training).unwrap() {
                Vectors::Dense(rows) => Values::Dense(rows),
                Vectors::Sparse(rows) => Values::Sparse(rows),
            };
            let d = sample.training.width().unwrap();
            for i in 0..20 {
                assert_eq!(numbers(&features, i, d), numbers(&sample.training, i, d), "{}", sample.name);
            }
        }
    }
    assert_eq!(found, 1);
}

/// The value of an expression, operation by operation.
fn value(e: &Expression, x: &[f64], y: &[f64]) -> f64 {
    let pairs = || x.iter().zip(y);
    match e {
        Expression::Number(v) => *v,
        Expression::InnerProduct => pairs().map(|(a, b)| a * b).sum(),
        Expression::SquaredDistance { weights } => pairs()
            .enumerate()
            .map(|(j, (a, b))| {
                let w = if weights.len() > 1 { weights[j] } else { weights.first().copied().unwrap_or(1.0) };
                (w * (a - b)).powi(2)
            })
            .sum(),
        Expression::SquaredDifferences => pairs().map(|(a, b)| (a - b).powi(2)).sum(),
        Expression::AbsoluteDifferences => pairs().map(|(a, b)| (a - b).abs()).sum(),
        Expression::HarmonicMeans => pairs().map(|(a, b)| if a + b > 0.0 { 2.0 * a * b / (a + b) } else { 0.0 }).sum(),
        Expression::OfEach { f, index } => {
            let of = |v: &[f64]| match f {
                Feature::Norm => v.iter().map(|a| a * a).sum::<f64>().sqrt(),
                Feature::Sum => v.iter().sum(),
                Feature::Coordinate => v.get(index - 1).copied().unwrap_or(0.0),
            };
            of(x) * of(y)
        }
        Expression::SameExample => f64::from(u8::from(std::ptr::eq(x, y))),
        Expression::Plus(a, b) => value(a, x, y) + value(b, x, y),
        Expression::Times(a, b) => value(a, x, y) * value(b, x, y),
        Expression::Power(a, n) => value(a, x, y).powi(*n as i32),
        Expression::RealPower(a, p) => value(a, x, y).powf(*p),
        Expression::Root(a) => value(a, x, y).sqrt(),
        Expression::Exp(a) => value(a, x, y).exp(),
        Expression::Tanh(a) => value(a, x, y).tanh(),
    }
}

#[test]
fn expressions_have_the_values_of_their_kernels() {
    let mut written: Vec<&str> = Vec::new();
    for entry in kernels::all().filter(|e| e.kind == Kind::Vectors) {
        for d in [1, 3, 17] {
            let v = Values::from(support::dense(entry.domain, 30, d, 0.0));
            for leaf in variants(entry, &v, 8) {
                let expression = match leaf.expression() {
                    Ok(expression) => expression,
                    Err(Inexpressible::Unresolved(name)) => panic!("{name} of {} is resolved", show(leaf.as_ref())),
                    Err(_) => continue,
                };
                let rows: Vec<Vec<f64>> = (0..30).map(|i| numbers(&v, i, d)).collect();
                for (i, x) in rows.iter().enumerate() {
                    for (j, y) in rows.iter().enumerate().take(i + 1) {
                        let (got, wanted) = (value(&expression, x, y), leaf.eval(&v, i, &v, j));
                        let near = (got - wanted).abs() <= 1e-11 * wanted.abs().max(1.0);
                        assert!(near, "{} at {i}, {j}: {got} {wanted}", show(leaf.as_ref()));
                    }
                }
                if !written.contains(&entry.name) {
                    written.push(entry.name);
                }
            }
        }
    }
    assert!(written.len() >= 10, "{written:?}");
}

#[test]
fn parameters_that_wait_for_examples_have_no_expression_yet() {
    let waiting = |entry: &&KernelEntry| matches!((entry.make)().expression(), Err(Inexpressible::Unresolved(name)) if name == "gamma");
    assert!(kernels::all().filter(waiting).count() >= 2);
}

#[test]
fn formulas_know_what_learns_and_what_has_words() {
    for (text, learns, words) in [
        ("rbf(gamma=1)", false, false),
        ("rbf", false, true),
        ("rbf(gamma=1) + laplacian", false, true),
        ("exp(rbf(linear, gamma=median))", false, true),
        ("centre(linear)", true, false),
        ("2*normalise(centre(linear) + 1)", true, false),
        ("mahalanobis(metric=inverse_covariance)", true, true),
        ("bag_of_words", false, false),
        ("bag_of_words(weighting=tfidf)", true, false),
        ("linear + missing_gaussian(gamma=1)", true, false),
    ] {
        let formula: Formula = text.parse().unwrap();
        let text = formula.to_string();
        assert_eq!(formula.learns(), learns, "{text}");
        // the default of mahalanobis has a width of its own
        if !text.contains("mahalanobis") {
            assert_eq!(formula.has_words(), words, "{text}");
        }
    }
}

#[test]
fn states_stand_in_the_order_of_the_print_and_go_back() {
    let texts: Vec<String> = (0..9).map(|i| format!("common word{i} of{}", i % 3)).collect();
    let x = Rows::new((0..18).map(|i| f64::from(i * i % 7)).collect(), 9, 2).unwrap();
    let data = Dataset::new(texts).with_view("numbers", x).unwrap();
    let text = "bag_of_words(weighting=tfidf) + centre(linear@numbers) + centre(bag_of_words(weighting=tfidf))";
    let formula: Formula = text.parse().unwrap();
    let resolved = formula.resolve(&data, Seed(1)).unwrap();
    let state = resolved.state();
    assert!(matches!(state.as_slice(), [State::Kernel(_), State::Centre(_), State::Centre(_), State::Kernel(_)]));
    let mut again: Formula = resolved.to_string().parse().unwrap();
    assert!(again.set_state(state.clone()) && again.state() == state);
    let mut wrong: Formula = resolved.to_string().parse().unwrap();
    let mut turned = state.clone();
    turned.rotate_left(1);
    assert!(!wrong.set_state(turned) && !wrong.set_state(state[..3].to_vec()));
}
