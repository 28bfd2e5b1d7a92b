//! Facts about the cells of a column, the numbers themselves left out.
//!
//! A column whose first cell is a word keeps text from there on. A column of numbers that meets a word later is
//! `broken`: the texts of its earlier cells are gone, so the file is read a second time with that column as text. That
//! is rare, and cheaper than keeping every text.

use super::super::Words;
use super::number::{Cell, classify};
use std::collections::HashSet;
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
    pub(super) first_number: Option<usize>,
    pub(super) first_word: Option<usize>,
    pub(super) infinite: Option<usize>,
    /// True if the column must be read again as text.
    pub(super) broken: bool,
    /// Distinct values that are not spelled plainly, in order; with the spelling if it was the first of its value.
    pub(super) spellings: Vec<(f64, Option<String>)>,
    spelled: HashSet<u64, BuildHasherDefault<Bits>>,
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

    /// About no cells of those that follow, to be appended.
    pub(super) fn following(&self) -> Self {
        Self { saturated: self.saturated, ..Self::new(self.text, self.declared) }
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
                    self.note_spelling(value, Some(cell.to_owned()), before);
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
            Cell::Missing => return self.cells.push(""),
            Cell::Number { .. } => self.first_number.get_or_insert(row),
            Cell::Infinite | Cell::Word => self.first_word.get_or_insert(row),
        };
        self.cells.push(cell);
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

    /// The first spelling wins, also when it was the plain one.
    #[allow(clippy::needless_bitwise_bool)] // a lazy operator is a branch
    pub(super) fn note_spelling(&mut self, value: f64, cell: Option<String>, before: &[f64]) {
        let value = value + 0.0; // −0 and 0 are one label
        if self.spelled.insert(value.to_bits()) {
            // eight at a time, which takes a third of the time of one by one
            let among = before.chunks(8).any(|few| few.iter().fold(false, |found, v| found | (*v == value)));
            let first = cell.filter(|_| !among);
            self.spellings.push((value, first));
            self.saturated = self.spellings.len() == MAX_SPELLINGS;
        }
    }
}
