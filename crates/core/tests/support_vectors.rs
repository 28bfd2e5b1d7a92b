//! Every support vector machine against a referee: feasible, optimal, and honest about it, on random small problems.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::support::expected::{EXPECTED, KNOWN, expected, present};
use crate::support::trials::{Kernel, Trial, fit, note};
use crate::support::verdict::{Case, Law, chosen, parts};
use mercer::data::Target;
use mercer::machines::{Fitted, Readout};
use mercer::seed::{Random, Seed};
use mercer::watch::Status;

const TOLERANCE: f64 = 1e-6;

#[test]
fn the_list_of_what_is_expected_is_the_catalogue() {
    for name in KNOWN {
        let listed = EXPECTED.contains(name);
        match present(name) {
            Some(there) => assert_eq!(listed, there, "{name}: listed in support/expected.rs: {listed}, there: {there}"),
            // a field of the task came with the classes' weights and must not be forgotten
            None => assert!(listed || !EXPECTED.contains(&"svc.class_weight"), "{name} is not listed"),
        }
    }
}

/// Checks every part of a fit against the referee, and what the proof says against what was found.
#[track_caller]
fn check(fitted: &Fitted, law: Law, trial: &Trial, weights: Option<&[f64]>, what: &str) {
    let n = trial.len();
    let what = &format!("{law:?}, {:?}, n = {n}, {what}", trial.kernel);
    assert_eq!(fitted.report.status, Status::Converged, "{what}");
    let epsilon = note(fitted, "epsilon").unwrap_or(0.0);
    assert!(epsilon > -TOLERANCE, "{what}: a tube of {epsilon}");
    let numbers = matches!(law, Law::Svr { .. } | Law::NuSvr { .. });
    match law {
        _ if numbers => assert!(matches!(fitted.readout, Readout::Values { .. }), "{what}"),
        Law::OneClass { .. } | Law::Svdd { .. } => assert!(matches!(fitted.readout, Readout::Novelty), "{what}"),
        _ => {}
    }
    let (mut dual, mut scaled, mut gap, mut norm2, mut size) = (0.0, 0.0, 0.0, 0.0, 1.0);
    for mut part in parts(fitted, &trial.codes) {
        if numbers {
            part.y.clone_from(&trial.t);
        }
        let k = chosen(&trial.k, n, &part.members);
        let w: Vec<f64> = part.members.iter().map(|&i| weights.map_or(1.0, |w| w[i])).collect();
        let case = Case { k: &k, y: &part.y, w: &w };
        let found = law.check(case, &part, epsilon, TOLERANCE, what);
        dual += found.dual;
        scaled += found.scaled;
        gap += found.gap;
        norm2 += found.squared_norm;
        size += found.dual.abs() + found.scaled.abs() + found.total;
    }
    let report = &fitted.report;
    let near = |told: f64, found: f64| (told - found).abs() <= 1e-7 * size;
    let objective = report.objective.unwrap();
    assert!(near(objective, dual) || near(objective, scaled), "{what}: told objective {objective}, found {dual}");
    if !matches!(law, Law::Svc { c, .. } if c.is_infinite()) {
        let told = report.duality_gap.unwrap();
        let room = if matches!(law, Law::NuSvc { .. }) { gap.abs() * (1.0 + scaled / dual) } else { 0.0 };
        assert!((told - gap).abs() <= 1e-6 * size + room, "{what}: told gap {told}, found {gap}");
    }
    if let Some(told) = note(fitted, "squared_norm") {
        let unscaled = 2.0 * dual;
        let either = near(told, norm2) || (matches!(law, Law::NuSvc { .. }) && near(told, unscaled));
        assert!(either, "{what}: told ‖w‖² = {told}, found {norm2}");
    }
    assert!(report.violation.unwrap() <= TOLERANCE, "{what}: {:?}", report.violation);
    assert_eq!(report.support, Some(fitted.expansion.points().len()), "{what}");
}

/// Runs a machine on many random problems: settings and their law come from the closure.
fn fuzz(
    machine: &str,
    purpose: &str,
    rounds: usize,
    classes: &[usize],
    make: impl Fn(&mut Random, &Trial) -> Option<(String, Law)>,
) {
    let mut random = Seed(5).stream(purpose);
    let mut tried = 0;
    for round in 0..rounds {
        let trial = Trial::random(classes[round % classes.len()], &mut random);
        let Some((settings, law)) = make(&mut random, &trial) else { continue };
        let settings = format!("{settings}; tolerance={TOLERANCE}");
        check(&trial.fit(machine, &settings), law, &trial, None, &format!("{machine}: {settings}, round {round}"));
        tried += 1;
    }
    assert!(tried * 2 > rounds, "{tried} of {rounds} problems were tried");
}

fn price(random: &mut Random) -> f64 {
    [0.015_625, 0.1, 1.0, 8.0, 100.0][random.below(5)]
}

#[test]
fn support_vector_classifiers_reach_the_optimum() {
    fuzz("svc", "svc", 240, &[2, 2, 3, 4], |random, _| {
        let c = price(random);
        Some((format!("c={c}"), Law::Svc { c, squared: false, bias: true }))
    });
}

#[test]
fn classifiers_with_squared_losses_and_without_bias_reach_the_optimum() {
    if !expected(&["svc.loss", "svc.bias"]) {
        return;
    }
    for (loss, bias) in [("squared_hinge", true), ("squared_hinge", false), ("hinge", false)] {
        fuzz("svc", &format!("{loss} {bias}"), 120, &[2, 2, 3], |random, _| {
            let c = price(random);
            let law = Law::Svc { c, squared: loss == "squared_hinge", bias };
            Some((format!("c={c}; loss={loss}; bias={bias}"), law))
        });
    }
}

#[test]
fn one_against_the_rest_reaches_the_optimum_of_every_class() {
    if !expected(&["svc.strategy", "svc.loss", "svc.bias"]) {
        return;
    }
    fuzz("svc", "rest", 80, &[2, 3, 4, 5], |random, _| {
        let (c, bias, squared) = (price(random), random.below(2) == 0, random.below(2) == 0);
        let loss = if squared { "squared_hinge" } else { "hinge" };
        Some((format!("c={c}; strategy=one_vs_rest; bias={bias}; loss={loss}"), Law::Svc { c, squared, bias }))
    });
}

/// Points that differ, so that a narrow Gaussian separates them whatever their labels are.
fn distinct(trial: &Trial) -> Trial {
    let first: Vec<usize> = (0..trial.len()).filter(|&i| !trial.x[..i].contains(&trial.x[i])).collect();
    let mut kept = trial.select(&first);
    kept.kernel = Kernel::Rbf(2.0);
    kept.k = kept.kernel.matrix(&kept.x, &kept.x);
    kept
}

#[test]
fn hard_margins_reach_the_optimum() {
    if !expected(&["svc.infinite"]) {
        return;
    }
    let mut random = Seed(6).stream("hard");
    for round in 0..60 {
        let trial = distinct(&Trial::new(4 + random.below(20), 2, Kernel::Linear, 0.1, &mut random));
        if (0..2).any(|c| !trial.codes.contains(&c)) {
            continue;
        }
        for bias in [true, false] {
            if !bias && !expected(&["svc.bias"]) {
                continue;
            }
            let switch = if bias { "" } else { "; bias=false" };
            let settings = format!("c=inf; tolerance={TOLERANCE}{switch}");
            let law = Law::Svc { c: f64::INFINITY, squared: false, bias };
            check(&trial.fit("svc", &settings), law, &trial, None, &format!("round {round}"));
        }
    }
}

/// The largest ν for which every pair of classes can give as many multipliers as the other.
fn most(trial: &Trial, weights: Option<&[f64]>) -> f64 {
    let mut sums = [0.0; 8];
    for (i, &c) in trial.codes.iter().enumerate() {
        sums[c] += weights.map_or(1.0, |w| w[i]);
    }
    let used: Vec<f64> = (0..8).filter(|c| trial.codes.contains(c)).map(|c| sums[c]).collect();
    let least = used.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = used.iter().copied().fold(0.0, f64::max);
    2.0 * least / (least + largest)
}

/// True if the classes can be told apart at all at this ν: otherwise w = 0 and there is no margin to divide by.
fn has_margin(law: Law, trial: &Trial, weights: Option<&[f64]>) -> bool {
    let k = 1 + trial.codes.iter().max().unwrap();
    (0..k).flat_map(|a| (a + 1..k).map(move |b| (a, b))).all(|(a, b)| {
        let members: Vec<usize> = (0..trial.len()).filter(|&i| trial.codes[i] == a || trial.codes[i] == b).collect();
        let y: Vec<f64> = members.iter().map(|&i| if trial.codes[i] == a { 1.0 } else { -1.0 }).collect();
        let w: Vec<f64> = members.iter().map(|&i| weights.map_or(1.0, |w| w[i])).collect();
        let case = Case { k: &chosen(&trial.k, trial.len(), &members), y: &y, w: &w };
        law.program(case).solve().objective > 1e-3
    })
}

#[test]
fn nu_classifiers_reach_the_optimum() {
    if !expected(&["nu_svc"]) {
        return;
    }
    fuzz("nu_svc", "nu_svc", 200, &[2, 2, 3], |random, trial| {
        let nu = (0.05 + 0.85 * random.uniform()) * most(trial, None);
        let law = Law::NuSvc { nu };
        has_margin(law, trial, None).then(|| (format!("nu={nu}"), law))
    });
}

#[test]
fn regressions_reach_the_optimum() {
    if !expected(&["svr"]) {
        return;
    }
    for (loss, bias) in [
        ("epsilon_insensitive", true),
        ("squared_epsilon_insensitive", true),
        ("epsilon_insensitive", false),
        ("squared_epsilon_insensitive", false),
    ] {
        fuzz("svr", &format!("{loss} {bias}"), 60, &[2], |random, _| {
            let (c, epsilon) = (price(random), [0.0, 0.1, 0.5, 10.0][random.below(4)]);
            let law = Law::Svr { c, epsilon, squared: loss.starts_with("squared"), bias };
            Some((format!("c={c}; epsilon={epsilon}; loss={loss}; bias={bias}"), law))
        });
    }
}

#[test]
fn nu_regressions_reach_the_optimum() {
    if !expected(&["nu_svr"]) {
        return;
    }
    fuzz("nu_svr", "nu_svr", 100, &[2], |random, _| {
        let (c, nu) = (price(random), 0.05 + 0.9 * random.uniform());
        Some((format!("c={c}; nu={nu}"), Law::NuSvr { c, nu }))
    });
}

#[test]
fn detectors_of_novelties_reach_the_optimum() {
    if expected(&["one_class"]) {
        fuzz("one_class", "one_class", 150, &[2], |random, _| {
            let nu = 0.05 + 0.9 * random.uniform();
            Some((format!("nu={nu}"), Law::OneClass { nu }))
        });
    }
    if expected(&["svdd"]) {
        fuzz("svdd", "svdd", 200, &[2], |random, _| {
            let nu = 0.05 + 0.9 * random.uniform();
            Some((format!("nu={nu}"), Law::Svdd { nu }))
        });
    }
}

#[test]
fn weights_are_factors_of_the_price() {
    if !expected(&["weights"]) {
        return;
    }
    let mut random = Seed(8).stream("weights");
    for round in 0..60 {
        let trial = Trial::random(2, &mut random);
        let w: Vec<f64> = (0..trial.len())
            // every class keeps an example that counts
            .map(|i| if i < 2 { 1.0 } else { [0.0, 0.25, 1.0, 2.0, 3.0][random.below(5)] })
            .collect();
        let (c, nu) = (price(&mut random), 0.1 + 0.7 * random.uniform());
        let small = nu * most(&trial, Some(&w));
        let margin = has_margin(Law::NuSvc { nu: small }, &trial, Some(&w));
        let radial = matches!(trial.kernel, Kernel::Rbf(_));
        let (svr, epsilon) = ("svr", 0.125);
        for (machine, settings, law, sensible) in [
            ("svc", format!("c={c}"), Law::Svc { c, squared: false, bias: true }, true),
            ("svc", format!("c={c}; loss=squared_hinge"), Law::Svc { c, squared: true, bias: true }, true),
            ("nu_svc", format!("nu={small}"), Law::NuSvc { nu: small }, margin),
            (svr, format!("c={c}; epsilon=0.125"), Law::Svr { c, epsilon, squared: false, bias: true }, true),
            ("nu_svr", format!("c={c}; nu={nu}"), Law::NuSvr { c, nu }, true),
            ("one_class", format!("nu={nu}"), Law::OneClass { nu }, true),
            ("svdd", format!("nu={nu}"), Law::Svdd { nu }, radial),
        ] {
            if sensible && expected(&[machine]) && (!settings.contains("loss") || expected(&["svc.loss"])) {
                let settings = format!("{settings}; tolerance={TOLERANCE}");
                let fitted = trial.fit_weighted(machine, &settings, Some(&w));
                check(&fitted, law, &trial, Some(&w), &format!("{settings}, round {round}, weights {w:?}"));
            }
        }
    }
}

#[test]
fn weights_of_classes_are_weights_of_their_examples() {
    if !expected(&["svc.class_weight", "weights"]) {
        return;
    }
    let mut random = Seed(9).stream("class weights");
    for round in 0..20 {
        let trial = Trial::random(3, &mut random);
        let n = trial.len() as f64;
        let count = |c: usize| trial.codes.iter().filter(|&&code| code == c).count() as f64;
        for (text, of) in [
            ("none", [1.0; 3]),
            ("a:2,c:0.5", [2.0, 1.0, 0.5]),
            ("balanced", [n / (3.0 * count(0)), n / (3.0 * count(1)), n / (3.0 * count(2))]),
        ] {
            let w: Vec<f64> = trial.codes.iter().map(|&c| of[c]).collect();
            let law = Law::Svc { c: 2.0, squared: false, bias: true };
            let fitted = trial.fit("svc", &format!("c=2; class_weight={text}; tolerance={TOLERANCE}"));
            check(&fitted, law, &trial, Some(&w), &format!("class_weight={text}, round {round}"));
        }
    }
}

#[test]
fn several_outputs_are_several_problems() {
    if !expected(&["svr", "nu_svr"]) {
        return;
    }
    let mut random = Seed(10).stream("outputs");
    let trial = Trial::new(25, 2, Kernel::Rbf(0.5), 0.0, &mut random);
    let (first, second) = (trial.t.clone(), trial.t.iter().map(|t| 3.0 - 2.0 * t * t).collect::<Vec<f64>>());
    let [one, other] = [("first", &first), ("second", &second)].map(|(name, t)| Target::from_numbers(name, t.clone()));
    let both = one.beside(other).unwrap();
    for (machine, settings) in [("svr", "c=4; epsilon=0.25"), ("nu_svr", "c=4; nu=0.5")] {
        let settings = format!("{settings}; tolerance=1e-7");
        let together = fit(machine, &settings, trial.k.clone(), Some(&both), None).unwrap();
        let apart = [first.clone(), second.clone()].map(|t| {
            let one = Trial { t, ..trial.clone() };
            let fitted = one.fit(machine, &settings);
            (one.scores(&fitted, &one.x), fitted.report.objective.unwrap())
        });
        let scores = trial.scores(&together, &trial.x);
        for i in 0..trial.len() {
            for (c, (alone, _)) in apart.iter().enumerate() {
                assert!((scores[2 * i + c] - alone[i]).abs() < 1e-5, "{machine}: output {c} of example {i}");
            }
        }
        let sum: f64 = apart.iter().map(|a| a.1).sum();
        assert!((together.report.objective.unwrap() - sum).abs() < 1e-5 * sum.abs(), "{machine}");
    }
}
