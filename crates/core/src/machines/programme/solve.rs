//! The solver of each cell of the table of losses and penalties, and the objectives that prove its solution.
//!
//! | penalty | loss | solver |
//! |---|---|---|
//! | ½‖w‖², ½‖α‖² | squared, with an offset | one bordered system of linear equations |
//! | ½‖w‖² | logistic | Newton's method |
//! | ½‖w‖² | all others | sequential minimal optimisation of the dual |
//! | ½‖α‖² | all others | the same with the kernel K² |
//! | ‖α‖₁ | all | `solvers::sparse` |

use super::distinct::Distinct;
use super::{LossName, Programme};
use crate::gram::{Dense, Gram, apply, show_bytes};
use crate::linalg::SolveError;
use crate::linalg::{cholesky_bytes, gram_of_columns};
use crate::machines::support::{Sub, Subs, broke, solve};
use crate::machines::{FitError, Task};
use crate::parallel;
use crate::solvers::Penalty;
use crate::solvers::conjugate_gradient::not_finite;
use crate::solvers::dual::NormDual;
use crate::solvers::fisher::direct::{bordered, bordered_bytes};
use crate::solvers::fisher::shifted::mended;
use crate::solvers::fisher::{Aim, Quadratic};
use crate::solvers::logistic::{LogisticProblem, logistic};
use crate::solvers::smo::Equality;
use crate::solvers::sparse::{self, Columns, SparseOptions, SparseProgramme, SparseSolution};
use crate::watch::{Monitor, Status};
use std::sync::Arc;

const WHAT: &str = "a mathematical programme";
/// Largest number of λ that are tried for a ν.
const MAX_LAMBDAS: usize = 60;
/// Largest distance of the value from νΣw, as a share of it.
const VALUE_TOLERANCE: f64 = 1e-7;
/// Smallest factor by which a step may shrink λ.
const MIN_LAMBDA_FACTOR: f64 = 1e-12;
/// Largest duality gap, as a share of the value, with which a value is used.
const MAX_GAP_SHARE: f64 = 1e-3;
/// The finding where no λ has the value that ν asks for.
const NO_MARGIN: &str = "nu asks for a margin that is not there or cannot be found: it is near or below the share of examples \
                         that no function of this kernel gets right; raise nu";

/// A problem: several targets on the same examples.
#[derive(Clone, Copy)]
pub(super) struct Problem<'a> {
    pub(super) task: &'a Task<'a>,
    /// A number for each example, target by target.
    pub(super) targets: &'a [Vec<f64>],
    /// The weight of each example.
    pub(super) weights: &'a [f64],
    pub(super) watch: &'a dyn Monitor,
}

/// One target's solution.
pub(super) struct Solved {
    /// α of every example.
    pub(super) alpha: Vec<f64>,
    /// b.
    pub(super) offset: f64,
    /// Kα + b.
    pub(super) scores: Vec<f64>,
    /// Σ w ℓ + λ P; with ν the soft margin ρ − Σ wξ/νΣw.
    pub(super) objective: f64,
    /// Primal minus dual objective.
    pub(super) gap: f64,
    /// The largest violation of the optimality conditions, where a solver ends by that.
    pub(super) violation: Option<f64>,
    /// The residual of the equations relative to their right-hand sides, where equations are solved.
    pub(super) relative_residual: Option<f64>,
    /// ρ, the margin, where ν stands in the place of λ.
    pub(super) rho: Option<f64>,
    pub(super) iterations: usize,
    pub(super) status: Status,
}

/// The solutions of all targets, and the memory they took.
pub(super) struct Solutions {
    pub(super) solved: Vec<Solved>,
    pub(super) storage: String,
}

impl Programme {
    /// Solves for all targets.
    pub(super) fn solve(&self, problem: &Problem<'_>) -> Result<Solutions, FitError> {
        let weights = problem.weights;
        let counted: Vec<usize> = (0..weights.len()).filter(|&i| weights[i] > 0.0).collect();
        if counted.len() < weights.len() && !counted.is_empty() {
            return self.among(&counted, problem);
        }
        // a system of equations needs an offset to border it
        let linear = self.loss == LossName::Squared && self.bias;
        match (self.penalty, self.loss) {
            (Penalty::Sparse, _) => self.sparse(problem),
            _ if linear => self.linear(problem),
            (Penalty::Norm, LossName::Logistic) => self.newton(problem),
            (Penalty::Norm, _) => self.pairs(problem),
            (Penalty::Coefficients, _) => self.squared(problem),
        }
    }

    /// Solves among the examples with a positive weight; the others get the coefficient zero.
    fn among(&self, counted: &[usize], problem: &Problem<'_>) -> Result<Solutions, FitError> {
        let Problem { task, targets, weights, watch } = *problem;
        let part = |all: &[f64]| -> Vec<f64> { counted.iter().map(|&i| all[i]).collect() };
        let inner = inside(task, Arc::clone(&task.gram).restrict(counted, counted));
        let fewer: Vec<Vec<f64>> = targets.iter().map(|y| part(y)).collect();
        let mut found = self.solve(&Problem { task: &inner, targets: &fewer, weights: &part(weights), watch })?;
        for solved in &mut found.solved {
            let mut alpha = vec![0.0; weights.len()];
            counted.iter().zip(&solved.alpha).for_each(|(&i, a)| alpha[i] = *a);
            let mut scores = vec![0.0; weights.len()];
            apply(task.gram.as_ref(), &alpha, 1, &mut scores);
            scores.iter_mut().for_each(|f| *f += solved.offset);
            (solved.alpha, solved.scores) = (alpha, scores);
        }
        Ok(found)
    }

    /// K in memory, checked.
    fn stored(&self, task: &Task<'_>, extra: usize) -> Result<Dense<f64>, FitError> {
        let kept = task.budget.dense(&*task.gram, extra, WHAT)?;
        if kept.values().iter().any(|k| !k.is_finite()) {
            return Err(broke(self.name())(not_finite(&kept)));
        }
        Ok(kept)
    }

    /// Squared losses: one bordered system for all targets.
    fn linear(&self, problem: &Problem<'_>) -> Result<Solutions, FitError> {
        let Problem { task, targets, weights, watch } = *problem;
        let (n, k) = (task.len(), targets.len());
        let penalty = Quadratic::of(self.penalty).unwrap_or(Quadratic::Norm);
        let bytes = bordered_bytes(n, k, penalty, false);
        task.budget.check(bytes, WHAT)?;
        let y: Vec<f64> = (0..n).flat_map(|i| targets.iter().map(move |t| t[i])).collect();
        let aim = Aim { y: &y, outputs: k, weights, lambda: self.lambda, penalty };
        let direct = bordered(task.gram.as_ref(), &aim, watch).map(|solved| solved.found);
        let found = mended(direct, task.gram.as_ref(), &aim, watch).map_err(broke(self.name()))?;
        let column = |x: &[f64], c: usize| -> Vec<f64> { x.iter().skip(c).step_by(k).copied().collect() };
        let solved = (0..k).map(|c| Solved {
            alpha: column(&found.alpha, c),
            offset: found.offsets[c],
            scores: column(&found.scores, c),
            objective: found.objectives[c],
            gap: found.gaps.as_ref().map_or(f64::NAN, |g| g[c]),
            violation: None,
            relative_residual: Some(found.relative_residual),
            rho: None,
            iterations: 0,
            status: found.status(),
        });
        let storage = format!("kernel matrix stored in f64, {}", show_bytes(bytes));
        Ok(Solutions { solved: solved.collect(), storage })
    }

    /// Logistic losses: Newton's method for each target.
    fn newton(&self, problem: &Problem<'_>) -> Result<Solutions, FitError> {
        let Problem { task, targets, weights, watch } = *problem;
        let n = task.len();
        let kept = self.stored(task, 8 * n * n + cholesky_bytes(n))?;
        let one = |y: &Vec<f64>| {
            let problem = LogisticProblem { gram: &kept, y, weights, lambda: self.lambda, bias: self.bias };
            // half the Newton decrement bounds the distance from the optimum
            let found = logistic(&problem, self.effort.tolerance * 1e-3, watch)?;
            let mut solved = self.conclude(&kept, y, weights, found.alpha, found.offset);
            (solved.iterations, solved.status) = (found.iterations, found.status);
            Ok(solved)
        };
        let solved = each(targets, one).map_err(broke(self.name()))?;
        Ok(Solutions { solved, storage: format!("kernel matrix stored in f64, twice {}", show_bytes(8 * n * n)) })
    }

    /// All other losses with ½‖w‖²: with α = β/λ the dual is min ½αᵀ(K + λR)α − yᵀα + e Σ|α| between the bounds divided by λ.
    fn pairs(&self, problem: &Problem<'_>) -> Result<Solutions, FitError> {
        let Problem { task, targets, weights, watch } = *problem;
        let (n, loss, lambda) = (task.len(), self.loss(), self.lambda);
        let make = |t: usize| {
            let y = &targets[t];
            let conjugates = || y.iter().zip(weights).map(|(&y, &w)| (loss.conjugate(y), w));
            let bound = |reach: f64, w: f64| reach * w / lambda;
            let ridge: Vec<f64> = conjugates().map(|(c, w)| c.map_or(0.0, |c| c.ridge * lambda / w)).collect();
            Sub {
                columns: vec![0..n],
                lower: conjugates().map(|(c, w)| c.map_or(0.0, |c| bound(c.lower, w))).collect(),
                upper: conjugates().map(|(c, w)| c.map_or(0.0, |c| bound(c.upper, w))).collect(),
                linear: y.clone(),
                epsilon: loss.conjugate(1.0).map_or(0.0, |c| c.bend),
                ridge: ridge.iter().any(|&r| r > 0.0).then_some(ridge),
                equality: if self.bias { Equality::Sum } else { Equality::None },
                start: None,
                folds: None,
            }
        };
        let subs = Subs { sizes: vec![n; targets.len()], make: &make };
        let solutions = solve(&task.gram, &subs, &self.effort, task, watch).map_err(broke(self.name()))?;
        let solved = targets.iter().zip(solutions).map(|(y, s)| {
            let mut solved = self.conclude(task.gram.as_ref(), y, weights, s.beta, s.offsets[0]);
            (solved.iterations, solved.status, solved.violation) = (s.iterations, s.status, Some(s.violation));
            solved
        });
        Ok(Solutions { solved: solved.collect(), storage: "rows in f32, some of them kept".to_owned() })
    }

    /// ½‖α‖²: the examples' rows of K are their features, so the kernel is K², and α = Kβ/λ.
    fn squared(&self, problem: &Problem<'_>) -> Result<Solutions, FitError> {
        let Problem { task, targets, weights, watch } = *problem;
        let n = task.len();
        let kept = self.stored(task, 16 * n * n + cholesky_bytes(n))?;
        let square = gram_of_columns(kept.values(), n, n);
        let Some(square) = Dense::new(square, n, n) else { return Err(self.wrong("the matrix is not square")) };
        let square: Arc<dyn Gram> = Arc::new(square);
        let inner = inside(task, square);
        let norm = Self { penalty: Penalty::Norm, ..self.clone() };
        let mut found = norm.solve(&Problem { task: &inner, targets, weights, watch })?;
        for solved in &mut found.solved {
            let mut alpha = vec![0.0; n];
            apply(&kept, &solved.alpha, 1, &mut alpha);
            solved.alpha = alpha;
        }
        found.storage = format!("kernel matrix and its square stored in f64, twice {}", show_bytes(8 * n * n));
        Ok(found)
    }

    /// ‖α‖₁.
    fn sparse(&self, problem: &Problem<'_>) -> Result<Solutions, FitError> {
        let Problem { task, targets, weights, watch } = *problem;
        let n = task.len();
        // where there is no room for K, its columns are computed when they are asked for
        let kept = match self.stored(task, 8 * n * 128) {
            Err(FitError::Budget(_)) => None,
            stored => Some(stored?),
        };
        let columns = match &kept {
            Some(kept) => Columns::Stored { matrix: kept.values(), columns: n },
            None => Columns::Streamed(task.gram.as_ref()),
        };
        let options = SparseOptions {
            tolerance: self.effort.tolerance * 1e-3,
            max_iterations: self.effort.max_iterations,
            seed: task.seed,
        };
        let common = SparseProgramme {
            columns,
            y: &[],
            weights: Some(weights),
            loss: self.loss(),
            lambda: self.lambda,
            bias: self.bias,
            start: None,
        };
        let copies = kept.as_ref().map(|k| Distinct::new(k.values(), n)).filter(|d| d.first.len() < n);
        let solve = |programme: &SparseProgramme<'_>, mass: f64| {
            if self.cell.by_nu {
                self.boost(programme, mass, &options, watch)
            } else {
                sparse::solve(programme, &options, watch)
            }
        };
        let mass: f64 = weights.iter().sum();
        let one = |y: &Vec<f64>| {
            let mut found = match (&copies, &kept) {
                (Some(distinct), Some(kept)) => {
                    // one column for each point, one row for each point with each of its targets
                    let (row_of, rows) = distinct.rows(y, weights);
                    let m = distinct.first.len();
                    let value = |(r, c): (usize, usize)| kept.row(distinct.first[r])[distinct.first[c]];
                    let matrix: Vec<f64> =
                        rows.iter().flat_map(|&(p, ..)| (0..m).map(move |c| (p, c))).map(value).collect();
                    let (y, weights): (Vec<f64>, Vec<f64>) = rows.iter().map(|&(_, y, w)| (y, w)).unzip();
                    let columns = Columns::Stored { matrix: &matrix, columns: m };
                    let few = SparseProgramme { columns, y: &y, weights: Some(&weights), ..common };
                    let mut found = solve(&few, mass)?;
                    let mut alpha = vec![0.0; n];
                    distinct.first.iter().zip(&found.alpha).for_each(|(&i, a)| alpha[i] = *a);
                    found.scores = row_of.iter().map(|&r| found.scores[r]).collect();
                    found.alpha = alpha;
                    found
                }
                _ => solve(&SparseProgramme { y, ..common }, mass)?,
            };
            let (mut gap, mut rho) = (found.gap(), None);
            let size: f64 = found.alpha.iter().map(|a| a.abs()).sum();
            if self.cell.by_nu && size > 0.0 {
                // ‖α‖₁ = 1, which makes the margin ρ = 1/‖α‖₁ and divides all ξ by ‖α‖₁
                let short = |((f, y), w): ((&f64, &f64), &f64)| w * (1.0 - y * f).max(0.0);
                let shortfall: f64 = found.scores.iter().zip(y).zip(weights).map(short).sum();
                let all = self.nu * mass;
                (found.objective, gap, rho) = ((1.0 - shortfall / all) / size, gap / (size * all), Some(1.0 / size));
                found.alpha.iter_mut().chain(&mut found.scores).for_each(|x| *x /= size);
                found.offset /= size;
            }
            Ok(Solved {
                alpha: found.alpha,
                offset: found.offset,
                scores: found.scores,
                objective: found.objective,
                gap,
                violation: None,
                relative_residual: None,
                rho,
                iterations: found.iterations,
                status: found.status,
            })
        };
        let solved = each(targets, one).map_err(broke(self.name()))?;
        let storage = match kept {
            Some(_) => format!("kernel matrix stored in f64, {}", show_bytes(8 * n * n)),
            None => "columns of the kernel matrix where they are needed".to_owned(),
        };
        Ok(Solutions { solved, storage })
    }

    /// The λ at which the value of the programme is ν Σw. The value is concave and rises with slope ‖α‖₁, so that from below
    /// the tangent never overshoots, and the steps of Newton end.
    fn boost(
        &self,
        programme: &SparseProgramme<'_>,
        mass: f64,
        options: &SparseOptions,
        watch: &dyn Monitor,
    ) -> Result<SparseSolution, SolveError> {
        let wanted = self.nu * mass;
        // without any coefficient the value is Σw, or twice the lighter class where an offset gets the other right
        let side = |sign: f64| {
            let own = programme.y.iter().zip(programme.weights.unwrap_or(&[])).filter(|(y, _)| **y == sign);
            own.map(|(_, w)| w).sum::<f64>()
        };
        let most = if self.bias { 2.0 * side(1.0).min(side(-1.0)) } else { mass };
        if wanted > most {
            let finding = format!(
                "nu = {} is more than {:.3}, the most that two classes of these sizes allow beside an offset; lower nu, or \
                 set bias = false",
                self.nu,
                most / mass
            );
            return Err(SolveError::Programme(finding));
        }
        let largest = sparse::lambda_max(programme)?;
        if largest <= 0.0 {
            let finding = "no kernel function tells the classes apart: to this kernel all examples look alike; give columns that differ, or \
                           another kernel";
            return Err(SolveError::Programme(finding.to_owned()));
        }
        let mut lambda = self.nu * largest;
        let mut iterations = 0;
        let mut last: Option<SparseSolution> = None;
        for _ in 0..MAX_LAMBDAS {
            let start = last.as_ref().map(|s| s.alpha.as_slice());
            let mut found = sparse::solve(&SparseProgramme { lambda, start, ..*programme }, options, watch)?;
            iterations += found.iterations;
            found.iterations = iterations;
            let (size, short) = (found.alpha.iter().map(|a| a.abs()).sum::<f64>(), wanted - found.objective);
            if matches!(found.status, Status::Interrupted | Status::TimeLimit) {
                return Ok(found);
            }
            if found.gap() > MAX_GAP_SHARE * found.objective {
                return Err(SolveError::Programme(NO_MARGIN.to_owned()));
            }
            // the value is known up to the duality gap, and cannot be met more closely
            if short.abs() <= (VALUE_TOLERANCE * wanted).max(found.gap()) {
                return Ok(found);
            }
            // Newton's step on the tangent; where all coefficients are zero the value is constant, and λ is halved
            let next = if size > 0.0 { lambda + short / size } else { 0.5 * lambda };
            let next = if next > 0.0 { next } else { 0.1 * lambda };
            if next < lambda * MIN_LAMBDA_FACTOR || next < f64::MIN_POSITIVE {
                return Err(SolveError::Programme(NO_MARGIN.to_owned()));
            }
            (lambda, last) = (next, Some(found));
        }
        Err(SolveError::Programme(NO_MARGIN.to_owned()))
    }

    /// Scores and both objectives of ½‖w‖² from α: the primal one is Σ w ℓ + ½ λ αᵀKα, the dual one the best that is known.
    fn conclude(&self, gram: &dyn Gram, y: &[f64], weights: &[f64], alpha: Vec<f64>, offset: f64) -> Solved {
        let (loss, lambda) = (self.loss(), self.lambda);
        let mut scores = vec![0.0; y.len()];
        apply(gram, &alpha, 1, &mut scores);
        let norm: f64 = alpha.iter().zip(&scores).map(|(a, f)| a * f).sum();
        scores.iter_mut().for_each(|f| *f += offset);
        let losses: f64 = weights.iter().zip(y.iter().zip(&scores)).map(|(w, (y, f))| w * loss.value(*y, *f)).sum();
        let objective = losses + 0.5 * lambda * norm;
        let dual = NormDual { loss, y, weights, lambda, bias: self.bias }.best(gram, &alpha, norm, &scores);
        Solved {
            alpha,
            offset,
            scores,
            objective,
            gap: objective - dual,
            violation: None,
            relative_residual: None,
            rho: None,
            iterations: 0,
            status: Status::Converged,
        }
    }
}

/// A task with the same budget, seed and threads on another matrix.
pub(super) fn inside<'a>(task: &Task<'a>, gram: Arc<dyn Gram>) -> Task<'a> {
    Task { budget: task.budget, seed: task.seed, threads: task.threads, ..Task::new(gram) }
}

/// Solves for every target by itself, several in parallel.
fn each(
    targets: &[Vec<f64>],
    one: impl Fn(&Vec<f64>) -> Result<Solved, SolveError> + Sync + Send,
) -> Result<Vec<Solved>, SolveError> {
    match targets {
        // a single target has all threads for its factorisations
        [y] => Ok(vec![one(y)?]),
        several => parallel::map(several.len(), |i| one(&several[i])).into_iter().collect(),
    }
}
