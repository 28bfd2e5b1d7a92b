//! The task of a machine: the kernel met with data, the target, weights and limits.

use super::class_weight::refuse_weightless;
use super::{Auxiliary, FitError, Fitted, HeldOutRequest};
use crate::data::{Classes, DataError, Numbers, Rows, Target, Vectors};
use crate::gram::{Budget, Gram, Similarity};
use crate::memory::check;
use crate::seed::Seed;
use std::sync::Arc;

/// Explicit features: K = scale · X Xᵀ, so that no matrix of pairs is ever needed.
#[derive(Clone, Debug)]
pub struct Features {
    /// The data.
    pub rows: Vectors,
    /// The factor in front of the inner product.
    pub scale: f64,
}

impl Features {
    /// The features of some examples.
    #[must_use]
    pub fn select(&self, keep: &[usize]) -> Self {
        Self { rows: self.rows.select(keep), scale: self.scale }
    }

    /// Dense features that have at least one coordinate, with the factor.
    pub(super) fn dense(&self) -> Option<(&Rows<f64>, f64)> {
        self.rows.dense().filter(|rows| rows.width() > 0).map(|rows| (rows.as_ref(), self.scale))
    }
}

/// The kernel met with the data: everything a machine may ask for.
#[derive(Clone)]
pub struct Task<'a> {
    /// K between all training examples, not yet computed.
    pub gram: Arc<dyn Gram>,
    /// The kernel between the same examples, for machines that choose its parameters or see each view by itself: the matrix at any θ,
    /// derivatives, and terms.
    pub kernel: Option<Arc<dyn Similarity>>,
    /// Explicit features, where the kernel has them.
    pub features: Option<Features>,
    /// The target to be predicted.
    pub target: Option<&'a Target>,
    /// The weight of each example, none below zero; `None`: all alike.
    pub weights: Option<&'a [f64]>,
    /// Noise, transformed copies and points beside the examples; only for machines that declare to take them
    /// ([`Traits::auxiliary`](super::Traits::auxiliary)). Points of the expansion are then places among the examples and the others
    /// after them.
    pub auxiliary: Option<&'a Auxiliary<'a>>,
    /// Held-out answers that are wanted beside the fit.
    pub held_out: HeldOutRequest<'a>,
    /// An earlier fit of the same machine on the same examples, to start from: only speed depends on it.
    pub start: Option<&'a Fitted>,
    /// The memory that matrices may take.
    pub budget: Budget,
    /// The seed of all random choices.
    pub seed: Seed,
    /// Threads that a single problem may be divided over; 1 where several fits run side by side.
    pub threads: usize,
}

/// A term of the kernel of a task.
#[derive(Clone)]
pub struct NamedTerm {
    /// The view that it looks at, or its formula; no two terms have the same.
    pub name: String,
    /// The term met with the examples of the task.
    pub kernel: Arc<dyn Similarity>,
}

impl Task<'_> {
    /// A task of a matrix alone: no target, all examples alike, one thread. What there is beside it is set on top:
    /// `Task { target, weights, ..Task::new(gram) }`.
    pub fn new(gram: Arc<dyn Gram>) -> Self {
        Self {
            gram,
            kernel: None,
            features: None,
            target: None,
            weights: None,
            auxiliary: None,
            held_out: HeldOutRequest::Nothing,
            start: None,
            budget: Budget::default(),
            seed: Seed(0),
            threads: 1,
        }
    }

    /// The number of examples.
    pub fn len(&self) -> usize {
        self.gram.shape().0
    }

    /// True if there is no example.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Each term of the kernel by its name, for machines that return a [`Part`](super::Part) for each.
    ///
    /// # Errors
    /// If the task is a matrix alone, or a term does not fit the examples.
    pub fn parts(&self, machine: &'static str) -> Result<Vec<NamedTerm>, FitError> {
        let Some(kernel) = &self.kernel else {
            let finding =
                "it compares by each term of the kernel, and a matrix alone has none; give a formula".to_owned();
            return Err(FitError::Param { machine, finding });
        };
        let parts = kernel.parts().map_err(|error| FitError::Param { machine, finding: error.to_string() })?;
        let names = kernel.part_names().into_iter();
        Ok(names.zip(parts).map(|(name, kernel)| NamedTerm { name, kernel }).collect())
    }

    /// Refuses a target or weights of another number of examples than the matrix has.
    fn check_lengths(&self, machine: &'static str) -> Result<(), FitError> {
        let target = self.target.map(|target| ("the target", target.len()));
        let weights = self.weights.map(|weights| ("the list of weights", weights.len()));
        match [target, weights].into_iter().flatten().find(|(_, len)| *len != self.len()) {
            None => Ok(()),
            Some((what, got)) => {
                let (what, other) = (what.to_owned(), "the kernel matrix".to_owned());
                Err(FitError::Target { machine, error: DataError::Lengths { what, got, other, wanted: self.len() } })
            }
        }
    }

    /// The target as classes, at least two of them.
    pub fn classes(&self, machine: &'static str) -> Result<Classes, FitError> {
        self.check_lengths(machine)?;
        let classes = self.target.ok_or(DataError::NoTarget).and_then(Target::classes);
        let classes = classes.map_err(|error| FitError::Target { machine, error })?;
        if self.is_empty() {
            let error = DataError::Empty { place: "the training data".to_owned() };
            return Err(FitError::Target { machine, error });
        }
        if classes.labels.len() < 2 {
            let label = classes.labels.first().cloned().unwrap_or_default();
            return Err(FitError::Target { machine, error: DataError::OneClass { label } });
        }
        let (n, k) = (self.len(), classes.labels.len());
        if let Some(weights) = self.weights {
            refuse_weightless(machine, &classes, weights)?;
        }
        // a number for each example and class, as it is learned and as it is kept, and the pairs of classes
        let bytes = n.saturating_mul(k).saturating_mul(16).saturating_add(k.saturating_mul(k).saturating_mul(8));
        let what = format!("{machine}: coefficients of {k} classes");
        let remedy = "is the target a name or a number? Choose another column, or raise --memory";
        // of the whole process: what is left for one of many fits may be nothing, and they would stream
        check(bytes, what).map_err(|e| e.remedy(remedy))?;
        Ok(classes)
    }

    /// The target as numbers.
    pub fn numbers(&self, machine: &'static str) -> Result<Numbers, FitError> {
        self.check_lengths(machine)?;
        let numbers = self.target.ok_or(DataError::NoTarget).and_then(Target::numbers);
        let numbers = numbers.map_err(|error| FitError::Target { machine, error })?;
        if self.is_empty() {
            let error = DataError::Empty { place: "the training data".to_owned() };
            return Err(FitError::Target { machine, error });
        }
        Ok(numbers)
    }
}
