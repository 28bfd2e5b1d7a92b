//! Coordinate-wise kernels: κ(x, y) = outer(Σ_j term(x_j, y_j)).
//!
//! The family owns all loops: dense columns are packed feature by feature so that one row meets many columns at once;
//! sparse rows are scattered a few at a time. A kernel of the family is its term and its outer function. Products over the
//! coordinates are [`Factors`]; a recursion over them is [`Anova`].

mod all_subsets;
mod anova;
mod chi_squared;
mod exponential_chi_squared;
mod folded;
mod histogram_intersection;
mod laplacian;
mod periodic;
mod spline;

pub use all_subsets::AllSubsets;
pub use anova::Anova;
pub use chi_squared::ChiSquared;
pub use exponential_chi_squared::ExponentialChiSquared;
pub use folded::{FactorProfile, Factors};
pub use histogram_intersection::HistogramIntersection;
pub use laplacian::Laplacian;
pub use periodic::Periodic;
pub use spline::Spline;

use super::vectors::{Family, Packed, Packing, PairFamily, PairGram, merge};
use super::vectors::{PairDerivatives, PairSlopes};
use super::{Derivatives, Sides};
use super::{Expression, Inexpressible, KernelEntry, KernelError, KernelFacts};
use crate::data::{Coordinate, Scalar, Values};
use crate::gram::Gram;
use crate::params::{Params, Visit};
use std::sync::Arc;

/// The kernels of this folder.
pub static ENTRIES: &[&KernelEntry] = &[
    &laplacian::ENTRY,
    &periodic::ENTRY,
    &chi_squared::ENTRY,
    &exponential_chi_squared::ENTRY,
    &histogram_intersection::ENTRY,
    &spline::ENTRY,
    &all_subsets::ENTRY,
    &anova::ENTRY,
];

/// The term of a coordinate, and the function of the sum.
pub trait Profile: Params + Clone + Send + Sync + 'static {
    /// True if only differences of coordinates matter: dense data are then moved to their centre, where f32 is sharpest.
    const MOVABLE: bool = false;
    /// The catalogue's entry.
    fn entry() -> &'static KernelEntry;
    /// Facts that follow from the parameters alone.
    fn facts(&self) -> KernelFacts {
        KernelFacts::default()
    }
    /// κ in elementary operations, for export.
    fn expression(&self) -> Result<Expression, Inexpressible> {
        Err(Inexpressible::Unknown)
    }
    /// The term of one coordinate; zero for two zeros.
    fn term<S: Scalar>(&self, x: S, y: S) -> S;
    /// The function of the sum.
    fn outer<S: Scalar>(&self, sum: S) -> S;
    /// The number of its real parameters, from the first on, that are in the term.
    const TERM_PARAMETERS: usize = 0;
    /// The derivative of the term by its p-th real parameter; zero for two zeros. To be marked `#[inline(always)]`.
    #[inline(always)]
    fn term_partial<S: Scalar>(&self, _p: usize, _x: S, _y: S) -> S {
        S::default()
    }
    /// The derivative of the term by its second argument; zero where it has a kink.
    fn term_slope(&self, x: f64, y: f64) -> f64;
    /// The derivative of the outer function by the sum.
    fn outer_slope(&self, _sum: f64) -> f64 {
        1.0
    }
    /// The derivative of the outer function by the p-th real parameter.
    fn outer_partial(&self, _p: usize, _sum: f64) -> f64 {
        0.0
    }
}

/// κ(x, y) = outer(Σ_j term(x_j, y_j)), for every precision and for dense and sparse vectors alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Coordinatewise<P>(pub P);

impl<P: Profile> Params for Coordinatewise<P> {
    fn visit(&mut self, v: &mut dyn Visit) {
        self.0.visit(v);
    }
}

impl<P: Profile> Family for Coordinatewise<P> {
    fn entry() -> &'static KernelEntry {
        P::entry()
    }

    fn facts(&self) -> KernelFacts {
        self.0.facts()
    }

    fn expression(&self) -> Result<Expression, Inexpressible> {
        self.0.expression()
    }

    fn dense<S: Scalar>(&self, x: &[S], y: &[S]) -> f64 {
        self.0.outer(x.iter().zip(y).map(|(a, b)| self.0.term(a.wide(), b.wide())).sum())
    }

    fn sparse<S: Scalar>(&self, x: &[Coordinate<S>], y: &[Coordinate<S>]) -> f64 {
        let mut sum = 0.0;
        merge(x, y, |a, b| sum += self.0.term(a, b));
        self.0.outer(sum)
    }

    fn packing(&self, _: &Values) -> Result<Packing, KernelError> {
        Ok(Packing { centre: P::MOVABLE, weights: None })
    }

    fn packed_gram(&self, rows: Arc<Packed>, cols: Arc<Packed>) -> Result<Arc<dyn Gram>, KernelError> {
        Ok(Arc::new(PairGram::of(self.clone(), rows, cols)))
    }

    fn derivatives(&self, sides: &Sides) -> Result<Option<Arc<dyn Derivatives>>, KernelError> {
        Ok(Some(Arc::new(PairDerivatives::new(self.clone(), sides, P::MOVABLE, None))))
    }

    fn gradient(&self, x: &[f64], z: &[f64], alpha: f64, out: &mut [f64]) -> bool {
        let slope = alpha * self.0.outer_slope(x.iter().zip(z).map(|(&x, &z)| self.0.term(x, z)).sum());
        out.iter_mut().zip(x.iter().zip(z)).for_each(|(o, (&x, &z))| *o += slope * self.0.term_slope(x, z));
        true
    }
}

impl<P: Profile> PairFamily for Coordinatewise<P> {
    #[inline(always)]
    fn term<S: Scalar>(&self, x: S, y: S) -> S {
        self.0.term(x, y)
    }

    #[inline(always)]
    fn outer<S: Scalar>(&self, sum: S) -> S {
        self.0.outer(sum)
    }
}

impl<P: Profile> PairSlopes for Coordinatewise<P> {
    fn in_term(&self, p: usize) -> bool {
        p < P::TERM_PARAMETERS
    }

    #[inline(always)]
    fn term_partial<S: Scalar>(&self, p: usize, _: usize, x: S, y: S) -> S {
        self.0.term_partial(p, x, y)
    }

    fn outer_slope(&self, sum: f64) -> f64 {
        self.0.outer_slope(sum)
    }

    fn outer_partial(&self, p: usize, sum: f64) -> f64 {
        self.0.outer_partial(p, sum)
    }
}
