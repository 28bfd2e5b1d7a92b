//! LIBSVM and svmlight text: `label index:value …`, one example per line, zeros left out.
//!
//! Lines are parsed as bytes, block by block; memory grows with the stored values only, never with an index that a
//! line claims. Lines that are a number and pairs are parsed in one sweep, all others token by token.

use super::super::{Coordinate, DataError, Field, FieldData, SparseRows, Table};
use super::blocks::{Blocks, Whole, each};
use super::column::Column;
use super::lines::Lines;
use super::number::{Cell, classify, decimal, number, whole_number};
use super::{FormatEntry, ReadOptions, Source};
use crate::memory::Growth;
use memchr::{memchr, memchr_iter};

/// The format.
pub(super) static LIBSVM: FormatEntry = FormatEntry {
    name: "libsvm",
    summary: "LIBSVM or svmlight text: label index:value …, indices from 1",
    extensions: &["svm", "libsvm", "svmlight"],
    sniff,
    names_target: true,
    main_column: None,
    lines: true,
    read,
};

/// Largest index; larger ones are taken for mistakes.
const MAX_INDEX: u64 = 1 << 31;

/// Whether the first line is a label, or none, and then pairs only; the last token seen may be cut off.
fn sniff(head: &[u8]) -> bool {
    let Some(line) = head.split(|&b| b == b'\n').map(content).find(|l| !l.is_empty()) else { return false };
    let is_pair = |token: &[u8]| pair(token).is_some_and(|(i, v)| index(i).is_some() && number(v).is_some());
    let mut tokens: Vec<&[u8]> = tokens(line).filter(|t| !t.starts_with(b"qid:")).collect();
    if !head.contains(&b'\n') && tokens.len() > 2 {
        tokens.pop();
    }
    let pairs = if tokens.first().is_some_and(|t| pair(t).is_none()) { &tokens[1..] } else { &tokens };
    !pairs.is_empty() && pairs.iter().all(|t| is_pair(t))
}

/// The part of a file or block that has been read so far.
struct Parsed {
    labels: Column,
    rows: SparseRows<f64>,
    lines: Lines,
    /// The present line.
    line: usize,
    /// Whether lines have a label, and the first line that told.
    labelled: Option<(bool, usize)>,
    vector: Vec<Coordinate<f64>>,
    /// The line at which reading ended early, and why.
    wrong: Option<(usize, String)>,
    /// True if a line names a query, as files for ranking do.
    queries: bool,
}

/// A file in blocks.
struct Joined<'a> {
    source: &'a Source,
    whole: Parsed,
    /// Blocks that were parsed while those before them were joined.
    waiting: Vec<Parsed>,
    /// Whether labels must be read again as text.
    again: bool,
    growth: Growth,
}

fn read(source: &Source, _options: &ReadOptions) -> Result<Table, DataError> {
    let parsed = match pass(source, false)? {
        Some(parsed) => Some(parsed),
        None => pass(source, true)?,
    };
    let Some(parsed) = parsed else {
        return Err(source.bad(None, None, "labels are neither numbers nor words"));
    };
    let len = parsed.lines.count();
    let notes = if parsed.queries {
        vec![format!("{}: the queries (qid:) are left out; nothing here learns rankings within queries", source.name())]
    } else {
        Vec::new()
    };
    let (first_line, lines) = parsed.lines.finish();
    let Some((labelled, _)) = parsed.labelled else {
        return Err(DataError::Empty { place: source.name().to_owned() });
    };
    let infinite = parsed.labels.infinite();
    let mut fields = Vec::new();
    if labelled {
        fields.push(Field { name: "y".to_owned(), data: parsed.labels.finish() });
    }
    fields.push(Field { name: "x".to_owned(), data: FieldData::Sparse(parsed.rows) });
    let file = source.name().to_owned();
    let table = Table {
        file,
        format: LIBSVM.name,
        len,
        fields,
        target: labelled.then_some(0),
        first_line,
        named: false,
        lines,
        notes,
    };
    if let Some(example) = infinite {
        return Err(DataError::Bad { place: table.place(example, 0), finding: "the label is not finite".to_owned() });
    }
    Ok(table)
}

/// Reads all lines; `None` if labels of numbers turned out to be words.
fn pass(source: &Source, text_labels: bool) -> Result<Option<Parsed>, DataError> {
    let whole = Parsed::new(Column::new(text_labels, false), 0);
    let mut joined = Joined { source, whole, waiting: Vec::new(), again: false, growth: Growth::default() };
    let mut reader = source.reader()?;
    // the mark of byte order, which some editors put first, is no part of a label
    if reader.fill_buf().map_err(|e| source.damaged(&e))?.starts_with(b"\xef\xbb\xbf") {
        reader.consume(3);
    }
    Blocks::new(source, reader, false).run(&mut joined)?;
    let waiting = std::mem::take(&mut joined.waiting);
    joined.join(waiting)?;
    Ok(Some(joined.whole).filter(|whole| !joined.again && !whole.labels.broken()))
}

impl Whole for Joined<'_> {
    fn take(&mut self, blocks: &[Vec<u8>]) -> Result<Option<usize>, DataError> {
        let labels = self.whole.labels.following();
        let parse = |block: &Vec<u8>| {
            let mut part = Parsed::new(labels.following(), memchr_iter(b':', block).count());
            part.wrong = part.lines_of(block).err().map(|finding| (part.line, finding));
            part
        };
        let waiting = std::mem::take(&mut self.waiting);
        let blocks = blocks.iter().collect();
        if waiting.is_empty() {
            self.waiting = each(blocks, parse);
        } else {
            let (parsed, joined) = rayon::join(|| each(blocks, parse), || self.join(waiting));
            joined?;
            self.waiting = parsed;
        }
        Ok(None)
    }
}

impl Joined<'_> {
    /// Joins blocks in order; the error is the first that one pass over all lines meets.
    fn join(&mut self, parts: Vec<Parsed>) -> Result<(), DataError> {
        let whole = &mut self.whole;
        for part in parts {
            if self.again {
                break;
            }
            if let Some((has, line)) = part.labelled {
                let line = whole.line + line;
                whole.labelled_alike(has, line).map_err(|finding| self.source.bad(Some(line), None, finding))?;
            }
            if whole.labels.fits(&part.labels) {
                whole.labels.append(part.labels);
            } else {
                self.again = true;
            }
            let (rows, more) = (&whole.rows, &part.rows);
            let pairs = (rows.coordinates().len() + more.coordinates().len()) * size_of::<Coordinate<f64>>();
            // a place among the pairs, and a label
            let held = pairs + (rows.len() + more.len()) * 2 * size_of::<f64>();
            self.growth.to(held, "its table").map_err(|e| self.source.too_large(e))?;
            whole.queries |= part.queries;
            whole.rows.append(part.rows);
            whole.lines.append(&part.lines, whole.line);
            if let Some((line, finding)) = part.wrong {
                return Err(self.source.bad(Some(whole.line + line), None, finding));
            }
            whole.line += part.line;
        }
        Ok(())
    }
}

impl Parsed {
    fn new(labels: Column, pairs: usize) -> Self {
        let (rows, lines) = (SparseRows::with_room(pairs), Lines::default());
        Self { labels, rows, lines, line: 0, labelled: None, vector: Vec::new(), wrong: None, queries: false }
    }

    /// Takes whole lines; the error is what is wrong with the present one.
    fn lines_of(&mut self, block: &[u8]) -> Result<(), String> {
        let mut at = 0;
        while at < block.len() {
            self.line += 1;
            let line = self.line;
            if let Some(end) = self.plain_line(block, at) {
                self.lines.note(line);
                at = end;
                continue;
            }
            let end = memchr(b'\n', &block[at..]).map_or(block.len(), |n| at + n);
            let text = content(&block[at..end]);
            if !text.is_empty() {
                let mut vector = std::mem::take(&mut self.vector);
                self.line(text, line, &mut vector)?;
                self.vector = vector;
                self.lines.note(line);
            }
            at = end + 1;
        }
        Ok(())
    }

    /// Takes the line that begins at a place if it is a number and pairs, without anything else, and gives the place
    /// after it; else takes nothing.
    fn plain_line(&mut self, block: &[u8], start: usize) -> Option<usize> {
        if matches!(self.labelled, Some((false, _))) {
            return None;
        }
        let label = decimal(&block[start..])?;
        let text = std::str::from_utf8(&block[start..start + label.len]).ok()?;
        let (end, width) = self.rows.push_with(|vector| plain_pairs(block, start + label.len, vector))?;
        self.labelled.get_or_insert((true, self.line));
        self.labels.push_decimal(label, text);
        self.rows.widen(width);
        Some(end)
    }

    /// Takes one line; the error is what is wrong with it.
    fn line(&mut self, text: &[u8], line: usize, vector: &mut Vec<Coordinate<f64>>) -> Result<(), String> {
        let mut tokens = tokens(text).peekable();
        let label = tokens.next_if(|t| pair(t).is_none());
        self.labelled_alike(label.is_some(), line)?;
        if let Some(label) = label {
            self.label(label)?;
        }
        vector.clear();
        let mut last = 0;
        for token in tokens {
            if token.starts_with(b"qid:") {
                self.queries = true;
                continue;
            }
            let (index, value) = coordinate(token)?;
            if index <= last {
                return Err(format!("index {index} comes after index {last}; indices must rise"));
            }
            last = index;
            if value != 0.0 {
                vector.push(Coordinate { index: (index - 1) as u32, value });
            }
        }
        self.rows.widen(last as usize);
        self.rows.push(vector);
        Ok(())
    }

    fn label(&mut self, label: &[u8]) -> Result<(), String> {
        if label.contains(&b',') {
            let shown = shown(label);
            return Err(format!("\"{shown}\" is more than one label; keep one label per line"));
        }
        let text = std::str::from_utf8(label).map_err(|_| "the label is not UTF-8 text".to_owned())?;
        if classify(label) == Cell::Missing {
            return Err(format!("the label \"{text}\" is a missing mark; give the label or delete the line"));
        }
        self.labels.push(text);
        Ok(())
    }

    /// All lines have a label, or none has.
    fn labelled_alike(&mut self, has: bool, line: usize) -> Result<(), String> {
        match self.labelled {
            None => self.labelled = Some((has, line)),
            Some((before, _)) if before == has => {}
            Some((true, first)) => return Err(format!("no label, but line {first} has one")),
            Some((false, first)) => return Err(format!("a label, but line {first} has none")),
        }
        Ok(())
    }
}

/// Appends the pairs between a place and the end of the line; the place after it and the largest index, `None` if there
/// is anything else.
fn plain_pairs(block: &[u8], mut at: usize, vector: &mut Vec<Coordinate<f64>>) -> Option<(usize, usize)> {
    let mut last = 0;
    loop {
        let mut blanks = 0;
        while block.get(at) == Some(&b' ') {
            (at, blanks) = (at + 1, blanks + 1);
        }
        match block.get(at) {
            None => return Some((at, last as usize)),
            Some(b'\n') => return Some((at + 1, last as usize)),
            Some(b'\r') if block.get(at + 1) == Some(&b'\n') => return Some((at + 2, last as usize)),
            Some(_) if blanks > 0 => {}
            Some(_) => return None,
        }
        let (index, len) = whole_number(&block[at..])?;
        at += len;
        if block.get(at) != Some(&b':') || index <= last || index > MAX_INDEX {
            return None;
        }
        (last, at) = (index, at + 1);
        // ones are the commonest value
        let (value, len) = match block.get(at..at + 2) {
            Some([b'1', b' ' | b'\n']) => (1.0, 1),
            _ => plain_value(&block[at..])?,
        };
        at += len;
        if value != 0.0 {
            vector.push(Coordinate { index: (index - 1) as u32, value });
        }
    }
}

/// The number before the next blank or line end, and how many bytes it takes.
#[inline]
fn plain_value(text: &[u8]) -> Option<(f64, usize)> {
    match decimal(text) {
        Some(found) if matches!(text.get(found.len), None | Some(b' ' | b'\n' | b'\r')) => {
            Some((found.value, found.len))
        }
        _ => {
            let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
            Some((number(&text[..end])?, end))
        }
    }
}

/// The index, from one, and the value of `index:value`.
fn coordinate(token: &[u8]) -> Result<(u64, f64), String> {
    let Some((left, right)) = pair(token) else {
        return Err(format!("\"{}\" is not index:value", shown(token)));
    };
    let Some(index) = index(left) else {
        return Err(format!("\"{}\" is not index:value; \"{}\" is not a whole number", shown(token), shown(left)));
    };
    if index == 0 {
        return Err("index 0; indices start at 1, so shift all of them up by one".to_owned());
    }
    if index > MAX_INDEX {
        return Err(format!("index {index} is too large; at most {MAX_INDEX} is read"));
    }
    match classify(right) {
        Cell::Number { value, .. } => Ok((index, value)),
        Cell::Infinite => Err(format!("the value of index {index} is not finite")),
        Cell::Missing => Err(format!("the value of index {index} is missing; leave the index out if it is zero")),
        Cell::Word => Err(format!("\"{}\" is not a number, in \"{}\"", shown(right), shown(token))),
    }
}

/// A line without comment and surrounding blanks.
fn content(line: &[u8]) -> &[u8] {
    let end = line.iter().position(|&b| b == b'#').unwrap_or(line.len());
    line[..end].trim_ascii()
}

fn tokens(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(u8::is_ascii_whitespace).filter(|t| !t.is_empty())
}

fn pair(token: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = token.iter().position(|&b| b == b':')?;
    Some((&token[..colon], &token[colon + 1..]))
}

fn index(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 18 {
        return None;
    }
    text.iter().try_fold(0, |sum, &b| b.is_ascii_digit().then(|| sum * 10 + u64::from(b - b'0')))
}

fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(40)]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::{ReadOptions, read_bytes};
    use super::*;

    fn table_of(text: &str) -> Table {
        read_bytes("a.svm", text.as_bytes(), &ReadOptions::default()).unwrap()
    }

    fn error_of(text: &str) -> String {
        read_bytes("a.svm", text.as_bytes(), &ReadOptions::default()).unwrap_err().to_string()
    }

    fn sparse(table: &Table) -> &SparseRows<f64> {
        let FieldData::Sparse(rows) = &table.fields[table.fields.len() - 1].data else { panic!() };
        rows
    }

    #[test]
    fn labels_indices_comments_and_queries() {
        let table = table_of("# top\n+1 qid:3 1:0.5 4:-2 # note\n\n-1 2:1e-3 5:0\n+1\n");
        assert_eq!((table.len, table.target), (3, Some(0)));
        let rows = sparse(&table);
        assert_eq!(rows.row(0), [Coordinate { index: 0, value: 0.5 }, Coordinate { index: 3, value: -2.0 }]);
        assert_eq!(rows.row(1), [Coordinate { index: 1, value: 1e-3 }]);
        assert_eq!((rows.width(), rows.row(2).len()), (5, 0));
        assert_eq!(table.place(1, 0).line, Some(4));
        let FieldData::Numbers { values, spellings } = &table.fields[0].data else { panic!() };
        assert_eq!((values.as_slice(), spellings.as_slice()), (&[1.0, -1.0, 1.0][..], &[(1.0, "+1".to_owned())][..]));
    }

    #[test]
    fn labels_may_be_words_or_absent_but_alike() {
        assert!(matches!(&table_of("ham 1:1\nspam 2:1\n").fields[0].data, FieldData::Words(w) if w == ["ham", "spam"]));
        let mixed = table_of("01 1:1\nspam 2:1\n");
        assert!(matches!(&mixed.fields[0].data, FieldData::Mixed { cells, odd: 1 } if cells == ["01", "spam"]));
        let bare = table_of("1:1\n2:1\n");
        assert_eq!((bare.fields.len(), bare.target), (1, None));
        assert_eq!(error_of("1 1:1\n2:1\n"), "a.svm line 2: no label, but line 1 has one");
        assert_eq!(error_of("1:1\n1 2:1\n"), "a.svm line 2: a label, but line 1 has none");
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        assert!(error_of("1 1:1\n1 0:1\n").starts_with("a.svm line 2: index 0; indices start at 1"));
        assert!(error_of("1 3:1 2:1\n").contains("index 2 comes after index 3"));
        assert!(error_of("1 2:1 2:1\n").contains("index 2 comes after index 2"));
        assert!(error_of("1,2 1:1\n").contains("more than one label"));
        assert!(error_of("1 4294967296:1\n").contains("too large"));
        assert!(error_of("1 1:abc\n").contains("\"abc\" is not a number"));
        assert!(error_of("1 1:inf\n").contains("not finite"));
        assert!(error_of("1 1:nan\n").contains("missing"));
        assert!(error_of("1 a\n").contains("\"a\" is not index:value"));
        assert!(matches!(read_bytes("a.svm", b"# nothing\n", &ReadOptions::default()), Err(DataError::Empty { .. })));
    }

    #[test]
    fn content_tells_the_format() {
        assert!(sniff(b"-1 3:1 11:1\n") && sniff(b"3:1 4:2\n") && sniff(b"1 qid:4 3:1\n"));
        for other in ["1,2,3\n", "1 2 3\n", "", "at 10:30 we met\n", "7\n"] {
            assert!(!sniff(other.as_bytes()), "{other}");
        }
    }
}
