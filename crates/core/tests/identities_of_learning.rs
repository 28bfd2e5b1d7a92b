//! Identities that hold for whatever is learned: the minimum lies in the span of the examples, and leaving out is without bias.

#![allow(clippy::unwrap_used, clippy::panic)]

use mercer::machines::Threshold;
use mercer::machines::classify::Kfd;
use mercer::prelude::*;
use mercer::solvers::Penalty as Penalties;

/// The features of the kernel (⟨x, x′⟩ + 1)² of the plane.
fn features(x: &[f64]) -> Vec<f64> {
    let r = std::f64::consts::SQRT_2;
    vec![x[0] * x[0], x[1] * x[1], r * x[0] * x[1], r * x[0], r * x[1], 1.0]
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn a_component_beside_the_span_of_the_examples_changes_no_training_output_and_lengthens_the_weight_vector() {
    let (n, lambda) = (4, 0.5);
    let x = [0.3, -1.2, 1.1, 0.4, -0.7, 0.9, 2.0, -0.1];
    let y = [1.0, -0.5, 0.2, 0.8];
    let data = Dataset::new(Rows::new(x.to_vec(), n, 2).unwrap()).with_target(Target::from(y.to_vec())).unwrap();
    let kernel = polynomial(2, 1.0);
    let model = Ridge { lambda: lambda.into(), ..Ridge::default() }.fit(&kernel, &data).unwrap();
    let rows: Vec<Vec<f64>> = x.chunks_exact(2).map(features).collect();
    // the kernel is that of these features
    let gram = kernel.gram(&data).unwrap();
    let mut values = vec![0.0; n * n];
    mercer::gram::fill(gram.as_ref(), &mut values);
    for p in 0..n * n {
        assert!((values[p] - dot(&rows[p / n], &rows[p % n])).abs() < 1e-12 * values[p].abs().max(1.0));
    }
    // w = Σ αᵢ φ(x_i) by the outputs at six other points, which span the feature space
    let probes = [0.0, 0.0, 1.0, 0.0, 0.0, 1.0, -1.0, 0.0, 0.0, -1.0, 1.0, 1.0];
    let told = |points: &[f64]| {
        let m = points.len() / 2;
        model.scores(&Dataset::new(Rows::new(points.to_vec(), m, 2).unwrap())).unwrap()
    };
    let f = told(&probes);
    // f(x) = w₁x² + w₂y² + √2(w₃xy + w₄x + w₅y) + w₆ at these points
    let r = std::f64::consts::SQRT_2;
    let (w6, w1, w2) = (f[0], 0.5 * (f[1] + f[3]) - f[0], 0.5 * (f[2] + f[4]) - f[0]);
    let (w4, w5) = (0.5 * (f[1] - f[3]) / r, 0.5 * (f[2] - f[4]) / r);
    let w = [w1, w2, (f[5] - w1 - w2 - r * (w4 + w5) - w6) / r, w4, w5, w6];
    assert!(rows.iter().zip(told(&x)).all(|(row, f)| (dot(row, &w) - f).abs() < 1e-10));
    // a direction at right angles to all four examples, by Gram and Schmidt
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for row in &rows {
        let mut row = row.clone();
        for b in &basis {
            let along = dot(&row, b);
            row.iter_mut().zip(b).for_each(|(r, b)| *r -= along * b);
        }
        let length = dot(&row, &row).sqrt();
        basis.push(row.iter().map(|r| r / length).collect());
    }
    let mut v = vec![0.3, -0.2, 0.9, 0.1, -0.6, 0.4];
    for _ in 0..2 {
        for b in &basis {
            let along = dot(&v, b);
            v.iter_mut().zip(b).for_each(|(v, b)| *v -= along * b);
        }
    }
    assert!(dot(&v, &v) > 0.01, "the examples do not span all six dimensions");
    assert!(basis.iter().map(|b| dot(&w, b).powi(2)).sum::<f64>() > dot(&w, &w) * (1.0 - 1e-9), "w is in their span");
    let with: Vec<f64> = w.iter().zip(&v).map(|(w, v)| w + v).collect();
    for row in &rows {
        assert!((dot(row, &w) - dot(row, &with)).abs() < 1e-12, "no training output changes");
    }
    let longer = dot(&with, &with);
    assert!((longer - dot(&w, &w) - dot(&v, &v)).abs() < 1e-12 * longer, "Pythagoras");
    let risk =
        |w: &[f64]| rows.iter().zip(&y).map(|(row, y)| (dot(row, w) - y).powi(2)).sum::<f64>() + lambda * dot(w, w);
    assert!((risk(&with) - risk(&w) - lambda * dot(&v, &v)).abs() < 1e-12 * risk(&with));
    // and any other change raises the risk, too
    for k in 0..6 {
        for step in [1e-3, -1e-3] {
            let mut other = w;
            other[k] += step;
            assert!(risk(&other) > risk(&w));
        }
    }
}

#[test]
fn leaving_one_out_estimates_the_risk_of_a_fit_to_one_example_fewer_without_bias() {
    // eight places, each with its own chance of the first class: a risk is a sum
    let chance = [0.9, 0.8, 0.85, 0.6, 0.4, 0.2, 0.15, 0.1];
    let machine = Kfd { penalty: Penalties::Norm, threshold: Threshold::Programme, ..Kfd::default() };
    let sample = |random: &mut mercer::seed::Random, n: usize| {
        let places: Vec<usize> = (0..n).map(|_| random.below(8)).collect();
        let words: Vec<String> =
            places.iter().map(|&k| if random.uniform() < chance[k] { "a" } else { "b" }.to_owned()).collect();
        let x = places.iter().map(|&k| k as f64).collect();
        (Dataset::new(Rows::new(x, n, 1).unwrap()).with_target(Target::from(words.clone())).unwrap(), words)
    };
    let everywhere = Dataset::new(Rows::new((0..8).map(f64::from).collect(), 8, 1).unwrap());
    let (mut draws, mut sum, mut squares, mut of_risk) = (0, 0.0, 0.0, 0.0);
    for seed in 0..1500 {
        let mut random = Seed(seed).stream("leaving out");
        let (data, words) = sample(&mut random, 12);
        let (smaller, fewer) = sample(&mut random, 11);
        // one in some hundred samples has too few of a class for a discriminant; both kinds of samples leave them out
        let both = |words: &[String]| ["a", "b"].iter().all(|c| words.iter().filter(|w| w == c).count() > 1);
        if !both(&words) || !both(&fewer) {
            continue;
        }
        let model = machine.fit(&rbf(0.3), &data).unwrap();
        let told = model.certify(&data, &mercer::certify::Options::default(), &mercer::watch::Silent).unwrap();
        let estimate = told.certificates.iter().find(|c| c.bound == "leave_one_out").unwrap().value.unwrap();
        // an independent sample of one example fewer
        let predicted = machine.fit(&rbf(0.3), &smaller).unwrap().predict(&everywhere).unwrap();
        let wrong = |(k, label): (usize, &String)| if label == "a" { 1.0 - chance[k] } else { chance[k] };
        let risk = predicted.labels().iter().enumerate().map(|(k, l)| wrong((k, &(*l).to_owned()))).sum::<f64>() / 8.0;
        let difference = estimate - risk;
        (draws, sum, squares, of_risk) =
            (draws + 1, sum + difference, squares + difference * difference, of_risk + risk);
    }
    let n = f64::from(draws);
    let (mean, error) = (sum / n, (squares / n / n).sqrt());
    assert!(draws > 1300 && error < 0.006, "{draws} draws with a standard error of {error}");
    assert!(mean.abs() < 4.0 * error, "{mean} ± {error}, of a risk of {}", of_risk / n);
}
