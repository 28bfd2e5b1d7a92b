//! Parquet and Arrow IPC: files of typed columns, read where the features `parquet` and `arrow` are built in.
//!
//! Numbers and booleans (1 and 0) are columns of numbers, strings and dictionaries of strings columns of words, lists of
//! numbers of one length blocks of columns; null is a missing entry. Rows are counted from one. Nothing is allocated on
//! the word of a footer: rows and blocks are held against the size of the file first.

use super::super::{DataError, Table};
use super::{FormatEntry, ReadOptions, Source};

/// Parquet.
pub(super) static PARQUET: FormatEntry = FormatEntry {
    name: "parquet",
    summary: "Parquet: columns of numbers, strings and lists of numbers (built with --features parquet)",
    extensions: &["parquet", "pq"],
    sniff: |head| head.starts_with(b"PAR1"),
    names_target: false,
    main_column: None,
    lines: false,
    read: read_parquet,
};

/// Arrow's files.
pub(super) static ARROW: FormatEntry = FormatEntry {
    name: "arrow",
    summary: "Arrow IPC or Feather, not compressed (built with --features arrow)",
    extensions: &["arrow", "feather", "ipc"],
    sniff: |head| head.starts_with(b"ARROW1"),
    names_target: false,
    main_column: None,
    lines: false,
    read: read_arrow,
};

#[cfg(not(feature = "parquet"))]
fn read_parquet(source: &Source, _: &ReadOptions) -> Result<Table, DataError> {
    Err(left_out(source, "parquet"))
}

#[cfg(not(feature = "arrow"))]
fn read_arrow(source: &Source, _: &ReadOptions) -> Result<Table, DataError> {
    Err(left_out(source, "arrow"))
}

#[cfg(not(all(feature = "arrow", feature = "parquet")))]
fn left_out(source: &Source, feature: &str) -> DataError {
    let finding = format!(
        "{feature} is not built into this program; build it with `cargo build --release --features {feature}`, or convert the file to CSV"
    );
    source.bad(None, None, finding)
}

#[cfg(feature = "parquet")]
fn read_parquet(source: &Source, options: &ReadOptions) -> Result<Table, DataError> {
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    let most = source.most_bytes().saturating_mul(super::open::MAX_COMPRESSION_RATIO);
    let damaged =
        |e: &dyn std::fmt::Display| source.bad(None, None, format!("the file cannot be read as Parquet ({e})"));
    guarded(source, || {
        let builder = ParquetRecordBatchReaderBuilder::try_new(source.file()?).map_err(|e| damaged(&e))?;
        let about = builder.metadata().file_metadata();
        let rows = u64::try_from(about.num_rows()).unwrap_or(u64::MAX);
        let columns = about.schema_descr().num_columns() as u64;
        if rows.saturating_mul(columns).saturating_mul(8) > most {
            return Err(damaged(&format!("it claims {rows} rows of {columns} columns, more than it can hold")));
        }
        let mut table = batches::Batches::new(source, PARQUET.name, options, rows);
        for batch in builder.build().map_err(|e| damaged(&e))? {
            table.push(&batch.map_err(|e| damaged(&e))?)?;
        }
        table.finish()
    })
}

#[cfg(feature = "arrow")]
fn read_arrow(source: &Source, options: &ReadOptions) -> Result<Table, DataError> {
    let damaged = |e: &dyn std::fmt::Display| {
        source.bad(None, None, format!("the file cannot be read as Arrow IPC ({e}); it must not be compressed inside"))
    };
    guarded(source, || {
        let mut file = source.file()?;
        check_blocks(&mut file, source.most_bytes()).map_err(|e| damaged(&e))?;
        let reader = arrow_ipc::reader::FileReader::try_new(file, None).map_err(|e| damaged(&e))?;
        // a row takes a bit at least
        let mut table = batches::Batches::new(source, ARROW.name, options, source.most_bytes().saturating_mul(8));
        for batch in reader {
            table.push(&batch.map_err(|e| damaged(&e))?)?;
        }
        table.finish()
    })
}

/// Holds the blocks that the footer names against the size of the file.
#[cfg(feature = "arrow")]
fn check_blocks(file: &mut std::fs::File, size: u64) -> Result<(), String> {
    use std::io::{Read, Seek, SeekFrom};
    let short = |e: std::io::Error| format!("it ends early: {e}");
    let mut end = [0; 10];
    file.seek(SeekFrom::End(-10)).map_err(short)?;
    file.read_exact(&mut end).map_err(short)?;
    let length = u64::from(u32::from_le_bytes([end[0], end[1], end[2], end[3]]));
    if &end[4..] != b"ARROW1" || length + 10 > size {
        return Err("it has no footer".to_owned());
    }
    file.seek(SeekFrom::End(-10 - length as i64)).map_err(short)?;
    let mut footer = vec![0; length as usize];
    file.read_exact(&mut footer).map_err(short)?;
    file.rewind().map_err(short)?;
    let footer = arrow_ipc::root_as_footer(&footer).map_err(|e| e.to_string())?;
    let blocks = footer.recordBatches().into_iter().flatten().chain(footer.dictionaries().into_iter().flatten());
    for block in blocks {
        let parts = [block.offset(), i64::from(block.metaDataLength()), block.bodyLength()];
        let total: Option<u64> = parts.iter().try_fold(0_u64, |sum, &p| sum.checked_add(u64::try_from(p).ok()?));
        if total.is_none_or(|end| end > size) {
            return Err("a block lies outside the file".to_owned());
        }
    }
    Ok(())
}

/// The decoders of others may panic on damaged files; here that is an error like any other.
#[cfg(feature = "arrow")]
fn guarded(source: &Source, read: impl FnOnce() -> Result<Table, DataError>) -> Result<Table, DataError> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(source.bad(None, None, "the file is damaged; fetch it again")))
}

#[cfg(feature = "arrow")]
mod batches;
