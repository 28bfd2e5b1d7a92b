//! Columns of a file as a kernel's formula wants them, where the user says nothing.
//!
//! A formula names views and wants a kind of example in each. Before a file is read, that decides which columns are kept as words
//! ([`SchemaOptions::expect`]); once it is read, which columns become views ([`SchemaOptions::infer`]).

use super::super::read::find as find_format;
use super::super::{DataError, FieldData, Kind, Scale, Table};
use super::{Missing, SchemaOptions};

/// Wishes of a formula about the data.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Every view that it looks at (`None`: not named), with the kind of examples wanted there.
    pub views: Vec<(Option<String>, Kind)>,
    /// Views of vectors whose columns are members of sets.
    pub members: Vec<Option<String>>,
}

impl SchemaOptions {
    /// Takes from a formula what must be known before a file is read: which columns hold whole examples and which stay as they are.
    /// `missing_given`: whether the user said what to do about missing entries.
    ///
    /// Unless the user says otherwise, columns of members are not scaled one by one, since they belong together, and a member
    /// that is missing is no member.
    pub fn expect(&mut self, wanted: &Wanted, missing_given: bool) {
        for (name, kind) in &wanted.views {
            match (kind, name) {
                (Kind::Text, Some(name)) if !self.text.contains(name) => self.text.push(name.clone()),
                (Kind::Other(_), Some(name)) if !self.cells.iter().any(|(n, _)| n == name) => {
                    self.cells.push((name.clone(), *kind));
                }
                (Kind::Precomputed, name) => self.raw.push(name.clone().unwrap_or_else(|| "x".to_owned())),
                _ => {}
            }
        }
        if !wanted.members.is_empty() && !missing_given {
            self.missing = Missing::Keep;
        }
        if self.scale.is_none() {
            for view in &wanted.members {
                match view {
                    Some(name) => self.raw.push(name.clone()),
                    None => self.scale = Some(Scale::None),
                }
            }
        }
    }

    /// The columns that a reader must keep as words, whatever they look like.
    pub fn word_columns(&self) -> Vec<String> {
        let cells = self.cells.iter().map(|(name, _)| name);
        self.categorical.iter().chain(&self.dates).chain(&self.text).chain(cells).cloned().collect()
    }

    /// The columns of these in which a reader must keep marks of missing entries as they are spelled: those that are declared to be
    /// categories, text or other examples in one cell.
    pub fn spelled_columns(&self) -> Vec<String> {
        let cells = self.cells.iter().map(|(name, _)| name);
        self.categorical.iter().chain(&self.text).chain(cells).cloned().collect()
    }

    /// Takes from a formula and a table what the user left open: views that the formula names become columns, an unnamed kernel on
    /// cells takes the only column of words, and a target of numbers and words is classes unless numbers are to be predicted.
    ///
    /// # Errors
    /// If a target or view names no column, or several columns could be meant.
    pub fn infer(&mut self, table: &Table, wanted: &Wanted, numbers: bool) -> Result<(), DataError> {
        self.infer_views(table, wanted)?;
        if numbers { Ok(()) } else { self.infer_classes(table) }
    }

    /// Drops annotations that nobody names: names and qualities of sequences are columns like others, but learned from only if
    /// somebody asks for them.
    pub fn drop_annotations(&self, table: &mut Table, wanted: &Wanted) {
        let Some(main) = find_format(table.format).and_then(|format| format.main_column) else { return };
        let target = table.target.map(|t| table.fields[t].name.clone());
        let named = |name: &str| {
            let lists = [&self.categorical, &self.dates, &self.text, &self.raw, &self.drop].into_iter();
            let lists = lists.chain(self.target.as_ref()).chain(self.only.as_ref());
            name == main
                || (self.target.is_none() && target.as_deref() == Some(name))
                || lists.flatten().chain(self.views.iter().flat_map(|(_, columns)| columns)).any(|n| n == name)
                || self.cells.iter().any(|(n, _)| n == name)
                || self.weights.as_deref() == Some(name)
                || wanted.views.iter().any(|(view, _)| view.as_deref() == Some(name))
        };
        table.fields.retain(|f| named(&f.name));
        table.target = target.and_then(|name| table.fields.iter().position(|f| f.name == name));
    }

    /// Views that the formula names but nobody declared are columns; an unnamed kernel on cells takes the only column of words.
    fn infer_views(&mut self, table: &Table, wanted: &Wanted) -> Result<(), DataError> {
        let target: Vec<usize> = match &self.target {
            None => table.target.into_iter().collect(),
            Some(names) => names.iter().map(|n| table.find(n)).collect::<Result<_, _>>()?,
        };
        for (name, kind) in &wanted.views {
            match (*kind, name) {
                (Kind::Vectors, Some(name)) if name != "x" && !self.views.iter().any(|(v, _)| v == name) => {
                    let column = table.fields.iter().position(|f| f.name == *name);
                    if column.is_some_and(|c| is_single(&table.fields[c].data)) {
                        self.views.push((name.clone(), vec![name.clone()]));
                    }
                }
                (Kind::Text, None) if self.text.is_empty() => {
                    let column = self.only_words(table, &target, Kind::Text)?;
                    self.text.push(column);
                }
                (kind @ Kind::Other(_), None) if !self.cells.iter().any(|(_, k)| *k == kind) => {
                    let column = self.only_words(table, &target, kind)?;
                    self.cells.push((column, kind));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The only column of words that is neither target nor taken by another view.
    fn only_words(&self, table: &Table, target: &[usize], kind: Kind) -> Result<String, DataError> {
        let out = self.left_out(table, target, self.weight_field(table, target)?)?;
        let taken = |name: &str| self.cells.iter().any(|(n, _)| n == name);
        let words: Vec<&str> = (0..table.fields.len())
            .filter(|i| !target.contains(i) && !out[*i])
            .map(|i| &table.fields[i])
            .filter(|f| matches!(f.data, FieldData::Words(_) | FieldData::Mixed { .. }) && !taken(&f.name))
            .map(|f| f.name.as_str())
            .collect();
        let finding = match (words.as_slice(), kind) {
            ([only], _) => return Ok((*only).to_owned()),
            ([], Kind::Text) => format!("{} has no column of words for a string kernel", table.file),
            ([], kind) => format!("{} has no column of words that could hold {kind}", table.file),
            (_, Kind::Text) => format!("{} has several columns of words; name one with --text", table.file),
            (several, kind) => {
                format!(
                    "{} has several columns of words; say which holds {kind} with @: {}",
                    table.file,
                    several.join(", ")
                )
            }
        };
        Err(DataError::Usage { finding })
    }

    /// A target of numbers and words is classes; only a regressor needs numbers.
    fn infer_classes(&mut self, table: &Table) -> Result<(), DataError> {
        let target = match self.target.as_deref() {
            None => table.target,
            Some([name]) => Some(table.find(name)?),
            Some(_) => None,
        };
        let mixed = target.map(|t| &table.fields[t]).filter(|f| matches!(f.data, FieldData::Mixed { .. }));
        if let Some(field) = mixed.filter(|f| !self.categorical.contains(&f.name)) {
            self.categorical.push(field.name.clone());
        }
        Ok(())
    }
}

/// True if a field is one column.
fn is_single(data: &FieldData) -> bool {
    matches!(data, FieldData::Numbers { .. } | FieldData::Words(_) | FieldData::Mixed { .. })
}
