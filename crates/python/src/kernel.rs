//! Kernel formulas: their text, what they are, and their matrices.

use crate::convert::{dataset, raise};
use crate::run::{guarded, run};
use mercer::data::Vectors;
use mercer::gram::{Budget, Dense};
use mercer::kernels::Definite;
use mercer::prelude::{Formula, Seed};
use numpy::{IntoPyArray, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

pub(crate) fn parse(text: &str) -> PyResult<Formula> {
    guarded(|| text.parse::<Formula>())?.map_err(raise)
}

/// The formula as mercer prints it; a ValueError where it is none.
#[pyfunction]
pub(crate) fn kernel_text(text: &str) -> PyResult<String> {
    Ok(parse(text)?.to_string())
}

/// The views that the formula looks at: names (None: not named) and the kind of examples wanted there.
#[pyfunction]
pub(crate) fn kernel_views(text: &str) -> PyResult<Vec<(Option<String>, String)>> {
    let formula = parse(text)?;
    Ok(formula.views().into_iter().map(|(name, kind)| (name.map(str::to_owned), kind.to_string())).collect())
}

/// The formula with numbers in the place of words such as `scale`, taken from these data.
#[pyfunction]
pub(crate) fn kernel_resolved(py: Python<'_>, text: &str, views: &Bound<'_, PyAny>) -> PyResult<String> {
    let (formula, data) = (parse(text)?, dataset(views)?);
    let resolved = run(py, (1, data.len()), None, None, |_| formula.resolve(&data, Seed(0)))?;
    Ok(resolved.map_err(raise)?.to_string())
}

/// The explicit features of some examples, dense or `(starts, indices, values, width)`, and the factor in front of their
/// inner product. What the kernel learns is taken from the training examples, or from the rows themselves.
#[pyfunction]
#[pyo3(signature = (text, rows, training, threads))]
pub(crate) fn kernel_features<'py>(
    py: Python<'py>,
    text: &str,
    rows: &Bound<'_, PyAny>,
    training: Option<&Bound<'_, PyAny>>,
    threads: usize,
) -> PyResult<(Bound<'py, PyAny>, f64)> {
    let formula = parse(text)?;
    let (rows, training) = (dataset(rows)?, training.map(dataset).transpose()?);
    let computed = run(py, (threads, usize::MAX), None, None, |_| -> Result<_, mercer::Error> {
        let formula = formula.resolve(training.as_ref().unwrap_or(&rows), Seed(0))?;
        // the matrix is not computed, but says whether the kernel suits the data
        formula.gram(&rows)?;
        Ok(formula.features(&rows))
    })?;
    let Some((features, scale)) = computed.map_err(raise)? else {
        let finding = format!(
            "{text} has no explicit features that fit into memory; the linear kernel, polynomial kernels of few coordinates, \
             kernels that count pieces of strings, their multiples and normalise(...) of them have"
        );
        return Err(PyValueError::new_err(finding));
    };
    let features = match features {
        Vectors::Dense(rows) => rows.values().to_vec().into_pyarray(py).reshape([rows.len(), rows.width()])?.into_any(),
        Vectors::Sparse(rows) => {
            let starts: Vec<i64> = rows.starts().iter().map(|&s| s as i64).collect();
            let indices: Vec<i32> = rows.coordinates().iter().map(|c| c.index as i32).collect();
            let values: Vec<f64> = rows.coordinates().iter().map(|c| c.value).collect();
            (starts.into_pyarray(py), indices.into_pyarray(py), values.into_pyarray(py), rows.width())
                .into_pyobject(py)?
                .into_any()
        }
    };
    Ok((features, scale))
}

/// True if the kernel takes more than single numbers from its training examples: a vocabulary, a metric, a centre.
#[pyfunction]
pub(crate) fn kernel_learns(text: &str) -> PyResult<bool> {
    Ok(parse(text)?.learns())
}

/// True if some number of the kernel is a word such as `scale`, which the training examples will replace.
#[pyfunction]
pub(crate) fn kernel_has_words(text: &str) -> PyResult<bool> {
    Ok(parse(text)?.has_words())
}

/// True if every example is one cell, such as a string, and no view is named.
#[pyfunction]
pub(crate) fn kernel_reads_cells(text: &str) -> PyResult<bool> {
    let formula = parse(text)?;
    let views = formula.views();
    Ok(!views.is_empty() && views.iter().all(|(name, kind)| name.is_none() && kind.is_cell()))
}

/// "positive", "conditionally" or "indefinite".
#[pyfunction]
pub(crate) fn kernel_definite(text: &str) -> PyResult<&'static str> {
    Ok(match parse(text)?.definite() {
        Definite::Positive => "positive",
        Definite::Conditionally => "conditionally",
        Definite::Indefinite => "indefinite",
    })
}

/// True if the formula takes missing numbers (NaN) somewhere.
#[pyfunction]
pub(crate) fn kernel_meets_gaps(text: &str) -> PyResult<bool> {
    Ok(parse(text)?.meets_gaps())
}

/// The matrix between rows and columns, or among the rows. Words such as `scale` are taken from the columns, or the rows.
#[pyfunction]
#[pyo3(signature = (text, rows, columns, threads, memory))]
pub(crate) fn matrix<'py>(
    py: Python<'py>,
    text: &str,
    rows: &Bound<'_, PyAny>,
    columns: Option<&Bound<'_, PyAny>>,
    threads: usize,
    memory: Option<usize>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let formula = parse(text)?;
    let (rows, columns) = (dataset(rows)?, columns.map(dataset).transpose()?);
    let budget = memory.map_or_else(Budget::default, |memory| Budget { memory });
    let size = rows.len().saturating_mul(columns.as_ref().unwrap_or(&rows).len());
    let computed = run(py, (threads, size), None, None, |_| -> Result<Dense<f64>, mercer::Error> {
        let formula = formula.resolve(columns.as_ref().unwrap_or(&rows), Seed(0))?;
        let gram = match &columns {
            Some(columns) => formula.cross(&rows, columns)?,
            None => formula.gram(&rows)?,
        };
        Ok(budget.dense(gram.as_ref(), 0, "the kernel matrix")?)
    })?;
    let (n, m) = (rows.len(), columns.as_ref().unwrap_or(&rows).len());
    computed.map_err(raise)?.into_values().into_pyarray(py).reshape([n, m])
}
