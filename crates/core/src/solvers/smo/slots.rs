//! Kept rows of K: the most recently used ones, over the columns of one part, in memory that is used again and again.

use super::pool::Pool;
use crate::gram::{Gram, fill_rows_of_symmetric};
use std::ops::Range;
use std::sync::Arc;

/// Examples of a matrix that are the columns (and rows) of a problem, as consecutive ranges.
#[derive(Clone)]
pub(super) struct Columns {
    pub(super) gram: Arc<dyn Gram>,
    pub(super) ranges: Vec<Range<usize>>,
}

impl Columns {
    /// Their number.
    pub(super) fn len(&self) -> usize {
        self.ranges.iter().map(Range::len).sum()
    }

    /// The example of a column.
    pub(super) fn example(&self, mut column: usize) -> usize {
        for range in &self.ranges {
            if column < range.len() {
                return range.start + column;
            }
            column -= range.len();
        }
        unreachable!("a column of the problem")
    }

    /// The column of an example.
    pub(super) fn place(&self, example: usize) -> Option<usize> {
        let mut first = 0;
        for range in &self.ranges {
            if range.contains(&example) {
                return Some(first + example - range.start);
            }
            first += range.len();
        }
        None
    }

    /// The matrix of some of these, repacked.
    pub(super) fn choose(&self, places: &[usize]) -> Self {
        let examples: Vec<usize> = places.iter().map(|&place| self.example(place)).collect();
        let gram = Arc::clone(&self.gram).restrict(&examples, &examples);
        Self { gram, ranges: vec![0..places.len()] }
    }

    /// Rows that are used once, at columns `part`: written to `lines` one after the other.
    pub(super) fn pass_by(&self, rows: &[usize], part: &Range<usize>, lines: &mut [f32]) {
        let mut lines: Vec<&mut [f32]> = lines.chunks_mut(part.len().max(1)).take(rows.len()).collect();
        self.rows(rows, part, &mut lines);
    }

    /// Rows of K at columns `part`, each written to the front of a line of `stride` numbers.
    fn rows(&self, columns: &[usize], part: &Range<usize>, lines: &mut [&mut [f32]]) {
        let examples: Vec<usize> = columns.iter().map(|&c| self.example(c)).collect();
        let mut first = 0;
        for range in &self.ranges {
            let (from, to) = (part.start.max(first), part.end.min(first + range.len()));
            if from < to {
                let cols = range.start + from - first..range.start + to - first;
                let place = from - part.start..to - part.start;
                if let ([example], [line]) = (examples.as_slice(), &mut *lines) {
                    self.gram.row32(*example, cols, &mut line[place]);
                } else {
                    let mut parts: Vec<&mut [f32]> = lines.iter_mut().map(|line| &mut line[place.clone()]).collect();
                    self.gram.rows32(&examples, cols, &mut parts);
                }
            }
            first += range.len();
        }
    }
}

/// Memory that solvers use one after the other.
#[derive(Default)]
pub struct Workspace {
    pool: Pool,
}

const NOWHERE: u32 = u32::MAX;

/// Rows over the columns of one part. It belongs to one thread; all members of a team make the same choices.
pub(super) struct Slots {
    columns: Columns,
    part: Range<usize>,
    /// Numbers of a slot: the part, padded.
    stride: usize,
    most: usize,
    pool: Pool,
    /// Slot of each row; `NOWHERE` if it is not kept.
    slot_of: Vec<u32>,
    /// Row of each slot.
    row_of: Vec<u32>,
    /// Neighbours in the order of use, one more entry as the ring's head.
    older: Vec<u32>,
    newer: Vec<u32>,
    pub(super) computed: usize,
}

impl Slots {
    /// An empty cache of at most `bytes`, but at least two rows.
    pub(super) fn new(columns: Columns, part: Range<usize>, stride: usize, bytes: usize, workspace: Workspace) -> Self {
        let n = columns.len();
        let most = (bytes / (4 * stride.max(1))).max(2).min(n.max(2));
        let mut pool = workspace.pool;
        // a smaller problem has room for more rows, but never needs more numbers than these
        pool.reserve((bytes / 4).min(n * stride).max(2 * stride));
        Self {
            columns,
            part,
            stride,
            most,
            pool,
            slot_of: vec![NOWHERE; n],
            row_of: Vec::new(),
            older: vec![0],
            newer: vec![0],
            computed: 0,
        }
    }

    /// Gives the memory back.
    pub(super) fn into_workspace(self) -> Workspace {
        Workspace { pool: self.pool }
    }

    pub(super) fn columns(&self) -> &Columns {
        &self.columns
    }

    /// True if a row is kept.
    pub(super) fn holds(&self, row: usize) -> bool {
        self.slot_of[row] != NOWHERE
    }

    /// Number of rows that can be kept.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// Keeps a row that is there as the most recently used; its slot.
    pub(super) fn touch(&mut self, row: usize) -> usize {
        let slot = self.slot_of[row] as usize;
        self.unlink(slot);
        self.link_newest(slot);
        slot
    }

    /// Computes rows that are not kept, all at once; the first is the most recently used. At most `most − 2` at a time,
    /// so that nothing of a step in hand is lost.
    pub(super) fn compute(&mut self, rows: &[usize]) {
        let columns = self.columns.clone();
        let part = self.part.clone();
        let (order, mut lines) = self.claim_lines(rows);
        columns.rows(&order, &part, &mut lines);
    }

    /// Computes all rows of an empty cache, by all threads and half of them only; false if they do not fit, and nothing was done.
    pub(super) fn compute_all(&mut self) -> bool {
        let n = self.columns.len();
        let whole = self.columns.ranges == [0..n] && self.part == (0..n) && self.columns.gram.shape() == (n, n);
        if !(whole && self.most >= n && self.row_of.is_empty() && self.columns.gram.is_symmetric()) {
            return false;
        }
        let (columns, stride) = (self.columns.clone(), self.stride);
        (0..n).for_each(|row| {
            self.claim(row);
        });
        self.computed += n;
        fill_rows_of_symmetric(columns.gram.as_ref(), stride, self.pool.first(n * stride));
        true
    }

    /// Slots for rows that are not kept, to be filled at once: the rows in the order of their slots, and the lines of these.
    pub(super) fn claim_lines(&mut self, rows: &[usize]) -> (Vec<usize>, Vec<&mut [f32]>) {
        self.computed += rows.len();
        let mut slots: Vec<(usize, usize)> = rows.iter().rev().map(|&row| (self.claim(row), row)).collect();
        let end = slots.iter().map(|s| (s.0 + 1) * self.stride).max().unwrap_or(0);
        slots.sort_unstable();
        let (mut rest, mut passed) = (self.pool.first(end), 0);
        let mut lines: Vec<&mut [f32]> = Vec::with_capacity(slots.len());
        for (slot, _) in &slots {
            let (line, after) = rest[slot * self.stride - passed..].split_at_mut(self.stride);
            lines.push(line);
            rest = after;
            passed = (slot + 1) * self.stride;
        }
        (slots.iter().map(|s| s.1).collect(), lines)
    }

    /// The values of a row that is kept.
    pub(super) fn kept_row(&self, row: usize) -> Option<&[f32]> {
        (self.slot_of[row] != NOWHERE).then(|| self.values(self.slot_of[row] as usize))
    }

    /// Rows that are used once and not kept: written to `lines` of `stride` numbers.
    pub(super) fn pass_by(&self, rows: &[usize], lines: &mut [f32]) {
        let mut lines: Vec<&mut [f32]> = lines.chunks_mut(self.stride).take(rows.len()).collect();
        self.columns.rows(rows, &self.part, &mut lines);
    }

    /// The values in a slot.
    pub(super) fn values(&self, slot: usize) -> &[f32] {
        &self.pool.all()[slot * self.stride..(slot + 1) * self.stride]
    }

    /// A slot for a new row, the newest from now on.
    fn claim(&mut self, row: usize) -> usize {
        let slot = if self.row_of.len() < self.most {
            self.row_of.push(NOWHERE);
            self.older.push(0);
            self.newer.push(0);
            self.row_of.len() - 1
        } else {
            let oldest = self.newer[0] as usize - 1;
            self.unlink(oldest);
            self.slot_of[self.row_of[oldest] as usize] = NOWHERE;
            oldest
        };
        self.row_of[slot] = row as u32;
        self.slot_of[row] = slot as u32;
        self.link_newest(slot);
        slot
    }

    /// The cache of a smaller problem: rows that it still has, at the columns of the part that it still has (`kept`, places
    /// in the part). Everything happens in place, since a smaller row never overtakes a larger one.
    pub(super) fn shrink(
        mut self,
        columns: Columns,
        part: Range<usize>,
        stride: usize,
        active: &[usize],
        kept: &[usize],
        bytes: usize,
    ) -> Self {
        let mut new_place = vec![NOWHERE; self.slot_of.len()];
        for (new, &old) in active.iter().enumerate() {
            new_place[old] = new as u32;
        }
        let n = columns.len();
        let most = (bytes / (4 * stride.max(1))).max(2).min(n.max(2));
        // from the oldest to the newest, to keep the order of use
        let mut order = Vec::new();
        let mut entry = self.newer[0];
        while entry != 0 {
            order.push(entry as usize - 1);
            entry = self.newer[entry as usize];
        }
        let mut new_slot = vec![NOWHERE; self.row_of.len()];
        let mut row_of = Vec::new();
        let pool = self.pool.first(self.row_of.len() * self.stride);
        for (slot, &row) in self.row_of.iter().enumerate() {
            let place = new_place[row as usize];
            if place == NOWHERE || row_of.len() == most {
                continue;
            }
            let (from, to) = (slot * self.stride, row_of.len() * stride);
            for (k, &place) in kept.iter().enumerate() {
                pool[to + k] = pool[from + place];
            }
            new_slot[slot] = row_of.len() as u32;
            row_of.push(place);
        }
        let mut smaller = Self {
            columns,
            part,
            stride,
            most,
            pool: self.pool,
            slot_of: vec![NOWHERE; n],
            older: vec![0; row_of.len() + 1],
            newer: vec![0; row_of.len() + 1],
            row_of,
            computed: self.computed,
        };
        for (slot, &row) in smaller.row_of.iter().enumerate() {
            smaller.slot_of[row as usize] = slot as u32;
        }
        for slot in order {
            if new_slot[slot] != NOWHERE {
                smaller.link_newest(new_slot[slot] as usize);
            }
        }
        smaller
    }

    // The ring: entry 0 is the head, slot s is entry s + 1; newer[0] is the oldest slot, older[0] the newest.

    fn unlink(&mut self, slot: usize) {
        let entry = slot + 1;
        let (older, newer) = (self.older[entry], self.newer[entry]);
        self.newer[older as usize] = newer;
        self.older[newer as usize] = older;
    }

    fn link_newest(&mut self, slot: usize) {
        let entry = (slot + 1) as u32;
        let last = self.older[0];
        self.newer[last as usize] = entry;
        self.older[entry as usize] = last;
        self.newer[entry as usize] = 0;
        self.older[0] = entry;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gram::Dense;

    fn slots(n: usize, rows: usize) -> Slots {
        let gram = Dense::new((0..n * n).map(|v| v as f64).collect(), n, n).unwrap();
        let columns = Columns { gram: Arc::new(gram), ranges: vec![0..n] };
        Slots::new(columns, 0..n, n, rows * 4 * n, Workspace::default())
    }

    fn fetch(slots: &mut Slots, row: usize) -> usize {
        if !slots.holds(row) {
            slots.compute(&[row]);
        }
        slots.touch(row)
    }

    #[test]
    fn the_least_recently_used_row_is_dropped() {
        let mut cache = slots(4, 2);
        for row in [0, 1, 0, 2] {
            let slot = fetch(&mut cache, row);
            assert_eq!(cache.values(slot)[0], 4.0 * row as f32);
        }
        assert_eq!((cache.computed, cache.holds(0), cache.holds(1)), (3, true, false));
    }

    #[test]
    fn a_smaller_problem_keeps_what_it_can() {
        let mut cache = slots(6, 4);
        cache.compute(&[5, 3, 1]);
        let active = [1, 3, 4];
        let rows = Dense::new(vec![0.0; 9], 3, 3).unwrap();
        let columns = Columns { gram: Arc::new(rows), ranges: vec![0..3] };
        let mut small = cache.shrink(columns, 0..3, 3, &active, &active, 1 << 10);
        assert_eq!((small.holds(0), small.holds(1), small.holds(2)), (true, true, false));
        for (new, old) in [(0, 1), (1, 3)] {
            let slot = small.touch(new);
            let expected: Vec<f32> = active.iter().map(|&c| (old * 6 + c) as f32).collect();
            assert_eq!(small.values(slot), expected);
        }
    }

    #[test]
    fn two_rows_are_always_held() {
        let mut cache = slots(3, 0);
        let (a, b) = (fetch(&mut cache, 2), fetch(&mut cache, 1));
        assert_eq!((cache.values(a)[0], cache.values(b)[0]), (6.0, 3.0));
    }
}
