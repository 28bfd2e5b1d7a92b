//! Model selection against a slow cross-validation that is written out here.
#![allow(clippy::unwrap_used, clippy::panic)]

use mercer::gram::Plan;
use mercer::machines::Learns;
use mercer::metrics::{Metrics, measure};
use mercer::params::{ParamError, Setting};
use mercer::prelude::*;
use mercer::select::{Grid, Search, Selection, folds};
use mercer::solvers::{Monitor, Progress, Silent, Status, Stop};
use mercer::{Error, machines};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

const FOLDS: usize = 4;

/// Two rings: a narrow Gaussian tells them apart, a wide one and a tiny price do not.
fn rings(seed: u64) -> Dataset {
    let mut random = Seed(seed).stream("rings");
    let points: Vec<[f64; 2]> = (0..80)
        .map(|i| {
            let (angle, radius) = (6.3 * random.uniform(), if i % 3 == 0 { 1.0 } else { 2.0 } + 0.1 * random.normal());
            [radius * f64::cos(angle), radius * f64::sin(angle)]
        })
        .collect();
    let labels: Vec<&str> = (0..80).map(|i| if i % 3 == 0 { "inner" } else { "outer" }).collect();
    Dataset::new(Rows::from_vectors(&points).unwrap()).with_target(Target::from_text("ring", &labels)).unwrap()
}

fn wave() -> Dataset {
    let mut random = Seed(3).stream("wave");
    let x: Vec<f64> = (0..60).map(|_| 6.0 * random.uniform()).collect();
    let y = x.iter().map(|x| (2.0 * x).sin() + 0.05 * random.normal()).collect::<Vec<_>>();
    Dataset::new(Rows::new(x, 60, 1).unwrap()).with_target(Target::from(y)).unwrap()
}

fn search(
    machine: &str,
    kernel: &Formula,
    grid: &str,
    data: &Dataset,
    seed: u64,
    watch: &dyn Monitor,
) -> Result<Selection, Error> {
    let grid: Grid = grid.parse().unwrap();
    let machine = machines::find(machine).unwrap();
    let settings = [];
    let (plan, seed) = (Plan::default(), Seed(seed));
    Search {
        machine,
        settings: &settings,
        kernel,
        grid: &grid,
        folds: FOLDS,
        probabilities: None,
        calibration_folds: 5,
        plan,
        seed,
    }
    .run(data, watch)
}

/// Trains and tests on every fold, from the data, with a fresh model each time.
fn slow(
    machine: &str,
    kernel: &Formula,
    point: &[(String, Setting)],
    data: &Dataset,
    learns: Learns,
    seed: u64,
) -> (f64, Vec<f64>) {
    // words are resolved on all examples, as the search promises
    let mut kernel = kernel.clone();
    let mut learner = (machines::find(machine).unwrap().make)();
    for (name, value) in point {
        if !kernel.assign(name, value).unwrap() {
            mercer::params::assign(machine, learner.as_mut(), name, value).unwrap();
        }
    }
    let kernel = kernel.resolve(data, Seed(seed)).unwrap();
    let (mut scores, mut squares, mut count) = (Vec::new(), 0.0, 0.0);
    for held_out in folds(data.target().unwrap(), learns, FOLDS, Seed(seed)).unwrap() {
        let rest: Vec<usize> = (0..data.len()).filter(|i| !held_out.contains(i)).collect();
        let model = Job::new(learner.as_ref(), &kernel).run(&data.select(&rest), &Silent).unwrap();
        let test = data.select(&held_out);
        let output = model.predict(&test).unwrap();
        let size = held_out.len() as f64;
        let score = match measure(&output, test.target().unwrap()).unwrap() {
            Metrics::Classes(m) => m.error,
            Metrics::Numbers(m) => m.rmse,
        };
        squares += size * if learns == Learns::Numbers { score * score } else { score };
        count += size;
        scores.push(score);
    }
    let mean = squares / count;
    (if learns == Learns::Numbers { mean.sqrt() } else { mean }, scores)
}

#[test]
fn the_planted_best_is_found_with_the_scores_of_a_slow_cross_validation() {
    let (rings, wave) = (rings(1), wave());
    for (machine, kernel, grid, data, learns, best) in [
        ("svc", rbf(1.0), "c=0.001|10, gamma=1e-4|2", &rings, Learns::Classes, [("gamma", 2.0), ("c", 10.0)]),
        (
            "ridge",
            rbf(1.0),
            "gamma=1e-3|1|1e4, lambda=1e-3|1e3",
            &wave,
            Learns::Numbers,
            [("gamma", 1.0), ("lambda", 1e-3)],
        ),
    ] {
        let found = search(machine, &kernel, grid, data, 5, &Silent).unwrap();
        assert_eq!(
            (found.status, found.candidates.len()),
            (Status::Converged, grid.parse::<Grid>().unwrap().points().len())
        );
        for candidate in &found.candidates {
            let (score, each) = slow(machine, &kernel, &candidate.point, data, learns, 5);
            assert!(
                (candidate.score - score).abs() < 1e-9,
                "{machine} {:?}: {} is not {score}",
                candidate.point,
                candidate.score
            );
            assert!(
                candidate.folds.iter().zip(&each).all(|(a, b)| (a - b).abs() < 1e-9) && candidate.folds.len() == FOLDS
            );
            let mean = each.iter().sum::<f64>() / 4.0;
            let spread = (each.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / 12.0).sqrt();
            assert!((candidate.spread - spread).abs() < 1e-9);
        }
        let chosen = &found.candidates[found.best];
        let wanted: Vec<(String, Setting)> = best.iter().map(|(n, v)| ((*n).to_owned(), Setting::Number(*v))).collect();
        assert_eq!(chosen.point, wanted, "kernel parameters come first");
        assert!(found.candidates.iter().all(|c| c.score >= chosen.score));
        assert_eq!(found.model.candidates, found.candidates.len());
        assert_eq!(found.model.trained_on, data.len());
        assert_eq!(found.model.kernel.to_string(), chosen.kernel);
        let gamma = best[0].1;
        assert_eq!(found.model.kernel, rbf(gamma));
        assert!(found.model.settings.iter().any(|(n, v)| n == best[1].0 && *v == Setting::Number(best[1].1)));
        // what is returned is the best fitted on all examples
        let (mut plain, name) = ((machines::find(machine).unwrap().make)(), best[1].0);
        mercer::params::assign(machine, plain.as_mut(), name, &Setting::Number(best[1].1)).unwrap();
        let kernel = rbf(gamma);
        let again = Job { seed: Seed(5), ..Job::new(plain.as_ref(), &kernel) };
        let again = again.run(data, &Silent).unwrap();
        assert_eq!(again.scores(data).unwrap(), found.model.scores(data).unwrap());
        // and its file remembers how many were tried
        let read = Model::from_bytes(&found.model.to_bytes().unwrap(), "m").unwrap();
        assert_eq!(read.candidates, found.candidates.len());
    }
}

#[test]
fn words_and_other_machines_are_searched_alike() {
    let data = rings(2);
    let found = search("nearest_mean", &rbf(1.0), "gamma=scale|median|0.01", &data, 1, &Silent).unwrap();
    for candidate in &found.candidates {
        let (score, _) = slow("nearest_mean", &rbf(1.0), &candidate.point, &data, Learns::Classes, 1);
        assert!((candidate.score - score).abs() < 1e-12, "{:?}", candidate.point);
        assert!(!candidate.kernel.contains("scale") && !candidate.kernel.contains("median"), "{}", candidate.kernel);
    }
}

#[test]
fn a_seed_fixes_the_folds_and_another_changes_them() {
    let data = wave();
    let scores = |seed: u64| -> Vec<Vec<f64>> {
        let found = search("ridge", &rbf(1.0), "lambda=0.1|1, gamma=0.1|1", &data, seed, &Silent).unwrap();
        found.candidates.into_iter().map(|c| c.folds).collect()
    };
    assert_eq!(scores(1), scores(1));
    assert_ne!(scores(1), scores(2));
    let parts = |seed: u64| folds(data.target().unwrap(), Learns::Numbers, FOLDS, Seed(seed)).unwrap();
    assert_eq!(parts(1), parts(1));
    assert_ne!(parts(1), parts(2));
}

#[test]
fn a_small_memory_streams_the_same_scores() {
    let data = rings(4);
    let grid: Grid = "c=1|10, gamma=0.1|1".parse().unwrap();
    let run = |memory: usize| {
        let (machine, kernel) = (machines::find("svc").unwrap(), rbf(1.0));
        let search = Search {
            machine,
            settings: &[],
            kernel: &kernel,
            grid: &grid,
            folds: FOLDS,
            probabilities: None,
            calibration_folds: 5,
            plan: Plan { memory },
            seed: Seed(0),
        };
        search.run(&data, &Silent).unwrap().candidates.into_iter().map(|c| c.folds).collect::<Vec<_>>()
    };
    assert_eq!(run(1 << 30), run(100));
}

#[test]
fn impossible_searches_are_refused() {
    let data = rings(5);
    let error =
        |machine: &str, grid: &str, data: &Dataset| search(machine, &rbf(1.0), grid, data, 0, &Silent).err().unwrap();
    match error("svc", "c=1|2, degree=2|3", &data) {
        Error::Param(ParamError::NoSuch { name, .. }) => assert_eq!(name, "degree"),
        other => panic!("{other}"),
    }
    let found = error("kernel_pca", "components=1|2", &data).to_string();
    assert!(found.contains("no target to be judged by"), "{found}");
    assert!(matches!(error("svc", "c=1|-2", &data), Error::Param(ParamError::Range { .. })));
    assert!(matches!(
        error("svc", "c=1", &data.clone().without_target()),
        Error::Data(mercer::data::DataError::NoTarget)
    ));
    let few = data.select(&[0, 1, 2]);
    assert!(error("svc", "c=1", &few).to_string().contains("4 folds of 3 examples"));
    let lonely = data.select(&[0, 3, 6, 9, 1]);
    assert!(error("svc", "c=1", &lonely).to_string().contains("\"outer\" has a single example"));
}

/// Ends the work at the k-th look of the cross-validation.
struct After(usize, AtomicUsize);

impl Monitor for After {
    fn step(&self, progress: &Progress) -> ControlFlow<Stop> {
        let looks = progress.phase == "cross-validation" && self.1.fetch_add(1, Ordering::Relaxed) + 1 >= self.0;
        if looks { ControlFlow::Break(Stop::Interrupted) } else { ControlFlow::Continue(()) }
    }
}

#[test]
fn an_interrupted_search_chooses_among_those_it_has_judged() {
    let data = rings(6);
    let grid = "gamma=1e-4|0.01|2, c=1";
    let whole = search("svc", &rbf(1.0), grid, &data, 0, &Silent).unwrap();
    assert_eq!(whole.best, 2);
    // one look before each candidate: the third is not judged any more
    let cut = search("svc", &rbf(1.0), grid, &data, 0, &After(3, AtomicUsize::new(0))).unwrap();
    assert_eq!((cut.status, cut.candidates.len(), cut.model.candidates), (Status::Interrupted, 2, 2));
    assert_eq!(cut.model.fitted.proof.status, Status::Interrupted);
    for (a, b) in cut.candidates.iter().zip(&whole.candidates) {
        assert_eq!((&a.point, &a.folds), (&b.point, &b.folds));
    }
    assert!(cut.candidates.iter().all(|c| c.score >= cut.candidates[cut.best].score));
    assert_eq!(cut.model.predict(&data).unwrap().len(), 80);
    assert!(cut.model.fitted.proof.violation.unwrap() < 1e-3, "the model of the best is whole");
    let error = search("svc", &rbf(1.0), grid, &data, 0, &After(1, AtomicUsize::new(0))).err().unwrap();
    assert!(error.to_string().contains("before there was a result"), "{error}");
}
