//! For every substring the strings that hold it.

use super::counts::{Counts, Entry};

/// The least width of a segment: that of the tiles in which whole matrices are computed.
const SEGMENT: usize = 512;

/// The strings that hold each substring, in ascending order, in segments of neighbouring strings: whoever wants a range
/// of strings reads the segments it touches.
pub(super) struct Holders {
    /// Strings of a segment.
    width: usize,
    /// How many names there are.
    distinct: usize,
    /// Where the list of each segment and name starts, and the end of the last.
    starts: Vec<usize>,
    /// A string and how often it holds the name.
    entries: Vec<Entry>,
    /// How many strings hold each name.
    counts: Vec<u32>,
}

impl Holders {
    pub(super) fn of(counts: &Counts) -> Self {
        let distinct = counts.distinct();
        // as many lists as entries at most, so that the index is no larger than what it points at
        let segments = (counts.total() / distinct.max(1)).max(1);
        let width = counts.len().div_ceil(segments).max(1).next_multiple_of(SEGMENT);
        let segments = counts.len().div_ceil(width);
        let list = |i: usize, e: &Entry| i / width * distinct + e.key as usize;
        let mut starts = vec![0; segments * distinct + 2];
        let mut held = vec![0; distinct];
        let all = || (0..counts.len()).flat_map(|i| counts.get(i).iter().map(move |e| (i, e)));
        for (i, e) in all() {
            starts[list(i, e) + 2] += 1;
            held[e.key as usize] += 1;
        }
        for k in 2..starts.len() {
            starts[k] += starts[k - 1];
        }
        // starts[k + 1] is where list k goes on; when all is placed, it is where list k ends
        let mut entries = vec![Entry { key: 0, count: 0 }; counts.total()];
        for (i, e) in all() {
            let place = &mut starts[list(i, e) + 1];
            entries[*place] = Entry { key: i as u32, count: e.count };
            *place += 1;
        }
        Self { width, distinct, starts, entries, counts: held }
    }

    /// How many strings hold a name.
    pub(super) fn count(&self, name: u32) -> usize {
        // new strings have substrings that none of these hold
        self.counts.get(name as usize).map_or(0, |&count| count as usize)
    }

    #[inline(always)]
    fn list(&self, segment: usize, name: u32) -> &[Entry] {
        if name as usize >= self.distinct {
            return &[];
        }
        let at = segment * self.distinct + name as usize;
        &self.entries[self.starts[at]..self.starts[at + 1]]
    }

    /// Adds κ(row, ·) for the strings from `left` on to `sums`.
    #[inline(always)]
    pub(super) fn add(&self, row: &[Entry], left: usize, sums: &mut [u64]) {
        if sums.is_empty() {
            return;
        }
        for segment in left / self.width..=(left + sums.len() - 1) / self.width {
            for e in row {
                for h in self.list(segment, e.key) {
                    // the segment may reach beyond the range on both sides
                    if let Some(sum) = sums.get_mut((h.key as usize).wrapping_sub(left)) {
                        *sum += u64::from(e.count) * u64::from(h.count);
                    }
                }
            }
        }
    }
}
