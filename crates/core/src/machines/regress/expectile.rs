//! Kernel expectile regression.

use super::ridge::targets;
use crate::gram::show_bytes;
use crate::linalg::SolveError;
use crate::machines::{
    Coefficients, Expansion, FitError, Fitted, Learns, Machine, MachineEntry, Readout, SolverReport, Task, Theory,
    Traits,
};
use crate::params::{Params, Rule, Visit};
use crate::solvers::direct::solve_shifted;
use crate::sources::{NEWEY, Source};
use crate::watch::{Monitor, Phase, Progress, Status};
use std::cmp::Ordering;

/// Largest number of times that weights may change sides.
const MAX_CHANGES: usize = 100;

/// min ½ Σ |τ − 1[z_i < f(x_i)]| (z_i − f(x_i))² + ½ λ ‖f‖²
///
/// Least squares whose errors above the function cost τ and those below it 1 − τ: τ = ½ is ridge regression with twice the λ.
/// For given sides it is a weighted ridge regression, (K + λ W⁻¹) α = z, which is solved until no example changes its side;
/// that is then the minimum. There is no bias. The report's iterations count the solutions.
///
/// # Source
/// W. K. Newey & J. L. Powell (1987), §2, with a penalty on the norm.
///
/// # Use when
/// As `quantile`, where all errors are to count by their size and a smooth answer is wanted.
///
/// # Cost
/// A handful of Cholesky factorisations, n³/3 multiplications each, and n² numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectile {
    /// τ, the weight of errors above the function.
    pub tau: f64,
    /// λ.
    pub lambda: f64,
}

impl Default for Expectile {
    fn default() -> Self {
        Self { tau: 0.5, lambda: 1.0 }
    }
}

impl Params for Expectile {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.real("tau", &mut self.tau, Rule::Inside(0.0, 1.0), "weight τ of errors above the function, 1 − τ below");
        v.real("lambda", &mut self.lambda, Rule::Above(0.0), "weight of the penalty ½ λ ‖f‖²");
    }
}

impl Machine for Expectile {
    fn entry(&self) -> &'static MachineEntry {
        &ENTRY
    }

    fn traits(&self) -> Traits {
        Traits {
            regularised_by: &[("lambda", Ordering::Greater)],
            searched: "lambda=1e-4..10:log6",
            level: Some((self.tau, "expectile")),
            theory: Theory {
                loss: Err(
                    "its squares weigh errors by the side they are on, and the theorem has constants for even squares: see ridge",
                ),
                homogeneous: true,
                ..Theory::default()
            },
            without_offset: true,
            ..Traits::default()
        }
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let y = targets(ENTRY.name, task)?;
        let (n, outputs) = (task.len(), y.names.len());
        // the matrix, a copy that is factorised, and a handful of vectors
        let matrix = task.budget.dense(&*task.gram, 8 * n * (n + 140), "expectile regression")?.into_values();
        let broke = |error: SolveError| FitError::Solve { machine: ENTRY.name, error };
        let (mut alpha, mut solved, mut objective, mut status) = (vec![0.0; n * outputs], 0, 0.0, Status::Converged);
        for k in 0..outputs {
            let z: Vec<f64> = (0..n).map(|i| y.values[i * outputs + k]).collect();
            // everything above at first, as from a function that is zero far below
            let mut above: Vec<bool> = z.iter().map(|z| *z >= 0.0).collect();
            let (mut found, mut value) = (Vec::new(), 0.0);
            for round in 0..=MAX_CHANGES {
                watch
                    .alive(Progress::new(Phase::new("expectiles"), solved))
                    .map_err(|reason| broke(SolveError::Stopped { reason }))?;
                let weight = |i: usize| if above[i] { self.tau } else { 1.0 - self.tau };
                let mut shifted = matrix.clone();
                (0..n).for_each(|i| shifted[i * n + i] += self.lambda / weight(i) - self.lambda);
                found = solve_shifted(shifted, n, self.lambda, &z, 1).map_err(broke)?.alpha;
                solved += 1;
                // z − f = λ α / w at the solution
                let sides: Vec<bool> = found.iter().map(|a| *a >= 0.0).collect();
                value = (0..n).map(|i| 0.5 * self.lambda * found[i] * z[i]).sum::<f64>();
                if sides == above {
                    break;
                }
                above = sides;
                if round == MAX_CHANGES {
                    status = Status::IterationLimit;
                }
            }
            objective += value;
            (0..n).for_each(|i| alpha[i * outputs + k] = found[i]);
        }
        Ok(Fitted::new(
            Expansion {
                coefficients: Coefficients::Dual { points: (0..n).collect(), alpha },
                offsets: vec![0.0; outputs],
            },
            Readout::Values { names: y.names },
            SolverReport {
                status,
                iterations: solved,
                objective: Some(objective),
                support: Some(n),
                storage: format!("kernel matrix stored in f64, {}", show_bytes(8 * n * n)),
                ..SolverReport::direct()
            },
        ))
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: "expectile",
    aliases: &["expectile_regression"],
    summary: "least squares whose errors above and below the function cost differently",
    formula: "min ½ Σ |τ − 1[zᵢ < f(xᵢ)]| (zᵢ − f(xᵢ))² + ½ λ ‖f‖²",
    learns: Learns::Numbers,
    source: Source::new(&NEWEY, "§2"),
    use_when: "errors above and below are to count differently, all of them by their size",
    cost: "A handful of Cholesky factorisations, n³/3 multiplications each, and n² numbers.",
    make: || Box::new(Expectile::default()),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::{Dataset, Fit, Ridge, Rows, Seed, Target, rbf};

    fn data(n: usize) -> (Dataset, Vec<f64>) {
        let mut random = Seed(6).stream("expectile");
        let x: Vec<f64> = (0..n).map(|i| 6.0 * i as f64 / n as f64).collect();
        let y: Vec<f64> = x.iter().map(|x| x.sin() + 0.4 * random.normal()).collect();
        (Dataset::new(Rows::new(x, n, 1).unwrap()).with_target(Target::from(y.clone())).unwrap(), y)
    }

    #[test]
    fn the_middle_one_is_ridge_regression() {
        let (data, _) = data(80);
        let ours = Expectile { tau: 0.5, lambda: 0.3 }.fit(&rbf(0.5), &data).unwrap();
        let ridge = Ridge { lambda: 0.6.into(), ..Ridge::default() }.fit(&rbf(0.5), &data).unwrap();
        for (a, b) in ours.scores(&data).unwrap().iter().zip(ridge.scores(&data).unwrap()) {
            assert!((a - b).abs() < 1e-9, "{a} {b}");
        }
    }

    #[test]
    fn the_objective_of_several_targets_is_the_sum_of_theirs() {
        let (data, y) = data(60);
        let rows = data.views()[0].clone();
        let crate::data::Values::Dense(rows) = rows.values else { panic!() };
        let alone = |of: &dyn Fn(f64) -> f64| {
            let target = Target::from(y.iter().map(|y| of(*y)).collect::<Vec<f64>>());
            let data = Dataset::new(Rows::new(rows.values().to_vec(), 60, 1).unwrap()).with_target(target).unwrap();
            Expectile { tau: 0.2, lambda: 0.5 }.fit(&rbf(0.5), &data).unwrap().fitted.report.objective.unwrap()
        };
        let second = Target::from_numbers("b", y.iter().map(|y| 3.0 * y * y).collect());
        let target = Target::from_numbers("a", y.clone()).beside(second).unwrap();
        let data = Dataset::new(Rows::new(rows.values().to_vec(), 60, 1).unwrap()).with_target(target).unwrap();
        let whole = Expectile { tau: 0.2, lambda: 0.5 }.fit(&rbf(0.5), &data).unwrap().fitted.report.objective.unwrap();
        let sum = alone(&|y| y) + alone(&|y| 3.0 * y * y);
        assert!((whole - sum).abs() < 1e-9 * sum, "{whole} {sum}");
    }

    #[test]
    fn the_gradient_is_zero_and_higher_levels_lie_higher() {
        let (data, y) = data(80);
        let gram = rbf(0.5).gram(&data).unwrap();
        let mut k = vec![0.0; 6400];
        crate::gram::fill(gram.as_ref(), &mut k);
        let mut last: Option<f64> = None;
        for tau in [0.05, 0.3, 0.9] {
            let model = Expectile { tau, lambda: 0.3 }.fit(&rbf(0.5), &data).unwrap();
            assert_eq!(model.fitted.report.status, Status::Converged);
            let f = model.scores(&data).unwrap();
            let Coefficients::Dual { alpha, .. } = &model.fitted.expansion.coefficients else { unreachable!() };
            for i in 0..80 {
                // λ α = w (z − f) in every example
                let weight = if y[i] >= f[i] { tau } else { 1.0 - tau };
                assert!((0.3 * alpha[i] - weight * (y[i] - f[i])).abs() < 1e-9, "{tau} {i}");
            }
            let mean = f.iter().sum::<f64>() / 80.0;
            assert!(last.is_none_or(|l| mean > l));
            last = Some(mean);
        }
    }
}
