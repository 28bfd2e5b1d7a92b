//! Jobs: the machine, its parameters, the kernel, the preparation of the data and the seed as one value that can be stored and sent. A
//! job run on examples gives a model; this is the only place that knows the whole way.

mod auxiliary;
mod conform;
mod diagnosis;
mod document;
mod prepare;
mod set_apart;
mod target;

pub use auxiliary::AuxiliaryExamples;
pub use target::{check_target, kind_of_target};

use crate::calibrate::{Calibration, HeldOutScores, Layout, Method};
use crate::conformal::Recipe;
use crate::data::{DataError, Dataset, Kind, Preparation, PreparationSet, SchemaOptions};
use crate::error::Error;
use crate::formula::Formula;
use crate::gram::Budget;
use crate::linalg::SolveError;
use crate::machines::{
    self, Auxiliary, FitError, Fitted, HeldOutRequest, Learns, Machine, MachineEntry, Task, no_auxiliary,
    predicts_target,
};
use crate::machines::{Coefficients, Fact};
use crate::model::{Model, Provenance};
use crate::params::{Setting, assign};
use crate::resample::{KernelOnData, doubt, folds_of_shared_classes, held_out_scores};
use crate::seed::Seed;
use crate::watch::{Monitor, Phase, Progress, Sign, Silent, Status, Stop, under};
use std::ops::ControlFlow;
use std::sync::Arc;

/// A whole experiment as a value, without the examples. It can be written as JSON and read again, and every model keeps the job that
/// made it.
///
/// ```
/// use mercer::prelude::*;
/// let job = Job { seed: Seed(7), ..Job::new(&Svc { c: 10.0, ..Svc::default() }, &rbf(0.5)) };
/// let text = serde_json::to_string(&job).unwrap();
/// let again: Job = serde_json::from_str(&text).unwrap();
/// assert_eq!(again.kernel, job.kernel);
/// assert_eq!(serde_json::to_string(&again).unwrap(), text);
/// ```
#[derive(Clone)]
pub struct Job {
    /// The machine.
    pub machine: &'static MachineEntry,
    /// The parameters of the machine; those that are not named have their defaults.
    pub settings: Vec<(String, Setting)>,
    /// The kernel: how examples are compared.
    pub kernel: Formula,
    /// The columns of a table: target, views, missing entries and scaling; see [`Job::prepare`].
    pub columns: SchemaOptions,
    /// The share of the examples, drawn at random, that scaling, codes and parameters of the kernel are learned from. The machine learns from the
    /// others alone, to which whatever was prepared is a constant: their certificates pay nothing for it. 0: everything is learned from all
    /// examples.
    pub preparation_share: f64,
    /// The number of parameters of the kernel that the caller has computed from the examples before the job. Certificates pay for them, and a
    /// coverage that rests on the same examples is not proven.
    pub numbers_taken: usize,
    /// Among how many candidates the parameters were chosen with the help of the same examples, this one included; 1 for a job that nobody
    /// chose. Certificates pay for all of them, and no coverage that rests on these examples is proven.
    pub candidates: usize,
    /// The memory that matrices may take.
    pub budget: Budget,
    /// The seed of all random choices.
    pub seed: Seed,
    /// The method by which a classifier also learns probabilities, if it does.
    pub probabilities: Option<Method>,
    /// In how many folds scores are held out to learn probabilities from; as many as there are examples at most. 0: thirds,
    /// and no more of them than give each class some hundred and fifty scores.
    pub calibration_folds: usize,
    /// The recipe by which sets, intervals or p-values are learned as well, if they are.
    pub conformal: Option<Recipe>,
    /// Noise, copies and points beside the data, for machines that take them. They are examples, so the written job does not have
    /// them.
    pub auxiliary: Option<AuxiliaryExamples>,
}

/// A job with its machine.
pub(crate) struct Run<'a> {
    pub(crate) job: &'a Job,
    machine: &'a dyn Machine,
    kernel: &'a Formula,
    budget: Budget,
    seed: Seed,
    probabilities: Option<Method>,
    calibration_folds: usize,
    auxiliary: Option<&'a AuxiliaryExamples>,
}

/// Number of folds where none are asked for.
const DEFAULT_CALIBRATION_FOLDS: usize = 3;
/// Number of held-out scores of a class that its curves are learned from, where no folds are asked for.
const SCORES_PER_CLASS: usize = 150;

/// The number of folds until each class has enough members in them; all of them if some class never has.
fn enough(codes: &[u32], folds: &[Vec<usize>]) -> usize {
    let mut counts = vec![0; codes.iter().map(|&c| c as usize + 1).max().unwrap_or(0)];
    for (k, fold) in folds.iter().enumerate() {
        fold.iter().for_each(|&i| counts[codes[i] as usize] += 1);
        if counts.iter().all(|&c| c >= SCORES_PER_CLASS) {
            return k + 1;
        }
    }
    folds.len()
}

impl Job {
    /// A machine with its parameters and a kernel, with the default budget and seed. The job keeps the machine's entry and parameters, of
    /// which it is made again.
    pub fn new(machine: &dyn Machine, kernel: &Formula) -> Self {
        let settings = machine.settings().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Self { settings, ..Self::of(machine.entry(), kernel.clone()) }
    }

    /// A machine with default parameters and a kernel.
    pub fn of(machine: &'static MachineEntry, kernel: Formula) -> Self {
        Self {
            machine,
            settings: Vec::new(),
            kernel,
            columns: SchemaOptions::default(),
            preparation_share: 0.0,
            numbers_taken: 0,
            candidates: 1,
            budget: Budget::default(),
            seed: Seed(0),
            probabilities: None,
            calibration_folds: 0,
            conformal: None,
            auxiliary: None,
        }
    }

    /// The machine with its parameters.
    ///
    /// # Errors
    /// If it has no such parameter, or a value is out of range.
    pub fn make(&self) -> Result<Box<dyn Machine>, Error> {
        let mut machine = (self.machine.make)();
        for (name, value) in &self.settings {
            assign(self.machine.name, machine.as_mut(), name, value)?;
        }
        Ok(machine)
    }

    /// A sentence on promises that the machine cannot keep with the kernel, before any example is seen: a model tells the same among its advice.
    ///
    /// # Errors
    /// If the problem of the machine has no solution with such a kernel, or the machine has no such parameters.
    pub fn doubt(&self) -> Result<Option<String>, Error> {
        Ok(doubt(self.make()?.as_ref(), &self.kernel)?)
    }

    /// Learns from data.
    ///
    /// # Errors
    /// If the data fit neither kernel nor machine, or the memory budget forbids it; if probabilities are wanted of a machine
    /// that learns no classes; if conformal regions are wanted of a machine that predicts
    /// nothing that could be in them, or of too few examples.
    pub fn run(&self, data: &Dataset, watch: &dyn Monitor) -> Result<Model, Error> {
        Run::new(self, self.make()?.as_ref()).run(data, watch)
    }

    /// Learns from data with a kernel that is resolved and met with them already, without regions.
    pub(crate) fn run_on(&self, kernel: &KernelOnData, data: &Dataset, watch: &dyn Monitor) -> Result<Model, Error> {
        let machine = self.make()?;
        let run = Run::new(self, machine.as_ref());
        let mut model = run.learn(kernel, data, run.provenance(data, None, &kernel.resolved), watch)?;
        model.job = Some(run.kept(data));
        model.chosen_among(self.candidates);
        Ok(model)
    }
}

impl<'a> Run<'a> {
    fn new(job: &'a Job, machine: &'a dyn Machine) -> Self {
        Self {
            job,
            machine,
            kernel: &job.kernel,
            budget: job.budget,
            seed: job.seed,
            probabilities: job.probabilities,
            calibration_folds: job.calibration_folds,
            auxiliary: job.auxiliary.as_ref(),
        }
    }

    fn run(&self, data: &Dataset, watch: &dyn Monitor) -> Result<Model, Error> {
        let data = &*self.job.set_apart(data)?;
        let sign = watch.sign();
        let learned = under(&sign, || match &self.job.conformal {
            Some(recipe) => self.conform(recipe, data, watch),
            None => {
                let kernel = self.on_data(self.kernel.resolve(data, self.seed)?, data)?;
                self.learn(&kernel, data, self.provenance(data, None, &kernel.resolved), watch)
            }
        });
        let mut model = match (learned, sign.broken()) {
            // what came of values that were given up is no result, and no breakdown either
            (Ok(model), Some(reason)) if !ended_itself(&model) => return Err(SolveError::Stopped { reason }.into()),
            (Err(_), Some(reason)) => return Err(SolveError::Stopped { reason }.into()),
            (learned, _) => learned?,
        };
        model.job = Some(self.kept(data));
        model.chosen_among(self.job.candidates);
        Ok(model)
    }

    /// The job as a model keeps it: with the columns by which the data were prepared, where the job itself leaves them open.
    fn kept(&self, data: &Dataset) -> Arc<Job> {
        let prepared = data.preparation().and_then(Preparation::options);
        let columns = match prepared.filter(|_| self.job.columns == SchemaOptions::default()) {
            Some(options) => options.clone(),
            None => self.job.columns.clone(),
        };
        let preparation_share = data.preparation_set().map_or(self.job.preparation_share, PreparationSet::share);
        Arc::new(Job { auxiliary: None, columns, preparation_share, ..self.job.clone() })
    }

    /// The steps that learned something before a fit with a resolved kernel, where the examples at places `kept` are never held out.
    fn provenance(&self, data: &Dataset, kept: Option<&[usize]>, kernel: &Formula) -> Provenance {
        Provenance::new(data, kept, (self.kernel, kernel), self.job.numbers_taken)
    }

    /// A resolved kernel on the data, for the machine.
    fn on_data(&self, resolved: Formula, data: &Dataset) -> Result<KernelOnData, Error> {
        KernelOnData::new(resolved, self.machine, data, self.budget)
    }

    /// The task of all examples.
    fn task<'d>(&self, kernel: &KernelOnData, data: &'d Dataset) -> Task<'d> {
        Task { target: data.target(), weights: data.weights(), ..kernel.task(self.seed) }
    }

    /// Learns with a kernel on the data, with probabilities where they are wanted.
    fn learn(
        &self,
        on_data: &KernelOnData,
        data: &Dataset,
        provenance: Provenance,
        watch: &dyn Monitor,
    ) -> Result<Model, Error> {
        let kernel = on_data.resolved.clone();
        // what cannot be calibrated is told before the work, not after it
        let folds = self.held_out(data)?;
        takes_weights(self.machine, data.weights().is_some())?;
        let joined = self.joined(&kernel, data)?;
        let task = self.task(on_data, data);
        let mut fitted = match (&joined, self.probabilities.zip(folds)) {
            (Some((auxiliary, joined)), _) => {
                let gram = kernel.training_gram(joined)?;
                let (roles, transformations) = (auxiliary.roles(), auxiliary.transformations());
                let auxiliary = Auxiliary { gram, roles, transformations };
                self.machine.run(&Task { auxiliary: Some(&auxiliary), ..task.clone() }, watch)?
            }
            (None, Some((method, folds))) => {
                let asked = Task { held_out: HeldOutRequest::Scores(&folds), ..task.clone() };
                let mut fitted = self.machine.run(&asked, watch)?;
                self.calibrate(method, &folds, (&task, data), &mut fitted, watch)?;
                fitted
            }
            (None, None) => self.machine.run(&task, watch)?,
        };
        let read = (&task.gram, self.machine.traits().reads);
        let more = diagnosis::advice(data, read, &kernel, &fitted.report);
        let offset =
            self.machine.traits().without_offset.then(|| diagnosis::offset(data, task.gram.as_ref())).flatten();
        fitted.report.advice.extend(offset);
        fitted.report.advice.extend(more);
        fitted.report.advice.extend(doubt(self.machine, &kernel)?);
        fitted.report.advice.extend(target::advice(self.machine.entry(), data));
        fitted.report.advice.extend(data.preparation().into_iter().flat_map(|p| p.remarks().iter().cloned()));
        // features that were computed are at hand now, and would have to be computed again
        if let Some(features) = task.features.as_ref().filter(|_| !kernel.features_are_data()) {
            fitted.training_scores = fitted.training_scores.or_else(|| fitted.expansion.primal_scores(&features.rows));
        }
        // a prediction has no part in what belongs to a training example alone, and errors are errors of predictions
        if kernel.tells_places() {
            fitted.training_scores = None;
        }
        let settings = self.machine.settings().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let points_in = joined.as_ref().map_or(data, |(_, joined)| joined);
        let mut model = Model::new(self.machine.entry().name, settings, kernel, fitted, points_in);
        model.trained_on = data.len();
        model.schema = data.preparation().map(|p| p.schema().clone());
        model.provenance = Some(provenance);
        Ok(model)
    }

    /// The data with their auxiliary examples, if there are any and machine and kernel can take them.
    fn joined(&self, kernel: &Formula, data: &Dataset) -> Result<Option<(&'a AuxiliaryExamples, Dataset)>, Error> {
        let Some(auxiliary) = self.auxiliary.filter(|c| !c.is_empty()) else { return Ok(None) };
        let machine = self.machine.entry().name;
        if !self.machine.traits().auxiliary {
            return Err(no_auxiliary(machine).into());
        }
        let finding = if self.probabilities.is_some() {
            "probabilities are learned from examples that are held out, which auxiliary examples are not; leave one of them out"
        } else if kernel.needs_all_examples() {
            "centre(…) in a formula would be the centre of noise and copies, too; leave it out"
        } else if kernel.views().iter().any(|(_, kind)| *kind == Kind::Precomputed) {
            "a precomputed matrix has no places for auxiliary examples; use a kernel on the data"
        } else {
            return Ok(Some((auxiliary, auxiliary.beside(data)?)));
        };
        Err(FitError::Param { machine, finding: finding.to_owned() }.into())
    }
}

/// Weights are refused by machines to which they do not matter.
pub(crate) fn takes_weights(machine: &dyn Machine, weighted: bool) -> Result<(), FitError> {
    if !weighted || machine.traits().weights {
        return Ok(());
    }
    let others = machines::alternatives(machine.entry(), |t| t.weights);
    let finding = format!("it does not weigh examples; leave the weights out, or use {others}");
    Err(FitError::Param { machine: machine.entry().name, finding })
}

impl Run<'_> {
    /// The folds that probabilities are learned from, if they are wanted. The members of a class are dealt out one by one,
    /// so a class with fewer members than folds is missing from no fit. An example that is alone in its class is learned from by
    /// every fit and has no held-out score: what the others score says how rare the class is.
    fn held_out(&self, data: &Dataset) -> Result<Option<Vec<Vec<usize>>>, Error> {
        if self.probabilities.is_none() {
            return Ok(None);
        }
        let entry = self.machine.entry();
        if entry.learns != Learns::Classes || !predicts_target(entry) {
            let finding = "probabilities are for machines that predict classes".to_owned();
            return Err(FitError::Param { machine: entry.name, finding }.into());
        }
        let target = data.target().ok_or(DataError::NoTarget)?;
        let count = if self.calibration_folds == 0 { DEFAULT_CALIBRATION_FOLDS } else { self.calibration_folds }
            .min(target.len());
        // too few classes and the like are for the machine to tell
        if target.classes().is_ok_and(|classes| classes.labels.len() < 2) {
            return Ok(None);
        }
        let mut folds = folds_of_shared_classes(target, count, self.seed)?;
        if self.calibration_folds == 0 {
            let codes = target.classes()?.codes;
            folds.truncate(enough(&codes, &folds));
        }
        Ok(Some(folds))
    }

    /// Learns probabilities from held-out scores. Where that is stopped the model is kept without them; its status says
    /// so, and a note that it was the calibration.
    fn calibrate(
        &self,
        method: Method,
        folds: &[Vec<usize>],
        (task, data): (&Task<'_>, &Dataset),
        fitted: &mut Fitted,
        watch: &dyn Monitor,
    ) -> Result<(), Error> {
        let known = fitted.held_out.take().map(|held_out| (held_out.layout, held_out.scores));
        let machine = self.machine.entry().name;
        let Some((form, labels)) = fitted.readout.form() else { return Ok(()) };
        // a fit that was stopped leaves no time for more
        if !matches!(fitted.report.status, Status::Converged | Status::IterationLimit) {
            fitted.report.notes.push(Fact::CalibrationCutShort.note(1.0));
            return Ok(());
        }
        let watch = Calibrating { watch };
        let refit = || held_out_scores(self.machine, task, fitted, folds, &watch).map(|all| (Layout::Outputs, all));
        let (layout, scores) = match known.map_or_else(refit, Ok) {
            Err(FitError::Solve { error: SolveError::Stopped { reason }, .. }) => {
                fitted.report.status = reason.into();
                fitted.report.notes.push(Fact::CalibrationCutShort.note(1.0));
                return Ok(());
            }
            other => other?,
        };
        let classes = task.classes(machine)?;
        fitted.report.advice.extend(diagnosis::alone(&classes));
        let codes = classes.codes;
        // weights of the classes are for the decision; probabilities are those of the examples as they come
        let natural = match (task.weights, data.class_weights()) {
            (Some(weights), _) if data.is_balanced() => Some(unbalanced(weights, &codes)),
            (Some(weights), Some(known)) => Some(unweighted(weights, known, (&classes.labels, &codes))),
            _ => None,
        };
        let weights = natural.as_deref().or(task.weights);
        let held_out = HeldOutScores { scores: &scores, layout, codes: &codes, weights };
        let calibration = Calibration::learn(method, folds.len(), form, labels, &held_out);
        let weighed = data.is_balanced() || data.class_weights().is_some() || self.machine.traits().weighs_classes;
        fitted.calibration = Some(if weighed { calibration.beside_weighted_labels() } else { calibration });
        Ok(())
    }
}

/// True if a fit ended where it was told to, with what it had found before.
fn ended_itself(model: &Model) -> bool {
    let told = matches!(model.fitted.report.status, Status::TimeLimit | Status::Interrupted);
    told && match &model.fitted.expansion.coefficients {
        Coefficients::Dual { alpha, .. } => alpha.iter().all(|a| a.is_finite()),
        Coefficients::Primal { weights, .. } => weights.iter().all(|w| w.is_finite()),
        _ => false,
    }
}

/// Weights without the factor that balances the classes ([`Dataset::with_balanced_classes`]).
fn unbalanced(weights: &[f64], codes: &[u32]) -> Vec<f64> {
    let mut counts = vec![0_usize; codes.iter().map(|&c| c as usize + 1).max().unwrap_or(0)];
    codes.iter().for_each(|&c| counts[c as usize] += 1);
    let even = codes.len() as f64 / counts.iter().filter(|n| **n > 0).count().max(1) as f64;
    weights.iter().zip(codes).map(|(w, &c)| w * counts[c as usize] as f64 / even).collect()
}

/// Weights without the factors of the classes ([`Dataset::with_class_weights`]).
fn unweighted(weights: &[f64], known: &[(String, f64)], (labels, codes): (&[String], &[u32])) -> Vec<f64> {
    let factor = |label: &String| known.iter().find(|(other, _)| other == label).map_or(1.0, |(_, factor)| *factor);
    let factors: Vec<f64> = labels.iter().map(factor).collect();
    // a class that counts nothing is nothing to learn from
    let one = |(w, &c): (&f64, &u32)| if *w == 0.0 { 0.0 } else { w / factors[c as usize] };
    weights.iter().zip(codes).map(one).collect()
}

/// A monitor that reports every step as calibration: the model itself is there already.
struct Calibrating<'a> {
    watch: &'a dyn Monitor,
}

impl Monitor for Calibrating<'_> {
    fn sign(&self) -> Sign {
        self.watch.sign()
    }

    fn step(&self, progress: &Progress) -> ControlFlow<Stop> {
        self.watch.step(&Progress { gap: progress.gap, ..Progress::new(Phase::CALIBRATION, 0) })
    }
}

/// Learning in one call; every machine has it.
pub trait Fit: Machine + Sized {
    /// Learns from data with a kernel.
    ///
    /// ```
    /// use mercer::prelude::*;
    /// let x = Rows::from_vectors(&[[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]).unwrap();
    /// let y = vec!["same", "same", "different", "different"];
    /// let data = Dataset::new(x).with_target(Target::from_text("y", &y))?;
    /// let model = Svc { c: 100.0, ..Svc::default() }.fit(&rbf(1.0), &data)?;
    /// assert_eq!(model.predict(&data)?.labels(), y);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    fn fit(&self, kernel: &Formula, data: &Dataset) -> Result<Model, Error> {
        Run::new(&Job::new(self, kernel), self).run(data, &Silent)
    }
}

impl<M: Machine> Fit for M {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_are_held_out_until_every_class_has_enough() {
        let codes: Vec<u32> = (0..1200).map(|i| u32::from(i % 4 == 0)).collect();
        let folds: Vec<Vec<usize>> = (0..3).map(|f| (f * 400..(f + 1) * 400).collect()).collect();
        // a hundred of the second class in each
        assert_eq!(enough(&codes, &folds), 2);
        assert_eq!(enough(&codes[..], &folds[..1]), 1, "all there are");
        assert_eq!(enough(&vec![0; 1200], &folds), 1);
    }
}
