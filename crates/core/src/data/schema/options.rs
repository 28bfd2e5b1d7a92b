//! Options of a schema: the user's statements about the columns of a table.

use super::super::{DataError, Kind, Scale, Table};
use serde::{Deserialize, Serialize};

/// Treatments of missing entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Missing {
    /// They are errors.
    #[default]
    Error,
    /// The mean of the training column stands for them, the commonest category in columns of words.
    Mean,
    /// Training rows that have them are left out.
    Drop,
    /// They stay, as NaN, for a kernel that knows what to do with them.
    Keep,
}

impl Missing {
    /// All ways, as the command line spells them.
    pub const WORDS: [(&'static str, Self); 4] =
        [("error", Self::Error), ("mean", Self::Mean), ("drop", Self::Drop), ("keep", Self::Keep)];
}

/// Treatments of categories that training has not seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unseen {
    /// They are errors.
    #[default]
    Error,
    /// They are none of the known categories: all coordinates of the column are zero. They are counted.
    Ignore,
}

impl Unseen {
    /// All ways, as the command line spells them.
    pub const WORDS: [(&'static str, Self); 2] = [("error", Self::Error), ("ignore", Self::Ignore)];

    /// True for the way that needs no word in a file.
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde gives references
    pub(super) fn is_usual(&self) -> bool {
        *self == Self::Error
    }
}

/// Options of a schema: the user's statements about the columns of a table. Columns are named, or numbered from one (negative: from the end).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SchemaOptions {
    /// The columns to be predicted; `None`: what the format says, empty: none.
    pub target: Option<Vec<String>>,
    /// The column that says how much each example counts; it is neither feature nor target.
    pub weights: Option<String>,
    /// Columns that are not learned from; files to be predicted need not have them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub drop: Vec<String>,
    /// The columns that are learned from; `None`: all but target, weights and dropped ones. Target and weights may be among them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<Vec<String>>,
    /// Columns whose cells are categories even if they look like numbers.
    pub categorical: Vec<String>,
    /// Columns of running text, each a view of its own; `*` means all but the target.
    pub text: Vec<String>,
    /// Columns whose cells are examples of a kind ([`Kind::is_cell`]), each a view of its own.
    pub cells: Vec<(String, Kind)>,
    /// Named groups of columns; an entry may be a range of numbers or names such as `5-9`.
    pub views: Vec<(String, Vec<String>)>,
    /// The treatment of missing entries.
    pub missing: Missing,
    /// Columns of dates, which become numbers of days since 1970-01-01; see [`days`](crate::data::days).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dates: Vec<String>,
    /// Words that stand for missing entries, besides those that readers know; a number stands for all its spellings. They are kept in the
    /// model. Sparse vectors have no missing entries.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing_words: Vec<String>,
    /// The treatment of categories that training has not seen.
    #[serde(skip_serializing_if = "Unseen::is_usual")]
    pub unseen: Unseen,
    /// Scaling of dense views; `None`: standard. Neither sparse vectors nor the target are touched by default.
    pub scale: Option<Scale>,
    /// Views or fields that must stay as they are in the file, because a precomputed kernel reads them.
    pub raw: Vec<String>,
}

impl SchemaOptions {
    /// Takes `NAME|INDEX|none`, or several separated by commas.
    pub fn set_target(&mut self, text: &str) {
        self.target = Some(if text == "none" { Vec::new() } else { Self::columns(text) });
    }

    /// Takes `NAME=COL1,COL2,5-9`.
    pub fn add_view(&mut self, text: &str) -> Result<(), DataError> {
        match text.split_once('=') {
            Some((name, columns)) if !name.trim().is_empty() && !columns.trim().is_empty() => {
                self.views.push((name.trim().to_owned(), Self::columns(columns)));
                Ok(())
            }
            _ => Err(usage(format!("view \"{text}\" is not NAME=COLUMN,COLUMN,…"))),
        }
    }

    /// Splits a list of columns at its commas.
    pub fn columns(text: &str) -> Vec<String> {
        text.split(',').map(str::trim).filter(|c| !c.is_empty()).map(str::to_owned).collect()
    }

    /// Puts names of columns together again that have commas of their own, as in `income, EUR`, at which a list was split.
    pub fn rejoin(&mut self, table: &Table) {
        let names: Vec<&str> = table.fields.iter().map(|field| field.name.as_str()).collect();
        if !names.iter().any(|name| name.contains(',')) {
            return;
        }
        let lists = [&mut self.categorical, &mut self.text, &mut self.dates, &mut self.drop].into_iter();
        let lists = lists.chain(self.target.as_mut()).chain(self.only.as_mut());
        for list in lists.chain(self.views.iter_mut().map(|(_, columns)| columns)) {
            *list = rejoined(list, &names);
        }
    }

    /// The target fields.
    pub(super) fn targets(&self, table: &Table) -> Result<Vec<usize>, DataError> {
        match &self.target {
            None => Ok(table.target.into_iter().collect()),
            Some(names) => places(table, names),
        }
    }
}

impl SchemaOptions {
    /// The field of the weights, which must not be a target.
    pub(super) fn weight_field(&self, table: &Table, targets: &[usize]) -> Result<Option<usize>, DataError> {
        let Some(name) = &self.weights else { return Ok(None) };
        let field = table.find(name)?;
        if targets.contains(&field) {
            let column = &table.fields[field].name;
            let finding = format!(
                "column \"{column}\" is the target and cannot hold the weights, too; name another target with --target"
            );
            return Err(usage(finding));
        }
        Ok(Some(field))
    }
}

impl SchemaOptions {
    /// For each field of a table, whether it is left out: dropped, or not among the columns that are learned from.
    ///
    /// # Errors
    /// If a column does not exist, or the options want it elsewhere.
    pub(super) fn left_out(
        &self,
        table: &Table,
        targets: &[usize],
        weights: Option<usize>,
    ) -> Result<Vec<bool>, DataError> {
        let mut out = vec![false; table.fields.len()];
        if let Some(only) = &self.only {
            out.fill(true);
            places(table, only)?.into_iter().for_each(|field| out[field] = false);
        }
        for field in places(table, &self.drop)? {
            let part = match (targets.contains(&field), weights == Some(field)) {
                (true, _) => "is the target",
                (_, true) => "holds the weights",
                _ if self.only.is_some() && !out[field] => "is among the columns to be kept",
                _ => {
                    out[field] = true;
                    continue;
                }
            };
            let column = &table.fields[field].name;
            return Err(usage(format!("column \"{column}\" {part} and cannot be dropped; leave it out of --drop")));
        }
        targets.iter().copied().chain(weights).for_each(|field| out[field] = false);
        let cells = self.cells.iter().map(|(name, _)| name);
        for name in
            self.text.iter().filter(|name| *name != "*").chain(&self.categorical).chain(&self.dates).chain(cells)
        {
            for field in places(table, std::slice::from_ref(name))? {
                if out[field] {
                    let column = &table.fields[field].name;
                    return Err(usage(format!(
                        "column \"{column}\" is left out, but other options or the kernel name it; leave it out there or keep it"
                    )));
                }
            }
        }
        Ok(out)
    }

    /// A table without the columns that are left out.
    ///
    /// # Errors
    /// If a column does not exist, or the options want it elsewhere.
    pub fn narrowed(&self, mut table: Table) -> Result<Table, DataError> {
        let targets = self.targets(&table)?;
        let out = self.left_out(&table, &targets, self.weight_field(&table, &targets)?)?;
        let mut places = 0..;
        table.target = table.target.filter(|&t| !out[t]).map(|t| t - out[..t].iter().filter(|out| **out).count());
        table.fields.retain(|_| places.next().is_some_and(|place: usize| !out[place]));
        Ok(table)
    }
}

/// A list of columns that was split at commas, with those names whole that have commas; what is a name as it stands stays alone.
pub(in super::super) fn rejoined<T: AsRef<str>>(list: &[String], names: &[T]) -> Vec<String> {
    let names = || names.iter().map(AsRef::as_ref);
    let parted: Vec<(&str, Vec<String>)> =
        names().filter(|name| name.contains(',')).map(|name| (name, SchemaOptions::columns(name))).collect();
    let (mut whole, mut rest) = (Vec::with_capacity(list.len()), list);
    while let [first, others @ ..] = rest {
        let begins = |parts: &[String]| !parts.is_empty() && rest.starts_with(parts);
        let found = parted.iter().find(|(_, parts)| begins(parts)).filter(|_| !names().any(|name| name == first));
        match found {
            Some((name, parts)) => {
                whole.push((*name).to_owned());
                rest = &rest[parts.len()..];
            }
            None => {
                whole.push(first.clone());
                rest = others;
            }
        }
    }
    whole
}

/// The fields of a list of names, numbers and ranges; an error if one is named twice.
pub(super) fn places(table: &Table, names: &[String]) -> Result<Vec<usize>, DataError> {
    let mut found = Vec::new();
    for name in names {
        match (table.find(name), range(table, name)) {
            (Ok(place), _) => found.push(place),
            (Err(_), Some(range)) => found.extend(range),
            (Err(error), None) => return Err(error),
        }
    }
    for (k, place) in found.iter().enumerate() {
        if found[..k].contains(place) {
            return Err(usage(format!("column \"{}\" is named twice", table.fields[*place].name)));
        }
    }
    Ok(found)
}

/// `first-last`, both named or numbered.
fn range(table: &Table, text: &str) -> Option<std::ops::RangeInclusive<usize>> {
    text.match_indices('-').find_map(|(at, _)| {
        let (first, last) = (table.find(&text[..at]).ok()?, table.find(&text[at + 1..]).ok()?);
        (at > 0 && first <= last).then_some(first..=last)
    })
}

pub(super) fn usage(finding: String) -> DataError {
    DataError::Usage { finding }
}
