//! Flags that every program of mercer has, and the values behind them.

use crate::failure::Failure;
use crate::picture::{self, Format};
use crate::report;
use clap::builder::{PathBufValueParser, TypedValueParser};
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
    written("output", name, help).short('o')
}

/// A flag that names a file to write.
pub fn written(id: &'static str, name: &'static str, help: &'static str) -> Arg {
    Arg::new(id).long(id).value_name(name).value_parser(output_file()).help(help)
}

/// The parser of a file to write, for arguments that are no flags.
pub fn output_file() -> impl TypedValueParser<Value = OutputFile> {
    PathBufValueParser::new().map(OutputFile)
}

/// A file that a verb writes, or a folder for its files. Outputs are told from inputs by this type, so that none is written over
/// the other.
#[derive(Clone, Debug)]
pub struct OutputFile(PathBuf);

impl OutputFile {
    /// The output that an argument names.
    pub fn given<'a>(flags: &'a ArgMatches, id: &str) -> Option<&'a PathBuf> {
        flags.get_one::<Self>(id).map(|file| &file.0)
    }
}

/// A file for a picture: refused before any work if it could not be written after it.
pub fn picture(path: &Path) -> Result<(), Failure> {
    let format = Format::of(path).map_err(Failure::usage)?;
    if path.extension().is_none() && !mercer::write::is_standard_output(path) {
        let kind = if format == Format::Svg { "SVG" } else { "PNG" };
        report::say("note", &format!("{} will be {kind}; .svg or .png at its end says which", path.display()));
    }
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
    let Some(path) = OutputFile::given(flags, "output") else { return Ok(None) };
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
        _ => mercer::write::check(path).map_err(|e| Failure::file(path, &e)),
    }
}

/// Prepares every verb before it runs: nothing is written over what is read, and memory budget and threads are set up.
pub fn prepare(flags: &ArgMatches) -> Result<(), Failure> {
    keep_apart(flags)?;
    if let Ok(Some(text)) = flags.try_get_one::<String>("memory") {
        set_default(Budget { memory: bytes(text)? });
    }
    let Ok(threads) = flags.try_get_one::<u16>("threads") else { return Ok(()) };
    // also where nobody asks for a number: a system that gives no threads is told of here, and not by a panic later
    rayon::ThreadPoolBuilder::new().num_threads(threads.map_or(0, |&n| usize::from(n))).build_global().map_err(|e| {
        Failure { message: format!("threads could not be started ({e}); ask for fewer with --threads"), code: 4 }
    })
}

/// Refuses an output that is an input or another output, by whatever names, and more than one use of standard input or output.
fn keep_apart(flags: &ArgMatches) -> Result<(), Failure> {
    let (mut read, mut written) = (Vec::new(), Vec::new());
    for id in flags.ids().map(clap::Id::as_str) {
        if let Ok(Some(paths)) = flags.try_get_many::<PathBuf>(id) {
            read.extend(paths.map(|path| (named(id), path.as_path())));
        }
        if let Ok(Some(paths)) = flags.try_get_many::<OutputFile>(id) {
            written.extend(paths.map(|path| (named(id), path.0.as_path())));
        }
    }
    let standard = Path::new("-");
    if let [(one, _), (other, _), ..] = read.iter().filter(|(_, path)| *path == standard).collect::<Vec<_>>()[..] {
        let what = format!("{one} and {other} are both standard input, which is read once; give one of them by a file");
        return Err(Failure::usage(what));
    }
    let told: Vec<_> = written.iter().filter(|(_, path)| mercer::write::is_standard_output(path)).collect();
    if let Some((flag, _)) = told.first() {
        if flags.try_get_one::<bool>("json").is_ok_and(|json| json == Some(&true)) {
            let what = format!("{flag} and --json both print on standard output; give {flag} the name of a file");
            return Err(Failure::usage(what));
        }
        report::leave_standard_output();
    }
    if let [(one, _), (other, _), ..] = told[..] {
        let what = format!("{one} and {other} are both standard output; give one of them the name of a file");
        return Err(Failure::usage(what));
    }
    // what a shell appends to a file goes there by no flag, be it data or the report about a file that is written elsewhere
    if let Some((id, input)) = read.iter().find(|(_, input)| mercer::write::same_file(input, standard)) {
        let what = format!("standard output goes to {id} {}, which is read; send it to another file", input.display());
        return Err(Failure::usage(what));
    }
    for (flag, output) in &written {
        if let Some((id, input)) = read.iter().find(|(_, input)| mercer::write::same_file(input, output)) {
            let (input, output) = (input.display(), output.display());
            let what = format!(
                "{flag} {output} would overwrite {id} {input}, which is read: they are the same file; give {flag} another name"
            );
            return Err(Failure::usage(what));
        }
    }
    for (place, (flag, output)) in written.iter().enumerate() {
        if let Some((other, _)) = written[..place].iter().find(|(_, other)| mercer::write::same_file(other, output)) {
            let what =
                format!("{other} and {flag} {} are the same file; give one of them another name", output.display());
            return Err(Failure::usage(what));
        }
    }
    Ok(())
}

/// An argument as users write it: places have names in capitals.
fn named(id: &str) -> String {
    match id {
        "output" => "-o".to_owned(),
        place if place.starts_with(char::is_uppercase) => place.to_owned(),
        flag => format!("--{flag}"),
    }
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
