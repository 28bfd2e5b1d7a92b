//! JSON arrays of objects, and the objects of a text one by one: the elements of an array, or one on each line.

use super::super::{DataError, Table};
use super::{FormatEntry, ReadOptions, Source, jsonl};
use crate::memory::Growth;
use std::io::{self, BufRead};

/// The format.
pub(super) static JSON: FormatEntry = FormatEntry {
    name: "json_array",
    summary: "JSON arrays of objects, as pandas writes with orient=\"records\"; their keys are the columns",
    extensions: &["json"],
    sniff: is_array,
    names_target: false,
    main_column: None,
    lines: false,
    read,
};

/// Bytes that tell an array from lines.
const HEAD_BYTES: u64 = 4096;

fn read(source: &Source, options: &ReadOptions) -> Result<Table, DataError> {
    jsonl::read(source, options)
}

/// True for the beginning of an array of objects.
fn is_array(head: &[u8]) -> bool {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    text.first() == Some(&b'[') && matches!(text[1..].trim_ascii_start().first(), Some(b'{' | b']'))
}

/// The objects of a text.
pub(super) struct Objects<'a> {
    source: &'a Source,
    reader: Box<dyn BufRead + Send + 'a>,
    longest: Growth,
    /// Lines that have been begun, and bytes that have been read.
    line: usize,
    bytes: usize,
    /// The place in an array, `None` where each line is an object.
    array: Option<Place>,
}

/// A place in an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Before,
    BeforeFirst,
    BehindObject,
    BehindComma,
    Behind,
}

impl<'a> Objects<'a> {
    pub(super) fn new(source: &'a Source) -> Result<Self, DataError> {
        let is_array = is_array(&source.head(HEAD_BYTES)?);
        let reader = source.reader()?;
        let (line, array) = if is_array { (1, Some(Place::Before)) } else { (0, None) };
        Ok(Self { source, reader, longest: Growth::default(), line, bytes: 0, array })
    }

    /// True if they are the elements of an array.
    pub(super) fn are_an_array(&self) -> bool {
        self.array.is_some()
    }

    /// Bytes that have been read.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Puts the next object into a text; the line on which it begins, `None` at the end.
    pub(super) fn next(&mut self, text: &mut Vec<u8>) -> Result<Option<usize>, DataError> {
        match self.array {
            Some(place) => self.element(place, text),
            None => self.whole_line(text),
        }
    }

    fn whole_line(&mut self, text: &mut Vec<u8>) -> Result<Option<usize>, DataError> {
        loop {
            text.clear();
            let got = self.source.line(&mut *self.reader, text, &mut self.longest)?;
            if got == 0 {
                return Ok(None);
            }
            (self.line, self.bytes) = (self.line + 1, self.bytes + got);
            if self.line == 1 && text.starts_with(b"\xef\xbb\xbf") {
                text.drain(..3);
            }
            text.truncate(text.trim_ascii_end().len());
            if !text.is_empty() {
                return Ok(Some(self.line));
            }
        }
    }

    /// The next element of the array, which is bounded by its braces.
    fn element(&mut self, mut place: Place, text: &mut Vec<u8>) -> Result<Option<usize>, DataError> {
        text.clear();
        loop {
            let next = self.next_byte()?;
            place = match (place, next) {
                (Place::Before, Some(b'[')) => Place::BeforeFirst,
                (Place::Before, Some(0xef | 0xbb | 0xbf)) => Place::Before,
                (Place::BeforeFirst | Place::BehindObject, Some(b']')) => Place::Behind,
                (Place::BehindObject, Some(b',')) => Place::BehindComma,
                (Place::BeforeFirst | Place::BehindComma, Some(b'{')) => break,
                (Place::Behind, None) => {
                    self.array = Some(place);
                    return Ok(None);
                }
                (_, None) => return Err(self.bad("the array does not end; the file may be cut off")),
                (Place::Behind, Some(_)) => {
                    return Err(self.bad("something follows the array; write one array of objects"));
                }
                (Place::BehindObject, Some(_)) => {
                    return Err(self.bad("no comma stands between two objects of the array"));
                }
                _ => return Err(self.bad("an element of the array is no object {\"column\": value, …}")),
            };
        }
        let line = self.line;
        text.push(b'{');
        self.rest_of_object(text)?;
        self.array = Some(Place::BehindObject);
        Ok(Some(line))
    }

    /// The next byte that is no blank.
    fn next_byte(&mut self) -> Result<Option<u8>, DataError> {
        loop {
            let ready = self.ready()?;
            let Some(at) = ready.iter().position(|b| !b.is_ascii_whitespace()) else {
                let (all, ends) = (ready.len(), count_ends(ready));
                if all == 0 {
                    return Ok(None);
                }
                self.take(all, ends);
                continue;
            };
            let (byte, ends) = (ready[at], count_ends(&ready[..at]));
            self.take(at + 1, ends);
            return Ok(Some(byte));
        }
    }

    /// Appends what is left of an object behind its first brace.
    fn rest_of_object(&mut self, text: &mut Vec<u8>) -> Result<(), DataError> {
        let (mut depth, mut in_string, mut escaped) = (1_usize, false, false);
        while depth > 0 {
            let ready = self.ready()?;
            if ready.is_empty() {
                return Err(self.bad("the object does not end; the file may be cut off"));
            }
            let mut taken = 0;
            for &byte in ready {
                taken += 1;
                match byte {
                    _ if escaped => escaped = false,
                    b'\\' if in_string => escaped = true,
                    b'"' => in_string = !in_string,
                    b'{' if !in_string => depth += 1,
                    b'}' if !in_string => depth -= 1,
                    _ => {}
                }
                if depth == 0 {
                    break;
                }
            }
            text.extend_from_slice(&ready[..taken]);
            let ends = count_ends(&ready[..taken]);
            self.take(taken, ends);
            self.longest.to(text.len(), "an object of the file").map_err(|e| self.source.too_large(e))?;
        }
        Ok(())
    }

    /// Bytes that the reader holds ready; none at the end.
    fn ready(&mut self) -> Result<&[u8], DataError> {
        loop {
            match self.reader.fill_buf() {
                Ok(_) => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.source.damaged(&error)),
            }
        }
        // ready by now
        self.reader.fill_buf().map_err(|error| self.source.damaged(&error))
    }

    fn take(&mut self, bytes: usize, ends: usize) {
        self.reader.consume(bytes);
        self.bytes += bytes;
        self.line += ends;
    }

    fn bad(&self, finding: &str) -> DataError {
        self.source.bad(Some(self.line), None, finding)
    }
}

fn count_ends(text: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', text).count()
}

#[cfg(test)]
mod tests {
    use super::super::{ReadOptions, read_bytes};
    use crate::data::{FieldData, Table};

    fn read(name: &str, text: &str) -> Result<Table, String> {
        read_bytes(name, text.as_bytes(), &ReadOptions::default()).map_err(|e| e.to_string())
    }

    #[test]
    fn arrays_of_objects_are_those_of_json_lines() {
        let objects =
            ["{\"a\": 1.5, \"b\": \"x,]}{\\\"\", \"y\": [1, 2]}", "{\"a\": null, \"b\": \"\u{e9}\", \"y\": [3, 4]}"];
        let told = |table: &Table| format!("{:?} {:?} {}", table.fields, table.target, table.len);
        let lines = told(&read("a.jsonl", &objects.join("\n")).unwrap());
        let compact = format!("[{}]", objects.join(","));
        let indented = format!("\u{feff}[\n  {}\n,\n {}\n]\n", objects[0].replace(", ", ",\n    "), objects[1]);
        for text in [&compact, &indented] {
            for name in ["a.json", "a.jsonl", "a", "-"] {
                let table = read(name, text).unwrap();
                assert_eq!((told(&table), table.format), (lines.clone(), "json_array"), "{name}");
            }
        }
        // JSON lines may be called so, too
        assert_eq!(read("a.json", &objects.join("\n")).unwrap().format, "jsonl");
        assert!(matches!(&read("a.json", &compact).unwrap().fields[0].data, FieldData::Numbers { .. }));
    }

    #[test]
    fn mistakes_in_arrays_are_named_with_their_line() {
        let error = |text: &str| read("a.json", text).unwrap_err();
        assert_eq!(
            error("[{\"a\": 1},\n {\"a\": 2}\n"),
            "a.json line 3: the array does not end; the file may be cut off"
        );
        assert!(error("[{\"a\": 1},\n {\"a\": ").contains("line 2: the object does not end"));
        assert!(error("[{\"a\": 1}\n{\"a\": 2}]").contains("line 2: no comma"));
        assert!(error("[{\"a\": 1}, 3]").contains("an element of the array is no object"));
        assert!(error("[{\"a\": 1}] {").contains("something follows the array"));
        assert!(error("[{\"a\": 1},\n{\n\"a\": x}]").contains("\"a\": expected value"));
        assert!(error("[{\"a\": {\"b\": 1}}]").contains("objects are nested"));
        assert!(error("[[1, 2]]").contains("expected an object"));
        assert!(error("{\"a\": {\"0\": 1}}").contains("orient"), "pandas without an orientation");
        assert!(error("[]").contains("no examples"));
    }
}
