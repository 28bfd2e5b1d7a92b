//! The parts that the programs of mercer share: common flags, reports, progress, pictures and exit codes.
//!
//! Standard output carries the result (one JSON document with `--json`), standard error everything else. Exit codes: 0 ok,
//! 2 usage, 3 data, 4 numerics, 130 interrupted.

pub mod arguments;
pub mod failure;
pub mod picture;
pub mod report;
pub mod watch;

pub use failure::Failure;
pub use watch::Watch;

use clap::{ArgMatches, Command};

/// A verb of a program: the declaration of its flags, and the function that carries it out.
pub struct Verb {
    /// Declares the flags.
    pub command: fn() -> Command,
    /// Carries out the verb with the flags that were given.
    pub run: fn(&ArgMatches) -> Result<(), Failure>,
}

/// Ends the program because of a command line that does not parse, or that asks for help: the parser prints its answer, and a
/// JSON document says the first line of an error where `as_json` holds.
pub fn refuse(error: &clap::Error, as_json: bool) -> ! {
    if as_json && error.use_stderr() {
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
        report::print_json(&serde_json::json!({"error": first, "exit_code": 2}));
    }
    error.exit()
}
