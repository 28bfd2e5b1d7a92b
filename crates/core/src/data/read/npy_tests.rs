//! Tests of NPY arrays: types, orders, shapes and refusals.

use super::super::super::FieldData;
use super::super::{ReadOptions, read_bytes};
use super::*;

/// The bytes of an NPY file.
pub(crate) fn npy(version: u8, descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let header = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let mut bytes = [MAGIC, &[version, 0]].concat();
    match version {
        1 => bytes.extend((header.len() as u16).to_le_bytes()),
        _ => bytes.extend((header.len() as u32).to_le_bytes()),
    }
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

fn doubles(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

fn field(bytes: &[u8]) -> Result<FieldData, DataError> {
    Ok(read_bytes("a.npy", bytes, &ReadOptions::default())?.fields.remove(0).data)
}

fn error(bytes: &[u8]) -> String {
    field(bytes).unwrap_err().to_string()
}

#[test]
fn rows_come_out_in_either_order_and_byte_order() {
    let c = field(&npy(1, "'<f8'", false, "(2, 3)", &doubles(&[1., 2., 3., 4., 5., 6.]))).unwrap();
    let f = field(&npy(2, "'<f8'", true, "(2, 3)", &doubles(&[1., 4., 2., 5., 3., 6.]))).unwrap();
    let big: Vec<u8> = [1., 2., 3., 4., 5., 6.].iter().flat_map(|v: &f64| v.to_be_bytes()).collect();
    let b = field(&npy(3, "'>f8'", false, "(2, 3)", &big)).unwrap();
    for data in [c, f, b] {
        let FieldData::Matrix(rows) = data else { panic!() };
        assert_eq!((rows.row(0), rows.row(1)), (&[1., 2., 3.][..], &[4., 5., 6.][..]));
    }
}

#[test]
fn single_precision_stays_and_words_are_words() {
    let data: Vec<u8> = [1.5_f32, -2.0].iter().flat_map(|v| v.to_le_bytes()).collect();
    assert!(matches!(field(&npy(1, "'<f4'", false, "(2,)", &data)).unwrap(), FieldData::Matrix32(r) if r.width() == 1));
    let data: Vec<u8> = ['h', 'ä', '\0', 'b', '\0', '\0'].iter().flat_map(|&c| u32::from(c).to_le_bytes()).collect();
    assert!(matches!(field(&npy(1, "'<U3'", false, "(2,)", &data)).unwrap(), FieldData::Words(w) if w == ["hä", "b"]));
}

#[test]
fn shapes_are_checked_before_memory_is_taken() {
    let huge = npy(1, "'<f8'", false, "(1000000000000, 1000)", &[0; 16]);
    assert!(error(&huge).contains("more than the file can hold"));
    assert!(error(&npy(1, "'<f8'", false, "(9999999999999999999, 99999)", &[0; 16])).contains("more than the file"));
    assert!(error(&npy(1, "'<f8'", false, "(3,)", &[0; 16])).contains("early"));
    assert!(error(&npy(1, "'|u1'", false, "(3,)", &[0; 16])).contains("more bytes"));
    assert!(error(&npy(1, "'|u1'", false, "()", &[0; 1])).contains("no dimensions"));
    assert!(error(&npy(1, "'|u1'", false, "(0,)", &[])).contains("no examples"));
}

#[test]
fn pickles_and_odd_types_are_refused() {
    assert!(error(&npy(1, "'|O'", false, "(3,)", &[0; 16])).contains("never unpickled"));
    assert!(error(&npy(1, "'<c16'", false, "(1,)", &[0; 16])).contains("\"<c16\" is not read"));
    assert!(error(&npy(1, "[('a', '<f8')]", false, "(1,)", &[0; 8])).contains("structured"));
    assert!(error(&npy(9, "'<f8'", false, "(1,)", &[0; 8])).contains("version 9"));
}

#[test]
fn nan_is_missing_and_infinity_an_error_with_its_place() {
    let data = doubles(&[1., f64::NAN, 3., f64::INFINITY]);
    let error = error(&npy(1, "'<f8'", false, "(2, 2)", &data));
    assert!(error.starts_with("a.npy line 2, column \"x[2]\": the number is not finite"), "{error}");
    let data = field(&npy(1, "'<f8'", false, "(1, 2)", &doubles(&[1., f64::NAN]))).unwrap();
    assert!(matches!(data, FieldData::Matrix(r) if r.row(0)[1].is_nan()));
}
