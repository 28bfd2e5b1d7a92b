//! Opening files: plain, gzip or Zstandard, told apart by their first bytes, so that a misnamed file still reads.
//!
//! A [`Source`] can be read more than once: content is sniffed before it is parsed, and a CSV column that turns out
//! to hold words is read again. Pipes cannot be read twice, so their bytes are kept. `-` is standard input.

use super::super::{DataError, Place};
use super::zstd::{self, Frames};
use crate::memory::{BudgetError, Growth};
use flate2::bufread::MultiGzDecoder;
use memchr::memchr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, IsTerminal, Read, Seek};
use std::path::{Path, PathBuf};

/// Bytes that can be read from any place.
pub(super) trait Seekable: Read + Seek + Send {}
impl<T: Read + Seek + Send> Seekable for T {}

/// Compressions of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    None,
    Gzip,
    Zstd,
}

/// Largest ratio of compression: deflate cannot shrink data by more than 1032 to 1, so a larger one is damaged or
/// hostile.
pub(super) const MAX_COMPRESSION_RATIO: u64 = 1040;

/// A readable file.
#[derive(Debug)]
pub struct Source {
    name: String,
    path: PathBuf,
    bytes: Bytes,
    packing: Packing,
}

#[derive(Debug)]
enum Bytes {
    OnDisk(u64),
    Held(Vec<u8>),
}

impl Source {
    /// Opens a file; an error if it does not exist, is a directory or has no bytes.
    pub fn open(path: &Path) -> Result<Self, DataError> {
        let name = path.display().to_string();
        if name == "-" {
            return Self::standard_input();
        }
        let mut file = File::open(path).map_err(|e| io_error(&name, &e))?;
        let about = file.metadata().map_err(|e| io_error(&name, &e))?;
        if about.is_dir() {
            return Err(DataError::Io { file: name, reason: "is a directory, not a data file".to_owned() });
        }
        let bytes = if about.is_file() {
            Bytes::OnDisk(about.len())
        } else {
            let mut held = Vec::new();
            file.read_to_end(&mut held).map_err(|e| io_error(&name, &e))?;
            Bytes::Held(held)
        };
        let mut source = Self { name, path: path.to_owned(), bytes, packing: Packing::None };
        if source.stored_len() == 0 {
            return Err(DataError::Empty { place: source.name });
        }
        source.packing = packing(&source.head(4)?);
        Ok(source)
    }

    /// All of standard input.
    fn standard_input() -> Result<Self, DataError> {
        let name = "standard input";
        let mut input = io::stdin().lock();
        if io::stdin().is_terminal() {
            let reason = "is a terminal; give the name of a file, or send data into this program".to_owned();
            return Err(DataError::Io { file: name.to_owned(), reason });
        }
        let mut held = Vec::new();
        input.read_to_end(&mut held).map_err(|e| io_error(name, &e))?;
        if held.is_empty() {
            return Err(DataError::Empty { place: name.to_owned() });
        }
        Self::held(name, held)
    }

    /// Bytes in memory under a name.
    pub(super) fn held(name: &str, bytes: impl Into<Vec<u8>>) -> Result<Self, DataError> {
        let (path, bytes) = (PathBuf::from(name), Bytes::Held(bytes.into()));
        let mut source = Self { name: name.to_owned(), path, bytes, packing: Packing::None };
        source.packing = packing(&source.head(4)?);
        Ok(source)
    }

    /// The file name as the user gave it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The extension in lower case, `.gz` and `.zst` left out.
    pub(super) fn extension(&self) -> String {
        let name = self.path.file_name().map(|n| n.to_string_lossy().to_lowercase()).unwrap_or_default();
        let stem = [".gz", ".zst", ".zstd"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
        stem.rsplit_once('.').map(|(_, end)| end.to_owned()).unwrap_or_default()
    }

    fn stored_len(&self) -> u64 {
        match &self.bytes {
            Bytes::OnDisk(len) => *len,
            Bytes::Held(bytes) => bytes.len() as u64,
        }
    }

    /// The number of bytes of its content, unless it is compressed.
    pub(super) fn plain_len(&self) -> Option<u64> {
        (self.packing == Packing::None).then(|| self.stored_len())
    }

    /// More bytes than this cannot come out of the file.
    pub(super) fn most_bytes(&self) -> u64 {
        match self.packing {
            Packing::None => self.stored_len(),
            Packing::Gzip | Packing::Zstd => self.stored_len().saturating_mul(MAX_COMPRESSION_RATIO),
        }
    }

    /// The stored bytes themselves, not decompressed.
    pub(super) fn stored(&self) -> Result<Box<dyn Seekable + '_>, DataError> {
        match &self.bytes {
            Bytes::OnDisk(_) => Ok(Box::new(BufReader::with_capacity(
                1 << 17,
                File::open(&self.path).map_err(|e| io_error(&self.name, &e))?,
            ))),
            Bytes::Held(bytes) => Ok(Box::new(Cursor::new(bytes.as_slice()))),
        }
    }

    /// The content for reading at any place; what is compressed comes into memory, as long as it does not swell.
    pub(super) fn seekable(&self) -> Result<Box<dyn Seekable + '_>, DataError> {
        if self.packing == Packing::None {
            return self.stored();
        }
        let most = self.stored_len().saturating_mul(16).saturating_add(1 << 20);
        crate::memory::check(most as usize, "its content").map_err(|e| self.too_large(e))?;
        let content = self.head(most + 1)?;
        if content.len() as u64 > most {
            return Err(self.bad(None, None, "it swells too much in decompressing; decompress it first"));
        }
        Ok(Box::new(Cursor::new(content)))
    }

    /// The file itself, which must not be compressed as a whole.
    #[cfg(feature = "arrow")]
    pub(super) fn file(&self) -> Result<File, DataError> {
        match (&self.bytes, self.packing) {
            (Bytes::OnDisk(_), Packing::None) => File::open(&self.path).map_err(|e| io_error(&self.name, &e)),
            _ => Err(self.bad(None, None, "it is compressed or a pipe; give a plain file")),
        }
    }

    /// The content from its beginning, decompressed where needed.
    pub(in crate::data) fn reader(&self) -> Result<Box<dyn BufRead + Send + '_>, DataError> {
        let stored = BufReader::with_capacity(1 << 16, self.stored()?);
        Ok(match self.packing {
            Packing::None => Box::new(stored),
            Packing::Gzip => Box::new(BufReader::with_capacity(1 << 17, MultiGzDecoder::new(stored))),
            Packing::Zstd => Box::new(BufReader::with_capacity(1 << 17, Frames::new(stored, self.stored_len()))),
        })
    }

    /// The first bytes of the content, at most `count`.
    pub(super) fn head(&self, count: u64) -> Result<Vec<u8>, DataError> {
        let mut head = Vec::new();
        self.reader()?.take(count).read_to_end(&mut head).map_err(|e| self.damaged(&e))?;
        Ok(head)
    }

    /// Appends a line with its end to a text, within the memory budget; how many bytes came.
    pub(super) fn line(
        &self,
        reader: &mut dyn BufRead,
        text: &mut Vec<u8>,
        growth: &mut Growth,
    ) -> Result<usize, DataError> {
        let before = text.len();
        loop {
            // as much as the reader holds ready, at most to the end of the line
            let ready = match reader.fill_buf() {
                Ok(ready) => ready,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.damaged(&error)),
            };
            let taken = memchr(b'\n', ready).map_or(ready.len(), |end| end + 1);
            growth.to(text.len() + taken, "a line of the file").map_err(|e| self.too_large(e))?;
            text.extend_from_slice(&ready[..taken]);
            reader.consume(taken);
            if taken == 0 || text.last() == Some(&b'\n') {
                return Ok(text.len() - before);
            }
        }
    }

    /// The error for a file whose content does not fit into memory.
    pub(super) fn too_large(&self, error: BudgetError) -> DataError {
        let BudgetError { what, needed, budget, .. } = error;
        let remedy = "raise --memory, or read a part of the file".into();
        BudgetError { what: format!("{}: {what}", self.name).into(), needed, budget, remedy }.into()
    }

    /// A command line that sends the content through a program that converts text, into a new file.
    pub(super) fn converted_by(&self, program: &str) -> String {
        let name = &self.name;
        match self.packing {
            Packing::None => format!("{program} < {name} > new-file"),
            Packing::Gzip => format!("gunzip -c {name} | {program} > new-file"),
            Packing::Zstd => format!("zstd -dc {name} | {program} > new-file"),
        }
    }

    /// The error for a failed read.
    pub(super) fn damaged(&self, error: &io::Error) -> DataError {
        // a line that does not fit into memory comes by way of a reader
        if let Some(budget) = error.get_ref().and_then(|inner| inner.downcast_ref::<BudgetError>()) {
            return self.too_large(budget.clone());
        }
        let DataError::Io { file, reason } = io_error(&self.name, error) else {
            return io_error(&self.name, error);
        };
        let packing = match self.packing {
            Packing::None => return DataError::Io { file, reason },
            Packing::Gzip => "gzip",
            Packing::Zstd => "zstd",
        };
        DataError::Io { file, reason: format!("the {packing} data are damaged ({reason}); fetch the file again") }
    }

    /// The error for something at a line (or data row) and column.
    pub(super) fn bad(&self, line: Option<usize>, column: Option<&str>, finding: impl Into<String>) -> DataError {
        let place = Place { file: self.name.clone(), line, column: column.map(str::to_owned) };
        DataError::Bad { place, finding: finding.into() }
    }
}

fn packing(head: &[u8]) -> Packing {
    match head {
        [0x1f, 0x8b, ..] => Packing::Gzip,
        _ if head == zstd::MAGIC => Packing::Zstd,
        _ => Packing::None,
    }
}

/// The system's words without its error number.
pub(super) fn io_error(file: &str, error: &io::Error) -> DataError {
    DataError::Io { file: file.to_owned(), reason: crate::write::words(error) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn unreadable_paths_are_named_with_the_system_s_words() {
        let say = |p: &str| Source::open(Path::new(p)).unwrap_err().to_string();
        assert_eq!(say("no-such-data.csv"), "no-such-data.csv: No such file or directory");
        let folder = tempfile::tempdir().unwrap();
        assert!(say(folder.path().to_str().unwrap()).ends_with("is a directory, not a data file"));
        let empty = folder.path().join("empty.csv");
        std::fs::write(&empty, b"").unwrap();
        assert!(matches!(Source::open(&empty), Err(DataError::Empty { .. })));
    }

    #[test]
    fn gzip_is_told_by_its_bytes_and_members_follow_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let mut all = Vec::new();
        for part in ["1,2\n", "3,4\n"] {
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            gzip.write_all(part.as_bytes()).unwrap();
            all.extend(gzip.finish().unwrap());
        }
        std::fs::write(&path, &all).unwrap();
        assert_eq!(Source::open(&path).unwrap().head(100).unwrap(), b"1,2\n3,4\n");
        std::fs::write(&path, &all[..all.len() - 9]).unwrap();
        let error = Source::open(&path).unwrap().head(100).unwrap_err().to_string();
        assert!(error.contains("gzip data are damaged"), "{error}");
    }
}
