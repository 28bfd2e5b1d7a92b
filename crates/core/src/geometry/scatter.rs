//! Scatter matrices: how rows lie about their means.
//!
//! ```text
//! total    Σ_i v_i (k_i − m)(k_i − m)ᵀ
//! within   Σ_i v_i (k_i − m_c(i))(k_i − m_c(i))ᵀ       m_c the mean of class c
//! between  Σ_c n_c (m_c − m)(m_c − m)ᵀ                 total = within + between
//! ```
//! v_i is what example i counts, in the means as well, and n_c = Σ_{i in c} v_i.
//! Rows are examples: the kernel values of example i with the points z_1, …, z_m of an expansion w = Σ_j a_j φ(z_j), for which
//! aᵀ(total)a is n times the variance of ⟨w, φ(x)⟩. Nothing is divided by a count. For two classes `between` is
//! (n₁n₂/n)(m₁ − m₂)(m₁ − m₂)ᵀ.
//!
//! # Source
//! S. Mika, Kernel Fisher Discriminants (2002), 3.4.4 and 3.4.5; several classes by class means.

use crate::linalg::{gram_of_columns, multiply_transposed};
use rayon::prelude::*;

/// Σ_i v_i (k_i − m)(k_i − m)ᵀ of rows of so many numbers, with what each counts: width × width numbers.
///
/// # Panics
/// If there are not as many weights as rows.
pub fn total_scatter(rows: &[f64], width: usize, weights: &[f64]) -> Vec<f64> {
    within_scatter(rows, width, &vec![0; weights.len()], 1, weights)
}

/// Σ_i v_i (k_i − m_c)(k_i − m_c)ᵀ, the mean taken of the rows of the same class.
///
/// # Panics
/// If there are not as many codes and weights as rows, or a code is not below `classes`.
pub fn within_scatter(rows: &[f64], width: usize, codes: &[u32], classes: usize, weights: &[f64]) -> Vec<f64> {
    if width == 0 {
        return Vec::new();
    }
    let (means, _) = class_means(rows, width, codes, classes, weights);
    let mut centred = rows.to_vec();
    centred.par_chunks_mut(width).zip(codes).zip(weights).for_each(|((row, &c), v)| {
        let mean = &means[c as usize * width..(c as usize + 1) * width];
        let root = v.sqrt();
        row.iter_mut().zip(mean).for_each(|(k, m)| *k = root * (*k - m));
    });
    gram_of_columns(&centred, codes.len(), width)
}

/// √n_c (m_c − m) for every class: width × classes numbers G, row by row, with `between` = GGᵀ, which has a rank of at most
/// classes − 1.
///
/// # Panics
/// If there are not as many codes and weights as rows, or a code is not below `classes`.
pub fn between_columns(rows: &[f64], width: usize, codes: &[u32], classes: usize, weights: &[f64]) -> Vec<f64> {
    let (means, counts) = class_means(rows, width, codes, classes, weights);
    let n = some(counts.iter().sum());
    let mut columns = vec![0.0; width * classes];
    for j in 0..width {
        let centre = (0..classes).map(|c| counts[c] * means[c * width + j]).sum::<f64>() / n;
        for c in 0..classes {
            columns[j * classes + c] = counts[c].sqrt() * (means[c * width + j] - centre);
        }
    }
    columns
}

/// Σ_i v_i (k_i − l_i)(k_i − l_i)ᵀ for two blocks of as many rows, with what each counts: the finite difference of a tangent covariance where l_i belongs
/// to a slightly changed copy of example i.
///
/// # Source
/// S. Mika, Kernel Fisher Discriminants (2002), (3.23); (K − K_t)(K − K_t)ᵀ.
///
/// # Panics
/// If the blocks have different sizes, or there are not as many weights as rows.
pub fn squares_of_differences(rows: &[f64], copies: &[f64], width: usize, weights: &[f64]) -> Vec<f64> {
    assert_eq!(rows.len(), copies.len(), "a copy for each row");
    assert_eq!(rows.len(), weights.len() * width, "a weight for each row");
    let roots: Vec<f64> = weights.iter().map(|v| v.sqrt()).collect();
    let differences: Vec<f64> =
        rows.iter().zip(copies).enumerate().map(|(p, (k, l))| roots[p / width] * (k - l)).collect();
    gram_of_columns(&differences, weights.len(), width)
}

/// GGᵀ for width × count numbers.
pub(super) fn of_columns(columns: &[f64], width: usize, count: usize) -> Vec<f64> {
    let mut out = vec![0.0; width * width];
    if !out.is_empty() {
        multiply_transposed(columns, columns, count, &mut out, width);
    }
    out
}

/// The mean row of each class, class after class, and what its rows count. A class without weight has a mean of zero.
fn class_means(rows: &[f64], width: usize, codes: &[u32], classes: usize, weights: &[f64]) -> (Vec<f64>, Vec<f64>) {
    assert_eq!(rows.len(), codes.len() * width, "a code for each row");
    assert_eq!(codes.len(), weights.len(), "a weight for each row");
    let (mut means, mut counts) = (vec![0.0; classes * width], vec![0.0_f64; classes]);
    for ((row, &c), v) in rows.chunks_exact(width.max(1)).zip(codes).zip(weights) {
        let c = c as usize;
        counts[c] += v;
        means[c * width..(c + 1) * width].iter_mut().zip(row).for_each(|(m, k)| *m += v * k);
    }
    for (mean, &count) in means.chunks_exact_mut(width.max(1)).zip(&counts) {
        mean.iter_mut().for_each(|m| *m /= some(count));
    }
    (means, counts)
}

/// A count to divide by: one where there is nothing.
fn some(count: f64) -> f64 {
    if count > 0.0 { count } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    fn rows(n: usize, width: usize, seed: u64) -> Vec<f64> {
        let mut random = Seed(seed).stream("rows");
        (0..n * width).map(|_| random.normal() + 3.0).collect()
    }

    #[test]
    fn total_is_within_and_between_and_each_is_its_definition() {
        let (n, width) = (37, 6);
        let x = rows(n, width, 1);
        let codes: Vec<u32> = (0..n).map(|i| (i * i % 7 % 3) as u32).collect();
        for weights in [vec![1.0; n], (0..n).map(|i| (i % 4) as f64 * 0.7).collect()] {
            let mean = |keep: &dyn Fn(usize) -> bool, j: usize| {
                let mass: f64 = (0..n).filter(|&i| keep(i)).map(|i| weights[i]).sum();
                (0..n).filter(|&i| keep(i)).map(|i| weights[i] * x[i * width + j]).sum::<f64>() / mass
            };
            let total = total_scatter(&x, width, &weights);
            let within = within_scatter(&x, width, &codes, 3, &weights);
            let between = of_columns(&between_columns(&x, width, &codes, 3, &weights), width, 3);
            for a in 0..width {
                for b in 0..width {
                    let (mut t, mut w) = (0.0, 0.0);
                    for i in 0..n {
                        let all = |j| x[i * width + j] - mean(&|_| true, j);
                        let own = |j| x[i * width + j] - mean(&|o| codes[o] == codes[i], j);
                        t += weights[i] * all(a) * all(b);
                        w += weights[i] * own(a) * own(b);
                    }
                    let p = a * width + b;
                    assert!((total[p] - t).abs() < 1e-11 && (within[p] - w).abs() < 1e-11);
                    assert!((total[p] - within[p] - between[p]).abs() < 1e-11);
                }
            }
        }
    }

    #[test]
    fn two_classes_leave_one_difference_of_means() {
        // K H K = W + (n₁n₂/n) δδᵀ
        let (n, width) = (20, 4);
        let x = rows(n, width, 2);
        let codes: Vec<u32> = (0..n).map(|i| u32::from(i >= 7)).collect();
        let (means, counts) = class_means(&x, width, &codes, 2, &[1.0; 20]);
        let between = of_columns(&between_columns(&x, width, &codes, 2, &[1.0; 20]), width, 2);
        let factor = counts[0] * counts[1] / n as f64;
        for (p, value) in between.iter().enumerate() {
            let gap = |j: usize| means[width + j] - means[j];
            assert!((value - factor * gap(p / width) * gap(p % width)).abs() < 1e-12);
        }
    }

    #[test]
    fn differences_are_the_four_terms_and_vanish_for_the_same_rows() {
        let (n, width) = (15, 5);
        let (k, l) = (rows(n, width, 3), rows(n, width, 4));
        let weights: Vec<f64> = (0..n).map(|i| 0.5 + (i % 3) as f64).collect();
        let t = squares_of_differences(&k, &l, width, &weights);
        for a in 0..width {
            for b in 0..width {
                let term = |x: &[f64], y: &[f64], i: usize| weights[i] * x[i * width + a] * y[i * width + b];
                let sum = |x: &[f64], y: &[f64]| (0..n).map(|i| term(x, y, i)).sum::<f64>();
                let four = sum(&k, &k) + sum(&l, &l) - sum(&k, &l) - sum(&l, &k);
                assert!((t[a * width + b] - four).abs() < 1e-10);
            }
        }
        assert!(squares_of_differences(&k, &k, width, &weights).iter().all(|&t| t == 0.0));
        // aᵀTa is a sum of squares
        let a = rows(width, 1, 5);
        let form: f64 = (0..width * width).map(|p| a[p / width] * t[p] * a[p % width]).sum();
        let moved = |i: usize| (0..width).map(|j| a[j] * (k[i * width + j] - l[i * width + j])).sum::<f64>();
        let squares: f64 = (0..n).map(|i| weights[i] * moved(i).powi(2)).sum();
        assert!(squares > 0.0 && (form - squares).abs() < 1e-10 * squares, "{form} {squares}");
    }
}
