//! Records of delimited text: one line each, or several where a quoted cell runs over line ends.
//!
//! Lines without quotes, nearly all, are split where they stand. In tab-separated text a quote only counts when it
//! is closed right before the next tab: such files usually hold running text, in which quotes are just characters. Over line ends it
//! counts where its line is no record by itself, and is one with the lines up to the closing quote.

use super::super::DataError;
use super::Source;
use super::plain::without_returns;
use crate::memory::Growth;
use memchr::{memchr, memchr_iter};
use std::collections::VecDeque;
use std::io::{BufRead, Cursor, Read};

/// Most lines of a cell of tab-separated text.
const MAX_LINES_OF_CELL: usize = 1000;

/// The separator of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delimiter {
    /// One byte.
    Byte(u8),
    /// Any run of spaces and tabs.
    Blanks,
}

/// The records of a source, one at a time, in buffers that are used again.
pub(super) struct Records<'a> {
    source: &'a Source,
    reader: Box<dyn BufRead + Send + 'a>,
    delimiter: Delimiter,
    text: Vec<u8>,
    scratch: Vec<u8>,
    cells: Vec<(usize, usize)>,
    lines_read: usize,
    /// The line on which the present record begins, from one.
    pub(super) line: usize,
    /// Lines that are no records, in rising order.
    skip: Vec<usize>,
    /// True if line ends inside of cells stay those of DOS where they are.
    pub(super) keeps_returns: bool,
    /// True if the last line ended so.
    returned: bool,
    /// Lines that were looked at to see where a quoted cell ends, without their ends, and whether these were those of DOS.
    ahead: VecDeque<(Vec<u8>, bool)>,
    /// Number of cells of the first record.
    width: Option<usize>,
    growth: Growth,
}

impl<'a> Records<'a> {
    /// From the beginning of a source, without some lines.
    pub(super) fn new(source: &'a Source, delimiter: Delimiter, skip: Vec<usize>) -> Result<Self, DataError> {
        Ok(Self {
            source,
            reader: source.reader()?,
            delimiter,
            text: Vec::new(),
            scratch: Vec::new(),
            cells: Vec::new(),
            lines_read: 0,
            line: 0,
            skip,
            keeps_returns: false,
            returned: false,
            ahead: VecDeque::new(),
            width: None,
            growth: Growth::default(),
        })
    }

    /// The text that has not been read yet.
    pub(super) fn take_reader(&mut self) -> Box<dyn BufRead + Send + 'a> {
        let rest = std::mem::replace(&mut self.reader, Box::new(std::io::empty()));
        if self.ahead.is_empty() {
            return rest;
        }
        let end = |returned: bool| if returned { &b"\r\n"[..] } else { b"\n" };
        let seen: Vec<u8> = self.ahead.drain(..).flat_map(|(line, returned)| [&line, end(returned)].concat()).collect();
        Box::new(Cursor::new(seen).chain(rest))
    }

    /// Goes on with another reader, after so many more lines.
    pub(super) fn go_on(&mut self, reader: Box<dyn BufRead + Send + 'a>, lines: usize) {
        self.reader = reader;
        self.lines_read += lines;
    }

    /// Reads lines away, up to one.
    pub(super) fn pass_over(&mut self, through: usize) -> Result<(), DataError> {
        let mut away = Vec::new();
        while self.lines_read < through && self.source.line(&mut self.reader, &mut away, &mut self.growth)? > 0 {
            self.lines_read += 1;
            away.clear();
        }
        Ok(())
    }

    /// Number of lines that have been read.
    pub(super) fn lines_read(&self) -> usize {
        self.lines_read
    }

    /// Goes to the next record; `false` at the end.
    pub(super) fn advance(&mut self) -> Result<bool, DataError> {
        loop {
            self.text.clear();
            if !self.append_line()? {
                return Ok(false);
            }
            self.line = self.lines_read;
            if self.skip.binary_search(&self.line).is_err() && !self.is_blank() {
                break;
            }
        }
        self.cells.clear();
        if self.text.contains(&b'"') {
            self.split_quoted()?;
        } else {
            self.split_plain();
        }
        self.width.get_or_insert(self.cells.len());
        if let Err(error) = std::str::from_utf8(&self.text) {
            let ends = self.text[..error.valid_up_to()].split(|&b| b == b'\n').count() - 1;
            let finding = "the text is not UTF-8; convert the file, for example with iconv -f latin1 -t utf-8";
            return Err(self.source.bad(Some(self.line + ends), None, finding));
        }
        if let Some(at) = memchr(0, &self.text) {
            let ends = memchr_iter(b'\n', &self.text[..at]).count();
            let finding =
                "a byte is zero, which no text has; a file in UTF-16 is converted by iconv -f utf-16 -t utf-8";
            return Err(self.source.bad(Some(self.line + ends), None, finding));
        }
        Ok(true)
    }

    /// Number of cells of the record.
    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    /// True if blanks separate its cells.
    pub(super) fn is_cut_at_blanks(&self) -> bool {
        self.delimiter == Delimiter::Blanks
    }

    /// The k-th cell, without quotes.
    pub(super) fn cell(&self, k: usize) -> &str {
        let (start, end) = self.cells[k];
        // the record is UTF-8 and is cut at ASCII bytes only
        std::str::from_utf8(&self.text[start..end]).unwrap_or_default()
    }

    /// All cells.
    pub(super) fn cells(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|k| self.cell(k))
    }

    /// Appends a line of the file, without its end.
    fn append_line(&mut self) -> Result<bool, DataError> {
        if let Some((line, returned)) = self.ahead.pop_front() {
            self.text.extend_from_slice(&line);
            self.returned = returned;
            self.lines_read += 1;
            return Ok(true);
        }
        let start = self.text.len();
        if self.source.line(&mut self.reader, &mut self.text, &mut self.growth)? == 0 {
            return Ok(false);
        }
        self.lines_read += 1;
        self.returned = cut_end(&mut self.text, start);
        if self.lines_read == 1 && self.text.starts_with(b"\xef\xbb\xbf") {
            self.text.drain(..3);
        }
        Ok(true)
    }

    /// True if the cell at hand, whose quote stands at `open` of a line of tabs and is not closed there, goes on in the lines that follow: the
    /// line is no record by itself, and up to the line with the closing quote it is one.
    fn runs_over_ends(&mut self, open: usize) -> Result<bool, DataError> {
        let tabs = |text: &[u8]| memchr_iter(b'\t', text).count();
        let Some(width) = self.width.filter(|&width| width > 1) else { return Ok(false) };
        let (before, is_last) = (self.cells.len(), self.cells.len() + 1 == width);
        if before >= width || (!is_last && tabs(&self.text) + 1 == width) || tabs(&self.text[open..]) > 0 {
            return Ok(false);
        }
        for k in 0..MAX_LINES_OF_CELL {
            if k == self.ahead.len() {
                let mut line = Vec::new();
                if self.source.line(&mut self.reader, &mut line, &mut self.growth)? == 0 {
                    return Ok(false);
                }
                let returned = cut_end(&mut line, 0);
                self.ahead.push_back((line, returned));
            }
            let line = &self.ahead[k].0;
            // behind a line that is whole, another one is no part of its last cell
            let is_whole = tabs(line) + 1 == width;
            if let Some(after) = closing_quote(line).filter(|_| !(is_last && is_whole)) {
                let blanks = line[after..].iter().take_while(|&&b| b == b' ').count();
                let rest = &line[after + blanks..];
                return Ok(rest.first().is_none_or(|&b| b == b'\t') && before + 1 + tabs(rest) == width);
            }
            if is_whole {
                return Ok(false);
            }
        }
        Ok(false)
    }

    fn is_blank(&self) -> bool {
        // a line of tabs alone is a record of missing cells where the tab is the delimiter
        self.text.iter().all(|&b| b == b' ' || (b == b'\t' && self.delimiter != Delimiter::Byte(b'\t')))
    }

    fn split_plain(&mut self) {
        let text = &self.text;
        match self.delimiter {
            Delimiter::Byte(delimiter) => {
                let mut start = 0;
                for (end, &byte) in text.iter().enumerate() {
                    if byte == delimiter {
                        self.cells.push(trimmed(text, start, end));
                        start = end + 1;
                    }
                }
                self.cells.push(trimmed(text, start, text.len()));
            }
            Delimiter::Blanks => {
                let mut at = 0;
                while let Some(start) = (at..text.len()).find(|&i| !is_space(text[i])) {
                    at = (start..text.len()).find(|&i| is_space(text[i])).unwrap_or(text.len());
                    self.cells.push((start, at));
                }
            }
        }
    }

    /// Splits a record with quotes, reading on where a quoted cell is open; cells go unescaped to the scratch.
    fn split_quoted(&mut self) -> Result<(), DataError> {
        self.scratch.clear();
        let mut at = 0;
        loop {
            while at < self.text.len() && is_space(self.text[at]) && !self.ends_cell(at) {
                at += 1;
            }
            if self.delimiter == Delimiter::Blanks {
                while at < self.text.len() && is_space(self.text[at]) {
                    at += 1;
                }
                if at == self.text.len() {
                    break;
                }
            }
            let start = self.scratch.len();
            let quoted = if self.text.get(at) == Some(&b'"') { self.quoted_cell(at)? } else { None };
            if let Some(after) = quoted {
                at = after;
                self.cells.push((start, self.scratch.len()));
            } else {
                self.scratch.truncate(start);
                while at < self.text.len() && !self.ends_cell(at) {
                    self.scratch.push(self.text[at]);
                    at += 1;
                }
                self.cells.push(trimmed(&self.scratch, start, self.scratch.len()));
            }
            if at >= self.text.len() {
                break;
            }
            at += 1;
        }
        std::mem::swap(&mut self.text, &mut self.scratch);
        Ok(())
    }

    /// Unescapes the cell whose quote stands at `open`; gives the place after it, or `None` if the quotes are text.
    fn quoted_cell(&mut self, open: usize) -> Result<Option<usize>, DataError> {
        let lenient = self.delimiter == Delimiter::Byte(b'\t');
        let (mut at, mut joined) = (open + 1, false);
        loop {
            match self.text[at..].iter().position(|&b| b == b'"') {
                None if lenient && !joined => {
                    if !self.runs_over_ends(open)? {
                        return Ok(None);
                    }
                    joined = true;
                }
                None => {
                    self.scratch.extend_from_slice(&self.text[at..]);
                    if self.keeps_returns && self.returned {
                        self.scratch.push(b'\r');
                    }
                    self.scratch.push(b'\n');
                    self.text.push(b'\n');
                    at = self.text.len();
                    if !self.append_line()? {
                        let line = self.line;
                        return Err(self.source.bad(Some(line), None, "a quote is opened here and never closed"));
                    }
                }
                Some(run) => {
                    self.scratch.extend_from_slice(&self.text[at..at + run]);
                    at += run + 1;
                    if self.text.get(at) != Some(&b'"') {
                        break;
                    }
                    self.scratch.push(b'"');
                    at += 1;
                }
            }
        }
        let closed = at;
        while at < self.text.len() && !self.ends_cell(at) {
            if !is_space(self.text[at]) {
                if lenient {
                    return Ok(None);
                }
                // text after a closing quote belongs to the cell
                while at < self.text.len() && !self.ends_cell(at) {
                    at += 1;
                }
                self.scratch.extend_from_slice(&self.text[closed..at]);
                break;
            }
            at += 1;
        }
        Ok(Some(at))
    }

    fn ends_cell(&self, at: usize) -> bool {
        match self.delimiter {
            Delimiter::Byte(delimiter) => self.text[at] == delimiter,
            Delimiter::Blanks => is_space(self.text[at]),
        }
    }
}

/// Cuts the line end off a text that ends in a line; true if it was one of DOS.
fn cut_end(text: &mut Vec<u8>, start: usize) -> bool {
    if text.last() == Some(&b'\n') {
        text.pop();
    }
    // Python's csv on Windows writes \r\r\n where a file was not opened with newline=''
    let kept = start + without_returns(&text[start..]).len();
    let returned = kept < text.len();
    text.truncate(kept);
    returned
}

/// The place after the first quote of a line that is none of two.
fn closing_quote(line: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr(b'"', line.get(at..)?)? + 1;
        if line.get(at) != Some(&b'"') {
            return Some(at);
        }
        at += 1;
    }
}

pub(super) fn is_space(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

pub(super) fn trimmed(text: &[u8], mut start: usize, mut end: usize) -> (usize, usize) {
    while start < end && is_space(text[start]) {
        start += 1;
    }
    while start < end && is_space(text[end - 1]) {
        end -= 1;
    }
    (start, end)
}
