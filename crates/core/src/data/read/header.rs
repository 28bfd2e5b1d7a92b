//! Whether the first line of delimited text names the columns.
//!
//! A word above numbers is a name. Where no word stands above numbers, each column says what it can: a word that is none of the few that
//! a column repeats is a name, and so is one with other letters than the sequences below it; a word that comes again among
//! few is an example. One cell that is found again decides nothing where cells hardly ever repeat. A line of numbers that count the columns, or
//! of years, names them if numbers with fractions stand below.

use super::super::schema::is_usual_mark;
use super::column::Column;
use super::number::{Cell, classify};
use std::collections::HashSet;
use std::ops::RangeInclusive;

/// Longest name in a header of words alone: longer cells are running text.
pub(in crate::data) const MAX_NAME_LENGTH: usize = 64;
/// Rows from which a column that repeats a few words is a sure sign.
const MIN_ROWS: usize = 20;
/// Rows from which fractions tell numbers that are measured from those that count.
const MIN_ROWS_OF_NUMBERS: usize = 3;
/// Numbers that may be years.
const YEARS: RangeInclusive<u64> = 1800..=2200;
/// Texts of a column that are looked at for their letters.
const MAX_TEXTS: usize = 5000;
/// Evidence from which nothing need be told.
const SURE: i32 = 3;
/// Names that columns usually have, in lower case.
const USUAL_NAMES: [&str; 22] = [
    "y",
    "label",
    "labels",
    "target",
    "class",
    "category",
    "type",
    "text",
    "sentence",
    "message",
    "review",
    "title",
    "comment",
    "sentiment",
    "id",
    "name",
    "sequence",
    "seq",
    "word",
    "language",
    "country",
    "city",
];

/// A verdict on a first line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    /// True if it names the columns, false if it is an example.
    pub(super) names: bool,
    /// True if nothing was guessed.
    pub(super) sure: bool,
}

impl Verdict {
    fn surely(names: bool) -> Self {
        Self { names, sure: true }
    }
}

/// The verdict on a first line above columns.
pub(super) fn judge(first: &[String], columns: &[Column]) -> Verdict {
    if columns.iter().all(|c| c.len() == 0) || !first.iter().any(|cell| is_word(cell)) {
        return Verdict::surely(false);
    }
    let words_alone = first.iter().all(|cell| may_be_name(cell));
    let distinct = are_distinct(first);
    if is_above_numbers(first, columns) && (words_alone || distinct) {
        // numbers among the names are no matter of course
        return Verdict { names: true, sure: words_alone };
    }
    let of_names = |cell: &String| cell.chars().count() <= MAX_NAME_LENGTH && (!cell.is_empty() || !words_alone);
    if !distinct || !first.iter().all(of_names) {
        return Verdict::surely(false);
    }
    let evidence = evidence(first, columns);
    if !words_alone {
        let numbered = is_numbered(first);
        return Verdict { names: numbered && evidence > 0, sure: !numbered };
    }
    let names = match evidence {
        0 => columns.len() > 1 && first.iter().zip(columns).all(|(name, column)| column.count(name) == 0),
        evidence => evidence > 0,
    };
    Verdict { names, sure: evidence.abs() >= SURE }
}

/// True if a cell may be a name: a word, or nothing.
pub(in crate::data) fn may_be_name(cell: &str) -> bool {
    cell.is_empty() || classify(cell.as_bytes()) == Cell::Word
}

/// True if a word stands above numbers.
pub(super) fn is_above_numbers(first: &[String], columns: &[Column]) -> bool {
    columns.iter().any(|c| c.len() > 0)
        && first.iter().zip(columns).any(|(name, column)| is_word(name) && column.numeric())
}

/// True for a word that marks nothing as missing.
fn is_word(cell: &str) -> bool {
    classify(cell.as_bytes()) == Cell::Word && !is_usual_mark(cell)
}

fn are_distinct(first: &[String]) -> bool {
    let mut met = HashSet::new();
    first.iter().filter(|cell| !cell.is_empty()).all(|cell| met.insert(cell.as_str()))
}

/// True if the numbers of a line may be names: years, or numbers that count.
fn is_numbered(first: &[String]) -> bool {
    let numbers: Vec<&String> = first.iter().filter(|cell| !may_be_name(cell) && !is_mark(cell)).collect();
    let whole: Vec<u64> = numbers.iter().filter_map(|cell| cell.parse().ok()).collect();
    let years = || whole.iter().all(|n| YEARS.contains(n));
    let counts = || whole.len() > 1 && whole.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1]));
    whole.len() == numbers.len() && (years() || counts())
}

/// True for a line of numbers that may be names: those that count the columns from 0 or 1, as other programs name what has no name, or years.
/// The cell above a column of row names may be empty.
pub(super) fn counts_columns(first: &[String]) -> bool {
    let cells = if first.first().is_some_and(String::is_empty) { &first[1..] } else { first };
    let plain = |cell: &String| cell.parse::<u64>().ok().filter(|number| number.to_string() == *cell);
    let Some(numbers) = cells.iter().map(plain).collect::<Option<Vec<u64>>>() else { return false };
    let counts = || numbers[0] <= 1 && numbers.windows(2).all(|pair| pair[1] - pair[0] == 1);
    let years = || YEARS.contains(&numbers[0]) && YEARS.contains(&numbers[numbers.len() - 1]);
    numbers.len() > 1 && numbers.is_sorted_by(|a, b| a < b) && (counts() || years())
}

/// True if most numbers of some column have a fraction, beside which whole numbers are hardly an example.
pub(super) fn have_fractions(columns: &[Column]) -> bool {
    columns.iter().any(|column| column.len() >= MIN_ROWS_OF_NUMBERS && column.has_fractions())
}

/// True for a cell that is not a number in spite of what readers make of it: NA, inf.
fn is_mark(cell: &str) -> bool {
    !cell.is_empty() && matches!(classify(cell.as_bytes()), Cell::Missing | Cell::Infinite)
}

/// What the columns of words say: positive for names, negative for an example.
fn evidence(first: &[String], columns: &[Column]) -> i32 {
    let usual = first.iter().any(|cell| USUAL_NAMES.contains(&cell.to_lowercase().as_str()));
    let said: i32 =
        first.iter().zip(columns).filter(|(cell, _)| is_word(cell)).map(|(cell, c)| of_column(cell, c)).sum();
    said + if usual { 2 } else { 0 }
}

fn of_column(cell: &str, column: &Column) -> i32 {
    let (rows, kinds) = (column.len(), column.texts().len());
    if kinds == 0 {
        return 0;
    }
    if rows >= 4 && kinds * 2 <= rows {
        return match column.count(cell) {
            0 => 1 + i32::from(rows >= MIN_ROWS && kinds * 4 <= rows),
            again => -1 - i32::from(again > 1 && rows >= MIN_ROWS / 2),
        };
    }
    let texts: Vec<&str> = column.texts().filter(|text| !text.is_empty()).take(MAX_TEXTS).collect();
    of_letters(cell, &texts).unwrap_or_else(|| of_sentences(cell, &texts))
}

/// What sequences of few letters say; `None` where there are none.
fn of_letters(cell: &str, texts: &[&str]) -> Option<i32> {
    let mut letters = [false; 256];
    texts.iter().flat_map(|text| text.bytes()).for_each(|byte| letters[usize::from(byte)] = true);
    let used: Vec<u8> = (0..=255).filter(|&byte| letters[usize::from(byte)]).collect();
    let lengths = texts.iter().map(|text| text.len());
    let (count, least, most) = (lengths.clone().sum::<usize>(), lengths.clone().min()?, lengths.max()?);
    let mean = count / texts.len();
    // names and single words have more letters for their length
    let few = used.len() <= 8 && mean >= 5;
    let proteins = used.len() <= 26 && used.iter().all(u8::is_ascii_uppercase) && mean >= 15;
    if !used.iter().all(u8::is_ascii_alphabetic) || !(few || proteins) {
        return None;
    }
    let alike = cell.bytes().all(|byte| letters[usize::from(byte)]);
    let as_long = (least / 2..=2 * most).contains(&cell.len());
    Some(if alike && as_long { -2 } else { 2 })
}

/// What sentences say, and cells with digits such as dates: a name is neither.
fn of_sentences(cell: &str, texts: &[&str]) -> i32 {
    let has_digit = |text: &str| text.bytes().any(|byte| byte.is_ascii_digit());
    if !texts.is_empty() && texts.iter().all(|text| has_digit(text)) {
        return if has_digit(cell) { -1 } else { 1 };
    }
    let sentences = texts.iter().filter(|text| text.contains(' ')).count();
    if sentences * 10 < texts.len() * 9 {
        return 0;
    }
    if cell.contains(' ') { -1 } else { 1 }
}
