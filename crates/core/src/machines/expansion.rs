//! Expansions: f_c(x) = Σ_i α_ic κ(x_i, x) + b_c, the representer theorem as a type.

use crate::data::Rows;
use crate::gram::{BlockMut, Gram, Pick, Side, apply};
use crate::linalg::multiply_add;
use rayon::prelude::*;

/// Weights on training examples, or on explicit features.
#[derive(Clone, Debug, PartialEq)]
pub struct Expansion {
    /// Where the weight sits and how much.
    pub coefficients: Coefficients,
    /// b_c for every output.
    pub offsets: Vec<f64>,
}

/// The weights of an expansion.
#[derive(Clone, Debug, PartialEq)]
pub enum Coefficients {
    /// α for the training examples `points`: `points.len() × outputs` numbers, row by row.
    Dual {
        /// Which training examples.
        points: Vec<usize>,
        /// α, row by row.
        alpha: Vec<f64>,
    },
    /// One expansion for each pair of classes (a < b), in LIBSVM's compact form: an example of class c takes part only in
    /// the pairs with c, and has one coefficient for each of the k − 1 other classes in order.
    Pairwise {
        /// Which training examples, class by class.
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
        /// Which training examples.
        points: Vec<usize>,
        /// α.
        alpha: Vec<f64>,
    },
    /// w for explicit features: f_c(x) = scale · ⟨w_c, x⟩ + b_c; `width × outputs` numbers, row by row.
    Primal {
        /// w, row by row.
        weights: Vec<f64>,
        /// How many coordinates.
        width: usize,
        /// The factor in front of the inner product.
        scale: f64,
    },
}

impl Expansion {
    /// How many outputs.
    pub fn outputs(&self) -> usize {
        self.offsets.len()
    }

    /// The training examples it needs; none for explicit features.
    pub fn points(&self) -> &[usize] {
        match &self.coefficients {
            Coefficients::Dual { points, .. }
            | Coefficients::Pairwise { points, .. }
            | Coefficients::Ball { points, .. } => points,
            Coefficients::Primal { .. } => &[],
        }
    }
}

/// Rows that one thread scores at a time.
const STRIP: usize = 128;
/// Columns of a tile.
const TILE: usize = 512;

impl Expansion {
    /// The scores of new examples, n × outputs row by row, from the matrix between them (rows) and the points (columns).
    ///
    /// # Panics
    /// If the expansion is in explicit features, which need no matrix: see [`Expansion::primal_scores`].
    pub fn scores(&self, cross: &dyn Gram) -> Vec<f64> {
        let (n, outputs) = (cross.shape().0, self.outputs());
        let mut scores = vec![0.0; n * outputs];
        match &self.coefficients {
            Coefficients::Dual { alpha, .. } => apply(cross, alpha, outputs, &mut scores),
            Coefficients::Ball { alpha, .. } => {
                apply(cross, alpha, outputs, &mut scores);
                // a matrix that does not know κ(x, x) has no answer, which is said where scores are checked
                let own = cross.self_similarities(Side::Rows).unwrap_or_else(|| vec![f64::NAN; n]);
                scores.iter_mut().zip(own).for_each(|(s, k)| *s -= k);
            }
            Coefficients::Pairwise { classes, alpha, count, .. } => {
                pair_scores(cross, classes, alpha, *count, &mut scores);
            }
            Coefficients::Primal { .. } => unreachable!("explicit features need no matrix"),
        }
        self.add_offsets(&mut scores);
        scores
    }

    /// The scores of new examples from their explicit features.
    pub fn primal_scores(&self, rows: &Rows<f64>) -> Option<Vec<f64>> {
        let Coefficients::Primal { weights, width, scale } = &self.coefficients else { return None };
        if rows.width() != *width {
            return None;
        }
        let outputs = self.outputs();
        let mut scores = vec![0.0; rows.len() * outputs];
        multiply_add(rows.values(), rows.len(), *width, weights, outputs, &mut scores);
        scores.iter_mut().for_each(|s| *s *= scale);
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

/// Scores of all pairs (a, b) from the compact form: the points of class a bring their coefficients against b, and the
/// other way round. Points stand class by class, so each class is one product of matrices.
fn pair_scores(cross: &dyn Gram, classes: &[u32], alpha: &[f64], k: usize, scores: &mut [f64]) {
    let (others, pairs, points) = (k - 1, k * (k - 1) / 2, classes.len());
    scores.par_chunks_mut(STRIP * pairs).enumerate().for_each(|(strip, scores)| {
        let (start, count) = (strip * STRIP, scores.len() / pairs);
        let mut sums = vec![0.0; k * count * others];
        let mut tile = vec![0.0; count * TILE];
        let mut left = 0;
        while left < points {
            let class = classes[left] as usize;
            let run = classes[left..].iter().take(TILE).take_while(|&&c| c as usize == class).count();
            let block = &mut tile[..count * run];
            cross.block(
                Pick::Range(start..start + count),
                Pick::Range(left..left + run),
                BlockMut::new(block, count, run),
            );
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
