//! Writers: from a raw [`Table`] to a file.
//!
//! Each format is one entry of [`WRITERS`]. What a format cannot hold is refused before anything is written, with the
//! place and a way out; a file is written whole or not at all.

mod csv;
mod libsvm;
mod npy;
mod rows;

pub use npy::{npy_header, write_npy};
pub use rows::{stands_in_lines, write_rows};

use super::read::FORMATS;
use super::{DataError, Field, FieldData, Table};
use std::io::{self, Write};
use std::path::Path;

/// A format that can be written.
#[derive(Debug)]
pub struct WriterEntry {
    /// Its name in options, as in the list of formats.
    pub name: &'static str,
    /// Extensions in lower case, without point.
    pub extensions: &'static [&'static str],
    /// True if the target is written, too.
    pub holds_target: bool,
    /// True if cells are written as they are spelled, where a table was read so.
    pub keeps_spelling: bool,
    /// True if other programs that read the format take numbers only for labels.
    pub labels_are_numbers: bool,
    /// Refuses what the format cannot hold.
    pub check: fn(&Table) -> Result<(), DataError>,
    /// Writes a table that has been checked.
    pub write: fn(&Table, &mut dyn Write) -> io::Result<()>,
}

/// All formats that can be written.
pub static WRITERS: &[&WriterEntry] = &[&csv::CSV, &csv::TSV, &libsvm::LIBSVM, &npy::NPY];

/// Largest number of cells that sparse vectors are spread out to.
const MAX_CELLS: u64 = 1 << 31;

/// The writer for a file: by name, else by its extension, `.gz` left out.
pub fn choose(path: &Path, name: Option<&str>) -> Result<&'static WriterEntry, DataError> {
    let names = || WRITERS.iter().map(|w| w.name).collect::<Vec<_>>().join(", ");
    if let Some(name) = name {
        let found = WRITERS.iter().find(|w| w.name == name).copied();
        return found.ok_or_else(|| DataError::NoSuch {
            what: "format to write",
            name: name.to_owned(),
            remedy: format!("formats are {}", names()),
        });
    }
    let file = path.file_name().map(|n| n.to_string_lossy().to_lowercase()).unwrap_or_default();
    let stem = file.strip_suffix(".gz").unwrap_or(&file);
    let extension = stem.rsplit_once('.').map_or("", |(_, end)| end);
    if let Some(writer) = WRITERS.iter().find(|w| w.extensions.contains(&extension)) {
        return Ok(writer);
    }
    let shown = path.display();
    let finding = match FORMATS.iter().find(|f| f.extensions.contains(&extension)) {
        Some(format) => {
            let ends: Vec<String> =
                WRITERS.iter().filter_map(|w| w.extensions.first()).map(|e| format!(".{e}")).collect();
            format!("{shown}: {} is read and not written; end the name in one of {}", format.name, ends.join(", "))
        }
        None if ["zst", "zstd"].contains(&extension) => {
            format!("{shown}: Zstandard is read and not written; end the name in .gz, or do not compress the file")
        }
        None => format!("{shown}: the name does not tell the format; use --to with one of {}", names()),
    };
    Err(DataError::Usage { finding })
}

/// Writes a table; in gzip if the name ends in `.gz`.
pub fn write(path: &Path, table: &Table, writer: &WriterEntry) -> Result<(), DataError> {
    (writer.check)(table)?;
    as_named(path, |out| (writer.write)(table, out))
        .map_err(|e| DataError::Io { file: crate::write::shown(path), reason: crate::write::words(&e) })
}

/// Writes a file, in gzip if its name ends in `.gz`.
///
/// # Errors
/// If the file cannot be written.
pub fn as_named(path: &Path, mut print: impl FnMut(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let packed = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("gz"));
    crate::write::streamed(path, |out| {
        if !packed {
            return print(out);
        }
        let mut gzip = flate2::write::GzEncoder::new(out, flate2::Compression::default());
        print(&mut gzip)?;
        gzip.finish().map(drop)
    })
}

/// The fields besides the target.
fn features(table: &Table) -> impl Iterator<Item = (usize, &Field)> {
    table.fields.iter().enumerate().filter(|(k, _)| Some(*k) != table.target)
}

/// The number of columns of a field.
fn width(field: &Field) -> usize {
    match &field.data {
        FieldData::Numbers { .. } | FieldData::Words(_) | FieldData::Mixed { .. } => 1,
        FieldData::Matrix(rows) => rows.width(),
        FieldData::Matrix32(rows) => rows.width(),
        FieldData::Sparse(rows) => rows.width(),
    }
}

/// Refuses features that are words.
fn refuse_words(table: &Table, format: &str) -> Result<(), DataError> {
    for (k, field) in features(table) {
        if let FieldData::Words(cells) | FieldData::Mixed { cells, .. } = &field.data {
            let row = cells.iter().position(|c| c.parse::<f64>().is_err()).unwrap_or(0);
            let shown: String = cells.get(row).map(|c| c.chars().take(40).collect()).unwrap_or_default();
            let finding = format!("\"{shown}\" is a word, and {format} holds numbers; use --encode for one-hot codes");
            return Err(DataError::Bad { place: table.place(row, k), finding });
        }
    }
    Ok(())
}

/// Refuses tables that would be spread out to too many cells.
fn refuse_wide(table: &Table) -> Result<(), DataError> {
    let columns: u64 = table.fields.iter().map(|f| width(f) as u64).sum();
    if columns.saturating_mul(table.len as u64) > MAX_CELLS {
        let finding = format!(
            "{}: {} examples of {columns} columns are too many cells to write out with their zeros; write LIBSVM instead",
            table.file, table.len
        );
        return Err(DataError::Unfit { finding });
    }
    Ok(())
}

/// Writes a number so that reading it gives the same bits.
fn number(out: &mut dyn Write, value: f64) -> io::Result<()> {
    let size = value.abs();
    if size != 0.0 && !(1e-5..1e16).contains(&size) { write!(out, "{value:e}") } else { write!(out, "{value}") }
}

/// The same for f32.
fn number32(out: &mut dyn Write, value: f32) -> io::Result<()> {
    let size = value.abs();
    if size != 0.0 && !(1e-5..1e16).contains(&size) { write!(out, "{value:e}") } else { write!(out, "{value}") }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
