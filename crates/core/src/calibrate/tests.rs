//! Calibrated probabilities sum to one, never contradict the prediction, and are near the truth.

use super::*;
use crate::machines::{Coefficients, Expansion, Fitted, Output, Readout, SolverReport};
use crate::seed::{Random, Seed};
use proptest::prelude::*;

fn labels(k: usize) -> Vec<String> {
    (0..k).map(|c| format!("c{c}")).collect()
}

fn fitted(readout: Readout, calibration: Calibration) -> Fitted {
    let coefficients = Coefficients::Dual { points: Vec::new(), alpha: Vec::new() };
    let offsets = vec![0.0; readout.outputs()];
    let expansion = Expansion { coefficients, offsets };
    Fitted::new(expansion, readout, SolverReport::direct()).with_calibration(Some(calibration))
}

fn first_largest(row: &[f64]) -> u32 {
    (0..row.len()).rev().max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap() as u32
}

/// True if a batch of scores gives probabilities that are some, and agree with the labels of the plain readout.
fn holds(fitted: &Fitted, scores: &[f64]) {
    let (_, k) = fitted.readout.form().unwrap();
    let Output::Labels { codes: plain, .. } = fitted.readout.read(scores.to_vec()) else { panic!() };
    let Output::Labels { codes, probabilities: Some(all), .. } = fitted.read(scores.to_vec()) else { panic!() };
    assert_eq!(codes, plain, "probabilities change no label");
    assert_eq!(all.len(), codes.len() * k);
    for (row, &code) in all.chunks_exact(k).zip(&codes) {
        assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{row:?}");
        assert!(row.iter().all(|p| (0.0..=1.0).contains(p)), "{row:?}");
        assert_eq!(first_largest(row), code, "{row:?}");
        // also as they are written and read again
        let read: Vec<f64> = row.iter().map(|p| p.to_string().parse().unwrap()).collect();
        assert_eq!(first_largest(&read), code);
    }
}

fn curve(random: &mut Random) -> Curve {
    match random.below(5) {
        // the wrong way round, too
        0 => Curve::Platt { a: 20.0 * random.normal(), b: 3.0 * random.normal() },
        4 => Curve::Gaussian { square: 3.0 * random.normal(), slope: random.normal(), offset: random.normal() },
        1 => Curve::Platt { a: -random.uniform(), b: 0.0 },
        2 => Curve::Isotonic { knots: vec![(random.normal(), 0.01 + 0.98 * random.uniform())] },
        _ => {
            let low = random.uniform();
            Curve::Isotonic { knots: vec![(-1.0, low / 2.0 + 1e-3), (0.5, low / 2.0 + 0.4), (2.0, 0.999)] }
        }
    }
}

proptest! {
    #[test]
    fn the_largest_probability_is_the_prediction(
        seed in any::<u64>(), k in 2_usize..7, pairs in any::<bool>(),
        grid in prop_oneof![Just(0.0), Just(1.0), Just(2.0)],
    ) {
        let readout = if pairs { Readout::Vote { labels: labels(k) } } else { Readout::ArgMax { labels: labels(k) } };
        let mut random = Seed(seed).stream("calibration");
        let curves: Vec<Curve> = (0..readout.outputs()).map(|_| curve(&mut random)).collect();
        let n = 40 * readout.outputs();
        // scores on a coarse grid have ties; some are extreme
        let scores: Vec<f64> = (0..n)
            .map(|_| match random.below(12) {
                0 => 0.0,
                1 => 1e300 * random.normal(),
                _ if grid > 0.0 => (random.normal() * grid).round() / grid,
                _ => random.normal(),
            })
            .collect();
        holds(&fitted(readout, Calibration { method: Method::Platt, folds: 5, curves, agrees: true }), &scores);
    }
}

#[test]
fn ties_of_scores_and_of_probabilities_go_to_the_predicted_label() {
    let flat = |outputs: usize| Calibration {
        method: Method::Platt,
        folds: 2,
        curves: vec![Curve::Platt { a: 0.0, b: 0.0 }; outputs],
        agrees: true,
    };
    // f = 0 is for the second label of two, and a curve without slope says one half
    let two = fitted(Readout::Vote { labels: labels(2) }, flat(1));
    holds(&two, &[0.0, -0.0, 1.0, -1.0]);
    let three = fitted(Readout::Vote { labels: labels(3) }, flat(3));
    holds(&three, &[0.1, -5.0, 0.2, -1.0, -1.0, -1.0, 0.0, 0.0, 0.0]);
    let largest = fitted(Readout::ArgMax { labels: labels(3) }, flat(3));
    holds(&largest, &[1.0, 1.0, 1.0, 0.0, 1.0, 1.0, f64::MAX, f64::MIN, f64::MAX, f64::MIN, f64::MIN, f64::MAX]);
}

/// Scores and labels of a logistic truth: P(first | f) = 1 / (1 + e^(−2f + 0.5)).
fn logistic(n: usize, seed: u64) -> (Vec<f64>, Vec<u32>) {
    let mut random = Seed(seed).stream("logistic");
    let scores: Vec<f64> = (0..n).map(|_| 1.5 * random.normal()).collect();
    let codes = scores.iter().map(|f| u32::from(random.uniform() > platt::sigmoid(-2.0 * f + 0.5).0)).collect();
    (scores, codes)
}

#[test]
fn calibration_of_a_logistic_truth_is_near_the_truth() {
    let (scores, codes) = logistic(6000, 1);
    let held_out = HeldOutScores { scores: &scores, layout: Layout::Outputs, codes: &codes, weights: None };
    for (method, within, mean_within) in [(Method::Platt, 0.03, 0.01), (Method::Isotonic, 0.15, 0.025)] {
        let calibration = Calibration::learn(method, 5, Form::Pairs, 2, &held_out);
        calibration.check(1).unwrap();
        let off: Vec<f64> = (-300..=300)
            .map(|i| {
                let f = f64::from(i) / 100.0;
                (calibration.curves[0].at(f).0 - platt::sigmoid(-2.0 * f + 0.5).0).abs()
            })
            .collect();
        let (worst, mean) = (off.iter().fold(0.0_f64, |m, o| m.max(*o)), off.iter().sum::<f64>() / off.len() as f64);
        assert!(worst < within && mean < mean_within, "{method}: {worst} {mean}");
    }
}

#[test]
fn two_classes_are_the_same_by_pairs_and_by_classes() {
    let (scores, codes) = logistic(300, 2);
    let wide: Vec<f64> = scores.iter().flat_map(|f| [f / 2.0 + 7.0, 7.0 - f / 2.0]).collect();
    for method in [Method::Platt, Method::Isotonic] {
        let learn = |form, scores: &[f64]| {
            Calibration::learn(
                method,
                5,
                form,
                2,
                &HeldOutScores { scores, layout: Layout::Outputs, codes: &codes, weights: None },
            )
        };
        let (pairs, classes) = (learn(Form::Pairs, &scores), learn(Form::Classes, &wide));
        let predicted: Vec<u32> = scores.iter().map(|&f| u32::from(f <= 0.0)).collect();
        let (p, q) = (
            pairs.probabilities(Form::Pairs, 2, &scores, &predicted),
            classes.probabilities(Form::Classes, 2, &wide, &predicted),
        );
        assert!(p.iter().zip(&q).all(|(a, b)| (a - b).abs() < 1e-9), "{method}");
    }
}

#[test]
fn a_pair_is_judged_on_its_own_examples_and_on_scores_that_are_there() {
    let codes = [0, 0, 1, 1, 2, 2];
    let mut scores = [1.0, 9.0, 5.0, 2.0, -1.0, 0.0, -1.0, 3.0, 1.0, -2.0, -1.0, 2.0, 8.0, -1.0, -1.0, 0.0, -3.0, 1.0];
    let learn = |scores: &[f64]| {
        let held_out = HeldOutScores { scores, layout: Layout::Outputs, codes: &codes, weights: None };
        Calibration::learn(Method::Platt, 2, Form::Pairs, 3, &held_out)
    };
    let before = learn(&scores);
    // the score of the pair (0, 1) for an example of class 2
    scores[4 * 3] = -100.0;
    assert_eq!(learn(&scores), before);
    scores[4 * 3] = f64::NAN;
    assert_eq!(learn(&scores), before);
    scores[0] = f64::NAN;
    assert_ne!(learn(&scores).curves[0], before.curves[0]);
    let missing = learn(&[f64::NAN; 18]);
    missing.check(3).unwrap();
    assert_eq!(missing.curves[0].at(3.0), (0.5, 0.5));
}

#[test]
fn curves_that_are_none_are_told() {
    let of = |method, curves| Calibration { method, folds: 5, curves, agrees: true };
    let knots = |knots: &[(f64, f64)]| Curve::Isotonic { knots: knots.to_vec() };
    let fine = of(Method::Isotonic, vec![knots(&[(0.0, 0.2), (1.0, 0.2)])]);
    assert!(fine.check(1).is_ok() && fine.check(2).is_err());
    for bad in [
        of(Method::Platt, vec![knots(&[(0.0, 0.2)])]),
        of(Method::Isotonic, vec![Curve::Platt { a: 1.0, b: 0.0 }]),
        of(Method::Platt, vec![Curve::Platt { a: f64::NAN, b: 0.0 }]),
        of(Method::Isotonic, vec![knots(&[])]),
        of(Method::Isotonic, vec![knots(&[(0.0, 0.2), (0.0, 0.3)])]),
        of(Method::Isotonic, vec![knots(&[(0.0, 0.2), (1.0, 0.1)])]),
        of(Method::Isotonic, vec![knots(&[(0.0, 1.0)])]),
        of(Method::Isotonic, vec![knots(&[(f64::INFINITY, 0.5)])]),
    ] {
        assert!(bad.check(1).is_err(), "{bad:?}");
    }
}

#[test]
fn many_scores_give_the_curve_of_their_groups() {
    let mut random = crate::seed::Seed(21).stream("many");
    let scores: Vec<f64> = (0..20_000).map(|_| 2.0 * random.normal()).collect();
    let positive: Vec<bool> = scores.iter().map(|s| random.uniform() < 1.0 / (1.0 + (-1.5 * s + 0.4).exp())).collect();
    let Curve::Platt { a, b } = Curve::learn(Method::Platt, &scores, &positive, None) else { panic!() };
    let (exact_a, exact_b) = platt(&scores, &positive, None);
    assert!((a - exact_a).abs() < 1e-3 && (b - exact_b).abs() < 1e-3, "{a} {b}, not {exact_a} {exact_b}");
}

#[test]
fn scores_against_the_other_classes_are_read_as_those_of_pairs() {
    let mut random = Seed(8).stream("layout");
    let (n, k) = (90, 3);
    let codes: Vec<u32> = (0..n as u32).map(|i| i % 3).collect();
    let others: Vec<f64> = (0..n * (k - 1)).map(|_| random.normal()).collect();
    let mut outputs = vec![f64::NAN; n * 3];
    for (i, &code) in codes.iter().enumerate() {
        for (p, (a, b)) in pairs(k).enumerate() {
            let column = if code as usize == a { b - 1 } else { a };
            if code as usize == a || code as usize == b {
                outputs[i * 3 + p] = others[i * (k - 1) + column];
            }
        }
    }
    let learn = |scores: &[f64], layout| {
        let held_out = HeldOutScores { scores, layout, codes: &codes, weights: None };
        Calibration::learn(Method::Isotonic, 3, Form::Pairs, k, &held_out)
    };
    assert_eq!(learn(&others, Layout::Others), learn(&outputs, Layout::Outputs));
}

#[test]
fn two_gaussians_give_the_odds_of_their_densities() {
    let mut random = Seed(4).stream("gaussians");
    let (mut scores, mut positive, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..400 {
        positive.push(i % 3 == 0);
        scores.push(if i % 3 == 0 { 1.0 + 0.5 * random.normal() } else { -0.4 + 1.2 * random.normal() });
        weights.push(0.5 + random.uniform());
    }
    let curve = Curve::learn(Method::Gaussian, &scores, &positive, Some(&weights));
    let density = |side: bool, x: f64| {
        let of = || (0..400).filter(|&i| positive[i] == side);
        let sum: f64 = of().map(|i| weights[i]).sum();
        let mean = of().map(|i| weights[i] * scores[i]).sum::<f64>() / sum;
        let variance = of().map(|i| weights[i] * (scores[i] - mean).powi(2)).sum::<f64>() / sum;
        sum * (-(x - mean).powi(2) / (2.0 * variance)).exp() / variance.sqrt()
    };
    for step in -20..=20 {
        let x = f64::from(step) * 0.15;
        let wanted = density(true, x) / (density(true, x) + density(false, x));
        let (p, q) = curve.at(x);
        assert!(
            (p - wanted.clamp(MIN_PROBABILITY, 1.0 - MIN_PROBABILITY)).abs() < 1e-9 && (p + q - 1.0).abs() < 1e-6,
            "{x}: {p} {wanted}"
        );
    }
    // nothing to tell the sides apart: the counts are all there is
    let flat = Curve::learn(Method::Gaussian, &[1.0; 4], &[true, true, true, false], None);
    assert!((flat.at(9.0).0 - 4.0 / 6.0).abs() < 1e-12);
    let single = Curve::learn(Method::Gaussian, &[1.0, 2.0], &[true, true], None);
    assert!((single.at(0.0).0 - 0.75).abs() < 1e-12);
}
