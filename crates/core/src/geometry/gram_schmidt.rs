//! Gram–Schmidt in feature space: incomplete Cholesky with pivots.
//!
//! ```text
//! choose the example whose residual κ(x, x) − Σ_t r_t² is largest, ν = √residual
//! r_j = (κ(x_p, x_j) − Σ_{t<j} r_t(x_p) r_t(x_j)) / ν     for all examples; residuals fall by r_j²
//! ```
//! After T steps K ≈ RᵀR, exactly on the chosen examples; the trace of what is left is known at every step. Only T columns of
//! K are ever computed.
//!
//! # Source
//! KMPA, Algorithm 5.12 (partial Gram–Schmidt); S. Fine & K. Scheinberg, Efficient SVM training using low-rank kernel
//! representations, JMLR 2 (2001), §4.

use super::lengths::selves;
use crate::gram::{BlockMut, Gram, Pick, Plan, PlanError};
use rayon::prelude::*;

/// Examples whose coordinates one thread computes at a time.
const STRIP: usize = 256;

/// Coordinates of the examples in the span of a few of them.
#[derive(Clone, Debug, PartialEq)]
pub struct GramSchmidt {
    /// The places of the chosen examples, in their order.
    pub pivots: Vec<usize>,
    /// Their distances from the span of those before, ν.
    pub lengths: Vec<f64>,
    /// Coordinates of all examples, n × rank row by row: inner products of rows approximate K.
    pub coordinates: Vec<f64>,
    /// κ(x, x) minus the squared length of the coordinates, of every example.
    pub residuals: Vec<f64>,
}

impl GramSchmidt {
    /// Chooses examples until no residual is above `tolerance` or `most` are chosen.
    ///
    /// # Errors
    /// If the coordinates do not fit the memory plan.
    pub fn of(gram: &dyn Gram, tolerance: f64, most: usize, plan: Plan) -> Result<Self, PlanError> {
        let n = gram.shape().0;
        let most = most.min(n);
        plan.check(8 * n.saturating_mul(most + 2), "coordinates of partial Gram–Schmidt")?;
        let mut residuals = selves(gram);
        let mut coordinates = vec![0.0; n * most];
        let (mut pivots, mut lengths) = (Vec::new(), Vec::new());
        let mut column = vec![0.0; n];
        while pivots.len() < most {
            // the first of equals, so that nothing depends on the threads
            let Some((pivot, left)) =
                residuals.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))
            else {
                break;
            };
            // what is not a number is no residual either
            if left.is_nan() || left <= tolerance.max(0.0) {
                break;
            }
            let (t, nu) = (pivots.len(), left.sqrt());
            let own: Vec<f64> = coordinates[pivot * most..pivot * most + t].to_vec();
            column.par_chunks_mut(STRIP).enumerate().for_each(|(strip, out)| {
                let count = out.len();
                let rows = Pick::Range(strip * STRIP..strip * STRIP + count);
                gram.block(rows, Pick::Range(pivot..pivot + 1), BlockMut::new(out, count, 1));
            });
            let step = |((row, value), residual): ((&mut [f64], &f64), &mut f64)| {
                let known: f64 = row[..t].iter().zip(&own).map(|(a, b)| a * b).sum();
                row[t] = (value - known) / nu;
                *residual = (*residual - row[t] * row[t]).max(0.0);
            };
            coordinates
                .par_chunks_exact_mut(most)
                .zip(column.par_iter())
                .zip(residuals.par_iter_mut())
                .with_min_len(STRIP)
                .for_each(step);
            residuals[pivot] = 0.0;
            pivots.push(pivot);
            lengths.push(nu);
        }
        let rank = pivots.len();
        if rank < most {
            coordinates = coordinates.chunks_exact(most).flat_map(|row| row[..rank].to_vec()).collect();
        }
        Ok(Self { pivots, lengths, coordinates, residuals })
    }

    /// How many examples were chosen.
    pub fn rank(&self) -> usize {
        self.pivots.len()
    }

    /// Coordinates of new examples, which are the rows of `cross`; its columns are the chosen examples in their order.
    pub fn map(&self, cross: &dyn Gram) -> Vec<f64> {
        let (m, rank) = (cross.shape().0, self.rank());
        let mut out = vec![0.0; m * rank];
        crate::gram::fill(cross, &mut out);
        for row in out.chunks_exact_mut(rank.max(1)) {
            for t in 0..rank {
                let pivot = &self.coordinates[self.pivots[t] * rank..(self.pivots[t] + 1) * rank];
                let known: f64 = row[..t].iter().zip(pivot).map(|(a, b)| a * b).sum();
                row[t] = (row[t] - known) / self.lengths[t];
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{linear, points};
    use super::*;
    use crate::gram::Dense;

    fn gaussian(x: &[f64], d: usize) -> Dense<f64> {
        let n = x.len() / d;
        let value = |p: usize| {
            let (a, b) = (&x[p / n * d..][..d], &x[p % n * d..][..d]);
            (-0.5 * a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>()).exp()
        };
        Dense::new((0..n * n).map(value).collect(), n, n).unwrap()
    }

    fn inner(c: &[f64], rank: usize, i: usize, j: usize) -> f64 {
        (0..rank).map(|t| c[i * rank + t] * c[j * rank + t]).sum()
    }

    #[test]
    fn all_steps_reproduce_the_matrix_and_few_steps_its_residuals() {
        let n = 300;
        let gram = gaussian(&points(n, 2, 30), 2);
        let whole = GramSchmidt::of(&gram, 1e-12, n, Plan::default()).unwrap();
        let part = GramSchmidt::of(&gram, 0.0, 7, Plan::default()).unwrap();
        assert_eq!(part.rank(), 7);
        assert_eq!(part.pivots, whole.pivots[..7]);
        for i in 0..n {
            for j in [0, 5, 299] {
                assert!((inner(&whole.coordinates, whole.rank(), i, j) - gram.row(i)[j]).abs() < 1e-6);
            }
            let left = 1.0 - inner(&part.coordinates, 7, i, i);
            assert!((part.residuals[i] - left).abs() < 1e-12 && left > -1e-12);
        }
        assert!(whole.lengths.windows(2).all(|l| l[1] <= l[0] * (1.0 + 1e-9)), "residuals fall");
        for &p in &part.pivots {
            assert!((inner(&part.coordinates, 7, p, p) - 1.0).abs() < 1e-12, "chosen examples are exact");
        }
    }

    #[test]
    fn it_stops_at_the_rank_and_new_examples_that_are_old_have_their_coordinates() {
        let (n, d) = (50, 3);
        let gram = linear(&points(n, d, 31), d);
        let found = GramSchmidt::of(&gram, 1e-10, 40, Plan::default()).unwrap();
        assert_eq!((found.rank(), found.coordinates.len()), (d, n * d));
        let columns: Vec<f64> =
            (0..n).flat_map(|i| found.pivots.iter().map(move |&p| (i, p))).map(|(i, p)| gram.row(i)[p]).collect();
        let mapped = found.map(&Dense::new(columns, n, d).unwrap());
        for (a, b) in mapped.iter().zip(&found.coordinates) {
            assert!((a - b).abs() < 1e-9);
        }
        assert!(GramSchmidt::of(&gram, 0.0, 40, Plan { memory: 100 }).is_err());
    }

    #[test]
    fn the_same_bits_for_any_number_of_threads() {
        let gram = gaussian(&points(700, 3, 32), 3);
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| GramSchmidt::of(&gram, 1e-6, 60, Plan::default()).unwrap())
        };
        assert_eq!(with(1), with(3));
    }
}
