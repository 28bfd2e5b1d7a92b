//! Packed panels: the columns of a block as micropanels of 24 rows, which serve both sides of a product.

use super::diagonal::Diagonal;
use super::kernel::{Line, ROWS};
use pulp::{Simd, WithSimd};

/// Micropanels, the first of which has a number.
#[derive(Clone, Copy)]
pub(super) struct Panel<'a> {
    pub(super) lines: &'a [Line],
    /// Lines of a micropanel.
    pub(super) width: usize,
    /// The number of the first micropanel.
    pub(super) base: usize,
}

impl<'a> Panel<'a> {
    /// The lines of a micropanel.
    #[inline(always)]
    pub(super) fn micropanel(&self, p: usize) -> &'a [Line] {
        &self.lines[(p - self.base) * self.width..(p - self.base + 1) * self.width]
    }
}

/// Loads rows from `row` on of columns that hold `n` numbers each: up to 24, and zeros for those beyond the last.
#[inline(always)]
pub(super) fn load_rows<'a>(columns: impl Iterator<Item = &'a [f64]>, row: usize, lines: &mut [Line]) {
    let mut left = lines.iter_mut();
    for (column, line) in columns.zip(&mut left) {
        let rows = &column[row..];
        if let Some((rows, _)) = rows.split_first_chunk::<ROWS>() {
            line.0 = *rows;
        } else {
            *line = Line::ZERO;
            line.0[..rows.len()].copy_from_slice(rows);
        }
    }
    left.for_each(|line| *line = Line::ZERO);
}

/// Loads up to 24 columns as rows: number k of each goes to line k.
#[inline(always)]
pub(super) fn load_columns<'a>(columns: impl Iterator<Item = &'a [f64]>, lines: &mut [Line]) {
    let mut all: [&[f64]; ROWS] = [&[]; ROWS];
    all.iter_mut().zip(columns).for_each(|(to, column)| *to = column);
    let length = all[0].len();
    if all.iter().all(|column| column.len() == length) {
        let all = all.map(|column| &column[..length]);
        for (k, line) in lines[..length].iter_mut().enumerate() {
            line.0.iter_mut().zip(&all).for_each(|(to, column)| *to = column[k]);
        }
    } else {
        for (k, line) in lines[..length].iter_mut().enumerate() {
            line.0.iter_mut().zip(&all).for_each(|(to, column)| *to = column.get(k).copied().unwrap_or(0.0));
        }
    }
    lines[length..].fill(Line::ZERO);
}

/// Writes a line to the rows from `row` on of a column.
#[inline(always)]
pub(super) fn store_rows(line: &Line, column: &mut [f64], row: usize) {
    let to = &mut column[row..];
    if let Some((to, _)) = to.split_first_chunk_mut::<ROWS>() {
        *to = line.0;
    } else {
        let count = to.len();
        to.copy_from_slice(&line.0[..count]);
    }
}

/// X Lᵀ = B in the place of B, for a micropanel.
pub(super) struct Solve<'a> {
    pub(super) diagonal: &'a Diagonal,
    pub(super) lines: &'a mut [Line],
}

impl WithSimd for Solve<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        self.diagonal.solve(simd, self.lines);
    }
}
