//! Conditions that must hold for every solution, derived again from the definition in double precision.
#![allow(clippy::unwrap_used, clippy::panic)]

use mercer::machines::baseline::{
    AdaBoost, Learner, LinearRegression, LogisticRegression, NetOptions, RbfNetworkRegression,
};
use mercer::machines::classify::Strategy;
use mercer::machines::reduce::PcaSolver;
use mercer::machines::regress::RidgeSolver;
use mercer::machines::{Coefficients, Fitted, Machine, Task};
use mercer::params::Settings;
use mercer::prelude::*;
use mercer::watch::{Monitor, Progress, Silent, Status, Stop};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

type Kernel = fn(&[f64], &[f64]) -> f64;

fn gaussian(x: &[f64], y: &[f64]) -> f64 {
    (-0.5 * x.iter().zip(y).map(|(a, b)| (a - b) * (a - b)).sum::<f64>()).exp()
}

fn inner(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(a, b)| a * b).sum()
}

fn one(_: &[f64], _: &[f64]) -> f64 {
    1.0
}

/// Clouds of the given sizes around different centres.
fn clouds(sizes: &[usize], width: usize, spread: f64, seed: u64) -> (Rows<f64>, Vec<usize>) {
    let mut random = Seed(seed).stream("clouds");
    let (mut values, mut codes) = (Vec::new(), Vec::new());
    let classes: Vec<usize> = sizes.iter().enumerate().flat_map(|(c, &n)| vec![c; n]).collect();
    for place in random.permutation(classes.len()) {
        let class = classes[place];
        codes.push(class);
        values.extend(
            (0..width).map(|j| {
                spread * random.normal() + if j == class % width { 2.0 } else { 0.0 } + (class / width) as f64
            }),
        );
    }
    (Rows::new(values, codes.len(), width).unwrap(), codes)
}

fn named(codes: &[usize]) -> Target {
    let words: Vec<String> = codes.iter().map(|c| format!("class {c}")).collect();
    Target::from(words)
}

fn labelled(x: &Rows<f64>, codes: &[usize]) -> Dataset {
    Dataset::new(x.clone()).with_target(named(codes)).unwrap()
}

/// A fit whose points are places in the training data.
fn run(machine: &dyn Machine, kernel: &Formula, data: &Dataset) -> Fitted {
    let gram = kernel.gram(data).unwrap();
    let task = Task { target: data.target(), threads: 2, ..Task::new(gram) };
    machine.run(&task, &Silent).unwrap()
}

/// Checks every pair of classes from scratch and returns the summed duality gap.
fn check_optimality(x: &Rows<f64>, codes: &[usize], machine: &Svc, fitted: &Fitted, kernel: Kernel, what: &str) -> f64 {
    let Coefficients::Pairwise { points, classes, alpha, count } = &fitted.expansion.coefficients else { panic!() };
    let (k, c) = (*count, machine.c);
    assert_eq!(fitted.report.support, Some(points.len()));
    assert!(points.iter().zip(classes).all(|(&i, &class)| codes[i] == class as usize), "{what}: classes of points");
    let (mut pair, mut gaps, mut objective, mut allowed_in_all) = (0, 0.0, 0.0, 0.0);
    for a in 0..k {
        for b in a + 1..k {
            // y α of every example of the two classes
            let mut weights = vec![0.0; codes.len()];
            for (place, &i) in points.iter().enumerate() {
                if codes[i] == a || codes[i] == b {
                    weights[i] = alpha[place * (k - 1) + if codes[i] == a { b - 1 } else { a }];
                }
            }
            let members: Vec<usize> = (0..codes.len()).filter(|&i| codes[i] == a || codes[i] == b).collect();
            let sum: f64 = weights.iter().sum();
            assert!(sum.abs() <= 1e-10 * c * members.len() as f64, "{what}: Σ yα = {sum}");
            let (mut hinge, mut norm2, mut allowed) = (0.0, 0.0, 0.0_f64);
            for &i in &members {
                let y = if codes[i] == a { 1.0 } else { -1.0 };
                let terms: Vec<f64> = members.iter().map(|&j| weights[j] * kernel(x.row(i), x.row(j))).collect();
                let f = terms.iter().sum::<f64>() + fitted.expansion.offsets[pair];
                // the stopping rule leaves `tolerance`; rows in f32 leave 2⁻²⁴ of every term, some of them many times
                let rounding = terms.iter().map(|t| t.abs()).sum::<f64>() * 16.0 / f64::from(1 << 24);
                let (room, multiplier) = (machine.effort.tolerance + rounding, y * weights[i]);
                assert!((0.0..=c).contains(&multiplier), "{what}: α = {multiplier}");
                if multiplier < c {
                    assert!(y * f >= 1.0 - room, "{what}: example {i} has y f = {}, α = {multiplier}", y * f);
                }
                if multiplier > 0.0 {
                    assert!(y * f <= 1.0 + room, "{what}: example {i} has y f = {}, α = {multiplier}", y * f);
                }
                hinge += (1.0 - y * f).max(0.0);
                norm2 += weights[i] * (f - fitted.expansion.offsets[pair]);
                allowed = allowed.max(room);
            }
            let total: f64 = weights.iter().map(|w| w.abs()).sum();
            let gap = 0.5 * norm2 + c * hinge - (total - 0.5 * norm2);
            let allowed = 2.0 * c * members.len() as f64 * allowed + 1e-12;
            assert!(gap >= -1e-9 * total.max(1.0) && gap <= allowed, "{what}: gap {gap}, at most {allowed}");
            gaps += gap;
            objective += 0.5 * norm2 - total;
            allowed_in_all += allowed;
            pair += 1;
        }
    }
    assert_eq!(fitted.expansion.offsets.len(), pair);
    let (told, value) = (fitted.report.duality_gap.unwrap(), fitted.report.objective.unwrap());
    assert!((told - gaps).abs() <= allowed_in_all, "{what}: told gap {told}, found {gaps}");
    assert!((value - objective).abs() <= allowed_in_all, "{what}: told objective {value}, found {objective}");
    assert!(fitted.report.violation.unwrap() <= machine.effort.tolerance, "{what}");
    gaps
}

#[test]
fn support_vector_machines_satisfy_the_optimality_conditions() {
    let kernels: [(Formula, Kernel); 3] = [(rbf(0.5), gaussian), (linear(), inner), (Formula::constant(1.0), one)];
    // two classes, three with one of a single example, five
    for (sizes, spread) in [(vec![40, 50], 1.0), (vec![30, 1, 25], 0.8), (vec![12, 18, 15, 20, 3], 0.7)] {
        let (x, codes) = clouds(&sizes, 3, spread, 5);
        for (formula, kernel) in &kernels {
            for c in [1e-8, 0.1, 1.0, 100.0] {
                let machine = Svc { c, effort: Effort { tolerance: 1e-4, ..Effort::default() }, ..Svc::default() };
                let fitted = run(&machine, formula, &labelled(&x, &codes));
                assert_eq!(fitted.report.status, Status::Converged);
                let what = format!("{formula}, C = {c}, {sizes:?}");
                let gap = check_optimality(&x, &codes, &machine, &fitted, *kernel, &what);
                assert!(gap < 1e-2 * (1.0 + fitted.report.objective.unwrap().abs()), "{what}: gap {gap}");
            }
        }
    }
}

#[test]
fn hard_cases_of_support_vector_machines_are_solved() {
    // a hard margin: separable classes and a price that nothing reaches
    let (x, codes) = clouds(&[30, 30], 2, 0.2, 8);
    let machine = Svc { c: 1e10, effort: Effort { tolerance: 1e-5, ..Effort::default() }, ..Svc::default() };
    let fitted = run(&machine, &rbf(0.5), &labelled(&x, &codes));
    check_optimality(&x, &codes, &machine, &fitted, gaussian, "hard margin");
    // every example twice, once with each label: nothing can be learned, every multiplier ends at its bound
    let (half, _) = clouds(&[20], 2, 1.0, 9);
    let twice: Vec<f64> = half.values().iter().chain(half.values()).copied().collect();
    let x = Rows::new(twice, 40, 2).unwrap();
    let codes: Vec<usize> = (0..40).map(|i| i / 20).collect();
    let machine = Svc { c: 2.0, effort: Effort { tolerance: 1e-5, ..Effort::default() }, ..Svc::default() };
    let fitted = run(&machine, &rbf(0.5), &labelled(&x, &codes));
    check_optimality(&x, &codes, &machine, &fitted, gaussian, "contradictions");
    assert!((fitted.report.objective.unwrap() + 80.0).abs() < 1e-3, "each of 40 multipliers counts 2");
    // two points at ±1: α = 2/‖x₁ − x₂‖² = ½, f(x) = −x for the class that comes first
    let data = labelled(&Rows::from_vectors(&[[-1.0], [1.0]]).unwrap(), &[0, 1]);
    let model = Svc { c: 10.0, ..Svc::default() }.fit(&linear(), &data).unwrap();
    let scores = model.scores(&Dataset::new(Rows::from_vectors(&[[0.0], [3.0], [-0.5]]).unwrap())).unwrap();
    assert!(scores.iter().zip([0.0, -3.0, 0.5]).all(|(s, w)| (s - w).abs() < 1e-6), "{scores:?}");
    // a constant kernel can only tell the larger class: f = 1 for it, and each of the smaller pays 2 C
    let data = labelled(&Rows::from_vectors(&[[1.0], [2.0], [3.0], [4.0], [5.0]]).unwrap(), &[1, 0, 1, 0, 1]);
    let model = Svc { c: 3.0, ..Svc::default() }.fit(&Formula::constant(2.0), &data).unwrap();
    assert!(model.scores(&data).unwrap().iter().all(|s| (s + 1.0).abs() < 1e-3));
    assert!((model.fitted().report.objective.unwrap() + 12.0).abs() < 1e-2);
}

#[test]
fn the_order_of_examples_and_the_names_of_classes_do_not_matter() {
    let (x, codes) = clouds(&[35, 45], 3, 1.0, 11);
    let (z, _) = clouds(&[20, 20], 3, 1.0, 12);
    let z = Dataset::new(z);
    let machine = Svc { c: 5.0, effort: Effort { tolerance: 1e-6, ..Effort::default() }, ..Svc::default() };
    let score = |data: &Dataset| machine.fit(&rbf(0.5), data).unwrap().scores(&z).unwrap();
    let data = labelled(&x, &codes);
    let scores = score(&data);
    let shuffled = score(&data.select(&Seed(1).stream("order").permutation(80)));
    let swapped = score(&labelled(&x, &codes.iter().map(|c| 1 - c).collect::<Vec<_>>()));
    assert!(scores.iter().any(|s| s.abs() > 0.5));
    for i in 0..40 {
        assert!((scores[i] - shuffled[i]).abs() < 2e-5, "{} {}", scores[i], shuffled[i]);
        assert!((scores[i] + swapped[i]).abs() < 2e-5, "{} {}", scores[i], swapped[i]);
    }
}

/// Coefficients and scores of a fit with so many threads.
fn with_threads(threads: usize, machine: &dyn Machine, kernel: &Formula, data: &Dataset) -> Vec<f64> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let model = Job::new(machine, kernel).run(data, &Silent).unwrap();
        let mut all = match &model.fitted().expansion.coefficients {
            Coefficients::Dual { alpha, .. }
            | Coefficients::Ball { alpha, .. }
            | Coefficients::Pairwise { alpha, .. } => alpha.clone(),
            Coefficients::Primal { weights, .. } => weights.clone(),
            // their scores tell
            Coefficients::Neighbours(_) | Coefficients::Ensemble(_) | Coefficients::Parts(_) => Vec::new(),
        };
        all.extend(model.scores(data).unwrap());
        all
    })
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let ridge = |solver| Ridge { solver, lambda: 0.1.into(), ..Ridge::default() };
    let pca = |solver| KernelPca { components: 5, solver, ..KernelPca::default() };
    // factorisations of more than 256 rows share their sums between threads; nothing else does
    let factorised: [&dyn Machine; 3] =
        [&ridge(RidgeSolver::Cholesky), &ridge(RidgeSolver::Eigen), &pca(PcaSolver::Full)];
    let net = NetOptions { centres: 5, steps: 3, ..NetOptions::default() };
    let others: [&dyn Machine; 11] = [
        &Svc { c: 3.0, ..Svc::default() },
        &NearestMean::default(),
        &ridge(RidgeSolver::Cg),
        &ridge(RidgeSolver::Auto),
        &pca(PcaSolver::Krylov),
        &Knn::default(),
        &AdaBoost { rounds: 20, ..AdaBoost::default() },
        &AdaBoost { rounds: 4, learner: Learner::RbfNetwork, regularisation: 5.0, net, ..AdaBoost::default() },
        &RbfNetworkRegression::default(),
        &LinearRegression::default(),
        &LogisticRegression::default(),
    ];
    for sizes in [[50, 60, 70, 60], [150, 130, 140, 120]] {
        let (x, codes) = clouds(&sizes, 5, 1.0, 21);
        let y: Vec<f64> = codes.iter().map(|&c| c as f64).collect();
        let data = Dataset::new(x).with_target(Target::from(y)).unwrap();
        for (machine, exact) in factorised.iter().map(|m| (*m, data.len() <= 256)).chain(others.map(|m| (m, true))) {
            // the automatic road of the linear kernel is the primal one, in which nothing of n rows is factorised
            let primal = machine.settings() == ridge(RidgeSolver::Auto).settings() || !machine.traits().wants_matrix();
            let kernel = if primal { linear() } else { rbf(0.2) };
            let single = with_threads(1, machine, &kernel, &data);
            let size = single.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
            for threads in [2, 3] {
                let several = with_threads(threads, machine, &kernel, &data);
                let what = format!(
                    "{} {:?}, {} examples, {threads} threads",
                    machine.entry().name,
                    machine.settings(),
                    data.len()
                );
                if exact {
                    assert!(several.iter().zip(&single).all(|(a, b)| a.to_bits() == b.to_bits()), "{what}");
                } else {
                    assert!(several.iter().zip(&single).all(|(a, b)| (a - b).abs() < 1e-9 * size), "{what}");
                }
            }
        }
    }
}

#[test]
fn ridge_regression_is_the_solution_of_its_system() {
    // K = XXᵀ with x = 1, 2 and λ = 1: [[2, 2], [2, 5]] α = (3, 3) gives α = (1.5, 0), f(z) = 1.5 z
    let x = Rows::from_vectors(&[[1.0], [2.0]]).unwrap();
    let data = Dataset::new(x).with_target(Target::from(vec![3.0, 3.0])).unwrap();
    for solver in [RidgeSolver::Auto, RidgeSolver::Cholesky, RidgeSolver::Eigen, RidgeSolver::Cg, RidgeSolver::Primal] {
        let model = Ridge { solver, ..Ridge::default() }.fit(&linear(), &data).unwrap();
        if let Coefficients::Dual { alpha, .. } = &model.fitted().expansion.coefficients {
            assert!((alpha[0] - 1.5).abs() < 1e-12 && alpha[1].abs() < 1e-12, "{solver:?} {alpha:?}");
        }
        let z = Dataset::new(Rows::from_vectors(&[[-4.0], [0.0]]).unwrap());
        let got = model.predict(&z).unwrap();
        assert!((got.values()[0] + 6.0).abs() < 1e-11 && got.values()[1].abs() < 1e-12, "{solver:?} {got:?}");
        // ½((3 − 1.5)² + 0) + ½ αᵀKα, with αᵀKα = 2.25
        assert!((model.fitted().report.objective.unwrap() - 2.25).abs() < 1e-11, "{solver:?}");
    }
}

#[test]
fn ridge_regression_is_linear_in_its_target_and_primal_is_dual() {
    let (x, codes) = clouds(&[40, 30], 4, 1.0, 31);
    let (z, _) = clouds(&[25], 4, 1.0, 32);
    let y: Vec<f64> = (0..70).map(|i| x.row(i)[1] * 2.0 + codes[i] as f64).collect();
    let scaled: Vec<f64> = y.iter().map(|v| v * -1000.0).collect();
    let with = |y: &[f64]| Dataset::new(x.clone()).with_target(Target::from(y.to_vec())).unwrap();
    let predict = |kernel: &Formula, solver, y: &[f64]| {
        let model = Ridge { lambda: 0.3.into(), solver, ..Ridge::default() }.fit(kernel, &with(y)).unwrap();
        model.predict(&Dataset::new(z.clone())).unwrap().values().to_vec()
    };
    for solver in [RidgeSolver::Cholesky, RidgeSolver::Eigen] {
        let (one, many) = (predict(&rbf(0.3), solver, &y), predict(&rbf(0.3), solver, &scaled));
        assert!(one.iter().zip(&many).all(|(a, b)| (a * -1000.0 - b).abs() < 1e-8), "{solver:?}");
        assert!(one.iter().any(|v| v.abs() > 0.1));
    }
    let kernel = linear() * 0.25;
    let (primal, dual) = (predict(&kernel, RidgeSolver::Primal, &y), predict(&kernel, RidgeSolver::Cholesky, &y));
    assert!(primal.iter().zip(&dual).all(|(a, b)| (a - b).abs() < 1e-10), "{primal:?} {dual:?}");
    assert_eq!(primal, predict(&kernel, RidgeSolver::Auto, &y), "fewer coordinates than examples: primal");
}

#[test]
fn projections_of_training_points_are_those_of_the_decomposition() {
    let (x, _) = clouds(&[40, 30], 4, 1.0, 41);
    let data = Dataset::new(x);
    for (solver, centre) in [(PcaSolver::Full, true), (PcaSolver::Krylov, true), (PcaSolver::Full, false)] {
        let model = KernelPca { components: 4, solver, centre, tolerance: 1e-12 }.fit(&rbf(0.3), &data).unwrap();
        let scores = model.scores(&data).unwrap();
        let note = |name: String| model.fitted().report.notes.iter().find(|(n, _)| *n == name).unwrap().1;
        for a in 0..4 {
            let mean = (0..70).map(|i| scores[i * 4 + a]).sum::<f64>() / 70.0;
            assert!(!centre || mean.abs() < 1e-10, "{solver:?}: mean {mean}");
            for b in 0..=a {
                // coordinates are √λ times orthonormal vectors
                let product: f64 = (0..70).map(|i| scores[i * 4 + a] * scores[i * 4 + b]).sum();
                let wanted = if a == b { note(format!("eigenvalue_{}", a + 1)) } else { 0.0 };
                assert!((product - wanted).abs() < 1e-9, "{solver:?} {a} {b}: {product}, not {wanted}");
            }
        }
        let some = model.scores(&data.select(&[5, 60])).unwrap();
        assert!(some.iter().zip(scores[20..24].iter().chain(&scores[240..244])).all(|(a, b)| (a - b).abs() < 1e-12));
    }
}

/// Ends the work at the k-th look.
struct After(usize, AtomicUsize);

impl Monitor for After {
    fn step(&self, _: &Progress) -> ControlFlow<Stop> {
        if self.1.fetch_add(1, Ordering::Relaxed) < self.0 {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(Stop::Interrupted)
        }
    }
}

#[test]
fn interrupted_and_limited_fits_are_usable_models_that_say_so() {
    let (x, codes) = clouds(&[200, 200], 3, 1.5, 51);
    let data = labelled(&x, &codes);
    let y: Vec<f64> = codes.iter().map(|&c| c as f64).collect();
    let numbers = Dataset::new(x.clone()).with_target(Target::from(y)).unwrap();
    let svc = Svc { c: 100.0, ..Svc::default() };
    let cg = Ridge { solver: RidgeSolver::Cg, lambda: 1e-6.into(), tolerance: 1e-12, ..Ridge::default() };
    let kernel = rbf(0.5);
    let jobs: [(&dyn Machine, &Dataset); 2] = [(&svc, &data), (&cg, &numbers)];
    for (machine, data) in jobs {
        let watch = After(2, AtomicUsize::new(0));
        let model = Job::new(machine, &kernel).run(data, &watch).unwrap();
        assert_eq!(model.fitted().report.status, Status::Interrupted, "{}", machine.entry().name);
        assert!(model.fitted().report.iterations > 0);
        let scores = model.scores(data).unwrap();
        assert!(scores.iter().all(|s| s.is_finite()) && scores.iter().any(|&s| s != 0.0));
        assert!(
            Model::from_bytes(&model.to_bytes().unwrap(), "m").unwrap().fitted().report.status == Status::Interrupted
        );
    }
    let limited =
        Svc { effort: Effort { max_iterations: 10, ..Effort::default() }, ..svc.clone() }.fit(&kernel, &data).unwrap();
    assert_eq!((limited.fitted().report.status, limited.fitted().report.iterations), (Status::IterationLimit, 10));
    assert!(limited.fitted().report.duality_gap.unwrap() > 1.0 && limited.predict(&data).unwrap().len() == 400);
    let limited = Ridge { max_iterations: 2, ..cg }.fit(&kernel, &numbers).unwrap();
    assert_eq!((limited.fitted().report.status, limited.fitted().report.iterations), (Status::IterationLimit, 2));
    let whole = svc.fit(&kernel, &data).unwrap();
    assert_eq!(whole.fitted().report.status, Status::Converged);
    assert!(whole.fitted().report.duality_gap.unwrap() >= 0.0);
}

#[test]
fn scores_that_the_solver_hands_out_are_those_of_the_model() {
    let (x, codes) = clouds(&[40, 30, 35], 2, 0.8, 21);
    let two: Vec<usize> = codes.iter().map(|&c| c.min(1)).collect();
    let numbers = Target::from((0..x.len()).map(|i| x.row(i)[0].sin() + 0.1 * x.row(i)[1]).collect::<Vec<f64>>());
    let rest = Strategy::OneVsRest;
    let squared = mercer::machines::classify::Loss::SquaredHinge;
    let cases: Vec<(Box<dyn Machine>, Target)> = vec![
        (Box::new(Svc::default()), named(&two)),
        (Box::new(Svc { bias: false, ..Svc::default() }), named(&two)),
        (Box::new(Svc { loss: squared, ..Svc::default() }), named(&two)),
        (Box::new(Svc { strategy: rest, ..Svc::default() }), named(&codes)),
        (Box::new(Svr::default()), numbers),
    ];
    for (machine, target) in cases {
        let data = Dataset::new(x.clone()).with_target(target).unwrap();
        let model = Job::new(machine.as_ref(), &rbf(0.5)).run(&data, &Silent).unwrap();
        let (known, computed) = (model.fitted().training_scores.clone().unwrap(), model.scores(&data).unwrap());
        assert_eq!(known.len(), computed.len());
        for (a, b) in known.iter().zip(&computed) {
            assert!((a - b).abs() < 1e-5 * (1.0 + b.abs()), "{a} {b}");
        }
    }
}
