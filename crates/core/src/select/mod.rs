//! Model selection: a grid of parameters, judged by cross-validation.
//!
//! Kernel values depend only on the kernel's parameters, so the matrix is computed once for each of those (stored if the
//! memory plan allows) and shared between all folds and all parameters of the machine. Words such as `gamma=scale` and
//! centres are resolved on all examples.

mod grid;

pub use crate::machines::folds;
pub use grid::{Axis, Grid, GridError};

use crate::calibrate::Method;
use crate::data::{Dataset, Target};
use crate::error::Error;
use crate::formula::Formula;
use crate::gram::{Gram, Plan};
use crate::job::{CUT_SHORT, Job};
use crate::machines::{Features, FitError, Learns, Machine, MachineEntry, Task};
use crate::metrics::{Metrics, measure};
use crate::model::Model;
use crate::params::{ParamError, Setting, assign};
use crate::seed::Seed;
use crate::solvers::{Monitor, Progress, Silent, SolveError, Status, Stop};
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::sync::Arc;

/// A search over a grid.
pub struct Search<'a> {
    /// What learns.
    pub machine: &'static MachineEntry,
    /// Parameters of the machine that are not in the grid.
    pub settings: &'a [(String, Setting)],
    /// How examples are compared; parameters in the grid replace those of the formula.
    pub kernel: &'a Formula,
    /// The grid.
    pub grid: &'a Grid,
    /// How many folds.
    pub folds: usize,
    /// Whether the best also learns probabilities, and how.
    pub probabilities: Option<Method>,
    /// In how many folds scores are held out to learn them from.
    pub calibration_folds: usize,
    /// Memory.
    pub plan: Plan,
    /// Randomness.
    pub seed: Seed,
}

/// One point of the grid and how it did.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The grid's parameters here.
    pub point: Vec<(String, Setting)>,
    /// The kernel here, with numbers resolved.
    pub kernel: String,
    /// Error (classes) or root mean squared error (numbers) over all held-out examples.
    pub score: f64,
    /// The standard error of the folds' scores.
    pub spread: f64,
    /// The score of each fold.
    pub folds: Vec<f64>,
}

/// What a search found.
pub struct Selection {
    /// All candidates in the order of the grid.
    pub candidates: Vec<Candidate>,
    /// The place of the best; the first of equals.
    pub best: usize,
    /// The best, fitted on all examples.
    pub model: Model,
    /// How the search ended; an interrupted one chooses among the candidates it had judged.
    pub status: Status,
}

/// A kernel met with the data.
struct Met {
    /// The kernel's print before it was resolved.
    text: String,
    resolved: Formula,
    gram: Arc<dyn Gram>,
    features: Option<Features>,
}

impl Met {
    /// The explicit features of some examples.
    fn part(&self, examples: &[usize]) -> Option<Features> {
        self.features.as_ref().map(|features| features.select(examples))
    }
}

impl Search<'_> {
    /// Judges every point of the grid and fits the best on all examples.
    pub fn run(&self, data: &Dataset, watch: &dyn Monitor) -> Result<Selection, Error> {
        if self.machine.learns == Learns::Unsupervised {
            let finding = "it has no target to be judged by; choose its parameters by hand".to_owned();
            return Err(FitError::Param { machine: self.machine.name, finding }.into());
        }
        let target = data.target().ok_or(crate::data::DataError::NoTarget)?;
        let folds = folds(target, self.machine.learns, self.folds, self.seed)?;
        let points = self.grid.kernel_first(self.kernel).points();
        let mut candidates: Vec<Candidate> = Vec::with_capacity(points.len());
        let mut stopped: Option<Stop> = None;
        let mut met: Option<Met> = None;
        for point in &points {
            let (machine, kernel) = self.at(point)?;
            // points are ordered with the kernel's parameters outermost, so a matrix is used up before the next
            let text = kernel.to_string();
            if met.as_ref().is_none_or(|known| known.text != text) {
                // the old matrix goes before the new one comes
                drop(met.take());
                met = Some(self.meet(text, &kernel, machine.as_ref(), data)?);
            }
            let Some(known) = &met else { unreachable!("met above") };
            let (done, total) = (candidates.len(), Some(points.len()));
            if let ControlFlow::Break(stop) =
                watch.step(&Progress { phase: "cross-validation", done, total, gap: None })
            {
                stopped = Some(stop);
                break;
            }
            let judged = folds
                .par_iter()
                .map(|held_out| self.judge(machine.as_ref(), known, target, held_out, watch))
                .collect::<Result<Vec<_>, Error>>()?;
            // a machine that was stopped in the middle is no measure of its parameters
            stopped = judged.iter().find_map(|j| j.break_value());
            if stopped.is_some() {
                break;
            }
            let scores = judged.into_iter().filter_map(ControlFlow::continue_value).collect();
            candidates.push(summarise(point.clone(), known.resolved.to_string(), scores, &folds, self.machine.learns));
        }
        let best = candidates
            .iter()
            .enumerate()
            .min_by(|a, b| a.1.score.total_cmp(&b.1.score).then(a.0.cmp(&b.0)))
            .map(|(place, _)| place);
        let Some(best) = best else {
            return Err(SolveError::Stopped { reason: stopped.unwrap_or(Stop::Interrupted) }.into());
        };
        let (machine, kernel) = self.at(&candidates[best].point)?;
        let job = Job {
            plan: self.plan,
            seed: self.seed,
            // whoever stops the search does not wait for probabilities
            probabilities: self.probabilities.filter(|_| stopped.is_none()),
            calibration_folds: self.calibration_folds,
            ..Job::new(machine.as_ref(), &kernel)
        };
        // a search that was stopped still owes a whole model of the best: only the search was cut short
        let mut model = if stopped.is_none() { job.run(data, watch)? } else { job.run(data, &Silent)? };
        model.candidates = candidates.len();
        let status = stopped.map_or(Status::Converged, Status::from);
        if status != Status::Converged {
            model.fitted.proof.status = status;
            if self.probabilities.is_some() {
                model.fitted.proof.notes.push((CUT_SHORT.to_owned(), 1.0));
            }
        }
        Ok(Selection { candidates, best, model, status })
    }

    /// The machine and the kernel at a point.
    fn at(&self, point: &[(String, Setting)]) -> Result<(Box<dyn Machine>, Formula), Error> {
        let mut machine = (self.machine.make)();
        for (name, value) in self.settings {
            assign(self.machine.name, machine.as_mut(), name, value)?;
        }
        let mut kernel = self.kernel.clone();
        for (name, value) in point {
            let in_kernel = kernel.assign(name, value)?;
            match assign(self.machine.name, machine.as_mut(), name, value) {
                Ok(()) => {}
                Err(ParamError::Unknown { .. }) if in_kernel => {}
                Err(ParamError::Unknown { name, .. }) => {
                    let remedy = format!("neither {} nor the kernel {} has it", self.machine.name, self.kernel);
                    return Err(ParamError::NoSuch { what: "parameter", name, remedy }.into());
                }
                Err(other) => return Err(other.into()),
            }
        }
        Ok((machine, kernel))
    }

    /// How many folds run at once.
    fn at_once(&self) -> usize {
        rayon::current_num_threads().min(self.folds).max(1)
    }

    /// Meets a kernel with the data: the matrix is computed once if it fits and explicit features do not make it
    /// superfluous, else left to be streamed.
    fn meet(&self, text: String, kernel: &Formula, machine: &dyn Machine, data: &Dataset) -> Result<Met, Error> {
        let resolved = kernel.resolve(data, self.seed)?;
        let features = resolved.features(data).map(|(rows, scale)| Features { rows, scale });
        let gram = resolved.training_gram(data)?;
        // every fold that runs at once takes its part of the matrix along
        let n = gram.shape().0;
        let parts = self.at_once().saturating_mul(n.saturating_mul(n)).saturating_mul(8);
        // nobody asks for kernel values where the machine works on features; dense ones, few as they are, stand in for them
        let superfluous = features.as_ref().is_some_and(|f| f.rows.dense().is_some() || !machine.wants_matrix());
        let stored = if superfluous { None } else { self.plan.dense(gram.as_ref(), parts, "the kernel matrix").ok() };
        let gram = stored.map_or(gram, |dense| Arc::new(dense) as Arc<dyn Gram>);
        Ok(Met { text, resolved, gram, features })
    }

    /// The score on the held-out examples of what is learned from the rest, unless the learning was stopped.
    fn judge(
        &self,
        machine: &dyn Machine,
        met: &Met,
        target: &Target,
        held_out: &[usize],
        watch: &dyn Monitor,
    ) -> Result<ControlFlow<Stop, f64>, Error> {
        let mut out = vec![false; target.len()];
        held_out.iter().for_each(|&i| out[i] = true);
        let rest: Vec<usize> = (0..target.len()).filter(|&i| !out[i]).collect();
        let known = target.select(&rest);
        let task = Task {
            gram: Arc::clone(&met.gram).restrict(&rest, &rest),
            features: met.part(&rest),
            target: Some(&known),
            weights: None,
            start: None,
            threads: 1,
            plan: Plan { memory: self.plan.memory / self.at_once() },
            seed: self.seed,
        };
        let fitted = match machine.run(&task, watch) {
            Err(FitError::Solve { error: SolveError::Stopped { reason }, .. }) => {
                return Ok(ControlFlow::Break(reason));
            }
            other => other?,
        };
        // a machine that was stopped in the middle is no measure of its parameters
        match fitted.proof.status {
            Status::Interrupted => return Ok(ControlFlow::Break(Stop::Interrupted)),
            Status::TimeLimit => return Ok(ControlFlow::Break(Stop::TimeLimit)),
            Status::Converged | Status::IterationLimit => {}
        }
        let primal = met.part(held_out).and_then(|features| fitted.expansion.primal_scores(&features.rows));
        let scores = primal.unwrap_or_else(|| {
            let points: Vec<usize> = fitted.expansion.points().iter().map(|&p| rest[p]).collect();
            fitted.expansion.scores(Arc::clone(&met.gram).restrict(held_out, &points).as_ref())
        });
        let output = fitted.readout.read(scores);
        Ok(ControlFlow::Continue(match measure(&output, &target.select(held_out))? {
            Metrics::Classes(m) => m.error,
            Metrics::Numbers(m) => m.rmse,
        }))
    }
}

fn summarise(
    point: Vec<(String, Setting)>,
    kernel: String,
    scores: Vec<f64>,
    folds: &[Vec<usize>],
    learns: Learns,
) -> Candidate {
    let total: usize = folds.iter().map(Vec::len).sum();
    let weighted = |f: &dyn Fn(f64) -> f64| -> f64 {
        scores.iter().zip(folds).map(|(s, fold)| f(*s) * fold.len() as f64 / total.max(1) as f64).sum()
    };
    // errors average over examples; root mean squared errors through their squares
    let score = if learns == Learns::Numbers { weighted(&|s| s * s).sqrt() } else { weighted(&|s| s) };
    let k = scores.len() as f64;
    let mean = scores.iter().sum::<f64>() / k;
    let spread = (scores.iter().map(|s| (s - mean) * (s - mean)).sum::<f64>() / (k * (k - 1.0).max(1.0))).sqrt();
    Candidate { point, kernel, score, spread, folds: scores }
}
