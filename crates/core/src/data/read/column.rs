//! A column under construction: numbers for as long as every cell is one.

use super::super::spelling::looks_like_a_label;
use super::super::{FieldData, Words};
use super::facts::Facts;
use super::number::{Cell, Decimal, classify};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The cells of a column so far.
#[derive(Debug, Default)]
pub(super) struct Column {
    numbers: Vec<f64>,
    facts: Facts,
}

impl Column {
    /// An empty column; `text` if it is known to hold words, `declared` if the user said so.
    pub(super) fn new(text: bool, declared: bool) -> Self {
        Self { numbers: Vec::new(), facts: Facts::new(text, declared) }
    }

    /// An empty column of text that the user has declared and that keeps every cell as it is spelled, marks of missing entries too.
    pub(super) fn verbatim() -> Self {
        Self { numbers: Vec::new(), facts: Facts::verbatim() }
    }

    /// An empty column for the cells that follow, to be appended.
    pub(super) fn following(&self) -> Self {
        Self { numbers: Vec::new(), facts: self.facts.following() }
    }

    /// About how many bytes it takes with so many cells.
    pub(super) fn bytes(&self, cells: usize) -> usize {
        if self.facts.text { self.facts.cells.bytes() + cells * size_of::<u32>() } else { cells * size_of::<f64>() }
    }

    /// Facts about it.
    pub(super) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Makes room for so many cells, in memory for `expected`. What the room of numbers holds is to be written over: zeros
    /// that nobody has looked at yet cost nothing.
    pub(super) fn grow(&mut self, needed: usize, expected: usize) {
        if self.facts.text {
            self.facts.cells.reserve(needed, expected);
        } else if self.numbers.len() < needed {
            let mut wide = vec![0.0; expected.max(needed + self.numbers.len() / 2)];
            wide[..self.numbers.len()].copy_from_slice(&self.numbers);
            self.numbers = wide;
        }
    }

    /// The room for the numbers after the first ones; none for words.
    pub(super) fn room(&mut self, after: usize) -> &mut [f64] {
        self.numbers.get_mut(after..).unwrap_or_default()
    }

    /// Moves numbers to an earlier place.
    pub(super) fn shift(&mut self, from: usize, to: usize, cells: usize) {
        if from != to && !self.facts.text {
            self.numbers.copy_within(from..from + cells, to);
        }
    }

    /// Takes back the room that was not needed.
    pub(super) fn cut(&mut self, cells: usize) {
        self.numbers.truncate(cells);
    }

    /// True if cells that were read by themselves can be appended; if not, they must be read again in their turn.
    pub(super) fn fits(&self, following: &Self) -> bool {
        self.facts.fit(&following.facts)
    }

    /// Appends cells that were read by themselves and fit.
    pub(super) fn append(&mut self, mut following: Self) {
        let (rows, more) = (self.len(), following.len());
        if !self.facts.text {
            self.numbers.append(&mut following.numbers);
        }
        self.append_facts(following.facts, rows, more);
    }

    /// Appends facts that are settled and fit, about `more` cells after the first `rows`, whose numbers are there already.
    pub(super) fn append_facts(&mut self, following: Facts, rows: usize, more: usize) {
        let facts = &mut self.facts;
        let decided = facts.first_number.is_some() || facts.infinite.is_some();
        let later = |place: Option<usize>| place.map(|row| row + rows);
        facts.first_number = facts.first_number.or(later(following.first_number));
        facts.first_word = facts.first_word.or(later(following.first_word));
        facts.infinite = facts.infinite.or(later(following.infinite));
        facts.broken |= following.broken;
        if following.text && !facts.text {
            if decided {
                facts.broken = true;
                return self.numbers.resize(self.numbers.len().max(rows + more), f64::NAN);
            }
            facts.become_text(rows);
            self.numbers = Vec::new();
        }
        if !facts.text {
            facts.note_spellings(following, &self.numbers[..rows]);
        } else if following.text {
            facts.cells.append(&following.cells);
        } else {
            facts.cells.pad(rows + more);
        }
    }
    /// Appends a cell that is a decimal; `cell` is its text.
    #[inline]
    pub(super) fn push_decimal(&mut self, decimal: Decimal, cell: &str) {
        if self.facts.text || (!decimal.plain && !self.facts.saturated) {
            return self.push(cell);
        }
        self.facts.first_number.get_or_insert(self.numbers.len());
        self.numbers.push(decimal.value);
    }

    /// Number of cells.
    pub(super) fn len(&self) -> usize {
        if self.facts.text { self.facts.cells.len() } else { self.numbers.len() }
    }

    /// True if the column must be read again as text.
    pub(super) fn broken(&self) -> bool {
        self.facts.broken
    }

    /// The first cell that is not finite, while the column is one of numbers.
    pub(super) fn infinite(&self) -> Option<usize> {
        if self.facts.text || self.facts.broken { None } else { self.facts.infinite }
    }

    /// True if the column has numbers and no words.
    pub(super) fn numeric(&self) -> bool {
        self.facts.first_number.is_some() && self.facts.first_word.is_none()
    }

    /// True if most cells are numbers with a fraction.
    pub(super) fn has_fractions(&self) -> bool {
        let with = self.numbers.iter().filter(|v| v.is_finite() && v.fract() != 0.0).count();
        self.numeric() && 2 * with > self.numbers.len()
    }

    /// True if its cells must be read again as text: a word came after numbers, or more numbers are spelled as codes, with zeros before
    /// them, than are kept.
    pub(super) fn wants_text(&self) -> bool {
        self.facts.broken || (!self.facts.text && self.facts.holds_many_codes())
    }

    /// How often a text occurs among the cells of a text column.
    pub(super) fn count(&self, text: &str) -> usize {
        self.facts.cells.count(text)
    }

    /// The different texts of a text column.
    pub(super) fn texts(&self) -> impl ExactSizeIterator<Item = &str> {
        self.facts.cells.kept()
    }

    /// Appends a trimmed cell.
    pub(super) fn push(&mut self, cell: &str) {
        let value = self.facts.take(cell, &self.numbers);
        if self.facts.text {
            self.numbers = Vec::new();
        } else {
            if value.is_finite() {
                self.facts.first_number.get_or_insert(self.numbers.len());
            }
            self.numbers.push(value);
        }
    }

    /// Puts a first line that was held back as a possible header before the others.
    pub(super) fn prepend(&mut self, cell: &str) {
        let (numbers, facts) = (&mut self.numbers, &mut self.facts);
        for place in [&mut facts.first_number, &mut facts.first_word, &mut facts.infinite].into_iter().flatten() {
            *place += 1;
        }
        let missing = classify(cell.as_bytes()) == Cell::Missing;
        if !facts.text && (missing || facts.first_number.is_some() || facts.infinite.is_some()) {
            facts.broken |= !missing;
            numbers.insert(0, f64::NAN);
        } else {
            facts.become_text(numbers.len());
            *numbers = Vec::new();
            facts.cells.prepend(if missing && !facts.verbatim { "" } else { cell });
        }
        if !missing {
            facts.first_word = Some(0);
        }
    }

    /// The cells that were read.
    pub(super) fn finish(mut self) -> FieldData {
        let facts = self.facts;
        if !facts.text {
            if self.numbers.capacity() / 5 > self.numbers.len() / 4 {
                self.numbers.shrink_to_fit();
            }
            let spellings = facts.into_spellings(&self.numbers);
            return FieldData::Numbers { values: self.numbers, spellings };
        }
        match (facts.first_number, facts.first_word) {
            (Some(number), Some(word)) if !facts.declared => {
                FieldData::Mixed { cells: facts.cells, odd: number.max(word) }
            }
            (Some(_), None) if !facts.declared => numbers_of_text(&facts.cells),
            _ => FieldData::Words(facts.cells),
        }
    }
}

/// Numbers that were read as text, so that the spelling of each is known: the first of a value, and others that look like labels of their own.
fn numbers_of_text(cells: &Words) -> FieldData {
    let mut firsts: HashMap<u64, &str> = HashMap::new();
    let (mut spellings, mut others) = (Vec::new(), Vec::new());
    for cell in cells.kept() {
        let Some(value) = cell.parse::<f64>().ok().map(|value| value + 0.0) else { continue };
        match firsts.entry(value.to_bits()) {
            Entry::Vacant(new) => {
                new.insert(cell);
                spellings.push((value, cell.to_owned()));
            }
            Entry::Occupied(known) if *known.get() != cell && looks_like_a_label(cell) => {
                others.push((value, cell.to_owned()));
            }
            Entry::Occupied(_) => {}
        }
    }
    spellings.append(&mut others);
    let values = cells.iter().map(|cell| cell.parse().unwrap_or(f64::NAN)).collect();
    FieldData::Numbers { values, spellings }
}

#[cfg(test)]
mod tests {
    use super::super::facts::MAX_SPELLINGS;
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
        assert_eq!(spellings.len(), MAX_SPELLINGS);
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
        let kinds = ["", "1", "2.0", "1.0", "2", "01", "001", "x", "inf", "y", "?", "3.50"];
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
