//! Partial Gram–Schmidt against its identities: exact on the chosen examples, new as old, all of K in the end.

use super::super::testing::{Points, fit, fit_on, gauss, linear, mapped, matrix, note, points, tanh};
use super::*;
use crate::gram::{Budget, Dense, Gram};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn machine(components: usize, tolerance: f64) -> IncompleteCholesky {
    IncompleteCholesky { components, tolerance }
}

fn pivots(fitted: &Fitted) -> Vec<usize> {
    fitted.expansion.points().to_vec()
}

fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn training_examples_have_as_new_ones_the_coordinates_of_the_decomposition() {
    let x = points(150, 3);
    let fitted = fit(&machine(25, 1e-14), &x, gauss);
    let gram = Dense::new(matrix(&x, gauss), 150, 150).unwrap();
    let found = GramSchmidt::of(&gram, 0.0, 25, Budget::default()).unwrap();
    assert_eq!((pivots(&fitted), fitted.expansion.outputs()), (found.pivots.clone(), 25));
    for (i, z) in x.iter().enumerate() {
        for (a, b) in mapped(&fitted, &x, gauss, z).iter().zip(&found.coordinates[i * 25..]) {
            assert!((a - b).abs() < 1e-11, "{i}: {a} {b}");
        }
    }
    assert!(fitted.report.violation.unwrap() < 1e-12 && fitted.report.advice.is_empty());
}

/// Gram–Schmidt in the space of coordinates: what the algorithm does with nothing but kernel values.
fn greedy(x: &Points, rank: usize) -> (Vec<usize>, f64) {
    let (mut rest, mut chosen) = (x.clone(), Vec::new());
    for _ in 0..rank {
        let norms: Vec<f64> = rest.iter().map(|r| inner(r, r)).collect();
        let best = (0..x.len()).fold(0, |b, i| if norms[i] > norms[b] { i } else { b });
        let direction: Vec<f64> = rest[best].iter().map(|v| v / norms[best].sqrt()).collect();
        for r in &mut rest {
            let along = inner(r, &direction);
            r.iter_mut().zip(&direction).for_each(|(v, d)| *v -= along * d);
        }
        chosen.push(best);
    }
    let left = rest.iter().map(|r| inner(r, r)).sum::<f64>() / x.iter().map(|r| inner(r, r)).sum::<f64>();
    (chosen, left)
}

#[test]
fn with_the_linear_kernel_it_is_gram_schmidt_on_the_vectors() {
    let x = points(400, 12);
    for rank in [1, 5, 9] {
        let fitted = fit(&machine(rank, 1e-12), &x, linear);
        let (chosen, left) = greedy(&x, rank);
        assert_eq!(pivots(&fitted), chosen);
        assert!((note(&fitted, "residual_trace") - left).abs() < 1e-12);
    }
    // all of the span: nothing is left, and inner products are those of the vectors, also of new ones
    let fitted = fit(&machine(50, 1e-12), &x, linear);
    assert_eq!(note(&fitted, "rank"), 12.0);
    assert!(note(&fitted, "residual_trace") < 1e-14 && note(&fitted, "residual_max") < 1e-12);
    let new = points(2, 12);
    let (a, b) = (mapped(&fitted, &x, linear, &new[0]), mapped(&fitted, &x, linear, &new[1]));
    assert!((inner(&a, &b) - linear(&new[0], &new[1])).abs() < 1e-11);
}

#[test]
fn it_stops_where_no_residual_is_above_the_tolerance_and_chosen_examples_are_exact() {
    let x = points(200, 2);
    let fitted = fit(&machine(200, 1e-3), &x, gauss);
    let rank = fitted.expansion.outputs();
    assert!(rank < 100 && note(&fitted, "residual_max") <= 1e-3, "{rank}");
    let before = fit(&machine(rank - 1, 1e-14), &x, gauss);
    assert!(note(&before, "residual_max") > 1e-3, "one fewer would not do");
    let all: Points = x.iter().map(|z| mapped(&fitted, &x, gauss, z)).collect();
    let mut left = 0.0;
    for (i, a) in all.iter().enumerate() {
        let residual = 1.0 - inner(a, a);
        assert!(residual > -1e-10 && residual <= 1e-3 + 1e-10, "{i}: {residual}");
        left += residual;
        for &p in fitted.expansion.points() {
            assert!((inner(a, &all[p]) - gauss(&x[i], &x[p])).abs() < 1e-9, "{i} {p}");
        }
    }
    assert!((note(&fitted, "residual_trace") - left / 200.0).abs() < 1e-10);
    // twice as large a kernel: the tolerance is relative
    let doubled = fit_on(&machine(200, 1e-3), matrix(&x, gauss).iter().map(|k| 2.0 * k).collect(), Budget::default());
    assert_eq!(pivots(&doubled.unwrap()), pivots(&fitted));
}

#[test]
fn what_it_cannot_learn_from_is_said() {
    let said = |k: Vec<f64>, budget| match fit_on(&machine(10, 1e-6), k, budget) {
        Err(error) => error.to_string(),
        Ok(fitted) => panic!("{:?}", fitted.report),
    };
    assert!(said(vec![0.0; 9], Budget::default()).contains("no κ(x, x) is above zero"));
    assert!(said(Vec::new(), Budget::default()).contains("the training data"));
    assert!(said(vec![1.0, f64::NAN, f64::NAN, 1.0], Budget::default()).contains("row 1, column 2"));
    assert!(said(vec![1.0, 0.0, 0.0, f64::INFINITY], Budget::default()).contains("row 2, column 2"));
    assert!(said(matrix(&points(40, 2), gauss), Budget { memory: 100 }).contains("memory budget"));
    let fitted = fit(&machine(30, 1e-6), &points(60, 3), tanh);
    assert!(fitted.report.advice.iter().any(|a| a.contains("not positive semi-definite")), "{:?}", fitted.report);
}

struct After(usize, AtomicUsize);

impl Monitor for After {
    fn step(&self, _: &Progress) -> ControlFlow<Stop> {
        match self.1.fetch_add(1, Ordering::Relaxed) {
            k if k < self.0 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(Stop::Interrupted),
        }
    }
}

#[test]
fn interrupted_it_keeps_what_it_has() {
    let x = points(100, 3);
    let gram: Arc<dyn Gram> = Arc::new(Dense::new(matrix(&x, gauss), 100, 100).unwrap());
    let run = |steps| {
        let task = Task { seed: crate::seed::Seed(0), ..Task::new(Arc::clone(&gram)) };
        machine(50, 1e-12).run(&task, &After(steps, AtomicUsize::new(0)))
    };
    let some = run(7).unwrap();
    assert_eq!((some.expansion.outputs(), some.report.status), (7, Status::Interrupted));
    assert_eq!(pivots(&some), pivots(&fit(&machine(7, 1e-12), &x, gauss)));
    assert!(run(0).unwrap_err().to_string().contains("stopped"));
}
