//! Lengths, spectra and alignment of a kernel on data, and matrices that are mended or transformed.

use crate::convert::{List, Table, dataset, raise};
use crate::kernel::parse;
use crate::run::{guarded, run};
use mercer::geometry::{Labels, MatrixFunction, Measures, Moments, Repair, of_matrix, repair};
use mercer::gram::Budget;
use mercer::prelude::Seed;
use numpy::{IntoPyArray, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// All measures of a kernel on data, by name. `y` are codes of classes where `classes` says so.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub(crate) fn measure<'py>(
    py: Python<'py>,
    kernel: &str,
    views: &Bound<'_, PyAny>,
    y: Option<List<'_, f64>>,
    classes: bool,
    ridge: f64,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let (kernel, data) = (parse(kernel)?, dataset(views)?);
    let labels = match y {
        Some(y) if classes => Some(Labels::classes(y.as_slice()?.iter().map(|&c| c as u32).collect())),
        Some(y) => Some(Labels { numbers: y.as_slice()?.to_vec(), classes: None }),
        None => None,
    };
    let size = data.len().saturating_mul(data.len());
    let found = run(py, (threads, size), None, None, |_| -> Result<Measures, mercer::Error> {
        // a length that the examples have had a say in bounds nothing
        let radius = kernel.radius().filter(|_| kernel.is_resolved() && !kernel.needs_all_examples());
        let gram = kernel.resolve(&data, Seed(0))?.training_gram(&data)?;
        Measures::of(&gram, labels.as_ref(), ridge, radius, Budget::default())
    })?;
    let found = found.map_err(raise)?;
    let told = PyDict::new(py);
    told.set_item("n", found.n)?;
    told.set_item("norms", found.norms)?;
    told.set_item("without_length", found.without_length)?;
    told.set_item("centre_norm", found.centre.squared_norm.max(0.0).sqrt())?;
    told.set_item("centre_within", found.centre_within)?;
    told.set_item("spread", found.centre.spread)?;
    told.set_item("farthest", found.centre.farthest().into_pyarray(py))?;
    told.set_item("distances", found.centre.distances.into_pyarray(py))?;
    told.set_item("trace", found.spectrum.trace)?;
    told.set_item("rank", found.spectrum.rank())?;
    told.set_item("effective_rank", found.spectrum.effective_rank())?;
    told.set_item("effective_dimension", found.effective_dimension)?;
    told.set_item("positive_semi_definite", found.definite)?;
    told.set_item("eigenvalues", found.spectrum.values.into_pyarray(py))?;
    if let Some([plain, centred]) = found.alignment {
        told.set_item("alignment", plain)?;
        told.set_item("centred_alignment", centred)?;
    }
    Ok(told)
}

/// A matrix without negative eigenvalues, and what was done, in a sentence. `how` is clip, flip or shift.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub(crate) fn repaired<'py>(
    py: Python<'py>,
    matrix: Table<'_, f64>,
    how: &str,
) -> PyResult<(Bound<'py, PyArray2<f64>>, String)> {
    let how = match how {
        "clip" => Repair::Clip,
        "flip" => Repair::Flip,
        "shift" => Repair::Shift,
        other => {
            return Err(PyValueError::new_err(format!("there is no repair called {other:?}; use clip, flip or shift")));
        }
    };
    let (n, values) = square(&matrix)?;
    let mended = run(py, (0, n * n), None, None, |_| repair(values, n, how))?.map_err(raise)?;
    Ok((mended.matrix.into_pyarray(py).reshape([n, n])?, mended.said))
}

/// f(K): `power`, `exp` or `resolvent` with a number.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub(crate) fn matrix_function<'py>(
    py: Python<'py>,
    matrix: Table<'_, f64>,
    name: &str,
    number: f64,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let function = match name {
        "power" => MatrixFunction::Power(number),
        "exp" => MatrixFunction::Exp(number),
        "resolvent" => MatrixFunction::Resolvent(number),
        other => {
            let message = format!("there is no function called {other:?}; use power, exp or resolvent");
            return Err(PyValueError::new_err(message));
        }
    };
    let (n, values) = square(&matrix)?;
    let found = run(py, (0, n * n), None, None, |_| of_matrix(values, n, function))?.map_err(raise)?;
    found.into_pyarray(py).reshape([n, n])
}

fn square<'a>(matrix: &'a Table<'_, f64>) -> PyResult<(usize, &'a [f64])> {
    let shape = matrix.shape();
    if shape[0] != shape[1] {
        return Err(PyValueError::new_err(format!(
            "a square matrix is needed, not one of {} × {}",
            shape[0], shape[1]
        )));
    }
    Ok((shape[0], matrix.as_slice()?))
}

/// The count, mean and covariance of points with one more, without one of them, or with one in the place of another.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub(crate) fn moments_updated(
    count: usize,
    mean: Vec<f64>,
    covariance: Vec<f64>,
    add: Option<Vec<f64>>,
    remove: Option<Vec<f64>>,
) -> PyResult<(usize, Vec<f64>, Vec<f64>)> {
    let d = mean.len();
    let fits = |x: &Option<Vec<f64>>| x.as_ref().is_none_or(|x| x.len() == d);
    if covariance.len() != d.saturating_mul(d) || !fits(&add) || !fits(&remove) || count < 2 {
        return Err(PyValueError::new_err(
            "a mean of d numbers wants a d x d covariance of at least 2 points, and points of d numbers",
        ));
    }
    let moments = Moments { count, mean, covariance };
    let changed = guarded(|| match (add, remove) {
        (Some(new), Some(old)) => Some(moments.exchanged(&old, &new)),
        (Some(new), None) => Some(moments.with(&new)),
        (None, Some(old)) => moments.without(&old),
        (None, None) => Some(moments),
    })?;
    let changed =
        changed.ok_or_else(|| PyValueError::new_err("one of two points cannot go: a covariance needs two of them"))?;
    Ok((changed.count, changed.mean, changed.covariance))
}

/// The eigenvalues of A + τccᵀ, falling, from those of A and c in the coordinates of A's eigenvectors.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub(crate) fn rank_one_eigenvalues(eigenvalues: Vec<f64>, c: Vec<f64>, tau: f64) -> PyResult<Vec<f64>> {
    let falling = eigenvalues.windows(2).all(|pair| pair[0] >= pair[1]);
    let finite = tau.is_finite() && eigenvalues.iter().chain(&c).all(|x| x.is_finite());
    if eigenvalues.len() != c.len() || !falling || !finite {
        return Err(PyValueError::new_err(
            "eigenvalues stand in falling order, with as many coordinates of the direction, all of them finite",
        ));
    }
    guarded(|| mercer::geometry::rank_one_eigenvalues(&eigenvalues, &c, tau))
}
