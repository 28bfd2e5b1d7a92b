//! The entries of the catalogue: the one list that decides which tests of support vector machines run.
//!
//! EXTEND [`EXPECTED`] when a machine or a parameter arrives. A test in `support_vectors.rs` fails both for a name that is
//! listed and missing and for one that is there and not listed, so no machine can stay untested by accident.

#![allow(unreachable_pub, clippy::unwrap_used, clippy::panic)]

use mercer::machines::{self, Machine};
use mercer::params::{Setting, assign, describe};

/// Machines, and parameters that came later than their machine (`machine.parameter`). `weights` and `start` stand for the
/// fields of a task that machines honour; `svc.infinite` for C = ∞.
pub const EXPECTED: &[&str] = KNOWN;

/// Everything that the tests know how to judge.
pub const KNOWN: &[&str] = &[
    "svc",
    "svc.infinite",
    "svc.loss",
    "svc.bias",
    "svc.strategy",
    "svc.class_weight",
    "nu_svc",
    "svr",
    "nu_svr",
    "one_class",
    "svdd",
    "weights",
    "start",
];

/// True if all of these are to be tested.
pub fn expected(names: &[&str]) -> bool {
    assert!(names.iter().all(|n| KNOWN.contains(n)), "{names:?} has a name that is not known");
    names.iter().all(|n| EXPECTED.contains(n))
}

/// True if the catalogue has it; `None` where only a fit could tell.
pub fn present(name: &str) -> Option<bool> {
    match name.split_once('.') {
        Some((machine, "infinite")) => {
            let mut made = make(machine, "");
            Some(assign(machine, made.as_mut(), "c", &Setting::Number(f64::INFINITY)).is_ok())
        }
        Some((machine, parameter)) => Some(describe(make(machine, "").as_mut()).iter().any(|d| d.name == parameter)),
        None if name == "weights" || name == "start" => None,
        None => Some(machines::find(name).is_some()),
    }
}

/// A machine with settings such as `c=10; loss=squared_hinge`.
///
/// # Panics
/// If the catalogue has no such machine, parameter or value.
#[track_caller]
pub fn make(machine: &str, settings: &str) -> Box<dyn Machine> {
    let entry = machines::find(machine).unwrap_or_else(|| panic!("there is no machine {machine}"));
    let mut made = (entry.make)();
    for setting in settings.split(';').map(str::trim).filter(|s| !s.is_empty()) {
        let (name, value) = setting.split_once('=').unwrap();
        let value = match value {
            "true" | "false" => Setting::Switch(value == "true"),
            _ => value.parse().map_or_else(|_| Setting::Word(value.to_owned()), Setting::Number),
        };
        assign(machine, made.as_mut(), name, &value).unwrap_or_else(|error| panic!("{error}"));
    }
    made
}
