//! `mercer quickstart`: every step from data to a picture once, on a data set that comes with the program.

use crate::arguments::OutputFile;
use crate::predict::Columns;
use crate::{Verb, arguments, data, report, select};
use clap::{ArgMatches, Command};
use mercer::data::read::{ReadOptions, read};
use mercer::data::{Schema, SchemaOptions};
use mercer::datasets;
use mercer::formula::rbf_scaled;
use mercer::machines::{self, Output};
use mercer::metrics::{Metrics, measure};
use mercer::model::Model;
use mercer::plot::Theme;
use mercer::seed::Seed;
use mercer::select::{Choose, Grid, Search};
use mercer_terminal::Failure;
use mercer_terminal::Watch;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Instant;

pub(crate) const VERB: Verb = Verb { command, run };

const SET: &str = "banana";
const GRID: &str = "gamma=0.0625|0.25|1|4, c=0.1..100:log4";

fn command() -> Command {
    let command = Command::new("quickstart")
        .about("Load, scale, select, train, test, save, predict and plot, on a built-in data set")
        .after_help("Example:\n  mercer quickstart --out first-steps")
        .arg(
            arguments::written("out", "DIR", "Folder for the files; nothing is written elsewhere")
                .default_value("mercer-quickstart"),
        );
    arguments::common(command)
}

/// The files that are written.
struct Files {
    train: PathBuf,
    test: PathBuf,
    model: PathBuf,
    predictions: PathBuf,
    surface: PathBuf,
}

impl Files {
    fn under(folder: &Path) -> Self {
        let file = |name: &str| folder.join(name);
        Self {
            train: file("train.csv"),
            test: file("test.csv"),
            model: file("model.mercer"),
            predictions: file("predictions.csv"),
            surface: file("surface.svg"),
        }
    }
}

fn run(flags: &ArgMatches) -> Result<(), Failure> {
    let started = Instant::now();
    let json = flags.get_flag("json");
    let say = |text: &str| {
        if !json {
            report::print(text);
        }
    };
    let Some(folder) = OutputFile::given(flags, "out") else { return Err(Failure::usage("--out DIR is needed")) };
    std::fs::create_dir_all(folder).map_err(|e| Failure::file(folder, &e))?;
    let files = Files::under(folder);
    let seed = arguments::seed(flags);

    say("1. Data: a generated set of two banana-shaped classes, 400 examples to learn from and 1000 to test on.");
    write_set(&files.train, 400, Seed(seed.0.wrapping_add(1)))?;
    write_set(&files.test, 1000, Seed(seed.0.wrapping_add(2)))?;
    let table = read(&files.train, &ReadOptions::default())?;
    let (_, training) = Schema::learn_and_apply(&table, &SchemaOptions::default())?;
    say(&report::facts(&[
        ("learn", format!("{} ({} examples, scaled to mean 0 and deviation 1)", files.train.display(), training.len())),
        ("test", files.test.display().to_string()),
    ]));

    say("\n2. Selection: the width of a Gaussian kernel and the price C, by five-fold cross-validation.");
    let watch = Watch::new(flags);
    let grid: Grid = GRID.parse().map_err(|e: mercer::select::GridError| Failure::usage(e.to_string()))?;
    let Some(machine) = machines::find("svc") else { return Err(Failure::usage("svc is missing")) };
    let budget = arguments::budget(flags)?;
    let search = Search {
        score: None,
        machine,
        settings: &[],
        kernel: &rbf_scaled(),
        grid: &grid,
        folds: 5,
        choose: Choose::Best,
        probabilities: None,
        calibration_folds: 0,
        budget,
        seed,
    };
    let outcome = search.run(&training, &watch);
    watch.finish();
    let selection = outcome?;
    say(&select::candidates(&selection));

    say("\n3. The model: a support vector classifier, fitted on all training examples and saved.");
    selection.model.save(&files.model)?;
    let mut rows = report::model_facts(&selection.model);
    rows.push(("file", files.model.display().to_string()));
    say(&report::facts(&rows));

    say("\n4. The test: the saved model predicts examples it has never seen.");
    let model = Model::load(&files.model)?;
    let fresh = model.data(&read(&files.test, &ReadOptions::default())?)?;
    let output = model.predict(&fresh)?;
    let metrics = match fresh.target() {
        Some(truth) => measure(&output, truth)?,
        None => return Err(mercer::data::DataError::NoTarget.into()),
    };
    write_predictions(&files.predictions, &output)?;
    say(&report::metrics(&metrics, None));

    say("\n5. The picture: decision surface, margins and support vectors.");
    arguments::save_picture(&files.surface, &model.figure(&training, Theme::Light)?)?;
    say(&report::facts(&[
        ("picture", files.surface.display().to_string()),
        ("predictions", files.predictions.display().to_string()),
    ]));
    if json {
        finish_json(&selection.model, &metrics, &files, started);
    } else {
        say(&again(&files, &selection.candidates[selection.best]));
        say(&format!("Done in {:.1} seconds.", started.elapsed().as_secs_f64()));
    }
    Ok(())
}

fn write_set(path: &Path, n: usize, seed: Seed) -> Result<(), Failure> {
    let table = datasets::load(SET, Some(n), seed)?;
    mercer::write::streamed(path, |out| data::write_csv(out, &table)).map_err(|e| Failure::file(path, &e))
}

fn write_predictions(path: &Path, output: &Output) -> Result<(), Failure> {
    mercer::write::streamed(path, |out| {
        let places: Vec<usize> = (0..output.len()).collect();
        let columns = Columns { scores: true, probabilities: false, deviations: false };
        crate::predict::write_csv(out, output, columns, None, (&places, output.len()))
    })
    .map_err(|e| Failure::file(path, &e))
}

fn finish_json(model: &Model, metrics: &Metrics, files: &Files, started: Instant) {
    let mut document = report::model(model);
    document.insert("held_out".to_owned(), json!(metrics));
    let written = [&files.train, &files.test, &files.model, &files.predictions, &files.surface];
    document.insert("files".to_owned(), json!(written.map(|file| file.display().to_string())));
    document.insert("seconds".to_owned(), json!({"total": started.elapsed().as_secs_f64()}));
    report::print_json(&serde_json::Value::Object(document));
}

/// The same steps as single commands.
fn again(files: &Files, best: &mercer::select::Candidate) -> String {
    let value = |name: &str| best.point.iter().find(|(n, _)| n == name).map(|(_, v)| v.to_string()).unwrap_or_default();
    format!(
        "\nThe same by hand:\n  \
         mercer select {train} --machine svc --grid '{GRID}' -o {model}\n  \
         mercer fit {train} --machine svc --c {c} --kernel 'rbf(gamma={gamma})' -o {model}\n  \
         mercer evaluate {model} {test}\n  \
         mercer predict {model} {test} --scores -o {predictions}\n  \
         mercer plot {model} {train} -o {surface}\n",
        train = files.train.display(),
        test = files.test.display(),
        model = files.model.display(),
        predictions = files.predictions.display(),
        surface = files.surface.display(),
        c = value("c"),
        gamma = value("gamma"),
    )
}
