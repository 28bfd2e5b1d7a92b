//! A matrix as bytes, strip by strip, so that memory is bounded for any number of rows.

use super::{Gram, Precision, fill_rows};
use crate::linalg::SolveError;
use std::io::{self, Write};
use std::ops::Range;

/// Bytes that are written at a time.
const BYTES_PER_WRITE: usize = 1 << 18;

/// Writes all rows as numbers of f64, or of f32 if `narrow`, the least byte first: while one strip of `strip` rows is written, the
/// next is computed. `step` is told how many rows are written, and ends the work with its error; so does an entry that is not finite.
///
/// Not generic, so that the loops are compiled with this library and not with the program that calls it, whose code need not be fast.
pub fn write_rows(
    gram: &dyn Gram,
    narrow: bool,
    strip: usize,
    out: &mut dyn Write,
    step: &dyn Fn(usize) -> Result<(), SolveError>,
) -> io::Result<Result<(), SolveError>> {
    if narrow { write_strips::<f32>(gram, strip, out, step) } else { write_strips::<f64>(gram, strip, out, step) }
}

fn write_strips<S: Precision>(
    gram: &dyn Gram,
    strip: usize,
    out: &mut dyn Write,
    step: &dyn Fn(usize) -> Result<(), SolveError>,
) -> io::Result<Result<(), SolveError>> {
    let n = gram.shape().0;
    let range = |start: usize| start..(start + strip).min(n);
    let (mut now, mut next) = (Vec::new(), Vec::new());
    let mut ready = if n > 0 { compute::<S>(gram, range(0), &mut now) } else { Ok(()) };
    for start in (0..n).step_by(strip.max(1)) {
        if let Err(broken) = step(start).and(ready) {
            return Ok(Err(broken));
        }
        let (after, mut written) = (range((start + strip).min(n)), Ok(()));
        let mut computed = Ok(());
        rayon::in_place_scope(|threads| {
            threads.spawn(|_| computed = compute(gram, after, &mut next));
            written = S::bytes(&now).chunks(BYTES_PER_WRITE).try_for_each(|part| out.write_all(part));
        });
        written?;
        ready = computed;
        std::mem::swap(&mut now, &mut next);
    }
    Ok(Ok(()))
}

/// Some rows, all finite.
fn compute<S: Precision>(gram: &dyn Gram, rows: Range<usize>, values: &mut Vec<S>) -> Result<(), SolveError> {
    let columns = gram.shape().1;
    values.resize(rows.len() * columns, S::default());
    fill_rows(gram, rows.clone(), values);
    // whole chunks are looked at without a branch; the place is looked for only if there is one
    let whole = |part: &[S]| part.iter().fold(true, |whole, v| whole & v.wide().is_finite());
    if values.chunks(1024).all(whole) {
        return Ok(());
    }
    match values.iter().position(|v| !v.wide().is_finite()) {
        Some(at) => Err(SolveError::NotFinite { row: rows.start + at / columns + 1, column: at % columns + 1 }),
        None => Ok(()),
    }
}
