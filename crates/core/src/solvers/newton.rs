//! Newton's method for linear machines with smooth losses and few coordinates.
//!
//! ```text
//! min over w  P(w) = ½‖w‖² + Σ_i C_i ℓ(y_i, ⟨w, x_i⟩)
//! gradient    w + Σ_i C_i ℓ′ x_i           Hessian    H = 1 + Σ_i C_i ℓ″ x_i x_iᵀ
//! ```
//! Squared losses are quadratic as long as no example crosses its hinge: H is then exact, and a handful of steps of
//! w ← w − t H⁻¹ ∇P end at the minimum itself, where coordinate descent in the dual may need thousands of passes. A step
//! costs n d² multiplications in a matrix product. t is one, or the minimum along the way where one goes too far.
//!
//! # Source
//! Keerthi & DeCoste (2005), A modified finite Newton method for fast solution of large scale linear SVMs, JMLR 6, §2; the
//! stopping rule is a thousandth of that of Lin, Weng & Keerthi (2008), Trust region Newton method, as LIBLINEAR has it.

use super::coordinate_descent::{DescentOptions, Design, LinearLoss, LinearProblems, LinearSolution};
use crate::linalg::SolveError;
use crate::linalg::{Cholesky, dot, gram_of_columns, multiply_add, transposed_multiply};
use crate::parallel;
use crate::watch::{Monitor, Phase, Progress, Status};
use rayon::prelude::*;
use std::ops::ControlFlow;

/// Largest number of coordinates: up to here a factorisation is the work of one thread, and the same bits for any
/// number of them.
const MAX_COORDINATES: usize = 256;
/// Largest number of stored numbers when sparse rows are stored with their zeros.
const MAX_STORED_NUMBERS: usize = 1 << 26;
/// Share of the tolerance at which the iteration ends: the last steps converge quadratically and cost little.
const TOLERANCE_SHARE: f64 = 1e-3;
/// Rows that one thread takes at a time.
const STRIP: usize = 1024;
/// Shares by which the diagonal of a Hessian is raised, one after the other, where rounding has made it indefinite.
const LIFTS: [f64; 4] = [1e-13, 1e-11, 1e-9, 1e-7];
/// Largest number of steps where no limit is given.
const DEFAULT_MAX_STEPS: usize = 1000;

/// True if Newton's method is the better one: the loss is smooth and coordinates are few and fewer than examples.
pub fn suits(design: &Design, loss: LinearLoss) -> bool {
    let smooth = !matches!(loss, LinearLoss::Hinge | LinearLoss::Insensitive(_));
    let (n, d) = (design.len(), design.weights());
    smooth && d <= MAX_COORDINATES && d < n && n.saturating_mul(d) <= MAX_STORED_NUMBERS
}

/// Solves the problems, side by side. `options.max_iterations` are steps; the order of the examples plays no part.
///
/// # Errors
/// If a number is not finite.
pub fn newton(
    problems: &LinearProblems<'_>,
    options: &DescentOptions,
    watch: &dyn Monitor,
) -> Result<Vec<LinearSolution>, SolveError> {
    let rows = problems.design.dense_rows();
    let (d, n) = (problems.design.weights(), problems.design.len());
    if let Some(place) = rows.iter().position(|x| !x.is_finite()) {
        return Err(SolveError::NotFinite { row: place / d.max(1) + 1, column: place % d.max(1) + 1 });
    }
    let one = |p: usize| {
        let y: Vec<f64> = (0..n).map(|i| (problems.targets)(p, i)).collect();
        let curve = Curve { loss: problems.loss, y: &y, costs: problems.costs };
        descend(&rows, d, &curve, options, watch)
    };
    parallel::map(problems.count, one).into_iter().collect()
}

/// The losses of all examples, each as a function of its score.
struct Curve<'a> {
    loss: LinearLoss,
    y: &'a [f64],
    costs: &'a [f64],
}

impl Curve<'_> {
    /// C ℓ, C ℓ′ and C ℓ″ of an example with score f.
    fn at(&self, i: usize, f: f64) -> [f64; 3] {
        let (y, c) = (self.y[i], self.costs[i]);
        match self.loss {
            LinearLoss::Logistic => {
                // log(1 + exp(−yf)) without overflow
                let z = y * f;
                let small = (-z.abs()).exp();
                let value = small.ln_1p() + (-z).max(0.0);
                let wrong = if z > 0.0 { small / (1.0 + small) } else { 1.0 / (1.0 + small) };
                [c * value, -c * y * wrong, c * wrong * (1.0 - wrong)]
            }
            LinearLoss::Hinge | LinearLoss::SquaredHinge => quadratic(c, (1.0 - y * f).max(0.0), -y),
            LinearLoss::Insensitive(epsilon) | LinearLoss::SquaredInsensitive(epsilon) => {
                let error = f - y;
                quadratic(c, (error.abs() - epsilon).max(0.0), error.signum())
            }
        }
    }

    /// The term that the multiplier c_i = −C ℓ′ adds to the dual objective −½‖Σ c_i x_i‖² + Σ.
    fn dual(&self, i: usize, multiplier: f64) -> f64 {
        let (y, c) = (self.y[i], self.costs[i]);
        if c == 0.0 {
            return 0.0;
        }
        let size = multiplier.abs();
        match self.loss {
            LinearLoss::Logistic => {
                let part = size / c;
                let entropy = |p: f64| if p > 0.0 { p * p.ln() } else { 0.0 };
                -c * (entropy(part) + entropy(1.0 - part))
            }
            LinearLoss::Hinge | LinearLoss::SquaredHinge => size - 0.25 * size * size / c,
            LinearLoss::Insensitive(epsilon) | LinearLoss::SquaredInsensitive(epsilon) => {
                y * multiplier - epsilon * size - 0.25 * size * size / c
            }
        }
    }

    /// The share of the smaller class; one where there are no classes.
    fn smaller_share(&self) -> f64 {
        if matches!(self.loss, LinearLoss::Insensitive(_) | LinearLoss::SquaredInsensitive(_)) {
            return 1.0;
        }
        let (n, plus) = (self.y.len(), self.y.iter().filter(|y| **y > 0.0).count());
        plus.min(n - plus).max(1) as f64 / n.max(1) as f64
    }
}

/// c s² for a slack s that changes with the score by `slope` = ±1.
fn quadratic(c: f64, slack: f64, slope: f64) -> [f64; 3] {
    let curvature = if slack > 0.0 { 2.0 * c } else { 0.0 };
    [c * slack * slack, 2.0 * c * slack * slope, curvature]
}

/// One problem.
fn descend(
    rows: &[f64],
    d: usize,
    curve: &Curve<'_>,
    options: &DescentOptions,
    watch: &dyn Monitor,
) -> Result<LinearSolution, SolveError> {
    let n = curve.y.len();
    let limit = if options.max_iterations == 0 { DEFAULT_MAX_STEPS } else { options.max_iterations };
    let (mut w, mut scores) = (vec![0.0; d], vec![0.0; n]);
    let (mut steps, mut enough) = (0, 0.0);
    loop {
        let at: Vec<[f64; 3]> = scores.par_iter().enumerate().map(|(i, &f)| curve.at(i, f)).collect();
        let slopes: Vec<f64> = at.iter().map(|a| a[1]).collect();
        let gradient = sum(&w, &transposed_multiply(rows, d, &slopes, 1));
        let size = dot(&gradient, &gradient).sqrt();
        if !size.is_finite() {
            return Err(SolveError::NotFinite { row: 1, column: 1 });
        }
        if steps == 0 {
            enough = TOLERANCE_SHARE * options.tolerance * curve.smaller_share() * size;
        }
        let progress = Progress::new(Phase::new("newton"), steps).gap(size);
        let status = match watch.step(&progress) {
            ControlFlow::Break(stop) => Some(stop.into()),
            ControlFlow::Continue(()) if size <= enough => Some(Status::Converged),
            ControlFlow::Continue(()) if steps == limit => Some(Status::IterationLimit),
            ControlFlow::Continue(()) => None,
        };
        if let Some(status) = status {
            return Ok(solution(rows, d, curve, (w, &at, &gradient), steps, status));
        }
        let mut step = gradient;
        hessian(rows, d, &at)?.solve(&mut step, 1);
        step.iter_mut().for_each(|s| *s = -*s);
        let moves = products(rows, d, &step);
        let t = along(curve, (&w, &scores), (&step, &moves));
        steps += 1;
        let before = w.clone();
        w.iter_mut().zip(&step).for_each(|(w, s)| *w += t * s);
        scores.iter_mut().zip(&moves).for_each(|(f, m)| *f += t * m);
        // nothing that a number can express is left to gain
        if w == before {
            enough = f64::INFINITY;
        }
    }
}

/// The factor of 1 + Σ C ℓ″ x xᵀ, from the examples that have curvature.
fn hessian(rows: &[f64], d: usize, at: &[[f64; 3]]) -> Result<Cholesky, SolveError> {
    let curved: Vec<(usize, f64)> =
        at.iter().enumerate().filter(|(_, a)| a[2] > 0.0).map(|(i, a)| (i, a[2].sqrt())).collect();
    let mut scaled = vec![0.0; curved.len() * d];
    parallel::strips_beside((&mut scaled, STRIP * d), (&curved, STRIP), |out, some| {
        for (line, &(i, root)) in out.chunks_exact_mut(d).zip(some) {
            line.iter_mut().zip(&rows[i * d..(i + 1) * d]).for_each(|(o, x)| *o = root * x);
        }
    });
    let gram = || gram_of_columns(&scaled, curved.len(), d);
    let mut factor = super::direct::factor_shifted(gram(), d, 1.0);
    for share in LIFTS {
        if !matches!(factor, Err(SolveError::Pivot { .. })) {
            break;
        }
        // products of large coordinates have swallowed the 1, and of few examples they have not full rank: directions that no example
        // has anything to say about go more slowly, which the step along the others does not feel
        let mut lifted = gram();
        lifted.iter_mut().step_by(d + 1).for_each(|pivot| *pivot *= 1.0 + share);
        factor = super::direct::factor_shifted(lifted, d, 1.0);
    }
    factor
}

/// X v.
fn products(rows: &[f64], d: usize, v: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; rows.len() / d.max(1)];
    parallel::strips_beside((&mut out, STRIP), (rows, STRIP * d), |out, rows| {
        multiply_add(rows, out.len(), d, v, 1, out);
    });
    out
}

/// The length of the step: one, unless the slope along the way has turned by then; then where it is nearly zero.
fn along(curve: &Curve<'_>, (w, scores): (&[f64], &[f64]), (step, moves): (&[f64], &[f64])) -> f64 {
    let (w_step, step_step) = (dot(w, step), dot(step, step));
    let slope = |t: f64| {
        let one = |i: usize| curve.at(i, scores[i] + t * moves[i])[1] * moves[i];
        // fixed strips, so that the sum does not depend on the threads
        let strip = |k: usize| (k * STRIP..((k + 1) * STRIP).min(scores.len())).map(one).sum::<f64>();
        let sums: Vec<f64> = parallel::map(scores.len().div_ceil(STRIP), strip);
        w_step + t * step_step + sums.iter().sum::<f64>()
    };
    let first = slope(0.0);
    let (mut low, mut high, mut t) = (0.0, 1.0, 1.0);
    for _ in 0..30 {
        let now = slope(t);
        if now.abs() <= 0.1 * first.abs() || (t == 1.0 && now < 0.0) {
            break;
        }
        if now > 0.0 {
            high = t;
        } else {
            low = t;
        }
        t = 0.5 * (low + high);
    }
    t
}

/// The solution with its evidence.
fn solution(
    rows: &[f64],
    d: usize,
    curve: &Curve<'_>,
    (weights, at, gradient): (Vec<f64>, &[[f64; 3]], &[f64]),
    iterations: usize,
    status: Status,
) -> LinearSolution {
    let coefficients: Vec<f64> = at.iter().map(|a| -a[1]).collect();
    let by_multipliers = transposed_multiply(rows, d, &coefficients, 1);
    let gains: f64 = coefficients.iter().enumerate().map(|(i, &c)| curve.dual(i, c)).sum();
    LinearSolution {
        primal: 0.5 * dot(&weights, &weights) + at.iter().map(|a| a[0]).sum::<f64>(),
        dual: gains - 0.5 * dot(&by_multipliers, &by_multipliers),
        violation: gradient.iter().fold(0.0, |most, g| g.abs().max(most)),
        weights,
        coefficients,
        iterations,
        status,
    }
}

fn sum(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;
    use crate::solvers::coordinate_descent::coordinate_descent;
    use crate::watch::{Silent, Stop};

    const LOSSES: [LinearLoss; 3] =
        [LinearLoss::SquaredHinge, LinearLoss::Logistic, LinearLoss::SquaredInsensitive(0.2)];

    fn data(n: usize, d: usize) -> (Vec<f64>, Vec<f64>) {
        let mut random = Seed(5).stream("newton");
        let x: Vec<f64> = (0..n * d).map(|_| random.normal()).collect();
        let y = (0..n).map(|i| x[i * d] - 0.5 * x[i * d + 1] + 0.8 * random.normal()).collect();
        (x, y)
    }

    fn targets(loss: LinearLoss, y: &[f64]) -> Vec<f64> {
        match loss {
            LinearLoss::SquaredInsensitive(_) => y.to_vec(),
            _ => y.iter().map(|y| y.signum()).collect(),
        }
    }

    fn options(tolerance: f64, max_iterations: usize) -> DescentOptions {
        DescentOptions { tolerance, max_iterations, seed: Seed(0) }
    }

    #[test]
    fn the_minimum_is_that_of_coordinate_descent_dense_and_sparse() {
        let (n, d) = (400, 7);
        let (x, y) = data(n, d);
        let starts: Vec<usize> = (0..=n).map(|i| i * d).collect();
        let coordinates = x.iter().enumerate().map(|(p, &v)| ((p % d) as u32, v));
        for loss in LOSSES {
            let y = targets(loss, &y);
            let costs: Vec<f64> = (0..n).map(|i| [3.0, 0.0, 0.1][i % 3]).collect();
            let column = |_: usize, i: usize| y[i];
            for design in [
                Design::dense(&x, n, d, 2.0, Some(0.7)),
                Design::sparse(coordinates.clone(), &starts, d, 2.0, Some(0.7)),
            ] {
                assert!(suits(&design, loss));
                let problems = LinearProblems { design: &design, count: 1, targets: &column, costs: &costs, loss };
                let ours = newton(&problems, &options(1e-4, 0), &Silent).unwrap().remove(0);
                let other = coordinate_descent(&problems, &options(1e-9, 0), &Silent).unwrap().remove(0);
                assert_eq!(ours.status, Status::Converged);
                assert!(ours.iterations < 20, "{loss:?}: {} steps", ours.iterations);
                for (a, b) in ours.weights.iter().zip(&other.weights) {
                    assert!((a - b).abs() < 1e-5, "{loss:?}: {a} {b}");
                }
                assert!((ours.primal - other.primal).abs() < 1e-7 * other.primal, "{loss:?}");
                assert!(ours.gap() >= -1e-9 * ours.primal && ours.gap() < 1e-7 * ours.primal, "{}", ours.gap());
            }
        }
    }

    #[test]
    fn hard_problems_converge_and_the_way_goes_down() {
        // classes apart, huge costs: full steps overshoot
        let (n, d) = (300, 5);
        let (x, y) = data(n, d);
        for loss in LOSSES {
            let y: Vec<f64> = targets(loss, &y)
                .iter()
                .zip(x.chunks(d))
                .map(|(y, x)| if y.abs() == 1.0 { x[0].signum() } else { *y })
                .collect();
            let (costs, column) = (vec![1e6; n], |_: usize, i: usize| y[i]);
            let design = Design::dense(&x, n, d, 1.0, Some(1.0));
            let problems = LinearProblems { design: &design, count: 1, targets: &column, costs: &costs, loss };
            let values: Vec<f64> =
                (1..12).map(|k| newton(&problems, &options(1e-6, k), &Silent).unwrap()[0].primal).collect();
            assert!(values.windows(2).all(|v| v[1] <= v[0] * (1.0 + 1e-12)), "{loss:?}: {values:?}");
            let end = newton(&problems, &options(1e-6, 0), &Silent).unwrap().remove(0);
            assert_eq!(end.status, Status::Converged, "{loss:?}");
            assert!(end.gap() < 1e-4 * end.primal, "{loss:?}: {} of {}", end.gap(), end.primal);
        }
    }

    #[test]
    fn coordinates_of_any_size_are_learned_from() {
        // classes apart: in the end fewer examples have curvature than there are coordinates
        let (n, d) = (200, 5);
        let (x, y) = data(n, d);
        for size in [1e8, 1e14, 1e18, 1e60] {
            let large: Vec<f64> = x.iter().map(|x| x * size).collect();
            for loss in LOSSES {
                let y: Vec<f64> = targets(loss, &y)
                    .iter()
                    .zip(x.chunks(d))
                    .map(|(y, x)| if y.abs() == 1.0 { x[0].signum() } else { *y })
                    .collect();
                let (costs, column) = (vec![1.0; n], |_: usize, i: usize| y[i]);
                let design = Design::dense(&large, n, d, 1.0, Some(1.0));
                let problems = LinearProblems { design: &design, count: 1, targets: &column, costs: &costs, loss };
                let found = newton(&problems, &options(1e-4, 0), &Silent).unwrap().remove(0);
                assert_eq!(found.status, Status::Converged, "{loss:?} {size}");
                let right = |(i, x): (usize, &[f64])| {
                    let score = found.weights[0] + dot(&found.weights[1..=d], x);
                    if y[i].abs() == 1.0 { score * y[i] > 0.0 } else { (score - y[i]).abs() < 3.0 }
                };
                let errors = large.chunks(d).enumerate().filter(|one| !right(*one)).count();
                assert!(errors <= n / 50, "{loss:?} {size}: {errors} errors");
            }
        }
    }

    #[test]
    fn the_same_bits_for_any_number_of_threads() {
        let (n, d) = (3000, 40);
        let (x, y) = data(n, d);
        let design = Design::dense(&x, n, d, 1.0, None);
        for loss in LOSSES {
            let (y, costs) = (targets(loss, &y), vec![1.0; n]);
            let column = |p: usize, i: usize| if p == 0 { y[i] } else { -y[i] };
            let problems = LinearProblems { design: &design, count: 2, targets: &column, costs: &costs, loss };
            let with = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| newton(&problems, &options(1e-4, 0), &Silent).unwrap()[1].weights.clone())
            };
            assert_eq!(with(1), with(3), "{loss:?}");
        }
    }

    #[test]
    fn a_stop_keeps_what_there_is() {
        struct Stopping;
        impl Monitor for Stopping {
            fn step(&self, progress: &Progress) -> ControlFlow<Stop> {
                if progress.done < 2 { ControlFlow::Continue(()) } else { ControlFlow::Break(Stop::Interrupted) }
            }
        }
        let (x, y) = data(200, 3);
        let design = Design::dense(&x, 200, 3, 1.0, None);
        let (costs, column) = (vec![1.0; 200], |_: usize, i: usize| y[i].signum());
        let loss = LinearLoss::SquaredHinge;
        let problems = LinearProblems { design: &design, count: 1, targets: &column, costs: &costs, loss };
        let found = newton(&problems, &options(1e-12, 0), &Stopping).unwrap().remove(0);
        assert_eq!((found.status, found.iterations), (Status::Interrupted, 2));
        assert!(found.primal.is_finite() && found.weights.iter().any(|w| *w != 0.0));
        assert_eq!(newton(&problems, &options(1e-12, 1), &Silent).unwrap()[0].status, Status::IterationLimit);
    }

    #[test]
    fn wide_data_and_kinks_are_left_to_coordinate_descent() {
        let design = Design::dense(&vec![1.0; 300 * 280], 300, 280, 1.0, None);
        assert!(!suits(&design, LinearLoss::SquaredHinge));
        let design = Design::dense(&[1.0; 30], 5, 6, 1.0, None);
        assert!(!suits(&design, LinearLoss::Logistic));
        let design = Design::dense(&[1.0; 30], 10, 3, 1.0, None);
        assert!(suits(&design, LinearLoss::Logistic) && !suits(&design, LinearLoss::Hinge));
        assert!(!suits(&design, LinearLoss::Insensitive(0.1)));
    }
}
