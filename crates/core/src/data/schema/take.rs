//! Taking single fields out of a table: as numbers, as words, as a target.

use super::super::read::is_missing_mark;
use super::super::{DataError, Field, FieldData, Place, Rows, Table, Target, Words};
use super::marks::is_usual_mark;
use super::options::usage;
use std::borrow::Cow;
use std::collections::HashMap;

/// Largest number of characters of a cell that an error shows.
const MAX_SHOWN_CHARACTERS: usize = 40;

/// A field that is a block of columns rather than one column.
pub(super) fn is_block(field: &Field) -> bool {
    matches!(field.data, FieldData::Matrix(_) | FieldData::Matrix32(_) | FieldData::Sparse(_))
}

/// A column of numbers; NaN where missing. Words in it are errors with their place and what else would help.
pub(super) fn numbers<'a>(table: &'a Table, field: usize, remedy: &str) -> Result<Cow<'a, [f64]>, DataError> {
    match &table.fields[field].data {
        FieldData::Numbers { values, .. } => Ok(Cow::Borrowed(values)),
        FieldData::Words(cells) | FieldData::Mixed { cells, .. } => {
            // cells that were kept as text because their column was declared so may be numbers all the same
            let is_odd = |cell: &str| !is_mark(cell) && !is_number(cell);
            let odd =
                cells.iter().position(|c| is_odd(c) && !is_usual_mark(c)).or_else(|| cells.iter().position(is_odd));
            match odd {
                Some(row) => Err(not_a_number(table, field, row, &cells[row], remedy)),
                None => Ok(Cow::Owned(cells.iter().map(|c| c.parse().unwrap_or(f64::NAN)).collect())),
            }
        }
        _ => Err(usage(format!("\"{}\" is a block of columns, not one column", table.fields[field].name))),
    }
}

/// A column as words; the empty word where missing. Numbers are spelled as they were written, as far as known.
pub(super) fn words(table: &Table, field: usize) -> Result<Cow<'_, Words>, DataError> {
    match &table.fields[field].data {
        FieldData::Words(cells) | FieldData::Mixed { cells, .. } => Ok(Cow::Borrowed(cells)),
        FieldData::Numbers { values, spellings } => {
            // the first of several spellings is the label
            let known: HashMap<u64, &str> = spellings.iter().rev().map(|(v, s)| (v.to_bits(), s.as_str())).collect();
            let spell = |v: &f64| match known.get(&(v + 0.0).to_bits()) {
                _ if v.is_nan() => String::new(),
                Some(&text) => text.to_owned(),
                None => v.to_string(),
            };
            Ok(Cow::Owned(values.iter().map(spell).collect()))
        }
        _ => Err(usage(format!("\"{}\" is a block of columns and cannot be words", table.fields[field].name))),
    }
}

/// True if a cell reads as a finite number.
pub(super) fn is_number(cell: &str) -> bool {
    cell.parse::<f64>().is_ok_and(f64::is_finite)
}

/// True for a number that is written with a decimal comma, such as 1,5.
fn has_decimal_comma(cell: &str) -> bool {
    cell.split_once(',').is_some_and(|(whole, part)| {
        !part.is_empty()
            && part.bytes().all(|b| b.is_ascii_digit())
            && is_number(whole)
            && !whole.contains(['e', 'E', '.'])
    })
}

/// Refuses a column of words in which every entry is a number with a decimal comma, but for marks of missing entries: nobody means them to
/// be categories.
pub(super) fn refuse_decimal_commas(table: &Table, field: usize, cells: &Words) -> Result<(), DataError> {
    let present = || cells.iter().enumerate().filter(|(_, cell)| !is_mark(cell) && !is_usual_mark(cell));
    let Some((row, first)) = present().find(|(_, cell)| has_decimal_comma(cell)) else { return Ok(()) };
    if present().all(|(_, cell)| has_decimal_comma(cell) || is_number(cell)) {
        return Err(not_a_number(table, field, row, first, ""));
    }
    Ok(())
}

/// True for nothing, and for what every reader takes for a missing entry.
fn is_mark(cell: &str) -> bool {
    cell.is_empty() || is_missing_mark(cell)
}

fn not_a_number(table: &Table, field: usize, row: usize, cell: &str, remedy: &str) -> DataError {
    let mut shown: String = cell.chars().take(MAX_SHOWN_CHARACTERS).collect();
    if shown.len() < cell.len() {
        shown.push('…');
    }
    let finding = if has_decimal_comma(cell) && cell.len() - cell.find(',').unwrap_or(0) == 4 {
        format!(
            "\"{shown}\" has a comma, and numbers have none here; write {} if it is a decimal comma, and {} if it parts thousands",
            cell.replace(',', "."),
            cell.replace(',', "")
        )
    } else if has_decimal_comma(cell) {
        format!("\"{shown}\" has a decimal comma, and numbers have a point here; write {}", cell.replace(',', "."))
    } else {
        format!("\"{shown}\" is not a number; clean the cell{remedy}")
    };
    DataError::Bad { place: table.place(row, field), finding }
}

/// The error for a missing entry.
pub(super) fn missing(table: &Table, field: usize, row: usize, remedy: &str) -> DataError {
    DataError::Bad { place: table.place(row, field), finding: format!("the entry is missing; {remedy}") }
}

/// The examples whose entry is missing, in order.
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
            FieldData::Words(cells) => vec![Target::from_words(name, &cells.iter().collect::<Vec<_>>())],
            FieldData::Mixed { cells, .. } if declared.contains(&field) => {
                vec![Target::from_words(name, &cells.iter().collect::<Vec<_>>())]
            }
            FieldData::Matrix(rows) => split(name, rows),
            FieldData::Matrix32(rows) => split(name, &rows.convert()),
            FieldData::Mixed { cells, odd } => {
                let row = cells.iter().position(|c| !c.is_empty() && !is_number(c)).unwrap_or(*odd);
                return Err(not_a_number(table, field, row, &cells[row], ", or use a classifier"));
            }
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

/// The weights of examples, all rows: numbers that are not negative, not all zero.
pub(super) fn weights(table: &Table, field: usize) -> Result<Vec<f64>, DataError> {
    let values = numbers(table, field, "; weights are numbers ≥ 0")?;
    for (row, &weight) in values.iter().enumerate() {
        if weight.is_nan() {
            return Err(missing(table, field, row, "every example needs a weight, a number ≥ 0"));
        }
        if weight < 0.0 || weight.is_infinite() {
            let finding = format!("the weight {weight} is not a number ≥ 0");
            return Err(DataError::Bad { place: table.place(row, field), finding });
        }
    }
    if values.iter().all(|&w| w == 0.0) {
        let place = Place { file: table.file.clone(), line: None, column: Some(table.fields[field].name.clone()) };
        return Err(DataError::Bad { place, finding: "every weight is zero, so no example counts".to_owned() });
    }
    Ok(values.into_owned())
}

fn split(name: &str, rows: &Rows<f64>) -> Vec<Target> {
    let column = |j: usize| (0..rows.len()).map(|i| rows.row(i)[j]).collect();
    (0..rows.width()).map(|j| Target::from_numbers(&format!("{name}[{}]", j + 1), column(j))).collect()
}
