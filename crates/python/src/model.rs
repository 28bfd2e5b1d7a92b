//! A trained model: what it predicts, and what it tells about itself.

use crate::certify::Judging;
use crate::convert::{dataset, raise, target, vectors};
use crate::run::{guarded, run};
use crate::words::in_python;
use mercer::calibrate::Curve;
use mercer::certify::record;
use mercer::conformal::{self, Regions};
use mercer::machines::{Coefficients, Expansion, Output, Readout};
use mercer::model::{Predictor, Provenance};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

/// A trained model.
#[pyclass(frozen, module = "mercer._native")]
pub(crate) struct Model {
    /// The model with what it compares with, which is prepared once.
    predictor: Predictor,
    /// Places of the kept examples in the training data; none for a model from a file.
    places: Vec<usize>,
    /// Result of training again on a part: number of examples, errors on the others, the bound, and all that was tried.
    part: Option<Part>,
}

/// Threads and kernel values of work that has hardly any.
const SMALL: (usize, usize) = (1, 0);

/// Examples, errors on the others, the bound, and (examples, bound) of all that was tried.
pub(crate) type Part = (usize, usize, f64, Vec<(usize, f64)>, Option<String>);

/// Rows and columns of numbers.
fn table(py: Python<'_>, numbers: Vec<f64>, columns: usize) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let rows = numbers.len() / columns.max(1);
    numbers.into_pyarray(py).reshape([rows, columns])
}

/// The offsets of all outputs, part by part where there are several.
fn offsets_of(expansion: &Expansion) -> Vec<f64> {
    let parts = expansion.parts().iter().flat_map(|part| &part.expansion.offsets);
    expansion.offsets.iter().chain(parts).copied().collect()
}

/// Places of the examples that were not set apart to prepare the others, among all that were given; `None` where none were.
fn not_apart(model: &mercer::model::Model) -> Option<Vec<usize>> {
    let apart = model.provenance()?.set_apart()?;
    let all = model.provenance().and_then(Provenance::examples).unwrap_or(model.trained_on()) + apart.len();
    Some((0..all).filter(|&i| apart.binary_search(&(i as u32)).is_err()).collect())
}

/// Places of the kept examples among all that were given, those included that were set apart to prepare the others.
fn original(model: &mercer::model::Model) -> Vec<usize> {
    match not_apart(model) {
        Some(rest) => model.places().iter().map(|&p| rest[p]).collect(),
        None => model.places().to_vec(),
    }
}

impl Model {
    /// A model that was just fitted.
    pub(crate) fn fitted(model: mercer::model::Model, part: Option<Part>) -> Self {
        let places = original(&model);
        Self { predictor: model.predictor(), places, part }
    }

    /// The model of the core.
    pub(crate) fn model(&self) -> &mercer::model::Model {
        self.predictor.model()
    }

    /// Number of kernel values that predictions take.
    fn size(&self, data: &mercer::prelude::Dataset) -> usize {
        data.len().saturating_mul(self.model().examples().len().max(1))
    }

    fn regions(&self, py: Python<'_>, views: &Bound<'_, PyList>, coverage: f64, threads: usize) -> PyResult<Regions> {
        let data = dataset(views)?;
        let models = self.model().conformal().map_or(1, conformal::Conformal::members);
        let size = self.size(&data).saturating_mul(models);
        run(py, (threads, size), None, None, |_| self.predictor.regions(&data, coverage))?.map_err(raise)
    }

    fn predict(&self, py: Python<'_>, views: &Bound<'_, PyList>, threads: usize) -> PyResult<Output> {
        let data = dataset(views)?;
        run(py, (threads, self.size(&data)), None, None, |_| self.predictor.predict(&data))?.map_err(raise)
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
        let scores =
            run(py, (threads, self.size(&data)), None, None, |_| self.predictor.scores(&data))?.map_err(raise)?;
        table(py, scores, self.model().fitted().expansion.outputs())
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
            _ => Err(PyValueError::new_err("this model predicts no single labels")),
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

    /// True for each label in the set that is predicted for an example, n × labels.
    fn label_sets<'py>(
        &self,
        py: Python<'py>,
        views: &Bound<'_, PyList>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<bool>>> {
        match self.predict(py, views, threads)? {
            Output::LabelSets { labels, inside, .. } => {
                let rows = inside.len() / labels.len().max(1);
                inside.into_pyarray(py).reshape([rows, labels.len()])
            }
            _ => Err(PyValueError::new_err("this model predicts no sets of labels")),
        }
    }

    /// The rank of each example in the batch, 1 for the highest score.
    fn ranks<'py>(
        &self,
        py: Python<'py>,
        views: &Bound<'_, PyList>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        match self.predict(py, views, threads)? {
            output @ Output::Order { .. } => Ok(output.ranks().into_pyarray(py)),
            _ => Err(PyValueError::new_err("this model puts examples in no order")),
        }
    }

    /// True if it tells how uncertain its predictions are.
    #[getter]
    fn has_posterior(&self) -> bool {
        self.model().fitted().posterior.is_some()
    }

    /// Predicted numbers and their standard deviations, noise included, n × outputs each.
    #[allow(clippy::type_complexity)]
    fn deviations<'py>(
        &self,
        py: Python<'py>,
        views: &Bound<'_, PyList>,
        threads: usize,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>)> {
        match self.predict(py, views, threads)? {
            Output::Values { names, values, variances: Some(known) } => {
                Ok((table(py, values, names.len())?, table(py, known.deviations(), names.len())?))
            }
            _ => Err(PyValueError::new_err("this model does not know how uncertain its predictions are")),
        }
    }

    /// Predictions of each part, n × coordinates by its name; parts whose view the examples do not have are left out.
    fn parts<'py>(&self, py: Python<'py>, views: &Bound<'_, PyList>, threads: usize) -> PyResult<Bound<'py, PyDict>> {
        let Output::Parts(parts) = self.predict(py, views, threads)? else {
            return Err(PyValueError::new_err("this model has no parts"));
        };
        let told = PyDict::new(py);
        for part in parts {
            let width = part.width();
            told.set_item(part.names.name, table(py, part.values, width)?)?;
        }
        Ok(told)
    }

    /// The coordinates of each part by its name; none for a model without parts.
    #[getter]
    fn part_coordinates<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let told = PyDict::new(py);
        for part in self.model().parts() {
            told.set_item(&part.names.name, part.names.coordinates.clone())?;
        }
        Ok(told)
    }

    /// True for each label in the set of an example, and in a last column for any label that the model does not know.
    fn sets<'py>(
        &self,
        py: Python<'py>,
        views: &Bound<'_, PyList>,
        coverage: f64,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<bool>>> {
        match self.regions(py, views, coverage, threads)? {
            Regions::Sets { labels, inside, unknown, .. } => {
                let k = labels.len().max(1);
                let row = |set: &[bool]| set.iter().copied().chain([unknown]).collect::<Vec<_>>();
                let all: Vec<bool> = inside.chunks_exact(k).flat_map(row).collect();
                all.into_pyarray(py).reshape([inside.len() / k, labels.len() + 1])
            }
            _ => Err(PyValueError::new_err("sets of labels are for classifiers")),
        }
    }

    /// The ends of the intervals, n × outputs each.
    #[allow(clippy::type_complexity)]
    fn intervals<'py>(
        &self,
        py: Python<'py>,
        views: &Bound<'_, PyList>,
        coverage: f64,
        threads: usize,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>)> {
        match self.regions(py, views, coverage, threads)? {
            Regions::Intervals { names, lower, upper } => {
                Ok((table(py, lower, names.len())?, table(py, upper, names.len())?))
            }
            _ => Err(PyValueError::new_err("intervals are for machines that predict numbers")),
        }
    }

    /// p-values, n × labels, or n × 1 of a detector.
    fn p_values<'py>(
        &self,
        py: Python<'py>,
        views: &Bound<'_, PyList>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        // any coverage will do: p-values do not depend on it
        match self.regions(py, views, 0.5, threads)? {
            Regions::Sets { labels, p_values, .. } => table(py, p_values, labels.len()),
            Regions::Alarms { p_values, .. } => table(py, p_values, 1),
            Regions::Intervals { .. } => Err(PyValueError::new_err("p-values are for classifiers and detectors")),
        }
    }

    /// True if conformal regions were learned.
    #[getter]
    fn conformal(&self) -> bool {
        self.model().conformal().is_some()
    }

    /// Proven coverage: (held out, least, most, exact, fifth, everything, unknown, condition) for each class of a Mondrian predictor,
    /// else one.
    #[allow(clippy::type_complexity)]
    fn guarantees(
        &self,
        coverage: f64,
    ) -> PyResult<Vec<(usize, Option<f64>, Option<f64>, Option<f64>, Option<f64>, bool, bool, Option<String>)>> {
        conformal::checked(coverage).map_err(raise)?;
        let conformal = self.model().needs_conformal().map_err(raise)?;
        let told = |g: conformal::Guarantee| {
            let fifth = g.conditional.map(|beta| beta.fifth);
            (g.held_out, g.least, g.most, g.exact, fifth, g.everything, g.unknown, g.condition)
        };
        Ok(conformal.guarantees(coverage).into_iter().map(told).collect())
    }

    /// The same model with conformal regions from examples that it has not seen, and how many were left out as those of training.
    fn calibrated(
        &self,
        py: Python<'_>,
        views: &Bound<'_, PyList>,
        y: Option<&Bound<'_, PyAny>>,
        labels: Option<Vec<String>>,
        mondrian: bool,
        threads: usize,
    ) -> PyResult<(Self, usize)> {
        let mut data = dataset(views)?;
        if let Some(y) = y {
            data = data.with_target(target(y, labels)?).map_err(raise)?;
        }
        let mut model = self.model().clone();
        let done = run(py, (threads, self.size(&data)), None, None, |_| {
            model.calibrate_on(&data, mondrian).map(|left_out| (model, left_out))
        })?;
        let (model, left_out) = done.map_err(raise)?;
        let (places, part) = (self.places.clone(), self.part.clone());
        Ok((Self { predictor: model.predictor(), places, part }, left_out))
    }

    /// The same model, which knows among how many candidates it was chosen.
    fn chosen_among(&self, candidates: usize) -> Self {
        let mut model = self.model().clone();
        model.chosen_among(candidates);
        Self { predictor: model.predictor(), places: self.places.clone(), part: self.part.clone() }
    }

    /// The same model, which knows that it was chosen by a bound from so many candidates, at a place of their grid; `options` as `judge` has
    /// them.
    fn certified_among(
        &self,
        place: usize,
        candidates: usize,
        bound: &str,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let (mut model, judging) = (self.model().clone(), Judging::of(options)?);
        record(&mut model, (place, candidates), bound, &judging.options()).map_err(raise)?;
        Ok(Self { predictor: model.predictor(), places: self.places.clone(), part: self.part.clone() })
    }

    /// Result of training again on a part, where that was done.
    #[getter]
    fn part(&self) -> Option<Part> {
        self.part.clone()
    }

    /// The number of examples that were set apart to prepare the others, where some were.
    #[getter]
    fn set_apart(&self) -> Option<usize> {
        self.model().provenance().and_then(|p| p.set_apart()).map(<[u32]>::len)
    }

    /// Places of the examples that the machine learned from, among all that were given: without those that prepared the others or
    /// were held out. None where it learned from all of them.
    #[getter]
    fn learned_from(&self) -> Option<Vec<usize>> {
        let model = self.model();
        let part = model.provenance().and_then(Provenance::part);
        match (not_apart(model), part) {
            (None, part) => part.map(|part| part.iter().map(|&p| p as usize).collect()),
            (rest, None) => rest,
            (Some(rest), Some(part)) => Some(part.iter().filter_map(|&p| rest.get(p as usize).copied()).collect()),
        }
    }

    /// The names of the columns of each view that has some.
    #[getter]
    fn column_names(&self) -> Vec<(String, Vec<String>)> {
        self.model().column_names()
    }

    /// The same model, which knows the names of the columns of its views.
    fn with_column_names(&self, names: Vec<(String, Vec<String>)>) -> Self {
        let model = self.model().clone().with_column_names(names);
        Self { predictor: model.predictor(), places: self.places.clone(), part: self.part.clone() }
    }

    /// True if its labels have probabilities.
    #[getter]
    fn has_probabilities(&self) -> bool {
        self.model().fitted().calibration.is_some()
    }

    /// Labels as they were spelled; empty for numbers.
    #[getter]
    fn labels(&self) -> Vec<String> {
        match &self.model().fitted().readout {
            Readout::ArgMax { labels }
            | Readout::Vote { labels }
            | Readout::LabelSets { labels }
            | Readout::Clusters { names: labels } => labels.clone(),
            _ => Vec::new(),
        }
    }

    /// The readout, in a word.
    #[getter]
    fn readout(&self) -> &'static str {
        match &self.model().fitted().readout {
            Readout::Values { .. } => "values",
            Readout::LabelSets { .. } => "label_sets",
            Readout::Order => "order",
            Readout::ArgMax { .. } => "largest",
            Readout::Vote { .. } => "vote",
            Readout::Novelty => "novelty",
            Readout::Coordinates { .. } => "coordinates",
            Readout::Clusters { .. } => "clusters",
            Readout::Parts(_) => "parts",
        }
    }

    /// The job that made the model, as JSON; None where a file does not have it.
    #[getter]
    fn job(&self) -> Option<String> {
        self.model().job().and_then(|job| serde_json::to_string(job).ok())
    }

    /// Provenance as JSON: the steps learned before the fit, and their examples; None where a file does not tell.
    #[getter]
    fn provenance(&self) -> Option<String> {
        self.model().provenance().and_then(|provenance| serde_json::to_string(provenance).ok())
    }

    /// The machine's name.
    #[getter]
    fn machine(&self) -> &str {
        self.model().machine()
    }

    #[getter]
    fn kernel(&self) -> String {
        self.model().kernel().to_string()
    }

    #[getter]
    fn outputs(&self) -> usize {
        self.model().fitted().expansion.outputs()
    }

    /// Places of the support vectors in the training data.
    #[getter]
    fn support<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        let points = self.model().fitted().expansion.needed_points();
        let places: Vec<i64> = points.iter().map(|&p| self.places.get(p).map_or(-1, |&i| i as i64)).collect();
        places.into_pyarray(py)
    }

    /// The number of support vectors of each class, where signs tell pairs of classes apart; else empty.
    #[getter]
    fn support_classes(&self) -> Vec<usize> {
        let (classes, count) = match (&self.model().fitted().expansion.coefficients, &self.model().fitted().readout) {
            (Coefficients::Pairwise { classes, count, .. }, _) => (classes.clone(), *count as u32),
            // a positive score is the first of two classes
            (Coefficients::Dual { alpha, .. }, Readout::Vote { labels }) if labels.len() == 2 => {
                (alpha.iter().map(|&a| u32::from(a <= 0.0)).collect(), 2)
            }
            _ => return Vec::new(),
        };
        (0..count).map(|class| classes.iter().filter(|&&other| other == class).count()).collect()
    }

    /// The form of the coefficients ("dual", "pairwise", "ball", "primal", "neighbours", "committee" or "parts") and the numbers,
    /// row by row; of an ensemble and of several parts the offsets alone, for their members are no table.
    #[getter]
    fn coefficients<'py>(&self, py: Python<'py>) -> PyResult<(&'static str, Bound<'py, PyArray2<f64>>)> {
        let expansion = &self.model().fitted().expansion;
        let (form, numbers, columns) = match &expansion.coefficients {
            Coefficients::Dual { alpha, .. } => ("dual", alpha.clone(), expansion.outputs()),
            Coefficients::Ball { alpha, .. } => ("ball", alpha.clone(), 1),
            Coefficients::Pairwise { alpha, count, .. } => ("pairwise", alpha.clone(), count - 1),
            Coefficients::Primal { weights, scale, .. } => {
                ("primal", weights.iter().map(|w| scale * w).collect(), expansion.outputs())
            }
            Coefficients::Neighbours(found) => ("neighbours", found.values.clone(), expansion.outputs()),
            Coefficients::Ensemble(_) => ("committee", expansion.offsets.clone(), expansion.outputs()),
            Coefficients::Parts(_) => ("parts", offsets_of(expansion), expansion.outputs()),
        };
        Ok((form, table(py, numbers, columns)?))
    }

    /// The examples of the coefficients in their order: a table of numbers, `(starts, indices, values, width)` of a sparse one; None
    /// where examples are no single table.
    #[getter]
    fn vectors<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let model = self.model();
        let [view] = model.examples().views() else { return Ok(None) };
        let points = model.fitted().expansion.needed_points();
        if points.is_empty() || points.iter().any(|&p| p >= model.examples().len()) {
            return Ok(None);
        }
        vectors(py, &view.values.select(&points))
    }

    /// A and B of the sigmoids that were learned, one pair for each output; empty without such probabilities.
    #[getter]
    fn sigmoids(&self) -> Vec<(f64, f64)> {
        let curves = self.model().fitted().calibration.iter().flat_map(|learned| &learned.curves);
        curves.filter_map(|curve| if let Curve::Platt { a, b } = *curve { Some((a, b)) } else { None }).collect()
    }

    #[getter]
    fn offsets<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        offsets_of(&self.model().fitted().expansion).into_pyarray(py)
    }

    /// The report of the solver.
    #[getter]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (report, told) = (&self.model().fitted().report, PyDict::new(py));
        told.set_item("status", report.status.to_string())?;
        told.set_item("iterations", report.iterations)?;
        told.set_item("iterations_of_each", report.iterations_of_each.clone())?;
        told.set_item("objective", report.objective)?;
        told.set_item("duality_gap", report.duality_gap)?;
        told.set_item("violation", report.violation)?;
        told.set_item("support", report.support)?;
        told.set_item("storage", &report.storage)?;
        told.set_item("advice", report.advice.iter().map(|said| in_python(said)).collect::<Vec<_>>())?;
        for (name, value) in &report.notes {
            told.set_item(name, value)?;
        }
        Ok(told)
    }

    /// Writes mercer's model file.
    fn save(&self, path: std::path::PathBuf) -> PyResult<()> {
        guarded(|| self.model().save(path))?.map_err(|e| PyOSError::new_err(e.to_string()))
    }

    /// Reads mercer's model file, or one of LIBSVM.
    #[staticmethod]
    fn load(py: Python<'_>, path: std::path::PathBuf) -> PyResult<Self> {
        let model = run(py, SMALL, None, None, |_| mercer::model::Model::load(path))?;
        let model = model.map_err(|e| PyOSError::new_err(e.to_string()))?;
        Ok(Self { predictor: model.predictor(), places: Vec::new(), part: None })
    }

    /// The model file as bytes, and the places that it does not keep.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>, Vec<usize>)> {
        let bytes = guarded(|| self.model().to_bytes())?.map_err(raise)?;
        Ok((PyBytes::new(py, &bytes), self.places.clone()))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8], places: Vec<usize>) -> PyResult<Self> {
        let model = run(py, SMALL, None, None, |_| mercer::model::Model::from_bytes(bytes, "the pickled model"))?;
        let model = model.map_err(raise)?;
        Ok(Self { predictor: model.predictor(), places, part: None })
    }

    /// The text of a LIBSVM model file.
    fn to_libsvm<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let file = run(py, SMALL, None, None, |_| self.model().to_libsvm())?.map_err(raise)?;
        Ok(PyBytes::new(py, file.text.as_bytes()))
    }

    /// The bytes of an ONNX file, and what it cannot say.
    fn to_onnx<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>, Vec<String>)> {
        let file = run(py, SMALL, None, None, |_| self.model().to_onnx())?.map_err(raise)?;
        Ok((PyBytes::new(py, &file.bytes), file.notes))
    }
}
