//! Coordinate descent for smooth losses.
//!
//! Around the present scores the losses are ½ Δfᵀ H Δf − βᵀΔf, and on a few columns X the model of the programme is
//! ```text
//! min over a  ½ (a − a₀)ᵀ Q (a − a₀) − cᵀ(a − a₀) + λ‖a‖₁      Q = XᵀHX, c = Xᵀβ      a_j ← soft(r_j + Q_jj a_j, λ) / Q_jj
//! ```
//! with r = c − Q(a − a₀) kept up to date, so that a step costs as many operations as there are columns in question, not as there
//! are examples. b is one more coordinate, without λ. Columns of a kernel matrix are much alike and single steps creep;
//! after a few passes the coefficients that are not zero are therefore settled together, as far as none changes its sign. For the
//! squared loss the model is the programme; for others it is made again at the new scores, after a search along the way.
//!
//! Columns that can be proved to have no coefficient are left out for good: with G the gap and γ the curvature of the dual,
//! |K_jᵀβ| + ‖K_j − mean‖ √(2G/γ) < λ says so.
//!
//! # Source
//! Friedman, Hastie & Tibshirani (2010), J. Stat. Softw. 33, §2 (covariance updates); Ndiaye et al. (2017), JMLR 18, Theorem 6 (gap
//! safe spheres); Lee et al. (2007), Efficient sparse coding algorithms, NIPS 19 (settling with signs); Mika (2002), (3.53).

use super::certificate::{balanced, drawn, most};
use super::columns::{Working, gram, transposed};
use super::crossover::assemble;
use super::interior_point::enough;
use super::offset::best_offset;
use super::terms::Terms;
use super::{SparseOptions, SparseProgramme, SparseSolution};
use crate::linalg::Cholesky;
use crate::linalg::SolveError;
use crate::solvers::Loss;
use crate::watch::{Monitor, Phase, Progress, Status};
use std::ops::ControlFlow;

/// Smallest number of columns that join at a time.
const MIN_JOINING_COLUMNS: usize = 40;
/// Largest number of quadratic models made on one set of columns.
const MAX_MODELS: usize = 8;
/// Passes over the coordinates before those that are not zero are settled together.
const PASSES: usize = 5;
/// Rounds of passes and settling for one model.
const SETTLINGS: usize = 100;
/// Smallest curvature, as a share of the largest, so that flat losses give a quadratic model too.
const MIN_CURVATURE_SHARE: f64 = 1e-4;
/// Number of scans of all columns without a smaller gap after which only rounding is left.
const MAX_STALLED_SCANS: usize = 12;
/// Largest number of passes where no limit is given.
const DEFAULT_MAX_PASSES: usize = 1_000_000;

/// Solves a programme with a smooth loss.
///
/// # Use when
/// The loss is `squared`, `squared_hinge`, `huber` or `logistic` and a neighbouring solution is known, as on a path over λ.
///
/// # Cost
/// One pass over K for each set of columns in question; K is stored.
///
/// # Errors
/// As [`super::solve`], and if the loss bends.
pub fn coordinate_descent(
    programme: &SparseProgramme<'_>,
    options: &SparseOptions,
    watch: &dyn Monitor,
) -> Result<SparseSolution, SolveError> {
    let terms = Terms::new(programme)?;
    let Some(steepest) = terms.steepest() else {
        let what =
            "coordinate descent needs a smooth loss; use column generation or the interior point method for this one";
        return Err(SolveError::Programme(what.to_owned()));
    };
    programme.columns.finite()?;
    let heaviest = terms.w.iter().fold(0.0, |most: f64, w| w.max(most));
    let mut descent = Descent {
        programme,
        terms: &terms,
        alpha: terms.start.map_or_else(|| vec![0.0; programme.columns.shape().1], <[f64]>::to_vec),
        offset: 0.0,
        passes: 0,
    };
    let matrix = programme.columns.whole();
    let m = descent.alpha.len();
    let spreads = spreads(&matrix, m, &terms);
    let mut alive = vec![true; m];
    let (mut least, mut stalled) = (f64::INFINITY, 0);
    let limit = if options.max_iterations == 0 { DEFAULT_MAX_PASSES } else { options.max_iterations };
    loop {
        // where it stands: scores with the best b, prices, gap
        let mut scores = descent.plain_scores();
        let (offset, slopes) = best_offset(&terms, &scores);
        descent.offset = offset;
        scores.iter_mut().for_each(|f| *f += offset);
        let slopes = balanced(&terms, &slopes);
        let prices = programme.columns.prices(&terms.spread(&slopes))?;
        let objective = terms.losses(&scores) + terms.lambda * size(&descent.alpha);
        let largest = most(&prices);
        let (beta, dual) = drawn(&terms, slopes, largest);
        let gap = objective - dual;
        stalled = if gap < 0.9 * least { 0 } else { stalled + 1 };
        least = least.min(gap);
        let progress = Progress::new(Phase::new("coordinate descent"), descent.passes).gap(gap);
        let status = match watch.step(&progress) {
            ControlFlow::Break(stop) => Some(stop.into()),
            ControlFlow::Continue(()) if gap <= enough(&terms, options.tolerance, objective) => Some(Status::Converged),
            ControlFlow::Continue(()) if descent.passes >= limit || stalled > MAX_STALLED_SCANS => {
                Some(Status::IterationLimit)
            }
            ControlFlow::Continue(()) => None,
        };
        if let Some(status) = status {
            let which: Vec<usize> = (0..m).collect();
            let mut solution = assemble(programme, &terms, (&which, &descent.alpha, offset), (&beta, dual));
            (solution.iterations, solution.status) = (descent.passes, status);
            if status == Status::IterationLimit {
                let left = solution.gap();
                solution.notes.push(format!("the duality gap is {left:.1e}; what is left to gain is at most that"));
            }
            return Ok(solution);
        }
        // gap safe: γ = 1 / (steepest · heaviest weight) is the least curvature of the dual
        let drawn_by = (terms.lambda / largest).min(1.0);
        let radius = (2.0 * gap.max(0.0) * steepest * heaviest).sqrt();
        for j in 0..m {
            if alive[j] && prices[j].abs() * drawn_by + spreads[j] * radius < terms.lambda {
                alive[j] = false;
                descent.alpha[j] = 0.0;
            }
        }
        let mut which: Vec<usize> = (0..m).filter(|&j| descent.alpha[j] != 0.0).collect();
        let mut order: Vec<usize> =
            (0..m).filter(|&j| alive[j] && descent.alpha[j] == 0.0 && prices[j].abs() > terms.lambda).collect();
        let sizes: Vec<f64> = prices.iter().map(|price| price.abs()).collect();
        crate::order::falling(&mut order, &sizes);
        order.truncate(which.len().max(MIN_JOINING_COLUMNS));
        which.extend(order);
        which.sort_unstable();
        descent.on(&which, 0.1 * options.tolerance * terms.lambda, limit);
    }
}

struct Descent<'a> {
    programme: &'a SparseProgramme<'a>,
    terms: &'a Terms<'a>,
    alpha: Vec<f64>,
    offset: f64,
    passes: usize,
}

impl Descent<'_> {
    /// Kα of the examples that count.
    fn plain_scores(&self) -> Vec<f64> {
        let which: Vec<usize> = (0..self.alpha.len()).filter(|&j| self.alpha[j] != 0.0).collect();
        let values: Vec<f64> = which.iter().map(|&j| self.alpha[j]).collect();
        let x = Working::new(&self.programme.columns.gather(&which), which.len(), &self.terms.rows, false);
        x.scores(&values)
    }

    /// Goes down on some columns, model after model.
    fn on(&mut self, which: &[usize], small: f64, limit: usize) {
        let (terms, s) = (self.terms, which.len());
        let x = Working::new(&self.programme.columns.gather(which), s, &terms.rows, terms.bias);
        let mut a: Vec<f64> = which.iter().map(|&j| self.alpha[j]).collect();
        if terms.bias {
            a.push(self.offset);
        }
        let mut scores = x.scores(&a);
        for _ in 0..MAX_MODELS {
            let slopes: Vec<f64> = (0..terms.len()).map(|i| terms.slopes(i, scores[i]).0).collect();
            let mut model = Model::new(&x, terms, &scores, x.prices(&slopes));
            if model.violation(&a) <= small {
                break;
            }
            let before = a.clone();
            self.passes += model.descend(&mut a, 0.1 * small, limit.saturating_sub(self.passes));
            let step: Vec<f64> = a.iter().zip(&before).map(|(a, b)| a - b).collect();
            let moves = x.scores(&step);
            // halved until the programme itself agrees
            let value = |t: f64| {
                let f: Vec<f64> = scores.iter().zip(&moves).map(|(f, m)| f + t * m).collect();
                let at: f64 = (0..s).map(|j| (before[j] + t * step[j]).abs()).sum();
                terms.losses(&f) + terms.lambda * at
            };
            let here = value(0.0);
            let mut t = 1.0;
            while t > 1e-6 && value(t) > here {
                t *= 0.5;
            }
            if t <= 1e-6 {
                a = before;
                break;
            }
            if t < 1.0 {
                a = before.iter().zip(&step).map(|(b, s)| b + t * s).collect();
            }
            scores = x.scores(&a);
            if terms.loss == Loss::Squared || self.passes >= limit {
                break;
            }
        }
        which.iter().zip(&a).for_each(|(&j, a)| self.alpha[j] = *a);
        if terms.bias {
            self.offset = a[s];
        }
    }
}

/// The quadratic model on a few columns.
struct Model {
    /// Q, with b at the end where there is one.
    q: Vec<f64>,
    /// r = c − Q(a − a₀).
    r: Vec<f64>,
    width: usize,
    /// Columns with a penalty.
    columns: usize,
    lambda: f64,
}

impl Model {
    fn new(x: &Working, terms: &Terms<'_>, scores: &[f64], c: Vec<f64>) -> Self {
        let width = x.width();
        let floor = MIN_CURVATURE_SHARE * terms.steepest().unwrap_or(1.0);
        let mut scaled = x.values.clone();
        if width > 0 {
            for (i, line) in scaled.chunks_exact_mut(width).enumerate() {
                let root = terms.curvature(i, scores[i]).max(floor * terms.w[i]).sqrt();
                line.iter_mut().for_each(|x| *x *= root);
            }
        }
        Self { q: gram(&scaled, x.rows, width), r: c, width, columns: x.columns, lambda: terms.lambda }
    }

    /// Changes one coordinate.
    fn shift(&mut self, j: usize, by: f64) {
        let line = &self.q[j * self.width..(j + 1) * self.width];
        self.r.iter_mut().zip(line).for_each(|(r, q)| *r -= by * q);
    }

    /// The largest violation of the conditions of optimality.
    fn violation(&self, a: &[f64]) -> f64 {
        (0..self.width)
            .map(|j| match (j < self.columns, a[j]) {
                (false, _) => self.r[j].abs(),
                (true, 0.0) => (self.r[j].abs() - self.lambda).max(0.0),
                (true, a) => (self.r[j] - self.lambda * a.signum()).abs(),
            })
            .fold(0.0, f64::max)
    }

    /// Passes and settlings until no condition is violated by more than `small`; counts the passes.
    fn descend(&mut self, a: &mut [f64], small: f64, limit: usize) -> usize {
        let mut passes = 0;
        for _ in 0..SETTLINGS {
            for _ in 0..PASSES {
                passes += 1;
                for j in 0..self.width {
                    let own = self.q[j * self.width + j];
                    if own <= 0.0 {
                        continue;
                    }
                    let pull = self.r[j] + own * a[j];
                    let next = if j < self.columns { soft(pull, self.lambda) / own } else { pull / own };
                    if next != a[j] {
                        self.shift(j, next - a[j]);
                        a[j] = next;
                    }
                }
            }
            let before = self.violation(a);
            if before <= small || passes >= limit {
                break;
            }
            self.settle(a);
        }
        passes
    }

    /// Solves for the coefficients that are not zero with their signs, and goes as far as the first that would change it.
    fn settle(&mut self, a: &mut [f64]) {
        for _ in 0..self.width {
            let on: Vec<usize> = (0..self.width).filter(|&j| j >= self.columns || a[j] != 0.0).collect();
            let k = on.len();
            let mut matrix = Vec::with_capacity(k * k);
            for &i in &on {
                matrix.extend(on.iter().map(|&j| self.q[i * self.width + j]));
            }
            matrix.iter_mut().step_by(k + 1).for_each(|d| *d += 1e-13 * *d);
            let Ok(factor) = Cholesky::factor(matrix, k) else { return };
            let want = |j: usize| if j < self.columns { self.lambda * a[j].signum() } else { 0.0 };
            let mut step: Vec<f64> = on.iter().map(|&j| self.r[j] - want(j)).collect();
            factor.solve(&mut step, 1);
            if step.iter().any(|s| !s.is_finite()) {
                return;
            }
            // the first coefficient on the way to zero stops there
            let crossing = on.iter().zip(&step).filter(|(j, s)| **j < self.columns && **s * a[**j] < 0.0);
            let first = crossing.map(|(&j, s)| (-a[j] / s, j)).min_by(|x, y| x.0.total_cmp(&y.0));
            let (t, stop) = first.filter(|(t, _)| *t < 1.0).map_or((1.0, None), |(t, j)| (t, Some(j)));
            for (&j, s) in on.iter().zip(&step) {
                let next = if stop == Some(j) { 0.0 } else { a[j] + t * s };
                self.shift(j, next - a[j]);
                a[j] = next;
            }
            if stop.is_none() {
                return;
            }
        }
    }
}

fn soft(x: f64, by: f64) -> f64 {
    x.signum() * (x.abs() - by).max(0.0)
}

fn size(alpha: &[f64]) -> f64 {
    alpha.iter().map(|a| a.abs()).sum()
}

/// ‖K_j − mean‖ of every column over the examples that count; without a bias ‖K_j‖.
fn spreads(matrix: &[f64], m: usize, terms: &Terms<'_>) -> Vec<f64> {
    let x = Working::new(matrix, m, &terms.rows, false);
    let n = terms.len() as f64;
    let squares: Vec<f64> = x.values.iter().map(|v| v * v).collect();
    let ones = vec![1.0; terms.len()];
    let (sums, squares) = (transposed(&x.values, m, &ones), transposed(&squares, m, &ones));
    let centre = if terms.bias { 1.0 } else { 0.0 };
    // a little is added for what rounding in the subtraction may have taken
    sums.iter().zip(&squares).map(|(s, q)| ((q - centre * s * s / n).max(0.0) + 1e-12 * q).sqrt()).collect()
}
