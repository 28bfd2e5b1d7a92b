//! Hinge losses: min ½ αᵀ(Q + D)α − Σα, 0 ≤ α ≤ u, Q_ij = y_i y_j ⟨x_i, x_j⟩.
//!
//! For C max(0, 1 − yf) the bound u is C and D is zero; for C max(0, 1 − yf)² there is no bound and D_ii is 1/(2C).
//!
//! # Source
//! Hsieh, Chang, Lin, Keerthi & Sundararajan (2008), algorithm 3: one coordinate at a time, exactly; a coordinate at a bound
//! whose gradient is beyond the extremes of the last pass is left aside until the rest has converged.

use super::free_variables::Free;
use super::{Loss, Verdict};

/// Smallest projected gradient that is worth a write of the weights.
const MIN_GRADIENT: f64 = 1e-12;

/// All that a step needs of an example, side by side in memory.
struct Point<const B: usize> {
    sign: [f64; B],
    alpha: [f64; B],
    /// u.
    upper: f64,
    /// D_ii.
    diagonal: f64,
    /// 1 / (Q_ii + D_ii); infinite for a zero vector, which then goes to its bound.
    step: f64,
    cost: f64,
}

pub(super) struct Margin<const B: usize> {
    points: Vec<Point<B>>,
    squared: bool,
    /// The extremes of the projected gradient in this pass.
    largest: [f64; B],
    smallest: [f64; B],
    /// Those of the last pass, beyond which coordinates are left aside.
    above: [f64; B],
    below: [f64; B],
}

impl<const B: usize> Margin<B> {
    pub(super) fn new(signs: impl Iterator<Item = [f64; B]>, costs: &[f64], squares: &[f64], squared: bool) -> Self {
        let point = |((sign, &cost), &square): (([f64; B], &f64), &f64)| {
            let (upper, diagonal) = if squared { (f64::INFINITY, 0.5 / cost) } else { (cost, 0.0) };
            Point { sign, alpha: [0.0; B], upper, diagonal, step: 1.0 / (square + diagonal), cost }
        };
        Self {
            points: signs.zip(costs).zip(squares).map(point).collect(),
            squared,
            largest: [f64::NEG_INFINITY; B],
            smallest: [f64::INFINITY; B],
            above: [f64::INFINITY; B],
            below: [f64::NEG_INFINITY; B],
        }
    }
}

/// The part of a gradient that leads inside the bounds.
#[inline(always)]
fn project(gradient: f64, alpha: f64, upper: f64) -> f64 {
    if alpha == 0.0 {
        gradient.min(0.0)
    } else if alpha == upper {
        gradient.max(0.0)
    } else {
        gradient
    }
}

impl<const B: usize> Loss for Margin<B> {
    const EXACT_STEPS: bool = true;

    fn coefficient(&self, i: usize, b: usize) -> f64 {
        self.points[i].sign[b] * self.points[i].alpha[b]
    }

    #[inline(always)]
    fn step(&mut self, i: usize, b: usize, score: f64) -> Option<(f64, f64)> {
        let p = &mut self.points[i];
        let alpha = p.alpha[b];
        let gradient = p.sign[b] * score - 1.0 + p.diagonal * alpha;
        if (alpha == 0.0 && gradient > self.above[b]) || (alpha == p.upper && gradient < self.below[b]) {
            return None;
        }
        let projected = project(gradient, alpha, p.upper);
        self.largest[b] = self.largest[b].max(projected);
        self.smallest[b] = self.smallest[b].min(projected);
        if projected.abs() <= MIN_GRADIENT {
            return Some((0.0, projected.abs()));
        }
        p.alpha[b] = (alpha - gradient * p.step).max(0.0).min(p.upper);
        Some(((p.alpha[b] - alpha) * p.sign[b], projected.abs()))
    }

    fn end(&mut self, b: usize, whole: bool, tolerance: f64) -> Verdict {
        let (largest, smallest) = (self.largest[b], self.smallest[b]);
        (self.largest[b], self.smallest[b]) = (f64::NEG_INFINITY, f64::INFINITY);
        if largest - smallest <= tolerance {
            (self.above[b], self.below[b]) = (f64::INFINITY, f64::NEG_INFINITY);
            return if whole { Verdict::Done } else { Verdict::TakeAll };
        }
        self.above[b] = if largest > 0.0 { largest } else { f64::INFINITY };
        self.below[b] = if smallest < 0.0 { smallest } else { f64::NEG_INFINITY };
        Verdict::GoOn(largest - smallest)
    }

    fn is_free(&self, i: usize, b: usize) -> bool {
        let p = &self.points[i];
        p.alpha[b] > 0.0 && p.alpha[b] < p.upper
    }

    fn free(&self, i: usize, b: usize, score: f64) -> Option<Free> {
        let p = &self.points[i];
        let (sign, alpha) = (p.sign[b], p.alpha[b]);
        let slope = sign * (sign * score - 1.0 + p.diagonal * alpha);
        let (down, up) = if sign > 0.0 { (alpha, p.upper - alpha) } else { (p.upper - alpha, alpha) };
        Some(Free { down, up, slope, diagonal: p.diagonal })
    }

    fn shift(&mut self, i: usize, b: usize, change: f64) -> f64 {
        let p = &mut self.points[i];
        let alpha = p.alpha[b];
        p.alpha[b] = (alpha + p.sign[b] * change).clamp(0.0, p.upper);
        p.sign[b] * (p.alpha[b] - alpha)
    }

    fn primal(&self, i: usize, b: usize, score: f64) -> f64 {
        let p = &self.points[i];
        let slack = (1.0 - p.sign[b] * score).max(0.0);
        p.cost * if self.squared { slack * slack } else { slack }
    }

    fn dual(&self, i: usize, b: usize) -> f64 {
        let p = &self.points[i];
        p.alpha[b] - 0.5 * p.diagonal * p.alpha[b] * p.alpha[b]
    }

    fn violation(&self, i: usize, b: usize, score: f64) -> f64 {
        let p = &self.points[i];
        project(p.sign[b] * score - 1.0 + p.diagonal * p.alpha[b], p.alpha[b], p.upper).abs()
    }
}
