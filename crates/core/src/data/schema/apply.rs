//! Applying a schema to a new table: finding its columns there, with or without the target.
//!
//! Columns are found by name if both files name theirs, else by count. A table of another build (sparse for dense,
//! columns for a block) is converted when the model has one view of vectors.

use super::super::read::is_usual_target;
use super::super::{DataError, Dataset, FieldData, Kind, Rows, Scalar, Scaler, SparseRows, Table, Values, View};
use super::encode::{self, usage_in};
use super::marks::{Marked, settled};
use super::strangers::Strangers;
use super::take::{self, is_block, missing, missing_rows, target};
use super::wide::Wide;
use super::{Code, ColumnSchema, Content, FieldRef, Layout, Missing, Schema, ViewSchema};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The places of the fields of the schema in a table.
struct Found<'a> {
    schema: &'a Schema,
    table: &'a Table,
    /// By place in the training table; only those that this table has, so that no number of a file decides about memory.
    places: BTreeMap<usize, usize>,
    targets: Vec<usize>,
}

/// The data set of a table, and what was assumed about its columns.
pub(super) fn apply(
    schema: &Schema,
    table: &Table,
    strangers: &mut Strangers,
    partial_target: bool,
) -> Result<(Dataset, Option<String>), DataError> {
    let mut assumed = None;
    let (views, targets) = if let Some((view, targets)) = converted(schema, table, &mut assumed)? {
        (vec![view], targets)
    } else {
        let found = Found::new(schema, table)?;
        let views: Result<Vec<View>, DataError> = schema.views.iter().map(|v| found.view(v, strangers)).collect();
        (views?, found.targets)
    };
    let data = Dataset::from_views(views)?;
    Ok((with_target(data, table, &targets, partial_target)?, assumed))
}

/// The table with its marks of missing entries as training took them.
pub(super) fn settle<'a>(schema: &Schema, table: &'a Table) -> Result<Cow<'a, Table>, DataError> {
    // what does not fit is said when it is applied
    let Ok(found) = Found::new(schema, table) else { return Ok(Cow::Borrowed(table)) };
    let mut how = vec![Marked::Named; table.fields.len()];
    let is_spelled = |field: &FieldRef| schema.spelled.contains(&field.name);
    for (target, &place) in schema.targets.iter().zip(&found.targets) {
        if schema.target_words || is_spelled(target) {
            how[place] = Marked::Spelled;
        }
    }
    for view in &schema.views {
        match &view.content {
            Content::Columns { columns, .. } => {
                for column in columns {
                    let Some(&place) = found.places.get(&column.field.place) else { continue };
                    how[place] = match &column.code {
                        Code::Number { date: true, .. } => Marked::Dates,
                        Code::Number { date: false, .. } => Marked::Numbers,
                        Code::Categories { .. } if is_spelled(&column.field) => Marked::Spelled,
                        Code::Categories { .. } => Marked::Named,
                    };
                }
            }
            Content::Cells { field, .. } => {
                if let Some(&place) = found.places.get(&field.place) {
                    how[place] = Marked::Not;
                }
            }
            Content::Block { .. } | Content::Sparse { .. } => {}
        }
    }
    settled(table, &schema.missing_words, |field| how[field])
}

/// The table without rows that lack an entry of the target or of a column that the schema looks at; an empty text is a text.
pub(super) fn without_missing(schema: &Schema, table: &Table) -> Result<Table, DataError> {
    let keep = complete(schema, table, true)?;
    if keep.is_empty() {
        return Err(DataError::Empty { place: format!("{} without rows that have missing entries", table.file) });
    }
    Ok(table.select(&keep))
}

/// The weights of a table of the training file's columns; `None` if training had no column of them, or the table has not.
pub(super) fn weights(schema: &Schema, table: &Table) -> Result<Option<Vec<f64>>, DataError> {
    let Some(reference) = &schema.weights else { return Ok(None) };
    let found = Found::new(schema, table)?;
    let by_name = || table.fields.iter().position(|field| field.name == reference.name).filter(|_| schema.named);
    let field = by_name().or_else(|| found.places.get(&reference.place).copied());
    field.map(|field| take::weights(table, field)).transpose()
}

/// The rows in which nothing is missing that the schema looks at; of the target, if that is asked for.
pub(super) fn complete(schema: &Schema, table: &Table, with_target: bool) -> Result<Vec<usize>, DataError> {
    let mut keep = vec![true; table.len];
    let mut look = |field: usize| missing_rows(&table.fields[field]).into_iter().for_each(|row| keep[row] = false);
    if schema.views.len() == 1 && table.fields.iter().any(is_block) {
        let target = table.target.filter(|_| with_target);
        (0..table.fields.len()).filter(|&f| is_block(&table.fields[f]) || target == Some(f)).for_each(&mut look);
    } else {
        let found = Found::new(schema, table)?;
        // a file whose target is missing throughout has none
        let there = |&&t: &&usize| with_target && missing_rows(&table.fields[t]).len() < table.len;
        found.targets.iter().filter(there).for_each(|&t| look(t));
        for view in schema.views.iter().filter(|view| view.cells() != Some(Kind::Text)) {
            view.fields().into_iter().filter_map(|f| found.places.get(&f.place)).for_each(|&f| look(f));
        }
    }
    Ok((0..table.len).filter(|&row| keep[row]).collect())
}

/// Adds the target; a file whose target is missing throughout has none.
fn with_target(data: Dataset, table: &Table, targets: &[usize], partial: bool) -> Result<Dataset, DataError> {
    for &field in targets {
        let gaps = missing_rows(&table.fields[field]);
        if gaps.len() == table.len || (partial && !gaps.is_empty()) {
            return Ok(data);
        }
        if let Some(&row) = gaps.first() {
            return Err(missing(table, field, row, "give the target in every row or in none"));
        }
    }
    // a word among numeric labels is a label the model has not seen, which is for the machine to say
    match target(table, targets, targets)? {
        Some(target) => data.with_target(target),
        None => Ok(data),
    }
}

/// The remedy for a missing entry; none where they are kept.
fn remedy(schema: &Schema) -> Option<&'static str> {
    match schema.missing {
        Missing::Drop => Some(
            "rows are dropped in training only; fill it in, predict with --missing empty to leave such rows without a prediction, or train \
             with --missing mean",
        ),
        Missing::Error | Missing::Mean => Some(
            "fill it in, predict with --missing empty to leave such rows without a prediction, or train with --missing mean",
        ),
        Missing::Keep => None,
    }
}

/// The one view of a table that is built in another way than the training table; `None` if builds agree.
fn converted(
    schema: &Schema,
    table: &Table,
    assumed: &mut Option<String>,
) -> Result<Option<(View, Vec<usize>)>, DataError> {
    let [view] = schema.views.as_slice() else { return Ok(None) };
    let block = table.fields.iter().enumerate().find(|&(k, f)| is_block(f) && table.target != Some(k)).map(|(k, _)| k);
    let values = match (&view.content, block) {
        (Content::Columns { columns, scaler, .. }, Some(block)) => {
            if columns.iter().any(|c| matches!(c.code, Code::Categories { .. })) {
                return Err(usage_in(table, "has vectors, but the model was trained on columns with categories"));
            }
            let fill = column_fills(columns);
            let mut rows = encode::dense_block(table, block, columns.len())?;
            encode::fill_block(&mut rows, fill.as_deref(), table, &view.name, remedy(schema))?;
            (scaled(rows, scaler.as_ref()), table.target.into_iter().collect())
        }
        (Content::Block { width, fill, scaler, narrow, .. }, None) => {
            let (mut rows, targets) = columns_as_block(schema, table, *width, assumed)?;
            encode::fill_block(&mut rows, fill.as_deref(), table, &view.name, remedy(schema))?;
            let values =
                if *narrow { scaled(rows.convert::<f32>(), scaler.as_ref()) } else { scaled(rows, scaler.as_ref()) };
            (values, targets)
        }
        (Content::Sparse { width, unit, .. }, None) => {
            let (mut rows, targets) = columns_as_block(schema, table, *width, assumed)?;
            encode::fill_block(&mut rows, None, table, &view.name, Some("fill it in"))?;
            (sparse(SparseRows::from_dense(&rows), *unit), targets)
        }
        _ => return Ok(None),
    };
    Ok(Some((View { name: view.name.clone(), values: values.0 }, values.1)))
}

/// The stand-ins of columns of numbers, if they have any.
fn column_fills(columns: &[ColumnSchema]) -> Option<Vec<f64>> {
    columns.iter().map(|c| if let Code::Number { fill, .. } = c.code { fill } else { None }).collect()
}

/// Columns of numbers as a block of `width`, and the target beside them: the column of its name, or of a name that targets usually have, or
/// in a file without names the last one, if there is one more.
fn columns_as_block(
    schema: &Schema,
    table: &Table,
    width: usize,
    assumed: &mut Option<String>,
) -> Result<(Rows<f64>, Vec<usize>), DataError> {
    let named = |t: &FieldRef| table.fields.iter().position(|f| f.name == t.name).filter(|_| table.named);
    let mut targets: Vec<usize> = schema.targets.iter().filter_map(named).collect();
    let got = table.fields.len();
    if let ([], [target]) = (targets.as_slice(), schema.targets.as_slice())
        && got == width + 1
    {
        let (field, told) = the_one_more(table, target, width)?;
        targets.push(field);
        *assumed = Some(told);
    }
    let weights = schema.weights.as_ref().and_then(named);
    let inputs: Vec<usize> = (0..got).filter(|f| !targets.contains(f) && Some(*f) != weights).collect();
    if inputs.len() != width {
        return Err(encode::wrong_width(table, inputs.len(), width));
    }
    Ok((encode::gathered(table, &inputs)?, targets))
}

/// The column of a table that is one more than a model has coordinates, and what is assumed by taking it for the target.
fn the_one_more(table: &Table, target: &FieldRef, width: usize) -> Result<(usize, String), DataError> {
    let (file, name) = (&table.file, &target.name);
    let other = format!("call the target \"{name}\" if it is another");
    if !table.named {
        let told = format!(
            "{file} has no names and one column more than the model has coordinates, so the last one is taken for the target; "
        );
        let last = table.target.unwrap_or(table.fields.len().saturating_sub(1));
        return Ok((last, told + "name the columns, and " + &other));
    }
    let usual = || table.fields.iter().enumerate().filter(|(_, field)| is_usual_target(&field.name));
    if let (Some((place, field)), 1) = (usual().next(), usual().count()) {
        return Ok((
            place,
            format!("column \"{}\" of {file} is taken for the target by its name; {other}", field.name),
        ));
    }
    let finding = format!(
        "has {} columns, one more than the {width} coordinates that the model was trained on, and none of them is called \"{name}\"; \
         call the target \"{name}\", or take out the column that is no coordinate",
        table.fields.len()
    );
    Err(encode::usage_in(table, &finding))
}

fn scaled<S: Scalar>(mut rows: Rows<S>, scaler: Option<&Scaler>) -> Values
where
    Values: From<Rows<S>>,
{
    if let Some(scaler) = scaler {
        scaler.apply(&mut rows);
    }
    rows.into()
}

fn sparse(mut rows: SparseRows<f64>, unit: bool) -> Values {
    if unit {
        encode::unit_sparse(&mut rows);
    }
    rows.into()
}

impl<'a> Found<'a> {
    fn new(schema: &'a Schema, table: &'a Table) -> Result<Self, DataError> {
        let mut found = Self { schema, table, places: BTreeMap::new(), targets: Vec::new() };
        if (schema.named && table.named) || table.fields.iter().any(is_block) {
            found.by_name();
        } else {
            found.by_count()?;
        }
        Ok(found)
    }

    fn by_name(&mut self) {
        let find = |name: &str| self.table.fields.iter().position(|f| f.name == name);
        for field in self.schema.views.iter().flat_map(ViewSchema::fields) {
            if let Some(place) = find(&field.name) {
                self.places.insert(field.place, place);
            }
        }
        let targets: Option<Vec<usize>> = self.schema.targets.iter().map(|t| find(&t.name)).collect();
        self.targets = match targets {
            Some(targets) => targets,
            None if self.schema.targets.len() == 1 && !self.table.named => self.table.target.into_iter().collect(),
            None if self.schema.guesses_target => self.guessed_target().into_iter().collect(),
            None => Vec::new(),
        };
        // a single block needs no name
        let blocks: Vec<usize> = (0..self.table.fields.len()).filter(|&k| is_block(&self.table.fields[k])).collect();
        if let ([view], &[block]) = (self.schema.views.as_slice(), blocks.as_slice())
            && let [field] = view.fields().as_slice()
        {
            self.places.entry(field.place).or_insert(block);
        }
    }

    /// The column of a usual name, or the only one beside those of the views.
    fn guessed_target(&self) -> Option<usize> {
        let is_other = |place: &usize| !self.places.values().any(|known| known == place);
        let others: Vec<usize> = (0..self.table.fields.len()).filter(is_other).collect();
        let mut usual = others.iter().copied().filter(|&place| is_usual_target(&self.table.fields[place].name));
        match (usual.next(), usual.next(), others.as_slice()) {
            (Some(place), None, _) | (None, None, &[place]) => Some(place),
            _ => None,
        }
    }

    /// By the places of the training file's columns.
    fn by_count(&mut self) -> Result<(), DataError> {
        let places = Layout::of(self.schema).places(self.table.fields.len());
        self.places = places.map_err(|finding| usage_in(self.table, &finding))?;
        self.targets = self.schema.targets.iter().filter_map(|t| self.places.get(&t.place).copied()).collect();
        Ok(())
    }

    fn place(&self, field: &FieldRef) -> Result<usize, DataError> {
        self.places.get(&field.place).copied().ok_or_else(|| {
            let have: Vec<&str> = self.table.fields.iter().map(|f| f.name.as_str()).take(12).collect();
            let remedy = format!("the model needs it, and {} has {}", self.table.file, have.join(", "));
            DataError::NoSuch { what: "column", name: field.name.clone(), remedy }
        })
    }

    fn view(&self, view: &ViewSchema, strangers: &mut Strangers) -> Result<View, DataError> {
        let (table, remedy) = (self.table, remedy(self.schema));
        let values = match &view.content {
            Content::Columns { columns, scaler, sparse } => {
                let fields: Result<Vec<usize>, DataError> = columns.iter().map(|c| self.place(&c.field)).collect();
                match remedy.filter(|_| *sparse) {
                    Some(remedy) => Wide::of(table, columns, &fields?, remedy, strangers)?.vectors(scaler.as_ref()),
                    None => scaled(encode::columns(table, columns, &fields?, remedy, strangers)?, scaler.as_ref()),
                }
            }
            Content::Block { field, width, narrow, fill, scaler } => {
                let place = self.place(field)?;
                match &table.fields[place].data {
                    FieldData::Matrix32(rows) if *narrow && rows.width() == *width => {
                        let mut rows = rows.clone();
                        encode::fill_block(&mut rows, fill.as_deref(), table, &view.name, remedy)?;
                        scaled(rows, scaler.as_ref())
                    }
                    _ => {
                        let mut rows = encode::dense_block(table, place, *width)?;
                        encode::fill_block(&mut rows, fill.as_deref(), table, &view.name, remedy)?;
                        if *narrow {
                            scaled(rows.convert::<f32>(), scaler.as_ref())
                        } else {
                            scaled(rows, scaler.as_ref())
                        }
                    }
                }
            }
            Content::Sparse { field, width, unit } => {
                let place = self.place(field)?;
                if let Some(&row) = missing_rows(&table.fields[place]).first() {
                    return Err(missing(table, place, row, "fill it in"));
                }
                sparse(encode::sparse_block(table, place, *width)?, *unit)
            }
            Content::Cells { field, kind } => {
                let unknown = || {
                    let name = kind.clone().unwrap_or_default();
                    DataError::NoSuch { what: "kind", name, remedy: "the model is of another program".to_owned() }
                };
                encode::cells(table, self.place(field)?, view.cells().ok_or_else(unknown)?)?
            }
        };
        Ok(View { name: view.name.clone(), values })
    }
}

impl ViewSchema {
    /// The fields it is made of.
    pub(super) fn fields(&self) -> Vec<&FieldRef> {
        match &self.content {
            Content::Columns { columns, .. } => columns.iter().map(|c| &c.field).collect(),
            Content::Block { field, .. } | Content::Sparse { field, .. } | Content::Cells { field, .. } => {
                vec![field]
            }
        }
    }
}
