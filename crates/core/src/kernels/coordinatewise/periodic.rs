//! The periodic kernel.

use super::{Coordinatewise, Profile};
use crate::data::{Kind, Scalar};
use crate::kernels::{Definite, Domain, KernelEntry, KernelFacts};
use crate::params::{Params, Rule, Visit};
use crate::sources::{GPML, Source};
use std::cmp::Ordering;

/// κ(x, y) = exp(−(2/ℓ²) Σ_j sin²(π(x_j − y_j)/p))
///
/// # Source
/// Rasmussen & Williams (2006), §4.2.3, (4.31), with any period: the Gaussian kernel of (cos 2πx/p, sin 2πx/p).
///
/// # Use when
/// Every coordinate repeats itself after p: hours, seasons, angles.
///
/// # Cost
/// d sines, by a polynomial, and one exponential for each pair.
///
/// # Example
/// ```
/// use mercer::kernels::{Kernel, coordinatewise::{Coordinatewise, Periodic}};
/// let k = Coordinatewise(Periodic { period: 24.0, length: 1.0 });
/// let value: f64 = k.eval([23.0].as_slice(), [47.0].as_slice()); // eleven at night, a day later
/// assert!((value - 1.0).abs() < 1e-14);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Periodic {
    /// Period p.
    pub period: f64,
    /// Length scale ℓ, in units of the circle's diameter over √2.
    pub length: f64,
}

impl Default for Periodic {
    fn default() -> Self {
        Self { period: 1.0, length: 1.0 }
    }
}

impl Params for Periodic {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.real("period", &mut self.period, Rule::Above(0.0), "period p of every coordinate");
        v.real("length", &mut self.length, Rule::Above(0.0), "length scale ℓ, beside a circle of radius 1");
    }
}

impl Profile for Periodic {
    const MOVABLE: bool = true;

    fn entry() -> &'static KernelEntry {
        &ENTRY
    }

    fn facts(&self) -> KernelFacts {
        KernelFacts::unit_and_never_negative().smoothed_by(&[("length", Ordering::Greater)]).searched("length=0.3|1|3")
    }

    #[inline(always)]
    fn term<S: Scalar>(&self, x: S, y: S) -> S {
        let sine = ((x - y) * S::narrow(1.0 / self.period)).sine_of_pi();
        sine * sine
    }

    #[inline(always)]
    fn outer<S: Scalar>(&self, sum: S) -> S {
        (S::narrow(-2.0 / (self.length * self.length)) * sum).exp()
    }

    fn term_slope(&self, x: f64, y: f64) -> f64 {
        let turn: f64 = (2.0 / self.period * (y - x)).sine_of_pi();
        std::f64::consts::PI / self.period * turn
    }

    fn outer_slope(&self, sum: f64) -> f64 {
        -2.0 / (self.length * self.length) * self.outer(sum)
    }

    const TERM_PARAMETERS: usize = 1;

    #[inline(always)]
    fn term_partial<S: Scalar>(&self, _: usize, x: S, y: S) -> S {
        // ∂p of sin²(π(x − y)/p) = −π(x − y)/p² · sin(2π(x − y)/p)
        let turn = ((x - y) * S::narrow(2.0 / self.period)).sine_of_pi();
        S::narrow(-std::f64::consts::PI / (self.period * self.period)) * (x - y) * turn
    }

    fn outer_partial(&self, p: usize, sum: f64) -> f64 {
        if p == 1 { 4.0 * sum / Scalar::powi(self.length, 3) * self.outer(sum) } else { 0.0 }
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "periodic",
    aliases: &[],
    formula: "exp(−(2/ℓ²) Σ sin²(π(x_j − y_j)/p))",
    definite: Definite::Positive,
    domain: Domain::Any,
    kind: Kind::Vectors,
    source: Source::new(&GPML, "§4.2.3, (4.31)"),
    use_when: "coordinates repeat themselves: hours, seasons, angles",
    cost: "d sines, by a polynomial, and one exponential for each pair.",
    make: || Box::new(Coordinatewise(Periodic::default())),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::radial::{Gaussian, Radial};
    use crate::kernels::vectors::Family;

    #[test]
    fn is_the_gaussian_kernel_on_circles() {
        let (period, length) = (2.3, 0.8);
        let circles = |x: [f64; 2]| {
            let angle = x.map(|v| 2.0 * std::f64::consts::PI * v / period);
            [angle[0].cos(), angle[0].sin(), angle[1].cos(), angle[1].sin()]
        };
        let (x, y) = ([0.4, -3.0], [1.9, 5.1]);
        let wanted = Radial(Gaussian::from_sigma(length)).dense(&circles(x), &circles(y));
        assert!((Coordinatewise(Periodic { period, length }).dense(&x, &y) - wanted).abs() < 1e-14);
    }
}
