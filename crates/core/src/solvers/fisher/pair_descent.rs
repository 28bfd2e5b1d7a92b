//! Pairs of dual variables moved against each other until the duality gap is small; K is never formed.
//!
//! The dual min ½γᵀ(K + λW⁻¹)γ − yᵀγ with 1ᵀγ = 0 has the gradient g = (K + λW⁻¹)γ − y, which is −b at the optimum. A step
//! takes the largest and the smallest entry, i and j, and moves γ_i by r and γ_j by −r:
//! ```text
//! r = −(g_i − g_j) / (K_ii + K_jj − 2K_ij + λ/w_i + λ/w_j)
//! ```
//! With several pairs at a time the block of the p largest and the p smallest is solved exactly instead: its rows of K are
//! computed side by side, which costs less than one by one. For b = −Σwg/Σw the duality gap is exactly ½ Σ w (g + b)².
//!
//! # Source
//! Mika (2002), §3.5.3 and eq. (3.62); the infeasibility is printed without b. Blocks of pairs are the thesis's extension
//! ("a small QP over cached columns"), the gap is derived here: with ξ = y − Kγ − b it is primal minus dual objective.

mod rows;

use super::direct::conclude;
use super::{Aim, Discriminants};
use crate::gram::{Gram, diagonal};
use crate::linalg::Cholesky;
use crate::linalg::SolveError;
use crate::solvers::conjugate_gradient::not_finite;
use crate::vectorise::{Loops, vectorised};
use crate::watch::{Monitor, Phase, Progress, Status};
use rows::{Kept, Line};

/// When to stop, and what to take.
#[derive(Clone, Copy, Debug)]
pub struct PairOptions {
    /// Pairs of a step; 1 as printed.
    pub pairs: usize,
    /// Significant figures −log₁₀(|p − d| / (|p| + 1)) of the objectives that are wanted.
    pub figures: f64,
    /// √(Σ w (g + b)² / Σ w y²) that is wanted as well.
    pub infeasibility: f64,
    /// The function that counts as the primal objective p.
    pub measure: Measure,
    /// The most steps for each right-hand side.
    pub max_iterations: usize,
    /// Bytes for rows of K; those of a step are always kept.
    pub cache: usize,
    /// True if kernel values are taken in f64; else in f32.
    pub double: bool,
}

/// The primal objective that significant figures are counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The objective of ξ = β, which obeys the constraints at the optimum only (as printed): p − d = βᵀg.
    Printed,
    /// The objective of the function itself, so that p − d is the duality gap.
    Gap,
}

/// The discriminants with their evidence.
#[derive(Clone, Debug)]
pub struct PairSolution {
    /// The discriminants; their gaps are exact.
    pub found: Discriminants,
    /// Status of the solver; of several right-hand sides the worst.
    pub status: Status,
    /// Steps for each right-hand side.
    pub iterations: Vec<usize>,
    /// Rows of K that were computed.
    pub rows: usize,
    /// The fewest significant figures.
    pub figures: f64,
    /// The largest infeasibility.
    pub infeasibility: f64,
}

/// Solves the norm-penalised problem for each right-hand side in turn, with the same kept rows.
///
/// # Cost
/// A step takes O(n p) operations and up to 2p rows of K; O(n) numbers beside the kept rows.
pub fn pair_descent(
    gram: &dyn Gram,
    aim: &Aim<'_>,
    options: &PairOptions,
    watch: &dyn Monitor,
) -> Result<PairSolution, SolveError> {
    if options.double { descend::<f64>(gram, aim, options, watch) } else { descend::<f32>(gram, aim, options, watch) }
}

fn descend<S: Line>(
    gram: &dyn Gram,
    aim: &Aim<'_>,
    options: &PairOptions,
    watch: &dyn Monitor,
) -> Result<PairSolution, SolveError> {
    let (n, k) = (aim.len(), aim.outputs);
    let own = diagonal(gram);
    if own.iter().any(|x| !x.is_finite()) {
        return Err(not_finite(gram));
    }
    let ridge: Vec<f64> = aim.weights.iter().map(|w| aim.lambda / w).collect();
    let pairs = options.pairs.clamp(1, (n / 2).max(1));
    let mut kept = Kept::<S>::new(gram, options.cache, 2 * pairs);
    let (mut gamma, mut residual) = (vec![0.0; n * k], vec![0.0; n * k]);
    let (mut offsets, mut iterations, mut status) = (vec![0.0; k], vec![0; k], Status::Converged);
    let (mut figures, mut infeasibility) = (f64::INFINITY, 0.0_f64);
    for c in 0..k {
        let y: Vec<f64> = aim.column(c).collect();
        let mut run =
            Run { aim, ridge: &ridge, g: y.iter().map(|y| -y).collect(), gamma: vec![0.0; n], y, offset: 0.0 };
        let evidence = loop {
            let evidence = run.evidence(options.measure);
            let reached = evidence.figures >= options.figures && evidence.infeasibility <= options.infeasibility;
            if reached {
                break evidence;
            }
            let gap = Some(evidence.infeasibility);
            let step = Progress { gap, ..Progress::new(Phase::new("pair descent"), iterations[c]) };
            if let Err(stop) = watch.alive(step) {
                status = stop.into();
                break evidence;
            }
            if iterations[c] >= options.max_iterations || !run.step(&mut kept, pairs)? {
                status = if status == Status::Converged { Status::IterationLimit } else { status };
                break evidence;
            }
            iterations[c] += 1;
        };
        offsets[c] = evidence.offset;
        figures = figures.min(evidence.figures);
        infeasibility = infeasibility.max(evidence.infeasibility);
        for i in 0..n {
            gamma[i * k + c] = run.gamma[i];
            residual[i * k + c] = -(run.g[i] + evidence.offset);
        }
    }
    let mut found = conclude(aim, gamma.clone(), &gamma, offsets, &residual, 0.0);
    found.points = (0..n).filter(|&i| gamma[i * k..(i + 1) * k].iter().any(|&x| x != 0.0)).collect();
    found.alpha = found.points.iter().flat_map(|&i| &gamma[i * k..(i + 1) * k]).copied().collect();
    Ok(PairSolution { found, status, iterations, rows: kept.computed, figures, infeasibility })
}

/// The state of one right-hand side.
struct Run<'a> {
    aim: &'a Aim<'a>,
    ridge: &'a [f64],
    y: Vec<f64>,
    g: Vec<f64>,
    gamma: Vec<f64>,
    /// b of the last look.
    offset: f64,
}

/// The evidence of how far a state is from the solution.
struct Evidence {
    offset: f64,
    figures: f64,
    infeasibility: f64,
}

impl Run<'_> {
    fn evidence(&mut self, measure: Measure) -> Evidence {
        let (g, y, gamma, weights) = (self.g.as_slice(), self.y.as_slice(), self.gamma.as_slice(), self.aim.weights);
        // measured from the last offset, or squares would lose the digits that it has in common with g
        let [w, wh, whh, wyy, cg, cy] = vectorised(Sums { g, y, gamma, weights, shift: self.offset });
        let lambda = self.aim.lambda;
        self.offset -= wh / w;
        // Σ w (g + b)² at the best b
        let left = (whh - wh * wh / w).max(0.0);
        // γᵀ(K + λW⁻¹)γ = γᵀ(g + y)
        let quadratic = lambda * (cg + cy);
        let dual = lambda * cy - 0.5 * quadratic;
        let (primal, apart) = match measure {
            Measure::Printed => (0.5 * quadratic, (lambda * cg).abs()),
            Measure::Gap => (dual + 0.5 * left, 0.5 * left),
        };
        Evidence {
            offset: self.offset,
            figures: (-(apart / (primal.abs() + 1.0)).log10()).max(0.0),
            infeasibility: (left / wyy.max(f64::MIN_POSITIVE)).sqrt(),
        }
    }

    /// Moves the worst pairs; false where rounding leaves nothing to move.
    fn step<S: Line>(&mut self, kept: &mut Kept<'_, S>, pairs: usize) -> Result<bool, SolveError> {
        let set = extremes(&self.g, pairs);
        let size = set.len();
        if size < 2 {
            return Ok(false);
        }
        kept.fetch(&set)?;
        let block: Vec<f64> =
            set.iter().flat_map(|&i| set.iter().map(|&j| kept.row(i)[j].wide()).collect::<Vec<_>>()).collect();
        let moves = if let [i, j] = *set.as_slice() {
            let curvature = block[0] + block[3] - block[1] - block[2] + self.ridge[i] + self.ridge[j];
            if curvature <= 0.0 {
                return Err(indefinite(curvature));
            }
            let r = -(self.g[i] - self.g[j]) / curvature;
            vec![r, -r]
        } else {
            self.block_moves(&set, block)?
        };
        // at the end of what rounding allows a step no longer changes anything
        if set.iter().zip(&moves).all(|(&i, d)| self.gamma[i] + d == self.gamma[i]) {
            return Ok(false);
        }
        let mut left = 0.0;
        for (&i, &d) in set.iter().zip(&moves).take(size - 1) {
            let next = self.gamma[i] + d;
            left += next - self.gamma[i];
            self.gamma[i] = next;
            self.g[i] += self.ridge[i] * d;
        }
        // the last one pays for the rounding of the others, so that Σγ stays zero
        let last = set[size - 1];
        self.gamma[last] -= left;
        self.g[last] -= self.ridge[last] * left;
        let mut moves = moves;
        moves[size - 1] = -left;
        let rows: Vec<&[S]> = set.iter().map(|&i| kept.row(i)).collect();
        vectorised(AddRows { rows: &rows, moves: &moves, g: &mut self.g });
        Ok(true)
    }

    /// (K + λW⁻¹)d + e1 = −g on the block, 1ᵀd = 0.
    fn block_moves(&self, set: &[usize], mut block: Vec<f64>) -> Result<Vec<f64>, SolveError> {
        let m = set.len();
        for (p, &i) in set.iter().enumerate() {
            block[p * m + p] += self.ridge[i];
            for q in 0..p {
                let mean = 0.5 * (block[p * m + q] + block[q * m + p]);
                (block[p * m + q], block[q * m + p]) = (mean, mean);
            }
        }
        let factor = Cholesky::factor(block, m).map_err(|e| indefinite(e.value))?;
        let mut right: Vec<f64> = set.iter().flat_map(|&i| [-self.g[i], 1.0]).collect();
        factor.solve(&mut right, 2);
        let sum = |c: usize| right.iter().skip(c).step_by(2).sum::<f64>();
        let shift = sum(0) / sum(1);
        Ok(right.chunks_exact(2).map(|t| t[0] - shift * t[1]).collect())
    }
}

fn indefinite(value: f64) -> SolveError {
    SolveError::Pivot { index: 1, value, remedy: super::REMEDY }
}

/// The places of the p largest and the p smallest numbers; of equal ones the first.
fn extremes(g: &[f64], pairs: usize) -> Vec<usize> {
    let (mut top, mut bottom): (Vec<usize>, Vec<usize>) =
        (Vec::with_capacity(pairs + 1), Vec::with_capacity(pairs + 1));
    for (i, &x) in g.iter().enumerate() {
        if top.len() < pairs || x > g[top[pairs - 1]] {
            let place = top.partition_point(|&j| g[j] >= x);
            top.insert(place, i);
            top.truncate(pairs);
        }
        if bottom.len() < pairs || x < g[bottom[pairs - 1]] {
            let place = bottom.partition_point(|&j| g[j] <= x);
            bottom.insert(place, i);
            bottom.truncate(pairs);
        }
    }
    bottom.retain(|i| !top.contains(i));
    top.extend(bottom);
    top
}

/// Σw, Σwh, Σwh² with h = g + b, Σwy², Σγg and Σγy, in eight interleaved sums each, whose order does not depend on the instruction set.
struct Sums<'a> {
    g: &'a [f64],
    y: &'a [f64],
    gamma: &'a [f64],
    weights: &'a [f64],
    shift: f64,
}

const LANES: usize = 8;

impl Loops for Sums<'_> {
    type Output = [f64; 6];

    #[inline(always)]
    fn run(self) -> [f64; 6] {
        let mut sums = [[0.0; LANES]; 6];
        let chunks = self
            .g
            .chunks(LANES)
            .zip(self.y.chunks(LANES))
            .zip(self.gamma.chunks(LANES))
            .zip(self.weights.chunks(LANES));
        for (((g, y), c), w) in chunks {
            let mut lanes = [[0.0; LANES]; 4];
            for (lane, values) in lanes.iter_mut().zip([g, y, c, w]) {
                lane[..values.len()].copy_from_slice(values);
            }
            let [g, y, c, w] = lanes;
            for l in 0..LANES {
                sums[0][l] += w[l];
                let h = g[l] + self.shift;
                sums[1][l] += w[l] * h;
                sums[2][l] += w[l] * h * h;
                sums[3][l] += w[l] * y[l] * y[l];
                sums[4][l] += c[l] * g[l];
                sums[5][l] += c[l] * y[l];
            }
        }
        sums.map(|lanes| lanes.iter().sum())
    }
}

/// g += Σ_s d_s K_s, strip by strip.
struct AddRows<'a, S> {
    rows: &'a [&'a [S]],
    moves: &'a [f64],
    g: &'a mut [f64],
}

/// Numbers of g that stay in the first-level cache while all rows pass.
const STRIP: usize = 1024;

impl<S: Line> Loops for AddRows<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (strip, g) in self.g.chunks_mut(STRIP).enumerate() {
            let start = strip * STRIP;
            for (row, &d) in self.rows.iter().zip(self.moves) {
                for (g, x) in g.iter_mut().zip(&row[start..]) {
                    *g += d * x.wide();
                }
            }
        }
    }
}
