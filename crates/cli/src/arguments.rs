//! Flags that several verbs share.

use crate::failure::Failure;
use crate::machine;
use crate::picture::{self, Format};
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use mercer::calibrate::Method;
use mercer::data::read::FORMATS;
use mercer::data::{Missing, Scale};
use mercer::formula::Formula;
use mercer::gram::Budget;
use mercer::machines::{self, Learns, MachineEntry};
use mercer::plot::Theme;
use mercer::seed::Seed;
use std::path::{Path, PathBuf};

/// Flags of every verb that computes.
pub(crate) fn common(command: Command) -> Command {
    command
        .next_help_heading("Common options")
        .arg(threads())
        .arg(
            Arg::new("seed")
                .long("seed")
                .value_name("N")
                .allow_negative_numbers(true)
                .value_parser(value_parser!(u64))
                .default_value("0")
                .help("Seed of everything random"),
        )
        .arg(
            Arg::new("memory")
                .long("memory")
                .value_name("SIZE")
                .allow_hyphen_values(true)
                .help("Memory for large matrices, e.g. 500M or 4G [default: half of what is free]"),
        )
        .arg(
            Arg::new("max-seconds")
                .long("max-seconds")
                .value_name("S")
                .allow_negative_numbers(true)
                .value_parser(seconds)
                .help("Stop after so many seconds; a fit keeps the best so far"),
        )
        .arg(json())
}

/// `--threads`.
pub(crate) fn threads() -> Arg {
    Arg::new("threads")
        .long("threads")
        .value_name("N")
        .allow_negative_numbers(true)
        .value_parser(value_parser!(u16).range(1..=1024))
        .help("Threads to use [default: all cores]")
}

/// `--labels`.
pub(crate) fn labels() -> Arg {
    Arg::new("labels")
        .long("labels")
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .hide_short_help(true)
        .help("File with the labels, for IDX and NPY data")
}

/// A time limit.
fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(s) if s >= 0.0 && s.is_finite() => Ok(s),
        _ => Err("give a number of seconds, 0 or more".to_owned()),
    }
}

/// `--json`.
pub(crate) fn json() -> Arg {
    Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print one JSON document on standard output")
}

/// `-o FILE`.
pub(crate) fn output(name: &'static str, help: &'static str) -> Arg {
    Arg::new("output").short('o').long("output").value_name(name).value_parser(value_parser!(PathBuf)).help(help)
}

/// A path that must be given.
pub(crate) fn path(id: &'static str, help: &'static str) -> Arg {
    Arg::new(id).value_name(id).required(true).value_parser(value_parser!(PathBuf)).help(help)
}

/// The file to learn from, in any format of the catalogue.
pub(crate) fn data_file() -> Arg {
    let names: Vec<&str> = FORMATS.iter().map(|f| f.name).collect();
    let help = format!("Data file: {}; also compressed", names.join(", "));
    Arg::new("DATA").value_name("DATA").required(true).value_parser(value_parser!(PathBuf)).help(help)
}

/// Flags about reading a training file.
pub(crate) fn reading(command: Command) -> Command {
    let text =
        |id: &'static str, name: &'static str, help: &'static str| Arg::new(id).long(id).value_name(name).help(help);
    command
        .next_help_heading("Data options")
        .arg(
            text(
                "target",
                "COLUMN",
                "Column to predict: a name, a number from 1 (negative: from the end), several with commas, or none",
            )
            .allow_hyphen_values(true),
        )
        .arg(labels())
        .arg(
            text("scale", "WAY", "How columns are scaled [default: standard for dense data, else none]")
                .value_parser(Scale::WORDS.map(|w| w.0)),
        )
        .arg(
            text("missing", "WAY", "What becomes of missing entries; some kernels keep them")
                .long_help("What becomes of missing entries; keep is for kernels that take them, and sets of vectors do so by themselves")
                .value_parser(Missing::WORDS.map(|w| w.0))
                .default_value("error"),
        )
        .arg(text("categorical", "COLS", "Columns of categories that look like numbers").allow_hyphen_values(true).hide_short_help(true))
        .arg(text("text", "COLS", "Columns of strings for string kernels").allow_hyphen_values(true))
        .arg(
            text("view", "NAME=COLS", "A named group of columns, e.g. size=1,2,5-9; may be repeated")
                .action(ArgAction::Append),
        )
        .args(format())
}

/// Flags about the format of a file.
pub(crate) fn format() -> [Arg; 3] {
    [
        Arg::new("format")
            .long("format")
            .value_name("NAME")
            .value_parser(PossibleValuesParser::new(FORMATS.iter().map(|f| f.name)))
            .hide_possible_values(true)
            .help("Format of the file, one of `mercer list formats` [default: by extension and content]"),
        Arg::new("header")
            .long("header")
            .hide_short_help(true)
            .value_name("BOOL")
            .value_parser(value_parser!(bool))
            .help("Whether the first line names the columns [default: by content]"),
        Arg::new("delimiter")
            .long("delimiter")
            .hide_short_help(true)
            .value_name("CHAR")
            .help("What separates cells: , ; tab | or space [default: by content]"),
    ]
}

/// `--kernel`.
pub(crate) fn kernel() -> Arg {
    Arg::new("kernel")
        .long("kernel")
        .short('k')
        .value_name("FORMULA")
        .allow_hyphen_values(true)
        .help("Kernel, e.g. 'rbf(gamma=0.5) + 0.1*linear' [default: rbf(gamma=scale), or linear]")
}

/// Flags about the probabilities of a classifier.
pub(crate) fn probabilities(command: Command) -> Command {
    command
        .arg(
            Arg::new("probabilities")
                .long("probabilities")
                .value_name("METHOD")
                .value_parser(Method::WORDS.map(|w| w.0))
                .help("Also learn probabilities of the classes, from scores held out by cross-validation"),
        )
        .arg(
            Arg::new("calibration-folds")
                .long("calibration-folds")
                .value_name("K")
                .allow_negative_numbers(true)
                .value_parser(value_parser!(u16).range(2..=20))
                .requires("probabilities")
                .hide_short_help(true)
                .help("Hold out every fold of so many, 2 to 20 [default: a third of the examples where that is enough, else 3]"),
        )
}

/// How probabilities are to be learned, and in how many folds; an error for a machine that learns no classes.
pub(crate) fn calibration(flags: &ArgMatches, entry: &MachineEntry) -> Result<(Option<Method>, usize), Failure> {
    let word = flags.get_one::<String>("probabilities");
    let method = word.and_then(|word| Method::WORDS.iter().find(|(w, _)| w == word)).map(|(_, method)| *method);
    if method.is_some() && (entry.learns != Learns::Classes || !machines::predicts_target(entry)) {
        return Err(Failure::usage(format!("--probabilities is for classifiers, and {} is none", entry.name)));
    }
    Ok((method, flags.get_one::<u16>("calibration-folds").map_or(0, |&k| usize::from(k))))
}

/// `--weights`.
pub(crate) fn weights() -> Arg {
    Arg::new("weights")
        .long("weights")
        .value_name("NAME|INDEX")
        .allow_hyphen_values(true)
        .help("Column that says how much each example counts: numbers ≥ 0, neither feature nor target")
}

/// Weights are refused for machines that would leave them aside.
pub(crate) fn check_weights(flags: &ArgMatches, entry: &MachineEntry) -> Result<(), Failure> {
    if flags.get_one::<String>("weights").is_none() || (entry.make)().traits().weights {
        return Ok(());
    }
    let weighing: Vec<&str> = machines::all().filter(|m| (m.make)().traits().weights).map(|m| m.name).collect();
    Err(Failure::usage(format!(
        "{} does not weigh examples; leave out --weights, or use {}",
        entry.name,
        weighing.join(", ")
    )))
}

/// A file for a picture: refused before any work if it could not be written after it.
pub(crate) fn picture(path: &Path) -> Result<(), Failure> {
    Format::of(path).map_err(Failure::usage)?;
    writable(path)
}

/// `--theme`.
pub(crate) fn theme() -> Arg {
    Arg::new("theme")
        .long("theme")
        .value_name("THEME")
        .value_parser(Theme::WORDS.map(|w| w.0))
        .default_value("light")
        .help("Colours of the picture")
}

/// Writes a drawn picture, as SVG or PNG; how many bytes it has.
pub(crate) fn save_picture(path: &Path, svg: &str) -> Result<usize, Failure> {
    picture::save(path, svg).map_err(|e| Failure::file(path, &e))
}

/// The theme of a picture.
pub(crate) fn chosen_theme(flags: &ArgMatches) -> Theme {
    let word = flags.get_one::<String>("theme");
    Theme::WORDS.iter().find(|(w, _)| word.is_some_and(|word| word == w)).map_or(Theme::Light, |(_, theme)| *theme)
}

/// The file to write: refused before any work if it could not be written after it.
pub(crate) fn target(flags: &ArgMatches) -> Result<Option<&PathBuf>, Failure> {
    let Some(path) = flags.get_one::<PathBuf>("output") else { return Ok(None) };
    writable(path)?;
    Ok(Some(path))
}

/// A file that could not be written is refused before any work.
pub(crate) fn writable(path: &Path) -> Result<(), Failure> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
    let wrong = |what: String| Err(Failure { message: what, code: 3 });
    if path.is_dir() {
        return wrong(format!("{} is a folder; -o needs the name of a file", path.display()));
    }
    match folder {
        Some(folder) if !folder.is_dir() => {
            wrong(format!("{}: there is no folder {}; make it first", path.display(), folder.display()))
        }
        _ => Ok(()),
    }
}

/// Threads are set up before anything runs.
pub(crate) fn prepare(flags: &ArgMatches) -> Result<(), Failure> {
    let Ok(Some(&threads)) = flags.try_get_one::<u16>("threads") else { return Ok(()) };
    rayon::ThreadPoolBuilder::new()
        .num_threads(usize::from(threads))
        .build_global()
        .map_err(|e| Failure { message: format!("threads could not be started: {e}"), code: 4 })
}

/// The memory budget.
pub(crate) fn budget(flags: &ArgMatches) -> Result<Budget, Failure> {
    match flags.get_one::<String>("memory") {
        None => Ok(Budget::default()),
        Some(text) => Ok(Budget { memory: bytes(text)? }),
    }
}

/// `500M`, `4G`, `2GiB`, `1e9`.
fn bytes(text: &str) -> Result<usize, Failure> {
    let lower = text.trim().to_lowercase();
    let digits = lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let (number, unit) = match lower.parse::<f64>() {
        Ok(plain) => (Some(plain), ""),
        Err(_) => (digits.parse::<f64>().ok(), &lower[digits.len()..]),
    };
    let factor = match unit {
        "" | "b" => Some(1.0),
        "k" | "kb" | "kib" => Some(1024.0),
        "m" | "mb" | "mib" => Some(1024.0 * 1024.0),
        "g" | "gb" | "gib" => Some(1024.0_f64.powi(3)),
        "t" | "tb" | "tib" => Some(1024.0_f64.powi(4)),
        _ => None,
    };
    match (number, factor) {
        (Some(number), Some(factor)) if number > 0.0 && number.is_finite() => Ok((number * factor) as usize),
        _ => Err(Failure::usage(format!("--memory {text} is not a size; write e.g. 500M or 4G"))),
    }
}

/// The seed.
pub(crate) fn seed(flags: &ArgMatches) -> Seed {
    Seed(flags.get_one::<u64>("seed").copied().unwrap_or(0))
}

/// The kernel formula.
pub(crate) fn formula(flags: &ArgMatches) -> Result<Formula, Failure> {
    // linear machines work on features, which few kernels have
    let linear = machine::entry(flags).is_some_and(|entry| !(entry.make)().traits().wants_matrix());
    let usual = if linear { "linear" } else { "rbf(gamma=scale)" };
    let text = flags.get_one::<String>("kernel").map_or(usual, String::as_str);
    Ok(text.parse::<Formula>()?)
}
