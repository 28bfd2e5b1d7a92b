//! The usual machine and the usual grid, and what predictions rest on.

use crate::convert::{dataset, raise, settings, target};
use crate::kernel::parse;
use crate::model::Model;
use crate::run::{guarded, run};
use mercer::data::{Field, FieldData, SchemaOptions, Table};
use mercer::job::kind_of_target;
use mercer::machines::{self, Learns};
use mercer::metrics::Score;
use mercer::model::{Explain, Together};
use mercer::params::{Setting, describe};
use mercer::prelude::Seed;
use mercer::select::Grid;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

/// The name of the machine for a target where none is named: `y` are numbers, or `words` the labels.
#[pyfunction]
pub(crate) fn usual_machine(y: Option<Vec<f64>>, words: Option<Vec<String>>) -> PyResult<&'static str> {
    let data = match (y, words) {
        (Some(values), _) => FieldData::Numbers { values, spellings: Vec::new() },
        (None, words) => FieldData::Words(words.unwrap_or_default().iter().collect()),
    };
    let len = match &data {
        FieldData::Numbers { values, .. } => values.len(),
        FieldData::Words(words) => words.len(),
        _ => 0,
    };
    let table = Table {
        file: "y".to_owned(),
        format: "array",
        len,
        fields: vec![Field { name: "y".to_owned(), data }],
        target: Some(0),
        first_line: 1,
        lines: None,
        named: true,
        notes: Vec::new(),
    };
    let (learns, _) = guarded(|| kind_of_target(&table, &SchemaOptions::default()))?.map_err(raise)?;
    let found = machines::usual(learns).map(|entry| entry.name);
    found.ok_or_else(|| PyValueError::new_err("no machine is usual for such a target"))
}

/// A parameter: true if it is the machine's, its name, and its values.
type Axis<'py> = (bool, String, Vec<Bound<'py, PyAny>>);

/// The grid where none is given: whether a parameter is the machine's, its name and its values. `given` are parameters of the machine
/// and `written` names of parameters of the kernel that stay as they are.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // Python hands values over
pub(crate) fn usual_grid<'py>(
    py: Python<'py>,
    machine: &str,
    given: &Bound<'py, PyList>,
    kernel: &str,
    written: Vec<String>,
) -> PyResult<Vec<Axis<'py>>> {
    let entry = machines::find(machine)
        .ok_or_else(|| PyValueError::new_err(format!("there is no machine called {machine}")))?;
    let (made, given, kernel) = ((entry.make)(), settings(given)?, parse(kernel)?);
    let written: Vec<&str> = written.iter().map(String::as_str).collect();
    let grid = guarded(|| Grid::usual((made.as_ref(), &given), (&kernel, &written)))?.map_err(raise)?;
    let names: Vec<&str> = describe((entry.make)().as_mut()).iter().map(|d| d.name).collect();
    let mut axes = Vec::new();
    for axis in grid.axes {
        let plain = axis.name.strip_prefix("machine.").or(axis.name.strip_prefix("kernel.")).unwrap_or(&axis.name);
        let own = axis.name.starts_with("machine.") || (axis.name == plain && names.contains(&plain));
        let value = |setting: &Setting| match setting {
            Setting::Number(x) => x.into_bound_py_any(py),
            other => other.to_string().into_bound_py_any(py),
        };
        axes.push((own, plain.to_owned(), axis.values.iter().map(value).collect::<PyResult<_>>()?));
    }
    Ok(axes)
}

/// A kernel with other values of some parameters.
#[pyfunction]
pub(crate) fn kernel_with(kernel: &str, values: &Bound<'_, PyList>) -> PyResult<String> {
    let mut kernel = parse(kernel)?;
    for (name, value) in settings(values)? {
        guarded(|| kernel.assign(&name, &value))?.map_err(|e| PyValueError::new_err(e.to_string()))?;
    }
    Ok(kernel.to_string())
}

/// The score's name and value, and for each column or view its name, its view, mean, standard deviation and all differences.
type Told = (String, f64, Vec<(String, String, f64, f64, Vec<f64>)>);

/// Permutation importance.
#[pyfunction]
#[pyo3(signature = (model, views, y, labels, by, repeats, score, positive, seed, threads, callback))]
#[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)] // Python hands values over
pub(crate) fn explain(
    py: Python<'_>,
    model: &Model,
    views: &Bound<'_, PyAny>,
    y: Option<&Bound<'_, PyAny>>,
    labels: Option<Vec<String>>,
    by: &str,
    repeats: usize,
    score: Option<String>,
    positive: Option<String>,
    seed: u64,
    threads: usize,
    callback: Option<&Bound<'_, PyAny>>,
) -> PyResult<Told> {
    let has_labels = labels.is_some() || (y.is_none() && !model.labels().is_empty());
    let learns = if has_labels { Learns::Classes } else { Learns::Numbers };
    let score = score.map(|name| Score::named(&name, learns, positive.as_deref())).transpose();
    let score = score.map_err(|e| PyValueError::new_err(e.to_string()))?;
    let together = Together::WORDS.iter().find(|(word, _)| *word == by).map(|(_, together)| *together);
    let together = together.ok_or_else(|| PyValueError::new_err(format!("by='{by}' must be 'columns' or 'views'")))?;
    let mut data = dataset(views)?;
    if let Some(y) = y {
        data = data.with_target(target(y, labels)?).map_err(raise)?;
    }
    let asked = Explain { together, repeats, score, seed: Seed(seed) };
    let size = data.len().saturating_mul(model.model().examples().len().max(1)).saturating_mul(repeats.max(1));
    let told = run(py, (threads, size), None, callback, |watch| model.model().explain(&data, &asked, watch))?;
    let told = told.map_err(raise)?;
    let one = |one: mercer::model::Importance| (one.name, one.view, one.mean, one.deviation, one.repeats);
    Ok((told.score.to_owned(), told.value, told.importances.into_iter().map(one).collect()))
}
