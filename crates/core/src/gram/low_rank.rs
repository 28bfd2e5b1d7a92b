//! A matrix of low rank: K = Z Wᵀ.

use super::{BlockMut, Gram, Pick, Precision, Side};
use crate::data::{Rows, Scalar};
use crate::linalg::{multiply_add, multiply_transposed, transposed_multiply};
use std::sync::Arc;

/// K_ij = ⟨z_i, w_j⟩ for explicit features: Nyström, incomplete Cholesky, random features.
#[derive(Clone, Debug)]
pub struct LowRank {
    rows: Arc<Rows<f64>>,
    cols: Arc<Rows<f64>>,
}

impl LowRank {
    /// Between two collections of features; `None` if their widths differ.
    pub fn new(rows: Arc<Rows<f64>>, cols: Arc<Rows<f64>>) -> Option<Self> {
        (rows.width() == cols.width()).then_some(Self { rows, cols })
    }

    fn compute<S: Precision>(&self, rows: &Pick<'_>, cols: &Pick<'_>, mut out: BlockMut<'_, S>) {
        let a = gather::<S>(&self.rows, rows);
        let b = gather::<S>(&self.cols, cols);
        let stride = out.stride();
        if self.rows.width() == 0 {
            for i in 0..out.rows() {
                out.row_mut(i).fill(S::default());
            }
        } else {
            multiply_transposed(&a, &b, self.rows.width(), out.values_mut(), stride);
        }
    }
}

fn gather<S: Scalar>(rows: &Rows<f64>, pick: &Pick<'_>) -> Vec<S> {
    pick.iter().flat_map(|i| rows.row(i)).map(|&x| S::narrow(x)).collect()
}

impl Gram for LowRank {
    fn shape(&self) -> (usize, usize) {
        (self.rows.len(), self.cols.len())
    }

    fn block(&self, rows: Pick<'_>, cols: Pick<'_>, out: BlockMut<'_, f64>) {
        self.compute(&rows, &cols, out);
    }

    fn block32(&self, rows: Pick<'_>, cols: Pick<'_>, out: BlockMut<'_, f32>) {
        self.compute(&rows, &cols, out);
    }

    /// K v in O((n + m) r k): first Wᵀ v, then Z times that.
    fn apply(&self, v: &[f64], k: usize, out: &mut [f64]) {
        let (n, m) = self.shape();
        assert!(v.len() == m * k && out.len() == n * k, "the vectors have the sizes of the matrix");
        let rank = self.rows.width();
        let inner = transposed_multiply(self.cols.values(), rank, v, k);
        out.fill(0.0);
        multiply_add(self.rows.values(), n, rank, &inner, k, out);
    }

    fn is_symmetric(&self) -> bool {
        Arc::ptr_eq(&self.rows, &self.cols)
    }

    fn self_similarities(&self, side: Side) -> Option<Vec<f64>> {
        let features = match side {
            Side::Rows => &self.rows,
            Side::Columns => &self.cols,
        };
        Some((0..features.len()).map(|i| features.row(i).iter().map(|x| x * x).sum()).collect())
    }

    fn restrict(self: Arc<Self>, rows: &[usize], cols: &[usize]) -> Arc<dyn Gram> {
        Arc::new(Self { rows: Arc::new(self.rows.select(rows)), cols: Arc::new(self.cols.select(cols)) })
    }
}
