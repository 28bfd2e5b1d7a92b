//! The exponential χ² kernel.

use super::{Coordinatewise, Profile};
use crate::data::{Kind, Scalar};
use crate::kernels::{Definite, Domain, KernelEntry, KernelFacts};
use crate::params::{Auto, Params, Rule, Visit};
use crate::sources::{CHAPELLE, Source};
use std::cmp::Ordering;

/// κ(x, y) = exp(−γ Σ_j (x_j − y_j)²/(x_j + y_j)), with 0/0 = 0, for coordinates ≥ 0
///
/// # Source
/// Chapelle, Haffner & Vapnik (1999); scikit-learn's `chi2_kernel`. (x − y)²/(x + y) = x + y − 4xy/(x + y), and the last
/// term is a kernel, so the exponential of its negative is one too.
///
/// # Use when
/// Examples are histograms and a local kernel is wanted, as the Gaussian is for other vectors.
///
/// # Cost
/// d divisions and one exponential for each pair.
///
/// # Example
/// ```
/// use mercer::kernels::{Kernel, coordinatewise::{Coordinatewise, ExponentialChiSquared}};
/// let k = Coordinatewise(ExponentialChiSquared { gamma: 0.5.into() });
/// let value: f64 = k.eval([3.0, 0.0].as_slice(), [1.0, 0.0].as_slice());
/// assert!((value - (-0.5f64).exp()).abs() < 1e-15);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ExponentialChiSquared {
    /// Inverse width γ.
    pub gamma: Auto,
}

impl Default for ExponentialChiSquared {
    fn default() -> Self {
        Self { gamma: Auto::Value(1.0) }
    }
}

impl Params for ExponentialChiSquared {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.auto("gamma", &mut self.gamma, super::super::resolve::WORDS, Rule::Above(0.0), "inverse width γ");
    }
}

impl Profile for ExponentialChiSquared {
    fn entry() -> &'static KernelEntry {
        &ENTRY
    }

    fn facts(&self) -> KernelFacts {
        KernelFacts::unit_and_never_negative().smoothed_by(&[("gamma", Ordering::Less)]).searched("gamma=0.01..10:log4")
    }

    #[inline(always)]
    fn term<S: Scalar>(&self, x: S, y: S) -> S {
        let (sum, difference) = (x + y, x - y);
        let safe = if sum > S::default() { sum } else { S::narrow(1.0) };
        difference * difference / safe
    }

    #[inline(always)]
    fn outer<S: Scalar>(&self, sum: S) -> S {
        (S::narrow(-self.gamma.value()) * sum).exp()
    }

    fn term_slope(&self, x: f64, y: f64) -> f64 {
        let sum = x + y;
        if sum > 0.0 { (y - x) * (3.0 * x + y) / (sum * sum) } else { 0.0 }
    }

    fn outer_slope(&self, sum: f64) -> f64 {
        -self.gamma.value() * self.outer(sum)
    }

    fn outer_partial(&self, _: usize, sum: f64) -> f64 {
        -sum * self.outer(sum)
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "exponential_chi2",
    aliases: &["exp_chi2"],
    formula: "exp(−γ Σ (x_j − y_j)² / (x_j + y_j))",
    definite: Definite::Positive,
    domain: Domain::NonNegative,
    kind: Kind::Vectors,
    source: Source::new(&CHAPELLE, "the χ² distance between histograms"),
    use_when: "examples are histograms, and a local kernel is wanted",
    cost: "d divisions and one exponential for each pair.",
    make: || Box::new(Coordinatewise(ExponentialChiSquared::default())),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::coordinatewise::ChiSquared;
    use crate::kernels::vectors::Family;

    #[test]
    fn its_distance_is_that_of_the_additive_kernel() {
        // Σ (x − y)²/(x + y) = κ(x, x) + κ(y, y) − 2κ(x, y) with κ = Σ 2xy/(x + y)
        let (x, y) = ([0.3, 2.0, 0.0, 1.7, 0.0], [0.9, 0.5, 4.0, 1.7, 0.0]);
        let k = |a: &[f64], b: &[f64]| Coordinatewise(ChiSquared).dense(a, b);
        let distance = k(&x, &x) + k(&y, &y) - 2.0 * k(&x, &y);
        let value = Coordinatewise(ExponentialChiSquared { gamma: Auto::Value(0.3) }).dense(&x, &y);
        assert!((value - (-0.3 * distance).exp()).abs() < 1e-15);
    }
}
