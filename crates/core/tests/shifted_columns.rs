//! Columns far from the origin: with a free offset a linear kernel does not see where the origin is, whatever f32 can tell apart.

use mercer::machines::{self, Coefficients};
use mercer::metrics::{Metrics, measure};
use mercer::params::Setting;
use mercer::prelude::*;
use mercer::select::{Choose, Grid, Search};
use mercer::watch::{Silent, Status};

const N: usize = 80;
const TOLERANCE: f64 = 1e-3;

/// Two overlapping clouds around (shift, shift), with the class or a plane of the columns as target.
fn clouds(shift: f64, numbers: bool) -> Dataset {
    let mut random = Seed(5).stream("clouds");
    let mut points = Vec::new();
    let (mut classes, mut values) = (Vec::new(), Vec::new());
    for i in 0..N {
        let side = if i % 2 == 0 { 1.0 } else { -1.0 };
        let x = [0.8 * side + random.normal(), 0.4 * side + random.normal()];
        values.push(0.7 * x[0] - 1.1 * x[1] + 0.3 * random.normal());
        classes.push(if side > 0.0 { "up" } else { "down" });
        points.push(x.map(|x| x + shift));
    }
    let target = if numbers { Target::from(values) } else { Target::from_text("side", &classes) };
    Dataset::new(Rows::from_vectors(&points).unwrap()).with_target(target).unwrap()
}

fn fit(machine: &str, settings: &[(&str, Setting)], kernel: &str, data: &Dataset) -> Model {
    let entry = machines::find(machine).unwrap();
    let mut made = (entry.make)();
    for (name, value) in settings {
        mercer::params::assign(entry.name, made.as_mut(), name, value).unwrap();
    }
    Job::new(made.as_ref(), &kernel.parse().unwrap()).run(data, &Silent).unwrap()
}

/// The largest κ(x, x) and Σ|α| of a model, the sizes of what is rounded.
fn sizes(model: &Model, shift: f64) -> (f64, f64) {
    let sum = match &model.fitted().expansion.coefficients {
        Coefficients::Dual { alpha, .. } | Coefficients::Pairwise { alpha, .. } | Coefficients::Ball { alpha, .. } => {
            alpha.iter().map(|a| a.abs()).sum()
        }
        _ => f64::NAN,
    };
    (2.0 * (shift.abs() + 4.0).powi(2), sum)
}

#[test]
fn objective_gap_and_predictions_do_not_depend_on_the_place_of_the_columns() {
    for machine in ["svc", "svr", "nu_svc", "nu_svr", "quantile", "svdd", "robust_regression"] {
        let numbers = !["svc", "nu_svc", "svdd"].contains(&machine);
        let near = fit(machine, &[], "linear", &clouds(0.0, numbers));
        let told = near.fitted().report.clone();
        let (objective, gap) = (told.objective.unwrap(), told.duality_gap.unwrap());
        let scores = near.scores(&clouds(0.0, numbers)).unwrap();
        for shift in [1e2, 1e3, 1e4, 1e5] {
            let data = clouds(shift, numbers);
            let model = fit(machine, &[], "linear", &data);
            let report = &model.fitted().report;
            let what = format!("{machine} at {shift:e}");
            assert_eq!(report.status, Status::Converged, "{what}: {:?}", report.advice);
            // f64 leaves ε κ Σ|α| in a score, and that times Σ|α| in an objective; f32 may leave a tenth of the tolerance
            let (size, sum) = sizes(&model, shift);
            let rounding = 8.0 * f64::EPSILON * size * sum.max(1.0);
            let (there, gap_there) = (report.objective.unwrap(), report.duality_gap.unwrap());
            // both objectives are above the optimum by at most their gaps
            let between = gap.abs() + gap_there.abs() + (rounding + 0.1 * TOLERANCE) * sum.max(1.0);
            assert!((there - objective).abs() <= between, "{what}: {there} {objective}, apart by at most {between:e}");
            // a region has room for the rounding of any later prediction, which is in the gap of a ball so far away
            let sharp = machine == "svdd" || between < 0.05 * objective.abs().max(1.0);
            assert!(sharp, "{what}: the law says something: {between:e}");
            assert!(
                (there - objective).abs() <= 1e-3 * objective.abs().max(1.0) || machine == "nu_svr",
                "{what}: {there} {objective}"
            );
            assert!(gap_there >= -(rounding + 0.1 * TOLERANCE) * sum.max(1.0), "{what}: {gap_there}");
            // ½‖w − w*‖² ≤ gap, and the offset is fixed to the tolerance
            let moved = model.scores(&data).unwrap();
            let scale = if machine == "nu_svc" { scores.iter().fold(0.0, |m: f64, s| m.max(s.abs())) } else { 1.0 };
            let allowed =
                scale * (5.0 * (2.0 * (gap.abs() + gap_there.abs())).sqrt() + 2.0 * TOLERANCE) + 4.0 * rounding;
            for (a, b) in scores.iter().zip(&moved) {
                assert!((a - b).abs() <= allowed, "{what}: {a} {b}, apart by at most {allowed:e}");
            }
        }
    }
}

#[test]
fn what_has_not_converged_in_f64_is_not_called_so() {
    for (machine, kernel, bias) in [
        ("svc", "linear", false),
        ("svc", "polynomial(degree=3, gamma=1)", true),
        ("svc", "polynomial(degree=3, gamma=1)", false),
    ] {
        for shift in [0.0, 1e2, 1e4, 1e6] {
            let data = clouds(shift, false);
            let limit = ("max_iterations", Setting::Number(20_000.0));
            let model = fit(machine, &[("bias", Setting::Switch(bias)), limit], kernel, &data);
            let report = &model.fitted().report;
            let scores = model.scores(&data).unwrap();
            let what = format!("{kernel}, bias = {bias}, at {shift:e}: {}, {:?}", report.status, report.advice);
            let (size, sum) = sizes(&model, shift);
            let size = size.powi(if kernel == "linear" { 1 } else { 3 });
            let rounding = 8.0 * f64::EPSILON * size * sum;
            if report.status == Status::Converged {
                // the primal value of the scores that predictions have: the first of two classes is "down"
                let hinge: f64 =
                    scores.iter().enumerate().map(|(i, f)| (1.0 - if i % 2 == 0 { -f } else { *f }).max(0.0)).sum();
                let primal = report.notes.iter().find(|(name, _)| name == "primal_objective").unwrap().1;
                let norm = report.notes.iter().find(|(name, _)| name == "squared_norm").unwrap().1;
                let wanted = 0.5 * norm + hinge;
                assert!(
                    (primal - wanted).abs() <= 1e-3 * wanted.abs() + rounding * N as f64,
                    "{what}: primal {primal}, by its predictions {wanted}"
                );
            } else {
                assert!(report.advice.iter().any(|a| a.contains("scale")), "{what}");
            }
        }
    }
}

#[test]
fn nu_is_not_blamed_for_the_place_of_the_columns() {
    for shift in [1e3, 1e5, 1e7] {
        let model = fit("nu_svc", &[("max_iterations", Setting::Number(20_000.0))], "linear", &clouds(shift, false));
        let report = &model.fitted().report;
        assert!(!report.advice.iter().any(|a| a.contains("larger nu")), "{shift:e}: {:?}", report.advice);
        if report.status != Status::Converged {
            assert!(report.advice.iter().any(|a| a.contains("centre(")), "{shift:e}: {:?}", report.advice);
        }
    }
}

#[test]
fn a_search_on_columns_far_away_finds_what_it_finds_near_the_origin() {
    let found = |shift: f64| {
        let data = clouds(shift, false);
        let grid: Grid = "c=0.01|0.1|1".parse().unwrap();
        let search = Search {
            score: None,
            machine: machines::find("svc").unwrap(),
            settings: &[],
            kernel: &"linear".parse().unwrap(),
            grid: &grid,
            folds: 4,
            choose: Choose::Best,
            probabilities: None,
            calibration_folds: 5,
            budget: mercer::gram::Budget::default(),
            seed: Seed(1),
        };
        let found = search.run(&data, &Silent).unwrap();
        let Metrics::Classes(m) = measure(&found.model.predict(&data).unwrap(), data.target().unwrap()).unwrap() else {
            panic!()
        };
        (found.candidates.iter().map(|c| c.score).collect::<Vec<f64>>(), m.error)
    };
    let near = found(0.0);
    assert!(near.0.iter().all(|e| *e < 0.4), "{near:?}");
    for shift in [1e4, 1e5] {
        let far = found(shift);
        // a label on the border may be either
        assert!(near.0.iter().zip(&far.0).all(|(a, b)| (a - b).abs() < 0.026), "{shift:e}: {near:?} {far:?}");
    }
}
