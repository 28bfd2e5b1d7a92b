//! Sequential minimal optimisation.
//!
//! ```text
//! min ½ αᵀQα + pᵀα   subject to   0 ≤ α ≤ u,  yᵀα = 0,      Q_ij = y_i y_j K_ij,  y_i = ±1
//! ```
//! The state is kept free of labels: s_t = −y_t ∇_t. A step of size λ on the pair (i, j) is s ← s − λ (K_i − K_j) whatever
//! the labels are, so rows of K are used as they come and no signed copy of Q exists.
//!
//! # Source
//! Fan, Chen & Lin (2005): the pair is the maximal violator i and the j that promises the largest decrease (WSS 2). The
//! stopping rule is LIBSVM's: max over I_up of s minus min over I_low of s is below the tolerance.

mod passes;

use super::{Monitor, Progress, SolveError, Status};
use crate::gram::{Cached, Gram, Side, diagonal};
use passes::{choose_partner, extremes, update};
use std::ops::ControlFlow;

/// A box-constrained problem with one equality.
pub struct BoxProblem<'a> {
    /// K.
    pub gram: &'a dyn Gram,
    /// y, each 1 or −1.
    pub signs: &'a [f64],
    /// p.
    pub linear: &'a [f64],
    /// u.
    pub upper: &'a [f64],
}

/// When to stop, and how much memory to take.
#[derive(Clone, Copy, Debug)]
pub struct SmoOptions {
    /// The largest violation that is left.
    pub tolerance: f64,
    /// The most steps; 0 for no limit.
    pub max_iterations: usize,
    /// Bytes for rows of K.
    pub cache: usize,
}

/// The solution with its evidence.
#[derive(Clone, Debug)]
pub struct DualSolution {
    /// α.
    pub alpha: Vec<f64>,
    /// The multiplier of the equality: the bias b of f(x) = Σ y_i α_i κ(x_i, x) + b.
    pub offset: f64,
    /// −y_t ∇_t at the end; y_t f(x_t) − 1 = y_t (b − s_t) for p = −1.
    pub state: Vec<f64>,
    /// ½ αᵀQα + pᵀα.
    pub objective: f64,
    /// αᵀQα = ‖w‖².
    pub squared_norm: f64,
    /// max_up s − min_low s.
    pub violation: f64,
    /// Steps taken.
    pub iterations: usize,
    /// Rows of K that were computed.
    pub rows: usize,
    /// How it ended.
    pub status: Status,
}

/// Steps between two looks at the monitor.
const WATCH_EVERY: usize = 64;

/// Solves the problem from α = 0.
pub fn smo(problem: &BoxProblem<'_>, options: &SmoOptions, watch: &dyn Monitor) -> Result<DualSolution, SolveError> {
    let n = problem.signs.len();
    let (y, upper) = (problem.signs, problem.upper);
    // a symmetric matrix knows its diagonal without computing blocks
    let known = problem.gram.self_similarities(Side::Rows).filter(|_| problem.gram.is_symmetric());
    let own = known.unwrap_or_else(|| diagonal(problem.gram));
    let own: Vec<f32> = own.into_iter().map(|v| v as f32).collect();
    let mut cache = Cached::new(problem.gram, options.cache);
    let mut alpha = vec![0.0; n];
    // at α = 0 the gradient is p
    let mut s: Vec<f64> = (0..n).map(|t| -y[t] * problem.linear[t]).collect();
    // 0 where a variable may move up (down), −∞ (+∞) where it may not: masks that passes can add
    let mut up: Vec<f64> =
        (0..n).map(|t| may_rise(y[t], 0.0, upper[t])).map(|yes| if yes { 0.0 } else { f64::NEG_INFINITY }).collect();
    let mut low: Vec<f64> =
        (0..n).map(|t| may_fall(y[t], 0.0, upper[t])).map(|yes| if yes { 0.0 } else { f64::INFINITY }).collect();
    let mut gains = vec![0.0_f32; n];
    let mut iterations = 0;

    let (mut best_up, mut best_low) = extremes(&s, &up, &low);
    let status = loop {
        let violation = best_up.value - best_low.value;
        if violation.is_nan() || best_up.value == f64::INFINITY || best_low.value == f64::NEG_INFINITY {
            return Err(not_finite(&s));
        }
        // −∞ when one of the sets is empty: nothing can move
        if violation < options.tolerance {
            break Status::Converged;
        }
        if options.max_iterations > 0 && iterations >= options.max_iterations {
            break Status::IterationLimit;
        }
        if iterations % WATCH_EVERY == 0 {
            let progress = Progress { phase: "smo", done: iterations, total: None, gap: Some(violation) };
            if let ControlFlow::Break(stop) = watch.step(&progress) {
                break stop.into();
            }
        }
        // WSS 2: i is the maximal violator, j the best partner in I_low below it
        let i = best_up.index;
        let row_i = cache.slot(i);
        let j = choose_partner(&s, &low, cache.values(row_i), &own, i, &mut gains);
        let row_j = cache.slot(j);
        let (k_i, k_j) = (cache.values(row_i), cache.values(row_j));
        // the step along (e_i y_i − e_j y_j), in f64; a pair without curvature goes to its bound
        let curvature = f64::from(own[i]) + f64::from(own[j]) - 2.0 * f64::from(k_i[j]);
        let free = (s[i] - s[j]) / curvature.max(1e-12);
        let room_i = if y[i] > 0.0 { upper[i] - alpha[i] } else { alpha[i] };
        let room_j = if y[j] > 0.0 { alpha[j] } else { upper[j] - alpha[j] };
        let step = free.min(room_i).min(room_j);
        move_variable(&mut alpha[i], y[i] * step, upper[i], step >= room_i);
        move_variable(&mut alpha[j], -y[j] * step, upper[j], step >= room_j);
        for t in [i, j] {
            up[t] = if may_rise(y[t], alpha[t], upper[t]) { 0.0 } else { f64::NEG_INFINITY };
            low[t] = if may_fall(y[t], alpha[t], upper[t]) { 0.0 } else { f64::INFINITY };
        }
        (best_up, best_low) = update(&mut s, &up, &low, step, k_i, k_j);
        iterations += 1;
    };
    Ok(finish(problem, alpha, s, (best_up.value, best_low.value), iterations, cache.computed(), status))
}

/// Whether y_t α_t may grow.
fn may_rise(y: f64, alpha: f64, upper: f64) -> bool {
    if y > 0.0 { alpha < upper } else { alpha > 0.0 }
}

/// Whether y_t α_t may shrink.
fn may_fall(y: f64, alpha: f64, upper: f64) -> bool {
    if y > 0.0 { alpha > 0.0 } else { alpha < upper }
}

/// Moves α; a variable that meets its bound gets exactly that value, or the masks would go stale.
fn move_variable(alpha: &mut f64, change: f64, upper: f64, to_bound: bool) {
    *alpha = if to_bound && change > 0.0 {
        upper
    } else if to_bound {
        0.0
    } else {
        (*alpha + change).clamp(0.0, upper)
    };
}

fn not_finite(s: &[f64]) -> SolveError {
    let row = s.iter().position(|v| !v.is_finite()).unwrap_or(0) + 1;
    SolveError::NotFinite { row, column: row }
}

fn finish(
    problem: &BoxProblem<'_>,
    alpha: Vec<f64>,
    state: Vec<f64>,
    (top, bottom): (f64, f64),
    iterations: usize,
    rows: usize,
    status: Status,
) -> DualSolution {
    let (y, p) = (problem.signs, problem.linear);
    // ∇ = Qα + p = −y s, so αᵀQα = Σ α (−y s − p)
    let squared_norm: f64 = (0..alpha.len()).map(|t| alpha[t] * (-y[t] * state[t] - p[t])).sum();
    let linear: f64 = alpha.iter().zip(p).map(|(a, p)| a * p).sum();
    // b is s at every free variable; without any, the middle of what the bounds allow
    let free: Vec<f64> =
        (0..alpha.len()).filter(|&t| alpha[t] > 0.0 && alpha[t] < problem.upper[t]).map(|t| state[t]).collect();
    let offset = if !free.is_empty() {
        free.iter().sum::<f64>() / free.len() as f64
    } else if top.is_finite() && bottom.is_finite() {
        f64::midpoint(top, bottom)
    } else if top.is_finite() {
        top
    } else if bottom.is_finite() {
        bottom
    } else {
        0.0
    };
    DualSolution {
        objective: 0.5 * squared_norm + linear,
        squared_norm: squared_norm.max(0.0),
        violation: if top.is_finite() && bottom.is_finite() { (top - bottom).max(0.0) } else { 0.0 },
        alpha,
        offset,
        state,
        iterations,
        rows,
        status,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gram::Dense;
    use crate::seed::Seed;
    use crate::solvers::Silent;

    /// A random problem: K = ZZᵀ + small ridge, labels, p = −1.
    fn random(n: usize, seed: u64) -> (Dense<f64>, Vec<f64>) {
        let mut random = Seed(seed).stream("smo");
        let z: Vec<f64> = (0..n * 3).map(|_| random.normal()).collect();
        let mut k = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                let d: f64 = (0..3).map(|c| (z[i * 3 + c] - z[j * 3 + c]).powi(2)).sum();
                k[i * n + j] = (-0.5 * d).exp();
            }
        }
        let y = (0..n).map(|i| if z[i * 3] + 0.4 * random.normal() > 0.0 { 1.0 } else { -1.0 }).collect();
        (Dense::new(k, n, n).unwrap(), y)
    }

    #[test]
    fn the_optimality_conditions_hold_when_rederived() {
        for (seed, c) in [(1, 0.5), (2, 1.0), (3, 10.0), (4, 1000.0)] {
            let n = 60;
            let (k, y) = random(n, seed);
            let problem = BoxProblem { gram: &k, signs: &y, linear: &vec![-1.0; n], upper: &vec![c; n] };
            let options = SmoOptions { tolerance: 1e-5, max_iterations: 0, cache: 1 << 20 };
            let solution = smo(&problem, &options, &Silent).unwrap();
            let a = &solution.alpha;
            assert!(a.iter().all(|&v| (0.0..=c).contains(&v)));
            assert!(a.iter().zip(&y).map(|(a, y)| a * y).sum::<f64>().abs() < 1e-9 * c * n as f64);
            // from scratch in f64: y f(x) against 1
            for i in 0..n {
                let f: f64 = (0..n).map(|j| a[j] * y[j] * k.row(i)[j]).sum::<f64>() + solution.offset;
                let slack = y[i] * f - 1.0;
                if a[i] == 0.0 {
                    assert!(slack > -2e-4, "{seed} {i} {slack}");
                } else if a[i] == c {
                    assert!(slack < 2e-4, "{seed} {i} {slack}");
                } else {
                    assert!(slack.abs() < 2e-4, "{seed} {i} {slack}");
                }
            }
            let quadratic: f64 = (0..n)
                .flat_map(|i| (0..n).map(move |j| (i, j)))
                .map(|(i, j)| a[i] * a[j] * y[i] * y[j] * k.row(i)[j])
                .sum();
            let objective = 0.5 * quadratic - a.iter().sum::<f64>();
            assert!((objective - solution.objective).abs() < 1e-4 * objective.abs().max(1.0));
        }
    }

    #[test]
    fn a_step_limit_is_reported() {
        let (k, y) = random(50, 9);
        let problem = BoxProblem { gram: &k, signs: &y, linear: &[-1.0; 50], upper: &[10.0; 50] };
        let options = SmoOptions { tolerance: 1e-3, max_iterations: 3, cache: 1 << 20 };
        let solution = smo(&problem, &options, &Silent).unwrap();
        assert_eq!((solution.iterations, solution.status), (3, Status::IterationLimit));
    }

    #[test]
    fn values_that_are_not_finite_are_an_error() {
        let k = Dense::new(vec![1.0, f64::INFINITY, f64::INFINITY, 1.0], 2, 2).unwrap();
        let problem = BoxProblem { gram: &k, signs: &[1.0, -1.0], linear: &[-1.0; 2], upper: &[1.0; 2] };
        let options = SmoOptions { tolerance: 1e-3, max_iterations: 100, cache: 0 };
        assert!(matches!(smo(&problem, &options, &Silent), Err(SolveError::NotFinite { .. })));
    }
}
