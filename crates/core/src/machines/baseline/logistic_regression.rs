//! Logistic regression by Newton's method.
//!
//! ```text
//! min over w, b  P = Σ_i v_i ln(1 + exp(−y_i f_i)) + ½ λ ‖w‖²,     f_i = ⟨w, x_i⟩ + b,  p_i = 1 / (1 + exp(y_i f_i))
//! gradient       −Σ_i v_i y_i p_i (x_i, 1) + λ (w, 0)
//! Hessian        Σ_i v_i p_i (1 − p_i) (x_i, 1)(x_i, 1)ᵀ + λ
//! ```
//! The step is halved until P falls. The end is where gᵀH⁻¹g, twice what a quadratic P could still lose, is small beside P;
//! that does not depend on the units of the coordinates.

use super::table::{ROUNDING, Table, means, shares};
use crate::calibrate::Calibration;
use crate::linalg::SolveError;
use crate::linalg::{Cholesky, dot, gram_of_columns, multiply_add, transposed_multiply};
use crate::machines::evidence::{Evidence, join};
use crate::machines::fitted::each;
use crate::machines::multiclass::{OneVsRest, Reduction, side_by_side};
use crate::machines::theory::{ConvexLoss, Cost, NOT_PENALISED, Theory};
use crate::machines::{
    Coefficients, Expansion, FitError, Fitted, Learns, Machine, MachineEntry, Reads, SolverReport, Task, Traits,
};
use crate::parallel;
use crate::params::{Params, Rule, Visit};
use crate::solvers::direct::finite;
use crate::sources::{HASTIE, Source};
use crate::watch::{Monitor, Phase, Progress, Status};
use std::cmp::Ordering;

const NAME: &str = "logistic_regression";
/// Largest number of halvings of a step.
const HALVINGS: usize = 40;
/// The shift of a Hessian relative to its diagonal, and how it grows where it cannot be factorised.
const SHIFT: (f64, f64) = (1e-13, 100.0);
/// Rows that one thread takes at a time.
const STRIP: usize = 256;

/// min Σ_i v_i ln(1 + exp(−y_i f(x_i))) + ½ λ ‖w‖², f(x) = ⟨w, x⟩ + b: one class against the rest
///
/// The bias is not penalised. λ = 0 penalises nothing; weights then have no limit where a plane separates the classes, which
/// is said in the advice. Scores are logarithms of odds. Several classes are one problem each, against all others. Weights
/// of examples are v. A method for comparisons, on the coordinates of the linear kernel; `linear_svc` with
/// `loss = logistic` is for many coordinates. The report's objective is summed over the problems.
///
/// # Source
/// Hastie, Tibshirani & Friedman (2009), §4.4.
///
/// # Use when
/// Another method is to be compared with the plain separating plane that gives odds.
///
/// # Cost
/// n d² and d³/3 for each of some ten steps, and d² numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct LogisticRegression {
    /// λ.
    pub lambda: f64,
    /// √(gᵀH⁻¹g / P) at the end.
    pub tolerance: f64,
    /// The most steps.
    pub max_iterations: usize,
}

impl Default for LogisticRegression {
    fn default() -> Self {
        Self { lambda: 1.0, tolerance: 1e-6, max_iterations: 100 }
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: NAME,
    aliases: &["logit"],
    summary: "the plane whose distance is the logarithm of the odds, one class against the rest; for comparisons",
    formula: "min Σᵢ vᵢ ln(1 + exp(−yᵢ f(xᵢ))) + ½ λ ‖w‖²",
    learns: Learns::Classes,
    source: Source::new(&HASTIE, "§4.4"),
    use_when: "another method is to be compared with the plain separating plane that gives odds",
    cost: "n d² and d³/3 for each of some ten steps, and d² numbers.",
    make: || Box::new(LogisticRegression::default()),
};

impl Params for LogisticRegression {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.real("lambda", &mut self.lambda, Rule::AtLeast(0.0), "weight of the penalty ½ λ ‖w‖², 0 for none");
        v.real(
            "tolerance",
            &mut self.tolerance,
            Rule::Above(0.0),
            "root of the relative loss still possible at the end",
        );
        v.count("max_iterations", &mut self.max_iterations, Rule::AtLeast(1.0), "most steps of Newton");
    }
}

impl Machine for LogisticRegression {
    fn entry(&self) -> &'static MachineEntry {
        &ENTRY
    }

    fn traits(&self) -> Traits {
        Traits {
            reads: Reads::Features,
            weights: true,
            regularised_by: &[("lambda", Ordering::Greater)],
            searched: "lambda=0.001..100:log6",
            theory: Theory {
                // Σ ln(1 + exp(−yf)) + ½λ‖w‖² is λ times ½‖w‖² + (1/λ) Σ ln(1 + exp(−yf))
                loss: if self.lambda > 0.0 {
                    let c = 1.0 / self.lambda;
                    Ok(ConvexLoss { c, cost: Cost::Logistic, free_offset: true, scale: self.lambda })
                } else {
                    Err(NOT_PENALISED)
                },
                ..Theory::default()
            },
            ..Traits::default()
        }
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let classes = task.classes(NAME)?;
        let table = Table::of(NAME, "linear_svc with loss = logistic", task, 2)?;
        let (n, d) = (table.n, table.d);
        let matrix = (d + 1).saturating_mul(d + 1).saturating_mul(16);
        task.budget.check(matrix, "the Hessian of logistic regression (linear_svc with loss = logistic has none)")?;
        table.check_weights(NAME, task.budget, classes.labels.len())?;
        // refuses weights that are all zero
        let equal = shares(NAME, task)?;
        let weights = task.weights.unwrap_or(&equal);
        // mean zero makes the bias nearly independent of the weights; it is put back at the end
        let means = means(&table.rows, d, &equal);
        let still: Vec<bool> = (0..d).map(|j| is_still(&table, j, means[j])).collect();
        let mut rows = vec![1.0; n * (d + 1)];
        parallel::strips(&mut rows, d + 1, |i, out| {
            for (j, x) in table.row(i).iter().enumerate() {
                out[j] = if still[j] { 0.0 } else { x - means[j] };
            }
        });
        let rest = OneVsRest::new(&classes);
        let found = side_by_side(&rest, |problem| {
            let problem = Problem { machine: self, rows: &rows, width: d + 1, signs: &problem.signs, weights };
            problem.solve(watch).map_err(|error| FitError::Solve { machine: NAME, error })
        })?;
        let problems = found.len();
        let used: Vec<f64> = (0..d * problems).map(|p| found[p % problems].weights[p / problems]).collect();
        let along = |f: &Plane| f.weights.iter().zip(&means).map(|(w, m)| w * m).sum::<f64>();
        let weights = table.spread(&used, problems);
        Ok(Fitted::new(
            Expansion {
                coefficients: Coefficients::Primal { weights, width: table.width, scale: 1.0 },
                offsets: found.iter().map(|f| f.weights[d] - along(f)).collect(),
            },
            rest.readout(),
            self.prove(&found),
        )
        // the odds of one class against all others are none of two classes
        .with_calibration((problems == 1).then(|| Calibration::of_log_odds(1))))
    }
}

impl LogisticRegression {
    fn prove(&self, found: &[Plane]) -> SolverReport {
        let evidence: Vec<Evidence> = found
            .iter()
            .map(|f| Evidence {
                objective: Some(f.objective),
                violation: Some(f.violation),
                ..Evidence::new(f.status, f.steps)
            })
            .collect();
        let separated = self.lambda == 0.0 && found.iter().any(|f| f.separated);
        let advice = "a plane separates the classes, so that the weights have no limit; give lambda above zero";
        SolverReport {
            iterations_of_each: each(found.iter().map(|f| f.steps)),
            storage: "explicit features, no kernel matrix".to_owned(),
            advice: if separated { vec![advice.to_owned()] } else { Vec::new() },
            ..join(&evidence)
        }
    }
}

/// True if a coordinate is constant, so that the bias stands for it.
fn is_still(table: &Table, j: usize, mean: f64) -> bool {
    let column = || table.rows.iter().skip(j).step_by(table.d);
    let spread = column().map(|x| (x - mean).abs()).fold(0.0, f64::max);
    spread <= ROUNDING * column().map(|x| x.abs()).fold(0.0, f64::max)
}

/// One class against the rest.
struct Problem<'a> {
    machine: &'a LogisticRegression,
    /// Coordinates and a last one.
    rows: &'a [f64],
    width: usize,
    signs: &'a [f64],
    weights: &'a [f64],
}

/// A solution: w and b, with its evidence.
struct Plane {
    weights: Vec<f64>,
    steps: usize,
    status: Status,
    objective: f64,
    /// √(gᵀH⁻¹g / P).
    violation: f64,
    /// True if every example is on its side.
    separated: bool,
}

impl Problem<'_> {
    fn solve(&self, watch: &dyn Monitor) -> Result<Plane, SolveError> {
        let mut weights = vec![0.0; self.width];
        let mut scores = vec![0.0; self.signs.len()];
        let mut objective = self.objective(&weights, &scores);
        let (mut steps, mut violation) = (0, f64::INFINITY);
        let status = loop {
            let progress = Progress::new(Phase::new("newton"), steps).gap(violation);
            if let Err(reason) = watch.alive(progress) {
                if steps == 0 {
                    return Err(SolveError::Stopped { reason });
                }
                break reason.into();
            }
            let (gradient, hessian) = self.derivatives(&weights, &scores);
            finite(&hessian, self.width)?;
            let mut step = gradient.clone();
            factor(&hessian, self.width)?.solve(&mut step, 1);
            let decrement = dot(&gradient, &step).max(0.0);
            violation = (decrement / objective.max(f64::MIN_POSITIVE)).sqrt();
            if !violation.is_finite() {
                return Err(SolveError::NotFinite { row: 1, column: 1 });
            }
            if violation <= self.machine.tolerance {
                break Status::Converged;
            }
            if steps >= self.machine.max_iterations {
                break Status::IterationLimit;
            }
            let along = self.scores(&step);
            let moved = |t: f64| -> (Vec<f64>, Vec<f64>) {
                let go = |from: &[f64], by: &[f64]| from.iter().zip(by).map(|(a, b)| a - t * b).collect();
                (go(&weights, &step), go(&scores, &along))
            };
            let mut length = 1.0;
            let mut better = None;
            for _ in 0..HALVINGS {
                let (w, f) = moved(length);
                let value = self.objective(&w, &f);
                // a quarter of what the tangent promises
                if value <= objective - 0.25 * length * decrement {
                    better = Some((w, f, value));
                    break;
                }
                length *= 0.5;
            }
            // rounding is all that is left
            let Some((w, f, value)) = better else { break Status::Converged };
            (weights, scores, objective) = (w, f, value);
            steps += 1;
        };
        let mut counted = (0..self.signs.len()).filter(|&i| self.weights[i] > 0.0);
        let separated = counted.all(|i| self.signs[i] * scores[i] > 0.0);
        Ok(Plane { weights, steps, status, objective, violation, separated })
    }

    /// ⟨w, x_i⟩ + b.
    fn scores(&self, weights: &[f64]) -> Vec<f64> {
        let mut scores = vec![0.0; self.signs.len()];
        parallel::strips_beside((&mut scores, STRIP), (self.rows, STRIP * self.width), |out, rows| {
            multiply_add(rows, out.len(), self.width, weights, 1, out);
        });
        scores
    }

    fn objective(&self, weights: &[f64], scores: &[f64]) -> f64 {
        let own = &weights[..self.width - 1];
        // ln(1 + exp(−z)) without overflow
        let loss = |z: f64| (-z.abs()).exp().ln_1p() + (-z).max(0.0);
        let sum: f64 = (0..scores.len()).map(|i| self.weights[i] * loss(self.signs[i] * scores[i])).sum();
        sum + 0.5 * self.machine.lambda * dot(own, own)
    }

    fn derivatives(&self, weights: &[f64], scores: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (n, width) = (scores.len(), self.width);
        let wrong = |i: usize| 1.0 / (1.0 + (self.signs[i] * scores[i]).exp());
        let slopes: Vec<f64> = (0..n).map(|i| -self.weights[i] * self.signs[i] * wrong(i)).collect();
        let mut gradient = transposed_multiply(self.rows, width, &slopes, 1);
        // 1 − p from its own exponential: p near one leaves no digits
        let right = |i: usize| 1.0 / (1.0 + (-self.signs[i] * scores[i]).exp());
        let roots: Vec<f64> = (0..n).map(|i| (self.weights[i] * wrong(i) * right(i)).sqrt()).collect();
        let scaled: Vec<f64> = self.rows.iter().enumerate().map(|(p, x)| x * roots[p / width]).collect();
        let mut hessian = gram_of_columns(&scaled, n, width);
        for j in 0..width - 1 {
            gradient[j] += self.machine.lambda * weights[j];
            hessian[j * width + j] += self.machine.lambda;
        }
        (gradient, hessian)
    }
}

/// The factor of a Hessian with a diagonal that is a little larger, which steps hardly feel; where coordinates depend on each
/// other it grows until there is one.
fn factor(hessian: &[f64], width: usize) -> Result<Cholesky, SolveError> {
    // from the first on: a pivot that is nothing but rounding would move weights that no score depends on
    let mut shift = SHIFT.0;
    loop {
        let mut shifted = hessian.to_vec();
        for j in 0..width {
            let own = &mut shifted[j * width + j];
            // a coordinate that is always zero has no slope either
            *own = if *own > 0.0 { *own * (1.0 + shift) } else { 1.0 };
        }
        match Cholesky::factor(shifted, width) {
            Ok(factor) => return Ok(factor),
            Err(failed) if shift > 1.0 => {
                let remedy = "increase lambda";
                return Err(SolveError::Pivot { index: failed.index + 1, value: failed.value, remedy });
            }
            Err(_) => shift *= SHIFT.1,
        }
    }
}

#[cfg(test)]
#[path = "logistic_regression_tests.rs"]
mod tests;
