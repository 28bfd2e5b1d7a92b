//! ε-insensitive losses: min ½ βᵀ(Q + D)β − yᵀβ + ε‖β‖₁, −u ≤ β ≤ u, Q_ij = ⟨x_i, x_j⟩.
//!
//! For C max(0, |y − f| − ε) the bound u is C and D is zero; for its square there is no bound and D_ii is 1/(2C).
//!
//! # Source
//! Ho & Lin (2012), algorithm 4: one coordinate at a time, exactly (a soft threshold, then the bounds); stops when the sum of
//! the violations in a pass is below `tolerance` times that of the first.

use super::free_variables::Free;
use super::{Loss, Verdict};

struct Point<const B: usize> {
    target: [f64; B],
    beta: [f64; B],
    /// u.
    upper: f64,
    /// D_ii.
    diagonal: f64,
    /// Q_ii + D_ii.
    curvature: f64,
    cost: f64,
}

pub(super) struct Insensitive<const B: usize> {
    points: Vec<Point<B>>,
    epsilon: f64,
    squared: bool,
    /// The largest violation of this pass, and that of the last, beyond which coordinates are left aside.
    largest: [f64; B],
    beyond: [f64; B],
    /// The sum of the violations of this pass, and that of the first pass.
    sum: [f64; B],
    first: [Option<f64>; B],
}

impl<const B: usize> Insensitive<B> {
    pub(super) fn new(
        targets: impl Iterator<Item = [f64; B]>,
        costs: &[f64],
        squares: &[f64],
        epsilon: f64,
        squared: bool,
    ) -> Self {
        let point = |((target, &cost), &square): (([f64; B], &f64), &f64)| {
            let (upper, diagonal) = if squared { (f64::INFINITY, 0.5 / cost) } else { (cost, 0.0) };
            Point { target, beta: [0.0; B], upper, diagonal, curvature: square + diagonal, cost }
        };
        Self {
            points: targets.zip(costs).zip(squares).map(point).collect(),
            epsilon,
            squared,
            largest: [0.0; B],
            beyond: [f64::INFINITY; B],
            sum: [0.0; B],
            first: [None; B],
        }
    }
}

/// Violation of the optimality condition of β where the smooth part has this gradient: zero must lie between the
/// gradients for a β that grows and one that shrinks, as far as the bounds let it.
#[inline(always)]
fn violation(gradient: f64, beta: f64, upper: f64, epsilon: f64) -> f64 {
    let (growing, shrinking) = (gradient + epsilon, gradient - epsilon);
    if beta == 0.0 {
        (-growing).max(shrinking).max(0.0)
    } else if beta >= upper {
        growing.max(0.0)
    } else if beta <= -upper {
        (-shrinking).max(0.0)
    } else if beta > 0.0 {
        growing.abs()
    } else {
        shrinking.abs()
    }
}

impl<const B: usize> Loss for Insensitive<B> {
    const EXACT_STEPS: bool = true;

    fn coefficient(&self, i: usize, b: usize) -> f64 {
        self.points[i].beta[b]
    }

    #[inline(always)]
    fn step(&mut self, i: usize, b: usize, score: f64) -> Option<(f64, f64)> {
        let p = &mut self.points[i];
        let (beta, beyond) = (p.beta[b], self.beyond[b]);
        let gradient = score - p.target[b] + p.diagonal * beta;
        let (growing, shrinking) = (gradient + self.epsilon, gradient - self.epsilon);
        let aside = if beta == 0.0 {
            growing > beyond && shrinking < -beyond
        } else if beta >= p.upper {
            growing < -beyond
        } else {
            beta <= -p.upper && shrinking > beyond
        };
        if aside {
            return None;
        }
        let off = violation(gradient, beta, p.upper, self.epsilon);
        self.largest[b] = self.largest[b].max(off);
        self.sum[b] += off;
        // the minimum of ½ h d² + g d + ε|β + d|
        let change = if growing < p.curvature * beta {
            -growing / p.curvature
        } else if shrinking > p.curvature * beta {
            -shrinking / p.curvature
        } else {
            -beta
        };
        // even the smallest change counts: violations are summed, and many small ones would keep the sum from its end
        if change == 0.0 {
            return Some((0.0, off));
        }
        p.beta[b] = (beta + change).max(-p.upper).min(p.upper);
        Some((p.beta[b] - beta, off))
    }

    fn end(&mut self, b: usize, whole: bool, tolerance: f64) -> Verdict {
        let (sum, largest) = (self.sum[b], self.largest[b]);
        (self.sum[b], self.largest[b]) = (0.0, 0.0);
        if sum <= tolerance * *self.first[b].get_or_insert(sum) {
            self.beyond[b] = f64::INFINITY;
            return if whole { Verdict::Done } else { Verdict::TakeAll };
        }
        self.beyond[b] = largest;
        Verdict::GoOn(largest)
    }

    fn is_free(&self, i: usize, b: usize) -> bool {
        let p = &self.points[i];
        p.beta[b] != 0.0 && p.beta[b].abs() < p.upper
    }

    fn free(&self, i: usize, b: usize, score: f64) -> Option<Free> {
        let p = &self.points[i];
        let beta = p.beta[b];
        let gradient = score - p.target[b] + p.diagonal * beta;
        let (down, up) = if beta > 0.0 { (beta, p.upper - beta) } else { (p.upper + beta, -beta) };
        Some(Free { down, up, slope: gradient + self.epsilon * beta.signum(), diagonal: p.diagonal })
    }

    fn shift(&mut self, i: usize, b: usize, change: f64) -> f64 {
        let p = &mut self.points[i];
        let beta = p.beta[b];
        let (low, high) = if beta > 0.0 { (0.0, p.upper) } else { (-p.upper, 0.0) };
        p.beta[b] = (beta + change).clamp(low, high);
        p.beta[b] - beta
    }

    fn primal(&self, i: usize, b: usize, score: f64) -> f64 {
        let p = &self.points[i];
        let slack = ((p.target[b] - score).abs() - self.epsilon).max(0.0);
        p.cost * if self.squared { slack * slack } else { slack }
    }

    fn dual(&self, i: usize, b: usize) -> f64 {
        let p = &self.points[i];
        let beta = p.beta[b];
        p.target[b] * beta - self.epsilon * beta.abs() - 0.5 * p.diagonal * beta * beta
    }

    fn violation(&self, i: usize, b: usize, score: f64) -> f64 {
        let p = &self.points[i];
        violation(score - p.target[b] + p.diagonal * p.beta[b], p.beta[b], p.upper, self.epsilon)
    }
}
