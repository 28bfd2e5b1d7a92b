//! Vectors in double precision, dense or sparse: what explicit features are made of.

use super::{Rows, SparseRows};
use std::sync::Arc;

/// n vectors, dense or sparse.
#[derive(Clone, Debug)]
pub enum Vectors {
    /// Every coordinate is stored.
    Dense(Arc<Rows<f64>>),
    /// Only the coordinates that are not zero are.
    Sparse(Arc<SparseRows<f64>>),
}

impl Vectors {
    /// The number of vectors.
    pub fn len(&self) -> usize {
        match self {
            Self::Dense(rows) => rows.len(),
            Self::Sparse(rows) => rows.len(),
        }
    }

    /// True if there is no vector.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of coordinates of each, zeros included.
    pub fn width(&self) -> usize {
        match self {
            Self::Dense(rows) => rows.width(),
            Self::Sparse(rows) => rows.width(),
        }
    }

    /// The dense vectors; `None` if these are sparse.
    pub fn dense(&self) -> Option<&Arc<Rows<f64>>> {
        match self {
            Self::Dense(rows) => Some(rows),
            Self::Sparse(_) => None,
        }
    }

    /// The vectors at the given places, in that order.
    #[must_use]
    pub fn select(&self, keep: &[usize]) -> Self {
        match self {
            Self::Dense(rows) => Self::Dense(Arc::new(rows.select(keep))),
            Self::Sparse(rows) => Self::Sparse(Arc::new(rows.select(keep))),
        }
    }
}

impl From<Rows<f64>> for Vectors {
    fn from(rows: Rows<f64>) -> Self {
        Self::Dense(Arc::new(rows))
    }
}

impl From<SparseRows<f64>> for Vectors {
    fn from(rows: SparseRows<f64>) -> Self {
        Self::Sparse(Arc::new(rows))
    }
}
