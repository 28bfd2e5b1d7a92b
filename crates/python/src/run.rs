//! Long work without the interpreter, which is only held to answer Ctrl-C and to call back.
//!
//! Work goes to a pool of threads while the calling thread waits; small work of the main thread stays where it is, since
//! waking another thread takes longer than doing it.
//!
//! Threads do not survive a fork: the child has the one that forked, and whoever waits there for a thread of the parent
//! waits for ever. Pools therefore belong to a process, and rayon's global pool, which cannot be made anew, is never used:
//! whatever of the library computes goes through [`run`]. A panic becomes a `RuntimeError`.

use mercer::watch::{Monitor, Progress, Sign, Stop, under};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::any::Any;
use std::cell::{Cell, OnceCell};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Time between two looks at the signals of the interpreter.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(20);
/// Largest number of kernel values that are computed on the main thread.
const MAX_KERNEL_VALUES_ON_MAIN_THREAD: usize = 100_000;

/// Progress of the work, and whether it is to stop.
pub(crate) struct Watch {
    last: Mutex<Option<Progress>>,
    state: Arc<State>,
    sign: Sign,
}

/// The state that work asks for between two steps, and inside of long kernel values.
struct State {
    stop: AtomicBool,
    deadline: Option<Instant>,
    /// Set where the work runs on the calling thread and has to ask the interpreter itself.
    own: Option<Own>,
}

/// Signals and callbacks of a thread that does the work itself.
struct Own {
    asked: Mutex<Instant>,
    callback: Option<Py<PyAny>>,
    raised: Mutex<Option<PyErr>>,
}

impl Monitor for Watch {
    fn sign(&self) -> Sign {
        self.sign.clone()
    }

    fn step(&self, progress: &Progress) -> ControlFlow<Stop> {
        match &self.state.own {
            Some(own) => self.state.ask(own, Some(*progress)),
            None => {
                if let Ok(mut last) = self.last.try_lock() {
                    *last = Some(*progress);
                }
            }
        }
        self.state.said().map_or(ControlFlow::Continue(()), ControlFlow::Break)
    }
}

impl Watch {
    fn new(deadline: Option<Instant>, own: Option<Own>) -> Self {
        let state = Arc::new(State { stop: AtomicBool::new(false), deadline, own });
        let asked = Arc::clone(&state);
        let sign = Sign::new(move || {
            if let Some(own) = &asked.own {
                asked.ask(own, None);
            }
            asked.said()
        });
        Self { last: Mutex::new(None), state, sign }
    }
}

impl State {
    /// The reason to stop the work, if there is one.
    fn said(&self) -> Option<Stop> {
        if self.stop.load(Ordering::Relaxed) {
            return Some(Stop::Interrupted);
        }
        self.deadline.filter(|deadline| Instant::now() > *deadline).map(|_| Stop::TimeLimit)
    }

    /// Answers signals and calls back from within the work, every few hundredths of a second.
    fn ask(&self, own: &Own, progress: Option<Progress>) {
        let Ok(mut asked) = own.asked.try_lock() else { return };
        if asked.elapsed() < SIGNAL_INTERVAL {
            return;
        }
        *asked = Instant::now();
        let told = Python::attach(|py| answer(py, own.callback.as_ref().map(|c| c.bind(py)), progress));
        if let (Err(error), Ok(mut raised)) = (told, own.raised.lock()) {
            *raised = Some(error);
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

/// Lets the interpreter handle signals, and tells the callback where the work stands.
fn answer(py: Python<'_>, callback: Option<&Bound<'_, PyAny>>, last: Option<Progress>) -> PyResult<()> {
    py.check_signals()?;
    match (callback, last) {
        (Some(callback), Some(p)) => callback.call1((p.phase.name(), p.done, p.total, p.gap)).map(drop),
        _ => Ok(()),
    }
}

/// A process: its number, and how many forks lie between it and the one that imported the module. Numbers of processes that
/// have ended are given again, so neither alone tells a child from all of its ancestors.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Process {
    id: u32,
    forks: u64,
}

/// Forks of which Python has told.
static FORKS: AtomicU64 = AtomicU64::new(0);

impl Process {
    fn present() -> Self {
        Self { id: std::process::id(), forks: FORKS.load(Ordering::Relaxed) }
    }
}

/// Threads are made once for each process and each number of them.
fn pool(threads: usize) -> Option<Arc<ThreadPool>> {
    // what an ancestor has made stays here: to give it back would mean to speak to its threads
    static POOLS: Mutex<BTreeMap<(Process, usize), Arc<ThreadPool>>> = Mutex::new(BTreeMap::new());
    let make = || {
        let named = ThreadPoolBuilder::new().num_threads(threads).thread_name(|k| format!("mercer-{k}"));
        named.build().ok().map(Arc::new)
    };
    // a lock that some thread held at a fork is never released in the child: such work gets a pool of its own
    let Ok(mut pools) = POOLS.try_lock() else { return make() };
    let place = (Process::present(), threads);
    if let Some(known) = pools.get(&place) {
        return Some(Arc::clone(known));
    }
    let new = make()?;
    pools.insert(place, Arc::clone(&new));
    Some(new)
}

thread_local! {
    // whether signals are handled on this thread: as a rule the one that imported the module, and after a fork the only one
    static HOME: Cell<bool> = const { Cell::new(false) };
    // made on such a thread alone: a pool like this is never given back
    static OWN: OnceCell<Option<ThreadPool>> = const { OnceCell::new() };
}

/// Remembers the importing thread, and has Python tell of forks.
pub(crate) fn remember_home(module: &Bound<'_, PyModule>) -> PyResult<()> {
    HOME.set(true);
    let os = module.py().import("os")?;
    // not on Windows, which has no forks
    if os.hasattr("register_at_fork")? {
        let told = PyDict::new(module.py());
        told.set_item("after_in_child", pyo3::wrap_pyfunction!(after_fork, module)?)?;
        os.call_method("register_at_fork", (), Some(&told))?;
    }
    Ok(())
}

/// Says that this is a new process, whose only thread is the present one.
#[pyfunction]
fn after_fork() {
    FORKS.fetch_add(1, Ordering::Relaxed);
    HOME.set(true);
}

/// Leaves a process that was forked by a callback or a signal handler in the middle of work on threads, which are those of
/// the parent: to return is impossible without them.
fn leave(py: Python<'_>) -> ! {
    eprintln!(
        "mercer: this process was forked within a callback, and its work is done by threads of the parent; end it with os._exit \
         or exec before the callback returns"
    );
    let _ = py.import("os").and_then(|os| os.call_method1("_exit", (70,)));
    std::process::abort()
}

/// The result of some work; a panic is an error, told in a sentence.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| broken(panic.as_ref()))
}

/// The exception for a panic.
fn broken(panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let finding = text.unwrap_or("no reason was given");
    PyRuntimeError::new_err(format!(
        "the computation broke down ({finding}): this is a fault of mercer, not of the data; please report it with the call that led here"
    ))
}

/// The exception where no thread can be started.
fn no_threads(threads: usize) -> PyErr {
    let wanted = if threads == 0 { "threads for the computation".to_owned() } else { format!("{threads} threads") };
    PyRuntimeError::new_err(format!(
        "{wanted} could not be started; ask for fewer with n_jobs, or raise the limit of the system"
    ))
}

/// Work that panics, for tests: `size` decides as in [`run`] where.
#[pyfunction]
#[allow(clippy::panic)] // what a fault in the library would look like is the matter here
pub(crate) fn break_down(py: Python<'_>, size: usize) -> PyResult<()> {
    run(py, (0, size), None, None, |_| std::panic::panic_any("asked for"))
}

/// The moment after so many seconds; `None` where no clock tells it, since no work lasts until then.
fn after(seconds: f64) -> Option<Instant> {
    Duration::try_from_secs_f64(seconds.max(0.0)).ok().and_then(|limit| Instant::now().checked_add(limit))
}

/// Runs work without the interpreter, under a sign that is seen inside of long kernel values. A signal, or an exception of the callback, stops it and is raised; `callback` gets
/// (phase, done, total, violation) every few hundredths of a second. `size` is the number of kernel values in question.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    (threads, size): (usize, usize),
    max_seconds: Option<f64>,
    callback: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Watch) -> T + Send,
) -> PyResult<T> {
    let work = |watch: &Watch| under(&watch.sign, || work(watch));
    let deadline = max_seconds.and_then(after);
    let callback = callback.map(|c| c.clone().unbind());
    if size <= MAX_KERNEL_VALUES_ON_MAIN_THREAD && HOME.get() {
        let own = Own { asked: Mutex::new(Instant::now()), callback, raised: Mutex::new(None) };
        let watch = Watch::new(deadline, Some(own));
        let done = py.detach(|| here(|| guarded(|| work(&watch))));
        // matrices may keep the sign, and with it the state, for longer
        let raised = watch.state.own.as_ref().and_then(|own| own.raised.lock().ok()?.take());
        return raised.map_or(done.unwrap_or_else(|| Err(no_threads(1))), Err);
    }
    let watch = Watch::new(deadline, None);
    elsewhere(py, threads, &watch, callback.as_ref(), work)
}

/// Does the work on this thread, and nothing of it on others; `None` where that cannot be.
fn here<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    OWN.with(|own| {
        let alone = || ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().ok();
        own.get_or_init(alone).as_ref().map(|pool| pool.install(work))
    })
}

/// Has the work done by a pool of threads, and waits.
fn elsewhere<T: Send>(
    py: Python<'_>,
    threads: usize,
    watch: &Watch,
    callback: Option<&Py<PyAny>>,
    work: impl FnOnce(&Watch) -> T + Send,
) -> PyResult<T> {
    let process = Process::present();
    let pool = pool(threads).ok_or_else(|| no_threads(threads))?;
    let (done, wait) = sync_channel(1);
    // shared with nobody, but only a lock may go along while the interpreter is left alone
    let wait = Mutex::new(wait);
    let mut raised = None;
    let finished = pool.in_place_scope(|scope| {
        scope.spawn(move |_| {
            let _ = done.send(guarded(|| work(watch)));
        });
        loop {
            let heard = py.detach(|| {
                wait.lock().map_or(Err(RecvTimeoutError::Disconnected), |w| w.recv_timeout(SIGNAL_INTERVAL))
            });
            match heard {
                Ok(finished) => return finished,
                Err(RecvTimeoutError::Disconnected) => return Err(broken(&"nothing was heard of the threads")),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if raised.is_some() {
                continue;
            }
            let last = watch.last.lock().ok().and_then(|mut last| last.take());
            let told = answer(py, callback.map(|c| c.bind(py)), last);
            if Process::present() != process {
                leave(py);
            }
            if let Err(error) = told {
                raised = Some(error);
                watch.state.stop.store(true, Ordering::Relaxed);
            }
        }
    });
    raised.map_or(finished, Err)
}
