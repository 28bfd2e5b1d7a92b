//! Delimited text: CSV, TSV and their relatives.
//!
//! One pass fills the columns; a second one is made only if a column of numbers turned out to hold words. A first
//! line of words is held back until the end, when the columns tell whether it is a header.

use super::super::{DataError, Field, Table};
use super::blocks::Blocks;
use super::column::Column;
use super::delimiter::detect;
use super::lines::Lines;
use super::plain::Plain;
use super::record::{Delimiter, Records};
use super::{FormatEntry, ReadOptions, Source, may_be_name};
use crate::memory::Growth;
use crate::params::brief;

/// The format.
pub(super) static CSV: FormatEntry = FormatEntry {
    name: "csv",
    summary: "delimited text: , ; tab | or blanks; header and delimiter are detected",
    extensions: &["csv", "tsv", "tab"],
    sniff: |head| !head.contains(&0),
    names_target: false,
    main_column: None,
    lines: true,
    read,
};

/// Longest name in a header of words alone: longer cells are running text.
pub(in crate::data) const MAX_NAME_LENGTH: usize = 64;
/// Rows that are taken one by one between two looks at the memory that they take.
const ROWS_BETWEEN_LOOKS: usize = 64;
const HEAD_BYTES: u64 = 1 << 17;

/// One reading of all lines.
pub(super) struct Pass {
    pub(super) columns: Vec<Column>,
    pub(super) lines: Lines,
    /// The first line, if it may be or is a header.
    header: Option<(usize, Vec<String>)>,
}

fn read(source: &Source, options: &ReadOptions) -> Result<Table, DataError> {
    let head = source.head(HEAD_BYTES)?;
    let delimiter = match options.delimiter {
        Some(b' ') => Delimiter::Blanks,
        Some(byte) => Delimiter::Byte(byte),
        None => detect(&head, (head.len() as u64) < HEAD_BYTES, &source.extension()),
    };
    let mut text = Vec::new();
    loop {
        let pass = pass(source, options, delimiter, &text)?;
        if pass.columns.iter().any(Column::broken) && text.is_empty() {
            text = pass.columns.iter().map(Column::broken).collect();
            continue;
        }
        return table(source, pass);
    }
}

fn pass(source: &Source, options: &ReadOptions, delimiter: Delimiter, text: &[bool]) -> Result<Pass, DataError> {
    let mut records = Records::new(source, delimiter)?;
    if !records.advance()? {
        return Err(DataError::Empty { place: source.name().to_owned() });
    }
    let (width, first_line) = (records.len(), records.line);
    let first: Vec<String> = records.cells().map(str::to_owned).collect();
    let header = options.header.or_else(|| holds_a_name(&first, options).then_some(true));
    let declared = declared(&first, options, header);
    let column = |k: usize| {
        if options.verbatim {
            return Column::verbatim();
        }
        Column::new(text.get(k).copied().unwrap_or(false), declared[k])
    };
    let mut pass = Pass { columns: (0..width).map(column).collect(), lines: Lines::default(), header: None };
    let hold = header.unwrap_or_else(|| may_be_header(&first));
    if hold {
        pass.header = Some((first_line, first));
    } else {
        pass.push(&records);
    }
    let (before, all_bytes) = (records.lines_read(), source.plain_len());
    let mut growth = Growth::default();
    let mut plain = Plain { source, growth: Growth::default(), pass, delimiter, before, lines: 0, bytes: 0, all_bytes };
    let rest = Blocks::new(source, records.take_reader(), delimiter != Delimiter::Byte(b'\t')).run(&mut plain)?;
    let lines = plain.lines;
    let mut pass = plain.finish();
    if let Some(rest) = rest {
        records.go_on(rest, lines);
    }
    while records.advance()? {
        if records.len() != width {
            let finding = format!("{}, but line {first_line} has {width}", fields(records.len()));
            return Err(source.bad(Some(records.line), None, finding));
        }
        pass.push(&records);
        let rows = pass.lines.count();
        if rows.is_multiple_of(ROWS_BETWEEN_LOOKS) {
            let held = pass.columns.iter().map(|column| column.bytes(rows)).sum();
            growth.to(held, "its table").map_err(|e| source.too_large(e))?;
        }
    }
    if header.is_none() {
        pass.decide_header(options.names.is_some());
    }
    Ok(pass)
}

impl Pass {
    fn push(&mut self, records: &Records) {
        for (k, column) in self.columns.iter_mut().enumerate() {
            column.push(records.cell(k));
        }
        self.lines.note(records.line);
    }

    /// Returns a line held back to the data if the columns speak against a header; words above words are no names where others are known.
    fn decide_header(&mut self, names_known: bool) {
        let is_header = |cells: &[String]| {
            if names_known { is_above_numbers(cells, &self.columns) } else { is_header(cells, &self.columns) }
        };
        if let Some((line, cells)) = self.header.take_if(|(_, cells)| !is_header(cells)) {
            for (column, cell) in self.columns.iter_mut().zip(&cells) {
                column.prepend(cell);
            }
            self.lines.prepend(line);
        }
    }
}

/// The columns that the user wants as words.
fn declared(first: &[String], options: &ReadOptions, header: Option<bool>) -> Vec<bool> {
    let mut declared = vec![false; first.len()];
    for word in &options.words {
        // without a header the first line is data, and a cell of it is nobody's name
        let header = header.unwrap_or_else(|| may_be_header(first));
        let named = first.iter().position(|c| c == word).filter(|_| header);
        let counted = || match word.parse::<i64>() {
            Ok(k) if k >= 1 => usize::try_from(k - 1).ok(),
            Ok(k) => usize::try_from(first.len() as i64 + k).ok().filter(|_| k < 0),
            Err(_) => None,
        };
        if let Some(flag) = named.or_else(counted).and_then(|k| declared.get_mut(k)) {
            *flag = true;
        }
    }
    declared
}

/// True if a cell of the first line is one of the names that a header has.
fn holds_a_name(first: &[String], options: &ReadOptions) -> bool {
    options.names.as_ref().is_some_and(|names| first.iter().any(|cell| !cell.is_empty() && names.contains(cell)))
}

/// True if a word stands above numbers.
fn is_above_numbers(first: &[String], columns: &[Column]) -> bool {
    columns.iter().any(|c| c.len() > 0)
        && first.iter().zip(columns).any(|(name, column)| !name.is_empty() && column.numeric())
}

/// A header has no numbers; it may have empty cells (an index column without a name), but not only those.
fn may_be_header(first: &[String]) -> bool {
    first.iter().all(|c| may_be_name(c)) && first.iter().any(|c| !c.is_empty())
}

/// A word above numbers is a name. If all is words, names are distinct, short and never come again in their column.
fn is_header(first: &[String], columns: &[Column]) -> bool {
    if columns.iter().all(|c| c.len() == 0) {
        return false;
    }
    if is_above_numbers(first, columns) {
        return true;
    }
    let distinct = first.iter().enumerate().all(|(k, name)| !first[..k].contains(name));
    let names = first.iter().all(|name| !name.is_empty() && name.chars().count() <= MAX_NAME_LENGTH);
    distinct && names && first.iter().zip(columns).all(|(name, column)| !column.has_cell(name))
}

fn table(source: &Source, pass: Pass) -> Result<Table, DataError> {
    let Pass { columns, lines, header } = pass;
    let named = header.is_some();
    let names = match &header {
        Some((line, names)) => column_names(source, *line, names)?,
        None => (1..=columns.len()).map(|k| k.to_string()).collect(),
    };
    let len = lines.count();
    if len == 0 {
        return Err(DataError::Empty { place: source.name().to_owned() });
    }
    let (first_line, lines) = lines.finish();
    let target = columns.len().checked_sub(1);
    let infinite: Vec<Option<usize>> = columns.iter().map(Column::infinite).collect();
    let fields = columns.into_iter().zip(names).map(|(column, name)| Field { name, data: column.finish() }).collect();
    let table =
        Table { file: source.name().to_owned(), format: CSV.name, len, fields, target, first_line, named, lines };
    if let Some((field, example)) = infinite.iter().enumerate().find_map(|(k, row)| row.map(|row| (k, row))) {
        let finding = "the number is not finite; correct it, or leave the cell empty".to_owned();
        return Err(DataError::Bad { place: table.place(example, field), finding });
    }
    Ok(table)
}

/// Distinct names; a column without one is called by its number.
fn column_names(source: &Source, line: usize, cells: &[String]) -> Result<Vec<String>, DataError> {
    let mut names: Vec<String> = Vec::with_capacity(cells.len());
    for (k, cell) in cells.iter().enumerate() {
        names.push(if cell.is_empty() { (k + 1).to_string() } else { cell.clone() });
    }
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort_unstable();
    let twin = |pair: &[&String]| if let [a, b] = pair { (a == b).then(|| (*a).clone()) } else { None };
    if let Some(name) = sorted.windows(2).find_map(twin) {
        let finding = format!("two columns are called \"{}\"; rename one of them", brief(&name));
        return Err(source.bad(Some(line), None, finding));
    }
    Ok(names)
}

fn fields(count: usize) -> String {
    if count == 1 { "1 field".to_owned() } else { format!("{count} fields") }
}

#[cfg(test)]
#[path = "csv_tests.rs"]
mod tests;
