//! Trials: one kernel, several settings of a machine, several splits of the data; what comes out is predictions.
//!
//! A [`Search`](super::Search) over a grid makes its own folds and chooses by error. Whoever has splits and a measure of
//! their own asks for trials: kernel values and warm starts along `c` are shared in the same way, and the judgement is
//! theirs.

use crate::data::Dataset;
use crate::error::Error;
use crate::formula::Formula;
use crate::gram::Budget;
use crate::job::takes_weights;
use crate::linalg::SolveError;
use crate::machines::{Fitted, MachineEntry, Output};
use crate::params::{Setting, assign};
use crate::resample::{CrossValidator, FoldResult, Folds, KernelOnData, Point, Split};
use crate::seed::Seed;
use crate::watch::{Monitor, Status};

/// Fits with one kernel on parts of the data.
pub struct Trials<'a> {
    /// The machine that learns.
    pub machine: &'static MachineEntry,
    /// The kernel; data-driven parameters and centres are resolved on all examples.
    pub kernel: &'a Formula,
    /// The parameters of the machine, one list for each point.
    pub points: &'a [Vec<(String, Setting)>],
    /// The splits into training and held-out examples. Weights are those of a split, not of the data.
    pub splits: &'a [Split],
    /// The memory that matrices may take.
    pub budget: Budget,
    /// The seed of all random choices.
    pub seed: Seed,
}

/// The result of a fit on the examples that were held out of it.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Its predictions; labels are those of the examples it has learned from.
    pub output: Output,
    /// Its scores, n × outputs row by row.
    pub scores: Vec<f64>,
    /// The status at the end.
    pub status: Status,
    /// The number of training examples that carry weight; `None` where weights sit on explicit features.
    pub support: Option<usize>,
    /// Seconds that learning took.
    pub fit_seconds: f64,
    /// Seconds that predicting took.
    pub score_seconds: f64,
}

impl Trials<'_> {
    /// Fits every point on every split: by point, then by split.
    ///
    /// # Errors
    /// If a point cannot be, data fit neither kernel nor machine, or somebody stops it.
    pub fn run(&self, data: &Dataset, watch: &dyn Monitor) -> Result<Vec<Vec<Trial>>, Error> {
        let mut points = Vec::with_capacity(self.points.len());
        for settings in self.points {
            let mut machine = (self.machine.make)();
            for (name, value) in settings {
                assign(self.machine.name, machine.as_mut(), name, value)?;
            }
            points.push(Point { settings: settings.clone(), machine });
        }
        let Some(first) = points.first() else { return Ok(Vec::new()) };
        takes_weights(first.machine.as_ref(), self.splits.iter().any(|s| s.weights.is_some()))?;
        let order = first.machine.traits().order;
        let folds = Folds::of(data, self.splits.to_vec(), (self.machine.learns, order))?;
        let at_once = rayon::current_num_threads().min(folds.all.len()).max(1);
        let resolved = self.kernel.resolve(data, self.seed)?;
        let machine = first.machine.as_ref();
        let kernel = KernelOnData::new(resolved, machine, data, self.budget)?.stored(machine, &folds.order, at_once);
        let measure = |result: FoldResult<'_>| {
            Ok(Trial {
                output: result.fitted.readout.read(result.scores.clone()),
                scores: result.scores,
                status: result.fitted.report.status,
                support: support(result.fitted),
                fit_seconds: result.fit_seconds,
                score_seconds: result.score_seconds,
            })
        };
        let (seed, total) = (self.seed, points.len());
        let validator =
            CrossValidator { kernel: &kernel, folds: &folds, seed, watch, measure: &measure, done: 0, total };
        let measured = validator.run(&points)?;
        match measured.stopped {
            Some(reason) => Err(SolveError::Stopped { reason }.into()),
            None => Ok(measured.points.into_iter().map(Option::unwrap_or_default).collect()),
        }
    }
}

/// Examples that carry weight: as the solver counts them, else all that the expansion names.
fn support(fitted: &Fitted) -> Option<usize> {
    let named = fitted.expansion.width().is_none().then(|| fitted.expansion.points().len());
    fitted.report.support.or(named)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::rbf;
    use crate::machines;
    use crate::prelude::{Dataset, Fit, Schema, SchemaOptions, Svc};
    use crate::watch::Silent;

    fn moons() -> Dataset {
        let table = crate::datasets::load("two_moons", Some(90), Seed(3)).unwrap();
        Schema::learn_and_apply(&table, &SchemaOptions::default()).unwrap().1
    }

    fn trials(kernel: &Formula, points: &[f64], splits: &[Split]) -> Result<Vec<Vec<Trial>>, Error> {
        let point =
            |c: &f64| vec![("tolerance".to_owned(), Setting::Number(1e-6)), ("c".to_owned(), Setting::Number(*c))];
        let points: Vec<_> = points.iter().map(point).collect();
        let machine = machines::find("svc").unwrap();
        let trials = Trials { machine, kernel, points: &points, splits, budget: Budget::default(), seed: Seed(0) };
        trials.run(&moons(), &Silent)
    }

    #[test]
    fn a_trial_is_a_fit_on_its_part() {
        // parts that overlap, leave examples out and come in no order
        let splits = [
            Split { train: (0..60).rev().collect(), test: vec![80, 61, 70], weights: None },
            Split { train: (30..90).collect(), test: (0..30).collect(), weights: Some(vec![2.0; 60]) },
        ];
        let all = trials(&rbf(1.0), &[10.0, 1.0], &splits).unwrap();
        let data = moons();
        for (point, c) in [10.0, 1.0].into_iter().enumerate() {
            for (split, trial) in splits.iter().zip(&all[point]) {
                let price = if split.weights.is_some() { 2.0 * c } else { c };
                let mut machine = Svc { c: price, ..Svc::default() };
                machine.effort.tolerance = 1e-6;
                let alone = machine.fit(&rbf(1.0), &data.select(&split.train)).unwrap();
                let theirs = alone.scores(&data.select(&split.test)).unwrap();
                assert_eq!(trial.scores.len(), split.test.len());
                assert_eq!(trial.support, alone.fitted.report.support);
                // the sign of a pair depends on the class that comes first
                for (a, b) in trial.scores.iter().zip(&theirs) {
                    assert!((a.abs() - b.abs()).abs() < 1e-4, "{a} {b}");
                }
                assert_eq!(trial.output.labels(), alone.predict(&data.select(&split.test)).unwrap().labels());
            }
        }
    }

    #[test]
    fn splits_that_do_not_fit_are_refused() {
        let wrong = [
            Split { train: vec![0, 90], test: vec![1], weights: None },
            Split { train: vec![0, 1], test: vec![2], weights: Some(vec![1.0]) },
            Split { train: vec![0, 1], test: vec![2], weights: Some(vec![1.0, -1.0]) },
        ];
        for split in wrong {
            let error = trials(&rbf(1.0), &[1.0], &[split]).err().unwrap().to_string();
            assert!(error.contains("split 1"), "{error}");
        }
    }
}
