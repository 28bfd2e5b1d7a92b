//! The evidence of solvers: gaps, drops, residuals of examples left out, and breakdowns.

use super::super::direct::LeftOut;
use super::super::eigen::rayleigh;
use super::super::greedy::{CANDIDATES, GreedyOptions, greedy};
use super::super::pair_descent::pair_descent;
use super::super::path::Path;
use super::super::subset::subset;
use super::*;
use crate::linalg::SolveError;
use crate::watch::{Monitor, Progress, Status, Stop};
use std::ops::ControlFlow;

#[test]
fn pairs_descend_with_an_exact_gap_at_every_step() {
    for (case, pairs) in
        [(Case::new(35, 15, 8), 1), (Case::new(40, 12, 9).weighted(), 1), (Case::new(40, 12, 9).weighted(), 3)]
    {
        let (n, lambda) = (case.n, 0.05);
        let aim = case.aim(lambda, Quadratic::Norm);
        let mut last = f64::INFINITY;
        for steps in [0, 1, 2, 3, 5, 8, 20, 60] {
            let options = PairOptions { max_iterations: steps, pairs, cache: 0, ..sharp() };
            let run = pair_descent(&case.gram(), &aim, &options, &Silent).unwrap();
            assert_eq!((run.status, run.iterations[0]), (Status::IterationLimit, steps));
            let mut alpha = vec![0.0; n];
            run.found.points.iter().zip(&run.found.alpha).for_each(|(&i, &a)| alpha[i] = a);
            assert!(alpha.iter().sum::<f64>().abs() < 1e-12, "Σα stays zero");
            let image: Vec<f64> = (0..n).map(|i| (0..n).map(|j| case.k[i * n + j] * alpha[j]).sum()).collect();
            let b = run.found.offsets[0];
            let recomputed: Vec<f64> = image.iter().map(|f| f + b).collect();
            near(&run.found.scores, &recomputed, 1e-12, "the state is Kα");
            let norm: f64 = alpha.iter().zip(&image).map(|(a, f)| a * f).sum();
            let losses: f64 = (0..n).map(|i| 0.5 * case.weights[i] * (case.y[i] - image[i] - b).powi(2)).sum();
            let primal = losses + 0.5 * lambda * norm;
            let dual: f64 = (0..n)
                .map(|i| lambda * alpha[i] * case.y[i] - 0.5 * (lambda * alpha[i]).powi(2) / case.weights[i])
                .sum::<f64>()
                - 0.5 * lambda * norm;
            let gap = run.found.gaps.as_ref().unwrap()[0];
            assert!((primal - dual - gap).abs() < 1e-11 * primal, "{steps}: {gap} {}", primal - dual);
            // and it is ½ Σ w (g + b)² with the dual's gradient g
            let left = |i: usize| image[i] + lambda * alpha[i] / case.weights[i] - case.y[i] + b;
            let squares: f64 = (0..n).map(|i| 0.5 * case.weights[i] * left(i).powi(2)).sum();
            assert!((squares - gap).abs() < 1e-11 * primal, "{steps}: {gap} {squares}");
            near(&run.found.objectives, &[primal], 1e-12, "primal");
            let figures = -(gap / (primal + 1.0)).log10();
            assert!((run.figures - figures.max(0.0)).abs() < 1e-6);
            let size: f64 = case.weights.iter().sum::<f64>();
            assert!((run.infeasibility - (2.0 * gap / size).sqrt()).abs() < 1e-9);
            assert!(-dual < last, "{steps}: the dual falls");
            last = -dual;
            let printed =
                pair_descent(&case.gram(), &aim, &PairOptions { measure: Measure::Printed, ..options }, &Silent)
                    .unwrap();
            // with ξ := β both terms are the quadratic form
            let quadratic: f64 =
                (0..n).map(|i| (lambda * alpha[i]).powi(2) / case.weights[i]).sum::<f64>() + lambda * norm;
            let apart = (0.5 * quadratic - dual).abs();
            let told = (-(apart / (0.5 * quadratic + 1.0)).log10()).max(0.0);
            assert!(
                printed.figures.is_infinite() || (printed.figures - told).abs() < 1e-5 || told > 12.0,
                "{told} {}",
                printed.figures
            );
        }
    }
}

/// Stops at once.
struct Never;

impl Monitor for Never {
    fn step(&self, _: &Progress) -> ControlFlow<Stop> {
        ControlFlow::Break(Stop::TimeLimit)
    }
}

#[test]
fn pairs_keep_few_rows_share_them_and_stop_when_told() {
    let case = Case::new(60, 25, 10);
    let y: Vec<f64> = (0..60).flat_map(|i| [case.y[i], if i % 3 == 0 { 1.0 } else { -1.0 }]).collect();
    let aim = Aim { y: &y, outputs: 2, ..case.aim(0.1, Quadratic::Norm) };
    let loose = PairOptions { figures: 6.0, infeasibility: 1e-6, ..sharp() };
    let all = pair_descent(&case.gram(), &aim, &loose, &Silent).unwrap();
    let few = pair_descent(&case.gram(), &aim, &PairOptions { cache: 0, ..loose }, &Silent).unwrap();
    assert_eq!(all.found.alpha, few.found.alpha, "what is kept changes nothing");
    assert!(all.rows <= 60 && few.rows > all.rows, "{} {}", all.rows, few.rows);
    assert!(all.infeasibility <= 1e-6 && all.figures >= 6.0);
    let single = pair_descent(&case.gram(), &aim, &PairOptions { double: false, ..loose }, &Silent).unwrap();
    near(&single.found.scores, &all.found.scores, 1e-5, "these values are exact in f32");
    let stopped = pair_descent(&case.gram(), &aim, &loose, &Never).unwrap();
    assert_eq!((stopped.status, stopped.rows), (Status::TimeLimit, 0));
    // more than rounding can give is not claimed
    let endless = PairOptions { figures: f64::INFINITY, infeasibility: 0.0, ..sharp() };
    assert_eq!(pair_descent(&case.gram(), &aim, &endless, &Silent).unwrap().status, Status::IterationLimit);
}

#[test]
fn the_greedy_search_takes_the_largest_drop_and_never_rises() {
    assert!(0.95_f64.powi(CANDIDATES as i32) <= 0.05 && 0.95_f64.powi(CANDIDATES as i32 - 1) > 0.05);
    for (case, penalty) in
        [Case::new(40, 17, 12), Case::new(40, 17, 13).weighted()].iter().flat_map(|c| BOTH.map(|p| (c, p)))
    {
        let (gram, n) = (case.gram(), case.n);
        let aim = case.aim(0.05, penalty);
        let options = GreedyOptions { points: 12, tolerance: 0.0, seed: Seed(3) };
        let found = greedy(&gram, &aim, &options, &Silent).unwrap();
        assert_eq!((found.found.points.len(), found.traces[0].len()), (12, 13));
        let trace = &found.traces[0];
        assert!(trace.windows(2).all(|w| w[1] < w[0]) && found.found.relative_residual < 1e-12);
        // with fewer examples than candidates every one is tried: none of them would have been better, by solving anew
        for m in 1..=12 {
            let value = |points: &[usize]| subset(&gram, points, &aim, &Silent).unwrap().0.objectives[0];
            let chosen = &found.found.points[..m];
            assert!((value(chosen) - trace[m]).abs() < 1e-9 * trace[0], "{penalty:?} {m}");
            for i in (0..n).filter(|i| !chosen.contains(i)) {
                let mut other = chosen[..m - 1].to_vec();
                other.push(i);
                assert!(value(&other) >= trace[m] - 1e-9, "{penalty:?} {m} {i}");
            }
        }
        let whole = greedy(&gram, &aim, &GreedyOptions { points: 1000, ..options }, &Silent).unwrap();
        near(&whole.found.scores, &case.solve(0.05, penalty).scores, 1e-8, "all examples");
    }
    // a mean improvement over the last five below the tolerance ends it, and not before
    let case = Case::new(150, 70, 14);
    let aim = case.aim(0.05, Quadratic::Norm);
    let stop =
        greedy(&case.gram(), &aim, &GreedyOptions { points: 150, tolerance: 0.02, seed: Seed(3) }, &Silent).unwrap();
    let m = stop.found.points.len();
    let mean = |m: usize| (m - 5..m).map(|p| 1.0 - stop.traces[0][p + 1] / stop.traces[0][p]).sum::<f64>() / 5.0;
    assert!(m < 100 && mean(m) < 0.02 && (6..m).all(|m| mean(m) >= 0.02), "{m}");
    let again =
        greedy(&case.gram(), &aim, &GreedyOptions { points: 150, tolerance: 0.02, seed: Seed(3) }, &Silent).unwrap();
    assert_eq!(stop.found.alpha, again.found.alpha);
}

#[test]
fn every_output_of_a_greedy_search_reaches_its_solution_with_the_same_bits_for_any_number_of_threads() {
    let case = Case::new(90, 40, 18).weighted();
    let y: Vec<f64> = (0..90).flat_map(|i| [case.y[i], if i % 7 == 0 { 1.0 } else { -1.0 }]).collect();
    for penalty in BOTH {
        let aim = Aim { y: &y, outputs: 2, ..case.aim(0.05, penalty) };
        let with = |threads: usize, points: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let options = GreedyOptions { points, tolerance: 0.0, seed: Seed(4) };
            pool.install(|| greedy(&case.gram(), &aim, &options, &Silent)).unwrap()
        };
        let whole = with(1, 90);
        assert!(whole.chosen.iter().all(|c| c.len() == 90) && whole.found.points.len() == 90);
        let direct = bordered(&case.gram(), &aim, &Silent).unwrap().found;
        near(&whole.found.scores, &direct.scores, 1e-7, "all examples");
        near(&whole.found.objectives, &direct.objectives, 1e-8, "all examples");
        let (one, three) = (with(1, 20), with(3, 20));
        assert_eq!((&one.found.points, &one.chosen), (&three.found.points, &three.chosen));
        assert_eq!((&one.found.alpha, &one.found.scores), (&three.found.alpha, &three.found.scores));
        assert!(one.found.points.len() > 20, "outputs choose for themselves");
    }
}

#[test]
fn leave_one_out_residuals_are_those_of_learning_again() {
    let alike = Case { weights: vec![2.5; 23], ..Case::new(23, 11, 19) };
    let cases = [Case::new(24, 10, 15), Case::new(25, 10, 16).weighted(), alike];
    for (case, penalty) in cases.iter().flat_map(|c| BOTH.map(|p| (c, p))) {
        let n = case.n;
        for lambda in [1e-4, 0.1, 5.0] {
            let aim = case.aim(lambda, penalty);
            let whole = bordered(&case.gram(), &aim, &Silent).unwrap();
            let (example, error) = (whole.left_out(LeftOut::Example), whole.left_out(LeftOut::Error));
            let path = Path::new(case.k.clone(), &aim).unwrap();
            let on_path = path.at(lambda).unwrap().left_out;
            let all: Vec<usize> = (0..n).collect();
            let (_, by_leverage) = subset(&case.gram(), &all, &aim, &Silent).unwrap();
            for p in 0..n {
                let rest: Vec<usize> = (0..n).filter(|&i| i != p).collect();
                let part = case.part(&rest);
                let again = part.solve(lambda, penalty);
                let score =
                    again.offsets[0] + rest.iter().zip(&again.alpha).map(|(&i, a)| case.k[p * n + i] * a).sum::<f64>();
                near(&[example[p]], &[case.y[p] - score], 1e-7, "learning again");
                // fixed functions: the others' errors only, by elimination of (G + λW⁻¹)γ + b = y without row p
                let g = if penalty == Quadratic::Norm { case.k.clone() } else { square(&case.k, n) };
                let m = n;
                let mut a = vec![0.0; m * m];
                for (r, &i) in rest.iter().enumerate() {
                    for (s, &j) in rest.iter().enumerate() {
                        a[r * m + s] = g[i * n + j];
                    }
                    a[r * m + r] += lambda / case.weights[i];
                    a[r * m + n - 1] = 1.0;
                    a[(n - 1) * m + r] = 1.0;
                }
                let mut right: Vec<f64> = rest.iter().map(|&i| case.y[i]).collect();
                right.push(0.0);
                let solved = eliminate(a, right);
                let score = solved[n - 1] + rest.iter().zip(&solved).map(|(&i, c)| g[p * n + i] * c).sum::<f64>();
                near(&[error[p]], &[case.y[p] - score], 1e-7, "fixed functions");
                near(&[on_path[p]], &[example[p]], 1e-7, "path");
                if penalty == Quadratic::Coefficients && lambda > 1e-3 {
                    near(&[by_leverage[p]], &[error[p]], 1e-7, "leverage");
                }
            }
            if penalty == Quadratic::Coefficients {
                let apart = example.iter().zip(&error).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(apart > 1e-4, "the two differ");
            }
        }
    }
}

#[test]
fn leaving_out_an_error_is_a_change_of_rank_two() {
    // A − UVᵀ with U = [e_p, a_p], V = [a_p, e_p] empties row and column p, the offset's 1 among them
    for (case, penalty) in
        [Case::new(14, 6, 24), Case::new(13, 6, 25).weighted()].iter().flat_map(|c| BOTH.map(|p| (c, p)))
    {
        let (n, m, lambda) = (case.n, case.n + 1, 0.2);
        let g = if penalty == Quadratic::Norm { case.k.clone() } else { square(&case.k, n) };
        let mut a = vec![0.0; m * m];
        for i in 0..n {
            a[i * m..i * m + n].copy_from_slice(&g[i * n..(i + 1) * n]);
            a[i * m + i] += lambda / case.weights[i];
            (a[i * m + n], a[n * m + i]) = (1.0, 1.0);
        }
        let unit = |p: usize| (0..m).map(|i| f64::from(u8::from(i == p))).collect::<Vec<f64>>();
        let inverse: Vec<Vec<f64>> = (0..m).map(|p| eliminate(a.clone(), unit(p))).collect();
        let apply = |x: &[f64]| (0..m).map(|i| (0..m).map(|j| inverse[i][j] * x[j]).sum()).collect::<Vec<f64>>();
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        let told = bordered(&case.gram(), &case.aim(lambda, penalty), &Silent).unwrap().left_out(LeftOut::Error);
        for p in 0..n {
            let mut row = a[p * m..(p + 1) * m].to_vec();
            row[p] = 0.0;
            let mut y = case.y.clone();
            y[p] = 0.0;
            y.push(0.0);
            let (u, v) = ([unit(p), row.clone()], [row.clone(), unit(p)]);
            // (A − UVᵀ)⁻¹y = A⁻¹y + A⁻¹U (I − VᵀA⁻¹U)⁻¹ VᵀA⁻¹y
            let (solved, columns) = (apply(&y), [apply(&u[0]), apply(&u[1])]);
            let small: Vec<f64> =
                (0..4).map(|q| f64::from(u8::from(q / 2 == q % 2)) - dot(&v[q / 2], &columns[q % 2])).collect();
            let middle = eliminate(small, vec![dot(&v[0], &solved), dot(&v[1], &solved)]);
            let rest: Vec<f64> =
                (0..m).map(|i| solved[i] + columns[0][i] * middle[0] + columns[1][i] * middle[1]).collect();
            assert!(rest[p].abs() < 1e-9, "what is left out has no coefficient: {}", rest[p]);
            near(&[told[p]], &[case.y[p] - dot(&row, &rest)], 1e-8, "rank two");
        }
    }
}

#[test]
fn singular_matrices_are_helped_and_hopeless_ones_told() {
    // all examples alike: K = 11ᵀ, and λ below rounding
    let n = 40;
    let y: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let ones = Dense::new(vec![1.0; n * n], n, n).unwrap();
    let weights = vec![1.0; n];
    for penalty in BOTH {
        let aim = Aim { y: &y, outputs: 1, weights: &weights, lambda: 1e-20, penalty };
        let found = bordered(&ones, &aim, &Silent).unwrap().found;
        assert!(found.jitter > 0.0 && found.scores.iter().all(|f| f.is_finite()), "{penalty:?}");
        let mut k: Vec<f64> = (0..n * n).map(|p| f64::from(u8::from(p / n == p % n))).collect();
        k[0] = -5.0;
        let aim = Aim { lambda: 0.1, ..aim };
        let indefinite = Dense::new(k, n, n).unwrap();
        if penalty == Quadratic::Norm {
            assert!(matches!(bordered(&indefinite, &aim, &Silent), Err(SolveError::Pivot { index: 1, .. })));
            assert!(matches!(pair_descent(&indefinite, &aim, &sharp(), &Silent), Err(SolveError::Pivot { .. })));
        } else {
            assert!(bordered(&indefinite, &aim, &Silent).is_ok(), "a square is never indefinite");
        }
        let broken = Dense::new((0..n * n).map(|p| if p == n + 2 { f64::NAN } else { 1.0 }).collect(), n, n).unwrap();
        let wanted = SolveError::NotFinite { row: 2, column: 3 };
        assert_eq!(bordered(&broken, &aim, &Silent).unwrap_err(), wanted);
        assert_eq!(rayleigh(&broken, &aim, &Silent).unwrap_err(), wanted);
        assert_eq!(pair_descent(&broken, &aim, &PairOptions { pairs: 20, ..sharp() }, &Silent).unwrap_err(), wanted);
        assert!(matches!(subset(&broken, &[0, 1, 2], &aim, &Silent), Err(SolveError::NotFinite { .. })));
        let options = GreedyOptions { points: 5, tolerance: 0.0, seed: Seed(0) };
        assert!(matches!(greedy(&broken, &aim, &options, &Silent), Err(SolveError::NotFinite { .. })));
    }
}
