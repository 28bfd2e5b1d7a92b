//! The factor against normal equations, and outputs together against each alone.

use super::*;
use crate::gram::Dense;
use crate::solvers::testing::eliminate;
use crate::watch::Silent;

#[test]
fn the_appended_factor_is_that_of_the_normal_equations_and_drops_are_those_of_the_block_inverse() {
    let n = 30;
    let mut random = Seed(5).stream("greedy");
    let x: Vec<f64> = (0..n).map(|_| random.normal()).collect();
    let k: Vec<f64> = (0..n * n).map(|p| (-(x[p / n] - x[p % n]).powi(2)).exp()).collect();
    let y: Vec<f64> = x.iter().map(|x| if x.sin() + 0.3 * random.normal() > 0.0 { 1.0 } else { -1.0 }).collect();
    let weights: Vec<f64> = (0..n).map(|i| 0.5 + (i % 3) as f64).collect();
    let gram = Dense::new(k.clone(), n, n).unwrap();
    for penalty in [Quadratic::Norm, Quadratic::Coefficients] {
        let aim = Aim { y: &y, outputs: 1, weights: &weights, lambda: 0.3, penalty };
        let column = |p: Option<usize>, i: usize| p.map_or(1.0, |p| k[i * n + p]);
        // entries of H and c, the offset among the columns
        let entry = |a: Option<usize>, b: Option<usize>| {
            let products: f64 = (0..n).map(|i| weights[i] * column(a, i) * column(b, i)).sum();
            let (Some(a), Some(b)) = (a, b) else { return products };
            products
                + 0.3
                    * match penalty {
                        Quadratic::Norm => k[a * n + b],
                        Quadratic::Coefficients => f64::from(u8::from(a == b)),
                    }
        };
        let wanted = |a: Option<usize>| (0..n).map(|i| weights[i] * column(a, i) * y[i]).sum::<f64>();
        let (mut shared, mut output) = (Shared::new(&aim), Output::new(&aim, 0));
        // what another output has chosen
        shared.keep(20, &k[20 * n..21 * n]);
        for point in [4, 11, 0, 25, 17] {
            let before: Vec<Option<usize>> =
                std::iter::once(None).chain(output.points.iter().map(|&p| Some(p))).collect();
            let m = before.len();
            let h: Vec<f64> = (0..m * m).map(|p| entry(before[p / m], before[p % m])).collect();
            for (p, h) in h.iter().enumerate() {
                let (a, b) = (&output.factor[p / m], &output.factor[p % m]);
                let product: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
                assert!((product - h).abs() < 1e-10 * (1.0 + h.abs()), "LLᵀ = H: {product} {h}");
            }
            let mut line = Vec::new();
            columns(&gram, &[point], &mut line, n).unwrap();
            let candidate = shared.step(&gram, &[point], &line).best(&output, 0).unwrap();
            // u = H⁻¹B, γ = 1/(e − Bᵀu), and the drop ½γ(kᵀWy − Bᵀs)² with s = H⁻¹c
            let b: Vec<f64> = before.iter().map(|&a| entry(a, Some(point))).collect();
            let u = eliminate(h.clone(), b.clone());
            let s = eliminate(h, before.iter().map(|&a| wanted(a)).collect());
            let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
            let gamma = 1.0 / (entry(Some(point), Some(point)) - dot(&b, &u));
            let drop = 0.5 * gamma * (wanted(Some(point)) - dot(&b, &s)).powi(2);
            assert!((gamma * candidate.rho * candidate.rho - 1.0).abs() < 1e-8, "γ = 1/ρ²");
            assert!((drop - candidate.gain).abs() < 1e-8 * drop, "{drop} {}", candidate.gain);
            // the inverse grows by γ[u; −1][u; −1]ᵀ: it turns H with the new row into the identity
            let after: Vec<Option<usize>> = before.iter().copied().chain([Some(point)]).collect();
            let unit = |p: usize| (0..m).map(|i| f64::from(u8::from(i == p))).collect::<Vec<f64>>();
            let old: Vec<Vec<f64>> = (0..m)
                .map(|p| {
                    let h = (0..m * m).map(|p| entry(before[p / m], before[p % m])).collect();
                    eliminate(h, unit(p))
                })
                .collect();
            let tail = |i: usize| if i < m { u[i] } else { -1.0 };
            let inverse = |i: usize, j: usize| gamma * tail(i) * tail(j) + if i < m && j < m { old[i][j] } else { 0.0 };
            for i in 0..=m {
                for j in 0..=m {
                    let product: f64 = (0..=m).map(|q| inverse(i, q) * entry(after[q], after[j])).sum();
                    assert!((product - f64::from(u8::from(i == j))).abs() < 1e-7, "{i} {j}: {product}");
                }
            }
            let place = shared.keep(point, &line);
            output.take(point, place, candidate);
        }
    }
}

#[test]
fn every_output_is_a_search_of_its_own_among_the_same_candidates() {
    let (n, outputs) = (170, 3);
    let mut random = Seed(8).stream("greedy");
    let x: Vec<f64> = (0..n).map(|_| 2.0 * random.normal()).collect();
    // with so much on the diagonal no columns are nearly dependent, and rounding stays what it is
    let entry = |i: usize, j: usize| (-4.0 * (x[i] - x[j]).powi(2)).exp() + 0.3 * f64::from(u8::from(i == j));
    let k: Vec<f64> = (0..n * n).map(|p| entry(p / n, p % n)).collect();
    let gram = Dense::new(k, n, n).unwrap();
    let sign = |yes: bool| if yes { 1.0 } else { -1.0 };
    let y: Vec<f64> =
        x.iter().flat_map(|x| [sign(*x > 0.3), sign((3.0 * x).sin() > 0.0), sign(x.abs() < 1.0)]).collect();
    for (penalty, weighted) in
        [Quadratic::Norm, Quadratic::Coefficients].into_iter().flat_map(|p| [(p, false), (p, true)])
    {
        let weights: Vec<f64> = (0..n).map(|i| if weighted { 0.5 + (i % 3) as f64 } else { 1.0 }).collect();
        let aim = Aim { y: &y, outputs, weights: &weights, lambda: 0.5, penalty };
        let options = GreedyOptions { points: 140, tolerance: 3e-3, seed: Seed(2) };
        let mut lot = Lot { rest: (0..n).collect(), random: options.seed.stream("greedy") };
        let mut drawn: Vec<Vec<usize>> = Vec::new();
        let mut draw = |outputs: &[Output]| {
            let which = lot.draw(outputs);
            for output in outputs.iter().filter(|o| o.going) {
                let new = which.iter().filter(|&&i| !output.has[i]).count();
                assert!(new >= CANDIDATES.min(n - output.points.len()), "{new} of what it lacks");
            }
            assert!((1..which.len()).all(|p| !which[..p].contains(&which[p])));
            drawn.push(which.clone());
            which
        };
        let together = grow(&gram, &aim, &options, &mut draw, &Silent).unwrap();
        let lengths: Vec<usize> = together.chosen.iter().map(Vec::len).collect();
        assert!(lengths.iter().all(|m| *m > 5 && *m < 140) && lengths.iter().any(|m| *m != lengths[0]), "{lengths:?}");
        assert_eq!(drawn.len(), lengths.iter().copied().max().unwrap());
        for c in 0..outputs {
            let own: Vec<f64> = aim.column(c).collect();
            let mut steps = drawn.iter();
            let mut again = |_: &[Output]| steps.next().cloned().unwrap();
            let alone = grow(&gram, &Aim { y: &own, outputs: 1, ..aim }, &options, &mut again, &Silent).unwrap();
            assert_eq!(together.chosen[c], alone.chosen[0]);
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + b.abs());
            assert!(together.traces[c].iter().zip(&alone.traces[0]).all(|(a, b)| near(*a, *b)));
            assert!(together.traces[c].windows(2).all(|w| w[1] < w[0]));
            assert!(near(together.found.objectives[c], alone.found.objectives[0]));
            assert!(near(together.found.offsets[c], alone.found.offsets[0]));
            for i in 0..n {
                let of = |found: &Discriminants, outputs: usize, c: usize| {
                    found.points.iter().position(|&p| p == i).map_or(0.0, |p| found.alpha[p * outputs + c])
                };
                let (a, b) = (of(&together.found, outputs, c), of(&alone.found, 1, 0));
                assert!(near(a, b), "{i}: {a} {b}");
                assert_eq!(a != 0.0, together.chosen[c].contains(&i));
                assert!(near(together.found.scores[i * outputs + c], alone.found.scores[i]));
            }
        }
        let mut all = together.chosen.concat();
        all.sort_unstable();
        all.dedup();
        let mut points = together.found.points.clone();
        points.sort_unstable();
        assert_eq!(points, all);
        assert!(together.found.relative_residual < 1e-12);
    }
}
