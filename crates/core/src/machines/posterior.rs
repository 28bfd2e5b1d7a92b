//! Posteriors: how uncertain the value of a function is at a new example.

use super::Variances;
use crate::gram::{BlockMut, Gram, Pick, Side};
use crate::linalg::{Triangle, dot};
use crate::parallel;

/// New examples whose variances one thread computes at a time.
const EXAMPLES_AT_ONCE: usize = 64;

/// A Gaussian posterior over functions, of which the mean is an expansion and the variance at x is
/// ```text
/// v(x) = p κ(x, x) + Σ_t s_t ‖U_t⁻ᵀ k(x)‖²,    k(x) = (κ(x_i, x)) over the points x_i of the expansion, s_t = ±1
/// ```
/// Gaussian process regression has p = 1 and one negative term, UᵀU = K + σ²1; Laplace's approximation has UᵀU = K + W⁻¹; inducing
/// points have a negative term with UᵀU = K_mm and a positive one with UᵀU = K_mm + σ⁻² K_mn K_nm; a relevance vector machine has
/// p = 0 and one positive term, UᵀU = Σ⁻¹.
///
/// # Source
/// Rasmussen & Williams (2006), eqs. (2.26), (3.24) and (8.27) in that order; Tipping (2001), eq. (22).
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    /// p, the weight of κ(x, x).
    pub prior: f64,
    /// The other terms; factors have as many rows as the expansion has points.
    pub terms: Vec<PosteriorTerm>,
    /// The variance of the noise around the function, for each output.
    pub noise: Vec<f64>,
}

/// ±‖U⁻ᵀ k(x)‖².
#[derive(Clone, Debug, PartialEq)]
pub struct PosteriorTerm {
    /// True if the term is added; else it is subtracted.
    pub added: bool,
    /// U.
    pub factor: Triangle,
}

impl Posterior {
    /// Checks that all factors fit the number of points, and that numbers give variances; the error says which does not.
    ///
    /// # Errors
    /// The part that does not fit.
    pub fn check(&self, points: usize, outputs: usize) -> Result<(), String> {
        let fits = self.terms.iter().all(|t| t.factor.len() == points);
        let number = |x: f64| x.is_finite() && x >= 0.0;
        if fits && self.noise.len() == outputs && number(self.prior) && self.noise.iter().all(|&x| number(x)) {
            Ok(())
        } else {
            Err("its posterior does not fit together".to_owned())
        }
    }

    /// The variances at new examples, from the matrix between them (rows) and the points (columns); `None` if the matrix does not know
    /// κ(x, x) of new examples. Rounding may leave a variance slightly below zero; it is zero then.
    pub fn variances(&self, cross: &dyn Gram) -> Option<Variances> {
        let (n, m) = cross.shape();
        let own = if self.prior == 0.0 { vec![0.0; n] } else { cross.self_similarities(Side::Rows)? };
        let outputs = self.noise.len();
        let mut function = vec![0.0; n * outputs];
        parallel::strips(&mut function, (EXAMPLES_AT_ONCE * outputs).max(1), |strip, out| {
            let start = strip * EXAMPLES_AT_ONCE;
            let count = out.len() / outputs.max(1);
            // k(x), one row for each new example, which is a right-hand side of the triangles
            let mut rows = vec![0.0; count * m];
            cross.block(Pick::Range(start..start + count), Pick::Range(0..m), BlockMut::new(&mut rows, count, m));
            let mut variances: Vec<f64> = own[start..start + count].iter().map(|k| self.prior * k).collect();
            for term in self.terms.iter().filter(|_| m > 0) {
                let mut solved = rows.clone();
                term.factor.forward(&mut solved);
                let sign = if term.added { 1.0 } else { -1.0 };
                for (variance, w) in variances.iter_mut().zip(solved.chunks_exact(m)) {
                    *variance += sign * dot(w, w);
                }
            }
            for (out, variance) in out.chunks_exact_mut(outputs.max(1)).zip(variances) {
                out.fill(variance.max(0.0));
            }
        });
        Some(Variances { function, noise: self.noise.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dataset, Rows};
    use crate::formula::rbf;
    use crate::gram::fill;
    use crate::linalg::Cholesky;

    fn line(points: &[f64]) -> Dataset {
        Dataset::new(Rows::new(points.to_vec(), points.len(), 1).unwrap())
    }

    /// Two points by hand: (K + σ²1)⁻¹ of a 2 × 2 matrix.
    #[test]
    fn the_variance_of_regression_is_the_one_by_hand() {
        let (train, new, noise) = (line(&[0.0, 1.0]), line(&[0.3, -2.0]), 0.25);
        let kernel = rbf(0.5);
        let mut k = vec![0.0; 4];
        fill(kernel.training_gram(&train).unwrap().as_ref(), &mut k);
        let shifted = vec![k[0] + noise, k[1], k[2], k[3] + noise];
        let factor = Cholesky::factor(shifted, 2).unwrap().into_triangle();
        let posterior =
            Posterior { prior: 1.0, terms: vec![PosteriorTerm { added: false, factor }], noise: vec![noise, 0.0] };
        posterior.check(2, 2).unwrap();
        assert!(posterior.check(2, 1).is_err() && posterior.check(3, 2).is_err());
        let found = posterior.variances(kernel.cross(&new, &train).unwrap().as_ref()).unwrap();
        for (i, x) in [0.3_f64, -2.0].into_iter().enumerate() {
            let (a, b) = ((-0.5 * x * x).exp(), (-0.5 * (x - 1.0) * (x - 1.0)).exp());
            let (d, o) = (1.0 + noise, (-0.5_f64).exp());
            let quadratic = (d * a * a - 2.0 * o * a * b + d * b * b) / (d * d - o * o);
            assert!((found.function[2 * i] - (1.0 - quadratic)).abs() < 1e-14);
            assert_eq!(found.function[2 * i], found.function[2 * i + 1]);
        }
        assert_eq!(found.noise, [noise, 0.0]);
    }

    /// With every training example an inducing point, the two terms of inducing points are the one of regression.
    #[test]
    fn all_examples_as_inducing_points_give_the_exact_variance() {
        let (train, new, noise) = (line(&[0.0, 0.7, 1.9]), line(&[0.2, 3.0]), 0.1);
        let kernel = rbf(1.0);
        let mut k = vec![0.0; 9];
        fill(kernel.training_gram(&train).unwrap().as_ref(), &mut k);
        let triangle = |values: Vec<f64>| Cholesky::factor(values, 3).unwrap().into_triangle();
        let shifted: Vec<f64> = (0..9).map(|p| k[p] + if p % 4 == 0 { noise } else { 0.0 }).collect();
        let product = |i: usize, j: usize| (0..3).map(|l| k[3 * i + l] * k[3 * l + j]).sum::<f64>();
        let joined: Vec<f64> = (0..9).map(|p| k[p] + product(p / 3, p % 3) / noise).collect();
        let term = |added: bool, values: Vec<f64>| PosteriorTerm { added, factor: triangle(values) };
        let of = |terms: Vec<PosteriorTerm>| {
            let posterior = Posterior { prior: 1.0, terms, noise: vec![noise] };
            posterior.variances(kernel.cross(&new, &train).unwrap().as_ref()).unwrap().function
        };
        let exact = of(vec![term(false, shifted)]);
        let inducing = of(vec![term(false, k.clone()), term(true, joined)]);
        for (a, b) in exact.iter().zip(&inducing) {
            assert!((a - b).abs() < 1e-12, "{a} {b}");
        }
    }
}
