//! From flags and a file to data.

use crate::{arguments, report, show};
use clap::ArgMatches;
use clap::parser::ValueSource;
use mercer::data::read::{ReadOptions, find as find_format, read};
use mercer::data::{
    ApplyOptions, DataError, Dataset, Field, FieldData, Missing, Scale, Schema, SchemaOptions, Table, Unseen,
    UnseenCategories,
};
use mercer::formula::Formula;
use mercer::job::Job;
use mercer::machines::{Learns, MachineEntry};
use mercer::model::{Model, Step};
use mercer::select::set_rows_aside;
use mercer_terminal::Failure;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A training file, and what its columns mean.
pub(crate) struct Training {
    pub(crate) schema: Schema,
    pub(crate) data: Dataset,
}

/// Options on the columns of a file, from the flags.
fn schema_options(flags: &ArgMatches) -> Result<SchemaOptions, Failure> {
    let columns = |id: &str| flags.get_one::<String>(id).map(|t| SchemaOptions::columns(t)).unwrap_or_default();
    let mut options = SchemaOptions {
        categorical: columns("categorical"),
        text: columns("text"),
        missing: word(flags, "missing", &Missing::WORDS).unwrap_or_default(),
        drop: columns("drop"),
        dates: columns("dates"),
        missing_words: columns("missing-words"),
        only: flags.get_one::<String>("columns").map(|t| SchemaOptions::columns(t)),
        unseen: word(flags, "unseen", &Unseen::WORDS).unwrap_or_default(),
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

/// Reads a file as it is, `verbatim` with every cell as it is spelled, with what the flags say about its columns.
pub(crate) fn raw(path: &Path, verbatim: bool, flags: &ArgMatches) -> Result<(Table, SchemaOptions), Failure> {
    let options = schema_options(flags)?;
    let mut reading = ReadOptions { verbatim, ..read_options(flags)? };
    (reading.words, reading.spelled) = (options.word_columns(), options.spelled_columns());
    named(path, &reading, options)
}

/// Reads a table, and names with commas in what the flags say about its columns.
fn named(path: &Path, reading: &ReadOptions, mut options: SchemaOptions) -> Result<Read, Failure> {
    let table = read_table(path, reading)?;
    options.rejoin(&table);
    Ok((table, options))
}

/// Reads a file as it is.
pub(crate) fn plain_table(path: &Path, flags: &ArgMatches) -> Result<Table, Failure> {
    read_table(path, &read_options(flags)?)
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
    needs_labels(&table, &options, learns)?;
    let (schema, data) = Schema::learn_and_apply(&table, &options)?;
    if data.is_empty() {
        return Err(DataError::Empty { place: path.display().to_string() }.into());
    }
    tell(&data, &path.display().to_string());
    Ok(Training { schema, data })
}

/// Refuses a file that is nothing but a block of numbers where a target is to be learned: no column of it could be named.
pub(crate) fn needs_labels(table: &Table, options: &SchemaOptions, learns: Learns) -> Result<(), Failure> {
    let block =
        |field: &Field| matches!(field.data, FieldData::Matrix(_) | FieldData::Matrix32(_) | FieldData::Sparse(_));
    if learns == Learns::Unsupervised
        || options.target.is_some()
        || table.target.is_some()
        || !table.fields.iter().all(block)
    {
        return Ok(());
    }
    let message = format!(
        "{} has examples and no labels to learn from, as is usual for {}; give the file of the labels with --labels FILE",
        table.file, table.format
    );
    Err(Failure { message, code: 3 })
}

/// A table as it is, with what flags and formula say about its columns.
pub(crate) type Read = (Table, SchemaOptions);

/// Examples that are held out before a search.
pub(crate) struct SetAside {
    pub(crate) data: Dataset,
    /// Their places among all examples of the file, in rising order.
    pub(crate) places: Vec<usize>,
}

/// Reads a training file, sets a share of its rows aside, and learns the schema of the others.
pub(crate) fn training_beside(
    entry: &'static MachineEntry,
    (path, read): (&Path, Option<Read>),
    flags: &ArgMatches,
    formula: &Formula,
    share: f64,
) -> Result<(Dataset, SetAside), Failure> {
    let (mut table, columns) = once(read, path, flags, formula)?;
    needs_labels(&table, &columns, entry.learns)?;
    let (mut options, wanted) = (columns.clone(), formula.wanted());
    options.drop_annotations(&mut table, &wanted);
    options.infer(&table, &wanted, entry.learns == Learns::Numbers)?;
    let split = set_rows_aside(table.len, share, arguments::seed(flags))?;
    let data = preparing(entry, columns, formula, flags).prepare(table.select(&split.train))?;
    let schema = data.preparation().map(|p| p.schema().clone());
    let Some(schema) = schema.filter(|_| !data.is_empty()) else {
        return Err(DataError::Empty { place: path.display().to_string() }.into());
    };
    tell(&data, &path.display().to_string());
    let apply = ApplyOptions { drop_missing: options.missing == Missing::Drop, ..ApplyOptions::default() };
    let held_out = schema.apply_as(&table.select(&split.test), apply)?;
    tell(&held_out, &format!("the held-out part of {}", path.display()));
    if held_out.is_empty() {
        return Err(DataError::Empty { place: path.display().to_string() }.into());
    }
    // rows that are left out are no examples of the file
    let drops = options.missing == Missing::Drop;
    let rows = if drops { schema.complete_examples(&table)? } else { (0..table.len).collect() };
    let places = (0..rows.len()).filter(|&p| split.test.binary_search(&rows[p]).is_ok()).collect();
    Ok((data, SetAside { data: held_out, places }))
}

/// Reads the training file of a machine: a target that it cannot be meant to learn is refused, and views that its kernel does not look at
/// are left out.
pub(crate) fn training_of(
    entry: &'static MachineEntry,
    (path, read): (&Path, Option<Read>),
    flags: &ArgMatches,
    formula: &Formula,
) -> Result<Dataset, Failure> {
    let (table, columns) = once(read, path, flags, formula)?;
    needs_labels(&table, &columns, entry.learns)?;
    let data = preparing(entry, columns, formula, flags).prepare(table)?;
    tell(&data, &path.display().to_string());
    Ok(data)
}

/// A job that prepares tables as the flags say.
fn preparing(entry: &'static MachineEntry, columns: SchemaOptions, formula: &Formula, flags: &ArgMatches) -> Job {
    let (preparation_share, seed) = (arguments::preparation_share(flags), arguments::seed(flags));
    Job { columns, preparation_share, seed, ..Job::of(entry, formula.clone()) }
}

/// A training file that was read already, or is read now.
pub(crate) fn once(read: Option<Read>, path: &Path, flags: &ArgMatches, formula: &Formula) -> Result<Read, Failure> {
    read.map_or_else(|| table(path, flags, formula), Ok)
}

/// Reads a training file as a table, with what flags and formula say about its columns.
pub(crate) fn table(path: &Path, flags: &ArgMatches, formula: &Formula) -> Result<Read, Failure> {
    let (options, reading) = prepared(flags, formula)?;
    named(path, &reading, options)
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
    options.rejoin(&one);
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

/// Options on columns and format that flags and formula give before a file is read.
fn prepared(flags: &ArgMatches, formula: &Formula) -> Result<(SchemaOptions, ReadOptions), Failure> {
    let mut options = schema_options(flags)?;
    options.expect(&formula.wanted(), flags.value_source("missing") == Some(ValueSource::CommandLine));
    let mut reading = read_options(flags)?;
    (reading.words, reading.spelled) = (options.word_columns(), options.spelled_columns());
    Ok((options, reading))
}

/// Reads a table; a model, and a file that is a header and nothing else, are told by name.
pub(crate) fn read_table(path: &Path, options: &ReadOptions) -> Result<Table, Failure> {
    if options.format.is_none() && show::looks_like_a_model(path) {
        let message = format!("{} is a model, not data; give a data file here", path.display());
        return Err(Failure { message, code: 3 });
    }
    let table = read(path, options)?;
    // where every cell is kept as it is spelled, numbers are words, too
    let is_word = |cell: &str| !options.verbatim || cell.parse::<f64>().is_err();
    let words = table.fields.iter().all(|f| matches!(&f.data, FieldData::Words(w) if w.iter().take(1).all(is_word)));
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
    if table.format != "csv" && (options.header.is_some() || options.delimiter.is_some()) {
        report::note(&format!(
            "--header and --delimiter are about delimited text, and {} is {}, which needs neither",
            table.file, table.format
        ));
    }
    table.notes.iter().for_each(|note| report::note(note));
    Ok(table)
}

/// Reads a file with the columns of a training file.
pub(crate) fn like(schema: &Schema, path: &Path, flags: &ArgMatches) -> Result<Dataset, Failure> {
    // labels belong to the training file
    let reading = schema.reading(ReadOptions { labels: None, ..read_options(flags)? });
    let data = schema.apply(&read_table(path, &reading)?)?;
    tell(&data, &path.display().to_string());
    if data.is_empty() {
        return Err(DataError::Empty { place: path.display().to_string() }.into());
    }
    Ok(data)
}

/// Reads a file that a model is compared with: it loses the rows that training would have left out, unless `--missing` says otherwise.
pub(crate) fn for_model(model: &Model, path: &Path, flags: &ArgMatches) -> Result<Dataset, Failure> {
    compared(model, path, read_options(flags)?, (loses_rows(model, flags)?, flags))
}

/// Reads a file to calibrate a model with: it loses the rows that training would have left out, whatever becomes of those to be predicted.
pub(crate) fn to_calibrate(model: &Model, path: &Path, flags: &ArgMatches) -> Result<Dataset, Failure> {
    let drop_missing = trained_with(model) == Missing::Drop;
    compared(model, path, ReadOptions { labels: None, ..read_options(flags)? }, (drop_missing, flags))
}

/// Reads a further file that a model is compared with, beside DATA: `--labels` are those of DATA, and this file has its own, or none.
pub(crate) fn beside_data(
    model: &Model,
    (path, labels): (&Path, Option<&PathBuf>),
    flags: &ArgMatches,
) -> Result<Dataset, Failure> {
    let reading = ReadOptions { labels: labels.cloned(), ..read_options(flags)? };
    compared(model, path, reading, (loses_rows(model, flags)?, flags))
}

/// Reads the training file of a model once more, with the weights of its examples.
pub(crate) fn training_of_model(model: &Model, path: &Path, flags: &ArgMatches) -> Result<Dataset, Failure> {
    let drop_missing = loses_rows(model, flags)?;
    let table = table_for(model, path, read_options(flags)?)?;
    let unseen = word(flags, "unseen", &Unseen::WORDS);
    let data = applied(model, &table, path, ApplyOptions { unseen, drop_missing, ..ApplyOptions::default() })?;
    let Some(schema) = model.schema() else { return Ok(data) };
    let kept = if drop_missing { table.select(&schema.complete_examples(&table)?) } else { table };
    let data = match schema.weights(&kept)? {
        Some(weights) => data.with_weights(weights)?,
        None => data,
    };
    let balanced = model.provenance().is_some_and(|p| p.learned().iter().any(|l| l.step == Step::ClassBalance));
    Ok(if balanced { data.with_balanced_classes()? } else { data })
}

/// A file to predict: the rows that can be predicted, their places in the file, and the number of its rows.
pub(crate) struct ToPredict {
    pub(crate) data: Dataset,
    pub(crate) places: Vec<usize>,
    pub(crate) rows: usize,
}

/// Reads a file to predict: every row of it, unless `--missing empty` leaves those without a prediction in which something is missing.
pub(crate) fn to_predict(model: &Model, path: &Path, flags: &ArgMatches) -> Result<ToPredict, Failure> {
    let table = table_for(model, path, read_options(flags)?)?;
    let rows = table.len;
    let empty = flags.get_one::<String>("missing").is_some_and(|way| way == "empty");
    let places = match model.schema().filter(|_| empty) {
        Some(schema) => schema.complete_rows(&table)?,
        None => (0..rows).collect(),
    };
    let table = if places.len() == rows { table } else { table.select(&places) };
    let options = ApplyOptions {
        unseen: word(flags, "unseen", &Unseen::WORDS),
        // what is compared with nothing may be missing
        partial_target: !flags.get_flag("with-target"),
        ..ApplyOptions::default()
    };
    let data = if places.is_empty() {
        // every row has an empty prediction, and the columns are those of any other
        model.data_as(&table, options)?
    } else {
        applied(model, &table, path, options)?
    };
    let gaps = rows - places.len();
    if gaps > 0 {
        let told = format!(
            "{gaps} of the {rows} rows of {} have an empty prediction, since something is missing in them{}",
            path.display(),
            if places.is_empty() { ": all of them" } else { "" }
        );
        report::say("note", &told);
    }
    Ok(ToPredict { data, places, rows })
}

fn compared(
    model: &Model,
    path: &Path,
    reading: ReadOptions,
    (drop_missing, flags): (bool, &ArgMatches),
) -> Result<Dataset, Failure> {
    let table = table_for(model, path, reading)?;
    let unseen = word(flags, "unseen", &Unseen::WORDS);
    applied(model, &table, path, ApplyOptions { unseen, drop_missing, ..ApplyOptions::default() })
}

/// Reads a file with the columns of a model.
fn table_for(model: &Model, path: &Path, mut reading: ReadOptions) -> Result<Table, Failure> {
    if let Some(schema) = model.schema() {
        reading = schema.reading(reading);
    }
    let table = read_table(path, &reading)?;
    if reading.header.is_none() {
        tell_of_header(&table, reading.names.as_deref());
    }
    Ok(table)
}

/// A table as data for a model, with what was not taken as it is said aloud.
fn applied(model: &Model, table: &Table, path: &Path, options: ApplyOptions) -> Result<Dataset, Failure> {
    let data = model.data_as(table, options)?;
    if data.is_empty() {
        return Err(DataError::Empty { place: path.display().to_string() }.into());
    }
    tell(&data, &path.display().to_string());
    Ok(data)
}

/// What became of rows with missing entries in training.
fn trained_with(model: &Model) -> Missing {
    model.schema().map(Schema::missing).unwrap_or_default()
}

/// True if rows with missing entries are left out, by the flags or else as in training.
fn loses_rows(model: &Model, flags: &ArgMatches) -> Result<bool, Failure> {
    let trained = trained_with(model);
    match word(flags, "missing", &Missing::WORDS) {
        None => Ok(trained == Missing::Drop),
        Some(Missing::Drop) => Ok(true),
        // without drop, what is missing is an error already unless training has prepared for it
        Some(Missing::Error) if matches!(trained, Missing::Error | Missing::Drop) => Ok(false),
        Some(way) if way == trained => Ok(false),
        Some(way) => {
            let name = |way: Missing| Missing::WORDS.iter().find(|w| w.1 == way).map_or("", |w| w.0);
            Err(Failure::usage(format!(
                "the model was trained with --missing {}, so it knows nothing of {}; say drop, or train with --missing {}",
                name(trained),
                name(way),
                name(way)
            )))
        }
    }
}

/// Says what of a file was not taken as it is.
pub(crate) fn tell(data: &Dataset, file: &str) {
    let Some(preparation) = data.preparation() else { return };
    if let Some(assumed) = preparation.assumed() {
        report::say("note", assumed);
    }
    let left_out = preparation.left_out();
    if left_out > 0 {
        report::say("note", &format!("{left_out} rows of {file} are left out, since something is missing in them"));
    }
    for UnseenCategories { column, cells, example } in preparation.unseen() {
        let (many, hold) = if *cells == 1 { ("", "holds a category") } else { ("s", "hold categories") };
        report::say(
            "note",
            &format!(
                "{cells} cell{many} of {file}, column \"{column}\", {hold} that training has not seen (\"{example}\"); taken as none of the known ones"
            ),
        );
    }
}

/// Says what was assumed of the first line where file and model differ: one has names of columns and the other has none, or others.
fn tell_of_header(table: &Table, names: Option<&[String]>) {
    let Some(names) = names.filter(|_| table.format == "csv") else { return };
    let file = &table.file;
    if table.named && !table.fields.iter().any(|f| names.contains(&f.name)) {
        report::say(
            "note",
            &format!(
                "the first line of {file} is taken for names of columns, since it has words above numbers; --header false takes it for an example"
            ),
        );
    } else if !table.named && !names.is_empty() {
        report::say(
            "note",
            &format!(
                "the first line of {file} has none of the names of the model's columns, so it is taken for an example; --header true takes it for names"
            ),
        );
    }
}

/// The number of rows that were left out, for a document; none where there are none.
pub(crate) fn left_out(data: &Dataset) -> Option<(&'static str, Value)> {
    let left_out = data.preparation()?.left_out();
    (left_out > 0).then(|| ("rows_left_out", json!(left_out)))
}

/// The same in a document; `document` is an object.
pub(crate) fn insert_told(document: &mut Value, data: &Dataset) {
    let Some(preparation) = data.preparation() else { return };
    if let Some(assumed) = preparation.assumed() {
        document["assumed"] = json!(assumed);
    }
    if preparation.left_out() > 0 {
        document["rows_left_out"] = json!(preparation.left_out());
    }
    let unseen: Vec<Value> = preparation
        .unseen()
        .iter()
        .map(|u| json!({"column": u.column, "cells": u.cells, "example": u.example}))
        .collect();
    if !unseen.is_empty() {
        document["unseen"] = json!(unseen);
    }
}

/// Options on the format of a file, from the flags.
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
        ..ReadOptions::default()
    })
}

fn word<T: Copy>(flags: &ArgMatches, id: &str, words: &[(&'static str, T)]) -> Option<T> {
    let typed = flags.get_one::<String>(id)?;
    words.iter().find(|(word, _)| word == typed).map(|(_, value)| *value)
}
