//! NumPy's NPY files, versions 1 to 3.
//!
//! Object arrays are refused: they are Python pickles, and unpickling runs whatever program the file holds.

use super::super::{DataError, Field, Table};
use super::array::{Array, Element, Layout};
use super::{FormatEntry, ReadOptions, Source};
use std::io::Read;

/// The format.
pub(super) static NPY: FormatEntry = FormatEntry {
    name: "npy",
    summary: "a NumPy array of one or two dimensions; labels through a second file",
    extensions: &["npy"],
    sniff: |head| head.starts_with(MAGIC),
    names_target: false,
    main_column: None,
    lines: false,
    read,
};

const MAGIC: &[u8] = b"\x93NUMPY";
/// Largest header; NumPy's own writers stay far below.
const MAX_HEADER_BYTES: u32 = 1 << 20;

fn read(source: &Source, _options: &ReadOptions) -> Result<Table, DataError> {
    let array = read_array(&mut source.reader()?, source.most_bytes(), 0).map_err(|f| source.bad(None, None, f))?;
    single_block(source, NPY.name, array)
}

/// A table of one field `x`.
pub(super) fn single_block(source: &Source, format: &'static str, array: Array) -> Result<Table, DataError> {
    let len = array.len;
    if len == 0 || array.width == 0 {
        return Err(DataError::Empty { place: source.name().to_owned() });
    }
    let notes = array.told_rounded(source, "x").into_iter().collect();
    let fields = vec![Field { name: "x".to_owned(), data: array.into_block(source, "x")? }];
    let file = source.name().to_owned();
    Ok(Table { file, format, len, fields, target: None, first_line: 1, named: false, lines: None, notes })
}

/// Reads an array that ends its stream, beside so many bytes that are held already; the error is a finding.
pub(super) fn read_array(reader: &mut dyn Read, most_bytes: u64, held: usize) -> Result<Array, String> {
    let short = |e: std::io::Error| format!("the header ends early ({e})");
    let mut start = [0; 8];
    reader.read_exact(&mut start).map_err(short)?;
    if !start.starts_with(MAGIC) {
        return Err("this is no NPY array; the first bytes differ".to_owned());
    }
    let length = match start[6] {
        1 => {
            let mut two = [0; 2];
            reader.read_exact(&mut two).map_err(short)?;
            u32::from(u16::from_le_bytes(two))
        }
        2 | 3 => {
            let mut four = [0; 4];
            reader.read_exact(&mut four).map_err(short)?;
            u32::from_le_bytes(four)
        }
        version => return Err(format!("NPY version {version} is not known; versions 1 to 3 are read")),
    };
    if length > MAX_HEADER_BYTES {
        return Err(format!("the header claims {length} bytes; the file is damaged"));
    }
    let mut header = Vec::new();
    reader.take(u64::from(length)).read_to_end(&mut header).map_err(short)?;
    if header.len() != length as usize {
        return Err("the header ends early".to_owned());
    }
    layout(&String::from_utf8_lossy(&header))?.read(reader, most_bytes, held)
}

/// Reads `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }`.
fn layout(header: &str) -> Result<Layout, String> {
    let descr = value(header, "descr")?;
    let Some(descr) = descr.strip_prefix(['\'', '"']).and_then(|d| d.split(['\'', '"']).next()) else {
        return Err("the array has a structured type; save its columns as plain arrays".to_owned());
    };
    let (order, kind) = match descr.chars().next() {
        Some(order @ ('<' | '>' | '|' | '=')) => (order, &descr[1..]),
        _ => ('=', descr),
    };
    let fortran = match value(header, "fortran_order")? {
        v if v.starts_with("True") => true,
        v if v.starts_with("False") => false,
        _ => return Err("the header says neither True nor False for fortran_order".to_owned()),
    };
    Ok(Layout { element: element(kind, descr)?, big_endian: order == '>', fortran, shape: shape(header)? })
}

fn element(kind: &str, descr: &str) -> Result<Element, String> {
    Ok(match kind {
        "f4" => Element::F32,
        "f8" => Element::F64,
        "i1" => Element::I8,
        "i2" => Element::I16,
        "i4" => Element::I32,
        "i8" => Element::I64,
        "u1" => Element::U8,
        "u2" => Element::U16,
        "u4" => Element::U32,
        "u8" => Element::U64,
        "b1" => Element::Bool,
        _ if kind.starts_with('O') => {
            return Err("the array holds Python objects, which are never unpickled; save numbers or strings".to_owned());
        }
        _ => match kind.strip_prefix('U').and_then(|n| n.parse::<u32>().ok()) {
            Some(characters) if characters > 0 && characters < 1 << 24 => Element::Unicode(characters as usize),
            _ => return Err(format!("type \"{descr}\" is not read; use f4, f8, i1 to i8, u1 to u8, b1 or U")),
        },
    })
}

fn shape(header: &str) -> Result<Vec<u64>, String> {
    let wrong = || "the header has no readable shape".to_owned();
    let inside = value(header, "shape")?.strip_prefix('(').and_then(|s| s.split(')').next()).ok_or_else(wrong)?;
    let sizes = inside.split(',').map(str::trim).filter(|s| !s.is_empty());
    sizes.map(|s| s.trim_end_matches('L').parse().map_err(|_| wrong())).collect()
}

/// The text after a key of the header.
fn value<'a>(header: &'a str, key: &str) -> Result<&'a str, String> {
    let at =
        [format!("'{key}'"), format!("\"{key}\"")].iter().find_map(|k| header.find(k.as_str()).map(|at| at + k.len()));
    at.and_then(|at| header[at..].trim_start().strip_prefix(':'))
        .map(str::trim_start)
        .ok_or_else(|| format!("the header does not say {key}"))
}

#[cfg(test)]
#[path = "npy_tests.rs"]
pub(super) mod tests;
