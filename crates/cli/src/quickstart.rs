//! `mercer quickstart`: every step from data to a picture once, on a data set that comes with the program.

use crate::arguments::OutputFile;
use crate::predict::Columns;
use crate::{Verb, arguments, data, report, select};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use mercer::data::read::{ReadOptions, read_bytes};
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
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

pub(crate) const VERB: Verb = Verb { command, run };

const FOLDER: &str = "mercer-quickstart";
/// Folders that are tried, each with the next number.
const MAX_FOLDERS: usize = 100;
const SET: &str = "banana";
const GRID: &str = "gamma=0.0625|0.25|1|4, c=0.1..100:log4";

fn command() -> Command {
    let command = Command::new("quickstart")
        .about("Load, scale, select, train, test, save, predict and plot, on a built-in data set")
        .after_help(
            "Files that somebody has changed or put there are never replaced: without --out the folder is then called\n\
             mercer-quickstart-2, and so on; with --out that is an error.\n\n\
             Example:\n  mercer quickstart --out first-steps",
        )
        .args([
            arguments::written("out", "DIR", "Folder for the files; nothing is written elsewhere")
                .short('o')
                .default_value(FOLDER),
            Arg::new("force")
                .long("force")
                .action(ArgAction::SetTrue)
                .help("Replace files of the folder that somebody has changed"),
        ]);
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

    fn all(&self) -> [&PathBuf; 5] {
        [&self.train, &self.test, &self.model, &self.predictions, &self.surface]
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
    let seed = arguments::seed(flags);
    let train = set(400, Seed(seed.0.wrapping_add(1)))?;
    let test = set(1000, Seed(seed.0.wrapping_add(2)))?;
    let table = read_bytes("train.csv", &train, &ReadOptions::default())?;
    let (_, training) = Schema::learn_and_apply(&table, &SchemaOptions::default())?;
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
    let saved = selection.model.to_bytes()?;
    let model = Model::from_bytes(&saved, "model.mercer")?;
    let fresh = model.data(&read_bytes("test.csv", &test, &ReadOptions::default())?)?;
    let output = model.predict(&fresh)?;
    let metrics = match fresh.target() {
        Some(truth) => measure(&output, truth)?,
        None => return Err(mercer::data::DataError::NoTarget.into()),
    };
    let surface = model.figure(&training, Theme::Light)?;

    // everything is known before anything is written, so that what is there can be held against it
    let written = [train, test, saved, predictions(&output)?, surface.into_bytes()];
    let chosen = flags.value_source("out") == Some(ValueSource::CommandLine);
    let folder = if flags.get_flag("force") { folder.clone() } else { free(folder, chosen, &written)? };
    std::fs::create_dir_all(&folder).map_err(|e| Failure::file(&folder, &e))?;
    let files = Files::under(&folder);
    for (path, bytes) in files.all().into_iter().zip(&written) {
        mercer::write::whole(path, bytes).map_err(|e| Failure::file(path, &e))?;
    }

    say("1. Data: a generated set of two banana-shaped classes, 400 examples to learn from and 1000 to test on.");
    say(&report::facts(&[
        ("learn", format!("{} ({} examples, scaled to mean 0 and deviation 1)", files.train.display(), training.len())),
        ("test", files.test.display().to_string()),
    ]));
    say("\n2. Selection: the width of a Gaussian kernel and the price C, by five-fold cross-validation.");
    say(&select::candidates(&selection));
    say("\n3. The model: a support vector classifier, fitted on all training examples and saved.");
    let mut rows = report::model_facts(&selection.model);
    rows.push(("file", files.model.display().to_string()));
    say(&report::facts(&rows));
    say("\n4. The test: the saved model predicts examples it has never seen.");
    say(&report::metrics(&metrics, None));
    say("\n5. The picture: decision surface, margins and support vectors.");
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

/// A folder in which no file of somebody else would be replaced: the given one, else, where nobody has `chosen` it, the next of its name.
fn free(folder: &Path, chosen: bool, written: &[Vec<u8>]) -> Result<PathBuf, Failure> {
    let Some(file) = in_the_way(folder, written) else { return Ok(folder.to_owned()) };
    let what = if file == folder {
        "is no folder"
    } else {
        "is not as quickstart writes it, so somebody has changed it or put it there"
    };
    if chosen {
        let remedy = if file == folder { "" } else { ", or replace it with --force" };
        let message = format!("{} {what}; give another folder with --out{remedy}", file.display());
        return Err(Failure { message, code: 3 });
    }
    let numbered = |k: usize| folder.with_file_name(format!("{FOLDER}-{k}"));
    let next = (2..=MAX_FOLDERS).map(numbered).find(|next| in_the_way(next, written).is_none());
    let Some(next) = next else {
        let message =
            format!("{} {what}, and so it is up to {FOLDER}-{MAX_FOLDERS}; give a folder with --out", file.display());
        return Err(Failure { message, code: 3 });
    };
    report::say("note", &format!("{} {what}; the files are written to {}", file.display(), next.display()));
    Ok(next)
}

/// What would be replaced by other bytes: a file of the folder, or what stands in its place.
fn in_the_way(folder: &Path, written: &[Vec<u8>]) -> Option<PathBuf> {
    if folder.exists() && !folder.is_dir() {
        return Some(folder.to_owned());
    }
    let files = Files::under(folder);
    let differs = |(path, bytes): &(&PathBuf, &Vec<u8>)| {
        std::fs::symlink_metadata(path).is_ok() && std::fs::read(path).ok().as_ref() != Some(*bytes)
    };
    files.all().into_iter().zip(written).find(differs).map(|(path, _)| path.clone())
}

/// A generated set as a CSV file.
fn set(n: usize, seed: Seed) -> Result<Vec<u8>, Failure> {
    let table = datasets::load(SET, Some(n), seed)?;
    in_memory(|out| data::write_csv(out, &table))
}

fn predictions(output: &Output) -> Result<Vec<u8>, Failure> {
    let places: Vec<usize> = (0..output.len()).collect();
    let columns = Columns { scores: true, probabilities: false, deviations: false };
    in_memory(|out| crate::predict::write_csv(out, output, columns, None, (&places, output.len())))
}

fn in_memory(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    write(&mut bytes).map_err(|e| Failure { message: e.to_string(), code: 3 })?;
    Ok(bytes)
}

fn finish_json(model: &Model, metrics: &Metrics, files: &Files, started: Instant) {
    let mut document = report::model(model);
    document.insert("held_out".to_owned(), json!(metrics));
    document.insert("files".to_owned(), json!(files.all().map(|file| file.display().to_string())));
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
