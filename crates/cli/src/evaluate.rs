//! `mercer evaluate`: how good a model is on labelled examples.

use crate::failure::Failure;
use crate::{Verb, arguments, input, report};
use clap::{ArgMatches, Command};
use mercer::data::DataError;
use mercer::metrics::measure;
use mercer::model::Model;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Instant;

pub(crate) const VERB: Verb = Verb { command, run };

fn command() -> Command {
    let command = Command::new("evaluate")
        .about("Compare predictions with the truth: error, confusion, AUC, quality of probabilities, or RMSE and R²")
        .after_help("Example:\n  mercer evaluate model.mercer test.csv --json")
        .arg(arguments::path("MODEL", "Model file"))
        .arg(arguments::path("DATA", "Data file with the target column"))
        .arg(arguments::labels())
        .args(arguments::format());
    arguments::common(command)
}

fn run(flags: &ArgMatches) -> Result<(), Failure> {
    let started = Instant::now();
    let (Some(path), Some(data)) = (flags.get_one::<PathBuf>("MODEL"), flags.get_one::<PathBuf>("DATA")) else {
        return Err(Failure::usage("MODEL and DATA are needed"));
    };
    let model = Model::load(path)?;
    if model.machine == "kernel_pca" {
        return Err(Failure::usage("kernel_pca has no target to be compared with; use predict or plot"));
    }
    let examples = input::for_model(&model, data, flags)?;
    let Some(truth) = examples.target() else {
        return Err(DataError::Usage {
            finding: format!("{} has no target column to compare with; give one, or use predict", data.display()),
        }
        .into())
        .map_err(|f: Failure| Failure { code: 3, ..f });
    };
    let output = input::predict(&model, &examples, flags)?;
    let metrics = measure(&output, truth)?;
    if flags.get_flag("json") {
        let mut document = json!(metrics);
        if let Value::Object(map) = &mut document {
            map.insert("machine".to_owned(), json!(model.machine));
            map.insert("seconds".to_owned(), json!({"total": started.elapsed().as_secs_f64()}));
        }
        report::print_json(&document);
    } else {
        report::print(&report::metrics(&metrics));
    }
    Ok(())
}
