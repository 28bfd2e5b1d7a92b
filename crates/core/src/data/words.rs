//! A column of words, in which a word that comes again is kept once.
//!
//! All texts stand in one string, and a cell is the place of its text: four bytes, where a string of its own takes
//! twenty-four and the heap's share. Texts are found again by a table of hashes of a few tries and bounded size, so that
//! no file makes the search long. What is not found, since it is long or the table is full, is kept a second time, which
//! nobody sees.

use std::fmt;
use std::ops::Index;

/// Longest text that is looked for among earlier ones; longer ones are hardly ever the same again.
const MAX_SHARED_BYTES: usize = 64;
/// Number of slots that a text is looked for in.
const SLOTS_PROBED: usize = 8;
/// Slots of the table, at first and at most.
const SLOTS: (usize, usize) = (64, 1 << 15);
/// The code of a slot that is free.
const FREE_SLOT: u32 = u32::MAX;

/// A column of words; the empty word marks a missing entry.
#[derive(Clone, Default)]
pub struct Words {
    /// All texts, one after the other, and where each of them ends.
    texts: String,
    ends: Vec<usize>,
    /// The text of each cell.
    codes: Vec<u32>,
    /// Hash and code of texts, each within a few slots of the one its hash names.
    slots: Vec<(u32, u32)>,
}

impl Words {
    /// An empty column.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of cells.
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// About how many bytes they take.
    pub(super) fn bytes(&self) -> usize {
        let (cells, slots) = (self.codes.len() * size_of::<u32>(), self.slots.len() * size_of::<(u32, u32)>());
        self.texts.len() + self.ends.len() * size_of::<usize>() + cells + slots
    }

    /// True if there is no cell.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// The cells in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        self.codes.iter().map(|&code| self.text(code as usize))
    }

    /// A cell, if there are so many.
    pub fn get(&self, cell: usize) -> Option<&str> {
        self.codes.get(cell).map(|&code| self.text(code as usize))
    }

    /// Appends a cell.
    #[inline]
    pub fn push(&mut self, word: &str) {
        let code = self.code(word);
        self.codes.push(code);
    }

    /// Puts a cell before all others.
    pub(super) fn prepend(&mut self, word: &str) {
        let code = self.code(word);
        self.codes.insert(0, code);
    }

    /// Appends missing cells until there are so many.
    pub(super) fn pad(&mut self, cells: usize) {
        if cells > self.len() {
            let code = self.code("");
            self.codes.resize(cells, code);
        }
    }

    /// Makes room for so many cells, in memory for `expected`.
    pub(super) fn reserve(&mut self, needed: usize, expected: usize) {
        if self.codes.capacity() < needed {
            let cells = self.codes.len();
            self.codes.reserve_exact(expected.max(needed + cells / 2) - cells);
        }
    }

    /// Appends the cells of another column.
    pub(super) fn append(&mut self, other: &Self) {
        let codes: Vec<u32> = (0..other.ends.len()).map(|k| self.code(other.text(k))).collect();
        self.codes.extend(other.codes.iter().map(|&code| codes[code as usize]));
    }

    /// The number of cells that are a word.
    pub(super) fn count(&self, word: &str) -> usize {
        let codes: Vec<u32> = (0..self.ends.len()).filter(|&k| self.text(k) == word).map(|k| k as u32).collect();
        if codes.is_empty() { 0 } else { self.codes.iter().filter(|code| codes.contains(code)).count() }
    }

    /// The texts that are kept, nearly all of them once.
    pub(super) fn kept(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.ends.len()).map(|k| self.text(k))
    }

    #[inline]
    fn text(&self, code: usize) -> &str {
        let start = if code == 0 { 0 } else { self.ends[code - 1] };
        &self.texts[start..self.ends[code]]
    }

    /// The code of a text, which is kept if it is not found.
    #[inline]
    fn code(&mut self, word: &str) -> u32 {
        if word.len() > MAX_SHARED_BYTES {
            return self.keep(word);
        }
        if 2 * self.ends.len() >= self.slots.len() && self.slots.len() < SLOTS.1 {
            self.widen();
        }
        let (hash, mask) = (hash(word.as_bytes()), self.slots.len() - 1);
        for k in 0..SLOTS_PROBED {
            let place = (hash as usize + k) & mask;
            let (known, code) = self.slots[place];
            if code == FREE_SLOT {
                let code = self.keep(word);
                self.slots[place] = (hash, code);
                return code;
            }
            if known == hash && self.text(code as usize) == word {
                return code;
            }
        }
        self.keep(word)
    }

    fn keep(&mut self, word: &str) -> u32 {
        self.texts.push_str(word);
        self.ends.push(self.texts.len());
        // a column of four thousand million distinct words does not fit into memory
        u32::try_from(self.ends.len() - 1).unwrap_or(FREE_SLOT - 1)
    }

    /// Doubles the table.
    #[cold]
    fn widen(&mut self) {
        let wide = (2 * self.slots.len()).max(SLOTS.0);
        let slots = std::mem::replace(&mut self.slots, vec![(0, FREE_SLOT); wide]);
        for (hash, code) in slots.into_iter().filter(|&(_, code)| code != FREE_SLOT) {
            let place =
                (0..SLOTS_PROBED).map(|k| (hash as usize + k) & (wide - 1)).find(|&p| self.slots[p].1 == FREE_SLOT);
            if let Some(place) = place {
                self.slots[place] = (hash, code);
            }
        }
    }
}

/// A hash of a short text, eight bytes at a time.
#[inline]
fn hash(text: &[u8]) -> u32 {
    let mixed = |sum: u64, word: u64| (sum.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut sum = text.len() as u64;
    if let (Some(first), Some(last)) = (text.first_chunk::<8>(), text.last_chunk::<8>()) {
        sum = mixed(sum, u64::from_le_bytes(*first));
        for eight in text[8..].as_chunks::<8>().0 {
            sum = mixed(sum, u64::from_le_bytes(*eight));
        }
        sum = mixed(sum, u64::from_le_bytes(*last));
    } else if let (Some(first), Some(last)) = (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
        sum = mixed(sum, u64::from(first) << 32 | u64::from(last));
    } else if let [first, .., last] = text {
        let middle = text[text.len() / 2];
        sum = mixed(sum, u64::from(*first) << 16 | u64::from(middle) << 8 | u64::from(*last));
    } else {
        sum = mixed(sum, text.first().map_or(256, |&byte| u64::from(byte)));
    }
    (sum ^ (sum >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9).wrapping_shr(32) as u32
}

impl Index<usize> for Words {
    type Output = str;

    fn index(&self, cell: usize) -> &str {
        self.text(self.codes[cell] as usize)
    }
}

impl<T: AsRef<str>> FromIterator<T> for Words {
    fn from_iter<I: IntoIterator<Item = T>>(cells: I) -> Self {
        let mut words = Self::new();
        cells.into_iter().for_each(|cell| words.push(cell.as_ref()));
        words
    }
}

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl PartialEq for Words {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<T: AsRef<str>, const N: usize> PartialEq<[T; N]> for &Words {
    fn eq(&self, other: &[T; N]) -> bool {
        **self == *other
    }
}

impl<T: AsRef<str>, const N: usize> PartialEq<[T; N]> for Words {
    fn eq(&self, other: &[T; N]) -> bool {
        self.iter().eq(other.iter().map(AsRef::as_ref))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Few or many distinct words, short, long and empty.
    fn cells(distinct: u64, count: usize, seed: u64) -> Vec<String> {
        let mut random = crate::seed::Seed(seed).stream("words");
        let word = |k: u64| match k % 5 {
            0 => String::new(),
            1 => format!("{k}"),
            2 => format!("word {k}"),
            3 => format!("{k} ä, a little longer than sixteen bytes"),
            _ => format!("{k}{}", "x".repeat(k as usize % 90)),
        };
        (0..count).map(|_| word(random.bits() % distinct)).collect()
    }

    #[test]
    fn cells_come_back_as_they_went_in() {
        for (distinct, count) in [(1, 3), (7, 500), (300, 5000), (1 << 20, 50_000)] {
            let meant = cells(distinct, count, distinct);
            let words: Words = meant.iter().collect();
            assert!(words.iter().eq(meant.iter()) && words.len() == count);
            assert!((0..count).all(|k| words[k] == meant[k] && words.get(k) == Some(meant[k].as_str())));
            assert_eq!(words.get(count), None);
            assert_eq!(format!("{words:?}"), format!("{meant:?}"));
            assert!(words.count(&meant[count / 2]) > 0 && words.count("nowhere") == 0);
        }
    }

    #[test]
    fn a_word_that_comes_again_is_kept_once() {
        let words: Words = cells(1000, 50_000, 1).iter().filter(|word| word.len() <= MAX_SHARED_BYTES).collect();
        let mut distinct: Vec<&str> = words.iter().collect();
        distinct.sort_unstable();
        distinct.dedup();
        // a crowded place in the table may cost a second copy now and then
        assert!((distinct.len()..distinct.len() + 20).contains(&words.ends.len()), "{}", words.ends.len());
    }

    #[test]
    fn columns_in_parts_are_those_in_one() {
        let meant = cells(400, 3000, 2);
        let mut words = Words::new();
        for part in meant[1..2500].chunks(700) {
            words.append(&part.iter().collect());
        }
        words.prepend(&meant[0]);
        words.pad(2503);
        let padded: Words = meant[..2500].iter().map(String::as_str).chain(["", "", ""]).collect();
        assert_eq!(words, padded);
        words.pad(0);
        assert_eq!(words.len(), 2503);
    }
}
