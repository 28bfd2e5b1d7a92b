//! Wendland's kernels of compact support.

use super::{Profile, Radial};
use crate::data::{Kind, Scalar};
use crate::kernels::{Definite, Domain, KernelEntry, KernelFacts};
use crate::params::{Auto, Params, Rule, Visit};
use crate::sources::{Source, WENDLAND};

/// κ(x, y) = φ_{l,k}(‖x − y‖/ρ), a polynomial for distances below ρ, zero from there on; l = ⌊d/2⌋ + k + 1
///
/// # Source
/// Wendland (1995); the polynomials as in Rasmussen & Williams (2006), (4.21), scaled to κ(x, x) = 1:
/// (1 − r)ˡ for k = 0, (1 − r)ˡ⁺¹((l + 1)r + 1) for k = 1, and two more.
///
/// # Use when
/// Examples far apart should not count at all. Functions are 2k times differentiable. It is positive definite on vectors of up
/// to `dimension` coordinates, not beyond: data that use more are refused. For sparse vectors, those that occur are counted.
///
/// # Cost
/// One distance, one root and a short product for each pair.
///
/// # Example
/// ```
/// use mercer::kernels::{Kernel, radial::{Radial, Wendland}};
/// use mercer::params::Auto;
/// let k = Radial(Wendland { smoothness: 0, dimension: Auto::Value(1.0), support: 2.0 });
/// let at = |x: f64| -> f64 { k.eval([x].as_slice(), [0.0].as_slice()) };
/// assert_eq!((at(0.0), at(0.5), at(2.0), at(9.0)), (1.0, 0.75, 0.0, 0.0));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Wendland {
    /// Smoothness k, from 0 to 3.
    pub smoothness: usize,
    /// Dimension up to which the kernel is positive definite; `d` takes the number of coordinates of the data.
    pub dimension: Auto,
    /// Radius ρ of the support.
    pub support: f64,
}

impl Default for Wendland {
    fn default() -> Self {
        Self { smoothness: 1, dimension: Auto::Word("d"), support: 1.0 }
    }
}

impl Params for Wendland {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.count("smoothness", &mut self.smoothness, Rule::Between(0.0, 3.0), "k: functions have 2k derivatives");
        v.auto(
            "dimension",
            &mut self.dimension,
            &["d"],
            Rule::AtLeast(1.0),
            "positive definite up to so many coordinates; more are refused",
        );
        v.real("support", &mut self.support, Rule::Above(0.0), "distance ρ from which on the kernel is zero");
    }
}

impl Profile for Wendland {
    fn entry() -> &'static KernelEntry {
        &ENTRY
    }

    fn facts(&self) -> KernelFacts {
        KernelFacts::unit_and_never_negative()
    }

    #[inline(always)]
    fn at<S: Scalar>(&self, squared_distance: S) -> S {
        let n = S::narrow;
        let r = n(1.0 / self.support) * squared_distance.sqrt();
        let rest = (n(1.0) - r).at_least(S::default());
        let k = self.smoothness as f64;
        let l = (0.5 * self.dimension.value()).floor() + k + 1.0;
        let factor = match self.smoothness {
            0 => n(1.0),
            1 => n(l + 1.0) * r + n(1.0),
            2 => (n((l * l + 4.0 * l + 3.0) / 3.0) * r + n(l + 2.0)) * r + n(1.0),
            _ => {
                let cubic = n((l * l * l + 9.0 * l * l + 23.0 * l + 15.0) / 15.0);
                ((cubic * r + n((6.0 * l * l + 36.0 * l + 45.0) / 15.0)) * r + n(l + 3.0)) * r + n(1.0)
            }
        };
        power(rest, l + k) * factor
    }

    fn slope(&self, squared_distance: f64) -> f64 {
        let r = squared_distance.sqrt() / self.support;
        let rest = (1.0 - r).max(0.0);
        let k = self.smoothness as f64;
        let l = (0.5 * self.dimension.value()).floor() + k + 1.0;
        // φ′(r)/(2ρ² r), where r divides φ′ from smoothness 1 on
        let over_r = match self.smoothness {
            _ if rest == 0.0 => 0.0,
            // a kink where examples meet
            0 if r == 0.0 => 0.0,
            0 => -l * power(rest, l - 1.0) / r,
            1 => -(l + 1.0) * (l + 2.0) * power(rest, l),
            2 => -(l + 3.0) * (l + 4.0) / 3.0 * power(rest, l + 1.0) * (1.0 + (l + 1.0) * r),
            _ => {
                let square = (l * l + 4.0 * l + 3.0) * r * r;
                -(l + 5.0) * (l + 6.0) / 15.0 * power(rest, l + 2.0) * (3.0 + 3.0 * (l + 2.0) * r + square)
            }
        };
        0.5 * over_r / (self.support * self.support)
    }

    fn partial(&self, _: usize, squared_distance: f64) -> f64 {
        -2.0 * squared_distance / self.support * self.slope(squared_distance)
    }

    /// A dimension is a whole number.
    fn fixed(&self) -> &'static [&'static str] {
        &["dimension"]
    }

    fn most_coordinates(&self) -> Option<usize> {
        Some(self.dimension.value() as usize)
    }
}

/// A whole power, with few multiplications for the exponents of low dimensions.
#[inline(always)]
fn power<S: Scalar>(x: S, n: f64) -> S {
    let square = x * x;
    let fourth = square * square;
    match n as u64 {
        1 => x,
        2 => square,
        3 => square * x,
        4 => fourth,
        5 => fourth * x,
        6 => fourth * square,
        7 => fourth * square * x,
        8 => fourth * fourth,
        small if small < 1 << 20 => x.powi(small as i32),
        _ => x.powf(n),
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "wendland",
    aliases: &["compact"],
    formula: "φ_{l,k}(‖x − y‖/ρ), l = ⌊d/2⌋ + k + 1",
    definite: Definite::Positive,
    domain: Domain::Any,
    kind: Kind::Vectors,
    source: Source::new(&WENDLAND, "the functions φ_{l,k}"),
    use_when: "examples far apart should not count at all; up to a known dimension",
    cost: "One distance, one root and a short product for each pair.",
    make: || Box::new(Radial(Wendland::default())),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Rows, SparseRows, Values};
    use crate::kernels::{KernelError, Leaf};

    fn kernel(smoothness: usize, dimension: f64) -> Wendland {
        Wendland { smoothness, dimension: Auto::Value(dimension), support: 1.0 }
    }

    #[test]
    fn each_is_the_integral_of_the_one_before() {
        // φ_{l,k+1}(r) ∝ ∫_r^1 t φ_{l,k}(t) dt with the same l: dimension d − 2 raises l by k alone
        for (k, dimension) in [(0, 5.0), (1, 5.0), (2, 7.0)] {
            let (before, after) = (kernel(k, dimension), kernel(k + 1, dimension - 2.0));
            let integral = |r: f64| {
                let steps = 20_000;
                let h = (1.0 - r) / f64::from(steps);
                (0..steps).map(|i| r + (f64::from(i) + 0.5) * h).map(|t| h * t * before.at(t * t)).sum::<f64>()
            };
            for r in [0.1, 0.35, 0.8] {
                let wanted = integral(r) / integral(0.0);
                assert!((after.at(r * r) - wanted).abs() < 1e-7, "k = {k}, r = {r}: {} {wanted}", after.at(r * r));
            }
        }
    }

    #[test]
    fn every_exponent_is_a_repeated_product() {
        for n in 1..20 {
            let wanted = (0..n).fold(1.0, |p, _| p * 0.83);
            assert!((power(0.83_f64, f64::from(n)) - wanted).abs() < 1e-15);
        }
        assert_eq!(power(0.5_f64, 3e9), 0.0);
    }

    #[test]
    fn more_coordinates_than_the_dimension_are_refused() {
        let rows = Rows::new(vec![1.0, 0.0, 2.0, 0.5, 0.0, 1.0], 2, 3).unwrap();
        let k = Radial(kernel(1, 2.0));
        let dense = Values::from(rows.clone());
        let refused = Leaf::gram(&k, &dense, &dense, true).err().unwrap();
        assert!(matches!(refused, KernelError::Param { kernel: "wendland", .. }), "{refused}");
        assert!(refused.to_string().contains("up to 2 coordinates, but the vectors have 3"), "{refused}");
        // the second coordinate never occurs
        let sparse = Values::from(SparseRows::from_dense(&rows));
        assert!(Leaf::gram(&k, &sparse, &sparse, true).is_ok());
        assert!(Leaf::gram(&Radial(kernel(1, 1.0)), &sparse, &sparse, true).is_err());
    }
}
