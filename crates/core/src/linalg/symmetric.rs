//! Products of a symmetric matrix with few vectors, as fast as one triangle can be read: every row serves twice.
//!
//! y_i = a_ii x_i + Σ_{j<i} a_ij x_j, and y_j += a_ij x_i for the same a_ij. Strips of rows add up what they have for earlier numbers
//! apart, and the sums are joined in the order of the strips, so that they do not depend on the number of threads.
//!
//! # Source
//! Golub & Van Loan, Matrix Computations (4th ed. 2013), §1.2.8.

use crate::parallel;
use crate::vectorise::{Loops, vectorised};

/// Rows of a strip.
const STRIP: usize = 128;
/// Rows that pass over the vectors together.
const ROWS: usize = 4;
/// Sums side by side of a long product.
const LANES: usize = 16;

/// The products with each of the columns (n numbers, one after the other). Of the matrix, row by row, what stands below the diagonal is
/// read, which has numbers of its own.
pub(super) fn multiply(lower: &[f64], diagonal: &[f64], columns: &[f64]) -> Vec<f64> {
    let n = diagonal.len();
    let mut out = columns.to_vec();
    if n == 0 {
        return out;
    }
    out.chunks_exact_mut(n).for_each(|y| y.iter_mut().zip(diagonal).for_each(|(y, a)| *y *= a));
    let parts = parallel::map(n.div_ceil(STRIP), |s| {
        // long rows first
        let first = (n.div_ceil(STRIP) - 1 - s) * STRIP;
        let end = n.min(first + STRIP);
        let mut part = vec![0.0; columns.len() / n * end];
        vectorised(Strip { rows: &lower[first * n..end * n], first, n, columns, part: &mut part });
        (end, part)
    });
    for (end, part) in &parts {
        for (y, part) in out.chunks_exact_mut(n).zip(part.chunks_exact(*end)) {
            y.iter_mut().zip(part).for_each(|(y, p)| *y += p);
        }
    }
    out
}

/// What a strip of rows has for all numbers up to its last.
struct Strip<'a> {
    rows: &'a [f64],
    first: usize,
    n: usize,
    columns: &'a [f64],
    part: &'a mut [f64],
}

impl Loops for Strip<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let n = self.n;
        let end = self.first + self.rows.len() / n;
        for (i, rows) in (self.first..end).step_by(ROWS).zip(self.rows.chunks(ROWS * n)) {
            let count = rows.len() / n;
            // a last group of fewer rows has zeros for the others
            let row = |r: usize| &rows[r.min(count - 1) * n..][..i];
            let (a, b, c, d) = (row(0), row(1), row(2), row(3));
            for (x, y) in self.columns.chunks_exact(n).zip(self.part.chunks_exact_mut(end)) {
                let mut z = [0.0; ROWS];
                z[..count].copy_from_slice(&x[i..i + count]);
                let mut lanes = [[0.0; LANES]; ROWS];
                let (x_left, y_left) = (x[..i].chunks_exact(LANES), &mut y[..i]);
                let rest = i / LANES * LANES;
                let rows_left = a.chunks_exact(LANES).zip(b.chunks_exact(LANES));
                let rows_left = rows_left.zip(c.chunks_exact(LANES).zip(d.chunks_exact(LANES)));
                for ((y, x), ((a, b), (c, d))) in y_left.chunks_exact_mut(LANES).zip(x_left).zip(rows_left) {
                    for l in 0..LANES {
                        lanes[0][l] += a[l] * x[l];
                        lanes[1][l] += b[l] * x[l];
                        lanes[2][l] += c[l] * x[l];
                        lanes[3][l] += d[l] * x[l];
                        y[l] += (a[l] * z[0] + b[l] * z[1]) + (c[l] * z[2] + d[l] * z[3]);
                    }
                }
                let mut sums = lanes.map(|lane| lane.iter().sum::<f64>());
                for j in rest..i {
                    for (sum, row) in sums.iter_mut().zip([a, b, c, d]) {
                        *sum += row[j] * x[j];
                    }
                    y[j] += (a[j] * z[0] + b[j] * z[1]) + (c[j] * z[2] + d[j] * z[3]);
                }
                // the rows among themselves
                for r in 0..count {
                    y[i + r] += sums[r];
                    for s in 0..r {
                        let entry = rows[r * n + i + s];
                        y[i + r] += entry * x[i + s];
                        y[i + s] += entry * x[i + r];
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    #[test]
    fn products_are_those_of_the_whole_matrix_with_the_same_bits_for_any_number_of_threads() {
        for (n, k) in [(0, 1), (1, 1), (3, 2), (16, 1), (129, 3), (131, 0), (700, 2)] {
            let mut random = Seed(9).stream("symmetric");
            let diagonal: Vec<f64> = (0..n).map(|_| random.normal()).collect();
            // nothing on or above the diagonal is read
            let lower: Vec<f64> = (0..n * n).map(|p| if p % n < p / n { random.normal() } else { f64::NAN }).collect();
            let x: Vec<f64> = (0..n * k).map(|_| random.normal()).collect();
            let with = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| multiply(&lower, &diagonal, &x))
            };
            let found = with(1);
            for (c, i) in (0..k).flat_map(|c| (0..n).map(move |i| (c, i))) {
                let entry = |j: usize| if i == j { diagonal[i] } else { lower[i.max(j) * n + i.min(j)] };
                let sum: f64 = (0..n).map(|j| entry(j) * x[c * n + j]).sum();
                assert!((found[c * n + i] - sum).abs() < 1e-12 * (n as f64), "{n} {k}");
            }
            assert!(with(2) == found && with(3) == found, "{n} {k}");
        }
    }
}
