//! Matrices that are not positive semi-definite: finding out, and mending them openly.

use crate::linalg::SolveError;
use crate::linalg::{multiply_add, symmetric_eigen};

/// Repairs of negative eigenvalues.
///
/// # Source
/// Y. Chen, E. K. Garcia, M. R. Gupta, A. Rahimi & L. Cazzanti, Similarity-based classification, JMLR 10 (2009), §4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// They become zero: the nearest matrix without any.
    Clip,
    /// They lose their sign.
    Flip,
    /// All eigenvalues are raised until the smallest is zero: off the diagonal nothing changes.
    Shift,
}

/// A matrix without negative eigenvalues, and what was done to it.
#[derive(Clone, Debug)]
pub struct Repaired {
    /// The matrix, row by row.
    pub matrix: Vec<f64>,
    /// The number of eigenvalues that were below zero by more than rounding.
    pub negative: usize,
    /// The smallest eigenvalue before.
    pub smallest: f64,
    /// The sum of the sizes of the negative ones over that of all.
    pub share: f64,
    /// The repair, in a sentence.
    pub said: String,
}

/// The smallest eigenvalue of a symmetric matrix, and what rounding may make of zero: n ε times the largest in size.
///
/// # Errors
/// If a value is not finite.
pub fn smallest_eigenvalue(matrix: &[f64], n: usize) -> Result<(f64, f64), SolveError> {
    let eigen = symmetric_eigen(matrix.to_vec(), n)?;
    let size = eigen.values.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    Ok((eigen.values.last().copied().unwrap_or(0.0), size * n as f64 * f64::EPSILON))
}

/// Mends a symmetric matrix; one that needs it not comes back as it was.
///
/// # Errors
/// If a value is not finite.
pub fn repair(matrix: &[f64], n: usize, how: Repair) -> Result<Repaired, SolveError> {
    let eigen = symmetric_eigen(matrix.to_vec(), n)?;
    let all: f64 = eigen.values.iter().map(|v| v.abs()).sum();
    let size = eigen.values.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    let nothing = size * n as f64 * f64::EPSILON;
    let below: Vec<f64> = eigen.values.iter().copied().filter(|v| *v < -nothing).collect();
    let smallest = eigen.values.last().copied().unwrap_or(0.0);
    let share = if all > 0.0 { below.iter().map(|v| v.abs()).sum::<f64>() / all } else { 0.0 };
    if below.is_empty() {
        let said = "no eigenvalue is below zero; nothing was changed".to_owned();
        return Ok(Repaired { matrix: matrix.to_vec(), negative: 0, smallest, share, said });
    }
    let (word, mended) = match how {
        Repair::Clip => ("set to zero", rebuilt(&eigen.vectors, n, eigen.values.iter().map(|v| v.max(0.0)))),
        Repair::Flip => ("given the other sign", rebuilt(&eigen.vectors, n, eigen.values.iter().map(|v| v.abs()))),
        Repair::Shift => {
            let mut shifted = matrix.to_vec();
            (0..n).for_each(|i| shifted[i * n + i] -= smallest);
            ("raised with all others until the smallest was zero", shifted)
        }
    };
    let said = format!(
        "{} of {n} eigenvalues were below zero (the smallest {smallest:.3e}, {:.2} % of all by size) and were {word}",
        below.len(),
        100.0 * share
    );
    Ok(Repaired { matrix: mended, negative: below.len(), smallest, share, said })
}

/// V diag(values) Vᵀ, exactly symmetric.
pub(super) fn rebuilt(vectors: &[f64], n: usize, values: impl Iterator<Item = f64>) -> Vec<f64> {
    let values: Vec<f64> = values.collect();
    let scaled: Vec<f64> = vectors.iter().enumerate().map(|(p, v)| v * values[p % n]).collect();
    let turned: Vec<f64> = (0..n * n).map(|p| vectors[(p % n) * n + p / n]).collect();
    let mut out = vec![0.0; n * n];
    multiply_add(&scaled, n, n, &turned, n, &mut out);
    for i in 0..n {
        for j in 0..i {
            let mean = 0.5 * (out[i * n + j] + out[j * n + i]);
            out[i * n + j] = mean;
            out[j * n + i] = mean;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::testing::{linear, points};
    use super::*;

    fn indefinite(n: usize) -> Vec<f64> {
        // tanh(2⟨x, z⟩ − 1) has negative eigenvalues
        linear(&points(n, 3, 12), 3).values().iter().map(|k| (2.0 * k - 1.0).tanh()).collect()
    }

    #[test]
    fn every_repair_takes_the_negative_eigenvalues_away() {
        let n = 30;
        let matrix = indefinite(n);
        let (smallest, nothing) = smallest_eigenvalue(&matrix, n).unwrap();
        assert!(smallest < -100.0 * nothing);
        let before = symmetric_eigen(matrix.clone(), n).unwrap();
        for how in [Repair::Clip, Repair::Flip, Repair::Shift] {
            let mended = repair(&matrix, n, how).unwrap();
            let (least, nothing) = smallest_eigenvalue(&mended.matrix, n).unwrap();
            assert!(least >= -10.0 * nothing, "{how:?}: {least}");
            assert_eq!(mended.negative, before.values.iter().filter(|v| **v < -nothing).count());
            assert!(mended.said.contains("below zero"), "{}", mended.said);
        }
        // clipping changes as little as possible: by the norm of what was negative
        let clipped = repair(&matrix, n, Repair::Clip).unwrap().matrix;
        let apart: f64 = clipped.iter().zip(&matrix).map(|(a, b)| (a - b).powi(2)).sum();
        let negative: f64 = before.values.iter().filter(|v| **v < 0.0).map(|v| v * v).sum();
        assert!((apart - negative).abs() < 1e-9 * negative);
        // shifting leaves everything off the diagonal
        let shifted = repair(&matrix, n, Repair::Shift).unwrap().matrix;
        assert!((0..n * n).filter(|p| p / n != p % n).all(|p| shifted[p] == matrix[p]));
    }

    #[test]
    fn what_needs_no_repair_is_left_alone() {
        let gram = linear(&points(20, 4, 13), 4);
        let same = repair(gram.values(), 20, Repair::Flip).unwrap();
        assert_eq!((same.matrix.as_slice(), same.negative), (gram.values(), 0));
        assert!(same.said.contains("nothing was changed"));
    }
}
