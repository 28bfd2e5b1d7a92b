//! The reduced system of a step against the whole system of ten blocks, and what stays above zero on the way.

use super::*;
use crate::seed::{Random, Seed};
use crate::solvers::sparse::{Columns, SparseProgramme};
use crate::solvers::testing::eliminate;

const LOSSES: [Loss; 7] = [
    Loss::Absolute,
    Loss::Squared,
    Loss::Hinge,
    Loss::SquaredHinge,
    Loss::Logistic,
    Loss::EpsilonInsensitive { epsilon: 0.1 },
    Loss::Huber { width: 0.5 },
];

/// The changes of the ten variables, by the names of the thesis.
struct Whole {
    x: Vec<f64>,
    y: Vec<f64>,
    p: Vec<f64>,
    w: Vec<f64>,
    v: Vec<f64>,
    q: Vec<f64>,
    z: Vec<f64>,
    s: Vec<f64>,
}

/// The dual programme as a quadratic one with ranges and bounds, at a point of the method:
/// ```text
/// min cᵀx + Φ(x),   −λ ≤ A₁x ≤ λ,   1ᵀβ = 0,   l ≤ x ≤ u          x the branches v,  A₁x = Kᵀβ
/// A₁x − w = −λ     w + p = 2λ     x − g = l     x + t = u          w v, p q, g z, t s → what is aimed at
/// Aᵀy + z − s − Φ′(x) = c         y₁ + q − v = 0                   v = α⁻, q = α⁺, the multiplier of 1ᵀβ = 0 is −b
/// ```
/// Ten blocks of unknowns Δx, Δy, Δw, Δp, Δv, Δq, Δg, Δz, Δt, Δs; nothing is eliminated (Mika 2002, App. A).
fn whole(barrier: &Barrier<'_>, matrix: &[f64], point: &Point, aim: &Aim) -> Whole {
    let (terms, m) = (barrier.terms, barrier.x.columns);
    let b = barrier.branches.len();
    let equations = usize::from(terms.bias);
    let lower: Vec<usize> = (0..b).filter(|&k| barrier.bounded(k).0).collect();
    let upper: Vec<usize> = (0..b).filter(|&k| barrier.bounded(k).1).collect();
    // where each block begins
    let mut next = 0;
    let mut block = |size: usize| {
        next += size;
        next - size
    };
    let (x, y, w, p, v, q) = (block(b), block(m + equations), block(m), block(m), block(m), block(m));
    let (g, z, t, s) = (block(lower.len()), block(lower.len()), block(upper.len()), block(upper.len()));
    let size = next;
    let a = |row: usize, k: usize| {
        let branch = &barrier.branches[k];
        branch.sign * if row == m { 1.0 } else { matrix[branch.row * m + row] }
    };
    let (mut system, mut right): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    let mut equation = |parts: &[(usize, f64)], value: f64| {
        let mut row = vec![0.0; size];
        parts.iter().for_each(|&(place, factor)| row[place] += factor);
        system.extend(row);
        right.push(value);
    };
    let multiplier = |row: usize| if row == m { -point.offset } else { point.minus[row] - point.plus[row] };
    let lambda = terms.lambda;
    let image = |row: usize| (0..b).map(|k| a(row, k) * point.v[k]).sum::<f64>();
    for row in 0..m + equations {
        let mut parts: Vec<(usize, f64)> = (0..b).map(|k| (x + k, a(row, k))).collect();
        if row == m {
            equation(&parts, -image(m));
        } else {
            parts.push((w + row, -1.0));
            equation(&parts, 0.0);
            equation(&[(w + row, 1.0), (p + row, 1.0)], 0.0);
            equation(&[(y + row, 1.0), (q + row, 1.0), (v + row, -1.0)], 0.0);
            let (above, below) = (lambda - image(row), lambda + image(row));
            equation(&[(q + row, above), (p + row, point.plus[row])], aim.plus[row]);
            equation(&[(v + row, below), (w + row, point.minus[row])], aim.minus[row]);
        }
    }
    for k in 0..b {
        let Branch { row: i, sign, bend, .. } = barrier.branches[k];
        let (slope, curvature) = barrier.bent(k, point.v[k]);
        let mut parts: Vec<(usize, f64)> = (0..m + equations).map(|row| (y + row, a(row, k))).collect();
        parts.push((x + k, -curvature));
        let mut left = (0..m + equations).map(|row| a(row, k) * multiplier(row)).sum::<f64>() - slope;
        if let Some(place) = lower.iter().position(|&o| o == k) {
            parts.push((z + place, 1.0));
            left += point.below[k];
        }
        if let Some(place) = upper.iter().position(|&o| o == k) {
            parts.push((s + place, -1.0));
            left -= point.above[k];
        }
        // c = −σy + e
        equation(&parts, bend - sign * terms.y[i] - left);
    }
    for (place, &k) in lower.iter().enumerate() {
        let slack = point.v[k] - barrier.branches[k].lower;
        equation(&[(x + k, 1.0), (g + place, -1.0)], 0.0);
        equation(&[(z + place, slack), (g + place, point.below[k])], aim.below[k]);
    }
    for (place, &k) in upper.iter().enumerate() {
        let slack = barrier.branches[k].upper - point.v[k];
        equation(&[(x + k, 1.0), (t + place, 1.0)], 0.0);
        equation(&[(s + place, slack), (t + place, point.above[k])], aim.above[k]);
    }
    assert_eq!(right.len(), size, "as many equations as unknowns");
    let found = eliminate(system, right);
    let take = |from: usize, count: usize| found[from..from + count].to_vec();
    let spread = |from: usize, of: &[usize]| {
        let mut all = vec![0.0; b];
        of.iter().enumerate().for_each(|(place, &k)| all[k] = found[from + place]);
        all
    };
    Whole {
        x: take(x, b),
        y: take(y, m + equations),
        p: take(p, m),
        w: take(w, m),
        v: take(v, m),
        q: take(q, m),
        z: spread(z, &lower),
        s: spread(s, &upper),
    }
}

#[track_caller]
fn near(a: &[f64], b: &[f64], what: &str) {
    let size = b.iter().fold(1e-3_f64, |most, x| most.max(x.abs()));
    assert_eq!(a.len(), b.len(), "{what}");
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= 1e-7 * size, "{what}: {a} beside {b} of {size}");
    }
}

/// n × m numbers and targets, ±1 where the loss wants margins.
fn example(n: usize, m: usize, loss: Loss, random: &mut Random) -> (Vec<f64>, Vec<f64>) {
    let matrix = (0..n * m).map(|_| random.normal()).collect();
    let y = (0..n).map(|_| random.normal());
    (matrix, y.map(|t| if loss.is_margin() { t.signum() } else { t }).collect())
}

#[test]
fn a_step_of_the_reduced_system_is_that_of_all_ten_blocks() {
    let mut random = Seed(21).stream("ten blocks");
    // fewer columns than rows and more of them, which are reduced differently
    for (loss, (n, m), bias) in LOSSES
        .into_iter()
        .flat_map(|l| [(7, 4), (5, 9)].into_iter().flat_map(move |shape| [true, false].map(|bias| (l, shape, bias))))
    {
        let (matrix, y) = example(n, m, loss, &mut random);
        let weights: Vec<f64> = (0..n).map(|i| 0.5 + (i % 3) as f64).collect();
        let columns = Columns::Stored { matrix: &matrix, columns: m };
        let programme =
            SparseProgramme { columns, y: &y, weights: Some(&weights), loss, lambda: 0.4, bias, start: None };
        let terms = Terms::new(&programme).unwrap();
        let x = Working::new(&matrix, m, &terms.rows, bias);
        let barrier = Barrier::new(&x, &terms);
        let (mut point, level) = barrier.begin();
        for step in 0..4 {
            let what = format!("{loss:?} {n} × {m}, bias {bias}, step {step}");
            let state = barrier.look(&point);
            let (system, each) = barrier.system(&point, &state).unwrap();
            let mut numbers = |count: usize| (0..count).map(|_| level * random.normal()).collect::<Vec<f64>>();
            let b = barrier.branches.len();
            let aim = Aim { plus: numbers(m), minus: numbers(m), above: numbers(b), below: numbers(b) };
            let (found, all) =
                (barrier.direction(&system, &point, &state, &each, &aim), whole(&barrier, &matrix, &point, &aim));
            near(&found.v, &all.x, &format!("{what} x"));
            near(&found.plus, &all.q, &format!("{what} q"));
            near(&found.minus, &all.v, &format!("{what} v"));
            near(&found.above, &all.s, &format!("{what} s"));
            near(&found.below, &all.z, &format!("{what} z"));
            // w = λ + g and p = λ − g move with the prices, y₁ = −α
            near(&found.prices[..m], &all.w, &format!("{what} w"));
            near(&found.prices[..m], &all.p.iter().map(|p| -p).collect::<Vec<_>>(), &format!("{what} p"));
            let alpha: Vec<f64> = found.minus.iter().zip(&found.plus).map(|(v, q)| v - q).collect();
            near(&alpha, &all.y[..m], &format!("{what} y"));
            if bias {
                near(&[-found.offset], &all.y[m..], &format!("{what} b"));
            }
            barrier.step(&mut point, &state, level).unwrap();
        }
    }
}

#[test]
fn products_stay_above_zero_and_are_as_many_as_bounds() {
    let mut random = Seed(22).stream("products");
    for loss in LOSSES {
        let (n, m) = (12, 10);
        let (matrix, y) = example(n, m, loss, &mut random);
        let columns = Columns::Stored { matrix: &matrix, columns: m };
        let programme = SparseProgramme { columns, y: &y, weights: None, loss, lambda: 0.7, bias: true, start: None };
        let terms = Terms::new(&programme).unwrap();
        let x = Working::new(&matrix, m, &terms.rows, true);
        let barrier = Barrier::new(&x, &terms);
        let (mut point, level) = barrier.begin();
        // 2M₁ + M₂ + 2N₁ + N₂ with the ranges −λ ≤ Kᵀβ ≤ λ and what the loss bounds; the logistic one is its own barrier
        let bounds = match loss {
            Loss::Absolute | Loss::Hinge | Loss::Huber { .. } => 2 * n,
            Loss::EpsilonInsensitive { .. } => 4 * n,
            Loss::SquaredHinge => n,
            Loss::Squared | Loss::Logistic => 0,
        };
        for step in 0..8 {
            let state = barrier.look(&point);
            let mut products = Vec::new();
            for j in 0..m {
                let price: f64 = (0..n).map(|i| matrix[i * m + j] * state.beta[i]).sum();
                assert!((price - state.prices[j]).abs() < 1e-12);
                products.extend([point.plus[j] * (0.7 - price), point.minus[j] * (0.7 + price)]);
            }
            for (k, b) in barrier.branches.iter().enumerate() {
                assert!(b.lower < point.v[k] && point.v[k] < b.upper, "{loss:?} {step}: {}", point.v[k]);
                if barrier.bounded(k).0 {
                    products.push(point.below[k] * (point.v[k] - b.lower));
                }
                if barrier.bounded(k).1 {
                    products.push(point.above[k] * (b.upper - point.v[k]));
                }
            }
            assert!(products.iter().all(|&p| p > 0.0), "{loss:?} {step}: {products:?}");
            let (sum, pairs) = barrier.complementarity(&point, &state, None);
            assert_eq!((pairs, products.len()), (2 * m + bounds, 2 * m + bounds), "{loss:?}");
            assert!((sum - products.iter().sum::<f64>()).abs() < 1e-11 * (1.0 + sum), "{loss:?} {step}");
            barrier.step(&mut point, &state, level).unwrap();
        }
        // and their sum goes to zero
        let (sum, _) = barrier.complementarity(&point, &barrier.look(&point), None);
        assert!(sum < 1e-2 * terms.losses(&vec![0.0; n]), "{loss:?}: {sum}");
    }
}
