//! For every substring the strings that hold it.
//!
//! One string meets many through its own substrings: Σ_u count_s(u) · count_t(u) for all t at once, substring by
//! substring. Substrings that few strings hold have lists of these strings. Those that many hold have a line with a byte for
//! each string, and lines are added up as vectors, as panels of rows are in blocks of many rows: one string alone then costs
//! what it costs among others. All numbers are whole and all sums exact, so every way gives the same bits.

use super::counts::{Counts, Entry};
use crate::vectorise::{Loops, vectorised};
use std::ops::{AddAssign, Mul};

/// The least width of a segment: that of the tiles in which whole matrices are computed.
const SEGMENT: usize = 512;
/// Neighbouring strings whose bytes stand side by side: one line of cache for each substring.
const STRINGS_PER_LINE: usize = 64;
/// A substring has a line where at least one string of so many holds it: its bytes are then no more memory than its list.
const STRINGS_OF_A_LISTED_ENTRY: usize = size_of::<Entry>();
/// The number of a substring's line where it has none.
const NO_LINE: u32 = u32::MAX;

#[cfg(test)]
thread_local! {
    /// Number of collections that this thread has indexed.
    pub(in crate::kernels::text) static INDEXED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// The strings that hold each substring, in ascending order, in segments of neighbouring strings: whoever wants a range
/// of strings reads the segments it touches.
pub(super) struct Holders {
    /// Strings of a segment.
    width: usize,
    /// Number of names.
    distinct: usize,
    /// The start of the list of each segment and name, and the end of the last.
    starts: Vec<usize>,
    /// A string and how often it holds the name.
    entries: Vec<Entry>,
    /// Number of strings that hold each name.
    counts: Vec<u32>,
    /// Number of names that have a line.
    lines: usize,
    /// The line of each name, or [`NO_LINE`].
    line_of: Vec<u32>,
    /// Group by group of [`STRINGS_PER_LINE`] strings the lines of all names that have one.
    bytes: Vec<[u8; STRINGS_PER_LINE]>,
    /// The largest κ(t, t) of all strings t.
    largest: u64,
}

/// The substrings of one string: those with lines, and those with lists.
#[derive(Default)]
pub(super) struct Walk {
    lined: Vec<Entry>,
    listed: Vec<Entry>,
}

impl Holders {
    pub(super) fn of(counts: &Counts) -> Self {
        #[cfg(test)]
        INDEXED.set(INDEXED.get() + 1);
        let distinct = counts.distinct();
        let all = || (0..counts.len()).flat_map(|i| counts.get(i).iter().map(move |e| (i, e)));
        let (mut held, mut most) = (vec![0; distinct], vec![0; distinct]);
        for (_, e) in all() {
            held[e.key as usize] += 1;
            most[e.key as usize] = e.count.max(most[e.key as usize]);
        }
        let (mut lines, bytes) = (0, counts.len().next_multiple_of(STRINGS_PER_LINE).max(STRINGS_PER_LINE));
        let mut number = |(&held, &most): (&u32, &u32)| {
            // a count beyond a byte stays in a list
            if (held as usize * STRINGS_OF_A_LISTED_ENTRY) < bytes || most > u32::from(u8::MAX) {
                return NO_LINE;
            }
            lines += 1;
            lines - 1
        };
        let line_of: Vec<u32> = held.iter().zip(&most).map(&mut number).collect();
        let lines = lines as usize;
        // as many lists as entries at most, so that the index is no larger than what is counted
        let segments = (counts.total() / distinct.max(1)).max(1);
        let width = counts.len().div_ceil(segments).max(1).next_multiple_of(SEGMENT);
        let segments = counts.len().div_ceil(width);
        let listed = || all().filter(|(_, e)| line_of[e.key as usize] == NO_LINE);
        let list = |i: usize, e: &Entry| i / width * distinct + e.key as usize;
        let mut starts = vec![0; segments * distinct + 2];
        for (i, e) in listed() {
            starts[list(i, e) + 2] += 1;
        }
        for k in 2..starts.len() {
            starts[k] += starts[k - 1];
        }
        // starts[k + 1] is where list k goes on; when all is placed, it is where list k ends
        let mut entries = vec![Entry { key: 0, count: 0 }; starts.last().copied().unwrap_or(0)];
        for (i, e) in listed() {
            let place = &mut starts[list(i, e) + 1];
            entries[*place] = Entry { key: i as u32, count: e.count };
            *place += 1;
        }
        let mut bytes = vec![[0; STRINGS_PER_LINE]; counts.len().div_ceil(STRINGS_PER_LINE) * lines];
        for (i, e) in all() {
            if let Some(line) = bytes[i / STRINGS_PER_LINE * lines..].get_mut(line_of[e.key as usize] as usize) {
                line[i % STRINGS_PER_LINE] = e.count as u8;
            }
        }
        Self { width, distinct, starts, entries, counts: held, lines, line_of, bytes, largest: counts.largest() }
    }

    /// Number of strings that hold a name.
    pub(super) fn count(&self, name: u32) -> usize {
        // new strings have substrings that none of these hold
        self.counts.get(name as usize).map_or(0, |&count| count as usize)
    }

    /// True if a name has a line.
    pub(super) fn has_line(&self, name: u32) -> bool {
        self.line_of.get(name as usize).is_some_and(|&line| line != NO_LINE)
    }

    #[inline(always)]
    fn list(&self, segment: usize, name: u32) -> &[Entry] {
        // new strings have substrings that none of these hold
        if name as usize >= self.distinct {
            return &[];
        }
        let at = segment * self.distinct + name as usize;
        &self.entries[self.starts[at]..self.starts[at + 1]]
    }

    /// Writes κ(row, ·) for the strings from `left` on to `sums`; `square` is κ(row, row).
    pub(super) fn products(&self, row: &[Entry], square: u64, left: usize, sums: &mut [u64], walk: &mut Walk) {
        if self.lines == 0 {
            sums.fill(0);
            return self.add_lists(row, left, sums);
        }
        let Walk { lined, listed } = walk;
        lined.clear();
        listed.clear();
        for e in row {
            // what none of these strings holds adds nothing
            match self.line_of.get(e.key as usize) {
                Some(&NO_LINE) => listed.push(*e),
                Some(&key) => lined.push(Entry { key, count: e.count }),
                None => {}
            }
        }
        // κ(s, t)² ≤ κ(s, s) κ(t, t) and sums of counts only grow: no sum on the way is larger
        match square.checked_mul(self.largest) {
            Some(0..=0xffff_ffff) => self.add_lines::<u16>(lined, left, sums),
            Some(_) => self.add_lines::<u32>(lined, left, sums),
            None => self.add_lines::<u64>(lined, left, sums),
        }
        self.add_lists(listed, left, sums);
    }

    /// Writes the part of names with lines, group by group.
    fn add_lines<W: Whole>(&self, lined: &[Entry], left: usize, sums: &mut [u64]) {
        if lined.is_empty() {
            return sums.fill(0);
        }
        let mut done = 0;
        while done < sums.len() {
            let (group, lane) = ((left + done) / STRINGS_PER_LINE, (left + done) % STRINGS_PER_LINE);
            let count = (STRINGS_PER_LINE - lane).min(sums.len() - done);
            let table = &self.bytes[group * self.lines..][..self.lines];
            let found: [W; STRINGS_PER_LINE] =
                vectorised(Lines { lined, table, sums: [W::default(); STRINGS_PER_LINE] });
            sums[done..done + count].iter_mut().zip(&found[lane..]).for_each(|(sum, &w)| *sum = w.into());
            done += count;
        }
    }

    /// Adds the part of names with lists.
    fn add_lists(&self, listed: &[Entry], left: usize, sums: &mut [u64]) {
        if sums.is_empty() || listed.is_empty() {
            return;
        }
        for segment in left / self.width..=(left + sums.len() - 1) / self.width {
            for e in listed {
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

/// Whole numbers that are wide enough for the sums at hand: the narrower, the more of them in a vector.
trait Whole: Copy + Default + AddAssign + Mul<Output = Self> + From<u8> + Into<u64> {
    /// A count that is known to fit.
    fn of(count: u32) -> Self;
}

impl Whole for u16 {
    #[inline(always)]
    fn of(count: u32) -> Self {
        count as Self
    }
}

impl Whole for u32 {
    #[inline(always)]
    fn of(count: u32) -> Self {
        count
    }
}

impl Whole for u64 {
    #[inline(always)]
    fn of(count: u32) -> Self {
        Self::from(count)
    }
}

/// Σ count · line for a group of neighbouring strings.
struct Lines<'a, W> {
    /// The number of each line, and the count that it is multiplied with.
    lined: &'a [Entry],
    table: &'a [[u8; STRINGS_PER_LINE]],
    sums: [W; STRINGS_PER_LINE],
}

impl<W: Whole> Loops for Lines<'_, W> {
    type Output = [W; STRINGS_PER_LINE];

    #[inline(always)]
    fn run(self) -> [W; STRINGS_PER_LINE] {
        let Self { lined, table, mut sums } = self;
        for e in lined {
            let (line, count) = (&table[e.key as usize], W::of(e.count));
            for l in 0..STRINGS_PER_LINE {
                sums[l] += count * W::from(line[l]);
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    /// Strings with counts of so many names; a name below `common` is in nearly all of them, others in few.
    fn counts(n: usize, names: u32, common: u32, largest: u32) -> Counts {
        let mut random = Seed(5).stream("holders");
        let lists: Vec<Vec<Entry>> = (0..n)
            .map(|_| {
                (0..names)
                    .filter_map(|key| {
                        let of = if key < common { 100 } else { 4 };
                        let held = random.below(100) < of;
                        held.then(|| Entry { key, count: 1 + random.below(largest as usize) as u32 })
                    })
                    .collect()
            })
            .collect();
        Counts::from_lists(lists.into_iter(), names as usize)
    }

    #[test]
    fn every_width_of_sums_and_every_range_gives_the_products() {
        // sums that fit 16, 32 and 64 bits; counts beyond a byte
        for (largest, n) in [(3, 150), (200, 150), (300, 70), (u32::MAX >> 2, 70)] {
            let all = counts(n, 40, 25, largest);
            let holders = Holders::of(&all);
            assert_eq!(holders.lines, if largest < 256 { 25 } else { 0 });
            let mut row: Vec<Entry> = all.get(1).to_vec();
            row.push(Entry { key: 44, count: 7 });
            let square = row.iter().map(|e| u64::from(e.count).pow(2)).sum();
            let mut walk = Walk::default();
            for (left, right) in [(0, n), (3, n - 1), (63, 65), (64, 64), (n - 1, n)] {
                let mut sums = vec![u64::MAX; right - left];
                holders.products(&row, square, left, &mut sums, &mut walk);
                for (j, sum) in (left..).zip(sums) {
                    let other = |key: u32| all.get(j).iter().find(|o| o.key == key).map_or(0, |o| u64::from(o.count));
                    assert_eq!(
                        sum,
                        row.iter().map(|e| u64::from(e.count) * other(e.key)).sum::<u64>(),
                        "{largest} {j}"
                    );
                }
            }
        }
    }

    #[test]
    fn one_string_walks_no_list_of_what_many_hold() {
        let all = counts(640, 60, 20, 3);
        let holders = Holders::of(&all);
        let mut walk = Walk::default();
        let row = (0..640).max_by_key(|&i| all.get(i).len()).unwrap();
        holders.products(all.get(row), all.squares()[row], 0, &mut vec![0; 640], &mut walk);
        assert!(walk.lined.len() == 20 && walk.lined.iter().all(|e| (e.key as usize) < holders.lines));
        assert!(holders.lines == 20 && !walk.listed.is_empty());
        let walked: usize = walk.listed.iter().map(|e| holders.count(e.key)).sum();
        assert!(walked <= walk.listed.len() * 640 / STRINGS_OF_A_LISTED_ENTRY, "{walked}");
        // the index is no larger than the lists that it stands for
        let bytes = holders.bytes.len() * STRINGS_PER_LINE + holders.entries.len() * size_of::<Entry>();
        assert!(bytes <= all.total() * size_of::<Entry>(), "{bytes}");
    }
}
