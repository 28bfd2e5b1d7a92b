//! One input under observation: does the reader return, in time and within a bound of memory?

use crate::memory::most_held;
use crate::targets::Target;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// The outcome of an input in the hands of a reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// True if the input was read.
    pub accepted: bool,
    /// The outcome in words: two inputs of the same words, numbers and quotations left out, have taught the same.
    pub words: String,
}

/// The kind of failure of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// It panicked, or broke a law.
    Panic,
    /// It took a second for a KB, three times.
    Slow,
    /// It held more memory than the bound of its target.
    Large,
}

/// The observations of a trial.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The outcome; `None` after a panic.
    pub outcome: Option<Outcome>,
    /// The failure in words.
    pub fault: Option<(Fault, String)>,
    /// The time that it took.
    pub took: Duration,
    /// The most bytes that it held.
    pub held: usize,
}

thread_local! {
    static OBSERVED: Cell<bool> = const { Cell::new(false) };
    static SAID: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keeps what a panic of an observed input says, with its place, instead of printing it.
pub fn hear_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |about| {
        if OBSERVED.with(Cell::get) {
            SAID.with(|said| *said.borrow_mut() = about.to_string());
        } else {
            usual(about);
        }
    }));
}

/// The time that an input of so many bytes may take.
pub fn allowed(len: usize) -> Duration {
    Duration::from_millis((len as u64).max(1024) * 1000 / 1024)
}

/// Gives an input to a reader.
pub fn observe(target: &Target, name: &str, bytes: &[u8]) -> Seen {
    let once = || {
        SAID.with(|said| said.borrow_mut().clear());
        OBSERVED.with(|observed| observed.set(true));
        let start = Instant::now();
        let (outcome, held) = most_held(|| catch_unwind(AssertUnwindSafe(|| (target.run)(name, bytes))));
        OBSERVED.with(|observed| observed.set(false));
        (outcome, start.elapsed(), held.max(0) as usize)
    };
    let (outcome, mut took, held) = once();
    // another program may have had the processor: it is slow only if it is slow again
    for _ in 0..2 {
        if took > allowed(bytes.len()) {
            took = took.min(once().1);
        }
    }
    let outcome = outcome.map_err(|panic| {
        let said = SAID.with(|said| said.borrow().clone());
        let payload = panic.downcast_ref::<String>().cloned();
        let payload = payload.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
        if said.is_empty() { payload.unwrap_or_default() } else { said }
    });
    let most = (target.room)(bytes.len());
    let fault = match &outcome {
        Err(said) => Some((Fault::Panic, said.clone())),
        Ok(_) if took > allowed(bytes.len()) => Some((Fault::Slow, format!("{took:?}"))),
        Ok(_) if held > most => Some((Fault::Large, format!("{held} bytes held, of {most} allowed"))),
        Ok(_) => None,
    };
    Seen { outcome: outcome.ok(), fault, took, held }
}
