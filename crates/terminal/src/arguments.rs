//! Flags that every program of mercer has, and the values behind them.

use crate::failure::Failure;
use crate::picture::{self, Format};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use mercer::gram::Budget;
use mercer::memory::set_default;
use mercer::plot::Theme;
use mercer::seed::Seed;
use std::path::{Path, PathBuf};

/// Flags of every verb that computes.
pub fn common(command: Command) -> Command {
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
        .arg(memory())
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

/// `--memory`.
pub fn memory() -> Arg {
    Arg::new("memory")
        .long("memory")
        .value_name("SIZE")
        .allow_hyphen_values(true)
        .help("Memory for tables and large matrices, e.g. 500M or 4G [default: half of what is available]")
}

/// `--threads`.
pub fn threads() -> Arg {
    Arg::new("threads")
        .long("threads")
        .value_name("N")
        .allow_negative_numbers(true)
        .value_parser(value_parser!(u16).range(1..=1024))
        .help("Threads to use [default: all cores]")
}

/// A time limit.
fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(s) if s >= 0.0 && s.is_finite() => Ok(s),
        _ => Err("give a number of seconds, 0 or more".to_owned()),
    }
}

/// `--json`.
pub fn json() -> Arg {
    Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print one JSON document on standard output")
}

/// `-o FILE`.
pub fn output(name: &'static str, help: &'static str) -> Arg {
    Arg::new("output").short('o').long("output").value_name(name).value_parser(value_parser!(PathBuf)).help(help)
}

/// A file for a picture: refused before any work if it could not be written after it.
pub fn picture(path: &Path) -> Result<(), Failure> {
    Format::of(path).map_err(Failure::usage)?;
    writable(path)
}

/// `--theme`.
pub fn theme() -> Arg {
    Arg::new("theme")
        .long("theme")
        .value_name("THEME")
        .value_parser(Theme::WORDS.map(|w| w.0))
        .default_value("light")
        .help("Colours of the picture")
}

/// Writes a drawn picture, as SVG or PNG; how many bytes it has.
pub fn save_picture(path: &Path, svg: &str) -> Result<usize, Failure> {
    picture::save(path, svg).map_err(|e| Failure::file(path, &e))
}

/// The theme of a picture.
pub fn chosen_theme(flags: &ArgMatches) -> Theme {
    let word = flags.get_one::<String>("theme");
    Theme::WORDS.iter().find(|(w, _)| word.is_some_and(|word| word == w)).map_or(Theme::Light, |(_, theme)| *theme)
}

/// The file to write: refused before any work if it could not be written after it.
pub fn target(flags: &ArgMatches) -> Result<Option<&PathBuf>, Failure> {
    let Some(path) = flags.get_one::<PathBuf>("output") else { return Ok(None) };
    writable(path)?;
    Ok(Some(path))
}

/// A file that could not be written is refused before any work.
pub fn writable(path: &Path) -> Result<(), Failure> {
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

/// Threads and the memory budget are set up before anything runs.
pub fn prepare(flags: &ArgMatches) -> Result<(), Failure> {
    if let Ok(Some(text)) = flags.try_get_one::<String>("memory") {
        set_default(Budget { memory: bytes(text)? });
    }
    let Ok(Some(&threads)) = flags.try_get_one::<u16>("threads") else { return Ok(()) };
    rayon::ThreadPoolBuilder::new()
        .num_threads(usize::from(threads))
        .build_global()
        .map_err(|e| Failure { message: format!("threads could not be started: {e}"), code: 4 })
}

/// The memory budget.
pub fn budget(flags: &ArgMatches) -> Result<Budget, Failure> {
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
pub fn seed(flags: &ArgMatches) -> Seed {
    Seed(flags.get_one::<u64>("seed").copied().unwrap_or(0))
}
