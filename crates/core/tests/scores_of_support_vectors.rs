//! Scores whose kernel values are in f32, since the solver knew them no better than to its tolerance.
#![allow(clippy::unwrap_used, clippy::panic)]

use mercer::data::{Dataset, Rows, Target, Values};
use mercer::prelude::*;

const WIDTH: usize = 100;

/// Overlapping classes in a few of many directions, away from the origin.
fn examples(n: usize, classes: usize, seed: u64) -> (Vec<Vec<f64>>, Vec<String>) {
    let mut random = Seed(seed).stream("overlapping classes");
    let labels: Vec<usize> = (0..n).map(|_| random.below(classes)).collect();
    let row = |label: &usize, random: &mut mercer::seed::Random| {
        (0..WIDTH).map(|k| 3.0 + 0.1 * random.normal() + f64::from(u8::from(k % classes == *label)) * 0.01).collect()
    };
    let rows = labels.iter().map(|label| row(label, &mut random)).collect();
    (rows, labels.iter().map(|label| format!("class {label}")).collect())
}

fn data(rows: &[Vec<f64>]) -> Dataset {
    Dataset::new(Rows::from_vectors(rows).unwrap())
}

#[test]
fn scores_in_f32_are_those_of_f64_within_a_part_of_the_tolerance() {
    for classes in [2, 4] {
        let (rows, labels) = examples(1600, classes, 3);
        let training = data(&rows).with_target(Target::from_text("y", &labels)).unwrap();
        let model = Svc::default().fit(&rbf(0.3), &training).unwrap();
        assert!(model.fitted().expansion.points().len() * WIDTH >= 1 << 16, "the model is large enough");
        let (mut new, _) = examples(101, classes, 4);
        // one example that is far from all others, so that no product is sharp enough for its distances
        new[7].iter_mut().for_each(|x| *x += 2.0);
        let new_data = data(&new);
        let predictor = model.predictor();
        let scores = predictor.scores(&new_data).unwrap();

        // by the definition of the expansion, in f64
        let model = predictor.model();
        let points = model.kernel().prepare(model.examples()).unwrap();
        let side = model.kernel().prepare_like(&new_data, &points).unwrap();
        let cross = model.kernel().gram_between(&side, &points).unwrap();
        let exact = model.fitted().expansion.scores(cross.as_ref());
        let worst = scores.iter().zip(&exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let violation = model.fitted().report.violation.unwrap();
        assert!(worst <= 0.2 * violation, "{worst} is not small beside {violation}");
        assert!(worst > 0.0, "the values were in f64");

        // one alone has the bits that it has among others, and single precision of the same numbers changes none
        let outputs = scores.len() / new.len();
        for i in [0, 7, 50, 100] {
            let alone = predictor.scores(&new_data.select(&[i])).unwrap();
            assert_eq!(alone, &scores[i * outputs..(i + 1) * outputs], "example {i}");
        }
        let narrow: Vec<f32> = new.iter().flatten().map(|x| *x as f32).collect();
        let wide: Vec<f64> = narrow.iter().map(|x| f64::from(*x)).collect();
        let of = |values: Values| predictor.scores(&Dataset::new(values)).unwrap();
        let single = of(Rows::new(narrow, new.len(), WIDTH).unwrap().into());
        assert_eq!(single, of(Rows::new(wide, new.len(), WIDTH).unwrap().into()));
    }
}

#[test]
fn machines_that_are_solved_exactly_have_scores_in_f64() {
    let (rows, _) = examples(900, 2, 5);
    let targets: Vec<f64> = rows.iter().map(|row| row.iter().sum::<f64>().sin()).collect();
    let training = data(&rows).with_target(Target::from_numbers("y", targets)).unwrap();
    let model = Ridge::default().fit(&rbf(0.3), &training).unwrap();
    let predictor = model.predictor();
    let new = data(&examples(20, 2, 6).0);
    let model = predictor.model();
    let points = model.kernel().prepare(model.examples()).unwrap();
    let side = model.kernel().prepare_like(&new, &points).unwrap();
    let exact = model.fitted().expansion.scores(model.kernel().gram_between(&side, &points).unwrap().as_ref());
    assert_eq!(predictor.scores(&new).unwrap(), exact);
}

#[test]
fn the_violation_that_is_told_is_true_where_distances_come_from_products() {
    // three tight clusters with labels that contradict one another: errors of products are alike for all pairs of a cluster
    let mut random = Seed(9).stream("clusters");
    let centres: Vec<Vec<f64>> = (0..3).map(|_| (0..64).map(|_| random.normal()).collect()).collect();
    let mut row = |i: usize| centres[i % 3].iter().map(|c| c + 0.01 * random.normal()).collect();
    let rows: Vec<Vec<f64>> = (0..300).map(&mut row).collect();
    let labels: Vec<String> =
        (0..300).map(|i| if (i / 3) % 2 == 0 { "a".to_owned() } else { "b".to_owned() }).collect();
    let training = data(&rows).with_target(Target::from_text("y", &labels)).unwrap();
    let mean: Vec<f64> = (0..64).map(|k| rows.iter().map(|r| r[k]).sum::<f64>() / 300.0).collect();
    let longest =
        rows.iter().map(|r| r.iter().zip(&mean).map(|(x, m)| (x - m).powi(2)).sum::<f64>()).fold(0.0, f64::max);
    let gamma = 15.0 / longest;
    let model = Svc { c: 900.0, ..Svc::default() }.fit(&rbf(gamma), &training).unwrap();
    let report = &model.fitted().report;
    let mut beta = vec![0.0; 300];
    let mercer::machines::Coefficients::Dual { alpha, .. } = &model.fitted().expansion.coefficients else {
        let mercer::machines::Coefficients::Pairwise { alpha, .. } = &model.fitted().expansion.coefficients else {
            panic!()
        };
        return judge(alpha, &model, &rows, &labels, gamma, report.violation.unwrap(), &mut beta);
    };
    judge(alpha, &model, &rows, &labels, gamma, report.violation.unwrap(), &mut beta);
}

/// The largest height that may rise minus the smallest that may fall, from K in f64.
fn judge(alpha: &[f64], model: &Model, rows: &[Vec<f64>], labels: &[String], gamma: f64, told: f64, beta: &mut [f64]) {
    for (&place, &a) in model.places().iter().zip(alpha) {
        beta[place] = a;
    }
    let (mut top, mut bottom) = (f64::NEG_INFINITY, f64::INFINITY);
    for (i, x) in rows.iter().enumerate() {
        let image: f64 = rows
            .iter()
            .zip(beta.iter())
            .map(|(z, b)| b * (-gamma * x.iter().zip(z).map(|(x, z)| (x - z).powi(2)).sum::<f64>()).exp())
            .sum();
        let sign = if labels[i] == "a" { 1.0 } else { -1.0 };
        let state = sign - image;
        if sign * beta[i] < 900.0 && sign > 0.0 || sign * beta[i] > 0.0 && sign < 0.0 {
            top = top.max(state);
        }
        if sign * beta[i] < 900.0 && sign < 0.0 || sign * beta[i] > 0.0 && sign > 0.0 {
            bottom = bottom.min(state);
        }
    }
    let truth = top - bottom;
    assert!(truth <= 1.2 * told + 1e-6, "told {told}, but it is {truth}");
}
