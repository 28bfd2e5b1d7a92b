//! Splits of a data set as they lie in a stored matrix.

use super::Split;
use crate::data::{DataError, Dataset, Target};
use crate::machines::{Learns, Order};

/// The examples in the order in which the matrix is stored, and the part that each fold holds out.
pub(crate) struct Folds {
    /// The example at each place: class by class, and fold by fold within a class, so that the columns of a class without
    /// a fold are two stretches of the matrix; as in the data for machines to which the order of the examples matters.
    pub(crate) order: Vec<usize>,
    /// The folds; there may be examples that none of them holds out, or several.
    pub(crate) all: Vec<Fold>,
    /// The target of all examples, in that order.
    pub(super) target: Target,
    /// The weights of all examples, in that order.
    pub(super) weights: Option<Vec<f64>>,
}

/// A fold; its places are those in the stored matrix.
pub(crate) struct Fold {
    /// Places of the examples that are learned from, in rising order, or in that of the split where the order matters.
    pub(super) train: Vec<usize>,
    /// Places of the examples that are held out.
    pub(super) test: Vec<usize>,
    /// The target of the examples that are learned from.
    pub(super) known: Target,
    /// The target of the examples that are held out.
    pub(super) unknown: Target,
    /// The weights of the examples that are learned from.
    pub(super) weights: Option<Vec<f64>>,
}

impl Folds {
    /// Folds that are disjoint and together all examples: each is held out once.
    pub(crate) fn partition(data: &Dataset, folds: &[Vec<usize>], reading: (Learns, Order)) -> Result<Self, DataError> {
        Self::of(data, folds.iter().map(|fold| Split::without(fold, data)).collect(), reading)
    }

    /// Splits of any kind.
    pub(crate) fn of(data: &Dataset, splits: Vec<Split>, reading: (Learns, Order)) -> Result<Self, DataError> {
        let mut fold_of = vec![splits.len(); data.len()];
        for (f, split) in splits.iter().enumerate() {
            split.test.iter().filter(|&&i| i < data.len()).for_each(|&i| fold_of[i] = fold_of[i].min(f));
        }
        Self::ordered(data, splits, reading, &fold_of)
    }

    /// Splits of any kind, with examples of one class stored in the order of a number of each. A machine to which the order of the
    /// examples matters learns from them in the order of the split, whatever it is told here.
    pub(crate) fn ordered(
        data: &Dataset,
        splits: Vec<Split>,
        (learns, matters): (Learns, Order),
        number_of: &[usize],
    ) -> Result<Self, DataError> {
        let target = data.target().ok_or(DataError::NoTarget)?;
        let n = target.len();
        for (f, split) in splits.iter().enumerate() {
            let finding = if split.train.iter().chain(&split.test).any(|&i| i >= n) {
                "points outside the data"
            } else if split.weights.as_ref().is_some_and(|w| w.len() != split.train.len()) {
                "has not as many weights as examples to learn from"
            } else if split.weights.iter().flatten().any(|w| !w.is_finite() || *w < 0.0) {
                "has a weight below zero or no number"
            } else {
                ""
            };
            if !finding.is_empty() {
                return Err(DataError::Usage { finding: format!("split {} {finding}", f + 1) });
            }
        }
        let codes = if learns == Learns::Classes { target.classes()?.codes } else { vec![0; n] };
        let mut order: Vec<usize> = (0..n).collect();
        if matters == Order::Irrelevant {
            order.sort_by_key(|&i| (codes[i], number_of[i]));
        }
        let mut place_of = vec![0; n];
        order.iter().enumerate().for_each(|(place, &i)| place_of[i] = place);
        let fold = |split: Split| {
            // rows of the matrix are copied in stretches if places rise
            let mut rising: Vec<usize> = (0..split.train.len()).collect();
            if matters == Order::Irrelevant {
                rising.sort_by_key(|&t| place_of[split.train[t]]);
            }
            let known: Vec<usize> = rising.iter().map(|&t| split.train[t]).collect();
            Fold {
                test: split.test.iter().map(|&i| place_of[i]).collect(),
                weights: split.weights.map(|w| rising.iter().map(|&t| w[t]).collect()),
                train: known.iter().map(|&i| place_of[i]).collect(),
                known: target.select(&known),
                unknown: target.select(&split.test),
            }
        };
        let weights = data.weights().map(|w| order.iter().map(|&i| w[i]).collect());
        Ok(Self { all: splits.into_iter().map(fold).collect(), target: target.select(&order), weights, order })
    }

    /// True if each fold holds a single example out and learns from all others.
    pub(super) fn leave_one_out(&self) -> bool {
        let n = self.order.len();
        self.all.len() == n && self.all.iter().all(|fold| fold.test.len() == 1 && fold.train.len() + 1 == n)
    }
}
