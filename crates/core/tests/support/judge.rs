//! A referee for quadratic programs that shares no code with the solvers it judges.
//!
//! ```text
//! min ½ xᵀHx + cᵀx   subject to   Ax = b,  l ≤ x ≤ u          H positive semidefinite, bounds may be infinite
//! ```
//! A primal-dual interior point method (Mehrotra 1992) on dense matrices with a Cholesky factorisation of its own. The
//! answer carries a certificate: for any multipliers λ of the equalities, weak duality bounds the optimum from below.

#![allow(unreachable_pub, clippy::unwrap_used, clippy::panic)]

/// A convex quadratic program.
#[derive(Clone, Debug)]
pub struct Program {
    /// H, row by row.
    pub h: Vec<f64>,
    /// c.
    pub c: Vec<f64>,
    /// The rows of A.
    pub a: Vec<Vec<f64>>,
    /// b.
    pub b: Vec<f64>,
    /// l.
    pub lower: Vec<f64>,
    /// u.
    pub upper: Vec<f64>,
}

/// A minimiser, the multipliers of the equalities, and two numbers between which the optimum lies.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// x, within its bounds.
    pub x: Vec<f64>,
    /// λ, with Hx + c − Aᵀλ = z − v for the multipliers z, v ≥ 0 of the bounds.
    pub lambda: Vec<f64>,
    /// ½ xᵀHx + cᵀx.
    pub objective: f64,
    /// The value that no feasible point can go below.
    #[allow(dead_code)] // shown where a test fails
    pub below: f64,
}

/// The error that the referee allows itself, relative to 1 + |objective|.
pub const PROMISE: f64 = 1e-9;

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |m, v| m.max(v.abs()))
}

impl Program {
    /// The number of variables.
    pub fn len(&self) -> usize {
        self.c.len()
    }

    /// Hx.
    pub fn curve(&self, x: &[f64]) -> Vec<f64> {
        self.h.chunks_exact(self.len().max(1)).map(|row| dot(row, x)).collect()
    }

    /// ½ xᵀHx + cᵀx.
    pub fn value(&self, x: &[f64]) -> f64 {
        0.5 * dot(&self.curve(x), x) + dot(&self.c, x)
    }

    /// Hx + c − Aᵀλ.
    pub fn slope(&self, x: &[f64], lambda: &[f64]) -> Vec<f64> {
        let mut g = self.curve(x);
        for (i, g) in g.iter_mut().enumerate() {
            *g += self.c[i] - self.a.iter().zip(lambda).map(|(row, l)| row[i] * l).sum::<f64>();
        }
        g
    }

    /// The largest distance from a bound or an equality.
    pub fn infeasibility(&self, x: &[f64]) -> f64 {
        let outside = (0..self.len()).map(|i| (self.lower[i] - x[i]).max(x[i] - self.upper[i]).max(0.0));
        let apart = self.a.iter().zip(&self.b).map(|(row, b)| (dot(row, x) - b).abs());
        outside.chain(apart).fold(0.0, f64::max)
    }

    /// The bound of weak duality at (x, λ): −½ xᵀHx + bᵀλ + Σ over bounds. No slope may be left towards a bound at
    /// infinity; one at rounding level is charged as if the wall stood at twice the value.
    pub fn bound(&self, x: &[f64], lambda: &[f64]) -> f64 {
        let slope = self.slope(x, lambda);
        let at_bounds: f64 = (0..self.len())
            .map(|i| {
                let end = if slope[i] > 0.0 { self.lower[i] } else { self.upper[i] };
                if end.is_finite() {
                    return slope[i] * end;
                }
                let size = 1.0 + self.c[i].abs();
                assert!(slope[i].abs() < 1e-6 * size, "a slope of {} towards a bound at infinity", slope[i]);
                -slope[i].abs() * (2.0 * x[i].abs() + 1.0)
            })
            .sum();
        -0.5 * dot(&self.curve(x), x) + dot(&self.b, lambda) + at_bounds
    }

    /// Solves the program.
    ///
    /// # Panics
    /// If the promised precision is not reached: then nothing can be judged.
    #[track_caller]
    pub fn solve(&self) -> Judgement {
        // variables without room are taken out first: the method needs an inside
        let n = self.len();
        let (open, fixed): (Vec<usize>, Vec<usize>) = (0..n).partition(|&i| self.lower[i] < self.upper[i]);
        let mut x = self.lower.clone();
        let pick = |values: &[f64]| open.iter().map(|&i| values[i]).collect::<Vec<_>>();
        let held = |row: &[f64]| fixed.iter().map(|&j| row[j] * self.lower[j]).sum::<f64>();
        let rest = Self {
            h: open.iter().flat_map(|&i| pick(&self.h[i * n..(i + 1) * n])).collect(),
            c: open.iter().map(|&i| self.c[i] + held(&self.h[i * n..(i + 1) * n])).collect(),
            a: self.a.iter().map(|row| pick(row)).collect(),
            b: self.a.iter().zip(&self.b).map(|(row, b)| b - held(row)).collect(),
            lower: pick(&self.lower),
            upper: pick(&self.upper),
        };
        let (found, lambda) = rest.search();
        for (&i, &value) in open.iter().zip(&found) {
            x[i] = value.clamp(self.lower[i], self.upper[i]);
        }
        let objective = self.value(&x);
        let below = self.bound(&x, &lambda);
        let (room, wrong) = (PROMISE * (1.0 + objective.abs()), self.infeasibility(&x));
        assert!(
            (objective - below).abs() <= room,
            "the optimum lies between {below} and {objective}: not narrow enough"
        );
        assert!(wrong <= 1e-9 * (1.0 + largest(&x)), "the referee's point is infeasible by {wrong:e}");
        Judgement { x, lambda, objective, below }
    }

    /// The interior point method: the best x and λ that were met. Every variable has room between its bounds.
    fn search(&self) -> (Vec<f64>, Vec<f64>) {
        let n = self.len();
        if n == 0 {
            return (Vec::new(), vec![0.0; self.a.len()]);
        }
        // a side keeps sign · (x_i − bound) above zero
        let sides: Vec<(usize, f64, f64)> = (0..n)
            .flat_map(|i| [(i, 1.0, self.lower[i]), (i, -1.0, self.upper[i])])
            .filter(|side| side.2.is_finite())
            .collect();
        let mut x: Vec<f64> = (0..n)
            .map(|i| match (self.lower[i].is_finite(), self.upper[i].is_finite()) {
                (true, true) => f64::midpoint(self.lower[i], self.upper[i]),
                (true, false) => self.lower[i] + 1.0,
                (false, true) => self.upper[i] - 1.0,
                (false, false) => 0.0,
            })
            .collect();
        let mut lambda = vec![0.0; self.a.len()];
        let mut gaps: Vec<f64> = sides.iter().map(|&(i, sign, bound)| sign * (x[i] - bound)).collect();
        let mut forces = vec![1.0 + largest(&self.slope(&x, &lambda)); sides.len()];
        let mut best = (f64::INFINITY, x.clone(), lambda.clone());
        for _ in 0..100 {
            let mut dual = self.slope(&x, &lambda);
            for (&(i, sign, _), force) in sides.iter().zip(&forces) {
                dual[i] -= sign * force;
            }
            let primal: Vec<f64> = self.a.iter().zip(&self.b).map(|(row, b)| dot(row, &x) - b).collect();
            let complementary = dot(&gaps, &forces);
            let merit = (complementary / (1.0 + self.value(&x).abs()))
                .max(largest(&dual) / (1.0 + largest(&self.c)))
                .max(largest(&primal) / (1.0 + largest(&self.b)));
            if merit < best.0 {
                best = (merit, x.clone(), lambda.clone());
            }
            if merit < 1e-15 || !merit.is_finite() {
                break;
            }
            let mut m = self.h.clone();
            for ((&(i, ..), gap), force) in sides.iter().zip(&gaps).zip(&forces) {
                m[i * n + i] += force / gap;
            }
            let newton = Newton::new(m, &self.a);
            // gap · force = target − what the first guess made of the second order
            let step = |targets: &[f64]| {
                let mut right: Vec<f64> = dual.iter().map(|d| -d).collect();
                for (k, &(i, sign, _)) in sides.iter().enumerate() {
                    right[i] += sign * (targets[k] / gaps[k] - forces[k]);
                }
                let (dx, dl) = newton.solve(&right, &primal.iter().map(|p| -p).collect::<Vec<_>>());
                let push: Vec<(f64, f64)> = sides
                    .iter()
                    .enumerate()
                    .map(|(k, &(i, sign, _))| {
                        let dg = sign * dx[i];
                        (dg, targets[k] / gaps[k] - forces[k] - forces[k] * dg / gaps[k])
                    })
                    .collect();
                (dx, dl, push)
            };
            let mu = complementary / sides.len().max(1) as f64;
            let (_, _, guess) = step(&vec![0.0; sides.len()]);
            let (p, d) = reach(&gaps, &forces, &guess, 1.0);
            let after: f64 =
                guess.iter().enumerate().map(|(k, &(dg, df))| (gaps[k] + p * dg) * (forces[k] + d * df)).sum::<f64>();
            let centre = mu * (after / complementary.max(f64::MIN_POSITIVE)).powi(3);
            let targets: Vec<f64> = guess.iter().map(|&(dg, df)| centre - dg * df).collect();
            let (dx, dl, push) = step(&targets);
            let (p, d) = reach(&gaps, &forces, &push, 0.995);
            // a quadratic term couples both, so both take the shorter step
            let size = p.min(d);
            x.iter_mut().zip(&dx).for_each(|(x, d)| *x += size * d);
            lambda.iter_mut().zip(&dl).for_each(|(l, d)| *l += size * d);
            for (k, &(dg, df)) in push.iter().enumerate() {
                gaps[k] += size * dg;
                forces[k] += size * df;
            }
        }
        (best.1, best.2)
    }
}

/// The step that gaps and forces may go along a direction and stay above zero.
fn reach(gaps: &[f64], forces: &[f64], push: &[(f64, f64)], share: f64) -> (f64, f64) {
    let (mut p, mut d) = (1.0_f64, 1.0_f64);
    for (k, &(dg, df)) in push.iter().enumerate() {
        if dg < 0.0 {
            p = p.min(-share * gaps[k] / dg);
        }
        if df < 0.0 {
            d = d.min(-share * forces[k] / df);
        }
    }
    (p, d)
}

/// M dx − Aᵀdλ = r, A dx = q, with M positive definite.
struct Newton<'a> {
    m: Vec<f64>,
    root: Vec<f64>,
    a: &'a [Vec<f64>],
    /// M⁻¹Aᵀ, row by row of A.
    back: Vec<Vec<f64>>,
    schur: Vec<f64>,
}

impl<'a> Newton<'a> {
    fn new(m: Vec<f64>, a: &'a [Vec<f64>]) -> Self {
        let n = m.len().isqrt();
        let top = (0..n).map(|i| m[i * n + i]).fold(0.0, f64::max);
        let root =
            (0..40).find_map(|k| cholesky(&m, n, if k == 0 { 0.0 } else { top * 1e-17 * 4_f64.powi(k) })).unwrap();
        let back: Vec<Vec<f64>> = a.iter().map(|row| substitute(&root, row)).collect();
        let r = a.len();
        let schur: Vec<f64> = a.iter().flat_map(|row| back.iter().map(move |b| dot(row, b))).collect();
        let top = (0..r).map(|i| schur[i * r + i]).fold(f64::MIN_POSITIVE, f64::max);
        let schur =
            (0..40).find_map(|k| cholesky(&schur, r, if k == 0 { 0.0 } else { top * 1e-17 * 4_f64.powi(k) })).unwrap();
        Self { m, root, a, back, schur }
    }

    fn solve(&self, r: &[f64], q: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let n = r.len();
        let (mut dx, mut dl) = self.once(r, q);
        // two rounds of refinement against the matrix itself
        for _ in 0..2 {
            let mut left: Vec<f64> = (0..n).map(|i| r[i] - dot(&self.m[i * n..(i + 1) * n], &dx)).collect();
            for (row, l) in self.a.iter().zip(&dl) {
                left.iter_mut().zip(row).for_each(|(v, a)| *v += a * l);
            }
            let short: Vec<f64> = self.a.iter().zip(q).map(|(row, q)| q - dot(row, &dx)).collect();
            let (ex, el) = self.once(&left, &short);
            dx.iter_mut().zip(ex).for_each(|(d, e)| *d += e);
            dl.iter_mut().zip(el).for_each(|(d, e)| *d += e);
        }
        (dx, dl)
    }

    fn once(&self, r: &[f64], q: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut dx = substitute(&self.root, r);
        // A (M⁻¹r + M⁻¹Aᵀdλ) = q
        let left: Vec<f64> = self.a.iter().zip(q).map(|(row, q)| q - dot(row, &dx)).collect();
        let dl = substitute(&self.schur, &left);
        for (back, l) in self.back.iter().zip(&dl) {
            dx.iter_mut().zip(back).for_each(|(d, b)| *d += b * l);
        }
        (dx, dl)
    }
}

/// L with LLᵀ = M + shift·I; `None` at a pivot that is not positive.
pub fn cholesky(m: &[f64], n: usize, shift: f64) -> Option<Vec<f64>> {
    let mut l = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let known = dot(&l[i * n..i * n + j], &l[j * n..j * n + j]);
            let left = m[i * n + j] - known + if i == j { shift } else { 0.0 };
            if i == j {
                if left.is_nan() || left <= 1e-15 * m[i * n + i].abs() {
                    return None;
                }
                l[i * n + i] = left.sqrt();
            } else {
                l[i * n + j] = left / l[j * n + j];
            }
        }
    }
    Some(l)
}

/// (LLᵀ)⁻¹ r.
pub fn substitute(l: &[f64], r: &[f64]) -> Vec<f64> {
    let n = r.len();
    let mut x = r.to_vec();
    for i in 0..n {
        x[i] = (x[i] - dot(&l[i * n..i * n + i], &x[..i])) / l[i * n + i];
    }
    for i in (0..n).rev() {
        x[i] = (x[i] - (i + 1..n).map(|j| l[j * n + i] * x[j]).sum::<f64>()) / l[i * n + i];
    }
    x
}
