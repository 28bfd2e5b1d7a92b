//! Products of matrices: A Bᵀ, A B, Aᵀ B and XᵀX, row by row.
//!
//! A product is cut into tiles, and faer computes each of them on one thread by panels that stay in the caches, so that sums have
//! the same order for any number of threads.
//!
//! # Source
//! Goto & van de Geijn (2008), Anatomy of high-performance matrix multiplication, ACM Trans. Math. Softw. 34.

use crate::data::Scalar;
use crate::parallel;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// The inner product Σ a_i b_i, summed in the order of the numbers. Where many are wanted, a product of matrices is faster.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// out = A Bᵀ for A (n × d) and B (m × d) stored row by row; the rows of `out` start `stride` apart.
pub fn multiply_transposed<S: Scalar>(a: &[S], b: &[S], d: usize, out: &mut [S], stride: usize) {
    if d == 0 {
        out.fill(S::default());
        return;
    }
    let (n, m) = (a.len() / d, b.len() / d);
    if n == 0 || m == 0 {
        return;
    }
    let left = MatRef::from_row_major_slice(a, n, d);
    let right = MatRef::from_row_major_slice(b, m, d);
    // faer 0.24's from_row_major_slice_with_stride_mut mixes up its strides and writes past the slice
    let target = MatMut::from_column_major_slice_with_stride_mut(out, m, n, stride).transpose_mut();
    matmul(target, Accum::Replace, left, right.transpose(), S::narrow(1.0), Par::Seq);
}

/// out += A B for A (n × m) and B (m × k) stored row by row.
pub fn multiply_add<S: Scalar>(a: &[S], n: usize, m: usize, b: &[S], k: usize, out: &mut [S]) {
    if n == 0 || m == 0 || k == 0 {
        return;
    }
    let left = MatRef::from_row_major_slice(a, n, m);
    let right = MatRef::from_row_major_slice(b, m, k);
    matmul(MatMut::from_row_major_slice_mut(out, n, k), Accum::Add, left, right, S::narrow(1.0), Par::Seq);
}

/// AᵀB for A (n × d) and B (n × k) stored row by row: d × k numbers.
pub fn transposed_multiply(a: &[f64], d: usize, b: &[f64], k: usize) -> Vec<f64> {
    let mut out = vec![0.0; d * k];
    if a.is_empty() || out.is_empty() {
        return out;
    }
    let n = a.len() / d;
    let (a, b) = (MatRef::from_row_major_slice(a, n, d), MatRef::from_row_major_slice(b, n, k));
    matmul(MatMut::from_row_major_slice_mut(&mut out, d, k), Accum::Replace, a.transpose(), b, 1.0, Par::Seq);
    out
}

/// Columns of a tile of XᵀX.
const COLUMNS: usize = 64;
/// Rows of X that a tile takes in at a time: with its columns they stay in the second-level cache.
const STRIP: usize = 1024;

/// XᵀX for X (n × d) stored row by row: d × d numbers, exactly symmetric. Each tile is summed by one thread over fixed
/// strips in a fixed order, so the numbers do not depend on how many threads there are.
pub fn gram_of_columns(x: &[f64], n: usize, d: usize) -> Vec<f64> {
    assert_eq!(x.len(), n * d, "n rows of d numbers");
    let mut out = vec![0.0; d * d];
    if n == 0 || d == 0 {
        return out;
    }
    let x = MatRef::from_row_major_slice(x, n, d);
    parallel::strips(&mut out, COLUMNS * d, |band, values| {
        let (left, count) = (band * COLUMNS, values.len() / d);
        let mut tile = MatMut::from_row_major_slice_mut(values, count, d).subcols_mut(left, d - left);
        for top in (0..n).step_by(STRIP) {
            let strip = x.subrows(top, STRIP.min(n - top));
            let (own, rest) = (strip.subcols(left, count), strip.subcols(left, d - left));
            matmul(tile.as_mut(), Accum::Add, own.transpose(), rest, 1.0, Par::Seq);
        }
    });
    for i in 0..d {
        for j in 0..i {
            out[i * d + j] = out[j * d + i];
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gram_of_columns_is_that_of_loops_for_any_number_of_threads() {
        for (n, d) in [(1, 1), (3, 7), (50, 64), (2500, 130)] {
            let x: Vec<f64> = (0..n * d).map(|i| (i as f64 * 0.7).sin()).collect();
            let with = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| gram_of_columns(&x, n, d))
            };
            let (one, three) = (with(1), with(3));
            assert_eq!(one, three);
            for i in 0..d {
                for j in 0..d {
                    let sum: f64 = (0..n).map(|r| x[r * d + i] * x[r * d + j]).sum();
                    assert!((one[i * d + j] - sum).abs() < 1e-11 && one[i * d + j] == one[j * d + i]);
                }
            }
        }
        assert_eq!(gram_of_columns(&[], 0, 2), [0.0; 4]);
    }

    fn turned_back(a: &[f64], n: usize, d: usize) -> Vec<f64> {
        (0..n * d).map(|p| a[(p % n) * d + p / n]).collect()
    }

    #[test]
    fn products_are_those_of_loops_and_stay_in_their_place() {
        const GUARD: f64 = 7.25;
        let sizes = [1, 2, 3, 5, 8, 17, 40];
        for (n, d, k) in sizes
            .iter()
            .flat_map(|&n| sizes.iter().flat_map(move |&d| [1, 2, 3, 4, 8, 9, 16, 33, 150].map(|k| (n, d, k))))
        {
            let a: Vec<f64> = (0..n * d).map(|i| (i as f64).sin()).collect();
            let b: Vec<f64> = (0..d * k).map(|i| (i as f64).cos()).collect();
            let turned: Vec<f64> = (0..k * d).map(|i| b[(i % d) * k + i / d]).collect();
            let columns = transposed_multiply(&b, k, &turned_back(&a, n, d), n);
            let stride = k + 3;
            let (mut plain, mut strided) = (vec![GUARD; n * k + 512], vec![GUARD; n * stride + 512]);
            plain[..n * k].fill(1.0);
            multiply_add(&a, n, d, &b, k, &mut plain[..n * k]);
            multiply_transposed(&a, &turned, d, &mut strided[..(n - 1) * stride + k], stride);
            for i in 0..n {
                for c in 0..k {
                    let sum: f64 = (0..d).map(|j| a[i * d + j] * b[j * k + c]).sum();
                    assert!((plain[i * k + c] - 1.0 - sum).abs() < 1e-12, "{n} {d} {k}");
                    assert!((strided[i * stride + c] - sum).abs() < 1e-12, "{n} {d} {k}");
                    assert!((columns[c * n + i] - sum).abs() < 1e-12, "{n} {d} {k}");
                }
                assert!(strided[i * stride + k..(i + 1) * stride].iter().all(|&x| x == GUARD), "{n} {d} {k}");
            }
            assert!(plain[n * k..].iter().chain(&strided[n * stride..]).all(|&x| x == GUARD), "{n} {d} {k}");
        }
    }
}
