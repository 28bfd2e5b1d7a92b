//! The Gaussian kernel with a length scale for each coordinate.

use super::{Profile, Radial};
use crate::data::{Kind, Scalar};
use crate::kernels::{Definite, Domain, Expression, Inexpressible, KernelEntry, KernelError, KernelFacts};
use crate::params::{Params, Rule, Visit};
use crate::sources::{HERBRICH, Source};

/// κ(x, y) = exp(−½ Σ_i (x_i − y_i)² / l_i²)
///
/// # Source
/// Herbrich (2002), Table 2.1 and Example 3.12, in scikit-learn's convention. The book has no ½: its s_i is √2 · l_i.
///
/// # Use when
/// Coordinates differ in relevance; a large l_i removes coordinate i.
///
/// # Cost
/// As the Gaussian kernel; the data are divided by the length scales once.
#[derive(Clone, Debug, PartialEq)]
pub struct Ard {
    /// Length scales l_i, one for each coordinate, or a single one for all.
    pub lengths: Vec<f64>,
}

impl Default for Ard {
    fn default() -> Self {
        Self { lengths: vec![1.0] }
    }
}

impl Params for Ard {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.reals(
            "lengths",
            &mut self.lengths,
            Rule::Above(0.0),
            "length scales, one for each coordinate or one for all",
        );
    }
}

impl Profile for Ard {
    fn entry() -> &'static KernelEntry {
        &ENTRY
    }

    fn facts(&self) -> KernelFacts {
        KernelFacts::unit_and_never_negative()
    }

    fn expression(&self) -> Result<Expression, Inexpressible> {
        let weights = self.lengths.iter().map(|l| 1.0 / l).collect();
        Ok(Expression::SquaredDistance { weights }.scaled(-0.5).exp())
    }

    #[inline(always)]
    fn at<S: Scalar>(&self, squared_distance: S) -> S {
        (S::narrow(-0.5) * squared_distance).exp()
    }

    const LENGTHS: bool = true;

    fn slope(&self, squared_distance: f64) -> f64 {
        -0.5 * self.at(squared_distance)
    }

    fn weights(&self, width: usize) -> Result<Option<Vec<f64>>, KernelError> {
        match self.lengths.as_slice() {
            [one] => Ok(Some(vec![1.0 / one])),
            // sparse vectors may end before the last coordinate
            all if all.len() >= width => Ok(Some(all.iter().map(|l| 1.0 / l).collect())),
            all => Err(KernelError::Param {
                kernel: ENTRY.name,
                finding: format!(
                    "{} lengths were given for vectors of {width} coordinates; give one, or {width}",
                    all.len()
                ),
            }),
        }
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "ard",
    aliases: &["ard_gaussian", "mahalanobis_diagonal"],
    formula: "exp(−½ Σ (x_i − y_i)² / l_i²)",
    definite: Definite::Positive,
    domain: Domain::Any,
    kind: Kind::Vectors,
    source: Source::corrected(&HERBRICH, "Table 2.1, Ex. 3.12", "the book has no ½; with its s_i, l_i = s_i/√2"),
    use_when: "coordinates differ in relevance",
    cost: "As the Gaussian kernel; the data are divided by the length scales once.",
    make: || Box::new(Radial(Ard::default())),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::vectors::Family;

    #[test]
    fn the_books_form_is_reached_by_its_conversion() {
        // the book: exp(−Σ d²/s²) with s = (1, 2); ours with l = s/√2
        let root = 2.0_f64.sqrt();
        let k = Radial(Ard { lengths: vec![1.0 / root, 2.0 / root] });
        let book = (-(0.09_f64 + 0.25 / 4.0)).exp();
        assert!((k.dense(&[0.3, 0.5], &[0.0, 0.0]) - book).abs() < 1e-15);
    }
}
