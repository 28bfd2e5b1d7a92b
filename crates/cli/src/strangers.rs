//! What new examples have that no example of a model has: letters, and indices of sparse vectors.

use mercer::data::{Dataset, FieldData, Table, Values};
use mercer::model::Model;
use std::collections::BTreeSet;

/// Most letters of an alphabet: texts in words have more, and any may be new.
const MAX_LETTERS: usize = 30;

/// What is told about new examples.
pub(crate) fn notes(model: &Model, table: &Table, data: &Dataset) -> Vec<String> {
    letters(model, table, data).into_iter().chain(indices(model, table)).collect()
}

/// Letters that no example of the model has.
fn letters(model: &Model, table: &Table, data: &Dataset) -> Vec<String> {
    let of = |values: &Values| -> BTreeSet<char> {
        let Values::Text(texts) = values else { return BTreeSet::new() };
        texts.iter().flat_map(|text| text.chars()).collect()
    };
    let mut told = Vec::new();
    for view in data.views() {
        let known = model.examples().views().iter().find(|one| one.name == view.name).map(|one| of(&one.values));
        let Some(known) = known.filter(|known| (1..=MAX_LETTERS).contains(&known.len())) else { continue };
        let new: Vec<String> = of(&view.values).difference(&known).take(MAX_LETTERS).map(char::to_string).collect();
        if let Some(last) = new.last() {
            let (letters, are) = if new.len() == 1 { ("the letter", "is") } else { ("the letters", "are") };
            let list = if new.len() == 1 { last.clone() } else { new.join(", ") };
            told.push(format!("{letters} {list:?} of {} {are} in no example that the model keeps", table.file));
        }
    }
    told
}

/// Indices beyond those of the training file.
fn indices(model: &Model, table: &Table) -> Option<String> {
    let schema = model.schema_of_files().ok()?;
    let [view] = schema.views() else { return None };
    let width = view.width().filter(|_| view.kind() == "sparse" && view.columns().is_none())?;
    let found = table.fields.iter().find_map(|field| match &field.data {
        FieldData::Sparse(rows) => rows.coordinates().iter().map(|c| c.index as usize + 1).max(),
        _ => None,
    })?;
    (found > width).then(|| {
        format!(
            "indices of {} go up to {found}, and those of the model's examples up to {width}: no example tells anything about the others",
            table.file
        )
    })
}
