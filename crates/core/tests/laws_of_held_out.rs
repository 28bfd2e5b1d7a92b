//! Laws of held-out answers: a machine that gives them in closed form gives those of learning again, and says so; every other leaves
//! them to who asks.

#![allow(clippy::unwrap_used, clippy::panic)]

use mercer::machines::{self, Coefficients, HeldOutRequest, Learns, Machine, Smoother, Task};
use mercer::params::{Setting, assign};
use mercer::prelude::*;
use mercer::resample::held_out_scores;
use mercer::watch::Silent;
use std::sync::Arc;

/// Points around as many centres as there are classes, with classes or numbers to be learned.
fn examples(learns: Learns, n: usize, classes: usize) -> Dataset {
    let mut random = Seed(n as u64).stream("held out");
    let x: Vec<f64> = (0..2 * n).map(|p| random.normal() + ((p / 2) % classes * (1 + p % 2)) as f64).collect();
    let target = match learns {
        Learns::Numbers => Target::from((0..n).map(|i| x[2 * i].sin() + 0.1 * random.normal()).collect::<Vec<f64>>()),
        _ => Target::from((0..n).map(|i| format!("class {}", i % classes)).collect::<Vec<String>>()),
    };
    Dataset::new(Rows::new(x, n, 2).unwrap()).with_target(target).unwrap()
}

fn task<'a>(data: &'a Dataset, held_out: HeldOutRequest<'a>) -> Task<'a> {
    Task { target: data.target(), held_out, ..Task::new(rbf(0.4).training_gram(data).unwrap()) }
}

fn near(got: &[f64], wanted: &[f64], what: &str) {
    assert_eq!(got.len(), wanted.len(), "{what}");
    let size = wanted.iter().fold(1.0_f64, |m, w| m.max(w.abs()));
    for (i, (g, w)) in got.iter().zip(wanted).enumerate() {
        assert!((g - w).abs() < 1e-7 * size, "{what}: {g} instead of {w} at {i}");
    }
}

/// The machines that declare a closed form, in the settings in which they have one.
fn in_closed_form() -> Vec<Box<dyn Machine>> {
    let mut all = Vec::new();
    for entry in machines::all().filter(|e| (e.make)().traits().leaves_one_out) {
        let settings: &[&[(&str, &str)]] = match entry.name {
            "kfd" => &[
                &[("threshold", "programme"), ("strategy", "one_vs_rest")],
                &[("threshold", "programme"), ("strategy", "one_vs_rest"), ("penalty", "norm")],
                &[("threshold", "margin")],
                &[("threshold", "gaussian"), ("penalty", "norm")],
                &[("threshold", "shared_gaussian")],
                &[("threshold", "errors"), ("penalty", "norm")],
            ],
            "ridge" => &[&[], &[("solver", "eigen")], &[("solver", "cholesky")]],
            other => panic!("{other} declares a closed form: give the settings in which it has one"),
        };
        for some in settings {
            let mut machine = (entry.make)();
            for (name, word) in *some {
                assign(entry.name, machine.as_mut(), name, &Setting::Word((*word).to_owned())).unwrap();
            }
            all.push(machine);
        }
    }
    all
}

#[test]
fn closed_forms_are_learning_again_and_leave_the_fit_as_it_is() {
    for machine in in_closed_form() {
        for classes in [2, 3] {
            let data = examples(machine.entry().learns, 31, classes);
            let what = format!("{} {:?}, {classes} classes", machine.entry().name, machine.settings());
            let whole = task(&data, HeldOutRequest::Nothing);
            let plain = machine.run(&whole, &Silent).unwrap();
            assert!(plain.held_out.is_none(), "{what}");
            let one_by_one: Vec<Vec<usize>> = (0..31).map(|i| vec![i]).collect();
            let wanted = held_out_scores(machine.as_ref(), &whole, &plain, &one_by_one, &Silent).unwrap();
            let asked = machine.run(&task(&data, HeldOutRequest::LeaveOneOutScores), &Silent).unwrap();
            assert_eq!((&asked.expansion, &asked.report), (&plain.expansion, &plain.report), "{what}");
            let answer = asked.held_out.unwrap();
            assert!(answer.models.is_none(), "{what}");
            near(&answer.scores, &wanted, &what);
            // the models give the same scores, each of its own example
            let answer =
                machine.run(&task(&data, HeldOutRequest::LeaveOneOutModels), &Silent).unwrap().held_out.unwrap();
            near(&answer.scores, &wanted, &what);
            let models = answer.models.unwrap();
            let (all, outputs) = (models.outputs(), plain.expansion.outputs());
            assert_eq!(all, 31 * outputs, "{what}");
            let places: Vec<usize> = (0..31).collect();
            let scores = models.scores(Arc::clone(&whole.gram).restrict(&places, models.points()).as_ref());
            let own: Vec<f64> = (0..31).flat_map(|i| &scores[i * all + i * outputs..][..outputs]).copied().collect();
            near(&own, &wanted, &what);
        }
    }
}

#[test]
fn machines_without_a_closed_form_leave_the_answer_empty() {
    let mut asked = 0;
    for entry in machines::all().filter(|e| !(e.make)().traits().leaves_one_out) {
        let (machine, data) = ((entry.make)(), examples(entry.learns, 24, 2));
        for request in [HeldOutRequest::LeaveOneOutScores, HeldOutRequest::LeaveOneOutModels] {
            // some take explicit features only
            let Ok(fitted) = machine.run(&task(&data, request), &Silent) else { continue };
            assert!(fitted.held_out.is_none(), "{}", entry.name);
            asked += 1;
        }
    }
    assert!(asked > 40, "{asked} answers");
}

#[test]
fn a_declared_smoother_is_the_fit() {
    let mut found = 0;
    for entry in machines::all() {
        let machine = (entry.make)();
        let Some(Ok(lambda)) = machine.traits().smoother else { continue };
        let data = examples(entry.learns, 20, 2);
        let task = task(&data, HeldOutRequest::Nothing);
        let smoother = Smoother::new(entry.name, lambda, &task, &Silent).unwrap();
        let fitted = machine.run(&task, &Silent).unwrap();
        let Coefficients::Dual { alpha, .. } = &fitted.expansion.coefficients else { panic!("{}", entry.name) };
        near(&smoother.alpha, alpha, entry.name);
        found += 1;
    }
    assert!(found > 0);
}
