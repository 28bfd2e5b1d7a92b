//! Schemas for models that come from elsewhere, and what a schema does that elsewhere cannot be said.

use super::{Code, ColumnSchema, Content, FieldRef, Missing, Schema, Unseen, ViewSchema};
use crate::data::{Dataset, Scaler, Values, View};

impl Schema {
    /// The schema of a LIBSVM file with labels: sparse vectors `x` of `width` coordinates, as they are, and the target `y`.
    pub fn of_sparse(width: usize) -> Self {
        let field = |name: &str, place| FieldRef { name: name.to_owned(), place };
        Self {
            named: false,
            fields: 2,
            targets: vec![field("y", 0)],
            weights: None,
            views: vec![ViewSchema {
                name: "x".to_owned(),
                content: Content::Sparse { field: field("x", 1), width, unit: false },
            }],
            missing: Missing::Error,
            unseen: Unseen::Error,
            missing_words: Vec::new(),
            spelled: Vec::new(),
            target_words: false,
            guesses_target: false,
        }
    }
}

/// Views of examples in memory: the names of their columns, where they have some, and their values.
type ViewInMemory<'a> = (&'a str, Option<&'a [String]>, &'a Values);

impl Schema {
    /// The schema of files for a model that was learned from examples in memory: their columns as they are, by name where they had names,
    /// else all of them in their order. Missing entries stay where the kernel `takes_gaps`.
    ///
    /// The column of the target has no name that is known: it is one of the usual, or the only one beside the others.
    ///
    /// # Errors
    /// If no file has such examples; the error says which do.
    pub(crate) fn of_memory(
        examples: &Dataset,
        names: &[(String, Vec<String>)],
        takes_gaps: bool,
    ) -> Result<Self, String> {
        let known = |view: &View| names.iter().find(|(name, _)| *name == view.name).map(|(_, names)| names.as_slice());
        let all: Vec<ViewInMemory<'_>> =
            examples.views().iter().map(|view| (view.name.as_str(), known(view), &view.values)).collect();
        let (mut views, mut fields) = (Vec::new(), 0);
        for &(name, names, values) in &all {
            let content = match (named(names, values, &mut fields), all.as_slice()) {
                (Some(content), _) => content,
                (None, [_]) => whole(values)?,
                (None, _) => {
                    return Err(format!(
                        "it was learned in memory on several views, and the columns of the view {name} had no names; fit it on a frame, or predict in Python"
                    ));
                }
            };
            views.push(ViewSchema { name: name.to_owned(), content });
        }
        Ok(Self {
            named: fields > 0,
            fields: fields.max(1) + 1,
            targets: vec![FieldRef { name: "y".to_owned(), place: fields.max(1) }],
            views,
            missing: if takes_gaps { Missing::Keep } else { Missing::Error },
            guesses_target: true,
            ..Self::of_sparse(0)
        })
    }
}

/// A view of columns that have names; `fields` is the number of columns so far.
fn named(names: Option<&[String]>, values: &Values, fields: &mut usize) -> Option<Content> {
    let names = names?;
    let mut field = |name: &String| {
        *fields += 1;
        FieldRef { name: name.clone(), place: *fields - 1 }
    };
    match (values, names) {
        (Values::Dense(_) | Values::Dense32(_), _) if values.width() == Some(names.len()) => {
            let column = |name| ColumnSchema { field: field(name), code: Code::Number { fill: None, date: false } };
            Some(Content::Columns { columns: names.iter().map(column).collect(), scaler: None, sparse: false })
        }
        (Values::Text(_), [name]) => Some(Content::Cells { field: field(name), kind: None }),
        (Values::Items(items), [name]) => {
            Some(Content::Cells { field: field(name), kind: Some(items.kind().name.to_owned()) })
        }
        _ => None,
    }
}

/// The only view, whose columns have no names.
fn whole(values: &Values) -> Result<Content, String> {
    let field = FieldRef { name: "x".to_owned(), place: 0 };
    match values {
        Values::Dense(rows) => {
            Ok(Content::Block { field, width: rows.width(), narrow: false, fill: None, scaler: None })
        }
        Values::Dense32(rows) => {
            Ok(Content::Block { field, width: rows.width(), narrow: true, fill: None, scaler: None })
        }
        Values::Sparse(_) | Values::Sparse32(_) => {
            Ok(Content::Sparse { field, width: values.width().unwrap_or_default(), unit: false })
        }
        Values::Text(_) => Ok(Content::Cells { field, kind: None }),
        Values::Items(items) => Ok(Content::Cells { field, kind: Some(items.kind().name.to_owned()) }),
        Values::Index(_) => Err(
            "it was learned in memory on the values of a kernel, so that no file of examples is of its kind; certify and predict where it was fitted"
                .to_owned(),
        ),
    }
}

impl ViewSchema {
    /// The transformation of the entries of a file before the model sees them, in words; empty if they are taken as they are.
    pub fn treatments(&self) -> Vec<&'static str> {
        let mut all = self.codes();
        if self.has_unit_length() {
            all.push("vectors are scaled to length 1");
        } else if self.scaler().is_some() {
            all.push("columns are scaled");
        }
        all
    }

    /// The coding of entries as numbers, in words; empty if they are numbers.
    pub fn codes(&self) -> Vec<&'static str> {
        let (categories, fill) = match &self.content {
            Content::Columns { columns, .. } => (
                columns.iter().any(|c| matches!(c.code, Code::Categories { .. })),
                columns.iter().any(|c| {
                    matches!(c.code, Code::Number { fill: Some(_), .. } | Code::Categories { fill: Some(_), .. })
                }),
            ),
            Content::Block { fill, .. } => (false, fill.is_some()),
            Content::Sparse { .. } | Content::Cells { .. } => (false, false),
        };
        let mut all = Vec::new();
        if fill {
            all.push("missing entries are filled in");
        }
        if let Content::Columns { columns, .. } = &self.content
            && columns.iter().any(|c| matches!(c.code, Code::Number { date: true, .. }))
        {
            all.push("dates become days since 1970-01-01");
        }
        if categories {
            all.push("words become one-hot codes");
        }
        all
    }

    /// True if every vector is divided by its length.
    pub fn has_unit_length(&self) -> bool {
        matches!(self.scaler(), Some(Scaler::Unit)) || matches!(&self.content, Content::Sparse { unit: true, .. })
    }
}
