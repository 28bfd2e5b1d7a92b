//! All λ from one eigendecomposition, with exact leave-one-out residuals at each.

use super::direct::{conclude, product};
use super::{Aim, Discriminants, Quadratic, column_sums};
use crate::linalg::SolveError;
use crate::linalg::{Eigen, gram_of_columns, multiply_add, symmetric_eigen, transposed_multiply};
use crate::parallel;
use crate::solvers::direct::shifted_inverse;
use rayon::prelude::*;

/// Rows that one thread takes at a time.
const STRIP: usize = 64;

/// √W G √W = UVUᵀ; with γ = √W c the bordered system becomes (UVUᵀ + λI)c + b√w = √W y, √wᵀc = 0.
///
/// # Source
/// Mika (2002), eqs. (3.63) and (3.64) and §4.4, in the eigenvectors' coordinates.
///
/// # Cost
/// About 9n³ operations once, O(n² outputs) for each λ.
#[derive(Clone, Debug)]
pub struct Path {
    eigen: Eigen,
    /// The eigenvalues of K themselves, where G = K² and no example counts more than another.
    kernel_values: Option<Vec<f64>>,
    /// K, where α = Kγ.
    kernel: Option<Vec<f64>>,
    /// K√W U, where G = K² and weights differ: its columns are orthogonal, and V are the squares of their lengths.
    image: Option<Vec<f64>>,
    /// √w.
    root: Vec<f64>,
    /// Uᵀ[√W Y, √w], row by row.
    turned: Vec<f64>,
}

/// A solution at one λ in the coordinates of √W G √W.
#[derive(Clone, Copy)]
struct Solved<'a> {
    /// c, n × outputs row by row.
    c: &'a [f64],
    /// Â⁻¹√w.
    ones: &'a [f64],
    /// √wᵀÂ⁻¹√w.
    total: f64,
    /// 1/(V + λ).
    inverse: &'a [f64],
    lambda: f64,
}

/// The discriminants at one λ.
#[derive(Clone, Debug)]
pub struct PathPoint {
    /// γ, n × outputs row by row.
    pub gamma: Vec<f64>,
    /// UᵀW^(−½)γ, row by row.
    coordinates: Vec<f64>,
    /// b of each output.
    pub offsets: Vec<f64>,
    /// y_p − f₋ₚ(x_p), row by row.
    pub left_out: Vec<f64>,
}

impl Path {
    /// Decomposes the matrix of K (n × n numbers) for an aim, whose λ plays no part.
    pub fn new(kernel: Vec<f64>, aim: &Aim<'_>) -> Result<Self, SolveError> {
        let (n, k) = (aim.len(), aim.outputs);
        let root: Vec<f64> = aim.weights.iter().map(|w| w.sqrt()).collect();
        let even = root.windows(2).all(|w| w[0] == w[1]);
        let scaled = |mut matrix: Vec<f64>| {
            for (p, value) in matrix.iter_mut().enumerate() {
                *value *= root[p / n] * root[p % n];
            }
            matrix
        };
        let (mut eigen, kept, squared) = match aim.penalty {
            Quadratic::Norm => (symmetric_eigen(scaled(kernel), n)?, None, false),
            // K and K² have the same vectors; the squares of the values are exact to rounding
            Quadratic::Coefficients if even => (symmetric_eigen(kernel.clone(), n)?, Some(kernel), true),
            Quadratic::Coefficients => {
                crate::solvers::direct::finite(&kernel, n)?;
                (symmetric_eigen(scaled(gram_of_columns(&kernel, n, n)), n)?, Some(kernel), false)
            }
        };
        let kernel_values = squared.then(|| eigen.values.clone());
        if squared {
            let w = root.first().map_or(1.0, |r| r * r);
            eigen.values.iter_mut().for_each(|v| *v = w * v.powi(2));
        }
        let mut right = Vec::with_capacity(n * (k + 1));
        for (row, r) in aim.y.chunks_exact(k.max(1)).zip(&root) {
            right.extend(row.iter().map(|y| r * y));
            right.push(*r);
        }
        let turned = transposed_multiply(&eigen.vectors, n, &right, k + 1);
        let image = kept.as_ref().filter(|_| !squared).map(|kernel| {
            let weighed: Vec<f64> = eigen.vectors.iter().enumerate().map(|(p, u)| root[p / n] * u).collect();
            product(kernel, n, &weighed, n)
        });
        Ok(Self { eigen, kernel_values, kernel: kept, image, root, turned })
    }

    /// The largest eigenvalue of √W G √W, the scale of λ.
    pub fn top(&self) -> f64 {
        self.eigen.values.iter().fold(0.0, |top, v| v.max(top))
    }

    /// γ, b and the leave-one-out residuals at one λ: those of [`Bordered::left_out`](super::direct::Bordered::left_out) for whole
    /// examples, whatever the penalty and the weights.
    pub fn at(&self, lambda: f64) -> Result<PathPoint, SolveError> {
        let (n, wide) = (self.root.len(), self.turned.len() / self.root.len().max(1));
        let k = wide - 1;
        let inverse = shifted_inverse(&self.eigen.values, lambda)?;
        let scaled: Vec<f64> = self.turned.iter().enumerate().map(|(p, t)| t * inverse[p / wide]).collect();
        // A⁻¹[√W Y, √w]
        let mut solved = vec![0.0; n * wide];
        parallel::strips_beside((&mut solved, STRIP * wide), (&self.eigen.vectors, STRIP * n), |out, rows| {
            multiply_add(rows, rows.len() / n, n, &scaled, wide, out);
        });
        let sums = column_sums(&solved, wide, |i| self.root[i]);
        let total = sums[k];
        let offsets: Vec<f64> = sums[..k].iter().map(|t| t / total).collect();
        let ones: Vec<f64> = solved.iter().skip(k).step_by(wide).copied().collect();
        let c: Vec<f64> = (0..n * k).map(|p| solved[p / k * wide + p % k] - offsets[p % k] * ones[p / k]).collect();
        let coordinates = (0..n * k).map(|q| {
            let row = &scaled[q / k * wide..(q / k + 1) * wide];
            row[q % k] - offsets[q % k] * row[k]
        });
        let coordinates = coordinates.collect();
        let diagonals: Vec<[f64; 2]> = self
            .eigen
            .vectors
            .par_chunks(n)
            .map(|row| {
                let mut sums = [0.0; 2];
                for (j, (u, i)) in row.iter().zip(&inverse).enumerate() {
                    sums[0] += u * u * i;
                    sums[1] += self.kernel_values.as_ref().map_or(0.0, |v| u * u * i * v[j]);
                }
                sums
            })
            .collect();
        let own = |p: usize| diagonals[p][0] - ones[p] * ones[p] / total;
        let left_out: Vec<f64> = match (&self.kernel, &self.kernel_values) {
            (Some(kernel), Some(_)) => {
                // as in `direct.rs`; all is scaled by the common √w: c = γ/√w, k̂ = √w k, and KA⁻¹K = (I − λA⁻¹)/w
                let w = self.root[0] * self.root[0];
                let touch = product(kernel, n, &ones, 1);
                let image = product(kernel, n, &c, k);
                (0..n * k)
                    .map(|q| {
                        let p = q / k;
                        let u = diagonals[p][1] - ones[p] * touch[p] / total;
                        let left = lambda * diagonals[p][0] / w + touch[p] * touch[p] / total;
                        let c = c[q] + u * image[q] / left;
                        c / (own(p) + u * u / left) / self.root[p]
                    })
                    .collect()
            }
            (Some(kernel), None) => {
                let solved = Solved { c: &c, ones: &ones, total, inverse: &inverse, lambda };
                self.without_examples(kernel, &solved, &own)
            }
            _ => (0..n * k).map(|q| c[q] / own(q / k) / self.root[q / k]).collect(),
        };
        let gamma = c.iter().enumerate().map(|(q, c)| c * self.root[q / k]).collect();
        Ok(PathPoint { gamma, coordinates, offsets, left_out })
    }

    /// The residuals without each example where G = K² and weights differ: as in `direct.rs` with A⁻¹ = √W Â⁻¹ √W for Â = UVUᵀ + λI.
    ///
    /// The columns of K√W U are σ_j q_j with orthonormal q_j and σ_j² = V_j, so that KA⁻¹K = Σ σ²/(σ² + λ) qqᵀ and I − KA⁻¹K =
    /// Σ λ/(σ² + λ) qqᵀ, which cancels nothing; directions with σ = 0 are those that the others leave.
    fn without_examples(&self, kernel: &[f64], solved: &Solved<'_>, own: &(dyn Fn(usize) -> f64 + Sync)) -> Vec<f64> {
        let Solved { c, ones, total, inverse, lambda } = *solved;
        let (n, k) = (self.root.len(), c.len() / self.root.len().max(1));
        let weighed =
            |x: &[f64], k: usize| -> Vec<f64> { x.iter().enumerate().map(|(q, x)| self.root[q / k] * x).collect() };
        let touch = product(kernel, n, &weighed(ones, 1), 1);
        let alpha = product(kernel, n, &weighed(c, k), k);
        let image = self.image.as_deref().unwrap_or(&[]);
        let nothing = self.top() * n as f64 * f64::EPSILON;
        let sums: Vec<[f64; 3]> = image
            .par_chunks(n)
            .zip(self.eigen.vectors.par_chunks(n))
            .map(|(image, vectors)| {
                let (mut beside, mut left, mut rest) = (0.0, 0.0, 1.0);
                for (j, (v, u)) in image.iter().zip(vectors).enumerate() {
                    beside += u * v * inverse[j];
                    let square = self.eigen.values[j];
                    if square > nothing {
                        let part = v * v / square;
                        left += part * lambda * inverse[j];
                        rest -= part;
                    }
                }
                [beside, left, if rest > n as f64 * f64::EPSILON { rest } else { 0.0 }]
            })
            .collect();
        let residual = |q: usize| {
            let p = q / k;
            let [beside, left, rest] = sums[p];
            // in the terms of Â the inverse, u and γ are divided by w, √w and √w
            let u = beside - ones[p] * touch[p] / total;
            let left = left + rest + touch[p] * touch[p] / total;
            (c[q] + u * alpha[q] / left) / (own(p) + u * u / left) / self.root[p]
        };
        (0..n * k).map(residual).collect()
    }

    /// The discriminants of a point. Where α = Kγ it is made of the coordinates, since rounding in the product Kγ is much of what α should
    /// be where K is large; and its residuals are those of K itself. Under the norm UVUᵀ stands for √W G √W in them.
    pub fn conclude(&self, point: &PathPoint, aim: &Aim<'_>) -> Discriminants {
        let (n, k) = (aim.len(), aim.outputs);
        let (alpha, image) = match &self.kernel {
            Some(kernel) => {
                let alpha = self.coefficients(point, k);
                let image = product(kernel, n, &alpha, k);
                (alpha, image)
            }
            None => {
                let scaled: Vec<f64> =
                    point.coordinates.iter().enumerate().map(|(q, c)| c * self.eigen.values[q / k]).collect();
                let mut image = product(&self.eigen.vectors, n, &scaled, k);
                image.iter_mut().enumerate().for_each(|(q, f)| *f /= self.root[q / k]);
                (point.gamma.clone(), image)
            }
        };
        let rest = |q: usize| {
            let own = aim.lambda / aim.weights[q / k] * point.gamma[q];
            aim.y[q] - image[q] - own - point.offsets[q % k]
        };
        let residual: Vec<f64> = (0..n * k).map(rest).collect();
        conclude(aim, alpha, &point.gamma, point.offsets.clone(), &residual, 0.0)
    }

    /// α = K√W U times the coordinates, where K√W U is √w U times the eigenvalues of K where all weights are alike.
    fn coefficients(&self, point: &PathPoint, k: usize) -> Vec<f64> {
        let n = self.root.len();
        match (&self.kernel_values, &self.image) {
            (Some(values), _) => {
                let scaled: Vec<f64> =
                    point.coordinates.iter().enumerate().map(|(q, c)| self.root[q / k] * values[q / k] * c).collect();
                product(&self.eigen.vectors, n, &scaled, k)
            }
            (None, Some(image)) => product(image, n, &point.coordinates, k),
            (None, None) => point.gamma.clone(),
        }
    }
}
