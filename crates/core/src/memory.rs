//! The memory budget: what may be stored, decided before anything is allocated.
//!
//! Whatever grows with the data, with a parameter or with a number in a file asks here first. A request that does not fit, or that
//! the system refuses, is a [`BudgetError`] with its sentence; an allocation that merely fails would end the process.

mod available;

use std::borrow::Cow;
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Smaller requests are granted without a question to the system, in bytes.
const SMALL: usize = 1 << 20;

/// Bytes of the budget where the system does not tell what is available.
const UNKNOWN: usize = 4 << 30;

/// The memory that large matrices and tables may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Bytes.
    pub memory: usize,
}

/// The memory budget forbids a computation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} needs {}, but {}; {remedy}", show_bytes(*needed), limit(*needed, *budget))]
pub struct BudgetError {
    /// The matrix, table or work that was to be stored.
    pub what: Cow<'static, str>,
    /// Bytes it needs.
    pub needed: usize,
    /// Bytes allowed.
    pub budget: usize,
    /// The remedy.
    pub remedy: Cow<'static, str>,
}

impl BudgetError {
    /// The same with another remedy.
    #[must_use]
    pub fn remedy(self, remedy: impl Into<Cow<'static, str>>) -> Self {
        Self { remedy: remedy.into(), ..self }
    }
}

/// The limit that a request has met: the budget, or the system within the budget.
fn limit(needed: usize, budget: usize) -> String {
    if needed > budget {
        format!("the memory budget is {}", show_bytes(budget))
    } else {
        "the system does not give so much to this process".to_owned()
    }
}

/// The budget of the whole process; zero while nobody has set it.
static WHOLE: AtomicUsize = AtomicUsize::new(0);

/// Sets the default budget of this process, as a command line does once before anything runs.
pub fn set_default(budget: Budget) {
    WHOLE.store(budget.memory.max(1), Ordering::Relaxed);
}

impl Default for Budget {
    /// The budget that was set for the process; else half of what the system, the process's control groups and its limits leave
    /// it; 4 GiB where that is unknown.
    fn default() -> Self {
        match WHOLE.load(Ordering::Relaxed) {
            0 => Self { memory: available::recently().map_or(UNKNOWN, |bytes| bytes / 2) },
            memory => Self { memory },
        }
    }
}

thread_local! {
    static ASKING: Cell<bool> = const { Cell::new(false) };
}

/// True while the present thread asks the system for room that it may well refuse: an allocator that ends the process in words, as that
/// of the command line does, must not do so then.
pub fn asking() -> bool {
    ASKING.with(Cell::get)
}

/// True if the system gives so many bytes; no page of them is touched.
fn is_given(bytes: usize) -> bool {
    ASKING.with(|asking| asking.set(true));
    let given = Vec::<u8>::new().try_reserve_exact(bytes).is_ok();
    ASKING.with(|asking| asking.set(false));
    given
}

impl Budget {
    /// Refuses what does not fit, or what the system does not give.
    ///
    /// # Errors
    /// If so many bytes are not to be had.
    pub fn check(&self, bytes: usize, what: impl Into<Cow<'static, str>>) -> Result<(), BudgetError> {
        // the room is taken and given back
        if bytes <= self.memory && (bytes < SMALL || is_given(bytes)) {
            return Ok(());
        }
        let remedy = Cow::Borrowed("raise --memory, take fewer examples, or use a machine that streams");
        Err(BudgetError { what: what.into(), needed: bytes, budget: self.memory, remedy })
    }

    /// So many equal numbers, if they fit.
    ///
    /// # Errors
    /// If the bytes are not to be had.
    pub fn filled<T: Clone>(
        &self,
        value: T,
        count: usize,
        what: impl Into<Cow<'static, str>>,
    ) -> Result<Vec<T>, BudgetError> {
        self.check(count.saturating_mul(size_of::<T>()), what)?;
        Ok(vec![value; count])
    }
}

/// Refuses what does not fit the default budget; small requests are granted at once.
///
/// # Errors
/// If so many bytes are not to be had.
pub fn check(bytes: usize, what: impl Into<Cow<'static, str>>) -> Result<(), BudgetError> {
    if bytes < SMALL { Ok(()) } else { Budget::default().check(bytes, what) }
}

/// So many equal numbers, if they fit the default budget.
///
/// # Errors
/// If the bytes are not to be had.
pub fn filled<T: Clone>(value: T, count: usize, what: impl Into<Cow<'static, str>>) -> Result<Vec<T>, BudgetError> {
    check(count.saturating_mul(size_of::<T>()), what)?;
    Ok(vec![value; count])
}

/// A table that grows while a file is read, held against the default budget.
///
/// Its readers tell how many bytes it has; the system is asked once, when the first large number is told.
#[derive(Debug, Default)]
pub struct Growth {
    budget: Option<Budget>,
    /// The largest size that needs no further question.
    granted: usize,
}

impl Growth {
    /// Refuses a table of so many bytes, if it does not fit together with the space that a growing vector takes besides.
    ///
    /// # Errors
    /// If so many bytes are not to be had.
    pub fn to(&mut self, bytes: usize, what: impl Into<Cow<'static, str>>) -> Result<(), BudgetError> {
        if bytes < SMALL || bytes <= self.granted {
            return Ok(());
        }
        // a vector doubles, and holds both copies while it moves; the next question comes an eighth later
        let ahead = bytes.saturating_add(bytes / 8);
        let budget = self.budget.get_or_insert_default();
        budget.check(ahead, what)?;
        self.granted = ahead;
        Ok(())
    }
}

/// 1536 → "1.5 KiB".
pub fn show_bytes(bytes: usize) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut size = bytes as f64;
    let mut unit = 0;
    while size >= 1024.0 && unit + 1 < units.len() {
        size /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} B") } else { format!("{size:.1} {}", units[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_before_allocating() {
        let budget = Budget { memory: 1 << 20 };
        let error = budget.check(1 << 40, "the kernel matrix").unwrap_err().to_string();
        assert_eq!(
            error,
            "the kernel matrix needs 1.0 TiB, but the memory budget is 1.0 MiB; raise --memory, take fewer examples, \
             or use a machine that streams"
        );
        assert!(budget.check(1 << 20, "x").is_ok());
        assert!(budget.filled(0.0_f64, 1 << 17, "x").is_ok() && budget.filled(0.0_f64, (1 << 17) + 1, "x").is_err());
        assert!(budget.filled(0.0_f64, usize::MAX, "x").is_err());
    }

    #[test]
    fn what_the_system_refuses_is_an_error_within_any_budget() {
        let budget = Budget { memory: usize::MAX };
        for bytes in [usize::MAX, usize::MAX / 2, 1 << 55] {
            let error = budget.check(bytes, "the table").unwrap_err().to_string();
            assert!(error.contains("the system does not give so much"), "{error}");
        }
        assert!(budget.check(1 << 21, "the table").is_ok());
    }

    #[test]
    fn a_growing_table_ends_at_the_budget_and_not_before() {
        let mut growth = Growth { budget: Some(Budget { memory: 9 << 20 }), granted: 0 };
        assert!((0..=8 << 10).all(|kib| growth.to(kib << 10, "the table").is_ok()));
        assert!(growth.to(10 << 20, "the table").is_err());
    }
}
