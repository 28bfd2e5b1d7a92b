//! Figure 4.4: structural risk minimisation over nested classes. Class i holds the functions of one variable that change
//! their sign at most i − 1 times (polynomials of degree i − 1), and has Vapnik and Chervonenkis' dimension i; the one with
//! least training error is found exactly, by dynamic programming.

use super::{Drawn, Number, Request};
use mercer::bounds::vc;
use mercer::plot::{Stroke, Strokes};
use mercer_terminal::Failure;

const EXAMPLES: usize = 4000;
const CLASSES: usize = 20;
/// Changes of the true sign, and how often a label is wrong.
const CHANGES: usize = 5;
const NOISE: f64 = 0.1;

/// The true sign.
fn truth(x: f64) -> bool {
    ((x * (CHANGES + 1) as f64) as usize).is_multiple_of(2)
}

/// The least training error with at most so many changes, and where the function changes: (errors, places), the sign left of
/// the first place being the second field.
fn fewest_errors(labels: &[bool], changes: usize) -> (usize, bool, Vec<usize>) {
    // errors[s][c]: of the examples so far with the sign s now and c changes; from[i]: whether the sign changed before i
    let (n, most) = (labels.len(), changes + 1);
    let mut errors = [vec![0_usize; most], vec![0_usize; most]];
    let mut changed = vec![[vec![false; most], vec![false; most]]; n];
    for (i, &label) in labels.iter().enumerate() {
        let before = errors.clone();
        for sign in 0..2 {
            for c in 0..most {
                let stay = before[sign][c];
                let change = if c > 0 && i > 0 { before[1 - sign][c - 1] } else { usize::MAX };
                changed[i][sign][c] = change < stay;
                errors[sign][c] = stay.min(change) + usize::from((sign == 1) != label);
            }
        }
    }
    let mut sign = usize::from(errors[1][changes] < errors[0][changes]);
    let (least, mut c, mut places) = (errors[sign][changes], changes, Vec::new());
    for i in (0..n).rev() {
        if changed[i][sign][c] {
            places.push(i);
            sign = 1 - sign;
            c -= 1;
        }
    }
    places.reverse();
    (least, sign == 1, places)
}

pub(super) fn draw(request: &Request<'_>) -> Result<Vec<Drawn>, Failure> {
    let mut random = request.seed.stream("structural");
    let mut x: Vec<f64> = (0..EXAMPLES).map(|_| random.uniform()).collect();
    x.sort_unstable_by(f64::total_cmp);
    let labels: Vec<bool> = x.iter().map(|&x| truth(x) != (random.uniform() < NOISE)).collect();
    let m = EXAMPLES as f64;
    // each of the classes has an equal part of δ
    let nats = -0.05_f64.ln() + (CLASSES as f64).ln();
    let mut curves = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
    for class in 1..=CLASSES {
        let (errors, first, places) = fewest_errors(&labels, class - 1);
        let (rate, at) = (errors as f64 / m, class as f64);
        let bound = vc::vapnik(rate, m, at, nats);
        let edges: Vec<f64> = places.iter().map(|&i| 0.5 * (x[i - 1] + x[i])).collect();
        let values = [rate, bound - rate, bound, risk(first, &edges)];
        curves.iter_mut().zip(values).for_each(|(curve, y)| curve.push((at, y)));
    }
    let best = curves[2].iter().copied().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((1.0, 1.0));
    let names = ["training error", "confidence", "bound", "risk"];
    let strokes = curves.iter().zip(names).enumerate().map(|(k, (points, name))| Stroke {
        name: name.to_owned(),
        points: points.clone(),
        colour: k as u32,
        dashed: k == 1,
        ..Stroke::default()
    });
    let figure = Strokes {
        title: "Structural risk minimisation".to_owned(),
        x_label: "dimension ϑ of the class".to_owned(),
        y_label: "error".to_owned(),
        strokes: strokes.collect(),
        dots: vec![best],
        note: Some(format!(
            "{EXAMPLES} numbers, a sign that changes {CHANGES} times, {} % of labels wrong; the dot is the least bound",
            100.0 * NOISE
        )),
        ..Strokes::default()
    };
    let risk_there = curves[3][best.0 as usize - 1].1;
    let numbers = vec![
        Number::new("dimension of the true sign", (CHANGES + 1) as f64, None),
        Number::new("dimension with the least bound", best.0, None),
        Number::new("the least bound", best.1, None),
        Number::new("risk there", risk_there, None),
    ];
    Ok(vec![Drawn { file: "structural.svg".to_owned(), svg: figure.draw(request.theme), numbers }])
}

/// The true risk of a sign that changes at these places: the noise, and 1 − 2 noise wherever it is not the true sign.
fn risk(first: bool, edges: &[f64]) -> f64 {
    let mut cuts: Vec<f64> =
        (0..=CHANGES + 1).map(|k| k as f64 / (CHANGES + 1) as f64).chain(edges.iter().copied()).collect();
    cuts.sort_unstable_by(f64::total_cmp);
    let differ = |pair: &[f64]| {
        let middle = 0.5 * (pair[0] + pair[1]);
        let sign = first != (edges.iter().filter(|e| **e < middle).count() % 2 == 1);
        if sign == truth(middle) { 0.0 } else { pair[1] - pair[0] }
    };
    NOISE + (1.0 - 2.0 * NOISE) * cuts.windows(2).map(differ).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fewest_errors_are_those_of_trying_all() {
        let labels = [true, false, false, true, true, false, true, false, false];
        for changes in 0..5 {
            let (least, first, places) = fewest_errors(&labels, changes);
            let mut best = labels.len();
            for pattern in 0_u32..1 << labels.len() {
                let sign = |i: usize| pattern >> i & 1 == 1;
                if (1..labels.len()).filter(|&i| sign(i) != sign(i - 1)).count() <= changes {
                    best = best.min((0..labels.len()).filter(|&i| sign(i) != labels[i]).count());
                }
            }
            assert_eq!(least, best);
            let at = |i: usize| first != (places.iter().filter(|p| **p <= i).count() % 2 == 1);
            assert_eq!((0..labels.len()).filter(|&i| at(i) != labels[i]).count(), least);
        }
    }

    #[test]
    fn the_true_sign_errs_by_the_noise_alone() {
        let edges: Vec<f64> = (1..=CHANGES).map(|k| k as f64 / (CHANGES + 1) as f64).collect();
        assert!((risk(true, &edges) - NOISE).abs() < 1e-12 && (risk(false, &edges) - 1.0 + NOISE).abs() < 1e-12);
        assert!((risk(true, &[]) - 0.5).abs() < 1e-12);
    }
}
