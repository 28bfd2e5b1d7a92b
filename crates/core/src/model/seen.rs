//! Training examples among others: what a model has learned from says little about how it does on new examples.

use super::Model;
use crate::data::{DataError, Dataset};
use crate::machines::Output;
use crate::metrics::{Metrics, measure};
use serde::Serialize;
use std::fmt;

/// The number of examples of a data set that a model has learned from, with the same target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Seen {
    /// The number of examples of the data set.
    pub examples: usize,
    /// The number of those that stand among the training examples.
    pub found: usize,
    /// False where that number is an estimate, from a sample of the training examples.
    pub exact: bool,
}

impl Seen {
    /// True if most of the examples are training examples: then errors are training errors. Few may be accidents, since examples of few
    /// different values repeat themselves.
    pub fn most(&self) -> bool {
        2 * self.found > self.examples
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let about = if self.exact { "" } else { "about " };
        match self.found {
            0 => write!(f, "{} examples", self.examples),
            all if all == self.examples => write!(f, "{all} training examples"),
            some => write!(f, "{} examples, {about}{some} of them training examples", self.examples),
        }
    }
}

impl Model {
    /// The number of examples that the model has learned from, in any order; `None` where nothing is known about its training examples.
    /// Numbers that recognise examples are kept for up to a thousand of them; beyond that the count is an estimate.
    pub fn seen(&self, data: &Dataset) -> Option<Seen> {
        let provenance = self.provenance.as_ref()?;
        let (found, exact) = provenance.found_among(data)?;
        Some(Seen { examples: data.len(), found, exact })
    }

    /// Compares predictions for data with their target. Where most of the examples are training examples there are no intervals, since
    /// these speak of new examples.
    ///
    /// # Errors
    /// If there is no target, or it does not fit the predictions.
    pub fn measure(&self, output: &Output, data: &Dataset) -> Result<Metrics, DataError> {
        let metrics = measure(output, data.target().ok_or(DataError::NoTarget)?)?;
        Ok(if self.seen(data).is_some_and(|seen| seen.most()) { metrics.without_intervals() } else { metrics })
    }

    /// The number of examples, and how many of them are training examples, in words.
    pub(super) fn counted(&self, data: &Dataset) -> String {
        self.seen(data).unwrap_or(Seen { examples: data.len(), found: 0, exact: true }).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Fit;
    use crate::prelude::{Rows, Seed, Svc, Target, rbf};

    fn examples(from: usize, to: usize) -> Dataset {
        let mut random = Seed(3).stream("seen");
        let values: Vec<f64> = (0..2 * to).map(|_| random.normal()).collect();
        let words: Vec<&str> = (from..to).map(|i| if values[2 * i] > 0.0 { "p" } else { "n" }).collect();
        let rows = Rows::new(values[2 * from..].to_vec(), to - from, 2).unwrap();
        Dataset::new(rows).with_target(Target::from_text("y", &words)).unwrap()
    }

    #[test]
    fn training_examples_are_found_in_any_order_and_counted() {
        let (training, new) = (examples(0, 100), examples(100, 160));
        let model = Svc::default().fit(&rbf(1.0), &training).unwrap();
        let turned = training.select(&(0..100).rev().collect::<Vec<_>>());
        let seen = |data: &Dataset| model.seen(data).unwrap();
        assert_eq!(seen(&training), Seen { examples: 100, found: 100, exact: true });
        assert_eq!(seen(&turned).found, 100);
        assert_eq!(seen(&new), Seen { examples: 60, found: 0, exact: true });
        assert_eq!(seen(&examples(90, 160)).to_string(), "70 examples, 10 of them training examples");
        let interval = |data: &Dataset| {
            let Ok(Metrics::Classes(m)) = model.measure(&model.predict(data).unwrap(), data) else { panic!() };
            m.error_interval
        };
        assert_eq!((interval(&training), interval(&turned)), (None, None));
        assert!(interval(&new).is_some() && interval(&examples(90, 160)).is_some());
    }

    #[test]
    fn of_many_training_examples_a_sample_tells_about_how_many() {
        let training = examples(0, 5000);
        let model = crate::prelude::NearestMean::default().fit(&rbf(1.0), &training).unwrap();
        let seen = model.seen(&examples(2500, 7500)).unwrap();
        assert!(!seen.exact && seen.found.abs_diff(2500) < 250, "{seen}");
        assert_eq!(model.seen(&examples(5000, 7500)).unwrap().found, 0);
        assert_eq!(model.seen(&training.select(&[4, 2, 9])).map(|s| s.examples), Some(3));
    }
}
