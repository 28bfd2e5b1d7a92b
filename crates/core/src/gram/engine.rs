//! The parallel engine: fixed tiles, computed by whichever thread is free.

use super::{BlockMut, Gram, Pick, Precision};
use crate::parallel;
use crate::vectorise::{Loops, vectorised};
use crate::watch::{Sign, present, under};
use rayon::prelude::*;
use std::ops::Range;

/// Rows of a tile.
const TILE_ROWS: usize = 128;
/// Columns of a tile: with its rows it stays in the second-level cache.
const TILE_COLS: usize = 512;

/// Rows and columns of a tile of a symmetric matrix; copies of its rows are long.
const SQUARE: usize = 512;

/// A tile under the sign of the work that it is for; not computed once that says stop.
fn under_sign<S: Precision>(sign: &Sign, tile: &mut [S], compute: impl FnOnce(&mut [S])) {
    if sign.give_up() {
        return tile.fill(S::narrow(f64::NAN));
    }
    under(sign, || compute(tile));
}

/// The source of tiles: the shape of a matrix, and a function that writes a block of it.
pub(super) struct Tiles<'a, S> {
    pub(super) shape: (usize, usize),
    pub(super) symmetric: bool,
    pub(super) block: &'a (dyn Fn(Pick<'_>, Pick<'_>, BlockMut<'_, S>) + Sync),
}

/// Writes the whole matrix in f64.
pub fn fill(gram: &dyn Gram, out: &mut [f64]) {
    gram.fill(out);
}

/// Writes the whole matrix in f32.
pub fn fill32(gram: &dyn Gram, out: &mut [f32]) {
    gram.fill32(out);
}

/// out = K v for `k` columns (both row by row).
pub fn apply(gram: &dyn Gram, v: &[f64], k: usize, out: &mut [f64]) {
    gram.apply(v, k, out);
}

/// Writes some consecutive rows of the matrix, in f32 or f64.
pub fn fill_rows<S: Precision>(gram: &dyn Gram, rows: Range<usize>, out: &mut [S]) {
    let block = |rows: Pick<'_>, cols: Pick<'_>, tile: BlockMut<'_, S>| S::block(gram, rows, cols, tile);
    fill_strips(&Tiles { shape: gram.shape(), symmetric: false, block: &block }, rows, out);
}

fn fill_strips<S: Precision>(tiles: &Tiles<'_, S>, rows: Range<usize>, out: &mut [S]) {
    let m = tiles.shape.1;
    assert_eq!(out.len(), rows.len() * m, "the output has the size of the rows");
    if m == 0 {
        return;
    }
    let sign = present();
    let one = |strip: usize, values: &mut [S]| {
        under_sign(&sign, values, |values| {
            let (start, count) = (rows.start + strip * TILE_ROWS, values.len() / m);
            let mut strip = BlockMut::new(values, count, m);
            for left in (0..m).step_by(TILE_COLS) {
                let right = (left + TILE_COLS).min(m);
                let tile = strip.part(0..count, left..right);
                (tiles.block)(Pick::Range(start..start + count), Pick::Range(left..right), tile);
            }
        });
    };
    if rows.len() <= TILE_ROWS {
        // one strip is not worth waking a thread
        return one(0, out);
    }
    parallel::strips(out, TILE_ROWS * m, |strip, values| one(strip, values));
}

/// Writes the whole matrix.
pub(super) fn fill_tiles<S: Precision>(tiles: &Tiles<'_, S>, out: &mut [S]) {
    let (n, m) = tiles.shape;
    assert_eq!(out.len(), n * m, "the output has the size of the matrix");
    if tiles.symmetric && n > SQUARE {
        fill_symmetric(tiles, n, n, out);
    } else {
        fill_strips(tiles, 0..n, out);
    }
}

/// A tile of the upper triangle, and where it goes: its own rows, and those of its mirror image below the diagonal.
struct Mirrored<'a, S> {
    rows: Range<usize>,
    cols: Range<usize>,
    upper: Vec<&'a mut [S]>,
    lower: Vec<&'a mut [S]>,
}

/// Writes all rows of a symmetric matrix in f32, with the bits of [`Gram::rows`], to lines of `stride` numbers; half of them are computed.
pub(crate) fn fill_rows_of_symmetric(gram: &dyn Gram, stride: usize, out: &mut [f32]) {
    let n = gram.shape().0;
    assert_eq!(out.len(), n * stride, "the output has the size of the rows");
    let block = |rows: Pick<'_>, cols: Pick<'_>, mut tile: BlockMut<'_, f32>| {
        let (rows, first, width): (Vec<usize>, _, _) = (rows.iter().collect(), cols.at(0), cols.len());
        let mut lines: Vec<&mut [f32]> = tile.values_mut().chunks_mut(width).take(rows.len()).collect();
        gram.rows32(&rows, first..first + width, &mut lines);
    };
    fill_symmetric(&Tiles { shape: (n, n), symmetric: true, block: &block }, n, stride, out);
}

/// Each tile on or above the diagonal is computed once, in cache, and written to both places; rows begin `stride` apart.
fn fill_symmetric<S: Precision>(source: &Tiles<'_, S>, n: usize, stride: usize, out: &mut [S]) {
    let count = n.div_ceil(SQUARE);
    let mut places: Vec<Vec<&mut [S]>> = (0..count * count).map(|_| Vec::with_capacity(SQUARE)).collect();
    for (i, row) in out.chunks_mut(stride).enumerate() {
        for (tile, segment) in row[..n].chunks_mut(SQUARE).enumerate() {
            places[(i / SQUARE) * count + tile].push(segment);
        }
    }
    let range = |tile: usize| tile * SQUARE..((tile + 1) * SQUARE).min(n);
    let mut tiles = Vec::with_capacity(count * (count + 1) / 2);
    for a in 0..count {
        for b in a..count {
            let upper = std::mem::take(&mut places[a * count + b]);
            let lower = if a == b { Vec::new() } else { std::mem::take(&mut places[b * count + a]) };
            tiles.push(Mirrored { rows: range(a), cols: range(b), upper, lower });
        }
    }
    let sign = present();
    parallel::consume(tiles, |_, tile| {
        S::scratch(|buffer| {
            let (height, width) = (tile.rows.len(), tile.cols.len());
            buffer.resize(height * width, S::default());
            // strip by strip, so that what is computed in several passes stays in cache between them
            for (strip, values) in buffer.chunks_mut(TILE_ROWS * width).enumerate() {
                let (start, count) = (tile.rows.start + strip * TILE_ROWS, values.len() / width);
                under_sign(&sign, values, |values| {
                    let block = BlockMut::new(values, count, width);
                    (source.block)(Pick::Range(start..start + count), Pick::Range(tile.cols.clone()), block);
                });
            }
            for (to, from) in tile.upper.into_iter().zip(buffer.chunks_exact(width)) {
                to.copy_from_slice(from);
            }
            mirror(buffer, height, width, tile.lower);
        });
    });
}

/// Writes the transposed tile: as many of its columns as a line of cache holds are turned at a time, then copied as rows.
fn mirror<S: Precision>(tile: &[S], height: usize, width: usize, mut out: Vec<&mut [S]>) {
    let side = 64 / size_of::<S>();
    S::scratch(|turned| {
        turned.resize(side * height, S::default());
        for (group, rows) in out.chunks_mut(side).enumerate() {
            for i in 0..height {
                let from = &tile[i * width + group * side..];
                for (lane, &value) in from.iter().take(rows.len()).enumerate() {
                    turned[lane * height + i] = value;
                }
            }
            for (to, from) in rows.iter_mut().zip(turned.chunks_exact(height)) {
                to.copy_from_slice(from);
            }
        }
    });
}

/// out = K v for `k` columns (both row by row), streaming tiles in a fixed order; nothing n² is stored.
pub(super) fn apply_tiles(tiles: &Tiles<'_, f64>, stored: Option<&[f64]>, v: &[f64], k: usize, out: &mut [f64]) {
    let (n, m) = tiles.shape;
    assert!(v.len() == m * k && out.len() == n * k, "the vectors have the sizes of the matrix");
    if k == 0 {
        return;
    }
    if let Some(values) = stored.filter(|_| m > 0) {
        let one = |out: &mut [f64], rows: &[f64]| {
            out.fill(0.0);
            accumulate(rows, v, k, out);
        };
        if n <= TILE_ROWS {
            return one(out, values);
        }
        return parallel::strips_beside((out, TILE_ROWS * k), (values, TILE_ROWS * m), one);
    }
    let sign = present();
    let one = |tile: &mut [f64], strip: usize, out: &mut [f64]| {
        let (start, count) = (strip * TILE_ROWS, out.len() / k);
        out.fill(0.0);
        for left in (0..m).step_by(TILE_COLS) {
            let right = (left + TILE_COLS).min(m);
            let width = right - left;
            under_sign(&sign, &mut tile[..count * width], |values| {
                let block = BlockMut::new(values, count, width);
                (tiles.block)(Pick::Range(start..start + count), Pick::Range(left..right), block);
            });
            accumulate(&tile[..count * width], &v[left * k..right * k], k, out);
        }
    };
    if n <= TILE_ROWS {
        // one strip is not worth waking a thread
        return one(&mut vec![0.0; n * TILE_COLS.min(m)], 0, out);
    }
    out.par_chunks_mut(TILE_ROWS * k)
        .enumerate()
        .for_each_init(|| vec![0.0; TILE_ROWS * TILE_COLS], |tile, (strip, out)| one(tile, strip, out));
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
    const LANES: usize = 16;
    let mut sums = [0.0; LANES];
    let (a_wide, a_rest) = a.as_chunks::<LANES>();
    let (b_wide, b_rest) = b.as_chunks::<LANES>();
    for (x, y) in a_wide.iter().zip(b_wide) {
        for l in 0..LANES {
            sums[l] += x[l] * y[l];
        }
    }
    let mut total: f64 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
    for s in sums {
        total += s;
    }
    total
}
