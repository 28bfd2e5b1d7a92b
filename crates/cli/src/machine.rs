//! `--machine`: a machine of the catalogue, with its parameters in brackets or as flags.

use crate::input::{self, Read};
use crate::{arguments, report};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgMatches, Command};
use mercer::formula::Formula;
use mercer::job::kind_of_target;
use mercer::kernels;
use mercer::machines::{self, MachineEntry, MachineExpression};
use mercer::params::{ParamError, Setting, describe};
use mercer_terminal::Failure;
use std::path::Path;

/// `--machine` and the parameters of all machines, which only `mercer help NAME` explains: one name means different
/// things to different machines.
pub(crate) fn flags(command: Command) -> Command {
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let long = command.get_after_long_help().map_or_else(|| examples.clone(), ToString::to_string);
    let pointer = "Parameters stand in brackets or are flags: 'svc(c=10)' is svc --c 10.\n\
                   `mercer help svc` shows those of svc, `mercer list` what there is.";
    let mut command = command
        .after_help(format!("{examples}\n\n{pointer}"))
        .after_long_help(format!("{long}\n\n{pointer}\n\n{}", summary()))
        .arg(
            Arg::new("machine")
                .long("machine")
                .short('m')
                .display_order(0)
                .value_name("MACHINE")
                .help("Learning machine: svc, or 'svc(c=10, loss=squared_hinge)' [default: by the target]"),
        );
    let mut seen: Vec<&'static str> = Vec::new();
    for entry in machines::all() {
        for parameter in describe((entry.make)().as_mut()) {
            if seen.contains(&parameter.name) {
                continue;
            }
            seen.push(parameter.name);
            command = command.arg(
                Arg::new(parameter.name)
                    .long(parameter.name.replace('_', "-"))
                    .alias(parameter.name)
                    .value_name("VALUE")
                    .allow_negative_numbers(true)
                    .hide(true),
            );
        }
    }
    command
}

/// All machines with the names of their parameters.
fn summary() -> String {
    let row = |entry: &'static MachineEntry| {
        let names: Vec<&str> = describe((entry.make)().as_mut()).iter().map(|d| d.name).collect();
        (entry.name, if names.is_empty() { "none".to_owned() } else { names.join(", ") })
    };
    let rows: Vec<(&str, String)> = machines::all().map(row).collect();
    format!("Parameters of the machines:\n{}", report::folded_facts(&rows))
}

/// The machine that is asked for, with the parameters in its brackets and those that are flags. Where none is, that which is usual for
/// the target of the training file, and the file, which had to be read.
pub(crate) fn asked(flags: &ArgMatches, path: &Path) -> Result<(MachineExpression, Option<Read>), Failure> {
    if let Some(text) = flags.get_one::<String>("machine") {
        return Ok((with_flags(machines::parse(text)?, flags)?, None));
    }
    let (table, columns) = input::table(path, flags, &arguments::formula(flags)?)?;
    let (learns, why) = match kind_of_target(&table, &columns) {
        Ok(found) => found,
        Err(mercer::Error::Data(mercer::data::DataError::NoTarget)) => {
            let message = format!(
                "{} has no target that would say what to learn; name a machine (--machine), a target (--target), or the file of the labels (--labels)",
                path.display()
            );
            return Err(Failure::usage(message));
        }
        Err(other) => return Err(other.into()),
    };
    let Some(entry) = machines::usual(learns) else { return Err(Failure::usage("give a machine (--machine)")) };
    let expression = with_flags(MachineExpression { entry, settings: Vec::new() }, flags)?;
    report::say("note", &format!("{why}, so the machine is {}; --machine takes another", entry.name));
    Ok((expression, Some((table, columns))))
}

/// A machine with the parameters that are flags.
fn with_flags(mut expression: MachineExpression, flags: &ArgMatches) -> Result<MachineExpression, Failure> {
    let described = describe((expression.entry.make)().as_mut());
    let meant = |name: &str| {
        described.iter().find(|d| d.name == name).map_or(String::new(), |d| d.spelling_of.unwrap_or(d.name).to_owned())
    };
    for (name, value) in given(flags) {
        let twice = expression.settings.iter().find(|(known, _)| *known == name || meant(known) == meant(&name));
        if let Some((known, in_brackets)) = twice {
            return Err(Failure::usage(format!(
                "{known} is given twice, as {known}={in_brackets} in --machine and by --{} {value}; leave out one of them",
                name.replace('_', "-")
            )));
        }
        expression.settings.push((name, value));
    }
    // what cannot be is told before any work
    match expression.make() {
        Ok(_) => Ok(expression),
        Err(error) => {
            let tip = unknown(&error).and_then(|name| {
                let (_, value) = expression.settings.iter().find(|(known, _)| known == name)?;
                of_kernel(flags, name, value)
            });
            let failure = Failure::from(error);
            Err(Failure { message: format!("{}{}", failure.message, tip.unwrap_or_default()), ..failure })
        }
    }
}

/// The parameter that a machine does not have.
fn unknown(error: &ParamError) -> Option<&str> {
    if let ParamError::Unknown { name, .. } = error { Some(name) } else { None }
}

/// The failure for a flag that no verb has, with the one that was meant: one in small letters, or a parameter of a kernel.
pub(crate) fn unknown_flag(error: &clap::Error) -> Option<Failure> {
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else { return None };
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    if flag.split('=').next() == Some("--conformal") {
        return Some(Failure::usage(format!(
            "unexpected argument '{flag}'; only fit, predict and evaluate know it: no coverage is proven by examples that parameters were chosen \
             with. Take what select finds to fit --conformal on other examples, or calibrate the model with some (predict --calibration)"
        )));
    }
    let typed = flag.trim_start_matches('-').split('=').next().unwrap_or_default().replace('-', "_");
    let small = typed.to_lowercase();
    let of_machine = machines::all().any(|m| describe((m.make)().as_mut()).iter().any(|d| d.name == small));
    let said = if of_machine && (small != typed || !flag.starts_with("--")) {
        format!("write --{}, or put it in the brackets of --machine, as in 'svc(c=10)'", small.replace('_', "-"))
    } else {
        let kernel = kernels::all().find(|k| describe((k.make)().as_mut()).iter().any(|d| d.name == small))?;
        format!("{small} is a parameter of kernels: --kernel '{}({small}=…)'", kernel.name)
    };
    Some(Failure::usage(format!("unexpected argument '{flag}'; {said}")))
}

/// The spelling of a parameter that belongs to a kernel: of the one that is asked for, else one that has it.
fn of_kernel(flags: &ArgMatches, name: &str, value: &Setting) -> Option<String> {
    let written = flags.try_get_one::<String>("kernel").ok().flatten();
    let mut formula: Formula = written.map_or(arguments::USUAL_KERNEL, String::as_str).parse().ok()?;
    if !formula.assign(name, value).ok()? {
        let entry = kernels::all().find(|kernel| describe((kernel.make)().as_mut()).iter().any(|d| d.name == name))?;
        formula = entry.name.parse().ok()?;
        formula.assign(name, value).ok()?;
    }
    Some(format!("; {name} is a parameter of the kernel: --kernel '{formula}'"))
}

/// The entry of the machine that was asked for, if it can be read.
pub(crate) fn entry(flags: &ArgMatches) -> Option<&'static MachineEntry> {
    let text = flags.try_get_one::<String>("machine").ok().flatten()?;
    machines::parse(text).ok().map(|expression| expression.entry)
}

/// The parameters of machines that were given as flags, by name.
fn given(flags: &ArgMatches) -> Vec<(String, Setting)> {
    let mut given: Vec<(String, Setting)> = Vec::new();
    for entry in machines::all() {
        for parameter in describe((entry.make)().as_mut()) {
            if given.iter().any(|(name, _)| name == parameter.name) {
                continue;
            }
            if let Ok(Some(text)) = flags.try_get_one::<String>(parameter.name) {
                given.push((parameter.name.to_owned(), setting(text)));
            }
        }
    }
    given
}

/// A value as it is typed.
fn setting(text: &str) -> Setting {
    let text = text.trim();
    // infinity is a word that somebody writes, not a number that is too large
    let is_meant = |number: &f64| number.is_finite() || !text.contains(|c: char| c.is_ascii_digit());
    if let Some(number) = text.parse::<f64>().ok().filter(is_meant) {
        return Setting::Number(number);
    }
    let list = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(text);
    let numbers: Option<Vec<f64>> = list.split(',').map(|t| t.trim().parse().ok()).collect();
    match numbers {
        Some(numbers) if !list.is_empty() => Setting::Numbers(numbers),
        _ => Setting::Word(text.to_owned()),
    }
}
