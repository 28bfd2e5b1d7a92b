//! Some rows and columns of a matrix, gathered on demand.

use crate::gram::{BlockMut, Gram, Pick, Precision, RowAccess, Side};
use std::ops::Range;
use std::sync::Arc;

/// The chosen rows and columns of a matrix.
pub struct Submatrix {
    inner: Arc<dyn Gram>,
    rows: Vec<usize>,
    cols: Vec<usize>,
    /// Stretches of consecutive columns, in order; empty if they are too short to pay.
    runs: Vec<Run>,
}

/// Columns that follow each other in the view and in the matrix.
struct Run {
    /// The place of the first in the view.
    place: usize,
    /// The column of the first in the matrix.
    col: usize,
    len: usize,
}

/// Smallest mean length of the stretches of columns that are copied whole; shorter ones are gathered column by column.
const MIN_MEAN_STRETCH: usize = 16;

impl Submatrix {
    /// The matrix at the chosen rows and columns.
    pub fn new(inner: Arc<dyn Gram>, rows: &[usize], cols: &[usize]) -> Self {
        Self { inner, rows: rows.to_vec(), cols: cols.to_vec(), runs: runs(cols) }
    }

    /// The columns of the matrix behind a range of the view's columns, and the places they go to.
    fn stretches(&self, cols: Range<usize>) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
        let first = self.runs.partition_point(|run| run.place + run.len <= cols.start);
        self.runs[first..].iter().take_while(move |run| run.place < cols.end).map(move |run| {
            let (from, to) = (run.place.max(cols.start), (run.place + run.len).min(cols.end));
            let col = run.col + from - run.place;
            (col..col + to - from, from - cols.start..to - cols.start)
        })
    }

    fn compute<S: Precision>(&self, rows: &Pick<'_>, cols: &Pick<'_>, mut out: BlockMut<'_, S>) {
        let chosen = translate(&self.rows, rows);
        if let (Pick::Range(range), false) = (cols, self.runs.is_empty()) {
            for (from, to) in self.stretches(range.clone()) {
                S::block(self.inner.as_ref(), Pick::List(&chosen), Pick::Range(from), out.part(0..chosen.len(), to));
            }
        } else {
            let cols = translate(&self.cols, cols);
            S::block(self.inner.as_ref(), Pick::List(&chosen), Pick::List(&cols), out);
        }
    }
}

fn translate(chosen: &[usize], pick: &Pick<'_>) -> Vec<usize> {
    match pick {
        Pick::Range(range) => chosen[range.clone()].to_vec(),
        Pick::List(list) => list.iter().map(|&k| chosen[k]).collect(),
    }
}

/// The stretches of a list, if they are long.
fn runs(cols: &[usize]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (place, &col) in cols.iter().enumerate() {
        match runs.last_mut() {
            Some(run) if run.col + run.len == col => run.len += 1,
            _ => runs.push(Run { place, col, len: 1 }),
        }
    }
    if runs.len() * MIN_MEAN_STRETCH > cols.len() { Vec::new() } else { runs }
}

impl RowAccess for Submatrix {
    fn row32(&self, row: usize, cols: Range<usize>, out: &mut [f32]) {
        if self.runs.is_empty() {
            return self.inner.gather32(self.rows[row], &self.cols[cols], out);
        }
        for (from, to) in self.stretches(cols) {
            self.inner.row32(self.rows[row], from, &mut out[to]);
        }
    }

    fn rows32(&self, rows: &[usize], cols: Range<usize>, lines: &mut [&mut [f32]]) {
        let chosen = translate(&self.rows, &Pick::List(rows));
        if self.runs.is_empty() {
            let lines = chosen.iter().zip(lines);
            return lines.for_each(|(&row, line)| self.inner.gather32(row, &self.cols[cols.clone()], line));
        }
        for (from, to) in self.stretches(cols) {
            let mut parts: Vec<&mut [f32]> = lines.iter_mut().map(|line| &mut line[to.clone()]).collect();
            self.inner.rows32(&chosen, from, &mut parts);
        }
    }

    fn gather32(&self, row: usize, cols: &[usize], out: &mut [f32]) {
        let cols = translate(&self.cols, &Pick::List(cols));
        self.inner.gather32(self.rows[row], &cols, out);
    }

    /// Columns that are gathered one by one are not computed for several rows at once.
    fn row_group(&self) -> usize {
        if self.runs.is_empty() { 1 } else { self.inner.row_group() }
    }

    fn panel_rows(&self) -> usize {
        if self.runs.is_empty() { 1 } else { self.inner.panel_rows() }
    }

    fn row_error(&self) -> f64 {
        self.inner.row_error()
    }

    fn rows_are_expensive(&self) -> bool {
        self.inner.rows_are_expensive()
    }
}

impl Gram for Submatrix {
    fn shape(&self) -> (usize, usize) {
        (self.rows.len(), self.cols.len())
    }

    fn block(&self, rows: Pick<'_>, cols: Pick<'_>, out: BlockMut<'_, f64>) {
        self.compute(&rows, &cols, out);
    }

    fn block32(&self, rows: Pick<'_>, cols: Pick<'_>, out: BlockMut<'_, f32>) {
        self.compute(&rows, &cols, out);
    }

    fn rows(&self) -> Option<&dyn RowAccess> {
        Some(self)
    }

    fn is_symmetric(&self) -> bool {
        self.rows == self.cols && self.inner.is_symmetric()
    }

    fn self_similarities(&self, side: Side) -> Option<Vec<f64>> {
        let all = self.inner.self_similarities(side)?;
        let chosen = match side {
            Side::Rows => &self.rows,
            Side::Columns => &self.cols,
        };
        Some(chosen.iter().map(|&i| all[i]).collect())
    }

    fn restrict(self: Arc<Self>, rows: &[usize], cols: &[usize]) -> Arc<dyn Gram> {
        let (rows, cols) = (translate(&self.rows, &Pick::List(rows)), translate(&self.cols, &Pick::List(cols)));
        Arc::new(Self { inner: Arc::clone(&self.inner), runs: runs(&cols), rows, cols })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gram::Dense;

    #[test]
    fn stretches_and_single_columns_give_the_same_values() {
        let n = 100;
        let dense = Arc::new(Dense::new((0..n * n).map(|v| v as f32).collect(), n, n).unwrap());
        let long: Vec<usize> = (40..75).chain(3..30).chain(80..100).collect();
        let short: Vec<usize> = (0..n).step_by(3).collect();
        for cols in [long, short] {
            let rows = [7, 99, 7];
            let part = Arc::clone(&dense).restrict(&rows, &cols);
            for range in [0..cols.len(), 5..6, 10..33, 33..33] {
                let wanted = |row: usize| cols[range.clone()].iter().map(move |&j| (rows[row] * n + j) as f32);
                let mut line = vec![0.0_f32; range.len()];
                part.row32(1, range.clone(), &mut line);
                assert!(line.iter().copied().eq(wanted(1)));
                let mut block = vec![0.0_f64; 3 * range.len()];
                part.block(
                    Pick::List(&[2, 0, 1]),
                    Pick::Range(range.clone()),
                    BlockMut::new(&mut block, 3, range.len()),
                );
                assert!(block.iter().map(|&v| v as f32).eq(wanted(2).chain(wanted(0)).chain(wanted(1))));
            }
            let again = part.restrict(&[1], &[4, 2, 9]);
            let mut line = [0.0; 3];
            again.row32(0, 0..3, &mut line);
            assert_eq!(line, [4, 2, 9].map(|k: usize| (99 * n + cols[k]) as f32));
        }
    }
}
