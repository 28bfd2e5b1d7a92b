//! Taking single fields out of a table: as numbers, as words, as a target.

use super::super::{DataError, Field, FieldData, Rows, Table, Target};
use super::options::usage;
use std::borrow::Cow;

/// A field that is a block of columns rather than one column.
pub(super) fn is_block(field: &Field) -> bool {
    matches!(field.data, FieldData::Matrix(_) | FieldData::Matrix32(_) | FieldData::Sparse(_))
}

/// A column of numbers; NaN where missing. Words in it are errors with their place.
pub(super) fn numbers(table: &Table, field: usize) -> Result<&[f64], DataError> {
    match &table.fields[field].data {
        FieldData::Numbers { values, .. } => Ok(values),
        FieldData::Words(words) => {
            let row = words.iter().position(|w| !w.is_empty()).unwrap_or(0);
            Err(not_a_number(table, field, row, words.get(row).map_or("", String::as_str)))
        }
        FieldData::Mixed { cells, odd } => {
            let is_number = |row: usize| cells[row].parse::<f64>().is_ok();
            // the odd cell, unless it is the number among words
            let row = if is_number(*odd) { (0..*odd).find(|&r| !cells[r].is_empty() && !is_number(r)) } else { Some(*odd) };
            let row = row.unwrap_or(*odd);
            Err(not_a_number(table, field, row, &cells[row]))
        }
        _ => Err(usage(format!("\"{}\" is a block of columns, not one column", table.fields[field].name))),
    }
}

/// A column as words; the empty word where missing. Numbers are spelled as they were written, as far as known.
pub(super) fn words(table: &Table, field: usize) -> Result<Cow<'_, [String]>, DataError> {
    match &table.fields[field].data {
        FieldData::Words(cells) | FieldData::Mixed { cells, .. } => Ok(Cow::Borrowed(cells)),
        FieldData::Numbers { values, spellings } => {
            let spell = |v: &f64| {
                let known = spellings.iter().find(|(s, _)| s == v);
                if v.is_nan() { String::new() } else { known.map_or_else(|| v.to_string(), |(_, text)| text.clone()) }
            };
            Ok(Cow::Owned(values.iter().map(spell).collect()))
        }
        _ => Err(usage(format!("\"{}\" is a block of columns and cannot be words", table.fields[field].name))),
    }
}

fn not_a_number(table: &Table, field: usize, row: usize, cell: &str) -> DataError {
    let name = &table.fields[field].name;
    let finding = format!("\"{cell}\" is not a number; clean the cell, or use --categorical {name}");
    DataError::Bad { place: table.place(row, field), finding }
}

/// The error for a missing entry.
pub(super) fn missing(table: &Table, field: usize, row: usize, remedy: &str) -> DataError {
    DataError::Bad { place: table.place(row, field), finding: format!("the entry is missing; {remedy}") }
}

/// The first example whose entry is missing. Empty texts count only in columns of words.
pub(super) fn missing_rows(field: &Field) -> Vec<usize> {
    fn blanks<S: Copy>(values: &[S], width: usize, is_nan: impl Fn(S) -> bool) -> Vec<usize> {
        if width == 0 {
            return Vec::new();
        }
        values.chunks(width).enumerate().filter(|(_, row)| row.iter().any(|&v| is_nan(v))).map(|(i, _)| i).collect()
    }
    match &field.data {
        FieldData::Numbers { values, .. } => blanks(values, 1, f64::is_nan),
        FieldData::Words(cells) | FieldData::Mixed { cells, .. } => {
            cells.iter().enumerate().filter(|(_, c)| c.is_empty()).map(|(i, _)| i).collect()
        }
        FieldData::Matrix(rows) => blanks(rows.values(), rows.width(), f64::is_nan),
        FieldData::Matrix32(rows) => blanks(rows.values(), rows.width(), f32::is_nan),
        FieldData::Sparse(_) => Vec::new(),
    }
}

/// The target of some fields, all rows.
pub(super) fn target(table: &Table, fields: &[usize], declared: &[usize]) -> Result<Option<Target>, DataError> {
    let mut whole: Option<Target> = None;
    for &field in fields {
        let name = &table.fields[field].name;
        let columns = match &table.fields[field].data {
            FieldData::Numbers { values, spellings } => {
                vec![Target::from_numbers(name, values.clone()).spelled(spellings.iter().map(|(v, s)| (*v, s)))]
            }
            FieldData::Words(cells) => vec![Target::from_text(name, cells)],
            FieldData::Mixed { cells, .. } if declared.contains(&field) => vec![Target::from_text(name, cells)],
            FieldData::Matrix(rows) => split(name, rows),
            FieldData::Matrix32(rows) => split(name, &rows.convert()),
            FieldData::Mixed { .. } => return Err(numbers(table, field).err().unwrap_or(DataError::NoTarget)),
            FieldData::Sparse(_) => return Err(usage(format!("sparse vectors (\"{name}\") cannot be the target"))),
        };
        for column in columns {
            whole = Some(match whole {
                Some(left) => left.beside(column)?,
                None => column,
            });
        }
    }
    Ok(whole)
}

fn split(name: &str, rows: &Rows<f64>) -> Vec<Target> {
    let column = |j: usize| (0..rows.len()).map(|i| rows.row(i)[j]).collect();
    (0..rows.width()).map(|j| Target::from_numbers(&format!("{name}[{}]", j + 1), column(j))).collect()
}
