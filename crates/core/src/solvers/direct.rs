//! (K + λI) α = Y solved directly: by Cholesky for one λ, by an eigendecomposition for a whole path of them.

use crate::linalg::SolveError;
use crate::linalg::{Cholesky, Eigen, NotPositive, multiply_add, symmetric_eigen, transposed_multiply};
use crate::parallel;

/// The remedy for a pivot that is not positive.
const REMEDY: &str = "increase lambda";
/// Rows that one thread takes at a time.
const STRIP: usize = 64;

/// A solution of (K + λI) α = Y.
#[derive(Clone, Debug)]
pub struct Direct {
    /// α, n × outputs numbers row by row.
    pub alpha: Vec<f64>,
    /// Y − (K + λI) α, row by row.
    pub residual: Vec<f64>,
    /// The factor of K + λI.
    pub factor: Cholesky,
}

/// Solves (K + λI) α = Y for `outputs` right-hand sides (row by row) in the memory of K, with one step of refinement
/// where that makes the residual smaller. Takes n³/3 multiplications.
pub fn solve_shifted(matrix: Vec<f64>, n: usize, lambda: f64, y: &[f64], outputs: usize) -> Result<Direct, SolveError> {
    let factor = factor_shifted(matrix, n, lambda)?;
    let mut alpha = y.to_vec();
    factor.solve(&mut alpha, outputs);
    let mut residual = difference(y, &factor.multiply(&alpha, outputs));
    let mut step = residual.clone();
    factor.solve(&mut step, outputs);
    let refined: Vec<f64> = alpha.iter().zip(&step).map(|(a, s)| a + s).collect();
    let rest = difference(y, &factor.multiply(&refined, outputs));
    if squares(&rest) < squares(&residual) {
        (alpha, residual) = (refined, rest);
    }
    Ok(Direct { alpha, residual, factor })
}

/// The Cholesky factor of A + λI, in the memory of A.
pub fn factor_shifted(mut matrix: Vec<f64>, n: usize, lambda: f64) -> Result<Cholesky, SolveError> {
    finite(&matrix, n)?;
    for i in 0..n {
        matrix[i * n + i] += lambda;
    }
    Cholesky::factor(matrix, n).map_err(|NotPositive { index, value }| SolveError::Pivot {
        index: index + 1,
        value,
        remedy: REMEDY,
    })
}

/// Refuses a matrix with values that are not finite.
pub fn finite(matrix: &[f64], n: usize) -> Result<(), SolveError> {
    const STRIP: usize = 1 << 16;
    let places = parallel::map(matrix.len().div_ceil(STRIP), |s| {
        let strip = &matrix[s * STRIP..matrix.len().min((s + 1) * STRIP)];
        // whether there is any is asked first, since a loop that may end early takes one number at a time
        let all = strip.iter().fold(true, |all, x| all & x.is_finite());
        if all { None } else { strip.iter().position(|x| !x.is_finite()).map(|p| s * STRIP + p) }
    });
    match places.into_iter().flatten().next() {
        Some(p) => Err(SolveError::NotFinite { row: p / n + 1, column: p % n + 1 }),
        None => Ok(()),
    }
}

/// Leave-one-out residuals from a solution: y_i − f₋ᵢ(x_i) = α_i / (A⁻¹)_ii with A = K + λI, where f₋ᵢ has not seen
/// example i. From the block inverse of A (Rasmussen & Williams 2006, eq. 5.12, with σ_n² = λ).
pub fn leave_one_out(alpha: &[f64], inverse_diagonal: &[f64]) -> Vec<f64> {
    let outputs = alpha.len() / inverse_diagonal.len().max(1);
    alpha.iter().enumerate().map(|(p, a)| a / inverse_diagonal[p / outputs]).collect()
}

/// The solutions without each equation in turn, n × (n · outputs) numbers row by row, solution by solution: with B = A⁻¹ that
/// without i is α_j − B_ji α_i / B_ii, which is zero for j = i. From the same block inverse.
pub fn left_out_models(alpha: &[f64], factor: &Cholesky) -> Vec<f64> {
    let n = factor.len();
    let outputs = alpha.len() / n.max(1);
    let mut inverse = vec![0.0; n * n];
    (0..n).for_each(|i| inverse[i * n + i] = 1.0);
    factor.solve(&mut inverse, n);
    let mut all = vec![0.0; n * n * outputs];
    parallel::strips(&mut all, (n * outputs).max(1), |j, row| {
        for i in (0..n).filter(|&i| i != j) {
            let share = inverse[j * n + i] / inverse[i * n + i];
            for c in 0..outputs {
                row[i * outputs + c] = alpha[j * outputs + c] - share * alpha[i * outputs + c];
            }
        }
    });
    all
}

/// K = UΛUᵀ together with UᵀY: every λ costs O(n² outputs) from here on.
#[derive(Clone, Debug)]
pub struct Spectrum {
    eigen: Eigen,
    /// UᵀY, row by row.
    turned: Vec<f64>,
    outputs: usize,
}

/// α and the leave-one-out residuals at one λ.
#[derive(Clone, Debug)]
pub struct PathPoint {
    /// α, n × outputs numbers row by row.
    pub alpha: Vec<f64>,
    /// y_i − f₋ᵢ(x_i), row by row.
    pub left_out: Vec<f64>,
}

impl Spectrum {
    /// Decomposes K (n × n numbers) for `outputs` targets (row by row).
    pub fn new(matrix: Vec<f64>, n: usize, y: &[f64], outputs: usize) -> Result<Self, SolveError> {
        let eigen = symmetric_eigen(matrix, n)?;
        let turned = transposed_multiply(&eigen.vectors, n, y, outputs);
        Ok(Self { eigen, turned, outputs })
    }

    /// The eigenvalues of K, the largest first.
    pub fn values(&self) -> &[f64] {
        &self.eigen.values
    }

    /// α(λ) = U (Λ + λI)⁻¹ UᵀY, and (A⁻¹)_ii = Σ_j U_ij² / (λ_j + λ) for the leave-one-out residuals.
    pub fn at(&self, lambda: f64) -> Result<PathPoint, SolveError> {
        let (n, outputs) = (self.eigen.values.len(), self.outputs);
        let weights = shifted_inverse(&self.eigen.values, lambda)?;
        let scaled: Vec<f64> = self.turned.iter().enumerate().map(|(p, t)| t * weights[p / outputs]).collect();
        let (mut alpha, mut left_out) = (vec![0.0; n * outputs], vec![0.0; n * outputs]);
        if alpha.is_empty() {
            return Ok(PathPoint { alpha, left_out });
        }
        let strips = alpha.chunks_mut(STRIP * outputs).zip(left_out.chunks_mut(STRIP * outputs));
        let strips: Vec<_> = strips.zip(self.eigen.vectors.chunks(STRIP * n)).collect();
        parallel::consume(strips, |_, ((alpha, left_out), rows)| {
            multiply_add(rows, rows.len() / n, n, &scaled, outputs, alpha);
            for (i, row) in rows.chunks_exact(n).enumerate() {
                let inverse: f64 = row.iter().zip(&weights).map(|(u, w)| u * u * w).sum();
                for c in i * outputs..(i + 1) * outputs {
                    left_out[c] = alpha[c] / inverse;
                }
            }
        });
        Ok(PathPoint { alpha, left_out })
    }
}

impl Spectrum {
    /// Y − (K + λI) α with UΛUᵀ for K.
    pub fn residual(&self, alpha: &[f64], y: &[f64], lambda: f64) -> Vec<f64> {
        let (n, outputs) = (self.eigen.values.len(), self.outputs);
        let mut turned = transposed_multiply(&self.eigen.vectors, n, alpha, outputs);
        for (p, t) in turned.iter_mut().enumerate() {
            *t *= self.eigen.values[p / outputs];
        }
        let mut image: Vec<f64> = alpha.iter().map(|a| lambda * a).collect();
        multiply_add(&self.eigen.vectors, n, n, &turned, outputs, &mut image);
        difference(y, &image)
    }
}

/// 1 / (λ_j + λ) for eigenvalues, the largest first; an error where that is not positive.
pub fn shifted_inverse(values: &[f64], lambda: f64) -> Result<Vec<f64>, SolveError> {
    match values.iter().position(|v| v + lambda <= 0.0) {
        Some(j) => Err(SolveError::Pivot { index: j + 1, value: values[j] + lambda, remedy: REMEDY }),
        None => Ok(values.iter().map(|v| 1.0 / (v + lambda)).collect()),
    }
}

/// The λ with the smallest loss: a grid of two points a decade between `low` and `high`, then golden section between the
/// neighbours of its best point. Points at which `loss` fails or is not finite are passed over; the error of the last is
/// returned if there is no other.
pub fn choose_lambda<E>(low: f64, high: f64, loss: &mut dyn FnMut(f64) -> Result<f64, E>) -> Result<f64, E>
where
    E: From<SolveError>,
{
    let mut seen: Vec<(f64, f64)> = Vec::new();
    let mut failure = None;
    let mut try_at = |log: f64, seen: &mut Vec<(f64, f64)>| match loss(log.exp()) {
        Ok(value) if value.is_finite() => {
            seen.push((log, value));
            value
        }
        Ok(_) => f64::INFINITY,
        Err(e) => {
            failure = Some(e);
            f64::INFINITY
        }
    };
    let (low, high) = (low.ln(), high.ln());
    let count = ((high - low) / std::f64::consts::LN_10 * 2.0).ceil().max(1.0);
    let width = (high - low) / count;
    for i in 0..=count as usize {
        try_at(low + width * i as f64, &mut seen);
    }
    let Some(best) = smallest(&seen) else {
        return Err(failure.unwrap_or_else(|| SolveError::Pivot { index: 1, value: f64::NAN, remedy: REMEDY }.into()));
    };
    // golden section (Kiefer 1953) down to a thousandth of λ
    let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
    let (mut a, mut b) = ((best - width).max(low), (best + width).min(high));
    let (mut c, mut d) = (b - golden * (b - a), a + golden * (b - a));
    let (mut at_c, mut at_d) = (try_at(c, &mut seen), try_at(d, &mut seen));
    while b - a > 1e-3 {
        if at_c <= at_d {
            (b, d, at_d) = (d, c, at_c);
            c = b - golden * (b - a);
            at_c = try_at(c, &mut seen);
        } else {
            (a, c, at_c) = (c, d, at_d);
            d = a + golden * (b - a);
            at_d = try_at(d, &mut seen);
        }
    }
    Ok(smallest(&seen).unwrap_or(best).exp())
}

/// The place of the smallest value; of equal ones the largest λ, since that is the smoothest function.
fn smallest(seen: &[(f64, f64)]) -> Option<f64> {
    seen.iter().min_by(|a, b| a.1.total_cmp(&b.1).then(b.0.total_cmp(&a.0))).map(|s| s.0)
}

/// Σ x².
pub fn squares(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}

/// a − b.
pub fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    fn problem(n: usize, outputs: usize) -> (Vec<f64>, Vec<f64>) {
        let mut random = Seed(n as u64).stream("direct");
        let x: Vec<f64> = (0..n * 2).map(|_| random.normal()).collect();
        let mut k = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                let apart = (0..2).map(|c| (x[2 * i + c] - x[2 * j + c]).powi(2)).sum::<f64>();
                k[i * n + j] = (-0.5 * apart).exp();
            }
        }
        (k, (0..n * outputs).map(|_| random.normal()).collect())
    }

    #[test]
    fn both_roads_solve_the_system_and_agree() {
        let (n, outputs) = (90, 3);
        let (k, y) = problem(n, outputs);
        for lambda in [1e-3, 0.1, 10.0] {
            let direct = solve_shifted(k.clone(), n, lambda, &y, outputs).unwrap();
            let path = Spectrum::new(k.clone(), n, &y, outputs).unwrap().at(lambda).unwrap();
            let left_out = leave_one_out(&direct.alpha, &direct.factor.inverse_diagonal());
            for i in 0..n {
                for c in 0..outputs {
                    let p = i * outputs + c;
                    let sum: f64 = (0..n).map(|j| k[i * n + j] * direct.alpha[j * outputs + c]).sum();
                    assert!((sum + lambda * direct.alpha[p] - y[p]).abs() < 1e-10);
                    assert!((direct.residual[p] - (y[p] - sum - lambda * direct.alpha[p])).abs() < 1e-10);
                    assert!((direct.alpha[p] - path.alpha[p]).abs() < 1e-8 * (1.0 + path.alpha[p].abs()));
                    assert!((left_out[p] - path.left_out[p]).abs() < 1e-8 * (1.0 + left_out[p].abs()));
                }
            }
        }
    }

    #[test]
    fn breakdowns_are_told() {
        let ones = vec![1.0; 25];
        let found = solve_shifted(ones.clone(), 5, 1e-30, &[1.0; 5], 1).unwrap_err();
        assert_eq!(found, SolveError::Pivot { index: 2, value: 0.0, remedy: "increase lambda" });
        let spectrum = Spectrum::new(ones, 5, &[1.0; 5], 1).unwrap();
        assert!(matches!(spectrum.at(-1.0), Err(SolveError::Pivot { .. })));
        let odd = vec![1.0, f64::INFINITY, f64::INFINITY, 1.0];
        assert_eq!(solve_shifted(odd, 2, 1.0, &[1.0; 2], 1).unwrap_err(), SolveError::NotFinite { row: 1, column: 2 });
    }

    #[test]
    fn the_search_finds_minima_inside_and_at_the_ends() {
        for centre in [1e-3, 0.7, 55.0] {
            let mut loss = |l: f64| Ok::<_, SolveError>((l / centre).ln().powi(2));
            let found = choose_lambda(1e-6, 1e3, &mut loss).unwrap();
            assert!((found / centre - 1.0).abs() < 2e-3, "{found}");
        }
        assert!(choose_lambda(1e-6, 1e3, &mut |l| Ok::<_, SolveError>(l)).unwrap() < 1.001e-6);
        assert!(choose_lambda(1e-6, 1e3, &mut |l| Ok::<_, SolveError>(-l)).unwrap() > 999.0);
        let broken = SolveError::Eigen { size: 1 };
        assert_eq!(choose_lambda(1e-6, 1e3, &mut |_| Err(broken.clone())).unwrap_err(), broken);
        let half = &mut |l: f64| if l < 1.0 { Err(broken.clone()) } else { Ok(l) };
        assert!((choose_lambda(1e-6, 1e3, half).unwrap() - 1.0).abs() < 0.01);
    }
}
