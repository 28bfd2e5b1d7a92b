//! A matrix that is made when its first value is asked for: linear machines never ask.

use crate::gram::{BlockMut, Gram, Pick, RowAccess, Side};
use std::sync::{Arc, LazyLock};

type Make = Box<dyn FnOnce() -> Arc<dyn Gram> + Send>;

/// The matrix that a function makes when it is needed.
pub(crate) struct Lazy {
    shape: (usize, usize),
    symmetric: bool,
    gram: LazyLock<Arc<dyn Gram>, Make>,
}

impl Lazy {
    /// Not made yet.
    pub(crate) fn new(
        shape: (usize, usize),
        symmetric: bool,
        make: impl FnOnce() -> Arc<dyn Gram> + Send + 'static,
    ) -> Self {
        Self { shape, symmetric, gram: LazyLock::new(Box::new(make)) }
    }
}

impl Gram for Lazy {
    fn shape(&self) -> (usize, usize) {
        self.shape
    }

    fn block(&self, rows: Pick<'_>, cols: Pick<'_>, out: BlockMut<'_, f64>) {
        self.gram.block(rows, cols, out);
    }

    fn block32(&self, rows: Pick<'_>, cols: Pick<'_>, out: BlockMut<'_, f32>) {
        self.gram.block32(rows, cols, out);
    }

    fn fill(&self, out: &mut [f64]) {
        self.gram.fill(out);
    }

    fn fill32(&self, out: &mut [f32]) {
        self.gram.fill32(out);
    }

    fn apply(&self, v: &[f64], k: usize, out: &mut [f64]) {
        self.gram.apply(v, k, out);
    }

    fn rows(&self) -> Option<&dyn RowAccess> {
        self.gram.rows()
    }

    fn stored(&self) -> Option<&[f64]> {
        self.gram.stored()
    }

    fn is_symmetric(&self) -> bool {
        self.symmetric
    }

    fn self_similarities(&self, side: Side) -> Option<Vec<f64>> {
        self.gram.self_similarities(side)
    }

    fn restrict(self: Arc<Self>, rows: &[usize], cols: &[usize]) -> Arc<dyn Gram> {
        let shape = (rows.len(), cols.len());
        let symmetric = self.symmetric && rows == cols;
        let (rows, cols) = (rows.to_vec(), cols.to_vec());
        Arc::new(Self::new(shape, symmetric, move || Arc::clone(&self.gram).restrict(&rows, &cols)))
    }
}
