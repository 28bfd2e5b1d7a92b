//! The free variables of a problem, all at once.
//!
//! Where coordinates are few, only about as many variables as there are coordinates stand between their bounds, and passes over
//! single ones creep towards their common minimum. That minimum is a linear system,
//! (X_F X_Fᵀ + D) δ = −∇, whose solution is followed until a variable meets a bound; that one is left there, and the rest goes
//! on. The objective falls with every such step, so passes may follow on it as before.
//!
//! # Source
//! The subspace step of projected Newton methods: Bertsekas (1982), SIAM J. Control Optim. 20, §2; More & Toraldo (1991),
//! SIAM J. Optim. 1, §4.

use super::Loss;
use super::design::Rows;
use crate::linalg::{Cholesky, multiply_transposed};

/// Largest number of variables: up to here a factorisation is the work of one thread.
const MAX_VARIABLES: usize = 256;
/// The number added to the diagonal, as a part of its mean, so that more variables than coordinates are no error.
const RIDGE: f64 = 1e-10;

/// A variable between its bounds.
#[derive(Clone, Copy)]
pub(super) struct Free {
    /// The room it has to fall and to rise.
    pub(super) down: f64,
    pub(super) up: f64,
    /// The slope of the dual objective along it.
    pub(super) slope: f64,
    /// D_ii.
    pub(super) diagonal: f64,
}

/// Moves the free variables of problem `b` towards their common minimum; `work` multiplications are worth it.
pub(super) fn solve_free_variables<R: Rows, L: Loss, const B: usize>(
    rows: &R,
    loss: &mut L,
    order: &[u32],
    weights: &mut [[f64; B]],
    b: usize,
    work: usize,
) {
    let mut spent = 0;
    loop {
        let free: Vec<(usize, Free)> = order
            .iter()
            .map(|&i| i as usize)
            .filter(|&i| loss.is_free(i, b))
            .filter_map(|i| loss.free(i, b, rows.dot(i, weights)[b]).map(|f| (i, f)))
            .collect();
        let (m, d) = (free.len(), rows.width());
        spent += m * m * (m / 3 + d) + order.len();
        if m == 0 || m > MAX_VARIABLES || spent > work {
            return;
        }
        let Some(steps) = solve(rows, &free) else { return };
        // as far as all stay between their bounds
        let reach = |(&(_, f), &s): (&(usize, Free), &f64)| if s < 0.0 { -f.down / s } else { f.up / s };
        let (mut t, mut first) = (1.0, None);
        for (k, pair) in free.iter().zip(&steps).enumerate() {
            let limit = reach(pair);
            if limit < t {
                (t, first) = (limit, Some(k));
            }
        }
        for (k, (&(i, f), &s)) in free.iter().zip(&steps).enumerate() {
            // the one that meets its bound gets there exactly
            let change = match first {
                Some(met) if met == k => {
                    if s < 0.0 {
                        -f.down
                    } else {
                        f.up
                    }
                }
                _ => t * s,
            };
            let moved = loss.shift(i, b, change);
            let mut all = [0.0; B];
            all[b] = moved;
            rows.add(i, all, weights);
        }
        if first.is_none() {
            return;
        }
    }
}

/// δ of (X_F X_Fᵀ + D) δ = −slopes; nothing where rows are not stored with their zeros.
fn solve<R: Rows>(rows: &R, free: &[(usize, Free)]) -> Option<Vec<f64>> {
    let (m, d) = (free.len(), rows.width());
    let mut x = Vec::with_capacity(m * d);
    for &(i, _) in free {
        x.extend_from_slice(rows.whole(i)?);
    }
    let mut matrix = vec![0.0; m * m];
    multiply_transposed(&x, &x, d, &mut matrix, m);
    let mean = (0..m).map(|k| matrix[k * m + k] + free[k].1.diagonal).sum::<f64>() / m as f64;
    for (k, (_, f)) in free.iter().enumerate() {
        matrix[k * m + k] += f.diagonal + RIDGE * mean;
    }
    let factor = Cholesky::factor(matrix, m).ok()?;
    let mut steps: Vec<f64> = free.iter().map(|(_, f)| -f.slope).collect();
    factor.solve(&mut steps, 1);
    steps.iter().all(|s| s.is_finite()).then_some(steps)
}
