//! Facts about the cells of a column, the numbers themselves left out.
//!
//! A column whose first cell is a word keeps text from there on. A column of numbers that meets a word later is
//! `broken`: the texts of its earlier cells are gone, so the file is read a second time with that column as text. That
//! is rare, and cheaper than keeping every text.

use super::super::Words;
use super::super::spelling::{has_leading_zero, looks_like_a_label};
use super::number::{Cell, classify};
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

/// Largest number of values that are not spelled plainly in a column of labels.
pub(super) const MAX_SPELLINGS: usize = 1000;

/// Facts about the cells so far.
#[derive(Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // each is a fact of its own
pub(super) struct Facts {
    /// The cells of a column of words.
    pub(super) cells: Words,
    /// True if it is a column of text.
    pub(super) text: bool,
    /// True if the user has declared it.
    pub(super) declared: bool,
    /// True if marks of missing entries stay as they are spelled, too.
    pub(super) verbatim: bool,
    pub(super) first_number: Option<usize>,
    pub(super) first_word: Option<usize>,
    pub(super) infinite: Option<usize>,
    /// True if the column must be read again as text.
    pub(super) broken: bool,
    /// Distinct values that are not spelled plainly, in order; with the spelling if it was the first of its value.
    pub(super) spellings: Vec<(f64, Option<String>)>,
    /// The place of each of these among them, and the number of its cells that look like labels of their own.
    spelled: HashMap<u64, (usize, usize), BuildHasherDefault<Bits>>,
    /// Further spellings of values that have one which other programs take for another label.
    others: BTreeSet<(u64, String)>,
    /// True if enough spellings are known already.
    pub(super) saturated: bool,
}

/// A hash of the bits of a number: at most a few hundred are kept, so no file gains by choosing them.
#[derive(Debug, Default)]
struct Bits(u64);

impl Hasher for Bits {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&b| self.write_u64(u64::from(b)));
    }
    fn write_u64(&mut self, bits: u64) {
        let mixed = (self.0 ^ bits ^ (bits >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 29);
    }
}

impl Facts {
    /// About no cells; `text` if the column is known to hold words, `declared` if the user said so.
    pub(super) fn new(text: bool, declared: bool) -> Self {
        Self { text: text || declared, declared, ..Self::default() }
    }

    /// About no cells of a column that keeps all of them as they are spelled.
    pub(super) fn verbatim() -> Self {
        Self { verbatim: true, ..Self::new(true, true) }
    }

    /// About no cells of those that follow, to be appended.
    pub(super) fn following(&self) -> Self {
        Self { saturated: self.saturated, verbatim: self.verbatim, ..Self::new(self.text, self.declared) }
    }

    /// True if cells that were read by themselves can be appended; if not, they must be read again in their turn.
    pub(super) fn fit(&self, following: &Self) -> bool {
        !self.text || following.text || (following.first_number.is_none() && following.infinite.is_none())
    }

    /// Takes a trimmed cell that follows the numbers `before`; the number that stands for it.
    pub(super) fn take(&mut self, cell: &str, before: &[f64]) -> f64 {
        if self.text {
            self.take_word(cell);
            return f64::NAN;
        }
        let row = before.len();
        match classify(cell.as_bytes()) {
            Cell::Missing => f64::NAN,
            Cell::Number { value, plain } => {
                if !plain && !self.saturated {
                    let odd = usize::from(looks_like_a_label(cell));
                    self.note_spelling(value, Some(cell.to_owned()), odd, before);
                }
                value
            }
            Cell::Infinite => {
                self.infinite.get_or_insert(row);
                f64::INFINITY
            }
            Cell::Word => {
                if self.infinite.is_none() {
                    self.settle(before);
                }
                self.first_word.get_or_insert(row);
                if self.first_number.is_some() || self.infinite.is_some() {
                    self.broken = true;
                } else {
                    self.become_text(row);
                    self.cells.push(cell);
                }
                f64::NAN
            }
        }
    }

    /// Takes a trimmed cell of a column of words.
    #[inline]
    pub(super) fn take_word(&mut self, cell: &str) {
        let row = self.cells.len();
        match classify(cell.as_bytes()) {
            Cell::Missing => return self.cells.push(if self.verbatim { cell } else { "" }),
            Cell::Number { .. } => self.first_number.get_or_insert(row),
            Cell::Infinite | Cell::Word => self.first_word.get_or_insert(row),
        };
        self.cells.push(cell);
    }

    /// True if there are more spellings than are kept, and most of those that are have zeros before their digits, as codes have.
    pub(super) fn holds_many_codes(&self) -> bool {
        let codes = self.spellings.iter().filter(|(_, first)| first.as_deref().is_some_and(has_leading_zero)).count();
        self.saturated && 2 * codes > self.spellings.len()
    }

    /// Looks for the first number among all so far, which nobody noted when it was met.
    pub(super) fn settle(&mut self, numbers: &[f64]) {
        if !self.text && self.first_number.is_none() {
            self.first_number = numbers.iter().position(|v| v.is_finite());
        }
    }

    /// All cells so far, of that number, were missing.
    pub(super) fn become_text(&mut self, cells: usize) {
        if !self.text {
            self.text = true;
            self.cells = Words::new();
            self.cells.pad(cells);
        }
    }

    /// Takes cells of a value, the first of them spelled so and `odd` of them as a label of its own; the first spelling wins, also
    /// when it was the plain one.
    #[allow(clippy::needless_bitwise_bool)] // a lazy operator is a branch
    pub(super) fn note_spelling(&mut self, value: f64, cell: Option<String>, odd: usize, before: &[f64]) {
        let value = value + 0.0; // −0 and 0 are one label
        match self.spelled.entry(value.to_bits()) {
            Entry::Occupied(mut known) => {
                let (place, count) = known.get_mut();
                *count += odd;
                let first = self.spellings.get(*place).and_then(|(_, first)| first.as_deref());
                if let Some(cell) = cell.filter(|cell| looks_like_a_label(cell) && first != Some(cell.as_str())) {
                    self.note_other(value, cell);
                }
            }
            Entry::Vacant(new) => {
                new.insert((self.spellings.len(), odd));
                // eight at a time, which takes a third of the time of one by one
                let among = before.chunks(8).any(|few| few.iter().fold(false, |found, v| found | (*v == value)));
                let (first, later) = if among { (None, cell) } else { (cell, None) };
                self.spellings.push((value, first));
                self.saturated = self.spellings.len() == MAX_SPELLINGS;
                if let Some(later) = later.filter(|cell| looks_like_a_label(cell)) {
                    self.note_other(value, later);
                }
            }
        }
    }

    fn note_other(&mut self, value: f64, cell: String) {
        if self.others.len() < MAX_SPELLINGS {
            self.others.insert((value.to_bits(), cell));
        }
    }

    /// Takes the spellings of cells that follow the numbers `before`.
    pub(super) fn note_spellings(&mut self, following: Self, before: &[f64]) {
        for (value, text) in following.spellings {
            if self.saturated {
                break;
            }
            let count = following.spelled.get(&value.to_bits()).map_or(0, |(_, count)| *count);
            self.note_spelling(value, text, count, before);
        }
        for (bits, cell) in following.others {
            let Some((place, _)) = self.spelled.get(&bits) else { continue };
            let first = self.spellings.get(*place).and_then(|(_, first)| first.as_deref());
            if first != Some(cell.as_str()) {
                self.note_other(f64::from_bits(bits), cell);
            }
        }
    }

    /// The first spelling of each value where it is not the plain one, then further ones of values that look like several labels.
    pub(super) fn into_spellings(mut self, numbers: &[f64]) -> Vec<(f64, String)> {
        // a number that is also spelled otherwise has more cells than the odd ones
        let odd = |first: &Option<String>| first.as_deref().is_some_and(looks_like_a_label);
        if !self.saturated && self.spellings.iter().any(|(_, first)| odd(first)) {
            let mut cells: HashMap<u64, usize, BuildHasherDefault<Bits>> =
                self.spellings.iter().filter(|(_, first)| odd(first)).map(|(v, _)| (v.to_bits(), 0)).collect();
            for value in numbers {
                cells.entry((value + 0.0).to_bits()).and_modify(|count| *count += 1);
            }
            for (bits, count) in cells {
                if self.spelled.get(&bits).is_some_and(|(_, noted)| *noted < count) {
                    self.note_other(f64::from_bits(bits), f64::from_bits(bits).to_string());
                }
            }
        }
        for (bits, _) in &self.others {
            if let Some((value, first)) = self.spelled.get(bits).and_then(|(place, _)| self.spellings.get_mut(*place)) {
                first.get_or_insert_with(|| value.to_string());
            }
        }
        let firsts = self.spellings.into_iter().filter_map(|(value, text)| Some((value, text?)));
        firsts.chain(self.others.into_iter().map(|(bits, cell)| (f64::from_bits(bits), cell))).collect()
    }
}
