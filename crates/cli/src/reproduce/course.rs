//! The course of a long experiment: all its fits are one row of steps, whatever each of them reports.

use crate::watch::Watch;
use mercer::solvers::{Monitor, Progress, Stop};
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What trials call the step between two fits.
const BETWEEN: &str = "cross-validation";

/// Counts the fits of an experiment.
pub(super) struct Course<'a> {
    watch: &'a Watch,
    phase: &'static str,
    done: AtomicUsize,
    total: usize,
}

impl<'a> Course<'a> {
    /// An experiment of so many fits.
    pub(super) fn new(watch: &'a Watch, phase: &'static str, total: usize) -> Self {
        Self { watch, phase, done: AtomicUsize::new(0), total }
    }

    /// Says a sentence on standard error, unless a bar is there.
    pub(super) fn say(&self, sentence: &str) {
        if !std::io::stderr().is_terminal() {
            eprintln!("{sentence} ({} of {} fits)", self.done.load(Ordering::Relaxed), self.total);
        }
    }
}

impl Monitor for Course<'_> {
    fn step(&self, progress: &Progress) -> ControlFlow<Stop> {
        let done = if progress.phase == BETWEEN {
            self.done.fetch_add(1, Ordering::Relaxed)
        } else {
            self.done.load(Ordering::Relaxed)
        };
        self.watch.step(&Progress { phase: self.phase, done, total: Some(self.total), gap: None })
    }
}
