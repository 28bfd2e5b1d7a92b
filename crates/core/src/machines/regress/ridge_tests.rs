//! Ridge regression against hand-written loops, retraining, and itself with other solvers.

use super::*;
use crate::data::{Rows, Target};
use crate::gram::Budget;
use crate::seed::Seed;
use crate::watch::{Silent, Stop};
use std::ops::ControlFlow;
use std::sync::Arc;

const ROOMY: Budget = Budget { memory: 1 << 30 };

struct Problem {
    x: Rows<f64>,
    k: Vec<f64>,
    y: Vec<f64>,
    n: usize,
    scale: Option<f64>,
    outputs: usize,
}

fn points(n: usize, d: usize, seed: u64) -> Rows<f64> {
    let mut random = Seed(seed).stream("points");
    Rows::new((0..n * d).map(|_| random.normal()).collect(), n, d).unwrap()
}

fn problem(n: usize, d: usize, outputs: usize, scale: Option<f64>) -> Problem {
    let x = points(n, d, 1 + n as u64);
    let k = (0..n * n)
        .map(|p| {
            let (a, b) = (x.row(p / n), x.row(p % n));
            match scale {
                Some(s) => s * a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>(),
                None => (-0.5 * a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>()).exp(),
            }
        })
        .collect();
    let mut random = Seed(2).stream("targets");
    let value = |p: usize| (x.row(p / outputs)[0] * (1.0 + (p % outputs) as f64)).sin() + 0.2 * random.normal();
    let y = (0..n * outputs).map(value).collect();
    Problem { x, k, y, n, scale, outputs }
}

impl Problem {
    fn target(&self) -> Target {
        let column = |c: usize| {
            let values = self.y.iter().skip(c).step_by(self.outputs).copied().collect();
            Target::from_numbers(&format!("y{c}"), values)
        };
        (1..self.outputs).fold(column(0), |all, c| all.beside(column(c)).unwrap())
    }

    fn fit(&self, ridge: &Ridge, budget: Budget) -> Result<Fitted, FitError> {
        self.watched(ridge, budget, &Silent)
    }

    fn watched(&self, ridge: &Ridge, budget: Budget, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let target = self.target();
        let task = Task {
            features: self.scale.map(|scale| Features { rows: self.x.clone().into(), scale }),
            target: Some(&target),
            budget,
            ..Task::new(Arc::new(Dense::new(self.k.clone(), self.n, self.n).unwrap()))
        };
        ridge.run(&task, watch)
    }

    /// The same problem without one example.
    fn without(&self, i: usize) -> Self {
        let keep: Vec<usize> = (0..self.n).filter(|&j| j != i).collect();
        let k = keep.iter().flat_map(|&a| keep.iter().map(move |&b| self.k[a * self.n + b])).collect();
        let y = keep.iter().flat_map(|&a| self.y[a * self.outputs..(a + 1) * self.outputs].to_vec()).collect();
        Self { x: self.x.select(&keep), k, y, n: self.n - 1, scale: self.scale, outputs: self.outputs }
    }

    /// f at example i of this problem, of a machine fitted to the examples `on`.
    fn score(&self, fitted: &Fitted, i: usize, on: &[usize]) -> Vec<f64> {
        let mut f = fitted.expansion.offsets.clone();
        match &fitted.expansion.coefficients {
            Coefficients::Dual { points, alpha } => {
                for (r, &p) in points.iter().enumerate() {
                    for c in 0..self.outputs {
                        f[c] += alpha[r * self.outputs + c] * self.k[i * self.n + on[p]];
                    }
                }
            }
            Coefficients::Primal { weights, width, scale } => {
                for j in 0..*width {
                    for c in 0..self.outputs {
                        f[c] += scale * weights[j * self.outputs + c] * self.x.row(i)[j];
                    }
                }
            }
            _ => unreachable!(),
        }
        f
    }

    /// Leave-one-out by retraining n times.
    fn retrained(&self, ridge: &Ridge) -> f64 {
        let mut sum = 0.0;
        for i in 0..self.n {
            let on: Vec<usize> = (0..self.n).filter(|&j| j != i).collect();
            let fitted = self.without(i).fit(ridge, ROOMY).unwrap();
            let f = self.score(&fitted, i, &on);
            sum += (0..self.outputs).map(|c| (self.y[i * self.outputs + c] - f[c]).powi(2)).sum::<f64>();
        }
        (sum / (self.n * self.outputs) as f64).sqrt()
    }
}

fn ridge(lambda: f64, solver: RidgeSolver) -> Ridge {
    Ridge { lambda: lambda.into(), solver, ..Ridge::default() }
}

fn note(fitted: &Fitted, name: &str) -> Option<f64> {
    fitted.report.notes.iter().find(|n| n.0 == name).map(|n| n.1)
}

fn dual(fitted: &Fitted) -> &[f64] {
    let Coefficients::Dual { alpha, .. } = &fitted.expansion.coefficients else { panic!("not dual") };
    alpha
}

#[test]
fn alpha_solves_the_system_on_every_dual_road() {
    let p = problem(70, 3, 2, None);
    for solver in [RidgeSolver::Auto, RidgeSolver::Cholesky, RidgeSolver::Eigen, RidgeSolver::Cg] {
        let mut machine = ridge(0.3, solver);
        machine.tolerance = 1e-12;
        let fitted = p.fit(&machine, ROOMY).unwrap();
        let alpha = dual(&fitted);
        let (mut fit, mut norm) = (0.0, 0.0);
        for i in 0..p.n {
            for c in 0..2 {
                let f: f64 = (0..p.n).map(|j| p.k[i * p.n + j] * alpha[j * 2 + c]).sum();
                assert!((f + 0.3 * alpha[i * 2 + c] - p.y[i * 2 + c]).abs() < 1e-10, "{solver:?}");
                fit += 0.5 * (p.y[i * 2 + c] - f).powi(2);
                norm += 0.5 * 0.3 * alpha[i * 2 + c] * f;
            }
        }
        assert!((fitted.report.objective.unwrap() - fit - norm).abs() < 1e-10);
        assert!(note(&fitted, "relative_residual").unwrap() < 1e-11);
        assert_eq!(note(&fitted, "lambda"), Some(0.3));
        assert_eq!(fitted.report.storage == "kernel matrix streamed", solver == RidgeSolver::Cg);
        assert_eq!(fitted.readout, Readout::Values { names: vec!["y0".into(), "y1".into()] });
    }
}

#[test]
fn primal_is_dual_on_linear_kernels() {
    let p = problem(60, 4, 2, Some(0.7));
    for lambda in [1e-3, 1.0, 50.0] {
        let dual = p.fit(&ridge(lambda, RidgeSolver::Cholesky), ROOMY).unwrap();
        let primal = p.fit(&ridge(lambda, RidgeSolver::Auto), ROOMY).unwrap();
        assert!(matches!(primal.expansion.coefficients, Coefficients::Primal { width: 4, .. }));
        let all: Vec<usize> = (0..p.n).collect();
        for i in 0..p.n {
            for (a, b) in p.score(&dual, i, &all).iter().zip(p.score(&primal, i, &all)) {
                assert!((a - b).abs() < 1e-9, "{lambda}: {a} {b}");
            }
        }
        let (a, b) = (dual.report.objective.unwrap(), primal.report.objective.unwrap());
        assert!((a - b).abs() < 1e-8 * a);
        assert!((note(&dual, "loo_rmse").unwrap() - note(&primal, "loo_rmse").unwrap()).abs() < 1e-8);
        assert!(note(&primal, "relative_residual").unwrap() < 1e-11);
    }
    // more features than examples: the dual is the smaller problem
    let wide = problem(10, 20, 1, Some(1.0)).fit(&Ridge::default(), ROOMY).unwrap();
    assert!(matches!(wide.expansion.coefficients, Coefficients::Dual { .. }));
}

#[test]
fn leave_one_out_is_retraining_n_times() {
    for (p, solvers) in [
        (problem(25, 2, 2, None), &[RidgeSolver::Cholesky, RidgeSolver::Eigen][..]),
        (problem(25, 3, 2, Some(1.3)), &[RidgeSolver::Cholesky, RidgeSolver::Eigen, RidgeSolver::Primal][..]),
    ] {
        for &solver in solvers {
            for lambda in [0.02, 1.0] {
                let machine = ridge(lambda, solver);
                let told = note(&p.fit(&machine, ROOMY).unwrap(), "loo_rmse").unwrap();
                let true_one = p.retrained(&machine);
                assert!((told - true_one).abs() < 1e-9, "{solver:?} {lambda}: {told} {true_one}");
            }
        }
    }
}

#[test]
fn several_outputs_are_each_alone() {
    let p = problem(40, 2, 3, None);
    let all = p.fit(&ridge(0.1, RidgeSolver::Cholesky), ROOMY).unwrap();
    for c in 0..3 {
        let y = p.y.iter().skip(c).step_by(3).copied().collect();
        let single = Problem { x: p.x.clone(), k: p.k.clone(), y, n: p.n, scale: None, outputs: 1 };
        let alone = single.fit(&ridge(0.1, RidgeSolver::Cholesky), ROOMY).unwrap();
        for i in 0..p.n {
            assert!((dual(&all)[i * 3 + c] - dual(&alone)[i]).abs() < 1e-11);
        }
    }
}

#[test]
fn a_penalty_for_each_target_is_a_fit_for_each() {
    // more different ones than are worth a factorisation each, and fewer
    for outputs in [3, 24] {
        for (scale, solvers) in [
            (None, &[RidgeSolver::Auto, RidgeSolver::Cholesky, RidgeSolver::Eigen, RidgeSolver::Cg][..]),
            (Some(0.8), &[RidgeSolver::Auto, RidgeSolver::Primal][..]),
        ] {
            let p = problem(40, 4, outputs, scale);
            let mut lambdas: Vec<f64> = (0..outputs).map(|c| 0.05 * 1.3_f64.powi(c as i32)).collect();
            lambdas[2] = lambdas[0];
            for &solver in solvers {
                let machine = Ridge { lambda: lambdas.clone().into(), tolerance: 1e-12, ..ridge(1.0, solver) };
                let all = p.fit(&machine, ROOMY).unwrap();
                let form = |f: &Fitted| matches!(f.expansion.coefficients, Coefficients::Primal { .. });
                assert_eq!(form(&all), scale.is_some(), "{solver:?}");
                let places: Vec<usize> = (0..p.n).collect();
                let (mut objective, mut left_out) = (0.0, 0.0);
                for (c, &lambda) in lambdas.iter().enumerate() {
                    let y = p.y.iter().skip(c).step_by(outputs).copied().collect();
                    let single = Problem { x: p.x.clone(), k: p.k.clone(), y, n: p.n, scale, outputs: 1 };
                    let alone = single.fit(&Ridge { tolerance: 1e-12, ..ridge(lambda, solver) }, ROOMY).unwrap();
                    for i in 0..p.n {
                        let (a, b) = (p.score(&all, i, &places)[c], single.score(&alone, i, &places)[0]);
                        assert!((a - b).abs() < 1e-8, "{outputs} {solver:?} {c}: {a} {b}");
                    }
                    objective += alone.report.objective.unwrap();
                    left_out += note(&alone, "loo_rmse").unwrap_or(f64::NAN).powi(2) / outputs as f64;
                    assert_eq!(note(&all, &format!("lambda_{}", c + 1)), Some(lambda));
                }
                assert!((all.report.objective.unwrap() - objective).abs() < 1e-8 * objective);
                match note(&all, "loo_rmse") {
                    Some(told) => assert!((told - left_out.sqrt()).abs() < 1e-8),
                    None => assert_eq!(solver, RidgeSolver::Cg),
                }
            }
        }
    }
    let p = problem(20, 2, 3, None);
    let two = Ridge { lambda: vec![1.0, 2.0].into(), ..Ridge::default() };
    let said = p.fit(&two, ROOMY).unwrap_err().to_string();
    assert!(said.contains("2 numbers for 3 targets"), "{said}");
}

#[test]
fn the_chosen_lambda_is_a_minimum_of_the_recomputed_curve() {
    for p in [problem(40, 2, 1, None), problem(40, 3, 2, Some(1.0))] {
        let machine = Ridge { lambda: AutoList::Word("loo"), ..Ridge::default() };
        let fitted = p.fit(&machine, ROOMY).unwrap();
        let (lambda, told) = (note(&fitted, "lambda").unwrap(), note(&fitted, "loo_rmse").unwrap());
        let gram = Dense::new(p.k.clone(), p.n, p.n).unwrap();
        let factors: Vec<f64> = (-120..=120).map(|i| 10.0_f64.powf(f64::from(i) / 30.0)).collect();
        let lambdas: Vec<f64> = factors.iter().map(|f| f * lambda).collect();
        let path = machine.loo_path(&gram, &p.y, p.outputs, &lambdas).unwrap();
        assert!((path[120].rmse - told).abs() < 1e-9);
        assert!(path.iter().all(|point| point.rmse > told * (1.0 - 1e-6)), "{lambda}");
        // and the curve is that of retraining, on both sides of the minimum
        for point in [&path[90], &path[120], &path[150]] {
            assert!((p.retrained(&ridge(point.lambda, RidgeSolver::Cholesky)) - point.rmse).abs() < 1e-9);
            assert_eq!(point.residuals.len(), p.n * p.outputs);
        }
        assert!(path[0].rmse > told && path[240].rmse > told);
    }
}

#[test]
fn a_matrix_that_does_not_fit_is_streamed_and_that_is_said() {
    let p = problem(80, 2, 1, None);
    let tight = Budget { memory: 1000 };
    let fitted = p.fit(&ridge(0.5, RidgeSolver::Auto), tight).unwrap();
    assert_eq!(fitted.report.storage, "kernel matrix streamed");
    assert!(fitted.report.iterations > 0 && fitted.report.status == Status::Converged);
    let stored = p.fit(&ridge(0.5, RidgeSolver::Auto), ROOMY).unwrap();
    for (a, b) in dual(&fitted).iter().zip(dual(&stored)) {
        assert!((a - b).abs() < 1e-6);
    }
    assert!(matches!(p.fit(&ridge(0.5, RidgeSolver::Cholesky), tight), Err(FitError::Budget(_))));
    let search = Ridge { lambda: AutoList::Word("loo"), ..Ridge::default() };
    assert!(matches!(p.fit(&search, tight), Err(FitError::Budget(_))));
    let mut few = ridge(1e-6, RidgeSolver::Cg);
    few.max_iterations = 2;
    assert_eq!(p.fit(&few, ROOMY).unwrap().report.status, Status::IterationLimit);
}

/// Stops everything at once.
struct Never;

impl Monitor for Never {
    fn step(&self, _: &Progress) -> ControlFlow<Stop> {
        ControlFlow::Break(Stop::Interrupted)
    }
}

#[test]
fn mistakes_are_named() {
    let p = problem(20, 2, 1, None);
    assert!(matches!(p.fit(&ridge(1.0, RidgeSolver::Primal), ROOMY), Err(FitError::Param { .. })));
    let search = Ridge { lambda: AutoList::Word("loo"), solver: RidgeSolver::Cholesky, ..Ridge::default() };
    assert!(matches!(p.fit(&search, ROOMY), Err(FitError::Param { .. })));
    let ones = Problem { k: vec![1.0; 400], ..problem(20, 2, 1, None) };
    let told = ones.fit(&ridge(1e-40, RidgeSolver::Cholesky), ROOMY).unwrap_err().to_string();
    assert!(told.contains("increase lambda"), "{told}");
    let odd = Problem { y: vec![f64::NAN; 20], ..problem(20, 2, 1, None) };
    assert!(matches!(odd.fit(&Ridge::default(), ROOMY), Err(FitError::Target { .. })));
    let stopped = p.watched(&Ridge::default(), ROOMY, &Never).unwrap_err();
    assert!(matches!(stopped, FitError::Solve { error: SolveError::Stopped { .. }, .. }));
}

#[test]
fn a_zero_kernel_gives_the_zero_function() {
    let zero = Problem { k: vec![0.0; 400], ..problem(20, 2, 1, None) };
    let fitted = zero.fit(&Ridge { lambda: AutoList::Word("loo"), ..Ridge::default() }, ROOMY).unwrap();
    let rms_of_y = (zero.y.iter().map(|y| y * y).sum::<f64>() / 20.0).sqrt();
    assert!((note(&fitted, "loo_rmse").unwrap() - rms_of_y).abs() < 1e-12);
}

#[test]
fn a_lambda_that_is_chosen_by_leaving_out_leaves_no_closed_form() {
    let p = problem(40, 2, 1, None);
    let gram: Arc<dyn Gram> = Arc::new(Dense::new(p.k.clone(), 40, 40).unwrap());
    let target = p.target();
    for held_out in [HeldOutRequest::LeaveOneOutScores, HeldOutRequest::LeaveOneOutModels] {
        let answered = |lambda: AutoList| {
            let task = Task { target: Some(&target), budget: ROOMY, held_out, ..Task::new(Arc::clone(&gram)) };
            Ridge { lambda, ..Ridge::default() }.run(&task, &Silent).unwrap().held_out.is_some()
        };
        assert!(answered(AutoList::Values(vec![0.1])) && !answered(AutoList::Word("loo")), "{held_out:?}");
    }
}
