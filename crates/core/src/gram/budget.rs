//! Whole matrices within the memory budget.

use super::{Dense, Gram, Precision};
use crate::memory::{Budget, BudgetError};

impl Budget {
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
