//! Conformal prediction from end to end: coverage by simulation, closed forms against learning again, files.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::support::chance::usual;
use mercer::calibrate::Method as Curves;
use mercer::conformal::{Conformal, Measure, Method, Recipe, Regions};
use mercer::gram::Budget;
use mercer::machines::Threshold;
use mercer::machines::classify::Strategy;
use mercer::machines::regress::RidgeSolver;
use mercer::machines::{FitError, Machine, family, predicts_target};
use mercer::params::{Setting, assign};
use mercer::prelude::*;
use mercer::seed::Random;
use mercer::watch::{Monitor, Phase, Progress, Silent, Stop};
use mercer::{Error, machines};
use std::ops::ControlFlow;

/// Two overlapping clouds in the plane, a share of them of the second class.
fn clouds(n: usize, second: f64, random: &mut Random) -> Dataset {
    let codes: Vec<usize> = (0..n).map(|_| usize::from(random.uniform() < second)).collect();
    let x = codes.iter().flat_map(|&c| [random.normal() + 1.5 * c as f64, random.normal()]).collect();
    let labels: Vec<&str> = codes.iter().map(|&c| ["many", "few"][c]).collect();
    Dataset::new(Rows::new(x, n, 2).unwrap()).with_target(Target::from_text("y", &labels)).unwrap()
}

/// y = sin 2x + noise that grows with x: no interval of one width is right everywhere.
fn waves(n: usize, random: &mut Random) -> Dataset {
    let x: Vec<f64> = (0..n).map(|_| 3.0 * random.uniform()).collect();
    let y: Vec<f64> = x.iter().map(|x| (2.0 * x).sin() + (0.1 + 0.2 * x) * random.normal()).collect();
    Dataset::new(Rows::new(x, n, 1).unwrap()).with_target(y).unwrap()
}

/// The same examples but for their last digits.
fn nudged(data: &Dataset) -> Dataset {
    let mercer::data::Values::Dense(rows) = &data.views()[0].values else { panic!("dense vectors") };
    let moved = rows.values().iter().map(|x| x + 1e-9).collect();
    let target = data.target().unwrap().clone();
    Dataset::new(Rows::new(moved, rows.len(), rows.width()).unwrap()).with_target(target).unwrap()
}

fn fit(machine: &dyn Machine, kernel: &Formula, recipe: Recipe, data: &Dataset) -> Result<Model, Error> {
    Job { conformal: Some(recipe), ..Job::new(machine, kernel) }.run(data, &Silent)
}

fn recipe(method: Method) -> Recipe {
    Recipe { folds: 5, retrain: true, ..Recipe::new(method) }
}

/// The number of new examples that have a region without their truth.
fn misses(model: &Model, new: &Dataset, coverage: f64) -> usize {
    let measured = model.regions(new, coverage).unwrap().measure(new.target()).unwrap();
    ((1.0 - measured.coverage) * new.len() as f64).round() as usize
}

/// One new example for each training set: misses are independent, and their number is binomial.
fn simulate(trials: usize, mut miss: impl FnMut(&mut Random) -> bool) -> usize {
    let mut random = Seed(11).stream("trials");
    (0..trials).filter(|_| miss(&mut random)).count()
}

#[test]
fn split_covers_as_often_as_it_says_and_no_more() {
    // n = 19 calibration examples at 0.8: exactly 16/20, so that 2000 trials tell it from 0.75 and from 0.85
    let trials = 2000;
    let split = Recipe { share: 19.0 / 40.0, ..Recipe::new(Method::Split) };
    let (ridge, svc, detector) =
        (Ridge { lambda: 0.1.into(), ..Ridge::default() }, Svc::default(), CentreOfMass::default());
    let kernel = rbf(0.7);
    for (name, machine) in [("ridge", &ridge as &dyn Machine), ("svc", &svc), ("centre_of_mass", &detector)] {
        let missed = simulate(trials, |random| {
            let make = |n, random: &mut Random| if name == "svc" { clouds(n, 0.4, random) } else { waves(n, random) };
            let (data, new) = (make(40, random), make(1, random));
            misses(&fit(machine, &kernel, split, &data).unwrap(), &new, 0.8) == 1
        });
        assert_eq!(usual(missed, trials, 0.2), (true, true), "{name}: {missed} of {trials}");
    }
    // the test can fail: one rank further, and it sees the difference
    assert!(!usual(300, trials, 0.2).0 && !usual(500, trials, 0.2).1);
}

#[test]
fn resubstitution_does_not_cover() {
    // the same machinery on scores of examples that were learned from is far from what it says
    let trials = 500;
    let (machine, kernel) = (Ridge { lambda: 1e-3.into(), ..Ridge::default() }, rbf(4.0));
    let missed = simulate(trials, |random| {
        let (data, new) = (waves(30, random), waves(1, random));
        let mut model = machine.fit(&kernel, &data).unwrap();
        // a model that knows its examples refuses
        assert!(model.calibrate_on(&data, false).is_err());
        // in any order, and with a few left out
        assert!(model.calibrate_on(&data.select(&(0..28).rev().collect::<Vec<_>>()), false).is_err());
        // and half of them, or a few
        for few in [14, 6] {
            assert!(model.calibrate_on(&data.select(&(0..few).collect::<Vec<_>>()), false).is_err());
        }
        // whoever hides them behind their last digits is believed
        model.calibrate_on(&nudged(&data), false).unwrap();
        misses(&model, &new, 0.8) == 1
    });
    assert!(!usual(missed, trials, 0.2).1, "{missed} of {trials} is not seen");
}

#[test]
fn folds_and_jackknife_cover_as_proven() {
    let (ridge, kfd) = (Ridge { lambda: 0.1.into(), ..Ridge::default() }, Kfd::default());
    let (svc, kernel) = (Svc::default(), rbf(0.7));
    let cases: [(&dyn Machine, Method, usize); 4] = [
        (&ridge, Method::Jackknife, 600),
        (&ridge, Method::Cross, 600),
        (&kfd, Method::Jackknife, 600),
        (&svc, Method::Cross, 300),
    ];
    for (machine, method, trials) in cases {
        let name = machine.entry().name;
        let mut least = 0.0;
        let missed = simulate(trials, |random| {
            let make = |n, random: &mut Random| if name == "ridge" { waves(n, random) } else { clouds(n, 0.4, random) };
            let (data, new) = (make(40, random), make(1, random));
            let model = fit(machine, &kernel, recipe(method), &data).unwrap();
            least = model.conformal().unwrap().guarantees(0.8)[0].least.unwrap();
            misses(&model, &new, 0.8) == 1
        });
        assert!(usual(missed, trials, 1.0 - least).1, "{name} {method}: {missed} of {trials}, proven {least}");
        // in practice they are close to the level itself: within five hundredths of it
        assert!(usual(missed, trials, 0.25).1 && usual(missed, trials, 0.12).0, "{name} {method}: {missed}");
    }
}

#[test]
fn mondrian_covers_each_class() {
    // one in six is of the second class; without Mondrian it would be missed far more often than the first
    let (svc, kernel) = (Svc::default(), rbf(0.7));
    let trials = 1500;
    let mut missed = [[0_usize; 2]; 2];
    let mut of_class = [0_usize; 2];
    let mut random = Seed(5).stream("classes");
    for _ in 0..trials {
        let (data, new) = (clouds(120, 1.0 / 6.0, &mut random), clouds(1, 0.5, &mut random));
        let class = usize::from(new.target().unwrap().classes().unwrap().labels[0] == "few");
        of_class[class] += 1;
        for (m, mondrian) in [false, true].into_iter().enumerate() {
            let split = Recipe { mondrian, share: 0.5, ..Recipe::new(Method::Split) };
            // a set without a class of calibration examples is everything, which is no miss
            let Ok(model) = fit(&svc, &kernel, split, &data) else { continue };
            missed[m][class] += misses(&model, &new, 0.8);
        }
    }
    for class in 0..2 {
        let (count, all) = (missed[1][class], of_class[class]);
        assert!(usual(count, all, 0.2).1, "class {class}: {count} of {all}");
        // about ten calibration examples of the small class: the coverage is at most 0.8 + 1/(n + 1)
        assert!(usual(count, all, 0.08).0, "class {class}: {count} of {all}");
    }
    assert!(!usual(missed[0][1], of_class[1], 0.2).1, "without: {} of {}", missed[0][1], of_class[1]);
}

#[test]
fn closed_forms_are_learning_again() {
    let mut random = Seed(3).stream("closed");
    let near = |a: &[f64], b: &[f64], what: &str| {
        assert_eq!(a.len(), b.len());
        for (a, b) in a.iter().zip(b) {
            assert!((a - b).abs() <= 1e-6 * (1.0 + b.abs()) || a == b, "{what}: {a} {b}");
        }
    };
    let two = |random: &mut Random| clouds(26, 0.4, random);
    let kfd = |penalty, lambda: f64| Kfd {
        penalty,
        lambda: lambda.into(),
        threshold: Threshold::Programme,
        ..Kfd::default()
    };
    let table = mercer::datasets::load("iris", None, Seed(4)).unwrap();
    let iris = Schema::learn_and_apply(&table, &SchemaOptions::default()).unwrap().1;
    // new examples are none of the others: a tie with oneself is broken by rounding
    let (iris, other_iris) = (iris.select(&(0..150).step_by(5).collect::<Vec<_>>()), iris.select(&[1, 52, 103]));
    let (other_waves, other_clouds) = (waves(3, &mut random), clouds(3, 0.5, &mut random));
    let several = {
        let data = waves(25, &mut random);
        let y = data.target().unwrap().numbers().unwrap().values;
        let other: Vec<f64> = y.iter().map(|y| y * y - 1.0).collect();
        data.with_target(Target::from(y).beside(Target::from_numbers("z", other)).unwrap()).unwrap()
    };
    let cases: Vec<(Box<dyn Machine>, Dataset, &Dataset)> = vec![
        (Box::new(Ridge { lambda: 0.3.into(), ..Ridge::default() }), waves(25, &mut random), &other_waves),
        (Box::new(Ridge { lambda: 0.3.into(), ..Ridge::default() }), several, &other_waves),
        (Box::new(kfd(Penalty::Norm, 0.5)), two(&mut random), &other_clouds),
        (Box::new(kfd(Penalty::Coefficients, 0.5)), two(&mut random), &other_clouds),
        (Box::new(kfd(Penalty::Norm, 0.5)), iris.clone(), &other_iris),
        (Box::new(kfd(Penalty::Coefficients, 0.5)), iris, &other_iris),
    ];
    for (machine, data, new) in cases {
        for kernel in [rbf(0.8), rbf(0.8).centre(), linear() + Formula::constant(0.5)] {
            let recipe = Recipe::new(Method::Jackknife);
            let model = fit(machine.as_ref(), &kernel, recipe, &data).unwrap();
            let (all, kernel) = ((0..data.len()).collect(), &model.kernel());
            // a centre is that of examples which are never left out
            let centred = kernel.needs_all_examples();
            let held: Vec<usize> = if centred { recipe.parts(&data, Seed(0)).unwrap().0 } else { all };
            let conformal = model.conformal().unwrap();
            assert_eq!((conformal.members(), conformal.panels().len()), (held.len(), 1));
            let (panel, outputs) = (&conformal.panels()[0], model.fitted().expansion.outputs());
            let cross = kernel.cross(new, &data).unwrap();
            let scores = panel.expansion.scores(cross.as_ref());
            let gram = kernel.training_gram(&data).unwrap();
            for (member, &left) in held.iter().enumerate() {
                // learning again on the same matrix
                let rest: Vec<usize> = (0..data.len()).filter(|&i| i != left).collect();
                let target = data.target().unwrap().select(&rest);
                let task = machines::Task {
                    target: Some(&target),
                    budget: mercer::gram::Budget::default(),
                    ..machines::Task::new(gram.clone().restrict(&rest, &rest))
                };
                let again = machine.run(&task, &Silent).unwrap();
                let points: Vec<usize> = again.expansion.points().iter().map(|&p| rest[p]).collect();
                let wanted = again.expansion.scores(cross.clone().restrict(&[0, 1, 2], &points).as_ref());
                for (i, wanted) in wanted.chunks(outputs).enumerate() {
                    let at = (i * held.len() + member) * outputs;
                    near(&scores[at..at + outputs], wanted, &format!("{} {kernel} without {left}", model.machine()));
                }
            }
            // and the regions are those of the long way
            let slow = long_way(machine.as_ref(), kernel, &data);
            for coverage in [0.7, 0.9] {
                match (model.regions(new, coverage).unwrap(), slow.regions(new, coverage).unwrap()) {
                    (Regions::Intervals { lower, upper, .. }, Regions::Intervals { lower: l, upper: u, .. }) => {
                        near(&lower, &l, "lower");
                        near(&upper, &u, "upper");
                    }
                    (Regions::Sets { p_values, .. }, Regions::Sets { p_values: p, .. }) => near(&p_values, &p, "p"),
                    _ => panic!(),
                }
            }
        }
    }
}

/// Jackknife+ by as many folds as examples, which never uses a closed form.
fn long_way(machine: &dyn Machine, kernel: &Formula, data: &Dataset) -> Model {
    fit(machine, kernel, Recipe { folds: data.len(), ..Recipe::new(Method::Cross) }, data).unwrap()
}

#[test]
fn regions_survive_the_file_bit_for_bit_for_every_machine() {
    let mut random = Seed(8).stream("file");
    let (classes, numbers) = (clouds(40, 0.4, &mut random), waves(40, &mut random));
    let new = [clouds(9, 0.4, &mut random), waves(9, &mut random)];
    let mut seen = 0;
    for entry in machines::all() {
        let detects = family(entry) == "detect";
        if !predicts_target(entry) && !detects {
            let recipe = recipe(Method::Split);
            let data = if entry.learns == machines::Learns::Numbers { &numbers } else { &classes };
            let error = fit((entry.make)().as_ref(), &linear(), recipe, data).unwrap_err().to_string();
            assert!(error.contains("predicts no target"), "{}: {error}", entry.name);
            continue;
        }
        let machine = (entry.make)();
        let of_classes = entry.learns == machines::Learns::Classes;
        let (data, new) = if of_classes { (&classes, &new[0]) } else { (&numbers, &new[1]) };
        let kernel =
            if machine.traits().wants_matrix() && entry.name != "linear_regression" { rbf(0.5) } else { linear() };
        for method in [Method::Split, Method::Cross] {
            let model = match fit(machine.as_ref(), &kernel, recipe(method), data) {
                Err(Error::Fit(FitError::NoFeatures { .. } | FitError::Param { .. })) if method == Method::Split => {
                    fit(machine.as_ref(), &linear(), recipe(method), data)
                }
                other => other,
            };
            let model = model.unwrap_or_else(|e| panic!("{} {method}: {e}", entry.name));
            let regions = model.regions(new, 0.8).unwrap();
            let bytes = model.to_bytes().unwrap();
            let back = Model::from_bytes(&bytes, "m").unwrap();
            assert_eq!(back.regions(new, 0.8).unwrap(), regions, "{} {method}", entry.name);
            assert_eq!(back.to_bytes().unwrap(), bytes, "{}", entry.name);
            assert_eq!(back.predict(new).unwrap(), model.predict(new).unwrap());
            assert_eq!(regions.len(), 9);
            // one by one is the same as all at once
            let one = model.regions(&new.select(&[4]), 0.8).unwrap();
            match (&regions, &one) {
                (Regions::Sets { inside, labels, .. }, Regions::Sets { inside: i, .. }) => {
                    assert_eq!(inside[4 * labels.len()..5 * labels.len()], i[..]);
                }
                (Regions::Intervals { lower, .. }, Regions::Intervals { lower: l, .. }) => {
                    assert!((lower[4] - l[0]).abs() < 1e-9);
                }
                (Regions::Alarms { p_values, .. }, Regions::Alarms { p_values: p, .. }) => {
                    assert_eq!(p_values[4], p[0]);
                }
                _ => panic!("{}", entry.name),
            }
            seen += 1;
        }
    }
    assert!(seen > 40, "{seen}");
}

#[test]
fn threads_and_the_order_of_new_examples_change_nothing() {
    let mut random = Seed(9).stream("threads");
    let (data, new) = (waves(120, &mut random), waves(50, &mut random));
    let machine = Ridge { lambda: 0.1.into(), ..Ridge::default() };
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let model = fit(&machine, &rbf(1.0), recipe(Method::Cross), &data).unwrap();
            (model.to_bytes().unwrap(), model.regions(&new, 0.9).unwrap())
        })
    };
    let (one, three) = (run(1), run(3));
    assert!(one == three);
    let order = Seed(1).stream("order").permutation(new.len());
    let model = Model::from_bytes(&one.0, "m").unwrap();
    let (Regions::Intervals { lower, .. }, Regions::Intervals { lower: mixed, .. }) =
        (one.1, model.regions(&new.select(&order), 0.9).unwrap())
    else {
        panic!()
    };
    for (place, &i) in order.iter().enumerate() {
        assert!((mixed[place] - lower[i]).abs() < 1e-9);
    }
}

#[test]
fn split_measures_probabilities_where_there_are_some() {
    let data = clouds(200, 0.4, &mut Seed(4).stream("p"));
    let (machine, kernel) = (Svc::default(), rbf(0.5));
    let job = Job {
        probabilities: Some(Curves::Platt),
        conformal: Some(Recipe::new(Method::Split)),
        ..Job::new(&machine, &kernel)
    };
    let model = job.run(&data, &Silent).unwrap();
    let conformal = model.conformal().unwrap();
    assert_eq!((conformal.measure(), conformal.held_out(0), model.trained_on()), (Measure::Probability, 50, 150));
    let mercer::machines::Output::Labels { probabilities: Some(p), .. } = model.predict(&data).unwrap() else {
        panic!()
    };
    let Regions::Sets { inside, .. } = model.regions(&data, 0.9).unwrap() else { panic!() };
    let threshold = conformal.groups()[0][46 - 1];
    for (p, inside) in p.iter().zip(inside) {
        assert_eq!(1.0 - p <= threshold, inside);
    }
    // the examples that carry weight are told as places in all training data
    assert!(model.places().iter().any(|&p| p >= 150));
}

#[test]
fn a_precomputed_matrix_has_folds_but_no_split() {
    let mut random = Seed(6).stream("matrix");
    let (data, new) = (waves(40, &mut random), waves(7, &mut random));
    let kernel = rbf(0.8);
    let stored = |new: &Dataset, training: bool| {
        let gram = if training { kernel.training_gram(&data).unwrap() } else { kernel.cross(new, &data).unwrap() };
        let mut values = vec![0.0; new.len() * data.len()];
        mercer::gram::fill(gram.as_ref(), &mut values);
        Dataset::new(Rows::new(values, new.len(), data.len()).unwrap())
    };
    let matrix = stored(&data, true).with_target(data.target().unwrap().clone()).unwrap();
    for machine in [&Svr::default() as &dyn Machine, &Ridge::default()] {
        for method in [Method::Cross, Method::Jackknife] {
            let plain = fit(machine, &kernel, recipe(method), &data).unwrap().regions(&new, 0.9).unwrap();
            let model = fit(machine, &precomputed(), recipe(method), &matrix).unwrap();
            let back = Model::from_bytes(&model.to_bytes().unwrap(), "m").unwrap();
            let Regions::Intervals { lower, .. } = back.regions(&stored(&new, false), 0.9).unwrap() else { panic!() };
            let Regions::Intervals { lower: wanted, .. } = plain else { panic!() };
            for (a, b) in lower.iter().zip(wanted) {
                assert!((a - b).abs() < 5e-3, "{a} {b}");
            }
        }
    }
    let error = fit(&Ridge::default(), &precomputed(), recipe(Method::Split), &matrix).unwrap_err().to_string();
    assert!(error.contains("precomputed") && error.contains("cross"), "{error}");
}

#[test]
fn what_cannot_be_is_told() {
    let mut random = Seed(7).stream("wrong");
    let (classes, numbers) = (clouds(30, 0.4, &mut random), waves(30, &mut random));
    let (svc, ridge, kernel) = (Svc::default(), Ridge::default(), rbf(0.5));
    let said = |r: Result<Model, Error>, parts: &[&str]| {
        let error = r.unwrap_err().to_string();
        parts.iter().for_each(|part| assert!(error.contains(part), "{error}: {part}"));
    };
    let jackknife = Recipe::new(Method::Jackknife);
    said(fit(&svc, &kernel, jackknife, &classes), &["svc", "learns again for each of the 30", "cross"]);
    let chosen = Ridge { lambda: mercer::params::AutoList::Word("loo"), ..Ridge::default() };
    said(fit(&chosen, &kernel, jackknife, &numbers), &["ridge", "retrain"]);
    let streamed = Ridge { solver: RidgeSolver::Cg, ..Ridge::default() };
    said(fit(&streamed, &kernel, jackknife, &numbers), &["closed form"]);
    let split = Recipe::new(Method::Split);
    said(fit(&ridge, &kernel, Recipe { mondrian: true, ..split }, &numbers), &["no classes"]);
    for share in [0.0, 1.0, f64::NAN] {
        said(fit(&ridge, &kernel, Recipe { share, ..split }, &numbers), &["between 0 and 1"]);
    }
    said(fit(&ridge, &kernel, Recipe { folds: 1, ..recipe(Method::Cross) }, &numbers), &["2 or more"]);
    said(fit(&ridge, &kernel, split, &numbers.select(&[0])), &["1 examples"]);
    // too many for jackknife: told before any model is learned without an example
    let many = waves(4100, &mut random);
    said(fit(&LinearSvr::default(), &linear(), Recipe { retrain: true, ..jackknife }, &many), &["4100", "cross"]);
    let plain = svc.fit(&kernel, &classes).unwrap();
    let error = plain.regions(&classes, 0.9).unwrap_err().to_string();
    assert!(error.contains("--conformal split") && error.contains("--calibration"), "{error}");
    let model = fit(&svc, &kernel, split, &classes).unwrap();
    for coverage in [0.0, 1.0, f64::NAN] {
        assert!(model.regions(&classes, coverage).unwrap_err().to_string().contains("between 0 and 1"));
    }
    // a class that only held-out examples have is in every set where that many are of it
    let mut other = plain.clone();
    let labels: Vec<&str> = (0..30).map(|i| if i % 2 == 0 { "many" } else { "unknown" }).collect();
    let strange = nudged(&classes).with_target(Target::from_text("y", &labels)).unwrap();
    other.calibrate_on(&strange, false).unwrap();
    let regions = other.regions(&classes, 0.9).unwrap();
    let Regions::Sets { inside, unknown, .. } = &regions else { panic!() };
    assert!(*unknown && inside.iter().all(|i| *i), "half of the nonconformities are infinite");
    let measured = regions.measure(strange.target()).unwrap();
    assert_eq!((measured.coverage, measured.unknown), (1.0, Some(15)));
}

#[test]
fn rare_classes_that_a_fold_takes_away_are_strange_to_it() {
    let mut random = Seed(12).stream("rare");
    let x: Vec<f64> = (0..120).map(|_| random.normal()).collect();
    let labels: Vec<&str> = (0..60).map(|i| if i == 0 { "rare" } else { ["a", "b"][i % 2] }).collect();
    let data = Dataset::new(Rows::new(x, 60, 2).unwrap()).with_target(Target::from_text("y", &labels)).unwrap();
    for machine in [&Svc::default() as &dyn Machine, &NearestMean::default()] {
        let model = fit(machine, &rbf(0.5), recipe(Method::Cross), &data).unwrap();
        let conformal = model.conformal().unwrap();
        assert_eq!(conformal.panels().iter().filter(|p| p.known.is_some()).count(), 1);
        assert_eq!(conformal.groups().iter().flatten().filter(|r| r.is_infinite()).count(), 1);
        let back = Model::from_bytes(&model.to_bytes().unwrap(), "m").unwrap();
        assert_eq!(back.regions(&data, 0.9).unwrap(), model.regions(&data, 0.9).unwrap());
    }
    // where two classes are of another kind than three, that is said
    let error = fit(&Kfd::default(), &rbf(0.5), recipe(Method::Cross), &data).unwrap_err().to_string();
    assert!(error.contains("one fold"), "{error}");
    let pairs = Kfd { strategy: Strategy::OneVsOne, ..Kfd::default() };
    assert!(fit(&pairs, &rbf(0.5), recipe(Method::Cross), &data).is_ok());
}

/// Points around their class, of so many classes of which the later ones are rarer; each class has a name.
fn many_classes(n: usize, classes: usize, random: &mut Random) -> Dataset {
    let codes: Vec<usize> = (0..n).map(|_| (random.uniform().powi(2) * classes as f64) as usize).collect();
    let x = codes.iter().map(|&c| c as f64 + 0.1 * random.normal()).collect();
    let names: Vec<String> = codes.iter().map(|c| format!("c{c}")).collect();
    let words: Vec<&str> = names.iter().map(String::as_str).collect();
    Dataset::new(Rows::new(x, n, 1).unwrap()).with_target(Target::from_text("y", &words)).unwrap()
}

#[test]
fn folds_of_fits_that_know_an_order_prove_nothing() {
    let data = clouds(60, 0.4, &mut Seed(3).stream("ordered"));
    let proven = |machine: &str, settings: &[(&str, Setting)], memory: Option<usize>| {
        let mut made = (machines::find(machine).unwrap().make)();
        settings.iter().for_each(|(name, value)| assign(machine, made.as_mut(), name, value).unwrap());
        let two = Recipe { folds: 2, ..recipe(Method::Cross) };
        let mut job = Job { conformal: Some(two), ..Job::new(made.as_ref(), &rbf(0.5)) };
        if machine == "rbf_network" || machine == "adaboost" {
            job.kernel = linear();
        }
        if let Some(memory) = memory {
            job.budget = Budget { memory };
        }
        let model = job.run(&data, &Silent).unwrap();
        let told = model.conformal().unwrap().guarantees(0.9);
        told.iter().all(|g| g.least.is_some())
    };
    let word = |word: &str| Setting::Word(word.to_owned());
    assert!(proven("svc", &[], None) && proven("kfd", &[], None) && proven("adaboost", &[], None));
    assert!(proven("invariant_kfd", &[], None));
    assert!(!proven("rbf_network", &[], None));
    assert!(!proven("adaboost", &[("learner", word("rbf_network")), ("rounds", Setting::Number(3.0))], None));
    assert!(!proven("invariant_kfd", &[("expansion", word("20"))], None));
    for solver in ["subset", "greedy", "pairs"] {
        let norm = ("penalty", word(if solver == "pairs" { "norm" } else { "coefficients" }));
        assert!(!proven("kfd", &[("solver", word(solver)), norm, ("points", Setting::Number(20.0))], None), "{solver}");
    }
    // the solver that is taken for want of memory
    assert!(!proven("kfd", &[("points", Setting::Number(10.0))], Some(140_000)));
}

#[test]
fn truths_that_no_model_knows_are_counted_as_proven() {
    let (knn, mean) = (machines::classify::Knn { k: 1, ..machines::classify::Knn::default() }, NearestMean::default());
    let trials = 400;
    let each = Recipe { mondrian: true, ..recipe(Method::Split) };
    for (machine, asked, coverage) in [
        (&knn as &dyn Machine, recipe(Method::Split), 0.9),
        (&knn, recipe(Method::Split), 0.7),
        (&knn, each, 0.9),
        (&mean, recipe(Method::Cross), 0.97),
        (&mean, recipe(Method::Jackknife), 0.97),
    ] {
        let (mut unknown, mut least) = (0, 0.0);
        let missed = simulate(trials, |random| {
            let (data, new) = (many_classes(24, 20, random), many_classes(1, 20, random));
            let model = fit(machine, &rbf(1.0), asked, &data).unwrap();
            let told = model.conformal().unwrap().guarantees(coverage);
            least = told.iter().filter_map(|g| g.least).fold(1.0, f64::min);
            let measured = model.regions(&new, coverage).unwrap().measure(new.target()).unwrap();
            unknown += measured.unknown.unwrap();
            // at 0.7 there are enough examples, and what is covered is not covered by holding everything
            assert!(coverage > 0.7 || told.iter().all(|g| !g.everything));
            measured.coverage < 1.0
        });
        let name = format!("{} {} {}", machine.entry().name, asked.method, asked.mondrian);
        assert!(unknown > trials / 20, "{name}: {unknown} new examples are of a class that the model does not know");
        assert!(usual(missed, trials, 1.0 - least).1, "{name}: {missed} of {trials} missed, proven {least}");
    }
}

#[test]
fn the_only_example_of_a_class_is_strange_to_the_closed_form_without_it() {
    let mut random = Seed(15).stream("only");
    let x: Vec<f64> = (0..60).map(|_| random.normal()).collect();
    let labels: Vec<&str> = (0..30).map(|i| if i == 0 { "only" } else { ["a", "b"][i % 2] }).collect();
    let data = Dataset::new(Rows::new(x, 30, 2).unwrap()).with_target(Target::from_text("y", &labels)).unwrap();
    let model = fit(&Kfd::default(), &rbf(0.5), Recipe::new(Method::Jackknife), &data).unwrap();
    let groups = model.conformal().unwrap().groups();
    assert_eq!(groups.iter().flatten().filter(|r| r.is_infinite()).count(), 1);
}

#[test]
fn training_examples_among_those_to_calibrate_with_are_left_out_or_cost_the_proof() {
    let machine = Ridge { lambda: 0.1.into(), ..Ridge::default() };
    let mut random = Seed(16).stream("among");
    // of all training examples known one by one
    let (training, new) = (waves(60, &mut random), waves(100, &mut random));
    let mut model = machine.fit(&rbf(1.0), &training).unwrap();
    let mixed = stacked(&new, &training.select(&(0..6).collect::<Vec<_>>()));
    assert_eq!(model.calibrate_on(&mixed, false).unwrap(), 6);
    let conformal = model.conformal().unwrap();
    assert!(conformal.is_proven() && conformal.held_out(0) == 100);
    assert_eq!(model.calibrate_on(&new, false).unwrap(), 0);
    // of a sample of them only the share is known
    let (training, new) = (waves(4000, &mut random), waves(400, &mut random));
    let mut model = machine.fit(&linear(), &training).unwrap();
    let mixed = stacked(&new, &training.select(&(0..12).collect::<Vec<_>>()));
    assert!(model.seen(&mixed).is_some_and(|seen| seen.found > 0 && !seen.exact));
    assert_eq!(model.calibrate_on(&mixed, false).unwrap(), 0);
    let back = Model::from_bytes(&model.to_bytes().unwrap(), "m").unwrap();
    for model in [&model, &back] {
        let conformal = model.conformal().unwrap();
        assert!(conformal.holds_training() && !conformal.is_proven() && conformal.guarantees(0.9)[0].least.is_none());
    }
    model.calibrate_on(&new, false).unwrap();
    assert!(model.conformal().unwrap().is_proven());
}

/// The examples of two sets, one after the other.
fn stacked(one: &Dataset, two: &Dataset) -> Dataset {
    let parts = [one, two];
    let rows = |data: &Dataset| {
        let mercer::data::Values::Dense(rows) = &data.views()[0].values else { panic!("dense vectors") };
        rows.values().to_vec()
    };
    let x: Vec<f64> = parts.iter().flat_map(|data| rows(data)).collect();
    let y: Vec<f64> = parts.iter().flat_map(|data| data.target().unwrap().numbers().unwrap().values).collect();
    Dataset::new(Rows::new(x, y.len(), 1).unwrap()).with_target(y).unwrap()
}

/// Ends the work as soon as models without a fold are learned.
struct Impatient;

impl Monitor for Impatient {
    fn step(&self, progress: &Progress) -> ControlFlow<Stop> {
        if progress.phase == Phase::CONFORMAL { ControlFlow::Break(Stop::TimeLimit) } else { ControlFlow::Continue(()) }
    }
}

#[test]
fn a_model_is_kept_where_its_regions_take_too_long() {
    let data = clouds(60, 0.4, &mut Seed(2).stream("stop"));
    let (machine, kernel) = (Svc::default(), rbf(0.5));
    let job = Job { conformal: Some(recipe(Method::Cross)), ..Job::new(&machine, &kernel) };
    let model = job.run(&data, &Impatient).unwrap();
    assert!(model.conformal().is_none());
    assert!(model.fitted().report.fact(mercer::machines::Fact::ConformalCutShort).is_some());
    assert_eq!(model.predict(&data).unwrap(), machine.fit(&kernel, &data).unwrap().predict(&data).unwrap());
}

#[test]
fn several_targets_have_an_interval_each() {
    let mut random = Seed(13).stream("several");
    let data = waves(60, &mut random);
    let y = data.target().unwrap().numbers().unwrap().values;
    let both =
        Target::from(y.clone()).beside(Target::from_numbers("ten", y.iter().map(|y| 10.0 * y).collect())).unwrap();
    let machine = Ridge { lambda: 0.1.into(), ..Ridge::default() };
    let one = fit(&machine, &rbf(1.0), recipe(Method::Jackknife), &data).unwrap();
    let two = fit(&machine, &rbf(1.0), recipe(Method::Jackknife), &data.clone().with_target(both).unwrap()).unwrap();
    let (Regions::Intervals { upper, .. }, Regions::Intervals { upper: pairs, names, .. }) =
        (one.regions(&data, 0.9).unwrap(), two.regions(&data, 0.9).unwrap())
    else {
        panic!()
    };
    assert_eq!(names, ["y", "ten"]);
    for (one, pair) in upper.iter().zip(pairs.chunks(2)) {
        assert!((one - pair[0]).abs() < 1e-9 && (10.0 * one - pair[1]).abs() < 1e-8);
    }
}

#[test]
fn the_mean_p_value_of_usual_examples_is_that_of_chance() {
    // p-values of new examples are uniform on k/(n + 1): exact over draws of both
    let mut random = Seed(14).stream("p");
    let scores: Vec<f64> = (0..9).map(|_| random.normal()).collect();
    let conformal = Conformal::new((Method::Split, false, Measure::Novelty), &scores, 1, &[], &[0; 9]);
    let mut sorted = scores;
    sorted.sort_by(f64::total_cmp);
    let between: Vec<f64> = (0..=9)
        .map(|k| match k {
            0 => sorted[0] - 1.0,
            9 => sorted[8] + 1.0,
            k => f64::midpoint(sorted[k - 1], sorted[k]),
        })
        .collect();
    let wanted: Vec<f64> = (1..=10).rev().map(|k| f64::from(k) / 10.0).collect();
    assert_eq!(conformal.p_values(&between, 1), wanted);
}
