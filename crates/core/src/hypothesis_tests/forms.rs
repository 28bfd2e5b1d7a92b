//! Quadratic forms of many vectors in one pass over a kernel matrix.
//!
//! ```text
//! q_b = Σ_{i ≠ j} s_ib K_ij s_jb = s_bᵀ(K S)_b        one product of matrices for all b, strip by strip of K
//! ```
//! Each tile of K is computed once, serves all vectors and is forgotten: nothing n² is stored. Of a symmetric matrix only the
//! tiles on and right of the diagonal are asked for, and count twice.

use crate::error::Error;
use crate::gram::{BlockMut, Budget, Gram, Pick};
use crate::linalg::SolveError;
use crate::linalg::multiply_add;
use crate::parallel;
use crate::watch::{Monitor, Phase, Progress};
use std::ops::Range;

/// What helps where the draws of a test do not fit into memory.
pub(super) const FEWER: &str = "ask for fewer draws, take fewer examples, or raise --memory";

/// Rows of a strip.
const STRIP: usize = 128;
/// Columns of a tile.
const TILE: usize = 512;
/// Number of vectors that are multiplied at a time.
const VECTORS_PER_PRODUCT: usize = 1024;

/// Writes the entries of row i of S for some vectors.
pub(super) type Row<'a> = &'a (dyn Fn(usize, Range<usize>, &mut [f64]) + Sync);

/// The forms, and sums over rows of the same matrix.
pub(super) struct Forms {
    /// Σ_{i ≠ j} s_i K_ij s_j of every vector.
    pub(super) values: Vec<f64>,
    /// Σ_{j ≠ i} K_ij.
    pub(super) sums: Vec<f64>,
    /// K_ii.
    pub(super) diagonal: Vec<f64>,
    /// The largest |K_ij|.
    pub(super) largest: f64,
}

/// The sums of one strip.
struct Part {
    forms: Vec<f64>,
    /// Sums of the rows of the strip, and of the columns right of it.
    sums: Vec<f64>,
    diagonal: Vec<f64>,
    largest: f64,
}

/// Forms of `count` vectors in K_ij − f_i − f_j + f_0 with f_i = K_i0: the kernel seen from the first example. Weights that add up
/// to zero do not see the difference, and a kernel far from the origin loses no digits.
///
/// # Cost
/// n² kernel values and n² `count` multiplications; beside S, 1 KiB for each example and thread.
pub(super) fn quadratic_forms(
    gram: &dyn Gram,
    count: usize,
    row: Row<'_>,
    budget: Budget,
    watch: &dyn Monitor,
) -> Result<Forms, Error> {
    let n = gram.shape().0;
    let threads = rayon::current_num_threads();
    let each = 8 * (STRIP * n.next_multiple_of(TILE) + (TILE + 2 * STRIP) * VECTORS_PER_PRODUCT.min(count) + n);
    budget.check(n.saturating_mul(count).saturating_add(threads * each), "the test").map_err(|e| e.remedy(FEWER))?;
    let mut shift = vec![0.0; n];
    if n > 0 {
        gram.block(Pick::Range(0..n), Pick::Range(0..1), BlockMut::new(&mut shift, n, 1));
    }
    let half = 0.5 * shift.first().copied().unwrap_or(0.0);
    shift.iter_mut().for_each(|f| *f -= half);
    let mut all = Forms { values: vec![0.0; count], sums: vec![0.0; n], diagonal: Vec::with_capacity(n), largest: 0.0 };
    let starts: Vec<usize> = (0..n).step_by(STRIP).collect();
    for batch in starts.chunks(2 * threads) {
        watch.alive(Progress::new(Phase::new("test"), batch[0]).of(n)).map_err(SolveError::from)?;
        let parts: Result<Vec<Part>, SolveError> =
            parallel::map(batch.len(), |b| strip(gram, &shift, batch[b], count, row)).into_iter().collect();
        // in the order of the strips, so that the sums do not depend on the threads
        for (part, &start) in parts?.into_iter().zip(batch) {
            all.values.iter_mut().zip(part.forms).for_each(|(a, p)| *a += p);
            all.sums[start..].iter_mut().zip(part.sums).for_each(|(a, p)| *a += p);
            all.diagonal.extend(part.diagonal);
            all.largest = all.largest.max(part.largest);
        }
    }
    Ok(all)
}

fn strip(gram: &dyn Gram, shift: &[f64], start: usize, count: usize, row: Row<'_>) -> Result<Part, SolveError> {
    let n = gram.shape().0;
    let end = (start + STRIP).min(n);
    let (height, twice) = (end - start, gram.is_symmetric());
    let first = if twice { start } else { 0 };
    let lefts: Vec<usize> = (first..n).step_by(TILE).collect();
    let mut tiles = vec![0.0; lefts.len() * height * TILE];
    let (mut sums, mut diagonal, mut largest) = (vec![0.0; n - start], vec![0.0; height], 0.0_f64);
    for (tile, &left) in tiles.chunks_mut(height * TILE).zip(&lefts) {
        let width = TILE.min(n - left);
        let tile = &mut tile[..height * width];
        gram.block(Pick::Range(start..end), Pick::Range(left..left + width), BlockMut::new(tile, height, width));
        for (i, line) in tile.chunks_exact_mut(width).enumerate() {
            for (k, value) in line.iter_mut().enumerate() {
                let (i, j) = (start + i, left + k);
                if !value.is_finite() {
                    return Err(SolveError::NotFinite { row: i + 1, column: j + 1 });
                }
                *value -= shift[i] + shift[j];
                largest = largest.max(value.abs());
                if i == j {
                    diagonal[i - start] = *value;
                    *value = 0.0;
                    continue;
                }
                sums[i - start] += *value;
                if twice && j >= end {
                    sums[j - start] += *value;
                    *value *= 2.0;
                }
            }
        }
    }
    let mut forms = vec![0.0; count];
    let most = VECTORS_PER_PRODUCT.min(count);
    let (mut vectors, mut product) = (vec![0.0; TILE * most], vec![0.0; height * most]);
    for from in (0..count).step_by(VECTORS_PER_PRODUCT) {
        let wide = VECTORS_PER_PRODUCT.min(count - from);
        let columns = from..from + wide;
        let product = &mut product[..height * wide];
        product.fill(0.0);
        for (tile, &left) in tiles.chunks(height * TILE).zip(&lefts) {
            let width = TILE.min(n - left);
            for (k, line) in vectors.chunks_exact_mut(wide).take(width).enumerate() {
                row(left + k, columns.clone(), line);
            }
            multiply_add(&tile[..height * width], height, width, &vectors[..width * wide], wide, product);
        }
        let mut own = vec![0.0; wide];
        for (i, line) in product.chunks_exact(wide).enumerate() {
            row(start + i, columns.clone(), &mut own);
            for ((form, s), p) in forms[columns.clone()].iter_mut().zip(&own).zip(line) {
                *form += s * p;
            }
        }
    }
    Ok(Part { forms, sums, diagonal, largest })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dataset, Rows};
    use crate::formula::rbf;
    use crate::geometry::testing::{linear, points};
    use crate::gram::fill;
    use crate::watch::Silent;

    #[test]
    fn forms_and_sums_are_those_of_loops_for_any_number_of_threads() {
        let (n, d, count) = (700, 3, 5);
        let x = points(n, d, 31);
        let data = Dataset::new(Rows::new(x.clone(), n, d).unwrap());
        let symmetric = rbf(0.3).gram(&data).unwrap();
        assert!(symmetric.is_symmetric(), "the fast way is tried");
        let plain = linear(&x, d);
        let s = points(n, count, 32);
        let row = |i: usize, columns: Range<usize>, out: &mut [f64]| {
            out.copy_from_slice(&s[i * count + columns.start..i * count + columns.end]);
        };
        for gram in [symmetric.as_ref(), &plain as &dyn Gram] {
            let mut k = vec![0.0; n * n];
            fill(gram, &mut k);
            let with = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| quadratic_forms(gram, count, &row, Budget::default(), &Silent)).unwrap()
            };
            let (one, three) = (with(1), with(3));
            assert_eq!((&one.values, &one.sums), (&three.values, &three.sums));
            let seen = |i: usize, j: usize| k[i * n + j] - k[i * n] - k[j * n] + k[0];
            for b in 0..count {
                let wanted: f64 = (0..n * n)
                    .filter(|p| p / n != p % n)
                    .map(|p| s[p / n * count + b] * seen(p / n, p % n) * s[p % n * count + b])
                    .sum();
                assert!((one.values[b] - wanted).abs() < 1e-8 * (1.0 + wanted.abs()), "{} {wanted}", one.values[b]);
            }
            for i in (0..n).step_by(37) {
                let wanted: f64 = (0..n).filter(|&j| j != i).map(|j| seen(i, j)).sum();
                assert!((one.sums[i] - wanted).abs() < 1e-9 * (1.0 + wanted.abs()));
                assert!((one.diagonal[i] - seen(i, i)).abs() < 1e-12 * (1.0 + seen(i, i).abs()));
            }
        }
    }
}
