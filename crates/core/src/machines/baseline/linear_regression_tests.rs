//! Linear regression against the conditions of a least and shortest solution.

use super::*;
use crate::data::{Dataset, Rows, SparseRows, Target};
use crate::formula::linear;
use crate::job::Fit;
use crate::model::Model;
use crate::seed::Seed;

fn numbers(n: usize, seed: u64) -> Vec<f64> {
    let mut random = Seed(seed).stream("numbers");
    (0..n).map(|_| random.normal()).collect()
}

fn fit(x: &Rows<f64>, y: &[f64], weights: Option<Vec<f64>>) -> Model {
    let data = Dataset::new(x.clone()).with_target(Target::from(y.to_vec())).unwrap();
    let data = if let Some(weights) = weights { data.with_weights(weights).unwrap() } else { data };
    LinearRegression::default().fit(&linear(), &data).unwrap()
}

fn plane(model: &Model) -> (Vec<f64>, f64) {
    let Coefficients::Primal { weights, .. } = &model.fitted.expansion.coefficients else { panic!() };
    (weights.clone(), model.fitted.expansion.offsets[0])
}

#[test]
fn residuals_are_orthogonal_to_every_column() {
    // columns in units that differ by ten orders of magnitude, far from zero
    let units = [1e-5, 1.0, 1e5, 3.0];
    let raw = numbers(400, 1);
    let x = Rows::new(raw.iter().enumerate().map(|(p, v)| (v + 10.0) * units[p % 4]).collect(), 100, 4).unwrap();
    let y = numbers(100, 2);
    let weights: Vec<f64> = (0..100).map(|i| f64::from(i % 4)).collect();
    let model = fit(&x, &y, Some(weights.clone()));
    let scores = model.scores(&Dataset::new(x.clone())).unwrap();
    let rest: Vec<f64> = (0..100).map(|i| weights[i] * (y[i] - scores[i])).collect();
    assert!(rest.iter().sum::<f64>().abs() < 1e-9);
    for (j, unit) in units.iter().enumerate() {
        let product: f64 = (0..100).map(|i| rest[i] * x.row(i)[j]).sum();
        assert!((product / unit).abs() < 1e-8, "{j}: {product}");
    }
    assert_eq!(model.fitted.report.notes[0], ("rank".to_owned(), 4.0));
    let squares: f64 = (0..100).map(|i| rest[i] * (y[i] - scores[i])).sum();
    let objective = 0.5 * squares * 100.0 / weights.iter().sum::<f64>();
    assert!((model.fitted.report.objective.unwrap() - objective).abs() < 1e-9);
}

#[test]
fn a_plane_is_found_exactly_and_a_weight_of_two_is_an_example_twice() {
    let x = Rows::new(numbers(150, 3), 50, 3).unwrap();
    let y: Vec<f64> = (0..50).map(|i| 2.0 * x.row(i)[0] - 0.5 * x.row(i)[2] + 7.0).collect();
    let (w, b) = plane(&fit(&x, &y, None));
    assert!(w.iter().zip([2.0, 0.0, -0.5]).all(|(a, b)| (a - b).abs() < 1e-12) && (b - 7.0).abs() < 1e-12, "{w:?} {b}");
    let noisy: Vec<f64> = y.iter().zip(numbers(50, 4)).map(|(y, e)| y + e).collect();
    let places: Vec<usize> = (0..50).flat_map(|i| vec![i; i % 3]).collect();
    let copies: Vec<f64> = places.iter().map(|&i| noisy[i]).collect();
    let (w, b) = plane(&fit(&x, &noisy, Some((0..50).map(|i| f64::from(i % 3)).collect())));
    let (u, c) = plane(&fit(&x.select(&places), &copies, None));
    assert!(w.iter().zip(&u).all(|(a, b)| (a - b).abs() < 1e-12) && (b - c).abs() < 1e-12);
}

#[test]
fn where_many_planes_are_best_the_shortest_is_taken() {
    // a column twice, one of them in another unit, and one that does not vary
    let base = numbers(60, 5);
    let x: Vec<f64> = (0..30).flat_map(|i| [base[2 * i], 3.0 * base[2 * i], base[2 * i + 1], 0.1]).collect();
    let x = Rows::new(x, 30, 4).unwrap();
    let y: Vec<f64> = (0..30).map(|i| 10.0 * base[2 * i] + base[2 * i + 1]).collect();
    let model = fit(&x, &y, None);
    let (w, b) = plane(&model);
    // 10 = a + 3b with the least a² + b²: (1, 3)
    assert!(w.iter().zip([1.0, 3.0, 1.0, 0.0]).all(|(a, b)| (a - b).abs() < 1e-10) && b.abs() < 1e-10, "{w:?} {b}");
    assert_eq!(model.fitted.report.notes[0].1, 2.0);
    // fewer examples than coordinates: all are met, and w is a combination of centred rows
    let x = Rows::new(numbers(8 * 20, 6), 8, 20).unwrap();
    let y = numbers(8, 7);
    let model = fit(&x, &y, None);
    let scores = model.scores(&Dataset::new(x.clone())).unwrap();
    assert!(scores.iter().zip(&y).all(|(a, b)| (a - b).abs() < 1e-10), "{scores:?} {y:?}");
    assert_eq!(model.fitted.report.notes[0].1, 7.0);
    let (w, _) = plane(&model);
    let mean: Vec<f64> = (0..20).map(|j| (0..8).map(|i| x.row(i)[j]).sum::<f64>() / 8.0).collect();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    for i in 0..7 {
        let mut row: Vec<f64> = x.row(i).iter().zip(&mean).map(|(a, m)| a - m).collect();
        for known in &basis {
            let part = dot(known, &row);
            row.iter_mut().zip(known).for_each(|(r, k)| *r -= part * k);
        }
        let length = dot(&row, &row).sqrt();
        basis.push(row.iter().map(|r| r / length).collect());
    }
    let inside: f64 = basis.iter().map(|k| dot(k, &w).powi(2)).sum();
    assert!((inside - dot(&w, &w)).abs() < 1e-10 * inside);
}

#[test]
fn several_targets_and_sparse_rows_are_the_same_lines() {
    let x = Rows::new(numbers(120, 8).iter().map(|v| if *v < 0.0 { 0.0 } else { *v }).collect(), 40, 3).unwrap();
    let (y, z) = (numbers(40, 9), numbers(40, 10));
    let both = Target::from(y.clone()).beside(Target::from(z.clone())).unwrap();
    let sparse = Dataset::new(SparseRows::from_dense(&x)).with_target(both).unwrap();
    let model = LinearRegression::default().fit(&linear(), &sparse).unwrap();
    let scores = model.scores(&sparse).unwrap();
    for (c, target) in [y, z].iter().enumerate() {
        let one = fit(&x, target, None).scores(&Dataset::new(x.clone())).unwrap();
        assert!((0..40).all(|i| (one[i] - scores[2 * i + c]).abs() < 1e-11));
    }
}
