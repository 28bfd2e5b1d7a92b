//! A cache of recently used rows, bounded in bytes.

use super::Gram;

/// Keeps the most recently used rows of a matrix in f32. It belongs to one solver and one thread; slots are
/// allocated as they are first needed and then reused, because fresh memory is the dearest operand of a solver.
pub struct Cached<'a> {
    gram: &'a dyn Gram,
    width: usize,
    /// Slot of each row; `NOWHERE` if it is not kept.
    slot_of: Vec<u32>,
    /// Row of each slot.
    row_of: Vec<u32>,
    /// Neighbours in the order of use, one more entry as the ring's head.
    older: Vec<u32>,
    newer: Vec<u32>,
    values: Vec<Box<[f32]>>,
    most: usize,
    computed: usize,
}

const NOWHERE: u32 = u32::MAX;

impl<'a> Cached<'a> {
    /// An empty cache of at most `bytes`, but at least two rows.
    pub fn new(gram: &'a dyn Gram, bytes: usize) -> Self {
        let (n, width) = gram.shape();
        let most = (bytes / (4 * width.max(1))).max(2).min(n.max(2));
        Self {
            gram,
            width,
            slot_of: vec![NOWHERE; n],
            row_of: Vec::new(),
            older: vec![0],
            newer: vec![0],
            values: Vec::new(),
            most,
            computed: 0,
        }
    }

    /// How many rows were computed so far.
    pub fn computed(&self) -> usize {
        self.computed
    }

    /// The slot of a row, computing it if need be. A second call does not disturb the slot of the first.
    pub fn slot(&mut self, row: usize) -> usize {
        let known = self.slot_of[row];
        let slot = if known == NOWHERE {
            self.computed += 1;
            let slot = if self.values.len() < self.most {
                self.values.push(vec![0.0; self.width].into_boxed_slice());
                self.row_of.push(NOWHERE);
                self.older.push(0);
                self.newer.push(0);
                self.values.len() - 1
            } else {
                let oldest = self.newer[0] as usize - 1;
                self.unlink(oldest);
                self.slot_of[self.row_of[oldest] as usize] = NOWHERE;
                oldest
            };
            self.gram.row32(row, 0..self.width, &mut self.values[slot]);
            self.row_of[slot] = row as u32;
            self.slot_of[row] = slot as u32;
            slot
        } else {
            self.unlink(known as usize);
            known as usize
        };
        self.link_newest(slot);
        slot
    }

    /// The values in a slot.
    pub fn values(&self, slot: usize) -> &[f32] {
        &self.values[slot]
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

    #[test]
    fn drops_the_least_recently_used_row() {
        let gram = Dense::new((0..16).map(f64::from).collect(), 4, 4).unwrap();
        let mut cache = Cached::new(&gram, 2 * 4 * 4);
        for row in [0, 1, 0, 2] {
            let slot = cache.slot(row);
            assert_eq!(cache.values(slot)[0], 4.0 * row as f32);
        }
        assert_eq!(cache.computed(), 3);
        let slot = cache.slot(0); // still there, row 1 was dropped
        assert_eq!((cache.values(slot)[3], cache.computed()), (3.0, 3));
        cache.slot(1);
        assert_eq!(cache.computed(), 4);
    }

    #[test]
    fn two_rows_are_always_held() {
        let gram = Dense::new((0..9).map(f64::from).collect(), 3, 3).unwrap();
        let mut cache = Cached::new(&gram, 0);
        let (a, b) = (cache.slot(2), cache.slot(1));
        assert_eq!((cache.values(a)[0], cache.values(b)[0]), (6.0, 3.0));
    }
}
