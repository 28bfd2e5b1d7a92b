//! The eigenvalues of a kernel matrix, and what they say about the data.

use crate::gram::{Budget, BudgetError, Gram, apply, diagonal};
use crate::linalg::SolveError;
use crate::linalg::{KrylovOptions, symmetric_eigen, symmetric_eigen_bytes, top_eigen};
use crate::seed::Seed;

/// Largest number of examples whose eigenvalues are all computed.
const MAX_EXAMPLES_FOR_FULL_SPECTRUM: usize = 3000;

/// Eigenvalues, the largest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Spectrum {
    /// All of them, or the leading ones.
    pub values: Vec<f64>,
    /// The sum of all, the trace of K.
    pub trace: f64,
    /// The number of examples.
    pub n: usize,
}

/// The eigenvalues of K: all where there are at most 3000 examples and memory allows, else the leading `leading`.
///
/// # Errors
/// If a value is not finite or the memory budget forbids it.
pub fn spectrum(gram: &dyn Gram, leading: usize, budget: Budget) -> Result<Spectrum, crate::error::Error> {
    let n = gram.shape().0;
    let trace = diagonal(gram).iter().sum();
    if n <= MAX_EXAMPLES_FOR_FULL_SPECTRUM
        && let Ok(matrix) = budget.dense(gram, symmetric_eigen_bytes(n), "the spectrum")
    {
        let values = symmetric_eigen(matrix.into_values(), n)?.values;
        return Ok(Spectrum { values, trace, n });
    }
    Ok(Spectrum { values: few(gram, leading, budget)?, trace, n })
}

fn few(gram: &dyn Gram, leading: usize, budget: Budget) -> Result<Vec<f64>, crate::error::Error> {
    let n = gram.shape().0;
    let stored: Result<_, BudgetError> = budget.dense(gram, 16 * n * (2 * leading + 96), "the spectrum");
    let stored = stored.ok();
    let gram = stored.as_ref().map_or(gram, |dense| dense as &dyn Gram);
    let mut product = |v: &[f64], b: usize, out: &mut [f64]| apply(gram, v, b, out);
    let options = KrylovOptions { seed: Seed(0), ..KrylovOptions::default() };
    let found: Result<_, SolveError> = top_eigen(n, &mut product, leading, &options, &mut |_, _| true);
    Ok(found?.values)
}

impl Spectrum {
    /// True if all eigenvalues are known.
    pub fn is_whole(&self) -> bool {
        self.values.len() == self.n
    }

    /// The number of eigenvalues above n ε times the largest: the dimension of the space that the examples span.
    ///
    /// # Source
    /// KMPA, proposition 5.11: the rank of the data is that of K.
    pub fn rank(&self) -> usize {
        let top = self.values.first().copied().unwrap_or(0.0);
        let nothing = top * self.n as f64 * f64::EPSILON;
        self.values.iter().take_while(|v| **v > nothing).count()
    }

    /// Σ λ/(λ + μ): the number of directions that a ridge of μ leaves free.
    pub fn effective_dimension(&self, mu: f64) -> f64 {
        self.values.iter().map(|v| v.max(0.0)).map(|v| v / (v + mu)).sum()
    }

    /// exp of the entropy of λ/Σλ: how many directions carry the variance, evenly counted.
    ///
    /// # Source
    /// O. Roy & M. Vetterli, The effective rank: a measure of effective dimensionality, EUSIPCO (2007).
    pub fn effective_rank(&self) -> f64 {
        let total: f64 = self.values.iter().map(|v| v.max(0.0)).sum();
        let entropy: f64 =
            self.values.iter().map(|v| v.max(0.0) / total).filter(|p| *p > 0.0).map(|p| -p * p.ln()).sum();
        entropy.exp()
    }

    /// The share of the trace that the leading k eigenvalues carry; where some are below zero beyond rounding, the share of the sum of
    /// those above it.
    pub fn explained(&self, k: usize) -> f64 {
        let whole = positive_part(&self.values, self.trace, self.n);
        let part: f64 = self.values.iter().take(k).map(|v| if self.is_indefinite() { v.max(0.0) } else { *v }).sum();
        if whole > 0.0 { part / whole } else { 0.0 }
    }

    /// True if a known eigenvalue is below zero beyond rounding.
    pub fn is_indefinite(&self) -> bool {
        is_indefinite(&self.values, self.n)
    }
}

/// True if one of the eigenvalues of a matrix of n examples is below zero beyond rounding.
pub(crate) fn is_indefinite(values: &[f64], n: usize) -> bool {
    let size = values.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    values.iter().any(|v| *v < -size * n as f64 * f64::EPSILON)
}

/// The sum of which the eigenvalues of a matrix of n examples are shares: its trace, or the sum of those above zero where some are below it
/// beyond rounding. Of leading ones alone, those above zero are at least what the trace cannot be less than.
pub(crate) fn positive_part(values: &[f64], trace: f64, n: usize) -> f64 {
    let positive: f64 = values.iter().map(|v| v.max(0.0)).sum();
    if is_indefinite(values, n) {
        return positive;
    }
    // rounding of a sum of n numbers
    if positive > trace * (1.0 + n as f64 * 1e-12) { positive } else { trace }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{linear, points};
    use super::*;
    use crate::gram::Dense;

    #[test]
    fn the_rank_is_that_of_the_data_and_shares_end_at_one() {
        let gram = linear(&points(40, 5, 10), 5);
        let found = spectrum(&gram, 10, Budget::default()).unwrap();
        assert!(found.is_whole());
        assert_eq!(found.rank(), 5);
        assert!((found.explained(5) - 1.0).abs() < 1e-10 && found.explained(4) < 1.0);
        assert!((found.values.iter().sum::<f64>() - found.trace).abs() < 1e-9);
        assert!((found.effective_dimension(1e-6) - 5.0).abs() < 1e-5 && found.effective_dimension(1e9) < 1e-5);
    }

    #[test]
    fn equal_eigenvalues_have_their_number_as_effective_rank() {
        let mut eye = vec![0.0; 36];
        (0..6).for_each(|i| eye[7 * i] = 2.0);
        let found = spectrum(&Dense::new(eye, 6, 6).unwrap(), 3, Budget::default()).unwrap();
        assert!((found.effective_rank() - 6.0).abs() < 1e-10);
        assert_eq!((found.rank(), found.values[0]), (6, 2.0));
        assert!((found.effective_dimension(2.0) - 3.0).abs() < 1e-12);
    }

    #[test]
    fn the_leading_ones_alone_are_those_of_the_whole() {
        let gram = linear(&points(200, 30, 11), 30);
        let whole = spectrum(&gram, 4, Budget::default()).unwrap().values;
        let some = few(&gram, 4, Budget::default()).unwrap();
        for (a, b) in some.iter().zip(&whole) {
            assert!((a - b).abs() < 1e-8 * whole[0]);
        }
        // memory for nothing: products are streamed
        let streamed = spectrum(&gram, 4, Budget { memory: 1000 }).unwrap();
        assert_eq!(streamed.values.len(), 4);
        assert!((streamed.values[3] - whole[3]).abs() < 1e-8 * whole[0]);
    }
}
