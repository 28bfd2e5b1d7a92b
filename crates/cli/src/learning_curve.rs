//! `mercer learning-curve`: scores at growing numbers of training examples.

use crate::{Verb, arguments, fit, input, machine, report};
use clap::{Arg, ArgMatches, Command, value_parser};
use mercer::job::Job;
use mercer::machines::MachineExpression;
use mercer::select::{Learned, LearningCurve, mean_and_deviation};
use mercer::watch::Status;
use mercer_terminal::{Failure, Watch};
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;

pub(crate) const VERB: Verb = Verb { command, run };

fn command() -> Command {
    let number = |id: &'static str, name: &'static str, default: &'static str| {
        Arg::new(id).long(id).value_name(name).value_parser(value_parser!(usize)).default_value(default)
    };
    let command = Command::new("learning-curve")
        .about("Fit growing parts of the data and tell the scores: would more examples help?")
        .after_help(
            "Examples:\n  mercer learning-curve train.csv --machine svc --c 10 -o curve.svg\n  \
             mercer learning-curve train.csv -m ridge --sizes 50,100,200,400 --repeats 5",
        )
        .arg(arguments::data_file())
        .arg(
            Arg::new("sizes")
                .long("sizes")
                .value_name("LIST")
                .value_delimiter(',')
                .value_parser(value_parser!(usize))
                .help("Numbers of examples to learn from [default: eight in equal steps up to all that a fold leaves]"),
        )
        .arg(number("folds", "K", "5").help("Folds of the cross-validation"))
        .arg(number("repeats", "N", "1").help("Repeat it with so many different folds"))
        .arg(arguments::kernel())
        .arg(arguments::output("FIG", "Draw the curve, as .svg or .png"))
        .arg(arguments::theme())
        .arg(arguments::weights());
    arguments::common(arguments::reading(machine::flags(arguments::scoring(command))))
}

fn run(flags: &ArgMatches) -> Result<(), Failure> {
    let started = Instant::now();
    let Some(path) = flags.get_one::<PathBuf>("DATA") else { return Err(Failure::usage("DATA is needed")) };
    let (MachineExpression { entry, settings }, read) = machine::asked(flags, path)?;
    let kernel = arguments::formula(flags)?;
    let picture = arguments::target(flags)?;
    if let Some(file) = picture {
        arguments::picture(file)?;
    }
    arguments::check_weights(flags, entry)?;
    let budget = arguments::budget(flags)?;
    fit::warn_of_kernel(&Job { settings: settings.clone(), ..Job::of(entry, kernel.clone()) })?;
    let sizes: Vec<usize> = flags.get_many::<usize>("sizes").into_iter().flatten().copied().collect();
    let count = |id: &str| flags.get_one::<usize>(id).copied().unwrap_or(1);
    let score = arguments::score(flags, entry)?;
    let curve = LearningCurve {
        score: score.as_ref(),
        machine: entry,
        settings: &settings,
        kernel: &kernel,
        sizes: &sizes,
        folds: count("folds"),
        repeats: count("repeats"),
        budget,
        seed: arguments::seed(flags),
    };
    let watch = Watch::new(flags).keeping_all();
    let training = input::training_of(entry, (path, read), flags, &kernel)?;
    let outcome = curve.run(&training, &watch);
    watch.finish();
    let learned = outcome?;
    if let Some(file) = picture {
        arguments::save_picture(file, &learned.figure(arguments::chosen_theme(flags)))?;
    }
    if flags.get_flag("json") {
        report::print_json(&document(&learned, picture, started));
    } else {
        report::print(&report::facts(&[
            ("machine", learned.machine.clone()),
            ("kernel", learned.kernel.clone()),
            (
                "score",
                format!("{}, mean ± standard deviation over {} fits", learned.score, learned.points[0].test.len()),
            ),
        ]));
        report::print(&table(&learned));
        if let Some(file) = picture {
            report::print(&report::facts(&[("picture", file.display().to_string())]));
        }
    }
    match learned.status {
        Status::Converged => Ok(()),
        status => {
            let size = learned.points.last().map_or(0, |p| p.size);
            report::warn(&format!("the curve was cut short ({status}) after {size} examples"));
            if status == Status::Interrupted { Err(Failure::interrupted()) } else { Ok(()) }
        }
    }
}

fn table(learned: &Learned) -> String {
    let shown = |scores: &[f64]| {
        let (mean, deviation) = mean_and_deviation(scores);
        [format!("{mean:.4}"), format!("{deviation:.4}")]
    };
    let row = |p: &mercer::select::SizeScores| {
        let mut row = vec![p.size.to_string()];
        row.extend(shown(&p.test));
        row.extend(shown(&p.train));
        row
    };
    let rows: Vec<Vec<String>> = learned.points.iter().map(row).collect();
    report::table(&["examples", "held out", "± s.d.", "training", "± s.d."], &rows, false)
}

fn document(learned: &Learned, picture: Option<&PathBuf>, started: Instant) -> serde_json::Value {
    let told = |scores: &[f64]| {
        let (mean, deviation) = mean_and_deviation(scores);
        json!({"mean": mean, "deviation": deviation, "folds": scores})
    };
    let points: Vec<_> = learned
        .points
        .iter()
        .map(|p| json!({"examples": p.size, "held_out": told(&p.test), "training": told(&p.train)}))
        .collect();
    json!({
        "machine": learned.machine, "kernel": learned.kernel, "score": learned.score, "points": points,
        "folds": learned.drawn.0, "repeats": learned.drawn.1, "status": learned.status,
        "output": picture.map(|p| p.display().to_string()),
        "seconds": {"total": started.elapsed().as_secs_f64()},
    })
}
