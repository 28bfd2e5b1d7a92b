//! Delimited text: features first, the target last; names where the table has them.

use super::super::read::{ReadOptions, SAMPLE_ROWS, read_bytes};
use super::super::{DataError, Field, FieldData, Table};
use super::{WriterEntry, features, number, number32, refuse_wide, width};
use std::io::{self, Write};

/// Separated by commas.
pub(super) static CSV: WriterEntry = WriterEntry {
    name: "csv",
    extensions: &["csv"],
    holds_target: true,
    keeps_spelling: true,
    labels_are_numbers: false,
    check,
    write: |table, out| write(table, out, b','),
};

/// Separated by tabs.
pub(super) static TSV: WriterEntry = WriterEntry {
    name: "tsv",
    extensions: &["tsv", "tab"],
    holds_target: true,
    keeps_spelling: true,
    labels_are_numbers: false,
    check: check_tabs,
    write: |table, out| write(table, out, b'\t'),
};

fn check(table: &Table) -> Result<(), DataError> {
    refuse_wide(table)
}

/// Quotes are text in such files, so a cell cannot run over lines.
fn check_tabs(table: &Table) -> Result<(), DataError> {
    for (k, field) in table.fields.iter().enumerate() {
        if let FieldData::Words(cells) | FieldData::Mixed { cells, .. } = &field.data
            && let Some(row) = cells.iter().position(|c| c.contains(['\n', '\r']))
        {
            let finding = "the text has a line end, which TSV cannot hold; write CSV instead".to_owned();
            return Err(DataError::Bad { place: table.place(row, k), finding });
        }
    }
    check(table)
}

fn write(table: &Table, out: &mut dyn Write, delimiter: u8) -> io::Result<()> {
    let target = table.target.map(|t| &table.fields[t]);
    let fields: Vec<&Field> = features(table).map(|(_, f)| f).chain(target).collect();
    if table.named || taken_for_names(&fields, table.len, delimiter) {
        let mut first = true;
        for field in &fields {
            let block =
                !matches!(field.data, FieldData::Numbers { .. } | FieldData::Words(_) | FieldData::Mixed { .. });
            for k in 1..=width(field) {
                between(out, &mut first, delimiter)?;
                let name = if block {
                    format!("{}[{k}]", field.name)
                } else if table.named {
                    field.name.clone()
                } else {
                    // a number is nobody's name
                    format!("column{}", field.name)
                };
                out.write_all(cell(&name, delimiter).as_bytes())?;
            }
        }
        out.write_all(b"\n")?;
    }
    write_rows(out, &fields, table.len, delimiter)
}

/// Writes the first rows.
fn write_rows(out: &mut dyn Write, fields: &[&Field], rows: usize, delimiter: u8) -> io::Result<()> {
    // a line of nothing would be no line
    let missing: &[u8] = if fields.iter().map(|f| width(f)).sum::<usize>() == 1 { b"NA" } else { b"" };
    for row in 0..rows {
        let mut first = true;
        for field in fields {
            write_row(out, field, row, delimiter, &mut first, missing)?;
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// True if a reader would take the first example for the names of the columns.
fn taken_for_names(fields: &[&Field], rows: usize, delimiter: u8) -> bool {
    let text = |rows: usize| -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        write_rows(&mut text, fields, rows, delimiter)?;
        Ok(text)
    };
    let is_named = |rows: usize| {
        let options =
            ReadOptions { delimiter: Some(delimiter), format: Some(CSV.name.to_owned()), ..ReadOptions::default() };
        text(rows).is_ok_and(|text| read_bytes("rows", &text, &options).is_ok_and(|table| table.named))
    };
    let is_number = |field: &&&Field| !matches!(field.data, FieldData::Words(_) | FieldData::Mixed { .. });
    // a reader decides on words alone at the end, and on all else after some rows
    let few = rows.min(SAMPLE_ROWS + 1);
    match fields.iter().filter(is_number).count() {
        0 => is_named(rows),
        all if all == fields.len() => false,
        _ => is_named(few),
    }
}

fn write_row(
    out: &mut dyn Write,
    field: &Field,
    row: usize,
    delimiter: u8,
    first: &mut bool,
    missing: &[u8],
) -> io::Result<()> {
    let mut wide = |out: &mut dyn Write, value: f64| {
        between(out, first, delimiter)?;
        if value.is_nan() { out.write_all(missing) } else { number(out, value) }
    };
    match &field.data {
        FieldData::Numbers { values, .. } => wide(out, values[row]),
        FieldData::Matrix(rows) => rows.row(row).iter().try_for_each(|&v| wide(out, v)),
        FieldData::Sparse(rows) => {
            let mut stored = rows.row(row).iter().peekable();
            (0..rows.width()).try_for_each(|k| {
                let value = stored.next_if(|c| c.index as usize == k).map_or(0.0, |c| c.value);
                wide(out, value)
            })
        }
        FieldData::Matrix32(rows) => rows.row(row).iter().try_for_each(|&v| {
            between(out, first, delimiter)?;
            if v.is_nan() { out.write_all(missing) } else { number32(out, v) }
        }),
        FieldData::Words(cells) | FieldData::Mixed { cells, .. } => {
            between(out, first, delimiter)?;
            if cells[row].is_empty() {
                out.write_all(missing)
            } else {
                out.write_all(cell(&cells[row], delimiter).as_bytes())
            }
        }
    }
}

fn between(out: &mut dyn Write, first: &mut bool, delimiter: u8) -> io::Result<()> {
    if std::mem::replace(first, false) { Ok(()) } else { out.write_all(&[delimiter]) }
}

/// A cell, in quotes where it needs them.
fn cell(text: &str, delimiter: u8) -> String {
    let odd = |c: char| c == char::from(delimiter) || matches!(c, '"' | '\n' | '\r' | '#');
    if text.contains(odd) || text.trim() != text {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
