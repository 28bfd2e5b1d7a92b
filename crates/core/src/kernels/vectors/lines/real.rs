//! Panels of f32: Σ (x − y)², which cancels nothing, or Σ x y.

use super::{Change, Finish, PANEL, all, at_once, each, finish_stretch, panels, put, stretches};
use crate::data::{Rows, Scalar, Values};
use crate::kernels::vectors::weight;
use crate::parallel;
use pulp::{Arch, Simd, WithSimd};
use std::ops::Range;

/// The value of feature k and lane l of panel p is at `(p · width + k) · 64 + l`.
pub(crate) struct Real {
    values: Vec<f32>,
    width: usize,
    len: usize,
    distance: bool,
}

/// Rows that share one reading of a panel.
const GROUP: usize = 6;
/// Vectors of a panel's line that are summed at once: with six rows they just fit the registers of AVX-512.
const VECTORS_PER_SUM: usize = 4;

impl Real {
    pub(super) fn new(source: &Values, change: &Change<'_>) -> Option<Self> {
        let (len, width) = (source.len(), source.width()?);
        if !all(source, f64::is_finite) {
            return None;
        }
        let mut packed =
            Self { values: vec![0.0; len.div_ceil(PANEL) * width * PANEL], width, len, distance: change.distance };
        let number = |k: usize, x: f64| {
            let moved = x - change.shift.map_or(0.0, |s| s[k]);
            (moved * change.weights.map_or(1.0, |w| weight(w, k))) as f32
        };
        let size = (width * PANEL).max(1);
        match source {
            Values::Dense(r) => {
                parallel::strips(&mut packed.values, size, |p, panel| pack_panel(r, p, panel, number));
            }
            Values::Dense32(r) => {
                parallel::strips(&mut packed.values, size, |p, panel| pack_panel(r, p, panel, number));
            }
            _ => {
                let values = &mut packed.values;
                each(source, |i, k, x| values[(i / PANEL * width + k) * PANEL + i % PANEL] = number(k, x));
            }
        }
        Some(packed)
    }

    pub(super) fn select(&self, keep: &[usize]) -> Self {
        let width = self.width;
        let mut values = vec![0.0; keep.len().div_ceil(PANEL) * width * PANEL];
        for (panel, keep) in values.chunks_exact_mut((width * PANEL).max(1)).zip(keep.chunks(PANEL)) {
            let from: Vec<usize> = keep.iter().map(|i| i / PANEL * width * PANEL + i % PANEL).collect();
            for (k, line) in panel.chunks_exact_mut(PANEL).enumerate() {
                for (o, f) in line.iter_mut().zip(&from) {
                    *o = self.values[f + k * PANEL];
                }
            }
        }
        Self { values, width, len: keep.len(), distance: self.distance }
    }

    /// Several rows at once pay where one streams more than the second-level cache holds, for few more operations.
    pub(super) fn group(&self) -> usize {
        if self.width >= 128 { GROUP } else { 1 }
    }

    fn example(&self, i: usize) -> impl Iterator<Item = f32> + '_ {
        let first = i / PANEL * self.width * PANEL + i % PANEL;
        (0..self.width).map(move |k| self.values[first + k * PANEL])
    }

    pub(super) fn rows(&self, rows: &[usize], cols: &Range<usize>, lines: &mut [&mut [f32]], finish: Finish<'_>) {
        debug_assert!(cols.end <= self.len);
        let (mut rows, mut lines) = (rows, lines);
        while !rows.is_empty() {
            let count = at_once(rows.len(), GROUP);
            let (now, later) = lines.split_at_mut(count);
            match count {
                GROUP => self.some::<GROUP>(rows, cols, now, finish),
                3 => self.some::<3>(rows, cols, now, finish),
                _ => self.some::<1>(rows, cols, now, finish),
            }
            (rows, lines) = (&rows[count..], later);
        }
    }

    fn some<const R: usize>(&self, rows: &[usize], cols: &Range<usize>, lines: &mut [&mut [f32]], finish: Finish<'_>) {
        let mut xs = vec![[0.0_f32; R]; self.width];
        for (r, &i) in rows.iter().enumerate().take(R) {
            for (x, value) in xs.iter_mut().zip(self.example(i)) {
                x[r] = value;
            }
        }
        let arch = Arch::new();
        for stretch in stretches(cols) {
            if self.distance {
                arch.dispatch(Sums::<R, true> { columns: self, xs: &xs, stretch: &stretch, cols, lines: &mut *lines });
            } else {
                arch.dispatch(Sums::<R, false> { columns: self, xs: &xs, stretch: &stretch, cols, lines: &mut *lines });
            }
            finish_stretch(&stretch, cols, lines, finish);
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

/// The sums of R rows with the panels of a range of columns. Each lane adds its features in order, so its bits depend on
/// neither the vectors nor the rows beside it.
struct Sums<'a, 'b, const R: usize, const DISTANCE: bool> {
    columns: &'a Real,
    xs: &'a [[f32; R]],
    stretch: &'a Range<usize>,
    cols: &'a Range<usize>,
    lines: &'a mut [&'b mut [f32]],
}

impl<const R: usize, const DISTANCE: bool> WithSimd for Sums<'_, '_, R, DISTANCE> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let size = self.columns.width * PANEL;
        let across = PANEL / S::F32_LANES;
        let mut sums = [[0.0_f32; PANEL]; R];
        for p in panels(self.stretch) {
            let panel = &self.columns.values[p * size..(p + 1) * size];
            let (vectors, _) = S::as_simd_f32s(panel);
            let mut first = 0;
            while first < across {
                let mut totals = [[simd.splat_f32s(0.0); VECTORS_PER_SUM]; R];
                for (line, x) in vectors.chunks_exact(across).zip(self.xs) {
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
                    out[first..first + VECTORS_PER_SUM].copy_from_slice(totals);
                }
                first += VECTORS_PER_SUM;
            }
            for (sums, line) in sums.iter().zip(self.lines.iter_mut()) {
                put(p, sums, self.stretch, self.cols, line);
            }
        }
    }
}
