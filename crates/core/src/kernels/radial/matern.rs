//! The Matérn kernels.

use super::{Profile, Radial};
use crate::data::{Kind, Scalar};
use crate::kernels::{Definite, Domain, Expression, Inexpressible, KernelEntry, KernelFacts};
use crate::params::{Params, Rule, Visit};
use crate::sources::{GPML, Source};
use std::cmp::Ordering;

/// κ(x, y) = 2^(1−ν)/Γ(ν) · (√(2ν) r/ℓ)^ν · K_ν(√(2ν) r/ℓ), r = ‖x − y‖
///
/// # Source
/// Rasmussen & Williams (2006), §4.2.1, eq. (4.14); half-integer ν by (4.16), (4.17).
///
/// # Use when
/// Functions are rougher than the Gaussian kernel's: samples are ⌈ν⌉ − 1 times differentiable. ν = ½ is exp(−r/ℓ), the
/// Laplacian kernel of Euclidean distance.
///
/// # Cost
/// One distance and one exponential for ν = ½, 3/2, 5/2; a quadrature of about a hundred terms for any other ν.
#[derive(Clone, Debug, PartialEq)]
pub struct Matern {
    /// Smoothness ν.
    pub nu: f64,
    /// Length scale ℓ.
    pub length: f64,
}

impl Default for Matern {
    fn default() -> Self {
        Self { nu: 1.5, length: 1.0 }
    }
}

impl Params for Matern {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.real("nu", &mut self.nu, Rule::AboveUpTo(0.0, 50.0), "smoothness ν: 0.5, 1.5 and 2.5 are fast");
        v.real("length", &mut self.length, Rule::Above(0.0), "length scale ℓ");
    }
}

impl Profile for Matern {
    fn entry() -> &'static KernelEntry {
        &ENTRY
    }

    fn facts(&self) -> KernelFacts {
        KernelFacts::unit_and_never_negative()
            .smoothed_by(&[("length", Ordering::Greater)])
            .searched("length=0.3|1|3|10|30")
    }

    fn expression(&self) -> Result<Expression, Inexpressible> {
        let squared = if self.nu == 0.5 {
            Expression::SquaredDifferences
        } else if self.nu == 1.5 || self.nu == 2.5 {
            // smooth at zero: the root is harmless there
            Expression::squared_distance()
        } else {
            return Err(Inexpressible::Parameters(format!(
                "{} with nu = {} needs a Bessel function; fit with nu = 0.5, 1.5 or 2.5",
                ENTRY.name, self.nu
            )));
        };
        let t = Expression::Root(Box::new(squared)).scaled((2.0 * self.nu).sqrt() / self.length);
        let decay = t.clone().scaled(-1.0).exp();
        if self.nu == 0.5 {
            return Ok(decay);
        }
        let mut front = t.clone().shifted(1.0);
        if self.nu == 2.5 {
            let square = Expression::Power(Box::new(t), 2);
            front = Expression::Plus(Box::new(front), Box::new(square.scaled(1.0 / 3.0)));
        }
        Ok(Expression::Times(Box::new(decay), Box::new(front)))
    }

    #[inline(always)]
    fn at<S: Scalar>(&self, squared_distance: S) -> S {
        let one = S::narrow(1.0);
        let scaled = |factor: f64| S::narrow(factor.sqrt() / self.length) * squared_distance.sqrt();
        if self.nu == 0.5 {
            (-scaled(1.0)).exp()
        } else if self.nu == 1.5 {
            let t = scaled(3.0);
            (one + t) * (-t).exp()
        } else if self.nu == 2.5 {
            let t = scaled(5.0);
            (one + t + t * t * S::narrow(1.0 / 3.0)) * (-t).exp()
        } else {
            S::narrow(general(self.nu, squared_distance.wide().sqrt() / self.length))
        }
    }

    fn slope(&self, squared_distance: f64) -> f64 {
        // (zᵛ K_ν)′ = −zᵛ K_(ν−1), and dz/dr² = ν/(ℓ² z)
        let t = (2.0 * self.nu * squared_distance).sqrt() / self.length;
        let rate = -self.nu / (self.length * self.length);
        if self.nu <= 1.0 && t == 0.0 {
            // a kink where examples meet
            0.0
        } else if self.nu == 0.5 {
            rate * (-t).exp() / t
        } else if self.nu == 1.5 {
            rate * (-t).exp()
        } else if self.nu == 2.5 {
            rate * (1.0 + t) * (-t).exp() / 3.0
        } else {
            rate * lower(self.nu, t)
        }
    }

    fn partial(&self, _: usize, squared_distance: f64) -> f64 {
        -2.0 * squared_distance / self.length * self.slope(squared_distance)
    }

    /// Smoothness is chosen, not learned: the fast forms are single numbers ν.
    fn fixed(&self) -> &'static [&'static str] {
        &["nu"]
    }
}

/// 2^(1−ν)/Γ(ν) zᵛ K_ν(z) with z = √(2ν) r, through K_ν(z) = ∫₀^∞ exp(−z cosh t) cosh(νt) dt: the trapezoidal rule
/// converges faster than any power of the step for this integrand.
fn general(nu: f64, r: f64) -> f64 {
    let z = (2.0 * nu).sqrt() * r;
    if z < 1e-12 {
        return 1.0;
    }
    if z == f64::INFINITY {
        return 0.0;
    }
    // factor zᵛ/Γ(ν) goes into the exponent, so that nothing overflows for small z
    let log_front = (1.0 - nu) * std::f64::consts::LN_2 - log_gamma(nu) + nu * z.ln();
    let value = bessel(log_front, z, nu).0;
    // what is not a number stays so
    if value > 1.0 { 1.0 } else { value }
}

/// exp(log_front) K_order(z), and how many terms it took.
fn bessel(log_front: f64, z: f64, order: f64) -> (f64, u32) {
    let step = 1.0 / 32.0;
    let (mut sum, mut terms) = (0.5 * (log_front - z).exp(), 1);
    for k in 1..4000 {
        let t = f64::from(k) * step;
        let exponent = log_front - z * t.cosh() + order * t;
        let term = exponent.exp() * 0.5 * (1.0 + (-2.0 * order * t).exp());
        sum += term;
        terms += 1;
        // also where all terms are too small for a number, and the sum is zero
        if term <= 1e-18 * sum && z * t.sinh() > order {
            break;
        }
    }
    (sum * step, terms)
}

/// 2^(1−ν)/Γ(ν) z^(ν−1) K_(ν−1)(z) by the same rule; K is even in its order.
fn lower(nu: f64, z: f64) -> f64 {
    if z < 1e-12 {
        // M_(ν−1)(0)/(2(ν − 1)), where M is the kernel
        return 0.5 / (nu - 1.0);
    }
    if z == f64::INFINITY {
        return 0.0;
    }
    let log_front = (1.0 - nu) * std::f64::consts::LN_2 - log_gamma(nu) + (nu - 1.0) * z.ln();
    bessel(log_front, z, (nu - 1.0).abs()).0
}

/// ln Γ(x) for x > 0 (Lanczos, g = 7, nine terms).
fn log_gamma(x: f64) -> f64 {
    const G: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if x < 0.5 {
        // reflection: Γ(x) Γ(1 − x) = π / sin πx
        return (std::f64::consts::PI / (std::f64::consts::PI * x).sin()).ln() - log_gamma(1.0 - x);
    }
    let x = x - 1.0;
    let mut sum = G[0];
    for (i, g) in G.iter().enumerate().skip(1) {
        sum += g / (x + i as f64);
    }
    let t = x + 7.5;
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "matern",
    aliases: &[],
    formula: "2^(1−ν)/Γ(ν) (√(2ν) r/ℓ)^ν K_ν(√(2ν) r/ℓ), r = ‖x − y‖",
    definite: Definite::Positive,
    domain: Domain::Any,
    kind: Kind::Vectors,
    source: Source::new(&GPML, "§4.2.1, eq. (4.14)"),
    use_when: "functions are rougher than the Gaussian kernel's",
    cost: "One distance and one exponential for ν = ½, 3/2, 5/2; a quadrature of about a hundred terms for any other ν.",
    make: || Box::new(Radial(Matern::default())),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_by_quadrature_meet_the_closed_forms_and_differences() {
        for nu in [0.5, 1.5, 2.5] {
            for squared in [1e-4, 0.3, 1.0, 9.0] {
                let t = (2.0 * nu * squared).sqrt() / 1.3;
                let (closed, rate) = (Matern { nu, length: 1.3 }.slope(squared), -nu / 1.69);
                assert!(
                    (closed - rate * lower(nu, t)).abs() <= 1e-11 * (1.0 + closed.abs()),
                    "ν = {nu}, r² = {squared}"
                );
            }
        }
        for nu in [0.3, 0.8, 1.0, 1.2, 3.7] {
            let k = Matern { nu, length: 0.7 };
            for squared in [0.05, 0.4, 2.0] {
                let h = 1e-4 * squared;
                let difference = (k.at(squared + h) - k.at(squared - h)) / (2.0 * h);
                let slope = k.slope(squared);
                assert!((slope - difference).abs() <= 1e-7 * slope.abs(), "ν = {nu}: {slope} {difference}");
            }
        }
        // smooth where examples meet: −ν/(2(ν − 1)ℓ²)
        assert!((Matern { nu: 3.7, length: 1.0 }.slope(0.0) + 3.7 / 5.4).abs() < 1e-14);
        assert_eq!(Matern { nu: 0.8, length: 1.0 }.slope(0.0), 0.0);
    }

    #[test]
    fn the_quadrature_meets_the_closed_forms() {
        for nu in [0.5, 1.5, 2.5] {
            for r in [1e-6, 0.01, 0.3, 1.0, 4.0, 12.0] {
                let closed = Matern { nu, length: 1.0 }.at(r * r);
                let integral = general(nu, r);
                assert!((closed - integral).abs() <= 1e-12, "ν = {nu}, r = {r}: {closed} {integral}");
            }
        }
    }

    #[test]
    fn a_value_too_small_for_a_number_takes_few_terms() {
        for (nu, z) in [(1.0, 745.0), (1.0, 800.0), (1.0, 1e5), (3.7, 1e6), (0.3, 1e300), (40.0, 1e4), (1.0, f64::MAX)]
        {
            let log_front = (1.0 - nu) * std::f64::consts::LN_2 - log_gamma(nu) + nu * z.ln();
            let (value, terms) = bessel(log_front, z, nu);
            assert!(value < 1e-300 && terms < 200, "ν = {nu}, z = {z}: {value} by {terms} terms");
        }
        assert_eq!((general(1.0, f64::INFINITY), lower(1.0, f64::INFINITY)), (0.0, 0.0));
        assert!(general(1.0, f64::NAN).is_nan());
    }

    #[test]
    fn gamma_function() {
        for (x, value) in [(0.3, 2.991_568_987_687_59), (1.0, 1.0), (4.0, 6.0), (5.5, 52.342_777_784_553_52)] {
            assert!((log_gamma(x).exp() / value - 1.0).abs() < 1e-12, "{x}");
        }
    }
}
