//! Certificates of a model.

use crate::convert::{dataset, raise, target};
use crate::model::Model;
use crate::run::run;
use mercer::certify::Options;
use mercer::prelude::Seed;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Certificates as a JSON array, the best as a sentence, the training error, and the best as JSON. `options` has delta, candidates,
/// held_out_candidates, thorough, evidence, target_range, numbers_chosen, seed and threads, each of which may be None.
#[pyfunction]
#[pyo3(signature = (model, views, y, labels, held_out, held_out_y, options, callback))]
#[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)]
pub(crate) fn certify(
    py: Python<'_>,
    model: &Model,
    views: &Bound<'_, PyList>,
    y: Option<&Bound<'_, PyAny>>,
    labels: Option<Vec<String>>,
    held_out: Option<&Bound<'_, PyList>>,
    held_out_y: Option<&Bound<'_, PyAny>>,
    options: &Bound<'_, PyDict>,
    callback: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, String, Option<f64>, String)> {
    let joined = |views: &Bound<'_, PyList>, y: Option<&Bound<'_, PyAny>>| {
        let data = dataset(views)?;
        match y {
            Some(y) => data.with_target(target(y, labels.clone())?).map_err(raise),
            None => Ok(data),
        }
    };
    let training = joined(views, y)?;
    let fresh = held_out.map(|views| joined(views, held_out_y)).transpose()?;
    let option = |name: &str| options.get_item(name).map(|o| o.filter(|o| !o.is_none()));
    let threads = option("threads")?.map_or(Ok(0), |o| o.extract())?;
    let wanted = Options {
        delta: option("delta")?.map_or(Ok(0.05), |o| o.extract())?,
        held_out: fresh.as_ref(),
        held_out_candidates: option("held_out_candidates")?.map_or(Ok(1), |o| o.extract())?,
        candidates: option("candidates")?.map(|o| o.extract()).transpose()?,
        thorough: option("thorough")?.map_or(Ok(false), |o| o.extract())?,
        informed: false,
        evidence: option("evidence")?.map_or(Ok(0), |o| o.extract())?,
        target_range: option("target_range")?.map(|o| o.extract::<[f64; 2]>()).transpose()?,
        numbers_chosen: option("numbers_chosen")?.map_or(Ok(0), |o| o.extract())?,
        seed: Seed(option("seed")?.map_or(Ok(0), |o| o.extract())?),
        ..Options::default()
    };
    let size = training.len().saturating_mul(training.len());
    let found = run(py, (threads, size), None, callback, |watch| model.model.certify(&training, &wanted, watch))?;
    let found = found.map_err(raise)?;
    let text = serde_json::to_string(&found.certificates)
        .map_err(|e| pyo3::exceptions::PyValueError::new_err(e.to_string()))?;
    let best =
        serde_json::to_string(&found.best()).map_err(|e| pyo3::exceptions::PyValueError::new_err(e.to_string()))?;
    Ok((text, found.sentence(), found.facts.error_rate(), best))
}
