//! The negative multiquadric.

use super::{Profile, Radial};
use crate::data::{Kind, Scalar};
use crate::kernels::{Definite, Domain, KernelEntry, KernelFacts};
use crate::params::{Params, Rule, Visit};
use crate::sources::{MICCHELLI, Source};

/// κ(x, y) = −√(‖x − y‖² + c²)
///
/// # Source
/// Hardy's multiquadric; Micchelli (1986) shows that its negative is conditionally positive definite of order one.
///
/// # Use when
/// Scattered values are interpolated without choosing a width that decides everything; c rounds the tip of the distance.
/// Only for machines that do not see the origin, or inside `centre(…)`, `exp(…)` and `rbf(…)`.
///
/// # Cost
/// One distance and one square root for each pair.
///
/// # Example
/// ```
/// use mercer::kernels::{Kernel, radial::{Multiquadric, Radial}};
/// let k = Radial(Multiquadric { c: 4.0 });
/// let value: f64 = k.eval([3.0].as_slice(), [0.0].as_slice());
/// assert!((value + 5.0).abs() < 1e-15);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Multiquadric {
    /// Offset c of the distance.
    pub c: f64,
}

impl Default for Multiquadric {
    fn default() -> Self {
        Self { c: 1.0 }
    }
}

impl Params for Multiquadric {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.real("c", &mut self.c, Rule::AtLeast(0.0), "offset c; 0 is the negative distance");
    }
}

impl Profile for Multiquadric {
    fn entry() -> &'static KernelEntry {
        &ENTRY
    }

    fn facts(&self) -> KernelFacts {
        KernelFacts { self_similarity: Some([-self.c, -self.c]), ..KernelFacts::default() }
    }

    #[inline(always)]
    fn at<S: Scalar>(&self, squared_distance: S) -> S {
        -(squared_distance + S::narrow(self.c * self.c)).sqrt()
    }

    fn slope(&self, squared_distance: f64) -> f64 {
        // without an offset there is a kink where examples meet
        let value: f64 = self.at(squared_distance);
        if value == 0.0 { 0.0 } else { 0.5 / value }
    }

    fn partial(&self, _: usize, squared_distance: f64) -> f64 {
        2.0 * self.c * self.slope(squared_distance)
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "multiquadric",
    aliases: &[],
    formula: "−√(‖x − y‖² + c²)",
    definite: Definite::Conditionally,
    domain: Domain::Any,
    kind: Kind::Vectors,
    source: Source::new(&MICCHELLI, "conditionally positive definite functions of order one"),
    use_when: "scattered values are interpolated; only for machines that do not see the origin",
    cost: "One distance and one square root for each pair.",
    make: || Box::new(Radial(Multiquadric::default())),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::radial::{Distance, InverseMultiquadric};

    #[test]
    fn without_offset_it_is_the_negative_distance_and_its_inverse_is_the_inverse() {
        for squared in [0.0_f64, 0.25, 7.0] {
            assert_eq!(Multiquadric { c: 0.0 }.at(squared), Distance { beta: 1.0 }.at(squared));
            let product = Multiquadric { c: 1.5 }.at(squared) * InverseMultiquadric { c: 1.5 }.at(squared);
            assert!((product + 1.0).abs() < 1e-15);
        }
    }
}
