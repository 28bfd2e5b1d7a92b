//! Python objects as data: arrays, sparse matrices and lists of strings.

use crate::columns::Prepared;
use crate::run::guarded;
use crate::words::in_python;
use mercer::data::{Coordinate, Dataset, Scalar, Target, Values, View, kinds};
use mercer::params::Setting;
use mercer::prelude::{Rows, SparseRows};
use numpy::ndarray::{Dimension, Ix1, Ix2};
use numpy::{Element, IntoPyArray, PyArrayMethods, PyReadonlyArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyList, PyTuple};
use std::ops::Deref;
use std::sync::Arc;

/// An array whose numbers stand one after the other, where the processor takes them. One that is cut out of another, or begins in the
/// middle of a number as in a mapped file, is copied.
pub(crate) struct Packed<'py, T: Element, D: Dimension>(PyReadonlyArray<'py, T, D>);

/// Numbers in a row.
pub(crate) type List<'py, T> = Packed<'py, T, Ix1>;

/// Numbers in rows and columns.
pub(crate) type Table<'py, T> = Packed<'py, T, Ix2>;

impl<'a, 'py, T: Element + 'a, D: Dimension + 'a> FromPyObject<'a, 'py> for Packed<'py, T, D> {
    type Error = PyErr;

    fn extract(given: pyo3::Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let array: PyReadonlyArray<'py, T, D> = given.extract()?;
        if array.as_slice().is_ok() {
            return Ok(Self(array));
        }
        Ok(Self(given.call_method1("copy", ("C",))?.extract()?))
    }
}

impl<'py, T: Element, D: Dimension> Deref for Packed<'py, T, D> {
    type Target = PyReadonlyArray<'py, T, D>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// The exception for an error of the core.
pub(crate) fn raise(error: impl Into<mercer::Error>) -> PyErr {
    let error = error.into();
    let told = in_python(&error.to_string());
    match error.budget() {
        Some(_) => PyMemoryError::new_err(told),
        None => PyValueError::new_err(told),
    }
}

/// Examples that were prepared, or named views: a list of (name, values).
pub(crate) fn dataset(views: &Bound<'_, PyAny>) -> PyResult<Dataset> {
    if let Ok(prepared) = views.cast::<Prepared>() {
        return Ok(prepared.get().data());
    }
    let views = views.cast::<PyList>()?;
    let mut all = Vec::with_capacity(views.len());
    for view in views.iter() {
        let (name, payload): (String, Bound<'_, PyAny>) = view.extract()?;
        all.push(View { name, values: values(&payload)? });
    }
    guarded(|| Dataset::from_views(all))?.map_err(raise)
}

/// A two-dimensional array of f64 or f32 in C order, `("csr", starts, indices, values, width)`, a list of strings, or
/// `(kind, list of strings)`.
pub(crate) fn values(payload: &Bound<'_, PyAny>) -> PyResult<Values> {
    if let Ok(array) = payload.extract::<Table<'_, f64>>() {
        return dense(&array);
    }
    if let Ok(array) = payload.extract::<Table<'_, f32>>() {
        return dense(&array);
    }
    if let Ok((kind, cells)) = payload.extract::<(String, Vec<String>)>() {
        return items(&kind, &cells);
    }
    if let Ok(parts) = payload.cast::<PyTuple>() {
        type Part<'a> = List<'a, i64>;
        let (_, starts, indices, numbers, width): (String, Part<'_>, Part<'_>, Bound<'_, PyAny>, usize) =
            parts.extract()?;
        let (starts, indices) = (starts.as_slice()?, indices.as_slice()?);
        if let Ok(numbers) = numbers.extract::<List<'_, f64>>() {
            return sparse(starts, indices, numbers.as_slice()?, width);
        }
        let numbers = numbers.extract::<List<'_, f32>>()?;
        return sparse(starts, indices, numbers.as_slice()?, width);
    }
    if let Ok(list) = payload.extract::<Vec<String>>() {
        return Ok(list.into());
    }
    Err(PyTypeError::new_err("a view is an array of numbers, a sparse matrix or a list of strings"))
}

/// A table of numbers as an array, or as `(starts, indices, values, width)` where it is sparse; None for other examples.
pub(crate) fn vectors<'py>(py: Python<'py>, values: &Values) -> PyResult<Option<Bound<'py, PyAny>>> {
    fn table<'py, S: Scalar + Element>(py: Python<'py>, rows: &Rows<S>) -> PyResult<Bound<'py, PyAny>> {
        Ok(rows.values().to_vec().into_pyarray(py).reshape([rows.len(), rows.width()])?.into_any())
    }
    fn parts<'py, S: Scalar + Element>(py: Python<'py>, rows: &SparseRows<S>) -> PyResult<Bound<'py, PyAny>> {
        let starts: Vec<i64> = rows.starts().iter().map(|&s| s as i64).collect();
        let indices: Vec<i32> = rows.coordinates().iter().map(|c| c.index as i32).collect();
        let values: Vec<S> = rows.coordinates().iter().map(|c| c.value).collect();
        let all = (starts.into_pyarray(py), indices.into_pyarray(py), values.into_pyarray(py), rows.width());
        Ok(all.into_pyobject(py)?.into_any())
    }
    Ok(Some(match values {
        Values::Dense(rows) => table(py, rows)?,
        Values::Dense32(rows) => table(py, rows)?,
        Values::Sparse(rows) => parts(py, rows)?,
        Values::Sparse32(rows) => parts(py, rows)?,
        _ => return Ok(None),
    }))
}

/// Examples of a kind by their text, as a cell of a file holds them.
fn items(kind: &str, cells: &[String]) -> PyResult<Values> {
    let Some(parse) = kinds::find(kind).and_then(|entry| entry.parse) else {
        let names: Vec<&str> = kinds::KINDS.iter().filter(|k| k.parse.is_some()).map(|k| k.name).collect();
        let finding =
            format!("no kind of data that is read from strings is called {kind}; kinds are {}", names.join(", "));
        return Err(PyValueError::new_err(finding));
    };
    let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
    parse(&cells).map_err(|bad| PyValueError::new_err(format!("example {}: {}", bad.example + 1, bad.finding)))
}

/// The numbers of an array, borrowed: nothing is copied.
fn dense<S: Scalar + Element>(array: &Table<'_, S>) -> PyResult<Values>
where
    Values: From<Rows<S>>,
{
    let numbers = array.as_slice()?;
    let borrowed = Borrowed { start: numbers.as_ptr(), len: numbers.len(), _array: array.as_any().clone().unbind() };
    let rows = Rows::borrowed(Arc::new(borrowed), array.shape()[0], array.shape()[1]);
    rows.map(Values::from).ok_or_else(|| PyValueError::new_err("the array has not as many numbers as its shape says"))
}

/// The memory of an array, which a reference to it keeps alive.
struct Borrowed<S> {
    start: *const S,
    len: usize,
    _array: Py<PyAny>,
}

// SAFETY: the memory is only read, and an array's memory stays where it is as long as a reference to it is held. That Python
// writes to it from another thread while the interpreter is released is as wrong here as with any function of NumPy.
#[allow(unsafe_code)]
unsafe impl<S: Sync> Send for Borrowed<S> {}
// SAFETY: as above.
#[allow(unsafe_code)]
unsafe impl<S: Sync> Sync for Borrowed<S> {}

impl<S> AsRef<[S]> for Borrowed<S> {
    fn as_ref(&self) -> &[S] {
        // SAFETY: `start` and `len` are those of a contiguous array whose reference is held
        #[allow(unsafe_code)]
        unsafe {
            std::slice::from_raw_parts(self.start, self.len)
        }
    }
}

fn sparse<S: Scalar>(starts: &[i64], indices: &[i64], numbers: &[S], width: usize) -> PyResult<Values>
where
    Values: From<SparseRows<S>>,
{
    if u32::try_from(width).is_err() {
        let finding = format!(
            "a sparse matrix of {width} columns is too wide: indices have 32 bits here; leave out empty columns"
        );
        return Err(PyValueError::new_err(finding));
    }
    let mut rows = SparseRows::new(width);
    let mut row = Vec::new();
    for pair in starts.windows(2) {
        let (from, to) = (pair[0] as usize, pair[1] as usize);
        let part = indices.get(from..to).zip(numbers.get(from..to));
        let Some((indices, numbers)) = part else {
            return Err(PyValueError::new_err("the index pointer of the sparse matrix points outside of it"));
        };
        row.clear();
        row.extend(indices.iter().zip(numbers).map(|(&j, &value)| Coordinate { index: j as u32, value }));
        if !rows.push(&row) {
            return Err(PyValueError::new_err("the indices of a sparse matrix must rise in each row"));
        }
    }
    Ok(rows.into())
}

/// A target: codes with the labels they stand for, or numbers, n × outputs.
pub(crate) fn target(given: &Bound<'_, PyAny>, labels: Option<Vec<String>>) -> PyResult<Target> {
    if let Some(labels) = labels {
        let codes: List<'_, f64> = given.extract()?;
        let spelled = labels.iter().enumerate().map(|(code, label)| (code as f64, label));
        return Ok(Target::from_numbers("y", codes.as_slice()?.to_vec()).spelled(spelled));
    }
    let numbers: Table<'_, f64> = given.extract()?;
    let (n, outputs) = (numbers.shape()[0], numbers.shape()[1]);
    let all = numbers.as_slice()?;
    let column = |k: usize| {
        let name = if outputs == 1 { "y".to_owned() } else { format!("y{}", k + 1) };
        Target::from_numbers(&name, (0..n).map(|i| all[i * outputs + k]).collect())
    };
    let mut target = column(0);
    for k in 1..outputs {
        target = target.beside(column(k)).map_err(raise)?;
    }
    Ok(target)
}

/// Names and values of parameters.
pub(crate) fn settings(given: &Bound<'_, PyList>) -> PyResult<Vec<(String, Setting)>> {
    let one = |item: Bound<'_, PyAny>| {
        let (name, value): (String, Bound<'_, PyAny>) = item.extract()?;
        let setting = if let Ok(switch) = value.cast::<PyBool>() {
            Setting::Switch(switch.is_true())
        } else if let Ok(number) = value.extract::<f64>() {
            Setting::Number(number)
        } else if let Ok(word) = value.extract::<String>() {
            Setting::Word(word)
        } else if let Ok(numbers) = value.extract::<Vec<f64>>() {
            Setting::Numbers(numbers)
        } else {
            return Err(PyTypeError::new_err(format!(
                "{name} must be a number, a word, a switch or a list of numbers"
            )));
        };
        Ok((name, setting))
    };
    given.iter().map(one).collect()
}
