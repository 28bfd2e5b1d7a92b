//! IDX files, the format of MNIST: a big-endian block of numbers, examples along the first dimension.

use super::super::{DataError, Table};
use super::array::{Array, Element, Layout};
use super::npy::single_block;
use super::{FormatEntry, ReadOptions, Source};
use std::io::Read;

/// The format.
pub(super) static IDX: FormatEntry = FormatEntry {
    name: "idx",
    summary: "IDX blocks such as MNIST's; labels through a second file",
    extensions: &["idx"],
    sniff: |head| matches!(head, [0, 0, kind, 1..=16, ..] if element(*kind).is_some()),
    names_target: true,
    main_column: None,
    lines: false,
    read,
};

fn element(kind: u8) -> Option<Element> {
    Some(match kind {
        0x08 => Element::U8,
        0x09 => Element::I8,
        0x0b => Element::I16,
        0x0c => Element::I32,
        0x0d => Element::F32,
        0x0e => Element::F64,
        _ => return None,
    })
}

fn read(source: &Source, _options: &ReadOptions) -> Result<Table, DataError> {
    let array = read_block(&mut source.reader()?, source.most_bytes()).map_err(|f| source.bad(None, None, f))?;
    single_block(source, IDX.name, array)
}

fn read_block(reader: &mut dyn Read, most_bytes: u64) -> Result<Array, String> {
    let short = |e: std::io::Error| format!("the header ends early ({e})");
    let mut magic = [0; 4];
    reader.read_exact(&mut magic).map_err(short)?;
    let [0, 0, kind, dimensions] = magic else {
        return Err("this is no IDX file; it must start with two zero bytes".to_owned());
    };
    let element = element(kind).ok_or_else(|| format!("element type {kind:#04x} is not known"))?;
    let mut shape = Vec::new();
    for _ in 0..dimensions {
        let mut size = [0; 4];
        reader.read_exact(&mut size).map_err(short)?;
        shape.push(u64::from(u32::from_be_bytes(size)));
    }
    Layout { element, big_endian: true, fortran: false, shape }.read(reader, most_bytes, 0)
}

#[cfg(test)]
mod tests {
    use super::super::super::FieldData;
    use super::super::{ReadOptions, read_bytes};

    fn idx(kind: u8, shape: &[u32], data: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0, 0, kind, shape.len() as u8];
        for s in shape {
            bytes.extend(s.to_be_bytes());
        }
        bytes.extend(data);
        bytes
    }

    fn rows(bytes: &[u8]) -> Vec<f64> {
        match read_bytes("images", bytes, &ReadOptions::default()).unwrap().fields.remove(0).data {
            FieldData::Matrix(rows) => rows.values().to_vec(),
            FieldData::Matrix32(rows) => rows.convert::<f64>().values().to_vec(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn all_types_are_big_endian_and_flattened() {
        let table = read_bytes("images", &idx(8, &[2, 1, 2], &[1, 2, 3, 255]), &ReadOptions::default()).unwrap();
        assert!(matches!(&table.fields[0].data, FieldData::Matrix(r) if r.row(1) == [3.0, 255.0]));
        assert_eq!(rows(&idx(9, &[1], &[0xff])), [-1.0]);
        assert_eq!(rows(&idx(0x0b, &[1], &[0xff, 0xfe])), [-2.0]);
        assert_eq!(rows(&idx(0x0c, &[1], &[0, 0, 1, 0])), [256.0]);
        assert_eq!(rows(&idx(0x0d, &[1], &1.5_f32.to_be_bytes())), [1.5]);
        assert_eq!(rows(&idx(0x0e, &[1], &(-0.1_f64).to_be_bytes())), [-0.1]);
    }

    #[test]
    fn sizes_are_checked() {
        let error = |bytes: &[u8]| read_bytes("a.idx", bytes, &ReadOptions::default()).unwrap_err().to_string();
        assert!(error(&idx(8, &[u32::MAX, u32::MAX, 9], &[1])).contains("more than the file can hold"));
        assert!(error(&idx(8, &[3], &[1, 2, 3, 4])).contains("more bytes"));
        assert!(error(&idx(7, &[3], &[1, 2, 3])).contains("0x07"));
    }
}
