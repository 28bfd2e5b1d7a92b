//! The parts that the programs of mercer share: common flags, reports, progress, pictures and exit codes.
//!
//! Standard output carries the result (one JSON document with `--json`), standard error everything else. Exit codes: 0 ok,
//! 2 usage, 3 data, 4 numerics, 130 interrupted by Ctrl-C (by another signal, 128 and its number).

// what goes to a terminal goes through `report`, which shows control characters
#![warn(clippy::print_stderr)]

pub mod arguments;
mod exhausted;
pub mod failure;
pub mod picture;
pub mod report;
mod signals;
pub mod watch;

pub use failure::Failure;
pub use watch::Watch;

use clap::{ArgMatches, Command};
use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

/// A verb of a program: the declaration of its flags, and the function that carries it out.
pub struct Verb {
    /// Declares the flags.
    pub command: fn() -> Command,
    /// Carries out the verb with the flags that were given.
    pub run: fn(&ArgMatches) -> Result<(), Failure>,
}

/// Carries out a program, and gives its exit code: a failure is told, also that of writing standard output.
pub fn carry_out(as_json: bool, program: impl FnOnce() -> Result<(), Failure>) -> ExitCode {
    watch::listen(as_json);
    match program().and_then(|()| report::outcome()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.tell(as_json),
    }
}

/// Tells of a command line that does not parse, or that asks for help: the parser prints its answer, and a JSON document says
/// the first line of an error where `as_json` holds.
///
/// # Errors
/// Always for what does not parse; for help, if it cannot be printed.
pub fn refuse(error: &clap::Error, as_json: bool) -> Result<(), Failure> {
    let text = error.to_string();
    if as_json && error.use_stderr() {
        let first = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
        report::print_json(&serde_json::json!({"error": first, "exit_code": 2}));
    }
    // the parser colours its words, and sends those of the user to a terminal as they are
    let harmless = std::env::args_os().all(|word| matches!(report::visible(&word.to_string_lossy()), Cow::Borrowed(_)));
    let printed = if harmless { error.print() } else { print_plainly(error, &text) };
    match printed {
        _ if error.use_stderr() => Err(Failure::told(2)),
        Err(failed) if failed.kind() != io::ErrorKind::BrokenPipe => Err(Failure::file(Path::new("-"), &failed)),
        _ => Ok(()),
    }
}

/// Prints the parser's answer without colours, with control characters shown.
fn print_plainly(error: &clap::Error, text: &str) -> io::Result<()> {
    let text = report::visible(text.trim_end());
    if error.use_stderr() { writeln!(io::stderr(), "{text}") } else { writeln!(io::stdout(), "{text}") }
}
