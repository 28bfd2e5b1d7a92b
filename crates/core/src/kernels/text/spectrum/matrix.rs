//! The matrix of the spectrum kernel.
//!
//! Three ways to the same whole numbers. Where two strings share few substrings, rows walk the lists of strings that
//! hold each of their substrings. Where they share many, panels of rows lie in a table by substring and each column
//! string adds up lines of it. Single pairs merge their lists.

use super::counts::{Counts, Entry};
use super::holders::Holders;
use crate::data::Scalar;
use crate::gram::{BlockMut, Gram, Pick, Side};
use crate::kernels::text::sequences::aligned;
use pulp::{Simd, WithSimd};
use std::sync::Arc;

/// Whole numbers up to this are exact in f32.
const EXACT_F32: u64 = 1 << 24;
/// Rows of a panel: two lines of cache for each substring.
const PANEL: usize = 32;
/// With fewer rows than this a panel is mostly empty.
const FEW_ROWS: usize = 6;
/// Columns whose sums are gathered before they are written, row by row.
const COLUMNS: usize = 8;
/// Cycles to add one shared substring of one pair by walking lists.
const WALK: f64 = 2.0;
/// Cycles to find a list.
const FIND: f64 = 10.0;
/// Cycles to compare two entries while merging: the branch is a coin toss.
const MERGE: f64 = 6.0;

/// The matrix of the spectrum kernel between two collections.
pub(in crate::kernels::text) struct SpectrumGram {
    rows: Arc<Counts>,
    cols: Arc<Counts>,
    /// For every substring the columns that hold it.
    holders: Holders,
    /// How many different substrings a pair shares on average.
    shared: f64,
    /// How many different substrings a column has on average.
    mean: f64,
    /// Whether panels are faster than lists for blocks of many rows.
    panels: bool,
}

impl SpectrumGram {
    /// The matrix with these rows and columns, whose substrings have the same names.
    pub(in crate::kernels::text) fn new(rows: Arc<Counts>, cols: Arc<Counts>) -> Self {
        let holders = Holders::of(&cols);
        let pairs: f64 = (0..rows.len()).flat_map(|i| rows.get(i)).map(|e| holders.count(e.key) as f64).sum();
        let shared = pairs / (rows.len() * cols.len()).max(1) as f64;
        let mean = cols.total() as f64 / cols.len().max(1) as f64;
        // κ(s, t)² ≤ κ(s, s) κ(t, t), and sums of counts only grow: then every sum on the way is exact in f32
        let exact = rows.squares().chain(cols.squares()).all(|k| k <= EXACT_F32);
        // cycles for each entry of a column and pair: the table is read from the cache that holds it
        let line = match cols.distinct() * size_of::<[f32; PANEL]>() {
            0..=0x1_0000 => 0.1,
            0x1_0001..=0x10_0000 => 0.2,
            _ => 1.0,
        };
        let panels = exact && mean * line < WALK * shared;
        Self { rows, cols, holders, shared, mean, panels }
    }

    /// Whether blocks of many rows go by panels.
    #[cfg(test)]
    pub(super) fn uses_panels(&self) -> bool {
        self.panels
    }

    fn write<S: Scalar>(&self, rows: &Pick<'_>, cols: &Pick<'_>, out: BlockMut<'_, S>) {
        if cols.is_empty() {
            return;
        }
        if self.panels && rows.len() >= FEW_ROWS {
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
        for (k, i) in rows.iter().enumerate() {
            let row = self.rows.get(i);
            let to = out.row_mut(k);
            let size = row.len() as f64;
            let walk = WALK * self.shared * sums.len() as f64 + FIND * size + sums.len() as f64;
            if MERGE * (size + self.mean) * (to.len() as f64) < walk {
                for (o, j) in to.iter_mut().zip(cols.iter()) {
                    *o = S::narrow(merge(row, self.cols.get(j)) as f64);
                }
                continue;
            }
            sums.fill(0);
            self.holders.add(row, left, &mut sums);
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
                for e in gram.rows.get(rows.at(top + lane)) {
                    table[e.key as usize][lane] = e.count as f32;
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
                    table[e.key as usize] = [0.0; PANEL];
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

impl Gram for SpectrumGram {
    fn shape(&self) -> (usize, usize) {
        (self.rows.len(), self.cols.len())
    }

    fn block(&self, rows: Pick<'_>, cols: Pick<'_>, out: BlockMut<'_, f64>) {
        self.write(&rows, &cols, out);
    }

    fn block32(&self, rows: Pick<'_>, cols: Pick<'_>, out: BlockMut<'_, f32>) {
        self.write(&rows, &cols, out);
    }

    fn is_symmetric(&self) -> bool {
        Arc::ptr_eq(&self.rows, &self.cols)
    }

    fn self_similarities(&self, side: Side) -> Option<Vec<f64>> {
        let counts = match side {
            Side::Rows => &self.rows,
            Side::Columns => &self.cols,
        };
        Some(counts.squares().map(|k| k as f64).collect())
    }

    fn restrict(self: Arc<Self>, rows: &[usize], cols: &[usize]) -> Arc<dyn Gram> {
        let chosen = Arc::new(self.rows.select(rows));
        let same = Arc::ptr_eq(&self.rows, &self.cols) && rows == cols;
        let cols = if same { Arc::clone(&chosen) } else { Arc::new(self.cols.select(cols)) };
        Arc::new(Self::new(chosen, cols))
    }
}
