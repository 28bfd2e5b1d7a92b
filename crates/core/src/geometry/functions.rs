//! Functions of a matrix, and maps into coordinates that reproduce it.

use super::repair::rebuilt;
use crate::linalg::{multiply_add, symmetric_eigen};
use crate::solvers::SolveError;

/// f of a symmetric positive semi-definite matrix, taken of its eigenvalues.
///
/// # Source
/// B. Schölkopf, J. Weston, E. Eskin, C. Leslie & W. S. Noble, A kernel approach for learning from almost orthogonal patterns,
/// ECML (2002), §3 (functional calculus).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MatrixFunction {
    /// λ^p; a p below one makes a matrix with a dominant diagonal less so. Negative λ count as zero.
    Power(f64),
    /// exp(tλ), the diffusion kernel of a graph's negative Laplacian.
    Exp(f64),
    /// λ/(λ + μ): what a ridge of μ leaves.
    Resolvent(f64),
}

/// f(K) for n × n numbers row by row.
///
/// # Errors
/// If a value is not finite.
pub fn of_matrix(matrix: &[f64], n: usize, function: MatrixFunction) -> Result<Vec<f64>, SolveError> {
    let eigen = symmetric_eigen(matrix.to_vec(), n)?;
    let f = |v: &f64| match function {
        MatrixFunction::Power(p) => v.max(0.0).powf(p),
        MatrixFunction::Exp(t) => (t * v).exp(),
        MatrixFunction::Resolvent(mu) => v.max(0.0) / (v.max(0.0) + mu),
    };
    Ok(rebuilt(&eigen.vectors, n, eigen.values.iter().map(f)))
}

/// The empirical kernel map: an example becomes the vector of its kernel values with the training examples. Their inner
/// products are K², so it is for machines that need no kernel at all, and for kernels that are none.
///
/// # Source
/// B. Schölkopf & A. J. Smola, Learning with Kernels (2002), definition 2.15.
pub fn empirical_map(cross: &dyn crate::gram::Gram) -> Vec<f64> {
    let (m, n) = cross.shape();
    let mut out = vec![0.0; m * n];
    crate::gram::fill(cross, &mut out);
    out
}

/// The whitened (kernel PCA) map: coordinates Λ^{-1/2} Vᵀ k whose inner products are κ itself, for the training examples
/// exactly. Gives n × rank numbers for the training examples and the matrix (n × rank) that maps rows of kernel values.
///
/// # Source
/// B. Schölkopf & A. J. Smola, Learning with Kernels (2002), (2.59).
///
/// # Errors
/// If a value is not finite.
pub fn whitened_map(matrix: &[f64], n: usize) -> Result<(Vec<f64>, Vec<f64>), SolveError> {
    let eigen = symmetric_eigen(matrix.to_vec(), n)?;
    let top = eigen.values.first().copied().unwrap_or(0.0);
    let rank = eigen.values.iter().take_while(|v| **v > top * n as f64 * f64::EPSILON).count();
    let mut map = vec![0.0; n * rank];
    for i in 0..n {
        for j in 0..rank {
            map[i * rank + j] = eigen.vectors[i * n + j] / eigen.values[j].sqrt();
        }
    }
    let mut coordinates = vec![0.0; n * rank];
    multiply_add(matrix, n, n, &map, rank, &mut coordinates);
    Ok((coordinates, map))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{linear, points};
    use super::*;

    fn product(a: &[f64], b: &[f64], n: usize) -> Vec<f64> {
        let mut out = vec![0.0; n * n];
        multiply_add(a, n, n, b, n, &mut out);
        out
    }

    fn near(a: &[f64], b: &[f64], tolerance: f64) {
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < tolerance), "{a:?} {b:?}");
    }

    #[test]
    fn powers_multiply_exponentials_add_and_resolvents_solve() {
        let n = 9;
        let mut k = linear(&points(n, 9, 14), 9).values().to_vec();
        (0..n).for_each(|i| k[i * n + i] += 0.5);
        let half = of_matrix(&k, n, MatrixFunction::Power(0.5)).unwrap();
        near(&product(&half, &half, n), &k, 1e-9);
        near(&of_matrix(&k, n, MatrixFunction::Power(2.0)).unwrap(), &product(&k, &k, n), 1e-8);
        let small: Vec<f64> = k.iter().map(|v| 0.05 * v).collect();
        let (one, two) = (
            of_matrix(&small, n, MatrixFunction::Exp(1.0)).unwrap(),
            of_matrix(&small, n, MatrixFunction::Exp(2.0)).unwrap(),
        );
        near(&product(&one, &one, n), &two, 1e-9);
        // (K + μ) f(K) = K
        let resolvent = of_matrix(&k, n, MatrixFunction::Resolvent(0.7)).unwrap();
        let mut shifted = k.clone();
        (0..n).for_each(|i| shifted[i * n + i] += 0.7);
        near(&product(&shifted, &resolvent, n), &k, 1e-9);
    }

    #[test]
    fn whitened_coordinates_reproduce_the_kernel_and_the_empirical_map_its_square() {
        let (n, d) = (12, 3);
        let gram = linear(&points(n, d, 15), d);
        let (coordinates, map) = whitened_map(gram.values(), n).unwrap();
        assert_eq!((coordinates.len(), map.len()), (n * d, n * d), "as many coordinates as the rank");
        for i in 0..n {
            for j in 0..n {
                let inner: f64 = (0..d).map(|k| coordinates[i * d + k] * coordinates[j * d + k]).sum();
                assert!((inner - gram.row(i)[j]).abs() < 1e-9);
            }
        }
        let rows = empirical_map(&gram);
        let squared = product(gram.values(), gram.values(), n);
        let inner: f64 = (0..n).map(|k| rows[k] * rows[n + k]).sum();
        assert!((inner - squared[1]).abs() < 1e-9);
    }
}
