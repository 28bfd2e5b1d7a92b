//! Requests to end: Ctrl-C, and on Unix SIGTERM and SIGHUP.
//!
//! On Unix the signals are blocked in every thread, and one thread waits for them: it may do what a signal handler may not,
//! and system calls of the others are not disturbed. A file that grows beyond the limit of the process is told as an error of
//! writing for the same reason.

use std::sync::atomic::{AtomicU8, Ordering};

/// The number of the signal that ended the program, 0 for none.
static RECEIVED: AtomicU8 = AtomicU8::new(0);

/// The number of SIGINT.
const SIGINT: u8 = 2;

/// The exit code of a program that a signal asked to end: 128 and the number of the signal.
pub(crate) fn exit_code() -> u8 {
    match RECEIVED.load(Ordering::SeqCst) {
        0 => 128 + SIGINT,
        number => 128 + number,
    }
}

/// Calls a function, in a thread of its own, for each request to end. To be called before other threads are started.
#[cfg(unix)]
pub(crate) fn watch(answer: fn()) {
    use nix::sys::signal::{SigSet, Signal};
    let ignored = ignored();
    let mut waited_for = SigSet::empty();
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        // what was ignored when the program was started stays so: that is how `nohup` works
        let known = ignored.map_or(signal != Signal::SIGHUP, |mask| mask >> (signal as u32 - 1) & 1 == 0);
        if known {
            waited_for.add(signal);
        }
    }
    if waited_for.thread_block().is_err() {
        return;
    }
    let mut size_limit = SigSet::empty();
    size_limit.add(Signal::SIGXFSZ);
    // without it the signal ends the program, as it does everywhere
    let _ = size_limit.thread_block();
    let waiting = std::thread::Builder::new().spawn(move || {
        while let Ok(signal) = waited_for.wait() {
            RECEIVED.store(signal as i32 as u8, Ordering::SeqCst);
            answer();
        }
    });
    if waiting.is_err() {
        let _ = waited_for.thread_unblock();
    }
}

/// Calls a function, in a thread of its own, for each request to end.
#[cfg(not(unix))]
pub(crate) fn watch(answer: fn()) {
    let _ = ctrlc::set_handler(move || {
        RECEIVED.store(SIGINT, Ordering::SeqCst);
        answer();
    });
}

/// The signals that this process was started to ignore, as bits; none where the system does not tell.
#[cfg(unix)]
fn ignored() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}
