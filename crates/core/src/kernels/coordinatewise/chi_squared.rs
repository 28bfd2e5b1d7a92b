//! The χ² kernel.

use super::{Coordinatewise, Profile};
use crate::data::{Kind, Scalar};
use crate::kernels::{Definite, Domain, Expression, Inexpressible, KernelEntry};
use crate::params::{Params, Visit};
use crate::sources::{Source, VEDALDI};

/// κ(x, y) = Σ_j 2 x_j y_j / (x_j + y_j), with 0/0 = 0, for coordinates ≥ 0
///
/// # Source
/// Vedaldi & Zisserman (2012), §2. scikit-learn's `additive_chi2_kernel` is 2κ(x, y) − Σx − Σy, which is only
/// conditionally positive definite.
///
/// # Use when
/// Examples are histograms: counts, bags of visual words, spectra.
///
/// # Cost
/// d divisions for each pair.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChiSquared;

impl Params for ChiSquared {
    fn visit(&mut self, _: &mut dyn Visit) {}
}

impl Profile for ChiSquared {
    fn entry() -> &'static KernelEntry {
        &ENTRY
    }

    fn expression(&self) -> Result<Expression, Inexpressible> {
        Ok(Expression::HarmonicMeans)
    }

    #[inline(always)]
    fn term<S: Scalar>(&self, x: S, y: S) -> S {
        let sum = x + y;
        let zero = S::default();
        let safe = if sum > zero { sum } else { S::narrow(1.0) };
        S::narrow(2.0) * x * y / safe
    }

    #[inline(always)]
    fn outer<S: Scalar>(&self, sum: S) -> S {
        sum
    }

    fn term_slope(&self, x: f64, y: f64) -> f64 {
        let sum = x + y;
        if sum > 0.0 { 2.0 * x * x / (sum * sum) } else { 0.0 }
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "chi2",
    aliases: &["chi_squared"],
    formula: "Σ 2 x_j y_j / (x_j + y_j)",
    definite: Definite::Positive,
    domain: Domain::NonNegative,
    kind: Kind::Vectors,
    source: Source::new(&VEDALDI, "§2"),
    use_when: "examples are histograms",
    cost: "d divisions for each pair.",
    make: || Box::new(Coordinatewise(ChiSquared)),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::vectors::Family;

    #[test]
    fn by_hand_and_without_division_by_zero() {
        let value = Coordinatewise(ChiSquared).dense(&[1.0, 0.0, 2.0, 0.0], &[3.0, 0.0, 2.0, 5.0]);
        assert!((value - (1.5 + 2.0)).abs() < 1e-15);
    }
}
