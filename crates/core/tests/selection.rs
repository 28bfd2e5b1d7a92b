//! Model selection against a slow cross-validation that is written out here.
#![allow(clippy::unwrap_used, clippy::panic)]

use mercer::gram::Budget;
use mercer::machines::Learns;
use mercer::metrics::{Metrics, measure};
use mercer::params::{ParamError, Setting};
use mercer::prelude::*;
use mercer::select::{Choose, Grid, Search, Selection, folds};
use mercer::watch::{Monitor, Phase, Progress, Silent, Status, Stop};
use mercer::{Error, machines};
use std::ops::ControlFlow;

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
    let (budget, seed) = (Budget::default(), Seed(seed));
    Search {
        score: None,
        machine,
        settings: &settings,
        kernel,
        grid: &grid,
        folds: FOLDS,
        choose: Choose::Best,
        probabilities: None,
        calibration_folds: 5,
        budget,
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
        assert_eq!(found.model.candidates(), found.candidates.len());
        assert_eq!(found.model.trained_on(), data.len());
        assert_eq!(found.model.kernel().to_string(), chosen.kernel);
        let gamma = best[0].1;
        assert_eq!(*found.model.kernel(), rbf(gamma));
        assert!(found.model.settings().iter().any(|(n, v)| n == best[1].0 && *v == Setting::Number(best[1].1)));
        // what is returned is the best fitted on all examples
        let (mut plain, name) = ((machines::find(machine).unwrap().make)(), best[1].0);
        mercer::params::assign(machine, plain.as_mut(), name, &Setting::Number(best[1].1)).unwrap();
        let kernel = rbf(gamma);
        let again = Job { seed: Seed(5), ..Job::new(plain.as_ref(), &kernel) };
        let again = again.run(data, &Silent).unwrap();
        assert_eq!(again.scores(data).unwrap(), found.model.scores(data).unwrap());
        // and its file remembers how many were tried
        let read = Model::from_bytes(&found.model.to_bytes().unwrap(), "m").unwrap();
        assert_eq!(read.candidates(), found.candidates.len());
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
            score: None,
            machine,
            settings: &[],
            kernel: &kernel,
            grid: &grid,
            folds: FOLDS,
            choose: Choose::Best,
            probabilities: None,
            calibration_folds: 5,
            budget: Budget { memory },
            seed: Seed(0),
        };
        search.run(&data, &Silent).unwrap().candidates.into_iter().map(|c| c.folds).collect::<Vec<_>>()
    };
    assert_eq!(run(1 << 30), run(100));
}

/// Three classes in the plane that overlap a little.
fn clouds() -> Dataset {
    let mut random = Seed(8).stream("clouds");
    let points: Vec<[f64; 2]> = (0..90)
        .map(|i| {
            let angle = 2.1 * f64::from(i % 3);
            [2.0 * angle.cos() + random.normal(), 2.0 * angle.sin() + random.normal()]
        })
        .collect();
    let labels: Vec<&str> = (0..90).map(|i| ["a", "b", "c"][i % 3]).collect();
    Dataset::new(Rows::from_vectors(&points).unwrap()).with_target(Target::from_text("cloud", &labels)).unwrap()
}

#[test]
fn warm_starts_and_shared_matrices_give_the_scores_of_single_fits() {
    let data = clouds();
    // prices that fall in the grid rise in the search; the last ones bound nothing
    for (machine, grid, learns) in [
        ("svc", "c=1e6|1e5|100|1|0.1|0.01, gamma=0.1|1|20", Learns::Classes),
        // a small ν leaves hardly any margin, and only a sharp solution is the same in any order of the examples
        ("nu_svc", "nu=0.1|0.3, gamma=0.1|1, tolerance=1e-7", Learns::Classes),
    ] {
        let found = search(machine, &rbf(1.0), grid, &data, 2, &Silent).unwrap();
        let points = grid.parse::<Grid>().unwrap().kernel_first(&rbf(1.0)).points();
        assert!(found.candidates.iter().map(|c| &c.point).eq(&points), "candidates stand in the order of the grid");
        for candidate in &found.candidates {
            let (score, each) = slow(machine, &rbf(1.0), &candidate.point, &data, learns, 2);
            let near = |a: f64, b: f64, n: f64| (a - b).abs() <= 1.001 / n;
            // an example at the boundary may fall on either side of it
            assert!(near(candidate.score, score, 90.0), "{:?}: {} is not {score}", candidate.point, candidate.score);
            assert!(candidate.folds.iter().zip(&each).all(|(a, b)| near(*a, *b, 22.0)), "{:?}", candidate.point);
        }
    }
    let wave = wave();
    let found = search("svr", &rbf(1.0), "c=10|1|0.1, epsilon=0.01|0.1", &wave, 2, &Silent).unwrap();
    for candidate in &found.candidates {
        let (score, _) = slow("svr", &rbf(1.0), &candidate.point, &wave, Learns::Numbers, 2);
        assert!((candidate.score - score).abs() < 2e-3, "{:?}: {} is not {score}", candidate.point, candidate.score);
    }
}

#[test]
fn threads_change_no_bit() {
    let (clouds, wave) = (clouds(), wave());
    for (machine, grid, data) in
        [("svc", "c=0.1|1|10, gamma=0.1|1", &clouds), ("svr", "c=0.1|1|10, epsilon=0.01|0.1", &wave)]
    {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let found = pool.install(|| search(machine, &rbf(1.0), grid, data, 1, &Silent)).unwrap();
            found.candidates.into_iter().map(|c| (c.point, c.folds)).collect::<Vec<_>>()
        };
        let one = run(1);
        // more threads than folds and chains: the rest help inside the fits
        assert!(one == run(2) && one == run(3) && one == run(30), "{machine}");
    }
}

#[test]
fn a_simpler_candidate_within_one_standard_error_is_chosen_and_fitted() {
    let (data, kernel) = (clouds(), rbf(0.3));
    let grid: Grid = "c=0.001|0.1|1|10|100".parse().unwrap();
    let search = |choose: Choose| Search {
        score: None,
        machine: machines::find("svc").unwrap(),
        settings: &[],
        kernel: &kernel,
        grid: &grid,
        folds: FOLDS,
        choose,
        probabilities: None,
        calibration_folds: 5,
        budget: Budget::default(),
        seed: Seed(0),
    };
    let best = search(Choose::Best).run(&data, &Silent).unwrap();
    let found = search(Choose::OneStandardError).run(&data, &Silent).unwrap();
    assert_eq!((best.best, best.chosen, found.best), (best.best, best.best, best.best));
    let limit = found.candidates[found.best].score + found.candidates[found.best].spread;
    let first = found.candidates.iter().position(|c| c.score <= limit).unwrap();
    assert_eq!(found.chosen, first, "the smallest c within the limit");
    let c = found.candidates[first].point[0].clone();
    assert!(found.model.settings().contains(&c), "{c:?}");
    let svg = found.figure("cv error", mercer::plot::Theme::Light);
    for label in ["0.001", "100", "cv error", "± 1 s.e.", "best"] {
        assert!(svg.contains(&format!(">{label}<")), "{label}: {svg}");
    }
    assert_eq!(svg.contains("chosen"), found.chosen != found.best);
}

#[test]
fn a_picture_has_the_values_of_two_axes_and_marks_the_best() {
    let data = clouds();
    let found =
        search("svc", &rbf(1.0), "c=0.5|32, tolerance=0.001|0.01, gamma=0.0625|0.25|7", &data, 1, &Silent).unwrap();
    let svg = found.figure("cv error", mercer::plot::Theme::Light);
    let least = found.candidates.iter().map(|c| c.score).fold(1.0, f64::min);
    for label in ["gamma", "c", "0.0625", "0.25", "7", "0.5", "32", &format!("{least:.4}")] {
        assert!(svg.contains(&format!(">{label}<")), "{label}");
    }
    assert!(svg.contains("the best over the rest") && svg.contains("framed: best, gamma = "));
    assert_eq!(svg.matches("stroke-width=\"3\"").count(), 1);
}

#[test]
fn weights_reach_every_fold_and_are_refused_where_they_do_not_count() {
    let data = clouds();
    // examples that count for nothing might as well be of any class
    let target = data.target().unwrap().classes().unwrap();
    let mixed: Vec<&str> = (0..90)
        .map(|i| if i < 30 { ["b", "c", "a"][i % 3] } else { ["a", "b", "c"][target.codes[i] as usize] })
        .collect();
    let weights: Vec<f64> = (0..90).map(|i| if i < 30 { 0.0 } else { 1.0 }).collect();
    let weighted = data.clone().without_target().with_target(Target::from_text("cloud", &mixed)).unwrap();
    let plain = search("svc", &rbf(0.3), "c=1|10", &weighted, 1, &Silent).unwrap();
    let weighted = weighted.with_weights(weights).unwrap();
    let found = search("svc", &rbf(0.3), "c=1|10", &weighted, 1, &Silent).unwrap();
    assert_ne!(found.candidates[0].folds, plain.candidates[0].folds);
    let rest: Vec<usize> = (30..90).collect();
    let c = if found.chosen == 0 { 1.0 } else { 10.0 };
    let alone = Svc { c, ..Svc::default() }.fit(&rbf(0.3), &weighted.select(&rest)).unwrap();
    assert_eq!(found.model.predict(&data).unwrap().labels(), alone.predict(&data).unwrap().labels());
    let error = search("ridge", &rbf(1.0), "lambda=1", &wave().with_weights(vec![1.0; 60]).unwrap(), 1, &Silent);
    assert!(error.err().unwrap().to_string().contains("does not weigh examples"));
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

/// Ends the work once so many candidates are judged.
struct After(usize);

impl Monitor for After {
    fn step(&self, progress: &Progress) -> ControlFlow<Stop> {
        if progress.phase == Phase::CROSS_VALIDATION && progress.done >= self.0 {
            ControlFlow::Break(Stop::Interrupted)
        } else {
            ControlFlow::Continue(())
        }
    }
}

#[test]
fn an_interrupted_search_chooses_among_those_it_has_judged() {
    let data = rings(6);
    let grid = "gamma=1e-4|0.01|2, c=1";
    let whole = search("svc", &rbf(1.0), grid, &data, 0, &Silent).unwrap();
    assert_eq!(whole.best, 2);
    let cut = search("svc", &rbf(1.0), grid, &data, 0, &After(2)).unwrap();
    assert_eq!((cut.status, cut.candidates.len(), cut.model.candidates()), (Status::Interrupted, 2, 2));
    assert_eq!(cut.model.fitted().report.status, Status::Interrupted);
    for (a, b) in cut.candidates.iter().zip(&whole.candidates) {
        assert_eq!((&a.point, &a.folds), (&b.point, &b.folds));
    }
    assert!(cut.candidates.iter().all(|c| c.score >= cut.candidates[cut.best].score));
    assert_eq!(cut.model.predict(&data).unwrap().len(), 80);
    assert!(cut.model.fitted().report.violation.unwrap() < 1e-3, "the model of the best is whole");
    let error = search("svc", &rbf(1.0), grid, &data, 0, &After(0)).err().unwrap();
    assert!(error.to_string().contains("before there was a result"), "{error}");
}

/// Error (classes) or root mean squared error of fits that have not seen the example they are asked about, one by one.
fn left_out_one_by_one(machine: &dyn machines::Machine, kernel: &Formula, data: &Dataset) -> f64 {
    let n = data.len();
    let score = |i: usize| {
        let rest: Vec<usize> = (0..n).filter(|&j| j != i).collect();
        let model = Job::new(machine, kernel).run(&data.select(&rest), &Silent).unwrap();
        let only = data.select(&[i]);
        match measure(&model.predict(&only).unwrap(), only.target().unwrap()).unwrap() {
            Metrics::Classes(m) => m.error,
            Metrics::Numbers(m) => m.rmse * m.rmse,
        }
    };
    let mean = (0..n).map(score).sum::<f64>() / n as f64;
    if data.target().unwrap().numbers().is_ok() { mean.sqrt() } else { mean }
}

#[test]
fn leaving_out_one_in_closed_form_is_learning_again_without_it() {
    let leave_one_out = |machine: &str, settings: &[(String, Setting)], data: &Dataset, grid: &str| {
        let grid: Grid = grid.parse().unwrap();
        Search {
            score: None,
            machine: machines::find(machine).unwrap(),
            settings,
            kernel: &rbf(0.7),
            grid: &grid,
            folds: 0,
            choose: Choose::Best,
            probabilities: None,
            calibration_folds: 0,
            budget: Budget::default(),
            seed: Seed(0),
        }
        .run(data, &Silent)
        .unwrap()
    };
    let found = leave_one_out("ridge", &[], &wave(), "lambda=0.01|1");
    for (candidate, lambda) in found.candidates.iter().zip([0.01, 1.0]) {
        let slow = left_out_one_by_one(&Ridge { lambda: lambda.into(), ..Ridge::default() }, &rbf(0.7), &wave());
        assert!((candidate.score - slow).abs() < 1e-8, "{lambda}: {} {slow}", candidate.score);
        assert_eq!(candidate.folds.len(), 60);
    }
    let data = rings(4);
    for penalty in [Penalty::Norm, Penalty::Coefficients] {
        let word = if penalty == Penalty::Norm { "norm" } else { "coefficients" };
        let settings: Vec<(String, Setting)> = [("penalty", word), ("threshold", "programme")]
            .map(|(name, word)| (name.to_owned(), Setting::Word(word.to_owned())))
            .to_vec();
        let found = leave_one_out("kfd", &settings, &data, "lambda=0.001|10|1000");
        let mut seen = Vec::new();
        for (candidate, lambda) in found.candidates.iter().zip([0.001, 10.0, 1000.0]) {
            let threshold = machines::Threshold::Programme;
            let machine = Kfd { lambda: lambda.into(), penalty, threshold, ..Kfd::default() };
            let slow = left_out_one_by_one(&machine, &rbf(0.7), &data);
            assert!((candidate.score - slow).abs() < 1e-12, "{word} {lambda}: {} {slow}", candidate.score);
            seen.push(slow);
        }
        assert!(seen.iter().any(|&s| s != seen[0]), "a grid whose errors differ: {seen:?}");
    }
    // a machine that must learn again does so
    let slow = leave_one_out("nearest_mean", &[], &data, "gamma=0.7");
    assert_eq!(slow.candidates[0].score, left_out_one_by_one(&NearestMean::default(), &rbf(0.7), &data));
}
