//! Several classes by problems of two sides: what turns a binary machine into one of many classes.
//!
//! A binary machine finds a function f for signs y_i = ±1. A [`Reduction`] says which problems of that kind a target becomes
//! and how their functions answer together:
//!
//! ```text
//! one against one    (a, b), a < b:  y = +1 on class a, −1 on class b, no other examples;   a vote
//! one against rest   c:              y = +1 on class c, −1 on all others;                   the largest f_c
//! ```
//! A machine takes the problems one at a time ([`side_by_side`], [`in_turn`], and [`gather`] for what they come to), or those on the
//! same examples at once ([`Reduction::blocks`]), where one factorisation or one pass over the data serves them all. It never
//! makes signs or a readout itself.
//!
//! A further reduction (an error-correcting code, the sets of labels of an example) is a file here: it says how many problems
//! there are, the sign of each example in each of them, and the readout. The rest follows from these, unless it has a more
//! compact way to keep its coefficients, as one against one has.
//!
//! # Source
//! E. L. Allwein, R. E. Schapire & Y. Singer (2000), Reducing multiclass to binary, Journal of Machine Learning Research 1: all of
//! these are codes of classes by signs and zeros. Chang & Lin (2011), §7, for one against one and its vote.

mod one_vs_one;
mod one_vs_rest;

pub(in crate::machines) use one_vs_one::{OneVsOne, pairs};
pub(in crate::machines) use one_vs_rest::OneVsRest;

use super::evidence::{Evidence, ProblemNote, join, join_notes};
use super::{Coefficients, Expansion, FitError, Fitted, Readout, SolverReport, Task};
use crate::calibrate::Layout;
use crate::data::Classes;
use crate::gram::Gram;
use crate::gram::views::RowCache;
use crate::parallel;
use crate::params::Choice;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// Reductions of several classes to problems of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// A problem for each pair of classes, and a vote.
    OneVsOne,
    /// A problem for each class against all others; the largest value wins.
    OneVsRest,
}

impl Choice for Strategy {
    fn options(&self) -> &'static [&'static str] {
        &["one_vs_one", "one_vs_rest"]
    }
    fn get(&self) -> usize {
        *self as usize
    }
    fn set(&mut self, position: usize) {
        *self = [Self::OneVsOne, Self::OneVsRest][position];
    }
}

impl Strategy {
    /// The problems of some classes.
    pub(super) fn reduction<'a>(self, classes: &'a Classes) -> Box<dyn Reduction + 'a> {
        match self {
            Self::OneVsOne => Box::new(OneVsOne::new(classes)),
            Self::OneVsRest => Box::new(OneVsRest::new(classes)),
        }
    }
}

/// Problems of two sides on the same examples: a single one, or several that can be solved at once.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SignedProblem {
    /// The place of the first of them among all problems of the reduction.
    pub(super) first: usize,
    /// The examples, as places in the training data.
    pub(super) examples: Vec<usize>,
    /// ±1, examples × outputs row by row.
    pub(super) signs: Vec<f64>,
    /// The number of problems.
    pub(super) outputs: usize,
}

impl SignedProblem {
    /// The signs of one of the problems.
    pub(super) fn signs_of(&self, output: usize) -> Vec<f64> {
        self.signs.iter().skip(output).step_by(self.outputs).copied().collect()
    }

    /// The values of its examples, from one for each training example.
    pub(super) fn pick<T: Copy>(&self, values: &[T]) -> Vec<T> {
        self.examples.iter().map(|&i| values[i]).collect()
    }

    /// The matrix between its examples, from that between all.
    pub(super) fn gram(&self, all: &Arc<dyn Gram>) -> Arc<dyn Gram> {
        if self.examples.iter().copied().eq(0..all.shape().0) {
            return Arc::clone(all);
        }
        Arc::clone(all).restrict(&self.examples, &self.examples)
    }

    /// The same problems on those of some examples that they have, in the order given.
    pub(super) fn among(&self, examples: &[usize]) -> Self {
        let end = self.examples.iter().max().map_or(0, |&last| last + 1);
        let mut row_of = vec![None; end];
        self.examples.iter().enumerate().for_each(|(row, &i)| row_of[i] = Some(row));
        let rows = || examples.iter().filter_map(|&i| row_of.get(i).copied().flatten());
        let signs = rows().flat_map(|row| &self.signs[row * self.outputs..(row + 1) * self.outputs]);
        Self {
            first: self.first,
            examples: rows().map(|row| self.examples[row]).collect(),
            signs: signs.copied().collect(),
            outputs: self.outputs,
        }
    }
}

/// A number for each of some examples, found by one problem.
pub(super) struct Column<'a> {
    /// The examples, as places in the training data; `None`: all examples of the problem, in its order.
    pub(super) examples: Option<Vec<usize>>,
    /// Their numbers.
    pub(super) values: &'a [f64],
}

impl<'a> Column<'a> {
    /// Columns of all problems, each with a number for every example of its problem.
    pub(super) fn of_problems(found: impl IntoIterator<Item = &'a [f64]>) -> Vec<Self> {
        found.into_iter().map(|values| Self { examples: None, values }).collect()
    }

    /// The examples of the column, which is that of a problem.
    fn examples(&self, reduction: &(impl Reduction + ?Sized), problem: usize) -> Cow<'_, [usize]> {
        self.examples.as_deref().map_or_else(|| Cow::Owned(reduction.examples(problem)), Cow::Borrowed)
    }
}

/// The examples that an expansion keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    /// All of them.
    All,
    /// The examples with a coefficient that is not zero.
    NonZero,
}

/// Problems of two sides in the place of one target, and how their functions answer together.
pub(super) trait Reduction: Sync {
    /// The number of training examples.
    fn len(&self) -> usize;

    /// The number of problems, each of which gives a score.
    fn problems(&self) -> usize;

    /// The sign of an example in a problem: +1, −1, or 0 where it takes no part.
    fn sign(&self, problem: usize, example: usize) -> f64;

    /// The readout, which turns the scores of all problems into a prediction.
    fn readout(&self) -> Readout;

    /// The examples that take part in a problem, in the order of its columns.
    fn examples(&self, problem: usize) -> Vec<usize> {
        (0..self.len()).filter(|&i| self.sign(problem, i) != 0.0).collect()
    }

    /// One problem.
    fn problem(&self, problem: usize) -> SignedProblem {
        self.block(problem..problem + 1)
    }

    /// Several problems that have the same examples.
    fn block(&self, problems: Range<usize>) -> SignedProblem {
        let examples = self.examples(problems.start);
        let row = |&i: &usize| problems.clone().map(move |p| self.sign(p, i));
        SignedProblem {
            first: problems.start,
            signs: examples.iter().flat_map(row).collect(),
            outputs: problems.len(),
            examples,
        }
    }

    /// All problems in order, neighbours with the same examples as one block: they share a matrix, and what is computed of it.
    fn blocks(&self) -> Vec<SignedProblem> {
        let (mut blocks, mut start) = (Vec::new(), 0);
        while start < self.problems() {
            let shared = self.examples(start);
            let more = (start + 1..self.problems()).take_while(|&p| self.examples(p) == shared).count();
            blocks.push(self.block(start..start + 1 + more));
            start += 1 + more;
        }
        blocks
    }

    /// The coefficients of all problems' functions in one expansion: a column for each problem.
    fn coefficients(&self, found: &[Column<'_>], keep: Keep) -> Coefficients {
        let k = found.len();
        let all = table(self, found, 0.0);
        let row = |i: usize| &all[i * k..(i + 1) * k];
        let kept = |i: &usize| keep == Keep::All || row(*i).iter().any(|&a| a != 0.0);
        let points: Vec<usize> = (0..self.len()).filter(kept).collect();
        Coefficients::Dual { alpha: points.iter().flat_map(|&i| row(i)).copied().collect(), points }
    }

    /// Scores of the training examples, n × problems row by row; `None` where some problem does not have them all.
    fn scores(&self, found: &[Column<'_>]) -> Option<Vec<f64>> {
        let whole = found.iter().all(|column| column.values.len() == self.len());
        whole.then(|| table(self, found, f64::NAN))
    }

    /// Held-out scores of the training examples as calibration takes them; not a number where a problem has none.
    fn held_out(&self, found: &[Column<'_>]) -> (Layout, Vec<f64>) {
        (Layout::Outputs, table(self, found, f64::NAN))
    }

    /// The coefficients of a problem's examples in an earlier fit, if they are of this form.
    fn start(&self, fitted: &Fitted, problem: usize) -> Option<Vec<f64>> {
        let Coefficients::Dual { points, alpha } = &fitted.expansion.coefficients else { return None };
        let k = self.problems();
        if alpha.len() != points.len() * k || points.iter().any(|&i| i >= self.len()) {
            return None;
        }
        let mut of = vec![0.0; self.len()];
        points.iter().enumerate().for_each(|(row, &i)| of[i] = alpha[row * k + problem]);
        Some(self.examples(problem).into_iter().map(|i| of[i]).collect())
    }

    /// The columns of a problem in [`Reduction::rows`].
    fn ranges(&self, problem: usize) -> Vec<Range<usize>> {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for i in self.examples(problem) {
            match ranges.last_mut() {
                Some(last) if last.end == i => last.end += 1,
                _ => ranges.push(i..i + 1),
            }
        }
        ranges
    }

    /// One matrix for all problems, for solvers that go by rows; `cache` is the memory for rows that problems share.
    fn rows(&self, task: &Task<'_>, cache: usize) -> Arc<dyn Gram> {
        RowCache::share(&task.gram, cache)
    }
}

/// n × problems numbers row by row; `missing` where a column does not have an example.
fn table(reduction: &(impl Reduction + ?Sized), columns: &[Column<'_>], missing: f64) -> Vec<f64> {
    let k = columns.len();
    let mut rows = vec![missing; reduction.len() * k];
    for (p, column) in columns.iter().enumerate() {
        column.examples(reduction, p).iter().zip(column.values).for_each(|(&i, value)| rows[i * k + p] = *value);
    }
    rows
}

/// The solution of a binary machine for one problem: f(x) = Σ β_i κ(x_i, x) + b.
pub(super) struct BinarySolution {
    /// β of the problem's examples, in their order.
    pub(super) coefficients: Vec<f64>,
    /// b.
    pub(super) offset: f64,
    /// f of the problem's examples, where it is known.
    pub(super) scores: Option<Vec<f64>>,
    pub(super) evidence: Evidence,
    pub(super) notes: Vec<ProblemNote>,
}

/// Solves every problem, side by side; solutions stand in the order of problems.
pub(super) fn side_by_side<S: Send>(
    reduction: &dyn Reduction,
    solve: impl Fn(&SignedProblem) -> Result<S, FitError> + Sync + Send,
) -> Result<Vec<S>, FitError> {
    parallel::map(reduction.problems(), |p| solve(&reduction.problem(p))).into_iter().collect()
}

/// Solves every problem, one after the other: for machines that take all threads for a single one.
pub(super) fn in_turn<S>(
    reduction: &dyn Reduction,
    solve: impl Fn(&SignedProblem) -> Result<S, FitError>,
) -> Result<Vec<S>, FitError> {
    (0..reduction.problems()).map(|p| solve(&reduction.problem(p))).collect()
}

/// The functions of all problems as one fit, with the evidence of all together.
pub(super) fn gather(reduction: &dyn Reduction, solved: &[BinarySolution], keep: Keep) -> Fitted {
    let evidence: Vec<Evidence> = solved.iter().map(|s| s.evidence).collect();
    let notes: Vec<&[ProblemNote]> = solved.iter().map(|s| s.notes.as_slice()).collect();
    let found = Column::of_problems(solved.iter().map(|s| s.coefficients.as_slice()));
    let expansion = Expansion {
        coefficients: reduction.coefficients(&found, keep),
        offsets: solved.iter().map(|s| s.offset).collect(),
    };
    let scores: Option<Vec<&[f64]>> = solved.iter().map(|s| s.scores.as_deref()).collect();
    let training_scores = scores.and_then(|all| reduction.scores(&Column::of_problems(all)));
    let report = SolverReport { support: Some(expansion.points().len()), notes: join_notes(&notes), ..join(&evidence) };
    Fitted::new(expansion, reduction.readout(), report).with_training_scores(training_scores)
}

#[cfg(test)]
mod tests;
