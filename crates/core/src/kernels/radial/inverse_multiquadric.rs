//! The inverse multiquadric kernel.

use super::{Profile, Radial};
use crate::data::{Kind, Scalar};
use crate::kernels::{Definite, Domain, KernelEntry, KernelFacts};
use crate::params::{Params, Rule, Visit};
use crate::sources::{MICCHELLI, Source};

/// κ(x, y) = 1 / √(‖x − y‖² + c²)
///
/// # Source
/// Micchelli (1986): a completely monotone function of the squared distance, hence positive definite in every dimension.
///
/// # Use when
/// Far examples should still count: it falls like one over the distance, where the Gaussian vanishes.
///
/// # Cost
/// One distance and one square root for each pair.
///
/// # Example
/// ```
/// use mercer::kernels::{Kernel, radial::{InverseMultiquadric, Radial}};
/// let k = Radial(InverseMultiquadric { c: 4.0 });
/// let value: f64 = k.eval([3.0].as_slice(), [0.0].as_slice());
/// assert!((value - 0.2).abs() < 1e-15);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct InverseMultiquadric {
    /// Offset c of the distance.
    pub c: f64,
}

impl Default for InverseMultiquadric {
    fn default() -> Self {
        Self { c: 1.0 }
    }
}

impl Params for InverseMultiquadric {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.real("c", &mut self.c, Rule::Above(0.0), "offset c of the distance; κ(x, x) = 1/c");
    }
}

impl Profile for InverseMultiquadric {
    fn entry() -> &'static KernelEntry {
        &ENTRY
    }

    fn facts(&self) -> KernelFacts {
        KernelFacts {
            self_similarity: Some([1.0 / self.c, 1.0 / self.c]),
            never_negative: true,
            ..KernelFacts::default()
        }
    }

    #[inline(always)]
    fn at<S: Scalar>(&self, squared_distance: S) -> S {
        S::narrow(1.0) / (squared_distance + S::narrow(self.c * self.c)).sqrt()
    }

    fn slope(&self, squared_distance: f64) -> f64 {
        -0.5 * Scalar::powi(self.at(squared_distance), 3)
    }

    fn partial(&self, _: usize, squared_distance: f64) -> f64 {
        2.0 * self.c * self.slope(squared_distance)
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "inverse_multiquadric",
    aliases: &["imq"],
    formula: "1/√(‖x − y‖² + c²)",
    definite: Definite::Positive,
    domain: Domain::Any,
    kind: Kind::Vectors,
    source: Source::new(&MICCHELLI, "completely monotone functions"),
    use_when: "far examples should still count",
    cost: "One distance and one square root for each pair.",
    make: || Box::new(Radial(InverseMultiquadric::default())),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::radial::RationalQuadratic;

    #[test]
    fn is_a_rational_quadratic_of_exponent_one_half() {
        // 1/√(d² + c²) = (1/c)(1 + d²/c²)^(−½), which has 2αℓ² = c², so ℓ = c
        for squared in [0.0_f64, 0.3, 2.0, 1e6] {
            let other = RationalQuadratic { alpha: 0.5, length: 0.7 }.at(squared) / 0.7;
            let value = InverseMultiquadric { c: 0.7 }.at(squared);
            assert!((value - other).abs() < 1e-15 * (1.0 + value), "{squared}");
        }
    }
}
