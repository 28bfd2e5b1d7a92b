//! One example, or a few, against all others: the rows that a decomposition solver asks for.
//!
//! Columns lie in panels of 64 examples, feature by feature, so that a feature of the row is a few vector operations for
//! all of them. Three layouts, the first that fits: bytes for vectors of zeros and ones (common features are counted),
//! 16-bit integers for values on a grid such as pixels (exact), and f32 for all others.

mod counted;
mod gridded;
mod real;

use crate::data::{Rows, Scalar, SparseRows, Values};
use crate::parallel;
pub(crate) use counted::Counted;
use gridded::{Grid, Gridded};
pub(crate) use real::Real;
use std::ops::Range;
use std::sync::Arc;

/// Columns in the layout that makes their rows cheapest.
pub(crate) enum Lines {
    /// Zeros and ones.
    Counted(Counted),
    /// Values on a grid.
    Gridded(Gridded),
    /// Any values.
    Real(Real),
}

/// Examples in a panel.
const PANEL: usize = 64;
/// Largest layout; beyond it, sparse data stay sparse.
const MAX_LAYOUT_BYTES: usize = 1 << 31;

/// Changes of the vectors before they are compared.
#[derive(Clone)]
pub(crate) struct Change {
    /// Subtracted from dense vectors; only where distances are taken.
    pub(crate) shift: Option<Arc<Vec<f64>>>,
    /// Multiplied into coordinates.
    pub(crate) weights: Option<Arc<Vec<f64>>>,
    /// True if squared distances are wanted rather than inner products.
    pub(crate) distance: bool,
}

impl Change {
    pub(crate) fn shift(&self) -> Option<&[f64]> {
        self.shift.as_ref().map(|shift| shift.as_slice())
    }

    pub(crate) fn weights(&self) -> Option<&[f64]> {
        self.weights.as_ref().map(|weights| weights.as_slice())
    }
}

/// The layout that makes rows of some vectors cheapest.
#[derive(Clone, Copy)]
pub(crate) enum Layout {
    Counted,
    Gridded(Grid),
    Real,
}

impl Layout {
    /// The layout for vectors; `None` where they are better left sparse.
    pub(crate) fn of(source: &Values, change: &Change) -> Option<Self> {
        let (n, width) = (source.len(), source.width()?);
        let cells = n.next_multiple_of(PANEL).checked_mul(width)?;
        if cells <= MAX_LAYOUT_BYTES && Counted::takes(source, change) {
            return Some(Self::Counted);
        }
        let stored = match source {
            Values::Sparse(r) => r.coordinates().len(),
            Values::Sparse32(r) => r.coordinates().len(),
            _ => cells,
        };
        // very sparse vectors cost less by their lists of features
        if stored.saturating_mul(16) < cells || cells > MAX_LAYOUT_BYTES / 4 {
            return None;
        }
        match Grid::of(source, change) {
            Some(grid) => Some(Self::Gridded(grid)),
            None => is_finite(source).then_some(Self::Real),
        }
    }

    /// The most rows that gain from being computed at once, and the number that are best computed at once, where these are known before
    /// anything is packed.
    pub(crate) fn rows_at_once(self, width: usize) -> Option<(usize, usize)> {
        matches!(self, Self::Real).then(|| (real::panel_rows(width), real::group(width)))
    }
}

impl Lines {
    /// Packs vectors in a layout that takes them.
    pub(crate) fn new(layout: Layout, source: &Values, change: &Change) -> Option<Self> {
        match layout {
            Layout::Counted => Counted::new(source, change).map(Self::Counted),
            Layout::Gridded(grid) => Gridded::new(grid, source, change).map(Self::Gridded),
            Layout::Real => Real::new(source, None, change).map(Self::Real),
        }
    }

    /// Those at the given places.
    pub(crate) fn select(&self, keep: &[usize]) -> Self {
        match self {
            Self::Counted(c) => Self::Counted(c.select(keep)),
            Self::Gridded(g) => Self::Gridded(g.select(keep)),
            Self::Real(r) => Self::Real(r.select(keep)),
        }
    }

    /// Number of rows that are best computed at once: several, where a row alone is bound by reading the columns.
    pub(crate) fn group(&self) -> usize {
        match self {
            Self::Counted(_) => 1,
            Self::Gridded(g) => g.group(),
            Self::Real(r) => real::group(r.width()),
        }
    }

    /// The most rows that gain from being computed at once; 1 where a few are best.
    pub(crate) fn panel_rows(&self) -> usize {
        match self {
            Self::Counted(_) | Self::Gridded(_) => 1,
            Self::Real(r) => real::panel_rows(r.width()),
        }
    }

    /// The largest ‖x‖² around the centre, where squared distances can be taken from products.
    pub(crate) fn longest(&self) -> Option<f64> {
        match self {
            Self::Counted(_) | Self::Gridded(_) => None,
            Self::Real(r) => r.longest(),
        }
    }

    /// Squared distances or inner products of some examples with a range of columns; each stretch of a line goes through
    /// `finish` while it is in the first-level cache.
    pub(crate) fn rows(
        &self,
        rows: &[usize],
        cols: &Range<usize>,
        lines: &mut [&mut [f32]],
        by: Distances,
        finish: Finish<'_>,
    ) {
        match self {
            Self::Counted(c) => c.rows(rows, cols, lines, finish),
            Self::Gridded(g) => g.rows(rows, cols, lines, finish),
            Self::Real(r) => r.rows(rows, cols, lines, by, finish),
        }
    }
}

/// The arithmetic of squared distances of reals; other layouts are exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Distances {
    /// Σ (x − y)², which cancels nothing.
    Differences,
    /// ‖x‖² + ‖y‖² − 2⟨x, y⟩, off by a millionth of the longest ‖x‖² or so, and faster.
    Products,
}

/// The function of distances or products.
pub(crate) type Finish<'a> = &'a dyn Fn(&mut [f32]);

/// Columns that are computed before their kernel values are.
const STRETCH: usize = 1024;

/// Rows that are best computed together, out of so many.
fn at_once(rows: usize, group: usize) -> usize {
    if rows >= group {
        group
    } else if rows >= 3 {
        3
    } else {
        1
    }
}

/// The stretches of a range of columns; they start at whole panels, wherever the range does.
fn stretches(cols: &Range<usize>) -> impl Iterator<Item = Range<usize>> + use<> {
    let (start, end) = (cols.start, cols.end);
    (start / STRETCH..end.div_ceil(STRETCH)).map(move |s| (s * STRETCH).max(start)..((s + 1) * STRETCH).min(end))
}

/// Sends a stretch of every line through `finish`.
fn finish_stretch(stretch: &Range<usize>, cols: &Range<usize>, lines: &mut [&mut [f32]], finish: Finish<'_>) {
    for line in lines {
        finish(&mut line[stretch.start - cols.start..stretch.end - cols.start]);
    }
}

/// Calls `visit` with the numbers of each example that are stored: place, feature, value before any change.
fn each(source: &Values, visit: impl FnMut(usize, usize, f64)) {
    fn dense<S: Scalar>(rows: &Rows<S>, mut visit: impl FnMut(usize, usize, f64)) {
        for i in 0..rows.len() {
            rows.row(i).iter().enumerate().for_each(|(k, x)| visit(i, k, x.wide()));
        }
    }
    fn sparse<S: Scalar>(rows: &SparseRows<S>, mut visit: impl FnMut(usize, usize, f64)) {
        for i in 0..rows.len() {
            rows.row(i).iter().for_each(|c| visit(i, c.index as usize, c.value.wide()));
        }
    }
    match source {
        Values::Dense(r) => dense(r, visit),
        Values::Dense32(r) => dense(r, visit),
        Values::Sparse(r) => sparse(r, visit),
        Values::Sparse32(r) => sparse(r, visit),
        Values::Text(_) | Values::Index(_) | Values::Items(_) => {}
    }
}

/// Numbers that are looked at in one go.
const PART: usize = 1 << 12;

/// Looks at all stored numbers, in parts and in parallel, and joins what was found; `None` for other data than vectors.
fn look<R: Send>(
    source: &Values,
    part: impl Fn(&[f64]) -> R + Sync + Send,
    join: impl Fn(R, R) -> R + Sync + Send,
) -> Option<R> {
    fn widen<T: Sync, R: Send>(
        stored: &[T],
        number: impl Fn(&T) -> f64 + Sync + Send,
        part: impl Fn(&[f64]) -> R + Sync + Send,
        join: impl Fn(R, R) -> R + Sync + Send,
    ) -> Option<R> {
        let wide = |stored: &[T]| part(&stored.iter().map(&number).collect::<Vec<f64>>());
        if stored.len() <= PART {
            // one part is not worth waking a thread
            return Some(wide(stored)).filter(|_| !stored.is_empty());
        }
        let parts = stored.len().div_ceil(PART);
        parallel::map(parts, |i| wide(&stored[i * PART..stored.len().min((i + 1) * PART)])).into_iter().reduce(join)
    }
    let nothing = part(&[]);
    let found = match source {
        Values::Dense(r) if r.values().len() <= PART => Some(part(r.values())),
        Values::Dense(r) => {
            let (stored, parts) = (r.values(), r.values().len().div_ceil(PART));
            parallel::map(parts, |i| part(&stored[i * PART..stored.len().min((i + 1) * PART)]))
                .into_iter()
                .reduce(&join)
        }
        Values::Dense32(r) => widen(r.values(), |&x| f64::from(x), &part, &join),
        Values::Sparse(r) => widen(r.coordinates(), |c| c.value, &part, &join),
        Values::Sparse32(r) => widen(r.coordinates(), |c| f64::from(c.value), &part, &join),
        Values::Text(_) | Values::Index(_) | Values::Items(_) => return None,
    };
    Some(found.unwrap_or(nothing))
}

/// True if every stored number obeys; false for other data than vectors.
fn all(source: &Values, obeys: impl Fn(f64) -> bool + Sync + Send) -> bool {
    look(source, |numbers| numbers.iter().all(|&x| obeys(x)), |a, b| a && b).unwrap_or(false)
}

/// True if every stored number is finite; false for other data than vectors.
pub(crate) fn is_finite(source: &Values) -> bool {
    match source {
        Values::Dense(r) => r.extremes().finite,
        Values::Dense32(r) => r.extremes().finite,
        _ => all(source, f64::is_finite),
    }
}

/// Copies the lanes of a panel that belong to a stretch of the columns.
#[inline(always)]
fn put(panel: usize, sums: &[f32; PANEL], stretch: &Range<usize>, cols: &Range<usize>, line: &mut [f32]) {
    let first = panel * PANEL;
    let (from, to) = (stretch.start.max(first), stretch.end.min(first + PANEL));
    let target = &mut line[from - cols.start..to - cols.start];
    match target.first_chunk_mut::<PANEL>() {
        // of a length that the compiler knows: a few stores instead of a call
        Some(whole) => *whole = *sums,
        None => target.copy_from_slice(&sums[from - first..to - first]),
    }
}

/// The panels that a range of columns touches.
fn panels(cols: &Range<usize>) -> Range<usize> {
    cols.start / PANEL..cols.end.div_ceil(PANEL)
}

#[cfg(test)]
mod tests;
