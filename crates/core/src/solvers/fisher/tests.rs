//! The forms of the discriminant against each other, against elimination by hand, and against what theory says of them.

mod evidence;
mod identities;
mod systems;

use super::direct::bordered;
use super::pair_descent::{Measure, PairOptions};
use super::{Aim, Discriminants, Quadratic};
use crate::gram::Dense;
use crate::seed::Seed;
use crate::solvers::testing::eliminate;
use crate::watch::Silent;

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
