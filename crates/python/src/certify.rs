//! Certificates of a model, plans for one, and the judge of a search by certificates.

use crate::convert::{dataset, raise, target};
use crate::model::Model;
use crate::run::run;
use crate::words::in_python;
use mercer::certify::{BoundEntry, CandidatePrior, Expected, Options, judges};
use mercer::data::Dataset;
use mercer::prelude::Seed;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};

/// Examples with their target, if there is one.
fn joined(views: &Bound<'_, PyAny>, y: Option<&Bound<'_, PyAny>>, labels: Option<&Vec<String>>) -> PyResult<Dataset> {
    let data = dataset(views)?;
    match y {
        Some(y) => data.with_target(target(y, labels.cloned())?).map_err(raise),
        None => Ok(data),
    }
}

/// An option that was given and is not None.
pub(crate) fn given<'py>(options: &Bound<'py, PyDict>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    options.get_item(name).map(|o| o.filter(|o| !o.is_none()))
}

/// Options of certificates, but for the held-out examples.
pub(crate) fn asked(options: &Bound<'_, PyDict>) -> PyResult<Options<'static>> {
    let option = |name: &str| given(options, name);
    Ok(Options {
        delta: option("delta")?.map_or(Ok(0.05), |o| o.extract())?,
        held_out_candidates: option("held_out_candidates")?.map_or(Ok(1), |o| o.extract())?,
        candidates: option("candidates")?.map(|o| o.extract()).transpose()?,
        thorough: option("thorough")?.map_or(Ok(false), |o| o.extract())?,
        evidence: option("evidence")?.map_or(Ok(0), |o| o.extract())?,
        target_range: option("target_range")?.map(|o| o.extract::<[f64; 2]>()).transpose()?,
        radius: option("radius")?.map(|o| o.extract()).transpose()?,
        folds: option("folds")?.map(|o| o.extract()).transpose()?,
        seed: Seed(option("seed")?.map_or(Ok(0), |o| o.extract())?),
        ..Options::default()
    })
}

fn text(document: &Value) -> PyResult<String> {
    serde_json::to_string(document).map(|text| in_python(&text)).map_err(|e| PyValueError::new_err(e.to_string()))
}

/// All certificates, the best of them, the sentence, the errors and the lines of the summary, as JSON. `options` has delta,
/// candidates, held_out_candidates, thorough, evidence, target_range, radius, folds, unlabelled (views), seed and threads, each of which may be
/// None.
#[pyfunction]
#[pyo3(signature = (model, views, y, labels, held_out, held_out_y, options, callback))]
#[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)]
pub(crate) fn certify(
    py: Python<'_>,
    model: &Model,
    views: &Bound<'_, PyAny>,
    y: Option<&Bound<'_, PyAny>>,
    labels: Option<Vec<String>>,
    held_out: Option<&Bound<'_, PyAny>>,
    held_out_y: Option<&Bound<'_, PyAny>>,
    options: &Bound<'_, PyDict>,
    callback: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let training = joined(views, y, labels.as_ref())?;
    let fresh = held_out.map(|views| joined(views, held_out_y, labels.as_ref())).transpose()?;
    let unlabelled = given(options, "unlabelled")?.map(|views| dataset(&views)).transpose()?;
    let wanted = Options { held_out: fresh.as_ref(), unlabelled: unlabelled.as_ref(), ..asked(options)? };
    let threads = given(options, "threads")?.map_or(Ok(0), |o| o.extract())?;
    let size = training.len().saturating_mul(training.len());
    let found = run(py, (threads, size), None, callback, |watch| model.model().certify(&training, &wanted, watch))?;
    let found = found.map_err(raise)?;
    text(&json!({
        "certificates": found.certificates,
        "best": found.best(),
        "sentence": found.sentence(),
        "training_error": found.facts.error_rate(),
        "held_out_error": found.held_out_error,
        "cross_validated": found.cross_validated,
        "candidates": found.facts.penalty.candidates,
        "summary": found.summary(),
    }))
}

/// The bounds and the prior that a search by certificates judges by.
pub(crate) struct Judging {
    judges: Vec<(&'static BoundEntry, f64)>,
    prior: Option<CandidatePrior>,
    options: Options<'static>,
}

impl Judging {
    /// Of a dictionary with bounds (names with their parts of δ), candidate_prior (as the command line writes it) and what certificates are
    /// asked, each of which may be None.
    pub(crate) fn of(options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let names: Vec<String> = given(options, "bounds")?.map_or(Ok(Vec::new()), |o| o.extract())?;
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let prior: Option<String> = given(options, "candidate_prior")?.map(|o| o.extract()).transpose()?;
        Ok(Self {
            judges: judges(&names).map_err(raise)?,
            prior: prior.map(|prior| prior.parse().map_err(PyValueError::new_err)).transpose()?,
            options: asked(options)?,
        })
    }

    /// The options.
    pub(crate) fn options(&self) -> Options<'_> {
        Options { judges: &self.judges, candidate_prior: self.prior.as_ref(), ..self.options }
    }
}

/// The least certificate of one of so many candidates, at a place of their grid, all of them paid for, as JSON; null where no bound applies to it.
#[pyfunction]
#[pyo3(signature = (model, views, y, labels, place, candidates, options))]
#[allow(clippy::needless_pass_by_value, clippy::too_many_arguments)]
pub(crate) fn judge(
    py: Python<'_>,
    model: &Model,
    views: &Bound<'_, PyAny>,
    y: Option<&Bound<'_, PyAny>>,
    labels: Option<Vec<String>>,
    place: usize,
    candidates: usize,
    options: &Bound<'_, PyDict>,
) -> PyResult<String> {
    let data = joined(views, y, labels.as_ref())?;
    let judging = Judging::of(options)?;
    let wanted = judging.options();
    let threads = given(options, "threads")?.map_or(Ok(0), |o| o.extract())?;
    let size = data.len().saturating_mul(data.len());
    let judged = run(py, (threads, size), None, None, |watch| {
        mercer::certify::least_certificate(model.model(), &data, (place, candidates), &wanted, watch)
    })?;
    text(&json!(judged.map_err(raise)?))
}

/// Number of examples that each bound needs for a wanted certificate, as JSON: of a model and its examples, or of what is expected.
/// `options` has certificate, delta, bounds, support, held_out_error, training_error, dimension, margin, lambda, candidates
/// and threads, each of which may be None.
#[pyfunction]
#[pyo3(signature = (model, views, y, labels, options))]
#[allow(clippy::needless_pass_by_value)]
pub(crate) fn plan(
    py: Python<'_>,
    model: Option<&Model>,
    views: Option<&Bound<'_, PyAny>>,
    y: Option<&Bound<'_, PyAny>>,
    labels: Option<Vec<String>>,
    options: &Bound<'_, PyDict>,
) -> PyResult<String> {
    let number = |name: &str| given(options, name)?.map(|o| o.extract::<f64>()).transpose();
    let expected = Expected {
        support: number("support")?,
        held_out_error: number("held_out_error")?,
        training_error: number("training_error")?,
        dimension: number("dimension")?,
        margin: number("margin")?,
        lambda: number("lambda")?,
        candidates: given(options, "candidates")?.map(|o| o.extract()).transpose()?,
    };
    let (certificate, delta) = (number("certificate")?.unwrap_or(0.1), number("delta")?.unwrap_or(0.05));
    let wanted = asked(options)?;
    let names: Vec<String> = given(options, "bounds")?.map_or(Ok(Vec::new()), |o| o.extract())?;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let training = views.map(|views| joined(views, y, labels.as_ref())).transpose()?;
    let threads = given(options, "threads")?.map_or(Ok(0), |o| o.extract())?;
    let size = training.as_ref().map_or(0, |data| data.len().saturating_mul(data.len()));
    let planned = run(py, (threads, size), None, None, |watch| {
        let facts = match (model, &training) {
            (Some(model), Some(training)) => expected.facts_of(model.model(), training, &wanted, watch)?,
            _ => expected.facts()?,
        };
        mercer::certify::plan(&facts, certificate, delta, &names)
    })?;
    text(&json!(planned.map_err(raise)?))
}
