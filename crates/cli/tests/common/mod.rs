//! Helpers that all tests of the command line share: a folder, the program run in it, and small files.
#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests fail as tests do

mod place;

pub(crate) use place::{Place, Ran, gzip, ran, real_data};

/// The numbers of a text with one number on each line.
pub(crate) fn numbers(lines: &[String]) -> Vec<f64> {
    lines.iter().map(|l| l.parse().unwrap()).collect()
}

/// Asserts that numbers agree.
pub(crate) fn close(got: &[f64], wanted: &[f64], within: f64) {
    assert_eq!(got.len(), wanted.len());
    for (g, w) in got.iter().zip(wanted) {
        assert!((g - w).abs() <= within, "{got:?} should be {wanted:?}");
    }
}

/// An NPY file of type `<f8`.
pub(crate) fn npy(shape: &[usize], values: &[f64]) -> Vec<u8> {
    npy_of("<f8", shape, values.iter().flat_map(|v| v.to_le_bytes()).collect())
}

/// An NPY file of type `<f4`.
pub(crate) fn npy32(shape: &[usize], values: &[f32]) -> Vec<u8> {
    npy_of("<f4", shape, values.iter().flat_map(|v| v.to_le_bytes()).collect())
}

/// An NPY file of any type.
pub(crate) fn npy_bytes(kind: &str, shape: &[usize], data: Vec<u8>) -> Vec<u8> {
    npy_of(kind, shape, data)
}

fn npy_of(kind: &str, shape: &[usize], data: Vec<u8>) -> Vec<u8> {
    let shape: Vec<String> = shape.iter().map(|s| format!("{s},")).collect();
    let mut header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({}), }}", shape.join(" "));
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.into_bytes());
    bytes.extend(data);
    bytes
}

/// The header and the numbers of an NPY file of type `<f8`.
pub(crate) fn read_npy(bytes: &[u8]) -> (String, Vec<f64>) {
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    assert_eq!(start % 64, 0, "the numbers start at a multiple of 64");
    let header = String::from_utf8(bytes[10..start].to_vec()).unwrap();
    let values = bytes[start..].chunks_exact(8).map(|c| f64::from_le_bytes(c.try_into().unwrap())).collect();
    (header, values)
}
