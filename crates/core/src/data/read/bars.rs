//! Cells between bars: a format for tests, with a mark in its first line and names in its second.

use super::super::{DataError, Field, FieldData, Table};
use super::{FormatEntry, ReadOptions, Source};
use std::io::Read;

/// The format.
pub(super) static FORMAT: FormatEntry = FormatEntry {
    name: "bars",
    summary: "words between bars, below a line of names",
    extensions: &["bars"],
    sniff: |head| head.starts_with(b"%bars"),
    names_target: false,
    main_column: None,
    lines: true,
    read,
};

fn read(source: &Source, _: &ReadOptions) -> Result<Table, DataError> {
    let mut text = String::new();
    source
        .reader()?
        .read_to_string(&mut text)
        .map_err(|_| source.bad(None, None, "it is no text; convert the file"))?;
    let mut lines = text.lines().skip(1).map(|line| line.split('|').collect::<Vec<_>>());
    let names = lines.next().unwrap_or_default();
    let rows: Vec<Vec<&str>> = lines.collect();
    if let Some(i) = rows.iter().position(|row| row.len() != names.len()) {
        return Err(source.bad(
            Some(i + 3),
            None,
            format!("{} cells, where {} have names", rows[i].len(), names.len()),
        ));
    }
    let column = |k: usize| FieldData::Words(rows.iter().map(|row| row[k]).collect());
    let fields: Vec<Field> =
        names.iter().enumerate().map(|(k, name)| Field { name: (*name).to_owned(), data: column(k) }).collect();
    Ok(Table {
        file: source.name().to_owned(),
        format: FORMAT.name,
        len: rows.len(),
        target: fields.len().checked_sub(1),
        fields,
        first_line: 3,
        lines: None,
        named: true,
        notes: Vec::new(),
    })
}
