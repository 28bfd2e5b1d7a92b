//! Matrices between two collections that are prepared alike: what is common to all of them.

use super::{BlockMut, Gram, PanelRows, Pick, RowAccess, Side};
use std::sync::Arc;

/// Examples in the form in which they are compared.
pub(crate) trait Collection: Send + Sync + 'static {
    /// The number of examples.
    fn count(&self) -> usize;
    /// The examples at the given places, in that order.
    fn chosen(self: &Arc<Self>, keep: &[usize]) -> Arc<Self>;
}

/// The comparison of two collections.
pub(crate) trait Comparison: Clone + Send + Sync + Sized + 'static {
    /// The form of both.
    type Side: Collection;

    /// The values at some rows and columns.
    fn block(between: &Between<Self>, rows: &Pick<'_>, cols: &Pick<'_>, out: BlockMut<'_, f64>);

    /// The same in f32.
    fn block32(between: &Between<Self>, rows: &Pick<'_>, cols: &Pick<'_>, out: BlockMut<'_, f32>);

    /// κ(x, x) of every example of a collection.
    fn own(&self, side: &Arc<Self::Side>) -> Vec<f64>;

    /// Rows in f32 within an error, where they are faster than blocks.
    fn panels(between: &Between<Self>, error: f64) -> Option<Box<dyn PanelRows + '_>> {
        let _ = (between, error);
        None
    }

    /// Fast access to single rows, where there is one.
    fn rows(between: &Between<Self>) -> Option<&dyn RowAccess> {
        let _ = between;
        None
    }
}

/// The matrix of a comparison between two collections; the same one twice makes it symmetric.
pub(crate) struct Between<C: Comparison> {
    pub(crate) how: C,
    pub(crate) rows: Arc<C::Side>,
    pub(crate) cols: Arc<C::Side>,
}

impl<C: Comparison> Between<C> {
    /// The matrix with these rows and columns.
    pub(crate) fn new(how: C, rows: Arc<C::Side>, cols: Arc<C::Side>) -> Self {
        Self { how, rows, cols }
    }

    /// True if row i and column i are the same example.
    pub(crate) fn same(&self) -> bool {
        Arc::ptr_eq(&self.rows, &self.cols)
    }
}

/// True if places are 0, 1, 2, … up to a number.
fn is_whole(places: &[usize], count: usize) -> bool {
    places.len() == count && places.iter().enumerate().all(|(k, &i)| k == i)
}

impl<C: Comparison> Gram for Between<C> {
    fn shape(&self) -> (usize, usize) {
        (self.rows.count(), self.cols.count())
    }

    fn block(&self, rows: Pick<'_>, cols: Pick<'_>, out: BlockMut<'_, f64>) {
        C::block(self, &rows, &cols, out);
    }

    fn block32(&self, rows: Pick<'_>, cols: Pick<'_>, out: BlockMut<'_, f32>) {
        C::block32(self, &rows, &cols, out);
    }

    fn rows(&self) -> Option<&dyn RowAccess> {
        C::rows(self)
    }

    fn panels(&self, error: f64) -> Option<Box<dyn PanelRows + '_>> {
        C::panels(self, error)
    }

    fn is_symmetric(&self) -> bool {
        self.same()
    }

    fn self_similarities(&self, side: Side) -> Option<Vec<f64>> {
        Some(self.how.own(match side {
            Side::Rows => &self.rows,
            Side::Columns => &self.cols,
        }))
    }

    fn restrict(self: Arc<Self>, rows: &[usize], cols: &[usize]) -> Arc<dyn Gram> {
        if is_whole(rows, self.rows.count()) && is_whole(cols, self.cols.count()) {
            return self;
        }
        let left = self.rows.chosen(rows);
        let right = if self.same() && rows == cols { Arc::clone(&left) } else { self.cols.chosen(cols) };
        Arc::new(Self::new(self.how.clone(), left, right))
    }
}
