//! Blocks of numbers in binary files: element types, byte orders, shapes.
//!
//! Nothing is allocated on the word of a header alone: a block is read piece by piece, so that memory grows only with
//! bytes that are really there.

use super::super::{DataError, FieldData, Rows};
use super::Source;
use crate::memory::check;
use std::io::Read;

/// The type of stored numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    Bool,
    /// Text of so many 4-byte characters.
    Unicode(usize),
}

impl Element {
    /// Bytes of one entry.
    pub(super) fn size(self) -> u64 {
        match self {
            Self::I8 | Self::U8 | Self::Bool => 1,
            Self::I16 | Self::U16 => 2,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F64 | Self::I64 | Self::U64 => 8,
            Self::Unicode(characters) => 4 * characters as u64,
        }
    }
}

/// The entries of a block.
#[derive(Clone, Debug)]
pub(super) enum Entries {
    Wide(Vec<f64>),
    Narrow(Vec<f32>),
    Words(Vec<String>),
}

/// The header of a block.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) element: Element,
    pub(super) big_endian: bool,
    pub(super) fortran: bool,
    pub(super) shape: Vec<u64>,
}

/// A block: examples along the first dimension, all others flattened.
#[derive(Clone, Debug)]
pub(super) struct Array {
    pub(super) entries: Entries,
    pub(super) len: usize,
    pub(super) width: usize,
    /// Number of dimensions in the file.
    pub(super) dimensions: usize,
    /// The first whole number that f64 rounds: its place among the entries, and its digits.
    pub(super) rounded: Option<(usize, String)>,
}

/// Bytes are fetched and converted in pieces of this size.
const PIECE: u64 = 1 << 16;

impl Layout {
    /// Checks the shape against the bytes that there can be: examples and entries of each.
    fn extent(&self, most_bytes: u64) -> Result<(usize, usize), String> {
        let Some((&len, rest)) = self.shape.split_first() else {
            return Err("the array has no dimensions; one or two are needed".to_owned());
        };
        if self.fortran && rest.len() > 1 {
            return Err(format!(
                "the array has {} dimensions in Fortran order; one or two are needed",
                self.shape.len()
            ));
        }
        if matches!(self.element, Element::Unicode(_)) && !rest.is_empty() {
            return Err("the array holds text in more than one dimension; one is needed".to_owned());
        }
        let width = rest.iter().try_fold(1_u64, |product, &d| product.checked_mul(d));
        let bytes = width.and_then(|w| w.checked_mul(len)).and_then(|n| n.checked_mul(self.element.size().max(1)));
        match (bytes, width) {
            (Some(bytes), Some(width)) if bytes <= most_bytes => Ok((len as usize, width as usize)),
            _ => Err(format!("the header promises shape {:?}, which is more than the file can hold", self.shape)),
        }
    }

    /// Reads the block that this layout describes and that ends the stream, beside so many bytes that are held already; the error
    /// is a finding.
    pub(super) fn read(&self, reader: &mut dyn Read, most_bytes: u64, held: usize) -> Result<Array, String> {
        let (len, width) = self.extent(most_bytes)?;
        let mut rounded = None;
        let entries = self.entries(reader, len as u64 * width as u64, held, &mut rounded)?;
        let mut probe = [0];
        if !matches!(reader.read(&mut probe), Ok(0)) {
            return Err(format!("there are more bytes than shape {:?} needs; the file is damaged", self.shape));
        }
        let entries = match entries {
            Entries::Wide(v) if self.fortran => Entries::Wide(transposed(&v, len, width)),
            Entries::Narrow(v) if self.fortran => Entries::Narrow(transposed(&v, len, width)),
            other => other,
        };
        if let Some((at, _)) = rounded.as_mut().filter(|_| self.fortran) {
            *at = (*at % len) * width + *at / len;
        }
        Ok(Array { entries, len, width, dimensions: self.shape.len(), rounded })
    }

    /// The entries, beside so many bytes that are held already.
    fn entries(
        &self,
        reader: &mut dyn Read,
        count: u64,
        held: usize,
        rounded: &mut Option<(usize, String)>,
    ) -> Result<Entries, String> {
        let mut entries = match self.element {
            Element::F32 => Entries::Narrow(Vec::new()),
            Element::Unicode(_) => Entries::Words(Vec::new()),
            _ => Entries::Wide(Vec::new()),
        };
        let size = self.element.size();
        if size == 0 {
            return Err("the array holds texts without characters".to_owned());
        }
        let entry = match entries {
            Entries::Narrow(_) => size_of::<f32>(),
            Entries::Wide(_) => size_of::<f64>(),
            Entries::Words(_) => size_of::<String>(),
        };
        // columns of Fortran order are turned to rows, for which both are there
        let copies = if self.fortran { 2 } else { 1 };
        let bytes = usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(entry).saturating_mul(copies);
        check(bytes.saturating_add(held), "the array with all before it")
            .map_err(|e| e.remedy("raise --memory, or save a part of it").to_string())?;
        let at_once = (PIECE / size).max(1);
        let (mut left, mut piece) = (count, Vec::new());
        while left > 0 {
            let now = left.min(at_once);
            piece.clear();
            let got =
                reader.take(now * size).read_to_end(&mut piece).map_err(|e| format!("the data are damaged ({e})"))?;
            if got as u64 != now * size {
                return Err(format!(
                    "the data end early: shape {:?} needs {} more bytes",
                    self.shape,
                    left * size - got as u64
                ));
            }
            if self.big_endian && size > 1 {
                let entry = if matches!(self.element, Element::Unicode(_)) { 4 } else { size as usize };
                piece.chunks_exact_mut(entry).for_each(<[u8]>::reverse);
            }
            if rounded.is_none() {
                let before = (count - left) as usize;
                *rounded = self.rounded_in(&piece).map(|(at, digits)| (before + at, digits));
            }
            self.convert(&piece, &mut entries)?;
            left -= now;
        }
        Ok(entries)
    }

    /// The first whole number of a piece that f64 rounds.
    fn rounded_in(&self, piece: &[u8]) -> Option<(usize, String)> {
        let wide = piece.as_chunks().0.iter();
        let whole: Box<dyn Iterator<Item = i128> + '_> = match self.element {
            Element::I64 => Box::new(wide.map(|&bytes| i128::from(i64::from_le_bytes(bytes)))),
            Element::U64 => Box::new(wide.map(|&bytes| i128::from(u64::from_le_bytes(bytes)))),
            _ => return None,
        };
        let mut numbered = whole.enumerate();
        numbered.find(|(_, v)| *v as f64 as i128 != *v).map(|(at, v)| (at, v.to_string()))
    }

    /// Appends a piece of little-endian bytes.
    fn convert(&self, piece: &[u8], entries: &mut Entries) -> Result<(), String> {
        macro_rules! each {
            ($kind:ty, $out:expr, $convert:expr) => {
                $out.extend(piece.as_chunks().0.iter().map(|&bytes| $convert(<$kind>::from_le_bytes(bytes))))
            };
        }
        match (entries, self.element) {
            (Entries::Narrow(out), _) => each!(f32, out, |v| v),
            (Entries::Words(out), _) => {
                for text in piece.chunks_exact(self.element.size() as usize) {
                    out.push(unicode(text)?);
                }
            }
            (Entries::Wide(out), Element::F64) => each!(f64, out, |v| v),
            (Entries::Wide(out), Element::I8) => each!(i8, out, f64::from),
            (Entries::Wide(out), Element::I16) => each!(i16, out, f64::from),
            (Entries::Wide(out), Element::I32) => each!(i32, out, f64::from),
            (Entries::Wide(out), Element::I64) => each!(i64, out, |v| v as f64),
            (Entries::Wide(out), Element::U16) => each!(u16, out, f64::from),
            (Entries::Wide(out), Element::U32) => each!(u32, out, f64::from),
            (Entries::Wide(out), Element::U64) => each!(u64, out, |v| v as f64),
            (Entries::Wide(out), Element::Bool) => out.extend(piece.iter().map(|&b| f64::from(u8::from(b != 0)))),
            (Entries::Wide(out), _) => each!(u8, out, f64::from),
        }
        Ok(())
    }
}

/// UTF-32 with trailing zeros.
fn unicode(bytes: &[u8]) -> Result<String, String> {
    let codes = bytes.as_chunks().0.iter().map(|&c| u32::from_le_bytes(c));
    let mut text = String::new();
    for code in codes {
        text.push(char::from_u32(code).ok_or_else(|| format!("{code:#x} is no Unicode character"))?);
    }
    text.truncate(text.trim_end_matches('\0').len());
    Ok(text)
}

fn transposed<T: Copy>(columns: &[T], len: usize, width: usize) -> Vec<T> {
    let mut rows = Vec::with_capacity(columns.len());
    for i in 0..len {
        rows.extend((0..width).map(|j| columns[j * len + i]));
    }
    rows
}

impl Array {
    /// About how many bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        match &self.entries {
            Entries::Wide(values) => size_of_val(values.as_slice()),
            Entries::Narrow(values) => size_of_val(values.as_slice()),
            Entries::Words(words) => words.iter().map(|word| word.len() + size_of::<String>()).sum(),
        }
    }

    /// As a field: a block of columns, or words. Infinite numbers are errors, NaN is a missing one.
    pub(super) fn into_block(self, source: &Source, name: &str) -> Result<FieldData, DataError> {
        self.check_finite(source, name)?;
        let block = match self.entries {
            Entries::Words(words) => Some(FieldData::Words(words.iter().collect())),
            Entries::Wide(values) => Rows::new(values, self.len, self.width).map(FieldData::Matrix),
            Entries::Narrow(values) => Rows::new(values, self.len, self.width).map(FieldData::Matrix32),
        };
        block.ok_or_else(|| source.bad(None, Some(name), "the array has not the size of its shape"))
    }

    /// Says which number lost digits in being read, if one did.
    pub(super) fn told_rounded(&self, source: &Source, name: &str) -> Option<String> {
        let (at, digits) = self.rounded.as_ref()?;
        let Entries::Wide(values) = &self.entries else { return None };
        let (row, column) = (at / self.width.max(1) + 1, at % self.width.max(1) + 1);
        let column = if self.dimensions == 1 { name.to_owned() } else { format!("{name}[{column}]") };
        let value = values.get(*at)?;
        Some(format!(
            "{} row {row}, column {column}: {digits} is read as the number {value}, so that its last digits are lost; save such numbers as text",
            source.name()
        ))
    }

    fn check_finite(&self, source: &Source, name: &str) -> Result<(), DataError> {
        let at = match &self.entries {
            Entries::Wide(values) => values.iter().position(|v| v.is_infinite()),
            Entries::Narrow(values) => values.iter().position(|v| v.is_infinite()),
            Entries::Words(_) => None,
        };
        let Some(at) = at else { return Ok(()) };
        let (row, column) = (at / self.width + 1, at % self.width + 1);
        let column = if self.dimensions == 1 { name.to_owned() } else { format!("{name}[{column}]") };
        Err(source.bad(Some(row), Some(&column), "the number is not finite; correct it, or write NaN if it is missing"))
    }
}
