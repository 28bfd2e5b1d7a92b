//! Machines to which the order of the examples matters are judged on examples in the order of the file.

use mercer::gram::Budget;
use mercer::machines::{self, Learns, Order, Readout, predicts_target};
use mercer::params::{Setting, assign, describe};
use mercer::prelude::*;
use mercer::select::{Choose, Grid, LearningCurve, Search, Split, Trials};
use mercer::watch::Silent;

const N: usize = 40;

/// Classes in no order; for neighbours on a grid of few points, so that many examples are equally near to one another.
fn data(numbers: bool, ties: bool) -> Dataset {
    let mut random = Seed(8).stream("order");
    let place = |z: f64| if ties { (1.5 * z).round() } else { z };
    let points: Vec<[f64; 2]> = (0..N).map(|_| [place(random.normal()), place(random.normal())]).collect();
    let class = |x: &[f64; 2], noise: f64| if x[0] + 0.5 * x[1] + 1.5 * noise > 0.0 { "b" } else { "a" };
    let noise: Vec<f64> = (0..N).map(|_| random.normal()).collect();
    let target = if numbers {
        Target::from(points.iter().zip(&noise).map(|(x, e)| x[0] - x[1] + e).collect::<Vec<f64>>())
    } else {
        Target::from_text("class", &points.iter().zip(&noise).map(|(x, e)| class(x, *e)).collect::<Vec<&str>>())
    };
    Dataset::new(Rows::from_vectors(&points).unwrap()).with_target(target).unwrap()
}

#[test]
fn a_fit_on_a_part_is_the_fit_alone_for_every_machine_that_depends_on_the_order() {
    let splits: Vec<Split> = [0..8, 8..16, 30..40]
        .into_iter()
        .map(|test| Split {
            train: (0..N).filter(|i| !test.contains(i)).collect(),
            test: test.collect(),
            weights: None,
        })
        .collect();
    let mut ordered = Vec::new();
    for entry in machines::all().filter(|entry| predicts_target(entry)) {
        let machine = (entry.make)();
        if machine.traits().order == Order::Irrelevant {
            continue;
        }
        ordered.push(entry.name);
        let ties = entry.name != "perceptron";
        let data = data(entry.learns == Learns::Numbers, ties);
        // products of whole numbers are exact, whatever else is in a block
        let kernel: Formula = if ties { "linear" } else { "rbf(gamma=0.5)" }.parse().unwrap();
        let trials = Trials {
            machine: entry,
            kernel: &kernel,
            points: &[Vec::new()],
            splits: &splits,
            budget: Budget::default(),
            seed: Seed(0),
        };
        let found = trials.run(&data, &Silent).unwrap().remove(0);
        for (split, trial) in splits.iter().zip(found) {
            let alone = Job::new(machine.as_ref(), &kernel).run(&data.select(&split.train), &Silent).unwrap();
            let scores = alone.scores(&data.select(&split.test)).unwrap();
            for (a, b) in trial.scores.iter().zip(&scores) {
                assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()), "{}: {a} {b}", entry.name);
            }
        }
    }
    let declared = ["perceptron", "knn", "knn_regression", "rbf_network", "rbf_network_regression"];
    assert_eq!(ordered, declared, "those that declare it with the parameters they have of their own");
}

#[test]
fn leaving_one_out_is_as_many_fits_in_the_order_of_the_file() {
    for name in ["perceptron", "knn"] {
        let data = data(false, name == "knn");
        let entry = machines::find(name).unwrap();
        let (kernel, grid) = if name == "knn" { ("linear", "k=1|2|4") } else { ("rbf(gamma=0.5)", "gamma=0.1|0.5|2") };
        let (kernel, grid): (Formula, Grid) = (kernel.parse().unwrap(), grid.parse().unwrap());
        let search = Search {
            score: None,
            machine: entry,
            settings: &[],
            kernel: &kernel,
            grid: &grid,
            folds: 0,
            choose: Choose::Best,
            probabilities: None,
            calibration_folds: 5,
            budget: Budget::default(),
            seed: Seed(0),
        };
        let found = search.run(&data, &Silent).unwrap();
        for candidate in &found.candidates {
            let mut machine = (entry.make)();
            for (parameter, value) in candidate.point.iter().filter(|(parameter, _)| parameter == "k") {
                mercer::params::assign(name, machine.as_mut(), parameter, value).unwrap();
            }
            let kernel: Formula = candidate.kernel.parse().unwrap();
            let codes = data.target().unwrap().classes().unwrap();
            let wrong = |i: &usize| {
                let rest: Vec<usize> = (0..N).filter(|j| j != i).collect();
                let model = Job::new(machine.as_ref(), &kernel).run(&data.select(&rest), &Silent).unwrap();
                let told = model.predict(&data.select(&[*i])).unwrap();
                told.labels()[0] != codes.labels[codes.codes[*i] as usize].as_str()
            };
            let error = (0..N).filter(wrong).count() as f64 / N as f64;
            assert!(
                (candidate.score - error).abs() < 1e-12,
                "{name} {:?}: {} {error}",
                candidate.point,
                candidate.score
            );
        }
        // the largest size of a learning curve is the cross-validation
        let one: Grid = if name == "knn" { "k=5" } else { "gamma=0.5" }.parse().unwrap();
        let several = Search { folds: 5, grid: &one, ..search };
        let crossed = several.run(&data, &Silent).unwrap();
        let curve = LearningCurve {
            machine: entry,
            settings: &[],
            kernel: &kernel,
            sizes: &[],
            folds: 5,
            repeats: 1,
            score: None,
            budget: Budget::default(),
            seed: Seed(0),
        };
        let last = curve.run(&data, &Silent).unwrap().points.pop().unwrap();
        assert_eq!(last.test, crossed.candidates[0].folds, "{name}");
    }
}

/// Settings of a machine that differ from the defaults by one word each, and small numbers of points, centres and rounds.
fn settings(machine: &str) -> Vec<Vec<(String, Setting)>> {
    let entry = machines::find(machine).unwrap();
    let small = [("expansion", Setting::Word("8".to_owned())), ("points", Setting::Number(8.0))];
    let mut all = vec![Vec::new()];
    for described in describe((entry.make)().as_mut()) {
        let few = small.iter().filter(|(name, _)| *name == described.name).map(|(_, value)| value.clone());
        let words = described.words.iter().filter(|_| described.kind == "word");
        for value in few.chain(words.map(|word| Setting::Word((*word).to_owned()))) {
            let mut one = vec![(described.name.to_owned(), value)];
            // a choice of few points is one of some only
            if described.kind == "word" && all.iter().flatten().any(|(name, _)| name == "points") {
                one.push(("points".to_owned(), Setting::Number(8.0)));
            }
            all.push(one);
        }
    }
    all
}

#[test]
fn no_fit_depends_on_the_order_that_its_machine_declares_to_be_irrelevant() {
    let (mut tried, mut wrong) = (0, Vec::new());
    for entry in machines::all() {
        let data = data(entry.learns == Learns::Numbers, false);
        let orders: Vec<Dataset> = (0..2).map(|s| data.select(&Seed(s).stream("permuted").permutation(N))).collect();
        for settings in settings(entry.name) {
            let mut machine = (entry.make)();
            let set = |(name, value): &(String, Setting)| assign(entry.name, machine.as_mut(), name, value).is_ok();
            if !settings.iter().all(set) || machine.traits().order == Order::Matters {
                continue;
            }
            let fitted = |kernel: &str, data: &Dataset| {
                let kernel: Formula = kernel.parse().unwrap();
                let model = Job::new(machine.as_ref(), &kernel).run(data, &Silent).ok()?;
                let detects = matches!(model.fitted().readout, Readout::Novelty);
                // where the minimum is zero, many functions have it
                let trivial = model.fitted().report.objective.is_some_and(|value| value.abs() < 1e-2);
                ((predicts_target(entry) || detects) && !trivial).then_some(model)
            };
            for kernel in ["rbf(gamma=0.5)", "linear"] {
                let Some(plain) = fitted(kernel, &data).map(|model| model.scores(&data).unwrap()) else { continue };
                tried += 1;
                let largest = plain.iter().fold(1e-3_f64, |most, s| most.max(s.abs()));
                let moved = orders.iter().map(|permuted| {
                    let scores = fitted(kernel, permuted).map_or_else(Vec::new, |model| model.scores(&data).unwrap());
                    assert_eq!(scores.len(), plain.len(), "{}", entry.name);
                    scores.iter().zip(&plain).map(|(a, b)| (a - b).abs() / largest).fold(0.0, f64::max)
                });
                let moved = moved.fold(0.0, f64::max);
                if moved > 0.02 {
                    wrong.push(format!("{} {settings:?} {kernel}: {moved:.4}", entry.name));
                }
            }
        }
    }
    assert!(wrong.is_empty() && tried > 100, "{tried} fits; {wrong:#?}");
}
