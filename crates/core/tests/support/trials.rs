//! Random small problems whose kernel values are exact in f32, and fits by name.
//!
//! Kernel rows travel in f32 in the solvers. On these problems that costs nothing, so solutions can be judged to the
//! tolerance that the solver was given and not to seven digits of the kernel.

#![allow(unreachable_pub, clippy::unwrap_used, clippy::panic)]

use super::expected::make;
use mercer::data::Target;
use mercer::gram::Dense;
use mercer::machines::{Coefficients, FitError, Fitted, Task};
use mercer::seed::Random;
use mercer::watch::{Monitor, Silent};
use std::sync::Arc;

/// Kernels that keep numbers short.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kernel {
    /// ⟨x, y⟩.
    Linear,
    /// (1 + ⟨x, y⟩/16)².
    Polynomial,
    /// exp(−γ‖x − y‖²) rounded to f32, and 2⁻¹⁹ where x = y: rounding alone could make the matrix indefinite.
    Rbf(f64),
}

impl Kernel {
    /// κ(x, y).
    pub fn at(self, x: &[f64], y: &[f64]) -> f64 {
        let inner: f64 = x.iter().zip(y).map(|(a, b)| a * b).sum();
        let apart: f64 = x.iter().zip(y).map(|(a, b)| (a - b) * (a - b)).sum();
        match self {
            Self::Linear => inner,
            Self::Polynomial => (1.0 + inner / 16.0).powi(2),
            Self::Rbf(gamma) => f64::from((-gamma * apart).exp() as f32) + if x == y { 2_f64.powi(-19) } else { 0.0 },
        }
    }

    /// All values between two lists of points.
    pub fn matrix(self, x: &[Vec<f64>], y: &[Vec<f64>]) -> Vec<f64> {
        x.iter().flat_map(|a| y.iter().map(move |b| self.at(a, b))).collect()
    }
}

/// A data set with classes and numbers, and its kernel matrix.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Points on a grid of quarters.
    pub x: Vec<Vec<f64>>,
    /// The class of each.
    pub codes: Vec<usize>,
    /// A number for each.
    pub t: Vec<f64>,
    /// The kernel.
    pub kernel: Kernel,
    /// K.
    pub k: Vec<f64>,
}

impl Trial {
    /// n points of two coordinates and so many classes, every class there; `noise` is how often a label is wrong.
    pub fn new(n: usize, classes: usize, kernel: Kernel, noise: f64, random: &mut Random) -> Self {
        let quarter = |v: f64| (4.0 * v).round().clamp(-16.0, 16.0) / 4.0;
        let (mut x, mut codes, mut t) = (Vec::<Vec<f64>>::new(), Vec::new(), Vec::new());
        for i in 0..n {
            let class = if i < classes { i } else { random.below(classes) };
            let angle = 2.4 * class as f64;
            let point = vec![
                quarter(1.3 * angle.cos() + 0.8 * random.normal()),
                quarter(1.3 * angle.sin() + 0.8 * random.normal()),
            ];
            // now and then a point comes twice
            let point = if i > 2 && random.below(8) == 0 { x[random.below(i)].clone() } else { point };
            t.push(point[0].sin() + 0.5 * point[1] + 0.3 * random.normal());
            codes.push(if i >= classes && random.uniform() < noise { random.below(classes) } else { class });
            x.push(point);
        }
        Self::of(x, codes, t, kernel)
    }

    /// Given points.
    pub fn of(x: Vec<Vec<f64>>, codes: Vec<usize>, t: Vec<f64>, kernel: Kernel) -> Self {
        let k = kernel.matrix(&x, &x);
        Self { x, codes, t, kernel, k }
    }

    /// A problem of any size and kind.
    pub fn random(classes: usize, random: &mut Random) -> Self {
        let more = if random.below(3) == 0 { 57 } else { 20 };
        let n = (classes + random.below(more)).min(60);
        let kernel = [Kernel::Linear, Kernel::Polynomial, Kernel::Rbf(0.5), Kernel::Rbf(0.1), Kernel::Rbf(2.0)];
        let noise = [0.0, 0.1, 0.3][random.below(3)];
        Self::new(n, classes, kernel[random.below(5)], noise, random)
    }

    /// Number of examples.
    pub fn len(&self) -> usize {
        self.x.len()
    }

    /// The classes as a target: a, b, c, …
    pub fn classes(&self) -> Target {
        Target::from(self.codes.iter().map(|&c| label(c)).collect::<Vec<_>>())
    }

    /// The numbers as a target.
    pub fn numbers(&self) -> Target {
        Target::from(self.t.clone())
    }

    /// The examples at the given places, which may repeat.
    pub fn select(&self, keep: &[usize]) -> Self {
        let x = keep.iter().map(|&i| self.x[i].clone()).collect();
        Self::of(
            x,
            keep.iter().map(|&i| self.codes[i]).collect(),
            keep.iter().map(|&i| self.t[i]).collect(),
            self.kernel,
        )
    }

    /// A fit by name.
    #[track_caller]
    pub fn fit(&self, machine: &str, settings: &str) -> Fitted {
        self.fit_weighted(machine, settings, None)
    }

    /// A fit by name, with weights.
    #[track_caller]
    pub fn fit_weighted(&self, machine: &str, settings: &str, weights: Option<&[f64]>) -> Fitted {
        let target = self.target_of(machine);
        let fitted = fit(machine, settings, self.k.clone(), target.as_ref(), weights);
        fitted.unwrap_or_else(|error| panic!("{machine}, {settings}, n = {}: {error}", self.len()))
    }

    /// The target of a machine on this data set.
    pub fn target_of(&self, machine: &str) -> Option<Target> {
        match machine {
            "svc" | "nu_svc" => Some(self.classes()),
            "svr" | "nu_svr" => Some(self.numbers()),
            _ => None,
        }
    }

    /// The scores of points, row by row.
    pub fn scores(&self, fitted: &Fitted, points: &[Vec<f64>]) -> Vec<f64> {
        let outputs = fitted.expansion.offsets.len();
        let support: Vec<Vec<f64>> = fitted.expansion.points().iter().map(|&i| self.x[i].clone()).collect();
        let cross = self.kernel.matrix(points, &support);
        let mut scores = Vec::with_capacity(points.len() * outputs);
        for (point, row) in points.iter().zip(cross.chunks(support.len().max(1))) {
            match &fitted.expansion.coefficients {
                Coefficients::Dual { alpha, .. } => scores.extend((0..outputs).map(|c| {
                    row.iter().enumerate().map(|(p, k)| alpha[p * outputs + c] * k).sum::<f64>()
                        + fitted.expansion.offsets[c]
                })),
                Coefficients::Ball { alpha, .. } => {
                    let own = self.kernel.matrix(std::slice::from_ref(point), std::slice::from_ref(point))[0];
                    let sum: f64 = row.iter().zip(alpha).map(|(k, a)| a * k).sum();
                    scores.push(sum - own + fitted.expansion.offsets[0]);
                }
                Coefficients::Pairwise { classes, alpha, count, .. } => {
                    let pairs = (0..*count).flat_map(|a| (a + 1..*count).map(move |b| (a, b)));
                    scores.extend(pairs.zip(&fitted.expansion.offsets).map(|((a, b), offset)| {
                        let share = |p: usize| match classes[p] as usize {
                            c if c == a => alpha[p * (count - 1) + b - 1],
                            c if c == b => alpha[p * (count - 1) + a],
                            _ => 0.0,
                        };
                        row.iter().enumerate().map(|(p, k)| share(p) * k).sum::<f64>() + offset
                    }));
                }
                other => panic!("a support vector machine with {other:?}"),
            }
        }
        if support.is_empty() {
            scores = points.iter().flat_map(|_| fitted.expansion.offsets.clone()).collect();
        }
        scores
    }
}

/// a, b, c, …
pub fn label(code: usize) -> String {
    char::from(b'a' + code as u8).to_string()
}

/// A fit on a matrix.
pub fn fit(
    machine: &str,
    settings: &str,
    k: Vec<f64>,
    target: Option<&Target>,
    weights: Option<&[f64]>,
) -> Result<Fitted, FitError> {
    fit_watched(machine, settings, k, target, weights, None, &Silent)
}

/// A fit on a matrix, from a start, under a monitor.
pub fn fit_watched(
    machine: &str,
    settings: &str,
    k: Vec<f64>,
    target: Option<&Target>,
    weights: Option<&[f64]>,
    start: Option<&Fitted>,
    watch: &dyn Monitor,
) -> Result<Fitted, FitError> {
    let n = k.len().isqrt();
    let gram = Arc::new(Dense::new(k, n, n).unwrap());
    let task = Task { target, weights, start, threads: 2, ..Task::new(gram) };
    make(machine, settings).run(&task, watch)
}

/// A number that only some machines tell.
pub fn note(fitted: &Fitted, name: &str) -> Option<f64> {
    fitted.report.notes.iter().find(|(n, _)| n == name).map(|n| n.1)
}
