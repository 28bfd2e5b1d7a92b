//! Delimited text in blocks of whole lines, each parsed in one sweep right into the columns.
//!
//! Lines are counted first, so every block knows where its numbers will stand, and numbers are written once. A cell that
//! is a plain decimal, nearly every one, costs a look at eight bytes. A block with a line of another width, bytes that
//! are not UTF-8 or a quote that is left open is left to the records, which name places.

use super::super::DataError;
use super::Source;
use super::blocks::{Whole, each};
use super::column::Column;
use super::csv::Pass;
use super::facts::Facts;
use super::lines::Lines;
use super::number::{Decimal, any_decimal, decimal_before, wide_decimal};
use super::record::{Delimiter, is_space, trimmed};
use crate::memory::Growth;
use crate::parallel;
use crate::vectorise::{Loops, vectorised};
use memchr::{memchr, memchr_iter, memchr2, memchr3};

/// A pass that goes on with blocks.
pub(super) struct Plain<'a> {
    pub(super) source: &'a Source,
    pub(super) growth: Growth,
    pub(super) pass: Pass,
    pub(super) delimiter: Delimiter,
    /// True if line ends inside of cells stay those of DOS where they are.
    pub(super) keeps_returns: bool,
    /// Lines before the first block.
    pub(super) before: usize,
    /// Lines joined so far.
    pub(super) lines: usize,
    /// Bytes joined so far, and those of the whole file where they are known.
    pub(super) bytes: u64,
    pub(super) all_bytes: Option<u64>,
}

/// Mean bytes of a cell, with its delimiter, below which cells are often single digits.
const MAX_MEAN_BYTES_OF_DIGITS: usize = 4;
/// Mean bytes of a cell from which on cells are mostly decimals of more than eight bytes.
const MIN_MEAN_BYTES_OF_DECIMALS: usize = 12;
/// The form that is tried first: single digits (pixels, codes and counts; elsewhere the look would cost more than it spares),
/// decimals of up to eight bytes, or longer ones.
const FIRST_DIGITS: u8 = 0;
const FIRST_SHORT: u8 = 1;
const FIRST_WIDE: u8 = 2;

/// Where the numbers of a block go, column by column.
type Room<'s> = Vec<&'s mut [f64]>;

/// A block that was parsed, its numbers left out.
struct Part {
    facts: Vec<Facts>,
    rows: Lines,
    lines: usize,
}

impl Whole for Plain<'_> {
    fn take(&mut self, blocks: &[Vec<u8>]) -> Result<Option<usize>, DataError> {
        let delimiter = match self.delimiter {
            // what can stand in a number, a line end or a letter of UTF-8 cannot simply be looked for
            Delimiter::Byte(b) if b.is_ascii() && !b.is_ascii_alphanumeric() && !b"+-.\r\n\"".contains(&b) => b,
            _ => return Ok(Some(0)),
        };
        let lines = each(blocks.iter().collect(), |b: &Vec<u8>| lines_of(b));
        let start = self.pass.lines.count();
        self.grow(blocks, start, lines.iter().sum())?;
        let columns = &mut self.pass.columns;
        let facts: Vec<Facts> = columns.iter().map(|c| c.facts().following()).collect();
        let rooms = blocks.iter().zip(rooms(columns, start, &lines)).collect();
        let how = (delimiter, self.keeps_returns);
        let parts = each(rooms, |(block, room)| parse(block, &facts, room, how));
        let mut place = start;
        for (k, part) in parts.into_iter().enumerate() {
            let Some(part) = self.fitting(part, &blocks[k], place, lines[k], how) else { return Ok(Some(k)) };
            self.join(part, place);
            self.bytes += blocks[k].len() as u64;
            place += lines[k];
        }
        Ok(None)
    }
}

impl Plain<'_> {
    /// Makes room for a number on each of so many lines, in memory for as many as the whole file may have.
    fn grow(&mut self, blocks: &[Vec<u8>], start: usize, lines: usize) -> Result<(), DataError> {
        let bytes = self.bytes + blocks.iter().map(|b| b.len() as u64).sum::<u64>();
        let share = self.all_bytes.map_or(0.0, |all| all as f64 / bytes as f64);
        let needed = start + lines;
        let expected = (needed as f64 * share * 1.02) as usize;
        let columns = &mut self.pass.columns;
        let held = columns.iter().map(|c| c.bytes(needed.max(expected))).fold(0, usize::saturating_add);
        self.growth.to(held, "its table").map_err(|e| self.source.too_large(e))?;
        match blocks {
            [_] => columns.iter_mut().for_each(|c| c.grow(needed, expected)),
            _ => parallel::strips(columns, 1, |_, column| column.iter_mut().for_each(|c| c.grow(needed, expected))),
        }
        Ok(())
    }

    /// The part of a block, parsed again in its turn where a column has become words since; `None` if there is none.
    fn fitting(
        &mut self,
        part: Option<Part>,
        block: &[u8],
        place: usize,
        lines: usize,
        how: (u8, bool),
    ) -> Option<Part> {
        let part = part?;
        let columns = &mut self.pass.columns;
        if columns.iter().zip(&part.facts).all(|(column, facts)| column.facts().fit(facts)) {
            return Some(part);
        }
        let facts: Vec<Facts> = columns.iter().map(|c| c.facts().following()).collect();
        parse(block, &facts, rooms(columns, place, &[lines]).pop()?, how)
    }

    /// Joins a part whose numbers stand at a place.
    fn join(&mut self, part: Part, place: usize) {
        let (start, count) = (self.pass.lines.count(), part.rows.count());
        for (column, facts) in self.pass.columns.iter_mut().zip(part.facts) {
            // blank lines had room, too
            column.shift(place, start, count);
            column.append_facts(facts, start, count);
        }
        self.pass.lines.append(&part.rows, self.before + self.lines);
        self.lines += part.lines;
    }

    /// The pass, without the room that was not needed.
    pub(super) fn finish(mut self) -> Pass {
        let rows = self.pass.lines.count();
        self.pass.columns.iter_mut().for_each(|c| c.cut(rows));
        self.pass
    }
}

/// The room of blocks of so many lines, from a row on.
fn rooms<'s>(columns: &'s mut [Column], start: usize, lines: &[usize]) -> Vec<Room<'s>> {
    let mut rooms: Vec<Room<'s>> = lines.iter().map(|_| Vec::with_capacity(columns.len())).collect();
    for column in columns {
        let mut rest = column.room(start);
        for (room, &lines) in rooms.iter_mut().zip(lines) {
            let (here, after) = rest.split_at_mut(lines.min(rest.len()));
            room.push(here);
            rest = after;
        }
    }
    rooms
}

fn lines_of(block: &[u8]) -> usize {
    memchr_iter(b'\n', block).count() + usize::from(block.last() != Some(&b'\n'))
}

/// Parses a block; `None` if a line has another number of cells, or it is no plain text.
fn parse(block: &[u8], facts: &[Facts], room: Room<'_>, (delimiter, keeps_returns): (u8, bool)) -> Option<Part> {
    // in tab-separated text most quotes are just characters
    if delimiter == b'\t' && memchr(b'"', block).is_some() {
        return None;
    }
    if memchr(0, block).is_some() {
        return None;
    }
    let facts: Vec<Facts> = facts.iter().map(Facts::following).collect();
    let sweep = Sweep {
        text: std::str::from_utf8(block).ok()?,
        delimiter,
        keeps_returns,
        ways: facts.iter().map(Way::of).collect(),
        part: Part { facts, rows: Lines::default(), lines: 0 },
        room,
        cell: String::new(),
    };
    let Sweep { mut part, room, .. } = vectorised(sweep)?;
    let rows = part.rows.count();
    for (facts, numbers) in part.facts.iter_mut().zip(room) {
        facts.settle(numbers.get(..rows).unwrap_or_default());
    }
    Some(part)
}

/// The way in which decimals of a column are read.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// At once if they are spelled plainly.
    Plain,
    /// At once.
    Any,
    /// As words.
    Words,
}

impl Way {
    fn of(facts: &Facts) -> Self {
        match (facts.text, facts.saturated) {
            (true, _) => Self::Words,
            (_, true) => Self::Any,
            _ => Self::Plain,
        }
    }
}

/// A block that is being parsed.
struct Sweep<'a, 's> {
    text: &'a str,
    delimiter: u8,
    keeps_returns: bool,
    ways: Vec<Way>,
    part: Part,
    room: Room<'s>,
    /// A cell without its quotes.
    cell: String,
}

impl Loops for Sweep<'_, '_> {
    type Output = Option<Self>;

    #[inline(always)]
    fn run(mut self) -> Option<Self> {
        let lines = self.room.iter().map(|numbers| numbers.len()).max().unwrap_or(0);
        let cells = lines * self.ways.len();
        match self.text.len() {
            len if len < MAX_MEAN_BYTES_OF_DIGITS * cells => self.rows::<FIRST_DIGITS>(),
            len if len < MIN_MEAN_BYTES_OF_DECIMALS * cells => self.rows::<FIRST_SHORT>(),
            _ => self.rows::<FIRST_WIDE>(),
        }?;
        Some(self)
    }
}

impl Sweep<'_, '_> {
    /// Takes all lines.
    #[inline(always)]
    fn rows<const WIDTH: u8>(&mut self) -> Option<()> {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            self.part.lines += 1;
            let line = self.part.lines;
            if matches!(bytes[at], b'\n' | b'\r' | b' ' | b'\t') {
                let end = memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |n| at + n);
                if is_blank(&bytes[at..end], self.delimiter) {
                    at = end + 1;
                    continue;
                }
            }
            at = self.row::<WIDTH>(at)?;
            self.part.rows.note(line);
        }
        Some(())
    }

    /// Takes the line that begins at a place; the place after it.
    #[inline(always)]
    fn row<const WIDTH: u8>(&mut self, mut at: usize) -> Option<usize> {
        let (row, last) = (self.part.rows.count(), self.ways.len() - 1);
        let (mut k, mut stop) = (0, self.delimiter);
        while k <= last {
            // the hot loop: decimals up to the first cell that is none
            for (way, numbers) in self.ways[k..].iter().zip(&mut self.room[k..]) {
                if k == last {
                    stop = b'\n';
                }
                if *way == Way::Words {
                    break;
                }
                let bytes = self.text.as_bytes().get(at..)?;
                if WIDTH == FIRST_DIGITS
                    && let [digit @ b'0'..=b'9', end, ..] = bytes
                    && *end == stop
                {
                    *numbers.get_mut(row)? = f64::from(digit - b'0');
                    at += 2;
                    k += 1;
                    continue;
                }
                let Some(found) = decimal_until::<WIDTH>(stop, bytes) else { break };
                if !(found.plain || *way == Way::Any) {
                    break;
                }
                *numbers.get_mut(row)? = found.value;
                at += found.len + 1;
                k += 1;
            }
            if k <= last {
                at = self.any_cell(at, k, row)?;
                k += 1;
            }
        }
        Some(at)
    }

    /// Takes whatever the cell that begins at a place is; the place after it.
    #[inline(never)]
    fn any_cell(&mut self, at: usize, k: usize, row: usize) -> Option<usize> {
        let (text, bytes) = (self.text, self.text.as_bytes());
        let last = k + 1 == self.ways.len();
        // nearly every word has no blanks around it, and one that is quoted no escapes
        if self.ways[k] == Way::Words
            && let Some((from, to, end)) = self.simple_word(at, if last { b'\n' } else { self.delimiter })
        {
            self.part.facts[k].take_word(&text[from..to]);
            return Some(end + 1);
        }
        let start = (at..bytes.len()).find(|&i| !is_space(bytes[i]) || bytes[i] == self.delimiter)?;
        let quoted = bytes[start] == b'"';
        let from = if quoted { self.unquote(start + 1)? } else { start };
        let end = memchr2(self.delimiter, b'\n', &bytes[from..]).map_or(bytes.len(), |n| from + n);
        let ends_line = bytes.get(end) != Some(&self.delimiter);
        if ends_line != last {
            return None;
        }
        let to = if ends_line { from + without_returns(&bytes[from..end]).len() } else { end };
        let (first, after) = trimmed(bytes, from, to);
        let cell = if quoted {
            // text after a closing quote belongs to the cell
            self.cell.push_str(if first < after { &text[from..to] } else { "" });
            &self.cell
        } else {
            &text[first..after]
        };
        let facts = &mut self.part.facts[k];
        let numbers = &mut self.room[k];
        let value = facts.take(cell, numbers.get(..row).unwrap_or_default());
        if let Some(number) = numbers.get_mut(row) {
            *number = value;
        }
        self.ways[k] = Way::of(facts);
        Some(end + 1)
    }

    /// Where the word that begins at a place starts and ends, and where its cell ends; `None` if it takes a closer look.
    #[inline]
    fn simple_word(&mut self, at: usize, stop: u8) -> Option<(usize, usize, usize)> {
        let bytes = self.text.as_bytes();
        let first = *bytes.get(at)?;
        if first != b'"' {
            let end = at + memchr2(self.delimiter, b'\n', &bytes[at..])?;
            let blank = is_space(first) || (end > at && matches!(bytes[end - 1], b' ' | b'\t' | b'\r'));
            return (bytes[end] == stop && !blank).then_some((at, end, end));
        }
        let (mut end, mut lines) = (at + 1, 0);
        loop {
            end += memchr3(b'"', b'\n', b'\r', &bytes[end..])?;
            match bytes[end] {
                b'"' if bytes.get(end + 1) == Some(&stop) => {
                    self.part.lines += lines;
                    return Some((at + 1, end, end + 1));
                }
                b'\n' => lines += 1,
                _ => return None,
            }
            end += 1;
        }
    }

    /// Unescapes the cell whose quote stands before a place; the place after it, `None` if it is left open.
    fn unquote(&mut self, mut at: usize) -> Option<usize> {
        let (text, bytes) = (self.text, self.text.as_bytes());
        self.cell.clear();
        loop {
            let quote = at + memchr(b'"', &bytes[at..])?;
            for line in text[at..quote].split_inclusive('\n') {
                match line.strip_suffix("\r\n") {
                    Some(line) => {
                        let end = if self.keeps_returns { "\r\n" } else { "\n" };
                        self.cell.extend([line.trim_end_matches('\r'), end]);
                    }
                    None => self.cell.push_str(line),
                }
                self.part.lines += usize::from(line.ends_with('\n'));
            }
            at = quote + 1;
            if bytes.get(at) != Some(&b'"') {
                return Some(at);
            }
            self.cell.push('"');
            at += 1;
        }
    }
}

/// The decimal with which a text begins, if it goes as far as a stop.
#[inline(always)]
fn decimal_until<const WIDTH: u8>(stop: u8, text: &[u8]) -> Option<Decimal> {
    if WIDTH != FIRST_WIDE
        && let Some(&eight) = text.first_chunk()
        && let Some(short) = decimal_before(stop, u64::from_le_bytes(eight))
    {
        return Some(short);
    }
    let found = if WIDTH == FIRST_WIDE { wide_decimal(text) } else { any_decimal(text) }?;
    (text.get(found.len) == Some(&stop)).then_some(found)
}

/// A line without the carriage returns at its end.
pub(super) fn without_returns(line: &[u8]) -> &[u8] {
    let returns = line.iter().rev().take_while(|&&byte| byte == b'\r').count();
    &line[..line.len() - returns]
}

fn is_blank(line: &[u8], delimiter: u8) -> bool {
    without_returns(line).iter().all(|&b| b == b' ' || (b == b'\t' && delimiter != b'\t'))
}
