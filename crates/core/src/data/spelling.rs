//! Spellings of numbers that a number does not keep: those of codes, telephone numbers and long identifiers.

use super::{FieldData, Place, Table};
use std::collections::HashMap;

/// The least number of digits behind a plus that make a telephone number rather than a label such as +1.
const MIN_DIGITS_AFTER_PLUS: usize = 5;

/// Different numbers with a fraction that may still be labels.
pub(crate) const MAX_FRACTIONS: usize = 10;

/// What is lost where a cell is taken for a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// Zeros before the other digits, as in 00037.
    Zeros,
    /// The plus before many digits, as in +4930123456.
    Plus,
    /// Digits beyond those that a number of 64 bits holds, as in 9007199254740993.
    Digits,
}

impl Lost {
    /// What is lost of a cell, if anything.
    pub fn of(cell: &str) -> Option<Self> {
        let unsigned = cell.strip_prefix(['+', '-']).unwrap_or(cell);
        if unsigned.is_empty() || !unsigned.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let short = unsigned.trim_start_matches('0');
        // whole numbers up to 2⁵³ are exact
        if short.len() > 15 && unsigned.parse::<f64>().is_ok_and(|v| format!("{v:.0}") != short) {
            Some(Self::Digits)
        } else if has_leading_zero(cell) {
            Some(Self::Zeros)
        } else if cell.starts_with('+') && unsigned.len() >= MIN_DIGITS_AFTER_PLUS {
            Some(Self::Plus)
        } else {
            None
        }
    }
}

/// True for digits alone that begin with a zero they do not need.
pub(super) fn has_leading_zero(cell: &str) -> bool {
    let unsigned = cell.strip_prefix(['+', '-']).unwrap_or(cell).as_bytes();
    matches!(unsigned, [b'0', _, ..]) && unsigned.iter().all(u8::is_ascii_digit)
}

/// True for a fraction that ends in a zero it does not need, as in the version 3.10; 1.0 is another spelling of 1.
fn has_trailing_zero(cell: &str) -> bool {
    let fraction = cell.split_once('.').map_or("", |(_, fraction)| fraction);
    fraction.ends_with('0') && fraction.bytes().any(|b| b != b'0') && fraction.bytes().all(|b| b.is_ascii_digit())
}

/// True for a spelling of a number that other programs take for a label of its own: 01 beside 1, 3.10 beside 3.1, 1e2 beside 100, or more
/// digits than a number holds.
pub(super) fn looks_like_a_label(cell: &str) -> bool {
    has_leading_zero(cell)
        || has_trailing_zero(cell)
        || cell.contains(['e', 'E'])
        || Lost::of(cell) == Some(Lost::Digits)
}

/// A column of numbers some of whose cells were spelled as no number is.
#[derive(Clone, Debug, PartialEq)]
pub struct Respelled {
    /// The place of the column in its table.
    pub field: usize,
    /// The first such cell.
    pub cell: String,
    /// The place of that cell; without a line where it is not known.
    pub place: Place,
    /// The number that it became.
    pub value: f64,
    /// What is lost.
    pub lost: Lost,
}

impl Table {
    /// The columns of numbers in which some cells lose something by being numbers, as far as their spelling is known.
    pub fn respelled(&self) -> Vec<Respelled> {
        let of = |(field, values, spellings): (usize, &[f64], &[(f64, String)])| {
            let (at, (value, cell, lost)) =
                spellings.iter().enumerate().find_map(|(k, (v, text))| Some((k, (*v, text, Lost::of(text)?))))?;
            // a further spelling of a number stands on some later line
            let first = spellings[..at].iter().all(|(v, _)| *v != value);
            let row = values.iter().position(|v| *v == value).filter(|_| first);
            let mut place = self.place(row.unwrap_or(0), field);
            place.line = place.line.filter(|_| row.is_some());
            Some(Respelled { field, cell: cell.clone(), place, value, lost })
        };
        let numbers = self.fields.iter().enumerate().filter_map(|(field, f)| match &f.data {
            FieldData::Numbers { values, spellings } => Some((field, values.as_slice(), spellings.as_slice())),
            _ => None,
        });
        numbers.filter_map(of).collect()
    }
}

/// Two spellings of a number that look like two labels, 1 and 01, in a column of numbers.
pub(super) fn alike(spellings: &[(f64, String)]) -> Option<(&str, &str)> {
    let mut firsts: HashMap<u64, &str> = HashMap::with_capacity(spellings.len());
    spellings.iter().find_map(|(value, text)| {
        let first = firsts.insert((value + 0.0).to_bits(), text)?;
        Some((first, text.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::super::read::{ReadOptions, read_bytes};
    use super::*;

    #[test]
    fn what_a_number_does_not_keep_is_told_from_other_spellings() {
        for cell in ["00037", "01", "-007", "+001"] {
            assert_eq!(Lost::of(cell), Some(Lost::Zeros), "{cell}");
        }
        for cell in ["9007199254740993", "12345678901234567890", "-00012345678901234567"] {
            assert_eq!(Lost::of(cell), Some(Lost::Digits), "{cell}");
        }
        assert_eq!(Lost::of("+4930123456"), Some(Lost::Plus));
        for cell in
            ["0", "+1", "-1", "1.50", "01.5", "1e5", "007e1", "9007199254740992", "1152921504606846976", "", "x"]
        {
            assert_eq!(Lost::of(cell), None, "{cell}");
        }
    }

    #[test]
    fn a_column_names_its_first_cell_that_is_no_number() {
        let text = "zip,n,big,y\n12,1,9007199254740993,a\n012,1.0,1,b\n00037,2,2,a\n";
        let table = read_bytes("t.csv", text.as_bytes(), &ReadOptions::default()).unwrap();
        let found = table.respelled();
        let told: Vec<String> = found.iter().map(|r| format!("{}: {}", r.place, r.cell)).collect();
        assert_eq!(told, ["t.csv line 4, column \"zip\": 00037", "t.csv line 2, column \"big\": 9007199254740993"]);
        assert_eq!((found[0].value, found[0].lost, found[1].lost), (37.0, Lost::Zeros, Lost::Digits));
    }

    #[test]
    fn two_spellings_of_a_number_are_known_in_any_order() {
        for cells in [["1", "01"], ["01", "1"], ["01", "001"]] {
            let text = format!("x,y\n1,{}\n2,{}\n3,1.0\n", cells[0], cells[1]);
            let table = read_bytes("t.csv", text.as_bytes(), &ReadOptions::default()).unwrap();
            let FieldData::Numbers { spellings, .. } = &table.fields[1].data else { panic!() };
            let (a, b) = alike(spellings).unwrap();
            assert!(cells.contains(&a) && (cells.contains(&b) || b == "1") && a != b, "{spellings:?}");
            assert!(spellings[0].1 == cells[0], "the first is the label: {spellings:?}");
        }
        for cells in
            [["9007199254740993", "9007199254740992"], ["1e2", "100"], ["100", "1e2"], ["3.1", "3.10"], ["3.10", "3.1"]]
        {
            let text = format!("x,y\n1,{}\n2,{}\n3,5\n", cells[0], cells[1]);
            let table = read_bytes("t.csv", text.as_bytes(), &ReadOptions::default()).unwrap();
            let FieldData::Numbers { spellings, .. } = &table.fields[1].data else { panic!() };
            let (a, b) = alike(spellings).unwrap();
            assert!(cells.contains(&a) && cells.contains(&b) && a != b, "{spellings:?}");
        }
        let table = read_bytes("t.csv", b"x,y\n1,1\n2,1.0\n3,02\n4,02\n", &ReadOptions::default()).unwrap();
        let FieldData::Numbers { spellings, .. } = &table.fields[1].data else { panic!() };
        assert_eq!(alike(spellings), None, "{spellings:?}");
    }
}
