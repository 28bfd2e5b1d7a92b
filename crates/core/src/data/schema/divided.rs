//! A matrix whose columns are named by their numbers, as a table of single columns.
//!
//! An array has no names, so that its columns are only told apart where somebody counts them. One that nobody counts stays a block.

use super::super::{Field, FieldData, Rows, Scalar, Table};
use super::take::is_block;
use super::{Content, Schema, SchemaOptions};
use std::borrow::Cow;

impl SchemaOptions {
    /// The table with each column of its matrix by itself, where an option names one of them by its number, and else as it is.
    pub fn divided<'a>(&self, table: &'a Table) -> Cow<'a, Table> {
        let lists = [&self.categorical, &self.text, &self.dates, &self.drop].into_iter();
        let lists = lists.chain(&self.target).chain(&self.only).chain(self.views.iter().map(|(_, columns)| columns));
        let mut names = lists.flatten().chain(&self.weights);
        if names.any(|name| is_counted(name)) { divided(table) } else { Cow::Borrowed(table) }
    }
}

impl Schema {
    /// A matrix as the columns that a model was trained on, where these are known by their places and the matrix has further ones.
    pub(super) fn divided<'a>(&self, table: &'a Table) -> Cow<'a, Table> {
        let mut columns = 0;
        for view in &self.views {
            let Content::Columns { columns: own, .. } = &view.content else { return Cow::Borrowed(table) };
            columns += own.len();
        }
        let fits = matches!(table.fields.as_slice(), [one] if one.data.width() == columns) && self.views.len() == 1;
        if self.named || fits || table.fields.len() != 1 { Cow::Borrowed(table) } else { divided(table) }
    }
}

/// True for a number of a column, and for a range of numbers.
fn is_counted(name: &str) -> bool {
    let is_number = |text: &str| text.parse::<i64>().is_ok();
    is_number(name) || name.match_indices('-').any(|(at, _)| is_number(&name[..at]) && is_number(&name[at + 1..]))
}

/// A dense matrix without names, with or without labels beside it, as columns that are called by their numbers; another table as it is.
fn divided(table: &Table) -> Cow<'_, Table> {
    let ([matrix] | [matrix, _]) = table.fields.as_slice() else { return Cow::Borrowed(table) };
    let labels = table.fields.get(1);
    if table.named || labels.is_some_and(is_block) || (labels.is_some() && table.target != Some(1)) {
        return Cow::Borrowed(table);
    }
    let mut fields = match &matrix.data {
        FieldData::Matrix(rows) => columns(rows),
        FieldData::Matrix32(rows) => columns(rows),
        _ => return Cow::Borrowed(table),
    };
    let target = labels.map(|_| fields.len());
    fields.extend(labels.cloned());
    Cow::Owned(Table { fields, target, ..table.clone() })
}

/// The columns of a matrix, called by their numbers.
pub(super) fn columns<S: Scalar>(rows: &Rows<S>) -> Vec<Field> {
    let column = |j: usize| (0..rows.len()).map(|i| rows.row(i)[j].wide()).collect();
    let field = |j: usize| FieldData::Numbers { values: column(j), spellings: Vec::new() };
    (0..rows.width()).map(|j| Field { name: (j + 1).to_string(), data: field(j) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(labels: bool) -> Table {
        let rows = Rows::new(vec![1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], 2, 3).unwrap();
        let block = Field { name: "x".to_owned(), data: FieldData::Matrix32(rows) };
        let y = Field { name: "y".to_owned(), data: FieldData::Words(["u", "v"].into_iter().collect()) };
        Table {
            file: "a.npy".to_owned(),
            format: "memory",
            len: 2,
            target: labels.then_some(1),
            fields: if labels { vec![block, y] } else { vec![block] },
            first_line: 1,
            lines: None,
            named: false,
            notes: Vec::new(),
        }
    }

    #[test]
    fn numbers_divide_a_matrix_and_names_do_not() {
        let names = |target: &str, labels: bool| {
            let mut options = SchemaOptions::default();
            options.set_target(target);
            let divided = options.divided(&matrix(labels)).into_owned();
            divided.fields.iter().map(|field| field.name.clone()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            (names("3", false), names("-1", false), names("1-2", false)),
            ("1 2 3".into(), "1 2 3".into(), "1 2 3".into())
        );
        assert_eq!(
            (names("2", true), names("y", true), names("x", false)),
            ("1 2 3 y".into(), "x y".into(), "x".into())
        );
        assert!(matches!(SchemaOptions::default().divided(&matrix(false)), Cow::Borrowed(_)));
        let FieldData::Numbers { values, .. } = &divided(&matrix(false)).fields[1].data.clone() else { panic!() };
        assert_eq!(values, &[2.0, 5.0]);
    }
}
