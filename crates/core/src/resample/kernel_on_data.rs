//! A kernel on data: the matrix, features and parameters that every fit on the same examples shares.

use super::suits::doubt;
use crate::data::Dataset;
use crate::error::Error;
use crate::formula::Formula;
use crate::gram::views::{FarOrigin, Memoised};
use crate::gram::{Budget, Gram, Similarity};
use crate::machines::{Features, Machine, Reads, Task};
use crate::seed::Seed;
use std::sync::Arc;

/// The part of the memory that values kept for several fits may take, beside that of the fits.
const SHARE_OF_KEPT_VALUES: usize = 4;

/// A formula whose numbers are resolved, on the examples of a data set.
pub(crate) struct KernelOnData {
    /// The formula.
    pub(crate) resolved: Formula,
    /// The matrix between all examples, stored or not.
    pub(crate) gram: Arc<dyn Gram>,
    /// The kernel between the same examples, for machines that choose its parameters; none for those that work on features alone.
    pub(super) kernel: Option<Arc<dyn Similarity>>,
    /// Explicit features, in the order of the data.
    features: Option<Features>,
    /// The example of the data at each place of the matrix, where that is another order.
    order: Option<Vec<usize>>,
    /// Memory that is left for fits.
    pub(super) left: Budget,
}

impl KernelOnData {
    /// The kernel on the data for a machine; no value is computed yet.
    ///
    /// # Errors
    /// If the formula does not fit the data, or the machine has no solution with such a kernel.
    pub(crate) fn new(resolved: Formula, machine: &dyn Machine, data: &Dataset, budget: Budget) -> Result<Self, Error> {
        #[cfg(test)]
        BUILT.with(|count| count.set(count.get() + 1));
        doubt(machine, &resolved)?;
        resolved.refuse_shared_matrix(data)?;
        let wants_matrix = machine.traits().wants_matrix();
        let features = resolved.task_features(data, wants_matrix).map(|(rows, scale)| Features { rows, scale });
        let alone = features.is_some() && !wants_matrix;
        let gram = resolved.task_gram(data, alone)?;
        let kernel = if alone { None } else { Some(resolved.similarity_of(data, Arc::clone(&gram))?) };
        Ok(Self { resolved, gram, kernel, features, order: None, left: budget })
    }

    /// The same with examples in the given order for many fits, `at_once` at most side by side: the matrix is computed once if it
    /// fits and explicit features do not make it superfluous, else left to be streamed.
    pub(crate) fn stored(self, machine: &dyn Machine, order: &[usize], at_once: usize) -> Self {
        let budget = self.left;
        let kernel = self.kernel.map(|whole| whole.restrict(order));
        // packing first makes the repacking in order cheap
        self.gram.row_group();
        let gram = self.gram.restrict(order, order);
        let entries = order.len().saturating_mul(order.len());
        let (stored, bytes) = match machine.traits().reads {
            // rows are copied out of a stored matrix, in f32 as a solver asks for them, unless f32 has no digits of the distances
            Reads::Rows if FarOrigin::of(gram.as_ref()).is_none() => {
                let dense = budget.store::<f32>(gram.as_ref(), 0, "the kernel matrix").ok();
                (dense.map(|d| Arc::new(d) as Arc<dyn Gram>), entries.saturating_mul(4))
            }
            // machines on features ask for no kernel values; those of dense features are computed on demand
            Reads::Features => (None, 0),
            Reads::Rows => {
                let dense = budget.dense(gram.as_ref(), 0, "the kernel matrix").ok();
                (dense.map(|d| Arc::new(d) as Arc<dyn Gram>), entries.saturating_mul(8))
            }
            Reads::Blocks if self.features.as_ref().is_some_and(|f| f.rows.dense().is_some()) => (None, 0),
            // every fold that is at work may keep a part as large as the whole
            Reads::Blocks => {
                let copies = at_once.saturating_mul(entries).saturating_mul(8);
                let dense = budget.dense(gram.as_ref(), copies, "the kernel matrix").ok();
                (dense.map(|d| Arc::new(d) as Arc<dyn Gram>), entries.saturating_mul(8))
            }
        };
        let taken = if stored.is_some() { bytes } else { 0 };
        let left = Budget { memory: budget.memory - taken.min(budget.memory) };
        Self { gram: stored.unwrap_or(gram), kernel, order: Some(order.to_vec()), left, ..self }
    }

    /// The same for several fits on all examples, one after the other: expensive rows and the whole matrix are computed once, and every
    /// fit has the bits it would have alone.
    pub(crate) fn memoised(self) -> Self {
        let gram = Memoised::share(self.gram, self.left.memory / SHARE_OF_KEPT_VALUES);
        Self { gram, ..self }
    }

    /// The explicit features of some places.
    pub(super) fn features_at(&self, places: &[usize]) -> Option<Features> {
        let features = self.features.as_ref()?;
        match &self.order {
            Some(order) => Some(features.select(&places.iter().map(|&place| order[place]).collect::<Vec<_>>())),
            None => Some(features.select(places)),
        }
    }

    /// The task of all examples, on all threads: without target and weights, which have the order of the matrix.
    pub(crate) fn task<'a>(&self, seed: Seed) -> Task<'a> {
        let features = match &self.order {
            Some(order) => self.features.as_ref().map(|features| features.select(order)),
            None => self.features.clone(),
        };
        Task {
            kernel: self.kernel.clone(),
            features,
            threads: rayon::current_num_threads().max(1),
            budget: self.left,
            seed,
            ..Task::new(Arc::clone(&self.gram))
        }
    }
}

#[cfg(test)]
thread_local! {
    /// The number of kernels on data that this thread has built.
    pub(crate) static BUILT: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}
