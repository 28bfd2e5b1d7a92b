//! Matrices that need no data: a constant, and a value where row and column are the same example.

use crate::gram::{BlockMut, Gram, Pick, RowAccess, Side};
use std::ops::Range;
use std::sync::Arc;

/// The same value everywhere.
pub struct Constant {
    /// The value.
    pub value: f64,
    /// Rows and columns.
    pub shape: (usize, usize),
}

impl RowAccess for Constant {
    fn row32(&self, _: usize, _: Range<usize>, out: &mut [f32]) {
        out.fill(self.value as f32);
    }

    fn gather32(&self, _: usize, _: &[usize], out: &mut [f32]) {
        out.fill(self.value as f32);
    }

    fn rows_are_expensive(&self) -> bool {
        false
    }
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

    fn rows(&self) -> Option<&dyn RowAccess> {
        Some(self)
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
        Self::of(value, (0..n).collect(), (0..n).collect())
    }

    /// Between examples with these numbers: those of equal number are the same.
    pub fn of(value: f64, rows: Vec<usize>, cols: Vec<usize>) -> Self {
        Self { value, rows, cols }
    }

    /// Between m new examples and n training examples, which are never the same, even if they look equal.
    pub fn crossed(value: f64, m: usize, n: usize) -> Self {
        Self { value, rows: (n..n + m).collect(), cols: (0..n).collect() }
    }
}

impl Identity {
    fn at(&self, i: usize, j: usize) -> f64 {
        if self.rows[i] == self.cols[j] { self.value } else { 0.0 }
    }
}

impl RowAccess for Identity {
    fn row32(&self, row: usize, cols: Range<usize>, out: &mut [f32]) {
        out.iter_mut().zip(cols).for_each(|(o, j)| *o = self.at(row, j) as f32);
    }

    fn gather32(&self, row: usize, cols: &[usize], out: &mut [f32]) {
        out.iter_mut().zip(cols).for_each(|(o, &j)| *o = self.at(row, j) as f32);
    }

    fn rows_are_expensive(&self) -> bool {
        false
    }
}

impl Gram for Identity {
    fn shape(&self) -> (usize, usize) {
        (self.rows.len(), self.cols.len())
    }

    fn block(&self, rows: Pick<'_>, cols: Pick<'_>, mut out: BlockMut<'_, f64>) {
        for (k, i) in rows.iter().enumerate() {
            for (o, j) in out.row_mut(k).iter_mut().zip(cols.iter()) {
                *o = self.at(i, j);
            }
        }
    }

    fn rows(&self) -> Option<&dyn RowAccess> {
        Some(self)
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
