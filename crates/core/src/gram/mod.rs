//! Gram matrices: the only thing a solver sees.
//!
//! A [`Gram`] is the matrix K with K_ij = κ(x_i, z_j). It may be streamed from data, stored, cached, of low rank, or a
//! view of other matrices; whoever asks for a block cannot tell. Every block is computed by one thread in a fixed order;
//! [`fill`] and [`apply`] hand out fixed tiles to threads, so results are bit-equal for any number of threads.

pub(crate) mod between;
mod block;
mod budget;
mod dense;
mod engine;
mod low_rank;
mod rows;
mod similarity;
mod strips;
#[doc(hidden)]
pub mod views;

pub use crate::memory::{Budget, BudgetError, show_bytes};
pub use block::{Block, BlockMut, Pick, Precision};
pub use dense::Dense;
pub(crate) use engine::fill_rows_of_symmetric;
pub use engine::{apply, fill, fill_rows, fill32};
pub use low_rank::LowRank;
pub use rows::{PanelRows, RowAccess};
pub use similarity::Similarity;
pub use strips::write_rows;

use engine::Tiles;

use std::sync::Arc;

/// A side of a matrix: the examples of the rows, or those of the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The examples of the rows.
    Rows,
    /// The examples of the columns.
    Columns,
}

/// A matrix of kernel values that may be stored, cached, streamed or of low rank.
pub trait Gram: Send + Sync {
    /// Rows and columns.
    fn shape(&self) -> (usize, usize);

    /// Writes the values at the chosen rows and columns. Runs on the calling thread.
    fn block(&self, rows: Pick<'_>, cols: Pick<'_>, out: BlockMut<'_, f64>);

    /// The same in f32, for the support vector solver and for large matrices.
    fn block32(&self, rows: Pick<'_>, cols: Pick<'_>, mut out: BlockMut<'_, f32>) {
        let mut wide = vec![0.0; rows.len() * cols.len()];
        self.block(rows.clone(), cols.clone(), BlockMut::new(&mut wide, rows.len(), cols.len()));
        for (i, line) in wide.chunks(cols.len().max(1)).enumerate() {
            for (o, w) in out.row_mut(i).iter_mut().zip(line) {
                *o = *w as f32;
            }
        }
    }

    /// Writes the whole matrix, tile by tile on all threads; a device or a remote matrix does it in its own way.
    fn fill(&self, out: &mut [f64]) {
        let block = |rows: Pick<'_>, cols: Pick<'_>, tile: BlockMut<'_, f64>| self.block(rows, cols, tile);
        engine::fill_tiles(&Tiles { shape: self.shape(), symmetric: self.is_symmetric(), block: &block }, out);
    }

    /// The same in f32.
    fn fill32(&self, out: &mut [f32]) {
        let block = |rows: Pick<'_>, cols: Pick<'_>, tile: BlockMut<'_, f32>| self.block32(rows, cols, tile);
        engine::fill_tiles(&Tiles { shape: self.shape(), symmetric: self.is_symmetric(), block: &block }, out);
    }

    /// out = K v for `k` columns (both row by row), streaming tiles in a fixed order; what knows factors of K multiplies by
    /// these instead. Nothing n² is stored.
    fn apply(&self, v: &[f64], k: usize, out: &mut [f64]) {
        let block = |rows: Pick<'_>, cols: Pick<'_>, tile: BlockMut<'_, f64>| self.block(rows, cols, tile);
        let tiles = Tiles { shape: self.shape(), symmetric: false, block: &block };
        engine::apply_tiles(&tiles, self.stored(), v, k, out);
    }

    /// Access to single rows, where it is faster than blocks of one row.
    fn rows(&self) -> Option<&dyn RowAccess> {
        None
    }

    /// Rows in f32, where they are faster than blocks and no value is off by more than `error` parts of the largest.
    fn panels(&self, error: f64) -> Option<Box<dyn PanelRows + '_>> {
        let _ = error;
        None
    }

    /// All values row by row, where they are stored in f64: products with them need no copy.
    fn stored(&self) -> Option<&[f64]> {
        None
    }

    /// True if row i and column i are the same example for every i, so that K = Kᵀ and half of it need be computed.
    fn is_symmetric(&self) -> bool {
        false
    }

    /// κ(x, x) for every example of a side; `None` if the matrix does not know them (a precomputed cross matrix).
    fn self_similarities(&self, side: Side) -> Option<Vec<f64>>;

    /// The matrix of the chosen rows and columns, repacked where that is cheaper than gathering.
    fn restrict(self: Arc<Self>, rows: &[usize], cols: &[usize]) -> Arc<dyn Gram>;
}

/// K_ii for every i of a square matrix.
pub fn diagonal(gram: &dyn Gram) -> Vec<f64> {
    let n = gram.shape().0.min(gram.shape().1);
    let mut values = vec![0.0; n];
    for (i, value) in values.iter_mut().enumerate() {
        gram.block(Pick::Range(i..i + 1), Pick::Range(i..i + 1), BlockMut::new(std::slice::from_mut(value), 1, 1));
    }
    values
}
