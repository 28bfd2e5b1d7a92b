//! `mercer help NAME`: everything about one verb or one entry of the catalogue; also `--help` beside a machine.

use crate::catalogue::{Item, PARTS, Part};
use crate::{arguments, report, reproduce};
use clap::{Arg, ArgAction, ArgMatches, Command};
use mercer::machines;
use mercer::params::{Described, nearest};
use mercer_terminal::Failure;
use serde_json::Value;
use std::ffi::OsString;

/// The verb, which stands beside the others because it has to see their commands.
pub(crate) fn command() -> Command {
    Command::new("help")
        .about("Explain a verb, a kernel, a machine, a bound, a score, a kind of data, a format or a data set")
        .after_help("Examples:\n  mercer help fit\n  mercer help svc\n  mercer help rbf")
        .arg(Arg::new("NAME").value_name("NAME").action(ArgAction::Append).num_args(0..).help("What to explain"))
        .arg(arguments::json())
}

/// Explains what the flags name; `program` is the command of the whole program.
pub(crate) fn run(flags: &ArgMatches, program: &mut Command) -> Result<(), Failure> {
    let names: Vec<&String> = flags.get_many::<String>("NAME").into_iter().flatten().collect();
    // the experiments are explained by the program that has them
    if let [first, rest @ ..] = names.as_slice()
        && first.as_str() == reproduce::NAME
    {
        if !reproduce::is_there() {
            report::print(&reproduce::page());
            return Ok(());
        }
        return reproduce::start(rest.iter().map(OsString::from).chain(["--help".into()]).collect());
    }
    // a verb wins over an entry of its name
    if is_verb(program, &names) {
        let words = ["mercer"].into_iter().chain(names.iter().map(|n| n.as_str())).chain(["--help"]);
        // asked for help, the parser answers with an error that holds it
        if let Err(help) = program.try_get_matches_from_mut(words) {
            return mercer_terminal::refuse(&help, false);
        }
        return Ok(());
    }
    let [first] = names.as_slice() else {
        let all: Vec<&str> = names.iter().map(|n| n.as_str()).collect();
        return Err(Failure::usage(format!("\"{}\" is no verb; ask for one name at a time", all.join(" "))));
    };
    let found = entries(first);
    if found.is_empty() {
        return Err(unknown(first, program));
    }
    if flags.get_flag("json") {
        report::print_json(&Value::Array(found.iter().map(|(part, item)| document(part, item)).collect()));
    } else {
        let pages: Vec<String> = found.iter().map(|(part, item)| page(part, item)).collect();
        report::print(&pages.join("\n\n"));
    }
    Ok(())
}

/// True if the names lead to a verb, or are none: the program itself.
fn is_verb(program: &Command, names: &[&String]) -> bool {
    names.iter().try_fold(program, |at, name| at.find_subcommand(name.as_str())).is_some()
}

/// The page of the machine that stands beside `--help` on a command line, if one does: `fit --machine svc --help`.
pub(crate) fn beside_help(words: &[String]) -> Option<Result<String, Failure>> {
    let value = words.iter().enumerate().find_map(|(place, word)| match word.as_str() {
        "--machine" | "-m" => words.get(place + 1).map(String::as_str),
        word => word.strip_prefix("--machine=").or_else(|| word.strip_prefix("-m").filter(|rest| !rest.is_empty())),
    })?;
    if value.starts_with('-') {
        return None;
    }
    Some(machines::parse(value).map_err(Failure::from).map(|asked| {
        let is_it = |(part, item): &(&Part, Item)| part.name == "machines" && item.name == asked.entry.name;
        entries(asked.entry.name).iter().find(|e| is_it(e)).map(|(part, item)| page(part, item)).unwrap_or_default()
    }))
}

/// All entries of a name, from all parts of the catalogue.
fn entries(name: &str) -> Vec<(&'static Part, Item)> {
    let of = |part: &'static Part| (part.items)().into_iter().map(move |item| (part, item));
    PARTS.iter().flat_map(of).filter(|(_, item)| item.is_called(name)).collect()
}

fn unknown(name: &str, program: &Command) -> Failure {
    let items: Vec<Item> = PARTS.iter().flat_map(|part| (part.items)()).collect();
    let names = items.iter().flat_map(|i| i.aliases.iter().copied().chain([i.name]));
    let remedy = match nearest(name, names.chain(program.get_subcommands().map(Command::get_name))) {
        Some(close) => format!("did you mean {close}?"),
        None => "`mercer list` shows all names, `mercer help` the verbs".to_owned(),
    };
    Failure::usage(format!("nothing is called {name}; {remedy}"))
}

fn document(part: &Part, item: &Item) -> Value {
    let mut document = item.document.clone();
    document["part"] = part.name.into();
    document["examples"] = item.examples.clone().into();
    document
}

/// Everything about one entry.
fn page(part: &Part, item: &Item) -> String {
    let what = if item.group.is_empty() { part.one.to_owned() } else { format!("{}, {}", part.one, item.group) };
    let mut text = format!("{} ({what})\n", item.name);
    if !item.summary.is_empty() {
        text.push_str(&format!("{}\n", report::folded(&item.summary, 2)));
    }
    if !item.formula.is_empty() {
        text.push_str(&format!("\n{}\n", report::folded(item.formula, 4)));
    }
    let mut facts: Vec<(&str, String)> = item.facts.clone();
    if !item.aliases.is_empty() {
        facts.push(("also called", item.aliases.join(", ")));
    }
    text.push_str(&format!("\n{}\n", report::folded_facts(&facts)));
    if !item.parameters.is_empty() {
        let rows: Vec<(String, String)> = item.parameters.iter().map(parameter).collect();
        let rows: Vec<(&str, String)> = rows.iter().map(|(name, told)| (name.as_str(), told.clone())).collect();
        text.push_str(&format!("\nParameters\n{}\n", report::folded_facts(&rows)));
    }
    if !item.examples.is_empty() {
        text.push_str(&format!("\nExample\n  {}\n", item.examples.join("\n  ")));
    }
    text.trim_end().to_owned()
}

/// A parameter with its default, and what it means and may be.
fn parameter(p: &Described) -> (String, String) {
    if let Some(of) = p.spelling_of {
        return (p.name.to_owned(), format!("another way to give {of}: {} ({})", p.help, p.rule));
    }
    // the help of a text says what it may be, and often that of a word, too
    let told = p.kind == "text" || (p.words.iter().all(|w| p.help.contains(w)) && p.rule == p.words.join(", "));
    let rule = if told { String::new() } else { format!(" ({})", p.rule) };
    (format!("{}={}", p.name, p.default), format!("{}{rule}", p.help))
}
