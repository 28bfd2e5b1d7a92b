//! One tile: the values of every node that are needed, and the weights pushed down.

use super::tree::{Tree, What};
use crate::data::Scalar;
use crate::gram::{BlockMut, Pick};

/// The sums that are gathered while weights are pushed down.
pub(super) struct Sink {
    /// The contraction for every parameter.
    pub(super) sums: Vec<f64>,
    /// For nodes at which weights are summed over rows and columns: n sums over rows, then n over columns; empty for others.
    pub(super) margins: Vec<Vec<f64>>,
    /// The only node whose weights are wanted.
    target: Option<usize>,
    /// Its weights.
    pub(super) reached: Vec<f64>,
}

impl Sink {
    /// For the contraction with all parameters of the nodes below `root`, down to where another pass begins.
    pub(super) fn new(tree: &Tree, root: usize) -> Self {
        let mut margins = vec![Vec::new(); tree.knots.len()];
        tree.marginal(root, &mut |id| margins[id] = vec![0.0; 2 * tree.knots[id].gram.shape().0]);
        Self { sums: vec![0.0; tree.parameters], margins, target: None, reached: Vec::new() }
    }

    /// For the weights of one node.
    pub(super) fn towards(target: usize) -> Self {
        Self { sums: Vec::new(), margins: Vec::new(), target: Some(target), reached: Vec::new() }
    }

    /// Adds what another part has gathered.
    pub(super) fn add(&mut self, other: &Self) {
        let all = |to: &mut [f64], from: &[f64]| to.iter_mut().zip(from).for_each(|(t, f)| *t += f);
        all(&mut self.sums, &other.sums);
        self.margins.iter_mut().zip(&other.margins).for_each(|(to, from)| all(to, from));
    }
}

impl Tree {
    /// Calls `see` with every node of a pass at which weights are summed: those that need κ(x, x), and those where the next begins.
    pub(super) fn marginal(&self, id: usize, see: &mut dyn FnMut(usize)) {
        let knot = &self.knots[id];
        match knot.what {
            What::Normalise | What::Radial(_) if !knot.all.is_empty() => see(id),
            What::Centre(_) | What::Set(..) => {
                if !knot.all.is_empty() {
                    see(id);
                }
                return;
            }
            _ => {}
        }
        knot.children.iter().for_each(|&child| self.marginal(child, see));
    }

    /// True if a node lies below another, or is it.
    fn is_below(&self, id: usize, top: usize) -> bool {
        id == top || self.knots[top].children.iter().any(|&child| self.is_below(id, child))
    }
}

/// A rectangle of the matrices of all nodes of a pass.
pub(super) struct Tile<'a> {
    tree: &'a Tree,
    rows: &'a Pick<'a>,
    cols: &'a Pick<'a>,
    /// The values of each node, once they were needed.
    values: Vec<Vec<f64>>,
}

impl<'a> Tile<'a> {
    pub(super) fn new(tree: &'a Tree, rows: &'a Pick<'a>, cols: &'a Pick<'a>) -> Self {
        Self { tree, rows, cols, values: vec![Vec::new(); tree.knots.len()] }
    }

    /// The values of a node, from those of its children where that spares a kernel.
    fn value(&mut self, id: usize) {
        if !self.values[id].is_empty() {
            return;
        }
        let (tree, size) = (self.tree, self.rows.len() * self.cols.len());
        let knot = &tree.knots[id];
        let mut out = vec![0.0; size];
        match (&knot.what, knot.children.as_slice()) {
            (What::Sum | What::Product, children) => {
                let sum = matches!(knot.what, What::Sum);
                out.fill(if sum { 0.0 } else { 1.0 });
                for &child in children {
                    self.value(child);
                    let pairs = out.iter_mut().zip(&self.values[child]);
                    if sum { pairs.for_each(|(o, k)| *o += k) } else { pairs.for_each(|(o, k)| *o *= k) }
                }
            }
            (What::Scaled(_) | What::Power(_) | What::Series(_) | What::Exp, &[child]) => {
                self.value(child);
                let of = |k: f64| match &knot.what {
                    What::Scaled(c) => c * k,
                    What::Power(n) => k.powi(*n as i32),
                    What::Series(all) => polynomial(all, k),
                    _ => Scalar::exp(k),
                };
                out.iter_mut().zip(&self.values[child]).for_each(|(o, &k)| *o = of(k));
            }
            (What::Normalise | What::Radial(_), &[child]) => {
                self.value(child);
                let own = tree.diagonal(child);
                self.each(&mut out, |place, i, j, o| {
                    let k = self.values[child][place];
                    *o = match knot.what {
                        What::Radial(gamma) => Scalar::exp(-gamma * (own[i] - 2.0 * k + own[j]).max(0.0)),
                        _ => k * factor(own[i]) * factor(own[j]),
                    };
                });
            }
            // kernels, and where another pass begins
            _ => {
                let block = BlockMut::new(&mut out, self.rows.len(), self.cols.len());
                knot.gram.block(self.rows.clone(), self.cols.clone(), block);
            }
        }
        self.values[id] = out;
    }

    /// Calls `each` with place, row, column and number of every entry.
    fn each(&self, numbers: &mut [f64], mut each: impl FnMut(usize, usize, usize, &mut f64)) {
        let width = self.cols.len();
        for (place, number) in numbers.iter_mut().enumerate() {
            each(place, self.rows.at(place / width), self.cols.at(place % width), number);
        }
    }

    /// Pushes the weights of a node down; see the table of the folder.
    pub(super) fn push(&mut self, id: usize, mut weights: Vec<f64>, sink: &mut Sink) {
        let tree = self.tree;
        let knot = &tree.knots[id];
        match sink.target {
            Some(target) if target == id => {
                sink.reached = weights;
                return;
            }
            Some(target) if !tree.is_below(target, id) => return,
            None if knot.all.is_empty() => return,
            _ => {}
        }
        let gathers = sink.target.is_none();
        match (&knot.what, knot.children.as_slice()) {
            (What::Kernel(Some(known)), _) => {
                known.contract(self.rows, self.cols, &weights, &mut sink.sums[knot.own.clone()]);
            }
            (What::Constant, _) => sink.sums[knot.own.start] += weights.iter().sum::<f64>(),
            (What::Sum, children) => children.iter().for_each(|&child| self.push(child, weights.clone(), sink)),
            (What::Product, children) => {
                children.iter().for_each(|&child| self.value(child));
                for &child in children {
                    let mut part = weights.clone();
                    for other in children.iter().filter(|&&other| other != child) {
                        part.iter_mut().zip(&self.values[*other]).for_each(|(w, k)| *w *= k);
                    }
                    self.push(child, part, sink);
                }
            }
            (What::Scaled(c), &[child]) => {
                if gathers {
                    self.value(child);
                    let pairs = weights.iter().zip(&self.values[child]);
                    sink.sums[knot.own.start] += pairs.map(|(w, k)| w * k).sum::<f64>();
                }
                weights.iter_mut().for_each(|w| *w *= c);
                self.push(child, weights, sink);
            }
            (What::Power(n), &[child]) => {
                self.value(child);
                let slope = |k: f64| f64::from(*n) * k.powi(*n as i32 - 1);
                weights.iter_mut().zip(&self.values[child]).for_each(|(w, &k)| *w *= slope(k));
                self.push(child, weights, sink);
            }
            (What::Series(all), &[child]) => {
                self.value(child);
                let values = &self.values[child];
                if gathers {
                    let named = all.iter().enumerate().filter(|(_, a)| **a != 0.0);
                    for (sum, (m, _)) in sink.sums[knot.own.clone()].iter_mut().zip(named) {
                        *sum += weights.iter().zip(values).map(|(w, k)| w * k.powi(m as i32)).sum::<f64>();
                    }
                }
                let slopes: Vec<f64> = all.iter().enumerate().skip(1).map(|(m, a)| m as f64 * a).collect();
                weights.iter_mut().zip(values).for_each(|(w, &k)| *w *= polynomial(&slopes, k));
                self.push(child, weights, sink);
            }
            (What::Exp, &[child]) => {
                self.value(id);
                weights.iter_mut().zip(&self.values[id]).for_each(|(w, k)| *w *= k);
                self.push(child, weights, sink);
            }
            (What::Normalise, &[child]) => {
                self.value(id);
                let own = tree.diagonal(child);
                self.each(&mut weights, |place, i, j, w| {
                    if gathers {
                        let share = -0.5 * *w * self.values[id][place];
                        let margins = &mut sink.margins[id];
                        let n = margins.len() / 2;
                        // a row of zeros stays one
                        margins[i] += if own[i] > 0.0 { share / own[i] } else { 0.0 };
                        margins[n + j] += if own[j] > 0.0 { share / own[j] } else { 0.0 };
                    }
                    *w *= factor(own[i]) * factor(own[j]);
                });
                self.push(child, weights, sink);
            }
            (What::Radial(gamma), &[child]) => {
                self.value(id);
                let own = tree.diagonal(child);
                self.each(&mut weights, |place, i, j, w| {
                    let weight = *w * self.values[id][place];
                    if gathers {
                        let squared = (own[i] - 2.0 * self.values[child][place] + own[j]).max(0.0);
                        sink.sums[knot.own.start] -= weight * squared;
                        let margins = &mut sink.margins[id];
                        let n = margins.len() / 2;
                        margins[i] -= gamma * weight;
                        margins[n + j] -= gamma * weight;
                    }
                    *w = 2.0 * gamma * weight;
                });
                self.push(child, weights, sink);
            }
            // where the next pass begins, only the sums are gathered
            (What::Centre(_) | What::Set(..), _) if gathers => {
                let margins = &mut sink.margins[id];
                let n = margins.len() / 2;
                self.each(&mut weights, |_, i, j, w| {
                    margins[i] += *w;
                    margins[n + j] += *w;
                });
            }
            _ => {}
        }
    }

    /// Pushes the weight of κ(x, x) of one example down, where the tile is that example with itself.
    pub(super) fn push_own(&mut self, id: usize, weight: f64, sink: &mut Sink) {
        let tree = self.tree;
        let knot = &tree.knots[id];
        if knot.all.is_empty() {
            return;
        }
        let i = self.rows.at(0);
        let own = |child: usize| tree.diagonal(child)[i];
        match (&knot.what, knot.children.as_slice()) {
            (What::Kernel(Some(known)), _) => {
                known.contract(self.rows, self.cols, &[weight], &mut sink.sums[knot.own.clone()]);
            }
            (What::Constant, _) => sink.sums[knot.own.start] += weight,
            (What::Sum, children) => children.iter().for_each(|&child| self.push_own(child, weight, sink)),
            (What::Product, children) => {
                for &child in children {
                    let others = children.iter().filter(|&&other| other != child);
                    self.push_own(child, others.fold(weight, |w, &other| w * own(other)), sink);
                }
            }
            (What::Scaled(c), &[child]) => {
                sink.sums[knot.own.start] += weight * own(child);
                self.push_own(child, c * weight, sink);
            }
            (What::Power(n), &[child]) => {
                self.push_own(child, weight * f64::from(*n) * own(child).powi(*n as i32 - 1), sink);
            }
            (What::Series(all), &[child]) => {
                let k = own(child);
                let named = all.iter().enumerate().filter(|(_, a)| **a != 0.0);
                for (sum, (m, _)) in sink.sums[knot.own.clone()].iter_mut().zip(named) {
                    *sum += weight * k.powi(m as i32);
                }
                let slopes: Vec<f64> = all.iter().enumerate().skip(1).map(|(m, a)| m as f64 * a).collect();
                self.push_own(child, weight * polynomial(&slopes, k), sink);
            }
            (What::Exp, &[child]) => self.push_own(child, weight * Scalar::exp(own(child)), sink),
            (What::Centre(_) | What::Set(..), _) => sink.margins[id][i] += weight,
            // κ(x, x) is 1 whatever the parameters are
            _ => {}
        }
    }
}

/// Σ a_m kᵐ.
fn polynomial(all: &[f64], k: f64) -> f64 {
    all.iter().rev().fold(0.0, |sum, a| sum * k + a)
}

/// 1/√κ(x, x); zero where that is none.
fn factor(own: f64) -> f64 {
    if own > 0.0 { 1.0 / own.sqrt() } else { 0.0 }
}
