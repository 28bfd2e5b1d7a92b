//! Crossover from a point inside the bounds to the solution itself: exact zeros, and the linear system that they leave.
//!
//! At the end of an interior point method a coefficient is either far from zero or its price is far from λ, and an example is
//! either at a bound of its β or its equation holds (strict complementarity). The ratio of the two numbers of a pair tells which one
//! vanishes; it is set to zero, and the others solve
//! ```text
//! K_FA α_A + 1b + φ′(β_F) = y_F − e sgn(β_F)      K_FAᵀβ_F = λ sgn(α_A) − K_BAᵀβ_B      1ᵀβ_F = −1ᵀβ_B
//! ```
//! for free examples F and the examples B at bounds. It need be neither square nor regular: the correction is found by the
//! regularised system of a step, repeated on the residual until it vanishes. The duality gap decides whether the result is taken.
//!
//! # Source
//! Ye (1992), On the finite convergence of interior-point algorithms for linear programming, Math. Program. 57: the solution from
//! the optimal partition; El-Bakry, Tapia & Zhang (1994), A study of indicators for identifying zero variables in interior-point
//! methods, SIAM Review 36; the conditions of optimality are those of `interior_point.rs`.

use super::certificate::{balanced, drawn, most};
use super::columns::{Working, products};
use super::interior_point::{Inner, enough};
use super::offset::best_offset;
use super::reduced::Reduced;
use super::terms::Terms;
use super::{SparseProgramme, SparseSolution};
use crate::linalg::SolveError;
use crate::solvers::Loss;
use crate::watch::Status;

/// Largest number of corrections.
const MAX_CORRECTIONS: usize = 16;
/// Curvature of a loss that has none at a point.
const FLAT_CURVATURE: f64 = 1e-6;

/// The end of the last master, and the columns it was made of.
pub(super) struct Ending<'a> {
    pub(super) x: &'a Working,
    pub(super) which: &'a [usize],
    pub(super) inner: Inner,
    pub(super) tolerance: f64,
}

/// α of the master's columns and b.
struct Primal {
    alpha: Vec<f64>,
    offset: f64,
    objective: f64,
}

/// The solution with exact zeros, certified on all columns. `prices` are Kᵀβ of the master's β, if they are known already.
pub(super) fn finish(
    programme: &SparseProgramme<'_>,
    terms: &Terms<'_>,
    ending: &Ending<'_>,
    prices: Option<&[f64]>,
) -> Result<SparseSolution, SolveError> {
    let Ending { x, which, inner, tolerance } = ending;
    let full = |beta: &[f64]| programme.columns.prices(&terms.spread(beta));
    let largest = match prices {
        Some(prices) => most(prices),
        None => most(&full(&inner.beta)?),
    };
    // a feasible dual point, whose objective bounds the optimum from below
    let (mut beta, mut dual) = drawn(terms, inner.beta.clone(), largest);
    let primal = |alpha: Vec<f64>, offset: Option<f64>| {
        let mut a = alpha.clone();
        a.resize(x.width(), 0.0);
        let mut scores = x.scores(&a);
        let offset = offset.unwrap_or_else(|| best_offset(terms, &scores).0);
        scores.iter_mut().for_each(|f| *f += offset);
        let objective = terms.losses(&scores) + terms.lambda * alpha.iter().map(|a| a.abs()).sum::<f64>();
        Primal { alpha, offset, objective }
    };
    // candidates: the linear system of the partition, zeros alone, and the point inside as it is
    let active = active(x, terms, inner);
    let mut candidates = Vec::new();
    if let Some((alpha, offset, refined)) = polish(x, terms, inner, &active) {
        let refined = balanced(terms, &refined);
        let largest = most(&full(&refined)?);
        let (refined, value) = drawn(terms, refined, largest);
        if value > dual {
            (beta, dual) = (refined, value);
        }
        candidates.push(primal(alpha, Some(offset)));
    }
    let mut zeroed = vec![0.0; x.columns];
    active.iter().for_each(|&j| zeroed[j] = inner.alpha[j]);
    candidates.push(primal(zeroed, None));
    candidates.push(primal(inner.alpha.clone(), Some(inner.offset)));
    let least = candidates.iter().fold(f64::INFINITY, |least, c| c.objective.min(least));
    let good = enough(terms, *tolerance, least);
    // the sparse candidates come first, and are taken if their gap is small enough
    let chosen = candidates.iter().find(|c| c.objective - dual <= good);
    let Some(chosen) = chosen.or_else(|| candidates.iter().find(|c| c.objective == least)) else {
        return Err(SolveError::Programme("the objective is not finite; rescale the data".to_owned()));
    };
    let mut solution = assemble(programme, terms, (which, &chosen.alpha, chosen.offset), (&beta, dual));
    solution.iterations = inner.iterations;
    solution.status = if solution.gap() <= enough(terms, *tolerance, solution.objective) {
        Status::Converged
    } else if inner.status == Status::Converged {
        Status::IterationLimit
    } else {
        inner.status
    };
    Ok(solution)
}

/// The solution α = 0 if it is optimal, and the prices Kᵀβ of all columns there.
pub(super) fn nothing(
    programme: &SparseProgramme<'_>,
    terms: &Terms<'_>,
    tolerance: f64,
) -> Result<(Option<SparseSolution>, Vec<f64>), SolveError> {
    let (offset, slopes) = best_offset(terms, &vec![0.0; terms.len()]);
    let slopes = balanced(terms, &slopes);
    let prices = programme.columns.prices(&terms.spread(&slopes))?;
    let objective = terms.losses(&vec![offset; terms.len()]);
    let (beta, dual) = drawn(terms, slopes, most(&prices));
    let optimal = objective - dual <= enough(terms, tolerance, objective);
    let solution = optimal.then(|| assemble(programme, terms, (&[], &[], offset), (&beta, dual)));
    Ok((solution, prices))
}

/// A master's solution from the system of its end, if that is optimal to the tolerance.
pub(super) fn sharpened(x: &Working, terms: &Terms<'_>, inner: &Inner, tolerance: f64) -> Option<Inner> {
    let (alpha, offset, beta) = polish(x, terms, inner, &active(x, terms, inner))?;
    let mut a = alpha.clone();
    if x.bias {
        a.push(offset);
    }
    let scores = x.scores(&a);
    let objective = terms.losses(&scores) + terms.lambda * alpha.iter().map(|a| a.abs()).sum::<f64>();
    let beta = balanced(terms, &beta);
    let largest = most(&x.prices(&beta)[..x.columns]);
    let (beta, dual) = drawn(terms, beta, largest);
    let good = objective - dual <= enough(terms, tolerance, objective);
    let (iterations, status) = (inner.iterations, Status::Converged);
    good.then_some(Inner { alpha, offset, scores, beta, objective, dual, iterations, status, sharp: true })
}

/// The solution on all columns, its scores and objective computed afresh.
pub(super) fn assemble(
    programme: &SparseProgramme<'_>,
    terms: &Terms<'_>,
    (which, alpha, offset): (&[usize], &[f64], f64),
    (beta, dual_objective): (&[f64], f64),
) -> SparseSolution {
    let (n, m) = programme.columns.shape();
    let (columns, values): (Vec<usize>, Vec<f64>) =
        which.iter().zip(alpha).filter(|(_, a)| **a != 0.0).map(|(j, a)| (*j, *a)).unzip();
    let mut scores = products(&programme.columns.gather(&columns), columns.len(), &values, n);
    scores.iter_mut().for_each(|f| *f += offset);
    let mut whole = vec![0.0; m];
    columns.iter().zip(&values).for_each(|(&j, a)| whole[j] = *a);
    let counted: Vec<f64> = terms.rows.iter().map(|&i| scores[i]).collect();
    let objective = terms.losses(&counted) + terms.lambda * values.iter().map(|a| a.abs()).sum::<f64>();
    SparseSolution {
        alpha: whole,
        offset,
        beta: terms.spread(beta),
        scores,
        objective,
        dual_objective,
        iterations: 0,
        status: Status::Converged,
        notes: Vec::new(),
    }
}

/// Columns whose coefficient is farther from zero than their price is from λ, each in its own units.
pub(super) fn active(x: &Working, terms: &Terms<'_>, inner: &Inner) -> Vec<usize> {
    let prices = x.prices(&inner.beta);
    let largest = most(&inner.alpha);
    let is = |j: &usize| {
        let (a, g) = (inner.alpha[*j], prices[*j]);
        a != 0.0 && a.abs() / largest > (terms.lambda - a.signum() * g).max(0.0) / terms.lambda
    };
    (0..x.columns).filter(is).collect()
}

/// The part of the partition that an example belongs to.
enum Regime {
    /// At a bound, or at zero inside a tube.
    Fixed(f64),
    /// Its equation holds, with this target.
    Free(f64),
}

/// Compares the slack of an example's bound with the residual of its equation, each relative to its scale.
fn regime(terms: &Terms<'_>, i: usize, f: f64, beta: f64, size: f64) -> Regime {
    let (c, y, w) = (terms.conjugate(i), terms.y[i], terms.w[i]);
    if terms.loss == Loss::Logistic {
        return Regime::Free(y);
    }
    let u = y - f;
    if c.bend > 0.0 {
        let (over, side) = (u.abs() - c.bend, u.signum());
        let slack = if over > 0.0 { w - beta * side } else { beta * side };
        return match over.abs() / size < slack / w {
            true => Regime::Free(y - side * c.bend),
            false if over > 0.0 => Regime::Fixed(side * w),
            false => Regime::Fixed(0.0),
        };
    }
    let over = u - c.ridge * beta;
    let (slack, bound) = if over > 0.0 { (c.upper - beta, c.upper) } else { (beta - c.lower, c.lower) };
    if over.abs() / size < slack / w { Regime::Free(y) } else { Regime::Fixed(bound) }
}

/// α of all master's columns, b and β from the system of active columns and free examples.
fn polish(x: &Working, terms: &Terms<'_>, inner: &Inner, active: &[usize]) -> Option<(Vec<f64>, f64, Vec<f64>)> {
    let (n, width) = (terms.len(), x.width());
    let errors = (0..n).map(|i| (terms.y[i] - inner.scores[i]).abs()).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    // the partition: examples B at a bound, and free examples F
    let mut beta = inner.beta.clone();
    let (mut free, mut targets) = (Vec::new(), Vec::new());
    for i in 0..n {
        match regime(terms, i, inner.scores[i], beta[i], errors) {
            Regime::Fixed(value) => beta[i] = value,
            Regime::Free(target) => {
                free.push(i);
                targets.push(target);
            }
        }
    }
    if free.is_empty() || active.is_empty() {
        return None;
    }
    let pick = |rows: &mut dyn Iterator<Item = usize>| {
        let mut out = Vec::new();
        for i in rows {
            out.extend(active.iter().map(|&j| x.values[i * width + j]));
        }
        out
    };
    let block = pick(&mut free.iter().copied());
    let part = Working::new(&block, active.len(), &(0..free.len()).collect::<Vec<_>>(), x.bias);
    // λ sgn(α) − K_Bᵀβ_B, and −1ᵀβ_B
    let mut held = beta.clone();
    free.iter().for_each(|&i| held[i] = 0.0);
    let by_held = x.prices(&held);
    let mut wanted: Vec<f64> = active.iter().map(|&j| terms.lambda * inner.alpha[j].signum() - by_held[j]).collect();
    let mut a: Vec<f64> = active.iter().map(|&j| inner.alpha[j]).collect();
    if x.bias {
        wanted.push(-by_held[x.columns]);
        a.push(inner.offset);
    }
    let mut v: Vec<f64> = free.iter().map(|&i| beta[i]).collect();
    let curved = |k: usize, v: f64| entropy(terms, free[k], v);
    // regularisation of the system, for losses and columns without curvature: iterated corrections remove its effect
    let soft: Vec<f64> =
        (0..free.len()).map(|k| curved(k, v[k]).1).map(|d| if d > 0.0 { d } else { FLAT_CURVATURE }).collect();
    let trace: f64 = part.values.iter().enumerate().map(|(p, x)| x * x / soft[p / part.width()]).sum();
    let stiff = vec![1e-13 * trace / part.width() as f64; active.len()];
    let system = Reduced::new(&part, stiff, soft)?;
    let left = |a: &[f64], v: &[f64]| {
        let (f, g) = (part.scores(a), part.prices(v));
        let q: Vec<f64> = (0..v.len()).map(|k| targets[k] - f[k] - curved(k, v[k]).0).collect();
        // the step's first block is −KᵀΔβ = p
        let p: Vec<f64> = g.iter().zip(&wanted).map(|(g, w)| g - w).collect();
        let size = most(&q) / errors + most(&p) / terms.lambda;
        (p, q, size)
    };
    // the regularisation makes residuals grow before they vanish, so the iterate with the smallest one is kept
    let (mut p, mut q, mut least) = left(&a, &v);
    let (mut at, mut worse) = ((a.clone(), v.clone()), 0);
    for _ in 0..MAX_CORRECTIONS {
        let step = system.solve(&p, &q);
        at.0.iter_mut().zip(&step.a).for_each(|(a, s)| *a += s);
        at.1.iter_mut().zip(&step.beta).for_each(|(v, s)| *v += s);
        let size;
        (p, q, size) = left(&at.0, &at.1);
        worse = if size < 0.5 * least { 0 } else { worse + 1 };
        if size < least {
            least = size;
            (a, v) = at.clone();
        }
        if least < 1e-15 || worse > 3 || !size.is_finite() {
            break;
        }
    }
    let mut alpha = vec![0.0; x.columns];
    for (&j, value) in active.iter().zip(&a) {
        // a coefficient that changed its sign contradicts the partition and is zero
        if value.signum() == inner.alpha[j].signum() {
            alpha[j] = *value;
        }
    }
    free.iter().zip(&v).for_each(|(&i, v)| beta[i] = *v);
    Some((alpha, if x.bias { a[active.len()] } else { 0.0 }, beta))
}

/// φ′ and φ″ of β.
fn entropy(terms: &Terms<'_>, i: usize, v: f64) -> (f64, f64) {
    if terms.loss != Loss::Logistic {
        let ridge = terms.conjugate(i).ridge;
        return (ridge * v, ridge);
    }
    let (y, w) = (terms.y[i], terms.w[i]);
    let a = (y * v / w).clamp(1e-300, 1.0 - 1e-16);
    (y * (1.0 + a.ln() - (-a).ln_1p()), 1.0 / (w * a * (1.0 - a)))
}
