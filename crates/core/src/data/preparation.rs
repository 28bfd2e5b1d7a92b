//! Preparation: the way from a table to a data set, and the examples that it has learned from.
//!
//! A schema takes means, variances and categories from examples. Regions of conformal prediction have a proven coverage only if
//! examples that are held out had no part in that, and certificates pay for every bit of it. A data set therefore remembers its
//! preparation, also where examples are selected. Numbers that are copied out of it into a new data set are numbers in memory.

use super::{Dataset, Schema, SchemaOptions, UnseenCategories};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The training examples that something was learned from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// None of them: it was fixed before.
    Nothing,
    /// Those that are never held out.
    Kept,
    /// None of them, but others that were set apart at random: see [`PreparationSet`].
    SetApart,
    /// All of them, or some that nobody has recorded.
    All,
}

/// Examples that were set apart from those of a data set, at random and without a look at them. Scaling, codes and parameters of the kernel are
/// learned from them, and the machine learns from the others alone: to these, whatever was learned is a constant.
#[derive(Clone, Debug)]
pub struct PreparationSet {
    examples: Arc<Dataset>,
    /// Their places among all examples, while the data set has all the others.
    places: Option<Arc<[usize]>>,
    share: f64,
}

impl PreparationSet {
    pub(super) fn new(examples: Dataset, places: &[usize], share: f64) -> Self {
        Self { examples: Arc::new(examples), places: Some(places.into()), share }
    }

    /// The examples.
    pub fn examples(&self) -> &Dataset {
        &self.examples
    }

    /// Their places among these and the examples of the data set together, in rising order; `None` for a part of that data set.
    pub fn places(&self) -> Option<&[usize]> {
        self.places.as_deref()
    }

    /// The share of all examples that was asked for.
    pub fn share(&self) -> f64 {
        self.share
    }

    /// The same beside a part of the examples.
    pub(super) fn of_part(&self) -> Self {
        Self { places: None, ..self.clone() }
    }
}

/// The schema that made a data set of a table, and the examples that gave the schema its numbers.
#[derive(Clone, Debug)]
pub struct Preparation {
    schema: Arc<Schema>,
    /// The options that the schema was learned with, where it was learned for these examples.
    options: Option<Arc<SchemaOptions>>,
    /// Places of the examples that the schema was learned from, where they are known and the data set still has all examples.
    kept: Option<Arc<[usize]>>,
    /// True if the schema was learned from examples that were set apart, none of which is in the data set.
    set_apart: bool,
    /// Categories that the schema does not know.
    unseen: Arc<[UnseenCategories]>,
    /// The number of rows that were left out because something was missing.
    left_out: usize,
    /// Remarks about the columns.
    remarks: Arc<[String]>,
    /// What was assumed about the columns of the table.
    assumed: Option<Arc<str>>,
}

impl Preparation {
    /// A schema whose numbers may come from any example.
    pub(super) fn by_all(schema: &Schema, options: Option<&SchemaOptions>) -> Self {
        Self {
            schema: Arc::new(schema.clone()),
            options: options.map(|o| Arc::new(o.clone())),
            kept: None,
            set_apart: false,
            unseen: Arc::new([]),
            left_out: 0,
            remarks: Arc::default(),
            assumed: None,
        }
    }

    /// The same with what was met in the table.
    pub(crate) fn having(self, unseen: Vec<UnseenCategories>, left_out: usize) -> Self {
        Self { unseen: unseen.into(), left_out, ..self }
    }

    /// The same with what was assumed about the columns of the table.
    pub(super) fn assuming(self, assumed: Option<String>) -> Self {
        Self { assumed: assumed.map(Into::into), ..self }
    }

    /// A schema that was learned from the examples at these places alone.
    pub(crate) fn by_kept(schema: &Schema, options: &SchemaOptions, kept: &[usize]) -> Self {
        Self { kept: Some(kept.into()), ..Self::by_all(schema, Some(options)) }
    }

    /// A schema that was learned from examples that were set apart.
    pub(crate) fn by_set_apart(schema: &Schema, options: &SchemaOptions) -> Self {
        Self { set_apart: true, ..Self::by_all(schema, Some(options)) }
    }

    /// The same with remarks about the columns.
    #[must_use]
    pub(crate) fn remarking(self, remarks: Vec<String>) -> Self {
        Self { remarks: remarks.into(), ..self }
    }

    /// Remarks about the columns: that one names or numbers the rows, or that a view is not looked at.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// The same for a part of the examples, whose places are others.
    pub(super) fn of_part(&self) -> Self {
        Self { kept: None, unseen: Arc::new([]), left_out: 0, assumed: None, ..self.clone() }
    }

    /// The same for these and other examples together, among which may be those that were set apart.
    pub(super) fn of_joined(&self) -> Self {
        Self { set_apart: false, ..self.of_part() }
    }

    /// The schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The options that the schema was learned with; `None` where a schema that was there before was applied.
    pub fn options(&self) -> Option<&SchemaOptions> {
        self.options.as_deref()
    }

    /// The categories of the table that the schema does not know and took as none, column by column; a part of the examples has none.
    pub fn unseen(&self) -> &[UnseenCategories] {
        &self.unseen
    }

    /// The number of rows of the table that were left out because something was missing in them.
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// What was assumed about the columns of the table, in a sentence.
    pub fn assumed(&self) -> Option<&str> {
        self.assumed.as_deref()
    }

    /// The bits that the schema has learned.
    pub fn learned_bits(&self) -> f64 {
        self.schema.learned_bits()
    }

    /// The scope of what was learned, if the examples at places `kept`, in rising order, are never held out.
    pub fn scope(&self, kept: &[usize]) -> Scope {
        match &self.kept {
            _ if self.learned_bits() == 0.0 => Scope::Nothing,
            _ if self.set_apart => Scope::SetApart,
            Some(known) if known.iter().all(|i| kept.binary_search(i).is_ok()) => Scope::Kept,
            _ => Scope::All,
        }
    }

    /// True if only some of the examples were learned from, so that the others may be held out.
    pub(crate) fn keeps_some(&self) -> bool {
        self.kept.is_some() && self.learned_bits() > 0.0
    }
}
