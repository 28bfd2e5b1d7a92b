//! Preparation: substrings of length p get names 0, 1, 2, …; strings become lists of (name, count).

use super::Sequences;
use super::holders::Holders;
use crate::gram::between::Collection;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, OnceLock};

/// Names of the substrings of length p of training strings.
///
/// Characters get dense codes, so that as many as possible fit a 64-bit key; such pieces are named. If p is longer,
/// two named pieces that overlap or touch make a piece up to twice as long (Karp, Miller & Rosenberg 1972): names are
/// exact at any length, with one look-up for each doubling. New strings keep these names, and what is in none of the training
/// strings is named from there on.
pub(in crate::kernels::text) struct Substrings {
    /// The code of each character.
    codes: Vec<u32>,
    /// Bits of a code.
    bits: u32,
    /// Characters of the pieces that are named first.
    first: usize,
    /// Distances of the two pieces that make a longer one, doubling by doubling.
    steps: Vec<usize>,
    /// The names of the first pieces, then those of each doubling.
    names: Vec<Names>,
}

impl Substrings {
    /// Names the substrings that start at each character of every string.
    pub(in crate::kernels::text) fn learn(strings: &Sequences, length: usize) -> (Self, Sequences) {
        let (codes, letters) = alphabet(strings);
        let bits = usize::BITS - letters.saturating_sub(1).leading_zeros();
        let first = length.min((64 / bits.max(1)) as usize);
        let mut new = Self { codes, bits, first, steps: Vec::new(), names: Vec::new() };
        let mut names = Names::new(bits * first as u32);
        let (mask, codes) = (new.mask(), &new.codes);
        let mut named = Sequences::build(strings.iter(), |characters, items| {
            let mut key = 0;
            for (i, &c) in characters.iter().enumerate() {
                key = (key << bits | u64::from(codes[c as usize])) & mask;
                if i + 1 >= first {
                    items.push(names.of(key));
                }
            }
        });
        new.names.push(names);
        let mut done = first;
        while done < length {
            let longer = done.saturating_mul(2).min(length);
            let step = longer - done;
            let mut names = Names::new(64);
            named = doubled(&named, step, |key| names.of(key));
            new.steps.push(step);
            new.names.push(names);
            done = longer;
        }
        (new, named)
    }

    /// Names the substrings of other strings, and says how many names there are now.
    pub(in crate::kernels::text) fn name(&self, strings: &Sequences) -> (Sequences, usize) {
        let mut names = Extended::new(&self.names[0]);
        let (mask, first) = (self.mask(), self.first);
        // pieces with a character that has no code, letter by letter
        let mut foreign: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut named = Sequences::build(strings.iter(), |characters, items| {
            let (mut key, mut coded) = (0, 0);
            for (i, &c) in characters.iter().enumerate() {
                match self.codes.get(c as usize) {
                    Some(&code) if code != NO_CODE => {
                        key = (key << self.bits | u64::from(code)) & mask;
                        coded += 1;
                    }
                    _ => coded = 0,
                }
                if i + 1 >= first {
                    items.push(if coded >= first {
                        names.of(key)
                    } else {
                        let piece = &characters[i + 1 - first..=i];
                        foreign.get(piece).copied().unwrap_or_else(|| {
                            let name = names.fresh();
                            foreign.insert(piece.to_vec(), name);
                            name
                        })
                    });
                }
            }
        });
        let mut distinct = names.count();
        for (&step, known) in self.steps.iter().zip(&self.names[1..]) {
            let mut names = Extended::new(known);
            named = doubled(&named, step, |key| names.of(key));
            distinct = names.count();
        }
        (named, distinct)
    }

    /// Number of different substrings of the training strings.
    pub(in crate::kernels::text) fn distinct(&self) -> usize {
        self.names.last().map_or(0, |names| names.count as usize)
    }

    fn mask(&self) -> u64 {
        let used = self.bits * self.first as u32;
        if used >= 64 { u64::MAX } else { (1 << used) - 1 }
    }
}

/// Names of longer pieces from those of two that stand `step` apart.
fn doubled(pieces: &Sequences, step: usize, mut name: impl FnMut(u64) -> u32) -> Sequences {
    Sequences::build(pieces.iter(), |pieces, items| {
        let pairs = pieces.iter().zip(pieces.get(step..).unwrap_or_default());
        items.extend(pairs.map(|(&a, &b)| name(u64::from(a) << 32 | u64::from(b))));
    })
}

/// The mark for a character that has no code.
pub(in crate::kernels::text) const NO_CODE: u32 = u32::MAX;

/// A dense code for every character that occurs, and how many do.
pub(in crate::kernels::text) fn alphabet(strings: &Sequences) -> (Vec<u32>, usize) {
    let largest = strings.items().iter().max().map_or(0, |&c| c as usize);
    let mut codes = vec![NO_CODE; largest + 1];
    for &c in strings.items() {
        codes[c as usize] = 0;
    }
    let mut letters = 0;
    for code in codes.iter_mut().filter(|c| **c == 0) {
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

impl Names {
    /// The name of a key that has one.
    #[inline]
    fn get(&self, key: u64) -> Option<u32> {
        if self.table.is_empty() {
            return self.map.get(&key).copied();
        }
        self.table.get(key as usize).and_then(|name| name.checked_sub(1))
    }
}

/// Names of keys that are known, and further ones for others.
pub(in crate::kernels::text) struct Extended<'a> {
    known: &'a Names,
    strange: HashMap<u64, u32, BuildHasherDefault<Mix>>,
    count: u32,
}

impl<'a> Extended<'a> {
    pub(in crate::kernels::text) fn new(known: &'a Names) -> Self {
        Self { known, strange: HashMap::default(), count: known.count }
    }

    #[inline]
    pub(in crate::kernels::text) fn of(&mut self, key: u64) -> u32 {
        if let Some(name) = self.known.get(key) {
            return name;
        }
        let next = self.count;
        let name = *self.strange.entry(key).or_insert(next);
        self.count += u32::from(name == next);
        name
    }

    /// A name that nothing else has.
    fn fresh(&mut self) -> u32 {
        self.count += 1;
        self.count - 1
    }

    /// Number of names.
    pub(in crate::kernels::text) fn count(&self) -> usize {
        self.count as usize
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

/// A name or place with the number of its occurrences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::kernels::text) struct Entry {
    /// The name or place.
    pub(in crate::kernels::text) key: u32,
    /// Number of occurrences.
    pub(in crate::kernels::text) count: u32,
}

/// For every string its substrings with their counts, by ascending name.
pub(in crate::kernels::text) struct Counts {
    starts: Vec<usize>,
    entries: Vec<Entry>,
    /// κ(s, s) of every string.
    squares: Vec<u64>,
    /// The largest of them.
    largest: u64,
    /// All names are smaller.
    distinct: usize,
    /// The strings that hold each substring, where they were asked for.
    holders: OnceLock<Holders>,
}

impl Counts {
    fn none(distinct: usize) -> Self {
        Self {
            starts: vec![0],
            entries: Vec::new(),
            squares: Vec::new(),
            largest: 0,
            distinct,
            holders: OnceLock::new(),
        }
    }

    /// Ends the list of a string.
    fn close(&mut self) {
        let list = &self.entries[self.starts.last().copied().unwrap_or(0)..];
        let square = list.iter().map(|e| u64::from(e.count).pow(2)).sum();
        self.squares.push(square);
        self.largest = self.largest.max(square);
        self.starts.push(self.entries.len());
    }

    /// Counts equal names in each sequence.
    pub(in crate::kernels::text) fn of(names: &Sequences, distinct: usize) -> Self {
        let mut counts = Self::none(distinct);
        counts.entries.reserve(names.items().len());
        let mut sorted = Vec::new();
        for sequence in names.iter() {
            sorted.clear();
            sorted.extend_from_slice(sequence);
            sorted.sort_unstable();
            counts
                .entries
                .extend(sorted.chunk_by(|a, b| a == b).map(|run| Entry { key: run[0], count: run.len() as u32 }));
            counts.close();
        }
        counts
    }

    /// Lists that are counted already, each by ascending name.
    pub(in crate::kernels::text) fn from_lists(lists: impl Iterator<Item = Vec<Entry>>, distinct: usize) -> Self {
        let mut counts = Self::none(distinct);
        for list in lists {
            counts.entries.extend(list);
            counts.close();
        }
        counts
    }

    /// Number of strings.
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

    /// Number of entries of all lists.
    pub(in crate::kernels::text) fn total(&self) -> usize {
        self.entries.len()
    }

    /// κ(s, s) for every string.
    pub(in crate::kernels::text) fn squares(&self) -> &[u64] {
        &self.squares
    }

    /// The largest κ(s, s).
    pub(super) fn largest(&self) -> u64 {
        self.largest
    }

    /// The strings that hold each substring.
    pub(super) fn holders(&self) -> &Holders {
        self.holders.get_or_init(|| Holders::of(self))
    }
}

impl Collection for Counts {
    fn count(&self) -> usize {
        self.len()
    }

    fn chosen(self: &Arc<Self>, keep: &[usize]) -> Arc<Self> {
        let mut chosen = Self::none(self.distinct);
        for &i in keep {
            chosen.entries.extend_from_slice(self.get(i));
            chosen.close();
        }
        Arc::new(chosen)
    }
}
