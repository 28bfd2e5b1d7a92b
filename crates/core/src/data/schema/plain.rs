//! Schemas for models that come from elsewhere, and what a schema does that elsewhere cannot be said.

use super::{Code, Content, FieldRef, Missing, Schema, ViewSchema};
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
        }
    }
}

impl ViewSchema {
    /// What is done to the entries of a file before the model sees them, in words; empty if they are taken as they are.
    pub fn treatments(&self) -> Vec<&'static str> {
        let (scaler, unit, categories, fill) = match &self.content {
            Content::Columns { columns, scaler } => (
                scaler.as_ref(),
                false,
                columns.iter().any(|c| matches!(c.code, Code::Categories { .. })),
                columns
                    .iter()
                    .any(|c| matches!(c.code, Code::Number { fill: Some(_) } | Code::Categories { fill: Some(_), .. })),
            ),
            Content::Block { scaler, fill, .. } => (scaler.as_ref(), false, false, fill.is_some()),
            Content::Sparse { unit, .. } => (None, *unit, false, false),
            Content::Text { .. } => (None, false, false, false),
        };
        let mut all = Vec::new();
        if fill {
            all.push("missing entries are filled in");
        }
        if categories {
            all.push("words become one-hot codes");
        }
        match scaler {
            Some(Scaler::Affine { .. }) => all.push("columns are scaled"),
            Some(Scaler::Unit) => all.push("vectors are scaled to length 1"),
            None if unit => all.push("vectors are scaled to length 1"),
            None => {}
        }
        all
    }
}
