//! `mercer reproduce`: starts `mercer-reproduce`, the program of the experiments, with the rest of the command line.
//!
//! The experiments are a crate of their own (`crates/experiments`), so that the program for everyday work neither contains nor
//! compiles them.

use crate::{Verb, report};
use clap::{Arg, ArgMatches, Command, value_parser};
use mercer_terminal::Failure;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process;

pub(crate) const VERB: Verb = Verb { command, run };

/// The name of the verb.
pub(crate) const NAME: &str = "reproduce";

/// The program of the experiments.
const PROGRAM: &str = "mercer-reproduce";

/// The verb in a line.
const ABOUT: &str = "Run an experiment of the literature again and compare with what was printed";

fn command() -> Command {
    Command::new(NAME)
        .about(ABOUT)
        // `--help` and `--json` are flags of the other program
        .disable_help_flag(true)
        .arg(
            Arg::new("ARGUMENTS")
                .value_name("ARGUMENTS")
                .num_args(0..)
                .trailing_var_arg(true)
                .allow_hyphen_values(true)
                .value_parser(value_parser!(OsString))
                .help("The experiment and its flags; `mercer reproduce` lists the experiments"),
        )
}

fn run(flags: &ArgMatches) -> Result<(), Failure> {
    start(flags.get_many::<OsString>("ARGUMENTS").into_iter().flatten().cloned().collect())
}

/// Runs the program of the experiments with these arguments: the one beside this program, else the first one on the search
/// path of the system.
pub(crate) fn start(arguments: Vec<OsString>) -> Result<(), Failure> {
    let program = beside().unwrap_or_else(|| PathBuf::from(PROGRAM));
    let mut experiments = process::Command::new(&program);
    experiments.args(arguments);
    let code = hand_over(&mut experiments).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::usage(REMEDY),
        _ => Failure::file(&program, &error),
    })?;
    // the program has said everything itself
    if code == 0 { Ok(()) } else { Err(Failure { message: String::new(), code }) }
}

/// The remedy where the program of the experiments is not found.
const REMEDY: &str = "the experiments are a program of their own, mercer-reproduce, which is neither beside mercer nor on the PATH; build it from the sources of mercer: cargo build --release --bin mercer-reproduce";

/// True if the program of the experiments can be started.
pub(crate) fn is_there() -> bool {
    let name = format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX);
    let path = std::env::var_os("PATH").unwrap_or_default();
    beside().is_some() || std::env::split_paths(&path).any(|folder| folder.join(&name).is_file())
}

/// The help where the program that has it is not there.
pub(crate) fn page() -> String {
    format!(
        "{ABOUT}\n\nUsage: mercer reproduce [ARGUMENTS]...\n\n{}",
        report::folded(&format!("What there is, and its flags, is known to the program that runs it: {REMEDY}"), 0)
    )
}

/// The program of the experiments in the folder of this program.
fn beside() -> Option<PathBuf> {
    let name = format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX);
    std::env::current_exe().ok().map(|own| own.with_file_name(name)).filter(|path| path.is_file())
}

/// Replaces this process, so that signals reach the experiment alone; returns only if the program cannot be started.
#[cfg(unix)]
fn hand_over(experiments: &mut process::Command) -> io::Result<u8> {
    use std::os::unix::process::CommandExt;
    Err(experiments.exec())
}

/// Waits for the program and returns its exit code.
#[cfg(not(unix))]
fn hand_over(experiments: &mut process::Command) -> io::Result<u8> {
    let status = experiments.status()?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}
