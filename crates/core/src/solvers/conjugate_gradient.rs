//! (K + λI) α = Y by conjugate gradients: K is streamed or stored, and only ever applied.

use super::direct::{difference, squares};
use crate::gram::{BlockMut, Gram, Pick, apply, diagonal};
use crate::linalg::SolveError;
use crate::watch::{Monitor, Phase, Progress, Status};

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub struct CgOptions {
    /// Converged when ‖y − (K + λI)α‖ ≤ tolerance · ‖y‖ for every output.
    pub tolerance: f64,
    /// The most steps.
    pub max_iterations: usize,
}

/// The residual that was reached.
#[derive(Clone, Debug)]
pub struct CgSolution {
    /// α, n × outputs numbers row by row.
    pub alpha: Vec<f64>,
    /// Y − (K + λI) α, computed anew from the α returned and not from the recurrence.
    pub residual: Vec<f64>,
    /// Status of the solver.
    pub status: Status,
    /// Steps taken; each streams K once for all outputs.
    pub iterations: usize,
}

/// Solves (K + λI) α = Y for `outputs` right-hand sides at once, preconditioned by the diagonal of K + λI (Hestenes &
/// Stiefel 1952; every output has its own step lengths and shares the pass over K).
///
/// A column that has converged stands still. If rounding has parted the recurrence from the true residual, it is started
/// again from there; when that no longer helps, the status says that the limit was reached.
pub fn conjugate_gradient(
    gram: &dyn Gram,
    lambda: f64,
    y: &[f64],
    outputs: usize,
    options: &CgOptions,
    watch: &dyn Monitor,
) -> Result<CgSolution, SolveError> {
    let n = gram.shape().0;
    let scale: Vec<f64> = diagonal(gram).iter().map(|k| k + lambda).collect();
    if let Some(i) = scale.iter().position(|s| !s.is_finite()) {
        return Err(SolveError::NotFinite { row: i + 1, column: i + 1 });
    }
    if let Some(i) = scale.iter().position(|&s| s <= 0.0) {
        return Err(SolveError::Pivot { index: i + 1, value: scale[i], remedy: "increase lambda" });
    }
    let column = |x: &[f64], c: usize| x.iter().skip(c).step_by(outputs).map(|x| x * x).sum::<f64>().sqrt();
    let goal: Vec<f64> = (0..outputs).map(|c| options.tolerance * column(y, c)).collect();
    let mut alpha = vec![0.0; n * outputs];
    let mut residual = y.to_vec();
    let mut image = vec![0.0; n * outputs];
    let (mut iterations, mut before) = (0, f64::INFINITY);
    loop {
        let size = squares(&residual);
        if !size.is_finite() {
            return Err(not_finite(gram));
        }
        let open = |r: &[f64]| (0..outputs).any(|c| column(r, c) > goal[c]);
        if !open(&residual) {
            return Ok(CgSolution { alpha, residual, status: Status::Converged, iterations });
        }
        // a start from the true residual that gains less than half is at the end of what rounding allows
        if iterations >= options.max_iterations || size > 0.25 * before {
            return Ok(CgSolution { alpha, residual, status: Status::IterationLimit, iterations });
        }
        before = size;
        let stop = round(Round {
            gram,
            lambda,
            outputs,
            scale: &scale,
            goal: &goal,
            alpha: &mut alpha,
            residual: residual.clone(),
            iterations: &mut iterations,
            max_iterations: options.max_iterations,
            watch,
        })?;
        apply(gram, &alpha, outputs, &mut image);
        for (f, a) in image.iter_mut().zip(&alpha) {
            *f += lambda * a;
        }
        residual = difference(y, &image);
        if let Some(status) = stop {
            let status = if open(&residual) { status } else { Status::Converged };
            return Ok(CgSolution { alpha, residual, status, iterations });
        }
    }
}

/// One run of the recurrence.
struct Round<'a> {
    gram: &'a dyn Gram,
    lambda: f64,
    outputs: usize,
    scale: &'a [f64],
    goal: &'a [f64],
    alpha: &'a mut [f64],
    residual: Vec<f64>,
    iterations: &'a mut usize,
    max_iterations: usize,
    watch: &'a dyn Monitor,
}

/// Steps until the recurrence's residuals have reached the goal, the limit is reached, or the monitor says stop.
fn round(run: Round<'_>) -> Result<Option<Status>, SolveError> {
    let Round { gram, lambda, outputs, scale, goal, alpha, mut residual, iterations, max_iterations, watch } = run;
    let rows = scale.len();
    let start = squares(&residual).sqrt();
    let sums = |a: &[f64], b: &[f64]| {
        let mut sums = vec![0.0; outputs];
        for (p, (a, b)) in a.iter().zip(b).enumerate() {
            sums[p % outputs] += a * b;
        }
        sums
    };
    let precondition = |r: &[f64]| r.iter().enumerate().map(|(p, r)| r / scale[p / outputs]).collect::<Vec<f64>>();
    let mut solved = precondition(&residual);
    let mut direction = solved.clone();
    let mut product = sums(&residual, &solved);
    let mut image = vec![0.0; rows * outputs];
    loop {
        let norms: Vec<f64> = sums(&residual, &residual).iter().map(|s| s.sqrt()).collect();
        let live: Vec<bool> = norms.iter().zip(goal).map(|(n, g)| n > g).collect();
        if !live.contains(&true) || *iterations >= max_iterations {
            return Ok(None);
        }
        let gap = squares(&norms).sqrt() / start;
        let progress = Progress::new(Phase::CONJUGATE_GRADIENTS, *iterations).of(max_iterations).gap(gap);
        if let Err(stop) = watch.alive(progress) {
            return Ok(Some(stop.into()));
        }
        apply(gram, &direction, outputs, &mut image);
        for (f, d) in image.iter_mut().zip(&direction) {
            *f += lambda * d;
        }
        *iterations += 1;
        let curvature = sums(&direction, &image);
        let mut length = vec![0.0; outputs];
        for c in 0..outputs {
            if !curvature[c].is_finite() {
                return Err(not_finite(gram));
            }
            if live[c] {
                if curvature[c] <= 0.0 {
                    return Err(SolveError::Pivot {
                        index: *iterations,
                        value: curvature[c],
                        remedy: "increase lambda",
                    });
                }
                length[c] = product[c] / curvature[c];
            }
        }
        for p in 0..alpha.len() {
            alpha[p] += length[p % outputs] * direction[p];
            residual[p] -= length[p % outputs] * image[p];
        }
        solved = precondition(&residual);
        let next = sums(&residual, &solved);
        for p in 0..direction.len() {
            let c = p % outputs;
            if live[c] {
                direction[p] = solved[p] + next[c] / product[c] * direction[p];
            }
        }
        product = next;
    }
}

/// Finds the value of a matrix that spoilt a product or sum.
pub(crate) fn not_finite(gram: &dyn Gram) -> SolveError {
    let (n, m) = gram.shape();
    let mut row = vec![0.0; m];
    for i in 0..n {
        gram.block(Pick::Range(i..i + 1), Pick::Range(0..m), BlockMut::new(&mut row, 1, m));
        if let Some(j) = row.iter().position(|x| !x.is_finite()) {
            return SolveError::NotFinite { row: i + 1, column: j + 1 };
        }
    }
    // every value is finite, but a sum of them was not
    SolveError::NotFinite { row: 1, column: 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gram::Dense;
    use crate::seed::Seed;
    use crate::solvers::direct::solve_shifted;
    use crate::watch::{Silent, Stop};
    use std::ops::ControlFlow;

    fn problem(n: usize) -> (Dense<f64>, Vec<f64>) {
        let mut random = Seed(11).stream("cg");
        let x: Vec<f64> = (0..n).map(|_| 3.0 * random.normal()).collect();
        let k = (0..n * n).map(|p| 2.0 * (-(x[p / n] - x[p % n]).powi(2)).exp()).collect();
        (Dense::new(k, n, n).unwrap(), (0..2 * n).map(|_| random.normal()).collect())
    }

    #[test]
    fn gives_the_direct_solution() {
        let (n, lambda) = (150, 0.05);
        let (k, y) = problem(n);
        let options = CgOptions { tolerance: 1e-11, max_iterations: 1000 };
        let found = conjugate_gradient(&k, lambda, &y, 2, &options, &Silent).unwrap();
        let direct = solve_shifted(k.values().to_vec(), n, lambda, &y, 2).unwrap();
        assert_eq!(found.status, Status::Converged);
        assert!(found.iterations > 5 && squares(&found.residual) <= 2.0 * 1e-22 * squares(&y));
        for (a, b) in found.alpha.iter().zip(&direct.alpha) {
            assert!((a - b).abs() < 1e-8, "{a} {b}");
        }
        // one output that is zero is solved at once and does not disturb the other
        let single: Vec<f64> = y.iter().enumerate().map(|(p, y)| if p % 2 == 0 { *y } else { 0.0 }).collect();
        let alone = conjugate_gradient(&k, lambda, &single, 2, &options, &Silent).unwrap();
        for i in 0..n {
            assert!((alone.alpha[2 * i] - direct.alpha[2 * i]).abs() < 1e-8 && alone.alpha[2 * i + 1] == 0.0);
        }
    }

    /// Stops after so many steps.
    struct After(usize);

    impl Monitor for After {
        fn step(&self, progress: &Progress) -> ControlFlow<Stop> {
            if progress.done >= self.0 { ControlFlow::Break(Stop::TimeLimit) } else { ControlFlow::Continue(()) }
        }
    }

    #[test]
    fn says_how_it_ended() {
        let (k, y) = problem(150);
        let few = CgOptions { tolerance: 1e-10, max_iterations: 3 };
        let found = conjugate_gradient(&k, 1e-3, &y, 2, &few, &Silent).unwrap();
        assert_eq!((found.status, found.iterations), (Status::IterationLimit, 3));
        let options = CgOptions { tolerance: 1e-10, max_iterations: 1000 };
        let found = conjugate_gradient(&k, 1e-3, &y, 2, &options, &After(4)).unwrap();
        assert_eq!((found.status, found.iterations), (Status::TimeLimit, 4));
        // more than rounding can give is not claimed
        let impossible = CgOptions { tolerance: 1e-30, max_iterations: 10_000 };
        let found = conjugate_gradient(&k, 1e-3, &y, 2, &impossible, &Silent).unwrap();
        assert_eq!(found.status, Status::IterationLimit);
        assert!(squares(&found.residual) < 1e-18 * squares(&y));
    }

    #[test]
    fn refuses_what_has_no_solution() {
        let odd = Dense::new(vec![1.0, f64::NAN, f64::NAN, 1.0], 2, 2).unwrap();
        let options = CgOptions { tolerance: 1e-8, max_iterations: 10 };
        let found = conjugate_gradient(&odd, 1.0, &[1.0, 2.0], 1, &options, &Silent).unwrap_err();
        assert_eq!(found, SolveError::NotFinite { row: 1, column: 2 });
        let indefinite = Dense::new(vec![0.1, 5.0, 5.0, 0.1], 2, 2).unwrap();
        let found = conjugate_gradient(&indefinite, 0.1, &[1.0, -1.0], 1, &options, &Silent).unwrap_err();
        assert!(matches!(found, SolveError::Pivot { .. }));
    }
}
