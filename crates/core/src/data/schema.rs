//! Schemas: what the columns of a file mean, learned on the training table and kept in the model.
//!
//! A [`Schema`] names the target, gathers columns into views, knows the categories of words, what stands for missing
//! entries, and the scaling of each dense view. Applied to a new table it gives a [`Dataset`] with the same meaning,
//! or an error that names the place where the table differs.

mod apply;
mod check;
mod divided;
mod encode;
mod held;
mod infer;
mod layout;
mod learn;
mod marks;
mod options;
mod plain;
mod remarks;
mod strangers;
mod take;
mod wide;

pub(super) use marks::is_usual_mark;
pub(super) use options::rejoined;

pub use held::Held;
pub use infer::Wanted;
pub use layout::Layout;
pub use options::{Missing, SchemaOptions, Unseen};
pub use strangers::UnseenCategories;

use super::{DataError, Dataset, Kind, Preparation, Scale, Scaler, Table, kinds};
use learn::Learned;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use strangers::Strangers;

/// A schema: the meaning of the columns of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schema {
    /// True if the training file named its columns; if so, columns of new files are found by name.
    #[serde(default)]
    named: bool,
    /// The number of fields of the training file, target and weights included.
    fields: usize,
    /// The fields to be predicted.
    #[serde(default)]
    targets: Vec<FieldRef>,
    /// The field that says how much each example counts in training; left aside in other files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    weights: Option<FieldRef>,
    /// The views, in the order of the data sets.
    views: Vec<ViewSchema>,
    /// The treatment of missing entries.
    #[serde(default)]
    missing: Missing,
    /// The treatment of categories that training has not seen.
    #[serde(default, skip_serializing_if = "Unseen::is_usual")]
    unseen: Unseen,
    /// Words that stand for missing entries, besides those that readers know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    missing_words: Vec<String>,
    /// Columns that were declared to be words, in which a mark such as NA is one. Models of before had none: there it was missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    spelled: Vec<String>,
    /// True if the target was words some of which are spelled as numbers, so that new files must have it as words, too. Models of before did
    /// not say so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    target_words: bool,
    /// True if nobody has said which column of a file is the target, since training knew no file.
    #[serde(skip)]
    guesses_target: bool,
}

/// A field of the training table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct FieldRef {
    name: String,
    place: usize,
}

/// One view: where it comes from and how it is encoded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ViewSchema {
    /// Its name in formulas.
    pub name: String,
    content: Content,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Content {
    /// Vectors made of single columns; sparse ones where most coordinates are categories.
    Columns {
        columns: Vec<ColumnSchema>,
        #[serde(default)]
        scaler: Option<Scaler>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        sparse: bool,
    },
    /// A dense block; `narrow` if it is stored in f32, `fill` stands for missing entries.
    Block {
        field: FieldRef,
        width: usize,
        #[serde(default)]
        narrow: bool,
        #[serde(default)]
        fill: Option<Vec<f64>>,
        #[serde(default)]
        scaler: Option<Scaler>,
    },
    /// Sparse vectors; `unit` if each is scaled to length 1.
    Sparse {
        field: FieldRef,
        width: usize,
        #[serde(default)]
        unit: bool,
    },
    /// One column whose cells are whole examples: strings, or examples of the kind of that name.
    #[serde(rename = "text")]
    Cells {
        field: FieldRef,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<String>,
    },
}

/// One column of a dense view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct ColumnSchema {
    field: FieldRef,
    code: Code,
}

/// The coding of the cells of a column as coordinates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Code {
    /// One coordinate; `fill` stands for missing entries. Dates are days.
    Number {
        #[serde(default)]
        fill: Option<f64>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        date: bool,
    },
    /// One coordinate per category, sorted; `fill` is the place of the one that stands for missing entries.
    Categories {
        words: Vec<String>,
        #[serde(default)]
        fill: Option<usize>,
    },
}

impl Code {
    fn width(&self) -> usize {
        match self {
            Self::Number { .. } => 1,
            Self::Categories { words, .. } => words.len(),
        }
    }
}

impl ViewSchema {
    /// Its contents, in words.
    pub fn kind(&self) -> &'static str {
        match &self.content {
            Content::Columns { sparse: true, .. } | Content::Sparse { .. } => "sparse",
            Content::Columns { .. } | Content::Block { narrow: false, .. } => "dense",
            Content::Block { narrow: true, .. } => "dense, f32",
            Content::Cells { .. } => self.cells().map_or("unknown", |kind| kind.entry().name),
        }
    }

    /// The kind of its cells, where these are whole examples of a kind that is known.
    pub(crate) fn cells(&self) -> Option<Kind> {
        match &self.content {
            Content::Cells { kind: None, .. } => Some(Kind::Text),
            Content::Cells { kind: Some(name), .. } => kinds::find(name).map(Kind::of).filter(|kind| kind.is_cell()),
            _ => None,
        }
    }

    /// The number of coordinates; `None` where examples are no vectors.
    pub fn width(&self) -> Option<usize> {
        match &self.content {
            Content::Columns { columns, .. } => Some(columns.iter().map(|c| c.code.width()).sum()),
            Content::Block { width, .. } | Content::Sparse { width, .. } => Some(*width),
            Content::Cells { .. } => None,
        }
    }

    /// The name of each coordinate of a dense view: the column, `column=category`, or the place in a block from one.
    pub fn coordinate_names(&self) -> Option<Vec<String>> {
        match &self.content {
            Content::Columns { columns, .. } => {
                let mut names = Vec::new();
                for column in columns {
                    match &column.code {
                        Code::Number { .. } => names.push(column.field.name.clone()),
                        Code::Categories { words, .. } => {
                            names.extend(words.iter().map(|w| format!("{}={w}", column.field.name)));
                        }
                    }
                }
                Some(names)
            }
            Content::Block { width, .. } => Some((1..=*width).map(|j| j.to_string()).collect()),
            Content::Sparse { .. } | Content::Cells { .. } => None,
        }
    }

    /// The columns of vectors that are made of single columns, with the places of their coordinates.
    pub fn columns(&self) -> Option<Vec<(String, Range<usize>)>> {
        let Content::Columns { columns, .. } = &self.content else { return None };
        let mut end = 0;
        let place = |column: &ColumnSchema| {
            let start = end;
            end += column.code.width();
            (column.field.name.clone(), start..end)
        };
        Some(columns.iter().map(place).collect())
    }

    /// The column whose cells are whole examples, where they are.
    pub fn cell_name(&self) -> Option<&str> {
        if let Content::Cells { field, .. } = &self.content { Some(&field.name) } else { None }
    }

    /// Columns of words and the number of their categories, each of which is a coordinate.
    pub fn categories(&self) -> Vec<(&str, usize)> {
        let Content::Columns { columns, .. } = &self.content else { return Vec::new() };
        let coded = columns.iter().filter(|c| matches!(c.code, Code::Categories { .. }));
        coded.map(|c| (c.field.name.as_str(), c.code.width())).collect()
    }

    /// The scaling of its vectors in a word, where the options of the training said so much; `None` for examples that are no vectors.
    pub fn scaling(&self, asked: Option<Scale>) -> Option<&'static str> {
        let word = |scale: Scale| Scale::WORDS.iter().find(|(_, s)| *s == scale).map_or("none", |(word, _)| word);
        match &self.content {
            Content::Columns { scaler, .. } | Content::Block { scaler, .. } => Some(match scaler {
                Some(Scaler::Affine { .. }) => word(dense_scale(asked)),
                Some(Scaler::Unit) => word(Scale::Unit),
                None => word(Scale::None),
            }),
            Content::Sparse { unit, .. } => Some(word(if *unit { Scale::Unit } else { Scale::None })),
            Content::Cells { .. } => None,
        }
    }

    /// The scaling of its vectors, if any.
    pub fn scaler(&self) -> Option<&Scaler> {
        match &self.content {
            Content::Columns { scaler, .. } | Content::Block { scaler, .. } => scaler.as_ref(),
            Content::Sparse { .. } | Content::Cells { .. } => None,
        }
    }
}

impl Schema {
    /// Learns what a training table means.
    pub fn learn(table: &Table, options: &SchemaOptions) -> Result<Self, DataError> {
        Ok(Self::learn_and_apply(table, options)?.0)
    }

    /// Learns what a training table means and gives its data set, rows with missing entries dropped where asked.
    pub fn learn_and_apply(table: &Table, options: &SchemaOptions) -> Result<(Self, Dataset), DataError> {
        Self::learned(table, options, None)
    }

    /// The same with those views only that a formula looks at ([`Formula::wanted`](crate::formula::Formula::wanted)): the columns of
    /// others are left out, and new files need not have them. The data remember what was left out
    /// ([`Preparation::remarks`](crate::data::Preparation::remarks)).
    pub fn learn_and_apply_for(
        table: &Table,
        options: &SchemaOptions,
        wanted: &Wanted,
    ) -> Result<(Self, Dataset), DataError> {
        Self::learned(table, options, Some(wanted))
    }

    fn learned(table: &Table, options: &SchemaOptions, wanted: Option<&Wanted>) -> Result<(Self, Dataset), DataError> {
        let Learned { schema, data, remarks, left_out } = learn::learn(&options.divided(table), options, wanted)?;
        let preparation = Preparation::by_all(&schema, Some(options)).having(Vec::new(), left_out);
        Ok((schema, data.with_preparation(preparation.remarking(remarks))))
    }

    /// The data set of a new table; with target if the table has it.
    pub fn apply(&self, table: &Table) -> Result<Dataset, DataError> {
        self.apply_as(table, ApplyOptions::default())
    }

    /// The data set of a new table, where something is to be other than training left it. The data set knows the categories that
    /// were taken as none ([`Preparation::unseen`]) and the rows that were left out.
    pub fn apply_as(&self, table: &Table, options: ApplyOptions) -> Result<Dataset, DataError> {
        let divided = self.divided(table);
        let settled = apply::settle(self, &divided)?;
        let table = settled.as_ref();
        let fewer;
        let (table, left_out) = if options.drop_missing {
            fewer = apply::without_missing(self, table)?;
            (&fewer, table.len - fewer.len)
        } else {
            (table, 0)
        };
        let mut strangers = Strangers::treated(options.unseen.unwrap_or(self.unseen));
        let (data, assumed) = apply::apply(self, table, &mut strangers, options.partial_target)?;
        let preparation = Preparation::by_all(self, None).having(strangers.found, left_out);
        Ok(data.with_preparation(preparation.assuming(assumed)))
    }

    /// The rows of a new table in which no entry is missing that predictions need.
    ///
    /// # Errors
    /// If the columns of the training file are not there.
    pub fn complete_rows(&self, table: &Table) -> Result<Vec<usize>, DataError> {
        if matches!(self.missing, Missing::Mean | Missing::Keep) {
            return Ok((0..table.len).collect());
        }
        let divided = self.divided(table);
        let settled = apply::settle(self, &divided)?;
        apply::complete(self, settled.as_ref(), false)
    }

    /// The rows of a training table in which no entry is missing, neither of the target nor of the columns that the schema looks at.
    ///
    /// # Errors
    /// If the table lacks a column of the schema.
    pub fn complete_examples(&self, table: &Table) -> Result<Vec<usize>, DataError> {
        apply::complete(self, apply::settle(self, &self.divided(table))?.as_ref(), true)
    }

    /// The weights of the examples of a table of the training file's columns; `None` if training had no column of weights, or the table
    /// has not.
    ///
    /// # Errors
    /// If the table lacks a column of the schema, or weights are no numbers ≥ 0.
    pub fn weights(&self, table: &Table) -> Result<Option<Vec<f64>>, DataError> {
        apply::weights(self, apply::settle(self, &self.divided(table))?.as_ref())
    }

    /// The number of bits that describe what was learned from the training table: 64 for a number, 8 for a byte of a word.
    pub fn learned_bits(&self) -> f64 {
        let scaled = |scaler: &Option<Scaler>| match scaler {
            Some(Scaler::Affine { shift, factor }) => {
                let learned = shift.iter().zip(factor).filter(|(s, f)| **s != 0.0 || **f != 1.0).count();
                128 * learned
            }
            Some(Scaler::Unit) | None => 0,
        };
        let coded = |column: &ColumnSchema| match &column.code {
            Code::Number { fill, .. } => 64 * usize::from(fill.is_some()),
            Code::Categories { words, fill } => {
                8 * words.iter().map(|w| w.len() + 1).sum::<usize>() + 64 * usize::from(fill.is_some())
            }
        };
        let bits = |view: &ViewSchema| match &view.content {
            Content::Columns { columns, scaler, .. } => columns.iter().map(coded).sum::<usize>() + scaled(scaler),
            Content::Block { fill, scaler, .. } => 64 * fill.as_ref().map_or(0, Vec::len) + scaled(scaler),
            Content::Sparse { .. } | Content::Cells { .. } => 0,
        };
        self.views.iter().map(bits).sum::<usize>() as f64
    }

    /// The names of the target columns.
    pub fn target_names(&self) -> Vec<&str> {
        self.targets.iter().map(|t| t.name.as_str()).collect()
    }

    /// The name of the column of weights, if there was one.
    pub fn weights_name(&self) -> Option<&str> {
        self.weights.as_ref().map(|w| w.name.as_str())
    }

    /// The views.
    pub fn views(&self) -> &[ViewSchema] {
        &self.views
    }

    /// The view of a name.
    pub fn view(&self, name: &str) -> Option<&ViewSchema> {
        self.views.iter().find(|v| v.name == name)
    }

    /// The treatment of missing entries.
    pub fn missing(&self) -> Missing {
        self.missing
    }

    /// The treatment of categories that training has not seen.
    pub fn unseen(&self) -> Unseen {
        self.unseen
    }
}

/// Options of applying a schema, where something is to be other than training left it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ApplyOptions {
    /// The treatment of categories that training has not seen; `None`: as in training.
    pub unseen: Option<Unseen>,
    /// True if rows in which something is missing are left out, as [`Missing::Drop`] does in training.
    pub drop_missing: bool,
    /// True if a target that is missing in some rows is taken for none, instead of for an error.
    pub partial_target: bool,
}

/// The scaling asked for, or the default for dense vectors.
fn dense_scale(scale: Option<Scale>) -> Scale {
    scale.unwrap_or(Scale::Standard)
}

#[cfg(test)]
#[path = "schema/tests.rs"]
mod tests;

#[cfg(test)]
#[path = "schema/chosen_tests.rs"]
mod chosen_tests;
