//! The polynomial kernel.

use super::{Inner, Profile, polynomial_feature_count, polynomial_features};
use crate::data::{Kind, Rows, Scalar};
use crate::kernels::expression::resolved;
use crate::kernels::{Definite, Domain, Expression, Inexpressible, KernelEntry, KernelFacts};
use crate::params::{Auto, Params, Rule, Visit};
use crate::sources::{HERBRICH, Source};
use std::cmp::Ordering;

/// κ(x, y) = (γ⟨x, y⟩ + c)^p
///
/// # Source
/// Herbrich (2002), Table 2.1: homogeneous for c = 0 (all products of exactly p coordinates), complete for c > 0 (up to p).
///
/// # Use when
/// Products of a few coordinates matter (images, interactions).
///
/// # Cost
/// One inner product and one power for each pair, against C(d + p, p) explicit features
/// ([`polynomial_features`](super::polynomial_features)).
#[derive(Clone, Debug, PartialEq)]
pub struct Polynomial {
    /// Degree p.
    pub degree: usize,
    /// Factor γ of the inner product.
    pub gamma: Auto,
    /// Offset c.
    pub offset: f64,
}

/// Largest number of computed features of all examples: 2 GiB of them.
const MAX_FEATURE_NUMBERS: usize = 1 << 28;

impl Polynomial {
    /// ⟨x, y⟩^p: `polynomial(degree=p, offset=0)`.
    pub fn homogeneous(degree: usize) -> Self {
        Self { degree, gamma: Auto::Value(1.0), offset: 0.0 }
    }

    /// p (γ⟨x, y⟩ + c)^(p−1).
    fn rise(&self, product: f64) -> f64 {
        let base = self.gamma.value() * product + self.offset;
        self.degree as f64 * base.powi(self.degree as i32 - 1)
    }
}

impl Default for Polynomial {
    fn default() -> Self {
        Self { degree: 3, gamma: Auto::Value(1.0), offset: 1.0 }
    }
}

impl Params for Polynomial {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.count("degree", &mut self.degree, Rule::Between(1.0, 64.0), "degree p");
        v.auto(
            "gamma",
            &mut self.gamma,
            super::super::resolve::WORDS,
            Rule::Above(0.0),
            "factor γ of the inner product",
        );
        v.real("offset", &mut self.offset, Rule::AtLeast(0.0), "offset c; 0 is the homogeneous kernel");
    }
}

impl Profile for Polynomial {
    fn entry() -> &'static KernelEntry {
        &ENTRY
    }

    fn facts(&self) -> KernelFacts {
        KernelFacts::default().smoothed_by(&[("gamma", Ordering::Less)]).searched("degree=1|2|3|4")
    }

    fn dimension(&self, width: usize) -> Option<f64> {
        // C(d + p − 1, p) monomials of degree p, and one more coordinate for a constant
        let d = width as f64 + f64::from(u8::from(self.offset != 0.0));
        Some(super::features::count_monomials(d, self.degree as f64))
    }

    fn expression(&self) -> Result<Expression, Inexpressible> {
        let base = Expression::InnerProduct.scaled(resolved("gamma", self.gamma)?).shifted(self.offset);
        Ok(Expression::Power(Box::new(base), self.degree))
    }

    #[inline(always)]
    fn at<S: Scalar>(&self, product: S) -> S {
        let base = S::narrow(self.gamma.value()) * product + S::narrow(self.offset);
        match self.degree {
            1 => base,
            2 => base * base,
            3 => base * base * base,
            n => base.powi(n as i32),
        }
    }

    fn slope(&self, product: f64) -> f64 {
        self.gamma.value() * self.rise(product)
    }

    fn partial(&self, p: usize, product: f64) -> f64 {
        let rise = self.rise(product);
        if p == 0 { product * rise } else { rise }
    }

    fn features(&self, rows: &Rows<f64>) -> Option<Rows<f64>> {
        let count = polynomial_feature_count(rows.width(), self.degree, self.offset > 0.0)?;
        let fits = count.checked_mul(rows.len()).is_some_and(|numbers| numbers <= MAX_FEATURE_NUMBERS);
        if fits { polynomial_features(rows, self).ok() } else { None }
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "polynomial",
    aliases: &["poly"],
    formula: "(γ⟨x, y⟩ + c)^p",
    definite: Definite::Positive,
    domain: Domain::Any,
    kind: Kind::Vectors,
    source: Source::new(&HERBRICH, "Table 2.1"),
    use_when: "products of a few coordinates matter",
    cost: "One inner product and one power for each pair, against C(d + p, p) explicit features (polynomial_features).",
    make: || Box::new(Inner(Polynomial::default())),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::vectors::Family;

    #[test]
    fn is_the_inner_product_of_the_explicit_features() {
        // (⟨u,v⟩ + 1)² on the plane: 1, √2 u₁, √2 u₂, u₁², √2 u₁u₂, u₂²
        let features = |u: [f64; 2]| {
            let r = 2.0_f64.sqrt();
            [1.0, r * u[0], r * u[1], u[0] * u[0], r * u[0] * u[1], u[1] * u[1]]
        };
        let (u, v) = ([0.3, -1.2], [2.0, 0.7]);
        let explicit: f64 = features(u).iter().zip(features(v)).map(|(a, b)| a * b).sum();
        let kernel = Inner(Polynomial { degree: 2, gamma: Auto::Value(1.0), offset: 1.0 });
        assert!((kernel.dense(&u, &v) - explicit).abs() < 1e-13);
    }

    #[test]
    fn every_degree_is_a_repeated_product() {
        for degree in 1..8 {
            let kernel = Polynomial { degree, gamma: Auto::Value(0.5), offset: 0.25 };
            let expected = (0..degree).fold(1.0, |p, _| p * (0.5 * 1.7 + 0.25));
            assert!((kernel.at(1.7_f64) - expected).abs() < 1e-12 * expected.abs());
        }
    }
}
