//! Regions: sets, intervals and alarms of a conformal predictor for a batch of examples.

use crate::data::{DataError, Target, places_of_labels};
use serde::Serialize;

/// Regions of a batch of examples at one coverage.
#[derive(Clone, Debug, PartialEq)]
pub enum Regions {
    /// Labels of each example.
    Sets {
        /// All labels.
        labels: Vec<String>,
        /// n × labels: true if the label is in the set.
        inside: Vec<bool>,
        /// n × labels p-values.
        p_values: Vec<f64>,
        /// True if every set holds, beside these, any label that the model does not know.
        unknown: bool,
    },
    /// Intervals of each example and output, row by row; infinite where there are too few held-out examples.
    Intervals {
        /// Names of the predicted numbers.
        names: Vec<String>,
        /// Lower ends.
        lower: Vec<f64>,
        /// Upper ends.
        upper: Vec<f64>,
    },
    /// Examples that are unlike the others.
    Alarms {
        /// p-values.
        p_values: Vec<f64>,
        /// p ≤ 1 − coverage.
        alarms: Vec<bool>,
    },
}

/// The coverage and the size of regions, measured on labelled examples.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// The share of examples (and outputs) whose region holds the truth; of alarms, the share without.
    pub coverage: f64,
    /// The number of examples whose label the model does not know; sets only. They count as covered where sets hold such labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown: Option<usize>,
    /// The mean number of labels that the model knows, or the mean width; `None` for alarms, and where a width is infinite.
    pub size: Option<f64>,
    /// The coverage of each class, by its label; sets only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub of_classes: Vec<(String, f64)>,
    /// The shares of sets that are empty and that have a single label; sets only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub empty_and_single: Option<(f64, f64)>,
}

impl Regions {
    /// The number of examples.
    pub fn len(&self) -> usize {
        match self {
            Self::Sets { labels, inside, .. } => inside.len() / labels.len().max(1),
            Self::Intervals { names, lower, .. } => lower.len() / names.len().max(1),
            Self::Alarms { alarms, .. } => alarms.len(),
        }
    }

    /// True if there is no example.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends the regions of further examples by the same model.
    pub fn append(&mut self, more: Self) {
        match (self, more) {
            (Self::Sets { inside, p_values, .. }, Self::Sets { inside: i, p_values: p, .. }) => {
                inside.extend(i);
                p_values.extend(p);
            }
            (Self::Intervals { lower, upper, .. }, Self::Intervals { lower: l, upper: u, .. }) => {
                lower.extend(l);
                upper.extend(u);
            }
            (Self::Alarms { p_values, alarms }, Self::Alarms { p_values: p, alarms: a }) => {
                p_values.extend(p);
                alarms.extend(a);
            }
            _ => {}
        }
    }

    /// Compares regions with the truth; the coverage of alarms is the share of examples without one, whatever the target.
    ///
    /// # Errors
    /// If the target is of another kind or length.
    pub fn measure(&self, truth: Option<&Target>) -> Result<Measured, DataError> {
        let count = self.len().max(1) as f64;
        let truth = match (self, truth) {
            (Self::Alarms { alarms, .. }, _) => {
                let coverage = alarms.iter().filter(|a| !**a).count() as f64 / count;
                return Ok(Measured {
                    coverage,
                    unknown: None,
                    size: None,
                    of_classes: Vec::new(),
                    empty_and_single: None,
                });
            }
            (_, Some(truth)) if truth.len() == self.len() => truth,
            (_, Some(truth)) => {
                let (what, other) = ("the target".to_owned(), "the data".to_owned());
                return Err(DataError::Lengths { what, got: truth.len(), other, wanted: self.len() });
            }
            (_, None) => return Err(DataError::NoTarget),
        };
        match self {
            Self::Sets { labels, inside, unknown, .. } => {
                let (classes, k) = (truth.classes()?, labels.len());
                let places = places_of_labels(labels, &classes.labels);
                let mut of_classes = vec![(0_usize, 0_usize); classes.labels.len()];
                let (mut sizes, mut strangers) = ([0_usize; 2], 0);
                for (set, &code) in inside.chunks_exact(k.max(1)).zip(&classes.codes) {
                    let (held, all) = &mut of_classes[code as usize];
                    *held += usize::from(places[code as usize].map_or(*unknown, |p| set[p]));
                    strangers += usize::from(places[code as usize].is_none());
                    *all += 1;
                    if let Some(of) = sizes.get_mut(set.iter().filter(|s| **s).count()) {
                        *of += 1;
                    }
                }
                let held: usize = of_classes.iter().map(|(held, _)| held).sum();
                let share = |(label, (held, all)): (String, (usize, usize))| (label, held as f64 / all.max(1) as f64);
                Ok(Measured {
                    coverage: held as f64 / count,
                    unknown: Some(strangers),
                    size: Some(inside.iter().filter(|s| **s).count() as f64 / count),
                    of_classes: classes.labels.into_iter().zip(of_classes).map(share).collect(),
                    empty_and_single: Some((sizes[0] as f64 / count, sizes[1] as f64 / count)),
                })
            }
            Self::Intervals { lower, upper, .. } => {
                let values = truth.numbers()?.values;
                if values.len() != lower.len() {
                    let (what, other) = ("the target".to_owned(), "the prediction (in numbers)".to_owned());
                    return Err(DataError::Lengths { what, got: values.len(), other, wanted: lower.len() });
                }
                let held =
                    values.iter().zip(lower.iter().zip(upper)).filter(|(y, (l, u))| *l <= *y && *y <= *u).count();
                let width = upper.iter().zip(lower).map(|(u, l)| u - l).sum::<f64>() / lower.len().max(1) as f64;
                Ok(Measured {
                    coverage: held as f64 / values.len().max(1) as f64,
                    unknown: None,
                    size: Some(width).filter(|w| w.is_finite()),
                    of_classes: Vec::new(),
                    empty_and_single: None,
                })
            }
            Self::Alarms { .. } => Err(DataError::NoTarget),
        }
    }
}
