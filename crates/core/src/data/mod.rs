//! Data: what is learned from.
//!
//! A [`Dataset`] is a number of examples, each seen through one or more named views (columns of one
//! kind), with an optional [`Target`]. A view is dense or sparse vectors in f32 or f64, text, or of any kind of [`kinds`].
//! Readers turn files into a raw [`Table`], and [`mod@write`] turns it into a file again; a [`Schema`], learned on the
//! training file and kept in the model, turns tables into data sets (target, one-hot codes, missing values, scaling).

mod copies;
mod dataset;
mod dates;
mod dense;
mod error;
mod fingerprint;
mod join;
pub mod kinds;
mod preparation;
pub mod read;
mod repeats;
mod scalar;
mod scale;
mod schema;
mod sparse;
mod spelling;
mod table;
mod target;
mod transform;
mod vectors;
mod words;
pub mod write;

pub(crate) use copies::{Copies, Known, copies, counted, smallest_counted};
pub use dataset::{Dataset, Values, View};
pub use dates::days;
pub use dense::{Borrowed, Rows};
pub use error::{DataError, Place};
pub use kinds::{BadItem, Column, Item, Items, Kind, KindEntry};
pub use preparation::{Preparation, PreparationSet, Scope};
pub use repeats::{Repeats, RepeatsBeside};
pub use scalar::Scalar;
pub use scale::{Scale, Scaler};
pub use schema::{ApplyOptions, Layout, Missing, Schema, SchemaOptions, Unseen, UnseenCategories, ViewSchema, Wanted};
pub use sparse::{Coordinate, SparseRows};
pub(crate) use spelling::MAX_FRACTIONS;
pub use spelling::{Lost, Respelled};
pub use table::{Field, FieldData, Table};
pub use target::{Classes, Numbers, Target, places_of_labels};
pub use transform::Transform;
pub use vectors::Vectors;
pub use words::Words;

/// An ordered collection of examples of type `X`.
pub trait Examples<X: ?Sized>: Send + Sync {
    /// The number of examples.
    fn len(&self) -> usize;
    /// The i-th.
    fn get(&self, i: usize) -> &X;
    /// True if there is no example.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Examples<str> for Vec<String> {
    fn len(&self) -> usize {
        self.len()
    }
    fn get(&self, i: usize) -> &str {
        &self[i]
    }
}
