//! Schemas for models that come from elsewhere, and what a schema does that elsewhere cannot be said.

use super::{Code, Content, FieldRef, Missing, Schema, Unseen, ViewSchema};
use crate::data::Scaler;

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
        }
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
