//! FASTA and FASTQ: sequences with names.
//!
//! A header is `>name description` (`@` in FASTQ); a sequence may run over several lines and is kept as it is spelled:
//! lower case marks repeats in many files, and it is for the kernel to tell letters apart or not. The columns are
//! `name`, `description` where there are any, `sequence`, and `quality` in FASTQ. Where every record has a description,
//! it is the target: `>s1 donor`.

use super::super::{DataError, Field, FieldData, Table};
use super::lines::Lines;
use super::{FormatEntry, ReadOptions, Source};
use crate::memory::Growth;
use crate::params::brief;
use std::io::BufRead;

/// The format of names and sequences.
pub(super) static FASTA: FormatEntry = FormatEntry {
    name: "fasta",
    summary: "sequences: >name description, then lines of letters, kept as spelled; the description is the target",
    extensions: &["fasta", "fa", "fna", "faa", "ffn"],
    sniff: |head| starts(head, b'>'),
    names_target: false,
    main_column: Some("sequence"),
    lines: true,
    read: |source, _: &ReadOptions| read(source, b'>'),
};

/// The same with the quality of each letter.
pub(super) static FASTQ: FormatEntry = FormatEntry {
    name: "fastq",
    summary: "sequences with qualities: @name description, letters, +, as many marks of quality",
    extensions: &["fastq", "fq"],
    sniff: |head| starts(head, b'@') && head.windows(2).any(|pair| pair == b"\n+"),
    names_target: false,
    main_column: Some("sequence"),
    lines: true,
    read: |source, _: &ReadOptions| read(source, b'@'),
};

fn starts(head: &[u8], mark: u8) -> bool {
    head.first() == Some(&mark) && head.get(1).is_some_and(u8::is_ascii_graphic)
}

/// Records so far, a column each.
#[derive(Default)]
struct Records {
    names: Vec<String>,
    descriptions: Vec<String>,
    sequences: Vec<String>,
    qualities: Vec<String>,
    lines: Lines,
}

/// The lines of a file with the one to come in sight.
struct Ahead<'a> {
    source: &'a Source,
    reader: Box<dyn BufRead + Send + 'a>,
    text: Vec<u8>,
    line: usize,
    ended: bool,
    /// Bytes read so far: letters and names are kept as they are.
    bytes: usize,
    growth: Growth,
    longest: Growth,
}

impl Ahead<'_> {
    /// Goes to the next line, without blanks at its ends.
    fn advance(&mut self) -> Result<(), DataError> {
        self.text.clear();
        let got = self.source.line(&mut self.reader, &mut self.text, &mut self.longest)?;
        self.bytes += got;
        self.growth.to(self.bytes, "its table").map_err(|e| self.source.too_large(e))?;
        self.ended = got == 0;
        self.line += 1;
        if self.line == 1 && self.text.starts_with(b"\xef\xbb\xbf") {
            self.text.drain(..3);
        }
        let end = self.text.trim_ascii_end().len();
        self.text.truncate(end);
        Ok(())
    }

    fn bad(&self, line: usize, finding: impl Into<String>) -> DataError {
        self.source.bad(Some(line), None, finding)
    }

    /// The name and the description of a header.
    fn header(&self) -> Result<(String, String), DataError> {
        let Ok(text) = std::str::from_utf8(&self.text[1..]) else {
            return Err(self.bad(self.line, "the header is not UTF-8 text; convert the file"));
        };
        let (name, description) = text.split_once([' ', '\t']).unwrap_or((text, ""));
        if name.is_empty() {
            return Err(self.bad(self.line, "the header has no name; write it right after the first mark"));
        }
        Ok((name.to_owned(), description.trim().to_owned()))
    }

    /// Appends the letters of the present line.
    fn letters(&self, sequence: &mut String) -> Result<(), DataError> {
        for &byte in self.text.iter().filter(|b| !b.is_ascii_whitespace()) {
            if !(byte.is_ascii_alphabetic() || b"*-.".contains(&byte)) {
                let shown =
                    if byte.is_ascii_graphic() { char::from(byte).to_string() } else { format!("byte {byte:#04x}") };
                let finding = format!("\"{shown}\" cannot stand in a sequence; letters, - . and * can");
                return Err(self.bad(self.line, finding));
            }
            sequence.push(char::from(byte));
        }
        Ok(())
    }
}

fn read(source: &Source, mark: u8) -> Result<Table, DataError> {
    let (growth, longest) = (Growth::default(), Growth::default());
    let reader = source.reader()?;
    let mut ahead = Ahead { source, reader, text: Vec::new(), line: 0, ended: false, bytes: 0, growth, longest };
    let mut records = Records::default();
    ahead.advance()?;
    while !ahead.ended {
        match ahead.text.first() {
            None => ahead.advance()?,
            Some(b';') if mark == b'>' => ahead.advance()?,
            Some(first) if *first == mark => records.take(&mut ahead, mark)?,
            Some(_) => {
                let finding = format!("a record begins with {}name, and this line does not", char::from(mark));
                return Err(ahead.bad(ahead.line, finding));
            }
        }
    }
    records.table(source, mark)
}

impl Records {
    /// Takes the record whose header is in sight.
    fn take(&mut self, ahead: &mut Ahead<'_>, mark: u8) -> Result<(), DataError> {
        let line = ahead.line;
        let (name, description) = ahead.header()?;
        let end = if mark == b'>' { b'>' } else { b'+' };
        let mut sequence = String::new();
        ahead.advance()?;
        while !ahead.ended && ahead.text.first() != Some(&end) {
            if !(mark == b'>' && ahead.text.starts_with(b";")) {
                ahead.letters(&mut sequence)?;
            }
            ahead.advance()?;
        }
        if sequence.is_empty() {
            return Err(
                ahead.bad(line, format!("{} has no sequence; delete the header or add the letters", brief(&name)))
            );
        }
        if mark == b'@' {
            let quality = Self::quality(ahead, line, &name, sequence.len())?;
            self.qualities.push(quality);
        }
        self.names.push(name);
        self.descriptions.push(description);
        self.sequences.push(sequence);
        self.lines.note(line);
        Ok(())
    }

    /// As many marks as there are letters: a mark may be @ or +, so only their number tells the end.
    fn quality(ahead: &mut Ahead<'_>, line: usize, name: &str, letters: usize) -> Result<String, DataError> {
        if ahead.ended {
            return Err(ahead.bad(line, format!("{} has no line +, and no qualities after it", brief(name))));
        }
        let mut quality = String::new();
        ahead.advance()?;
        while !ahead.ended && quality.len() < letters {
            if let Some(byte) = ahead.text.iter().find(|b| !b.is_ascii_graphic()) {
                return Err(ahead.bad(ahead.line, format!("byte {byte:#04x} is no mark of quality")));
            }
            quality.extend(ahead.text.iter().map(|&b| char::from(b)));
            ahead.advance()?;
        }
        if quality.len() != letters {
            let finding = format!("{} has {letters} letters, but {} marks of quality", brief(name), quality.len());
            return Err(ahead.bad(line, finding));
        }
        Ok(quality)
    }

    fn table(self, source: &Source, mark: u8) -> Result<Table, DataError> {
        let len = self.names.len();
        if len == 0 {
            return Err(DataError::Empty { place: source.name().to_owned() });
        }
        let all = self.descriptions.iter().all(|d| !d.is_empty());
        let any = self.descriptions.iter().any(|d| !d.is_empty());
        let words = |name: &str, cells: Vec<String>| Field {
            name: name.to_owned(),
            data: FieldData::Words(cells.into_iter().collect()),
        };
        let mut fields = vec![words("name", self.names)];
        if any {
            fields.push(words("description", self.descriptions));
        }
        fields.push(words("sequence", self.sequences));
        if mark == b'@' {
            fields.push(words("quality", self.qualities));
        }
        let (first_line, lines) = self.lines.finish();
        let format = if mark == b'>' { FASTA.name } else { FASTQ.name };
        let file = source.name().to_owned();
        Ok(Table {
            file,
            format,
            len,
            fields,
            target: all.then_some(1),
            first_line,
            lines,
            named: true,
            notes: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ReadOptions, read_bytes};
    use super::*;

    fn column<'a>(table: &'a Table, name: &str) -> Vec<&'a str> {
        let FieldData::Words(words) = &table.fields[table.find(name).unwrap()].data else { panic!() };
        words.iter().collect()
    }

    fn error_of(name: &str, text: &str) -> String {
        read_bytes(name, text.as_bytes(), &ReadOptions::default()).unwrap_err().to_string()
    }

    #[test]
    fn sequences_run_over_lines() {
        let text = "; made by hand\n>s1 donor site\r\nACgt\r\nNN-\r\n\n>s2\tother\nTT*\n";
        let table = read_bytes("a.fa", text.as_bytes(), &ReadOptions::default()).unwrap();
        assert_eq!((table.len, table.target, table.format), (2, Some(1), "fasta"));
        assert_eq!(column(&table, "name"), ["s1", "s2"]);
        assert_eq!(column(&table, "description"), ["donor site", "other"]);
        assert_eq!(column(&table, "sequence"), ["ACgtNN-", "TT*"]);
        assert_eq!((table.line(0), table.line(1)), (2, 6));
        let bare = read_bytes("a", b">s1\nAC\n", &ReadOptions::default()).unwrap();
        assert_eq!((bare.format, bare.target, bare.fields.len()), ("fasta", None, 2));
    }

    #[test]
    fn qualities_may_look_like_headers() {
        let text = "@r1 a\nAC\nGT\n+r1\n@+\nII\n@r2 b\nG\n+\n@\n";
        for name in ["a.fq", "reads"] {
            let table = read_bytes(name, text.as_bytes(), &ReadOptions::default()).unwrap();
            assert_eq!((table.len, table.format), (2, "fastq"));
            assert_eq!(column(&table, "sequence"), ["ACGT", "G"]);
            assert_eq!(column(&table, "quality"), ["@+II", "@"]);
        }
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        assert_eq!(error_of("a.fa", "ACGT\n"), "a.fa line 1: a record begins with >name, and this line does not");
        assert!(error_of("a.fa", ">s1\nAC\n>s2\n>s3\nAC\n").contains("line 3: s2 has no sequence"));
        assert!(error_of("a.fa", ">s1\nAC1\n").contains("line 2: \"1\" cannot stand in a sequence"));
        assert!(error_of("a.fa", "> x\nAC\n").contains("line 1: the header has no name"));
        assert!(error_of("a.fq", "@r\nACG\n+\nII\n").contains("line 1: r has 3 letters, but 2 marks"));
        assert!(error_of("a.fq", "@r\nACG\n").contains("line 1: r has no line +"));
        assert!(error_of("a.fa", "\n\n").contains("no examples"));
    }
}
