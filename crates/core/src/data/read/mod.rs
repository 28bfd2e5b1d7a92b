//! Readers: from a file to a raw [`Table`].
//!
//! Each format is one entry of [`FORMATS`]: what it is called, which extensions it has, how its content looks and how
//! it is read. The extension decides, `.gz` and `.zst` left out; without a known one the content does.

mod array;
#[cfg(test)]
mod bars;
mod blocks;
mod column;
mod columns;
mod csv;
mod delimiter;
mod encoding;
mod facts;
mod header;
mod idx;
mod json;
mod jsonl;
mod libsvm;
mod lines;
mod npy;
mod npz;
mod number;
mod open;
mod opening;
mod plain;
mod record;
mod remarks;
mod scipy;
mod sequences;
mod zstd;

pub(crate) use encoding::ends_in_returns;
pub use open::Source;
pub(super) use opening::SAMPLE_ROWS;

use super::schema::rejoined;
use super::{DataError, Field, FieldData, Layout, Table};
use std::path::{Path, PathBuf};

/// A file format.
#[derive(Debug)]
pub struct FormatEntry {
    /// Its name in options.
    pub name: &'static str,
    /// One line of help.
    pub summary: &'static str,
    /// Extensions in lower case, without point.
    pub extensions: &'static [&'static str],
    /// True if content that begins so is of this format.
    pub sniff: fn(&[u8]) -> bool,
    /// True if the format itself names the target, whatever the columns are called.
    pub names_target: bool,
    /// The column that is learned from where all others are annotations; `None` where columns are alike.
    pub main_column: Option<&'static str>,
    /// True if an example is one or more whole lines of text.
    pub lines: bool,
    /// Reads a file.
    pub read: fn(&Source, &ReadOptions) -> Result<Table, DataError>,
}

/// All formats, those with the clearest marks first.
pub static FORMATS: &[&FormatEntry] = &[
    &npz::NPZ,
    &npy::NPY,
    &idx::IDX,
    &jsonl::JSONL,
    &json::JSON,
    &columns::PARQUET,
    &columns::ARROW,
    &sequences::FASTA,
    &sequences::FASTQ,
    &libsvm::LIBSVM,
    #[cfg(test)]
    &bars::FORMAT,
    &csv::CSV,
];

/// The format of a name.
pub fn find(name: &str) -> Option<&'static FormatEntry> {
    FORMATS.iter().find(|f| f.name == name).copied()
}

/// Options of a reader: the user's statements about a file.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The name of its format; `None`: told from extension and content.
    pub format: Option<String>,
    /// True if its first line names the columns; `None`: inferred from the content.
    pub header: Option<bool>,
    /// Names of which a header has some, where they are known: a first line without any of them is taken for a header only if it has words
    /// above numbers. `None`: nothing is known.
    pub names: Option<Vec<String>>,
    /// The delimiter of its cells, a blank for runs of blanks; `None`: inferred from the content.
    pub delimiter: Option<u8>,
    /// A second file with the labels, one column.
    pub labels: Option<PathBuf>,
    /// Columns kept as text even if they look like numbers: names, or numbers from one (negative: from the end).
    pub words: Vec<String>,
    /// Columns of delimited text that are kept as text with marks of missing entries such as NA or ? as they are spelled; only an empty
    /// cell is missing.
    pub spelled: Vec<String>,
    /// The columns of the training file, where a file is read for a model: in a file without names their places tell which are words.
    pub layout: Option<Layout>,
    /// True: every cell of delimited text stays as it is spelled, marks of missing entries among them, and every column is one of words.
    /// Numbers of JSON lines keep all their digits as words.
    pub verbatim: bool,
}

impl ReadOptions {
    /// True if a column of that name is kept as text.
    fn has_words(&self, name: &str) -> bool {
        rejoined(&self.words, &[name]).iter().any(|word| word == name)
    }
}

/// True for a word that readers take for a missing entry where nobody says otherwise.
pub fn is_missing_mark(cell: &str) -> bool {
    !cell.is_empty() && number::classify(cell.as_bytes()) == number::Cell::Missing
}

/// Cells as the column that a reader of text makes of them, where they are numbers or missing.
pub(super) fn column_of<'a>(cells: impl Iterator<Item = &'a str>) -> FieldData {
    let mut column = column::Column::new(false, false);
    cells.for_each(|cell| column.push(cell));
    column.finish()
}

/// Reads a file of any format.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Table, DataError> {
    let mut table = read_one(path, options)?;
    if let Some(labels) = &options.labels {
        add_labels(&mut table, labels, options)?;
    }
    Ok(table)
}

/// Reads bytes as if they were a file of that name.
#[doc(hidden)]
pub fn read_bytes(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<Table, DataError> {
    read_source(&Source::held(name, bytes)?, options)
}

fn read_one(path: &Path, options: &ReadOptions) -> Result<Table, DataError> {
    read_source(&Source::open(path)?, options)
}

/// Refuses what is compressed in a way that is not read, by name.
fn refuse_other_packings(source: &Source) -> Result<(), DataError> {
    let (name, unpack) = match source.head(6)?.as_slice() {
        [0xfd, b'7', b'z', b'X', b'Z', 0] => ("xz", "unxz"),
        [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41] => ("bzip2", "bunzip2"),
        _ => return Ok(()),
    };
    let finding = format!("it is compressed by {name}, and gzip and Zstandard are read; unpack it with {unpack}");
    Err(source.bad(None, None, finding))
}

fn read_source(source: &Source, options: &ReadOptions) -> Result<Table, DataError> {
    refuse_other_packings(source)?;
    let format = choose(source, options);
    // what is no text in UTF-8, in lines, is said before a reader stumbles over it
    if format.as_ref().map_or(options.format.is_none(), |format| format.lines) {
        encoding::check(source)?;
    }
    (format?.read)(source, options)
}

fn choose(source: &Source, options: &ReadOptions) -> Result<&'static FormatEntry, DataError> {
    if let Some(name) = &options.format {
        return find(name).ok_or_else(|| {
            let names: Vec<&str> = FORMATS.iter().map(|f| f.name).collect();
            let remedy = format!("formats are {}", names.join(", "));
            DataError::NoSuch { what: "format", name: name.clone(), remedy }
        });
    }
    let extension = source.extension();
    if let Some(format) = FORMATS.iter().find(|f| f.extensions.contains(&extension.as_str())) {
        return Ok(format);
    }
    let head = source.head(4096)?;
    FORMATS.iter().find(|f| (f.sniff)(&head)).copied().ok_or_else(|| {
        source.bad(None, None, "the format is not known from extension or content; name it with --format")
    })
}

/// Usual names of a target column.
const TARGETS: [&str; 4] = ["y", "label", "target", "class"];

/// True for a name that targets usually have.
pub(super) fn is_usual_target(name: &str) -> bool {
    TARGETS.contains(&name)
}

/// The target of a format with names that says nothing about it: a column of a usual name, else the last single one.
fn usual_target(fields: &[Field]) -> Option<usize> {
    let named = TARGETS.iter().find_map(|t| fields.iter().position(|f| f.name == *t));
    let single =
        |f: &Field| matches!(f.data, FieldData::Numbers { .. } | FieldData::Words(_) | FieldData::Mixed { .. });
    named.or_else(|| fields.iter().rposition(single))
}

/// The name of the labels of a second file.
const LABELS: &str = "y";

/// Appends the only column of a label file as field `y`, the target.
fn add_labels(table: &mut Table, path: &Path, options: &ReadOptions) -> Result<(), DataError> {
    // what is said about y is said about the only column of the other file
    let only = |said: &[String]| if said.iter().any(|name| name == LABELS) { vec!["1".to_owned()] } else { Vec::new() };
    let plain = ReadOptions { words: only(&options.words), spelled: only(&options.spelled), ..ReadOptions::default() };
    let mut labels = read_one(path, &plain)?;
    if labels.named && labels.len + 1 == table.len {
        // a first label that never comes again looks like a name, but the data count it
        labels = read_one(path, &ReadOptions { header: Some(false), ..plain })?;
    } else if labels.len == table.len + 1 && (begins_with_a_name(&labels) || begins_with_a_number(&labels, table)) {
        labels = read_one(path, &ReadOptions { header: Some(true), ..plain })?;
    }
    let found = labels.fields.len();
    let data = match labels.fields.pop().map(|f| npz::as_column(f.data)) {
        Some(data @ (FieldData::Numbers { .. } | FieldData::Words(_) | FieldData::Mixed { .. })) if found == 1 => data,
        _ => {
            let finding = format!("{} has more than one column; a label file has one", labels.file);
            return Err(DataError::Usage { finding });
        }
    };
    if labels.len != table.len {
        let (what, other) = (labels.file, table.file.clone());
        return Err(DataError::Lengths { what, got: labels.len, other, wanted: table.len });
    }
    if table.fields.iter().any(|f| f.name == LABELS) {
        let finding = format!("{} already has a column y; leave the label file out, or rename the column", table.file);
        return Err(DataError::Usage { finding });
    }
    table.target = Some(table.fields.len());
    table.fields.push(Field { name: LABELS.to_owned(), data });
    Ok(())
}

/// True for labels without a name whose first never comes again.
fn begins_with_a_name(labels: &Table) -> bool {
    match labels.fields.as_slice() {
        [Field { data: FieldData::Words(words), .. }] if !labels.named && labels.format == csv::CSV.name => {
            words.iter().next().is_some_and(|first| words.count(first) == 1)
        }
        _ => false,
    }
}

/// True for labels that begin with 0, as other programs name a column without a name, where those of the data are counted likewise.
fn begins_with_a_number(labels: &Table, table: &Table) -> bool {
    let counted = || table.named && table.fields.iter().all(|field| field.name.parse::<u64>().is_ok());
    match labels.fields.as_slice() {
        [Field { data: FieldData::Numbers { values, .. }, .. }] => {
            !labels.named && labels.format == csv::CSV.name && values.first() == Some(&0.0) && counted()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extension_then_content_choose_the_format() {
        let format = |name: &str, bytes: &[u8]| read_bytes(name, bytes, &ReadOptions::default()).unwrap().format;
        assert_eq!(format("a.csv", b"1 2:3\n"), "csv");
        assert_eq!(format("a.SVM.gz", b"1 2:3\n"), "libsvm");
        assert_eq!(format("a.t", b"1 2:3\n"), "libsvm");
        assert_eq!(format("a.data", b"1,2\n"), "csv");
        assert_eq!(format("a-idx1-ubyte", &[0, 0, 8, 1, 0, 0, 0, 1, 7]), "idx");
        let error = read_bytes("a.bin", b"\x00\x01\x02", &ReadOptions::default()).unwrap_err().to_string();
        assert!(error.contains("--format"), "{error}");
        let options = ReadOptions { format: Some("libsvm".to_owned()), ..ReadOptions::default() };
        assert_eq!(read_bytes("a.csv", b"1 2:3\n", &options).unwrap().format, "libsvm");
        let options = ReadOptions { format: Some("xls".to_owned()), ..ReadOptions::default() };
        assert!(read_bytes("a.csv", b"1\n", &options).unwrap_err().to_string().contains("formats are npz"));
    }

    #[test]
    fn labels_come_from_a_second_file() {
        let folder = tempfile::tempdir().unwrap();
        let (data, labels) = (folder.path().join("images"), folder.path().join("labels"));
        std::fs::write(&data, [0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 1, 5, 6]).unwrap();
        let options = ReadOptions { labels: Some(labels.clone()), ..ReadOptions::default() };
        std::fs::write(&labels, [0, 0, 8, 1, 0, 0, 0, 2, 3, 4]).unwrap();
        let table = read(&data, &options).unwrap();
        assert_eq!((table.target, table.fields[1].name.as_str()), (Some(1), "y"));
        assert!(matches!(&table.fields[1].data, FieldData::Numbers { values, .. } if values == &[3.0, 4.0]));
        std::fs::write(&labels, "one\ntwo\none\n").unwrap();
        assert!(matches!(read(&data, &options), Err(DataError::Lengths { got: 3, wanted: 2, .. })));
        std::fs::write(&labels, "one\ntwo\n").unwrap();
        assert_eq!(read(&data, &options).unwrap().len, 2);
        std::fs::write(&labels, "name\none\ntwo\n").unwrap();
        assert_eq!(read(&data, &options).unwrap().len, 2);
        std::fs::write(&labels, "kind of animal\none\ntwo\n").unwrap();
        assert_eq!(read(&data, &options).unwrap().len, 2);
        std::fs::write(&labels, "1,2\n3,4\n").unwrap();
        assert!(read(&data, &options).unwrap_err().to_string().contains("more than one column"));
    }
}
