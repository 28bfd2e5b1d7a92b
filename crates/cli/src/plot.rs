//! `mercer plot`: a picture of a model and data.

use crate::failure::Failure;
use crate::{Verb, arguments, input, report};
use clap::{Arg, ArgMatches, Command};
use mercer::model::Model;
use serde_json::json;
use std::path::PathBuf;

pub(crate) const VERB: Verb = Verb { command, run };

fn command() -> Command {
    let command = Command::new("plot")
        .about("Draw what a model says about data: decision surface, curve, coordinates, confusion matrix or reliability (SVG)")
        .after_help(
            "Examples:\n  mercer plot model.mercer train.csv -o surface.svg\n  \
             mercer plot model.mercer test.csv --what reliability -o reliability.svg",
        )
        .arg(arguments::path("MODEL", "Model file"))
        .arg(arguments::path("DATA", "Data file"))
        .arg(arguments::output("FIG.svg", "SVG file to write").required(true))
        .arg(
            Arg::new("what")
                .long("what")
                .value_name("PICTURE")
                .value_parser(["model", "reliability"])
                .default_value("model")
                .help("The picture that fits the model, or how often its probabilities come true"),
        )
        .arg(arguments::labels())
        .args(arguments::format());
    arguments::common(command)
}

fn run(flags: &ArgMatches) -> Result<(), Failure> {
    let (Some(model), Some(data), Some(target)) =
        (flags.get_one::<PathBuf>("MODEL"), flags.get_one::<PathBuf>("DATA"), arguments::target(flags)?)
    else {
        return Err(Failure::usage("MODEL, DATA and -o FIG.svg are needed"));
    };
    arguments::picture(target)?;
    let model = Model::load(model)?;
    let reliability = flags.get_one::<String>("what").is_some_and(|what| what == "reliability");
    if reliability {
        model.needs_probabilities()?;
    }
    let place = data.display();
    let data = input::for_model(&model, data, flags)?;
    let bytes = data.len().saturating_mul(model.fitted.expansion.outputs()).saturating_mul(16);
    arguments::plan(flags)?.check(bytes, "the scores")?;
    if reliability && data.target().is_none() {
        let message =
            format!("{place} has no target column to compare with; give one, or leave out --what reliability");
        return Err(Failure { message, code: 3 });
    }
    let svg = if reliability { model.reliability_figure(&data)? } else { model.figure(&data)? };
    mercer::write::whole(target, svg.as_bytes()).map_err(|e| Failure::file(target, &e))?;
    if flags.get_flag("json") {
        report::print_json(&json!({"output": target.display().to_string(), "bytes": svg.len()}));
    } else {
        report::print(&report::facts(&[("picture", target.display().to_string())]));
    }
    Ok(())
}
