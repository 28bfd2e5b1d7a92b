//! Forms that are one, and what does not change them.

use super::super::direct::LeftOut;
use super::super::eigen::rayleigh;
use super::super::greedy::{GreedyOptions, greedy};
use super::super::pair_descent::pair_descent;
use super::super::path::Path;
use super::super::quotient;
use super::super::subset::subset;
use super::*;
use crate::linalg::symmetric_eigen;
use crate::solvers::direct::squares;
use crate::solvers::smo::{Equality, Problem, SmoOptions, Workspace, smo};
use crate::watch::Status;
use std::sync::Arc;

#[test]
fn all_forms_are_one_discriminant() {
    for (case, penalty) in [Case::new(35, 14, 1), Case::new(34, 20, 2).weighted()].into_iter().flat_map(|c| {
        BOTH.map(|p| (Case { n: c.n, x: c.x.clone(), k: c.k.clone(), y: c.y.clone(), weights: c.weights.clone() }, p))
    }) {
        for lambda in [1e-3, 0.1, 10.0] {
            let (gram, aim, n) = (case.gram(), case.aim(lambda, penalty), case.n);
            let direct = bordered(&gram, &aim, &Silent).unwrap();
            let found = &direct.found;
            let what = format!("{penalty:?} {lambda}");
            let (alpha, b) = normal_equations(&case, lambda, penalty);
            let scores: Vec<f64> =
                (0..n).map(|i| b + (0..n).map(|j| case.k[i * n + j] * alpha[j]).sum::<f64>()).collect();
            near(&found.scores, &scores, 1e-8, &what);
            near(&found.offsets, &[b], 1e-8, &what);
            assert!(found.relative_residual < 1e-11 && found.jitter == 0.0, "{what}");
            let mut forms = vec![
                ("eigen", rayleigh(&gram, &aim, &Silent).unwrap().found),
                ("subset", subset(&gram, &(0..n).collect::<Vec<_>>(), &aim, &Silent).unwrap().0),
                (
                    "greedy",
                    greedy(&gram, &aim, &GreedyOptions { points: n, tolerance: 0.0, seed: Seed(1) }, &Silent)
                        .unwrap()
                        .found,
                ),
            ];
            let path = Path::new(case.k.clone(), &aim).unwrap();
            forms.push(("path", path.conclude(&path.at(lambda).unwrap(), &aim)));
            if penalty == Quadratic::Norm {
                let pairs = pair_descent(&gram, &aim, &sharp(), &Silent).unwrap();
                assert_eq!(pairs.status, Status::Converged);
                forms.push(("pairs", pairs.found));
                let blocks = pair_descent(&gram, &aim, &PairOptions { pairs: 4, ..sharp() }, &Silent).unwrap();
                forms.push(("blocks", blocks.found));
            }
            for (form, other) in forms {
                near(&other.scores, &found.scores, 1e-7, &format!("{what} {form}"));
                near(&other.offsets, &found.offsets, 1e-7, &format!("{what} {form}"));
                near(&other.objectives, &found.objectives, 1e-8, &format!("{what} {form}"));
            }
            // the dual QP in γ by another solver: min ½γᵀ(G + λW⁻¹)γ − yᵀγ, 1ᵀγ = 0
            let g = if penalty == Quadratic::Norm { case.k.clone() } else { square(&case.k, n) };
            let own: Vec<f64> = (0..n).map(|i| g[i * n + i]).collect();
            let ridge: Vec<f64> = case.weights.iter().map(|w| lambda / w).collect();
            let (low, high) = (vec![f64::NEG_INFINITY; n], vec![f64::INFINITY; n]);
            let columns = vec![0..n];
            let qp = Problem {
                gram: Arc::new(Dense::new(g, n, n).unwrap()),
                columns: &columns,
                diagonal: &own,
                linear: &case.y,
                lower: &low,
                upper: &high,
                epsilon: 0.0,
                ridge: Some(&ridge),
                equality: Equality::Sum,
                start: None,
                folds: None,
            };
            let options =
                SmoOptions { tolerance: 1e-9, max_iterations: 0, cache: 1 << 20, threads: 1, most_rows: false };
            let solved = smo(&qp, &options, &mut Workspace::default(), &Silent).unwrap();
            near(&solved.beta, &direct.gamma, 1e-5, &format!("{what} QP"));
            near(&solved.offsets[..1], &found.offsets, 1e-6, &format!("{what} QP"));
            near(&[-solved.objective * lambda], &found.objectives, 1e-6, &format!("{what} QP"));
        }
    }
}

#[test]
fn the_programme_is_the_rayleigh_quotient_with_mu_equal_lambda() {
    for case in [Case::new(30, 11, 3), Case::new(30, 15, 4).weighted()] {
        for (penalty, lambda) in BOTH.into_iter().flat_map(|p| [0.01, 1.0].map(|l| (p, l))) {
            let (n, (plus, minus)) = (case.n, case.masses());
            let (s, delta) = case.scatter(lambda, penalty);
            let g = eliminate(s.clone(), delta.clone());
            let j: f64 = delta.iter().zip(&g).map(|(d, g)| d * g).sum();
            let scale = 2.0 * plus * minus / (plus + minus + plus * minus * j);
            let found = case.solve(lambda, penalty);
            let scaled: Vec<f64> = g.iter().map(|g| scale * g).collect();
            near(&found.alpha, &scaled, 1e-7, "α = scale · S_μ⁻¹δ");
            let eigen = rayleigh(&case.gram(), &case.aim(lambda, penalty), &Silent).unwrap();
            near(&eigen.quotients, &[j], 1e-9, "J");
            near(&eigen.found.alpha, &scaled, 1e-7, "eigen form");
            // primal = dual = ½yᵀβ = 2m₊m₋/(m + m₊m₋J)
            let value = 2.0 * plus * minus / (plus + minus + plus * minus * j);
            near(&found.objectives, &[value], 1e-9, "value");
            near(&[quotient(found.objectives[0], plus, minus)], &[j], 1e-7, "J from the value");
            let beta: Vec<f64> = (0..n).map(|i| case.weights[i] * (case.y[i] - found.scores[i])).collect();
            near(&[0.5 * case.y.iter().zip(&beta).map(|(y, b)| y * b).sum::<f64>()], &[value], 1e-9, "½yᵀβ");
            // Σβ = 0, and α is β/λ or Kβ/λ
            assert!(beta.iter().sum::<f64>().abs() < 1e-10);
            let image: Vec<f64> =
                (0..n).map(|i| (0..n).map(|j| case.k[i * n + j] * beta[j]).sum::<f64>() / lambda).collect();
            let told = if penalty == Quadratic::Norm { beta.iter().map(|b| b / lambda).collect() } else { image };
            near(&found.alpha, &told, 1e-7, "α from β");
            // the dual's gradient Gβ/λ + W⁻¹β − y is −b everywhere
            let slopes: Vec<f64> = (0..n)
                .map(|i| {
                    let image: f64 = (0..n).map(|j| case.k[i * n + j] * found.alpha[j]).sum();
                    image + beta[i] / case.weights[i] - case.y[i]
                })
                .collect();
            near(&slopes, &vec![-found.offsets[0]; n], 1e-9, "gradient of the dual");
            // the projected class means are 2m₊m₋J/(m + m₊m₋J) < 2 apart
            let mean = |sign: f64, mass: f64| {
                (0..n).filter(|&i| case.y[i] == sign).map(|i| case.weights[i] * found.scores[i]).sum::<f64>() / mass
            };
            let apart = mean(1.0, plus) - mean(-1.0, minus);
            near(&[apart], &[2.0 * plus * minus * j / (plus + minus + plus * minus * j)], 1e-9, "means");
            assert!(apart < 2.0 && apart > 0.0);
            // the quotient's other eigenvalues are zero: S_μ^{-1/2} δδᵀ S_μ^{-1/2} has rank one and trace J
            let root = symmetric_eigen(s, n).unwrap();
            let half: Vec<f64> = (0..n)
                .map(|c| (0..n).map(|i| root.vectors[i * n + c] * delta[i]).sum::<f64>() / root.values[c].sqrt())
                .collect();
            let pencil = symmetric_eigen((0..n * n).map(|p| half[p / n] * half[p % n]).collect(), n).unwrap();
            near(&pencil.values[..1], &[j], 1e-7, "leading eigenvalue");
            assert!(pencil.values[1..].iter().all(|v| v.abs() < 1e-9 * (1.0 + j)));
        }
    }
}

#[test]
fn total_scatter_is_within_plus_between() {
    for case in [Case::new(24, 9, 5), Case::new(24, 13, 6).weighted()] {
        let (n, (plus, minus)) = (case.n, case.masses());
        let (within, delta) = case.scatter(0.0, Quadratic::Coefficients);
        let mass = plus + minus;
        let mean: Vec<f64> =
            (0..n).map(|j| (0..n).map(|i| case.weights[i] * case.k[i * n + j]).sum::<f64>() / mass).collect();
        for a in 0..n {
            for b in 0..n {
                let total: f64 = (0..n)
                    .map(|i| case.weights[i] * (case.k[i * n + a] - mean[a]) * (case.k[i * n + b] - mean[b]))
                    .sum();
                let sum = within[a * n + b] + plus * minus / mass * delta[a] * delta[b];
                assert!((total - sum).abs() < 1e-11 * n as f64, "{a} {b}: {total} {sum}");
            }
        }
    }
}

#[test]
fn a_linear_kernel_and_little_penalty_give_fishers_direction() {
    let case = Case::new(60, 22, 7).linear();
    let (plus, minus) = case.masses();
    let mean = |sign: f64, mass: f64, c: usize| {
        (0..case.n).filter(|&i| case.y[i] == sign).map(|i| case.x[2 * i + c]).sum::<f64>() / mass
    };
    let (up, down) = ([0, 1].map(|c| mean(1.0, plus, c)), [0, 1].map(|c| mean(-1.0, minus, c)));
    let mut s = vec![0.0; 4];
    for i in 0..case.n {
        let own = if case.y[i] > 0.0 { up } else { down };
        (0..4).for_each(|p| s[p] += (case.x[2 * i + p / 2] - own[p / 2]) * (case.x[2 * i + p % 2] - own[p % 2]));
    }
    let delta = vec![up[0] - down[0], up[1] - down[1]];
    let g = eliminate(s, delta.clone());
    let j = delta[0] * g[0] + delta[1] * g[1];
    let scale = 2.0 * plus * minus / (plus + minus + plus * minus * j);
    for penalty in BOTH {
        let found = case.solve(1e-6, penalty);
        let w: Vec<f64> = (0..2).map(|c| (0..case.n).map(|i| case.x[2 * i + c] * found.alpha[i]).sum()).collect();
        near(&w, &[scale * g[0], scale * g[1]], 1e-5, "w = s · S_W⁻¹(m₊ − m₋)");
        let rest: f64 = case.y.iter().zip(&found.scores).map(|(y, f)| (y - f).powi(2)).sum();
        near(&[rest], &[2.0 * scale], 1e-6, "residual sum of squares = 4m₊m₋/(m + m₊m₋J)");
    }
}

#[test]
fn limits_of_the_penalty() {
    let case = Case::new(30, 12, 11);
    let (n, (plus, minus)) = (case.n, case.masses());
    let direction = |found: &Discriminants| {
        let size = squares(&found.alpha).sqrt();
        found.alpha.iter().map(|a| a / size).collect::<Vec<f64>>()
    };
    let unit = |v: Vec<f64>| {
        let size = squares(&v).sqrt();
        v.iter().map(|v| v / size).collect::<Vec<f64>>()
    };
    // μ → ∞: the difference of the class means, or δ
    let means = unit(case.y.iter().map(|&y| if y > 0.0 { 1.0 / plus } else { -1.0 / minus }).collect());
    near(&direction(&case.solve(1e9, Quadratic::Norm)), &means, 1e-7, "class means");
    let (_, delta) = case.scatter(0.0, Quadratic::Norm);
    near(&direction(&case.solve(1e12, Quadratic::Coefficients)), &unit(delta), 1e-7, "δ");
    // μ → 0 with a kernel of full rank: outputs collapse to two values, J grows without bound
    for penalty in BOTH {
        let (wide, narrow) = (case.solve(1e-2, penalty), case.solve(1e-7, penalty));
        assert!((0..n).all(|i| (narrow.scores[i] - case.y[i]).abs() < 1e-4), "{penalty:?}");
        let j = |found: &Discriminants| quotient(found.objectives[0], plus, minus);
        assert!(j(&narrow) > 1e4 * j(&wide) && j(&wide) > 0.0, "{penalty:?} {} {}", j(&narrow), j(&wide));
    }
}

#[test]
fn invariances() {
    for (penalty, lambda) in BOTH.into_iter().flat_map(|p| [0.02, 1.0].map(|l| (p, l))) {
        let case = Case::new(30, 12, 17);
        let (n, found) = (case.n, case.solve(lambda, penalty));
        let order = Seed(2).stream("order").permutation(n);
        let turned = case.part(&order).solve(lambda, penalty);
        near(&turned.scores, &order.iter().map(|&i| found.scores[i]).collect::<Vec<_>>(), 1e-10, "order");
        let swapped = Case { y: case.y.iter().map(|y| -y).collect(), ..case.part(&(0..n).collect::<Vec<_>>()) };
        near(
            &swapped.solve(lambda, penalty).scores,
            &found.scores.iter().map(|f| -f).collect::<Vec<_>>(),
            1e-10,
            "names",
        );
        let shifted = Case { y: case.y.iter().map(|y| y + 3.0).collect(), ..case.part(&(0..n).collect::<Vec<_>>()) };
        let moved = shifted.solve(lambda, penalty);
        near(&moved.alpha, &found.alpha, 1e-8, "a constant moves b only");
        near(&moved.offsets, &[found.offsets[0] + 3.0], 1e-10, "a constant moves b only");
        let twice: Vec<usize> = (0..n).chain(0..n).collect();
        let factor = if penalty == Quadratic::Norm { 2.0 } else { 4.0 };
        let doubled = case.part(&twice).solve(factor * lambda, penalty);
        near(&doubled.scores[..n], &found.scores, 1e-8, "the sample twice");
        let s: f64 = 7.0;
        let scaled = Case { k: case.k.iter().map(|k| s * k).collect(), ..case.part(&(0..n).collect::<Vec<_>>()) };
        let power = if penalty == Quadratic::Norm { s } else { s * s };
        near(&scaled.solve(power * lambda, penalty).scores, &found.scores, 1e-8, "the kernel times a number");
        // weights and λ times a number
        let heavy = Case { weights: vec![3.0; n], ..case.part(&(0..n).collect::<Vec<_>>()) };
        near(&heavy.solve(3.0 * lambda, penalty).scores, &found.scores, 1e-9, "weights and λ");
        // an even number of copies is a weight, for the norm
        if penalty == Quadratic::Norm {
            let heavy = Case { weights: vec![2.0; n], ..case.part(&(0..n).collect::<Vec<_>>()) };
            let copies = case.part(&twice).solve(lambda, penalty);
            near(&heavy.solve(lambda, penalty).scores, &copies.scores[..n], 1e-8, "copies are weights");
        }
    }
}

#[test]
fn several_right_hand_sides_are_each_alone() {
    let case = Case::new(45, 20, 18).weighted();
    let y: Vec<f64> = (0..45).flat_map(|i| [case.y[i], if i % 3 == 1 { 1.0 } else { -1.0 }]).collect();
    for penalty in BOTH {
        let aim = Aim { y: &y, outputs: 2, ..case.aim(0.1, penalty) };
        let both = bordered(&case.gram(), &aim, &Silent).unwrap();
        let eigen = rayleigh(&case.gram(), &aim, &Silent).unwrap();
        for c in 0..2 {
            let alone = Case { y: aim.column(c).collect(), ..case.part(&(0..45).collect::<Vec<_>>()) };
            let found = bordered(&alone.gram(), &alone.aim(0.1, penalty), &Silent).unwrap();
            let pick = |x: &[f64]| x.iter().skip(c).step_by(2).copied().collect::<Vec<_>>();
            near(&pick(&both.found.scores), &found.found.scores, 1e-11, "scores");
            near(&pick(&eigen.found.scores), &found.found.scores, 1e-8, "eigen");
            near(&pick(&both.left_out(LeftOut::Example)), &found.left_out(LeftOut::Example), 1e-9, "left out");
            near(&[both.found.objectives[c]], &found.found.objectives, 1e-11, "objective");
        }
    }
}

#[test]
fn least_squares_support_vectors_and_ridge_regression_with_an_offset_are_the_same_function() {
    for lambda in [0.02, 0.7] {
        let case = Case::new(28, 11, 23);
        let (n, m, found) = (case.n, case.n + 1, case.solve(lambda, Quadratic::Norm));
        // [[Ω + I/γ, y], [yᵀ, 0]] [a; b] = [1; 0] with Ω_ij = y_i y_j K_ij and γ = 1/λ; f = Σ a_i y_i κ(x_i, ·) + b
        let mut a = vec![0.0; m * m];
        for i in 0..n {
            for j in 0..n {
                a[i * m + j] = case.y[i] * case.y[j] * case.k[i * n + j];
            }
            a[i * m + i] += lambda;
            (a[i * m + n], a[n * m + i]) = (case.y[i], case.y[i]);
        }
        let right = (0..m).map(|i| if i < n { 1.0 } else { 0.0 }).collect();
        let suykens = eliminate(a, right);
        let signed: Vec<f64> = (0..n).map(|i| suykens[i] * case.y[i]).collect();
        near(&found.alpha, &signed, 1e-8, "least squares support vectors");
        near(&found.offsets, &suykens[n..], 1e-8, "their offset");
        // real targets: (HKH + λ)γ = Hy with H = I − 11ᵀ/n is ridge regression on what is left of the means
        let y: Vec<f64> = (0..n).map(|i| (1.7 * case.x[2 * i]).sin() + 0.2 * i as f64).collect();
        let real = Case { y: y.clone(), ..case.part(&(0..n).collect::<Vec<_>>()) };
        let found = real.solve(lambda, Quadratic::Norm);
        let mean = |f: &dyn Fn(usize) -> f64| (0..n).map(f).sum::<f64>() / n as f64;
        let of_rows: Vec<f64> = (0..n).map(|i| mean(&|j| case.k[i * n + j])).collect();
        let of_all = mean(&|i| of_rows[i]);
        let own = |p: usize| if p / n == p % n { lambda } else { 0.0 };
        let centred = (0..n * n).map(|p| case.k[p] - of_rows[p / n] - of_rows[p % n] + of_all + own(p)).collect();
        let middle = mean(&|i| y[i]);
        let gamma = eliminate(centred, y.iter().map(|y| y - middle).collect());
        near(&found.alpha, &gamma, 1e-8, "ridge regression");
        let image = |i: usize| (0..n).map(|j| case.k[i * n + j] * gamma[j]).sum::<f64>();
        near(&found.offsets, &[mean(&|i| y[i] - image(i))], 1e-8, "its offset");
    }
}
