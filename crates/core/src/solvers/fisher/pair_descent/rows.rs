//! Rows of K, computed side by side and kept.

use crate::gram::{BlockMut, Gram, Pick, Precision};
use crate::linalg::SolveError;
use crate::solvers::conjugate_gradient::not_finite;
use rayon::prelude::*;
use std::ops::Range;

/// Columns that one thread computes at a time.
const COLUMNS: usize = 1024;

/// A precision in which rows are kept.
pub(super) trait Line: Precision {
    /// Several rows over a range of columns, each into a line of its own.
    fn rows(gram: &dyn Gram, rows: &[usize], cols: Range<usize>, lines: &mut [&mut [Self]]);
}

impl Line for f32 {
    fn rows(gram: &dyn Gram, rows: &[usize], cols: Range<usize>, lines: &mut [&mut [Self]]) {
        gram.rows32(rows, cols, lines);
    }
}

impl Line for f64 {
    fn rows(gram: &dyn Gram, rows: &[usize], cols: Range<usize>, lines: &mut [&mut [Self]]) {
        let width = cols.len();
        for (&row, line) in rows.iter().zip(lines) {
            gram.block(Pick::Range(row..row + 1), Pick::Range(cols.clone()), BlockMut::new(line, 1, width));
        }
    }
}

/// A place for a row.
struct Slot<S> {
    values: Vec<S>,
    owner: usize,
    used: u64,
}

/// The rows that were used last.
pub(super) struct Kept<'a, S> {
    gram: &'a dyn Gram,
    slots: Vec<Slot<S>>,
    /// The slot of each row.
    places: Vec<Option<usize>>,
    limit: usize,
    time: u64,
    /// Rows computed so far.
    pub(super) computed: usize,
}

impl<'a, S: Line> Kept<'a, S> {
    /// Keeps as many rows as fit into `bytes`, but at least so many.
    pub(super) fn new(gram: &'a dyn Gram, bytes: usize, least: usize) -> Self {
        let n = gram.shape().0;
        let limit = (bytes / (n.max(1) * size_of::<S>())).max(least);
        Self { gram, slots: Vec::new(), places: vec![None; n], limit, time: 0, computed: 0 }
    }

    /// A row that was fetched last; empty if it was not.
    pub(super) fn row(&self, i: usize) -> &[S] {
        self.places[i].map_or(&[], |slot| &self.slots[slot].values)
    }

    /// Makes the rows of a step available.
    pub(super) fn fetch(&mut self, set: &[usize]) -> Result<(), SolveError> {
        self.time += 1;
        for &i in set {
            if let Some(slot) = self.places[i] {
                self.slots[slot].used = self.time;
            }
        }
        let missing: Vec<usize> = set.iter().copied().filter(|&i| self.places[i].is_none()).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let n = self.gram.shape().1;
        let mut buffers: Vec<Vec<S>> = (0..missing.len()).map(|taken| self.free(n, taken)).collect();
        let mut parts: Vec<Vec<&mut [S]>> =
            (0..n.div_ceil(COLUMNS)).map(|_| Vec::with_capacity(missing.len())).collect();
        for buffer in &mut buffers {
            for (part, line) in parts.iter_mut().zip(buffer.chunks_mut(COLUMNS)) {
                part.push(line);
            }
        }
        let gram = self.gram;
        parts.par_iter_mut().enumerate().for_each(|(part, lines)| {
            let start = part * COLUMNS;
            S::rows(gram, &missing, start..(start + COLUMNS).min(n), lines);
        });
        self.computed += missing.len();
        for (i, values) in missing.into_iter().zip(buffers) {
            if values.iter().any(|x| !x.wide().is_finite()) {
                return Err(not_finite(self.gram));
            }
            self.places[i] = Some(self.slots.len());
            self.slots.push(Slot { values, owner: i, used: self.time });
        }
        Ok(())
    }

    /// Memory for a row: new, or that of the row which was not used for longest. So many have been taken in this step.
    fn free(&mut self, n: usize, taken: usize) -> Vec<S> {
        let oldest = self.slots.iter().enumerate().min_by_key(|(_, s)| s.used).map(|(p, s)| (p, s.used));
        match oldest {
            Some((place, used)) if self.slots.len() + taken >= self.limit && used < self.time => {
                let slot = self.slots.swap_remove(place);
                self.places[slot.owner] = None;
                if let Some(moved) = self.slots.get(place) {
                    self.places[moved.owner] = Some(place);
                }
                slot.values
            }
            _ => vec![S::default(); n],
        }
    }
}
