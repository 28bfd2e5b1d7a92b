//! Columns in memory, as a model that was trained on a file takes them.

use crate::convert::{List, raise, values};
use crate::model::Model;
use crate::run::guarded;
use crate::words::in_python;
use mercer::data::{ApplyOptions, Dataset, Field, FieldData, Held, Values, Words};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Examples as a model's schema has prepared them: every function that takes views takes them, too.
#[pyclass(frozen, module = "mercer._native")]
pub(crate) struct Prepared(Dataset);

impl Prepared {
    /// The examples; their views are shared.
    pub(crate) fn data(&self) -> Dataset {
        self.0.clone()
    }
}

#[pymethods]
impl Prepared {
    /// What was assumed or left out in making them, in sentences.
    #[getter]
    fn notes(&self) -> Vec<String> {
        let Some(preparation) = self.0.preparation() else { return Vec::new() };
        let unseen = preparation.unseen().iter().map(|one| {
            format!(
                "{} of the cells of column \"{}\" hold categories that training has not seen (\"{}\"); taken as none of the known ones",
                one.cells, one.column, one.example
            )
        });
        preparation.assumed().map(in_python).into_iter().chain(unseen).collect()
    }
}

/// The name of examples in errors.
const NAME: &str = "X";

/// Parts of examples: the view or None for all columns, whether columns have names, and these with their cells: numbers, a table of numbers, a
/// sparse matrix, strings (empty where one is missing), or switches as `("bool", numbers)`.
type Part<'py> = (Option<String>, bool, Vec<(String, Bound<'py, PyAny>)>);

/// The columns that a model's files need, empty where these are known by their places alone; None for a model that was learned on no file.
#[pyfunction]
pub(crate) fn file_columns(model: &Model) -> Option<Vec<String>> {
    Some(model.model().schema()?.input_names().into_iter().map(str::to_owned).collect())
}

/// The examples that the model's schema makes of columns, with a target if there is one; None for a model without a schema.
#[pyfunction]
#[pyo3(signature = (model, parts, y=None))]
pub(crate) fn prepared(
    model: &Model,
    parts: Vec<Part<'_>>,
    y: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<Prepared>> {
    let Some(schema) = model.model().schema() else { return Ok(None) };
    let target = y.map(|y| schema.target_of(labels_of(cells_of(y)?)).map_err(raise)).transpose()?.flatten();
    // parts of a model need their own views alone
    let views: Option<Vec<&str>> = parts.iter().map(|(view, ..)| view.as_deref()).collect();
    let known = views.filter(|views| views.iter().all(|name| schema.view(name).is_some()));
    let schema = known.map_or_else(|| schema.clone(), |views| schema.clone().of_views(&views));
    let mut held = Vec::with_capacity(parts.len());
    for (view, named, columns) in parts {
        let field = |(name, cells): (String, Bound<'_, PyAny>)| Ok(Field { name, data: cells_of(&cells)? });
        held.push(Held { view, named, fields: columns.into_iter().map(field).collect::<PyResult<_>>()? });
    }
    let options = ApplyOptions { partial_target: true, ..ApplyOptions::default() };
    let made = guarded(|| {
        let table = schema.table_of(NAME, held).map_err(mercer::Error::from)?;
        let data = schema.apply_as(&table, options)?.without_target();
        Ok(match target {
            Some(target) => data.with_target(target)?,
            None => data,
        })
    })?;
    // examples have rows where files have lines
    let told = |error: mercer::Error| {
        let told = in_python(&error.to_string());
        PyValueError::new_err(
            told.replace(&format!("{NAME} line "), &format!("{NAME} row ")).replace("the file has", "it has"),
        )
    };
    Ok(Some(Prepared(made.map_err(told)?)))
}

/// Switches as the words that files have for them; anything else as it is.
fn labels_of(data: FieldData) -> FieldData {
    match data {
        FieldData::Numbers { values, spellings } if !spellings.is_empty() => {
            let word = |&v: &f64| if v == 0.0 { "False" } else { "True" };
            FieldData::Words(values.iter().map(word).collect::<Words>())
        }
        other => other,
    }
}

/// The cells of a column, or a block of columns.
fn cells_of(given: &Bound<'_, PyAny>) -> PyResult<FieldData> {
    if let Ok(numbers) = given.extract::<List<'_, f64>>() {
        return Ok(FieldData::Numbers { values: numbers.as_slice()?.to_vec(), spellings: Vec::new() });
    }
    if let Ok((kind, switches)) = given.extract::<(String, List<'_, f64>)>()
        && kind == "bool"
    {
        let spellings = vec![(0.0, "False".to_owned()), (1.0, "True".to_owned())];
        return Ok(FieldData::Numbers { values: switches.as_slice()?.to_vec(), spellings });
    }
    if let Ok(cells) = given.extract::<Vec<String>>() {
        return Ok(FieldData::Words(cells.iter().map(String::as_str).collect::<Words>()));
    }
    match values(given)? {
        Values::Dense(rows) => Ok(FieldData::Matrix((*rows).clone())),
        Values::Dense32(rows) => Ok(FieldData::Matrix32((*rows).clone())),
        Values::Sparse(rows) => Ok(FieldData::Sparse((*rows).clone())),
        Values::Sparse32(rows) => Ok(FieldData::Sparse(rows.convert())),
        _ => Err(PyValueError::new_err("columns are numbers, strings or switches")),
    }
}
