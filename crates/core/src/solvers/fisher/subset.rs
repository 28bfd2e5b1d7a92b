//! A discriminant expanded in few examples: normal equations.

use super::{Aim, Discriminants, Quadratic, column_sums, factor};
use crate::gram::{BlockMut, Gram, Pick};
use crate::linalg::SolveError;
use crate::linalg::{cholesky_bytes, gram_of_columns, multiply_add, transposed_multiply};
use crate::parallel;
use crate::solvers::direct::squares;
use crate::watch::{Monitor, Phase};

/// Rows that one thread takes at a time.
const STRIP: usize = 128;

/// The bytes that [`subset`] takes for m of n examples.
pub fn subset_bytes(n: usize, m: usize, outputs: usize) -> usize {
    8 * (2 * n * m + 2 * m * m + 4 * outputs * n) + cholesky_bytes(m)
}

/// The least squares solution with α on `points` only, and its leave-one-out residuals for a fixed set of points.
///
/// With the weighted means taken away (which eliminates b) it is (K̃ᵀWK̃ + λP)α = K̃ᵀWỹ, P = I or the points' own matrix.
/// Leaving out the error of example p gives ξ_p / (1 − w_p (1/Σw + k̃_pᵀ(…)⁻¹k̃_p)).
///
/// # Source
/// Mika (2002), §3.5.1 and eq. (3.59); the corner of (3.59) is 1ᵀy, not M₂ − M₁ for every coding.
///
/// # Cost
/// n m² multiplications and 2 n m numbers.
pub fn subset(
    gram: &dyn Gram,
    points: &[usize],
    aim: &Aim<'_>,
    watch: &dyn Monitor,
) -> Result<(Discriminants, Vec<f64>), SolveError> {
    let (n, m, k) = (aim.len(), points.len(), aim.outputs);
    watch.alive(Phase::new("kernel columns").into())?;
    let mut columns = vec![0.0; n * m];
    parallel::strips(&mut columns, STRIP * m.max(1), |strip, values| {
        let (start, count) = (strip * STRIP, values.len() / m.max(1));
        gram.block(Pick::Range(start..start + count), Pick::List(points), BlockMut::new(values, count, m));
    });
    if let Some(p) = columns.iter().position(|x| !x.is_finite()) {
        return Err(SolveError::NotFinite { row: p / m + 1, column: points[p % m] + 1 });
    }
    let own: Vec<f64> = points.iter().flat_map(|&p| columns[p * m..(p + 1) * m].iter().copied()).collect();
    // rows √w (k − k̄), so that products of columns are the weighted ones
    let mass = aim.mass();
    let means = column_sums(&columns, m, |i| aim.weights[i] / mass);
    let averages = aim.means();
    let root: Vec<f64> = aim.weights.iter().map(|w| w.sqrt()).collect();
    for (row, r) in columns.chunks_exact_mut(m.max(1)).zip(&root) {
        row.iter_mut().zip(&means).for_each(|(x, mean)| *x = r * (*x - mean));
    }
    let target: Vec<f64> = (0..n * k).map(|p| root[p / k] * (aim.y[p] - averages[p % k])).collect();
    let right = transposed_multiply(&columns, m, &target, k);
    let mut make = || {
        let mut matrix = gram_of_columns(&columns, n, m);
        penalise(&mut matrix, aim, &own, m);
        Ok(matrix)
    };
    let (factor, jitter) = factor(m, &mut make, watch)?;
    let mut alpha = right.clone();
    factor.solve(&mut alpha, k);
    let residual = |alpha: &[f64]| -> Vec<f64> {
        let image = factor.multiply(alpha, k);
        (0..m * k).map(|p| right[p] - image[p] + jitter * alpha[p]).collect()
    };
    let mut rest = residual(&alpha);
    let mut step = rest.clone();
    factor.solve(&mut step, k);
    let refined: Vec<f64> = alpha.iter().zip(&step).map(|(a, s)| a + s).collect();
    let again = residual(&refined);
    if squares(&again) < squares(&rest) {
        (alpha, rest) = (refined, again);
    }
    let norms = factor.inverse_norms(&columns);
    let mut found = finish(aim, points, alpha, (&columns, &means, &root), &own);
    found.relative_residual = squares(&rest).sqrt() / squares(&right).sqrt().max(f64::MIN_POSITIVE);
    found.jitter = jitter;
    let left_out = (0..n * k)
        .map(|p| {
            let leverage = aim.weights[p / k] / mass + norms[p / k];
            (aim.y[p] - found.scores[p]) / (1.0 - leverage)
        })
        .collect();
    Ok((found, left_out))
}

/// Adds λP.
fn penalise(matrix: &mut [f64], aim: &Aim<'_>, own: &[f64], m: usize) {
    match aim.penalty {
        Quadratic::Coefficients => (0..m).for_each(|i| matrix[i * m + i] += aim.lambda),
        Quadratic::Norm => {
            for i in 0..m {
                for j in 0..m {
                    // exactly symmetric, whatever the kernel's rounding
                    matrix[i * m + j] += aim.lambda * 0.5 * (own[i * m + j] + own[j * m + i]);
                }
            }
        }
    }
}

/// Offsets, scores and values of an α on points; `columns` are √w (k − k̄).
fn finish(
    aim: &Aim<'_>,
    points: &[usize],
    alpha: Vec<f64>,
    (columns, means, root): (&[f64], &[f64], &[f64]),
    own: &[f64],
) -> Discriminants {
    let (n, m, k) = (aim.len(), points.len(), aim.outputs);
    let mut scores = vec![0.0; n * k];
    let averages = aim.means();
    if m > 0 && k > 0 {
        parallel::strips_beside((&mut scores, STRIP * k), (columns, STRIP * m), |out, rows| {
            multiply_add(rows, rows.len() / m, m, &alpha, k, out);
        });
    }
    let mut objectives = penalties(aim, &alpha, own, m);
    for (p, score) in scores.iter_mut().enumerate() {
        *score = *score / root[p / k] + averages[p % k];
        objectives[p % k] += 0.5 * aim.weights[p / k] * (aim.y[p] - *score).powi(2);
    }
    // b = ȳ − k̄ᵀα
    let offsets = (0..k).map(|c| averages[c] - (0..m).map(|j| means[j] * alpha[j * k + c]).sum::<f64>()).collect();
    Discriminants {
        points: points.to_vec(),
        alpha,
        offsets,
        scores,
        objectives,
        gaps: None,
        relative_residual: 0.0,
        jitter: 0.0,
    }
}

/// λP(α) of each output.
pub(super) fn penalties(aim: &Aim<'_>, alpha: &[f64], own: &[f64], m: usize) -> Vec<f64> {
    let k = aim.outputs;
    let mut image = vec![0.0; m * k];
    match aim.penalty {
        Quadratic::Norm => multiply_add(own, m, m, alpha, k, &mut image),
        Quadratic::Coefficients => image.copy_from_slice(alpha),
    }
    let mut values = vec![0.0; k];
    alpha.iter().zip(&image).enumerate().for_each(|(p, (a, f))| values[p % k] += 0.5 * aim.lambda * a * f);
    values
}
