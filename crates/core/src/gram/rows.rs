//! Rows of a matrix, as a decomposition solver asks for them.
//!
//! A support vector solver asks for single rows in f32, some 10⁵ times. Matrices that compute them faster than as blocks
//! of one row show it as a whole ([`Gram::rows`]), and a matrix made of others hands the whole on: whoever forwards one
//! method forwards all.

use super::{BlockMut, Gram, Pick};
use std::ops::Range;

/// Access to single rows in f32.
pub trait RowAccess {
    /// One row over a range of columns, on the calling thread.
    fn row32(&self, row: usize, cols: Range<usize>, out: &mut [f32]);

    /// Several rows over a range of columns, each into a line of its own; the same bits as row by row. Where one row is
    /// bound by reading the data, several cost little more than one.
    fn rows32(&self, rows: &[usize], cols: Range<usize>, lines: &mut [&mut [f32]]) {
        for (&row, line) in rows.iter().zip(lines) {
            self.row32(row, cols.clone(), line);
        }
    }

    /// One row at chosen columns; what a part of a matrix asks for where rows are stored or kept.
    fn gather32(&self, row: usize, cols: &[usize], out: &mut [f32]);

    /// The number of rows that are best computed at once; 1 where groups gain nothing.
    fn row_group(&self) -> usize {
        1
    }

    /// The most rows that gain from being computed at once, by a product of matrices; 1 where a few are best.
    fn panel_rows(&self) -> usize {
        1
    }

    /// The largest error of a value, in parts of the largest value, where it is computed less sharply than f32 could hold it; else 0.
    fn row_error(&self) -> f64 {
        0.0
    }

    /// True if a row costs far more to compute than to read from memory, so that as many rows as possible are cached.
    fn rows_are_expensive(&self) -> bool {
        true
    }
}

/// Rows of a matrix between two collections in f32, by products of matrices: for predictions that need not be sharper.
pub trait PanelRows: Sync {
    /// Some rows over a range of columns, each into a line of its own; the same bits alone and beside others.
    fn rows32(&self, rows: Range<usize>, cols: Range<usize>, lines: &mut [&mut [f32]]);
}

/// Rows of any matrix: by its own access, or as blocks of one row, which are expensive.
impl dyn Gram + '_ {
    /// One row over a range of columns, on the calling thread.
    pub fn row32(&self, row: usize, cols: Range<usize>, out: &mut [f32]) {
        match self.rows() {
            Some(rows) => rows.row32(row, cols, out),
            None => {
                let width = cols.len();
                self.block32(Pick::Range(row..row + 1), Pick::Range(cols), BlockMut::new(out, 1, width));
            }
        }
    }

    /// Several rows over a range of columns, each into a line of its own.
    pub fn rows32(&self, rows: &[usize], cols: Range<usize>, lines: &mut [&mut [f32]]) {
        match self.rows() {
            Some(access) => access.rows32(rows, cols, lines),
            None => rows.iter().zip(lines).for_each(|(&row, line)| self.row32(row, cols.clone(), line)),
        }
    }

    /// One row at chosen columns.
    pub fn gather32(&self, row: usize, cols: &[usize], out: &mut [f32]) {
        match self.rows() {
            Some(rows) => rows.gather32(row, cols, out),
            None => self.block32(Pick::List(&[row]), Pick::List(cols), BlockMut::new(out, 1, cols.len())),
        }
    }

    /// The number of rows that are best computed at once.
    pub fn row_group(&self) -> usize {
        self.rows().map_or(1, RowAccess::row_group)
    }

    /// The most rows that gain from being computed at once.
    pub fn panel_rows(&self) -> usize {
        self.rows().map_or(1, RowAccess::panel_rows)
    }

    /// The largest error of a value beyond its rounding, in parts of the largest value.
    pub fn row_error(&self) -> f64 {
        self.rows().map_or(0.0, RowAccess::row_error)
    }

    /// True if as many rows as possible should be cached.
    pub fn rows_are_expensive(&self) -> bool {
        self.rows().is_none_or(RowAccess::rows_are_expensive)
    }
}
