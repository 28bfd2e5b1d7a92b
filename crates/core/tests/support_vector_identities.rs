//! Identities that tie support vector machines to each other: equalities that hold whatever the data are.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::support::expected::expected;
use crate::support::tools::{TIGHT, beta, objective, probes, same, total, trial};
use crate::support::trials::{Kernel, Trial, fit, note};
use crate::support::verdict::{chosen, parts, times};
use mercer::seed::Seed;

#[test]
fn a_nu_classifier_is_a_classifier_with_the_price_one_over_rho() {
    if !expected(&["nu_svc"]) {
        return;
    }
    for seed in 0..8 {
        let data = trial(30, 2, seed);
        for nu in [0.2, 0.4, 0.6] {
            let by_nu = data.fit("nu_svc", &format!("nu={nu}; {TIGHT}"));
            // LIBSVM's variables: Σα = ν m before the division, so ρ = ν m / Σ|β| after it, and α ≤ 1 became α ≤ 1/ρ
            let rho = nu * data.len() as f64 / total(&beta(&by_nu, &data));
            if let Some(told) = note(&by_nu, "rho") {
                same(&[told], &[rho], 1e-6, "ρ");
            }
            let by_c = data.fit("svc", &format!("c={}; {TIGHT}", 1.0 / rho));
            let what = format!("seed {seed}, ν = {nu}");
            same(&data.scores(&by_nu, &probes()), &data.scores(&by_c, &probes()), 1e-5, &what);
            // and back: the price tells ν
            let c = 1.0 / rho;
            same(&[total(&beta(&by_c, &data)) / (c * data.len() as f64)], &[nu], 1e-5, &what);
        }
    }
}

#[test]
fn nu_is_between_the_share_of_errors_and_the_share_of_support_vectors() {
    for seed in 0..10 {
        let data = trial(40, 2, 100 + seed);
        let m = data.len() as f64;
        for nu in [0.15, 0.3, 0.55] {
            for machine in ["nu_svc", "nu_svr", "one_class"] {
                if !expected(&[machine]) {
                    continue;
                }
                let price = if machine == "nu_svr" { "; c=3" } else { "" };
                let fitted = data.fit(machine, &format!("nu={nu}; {TIGHT}{price}"));
                let epsilon = note(&fitted, "epsilon").unwrap_or(0.0);
                let scores = data.scores(&fitted, &data.x);
                // scores were divided by ρ, and so was what is left of their violation
                let sharp = 1e-6 / note(&fitted, "rho").unwrap_or(1.0).min(1.0);
                let outside = |i: usize| match machine {
                    "nu_svc" => scores[i] * if data.codes[i] == 0 { 1.0 } else { -1.0 } < 1.0 - sharp,
                    "nu_svr" => (data.t[i] - scores[i]).abs() > epsilon + 1e-6,
                    _ => scores[i] < -1e-6,
                };
                let errors = (0..data.len()).filter(|&i| outside(i)).count() as f64 / m;
                let support = fitted.expansion.points().len() as f64 / m;
                assert!(errors <= nu + 1e-9, "{machine}, seed {seed}: {errors} errors at ν = {nu}");
                assert!(
                    support >= nu - 1e-9 || (machine == "nu_svr" && epsilon < 1e-6),
                    "{machine}, seed {seed}: {support} at ν = {nu}"
                );
            }
        }
    }
}

#[test]
fn a_nu_regression_is_a_regression_with_the_tube_it_found() {
    if !expected(&["nu_svr", "svr"]) {
        return;
    }
    for seed in 0..8 {
        let data = trial(30, 2, 200 + seed);
        for (c, nu) in [(0.5, 0.3), (4.0, 0.6)] {
            let by_nu = data.fit("nu_svr", &format!("c={c}; nu={nu}; {TIGHT}"));
            let epsilon = note(&by_nu, "epsilon").unwrap();
            let by_tube = data.fit("svr", &format!("c={c}; epsilon={}; {TIGHT}", epsilon.max(0.0)));
            let what = format!("seed {seed}, C = {c}, ν = {nu}, ε = {epsilon}");
            assert!(epsilon > 1e-3, "{what}: a tube that says something");
            same(&data.scores(&by_nu, &probes()), &data.scores(&by_tube, &probes()), 1e-5, &what);
            // the tube costs ε Σ|β| in one problem and is bounded in the other
            let moved = objective(&by_tube) - epsilon * total(&beta(&by_nu, &data));
            same(&[objective(&by_nu)], &[moved], 1e-6, &what);
        }
    }
}

#[test]
fn a_sphere_and_a_plane_find_the_same_novelties_where_all_lengths_are_one() {
    if !expected(&["one_class", "svdd"]) {
        return;
    }
    for seed in 0..8 {
        let data = trial(30, 2, 300 + seed);
        for nu in [0.1, 0.35, 0.7] {
            let plane = data.scores(&data.fit("one_class", &format!("nu={nu}; {TIGHT}")), &probes());
            let sphere = data.scores(&data.fit("svdd", &format!("nu={nu}; {TIGHT}")), &probes());
            // α of the plane is ν m times that of the sphere, whose scores hold 2 Σ ακ
            let scale = 2.0 / (nu * data.len() as f64);
            let scaled: Vec<f64> = plane.iter().map(|f| f * scale).collect();
            same(&sphere, &scaled, 1e-5, &format!("seed {seed}, ν = {nu}"));
        }
    }
}

#[test]
fn the_squared_distance_to_the_sphere_is_what_a_novelty_scores() {
    if !expected(&["svdd"]) {
        return;
    }
    let data = trial(25, 2, 7);
    let fitted = data.fit("svdd", &format!("nu=0.3; {TIGHT}"));
    let alpha: Vec<f64> = beta(&fitted, &data).iter().map(|b| 0.5 * b).collect();
    same(&[alpha.iter().sum()], &[1.0], 1e-9, "Σα");
    let inside: f64 = alpha.iter().zip(times(&data.k, &alpha)).map(|(a, v)| a * v).sum();
    let apart: Vec<f64> = times(&data.k, &alpha).iter().map(|v| data.k[0] - 2.0 * v + inside).collect();
    let edge: Vec<f64> =
        (0..25).filter(|&i| alpha[i] > 1e-6 && alpha[i] < 1.0 / 7.5 - 1e-6).map(|i| apart[i]).collect();
    let scores = data.scores(&fitted, &data.x);
    same(&scores, &apart.iter().map(|d| edge[0] - d).collect::<Vec<_>>(), 1e-6, "R² − ‖φ(x) − a‖²");
    if let Some(radius) = note(&fitted, "radius") {
        assert!((radius - edge[0].sqrt()).abs() < 1e-6 || (radius - edge[0]).abs() < 1e-6, "{radius}, not {}", edge[0]);
    }
}

#[test]
fn a_squared_loss_is_a_hard_margin_with_a_ridge() {
    if !expected(&["svc.loss", "svc.infinite"]) {
        return;
    }
    for (seed, c) in [(0, 0.5), (1, 2.0), (2, 8.0), (3, 64.0)] {
        let data = trial(25, 2, 400 + seed);
        for bias in [true, false] {
            if !bias && !expected(&["svc.bias"]) {
                continue;
            }
            let switch = if bias { "" } else { "; bias=false" };
            let soft = data.fit("svc", &format!("c={c}; loss=squared_hinge; {TIGHT}{switch}"));
            let mut ridged = data.clone();
            (0..data.len()).for_each(|i| ridged.k[i * 26] += 1.0 / (2.0 * c));
            let hard = ridged.fit("svc", &format!("c=inf; {TIGHT}{switch}"));
            let what = format!("C = {c}, bias {bias}");
            same(&beta(&soft, &data), &beta(&hard, &data), 1e-4, &what);
            same(&[objective(&soft)], &[objective(&hard)], 1e-6, &what);
            same(&soft.expansion.offsets, &hard.expansion.offsets, 1e-4, &what);
            // ξ = α/(2C) where there is a loss; scores are those of the kernel without the ridge
            for (i, f) in data.scores(&soft, &data.x).into_iter().enumerate() {
                let y = if data.codes[i] == 0 { 1.0 } else { -1.0 };
                let slack = (1.0 - y * f).max(0.0);
                assert!((slack - beta(&soft, &data)[i].abs() / (2.0 * c)).abs() < 1e-5, "{what}: example {i}");
            }
        }
    }
}

#[test]
fn a_hard_margin_without_bias_has_the_sum_of_its_multipliers_as_squared_norm() {
    if !expected(&["svc.infinite", "svc.bias"]) {
        return;
    }
    for seed in 0..8 {
        let all = trial(20, 2, 500 + seed);
        let first: Vec<usize> = (0..20).filter(|&i| !all.x[..i].contains(&all.x[i])).collect();
        let data = all.select(&first);
        let fitted = data.fit("svc", &format!("c=inf; bias=false; {TIGHT}"));
        let weights = beta(&fitted, &data);
        let norm2: f64 = weights.iter().zip(times(&data.k, &weights)).map(|(a, v)| a * v).sum();
        same(&[total(&weights)], &[norm2], 1e-6, "Σα = ‖w‖²");
        assert_eq!(fitted.expansion.offsets, [0.0]);
        let sign = |i: usize| if data.codes[i] == 0 { 1.0 } else { -1.0 };
        let scores = data.scores(&fitted, &data.x);
        let least = (0..data.len()).map(|i| sign(i) * scores[i]).fold(f64::INFINITY, f64::min);
        same(&[least], &[1.0], 1e-6, "min y f");
        // γ = min y f / ‖w‖
        same(&[norm2], &[norm2 / (least * least)], 1e-5, "‖w‖² = 1/γ²");
        same(&[objective(&fitted)], &[-0.5 * norm2], 1e-6, "the dual at the optimum");
    }
}

#[test]
fn left_out_errors_are_bounded_by_what_one_fit_tells() {
    if !expected(&["svc.bias"]) {
        return;
    }
    for seed in 0..6 {
        let data = trial(20, 2, 1000 + seed);
        for c in [0.25, 1.0, 16.0] {
            let settings = format!("c={c}; bias=false; {TIGHT}");
            let whole = data.fit("svc", &settings);
            let (scores, weights) = (data.scores(&whole, &data.x), beta(&whole, &data));
            let sign = |i: usize| if data.codes[i] == 0 { 1.0 } else { -1.0 };
            let bound: Vec<bool> =
                (0..20).map(|i| sign(i) * scores[i] - weights[i].abs() * data.k[i * 20 + i] <= 1e-6).collect();
            let mut errors = 0;
            for i in 0..20 {
                let rest = data.select(&(0..20).filter(|&j| j != i).collect::<Vec<_>>());
                let again = rest.fit("svc", &settings);
                let wrong = sign(i) * rest.scores(&again, &data.x[i..=i])[0] <= 0.0;
                // Jaakkola and Haussler's bound holds example by example
                assert!(!wrong || bound[i], "seed {seed}, C = {c}: example {i} is wrong when left out");
                assert!(!wrong || weights[i] != 0.0, "seed {seed}, C = {c}: {i} carries no weight");
                errors += usize::from(wrong);
            }
            let bounded = bound.iter().filter(|&&b| b).count();
            assert!(errors <= bounded && bounded <= whole.expansion.points().len());
        }
    }
}

#[test]
fn a_regression_without_tube_and_with_any_price_interpolates() {
    if !expected(&["svr"]) {
        return;
    }
    let all = Trial::new(20, 2, Kernel::Rbf(2.0), 0.0, &mut Seed(1100).stream("interpolate"));
    let data = all.select(&(0..20).filter(|&i| !all.x[..i].contains(&all.x[i])).collect::<Vec<_>>());
    // a squared loss leaves errors of β/2C
    for (c, loss) in [("1e4", "epsilon_insensitive"), ("1e7", "squared_epsilon_insensitive")] {
        for bias in [true, false] {
            let fitted = data.fit("svr", &format!("c={c}; epsilon=0; loss={loss}; bias={bias}; tolerance=1e-6"));
            same(&data.scores(&fitted, &data.x), &data.t, 1e-5, &format!("{loss}, bias {bias}"));
        }
    }
}

#[test]
fn one_against_the_rest_is_one_problem_for_each_class() {
    if !expected(&["svc.strategy"]) {
        return;
    }
    let data = trial(40, 4, 1200);
    let together = data.fit("svc", &format!("c=2; strategy=one_vs_rest; {TIGHT}"));
    let scores = data.scores(&together, &probes());
    let mut sum = 0.0;
    for class in 0..4 {
        let codes = data.codes.iter().map(|&c| usize::from(c != class)).collect();
        let alone = Trial { codes, ..data.clone() };
        let fitted = alone.fit("svc", &format!("c=2; {TIGHT}"));
        let column: Vec<f64> = scores.iter().skip(class).step_by(4).copied().collect();
        same(&column, &alone.scores(&fitted, &probes()), 1e-5, &format!("class {class}"));
        sum += objective(&fitted);
    }
    same(&[objective(&together)], &[sum], 1e-6, "the sum of the objectives");
    // two classes are one problem, and the same one
    let two = trial(30, 2, 1201);
    let (pair, rest) = (two.fit("svc", "c=2"), two.fit("svc", "c=2; strategy=one_vs_rest"));
    assert_eq!((pair.expansion, pair.readout), (rest.expansion, rest.readout));
}

#[test]
fn one_against_one_is_one_problem_for_each_pair() {
    let data = trial(40, 4, 1250);
    let together = data.fit("svc", &format!("c=2; {TIGHT}"));
    let scores = data.scores(&together, &probes());
    for (place, part) in parts(&together, &data.codes).iter().enumerate() {
        let pair = data.select(&part.members);
        let low = *pair.codes.iter().min().unwrap();
        let alone = Trial { codes: pair.codes.iter().map(|&c| usize::from(c != low)).collect(), ..pair };
        assert_eq!(alone.k, chosen(&data.k, 40, &part.members));
        let fitted = alone.fit("svc", &format!("c=2; {TIGHT}"));
        let column: Vec<f64> = scores.iter().skip(place).step_by(6).copied().collect();
        same(&column, &alone.scores(&fitted, &probes()), 1e-5, &format!("pair {place}"));
    }
}

#[test]
fn every_example_weighs_the_same_where_nu_is_one() {
    let data = Trial::of(
        vec![vec![0.0, 0.0], vec![0.5, 0.25], vec![2.0, 2.0], vec![2.5, 1.5]],
        vec![0, 0, 1, 1],
        vec![0.0; 4],
        Kernel::Rbf(0.5),
    );
    for (machine, weight) in [("nu_svc", None), ("one_class", Some(1.0)), ("svdd", Some(0.5))] {
        if expected(&[machine]) {
            let fitted = fit(machine, "nu=1", data.k.clone(), data.target_of(machine).as_ref(), None).unwrap();
            let weights = beta(&fitted, &data);
            let wanted = weight.unwrap_or(weights[0].abs());
            assert!(weights.iter().all(|w| (w.abs() - wanted).abs() < 1e-9 * wanted), "{machine}: {weights:?}");
        }
    }
}
