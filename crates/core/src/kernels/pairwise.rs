//! The plain matrix of any kernel: one evaluation for each pair.

use super::Kernel;
use crate::data::Examples;
use crate::gram::{BlockMut, Gram, Pick, Side, views::Submatrix};
use std::sync::Arc;

/// The matrix of a kernel between two collections, pair by pair.
pub struct Pairwise<X: ?Sized + 'static, K> {
    kernel: Arc<K>,
    rows: Arc<dyn Examples<X>>,
    cols: Arc<dyn Examples<X>>,
}

impl<X: ?Sized + 'static, K: Kernel<X>> Pairwise<X, K> {
    /// The matrix with these rows and columns.
    pub fn new(kernel: Arc<K>, rows: Arc<dyn Examples<X>>, cols: Arc<dyn Examples<X>>) -> Self {
        Self { kernel, rows, cols }
    }
}

impl<X: ?Sized + 'static, K: Kernel<X> + 'static> Gram for Pairwise<X, K> {
    fn shape(&self) -> (usize, usize) {
        (self.rows.len(), self.cols.len())
    }

    fn block(&self, rows: Pick<'_>, cols: Pick<'_>, mut out: BlockMut<'_, f64>) {
        for (k, i) in rows.iter().enumerate() {
            let x = self.rows.get(i);
            for (o, j) in out.row_mut(k).iter_mut().zip(cols.iter()) {
                *o = self.kernel.eval(x, self.cols.get(j));
            }
        }
    }

    fn is_symmetric(&self) -> bool {
        std::ptr::addr_eq(Arc::as_ptr(&self.rows), Arc::as_ptr(&self.cols))
    }

    fn self_similarities(&self, side: Side) -> Option<Vec<f64>> {
        let examples = match side {
            Side::Rows => &self.rows,
            Side::Columns => &self.cols,
        };
        Some((0..examples.len()).map(|i| self.kernel.eval(examples.get(i), examples.get(i))).collect())
    }

    fn restrict(self: Arc<Self>, rows: &[usize], cols: &[usize]) -> Arc<dyn Gram> {
        Arc::new(Submatrix::new(self, rows, cols))
    }
}
