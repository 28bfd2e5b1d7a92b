//! Flags that several verbs share.

use crate::machine;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use mercer::calibrate::Method;
use mercer::data::read::FORMATS;
use mercer::data::{Missing, Scale, Unseen};
use mercer::formula::Formula;
use mercer::machines::{self, Learns, MachineEntry};
use mercer::metrics::{SCORES, Score};
use mercer_terminal::Failure;
use std::path::PathBuf;

pub(crate) use mercer_terminal::arguments::{
    OutputFile, budget, chosen_theme, common, json, memory, output, output_file, picture, prepare, save_picture, seed,
    target, theme, threads, writable, written,
};

/// `--labels`.
pub(crate) fn labels() -> Arg {
    Arg::new("labels")
        .long("labels")
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .hide_short_help(true)
        .help("File with the labels, for IDX and NPY data")
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

/// `--preparation-share`.
pub(crate) fn preparation() -> Arg {
    Arg::new("preparation-share")
        .long("preparation-share")
        .value_name("SHARE")
        .allow_negative_numbers(true)
        .value_parser(value_parser!(f64))
        .default_value("0")
        .hide_short_help(true)
        .help("Learn scaling, codes and parameters of the kernel (gamma=scale) from such a share of the examples, drawn at random, e.g. 0.2, and the model from the others: certificates then pay nothing for them")
}

/// The share that was asked for.
pub(crate) fn preparation_share(flags: &ArgMatches) -> f64 {
    flags.try_get_one::<f64>("preparation-share").ok().flatten().copied().unwrap_or(0.0)
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
            .long_help("Column to predict: a name, a number from 1 (negative: from the end), several with commas, or none [default: the last column of CSV, what LIBSVM and NPZ name, else the column y, label, target or class, else the last]")
            .allow_hyphen_values(true),
        )
        .arg(labels())
        .arg(
            text("scale", "WAY", "How columns are scaled [default: standard for dense data, else none]")
                .value_parser(Scale::WORDS.map(|w| w.0)),
        )
        .arg(
            text("missing", "WAY", "What becomes of missing entries")
                .long_help("What becomes of missing entries; keep is for kernels that take them, and sets of vectors do so by themselves")
                .value_parser(Missing::WORDS.map(|w| w.0))
                .default_value("error"),
        )
        .arg(
            text("missing-words", "WORDS", "Words that stand for missing entries, e.g. n/a,-999; empty cells, NA, NaN, null and ? do anyway")
                .long_help("Words that stand for missing entries, with commas between, e.g. unknown,-999. Empty cells, NA, N/A, NaN, null and ? do anyway, and among numbers n/a, None, #N/A, - and the like")
                .hide_short_help(true)
                .allow_hyphen_values(true),
        )
        .args(chosen())
        .arg(unseen().help("What becomes of categories that training has not seen: ignore takes them as none of the known, and counts them [default: error]"))
        .arg(text("categorical", "COLS", "Columns of categories that look like numbers").allow_hyphen_values(true).hide_short_help(true))
        .arg(text("dates", "COLS", "Columns of dates such as 2024-02-29, with or without a time: days since 1970").allow_hyphen_values(true).hide_short_help(true))
        .arg(text("text", "COLS", "Columns of strings for string kernels").allow_hyphen_values(true))
        .arg(
            text("view", "NAME=COLS", "A named group of columns, e.g. size=1,2,5-9")
                .long_help("A named group of columns, e.g. size=1,2,5-9; may be repeated")
                .action(ArgAction::Append),
        )
        .args(format())
}

/// Flags that choose columns: a name, a number from 1 (negative: from the end) or a range of either, with commas between.
pub(crate) fn chosen() -> [Arg; 2] {
    let list = |id: &'static str, help: &'static str, more: &'static str| {
        Arg::new(id)
            .long(id)
            .value_name("COLS")
            .allow_hyphen_values(true)
            .help(help)
            .long_help(format!("{help}; {more}"))
    };
    [
        list("drop", "Columns to leave out, e.g. id,3,7-9", "files to be predicted need not have them"),
        list("columns", "The only columns to keep, e.g. age,city,5-9", "target and weights stay without being named"),
    ]
}

/// `--unseen`.
pub(crate) fn unseen() -> Arg {
    Arg::new("unseen")
        .long("unseen")
        .value_name("WAY")
        .value_parser(Unseen::WORDS.map(|w| w.0))
        .hide_short_help(true)
        .help("What becomes of categories that training has not seen; ignore takes them as none of the known, and counts them [default: as in training]")
}

/// Flags about the rows of a file that a model is compared with.
pub(crate) fn compared() -> [Arg; 2] {
    let missing = Arg::new("missing")
        .long("missing")
        .value_name("WAY")
        .value_parser(Missing::WORDS.map(|w| w.0))
        .hide_short_help(true)
        .help("What becomes of rows with missing entries: error, drop, or what training has prepared [default: as in training]");
    [missing, unseen()]
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

/// The way in which probabilities are learned, and the number of folds; an error for a machine that learns no classes.
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
    Err(Failure::usage(format!(
        "{} does not weigh examples; leave out --weights, or use {}",
        entry.name,
        machines::alternatives(entry, |t| t.weights)
    )))
}

/// Flags about the score that decides.
pub(crate) fn scoring(command: Command) -> Command {
    let of = |learns| SCORES.iter().filter(|s| s.learns == learns).map(|s| s.name).collect::<Vec<_>>().join(", ");
    let lines = SCORES.iter().map(|s| format!("  {:<10} {}", s.name, s.summary)).collect::<Vec<_>>().join("\n");
    command
        .arg(
            Arg::new("score")
                .long("score")
                .value_name("NAME")
                .help(format!("What counts: {} for classes, {} for numbers [default: error, or rmse]", of(Learns::Classes), of(Learns::Numbers)))
                .long_help(format!("What counts on held-out examples [default: error, or rmse]:\n{lines}")),
        )
        .arg(
            Arg::new("positive")
                .long("positive")
                .value_name("LABEL")
                .allow_hyphen_values(true)
                .requires("score")
                .help("The class that auc, f1, precision and recall look for [default: the second of two, the mean of several]"),
        )
}

/// The score that decides, for a machine.
pub(crate) fn score(flags: &ArgMatches, entry: &MachineEntry) -> Result<Option<Score>, Failure> {
    let positive = flags.get_one::<String>("positive").map(String::as_str);
    let Some(name) = flags.get_one::<String>("score") else { return Ok(None) };
    Score::named(name, entry.learns, positive).map(Some).map_err(|e| Failure::usage(format!("--score: {e}")))
}

/// The kernel where none is asked for.
pub(crate) const USUAL_KERNEL: &str = "rbf(gamma=scale)";

/// The kernel formula.
pub(crate) fn formula(flags: &ArgMatches) -> Result<Formula, Failure> {
    // linear machines work on features, which few kernels have
    let linear = machine::entry(flags).is_some_and(|entry| !(entry.make)().traits().wants_matrix());
    let usual = if linear { "linear" } else { USUAL_KERNEL };
    let text = flags.get_one::<String>("kernel").map_or(usual, String::as_str);
    Ok(text.parse::<Formula>()?)
}
