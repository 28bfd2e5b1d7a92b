//! Panels of f32: squared distances as Σ (x − y)², which cancels nothing, or as ‖x‖² + ‖y‖² − 2⟨x, y⟩ where that is sharp enough; and
//! inner products.
//!
//! Several rows share one reading of a panel, and a panel stays in the second-level cache until all of them have met it. That makes the
//! rows of many examples at once a product of matrices, at nearly its speed.

use super::{Change, Distances, Finish, PANEL, all, each, finish_stretch, panels, put, stretches};
use crate::data::{Rows, Scalar, Values};
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
    distance: bool,
    /// The same values example by example, where they are few: reading one from its panel touches a line of cache for each feature.
    examples: Vec<f32>,
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
/// Largest size of a second copy, example by example.
const MAX_EXAMPLES_BYTES: usize = 64 << 20;
/// Smallest number of features from which on products are faster than differences.
const MIN_FEATURES_FOR_PRODUCTS: usize = 64;

impl Real {
    /// Panels of dense or sparse vectors; none of other data, or of numbers that are not finite.
    pub(crate) fn new(source: &Values, change: &Change<'_>) -> Option<Self> {
        let (len, width) = (source.len(), source.width()?);
        if !all(source, f64::is_finite) {
            return None;
        }
        let mut values = vec![0.0; len.div_ceil(PANEL) * width * PANEL];
        let number = |k: usize, x: f64| {
            let moved = x - change.shift.map_or(0.0, |s| s[k]);
            (moved * change.weights.map_or(1.0, |w| weight(w, k))) as f32
        };
        let size = (width * PANEL).max(1);
        match source {
            Values::Dense(r) => parallel::strips(&mut values, size, |p, panel| pack_panel(r, p, panel, number)),
            Values::Dense32(r) => parallel::strips(&mut values, size, |p, panel| pack_panel(r, p, panel, number)),
            _ => each(source, |i, k, x| values[(i / PANEL * width + k) * PANEL + i % PANEL] = number(k, x)),
        }
        let mut squares = Vec::new();
        if change.distance && width >= MIN_FEATURES_FOR_PRODUCTS {
            squares = vec![0.0; len];
            let panel = |p: usize| &values[p * size..(p + 1) * size];
            parallel::strips(&mut squares, PANEL, |p, squares| vectorised(Squares { panel: panel(p), squares }));
        }
        let longest = squares.iter().copied().fold(0.0, f32::max);
        Some(Self { values, width, len, distance: change.distance, examples: Vec::new(), squares, longest })
    }

    /// Keeps the second copy, where rows are long and the copy is small.
    pub(super) fn keep_examples(&mut self) {
        let width = self.width;
        if width < MIN_FEATURES_FOR_PRODUCTS || self.len * width * size_of::<f32>() > MAX_EXAMPLES_BYTES {
            return;
        }
        let mut examples = vec![0.0; self.len * width];
        parallel::strips(&mut examples, PANEL * width, |p, rows| {
            let panel = &self.values[p * width * PANEL..(p + 1) * width * PANEL];
            for (lane, row) in rows.chunks_exact_mut(width).enumerate() {
                for (x, line) in row.iter_mut().zip(panel.chunks_exact(PANEL)) {
                    *x = line[lane];
                }
            }
        });
        self.examples = examples;
    }

    pub(super) fn select(&self, keep: &[usize]) -> Self {
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
        let mut chosen = Self { values, squares, len: keep.len(), examples: Vec::new(), ..*self };
        chosen.keep_examples();
        chosen
    }

    /// Several rows at once pay where one streams more than the second-level cache holds, for few more operations.
    pub(super) fn group(&self) -> usize {
        if self.width >= 128 { GROUP } else { 1 }
    }

    /// The most rows that gain from being computed at once.
    pub(super) fn panel_rows(&self) -> usize {
        if self.width >= MIN_FEATURES_FOR_PRODUCTS { CHUNK } else { 1 }
    }

    /// The largest ‖x‖² where distances could be taken from products.
    pub(crate) fn longest(&self) -> Option<f64> {
        (!self.squares.is_empty()).then_some(f64::from(self.longest))
    }

    /// Writes an example to every `count`-th place from the `r`-th on.
    fn spread(&self, i: usize, r: usize, count: usize, xs: &mut [f32]) {
        let places = xs[r..].iter_mut().step_by(count);
        if self.examples.is_empty() {
            let first = i / PANEL * self.width * PANEL + i % PANEL;
            places.enumerate().for_each(|(k, x)| *x = self.values[first + k * PANEL]);
        } else {
            places.zip(&self.examples[i * self.width..(i + 1) * self.width]).for_each(|(x, value)| *x = *value);
        }
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
        let way = match (self.distance, by) {
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

/// Packs up to 64 dense rows.
fn pack_panel<S: Scalar>(rows: &Rows<S>, p: usize, panel: &mut [f32], number: impl Fn(usize, f64) -> f32) {
    for i in p * PANEL..rows.len().min((p + 1) * PANEL) {
        for (k, x) in rows.row(i).iter().enumerate() {
            panel[k * PANEL + i % PANEL] = number(k, x.wide());
        }
    }
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
