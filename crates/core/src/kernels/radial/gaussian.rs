//! The Gaussian kernel.

use super::{Profile, Radial};
use crate::data::{Kind, Scalar};
use crate::kernels::expression::resolved;
use crate::kernels::{Definite, Domain, Expression, Inexpressible, KernelEntry, KernelFacts};
use crate::params::{Auto, Params, Rule, Visit};
use crate::sources::{HERBRICH, Source};
use std::cmp::Ordering;

/// κ(x, y) = exp(−γ‖x − y‖²)
///
/// # Source
/// Herbrich (2002), Table 2.1 (there with σ: γ = 1/2σ²).
///
/// # Use when
/// Nothing better is known: it is smooth, bounded and can fit any continuous function. Scale the data first.
///
/// # Cost
/// One inner product and one exponential for each pair.
///
/// # Example
/// ```
/// use mercer::kernels::{Kernel, radial::{Gaussian, Radial}};
/// let k = Radial(Gaussian::from_sigma(2.0));
/// let value: f64 = k.eval([1.0, 0.0].as_slice(), [0.0, 0.0].as_slice());
/// assert!((value - (-1.0f64 / 8.0).exp()).abs() < 1e-15);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Gaussian {
    /// Inverse squared width γ; `scale`, `median` and `1/d` take it from the data.
    pub gamma: Auto,
}

impl Gaussian {
    /// γ itself.
    pub fn new(gamma: f64) -> Self {
        Self { gamma: Auto::Value(gamma) }
    }

    /// exp(−d²/2σ²).
    pub fn from_sigma(sigma: f64) -> Self {
        Self::new(gamma_of_sigma(sigma))
    }

    /// exp(−d²/c).
    pub fn from_width(width: f64) -> Self {
        Self::new(1.0 / width)
    }
}

fn gamma_of_sigma(sigma: f64) -> f64 {
    1.0 / (2.0 * sigma * sigma)
}

impl Default for Gaussian {
    fn default() -> Self {
        Self { gamma: Auto::Word("scale") }
    }
}

impl Params for Gaussian {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.auto("gamma", &mut self.gamma, super::super::resolve::WORDS, Rule::Above(0.0), "inverse squared width γ");
        v.spelling("sigma", "gamma", &mut self.gamma, gamma_of_sigma, "exp(−d²/2σ²): γ = 1/2σ²");
        v.spelling("width", "gamma", &mut self.gamma, |c| 1.0 / c, "exp(−d²/c): γ = 1/c");
    }
}

impl Profile for Gaussian {
    fn entry() -> &'static KernelEntry {
        &ENTRY
    }

    fn facts(&self) -> KernelFacts {
        KernelFacts::unit_and_never_negative().smoothed_by(&[("gamma", Ordering::Less)]).searched("gamma=1e-4..10:log6")
    }

    fn expression(&self) -> Result<Expression, Inexpressible> {
        Ok(Expression::squared_distance().scaled(-resolved("gamma", self.gamma)?).exp())
    }

    #[inline(always)]
    fn at<S: Scalar>(&self, squared_distance: S) -> S {
        (S::narrow(-self.gamma.value()) * squared_distance).exp()
    }

    fn slope(&self, squared_distance: f64) -> f64 {
        -self.gamma.value() * self.at(squared_distance)
    }

    fn partial(&self, _: usize, squared_distance: f64) -> f64 {
        -squared_distance * self.at(squared_distance)
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "rbf",
    aliases: &["gaussian"],
    formula: "exp(−γ‖x − y‖²)",
    definite: Definite::Positive,
    domain: Domain::Any,
    kind: Kind::Vectors,
    source: Source::new(&HERBRICH, "Table 2.1"),
    use_when: "nothing better is known; scale the data first",
    cost: "One inner product and one exponential for each pair.",
    make: || Box::new(Radial(Gaussian::default())),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_spellings_agree() {
        let by_gamma = Gaussian::new(0.125).at(3.0_f64);
        assert!((by_gamma - Gaussian::from_sigma(2.0).at(3.0_f64)).abs() < 1e-15);
        assert!((by_gamma - Gaussian::from_width(8.0).at(3.0_f64)).abs() < 1e-15);
        assert!((by_gamma - (-0.375_f64).exp()).abs() < 1e-15);
    }
}
