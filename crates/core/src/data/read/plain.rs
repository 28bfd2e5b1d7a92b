//! Delimited text without quotes, which nearly all numbers are: a block of whole lines, parsed in one sweep.
//!
//! A block with a quote, a line of another width or bytes that are not UTF-8 is left to the records, which know
//! quotes and name places.

use super::super::DataError;
use super::blocks::Whole;
use super::column::Column;
use super::csv::Pass;
use super::lines::Lines;
use super::number::decimal;
use super::record::{Delimiter, trimmed};
use memchr::{memchr, memchr2};
use std::ops::ControlFlow;

/// A pass that goes on with blocks.
pub(super) struct Plain {
    pub(super) pass: Pass,
    pub(super) delimiter: Delimiter,
    /// Lines before the first block.
    pub(super) before: usize,
    /// Lines joined so far.
    pub(super) lines: usize,
}

/// A block that was parsed.
pub(super) struct Part {
    columns: Vec<Column>,
    rows: Lines,
    lines: usize,
}

/// How the next block is to be read.
pub(super) struct Known {
    columns: Vec<Column>,
    delimiter: u8,
}

impl Whole for Plain {
    type Known = Option<Known>;
    type Part = Option<Part>;

    fn known(&self) -> Option<Known> {
        match self.delimiter {
            // what can stand in a number, a line end or a letter of UTF-8 cannot simply be looked for
            Delimiter::Byte(b) if b.is_ascii() && !b.is_ascii_alphanumeric() && !b"+-.\r\n\"".contains(&b) => {
                Some(Known { columns: self.pass.columns.iter().map(Column::following).collect(), delimiter: b })
            }
            _ => None,
        }
    }

    fn parse(known: &Option<Known>, block: &[u8]) -> Option<Part> {
        let Some(Known { columns, delimiter }) = known else { return None };
        if memchr(b'"', block).is_some() {
            return None;
        }
        let text = std::str::from_utf8(block).ok()?;
        let rows = rows_of(block);
        let columns = columns.iter().map(|c| c.following().with_room(rows)).collect();
        let mut part = Part { columns, rows: Lines::default(), lines: 0 };
        part.fill(text, *delimiter)?;
        Some(part)
    }

    fn join(&mut self, block: &[u8], part: Option<Part>) -> Result<ControlFlow<()>, DataError> {
        let fits = |part: &Part| self.pass.columns.iter().zip(&part.columns).all(|(whole, part)| whole.fits(part));
        let part = match part {
            Some(part) if !fits(&part) => Self::parse(&self.known(), block),
            part => part,
        };
        let Some(part) = part else { return Ok(ControlFlow::Break(())) };
        for (whole, part) in self.pass.columns.iter_mut().zip(part.columns) {
            whole.append(part);
        }
        self.pass.lines.append(&part.rows, self.before + self.lines);
        self.lines += part.lines;
        Ok(ControlFlow::Continue(()))
    }
}

/// About how many rows a block has, by its first line.
fn rows_of(block: &[u8]) -> usize {
    let line = memchr(b'\n', block).unwrap_or(block.len()) + 1;
    (block.len() / line + 1) * 9 / 8
}

impl Part {
    /// Takes all lines; `None` if one has another number of cells.
    fn fill(&mut self, text: &str, delimiter: u8) -> Option<()> {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            self.lines += 1;
            if matches!(bytes[at], b'\n' | b'\r' | b' ' | b'\t') {
                let end = memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |n| at + n);
                if is_blank(&bytes[at..end], delimiter) {
                    at = end + 1;
                    continue;
                }
            }
            at = self.row(text, at, delimiter)?;
            self.rows.note(self.lines);
        }
        Some(())
    }

    /// Takes the line that begins at a place; the place after it.
    #[inline]
    fn row(&mut self, text: &str, mut at: usize, delimiter: u8) -> Option<usize> {
        let bytes = text.as_bytes();
        let last = self.columns.len() - 1;
        for (k, column) in self.columns.iter_mut().enumerate() {
            let end = match decimal(&bytes[at..]) {
                Some(found) if bytes.get(at + found.len).is_none_or(|&b| b == delimiter || b == b'\n') => {
                    let end = at + found.len;
                    column.push_decimal(found, &text[at..end]);
                    end
                }
                Some(found) if bytes[at + found.len..].starts_with(b"\r\n") => {
                    let end = at + found.len;
                    column.push_decimal(found, &text[at..end]);
                    end + 1
                }
                _ => {
                    let end = memchr2(delimiter, b'\n', &bytes[at..]).map_or(bytes.len(), |n| at + n);
                    let ends_line = bytes.get(end) != Some(&delimiter);
                    let carriage = ends_line && end > at && bytes[end - 1] == b'\r';
                    let (from, to) = trimmed(bytes, at, end - usize::from(carriage));
                    column.push(&text[from..to]);
                    end
                }
            };
            if (bytes.get(end) == Some(&delimiter)) != (k < last) {
                return None;
            }
            at = end + 1;
        }
        Some(at)
    }
}

fn is_blank(line: &[u8], delimiter: u8) -> bool {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    line.iter().all(|&b| b == b' ' || (b == b'\t' && delimiter != b'\t'))
}
