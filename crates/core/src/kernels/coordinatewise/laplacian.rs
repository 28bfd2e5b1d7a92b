//! The Laplacian kernel.

use super::{Coordinatewise, Profile};
use crate::data::{Kind, Scalar};
use crate::kernels::expression::resolved;
use crate::kernels::{Definite, Domain, Expression, Inexpressible, KernelEntry, KernelFacts};
use crate::params::{Auto, Params, Rule, Visit};
use crate::sources::{LWK, Source};
use std::cmp::Ordering;

/// κ(x, y) = exp(−γ Σ_j |x_j − y_j|)
///
/// # Source
/// Schölkopf & Smola (2002), §2.3, with the distance of scikit-learn's `laplacian_kernel`. The form with Euclidean distance
/// is `matern(nu=0.5)`.
///
/// # Use when
/// Functions are rough, or features are few and noisy: it is less sensitive to outlying coordinates than the Gaussian.
///
/// # Cost
/// d absolute differences and one exponential for each pair; no matrix product helps.
#[derive(Clone, Debug, PartialEq)]
pub struct Laplacian {
    /// Inverse width γ.
    pub gamma: Auto,
}

impl Default for Laplacian {
    fn default() -> Self {
        Self { gamma: Auto::Word("1/d") }
    }
}

impl Params for Laplacian {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.auto("gamma", &mut self.gamma, super::super::resolve::WORDS, Rule::Above(0.0), "inverse width γ");
    }
}

impl Profile for Laplacian {
    const MOVABLE: bool = true;

    fn entry() -> &'static KernelEntry {
        &ENTRY
    }

    fn facts(&self) -> KernelFacts {
        KernelFacts::unit_and_never_negative()
            .smoothed_by(&[("gamma", Ordering::Less)])
            .searched("gamma=0.001..10:log5")
    }

    fn expression(&self) -> Result<Expression, Inexpressible> {
        Ok(Expression::AbsoluteDifferences.scaled(-resolved("gamma", self.gamma)?).exp())
    }

    #[inline(always)]
    fn term<S: Scalar>(&self, x: S, y: S) -> S {
        (x - y).abs()
    }

    #[inline(always)]
    fn outer<S: Scalar>(&self, sum: S) -> S {
        (S::narrow(-self.gamma.value()) * sum).exp()
    }

    fn term_slope(&self, x: f64, y: f64) -> f64 {
        // a kink where coordinates meet
        if x == y { 0.0 } else { (y - x).signum() }
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
    name: "laplacian",
    aliases: &["laplace"],
    formula: "exp(−γ Σ |x_j − y_j|)",
    definite: Definite::Positive,
    domain: Domain::Any,
    kind: Kind::Vectors,
    source: Source::new(&LWK, "§2.3"),
    use_when: "functions are rough, or single coordinates are outlying",
    cost: "d absolute differences and one exponential for each pair; no matrix product helps.",
    make: || Box::new(Coordinatewise(Laplacian::default())),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::vectors::Family;

    #[test]
    fn by_hand() {
        let kernel = Coordinatewise(Laplacian { gamma: Auto::Value(0.5) });
        assert!((kernel.dense(&[1.0, -2.0], &[0.0, 1.0]) - (-2.0_f64).exp()).abs() < 1e-15);
    }
}
