//! The layouts in which one row meets many columns.

use crate::data::{Coordinate, Rows, Scalar, SparseRows};
use crate::vectorise::{Loops, vectorised};
use std::ops::Range;

/// Dense columns feature by feature, in panels of `S::LANES` examples: value of feature k and lane l of panel p is at
/// `(p * width + k) * LANES + l`. One example against all others then streams straight through memory.
pub(crate) struct Panels<S> {
    pub(crate) values: Vec<S>,
    pub(crate) width: usize,
}

/// Sparse columns in the layout that makes one row against all of them cheapest.
pub(crate) enum SparseColumns<S> {
    /// Spread out in panels: a stored coordinate of the row is then one vector operation for many columns.
    Panels(Panels<S>),
    /// Feature by feature.
    Lists(Lists<S>),
}

impl<S: Scalar> SparseColumns<S> {
    /// Panels for data that are not very sparse, where a vector of columns (64 bytes) holds more than one stored coordinate on
    /// average, and that stay small when spread out.
    pub(crate) fn new(rows: &SparseRows<S>) -> Self {
        const MAX_LAYOUT_BYTES: usize = 1 << 30;
        let cells = rows.len().saturating_mul(rows.width());
        let dense_enough = rows.coordinates().len().saturating_mul(64 / size_of::<S>()) > cells;
        if dense_enough && cells.saturating_mul(size_of::<S>()) <= MAX_LAYOUT_BYTES {
            let mut panels = Panels::zeros(rows.len(), rows.width());
            for i in 0..rows.len() {
                for c in rows.row(i) {
                    panels.set(i, c.index as usize, c.value);
                }
            }
            Self::Panels(panels)
        } else {
            Self::Lists(Lists::new(rows))
        }
    }

    /// Inner products of one row with consecutive columns, each added up in the order of the coordinates.
    pub(crate) fn row(&self, x: &[Coordinate<S>], cols: &Range<usize>, out: &mut [S]) {
        match self {
            Self::Panels(panels) if S::LANES == <f32 as Scalar>::LANES => {
                vectorised(PanelRow::<S, { <f32 as Scalar>::LANES }> { x, panels, cols, out });
            }
            Self::Panels(panels) => vectorised(PanelRow::<S, { <f64 as Scalar>::LANES }> { x, panels, cols, out }),
            Self::Lists(lists) => lists.row(x, cols, out),
        }
    }
}

/// One sparse row against columns spread out in panels of so many lanes.
struct PanelRow<'a, S, const LANES: usize> {
    x: &'a [Coordinate<S>],
    panels: &'a Panels<S>,
    cols: &'a Range<usize>,
    out: &'a mut [S],
}

impl<S: Scalar, const LANES: usize> Loops for PanelRow<'_, S, LANES> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { x, panels, cols, out } = self;
        let mut done = cols.start;
        while done < cols.end {
            let (p, lane) = (done / LANES, done % LANES);
            let count = (LANES - lane).min(cols.end - done);
            let (lines, _) = panels.panel(p).as_chunks::<LANES>();
            let mut sums = [S::default(); LANES];
            for c in x {
                // a feature that no column has adds nothing
                if let Some(line) = lines.get(c.index as usize) {
                    for l in 0..LANES {
                        sums[l] += c.value * line[l];
                    }
                }
            }
            out[done - cols.start..done - cols.start + count].copy_from_slice(&sums[lane..lane + count]);
            done += count;
        }
    }
}

/// Sparse columns feature by feature: the examples that have a feature, with its value.
pub(crate) struct Lists<S> {
    pub(crate) starts: Vec<usize>,
    pub(crate) entries: Vec<Coordinate<S>>,
}

impl<S: Scalar> Panels<S> {
    /// Repacks rows.
    pub(crate) fn new(rows: &Rows<S>) -> Self {
        let mut panels = Self::zeros(rows.len(), rows.width());
        for i in 0..rows.len() {
            for (k, &x) in rows.row(i).iter().enumerate() {
                panels.set(i, k, x);
            }
        }
        panels
    }

    /// Room for n examples.
    pub(super) fn zeros(n: usize, width: usize) -> Self {
        Self { values: vec![S::default(); n.div_ceil(S::LANES) * width * S::LANES], width }
    }

    /// Puts a coordinate at its place.
    fn set(&mut self, example: usize, feature: usize, value: S) {
        let place = ((example / S::LANES) * self.width + feature) * S::LANES + example % S::LANES;
        self.values[place] = value;
    }

    /// The numbers of one panel.
    pub(crate) fn panel(&self, p: usize) -> &[S] {
        let size = self.width * S::LANES;
        &self.values[p * size..(p + 1) * size]
    }
}

impl<S: Scalar> Lists<S> {
    /// Transposes rows.
    pub(crate) fn new(rows: &SparseRows<S>) -> Self {
        let mut starts = vec![0; rows.width() + 1];
        for c in rows.coordinates() {
            starts[c.index as usize + 1] += 1;
        }
        for k in 0..rows.width() {
            starts[k + 1] += starts[k];
        }
        let mut next = starts.clone();
        let mut entries = vec![Coordinate { index: 0, value: S::default() }; rows.coordinates().len()];
        for i in 0..rows.len() {
            for c in rows.row(i) {
                let place = &mut next[c.index as usize];
                entries[*place] = Coordinate { index: i as u32, value: c.value };
                *place += 1;
            }
        }
        Self { starts, entries }
    }

    /// The examples that have a feature; none for a feature never seen.
    pub(crate) fn list(&self, feature: usize) -> &[Coordinate<S>] {
        match (self.starts.get(feature), self.starts.get(feature + 1)) {
            (Some(&a), Some(&b)) => &self.entries[a..b],
            _ => &[],
        }
    }

    /// Inner products of one row: only examples that share a feature are touched.
    fn row(&self, x: &[Coordinate<S>], cols: &Range<usize>, out: &mut [S]) {
        out.fill(S::default());
        for c in x {
            let list = self.list(c.index as usize);
            let whole = cols.start == 0 && list.last().is_none_or(|last| (last.index as usize) < cols.end);
            let list = if whole {
                list
            } else {
                let from = list.partition_point(|e| (e.index as usize) < cols.start);
                let to = list.partition_point(|e| (e.index as usize) < cols.end);
                &list[from..to]
            };
            for e in list {
                out[e.index as usize - cols.start] += c.value * e.value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    /// Vectors of which one coordinate of so many is stored.
    fn vectors<S: Scalar>(n: usize, width: usize, one_of: usize) -> SparseRows<S> {
        let mut random = Seed(one_of as u64).stream("layouts");
        let mut rows = SparseRows::new(width);
        for _ in 0..n {
            let row: Vec<Coordinate<S>> = (0..width as u32)
                .filter(|_| random.below(one_of) == 0)
                .map(|index| Coordinate { index, value: S::narrow(f64::from(index + 1).sin()) })
                .collect();
            rows.push(&row);
        }
        rows
    }

    fn check<S: Scalar>(one_of: usize, panels: bool) {
        let (rows, cols) = (vectors::<S>(3, 50, 2), vectors::<S>(150, 40, one_of));
        let columns = SparseColumns::new(&cols);
        assert_eq!(matches!(columns, SparseColumns::Panels(_)), panels);
        for range in [0..150, 3..140, 63..65, 149..150, 7..7] {
            for i in 0..3 {
                let mut out = vec![S::narrow(f64::NAN); range.len()];
                columns.row(rows.row(i), &range, &mut out);
                for (j, o) in range.clone().zip(out) {
                    // the products of blocks: coordinate by coordinate of the column, zeros too
                    let mut sum = S::default();
                    for c in cols.row(j) {
                        let x = rows.row(i).iter().find(|x| x.index == c.index).map_or(S::default(), |x| x.value);
                        sum += c.value * x;
                    }
                    assert_eq!(o.wide().to_bits(), sum.wide().to_bits(), "{i} {j}");
                }
            }
        }
    }

    #[test]
    fn one_row_has_the_bits_of_a_block_in_every_layout() {
        check::<f64>(2, true);
        check::<f64>(20, false);
        check::<f32>(2, true);
        check::<f32>(40, false);
    }
}
