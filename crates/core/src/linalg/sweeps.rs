//! Triangular systems with few right-hand sides, as fast as the triangle can be read: block substitution.
//!
//! Rows are solved in blocks: x_i = (b_i − Σ_{j<i} u_ji x_j) / u_ii by substitution inside a block, whose solution is then
//! subtracted from the right-hand sides of all later rows.
//!
//! The right-hand sides stand one after the other, so that a stretch of a row meets a stretch of each of them. Who
//! computes what does not depend on the number of threads, and so neither do the numbers.
//!
//! # Source
//! Golub & Van Loan, Matrix Computations (4th ed. 2013), §3.1.

use super::dot;
use crate::parallel;
use crate::vectorise::{Loops, vectorised};

/// Rows that are solved before the others hear of it.
const BLOCK: usize = 128;
/// Numbers of a right-hand side that one thread takes at a time.
const WIDTH: usize = 1024;
/// Rows that pass over a tile together.
const ROWS: usize = 8;
/// Numbers of a right-hand side that stay in the nearest cache while rows pass.
const TILE: usize = 256;
/// Sums side by side of a long product.
const LANES: usize = 16;

/// Replaces the columns of B (each n numbers, one after the other) by those of X with UᵀX = B. Of U, n × n numbers row by
/// row, the triangle on and above the diagonal is read.
pub(super) fn forward(upper: &[f64], n: usize, columns: &mut [f64]) {
    for top in (0..n).step_by(BLOCK) {
        let size = BLOCK.min(n - top);
        let rows = &upper[top * n..(top + size) * n];
        let mut solved = Vec::new();
        let mut stretches: Vec<Vec<&mut [f64]>> = Vec::new();
        stretches.resize_with((n - top - size).div_ceil(WIDTH), Vec::new);
        for column in columns.chunks_exact_mut(n) {
            let (head, rest) = column[top..].split_at_mut(size);
            for j in 0..size {
                let row = &rows[j * n + top..j * n + top + size];
                head[j] /= row[j];
                let z = head[j];
                head[j + 1..].iter_mut().zip(&row[j + 1..]).for_each(|(x, u)| *x -= u * z);
            }
            solved.extend_from_slice(head);
            stretches.iter_mut().zip(rest.chunks_mut(WIDTH)).for_each(|(s, part)| s.push(part));
        }
        parallel::consume(stretches, |s, parts| {
            let from = top + size + s * WIDTH;
            vectorised(Update { rows, n, from, solved: &solved, parts });
        });
    }
}

/// Replaces the columns of B (each n numbers, one after the other) by those of X with UX = B.
pub(super) fn backward(upper: &[f64], n: usize, columns: &mut [f64]) {
    let k = columns.len() / n.max(1);
    for top in (0..n).step_by(BLOCK).rev() {
        let end = (top + BLOCK).min(n);
        let mut sums = vec![0.0; (end - top) * k];
        if end < n && k > 0 {
            let tails: Vec<&[f64]> = columns.chunks_exact(n).map(|c| &c[end..]).collect();
            parallel::strips_beside((&mut sums, ROWS * k), (&upper[top * n..end * n], ROWS * n), |sums, rows| {
                vectorised(Products { rows, n, end, tails: &tails, sums });
            });
        }
        for (c, column) in columns.chunks_exact_mut(n).enumerate() {
            for i in (top..end).rev() {
                let row = &upper[i * n..i * n + end];
                let known = sums[(i - top) * k + c] + dot(&row[i + 1..], &column[i + 1..end]);
                column[i] = (column[i] - known) / row[i];
            }
        }
    }
}

/// x −= Σ_r u_r z_r on a stretch of each right-hand side, for the rows u of a block.
struct Update<'a> {
    rows: &'a [f64],
    n: usize,
    from: usize,
    solved: &'a [f64],
    parts: Vec<&'a mut [f64]>,
}

impl Loops for Update<'_> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        let (n, size) = (self.n, self.rows.len() / self.n);
        let width = self.parts.first().map_or(0, |p| p.len());
        for start in (0..width).step_by(TILE) {
            let end = (start + TILE).min(width);
            for first in (0..size).step_by(ROWS) {
                for (part, solved) in self.parts.iter_mut().zip(self.solved.chunks_exact(size)) {
                    let x = &mut part[start..end];
                    let z = &solved[first..first + ROWS];
                    let mut lines = self.rows[first * n..(first + ROWS) * n].chunks_exact(n);
                    let mut next = || match lines.next() {
                        Some(line) => &line[self.from + start..self.from + end],
                        None => &[][..],
                    };
                    let (a, b, c, d) = (next(), next(), next(), next());
                    for ((((x, a), b), c), d) in x.iter_mut().zip(a).zip(b).zip(c).zip(d) {
                        *x -= (a * z[0] + b * z[1]) + (c * z[2] + d * z[3]);
                    }
                    let (a, b, c, d) = (next(), next(), next(), next());
                    for ((((x, a), b), c), d) in x.iter_mut().zip(a).zip(b).zip(c).zip(d) {
                        *x -= (a * z[4] + b * z[5]) + (c * z[6] + d * z[7]);
                    }
                }
            }
        }
    }
}

/// The products of rows with what stands behind column `end` of each right-hand side.
struct Products<'a> {
    rows: &'a [f64],
    n: usize,
    end: usize,
    tails: &'a [&'a [f64]],
    sums: &'a mut [f64],
}

impl Loops for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let k = self.tails.len();
        let mut lanes = vec![[0.0; LANES]; k];
        for (row, sums) in self.rows.chunks_exact(self.n).zip(self.sums.chunks_exact_mut(k)) {
            let row = &row[self.end..];
            lanes.fill([0.0; LANES]);
            for start in (0..row.len()).step_by(TILE) {
                let end = (start + TILE).min(row.len());
                let pieces = row[start..end].chunks_exact(LANES);
                for ((tail, lanes), sum) in self.tails.iter().zip(&mut lanes).zip(sums.iter_mut()) {
                    let other = tail[start..end].chunks_exact(LANES);
                    *sum += dot(pieces.remainder(), other.remainder());
                    for (a, b) in pieces.clone().zip(other) {
                        for ((lane, a), b) in lanes.iter_mut().zip(a).zip(b) {
                            *lane += a * b;
                        }
                    }
                }
            }
            sums.iter_mut().zip(&lanes).for_each(|(sum, lanes)| *sum += lanes.iter().sum::<f64>());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    #[test]
    fn sweeps_undo_the_triangle_with_the_same_bits_for_any_number_of_threads() {
        for (n, k) in [(0, 2), (1, 1), (5, 3), (128, 2), (129, 1), (300, 0), (1500, 2)] {
            let mut random = Seed(6).stream("sweeps");
            let entry = |p: usize, random: &mut crate::seed::Random| match (p / n).cmp(&(p % n)) {
                std::cmp::Ordering::Less => random.normal() / n as f64,
                std::cmp::Ordering::Equal => 1.0 + random.uniform(),
                // nothing below the diagonal is read
                std::cmp::Ordering::Greater => f64::NAN,
            };
            let upper: Vec<f64> = (0..n * n).map(|p| entry(p, &mut random)).collect();
            let x: Vec<f64> = (0..n * k).map(|_| random.normal()).collect();
            let (mut plain, mut turned) = (vec![0.0; n * k], vec![0.0; n * k]);
            for c in 0..k {
                for i in 0..n {
                    for j in i..n {
                        plain[c * n + i] += upper[i * n + j] * x[c * n + j];
                        turned[c * n + j] += upper[i * n + j] * x[c * n + i];
                    }
                }
            }
            for (sweep, image) in [(backward as fn(&[f64], usize, &mut [f64]), plain), (forward, turned)] {
                let with = |threads: usize| {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                    let mut columns = image.clone();
                    pool.install(|| sweep(&upper, n, &mut columns));
                    columns
                };
                let one = with(1);
                assert!(one.iter().zip(&x).all(|(a, b)| (a - b).abs() < 1e-12), "{n} {k}");
                assert_eq!(one, with(3));
            }
        }
    }
}
