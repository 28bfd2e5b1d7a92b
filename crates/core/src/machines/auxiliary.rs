//! Auxiliary examples: noise, transformed copies, and further points of expansions.

use crate::gram::Gram;
use std::sync::Arc;

/// The role of an auxiliary example. None of them has a target, and no loss counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// An example of what is not wanted.
    Noise,
    /// A training example after a small change that shall make no difference.
    Copy {
        /// The training example.
        of: usize,
        /// The transformation, by its place among the named ones.
        transformation: usize,
    },
    /// A point that expansions may use.
    Point,
}

/// The kernel met with the training examples and with what stands beside them.
pub struct Auxiliary<'a> {
    /// K between all training examples and, after them, all others; not yet computed.
    pub gram: Arc<dyn Gram>,
    /// The role of each auxiliary example, in their order.
    pub roles: &'a [Role],
    /// The names of the transformations that copies went through.
    pub transformations: &'a [String],
}
