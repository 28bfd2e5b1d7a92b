//! The linear spline kernel.

use super::{FactorProfile, Factors};
use crate::data::{Kind, Scalar};
use crate::kernels::{Definite, Domain, KernelEntry};
use crate::params::{Params, Visit};
use crate::sources::{Source, VAPNIK_SPLINES};

/// κ(x, y) = Π_j (1 + x_j y_j + x_j y_j m − ½(x_j + y_j) m² + ⅓m³), m = min(x_j, y_j), for coordinates ≥ 0
///
/// # Source
/// Vapnik, Golowich & Smola (1997): splines of order one with infinitely many knots,
/// 1 + xy + ∫₀^∞ (x − t)₊(y − t)₊ dt in each coordinate.
///
/// # Use when
/// A regression should be a smooth curve without a width to choose; its functions are cubic splines. Few coordinates, scaled
/// to [0, 1]: the product grows with each.
///
/// # Cost
/// A dozen operations for each coordinate and pair.
///
/// # Example
/// ```
/// use mercer::kernels::{Kernel, coordinatewise::{Factors, Spline}};
/// let k = Factors(Spline);
/// let value: f64 = k.eval([1.0].as_slice(), [2.0].as_slice());
/// assert!((value - (1.0 + 2.0 + 2.0 - 1.5 + 1.0 / 3.0)).abs() < 1e-15);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spline;

impl Params for Spline {
    fn visit(&mut self, _: &mut dyn Visit) {}
}

impl FactorProfile for Spline {
    fn entry() -> &'static KernelEntry {
        &ENTRY
    }

    #[inline(always)]
    fn factor<S: Scalar>(&self, x: S, y: S) -> S {
        let n = S::narrow;
        // with m the smaller and M the larger: xy m − ½(x + y)m² + ⅓m³ = m²(½M − m/6), which cancels nothing
        let (least, most) = if y < x { (y, x) } else { (x, y) };
        n(1.0) + x * y + least * least * (n(0.5) * most - n(1.0 / 6.0) * least)
    }

    fn factor_slope(&self, x: f64, y: f64) -> f64 {
        // of y²(½x − y/6) below x, of x²(½y − x/6) above
        x + if y < x { y * x - 0.5 * y * y } else { 0.5 * x * x }
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "spline",
    aliases: &["linear_spline"],
    formula: "Π (1 + xy + xy m − ½(x + y)m² + ⅓m³), m = min(x, y)",
    definite: Definite::Positive,
    domain: Domain::NonNegative,
    kind: Kind::Vectors,
    source: Source::new(&VAPNIK_SPLINES, "splines with infinitely many knots"),
    use_when: "a smooth curve without a width to choose; few coordinates in [0, 1]",
    cost: "A dozen operations for each coordinate and pair.",
    make: || Box::new(Factors(Spline)),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::vectors::Family;

    #[test]
    fn is_the_integral_over_all_knots_and_the_printed_polynomial() {
        for (x, y) in [(0.3, 0.9), (1.4, 0.2), (0.7, 0.7), (0.0, 2.0)] {
            let value = Factors(Spline).dense(&[x], &[y]);
            let m = f64::min(x, y);
            let printed = 1.0 + x * y + x * y * m - 0.5 * (x + y) * m * m + m * m * m / 3.0;
            assert!((value - printed).abs() < 1e-15, "{x} {y}");
            let h = m / 20_000.0;
            let knots = (0..20_000).map(|k| (f64::from(k) + 0.5) * h).map(|t| h * (x - t) * (y - t)).sum::<f64>();
            assert!((value - (1.0 + x * y + knots)).abs() < 1e-8);
        }
    }

    #[test]
    fn coordinates_are_multiplied() {
        let one = |x: f64, y: f64| Factors(Spline).dense(&[x], &[y]);
        let value = Factors(Spline).dense(&[0.2, 0.9, 0.0], &[0.5, 0.3, 0.4]);
        assert!((value - one(0.2, 0.5) * one(0.9, 0.3)).abs() < 1e-15);
    }
}
