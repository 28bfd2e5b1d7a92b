//! A sign to stop that is seen inside a single kernel value.
//!
//! A [`Monitor`](super::Monitor) is asked between steps, and a step takes a row of kernel values; between long strings one value takes
//! seconds. So work is done [`under`] the sign of its monitor: matrices that are made there keep it, and long computations look at it
//! ([`given_up`]). A value that is given up is not a number, and the sign remembers that there was one ([`Sign::broken`]).

use super::Stop;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Says whether work is to stop, on any thread and at any time; cheap to copy. Without a question it never does.
#[derive(Clone, Default)]
pub struct Sign(Option<Arc<Board>>);

struct Board {
    ask: Box<dyn Fn() -> Option<Stop> + Send + Sync>,
    /// 0, or why a value was given up.
    broken: AtomicU8,
}

const INTERRUPTED: u8 = 1;
const TIME_LIMIT: u8 = 2;

impl std::fmt::Debug for Sign {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Sign({:?})", self.broken())
    }
}

impl Sign {
    /// The sign that a question answers; once it has said stop, it must go on saying so.
    pub fn new(ask: impl Fn() -> Option<Stop> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(Board { ask: Box::new(ask), broken: AtomicU8::new(0) })))
    }

    /// True if it can say stop at all.
    pub fn is_set(&self) -> bool {
        self.0.is_some()
    }

    /// True if the present value is to be given up; that there was one is remembered.
    pub fn give_up(&self) -> bool {
        let Some(board) = &self.0 else { return false };
        match (board.ask)() {
            None => false,
            Some(stop) => {
                board.broken.store(if stop == Stop::Interrupted { INTERRUPTED } else { TIME_LIMIT }, Ordering::Release);
                true
            }
        }
    }

    /// Why a value was given up, if one was.
    pub fn broken(&self) -> Option<Stop> {
        match self.0.as_ref()?.broken.load(Ordering::Acquire) {
            0 => None,
            INTERRUPTED => Some(Stop::Interrupted),
            _ => Some(Stop::TimeLimit),
        }
    }

    /// Refuses a result that values which were given up may be part of.
    ///
    /// # Errors
    /// If a value was given up.
    pub fn whole(&self) -> Result<(), Stop> {
        self.broken().map_or(Ok(()), Err)
    }
}

thread_local! {
    static PRESENT: RefCell<Sign> = const { RefCell::new(Sign(None)) };
}

/// Puts the sign before back, however the work ends.
struct Back(Sign);

impl Drop for Back {
    fn drop(&mut self) {
        PRESENT.with(|present| present.replace(std::mem::take(&mut self.0)));
    }
}

/// Does work that looks at a sign.
pub fn under<R>(sign: &Sign, work: impl FnOnce() -> R) -> R {
    let _back = Back(PRESENT.with(|present| present.replace(sign.clone())));
    work()
}

/// The sign that the present thread works under.
pub fn present() -> Sign {
    PRESENT.with(|present| present.borrow().clone())
}

/// True if the value that the present thread computes is to be given up. Asked some thousand times a second at most.
pub(crate) fn given_up() -> bool {
    PRESENT.with(|present| present.borrow().give_up())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn work_under_a_sign_hears_it_and_other_work_does_not() {
        let asked = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&asked);
        let sign = Sign::new(move || flag.load(Ordering::Relaxed).then_some(Stop::TimeLimit));
        assert!(!under(&sign, given_up) && sign.whole().is_ok());
        asked.store(true, Ordering::Relaxed);
        assert!(!given_up() && !under(&Sign::default(), given_up) && sign.whole().is_ok());
        assert!(under(&sign, || given_up() && under(&sign, given_up) && given_up()));
        assert_eq!(sign.whole(), Err(Stop::TimeLimit));
        assert!(!present().is_set());
    }
}
