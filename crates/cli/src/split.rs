//! `mercer split`: a file in two, one to learn from and one to judge by.

use crate::arguments::OutputFile;
use crate::{Verb, arguments, input, report};
use clap::{Arg, ArgMatches, Command, value_parser};
use mercer::data::write::{stands_in_lines, write_rows};
use mercer::data::{DataError, Table};
use mercer::select::{SplitBy, set_aside};
use mercer_terminal::Failure;
use serde_json::json;
use std::path::{Path, PathBuf};

pub(crate) const VERB: Verb = Verb { command, run };

fn command() -> Command {
    let file = |id: &'static str, help: &'static str| {
        Arg::new(id).long(id).value_name("FILE").value_parser(arguments::output_file()).help(help)
    };
    let column = |id: &'static str, help: &'static str| {
        Arg::new(id).long(id).value_name("COLUMN").allow_hyphen_values(true).help(help)
    };
    let command = Command::new("split")
        .about("Divide a data file into one to learn from and one to judge by; rows stay as they are, each with the header")
        .after_help(
            "Examples:\n  mercer split data.csv --test 0.25\n  \
             mercer split data.csv --test 0.25 --stratify churn --seed 1\n  \
             mercer split visits.csv --test 200 --groups patient --train-file a.csv --test-file b.csv",
        )
        .arg(arguments::data_file())
        .arg(
            Arg::new("test")
                .long("test")
                .value_name("SHARE|N")
                .allow_negative_numbers(true)
                .value_parser(value_parser!(f64))
                .default_value("0.25")
                .help("The share of the examples that is to judge, or their number"),
        )
        .arg(column("stratify", "Column whose values are in both files in about their proportions; target: the target of the file. The rows of the test file are not independent then, as intervals and certificates take them to be"))
        .arg(column("groups", "Column of groups, such as patients: examples of one group go to the same file").conflicts_with("stratify"))
        .arg(file("train-file", "File for what is to be learned from [default: beside DATA, its name with -train]"))
        .arg(file("test-file", "File for what is to judge [default: beside DATA, its name with -test]"));
    command
        .arg(
            Arg::new("seed")
                .long("seed")
                .value_name("N")
                .value_parser(value_parser!(u64))
                .default_value("0")
                .help("Seed of the choice"),
        )
        .next_help_heading("Data options")
        .args(arguments::format())
        .next_help_heading("Common options")
        .arg(arguments::threads())
        .arg(arguments::json())
}

fn run(flags: &ArgMatches) -> Result<(), Failure> {
    let Some(path) = flags.get_one::<PathBuf>("DATA") else { return Err(Failure::usage("DATA is missing")) };
    if path == Path::new("-") {
        return Err(Failure::usage(
            "rows are copied in a second pass, which standard input does not have; give a file",
        ));
    }
    if std::fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir()) {
        let what = format!(
            "{} is a pipe or a device, which is read once, and rows are copied in a second pass; give a file",
            path.display()
        );
        return Err(Failure::usage(what));
    }
    let test = flags.get_one::<f64>("test").copied().unwrap_or(0.25);
    let (train_file, test_file) = (place(path, flags, "train")?, place(path, flags, "test")?);
    if train_file == test_file {
        return Err(Failure::usage("--train-file and --test-file are the same file; name two"));
    }
    let table = input::plain_table(path, flags)?;
    if !stands_in_lines(&table) {
        // write_rows says so, too, but only when the first file is due
        let finding =
            format!("{} has rows that are no lines of text; write it as CSV with mercer convert first", table.file);
        return Err(DataError::Unfit { finding }.into());
    }
    let count = count(test, table.len)?;
    let codes = match (flags.get_one::<String>("stratify"), flags.get_one::<String>("groups")) {
        (Some(column), _) => Some((kinds(&table, column)?, false)),
        (None, Some(column)) => Some((table.codes(column)?, true)),
        (None, None) => None,
    };
    let by = match &codes {
        Some((groups, true)) => SplitBy::Groups(groups),
        Some((kinds, false)) => SplitBy::Strata(kinds),
        None => SplitBy::Chance,
    };
    let split = set_aside(table.len, count, by, arguments::seed(flags))?;
    let fresh = !train_file.exists();
    write_rows(path, &table, &split.train, &train_file)?;
    write_rows(path, &table, &split.test, &test_file).inspect_err(|_| {
        // half a split is none, and the next try finds no name taken
        if fresh && train_file.is_file() {
            let _ = std::fs::remove_file(&train_file);
        }
    })?;
    let stratified = matches!(by, SplitBy::Strata(_));
    if stratified {
        report::warn(
            "the rows of the test file are not independent of one another, since each value has its share of them: intervals of errors and \
             certificates that rest on them may be too narrow. Leave out --stratify where such are wanted",
        );
    }
    if flags.get_flag("json") {
        report::print_json(&json!({
            "n": table.len, "format": table.format, "stratified": stratified,
            "train": {"n": split.train.len(), "output": train_file.display().to_string()},
            "test": {"n": split.test.len(), "output": test_file.display().to_string()},
        }));
    } else {
        let told = |n: usize, file: &Path| format!("{n} examples in {}", file.display());
        report::print(&report::facts(&[
            ("train", told(split.train.len(), &train_file)),
            ("test", told(split.test.len(), &test_file)),
        ]));
    }
    Ok(())
}

/// The number of examples that a share or a number means.
fn count(test: f64, n: usize) -> Result<usize, Failure> {
    if test > 0.0 && test < 1.0 {
        return Ok((test * n as f64).round() as usize);
    }
    if test >= 1.0 && test.fract() == 0.0 && test < n as f64 {
        return Ok(test as usize);
    }
    Err(Failure::usage(format!("--test {test} is neither a share between 0 and 1 nor a number of the {n} examples")))
}

/// A number for each kind of example.
fn kinds(table: &Table, column: &str) -> Result<Vec<u32>, Failure> {
    let target = table.target.map(|t| table.fields[t].name.clone());
    let name = match target {
        Some(name) if column == "target" && table.find(column).is_err() => name,
        _ => column.to_owned(),
    };
    Ok(table.codes(&name)?)
}

/// The file of a part: as it is named, else beside the data. A name that nobody gave is not taken from another file.
fn place(data: &Path, flags: &ArgMatches, part: &str) -> Result<PathBuf, Failure> {
    let id = format!("{part}-file");
    if let Some(file) = OutputFile::given(flags, &id) {
        arguments::writable(file)?;
        return Ok(file.clone());
    }
    let name = data.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let name = name.strip_suffix(".zst").or_else(|| name.strip_suffix(".zstd")).unwrap_or(&name);
    let (name, packed) = name.strip_suffix(".gz").map_or((name, ""), |plain| (plain, ".gz"));
    let (stem, end) = name.rsplit_once('.').map_or((name, String::new()), |(stem, end)| (stem, format!(".{end}")));
    let file = data.with_file_name(format!("{stem}-{part}{end}{packed}"));
    if file.exists() {
        return Err(Failure::usage(format!(
            "{} is there already; remove it, or name the file with --{id}",
            file.display()
        )));
    }
    arguments::writable(&file)?;
    Ok(file)
}
