//! Watching long work and ending it: what every solver, machine and test tells about its progress, and hears in return.
//!
//! Work names its [`Phase`] where the work stands, tells a [`Monitor`] how far it came ([`Progress`]), and ends where
//! [`Monitor::alive`] says so ([`Stop`]). How a computation ended is its [`Status`].

mod sign;

pub use sign::{Sign, present, under};

pub(crate) use sign::given_up;

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::ControlFlow;

/// The status at the end of a computation, the better ones first: the status of several computations together is the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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

/// A part of a computation, by the name that progress bars and callbacks show.
///
/// A solver or machine declares the phases of its own beside its code, `const DENSITIES: Phase = Phase::new("densities")`;
/// those that several of them have are constants here. Phases are the same if their names are.
///
/// A phase may be ended at any step ([`Monitor::alive`]). In most phases there is no result yet, so that ending it loses all the
/// work; a phase that [keeps its result](Phase::keeps_result) has one at each step.
#[derive(Clone, Copy, Debug)]
pub struct Phase {
    name: &'static str,
    keeps_result: bool,
}

impl Phase {
    /// Learning how scores become probabilities, for a model that is there already.
    pub const CALIBRATION: Self = Self::keeping("calibration");
    /// Finding out how far predictions are off, for a model that is there already.
    pub const CONFORMAL: Self = Self::new("conformal");
    /// Steps of conjugate gradients.
    pub const CONJUGATE_GRADIENTS: Self = Self::keeping("conjugate gradients");
    /// Learning again without each fold in turn.
    pub const CROSS_VALIDATION: Self = Self::new("cross-validation");
    /// Factorising a matrix.
    pub const FACTORISATION: Self = Self::new("factorisation");
    /// Computing all kernel values.
    pub const KERNEL_MATRIX: Self = Self::new("kernel matrix");
    /// Learning again without each example in turn.
    pub const LEAVE_ONE_OUT: Self = Self::new("leave-one-out");

    /// A phase without a result before its end.
    pub const fn new(name: &'static str) -> Self {
        Self { name, keeps_result: false }
    }

    /// A phase that has a result worth keeping at every step.
    pub const fn keeping(name: &'static str) -> Self {
        Self { name, keeps_result: true }
    }

    /// The name in a word or two, as it is shown.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// True if the work ends in good order at any step: it has a result so far, or one that was there before it began. Who
    /// wants to end it waits for its next step; other work can be broken off, since nothing would be kept.
    pub const fn keeps_result(self) -> bool {
        self.keeps_result
    }
}

impl PartialEq for Phase {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Phase {}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The progress of a computation.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The phase of the work.
    pub phase: Phase,
    /// Steps done.
    pub done: usize,
    /// Steps in all, where that is known.
    pub total: Option<usize>,
    /// The present violation or residual, where there is one.
    pub gap: Option<f64>,
}

impl Progress {
    /// Some steps of a phase are done; how many there will be is not known.
    pub const fn new(phase: Phase, done: usize) -> Self {
        Self { phase, done, total: None, gap: None }
    }

    /// The same, out of so many steps in all.
    #[must_use]
    pub const fn of(self, total: usize) -> Self {
        Self { total: Some(total), ..self }
    }

    /// The same, with the present violation or residual.
    #[must_use]
    pub const fn gap(self, gap: f64) -> Self {
        Self { gap: Some(gap), ..self }
    }
}

impl From<Phase> for Progress {
    /// The phase begins.
    fn from(phase: Phase) -> Self {
        Self::new(phase, 0)
    }
}

/// Sees the progress and may end the work. Shared between threads, so it takes `&self`.
pub trait Monitor: Sync {
    /// Called often (at least every few milliseconds of work); must be cheap.
    fn step(&self, progress: &Progress) -> ControlFlow<Stop>;

    /// The sign that long computations look at between two steps; none unless the monitor has one.
    fn sign(&self) -> Sign {
        Sign::default()
    }

    /// Tells the progress; an error says that the work is to end, and why.
    ///
    /// # Errors
    /// If the monitor ends the work.
    fn alive(&self, progress: Progress) -> Result<(), Stop> {
        match self.step(&progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(stop) => Err(stop),
        }
    }
}

/// Watches nothing and never ends anything.
pub struct Silent;

impl Monitor for Silent {
    fn step(&self, _: &Progress) -> ControlFlow<Stop> {
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ends the work at a given number of steps, and wants to see them counted.
    struct Until(usize);

    impl Monitor for Until {
        fn step(&self, progress: &Progress) -> ControlFlow<Stop> {
            if progress.done >= self.0 { ControlFlow::Break(Stop::TimeLimit) } else { ControlFlow::Continue(()) }
        }
    }

    #[test]
    fn work_lives_until_the_monitor_ends_it() {
        let phase = Phase::new("counting");
        let steps = (0..10).take_while(|&done| Until(4).alive(Progress::new(phase, done).of(10)).is_ok()).count();
        assert_eq!(steps, 4);
        assert_eq!(Until(0).alive(phase.into()), Err(Stop::TimeLimit));
        assert_eq!(Silent.alive(phase.into()), Ok(()));
    }

    #[test]
    fn the_worst_end_is_the_largest() {
        let ends = [Status::TimeLimit, Status::Converged, Status::IterationLimit];
        assert_eq!(ends.into_iter().max(), Some(Status::TimeLimit));
        assert!(Status::Interrupted > Status::TimeLimit && Status::IterationLimit > Status::Converged);
    }

    #[test]
    fn a_phase_is_its_name() {
        assert_eq!(Phase::new("calibration"), Phase::CALIBRATION);
        assert_ne!(Phase::CONFORMAL, Phase::CALIBRATION);
        assert!(Phase::CALIBRATION.keeps_result() && !Phase::CONFORMAL.keeps_result());
        assert_eq!(Phase::KERNEL_MATRIX.to_string(), "kernel matrix");
    }
}
