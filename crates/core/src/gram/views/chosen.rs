//! Some rows and columns of a matrix, gathered on demand.

use crate::gram::{BlockMut, Gram, Pick, Side};
use std::ops::Range;
use std::sync::Arc;

/// The chosen rows and columns of a matrix.
pub struct Chosen {
    inner: Arc<dyn Gram>,
    rows: Vec<usize>,
    cols: Vec<usize>,
}

impl Chosen {
    /// The matrix at the chosen rows and columns.
    pub fn new(inner: Arc<dyn Gram>, rows: &[usize], cols: &[usize]) -> Self {
        Self { inner, rows: rows.to_vec(), cols: cols.to_vec() }
    }
}

fn translate(chosen: &[usize], pick: &Pick<'_>) -> Vec<usize> {
    pick.iter().map(|k| chosen[k]).collect()
}

impl Gram for Chosen {
    fn shape(&self) -> (usize, usize) {
        (self.rows.len(), self.cols.len())
    }

    fn block(&self, rows: Pick<'_>, cols: Pick<'_>, out: BlockMut<'_, f64>) {
        let (rows, cols) = (translate(&self.rows, &rows), translate(&self.cols, &cols));
        self.inner.block(Pick::List(&rows), Pick::List(&cols), out);
    }

    fn block32(&self, rows: Pick<'_>, cols: Pick<'_>, out: BlockMut<'_, f32>) {
        let (rows, cols) = (translate(&self.rows, &rows), translate(&self.cols, &cols));
        self.inner.block32(Pick::List(&rows), Pick::List(&cols), out);
    }

    fn row32(&self, row: usize, cols: Range<usize>, out: &mut [f32]) {
        self.inner.gather32(self.rows[row], &self.cols[cols], out);
    }

    fn is_dear(&self) -> bool {
        self.inner.is_dear()
    }

    fn is_symmetric(&self) -> bool {
        self.rows == self.cols && self.inner.is_symmetric()
    }

    fn self_similarities(&self, side: Side) -> Option<Vec<f64>> {
        let all = self.inner.self_similarities(side)?;
        let chosen = match side {
            Side::Rows => &self.rows,
            Side::Columns => &self.cols,
        };
        Some(chosen.iter().map(|&i| all[i]).collect())
    }

    fn restrict(self: Arc<Self>, rows: &[usize], cols: &[usize]) -> Arc<dyn Gram> {
        let (rows, cols) = (translate(&self.rows, &Pick::List(rows)), translate(&self.cols, &Pick::List(cols)));
        Arc::new(Self { inner: Arc::clone(&self.inner), rows, cols })
    }
}
