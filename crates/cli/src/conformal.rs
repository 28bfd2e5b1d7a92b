//! Sets, intervals and p-values at the terminal: flags of fit and predict, columns beside the predictions, and reports.

use crate::predict::cell;
use crate::report;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use mercer::conformal::{Conformal, Guarantee, Measure, Measured, Method, Recipe, Regions};
use mercer::data::Scope;
use mercer::machines::Readout;
use mercer::model::{Model, Step};
use mercer::plot::percent_at_least;
use mercer_terminal::Failure;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Coverage of reports where none is asked for.
pub(crate) const DEFAULT_COVERAGE: f64 = 0.9;

/// Flags of `fit`.
pub(crate) fn flags(command: Command) -> Command {
    command
        .next_help_heading("Sets and intervals (conformal prediction)")
        .arg(
            Arg::new("conformal")
                .long("conformal")
                .value_name("METHOD")
                .value_parser(Method::WORDS.map(|w| w.0))
                .help("Also learn sets, intervals or p-values with a proven coverage")
                .long_help("Also learn sets, intervals or p-values with a proven coverage: split (a part of the examples is set aside), cross (a model without each fold), jackknife (a model without each example; at once for ridge and kfd) or full (every candidate is learned from as well; ridge)"),
        )
        .arg(
            Arg::new("conformal-share")
                .long("conformal-share")
                .hide_short_help(true)
                .value_name("SHARE")
                .requires("conformal")
                .value_parser(value_parser!(f64))
                .default_value("0.25")
                .help("Share of the examples that split sets aside; with the other methods, the share that columns are scaled by and that data-driven parameters of the kernel (gamma=scale) are computed from; it is never held out"),
        )
        .arg(
            Arg::new("conformal-folds")
                .long("conformal-folds")
                .hide_short_help(true)
                .value_name("K")
                .requires("conformal")
                .value_parser(value_parser!(u16).range(2..))
                .default_value("10")
                .help("Folds of cross"),
        )
        .arg(
            Arg::new("conformal-retrain")
                .long("conformal-retrain")
                .hide_short_help(true)
                .action(ArgAction::SetTrue)
                .requires("conformal")
                .help("Let jackknife learn once for each example where the machine has no closed form"),
        )
        .arg(mondrian().requires("conformal"))
}

fn mondrian() -> Arg {
    Arg::new("mondrian")
        .long("mondrian")
        .hide_short_help(true)
        .action(ArgAction::SetTrue)
        .help("Judge each class by its own examples, so that each is covered by itself, rare ones too")
}

/// Flags of `predict`.
pub(crate) fn prediction_flags(command: Command) -> Command {
    command
        .arg(
            Arg::new("conformal")
                .long("conformal")
                .value_name("COVERAGE")
                .allow_negative_numbers(true)
                .value_parser(value_parser!(f64))
                .conflicts_with_all(["rank", "profile"])
                .help("Append the set of labels and its size, the interval, or the p-value and alarm, at this coverage, e.g. 0.9"),
        )
        .arg(
            Arg::new("calibration")
                .long("calibration")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .requires("conformal")
                .help("Labelled examples that the model has not seen, to learn --conformal from: for any model"),
        )
        .arg(mondrian().requires("calibration"))
}

/// The recipe that `fit` is asked for; a flag of another method is a mistake.
pub(crate) fn recipe(flags: &ArgMatches) -> Result<Option<Recipe>, Failure> {
    let word = flags.get_one::<String>("conformal");
    let Some(method) = word.and_then(|word| Method::WORDS.iter().find(|(w, _)| w == word)).map(|(_, m)| *m) else {
        return Ok(None);
    };
    let owners = [("conformal-folds", Method::Cross), ("conformal-retrain", Method::Jackknife)];
    for (flag, owner) in owners {
        if flags.value_source(flag) == Some(ValueSource::CommandLine) && owner != method {
            return Err(Failure::usage(format!("--{flag} is for --conformal {owner}; leave it out with {method}")));
        }
    }
    Ok(Some(Recipe {
        method,
        share: flags.get_one::<f64>("conformal-share").copied().unwrap_or(0.25),
        folds: flags.get_one::<u16>("conformal-folds").map_or(10, |&k| usize::from(k)),
        mondrian: flags.get_flag("mondrian"),
        retrain: flags.get_flag("conformal-retrain"),
    }))
}

/// The column, and the key, that tells that sets also hold any label that the model does not know.
const UNKNOWN: &str = "set_unknown";

/// Columns beside a prediction: their names, and a line for each example.
pub(crate) fn columns(regions: &Regions) -> (Vec<String>, Vec<String>) {
    match regions {
        Regions::Sets { labels, unknown, .. } => {
            // a column more only where it says something
            let (mut header, more) =
                (vec!["set".to_owned(), "set_size".to_owned()], if *unknown { ",true" } else { "" });
            header.extend(unknown.then(|| UNKNOWN.to_owned()));
            let line = |set: Vec<&str>| format!("{},{}{more}", cell(&set.join("|")), set.len());
            (header, (0..regions.len()).map(|i| line(set_of(regions, labels, i))).collect())
        }
        Regions::Intervals { names, lower, upper } => {
            let header: Vec<String> = match names.as_slice() {
                [_] => vec!["lower".to_owned(), "upper".to_owned()],
                several => {
                    several.iter().flat_map(|n| [cell(&format!("lower_{n}")), cell(&format!("upper_{n}"))]).collect()
                }
            };
            let pairs: Vec<String> = lower.iter().zip(upper).map(|(l, u)| format!("{l},{u}")).collect();
            (header, pairs.chunks(names.len().max(1)).map(|row| row.join(",")).collect())
        }
        Regions::Alarms { p_values, alarms } => {
            let line = |(p, alarm): (&f64, &bool)| format!("{p},{alarm}");
            (vec!["p_value".to_owned(), "alarm".to_owned()], p_values.iter().zip(alarms).map(line).collect())
        }
    }
}

/// The labels in the set of an example.
fn set_of<'a>(regions: &Regions, labels: &'a [String], i: usize) -> Vec<&'a str> {
    let Regions::Sets { inside, .. } = regions else { return Vec::new() };
    let set = &inside[i * labels.len()..(i + 1) * labels.len()];
    labels.iter().zip(set).filter(|(_, inside)| **inside).map(|(label, _)| label.as_str()).collect()
}

/// Regions in a JSON document; an infinite end is `null`.
pub(crate) fn insert(document: &mut Value, regions: &Regions) {
    match regions {
        Regions::Sets { labels, p_values, unknown, .. } => {
            document[UNKNOWN] = json!(unknown);
            document["labels"] = json!(labels);
            document["sets"] = (0..regions.len()).map(|i| json!(set_of(regions, labels, i))).collect();
            document["p_values"] = json!(p_values.chunks_exact(labels.len().max(1)).collect::<Vec<_>>());
        }
        Regions::Intervals { names, lower, upper } => {
            let pair = |i: usize| json!([lower[i], upper[i]]);
            let row = |i: usize| match names.len() {
                1 => pair(i),
                k => (0..k).map(|c| pair(i * k + c)).collect(),
            };
            document["intervals"] = (0..regions.len()).map(row).collect();
        }
        Regions::Alarms { p_values, alarms } => {
            document["p_values"] = json!(p_values);
            document["alarms"] = json!(alarms);
        }
    }
}

/// The proven coverage, as JSON.
pub(crate) fn proven(model: &Model, conformal: &Conformal, coverage: f64) -> Value {
    let labels = classes(model, conformal);
    let one = |(i, g): (usize, Guarantee)| {
        let mut told = json!(g);
        if !conformal.is_proven() {
            told["reason"] = json!(unproven(model, conformal));
        }
        if let Some(label) = labels.get(i) {
            told["class"] = json!(label);
        }
        told
    };
    json!({
        "coverage": coverage,
        "method": conformal.method(),
        "mondrian": conformal.is_mondrian(),
        "measure": conformal.measure(),
        "models": conformal.members(),
        "guarantee": conformal.guarantees(coverage).into_iter().enumerate().map(one).collect::<Vec<_>>(),
    })
}

/// The classes that are judged by themselves; none where all are judged together.
fn classes<'a>(model: &'a Model, conformal: &Conformal) -> &'a [String] {
    match &model.fitted().readout {
        Readout::ArgMax { labels } | Readout::Vote { labels } if conformal.is_mondrian() => labels,
        _ => &[],
    }
}

/// Why nothing is proven: what held-out examples had a part in.
fn unproven(model: &Model, conformal: &Conformal) -> String {
    if conformal.holds_training() {
        return "nothing is proven, since some of the examples to calibrate with are those of training".to_owned();
    }
    if let Some(repeated) = conformal.refusal() {
        return format!("nothing is proven: {repeated}");
    }
    let calibrate = "calibrate with a file of its own (predict --calibration)";
    if model.candidates() > 1 {
        let n = model.candidates();
        return format!("nothing is proven, since {n} candidates were compared by the same examples; {calibrate}");
    }
    let Some(provenance) = model.provenance() else {
        return format!(
            "nothing is proven, since the file does not tell what was learned from which examples; {calibrate}"
        );
    };
    let looked_at = provenance.learned().iter().find(|step| step.from == Scope::All).map(|found| found.step);
    let (cause, remedy) = match looked_at {
        Some(Step::Columns) => (
            "columns were scaled or coded by all examples: the share that should do it alone has not every category, or lines with missing entries were left out",
            "give a larger --conformal-share",
        ),
        Some(Step::KernelNumbers) => {
            ("numbers of the kernel were taken from all examples", "write numbers into the kernel")
        }
        Some(Step::KernelWeights) => ("the kernel has learned from all examples", "give a larger --conformal-share"),
        Some(Step::Landmarks) => ("landmarks were chosen among all examples", "take a kernel without nystrom"),
        Some(Step::Centre) => ("the centre is that of all examples", "take a kernel without centre"),
        Some(Step::ClassBalance) => {
            ("all examples were counted to balance the classes", "name the weights of the classes")
        }
        None if provenance.part().is_some() => {
            ("the examples that were learned from were chosen by a look at all", "fit without --certified")
        }
        None => (
            "the machine learns another model when examples change places, or parameters were chosen by these examples",
            "use --conformal split",
        ),
    };
    format!("nothing is proven, since {cause}; {remedy}, or {calibrate}")
}

/// The proven coverage, in a sentence.
pub(crate) fn sentence(model: &Model, conformal: &Conformal, coverage: f64) -> String {
    let all = conformal.guarantees(coverage);
    let least = all.iter().filter_map(|g| g.least).fold(1.0, f64::min);
    let held: usize = all.iter().map(|g| g.held_out).sum();
    let models = match conformal.method() {
        Method::Split => String::new(),
        Method::Cross => format!(" by {} models", conformal.members()),
        Method::Jackknife => " by the models without each".to_owned(),
        Method::Full => " by the fit on them and on each candidate".to_owned(),
    };
    let examples = examples(conformal);
    let measure = match conformal.measure() {
        Measure::Probability => "probabilities",
        Measure::Margin => "margins",
        Measure::Residual => "residuals",
        Measure::Novelty => "scores",
    };
    let each = if conformal.is_mondrian() { ", each class that the model knows by itself" } else { "" };
    let beta = match all.as_slice() {
        [Guarantee { conditional: Some(beta), .. }] => {
            format!("; with these examples at least {} % in 19 cases of 20", percent_at_least(beta.fifth, 1))
        }
        _ => String::new(),
    };
    let several = if outputs_of(model) > 1 { " for each target by itself, not for all of them at once" } else { "" };
    let proven = if conformal.is_proven() {
        format!("at coverage {coverage} at least {} % is proven{several}{beta}", percent_at_least(least, 1))
            + &conformal.condition().map_or_else(String::new, |condition| format!("; but {condition}"))
    } else {
        unproven(model, conformal)
    };
    let head = format!("{}: {measure} of {held} {examples}{models}{each}; {proven}", conformal.method());
    [vec![head], notes(model, conformal, coverage)].concat().join("; ")
}

/// The number of predicted numbers; none of other predictions.
fn outputs_of(model: &Model) -> usize {
    if let Readout::Values { names } = &model.fitted().readout { names.len() } else { 0 }
}

/// What regions hold beyond what they show, in sentences.
pub(crate) fn notes(model: &Model, conformal: &Conformal, coverage: f64) -> Vec<String> {
    too_few(model, conformal, coverage).into_iter().chain(strangers(conformal, coverage)).collect()
}

/// A sentence on sets that hold labels which the model does not know, for another reason than too few examples.
fn strangers(conformal: &Conformal, coverage: f64) -> Option<String> {
    let everything = !conformal.is_mondrian() && conformal.guarantees(coverage).iter().any(|g| g.everything);
    if everything || !conformal.holds_unknown(coverage) {
        return None;
    }
    let why = if conformal.is_mondrian() {
        "which no example excludes where each class is judged by itself"
    } else {
        "since so many of the held-out examples had a label that was new"
    };
    Some(format!("every set also holds any label that the model does not know, {why}"))
}

/// The examples whose nonconformities are measured.
fn examples(conformal: &Conformal) -> &'static str {
    if conformal.method() == Method::Full { "examples" } else { "held-out examples" }
}

/// A sentence on regions that hold everything because of too few examples, if there are such.
fn too_few(model: &Model, conformal: &Conformal, coverage: f64) -> Option<String> {
    let all = conformal.guarantees(coverage);
    let few: Vec<usize> = (0..all.len()).filter(|&i| all[i].everything).collect();
    // ⌈(n + 1) c⌉ ≤ n from n = ⌈c / (1 − c)⌉ on
    let needed = (coverage / (1.0 - coverage) - 1e-9).ceil();
    let first = *few.first()?;
    let labels = classes(model, conformal);
    Some(if labels.is_empty() {
        format!(
            "{} {} are too few for coverage {coverage}, which needs {needed}: {}",
            all[first].held_out,
            examples(conformal),
            match conformal.measure() {
                Measure::Probability | Measure::Margin =>
                    "every set holds every label that the model knows, and any other",
                Measure::Residual => "every interval is the whole line",
                Measure::Novelty => "no example gives an alarm",
            }
        )
    } else {
        let names: Vec<&str> = few.iter().filter_map(|&i| labels.get(i)).map(String::as_str).collect();
        format!(
            "too few held-out examples for coverage {coverage}, which needs {needed} of a class: every set holds {}",
            names.join(", ")
        )
    })
}

/// How examples count whose label the model does not know, where there are some.
fn strange(measured: &Measured, held: bool) -> String {
    match (measured.unknown.unwrap_or(0), held) {
        (0, _) => String::new(),
        (count, true) => {
            format!("; {count} examples have one that the model does not know, and every set holds any such")
        }
        (count, false) => format!("; {count} examples have one that the model does not know, and no set holds such"),
    }
}

/// Coverage and size of regions on labelled examples, for people.
pub(crate) fn measured(measured: &Measured, regions: &Regions, coverage: f64) -> Vec<(&'static str, String)> {
    let percent = |x: f64| format!("{:.2} %", 100.0 * x);
    let size = |words: &'static str| (words, measured.size.map_or_else(|| "infinite".to_owned(), report::short));
    let mut rows = match regions {
        Regions::Sets { unknown, .. } => {
            let (empty, single) = measured.empty_and_single.unwrap_or((0.0, 0.0));
            vec![
                (
                    "coverage",
                    format!(
                        "{} of the sets at {coverage} hold the label{}",
                        percent(measured.coverage),
                        strange(measured, *unknown)
                    ),
                ),
                size("mean size of sets"),
                ("sets", format!("{} have one label, {} none", percent(single), percent(empty))),
            ]
        }
        Regions::Intervals { names, .. } => vec![
            (
                "coverage",
                format!(
                    "{} of the intervals at {coverage} hold the number{}",
                    percent(measured.coverage),
                    if names.len() > 1 { ", each target counted by itself" } else { "" }
                ),
            ),
            size("mean width"),
        ],
        Regions::Alarms { .. } => {
            vec![("alarms", format!("{} at level {}", percent(1.0 - measured.coverage), report::short(1.0 - coverage)))]
        }
    };
    if !measured.of_classes.is_empty() && measured.of_classes.len() <= 20 {
        let each: Vec<String> =
            measured.of_classes.iter().map(|(label, c)| format!("{label} {}", percent(*c))).collect();
        rows.push(("coverage of classes", each.join(", ")));
    }
    rows
}
