//! A kernel met with the data: the matrix that all folds and all parameters of the machine share.

use crate::data::Dataset;
use crate::error::Error;
use crate::formula::Formula;
use crate::gram::{Budget, Gram, Similarity};
use crate::machines::{Features, Machine, Reads};
use std::sync::Arc;

/// A kernel met with the data.
pub(super) struct Met {
    /// The kernel with numbers resolved.
    pub(super) resolved: Formula,
    /// The matrix of the examples in the order of the folds, stored if memory allows.
    pub(super) gram: Arc<dyn Gram>,
    /// The kernel in the order of the folds, for machines that choose its parameters; none for those that work on features.
    pub(super) kernel: Option<Arc<dyn Similarity>>,
    /// Explicit features, in the order of the data.
    features: Option<Features>,
    /// Memory that is left.
    pub(super) left: Budget,
}

impl Met {
    /// The explicit features of some examples of the data.
    pub(super) fn part(&self, examples: &[usize]) -> Option<Features> {
        self.features.as_ref().map(|features| features.select(examples))
    }

    /// Meets a kernel, whose numbers are resolved, with the data, whose examples are taken in the given order: the matrix is
    /// computed once if it fits and explicit features do not make it superfluous, else left to be streamed. `at_once` fits
    /// at most run side by side.
    pub(super) fn new(
        resolved: Formula,
        machine: &dyn Machine,
        data: &Dataset,
        order: &[usize],
        (budget, at_once): (Budget, usize),
    ) -> Result<Self, Error> {
        let traits = machine.traits();
        let features =
            resolved.task_features(data, traits.wants_matrix()).map(|(rows, scale)| Features { rows, scale });
        let alone = features.is_some() && !traits.wants_matrix();
        let gram = resolved.task_gram(data, alone)?;
        let whole = if alone { None } else { Some(resolved.similarity_of(data, Arc::clone(&gram))?) };
        let kernel = whole.map(|whole| whole.restrict(order));
        // packing first makes the repacking in order cheap
        gram.row_group();
        let gram = gram.restrict(order, order);
        let entries = order.len().saturating_mul(order.len());
        let (stored, bytes) = match traits.reads {
            // rows are copied out of a stored matrix, in f32 as a solver asks for them
            Reads::Rows => {
                let dense = budget.store::<f32>(gram.as_ref(), 0, "the kernel matrix").ok();
                (dense.map(|d| Arc::new(d) as Arc<dyn Gram>), entries.saturating_mul(4))
            }
            // nobody asks for kernel values where the machine works on features; dense ones, few as they are, stand in
            Reads::Features => (None, 0),
            Reads::Blocks if features.as_ref().is_some_and(|f| f.rows.dense().is_some()) => (None, 0),
            // every fold that is at work may keep a part as large as the whole
            Reads::Blocks => {
                let copies = at_once.saturating_mul(entries).saturating_mul(8);
                let dense = budget.dense(gram.as_ref(), copies, "the kernel matrix").ok();
                (dense.map(|d| Arc::new(d) as Arc<dyn Gram>), entries.saturating_mul(8))
            }
        };
        let taken = if stored.is_some() { bytes } else { 0 };
        let left = Budget { memory: budget.memory - taken.min(budget.memory) };
        Ok(Self { resolved, gram: stored.unwrap_or(gram), kernel, features, left })
    }
}
