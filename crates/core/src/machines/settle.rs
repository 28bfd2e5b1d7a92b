//! Solutions of support vector machines whose numbers do not depend on the single precision of kernel rows.
//!
//! The solver reads K as K̃, in f32. Two things keep that out of the solution.
//!
//! Where the origin of feature space is far from all examples and an equality makes the problem independent of it, the matrix is seen from
//! one of the examples ([`Referred`]), r_i = K_i0 and t = K_00:
//! ```text
//! K'_ij = K_ij − r_i − r_j + t,   Σβ = S:    βᵀKβ = βᵀK'β + 2S rᵀβ − tS²
//! ½βᵀ(K + D)β − cᵀβ = ½βᵀ(K' + D)β − (c − S r)ᵀβ − ½tS²
//! c − (K + D)β = c − S r − (K' + D)β − q,   q = rᵀβ − tS
//! ```
//! The state, and with it the heights at which rising and falling meet, lie q lower than those of K'.
//!
//! Where the error of the state would show beside the tolerance all the same, the solution is refined. With s = c − (K + D)β₀ in f64, the
//! problem with c̃ = s + (K̃ + D)β₀ in the place of c has the state
//! ```text
//! c̃ − (K̃ + D)β = s − (K̃ + D)(β − β₀)
//! ```
//! which is off by (K̃ − K)(β − β₀) only. It starts at β₀ and mostly ends there.
//!
//! # Source
//! Refinement of a solution by residuals of higher precision: Wilkinson (1963), Rounding errors in algebraic processes, chapter 3.

use super::support::Sub;
use crate::gram::views::{FarOrigin, Referred};
use crate::gram::{BlockMut, Gram, Pick, Side};
use crate::linalg::SolveError;
use crate::parallel;
use crate::solvers::smo::{Equality, Problem, SmoOptions, Solution, Start, Workspace, smo, smo_in_rounds};
use crate::watch::{Monitor, Phase, Progress, Status, Stop};
use std::sync::{Arc, OnceLock};

/// The largest rounding of a number in f32, and of one in f64, relative to its size.
const SINGLE: f64 = f32::EPSILON as f64 / 2.0;
const DOUBLE: f64 = f64::EPSILON / 2.0;
/// Largest number of rows, and of kernel values, of which products in f64 are taken at a time.
const STRIP: usize = 64;
const PIECE: usize = 1 << 17;
/// The part of the tolerance that the error of a state may be. Roundings of kernel values below κ(x, x) are smaller than is reckoned here.
const SHARE: f64 = 1.0;
/// Largest number of refinements.
const MAX_ROUNDS: usize = 5;
/// A refinement that leaves more than this part of the error will not end.
const STALLED: f64 = 0.5;
/// The rounding of ‖w‖², relative to the sum of sizes: what is below zero by less is zero.
const LENGTH_ERROR: f64 = 1e-6;

/// A matrix with its diagonal.
struct Seen {
    gram: Arc<dyn Gram>,
    own: Vec<f64>,
    /// What leads back to the matrix itself, where it is seen from an example.
    origin: Option<(Arc<[f64]>, f64)>,
}

/// A matrix as the origin of feature space sees it, and as one of its examples does.
pub(super) struct Matrix {
    plain: Seen,
    /// True if the origin is far away, and f64 has digits of the distances.
    far: bool,
    /// Made where it is needed.
    referred: OnceLock<Option<Seen>>,
}

impl Matrix {
    /// The matrix with its diagonal, which are finite numbers.
    pub(super) fn new(gram: &Arc<dyn Gram>, own: Vec<f64>) -> Self {
        let far = FarOrigin::of(gram.as_ref()).is_some_and(|far| far.can_be_mended());
        Self { plain: Seen { gram: Arc::clone(gram), own, origin: None }, far, referred: OnceLock::new() }
    }

    fn referred(&self) -> Option<&Seen> {
        let make = || {
            let seen = FarOrigin::seen(self.plain.gram.as_ref()).filter(FarOrigin::can_be_mended)?;
            let Referred { gram, values, own } = Referred::from_example(&self.plain.gram, seen.middle)?;
            let origin = Some((values, own));
            gram.self_similarities(Side::Rows).map(|own| Seen { gram, own, origin })
        };
        self.referred.get_or_init(make).as_ref()
    }

    /// True if problems with an equality are seen from an example.
    pub(super) fn is_far(&self) -> bool {
        self.far
    }
}

/// Solves problems on a matrix together, so that rows which several of them lack are computed at once.
pub(super) fn settle_in_rounds(
    matrix: &Matrix,
    subs: &[Sub],
    options: &SmoOptions,
    watch: &dyn Monitor,
) -> Result<Vec<Solution>, SolveError> {
    let noise = DOUBLE * largest(&matrix.plain.own);
    let frame = |sub| Frame::new(&matrix.plain, sub, sub.linear.clone(), noise);
    let frames: Vec<Frame<'_>> = subs.iter().map(frame).collect();
    let problems: Vec<Problem<'_>> =
        frames.iter().map(|frame| frame.problem(&frame.linear, frame.sub.start.as_ref())).collect();
    let mut found = smo_in_rounds(&problems, options, watch).into_iter().collect::<Result<Vec<Solution>, _>>()?;
    let mut workspace = Workspace::default();
    for (solution, frame) in found.iter_mut().zip(&frames) {
        let settled = frame.refine(solution, options, &mut workspace, watch)?;
        if !settled && frame.sub.equality != Equality::None {
            // an origin that is not far away may be far enough
            *solution = settle(matrix, frame.sub, options, &mut workspace, watch)?;
        }
    }
    Ok(found)
}

/// Solves one problem on a matrix.
pub(super) fn settle(
    matrix: &Matrix,
    sub: &Sub,
    options: &SmoOptions,
    workspace: &mut Workspace,
    watch: &dyn Monitor,
) -> Result<Solution, SolveError> {
    let free = sub.equality != Equality::None;
    let noise = DOUBLE * largest(&matrix.plain.own);
    let mut attempt = |seen: &Seen| solve_on(seen, noise, sub, options, workspace, watch);
    if free
        && matrix.far
        && let Some(seen) = matrix.referred()
    {
        return attempt(seen).map(|(found, _)| found);
    }
    let (found, settled) = attempt(&matrix.plain)?;
    if settled || !free {
        return Ok(found);
    }
    // an origin that is not far away may be far enough
    let Some(seen) = matrix.referred() else { return Ok(found) };
    let (mut again, _) = attempt(seen)?;
    if again.status != Status::Converged && again.objective > found.objective {
        return Ok(found);
    }
    again.iterations += found.iterations;
    again.rows += found.rows;
    again.evaluations += found.evaluations;
    Ok(again)
}

/// Solves a problem on a matrix as it is seen; also whether single precision could be kept out of it.
fn solve_on(
    seen: &Seen,
    noise: f64,
    sub: &Sub,
    options: &SmoOptions,
    workspace: &mut Workspace,
    watch: &dyn Monitor,
) -> Result<(Solution, bool), SolveError> {
    let pick = |values: &[f64]| -> Vec<f64> { sub.columns.iter().flat_map(|c| &values[c.clone()]).copied().collect() };
    let origin = seen.origin.as_ref().map(|(values, own)| Origin {
        values: pick(values),
        own: *own,
        sum: sub.start.as_ref().map_or(0.0, |start| start.plus.iter().chain(&start.minus).sum()),
    });
    let mut linear = sub.linear.clone();
    if let Some(origin) = &origin {
        linear.iter_mut().zip(&origin.values).for_each(|(c, r)| *c -= origin.sum * r);
    }
    let frame = Frame::new(seen, sub, linear, noise);
    let mut found = frame.solve(&frame.linear, sub.start.as_ref(), options, workspace, watch)?;
    let settled = frame.refine(&mut found, options, workspace, watch)?;
    if let Some(origin) = &origin {
        origin.back(sub.equality, &mut found);
    }
    Ok((found, settled))
}

/// The largest size of some numbers.
fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most: f64, k| most.max(k.abs()))
}

/// What the solver is given, and the errors to be expected of it.
struct Frame<'a> {
    gram: &'a Arc<dyn Gram>,
    sub: &'a Sub,
    /// K_tt.
    diagonal: Vec<f64>,
    /// c.
    linear: Vec<f64>,
    /// The error of an entry of a row: its rounding in f32, or that of a distance from products.
    size: f64,
    /// That of an entry in f64.
    noise: f64,
}

impl<'a> Frame<'a> {
    /// A problem with its c on a matrix as it is seen.
    fn new(seen: &'a Seen, sub: &'a Sub, linear: Vec<f64>, noise: f64) -> Self {
        let diagonal: Vec<f64> = sub.columns.iter().flat_map(|c| &seen.own[c.clone()]).copied().collect();
        // errors of products are half as large as they could be where they are alike for many pairs, and mostly far smaller
        let size = SINGLE.max(0.5 * seen.gram.row_error()) * largest(&diagonal);
        Self { gram: &seen.gram, sub, size, diagonal, linear, noise }
    }

    /// The problem as the solver takes it, with the given c.
    fn problem<'p>(&'p self, linear: &'p [f64], start: Option<&'p Start>) -> Problem<'p> {
        let sub = self.sub;
        Problem {
            gram: Arc::clone(self.gram),
            columns: &sub.columns,
            diagonal: &self.diagonal,
            linear,
            lower: &sub.lower,
            upper: &sub.upper,
            epsilon: sub.epsilon,
            ridge: sub.ridge.as_deref(),
            equality: sub.equality,
            start,
            folds: sub.folds.as_ref().map(|(of, count)| (of.as_slice(), *count)),
        }
    }

    fn solve(
        &self,
        linear: &[f64],
        start: Option<&Start>,
        options: &SmoOptions,
        workspace: &mut Workspace,
        watch: &dyn Monitor,
    ) -> Result<Solution, SolveError> {
        smo(&self.problem(linear, start), options, workspace, watch)
    }

    /// Solves again from where the solver ended until single precision does not show; where it cannot be got rid of, what is told of
    /// the solution is what it is in f64, and it has converged only if its violation says so. False if it has converged for the solver only.
    fn refine(
        &self,
        found: &mut Solution,
        options: &SmoOptions,
        workspace: &mut Workspace,
        watch: &dyn Monitor,
    ) -> Result<bool, SolveError> {
        let limit = SHARE * options.tolerance;
        // roundings are as good as independent of one another
        let mut error = self.size * length(&found.beta);
        let mut linear = self.linear.clone();
        let (mut refined, converged) = (false, found.status == Status::Converged);
        // by its objective in f64
        let mut best: Option<(f64, Solution)> = None;
        for _ in 0..MAX_ROUNDS {
            if error <= limit || found.status != Status::Converged || !self.keeps_sums(&found.beta) {
                break;
            }
            let state = match self.state(&found.beta, options.threads, watch) {
                Ok(state) => state,
                Err(stop) => {
                    // the solution stands as the solver has it
                    found.status = stop.into();
                    break;
                }
            };
            if !state.iter().all(|s| s.is_finite()) {
                return Err(SolveError::NotFinite { row: 1, column: 1 });
            }
            let value = self.values(&found.beta, &state).0;
            if best.as_ref().is_none_or(|(least, _)| value < *least) {
                best = Some((value, found.clone()));
            }
            for ((c, s), theirs) in linear.iter_mut().zip(&state).zip(&found.state) {
                *c += s - theirs;
            }
            let mut next = self.solve(&linear, Some(&Start::of(&found.beta)), options, workspace, watch)?;
            next.iterations += found.iterations;
            next.rows += found.rows;
            next.evaluations += found.evaluations;
            let moved: Vec<f64> = next.beta.iter().zip(&found.beta).map(|(b, a)| b - a).collect();
            let left = self.size * length(&moved);
            let stalled = left > STALLED * error;
            (*found, error, refined) = (next, left, true);
            if stalled {
                break;
            }
        }
        if refined {
            self.tell(found);
            if let Some(scores) = &mut found.held_out {
                scores.iter_mut().zip(self.linear.iter().zip(&linear)).for_each(|(f, (c, shifted))| *f += c - shifted);
            }
        }
        let ended = matches!(found.status, Status::Converged | Status::IterationLimit);
        if error > limit && ended {
            self.look_again(found, options, watch);
            if let Some((_, better)) =
                best.filter(|(value, _)| found.status != Status::Converged && *value < found.objective)
            {
                let (iterations, rows, evaluations) = (found.iterations, found.rows, found.evaluations);
                *found = Solution { iterations, rows, evaluations, held_out: None, ..better };
                self.look_again(found, options, watch);
            }
        }
        // differences that f64 does not have cannot be promised either
        if self.noise * length(&found.beta) > options.tolerance && found.status == Status::Converged {
            found.status = Status::IterationLimit;
        }
        Ok(!converged || found.status != Status::IterationLimit)
    }

    /// s = c − (K + D)β in f64, unless the monitor ends it: the same bits for any number of threads, and on a single one without a look at
    /// others.
    fn state(&self, beta: &[f64], threads: usize, watch: &dyn Monitor) -> Result<Vec<f64>, Stop> {
        let columns: Vec<usize> = self.sub.columns.iter().flat_map(Clone::clone).collect();
        let carry: Vec<usize> = (0..beta.len()).filter(|&t| beta[t] != 0.0).collect();
        let weights: Vec<f64> = carry.iter().map(|&t| beta[t]).collect();
        let points: Vec<usize> = carry.iter().map(|&t| columns[t]).collect();
        let height = (PIECE / points.len().max(1)).clamp(1, STRIP);
        let strips: Vec<&[usize]> = columns.chunks(height).collect();
        let mut image = Vec::with_capacity(columns.len());
        for group in strips.chunks(threads.max(1)) {
            watch.alive(Progress::new(Phase::keeping("smo"), image.len()))?;
            match group {
                [strip] => image.extend(self.product(strip, &points, &weights)),
                several => {
                    let lines = parallel::map(several.len(), |i| self.product(several[i], &points, &weights));
                    image.extend(lines.into_iter().flatten());
                }
            }
        }
        let ridge = |t: usize| self.sub.ridge.as_ref().map_or(0.0, |d| d[t] * beta[t]);
        Ok((0..beta.len()).map(|t| self.linear[t] - image[t] - ridge(t)).collect())
    }

    /// Kβ of some rows.
    fn product(&self, rows: &[usize], points: &[usize], weights: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; rows.len()];
        let mut values = vec![0.0; rows.len() * points.len().min(PIECE)];
        for (points, weights) in points.chunks(PIECE).zip(weights.chunks(PIECE)) {
            let values = &mut values[..rows.len() * points.len()];
            self.gram.block(Pick::List(rows), Pick::List(points), BlockMut::new(values, rows.len(), points.len()));
            for (sum, line) in sums.iter_mut().zip(values.chunks_exact(points.len())) {
                *sum += line.iter().zip(weights).map(|(k, b)| k * b).sum::<f64>();
            }
        }
        sums
    }

    /// Objective and ‖w‖² of a solution whose state is that of K.
    fn values(&self, beta: &[f64], state: &[f64]) -> (f64, f64) {
        let (mut quadratic, mut linear, mut ridge, mut size) = (0.0, 0.0, 0.0, 0.0);
        for (t, (&b, &s)) in beta.iter().zip(state).enumerate() {
            // (K + D)β = c − s
            let part = b * (self.linear[t] - s);
            quadratic += part;
            size += part.abs();
            linear += self.sub.epsilon * b.abs() - self.linear[t] * b;
            ridge += self.sub.ridge.as_ref().map_or(0.0, |d| d[t] * b * b);
        }
        let squared = quadratic - ridge;
        let nothing = squared < 0.0 && -squared <= LENGTH_ERROR * size;
        (0.5 * quadratic + linear, if nothing { 0.0 } else { squared })
    }

    /// Tells objective and length of a solution by its state.
    fn tell(&self, found: &mut Solution) {
        (found.objective, found.squared_norm) = self.values(&found.beta, &found.state);
    }

    /// State, violation, offsets and objective of a solution in f64.
    fn look_again(&self, found: &mut Solution, options: &SmoOptions, watch: &dyn Monitor) {
        found.state = match self.state(&found.beta, options.threads, watch) {
            Ok(state) => state,
            Err(stop) => return found.status = stop.into(),
        };
        found.whole = true;
        self.tell(found);
        let groups = if self.sub.equality == Equality::Signs { 2 } else { 1 };
        found.violation = 0.0;
        for group in 0..groups {
            let heights = Heights::of(self.sub, found, group);
            found.violation = found.violation.max(heights.violation(self.sub.equality));
            if let (true, Some(offset)) = (self.sub.equality != Equality::None, heights.offset()) {
                found.offsets[group] = offset;
            }
        }
        if found.violation > options.tolerance || found.violation.is_nan() {
            found.status = Status::IterationLimit;
        }
    }

    /// True if the shares of each sign can be told from β, so that a start from it has the sums of the problem.
    fn keeps_sums(&self, beta: &[f64]) -> bool {
        let (Equality::Signs, Some(start)) = (self.sub.equality, &self.sub.start) else { return true };
        let (plus, wanted) = (beta.iter().map(|b| b.max(0.0)).sum::<f64>(), start.plus.iter().sum::<f64>());
        (plus - wanted).abs() <= 1e-9 * wanted.abs()
    }
}

/// ‖β‖.
fn length(beta: &[f64]) -> f64 {
    beta.iter().map(|b| b * b).sum::<f64>().sqrt()
}

/// The heights of what may rise and of what may fall.
struct Heights {
    /// The largest of those that may rise.
    top: f64,
    /// The smallest of those that may fall.
    bottom: f64,
    /// The sum of the heights of variables that may do both at the same height, and their number.
    free: (f64, usize),
}

impl Heights {
    fn of(sub: &Sub, found: &Solution, group: usize) -> Self {
        let mut heights = Self { top: f64::NEG_INFINITY, bottom: f64::INFINITY, free: (0.0, 0) };
        for (t, (&b, &s)) in found.beta.iter().zip(&found.state).enumerate() {
            let (low, high, e) = match (sub.equality, group) {
                (Equality::Signs, 0) => (0.0, sub.upper[t], 0.0),
                (Equality::Signs, _) => (sub.lower[t], 0.0, 0.0),
                _ => (sub.lower[t], sub.upper[t], sub.epsilon),
            };
            let b = b.clamp(low, high);
            let rises = (b < high).then_some(if b < 0.0 { s + e } else { s - e });
            let falls = (b > low).then_some(if b > 0.0 { s - e } else { s + e });
            heights.top = heights.top.max(rises.unwrap_or(f64::NEG_INFINITY));
            heights.bottom = heights.bottom.min(falls.unwrap_or(f64::INFINITY));
            if let (Some(a), Some(b)) = (rises, falls)
                && a == b
            {
                heights.free = (heights.free.0 + a, heights.free.1 + 1);
            }
        }
        heights
    }

    fn violation(&self, equality: Equality) -> f64 {
        match equality {
            // the height that all must agree on is zero
            Equality::None => self.top.max(-self.bottom),
            Equality::Sum | Equality::Signs => self.top - self.bottom,
        }
    }

    /// The height at which rising and falling meet.
    fn offset(&self) -> Option<f64> {
        match self.free {
            (sum, count @ 1..) => Some(sum / count as f64),
            _ => Some(f64::midpoint(self.top, self.bottom)).filter(|b| b.is_finite()),
        }
    }
}

/// The way back from a referred matrix.
struct Origin {
    /// r of the columns.
    values: Vec<f64>,
    /// t.
    own: f64,
    /// S.
    sum: f64,
}

impl Origin {
    /// A solution on the referred matrix as one on the matrix itself.
    fn back(&self, equality: Equality, found: &mut Solution) {
        let along: f64 = self.values.iter().zip(&found.beta).map(|(r, b)| r * b).sum();
        let height = along - self.own * self.sum;
        found.state.iter_mut().for_each(|s| *s -= height);
        let groups = if equality == Equality::Signs { 2 } else { 1 };
        found.offsets[..groups].iter_mut().for_each(|b| *b -= height);
        found.objective -= 0.5 * self.own * self.sum * self.sum;
        found.squared_norm += 2.0 * self.sum * along - self.own * self.sum * self.sum;
        if let Some(scores) = &mut found.held_out {
            scores.iter_mut().zip(&self.values).for_each(|(f, r)| *f += self.sum * r);
        }
    }
}
