//! Learning a schema on the training table.

use super::super::read::is_missing_mark;
use super::super::{DataError, Dataset, FieldData, Kind, Rows, Scalar, Scale, Scaler, Table, Values, View};
use super::marks::{Marked, of_kind, settled};
use super::options::{Missing, SchemaOptions, places, usage};
use super::strangers::Strangers;
use super::take::{
    is_block, is_number, missing, missing_rows, numbers, refuse_decimal_commas, target, weights as weights_of, words,
};
use super::wide::{Wide, is_wide};
use super::{Code, ColumnSchema, Content, FieldRef, Schema, ViewSchema, Wanted, dense_scale, encode, remarks};
use std::collections::BTreeMap;

const REMEDY: &str = "fill it in, or use --missing mean or --missing drop";

/// The user's words, turned into places.
struct Wishes<'a> {
    options: &'a SchemaOptions,
    targets: Vec<usize>,
    weights: Option<usize>,
    /// For each field, whether it is not learned from.
    out: Vec<bool>,
    categorical: Vec<usize>,
    /// Columns of dates.
    dates: Vec<usize>,
    /// Columns whose cells are whole examples, and their kinds.
    cells: Vec<(usize, Kind)>,
}

/// A schema, and what it makes of the table that it was learned from.
pub(super) struct Learned {
    pub(super) schema: Schema,
    pub(super) data: Dataset,
    /// Remarks about the columns.
    pub(super) remarks: Vec<String>,
    /// The number of rows that were left out because something was missing in them.
    pub(super) left_out: usize,
}

/// Learns the views that are wanted, or all.
pub(super) fn learn(table: &Table, options: &SchemaOptions, wanted: Option<&Wanted>) -> Result<Learned, DataError> {
    let targets = options.targets(table)?;
    let weights = options.weight_field(table, &targets)?;
    let out = options.left_out(table, &targets, weights)?;
    let inputs = (0..table.fields.len()).filter(|&f| !targets.contains(&f) && Some(f) != weights && !out[f]);
    let text = if options.text.iter().any(|t| t == "*") { inputs.collect() } else { places(table, &options.text)? };
    let mut cells: Vec<(usize, Kind)> = Vec::new();
    for (column, kind) in &options.cells {
        cells.push((table.find(column)?, *kind));
    }
    cells.extend(text.into_iter().map(|field| (field, Kind::Text)));
    let (categorical, dates) = (places(table, &options.categorical)?, places(table, &options.dates)?);
    if let Some(&twice) = dates.iter().find(|date| categorical.contains(date) || cells.iter().any(|(f, _)| f == *date))
    {
        let column = &table.fields[twice].name;
        return Err(usage(format!("column \"{column}\" cannot be dates and something else, too; name it once")));
    }
    let wishes = Wishes { options, targets, weights, out, categorical, dates, cells };
    // a word among the labels is a label
    let how = |field: usize| {
        if wishes.kind(field).is_some() {
            Marked::Not
        } else if wishes.dates.contains(&field) {
            Marked::Dates
        } else if wishes.categorical.contains(&field) {
            Marked::Spelled
        } else if wishes.targets.contains(&field) {
            Marked::Named
        } else {
            Marked::Usual
        }
    };
    let settled = settled(table, &options.missing_words, how)?;
    let table = settled.as_ref();
    let groups = wishes.groups(table)?;
    for (g, (name, _)) in groups.iter().enumerate() {
        if groups[..g].iter().any(|(before, _)| before == name) {
            return Err(usage(format!(
                "two views are called \"{name}\" (columns that no view names are one of their own, x); give one another name with --view NAME={name}"
            )));
        }
    }
    let kind_of = |fields: &[usize]| match fields {
        &[field] => wishes.kind(field).unwrap_or(Kind::Vectors),
        _ => Kind::Vectors,
    };
    let (groups, mut said) = match wanted {
        Some(wanted) => remarks::used(groups, wanted, kind_of, table),
        None => (groups, Vec::new()),
    };
    // what nobody looks at may be missing
    let asked = groups.iter().flat_map(|(_, fields)| fields).chain(&wishes.targets).chain(&wishes.weights);
    let asked: Vec<usize> = asked.copied().filter(|&f| wishes.kind(f) != Some(Kind::Text)).collect();
    let (fewer, whole) = (without_missing(table, options.missing, &asked)?, table.len);
    let table = fewer.as_ref().unwrap_or(table);
    refuse_missing_target(table, &wishes)?;
    let (mut schemas, mut views) = (Vec::new(), Vec::new());
    for (name, fields) in groups {
        let (content, values) = wishes.view(table, &name, &fields)?;
        schemas.push(ViewSchema { name: name.clone(), content });
        views.push(View { name, values });
    }
    for raw in &options.raw {
        if !schemas.iter().any(|v| &v.name == raw) && table.find(raw).is_err() {
            let names: Vec<&str> = schemas.iter().map(|v| v.name.as_str()).collect();
            let remedy = format!("views are {}", names.join(", "));
            return Err(DataError::NoSuch { what: "view", name: raw.clone(), remedy });
        }
    }
    if views.is_empty() {
        let left = if wishes.out.contains(&true) { " that is not left out" } else { "" };
        return Err(usage(format!("{} has no column besides the target{left}", table.file)));
    }
    let mut data = Dataset::from_views(views)?;
    if let Some(target) = target(table, &wishes.targets, &wishes.categorical)? {
        data = data.with_target(target)?;
    }
    if let Some(field) = wishes.weights {
        data = data.with_weights(weights_of(table, field)?)?;
    }
    let schema = Schema {
        named: table.named,
        fields: table.fields.len(),
        targets: wishes.targets.iter().map(|&t| reference(table, t)).collect(),
        weights: wishes.weights.map(|w| reference(table, w)),
        views: schemas,
        missing: options.missing,
        unseen: options.unseen,
        missing_words: options.missing_words.clone(),
        spelled: wishes.spelled(table),
        target_words: wishes.targets.iter().any(|&t| has_words_like_numbers(&table.fields[t].data)),
        guesses_target: false,
    };
    said.extend(remarks::of_columns(&schema, table));
    Ok(Learned { left_out: whole - table.len, schema, data, remarks: said })
}

/// True for words some of which are spelled as numbers.
fn has_words_like_numbers(data: &FieldData) -> bool {
    match data {
        FieldData::Words(cells) | FieldData::Mixed { cells, .. } => cells.kept().any(is_number),
        _ => false,
    }
}

fn reference(table: &Table, place: usize) -> FieldRef {
    FieldRef { name: table.fields[place].name.clone(), place }
}

fn refuse_missing_target(table: &Table, wishes: &Wishes) -> Result<(), DataError> {
    for &field in &wishes.targets {
        if let Some(&row) = missing_rows(&table.fields[field]).first() {
            return Err(missing(
                table,
                field,
                row,
                "the target must be known; use --missing drop to leave such rows out",
            ));
        }
    }
    Ok(())
}

/// The table without rows that lack an entry of some fields, where such rows are left out.
fn without_missing(table: &Table, way: Missing, fields: &[usize]) -> Result<Option<Table>, DataError> {
    if way != Missing::Drop {
        return Ok(None);
    }
    let mut keep = vec![true; table.len];
    for &field in fields {
        missing_rows(&table.fields[field]).into_iter().for_each(|row| keep[row] = false);
    }
    let keep: Vec<usize> = (0..table.len).filter(|&row| keep[row]).collect();
    if keep.is_empty() {
        return Err(DataError::Empty { place: format!("{} without rows that have missing entries", table.file) });
    }
    let mut fewer = table.select(&keep);
    // a column of numbers and words may be one of either by now
    for field in &mut fewer.fields {
        if let FieldData::Mixed { cells, .. } = &field.data {
            field.data = of_kind(cells.clone());
        }
    }
    Ok(Some(fewer))
}

/// Mean number of characters from which cells are taken for running text rather than categories.
const MIN_CHARACTERS_OF_TEXT: usize = 20;

/// True for a column of words that are mostly long.
fn is_running_text(data: &FieldData) -> bool {
    let (FieldData::Words(cells) | FieldData::Mixed { cells, .. }) = data else { return false };
    let (mut characters, mut count) = (0, 0);
    for cell in cells.iter().filter(|cell| !cell.is_empty() && !is_number(cell)) {
        characters += cell.chars().count();
        count += 1;
    }
    count > 0 && characters >= MIN_CHARACTERS_OF_TEXT * count
}

impl Wishes<'_> {
    /// The kind of a column whose cells are whole examples.
    fn kind(&self, field: usize) -> Option<Kind> {
        self.cells.iter().find(|(f, _)| *f == field).map(|(_, kind)| *kind)
    }

    /// The names of columns that are declared to be words; of targets, those with a mark among their labels.
    fn spelled(&self, table: &Table) -> Vec<String> {
        let has_mark = |field: usize| match &table.fields[field].data {
            FieldData::Words(cells) | FieldData::Mixed { cells, .. } => cells.kept().any(is_missing_mark),
            _ => false,
        };
        let declared = self.cells.iter().map(|(field, _)| *field).chain(self.categorical.iter().copied());
        let kept = declared.filter(|&f| !self.out[f] && (!self.targets.contains(&f) || has_mark(f)));
        kept.map(|f| table.fields[f].name.clone()).collect()
    }

    /// The fields of each view: the columns without a name first, then blocks and texts, then named groups.
    fn groups(&self, table: &Table) -> Result<Vec<(String, Vec<usize>)>, DataError> {
        let mut named: Vec<(String, Vec<usize>)> = Vec::new();
        for (name, columns) in &self.options.views {
            let fields = places(table, columns)?;
            if let Some(&field) = fields.iter().find(|f| self.targets.contains(f)) {
                let column = &table.fields[field].name;
                return Err(usage(format!("column \"{column}\" is the target and cannot be in view {name}")));
            }
            if let Some(field) = self.weights.filter(|w| fields.contains(w)) {
                let column = &table.fields[field].name;
                return Err(usage(format!("column \"{column}\" holds the weights and cannot be in view {name}")));
            }
            if let Some(&field) = fields.iter().find(|&&f| self.out[f]) {
                let column = &table.fields[field].name;
                return Err(usage(format!(
                    "column \"{column}\" is left out and cannot be in view {name}; keep it or leave it out there"
                )));
            }
            named.push((name.clone(), fields));
        }
        let free: Vec<usize> = (0..table.fields.len())
            .filter(|f| !self.targets.contains(f) && Some(*f) != self.weights && !self.out[*f])
            .filter(|f| !named.iter().any(|(_, fields)| fields.contains(f)))
            .collect();
        let alone = |&f: &usize| is_block(&table.fields[f]) || self.kind(f).is_some();
        let x_taken = free.iter().any(|f| alone(f) && table.fields[*f].name == "x");
        let (single, columns): (Vec<usize>, Vec<usize>) = free.into_iter().partition(|f| alone(f) || x_taken);
        let mut groups = Vec::new();
        if !columns.is_empty() {
            groups.push(("x".to_owned(), columns));
        }
        groups.extend(single.into_iter().map(|f| (table.fields[f].name.clone(), vec![f])));
        groups.extend(named);
        Ok(groups)
    }

    fn view(&self, table: &Table, name: &str, fields: &[usize]) -> Result<(Content, Values), DataError> {
        if let &[field] = fields {
            if let Some(kind) = self.kind(field) {
                let name = (kind != Kind::Text).then(|| kind.entry().name.to_owned());
                let content = Content::Cells { field: reference(table, field), kind: name };
                return Ok((content, encode::cells(table, field, kind)?));
            }
            if is_block(&table.fields[field]) {
                return self.block(table, name, field);
            }
        }
        if let Some(&odd) = fields.iter().find(|&&f| self.kind(f).is_some() || is_block(&table.fields[f])) {
            let column = &table.fields[odd].name;
            return Err(usage(format!("view {name} mixes \"{column}\" with other columns; give it a view of its own")));
        }
        let mut columns = Vec::with_capacity(fields.len());
        let mut fixed = Vec::new();
        for &field in fields {
            let raw = self.is_raw(name) || self.is_raw(&table.fields[field].name);
            let code = self.code(table, field, raw)?;
            fixed.resize(fixed.len() + code.width(), raw || matches!(code, Code::Categories { .. }));
            columns.push(ColumnSchema { field: reference(table, field), code });
        }
        let scale = self.scale(name);
        if let Some(remedy) = self.remedy().filter(|_| is_wide(&columns, scale != Scale::None)) {
            let wide = Wide::of(table, &columns, fields, remedy, &mut Strangers::refused())?;
            let scaler = wide.learn(scale, &fixed);
            let values = wide.vectors(scaler.as_ref());
            return Ok((Content::Columns { columns, scaler, sparse: true }, values));
        }
        let mut rows = encode::columns(table, &columns, fields, self.remedy(), &mut Strangers::refused())?;
        let scaler = Scaler::learn(scale, &rows, &fixed);
        if let Some(scaler) = &scaler {
            scaler.apply(&mut rows);
        }
        Ok((Content::Columns { columns, scaler, sparse: false }, rows.into()))
    }

    /// The remedy for a missing entry; none where they are kept.
    fn remedy(&self) -> Option<&'static str> {
        (self.options.missing != Missing::Keep).then_some(REMEDY)
    }

    fn is_raw(&self, name: &str) -> bool {
        self.options.raw.iter().any(|r| r == name)
    }

    fn scale(&self, view: &str) -> Scale {
        if self.is_raw(view) { Scale::None } else { dense_scale(self.options.scale) }
    }

    fn code(&self, table: &Table, field: usize, raw: bool) -> Result<Code, DataError> {
        let mean = self.options.missing == Missing::Mean;
        let is_words = matches!(table.fields[field].data, FieldData::Words(_));
        if !raw && (is_words || self.categorical.contains(&field)) {
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            let cells = words(table, field)?;
            if !self.categorical.contains(&field) {
                refuse_decimal_commas(table, field, &cells)?;
            }
            cells.iter().filter(|c| !c.is_empty()).for_each(|c| *counts.entry(c).or_default() += 1);
            let most = counts.values().copied().max();
            let fill = counts.values().position(|&c| Some(c) == most).filter(|_| mean);
            return Ok(Code::Categories { words: counts.into_keys().map(str::to_owned).collect(), fill });
        }
        let name = &table.fields[field].name;
        let remedy = if is_running_text(&table.fields[field].data) {
            format!(", or use --text {name} with a kernel on strings, such as 'spectrum(length=3)@{name}'")
        } else {
            format!(", or use --categorical {name}")
        };
        let values = numbers(table, field, &remedy)?;
        let present = values.iter().filter(|v| !v.is_nan());
        let count = present.clone().count();
        if mean && count == 0 {
            let name = &table.fields[field].name;
            return Err(usage(format!("every entry of column \"{name}\" is missing; leave that column out")));
        }
        let fill = mean.then(|| present.sum::<f64>() / count as f64);
        Ok(Code::Number { fill, date: self.dates.contains(&field) })
    }

    fn block(&self, table: &Table, name: &str, field: usize) -> Result<(Content, Values), DataError> {
        let about = reference(table, field);
        match &table.fields[field].data {
            FieldData::Matrix(rows) => self.dense(table, name, about, rows.clone(), false),
            FieldData::Matrix32(rows) => self.dense(table, name, about, rows.clone(), true),
            FieldData::Sparse(rows) => {
                let unit = match self.options.scale {
                    Some(Scale::Unit) => !self.is_raw(name),
                    Some(scale @ (Scale::Standard | Scale::Minmax)) if !self.is_raw(name) => {
                        let word = Scale::WORDS.iter().find(|(_, s)| *s == scale).map_or("", |(w, _)| w);
                        let finding =
                            format!("--scale {word} would fill the zeros of sparse vectors; use unit or none");
                        return Err(usage(finding));
                    }
                    _ => false,
                };
                let mut rows = rows.clone();
                if unit {
                    encode::unit_sparse(&mut rows);
                }
                Ok((Content::Sparse { field: about, width: rows.width(), unit }, rows.into()))
            }
            _ => Err(usage(format!("\"{name}\" is not a block of columns"))),
        }
    }

    fn dense<S: Scalar>(
        &self,
        table: &Table,
        name: &str,
        field: FieldRef,
        mut rows: Rows<S>,
        narrow: bool,
    ) -> Result<(Content, Values), DataError>
    where
        Values: From<Rows<S>>,
    {
        let fill = (self.options.missing == Missing::Mean).then(|| encode::block_means(&rows, name)).transpose()?;
        encode::fill_block(&mut rows, fill.as_deref(), table, name, self.remedy())?;
        let scaler = Scaler::learn(self.scale(name), &rows, &[]);
        if let Some(scaler) = &scaler {
            scaler.apply(&mut rows);
        }
        Ok((Content::Block { field, width: rows.width(), narrow, fill, scaler }, rows.into()))
    }
}
