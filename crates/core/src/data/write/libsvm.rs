//! LIBSVM text: the target first, then `index:value` for what is not zero.

use super::super::{DataError, FieldData, Table};
use super::{WriterEntry, features, number, number32, refuse_words, width};
use std::io::{self, Write};

/// The format.
pub(super) static LIBSVM: WriterEntry = WriterEntry {
    name: "libsvm",
    extensions: &["svm", "libsvm", "svmlight"],
    holds_target: true,
    keeps_spelling: false,
    labels_are_numbers: true,
    check,
    write,
};

const GAP: &str = "the entry is missing, and what LIBSVM leaves out is zero; fill it in, or use --encode with --missing mean or --missing drop";

fn check(table: &Table) -> Result<(), DataError> {
    refuse_words(table, "LIBSVM")?;
    let bad =
        |row, field, finding: &str| Err(DataError::Bad { place: table.place(row, field), finding: finding.to_owned() });
    for (k, field) in features(table) {
        let gap = match &field.data {
            FieldData::Numbers { values, .. } => values.iter().position(|v| v.is_nan()),
            FieldData::Matrix(rows) => rows.values().iter().position(|v| v.is_nan()).map(|at| at / rows.width()),
            FieldData::Matrix32(rows) => rows.values().iter().position(|v| v.is_nan()).map(|at| at / rows.width()),
            _ => None,
        };
        if let Some(row) = gap {
            return bad(row, k, GAP);
        }
    }
    let Some(target) = table.target else { return Ok(()) };
    let gap = "the label is missing; give it, or leave the line out";
    match &table.fields[target].data {
        FieldData::Numbers { values, .. } => match values.iter().position(|v| v.is_nan()) {
            Some(row) => bad(row, target, gap),
            None => Ok(()),
        },
        FieldData::Words(cells) | FieldData::Mixed { cells, .. } => {
            let odd = |c: &str| c.contains(|c: char| c.is_whitespace() || matches!(c, ':' | ',' | '#'));
            if let Some(row) = cells.iter().position(str::is_empty) {
                return bad(row, target, gap);
            }
            match cells.iter().position(odd) {
                Some(row) => bad(row, target, "a label of LIBSVM has no blanks and none of : , #; rename it"),
                None => Ok(()),
            }
        }
        _ => bad(0, target, "LIBSVM has one label for each line, and this is a block of columns"),
    }
}

fn write(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    let columns: usize = features(table).map(|(_, f)| width(f)).sum();
    for row in 0..table.len {
        let mut begun = false;
        if let Some(target) = table.target {
            begun = true;
            match &table.fields[target].data {
                FieldData::Numbers { values, .. } => number(out, values[row])?,
                FieldData::Words(cells) | FieldData::Mixed { cells, .. } => out.write_all(cells[row].as_bytes())?,
                _ => {}
            }
        }
        let (mut before, mut last) = (0, 0);
        let mut index = |out: &mut dyn Write, index: usize| {
            last = index;
            let blank = if std::mem::replace(&mut begun, true) { " " } else { "" };
            write!(out, "{blank}{index}:")
        };
        for (_, field) in features(table) {
            match &field.data {
                FieldData::Numbers { values, .. } => {
                    if values[row] != 0.0 {
                        index(out, before + 1)?;
                        number(out, values[row])?;
                    }
                }
                FieldData::Matrix(rows) => {
                    for (k, &value) in rows.row(row).iter().enumerate().filter(|(_, v)| **v != 0.0) {
                        index(out, before + k + 1)?;
                        number(out, value)?;
                    }
                }
                FieldData::Matrix32(rows) => {
                    for (k, &value) in rows.row(row).iter().enumerate().filter(|(_, v)| **v != 0.0) {
                        index(out, before + k + 1)?;
                        number32(out, value)?;
                    }
                }
                FieldData::Sparse(rows) => {
                    for c in rows.row(row) {
                        index(out, before + c.index as usize + 1)?;
                        number(out, c.value)?;
                    }
                }
                FieldData::Words(_) | FieldData::Mixed { .. } => {}
            }
            before += width(field);
        }
        // the first line names the last column, so that as many are read again; and no line may be empty
        if (row == 0 && last < columns) || !begun {
            let blank = if begun { " " } else { "" };
            write!(out, "{blank}{columns}:0")?;
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}
