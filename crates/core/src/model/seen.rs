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
    /// The number of those that are training examples. Examples of few values are equal by chance: where that explains what is equal, there
    /// are none.
    pub found: usize,
    /// The number of those that are equal to a training example, by chance or not.
    pub equal: usize,
    /// False where these numbers are estimates, from a sample of the training examples.
    pub exact: bool,
}

impl Seen {
    /// True if most of the examples are training examples: then errors are training errors.
    pub fn most(&self) -> bool {
        2 * self.found > self.examples
    }

    /// True if more than one in a hundred examples is a training example: then no interval of an error says anything about new ones.
    pub fn spoils(&self) -> bool {
        100 * self.found > self.examples
    }

    /// The share of training examples.
    pub fn share(&self) -> f64 {
        self.found as f64 / self.examples.max(1) as f64
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
    /// Numbers that recognise examples are kept for up to a thousand different ones; beyond that the counts are estimates.
    ///
    /// Training examples are told from examples that are equal to them by chance by how often equal ones occur among both: pairs across the
    /// two sets against pairs within each. Not recognised are parts of a training set in which every example stands many
    /// times, and copies of rows that were repeated before a set was divided, which look like examples of few values.
    pub fn seen(&self, data: &Dataset) -> Option<Seen> {
        let provenance = self.provenance.as_ref()?;
        let (found, exact) = provenance.copies_among(data)?;
        let number = |share: f64| (share * data.len() as f64).round() as usize;
        let (found, equal) = (number(found.share), number(found.equal));
        Some(Seen {
            examples: data.len(),
            found,
            equal: equal.max(found),
            exact: exact && (found == equal || found == 0),
        })
    }

    /// Compares predictions for data with their target. Where more than one in a hundred examples is a training example, or rows were
    /// repeated, there are no intervals, since these speak of new examples that were drawn independently.
    ///
    /// # Errors
    /// If there is no target, or it does not fit the predictions.
    pub fn measure(&self, output: &Output, data: &Dataset) -> Result<Metrics, DataError> {
        let metrics = measure(output, data.target().ok_or(DataError::NoTarget)?)?;
        let spoilt = self.seen(data).is_some_and(|seen| seen.spoils()) || data.repeats().repeated;
        Ok(if spoilt { metrics.without_intervals() } else { metrics })
    }

    /// The number of examples, and how many of them are training examples, in words.
    pub(super) fn counted(&self, data: &Dataset) -> String {
        self.seen(data).unwrap_or(Seen { examples: data.len(), found: 0, equal: 0, exact: true }).to_string()
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
        assert_eq!(seen(&training), Seen { examples: 100, found: 100, equal: 100, exact: true });
        assert_eq!(seen(&turned).found, 100);
        assert_eq!(seen(&new), Seen { examples: 60, found: 0, equal: 0, exact: true });
        assert_eq!(seen(&examples(90, 160)).to_string(), "70 examples, 10 of them training examples");
        let interval = |data: &Dataset| {
            let Ok(Metrics::Classes(m)) = model.measure(&model.predict(data).unwrap(), data) else { panic!() };
            m.error_interval
        };
        assert_eq!((interval(&training), interval(&turned)), (None, None));
        assert!(
            interval(&new).is_some() && interval(&examples(90, 160)).is_none(),
            "a seventh of them says little of new ones"
        );
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

    /// Points of a grid of so many values in each direction, so that few are different.
    fn of_few_values(from: usize, to: usize, values: f64) -> Dataset {
        let mut random = Seed(9).stream("few values");
        let mut place = || (random.normal() * 1.5).round().clamp(-values, values);
        let all: Vec<[f64; 3]> = (0..to).map(|_| [place(), place(), place()]).collect();
        let rows: Vec<f64> = all[from..].iter().flat_map(|[x, y, _]| [*x, *y]).collect();
        let words: Vec<&str> = all[from..].iter().map(|[x, _, z]| if 2.0 * x + z > 0.0 { "p" } else { "n" }).collect();
        Dataset::new(Rows::new(rows, to - from, 2).unwrap()).with_target(Target::from_text("y", &words)).unwrap()
    }

    #[test]
    fn training_examples_that_repeat_themselves_are_told_from_a_fresh_draw_of_the_same_values() {
        for values in [2.0, 6.0] {
            let (training, new) = (of_few_values(0, 400, values), of_few_values(400, 800, values));
            let model = crate::prelude::NearestMean::default().fit(&rbf(1.0), &training).unwrap();
            let turned = training.select(&(0..400).rev().collect::<Vec<_>>());
            let (found, fresh) = (model.seen(&turned).unwrap(), model.seen(&new).unwrap());
            assert!(found.most() && found.found == 400, "{values}: {found:?}");
            assert!(fresh.found == 0 && fresh.equal > 300, "{values}: {fresh:?}");
            let interval = |data: &Dataset| {
                let Ok(Metrics::Classes(m)) = model.measure(&model.predict(data).unwrap(), data) else { panic!() };
                m.error_interval
            };
            assert!(interval(&turned).is_none() && interval(&new).is_some());
            let mut again = model.clone();
            assert!(again.calibrate_on(&turned, false).is_err() && again.calibrate_on(&new, false).is_ok());
        }
    }
}
