//! The choice of a penalty that leaves a system of equations.

use crate::params::Choice;
use crate::solvers::Penalty;

/// The penalties that leave a system of equations: all but ‖α‖₁.
pub(super) struct QuadraticPenalty<'a>(pub(super) &'a mut Penalty);

impl Choice for QuadraticPenalty<'_> {
    fn options(&self) -> &'static [&'static str] {
        // a value that was set in Rust has its word, so that it can be refused by it
        if *self.0 == Penalty::Sparse { self.0.options() } else { &["norm", "coefficients"] }
    }
    fn get(&self) -> usize {
        *self.0 as usize
    }
    fn set(&mut self, position: usize) {
        *self.0 = if position == 0 { Penalty::Norm } else { Penalty::Coefficients };
    }
}
