//! The system of the penalty on coefficients without the square of K.

use super::super::path::Path;
use super::super::shifted::{discriminants, mended, shifted};
use super::*;
use crate::linalg::SolveError;
use crate::linalg::symmetric_eigen;
use crate::watch::{Monitor, Progress, Status, Stop};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn a_factor_of_the_shifted_matrix_leads_to_the_solution() {
    let uneven = Case { weights: (0..70).map(|i| 10.0_f64.powi(i % 5 - 2)).collect(), ..Case::new(70, 30, 33) };
    let alike = Case { weights: vec![2.5; 60], ..Case::new(60, 20, 32) };
    for case in [Case::new(300, 110, 31), alike, Case::new(65, 25, 34).weighted(), uneven] {
        let n = case.n;
        let second: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
        let y: Vec<f64> = case.y.iter().zip(&second).flat_map(|(a, b)| [*a, *b]).collect();
        for lambda in [1e-6, 1e-2, 1.0, 100.0] {
            let aim = Aim { y: &y, outputs: 2, ..case.aim(lambda, Quadratic::Coefficients) };
            let found = shifted(&case.gram(), &aim, &Silent).unwrap().unwrap();
            let direct = bordered(&case.gram(), &aim, &Silent).unwrap().found;
            assert!(found.relative_residual <= 1e-9, "{n} {lambda}: {}", found.relative_residual);
            near(&found.alpha, &direct.alpha, 1e-8, "α");
            near(&found.scores, &direct.scores, 1e-8, "scores");
            near(&found.offsets, &direct.offsets, 1e-8, "offsets");
            near(&found.objectives, &direct.objectives, 1e-8, "objectives");
            assert!(found.gaps.unwrap().iter().all(|g| *g >= 0.0 && *g < 1e-12));
            // the normal equations, which have no dual variables
            for (c, y) in [&case.y, &second].into_iter().enumerate() {
                let one = Case { y: y.clone(), x: case.x.clone(), k: case.k.clone(), weights: case.weights.clone(), n };
                let (alpha, b) = normal_equations(&one, lambda, Quadratic::Coefficients);
                let own: Vec<f64> = found.alpha.iter().skip(c).step_by(2).copied().collect();
                near(&own, &alpha, 1e-6, "normal equations");
                near(&found.offsets[c..=c], &[b], 1e-6, "normal equations");
            }
        }
    }
}

#[test]
fn the_shifted_square_is_as_near_as_the_weights_are_alike() {
    // the eigenvalues of (K² + D²)x = μ (K + D)²x are between ½ and (1 + κ)/2, κ² the ratio of the weights
    for (case, ratio) in [(Case::new(30, 12, 35), 1.0), (Case::new(30, 12, 36).weighted(), 7.0)] {
        let (n, lambda) = (case.n, 0.3_f64);
        let d: Vec<f64> = case.weights.iter().map(|w| (lambda / w).sqrt()).collect();
        let c: Vec<f64> = (0..n * n).map(|p| case.k[p] + if p / n == p % n { d[p / n] } else { 0.0 }).collect();
        let unit = |p: usize| (0..n).map(|i| f64::from(u8::from(i == p))).collect::<Vec<f64>>();
        let inverse: Vec<Vec<f64>> = (0..n).map(|p| eliminate(c.clone(), unit(p))).collect();
        let mut a = square(&case.k, n);
        (0..n).for_each(|i| a[i * n + i] += d[i] * d[i]);
        let half: Vec<f64> = (0..n * n).map(|p| (0..n).map(|j| a[p / n * n + j] * inverse[p % n][j]).sum()).collect();
        let seen: Vec<f64> =
            (0..n * n).map(|p| (0..n).map(|j| inverse[p / n][j] * half[j * n + p % n]).sum()).collect();
        let values = symmetric_eigen(seen, n).unwrap().values;
        let (low, high) = values.iter().fold((f64::INFINITY, 0.0_f64), |(l, h), v| (l.min(*v), h.max(*v)));
        let most = 0.5 * (1.0 + f64::sqrt(ratio));
        assert!((0.5 - 1e-9..0.7).contains(&low) && high <= most + 1e-9, "{low} {high}");
    }
}

/// Lets so many questions pass.
struct Soon(AtomicUsize);

impl Monitor for Soon {
    fn step(&self, _: &Progress) -> ControlFlow<Stop> {
        let left = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        if left.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(Stop::TimeLimit) }
    }
}

#[test]
fn where_the_shifted_matrix_does_not_help_the_square_is_factorised() {
    let case = Case::new(40, 18, 37);
    let aim = case.aim(0.1, Quadratic::Coefficients);
    let mut k = case.k.clone();
    k[0] = -5.0;
    let indefinite = Dense::new(k, 40, 40).unwrap();
    assert!(shifted(&indefinite, &aim, &Silent).unwrap().is_none());
    let direct = bordered(&indefinite, &aim, &Silent).unwrap().found;
    assert_eq!(discriminants(&indefinite, &aim, &Silent).unwrap().alpha, direct.alpha);
    // all examples alike and λ below rounding: whatever comes out is no worse than the factor's
    let (ones, little) = (Dense::new(vec![1.0; 1600], 40, 40).unwrap(), case.aim(1e-20, Quadratic::Coefficients));
    let found = discriminants(&ones, &little, &Silent).unwrap();
    let direct = bordered(&ones, &little, &Silent).unwrap().found;
    assert!(found.scores.iter().all(|f| f.is_finite()) && found.relative_residual <= direct.relative_residual);
    let broken = Dense::new((0..1600).map(|p| if p == 42 { f64::NAN } else { 1.0 }).collect(), 40, 40).unwrap();
    assert_eq!(discriminants(&broken, &aim, &Silent).unwrap_err(), SolveError::NotFinite { row: 2, column: 3 });
    // matrix, factorisation and each step ask whether to go on
    for questions in [0, 1, 2, 5] {
        let told = discriminants(&case.gram(), &aim, &Soon(AtomicUsize::new(questions)));
        assert_eq!(told.unwrap_err(), SolveError::Stopped { reason: Stop::TimeLimit });
    }
    assert!(discriminants(&case.gram(), &aim, &Soon(AtomicUsize::new(100))).is_ok());
    // the norm has no square
    let norm = case.aim(0.1, Quadratic::Norm);
    let found = discriminants(&case.gram(), &norm, &Silent).unwrap();
    assert_eq!(found.alpha, bordered(&case.gram(), &norm, &Silent).unwrap().found.alpha);
}

/// Two columns of numbers around ten thousand times as far apart as λ would like, and the least squares of ±1 on them: with such columns
/// no penalty counts.
fn wide(weighted: bool) -> (Case, f64) {
    let mut case = if weighted { Case::new(60, 22, 38).weighted() } else { Case::new(60, 22, 38) };
    let (n, x) = (case.n, case.x.clone());
    let column = |i: usize| [x[2 * i], x[2 * i + 1], 1.0];
    let (mut a, mut right) = (vec![0.0; 9], vec![0.0; 3]);
    for i in 0..n {
        for p in 0..3 {
            right[p] += case.weights[i] * column(i)[p] * case.y[i];
            (0..3).for_each(|q| a[3 * p + q] += case.weights[i] * column(i)[p] * column(i)[q]);
        }
    }
    let found = eliminate(a, right);
    let score = |i: usize| (0..3).map(|p| column(i)[p] * found[p]).sum::<f64>();
    let least = (0..n).map(|i| 0.5 * case.weights[i] * (case.y[i] - score(i)).powi(2)).sum();
    case.x.iter_mut().for_each(|x| *x *= 1e4);
    (case.linear(), least)
}

#[test]
fn columns_of_large_numbers_leave_the_minimum_or_are_told_to_leave_none() {
    for weighted in [false, true] {
        let (case, least) = wide(weighted);
        let image = |found: &Discriminants| -> Vec<f64> {
            let row = |i: usize| (0..case.n).map(|j| case.k[i * case.n + j] * found.alpha[j]).sum::<f64>();
            (0..case.n).map(|i| row(i) + found.offsets[0]).collect()
        };
        // λ = 1 is less than what rounding leaves of the square, whose entries are near 10¹⁹
        let aim = case.aim(1.0, Quadratic::Coefficients);
        let direct = bordered(&case.gram(), &aim, &Silent).map(|b| b.found);
        assert!(direct.as_ref().is_ok_and(|found| !found.holds()), "the square alone does not do");
        let mended = mended(direct, &case.gram(), &aim, &Silent).unwrap();
        let mut found = vec![("mended", mended), ("alone", discriminants(&case.gram(), &aim, &Silent).unwrap())];
        if !weighted {
            // with weights the path is that of the square, which has no eigenvalues of this size
            let path = Path::new(case.k.clone(), &aim).unwrap();
            found.push(("path", path.conclude(&path.at(1.0).unwrap(), &aim)));
        }
        for (way, found) in &found {
            assert!(found.holds(), "{weighted} {way}: {}", found.relative_residual);
            assert!((found.objectives[0] - least).abs() < 1e-6 * least, "{way}: {} {least}", found.objectives[0]);
            assert!(found.gaps.as_ref().unwrap()[0] < 1e-6 * least, "{way}: {:?}", found.gaps);
            near(&found.scores, &image(found), 1e-5, way);
        }
        // λ is a digit of the diagonal, or less: what is told is the value at these coefficients, and never below the minimum
        for lambda in [1e-3, 1e-6, 1e-9] {
            let aim = case.aim(lambda, Quadratic::Norm);
            let found = bordered(&case.gram(), &aim, &Silent).unwrap().found;
            let (value, gap) = (found.objectives[0], found.gaps.as_ref().unwrap()[0]);
            let noise = least * 1e-6 + found.relative_residual * case.y.len() as f64;
            assert!(value > least - noise, "{lambda}: {value} {least}");
            assert!(!found.holds() || value < least * (1.0 + 1e-4), "{lambda}: {value} {least}, gap {gap}");
        }
        let lost = bordered(&case.gram(), &case.aim(1e-9, Quadratic::Norm), &Silent).unwrap().found;
        assert_eq!(lost.status(), Status::IterationLimit, "{}", lost.relative_residual);
    }
}
