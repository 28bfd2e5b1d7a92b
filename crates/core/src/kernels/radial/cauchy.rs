//! The Cauchy kernel.

use super::{Profile, Radial};
use crate::data::{Kind, Scalar};
use crate::kernels::{Definite, Domain, KernelEntry, KernelFacts};
use crate::params::{Params, Rule, Visit};
use crate::sources::{GPML, Source};

/// κ(x, y) = 1 / (1 + ‖x − y‖²/σ²)
///
/// # Source
/// Rasmussen & Williams (2006), §4.2.1, eq. (4.19) with α = 1 and 2ℓ² = σ².
///
/// # Use when
/// A long tail is wanted without a second parameter: it falls like the squared distance, not like an exponential.
///
/// # Cost
/// One distance and one division for each pair: the cheapest radial kernel.
///
/// # Example
/// ```
/// use mercer::kernels::{Kernel, radial::{Cauchy, Radial}};
/// let k = Radial(Cauchy { sigma: 2.0 });
/// let value: f64 = k.eval([2.0, 0.0].as_slice(), [0.0, 0.0].as_slice());
/// assert!((value - 0.5).abs() < 1e-15);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Cauchy {
    /// Width σ: the distance at which the kernel is one half.
    pub sigma: f64,
}

impl Default for Cauchy {
    fn default() -> Self {
        Self { sigma: 1.0 }
    }
}

impl Params for Cauchy {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.real("sigma", &mut self.sigma, Rule::Above(0.0), "width σ: the distance of value ½");
    }
}

impl Profile for Cauchy {
    fn entry() -> &'static KernelEntry {
        &ENTRY
    }

    fn facts(&self) -> KernelFacts {
        KernelFacts::unit_and_never_negative().searched("sigma=0.3|1|3|10|30")
    }

    #[inline(always)]
    fn at<S: Scalar>(&self, squared_distance: S) -> S {
        let one = S::narrow(1.0);
        one / (one + squared_distance * S::narrow(1.0 / (self.sigma * self.sigma)))
    }

    fn slope(&self, squared_distance: f64) -> f64 {
        let value: f64 = self.at(squared_distance);
        -value * value / (self.sigma * self.sigma)
    }

    fn partial(&self, _: usize, squared_distance: f64) -> f64 {
        -2.0 * squared_distance / self.sigma * self.slope(squared_distance)
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "cauchy",
    aliases: &[],
    formula: "1 / (1 + ‖x − y‖²/σ²)",
    definite: Definite::Positive,
    domain: Domain::Any,
    kind: Kind::Vectors,
    source: Source::new(&GPML, "§4.2.1, (4.19)"),
    use_when: "a long tail is wanted without a second parameter",
    cost: "One distance and one division for each pair: the cheapest radial kernel.",
    make: || Box::new(Radial(Cauchy::default())),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::radial::RationalQuadratic;

    #[test]
    fn is_a_rational_quadratic_of_exponent_one() {
        let (sigma, length) = (1.7_f64, 1.7 / 2.0_f64.sqrt());
        for squared in [0.0_f64, 0.4, 9.0] {
            let other = RationalQuadratic { alpha: 1.0, length }.at(squared);
            assert!((Cauchy { sigma }.at(squared) - other).abs() < 1e-15);
        }
    }
}
