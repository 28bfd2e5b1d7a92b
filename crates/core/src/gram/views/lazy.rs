//! A matrix that is made when its first value is asked for: linear machines never ask.

use crate::gram::{BlockMut, Gram, Pick, RowAccess, Side};
use crate::watch::{Sign, present, under};
use std::ops::Range;
use std::sync::{Arc, LazyLock};

type Make = Box<dyn FnOnce() -> Arc<dyn Gram> + Send>;

/// The matrix that a function makes when it is needed.
pub(crate) struct Lazy {
    shape: (usize, usize),
    symmetric: bool,
    gram: LazyLock<Arc<dyn Gram>, Make>,
    /// The sign that the work was under for which it was made.
    sign: Sign,
}

impl Lazy {
    /// Not made yet.
    pub(crate) fn new(
        shape: (usize, usize),
        symmetric: bool,
        make: impl FnOnce() -> Arc<dyn Gram> + Send + 'static,
    ) -> Self {
        let sign = present();
        let here = sign.clone();
        let make = move || if here.is_set() { under(&here, make) } else { make() };
        Self { shape, symmetric, gram: LazyLock::new(Box::new(make)), sign }
    }
}

impl Lazy {
    /// Asks the matrix under the sign for which it was made, if there was one.
    fn heeding<R>(&self, work: impl FnOnce() -> R) -> R {
        if self.sign.is_set() { under(&self.sign, work) } else { work() }
    }
}

impl RowAccess for Lazy {
    fn row32(&self, row: usize, cols: Range<usize>, out: &mut [f32]) {
        self.heeding(|| self.gram.row32(row, cols, out));
    }

    fn rows32(&self, rows: &[usize], cols: Range<usize>, lines: &mut [&mut [f32]]) {
        self.heeding(|| self.gram.rows32(rows, cols, lines));
    }

    fn gather32(&self, row: usize, cols: &[usize], out: &mut [f32]) {
        self.heeding(|| self.gram.gather32(row, cols, out));
    }

    fn row_group(&self) -> usize {
        self.gram.row_group()
    }

    fn panel_rows(&self) -> usize {
        self.gram.panel_rows()
    }

    fn row_error(&self) -> f64 {
        self.gram.row_error()
    }

    fn rows_are_expensive(&self) -> bool {
        self.gram.rows_are_expensive()
    }
}

impl Gram for Lazy {
    fn shape(&self) -> (usize, usize) {
        self.shape
    }

    fn block(&self, rows: Pick<'_>, cols: Pick<'_>, out: BlockMut<'_, f64>) {
        self.heeding(|| self.gram.block(rows, cols, out));
    }

    fn block32(&self, rows: Pick<'_>, cols: Pick<'_>, out: BlockMut<'_, f32>) {
        self.heeding(|| self.gram.block32(rows, cols, out));
    }

    fn fill(&self, out: &mut [f64]) {
        self.heeding(|| self.gram.fill(out));
    }

    fn fill32(&self, out: &mut [f32]) {
        self.heeding(|| self.gram.fill32(out));
    }

    fn apply(&self, v: &[f64], k: usize, out: &mut [f64]) {
        self.heeding(|| self.gram.apply(v, k, out));
    }

    fn rows(&self) -> Option<&dyn RowAccess> {
        Some(self)
    }

    fn stored(&self) -> Option<&[f64]> {
        self.gram.stored()
    }

    fn is_symmetric(&self) -> bool {
        self.symmetric
    }

    fn self_similarities(&self, side: Side) -> Option<Vec<f64>> {
        self.heeding(|| self.gram.self_similarities(side))
    }

    fn restrict(self: Arc<Self>, rows: &[usize], cols: &[usize]) -> Arc<dyn Gram> {
        let shape = (rows.len(), cols.len());
        let symmetric = self.symmetric && rows == cols;
        let (rows, cols) = (rows.to_vec(), cols.to_vec());
        let sign = self.sign.clone();
        Arc::new(Self { sign, ..Self::new(shape, symmetric, move || Arc::clone(&self.gram).restrict(&rows, &cols)) })
    }
}
