//! Examples with many coordinates, as kernels with explicit features see them: distances from means by products of matrices.

use super::lloyd::Space;
use crate::data::Rows;
use crate::linalg::{dot, multiply_transposed, transposed_multiply};
use crate::parallel;

/// The vectors x of features √s x.
pub(super) struct Inputs<'a> {
    rows: &'a Rows<f64>,
    /// s.
    scale: f64,
    /// ‖x‖².
    squares: Vec<f64>,
}

/// Rows whose distances one thread computes at a time.
const STRIP: usize = 256;
/// The number of parts in which means are summed, one after the other, and the smallest part.
const PARTS: usize = 16;
const MIN_PART: usize = 1024;

impl<'a> Inputs<'a> {
    pub(super) fn new(rows: &'a Rows<f64>, scale: f64) -> Self {
        let squares = (0..rows.len()).map(|i| dot(rows.row(i), rows.row(i))).collect();
        Self { rows, scale, squares }
    }

    /// s‖x‖² of each example: κ(x, x).
    pub(super) fn own(&self) -> Vec<f64> {
        self.squares.iter().map(|square| self.scale * square).collect()
    }

    /// Σ_i `weights`_ic x_i of m columns of weights, one after the other: the parts are those of the number of examples, whatever the
    /// number of threads.
    pub(super) fn means(&self, weights: &[f64], m: usize) -> Vec<f64> {
        let (n, width) = (self.rows.len(), self.rows.width());
        let size = n.div_ceil(PARTS).max(MIN_PART);
        let parts = parallel::map(n.div_ceil(size), |part| {
            let some = part * size..n.min((part + 1) * size);
            let rows = &self.rows.values()[some.start * width..some.end * width];
            transposed_multiply(&weights[some.start * m..some.end * m], m, rows, width)
        });
        let mut means = vec![0.0; m * width];
        for part in parts {
            means.iter_mut().zip(part).for_each(|(mean, sum)| *mean += sum);
        }
        means
    }

    /// s‖x_i − p_c‖² for m places p, by ‖x‖² − 2⟨x, p⟩ + ‖p‖².
    fn to_places(&self, places: &[f64]) -> Vec<f64> {
        let width = self.rows.width();
        let m = places.len() / width;
        let norms: Vec<f64> = places.chunks_exact(width).map(|place| dot(place, place)).collect();
        let mut distances = vec![0.0; self.rows.len() * m];
        parallel::strips(&mut distances, STRIP * m, |strip, distances| {
            let (start, count) = (strip * STRIP, distances.len() / m);
            let rows = &self.rows.values()[start * width..(start + count) * width];
            multiply_transposed(rows, places, width, distances, m);
            for (row, square) in distances.chunks_exact_mut(m).zip(&self.squares[start..]) {
                row.iter_mut().zip(&norms).for_each(|(d, norm)| *d = self.scale * (square - 2.0 * *d + norm));
            }
        });
        distances
    }
}

impl Space for Inputs<'_> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn to_example(&self, j: usize) -> Vec<f64> {
        self.to_places(self.rows.row(j))
    }

    fn to_means(&self, weights: &[f64], m: usize) -> Vec<f64> {
        self.to_places(&self.means(weights, m))
    }
}
