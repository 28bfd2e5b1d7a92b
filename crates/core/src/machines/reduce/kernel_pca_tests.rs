//! Kernel PCA against ordinary PCA, against the formula written out, and one solver against the other.

use super::*;
use crate::gram::{Budget, Dense};
use crate::seed::Seed;
use crate::watch::Silent;
use std::ops::ControlFlow;
use std::sync::Arc;

const ROOMY: Budget = Budget { memory: 1 << 30 };

type Points = Vec<Vec<f64>>;

fn points(n: usize, d: usize) -> Points {
    let mut random = Seed(n as u64).stream("points");
    // stretched, turned a little and far from the origin
    let row = |random: &mut crate::seed::Random| {
        let z: Vec<f64> = (0..d).map(|j| random.normal() * (d - j) as f64).collect();
        (0..d).map(|j| 3.0 + z[j] + 0.3 * z[(j + 1) % d]).collect()
    };
    (0..n).map(|_| row(&mut random)).collect()
}

fn linear(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn gauss(a: &[f64], b: &[f64]) -> f64 {
    (-0.02 * a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>()).exp()
}

type Kernel = fn(&[f64], &[f64]) -> f64;

fn fit_on(k: Vec<f64>, machine: &KernelPca, budget: Budget, watch: &dyn Monitor) -> Result<Fitted, FitError> {
    let n = k.len().isqrt();
    let gram = Arc::new(Dense::new(k, n, n).unwrap());
    machine.run(&Task { budget, ..Task::new(gram) }, watch)
}

fn fit(x: &Points, kernel: Kernel, machine: &KernelPca, budget: Budget) -> Fitted {
    let k = x.iter().flat_map(|a| x.iter().map(move |b| kernel(a, b))).collect();
    fit_on(k, machine, budget, &Silent).unwrap()
}

fn project(fitted: &Fitted, x: &Points, kernel: Kernel, z: &[f64]) -> Vec<f64> {
    let Coefficients::Dual { points, alpha } = &fitted.expansion.coefficients else { panic!() };
    let mut out = fitted.expansion.offsets.clone();
    let width = out.len();
    for (r, &p) in points.iter().enumerate() {
        let value = kernel(&x[p], z);
        for j in 0..width {
            out[j] += alpha[r * width + j] * value;
        }
    }
    out
}

fn note(fitted: &Fitted, name: &str) -> f64 {
    fitted.report.notes.iter().find(|n| n.0 == name).unwrap().1
}

fn machine(components: usize, solver: PcaSolver) -> KernelPca {
    KernelPca { components, solver, tolerance: 1e-11, ..KernelPca::default() }
}

#[test]
fn the_linear_kernel_gives_ordinary_principal_components() {
    let (n, d) = (130, 4);
    let x = points(n, d);
    let mean: Vec<f64> = (0..d).map(|j| x.iter().map(|r| r[j]).sum::<f64>() / n as f64).collect();
    let mut covariance = vec![0.0; d * d];
    for r in &x {
        for i in 0..d {
            for j in 0..d {
                covariance[i * d + j] += (r[i] - mean[i]) * (r[j] - mean[j]) / n as f64;
            }
        }
    }
    let trace: f64 = (0..d).map(|i| covariance[i * d + i]).sum();
    let axes = symmetric_eigen(covariance, d).unwrap();
    for solver in [PcaSolver::Full, PcaSolver::Krylov] {
        let fitted = fit(&x, linear, &machine(3, solver), ROOMY);
        for z in x.iter().take(20).chain(&[vec![0.0; 4], vec![9.0, -2.0, 1.0, 5.0]]) {
            let found = project(&fitted, &x, linear, z);
            for j in 0..3 {
                let usual: f64 = (0..d).map(|i| (z[i] - mean[i]) * axes.vectors[i * d + j]).sum();
                assert!((found[j].abs() - usual.abs()).abs() < 1e-7, "{solver:?}: {} {usual}", found[j]);
            }
        }
        for j in 0..3 {
            assert!((note(&fitted, &format!("eigenvalue_{}", j + 1)) / n as f64 - axes.values[j]).abs() < 1e-8);
            assert!((note(&fitted, &format!("explained_{}", j + 1)) - axes.values[j] / trace).abs() < 1e-10);
        }
        assert_eq!(fitted.report.storage.contains("whole spectrum"), solver == PcaSolver::Full);
    }
}

#[test]
fn training_coordinates_have_the_variances_and_are_uncorrelated() {
    let n = 140;
    let x = points(n, 3);
    for solver in [PcaSolver::Full, PcaSolver::Krylov] {
        let fitted = fit(&x, gauss, &machine(5, solver), ROOMY);
        let all: Points = x.iter().map(|z| project(&fitted, &x, gauss, z)).collect();
        for a in 0..5 {
            assert!(all.iter().map(|r| r[a]).sum::<f64>().abs() < 1e-8, "centred");
            for b in 0..5 {
                let covariance = all.iter().map(|r| r[a] * r[b]).sum::<f64>() / n as f64;
                let wanted = if a == b { note(&fitted, &format!("eigenvalue_{}", a + 1)) / n as f64 } else { 0.0 };
                assert!((covariance - wanted).abs() < 1e-9, "{a} {b}");
            }
        }
    }
}

#[test]
fn new_points_are_projected_as_the_formula_says() {
    let n = 60;
    let x = points(n, 3);
    for centre in [true, false] {
        let chosen = KernelPca { centre, ..machine(3, PcaSolver::Auto) };
        let fitted = fit(&x, gauss, &chosen, ROOMY);
        let k: Vec<f64> = x.iter().flat_map(|a| x.iter().map(move |b| gauss(a, b))).collect();
        let mean = |i: usize| (0..n).map(|j| k[i * n + j]).sum::<f64>() / n as f64;
        let total = (0..n).map(mean).sum::<f64>() / n as f64;
        let on = f64::from(u8::from(centre));
        let centred = (0..n * n).map(|p| k[p] - on * (mean(p / n) + mean(p % n) - total)).collect();
        let eigen = symmetric_eigen(centred, n).unwrap();
        for z in [vec![0.0, 1.0, 2.0], vec![4.0, 4.0, 4.0], x[7].clone()] {
            let row: Vec<f64> = x.iter().map(|a| gauss(a, &z)).collect();
            let own = row.iter().sum::<f64>() / n as f64;
            let found = project(&fitted, &x, gauss, &z);
            for j in 0..3 {
                let v: Vec<f64> = (0..n).map(|i| eigen.vectors[i * n + j]).collect();
                let top = v.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap();
                let naive: f64 =
                    (0..n).map(|i| v[i] / eigen.values[j].sqrt() * (row[i] - on * (mean(i) + own - total))).sum();
                assert!((found[j] - naive * top.signum()).abs() < 1e-8, "{centre}: {} {naive}", found[j]);
            }
        }
    }
}

#[test]
fn krylov_is_full_whether_stored_or_streamed() {
    let x = points(300, 5);
    let full = fit(&x, gauss, &machine(4, PcaSolver::Full), ROOMY);
    for (budget, storage) in
        [(ROOMY, "kernel matrix stored in f64, 703.1 KiB"), (Budget { memory: 1000 }, "kernel matrix streamed")]
    {
        let krylov = fit(&x, gauss, &machine(4, PcaSolver::Krylov), budget);
        assert_eq!(krylov.report.storage, storage);
        assert!(krylov.report.iterations > 0 && krylov.report.status == Status::Converged);
        let (Coefficients::Dual { alpha: a, .. }, Coefficients::Dual { alpha: b, .. }) =
            (&full.expansion.coefficients, &krylov.expansion.coefficients)
        else {
            panic!()
        };
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-7), "signs and all");
        assert!((note(&full, "explained") - note(&krylov, "explained")).abs() < 1e-10);
    }
    // auto does what it can within the memory
    let tight = fit(&x, gauss, &machine(2, PcaSolver::Auto), Budget { memory: 1000 });
    assert_eq!(tight.report.storage, "kernel matrix streamed");
}

#[test]
fn no_more_components_than_the_data_have() {
    let x = points(50, 3);
    for solver in [PcaSolver::Full, PcaSolver::Krylov] {
        let fitted = fit(&x, linear, &KernelPca { components: 10, solver, ..KernelPca::default() }, ROOMY);
        assert_eq!(note(&fitted, "components"), 3.0);
        assert_eq!(fitted.readout, Readout::Coordinates { names: vec!["pc1".into(), "pc2".into(), "pc3".into()] });
        assert!((note(&fitted, "explained") - 1.0).abs() < 1e-9);
    }
    // equal examples have no variance at all, and one example none either
    for n in [1, 4, 30] {
        let found = fit_on(vec![0.7; n * n], &KernelPca::default(), ROOMY, &Silent);
        assert!(matches!(found, Err(FitError::Param { .. })), "{n}");
    }
}

/// Stops everything at once.
struct Never;

impl Monitor for Never {
    fn step(&self, _: &Progress) -> ControlFlow<Stop> {
        ControlFlow::Break(Stop::Interrupted)
    }
}

#[test]
fn mistakes_and_stops_are_told() {
    let mut k: Vec<f64> = (0..900).map(|p| f64::from(u8::from(p / 30 == p % 30))).collect();
    let found = fit_on(k.clone(), &KernelPca::default(), ROOMY, &Never);
    assert!(matches!(found, Err(FitError::Solve { error: SolveError::Stopped { .. }, .. })));
    let found = fit_on(k.clone(), &machine(2, PcaSolver::Full), Budget { memory: 100 }, &Silent);
    assert!(matches!(found, Err(FitError::Budget(_))));
    (k[3 * 30 + 8], k[8 * 30 + 3]) = (f64::NAN, f64::NAN);
    for centre in [true, false] {
        for solver in [PcaSolver::Full, PcaSolver::Krylov] {
            let found = fit_on(k.clone(), &KernelPca { centre, ..machine(2, solver) }, ROOMY, &Silent);
            let Err(FitError::Solve { error, .. }) = found else { panic!() };
            assert_eq!(error, SolveError::NotFinite { row: 4, column: 9 }, "{centre} {solver:?}");
        }
    }
}

#[test]
fn of_eigenvalues_below_zero_nothing_is_explained() {
    let mut random = crate::seed::Seed(3).stream("indefinite");
    let data = |n: usize, random: &mut crate::seed::Random| {
        let values: Vec<f64> = (0..2 * n).map(|_| 1.5 * random.normal()).collect();
        crate::prelude::Dataset::new(crate::prelude::Rows::new(values, n, 2).unwrap())
    };
    let sigmoid: crate::prelude::Formula = "sigmoid(gamma=1, offset=-1)".parse().unwrap();
    for (n, centre) in [(60, true), (60, false), (300, true)] {
        let machine = KernelPca { components: 5, centre, ..KernelPca::default() };
        let job = crate::job::Job::new(&machine, &sigmoid);
        let report = job.run(&data(n, &mut random), &crate::watch::Silent).unwrap().fitted.report;
        let shares: Vec<f64> = (0..5).filter_map(|j| report.fact(Fact::Explained(j))).collect();
        let whole = report.notes.iter().find(|(name, _)| name == "explained").unwrap().1;
        assert!(shares.iter().all(|s| *s > 0.0 && *s < 1.0) && whole <= 1.0 + 1e-12, "{n}: {whole} {shares:?}");
        assert!((shares.iter().sum::<f64>() - whole).abs() < 1e-9);
        assert!(report.advice.iter().any(|a| a.contains("below zero")), "{n}: {:?}", report.advice);
    }
    // nothing is said of a kernel without such eigenvalues
    let job = crate::job::Job::new(&KernelPca::default(), &crate::prelude::rbf(0.5))
        .run(&data(60, &mut random), &crate::watch::Silent)
        .unwrap()
        .fitted
        .report;
    assert!(!job.advice.iter().any(|a| a.contains("below zero")));
}
