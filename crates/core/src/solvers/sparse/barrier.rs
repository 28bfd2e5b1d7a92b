//! A point inside all bounds, and the predictor–corrector step from it: the arithmetic of `interior_point.rs`, whose header has
//! the conditions of optimality.
//!
//! ```text
//! predictor   Newton's direction towards products of pairs that are zero; it gives μ_after, the mean product at its end
//! centring    σ = (μ_after / μ)³
//! corrector   Newton's direction towards products σμ, less the products of second order of the predictor's changes
//! ```
//! α⁺, α⁻ and the multipliers of the bounds are eliminated, so that a direction solves
//! ```text
//! Θ⁻¹Δα − KᵀΔβ = p      KΔα + DΔβ = q
//! ```
//! with diagonal Θ and D, in one factorisation for predictor and corrector (`reduced.rs`).
//!
//! # Source
//! Mehrotra (1992), On the implementation of a primal–dual interior point method, SIAM J. Optim. 2; Wright (1997), Primal-Dual
//! Interior-Point Methods, ch. 10; Mika (2002), App. A.

use super::certificate::{balanced, drawn, most};
use super::columns::Working;
use super::interior_point::Inner;
use super::offset::best_offset;
use super::reduced::Reduced;
use super::terms::Terms;
use crate::solvers::Loss;
use crate::watch::Status;

/// Share of the way to the nearest bound that a step takes (the fraction to the boundary).
const STEP_TO_BOUND: f64 = 0.995;

/// A branch of an example's loss: lower < v < upper.
#[derive(Clone, Copy)]
struct Branch {
    row: usize,
    sign: f64,
    lower: f64,
    upper: f64,
    ridge: f64,
    bend: f64,
}

/// A primal and dual point inside all bounds.
pub(super) struct Point {
    /// α⁺ and α⁻.
    plus: Vec<f64>,
    minus: Vec<f64>,
    offset: f64,
    /// v of every branch, and the multipliers ξ⁺, ξ⁻ of its bounds (zero where there is none).
    v: Vec<f64>,
    above: Vec<f64>,
    below: Vec<f64>,
}

/// A master problem with its barriers.
pub(super) struct Barrier<'a> {
    x: &'a Working,
    terms: &'a Terms<'a>,
    branches: Vec<Branch>,
    /// True if φ is the entropy, which keeps v inside its bounds by itself.
    smooth: bool,
}

/// Quantities that follow from a point.
pub(super) struct State {
    f: Vec<f64>,
    beta: Vec<f64>,
    /// g, and 1ᵀβ at the end where there is a bias.
    prices: Vec<f64>,
    /// Residuals of the branches' equations.
    rest: Vec<f64>,
}

/// A direction: changes of all variables.
struct Move {
    /// Δα⁺, Δα⁻, Δg.
    plus: Vec<f64>,
    minus: Vec<f64>,
    prices: Vec<f64>,
    offset: f64,
    v: Vec<f64>,
    above: Vec<f64>,
    below: Vec<f64>,
}

/// The changes that the products of complementary pairs shall have.
struct Aim {
    plus: Vec<f64>,
    minus: Vec<f64>,
    above: Vec<f64>,
    below: Vec<f64>,
}

fn branches(terms: &Terms<'_>) -> Vec<Branch> {
    let one = |i: usize| {
        let c = terms.conjugate(i);
        Branch { row: i, sign: 1.0, lower: c.lower, upper: c.upper, ridge: c.ridge, bend: 0.0 }
    };
    let side = |i: usize, sign: f64| {
        let c = terms.conjugate(i);
        Branch { row: i, sign, lower: 0.0, upper: c.upper, ridge: c.ridge, bend: c.bend }
    };
    match terms.loss {
        Loss::EpsilonInsensitive { epsilon } if epsilon > 0.0 => {
            (0..terms.len()).map(|i| side(i, 1.0)).chain((0..terms.len()).map(|i| side(i, -1.0))).collect()
        }
        _ => (0..terms.len()).map(one).collect(),
    }
}

impl<'a> Barrier<'a> {
    pub(super) fn new(x: &'a Working, terms: &'a Terms<'a>) -> Self {
        Self { x, terms, branches: branches(terms), smooth: terms.loss == Loss::Logistic }
    }

    /// φ′(v) and φ″(v).
    fn bent(&self, k: usize, v: f64) -> (f64, f64) {
        let Branch { row, ridge, .. } = self.branches[k];
        if !self.smooth {
            return (ridge * v, ridge);
        }
        // with a = yv/w: ℓ* = a + a log a + (1 − a) log(1 − a) and u = y (1 + log a/(1 − a))
        let (y, w) = (self.terms.y[row], self.terms.w[row]);
        let a = (y * v / w).clamp(1e-300, 1.0 - 1e-16);
        (y * (1.0 + a.ln() - (-a).ln_1p()), 1.0 / (w * a * (1.0 - a)))
    }

    /// λ − g and λ + g: above zero, which rounding in g might forget at the very end.
    fn room(&self, state: &State, j: usize) -> (f64, f64) {
        let (lambda, g) = (self.terms.lambda, state.prices[j]);
        ((lambda - g).max(1e-17 * lambda), (lambda + g).max(1e-17 * lambda))
    }

    /// v − lower and upper − v, likewise.
    fn slack(&self, k: usize, point: &Point) -> (f64, f64) {
        let (b, v) = (&self.branches[k], point.v[k]);
        let least = 1e-17 * self.terms.w[b.row];
        ((v - b.lower).max(least), (b.upper - v).max(least))
    }

    fn bounded(&self, k: usize) -> (bool, bool) {
        let b = &self.branches[k];
        (!self.smooth && b.lower.is_finite(), !self.smooth && b.upper.is_finite())
    }

    /// A point well inside: α⁺ = α⁻, prices within half of λ, and the size of the first products.
    pub(super) fn begin(&self) -> (Point, f64) {
        let (terms, s) = (self.terms, self.x.columns);
        let (offset, slopes) = best_offset(terms, &vec![0.0; terms.len()]);
        // halfway into bounds on one side, and along the slopes where there are none
        let inside = |b: &Branch| match (b.lower.is_finite(), b.upper.is_finite()) {
            (true, true) => 0.5 * (b.lower + b.upper),
            (true, false) => b.lower.max(0.0) + slopes[b.row].abs() + 1e-3 * terms.w[b.row],
            (false, true) => b.upper.min(0.0) - slopes[b.row].abs() - 1e-3 * terms.w[b.row],
            (false, false) => slopes[b.row],
        };
        let mut v: Vec<f64> = self.branches.iter().map(inside).collect();
        let beta = self.gathered(&v);
        let most = most(&self.x.prices(&beta)[..s]);
        let part = if most > 0.0 { (0.5 * terms.lambda / most).min(1.0) } else { 1.0 };
        v.iter_mut().for_each(|v| *v *= part);
        let worst = terms.losses(&vec![offset; terms.len()]).max(f64::MIN_POSITIVE);
        let level = worst / (s + self.branches.len()) as f64;
        let each = level / terms.lambda;
        let mut point = Point {
            plus: vec![each; s],
            minus: vec![each; s],
            offset,
            above: vec![0.0; v.len()],
            below: vec![0.0; v.len()],
            v,
        };
        // a v that starts close to a bound must not get a multiplier far beyond all errors
        let usual = 10.0 * worst / terms.w.iter().sum::<f64>();
        for k in 0..point.v.len() {
            let Branch { row, sign, lower, upper, bend, .. } = self.branches[k];
            let (has_lower, has_upper) = self.bounded(k);
            let error = sign * (terms.y[row] - offset) - bend - self.bent(k, point.v[k]).0;
            if has_upper {
                point.above[k] = (level / (upper - point.v[k])).min(usual) + error.max(0.0);
            }
            if has_lower {
                point.below[k] = (level / (point.v[k] - lower)).min(usual) + (-error).max(0.0);
            }
            // where one bound alone is there its multiplier must not stay at odds with the equation
            if has_upper && has_lower {
                let spare = point.above[k] - point.below[k] - error;
                if spare > 0.0 {
                    point.below[k] += spare;
                } else {
                    point.above[k] -= spare;
                }
            }
        }
        (point, level)
    }

    fn gathered(&self, v: &[f64]) -> Vec<f64> {
        let mut beta = vec![0.0; self.terms.len()];
        self.branches.iter().zip(v).for_each(|(b, v)| beta[b.row] += b.sign * v);
        beta
    }

    pub(super) fn look(&self, point: &Point) -> State {
        let mut a: Vec<f64> = point.plus.iter().zip(&point.minus).map(|(p, m)| p - m).collect();
        if self.x.bias {
            a.push(point.offset);
        }
        let (f, beta) = (self.x.scores(&a), self.gathered(&point.v));
        let prices = self.x.prices(&beta);
        let rest = (0..self.branches.len())
            .map(|k| {
                let Branch { row, sign, bend, .. } = self.branches[k];
                sign * (self.terms.y[row] - f[row]) - bend - self.bent(k, point.v[k]).0 - point.above[k]
                    + point.below[k]
            })
            .collect();
        State { f, beta, prices, rest }
    }

    /// The objectives of a point, the dual one of its β made feasible.
    pub(super) fn certify(&self, point: &Point, state: &State) -> Inner {
        let terms = self.terms;
        let alpha: Vec<f64> = point.plus.iter().zip(&point.minus).map(|(p, m)| p - m).collect();
        let beta = balanced(terms, &state.beta);
        let most = most(&self.x.prices(&beta)[..self.x.columns]);
        let (beta, dual) = drawn(terms, beta, most);
        let objective = terms.losses(&state.f) + terms.lambda * alpha.iter().map(|a| a.abs()).sum::<f64>();
        Inner {
            alpha,
            offset: point.offset,
            scores: state.f.clone(),
            beta,
            objective,
            dual,
            iterations: 0,
            status: Status::IterationLimit,
            sharp: false,
        }
    }

    /// One predictor–corrector step; `None` if no step is possible.
    pub(super) fn step(&self, point: &mut Point, state: &State, level: f64) -> Option<()> {
        let s = self.x.columns;
        let (system, each) = self.system(point, state)?;
        let room = |j: usize| self.room(state, j);
        // residuals of complementarity: the goal of a pair less its product
        let products = |aim: &mut Aim, to: f64| {
            for j in 0..s {
                let (zp, zm) = room(j);
                aim.plus[j] += to - point.plus[j] * zp;
                aim.minus[j] += to - point.minus[j] * zm;
            }
            for k in 0..self.branches.len() {
                let (has_lower, has_upper) = self.bounded(k);
                if has_upper {
                    aim.above[k] += to - point.above[k] * self.slack(k, point).1;
                }
                if has_lower {
                    aim.below[k] += to - point.below[k] * self.slack(k, point).0;
                }
            }
        };
        let nothing = || Aim {
            plus: vec![0.0; s],
            minus: vec![0.0; s],
            above: vec![0.0; self.branches.len()],
            below: vec![0.0; self.branches.len()],
        };
        // predictor: all products to zero
        let mut aim = nothing();
        products(&mut aim, 0.0);
        let first = self.direction(&system, point, state, &each, &aim);
        let (primal, dual) = self.reach(point, state, &first);
        let (now, pairs) = self.complementarity(point, state, None);
        let (after, _) = self.complementarity(point, state, Some((&first, primal, dual)));
        // Mehrotra's centring σ = (μ_after / μ)³: the farther the predictor could go, the smaller the goal
        let mean = now / pairs.max(1) as f64;
        let centring = (after / now).clamp(0.0, 1.0).powi(3);
        let goal = (centring * mean).max(1e-18 * level);
        // corrector: all products to σμ, less the terms of second order of the predictor
        let mut aim = nothing();
        products(&mut aim, goal);
        for j in 0..s {
            aim.plus[j] += first.plus[j] * first.prices[j];
            aim.minus[j] -= first.minus[j] * first.prices[j];
        }
        for k in 0..self.branches.len() {
            let (has_lower, has_upper) = self.bounded(k);
            if has_upper {
                aim.above[k] += first.above[k] * first.v[k];
            }
            if has_lower {
                aim.below[k] -= first.below[k] * first.v[k];
            }
        }
        // the step stays a fraction away from the nearest bound
        let second = self.direction(&system, point, state, &each, &aim);
        let (primal, dual) = self.reach(point, state, &second);
        let (primal, dual) = ((STEP_TO_BOUND * primal).min(1.0), (STEP_TO_BOUND * dual).min(1.0));
        if !(primal.is_finite() && dual.is_finite() && primal.max(dual) > 1e-10) {
            return None;
        }
        advance(&mut point.plus, &second.plus, primal);
        advance(&mut point.minus, &second.minus, primal);
        point.offset += primal * second.offset;
        advance(&mut point.above, &second.above, primal);
        advance(&mut point.below, &second.below, primal);
        advance(&mut point.v, &second.v, dual);
        Some(())
    }

    /// The factorised system of a point, and D of every branch; `None` where numbers are no longer finite.
    fn system(&self, point: &Point, state: &State) -> Option<(Reduced<'a>, Vec<f64>)> {
        // Θ⁻¹ = 1 / (α⁺/(λ − g) + α⁻/(λ + g))
        let stiff: Vec<f64> = (0..self.x.columns)
            .map(|j| {
                let (zp, zm) = self.room(state, j);
                1.0 / (point.plus[j] / zp + point.minus[j] / zm)
            })
            .collect();
        let each: Vec<f64> = (0..self.branches.len()).map(|k| self.softness(k, point)).collect();
        let mut soft = vec![0.0; self.terms.len()];
        self.branches.iter().zip(&each).for_each(|(b, d)| soft[b.row] += 1.0 / d);
        soft.iter_mut().for_each(|d| *d = 1.0 / *d);
        Some((Reduced::new(self.x, stiff, soft)?, each))
    }

    /// D of a branch: φ″ + ξ⁺/(upper − v) + ξ⁻/(v − lower).
    fn softness(&self, k: usize, point: &Point) -> f64 {
        let (has_lower, has_upper) = self.bounded(k);
        let above = if has_upper { point.above[k] / self.slack(k, point).1 } else { 0.0 };
        let below = if has_lower { point.below[k] / self.slack(k, point).0 } else { 0.0 };
        self.bent(k, point.v[k]).1 + above + below
    }

    /// Newton's direction towards the aim.
    fn direction(&self, system: &Reduced<'_>, point: &Point, state: &State, each: &[f64], aim: &Aim) -> Move {
        let (terms, s) = (self.terms, self.x.columns);
        let room = |j: usize| self.room(state, j);
        let theta = |j: usize| {
            let (zp, zm) = room(j);
            (aim.plus[j] / zp - aim.minus[j] / zm, point.plus[j] / zp + point.minus[j] / zm)
        };
        // Θ⁻¹Δα − KᵀΔβ = Θ⁻¹(τ⁺/(λ − g) − τ⁻/(λ + g)), and 1ᵀΔβ = −1ᵀβ
        let mut p: Vec<f64> = (0..s).map(|j| theta(j).0 / theta(j).1).collect();
        if self.x.bias {
            p.push(state.prices[s]);
        }
        // Δf + DΔβ = D Σ σh/D_k with h = rest − τ⁺/(upper − v) + τ⁻/(v − lower)
        let mut wanted = Vec::with_capacity(each.len());
        let (mut q, mut loose) = (vec![0.0; terms.len()], vec![0.0; terms.len()]);
        for k in 0..each.len() {
            let (b, (has_lower, has_upper)) = (&self.branches[k], self.bounded(k));
            let mut h = state.rest[k];
            if has_upper {
                h -= aim.above[k] / self.slack(k, point).1;
            }
            if has_lower {
                h += aim.below[k] / self.slack(k, point).0;
            }
            q[b.row] += b.sign * h / each[k];
            loose[b.row] += 1.0 / each[k];
            wanted.push(h);
        }
        q.iter_mut().zip(&loose).for_each(|(q, l)| *q /= l);
        let step = system.solve(&p, &q);
        let prices = self.x.prices(&step.beta);
        let scores: Vec<f64> = (0..terms.len()).map(|i| q[i] - step.beta[i] / loose[i]).collect();
        let (mut plus, mut minus) = (Vec::with_capacity(s), Vec::with_capacity(s));
        for j in 0..s {
            let (zp, zm) = room(j);
            plus.push((aim.plus[j] + point.plus[j] * prices[j]) / zp);
            minus.push((aim.minus[j] - point.minus[j] * prices[j]) / zm);
        }
        let (mut v, mut above, mut below) = (Vec::new(), vec![0.0; each.len()], vec![0.0; each.len()]);
        for k in 0..each.len() {
            let (b, (has_lower, has_upper)) = (&self.branches[k], self.bounded(k));
            // a single branch is β itself, which is more exact than the way back
            let change = if self.branches.len() == terms.len() {
                step.beta[b.row]
            } else {
                (wanted[k] - b.sign * scores[b.row]) / each[k]
            };
            if has_upper {
                above[k] = (aim.above[k] + point.above[k] * change) / self.slack(k, point).1;
            }
            if has_lower {
                below[k] = (aim.below[k] - point.below[k] * change) / self.slack(k, point).0;
            }
            v.push(change);
        }
        let offset = if self.x.bias { step.a[s] } else { 0.0 };
        Move { plus, minus, prices, offset, v, above, below }
    }

    /// The lengths of a step to the nearest bound, primal and dual; one length for both where the loss is curved, which couples
    /// them.
    fn reach(&self, point: &Point, state: &State, to: &Move) -> (f64, f64) {
        let lambda = self.terms.lambda;
        let (mut primal, mut dual) = (f64::MAX, f64::MAX);
        let shrink = |length: &mut f64, at: f64, change: f64| {
            if change < 0.0 {
                *length = length.min(-at / change);
            } else if change.is_nan() {
                *length = f64::NAN;
            }
        };
        for j in 0..self.x.columns {
            shrink(&mut primal, point.plus[j], to.plus[j]);
            shrink(&mut primal, point.minus[j], to.minus[j]);
            shrink(&mut dual, lambda - state.prices[j], -to.prices[j]);
            shrink(&mut dual, lambda + state.prices[j], to.prices[j]);
        }
        for (k, b) in self.branches.iter().enumerate() {
            let (has_lower, has_upper) = self.bounded(k);
            if has_upper {
                shrink(&mut primal, point.above[k], to.above[k]);
            }
            if has_lower {
                shrink(&mut primal, point.below[k], to.below[k]);
            }
            if b.upper.is_finite() {
                shrink(&mut dual, b.upper - point.v[k], -to.v[k]);
            }
            if b.lower.is_finite() {
                shrink(&mut dual, point.v[k] - b.lower, to.v[k]);
            }
        }
        let curved = self.smooth || self.branches.iter().any(|b| b.ridge > 0.0);
        let (primal, dual) = (primal.min(1.0 / STEP_TO_BOUND), dual.min(1.0 / STEP_TO_BOUND));
        if curved { (primal.min(dual), primal.min(dual)) } else { (primal, dual) }
    }

    /// The sum of all products of complementary pairs, here or after a step, and the number of pairs.
    fn complementarity(&self, point: &Point, state: &State, after: Option<(&Move, f64, f64)>) -> (f64, usize) {
        let lambda = self.terms.lambda;
        let (mut sum, mut pairs) = (0.0, 2 * self.x.columns);
        let at = |x: f64, change: &dyn Fn(&Move) -> f64, primal: bool| match after {
            Some((to, p, d)) => x + change(to) * if primal { p.min(1.0) } else { d.min(1.0) },
            None => x,
        };
        for j in 0..self.x.columns {
            let price = at(state.prices[j], &|to| to.prices[j], false);
            sum += at(point.plus[j], &|to| to.plus[j], true) * (lambda - price);
            sum += at(point.minus[j], &|to| to.minus[j], true) * (lambda + price);
        }
        for (k, b) in self.branches.iter().enumerate() {
            let (has_lower, has_upper) = self.bounded(k);
            let v = at(point.v[k], &|to| to.v[k], false);
            if has_upper {
                sum += at(point.above[k], &|to| to.above[k], true) * (b.upper - v);
            }
            if has_lower {
                sum += at(point.below[k], &|to| to.below[k], true) * (v - b.lower);
            }
            pairs += usize::from(has_upper) + usize::from(has_lower);
        }
        (sum, pairs)
    }
}

fn advance(x: &mut [f64], step: &[f64], length: f64) {
    x.iter_mut().zip(step).for_each(|(x, s)| *x += length * s);
}

#[cfg(test)]
#[path = "barrier_tests.rs"]
mod tests;
