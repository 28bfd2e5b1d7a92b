//! From fields to vectors: one-hot codes, stand-ins for missing entries, blocks in the form the model knows.

use super::super::{DataError, FieldData, Kind, Place, Rows, Scalar, SparseRows, Table, Values, places_of_labels};
use super::options::usage;
use super::strangers::Strangers;
use super::take::{missing, numbers, words};
use super::{Code, ColumnSchema};
use crate::memory::{check, filled};
use crate::parallel;
use std::collections::HashMap;

/// Rows that are filled at a time.
const TILE: usize = 32;
/// Smallest number of entries that several threads fill.
const MIN_ENTRIES_FOR_THREADS: usize = 1 << 18;

/// Dense vectors made of columns; `fields` are the places of the columns in this table. Missing entries without a stand-in
/// are an error with its remedy, or stay as NaN where there is none.
pub(super) fn columns(
    table: &Table,
    columns: &[ColumnSchema],
    fields: &[usize],
    remedy: Option<&str>,
    strangers: &mut Strangers,
) -> Result<Rows<f64>, DataError> {
    let width: usize = columns.iter().map(|c| c.code.width()).sum();
    let mut values = filled(0.0, table.len.saturating_mul(width), "the table of all columns").map_err(|e| {
        let widest = columns.iter().max_by_key(|c| c.code.width());
        match widest.filter(|c| c.code.width() > 1) {
            Some(c) => e.remedy(format!(
                "column {} alone has {} categories; leave it out, or raise --memory",
                c.field.name,
                c.code.width()
            )),
            None => e.remedy("raise --memory, or take fewer columns or examples"),
        }
    })?;
    let (mut start, mut single) = (0, Vec::new());
    for (column, &field) in columns.iter().zip(fields) {
        match &column.code {
            Code::Number { fill, .. } => {
                let numbers = numbers(table, field, "")?;
                if let (None, Some(remedy)) = (fill, remedy)
                    && let Some(row) = numbers.iter().position(|v| v.is_nan())
                {
                    return Err(missing(table, field, row, remedy));
                }
                single.push((start, numbers, fill.unwrap_or(f64::NAN)));
            }
            Code::Categories { words: known, fill } => {
                for (row, place) in places_of(table, field, known, *fill, remedy, strangers)?.into_iter().enumerate() {
                    let own = &mut values[row * width + start..row * width + start + known.len()];
                    match place {
                        Category::Known(place) => own[place] = 1.0,
                        Category::Missing => own.fill(f64::NAN),
                        // none of the known ones: all its coordinates stay zero
                        Category::Unseen => {}
                    }
                }
            }
        }
        start += column.code.width();
    }
    // few rows at a time, which stay in the cache while column after column is written
    let tile = |(k, rows): (usize, &mut [f64])| {
        for (place, numbers, fill) in &single {
            for (row, &v) in rows.chunks_exact_mut(width).zip(&numbers[k * TILE..]) {
                row[*place] = if v.is_nan() { *fill } else { v };
            }
        }
    };
    if values.len() < MIN_ENTRIES_FOR_THREADS {
        values.chunks_mut(TILE * width.max(1)).enumerate().for_each(tile);
    } else {
        parallel::strips(&mut values, TILE * width.max(1), |i, rows| tile((i, rows)));
    }
    Ok(Rows::new(values, table.len, width).unwrap_or_else(|| unreachable!("len × width values were made")))
}

/// The category of an example.
pub(super) enum Category {
    /// Its place among the known ones.
    Known(usize),
    /// A missing entry that stays so.
    Missing,
    /// A category that training has not seen.
    Unseen,
}

/// The categories of all examples.
pub(super) fn places_of(
    table: &Table,
    field: usize,
    known: &[String],
    fill: Option<usize>,
    remedy: Option<&str>,
    strangers: &mut Strangers,
) -> Result<Vec<Category>, DataError> {
    let places: HashMap<&str, usize> = known.iter().enumerate().map(|(k, w)| (w.as_str(), k)).collect();
    let fill = fill.filter(|&f| f < known.len());
    let place = |(row, word): (usize, &str)| match (places.get(word), fill, remedy) {
        (Some(&place), ..) if !word.is_empty() => Ok(Category::Known(place)),
        (None, ..) if !word.is_empty() => {
            strangers.meet(table, field, row, word, known)?;
            Ok(Category::Unseen)
        }
        (_, Some(place), _) => Ok(Category::Known(place)),
        (_, None, Some(remedy)) => Err(missing(table, field, row, remedy)),
        (_, None, None) => Ok(Category::Missing),
    };
    let words = words(table, field)?;
    if matches!(table.fields[field].data, FieldData::Numbers { .. }) {
        // the spelling of a number is lost where it was no text: it is the category of the same value
        let cells: Vec<&str> = words.iter().collect();
        let found = places_of_labels(known, &cells);
        let spelled =
            |(cell, found): (&'_ str, Option<usize>)| found.map_or(cell, |place| known[place].as_str()).to_owned();
        let cells: Vec<String> = cells.into_iter().zip(found).map(spelled).collect();
        return cells.iter().map(String::as_str).enumerate().map(place).collect();
    }
    words.iter().enumerate().map(place).collect()
}

/// Columns of numbers side by side; NaN where missing.
pub(super) fn gathered(table: &Table, fields: &[usize]) -> Result<Rows<f64>, DataError> {
    let mut values = filled(0.0, table.len.saturating_mul(fields.len()), "the table of all columns")?;
    for (j, &field) in fields.iter().enumerate() {
        for (row, &v) in numbers(table, field, "")?.iter().enumerate() {
            values[row * fields.len() + j] = v;
        }
    }
    Ok(Rows::new(values, table.len, fields.len()).unwrap_or_else(|| unreachable!("len × width values were made")))
}

/// A block as dense vectors of a given width.
pub(super) fn dense_block(table: &Table, field: usize, width: usize) -> Result<Rows<f64>, DataError> {
    let rows = match &table.fields[field].data {
        FieldData::Matrix(rows) => rows.clone(),
        FieldData::Matrix32(rows) => rows.convert(),
        // trailing zeros of sparse vectors are not written; a wider vector is refused before memory is taken
        FieldData::Sparse(rows) if rows.width() <= width => {
            let mut rows = rows.clone();
            check(rows.len().saturating_mul(width).saturating_mul(8), "the dense form of sparse vectors")?;
            rows.widen(width);
            rows.to_dense()
        }
        FieldData::Sparse(rows) => return Err(wrong_width(table, rows.width(), width)),
        _ => gathered(table, &[field])?,
    };
    if rows.width() != width {
        return Err(wrong_width(table, rows.width(), width));
    }
    Ok(rows)
}

/// A block as sparse vectors; they may be wider than the model's.
pub(super) fn sparse_block(table: &Table, field: usize, width: usize) -> Result<SparseRows<f64>, DataError> {
    let mut rows = match &table.fields[field].data {
        FieldData::Sparse(rows) => rows.clone(),
        FieldData::Matrix(rows) if rows.width() != width => return Err(wrong_width(table, rows.width(), width)),
        FieldData::Matrix32(rows) if rows.width() != width => return Err(wrong_width(table, rows.width(), width)),
        _ => SparseRows::from_dense(&dense_block(table, field, width)?),
    };
    rows.widen(width);
    Ok(rows)
}

/// The error for vectors of another width than the model's.
pub(super) fn wrong_width(table: &Table, got: usize, wanted: usize) -> DataError {
    usage_in(table, &format!("has vectors of {got} coordinates, but the model was trained on {wanted}"))
}

/// An error about a table as a whole.
pub(super) fn usage_in(table: &Table, finding: &str) -> DataError {
    DataError::Bad {
        place: Place { file: table.file.clone(), ..Place::default() },
        finding: format!("the file {finding}"),
    }
}

/// Replaces missing entries of vectors, or names the first one with its remedy; without a remedy they stay.
pub(super) fn fill_block<S: Scalar>(
    rows: &mut Rows<S>,
    fill: Option<&[f64]>,
    table: &Table,
    name: &str,
    remedy: Option<&str>,
) -> Result<(), DataError> {
    let width = rows.width().max(1);
    for (at, v) in rows.values_mut().iter_mut().enumerate() {
        if v.wide().is_nan() {
            let Some(&fill) = fill.and_then(|fill| fill.get(at % width)) else {
                let Some(remedy) = remedy else { continue };
                let column = Some(format!("{name}[{}]", at % width + 1));
                let place = Place { file: table.file.clone(), line: Some(table.line(at / width)), column };
                return Err(DataError::Bad { place, finding: format!("the entry is missing; {remedy}") });
            };
            *v = S::narrow(fill);
        }
    }
    Ok(())
}

/// The mean of each coordinate over the entries that are there.
pub(super) fn block_means<S: Scalar>(rows: &Rows<S>, name: &str) -> Result<Vec<f64>, DataError> {
    let (mut sums, mut counts) = (vec![0.0; rows.width()], vec![0_usize; rows.width()]);
    for i in 0..rows.len() {
        for (j, v) in rows.row(i).iter().enumerate().filter(|(_, v)| !v.wide().is_nan()) {
            sums[j] += v.wide();
            counts[j] += 1;
        }
    }
    match counts.iter().position(|&c| c == 0) {
        Some(j) => Err(usage(format!("every entry of {name}[{}] is missing; leave that column out", j + 1))),
        None => Ok(sums.iter().zip(&counts).map(|(s, &c)| s / c as f64).collect()),
    }
}

/// Divides each sparse vector by its length; zero vectors stay.
pub(super) fn unit_sparse(rows: &mut SparseRows<f64>) {
    let starts = rows.starts().to_vec();
    for pair in starts.windows(2) {
        let row = &mut rows.coordinates_mut()[pair[0]..pair[1]];
        let length = row.iter().map(|c| c.value * c.value).sum::<f64>().sqrt();
        if length > 0.0 {
            for c in row {
                c.value /= length;
            }
        }
    }
}

/// The cells of a column as examples of a kind; one that is none is an error with its place.
pub(super) fn cells(table: &Table, field: usize, kind: Kind) -> Result<Values, DataError> {
    let words = words(table, field)?;
    let cells: Vec<&str> = words.iter().collect();
    let Some(parse) = kind.entry().parse else {
        return Err(usage(format!("{kind} are made of several columns, not of \"{}\"", table.fields[field].name)));
    };
    parse(&cells).map_err(|bad| DataError::Bad { place: table.place(bad.example, field), finding: bad.finding })
}
