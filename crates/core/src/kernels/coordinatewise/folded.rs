//! Products over the coordinates: κ(x, y) = Π_j factor(x_j, y_j).

use crate::data::{Coordinate, Scalar};
use crate::gram::Gram;
use crate::kernels::vectors::{Family, FoldFamily, FoldGram, Packed, fold, merge};
use crate::kernels::{KernelEntry, KernelError};
use crate::params::{Params, Visit};
use std::sync::Arc;

/// The factor of a coordinate.
pub trait FactorProfile: Params + Clone + Send + Sync + 'static {
    /// The catalogue's entry.
    fn entry() -> &'static KernelEntry;
    /// The factor of one coordinate; one where either number is zero.
    fn factor<S: Scalar>(&self, x: S, y: S) -> S;
    /// Its derivative by its second argument.
    fn factor_slope(&self, x: f64, y: f64) -> f64;
}

/// κ(x, y) = Π_j factor(x_j, y_j), for every precision and for dense and sparse vectors alike. Factors are multiplied, not
/// added as logarithms: they may be negative.
#[derive(Clone, Debug, PartialEq)]
pub struct Factors<P>(pub P);

impl<P: FactorProfile> Params for Factors<P> {
    fn visit(&mut self, v: &mut dyn Visit) {
        self.0.visit(v);
    }
}

impl<P: FactorProfile> Family for Factors<P> {
    fn entry() -> &'static KernelEntry {
        P::entry()
    }

    fn dense<S: Scalar>(&self, x: &[S], y: &[S]) -> f64 {
        fold(self, x.iter().zip(y).map(|(a, b)| (a.wide(), b.wide())))
    }

    fn sparse<S: Scalar>(&self, x: &[Coordinate<S>], y: &[Coordinate<S>]) -> f64 {
        let mut product = 1.0;
        merge(x, y, |a, b| product *= self.0.factor(a, b));
        product
    }

    fn packed_gram(&self, rows: Arc<Packed>, cols: Arc<Packed>) -> Result<Arc<dyn Gram>, KernelError> {
        Ok(Arc::new(FoldGram::<1, _>::of(self.clone(), rows, cols)))
    }

    fn gradient(&self, x: &[f64], z: &[f64], alpha: f64, out: &mut [f64]) -> bool {
        let factors: Vec<f64> = x.iter().zip(z).map(|(&x, &z)| self.0.factor(x, z)).collect();
        // the product of the factors before and after each: no factor is divided by, since one may be zero
        let mut after: Vec<f64> =
            factors.iter().rev().scan(1.0, |all, f| Some(std::mem::replace(all, *all * f))).collect();
        after.reverse();
        let mut before = alpha;
        for (k, o) in out.iter_mut().enumerate().take(factors.len()) {
            *o += before * self.0.factor_slope(x[k], z[k]) * after[k];
            before *= factors[k];
        }
        true
    }
}

impl<P: FactorProfile> FoldFamily<1> for Factors<P> {
    #[inline(always)]
    fn start<S: Scalar>(&self) -> [S; 1] {
        [S::narrow(1.0)]
    }

    #[inline(always)]
    fn join<S: Scalar, const W: usize>(&self, states: &mut [[S; W]; 1], x: S, y: &[S; W]) {
        for l in 0..W {
            states[0][l] *= self.0.factor(x, y[l]);
        }
    }

    #[inline(always)]
    fn end<S: Scalar, const W: usize>(&self, states: &[[S; W]; 1]) -> [S; W] {
        states[0]
    }
}
