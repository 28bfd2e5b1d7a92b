//! Matrices that need no data: a constant, and a value where row and column are the same example.

use crate::gram::{BlockMut, Gram, Pick, Side};
use std::sync::Arc;

/// The same value everywhere.
pub struct Constant {
    /// The value.
    pub value: f64,
    /// Rows and columns.
    pub shape: (usize, usize),
}

impl Gram for Constant {
    fn shape(&self) -> (usize, usize) {
        self.shape
    }

    fn block(&self, _: Pick<'_>, _: Pick<'_>, mut out: BlockMut<'_, f64>) {
        for i in 0..out.rows() {
            out.row_mut(i).fill(self.value);
        }
    }

    fn is_dear(&self) -> bool {
        false
    }

    fn is_symmetric(&self) -> bool {
        self.shape.0 == self.shape.1
    }

    fn self_similarities(&self, side: Side) -> Option<Vec<f64>> {
        Some(vec![self.value; if side == Side::Rows { self.shape.0 } else { self.shape.1 }])
    }

    fn restrict(self: Arc<Self>, rows: &[usize], cols: &[usize]) -> Arc<dyn Gram> {
        Arc::new(Self { value: self.value, shape: (rows.len(), cols.len()) })
    }
}

/// A value where row and column are the same example, zero elsewhere.
pub struct Identity {
    value: f64,
    rows: Vec<usize>,
    cols: Vec<usize>,
}

impl Identity {
    /// On n training examples.
    pub fn training(value: f64, n: usize) -> Self {
        Self { value, rows: (0..n).collect(), cols: (0..n).collect() }
    }

    /// Between m new examples and n training examples, which are never the same, even if they look equal.
    pub fn crossed(value: f64, m: usize, n: usize) -> Self {
        Self { value, rows: (n..n + m).collect(), cols: (0..n).collect() }
    }
}

impl Gram for Identity {
    fn shape(&self) -> (usize, usize) {
        (self.rows.len(), self.cols.len())
    }

    fn block(&self, rows: Pick<'_>, cols: Pick<'_>, mut out: BlockMut<'_, f64>) {
        for (k, i) in rows.iter().enumerate() {
            for (o, j) in out.row_mut(k).iter_mut().zip(cols.iter()) {
                *o = if self.rows[i] == self.cols[j] { self.value } else { 0.0 };
            }
        }
    }

    fn is_dear(&self) -> bool {
        false
    }

    fn is_symmetric(&self) -> bool {
        self.rows == self.cols
    }

    fn self_similarities(&self, side: Side) -> Option<Vec<f64>> {
        Some(vec![self.value; if side == Side::Rows { self.rows.len() } else { self.cols.len() }])
    }

    fn restrict(self: Arc<Self>, rows: &[usize], cols: &[usize]) -> Arc<dyn Gram> {
        Arc::new(Self {
            value: self.value,
            rows: rows.iter().map(|&i| self.rows[i]).collect(),
            cols: cols.iter().map(|&j| self.cols[j]).collect(),
        })
    }
}
