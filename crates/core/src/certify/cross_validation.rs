//! The error of cross-validation, to stand beside the certificates: an estimate, not a guarantee.
//!
//! # Source
//! Herbrich (2002), §2.5 (Luntz & Brailovsky, of leaving out one example): the error of a model on examples it has not seen is on
//! average its risk, so the mean over k folds estimates the risk of a fit on m (k − 1)/k examples without bias. How far a single
//! estimate is off, nothing here says.

use crate::data::{DataError, Dataset, places_of_labels};
use crate::error::Error;
use crate::gram::Budget;
use crate::machines::{self, Compresses, Learns, Output, Theory, predicts_target};
use crate::model::Model;
use crate::resample::{Split, folds, standard_error};
use crate::seed::Seed;
use crate::select::{Trial, Trials};
use crate::watch::Monitor;
use serde::Serialize;
use std::fmt;

/// The share of errors of models that have not seen the examples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CrossValidated {
    /// The share of all examples that were wrong when they were held out.
    pub error: f64,
    /// The standard error of the folds' shares.
    pub spread: f64,
    /// The number of folds.
    pub folds: usize,
    /// True if the kernel has the centre of all examples, so that the models of the folds knew where the held-out ones lie.
    pub centred_on_all: bool,
}

impl fmt::Display for CrossValidated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.4} ± {:.4} in {} folds: an estimate, not a guarantee", self.error, self.spread, self.folds)?;
        if self.centred_on_all {
            f.write_str("; the centre of the kernel is that of all examples, the held-out ones among them")?;
        }
        Ok(())
    }
}

/// Fits the model's machine on all folds but one at a time, with the model's kernel as it is; 0 folds leave out one example at a
/// time.
///
/// # Errors
/// If the model has no target or no share of errors, was given weights that are not known here or only a part of the examples; as
/// [`Trials::run`].
pub(super) fn cross_validate(
    model: &Model,
    training: &Dataset,
    count: usize,
    (budget, seed): (Budget, Seed),
    watch: &dyn Monitor,
) -> Result<CrossValidated, Error> {
    let usage = |why: &str| {
        Error::from(DataError::Usage { finding: format!("no cross-validation: {why}; leave out the folds") })
    };
    let Some(entry) = machines::find(&model.machine).filter(|e| predicts_target(e)) else {
        return Err(usage(&format!("{} has no target to be judged by", model.machine)));
    };
    if let Some(provenance) = model.provenance() {
        if provenance.part().is_some() {
            return Err(usage("the model was trained on a part of the examples, which folds would not be"));
        }
        if provenance.weighted() && training.weights().is_none() {
            return Err(usage("the model was fitted with weights, which are not known here"));
        }
    }
    let theory = model.remade()?.map_or_else(Theory::default, |m| m.traits().theory);
    let tube = matches!(theory.compression, Compresses::Tube { .. }) && model.fitted.expansion.outputs() == 1;
    if entry.learns == Learns::Numbers && !tube {
        let finding = format!("{} predicts numbers without one tube around them, so none is wrong", entry.name);
        return Err(usage(&finding));
    }
    let target = training.target().ok_or(DataError::NoTarget)?;
    let parts = match count {
        0 => (0..training.len()).map(|i| vec![i]).collect(),
        several => folds(target, entry.learns, several, seed)?,
    };
    let splits: Vec<Split> = parts.iter().map(|part| Split::without(part, training)).collect();
    let points = [model.settings.clone()];
    let trials = Trials { machine: entry, kernel: &model.kernel, points: &points, splits: &splits, budget, seed };
    let judged = trials.run(training, watch)?;
    let mut wrong = Vec::with_capacity(parts.len());
    for (trial, part) in judged.iter().flatten().zip(&parts) {
        wrong.push(errors(trial, part, training, &theory)? as f64);
    }
    let shares: Vec<f64> = wrong.iter().zip(&parts).map(|(w, part)| w / part.len().max(1) as f64).collect();
    Ok(CrossValidated {
        error: wrong.iter().sum::<f64>() / training.len().max(1) as f64,
        spread: standard_error(&shares),
        folds: parts.len(),
        centred_on_all: model.kernel.needs_all_examples(),
    })
}

/// The number of held-out examples that are misclassified, or outside the tube.
fn errors(trial: &Trial, part: &[usize], data: &Dataset, theory: &Theory) -> Result<usize, Error> {
    let target = data.target().ok_or(DataError::NoTarget)?;
    match (&trial.output, theory.compression) {
        (Output::Labels { labels, codes, .. }, _) => {
            let classes = target.classes()?;
            // a fold may know fewer labels, so they are compared by name
            let places = places_of_labels(labels, &classes.labels);
            let right = |(&code, &i): (&u32, &usize)| places[classes.codes[i] as usize] == Some(code as usize);
            Ok(codes.iter().zip(part).filter(|pair| !right(*pair)).count())
        }
        (Output::Values { values, .. }, Compresses::Tube { epsilon }) => {
            let truth = target.numbers()?.values;
            // as the training error: rounding must not make a point on the border a miss
            let off = |(f, &i): (&f64, &usize)| (f - truth[i]).abs() - epsilon > 1e-9 * epsilon.max(1.0);
            Ok(values.iter().zip(part).filter(|pair| off(*pair)).count())
        }
        _ => Ok(0),
    }
}
