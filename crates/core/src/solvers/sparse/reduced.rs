//! The linear system of a step, reduced to one factorisation.
//!
//! ```text
//! Θ⁻¹ Δα − Kᵀ Δβ          = p         (s)
//! K Δα   + D Δβ  + 1 Δb   = q         (n)
//!          1ᵀ Δβ          = r
//! ```
//! Few columns: Δβ = D⁻¹(q − KΔα − 1Δb) leaves KᵀD⁻¹K + Θ⁻¹, in which b is one more column with Θ⁻¹ = 0. Few rows:
//! Δα = Θ(p + KᵀΔβ) leaves KΘKᵀ + D with a border of ones, which a Schur complement takes care of. Either matrix is positive
//! definite, and grows ill-conditioned towards the solution: residuals of the unreduced system are solved for again.
//!
//! # Source
//! Mika (2002), App. A, reduced; the border and the refinement are worked out here.

use super::columns::{Working, gram};
use crate::linalg::Cholesky;

/// Sides of the squares in which a matrix is turned.
const STRIP: usize = 32;
/// Share of itself by which each diagonal entry is raised: pivots of nothing but rounding stay positive.
const DIAGONAL_SHIFT: f64 = 1e-14;
/// Number of times that a residual is solved for again.
const REFINEMENTS: usize = 4;
/// Residual, as a share of the right-hand side, at which refinement ends.
const RESIDUAL_TOLERANCE: f64 = 1e-15;

/// A factorised system.
pub(super) struct Reduced<'a> {
    x: &'a Working,
    /// Θ⁻¹ of every column.
    stiff: Vec<f64>,
    /// D of every row.
    soft: Vec<f64>,
    factor: Cholesky,
    /// Few rows, with a bias: (KΘKᵀ + D)⁻¹1 and its sum.
    border: Option<(Vec<f64>, f64)>,
}

/// A step: α with b at its end where there is one, and β.
pub(super) struct Step {
    pub(super) a: Vec<f64>,
    pub(super) beta: Vec<f64>,
}

impl<'a> Reduced<'a> {
    /// Factorises; `None` if no amount of regularisation helps, which means that numbers are no longer finite.
    pub(super) fn new(x: &'a Working, stiff: Vec<f64>, soft: Vec<f64>) -> Option<Self> {
        let by_columns = x.width() <= x.rows;
        let (matrix, size) = if by_columns { normal(x, &stiff, &soft) } else { shifted(x, &stiff, &soft) };
        if matrix.iter().step_by(size + 1).any(|d| !d.is_finite()) {
            return None;
        }
        let mut raised = DIAGONAL_SHIFT;
        let mut spare = Some(matrix);
        let factor = loop {
            let mut matrix = match spare.take() {
                Some(matrix) => matrix,
                None if by_columns => normal(x, &stiff, &soft).0,
                None => shifted(x, &stiff, &soft).0,
            };
            matrix.iter_mut().step_by(size + 1).for_each(|d| *d += raised * *d + f64::MIN_POSITIVE);
            match Cholesky::factor(matrix, size) {
                Ok(factor) => break factor,
                Err(_) if raised < 1e-3 => raised *= 100.0,
                Err(_) => return None,
            }
        };
        let border = (!by_columns && x.bias).then(|| {
            let mut ones = vec![1.0; x.rows];
            factor.solve(&mut ones, 1);
            let sum = ones.iter().sum();
            (ones, sum)
        });
        Some(Self { x, stiff, soft, factor, border })
    }

    /// Solves for p (with r at its end where there is a bias, as −r) and q.
    fn once(&self, p: &[f64], q: &[f64]) -> Step {
        let (x, s) = (self.x, self.x.columns);
        let Some((border, sum)) = &self.border else {
            if x.width() <= x.rows {
                // p carries −r at its end: 1ᵀD⁻¹(q − KΔα − 1Δb) = r
                let scaled: Vec<f64> = q.iter().zip(&self.soft).map(|(q, d)| q / d).collect();
                let mut a: Vec<f64> = x.prices(&scaled).iter().zip(p).map(|(k, p)| k + p).collect();
                self.factor.solve(&mut a, 1);
                let beta = self.rows(&a, q);
                return Step { a, beta };
            }
            let mut beta = self.shifted_right(p, q);
            self.factor.solve(&mut beta, 1);
            return Step { a: self.columns(&beta, p, s), beta };
        };
        let mut beta = self.shifted_right(p, q);
        self.factor.solve(&mut beta, 1);
        // 1ᵀΔβ = r with Δβ = t − uΔb
        let r = -p[s];
        let offset = (beta.iter().sum::<f64>() - r) / sum;
        beta.iter_mut().zip(border).for_each(|(b, u)| *b -= u * offset);
        let mut a = self.columns(&beta, p, s);
        a.push(offset);
        Step { a, beta }
    }

    /// Δβ = D⁻¹(q − KΔα − 1Δb).
    fn rows(&self, a: &[f64], q: &[f64]) -> Vec<f64> {
        let f = self.x.scores(a);
        (0..q.len()).map(|i| (q[i] - f[i]) / self.soft[i]).collect()
    }

    /// q − KΘp.
    fn shifted_right(&self, p: &[f64], q: &[f64]) -> Vec<f64> {
        let mut a: Vec<f64> = (0..self.x.columns).map(|j| p[j] / self.stiff[j]).collect();
        a.resize(self.x.width(), 0.0);
        self.x.scores(&a).iter().zip(q).map(|(f, q)| q - f).collect()
    }

    /// Δα = Θ(p + KᵀΔβ).
    fn columns(&self, beta: &[f64], p: &[f64], s: usize) -> Vec<f64> {
        let prices = self.x.prices(beta);
        (0..s).map(|j| (p[j] + prices[j]) / self.stiff[j]).collect()
    }

    /// The parts of p and q that a step leaves.
    fn left(&self, step: &Step, p: &[f64], q: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (prices, f) = (self.x.prices(&step.beta), self.x.scores(&step.a));
        let s = self.x.columns;
        let of_columns = (0..self.x.width())
            .map(|j| p[j] + prices[j] - if j < s { self.stiff[j] * step.a[j] } else { 0.0 })
            .collect();
        let of_rows = (0..q.len()).map(|i| q[i] - f[i] - self.soft[i] * step.beta[i]).collect();
        (of_columns, of_rows)
    }

    /// Solves, and solves for what is left as long as that becomes less.
    pub(super) fn solve(&self, p: &[f64], q: &[f64]) -> Step {
        let mut best = self.once(p, q);
        let size = |p: &[f64], q: &[f64]| (largest(p), largest(q));
        let wanted = size(p, q);
        let (mut of_p, mut of_q) = self.left(&best, p, q);
        for _ in 0..REFINEMENTS {
            let now = size(&of_p, &of_q);
            if now.0 <= RESIDUAL_TOLERANCE * wanted.0 && now.1 <= RESIDUAL_TOLERANCE * wanted.1 {
                break;
            }
            let more = self.once(&of_p, &of_q);
            let next = Step { a: sum(&best.a, &more.a), beta: sum(&best.beta, &more.beta) };
            let (next_p, next_q) = self.left(&next, p, q);
            let after = size(&next_p, &next_q);
            let measure =
                |(a, b): (f64, f64)| a / wanted.0.max(f64::MIN_POSITIVE) + b / wanted.1.max(f64::MIN_POSITIVE);
            let (before, then) = (measure(now), measure(after));
            // what is not finite counts as worse
            if then.is_nan() || then >= 0.5 * before {
                break;
            }
            (best, of_p, of_q) = (next, next_p, next_q);
        }
        best
    }
}

/// KᵀD⁻¹K + Θ⁻¹ with the ones as a column, and its size.
fn normal(x: &Working, stiff: &[f64], soft: &[f64]) -> (Vec<f64>, usize) {
    let width = x.width();
    let mut scaled = vec![0.0; x.values.len()];
    for ((out, from), d) in scaled.chunks_exact_mut(width).zip(x.values.chunks_exact(width)).zip(soft) {
        let root = 1.0 / d.sqrt();
        out.iter_mut().zip(from).for_each(|(o, x)| *o = root * x);
    }
    let mut matrix = gram(&scaled, x.rows, width);
    for (j, s) in stiff.iter().enumerate() {
        matrix[j * width + j] += s;
    }
    (matrix, width)
}

/// KΘKᵀ + D, and its size.
fn shifted(x: &Working, stiff: &[f64], soft: &[f64]) -> (Vec<f64>, usize) {
    let (n, width) = (x.rows, x.width());
    let mut turned = vec![0.0; x.columns * n];
    let roots: Vec<f64> = stiff.iter().map(|s| 1.0 / s.sqrt()).collect();
    // in squares, so that neither side is read or written across the cache
    for top in (0..n).step_by(STRIP) {
        for left in (0..x.columns).step_by(STRIP) {
            for i in top..(top + STRIP).min(n) {
                for j in left..(left + STRIP).min(x.columns) {
                    turned[j * n + i] = roots[j] * x.values[i * width + j];
                }
            }
        }
    }
    let mut matrix = gram(&turned, x.columns, n);
    for (i, d) in soft.iter().enumerate() {
        matrix[i * n + i] += d;
    }
    (matrix, n)
}

fn largest(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |most, x| if x.is_nan() { f64::INFINITY } else { x.abs().max(most) })
}

fn sum(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}
