//! The radius of the feature space: a bound on the length of images, as far as a formula alone gives one.
//!
//! Bounds of learning theory ask for R with κ(x, x) ≤ R² for every x that could ever come, not for the largest κ(x, x) of a
//! sample. The diagonal κ(x, x) of a formula is enclosed in an interval, which sums, products and functions map on.
//!
//! # Source
//! Herbrich (2002), §5.3 with the root that its κ = sup κ(x, x) misses; Moore (1966) for arithmetic on intervals.

use super::{Formula, Node};
use crate::kernels::Definite;

/// All values of κ(x, x) lie between these.
type Interval = [f64; 2];

impl Formula {
    /// A number that √κ(x, x) does not exceed for any x, where the formula alone gives one: 1 for `rbf` and everything
    /// that is normalised, more for sums of such. `None` for kernels that grow with their examples (`linear`,
    /// `polynomial`, counts of substrings), for those that are not positive definite, and for matrices from elsewhere.
    ///
    /// ```
    /// use mercer::formula::{linear, rbf};
    /// assert_eq!((rbf(0.5) + 3.0).radius(), Some(2.0));
    /// assert_eq!(linear().radius(), None);
    /// assert_eq!(linear().normalise().radius(), Some(1.0));
    /// ```
    pub fn radius(&self) -> Option<f64> {
        let [_, most] = (self.definite() == Definite::Positive).then(|| diagonal(&self.0))??;
        most.is_finite().then(|| most.max(0.0).sqrt())
    }

    /// κ(x, x) where it is the same for all x, as far as the formula alone tells.
    pub fn self_similarity(&self) -> Option<f64> {
        diagonal(&self.0).filter(|[least, most]| least == most && most.is_finite()).map(|[_, same]| same)
    }

    /// True if a training example is worth more beside itself than beside an equal one that comes later: some kernel in it
    /// compares places and not contents (`noise`). Scores of training examples at the fit are then not those of predictions.
    pub fn tells_places(&self) -> bool {
        fn tells(node: &Node) -> bool {
            match node {
                Node::Kernel(bound) => !bound.kernel.facts().looks_at_data,
                other => other.children().iter().any(tells),
            }
        }
        tells(&self.0)
    }

    /// True if κ(x, x′) ≥ 0 for all x and x′, as far as the formula alone shows.
    pub fn never_negative(&self) -> bool {
        fn never(node: &Node) -> bool {
            match node {
                Node::Kernel(bound) => bound.kernel.facts().never_negative,
                Node::Constant(c) => *c >= 0.0,
                Node::Scaled(c, inner) => *c >= 0.0 && never(inner),
                Node::Sum(all) | Node::Product(all) => all.iter().all(never),
                Node::Power(inner, _) | Node::Normalise(inner) | Node::Set(inner, _) => never(inner),
                Node::Series(inner, coefficients) => never(inner) && coefficients.iter().all(|a| *a >= 0.0),
                Node::Exp(_) | Node::Radial(..) => true,
                Node::Centre(..) | Node::Nystrom(..) => false,
            }
        }
        never(&self.0)
    }
}

/// The range of κ(x, x); `None` where it has no bound.
fn diagonal(node: &Node) -> Option<Interval> {
    match node {
        Node::Kernel(bound) => bound.kernel.facts().self_similarity,
        Node::Constant(c) => Some([*c, *c]),
        Node::Sum(terms) => terms.iter().map(diagonal).try_fold([0.0, 0.0], |sum, term| term.map(|t| add(sum, t))),
        Node::Product(factors) => {
            factors.iter().map(diagonal).try_fold([1.0, 1.0], |product, factor| factor.map(|f| times(product, f)))
        }
        Node::Scaled(c, inner) => Some(times([*c, *c], diagonal(inner)?)),
        Node::Power(inner, n) => {
            let [low, high] = diagonal(inner)?;
            let (a, b) = (low.powi(*n as i32), high.powi(*n as i32));
            let even_through_zero = n % 2 == 0 && low < 0.0 && high > 0.0;
            Some([if even_through_zero { 0.0 } else { a.min(b) }, a.max(b)])
        }
        // Horner's rule encloses every value, if not always tightly where signs change
        Node::Series(inner, coefficients) => {
            let x = diagonal(inner)?;
            Some(coefficients.iter().rev().fold([0.0, 0.0], |sum, a| add(times(sum, x), [*a, *a])))
        }
        Node::Exp(inner) => diagonal(inner).map(|[low, high]| [low.exp(), high.exp()]),
        // examples of norm zero keep zeros
        Node::Normalise(_) => Some([0.0, 1.0]),
        Node::Radial(..) => Some([1.0, 1.0]),
        // the centre lies in the same ball as the examples, so that none is farther from it than the diameter
        Node::Centre(inner, _) => Formula((**inner).clone()).radius().map(|r| [0.0, 4.0 * r * r]),
        // a mean of vectors is no longer than the longest
        Node::Set(inner, members) if members.mean => Formula((**inner).clone()).radius().map(|r| [0.0, r * r]),
        Node::Set(..) => None,
        // a projection is no longer than what is projected
        Node::Nystrom(inner, ..) => Formula((**inner).clone()).radius().map(|r| [0.0, r * r]),
    }
}

fn add(a: Interval, b: Interval) -> Interval {
    [a[0] + b[0], a[1] + b[1]]
}

fn times(a: Interval, b: Interval) -> Interval {
    let all = [a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1]];
    [all.into_iter().fold(f64::INFINITY, f64::min), all.into_iter().fold(f64::NEG_INFINITY, f64::max)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn radius(text: &str) -> Option<f64> {
        text.parse::<Formula>().unwrap().radius()
    }

    #[test]
    fn a_radius_follows_the_algebra() {
        for (text, wanted) in [
            ("rbf(gamma=median)", 1.0),
            ("4*rbf", 2.0),
            ("rbf + 2*cosine + 1", 2.0),
            ("rbf * (laplacian + 3)", 2.0),
            ("inverse_multiquadric(c=0.25)", 2.0),
            ("normalise(polynomial(degree=3))", 1.0),
            ("rbf(linear, gamma=2)", 1.0),
            ("exp(distance)", 1.0),
            ("centre(rbf)", 2.0),
            ("(rbf + 3)^2", 4.0),
            ("arc_cosine(degree=0)", 1.0),
            ("rbf + noise(variance=3)", 2.0),
            ("exp(2*rbf)", std::f64::consts::E),
        ] {
            let found = radius(text).unwrap_or_else(|| panic!("{text} has a radius"));
            assert!((found - wanted).abs() < 1e-12, "{text}: {found}");
        }
    }

    #[test]
    fn what_is_the_same_for_all_is_what_the_matrix_has() {
        let values = vec![0.2, 1.5, 0.7, 0.1, 3.0, 0.4, 0.0, 0.0];
        let data = crate::data::Dataset::new(crate::data::Rows::new(values, 4, 2).unwrap());
        let mut told = 0;
        for text in [
            "rbf(gamma=0.3)",
            "matern",
            "rational_quadratic",
            "cauchy",
            "wendland",
            "laplacian",
            "exponential_chi2",
            "periodic",
            "inverse_multiquadric(c=0.25)",
            "multiquadric(c=2)",
            "distance",
            "2*rbf + 3",
            "(rbf + 1)^3",
            "exp(rbf)",
            "rbf(linear, gamma=2)",
            "rbf + linear",
            "cosine",
            "normalise(linear)",
            "noise",
            "centre(rbf)",
        ] {
            let formula: Formula = text.parse().unwrap();
            let Some(same) = formula.self_similarity() else { continue };
            let gram = formula.gram(&data).unwrap();
            let own = gram.self_similarities(crate::gram::Side::Rows).unwrap();
            assert!(own.iter().all(|k| (k - same).abs() < 1e-12), "{text}: {same} {own:?}");
            told += 1;
        }
        assert_eq!(told, 15);
    }

    #[test]
    fn what_grows_or_is_not_definite_has_none() {
        for text in [
            "linear",
            "rbf + 0.001*linear",
            "rbf*linear",
            "exp(linear)",
            "centre(linear)",
            "polynomial(degree=2)",
            "arc_cosine(degree=1)",
            "spectrum(length=3)",
            "all_subsets",
            "precomputed",
            "sigmoid",
            "distance",
            "exp(1000*rbf)",
        ] {
            assert_eq!(radius(text), None, "{text}");
        }
    }
}
