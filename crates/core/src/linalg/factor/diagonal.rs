//! A block on the diagonal of L, packed: what rows below it are solved against.
//!
//! # Source
//! Golub & Van Loan, Matrix Computations (4th ed. 2013), §4.2.

use super::kernel::{COLUMNS, Corner, Line, ROWS, from_lines, substitute};
use crate::linalg::NotPositive;
use pulp::{Simd, WithSimd};

/// L of a block on the diagonal.
pub(super) struct Diagonal {
    /// Lines of each micropanel: the columns of the block, up to a whole number of micropanels.
    width: usize,
    /// Columns of the block.
    size: usize,
    /// Micropanel after micropanel; what stands above the diagonal is zero.
    lines: Vec<Line>,
    /// The triangles of 8 columns on the diagonal.
    corners: Vec<Corner>,
}

impl Diagonal {
    /// Memory for a block of so many columns.
    pub(super) fn new(most: usize) -> Self {
        let width = most.next_multiple_of(ROWS);
        let empty = Corner { values: [[0.0; COLUMNS]; COLUMNS], reciprocals: [1.0; COLUMNS] };
        Self { width, size: 0, lines: vec![Line::ZERO; width * (width / ROWS)], corners: vec![empty; width / COLUMNS] }
    }

    /// Lines of a micropanel.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// A micropanel of the block.
    pub(super) fn micropanel(&self, m: usize) -> &[Line] {
        &self.lines[m * self.width..(m + 1) * self.width]
    }

    /// Takes the lower triangle of a block; `column(k)` begins at row 24⌊k/24⌋ of it.
    pub(super) fn fill<'a>(&mut self, size: usize, column: impl Fn(usize) -> &'a [f64]) {
        let width = size.next_multiple_of(ROWS);
        self.width = width;
        self.size = size;
        for k in 0..width {
            let own = k / ROWS;
            if k >= size {
                // beyond the matrix stands the identity
                let mut unit = Line::ZERO;
                unit.0[k % ROWS] = 1.0;
                self.lines[own * width + k] = unit;
                continue;
            }
            let column = &column(k)[..size - own * ROWS];
            for (m, rows) in (own..).zip(column.chunks(ROWS)) {
                let line = &mut self.lines[m * width + k].0;
                line[..rows.len()].copy_from_slice(rows);
                line[rows.len()..].fill(0.0);
                if m == own {
                    line[..k % ROWS].fill(0.0);
                }
            }
        }
    }

    /// Takes the block that was filled in as factorised already.
    pub(super) fn is_factor(&mut self) {
        for (g, corner) in self.corners[..self.width / COLUMNS].iter_mut().enumerate() {
            let (q, first) = (g * COLUMNS / ROWS, g * COLUMNS % ROWS);
            let lines = &self.lines[q * self.width + g * COLUMNS..][..COLUMNS];
            for ((j, column), line) in corner.values.iter_mut().enumerate().zip(lines) {
                column.copy_from_slice(&line.0[first..first + COLUMNS]);
                corner.reciprocals[j] = 1.0 / column[j];
            }
        }
    }

    /// The natural logarithm of the determinant of L.
    pub(super) fn log_determinant(&self) -> f64 {
        (0..self.size).map(|j| self.corners[j / COLUMNS].values[j % COLUMNS][j % COLUMNS].ln()).sum()
    }

    /// Factorises the block that was filled in; the index of an error counts from its first row.
    #[inline(always)]
    fn factor<S: Simd>(&mut self, simd: S) -> Result<(), NotPositive> {
        let width = self.width;
        for m in 0..width / ROWS {
            let (done, own) = self.lines.split_at_mut(m * width);
            let own = &mut own[..width];
            for g in 0..(m + 1) * ROWS / COLUMNS {
                let (q, first) = (g * COLUMNS / ROWS, g * COLUMNS % ROWS);
                let (solved, rest) = own.split_at_mut(g * COLUMNS);
                let lines = &mut rest[..COLUMNS];
                if q < m {
                    from_lines(simd, solved, &done[q * width..q * width + solved.len()], first, lines);
                } else {
                    from_lines(simd, solved, solved, first, lines);
                    let corner = corner(lines, first).map_err(|p| NotPositive { index: g * COLUMNS + p.index, ..p })?;
                    self.corners[g] = corner;
                }
                substitute(simd, lines, &self.corners[g]);
                if q == m {
                    for (j, line) in lines.iter_mut().enumerate() {
                        line.0[..first + j].fill(0.0);
                        line.0[first + j] = self.corners[g].values[j][j];
                    }
                }
            }
        }
        Ok(())
    }

    /// X Lᵀ = B in the place of B, for the `width` lines of a micropanel.
    #[inline(always)]
    pub(super) fn solve<S: Simd>(&self, simd: S, micropanel: &mut [Line]) {
        for (g, corner) in self.corners[..self.width / COLUMNS].iter().enumerate() {
            let (q, first) = (g * COLUMNS / ROWS, g * COLUMNS % ROWS);
            let (solved, rest) = micropanel.split_at_mut(g * COLUMNS);
            let lines = &mut rest[..COLUMNS];
            from_lines(simd, solved, &self.lines[q * self.width..q * self.width + solved.len()], first, lines);
            substitute(simd, lines, corner);
        }
    }
}

/// The Cholesky factor of 8 × 8 numbers: column by column, each with what the columns before leave.
#[inline(always)]
fn corner(lines: &[Line], first: usize) -> Result<Corner, NotPositive> {
    let mut values = [[0.0; COLUMNS]; COLUMNS];
    for (column, line) in values.iter_mut().zip(lines) {
        column.copy_from_slice(&line.0[first..first + COLUMNS]);
    }
    let mut reciprocals = [0.0; COLUMNS];
    for j in 0..COLUMNS {
        let pivot = values[j][j];
        if pivot <= 0.0 || pivot.is_nan() {
            return Err(NotPositive { index: j, value: pivot });
        }
        let root = pivot.sqrt();
        reciprocals[j] = 1.0 / root;
        values[j][j] = root;
        let (done, rest) = values.split_at_mut(j + 1);
        let own = &mut done[j];
        for i in j + 1..COLUMNS {
            own[i] *= reciprocals[j];
        }
        for (c, column) in (j + 1..).zip(rest) {
            for i in c..COLUMNS {
                column[i] = (-own[i]).mul_add(own[c], column[i]);
            }
        }
    }
    Ok(Corner { values, reciprocals })
}

/// Factorises the block that was filled in.
pub(super) struct Factorise<'a>(pub(super) &'a mut Diagonal);

impl WithSimd for Factorise<'_> {
    type Output = Result<(), NotPositive>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        self.0.factor(simd)
    }
}
