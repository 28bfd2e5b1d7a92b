//! Expansions: f_c(x) = Σ_i α_ic κ(x_i, x) + b_c, the representer theorem as a type.

use super::Part;
use super::ensemble::Ensemble;
use super::neighbours::Neighbours;
use super::strip::Cross;
use crate::data::{Coordinate, SparseRows, Vectors};
use crate::gram::{Gram, Side, apply};
use crate::linalg::multiply_add;
use crate::parallel;
use crate::vectorise::{Loops, vectorised};

/// Weights on training examples, or on explicit features.
#[derive(Clone, Debug, PartialEq)]
pub struct Expansion {
    /// The examples or features that carry weight, and their weights.
    pub coefficients: Coefficients,
    /// b_c for every output; none for several parts, which have their own.
    pub offsets: Vec<f64>,
}

/// The weights of an expansion.
#[derive(Clone, Debug, PartialEq)]
pub enum Coefficients {
    /// α for the training examples `points`: `points.len() × outputs` numbers, row by row.
    Dual {
        /// The training examples, by place.
        points: Vec<usize>,
        /// α, row by row.
        alpha: Vec<f64>,
    },
    /// One expansion for each pair of classes (a < b), in LIBSVM's compact form: an example of class c takes part only in
    /// the pairs with c, and has one coefficient for each of the k − 1 other classes in order.
    Pairwise {
        /// The training examples, by place, class by class.
        points: Vec<usize>,
        /// The class of each, rising.
        classes: Vec<u32>,
        /// `points.len() × (k − 1)` coefficients y_i α_i, row by row.
        alpha: Vec<f64>,
        /// k.
        count: usize,
    },
    /// A ball in feature space: f(x) = Σ α_i κ(x_i, x) − κ(x, x) + b, which also needs κ(x, x) of the new example.
    Ball {
        /// The training examples, by place.
        points: Vec<usize>,
        /// α.
        alpha: Vec<f64>,
    },
    /// w for explicit features: f_c(x) = scale · ⟨w_c, x⟩ + b_c; `width × outputs` numbers, row by row.
    Primal {
        /// w, row by row.
        weights: Vec<f64>,
        /// The number of coordinates.
        width: usize,
        /// The factor in front of the inner product.
        scale: f64,
    },
    /// The nearest of some training examples; no sum over them.
    Neighbours(Neighbours),
    /// Stumps and networks on explicit features.
    Ensemble(Ensemble),
    /// Several expansions, each with weights on one term of the kernel; their outputs follow one another.
    Parts(Vec<Part>),
}

impl Expansion {
    /// Several expansions as one.
    pub const fn of_parts(parts: Vec<Part>) -> Self {
        Self { coefficients: Coefficients::Parts(parts), offsets: Vec::new() }
    }

    /// The number of outputs; of all parts together.
    pub fn outputs(&self) -> usize {
        let in_parts: usize = self.parts().iter().map(|part| part.expansion.outputs()).sum();
        self.offsets.len() + in_parts
    }

    /// Its parts; none where all weights are on the whole kernel.
    pub fn parts(&self) -> &[Part] {
        match &self.coefficients {
            Coefficients::Parts(parts) => parts,
            _ => &[],
        }
    }

    /// The training examples it needs; none for explicit features, nor for several parts, each of which has its own.
    pub fn points(&self) -> &[usize] {
        match &self.coefficients {
            Coefficients::Dual { points, .. }
            | Coefficients::Pairwise { points, .. }
            | Coefficients::Ball { points, .. }
            | Coefficients::Neighbours(Neighbours { points, .. }) => points,
            Coefficients::Primal { .. } | Coefficients::Ensemble(_) | Coefficients::Parts(_) => &[],
        }
    }

    /// The training examples that it needs with all its parts: in the order of its points, or of the data for several parts.
    pub fn needed_points(&self) -> Vec<usize> {
        let mut all = self.points().to_vec();
        if let Coefficients::Parts(parts) = &self.coefficients {
            all = parts.iter().flat_map(|part| part.expansion.needed_points()).collect();
            all.sort_unstable();
            all.dedup();
        }
        all
    }

    /// The points to be renumbered, of each part by themselves; none for explicit features.
    pub(crate) fn points_mut(&mut self) -> Vec<&mut Vec<usize>> {
        match &mut self.coefficients {
            Coefficients::Dual { points, .. }
            | Coefficients::Pairwise { points, .. }
            | Coefficients::Ball { points, .. }
            | Coefficients::Neighbours(Neighbours { points, .. }) => vec![points],
            Coefficients::Primal { .. } | Coefficients::Ensemble(_) => Vec::new(),
            Coefficients::Parts(parts) => parts.iter_mut().flat_map(|part| part.expansion.points_mut()).collect(),
        }
    }

    /// The number of coordinates of explicit features; `None` where the expansion is in examples.
    pub fn width(&self) -> Option<usize> {
        match &self.coefficients {
            Coefficients::Primal { width, .. } | Coefficients::Ensemble(Ensemble { width, .. }) => Some(*width),
            _ => None,
        }
    }
}

/// Rows that one thread scores at a time.
const STRIP: usize = 128;
/// The same where values are in f32: as many as share one reading of the points.
const NARROW_STRIP: usize = 48;
/// Columns of a tile.
const TILE: usize = 512;
/// The part of the solver's tolerance by which values in f32 may move a score.
const SHARE_OF_TOLERANCE: f64 = 0.05;

/// Hands out strips of so many numbers to threads; one strip is not worth waking any.
pub(super) fn by_strips(scores: &mut [f64], size: usize, work: impl Fn(usize, &mut [f64]) + Sync + Send) {
    if scores.len() <= size {
        if !scores.is_empty() {
            work(0, scores);
        }
        return;
    }
    parallel::strips(scores, size, work);
}

impl Expansion {
    /// The scores of new examples, n × outputs row by row, from the matrix between them (rows) and the points (columns).
    ///
    /// # Panics
    /// If the expansion is in explicit features, which need no matrix: see [`Expansion::primal_scores`]; or of several parts, each of
    /// which needs that of its term.
    pub fn scores(&self, cross: &dyn Gram) -> Vec<f64> {
        self.scores_within(cross, None)
    }

    /// The same where the scores are known no better than to a tolerance, that of the solver: then values of the kernel may be in f32, as long
    /// as their errors are small beside it.
    ///
    /// # Panics
    /// As [`Expansion::scores`].
    pub fn scores_within(&self, cross: &dyn Gram, tolerance: Option<f64>) -> Vec<f64> {
        let (n, outputs) = (cross.shape().0, self.outputs());
        let mut scores = vec![0.0; n * outputs];
        let values = Cross::new(cross, tolerance.and_then(|tolerance| self.error_of_values(cross, tolerance)));
        match &self.coefficients {
            Coefficients::Dual { alpha, .. } if values.is_narrow() => dual_scores(&values, alpha, outputs, &mut scores),
            Coefficients::Dual { alpha, .. } => apply(cross, alpha, outputs, &mut scores),
            Coefficients::Ball { alpha, .. } => {
                apply(cross, alpha, outputs, &mut scores);
                // a matrix that does not know κ(x, x) has no answer, which is said where scores are checked
                let own = cross.self_similarities(Side::Rows).unwrap_or_else(|| vec![f64::NAN; n]);
                scores.iter_mut().zip(own).for_each(|(s, k)| *s -= k);
            }
            Coefficients::Pairwise { classes, alpha, count, .. } => {
                pair_scores(&values, classes, alpha, *count, &mut scores);
            }
            Coefficients::Neighbours(neighbours) => neighbours.scores(cross, &mut scores),
            Coefficients::Primal { .. } | Coefficients::Ensemble(_) => {
                unreachable!("explicit features need no matrix")
            }
            Coefficients::Parts(_) => unreachable!("every part has a matrix of its own"),
        }
        self.add_offsets(&mut scores);
        scores
    }

    /// The error of kernel values, in parts of the largest, that moves scores by less than [`SHARE_OF_TOLERANCE`] of a tolerance. Errors of
    /// values are as good as independent, and ten times smaller than at most.
    fn error_of_values(&self, cross: &dyn Gram, tolerance: f64) -> Option<f64> {
        let outputs = self.outputs().max(1);
        let mut squares = vec![0.0; outputs];
        match &self.coefficients {
            Coefficients::Dual { alpha, .. } => {
                alpha.iter().enumerate().for_each(|(at, a)| squares[at % outputs] += a * a);
            }
            Coefficients::Pairwise { classes, alpha, count, .. } => {
                let others = count - 1;
                for (&class, row) in classes.iter().zip(alpha.chunks_exact(others)) {
                    for (other, a) in row.iter().enumerate() {
                        let class = class as usize;
                        let other = other + usize::from(other >= class);
                        squares[pair_of(class.min(other), class.max(other), *count)] += a * a;
                    }
                }
            }
            _ => return None,
        }
        let length = squares.into_iter().fold(0.0, f64::max).sqrt();
        let largest = cross.self_similarities(Side::Columns)?.into_iter().fold(0.0, f64::max);
        let error = 10.0 * SHARE_OF_TOLERANCE * tolerance / (length * largest);
        Some(error).filter(|error| error.is_finite())
    }

    /// The scores of new examples from their explicit features; `None` for dense vectors of another width, or if the
    /// expansion is in examples. Coordinates of sparse vectors that training had not seen have no weight.
    pub fn primal_scores(&self, rows: &Vectors) -> Option<Vec<f64>> {
        let outputs = self.outputs();
        let mut scores = vec![0.0; rows.len() * outputs];
        if let Coefficients::Ensemble(ensemble) = &self.coefficients {
            ensemble.scores(rows, outputs, &mut scores)?;
            self.add_offsets(&mut scores);
            return Some(scores);
        }
        let Coefficients::Primal { weights, width, scale } = &self.coefficients else { return None };
        if rows.dense().is_some_and(|rows| rows.width() != *width) {
            return None;
        }
        by_strips(&mut scores, STRIP * outputs.max(1), |strip, scores| match rows {
            Vectors::Dense(rows) => {
                let (start, count) = (strip * STRIP, scores.len() / outputs);
                let values = &rows.values()[start * width..(start + count) * width];
                multiply_add(values, count, *width, weights, outputs, scores);
            }
            Vectors::Sparse(rows) => {
                vectorised(SparseProduct { rows, start: strip * STRIP, weights, width: *width, outputs, scores });
            }
        });
        if *scale != 1.0 {
            scores.iter_mut().for_each(|s| *s *= scale);
        }
        self.add_offsets(&mut scores);
        Some(scores)
    }

    fn add_offsets(&self, scores: &mut [f64]) {
        for row in scores.chunks_exact_mut(self.outputs().max(1)) {
            for (s, b) in row.iter_mut().zip(&self.offsets) {
                *s += b;
            }
        }
    }
}

/// XW for a strip of sparse rows: each stored coordinate adds its row of W, so that W is read in runs.
struct SparseProduct<'a> {
    rows: &'a SparseRows<f64>,
    /// The first row of the strip.
    start: usize,
    weights: &'a [f64],
    width: usize,
    outputs: usize,
    /// Zero in the beginning.
    scores: &'a mut [f64],
}

impl Loops for SparseProduct<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let k = self.outputs;
        for (i, out) in self.scores.chunks_exact_mut(k).enumerate() {
            let row = self.rows.row(self.start + i);
            // indices rise, so what training had not seen stands at the end
            let known = match row.last() {
                Some(last) if last.index as usize >= self.width => {
                    &row[..row.partition_point(|c| (c.index as usize) < self.width)]
                }
                _ => row,
            };
            if let [score] = out {
                *score = dot(known, self.weights);
                continue;
            }
            for c in known {
                let weights = &self.weights[c.index as usize * k..(c.index as usize + 1) * k];
                for (score, w) in out.iter_mut().zip(weights) {
                    *score += c.value * w;
                }
            }
        }
    }
}

/// ⟨x, w⟩ in four sums, which do not wait for each other.
#[inline(always)]
fn dot(row: &[Coordinate<f64>], weights: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (fours, rest) = row.as_chunks::<4>();
    for four in fours {
        for (sum, c) in sums.iter_mut().zip(four) {
            *sum += c.value * weights[c.index as usize];
        }
    }
    for (sum, c) in sums.iter_mut().zip(rest) {
        *sum += c.value * weights[c.index as usize];
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// The place of a pair a < b among all pairs of k classes.
fn pair_of(a: usize, b: usize, k: usize) -> usize {
    a * (2 * k - a - 1) / 2 + b - a - 1
}

/// Sums over all points, strip by strip.
fn dual_scores(values: &Cross<'_>, alpha: &[f64], outputs: usize, scores: &mut [f64]) {
    let points = alpha.len() / outputs.max(1);
    by_strips(scores, NARROW_STRIP * outputs, |strip, scores| {
        let (start, count) = (strip * NARROW_STRIP, scores.len() / outputs);
        let mut strip = values.strip(start..start + count);
        let mut tile = vec![0.0; count * TILE.min(points)];
        for left in (0..points).step_by(TILE) {
            let right = (left + TILE).min(points);
            let block = &mut tile[..count * (right - left)];
            strip.block(left..right, block);
            multiply_add(block, count, right - left, &alpha[left * outputs..right * outputs], outputs, scores);
        }
    });
}

/// Scores of all pairs (a, b) from the compact form: the points of class a bring their coefficients against b, and the
/// other way round. Points stand class by class, so each class is one product of matrices.
fn pair_scores(values: &Cross<'_>, classes: &[u32], alpha: &[f64], k: usize, scores: &mut [f64]) {
    let (others, pairs, points) = (k - 1, k * (k - 1) / 2, classes.len());
    let height = if values.is_narrow() { NARROW_STRIP } else { STRIP };
    by_strips(scores, height * pairs, |strip, scores| {
        let (start, count) = (strip * height, scores.len() / pairs);
        let mut strip = values.strip(start..start + count);
        let mut sums = vec![0.0; k * count * others];
        let mut tile = vec![0.0; count * TILE];
        let mut left = 0;
        while left < points {
            let class = classes[left] as usize;
            let run = classes[left..].iter().take(TILE).take_while(|&&c| c as usize == class).count();
            let block = &mut tile[..count * run];
            strip.block(left..left + run, block);
            let target = &mut sums[class * count * others..(class + 1) * count * others];
            multiply_add(block, count, run, &alpha[left * others..(left + run) * others], others, target);
            left += run;
        }
        for (i, row) in scores.chunks_exact_mut(pairs).enumerate() {
            let sum = |class: usize, column: usize| sums[(class * count + i) * others + column];
            let mut p = 0;
            for a in 0..k {
                for b in a + 1..k {
                    row[p] = sum(a, b - 1) + sum(b, a);
                    p += 1;
                }
            }
        }
    });
}
