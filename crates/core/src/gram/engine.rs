//! The parallel engine: fixed tiles, computed by whichever thread is free.

use super::{BlockMut, Gram, Pick};
use crate::vectorise::{Loops, vectorised};
use rayon::prelude::*;

/// Rows of a tile.
const TILE_ROWS: usize = 128;
/// Columns of a tile: with its rows it stays in the second-level cache.
const TILE_COLS: usize = 512;

/// Writes the whole matrix in f64.
pub fn fill(gram: &dyn Gram, out: &mut [f64]) {
    fill_with(gram.shape(), out, &|rows, cols, tile| gram.block(rows, cols, tile));
}

/// Writes the whole matrix in f32.
pub fn fill32(gram: &dyn Gram, out: &mut [f32]) {
    fill_with(gram.shape(), out, &|rows, cols, tile| gram.block32(rows, cols, tile));
}

type Compute<'a, S> = &'a (dyn Fn(Pick<'_>, Pick<'_>, BlockMut<'_, S>) + Sync);

fn fill_with<S: Send>((n, m): (usize, usize), out: &mut [S], compute: Compute<'_, S>) {
    assert_eq!(out.len(), n * m, "the output has the size of the matrix");
    if m == 0 {
        return;
    }
    out.par_chunks_mut(TILE_ROWS * m).enumerate().for_each(|(strip, values)| {
        let (start, count) = (strip * TILE_ROWS, values.len() / m);
        let mut strip = BlockMut::new(values, count, m);
        for left in (0..m).step_by(TILE_COLS) {
            let right = (left + TILE_COLS).min(m);
            compute(Pick::Range(start..start + count), Pick::Range(left..right), strip.part(0..count, left..right));
        }
    });
}

/// out = K v for `k` columns (both row by row), streaming tiles in a fixed order; nothing n² is stored.
pub fn apply(gram: &dyn Gram, v: &[f64], k: usize, out: &mut [f64]) {
    let (n, m) = gram.shape();
    assert!(v.len() == m * k && out.len() == n * k, "the vectors have the sizes of the matrix");
    if k == 0 {
        return;
    }
    out.par_chunks_mut(TILE_ROWS * k).enumerate().for_each_init(
        || vec![0.0; TILE_ROWS * TILE_COLS],
        |tile, (strip, out)| {
            let (start, count) = (strip * TILE_ROWS, out.len() / k);
            out.fill(0.0);
            for left in (0..m).step_by(TILE_COLS) {
                let right = (left + TILE_COLS).min(m);
                let width = right - left;
                gram.block(
                    Pick::Range(start..start + count),
                    Pick::Range(left..right),
                    BlockMut::new(&mut tile[..count * width], count, width),
                );
                accumulate(&tile[..count * width], &v[left * k..right * k], k, out);
            }
        },
    );
}

/// out += tile · v, in the order of the columns.
fn accumulate(tile: &[f64], v: &[f64], k: usize, out: &mut [f64]) {
    let width = v.len() / k;
    if k == 1 {
        vectorised(AddProducts { tile, v, out });
    } else {
        crate::linalg::multiply_add(tile, out.len() / k, width, v, k, out);
    }
}

/// out_i += ⟨row i of the tile, v⟩.
struct AddProducts<'a> {
    tile: &'a [f64],
    v: &'a [f64],
    out: &'a mut [f64],
}

impl Loops for AddProducts<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (o, line) in self.out.iter_mut().zip(self.tile.chunks_exact(self.v.len())) {
            *o += dot(line, self.v);
        }
    }
}

/// ⟨a, b⟩ in sixteen interleaved sums, whose order does not depend on the instruction set.
#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    const WIDE: usize = 16;
    let mut sums = [0.0; WIDE];
    let (a_wide, a_rest) = a.as_chunks::<WIDE>();
    let (b_wide, b_rest) = b.as_chunks::<WIDE>();
    for (x, y) in a_wide.iter().zip(b_wide) {
        for l in 0..WIDE {
            sums[l] += x[l] * y[l];
        }
    }
    let mut total: f64 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
    for s in sums {
        total += s;
    }
    total
}
