//! The negative power of the distance.

use super::{Profile, Radial};
use crate::data::{Kind, Scalar};
use crate::kernels::{Definite, Domain, Expression, Inexpressible, KernelEntry, KernelFacts};
use crate::params::{Params, Rule, Visit};
use crate::sources::{LWK, Source};

/// κ(x, y) = −‖x − y‖^β
///
/// # Source
/// Schölkopf & Smola (2002), §2.3; conditionally positive definite for 0 < β ≤ 2.
///
/// # Use when
/// No width should be chosen: scaling the data only scales the kernel. Only for machines that do not see the origin
/// (a support vector machine with bias, centred kernel PCA), or inside `centre(…)`, `exp(…)` and `rbf(…)`.
///
/// # Cost
/// One distance and one power for each pair.
#[derive(Clone, Debug, PartialEq)]
pub struct Distance {
    /// Exponent β.
    pub beta: f64,
}

impl Default for Distance {
    fn default() -> Self {
        Self { beta: 1.0 }
    }
}

impl Params for Distance {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.real("beta", &mut self.beta, Rule::AboveUpTo(0.0, 2.0), "exponent β of the distance");
    }
}

impl Profile for Distance {
    fn entry() -> &'static KernelEntry {
        &ENTRY
    }

    fn facts(&self) -> KernelFacts {
        KernelFacts { self_similarity: Some([0.0, 0.0]), ..KernelFacts::default() }
    }

    fn expression(&self) -> Result<Expression, Inexpressible> {
        let power = if self.beta == 2.0 {
            Expression::squared_distance()
        } else if self.beta == 1.0 {
            Expression::Root(Box::new(Expression::SquaredDifferences))
        } else {
            Expression::RealPower(Box::new(Expression::SquaredDifferences), 0.5 * self.beta)
        };
        Ok(power.scaled(-1.0))
    }

    #[inline(always)]
    fn at<S: Scalar>(&self, squared_distance: S) -> S {
        if self.beta == 2.0 {
            -squared_distance
        } else if self.beta == 1.0 {
            -squared_distance.sqrt()
        } else {
            -squared_distance.powf(0.5 * self.beta)
        }
    }

    fn slope(&self, squared_distance: f64) -> f64 {
        // the power has a kink where examples meet
        let kink = squared_distance == 0.0 && self.beta < 2.0;
        if kink { 0.0 } else { -0.5 * self.beta * squared_distance.powf(0.5 * self.beta - 1.0) }
    }

    fn partial(&self, _: usize, squared_distance: f64) -> f64 {
        // r^β ln r goes to zero with r
        if squared_distance == 0.0 { 0.0 } else { 0.5 * squared_distance.ln() * self.at(squared_distance) }
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "distance",
    aliases: &["negative_distance"],
    formula: "−‖x − y‖^β",
    definite: Definite::Conditionally,
    domain: Domain::Any,
    kind: Kind::Vectors,
    source: Source::new(&LWK, "§2.3"),
    use_when: "no width should be chosen; only for machines that do not see the origin",
    cost: "One distance and one power for each pair.",
    make: || Box::new(Radial(Distance::default())),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_the_distance() {
        for (beta, value) in [(1.0, -3.0), (2.0, -9.0), (0.5, -(3.0_f64.sqrt()))] {
            assert!((Distance { beta }.at(9.0_f64) - value).abs() < 1e-14);
        }
    }
}
