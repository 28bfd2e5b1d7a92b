//! Optimality, derived again from scratch: nothing of the solver is used but its answers.

use super::*;
use crate::watch::{Progress, Silent, Stop};
use std::ops::ControlFlow;

/// Random rows around two centres, a sign and a number for each.
struct Set {
    x: Vec<Vec<f64>>,
    signs: Vec<f64>,
    numbers: Vec<f64>,
}

fn set(n: usize, d: usize, seed: u64) -> Set {
    let mut random = Seed(seed).stream("linear");
    let signs: Vec<f64> = (0..n).map(|_| if random.uniform() < 0.4 { 1.0 } else { -1.0 }).collect();
    // a third of the coordinates is zero, the first row wholly so
    let mut x: Vec<Vec<f64>> = signs
        .iter()
        .map(|s| {
            (0..d)
                .map(|j| if random.uniform() < 0.33 { 0.0 } else { random.normal() + s * 0.3 * (j % 2) as f64 })
                .collect()
        })
        .collect();
    x[0].fill(0.0);
    let numbers = x.iter().map(|row| row.iter().sum::<f64>() + 2.0 + 0.3 * random.normal()).collect();
    Set { x, signs, numbers }
}

impl Set {
    fn dense(&self, scale: f64, bias: Option<f64>) -> Design {
        Design::dense(&self.x.concat(), self.x.len(), self.x[0].len(), scale, bias)
    }

    fn sparse(&self, scale: f64, bias: Option<f64>) -> Design {
        let stored =
            |row: &Vec<f64>| row.iter().enumerate().filter(|(_, v)| **v != 0.0).map(|(j, v)| (j as u32, *v)).collect();
        let rows: Vec<Vec<(u32, f64)>> = self.x.iter().map(stored).collect();
        let mut starts = vec![0];
        rows.iter().for_each(|row| starts.push(starts[starts.len() - 1] + row.len()));
        Design::sparse(rows.iter().flatten().copied(), &starts, self.x[0].len() + 5, scale, bias)
    }
}

fn run(design: &Design, y: &[f64], costs: &[f64], loss: LinearLoss, tolerance: f64) -> LinearSolution {
    let problems = LinearProblems { design, count: 1, targets: &|_, i| y[i], costs, loss };
    let options = DescentOptions { tolerance, max_iterations: 0, seed: Seed(3) };
    coordinate_descent(&problems, &options, &Silent).unwrap().remove(0)
}

/// The score of every row by the weights that are handed out.
fn scores(set: &Set, design: &Design, solution: &LinearSolution) -> (Vec<f64>, Vec<f64>, f64) {
    let (weights, offsets) = design.unpack(std::slice::from_ref(&solution.weights));
    let dot = |row: &Vec<f64>| row.iter().zip(&weights).map(|(a, b)| a * b).sum::<f64>() + offsets[0];
    (set.x.iter().map(dot).collect(), weights, offsets[0])
}

fn value(loss: LinearLoss, y: f64, f: f64) -> f64 {
    match loss {
        LinearLoss::Hinge => (1.0 - y * f).max(0.0),
        LinearLoss::SquaredHinge => (1.0 - y * f).max(0.0).powi(2),
        LinearLoss::Logistic => (1.0 + (-y * f).exp()).ln(),
        LinearLoss::Insensitive(e) => ((y - f).abs() - e).max(0.0),
        LinearLoss::SquaredInsensitive(e) => ((y - f).abs() - e).max(0.0).powi(2),
    }
}

const LOSSES: [LinearLoss; 5] = [
    LinearLoss::Hinge,
    LinearLoss::SquaredHinge,
    LinearLoss::Logistic,
    LinearLoss::Insensitive(0.2),
    LinearLoss::SquaredInsensitive(0.2),
];

fn targets(set: &Set, loss: LinearLoss) -> &[f64] {
    match loss {
        LinearLoss::Insensitive(_) | LinearLoss::SquaredInsensitive(_) => &set.numbers,
        _ => &set.signs,
    }
}

/// Checks the conditions on c_i (w = Σ c_i x_i, c_i in −C ∂ℓ) and both objectives.
fn check(set: &Set, design: &Design, (scale, bias): (f64, Option<f64>), costs: &[f64], loss: LinearLoss, what: &str) {
    let y = targets(set, loss);
    let solution = run(design, y, costs, loss, 1e-9);
    assert_eq!(solution.status, Status::Converged, "{what}");
    let c = &solution.coefficients;
    let (f, weights, offset) = scores(set, design, &solution);
    // w = Σ c_i x_i: f_i = scale Σ c_j ⟨x_j, x_i⟩ + bias² Σ c_j
    let (total, constant) = (c.iter().sum::<f64>(), bias.unwrap_or(0.0).powi(2));
    for j in 0..weights.len() {
        let wanted: f64 = set.x.iter().zip(c).filter(|(x, _)| j < x.len()).map(|(x, c)| scale * c * x[j]).sum();
        assert!((weights[j] - wanted).abs() < 1e-10 * (1.0 + wanted.abs()), "{what}: w_{j}");
    }
    assert!((offset - constant * total).abs() < 1e-10 * (1.0 + total.abs()), "{what}: offset");
    let room = 1e-6;
    let mut dual = 0.0;
    for i in 0..y.len() {
        let (y, f, cost, v) = (y[i], f[i], costs[i], c[i]);
        let a = y * v;
        let fits = match loss {
            LinearLoss::Hinge => {
                dual += a;
                (0.0..=cost).contains(&a) && (a == cost || y * f >= 1.0 - room) && (a == 0.0 || y * f <= 1.0 + room)
            }
            LinearLoss::SquaredHinge => {
                dual += a - if cost > 0.0 { a * a / (4.0 * cost) } else { 0.0 };
                a >= 0.0 && (a - 2.0 * cost * (1.0 - y * f).max(0.0)).abs() <= room * (1.0 + cost)
            }
            LinearLoss::Logistic => {
                let entropy = |z: f64| if z > 0.0 { z * (z / cost).ln() } else { 0.0 };
                dual -= entropy(a) + entropy(cost - a);
                (a - cost / (1.0 + (y * f).exp())).abs() <= room * (1.0 + cost)
            }
            LinearLoss::Insensitive(e) => {
                dual += y * v - e * v.abs();
                let rest = y - f;
                v.abs() <= cost
                    && (v.abs() == cost || rest.abs() <= e + room)
                    && (v == 0.0 || rest * v.signum() >= e - room)
            }
            LinearLoss::SquaredInsensitive(e) => {
                dual += y * v - e * v.abs() - if cost > 0.0 { v * v / (4.0 * cost) } else { 0.0 };
                let rest = y - f;
                (v - 2.0 * cost * rest.signum() * (rest.abs() - e).max(0.0)).abs() <= room * (1.0 + cost)
            }
        };
        assert!(fits, "{what}: example {i} has y = {y}, f = {f}, c = {v}, C = {cost}");
    }
    let square: f64 = c.iter().zip(&f).map(|(c, f)| c * f).sum();
    let primal: f64 = 0.5 * square + (0..y.len()).map(|i| costs[i] * value(loss, y[i], f[i])).sum::<f64>();
    dual -= 0.5 * square;
    let size = 1.0 + primal.abs();
    assert!((primal - solution.primal).abs() < 1e-9 * size, "{what}: primal {primal}, told {}", solution.primal);
    assert!((dual - solution.dual).abs() < 1e-9 * size, "{what}: dual {dual}, told {}", solution.dual);
    assert!(solution.gap() > -1e-9 * size && solution.gap() < 1e-5 * size, "{what}: gap {}", solution.gap());
    assert!(solution.violation < 1e-6 * (1.0 + solution.gap().abs()), "{what}: violation {}", solution.violation);
}

#[test]
fn every_loss_meets_its_optimality_conditions_dense_and_sparse() {
    for (n, d, seed) in [(40, 3, 1), (60, 17, 2), (30, 50, 4)] {
        let set = set(n, d, seed);
        let mut random = Seed(seed).stream("costs");
        let even = vec![0.7; n];
        let uneven: Vec<f64> = (0..n).map(|i| if i % 7 == 3 { 0.0 } else { 3.0 * random.uniform() }).collect();
        for (costs, name) in [(&even, "even"), (&uneven, "uneven")] {
            for (scale, bias) in [(1.0, Some(1.0)), (0.25, None), (2.0, Some(3.0))] {
                for loss in LOSSES {
                    let what = format!("{loss:?}, {n} × {d}, {name} costs, scale {scale}, bias {bias:?}");
                    check(&set, &set.dense(scale, bias), (scale, bias), costs, loss, &what);
                    check(&set, &set.sparse(scale, bias), (scale, bias), costs, loss, &format!("{what}, sparse"));
                }
            }
        }
    }
}

#[test]
fn the_squared_hinge_is_a_ridge_on_the_diagonal_of_the_dual() {
    // min ½ αᵀ(Q + I/2C)α − Σα, α ≥ 0, by plain projected gradients on the dense matrix
    let (set, c) = (set(25, 4, 5), 0.8);
    let n = set.x.len();
    let inner = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let q: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            let entry = |j: usize| set.signs[i] * set.signs[j] * (inner(&set.x[i], &set.x[j]) + 1.0);
            (0..n).map(|j| entry(j) + if i == j { 0.5 / c } else { 0.0 }).collect()
        })
        .collect();
    let trace: f64 = (0..n).map(|i| q[i][i]).sum();
    let mut alpha = vec![0.0; n];
    for _ in 0..200_000 {
        let gradient: Vec<f64> = q.iter().map(|row| inner(row, &alpha) - 1.0).collect();
        alpha.iter_mut().zip(gradient).for_each(|(a, g)| *a = (*a - g / trace).max(0.0));
    }
    let solution = run(&set.dense(1.0, Some(1.0)), &set.signs, &vec![c; n], LinearLoss::SquaredHinge, 1e-10);
    for i in 0..n {
        let got = set.signs[i] * solution.coefficients[i];
        assert!((got - alpha[i]).abs() < 1e-7, "{i}: {got}, not {}", alpha[i]);
    }
    let value = alpha.iter().sum::<f64>() - 0.5 * (0..n).map(|i| alpha[i] * inner(&q[i], &alpha)).sum::<f64>();
    assert!((solution.dual - value).abs() < 1e-9 * value);
}

#[test]
fn the_gradient_of_the_logistic_objective_is_zero() {
    let (set, c) = (set(50, 6, 6), 2.0);
    let design = set.sparse(1.0, Some(1.0));
    let solution = run(&design, &set.signs, &[c; 50], LinearLoss::Logistic, 1e-10);
    let (f, weights, offset) = scores(&set, &design, &solution);
    let slope = |i: usize| -c * set.signs[i] / (1.0 + (set.signs[i] * f[i]).exp());
    for j in 0..6 {
        let gradient = weights[j] + (0..50).map(|i| slope(i) * set.x[i][j]).sum::<f64>();
        assert!(gradient.abs() < 1e-8, "{gradient}");
    }
    assert!((offset + (0..50).map(slope).sum::<f64>()).abs() < 1e-8);
    assert!(weights.iter().any(|w| w.abs() > 0.1));
}

#[test]
fn problems_side_by_side_are_the_problems_alone() {
    // 6 = 4 + 2: whole groups, and one with lanes to spare; 5 = 4 + 1
    let set = set(80, 9, 7);
    let design = set.sparse(1.0, Some(1.0));
    for loss in LOSSES {
        for count in [2, 5, 6] {
            let turned = |b: usize, i: usize| targets(&set, loss)[(i * 7 + b * 11) % 80];
            let problems = LinearProblems { design: &design, count, targets: &turned, costs: &[0.5; 80], loss };
            let options = DescentOptions { tolerance: 1e-9, max_iterations: 0, seed: Seed(3) };
            let together = coordinate_descent(&problems, &options, &Silent).unwrap();
            assert_eq!(together.len(), count);
            for (b, solution) in together.iter().enumerate() {
                let y: Vec<f64> = (0..80).map(|i| turned(b, i)).collect();
                let alone = run(&design, &y, &[0.5; 80], loss, 1e-9);
                assert!((alone.primal - solution.primal).abs() < 1e-6 * alone.primal, "{loss:?} {b} of {count}");
                assert!(solution.gap() < 1e-5 * alone.primal && solution.status == Status::Converged);
                let off = alone.weights.iter().zip(&solution.weights).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(off < 1e-4, "{loss:?} {b} of {count}: {off}");
            }
        }
    }
}

/// Stops at the k-th look.
struct After(std::sync::atomic::AtomicUsize);

impl Monitor for After {
    fn step(&self, _: &Progress) -> ControlFlow<Stop> {
        match self.0.fetch_update(std::sync::atomic::Ordering::Relaxed, std::sync::atomic::Ordering::Relaxed, |n| {
            n.checked_sub(1)
        }) {
            Ok(_) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(Stop::Interrupted),
        }
    }
}

#[test]
fn limits_and_stops_keep_what_there_is_and_say_so() {
    let set = set(600, 5, 8);
    let design = set.dense(1.0, Some(1.0));
    let problems = LinearProblems {
        design: &design,
        count: 3,
        targets: &|b, i| set.signs[(i + b) % 600],
        costs: &[1e10; 600],
        loss: LinearLoss::Hinge,
    };
    let options = DescentOptions { tolerance: 1e-9, max_iterations: 4, seed: Seed(0) };
    for s in coordinate_descent(&problems, &options, &Silent).unwrap() {
        assert_eq!((s.iterations, s.status), (4, Status::IterationLimit));
        assert!(s.gap() > 0.0 && s.weights.iter().any(|&w| w != 0.0));
    }
    let watch = After(7.into());
    for s in coordinate_descent(&problems, &DescentOptions { max_iterations: 0, ..options }, &watch).unwrap() {
        // three looks in a pass of 600
        assert_eq!((s.iterations, s.status), (2, Status::Interrupted));
        assert!(s.primal.is_finite() && s.dual <= s.primal && s.weights.iter().any(|&w| w != 0.0));
    }
    let at_once = coordinate_descent(&problems, &options, &After(0.into())).unwrap();
    assert!(at_once.iter().all(|s| s.iterations == 0 && s.status == Status::Interrupted && s.dual == 0.0));
}

#[test]
fn rows_beyond_the_range_of_numbers_are_an_error() {
    let design = Design::dense(&[1.0, 1e200], 2, 1, 1.0, None);
    let problems =
        LinearProblems { design: &design, count: 1, targets: &|_, _| 1.0, costs: &[1.0; 2], loss: LinearLoss::Hinge };
    let options = DescentOptions { tolerance: 1e-3, max_iterations: 10, seed: Seed(0) };
    let error = coordinate_descent(&problems, &options, &Silent).unwrap_err();
    assert_eq!(error, SolveError::NotFinite { row: 2, column: 2 });
}

#[test]
fn free_variables_are_settled_together_where_passes_creep() {
    // many examples of few coordinates: LIBLINEAR's thousand passes are not enough for these
    let set = set(600, 4, 21);
    let design = set.dense(1.0, Some(1.0));
    for (loss, most) in [(LinearLoss::Hinge, 700), (LinearLoss::Insensitive(0.1), 700)] {
        let costs = vec![1.0; 600];
        let y = targets(&set, loss);
        let found = run(&design, y, &costs, loss, 1e-7);
        assert_eq!(found.status, Status::Converged, "{loss:?}");
        assert!(found.iterations < most, "{loss:?}: {} passes", found.iterations);
        assert!(found.gap() < 1e-6 * found.primal, "{loss:?}: {}", found.gap());
    }
}
