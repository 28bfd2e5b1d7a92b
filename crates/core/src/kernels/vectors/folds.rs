//! Families whose kernel is folded over the coordinates step by step: products, and recursions with a few numbers of state.

use super::Packed;
use super::layouts::Panels;
use super::packed::Stored;
use super::store::Store;
use crate::data::{Coordinate, Rows, Scalar, SparseRows};
use crate::gram::between::{Between, Comparison};
use crate::gram::{BlockMut, Pick, Precision};
use crate::vectorise::{Loops, vectorised};
use std::sync::{Arc, OnceLock};

/// κ(x, y) = end(join(… join(start, x_1, y_1) …, x_d, y_d)), with D numbers of state.
///
/// A coordinate that is zero on either side leaves the state as it is, so sparse vectors meet at common coordinates only.
pub(crate) trait FoldFamily<const D: usize>: Send + Sync + Clone + 'static {
    /// The state before the first coordinate.
    fn start<S: Scalar>(&self) -> [S; D];
    /// Takes one coordinate into W states that lie side by side: number s of state l is `states[s][l]`. To be marked
    /// `#[inline(always)]`.
    fn join<S: Scalar, const W: usize>(&self, states: &mut [[S; W]; D], x: S, y: &[S; W]);
    /// The function of the state.
    fn end<S: Scalar, const W: usize>(&self, states: &[[S; W]; D]) -> [S; W];
}

/// κ of one pair, in f64.
pub(crate) fn fold<const D: usize, F: FoldFamily<D>>(family: &F, pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
    let mut states = family.start::<f64>().map(|s| [s]);
    pairs.for_each(|(x, y)| family.join(&mut states, x, &[y]));
    family.end(&states)[0]
}

/// The comparison by such a kernel.
#[derive(Clone)]
pub(crate) struct Fold<const D: usize, F>(F);

/// The matrix of such a kernel between two collections.
pub(crate) type FoldGram<const D: usize, F> = Between<Fold<D, F>>;

/// Rows of sparse vectors that are compared at once with each column.
const SPARSE_ROWS: usize = 16;

impl<const D: usize, F: FoldFamily<D>> FoldGram<D, F> {
    pub(crate) fn of(family: F, rows: Arc<Packed>, cols: Arc<Packed>) -> Self {
        Self::new(Fold(family), rows, cols)
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
        panels: &OnceLock<Panels<S>>,
        rows: &Pick<'_>,
        cols: &Pick<'_>,
        out: &mut BlockMut<'_, S>,
    ) {
        match cols {
            Pick::Range(range) => {
                let panels = panels.get_or_init(|| Panels::new(b));
                for (k, i) in rows.iter().enumerate() {
                    let (line, range) = (out.row_mut(k), range.clone());
                    vectorised(With::<D, _>(FoldRow { family: &self.how.0, x: a.row(i), panels, range, out: line }));
                }
            }
            Pick::List(list) => {
                for (k, i) in rows.iter().enumerate() {
                    for (o, &j) in out.row_mut(k).iter_mut().zip(*list) {
                        let mut states = self.how.0.start::<S>().map(|s| [s]);
                        for (&x, &y) in a.row(i).iter().zip(b.row(j)) {
                            self.how.0.join(&mut states, x, &[y]);
                        }
                        *o = self.how.0.end(&states)[0];
                    }
                }
            }
        }
    }

    fn sparse<S: Precision>(
        &self,
        a: &SparseRows<S>,
        b: &SparseRows<S>,
        rows: &Pick<'_>,
        cols: &Pick<'_>,
        out: &mut BlockMut<'_, S>,
    ) {
        let width = a.width().max(b.width());
        S::zeros(width * SPARSE_ROWS, |buffer| {
            for first in (0..rows.len()).step_by(SPARSE_ROWS) {
                let count = SPARSE_ROWS.min(rows.len() - first);
                for lane in 0..count {
                    for c in a.row(rows.at(first + lane)) {
                        buffer[c.index as usize * SPARSE_ROWS + lane] = c.value;
                    }
                }
                let (panel, _) = buffer.as_chunks::<SPARSE_ROWS>();
                let part = out.part(first..first + count, 0..cols.len());
                vectorised(With::<D, _>(FoldAgainst { family: &self.how.0, columns: b, cols, panel, out: part }));
                for lane in 0..count {
                    for c in a.row(rows.at(first + lane)) {
                        buffer[c.index as usize * SPARSE_ROWS + lane] = S::default();
                    }
                }
            }
        });
    }
}

/// One row against a range of packed columns, sixteen at a time.
struct FoldRow<'a, F, S> {
    family: &'a F,
    x: &'a [S],
    panels: &'a Panels<S>,
    range: std::ops::Range<usize>,
    out: &'a mut [S],
}

/// A loop of a family with so many numbers of state.
struct With<const D: usize, L>(L);

impl<const D: usize, F: FoldFamily<D>, S: Scalar> Loops for With<D, FoldRow<'_, F, S>> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        const LANES: usize = 16;
        let Self(FoldRow { family, x, panels, range, out }) = self;
        let mut done = range.start;
        while done < range.end {
            let (p, lane) = (done / S::LANES, done % S::LANES);
            let start = lane / LANES * LANES;
            let count = (start + LANES - lane).min(range.end - done);
            let mut states = family.start::<S>().map(|s| [s; LANES]);
            for (&x, line) in x.iter().zip(panels.panel(p).chunks_exact(S::LANES)) {
                if let Some(y) = line[start..].first_chunk::<LANES>() {
                    family.join(&mut states, x, y);
                }
            }
            let values = family.end(&states);
            out[done - range.start..done - range.start + count]
                .copy_from_slice(&values[lane - start..lane - start + count]);
            done += count;
        }
    }
}

/// The scattered rows against every column, written to the rows of `out`.
struct FoldAgainst<'a, F, S> {
    family: &'a F,
    columns: &'a SparseRows<S>,
    cols: &'a Pick<'a>,
    panel: &'a [[S; SPARSE_ROWS]],
    out: BlockMut<'a, S>,
}

impl<const D: usize, F: FoldFamily<D>, S: Scalar> Loops for With<D, FoldAgainst<'_, F, S>> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self(FoldAgainst { family, columns, cols, panel, mut out }) = self;
        for k in 0..out.cols() {
            let mut states = family.start::<S>().map(|s| [s; SPARSE_ROWS]);
            for &Coordinate { index, value } in columns.row(cols.at(k)) {
                family.join(&mut states, value, &panel[index as usize]);
            }
            for (lane, &value) in family.end(&states).iter().enumerate().take(out.rows()) {
                out.row_mut(lane)[k] = value;
            }
        }
    }
}

impl<const D: usize, F: FoldFamily<D>> Comparison for Fold<D, F> {
    type Side = Packed;

    fn block(between: &Between<Self>, rows: &Pick<'_>, cols: &Pick<'_>, out: BlockMut<'_, f64>) {
        between.compute(rows, cols, out);
    }

    fn block32(between: &Between<Self>, rows: &Pick<'_>, cols: &Pick<'_>, out: BlockMut<'_, f32>) {
        between.compute(rows, cols, out);
    }

    fn own(&self, side: &Arc<Packed>) -> Vec<f64> {
        match f64::store(side) {
            Store::Dense { rows, .. } => {
                (0..rows.len()).map(|i| fold(&self.0, rows.row(i).iter().map(|&x| (x, x)))).collect()
            }
            Store::Sparse { rows, .. } => {
                (0..rows.len()).map(|i| fold(&self.0, rows.row(i).iter().map(|c| (c.value, c.value)))).collect()
            }
        }
    }
}
