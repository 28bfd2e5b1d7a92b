//! Products of matrices, single-threaded: threads come in by tiles.

use crate::data::Scalar;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

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
    let target = MatMut::from_row_major_slice_with_stride_mut(out, n, m, stride);
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
