//! Networks of radial basis functions with adaptive centres.
//!
//! ```text
//! f_c(x) = Σ_k w_kc g_k(x) + b_c,   g_k(x) = exp(−‖x − μ_k‖² / 2σ_k²)
//! E(μ, σ) = min over w, b of  ½ Σ_i v_i ‖y_i − f(x_i)‖² / Σ_i v_i + ½ λ ‖w‖²
//! start    μ by k means, σ_k the mean distance of the examples of cluster k from μ_k, or the distance of the nearest
//!          other centre
//! steps    of conjugate gradients (Polak & Ribière) down E, with σ = exp(s) so that it stays above zero:
//!          ∂E/∂μ_k = Σ_i v_i ⟨r_i, w_k⟩ g_k(x_i) (x_i − μ_k)/σ_k² / Σ v,       r_i = f(x_i) − y_i
//!          ∂E/∂s_k = Σ_i v_i ⟨r_i, w_k⟩ g_k(x_i) ‖x_i − μ_k‖²/σ_k² / Σ v
//! ```
//! w and b are the best for every μ and σ (a linear system), so their own derivatives play no part in that of E.
//!
//! # Source
//! Rätsch, Onoda & Müller (2001), Soft margins for AdaBoost, appendix (RBF nets with adaptive centres); λ here is that of
//! the mean, not of the sum.

use super::table::Table;
use crate::geometry::{Clusters, k_means};
use crate::linalg::SolveError;
use crate::linalg::{dot, gram_of_columns, transposed_multiply};
use crate::machines::Net;
use crate::parallel;
use crate::params::{Choice, Rule, Visit};
use crate::seed::Random;
use crate::solvers::direct::factor_shifted;
use crate::watch::{Monitor, Phase, Progress, Status};

/// Rows that one thread takes at a time.
const STRIP: usize = 256;
/// Largest number of halvings of a step.
const HALVINGS: usize = 30;
/// A step must gain this share of what the slope promises.
const ARMIJO: f64 = 1e-4;
/// Largest move of a centre in the first step, as a share of its width.
const FIRST_STEP_SHARE: f64 = 0.2;
/// Largest number of centres: up to here the linear system is the work of one thread, and the same bits for any number
/// of them.
const MAX_CENTRES: f64 = 255.0;

/// Options of a network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NetOptions {
    /// The number of centres.
    pub centres: usize,
    /// λ.
    pub lambda: f64,
    /// The start of the widths.
    pub widths: Widths,
    /// Steps that refine centres and widths.
    pub steps: usize,
}

impl Default for NetOptions {
    fn default() -> Self {
        Self { centres: 20, lambda: 1e-4, widths: Widths::Nearest, steps: 10 }
    }
}

impl NetOptions {
    /// Shows the parameters.
    pub(super) fn visit(&mut self, v: &mut dyn Visit) {
        let rule = Rule::Between(1.0, MAX_CENTRES);
        v.count("centres", &mut self.centres, rule, "number of centres of a network");
        v.real("lambda", &mut self.lambda, Rule::Above(0.0), "penalty λ on the output weights of a network");
        v.choice("widths", &mut self.widths, "widths at the start: cluster (mean distance in it) or nearest (centre)");
        v.count("steps", &mut self.steps, Rule::AtLeast(0.0), "steps that refine centres and widths");
    }
}

/// The start of the widths of a network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Widths {
    /// The mean distance of the examples of a cluster from its centre.
    Cluster,
    /// The distance of the nearest other centre.
    #[default]
    Nearest,
}

impl Choice for Widths {
    fn options(&self) -> &'static [&'static str] {
        &["cluster", "nearest"]
    }
    fn get(&self) -> usize {
        *self as usize
    }
    fn set(&mut self, position: usize) {
        *self = if position == 0 { Self::Cluster } else { Self::Nearest };
    }
}

/// The training problem of a network.
pub(super) struct NetProblem<'a> {
    pub(super) table: &'a Table,
    /// n × outputs.
    pub(super) targets: &'a [f64],
    pub(super) outputs: usize,
    /// v, at least zero, one of them above.
    pub(super) weights: &'a [f64],
}

/// A network, what it has cost, and how it ended.
pub(super) struct TrainedNet {
    pub(super) net: Net,
    /// E.
    pub(super) objective: f64,
    /// f(x_i), n × outputs.
    pub(super) values: Vec<f64>,
    pub(super) steps: usize,
    pub(super) status: Status,
}

impl NetProblem<'_> {
    /// Learns a network; told to stop, it keeps the best so far.
    pub(super) fn learn(
        &self,
        options: &NetOptions,
        random: &mut Random,
        watch: &dyn Monitor,
    ) -> Result<TrainedNet, SolveError> {
        let clusters = k_means(&self.table.rows, self.table.d, self.weights, options.centres, random);
        let widths = self.widths(&clusters, options.widths);
        let mut shape: Vec<f64> = clusters.centres;
        shape.extend(widths.iter().map(|s| s.ln()));
        let mut at = self.point(&shape, options.lambda)?;
        let (mut gradient, mut steps, mut status) = (self.gradient(&at), 0, Status::Converged);
        let mut direction: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let mut length = careful(&direction, &at.net, self.table.d);
        while steps < options.steps {
            let progress = Progress::new(Phase::new("network"), steps).of(options.steps);
            if let Err(stop) = watch.alive(progress) {
                status = stop.into();
                break;
            }
            let slope = dot(&gradient, &direction);
            let Some((next, moved, taken)) = self.search(&shape, &direction, &at, (slope, length), options.lambda)
            else {
                break;
            };
            (shape, at, length) = (moved, next, 2.0 * taken);
            steps += 1;
            let fresh = self.gradient(&at);
            // Polak & Ribière's factor; none where it is negative
            let change = fresh.iter().zip(&gradient).map(|(f, g)| f * (f - g)).sum::<f64>();
            let factor = (change / dot(&gradient, &gradient)).max(0.0);
            gradient = fresh;
            direction.iter_mut().zip(&gradient).for_each(|(d, g)| *d = factor * *d - g);
            if dot(&direction, &gradient) >= 0.0 {
                direction = gradient.iter().map(|g| -g).collect();
            }
        }
        Ok(TrainedNet { net: at.net, objective: at.objective, values: at.values, steps, status })
    }

    /// The widths at the start, all above zero.
    fn widths(&self, clusters: &Clusters, how: Widths) -> Vec<f64> {
        let d = self.table.d;
        let centres: Vec<&[f64]> = clusters.centres.chunks_exact(d).collect();
        let apart = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
        let neighbour = |k: usize| {
            let others = (0..centres.len()).filter(|&c| c != k).map(|c| apart(centres[k], centres[c]));
            others.fold(f64::INFINITY, f64::min)
        };
        let (mut sums, mut sizes) = (vec![0.0; centres.len()], vec![0.0; centres.len()]);
        for (i, &c) in clusters.of.iter().enumerate() {
            sums[c] += self.weights[i] * apart(self.table.row(i), centres[c]);
            sizes[c] += self.weights[i];
        }
        let usable = |width: f64| width.is_normal() && width > 0.0;
        let width = |k: usize| {
            let own = sums[k] / sizes[k];
            let candidates = match how {
                Widths::Cluster => [own, neighbour(k)],
                Widths::Nearest => [neighbour(k), own],
            };
            // a single example has no spread, and a single centre no neighbour
            candidates.into_iter().find(|&w| usable(w)).unwrap_or(1.0)
        };
        (0..centres.len()).map(width).collect()
    }

    /// The network of a shape (centres, then logarithms of widths) with its best output weights.
    fn point(&self, shape: &[f64], lambda: f64) -> Result<Point, SolveError> {
        let (n, d, outputs) = (self.table.n, self.table.d, self.outputs);
        let count = shape.len() / (d + 1);
        let mut net = Net {
            centres: shape[..count * d].to_vec(),
            widths: shape[count * d..].iter().map(|s| s.exp()).collect(),
            ..Net::default()
        };
        // a last column of ones carries b
        let columns = count + 1;
        let mut hidden = vec![1.0; n * columns];
        parallel::strips(&mut hidden, columns, |i, g| net.hidden(self.table.row(i), &mut g[..count]));
        let total: f64 = self.weights.iter().sum();
        let roots: Vec<f64> = self.weights.iter().map(|v| (v / total).sqrt()).collect();
        let scaled: Vec<f64> = hidden.iter().enumerate().map(|(p, g)| g * roots[p / columns]).collect();
        let wanted: Vec<f64> = self.targets.iter().enumerate().map(|(p, y)| y * roots[p / outputs]).collect();
        // (GᵀVG + λ) w = GᵀVy, where b is free
        let mut matrix = gram_of_columns(&scaled, n, columns);
        for k in 0..count {
            matrix[k * columns + k] += lambda;
        }
        let mut weights = transposed_multiply(&scaled, columns, &wanted, outputs);
        factor_shifted(matrix, columns, 0.0)?.solve(&mut weights, outputs);
        net.offsets = weights.split_off(count * outputs);
        net.weights = weights;
        let mut values = vec![0.0; n * outputs];
        parallel::strips(&mut values, outputs, |i, out| {
            let g = &hidden[i * columns..i * columns + count];
            out.iter_mut().enumerate().for_each(|(c, f)| *f = net.output(g, c));
        });
        let loss = |(p, (f, y)): (usize, (&f64, &f64))| self.weights[p / outputs] * (f - y) * (f - y);
        let rest: f64 = values.iter().zip(self.targets).enumerate().map(loss).sum::<f64>() / total;
        let objective = 0.5 * rest + 0.5 * lambda * dot(&net.weights, &net.weights);
        if !objective.is_finite() {
            return Err(SolveError::NotFinite { row: 1, column: 1 });
        }
        Ok(Point { net, hidden, values, objective })
    }

    /// ∂E by centres, then by logarithms of widths: sums over fixed strips in their order.
    fn gradient(&self, at: &Point) -> Vec<f64> {
        let (n, d, outputs) = (self.table.n, self.table.d, self.outputs);
        let count = at.net.widths.len();
        let total: f64 = self.weights.iter().sum();
        let strip = |start: usize| {
            let mut sum = vec![0.0; count * (d + 1)];
            for i in start..(start + STRIP).min(n) {
                let (x, g) = (self.table.row(i), &at.hidden[i * (count + 1)..]);
                let rest = (0..outputs).map(|c| at.values[i * outputs + c] - self.targets[i * outputs + c]);
                let rest: Vec<f64> = rest.collect();
                for k in 0..count {
                    let along = dot(&rest, &at.net.weights[k * outputs..(k + 1) * outputs]);
                    let pull = self.weights[i] / total * along * g[k] / (at.net.widths[k] * at.net.widths[k]);
                    let centre = &at.net.centres[k * d..(k + 1) * d];
                    let mut d2 = 0.0;
                    for ((s, x), m) in sum[k * d..(k + 1) * d].iter_mut().zip(x).zip(centre) {
                        *s += pull * (x - m);
                        d2 += (x - m) * (x - m);
                    }
                    sum[count * d + k] += pull * d2;
                }
            }
            sum
        };
        let parts: Vec<Vec<f64>> = parallel::map(n.div_ceil(STRIP), |i| strip(i * STRIP));
        let mut sum = vec![0.0; count * (d + 1)];
        for part in parts {
            sum.iter_mut().zip(&part).for_each(|(s, p)| *s += p);
        }
        sum
    }

    /// Halves a step until it gains enough; `None` where nothing does.
    fn search(
        &self,
        shape: &[f64],
        direction: &[f64],
        at: &Point,
        (slope, mut length): (f64, f64),
        lambda: f64,
    ) -> Option<(Point, Vec<f64>, f64)> {
        if !(slope < 0.0 && length > 0.0 && length.is_finite()) {
            return None;
        }
        for _ in 0..HALVINGS {
            let moved: Vec<f64> = shape.iter().zip(direction).map(|(s, d)| s + length * d).collect();
            // a shape that has no solution is too far away
            let next = self.point(&moved, lambda).ok();
            if let Some(next) = next.filter(|next| next.objective <= at.objective + ARMIJO * length * slope) {
                return Some((next, moved, length));
            }
            length *= 0.5;
        }
        None
    }
}

/// A network on its way.
struct Point {
    net: Net,
    /// g, with a last column of ones.
    hidden: Vec<f64>,
    values: Vec<f64>,
    objective: f64,
}

/// The length of the first step.
fn careful(direction: &[f64], net: &Net, d: usize) -> f64 {
    let count = net.widths.len();
    let far = |k: usize| dot(&direction[k * d..(k + 1) * d], &direction[k * d..(k + 1) * d]).sqrt() / net.widths[k];
    let most = (0..count).map(|k| far(k).max(direction[count * d + k].abs())).fold(0.0, f64::max);
    if most > 0.0 { FIRST_STEP_SHARE / most } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;
    use crate::watch::Silent;

    fn lesson(n: usize, outputs: usize) -> (Table, Vec<f64>, Vec<f64>) {
        let mut random = Seed(5).stream("lesson");
        let rows: Vec<f64> = (0..n * 2).map(|_| random.normal()).collect();
        let targets = (0..n * outputs).map(|p| (rows[p / outputs * 2] * (1 + p % outputs) as f64).sin()).collect();
        let weights = (0..n).map(|i| (i % 4) as f64).collect();
        (Table { rows, n, d: 2, used: vec![0, 1], width: 2 }, targets, weights)
    }

    #[test]
    fn the_gradient_is_that_of_finite_differences() {
        let (table, targets, weights) = lesson(600, 2);
        let lesson = NetProblem { table: &table, targets: &targets, outputs: 2, weights: &weights };
        let clusters = k_means(&table.rows, table.d, &weights, 4, &mut Seed(0).stream("centres"));
        let mut shape = clusters.centres.clone();
        shape.extend(lesson.widths(&clusters, Widths::Nearest).iter().map(|s| s.ln()));
        let lambda = 0.01;
        let gradient = lesson.gradient(&lesson.point(&shape, lambda).unwrap());
        let size = dot(&gradient, &gradient).sqrt();
        assert!(size > 1e-3, "{size}");
        for j in 0..shape.len() {
            let at = |step: f64| {
                let mut moved = shape.clone();
                moved[j] += step;
                lesson.point(&moved, lambda).unwrap().objective
            };
            let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((slope - gradient[j]).abs() < 1e-6 * size, "{j}: {slope} {}", gradient[j]);
        }
    }

    #[test]
    fn output_weights_solve_the_normal_equations_and_steps_only_gain() {
        let (table, targets, weights) = lesson(300, 1);
        let lesson = NetProblem { table: &table, targets: &targets, outputs: 1, weights: &weights };
        let mut last = f64::INFINITY;
        for steps in [0, 1, 3, 10] {
            let options = NetOptions { centres: 6, lambda: 0.02, widths: Widths::Cluster, steps };
            let taught = lesson.learn(&options, &mut Seed(1).stream("net"), &Silent).unwrap();
            assert!(taught.objective < last, "{steps}: {} is no gain on {last}", taught.objective);
            assert_eq!((taught.steps, taught.status), (steps, Status::Converged));
            last = taught.objective;
            // Σ v (f − y) g_k / Σ v + λ w_k = 0, and Σ v (f − y) = 0
            let total: f64 = weights.iter().sum();
            let net = &taught.net;
            let mut slopes = [0.0; 7];
            for i in 0..300 {
                let mut g = [1.0; 7];
                net.hidden(table.row(i), &mut g[..6]);
                let f = net.output(&g[..6], 0);
                assert!((f - taught.values[i]).abs() < 1e-12);
                slopes.iter_mut().zip(g).for_each(|(s, g)| *s += weights[i] * (f - targets[i]) * g / total);
            }
            for k in 0..6 {
                assert!((slopes[k] + 0.02 * net.weights[k]).abs() < 1e-12, "{steps} {k}");
            }
            assert!(slopes[6].abs() < 1e-12);
        }
        assert!(last > 0.0);
    }
}
