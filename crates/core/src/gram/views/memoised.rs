//! A matrix that keeps the values that were computed of it, for several fits on the same examples.

use crate::gram::{BlockMut, Gram, Pick, RowAccess, Side};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// A stretch of one row.
struct Stretch {
    cols: Range<usize>,
    values: Box<[f32]>,
}

/// A matrix whose rows in f32, where they are expensive, and whose values in f64, where somebody fills them all in, are computed once
/// as long as memory lasts. A value is always the answer of the matrix below to the very same question, so that fits have the same
/// bits with and without: rows, blocks and products of a matrix need not agree in the last digit.
pub(crate) struct Memoised {
    inner: Arc<dyn Gram>,
    /// By row, where rows are expensive; cheap ones are computed again for less than memory costs.
    rows: Option<Vec<Mutex<Vec<Stretch>>>>,
    whole: OnceLock<Vec<f64>>,
    /// The matrix with all examples in another order, the first that was asked for: machines of several classes sort by them.
    ordered: OnceLock<(Vec<usize>, Arc<dyn Gram>)>,
    /// Bytes that may still be kept, shared with the matrix in another order.
    left: Arc<AtomicUsize>,
}

impl Memoised {
    /// The matrix with up to `bytes` of values kept.
    pub(crate) fn share(inner: Arc<dyn Gram>, bytes: usize) -> Arc<dyn Gram> {
        Self::within(inner, Arc::new(AtomicUsize::new(bytes)))
    }

    fn within(inner: Arc<dyn Gram>, left: Arc<AtomicUsize>) -> Arc<dyn Gram> {
        let rows = inner.rows_are_expensive().then(|| (0..inner.shape().0).map(|_| Mutex::default()).collect());
        Arc::new(Self { inner, rows, whole: OnceLock::new(), ordered: OnceLock::new(), left })
    }

    /// True if so many bytes are left; they are taken.
    fn take(&self, bytes: usize) -> bool {
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes)).is_ok()
    }

    /// The stretches of a row that are kept; none where rows are cheap.
    fn kept(&self, row: usize) -> Option<MutexGuard<'_, Vec<Stretch>>> {
        Some(self.rows.as_ref()?[row].lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Copies a stretch that is kept.
    fn known(&self, row: usize, cols: &Range<usize>, out: &mut [f32]) -> bool {
        let Some(kept) = self.kept(row) else { return false };
        match kept.iter().find(|stretch| stretch.cols == *cols) {
            Some(stretch) => {
                out.copy_from_slice(&stretch.values);
                true
            }
            None => false,
        }
    }

    /// Keeps a stretch. It is computed outside of the lock, so that two threads may have done so.
    fn keep(&self, row: usize, cols: Range<usize>, values: &[f32]) {
        let Some(mut kept) = self.kept(row) else { return };
        if kept.iter().all(|stretch| stretch.cols != cols) && self.take(size_of_val(values)) {
            kept.push(Stretch { cols, values: values.into() });
        }
    }
}

impl RowAccess for Memoised {
    fn row32(&self, row: usize, cols: Range<usize>, out: &mut [f32]) {
        if !self.known(row, &cols, out) {
            self.inner.row32(row, cols.clone(), out);
            self.keep(row, cols, out);
        }
    }

    fn rows32(&self, rows: &[usize], cols: Range<usize>, lines: &mut [&mut [f32]]) {
        let mut missing = Vec::new();
        let mut places = Vec::new();
        for (&row, line) in rows.iter().zip(lines) {
            if !self.known(row, &cols, line) {
                places.push(row);
                missing.push(&mut **line);
            }
        }
        if !places.is_empty() {
            self.inner.rows32(&places, cols.clone(), &mut missing);
            places.iter().zip(&missing).for_each(|(&row, line)| self.keep(row, cols.clone(), line));
        }
    }

    fn gather32(&self, row: usize, cols: &[usize], out: &mut [f32]) {
        self.inner.gather32(row, cols, out);
    }

    fn row_group(&self) -> usize {
        self.inner.row_group()
    }

    fn panel_rows(&self) -> usize {
        self.inner.panel_rows()
    }

    fn row_error(&self) -> f64 {
        self.inner.row_error()
    }

    fn rows_are_expensive(&self) -> bool {
        self.inner.rows_are_expensive()
    }
}

impl Gram for Memoised {
    fn shape(&self) -> (usize, usize) {
        self.inner.shape()
    }

    fn block(&self, rows: Pick<'_>, cols: Pick<'_>, out: BlockMut<'_, f64>) {
        self.inner.block(rows, cols, out);
    }

    fn block32(&self, rows: Pick<'_>, cols: Pick<'_>, out: BlockMut<'_, f32>) {
        self.inner.block32(rows, cols, out);
    }

    fn fill(&self, out: &mut [f64]) {
        if let Some(values) = self.whole.get() {
            out.copy_from_slice(values);
            return;
        }
        // no lock is held while threads work: one of them might come back here
        self.inner.fill(out);
        let bytes = size_of_val(out);
        if self.whole.get().is_none() && self.take(bytes) && self.whole.set(out.to_vec()).is_err() {
            self.left.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    fn fill32(&self, out: &mut [f32]) {
        self.inner.fill32(out);
    }

    fn apply(&self, v: &[f64], k: usize, out: &mut [f64]) {
        self.inner.apply(v, k, out);
    }

    fn rows(&self) -> Option<&dyn RowAccess> {
        if self.rows.is_some() { Some(self) } else { self.inner.rows() }
    }

    fn stored(&self) -> Option<&[f64]> {
        self.inner.stored()
    }

    fn is_symmetric(&self) -> bool {
        self.inner.is_symmetric()
    }

    fn self_similarities(&self, side: Side) -> Option<Vec<f64>> {
        self.inner.self_similarities(side)
    }

    fn restrict(self: Arc<Self>, rows: &[usize], cols: &[usize]) -> Arc<dyn Gram> {
        let part = |gram: &Self| Arc::clone(&gram.inner).restrict(rows, cols);
        if rows != cols || rows.len() != self.shape().0 {
            return part(&self);
        }
        let (order, gram) =
            self.ordered.get_or_init(|| (rows.to_vec(), Self::within(part(&self), Arc::clone(&self.left))));
        if order == rows { Arc::clone(gram) } else { part(&self) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gram::fill;

    /// A matrix that counts the values it computes, and whose rows differ from its blocks.
    struct Counting {
        n: usize,
        expensive: bool,
        computed: AtomicUsize,
    }

    impl RowAccess for Counting {
        fn row32(&self, row: usize, cols: Range<usize>, out: &mut [f32]) {
            self.computed.fetch_add(cols.len(), Ordering::Relaxed);
            cols.zip(out).for_each(|(j, o)| *o = (row * self.n + j) as f32 + 0.5);
        }

        fn gather32(&self, row: usize, cols: &[usize], out: &mut [f32]) {
            cols.iter().zip(out).for_each(|(&j, o)| *o = (row * self.n + j) as f32 + 0.5);
        }

        fn row_group(&self) -> usize {
            6
        }

        fn rows_are_expensive(&self) -> bool {
            self.expensive
        }
    }

    impl Gram for Counting {
        fn shape(&self) -> (usize, usize) {
            (self.n, self.n)
        }

        fn block(&self, rows: Pick<'_>, cols: Pick<'_>, mut out: BlockMut<'_, f64>) {
            self.computed.fetch_add(rows.len() * cols.len(), Ordering::Relaxed);
            for (k, i) in rows.iter().enumerate() {
                cols.iter().zip(out.row_mut(k)).for_each(|(j, o)| *o = (i * self.n + j) as f64);
            }
        }

        fn rows(&self) -> Option<&dyn RowAccess> {
            Some(self)
        }

        fn self_similarities(&self, _: Side) -> Option<Vec<f64>> {
            None
        }

        fn restrict(self: Arc<Self>, rows: &[usize], cols: &[usize]) -> Arc<dyn Gram> {
            Arc::new(crate::gram::views::Submatrix::new(self, rows, cols))
        }
    }

    fn counting(n: usize, expensive: bool, bytes: usize) -> (Arc<Counting>, Arc<dyn Gram>) {
        let inner = Arc::new(Counting { n, expensive, computed: AtomicUsize::new(0) });
        let shared = Memoised::share(Arc::clone(&inner) as Arc<dyn Gram>, bytes);
        (inner, shared)
    }

    #[test]
    fn every_value_is_computed_once_and_is_that_of_the_matrix_below() {
        let (inner, gram) = counting(40, true, usize::MAX);
        let count = || inner.computed.swap(0, Ordering::Relaxed);
        let filled = |gram: &dyn Gram| {
            let mut out = vec![0.0; 1600];
            fill(gram, &mut out);
            out
        };
        let wanted = filled(inner.as_ref());
        assert_eq!((filled(gram.as_ref()) == wanted, filled(gram.as_ref()) == wanted), (true, true));
        assert_eq!(count(), 3200, "once below, and once for all above");
        // rows by stretches, in groups that share some of them
        let mut lines = vec![vec![0.0_f32; 15]; 3];
        for rows in [[3, 8, 9], [9, 3, 30]] {
            let mut parts: Vec<&mut [f32]> = lines.iter_mut().map(Vec::as_mut_slice).collect();
            gram.rows32(&rows, 5..20, &mut parts);
            for (row, line) in rows.iter().zip(&lines) {
                assert!((5..20).zip(line).all(|(j, v)| *v == (row * 40 + j) as f32 + 0.5));
            }
        }
        gram.row32(8, 5..20, &mut lines[0]);
        assert_eq!((count(), gram.row_group()), (4 * 15, 6));
        // another order is kept as well, a part is not
        let order: Vec<usize> = (0..40).rev().collect();
        for _ in 0..2 {
            let turned = Arc::clone(&gram).restrict(&order, &order);
            assert!(filled(turned.as_ref()).iter().eq(wanted.iter().rev()));
        }
        assert_eq!(count(), 1600);
        let part = Arc::clone(&gram).restrict(&order[..10], &order[..10]);
        assert_eq!(part.shape(), (10, 10));
    }

    #[test]
    fn memory_is_a_limit_and_cheap_rows_are_not_kept() {
        let mut line = vec![0.0_f32; 40];
        for (expensive, bytes, wanted) in [(true, 160, 40 + 2 * 40), (true, 0, 160), (false, usize::MAX, 160)] {
            let (inner, gram) = counting(40, expensive, bytes);
            for row in [1, 2, 1, 2] {
                gram.row32(row, 0..40, &mut line);
            }
            assert_eq!(inner.computed.load(Ordering::Relaxed), wanted, "{expensive} {bytes}");
        }
    }
}
