//! The command line: flags become a job, the job becomes a report.
//!
//! One file for each verb. Standard output carries the result (one JSON document with `--json`), standard error
//! everything else. Exit codes: 0 ok, 2 usage, 3 data, 4 numerics, 130 interrupted (128 and the number of any other signal).

// what goes to a terminal goes through `report`, which shows control characters
#![warn(clippy::print_stderr)]

mod arguments;
mod auxiliary;
mod batches;
mod bound;
mod catalogue;
mod certify;
mod conformal;
mod convert;
mod data;
mod evaluate;
mod explain;
mod export;
mod fit;
mod gram;
mod help;
mod input;
mod learning_curve;
mod list;
mod machine;
mod matrix;
mod measure;
mod plan;
mod plot;
mod predict;
mod profile;
mod promise;
mod quickstart;
mod rank;
mod report;
mod reproduce;
mod select;
mod show;
mod split;
mod strangers;

use clap::Command;
use clap::error::ErrorKind;
use mercer_terminal::{Failure, Verb, carry_out, refuse};
use std::process::ExitCode;

/// All verbs, in the order of the help.
static VERBS: &[Verb] = &[
    quickstart::VERB,
    fit::VERB,
    predict::VERB,
    evaluate::VERB,
    explain::VERB,
    certify::VERB,
    plan::VERB,
    bound::VERB,
    select::VERB,
    learning_curve::VERB,
    gram::VERB,
    measure::VERB,
    show::VERB,
    plot::VERB,
    export::VERB,
    list::VERB,
    data::VERB,
    convert::VERB,
    split::VERB,
    reproduce::VERB,
];

/// The whole program.
fn program() -> Command {
    let mut command = Command::new("mercer")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Kernel methods: plug together kernels and learning machines, from a data file to a model.")
        .after_help(
            "New here? Run `mercer quickstart`, then `mercer help fit`. `mercer list` shows what there is, `mercer help svc` one\n\
             machine, `mercer help rbf` one kernel.\n\
             Exit codes: 0 ok, 2 usage, 3 data, 4 numerics, 130 interrupted.",
        )
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true);
    for verb in VERBS {
        command = command.subcommand((verb.command)());
    }
    command.subcommand(help::command())
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let wants_json = words.iter().any(|word| word == "--json");
    carry_out(wants_json, || run(&words, wants_json))
}

fn run(words: &[String], wants_json: bool) -> Result<(), Failure> {
    let mut command = program();
    let matches = match command.try_get_matches_from_mut(std::env::args_os()) {
        Ok(matches) => matches,
        Err(error) if error.kind() == ErrorKind::DisplayHelp => match help::beside_help(words) {
            Some(page) => {
                report::print(&page?);
                return Ok(());
            }
            None => return refuse(&error, false),
        },
        Err(error) => {
            return match machine::unknown_flag(&error) {
                Some(failure) => Err(failure),
                None => refuse(&error, wants_json),
            };
        }
    };
    let Some((name, flags)) = matches.subcommand() else { return Err(Failure::usage("a verb is missing")) };
    // the commands stand in the order of the verbs; `help`, which comes after them, sees the whole program
    let place = command.get_subcommands().position(|c| c.get_name() == name);
    match place.and_then(|place| VERBS.get(place)) {
        Some(verb) => arguments::prepare(flags).and_then(|()| (verb.run)(flags)),
        None => help::run(flags, &mut command),
    }
}
