//! A stored matrix.

use super::views::Submatrix;
use super::{BlockMut, Gram, Pick, Precision, RowAccess, Side};
use crate::data::Scalar;
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

/// All values of a matrix, row by row, in f32 or f64.
#[derive(Clone, Debug, PartialEq)]
pub struct Dense<S> {
    values: Vec<S>,
    rows: usize,
    cols: usize,
    /// True if row i and column i are the same example, so that the diagonal holds the self-similarities.
    square: bool,
    /// True if K = Kᵀ, too.
    symmetric: bool,
}

impl<S: Scalar> Dense<S> {
    /// Takes `rows × cols` numbers; `None` if their count is another.
    pub fn new(values: Vec<S>, rows: usize, cols: usize) -> Option<Self> {
        let fits = rows.checked_mul(cols)? == values.len();
        fits.then_some(Self { values, rows, cols, square: rows == cols, symmetric: false })
    }

    /// Stores a whole matrix.
    pub(super) fn of(gram: &dyn Gram) -> Self
    where
        S: Precision,
    {
        let (rows, cols) = gram.shape();
        let mut values = vec![S::default(); rows * cols];
        S::fill(gram, &mut values);
        Self { values, rows, cols, square: rows == cols, symmetric: gram.is_symmetric() }
    }

    /// All values, row by row.
    pub fn values(&self) -> &[S] {
        &self.values
    }

    /// Gives the values away.
    pub fn into_values(self) -> Vec<S> {
        self.values
    }

    /// One row.
    pub fn row(&self, i: usize) -> &[S] {
        &self.values[i * self.cols..(i + 1) * self.cols]
    }

    fn copy<T: Scalar>(&self, rows: &Pick<'_>, cols: &Pick<'_>, mut out: BlockMut<'_, T>) {
        for (k, i) in rows.iter().enumerate() {
            let (from, to) = (self.row(i), out.row_mut(k));
            match cols {
                Pick::Range(range) => {
                    for (t, f) in to.iter_mut().zip(&from[range.clone()]) {
                        *t = T::narrow(f.wide());
                    }
                }
                Pick::List(list) => {
                    for (t, &j) in to.iter_mut().zip(*list) {
                        *t = T::narrow(from[j].wide());
                    }
                }
            }
        }
    }
}

impl<S: Scalar> RowAccess for Dense<S> {
    fn row32(&self, row: usize, cols: Range<usize>, out: &mut [f32]) {
        for (o, value) in out.iter_mut().zip(&self.row(row)[cols]) {
            *o = f32::narrow(value.wide());
        }
    }

    fn gather32(&self, row: usize, cols: &[usize], out: &mut [f32]) {
        let from = self.row(row);
        for (o, &j) in out.iter_mut().zip(cols) {
            *o = f32::narrow(from[j].wide());
        }
    }

    fn rows_are_expensive(&self) -> bool {
        false
    }
}

impl<S: Scalar> Gram for Dense<S> {
    fn shape(&self) -> (usize, usize) {
        (self.rows, self.cols)
    }

    fn block(&self, rows: Pick<'_>, cols: Pick<'_>, out: BlockMut<'_, f64>) {
        self.copy(&rows, &cols, out);
    }

    fn stored(&self) -> Option<&[f64]> {
        (&self.values as &dyn Any).downcast_ref::<Vec<f64>>().map(Vec::as_slice)
    }

    fn block32(&self, rows: Pick<'_>, cols: Pick<'_>, out: BlockMut<'_, f32>) {
        self.copy(&rows, &cols, out);
    }

    fn rows(&self) -> Option<&dyn RowAccess> {
        Some(self)
    }

    fn is_symmetric(&self) -> bool {
        self.symmetric
    }

    fn self_similarities(&self, _: Side) -> Option<Vec<f64>> {
        self.square.then(|| (0..self.rows).map(|i| self.row(i)[i].wide()).collect())
    }

    fn restrict(self: Arc<Self>, rows: &[usize], cols: &[usize]) -> Arc<dyn Gram> {
        // a view: parts of a stored matrix are taken by the thousand, and most of each is never read
        Arc::new(Submatrix::new(self, rows, cols))
    }
}
