//! What a reader must know of a model's columns before it reads a new file: which of them are words, whatever they look like.
//!
//! Columns are known by name where both files name theirs, else by their places. A file without names may lack some columns, so that its
//! places are not those of the training file; how many columns it has tells which are there.

use super::super::read::ReadOptions;
use super::{Code, Content, FieldRef, Schema, ViewSchema};
use std::collections::{BTreeMap, BTreeSet};

/// The columns of a training file by their places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// True if the training file named its columns.
    named: bool,
    /// The number of its columns.
    all: usize,
    targets: BTreeSet<usize>,
    weights: BTreeSet<usize>,
    /// Those that views are made of.
    used: BTreeSet<usize>,
    words: BTreeSet<usize>,
    spelled: BTreeSet<usize>,
}

impl Layout {
    pub(super) fn of(schema: &Schema) -> Self {
        let views = || schema.views.iter().flat_map(ViewSchema::fields);
        let places = |fields: &[FieldRef]| fields.iter().map(|field| field.place).collect();
        let spelled = views().chain(&schema.targets).filter(|field| schema.spelled.contains(&field.name));
        Self {
            named: schema.named,
            all: schema.fields,
            targets: places(&schema.targets),
            weights: schema.weights.iter().map(|field| field.place).collect(),
            used: views().map(|field| field.place).collect(),
            words: schema.word_fields().into_iter().map(|field| field.place).collect(),
            spelled: spelled.map(|field| field.place).collect(),
        }
    }

    /// True if its columns are known by name in a file that names its own.
    pub(in super::super) fn is_named(&self) -> bool {
        self.named
    }

    /// For each column of a file without names whether it is words, and whether its marks of missing entries are words, too; none of them
    /// where that file cannot be one of these columns, which is told when it is applied.
    pub(in super::super) fn words(&self, width: usize) -> (Vec<bool>, Vec<bool>) {
        let places = self.places(width).unwrap_or_default();
        let of = |fields: &BTreeSet<usize>| {
            let mut are = vec![false; width];
            let there = fields.iter().filter_map(|field| places.get(field));
            there.for_each(|&place| are.iter_mut().skip(place).take(1).for_each(|flag| *flag = true));
            are
        };
        (of(&self.words), of(&self.spelled))
    }

    /// The places of the training file's columns in a file without names that has so many: all of them in the same order, or all but the
    /// target, the weights, the columns that were left out, or several of these. The error is a finding about the file.
    pub(super) fn places(&self, got: usize) -> Result<BTreeMap<usize, usize>, String> {
        let (all, targets, weights) = (self.all, &self.targets, &self.weights);
        let known: BTreeSet<usize> = self.used.iter().chain(targets).chain(weights).copied().collect();
        // the parts that a file may lack, and how many columns each of them is; a set of parts is a number of three bits
        let parts = [
            ("weights", weights.len()),
            ("target", targets.len()),
            ("columns that were left out", all.saturating_sub(known.len())),
        ];
        let among = |set: usize| parts.iter().enumerate().filter(move |(part, _)| set >> part & 1 == 1).map(|(_, p)| p);
        let size = |set: usize| -> usize { among(set).map(|(_, columns)| columns).sum() };
        let told = |set: usize| match among(set).map(|(name, _)| *name).rev().collect::<Vec<_>>().as_slice() {
            [only] => format!("the {only}"),
            several => several.join(" and "),
        };
        let sets = || (0..8_usize).filter(|&set| among(set).all(|(_, columns)| *columns > 0));
        // where each field stands if some are not there; only asked for as many as the file has
        let without = |lacking: usize| -> BTreeMap<usize, usize> {
            let there = |place: &usize| {
                !(lacking & 1 == 1 && weights.contains(place) || lacking & 2 == 2 && targets.contains(place))
            };
            if lacking & 4 == 4 {
                known.iter().copied().filter(there).zip(0..got).collect()
            } else {
                (0..all).filter(there).zip(0..got).collect()
            }
        };
        let mut possible = sets().filter(|&lacking| got + size(lacking) == all);
        let Some(first) = possible.next() else {
            let inputs = all.saturating_sub(size(7));
            let most = sets().next_back().unwrap_or_default();
            let with = if most == 0 { String::new() } else { format!(", or {all} with {}", told(most)) };
            return Err(format!("has {got} columns, but the model was trained on {inputs}{with}"));
        };
        let places = without(first);
        if let Some(other) = possible.find(|&other| !self.same_inputs(&places, &without(other))) {
            return Err(format!(
                "has {got} columns without names, and either {} or {} are missing; give both, or neither, or name the columns",
                told(other),
                told(first)
            ));
        }
        Ok(places)
    }

    /// True if all features stand at the same places either way.
    fn same_inputs(&self, a: &BTreeMap<usize, usize>, b: &BTreeMap<usize, usize>) -> bool {
        self.used.iter().all(|field| a.get(field) == b.get(field))
    }
}

impl Schema {
    /// Options of a reader, with what it must know of the columns of a new file.
    #[must_use]
    pub fn reading(&self, options: ReadOptions) -> ReadOptions {
        ReadOptions {
            words: self.word_columns(),
            spelled: self.spelled_columns(),
            names: self.header_names(),
            layout: Some(Layout::of(self)),
            ..options
        }
    }

    /// The columns that are categories, text or other examples in one cell, and targets of words that are spelled as numbers: a reader of new
    /// files must keep them as words, whatever they look like.
    pub fn word_columns(&self) -> Vec<String> {
        self.word_fields().into_iter().map(|field| field.name.clone()).collect()
    }

    fn word_fields(&self) -> Vec<&FieldRef> {
        let mut fields = Vec::new();
        for view in &self.views {
            match &view.content {
                Content::Columns { columns, .. } => {
                    let words = columns
                        .iter()
                        .filter(|c| matches!(c.code, Code::Categories { .. } | Code::Number { date: true, .. }));
                    fields.extend(words.map(|c| &c.field));
                }
                Content::Cells { field, .. } => fields.push(field),
                Content::Block { .. } | Content::Sparse { .. } => {}
            }
        }
        fields.extend(self.targets.iter().filter(|_| self.target_words));
        fields
    }

    /// The columns in which a mark of missing entries is a word like others, for a reader of new files.
    pub fn spelled_columns(&self) -> Vec<String> {
        self.spelled.clone()
    }

    /// The names of its columns, of which a header has some, if the training file had one, else none; `None` where it was made of blocks,
    /// which say nothing about headers.
    pub fn header_names(&self) -> Option<Vec<String>> {
        let block = |v: &ViewSchema| matches!(v.content, Content::Block { .. } | Content::Sparse { .. });
        if self.views.iter().any(block) {
            return None;
        }
        let fields = self.views.iter().flat_map(ViewSchema::fields).chain(&self.targets).chain(&self.weights);
        Some(fields.filter(|_| self.named).map(|f| f.name.clone()).collect())
    }
}
