//! Watching long work: a progress bar on a terminal, Ctrl-C, and the time limit.

use crate::failure::Failure;
use crate::signals;
use clap::ArgMatches;
use indicatif::{ProgressBar, ProgressStyle};
use mercer::linalg::SolveError;
use mercer::machines::Fact;
use mercer::model::Model;
use mercer::watch::{Monitor, Progress, Sign, Status, Stop, under};
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Set by a request to end.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The state of the work in hand: Ctrl-C waits only for a result that is not yet saved.
static KEEPS: AtomicU8 = AtomicU8::new(NOTHING_TO_KEEP);
const NOTHING_TO_KEEP: u8 = 0;
const RESULT_TO_KEEP: u8 = 1;
const RESULT_SAVED: u8 = 2;

/// True if failures are told in JSON.
static JSON: AtomicBool = AtomicBool::new(false);

/// Time that Ctrl-C waits for work that has nothing to keep.
const INTERRUPT_WAIT: Duration = Duration::from_millis(40);

/// Time in which standard output must take the last words.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Listens to Ctrl-C and its like from now on, whatever the verb; `json` says whether failures are told in JSON. To be called
/// before other threads are started.
pub fn listen(json: bool) {
    JSON.store(json, Ordering::SeqCst);
    signals::watch(interrupt);
}

/// A request to end: work that has something to keep ends at its next step; other work, and after a second request all work,
/// ends at once, and nothing half-written stays.
fn interrupt() {
    if INTERRUPTED.swap(true, Ordering::SeqCst) {
        mercer::write::abandon();
        std::process::exit(i32::from(signals::exit_code()));
    }
    std::thread::sleep(INTERRUPT_WAIT);
    let message = match KEEPS.load(Ordering::SeqCst) {
        NOTHING_TO_KEEP => "interrupted before there was a result to keep",
        RESULT_SAVED => "interrupted after the model was saved",
        _ => return,
    };
    mercer::write::abandon();
    // whoever prints when nobody reads holds standard output for ever
    let (told, heard) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let _ = Failure { message: message.to_owned(), code: Failure::INTERRUPTED }.tell(JSON.load(Ordering::SeqCst));
        told.send(())
    });
    let _ = heard.recv_timeout(LAST_WORDS);
    std::process::exit(i32::from(signals::exit_code()));
}

/// Saves a result, and says where; Ctrl-C waits until it is whole. What an interrupted run found does not replace an older model, nor what
/// a time limit has cut short a finished one: it is saved beside it.
pub fn save(model: &Model, path: &Path) -> Result<PathBuf, Failure> {
    KEEPS.store(RESULT_TO_KEEP, Ordering::SeqCst);
    let interrupted = model.fitted().report.status == Status::Interrupted;
    let place = match path.is_file() {
        true if interrupted => beside(path, "interrupted"),
        true if is_cut_short(model) && Model::load(path).is_ok_and(|older| !is_cut_short(&older)) => {
            beside(path, "unfinished")
        }
        _ => path.to_owned(),
    };
    model.save(&place)?;
    KEEPS.store(if interrupted { RESULT_TO_KEEP } else { RESULT_SAVED }, Ordering::SeqCst);
    Ok(place)
}

/// True for a fit that ended before its time, or before the probabilities or regions that it was to learn.
fn is_cut_short(model: &Model) -> bool {
    let report = &model.fitted().report;
    let lacks = [Fact::CalibrationCutShort, Fact::ConformalCutShort].into_iter().any(|f| report.fact(f).is_some());
    lacks || matches!(report.status, Status::TimeLimit | Status::Interrupted)
}

/// A name beside an older model that nothing has yet, be it a file that is read or a link: `m.interrupted.mercer` for `m.mercer`, then
/// `m.interrupted-2.mercer`.
fn beside(path: &Path, why: &str) -> PathBuf {
    let named = |number: usize| {
        let mut name = path.file_stem().unwrap_or_default().to_owned();
        name.push(".");
        name.push(why);
        if number > 1 {
            name.push(format!("-{number}"));
        }
        if let Some(extension) = path.extension() {
            name.push(".");
            name.push(extension);
        }
        path.with_file_name(name)
    };
    let mut number = 1;
    while named(number).symlink_metadata().is_ok() {
        number += 1;
    }
    named(number)
}

/// Watches one verb.
pub struct Watch {
    start: Instant,
    limit: Option<Duration>,
    /// True if every step of the work leaves something to keep.
    keeps_all: bool,
    display: Arc<Display>,
    sign: Sign,
}

/// Progress on a terminal, by a thread of its own: work that takes no steps is seen to be alive, too.
#[derive(Default)]
struct Display {
    latest: Mutex<Option<Progress>>,
    done: AtomicBool,
}

impl Watch {
    /// Starts watching: Ctrl-C ends the work at the next step, a second one at once.
    pub fn new(flags: &ArgMatches) -> Self {
        let limit = flags.try_get_one::<f64>("max-seconds").ok().flatten().copied();
        let display = Arc::new(Display::default());
        if std::io::stderr().is_terminal() {
            let shown = Arc::clone(&display);
            std::thread::spawn(move || shown.run());
        }
        let start = Instant::now();
        let limit = limit.map(|s| Duration::from_secs_f64(s.clamp(0.0, 1e9)));
        let sign = Sign::new(move || stop(start, limit));
        Self { start, limit, keeps_all: false, display, sign }
    }

    /// The same for work whose result so far is always worth keeping.
    pub fn keeping_all(self) -> Self {
        Self { keeps_all: true, ..self }
    }

    /// Does work that can be stopped inside a single kernel value; what came of values that were given up is an error.
    ///
    /// # Errors
    /// Those of the work, or that it was stopped.
    pub fn heeded<R, E: Into<Failure>>(&self, work: impl FnOnce() -> Result<R, E>) -> Result<R, Failure> {
        let result = under(&self.sign, work);
        self.sign.whole().map_err(|stop| mercer::Error::from(SolveError::from(stop)))?;
        result.map_err(Into::into)
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.display.done.store(true, Ordering::SeqCst);
        // the thread clears its line before the report is printed
        if std::io::stderr().is_terminal() {
            std::thread::sleep(Display::FRAME_TIME);
        }
    }
}

impl Display {
    /// Time between two pictures of the bar.
    const FRAME_TIME: Duration = Duration::from_millis(60);

    /// Shows a bar from the first second on until the work is done.
    fn run(&self) {
        let start = Instant::now();
        let mut bar: Option<ProgressBar> = None;
        while !self.done.load(Ordering::SeqCst) {
            std::thread::sleep(Self::FRAME_TIME / 2);
            if start.elapsed() < Duration::from_secs(1) {
                continue;
            }
            let latest = self.latest.lock().ok().and_then(|latest| *latest);
            let total = latest.and_then(|p| p.total).map(|t| t as u64);
            if let Some(old) = bar.take_if(|bar| bar.length() != total) {
                old.finish_and_clear();
            }
            let bar = bar.get_or_insert_with(|| new_bar(total, start.elapsed()));
            match latest {
                Some(p) if p.total.is_some() => {
                    bar.set_message(p.phase.name());
                    bar.set_position(p.done as u64);
                }
                Some(p) => {
                    let steps = if p.done > 0 { format!(": {} steps", p.done) } else { String::new() };
                    let gap = p.gap.map(|g| format!(", violation {g:.2e}")).unwrap_or_default();
                    bar.set_message(format!("{}{steps}{gap}", p.phase));
                }
                None => bar.set_message("reading"),
            }
            bar.tick();
        }
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
    }
}

/// A bar for a known number of steps, a spinner for an unknown one.
fn new_bar(total: Option<u64>, elapsed: Duration) -> ProgressBar {
    let (bar, style) = match total {
        Some(total) => (ProgressBar::new(total), "{msg} {bar:40} {pos}/{len} {elapsed} left {eta}"),
        None => (ProgressBar::new_spinner(), "{spinner} {msg} {elapsed}"),
    };
    if let Ok(style) = ProgressStyle::with_template(style) {
        bar.set_style(style);
    }
    bar.with_elapsed(elapsed)
}

/// True if work that began then is to stop.
fn stop(start: Instant, limit: Option<Duration>) -> Option<Stop> {
    if INTERRUPTED.load(Ordering::SeqCst) {
        return Some(Stop::Interrupted);
    }
    limit.filter(|limit| start.elapsed() >= *limit).map(|_| Stop::TimeLimit)
}

impl Monitor for Watch {
    fn sign(&self) -> Sign {
        self.sign.clone()
    }

    fn step(&self, progress: &Progress) -> ControlFlow<Stop> {
        let keeps = self.keeps_all || progress.phase.keeps_result();
        KEEPS.store(if keeps { RESULT_TO_KEEP } else { NOTHING_TO_KEEP }, Ordering::SeqCst);
        if let Some(stop) = stop(self.start, self.limit) {
            return ControlFlow::Break(stop);
        }
        // another thread is writing: nothing is lost by leaving this step out
        if let Ok(mut latest) = self.display.latest.try_lock() {
            let inside = self.keeps_all && progress.total.is_none() && latest.is_some_and(|p| p.total.is_some());
            if !inside {
                *latest = Some(*progress);
            }
        }
        ControlFlow::Continue(())
    }
}
