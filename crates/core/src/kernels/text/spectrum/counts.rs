//! Preparation: substrings of length p get names 0, 1, 2, …; strings become lists of (name, count).

use super::Sequences;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Replaces the characters of every string by the names of the substrings that start there, and returns how many
/// different ones there are.
///
/// Characters get dense codes, so that as many as possible fit a 64-bit key; such pieces are named. If p is longer,
/// two named pieces that overlap or touch make a piece up to twice as long (Karp, Miller & Rosenberg 1972): names are
/// exact at any length, with one look-up for each doubling.
pub(in crate::kernels::text) fn substrings(sides: &mut [Sequences], length: usize) -> usize {
    let (codes, letters) = alphabet(sides);
    let bits = usize::BITS - letters.saturating_sub(1).leading_zeros();
    let fits = (64 / bits.max(1)) as usize;
    let mut done = length.min(fits);
    let used = bits * done as u32;
    let mask = if used >= 64 { u64::MAX } else { (1 << used) - 1 };
    let mut names = Names::new(used);
    for side in &mut *sides {
        *side = Sequences::build(side.iter(), |characters, items| {
            let mut key = 0;
            for (i, &c) in characters.iter().enumerate() {
                key = (key << bits | u64::from(codes[c as usize])) & mask;
                if i + 1 >= done {
                    items.push(names.of(key));
                }
            }
        });
    }
    while done < length {
        let longer = done.saturating_mul(2).min(length);
        let step = longer - done;
        names = Names::new(64);
        for side in &mut *sides {
            *side = Sequences::build(side.iter(), |pieces, items| {
                let pairs = pieces.iter().zip(pieces.get(step..).unwrap_or_default());
                items.extend(pairs.map(|(&a, &b)| names.of(u64::from(a) << 32 | u64::from(b))));
            });
        }
        done = longer;
    }
    names.count as usize
}

/// A dense code for every character that occurs, and how many do.
pub(in crate::kernels::text) fn alphabet(sides: &[Sequences]) -> (Vec<u32>, usize) {
    let largest = sides.iter().flat_map(Sequences::items).max().map_or(0, |&c| c as usize);
    let mut codes = vec![0; largest + 1];
    for &c in sides.iter().flat_map(Sequences::items) {
        codes[c as usize] = 1;
    }
    let mut letters = 0;
    for code in codes.iter_mut().filter(|c| **c == 1) {
        *code = letters;
        letters += 1;
    }
    (codes, letters as usize)
}

/// Names 0, 1, 2, … for keys, in the order of their first appearance.
pub(in crate::kernels::text) struct Names {
    pub(in crate::kernels::text) count: u32,
    /// The name of every possible key plus one, where that table is small.
    table: Vec<u32>,
    map: HashMap<u64, u32, BuildHasherDefault<Mix>>,
}

impl Names {
    /// Beyond this many bits a table would be larger than what it names.
    const TABLE_BITS: u32 = 18;

    pub(in crate::kernels::text) fn new(bits: u32) -> Self {
        let table = if bits <= Self::TABLE_BITS { vec![0; 1 << bits] } else { Vec::new() };
        Self { count: 0, table, map: HashMap::default() }
    }

    #[inline]
    pub(in crate::kernels::text) fn of(&mut self, key: u64) -> u32 {
        if self.table.is_empty() {
            let next = self.count;
            let name = *self.map.entry(key).or_insert(next);
            self.count += u32::from(name == next);
            return name;
        }
        let name = &mut self.table[key as usize];
        if *name == 0 {
            self.count += 1;
            *name = self.count;
        }
        *name - 1
    }
}

/// Hashes one word by a 128-bit product folded to 64 bits; the standard hash costs more than the rest of the naming.
#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    #[inline]
    fn write_u64(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word ^ 0x9e37_79b9_7f4a_7c15) * 0xd6e8_feb8_6659_fd93;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// How often something stands somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::kernels::text) struct Entry {
    /// What or where.
    pub(in crate::kernels::text) key: u32,
    /// How often.
    pub(in crate::kernels::text) count: u32,
}

/// For every string its substrings with their counts, by ascending name.
#[derive(Clone, Debug)]
pub(in crate::kernels::text) struct Counts {
    starts: Vec<usize>,
    entries: Vec<Entry>,
    /// All names are smaller.
    distinct: usize,
}

impl Default for Counts {
    fn default() -> Self {
        Self { starts: vec![0], entries: Vec::new(), distinct: 0 }
    }
}

impl Counts {
    /// Counts equal names in each sequence.
    pub(in crate::kernels::text) fn of(names: &Sequences, distinct: usize) -> Self {
        let mut counts = Self { distinct, ..Self::default() };
        counts.entries.reserve(names.items().len());
        let mut sorted = Vec::new();
        for sequence in names.iter() {
            sorted.clear();
            sorted.extend_from_slice(sequence);
            sorted.sort_unstable();
            counts
                .entries
                .extend(sorted.chunk_by(|a, b| a == b).map(|run| Entry { key: run[0], count: run.len() as u32 }));
            counts.starts.push(counts.entries.len());
        }
        counts
    }

    /// Lists that are counted already, each by ascending name.
    pub(in crate::kernels::text) fn from_lists(lists: impl Iterator<Item = Vec<Entry>>, distinct: usize) -> Self {
        let mut counts = Self { distinct, ..Self::default() };
        for list in lists {
            counts.entries.extend(list);
            counts.starts.push(counts.entries.len());
        }
        counts
    }

    /// How many strings.
    pub(in crate::kernels::text) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The list of the i-th string.
    #[inline]
    pub(in crate::kernels::text) fn get(&self, i: usize) -> &[Entry] {
        &self.entries[self.starts[i]..self.starts[i + 1]]
    }

    /// All names are smaller than this.
    pub(in crate::kernels::text) fn distinct(&self) -> usize {
        self.distinct
    }

    /// How many entries all lists have.
    pub(in crate::kernels::text) fn total(&self) -> usize {
        self.entries.len()
    }

    /// κ(s, s) for every string.
    pub(in crate::kernels::text) fn squares(&self) -> impl Iterator<Item = u64> {
        (0..self.len()).map(|i| self.get(i).iter().map(|e| u64::from(e.count).pow(2)).sum())
    }

    /// The strings at the given places, in that order.
    pub(in crate::kernels::text) fn select(&self, keep: &[usize]) -> Self {
        let mut chosen = Self { distinct: self.distinct, ..Self::default() };
        for &i in keep {
            chosen.entries.extend_from_slice(self.get(i));
            chosen.starts.push(chosen.entries.len());
        }
        chosen
    }
}
