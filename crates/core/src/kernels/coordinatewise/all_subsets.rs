//! The all-subsets kernel.

use super::{FactorProfile, Factors};
use crate::data::{Kind, Scalar};
use crate::kernels::{Definite, Domain, KernelEntry};
use crate::params::{Params, Visit};
use crate::sources::{KMPA, Source};

/// κ(x, y) = Π_j (1 + x_j y_j)
///
/// # Source
/// Shawe-Taylor & Cristianini (2004), §9.1: the inner product of the 2ᵈ products Π_{j ∈ A} x_j over all subsets A.
///
/// # Use when
/// Any set of coordinates may matter together, each at most once: zeros and ones, presence and absence. It grows like a
/// product: scale the data to small numbers, or use `anova` for subsets of one size.
///
/// # Cost
/// Two operations for each coordinate and pair.
///
/// # Example
/// ```
/// use mercer::kernels::{Kernel, coordinatewise::{AllSubsets, Factors}};
/// let k = Factors(AllSubsets);
/// let value: f64 = k.eval([1.0, 2.0].as_slice(), [3.0, 0.5].as_slice());
/// assert_eq!(value, 8.0); // 1 + 3 + 1 + 3·1
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AllSubsets;

impl Params for AllSubsets {
    fn visit(&mut self, _: &mut dyn Visit) {}
}

impl FactorProfile for AllSubsets {
    fn entry() -> &'static KernelEntry {
        &ENTRY
    }

    #[inline(always)]
    fn factor<S: Scalar>(&self, x: S, y: S) -> S {
        S::narrow(1.0) + x * y
    }

    fn factor_slope(&self, x: f64, _: f64) -> f64 {
        x
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "all_subsets",
    aliases: &[],
    formula: "Π (1 + x_j y_j)",
    definite: Definite::Positive,
    domain: Domain::Any,
    kind: Kind::Vectors,
    source: Source::new(&KMPA, "§9.1"),
    use_when: "any set of coordinates may matter together, each at most once",
    cost: "Two operations for each coordinate and pair.",
    make: || Box::new(Factors(AllSubsets)),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::vectors::Family;

    #[test]
    fn is_the_inner_product_over_all_subsets() {
        let (x, y) = ([0.3, -1.2, 2.0, 0.7, 0.0], [1.1, 0.4, -0.6, -2.0, 3.0]);
        let features = |x: &[f64]| -> Vec<f64> {
            (0_u32..32).map(|set| (0..5).filter(|j| set >> j & 1 == 1).map(|j| x[j]).product()).collect()
        };
        let wanted: f64 = features(&x).iter().zip(features(&y)).map(|(a, b)| a * b).sum();
        assert!((Factors(AllSubsets).dense(&x, &y) - wanted).abs() < 1e-14);
    }
}
