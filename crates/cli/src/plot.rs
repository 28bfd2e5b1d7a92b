//! `mercer plot`: a picture of a model and data.

use crate::{Verb, arguments, input, report};
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command};
use mercer::data::Dataset;
use mercer::model::Model;
use mercer::plot::Theme;
use mercer_terminal::Failure;
use serde_json::json;
use std::path::PathBuf;

pub(crate) const VERB: Verb = Verb { command, run };

/// A picture of a model, by name.
struct Picture {
    name: &'static str,
    draw: fn(&Model, &Dataset, Theme) -> Result<String, mercer::Error>,
    /// True if it compares predictions with a target.
    compares: bool,
}

/// All pictures, the usual one first.
const PICTURES: &[Picture] = &[
    Picture { name: "model", draw: Model::figure, compares: false },
    Picture { name: "reliability", draw: Model::reliability_figure, compares: true },
    Picture { name: "roc", draw: Model::roc_figure, compares: true },
    Picture { name: "confusion", draw: Model::confusion_figure, compares: true },
];

fn command() -> Command {
    let command = Command::new("plot")
        .about("Draw what a model says about data: decision surface, curve, coordinates, confusion matrix, reliability or ROC")
        .after_help(
            "Examples:\n  mercer plot model.mercer train.csv -o surface.svg\n  \
             mercer plot model.mercer train.csv --theme dark -o surface.png\n  \
             mercer plot model.mercer test.csv --what reliability -o reliability.svg\n  \
             mercer plot model.mercer test.csv --what roc --positive churned -o roc.svg\n  \
             mercer plot model.mercer test.csv --what confusion -o confusion.svg",
        )
        .arg(arguments::path("MODEL", "Model file"))
        .arg(arguments::path("DATA", "Data file"))
        .arg(arguments::output("FIG", "File to write, .svg or .png").required(true))
        .arg(
            Arg::new("what")
                .long("what")
                .value_name("PICTURE")
                .value_parser(PossibleValuesParser::new(PICTURES.iter().map(|p| p.name)))
                .default_value(PICTURES[0].name)
                .help("The picture that fits the model, how often its probabilities come true, its ROC curves, or its confusion matrix"),
        )
        .arg(
            Arg::new("positive")
                .long("positive")
                .value_name("LABEL")
                .allow_hyphen_values(true)
                .help("The class that ROC curves look for [default: the second of two, each of several against the rest]"),
        )
        .arg(arguments::theme())
        .arg(arguments::labels())
        .args(arguments::compared())
        .args(arguments::format());
    arguments::common(command)
}

fn run(flags: &ArgMatches) -> Result<(), Failure> {
    let (Some(model), Some(data), Some(target)) =
        (flags.get_one::<PathBuf>("MODEL"), flags.get_one::<PathBuf>("DATA"), arguments::target(flags)?)
    else {
        return Err(Failure::usage("MODEL, DATA and -o FIG are needed"));
    };
    arguments::picture(target)?;
    let model = Model::load(model)?;
    let what = flags.get_one::<String>("what").map_or(PICTURES[0].name, String::as_str);
    let picture = PICTURES.iter().find(|p| p.name == what).unwrap_or(&PICTURES[0]);
    if flags.contains_id("positive") && picture.name != "roc" {
        return Err(Failure::usage("--positive is for --what roc; add that or leave it out"));
    }
    if picture.name == "reliability" {
        model.needs_probabilities()?;
    }
    let place = data.display();
    let data = input::for_model(&model, data, flags)?;
    let bytes = data.len().saturating_mul(model.fitted().expansion.outputs()).saturating_mul(16);
    arguments::budget(flags)?.check(bytes, "the scores")?;
    if picture.compares && data.target().is_none() {
        let message = format!("{place} has no target column to compare with; give one, or leave out --what {what}");
        return Err(Failure { message, code: 3 });
    }
    let theme = arguments::chosen_theme(flags);
    let svg = match flags.get_one::<String>("positive") {
        Some(positive) => model.roc_figure_of(&data, Some(positive), theme)?,
        None => (picture.draw)(&model, &data, theme)?,
    };
    let bytes = arguments::save_picture(target, &svg)?;
    if flags.get_flag("json") {
        let mut document = json!({"output": target.display().to_string(), "bytes": bytes});
        input::insert_told(&mut document, &data);
        report::print_json(&document);
    } else {
        report::print(&report::facts(&[("picture", target.display().to_string())]));
    }
    Ok(())
}
