//! Model selection: a grid of parameters, judged by cross-validation.
//!
//! Kernel values depend only on the kernel's parameters, so the matrix is computed once for each of those (stored if the
//! memory budget allows) and shared between all folds and all parameters of the machine. Words such as `gamma=scale` and
//! centres are resolved on all examples. Points that differ only in `c` are fitted from the lowest on, each from where the
//! one before ended: scores depend on the rest of the grid within the solver's tolerance, and on the threads not at all.

mod aside;
mod choose;
mod edge;
mod grid;
mod heat;
mod judge;
mod learning_curve;
mod trials;
mod usual;

pub use crate::resample::{Split, SplitBy, folds, mean_and_deviation, set_aside};
pub use aside::set_rows_aside;
pub use choose::Choose;
pub use edge::Edge;
pub use grid::{Axis, Grid, GridError};
pub use learning_curve::{Learned, LearningCurve, SizeScores};
pub use trials::{Trial, Trials};

use crate::calibrate::Method;
use crate::data::{DataError, Dataset, Target};
use crate::error::Error;
use crate::formula::Formula;
use crate::gram::Budget;
use crate::job::{Job, takes_weights};
use crate::linalg::SolveError;
use crate::machines::Fact;
use crate::machines::{FitError, Learns, Machine, MachineEntry, Order, predicts_target};
use crate::metrics::Score;
use crate::model::Model;
use crate::params::{ParamError, Setting, assign, describe, nearest};
use crate::resample::{CrossValidator, Folds, KernelOnData, Point};
use crate::seed::Seed;
use crate::watch::{Monitor, Silent, Status, Stop, under};
use grid::Owner;
use judge::Judged;

/// A search over a grid.
pub struct Search<'a> {
    /// The machine that learns.
    pub machine: &'static MachineEntry,
    /// Parameters of the machine that are not in the grid.
    pub settings: &'a [(String, Setting)],
    /// The kernel; parameters in the grid replace those of the formula.
    pub kernel: &'a Formula,
    /// The grid.
    pub grid: &'a Grid,
    /// The number of folds; 0 leaves out one example at a time, which some machines need not learn again for
    /// ([`Traits::leaves_one_out`](crate::machines::Traits::leaves_one_out)).
    pub folds: usize,
    /// The rule by which a candidate is chosen.
    pub choose: Choose,
    /// The score that decides; `None`: the error of labels, the root mean squared error of numbers.
    pub score: Option<&'a Score>,
    /// The method by which the chosen model also learns probabilities, if it does.
    pub probabilities: Option<Method>,
    /// In how many folds scores are held out to learn them from.
    pub calibration_folds: usize,
    /// The memory that matrices may take.
    pub budget: Budget,
    /// The seed of all random choices.
    pub seed: Seed,
}

/// One point of the grid and how it did.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The grid's parameters here.
    pub point: Vec<(String, Setting)>,
    /// The kernel here, with numbers resolved.
    pub kernel: String,
    /// The score over all held-out examples.
    pub score: f64,
    /// The standard error of the score; not a number where it has none.
    pub spread: f64,
    /// The score of each fold; not a number where it has none by itself.
    pub folds: Vec<f64>,
}

/// The result of a search.
pub struct Selection {
    /// All candidates in the order of the grid.
    pub candidates: Vec<Candidate>,
    /// The score that the candidates were judged by.
    pub score: Score,
    /// The place of the best; the first of equals.
    pub best: usize,
    /// The place of the one that was chosen: the best, unless a simpler one was preferred.
    pub chosen: usize,
    /// Parameters whose best value is at the edge of the grid; the advice of the model says so, too.
    pub edges: Vec<Edge>,
    /// The chosen one, fitted on all examples.
    pub model: Model,
    /// The status; an interrupted search chooses among the candidates that were evaluated.
    pub status: Status,
}

impl Search<'_> {
    /// Judges every point of the grid and fits the chosen one on all examples.
    pub fn run(&self, data: &Dataset, watch: &dyn Monitor) -> Result<Selection, Error> {
        if !predicts_target(self.machine) {
            let finding = "it has no target to be judged by; choose its parameters by hand".to_owned();
            return Err(FitError::Param { machine: self.machine.name, finding }.into());
        }
        takes_weights((self.machine.make)().as_ref(), data.weights().is_some())?;
        let target = data.target().ok_or(DataError::NoTarget)?;
        let score = self.score.cloned().unwrap_or_else(|| Score::usual(self.machine.learns));
        score.check(target)?;
        let parts = match self.folds {
            0 => (0..data.len()).map(|i| vec![i]).collect(),
            several => folds(target, self.machine.learns, several, self.seed)?,
        };
        let sizes: Vec<usize> = parts.iter().map(Vec::len).collect();
        let grid = self.grid.kernel_first(self.kernel).points();
        let kernels = self.by_kernel(&grid)?;
        let order = || kernels.iter().flat_map(|k| &k.points).map(|(_, point)| point.machine.traits().order);
        let order = order().find(|order| *order == Order::Matters).unwrap_or(Order::Irrelevant);
        let folds = Folds::partition(data, &parts, (self.machine.learns, order))?;
        let mut candidates: Vec<Candidate> = Vec::with_capacity(grid.len());
        let mut stopped: Option<Stop> = None;
        for PointsOfKernel { kernel, points } in kernels {
            // the matrix is used up before the next is computed
            let at_once = rayon::current_num_threads().min(parts.len()).max(1);
            let sign = watch.sign();
            let first = points[0].1.machine.as_ref();
            let made = under(&sign, || -> Result<KernelOnData, Error> {
                let resolved = kernel.resolve(data, self.seed)?;
                Ok(KernelOnData::new(resolved, first, data, self.budget)?.stored(first, &folds.order, at_once))
            });
            stopped = sign.broken();
            if stopped.is_some() {
                break;
            }
            let kernel = made?;
            let (done, total) = (candidates.len(), grid.len());
            let (places, points): (Vec<usize>, Vec<Point>) = points.into_iter().unzip();
            let validator = CrossValidator {
                kernel: &kernel,
                folds: &folds,
                seed: self.seed,
                watch,
                measure: &|result| judge::on_fold(&result, &score),
                done,
                total,
            };
            let found = validator.run(&points)?;
            for (place, scores) in places.into_iter().zip(found.points) {
                if let Some(scores) = scores {
                    let (point, kernel) = (grid[place].clone(), kernel.resolved.to_string());
                    let Judged { score, spread, folds } = judge::join(&scores, &sizes, &score, self.machine.name)?;
                    candidates.push(Candidate { point, kernel, score, spread, folds });
                }
            }
            stopped = found.stopped;
            if stopped.is_some() {
                break;
            }
        }
        let Some(best) = choose::best(&candidates, &score) else {
            return Err(SolveError::Stopped { reason: stopped.unwrap_or(Stop::Interrupted) }.into());
        };
        let chosen = self.choose.among(&candidates, best, &self.regularisers(), &score);
        let (machine, kernel) = self.at(&candidates[chosen].point)?;
        let job = Job {
            budget: self.budget,
            seed: self.seed,
            // whoever stops the search does not wait for probabilities
            probabilities: self.probabilities.filter(|_| stopped.is_none()),
            calibration_folds: self.calibration_folds,
            ..Job::new(machine.as_ref(), &kernel)
        };
        // a search that was stopped still owes a whole model of its choice: only the search was cut short
        let mut model = if stopped.is_none() { job.run(data, watch)? } else { job.run(data, &Silent)? };
        model.chosen_among(candidates.len());
        let status = stopped.map_or(Status::Converged, Status::from);
        if status != Status::Converged {
            model.fitted.report.status = status;
            if self.probabilities.is_some() {
                model.fitted.report.notes.push(Fact::CalibrationCutShort.note(1.0));
            }
        }
        // what a search that was stopped has not looked at is no edge
        let edges = if stopped.is_none() { self.edges(&candidates, best, &score) } else { Vec::new() };
        model.fitted.report.advice.extend(self.few_of_a_class(target));
        model.fitted.report.advice.extend(self.without_deviation(&candidates[best]));
        model.fitted.report.advice.extend(centred_on_all(&kernel));
        model.fitted.report.advice.extend(edges.iter().map(ToString::to_string));
        Ok(Selection { candidates, score, best, chosen, edges, model, status })
    }

    /// Says so where one standard error was to decide and there is none.
    fn without_deviation(&self, best: &Candidate) -> Option<String> {
        (self.choose == Choose::OneStandardError && best.spread.is_nan()).then(|| {
            "the score has no standard error on these folds, so that the best candidate was taken: take fewer folds, or another score".to_owned()
        })
    }

    /// Says so where a class has fewer examples than there are folds: scores of so few are chance.
    fn few_of_a_class(&self, target: &Target) -> Option<String> {
        let classes = target.classes().ok().filter(|_| self.machine.learns == Learns::Classes)?;
        let mut counts = vec![0_usize; classes.labels.len()];
        classes.codes.iter().for_each(|&c| counts[c as usize] += 1);
        let (label, count) = classes.labels.iter().zip(counts).min_by_key(|(_, count)| *count)?;
        let folds = if self.folds == 0 { return None } else { self.folds };
        (count < folds).then(|| {
            format!(
                "class {label} has {count} examples for {folds} folds: folds without it judge nothing of it, and scores of so few examples are chance"
            )
        })
    }

    /// The parameters by which candidates are more or less regularised: those of the machine, then those of the kernel.
    fn regularisers(&self) -> choose::Regularisers {
        let mut all = (self.machine.make)().traits().regularised_by.to_vec();
        all.extend(self.kernel.smoothed_by());
        all
    }

    /// The machine and the kernel at a point.
    pub(crate) fn at(&self, point: &[(String, Setting)]) -> Result<(Box<dyn Machine>, Formula), Error> {
        let mut machine = (self.machine.make)();
        for (name, value) in self.settings {
            assign(self.machine.name, machine.as_mut(), name, value)?;
        }
        let mut kernel = self.kernel.clone();
        for (place, (name, value)) in point.iter().enumerate() {
            let (owner, parameter) = self.owner(name)?;
            if point[..place].iter().any(|(other, _)| self.owner(other).is_ok_and(|o| o == (owner, parameter))) {
                let finding = "the grid gives the same parameter in another spelling".to_owned();
                let remedy = "leave out one of them".to_owned();
                return Err(ParamError::Unclear { name: name.clone(), finding, remedy }.into());
            }
            match owner {
                Owner::Kernel => {
                    kernel.assign(parameter, value)?;
                }
                Owner::Machine => assign(self.machine.name, machine.as_mut(), parameter, value)?,
            }
        }
        Ok((machine, kernel))
    }

    /// The owner of a parameter of the grid, kernel or machine, and its name there.
    fn owner<'n>(&self, name: &'n str) -> Result<(Owner, &'n str), Error> {
        let (said, parameter) = grid::owner(name);
        let in_kernel = said != Some(Owner::Machine) && self.kernel.has_parameter(parameter);
        let declared = describe((self.machine.make)().as_mut());
        let in_machine = said != Some(Owner::Kernel) && declared.iter().any(|d| d.name == parameter);
        match (in_kernel, in_machine) {
            (true, false) => Ok((Owner::Kernel, parameter)),
            (false, true) => Ok((Owner::Machine, parameter)),
            (true, true) => {
                let finding = format!("{} and the kernel {} both have it", self.machine.name, self.kernel);
                let remedy = format!("write kernel.{name} or machine.{name} in the grid");
                Err(ParamError::Unclear { name: name.to_owned(), finding, remedy }.into())
            }
            (false, false) => {
                let of_kernel = parameter.to_lowercase();
                let known = declared.iter().map(|d| d.name);
                let known = known.chain(self.kernel.has_parameter(&of_kernel).then_some(of_kernel.as_str()));
                let close =
                    nearest(parameter, known).map(|close| format!("; did you mean {close}?")).unwrap_or_default();
                let remedy = match said {
                    None => format!("neither {} nor the kernel {} has it", self.machine.name, self.kernel),
                    Some(Owner::Kernel) => format!("the kernel {} does not have it", self.kernel),
                    Some(Owner::Machine) => format!("{} does not have it", self.machine.name),
                };
                let remedy = format!("{remedy}{close}");
                Err(ParamError::NoSuch { what: "parameter", name: name.to_owned(), remedy }.into())
            }
        }
    }

    /// The points of the grid, gathered by their kernels. A parameter that cannot be is told before any work.
    pub(crate) fn by_kernel(&self, grid: &[Vec<(String, Setting)>]) -> Result<Vec<PointsOfKernel>, Error> {
        let mut groups: Vec<(String, PointsOfKernel)> = Vec::new();
        for (place, values) in grid.iter().enumerate() {
            let (machine, kernel) = self.at(values)?;
            let mut settings = Vec::new();
            for (name, value) in values {
                if let (Owner::Machine, parameter) = self.owner(name)? {
                    settings.push((parameter.to_owned(), value.clone()));
                }
            }
            let (text, point) = (kernel.to_string(), (place, Point { settings, machine }));
            // points are ordered with the kernel's parameters outermost
            match groups.last_mut() {
                Some((known, group)) if *known == text => group.points.push(point),
                _ => groups.push((text, PointsOfKernel { kernel, points: vec![point] })),
            }
        }
        Ok(groups.into_iter().map(|(_, group)| group).collect())
    }
}

/// Points of a grid that share a kernel.
pub(crate) struct PointsOfKernel {
    /// The kernel at these points.
    pub(crate) kernel: Formula,
    /// The points, with their places in the grid.
    pub(crate) points: Vec<(usize, Point)>,
}

/// Says so where examples that were held out have had a say in the centre.
fn centred_on_all(kernel: &Formula) -> Option<String> {
    kernel.needs_all_examples().then(|| {
        format!(
            "the centre of {kernel} is that of all examples, the held-out ones among them, so that the scores of the folds are of models that \
             knew where their held-out examples lie; --held-out 0.25 judges by examples without a part in it"
        )
    })
}
