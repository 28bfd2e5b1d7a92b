//! Few examples chosen one by one: the best of 59 random candidates is among the best twentieth with probability 0.95.

use super::{Aim, Discriminants, Quadratic};
use crate::gram::{BlockMut, Gram, Pick};
use crate::linalg::SolveError;
use crate::linalg::multiply_transposed;
use crate::parallel;
use crate::seed::{Random, Seed};
use crate::watch::{Monitor, Phase, Progress, Status};
use rayon::prelude::*;

/// Candidates of a step: the least κ with 0.95^κ ≤ 0.05, ln 0.05 / ln 0.95 = 58.4 rounded up.
pub const CANDIDATES: usize = 59;
/// Number of steps whose mean improvement decides.
const IMPROVEMENT_WINDOW: usize = 5;
/// Smallest share of a column outside the span of the chosen ones; below it, only rounding is left.
const MIN_NEW_SHARE: f64 = 1e-12;
/// Columns of K that one thread takes at a time, and candidates that go through a factor side by side.
const GROUP: usize = 8;

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub struct GreedyOptions {
    /// The most examples of an output.
    pub points: usize,
    /// The mean relative improvement of an output's objective over its last five steps below which its search ends.
    pub tolerance: f64,
    /// The seed of the draw of candidates.
    pub seed: Seed,
}

/// The discriminants on the chosen examples.
#[derive(Clone, Debug)]
pub struct Greedy {
    /// The discriminants. Their points are those of all outputs, in the order in which they were first chosen; α is zero where
    /// an output did not choose the example.
    pub found: Discriminants,
    /// Status of the solver: converged also where the largest number of examples was taken.
    pub status: Status,
    /// The examples of each output, in the order in which it chose them.
    pub chosen: Vec<Vec<usize>>,
    /// The objective of each output after 0, 1, … of its examples.
    pub traces: Vec<Vec<f64>>,
}

/// The bytes that [`greedy`] takes at most, if every output chooses examples that no other has.
pub fn greedy_bytes(n: usize, points: usize, outputs: usize) -> usize {
    let (points, all) = (points.min(n), points.saturating_mul(outputs).min(n));
    let candidates = CANDIDATES.saturating_mul(outputs).min(n);
    let columns = n * (all + 2 * candidates + 3 * outputs);
    let triangles = outputs * (points + 1) * (points / 2 + 2 + GROUP) + points * points;
    8 * (columns + 2 * all * candidates + triangles)
}

/// Grows an expansion for each output from nothing, one example at a time.
///
/// With H = [[Σw, 1ᵀWK_m], [K_mᵀW1, K_mᵀWK_m + λP]] = LLᵀ and z = L⁻¹[1ᵀWy; K_mᵀWy] the objective is ½yᵀWy − ½‖z‖². A candidate
/// with column k has v = L⁻¹[1ᵀWk; K_mᵀWk + λP_i] and ρ² = kᵀWk + λP_ii − ‖v‖²; taking it lowers the objective by
/// ½ (kᵀWy − vᵀz)² / ρ², and appends [v, ρ] to L.
///
/// Every output has examples, a factor and an end of its own. Candidates are shared: a step draws one random order, of which
/// every output that still goes on judges the first 59 examples that it lacks. So are their columns, and their products with
/// the columns that any output has chosen.
///
/// # Source
/// Mika (2002), §3.5.2, Fig. 3.3 and Lemma 3.2, with an appended factor in place of the block inverse (Lemma 3.1), which is
/// the same numbers and does not lose digits. The cost O(κMm²) is that of the whole run, and the chosen columns are kept.
///
/// # Cost
/// 59 n m u/2 multiplications and 59 m columns of K for m examples of each output and u of all together; n (u + 59) numbers.
pub fn greedy(
    gram: &dyn Gram,
    aim: &Aim<'_>,
    options: &GreedyOptions,
    watch: &dyn Monitor,
) -> Result<Greedy, SolveError> {
    let mut lot = Lot { rest: (0..aim.len()).collect(), random: options.seed.stream("greedy") };
    grow(gram, aim, options, &mut |outputs| lot.draw(outputs), watch)
}

/// The search with the candidates of each step from `draw`.
fn grow(
    gram: &dyn Gram,
    aim: &Aim<'_>,
    options: &GreedyOptions,
    draw: &mut dyn FnMut(&[Output]) -> Vec<usize>,
    watch: &dyn Monitor,
) -> Result<Greedy, SolveError> {
    let n = aim.len();
    let most = options.points.min(n);
    let mut outputs: Vec<Output> = (0..aim.outputs).map(|c| Output::new(aim, c)).collect();
    let mut shared = Shared::new(aim);
    let mut status = Status::Converged;
    let mut lines = Vec::new();
    for m in 0..most {
        outputs.iter_mut().for_each(|o| o.going = o.going && !o.settled(options.tolerance));
        if !outputs.iter().any(|o| o.going) {
            break;
        }
        let progress = Progress::new(Phase::new("sparse greedy"), m).of(most);
        if let Err(stop) = watch.alive(progress) {
            status = stop.into();
            break;
        }
        let which = draw(&outputs);
        columns(gram, &which, &mut lines, n)?;
        let step = shared.step(gram, &which, &lines);
        let judge = |c: usize| if outputs[c].going { step.best(&outputs[c], c) } else { None };
        let best: Vec<Option<Candidate>> = parallel::map(outputs.len(), judge);
        for (output, best) in outputs.iter_mut().zip(best) {
            match best {
                Some(taken) => {
                    let line = &lines[taken.place * n..(taken.place + 1) * n];
                    let place = shared.keep(which[taken.place], line);
                    output.take(which[taken.place], place, taken);
                }
                // all of these lie in the span of what is there; so will the others as far as a draw can tell
                None => output.going = false,
            }
        }
    }
    if !outputs.iter().flat_map(|o| &o.trace).all(|t| t.is_finite()) {
        return Err(crate::solvers::conjugate_gradient::not_finite(gram));
    }
    let found = shared.finish(gram, &outputs);
    let (chosen, traces) = outputs.into_iter().map(|o| (o.points, o.trace)).unzip();
    Ok(Greedy { found, status, chosen, traces })
}

/// Columns of K as rows of n numbers.
fn columns(gram: &dyn Gram, which: &[usize], out: &mut Vec<f64>, n: usize) -> Result<(), SolveError> {
    out.resize(which.len() * n, 0.0);
    parallel::strips_beside((out, GROUP * n), (which, GROUP), |lines, which| {
        gram.block(Pick::List(which), Pick::Range(0..n), BlockMut::new(lines, which.len(), n));
    });
    match out.iter().position(|x| !x.is_finite()) {
        Some(p) => Err(SolveError::NotFinite { row: which[p / n] + 1, column: p % n + 1 }),
        None => Ok(()),
    }
}

/// Random orders of the examples.
struct Lot {
    /// Those that some output may still lack.
    rest: Vec<usize>,
    random: Random,
}

impl Lot {
    /// The start of a random order, as far as any output that goes on judges it.
    fn draw(&mut self, outputs: &[Output]) -> Vec<usize> {
        let going: Vec<&Output> = outputs.iter().filter(|o| o.going).collect();
        for place in (0..self.rest.len()).rev() {
            if going.iter().all(|o| o.has[self.rest[place]]) {
                self.rest.swap_remove(place);
            }
        }
        let (mut wanted, mut which) = (vec![CANDIDATES; going.len()], Vec::new());
        for p in 0..self.rest.len() {
            if wanted.iter().all(|&w| w == 0) {
                break;
            }
            // the first of a partial shuffle are a draw without repetition
            let other = p + self.random.below(self.rest.len() - p);
            self.rest.swap(p, other);
            let i = self.rest[p];
            let mut useful = false;
            for (_, wanted) in going.iter().zip(&mut wanted).filter(|(o, w)| **w > 0 && !o.has[i]) {
                *wanted -= 1;
                useful = true;
            }
            if useful {
                which.push(i);
            }
        }
        which
    }
}

/// A candidate that is not yet in the span of the others.
struct Candidate {
    /// Its place among the candidates.
    place: usize,
    gain: f64,
    /// L⁻¹ of its products with the offset and the chosen columns.
    v: Vec<f64>,
    rho: f64,
    /// (kᵀWy − vᵀz) / ρ.
    next: f64,
}

/// One output on its way.
struct Output {
    points: Vec<usize>,
    /// The places of the columns of its points among the shared ones.
    places: Vec<usize>,
    /// True if an example is among its points.
    has: Vec<bool>,
    /// The rows of L, the offset's first, each as long as it is.
    factor: Vec<Vec<f64>>,
    /// z, step by step.
    z: Vec<f64>,
    trace: Vec<f64>,
    going: bool,
}

impl Output {
    fn new(aim: &Aim<'_>, c: usize) -> Self {
        let root = aim.mass().sqrt();
        let sum = aim.column(c).zip(aim.weights).map(|(y, w)| w * y).sum::<f64>();
        let whole = aim.column(c).zip(aim.weights).map(|(y, w)| w * y * y).sum::<f64>();
        let first = sum / root;
        Self {
            points: Vec::new(),
            places: Vec::new(),
            has: vec![false; aim.len()],
            factor: vec![vec![root]],
            z: vec![first],
            trace: vec![0.5 * whole - 0.5 * first * first],
            going: true,
        }
    }

    /// True if the mean relative improvement of the last steps is below the tolerance.
    fn settled(&self, tolerance: f64) -> bool {
        let m = self.points.len();
        if m <= IMPROVEMENT_WINDOW {
            return false;
        }
        let before = self.trace[m - IMPROVEMENT_WINDOW..m].iter().zip(&self.trace[m - IMPROVEMENT_WINDOW + 1..]);
        let mean = before.map(|(a, b)| (a - b) / a.max(f64::MIN_POSITIVE)).sum::<f64>() / IMPROVEMENT_WINDOW as f64;
        mean < tolerance
    }

    fn take(&mut self, point: usize, place: usize, taken: Candidate) {
        let last = self.trace.last().copied().unwrap_or(f64::NAN);
        self.trace.push(last - taken.gain);
        let mut row = taken.v;
        row.push(taken.rho);
        self.factor.push(row);
        self.z.push(taken.next);
        self.points.push(point);
        self.places.push(place);
        self.has[point] = true;
    }

    /// Lᵀ[b; α] = z.
    fn solution(&self) -> Vec<f64> {
        let m = self.points.len();
        let mut solution = self.z.clone();
        for r in (0..=m).rev() {
            let known: f64 = (r + 1..=m).map(|q| self.factor[q][r] * solution[q]).sum();
            solution[r] = (solution[r] - known) / self.factor[r][r];
        }
        solution
    }
}

/// The examples that all outputs have chosen together.
struct Shared<'a> {
    aim: &'a Aim<'a>,
    points: Vec<usize>,
    /// The place of an example among these points.
    places: Vec<Option<usize>>,
    /// Their columns, row by row.
    lines: Vec<f64>,
    /// W y, output by output.
    target: Vec<f64>,
}

impl<'a> Shared<'a> {
    fn new(aim: &'a Aim<'a>) -> Self {
        let target = (0..aim.outputs)
            .flat_map(|c| aim.column(c).zip(aim.weights).map(|(y, w)| w * y).collect::<Vec<_>>())
            .collect();
        Self { aim, points: Vec::new(), places: vec![None; aim.len()], lines: Vec::new(), target }
    }

    /// The place of a point that an output takes.
    fn keep(&mut self, point: usize, line: &[f64]) -> usize {
        *self.places[point].get_or_insert_with(|| {
            self.points.push(point);
            self.lines.extend_from_slice(line);
            self.points.len() - 1
        })
    }

    /// The products with candidates that all outputs need.
    fn step(&self, gram: &dyn Gram, which: &'a [usize], lines: &[f64]) -> Step<'a> {
        let (aim, n, count, m) = (self.aim, self.aim.len(), which.len(), self.points.len());
        // the candidates' columns times the weights
        let even = aim.weights.iter().all(|&w| w == 1.0);
        let weighted: Vec<f64> =
            if even { Vec::new() } else { lines.iter().enumerate().map(|(p, x)| aim.weights[p % n] * x).collect() };
        let weighted = if even { lines } else { &weighted };
        let mut inner = vec![0.0; m * count];
        if m > 0 {
            parallel::strips_beside((&mut inner, 4 * GROUP * count), (&self.lines, 4 * GROUP * n), |out, rows| {
                multiply_transposed(rows, weighted, n, out, count);
            });
        }
        if aim.penalty == Quadratic::Norm && m > 0 {
            let mut own = vec![0.0; m * count];
            gram.block(Pick::List(which), Pick::List(&self.points), BlockMut::new(&mut own, count, m));
            inner.iter_mut().enumerate().for_each(|(p, x)| *x += aim.lambda * own[(p % count) * m + p / count]);
        }
        let mut right = vec![0.0; count * aim.outputs];
        multiply_transposed(lines, &self.target, n, &mut right, aim.outputs);
        let each = lines.par_chunks_exact(n).zip(weighted.par_chunks_exact(n)).zip(which);
        let (sizes, sums) = each
            .map(|((line, heavy), &i)| {
                let norm = match aim.penalty {
                    Quadratic::Norm => line[i],
                    Quadratic::Coefficients => 1.0,
                };
                let size = line.iter().zip(heavy).map(|(a, b)| a * b).sum::<f64>() + aim.lambda * norm;
                (size, heavy.iter().sum::<f64>())
            })
            .unzip();
        Step { which, sizes, sums, inner, right, outputs: aim.outputs }
    }

    /// The solutions, and what follows from them.
    fn finish(&self, gram: &dyn Gram, outputs: &[Output]) -> Discriminants {
        let (aim, n, k) = (self.aim, self.aim.len(), outputs.len());
        let mut alpha = vec![0.0; self.points.len() * k];
        let mut scores = vec![0.0; n * k];
        let (mut offsets, mut objectives) = (Vec::with_capacity(k), Vec::with_capacity(k));
        for (c, output) in outputs.iter().enumerate() {
            let solution = output.solution();
            let (b, own_alpha) = (solution[0], &solution[1..]);
            let mut own_scores = vec![b; n];
            for (&place, a) in output.places.iter().zip(own_alpha) {
                alpha[place * k + c] = *a;
                let line = &self.lines[place * n..(place + 1) * n];
                own_scores.iter_mut().zip(line).for_each(|(s, x)| *s += a * x);
            }
            let m = output.points.len();
            let mut own = Vec::new();
            if aim.penalty == Quadratic::Norm {
                own.resize(m * m, 0.0);
                gram.block(Pick::List(&output.points), Pick::List(&output.points), BlockMut::new(&mut own, m, m));
            }
            let penalty = super::subset::penalties(&Aim { outputs: 1, ..*aim }, own_alpha, &own, m)[0];
            let errors = aim.column(c).zip(&own_scores).zip(aim.weights).map(|((y, s), w)| 0.5 * w * (y - s).powi(2));
            objectives.push(errors.fold(penalty, |sum, e| sum + e));
            offsets.push(b);
            scores.iter_mut().skip(c).step_by(k).zip(own_scores).for_each(|(s, own)| *s = own);
        }
        // the values that the steps add up to beside those of the functions themselves
        let told: f64 = outputs.iter().filter_map(|o| o.trace.last()).sum();
        let first: f64 = outputs.iter().filter_map(|o| o.trace.first()).sum();
        let relative_residual = (told - objectives.iter().sum::<f64>()).abs() / first.abs().max(f64::MIN_POSITIVE);
        Discriminants {
            points: self.points.clone(),
            alpha,
            offsets,
            scores,
            objectives,
            gaps: None,
            relative_residual,
            jitter: 0.0,
        }
    }
}

/// The candidates of a step, with the numbers that all outputs share.
struct Step<'a> {
    which: &'a [usize],
    /// kᵀWk + λP_ii.
    sizes: Vec<f64>,
    /// 1ᵀWk.
    sums: Vec<f64>,
    /// K_uᵀWk + λP_i for the columns of all outputs, column by column.
    inner: Vec<f64>,
    /// kᵀWy, candidates × outputs.
    right: Vec<f64>,
    outputs: usize,
}

impl Step<'_> {
    /// The candidate that lowers the objective of an output most; of equal ones the first.
    fn best(&self, output: &Output, c: usize) -> Option<Candidate> {
        let mut left = CANDIDATES;
        let mut open = |&i: &usize| {
            let judged = left > 0 && !output.has[i];
            left -= usize::from(judged);
            judged
        };
        let open: Vec<bool> = self.which.iter().map(&mut open).collect();
        let group = |g: usize| self.best_of(output, c, g * GROUP, &open[g * GROUP..open.len().min((g + 1) * GROUP)]);
        let groups: Vec<Option<Candidate>> = parallel::map(open.len().div_ceil(GROUP), group);
        groups.into_iter().flatten().reduce(|a, b| if b.gain > a.gain { b } else { a })
    }

    /// The best of a few candidates, which go through the factor side by side.
    fn best_of(&self, output: &Output, c: usize, from: usize, open: &[bool]) -> Option<Candidate> {
        let count = self.which.len();
        let mut v: Vec<[f64; GROUP]> = Vec::with_capacity(output.factor.len());
        for (r, row) in output.factor.iter().enumerate() {
            let products = if r == 0 { &self.sums } else { &self.inner[output.places[r - 1] * count..][..count] };
            let mut known = [0.0; GROUP];
            for (l, v) in row.iter().zip(&v) {
                known.iter_mut().zip(v).for_each(|(k, v)| *k += l * v);
            }
            let mut solved = [0.0; GROUP];
            for ((s, b), k) in solved.iter_mut().zip(&products[from..]).zip(known) {
                *s = (b - k) / row[r];
            }
            v.push(solved);
        }
        let mut best: Option<Candidate> = None;
        for lane in (0..open.len()).filter(|&lane| open[lane]) {
            let (place, own) = (from + lane, || v.iter().map(|v| v[lane]));
            let size = self.sizes[place];
            let left = size - own().map(|v| v * v).sum::<f64>();
            if left.is_nan() || left <= MIN_NEW_SHARE * size {
                continue;
            }
            let rho = left.sqrt();
            let known: f64 = own().zip(&output.z).map(|(v, z)| v * z).sum();
            let next = (self.right[place * self.outputs + c] - known) / rho;
            let gain = 0.5 * next * next;
            if best.as_ref().is_none_or(|b| gain > b.gain) {
                best = Some(Candidate { place, gain, v: own().collect(), rho, next });
            }
        }
        best
    }
}

#[cfg(test)]
mod tests;
