//! Writing NumPy's NPY, version 1.0.

use std::io::Write;

/// Numbers that are turned into bytes at a time.
pub(crate) const NUMBERS_PER_WRITE: usize = 1 << 15;

/// The header of a matrix, padded to a multiple of 64 bytes.
pub(crate) fn header(rows: usize, columns: usize, kind: &str) -> Vec<u8> {
    let mut dictionary = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    while (10 + dictionary.len() + 1) % 64 != 0 {
        dictionary.push(' ');
    }
    dictionary.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((dictionary.len() as u16).to_le_bytes());
    bytes.extend(dictionary.into_bytes());
    bytes
}

/// Numbers as bytes, in a buffer that is used again.
pub(crate) fn bytes<'a, S: Copy, const N: usize>(
    part: &[S],
    to: fn(S) -> [u8; N],
    buffer: &'a mut Vec<u8>,
) -> &'a [u8] {
    buffer.resize(part.len() * N, 0);
    // pieces of a known length, which the compiler turns into a plain copy
    for (place, &value) in buffer.chunks_exact_mut(N).zip(part) {
        place.copy_from_slice(&to(value));
    }
    buffer
}

/// A matrix of f64, row by row.
pub(crate) fn write(out: &mut dyn Write, values: &[f64], columns: usize) -> std::io::Result<()> {
    out.write_all(&header(values.len() / columns.max(1), columns, "<f8"))?;
    let mut buffer = Vec::new();
    for part in values.chunks(NUMBERS_PER_WRITE) {
        out.write_all(bytes(part, f64::to_le_bytes, &mut buffer))?;
    }
    out.flush()
}
