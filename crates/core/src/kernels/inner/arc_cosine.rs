//! Arc-cosine kernels.

use super::{AngleProfile, Angular};
use crate::data::{Kind, Scalar};
use crate::kernels::{Definite, Domain, KernelEntry, KernelFacts};
use crate::params::{Params, Rule, Visit};
use crate::sources::{CHO, Source};
use std::f64::consts::{FRAC_1_PI, PI};

/// κ(x, y) = (1/π) ‖x‖ⁿ‖y‖ⁿ J_n(θ), θ the angle between x and y, and 0 where a vector is zero
///
/// with J_0 = π − θ, J_1 = sin θ + (π − θ) cos θ, J_2 = 3 sin θ cos θ + (π − θ)(1 + 2 cos²θ).
///
/// # Source
/// Cho & Saul (2009), §2: twice the expectation of Θ(⟨w, x⟩)⟨w, x⟩ⁿ Θ(⟨w, y⟩)⟨w, y⟩ⁿ over Gaussian weights w, an
/// infinitely wide layer of units with a step (n = 0), a ramp (n = 1) or a quarter-pipe (n = 2).
///
/// # Use when
/// A wide network of one layer is to be imitated without choosing a width; only the angle counts for degree 0.
///
/// # Cost
/// One inner product and one arc cosine for each pair. Angles below the rounding of the cosine (about 1e-8) count as zero.
///
/// # Example
/// ```
/// use mercer::kernels::{Kernel, inner::{Angular, ArcCosine}};
/// let k = Angular(ArcCosine { degree: 0 });
/// let value: f64 = k.eval([3.0, 0.0].as_slice(), [0.0, 2.0].as_slice());
/// assert!((value - 0.5).abs() < 1e-15);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ArcCosine {
    /// Degree n: 0, 1 or 2.
    pub degree: usize,
}

impl Default for ArcCosine {
    fn default() -> Self {
        Self { degree: 1 }
    }
}

impl Params for ArcCosine {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.count("degree", &mut self.degree, Rule::Between(0.0, 2.0), "0 is a step, 1 a ramp, 2 its square");
    }
}

impl AngleProfile for ArcCosine {
    fn entry() -> &'static KernelEntry {
        &ENTRY
    }

    fn facts(&self) -> KernelFacts {
        // zero vectors have zero values; higher degrees grow with the lengths
        KernelFacts { self_similarity: (self.degree == 0).then_some([0.0, 1.0]), ..KernelFacts::default() }
    }

    #[inline(always)]
    fn at<S: Scalar>(&self, cosine: S, lengths: S) -> S {
        let n = S::narrow;
        // what rounding makes of parallel vectors is parallel: the arc cosine would magnify it to its root
        let near = n(1.0) - n(8.0 * S::UNIT);
        let cosine = if cosine > near { n(1.0) } else { cosine };
        let cosine = if cosine < -near { n(-1.0) } else { cosine };
        let rest = n(PI) - cosine.arc_cosine();
        let sine = (n(1.0) - cosine * cosine).at_least(S::default()).sqrt();
        let scaled = n(FRAC_1_PI)
            * match self.degree {
                0 => rest,
                1 => sine + rest * cosine,
                _ => n(3.0) * sine * cosine + rest * (n(1.0) + n(2.0) * cosine * cosine),
            };
        match self.degree {
            0 => scaled,
            1 => scaled * lengths,
            _ => scaled * lengths * lengths,
        }
    }

    fn slopes(&self, cosine: f64, lengths: f64) -> [f64; 2] {
        let rest = PI - cosine.acos();
        let sine = (1.0 - cosine * cosine).max(0.0).sqrt();
        let value: f64 = self.at(cosine, 1.0);
        match self.degree {
            // the step has a kink between parallel vectors
            0 => [if sine == 0.0 { 0.0 } else { FRAC_1_PI / sine }, 0.0],
            1 => [FRAC_1_PI * rest * lengths, value],
            _ => [4.0 * FRAC_1_PI * (sine + rest * cosine) * lengths * lengths, 2.0 * value * lengths],
        }
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "arc_cosine",
    aliases: &[],
    formula: "(1/π) ‖x‖ⁿ‖y‖ⁿ J_n(θ)",
    definite: Definite::Positive,
    domain: Domain::Any,
    kind: Kind::Vectors,
    source: Source::new(&CHO, "§2"),
    use_when: "a wide network of one layer is to be imitated",
    cost: "One inner product and one arc cosine for each pair. Angles below the rounding of the cosine (about 1e-8) count as zero.",
    make: || Box::new(Angular(ArcCosine::default())),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::vectors::Family;

    /// The defining integral in the plane of x and y: w = r(cos φ, sin φ) with E r^(2n) = 2ⁿ n!.
    fn integral(degree: i32, x: [f64; 2], y: [f64; 2]) -> f64 {
        let steps = 400_000;
        let mut sum = 0.0;
        for k in 0..steps {
            let (s, c) = ((f64::from(k) + 0.5) * 2.0 * PI / f64::from(steps)).sin_cos();
            let (a, b) = (c * x[0] + s * x[1], c * y[0] + s * y[1]);
            if a > 0.0 && b > 0.0 {
                sum += (a * b).powi(degree);
            }
        }
        2.0 * sum / f64::from(steps) * [1.0, 2.0, 8.0][degree as usize]
    }

    #[test]
    fn is_twice_the_expectation_over_gaussian_weights() {
        for degree in 0..3 {
            for (x, y) in [([1.0, 0.2], [0.3, 1.5]), ([1.0, 0.0], [-2.0, 0.1]), ([0.4, 0.3], [0.8, 0.6])] {
                let value = Angular(ArcCosine { degree }).dense(&x, &y);
                let wanted = integral(degree as i32, x, y);
                assert!((value - wanted).abs() < 1e-5 * (1.0 + wanted), "{degree}: {value} {wanted}");
            }
        }
    }

    #[test]
    fn opposite_and_equal_vectors() {
        let x = [0.3, -1.7, 0.9];
        let minus = x.map(|v: f64| -2.0 * v);
        let square: f64 = x.iter().map(|v| v * v).sum();
        for (degree, own) in [(0, 1.0), (1, square), (2, 3.0 * square * square)] {
            let k = Angular(ArcCosine { degree });
            assert!((k.dense(&x, &x) - own).abs() < 1e-14 * own);
            assert!(k.dense(&x, &minus).abs() < 1e-14);
            assert_eq!(k.dense(&x, &[0.0; 3]), 0.0);
        }
    }
}
