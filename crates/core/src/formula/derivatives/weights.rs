//! Weights of the entries of a node's matrix, written where they are asked for.

use super::tile::{Sink, Tile};
use super::tree::Tree;
use crate::gram::{BlockMut, Gram, Pick};
use std::ops::Range;

/// Weights W_ij between the examples of a node.
pub(super) trait Weights: Sync {
    /// Writes the weights between the chosen examples, row by row.
    fn write(&self, rows: &Pick<'_>, cols: &Pick<'_>, out: &mut [f64]);
}

/// The weights of all examples, or of those that are kept: the others have none.
pub(super) struct Given<'a> {
    gram: &'a dyn Gram,
    /// The place of every example among those that are kept; `None`: all are.
    places: Option<Vec<Option<usize>>>,
}

impl<'a> Given<'a> {
    pub(super) fn new(gram: &'a dyn Gram, keep: Option<&[usize]>, n: usize) -> Self {
        let places = keep.map(|keep| {
            let mut places = vec![None; n];
            keep.iter().enumerate().for_each(|(place, &i)| places[i] = Some(place));
            places
        });
        Self { gram, places }
    }
}

impl Weights for Given<'_> {
    fn write(&self, rows: &Pick<'_>, cols: &Pick<'_>, out: &mut [f64]) {
        let Some(places) = &self.places else {
            return self.gram.block(rows.clone(), cols.clone(), BlockMut::new(out, rows.len(), cols.len()));
        };
        let found = |pick: &Pick<'_>| -> (Vec<usize>, Vec<usize>) {
            pick.iter().enumerate().filter_map(|(k, i)| places[i].map(|place| (k, place))).unzip()
        };
        let ((down, left), (across, right)) = (found(rows), found(cols));
        let mut part = vec![0.0; left.len() * right.len()];
        let block = BlockMut::new(&mut part, left.len(), right.len());
        self.gram.block(Pick::List(&left), Pick::List(&right), block);
        out.fill(0.0);
        for (line, r) in part.chunks_exact(right.len().max(1)).zip(&down) {
            line.iter().zip(&across).for_each(|(w, c)| out[r * cols.len() + c] = *w);
        }
    }
}

/// Weights on the diagonal.
pub(super) struct Diagonal<'a>(pub(super) &'a [f64]);

impl Weights for Diagonal<'_> {
    fn write(&self, rows: &Pick<'_>, cols: &Pick<'_>, out: &mut [f64]) {
        for (line, i) in out.chunks_exact_mut(cols.len().max(1)).zip(rows.iter()) {
            line.iter_mut().zip(cols.iter()).for_each(|(o, j)| *o = if i == j { self.0[i] } else { 0.0 });
        }
    }
}

/// The weights of a node below the one whose weights are known: pushed down again for every tile.
pub(super) struct Below<'a> {
    pub(super) tree: &'a Tree,
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) weights: &'a dyn Weights,
}

impl Weights for Below<'_> {
    fn write(&self, rows: &Pick<'_>, cols: &Pick<'_>, out: &mut [f64]) {
        self.weights.write(rows, cols, out);
        if self.from != self.to {
            let mut sink = Sink::towards(self.to);
            Tile::new(self.tree, rows, cols).push(self.from, out.to_vec(), &mut sink);
            out.copy_from_slice(&sink.reached);
        }
    }
}

/// (I − p1ᵀ) A (I − 1pᵀ) from A, its sums over rows and columns, and the shares p of the centre.
pub(super) struct Centred<'a> {
    pub(super) weights: &'a dyn Weights,
    pub(super) shares: &'a [f64],
    /// A 1.
    pub(super) rows: &'a [f64],
    /// Aᵀ 1.
    pub(super) cols: &'a [f64],
}

impl Weights for Centred<'_> {
    fn write(&self, rows: &Pick<'_>, cols: &Pick<'_>, out: &mut [f64]) {
        self.weights.write(rows, cols, out);
        let total: f64 = self.rows.iter().sum();
        let p = self.shares;
        for (line, i) in out.chunks_exact_mut(cols.len().max(1)).zip(rows.iter()) {
            for (o, j) in line.iter_mut().zip(cols.iter()) {
                *o += total * p[i] * p[j] - p[i] * self.cols[j] - self.rows[i] * p[j];
            }
        }
    }
}

/// The weights of members from those of their sets.
pub(super) struct OfMembers<'a> {
    weights: &'a dyn Weights,
    mean: bool,
    sets: &'a [Range<usize>],
    /// The set of every member.
    owner: Vec<usize>,
}

impl<'a> OfMembers<'a> {
    pub(super) fn new(weights: &'a dyn Weights, sets: &'a [Range<usize>], mean: bool) -> Self {
        let owner = sets.iter().enumerate().flat_map(|(s, members)| members.clone().map(move |_| s)).collect();
        Self { weights, mean, sets, owner }
    }
}

impl Weights for OfMembers<'_> {
    fn write(&self, rows: &Pick<'_>, cols: &Pick<'_>, out: &mut [f64]) {
        // members of a set follow each other: every set is asked for once
        let sets_of = |pick: &Pick<'_>| {
            let (mut sets, mut places): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
            for member in pick.iter() {
                if sets.last() != Some(&self.owner[member]) {
                    sets.push(self.owner[member]);
                }
                places.push(sets.len() - 1);
            }
            (sets, places)
        };
        let ((left, down), (right, across)) = (sets_of(rows), sets_of(cols));
        let mut between = vec![0.0; left.len() * right.len()];
        self.weights.write(&Pick::List(&left), &Pick::List(&right), &mut between);
        if self.mean {
            for (line, &a) in between.chunks_exact_mut(right.len().max(1)).zip(&left) {
                for (w, &b) in line.iter_mut().zip(&right) {
                    *w /= (self.sets[a].len() * self.sets[b].len()).max(1) as f64;
                }
            }
        }
        for (line, a) in out.chunks_exact_mut(cols.len().max(1)).zip(&down) {
            line.iter_mut().zip(&across).for_each(|(o, b)| *o = between[a * right.len() + b]);
        }
    }
}
