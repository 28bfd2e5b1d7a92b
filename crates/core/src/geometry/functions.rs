//! Functions of a matrix, and maps into coordinates that reproduce it.

use super::repair::rebuilt;
use crate::linalg::SolveError;
use crate::linalg::symmetric_eigen;

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

/// The whitened map of some examples.
#[derive(Clone, Debug)]
pub struct Whitened {
    /// The eigenvalues that count, the largest first.
    pub values: Vec<f64>,
    /// V Λ^{-1/2}, n × rank row by row: coordinates of a new example are its kernel values times that.
    pub map: Vec<f64>,
    /// V Λ^{1/2}, n × rank row by row: the coordinates of the examples themselves.
    pub coordinates: Vec<f64>,
    /// The sum of the sizes of negative eigenvalues that are more than rounding; what the map leaves out.
    pub negative: f64,
}

impl Whitened {
    /// The number of coordinates.
    pub fn rank(&self) -> usize {
        self.values.len()
    }
}

/// The whitened (kernel PCA) map: coordinates Λ^{-1/2} Vᵀ k, a rotation of K^{-1/2} k, whose inner products are κ itself, for
/// the given examples exactly. Eigenvalues at or below `tolerance` times the largest count as zero, and so does what
/// rounding may leave. The entry of a column of V that is largest in size is positive.
///
/// # Source
/// B. Schölkopf & A. J. Smola, Learning with Kernels (2002), (2.59).
///
/// # Errors
/// If a value is not finite.
pub fn whitened_map(matrix: Vec<f64>, n: usize, tolerance: f64) -> Result<Whitened, SolveError> {
    let eigen = symmetric_eigen(matrix, n)?;
    let size = eigen.values.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    let rounding = size * n as f64 * f64::EPSILON;
    let floor = (eigen.values.first().copied().unwrap_or(0.0) * tolerance).max(rounding);
    let values: Vec<f64> = eigen.values.iter().copied().take_while(|v| *v > floor).collect();
    let negative = eigen.values.iter().filter(|v| **v < -rounding).map(|v| -v).sum();
    let rank = values.len();
    let (mut map, mut coordinates) = (vec![0.0; n * rank], vec![0.0; n * rank]);
    for (j, value) in values.iter().enumerate() {
        let column = || (0..n).map(|i| eigen.vectors[i * n + j]);
        let largest = column().fold(0.0, |best: f64, v| if v.abs() > best.abs() { v } else { best });
        let root = value.sqrt() * largest.signum();
        for (i, v) in column().enumerate() {
            map[i * rank + j] = v / root;
            coordinates[i * rank + j] = v * root;
        }
    }
    Ok(Whitened { values, map, coordinates, negative })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{linear, points};
    use super::*;
    use crate::linalg::multiply_add;

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
        let found = whitened_map(gram.values().to_vec(), n, 0.0).unwrap();
        let coordinates = &found.coordinates;
        assert_eq!((found.rank(), coordinates.len(), found.map.len()), (d, n * d, n * d), "the rank is the width");
        assert_eq!(found.negative, 0.0);
        let mut mapped = vec![0.0; n * d];
        multiply_add(gram.values(), n, n, &found.map, d, &mut mapped);
        near(&mapped, coordinates, 1e-9);
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
