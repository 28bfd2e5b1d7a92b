//! Oriented kernel principal components against kernel principal components and against their conditions.

use super::super::KernelPca;
use super::super::testing::{Kernel, Points, fit, fit_on, gauss, linear, mapped, matrix, note, points, tanh};
use super::*;
use crate::gram::{Budget, Dense};
use crate::machines::{Auxiliary, Role};
use crate::seed::Seed;
use crate::watch::Silent;
use std::sync::Arc;

/// A fit on points with others beside them.
fn fit_beside(
    machine: &OrientedKpca,
    x: &Points,
    others: &Points,
    roles: &[Role],
    names: &[&str],
    kernel: Kernel,
) -> Result<Fitted, FitError> {
    let all: Points = x.iter().chain(others).cloned().collect();
    let dense = |points: &Points| Arc::new(Dense::new(matrix(points, kernel), points.len(), points.len()).unwrap());
    let (budget, gram) = (Budget { memory: 1 << 30 }, dense(x));
    let task = Task { budget, ..Task::new(gram) };
    let transformations: Vec<String> = names.iter().map(|n| (*n).to_owned()).collect();
    let auxiliary = Auxiliary { gram: dense(&all), roles, transformations: &transformations };
    machine.run(&Task { auxiliary: Some(&auxiliary), ..task }, &Silent)
}

/// The variance of a coordinate over points.
fn variance(fitted: &Fitted, all: &Points, kernel: Kernel, of: &Points, j: usize) -> f64 {
    let values: Vec<f64> = of.iter().map(|z| mapped(fitted, all, kernel, z)[j]).collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64
}

fn joined(x: &Points, others: &Points) -> Points {
    x.iter().chain(others).cloned().collect()
}

#[test]
fn beside_the_norm_it_is_kernel_pca_but_for_a_constant() {
    for kernel in [gauss as Kernel, linear] {
        let x = points(45, 4);
        let ours = fit(&OrientedKpca { components: 4, ..OrientedKpca::default() }, &x, kernel);
        let theirs = fit(&KernelPca { components: 4, ..KernelPca::default() }, &x, kernel);
        for j in 0..4 {
            // quotients are the eigenvalues of the centred matrix over n
            let (q, e) = (note(&ours, &format!("quotient_{}", j + 1)), note(&theirs, &format!("eigenvalue_{}", j + 1)));
            assert!((q - e / 45.0).abs() < 1e-12 * e, "{q} {e}");
            let gap = |z: &[f64], sign: f64| mapped(&ours, &x, kernel, z)[j] - sign * mapped(&theirs, &x, kernel, z)[j];
            let (first, other) = (&x[0], &x[7]);
            let sign = if (gap(first, 1.0) - gap(other, 1.0)).abs() < 1e-8 { 1.0 } else { -1.0 };
            for z in x.iter().chain(&points(6, 4)) {
                assert!((gap(z, sign) - gap(first, sign)).abs() < 1e-8, "{j}");
            }
        }
    }
}

#[test]
fn noise_is_avoided() {
    // a wide coordinate that is all noise, and a narrow one that is not
    let mut random = Seed(4).stream("oriented");
    let x: Points = (0..60).map(|_| vec![5.0 * random.normal(), random.normal()]).collect();
    let noise: Points = (0..40).map(|_| vec![5.0 * random.normal(), 0.01 * random.normal()]).collect();
    let roles = vec![Role::Noise; 40];
    let machine = OrientedKpca { unwanted: "noise".to_owned(), components: 1, ..OrientedKpca::default() };
    let fitted = fit_beside(&machine, &x, &noise, &roles, &[], linear).unwrap();
    let (own, theirs) = (variance(&fitted, &x, linear, &x, 0), variance(&fitted, &x, linear, &noise, 0));
    assert!((note(&fitted, "quotient_1") / (own / theirs) - 1.0).abs() < 1e-8);
    // the direction is that of the quiet coordinate
    let along = mapped(&fitted, &x, linear, &[0.0, 1.0])[0].abs();
    assert!(along > 0.999 && along < 1.0 + 1e-12, "{along}");
    let plain = fit(&OrientedKpca { components: 1, ..OrientedKpca::default() }, &x, linear);
    assert!(mapped(&plain, &x, linear, &[0.0, 1.0])[0].abs() < 0.3, "without noise the wide one wins");
}

#[test]
fn a_heavy_tangent_keeps_copies_together() {
    let x = points(40, 3);
    // the transformation moves along the first coordinate
    let copies: Points = x.iter().map(|z| vec![z[0] + 0.3, z[1], z[2]]).collect();
    let roles: Vec<Role> = (0..40).map(|of| Role::Copy { of, transformation: 0 }).collect();
    let apart = |unwanted: &str, expansion: &str| {
        let machine = OrientedKpca {
            unwanted: unwanted.to_owned(),
            expansion: expansion.to_owned(),
            components: 1,
            ..OrientedKpca::default()
        };
        let fitted = fit_beside(&machine, &x, &copies, &roles, &["shift_x=0.3"], gauss).unwrap();
        let all = joined(&x, &copies);
        let coordinate = |z: &[f64]| mapped(&fitted, &all, gauss, z)[0];
        let moved: f64 = x.iter().zip(&copies).map(|(a, b)| (coordinate(a) - coordinate(b)).powi(2)).sum();
        moved / variance(&fitted, &all, gauss, &x, 0)
    };
    let (free, held) = (apart("norm", "examples"), apart("norm + 1000*tangent", "examples"));
    let exact = apart("norm + 1000*tangent(shift_x)", "all");
    assert!(held < 0.1 * free, "{free} {held}");
    // more points can only serve the quotient; here the moved part of it
    assert!(exact < held, "{held} {exact}");
    assert!((apart("norm + 1000*tangent(shift_x=0.3)", "all") - exact).abs() < 1e-9 * exact);
}

#[test]
fn more_points_never_lower_the_quotient_and_all_of_them_are_exact() {
    let x = points(30, 2);
    let noise: Points = points(20, 2).iter().map(|z| vec![z[0] + 1.0, z[1]]).collect();
    let roles = vec![Role::Noise; 20];
    let quotient = |expansion: &str| {
        let machine = OrientedKpca {
            unwanted: "noise + 0.01*norm".to_owned(),
            expansion: expansion.to_owned(),
            components: 1,
            ..OrientedKpca::default()
        };
        note(&fit_beside(&machine, &x, &noise, &roles, &[], gauss).unwrap(), "quotient_1")
    };
    let (some, examples, all) = (quotient("10"), quotient("examples"), quotient("all"));
    assert!(some < examples && examples < all, "{some} {examples} {all}");
    assert!((quotient("30") - examples).abs() < 1e-12 * examples);
}

#[test]
fn more_directions_than_there_are_are_not_given() {
    // three coordinates have three directions
    let fitted = fit(&OrientedKpca { components: 7, ..OrientedKpca::default() }, &points(30, 3), linear);
    assert_eq!((note(&fitted, "components"), fitted.expansion.outputs()), (3.0, 3));
    assert!(fitted.report.advice[0].contains("7 directions") && fitted.report.advice[0].contains("only 3"));
}

#[test]
fn what_is_missing_singular_or_broken_is_told() {
    let x = points(20, 2);
    let said = |unwanted: &str, roles: &[Role], names: &[&str]| {
        let machine = OrientedKpca { unwanted: unwanted.to_owned(), ..OrientedKpca::default() };
        let others: Points = x[..roles.len()].to_vec();
        match fit_beside(&machine, &x, &others, roles, names, gauss) {
            Err(error) => error.to_string(),
            Ok(fitted) => panic!("{:?}", fitted.report),
        }
    };
    assert!(said("noise", &[], &[]).contains("--noise FILE"));
    let copies: Vec<Role> = (0..20).map(|of| Role::Copy { of, transformation: 0 }).collect();
    assert!(said("tangent(rotate)", &copies, &["shift_x=1"]).contains("there are shift_x=1"));
    // copies that are the examples themselves: nothing is unwanted anywhere
    assert!(said("tangent", &copies, &["shift_x=1"]).contains("tangent + 0.001*coefficients"));
    let points = OrientedKpca { expansion: "points".to_owned(), ..OrientedKpca::default() };
    let broke = |machine: &OrientedKpca, k: Vec<f64>| {
        fit_on(machine, k, Budget { memory: 1 << 30 }).err().map_or_else(String::new, |e| e.to_string())
    };
    assert!(broke(&points, matrix(&x, gauss)).contains("--expansion-points FILE"));
    let plain = OrientedKpca::default();
    assert!(broke(&plain, vec![1.0, f64::NAN, f64::NAN, 1.0]).contains("row 1, column 2"));
    assert!(broke(&plain, vec![1.0; 9]).contains("nothing is wanted"), "{}", broke(&plain, vec![1.0; 9]));
    assert!(broke(&plain, Vec::new()).contains("the training data"));
    let tight = fit_on(&plain, matrix(&x, gauss), Budget { memory: 1000 }).err().unwrap().to_string();
    assert!(tight.contains("memory budget"), "{tight}");
    // an indefinite kernel: directions without length
    let indefinite = OrientedKpca { unwanted: "coefficients".to_owned(), components: 20, ..plain };
    let said = broke(&indefinite, matrix(&points_of(20), tanh));
    assert!(said.contains("not positive definite"), "{said}");
}

fn points_of(n: usize) -> Points {
    points(n, 3)
}
