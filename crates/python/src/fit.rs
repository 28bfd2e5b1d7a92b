//! Fitting.

use crate::certify::{asked, given};
use crate::convert::{List, dataset, raise, settings, target};
use crate::kernel::parse;
use crate::model::Model;
use crate::run::run;
use mercer::calibrate::Method;
use mercer::certify::{Options, part};
use mercer::conformal::{self, Recipe};
use mercer::gram::Budget;
use mercer::job::AuxiliaryExamples;
use mercer::prelude::{Job, Seed};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Learns. `options` has threads, memory, max_seconds, seed, probabilities, calibration_folds, conformal, balanced (weights that balance the
/// classes), class_weights (factors of labels), preparation_share, numbers_taken (numbers of the kernel that were taken from the examples before) and companions, each of which may be None;
/// certified, a dictionary, trains again on a part (wanted, and what certificates are asked). Conformal is (method, share, folds, mondrian, retrain); companions are a list of (role, name, views) with the roles noise, copies and points.
#[pyfunction]
#[pyo3(signature = (machine, parameters, kernel, views, y, labels, weights, options, callback))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn fit(
    py: Python<'_>,
    machine: &str,
    parameters: &Bound<'_, PyList>,
    kernel: &str,
    views: &Bound<'_, PyList>,
    y: Option<&Bound<'_, PyAny>>,
    labels: Option<Vec<String>>,
    weights: Option<List<'_, f64>>,
    options: &Bound<'_, PyDict>,
    callback: Option<&Bound<'_, PyAny>>,
) -> PyResult<Model> {
    let entry = mercer::machines::find(machine)
        .ok_or_else(|| PyValueError::new_err(format!("there is no machine called {machine}")))?;
    let mut data = dataset(views)?;
    if let Some(y) = y {
        data = data.with_target(target(y, labels)?).map_err(raise)?;
    }
    if let Some(weights) = weights {
        data = data.with_weights(weights.as_slice()?.to_vec()).map_err(raise)?;
    }
    let option = |name: &str| given(options, name);
    if option("balanced")?.map_or(Ok(false), |o| o.extract::<bool>())? {
        data = data.with_balanced_classes().map_err(raise)?;
    }
    if let Some(factors) = option("class_weights")? {
        data = data.with_class_weights(factors.extract::<Vec<(String, f64)>>()?).map_err(raise)?;
    }
    let threads = option("threads")?.map_or(Ok(0), |o| o.extract())?;
    let max_seconds: Option<f64> = option("max_seconds")?.map(|o| o.extract()).transpose()?;
    let budget = match option("memory")? {
        Some(bytes) => Budget { memory: bytes.extract()? },
        None => Budget::default(),
    };
    let seed = Seed(option("seed")?.map_or(Ok(0), |o| o.extract())?);
    let word: Option<String> = option("probabilities")?.map(|o| o.extract()).transpose()?;
    let probabilities = match word {
        Some(word) => Some(
            Method::WORDS
                .iter()
                .find(|w| w.0 == word)
                .map(|w| w.1)
                .ok_or_else(|| PyValueError::new_err(format!("there is no calibration called {word}")))?,
        ),
        None => None,
    };
    let calibration_folds = option("calibration_folds")?.map_or(Ok(0), |o| o.extract())?;
    let conformal = option("conformal")?.map(|o| recipe(&o)).transpose()?;
    let mut auxiliary = AuxiliaryExamples::default();
    if let Some(given) = option("companions")? {
        for one in given.try_iter()? {
            let (role, name, views): (String, String, Bound<'_, PyList>) = one?.extract()?;
            let beside = dataset(&views)?;
            auxiliary = match role.as_str() {
                "noise" => auxiliary.with_noise(&beside),
                "copies" => auxiliary.with_copies(&name, &beside),
                _ => auxiliary.with_points(&beside),
            }
            .map_err(raise)?;
        }
    }
    let certified = match option("certified")? {
        Some(asking) => {
            let asking = asking.cast_into::<PyDict>()?;
            let wanted: Option<f64> = given(&asking, "certified")?.map(|o| o.extract()).transpose()?;
            Some((wanted, Options { budget, seed, ..asked(&asking)? }))
        }
        None => None,
    };
    let size = data.len().saturating_mul(data.len());
    let job = Job {
        settings: settings(parameters)?,
        preparation_share: option("preparation_share")?.map_or(Ok(0.0), |o| o.extract())?,
        numbers_taken: option("numbers_taken")?.map_or(Ok(0), |o| o.extract())?,
        budget,
        seed,
        probabilities,
        calibration_folds,
        conformal,
        auxiliary: Some(auxiliary),
        ..Job::of(entry, parse(kernel)?)
    };
    let fitted = run(py, (threads, size), max_seconds, callback, |watch| match certified {
        None => job.run(&data, watch).map(|model| (model, None)),
        Some((wanted, asked)) => part::fit(&job, &data, &asked, wanted, watch)
            .map(|found| (found.model, Some((found.size, found.errors, found.bound, found.tried, found.condition)))),
    })?;
    let (model, part) = fitted.map_err(raise)?;
    Ok(Model::fitted(model, part))
}

/// The recipe of conformal regions.
fn recipe(given: &Bound<'_, PyAny>) -> PyResult<Recipe> {
    let (word, share, folds, mondrian, retrain): (String, f64, usize, bool, bool) = given.extract()?;
    let known = conformal::Method::WORDS.iter().find(|w| w.0 == word).map(|w| w.1);
    let method = known.ok_or_else(|| {
        PyValueError::new_err(format!("conformal={word:?} is not known; use 'split', 'cross', 'jackknife' or 'full'"))
    })?;
    Ok(Recipe { method, share, folds, mondrian, retrain })
}
