//! The course of a long experiment: all its fits are one row of steps, whatever each of them reports.

use mercer::watch::{Monitor, Phase, Progress, Stop};
use mercer_terminal::Watch;
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The step of trials between two fits.
const BETWEEN: Phase = Phase::CROSS_VALIDATION;

/// Counts the fits of an experiment.
pub(super) struct Course<'a> {
    watch: &'a Watch,
    phase: Phase,
    done: AtomicUsize,
    total: usize,
}

impl<'a> Course<'a> {
    /// An experiment of so many fits.
    pub(super) fn new(watch: &'a Watch, phase: Phase, total: usize) -> Self {
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
        self.watch.step(&Progress::new(self.phase, done).of(self.total))
    }
}
