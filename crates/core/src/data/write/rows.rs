//! Rows of a text file as they are: copied line by line, so that spelling, quotes and the header stay.

use super::super::read::{FORMATS, Source};
use super::super::{DataError, Table};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{self, BufRead, Write};
use std::path::Path;

/// Writes some rows of a file that was read as `table` to another, in the order of the file, after whatever stands before its first
/// example; in gzip if the name ends in `.gz`.
///
/// # Errors
/// If the format does not stand in lines of text, or a file cannot be read or written.
pub fn write_rows(from: &Path, table: &Table, rows: &[usize], to: &Path) -> Result<(), DataError> {
    if !stands_in_lines(table) {
        let finding = format!(
            "{} is {}, whose rows are not lines of text that could be copied; write it as CSV with mercer convert first",
            table.file, table.format
        );
        return Err(DataError::Unfit { finding });
    }
    let mut chosen = vec![false; table.len];
    rows.iter().filter(|&&row| row < table.len).for_each(|&row| chosen[row] = true);
    let source = Source::open(from)?;
    let packed = to.extension().is_some_and(|e| e.eq_ignore_ascii_case("gz"));
    let mut unread = None;
    let mut copy = |out: &mut dyn Write| match source.reader() {
        Ok(mut lines) => copied(&mut *lines, table, &chosen, out),
        Err(error) => {
            unread = Some(error);
            Err(io::Error::other("not read"))
        }
    };
    let written = crate::write::streamed(to, |out| {
        if !packed {
            return copy(out);
        }
        let mut gzip = GzEncoder::new(out, Compression::default());
        copy(&mut gzip)?;
        gzip.finish().map(drop)
    });
    match (written, unread) {
        (Ok(()), _) => Ok(()),
        (Err(_), Some(error)) => Err(error),
        (Err(e), None) => Err(DataError::Io { file: to.display().to_string(), reason: crate::write::words(&e) }),
    }
}

/// True if the examples of a table are lines of text of its file.
pub fn stands_in_lines(table: &Table) -> bool {
    FORMATS.iter().any(|format| format.name == table.format && format.lines)
}

/// Copies what stands before the first example, and the lines of the chosen ones: from the line of each to that of the next.
fn copied(lines: &mut dyn BufRead, table: &Table, chosen: &[bool], out: &mut dyn Write) -> io::Result<()> {
    let (mut line, mut number, mut begun, mut ended) = (Vec::new(), 0, 0, true);
    loop {
        line.clear();
        if lines.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        number += 1;
        while begun < table.len && table.line(begun) <= number {
            begun += 1;
        }
        if begun == 0 || chosen[begun - 1] {
            // the last line of a file may not end
            if !ended {
                out.write_all(b"\n")?;
            }
            ended = line.ends_with(b"\n");
            out.write_all(&line)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::read::{ReadOptions, read};
    use super::*;

    /// The bytes of some rows in the file.
    fn rows_of(name: &str, text: &str, rows: &[usize]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join(name), folder.path().join("out"));
        std::fs::write(&from, text).unwrap();
        let table = read(&from, &ReadOptions::default()).unwrap();
        write_rows(&from, &table, rows, &to).unwrap();
        std::fs::read_to_string(&to).unwrap()
    }

    #[test]
    fn rows_are_copied_byte_by_byte_with_the_header() {
        let text = "\u{feff}a,b\r\n1.0, \"x, y\"\r\n2.50,\"two\nlines\"\r\n\r\n3e0,z";
        assert_eq!(rows_of("a.csv", text, &[2, 0]), "\u{feff}a,b\r\n1.0, \"x, y\"\r\n3e0,z");
        assert_eq!(rows_of("a.csv", text, &[1]), "\u{feff}a,b\r\n2.50,\"two\nlines\"\r\n\r\n");
        assert_eq!(rows_of("a.csv", "1,2\n3,4\n5,6\n", &[1]), "3,4\n");
        assert_eq!(rows_of("a.svm", "# note\n1 2:3\n-1 1:1\n", &[1]), "# note\n-1 1:1\n");
        assert_eq!(rows_of("a.fa", ">s1 u\nAC\nGT\n>s2 v\nAA\n", &[0]), ">s1 u\nAC\nGT\n");
        assert_eq!(rows_of("a.jsonl", "{\"a\": 1}\n{\"a\": 2}\n", &[1]), "{\"a\": 2}\n");
    }

    #[test]
    fn packed_files_stay_packed_and_others_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(b"a,y\n1,2\n3,4\n").unwrap();
        std::fs::write(path("a.csv.gz"), gzip.finish().unwrap()).unwrap();
        let table = read(&path("a.csv.gz"), &ReadOptions::default()).unwrap();
        write_rows(&path("a.csv.gz"), &table, &[1], &path("b.csv.gz")).unwrap();
        assert_eq!(std::fs::read(path("b.csv.gz")).unwrap()[..2], [0x1f, 0x8b]);
        assert_eq!(read(&path("b.csv.gz"), &ReadOptions::default()).unwrap().len, 1);
        std::fs::write(path("i"), [0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 1, 5, 6]).unwrap();
        let table = read(&path("i"), &ReadOptions::default()).unwrap();
        let error = write_rows(&path("i"), &table, &[0], &path("j")).unwrap_err().to_string();
        assert!(error.contains("mercer convert") && !path("j").exists(), "{error}");
    }
}
