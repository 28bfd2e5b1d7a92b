//! Panels of f32: squared distances as Σ (x − y)², which cancels nothing, or as ‖x‖² + ‖y‖² − 2⟨x, y⟩ where that is sharp enough; and
//! inner products.
//!
//! Several rows share one reading of a panel, and a panel stays in the second-level cache until all of them have met it. That makes the
//! rows of many examples at once a product of matrices, at nearly its speed.

use super::{Change, Distances, Finish, PANEL, each, finish_stretch, panels, put, stretches};
use crate::data::{Rows, Scalar, Values};
use crate::gram::Precision;
use crate::kernels::vectors::narrow::narrow_row;
use crate::kernels::vectors::weight;
use crate::parallel;
use crate::vectorise::{Loops, vectorised};
use pulp::{Arch, Simd, WithSimd};
use std::ops::Range;

/// The value of feature k and lane l of panel p is at `(p · width + k) · 64 + l`.
pub(crate) struct Real {
    values: Vec<f32>,
    width: usize,
    len: usize,
    /// The vectors as they were given, and what was changed in packing: a dense example is read from there, since a panel has a line of cache
    /// for each of its features.
    source: Values,
    change: Change,
    /// The examples of the source that were packed, in this order; none: all.
    places: Option<Vec<usize>>,
    /// ‖x‖² of each example, as it is packed; empty where inner products are wanted.
    squares: Vec<f32>,
    /// The largest ‖x‖², also of the examples that these were chosen from: a part of a matrix has the values of the whole.
    longest: f32,
}

/// Rows that share one reading of a panel's line from the first-level cache.
const GROUP: usize = 6;
/// Rows that share one reading of a panel from memory: with it they stay in the second-level cache.
const CHUNK: usize = 48;
/// Vectors of a panel's line that are summed at once: with six rows they just fit the registers of AVX-512.
const VECTORS_PER_SUM: usize = 4;
/// Features whose products are added up by themselves, so that rounding grows with their number only.
const FEATURES_PER_SUM: usize = 256;
/// Smallest number of features from which on products are faster than differences.
const MIN_FEATURES_FOR_PRODUCTS: usize = 64;
/// Features that are turned from rows into lines of a panel at a time: they stay in the first-level cache.
const FEATURES_TURNED: usize = 16;

/// Several rows at once pay where one streams more than the second-level cache holds, for few more operations.
pub(super) fn group(width: usize) -> usize {
    if width >= 128 { GROUP } else { 1 }
}

/// The most rows that gain from being computed at once.
pub(super) fn panel_rows(width: usize) -> usize {
    if width >= MIN_FEATURES_FOR_PRODUCTS { CHUNK } else { 1 }
}

impl Real {
    /// Panels of dense or sparse vectors, all of them or those at some places; none of other data. Their numbers are finite.
    pub(crate) fn new(source: &Values, places: Option<Vec<usize>>, change: &Change) -> Option<Self> {
        let (len, width) = (places.as_ref().map_or(source.len(), Vec::len), source.width()?);
        let size = (width * PANEL).max(1);
        let mut values = vec![0.0; len.div_ceil(PANEL) * size];
        let squared = change.distance && width >= MIN_FEATURES_FOR_PRODUCTS;
        let mut squares = vec![0.0; if squared { len } else { 0 }];
        let pack = |p: usize, panel: &mut [f32], squares: &mut [f32]| {
            let examples = p * PANEL..len.min((p + 1) * PANEL);
            match source {
                Values::Dense(r) => pack_panel(r, places.as_deref(), examples, change, panel),
                Values::Dense32(r) => pack_panel(r, places.as_deref(), examples, change, panel),
                _ => {}
            }
            if squared {
                vectorised(Squares { panel, squares });
            }
        };
        if let (Values::Sparse(_) | Values::Sparse32(_), Some(places)) = (source, &places) {
            return Self::new(&source.select(places), None, change);
        }
        let number = |k: usize, x: f64| {
            let moved = x - change.shift().map_or(0.0, |s| s[k]);
            (moved * change.weights().map_or(1.0, |w| weight(w, k))) as f32
        };
        if !matches!(source, Values::Dense(_) | Values::Dense32(_)) {
            each(source, |i, k, x| values[(i / PANEL * width + k) * PANEL + i % PANEL] = number(k, x));
        }
        let mut rest = squares.as_mut_slice();
        let mut parts = Vec::with_capacity(len.div_ceil(PANEL));
        for panel in values.chunks_mut(size) {
            let count = PANEL.min(rest.len());
            let (squares, others) = std::mem::take(&mut rest).split_at_mut(count);
            parts.push((panel, squares));
            rest = others;
        }
        parallel::consume(parts, |p, (panel, squares): (&mut [f32], &mut [f32])| pack(p, panel, squares));
        let longest = squares.iter().copied().fold(0.0, f32::max);
        let (source, change) = (source.clone(), change.clone());
        Some(Self { values, width, len, source, change, places, squares, longest })
    }

    /// The same where these are some of more examples, of which the longest is known.
    pub(crate) fn among(self, longest: f32) -> Self {
        Self { longest: longest.max(self.longest), ..self }
    }

    pub(super) fn select(&self, keep: &[usize]) -> Self {
        if let Values::Dense(_) | Values::Dense32(_) = self.source {
            let places = keep.iter().map(|&i| self.places.as_ref().map_or(i, |places| places[i])).collect();
            if let Some(chosen) = Self::new(&self.source, Some(places), &self.change) {
                return chosen.among(self.longest);
            }
        }
        let width = self.width;
        let size = (width * PANEL).max(1);
        let mut values = vec![0.0; keep.len().div_ceil(PANEL) * width * PANEL];
        parallel::strips(&mut values, size, |p, panel| {
            let keep = &keep[p * PANEL..keep.len().min((p + 1) * PANEL)];
            let from: Vec<usize> = keep.iter().map(|i| i / PANEL * width * PANEL + i % PANEL).collect();
            for (k, line) in panel.chunks_exact_mut(PANEL).enumerate() {
                for (o, f) in line.iter_mut().zip(&from) {
                    *o = self.values[f + k * PANEL];
                }
            }
        });
        let squares =
            if self.squares.is_empty() { Vec::new() } else { keep.iter().map(|&i| self.squares[i]).collect() };
        Self {
            values,
            squares,
            len: keep.len(),
            width,
            source: self.source.clone(),
            change: self.change.clone(),
            places: None,
            longest: self.longest,
        }
    }

    /// Coordinates of the vectors.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// The largest ‖x‖² where distances could be taken from products.
    pub(crate) fn longest(&self) -> Option<f64> {
        (!self.squares.is_empty()).then_some(f64::from(self.longest))
    }

    /// Writes an example to every `count`-th place from the `r`-th on.
    fn spread(&self, i: usize, r: usize, count: usize, xs: &mut [f32]) {
        let places = xs[r..].iter_mut().step_by(count);
        let frame = (self.change.shift(), self.change.weights());
        let example = self.places.as_ref().map_or(i, |places| places[i]);
        let mut row = Vec::with_capacity(self.width);
        match &self.source {
            Values::Dense(r) => narrow_row(r.row(example), frame, &mut row),
            Values::Dense32(r) => narrow_row(r.row(example), frame, &mut row),
            _ => {
                let first = i / PANEL * self.width * PANEL + i % PANEL;
                return places.enumerate().for_each(|(k, x)| *x = self.values[first + k * PANEL]);
            }
        };
        places.zip(row).for_each(|(x, value)| *x = value);
    }

    pub(super) fn rows(
        &self,
        rows: &[usize],
        cols: &Range<usize>,
        lines: &mut [&mut [f32]],
        by: Distances,
        finish: Finish<'_>,
    ) {
        for (rows, lines) in rows.chunks(CHUNK).zip(lines.chunks_mut(CHUNK)) {
            let groups = self.groups(rows.len(), |k, r, count, xs| self.spread(rows[k], r, count, xs));
            let square = |k: usize| self.squares[rows[k]];
            self.chunk(&groups, &square, cols, lines, by, finish);
        }
    }

    /// The same for vectors that are not among these: width numbers each, moved and weighted alike, with their squared lengths.
    pub(crate) fn rows_of_others(
        &self,
        vectors: &[f32],
        squares: &[f32],
        cols: &Range<usize>,
        lines: &mut [&mut [f32]],
        by: Distances,
        finish: Finish<'_>,
    ) {
        let width = self.width.max(1);
        let chunks = vectors.chunks(CHUNK * width).zip(squares.chunks(CHUNK)).zip(lines.chunks_mut(CHUNK));
        for ((vectors, squares), lines) in chunks {
            let groups = self.groups(lines.len(), |k, r, count, xs| {
                let vector = &vectors[k * width..(k + 1) * width];
                xs[r..].iter_mut().step_by(count).zip(vector).for_each(|(x, value)| *x = *value);
            });
            self.chunk(&groups, &|k| squares[k], cols, lines, by, finish);
        }
    }

    /// Rows that are in groups, whose squared lengths `square` tells.
    fn chunk(
        &self,
        groups: &[Group],
        square: &dyn Fn(usize) -> f32,
        cols: &Range<usize>,
        lines: &mut [&mut [f32]],
        by: Distances,
        finish: Finish<'_>,
    ) {
        debug_assert!(cols.end <= self.len);
        let way = match (self.change.distance, by) {
            (true, Distances::Products) if !self.squares.is_empty() => Way::DistanceByProducts,
            (true, _) => Way::Distance,
            (false, _) => Way::Product,
        };
        for stretch in stretches(cols) {
            Arch::new().dispatch(PanelSums { columns: self, groups, way, stretch: &stretch, cols, lines });
            if way == Way::DistanceByProducts {
                let others = &self.squares[stretch.clone()];
                for (k, line) in lines.iter_mut().enumerate() {
                    let line = &mut line[stretch.start - cols.start..stretch.end - cols.start];
                    vectorised(ToDistances { square: square(k), others, line });
                }
            }
            finish_stretch(&stretch, cols, lines, finish);
        }
    }

    /// So many rows, six at a time, then three, then alone, each group feature by feature; `spread` writes the k-th of them to every
    /// `count`-th place from the r-th on.
    fn groups(&self, rows: usize, spread: impl Fn(usize, usize, usize, &mut [f32])) -> Vec<Group> {
        let mut groups = Vec::new();
        let mut first = 0;
        while first < rows {
            let count = super::at_once(rows - first, GROUP);
            let mut xs = vec![0.0; self.width * count];
            (0..count).for_each(|r| spread(first + r, r, count, &mut xs));
            groups.push(Group { xs, count });
            first += count;
        }
        groups
    }
}

/// Squared lengths of the examples of a panel.
struct Squares<'a> {
    panel: &'a [f32],
    squares: &'a mut [f32],
}

impl Loops for Squares<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let mut sums = [0.0_f64; PANEL];
        let (lines, _) = self.panel.as_chunks::<PANEL>();
        for line in lines {
            for (sum, x) in sums.iter_mut().zip(line) {
                *sum += f64::from(*x) * f64::from(*x);
            }
        }
        for (square, sum) in self.squares.iter_mut().zip(sums) {
            *square = sum as f32;
        }
    }
}

/// Inner products become squared distances; rounding can make them slightly negative.
struct ToDistances<'a> {
    square: f32,
    others: &'a [f32],
    line: &'a mut [f32],
}

impl Loops for ToDistances<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (value, other) in self.line.iter_mut().zip(self.others) {
            *value = (self.square + other - 2.0 * *value).max(0.0);
        }
    }
}

/// Packs up to 64 dense rows: each becomes a row in f32, and some features of all of them at a time become lines of the panel.
fn pack_panel<S: Scalar>(
    rows: &Rows<S>,
    places: Option<&[usize]>,
    examples: Range<usize>,
    change: &Change,
    panel: &mut [f32],
) {
    let (width, count) = (rows.width(), examples.len());
    f32::scratch(|narrow| {
        narrow.clear();
        for i in examples {
            let example = places.map_or(i, |places| places[i]);
            narrow_row(rows.row(example), (change.shift(), change.weights()), narrow);
        }
        for first in (0..width).step_by(FEATURES_TURNED) {
            let features = first..(first + FEATURES_TURNED).min(width);
            for lane in 0..count {
                let row = &narrow[lane * width..(lane + 1) * width];
                for k in features.clone() {
                    panel[k * PANEL + lane] = row[k];
                }
            }
        }
    });
}

/// Rows that are summed side by side.
struct Group {
    /// width × count.
    xs: Vec<f32>,
    count: usize,
}

/// The sum over the features.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Σ (x − y)².
    Distance,
    /// Σ x y in parts, to become a distance.
    DistanceByProducts,
    /// Σ x y.
    Product,
}

/// The sums of some rows with the panels of a stretch of columns. Each lane adds its features in order, so its bits depend on
/// neither the vectors nor the rows beside it.
struct PanelSums<'a, 'b> {
    columns: &'a Real,
    groups: &'a [Group],
    way: Way,
    stretch: &'a Range<usize>,
    cols: &'a Range<usize>,
    lines: &'a mut [&'b mut [f32]],
}

impl WithSimd for PanelSums<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let size = self.columns.width * PANEL;
        for p in panels(self.stretch) {
            let panel = &self.columns.values[p * size..(p + 1) * size];
            let mut first = 0;
            for group in self.groups {
                let lines = &mut self.lines[first..first + group.count];
                let place = Place { p, stretch: self.stretch, cols: self.cols };
                match group.count {
                    GROUP => some::<S, GROUP>(simd, panel, &group.xs, self.way, place, lines),
                    3 => some::<S, 3>(simd, panel, &group.xs, self.way, place, lines),
                    _ => some::<S, 1>(simd, panel, &group.xs, self.way, place, lines),
                }
                first += group.count;
            }
        }
    }
}

/// The panel of some sums, and the columns that are wanted.
#[derive(Clone, Copy)]
struct Place<'a> {
    p: usize,
    stretch: &'a Range<usize>,
    cols: &'a Range<usize>,
}

#[inline(always)]
fn some<S: Simd, const R: usize>(
    simd: S,
    panel: &[f32],
    xs: &[f32],
    way: Way,
    place: Place<'_>,
    lines: &mut [&mut [f32]],
) {
    let mut sums = [[0.0_f32; PANEL]; R];
    let (xs, _) = xs.as_chunks::<R>();
    match way {
        Way::Distance => sum::<S, R, true>(simd, panel, xs, &mut sums),
        Way::Product => sum::<S, R, false>(simd, panel, xs, &mut sums),
        Way::DistanceByProducts => {
            for (panel, xs) in panel.chunks(FEATURES_PER_SUM * PANEL).zip(xs.chunks(FEATURES_PER_SUM)) {
                sum::<S, R, false>(simd, panel, xs, &mut sums);
            }
        }
    }
    for (sums, line) in sums.iter().zip(lines) {
        put(place.p, sums, place.stretch, place.cols, line);
    }
}

/// Adds the sums over some features to what is there.
#[inline(always)]
fn sum<S: Simd, const R: usize, const DISTANCE: bool>(
    simd: S,
    panel: &[f32],
    xs: &[[f32; R]],
    sums: &mut [[f32; PANEL]; R],
) {
    let across = PANEL / S::F32_LANES;
    let (vectors, _) = S::as_simd_f32s(panel);
    let mut first = 0;
    while first < across {
        let mut totals = [[simd.splat_f32s(0.0); VECTORS_PER_SUM]; R];
        for (line, x) in vectors.chunks_exact(across).zip(xs) {
            let line = &line[first..first + VECTORS_PER_SUM];
            for r in 0..R {
                let x = simd.splat_f32s(x[r]);
                for v in 0..VECTORS_PER_SUM {
                    totals[r][v] = if DISTANCE {
                        let difference = simd.sub_f32s(x, line[v]);
                        simd.mul_add_f32s(difference, difference, totals[r][v])
                    } else {
                        simd.mul_add_f32s(x, line[v], totals[r][v])
                    };
                }
            }
        }
        for (sums, totals) in sums.iter_mut().zip(&totals) {
            let (out, _) = S::as_mut_simd_f32s(sums);
            for (o, &total) in out[first..first + VECTORS_PER_SUM].iter_mut().zip(totals) {
                *o = simd.add_f32s(*o, total);
            }
        }
        first += VECTORS_PER_SUM;
    }
}
