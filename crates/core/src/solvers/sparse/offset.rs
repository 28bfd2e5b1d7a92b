//! The best b for given scores, and a β that proves it.
//!
//! P(b) = Σ w ℓ(y, s + b) is convex with the slope −Σ β_i(b). Where losses bend the slope jumps, and the least b at which it is not
//! negative is one of finitely many; else Newton's steps between two ends find it.

use super::terms::Terms;
use crate::solvers::Loss;

/// The b that is best for the scores s, and slopes β of the errors that sum to zero there.
pub(super) fn best_offset(terms: &Terms<'_>, s: &[f64]) -> (f64, Vec<f64>) {
    let b = if terms.bias { locate(terms, s) } else { 0.0 };
    let slopes: Vec<(f64, f64)> = (0..terms.len()).map(|i| terms.slopes(i, s[i] + b)).collect();
    if !terms.bias {
        return (b, slopes.iter().map(|(low, high)| 0.5 * (low + high)).collect());
    }
    // all bends give way by the same part, so that the sum is zero
    let (low, high) = slopes.iter().fold((0.0, 0.0), |(a, b), (l, h)| (a + l, b + h));
    let part = if high > low { (-low / (high - low)).clamp(0.0, 1.0) } else { 0.0 };
    (b, slopes.iter().map(|(l, h)| l + part * (h - l)).collect())
}

fn locate(terms: &Terms<'_>, s: &[f64]) -> f64 {
    let targets = || (0..terms.len()).map(|i| terms.y[i] - s[i]);
    let bends: Option<Vec<f64>> = match terms.loss {
        Loss::Hinge | Loss::Absolute => Some(targets().collect()),
        Loss::EpsilonInsensitive { epsilon } => Some(targets().flat_map(|t| [t - epsilon, t + epsilon]).collect()),
        _ => None,
    };
    match bends {
        Some(bends) => at_a_bend(terms, s, bends),
        None => between(terms, s),
    }
}

/// Σβ just left and just right of b: falling in b.
fn sums(terms: &Terms<'_>, s: &[f64], b: f64) -> (f64, f64) {
    (0..terms.len()).fold((0.0, 0.0), |(low, high), i| {
        let (l, h) = terms.slopes(i, s[i] + b);
        (low + l, high + h)
    })
}

/// The middle of the bends at which the sum may be zero.
fn at_a_bend(terms: &Terms<'_>, s: &[f64], mut bends: Vec<f64>) -> f64 {
    bends.sort_by(f64::total_cmp);
    bends.dedup();
    // rounding in y − s − b moves an example off its own bend: sums are forgiven as much
    let forgiven = 1e-9 * terms.w.iter().sum::<f64>();
    let first = bends.partition_point(|&b| nudged(terms, s, b).0 > forgiven);
    let end = bends.partition_point(|&b| nudged(terms, s, b).1 >= -forgiven);
    let last = bends.len() - 1;
    let (first, end) = (first.min(last), end.saturating_sub(1).clamp(0, last));
    0.5 * (bends[first] + bends[end.max(first)])
}

/// The least and the largest Σβ around b, taking in bends that rounding has moved.
fn nudged(terms: &Terms<'_>, s: &[f64], b: f64) -> (f64, f64) {
    let step = 1e-12 * (1.0 + b.abs());
    (sums(terms, s, b + step).0, sums(terms, s, b - step).1)
}

/// Newton's steps inside an interval that is halved where they leave it.
fn between(terms: &Terms<'_>, s: &[f64]) -> f64 {
    let (mut low, mut high) = (0..terms.len()).fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), i| {
        let t = terms.y[i] - s[i];
        (f64::min(l, t), f64::max(h, t))
    });
    if terms.loss == Loss::Logistic {
        // the logistic loss has no finite error at which it rests
        let only = terms.y.iter().all(|&y| y == terms.y[0]);
        let far = if only { 40.0 } else { 40.0 + terms.w.iter().sum::<f64>().ln().abs() };
        (low, high) = (low - far, high + far);
    }
    let mut b = 0.5 * (low + high);
    for _ in 0..200 {
        let slope = sums(terms, s, b).0;
        if slope > 0.0 {
            low = b;
        } else {
            high = b;
        }
        let curvature: f64 = (0..terms.len()).map(|i| terms.curvature(i, s[i] + b)).sum();
        let newton = b + slope / curvature;
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        if (next - b).abs() <= 4e-16 * (1.0 + b.abs()) || slope == 0.0 {
            return b;
        }
        b = next;
    }
    b
}
