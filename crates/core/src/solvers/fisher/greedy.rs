//! Few examples chosen one by one: the best of 59 random candidates is among the best twentieth with probability 0.95.

use super::{Aim, Discriminants, Quadratic, column_sums};
use crate::gram::{BlockMut, Gram, Pick};
use crate::linalg::multiply_transposed;
use crate::seed::Seed;
use crate::solvers::direct::squares;
use crate::solvers::{Monitor, Progress, SolveError, Status};
use rayon::prelude::*;
use std::ops::ControlFlow;

/// Candidates of a step: the least κ with 0.95^κ ≤ 0.05, ln 0.05 / ln 0.95 = 58.4 rounded up.
pub const CANDIDATES: usize = 59;
/// Steps whose mean improvement decides.
const PATIENCE: usize = 5;
/// A column that so small a part of itself is new of brings nothing but rounding.
const DEPENDENT: f64 = 1e-12;
/// Columns of K that one thread takes at a time.
const GROUP: usize = 8;

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub struct GreedyOptions {
    /// The most examples.
    pub points: usize,
    /// The mean relative improvement of the objective over the last five steps below which the search ends.
    pub tolerance: f64,
    /// Where candidates come from.
    pub seed: Seed,
}

/// The discriminants on the chosen examples.
#[derive(Clone, Debug)]
pub struct Greedy {
    /// The discriminants; their points are in the order in which they were chosen.
    pub found: Discriminants,
    /// How it ended: converged also where the most examples were taken.
    pub status: Status,
    /// The objective, summed over the outputs, after 0, 1, … examples.
    pub trace: Vec<f64>,
}

/// Grows an expansion from nothing, one example at a time.
///
/// With H = [[Σw, 1ᵀWK_m], [K_mᵀW1, K_mᵀWK_m + λP]] = LLᵀ and z = L⁻¹[1ᵀWy; K_mᵀWy] the objective is ½yᵀWy − ½‖z‖². A candidate
/// with column k has v = L⁻¹[1ᵀWk; K_mᵀWk + λP_i] and ρ² = kᵀWk + λP_ii − ‖v‖²; taking it lowers the objective by
/// ½ (kᵀWy − vᵀz)² / ρ², and appends [v, ρ] to L. Several right-hand sides share candidates, columns and choice: the sum
/// of their gains decides.
///
/// # Source
/// Mika (2002), §3.5.2, Fig. 3.3 and Lemma 3.2, with an appended factor in place of the block inverse (Lemma 3.1), which is
/// the same numbers and does not lose digits. The cost O(κMm²) is that of the whole run, and the chosen columns are kept.
///
/// # Cost
/// 59 n m²/2 multiplications and 59 m columns of K for m examples in all; n (m + 59) numbers.
pub fn greedy(
    gram: &dyn Gram,
    aim: &Aim<'_>,
    options: &GreedyOptions,
    watch: &dyn Monitor,
) -> Result<Greedy, SolveError> {
    let (n, k) = (aim.len(), aim.outputs);
    let mut state = State::new(aim);
    let mut random = options.seed.stream("greedy");
    let mut rest: Vec<usize> = (0..n).collect();
    let mut status = Status::Converged;
    let mut candidates = Vec::new();
    while state.points.len() < options.points.min(n) {
        let m = state.points.len();
        let progress = Progress { phase: "sparse greedy", done: m, total: Some(options.points.min(n)), gap: None };
        if let ControlFlow::Break(stop) = watch.step(&progress) {
            status = stop.into();
            break;
        }
        if m > PATIENCE {
            let before = state.trace[m - PATIENCE..m].iter().zip(&state.trace[m - PATIENCE + 1..]);
            let mean = before.map(|(a, b)| (a - b) / a.max(f64::MIN_POSITIVE)).sum::<f64>() / PATIENCE as f64;
            if mean < options.tolerance {
                break;
            }
        }
        // the first of a partial shuffle are a draw without repetition
        let count = CANDIDATES.min(rest.len());
        for p in 0..count {
            let other = p + random.below(rest.len() - p);
            rest.swap(p, other);
        }
        columns(gram, &rest[..count], &mut candidates, n)?;
        let judged = state.judge(gram, &rest[..count], &candidates);
        let best = judged.iter().enumerate().filter_map(|(p, c)| c.as_ref().map(|c| (p, c)));
        // of equal gains the first
        let Some((place, taken)) = best.reduce(|a, b| if b.1.gain > a.1.gain { b } else { a }) else {
            // all of these lie in the span of what is there; so will the others as far as a draw can tell
            break;
        };
        state.take(rest[place], taken, &candidates[place * n..(place + 1) * n]);
        rest.swap_remove(place);
    }
    if !state.trace.iter().all(|t| t.is_finite()) {
        return Err(crate::solvers::conjugate_gradient::not_finite(gram));
    }
    let found = state.finish(gram, k);
    Ok(Greedy { found, status, trace: state.trace })
}

/// Columns of K as rows of n numbers.
fn columns(gram: &dyn Gram, which: &[usize], out: &mut Vec<f64>, n: usize) -> Result<(), SolveError> {
    out.resize(which.len() * n, 0.0);
    out.par_chunks_mut(GROUP * n).zip(which.par_chunks(GROUP)).for_each(|(lines, which)| {
        gram.block(Pick::List(which), Pick::Range(0..n), BlockMut::new(lines, which.len(), n));
    });
    match out.iter().position(|x| !x.is_finite()) {
        Some(p) => Err(SolveError::NotFinite { row: which[p / n] + 1, column: p % n + 1 }),
        None => Ok(()),
    }
}

/// A candidate that is not yet in the span of the others.
struct Candidate {
    gain: f64,
    /// L⁻¹ of its products with the offset and the chosen columns.
    v: Vec<f64>,
    rho: f64,
    /// (kᵀWy − vᵀz) / ρ for each output.
    next: Vec<f64>,
}

struct State<'a> {
    aim: &'a Aim<'a>,
    points: Vec<usize>,
    /// The chosen columns, row by row.
    chosen: Vec<f64>,
    /// The rows of L, the offset's first, each as long as it is.
    factor: Vec<Vec<f64>>,
    /// z for each output, step by step.
    z: Vec<Vec<f64>>,
    /// W y, output by output.
    target: Vec<f64>,
    trace: Vec<f64>,
}

impl<'a> State<'a> {
    fn new(aim: &'a Aim<'a>) -> Self {
        let k = aim.outputs;
        let root = aim.mass().sqrt();
        let sums = column_sums(aim.y, k, |i| aim.weights[i]);
        let first: Vec<f64> = sums.iter().map(|s| s / root).collect();
        let target: Vec<f64> =
            (0..k).flat_map(|c| aim.column(c).zip(aim.weights).map(|(y, w)| w * y).collect::<Vec<_>>()).collect();
        let whole: f64 = aim.y.iter().enumerate().map(|(p, y)| aim.weights[p / k] * y * y).sum();
        let value = 0.5 * whole - 0.5 * squares(&first);
        Self {
            aim,
            points: Vec::new(),
            chosen: Vec::new(),
            factor: vec![vec![root]],
            z: vec![first],
            target,
            trace: vec![value],
        }
    }

    /// What each candidate would bring.
    fn judge(&self, gram: &dyn Gram, which: &[usize], lines: &[f64]) -> Vec<Option<Candidate>> {
        let (aim, n, count, m) = (self.aim, self.aim.len(), which.len(), self.points.len());
        // the candidates' columns times the weights
        let even = aim.weights.iter().all(|&w| w == 1.0);
        let weighted: Vec<f64> =
            if even { Vec::new() } else { lines.iter().enumerate().map(|(p, x)| aim.weights[p % n] * x).collect() };
        let weighted = if even { lines } else { &weighted };
        // K_mᵀWk for all candidates, m × count
        let mut inner = vec![0.0; m * count];
        if m > 0 {
            inner.par_chunks_mut(4 * GROUP * count).zip(self.chosen.par_chunks(4 * GROUP * n)).for_each(
                |(out, rows)| {
                    multiply_transposed(rows, weighted, n, out, count);
                },
            );
        }
        let mut right = vec![0.0; count * aim.outputs];
        multiply_transposed(lines, &self.target, n, &mut right, aim.outputs);
        let mut own = vec![0.0; which.len() * m];
        if aim.penalty == Quadratic::Norm && m > 0 {
            gram.block(Pick::List(which), Pick::List(&self.points), BlockMut::new(&mut own, count, m));
        }
        (0..count)
            .into_par_iter()
            .map(|p| {
                let (line, heavy) = (&lines[p * n..(p + 1) * n], &weighted[p * n..(p + 1) * n]);
                let mut v: Vec<f64> = Vec::with_capacity(m + 2);
                let norm = match aim.penalty {
                    Quadratic::Norm => line[which[p]],
                    Quadratic::Coefficients => 1.0,
                };
                let size = line.iter().zip(heavy).map(|(a, b)| a * b).sum::<f64>() + aim.lambda * norm;
                for (r, row) in self.factor.iter().enumerate() {
                    let b = if r == 0 {
                        heavy.iter().sum()
                    } else {
                        inner[(r - 1) * count + p] + aim.lambda * own[p * m + r - 1]
                    };
                    let known: f64 = row.iter().zip(&v).map(|(l, v)| l * v).sum();
                    v.push((b - known) / row[r]);
                }
                let left = size - squares(&v);
                if left.is_nan() || left <= DEPENDENT * size {
                    return None;
                }
                let rho = left.sqrt();
                let next: Vec<f64> = (0..aim.outputs)
                    .map(|c| {
                        let known: f64 = v.iter().zip(&self.z).map(|(v, z)| v * z[c]).sum();
                        (right[p * aim.outputs + c] - known) / rho
                    })
                    .collect();
                Some(Candidate { gain: 0.5 * squares(&next), v, rho, next })
            })
            .collect()
    }

    fn take(&mut self, point: usize, taken: &Candidate, line: &[f64]) {
        let mut row = taken.v.clone();
        row.push(taken.rho);
        self.factor.push(row);
        self.z.push(taken.next.clone());
        self.points.push(point);
        self.chosen.extend_from_slice(line);
        let last = self.trace.last().copied().unwrap_or(f64::NAN);
        self.trace.push(last - taken.gain);
    }

    /// Lᵀ[b; α] = z, and what follows from it.
    fn finish(&self, gram: &dyn Gram, k: usize) -> Discriminants {
        let (n, m) = (self.aim.len(), self.points.len());
        let mut solution = self.z.clone();
        for r in (0..=m).rev() {
            for c in 0..k {
                let known: f64 = (r + 1..=m).map(|q| self.factor[q][r] * solution[q][c]).sum();
                solution[r][c] = (solution[r][c] - known) / self.factor[r][r];
            }
        }
        let offsets = solution[0].clone();
        let alpha: Vec<f64> = solution[1..].concat();
        let mut scores = vec![0.0; n * k];
        for (i, row) in scores.chunks_exact_mut(k.max(1)).enumerate() {
            row.copy_from_slice(&offsets);
            for (line, a) in self.chosen.chunks_exact(n).zip(alpha.chunks_exact(k.max(1))) {
                row.iter_mut().zip(a).for_each(|(s, a)| *s += a * line[i]);
            }
        }
        let mut own = vec![0.0; m * m];
        gram.block(Pick::List(&self.points), Pick::List(&self.points), BlockMut::new(&mut own, m, m));
        let mut objectives = super::subset::penalties(self.aim, &alpha, &own, m);
        for (p, score) in scores.iter().enumerate() {
            objectives[p % k] += 0.5 * self.aim.weights[p / k] * (self.aim.y[p] - score).powi(2);
        }
        // the value that the steps add up to beside that of the function itself
        let (told, true_value) = (self.trace.last().copied().unwrap_or(f64::NAN), objectives.iter().sum::<f64>());
        let relative_residual = (told - true_value).abs() / self.trace[0].abs().max(f64::MIN_POSITIVE);
        Discriminants {
            points: self.points.clone(),
            alpha,
            offsets,
            scores,
            objectives,
            gaps: None,
            relative_residual,
            jitter: 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gram::Dense;
    use crate::solvers::testing::eliminate;

    #[test]
    fn the_appended_factor_is_that_of_the_normal_equations_and_drops_are_those_of_the_block_inverse() {
        let n = 30;
        let mut random = Seed(5).stream("greedy");
        let x: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let k: Vec<f64> = (0..n * n).map(|p| (-(x[p / n] - x[p % n]).powi(2)).exp()).collect();
        let y: Vec<f64> = x.iter().map(|x| if x.sin() + 0.3 * random.normal() > 0.0 { 1.0 } else { -1.0 }).collect();
        let weights: Vec<f64> = (0..n).map(|i| 0.5 + (i % 3) as f64).collect();
        let gram = Dense::new(k.clone(), n, n).unwrap();
        for penalty in [Quadratic::Norm, Quadratic::Coefficients] {
            let aim = Aim { y: &y, outputs: 1, weights: &weights, lambda: 0.3, penalty };
            let column = |p: Option<usize>, i: usize| p.map_or(1.0, |p| k[i * n + p]);
            // entries of H and c, the offset among the columns
            let entry = |a: Option<usize>, b: Option<usize>| {
                let products: f64 = (0..n).map(|i| weights[i] * column(a, i) * column(b, i)).sum();
                let (Some(a), Some(b)) = (a, b) else { return products };
                products
                    + 0.3
                        * match penalty {
                            Quadratic::Norm => k[a * n + b],
                            Quadratic::Coefficients => f64::from(u8::from(a == b)),
                        }
            };
            let wanted = |a: Option<usize>| (0..n).map(|i| weights[i] * column(a, i) * y[i]).sum::<f64>();
            let mut state = State::new(&aim);
            for point in [4, 11, 0, 25, 17] {
                let before: Vec<Option<usize>> =
                    std::iter::once(None).chain(state.points.iter().map(|&p| Some(p))).collect();
                let m = before.len();
                let h: Vec<f64> = (0..m * m).map(|p| entry(before[p / m], before[p % m])).collect();
                for (p, h) in h.iter().enumerate() {
                    let (a, b) = (&state.factor[p / m], &state.factor[p % m]);
                    let product: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
                    assert!((product - h).abs() < 1e-10 * (1.0 + h.abs()), "LLᵀ = H: {product} {h}");
                }
                let mut line = Vec::new();
                columns(&gram, &[point], &mut line, n).unwrap();
                let mut judged = state.judge(&gram, &[point], &line);
                let candidate = judged.pop().unwrap().unwrap();
                // u = H⁻¹B, γ = 1/(e − Bᵀu), and the drop ½γ(kᵀWy − Bᵀs)² with s = H⁻¹c
                let b: Vec<f64> = before.iter().map(|&a| entry(a, Some(point))).collect();
                let u = eliminate(h.clone(), b.clone());
                let s = eliminate(h, before.iter().map(|&a| wanted(a)).collect());
                let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
                let gamma = 1.0 / (entry(Some(point), Some(point)) - dot(&b, &u));
                let drop = 0.5 * gamma * (wanted(Some(point)) - dot(&b, &s)).powi(2);
                assert!((gamma * candidate.rho * candidate.rho - 1.0).abs() < 1e-8, "γ = 1/ρ²");
                assert!((drop - candidate.gain).abs() < 1e-8 * drop, "{drop} {}", candidate.gain);
                // the inverse grows by γ[u; −1][u; −1]ᵀ: it turns H with the new row into the identity
                let after: Vec<Option<usize>> = before.iter().copied().chain([Some(point)]).collect();
                let unit = |p: usize| (0..m).map(|i| f64::from(u8::from(i == p))).collect::<Vec<f64>>();
                let old: Vec<Vec<f64>> = (0..m)
                    .map(|p| {
                        let h = (0..m * m).map(|p| entry(before[p / m], before[p % m])).collect();
                        eliminate(h, unit(p))
                    })
                    .collect();
                let tail = |i: usize| if i < m { u[i] } else { -1.0 };
                let inverse =
                    |i: usize, j: usize| gamma * tail(i) * tail(j) + if i < m && j < m { old[i][j] } else { 0.0 };
                for i in 0..=m {
                    for j in 0..=m {
                        let product: f64 = (0..=m).map(|q| inverse(i, q) * entry(after[q], after[j])).sum();
                        assert!((product - f64::from(u8::from(i == j))).abs() < 1e-7, "{i} {j}: {product}");
                    }
                }
                state.take(point, &candidate, &line);
            }
        }
    }
}
