//! The bordered system of the penalty on coefficients by one factor of a shifted K and conjugate gradients.

use super::direct::{bordered, conclude, excess};
use super::{Aim, Discriminants, Quadratic, column_sums};
use crate::gram::{Gram, fill};
use crate::linalg::SolveError;
use crate::linalg::{Cholesky, dot};
use crate::solvers::direct::{finite, squares};
use crate::watch::{Monitor, Phase, Progress};

/// Share of its first residual at which a pass of conjugate gradients ends.
const PASS_TOLERANCE: f64 = 1e-11;
/// Largest number of steps of a pass: about 13 are wanted for equal weights.
const MAX_STEPS: usize = 64;
/// Largest number of passes, each on the residual of the one before.
const MAX_PASSES: usize = 6;
/// Relative residual of the system at which no other pass is wanted.
const RESIDUAL_WANTED: f64 = 1e-9;

/// The discriminants alone, without what leaving out an example needs: the bordered system by its own factor for the norm,
/// and [`shifted`] for coefficients unless that leaves so much of the system that the factor of the square may leave less.
pub fn discriminants(gram: &dyn Gram, aim: &Aim<'_>, watch: &dyn Monitor) -> Result<Discriminants, SolveError> {
    if aim.penalty == Quadratic::Norm {
        return Ok(bordered(gram, aim, watch)?.found);
    }
    match shifted(gram, aim, watch)? {
        Some(found) if found.holds() => Ok(found),
        near => nearer(near, bordered(gram, aim, watch).map(|direct| direct.found)),
    }
}

/// A solution by the factor of the square, and where that is none, since the square has no digits left of what λ adds, the nearer one of
/// it and of [`shifted`].
pub fn mended(
    direct: Result<Discriminants, SolveError>,
    gram: &dyn Gram,
    aim: &Aim<'_>,
    watch: &dyn Monitor,
) -> Result<Discriminants, SolveError> {
    let fails = match &direct {
        Ok(found) => !found.holds(),
        Err(error) => matches!(error, SolveError::Pivot { .. }),
    };
    if fails && aim.penalty == Quadratic::Coefficients { nearer(shifted(gram, aim, watch)?, direct) } else { direct }
}

/// The one that leaves less of the system.
fn nearer(
    shifted: Option<Discriminants>,
    direct: Result<Discriminants, SolveError>,
) -> Result<Discriminants, SolveError> {
    match (shifted, direct) {
        (Some(near), Ok(direct)) if near.relative_residual < direct.relative_residual => Ok(near),
        (Some(near), Err(SolveError::Pivot { .. })) => Ok(near),
        (_, direct) => direct,
    }
}

/// Solves (K² + D²)γ + b1 = y, 1ᵀγ = 0 with D² = λW⁻¹ for all right-hand sides, without K². `None` where K + D has no factor or
/// conjugate gradients do not get on.
///
/// With C = K + D the matrix is near to C²: that is at most twice K² + D², since (K − D)² ≥ 0. The other way round
/// K² + D² is at most (1 + κ)/2 times C², where κ² is the ratio of the largest to the smallest weight: x and Dx are at most
/// an angle φ with sin φ = (κ − 1)/(κ + 1) apart, and Kx is at most a right angle from x, so ‖Cx‖² ≥ (1 − sin φ)(‖Kx‖² +
/// ‖Dx‖²). Hence C⁻¹(K² + D²)C⁻¹ has a condition of at most 1 + κ, which is 2 for equal weights, where
/// an error falls to less than a fifth in a step. As K = C − D that matrix times x is x − Dq − C⁻¹(Dx − 2D²q) with q = C⁻¹x: two solutions, and no product
/// with K. The condition of C is the root of that of K² + D².
///
/// # Source
/// The system is that of Mika (2002), eq. (3.64), with β = λγ; the bounds are derived above.
///
/// # Cost
/// n³/3 multiplications; 4 n² for each step and right-hand side (the offset's among them), which need the triangle four
/// times from memory, about 13 times for equal weights; n² numbers.
pub fn shifted(gram: &dyn Gram, aim: &Aim<'_>, watch: &dyn Monitor) -> Result<Option<Discriminants>, SolveError> {
    let (n, k) = (aim.len(), aim.outputs);
    watch.alive(Phase::KERNEL_MATRIX.into())?;
    let mut matrix = vec![0.0; n * n];
    fill(gram, &mut matrix);
    finite(&matrix, n)?;
    let shift: Vec<f64> = aim.weights.iter().map(|w| (aim.lambda / w).sqrt()).collect();
    let mut own = vec![0.0; n];
    for (i, own) in own.iter_mut().enumerate() {
        *own = matrix[i * n + i];
        matrix[i * n + i] += shift[i];
    }
    watch.alive(Phase::FACTORISATION.into())?;
    let Ok(factor) = Cholesky::factor(matrix, n) else { return Ok(None) };
    let excess = excess(&factor, &own);
    let system = Shifted { factor, shift, excess, watch };
    // the offset is eliminated: u = A⁻¹1, t = A⁻¹y, b = 1ᵀt / 1ᵀu, γ = t − bu
    let mut right = turned(aim.y, n, k);
    right.extend(vec![1.0; n]);
    let Some(mut ones) = system.solve(&right)? else { return Ok(None) };
    let mut step: Vec<f64> = ones.drain(..n * k).collect();
    let total: f64 = ones.iter().sum();
    let mut point = Point { alpha: vec![0.0; n * k], gamma: vec![0.0; n * k], offsets: vec![0.0; k] };
    let mut lack = vec![0.0; n * k];
    let mut best: Option<(f64, Discriminants)> = None;
    for pass in 1.. {
        let sums = column_sums(&point.gamma, k, |_| 1.0);
        for (c, sum) in sums.iter().enumerate() {
            let step = &mut step[c * n..(c + 1) * n];
            let more = (sum + step.iter().sum::<f64>()) / total;
            point.offsets[c] += more;
            step.iter_mut().zip(&ones).for_each(|(s, u)| *s -= more * u);
        }
        let step_rows = turned(&step, k, n);
        let moved = system.kernel(&step_rows, k);
        point.gamma.iter_mut().zip(&step_rows).for_each(|(g, s)| *g += s);
        point.alpha.iter_mut().zip(moved.iter().zip(&lack)).for_each(|(a, (m, l))| *a += m + l);
        let left = system.left(aim, &point);
        lack = left.lack;
        let size = squares(&left.residual) + aim.lambda * squares(&lack);
        if !size.is_finite() || best.as_ref().is_some_and(|(before, _)| size > 0.25 * before) {
            break;
        }
        let mut found = conclude(aim, point.alpha.clone(), &point.gamma, point.offsets.clone(), &left.residual, 0.0);
        for (p, gap) in found.gaps.iter_mut().flatten().enumerate() {
            *gap += 0.5 * aim.lambda * lack.iter().skip(p).step_by(k).map(|l| l * l).sum::<f64>();
        }
        let whole = squares(aim.y).max(f64::MIN_POSITIVE);
        let enough = size <= RESIDUAL_WANTED * RESIDUAL_WANTED * whole || pass == MAX_PASSES;
        best = Some((size, found));
        if enough {
            break;
        }
        // (K² + D²)Δγ = r − K(Kγ − α), and Δα = KΔγ + (Kγ − α)
        let image = system.kernel(&lack, k);
        let right: Vec<f64> = left.residual.iter().zip(&image).map(|(r, i)| r - i).collect();
        match system.solve(&turned(&right, n, k))? {
            Some(next) => step = next,
            None => break,
        }
    }
    Ok(best.map(|(_, found)| found))
}

/// α, γ and b on their way, row by row.
///
/// α is Kγ, but refined on its own: where K is large, rounding in the product Kγ is much of what α should be.
struct Point {
    alpha: Vec<f64>,
    gamma: Vec<f64>,
    offsets: Vec<f64>,
}

/// What a point lacks.
struct Left {
    /// y − Kα − D²γ − b1.
    residual: Vec<f64>,
    /// Kγ − α.
    lack: Vec<f64>,
}

/// Rows by columns become columns by rows.
fn turned(x: &[f64], rows: usize, columns: usize) -> Vec<f64> {
    (0..x.len()).map(|p| x[(p % rows.max(1)) * columns + p / rows.max(1)]).collect()
}

struct Shifted<'a> {
    /// Of C = K + D.
    factor: Cholesky,
    /// The diagonal of D.
    shift: Vec<f64>,
    /// The diagonal of C less that of K.
    excess: Vec<f64>,
    watch: &'a dyn Monitor,
}

impl Shifted<'_> {
    /// C⁻¹(K² + D²)C⁻¹X for columns one after the other.
    fn apply(&self, x: &[f64]) -> Vec<f64> {
        let n = self.shift.len();
        let mut q = x.to_vec();
        self.factor.solve_columns(&mut q);
        let mut s: Vec<f64> = Vec::with_capacity(x.len());
        for (x, q) in x.chunks_exact(n.max(1)).zip(q.chunks_exact(n.max(1))) {
            s.extend(x.iter().zip(q).zip(&self.shift).map(|((x, q), d)| d * (x - 2.0 * d * q)));
        }
        self.factor.solve_columns(&mut s);
        for ((s, x), q) in s.chunks_exact_mut(n.max(1)).zip(x.chunks_exact(n.max(1))).zip(q.chunks_exact(n.max(1))) {
            for (((s, x), q), d) in s.iter_mut().zip(x).zip(q).zip(&self.shift) {
                *s = x - d * q - *s;
            }
        }
        s
    }

    /// (K² + D²)⁻¹R for columns one after the other; `None` where the steps do not suffice.
    fn solve(&self, right: &[f64]) -> Result<Option<Vec<f64>>, SolveError> {
        let n = self.shift.len();
        let mut residual = right.to_vec();
        self.factor.solve_columns(&mut residual);
        let sizes = |x: &[f64]| x.chunks_exact(n.max(1)).map(squares).collect::<Vec<f64>>();
        let mut rest = sizes(&residual);
        let wanted: Vec<f64> = rest.iter().map(|r| PASS_TOLERANCE * PASS_TOLERANCE * r).collect();
        let (mut x, mut p) = (vec![0.0; right.len()], residual.clone());
        for step in 0..MAX_STEPS {
            if rest.iter().zip(&wanted).all(|(r, w)| r <= w) {
                self.factor.solve_columns(&mut x);
                return Ok(Some(x));
            }
            self.watch.alive(Progress::new(Phase::CONJUGATE_GRADIENTS, step))?;
            let image = self.apply(&p);
            for (c, rest) in rest.iter_mut().enumerate().filter(|(c, r)| **r > wanted[*c]) {
                let own = c * n..(c + 1) * n;
                let (p, image, residual) = (&mut p[own.clone()], &image[own.clone()], &mut residual[own.clone()]);
                let length = *rest / dot(p, image);
                x[own].iter_mut().zip(&*p).for_each(|(x, p)| *x += length * p);
                residual.iter_mut().zip(image).for_each(|(r, i)| *r -= length * i);
                let after = squares(residual);
                let turn = after / *rest;
                p.iter_mut().zip(&*residual).for_each(|(p, r)| *p = r + turn * *p);
                *rest = after;
            }
            if !rest.iter().all(|r| r.is_finite()) {
                break;
            }
        }
        Ok(None)
    }

    /// KX, row by row.
    fn kernel(&self, x: &[f64], k: usize) -> Vec<f64> {
        let mut image = self.factor.multiply(x, k);
        image.iter_mut().zip(x).enumerate().for_each(|(p, (i, x))| *i -= self.excess[p / k] * x);
        image
    }

    fn left(&self, aim: &Aim<'_>, point: &Point) -> Left {
        let k = aim.outputs;
        let image = self.kernel(&point.alpha, k);
        let lack = self.kernel(&point.gamma, k).iter().zip(&point.alpha).map(|(i, a)| i - a).collect();
        let rest = |p: usize| aim.y[p] - image[p] - self.shift[p / k].powi(2) * point.gamma[p] - point.offsets[p % k];
        Left { residual: (0..aim.y.len()).map(rest).collect(), lack }
    }
}
