//! The matrix of the spectrum kernel.
//!
//! Three ways to the same whole numbers. Single rows, and rows of strings that share few substrings, walk the strings that
//! hold each of their substrings, which are prepared once for all columns. Where strings share many, panels of rows lie in a table by
//! substring and each column string adds up lines of it. Single pairs merge their lists.

use super::counts::{Counts, Entry};
use super::holders::Walk;
use crate::data::Scalar;
use crate::gram::between::{Between, Comparison};
use crate::gram::{BlockMut, Pick};
use crate::kernels::text::sequences::aligned;
use pulp::{Simd, WithSimd};
use std::sync::{Arc, OnceLock};

/// Whole numbers up to this are exact in f32.
const EXACT_F32: u64 = 1 << 24;
/// Rows of a panel: two lines of cache for each substring.
const PANEL: usize = 32;
/// Smallest number of rows of a panel; with fewer it is mostly empty.
const MIN_PANEL_ROWS: usize = 6;
/// Columns whose sums are gathered before they are written, row by row.
const COLUMNS: usize = 8;
/// Cycles to add one shared substring of one pair by walking lists.
const CYCLES_TO_WALK: f64 = 2.0;
/// Cycles to add a line of bytes for one pair.
const LINE: f64 = 0.05;
/// Cycles to find a list.
const CYCLES_TO_FIND: f64 = 10.0;
/// Cycles to compare two entries while merging: the branch is a coin toss.
const CYCLES_TO_MERGE: f64 = 6.0;

/// Products of counts at equal names.
#[derive(Default)]
pub(in crate::kernels::text) struct SpectrumProducts {
    /// Costs of the ways between the two collections; not needed for κ(s, s) alone.
    costs: OnceLock<Costs>,
}

impl Clone for SpectrumProducts {
    /// For other collections.
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Numbers that decide between the ways.
#[derive(Clone, Copy)]
struct Costs {
    /// Cycles of walking for a row, for each column.
    walk: f64,
    /// Mean number of different substrings of a column.
    mean: f64,
    /// True if panels are faster than lists for blocks of many rows.
    panels: bool,
}

/// The matrix of the spectrum kernel between two collections, whose substrings have the same names.
pub(in crate::kernels::text) type SpectrumGram = Between<SpectrumProducts>;

impl SpectrumGram {
    /// The matrix with these rows and columns.
    pub(in crate::kernels::text) fn of(rows: &Arc<Counts>, cols: &Arc<Counts>) -> Self {
        Self::new(SpectrumProducts::default(), Arc::clone(rows), Arc::clone(cols))
    }

    fn costs(&self) -> Costs {
        *self.how.costs.get_or_init(|| {
            let (rows, cols) = (&self.rows, &self.cols);
            let holders = cols.holders();
            // how many different substrings a pair shares on average, and what walking them costs
            let (mut shared, mut walk) = (0.0, 0.0);
            for e in (0..rows.len()).flat_map(|i| rows.get(i)) {
                let held = holders.count(e.key) as f64;
                shared += held;
                walk += if holders.has_line(e.key) { LINE * cols.len() as f64 } else { CYCLES_TO_WALK * held };
            }
            let pairs = (rows.len() * cols.len()).max(1) as f64;
            let (shared, walk) = (shared / pairs, walk / pairs);
            let mean = cols.total() as f64 / cols.len().max(1) as f64;
            // κ(s, t)² ≤ κ(s, s) κ(t, t), and sums of counts only grow: then every sum on the way is exact in f32
            let exact = rows.largest().max(cols.largest()) <= EXACT_F32;
            // cycles for each entry of a column and pair: the table is read from the cache that holds it
            let line = match cols.distinct() * size_of::<[f32; PANEL]>() {
                0..=0x1_0000 => 0.1,
                0x1_0001..=0x10_0000 => 0.2,
                _ => 1.0,
            };
            Costs { walk, mean, panels: exact && mean * line < CYCLES_TO_WALK * shared }
        })
    }

    /// True if blocks of many rows go by panels.
    #[cfg(test)]
    pub(super) fn uses_panels(&self) -> bool {
        self.costs().panels
    }

    fn write<S: Scalar>(&self, rows: &Pick<'_>, cols: &Pick<'_>, out: BlockMut<'_, S>) {
        if cols.is_empty() {
            return;
        }
        if self.costs().panels && rows.len() >= MIN_PANEL_ROWS {
            pulp::Arch::new().dispatch(Panels { gram: self, rows, cols, out });
        } else {
            self.lists(rows, cols, out);
        }
    }

    /// Row by row: for each substring of the row, the columns that hold it; or pair by pair if that is less work.
    fn lists<S: Scalar>(&self, rows: &Pick<'_>, cols: &Pick<'_>, mut out: BlockMut<'_, S>) {
        let (left, right) = match cols {
            Pick::Range(range) => (range.start, range.end),
            Pick::List(_) => (0, self.cols.len()),
        };
        let mut sums = vec![0_u64; right - left];
        let mut scratch = Walk::default();
        let Costs { walk, mean, .. } = self.costs();
        for (k, i) in rows.iter().enumerate() {
            let row = self.rows.get(i);
            let to = out.row_mut(k);
            let size = row.len() as f64;
            let walk = walk * sums.len() as f64 + CYCLES_TO_FIND * size + sums.len() as f64;
            if CYCLES_TO_MERGE * (size + mean) * (to.len() as f64) < walk {
                for (o, j) in to.iter_mut().zip(cols.iter()) {
                    *o = S::narrow(merge(row, self.cols.get(j)) as f64);
                }
                continue;
            }
            self.cols.holders().products(row, self.rows.squares()[i], left, &mut sums, &mut scratch);
            match cols {
                Pick::Range(_) => to.iter_mut().zip(&sums).for_each(|(o, &s)| *o = S::narrow(s as f64)),
                Pick::List(list) => to.iter_mut().zip(*list).for_each(|(o, &j)| *o = S::narrow(sums[j] as f64)),
            }
        }
    }
}

/// A block by panels of rows: their counts side by side in a table by substring, of which each column adds up lines.
struct Panels<'a, S> {
    gram: &'a SpectrumGram,
    rows: &'a Pick<'a>,
    cols: &'a Pick<'a>,
    out: BlockMut<'a, S>,
}

impl<S: Scalar> WithSimd for Panels<'_, S> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, simd: V) {
        let Self { gram, rows, cols, mut out } = self;
        let mut memory = Vec::new();
        let table = aligned(&mut memory, gram.cols.distinct() * PANEL, 0.0_f32).as_chunks_mut::<PANEL>().0;
        let mut sums = [[0.0_f32; PANEL]; COLUMNS];
        for top in (0..rows.len()).step_by(PANEL) {
            let height = PANEL.min(rows.len() - top);
            for lane in 0..height {
                // what no column holds has no line
                for e in gram.rows.get(rows.at(top + lane)) {
                    if let Some(line) = table.get_mut(e.key as usize) {
                        line[lane] = e.count as f32;
                    }
                }
            }
            for left in (0..cols.len()).step_by(COLUMNS) {
                let width = COLUMNS.min(cols.len() - left);
                for (c, sums) in sums[..width].iter_mut().enumerate() {
                    add_lines(simd, gram.cols.get(cols.at(left + c)), table, sums);
                }
                for lane in 0..height {
                    for (o, sum) in out.row_mut(top + lane)[left..left + width].iter_mut().zip(&sums) {
                        *o = S::narrow(f64::from(sum[lane]));
                    }
                }
            }
            for lane in 0..height {
                for e in gram.rows.get(rows.at(top + lane)) {
                    if let Some(line) = table.get_mut(e.key as usize) {
                        *line = [0.0; PANEL];
                    }
                }
            }
        }
    }
}

/// sums = Σ count · line of the table, two vectors and two entries at a time: four sums that stay in registers and do
/// not wait for each other. All are whole numbers, so their order does not matter.
#[inline(always)]
fn add_lines<V: Simd>(simd: V, column: &[Entry], table: &[[f32; PANEL]], sums: &mut [f32; PANEL]) {
    let (sums, _) = V::as_mut_simd_f32s(sums);
    let (pairs, last) = column.as_chunks::<2>();
    let zero = simd.splat_f32s(0.0);
    for (v, sums) in sums.as_chunks_mut::<2>().0.iter_mut().enumerate() {
        let add = |sums: [V::f32s; 2], e: &Entry| {
            let (line, times) = (V::as_simd_f32s(&table[e.key as usize]).0, simd.splat_f32s(e.count as f32));
            [simd.mul_add_e_f32s(times, line[2 * v], sums[0]), simd.mul_add_e_f32s(times, line[2 * v + 1], sums[1])]
        };
        let (mut even, mut odd) = ([zero; 2], [zero; 2]);
        for [a, b] in pairs {
            even = add(even, a);
            odd = add(odd, b);
        }
        if let [a] = last {
            even = add(even, a);
        }
        *sums = [simd.add_f32s(even[0], odd[0]), simd.add_f32s(even[1], odd[1])];
    }
}

/// Σ of the products of counts at equal names.
fn merge(mut x: &[Entry], mut y: &[Entry]) -> u64 {
    let mut sum = 0;
    while let ([a, x_rest @ ..], [b, y_rest @ ..]) = (x, y) {
        if a.key == b.key {
            sum += u64::from(a.count) * u64::from(b.count);
        }
        let (step_x, step_y) = (a.key <= b.key, b.key <= a.key);
        x = if step_x { x_rest } else { x };
        y = if step_y { y_rest } else { y };
    }
    sum
}

impl Comparison for SpectrumProducts {
    type Side = Counts;

    fn block(between: &Between<Self>, rows: &Pick<'_>, cols: &Pick<'_>, out: BlockMut<'_, f64>) {
        between.write(rows, cols, out);
    }

    fn block32(between: &Between<Self>, rows: &Pick<'_>, cols: &Pick<'_>, out: BlockMut<'_, f32>) {
        between.write(rows, cols, out);
    }

    fn own(&self, side: &Arc<Counts>) -> Vec<f64> {
        side.squares().iter().map(|&k| k as f64).collect()
    }
}
