//! The linear discriminant against least squares, against the quotient it maximises, and against the odds of densities.

use super::super::{LinearRegression, QuadraticDiscriminant};
use super::*;
use crate::data::{Dataset, Rows, SparseRows, Target};
use crate::formula::linear;
use crate::job::Fit;
use crate::linalg::symmetric_eigen;
use crate::machines::Readout;
use crate::model::Model;
use crate::seed::Seed;

fn clouds(sizes: &[usize], d: usize, seed: u64) -> (Rows<f64>, Vec<usize>) {
    let mut random = Seed(seed).stream("clouds");
    let codes: Vec<usize> = sizes.iter().enumerate().flat_map(|(c, &n)| vec![c; n]).collect();
    let mut values = Vec::new();
    for &c in &codes {
        let common = random.normal();
        values.extend((0..d).map(|j| random.normal() * (1.0 + j as f64) + common + ((c * 3 + j) as f64).sin() + 5.0));
    }
    (Rows::new(values, codes.len(), d).unwrap(), codes)
}

fn labelled(x: &Rows<f64>, codes: &[usize]) -> Dataset {
    let words: Vec<String> = codes.iter().map(|c| format!("c{c}")).collect();
    Dataset::new(x.clone()).with_target(Target::from(words)).unwrap()
}

fn plane(model: &Model) -> (Vec<f64>, f64) {
    let Coefficients::Primal { weights, .. } = &model.fitted.expansion.coefficients else { panic!() };
    (weights.clone(), model.fitted.expansion.offsets[0])
}

/// m₀ − m₁ and S_W, from loops.
fn by_hand(x: &Rows<f64>, codes: &[usize]) -> (Vec<f64>, Vec<f64>) {
    let d = x.width();
    let mean = |c: usize, j: usize| {
        let own: Vec<f64> = (0..x.len()).filter(|&i| codes[i] == c).map(|i| x.row(i)[j]).collect();
        own.iter().sum::<f64>() / own.len() as f64
    };
    let mut scatter = vec![0.0; d * d];
    for i in 0..x.len() {
        for p in 0..d * d {
            scatter[p] += (x.row(i)[p / d] - mean(codes[i], p / d)) * (x.row(i)[p % d] - mean(codes[i], p % d));
        }
    }
    ((0..d).map(|j| mean(0, j) - mean(1, j)).collect(), scatter)
}

#[test]
fn the_direction_is_that_of_least_squares_with_its_factor() {
    let (x, codes) = clouds(&[30, 45], 4, 1);
    let (w, _) = plane(&LinearFisher::default().fit(&linear(), &labelled(&x, &codes)).unwrap());
    // w here is n S_W⁻¹(m₀ − m₁); least squares on ±1 has s S_W⁻¹(m₀ − m₁), s = 2n₀n₁/(n + n₀n₁J)
    let signs: Vec<f64> = codes.iter().map(|&c| if c == 0 { 1.0 } else { -1.0 }).collect();
    let line =
        LinearRegression::default().fit(&linear(), &Dataset::new(x.clone()).with_target(Target::from(signs)).unwrap());
    let line = line.unwrap();
    let (gap, _) = by_hand(&x, &codes);
    let (n, n0, n1) = (75.0, 30.0, 45.0);
    let j: f64 = w.iter().zip(&gap).map(|(w, g)| w * g).sum::<f64>() / n;
    let s = 2.0 * n0 * n1 / (n + n0 * n1 * j);
    for (ours, theirs) in w.iter().zip(&plane(&line).0) {
        assert!((ours * s / n - theirs).abs() < 1e-12, "{ours} {theirs}");
    }
    // the residual sum of squares, of which the objective is half
    let rest = 4.0 * n0 * n1 / (n + n0 * n1 * j);
    assert!((2.0 * line.fitted.report.objective.unwrap() - rest).abs() < 1e-10 * rest);
}

#[test]
fn the_direction_solves_the_system_and_maximises_the_quotient() {
    let (x, codes) = clouds(&[25, 20], 3, 2);
    let model = LinearFisher::default().fit(&linear(), &labelled(&x, &codes)).unwrap();
    let (w, _) = plane(&model);
    let (gap, scatter) = by_hand(&x, &codes);
    for i in 0..3 {
        let row: f64 = (0..3).map(|j| scatter[i * 3 + j] * w[j]).sum();
        assert!((row / 45.0 - gap[i]).abs() < 1e-11, "S_W w = n (m₀ − m₁)");
    }
    // the leading eigenvector of S_B w = λ S_W w, by the root of S_W: S_W^{-1/2} gap is the whole spectrum
    let eigen = symmetric_eigen(scatter.clone(), 3).unwrap();
    let half = |v: &[f64], power: f64| -> Vec<f64> {
        let turned: Vec<f64> = (0..3)
            .map(|k| (0..3).map(|i| eigen.vectors[i * 3 + k] * v[i]).sum::<f64>() * eigen.values[k].powf(power))
            .collect();
        (0..3).map(|i| (0..3).map(|k| eigen.vectors[i * 3 + k] * turned[k]).sum()).collect()
    };
    let white = half(&gap, -0.5);
    let outer: Vec<f64> = (0..9).map(|p| white[p / 3] * white[p % 3]).collect();
    let top = symmetric_eigen(outer, 3).unwrap();
    let leading = half(&(0..3).map(|i| top.vectors[i * 3]).collect::<Vec<_>>(), -0.5);
    let scale = w[0] / leading[0];
    assert!(w.iter().zip(&leading).all(|(w, l)| (w - scale * l).abs() < 1e-9), "{w:?} {leading:?}");
    let separation = 45.0 * top.values[0];
    assert!((model.fitted.report.notes[0].1 - separation).abs() < 1e-9 * separation);
}

#[test]
fn scores_are_odds_of_densities_and_probabilities_follow_without_calibration() {
    let (x, codes) = clouds(&[20, 12, 30], 2, 3);
    let data = labelled(&x, &codes);
    for priors in ["data", "equal", "c0:1,c2:3,c1:2"] {
        let model =
            LinearFisher { priors: priors.to_owned(), ..LinearFisher::default() }.fit(&linear(), &data).unwrap();
        // the quadratic discriminant with one covariance computes the densities themselves
        let machine =
            QuadraticDiscriminant { lambda: 1.0, priors: priors.to_owned(), ..QuadraticDiscriminant::default() };
        let densities = machine.fit(&linear(), &data).unwrap();
        let (ours, theirs) = (model.scores(&data).unwrap(), densities.scores(&data).unwrap());
        assert!(ours.iter().zip(&theirs).all(|(a, b)| (a - b).abs() < 1e-9));
        let output = model.predict(&data).unwrap();
        let crate::machines::Output::Labels { codes: predicted, probabilities: Some(p), .. } = &output else {
            panic!()
        };
        for i in 0..x.len() {
            // pairs (0,1), (0,2), (1,2): s₀ = 0, s₁ = −f₀₁, s₂ = −f₀₂
            let s = [0.0, -ours[i * 3], -ours[i * 3 + 1]];
            assert!((s[1] - s[2] - ours[i * 3 + 2]).abs() < 1e-9, "odds of pairs belong together");
            let best = (0..3).max_by(|&a, &b| s[a].total_cmp(&s[b])).unwrap();
            assert_eq!(predicted[i] as usize, best);
            let sum: f64 = s.iter().map(|s| s.exp()).sum();
            for c in 0..3 {
                assert!(
                    (p[i * 3 + c] - s[c].exp() / sum).abs() < 1e-4,
                    "{priors}: {} {}",
                    p[i * 3 + c],
                    s[c].exp() / sum
                );
            }
        }
    }
}

#[test]
fn priors_move_the_threshold_and_weights_are_examples_several_times() {
    let (x, codes) = clouds(&[20, 20], 3, 4);
    let offset = |priors: &str| {
        let machine = LinearFisher { priors: priors.to_owned(), ..LinearFisher::default() };
        plane(&machine.fit(&linear(), &labelled(&x, &codes)).unwrap()).1
    };
    assert!((offset("c0:3,c1:1") - offset("equal") - 3.0_f64.ln()).abs() < 1e-12);
    assert!((offset("data") - offset("equal")).abs() < 1e-12, "as many of both");
    let weights: Vec<f64> = (0..40).map(|i| f64::from(i % 3)).collect();
    let places: Vec<usize> = (0..40).flat_map(|i| vec![i; i % 3]).collect();
    let data = labelled(&x, &codes);
    for gamma in [0.0, 0.3] {
        let machine = LinearFisher { gamma, ..LinearFisher::default() };
        let weighted = plane(&machine.fit(&linear(), &data.clone().with_weights(weights.clone()).unwrap()).unwrap());
        let copied = plane(&machine.fit(&linear(), &data.select(&places)).unwrap());
        assert!(weighted.0.iter().zip(&copied.0).all(|(a, b)| (a - b).abs() < 1e-11));
        assert!((weighted.1 - copied.1).abs() < 1e-10);
    }
    // sparse rows are the same rows
    let sparse = Dataset::new(SparseRows::from_dense(&x)).with_target(data.target().unwrap().clone()).unwrap();
    let (dense, thin) =
        (LinearFisher::default().fit(&linear(), &data), LinearFisher::default().fit(&linear(), &sparse));
    assert_eq!(plane(&dense.unwrap()), plane(&thin.unwrap()));
}

#[test]
fn what_cannot_be_is_told() {
    let said = |x: &Rows<f64>, codes: &[usize], machine: &LinearFisher| {
        machine.fit(&linear(), &labelled(x, codes)).err().map_or_else(String::new, |e| e.to_string())
    };
    let plain = LinearFisher::default();
    let (wide, codes) = clouds(&[4, 4], 12, 5);
    let found = said(&wide, &codes, &plain);
    assert!(found.contains("singular") && found.contains("gamma above zero"), "{found}");
    assert_eq!(said(&wide, &codes, &LinearFisher { gamma: 0.1, ..plain.clone() }), "");
    let still = Rows::from_vectors(&[[0.1, 1.0], [0.1, 2.0], [0.1, 5.0], [0.1, 7.0]]).unwrap();
    assert!(said(&still, &[0, 0, 1, 1], &plain).contains("coordinate 1 does not vary"));
    let (x, one) = clouds(&[10], 2, 6);
    assert!(said(&x, &one, &plain).contains("at least two"));
    let priors = |text: &str| {
        said(
            &clouds(&[9, 9], 2, 7).0,
            &clouds(&[9, 9], 2, 7).1,
            &LinearFisher { priors: text.to_owned(), ..plain.clone() },
        )
    };
    assert!(priors("c0:1").contains("each of the 2 classes"));
    assert!(priors("c0:1,c9:1").contains("no class c9"));
    assert!(priors("maybe").contains("data, equal or label:share"));
    let model = plain.fit(&linear(), &labelled(&x, &[0, 0, 0, 1, 1, 1, 1, 1, 0, 0])).unwrap();
    assert!(matches!(model.fitted.readout, Readout::Vote { .. }));
}
