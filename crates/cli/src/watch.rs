//! Watching long work: a progress bar on a terminal, Ctrl-C, and the time limit.

use clap::ArgMatches;
use indicatif::{ProgressBar, ProgressStyle};
use mercer::solvers::{Monitor, Progress, Stop};
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Set by Ctrl-C.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Watches one verb.
pub(crate) struct Watch {
    start: Instant,
    limit: Option<Duration>,
    bar: Mutex<Option<ProgressBar>>,
    shows: bool,
}

impl Watch {
    /// Starts watching; Ctrl-C from now on ends the work at the next step, a second one at once.
    pub(crate) fn new(flags: &ArgMatches) -> Self {
        let _ = ctrlc::set_handler(|| {
            if INTERRUPTED.swap(true, Ordering::SeqCst) {
                std::process::exit(130);
            }
        });
        let limit = flags.try_get_one::<f64>("max-seconds").ok().flatten().copied();
        Self {
            start: Instant::now(),
            limit: limit.map(|s| Duration::from_secs_f64(s.clamp(0.0, 1e9))),
            bar: Mutex::new(None),
            shows: std::io::stderr().is_terminal(),
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        if let Ok(mut bar) = self.bar.lock() {
            if let Some(bar) = bar.take() {
                bar.finish_and_clear();
            }
        }
    }

    fn show(&self, progress: &Progress) {
        // another thread is showing: nothing is lost by leaving this step out
        let Ok(mut place) = self.bar.try_lock() else { return };
        let bar = place.get_or_insert_with(|| {
            let bar = match progress.total {
                Some(total) => ProgressBar::new(total as u64),
                None => ProgressBar::new_spinner(),
            };
            let style = match progress.total {
                Some(_) => "{msg} {bar:40} {pos}/{len} {elapsed} left {eta}",
                None => "{spinner} {msg} {elapsed}",
            };
            if let Ok(style) = ProgressStyle::with_template(style) {
                bar.set_style(style);
            }
            bar
        });
        let gap = progress.gap.map(|g| format!(", violation {g:.2e}")).unwrap_or_default();
        match bar.length() {
            Some(total) if progress.total == Some(total as usize) => {
                bar.set_message(progress.phase);
                bar.set_position(progress.done as u64);
            }
            Some(_) => {}
            None => {
                bar.set_message(format!("{}: {} steps{gap}", progress.phase, progress.done));
                bar.tick();
            }
        }
    }
}

impl Monitor for Watch {
    fn step(&self, progress: &Progress) -> ControlFlow<Stop> {
        if INTERRUPTED.load(Ordering::Relaxed) {
            return ControlFlow::Break(Stop::Interrupted);
        }
        let elapsed = self.start.elapsed();
        if self.limit.is_some_and(|limit| elapsed >= limit) {
            return ControlFlow::Break(Stop::TimeLimit);
        }
        if self.shows && elapsed > Duration::from_secs(1) {
            self.show(progress);
        }
        ControlFlow::Continue(())
    }
}
