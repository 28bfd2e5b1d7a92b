//! `mercer convert`: from one format to another.

use crate::arguments::OutputFile;
use crate::{Verb, arguments, input, report};
use clap::builder::PossibleValuesParser;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use mercer::data::read::is_missing_mark;
use mercer::data::write::{WRITERS, choose, write};
use mercer::data::{
    DataError, Dataset, Field, FieldData, Lost, Respelled, Scale, Schema, SchemaOptions, Table, Target, Values,
};
use mercer_terminal::Failure;
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;

pub(crate) const VERB: Verb = Verb { command, run };

fn command() -> Command {
    let command = Command::new("convert")
        .about("Write a data file in another format")
        .after_help(
            "Formats are told by extensions; `mercer list formats` shows all. Text that becomes text (CSV, TSV) keeps the\n\
             spelling of every cell; elsewhere numbers keep every bit, and what a number does not hold is told (00037).\n\
             Examples:\n  mercer convert train.csv train.svm\n  mercer convert people.jsonl people.csv.gz --encode --missing mean",
        )
        .arg(arguments::path("IN", "Data file to read"))
        .arg(
            arguments::path("OUT", "Data file to write; .gz at the end compresses it, - is standard output")
                .value_parser(arguments::output_file()),
        )
        .arg(
            Arg::new("to")
                .long("to")
                .value_name("NAME")
                .value_parser(PossibleValuesParser::new(WRITERS.iter().map(|w| w.name)))
                .help("Format to write [default: by extension]"),
        )
        .arg(Arg::new("encode").long("encode").action(ArgAction::SetTrue).help(
            "Write what a machine would see: one-hot codes, missing entries filled in or dropped, --scale if given",
        ));
    arguments::reading(command).next_help_heading("Common options").args([
        arguments::threads(),
        arguments::memory(),
        arguments::json(),
    ])
}

fn run(flags: &ArgMatches) -> Result<(), Failure> {
    let started = Instant::now();
    let (Some(from), Some(to)) = (flags.get_one::<PathBuf>("IN"), OutputFile::given(flags, "OUT")) else {
        return Err(Failure::usage("IN and OUT are needed"));
    };
    let writer = choose(to, flags.get_one::<String>("to").map(String::as_str))?;
    arguments::writable(to)?;
    let encode = flags.get_flag("encode");
    if !encode {
        let given = |id: &&str| flags.value_source(id) == Some(ValueSource::CommandLine);
        if let Some(flag) = ["scale", "missing", "missing-words", "view", "unseen", "dates"].iter().find(|id| given(id))
        {
            return Err(Failure::usage(format!("--{flag} changes the data; say --encode with it")));
        }
    }
    // nothing asks for a change, so text that goes to text is spelled as it was
    let (mut table, options) = input::raw(from, writer.keeps_spelling && !encode, flags)?;
    let format = table.format;
    let respelled = told_respelled(&table, &options, encode)?;
    if encode {
        table = encoded(&table, options)?;
    } else {
        settle_target(&mut table, &options)?;
        table = options.narrowed(table)?;
    }
    write(to, &table, writer)?;
    let respelled: Vec<String> = respelled.iter().map(|r| lost(r, writer.name, encode)).collect();
    respelled.iter().for_each(|told| report::warn(told));
    if let Some(told) = mark_as_word(&table, writer.name).filter(|_| writer.keeps_spelling && format != "csv") {
        report::note(&told);
    }
    let words = |field: &Field| matches!(field.data, FieldData::Words(_) | FieldData::Mixed { .. });
    if writer.labels_are_numbers && table.target.is_some_and(|t| words(&table.fields[t])) {
        report::warn(&format!(
            "the labels are words, which mercer reads again and most other programs that read {} do not: they want numbers",
            writer.name
        ));
    }
    let lost = table.target.filter(|_| !writer.holds_target).map(|t| table.fields[t].name.clone());
    let columns: usize = table.fields.iter().map(width).sum();
    if flags.get_flag("json") {
        report::print_json(&json!({
            "n": table.len, "columns": columns, "from": format, "to": writer.name, "left_out": lost,
            "respelled": respelled, "output": to.display().to_string(), "seconds": started.elapsed().as_secs_f64(),
        }));
    } else {
        let mut facts = vec![
            ("examples", table.len.to_string()),
            ("columns", columns.to_string()),
            ("formats", format!("{format} → {}", writer.name)),
        ];
        if let Some(lost) = lost {
            facts.push(("left out", format!("the target \"{lost}\"; --target none keeps it as a column")));
        }
        facts.push(("file", to.display().to_string()));
        report::print(&report::facts(&facts));
    }
    Ok(())
}

/// The columns whose cells lose something by becoming numbers, of those that are written.
fn told_respelled(table: &Table, options: &SchemaOptions, encode: bool) -> Result<Vec<Respelled>, Failure> {
    let found = table.respelled();
    if found.is_empty() {
        return Ok(found);
    }
    let mut kept = options.narrowed(table.clone())?;
    if !encode {
        settle_target(&mut kept, options)?;
    }
    let names: Vec<&str> = kept.fields.iter().map(|f| f.name.as_str()).collect();
    Ok(found.into_iter().filter(|r| names.contains(&table.fields[r.field].name.as_str())).collect())
}

/// A warning about a column whose cells became numbers.
fn lost(respelled: &Respelled, format: &str, encode: bool) -> String {
    let Respelled { cell, place, value, lost, .. } = respelled;
    let what = match lost {
        Lost::Zeros => "its zeros are lost",
        Lost::Plus => "its plus is lost",
        Lost::Digits => "its last digits are lost, since a number of 64 bits holds about 16",
    };
    let column = place.column.as_deref().unwrap_or_default();
    let remedy = if encode {
        format!("--categorical {column} takes the cells for words, --drop {column} leaves the column out")
    } else {
        format!(
            "{format} holds nothing but numbers: write CSV to keep the cells, give each its own code (--encode --categorical {column}), \
             or leave the column out (--drop {column})"
        )
    };
    format!("{place}: {cell} is written as the number {value}, so that {what}; {remedy}")
}

/// A note about a word that will be read as a missing entry.
fn mark_as_word(table: &Table, format: &str) -> Option<String> {
    let words = |field: &Field| match &field.data {
        FieldData::Words(cells) | FieldData::Mixed { cells, .. } => {
            Some((field.name.clone(), cells.iter().find(|cell| is_missing_mark(cell))?.to_owned()))
        }
        _ => None,
    };
    let (name, word) = table.fields.iter().find_map(words)?;
    Some(format!(
        "column \"{name}\" has the word {word}, which readers of {format} take for a missing entry; --categorical {name} or --text {name} keeps it a word"
    ))
}

fn width(field: &Field) -> usize {
    match &field.data {
        FieldData::Matrix(rows) => rows.width(),
        FieldData::Matrix32(rows) => rows.width(),
        FieldData::Sparse(rows) => rows.width(),
        _ => 1,
    }
}

/// The target that the flags name, instead of the format's.
fn settle_target(table: &mut Table, options: &SchemaOptions) -> Result<(), Failure> {
    match options.target.as_deref() {
        None => {}
        Some([]) => table.target = None,
        Some([name]) => table.target = Some(table.find(name)?),
        Some(_) => return Err(Failure::usage("--target names several columns; a file has one, or none")),
    }
    Ok(())
}

/// The table of what a schema makes of another; nothing is scaled unless somebody says so.
fn encoded(table: &Table, mut options: SchemaOptions) -> Result<Table, Failure> {
    options.scale = options.scale.or(Some(Scale::None));
    let mixed = table.target.map(|t| &table.fields[t]).filter(|f| matches!(f.data, FieldData::Mixed { .. }));
    if let Some(field) = mixed.filter(|f| options.target.is_none() && !options.categorical.contains(&f.name)) {
        options.categorical.push(field.name.clone());
    }
    let (_, data) = Schema::learn_and_apply(table, &options)?;
    let mut fields = Vec::new();
    for view in data.views() {
        let data = match &view.values {
            Values::Dense(rows) => FieldData::Matrix((**rows).clone()),
            Values::Dense32(rows) => FieldData::Matrix32((**rows).clone()),
            Values::Sparse(rows) => FieldData::Sparse((**rows).clone()),
            Values::Sparse32(rows) => FieldData::Sparse(rows.convert()),
            Values::Text(text) => FieldData::Words(text.iter().collect()),
            Values::Items(column) => FieldData::Words((0..column.len()).map(|i| column.text(i)).collect()),
            Values::Index(places) => {
                let values = places.iter().map(|&p| f64::from(p)).collect();
                FieldData::Numbers { values, spellings: Vec::new() }
            }
        };
        fields.push(Field { name: view.name.clone(), data });
    }
    let target = data.target().map(|target| target_field(target, &data)).transpose()?;
    let place = target.as_ref().map(|_| fields.len());
    fields.extend(target);
    Ok(Table {
        file: table.file.clone(),
        format: table.format,
        len: data.len(),
        fields,
        target: place,
        first_line: 1,
        lines: None,
        named: table.named,
        notes: table.notes.clone(),
    })
}

fn target_field(target: &Target, data: &Dataset) -> Result<Field, DataError> {
    let [name] =
        <[String; 1]>::try_from(target.names()).map_err(|names| DataError::ManyTargets { got: names.len() })?;
    if target.is_numeric() {
        let values = target.numbers()?.values;
        return Ok(Field { name, data: FieldData::Numbers { values, spellings: Vec::new() } });
    }
    let classes = target.classes()?;
    let words = (0..data.len()).map(|i| &classes.labels[classes.codes[i] as usize]).collect();
    Ok(Field { name, data: FieldData::Words(words) })
}
