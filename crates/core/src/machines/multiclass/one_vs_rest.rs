//! One against the rest: a problem for each class against all others, on all examples.

use super::{Reduction, SignedProblem};
use crate::data::Classes;
use crate::machines::Readout;

/// Each class against the rest. Two classes are one problem, in which a positive score decides for the first.
pub(in crate::machines) struct OneVsRest<'a> {
    classes: &'a Classes,
}

impl<'a> OneVsRest<'a> {
    pub(in crate::machines) const fn new(classes: &'a Classes) -> Self {
        Self { classes }
    }

    /// All problems at once.
    pub(in crate::machines) fn whole(&self) -> SignedProblem {
        self.block(0..self.problems())
    }
}

impl Reduction for OneVsRest<'_> {
    fn len(&self) -> usize {
        self.classes.codes.len()
    }

    fn problems(&self) -> usize {
        match self.classes.labels.len() {
            2 => 1,
            k => k,
        }
    }

    fn sign(&self, problem: usize, example: usize) -> f64 {
        if self.classes.codes[example] as usize == problem { 1.0 } else { -1.0 }
    }

    fn readout(&self) -> Readout {
        let labels = self.classes.labels.clone();
        if labels.len() == 2 { Readout::Vote { labels } } else { Readout::ArgMax { labels } }
    }
}
