//! NumPy's NPY: the features as one matrix, without the target.

use super::super::{DataError, FieldData, Table};
use super::{WriterEntry, features, refuse_wide, refuse_words, width};
use std::io::{self, Write};

/// The format.
pub(super) static NPY: WriterEntry = WriterEntry {
    name: "npy",
    extensions: &["npy"],
    holds_target: false,
    keeps_spelling: false,
    labels_are_numbers: false,
    check,
    write,
};

fn check(table: &Table) -> Result<(), DataError> {
    if features(table).next().is_none() {
        let finding = format!("{} has no column besides the target; use --target none", table.file);
        return Err(DataError::Unfit { finding });
    }
    refuse_words(table, "NPY")?;
    refuse_wide(table)
}

fn write(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    let columns: usize = features(table).map(|(_, f)| width(f)).sum();
    let narrow = features(table).all(|(_, f)| matches!(f.data, FieldData::Matrix32(_)));
    out.write_all(&npy_header(table.len, columns, if narrow { "<f4" } else { "<f8" }))?;
    let mut line: Vec<f64> = Vec::with_capacity(columns);
    let mut bytes: Vec<u8> = Vec::with_capacity(columns * 8);
    for row in 0..table.len {
        line.clear();
        bytes.clear();
        for (_, field) in features(table) {
            match &field.data {
                FieldData::Numbers { values, .. } => line.push(values[row]),
                FieldData::Matrix(rows) => line.extend(rows.row(row)),
                FieldData::Matrix32(rows) => line.extend(rows.row(row).iter().map(|&v| f64::from(v))),
                FieldData::Sparse(rows) => {
                    let start = line.len();
                    line.resize(start + rows.width(), 0.0);
                    rows.row(row).iter().for_each(|c| line[start + c.index as usize] = c.value);
                }
                FieldData::Words(_) | FieldData::Mixed { .. } => {}
            }
        }
        if narrow {
            line.iter().for_each(|&v| bytes.extend((v as f32).to_le_bytes()));
        } else {
            line.iter().for_each(|v| bytes.extend(v.to_le_bytes()));
        }
        out.write_all(&bytes)?;
    }
    Ok(())
}

/// The header of a matrix, version 1.0, padded to a multiple of 64 bytes. `kind` is `<f4` or `<f8`.
pub fn npy_header(rows: usize, columns: usize, kind: &str) -> Vec<u8> {
    let mut dictionary = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    while (10 + dictionary.len() + 1) % 64 != 0 {
        dictionary.push(' ');
    }
    dictionary.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((dictionary.len() as u16).to_le_bytes());
    bytes.extend(dictionary.into_bytes());
    bytes
}

/// Writes a matrix of f64, given row by row.
pub fn write_npy(out: &mut dyn Write, values: &[f64], columns: usize) -> io::Result<()> {
    out.write_all(&npy_header(values.len() / columns.max(1), columns, "<f8"))?;
    for row in values.chunks(columns.max(1)) {
        let bytes: Vec<u8> = row.iter().flat_map(|v| v.to_le_bytes()).collect();
        out.write_all(&bytes)?;
    }
    out.flush()
}
