//! Kernel discriminants against linear Fisher, against the definition of the quotient, and where they must refuse.

use super::super::testing::{Kernel, Points, gauss, linear, mapped, matrix, note};
use super::*;
use crate::data::Target;
use crate::gram::{Budget, Dense};
use crate::linalg::Cholesky;
use crate::seed::Seed;
use crate::watch::Silent;
use std::sync::Arc;

/// Clouds of classes that overlap.
fn clouds(sizes: &[usize], d: usize, seed: u64) -> (Points, Vec<usize>) {
    let mut random = Seed(seed).stream("clouds");
    let codes: Vec<usize> = sizes.iter().enumerate().flat_map(|(c, &n)| vec![c; n]).collect();
    let place = |c: usize, j: usize| (c as f64 + 1.0) * ((c * d + j) as f64 * 1.7).sin();
    let x = codes.iter().map(|&c| (0..d).map(|j| random.normal() + place(c, j)).collect()).collect();
    (x, codes)
}

fn fit(machine: &Kda, x: &Points, codes: &[usize], kernel: Kernel) -> Result<Fitted, FitError> {
    let target = Target::from(codes.iter().map(|c| format!("c{c}")).collect::<Vec<_>>());
    let n = x.len();
    let task = Task {
        target: Some(&target),
        budget: Budget { memory: 1 << 30 },
        ..Task::new(Arc::new(Dense::new(matrix(x, kernel), n, n).unwrap()))
    };
    machine.run(&task, &Silent)
}

fn unwanted(words: &str, components: usize) -> Kda {
    Kda { unwanted: words.to_owned(), components, ..Kda::default() }
}

#[test]
fn with_the_linear_kernel_the_direction_is_that_of_fisher() {
    let (x, codes) = clouds(&[30, 22], 3, 1);
    let fitted = fit(&unwanted("within", 1), &x, &codes, linear).unwrap();
    // S_W⁻¹(m₁ − m₀) by hand
    let mean = |c: usize, j: usize| {
        let own: Vec<f64> = (0..52).filter(|&i| codes[i] == c).map(|i| x[i][j]).collect();
        own.iter().sum::<f64>() / own.len() as f64
    };
    let mut scatter = vec![0.0; 9];
    for i in 0..52 {
        for p in 0..9 {
            scatter[p] += (x[i][p / 3] - mean(codes[i], p / 3)) * (x[i][p % 3] - mean(codes[i], p % 3));
        }
    }
    let gap: Vec<f64> = (0..3).map(|j| mean(1, j) - mean(0, j)).collect();
    let mut w = gap.clone();
    Cholesky::factor(scatter, 3).unwrap().solve(&mut w, 1);
    let separation: f64 = w.iter().zip(&gap).map(|(w, g)| w * g).sum();
    let length = w.iter().map(|w| w * w).sum::<f64>().sqrt();
    let unit =
        |j: usize| mapped(&fitted, &x, linear, &(0..3).map(|k| f64::from(u8::from(k == j))).collect::<Vec<_>>())[0];
    let sign = (unit(0) * w[0]).signum();
    for j in 0..3 {
        assert!((unit(j) - sign * w[j] / length).abs() < 1e-9, "{j}");
    }
    // J of the thesis times n₁n₂/n
    let quotient = separation * 30.0 * 22.0 / 52.0;
    assert!((note(&fitted, "quotient_1") - quotient).abs() < 1e-9 * quotient);
    // a small weight on the coefficients changes little
    let near = fit(&unwanted("within + 1e-9*coefficients", 1), &x, &codes, linear).unwrap();
    assert!((mapped(&near, &x, linear, &x[3])[0].abs() - mapped(&fitted, &x, linear, &x[3])[0].abs()).abs() < 1e-5);
}

#[test]
fn a_quotient_is_what_the_coordinates_show() {
    let (x, codes) = clouds(&[20, 15, 25], 2, 2);
    for words in ["within + 0.01*norm", "within + 0.01*coefficients", "within + 0.02*norm + 0.03*coefficients"] {
        let fitted = fit(&unwanted(words, 2), &x, &codes, gauss).unwrap();
        let crate::machines::Coefficients::Dual { alpha, .. } = &fitted.expansion.coefficients else { panic!() };
        for j in 0..2 {
            let f: Vec<f64> = x.iter().map(|z| mapped(&fitted, &x, gauss, z)[j]).collect();
            let mean = |keep: &dyn Fn(usize) -> bool| {
                let own: Vec<f64> = (0..60).filter(|&i| keep(i)).map(|i| f[i]).collect();
                (own.iter().sum::<f64>() / own.len() as f64, own.len() as f64)
            };
            let all = mean(&|_| true).0;
            let (mut between, mut within) = (0.0, 0.0);
            for c in 0..3 {
                let (m, count) = mean(&|i| codes[i] == c);
                between += count * (m - all).powi(2);
                within += (0..60).filter(|&i| codes[i] == c).map(|i| (f[i] - m).powi(2)).sum::<f64>();
            }
            let a: Vec<f64> = alpha.iter().skip(j).step_by(2).copied().collect();
            let norm: f64 = (0..3600).map(|p| a[p / 60] * gauss(&x[p / 60], &x[p % 60]) * a[p % 60]).sum();
            assert!((norm - 1.0).abs() < 1e-7, "‖w‖² = {norm}");
            let squares: f64 = a.iter().map(|a| a * a).sum();
            let rest = match words {
                "within + 0.01*norm" => 0.01,
                "within + 0.01*coefficients" => 0.01 * squares,
                _ => 0.02 + 0.03 * squares,
            };
            let quotient = note(&fitted, &format!("quotient_{}", j + 1));
            assert!((between / (within + rest) / quotient - 1.0).abs() < 1e-6, "{words} {j}");
        }
    }
}

#[test]
fn classes_less_one_directions_and_no_more() {
    let (x, codes) = clouds(&[20, 15, 25], 4, 3);
    let fitted = fit(&Kda { components: 5, ..Kda::default() }, &x, &codes, gauss).unwrap();
    assert_eq!(fitted.expansion.outputs(), 2);
    assert!(fitted.report.advice[0].contains("5 directions") && fitted.report.advice[0].contains("only 2"));
    // the sum of two matrices takes the long road; a weight alone changes nothing but the quotient
    let double = Kda { wanted: "2*between".to_owned(), ..Kda::default() };
    let plain = fit(&Kda::default(), &x, &codes, gauss).unwrap();
    let twice = fit(&double, &x, &codes, gauss).unwrap();
    assert!((note(&twice, "quotient_1") / note(&plain, "quotient_1") - 2.0).abs() < 1e-9);
    let sum = Kda { wanted: "between + 1e-300*covariance".to_owned(), ..Kda::default() };
    let long = fit(&sum, &x, &codes, gauss).unwrap();
    for z in &x {
        let (a, b) = (mapped(&plain, &x, gauss, z), mapped(&long, &x, gauss, z));
        assert!(a.iter().zip(&b).all(|(a, b)| (a.abs() - b.abs()).abs() < 1e-7), "{a:?} {b:?}");
    }
}

#[test]
fn limits_of_the_weight_are_the_difference_of_means() {
    // norm: a ∝ 1/n₁ on one class and −1/n₀ on the other; coefficients: a ∝ δ, the kernel values' difference of means
    let (x, codes) = clouds(&[18, 30], 2, 4);
    let alpha = |words: &str| {
        let fitted = fit(&unwanted(words, 1), &x, &codes, gauss).unwrap();
        let crate::machines::Coefficients::Dual { alpha, .. } = fitted.expansion.coefficients else { panic!() };
        alpha
    };
    let cosine = |a: &[f64], b: &[f64]| {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        (dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()).abs()
    };
    let means: Vec<f64> = codes.iter().map(|&c| if c == 1 { 1.0 / 30.0 } else { -1.0 / 18.0 }).collect();
    let values: Vec<f64> = x.iter().map(|z| x.iter().zip(&means).map(|(y, m)| m * gauss(z, y)).sum()).collect();
    // through coordinates: a itself is only known up to what the kernel does not see
    let image =
        |a: &[f64]| -> Vec<f64> { x.iter().map(|z| x.iter().zip(a).map(|(y, a)| a * gauss(z, y)).sum()).collect() };
    assert!(1.0 - cosine(&image(&alpha("within + 1e9*norm")), &image(&means)) < 1e-9);
    assert!(1.0 - cosine(&alpha("within + 1e9*coefficients"), &values) < 1e-9);
}

#[test]
fn a_kernel_of_full_rank_needs_a_weight() {
    let (x, codes) = clouds(&[15, 15], 2, 5);
    let sharp: Kernel = |a, b| (-20.0 * a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>()).exp();
    let said = fit(&unwanted("within", 1), &x, &codes, sharp).unwrap_err().to_string();
    assert!(said.contains("within + 0.001*coefficients") && said.contains("no maximum"), "{said}");
    let said = fit(&unwanted("within + norm", 1), &x, &[0; 30], sharp).unwrap_err().to_string();
    assert!(said.contains("at least two"), "{said}");
}
