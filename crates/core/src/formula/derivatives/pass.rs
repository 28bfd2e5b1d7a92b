//! Passes over all tiles. Strips of rows are handed to threads, and what they gathered is added in their order, so that sums are
//! bit-equal for any number of threads.

use super::tile::{Sink, Tile};
use super::tree::{Tree, What};
use super::weights::{Below, Centred, Diagonal, Given, OfMembers, Weights};
use crate::gram::{Gram, Pick};
use crate::parallel;
use std::ops::Range;

/// Rows of a tile.
const TILE_ROWS: usize = 128;
/// Columns of a tile: with its rows it stays in the second-level cache.
const TILE_COLS: usize = 512;

/// Σ_ij W_ij ∂K_ij/∂θ_p for all parameters; with `keep`, K and W are between these examples only.
pub(in crate::formula) fn contract(tree: &Tree, keep: Option<&[usize]>, weights: &dyn Gram) -> Vec<f64> {
    let n = tree.gram().shape().0;
    let given = Given::new(weights, keep, n);
    let examples = keep.map_or(Pick::Range(0..n), Pick::List);
    let mut sums = vec![0.0; tree.parameters];
    contract_pairs(tree, 0, &examples, &given, &mut sums);
    sums
}

/// Some places of a pick.
fn part<'a>(pick: &'a Pick<'_>, places: Range<usize>) -> Pick<'a> {
    match pick {
        Pick::Range(range) => Pick::Range(range.start + places.start..range.start + places.end),
        Pick::List(list) => Pick::List(&list[places]),
    }
}

/// The ends of strips of so many.
fn strips(len: usize, size: usize) -> Vec<Range<usize>> {
    (0..len).step_by(size).map(|start| start..(start + size).min(len)).collect()
}

/// Adds the contraction of a node's matrix between some examples; weights between others are zero.
fn contract_pairs(tree: &Tree, root: usize, examples: &Pick<'_>, weights: &dyn Weights, sums: &mut [f64]) {
    if tree.knots[root].all.is_empty() {
        return;
    }
    let (down, across) = (strips(examples.len(), TILE_ROWS), strips(examples.len(), TILE_COLS));
    let strip = |rows: &Range<usize>| {
        let mut sink = Sink::new(tree, root);
        let rows = part(examples, rows.clone());
        for cols in &across {
            let cols = part(examples, cols.clone());
            let mut given = vec![0.0; rows.len() * cols.len()];
            weights.write(&rows, &cols, &mut given);
            Tile::new(tree, &rows, &cols).push(root, given, &mut sink);
        }
        sink
    };
    let parts: Vec<Sink> = parallel::map(down.len(), |i| strip(&down[i]));
    let mut whole = Sink::new(tree, root);
    parts.iter().for_each(|part| whole.add(part));
    finish(tree, root, &whole, weights, sums);
}

/// Adds the contraction of κ(x, x) of every example at a node.
fn contract_own(tree: &Tree, root: usize, weights: &[f64], sums: &mut [f64]) {
    if tree.knots[root].all.is_empty() {
        return;
    }
    let strip = |examples: &Range<usize>| {
        let mut sink = Sink::new(tree, root);
        for i in examples.clone().filter(|&i| weights[i] != 0.0) {
            let alone = Pick::Range(i..i + 1);
            Tile::new(tree, &alone, &alone).push_own(root, weights[i], &mut sink);
        }
        sink
    };
    let down = strips(weights.len(), TILE_ROWS);
    let parts: Vec<Sink> = parallel::map(down.len(), |i| strip(&down[i]));
    let mut whole = Sink::new(tree, root);
    parts.iter().for_each(|part| whole.add(part));
    add(sums, &whole.sums);
    // weights of a diagonal: the sums over its rows are those over its columns
    tree.marginal(root, &mut |id| {
        let own = &whole.margins[id][..whole.margins[id].len() / 2];
        next(tree, id, &Diagonal(own), own, own, sums);
    });
}

/// The rest that a pass over pairs leaves to later ones: weights of κ(x, x), and the nodes where the next pass begins.
fn finish(tree: &Tree, root: usize, whole: &Sink, weights: &dyn Weights, sums: &mut [f64]) {
    add(sums, &whole.sums);
    tree.marginal(root, &mut |id| {
        let (rows, cols) = whole.margins[id].split_at(whole.margins[id].len() / 2);
        match tree.knots[id].what {
            What::Normalise | What::Radial(_) => {
                let own: Vec<f64> = rows.iter().zip(cols).map(|(a, b)| a + b).collect();
                contract_own(tree, tree.knots[id].children[0], &own, sums);
            }
            _ => next(tree, id, &Below { tree, from: root, to: id, weights }, rows, cols, sums),
        }
    });
}

/// The pass below a node of which the weights are known with their sums over rows and columns: a centre or sets.
fn next(tree: &Tree, id: usize, weights: &dyn Weights, rows: &[f64], cols: &[f64], sums: &mut [f64]) {
    let knot = &tree.knots[id];
    match &knot.what {
        What::Centre(shares) => {
            let centred = Centred { weights, shares, rows, cols };
            contract_pairs(tree, knot.children[0], &Pick::Range(0..rows.len()), &centred, sums);
        }
        What::Set(sets, mean) => {
            let members = tree.knots[knot.children[0]].gram.shape().0;
            let spread = OfMembers::new(weights, sets, *mean);
            contract_pairs(tree, knot.children[0], &Pick::Range(0..members), &spread, sums);
        }
        _ => {}
    }
}

fn add(to: &mut [f64], from: &[f64]) {
    to.iter_mut().zip(from).for_each(|(t, f)| *t += f);
}
