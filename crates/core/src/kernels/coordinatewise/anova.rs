//! The ANOVA kernel.

use crate::data::{Coordinate, Kind, Scalar};
use crate::gram::Gram;
use crate::kernels::vectors::{Family, FoldFamily, FoldGram, Packed, fold, merge};
use crate::kernels::{Definite, Domain, KernelEntry, KernelError};
use crate::params::{Params, Rule, Visit};
use crate::sources::{KMPA, Source};
use std::sync::Arc;

/// κ(x, y) = Σ_{j_1 < … < j_p} x_{j_1} y_{j_1} ⋯ x_{j_p} y_{j_p}
///
/// # Source
/// Shawe-Taylor & Cristianini (2004), §9.2, by the recursion over coordinates
/// K_s ← K_s + x_j y_j K_{s−1}, from s = p down, K_0 = 1.
///
/// # Use when
/// Products of exactly p different coordinates matter, without the powers that a polynomial kernel has too.
///
/// # Cost
/// 2p operations for each coordinate and pair, against C(d, p) explicit features.
///
/// # Example
/// ```
/// use mercer::kernels::{Kernel, coordinatewise::Anova};
/// let k = Anova { degree: 2 };
/// let value: f64 = k.eval([1.0, 2.0, 3.0].as_slice(), [1.0, 1.0, 1.0].as_slice());
/// assert_eq!(value, 11.0); // 1·2 + 1·3 + 2·3
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Anova {
    /// Degree p: how many different coordinates are multiplied.
    pub degree: usize,
}

impl Default for Anova {
    fn default() -> Self {
        Self { degree: 2 }
    }
}

impl Params for Anova {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.count("degree", &mut self.degree, Rule::Between(1.0, 32.0), "how many different coordinates are multiplied");
    }
}

/// The states of a degree up to D.
#[derive(Clone)]
struct Levels<const D: usize>(usize);

impl<const D: usize> FoldFamily<D> for Levels<D> {
    #[inline(always)]
    fn start<S: Scalar>(&self) -> [S; D] {
        [S::default(); D]
    }

    #[inline(always)]
    fn join<S: Scalar, const W: usize>(&self, states: &mut [[S; W]; D], x: S, y: &[S; W]) {
        let mut product = [S::default(); W];
        for l in 0..W {
            product[l] = x * y[l];
        }
        for s in (1..D).rev() {
            for l in 0..W {
                states[s][l] += product[l] * states[s - 1][l];
            }
        }
        for l in 0..W {
            states[0][l] += product[l];
        }
    }

    #[inline(always)]
    fn end<S: Scalar, const W: usize>(&self, states: &[[S; W]; D]) -> [S; W] {
        states[self.0 - 1]
    }
}

impl Family for Anova {
    fn entry() -> &'static KernelEntry {
        &ENTRY
    }

    fn dense<S: Scalar>(&self, x: &[S], y: &[S]) -> f64 {
        fold(&Levels::<32>(self.degree), x.iter().zip(y).map(|(a, b)| (a.wide(), b.wide())))
    }

    fn sparse<S: Scalar>(&self, x: &[Coordinate<S>], y: &[Coordinate<S>]) -> f64 {
        let mut pairs = Vec::new();
        merge(x, y, |a, b| pairs.push((a, b)));
        fold(&Levels::<32>(self.degree), pairs.into_iter())
    }

    fn packed_gram(&self, rows: Arc<Packed>, cols: Arc<Packed>) -> Result<Arc<dyn Gram>, KernelError> {
        // levels above the degree cost time and change nothing
        Ok(match self.degree {
            1 => Arc::new(FoldGram::of(Levels::<1>(1), rows, cols)),
            2 => Arc::new(FoldGram::of(Levels::<2>(2), rows, cols)),
            3 => Arc::new(FoldGram::of(Levels::<3>(3), rows, cols)),
            4 => Arc::new(FoldGram::of(Levels::<4>(4), rows, cols)),
            p @ 5..=8 => Arc::new(FoldGram::of(Levels::<8>(p), rows, cols)),
            p => Arc::new(FoldGram::of(Levels::<32>(p), rows, cols)),
        })
    }

    fn gradient(&self, x: &[f64], z: &[f64], alpha: f64, out: &mut [f64]) -> bool {
        // states[k][s]: the sum over s different coordinates among the first k
        let (p, d) = (self.degree, x.len().min(z.len()));
        let mut states = vec![vec![0.0; p + 1]; d + 1];
        states[0][0] = 1.0;
        for k in 0..d {
            for s in 0..=p {
                let chosen = if s > 0 { x[k] * z[k] * states[k][s - 1] } else { 0.0 };
                states[k + 1][s] = states[k][s] + chosen;
            }
        }
        // backwards: ∂κ/∂states[k]
        let mut adjoint = vec![0.0; p + 1];
        adjoint[p] = alpha;
        for k in (0..d).rev() {
            out[k] += x[k] * (1..=p).map(|s| adjoint[s] * states[k][s - 1]).sum::<f64>();
            for s in 0..p {
                adjoint[s] += x[k] * z[k] * adjoint[s + 1];
            }
        }
        true
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "anova",
    aliases: &[],
    formula: "Σ_{j₁ < … < j_p} Π x_j y_j",
    definite: Definite::Positive,
    domain: Domain::Any,
    kind: Kind::Vectors,
    source: Source::new(&KMPA, "§9.2"),
    use_when: "products of exactly p different coordinates matter",
    cost: "2p operations for each coordinate and pair, against C(d, p) explicit features.",
    make: || Box::new(Anova::default()),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Rows;
    use crate::gram::fill;
    use crate::kernels::Leaf;
    use crate::kernels::coordinatewise::{AllSubsets, Factors};

    const X: [f64; 7] = [0.3, -1.2, 2.0, 0.7, 0.0, -0.4, 1.6];
    const Y: [f64; 7] = [1.1, 0.4, -0.6, -2.0, 3.0, 0.5, 0.9];

    #[test]
    fn is_the_inner_product_over_subsets_of_one_size() {
        for degree in 1..9 {
            let wanted: f64 = (0_u32..128)
                .filter(|set| set.count_ones() as usize == degree)
                .map(|set| (0..7).filter(|j| set >> j & 1 == 1).map(|j| X[j] * Y[j]).product::<f64>())
                .sum();
            assert!((Anova { degree }.dense(&X, &Y) - wanted).abs() < 1e-13, "{degree}");
            let (rows, cols) =
                (Rows::new(X.to_vec(), 1, 7).unwrap().into(), Rows::new(Y.to_vec(), 1, 7).unwrap().into());
            let mut got = [f64::NAN];
            fill(Leaf::gram(&Anova { degree }, &rows, &cols, false).unwrap().as_ref(), &mut got);
            assert!((got[0] - wanted).abs() < 1e-13, "{degree}");
        }
    }

    #[test]
    fn all_sizes_together_are_all_subsets() {
        let sum: f64 = (1..=7).map(|degree| Anova { degree }.dense(&X, &Y)).sum();
        assert!((1.0 + sum - Factors(AllSubsets).dense(&X, &Y)).abs() < 1e-13);
    }
}
