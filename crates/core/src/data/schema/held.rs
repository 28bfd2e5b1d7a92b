//! Columns that somebody has in memory, as a table of the training file's columns.
//!
//! Columns with names are found by these where the training file named its own. Others are all columns of the model in their order.

use super::super::read::{column_of, is_missing_mark};
use super::super::{DataError, Field, FieldData, SparseRows, Table, Target, Words};
use super::divided::columns;
use super::take::{is_block, is_number, target, words};
use super::{Content, FieldRef, Layout, Schema, ViewSchema};

/// Columns of one length.
#[derive(Clone, Debug)]
pub struct Held {
    /// The view that is made of them; `None` where they are the columns of all views.
    pub view: Option<String>,
    /// True if they are known by their names, else by their order.
    pub named: bool,
    /// The columns, or one block of them.
    pub fields: Vec<Field>,
}

impl Schema {
    /// The table that [`Schema::apply`] makes data of; `name` stands for it in errors, which count examples from zero.
    ///
    /// # Errors
    /// If there is no such view, columns without names are not as many as the model has, or columns are not of one length.
    pub fn table_of(&self, name: &str, parts: Vec<Held>) -> Result<Table, DataError> {
        let mut fields: Vec<Field> = Vec::new();
        for part in parts {
            let views = match &part.view {
                None => self.views.iter().collect(),
                Some(view) => vec![self.view(view).ok_or_else(|| self.no_such_view(view))?],
            };
            fields.extend(self.placed(part, &views)?);
        }
        let len = fields.first().map_or(0, |field| field.data.len());
        if let Some(other) = fields.iter().find(|field| field.data.len() != len) {
            let what = format!("column \"{}\" of {name}", other.name);
            let first = format!("column \"{}\"", fields[0].name);
            return Err(DataError::Lengths { what, got: other.data.len(), other: first, wanted: len });
        }
        let table = Table {
            file: name.to_owned(),
            format: "memory",
            len,
            fields,
            target: None,
            first_line: 0,
            lines: None,
            named: self.named,
            notes: Vec::new(),
        };
        Ok(self.without_marks(table))
    }

    /// Columns with the names that the model knows them by.
    fn placed(&self, part: Held, views: &[&ViewSchema]) -> Result<Vec<Field>, DataError> {
        let block = match views {
            [ViewSchema { content: Content::Block { field, .. }, .. }] => Some((field, false)),
            [ViewSchema { content: Content::Sparse { field, .. }, .. }] => Some((field, true)),
            _ => None,
        };
        if let Some((field, is_sparse)) = block {
            // trailing zeros of sparse vectors are not counted, so those of dense ones are not either
            let data = |data| if is_sparse { sparse(data) } else { data };
            let own = |one: Field| Field { name: field.name.clone(), data: data(one.data) };
            return Ok(match <[Field; 1]>::try_from(part.fields) {
                Ok([one]) if is_block(&one) => vec![own(one)],
                Ok([one]) => vec![one],
                Err(several) => several,
            });
        }
        if part.named && self.named {
            return Ok(part.fields);
        }
        let wanted = in_order(views);
        let width = match part.fields.as_slice() {
            [Field { data: FieldData::Sparse(rows), .. }] if rows.width() <= wanted.len() => wanted.len(),
            [one] => one.data.width(),
            several => several.len(),
        };
        // the model knows nothing but places: these may be those of all columns of the file
        let told_by_count = !self.named && part.view.is_none();
        if width != wanted.len() && !told_by_count {
            let names: Vec<&str> = wanted.iter().map(|field| field.name.as_str()).collect();
            let finding = format!(
                "there are {width} columns without names, and the model has {}: give these in this order, or a frame that has their names: {}",
                names.len(),
                listed(&names)
            );
            return Err(DataError::Usage { finding });
        }
        let columns = part.fields.into_iter().flat_map(|field| split(field, width));
        let name =
            |k: usize, own: String| wanted.get(k).filter(|_| !told_by_count).map_or(own, |field| field.name.clone());
        Ok(columns.enumerate().map(|(k, one)| Field { name: name(k, one.name), data: one.data }).collect())
    }

    /// The names of the columns that views are made of, in the order of the training file; empty where it had none, or was made of blocks.
    pub fn input_names(&self) -> Vec<&str> {
        let is_block = |view: &ViewSchema| matches!(view.content, Content::Block { .. } | Content::Sparse { .. });
        if !self.named || self.views.iter().any(is_block) {
            return Vec::new();
        }
        in_order(&self.views.iter().collect::<Vec<_>>()).into_iter().map(|field| field.name.as_str()).collect()
    }

    /// The same with some of its views alone.
    #[must_use]
    pub fn of_views(mut self, names: &[&str]) -> Self {
        self.views.retain(|view| names.contains(&view.name.as_str()));
        self
    }

    /// The target that a column of a file would be: words that are spelled as numbers are these where training had no other words.
    ///
    /// # Errors
    /// If a block of columns is no target.
    pub fn target_of(&self, data: FieldData) -> Result<Option<Target>, DataError> {
        let data = match data {
            FieldData::Words(cells) if !self.target_words => {
                if cells.iter().all(|cell| cell.is_empty() || is_number(cell)) {
                    column_of(cells.iter())
                } else {
                    FieldData::Words(cells)
                }
            }
            FieldData::Numbers { .. } if self.target_words => {
                FieldData::Words(words(&one_column(data), 0)?.into_owned())
            }
            data => data,
        };
        target(&one_column(data), &[0], &[0])
    }

    fn no_such_view(&self, name: &str) -> DataError {
        let names: Vec<&str> = self.views.iter().map(|view| view.name.as_str()).collect();
        let remedy = format!("the model has {}", listed(&names));
        DataError::NoSuch { what: "view", name: name.to_owned(), remedy }
    }

    /// The table with its words as a reader has them: without blanks around them, and empty where they are marks of missing entries. Whole
    /// examples, and columns that were declared to be words, stay as they are.
    fn without_marks(&self, mut table: Table) -> Table {
        let places = Layout::of(self).places(table.fields.len()).unwrap_or_default();
        let stays = |field: &&FieldRef| self.spelled.contains(&field.name);
        let cells = self.views.iter().filter(|view| view.cells().is_some()).flat_map(ViewSchema::fields);
        let spelled = self.views.iter().flat_map(ViewSchema::fields).filter(stays);
        let kept: Vec<&FieldRef> = cells.chain(spelled).collect();
        for (k, field) in table.fields.iter_mut().enumerate() {
            let is_kept =
                |one: &&FieldRef| if table.named { one.name == field.name } else { places.get(&one.place) == Some(&k) };
            if let FieldData::Words(cells) = &field.data
                && !kept.iter().any(is_kept)
            {
                let read = |cell: &'_ str| if is_missing_mark(cell.trim()) { "" } else { cell.trim() }.to_owned();
                let read: Vec<String> = cells.iter().map(read).collect();
                field.data = FieldData::Words(read.iter().map(String::as_str).collect::<Words>());
            }
        }
        table
    }
}

/// The columns that views are made of, in the order of the training file.
fn in_order<'a>(views: &[&'a ViewSchema]) -> Vec<&'a FieldRef> {
    let mut all: Vec<&FieldRef> = views.iter().flat_map(|view| view.fields()).collect();
    all.sort_by_key(|field| field.place);
    all
}

/// A table of a single column, the target.
fn one_column(data: FieldData) -> Table {
    Table {
        file: "y".to_owned(),
        format: "memory",
        len: data.len(),
        fields: vec![Field { name: "y".to_owned(), data }],
        target: Some(0),
        first_line: 0,
        lines: None,
        named: true,
        notes: Vec::new(),
    }
}

/// Some names, not too many.
fn listed(names: &[&str]) -> String {
    const MAX_NAMES: usize = 12;
    let more = if names.len() > MAX_NAMES { ", …" } else { "" };
    format!("{}{more}", names[..names.len().min(MAX_NAMES)].join(", "))
}

/// Dense vectors as sparse ones.
fn sparse(data: FieldData) -> FieldData {
    match data {
        FieldData::Matrix(rows) => FieldData::Sparse(SparseRows::from_dense(&rows)),
        FieldData::Matrix32(rows) => FieldData::Sparse(SparseRows::from_dense(&rows.convert())),
        other => other,
    }
}

/// A block of columns as so many columns; a column as it is.
fn split(field: Field, width: usize) -> Vec<Field> {
    match field.data {
        FieldData::Matrix(rows) => columns(&rows),
        FieldData::Matrix32(rows) => columns(&rows),
        FieldData::Sparse(mut rows) => {
            rows.widen(width);
            columns(&rows.to_dense())
        }
        data => vec![Field { name: field.name, data }],
    }
}

impl FieldData {
    /// The number of examples.
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers { values, .. } => values.len(),
            Self::Words(cells) | Self::Mixed { cells, .. } => cells.len(),
            Self::Matrix(rows) => rows.len(),
            Self::Matrix32(rows) => rows.len(),
            Self::Sparse(rows) => rows.len(),
        }
    }

    /// True if there is no example.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of columns.
    pub fn width(&self) -> usize {
        match self {
            Self::Numbers { .. } | Self::Words(_) | Self::Mixed { .. } => 1,
            Self::Matrix(rows) => rows.width(),
            Self::Matrix32(rows) => rows.width(),
            Self::Sparse(rows) => rows.width(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::read::{ReadOptions, read_bytes};
    use super::super::{Missing, SchemaOptions};
    use super::*;
    use crate::data::Values;

    const FILE: &str = "a,colour,b,y\n1,red,4.5,u\n2,,5,v\n3,blue,,u\n7,red,1,v\n";

    fn schema(text: &str) -> (Schema, Table) {
        let table = read_bytes("t.csv", text.as_bytes(), &ReadOptions::default()).unwrap();
        let options = SchemaOptions { missing: Missing::Mean, ..SchemaOptions::default() };
        (Schema::learn(&table, &options).unwrap(), table)
    }

    fn numbers(name: &str, values: &[f64]) -> Field {
        Field { name: name.to_owned(), data: FieldData::Numbers { values: values.to_vec(), spellings: Vec::new() } }
    }

    fn columns(named: bool) -> Vec<Held> {
        let cells = ["red", " NA", "blue", "red"].into_iter().collect::<Words>();
        let colour = Field { name: "colour".to_owned(), data: FieldData::Words(cells) };
        let fields = vec![numbers("a", &[1.0, 2.0, 3.0, 7.0]), colour, numbers("b", &[4.5, 5.0, f64::NAN, 1.0])];
        vec![Held { view: None, named, fields }]
    }

    fn vectors(data: &crate::data::Dataset) -> Vec<u64> {
        let Values::Dense(rows) = &data.views()[0].values else { panic!() };
        rows.values().iter().map(|v| v.to_bits()).collect()
    }

    #[test]
    fn columns_in_memory_become_the_vectors_of_the_file() {
        for (text, named) in [(FILE, true), (FILE.split_once('\n').unwrap().1, false)] {
            let (schema, table) = schema(text);
            let wanted = vectors(&schema.apply(&table).unwrap());
            let mut turned = columns(true);
            turned[0].fields.reverse();
            for parts in [columns(true), columns(false)].into_iter().chain(named.then_some(turned)) {
                let held = schema.table_of("X", parts).unwrap();
                assert_eq!(vectors(&schema.apply(&held).unwrap()), wanted, "{named}");
            }
        }
        let (schema, _) = schema(FILE);
        assert_eq!(schema.input_names(), ["a", "colour", "b"]);
        let target = schema.target_of(FieldData::Words(["u", "v"].into_iter().collect())).unwrap().unwrap();
        assert_eq!(target.classes().unwrap().labels, ["u", "v"]);
    }

    #[test]
    fn columns_that_are_not_those_of_the_model_are_refused() {
        let (schema, _) = schema(FILE);
        let error = |parts: Vec<Held>| match schema.table_of("X", parts).and_then(|table| schema.apply(&table)) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        };
        let mut few = columns(false);
        few[0].fields.pop();
        assert!(error(few).contains("2 columns without names, and the model has 3: give these in this order"));
        let mut lacking = columns(true);
        lacking[0].fields.remove(2);
        assert!(error(lacking).contains("column \"b\""));
        let mut uneven = columns(true);
        uneven[0].fields[0] = numbers("a", &[1.0]);
        assert!(error(uneven).contains("column \"colour\" of X"));
        let other = Held { view: Some("z".to_owned()), ..columns(false).remove(0) };
        assert!(error(vec![other]).contains("no view \"z\""));
    }
}
