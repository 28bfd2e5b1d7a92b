//! The histogram intersection kernel.

use super::{Coordinatewise, Profile};
use crate::data::{Kind, Scalar};
use crate::kernels::{Definite, Domain, KernelEntry};
use crate::params::{Params, Visit};
use crate::sources::{Source, VEDALDI};

/// κ(x, y) = Σ_j min(x_j, y_j), for coordinates ≥ 0
///
/// # Source
/// Vedaldi & Zisserman (2012), §2; as a measure of histograms by Swain & Ballard (1991). Positive definite because
/// min(a, b) = ∫ 1[t ≤ a] 1[t ≤ b] dt.
///
/// # Use when
/// Examples are histograms, and what they have in common counts. Scale them to one sum first.
///
/// # Cost
/// d comparisons for each pair.
///
/// # Example
/// ```
/// use mercer::kernels::{Kernel, coordinatewise::{Coordinatewise, HistogramIntersection}};
/// let k = Coordinatewise(HistogramIntersection);
/// let value: f64 = k.eval([3.0, 1.0].as_slice(), [2.0, 5.0].as_slice());
/// assert_eq!(value, 3.0);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HistogramIntersection;

impl Params for HistogramIntersection {
    fn visit(&mut self, _: &mut dyn Visit) {}
}

impl Profile for HistogramIntersection {
    fn entry() -> &'static KernelEntry {
        &ENTRY
    }

    #[inline(always)]
    fn term<S: Scalar>(&self, x: S, y: S) -> S {
        if y < x { y } else { x }
    }

    #[inline(always)]
    fn outer<S: Scalar>(&self, sum: S) -> S {
        sum
    }

    fn term_slope(&self, x: f64, y: f64) -> f64 {
        // a kink where coordinates meet
        if y < x { 1.0 } else { 0.0 }
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "histogram_intersection",
    aliases: &["intersection"],
    formula: "Σ min(x_j, y_j)",
    definite: Definite::Positive,
    domain: Domain::NonNegative,
    kind: Kind::Vectors,
    source: Source::new(&VEDALDI, "§2"),
    use_when: "examples are histograms, and what they have in common counts",
    cost: "d comparisons for each pair.",
    make: || Box::new(Coordinatewise(HistogramIntersection)),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::vectors::Family;

    #[test]
    fn is_half_of_both_sums_less_their_difference() {
        let (x, y) = ([0.3, 2.0, 0.0, 1.7], [0.9, 0.5, 4.0, 1.7]);
        let pairs = || x.iter().zip(&y);
        let wanted: f64 = pairs().map(|(a, b): (&f64, &f64)| 0.5 * (a + b - (a - b).abs())).sum();
        assert!((Coordinatewise(HistogramIntersection).dense(&x, &y) - wanted).abs() < 1e-15);
    }
}
