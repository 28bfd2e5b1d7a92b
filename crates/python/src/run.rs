//! Long work on a thread of its own: the calling thread holds the interpreter only to answer Ctrl-C and to call back.

use mercer::solvers::{Monitor, Progress, Stop};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// How often the interpreter is asked for signals.
const PATIENCE: Duration = Duration::from_millis(20);

/// What the work tells, and whether it is to stop.
pub(crate) struct Watch {
    stop: AtomicBool,
    deadline: Option<Instant>,
    last: Mutex<Option<Progress>>,
}

impl Monitor for Watch {
    fn step(&self, progress: &Progress) -> ControlFlow<Stop> {
        if let Ok(mut last) = self.last.try_lock() {
            *last = Some(*progress);
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

/// Runs work without the interpreter. A signal, or an exception of the callback, stops it and is raised; `callback` gets
/// (phase, done, total, gap) every few hundredths of a second.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    threads: usize,
    max_seconds: Option<f64>,
    callback: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Watch) -> T + Send,
) -> PyResult<T> {
    let deadline = max_seconds.filter(|s| s.is_finite()).map(|s| Instant::now() + Duration::from_secs_f64(s.max(0.0)));
    let watch = Watch { stop: AtomicBool::new(false), deadline, last: Mutex::new(None) };
    let (done, wait) = sync_channel(1);
    // shared with nobody, but only a lock may go along while the interpreter is left alone
    let wait = Mutex::new(wait);
    let mut raised = None;
    let answer = std::thread::scope(|scope| {
        let watch = &watch;
        scope.spawn(move || {
            let answer = match pool(threads) {
                Some(pool) => pool.install(|| work(watch)),
                None => work(watch),
            };
            let _ = done.send(answer);
        });
        loop {
            let heard =
                py.detach(|| wait.lock().map_or(Err(RecvTimeoutError::Disconnected), |w| w.recv_timeout(PATIENCE)));
            match heard {
                Ok(answer) => return Some(answer),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if raised.is_some() {
                continue;
            }
            let told = py.check_signals().and_then(|()| {
                let last = watch.last.lock().ok().and_then(|mut last| last.take());
                match (callback, last) {
                    (Some(callback), Some(p)) => callback.call1((p.phase, p.done, p.total, p.gap)).map(drop),
                    _ => Ok(()),
                }
            });
            if let Err(error) = told {
                raised = Some(error);
                watch.stop.store(true, Ordering::Relaxed);
            }
        }
    });
    match (raised, answer) {
        (Some(error), _) => Err(error),
        (None, Some(answer)) => Ok(answer),
        (None, None) => Err(pyo3::exceptions::PyRuntimeError::new_err("the computation broke down")),
    }
}
