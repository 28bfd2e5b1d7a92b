//! The rational quadratic kernel.

use super::{Profile, Radial};
use crate::data::{Kind, Scalar};
use crate::kernels::{Definite, Domain, KernelEntry, KernelFacts};
use crate::params::{Params, Rule, Visit};
use crate::sources::{GPML, Source};
use std::cmp::Ordering;

/// κ(x, y) = (1 + ‖x − y‖² / (2αℓ²))^(−α)
///
/// # Source
/// Rasmussen & Williams (2006), §4.2.1, eq. (4.19): a mixture of Gaussian kernels of all widths.
///
/// # Use when
/// The function varies on several scales at once; a small α mixes widely, α → ∞ is the Gaussian kernel of width ℓ.
///
/// # Cost
/// One distance and one power for each pair; α = ½, 1 and 2 need no power.
///
/// # Example
/// ```
/// use mercer::kernels::{Kernel, radial::{Radial, RationalQuadratic}};
/// let k = Radial(RationalQuadratic { alpha: 1.0, length: 1.0 });
/// let value: f64 = k.eval([2.0, 0.0].as_slice(), [0.0, 0.0].as_slice());
/// assert!((value - 1.0 / 3.0).abs() < 1e-15);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RationalQuadratic {
    /// Exponent α: how narrow the mixture of widths is.
    pub alpha: f64,
    /// Length scale ℓ.
    pub length: f64,
}

impl Default for RationalQuadratic {
    fn default() -> Self {
        Self { alpha: 1.0, length: 1.0 }
    }
}

impl Params for RationalQuadratic {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.real("alpha", &mut self.alpha, Rule::Above(0.0), "exponent α; large is nearly Gaussian");
        v.real("length", &mut self.length, Rule::Above(0.0), "length scale ℓ");
    }
}

impl Profile for RationalQuadratic {
    fn entry() -> &'static KernelEntry {
        &ENTRY
    }

    fn facts(&self) -> KernelFacts {
        KernelFacts::unit_and_never_negative()
            .smoothed_by(&[("length", Ordering::Greater)])
            .searched("length=0.3|1|3|10|30")
    }

    #[inline(always)]
    fn at<S: Scalar>(&self, squared_distance: S) -> S {
        let one = S::narrow(1.0);
        let base = one + squared_distance * S::narrow(0.5 / (self.alpha * self.length * self.length));
        if self.alpha == 1.0 {
            one / base
        } else if self.alpha == 0.5 {
            one / base.sqrt()
        } else if self.alpha == 2.0 {
            one / (base * base)
        } else {
            base.powf(-self.alpha)
        }
    }

    fn slope(&self, squared_distance: f64) -> f64 {
        let square = self.length * self.length;
        let base = 1.0 + squared_distance * 0.5 / (self.alpha * square);
        -0.5 / square * self.at(squared_distance) / base
    }

    fn partial(&self, p: usize, squared_distance: f64) -> f64 {
        if p == 1 {
            return -2.0 * squared_distance / self.length * self.slope(squared_distance);
        }
        // ∂α of −α ln(1 + u/α), u = r²/2ℓ²: −ln(1 + u/α) + (u/α)/(1 + u/α)
        let t = squared_distance * 0.5 / (self.alpha * self.length * self.length);
        (t / (1.0 + t) - t.ln_1p()) * self.at(squared_distance)
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "rational_quadratic",
    aliases: &[],
    formula: "(1 + ‖x − y‖² / (2αℓ²))^(−α)",
    definite: Definite::Positive,
    domain: Domain::Any,
    kind: Kind::Vectors,
    source: Source::new(&GPML, "§4.2.1, (4.19)"),
    use_when: "the function varies on several scales at once",
    cost: "One distance and one power for each pair; α = ½, 1 and 2 need no power.",
    make: || Box::new(Radial(RationalQuadratic::default())),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::radial::Gaussian;

    #[test]
    fn the_fast_exponents_are_the_power() {
        for alpha in [0.5, 1.0, 2.0, 0.7, 3.5] {
            let value = RationalQuadratic { alpha, length: 1.3 }.at(2.4_f64);
            let wanted = (-alpha * (1.0_f64 + 2.4 / (2.0 * alpha * 1.69)).ln()).exp();
            assert!((value - wanted).abs() < 1e-15, "{alpha}");
        }
    }

    #[test]
    fn a_large_exponent_is_the_gaussian_kernel() {
        let value = RationalQuadratic { alpha: 1e7, length: 0.8 }.at(1.7_f64);
        assert!((value - Gaussian::from_sigma(0.8).at(1.7_f64)).abs() < 1e-6);
    }

    #[test]
    fn is_the_mixture_of_gaussians_by_quadrature() {
        // ∫ Gamma(τ; α, 1/ℓ²-rate αℓ²) exp(−τ d²/2) dτ, α = 2.5, by the midpoint rule
        let (alpha, length, squared) = (2.5_f64, 1.2_f64, 3.1_f64);
        let rate = alpha * length * length;
        let density = |t: f64| t.powf(alpha - 1.0) * (-rate * t).exp();
        let (mut top, mut bottom) = (0.0, 0.0);
        for k in 0..200_000 {
            let t = (f64::from(k) + 0.5) * 1e-4;
            top += density(t) * (-0.5 * t * squared).exp();
            bottom += density(t);
        }
        let value = RationalQuadratic { alpha, length }.at(squared);
        assert!((value - top / bottom).abs() < 1e-7, "{value} {}", top / bottom);
    }
}
