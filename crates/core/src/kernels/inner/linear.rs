//! The linear kernel.

use super::{Inner, Profile};
use crate::data::{Kind, Scalar};
use crate::kernels::{Definite, Domain, Expression, Inexpressible, KernelEntry, KernelFacts};
use crate::params::{Params, Visit};
use crate::sources::{HERBRICH, Source};

/// κ(x, y) = ⟨x, y⟩
///
/// # Source
/// Herbrich (2002), Table 2.1.
///
/// # Use when
/// There are many features (text, genomics), or a model must be read coefficient by coefficient.
///
/// # Cost
/// One inner product for each pair.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Linear;

impl Params for Linear {
    fn visit(&mut self, _: &mut dyn Visit) {}
}

impl Profile for Linear {
    fn entry() -> &'static KernelEntry {
        &ENTRY
    }

    fn facts(&self) -> KernelFacts {
        KernelFacts { features_are_examples: true, ..KernelFacts::default() }
    }

    fn dimension(&self, width: usize) -> Option<f64> {
        Some(width as f64)
    }

    fn expression(&self) -> Result<Expression, Inexpressible> {
        Ok(Expression::InnerProduct)
    }

    #[inline(always)]
    fn at<S: Scalar>(&self, product: S) -> S {
        product
    }

    fn slope(&self, _: f64) -> f64 {
        1.0
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "linear",
    aliases: &[],
    formula: "⟨x, y⟩",
    definite: Definite::Positive,
    domain: Domain::Any,
    kind: Kind::Vectors,
    source: Source::new(&HERBRICH, "Table 2.1"),
    use_when: "there are many features, or coefficients must be readable",
    cost: "One inner product for each pair.",
    make: || Box::new(Inner(Linear)),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::vectors::Family;

    #[test]
    fn is_the_inner_product() {
        assert_eq!(Inner(Linear).dense(&[1.0, 2.0, -1.0], &[3.0, 0.5, 2.0]), 2.0);
    }
}
