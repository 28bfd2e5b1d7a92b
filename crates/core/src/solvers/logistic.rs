//! Logistic losses with a kernel, by Newton's method.
//!
//! ```text
//! min Σ_i w_i log(1 + exp(−y_i f_i)) + ½ λ αᵀKα,   f = Kα + b
//! ```
//! With g and h the first and second derivatives of the losses at f, and r = Hf − g, a step of Newton is
//! (λI + HK) α⁺ = r − H1b⁺ with 1ᵀα⁺ = 0. By the inversion lemma (λI + HK)⁻¹v = (v − √H B⁻¹ √H K v)/λ with
//! B = λI + √H K √H, which is positive definite and divides by no h, however small. A step that does not lower the objective is
//! halved.
//!
//! # Source
//! The programme is Mika's (2002, §3.6) with the logistic loss of Table 2.1; the form of the step is that of Rasmussen & Williams
//! (2006), Algorithm 3.1, with an offset.

use super::Loss;
use super::direct::factor_shifted;
use crate::gram::{Dense, apply};
use crate::linalg::SolveError;
use crate::linalg::dot;
use crate::watch::{Monitor, Phase, Progress, Status};

/// A problem on a stored matrix.
pub struct LogisticProblem<'a> {
    /// K.
    pub gram: &'a Dense<f64>,
    /// ±1.
    pub y: &'a [f64],
    /// w, none below zero.
    pub weights: &'a [f64],
    /// λ > 0.
    pub lambda: f64,
    /// True if there is an offset b.
    pub bias: bool,
}

/// The solution with its evidence.
#[derive(Clone, Debug)]
pub struct LogisticSolution {
    /// α.
    pub alpha: Vec<f64>,
    /// b.
    pub offset: f64,
    /// The Newton decrement at the end: about twice what is left of the objective.
    pub decrement: f64,
    /// Steps taken.
    pub iterations: usize,
    /// Status of the solver.
    pub status: Status,
}

/// Largest number of steps: a convex problem with halved steps has long ended by then.
const MAX_STEPS: usize = 100;
/// Decrement, as a part of the objective at zero, that rounding leaves.
const ROUNDING: f64 = 1e-10;

/// Solves until the decrement is below the tolerance times the objective at zero. Each step takes n³/3 multiplications.
pub fn logistic(
    problem: &LogisticProblem<'_>,
    tolerance: f64,
    watch: &dyn Monitor,
) -> Result<LogisticSolution, SolveError> {
    let LogisticProblem { gram, y, weights, lambda, bias } = *problem;
    let n = y.len();
    let product = |x: &[f64]| {
        let mut out = vec![0.0; n];
        apply(gram, x, 1, &mut out);
        out
    };
    let objective = |alpha: &[f64], image: &[f64], offset: f64| {
        let losses: f64 = (0..n).map(|i| weights[i] * Loss::Logistic.value(y[i], image[i] + offset)).sum();
        losses + 0.5 * lambda * dot(alpha, image)
    };
    let (mut alpha, mut image, mut offset) = (vec![0.0; n], vec![0.0; n], 0.0);
    let mut value = objective(&alpha, &image, offset);
    let start = value.max(f64::MIN_POSITIVE);
    let small = tolerance * start;
    let mut solution = LogisticSolution {
        alpha: Vec::new(),
        offset,
        decrement: f64::INFINITY,
        iterations: 0,
        status: Status::Converged,
    };
    loop {
        let gap = solution.decrement.is_finite().then_some(solution.decrement);
        let progress = Progress { gap, ..Progress::new(Phase::new("Newton"), solution.iterations) };
        if let Err(reason) = watch.alive(progress) {
            solution.status = reason.into();
            break;
        }
        if solution.iterations == MAX_STEPS {
            solution.status = Status::IterationLimit;
            break;
        }
        // g = −w y (1 − p), h = w p (1 − p), with p the probability of the own class
        let p: Vec<f64> = (0..n).map(|i| 1.0 / (1.0 + (-y[i] * (image[i] + offset)).exp())).collect();
        let g: Vec<f64> = (0..n).map(|i| -weights[i] * y[i] * (1.0 - p[i])).collect();
        let h: Vec<f64> = (0..n).map(|i| weights[i] * p[i] * (1.0 - p[i])).collect();
        let root: Vec<f64> = h.iter().map(|h| h.sqrt()).collect();
        // B = λI + √H K √H
        let mut b = gram.values().to_vec();
        for (row, r) in b.chunks_exact_mut(n).zip(&root) {
            row.iter_mut().zip(&root).for_each(|(b, s)| *b *= r * s);
        }
        let factor = factor_shifted(b, n, lambda)?;
        let inverse = |v: &[f64]| -> Vec<f64> {
            let mut t: Vec<f64> = product(v).iter().zip(&root).map(|(k, r)| k * r).collect();
            factor.solve(&mut t, 1);
            (0..n).map(|i| (v[i] - root[i] * t[i]) / lambda).collect()
        };
        let r: Vec<f64> = (0..n).map(|i| h[i] * (image[i] + offset) - g[i]).collect();
        let mut next = inverse(&r);
        let mut shift = 0.0;
        if bias {
            let ones = inverse(&h);
            let (top, bottom) = (next.iter().sum::<f64>(), ones.iter().sum::<f64>());
            // all h vanish only where every loss does: then no offset is better than another
            shift = if bottom > 0.0 { top / bottom } else { offset };
            next.iter_mut().zip(&ones).for_each(|(a, o)| *a -= shift * o);
        }
        let (step, jump): (Vec<f64>, f64) = (next.iter().zip(&alpha).map(|(n, a)| n - a).collect(), shift - offset);
        let moved = product(&step);
        // −gradient · step = gᵀ(KΔ + Δb) + λ αᵀKΔ with the other sign
        let slope: f64 = (0..n).map(|i| g[i] * (moved[i] + jump) + lambda * alpha[i] * moved[i]).sum();
        solution.decrement = (-slope).max(0.0);
        if solution.decrement <= small {
            break;
        }
        let mut t = 1.0;
        loop {
            let tried: Vec<f64> = (0..n).map(|i| alpha[i] + t * step[i]).collect();
            let seen: Vec<f64> = (0..n).map(|i| image[i] + t * moved[i]).collect();
            let found = objective(&tried, &seen, offset + t * jump);
            if found <= value + 1e-4 * t * slope {
                (alpha, image, offset, value) = (tried, seen, offset + t * jump, found);
                break;
            }
            t *= 0.5;
            if t < 1e-12 {
                // no step lowers the objective: rounding is all that is left to gain, or all that is left of the digits
                if solution.decrement > ROUNDING * start {
                    solution.status = Status::IterationLimit;
                }
                solution.alpha = alpha;
                solution.offset = offset;
                return Ok(solution);
            }
        }
        solution.iterations += 1;
    }
    solution.alpha = alpha;
    solution.offset = offset;
    Ok(solution)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;
    use crate::watch::Silent;

    fn problem(n: usize) -> (Dense<f64>, Vec<f64>, Vec<f64>) {
        let mut random = Seed(3).stream("logistic");
        let x: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let k = (0..n * n).map(|p| (-(x[p / n] - x[p % n]).powi(2)).exp()).collect();
        let y = x.iter().map(|x| if x + 0.7 * random.normal() > 0.2 { 1.0 } else { -1.0 }).collect();
        let weights = (0..n).map(|i| if i % 7 == 3 { 0.0 } else { 0.5 + random.uniform() }).collect();
        (Dense::new(k, n, n).unwrap(), y, weights)
    }

    #[test]
    fn the_gradient_vanishes_and_multipliers_are_those_of_the_losses() {
        let n = 60;
        let (gram, y, weights) = problem(n);
        for lambda in [1e-3, 0.1, 10.0] {
            for bias in [true, false] {
                let problem = LogisticProblem { gram: &gram, y: &y, weights: &weights, lambda, bias };
                let found = logistic(&problem, 1e-14, &Silent).unwrap();
                assert_eq!(found.status, Status::Converged);
                let mut image = vec![0.0; n];
                apply(&gram, &found.alpha, 1, &mut image);
                // λα = w y (1 − p) where the matrix has full rank in the directions that matter; Σα = 0 with an offset
                for i in 0..n {
                    let p = 1.0 / (1.0 + (-y[i] * (image[i] + found.offset)).exp());
                    let wanted = weights[i] * y[i] * (1.0 - p);
                    assert!((lambda * found.alpha[i] - wanted).abs() < 1e-6, "{lambda} {bias} {i}");
                }
                let sum: f64 = found.alpha.iter().sum();
                if bias {
                    assert!((lambda * sum).abs() < 1e-9, "{sum}");
                } else {
                    assert_eq!(found.offset, 0.0);
                }
            }
        }
    }

    #[test]
    fn separable_classes_and_huge_prices_do_not_break_it() {
        let k = Dense::new(vec![1.0, 0.0, 0.0, 1.0], 2, 2).unwrap();
        let problem = LogisticProblem { gram: &k, y: &[1.0, -1.0], weights: &[1.0, 1.0], lambda: 1e-9, bias: true };
        let found = logistic(&problem, 1e-10, &Silent).unwrap();
        assert!(found.alpha[0] > 5.0 && (found.alpha[0] + found.alpha[1]).abs() < 1e-6 * found.alpha[0]);
        // one class alone runs off to an infinite offset, which the steps end
        let problem = LogisticProblem { gram: &k, y: &[1.0, 1.0], weights: &[1.0, 1.0], lambda: 1.0, bias: true };
        assert!(logistic(&problem, 1e-8, &Silent).unwrap().offset > 5.0);
    }
}
