//! One against one: a problem for each pair of classes, on one matrix whose examples stand class by class.

use crate::gram::Gram;
use crate::gram::views::RowCache;
use crate::machines::{Coefficients, Fitted, Task};
use crate::solvers::smo::Solution;
use std::ops::Range;
use std::sync::Arc;

/// The pairs (a, b), a < b, of the classes of a task.
pub(in crate::machines) struct Pairs<'a> {
    /// The examples class by class; two classes stay in the order they have.
    order: Vec<usize>,
    /// Where each class stands; for two classes unused.
    ranges: Vec<Range<usize>>,
    all: Vec<(usize, usize)>,
    codes: &'a [u32],
    weights: &'a [f64],
    classes: usize,
}

/// Examples of a problem with their signs and weights.
pub(in crate::machines) struct Side {
    pub(super) columns: Vec<Range<usize>>,
    pub(in crate::machines) signs: Vec<f64>,
    pub(in crate::machines) weights: Vec<f64>,
}

impl<'a> Pairs<'a> {
    pub(in crate::machines) fn new(codes: &'a [u32], classes: usize, weights: &'a [f64]) -> Self {
        let n = codes.len();
        let mut order: Vec<usize> = (0..n).collect();
        let mut ranges = vec![0..n];
        if classes > 2 {
            order.sort_by_key(|&i| codes[i]);
            ranges.clear();
            let mut first = 0;
            for c in 0..classes {
                let size = order[first..].iter().take_while(|&&i| codes[i] as usize == c).count();
                ranges.push(first..first + size);
                first += size;
            }
        }
        let all = (0..classes).flat_map(|a| (a + 1..classes).map(move |b| (a, b))).collect();
        Self { order, ranges, all, codes, weights, classes }
    }

    /// The matrix of the task in the order of the pairs' columns.
    pub(super) fn gram(&self, task: &Task<'_>) -> Arc<dyn Gram> {
        let mut gram = Arc::clone(&task.gram);
        if self.classes > 2 {
            // packing first makes the repacking in order cheap
            gram.row_group();
            gram = gram.restrict(&self.order, &self.order);
            // a row that is expensive serves all pairs that its example takes part in
            if gram.rows_are_expensive() {
                gram = RowCache::share(&gram, task.budget.memory / 2);
            }
        }
        gram
    }

    /// How many pairs.
    pub(in crate::machines) fn count(&self) -> usize {
        self.all.len()
    }

    /// How many examples each pair has.
    pub(super) fn sizes(&self) -> Vec<usize> {
        self.all.iter().map(|&pair| self.columns(pair).iter().map(Range::len).sum()).collect()
    }

    fn columns(&self, (a, b): (usize, usize)) -> Vec<Range<usize>> {
        if self.classes > 2 { vec![self.ranges[a].clone(), self.ranges[b].clone()] } else { self.ranges.clone() }
    }

    /// The two classes of a pair.
    pub(super) fn classes(&self, p: usize) -> (usize, usize) {
        self.all[p]
    }

    /// The examples of a pair, in the order of its columns.
    pub(in crate::machines) fn examples(&self, p: usize) -> Vec<usize> {
        self.columns(self.all[p]).into_iter().flatten().map(|place| self.order[place]).collect()
    }

    /// The examples of a pair with their signs: a positive score decides for the first class, as in LIBSVM.
    pub(in crate::machines) fn side(&self, p: usize) -> Side {
        let examples = self.examples(p);
        let first = self.all[p].0;
        Side {
            columns: self.columns(self.all[p]),
            signs: examples.iter().map(|&i| if self.codes[i] as usize == first { 1.0 } else { -1.0 }).collect(),
            weights: examples.iter().map(|&i| self.weights[i]).collect(),
        }
    }

    /// The multipliers of a pair in an earlier fit.
    pub(super) fn start(&self, fitted: Option<&Fitted>, p: usize) -> Option<Vec<f64>> {
        let Coefficients::Pairwise { points, classes, alpha, count } = &fitted?.expansion.coefficients else {
            return None;
        };
        let fits = *count == self.classes && points.iter().all(|&i| i < self.codes.len());
        if !fits {
            return None;
        }
        let (a, b) = self.all[p];
        let mut of = vec![0.0; self.codes.len()];
        for (k, (&i, &class)) in points.iter().zip(classes).enumerate() {
            let row = &alpha[k * (count - 1)..(k + 1) * (count - 1)];
            if class as usize == a {
                of[i] = row[b - 1];
            } else if class as usize == b {
                of[i] = row[a];
            }
        }
        Some(self.examples(p).into_iter().map(|i| of[i]).collect())
    }

    /// Held-out scores of each example against each other class, n × (k − 1). None if a pair has none.
    pub(super) fn join_held_out(&self, solutions: &[Solution]) -> Option<Vec<f64>> {
        let parts: Vec<&Vec<f64>> = solutions.iter().map(|s| s.held_out.as_ref()).collect::<Option<_>>()?;
        let (n, others) = (self.codes.len(), self.classes - 1);
        let mut scores = vec![f64::NAN; n * others];
        for (p, part) in parts.into_iter().enumerate() {
            for (i, &score) in self.examples(p).into_iter().zip(part) {
                scores[i * others + self.column(p, i)] = score;
            }
        }
        Some(scores)
    }

    /// The place of the other class of a pair among those that are not the example's own.
    fn column(&self, p: usize, i: usize) -> usize {
        let (a, b) = self.all[p];
        if self.codes[i] as usize == a { b - 1 } else { a }
    }

    /// LIBSVM's compact form: an example of class c has a coefficient y α for each of the other classes. With the number of
    /// support vectors.
    pub(in crate::machines) fn join(&self, solutions: &[&[f64]]) -> (Coefficients, usize) {
        let (n, others) = (self.codes.len(), self.classes - 1);
        let mut alpha = vec![0.0; n * others];
        for (p, solution) in solutions.iter().enumerate() {
            for (i, &beta) in self.examples(p).into_iter().zip(*solution) {
                alpha[i * others + self.column(p, i)] = beta;
            }
        }
        let mut points: Vec<usize> =
            (0..n).filter(|&i| alpha[i * others..(i + 1) * others].iter().any(|&a| a != 0.0)).collect();
        points.sort_by_key(|&i| self.codes[i]);
        let support = points.len();
        let coefficients = Coefficients::Pairwise {
            classes: points.iter().map(|&i| self.codes[i]).collect(),
            alpha: points.iter().flat_map(|&i| &alpha[i * others..(i + 1) * others]).copied().collect(),
            count: self.classes,
            points,
        };
        (coefficients, support)
    }
}
