//! Everything that is learned before the fits is learned from examples that are never held out.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::support::chance::usual;
use mercer::Error;
use mercer::conformal::{Method, Recipe, Regions};
use mercer::formula::State;
use mercer::gram::Gram;
use mercer::machines::{Coefficients, Machine};
use mercer::prelude::*;
use mercer::seed::Random;
use mercer::watch::Silent;
use std::sync::Arc;

fn fit(machine: &dyn Machine, kernel: &Formula, recipe: Recipe, data: &Dataset) -> Result<Model, Error> {
    Job { conformal: Some(recipe), ..Job::new(machine, kernel) }.run(data, &Silent)
}

fn ridge() -> Ridge {
    Ridge { lambda: 0.1.into(), ..Ridge::default() }
}

fn waves(n: usize, random: &mut Random) -> Dataset {
    let x: Vec<f64> = (0..n).map(|_| 3.0 * random.uniform()).collect();
    let y: Vec<f64> = x.iter().map(|x| (2.0 * x).sin() + (0.1 + 0.2 * x) * random.normal()).collect();
    Dataset::new(Rows::new(x, n, 1).unwrap()).with_target(y).unwrap()
}

/// Another example at one place, far from all others.
fn with_odd_one(data: &Dataset, place: usize) -> Dataset {
    let mercer::data::Values::Dense(x) = data.view("x").unwrap() else { panic!() };
    let (mut x, n, d) = (x.values().to_vec(), data.len(), x.width());
    x[place * d..(place + 1) * d].fill(1000.0);
    Dataset::new(Rows::new(x, n, d).unwrap()).with_target(data.target().unwrap().clone()).unwrap()
}

/// All values of a matrix.
fn filled(gram: &Arc<dyn Gram>) -> Vec<f64> {
    let mut values = vec![0.0; gram.shape().0 * gram.shape().1];
    mercer::gram::fill(gram.as_ref(), &mut values);
    values
}

/// Equal but for rounding: data are centred before they are compared, which changes the last digits of kernel values.
fn near(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-9 * (1.0 + b.abs()))
}

#[test]
fn an_odd_example_that_is_held_out_changes_no_word() {
    let data = waves(12, &mut Seed(1).stream("words"));
    let probes = waves(6, &mut Seed(2).stream("probes"));
    // numbers of a kernel as they are felt: values between examples that nobody has seen
    let felt = |kernel: &Formula, data: &Dataset, recipe: Recipe| {
        let model = fit(&ridge(), kernel, recipe, data).unwrap();
        filled(&model.kernel().cross(&probes, &probes).unwrap())
    };
    for method in [Method::Cross, Method::Jackknife, Method::Full] {
        for text in ["rbf(gamma=scale)", "rbf(gamma=median)", "rbf(laplacian(gamma=1), gamma=median) + linear"] {
            let (kernel, recipe): (Formula, Recipe) = (text.parse().unwrap(), Recipe::new(method));
            let (held, kept) = recipe.parts(&data, Seed(0)).unwrap();
            assert_eq!((held.len(), kept.len()), (9, 3));
            let plain = felt(&kernel, &data, recipe);
            let silent: Vec<usize> =
                (0..12).filter(|&i| near(&felt(&kernel, &with_odd_one(&data, i), recipe), &plain)).collect();
            assert_eq!(silent, held, "{method} {text}");
        }
    }
}

#[test]
fn an_odd_example_that_is_held_out_moves_no_centre() {
    let data = waves(12, &mut Seed(2).stream("centre"));
    let recipe = Recipe::new(Method::Jackknife);
    let (held, kept) = recipe.parts(&data, Seed(0)).unwrap();
    let centre = |data: &Dataset| {
        let model = fit(&ridge(), &rbf(1.0).centre(), recipe, data).unwrap();
        let [State::Centre(centring)] = &model.kernel().state()[..] else { panic!("one centre") };
        let centring = centring.clone();
        assert_eq!(centring.part, kept);
        (centring.total, centring.means)
    };
    let (total, means) = centre(&data);
    for i in 0..12 {
        let (moved, others) = centre(&with_odd_one(&data, i));
        let same = (0..12).filter(|&j| j != i && near(&[others[j]], &[means[j]])).count();
        assert_eq!((near(&[moved], &[total]), same == 11), (held.contains(&i), held.contains(&i)), "{i}");
    }
    // by hand: the kernel between x and z, seen from the mean of the kept
    let model = fit(&ridge(), &rbf(1.0).centre(), recipe, &data).unwrap();
    let new = waves(5, &mut Seed(3).stream("new"));
    let centred = filled(&model.kernel().cross(&new, &data).unwrap());
    let (cross, square) =
        (filled(&rbf(1.0).cross(&new, &data).unwrap()), filled(&rbf(1.0).training_gram(&data).unwrap()));
    for i in 0..5 {
        for j in 0..12 {
            let mean = |f: &dyn Fn(usize) -> f64| kept.iter().map(|&l| f(l)).sum::<f64>() / kept.len() as f64;
            let wanted = cross[i * 12 + j] - mean(&|l| cross[i * 12 + l]) - mean(&|l| square[l * 12 + j])
                + mean(&|l| mean(&|m| square[l * 12 + m]));
            assert!((centred[i * 12 + j] - wanted).abs() < 1e-13, "{i} {j}");
        }
    }
    let bytes = model.to_bytes().unwrap();
    let back = Model::from_bytes(&bytes, "m").unwrap();
    assert_eq!((back.kernel().state(), back.to_bytes().unwrap()), (model.kernel().state(), bytes));
    assert_eq!(back.regions(&new, 0.8).unwrap(), model.regions(&new, 0.8).unwrap());
}

#[test]
fn words_of_texts_are_those_of_the_kept() {
    let texts: Vec<String> = (0..12).map(|i| format!("common word{i}")).collect();
    let y: Vec<f64> = (0..12).map(f64::from).collect();
    let data = Dataset::new(texts).with_target(y).unwrap();
    let kernel: Formula = "bag_of_words(weighting=tfidf)".parse().unwrap();
    let recipe = Recipe { folds: 3, ..Recipe::new(Method::Cross) };
    let model = fit(&ridge(), &kernel, recipe, &data).unwrap();
    let (_, kept) = recipe.parts(&data, Seed(0)).unwrap();
    let [State::Kernel(learned)] = &model.kernel().state()[..] else { panic!("one vocabulary") };
    for i in 0..12 {
        assert_eq!(learned.words.contains(&format!("word{i}")), kept.contains(&i), "{learned:?}");
    }
    assert_eq!(model.conformal().unwrap().clone().held_out(0), 9);
}

/// In how many members each training example has no coefficient: ridge regression gives all others one.
fn absences(model: &Model, n: usize) -> Vec<usize> {
    let conformal = model.conformal().unwrap();
    let [panel] = conformal.panels() else { panic!() };
    let Coefficients::Dual { points, alpha } = &panel.expansion.coefficients else { panic!() };
    let mut absent = vec![usize::MAX; n];
    assert!(conformal.pool().is_none());
    for (&point, row) in points.iter().zip(alpha.chunks(panel.members)) {
        absent[model.places()[point]] = row.iter().filter(|a| **a == 0.0).count();
    }
    absent
}

/// A table whose columns are scaled by the examples that are never held out.
fn scaled_by_kept(recipe: Recipe, kernel: &str) -> Dataset {
    let job = Job { conformal: Some(recipe), ..Job::new(&ridge(), &kernel.parse().unwrap()) };
    job.prepare(mercer::datasets::load("noisy_sinc", Some(23), Seed(4)).unwrap()).unwrap()
}

#[test]
fn nothing_is_proven_where_all_examples_scaled_the_columns() {
    let table = mercer::datasets::load("noisy_sinc", Some(60), Seed(4)).unwrap();
    let (schema, by_all) = Schema::learn_and_apply(&table, &SchemaOptions::default()).unwrap();
    for method in [Method::Split, Method::Cross, Method::Jackknife, Method::Full] {
        let job = Job { conformal: Some(Recipe::new(method)), ..Job::new(&ridge(), &rbf(0.7)) };
        let proven = |data: &Dataset| {
            let model = job.run(data, &Silent).unwrap();
            let [told] = model.conformal().unwrap().guarantees(0.8).try_into().unwrap();
            assert_eq!(told.least.is_some(), model.conformal().unwrap().is_proven());
            told.least.is_some()
        };
        let by_kept = job.prepare(table.clone()).unwrap();
        assert!(proven(&by_kept), "{method}");
        assert!(!proven(&by_all), "{method}");
        // the same schema once more, or other places of the kept, is not known to spare anybody
        assert!(!proven(&schema.apply(&table).unwrap()), "{method}");
        assert!(!proven(&by_kept.select(&(0..60).rev().collect::<Vec<_>>())), "{method}");
        // another seed holds out other examples
        let other = Job { seed: Seed(9), ..job.clone() };
        assert!(!other.run(&by_kept, &Silent).unwrap().conformal().unwrap().is_proven(), "{method}");
        // nor are numbers that the caller took
        let taken = Job { numbers_taken: 1, ..job.clone() };
        assert!(!taken.run(&by_kept, &Silent).unwrap().conformal().unwrap().is_proven(), "{method}");
        // columns as they are teach nobody anything
        let options = SchemaOptions { scale: Some(Scale::None), ..SchemaOptions::default() };
        assert!(proven(&Schema::learn_and_apply(&table, &options).unwrap().1), "{method}");
    }
}

#[test]
fn the_kept_are_in_every_model_and_the_others_in_all_but_one() {
    let data = waves(23, &mut Seed(4).stream("members"));
    let cases = [
        ("rbf(gamma=scale)", false, 6),
        ("rbf(gamma=0.7)", false, 0),
        ("rbf(gamma=1/d)", false, 0),
        ("rbf(gamma=0.7)", true, 6),
    ];
    for method in [Method::Cross, Method::Jackknife] {
        for (text, scaled, count) in cases {
            let recipe = Recipe { folds: 5, ..Recipe::new(method) };
            let data = if scaled { scaled_by_kept(recipe, text) } else { data.clone() };
            let model = fit(&ridge(), &text.parse().unwrap(), recipe, &data).unwrap();
            let absent = absences(&model, 23);
            let kept = if count == 0 { Vec::new() } else { recipe.parts(&data, Seed(0)).unwrap().1 };
            assert_eq!(kept.len(), count);
            for (i, absent) in absent.into_iter().enumerate() {
                assert_eq!(absent, usize::from(!kept.contains(&i)), "{method} {text} {i}");
            }
            let conformal = model.conformal().unwrap();
            assert_eq!(conformal.held_out(0), 23 - count);
            assert_eq!(conformal.members(), if method == Method::Cross { 5 } else { 23 - count });
            assert!(conformal.is_proven());
            let [told] = conformal.guarantees(0.8).try_into().unwrap();
            assert_eq!(told.held_out, 23 - count);
            if method == Method::Jackknife {
                assert!((told.least.unwrap() - 0.6).abs() < 1e-12);
            }
            let back = Model::from_bytes(&model.to_bytes().unwrap(), "m").unwrap();
            assert_eq!(back.regions(&data, 0.8).unwrap(), model.regions(&data, 0.8).unwrap());
        }
    }
}

#[test]
fn every_example_is_held_out_where_nothing_is_learned() {
    // a kernel with a word, and the same with its number: only the first keeps a part
    let data = waves(20, &mut Seed(5).stream("fixed"));
    let jackknife = Recipe::new(Method::Jackknife);
    let settled = fit(&ridge(), &"rbf(gamma=scale)".parse().unwrap(), jackknife, &data).unwrap();
    let fixed = fit(&ridge(), settled.kernel(), jackknife, &data).unwrap();
    let (settled, fixed) = (settled.conformal().unwrap().clone(), fixed.conformal().unwrap().clone());
    assert_eq!((settled.held_out(0), fixed.held_out(0)), (15, 20));
    // the share means nothing then
    let other = Recipe { share: 0.6, ..jackknife };
    let again = fit(&ridge(), &rbf(0.7), other, &data).unwrap().conformal().unwrap().clone();
    assert_eq!(
        again.groups(),
        fit(&ridge(), &rbf(0.7), jackknife, &data).unwrap().conformal().unwrap().clone().groups()
    );
    // the models without the others are the same, and so are their nonconformities
    let of = |c: &mercer::conformal::Conformal| c.groups().concat();
    let (_, kept) = jackknife.parts(&data, Seed(0)).unwrap();
    let all = of(&fixed);
    for (i, r) in (0..20).filter(|i| !kept.contains(i)).zip(of(&settled)) {
        assert!((all[i] - r).abs() < 1e-9, "{i}");
    }
}

#[test]
fn methods_cover_as_proven_where_words_are_learned() {
    let trials = 2500;
    for (method, text, n) in [
        (Method::Jackknife, "rbf(gamma=scale)", 20),
        (Method::Jackknife, "centre(rbf(gamma=median))", 26),
        (Method::Cross, "rbf(gamma=median)", 26),
    ] {
        let (kernel, recipe) = (text.parse::<Formula>().unwrap(), Recipe { folds: 5, ..Recipe::new(method) });
        let (mut random, mut least) = (Seed(11).stream("trials"), 0.0);
        let missed = (0..trials).filter(|_| {
            let (data, new) = (waves(n, &mut random), waves(1, &mut random));
            let model = fit(&ridge(), &kernel, recipe, &data).unwrap();
            least = model.conformal().unwrap().guarantees(0.8)[0].least.unwrap();
            model.regions(&new, 0.8).unwrap().measure(new.target()).unwrap().coverage == 0.0
        });
        let missed = missed.count();
        assert!(usual(missed, trials, 1.0 - least).1, "{method} {text}: {missed} of {trials}, proven {least}");
        // close to the level itself in practice: between 0.74 and 0.9
        assert!(usual(missed, trials, 0.26).1 && usual(missed, trials, 0.1).0, "{method} {text}: {missed}");
    }
    assert!(!usual(1150, trials, 0.4).1, "more than is proven would be seen");
}

#[test]
fn classes_and_detectors_keep_a_part_of_each() {
    let mut random = Seed(6).stream("classes");
    let x: Vec<f64> = (0..120).map(|_| random.normal()).collect();
    let labels: Vec<&str> = (0..60).map(|i| if i % 5 == 0 { "few" } else { "many" }).collect();
    let data = Dataset::new(Rows::new(x, 60, 2).unwrap()).with_target(Target::from_text("y", &labels)).unwrap();
    let kernel: Formula = "rbf(gamma=scale)".parse().unwrap();
    let recipe = Recipe { folds: 4, mondrian: true, ..Recipe::new(Method::Cross) };
    let model = fit(&Svc::default(), &kernel, recipe, &data).unwrap();
    // 12 and 48 examples, a quarter of each kept
    let told: Vec<usize> = model.conformal().unwrap().guarantees(0.8).iter().map(|g| g.held_out).collect();
    assert_eq!(told, [9, 36]);
    let back = Model::from_bytes(&model.to_bytes().unwrap(), "m").unwrap();
    assert_eq!(back.regions(&data, 0.8).unwrap(), model.regions(&data, 0.8).unwrap());
    let detector = fit(&CentreOfMass::default(), &kernel, Recipe { mondrian: false, ..recipe }, &data).unwrap();
    assert_eq!(detector.conformal().unwrap().held_out(0), 45);
    let Regions::Alarms { p_values, .. } = detector.regions(&data, 0.8).unwrap() else { panic!() };
    assert!(p_values.iter().all(|p| *p >= 1.0 / 46.0));
    // the long way without a closed form
    let retrain = Recipe { mondrian: false, retrain: true, ..Recipe::new(Method::Jackknife) };
    let long = fit(&Svc::default(), &kernel, retrain, &data).unwrap();
    assert_eq!(long.conformal().unwrap().clone().members(), 45);
}

#[test]
fn a_precomputed_matrix_keeps_a_part_only_for_its_centre() {
    let mut random = Seed(7).stream("matrix");
    let data = waves(16, &mut random);
    let mut values = vec![0.0; 256];
    mercer::gram::fill(rbf(0.8).training_gram(&data).unwrap().as_ref(), &mut values);
    let matrix = Dataset::new(Rows::new(values, 16, 16).unwrap()).with_target(data.target().unwrap().clone()).unwrap();
    for (text, held) in [("precomputed", 16), ("centre(precomputed)", 12)] {
        for method in [Method::Cross, Method::Jackknife] {
            let model = fit(&ridge(), &text.parse().unwrap(), Recipe::new(method), &matrix).unwrap();
            assert_eq!(model.conformal().unwrap().held_out(0), held);
            let plain = if held == 16 { rbf(0.8) } else { rbf(0.8).centre() };
            let same = fit(&ridge(), &plain, Recipe::new(method), &data).unwrap();
            let back = Model::from_bytes(&model.to_bytes().unwrap(), "m").unwrap();
            let (Regions::Intervals { lower, .. }, Regions::Intervals { lower: wanted, .. }) =
                (back.regions(&matrix, 0.8).unwrap(), same.regions(&data, 0.8).unwrap())
            else {
                panic!()
            };
            for (a, b) in lower.iter().zip(wanted) {
                assert!((a - b).abs() < 1e-8, "{text} {method}: {a} {b}");
            }
        }
    }
}

#[test]
fn two_examples_are_one_to_learn_from_and_one_to_hold_out() {
    let data = waves(2, &mut Seed(8).stream("two"));
    for method in [Method::Cross, Method::Jackknife, Method::Full] {
        let model = fit(&ridge(), &"rbf(gamma=scale)".parse().unwrap(), Recipe::new(method), &data).unwrap();
        assert_eq!(model.conformal().unwrap().held_out(0), 1);
        let back = Model::from_bytes(&model.to_bytes().unwrap(), "m").unwrap();
        assert_eq!(back.regions(&data, 0.4).unwrap(), model.regions(&data, 0.4).unwrap());
    }
}

#[test]
fn the_largest_index_of_held_out_sparse_vectors_is_no_number_of_the_kernel() {
    let mut random = Seed(21).stream("sparse");
    let n = 40;
    for method in [Method::Split, Method::Cross] {
        let labels: Vec<&str> = (0..n).map(|i| ["a", "b"][i % 2]).collect();
        let target = Target::from_text("y", &labels);
        let of = |width: usize, x: Vec<f64>| {
            let rows = SparseRows::from_dense(&Rows::new(x, n, width).unwrap());
            Dataset::new(rows).with_target(target.clone()).unwrap()
        };
        let plain = of(3, (0..3 * n).map(|_| random.normal()).collect());
        let recipe = Recipe { folds: 4, ..Recipe::new(method) };
        let (held, _) = recipe.parts(&plain, Seed(0)).unwrap();
        // held-out examples have a coordinate that no other has
        let far = (0..n).flat_map(|i| {
            let last = if held.contains(&i) { 1.0 } else { 0.0 };
            [random.normal(), random.normal(), 1.0, 0.0, 0.0, 0.0, 0.0, last]
        });
        let far = of(8, far.collect());
        let kernel: Formula = "laplacian(gamma=1/d)".parse().unwrap();
        for data in [&plain, &far] {
            let model = fit(&Svc::default(), &kernel, recipe, data).unwrap();
            assert!(model.kernel().to_string().contains("0.333333"), "{method}: {}", model.kernel());
            assert!(model.conformal().unwrap().is_proven());
        }
        // without regions it is the width of the file, and is paid for
        let model = Svc::default().fit(&kernel, &far).unwrap();
        assert!(model.kernel().to_string().contains("0.125"), "{}", model.kernel());
        assert_eq!(model.provenance().unwrap().learned()[0].bits, 64.0);
    }
}
