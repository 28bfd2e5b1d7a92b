//! `mercer reproduce`: experiments of the literature, run again and set beside what was printed.
//!
//! The program is called `mercer-reproduce`; `mercer reproduce` starts it. An experiment is a verb of its own: one file of
//! this folder and one line of [`EXPERIMENTS`].

mod benchmark;
mod certificates;
mod contender;
mod course;
mod coverage;
mod guarantees;
mod learning_theory;
mod ledger;
mod mika_tables;
mod mnist_bounds;
mod outputs;
mod protocol;
mod samples;
mod toys;
mod usps;

use clap::{ArgMatches, Command};
use mercer_terminal::{Failure, Verb, arguments, carry_out, refuse, report};
use serde_json::json;
use std::process::ExitCode;

/// All experiments, in the order in which they are listed.
static EXPERIMENTS: &[Verb] = &[
    mika_tables::EXPERIMENT,
    outputs::EXPERIMENT,
    toys::EXPERIMENT,
    usps::EXPERIMENT,
    certificates::EXPERIMENT,
    coverage::EXPERIMENT,
    learning_theory::EXPERIMENT,
    mnist_bounds::EXPERIMENT,
    guarantees::EXPERIMENT,
];

fn command() -> Command {
    let mut command = Command::new("mercer-reproduce")
        // users write it as a verb of mercer, and so does its help
        .bin_name("mercer reproduce")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Run an experiment of the literature again and compare with what was printed")
        .after_help("Example:\n  mercer reproduce\n\nWithout a name the experiments are listed.")
        .subcommand_value_name("NAME")
        .subcommand_help_heading("Experiments")
        .disable_help_subcommand(true)
        .arg(arguments::json());
    for experiment in EXPERIMENTS {
        command = command.subcommand((experiment.command)());
    }
    command
}

fn main() -> ExitCode {
    let wants_json = std::env::args_os().any(|word| word == "--json");
    carry_out(wants_json, || match command().try_get_matches() {
        Ok(flags) => run(&flags),
        Err(error) => refuse(&error, wants_json),
    })
}

fn run(flags: &ArgMatches) -> Result<(), Failure> {
    let Some((name, chosen)) = flags.subcommand() else {
        list(flags.get_flag("json"));
        return Ok(());
    };
    let Some(experiment) = EXPERIMENTS.iter().find(|e| (e.command)().get_name() == name) else {
        return Err(Failure::usage(format!("there is no experiment {name}; `mercer reproduce` lists them")));
    };
    arguments::prepare(chosen)?;
    (experiment.run)(chosen)
}

/// The experiments with a line each.
fn list(as_json: bool) {
    let listed: Vec<(String, String)> = EXPERIMENTS
        .iter()
        .map(|e| (e.command)())
        .map(|c| (c.get_name().to_owned(), c.get_about().map(ToString::to_string).unwrap_or_default()))
        .collect();
    if as_json {
        let all: Vec<_> = listed.iter().map(|(name, about)| json!({"name": name, "about": about})).collect();
        report::print_json(&json!(all));
    } else {
        let rows: Vec<(&str, String)> = listed.iter().map(|(name, about)| (name.as_str(), about.clone())).collect();
        report::print(&report::facts(&rows));
    }
}
