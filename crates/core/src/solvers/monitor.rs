//! Watching and ending long work.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::ControlFlow;

/// How a computation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The stopping rule holds.
    Converged,
    /// The iteration limit came first.
    IterationLimit,
    /// The time limit came first.
    TimeLimit,
    /// Somebody stopped it.
    Interrupted,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Converged => "converged",
            Self::IterationLimit => "iteration_limit",
            Self::TimeLimit => "time_limit",
            Self::Interrupted => "interrupted",
        })
    }
}

/// Why a monitor ends a computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Somebody asked for it.
    Interrupted,
    /// The time is spent.
    TimeLimit,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Status::from(*self).fmt(f)
    }
}

impl From<Stop> for Status {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Interrupted => Self::Interrupted,
            Stop::TimeLimit => Self::TimeLimit,
        }
    }
}

/// Where a computation stands.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// What is being done, in a word or two.
    pub phase: &'static str,
    /// Steps done.
    pub done: usize,
    /// Steps in all, where that is known.
    pub total: Option<usize>,
    /// The present violation or residual, where there is one.
    pub gap: Option<f64>,
}

/// Sees the progress and may end the work. Shared between threads, so it takes `&self`.
pub trait Monitor: Sync {
    /// Called often (at least every few milliseconds of work); must be cheap.
    fn step(&self, progress: &Progress) -> ControlFlow<Stop>;
}

/// Watches nothing and never ends anything.
pub struct Silent;

impl Monitor for Silent {
    fn step(&self, _: &Progress) -> ControlFlow<Stop> {
        ControlFlow::Continue(())
    }
}
