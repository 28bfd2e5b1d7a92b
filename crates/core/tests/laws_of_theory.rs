//! Laws of declared theory: what a machine says of itself is so for its fits.

#![allow(clippy::unwrap_used, clippy::panic)]

use mercer::gram::fill;
use mercer::machines::{self, Coefficients, Cost, Learns, Machine, Task, Theory, predicts_target};
use mercer::params::{Setting, assign};
use mercer::prelude::*;
use mercer::watch::Silent;

/// Two classes that are mirror images of one another, or numbers; any number of examples.
fn examples(learns: Learns, n: usize, mirrored: bool) -> Dataset {
    let mut random = Seed(n as u64).stream("theory");
    let mut x: Vec<f64> = (0..n).flat_map(|i| [random.normal() + (i % 2) as f64, random.normal()]).collect();
    if mirrored {
        for i in (1..n).step_by(2) {
            (x[2 * i], x[2 * i + 1]) = (-x[2 * i - 2], -x[2 * i - 1]);
        }
    }
    let target = match learns {
        Learns::Numbers => Target::from((0..n).map(|i| x[2 * i].sin() + 0.3 * random.normal()).collect::<Vec<f64>>()),
        _ => Target::from((0..n).map(|i| format!("class {}", i % 2)).collect::<Vec<String>>()),
    };
    Dataset::new(Rows::new(x, n, 2).unwrap()).with_target(target).unwrap()
}

/// Every machine with its parameters as they are, and with the words that change what it minimises.
fn in_all_settings() -> Vec<Box<dyn Machine>> {
    let words: &[(&str, &[&str])] = &[
        ("bias", &["true", "false"]),
        (
            "loss",
            &[
                "hinge",
                "squared_hinge",
                "logistic",
                "squared",
                "absolute",
                "epsilon_insensitive",
                "squared_epsilon_insensitive",
                "huber",
            ],
        ),
        ("penalty", &["norm", "coefficients"]),
        ("threshold", &["solver", "margin"]),
    ];
    let mut all = Vec::new();
    for entry in machines::all() {
        let mut of_entry = vec![Vec::new()];
        for (name, options) in words {
            if (entry.make)().settings().iter().all(|(n, _)| n != name) {
                continue;
            }
            let with = |settings: &Vec<(&'static str, &'static str)>| {
                options
                    .iter()
                    .map(|word| settings.iter().copied().chain([(*name, *word)]).collect())
                    .collect::<Vec<_>>()
            };
            of_entry = of_entry.iter().flat_map(with).collect();
        }
        for settings in of_entry {
            let mut machine = (entry.make)();
            let set = |(name, word): &(&str, &str)| {
                assign(entry.name, machine.as_mut(), name, &Setting::Word((*word).to_owned())).is_ok()
            };
            // a loss or a penalty that this machine does not have
            if settings.iter().all(set) {
                all.push(machine);
            }
        }
    }
    all
}

#[test]
fn a_machine_without_an_offset_never_has_one_and_any_other_may() {
    let (mut without, mut seen) = (0, 0);
    for machine in in_all_settings() {
        let entry = machine.entry();
        if !matches!(entry.learns, Learns::Classes | Learns::Numbers) {
            continue;
        }
        let theory = machine.traits().theory;
        for mirrored in [false, true] {
            let data = examples(entry.learns, 24, mirrored);
            let task = Task { target: data.target(), ..Task::new(linear().training_gram(&data).unwrap()) };
            let Ok(fitted) = machine.run(&task, &Silent) else { continue };
            seen += 1;
            if theory.homogeneous {
                without += 1;
                assert!(fitted.expansion.offsets.iter().all(|b| *b == 0.0), "{} {:?}", entry.name, machine.settings());
            }
        }
    }
    assert!(seen > 60 && without > 20, "{without} of {seen}");
}

/// ½‖w‖² + C Σ l(f(x_i), y_i).
fn risk(k: &[f64], y: &[f64], cost: Cost, c: f64, alpha: &[f64], b: f64) -> f64 {
    let n = y.len();
    let f: Vec<f64> = (0..n).map(|i| (0..n).map(|j| k[i * n + j] * alpha[j]).sum()).collect();
    let squared: f64 = alpha.iter().zip(&f).map(|(a, f)| a * f).sum();
    0.5 * squared + c * f.iter().zip(y).map(|(f, y)| cost.of(*y, f + b)).sum::<f64>()
}

#[test]
fn a_declared_loss_is_what_the_fit_has_minimised() {
    let mut found = Vec::new();
    for mut machine in in_all_settings() {
        let entry = machine.entry();
        let _ = assign(entry.name, machine.as_mut(), "tolerance", &Setting::Number(1e-7));
        let Ok(loss) = machine.traits().theory.loss else { continue };
        let data = examples(entry.learns, 26, false);
        let gram = rbf(0.6).training_gram(&data).unwrap();
        let task = Task { target: data.target(), ..Task::new(gram) };
        // machines on explicit features have no kernel values to be judged by
        let Ok(fitted) = machine.run(&task, &Silent) else { continue };
        let what = format!("{} {:?}", entry.name, machine.settings());
        let n = data.len();
        let mut k = vec![0.0; n * n];
        fill(task.gram.as_ref(), &mut k);
        let mut alpha = vec![0.0; n];
        match &fitted.expansion.coefficients {
            Coefficients::Dual { points, alpha: own } | Coefficients::Pairwise { points, alpha: own, .. } => {
                assert_eq!(points.len(), own.len(), "{what}");
                points.iter().zip(own).for_each(|(&i, a)| alpha[i] = *a);
            }
            other => panic!("{what}: {other:?}"),
        }
        let b = fitted.expansion.offsets[0];
        let y: Vec<f64> = match entry.learns {
            Learns::Numbers => data.target().unwrap().numbers().unwrap().values,
            _ => (0..n).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect(),
        };
        let least = risk(&k, &y, loss.cost, loss.c, &alpha, b);
        let mut random = Seed(3).stream("directions");
        for length in [1e-3, 1e-2, 0.1, 1.0] {
            for _ in 0..20 {
                let other: Vec<f64> = alpha.iter().map(|a| a + length * random.normal()).collect();
                let moved = if loss.free_offset { b + length * random.normal() } else { b };
                let value = risk(&k, &y, loss.cost, loss.c, &other, moved);
                assert!(value >= least - 1e-5 * least.abs(), "{what}: {value} below {least}");
            }
            // another length of the same function, which another C would prefer
            let longer: Vec<f64> = alpha.iter().map(|a| a * (1.0 + 0.1 * length)).collect();
            let shorter: Vec<f64> = alpha.iter().map(|a| a * (1.0 - 0.1 * length)).collect();
            for other in [longer, shorter] {
                assert!(risk(&k, &y, loss.cost, loss.c, &other, b) >= least - 1e-6 * least.abs(), "{what}");
            }
        }
        // the gap bounds what is missing, in the same scale
        if let Some(gap) = fitted.report.duality_gap {
            assert!(gap / loss.scale <= 1e-3 * least.abs() + 1e-9, "{what}: gap {gap}");
            let told = fitted.report.objective.unwrap();
            let own = told.abs() / loss.scale;
            // some report the primal and some the dual value, which are equal up to the gap and a sign
            assert!(
                (own - least).abs() < 1e-3 * least.abs() + 1e-6,
                "{what}: {told} is not {least} times {}",
                loss.scale
            );
        }
        if !found.contains(&entry.name) {
            found.push(entry.name);
        }
    }
    for name in ["svc", "adatron", "kernel_logistic", "regularised_risk", "huber_kfd", "svr", "quantile", "ridge"] {
        assert!(found.contains(&name), "{name} declares no loss: {found:?}");
    }
}

#[test]
fn a_machine_that_minimises_something_says_why_that_has_no_stability() {
    let untold = Theory::default().loss.unwrap_err();
    let mut others = 0;
    for entry in machines::all() {
        let theory = (entry.make)().traits().theory;
        let minimises =
            entry.formula.starts_with("min ") && (predicts_target(entry) || machines::family(entry) == "detect");
        others += usize::from(theory.loss == Err(untold));
        assert!(!minimises || theory.loss != Err(untold), "{}: {} is \"{untold}\"", entry.name, entry.formula);
    }
    assert!(others > 5, "windows, neighbours and means minimise no loss: {others}");
}
