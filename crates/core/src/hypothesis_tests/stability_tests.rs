//! Stability: printed values, coverage by simulation, and the identities behind the theorems.

use super::*;
use crate::geometry::testing::{linear, points};
use crate::gram::Dense;
use crate::linalg::symmetric_eigen;
use crate::seed::Random;
use crate::watch::Silent;

fn how(radius: f64, delta: f64) -> Judgement {
    Judgement { radius, delta, draws: 0, seed: Seed(0) }
}

#[test]
fn reference_values() {
    // theorem 4.2 at m = 1000, R = 1, δ = 0.05
    assert!((printed_sums_within(1000, 1.0, 0.05) - 0.310).abs() < 5e-4);
    // t = 0.1 needs about 9590 examples
    assert!(printed_sums_within(9580, 1.0, 0.05) > 0.1 && printed_sums_within(9600, 1.0, 0.05) < 0.1);
    // ρ < 1 from about 61 900 examples where all lengths are R, and never below 34 100
    let rho = |m: usize| eigenvector_rho(m, m as f64, 1.0, 0.05);
    assert!(rho(61_600) > 1.0 && rho(62_100) < 1.0);
    assert!(eigenvector_rho(34_050, 0.0, 1.0, 0.05) > 1.0 && eigenvector_rho(34_200, 0.0, 1.0, 0.05) < 1.0);
    // a kernel of twice the length has four times the eigenvalues: so has ρ, with the R that the print misses
    assert!((eigenvector_rho(500, 500.0 * 4.0, 2.0, 0.05) / rho(500) - 4.0).abs() < 1e-12);
    // the residual at m = 1000, t = 10, tail 0.05; below 1 from about 250 examples
    let residual = |m: usize, t: usize, tail: f64| residual_bound(m, t, tail, m as f64, &how(1.0, 0.05));
    assert!((residual(1000, 10, 0.05) - 0.673).abs() < 5e-4);
    assert!(residual(1000, 10, 0.05) < 1.0 && residual(200, 0, 0.05) > 1.0 && residual(300, 0, 0.05) < 1.0);
    // sharper than (2R²/√m)(1 + √(ln(1/δ)/2)) and than theorem 4.2
    let looser = 2.0 / 1000.0_f64.sqrt() * (1.0 + (20.0_f64.ln() / 2.0).sqrt());
    assert!(operator_within(1000, 1.0, 0.05) < 0.65 * looser && sums_within(1000, 1.0, 0.05) < 0.05);
}

/// (x, y) on a circle of radius 1 with different densities: C is diagonal with known eigenvalues.
fn draw(m: usize, random: &mut Random) -> Vec<f64> {
    // three atoms ±e₁, ±e₂, ±e₃ with probabilities 0.6, 0.3, 0.1: C = diag(0.6, 0.3, 0.1)
    (0..m)
        .flat_map(|_| {
            let u = random.uniform();
            let axis = if u < 0.6 {
                0
            } else if u < 0.9 {
                1
            } else {
                2
            };
            let sign = if random.uniform() < 0.5 { 1.0 } else { -1.0 };
            (0..3).map(move |k| if k == axis { sign } else { 0.0 })
        })
        .collect()
}

#[test]
fn true_eigenvalues_and_vectors_lie_within_the_bounds() {
    let mut random = Seed(3).stream("worlds");
    let (truth, m) = ([0.6, 0.3, 0.1], 4000);
    let found = Stability::of(&linear(&draw(400, &mut random), 3), how(1.0, 0.2), Budget::default(), &Silent).unwrap();
    for (value, wanted) in found.eigenvalues.iter().zip(truth) {
        assert!((value - wanted).abs() <= found.operator_within);
    }
    // at δ = 0.2 no more than a fifth of the draws may fail: sums, operator and angles
    let (mut sums, mut operators) = (0, 0);
    for _ in 0..200 {
        let x = draw(100, &mut random);
        let second: Vec<f64> =
            (0..9).map(|p| x.chunks_exact(3).map(|x| x[p / 3] * x[p % 3]).sum::<f64>() / 100.0).collect();
        let values = symmetric_eigen(second.clone(), 3).unwrap().values;
        // E λ̂₁ + E λ̂₂ is the trace without E λ̂₃; near the true ones here
        sums += u32::from(((values[0] + values[1]) - 0.9).abs() > sums_within(100, 1.0, 0.2) + 0.02);
        let off: f64 = (0..9).map(|p| second[p] - if p % 4 == 0 { truth[p / 4] } else { 0.0 }).map(|e| e * e).sum();
        operators += u32::from(off.sqrt() > operator_within(100, 1.0, 0.2));
    }
    // the quantile of Bin(200, 0.2) at 1 − 1e-6 is 68
    assert!(sums <= 68 && operators <= 68, "{sums} {operators}");
    // angles: the gap 0.3 beats 2ε from about a thousand examples on
    let x = draw(m, &mut random);
    let epsilon = operator_within(m, 1.0, 0.05);
    assert!(epsilon < 0.1);
    let second: Vec<f64> =
        (0..9).map(|p| x.chunks_exact(3).map(|x| x[p / 3] * x[p % 3]).sum::<f64>() / m as f64).collect();
    let eigen = symmetric_eigen(second, 3).unwrap();
    let gap = gaps(&eigen.values, true)[0];
    let sine = (1.0 - eigen.vectors[0].powi(2)).max(0.0).sqrt();
    assert!(sine <= epsilon / (gap - epsilon), "{sine}");
}

#[test]
fn a_wrong_constant_would_be_caught() {
    // negative control: a tenth of the bound is exceeded far more often than a fifth of the draws
    let mut random = Seed(4).stream("worlds");
    let exceeded = (0..200).filter(|_| {
        let x = draw(100, &mut random);
        let first = x.chunks_exact(3).map(|x| x[0] * x[0]).sum::<f64>() / 100.0;
        (first - 0.6).abs() > 0.1 * operator_within(100, 1.0, 0.2)
    });
    assert!(exceeded.count() > 68);
}

#[test]
fn small_samples_certify_no_eigenvector_and_large_gaps_do() {
    let x = points(100, 2, 71);
    let found = Stability::of(&linear(&x, 2), how(5.0, 0.05), Budget::default(), &Silent).unwrap();
    assert!(found.beyond_rho.is_empty() && found.vectors.iter().all(|(_, sine)| sine.is_none()));
    // one direction alone: the gap is its eigenvalue
    let one = Dense::new(vec![1.0; 400 * 400], 400, 400).unwrap();
    let found = Stability::of(&one, how(1.0, 0.05), Budget::default(), &Silent).unwrap();
    let (gap, sine) = found.vectors[0];
    assert!((gap - 1.0).abs() < 1e-9 && sine.is_some_and(|s| s > 0.0 && s < 0.2), "{sine:?}");
    assert!(found.residuals[0].1 < 1e-9 && found.residuals[0].2 > 0.0);
}

#[test]
fn the_radius_is_declared_and_held_against_the_sample() {
    let x = points(50, 2, 72);
    let error = |radius: f64, delta: f64| {
        Stability::of(&linear(&x, 2), how(radius, delta), Budget::default(), &Silent).unwrap_err().to_string()
    };
    assert!(error(0.5, 0.05).contains("beyond the declared radius 0.5"), "{}", error(0.5, 0.05));
    assert!(error(-1.0, 0.05).contains("above 0") && error(9.0, 1.5).contains("between 0 and 1"));
}

// The identities behind theorem 4.2, on random points.

/// The covariance with 1/(M − 1), and the mean.
fn covariance(x: &[Vec<f64>]) -> (Vec<f64>, Vec<f64>) {
    let (m, d) = (x.len() as f64, x[0].len());
    let mean: Vec<f64> = (0..d).map(|k| x.iter().map(|x| x[k]).sum::<f64>() / m).collect();
    let entry =
        |p: usize| x.iter().map(|x| (x[p / d] - mean[p / d]) * (x[p % d] - mean[p % d])).sum::<f64>() / (m - 1.0);
    ((0..d * d).map(entry).collect(), mean)
}

fn outer(a: &[f64], b: &[f64], factor: f64) -> Vec<f64> {
    let d = a.len();
    (0..d * d).map(|p| factor * (a[p / d] - b[p / d]) * (a[p % d] - b[p % d])).collect()
}

fn eigenvalues(c: &[f64], d: usize) -> Vec<f64> {
    symmetric_eigen(c.to_vec(), d).unwrap().values
}

#[test]
fn covariances_are_updated_by_rank_one_and_eigenvalues_interlace() {
    let d = 4;
    for seed in 0..20 {
        let all: Vec<Vec<f64>> = points(13, d, 800 + seed).chunks_exact(d).map(<[f64]>::to_vec).collect();
        let (x, new) = (&all[..12], &all[12]);
        let m = x.len() as f64;
        let (c, mean) = covariance(x);
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).for_each(|(a, b)| assert!((a - b).abs() < 1e-12, "{a} {b}"));
        let sum = |a: &[f64], b: &[f64], factor: f64| -> Vec<f64> {
            a.iter().zip(b).map(|(a, b)| factor * (a + b)).collect()
        };
        // add, remove, exchange
        let added = covariance(&all).0;
        near(&added, &sum(&c, &outer(&mean, new, m / (m * m - 1.0)), (m - 1.0) / m));
        let (removed, rest) = covariance(&x[1..]);
        let down = outer(&mean, &x[0], -m / ((m - 1.0) * (m - 1.0)));
        near(&removed, &sum(&c, &down, (m - 1.0) / (m - 2.0)));
        let exchanged: Vec<Vec<f64>> = x[1..].iter().chain([new]).cloned().collect();
        let exchanged = covariance(&exchanged).0;
        near(&exchanged, &sum(&sum(&c, &down, 1.0), &outer(&rest, new, 1.0 / m), 1.0));
        // λ(A + τccᵀ) = λ(A) + m_i τ with m_i ≥ 0, Σ m_i = 1, and interlacing
        let step = outer(&mean, new, 1.0);
        let tau: f64 = step.iter().step_by(d + 1).sum();
        let (before, after) = (eigenvalues(&c, d), eigenvalues(&sum(&c, &step, 1.0), d));
        let shares: Vec<f64> = before.iter().zip(&after).map(|(b, a)| (a - b) / tau).collect();
        assert!(shares.iter().all(|s| *s > -1e-12) && (shares.iter().sum::<f64>() - 1.0).abs() < 1e-10);
        assert!((1..d).all(|i| after[i] <= before[i - 1] + 1e-12));
        // sums of eigenvalues move by less than 8R²/(M − 2), and than 4R²M/(M − 1)²
        let radius = all.iter().map(|x| x.iter().map(|v| v * v).sum::<f64>().sqrt()).fold(0.0, f64::max);
        let (old, changed) = (eigenvalues(&c, d), eigenvalues(&exchanged, d));
        for subset in 1..1 << d {
            let of = |values: &[f64]| (0..d).filter(|i| subset >> i & 1 == 1).map(|i| values[i]).sum::<f64>();
            let moved = (of(&old) - of(&changed)).abs();
            let tight = 4.0 * radius * radius * m / ((m - 1.0) * (m - 1.0));
            assert!(moved <= tight && tight <= 8.0 * radius * radius / (m - 2.0), "{moved} {tight}");
        }
    }
}

#[test]
fn without_centring_a_sum_of_eigenvalues_moves_by_a_share_of_the_radius() {
    let d = 3;
    for seed in 0..20 {
        let x = points(15, d, 900 + seed);
        let radius = x.chunks_exact(d).map(|x| x.iter().map(|v| v * v).sum::<f64>()).fold(0.0, f64::max);
        let second = |x: &[f64]| -> Vec<f64> {
            (0..d * d).map(|p| x.chunks_exact(d).map(|x| x[p / d] * x[p % d]).sum::<f64>() / 14.0).collect()
        };
        let (a, b) = (eigenvalues(&second(&x[..14 * d]), d), eigenvalues(&second(&x[d..]), d));
        for subset in 1..1 << d {
            let of = |values: &[f64]| (0..d).filter(|i| subset >> i & 1 == 1).map(|i| values[i]).sum::<f64>();
            assert!((of(&a) - of(&b)).abs() <= radius / 14.0 + 1e-12);
        }
    }
}

#[test]
fn first_eigenvalues_are_too_large_on_average_and_the_trace_is_not() {
    // N(0, I) in three dimensions, twelve points: all true eigenvalues are 1
    let (mut first, mut last, mut trace) = (0.0, 0.0, 0.0);
    for seed in 0..400 {
        let x: Vec<Vec<f64>> = points(12, 3, 5000 + seed).chunks_exact(3).map(<[f64]>::to_vec).collect();
        let values = eigenvalues(&covariance(&x).0, 3);
        first += values[0] / 400.0;
        last += values[2] / 400.0;
        trace += values.iter().sum::<f64>() / 400.0;
    }
    // the trace has a standard error of √(6/11)/√400 = 0.037
    assert!(first > 1.4 && last < 0.6 && (trace - 3.0).abs() < 0.2, "{first} {last} {trace}");
}

#[test]
fn the_residual_on_the_sample_is_the_sum_of_dropped_eigenvalues() {
    let (x, d) = (points(60, 4, 73), 4);
    let found = Stability::of(&linear(&x, d), how(10.0, 0.05), Budget::default(), &Silent).unwrap();
    let second: Vec<f64> =
        (0..16).map(|p| x.chunks_exact(d).map(|x| x[p / d] * x[p % d]).sum::<f64>() / 60.0).collect();
    let eigen = symmetric_eigen(second, d).unwrap();
    for (k, residual, bound) in found.residuals.into_iter().filter(|(k, ..)| *k <= d) {
        // ‖x − P_k x‖² by the vectors themselves
        let left = |x: &[f64]| -> f64 {
            let along = |j: usize| (0..d).map(|i| x[i] * eigen.vectors[i * d + j]).sum::<f64>();
            (k..d).map(|j| along(j).powi(2)).sum()
        };
        let wanted = x.chunks_exact(d).map(left).sum::<f64>() / 60.0;
        assert!((residual - wanted).abs() < 1e-10 && bound > residual, "{k}: {residual} {wanted}");
    }
}
