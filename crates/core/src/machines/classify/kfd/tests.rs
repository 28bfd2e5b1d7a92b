//! The machine on data: solvers agree, thresholds and strategies are what they say, and bad input is told.

use super::*;
use crate::gram::Budget;
use crate::machines::baseline::LinearFisher;
use crate::prelude::{Dataset, Fit, Formula, Job, Model, Rows, Seed, Target, linear, rbf};
use crate::watch::Silent;

/// Clouds of the given sizes in the plane.
fn clouds(sizes: &[usize], seed: u64) -> (Rows<f64>, Vec<usize>) {
    let mut random = Seed(seed).stream("kfd");
    let classes: Vec<usize> = sizes.iter().enumerate().flat_map(|(c, &n)| vec![c; n]).collect();
    let (mut values, mut codes) = (Vec::new(), Vec::new());
    for place in random.permutation(classes.len()) {
        let angle = classes[place] as f64 * 2.1;
        codes.push(classes[place]);
        values.extend([1.6 * angle.cos() + 0.8 * random.normal(), 1.6 * angle.sin() + 0.8 * random.normal()]);
    }
    (Rows::new(values, codes.len(), 2).unwrap(), codes)
}

fn labelled(x: &Rows<f64>, codes: &[usize]) -> Dataset {
    let words: Vec<String> = codes.iter().map(|c| format!("class {c}")).collect();
    Dataset::new(x.clone()).with_target(Target::from(words)).unwrap()
}

fn note(model: &Model, name: &str) -> f64 {
    model.fitted.report.notes.iter().find(|(n, _)| n == name).map_or(f64::NAN, |n| n.1)
}

fn error(model: &Model, data: &Dataset, codes: &[usize]) -> f64 {
    let scores = model.scores(data).unwrap();
    let outputs = scores.len() / codes.len();
    let crate::machines::Output::Labels { codes: told, .. } = model.fitted.read(scores) else { panic!("{outputs}") };
    codes.iter().zip(told).filter(|(c, t)| **c != *t as usize).count() as f64 / codes.len() as f64
}

fn near(a: &[f64], b: &[f64], within: f64, what: &str) {
    assert!(a.len() == b.len() && !a.is_empty(), "{what}");
    assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() <= within * (1.0 + b.abs())), "{what}\n{a:?}\n{b:?}");
}

fn base(penalty: Penalty) -> Kfd {
    Kfd { penalty, lambda: 0.05.into(), ..Kfd::default() }
}

#[test]
fn all_roads_lead_to_one_function() {
    for sizes in [vec![40, 25], vec![20, 25, 30]] {
        let (x, codes) = clouds(&sizes, 1);
        let data = labelled(&x, &codes);
        for penalty in [Penalty::Norm, Penalty::Coefficients] {
            let fit = |kfd: &Kfd| kfd.fit(&rbf(0.5), &data).unwrap();
            let plain = fit(&base(penalty));
            let scores = plain.scores(&data).unwrap();
            let training = plain.fitted.training_scores.clone().unwrap();
            near(&training, &scores, 1e-8, "training scores");
            let n = codes.len();
            let mut machines = vec![
                Kfd { solver: KfdSolver::Cholesky, ..base(penalty) },
                Kfd { solver: KfdSolver::Eigen, ..base(penalty) },
                Kfd { solver: KfdSolver::Subset, points: n, ..base(penalty) },
                Kfd { solver: KfdSolver::Greedy, points: n, tolerance: 0.0, ..base(penalty) },
            ];
            if penalty == Penalty::Norm {
                machines.push(Kfd { solver: KfdSolver::Pairs, figures: 6.5, ..base(penalty) });
            }
            for machine in machines {
                let model = fit(&machine);
                let within = if machine.solver == KfdSolver::Pairs { 1e-4 } else { 1e-5 };
                near(&model.scores(&data).unwrap(), &scores, within, &format!("{sizes:?} {machine:?}"));
                let (a, b) = (model.fitted.report.objective.unwrap(), plain.fitted.report.objective.unwrap());
                assert!((a - b).abs() < 1e-5 * b, "{machine:?}: {a} {b}");
                if machine.solver != KfdSolver::Pairs {
                    near(&[note(&model, "quotient")], &[note(&plain, "quotient")], 1e-6, "quotient");
                }
            }
            assert!(error(&plain, &data, &codes) < 0.2);
            assert!(plain.fitted.report.duality_gap.unwrap() < 1e-12);
        }
    }
}

#[test]
fn the_coarsest_pairs_classify_as_the_solution_does() {
    let (x, codes) = clouds(&[150, 120], 2);
    let data = labelled(&x, &codes);
    let fit = |solver| Kfd { solver, ..base(Penalty::Norm) }.fit(&rbf(0.5), &data).unwrap();
    let (sharp, coarse) = (fit(KfdSolver::Cholesky), fit(KfdSolver::Pairs));
    assert!(note(&coarse, "infeasibility") <= 0.1 && note(&coarse, "figures") >= 1.0);
    let gap = coarse.fitted.report.duality_gap.unwrap();
    let apart = coarse.fitted.report.objective.unwrap() - sharp.fitted.report.objective.unwrap();
    assert!(apart >= 0.0 && apart <= gap, "the gap bounds what is missing: {apart} {gap}");
    assert!((error(&sharp, &data, &codes) - error(&coarse, &data, &codes)).abs() < 0.02);
}

#[test]
fn leave_one_out_is_learning_again() {
    let (x, codes) = clouds(&[18, 14], 3);
    let data = labelled(&x, &codes);
    let n = codes.len();
    for penalty in [Penalty::Norm, Penalty::Coefficients] {
        let kfd = Kfd { threshold: Threshold::Programme, ..base(penalty) };
        let model = kfd.fit(&rbf(0.5), &data).unwrap();
        let (mut squares, mut wrong) = (0.0, 0);
        for p in 0..n {
            let rest: Vec<usize> = (0..n).filter(|&i| i != p).collect();
            let without = kfd.fit(&rbf(0.5), &data.select(&rest)).unwrap();
            let score = without.scores(&data.select(&[p])).unwrap()[0];
            let y = if codes[p] == 0 { 1.0 } else { -1.0 };
            squares += (y - score).powi(2);
            wrong += usize::from(y * score < 0.0);
        }
        near(&[note(&model, "loo_rmse")], &[(squares / n as f64).sqrt()], 1e-7, "loo_rmse");
        near(&[note(&model, "loo_error")], &[wrong as f64 / n as f64], 1e-12, "loo_error");
        // the chosen λ beats its neighbours, and is that of the same λ given
        let chosen = Kfd { lambda: Auto::Word("loo"), ..kfd.clone() }.fit(&rbf(0.5), &data).unwrap();
        let lambda = note(&chosen, "lambda");
        let at = |factor: f64| Kfd { lambda: (factor * lambda).into(), ..kfd.clone() }.fit(&rbf(0.5), &data).unwrap();
        near(&at(1.0).scores(&data).unwrap(), &chosen.scores(&data).unwrap(), 1e-6, "same λ");
        near(&[note(&at(1.0), "loo_rmse")], &[note(&chosen, "loo_rmse")], 1e-6, "same λ");
        let best = note(&chosen, "loo_rmse");
        for factor in [0.2, 0.7, 1.5, 5.0] {
            assert!(note(&at(factor), "loo_rmse") >= best - 1e-9, "{penalty:?} {factor}");
        }
    }
}

#[test]
fn weights_are_errors_that_count_more() {
    let (x, codes) = clouds(&[20, 16], 4);
    let data = labelled(&x, &codes);
    let n = codes.len();
    let weights: Vec<f64> = (0..n).map(|i| (i % 3) as f64).collect();
    let copies: Vec<usize> = (0..n).flat_map(|i| vec![i; i % 3]).collect();
    let kfd = base(Penalty::Norm);
    let weighted = kfd.fit(&rbf(0.5), &data.clone().with_weights(weights.clone()).unwrap()).unwrap();
    let repeated = kfd.fit(&rbf(0.5), &data.select(&copies)).unwrap();
    near(&weighted.scores(&data).unwrap(), &repeated.scores(&data).unwrap(), 1e-7, "copies");
    assert!(weighted.fitted.training_scores.is_none());
    // what weighs nothing is as if it were not there, for either penalty
    let live: Vec<usize> = (0..n).filter(|&i| weights[i] > 0.0).collect();
    for penalty in [Penalty::Norm, Penalty::Coefficients] {
        let kfd = base(penalty);
        let few = data.select(&live).with_weights(live.iter().map(|&i| weights[i]).collect()).unwrap();
        let a = kfd.fit(&rbf(0.5), &data.clone().with_weights(weights.clone()).unwrap()).unwrap();
        let b = kfd.fit(&rbf(0.5), &few).unwrap();
        near(&a.scores(&data).unwrap(), &b.scores(&data).unwrap(), 1e-9, "nothing");
        // balanced classes are weights n / (k n_c)
        let balanced = Kfd { class_weight: "balanced".to_owned(), ..kfd.clone() }.fit(&rbf(0.5), &data).unwrap();
        let by_hand: Vec<f64> = codes.iter().map(|&c| 36.0 / (2.0 * [20.0, 16.0][c])).collect();
        let given = kfd.fit(&rbf(0.5), &data.clone().with_weights(by_hand).unwrap()).unwrap();
        near(&balanced.scores(&data).unwrap(), &given.scores(&data).unwrap(), 1e-9, "balanced");
    }
    let nothing = data.with_weights(codes.iter().map(|&c| c as f64).collect()).unwrap();
    let said = base(Penalty::Norm).fit(&rbf(0.5), &nothing).unwrap_err().to_string();
    assert!(said.contains("no example of class class 0 has a weight above zero"), "{said}");
}

#[test]
fn thresholds_move_the_offset_and_never_the_line() {
    let (x, codes) = clouds(&[70, 15], 5);
    let data = labelled(&x, &codes);
    let scores = |threshold| {
        let model = Kfd { threshold, ..base(Penalty::Coefficients) }.fit(&rbf(0.5), &data).unwrap();
        near(&model.fitted.training_scores.clone().unwrap(), &model.scores(&data).unwrap(), 1e-8, "training scores");
        (model.scores(&data).unwrap(), error(&model, &data, &codes))
    };
    let (plain, _) = scores(Threshold::Programme);
    let mut least = f64::INFINITY;
    let mut fewest = f64::NAN;
    for threshold in [Threshold::Margin, Threshold::Errors, Threshold::Gaussian, Threshold::SharedGaussian] {
        let (other, errors) = scores(threshold);
        // other = s · plain + t
        let (i, j) = (
            0,
            (1..plain.len())
                .max_by(|&a, &b| (plain[a] - plain[0]).abs().total_cmp(&(plain[b] - plain[0]).abs()))
                .unwrap(),
        );
        let s = (other[j] - other[i]) / (plain[j] - plain[i]);
        let line: Vec<f64> = plain.iter().map(|p| other[i] + s * (p - plain[i])).collect();
        near(&other, &line, 1e-7, &format!("{threshold:?}"));
        assert!(s > 0.0);
        least = least.min(errors);
        if threshold == Threshold::Errors {
            fewest = errors;
        }
    }
    assert!(fewest <= least, "no rule has fewer training errors than the one that counts them");
}

#[test]
fn pairs_of_classes_are_each_a_problem_of_two() {
    let (x, codes) = clouds(&[14, 12, 17], 6);
    let data = labelled(&x, &codes);
    for penalty in [Penalty::Norm, Penalty::Coefficients] {
        let kfd = Kfd { strategy: Strategy::OneVsOne, ..base(penalty) };
        let model = kfd.fit(&rbf(0.5), &data).unwrap();
        let scores = model.scores(&data).unwrap();
        for (p, (a, b)) in [(0, 1), (0, 2), (1, 2)].into_iter().enumerate() {
            let members: Vec<usize> = (0..codes.len()).filter(|&i| codes[i] == a || codes[i] == b).collect();
            let alone = kfd.fit(&rbf(0.5), &data.select(&members)).unwrap();
            let of_pair: Vec<f64> = scores.iter().skip(p).step_by(3).copied().collect();
            // the margin rule searches its slope to half of the digits
            near(&of_pair, &alone.scores(&data).unwrap(), 1e-6, &format!("{a} {b}"));
        }
        assert!(error(&model, &data, &codes) < 0.2);
    }
    // one against the rest: the outputs are those of two classes each
    let whole = base(Penalty::Coefficients).fit(&rbf(0.5), &data).unwrap();
    for c in 0..3 {
        let two: Vec<usize> = codes.iter().map(|&k| usize::from(k != c)).collect();
        let alone = base(Penalty::Coefficients).fit(&rbf(0.5), &labelled(&x, &two)).unwrap();
        let of_class: Vec<f64> = whole.scores(&data).unwrap().iter().skip(c).step_by(3).copied().collect();
        near(&of_class, &alone.scores(&data).unwrap(), 1e-6, "one against the rest");
    }
}

#[test]
fn what_cannot_be_is_said() {
    let (x, codes) = clouds(&[10, 9], 7);
    let data = labelled(&x, &codes);
    let said = |kfd: Kfd, kernel: &Formula, data: &Dataset| kfd.fit(kernel, data).unwrap_err().to_string();
    let plain = || base(Penalty::Norm);
    for (kfd, part) in [
        (base(Penalty::Sparse), "use sparse_kfd"),
        (Kfd { solver: KfdSolver::Pairs, ..base(Penalty::Coefficients) }, "penalty = norm"),
        (Kfd { solver: KfdSolver::Greedy, lambda: Auto::Word("loo"), ..plain() }, "solver = auto"),
        (Kfd { lambda: 0.0.into(), ..plain() }, "lambda = 0 must be > 0"),
        (Kfd { class_weight: "class 9:2".to_owned(), ..plain() }, "no class class 9"),
    ] {
        let text = said(kfd, &rbf(0.5), &data);
        assert!(text.contains(part), "{text}");
    }
    let one = labelled(&x, &vec![0; codes.len()]);
    assert!(said(plain(), &rbf(0.5), &one).contains("only the class"), "{}", said(plain(), &rbf(0.5), &one));
    // one example of a class is enough for the programme
    let (x, codes) = clouds(&[12, 1], 8);
    let single = labelled(&x, &codes);
    for solver in [KfdSolver::Auto, KfdSolver::Eigen, KfdSolver::Greedy, KfdSolver::Subset, KfdSolver::Pairs] {
        let model = Kfd { solver, ..plain() }.fit(&rbf(0.5), &single).unwrap();
        assert!(model.scores(&single).unwrap().iter().all(|s| s.is_finite()), "{solver:?}");
    }
    // too little memory: told, or another solver
    let tight = |solver, penalty| {
        let kfd = Kfd { solver, points: 5, ..base(penalty) };
        Job { budget: Budget { memory: 20_000 }, ..Job::new(&kfd, &rbf(0.5)) }.run(&data, &Silent)
    };
    let small = tight(KfdSolver::Cholesky, Penalty::Norm).err().map(|e| e.to_string()).unwrap_or_default();
    assert!(small.contains("memory budget"), "{small}");
    assert!(tight(KfdSolver::Auto, Penalty::Norm).unwrap().fitted.report.storage.contains("rows in f32"));
    assert!(tight(KfdSolver::Auto, Penalty::Coefficients).unwrap().fitted.report.storage.contains("chosen columns"));
}

#[test]
fn separable_classes_may_be_projected_the_wrong_way_round() {
    // Devroye, Györfi & Lugosi, problem 4.9: most of the positive class stands to the left, most of the negative one to the
    // right, but few far examples draw the means the other way. The second coordinate parts the classes, and has so much
    // scatter that it counts for nothing.
    for rare in [20, 100, 300] {
        let share = 1.0 / f64::from(rare);
        let (far, high) = (2.0 * f64::from(rare), 20.0 * f64::from(rare));
        let class = (0..rare).map(|i| match i {
            0 => [far, 1e-3],
            1 => [-1.0, high],
            _ => [-1.0, 1e-3],
        });
        let plus: Vec<[f64; 2]> = class.collect();
        let values: Vec<f64> = plus.iter().flat_map(|x| [x[0], x[1], -x[0], -x[1]]).collect();
        let codes: Vec<usize> = (0..2 * plus.len()).map(|i| i % 2).collect();
        assert!(values.chunks_exact(2).zip(&codes).all(|(x, &c)| (x[1] > 0.0) == (c == 0)), "a line parts them");
        let x = Rows::new(values, codes.len(), 2).unwrap();
        let data = labelled(&x, &codes);
        let wrong = |threshold: Threshold| {
            let kfd = Kfd { lambda: 1e-3.into(), penalty: Penalty::Norm, threshold, ..Kfd::default() };
            let model = kfd.fit(&linear(), &data).unwrap();
            (error(&model, &data, &codes), model.scores(&data).unwrap())
        };
        let (own, scores) = wrong(Threshold::Programme);
        assert!(own > 1.0 - 3.0 * share, "{rare}: {own}");
        // no cut that keeps the direction is much better than chance
        let errors = |cut: f64| {
            let told = scores.iter().zip(&codes).filter(|(s, c)| (**s > cut) != (**c == 0));
            told.count() as f64 / codes.len() as f64
        };
        let cuts = scores.iter().flat_map(|s| [s.next_up(), s.next_down()]);
        let best = cuts.map(errors).fold(1.0, f64::min);
        assert!(best > 0.5 - 3.0 * share && best < 0.5, "{rare}: {best}");
        // the rule of errors turns it round; rules that look at sizes are led astray by the far examples
        let turned = wrong(Threshold::Errors).0;
        assert!(turned > 0.0 && turned < 3.0 * share, "{rare}: {turned}");
        assert!(wrong(Threshold::Gaussian).0 > 0.4 && wrong(Threshold::SharedGaussian).0 > 0.4, "{rare}");
        let fisher = LinearFisher::default().fit(&linear(), &data).unwrap();
        assert!(error(&fisher, &data, &codes) > 1.0 - 3.0 * share, "{rare}");
    }
}

#[test]
fn a_lambda_by_leaving_out_is_that_of_learning_again_whatever_the_weights() {
    let (x, codes) = clouds(&[14, 11], 9);
    let weights: Vec<f64> = (0..25).map(|i| 0.5 + f64::from(i % 4)).collect();
    let data = labelled(&x, &codes).with_weights(weights.clone()).unwrap();
    for penalty in [Penalty::Norm, Penalty::Coefficients] {
        let kfd = |lambda: f64| Kfd { lambda: lambda.into(), threshold: Threshold::Programme, ..base(penalty) };
        let sign = |p: usize| if codes[p] == 0 { 1.0 } else { -1.0 };
        let residuals = |lambda: f64| -> Vec<f64> {
            let without = |p: usize| {
                let rest: Vec<usize> = (0..25).filter(|&i| i != p).collect();
                let score =
                    kfd(lambda).fit(&rbf(0.5), &data.select(&rest)).unwrap().scores(&data.select(&[p])).unwrap()[0];
                sign(p) - score
            };
            (0..25).map(without).collect()
        };
        let chosen = Kfd { lambda: Auto::Word("loo"), ..kfd(1.0) }.fit(&rbf(0.5), &data).unwrap();
        let lambda = note(&chosen, "lambda");
        let again = residuals(lambda);
        let mean_square = again.iter().map(|r| r * r).sum::<f64>() / 25.0;
        near(&[note(&chosen, "loo_rmse")], &[mean_square.sqrt()], 1e-6, "loo_rmse");
        let wrong = (0..25).filter(|&p| sign(p) * (sign(p) - again[p]) < 0.0).count();
        near(&[note(&chosen, "loo_error")], &[wrong as f64 / 25.0], 1e-12, "loo_error");
        // no λ of a grid has a smaller weighted sum of what learning again leaves
        let loss = |r: &[f64]| r.iter().zip(&weights).map(|(r, w)| w * r * r).sum::<f64>();
        let best = loss(&again);
        for factor in [0.2, 0.5, 0.8, 1.25, 2.0, 5.0] {
            assert!(best <= loss(&residuals(lambda * factor)) * (1.0 + 1e-6), "{penalty:?}: {lambda} times {factor}");
        }
    }
}
