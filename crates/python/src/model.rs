//! Fitting, and the model that comes out of it.

use crate::convert::{dataset, raise, settings, target};
use crate::kernel::parse;
use crate::run::run;
use mercer::calibrate::Method;
use mercer::gram::Plan;
use mercer::job::Companions;
use mercer::machines::{Coefficients, Output, Readout};
use mercer::params::assign;
use mercer::prelude::{Job, Seed};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

/// A trained model.
#[pyclass(frozen, module = "mercer._native")]
pub(crate) struct Model {
    pub(crate) model: mercer::model::Model,
    /// Places of the kept examples in the training data; none for a model from a file.
    places: Vec<usize>,
}

/// Learns. `options` has threads, memory, max_seconds, seed, probabilities, calibration_folds and companions, each of which may be
/// None. Companions are a list of (role, name, views) with the roles noise, copies and points.
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
    weights: Option<PyReadonlyArray1<'_, f64>>,
    options: &Bound<'_, PyDict>,
    callback: Option<&Bound<'_, PyAny>>,
) -> PyResult<Model> {
    let entry = mercer::machines::find(machine)
        .ok_or_else(|| PyValueError::new_err(format!("there is no machine called {machine}")))?;
    let mut made = (entry.make)();
    for (name, value) in settings(parameters)? {
        assign(entry.name, made.as_mut(), &name, &value).map_err(raise)?;
    }
    let mut data = dataset(views)?;
    if let Some(y) = y {
        data = data.with_target(target(y, labels)?).map_err(raise)?;
    }
    if let Some(weights) = weights {
        data = data.with_weights(weights.as_slice()?.to_vec()).map_err(raise)?;
    }
    let formula = parse(kernel)?;
    let option = |name: &str| options.get_item(name).map(|o| o.filter(|o| !o.is_none()));
    let threads = option("threads")?.map_or(Ok(0), |o| o.extract())?;
    let max_seconds: Option<f64> = option("max_seconds")?.map(|o| o.extract()).transpose()?;
    let plan = match option("memory")? {
        Some(bytes) => Plan { memory: bytes.extract()? },
        None => Plan::default(),
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
    let mut companions = Companions::default();
    if let Some(given) = option("companions")? {
        for one in given.try_iter()? {
            let (role, name, views): (String, String, Bound<'_, PyList>) = one?.extract()?;
            let beside = dataset(&views)?;
            companions = match role.as_str() {
                "noise" => companions.with_noise(&beside),
                "copies" => companions.with_copies(&name, &beside),
                _ => companions.with_points(&beside),
            }
            .map_err(raise)?;
        }
    }
    let size = data.len().saturating_mul(data.len());
    let fitted = run(py, (threads, size), max_seconds, callback, |watch| {
        let job = Job {
            plan,
            seed,
            probabilities,
            calibration_folds,
            companions: Some(&companions),
            ..Job::new(made.as_ref(), &formula)
        };
        job.run(&data, watch)
    })?;
    let model = fitted.map_err(raise)?;
    let places = model.places.clone();
    Ok(Model { model, places })
}

/// Rows and columns of numbers.
fn table(py: Python<'_>, numbers: Vec<f64>, columns: usize) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let rows = numbers.len() / columns.max(1);
    numbers.into_pyarray(py).reshape([rows, columns])
}

impl Model {
    /// How many kernel values predictions take.
    fn size(&self, data: &mercer::prelude::Dataset) -> usize {
        data.len().saturating_mul(self.model.examples.len().max(1))
    }

    fn predict(&self, py: Python<'_>, views: &Bound<'_, PyList>, threads: usize) -> PyResult<Output> {
        let data = dataset(views)?;
        run(py, (threads, self.size(&data)), None, None, |_| self.model.predict(&data))?.map_err(raise)
    }
}

#[pymethods]
impl Model {
    /// Scores, n × outputs.
    fn scores<'py>(
        &self,
        py: Python<'py>,
        views: &Bound<'_, PyList>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let data = dataset(views)?;
        let scores = run(py, (threads, self.size(&data)), None, None, |_| self.model.scores(&data))?.map_err(raise)?;
        table(py, scores, self.model.fitted.expansion.outputs())
    }

    /// Places of the labels.
    fn codes<'py>(
        &self,
        py: Python<'py>,
        views: &Bound<'_, PyList>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        match self.predict(py, views, threads)? {
            Output::Labels { codes, .. } => Ok(codes.into_pyarray(py)),
            Output::Values { .. } => Err(PyValueError::new_err("this model predicts numbers, not labels")),
        }
    }

    /// Probabilities, n × labels.
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        views: &Bound<'_, PyList>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        match self.predict(py, views, threads)? {
            Output::Labels { labels, probabilities: Some(all), .. } => table(py, all, labels.len()),
            _ => Err(PyValueError::new_err("this model has learned no probabilities")),
        }
    }

    /// Labels as they were spelled; empty for numbers.
    #[getter]
    fn labels(&self) -> Vec<String> {
        match &self.model.fitted.readout {
            Readout::ArgMax { labels } | Readout::Vote { labels } | Readout::Clusters { names: labels } => {
                labels.clone()
            }
            _ => Vec::new(),
        }
    }

    /// How scores become predictions, in a word.
    #[getter]
    fn readout(&self) -> &'static str {
        match &self.model.fitted.readout {
            Readout::Values { .. } => "values",
            Readout::ArgMax { .. } => "largest",
            Readout::Vote { .. } => "vote",
            Readout::Novelty => "novelty",
            Readout::Coordinates { .. } => "coordinates",
            Readout::Clusters { .. } => "clusters",
        }
    }

    #[getter]
    fn machine(&self) -> &str {
        &self.model.machine
    }

    #[getter]
    fn kernel(&self) -> String {
        self.model.kernel.to_string()
    }

    #[getter]
    fn outputs(&self) -> usize {
        self.model.fitted.expansion.outputs()
    }

    /// Places of the support vectors in the training data.
    #[getter]
    fn support<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        let places: Vec<i64> = self
            .model
            .fitted
            .expansion
            .points()
            .iter()
            .map(|&p| self.places.get(p).map_or(-1, |&i| i as i64))
            .collect();
        places.into_pyarray(py)
    }

    /// The form of the coefficients ("dual", "pairwise", "ball", "primal", "neighbours" or "committee") and the numbers,
    /// row by row; of a committee the offsets alone, for its members are no table.
    #[getter]
    fn coefficients<'py>(&self, py: Python<'py>) -> PyResult<(&'static str, Bound<'py, PyArray2<f64>>)> {
        let expansion = &self.model.fitted.expansion;
        let (form, numbers, columns) = match &expansion.coefficients {
            Coefficients::Dual { alpha, .. } => ("dual", alpha.clone(), expansion.outputs()),
            Coefficients::Ball { alpha, .. } => ("ball", alpha.clone(), 1),
            Coefficients::Pairwise { alpha, count, .. } => ("pairwise", alpha.clone(), count - 1),
            Coefficients::Primal { weights, scale, .. } => {
                ("primal", weights.iter().map(|w| scale * w).collect(), expansion.outputs())
            }
            Coefficients::Neighbours(found) => ("neighbours", found.values.clone(), expansion.outputs()),
            Coefficients::Committee(_) => ("committee", expansion.offsets.clone(), expansion.outputs()),
        };
        Ok((form, table(py, numbers, columns)?))
    }

    #[getter]
    fn offsets<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.model.fitted.expansion.offsets.clone().into_pyarray(py)
    }

    /// What the solver can show.
    #[getter]
    fn proof<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (proof, told) = (&self.model.fitted.proof, PyDict::new(py));
        told.set_item("status", proof.status.to_string())?;
        told.set_item("iterations", proof.iterations)?;
        told.set_item("iterations_of_each", proof.iterations_of_each.clone())?;
        told.set_item("objective", proof.objective)?;
        told.set_item("duality_gap", proof.duality_gap)?;
        told.set_item("violation", proof.violation)?;
        told.set_item("support", proof.support)?;
        told.set_item("storage", &proof.storage)?;
        told.set_item("advice", proof.advice.clone())?;
        for (name, value) in &proof.notes {
            told.set_item(name, value)?;
        }
        Ok(told)
    }

    /// Writes mercer's model file.
    fn save(&self, path: std::path::PathBuf) -> PyResult<()> {
        self.model.save(path).map_err(|e| PyOSError::new_err(e.to_string()))
    }

    /// Reads mercer's model file, or one of LIBSVM.
    #[staticmethod]
    fn load(path: std::path::PathBuf) -> PyResult<Self> {
        let model = mercer::model::Model::load(path).map_err(|e| PyOSError::new_err(e.to_string()))?;
        Ok(Self { model, places: Vec::new() })
    }

    /// The model file as bytes, and the places that it does not keep.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>, Vec<usize>)> {
        let bytes = self.model.to_bytes().map_err(PyValueError::new_err)?;
        Ok((PyBytes::new(py, &bytes), self.places.clone()))
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8], places: Vec<usize>) -> PyResult<Self> {
        let model = mercer::model::Model::from_bytes(bytes, "the pickled model").map_err(raise)?;
        Ok(Self { model, places })
    }

    /// The text of a LIBSVM model file.
    fn to_libsvm<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, self.model.to_libsvm().map_err(raise)?.text.as_bytes()))
    }

    /// The bytes of an ONNX file, and what it cannot say.
    fn to_onnx<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>, Vec<String>)> {
        let file = self.model.to_onnx().map_err(raise)?;
        Ok((PyBytes::new(py, &file.bytes), file.notes))
    }
}
