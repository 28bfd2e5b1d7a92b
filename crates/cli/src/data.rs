//! `mercer data`: a data set that comes with the program, as CSV.

use crate::predict::cell;
use crate::{Verb, arguments, promise, report};
use clap::{Arg, ArgMatches, Command, value_parser};
use mercer::data::write::{choose, write};
use mercer::data::{FieldData, Table};
use mercer::datasets;
use mercer::params::{ParamError, nearest};
use mercer_terminal::Failure;
use serde_json::json;
use std::io::Write;

pub(crate) const VERB: Verb = Verb { command, run };

fn command() -> Command {
    Command::new("data")
        .about("Write a data set that comes with the program as CSV")
        .after_help("Example:\n  mercer data banana --n 1000 --seed 7 -o banana.csv")
        .arg(Arg::new("NAME").value_name("NAME").required(true).help("Data set; `mercer list datasets` shows all"))
        .arg(arguments::output("FILE", "CSV file to write [default: standard output]"))
        .arg(Arg::new("n").long("n").value_name("N").value_parser(value_parser!(usize)).help("How many examples"))
        .arg(
            Arg::new("seed")
                .long("seed")
                .value_name("N")
                .value_parser(value_parser!(u64))
                .default_value("0")
                .help("Seed"),
        )
        .arg(arguments::json())
}

fn run(flags: &ArgMatches) -> Result<(), Failure> {
    // `-o -` prints what is printed without -o
    let target = arguments::target(flags)?.filter(|path| !mercer::write::is_standard_output(path));
    if let Some(path) = target {
        promise::check(path, &["csv", "tsv"])?;
    }
    let name = flags.get_one::<String>("NAME").map_or("", String::as_str);
    if !datasets::SETS.iter().any(|s| s.name == name) {
        let remedy = match nearest(name, datasets::SETS.iter().map(|s| s.name)) {
            Some(close) => format!("did you mean {close}?"),
            None => "`mercer list datasets` shows all".to_owned(),
        };
        return Err(ParamError::NoSuch { what: "data set", name: name.to_owned(), remedy }.into());
    }
    let table = datasets::load(name, flags.get_one::<usize>("n").copied(), arguments::seed(flags))?;
    match target {
        Some(path) => {
            if promise::ends_in(path, "tsv") {
                write(path, &table, choose(path, None)?)?;
            } else {
                promise::write(path, |out| write_csv(out, &table))?;
            }
            if flags.get_flag("json") {
                report::print_json(&json!({"name": name, "n": table.len, "output": path.display().to_string()}));
            } else {
                report::print(&report::facts(&[
                    ("examples", table.len.to_string()),
                    ("columns", columns(&table)),
                    ("file", path.display().to_string()),
                ]));
            }
        }
        None if flags.get_flag("json") => report::print_json(&document(name, &table)),
        None => report::print_file(|out| write_csv(out, &table)),
    }
    Ok(())
}

/// The whole set as JSON: columns by name.
fn document(name: &str, table: &Table) -> serde_json::Value {
    let column = |data: &FieldData| match data {
        FieldData::Numbers { values, .. } => json!(values),
        FieldData::Words(words) | FieldData::Mixed { cells: words, .. } => json!(words.iter().collect::<Vec<_>>()),
        FieldData::Matrix(_) | FieldData::Matrix32(_) | FieldData::Sparse(_) => json!(null),
    };
    let columns: serde_json::Map<_, _> = table.fields.iter().map(|f| (f.name.clone(), column(&f.data))).collect();
    json!({"name": name, "n": table.len, "columns": columns})
}

/// The names of the columns, the first few of many.
fn columns(table: &Table) -> String {
    let names: Vec<&str> = table.fields.iter().map(|f| f.name.as_str()).collect();
    match names.as_slice() {
        [first, second, third, .., last] if names.len() > 8 => {
            format!("{first}, {second}, {third}, … {last} ({} in all)", names.len())
        }
        _ => names.join(", "),
    }
}

/// A header, then one line for each example.
pub(crate) fn write_csv(out: &mut dyn Write, table: &Table) -> std::io::Result<()> {
    let names: Vec<String> = table.fields.iter().map(|f| cell(&f.name)).collect();
    writeln!(out, "{}", names.join(","))?;
    for i in 0..table.len {
        for (k, field) in table.fields.iter().enumerate() {
            if k > 0 {
                write!(out, ",")?;
            }
            match &field.data {
                FieldData::Numbers { values, .. } => write!(out, "{}", values[i])?,
                FieldData::Words(words) | FieldData::Mixed { cells: words, .. } => write!(out, "{}", cell(&words[i]))?,
                FieldData::Matrix(rows) => {
                    let line: Vec<String> = rows.row(i).iter().map(ToString::to_string).collect();
                    write!(out, "{}", line.join(","))?;
                }
                FieldData::Matrix32(rows) => {
                    let line: Vec<String> = rows.row(i).iter().map(ToString::to_string).collect();
                    write!(out, "{}", line.join(","))?;
                }
                FieldData::Sparse(_) => {}
            }
        }
        writeln!(out)?;
    }
    out.flush()
}
