//! The Krylov method against the full decomposition, and on operators that break simple ones.

use super::*;

/// QΛQᵀ for a random rotation Q.
fn with_spectrum(values: &[f64], seed: u64) -> Vec<f64> {
    let n = values.len();
    let mut random = Seed(seed).stream("rotation");
    let mut q: Vec<f64> = Vec::new();
    while q.len() < n * n {
        let mut z: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        if orthonormalise(&mut z, &q) {
            q.extend(z);
        }
    }
    let mut a = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let value: f64 = (0..n).map(|k| q[k * n + i] * values[k] * q[k * n + j]).sum();
            a[i * n + j] = value;
            a[j * n + i] = value;
        }
    }
    a
}

/// Finds the top k, checks everything that can be checked, and gives the answer back.
fn checked(a: &[f64], n: usize, k: usize) -> TopEigen {
    let mut apply = |v: &[f64], b: usize, out: &mut [f64]| {
        out.fill(0.0);
        multiply_add(a, n, n, v, b, out);
    };
    let top = top_eigen(n, &mut apply, k, &KrylovOptions::default(), &mut |_, _| true).unwrap();
    let full = symmetric_eigen(a.to_vec(), n).unwrap();
    let size = full.values.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    assert!(top.converged, "{n} {k}");
    assert_eq!((top.values.len(), top.vectors.len()), (k.min(n), n * k.min(n)));
    for j in 0..k.min(n) {
        let off = (top.values[j] - full.values[j]).abs();
        assert!(off <= 1e-9 * size, "{n} {k}: value {j} is {}, not {}", top.values[j], full.values[j]);
        let column = |c: usize| -> Vec<f64> { (0..n).map(|i| top.vectors[i * k.min(n) + c]).collect() };
        let v = column(j);
        let mut residual = 0.0;
        for i in 0..n {
            let image: f64 = (0..n).map(|l| a[i * n + l] * v[l]).sum();
            residual += (image - top.values[j] * v[i]).powi(2);
        }
        assert!(residual.sqrt() <= 2e-10 * size + 1e-14, "{n} {k}: residual {j} is {}", residual.sqrt());
        assert!(
            (residual.sqrt() - top.residuals[j]).abs() <= 1e-12 * (1.0 + size),
            "the residual told is the true one"
        );
        for c in 0..=j {
            let product: f64 = column(c).iter().zip(&v).map(|(a, b)| a * b).sum();
            assert!((product - f64::from(u8::from(c == j))).abs() < 1e-10, "{n} {k}: columns {c} and {j}");
        }
    }
    top
}

#[test]
fn agrees_with_the_full_decomposition() {
    for (n, k) in [(120, 1), (150, 3), (200, 10), (260, 25)] {
        let values: Vec<f64> = (0..n).map(|i| 10.0 * 0.93_f64.powi(i)).collect();
        checked(&with_spectrum(&values, n as u64), n as usize, k);
        // nothing decays, and half is negative
        let values: Vec<f64> = (0..n).map(|i| 1.0 - 2.0 * f64::from(i) / f64::from(n)).collect();
        checked(&with_spectrum(&values, n as u64), n as usize, k);
    }
}

#[test]
fn takes_the_whole_space_when_it_is_small_or_nearly_all_is_wanted() {
    for (n, k) in [(1, 1), (2, 1), (3, 3), (5, 9), (40, 2), (100, 90), (100, 100)] {
        let values: Vec<f64> = (0..n).map(|i| f64::from(i) - 2.0).collect();
        checked(&with_spectrum(&values, 3), n as usize, k);
    }
    let none = top_eigen(0, &mut |_, _, _| {}, 3, &KrylovOptions::default(), &mut |_, _| true).unwrap();
    assert!(none.values.is_empty() && none.converged);
}

#[test]
fn multiple_eigenvalues_come_as_often_as_they_are() {
    let n = 240;
    for k in [1, 5, 30] {
        let mut identity = vec![0.0; n * n];
        for i in 0..n {
            identity[i * n + i] = 1.0;
        }
        checked(&identity, n, k);
        checked(&vec![0.0; n * n], n, k);
    }
    // more equal ones than a block has columns, with the rest equal too: every Krylov space is invariant at once
    for (copies, k) in [(3, 5), (20, 10), (20, 25), (40, 30)] {
        let values: Vec<f64> = (0..n).map(|i| if i < copies { 10.0 } else { 1.0 }).collect();
        checked(&with_spectrum(&values, 8), n, k);
    }
    // hidden among a spectrum that decays
    let values: Vec<f64> = (0..n).map(|i| if i < 24 { 5.0 } else { 4.0 * 0.95_f64.powi(i as i32) }).collect();
    checked(&with_spectrum(&values, 9), n, 30);
}

#[test]
fn a_deficient_rank_gives_zeros_and_orthonormal_vectors_all_the_same() {
    let n = 200;
    for k in [2, 3, 6, 20] {
        let values: Vec<f64> = (0..n).map(|i| if i < 3 { 3.0 - f64::from(i) } else { 0.0 }).collect();
        let top = checked(&with_spectrum(&values, 4), n as usize, k);
        assert!(top.values.iter().skip(3).all(|v| v.abs() < 1e-10));
    }
}

#[test]
fn clusters_are_told_apart() {
    let n = 220;
    let values: Vec<f64> =
        (0..n).map(|i| if i < 12 { 1.0 + 1e-5 * f64::from(i) } else { 0.5 - 1e-3 * f64::from(i) }).collect();
    for k in [4, 12, 15] {
        checked(&with_spectrum(&values, 6), n as usize, k);
    }
}

#[test]
fn ends_when_told_and_when_the_limit_is_reached() {
    let n = 300;
    let values: Vec<f64> = (0..n).map(|i| f64::from(i) / f64::from(n)).collect();
    let (a, n) = (with_spectrum(&values, 2), n as usize);
    let mut count = 0;
    let mut apply = |v: &[f64], b: usize, out: &mut [f64]| {
        count += 1;
        out.fill(0.0);
        multiply_add(&a, n, n, v, b, out);
    };
    let options = KrylovOptions { max_applications: 3, ..KrylovOptions::default() };
    let limited = top_eigen(n, &mut apply, 4, &options, &mut |_, _| true).unwrap();
    assert!(!limited.converged && limited.applications == 3 && limited.values.len() == 4);
    assert!(limited.residuals.iter().any(|&r| r > 1e-6));
    let stopped = top_eigen(n, &mut apply, 4, &KrylovOptions::default(), &mut |done, _| done < 2).unwrap();
    assert!(!stopped.converged && stopped.applications == 2);
    let at_once = top_eigen(n, &mut apply, 4, &KrylovOptions::default(), &mut |_, _| false).unwrap();
    assert!(at_once.values.is_empty() && !at_once.converged);
    assert_eq!(count, 5);
    let small = top_eigen(4, &mut |_, _, _| unreachable!(), 2, &KrylovOptions::default(), &mut |_, _| false).unwrap();
    assert!(small.values.is_empty());
    let broken = top_eigen(300, &mut |_, _, out| out.fill(f64::NAN), 2, &KrylovOptions::default(), &mut |_, _| true);
    assert!(matches!(broken, Err(SolveError::NotFinite { .. })));
}
