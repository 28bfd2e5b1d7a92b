//! `mercer evaluate`: how good a model is on labelled examples.

use crate::{Verb, arguments, conformal, input, report};
use clap::{Arg, ArgMatches, Command, value_parser};
use mercer::data::{DataError, Dataset, Target};
use mercer::machines::{Output, Readout};
use mercer::metrics::{agreement, measure, usual};
use mercer::model::Model;
use mercer_terminal::Failure;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Instant;

pub(crate) const VERB: Verb = Verb { command, run };

fn command() -> Command {
    let command = Command::new("evaluate")
        .about("Compare predictions with the truth: error, confusion, AUC, quality of probabilities, or RMSE and R²")
        .after_help(
            "Example:\n  mercer evaluate model.mercer test.csv --json\n\n\
             Models with sets or intervals (fit --conformal) tell how many of them hold the truth, and how large they are.\n\n\
             Models of what is usual (one_class, svdd) tell the share of outliers. Where the target has two classes,\n\
             1, inlier or normal is the usual one, else the larger, and they are compared with it.\n\n\
             Clusters are compared with classes by the adjusted Rand index and the normalised mutual information.",
        )
        .arg(arguments::path("MODEL", "Model file"))
        .arg(arguments::path("DATA", "Data file with the target column"))
        .arg(
            Arg::new("conformal")
                .long("conformal")
                .value_name("COVERAGE")
                .allow_negative_numbers(true)
                .value_parser(value_parser!(f64))
                .help("Coverage at which sets and intervals are measured, if the model has learned them [default: 0.9]"),
        )
        .arg(arguments::labels())
        .args(arguments::compared())
        .args(arguments::format());
    arguments::common(command)
}

fn run(flags: &ArgMatches) -> Result<(), Failure> {
    let started = Instant::now();
    let (Some(path), Some(data)) = (flags.get_one::<PathBuf>("MODEL"), flags.get_one::<PathBuf>("DATA")) else {
        return Err(Failure::usage("MODEL and DATA are needed"));
    };
    let model = Model::load(path)?;
    if matches!(model.fitted.readout, Readout::Coordinates { .. } | Readout::Parts(_)) {
        let what = format!("{} has no target to be compared with; use predict or plot", model.machine);
        return Err(Failure::usage(what));
    }
    if let Some(&coverage) = flags.get_one::<f64>("conformal") {
        mercer::conformal::checked(coverage)?;
        model.needs_conformal()?;
    }
    let examples = input::for_model(&model, data, flags)?;
    if matches!(model.fitted.readout, Readout::Novelty) {
        let output = input::predict(&model, &examples, flags)?;
        let covered = covered(&model, &examples, flags)?;
        return novelty(&model, &output, examples.target(), covered, flags.get_flag("json"), started);
    }
    if matches!(model.fitted.readout, Readout::Clusters { .. }) {
        let output = input::predict(&model, &examples, flags)?;
        return clusters(&model, &output, examples.target(), flags.get_flag("json"), started);
    }
    let Some(truth) = examples.target() else {
        return Err(DataError::Usage {
            finding: format!("{} has no target column to compare with; give one, or use predict", data.display()),
        }
        .into())
        .map_err(|f: Failure| Failure { code: 3, ..f });
    };
    let output = input::predict(&model, &examples, flags)?;
    let metrics = measure(&output, truth)?;
    let covered = covered(&model, &examples, flags)?;
    if flags.get_flag("json") {
        let mut document = json!(metrics);
        if let Some((told, _)) = covered {
            document["conformal"] = told;
        }
        input::insert_told(&mut document, &examples);
        if let Value::Object(map) = &mut document {
            map.insert("machine".to_owned(), json!(model.machine));
            map.insert("seconds".to_owned(), json!({"total": started.elapsed().as_secs_f64()}));
        }
        report::print_json(&document);
    } else {
        report::print(&report::metrics(&metrics));
        if let Some((_, rows)) = covered {
            report::print(&report::facts(&rows));
        }
    }
    Ok(())
}

/// What regions did, as JSON and for people.
type Covered = (Value, Vec<(&'static str, String)>);

/// How often the regions of a conformal model hold the truth, where it has some.
fn covered(model: &Model, examples: &Dataset, flags: &ArgMatches) -> Result<Option<Covered>, Failure> {
    let Some(predictor) = model.conformal() else { return Ok(None) };
    let coverage = flags.get_one::<f64>("conformal").copied().unwrap_or(conformal::DEFAULT_COVERAGE);
    let regions = input::regions(model, examples, coverage, flags)?;
    let measured = regions.measure(examples.target())?;
    let mut told = conformal::proven(model, predictor, coverage);
    told["measured"] = json!(measured);
    Ok(Some((told, conformal::measured(&measured, &regions, coverage))))
}

/// A detector of novelties: the share of outliers, and errors where the target can be read as usual and unusual.
fn novelty(
    model: &Model,
    output: &Output,
    truth: Option<&Target>,
    covered: Option<Covered>,
    json: bool,
    started: Instant,
) -> Result<(), Failure> {
    let outliers = output.labels().iter().filter(|label| **label == "outlier").count();
    let share = outliers as f64 / output.len().max(1) as f64;
    let found = match truth.filter(|t| t.names().len() == 1) {
        Some(truth) => usual(truth)?,
        None => None,
    };
    let metrics = match &found {
        Some(found) => Some(measure(output, &found.target)?),
        None => None,
    };
    if json {
        let mut document = metrics.as_ref().map_or_else(|| json!({"n": output.len()}), |m| json!(m));
        document["machine"] = json!(model.machine);
        document["outliers"] = json!(outliers);
        document["outlier_share"] = json!(share);
        if let Some((told, _)) = covered {
            document["conformal"] = told;
        }
        if let Some(found) = &found {
            document["inlier_label"] = json!(found.inlier);
            document["outlier_label"] = json!(found.outlier);
        }
        document["seconds"] = json!({"total": started.elapsed().as_secs_f64()});
        report::print_json(&document);
        return Ok(());
    }
    let told = format!("{outliers} of {} ({:.2} %)", output.len(), 100.0 * share);
    let mut rows = vec![("outliers", told)];
    rows.extend(covered.into_iter().flat_map(|(_, rows)| rows));
    let why = |named: bool| if named { "" } else { ", the larger class" };
    match &found {
        Some(found) => {
            if let Some(inlier) = &found.inlier {
                rows.push(("usual class", format!("{inlier}{}", why(found.named))));
            }
            if let Some(outlier) = &found.outlier {
                rows.push(("unusual class", outlier.clone()));
            }
        }
        None if truth.is_some() => {
            rows.push(("error", "not told: the target has more than two classes".to_owned()));
        }
        None => {}
    }
    report::print(&report::facts(&rows));
    if let Some(metrics) = &metrics {
        report::print(&report::metrics(metrics));
    }
    Ok(())
}

/// Clusters: their sizes, and how far they agree with the classes of the target where there is one.
fn clusters(
    model: &Model,
    output: &Output,
    truth: Option<&Target>,
    json: bool,
    started: Instant,
) -> Result<(), Failure> {
    let Output::Labels { labels, codes, .. } = output else {
        return Err(Failure::usage(format!("{} has no clusters", model.machine)));
    };
    let mut sizes = vec![0_usize; labels.len()];
    codes.iter().for_each(|&c| sizes[c as usize] += 1);
    let metrics = truth.map(|truth| agreement(output, truth)).transpose()?;
    if json {
        let mut document =
            metrics.as_ref().map_or_else(|| json!({"n": output.len(), "clusters": labels}), |m| json!(m));
        document["machine"] = json!(model.machine);
        document["sizes"] = json!(sizes);
        document["seconds"] = json!({"total": started.elapsed().as_secs_f64()});
        report::print_json(&document);
        return Ok(());
    }
    let told: Vec<String> = labels.iter().zip(&sizes).map(|(label, size)| format!("{label} {size}")).collect();
    let mut rows = vec![("examples", output.len().to_string()), ("sizes", told.join(", "))];
    if let Some(m) = &metrics {
        rows.push(("adjusted Rand index", format!("{:.4}", m.adjusted_rand)));
        rows.push(("normalised mutual information", format!("{:.4}", m.normalised_mutual_information)));
    }
    report::print(&report::facts(&rows));
    if let Some(m) = metrics.filter(|m| m.labels.len() <= 20 && m.clusters.len() <= 20) {
        let header: Vec<&str> =
            std::iter::once("class \\ cluster").chain(m.clusters.iter().map(String::as_str)).collect();
        let line = |(label, row): (&String, &Vec<usize>)| {
            std::iter::once(label.clone()).chain(row.iter().map(ToString::to_string)).collect()
        };
        let lines: Vec<Vec<String>> = m.labels.iter().zip(&m.contingency).map(line).collect();
        report::print(&report::table(&header, &lines, true));
    }
    Ok(())
}
