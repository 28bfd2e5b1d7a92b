//! Checking a schema that was read from a file against the examples that came with it.

use super::super::{Dataset, Scaler, Values};
use super::{Code, ColumnSchema, Content, Schema, ViewSchema};

/// Largest number of coordinates of a dense vector.
const MAX_COORDINATES: usize = 1 << 24;

impl Schema {
    /// Checks that its parts fit together, and fit the examples of the model; the error says which does not.
    pub(crate) fn check(&self, examples: &Dataset) -> Result<(), String> {
        if self.views.len() != examples.views().len() {
            return Err("its schema has another number of views than its examples".to_owned());
        }
        let places = self.views.iter().flat_map(ViewSchema::fields).chain(&self.targets).chain(&self.weights);
        if places.into_iter().any(|f| f.place >= self.fields) {
            return Err("its schema names a column that the training file did not have".to_owned());
        }
        for (view, known) in self.views.iter().zip(examples.views()) {
            let fits = view.name == known.name && view.is_sound() && view.fits(&known.values);
            if !fits {
                return Err(format!("its schema does not fit its view {}", known.name));
            }
        }
        Ok(())
    }
}

impl ViewSchema {
    /// True if stand-ins and scaling have the width of the vectors.
    fn is_sound(&self) -> bool {
        match &self.content {
            Content::Columns { columns, scaler, .. } => {
                let width = columns.iter().map(|c| c.code.width()).sum();
                columns.iter().all(ColumnSchema::is_sound) && scaler_fits(scaler.as_ref(), width)
            }
            Content::Block { width, fill, scaler, .. } => {
                *width <= MAX_COORDINATES
                    && fill.as_ref().is_none_or(|f| f.len() == *width && f.iter().all(|x| x.is_finite()))
                    && scaler_fits(scaler.as_ref(), *width)
            }
            Content::Sparse { .. } => true,
            Content::Cells { .. } => self.cells().is_some(),
        }
    }

    /// True if it makes such values. Places in a precomputed matrix stand for rows of any width.
    fn fits(&self, values: &Values) -> bool {
        match (&self.content, values) {
            (Content::Columns { sparse: false, .. } | Content::Block { narrow: false, .. }, Values::Dense(_))
            | (Content::Block { narrow: true, .. }, Values::Dense32(_))
            | (Content::Columns { sparse: true, .. } | Content::Sparse { .. }, Values::Sparse(_)) => {
                self.width() == values.width()
            }
            (Content::Columns { .. } | Content::Block { .. }, Values::Index(_)) => true,
            (Content::Cells { .. }, values) => self.cells() == Some(values.kind()),
            _ => false,
        }
    }
}

impl ColumnSchema {
    fn is_sound(&self) -> bool {
        match &self.code {
            Code::Number { fill, .. } => fill.is_none_or(f64::is_finite),
            Code::Categories { words, fill } => fill.is_none_or(|place| place < words.len()),
        }
    }
}

fn scaler_fits(scaler: Option<&Scaler>, width: usize) -> bool {
    match scaler {
        Some(Scaler::Affine { shift, factor }) => {
            let finite = |all: &[f64]| all.len() == width && all.iter().all(|x| x.is_finite());
            finite(shift) && finite(factor)
        }
        Some(Scaler::Unit) | None => true,
    }
}
