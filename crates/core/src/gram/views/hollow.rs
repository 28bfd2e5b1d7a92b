//! A matrix with zeros on its diagonal: sums over all other examples.
//!
//! Σ_{j≠i} K_ij is not to be had from Σ_j K_ij − K_ii where κ is small between different examples: the difference is rounding of κ(x, x).

use crate::gram::{BlockMut, Gram, Pick, Side};
use std::sync::Arc;

/// K_ij for i ≠ j, and zero for i = j.
pub(crate) struct Hollow {
    /// K, whose row i and column i are the same example.
    pub(crate) inner: Arc<dyn Gram>,
}

impl Gram for Hollow {
    fn shape(&self) -> (usize, usize) {
        self.inner.shape()
    }

    fn block(&self, rows: Pick<'_>, cols: Pick<'_>, mut out: BlockMut<'_, f64>) {
        let (m, k) = (rows.len(), cols.len());
        let mut values = vec![0.0; m * k];
        self.inner.block(rows.clone(), cols.clone(), BlockMut::new(&mut values, m, k));
        for (r, line) in values.chunks_exact(k.max(1)).enumerate() {
            let row = rows.at(r);
            for (c, (o, value)) in out.row_mut(r).iter_mut().zip(line).enumerate() {
                // a value that is not finite is not hidden
                *o = if cols.at(c) == row && value.is_finite() { 0.0 } else { *value };
            }
        }
    }

    fn is_symmetric(&self) -> bool {
        self.inner.is_symmetric()
    }

    fn self_similarities(&self, side: Side) -> Option<Vec<f64>> {
        let (rows, cols) = self.shape();
        Some(vec![0.0; if side == Side::Rows { rows } else { cols }])
    }

    fn restrict(self: Arc<Self>, rows: &[usize], cols: &[usize]) -> Arc<dyn Gram> {
        Arc::new(super::Submatrix::new(self, rows, cols))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gram::{Dense, apply};

    #[test]
    fn sums_over_the_others_keep_what_is_small_beside_the_diagonal() {
        let n = 5;
        let small = |p: usize| 1e-30 * (1 + p / n + p % n) as f64;
        let values = (0..n * n).map(|p| if p / n == p % n { 1.0 } else { small(p) }).collect();
        let hollow = Hollow { inner: Arc::new(Dense::new(values, n, n).unwrap()) };
        let mut sums = vec![0.0; n];
        apply(&hollow, &vec![1.0; n], 1, &mut sums);
        for (i, sum) in sums.iter().enumerate() {
            let wanted: f64 = (0..n).filter(|&j| j != i).map(|j| small(i * n + j)).sum();
            assert!((sum - wanted).abs() < 1e-12 * wanted, "{i}: {sum} {wanted}");
        }
        let few = Arc::new(hollow).restrict(&[1, 3], &[3, 0]);
        let mut block = vec![0.0; 4];
        few.block(Pick::Range(0..2), Pick::Range(0..2), BlockMut::new(&mut block, 2, 2));
        assert_eq!(block, [small(n + 3), small(n), 0.0, small(3 * n)]);
    }
}
