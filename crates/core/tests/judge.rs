//! The referee of the support vector machines, judged first: by problems solved by hand and by the optimality conditions.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::support::judge::{Program, cholesky, substitute};
use crate::support::verdict::{Case, Law, Part};
use mercer::seed::{Random, Seed};

const FREE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

fn program(h: &[f64], c: &[f64], a: &[&[f64]], b: &[f64], bounds: &[(f64, f64)]) -> Program {
    let (lower, upper) = bounds.iter().copied().unzip();
    Program { h: h.to_vec(), c: c.to_vec(), a: a.iter().map(|r| r.to_vec()).collect(), b: b.to_vec(), lower, upper }
}

#[track_caller]
fn near(got: &[f64], wanted: &[f64], room: f64) {
    assert_eq!(got.len(), wanted.len());
    assert!(got.iter().zip(wanted).all(|(g, w)| (g - w).abs() <= room), "{got:?}, not {wanted:?}");
}

#[test]
fn a_matrix_is_the_product_of_its_factors_and_a_bad_pivot_is_told() {
    let root = cholesky(&[4.0, 2.0, 2.0, 5.0], 2, 0.0).unwrap();
    near(&root, &[2.0, 0.0, 1.0, 2.0], 1e-15);
    near(&substitute(&root, &[8.0, 12.0]), &[1.0, 2.0], 1e-14);
    assert!(cholesky(&[1.0, 2.0, 2.0, 1.0], 2, 0.0).is_none());
    assert!(cholesky(&[1.0, 2.0, 2.0, 1.0], 2, 1.5).is_some());
}

#[test]
fn problems_solved_by_hand_are_solved_alike() {
    // a parabola between walls: the middle, the left wall, the right wall
    for (c, x, value) in [(-1.0, 1.0, -0.5), (1.0, 0.0, 0.0), (-7.0, 2.0, -12.0)] {
        let found = program(&[1.0], &[c], &[], &[], &[(0.0, 2.0)]).solve();
        near(&[found.x[0], found.objective], &[x, value], 1e-7);
    }
    // no walls at all: H x = −c
    let found = program(&[2.0, 1.0, 1.0, 3.0], &[1.0, -5.0], &[], &[], &[FREE, FREE]).solve();
    near(&found.x, &[-1.6, 2.2], 1e-12);
    // the point of x + y = 2 that is nearest to the origin; its multiplier is the slope there
    let found = program(&[1.0, 0.0, 0.0, 1.0], &[0.0, 0.0], &[&[1.0, 1.0]], &[2.0], &[FREE, FREE]).solve();
    near(&[found.x[0], found.x[1], found.lambda[0], found.objective], &[1.0, 1.0, 1.0, 1.0], 1e-10);
    // a linear program: all of the cheapest
    let found = program(&[0.0; 9], &[3.0, 1.0, 2.0], &[&[1.0; 3]], &[1.5], &[(0.0, 1.0); 3]).solve();
    near(&found.x, &[0.0, 1.0, 0.5], 1e-7);
    near(&[found.objective, found.lambda[0]], &[2.0, 2.0], 1e-8);
    // a variable without room, and one with a single wall
    let bounds = [(3.0, 3.0), (f64::NEG_INFINITY, 5.0)];
    let found = program(&[1.0, 1.0, 1.0, 2.0], &[0.0, -20.0], &[], &[], &bounds).solve();
    near(&[found.x[0], found.x[1], found.objective], &[3.0, 5.0, 4.5 + 15.0 + 25.0 - 100.0], 1e-7);
}

#[test]
fn two_opposite_examples_have_the_margin_of_their_distance() {
    // x = ±1 on the line: K = [[1, −1], [−1, 1]], Q = 1; α = ½ for both, or C where that is less
    for (c, alpha) in [(f64::INFINITY, 0.5), (10.0, 0.5), (0.2, 0.2)] {
        let found = program(&[1.0; 4], &[-1.0; 2], &[&[1.0, -1.0]], &[0.0], &[(0.0, c); 2]).solve();
        near(&found.x, &[alpha; 2], 1e-8);
        near(&[found.objective], &[2.0 * alpha * alpha - 2.0 * alpha], 1e-9);
    }
}

fn random_program(random: &mut Random) -> Program {
    let n = 1 + random.below(40);
    let rank = 1 + random.below(n);
    let factor: Vec<f64> = (0..n * rank).map(|_| random.normal()).collect();
    let product = |i: usize, j: usize| (0..rank).map(|k| factor[i * rank + k] * factor[j * rank + k]).sum::<f64>();
    let h = (0..n * n).map(|p| product(p / n, p % n)).collect();
    let scale = 10_f64.powi(random.below(5) as i32 - 2);
    let inside: Vec<f64> = (0..n).map(|_| scale * random.normal()).collect();
    let lower: Vec<f64> = inside.iter().map(|x| x - scale * (0.01 + random.uniform())).collect();
    let upper: Vec<f64> = inside
        .iter()
        .map(|x| if random.below(4) == 0 { f64::INFINITY } else { x + scale * (0.01 + random.uniform()) })
        .collect();
    // a slope upwards in every open direction, so that there is a minimum
    let c = (0..n).map(|i| if upper[i].is_finite() { random.normal() } else { random.uniform() }).collect();
    let rows = random.below(3).min(n - 1);
    let a: Vec<Vec<f64>> = (0..rows).map(|_| (0..n).map(|_| random.normal()).collect()).collect();
    let b = a.iter().map(|row| row.iter().zip(&inside).map(|(a, x)| a * x).sum()).collect();
    Program { h, c, a, b, lower, upper }
}

#[test]
fn random_problems_satisfy_the_optimality_conditions() {
    let mut random = Seed(11).stream("programs");
    for round in 0..200 {
        let program = random_program(&mut random);
        let found = program.solve();
        let slope = program.slope(&found.x, &found.lambda);
        for (i, g) in slope.iter().enumerate() {
            let (x, size) = (found.x[i], 1.0 + found.x[i].abs());
            // away from a wall there is no slope towards it
            let (below, above) = (x - program.lower[i], program.upper[i] - x);
            assert!(*g < 1e-6 * size || below < 1e-6 * size, "{round}: slope {g} at {below} above the wall");
            assert!(*g > -1e-6 * size || above < 1e-6 * size, "{round}: slope {g} at {above} below the wall");
        }
        // nobody near does better: steps towards random feasible points go up
        let value = program.value(&found.x);
        for _ in 0..20 {
            let other: Vec<f64> = (0..program.len())
                .map(|i| {
                    program.lower[i]
                        + random.uniform() * (program.upper[i].min(program.lower[i] + 9.0) - program.lower[i])
                })
                .collect();
            let miss: f64 = program
                .a
                .iter()
                .zip(&program.b)
                .zip(&found.lambda)
                .map(|((row, b), l)| l * (b - row.iter().zip(&other).map(|(a, x)| a * x).sum::<f64>()))
                .sum();
            // off the equalities the multipliers say what a step may gain
            assert!(program.value(&other) + miss >= value - 1e-7 * (1.0 + value.abs()), "{round}");
        }
    }
}

#[test]
fn a_bound_below_needs_multipliers_and_a_wrong_point_shows_a_gap() {
    let p = program(&[1.0, 0.0, 0.0, 1.0], &[-1.0, -1.0], &[&[1.0, -1.0]], &[0.0], &[(0.0, 3.0); 2]);
    assert!((p.bound(&[1.0, 1.0], &[0.0]) - p.value(&[1.0, 1.0])).abs() < 1e-15);
    assert!(p.bound(&[2.0, 2.0], &[0.0]) < p.value(&[1.0, 1.0]) - 0.5);
    assert!(p.bound(&[1.0, 1.0], &[0.5]) < p.value(&[1.0, 1.0]) - 0.5);
}

/// The expansion that a solution of the dual stands for: the multipliers of the equalities are offset, margin and tube.
fn expansion(law: Law, case: Case<'_>) -> (Part, f64, f64) {
    let n = case.y.len();
    let found = law.program(case).solve();
    let (x, first) = (&found.x, found.lambda.first().copied().unwrap_or(0.0));
    let (mut offset, mut epsilon) = (-first, 0.0);
    let beta: Vec<f64> = match law {
        Law::Svc { .. } => (0..n).map(|i| case.y[i] * x[i]).collect(),
        Law::NuSvc { .. } => {
            let rho = found.lambda[1];
            offset /= rho;
            (0..n).map(|i| case.y[i] * x[i] / rho).collect()
        }
        Law::Svr { .. } => (0..n).map(|i| x[i] - x[n + i]).collect(),
        Law::NuSvr { .. } => {
            epsilon = -found.lambda[1];
            (0..n).map(|i| x[i] - x[n + i]).collect()
        }
        Law::OneClass { .. } => x.clone(),
        Law::Svdd { .. } => x.iter().map(|a| 2.0 * a).collect(),
    };
    (Part { members: (0..n).collect(), y: case.y.to_vec(), beta, offset }, epsilon, found.objective)
}

#[test]
fn the_problems_of_all_machines_have_no_gap_at_the_optimum_and_one_elsewhere() {
    let mut random = Seed(12).stream("laws");
    let n = 24;
    let x: Vec<f64> = (0..2 * n).map(|_| random.normal()).collect();
    let apart = |i: usize, j: usize| (x[2 * i] - x[2 * j]).powi(2) + (x[2 * i + 1] - x[2 * j + 1]).powi(2);
    let k: Vec<f64> = (0..n * n).map(|e| (-0.5 * apart(e / n, e % n)).exp()).collect();
    let signs: Vec<f64> = (0..n).map(|i| if x[2 * i] + 0.6 * random.normal() > 0.0 { 1.0 } else { -1.0 }).collect();
    let numbers: Vec<f64> = (0..n).map(|i| x[2 * i].sin() + 0.2 * random.normal()).collect();
    let (ones, weights) = (vec![1.0; n], (0..n).map(|i| [1.0, 0.5, 2.0, 0.0][i % 4]).collect::<Vec<_>>());
    let (c, nu, epsilon) = (3.0, 0.3, 0.1);
    let mut laws = vec![(Law::NuSvc { nu }, &signs), (Law::OneClass { nu }, &ones), (Law::Svdd { nu }, &ones)];
    laws.push((Law::NuSvr { c, nu }, &numbers));
    for (squared, bias) in [(false, false), (false, true), (true, false), (true, true)] {
        laws.push((Law::Svc { c, squared, bias }, &signs));
        laws.push((Law::Svr { c, epsilon, squared, bias }, &numbers));
    }
    for (law, y) in laws {
        for w in [&ones, &weights] {
            let case = Case { k: &k, y, w };
            let (part, tube, optimum) = expansion(law, case);
            let found = law.weigh(case, &part, tube);
            assert!(found.gap.abs() < 1e-6, "{law:?}: {found:?}");
            assert!(
                (found.dual - optimum).abs() < 1e-6 && found.infeasible < 1e-6,
                "{law:?}: {found:?}, not {optimum}"
            );
            // another offset, other coefficients, another tube: each is found out
            let moved = Part { offset: part.offset + 0.05, ..part.clone() };
            let fewer = Part { beta: part.beta.iter().map(|b| 0.9 * b).collect(), ..part.clone() };
            let mut wrong = vec![(moved, tube), (fewer, tube)];
            if matches!(law, Law::NuSvr { .. }) {
                wrong.push((part.clone(), tube + 0.05));
            }
            for (other, tube) in wrong {
                let found = law.weigh(case, &other, tube);
                assert!(found.gap > 1e-3 || found.infeasible > 1e-3, "{law:?}: {found:?} passes for optimal");
            }
        }
    }
}
