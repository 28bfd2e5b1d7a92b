//! Logistic regression against its optimality conditions.

use super::*;
use crate::data::{Dataset, Rows, Target};
use crate::formula::linear;
use crate::job::Fit;
use crate::model::Model;
use crate::seed::Seed;

fn overlapping(n: usize, seed: u64) -> (Rows<f64>, Vec<usize>) {
    let mut random = Seed(seed).stream("overlapping");
    let codes: Vec<usize> = (0..n).map(|_| random.below(3)).collect();
    let units = [1e-3, 1.0, 1e4];
    let x = codes.iter().flat_map(|&c| [0, 1, 2].map(|j| units[j] * (random.normal() + f64::from(u8::from(c == j)))));
    let x = x.collect();
    (Rows::new(x, n, 3).unwrap(), codes)
}

fn labelled(x: &Rows<f64>, codes: &[usize]) -> Dataset {
    let labels: Vec<String> = codes.iter().map(|c| format!("class {c}")).collect();
    Dataset::new(x.clone()).with_target(Target::from(labels)).unwrap()
}

/// The largest derivative of P of a problem, each in the unit of its coordinate.
fn slope(model: &Model, x: &Rows<f64>, signs: &[f64], weights: &[f64], lambda: f64, c: usize) -> f64 {
    let Coefficients::Primal { weights: w, width, .. } = &model.fitted.expansion.coefficients else { panic!() };
    let outputs = model.fitted.expansion.outputs();
    let mut slopes = vec![0.0; width + 1];
    for (i, y) in signs.iter().enumerate() {
        let f: f64 = (0..*width).map(|j| w[j * outputs + c] * x.row(i)[j]).sum::<f64>();
        let pull = -weights[i] * y / (1.0 + (y * (f + model.fitted.expansion.offsets[c])).exp());
        (0..*width).for_each(|j| slopes[j] += pull * x.row(i)[j]);
        slopes[*width] += pull;
    }
    let unit = |j: usize| (0..x.len()).map(|i| x.row(i)[j].abs()).fold(0.0, f64::max);
    let own = |j: usize| (slopes[j] + lambda * w[j * outputs + c]).abs() / unit(j);
    (0..*width).map(own).fold(slopes[*width].abs(), f64::max)
}

#[test]
fn no_derivative_is_left_at_the_end() {
    let (x, codes) = overlapping(300, 1);
    let weights: Vec<f64> = (0..300).map(|i| 0.5 * f64::from(i % 4)).collect();
    for lambda in [0.0, 1.0, 50.0] {
        let machine = LogisticRegression { lambda, tolerance: 1e-9, ..LogisticRegression::default() };
        let data = labelled(&x, &codes).with_weights(weights.clone()).unwrap();
        let model = machine.fit(&linear(), &data).unwrap();
        assert_eq!(model.fitted.report.status, Status::Converged);
        assert!(model.fitted.report.advice.is_empty());
        for c in 0..3 {
            let signs: Vec<f64> = codes.iter().map(|&k| if k == c { 1.0 } else { -1.0 }).collect();
            let left = slope(&model, &x, &signs, &weights, lambda, c);
            assert!(left < 1e-6, "{lambda} {c}: {left}");
        }
    }
    // two classes are one function, positive for the first
    let two: Vec<usize> = codes.iter().map(|&c| c.min(1)).collect();
    let model = LogisticRegression::default().fit(&linear(), &labelled(&x, &two)).unwrap();
    assert_eq!(model.fitted.expansion.outputs(), 1);
    let signs: Vec<f64> = two.iter().map(|&k| if k == 0 { 1.0 } else { -1.0 }).collect();
    assert!(slope(&model, &x, &signs, &[1.0; 300], 1.0, 0) < 1e-4);
}

#[test]
fn a_large_penalty_leaves_the_odds_of_the_classes() {
    let (x, codes) = overlapping(200, 2);
    let two: Vec<usize> = codes.iter().map(|&c| c.min(1)).collect();
    let machine = LogisticRegression { lambda: 1e18, ..LogisticRegression::default() };
    let model = machine.fit(&linear(), &labelled(&x, &two)).unwrap();
    let first = two.iter().filter(|&&c| c == 0).count() as f64;
    let odds = (first / (200.0 - first)).ln();
    let scores = model.scores(&Dataset::new(x)).unwrap();
    assert!(scores.iter().all(|s| (s - odds).abs() < 1e-5), "{odds} {:?}", &scores[..3]);
}

#[test]
fn separable_classes_without_a_penalty_are_told_of() {
    let x = Rows::from_vectors(&[[-2.0, 1.0], [-1.0, 0.0], [1.0, 0.5], [3.0, 0.2]]).unwrap();
    let data = labelled(&x, &[0, 0, 1, 1]);
    let free = LogisticRegression { lambda: 0.0, ..LogisticRegression::default() }.fit(&linear(), &data).unwrap();
    assert!(free.fitted.report.advice[0].contains("lambda above zero"));
    assert_eq!(free.predict(&data).unwrap().labels(), ["class 0", "class 0", "class 1", "class 1"]);
    let held = LogisticRegression::default().fit(&linear(), &data).unwrap();
    assert!(held.fitted.report.advice.is_empty() && held.fitted.report.status == Status::Converged);
}

#[test]
fn coordinates_that_depend_on_each_other_change_no_score() {
    let (x, codes) = overlapping(150, 3);
    let two: Vec<usize> = codes.iter().map(|&c| c.min(1)).collect();
    // a sum of two coordinates in their units, a constant, and nothing
    let wide = (0..150).flat_map(|i| {
        let r = x.row(i);
        [r[0], r[1], r[2], 1e3 * r[0] + r[1], 0.3, 0.0]
    });
    let wide = Rows::new(wide.collect(), 150, 6).unwrap();
    let machine = LogisticRegression { lambda: 0.0, tolerance: 1e-9, ..LogisticRegression::default() };
    let scores = |x: &Rows<f64>| {
        let model = machine.fit(&linear(), &labelled(x, &two)).unwrap();
        assert_eq!(model.fitted.report.status, Status::Converged);
        model.scores(&Dataset::new(x.clone())).unwrap()
    };
    let (plain, dependent) = (scores(&x), scores(&wide));
    assert!(plain.iter().zip(&dependent).all(|(a, b)| (a - b).abs() < 1e-5));
    assert!(plain.iter().any(|s| s.abs() > 1.0));
}

#[test]
fn probabilities_of_two_classes_are_those_of_the_odds() {
    use crate::machines::Output;
    use crate::machines::classify::kernel_logistic;
    use crate::machines::multiclass::Strategy;
    let (x, codes) = overlapping(90, 4);
    let two: Vec<usize> = codes.iter().map(|&c| c.min(1)).collect();
    let told = |machine: &dyn Machine, codes: &[usize]| {
        let job = crate::job::Job::new(machine, &linear());
        let model = job.run(&labelled(&x, codes), &crate::watch::Silent).unwrap();
        let new = Dataset::new(x.clone());
        let Output::Labels { probabilities, .. } = model.predict(&new).unwrap() else { panic!() };
        (probabilities, model.scores(&new).unwrap())
    };
    for machine in [&LogisticRegression::default() as &dyn Machine, &kernel_logistic(0.5)] {
        let (probabilities, scores) = told(machine, &two);
        let probabilities = probabilities.unwrap();
        for (p, f) in probabilities.chunks(2).zip(&scores) {
            let odds = 1.0 / (1.0 + (-f).exp());
            assert!((p[0] - odds).abs() < 1e-6 && (p[0] + p[1] - 1.0).abs() < 1e-6, "{p:?} {odds}");
        }
        // one class against the rest has odds of its own, which are not those of the classes among one another
        assert!(told(machine, &codes).0.is_none());
    }
    let pairs = crate::machines::programme::Programme { strategy: Strategy::OneVsOne, ..kernel_logistic(0.5) };
    let (probabilities, _) = told(&pairs, &codes);
    assert!(probabilities.unwrap().chunks(3).all(|p| (p.iter().sum::<f64>() - 1.0).abs() < 1e-9));
    // weights of classes move the odds on purpose
    let weighed = crate::machines::programme::Programme { class_weight: "balanced".to_owned(), ..kernel_logistic(0.5) };
    assert!(told(&weighed, &two).0.is_none());
}
