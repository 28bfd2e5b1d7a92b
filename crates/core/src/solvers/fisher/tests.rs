//! The forms of the discriminant against each other, against elimination by hand, and against what theory says of them.

use super::direct::{LeftOut, bordered};
use super::eigen::rayleigh;
use super::greedy::{CANDIDATES, GreedyOptions, greedy};
use super::pair_descent::{Measure, PairOptions, pair_descent};
use super::path::Path;
use super::subset::subset;
use super::*;
use crate::gram::Dense;
use crate::linalg::symmetric_eigen;
use crate::seed::Seed;
use crate::solvers::smo::{Equality, Problem, SmoOptions, Workspace, smo};
use crate::solvers::{Silent, Status, Stop};
use std::sync::Arc;

const BOTH: [Quadratic; 2] = [Quadratic::Norm, Quadratic::Coefficients];

/// Two clouds in the plane, their Gaussian kernel on a grid of 2⁻⁸ (so that f32 holds it and its square), and ±1.
struct Case {
    n: usize,
    x: Vec<f64>,
    k: Vec<f64>,
    y: Vec<f64>,
    weights: Vec<f64>,
}

impl Case {
    fn new(n: usize, plus: usize, seed: u64) -> Self {
        let mut random = Seed(seed).stream("fisher");
        let y: Vec<f64> = (0..n).map(|i| if i < plus { 1.0 } else { -1.0 }).collect();
        let x: Vec<f64> = y.iter().flat_map(|y| [0.9 * y + random.normal(), 0.3 * y + random.normal()]).collect();
        let kernel = |i: usize, j: usize| {
            let apart = (0..2).map(|c| (x[2 * i + c] - x[2 * j + c]).powi(2)).sum::<f64>();
            ((-0.7 * apart).exp() * 256.0).round() / 256.0
        };
        let k = (0..n * n).map(|p| kernel(p / n, p % n) + f64::from(u8::from(p / n == p % n)) * 0.5).collect();
        Self { n, x, k, y, weights: vec![1.0; n] }
    }

    fn linear(mut self) -> Self {
        let (n, x) = (self.n, &self.x);
        self.k = (0..n * n).map(|p| (0..2).map(|c| x[2 * (p / n) + c] * x[2 * (p % n) + c]).sum()).collect();
        self
    }

    fn weighted(mut self) -> Self {
        self.weights = (0..self.n).map(|i| 0.5 + (i % 4) as f64).collect();
        self
    }

    fn gram(&self) -> Dense<f64> {
        Dense::new(self.k.clone(), self.n, self.n).unwrap()
    }

    fn aim(&self, lambda: f64, penalty: Quadratic) -> Aim<'_> {
        Aim { y: &self.y, outputs: 1, weights: &self.weights, lambda, penalty }
    }

    fn solve(&self, lambda: f64, penalty: Quadratic) -> Discriminants {
        bordered(&self.gram(), &self.aim(lambda, penalty), &Silent).unwrap().found
    }

    /// The examples of a list, in its order.
    fn part(&self, keep: &[usize]) -> Self {
        Self {
            n: keep.len(),
            x: keep.iter().flat_map(|&i| [self.x[2 * i], self.x[2 * i + 1]]).collect(),
            k: keep.iter().flat_map(|&i| keep.iter().map(move |&j| self.k[i * self.n + j])).collect(),
            y: keep.iter().map(|&i| self.y[i]).collect(),
            weights: keep.iter().map(|&i| self.weights[i]).collect(),
        }
    }

    fn masses(&self) -> (f64, f64) {
        let sum = |sign: f64| self.y.iter().zip(&self.weights).filter(|(y, _)| **y == sign).map(|(_, w)| w).sum();
        (sum(1.0), sum(-1.0))
    }

    /// The scatter inside the classes plus λP, entry by entry, and the difference of the means.
    fn scatter(&self, lambda: f64, penalty: Quadratic) -> (Vec<f64>, Vec<f64>) {
        let (n, (plus, minus)) = (self.n, self.masses());
        let mean = |sign: f64, mass: f64, j: usize| {
            (0..n).filter(|&i| self.y[i] == sign).map(|i| self.weights[i] * self.k[i * n + j]).sum::<f64>() / mass
        };
        let (up, down): (Vec<f64>, Vec<f64>) = (0..n).map(|j| (mean(1.0, plus, j), mean(-1.0, minus, j))).unzip();
        let mut s = vec![0.0; n * n];
        for i in 0..n {
            let own = if self.y[i] > 0.0 { &up } else { &down };
            for a in 0..n {
                for b in 0..n {
                    s[a * n + b] += self.weights[i] * (self.k[i * n + a] - own[a]) * (self.k[i * n + b] - own[b]);
                }
            }
        }
        for a in 0..n {
            for b in 0..n {
                s[a * n + b] += lambda
                    * match penalty {
                        Quadratic::Norm => self.k[a * n + b],
                        Quadratic::Coefficients => f64::from(u8::from(a == b)),
                    };
            }
        }
        (s, up.iter().zip(&down).map(|(u, d)| u - d).collect())
    }
}

/// Elimination with row exchanges: shares nothing with the library.
fn eliminate(mut a: Vec<f64>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for c in 0..n {
        let p = (c..n).max_by(|&i, &j| a[i * n + c].abs().total_cmp(&a[j * n + c].abs())).unwrap();
        (0..n).for_each(|j| a.swap(c * n + j, p * n + j));
        b.swap(c, p);
        for i in 0..n {
            if i != c {
                let factor = a[i * n + c] / a[c * n + c];
                (0..n).for_each(|j| a[i * n + j] -= factor * a[c * n + j]);
                b[i] -= factor * b[c];
            }
        }
    }
    (0..n).map(|i| b[i] / a[i * n + i]).collect()
}

fn square(k: &[f64], n: usize) -> Vec<f64> {
    (0..n * n).map(|p| (0..n).map(|j| k[p / n * n + j] * k[j * n + p % n]).sum()).collect()
}

/// Normal equations (3.59) by elimination: α and b.
fn normal_equations(case: &Case, lambda: f64, penalty: Quadratic) -> (Vec<f64>, f64) {
    let (n, m) = (case.n, case.n + 1);
    let column = |i: usize, j: usize| if j == n { 1.0 } else { case.k[i * n + j] };
    let mut a = vec![0.0; m * m];
    let mut right = vec![0.0; m];
    for p in 0..m {
        for q in 0..m {
            a[p * m + q] = (0..n).map(|i| case.weights[i] * column(i, p) * column(i, q)).sum();
            if p < n && q < n {
                a[p * m + q] += lambda
                    * match penalty {
                        Quadratic::Norm => case.k[p * n + q],
                        Quadratic::Coefficients => f64::from(u8::from(p == q)),
                    };
            }
        }
        right[p] = (0..n).map(|i| case.weights[i] * column(i, p) * case.y[i]).sum();
    }
    let mut found = eliminate(a, right);
    let b = found.pop().unwrap();
    (found, b)
}

fn near(a: &[f64], b: &[f64], within: f64, what: &str) {
    assert_eq!(a.len(), b.len(), "{what}");
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        assert!((a - b).abs() <= within * (1.0 + b.abs()), "{what}, {i}: {a} beside {b}");
    }
}

fn sharp() -> PairOptions {
    PairOptions {
        pairs: 1,
        figures: 22.0,
        infeasibility: 1e-11,
        measure: Measure::Gap,
        max_iterations: 1_000_000,
        cache: 1 << 20,
        double: true,
    }
}

#[test]
fn all_forms_are_one_discriminant() {
    for (case, penalty) in [Case::new(35, 14, 1), Case::new(34, 20, 2).weighted()]
        .into_iter()
        .flat_map(|c| BOTH.map(|p| (Case { n: c.n, x: c.x.clone(), k: c.k.clone(), y: c.y.clone(), weights: c.weights.clone() }, p)))
    {
        for lambda in [1e-3, 0.1, 10.0] {
            let (gram, aim, n) = (case.gram(), case.aim(lambda, penalty), case.n);
            let direct = bordered(&gram, &aim, &Silent).unwrap();
            let found = &direct.found;
            let what = format!("{penalty:?} {lambda}");
            let (alpha, b) = normal_equations(&case, lambda, penalty);
            let scores: Vec<f64> = (0..n).map(|i| b + (0..n).map(|j| case.k[i * n + j] * alpha[j]).sum::<f64>()).collect();
            near(&found.scores, &scores, 1e-8, &what);
            near(&found.offsets, &[b], 1e-8, &what);
            assert!(found.relative_residual < 1e-11 && found.jitter == 0.0, "{what}");
            let mut forms = vec![
                ("eigen", rayleigh(&gram, &aim, &Silent).unwrap().found),
                ("subset", subset(&gram, &(0..n).collect::<Vec<_>>(), &aim, &Silent).unwrap().0),
                ("greedy", greedy(&gram, &aim, &GreedyOptions { points: n, tolerance: 0.0, seed: Seed(1) }, &Silent).unwrap().found),
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
            let qp = Problem {
                gram: Arc::new(Dense::new(g, n, n).unwrap()),
                columns: std::slice::from_ref(&(0..n)),
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
            let options = SmoOptions { tolerance: 1e-9, max_iterations: 0, cache: 1 << 20, threads: 1 };
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
            let image: Vec<f64> = (0..n).map(|i| (0..n).map(|j| case.k[i * n + j] * beta[j]).sum::<f64>() / lambda).collect();
            let told = if penalty == Quadratic::Norm { beta.iter().map(|b| b / lambda).collect() } else { image };
            near(&found.alpha, &told, 1e-7, "α from β");
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
                let total: f64 =
                    (0..n).map(|i| case.weights[i] * (case.k[i * n + a] - mean[a]) * (case.k[i * n + b] - mean[b])).sum();
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
fn pairs_descend_with_an_exact_gap_at_every_step() {
    for (case, pairs) in [(Case::new(35, 15, 8), 1), (Case::new(40, 12, 9).weighted(), 1), (Case::new(40, 12, 9).weighted(), 3)] {
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
            near(&run.found.objectives, &[primal], 1e-12, "primal");
            let figures = -(gap / (primal + 1.0)).log10();
            assert!((run.figures - figures.max(0.0)).abs() < 1e-6);
            let size: f64 = case.weights.iter().sum::<f64>();
            assert!((run.infeasibility - (2.0 * gap / size).sqrt()).abs() < 1e-9);
            assert!(-dual < last, "{steps}: the dual falls");
            last = -dual;
            let printed = pair_descent(&case.gram(), &aim, &PairOptions { measure: Measure::Printed, ..options }, &Silent).unwrap();
            // with ξ := β both terms are the quadratic form
            let quadratic: f64 = (0..n).map(|i| (lambda * alpha[i]).powi(2) / case.weights[i]).sum::<f64>() + lambda * norm;
            let apart = (0.5 * quadratic - dual).abs();
            let told = (-(apart / (0.5 * quadratic + 1.0)).log10()).max(0.0);
            assert!(printed.figures.is_infinite() || (printed.figures - told).abs() < 1e-5 || told > 12.0, "{told} {}", printed.figures);
        }
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
    struct Never;
    impl Monitor for Never {
        fn step(&self, _: &Progress) -> ControlFlow<Stop> {
            ControlFlow::Break(Stop::TimeLimit)
        }
    }
    let stopped = pair_descent(&case.gram(), &aim, &loose, &Never).unwrap();
    assert_eq!((stopped.status, stopped.rows), (Status::TimeLimit, 0));
    // more than rounding can give is not claimed
    let endless = PairOptions { figures: f64::INFINITY, infeasibility: 0.0, ..sharp() };
    assert_eq!(pair_descent(&case.gram(), &aim, &endless, &Silent).unwrap().status, Status::IterationLimit);
}

#[test]
fn limits_of_the_penalty() {
    let case = Case::new(30, 12, 11);
    let (n, (plus, minus)) = (case.n, case.masses());
    let direction = |found: &Discriminants| {
        let size = squares_of(&found.alpha).sqrt();
        found.alpha.iter().map(|a| a / size).collect::<Vec<f64>>()
    };
    let unit = |v: Vec<f64>| {
        let size = squares_of(&v).sqrt();
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

fn squares_of(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}

#[test]
fn the_greedy_search_takes_the_largest_drop_and_never_rises() {
    assert!(0.95_f64.powi(CANDIDATES as i32) <= 0.05 && 0.95_f64.powi(CANDIDATES as i32 - 1) > 0.05);
    for (case, penalty) in [Case::new(40, 17, 12), Case::new(40, 17, 13).weighted()]
        .iter()
        .flat_map(|c| BOTH.map(|p| (c, p)))
    {
        let (gram, n) = (case.gram(), case.n);
        let aim = case.aim(0.05, penalty);
        let options = GreedyOptions { points: 12, tolerance: 0.0, seed: Seed(3) };
        let found = greedy(&gram, &aim, &options, &Silent).unwrap();
        assert_eq!((found.found.points.len(), found.trace.len()), (12, 13));
        assert!(found.trace.windows(2).all(|w| w[1] < w[0]) && found.found.relative_residual < 1e-12);
        // with fewer examples than candidates every one is tried: none of them would have been better, by solving anew
        for m in 1..=12 {
            let value = |points: &[usize]| subset(&gram, points, &aim, &Silent).unwrap().0.objectives[0];
            let chosen = &found.found.points[..m];
            assert!((value(chosen) - found.trace[m]).abs() < 1e-9 * found.trace[0], "{penalty:?} {m}");
            for i in (0..n).filter(|i| !chosen.contains(i)) {
                let mut other = chosen[..m - 1].to_vec();
                other.push(i);
                assert!(value(&other) >= found.trace[m] - 1e-9, "{penalty:?} {m} {i}");
            }
        }
        let whole = greedy(&gram, &aim, &GreedyOptions { points: 1000, ..options }, &Silent).unwrap();
        near(&whole.found.scores, &case.solve(0.05, penalty).scores, 1e-8, "all examples");
    }
    // a mean improvement over the last five below the tolerance ends it, and not before
    let case = Case::new(150, 70, 14);
    let aim = case.aim(0.05, Quadratic::Norm);
    let stop = greedy(&case.gram(), &aim, &GreedyOptions { points: 150, tolerance: 0.02, seed: Seed(3) }, &Silent).unwrap();
    let m = stop.found.points.len();
    let mean = |m: usize| (m - 5..m).map(|p| 1.0 - stop.trace[p + 1] / stop.trace[p]).sum::<f64>() / 5.0;
    assert!(m < 100 && mean(m) < 0.02 && (6..m).all(|m| mean(m) >= 0.02), "{m}");
    let again = greedy(&case.gram(), &aim, &GreedyOptions { points: 150, tolerance: 0.02, seed: Seed(3) }, &Silent).unwrap();
    assert_eq!(stop.found.alpha, again.found.alpha);
}

#[test]
fn leave_one_out_residuals_are_those_of_learning_again() {
    for (case, penalty) in [Case::new(24, 10, 15), Case::new(25, 10, 16).weighted()]
        .iter()
        .flat_map(|c| BOTH.map(|p| (c, p)))
    {
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
                let score = again.offsets[0]
                    + rest.iter().zip(&again.alpha).map(|(&i, a)| case.k[p * n + i] * a).sum::<f64>();
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
                let told = if path.leaves_out() == LeftOut::Example { example[p] } else { error[p] };
                near(&[on_path[p]], &[told], 1e-7, "path");
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
fn invariances() {
    for (penalty, lambda) in BOTH.into_iter().flat_map(|p| [0.02, 1.0].map(|l| (p, l))) {
        let case = Case::new(30, 12, 17);
        let (n, found) = (case.n, case.solve(lambda, penalty));
        let order = Seed(2).stream("order").permutation(n);
        let turned = case.part(&order).solve(lambda, penalty);
        near(&turned.scores, &order.iter().map(|&i| found.scores[i]).collect::<Vec<_>>(), 1e-10, "order");
        let swapped = Case { y: case.y.iter().map(|y| -y).collect(), ..case.part(&(0..n).collect::<Vec<_>>()) };
        near(&swapped.solve(lambda, penalty).scores, &found.scores.iter().map(|f| -f).collect::<Vec<_>>(), 1e-10, "names");
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
