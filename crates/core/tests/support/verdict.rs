//! The problem of each support vector machine, written down a second time, and a verdict on expansions that should solve it.
//!
//! With weights w_i (all 1 unless told), W = Σ w_i and f = Σ β_i κ(x_i, ·) + b:
//!
//! ```text
//! svc        ½‖w‖² + C Σ w_i ξ_i (or ξ_i²)                  0 ≤ α ≤ C w_i,  Σ yα = 0 with a bias
//! nu_svc     ½‖w‖² − ν W ρ + Σ w_i ξ_i                      0 ≤ α ≤ w_i,  Σ yα = 0,  Σ α = ν W; told divided by ρ
//! svr        ½‖w‖² + C Σ w_i (ξ_i + ξ_i*) (or squares)      |β_i| ≤ C w_i,  Σ β = 0 with a bias
//! nu_svr     ½‖w‖² + C (ν W ε + Σ w_i (ξ_i + ξ_i*))         |β_i| ≤ C w_i,  Σ β = 0,  Σ |β| ≤ C ν W
//! one_class  ½‖w‖² − ν W ρ + Σ w_i ξ_i                      0 ≤ α ≤ w_i,  Σ α = ν W
//! svdd       R² + 1/(ν W) Σ w_i ξ_i                         0 ≤ α ≤ w_i/(ν W),  Σ α = 1
//! ```

#![allow(unreachable_pub, clippy::unwrap_used, clippy::panic)]

use super::judge::{Judgement, Program};
use mercer::machines::{Coefficients, Fitted, Readout};

/// The problem of a machine, with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// `squared` is the squared hinge loss.
    Svc {
        c: f64,
        squared: bool,
        bias: bool,
    },
    /// In LIBSVM's form.
    NuSvc {
        nu: f64,
    },
    /// `squared` is the squared ε-insensitive loss.
    Svr {
        c: f64,
        epsilon: f64,
        squared: bool,
        bias: bool,
    },
    /// In LIBSVM's form.
    NuSvr {
        c: f64,
        nu: f64,
    },
    /// In LIBSVM's form.
    OneClass {
        nu: f64,
    },
    Svdd {
        nu: f64,
    },
}

/// The examples that are learned from: K, signs or numbers (ones where nothing is predicted), weights.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// K, row by row.
    pub k: &'a [f64],
    /// The target of each example.
    pub y: &'a [f64],
    /// The weight of each example.
    pub w: &'a [f64],
}

/// An expansion as a solution of one problem.
#[derive(Clone, Debug)]
pub struct Part {
    /// The examples that take part.
    pub members: Vec<usize>,
    /// ±1 for classes, ones otherwise; the caller puts numbers here where numbers are learned.
    pub y: Vec<f64>,
    /// The coefficient of each member.
    pub beta: Vec<f64>,
    /// b.
    pub offset: f64,
}

/// The findings about a solution.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The value of the minimised dual.
    pub dual: f64,
    /// The same as the machine may tell it after its division by ρ.
    pub scaled: f64,
    /// Primal minus dual objective.
    pub gap: f64,
    /// ‖w‖² as told.
    pub squared_norm: f64,
    /// The largest violation of the optimality conditions.
    pub violation: f64,
    /// The largest distance from a bound or an equality.
    pub infeasible: f64,
    /// The cost of a violation of 1 at every example.
    pub capacity: f64,
    /// Σ of all multipliers.
    pub total: f64,
    /// ρ of the ν machines; 1 for others.
    #[allow(dead_code)] // shown where a test fails
    pub rho: f64,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// K v.
pub fn times(k: &[f64], v: &[f64]) -> Vec<f64> {
    if v.is_empty() { Vec::new() } else { k.chunks_exact(v.len()).map(|row| dot(row, v)).collect() }
}

/// The rows and columns of K at the given places.
pub fn chosen(k: &[f64], n: usize, members: &[usize]) -> Vec<f64> {
    members.iter().flat_map(|&i| members.iter().map(move |&j| k[i * n + j])).collect()
}

impl Law {
    /// The largest multiplier of an example of weight w.
    fn upper(self, w: f64, whole: f64) -> f64 {
        match self {
            _ if w == 0.0 => 0.0,
            Self::Svc { squared: true, .. } | Self::Svr { squared: true, .. } => f64::INFINITY,
            Self::Svc { c, .. } | Self::Svr { c, .. } | Self::NuSvr { c, .. } => c * w,
            Self::NuSvc { .. } | Self::OneClass { .. } => w,
            Self::Svdd { nu } => w / (nu * whole),
        }
    }

    /// The number that a squared loss adds to the diagonal: 1/(2 C w).
    fn ridge(self, w: f64) -> f64 {
        match self {
            Self::Svc { c, squared: true, .. } | Self::Svr { c, squared: true, .. } if w > 0.0 => 1.0 / (2.0 * c * w),
            _ => 0.0,
        }
    }

    fn learns_numbers(self) -> bool {
        matches!(self, Self::Svr { .. } | Self::NuSvr { .. })
    }

    /// The dual, for the referee.
    pub fn program(self, case: Case<'_>) -> Program {
        let Case { k, y, w } = case;
        let (n, whole) = (y.len(), w.iter().sum::<f64>());
        let upper: Vec<f64> = w.iter().map(|&w| self.upper(w, whole)).collect();
        if self.learns_numbers() {
            // x = (a, a*), β = a − a*
            let sign = |p: usize| if p < n { 1.0 } else { -1.0 };
            let value = |p: usize, q: usize| {
                sign(p) * sign(q) * k[(p % n) * n + q % n] + if p == q { self.ridge(w[p % n]) } else { 0.0 }
            };
            let epsilon = if let Self::Svr { epsilon, .. } = self { epsilon } else { 0.0 };
            let (mut a, mut b) = (Vec::new(), Vec::new());
            if !matches!(self, Self::Svr { bias: false, .. }) {
                a.push((0..2 * n).map(sign).collect());
                b.push(0.0);
            }
            if let Self::NuSvr { c, nu } = self {
                a.push(vec![1.0; 2 * n]);
                b.push(c * nu * whole);
            }
            return Program {
                h: (0..4 * n * n).map(|e| value(e / (2 * n), e % (2 * n))).collect(),
                c: (0..2 * n).map(|p| epsilon - sign(p) * y[p % n]).collect(),
                a,
                b,
                lower: vec![0.0; 2 * n],
                upper: [upper.as_slice(), &upper].concat(),
            };
        }
        let (factor, linear): (f64, Vec<f64>) = match self {
            Self::Svc { .. } => (1.0, vec![-1.0; n]),
            Self::Svdd { .. } => (2.0, (0..n).map(|i| -k[i * n + i]).collect()),
            _ => (1.0, vec![0.0; n]),
        };
        let (a, b) = match self {
            Self::Svc { bias: true, .. } => (vec![y.to_vec()], vec![0.0]),
            Self::NuSvc { nu } => (vec![y.to_vec(), vec![1.0; n]], vec![0.0, nu * whole]),
            Self::OneClass { nu } => (vec![vec![1.0; n]], vec![nu * whole]),
            Self::Svdd { .. } => (vec![vec![1.0; n]], vec![1.0]),
            _ => (Vec::new(), Vec::new()),
        };
        let value =
            |i: usize, j: usize| factor * y[i] * y[j] * k[i * n + j] + if i == j { self.ridge(w[i]) } else { 0.0 };
        let h = (0..n * n).map(|e| value(e / n, e % n)).collect();
        Program { h, c: linear, a, b, lower: vec![0.0; n], upper }
    }

    /// Derives everything again from K and the coefficients; `epsilon` is the tube that `nu_svr` found.
    pub fn weigh(self, case: Case<'_>, part: &Part, epsilon: f64) -> Verdict {
        let Case { k, y, w } = case;
        let (n, whole) = (y.len(), w.iter().sum::<f64>());
        // back to the variables of the dual
        let told: f64 = part.beta.iter().map(|b| b.abs()).sum();
        let (rho, scale) = match self {
            Self::NuSvc { nu } => (nu * whole / told, nu * whole / told),
            Self::OneClass { .. } => (-part.offset, 1.0),
            Self::Svdd { .. } => (1.0, 0.5),
            _ => (1.0, 1.0),
        };
        let beta: Vec<f64> = part.beta.iter().map(|b| b * scale).collect();
        let inner = times(k, &beta);
        let offset = if matches!(self, Self::NuSvc { .. }) { part.offset * scale } else { part.offset };
        let f: Vec<f64> = match self {
            // svdd doubles the sum in its scores and takes κ(x, x) away
            Self::Svdd { .. } => (0..n).map(|i| 2.0 * inner[i] - k[i * n + i] + offset).collect(),
            _ => inner.iter().map(|v| v + offset).collect(),
        };
        let norm2 = dot(&beta, &inner);
        let (sum, total) = (beta.iter().sum::<f64>(), beta.iter().map(|b| b.abs()).sum::<f64>());
        let ridge: f64 = (0..n).map(|i| self.ridge(w[i]) * beta[i] * beta[i]).sum();
        // (multiplier, what must not be negative below its upper bound and not positive above its lower one, slack)
        let mut conditions: Vec<(f64, f64, usize)> = Vec::new();
        for i in 0..n {
            match self {
                Self::Svc { .. } => conditions.push((y[i] * beta[i], y[i] * f[i] - 1.0, i)),
                Self::NuSvc { .. } => conditions.push((y[i] * beta[i], y[i] * f[i] - rho, i)),
                Self::OneClass { .. } | Self::Svdd { .. } => conditions.push((beta[i], f[i], i)),
                Self::Svr { .. } | Self::NuSvr { .. } => {
                    let tube = if let Self::Svr { epsilon, .. } = self { epsilon } else { epsilon };
                    conditions.push((beta[i].max(0.0), tube - (y[i] - f[i]), i));
                    conditions.push(((-beta[i]).max(0.0), tube + (y[i] - f[i]), i));
                }
            }
        }
        let (mut violation, mut outside, mut losses, mut capacity) = (0.0_f64, 0.0_f64, 0.0, 0.0);
        for &(multiplier, room, i) in &conditions {
            let upper = self.upper(w[i], whole);
            let slope = room + self.ridge(w[i]) * multiplier;
            outside = outside.max(-multiplier).max(multiplier - upper);
            if multiplier > 0.0 {
                violation = violation.max(slope);
            }
            // what was divided by ρ and multiplied again may miss its bound by rounding
            if multiplier < upper * (1.0 - 1e-10) {
                violation = violation.max(-slope);
            }
            let slack = (-room).max(0.0);
            match self {
                Self::Svc { c, squared: true, .. } | Self::Svr { c, squared: true, .. } => {
                    losses += c * w[i] * slack * slack;
                    capacity += multiplier + 1e-3 * c * w[i];
                }
                // a hard margin has no price; its slack is seen as a violation
                _ if upper.is_infinite() => capacity += multiplier,
                _ => {
                    losses += upper * slack;
                    capacity += upper;
                }
            }
        }
        let own: f64 = (0..n).map(|i| beta[i] * k[i * n + i]).sum();
        let (dual, primal, off) = match self {
            Self::Svc { bias, .. } => {
                (0.5 * (norm2 + ridge) - total, 0.5 * norm2 + losses, if bias { sum } else { 0.0 })
            }
            Self::NuSvc { nu } => (0.5 * norm2, 0.5 * norm2 - nu * whole * rho + losses, sum),
            Self::Svr { epsilon, bias, .. } => {
                let dual = 0.5 * (norm2 + ridge) + epsilon * total - dot(y, &beta);
                (dual, 0.5 * norm2 + losses, if bias { sum } else { 0.0 })
            }
            Self::NuSvr { c, nu } => {
                let (most, dual) = (c * nu * whole, 0.5 * norm2 - dot(y, &beta));
                (dual, 0.5 * norm2 + most * epsilon + losses, sum.abs().max(total - most))
            }
            Self::OneClass { nu } => (0.5 * norm2, 0.5 * norm2 - nu * whole * rho + losses, sum - nu * whole),
            // f = R² − κ(x, x) + 2 Σ ακ − αᵀKα, so the offset tells R²
            Self::Svdd { .. } => (norm2 - own, offset + norm2 + losses, sum - 1.0),
        };
        let divided = if matches!(self, Self::NuSvc { .. }) { dual / (rho * rho) } else { dual };
        let squared_norm = if matches!(self, Self::NuSvc { .. }) { norm2 / (rho * rho) } else { norm2 };
        let gap = primal + dual;
        let infeasible = outside.max(off.abs());
        Verdict { dual, scaled: divided, gap, squared_norm, violation, infeasible, capacity, total, rho }
    }

    /// Fails unless the part is feasible, satisfies the optimality conditions to the tolerance, and has the optimum that
    /// the referee finds.
    #[track_caller]
    pub fn check(self, case: Case<'_>, part: &Part, epsilon: f64, tolerance: f64, what: &str) -> Verdict {
        let found = self.weigh(case, part, epsilon);
        // a ball is found in the scale of one_class, and its distances are twice its heights
        let tolerance = match self {
            Self::Svdd { nu } => tolerance * (2.0 / (nu * case.w.iter().sum::<f64>())).max(1.0),
            _ => tolerance,
        };
        let Judgement { x, objective: optimum, .. } = self.program(case).solve();
        let best_total: f64 = x.iter().sum();
        let size = 1.0 + found.total + case.w.iter().sum::<f64>();
        assert!(found.infeasible <= 1e-10 * size, "{what}: infeasible by {:e}", found.infeasible);
        // rounding of the state: 1e-9 of the largest sum that enters it
        let top = case.k.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let noise = 1e-9 * (1.0 + found.total * top);
        assert!(
            found.violation <= 2.0 * tolerance + noise,
            "{what}: the optimality conditions are violated by {:e}",
            found.violation
        );
        // convexity: d(α) − d(α*) ≤ ∇d(α)ᵀ(α − α*) ≤ violation · Σ|α − α*|
        let above = 2.0 * tolerance * (found.total + best_total) + 1e-8 * (1.0 + optimum.abs());
        assert!(
            found.dual >= optimum - 1e-8 * (1.0 + optimum.abs()),
            "{what}: {} is below the optimum {optimum}",
            found.dual
        );
        assert!(found.dual <= optimum + above, "{what}: {} is above the optimum {optimum}", found.dual);
        assert!(
            (found.dual - optimum).abs() <= 1e-4 * (1.0 + optimum.abs()),
            "{what}: {} is not the optimum {optimum}",
            found.dual
        );
        let widest = 2.0 * (tolerance + noise) * (found.capacity + found.total) + 1e-8 * (1.0 + optimum.abs());
        // a hard margin has no price for what is left of its violations, so its primal may be too small by them
        let priceless =
            if matches!(self, Self::Svc { c, .. } if c.is_infinite()) { tolerance * found.total } else { 0.0 };
        let rounding = 1e-8 * (1.0 + optimum.abs() + found.total * noise);
        assert!(found.gap >= -rounding - priceless, "{what}: gap {:e}", found.gap);
        assert!(found.gap <= widest, "{what}: gap {:e}, at most {widest:e}", found.gap);
        found
    }
}

/// The problems that an expansion solves: pairs of classes, classes against the rest, outputs, or one.
pub fn parts(fitted: &Fitted, codes: &[usize]) -> Vec<Part> {
    let (n, offsets) = (codes.len(), &fitted.expansion.offsets);
    match &fitted.expansion.coefficients {
        Coefficients::Pairwise { points, classes, alpha, count } => {
            let pairs = (0..*count).flat_map(|a| (a + 1..*count).map(move |b| (a, b)));
            assert!(points.iter().zip(classes).all(|(&i, &c)| codes[i] == c as usize), "classes of the points");
            assert!(matches!(&fitted.readout, Readout::Vote { labels } if labels.len() == *count));
            pairs
                .zip(offsets)
                .map(|((a, b), &offset)| {
                    let mut all = vec![0.0; n];
                    for (place, &i) in points.iter().enumerate() {
                        if codes[i] == a || codes[i] == b {
                            all[i] = alpha[place * (count - 1) + if codes[i] == a { b - 1 } else { a }];
                        }
                    }
                    let members: Vec<usize> = (0..n).filter(|&i| codes[i] == a || codes[i] == b).collect();
                    let y = members.iter().map(|&i| if codes[i] == a { 1.0 } else { -1.0 }).collect();
                    let beta = members.iter().map(|&i| all[i]).collect();
                    Part { members, y, beta, offset }
                })
                .collect()
        }
        Coefficients::Dual { points, alpha } | Coefficients::Ball { points, alpha } => {
            let outputs = offsets.len();
            (0..outputs)
                .map(|c| {
                    let mut beta = vec![0.0; n];
                    points.iter().enumerate().for_each(|(place, &i)| beta[i] = alpha[place * outputs + c]);
                    let classes = matches!(fitted.readout, Readout::ArgMax { .. });
                    let y = codes.iter().map(|&code| if !classes || code == c { 1.0 } else { -1.0 }).collect();
                    Part { members: (0..n).collect(), y, beta, offset: offsets[c] }
                })
                .collect()
        }
        other => panic!("a support vector machine with {other:?}"),
    }
}
