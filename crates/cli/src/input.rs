//! From flags and a file to data.

use crate::failure::Failure;
use crate::watch::Watch;
use crate::{arguments, show};
use clap::ArgMatches;
use clap::parser::ValueSource;
use mercer::conformal::{Recipe, Regions};
use mercer::data::read::{ReadOptions, read};
use mercer::data::{DataError, Dataset, FieldData, Kind, Missing, Scale, Schema, SchemaOptions, Table};
use mercer::formula::Formula;
use mercer::machines::{Learns, Output};
use mercer::model::{Model, Predictor};
use mercer::solvers::{Monitor, Progress, SolveError};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// A training file, and what its columns mean.
pub(crate) struct Training {
    pub(crate) schema: Schema,
    pub(crate) data: Dataset,
}

/// What the flags say about the columns of a file.
fn schema_options(flags: &ArgMatches) -> Result<SchemaOptions, Failure> {
    let columns = |id: &str| flags.get_one::<String>(id).map(|t| SchemaOptions::columns(t)).unwrap_or_default();
    let mut options = SchemaOptions {
        categorical: columns("categorical"),
        text: columns("text"),
        missing: word(flags, "missing", &Missing::WORDS).unwrap_or_default(),
        scale: word(flags, "scale", &Scale::WORDS),
        ..SchemaOptions::default()
    };
    if let Some(target) = flags.get_one::<String>("target") {
        options.set_target(target);
    }
    // groups are classes whatever they are called
    if let Some(groups) = flags.try_get_one::<String>("groups").ok().flatten() {
        options.set_target(groups);
        options.categorical.extend(SchemaOptions::columns(groups));
    }
    // pixels are only an image as long as their columns are not scaled one by one
    if flags.try_get_one::<String>("transform").is_ok_and(|t| t.is_some()) && options.scale.is_none() {
        options.scale = Some(Scale::None);
    }
    options.weights = flags.try_get_one::<String>("weights").ok().flatten().cloned();
    for view in flags.get_many::<String>("view").into_iter().flatten() {
        options.add_view(view)?;
    }
    Ok(options)
}

/// Reads a file as it is, with what the flags say about its columns.
pub(crate) fn raw(path: &Path, flags: &ArgMatches) -> Result<(Table, SchemaOptions), Failure> {
    let options = schema_options(flags)?;
    let mut reading = read_options(flags)?;
    reading.words = options.categorical.iter().chain(&options.text).cloned().collect();
    Ok((read_table(path, &reading)?, options))
}

/// Reads a training file and learns its schema.
pub(crate) fn training(
    path: &Path,
    flags: &ArgMatches,
    formula: &Formula,
    learns: Learns,
) -> Result<Training, Failure> {
    Ok(training_apart(path, flags, formula, learns, None)?.0)
}

/// What scaled and coded the columns of a training file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scaled {
    /// There is nothing that examples could have given.
    Unlearned,
    /// Examples that are never held out.
    ByTheKept,
    /// All examples, also those that are held out.
    ByAll,
}

/// The same; where a recipe holds examples out, those that it keeps scale and code the columns alone if they can.
pub(crate) fn training_apart(
    path: &Path,
    flags: &ArgMatches,
    formula: &Formula,
    learns: Learns,
    recipe: Option<&Recipe>,
) -> Result<(Training, Scaled), Failure> {
    let (mut options, reading) = prepared(flags, formula)?;
    let mut table = read_table(path, &reading)?;
    keep_sequences(&mut table, &options, formula);
    settle_views(&table, formula, &mut options)?;
    if learns != Learns::Numbers {
        settle_target(&table, &mut options)?;
    }
    let (schema, data) = Schema::learn_and_apply(&table, &options)?;
    if data.is_empty() {
        return Err(DataError::Empty { place: path.display().to_string() }.into());
    }
    if schema.learned_bits() == 0.0 {
        return Ok((Training { schema, data }, Scaled::Unlearned));
    }
    if let Some(recipe) = recipe.filter(|_| data.len() > 1 && data.len() == table.len) {
        let (_, kept) = recipe.parts(&data, arguments::seed(flags))?;
        let few = Schema::learn(&table.select(&kept), &options);
        // a category that only the others have cannot be coded: then all have to be asked, and nothing is proven
        if let Some((schema, data)) = few.and_then(|few| few.apply(&table).map(|data| (few, data))).ok()
            && data.len() == table.len
        {
            return Ok((Training { schema, data }, Scaled::ByTheKept));
        }
    }
    Ok((Training { schema, data }, Scaled::ByAll))
}

/// Reads two files with the same columns; their schema is learned of both together. All columns are compared unless a target
/// is named or the format itself has one.
pub(crate) fn pooled(
    path: &Path,
    other: &Path,
    flags: &ArgMatches,
    formula: &Formula,
) -> Result<(Schema, Dataset, Dataset), Failure> {
    let (mut options, reading) = prepared(flags, formula)?;
    let (mut one, mut two) = (read_table(path, &reading)?, read_table(other, &reading)?);
    keep_sequences(&mut one, &options, formula);
    keep_sequences(&mut two, &options, formula);
    if options.target.is_none() && !["libsvm", "npz", "idx"].contains(&one.format) {
        options.set_target("none");
    }
    let both = one.joined(&two)?;
    settle_views(&both, formula, &mut options)?;
    settle_target(&both, &mut options)?;
    let schema = Schema::learn(&both, &options)?;
    let (first, second) = (schema.apply(&one)?, schema.apply(&two)?);
    for (data, place) in [(&first, path), (&second, other)] {
        if data.is_empty() {
            return Err(DataError::Empty { place: place.display().to_string() }.into());
        }
    }
    Ok((schema, first, second))
}

/// What flags and formula say before a file is read: about its columns, and about its format.
fn prepared(flags: &ArgMatches, formula: &Formula) -> Result<(SchemaOptions, ReadOptions), Failure> {
    let mut options = schema_options(flags)?;
    for (name, kind) in formula.views() {
        match (kind, name) {
            (Kind::Text, Some(name)) if !options.text.iter().any(|t| t == name) => options.text.push(name.to_owned()),
            (Kind::Precomputed, name) => options.raw.push(name.unwrap_or("x").to_owned()),
            _ => {}
        }
    }
    settle_members(flags, formula, &mut options);
    let mut reading = read_options(flags)?;
    reading.words = options.categorical.iter().chain(&options.text).cloned().collect();
    Ok((options, reading))
}

/// Unless somebody says otherwise, columns of members are not scaled one by one, since they belong together, and a member
/// that is missing is no member.
fn settle_members(flags: &ArgMatches, formula: &Formula, options: &mut SchemaOptions) {
    let members = formula.member_views();
    if !members.is_empty() && flags.value_source("missing") != Some(ValueSource::CommandLine) {
        options.missing = Missing::Keep;
    }
    if options.scale.is_none() {
        for view in members {
            match view {
                Some(name) => options.raw.push(name.to_owned()),
                None => options.scale = Some(Scale::None),
            }
        }
    }
}

/// Names and qualities of sequences are columns like others, but learned from only if somebody names them.
fn keep_sequences(table: &mut Table, options: &SchemaOptions, formula: &Formula) {
    if !["fasta", "fastq"].contains(&table.format) {
        return;
    }
    let target = table.target.map(|t| table.fields[t].name.clone());
    let named = |name: &str| {
        let lists = [&options.categorical, &options.text, &options.raw].into_iter().chain(options.target.as_ref());
        name == "sequence"
            || (options.target.is_none() && target.as_deref() == Some(name))
            || lists.flatten().chain(options.views.iter().flat_map(|(_, columns)| columns)).any(|n| n == name)
            || options.weights.as_deref() == Some(name)
            || formula.views().iter().any(|(view, _)| *view == Some(name))
    };
    table.fields.retain(|f| named(&f.name));
    table.target = target.and_then(|name| table.fields.iter().position(|f| f.name == name));
}

/// Views that the formula names but nobody declared are columns; an unnamed string kernel takes the only column of words.
fn settle_views(table: &Table, formula: &Formula, options: &mut SchemaOptions) -> Result<(), Failure> {
    let target: Vec<usize> = match &options.target {
        None => table.target.into_iter().collect(),
        Some(names) => names.iter().map(|n| table.find(n)).collect::<Result<_, _>>()?,
    };
    for (name, kind) in formula.views() {
        match (kind, name) {
            (Kind::Vectors, Some(name)) if name != "x" && !options.views.iter().any(|(v, _)| v == name) => {
                let column = table.fields.iter().position(|f| f.name == name);
                let single = column.is_some_and(|c| {
                    matches!(
                        table.fields[c].data,
                        FieldData::Numbers { .. } | FieldData::Words(_) | FieldData::Mixed { .. }
                    )
                });
                if single {
                    options.views.push((name.to_owned(), vec![name.to_owned()]));
                }
            }
            (Kind::Text, None) if options.text.is_empty() => {
                let words: Vec<usize> = (0..table.fields.len())
                    .filter(|i| !target.contains(i))
                    .filter(|&i| matches!(table.fields[i].data, FieldData::Words(_) | FieldData::Mixed { .. }))
                    .collect();
                match words.as_slice() {
                    [only] => options.text.push(table.fields[*only].name.clone()),
                    [] => {
                        let finding = format!("{} has no column of words for a string kernel", table.file);
                        return Err(DataError::Usage { finding }.into());
                    }
                    _ => {
                        let finding = format!("{} has several columns of words; name one with --text", table.file);
                        return Err(DataError::Usage { finding }.into());
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// A target of numbers and words is classes; only a regressor needs numbers.
fn settle_target(table: &Table, options: &mut SchemaOptions) -> Result<(), Failure> {
    let target = match options.target.as_deref() {
        None => table.target,
        Some([name]) => Some(table.find(name)?),
        Some(_) => None,
    };
    let mixed = target.map(|t| &table.fields[t]).filter(|f| matches!(f.data, FieldData::Mixed { .. }));
    if let Some(field) = mixed.filter(|f| !options.categorical.contains(&f.name)) {
        options.categorical.push(field.name.clone());
    }
    Ok(())
}

/// Reads a table; a model, and a file that is a header and nothing else, are told by name.
fn read_table(path: &Path, options: &ReadOptions) -> Result<Table, Failure> {
    if options.format.is_none() && show::looks_like_a_model(path) {
        let message = format!("{} is a model, not data; give a data file here", path.display());
        return Err(Failure { message, code: 3 });
    }
    let table = read(path, options)?;
    let words = table.fields.iter().all(|f| matches!(f.data, FieldData::Words(_)));
    if table.format == "csv"
        && table.len == 1
        && !table.named
        && words
        && options.words.is_empty()
        && options.header.is_none()
    {
        let message = format!("{} has no examples, only a line of names", path.display());
        return Err(Failure { message, code: 3 });
    }
    Ok(table)
}

/// Reads a file with the columns of a training file.
pub(crate) fn like(schema: &Schema, path: &Path, flags: &ArgMatches) -> Result<Dataset, Failure> {
    // labels belong to the training file
    let mut reading = ReadOptions { labels: None, ..read_options(flags)? };
    reading.words = schema.word_columns();
    let data = schema.apply(&read_table(path, &reading)?)?;
    if data.is_empty() {
        return Err(DataError::Empty { place: path.display().to_string() }.into());
    }
    Ok(data)
}

/// Reads a file for a model.
pub(crate) fn for_model(model: &Model, path: &Path, flags: &ArgMatches) -> Result<Dataset, Failure> {
    let mut reading = read_options(flags)?;
    if let Some(schema) = &model.schema {
        reading.words = schema.word_columns();
    }
    let data = model.data(&read_table(path, &reading)?)?;
    if data.is_empty() {
        return Err(DataError::Empty { place: path.display().to_string() }.into());
    }
    Ok(data)
}

/// What the flags say about the format of a file.
pub(crate) fn read_options(flags: &ArgMatches) -> Result<ReadOptions, Failure> {
    let delimiter = match flags.get_one::<String>("delimiter").map(String::as_str) {
        None => None,
        Some("tab" | "\\t") => Some(b'\t'),
        Some("space") => Some(b' '),
        Some(text) if text.len() == 1 => Some(text.as_bytes()[0]),
        Some(text) => return Err(Failure::usage(format!("--delimiter {text} is not one character, tab or space"))),
    };
    Ok(ReadOptions {
        format: flags.get_one::<String>("format").cloned(),
        header: flags.get_one::<bool>("header").copied(),
        delimiter,
        labels: flags.try_get_one::<PathBuf>("labels").ok().flatten().cloned(),
        words: Vec::new(),
    })
}

fn word<T: Copy>(flags: &ArgMatches, id: &str, words: &[(&'static str, T)]) -> Option<T> {
    let typed = flags.get_one::<String>(id)?;
    words.iter().find(|(word, _)| word == typed).map(|(_, value)| *value)
}

/// Examples that are predicted at a time; whole tiles, so that the bits are those of one batch.
const BATCH: usize = 8192;

/// Predicts batch by batch: with a bar, within the memory, and so that it can be stopped.
pub(crate) fn predict(model: &Model, data: &Dataset, flags: &ArgMatches) -> Result<Output, Failure> {
    let outputs = model.fitted.expansion.outputs();
    arguments::budget(flags)?.check(data.len().saturating_mul(outputs).saturating_mul(16), "the scores")?;
    let watch = Watch::new(flags);
    // what the model compares with is prepared once for all batches
    let predictor = Predictor::new(model.clone());
    let mut whole: Option<Output> = None;
    for start in (0..data.len()).step_by(BATCH) {
        let progress = Progress { phase: "predicting", done: start, total: Some(data.len()), gap: None };
        if let ControlFlow::Break(stop) = watch.step(&progress) {
            return Err(mercer::Error::from(SolveError::Stopped { reason: stop }).into());
        }
        let part: Vec<usize> = (start..(start + BATCH).min(data.len())).collect();
        let output =
            if part.len() == data.len() { predictor.predict(data)? } else { predictor.predict(&data.select(&part))? };
        match &mut whole {
            Some(whole) => whole.append(output),
            None => whole = Some(output),
        }
    }
    watch.finish();
    whole.ok_or_else(|| DataError::Empty { place: "the data".to_owned() }.into())
}

/// The regions of a conformal predictor batch by batch: with a bar, and so that it can be stopped.
pub(crate) fn regions(model: &Model, data: &Dataset, coverage: f64, flags: &ArgMatches) -> Result<Regions, Failure> {
    let watch = Watch::new(flags);
    let predictor = Predictor::new(model.clone());
    let mut whole: Option<Regions> = None;
    for start in (0..data.len()).step_by(BATCH) {
        let progress = Progress { phase: "conformal", done: start, total: Some(data.len()), gap: None };
        if let ControlFlow::Break(stop) = watch.step(&progress) {
            return Err(mercer::Error::from(SolveError::Stopped { reason: stop }).into());
        }
        let part: Vec<usize> = (start..(start + BATCH).min(data.len())).collect();
        let regions = predictor.regions(&data.select(&part), coverage)?;
        match &mut whole {
            Some(whole) => whole.append(regions),
            None => whole = Some(regions),
        }
    }
    watch.finish();
    whole.ok_or_else(|| DataError::Empty { place: "the data".to_owned() }.into())
}
