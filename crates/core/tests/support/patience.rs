//! Fits that must end: in a thread of their own, under a clock, with an answer that can be used or a sentence.

#![allow(unreachable_pub, clippy::unwrap_used, clippy::panic)]

use super::trials::fit_watched;
use mercer::data::Target;
use mercer::machines::{Coefficients, FitError, Fitted};
use mercer::watch::{Monitor, Progress, Stop};
use std::ops::ControlFlow;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Runs work that must end: a test that hangs says nothing.
#[track_caller]
pub fn within<R: Send + 'static>(seconds: u64, what: &str, work: impl FnOnce() -> R + Send + 'static) -> R {
    let (send, receive) = mpsc::channel();
    let worker = std::thread::spawn(move || send.send(work()));
    match receive.recv_timeout(Duration::from_secs(seconds)) {
        Ok(result) => result,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("{what}: no end within {seconds} s"),
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            drop(worker.join());
            panic!("{what}: panicked")
        }
    }
}

/// Ends the work after a while.
pub struct Clock(Instant, Duration);

impl Clock {
    /// So many seconds from now.
    pub fn seconds(seconds: f64) -> Self {
        Self(Instant::now(), Duration::from_secs_f64(seconds))
    }
}

impl Monitor for Clock {
    fn step(&self, _: &Progress) -> ControlFlow<Stop> {
        if self.0.elapsed() > self.1 { ControlFlow::Break(Stop::TimeLimit) } else { ControlFlow::Continue(()) }
    }
}

/// A fit in a thread of its own, under a clock.
pub fn try_fit(machine: &'static str, settings: &str, k: Vec<f64>, target: Option<Target>) -> Result<Fitted, FitError> {
    fit_for(5.0, machine, settings, k, target)
}

/// The same with so many seconds on the clock.
pub fn fit_for(
    seconds: f64,
    machine: &'static str,
    settings: &str,
    k: Vec<f64>,
    target: Option<Target>,
) -> Result<Fitted, FitError> {
    let settings = settings.to_owned();
    within(60, &format!("{machine}: {settings}"), move || {
        fit_watched(machine, &settings, k, target.as_ref(), None, None, &Clock::seconds(seconds))
    })
}

/// A fit has finite numbers; an error says whose it is.
#[track_caller]
pub fn sensible(result: Result<Fitted, FitError>, machine: &str, what: &str) -> Option<Fitted> {
    match result {
        Ok(fitted) => {
            let alpha = match &fitted.expansion.coefficients {
                Coefficients::Dual { alpha, .. }
                | Coefficients::Ball { alpha, .. }
                | Coefficients::Pairwise { alpha, .. } => alpha,
                Coefficients::Primal { weights, .. } => weights,
                other => panic!("{machine} with {other:?}"),
            };
            assert!(alpha.iter().chain(&fitted.expansion.offsets).all(|v| v.is_finite()), "{machine}, {what}");
            assert!(fitted.report.objective.is_some_and(f64::is_finite), "{machine}, {what}: {:?}", fitted.report);
            Some(fitted)
        }
        Err(error) => {
            let text = error.to_string();
            assert!(text.contains(machine) && text.len() > machine.len() + 10, "{what}: {text}");
            None
        }
    }
}
