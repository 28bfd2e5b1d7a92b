//! Raw tables: what a reader found in a file, before anyone decided what it means.

use super::{DataError, Place, Rows, SparseRows, Words};
use std::borrow::Cow;
use std::collections::HashMap;

/// The fields of a file, all of one length.
#[derive(Clone, Debug)]
pub struct Table {
    /// File name as the user gave it, for errors.
    pub file: String,
    /// The name of the format, as in the list of formats.
    pub format: &'static str,
    /// The number of examples.
    pub len: usize,
    /// The fields in file order.
    pub fields: Vec<Field>,
    /// The place of the field that the format itself says is the target (first token of LIBSVM, `y` of NPZ,
    /// last column of CSV); `None` if it says nothing.
    pub target: Option<usize>,
    /// The line of the file on which the first example stands; lines of examples follow each other unless `lines`
    /// says otherwise.
    pub first_line: usize,
    /// The line of each example where blank lines or cells of several lines stand between them.
    pub lines: Option<Vec<u32>>,
    /// True if the file itself named its columns.
    pub named: bool,
    /// What the reader guessed or left out, in sentences for the user.
    pub notes: Vec<String>,
}

/// One column, or one block of columns.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name; `x` for the block of a format without names, numbers ("1", "2", …) for CSV without header.
    pub name: String,
    /// Its contents.
    pub data: FieldData,
}

/// Contents of a field.
#[derive(Clone, Debug)]
pub enum FieldData {
    /// A column of numbers; NaN marks a missing entry. `spellings` are the first texts of distinct values, as many
    /// as are needed to print labels as they were written; behind them stand further texts of a value that look like other
    /// labels, such as 01 besides 1.
    Numbers {
        /// The numbers.
        values: Vec<f64>,
        /// Value and first spelling.
        spellings: Vec<(f64, String)>,
    },
    /// A column of words; the empty word marks a missing entry.
    Words(Words),
    /// A column in which numbers and words are mixed: an error unless it is declared categorical or text. `odd` is the
    /// first example that differs in kind from the first.
    Mixed {
        /// The cells as text.
        cells: Words,
        /// The first odd one.
        odd: usize,
    },
    /// A block of dense columns.
    Matrix(Rows<f64>),
    /// A block of dense columns in f32.
    Matrix32(Rows<f32>),
    /// Sparse vectors.
    Sparse(SparseRows<f64>),
}

impl Table {
    /// The place of a field by name, or by number counted from one when no name fits (negative: from the end).
    pub fn find(&self, name: &str) -> Result<usize, DataError> {
        if let Some(found) = self.fields.iter().position(|f| f.name == name) {
            return Ok(found);
        }
        let count = self.fields.len() as i64;
        match name.parse::<i64>() {
            Ok(k) if k >= 1 && k <= count => Ok((k - 1) as usize),
            Ok(k) if k < 0 && -k <= count => Ok((count + k) as usize),
            _ => {
                let names: Vec<&str> = self.fields.iter().map(|f| f.name.as_str()).collect();
                let remedy = match crate::params::nearest(name, names.iter().copied()) {
                    Some(close) => format!("did you mean \"{close}\"?"),
                    None if names.len() <= 12 => format!("{} has {}", self.file, names.join(", ")),
                    None => {
                        format!("{} has {} columns, {} to {}", self.file, names.len(), names[0], names[names.len() - 1])
                    }
                };
                Err(DataError::NoSuch { what: "column", name: name.to_owned(), remedy })
            }
        }
    }

    /// The examples at some places, in that order.
    #[must_use]
    pub fn select(&self, keep: &[usize]) -> Self {
        let words = |all: &Words| keep.iter().map(|&i| &all[i]).collect::<Words>();
        let data = |field: &FieldData| match field {
            FieldData::Numbers { values, spellings } => {
                let values = keep.iter().map(|&i| values[i]).collect();
                FieldData::Numbers { values, spellings: spellings.clone() }
            }
            FieldData::Words(all) => FieldData::Words(words(all)),
            FieldData::Mixed { cells, .. } => FieldData::Mixed { cells: words(cells), odd: 0 },
            FieldData::Matrix(rows) => FieldData::Matrix(rows.select(keep)),
            FieldData::Matrix32(rows) => FieldData::Matrix32(rows.select(keep)),
            FieldData::Sparse(rows) => FieldData::Sparse(rows.select(keep)),
        };
        let field = |field: &Field| Field { name: field.name.clone(), data: data(&field.data) };
        let line = |&i: &usize| u32::try_from(self.line(i)).unwrap_or(u32::MAX);
        Self {
            file: self.file.clone(),
            len: keep.len(),
            fields: self.fields.iter().map(field).collect(),
            lines: Some(keep.iter().map(line).collect()),
            notes: self.notes.clone(),
            ..*self
        }
    }

    /// A number for each example, equal where a column has equal cells.
    ///
    /// # Errors
    /// If there is no such column, or it is a block of columns.
    pub fn codes(&self, name: &str) -> Result<Vec<u32>, DataError> {
        let field = &self.fields[self.find(name)?];
        let cells: Vec<Cow<'_, str>> = match &field.data {
            FieldData::Numbers { values, .. } => values.iter().map(|v| Cow::Owned(v.to_string())).collect(),
            FieldData::Words(cells) | FieldData::Mixed { cells, .. } => cells.iter().map(Cow::Borrowed).collect(),
            FieldData::Matrix(_) | FieldData::Matrix32(_) | FieldData::Sparse(_) => {
                let finding = format!("\"{}\" is a block of columns, not one column", field.name);
                return Err(DataError::Usage { finding });
            }
        };
        let mut known: HashMap<Cow<'_, str>, u32> = HashMap::new();
        let code = |cell| {
            let next = known.len() as u32;
            *known.entry(cell).or_insert(next)
        };
        Ok(cells.into_iter().map(code).collect())
    }

    /// The line (or data row) of an example, from one.
    pub fn line(&self, example: usize) -> usize {
        match self.lines.as_ref().and_then(|lines| lines.get(example)) {
            Some(&line) => line as usize,
            None => self.first_line + example,
        }
    }

    /// The place of an example in a field, for errors.
    pub fn place(&self, example: usize, field: usize) -> Place {
        Place { file: self.file.clone(), line: Some(self.line(example)), column: Some(self.fields[field].name.clone()) }
    }
}
