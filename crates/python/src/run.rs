//! Long work without the interpreter, which is only held to answer Ctrl-C and to call back.
//!
//! Work goes to a pool of threads while the calling thread waits; small work of the main thread stays where it is, since
//! waking another thread takes longer than doing it.

use mercer::watch::{Monitor, Progress, Stop};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

/// Time between two looks at the signals of the interpreter.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(20);
/// Largest number of kernel values that are computed on the main thread.
const MAX_KERNEL_VALUES_ON_MAIN_THREAD: usize = 100_000;

/// What the work tells, and whether it is to stop.
pub(crate) struct Watch<'a> {
    stop: AtomicBool,
    deadline: Option<Instant>,
    last: Mutex<Option<Progress>>,
    /// Set where the work runs on the calling thread and has to ask the interpreter itself.
    own: Option<Own<'a>>,
}

/// What a thread that does the work itself asks the interpreter.
struct Own<'a> {
    asked: Mutex<Instant>,
    callback: Option<&'a Py<PyAny>>,
    raised: Mutex<Option<PyErr>>,
}

impl Monitor for Watch<'_> {
    fn step(&self, progress: &Progress) -> ControlFlow<Stop> {
        match &self.own {
            Some(own) => self.ask(own, progress),
            None => {
                if let Ok(mut last) = self.last.try_lock() {
                    *last = Some(*progress);
                }
            }
        }
        if self.stop.load(Ordering::Relaxed) {
            return ControlFlow::Break(Stop::Interrupted);
        }
        match self.deadline {
            Some(deadline) if Instant::now() > deadline => ControlFlow::Break(Stop::TimeLimit),
            _ => ControlFlow::Continue(()),
        }
    }
}

impl Watch<'_> {
    /// Answers signals and calls back from within the work, every few hundredths of a second.
    fn ask(&self, own: &Own<'_>, progress: &Progress) {
        let Ok(mut asked) = own.asked.try_lock() else { return };
        if asked.elapsed() < SIGNAL_INTERVAL {
            return;
        }
        *asked = Instant::now();
        let told = Python::attach(|py| answer(py, own.callback.map(|c| c.bind(py)), Some(*progress)));
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

/// Threads are made once for each number of them.
fn pool(threads: usize) -> Option<Arc<ThreadPool>> {
    static POOLS: OnceLock<Mutex<HashMap<usize, Arc<ThreadPool>>>> = OnceLock::new();
    let mut pools = POOLS.get_or_init(Mutex::default).lock().ok()?;
    if let Some(known) = pools.get(&threads) {
        return Some(Arc::clone(known));
    }
    let new = Arc::new(ThreadPoolBuilder::new().num_threads(threads).build().ok()?);
    pools.insert(threads, Arc::clone(&new));
    Some(new)
}

/// The thread that imported the module: the only one on which signals are handled, as a rule.
static HOME: OnceLock<ThreadId> = OnceLock::new();

/// Remembers the importing thread.
pub(crate) fn remember_home() {
    HOME.get_or_init(|| std::thread::current().id());
}

thread_local! {
    // made on the importing thread alone: such a pool is never given back
    static OWN: OnceCell<Option<ThreadPool>> = const { OnceCell::new() };
}

/// Runs work without the interpreter. A signal, or an exception of the callback, stops it and is raised; `callback` gets
/// (phase, done, total, violation) every few hundredths of a second. `size` is the number of kernel values in question.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    (threads, size): (usize, usize),
    max_seconds: Option<f64>,
    callback: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Watch<'_>) -> T + Send,
) -> PyResult<T> {
    let deadline = max_seconds.filter(|s| s.is_finite()).map(|s| Instant::now() + Duration::from_secs_f64(s.max(0.0)));
    let callback = callback.map(|c| c.clone().unbind());
    if size <= MAX_KERNEL_VALUES_ON_MAIN_THREAD && HOME.get() == Some(&std::thread::current().id()) {
        let own = Own { asked: Mutex::new(Instant::now()), callback: callback.as_ref(), raised: Mutex::new(None) };
        let watch = Watch { stop: AtomicBool::new(false), deadline, last: Mutex::new(None), own: Some(own) };
        let done = py.detach(|| here(&watch, work));
        let raised = watch.own.and_then(|own| own.raised.into_inner().ok().flatten());
        return raised.map_or(Ok(done), Err);
    }
    let watch = Watch { stop: AtomicBool::new(false), deadline, last: Mutex::new(None), own: None };
    elsewhere(py, threads, &watch, callback.as_ref(), work)
}

/// Does the work on this thread, and nothing of it on others.
fn here<T: Send>(watch: &Watch<'_>, work: impl FnOnce(&Watch<'_>) -> T + Send) -> T {
    OWN.with(|own| {
        let alone = || ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().ok();
        match own.get_or_init(alone) {
            Some(pool) => pool.install(|| work(watch)),
            None => work(watch),
        }
    })
}

/// Has the work done by a pool of threads, and waits.
fn elsewhere<T: Send>(
    py: Python<'_>,
    threads: usize,
    watch: &Watch<'_>,
    callback: Option<&Py<PyAny>>,
    work: impl FnOnce(&Watch<'_>) -> T + Send,
) -> PyResult<T> {
    let broken = || pyo3::exceptions::PyRuntimeError::new_err("the computation broke down");
    let pool = pool(threads).ok_or_else(broken)?;
    let (done, wait) = sync_channel(1);
    // shared with nobody, but only a lock may go along while the interpreter is left alone
    let wait = Mutex::new(wait);
    let mut raised = None;
    let finished = pool.in_place_scope(|scope| {
        scope.spawn(move |_| {
            let _ = done.send(work(watch));
        });
        loop {
            let heard = py.detach(|| {
                wait.lock().map_or(Err(RecvTimeoutError::Disconnected), |w| w.recv_timeout(SIGNAL_INTERVAL))
            });
            match heard {
                Ok(finished) => return Some(finished),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if raised.is_some() {
                continue;
            }
            let last = watch.last.lock().ok().and_then(|mut last| last.take());
            if let Err(error) = answer(py, callback.map(|c| c.bind(py)), last) {
                raised = Some(error);
                watch.stop.store(true, Ordering::Relaxed);
            }
        }
    });
    match (raised, finished) {
        (Some(error), _) => Err(error),
        (None, Some(finished)) => Ok(finished),
        (None, None) => Err(broken()),
    }
}
