//! Families whose kernel is a function of a sum over coordinates that no matrix product gives.

use super::Packed;
use super::layouts::Panels;
use super::packed::Stored;
use super::store::Store;
use crate::data::{Rows, Scalar, SparseRows};
use crate::gram::between::{Between, Comparison};
use crate::gram::{BlockMut, Pick, Precision};
use crate::vectorise::{Loops, vectorised};
use std::sync::Arc;

/// κ(x, y) = outer(Σ_j term(x_j, y_j)).
pub(crate) trait PairFamily: Send + Sync + Clone + 'static {
    /// The term of one coordinate; term(0, 0) = 0.
    fn term<S: Scalar>(&self, x: S, y: S) -> S;
    /// The term of a certain coordinate, for families whose coordinates are not alike. To be marked `#[inline(always)]`.
    #[inline(always)]
    fn term_at<S: Scalar>(&self, _coordinate: usize, x: S, y: S) -> S {
        self.term(x, y)
    }
    /// The function of the sum.
    fn outer<S: Scalar>(&self, sum: S) -> S;
}

/// The comparison by such a kernel.
#[derive(Clone)]
pub(crate) struct Pairs<F>(F);

/// The matrix of such a kernel between two collections.
pub(crate) type PairGram<F> = Between<Pairs<F>>;

/// Rows of sparse vectors that are compared at once with each column.
const SPARSE_ROWS: usize = 8;

impl<F: PairFamily> PairGram<F> {
    pub(crate) fn of(family: F, rows: Arc<Packed>, cols: Arc<Packed>) -> Self {
        Self::new(Pairs(family), rows, cols)
    }

    fn compute<S: Precision + Stored>(&self, rows: &Pick<'_>, cols: &Pick<'_>, mut out: BlockMut<'_, S>) {
        match (S::store(&self.rows), S::store(&self.cols)) {
            (Store::Dense { rows: a, .. }, Store::Dense { rows: b, panels, .. }) => {
                self.dense(a, b, panels, rows, cols, &mut out);
            }
            (Store::Sparse { rows: a, .. }, Store::Sparse { rows: b, .. }) => self.sparse(a, b, rows, cols, &mut out),
            _ => unreachable!("both sides are packed alike"),
        }
    }

    fn dense<S: Precision>(
        &self,
        a: &Rows<S>,
        b: &Rows<S>,
        panels: &std::sync::OnceLock<Panels<S>>,
        rows: &Pick<'_>,
        cols: &Pick<'_>,
        out: &mut BlockMut<'_, S>,
    ) {
        match cols {
            Pick::Range(range) => {
                let panels = panels.get_or_init(|| Panels::new(b));
                for (k, i) in rows.iter().enumerate() {
                    let line = out.row_mut(k);
                    let mut done = range.start;
                    while done < range.end {
                        let (p, lane) = (done / S::LANES, done % S::LANES);
                        let count = (S::LANES - lane).min(range.end - done);
                        let out = &mut line[done - range.start..done - range.start + count];
                        vectorised(Panel { family: &self.how.0, x: a.row(i), lanes: panels.panel(p), lane, out });
                        done += count;
                    }
                }
            }
            Pick::List(list) => {
                for (k, i) in rows.iter().enumerate() {
                    for (o, &j) in out.row_mut(k).iter_mut().zip(*list) {
                        let pairs = a.row(i).iter().zip(b.row(j)).enumerate();
                        *o = self.how.0.outer(pairs.map(|(k, (&x, &y))| self.how.0.term_at(k, x, y)).sum());
                    }
                }
            }
        }
    }

    /// Σ term(x, y) = Σ_j term(x_j, 0) + Σ over the stored y_j of term(x_j, y_j) − term(x_j, 0).
    fn sparse<S: Precision>(
        &self,
        a: &SparseRows<S>,
        b: &SparseRows<S>,
        rows: &Pick<'_>,
        cols: &Pick<'_>,
        out: &mut BlockMut<'_, S>,
    ) {
        let width = a.width().max(b.width());
        let zero = S::default();
        S::zeros(width * SPARSE_ROWS, |buffer| {
            for first in (0..rows.len()).step_by(SPARSE_ROWS) {
                let count = SPARSE_ROWS.min(rows.len() - first);
                let mut base = [zero; SPARSE_ROWS];
                for lane in 0..count {
                    for c in a.row(rows.at(first + lane)) {
                        buffer[c.index as usize * SPARSE_ROWS + lane] = c.value;
                        base[lane] += self.how.0.term_at(c.index as usize, c.value, zero);
                    }
                }
                let (panel, _) = buffer.as_chunks::<SPARSE_ROWS>();
                let part = out.part(first..first + count, 0..cols.len());
                vectorised(AgainstPanel { family: &self.how.0, columns: b, cols, panel, base, out: part });
                for lane in 0..count {
                    for c in a.row(rows.at(first + lane)) {
                        buffer[c.index as usize * SPARSE_ROWS + lane] = zero;
                    }
                }
            }
        });
    }
}

/// One row against the lanes of a panel from `lane` on, sixteen at a time.
struct Panel<'a, F, S> {
    family: &'a F,
    x: &'a [S],
    lanes: &'a [S],
    lane: usize,
    out: &'a mut [S],
}

impl<F: PairFamily, S: Scalar> Loops for Panel<'_, F, S> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        const LANES: usize = 16;
        let mut start = 0;
        while start < S::LANES {
            let mut sums = [S::default(); LANES];
            for (k, (&x, line)) in self.x.iter().zip(self.lanes.chunks_exact(S::LANES)).enumerate() {
                for (s, &y) in sums.iter_mut().zip(&line[start..start + LANES]) {
                    *s += self.family.term_at(k, x, y);
                }
            }
            for sum in &mut sums {
                *sum = self.family.outer(*sum);
            }
            for (l, &sum) in sums.iter().enumerate() {
                if let Some(o) = (start + l).checked_sub(self.lane).and_then(|place| self.out.get_mut(place)) {
                    *o = sum;
                }
            }
            start += LANES;
        }
    }
}

/// The scattered rows against every column, written to the rows of `out`.
struct AgainstPanel<'a, F, S> {
    family: &'a F,
    columns: &'a SparseRows<S>,
    cols: &'a Pick<'a>,
    panel: &'a [[S; SPARSE_ROWS]],
    base: [S; SPARSE_ROWS],
    out: BlockMut<'a, S>,
}

impl<F: PairFamily, S: Scalar> Loops for AgainstPanel<'_, F, S> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        for k in 0..self.out.cols() {
            let mut sums = self.base;
            for c in self.columns.row(self.cols.at(k)) {
                let k = c.index as usize;
                let line = &self.panel[k];
                for lane in 0..SPARSE_ROWS {
                    let without = self.family.term_at(k, line[lane], S::default());
                    sums[lane] += self.family.term_at(k, line[lane], c.value) - without;
                }
            }
            for (lane, &sum) in sums.iter().enumerate().take(self.out.rows()) {
                self.out.row_mut(lane)[k] = self.family.outer(sum);
            }
        }
    }
}

impl<F: PairFamily> Comparison for Pairs<F> {
    type Side = Packed;

    fn block(between: &Between<Self>, rows: &Pick<'_>, cols: &Pick<'_>, out: BlockMut<'_, f64>) {
        between.compute(rows, cols, out);
    }

    fn block32(between: &Between<Self>, rows: &Pick<'_>, cols: &Pick<'_>, out: BlockMut<'_, f32>) {
        between.compute(rows, cols, out);
    }

    fn own(&self, side: &Arc<Packed>) -> Vec<f64> {
        let own = |row: &mut dyn Iterator<Item = (usize, f64)>| {
            self.0.outer(row.map(|(k, x)| self.0.term_at(k, x, x)).sum::<f64>())
        };
        match f64::store(side) {
            Store::Dense { rows, .. } => {
                (0..rows.len()).map(|i| own(&mut rows.row(i).iter().copied().enumerate())).collect()
            }
            Store::Sparse { rows, .. } => {
                (0..rows.len()).map(|i| own(&mut rows.row(i).iter().map(|c| (c.index as usize, c.value)))).collect()
            }
        }
    }
}
