//! Values between some new examples and the points of an expansion, as sums over the points ask for them.
//!
//! In f64 they are computed block by block. Where f32 is sharp enough for the scores, rows of many columns at once are products of matrices, which
//! are widened block by block.

use crate::gram::{BlockMut, Gram, PanelRows, Pick};
use std::ops::Range;

/// Columns that are computed at a time in f32: a row is read into its form once for all of them.
const COLUMNS: usize = 4096;

/// The source of the values.
pub(super) struct Cross<'a> {
    gram: &'a dyn Gram,
    panels: Option<Box<dyn PanelRows + 'a>>,
}

impl<'a> Cross<'a> {
    /// Values of a matrix, whose errors may be `error` parts of the largest value; none: as sharp as f64.
    pub(super) fn new(gram: &'a dyn Gram, error: Option<f64>) -> Self {
        Self { gram, panels: error.and_then(|error| gram.panels(error)) }
    }

    /// True if the values are in f32.
    pub(super) fn is_narrow(&self) -> bool {
        self.panels.is_some()
    }

    /// Some rows.
    pub(super) fn strip(&self, rows: Range<usize>) -> Strip<'_> {
        Strip { cross: self, rows, tile: Vec::new(), cols: 0..0 }
    }
}

/// Some rows, whose columns are asked for from left to right.
pub(super) struct Strip<'a> {
    cross: &'a Cross<'a>,
    rows: Range<usize>,
    /// Values in f32 at `cols`, row by row.
    tile: Vec<f32>,
    cols: Range<usize>,
}

impl Strip<'_> {
    /// The values at some columns, row by row.
    pub(super) fn block(&mut self, cols: Range<usize>, out: &mut [f64]) {
        let count = self.rows.len();
        let Some(panels) = &self.cross.panels else {
            let width = cols.len();
            let block = BlockMut::new(out, count, width);
            return self.cross.gram.block(Pick::Range(self.rows.clone()), Pick::Range(cols), block);
        };
        let mut done = cols.start;
        while done < cols.end {
            if !self.cols.contains(&done) {
                self.cols = done..(done + COLUMNS).min(self.cross.gram.shape().1);
                self.tile.resize(count * self.cols.len(), 0.0);
                let mut lines: Vec<&mut [f32]> = self.tile.chunks_mut(self.cols.len()).take(count).collect();
                panels.rows32(self.rows.clone(), self.cols.clone(), &mut lines);
            }
            let end = self.cols.end.min(cols.end);
            let (from, to) = (done - self.cols.start..end - self.cols.start, done - cols.start..end - cols.start);
            for (values, line) in out.chunks_mut(cols.len()).zip(self.tile.chunks(self.cols.len())).take(count) {
                values[to.clone()].iter_mut().zip(&line[from.clone()]).for_each(|(wide, k)| *wide = f64::from(*k));
            }
            done = end;
        }
    }
}
