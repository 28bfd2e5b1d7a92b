//! A column under construction: numbers for as long as every cell is one.
//!
//! Numbers go straight into a `Vec<f64>`. A column whose first cell is a word keeps text from there on. A column of
//! numbers that meets a word later is `broken`: the texts of its earlier cells are gone, so the file is read a second
//! time with that column as text. That is rare, and cheaper than keeping every text.

use super::super::FieldData;
use super::number::{Cell, classify};
use std::collections::HashSet;

/// Past so many values that are not spelled plainly, a column is no set of labels.
const MOST_SPELLINGS: usize = 1000;

/// The cells of a column so far.
#[derive(Debug, Default)]
pub(super) struct Column {
    numbers: Vec<f64>,
    cells: Vec<String>,
    text: bool,
    declared: bool,
    first_number: Option<usize>,
    first_word: Option<usize>,
    infinite: Option<usize>,
    broken: bool,
    spellings: Vec<(f64, String)>,
    spelled: HashSet<u64>,
}

impl Column {
    /// An empty column; `text` if it is known to hold words, `declared` if the user said so.
    pub(super) fn new(text: bool, declared: bool) -> Self {
        Self { text: text || declared, declared, ..Self::default() }
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
                if !plain && self.spelled.len() < MOST_SPELLINGS {
                    self.note_spelling(value, cell);
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
            return FieldData::Numbers { values: self.numbers, spellings: self.spellings };
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
    fn note_spelling(&mut self, value: f64, cell: &str) {
        let value = value + 0.0; // −0 and 0 are one label
        if self.spelled.insert(value.to_bits()) && !self.numbers.contains(&value) {
            self.spellings.push((value, cell.to_owned()));
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
