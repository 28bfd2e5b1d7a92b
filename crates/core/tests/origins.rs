//! Kernels that are positive definite up to the origin: which machines learn with them as with centred ones, which say so, and which
//! refuse.
#![allow(clippy::unwrap_used, clippy::panic)]

use mercer::job::Job;
use mercer::machines::{self, Learns, Machine, MachineEntry, Readout, Tolerates};
use mercer::prelude::*;
use mercer::watch::Silent;

/// Two clouds, far from the origin.
fn points() -> Rows<f64> {
    let mut random = Seed(5).stream("origins");
    let values = (0..60).flat_map(|i| {
        let side = if i % 2 == 0 { 1.0 } else { -1.0 };
        [3.0 + side + 0.8 * random.normal(), 2.0 - 0.5 * side + 0.8 * random.normal()]
    });
    Rows::new(values.collect(), 60, 2).unwrap()
}

fn data(learns: Learns) -> Dataset {
    let rows = points();
    let target = match learns {
        Learns::Classes => {
            Target::from((0..60).map(|i| if i % 2 == 0 { "a" } else { "b" }.to_owned()).collect::<Vec<_>>())
        }
        _ => Target::from((0..60).map(|i| rows.row(i)[0] * rows.row(i)[1]).collect::<Vec<f64>>()),
    };
    Dataset::new(rows).with_target(target).unwrap()
}

fn job(entry: &'static MachineEntry, kernel: &str, more: &str) -> Job {
    let settings = machines::parse(&format!("{}({more})", entry.name)).unwrap().settings;
    Job { settings, ..Job::of(entry, kernel.parse().unwrap()) }
}

/// A machine that minimises something without an offset has no minimum with a kernel that is only conditionally definite. Distances
/// and sums of multipliers that are zero do not see the origin.
#[test]
fn a_conditional_kernel_is_centred_refused_or_told_of() {
    let (mut same, mut told, mut refused) = (Vec::new(), Vec::new(), Vec::new());
    for entry in machines::all() {
        let has_bias = mercer::params::describe((entry.make)().as_mut()).iter().any(|p| p.name == "bias");
        let ways: &[&str] = if has_bias { &["bias=true", "bias=false"] } else { &[""] };
        for more in ways {
            let what = format!("{}({more})", entry.name);
            let asked = job(entry, "distance(beta=1)", more);
            let traits = asked.make().unwrap().traits();
            if !traits.wants_matrix() {
                continue;
            }
            let fitted = asked.run(&data(entry.learns), &Silent);
            match traits.tolerates {
                Tolerates::Definite => {
                    let error = fitted.err().unwrap_or_else(|| panic!("{what} is fitted")).to_string();
                    // machines of several views need another formula and say that first, or centre for themselves
                    assert!(error.contains("centre(") || error.contains("term"), "{what}: {error}");
                    refused.push(entry.name);
                }
                Tolerates::WithoutTheory => {
                    let Ok(model) = fitted else { continue };
                    let advice = model.fitted().report.advice.join("; ");
                    assert!(advice.contains("only conditionally"), "{what}: {advice}");
                    assert!(asked.doubt().unwrap().is_some(), "{what}");
                    told.push(entry.name);
                }
                Tolerates::ConditionallyDefinite => {
                    let model = fitted.unwrap_or_else(|e| panic!("{what}: {e}"));
                    let quiet =
                        asked.doubt().unwrap().is_none() && !model.fitted().report.advice.join("").contains("definite");
                    assert!(quiet, "{what}");
                    let centred =
                        job(entry, "centre(distance(beta=1))", more).run(&data(entry.learns), &Silent).unwrap();
                    if matches!(model.fitted().readout, Readout::Coordinates { .. } | Readout::Clusters { .. }) {
                        continue;
                    }
                    let (one, other) =
                        (model.predict(&data(entry.learns)).unwrap(), centred.predict(&data(entry.learns)).unwrap());
                    let agree = one.labels().iter().zip(other.labels()).filter(|(a, b)| **a == *b).count();
                    assert!(agree + 1 >= one.labels().len(), "{what}: {agree}");
                    for (a, b) in one.values().iter().zip(other.values()) {
                        assert!((a - b).abs() < 0.02 * (1.0 + b.abs()), "{what}: {a} {b}");
                    }
                    same.push(entry.name);
                }
                Tolerates::Any => assert!(asked.doubt().unwrap().is_none(), "{what}"),
            }
        }
    }
    for name in ["svc", "svr", "nearest_mean", "knn", "svdd", "robust_kfd"] {
        assert!(same.contains(&name), "{name}: {same:?}");
    }
    assert!(["svc", "svr", "adatron", "ridge"].iter().all(|name| refused.contains(name)), "{refused:?}");
    assert!(told.contains(&"one_class") && told.contains(&"perceptron"), "{told:?}");
}

#[test]
fn searches_and_curves_refuse_it_as_fits_do() {
    let machine = Svc { bias: false, ..Svc::default() };
    let kernel: Formula = "distance(beta=1)".parse().unwrap();
    let settings = Job::new(&machine, &kernel).settings;
    let search = mercer::select::Search {
        score: None,
        machine: machine.entry(),
        settings: &settings,
        kernel: &kernel,
        grid: &"c=1|10".parse().unwrap(),
        folds: 3,
        choose: mercer::select::Choose::Best,
        probabilities: None,
        calibration_folds: 0,
        budget: mercer::gram::Budget::default(),
        seed: Seed(0),
    };
    let error = search.run(&data(Learns::Classes), &Silent).err().unwrap().to_string();
    assert!(error.contains("centre("), "{error}");
}

/// The ball does not see the origin, so neither may what is told of it.
#[test]
fn the_ball_of_a_conditional_kernel_is_proven_as_that_of_the_centred_one() {
    let fit = |kernel: &str| Svdd::default().fit(&kernel.parse().unwrap(), &data(Learns::Numbers)).unwrap();
    let (plain, centred) = (fit("distance(beta=1)"), fit("centre(distance(beta=1))"));
    let note = |m: &Model, name: &str| m.fitted().report.notes.iter().find(|(n, _)| n == name).unwrap().1;
    let (a, b) = (note(&plain, "radius"), note(&centred, "radius"));
    assert!((a - b).abs() < 1e-2 * b, "{a} {b}");
    let (gap, objective) = (plain.fitted().report.duality_gap.unwrap(), plain.fitted().report.objective.unwrap());
    assert!((-1e-4..1e-2 * objective.abs()).contains(&gap), "gap {gap} of {objective}");
    assert!(note(&plain, "centre_norm2") < 0.0, "the centre has a negative square without an origin");
}
