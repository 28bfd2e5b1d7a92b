//! Support vector machines that are stopped: a status, and the best so far within the constraints.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::support::patience::sensible;
use crate::support::tools::{beta, everyone, objective, trial};
use crate::support::trials::{fit, fit_watched};
use mercer::watch::{Monitor, Progress, Silent, Status, Stop};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn one_step_is_not_enough_and_says_so() {
    let data = trial(40, 2, 6);
    for (machine, settings) in everyone() {
        let what = format!("{machine}: {settings}");
        let short = format!("{settings}; max_iterations=1; tolerance=1e-8");
        let result = fit(machine, &short, data.k.clone(), data.target_of(machine).as_ref(), None);
        // after one step there may be no margin yet that a ν classifier could divide by
        assert!(result.is_ok() || machine == "nu_svc", "{what}");
        let Some(fitted) = sensible(result, machine, &what) else { continue };
        assert_eq!(fitted.report.status, Status::IterationLimit, "{what}");
        assert!(fitted.report.iterations <= 1, "{what}: {} steps", fitted.report.iterations);
        // what there is so far keeps to the constraints
        let weights = beta(&fitted, &data);
        let balanced = ["svc", "nu_svc", "svr", "nu_svr"].contains(&machine) && !settings.contains("bias=false");
        if balanced {
            assert!(weights.iter().sum::<f64>().abs() < 1e-9, "{what}: {weights:?}");
        }
    }
}

/// Stops at the k-th look.
struct Count(AtomicUsize, usize);

impl Monitor for Count {
    fn step(&self, progress: &Progress) -> ControlFlow<Stop> {
        assert!(!progress.phase.name().is_empty());
        let seen = self.0.fetch_add(1, Ordering::Relaxed) + 1;
        if seen >= self.1 { ControlFlow::Break(Stop::Interrupted) } else { ControlFlow::Continue(()) }
    }
}

#[test]
fn a_monitor_ends_the_work_and_what_there_is_comes_back() {
    let data = trial(60, 2, 7);
    for (machine, settings) in everyone() {
        let settings = format!("{settings}; tolerance=1e-9");
        let target = data.target_of(machine);
        let run =
            |watch: &dyn Monitor| fit_watched(machine, &settings, data.k.clone(), target.as_ref(), None, None, watch);
        let whole = run(&Silent).unwrap();
        let mut last = f64::INFINITY;
        for k in [1, 2, 3] {
            let watch = Count(AtomicUsize::new(0), k);
            let what = format!("{machine}: {settings}, stopped at look {k}");
            let result = run(&watch);
            // so early there may be no margin yet that a ν classifier could divide by
            assert!(result.is_ok() || machine == "nu_svc", "{what}");
            let Some(fitted) = sensible(result, machine, &what) else { continue };
            if fitted.report.status == Status::Converged {
                // it was done before it looked so often, but it must look at least once
                assert!(k > 1 && watch.0.load(Ordering::Relaxed) < k, "{what}");
                continue;
            }
            assert_eq!(fitted.report.status, Status::Interrupted, "{what}");
            assert!(fitted.report.iterations <= whole.report.iterations, "{what}");
            // minimisation never climbs
            let value = objective(&fitted);
            if machine != "nu_svc" {
                assert!(value <= last + 1e-9 * (1.0 + value.abs()), "{what}: {value} after {last}");
                assert!(value >= objective(&whole) - 1e-6 * (1.0 + value.abs()), "{what}");
                last = value;
            }
        }
    }
}
