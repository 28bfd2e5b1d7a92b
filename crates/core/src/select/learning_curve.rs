//! Learning curves: how the score grows with the number of examples that are learned from.
//!
//! Folds are those of a cross-validation. What a fold leaves to learn from is put in a random order once, class by class in
//! turn, and the sizes are its beginnings: a larger part holds the smaller ones, and every part has all classes in about
//! their proportions. The largest size is the plain cross-validation, bit by bit. The matrix is computed once for all sizes;
//! words such as `gamma=scale` are resolved on all examples, as in a [`Search`](super::Search).

use crate::data::{DataError, Dataset, Target};
use crate::error::Error;
use crate::formula::Formula;
use crate::gram::Budget;
use crate::job::takes_weights;
use crate::linalg::SolveError;
use crate::machines::{FitError, Learns, MachineEntry, predicts_target};
use crate::metrics::{Rule, Score};
use crate::params::{Setting, assign};
use crate::plot::{LearningFigure, ScoreAt, Theme, short_formula};
use crate::resample::{CrossValidator, FoldResult, Folds, KernelOnData, Point, Split, folds, mean_and_deviation};
use crate::seed::Seed;
use crate::watch::{Monitor, Phase, Progress, Status, Stop};

/// Number of sizes where none are given.
const DEFAULT_SIZES: usize = 8;
/// Repeats whose folds are drawn between two looks at the time.
const REPEATS_BETWEEN_LOOKS: usize = 64;

/// Fits of one machine on growing parts of the data.
pub struct LearningCurve<'a> {
    /// The machine that learns.
    pub machine: &'static MachineEntry,
    /// Its parameters.
    pub settings: &'a [(String, Setting)],
    /// The kernel.
    pub kernel: &'a Formula,
    /// The numbers of examples to learn from; where none are given, eight in equal steps up to all that a fold leaves.
    pub sizes: &'a [usize],
    /// Folds of the cross-validation.
    pub folds: usize,
    /// The number of repetitions with other folds.
    pub repeats: usize,
    /// The score that is told; `None`: the error of labels, the root mean squared error of numbers.
    pub score: Option<&'a Score>,
    /// The memory that matrices may take.
    pub budget: Budget,
    /// The seed of all random choices.
    pub seed: Seed,
}

/// The scores at one size.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeScores {
    /// The number of training examples.
    pub size: usize,
    /// On the examples that were learned from: by repeat, then by fold.
    pub train: Vec<f64>,
    /// On those that were held out.
    pub test: Vec<f64>,
}

/// A learning curve that was found.
#[derive(Clone, Debug)]
pub struct Learned {
    /// The machine's name.
    pub machine: String,
    /// The kernel, with numbers resolved.
    pub kernel: String,
    /// The name of the score, such as `error` or `RMSE`.
    pub score: &'static str,
    /// Folds, and how often they were drawn.
    pub drawn: (usize, usize),
    /// By rising size.
    pub points: Vec<SizeScores>,
    /// The status; a run that was stopped has the sizes that were finished.
    pub status: Status,
}

impl LearningCurve<'_> {
    /// Fits every size on every fold.
    ///
    /// # Errors
    /// If the machine has nothing to be judged by, a size is too small or too large, a fit fails, or it is stopped before
    /// the first size is done.
    pub fn run(&self, data: &Dataset, watch: &dyn Monitor) -> Result<Learned, Error> {
        let learns = self.machine.learns;
        if !predicts_target(self.machine) {
            let finding = "it has no target to be judged by, so there is no learning curve".to_owned();
            return Err(FitError::Param { machine: self.machine.name, finding }.into());
        }
        let mut machine = (self.machine.make)();
        for (name, value) in self.settings {
            assign(self.machine.name, machine.as_mut(), name, value)?;
        }
        takes_weights(machine.as_ref(), data.weights().is_some())?;
        let target = data.target().ok_or(DataError::NoTarget)?;
        let score = self.score.cloned().unwrap_or_else(|| Score::usual(learns));
        score.check(target)?;
        if matches!(score.entry.rule, Rule::Probabilities(_)) {
            let finding = format!(
                "a learning curve has no probabilities to be judged by {}; choose another score",
                score.entry.name
            );
            return Err(DataError::Usage { finding }.into());
        }
        let parts = self.parts(target, learns, watch)?;
        let sizes = self.sizes(target, learns, &parts)?;
        // the matrix is stored in the order of the plain cross-validation
        let mut fold_of = vec![0; data.len()];
        parts.iter().take(self.folds).enumerate().for_each(|(f, part)| part.test.iter().for_each(|&i| fold_of[i] = f));
        let resolved = self.kernel.resolve(data, self.seed)?;
        let kernel = resolved.to_string();
        let at_once = rayon::current_num_threads().min(parts.len()).max(1);
        let reading = (learns, machine.traits().order);
        let whole = Folds::ordered(data, parts.clone(), reading, &fold_of)?;
        let on_data = KernelOnData::new(resolved, machine.as_ref(), data, self.budget)?;
        let on_data = on_data.stored(machine.as_ref(), &whole.order, at_once);
        let points = [Point { settings: self.settings.to_vec(), machine }];
        let (mut found, mut stopped): (Vec<SizeScores>, Option<Stop>) = (Vec::new(), None);
        // folds differ by one example; the largest size is all that each of them leaves
        let all = smallest_rest(&parts);
        for (done, &size) in sizes.iter().enumerate() {
            let splits = parts.iter().map(|part| beginning(part, if size == all { usize::MAX } else { size }, data));
            let folds = Folds::ordered(data, splits.collect(), reading, &fold_of)?;
            let validator = CrossValidator {
                kernel: &on_data,
                folds: &folds,
                seed: self.seed,
                watch,
                measure: &|result| both(&result, &parts, &score),
                done,
                total: sizes.len(),
            };
            let mut measured = validator.run(&points)?;
            if let Some(Some(scores)) = measured.points.pop() {
                let (test, train) = scores.into_iter().unzip();
                found.push(SizeScores { size, train, test });
            }
            stopped = measured.stopped;
            if stopped.is_some() {
                break;
            }
        }
        if found.is_empty() {
            return Err(SolveError::Stopped { reason: stopped.unwrap_or(Stop::Interrupted) }.into());
        }
        Ok(Learned {
            machine: self.machine.name.to_owned(),
            kernel,
            score: score.entry.label,
            drawn: (self.folds, self.repeats),
            points: found,
            status: stopped.map_or(Status::Converged, Status::from),
        })
    }

    /// All folds of all repeats; what is learned from stands in the order in which it is added.
    fn parts(&self, target: &Target, learns: Learns, watch: &dyn Monitor) -> Result<Vec<Split>, Error> {
        if self.repeats == 0 {
            let finding = "0 repeats leave nothing to do: give 1 or more".to_owned();
            return Err(DataError::Usage { finding }.into());
        }
        let places = self.repeats.saturating_mul(self.folds).saturating_mul(target.len());
        let needed = places.saturating_mul(size_of::<usize>());
        self.budget
            .check(needed, format!("the folds of {} repeats", self.repeats))
            .map_err(|e| DataError::from(e.remedy("ask for fewer --repeats")))?;
        let codes = if learns == Learns::Classes { target.classes()?.codes } else { vec![0; target.len()] };
        let mut parts = Vec::new();
        for repeat in 0..self.repeats {
            if repeat % REPEATS_BETWEEN_LOOKS == REPEATS_BETWEEN_LOOKS - 1 {
                let progress = Progress::new(Phase::new("drawing folds"), repeat).of(self.repeats);
                watch.alive(progress).map_err(SolveError::from)?;
            }
            // the first repeat has the folds of a plain cross-validation
            let seed = Seed(self.seed.0.wrapping_add(repeat as u64));
            for (f, test) in folds(target, learns, self.folds, seed)?.into_iter().enumerate() {
                let mut held = vec![false; target.len()];
                test.iter().for_each(|&i| held[i] = true);
                let shuffled = seed.stream(&format!("learning curve {f}")).permutation(target.len());
                let train = in_turn(shuffled.into_iter().filter(|&i| !held[i]).collect(), &codes);
                parts.push(Split { train, test, weights: None });
            }
        }
        Ok(parts)
    }

    /// The sizes in rising order.
    fn sizes(&self, target: &Target, learns: Learns, parts: &[Split]) -> Result<Vec<usize>, DataError> {
        let largest = smallest_rest(parts);
        let classes = if learns == Learns::Classes { target.classes()?.labels.len() } else { 1 };
        let smallest = classes.max(2);
        let mut sizes = self.sizes.to_vec();
        if sizes.is_empty() {
            sizes = (1..=DEFAULT_SIZES)
                .map(|k| (k * largest / DEFAULT_SIZES).max(smallest))
                .filter(|&s| s <= largest)
                .collect();
        }
        sizes.sort_unstable();
        sizes.dedup();
        match sizes.iter().find(|&&s| s < smallest || s > largest) {
            Some(wrong) => Err(DataError::Usage {
                finding: format!(
                    "a part of {wrong} examples cannot be learned from: {} folds of {} leave sizes from {smallest} to {largest}",
                    self.folds,
                    target.len()
                ),
            }),
            None if sizes.is_empty() => {
                Err(DataError::Unfit { finding: format!("{} examples are too few for a learning curve", target.len()) })
            }
            None => Ok(sizes),
        }
    }
}

/// The number of examples that every fold leaves to learn from.
fn smallest_rest(parts: &[Split]) -> usize {
    parts.iter().map(|p| p.train.len()).min().unwrap_or(0)
}

/// Examples in an order in which every beginning has the classes in about their proportions: the first of each class, then
/// the others by their rank in their class.
fn in_turn(mut shuffled: Vec<usize>, codes: &[u32]) -> Vec<usize> {
    let mut sizes = vec![0_usize; codes.iter().max().map_or(0, |&c| c as usize + 1)];
    shuffled.iter().for_each(|&i| sizes[codes[i] as usize] += 1);
    let mut seen = vec![0_usize; sizes.len()];
    let mut rank = vec![0.0; codes.len()];
    for &i in &shuffled {
        let class = codes[i] as usize;
        rank[i] = if seen[class] == 0 { 0.0 } else { (seen[class] as f64 + 0.5) / sizes[class] as f64 };
        seen[class] += 1;
    }
    crate::order::rising(&mut shuffled, &rank);
    shuffled
}

/// The split that learns from the beginning of a part, and predicts what is held out and then what was learned from.
fn beginning(part: &Split, size: usize, data: &Dataset) -> Split {
    let first = &part.train[..size.min(part.train.len())];
    let test = part.test.iter().chain(first).copied().collect();
    // learned from in the order of the data, as by a fit on the part
    let mut train = first.to_vec();
    train.sort_unstable();
    let weights = data.weights().map(|w| train.iter().map(|&i| w[i]).collect());
    Split { train, test, weights }
}

/// The scores on what was held out, and on what was learned from.
fn both(result: &FoldResult<'_>, parts: &[Split], score: &Score) -> Result<(f64, f64), Error> {
    let held_out = parts[result.fold].test.len();
    let outputs = result.fitted.readout.outputs().max(1);
    let (test, train) = result.scores.split_at(held_out * outputs);
    let of = |scores: &[f64], range: std::ops::Range<usize>| {
        let target = &result.target.select(&range.collect::<Vec<_>>());
        let value = score.of(&result.fitted.readout.read(scores.to_vec()), target)?;
        value.ok_or_else(|| {
            let finding = format!("{} has no meaning on one of the parts, which is too small or lacks a class; take fewer folds or larger sizes", score.entry.name);
            Error::from(DataError::Unfit { finding })
        })
    };
    Ok((of(test, 0..held_out)?, of(train, held_out..result.target.len())?))
}

impl Learned {
    /// An SVG picture: the mean scores on held-out and on training examples with their standard deviations.
    pub fn figure(&self, theme: Theme) -> String {
        let curve = |of: fn(&SizeScores) -> &[f64]| {
            let at = |p: &SizeScores| {
                let (mean, deviation) = mean_and_deviation(of(p));
                ScoreAt { size: p.size, mean, deviation }
            };
            self.points.iter().map(at).collect()
        };
        let (folds, repeats) = self.drawn;
        let times = if repeats == 1 { String::new() } else { format!(", {repeats} times") };
        LearningFigure {
            title: format!("Learning curve of {} with {}", self.machine, short_formula(&self.kernel)),
            y_label: self.score.to_owned(),
            curves: vec![("held out".to_owned(), curve(|p| &p.test)), ("training".to_owned(), curve(|p| &p.train))],
            note: Some(format!("mean and standard deviation over {folds} folds{times}")),
        }
        .draw(theme)
    }
}

#[cfg(test)]
#[path = "learning_curve_tests.rs"]
mod tests;
