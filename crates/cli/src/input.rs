//! From flags and a file to data.

use crate::{arguments, show};
use clap::ArgMatches;
use clap::parser::ValueSource;
use mercer::conformal::Regions;
use mercer::data::read::{ReadOptions, find as find_format, read};
use mercer::data::{DataError, Dataset, FieldData, Missing, Scale, Schema, SchemaOptions, Table};
use mercer::formula::Formula;
use mercer::job::Job;
use mercer::linalg::SolveError;
use mercer::machines::{Learns, MachineEntry, Output};
use mercer::model::{Model, Predictor};
use mercer::watch::{Monitor, Phase, Progress};
use mercer_terminal::{Failure, Watch};
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
    reading.words = options.word_columns();
    Ok((read_table(path, &reading)?, options))
}

/// Reads a training file and learns its schema.
pub(crate) fn training(
    path: &Path,
    flags: &ArgMatches,
    formula: &Formula,
    learns: Learns,
) -> Result<Training, Failure> {
    let (mut table, mut options) = table(path, flags, formula)?;
    let wanted = formula.wanted();
    options.drop_annotations(&mut table, &wanted);
    options.infer(&table, &wanted, learns == Learns::Numbers)?;
    let (schema, data) = Schema::learn_and_apply(&table, &options)?;
    if data.is_empty() {
        return Err(DataError::Empty { place: path.display().to_string() }.into());
    }
    Ok(Training { schema, data })
}

/// Reads the training file of a machine: a target that it cannot be meant to learn is refused, and views that its kernel does not look at
/// are left out.
pub(crate) fn training_of(
    entry: &'static MachineEntry,
    path: &Path,
    flags: &ArgMatches,
    formula: &Formula,
) -> Result<Dataset, Failure> {
    let (table, columns) = table(path, flags, formula)?;
    Ok(Job { columns, ..Job::of(entry, formula.clone()) }.prepare(table)?)
}

/// Reads a training file as a table, with what flags and formula say about its columns.
pub(crate) fn table(path: &Path, flags: &ArgMatches, formula: &Formula) -> Result<(Table, SchemaOptions), Failure> {
    let (options, reading) = prepared(flags, formula)?;
    Ok((read_table(path, &reading)?, options))
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
    let wanted = formula.wanted();
    options.drop_annotations(&mut one, &wanted);
    options.drop_annotations(&mut two, &wanted);
    if options.target.is_none() && !find_format(one.format).is_some_and(|format| format.names_target) {
        options.set_target("none");
    }
    let both = one.joined(&two)?;
    options.infer(&both, &wanted, false)?;
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
    options.expect(&formula.wanted(), flags.value_source("missing") == Some(ValueSource::CommandLine));
    let mut reading = read_options(flags)?;
    reading.words = options.word_columns();
    Ok((options, reading))
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
        && options.names.is_none()
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
    reading.names = schema.header_names();
    let data = schema.apply(&read_table(path, &reading)?)?;
    if data.is_empty() {
        return Err(DataError::Empty { place: path.display().to_string() }.into());
    }
    Ok(data)
}

/// Reads a file for a model.
pub(crate) fn for_model(model: &Model, path: &Path, flags: &ArgMatches) -> Result<Dataset, Failure> {
    let mut reading = read_options(flags)?;
    if let Some(schema) = model.schema() {
        reading.words = schema.word_columns();
        reading.names = schema.header_names();
    }
    let table = read_table(path, &reading)?;
    if reading.header.is_none() {
        tell_of_header(&table, reading.names.as_deref());
    }
    let data = model.data(&table)?;
    if data.is_empty() {
        return Err(DataError::Empty { place: path.display().to_string() }.into());
    }
    Ok(data)
}

/// Says what was assumed of the first line where file and model differ: one has names of columns and the other has none, or others.
fn tell_of_header(table: &Table, names: Option<&[String]>) {
    let Some(names) = names.filter(|_| table.format == "csv") else { return };
    let file = &table.file;
    if table.named && !table.fields.iter().any(|f| names.contains(&f.name)) {
        eprintln!(
            "note: the first line of {file} is taken for names of columns, since it has words above numbers; --header no takes it for an example"
        );
    } else if !table.named && !names.is_empty() {
        eprintln!(
            "note: the first line of {file} has none of the names of the model's columns, so it is taken for an example; --header yes takes it for names"
        );
    }
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
        names: None,
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
        watch
            .alive(Progress::new(Phase::new("predicting"), start).of(data.len()))
            .map_err(|stop| mercer::Error::from(SolveError::from(stop)))?;
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
        watch
            .alive(Progress::new(Phase::CONFORMAL, start).of(data.len()))
            .map_err(|stop| mercer::Error::from(SolveError::from(stop)))?;
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
