//! The memory budget: what may be stored, decided before anything is allocated.

use super::{Dense, Gram, Precision};

/// The memory that large matrices may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Bytes.
    pub memory: usize,
}

/// The memory budget forbids a computation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} needs {}, but the memory budget is {}; {remedy}", show_bytes(*needed), show_bytes(*budget))]
pub struct BudgetError {
    /// The matrix or work that was to be stored.
    pub what: &'static str,
    /// Bytes it needs.
    pub needed: usize,
    /// Bytes allowed.
    pub budget: usize,
    /// The remedy.
    pub remedy: &'static str,
}

impl Default for Budget {
    /// Half of the memory that is free, or 4 GiB where that is unknown.
    fn default() -> Self {
        let free = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
            let line = text.lines().find(|l| l.starts_with("MemAvailable:"))?;
            line.split_whitespace().nth(1)?.parse::<usize>().ok()
        });
        Self { memory: free.map_or(4 << 30, |kib| kib * 512) }
    }
}

impl Budget {
    /// Refuses what does not fit.
    pub fn check(&self, bytes: usize, what: &'static str) -> Result<(), BudgetError> {
        if bytes <= self.memory {
            return Ok(());
        }
        let remedy = "raise --memory, take fewer examples, or use a machine that streams";
        Err(BudgetError { what, needed: bytes, budget: self.memory, remedy })
    }

    /// Computes and stores a whole matrix in f64, if it fits together with `extra` bytes that the caller will need.
    pub fn dense(&self, gram: &dyn Gram, extra: usize, what: &'static str) -> Result<Dense<f64>, BudgetError> {
        self.store(gram, extra, what)
    }

    /// The same in f32 or f64.
    pub fn store<S: Precision>(
        &self,
        gram: &dyn Gram,
        extra: usize,
        what: &'static str,
    ) -> Result<Dense<S>, BudgetError> {
        let (n, m) = gram.shape();
        self.check(n.saturating_mul(m).saturating_mul(size_of::<S>()).saturating_add(extra), what)?;
        Ok(Dense::of(gram))
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
    }
}
