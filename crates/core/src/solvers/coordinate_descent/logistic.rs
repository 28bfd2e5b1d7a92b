//! The logistic loss C log(1 + exp(−yf)): min ½ αᵀQα + Σ [α log α + (C − α) log(C − α)], 0 < α < C.
//!
//! # Source
//! Yu, Huang & Lin (2011), algorithms 4 and 5: each coordinate by Newton's method on whichever of α and C − α is the smaller
//! at the solution, so that neither logarithm cancels; the accuracy inside grows as the passes converge.

use super::{Loss, Verdict};

/// Each pass decides by all examples, so none may rest.
const NO_REST: f64 = f64::INFINITY;

/// Largest number of Newton steps on one coordinate.
const MAX_STEPS: usize = 100;
/// Factor of the variable in place of a Newton step that would leave the interval.
const STEP_SHRINKAGE: f64 = 0.1;

struct Point<const B: usize> {
    sign: [f64; B],
    /// α and C − α, both to full precision.
    alpha: [[f64; 2]; B],
    cost: f64,
    square: f64,
}

pub(super) struct Logistic<const B: usize> {
    points: Vec<Point<B>>,
    /// The largest gradient of this pass.
    largest: [f64; B],
    /// The gradient at which Newton's method stops, and how often it stepped in this pass.
    inner: [f64; B],
    steps: [usize; B],
}

impl<const B: usize> Logistic<B> {
    pub(super) fn new(signs: impl Iterator<Item = [f64; B]>, costs: &[f64], squares: &[f64]) -> Self {
        let point = |((sign, &cost), &square): (([f64; B], &f64), &f64)| {
            let start = (1e-3 * cost).min(1e-8);
            Point { sign, alpha: [[start, cost - start]; B], cost, square }
        };
        let points = signs.zip(costs).zip(squares).map(point).collect();
        Self { points, largest: [0.0; B], inner: [1e-2; B], steps: [0; B] }
    }
}

impl<const B: usize> Loss for Logistic<B> {
    const EXACT_STEPS: bool = false;

    fn coefficient(&self, i: usize, b: usize) -> f64 {
        self.points[i].sign[b] * self.points[i].alpha[b][0]
    }

    #[inline(always)]
    fn step(&mut self, i: usize, b: usize, score: f64) -> Option<(f64, f64)> {
        let p = &mut self.points[i];
        let (square, margin, c) = (p.square, p.sign[b] * score, p.cost);
        // along the line both α and C − α are known; the one that is below C/2 at the solution is moved
        let second = usize::from(0.5 * square * (p.alpha[b][1] - p.alpha[b][0]) + margin < 0.0);
        let sign = if second == 1 { -1.0 } else { 1.0 };
        let old = p.alpha[b][second];
        let gradient = |z: f64| square * (z - old) + sign * margin + (z / (c - z)).ln();
        let mut z = if c - old < 0.5 * c { STEP_SHRINKAGE * old } else { old };
        let mut slope = gradient(z);
        self.largest[b] = self.largest[b].max(slope.abs());
        let mut taken = 0;
        while slope.abs() >= self.inner[b] && taken < MAX_STEPS {
            let newton = z - slope / (square + c / ((c - z) * z));
            z = if newton <= 0.0 { z * STEP_SHRINKAGE } else { newton };
            slope = gradient(z);
            taken += 1;
        }
        if taken == 0 {
            return Some((0.0, NO_REST));
        }
        self.steps[b] += taken;
        p.alpha[b][second] = z;
        p.alpha[b][1 - second] = c - z;
        Some((sign * (z - old) * p.sign[b], NO_REST))
    }

    fn end(&mut self, b: usize, _: bool, tolerance: f64) -> Verdict {
        let steps = std::mem::take(&mut self.steps[b]);
        let largest = std::mem::take(&mut self.largest[b]);
        if largest < tolerance {
            return Verdict::Done;
        }
        if steps <= self.points.len() / 10 {
            self.inner[b] = (0.1 * self.inner[b]).max(tolerance.min(1e-8));
        }
        Verdict::GoOn(largest)
    }

    fn primal(&self, i: usize, b: usize, score: f64) -> f64 {
        let p = &self.points[i];
        let margin = p.sign[b] * score;
        // log(1 + exp(−m)) without overflow
        p.cost * ((-margin).max(0.0) + (-margin.abs()).exp().ln_1p())
    }

    fn dual(&self, i: usize, b: usize) -> f64 {
        let p = &self.points[i];
        let entropy = |z: f64| if z > 0.0 { z * (z / p.cost).ln() } else { 0.0 };
        -entropy(p.alpha[b][0]) - entropy(p.alpha[b][1])
    }

    fn violation(&self, i: usize, b: usize, score: f64) -> f64 {
        let p = &self.points[i];
        (p.sign[b] * score + (p.alpha[b][0] / p.alpha[b][1]).ln()).abs()
    }
}
