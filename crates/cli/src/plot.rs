//! `mercer plot`: a picture of a model and data.

use crate::failure::Failure;
use crate::{Verb, arguments, input, report};
use clap::{ArgMatches, Command};
use mercer::model::Model;
use serde_json::json;
use std::path::PathBuf;

pub(crate) const VERB: Verb = Verb { command, run };

fn command() -> Command {
    let command = Command::new("plot")
        .about("Draw what a model says about data: decision surface, curve, coordinates or confusion matrix (SVG)")
        .after_help("Example:\n  mercer plot model.mercer train.csv -o surface.svg")
        .arg(arguments::path("MODEL", "Model file"))
        .arg(arguments::path("DATA", "Data file"))
        .arg(arguments::output("FIG.svg", "SVG file to write").required(true))
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
    if target.extension().is_some_and(|e| e != "svg") {
        return Err(Failure::usage(format!("{}: pictures are written as .svg", target.display())));
    }
    let model = Model::load(model)?;
    let data = input::for_model(&model, data, flags)?;
    let bytes = data.len().saturating_mul(model.fitted.expansion.outputs()).saturating_mul(16);
    arguments::plan(flags)?.check(bytes, "the scores")?;
    let svg = model.figure(&data)?;
    mercer::write::whole(target, svg.as_bytes()).map_err(|e| Failure::file(target, &e))?;
    if flags.get_flag("json") {
        report::print_json(&json!({"output": target.display().to_string(), "bytes": svg.len()}));
    } else {
        report::print(&report::facts(&[("picture", target.display().to_string())]));
    }
    Ok(())
}
