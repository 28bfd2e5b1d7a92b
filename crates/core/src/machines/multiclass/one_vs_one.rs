//! One against one: a problem for each pair of classes, on one matrix whose examples stand class by class.

use super::{Column, Keep, Reduction};
use crate::calibrate::Layout;
use crate::data::Classes;
use crate::gram::Gram;
use crate::gram::views::RowCache;
use crate::machines::{Coefficients, Fitted, Readout, Task};
use std::ops::Range;
use std::sync::Arc;

/// All pairs (a, b), a < b < k, in the order of their problems and scores.
pub(in crate::machines) fn pairs(k: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..k).flat_map(move |a| (a + 1..k).map(move |b| (a, b)))
}

/// The pairs of the classes of a target; a positive score decides for the first of a pair, as in LIBSVM.
pub(in crate::machines) struct OneVsOne<'a> {
    classes: &'a Classes,
    pairs: Vec<(usize, usize)>,
    /// The examples class by class; those of two classes stay in the order they have.
    order: Vec<usize>,
    /// The place of each class; of two classes, the one range of both.
    ranges: Vec<Range<usize>>,
}

impl<'a> OneVsOne<'a> {
    pub(in crate::machines) fn new(classes: &'a Classes) -> Self {
        let (codes, k) = (&classes.codes, classes.labels.len());
        let mut order: Vec<usize> = (0..codes.len()).collect();
        let mut ranges = vec![0..codes.len()];
        if k > 2 {
            crate::order::by_class(&mut order, codes);
            ranges.clear();
            let mut first = 0;
            for c in 0..k {
                let size = order[first..].iter().take_while(|&&i| codes[i] as usize == c).count();
                ranges.push(first..first + size);
                first += size;
            }
        }
        Self { classes, pairs: pairs(k).collect(), order, ranges }
    }

    /// The two classes of a problem.
    pub(in crate::machines) fn pair(&self, problem: usize) -> (usize, usize) {
        self.pairs[problem]
    }

    /// The matrix of a task in the order of the columns of all pairs.
    pub(in crate::machines) fn arranged(&self, task: &Task<'_>) -> Arc<dyn Gram> {
        let mut gram = Arc::clone(&task.gram);
        if self.several() {
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

    fn several(&self) -> bool {
        self.classes.labels.len() > 2
    }

    /// The number of classes that are not an example's own.
    fn others(&self) -> usize {
        self.classes.labels.len() - 1
    }

    fn class(&self, example: usize) -> usize {
        self.classes.codes[example] as usize
    }

    /// Numbers of all pairs, n × (k − 1): of an example against each class that is not its own, in order.
    fn against_others(&self, found: &[Column<'_>], missing: f64) -> Vec<f64> {
        let others = self.others();
        let mut all = vec![missing; self.len() * others];
        for (p, (&(a, b), column)) in self.pairs.iter().zip(found).enumerate() {
            for (&i, &value) in column.examples(self, p).iter().zip(column.values) {
                all[i * others + if self.class(i) == a { b - 1 } else { a }] = value;
            }
        }
        all
    }
}

impl Reduction for OneVsOne<'_> {
    fn len(&self) -> usize {
        self.classes.codes.len()
    }

    fn problems(&self) -> usize {
        self.pairs.len()
    }

    fn sign(&self, problem: usize, example: usize) -> f64 {
        let ((a, b), class) = (self.pairs[problem], self.class(example));
        match class {
            _ if class == a => 1.0,
            _ if class == b => -1.0,
            _ => 0.0,
        }
    }

    fn readout(&self) -> Readout {
        Readout::Vote { labels: self.classes.labels.clone() }
    }

    fn examples(&self, problem: usize) -> Vec<usize> {
        self.ranges(problem).into_iter().flatten().map(|place| self.order[place]).collect()
    }

    /// LIBSVM's compact form: an example of class c has a coefficient y α for each of the other classes.
    fn coefficients(&self, found: &[Column<'_>], keep: Keep) -> Coefficients {
        let all = self.against_others(found, 0.0);
        let row = |i: usize| &all[i * self.others()..(i + 1) * self.others()];
        let kept = |i: &usize| keep == Keep::All || row(*i).iter().any(|&a| a != 0.0);
        let mut points: Vec<usize> = (0..self.len()).filter(kept).collect();
        crate::order::by_class(&mut points, &self.classes.codes);
        Coefficients::Pairwise {
            classes: points.iter().map(|&i| self.classes.codes[i]).collect(),
            alpha: points.iter().flat_map(|&i| row(i)).copied().collect(),
            count: self.classes.labels.len(),
            points,
        }
    }

    fn held_out(&self, found: &[Column<'_>]) -> (Layout, Vec<f64>) {
        (Layout::Others, self.against_others(found, f64::NAN))
    }

    fn start(&self, fitted: &Fitted, problem: usize) -> Option<Vec<f64>> {
        let Coefficients::Pairwise { points, classes, alpha, count } = &fitted.expansion.coefficients else {
            return None;
        };
        if *count != self.classes.labels.len() || points.iter().any(|&i| i >= self.len()) {
            return None;
        }
        let ((a, b), others) = (self.pairs[problem], self.others());
        let mut of = vec![0.0; self.len()];
        for ((&i, &class), row) in points.iter().zip(classes).zip(alpha.chunks_exact(others)) {
            if class as usize == a {
                of[i] = row[b - 1];
            } else if class as usize == b {
                of[i] = row[a];
            }
        }
        Some(self.examples(problem).into_iter().map(|i| of[i]).collect())
    }

    fn ranges(&self, problem: usize) -> Vec<Range<usize>> {
        let (a, b) = self.pairs[problem];
        if self.several() { vec![self.ranges[a].clone(), self.ranges[b].clone()] } else { self.ranges.clone() }
    }

    /// The matrix class by class. Rows that are cheap are kept by each problem for itself, and expensive ones for all of them
    /// in half of the memory, whatever the cache of one problem.
    fn rows(&self, task: &Task<'_>, _cache: usize) -> Arc<dyn Gram> {
        self.arranged(task)
    }
}
