//! Watching long work: a progress bar on a terminal, Ctrl-C, and the time limit.

use crate::failure::Failure;
use clap::ArgMatches;
use indicatif::{ProgressBar, ProgressStyle};
use mercer::model::Model;
use mercer::solvers::{Monitor, Progress, Status, Stop};
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::{Duration, Instant};

/// Set by Ctrl-C.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// What the work in hand has to keep: Ctrl-C waits only for a result that is not yet saved.
static KEEPS: AtomicU8 = AtomicU8::new(NOTHING);
const NOTHING: u8 = 0;
const A_RESULT: u8 = 1;
const SAVED: u8 = 2;

/// Whether failures are told in JSON.
static JSON: AtomicBool = AtomicBool::new(false);

/// How long Ctrl-C waits for work that has nothing to keep.
const PATIENCE: Duration = Duration::from_millis(40);

/// Work that ends in good order at any step: solvers that always have a solution, and the writing of a file.
const ORDERLY: [&str; 3] = ["smo", "conjugate gradients", "gram"];

/// Ctrl-C: work that has something to keep ends at its next step; other work ends at once.
fn interrupt() {
    if INTERRUPTED.swap(true, Ordering::SeqCst) {
        std::process::exit(130);
    }
    std::thread::sleep(PATIENCE);
    let message = match KEEPS.load(Ordering::SeqCst) {
        NOTHING => "interrupted before there was a result to keep",
        SAVED => "interrupted after the model was saved",
        _ => return,
    };
    let _ = Failure { message: message.to_owned(), code: 130 }.tell(JSON.load(Ordering::SeqCst));
    std::process::exit(130);
}

/// Saves a result; Ctrl-C waits until it is whole.
pub(crate) fn save(model: &Model, path: &Path) -> Result<(), Failure> {
    KEEPS.store(A_RESULT, Ordering::SeqCst);
    model.save(path)?;
    KEEPS.store(if model.fitted.proof.status == Status::Interrupted { A_RESULT } else { SAVED }, Ordering::SeqCst);
    Ok(())
}

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
        JSON.store(flags.get_flag("json"), Ordering::SeqCst);
        let _ = ctrlc::set_handler(interrupt);
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
        if let Some(bar) = self.bar.lock().ok().and_then(|mut place| place.take()) {
            bar.finish_and_clear();
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
        KEEPS.store(if ORDERLY.contains(&progress.phase) { A_RESULT } else { NOTHING }, Ordering::SeqCst);
        if INTERRUPTED.load(Ordering::SeqCst) {
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
