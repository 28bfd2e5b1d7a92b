//! `mercer list`: what there is, in groups.

use crate::catalogue::{Item, PARTS, Part};
use crate::{Verb, arguments, report};
use clap::{Arg, ArgAction, ArgMatches, Command};
use mercer::formula::FUNCTIONS;
use mercer::params::nearest;
use mercer_terminal::Failure;
use serde_json::{Map, Value};

pub(crate) const VERB: Verb = Verb { command, run };

fn command() -> Command {
    Command::new("list")
        .about("List kernels, functions of kernels, machines, bounds, theorems, scores, kinds of data, formats or data sets")
        .after_help(
            "Examples:\n  mercer list kernels --kind text\n  mercer list machines --task regress\n  \
             mercer list machines sparse\n  mercer list --markdown\n\n\
             Without a part, the names of all. `mercer help NAME` tells everything about one.",
        )
        .arg(
            Arg::new("WHAT").value_name("WHAT").value_parser(PARTS.each_ref().map(|p| p.name)).help("The part to list"),
        )
        .arg(
            Arg::new("WORDS")
                .value_name("WORD")
                .action(ArgAction::Append)
                .num_args(0..)
                .help("Only entries that mention all these words"),
        )
        .arg(Arg::new("task").long("task").value_name("TASK").help(format!(
            "Only machines, bounds or data sets for a task: {}",
            groups_of(&["machines", "datasets"]).join(", ")
        )))
        .arg(
            Arg::new("kind")
                .long("kind")
                .value_name("KIND")
                .help(format!("Only kernels on a kind of data: {}", groups_of(&["kernels"]).join(", "))),
        )
        .arg(
            Arg::new("markdown")
                .long("markdown")
                .action(ArgAction::SetTrue)
                .help("Print Markdown")
                .conflicts_with("json"),
        )
        .arg(arguments::json())
}

/// The groups of some parts.
fn groups_of(parts: &[&str]) -> Vec<&'static str> {
    let mut all: Vec<&str> = Vec::new();
    for part in PARTS.iter().filter(|p| parts.contains(&p.name)) {
        let items = (part.items)();
        let words = items.iter().flat_map(|i| i.found_by.iter().copied());
        words.for_each(|word| {
            if !all.contains(&word) {
                all.push(word);
            }
        });
    }
    all
}

fn run(flags: &ArgMatches) -> Result<(), Failure> {
    let json = flags.get_flag("json");
    let what = flags.get_one::<String>("WHAT").and_then(|name| PARTS.iter().find(|p| p.name == name));
    let Some(part) = what else {
        if flags.get_one::<String>("task").or(flags.get_one::<String>("kind")).is_some() {
            return Err(Failure::usage("--task and --kind need to know the part: mercer list machines --task regress"));
        }
        match json {
            true => report::print_json(&Value::Object(
                PARTS.iter().map(|p| (p.name.to_owned(), documents(&(p.items)()))).collect::<Map<_, _>>(),
            )),
            false if flags.get_flag("markdown") => report::print(&markdown_of_all()),
            false => report::print(&names_of_all()),
        }
        return Ok(());
    };
    let items = chosen(part, flags)?;
    if json {
        report::print_json(&documents(&items));
    } else if flags.get_flag("markdown") {
        report::print(&markdown(part, &items));
    } else {
        report::print(&tables(part, &items));
        report::print(&beside(part));
    }
    Ok(())
}

/// The items of a part that the flags ask for.
fn chosen(part: &Part, flags: &ArgMatches) -> Result<Vec<Item>, Failure> {
    let mut items = (part.items)();
    let flag = if part.name == "kernels" { "kind" } else { "task" };
    for id in ["task", "kind"] {
        let Some(word) = flags.get_one::<String>(id) else { continue };
        let groups = groups_of(&[part.name]);
        if id != flag || groups.is_empty() {
            return Err(Failure::usage(format!("{} have no {id}; leave out --{id}", part.name)));
        }
        if !groups.contains(&word.as_str()) {
            let remedy = match nearest(word, groups.iter().copied()) {
                Some(close) => format!("did you mean {close}?"),
                None => format!("there are {}", groups.join(", ")),
            };
            return Err(Failure::usage(format!("no {} are for {word}; {remedy}", part.name)));
        }
        items.retain(|item| item.found_by.contains(&word.as_str()));
    }
    let words: Vec<&String> = flags.get_many::<String>("WORDS").into_iter().flatten().collect();
    items.retain(|item| words.iter().all(|word| item.mentions(word)));
    if items.is_empty() {
        let words: Vec<&str> = words.iter().map(|w| w.as_str()).collect();
        return Err(Failure::usage(format!("no {} mention {}; leave out a word", part.name, words.join(" and "))));
    }
    Ok(items)
}

fn documents(items: &[Item]) -> Value {
    Value::Array(items.iter().map(|i| i.document.clone()).collect())
}

/// The remark under a table.
fn beside(part: &Part) -> String {
    let more = match part.name {
        "kernels" => {
            let functions: Vec<&str> = FUNCTIONS.iter().map(|f| f.written).collect();
            format!(
                " A kernel is written like rbf(gamma=0.5); gamma may be scale, median or 1/d. Combine them: k1 + k2, 2*k, k1 * k2, k^2, k@view, rbf(k, gamma=1), {}.",
                functions.join(", ")
            )
        }
        "formats" => {
            " All are also read from gzip and Zstandard; `mercer convert` writes, with .gz in gzip.".to_owned()
        }
        _ => String::new(),
    };
    report::folded(&format!("`mercer help NAME` tells everything about one.{more}"), 0)
}

/// Items by group, in the order of the catalogue.
fn by_group(items: &[Item]) -> Vec<(&'static str, Vec<&Item>)> {
    let mut groups: Vec<(&'static str, Vec<&Item>)> = Vec::new();
    for item in items {
        match groups.iter_mut().find(|(group, _)| *group == item.group) {
            Some((_, members)) => members.push(item),
            None => groups.push((item.group, vec![item])),
        }
    }
    groups
}

/// The heading of a group.
fn heading(part: &Part, group: &str) -> String {
    match (part.name, group) {
        ("functions", _) => "functions of kernels".to_owned(),
        ("kinds", _) => "kinds of data".to_owned(),
        ("scores", learned) => format!("scores of {learned}"),
        (name, "") => name.to_owned(),
        ("kernels", kind) => format!("kernels on {kind}"),
        ("machines", "baseline") => "machines for comparison (baseline)".to_owned(),
        ("machines", "reduce") => "machines that reduce dimensions".to_owned(),
        ("machines", "detect") => "machines that detect novelties".to_owned(),
        ("machines", task) => format!("machines that {task}"),
        ("bounds", quantity) => format!("bounds of {quantity}"),
        (_, task) => format!("data sets for {task}"),
    }
}

/// A table for each group.
fn tables(part: &Part, items: &[Item]) -> String {
    let mut text = String::new();
    for (group, members) in by_group(items) {
        let rows: Vec<Vec<String>> = members.iter().map(|i| i.cells.clone()).collect();
        let title = heading(part, group);
        text.push_str(&format!("{}\n{}\n\n", capital(&title), report::page(part.header, &rows)));
    }
    text.trim_end().to_owned() + "\n"
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// A table for each group, in Markdown.
fn markdown(part: &Part, items: &[Item]) -> String {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|c| c.replace('|', "\\|")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let mut text = String::new();
    for (group, members) in by_group(items) {
        text.push_str(&format!("### {}\n\n", capital(&heading(part, group))));
        text.push_str(&line(&part.header.iter().map(|&h| h.to_owned()).collect::<Vec<_>>()));
        text.push_str(&format!("|{}\n", "---|".repeat(part.header.len())));
        for item in members {
            let mut cells = item.cells.clone();
            cells[0] = format!("`{}`", cells[0]);
            text.push_str(&line(&cells));
        }
        text.push('\n');
    }
    text.trim_end().to_owned()
}

/// The names of everything, group by group.
fn names_of_all() -> String {
    let mut text = String::new();
    for part in &PARTS {
        for (group, members) in by_group(&(part.items)()) {
            let names: Vec<&str> = members.iter().map(|i| i.name).collect();
            text.push_str(&format!("{}\n{}\n\n", capital(&heading(part, group)), report::folded(&names.join(", "), 2)));
        }
    }
    text + "`mercer help NAME` tells everything about one, `mercer list machines` a line about each."
}

/// The names of everything as one table in Markdown; README has it.
fn markdown_of_all() -> String {
    let mut text = "| part | names |\n|---|---|\n".to_owned();
    for part in &PARTS {
        for (group, members) in by_group(&(part.items)()) {
            let names: Vec<String> = members.iter().map(|i| format!("`{}`", i.name)).collect();
            text.push_str(&format!("| {} | {} |\n", heading(part, group), names.join(" ")));
        }
    }
    text.trim_end().to_owned()
}
