//! `mercer fit`: learn from a file, save a model.

use crate::{Verb, arguments, auxiliary, conformal, input, machine, report};
use clap::{Arg, ArgMatches, Command, value_parser};
use mercer::certify::{Options, part};
use mercer::conformal::Method;
use mercer::data::Dataset;
use mercer::job::Job;
use mercer::machines::Fact;
use mercer::machines::{Learns, Readout};
use mercer::metrics::{Metrics, measure};
use mercer::model::Model;
use mercer::plot::{at_most, percent_at_least, percent_at_most, trimmed};
use mercer::prelude::Seed;
use mercer::watch::Status;
use mercer_terminal::{Failure, Watch, watch};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Instant;

pub(crate) const VERB: Verb = Verb { command, run };

fn command() -> Command {
    let command = Command::new("fit")
        .about("Learn from a data file and save the model")
        .after_help(
            "Examples:\n  \
             mercer fit train.csv --machine 'svc(c=10)' --kernel 'rbf(gamma=0.5)' -o m.mercer\n  \
             mercer fit train.csv --machine svc --c 10 --probabilities platt -o m.mercer\n  \
             mercer fit house.csv --machine ridge --lambda loo --target price -o m.mercer",
        )
        .after_long_help(
            "Examples:\n  \
             mercer fit train.csv --machine 'svc(c=10)' --kernel 'rbf(gamma=0.5)' -o m.mercer\n  \
             mercer fit train.csv --machine svc --c 10 --probabilities platt -o m.mercer\n  \
             mercer fit house.csv --machine ridge --lambda loo --target price -o m.mercer\n  \
             mercer fit house.csv -m ridge --target price --conformal jackknife -o m.mercer\n  \
             mercer fit genes.tsv -m svc -k 'normalise(spectrum(length=4))' --target 1 -o m.mercer\n  \
             mercer fit digits.csv -m 'invariant_kfd(unwanted=\"within + 0.001*coefficients + 0.001*tangent\")' \\\n      \
             --transform shift_x=1,rotate=5 --image 8x8 -o m.mercer",
        )
        .arg(arguments::data_file())
        .arg(arguments::kernel())
        .arg(arguments::weights())
        .arg(
            Arg::new("certified")
                .long("certified")
                .value_name("P")
                .num_args(0..=1)
                .default_missing_value("0")
                .value_parser(value_parser!(f64))
                .help("Train on few examples so that the others certify the model: for the best bound, or one below P"),
        )
        .arg(
            Arg::new("certificate-delta")
                .long("certificate-delta")
                .value_name("P")
                .value_parser(value_parser!(f64))
                .default_value("0.05")
                .requires("certified")
                .hide_short_help(true)
                .help("Probability with which that certificate may fail"),
        )
        .arg(arguments::preparation())
        .arg(arguments::output("MODEL", "Model file to write").required(true));
    let command = arguments::reading(machine::flags(arguments::probabilities(report::verbosity(command))));
    arguments::common(auxiliary::flags(conformal::flags(command)))
}

fn run(flags: &ArgMatches) -> Result<(), Failure> {
    let started = Instant::now();
    let Some(path) = flags.get_one::<PathBuf>("DATA") else { return Err(Failure::usage("DATA is missing")) };
    let (asked, read) = machine::asked(flags, path)?;
    let entry = asked.entry;
    let (probabilities, calibration_folds) = arguments::calibration(flags, entry)?;
    arguments::check_weights(flags, entry)?;
    auxiliary::check(flags, entry)?;
    let conformal = conformal::recipe(flags)?;
    let kernel = arguments::formula(flags)?;
    let budget = arguments::budget(flags)?;
    let Some(target) = arguments::target(flags)? else { return Err(Failure::usage("-o MODEL is missing")) };

    warn_of_kernel(&Job::new(asked.make()?.as_ref(), &kernel))?;
    let watch = Watch::new(flags);
    let (table, columns) = input::once(read, path, flags, &kernel)?;
    input::needs_labels(&table, &columns, entry.learns)?;
    let seed = arguments::seed(flags);
    let mut job = Job {
        columns,
        preparation_share: arguments::preparation_share(flags),
        budget,
        seed,
        probabilities,
        calibration_folds,
        conformal,
        ..Job::new(asked.make()?.as_ref(), &kernel)
    };
    let data = job.prepare(table)?;
    input::tell(&data, &path.display().to_string());
    let read = started.elapsed().as_secs_f64();
    if entry.learns != Learns::Unsupervised && data.target().is_none() {
        return Err(mercer::data::DataError::NoTarget.into());
    }
    let fitting = Instant::now();
    job.auxiliary = Some(auxiliary::auxiliary(flags, &data)?);
    let (mut more, mut part) = (Vec::new(), None);
    let outcome = match flags.get_one::<f64>("certified") {
        None => job.run(&data, &watch).map_err(Failure::from),
        Some(&wanted) => certified(&job, wanted, &data, flags, &watch).map(|(model, told, places)| {
            more.push(("certified", told));
            part = (places.len() < data.len()).then_some(places);
            model
        }),
    };
    watch.finish();
    let model = outcome?;
    let fit = fitting.elapsed().as_secs_f64();

    let saving = Instant::now();
    let saved = watch::save(&model, target)?;
    let save = saving.elapsed().as_secs_f64();

    // of a certified fit the others are held-out examples
    let metrics = match &part {
        Some(places) => training_metrics(&model, &data.select(places)),
        None => training_metrics(&model, &data),
    };
    more.extend(input::left_out(&data));
    let seconds = json!({"read": read, "fit": fit, "save": save, "total": started.elapsed().as_secs_f64()});
    finish(&model, metrics.as_ref(), &seconds, (&saved, target), flags, &more)?;
    if let (Some(&wanted), Some((_, told))) = (flags.get_one::<f64>("certified"), more.first())
        && let Some(bound) = told["bound"].as_f64().filter(|bound| wanted > 0.0 && *bound > wanted)
    {
        report::warn(&format!("no part of the examples certifies {wanted}; the best bound is {}", at_most(bound, 4)));
    }
    if let Some((_, told)) = more
        .iter()
        .find(|(name, _)| *name == "certified")
        .filter(|_| !flags.get_flag("json") && !flags.get_flag("quiet"))
    {
        report::print(&format!(
            "\nTrained again on {} of {} examples, with {} errors on the others: with probability {} %, at most {} % of new examples are wrong.{}\n",
            told["examples"],
            model.trained_on(),
            told["errors_outside"],
            trimmed(&percent_at_least(1.0 - told["delta"].as_f64().unwrap_or(0.0), 4)),
            percent_at_most(told["bound"].as_f64().unwrap_or(1.0), 1),
            told["condition"].as_str().map_or_else(String::new, |condition| format!(" But {condition}.")),
        ));
    }
    Ok(())
}

/// Trains again on a part of the examples, so that the others certify the model.
fn certified(
    job: &Job,
    wanted: f64,
    data: &Dataset,
    flags: &ArgMatches,
    watch: &Watch,
) -> Result<(Model, Value, Vec<usize>), Failure> {
    let delta = flags.get_one::<f64>("certificate-delta").copied().unwrap_or(0.05);
    let options = Options { delta, budget: job.budget, seed: job.seed, ..Options::default() };
    let found = part::fit(job, data, &options, (wanted != 0.0).then_some(wanted), watch)?;
    let tried: Vec<Value> = found.tried.iter().map(|(d, b)| json!({"examples": d, "bound": b})).collect();
    let told = json!({"examples": found.size, "errors_outside": found.errors, "bound": found.bound, "delta": delta, "tried": tried, "condition": found.condition});
    Ok((found.model, told, found.places))
}

/// Kernel values that may be computed only to report the training error: some hundredths of a second.
const MAX_KERNEL_VALUES_FOR_TRAINING_ERROR: usize = 20_000_000;

/// Measures of the model on the examples it learned from: on all of them where their scores are known or cheap, otherwise on
/// some that are drawn by chance.
pub(crate) fn training_metrics(model: &Model, data: &Dataset) -> Option<Metrics> {
    let interrupted = model.fitted().report.status == Status::Interrupted;
    // coordinates, novelties and clusters have no target to be right about
    let told = matches!(
        model.fitted().readout,
        Readout::Coordinates { .. } | Readout::Novelty | Readout::Clusters { .. } | Readout::Parts(_)
    );
    // examples that were set aside are no training examples
    let aside = model.conformal().is_some_and(|c| c.method() == Method::Split);
    let target = data.target().filter(|_| !interrupted && !told && !aside)?;
    if let Some(scores) = &model.fitted().training_scores {
        return measure(&model.fitted().read(scores.clone()), target).ok().map(Metrics::without_intervals);
    }
    let every =
        (data.len() * model.fitted().expansion.points().len()).div_ceil(MAX_KERNEL_VALUES_FOR_TRAINING_ERROR).max(1);
    if every == 1 {
        return measure(&model.predict(data).ok()?, target).ok().map(Metrics::without_intervals);
    }
    // by chance: every few rows of a file in a regular order would all be of one phase
    let mut judged = Seed(0).stream("judged training examples").permutation(data.len());
    judged.truncate(data.len().div_ceil(every));
    judged.sort_unstable();
    let some = data.select(&judged);
    let metrics = measure(&model.predict(&some).ok()?, some.target()?).ok()?;
    Some(metrics.without_intervals().with_baseline_of(target))
}

/// Prints the report of a fit that was saved in a file, and to be saved in another; an interrupted one is a failure of its own.
pub(crate) fn finish(
    model: &Model,
    metrics: Option<&Metrics>,
    seconds: &Value,
    (path, asked): (&Path, &Path),
    flags: &ArgMatches,
    more: &[(&str, Value)],
) -> Result<(), Failure> {
    if flags.get_flag("json") {
        let mut document = report::model(model);
        document.insert("seconds".to_owned(), seconds.clone());
        document.insert("training".to_owned(), json!(metrics));
        document.insert("model".to_owned(), json!(path.display().to_string()));
        for (name, value) in more {
            document.insert((*name).to_owned(), value.clone());
        }
        report::print_json(&Value::Object(document));
    } else if !flags.get_flag("quiet") {
        // advice goes to standard error, where nobody overlooks it
        let mut rows = report::model_facts(model);
        rows.retain(|(name, _)| *name != "advice");
        let targets = model.schema().map(|schema| schema.target_names().join(", ")).unwrap_or_default();
        if !targets.is_empty() {
            rows.insert(1, ("target", targets));
        }
        if !flags.get_flag("verbose") {
            rows.retain(|(name, _)| !["memory", "notes"].contains(name));
            rows[0].1 = report::machine_in_short(model);
        }
        if let Some(metrics) = metrics {
            rows.push(("training", brief(metrics, model.trained_on())));
            rows.push(("baseline", report::baseline(metrics)));
        }
        let of = |name: &str| seconds[name].as_f64().unwrap_or(0.0);
        rows.push((
            "seconds",
            format!("read {:.3}, fit {:.3}, save {:.3}, total {:.3}", of("read"), of("fit"), of("save"), of("total")),
        ));
        rows.push(("model", path.display().to_string()));
        report::print(&report::facts(&rows));
    }
    for advice in &model.fitted().report.advice {
        report::warn(advice);
    }
    let status = model.fitted().report.status;
    if path != asked && status != Status::Interrupted {
        report::warn(&format!(
            "the unfinished fit is saved in {}; {} is a finished model and is as it was",
            mercer::write::shown(path),
            mercer::write::shown(asked)
        ));
    }
    if model.fitted().report.fact(Fact::CalibrationCutShort).is_some() {
        report::warn(&format!("stopped ({status}) before probabilities were learned; the model is saved without them"));
        return if status == Status::Interrupted { Err(Failure::interrupted()) } else { Ok(()) };
    }
    if model.fitted().report.fact(Fact::ConformalCutShort).is_some() {
        report::warn(&format!(
            "stopped ({status}) before conformal regions were learned; the model is saved without them"
        ));
        return if status == Status::Interrupted { Err(Failure::interrupted()) } else { Ok(()) };
    }
    match status {
        Status::Converged => Ok(()),
        Status::Interrupted => {
            let kept = if path == asked { String::new() } else { format!("; {} is as it was", asked.display()) };
            report::say("interrupted", &format!("the best so far is saved in {}{kept}", mercer::write::shown(path)));
            Err(Failure::interrupted())
        }
        status if model.candidates() > 1 => {
            report::warn(&format!(
                "the search was cut short ({status}); the best of {} candidates is saved",
                model.models_tried()
            ));
            Ok(())
        }
        status => {
            report::warn(&format!(
                "not converged ({status}); the best so far is saved. Raise the limit or the tolerance."
            ));
            Ok(())
        }
    }
}

/// Says aloud what the machine cannot promise with the kernel; refuses what has no solution, before anything is read.
pub(crate) fn warn_of_kernel(job: &Job) -> Result<(), Failure> {
    if let Some(doubt) = job.doubt()? {
        report::warn(&doubt);
    }
    Ok(())
}

fn brief(metrics: &Metrics, trained_on: usize) -> String {
    let (n, what) = match metrics {
        Metrics::Classes(m) => (m.n, format!("error {:.2} %", 100.0 * m.error)),
        Metrics::Numbers(m) => (m.n, format!("RMSE {}", report::short(m.rmse))),
    };
    let part = if n < trained_on { format!("{n} of the {trained_on} ") } else { "the ".to_owned() };
    format!("{what} on {part}training examples")
}
