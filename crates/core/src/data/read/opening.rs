//! How delimited text begins: comments, Excel's `sep=;`, names behind a `#`, and names with numbers among them.
//!
//! A line that begins with `#` is a comment unless it has as many cells as the file has columns. One that has is the header if words of it
//! stand above numbers, and else an example like others.

use super::super::DataError;
use super::column::Column;
use super::delimiter::split;
use super::header::{counts_columns, have_fractions, is_above_numbers, judge, may_be_name};
use super::plain::without_returns;
use super::record::{Delimiter, Records};
use super::{ReadOptions, Source};
use crate::memory::Growth;

/// Rows that tell what the columns hold.
pub(in crate::data) const SAMPLE_ROWS: usize = 200;
/// Columns from which it is told that their count was taken for an example: below, as with 0,1, it is nothing out of the way.
const MIN_COUNTED_COLUMNS: usize = 4;
/// Lines with a `#` that are told apart; a file that begins with more of them has no comments.
const MAX_MARKED_LINES: usize = 10_000;

/// What was found before the first example.
#[derive(Debug, Default)]
pub(super) struct Opening {
    /// Lines that are no records, in rising order.
    pub(super) skip: Vec<usize>,
    /// Comments among them.
    pub(super) comments: usize,
    /// Whether the first record names the columns, where that is known already.
    pub(super) header: Option<bool>,
    /// True if it was guessed.
    pub(super) guessed: bool,
    /// Whether a first record of numbers that may be names is taken for names; none where it is nothing like that.
    pub(super) counted: Option<bool>,
    /// True if the first record may be names behind a `#`.
    pub(super) marked: bool,
    /// The line up to which nothing but comments follows the names behind a `#`.
    pub(super) through: usize,
}

/// A line that begins with `#`.
struct Marked {
    line: usize,
    /// Its cells, with the `#` and without it.
    cells: Vec<String>,
    bare: Vec<String>,
    /// True if a blank follows the `#`.
    spaced: bool,
}

/// The delimiter that Excel's first line names.
pub(super) fn excels_delimiter(head: &[u8]) -> Option<u8> {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let line = head.split(|&b| b == b'\n').next()?;
    let line = without_returns(line);
    let line = line.strip_prefix(b"\"").and_then(|l| l.strip_suffix(b"\"")).unwrap_or(line);
    match line {
        [s, e, p, b'=', byte] if [*s, *e, *p].eq_ignore_ascii_case(b"sep") => Some(*byte),
        _ => None,
    }
}

/// Looks at the beginning of a text.
pub(super) fn look(
    source: &Source,
    options: &ReadOptions,
    delimiter: Delimiter,
    told_by_excel: bool,
) -> Result<Opening, DataError> {
    let mut opening = Opening { skip: if told_by_excel { vec![1] } else { Vec::new() }, ..Opening::default() };
    let marked = marked_lines(source, delimiter, &opening.skip)?;
    let skip: Vec<usize> = opening.skip.iter().copied().chain(marked.iter().map(|m| m.line)).collect();
    let Some((first, columns)) = sample(source, options, delimiter, skip) else {
        // lines with a mark and nothing else
        if let Some(last) = marked.last() {
            opening.settle(&marked, last.cells.len(), options, None);
        }
        return Ok(opening);
    };
    if marked.is_empty() {
        opening.judge_numbered(&first, &columns, options);
    } else {
        opening.settle(&marked, first.len(), options, Some((&first, &columns)));
    }
    Ok(opening)
}

impl Opening {
    /// Decides about a first line of words and numbers, or of numbers that may be names.
    fn judge_numbered(&mut self, first: &[String], columns: &[Column], options: &ReadOptions) {
        if options.header.is_none() && counts_columns(first) {
            if super::csv::holds_a_name(first, options) {
                return;
            }
            // a model knows its names, and this line has none of them
            let names = options.names.is_none() && have_fractions(columns);
            self.header = Some(names).filter(|_| options.names.is_none());
            self.counted = Some(names).filter(|_| names || first.len() >= MIN_COUNTED_COLUMNS);
            return;
        }
        if options.header.is_some() || options.names.is_some() || first.iter().all(|cell| may_be_name(cell)) {
            return;
        }
        let verdict = judge(first, columns);
        (self.header, self.guessed) = (Some(verdict.names), !verdict.sure);
    }

    /// Tells comments from examples and names among the lines with a mark, before the first line without.
    fn settle(
        &mut self,
        marked: &[Marked],
        width: usize,
        options: &ReadOptions,
        below: Option<(&[String], &[Column])>,
    ) {
        let fits = |m: &&Marked| m.cells.len() == width || m.bare.len() == width;
        let last = marked.iter().rev().find(fits);
        let names_below = below.is_some_and(|(first, columns)| {
            options.header != Some(false)
                && (super::csv::holds_a_name(first, options) || is_above_numbers(first, columns))
        });
        let is_names = |m: &&Marked| {
            let above = below.is_some_and(|(first, columns)| {
                m.bare.len() == width && is_above_numbers(&m.bare, &with_first(first, columns, options))
            });
            let known = super::csv::holds_a_name(&m.bare, options);
            options.header != Some(false) && (above || known || options.header == Some(true))
        };
        let named = last.filter(|m| !names_below && m.bare.len() == width && is_names(m));
        let keeps = |m: &Marked| match named {
            Some(names) => m.line == names.line,
            None if names_below => false,
            // a text of one column may well begin with a remark
            None if width == 1 && m.spaced => options.header == Some(false),
            None => m.cells.len() == width,
        };
        for m in marked.iter().filter(|m| !keeps(m)) {
            self.skip.push(m.line);
            self.comments += 1;
        }
        if let Some(names) = named {
            (self.marked, self.header) = (true, Some(true));
            self.through = marked.last().map_or(0, |m| m.line).max(names.line);
        } else if marked.iter().any(keeps) {
            self.marked = true;
        }
    }
}

/// Columns with a further line.
fn with_first(first: &[String], columns: &[Column], options: &ReadOptions) -> Vec<Column> {
    let mut all: Vec<Column> = columns.iter().map(|_| new_column(options)).collect();
    all.iter_mut().zip(first).for_each(|(column, cell)| column.push(cell));
    if columns.iter().all(|c| c.len() == 0) {
        return all;
    }
    let numeric = |k: usize| columns[k].numeric() && all[k].numeric();
    let keep: Vec<bool> = (0..all.len()).map(numeric).collect();
    all.into_iter().zip(keep).map(|(column, keep)| if keep { column } else { new_column(options) }).collect()
}

fn new_column(options: &ReadOptions) -> Column {
    if options.verbatim { Column::verbatim() } else { Column::new(false, false) }
}

/// The lines with a `#` before the first other one.
fn marked_lines(source: &Source, delimiter: Delimiter, skip: &[usize]) -> Result<Vec<Marked>, DataError> {
    let (mut reader, mut text, mut growth) = (source.reader()?, Vec::new(), Growth::default());
    let (mut found, mut line) = (Vec::new(), 0);
    while found.len() < MAX_MARKED_LINES {
        text.clear();
        if source.line(&mut reader, &mut text, &mut growth)? == 0 {
            break;
        }
        line += 1;
        let mut rest = text.as_slice();
        if line == 1 {
            rest = rest.strip_prefix(b"\xef\xbb\xbf").unwrap_or(rest);
        }
        let rest = rest.strip_suffix(b"\n").unwrap_or(rest);
        let rest = without_returns(rest);
        if skip.contains(&line) || rest.trim_ascii().is_empty() {
            continue;
        }
        let Some(behind) = rest.strip_prefix(b"#") else { break };
        let cells = |text: &[u8]| -> Vec<String> {
            split(text, delimiter).iter().map(|cell| String::from_utf8_lossy(cell.trim_ascii()).into_owned()).collect()
        };
        let spaced = behind.first().is_none_or(|b| matches!(b, b' ' | b'\t' | b'#'));
        found.push(Marked { line, cells: cells(rest), bare: cells(behind.trim_ascii_start()), spaced });
    }
    Ok(found)
}

/// The first line that is not skipped, and the columns of some that follow it; none where nothing can be read, which is told later.
fn sample(
    source: &Source,
    options: &ReadOptions,
    delimiter: Delimiter,
    skip: Vec<usize>,
) -> Option<(Vec<String>, Vec<Column>)> {
    let marked = !skip.is_empty();
    let mut records = Records::new(source, delimiter, skip).ok()?;
    if !records.advance().ok()? {
        return None;
    }
    let first: Vec<String> = records.cells().map(str::to_owned).collect();
    let mut columns: Vec<Column> = first.iter().map(|_| new_column(options)).collect();
    // most first lines tell all by themselves
    let tells = first.iter().all(|cell| may_be_name(cell)) || !first.iter().any(|cell| is_text(cell));
    if !marked && tells && !counts_columns(&first) {
        return Some((first, columns));
    }
    for _ in 0..SAMPLE_ROWS {
        if !records.advance().unwrap_or(false) || records.len() != first.len() {
            break;
        }
        columns.iter_mut().zip(records.cells()).for_each(|(column, cell)| column.push(cell));
    }
    Some((first, columns))
}

fn is_text(cell: &str) -> bool {
    !cell.is_empty() && may_be_name(cell)
}
