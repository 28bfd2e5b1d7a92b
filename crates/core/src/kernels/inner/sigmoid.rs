//! The sigmoid kernel.

use super::{Inner, Profile};
use crate::data::{Kind, Scalar};
use crate::kernels::expression::resolved;
use crate::kernels::{Definite, Domain, Expression, Inexpressible, KernelEntry, KernelFacts};
use crate::params::{Auto, Params, Rule, Visit};
use crate::sources::{LWK, Source};
use std::cmp::Ordering;

/// κ(x, y) = tanh(γ⟨x, y⟩ + c)
///
/// # Source
/// Schölkopf & Smola (2002), §2.3. Not positive definite for any γ and c on all of space: its matrices can have negative
/// eigenvalues, and the catalogue says so.
///
/// # Use when
/// An old two-layer network is to be imitated.
///
/// # Cost
/// One inner product and one hyperbolic tangent for each pair.
#[derive(Clone, Debug, PartialEq)]
pub struct Sigmoid {
    /// Factor γ of the inner product.
    pub gamma: Auto,
    /// Offset c.
    pub offset: f64,
}

impl Default for Sigmoid {
    fn default() -> Self {
        Self { gamma: Auto::Word("scale"), offset: 0.0 }
    }
}

impl Params for Sigmoid {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.auto(
            "gamma",
            &mut self.gamma,
            super::super::resolve::WORDS,
            Rule::Above(0.0),
            "factor γ of the inner product",
        );
        v.real("offset", &mut self.offset, Rule::Any, "offset c");
    }
}

impl Profile for Sigmoid {
    fn entry() -> &'static KernelEntry {
        &ENTRY
    }

    fn facts(&self) -> KernelFacts {
        KernelFacts {
            self_similarity: Some([-1.0, 1.0]),
            smoothed_by: &[("gamma", Ordering::Less)],
            searched: "gamma=1e-4..0.1:log4",
            ..KernelFacts::default()
        }
    }

    fn expression(&self) -> Result<Expression, Inexpressible> {
        let inside = Expression::InnerProduct.scaled(resolved("gamma", self.gamma)?).shifted(self.offset);
        Ok(Expression::Tanh(Box::new(inside)))
    }

    #[inline(always)]
    fn at<S: Scalar>(&self, product: S) -> S {
        (S::narrow(self.gamma.value()) * product + S::narrow(self.offset)).tanh()
    }

    fn slope(&self, product: f64) -> f64 {
        self.gamma.value() * self.partial(1, product)
    }

    fn partial(&self, p: usize, product: f64) -> f64 {
        let value: f64 = self.at(product);
        let rise = 1.0 - value * value;
        if p == 0 { product * rise } else { rise }
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "sigmoid",
    aliases: &["tanh"],
    formula: "tanh(γ⟨x, y⟩ + c)",
    definite: Definite::Indefinite,
    domain: Domain::Any,
    kind: Kind::Vectors,
    source: Source::new(&LWK, "§2.3"),
    use_when: "an old two-layer network is to be imitated",
    cost: "One inner product and one hyperbolic tangent for each pair.",
    make: || Box::new(Inner(Sigmoid::default())),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_offset_is_inside_the_tangent() {
        let kernel = Sigmoid { gamma: Auto::Value(0.4), offset: 0.02 };
        assert!((kernel.at(1.0_f64) - 0.42_f64.tanh()).abs() < 1e-15);
        assert!((kernel.at(1.0_f64) - 0.396_930_432_005_1).abs() < 1e-12);
    }
}
