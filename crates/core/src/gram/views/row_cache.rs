//! Rows that are kept for all who ask: several problems on the same examples share them.

use crate::gram::{BlockMut, Gram, Pick, Precision, RowAccess, Side};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// A matrix that keeps whole rows in f32 as they are first asked for, as long as its memory lasts.
pub struct RowCache {
    inner: Arc<dyn Gram>,
    rows: Vec<OnceLock<Box<[f32]>>>,
    /// The number of rows that may still be kept.
    left: AtomicUsize,
}

impl RowCache {
    /// The matrix with up to `bytes` of kept rows.
    pub fn share(inner: &Arc<dyn Gram>, bytes: usize) -> Arc<dyn Gram> {
        let (n, m) = inner.shape();
        let left = bytes / (4 * m.max(1));
        Arc::new(Self {
            inner: Arc::clone(inner),
            rows: (0..n).map(|_| OnceLock::new()).collect(),
            left: AtomicUsize::new(left),
        })
    }

    /// A row that is kept, or is so from now on; `None` when the memory is spent.
    fn row(&self, row: usize) -> Option<&[f32]> {
        if let Some(values) = self.rows[row].get() {
            return Some(values);
        }
        let take = |left: usize| left.checked_sub(1);
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).ok()?;
        Some(self.rows[row].get_or_init(|| {
            let width = self.inner.shape().1;
            let mut values = vec![0.0; width];
            self.inner.row32(row, 0..width, &mut values);
            values.into_boxed_slice()
        }))
    }
}

impl RowAccess for RowCache {
    fn row32(&self, row: usize, cols: Range<usize>, out: &mut [f32]) {
        match self.row(row) {
            Some(values) => out.copy_from_slice(&values[cols]),
            None => self.inner.row32(row, cols, out),
        }
    }

    fn gather32(&self, row: usize, cols: &[usize], out: &mut [f32]) {
        let gather = |values: &[f32], out: &mut [f32]| out.iter_mut().zip(cols).for_each(|(o, &j)| *o = values[j]);
        match self.row(row) {
            Some(values) => gather(values, out),
            None => f32::scratch(|whole| {
                let width = self.inner.shape().1;
                whole.resize(width, 0.0);
                self.inner.row32(row, 0..width, whole);
                gather(whole, out);
            }),
        }
    }

    fn row_error(&self) -> f64 {
        self.inner.row_error()
    }

    fn rows_are_expensive(&self) -> bool {
        self.inner.rows_are_expensive()
    }
}

impl Gram for RowCache {
    fn shape(&self) -> (usize, usize) {
        self.inner.shape()
    }

    fn block(&self, rows: Pick<'_>, cols: Pick<'_>, out: BlockMut<'_, f64>) {
        self.inner.block(rows, cols, out);
    }

    fn block32(&self, rows: Pick<'_>, cols: Pick<'_>, out: BlockMut<'_, f32>) {
        self.inner.block32(rows, cols, out);
    }

    fn rows(&self) -> Option<&dyn RowAccess> {
        Some(self)
    }

    fn is_symmetric(&self) -> bool {
        self.inner.is_symmetric()
    }

    fn self_similarities(&self, side: Side) -> Option<Vec<f64>> {
        self.inner.self_similarities(side)
    }

    fn restrict(self: Arc<Self>, rows: &[usize], cols: &[usize]) -> Arc<dyn Gram> {
        // a part that looks here first keeps what is known; it gathers
        Arc::new(super::Submatrix::new(self, rows, cols))
    }
}
