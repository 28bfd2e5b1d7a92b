//! Cells of the table against their own definition, against each other and against the machines they are.

use super::LOSSES;
use crate::gram::{Budget, fill};
use crate::machines::classify::{Loss as SvcLoss, Strategy};
use crate::machines::{Coefficients, Machine, SolverReport, Task, Threshold};
use crate::prelude::*;
use crate::solvers::Loss;
use crate::watch::{Silent, Status};

const PENALTIES: [Penalty; 3] = [Penalty::Norm, Penalty::Coefficients, Penalty::Sparse];

/// Two overlapping clouds, or three where asked for, and a smooth target with a few outliers.
fn sample(n: usize, classes: usize) -> (Dataset, Dataset) {
    let mut random = Seed(5).stream("programmes");
    let codes: Vec<usize> = (0..n).map(|i| i % classes).collect();
    let x: Vec<f64> = codes
        .iter()
        .flat_map(|&c| [1.4 * c as f64 + random.normal(), 0.7 * (c % 2) as f64 + random.normal()])
        .collect();
    let y: Vec<f64> = x
        .chunks_exact(2)
        .enumerate()
        .map(|(i, x)| x[0].sin() + x[1] + 4.0 * f64::from(u8::from(i % 17 == 3)))
        .collect();
    let labels: Vec<&str> = codes.iter().map(|&c| ["a", "b", "c"][c]).collect();
    let rows = Rows::new(x, n, 2).unwrap();
    let classes = Dataset::new(rows.clone()).with_target(Target::from_text("y", &labels)).unwrap();
    (classes, Dataset::new(rows).with_target(Target::from_numbers("y", y)).unwrap())
}

fn sharp(machine: Programme) -> Programme {
    let effort = Effort { tolerance: 1e-7, ..Effort::default() };
    Programme { effort, threshold: Threshold::Programme, ..machine }
}

/// α of all examples and b, with what is shown about them.
fn function(machine: &Programme, kernel: &Formula, data: &Dataset) -> (Vec<f64>, f64, SolverReport) {
    let task =
        Task { target: data.target(), budget: Budget { memory: 1 << 30 }, ..Task::new(kernel.gram(data).unwrap()) };
    let fitted = machine.run(&task, &Silent).unwrap();
    let Coefficients::Dual { points, alpha } = &fitted.expansion.coefficients else { panic!("one function") };
    let mut all = vec![0.0; data.len()];
    points.iter().zip(alpha).for_each(|(&i, a)| all[i] = *a);
    (all, fitted.expansion.offsets[0], fitted.report)
}

fn matrix(kernel: &Formula, data: &Dataset) -> Vec<f64> {
    let gram = kernel.gram(data).unwrap();
    let mut k = vec![0.0; gram.shape().0 * gram.shape().1];
    fill(gram.as_ref(), &mut k);
    k
}

/// Σ w ℓ(y, Kα + b) + λ P(α), term by term.
fn value(k: &[f64], y: &[f64], loss: Loss, penalty: Penalty, lambda: f64, alpha: &[f64], b: f64) -> f64 {
    let image: Vec<f64> = k.chunks_exact(y.len()).map(|row| row.iter().zip(alpha).map(|(k, a)| k * a).sum()).collect();
    let losses: f64 = image.iter().zip(y).map(|(f, y)| loss.value(*y, f + b)).sum();
    let size = match penalty {
        Penalty::Norm => 0.5 * alpha.iter().zip(&image).map(|(a, f)| a * f).sum::<f64>(),
        Penalty::Coefficients => 0.5 * alpha.iter().map(|a| a * a).sum::<f64>(),
        Penalty::Sparse => alpha.iter().map(|a| a.abs()).sum(),
    };
    losses + lambda * size
}

#[test]
fn no_neighbour_of_a_solution_is_better_and_the_gap_says_so() {
    let n = 60;
    let (classes, numbers) = sample(n, 2);
    let kernel = rbf(0.5);
    let k = matrix(&kernel, &classes);
    let mut random = Seed(1).stream("neighbours");
    for penalty in PENALTIES {
        for loss in LOSSES {
            for lambda in [0.1, 2.0] {
                let machine = sharp(programme(loss, penalty, lambda));
                let tasks: Vec<(Programme, &Dataset, Vec<f64>)> = vec![
                    (machine.clone(), &classes, (0..n).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect()),
                    (
                        sharp(programme_regression(loss, penalty, lambda)),
                        &numbers,
                        numbers.target().unwrap().numbers().unwrap().values,
                    ),
                ];
                for (machine, data, y) in tasks {
                    let learns_numbers = machine.cell.entry.name == "regularised_risk_regression";
                    if learns_numbers && machine.loss().is_margin() {
                        continue;
                    }
                    let place = format!("{loss:?} {penalty:?} {lambda} {}", machine.cell.entry.name);
                    let (alpha, b, report) = function(&machine, &kernel, data);
                    let at = |alpha: &[f64], b: f64| value(&k, &y, machine.loss(), penalty, lambda, alpha, b);
                    let found = at(&alpha, b);
                    assert!((found - report.objective.unwrap()).abs() < 1e-5 * found, "{place}: {found} {report:?}");
                    let gap = report.duality_gap.unwrap();
                    assert!(gap > -1e-5 * found && gap < 1e-4 * found, "{place}: gap {gap} of {found}");
                    for step in 0..60 {
                        let size = 10.0_f64.powi(-(step % 4));
                        let moved: Vec<f64> = alpha.iter().map(|a| a + size * 0.1 * random.normal()).collect();
                        let other = at(&moved, b + size * 0.1 * random.normal());
                        assert!(other > found - 1e-4 * found, "{place}: {other} {found}");
                    }
                }
            }
        }
    }
}

/// The largest difference of the scores of two models, relative to the largest score.
fn apart(a: &Model, b: &Model, data: &Dataset) -> f64 {
    let (a, b) = (a.scores(data).unwrap(), b.scores(data).unwrap());
    let size = a.iter().fold(0.0_f64, |top, x| top.max(x.abs()));
    a.iter().zip(&b).fold(0.0_f64, |top, (x, y)| top.max((x - y).abs())) / size
}

#[test]
fn cells_are_the_machines_they_are_known_as() {
    let (classes, numbers) = sample(80, 2);
    let (kernel, lambda) = (rbf(0.4), 0.5);
    let effort = Effort { tolerance: 1e-7, ..Effort::default() };
    let hinge = sharp(programme(LossName::Hinge, Penalty::Norm, lambda)).fit(&kernel, &classes).unwrap();
    let svc = Svc { c: 1.0 / lambda, effort: effort.clone(), ..Svc::default() };
    assert!(apart(&hinge, &svc.fit(&kernel, &classes).unwrap(), &classes) < 1e-5);
    let squared = sharp(programme(LossName::SquaredHinge, Penalty::Norm, lambda)).fit(&kernel, &classes).unwrap();
    let svc = Svc { loss: SvcLoss::SquaredHinge, ..svc };
    assert!(apart(&squared, &svc.fit(&kernel, &classes).unwrap(), &classes) < 1e-5);
    // robust regression is a tube of no width
    let robust = sharp(robust_regression(lambda)).fit(&kernel, &numbers).unwrap();
    let svr = Svr { c: 1.0 / lambda, epsilon: 0.0, effort: effort.clone(), ..Svr::default() };
    assert!(apart(&robust, &svr.fit(&kernel, &numbers).unwrap(), &numbers) < 1e-5);
    let tube = Programme { epsilon: 0.3, ..programme_regression(LossName::EpsilonInsensitive, Penalty::Norm, lambda) };
    let svr = Svr { epsilon: 0.3, ..svr };
    assert!(apart(&sharp(tube).fit(&kernel, &numbers).unwrap(), &svr.fit(&kernel, &numbers).unwrap(), &numbers) < 1e-5);
    // Huber's loss with no width to speak of is the absolute one, and with an endless one the squared one times 1/s
    let huber = |width: f64, lambda: f64| {
        Programme { width, ..sharp(huber_regression(lambda)) }.fit(&kernel, &numbers).unwrap()
    };
    assert!(apart(&huber(1e-6, lambda), &robust, &numbers) < 1e-4);
    let plain = sharp(programme_regression(LossName::Squared, Penalty::Norm, lambda)).fit(&kernel, &numbers).unwrap();
    assert!(apart(&huber(1e4, lambda * 1e-4), &plain, &numbers) < 1e-4);
}

#[test]
fn scales_and_copies_change_nothing_where_lambda_follows() {
    let (classes, _) = sample(40, 2);
    let twice: Vec<usize> = (0..40).chain(0..40).collect();
    let double = classes.select(&twice);
    let kernel = rbf(0.5);
    let scaled = 3.0 * rbf(0.5);
    for loss in [LossName::Squared, LossName::Absolute, LossName::Logistic, LossName::Hinge] {
        for (penalty, by_scale, by_copies) in
            [(Penalty::Norm, 3.0, 2.0), (Penalty::Coefficients, 9.0, 4.0), (Penalty::Sparse, 3.0, 2.0)]
        {
            let fit = |lambda: f64, kernel: &Formula, data: &Dataset| {
                sharp(programme(loss, penalty, lambda)).fit(kernel, data).unwrap()
            };
            let base = fit(0.2, &kernel, &classes);
            let place = format!("{loss:?} {penalty:?}");
            let other = apart(&base, &fit(0.2 * by_scale, &scaled, &classes), &classes);
            assert!(other < 2e-3, "{place} scale: {other}");
            let other = apart(&base, &fit(0.2 * by_copies, &kernel, &double), &classes);
            assert!(other < 2e-3, "{place} copies: {other}");
        }
    }
}

#[test]
fn weights_are_copies_and_classes_that_weigh_nothing_are_out() {
    let (classes, numbers) = sample(30, 2);
    let copied: Vec<usize> = (0..30).flat_map(|i| vec![i; 1 + i % 3]).collect();
    let weights: Vec<f64> = (0..30).map(|i| f64::from(1 + i % 3)).collect();
    for (penalty, loss) in [
        (Penalty::Norm, LossName::Squared),
        (Penalty::Norm, LossName::Absolute),
        (Penalty::Norm, LossName::Logistic),
        (Penalty::Norm, LossName::Huber),
    ] {
        let machine = sharp(programme(loss, penalty, 0.3));
        let many = machine.fit(&rbf(0.5), &classes.select(&copied)).unwrap();
        let few = machine.fit(&rbf(0.5), &classes.clone().with_weights(weights.clone()).unwrap()).unwrap();
        assert!(apart(&many, &few, &classes) < 1e-3, "{loss:?}");
    }
    // a zero weight is an example less
    let kept: Vec<usize> = (0..30).filter(|i| i % 5 != 0).collect();
    let weights: Vec<f64> = (0..30).map(|i| f64::from(u8::from(i % 5 != 0))).collect();
    for loss in [LossName::Squared, LossName::Absolute, LossName::Huber] {
        for penalty in PENALTIES {
            let machine = sharp(programme_regression(loss, penalty, 0.3));
            let few = machine.fit(&rbf(0.5), &numbers.select(&kept)).unwrap();
            let zeros = machine.fit(&rbf(0.5), &numbers.clone().with_weights(weights.clone()).unwrap()).unwrap();
            assert!(apart(&few, &zeros, &numbers) < 1e-4, "{loss:?} {penalty:?}");
            assert!(zeros.fitted.training_scores.is_some_and(|s| s.len() == 30));
        }
    }
}

#[test]
fn several_classes_are_told_apart_both_ways_and_thresholds_are_rules_of_their_own() {
    let (data, _) = sample(90, 3);
    let truth = data.target().unwrap().classes().unwrap().codes;
    for strategy in [Strategy::OneVsOne, Strategy::OneVsRest] {
        for penalty in PENALTIES {
            for threshold in [Threshold::Programme, Threshold::Margin, Threshold::Errors, Threshold::Gaussian] {
                let machine = Programme { threshold, strategy, ..programme(LossName::Squared, penalty, 0.1) };
                let model = machine.fit(&rbf(0.5), &data).unwrap();
                let Some(codes) = codes(&model, &data) else { panic!("labels") };
                let wrong = codes.iter().zip(&truth).filter(|(a, b)| a != b).count();
                assert!(wrong < 30, "{strategy:?} {penalty:?} {threshold:?}: {wrong}");
            }
        }
    }
    let shifted = Programme { shift: 1.0, ..programme(LossName::Squared, Penalty::Norm, 0.1) };
    assert!(shifted.fit(&rbf(0.5), &data).unwrap_err().to_string().contains("shift"));
    // two classes: what is added to the score is added to the score
    let (two, _) = sample(50, 2);
    let plain = Programme { shift: 0.0, ..shifted.clone() }.fit(&rbf(0.5), &two).unwrap();
    let moved = shifted.fit(&rbf(0.5), &two).unwrap();
    for (a, b) in plain.scores(&two).unwrap().iter().zip(moved.scores(&two).unwrap()) {
        assert!((a + 1.0 - b).abs() < 1e-9);
    }
}

fn codes(model: &Model, data: &Dataset) -> Option<Vec<u32>> {
    match model.predict(data).unwrap() {
        crate::machines::Output::Labels { codes, .. } => Some(codes),
        _ => None,
    }
}

#[test]
fn without_an_offset_there_is_none() {
    let (classes, _) = sample(40, 2);
    for penalty in PENALTIES {
        for loss in LOSSES {
            let machine = Programme { bias: false, ..sharp(programme(loss, penalty, 0.5)) };
            let model = machine.fit(&rbf(0.5), &classes).unwrap();
            assert_eq!(model.fitted.expansion.offsets, [0.0], "{loss:?} {penalty:?}");
            assert!(model.fitted.report.duality_gap.unwrap() < 1e-4 * model.fitted.report.objective.unwrap());
        }
    }
}

/// The largest ρ − Σ max(0, ρ − m)/νn over ρ: a concave function whose bends stand at the margins.
fn soft_margin(margins: &[f64], nu: f64) -> f64 {
    let at = |rho: f64| rho - margins.iter().map(|m| (rho - m).max(0.0)).sum::<f64>() / (nu * margins.len() as f64);
    margins.iter().map(|&m| at(m)).fold(f64::NEG_INFINITY, f64::max)
}

#[test]
fn boosting_has_the_largest_soft_margin_and_nu_is_the_share_of_violators() {
    let n = 60;
    let (classes, _) = sample(n, 2);
    let kernel = rbf(0.5);
    let k = matrix(&kernel, &classes);
    let y: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let margins = |alpha: &[f64]| -> Vec<f64> {
        (0..n).map(|i| y[i] * (0..n).map(|j| k[i * n + j] * alpha[j]).sum::<f64>()).collect()
    };
    let mut random = Seed(2).stream("margins");
    for nu in [0.4, 0.6] {
        let (alpha, b, report) = function(&sharp(lp_boost(nu)), &kernel, &classes);
        assert!((alpha.iter().map(|a| a.abs()).sum::<f64>() - 1.0).abs() < 1e-9 && b == 0.0);
        let found = soft_margin(&margins(&alpha), nu);
        assert!(found > 0.0);
        // what is told is the value of the formula and its ρ
        let (told, rho) = (report.objective.unwrap(), report.fact(crate::machines::Fact::Rho).unwrap());
        assert!((told - found).abs() < 1e-5, "{nu}: {told} {found}");
        let short: f64 = margins(&alpha).iter().map(|m| (rho - m).max(0.0)).sum();
        assert!((rho - short / (nu * n as f64) - found).abs() < 1e-5, "{nu}: rho {rho}");
        assert!((-1e-9..1e-4 * found).contains(&report.duality_gap.unwrap()), "{:?}", report.duality_gap);
        for step in 0..300 {
            let size = 10.0_f64.powi(-(step % 4));
            let moved: Vec<f64> = alpha.iter().map(|a| a + 0.05 * size * random.normal()).collect();
            let norm: f64 = moved.iter().map(|a| a.abs()).sum();
            let other: Vec<f64> = moved.iter().map(|a| a / norm).collect();
            assert!(soft_margin(&margins(&other), nu) <= found + 1e-6, "{nu}");
        }
        // sorted margins: at most νn lie below ρ, at least νn at or below it
        let mut sorted = margins(&alpha);
        sorted.sort_by(f64::total_cmp);
        let rho = sorted[((nu * n as f64).ceil() as usize - 1).min(n - 1)];
        assert!(sorted.iter().filter(|m| **m < rho - 1e-6).count() as f64 <= nu * n as f64);
        assert!(sorted.iter().filter(|m| **m <= rho + 1e-6).count() as f64 >= nu * n as f64 - 1e-9);
    }
    let error = lp_boost(0.01).fit(&linear(), &classes).unwrap_err().to_string();
    assert!(error.contains("raise nu"), "{error}");
    let alike =
        Dataset::new(Rows::new(vec![1.0; n], n, 1).unwrap()).with_target(classes.target().unwrap().clone()).unwrap();
    let error = lp_boost(0.5).fit(&kernel, &alike).unwrap_err().to_string();
    assert!(error.contains("look alike") && !error.contains("lambda"), "{error}");
    let uneven = classes.select(&(0..n).filter(|i| i % 2 == 0 || i % 6 == 1).collect::<Vec<_>>());
    let error = Programme { bias: true, ..lp_boost(0.9) }.fit(&kernel, &uneven).unwrap_err().to_string();
    assert!(error.contains("more than 0.500") && error.contains("lower nu"), "{error}");
}

#[test]
fn a_small_nu_is_what_arc_gv_converges_to() {
    // Breiman's rule: the best kernel function under the weights, with a step that aims at the margin reached so far
    let n = 16;
    let (classes, _) = sample(n, 2);
    let kernel = rbf(4.0);
    let k = matrix(&kernel, &classes);
    let y: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let mut sums = vec![0.0; n];
    let (mut total, mut margin) = (0.0, 0.0_f64);
    for _ in 0..200_000 {
        let top = sums.iter().fold(f64::NEG_INFINITY, |t: f64, s: &f64| t.max(-s));
        let d: Vec<f64> = sums.iter().map(|s| (-s - top).exp()).collect();
        let mass: f64 = d.iter().sum();
        let edge = |j: usize| (0..n).map(|i| d[i] * y[i] * k[i * n + j]).sum::<f64>() / mass;
        let best = (0..n).max_by(|&a, &b| edge(a).abs().total_cmp(&edge(b).abs())).unwrap();
        let g = edge(best);
        let step = 0.5 * ((1.0 + g.abs()) / (1.0 - g.abs())).ln() - 0.5 * ((1.0 + margin) / (1.0 - margin)).ln();
        (0..n).for_each(|i| sums[i] += step * g.signum() * y[i] * k[i * n + best]);
        total += step.abs();
        margin = (sums.iter().copied().fold(f64::INFINITY, f64::min) / total).max(0.0);
    }
    let (alpha, ..) = function(&sharp(lp_boost(1e-3)), &kernel, &classes);
    let found =
        (0..n).map(|i| y[i] * (0..n).map(|j| k[i * n + j] * alpha[j]).sum::<f64>()).fold(f64::INFINITY, f64::min);
    assert!(margin > 0.0 && found >= margin - 1e-9, "{found} {margin}");
    assert!(found - margin < 0.02 * found, "{found} {margin}");
}

#[test]
fn of_copies_one_carries_the_coefficient_and_all_count() {
    let (classes, _) = sample(25, 2);
    let many = classes.select(&(0..100).map(|i| (i * 7) % 25).collect::<Vec<_>>());
    for loss in [LossName::Squared, LossName::Absolute, LossName::Hinge] {
        let machine = sharp(programme(loss, Penalty::Sparse, 0.8));
        let (alpha, _, report) = function(&machine, &rbf(0.5), &many);
        assert!(alpha[25..].iter().all(|&a| a == 0.0), "{loss:?}: only the first of copies");
        assert!(report.duality_gap.unwrap() < 1e-5 * report.objective.unwrap());
        // four copies of everything are four times the loss, so a quarter of the penalty's weight
        let once = sharp(programme(loss, Penalty::Sparse, 0.2));
        let (few, all) = (once.fit(&rbf(0.5), &classes).unwrap(), machine.fit(&rbf(0.5), &many).unwrap());
        assert!(apart(&few, &all, &classes) < 2e-3, "{loss:?}");
    }
}

#[test]
fn robust_and_huber_discriminants_have_the_dual_of_the_thesis() {
    // max −(s/2)‖β‖² − βᵀKβ/2λ + yᵀβ with 1ᵀβ = 0 and −1 ≤ β ≤ 1, where β = λα; s = 0 for the robust one
    let n = 60;
    let (classes, numbers) = sample(n, 2);
    let kernel = rbf(0.5);
    let k = matrix(&kernel, &classes);
    let y: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    for (lambda, s) in [(0.3, 0.0), (2.0, 0.0), (0.3, 0.4), (2.0, 1.5)] {
        let (machine, loss) = match s {
            0.0 => (robust_kfd(lambda), Loss::Absolute),
            width => (Programme { width, ..huber_kfd(lambda) }, Loss::Huber { width }),
        };
        let (alpha, b, _) = function(&sharp(machine), &kernel, &classes);
        let beta: Vec<f64> = alpha.iter().map(|a| lambda * a).collect();
        assert!(beta.iter().sum::<f64>().abs() < 1e-6 && beta.iter().all(|b| b.abs() < 1.0 + 1e-9));
        let norm: f64 = (0..n * n).map(|p| beta[p / n] * k[p] * beta[p % n]).sum();
        let linear: f64 = y.iter().zip(&beta).map(|(y, b)| y * b).sum();
        let dual = linear - 0.5 * s * beta.iter().map(|b| b * b).sum::<f64>() - 0.5 * norm / lambda;
        let primal = value(&k, &y, loss, Penalty::Norm, lambda, &alpha, b);
        assert!((primal - dual).abs() < 1e-5 * primal, "{lambda} {s}: {primal} {dual}");
        // inside the box the error is sβ, none at all for the robust one; outside of it β is at its bound
        let (mut inside, mut at_bounds) = (0, 0);
        for i in 0..n {
            let error = y[i] - b - (0..n).map(|j| k[i * n + j] * alpha[j]).sum::<f64>();
            if beta[i].abs() < 1.0 - 1e-5 {
                inside += 1;
                assert!((error - s * beta[i]).abs() < 1e-4, "{lambda} {s} {i}: {error} {}", beta[i]);
            }
            if error.abs() > s + 1e-4 {
                at_bounds += 1;
                assert!((beta[i] - error.signum()).abs() < 1e-5, "{lambda} {s} {i}: {error} {}", beta[i]);
            }
        }
        assert!(inside > 0 && at_bounds > 0, "{lambda} {s}: {inside} {at_bounds}");
    }
    // the robust discriminant is regression in a tube of no width, with C = 1/λ
    let signs = numbers.with_target(Target::from_numbers("y", y)).unwrap();
    let robust = sharp(robust_kfd(0.5)).fit(&kernel, &classes).unwrap();
    let effort = Effort { tolerance: 1e-7, ..Effort::default() };
    let svr = Svr { c: 2.0, epsilon: 0.0, effort, ..Svr::default() }.fit(&kernel, &signs).unwrap();
    assert!(apart(&robust, &svr, &classes) < 1e-5);
}

#[test]
fn a_gap_of_logistic_losses_is_what_may_be_left_of_the_objective() {
    let n = 90;
    let mut random = Seed(9).stream("logistic");
    let codes: Vec<usize> = (0..n).map(|i| i % 2).collect();
    let x: Vec<f64> = codes.iter().flat_map(|&c| [3.0 * c as f64 + random.normal(), random.normal()]).collect();
    let labels: Vec<&str> = codes.iter().map(|&c| ["a", "b"][c]).collect();
    let shifted = |shift: f64| {
        let rows = Rows::new(x.iter().map(|x| x + shift).collect(), n, 2).unwrap();
        Dataset::new(rows).with_target(Target::from_text("y", &labels)).unwrap()
    };
    let machine = |lambda: f64| programme(LossName::Logistic, Penalty::Norm, lambda);
    // with an offset the minimum does not depend on the origin
    let least = function(&sharp(machine(1.0)), &linear(), &shifted(0.0)).2.objective.unwrap();
    for shift in [0.0, 1e3, 1e5, 1e6, 1e7] {
        let (.., report) = function(&machine(1.0), &linear(), &shifted(shift));
        let (objective, gap) = (report.objective.unwrap(), report.duality_gap.unwrap());
        assert!(objective - gap <= least * (1.0 + 1e-6), "{shift}: {objective} − {gap} above {least}");
        assert!(gap >= -1e-9 * objective, "{shift}: {gap}");
        let near = objective <= least * (1.0 + 1e-3);
        assert!(near || report.status == Status::IterationLimit || gap > 0.1 * objective, "{shift}: {report:?}");
    }
    // flat directions of K, in which α is not what the slopes are
    for lambda in [1e-2, 1e-5, 1e-8] {
        let kernel = "polynomial(degree=3)".parse().unwrap();
        let report = function(&machine(lambda), &kernel, &shifted(0.0)).2;
        let gap = report.duality_gap.unwrap();
        assert!(gap >= -1e-9 * report.objective.unwrap(), "{lambda}: {gap}");
    }
    // examples that contradict each other: the zero function is the optimum, and the gap knows it
    let twice: Vec<f64> = (0..30).map(|i| f64::from(i / 2)).collect();
    let labels: Vec<&str> = (0..30).map(|i| ["a", "b"][i % 2]).collect();
    let data = Dataset::new(Rows::new(twice, 30, 1).unwrap()).with_target(Target::from_text("y", &labels)).unwrap();
    let report = function(&machine(1.0), &rbf(1.0), &data).2;
    assert!(report.duality_gap.unwrap() < 1e-9 * report.objective.unwrap(), "{report:?}");
}

#[test]
fn evidence_of_each_solver_is_handed_on() {
    let (classes, numbers) = sample(40, 2);
    let report = |loss, penalty, data| function(&programme(loss, penalty, 1.0), &rbf(0.5), data).2;
    assert!(report(LossName::Hinge, Penalty::Norm, &classes).violation.is_some());
    assert!(report(LossName::EpsilonInsensitive, Penalty::Coefficients, &numbers).violation.is_some());
    let squared = report(LossName::Squared, Penalty::Coefficients, &numbers);
    assert!(squared.violation.is_none() && squared.fact(crate::machines::Fact::RelativeResidual).unwrap() < 1e-9);
}
