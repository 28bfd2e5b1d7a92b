//! Model selection as in the thesis of Mika, and the test that follows it.
//!
//! ```text
//! on the training part of each of the first five splits:
//!     the five-fold cross-validation error of every point of a coarse grid, then of a finer grid around the best
//! the parameters of all splits: the median of the five choices, each parameter by itself, in logarithms
//! on every split: learn from the training part, count the errors on the test part
//! ```
//! A test point of one split is a training point of another, so a little of the test leaks into the choice; the thesis
//! says so, too. Of points with the same error the one with the smallest mean error over its neighbours on the grid is
//! taken: the middle of a plateau rather than its edge.
//!
//! # Source
//! S. Mika, Kernel Fisher Discriminants (2002), §5.3.2. The grids are not printed there.

use super::benchmark::Benchmark;
use super::contender::{Axis, Contender, Size};
use mercer::Error;
use mercer::data::{DataError, Dataset, Target};
use mercer::gram::Budget;
use mercer::machines::{Learns, MachineEntry, Output};
use mercer::metrics::{Metrics, measure};
use mercer::params::Setting;
use mercer::seed::Seed;
use mercer::select::{Split, Trial, Trials, folds};
use mercer::watch::Monitor;
use rayon::prelude::*;

/// The number of splits that choose.
pub(super) const REALISATIONS: usize = 5;
/// Folds of the cross-validation.
const FOLDS: usize = 5;

/// A contender on a set.
pub(super) struct Protocol<'a> {
    pub(super) contender: &'a Contender,
    pub(super) entry: &'static MachineEntry,
    pub(super) set: &'a Benchmark,
    /// Values of each parameter on the finer grid; none where it is left out.
    pub(super) finer: usize,
    pub(super) budget: Budget,
    pub(super) seed: Seed,
}

/// The choice.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Choice {
    /// The median exponent of each parameter.
    pub(super) point: Vec<f64>,
    /// The choice of each split.
    pub(super) each: Vec<Vec<f64>>,
}

/// The result of a split.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tested {
    /// The share of wrong labels.
    pub(super) error: f64,
    /// The share of training examples without weight, where weights sit on examples.
    pub(super) zeros: Option<f64>,
}

/// A training part and how it is divided.
struct Part {
    data: Dataset,
    truth: Target,
    folds: Vec<Split>,
}

impl Protocol<'_> {
    /// The size of the problems.
    pub(super) fn size(&self) -> Size {
        Size { coordinates: self.set.width(), examples: self.set.train_size() }
    }

    /// The number of fits that a choice takes.
    pub(super) fn fits(&self) -> usize {
        let coarse: usize = self.contender.axes.iter().map(|a| a.count).product();
        let finer = if self.finer == 0 { 0 } else { self.finer.pow(self.contender.axes.len() as u32) };
        self.set.splits.len().min(REALISATIONS) * FOLDS * (coarse + finer)
    }

    /// Chooses the parameters.
    pub(super) fn choose(&self, watch: &dyn Monitor) -> Result<Choice, Error> {
        let splits = &self.set.splits[..self.set.splits.len().min(REALISATIONS)];
        let axes = self.contender.axes;
        let each: Vec<Vec<f64>> = splits
            .par_iter()
            .map(|split| {
                let part = self.part(split)?;
                let coarse: Vec<Vec<f64>> = axes.iter().map(Axis::coarse).collect();
                let best = self.best(&part, &coarse, watch)?;
                if self.finer == 0 {
                    return Ok(best);
                }
                let finer: Vec<Vec<f64>> = axes.iter().zip(&best).map(|(a, &e)| a.refined(e, self.finer)).collect();
                self.best(&part, &finer, watch)
            })
            .collect::<Result<_, Error>>()?;
        let point = (0..axes.len()).map(|a| median(each.iter().map(|e| e[a]).collect())).collect();
        Ok(Choice { point, each })
    }

    /// Learns from every training part with the same parameters.
    pub(super) fn test(&self, point: &[f64], watch: &dyn Monitor) -> Result<Vec<Tested>, Error> {
        let target = self.set.data.target().ok_or(DataError::NoTarget)?;
        let trials = self.trials(&self.set.data, &self.set.splits, point, watch)?;
        let tested = |(trial, split): (Trial, &Split)| {
            let zeros = trial.support.map(|s| 1.0 - s as f64 / split.train.len().max(1) as f64);
            Ok(Tested { error: error(&trial.output, &target.select(&split.test))?, zeros })
        };
        trials.into_iter().zip(&self.set.splits).map(tested).collect()
    }

    /// The scores of a point on each of some splits of some data.
    pub(super) fn trials(
        &self,
        data: &Dataset,
        splits: &[Split],
        point: &[f64],
        watch: &dyn Monitor,
    ) -> Result<Vec<Trial>, Error> {
        let settings = [self.contender.settings(point, self.size())];
        let mut trials = self.run(data, splits, point, &settings, watch)?;
        Ok(trials.pop().unwrap_or_default())
    }

    fn run(
        &self,
        data: &Dataset,
        splits: &[Split],
        point: &[f64],
        points: &[Vec<(String, Setting)>],
        watch: &dyn Monitor,
    ) -> Result<Vec<Vec<Trial>>, Error> {
        let kernel = self.contender.kernel(point, self.size());
        let (machine, budget, seed) = (self.entry, self.budget, self.seed);
        Trials { machine, kernel: &kernel, points, splits, budget, seed }.run(data, watch)
    }

    /// The training part of a split, with its folds.
    fn part(&self, split: &Split) -> Result<Part, Error> {
        let data = self.set.data.select(&split.train);
        let truth = data.target().ok_or(DataError::NoTarget)?.clone();
        let held_out = folds(&truth, Learns::Classes, FOLDS, self.seed)?;
        let rest = |fold: &[usize]| (0..data.len()).filter(|i| fold.binary_search(i).is_err()).collect();
        let folds =
            held_out.iter().map(|fold| Split { train: rest(fold), test: fold.clone(), weights: None }).collect();
        Ok(Part { data, truth, folds })
    }

    /// The exponents of the best point of a grid.
    fn best(&self, part: &Part, levels: &[Vec<f64>], watch: &dyn Monitor) -> Result<Vec<f64>, Error> {
        let points = product(levels);
        // points of one width share its kernel values and stand together
        let run = if self.contender.has_width() { points.len() / levels[0].len().max(1) } else { points.len() };
        let errors: Vec<Vec<f64>> = points
            .par_chunks(run.max(1))
            .map(|points| {
                let settings: Vec<_> = points.iter().map(|p| self.contender.settings(p, self.size())).collect();
                let trials = self.run(&part.data, &part.folds, &points[0], &settings, watch)?;
                trials.iter().map(|folds| part.error(folds)).collect()
            })
            .collect::<Result<_, Error>>()?;
        let shape: Vec<usize> = levels.iter().map(Vec::len).collect();
        Ok(points[least(&errors.concat(), &shape)].clone())
    }
}

impl Part {
    /// The error over all folds.
    fn error(&self, trials: &[Trial]) -> Result<f64, Error> {
        let mut sum = 0.0;
        for (trial, fold) in trials.iter().zip(&self.folds) {
            sum += error(&trial.output, &self.truth.select(&fold.test))? * fold.test.len() as f64;
        }
        Ok(sum / self.data.len() as f64)
    }
}

/// The share of wrong labels.
fn error(output: &Output, truth: &Target) -> Result<f64, Error> {
    match measure(output, truth)? {
        Metrics::Classes(m) => Ok(m.error),
        Metrics::Numbers(m) => Ok(m.rmse),
    }
}

/// All points of a grid, the first axis outermost.
fn product(levels: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut points = vec![Vec::new()];
    for axis in levels {
        points = points.iter().flat_map(|p: &Vec<f64>| axis.iter().map(|&e| [p.as_slice(), &[e]].concat())).collect();
    }
    points
}

/// The place of the smallest error; of equals, that with the smallest mean over its neighbours, then the first.
fn least(errors: &[f64], shape: &[usize]) -> usize {
    let places: Vec<Vec<f64>> = product(&shape.iter().map(|&n| (0..n).map(|k| k as f64).collect()).collect::<Vec<_>>());
    let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(x, y)| (x - y).abs() <= 1.0);
    let around = |i: usize| {
        let own: Vec<f64> = (0..errors.len()).filter(|&j| near(&places[i], &places[j])).map(|j| errors[j]).collect();
        own.iter().sum::<f64>() / own.len() as f64
    };
    // errors are counts over the same examples, but for rounding
    let smallest = errors.iter().copied().fold(f64::INFINITY, f64::min);
    let equals = (0..errors.len()).filter(|&i| errors[i] <= smallest + 1e-9);
    equals.min_by(|&i, &j| around(i).total_cmp(&around(j))).unwrap_or(0)
}

/// The middle of some numbers; of an even count, halfway between the middle two.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let n = values.len();
    match n {
        0 => f64::NAN,
        n if n % 2 == 1 => values[n / 2],
        n => f64::midpoint(values[n / 2 - 1], values[n / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_taken_of_each_parameter_by_itself_and_in_logarithms() {
        assert_eq!(median(vec![3.0, -1.0, 2.0, 0.0, 5.0]), 2.0);
        // 10 and 1000 have the median 100
        assert_eq!(10_f64.powf(median(vec![1.0, 3.0])), 100.0);
        assert!(median(Vec::new()).is_nan());
    }

    #[test]
    fn of_equal_errors_the_middle_of_the_plateau_is_taken() {
        // one axis: places 1 to 3 are alike, and 2 has the best neighbours
        assert_eq!(least(&[0.4, 0.1, 0.1, 0.1, 0.3], &[5]), 2);
        // a smaller error wins wherever it stands
        assert_eq!(least(&[0.05, 0.1, 0.1, 0.1, 0.3], &[5]), 0);
        // two axes: the corner has worse neighbours than the middle
        let errors = [0.1, 0.4, 0.3, 0.4, 0.1, 0.2, 0.3, 0.2, 0.2];
        assert_eq!(least(&errors, &[3, 3]), 4);
    }

    #[test]
    fn grids_are_products_with_the_first_axis_outermost() {
        let points = product(&[vec![1.0, 2.0], vec![5.0, 6.0]]);
        assert_eq!(points, [[1.0, 5.0], [1.0, 6.0], [2.0, 5.0], [2.0, 6.0]]);
    }
}
