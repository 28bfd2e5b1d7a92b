//! A column under construction: numbers for as long as every cell is one.
//!
//! Numbers go straight into a `Vec<f64>`. A column whose first cell is a word keeps text from there on. A column of
//! numbers that meets a word later is `broken`: the texts of its earlier cells are gone, so the file is read a second
//! time with that column as text. That is rare, and cheaper than keeping every text.

use super::super::FieldData;
use super::number::{Cell, Decimal, classify};
use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

/// Past so many values that are not spelled plainly, a column is no set of labels.
const MOST_SPELLINGS: usize = 1000;

/// The cells of a column so far.
#[derive(Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // each is a fact of its own
pub(super) struct Column {
    numbers: Vec<f64>,
    cells: Vec<String>,
    text: bool,
    declared: bool,
    first_number: Option<usize>,
    first_word: Option<usize>,
    infinite: Option<usize>,
    broken: bool,
    /// Distinct values that are not spelled plainly, in order; with the spelling if it was the first of its value.
    spellings: Vec<(f64, Option<String>)>,
    spelled: HashSet<u64, BuildHasherDefault<Bits>>,
    /// Whether enough spellings are known already.
    saturated: bool,
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

impl Column {
    /// An empty column; `text` if it is known to hold words, `declared` if the user said so.
    pub(super) fn new(text: bool, declared: bool) -> Self {
        Self { text: text || declared, declared, ..Self::default() }
    }

    /// An empty column for the cells that follow, to be appended.
    pub(super) fn following(&self) -> Self {
        Self { saturated: self.saturated, ..Self::new(self.text, self.declared) }
    }

    /// The same with room for so many cells.
    pub(super) fn with_room(mut self, cells: usize) -> Self {
        if !self.text {
            self.numbers.reserve(cells);
        }
        self
    }

    /// Whether cells that were read by themselves can be appended; if not, they must be read again in their turn.
    pub(super) fn fits(&self, following: &Self) -> bool {
        !self.text || following.text || (following.first_number.is_none() && following.infinite.is_none())
    }

    /// Appends cells that were read by themselves and fit.
    pub(super) fn append(&mut self, following: Self) {
        let (rows, more) = (self.len(), following.len());
        let decided = self.first_number.is_some() || self.infinite.is_some();
        let later = |place: Option<usize>| place.map(|row| row + rows);
        self.first_number = self.first_number.or(later(following.first_number));
        self.first_word = self.first_word.or(later(following.first_word));
        self.infinite = self.infinite.or(later(following.infinite));
        self.broken |= following.broken;
        if following.text && !self.text {
            if decided {
                self.broken = true;
                return self.numbers.resize(rows + more, f64::NAN);
            }
            self.become_text();
        }
        if !self.text {
            for (value, text) in following.spellings {
                if self.saturated {
                    break;
                }
                self.note_spelling(value, text);
            }
            self.numbers.extend_from_slice(&following.numbers);
        } else if following.text {
            self.cells.extend(following.cells);
        } else {
            self.cells.resize(rows + more, String::new());
        }
    }

    /// Appends a cell that is a decimal; `cell` is its text.
    #[inline]
    pub(super) fn push_decimal(&mut self, decimal: Decimal, cell: &str) {
        if self.text || (!decimal.plain && !self.saturated) {
            return self.push(cell);
        }
        if self.first_number.is_none() {
            self.first_number = Some(self.numbers.len());
        }
        self.numbers.push(decimal.value);
    }

    /// How many cells.
    pub(super) fn len(&self) -> usize {
        if self.text { self.cells.len() } else { self.numbers.len() }
    }

    /// Whether the column must be read again as text.
    pub(super) fn broken(&self) -> bool {
        self.broken
    }

    /// The first cell that is not finite, while the column is one of numbers.
    pub(super) fn infinite(&self) -> Option<usize> {
        if self.text || self.broken { None } else { self.infinite }
    }

    /// Whether the column has numbers and no words.
    pub(super) fn numeric(&self) -> bool {
        self.first_number.is_some() && self.first_word.is_none()
    }

    /// Whether a text occurs among the cells of a text column.
    pub(super) fn has_cell(&self, text: &str) -> bool {
        self.cells.iter().any(|c| c == text)
    }

    /// Appends a trimmed cell.
    pub(super) fn push(&mut self, cell: &str) {
        let row = self.len();
        let kind = classify(cell.as_bytes());
        if self.text {
            match kind {
                Cell::Missing => return self.cells.push(String::new()),
                Cell::Number { .. } => self.first_number.get_or_insert(row),
                Cell::Infinite | Cell::Word => self.first_word.get_or_insert(row),
            };
            return self.cells.push(cell.to_owned());
        }
        match kind {
            Cell::Missing => self.numbers.push(f64::NAN),
            Cell::Number { value, plain } => {
                self.first_number.get_or_insert(row);
                if !plain && !self.saturated {
                    self.note_spelling(value, Some(cell.to_owned()));
                }
                self.numbers.push(value);
            }
            Cell::Infinite => {
                self.infinite.get_or_insert(row);
                self.numbers.push(f64::INFINITY);
            }
            Cell::Word => {
                self.first_word.get_or_insert(row);
                if self.first_number.is_some() || self.infinite.is_some() {
                    self.broken = true;
                    self.numbers.push(f64::NAN);
                } else {
                    self.become_text();
                    self.cells.push(cell.to_owned());
                }
            }
        }
    }

    /// Puts a first line that was held back as a possible header before the others.
    pub(super) fn prepend(&mut self, cell: &str) {
        let kind = classify(cell.as_bytes());
        for place in [&mut self.first_number, &mut self.first_word, &mut self.infinite].into_iter().flatten() {
            *place += 1;
        }
        if kind == Cell::Missing {
            if self.text {
                self.cells.insert(0, String::new());
            } else {
                self.numbers.insert(0, f64::NAN);
            }
            return;
        }
        if !self.text && (self.first_number.is_some() || self.infinite.is_some()) {
            self.broken = true;
            self.numbers.insert(0, f64::NAN);
        } else {
            self.become_text();
            self.cells.insert(0, cell.to_owned());
        }
        self.first_word = Some(0);
    }

    /// What was read.
    pub(super) fn finish(self) -> FieldData {
        if !self.text {
            let spellings = self.spellings.into_iter().filter_map(|(value, text)| Some((value, text?))).collect();
            return FieldData::Numbers { values: self.numbers, spellings };
        }
        match (self.first_number, self.first_word) {
            (Some(number), Some(word)) if !self.declared => {
                FieldData::Mixed { cells: self.cells, odd: number.max(word) }
            }
            _ => FieldData::Words(self.cells),
        }
    }

    /// All cells so far were missing.
    fn become_text(&mut self) {
        if !self.text {
            self.text = true;
            self.cells = vec![String::new(); self.numbers.len()];
            self.numbers = Vec::new();
        }
    }

    /// The first spelling wins, also when it was the plain one.
    fn note_spelling(&mut self, value: f64, cell: Option<String>) {
        let value = value + 0.0; // −0 and 0 are one label
        if self.spelled.insert(value.to_bits()) {
            let first = cell.filter(|_| !self.numbers.contains(&value));
            self.spellings.push((value, first));
            self.saturated = self.spellings.len() == MOST_SPELLINGS;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(cells: &[&str]) -> Column {
        let mut column = Column::new(false, false);
        for c in cells {
            column.push(c);
        }
        column
    }

    #[test]
    fn kinds_follow_the_cells() {
        assert!(
            matches!(column(&["1", "NA", "2.5"]).finish(), FieldData::Numbers { values, .. } if values[1].is_nan())
        );
        assert!(matches!(column(&["?", "a", "b"]).finish(), FieldData::Words(w) if w == ["", "a", "b"]));
        assert!(matches!(column(&["a", "b", "3"]).finish(), FieldData::Mixed { odd: 2, .. }));
        assert!(column(&["1", "a"]).broken());
        assert_eq!(column(&["1", "inf"]).infinite(), Some(1));
        assert_eq!(column(&["a", "inf"]).infinite(), None);
    }

    #[test]
    fn only_first_spellings_that_are_not_plain_are_kept() {
        let FieldData::Numbers { spellings, .. } = column(&["1", "1.0", "2.0", "2", "3"]).finish() else { panic!() };
        assert_eq!(spellings, [(2.0, "2.0".to_owned())]);
        let many: Vec<String> = (0..3000).map(|i| format!("{i}.0")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let FieldData::Numbers { spellings, .. } = column(&many).finish() else { panic!() };
        assert_eq!(spellings.len(), MOST_SPELLINGS);
    }

    #[test]
    fn a_declared_column_stays_words() {
        let mut zip = Column::new(false, true);
        for c in ["01", "2", "x"] {
            zip.push(c);
        }
        assert!(matches!(zip.finish(), FieldData::Words(w) if w == ["01", "2", "x"]));
    }

    #[test]
    fn columns_in_parts_are_those_in_one() {
        let kinds = ["", "1", "2.0", "1.0", "2", "x", "inf", "y", "?", "3.50"];
        let mut random = crate::seed::Seed(5).stream("parts");
        for round in 0..4000 {
            let few = 1 + round % kinds.len();
            let cells: Vec<&str> = (0..6).map(|_| kinds[random.bits() as usize % few]).collect();
            let whole = column(&cells);
            for cut in 0..=cells.len() {
                let mut first = column(&cells[..cut]);
                let mut rest = Column::new(false, false);
                cells[cut..].iter().for_each(|c| rest.push(c));
                if !first.fits(&rest) {
                    rest = first.following();
                    cells[cut..].iter().for_each(|c| rest.push(c));
                    assert!(first.fits(&rest));
                }
                first.append(rest);
                assert_eq!(
                    (first.broken(), first.infinite(), first.numeric(), first.len()),
                    (whole.broken(), whole.infinite(), whole.numeric(), whole.len()),
                    "{cells:?} at {cut}"
                );
                if !whole.broken() {
                    let whole = column(&cells).finish();
                    assert_eq!(format!("{:?}", first.finish()), format!("{whole:?}"), "{cells:?} at {cut}");
                }
            }
        }
    }

    #[test]
    fn a_line_held_back_goes_first() {
        let mut words = column(&["b", "c"]);
        words.prepend("a");
        assert!(matches!(words.finish(), FieldData::Words(w) if w == ["a", "b", "c"]));
        let mut numbers = column(&["1"]);
        numbers.prepend("");
        assert!(matches!(numbers.finish(), FieldData::Numbers { values, .. } if values.len() == 2));
        let mut broken = column(&["1"]);
        broken.prepend("a");
        assert!(broken.broken());
    }
}
