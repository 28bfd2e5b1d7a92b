//! JSON lines: one object on each line, its keys the columns.
//!
//! Numbers and booleans (1 and 0) are columns of numbers, strings columns of words, arrays of numbers blocks of columns;
//! `null` and a key that is left out are missing entries. Columns are those of all lines, in the order in which they
//! first come. The target is the column `y`, `label`, `target` or `class`, else the last that is no array.

use super::super::{DataError, Field, FieldData, Rows, Table, Words};
use super::json::{JSON, Objects};
use super::lines::Lines;
use super::{FormatEntry, ReadOptions, Source, usual_target};
use crate::memory::Growth;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::collections::HashMap;
use std::fmt;

/// The format.
pub(super) static JSONL: FormatEntry = FormatEntry {
    name: "jsonl",
    summary: "JSON lines: an object on each line, with numbers, strings, booleans, null and arrays of numbers",
    extensions: &["jsonl", "ndjson"],
    sniff,
    names_target: false,
    main_column: None,
    lines: true,
    read,
};

/// Largest number of cells, most of them missing, for each byte of the file; more is no table.
const MAX_CELLS_PER_BYTE: usize = 64;

/// The finding for an object in an object.
const NESTED: &str = "objects are nested; write their values as columns of their own";

/// Keys without a value that are told by name.
const MAX_EMPTY_KEYS: usize = 20;

fn sniff(head: &[u8]) -> bool {
    let text = head.trim_ascii_start();
    text.starts_with(b"{") && matches!(text[1..].trim_ascii_start().first(), Some(b'"' | b'}'))
}

/// A value of an object.
enum Value {
    Missing,
    Number(f64),
    /// A whole number that f64 rounds, and what it rounds it to.
    Long(f64, String),
    Text(String),
    /// True or false.
    Truth(f64),
    /// Numbers, and the first that f64 rounds.
    Vector(Vec<f64>, Option<(f64, String)>),
}

/// The keys and values of an object, in their order.
struct Object(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = Object;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object {\"column\": value, …}")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                let mut pairs: Vec<(String, Value)> = Vec::new();
                while let Some(key) = map.next_key::<String>()? {
                    let value = map.next_value().map_err(|e| de::Error::custom(Within(&key, e.to_string())))?;
                    pairs.push((key, value));
                }
                Ok(Object(pairs))
            }
        }
        deserializer.deserialize_map(Keys)
    }
}

/// A finding about the value of a key.
struct Within<'a>(&'a str, String);

impl fmt::Display for Within<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\": {}", self.0, without_place(&self.1))
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Value;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, a string, true, false, null or an array of numbers")
            }
            fn visit_unit<E>(self) -> Result<Value, E> {
                Ok(Value::Missing)
            }
            fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
                Ok(Value::Truth(f64::from(u8::from(value))))
            }
            fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
                Ok(whole(i128::from(value)))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
                Ok(whole(i128::from(value)))
            }
            fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
                Ok(Value::Number(value))
            }
            fn visit_str<E>(self, value: &str) -> Result<Value, E> {
                Ok(Value::Text(value.to_owned()))
            }
            fn visit_string<E>(self, value: String) -> Result<Value, E> {
                Ok(Value::Text(value))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
                let (mut vector, mut rounded) = (Vec::new(), None);
                while let Some(entry) = entries.next_element::<Value>()? {
                    match entry {
                        Value::Number(number) | Value::Truth(number) => vector.push(number),
                        Value::Long(number, digits) => {
                            vector.push(number);
                            rounded.get_or_insert((number, digits));
                        }
                        Value::Missing => vector.push(f64::NAN),
                        Value::Text(_) => return Err(de::Error::custom("the array has a string; it may have numbers")),
                        Value::Vector(..) => {
                            return Err(de::Error::custom("arrays are nested; write one array of numbers"));
                        }
                    }
                }
                if vector.is_empty() {
                    return Err(de::Error::custom("the array is empty; give its numbers, or null"));
                }
                Ok(Value::Vector(vector, rounded))
            }
            fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<Value, A::Error> {
                Err(de::Error::custom(NESTED))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

/// A whole number, with its digits where a number of 64 bits does not hold them all.
fn whole(value: i128) -> Value {
    let rounded = value as f64;
    if rounded as i128 == value { Value::Number(rounded) } else { Value::Long(rounded, value.to_string()) }
}

/// A number as a word: as short as possible.
fn spelled(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-5..1e16).contains(&size) { format!("{value:e}") } else { value.to_string() }
}

/// The cells of a column so far; what follows the last is missing until the next comes.
struct Column {
    cells: Cells,
    declared: bool,
    /// The line of the first value.
    first_line: usize,
    /// True if true or false is among its values.
    truths: bool,
    /// The first number of an array that f64 rounds, with its line and digits.
    rounded: Option<(usize, f64, String)>,
}

enum Cells {
    /// Numbers, and the first that f64 rounds with its digits.
    Numbers(Vec<f64>, Option<(f64, String)>),
    Words(Words),
    Mixed {
        cells: Words,
        odd: usize,
    },
    Vectors {
        values: Vec<f64>,
        width: usize,
        count: usize,
    },
}

impl Column {
    fn new(value: &Value, declared: bool, line: usize) -> Self {
        let cells = match value {
            Value::Vector(vector, _) => Cells::Vectors { values: Vec::new(), width: vector.len(), count: 0 },
            Value::Number(_) | Value::Truth(_) | Value::Long(..) if !declared => Cells::Numbers(Vec::new(), None),
            _ => Cells::Words(Words::new()),
        };
        Self { cells, declared, first_line: line, truths: false, rounded: None }
    }

    fn len(&self) -> usize {
        match &self.cells {
            Cells::Numbers(values, _) => values.len(),
            Cells::Words(cells) | Cells::Mixed { cells, .. } => cells.len(),
            Cells::Vectors { count, .. } => *count,
        }
    }

    /// About how many bytes it holds.
    fn bytes(&self) -> usize {
        match &self.cells {
            Cells::Numbers(values, _) | Cells::Vectors { values, .. } => values.len() * size_of::<f64>(),
            Cells::Words(cells) | Cells::Mixed { cells, .. } => cells.bytes(),
        }
    }

    /// Fills up with missing cells; blocks cannot have any.
    fn pad(&mut self, rows: usize) -> bool {
        match &mut self.cells {
            Cells::Numbers(values, _) => values.resize(rows, f64::NAN),
            Cells::Words(cells) | Cells::Mixed { cells, .. } => cells.pad(rows),
            Cells::Vectors { count, .. } => return *count == rows,
        }
        true
    }

    /// Puts a value into a row; the error is a finding.
    fn put(&mut self, row: usize, value: Value) -> Result<(), String> {
        if !self.pad(row) {
            return Err(self.gap());
        }
        let first_line = self.first_line;
        let value = match value {
            Value::Truth(number) => {
                self.truths = true;
                Value::Number(number)
            }
            value => value,
        };
        match (&mut self.cells, value) {
            (_, Value::Missing) => {}
            (Cells::Numbers(values, _), Value::Number(number) | Value::Truth(number)) => values.push(number),
            (Cells::Numbers(values, long), Value::Long(number, digits)) => {
                values.push(number);
                long.get_or_insert((number, digits));
            }
            (Cells::Words(cells) | Cells::Mixed { cells, .. }, Value::Text(text)) => cells.push(&text),
            (Cells::Mixed { cells, .. }, Value::Number(number) | Value::Truth(number)) => cells.push(&spelled(number)),
            (Cells::Mixed { cells, .. }, Value::Long(_, digits)) => cells.push(&digits),
            (Cells::Words(cells), value @ (Value::Number(_) | Value::Truth(_) | Value::Long(..))) => {
                match value {
                    Value::Long(_, digits) => cells.push(&digits),
                    Value::Number(number) | Value::Truth(number) => cells.push(&spelled(number)),
                    _ => {}
                }
                if !self.declared && cells.iter().any(|c| !c.is_empty()) {
                    self.cells = Cells::Mixed { cells: std::mem::take(cells), odd: row };
                }
            }
            (Cells::Numbers(values, _), Value::Text(text)) => {
                let spell = |v: &f64| if v.is_nan() { String::new() } else { spelled(*v) };
                let mut cells: Words = values.iter().map(spell).collect();
                cells.push(&text);
                self.cells = Cells::Mixed { cells, odd: row };
            }
            (Cells::Vectors { values, width, count }, Value::Vector(vector, _)) => {
                if vector.len() != *width {
                    let got = vector.len();
                    return Err(format!("the array has {got} numbers, but on line {first_line} it has {width}"));
                }
                values.extend(vector);
                *count += 1;
            }
            (Cells::Vectors { .. }, _) => return Err(format!("no array, but line {first_line} has one")),
            (_, Value::Vector(..)) => return Err(format!("an array, but line {first_line} has none")),
        }
        Ok(())
    }

    fn gap(&self) -> String {
        format!("no array, but line {} has one; write it on every line", self.first_line)
    }
}

/// Reads the objects of a text, whether these stand on lines or in an array.
pub(super) fn read(source: &Source, options: &ReadOptions) -> Result<Table, DataError> {
    let mut columns: Vec<(String, Column)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let (mut objects, mut text) = (Objects::new(source)?, Vec::new());
    let (mut lines, mut growth) = (Lines::default(), Growth::default());
    let mut empty: Vec<String> = Vec::new();
    while let Some(line) = objects.next(&mut text)? {
        let row = lines.count();
        let read: Result<Object, _> = serde_json::from_slice(&text);
        let Object(pairs) = read.map_err(|e| source.bad(Some(line + e.line().max(1) - 1), None, finding(&e, row)))?;
        for (key, value) in pairs {
            let place = match places.get(&key) {
                Some(&place) => place,
                // a key without a value does not tell what its column is
                None if matches!(value, Value::Missing) => {
                    if empty.len() < MAX_EMPTY_KEYS && !empty.contains(&key) {
                        empty.push(key);
                    }
                    continue;
                }
                None if row > 0 && matches!(value, Value::Vector(..)) => {
                    let finding = "an array, but the lines before have none; write it on every line";
                    return Err(source.bad(Some(line), Some(&key), finding));
                }
                None => {
                    let column = Column::new(&value, options.verbatim || options.has_words(&key), line);
                    places.insert(key.clone(), columns.len());
                    columns.push((key.clone(), column));
                    columns.len() - 1
                }
            };
            let column = &mut columns[place].1;
            if column.len() > row {
                return Err(source.bad(Some(line), Some(&key), "the key comes twice; rename one of them"));
            }
            if let Value::Vector(_, Some((value, digits))) = &value
                && column.rounded.is_none()
            {
                column.rounded = Some((line, *value, digits.clone()));
            }
            column.put(row, value).map_err(|finding| source.bad(Some(line), Some(&key), finding))?;
        }
        // of an array the elements count: many may stand on one line
        lines.note(if objects.are_an_array() { row + 1 } else { line });
        let held = columns.iter().map(|(_, column)| column.bytes()).sum();
        growth.to(held, "its table").map_err(|e| source.too_large(e))?;
        if columns.len().saturating_mul(row + 1) > objects.bytes().saturating_mul(MAX_CELLS_PER_BYTE) {
            let finding =
                format!("{} columns in {} lines, nearly all missing; keys are columns", columns.len(), row + 1);
            return Err(source.bad(Some(line), None, finding));
        }
    }
    empty.retain(|key| !places.contains_key(key));
    let notes = notes(source, &columns, &empty);
    let format = if objects.are_an_array() { JSON.name } else { JSONL.name };
    Ok(Table { format, notes, ..table(source, columns, lines)? })
}

/// What was not taken as it is.
fn notes(source: &Source, columns: &[(String, Column)], empty: &[String]) -> Vec<String> {
    let file = source.name();
    let mut notes = Vec::new();
    if !empty.is_empty() {
        let keys: Vec<String> = empty.iter().map(|key| format!("\"{key}\"")).collect();
        notes.push(format!("{file}: {} has no value on any line, and is left out", keys.join(", ")));
    }
    for (name, column) in columns {
        if column.truths {
            notes.push(format!("{file}: true and false in column \"{name}\" are read as the numbers 1 and 0; write them as strings to keep the words"));
        }
        if let Some((line, value, digits)) = &column.rounded {
            notes.push(format!(
                "{file} line {line}, column \"{name}\": {digits} is read as the number {value}, so that its last digits are lost; write it as a string in a key of its own"
            ));
        }
    }
    notes
}

fn table(source: &Source, columns: Vec<(String, Column)>, lines: Lines) -> Result<Table, DataError> {
    let len = lines.count();
    if len == 0 || columns.is_empty() {
        return Err(DataError::Empty { place: source.name().to_owned() });
    }
    let (first_line, lines) = lines.finish();
    let mut table = Table {
        file: source.name().to_owned(),
        format: JSONL.name,
        len,
        fields: Vec::with_capacity(columns.len()),
        target: None,
        first_line,
        lines,
        named: true,
        notes: Vec::new(),
    };
    for (name, mut column) in columns {
        let filled = column.len();
        if !column.pad(len) {
            return Err(source.bad(Some(table.line(filled)), Some(&name), column.gap()));
        }
        let data = match column.cells {
            Cells::Numbers(values, long) => FieldData::Numbers { values, spellings: long.into_iter().collect() },
            Cells::Words(words) => FieldData::Words(words),
            Cells::Mixed { cells, odd } => FieldData::Mixed { cells, odd },
            Cells::Vectors { values, width, count } => match Rows::new(values, count, width) {
                Some(rows) => FieldData::Matrix(rows),
                None => return Err(source.bad(None, Some(&name), "the arrays have not one length")),
            },
        };
        table.fields.push(Field { name, data });
    }
    table.target = usual_target(&table.fields);
    Ok(table)
}

/// The parser's words about an object, without the line.
fn finding(error: &serde_json::Error, row: usize) -> String {
    let words = error.to_string();
    let words = without_place(&words);
    match error.classify() {
        serde_json::error::Category::Data if row == 0 && words.contains(NESTED) => {
            format!("{words} (pandas writes such tables with to_json(orient=\"records\"))")
        }
        serde_json::error::Category::Data => words.to_owned(),
        serde_json::error::Category::Eof => {
            format!("the object does not end on its line ({words}); write each on one line")
        }
        _ => format!("this is no JSON ({words}, column {})", error.column()),
    }
}

fn without_place(words: &str) -> &str {
    words.split(" at line ").next().unwrap_or(words)
}

#[cfg(test)]
mod tests {
    use super::super::{ReadOptions, read_bytes};
    use super::*;

    fn table_of(text: &str) -> Table {
        read_bytes("a.jsonl", text.as_bytes(), &ReadOptions::default()).unwrap()
    }

    fn error_of(text: &str) -> String {
        read_bytes("a.jsonl", text.as_bytes(), &ReadOptions::default()).unwrap_err().to_string()
    }

    #[test]
    fn keys_of_all_lines_are_columns() {
        let table = table_of(
            "{\"b\": 1, \"s\": \"u\", \"v\": [1, 2.5]}\n\n{\"a\": true, \"v\": [null, 4], \"b\": null, \"new\": null}\n",
        );
        let names: Vec<&str> = table.fields.iter().map(|f| f.name.as_str()).collect();
        assert_eq!((names, table.len, table.target), (vec!["b", "s", "v", "a"], 2, Some(3)));
        assert!(matches!(&table.fields[0].data, FieldData::Numbers { values, .. } if values[1].is_nan()));
        assert!(matches!(&table.fields[1].data, FieldData::Words(w) if w == ["u", ""]));
        assert!(matches!(&table.fields[2].data, FieldData::Matrix(r) if r.width() == 2 && r.values()[2].is_nan()));
        assert!(matches!(&table.fields[3].data, FieldData::Numbers { values, .. } if values[1] == 1.0));
        assert_eq!(table.place(1, 0).line, Some(3));
        assert_eq!(table_of("{\"y\": 1, \"x\": 2}\n").target, Some(0));
        let mixed = table_of("{\"a\": 1}\n{\"a\": \"x\"}\n");
        assert!(matches!(&mixed.fields[0].data, FieldData::Mixed { cells, odd: 1 } if cells == ["1", "x"]));
    }

    #[test]
    fn mistakes_are_named_with_line_and_key() {
        let nested = error_of("{\"a\": 1}\n{\"a\": {\"b\": 2}}\n");
        assert_eq!(nested, "a.jsonl line 2: \"a\": objects are nested; write their values as columns of their own");
        assert!(error_of("{\"a\": [[1]]}\n").contains("arrays are nested"));
        assert!(error_of("{\"a\": [\"x\"]}\n").contains("the array has a string"));
        assert!(error_of("{\"a\": []}\n").contains("empty"));
        assert!(
            error_of("{\"a\": [1, 2]}\n{\"a\": [1]}\n")
                .contains("line 2, column \"a\": the array has 1 numbers, but on line 1")
        );
        assert!(error_of("{\"a\": [1, 2]}\n{\"b\": 1}\n").contains("line 2, column \"a\": no array"));
        assert!(error_of("{\"b\": 1}\n{\"a\": [1, 2]}\n").contains("line 2, column \"a\": an array"));
        assert!(error_of("{\"a\": 1,\n\"b\": 2}\n").contains("line 1: the object does not end on its line"));
        assert!(error_of("[1, 2]\n").contains("line 1: invalid type: sequence, expected an object"));
        assert!(error_of("{\"a\": 1, \"a\": 2}\n").contains("the key comes twice"));
        assert!(error_of("{\"a\": 1e999}\n").contains("line 1: \"a\": number out of range"));
        assert!(matches!(read_bytes("a.jsonl", b"{}\n", &ReadOptions::default()), Err(DataError::Empty { .. })));
    }

    #[test]
    fn a_new_key_on_every_line_is_no_table() {
        let lines: Vec<String> = (0..5000).map(|k| format!("{{\"k{k}\": 1}}")).collect();
        let text = lines.join("\n");
        assert!(error_of(&text).contains("nearly all missing"));
    }
}
