//! `mercer bound`: the value of a theorem for numbers that are given.

use crate::{Verb, arguments, report};
use clap::{Arg, ArgAction, ArgMatches, Command};
use mercer::bounds::{Theorem, theorem};
use mercer_terminal::Failure;
use serde_json::json;

pub(crate) const VERB: Verb = Verb { command, run };

fn command() -> Command {
    Command::new("bound")
        .about("Compute a theorem of learning theory for numbers that you have, without a model")
        .after_help(
            "Examples:\n  mercer bound c_bound gibbs=0.3 disagreement=0.4\n  \
             mercer bound fat_shattering_bound dimension=64 examples=100000 delta=0.01\n  \
             mercer bound betting losses=0,0.1,0,0.2,0,0,0.1\n\n\
             Lists of numbers have commas. `mercer list theorems` shows all theorems, `mercer help c_bound` one of them with its\n\
             inputs. Bounds of a model and its examples are those of `mercer certify`.",
        )
        .arg(Arg::new("NAME").required(true).help("Theorem"))
        .arg(
            Arg::new("INPUTS")
                .value_name("INPUT=NUMBER")
                .action(ArgAction::Append)
                .num_args(0..)
                .help("Its inputs"),
        )
        .arg(arguments::json())
}

/// `gibbs=0.3`, or a list with commas.
fn input(text: &str) -> Result<(String, Vec<f64>), Failure> {
    let (name, numbers) = text
        .split_once('=')
        .ok_or_else(|| Failure::usage(format!("{text} is no input; write NAME=NUMBER, such as delta=0.05")))?;
    let number = |word: &str| {
        word.trim().parse().map_err(|_| Failure::usage(format!("{name}: {word} is not a number; write 0.3 or 3e-1")))
    };
    Ok((name.trim().to_owned(), numbers.split(',').map(number).collect::<Result<_, _>>()?))
}

fn run(flags: &ArgMatches) -> Result<(), Failure> {
    let name = flags.get_one::<String>("NAME").map_or("", String::as_str);
    let found: &Theorem = theorem(name).map_err(Failure::usage)?;
    let words = flags.get_many::<String>("INPUTS").into_iter().flatten();
    let given: Vec<(String, Vec<f64>)> = words.map(|word| input(word)).collect::<Result<_, _>>()?;
    let value = found.of(&given).map_err(Failure::usage)?;
    if flags.get_flag("json") {
        // JSON has no infinity
        let finite = value.is_finite().then_some(value);
        report::print_json(&json!({"theorem": found.name, "value": finite, "formula": found.formula,
                                    "source": found.source.to_string()}));
        return Ok(());
    }
    report::print(&report::facts(&[
        ("value", format!("{value}")),
        ("formula", found.formula.to_owned()),
        ("source", found.source.to_string()),
    ]));
    Ok(())
}
