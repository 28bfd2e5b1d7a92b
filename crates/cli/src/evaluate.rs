//! `mercer evaluate`: how good a model is on labelled examples.

use crate::{Verb, arguments, batches, conformal, input, report};
use clap::{Arg, ArgMatches, Command, value_parser};
use mercer::data::{DataError, Dataset, Target};
use mercer::machines::{Output, Readout};
use mercer::metrics::{Metrics, OneClass, agreement, measure, usual};
use mercer::model::{Model, Predictor, Seen};
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
             Beside the error stands what always predicting the largest class, or the mean, would give. Training examples\n\
             are recognised, in any order and among others: their share is told, and where it is above one in a hundred\n\
             there is no interval, since it would say little about new ones. Examples of few values are equal by chance,\n\
             which is told apart; a part of a training file in which every row stands many times is not recognised.\n\n\
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
    if matches!(model.fitted().readout, Readout::Coordinates { .. } | Readout::Parts(_)) {
        let what = format!("{} has no target to be compared with; use predict or plot", model.machine());
        return Err(Failure::usage(what));
    }
    if let Some(&coverage) = flags.get_one::<f64>("conformal") {
        mercer::conformal::checked(coverage)?;
        model.needs_conformal()?;
    }
    let examples = input::for_model(&model, data, flags)?;
    let predictor = model.predictor();
    let model = predictor.model();
    if matches!(model.fitted().readout, Readout::Novelty) {
        let output = batches::predict(&predictor, &examples, flags)?;
        let covered = covered(&predictor, &examples, flags)?;
        let seen = model.seen(&examples);
        novelty(model, &output, (examples.target(), seen), covered, flags.get_flag("json"), started)?;
        warn_of_training_examples(seen);
        return Ok(());
    }
    if matches!(model.fitted().readout, Readout::Clusters { .. }) {
        let output = batches::predict(&predictor, &examples, flags)?;
        return clusters(model, &output, examples.target(), flags.get_flag("json"), started);
    }
    if examples.target().is_none() {
        return Err(DataError::Usage {
            finding: format!("{} has no target column to compare with; give one, or use predict", data.display()),
        }
        .into())
        .map_err(|f: Failure| Failure { code: 3, ..f });
    }
    let output = batches::predict(&predictor, &examples, flags)?;
    let metrics = model.measure(&output, &examples)?;
    let seen = model.seen(&examples);
    let covered = covered(&predictor, &examples, flags)?;
    if flags.get_flag("json") {
        let mut document = json!(metrics);
        if let Some((told, _)) = covered {
            document["conformal"] = told;
        }
        input::insert_told(&mut document, &examples);
        if let Value::Object(map) = &mut document {
            map.insert("machine".to_owned(), json!(model.machine()));
            map.extend(seen_document(seen));
            map.insert("seconds".to_owned(), json!({"total": started.elapsed().as_secs_f64()}));
        }
        report::print_json(&document);
    } else {
        report::print(&report::metrics(&metrics, seen));
        if let Some((_, rows)) = covered {
            report::print(&report::facts(&rows));
        }
    }
    warn_of_training_examples(seen);
    if let Some(repeated) = examples.repeats().refusal("") {
        report::warn(&format!("there is no interval: {repeated}"));
    }
    warn_of_unknown_labels(&metrics);
    Ok(())
}

/// Facts about training examples among those that are evaluated, for a document.
fn seen_document(seen: Option<Seen>) -> [(String, Value); 5] {
    [
        ("training_examples".to_owned(), json!(seen.map(|seen| seen.most()))),
        ("seen_in_training".to_owned(), json!(seen.map(|seen| seen.found))),
        ("training_share".to_owned(), json!(seen.map(|seen| seen.share()))),
        ("equal_to_training".to_owned(), json!(seen.map(|seen| seen.equal))),
        ("counts_are_estimates".to_owned(), json!(seen.map(|seen| !seen.exact))),
    ]
}

/// Says aloud that a training error is told, or that some examples are no test.
fn warn_of_training_examples(seen: Option<Seen>) {
    let Some(seen) = seen else {
        report::say(
            "note",
            "nothing in the model tells whether these are training examples; an interval is one for examples it has not seen",
        );
        return;
    };
    let (about, some, n) = (if seen.exact { "" } else { "about " }, seen.found, seen.examples);
    if seen.found == 0 {
        if seen.equal > 0 {
            report::say(
                "note",
                &format!(
                    "{about}{} of the {n} examples {} equal to training examples; if rows repeat by chance that means nothing, but if they were \
                     copied, or rows were repeated before the data were divided, the numbers are better than those of new examples",
                    seen.equal,
                    if seen.equal == 1 { "is" } else { "are" }
                ),
            );
        }
        return;
    }
    if seen.most() {
        let all = if seen.found == seen.examples {
            "these are training examples".to_owned()
        } else {
            format!("most of these are training examples ({about}{some} of {n}, {})", percent(seen))
        };
        report::warn(&format!(
            "{all}; the model does worse on new ones, and nothing here says how much, so there is no interval. \
             Give examples it has not seen, or look at the error of cross-validation that mercer learning-curve and mercer select tell"
        ));
    } else if seen.spoils() {
        report::warn(&format!(
            "{about}{some} of the {n} examples ({}) are training examples; the numbers are those of the mixture, the model does worse on new \
             examples alone, and there is no interval. Give examples it has not seen",
            percent(seen)
        ));
    } else {
        report::warn(&format!(
            "{about}{some} of the {n} examples ({}) {} training; the numbers, intervals among them, are those of the mixture",
            percent(seen),
            if some == 1 { "is one of" } else { "are those of" }
        ));
    }
}

/// The share of training examples, for people.
fn percent(seen: Seen) -> String {
    let share = 100.0 * seen.share();
    if share < 1.0 { "less than 1 %".to_owned() } else { format!("{share:.0} %") }
}

/// Says aloud that labels of the file are none of the model's.
fn warn_of_unknown_labels(metrics: &Metrics) {
    let Metrics::Classes(m) = metrics else { return };
    let unknown: Vec<&OneClass> = m.by_class.iter().filter(|c| m.unknown_labels.contains(&c.label)).collect();
    if unknown.is_empty() {
        return;
    }
    let named: Vec<String> = unknown.iter().take(5).map(|c| format!("\"{}\"", c.label)).collect();
    let more = if unknown.len() > named.len() { ", …" } else { "" };
    let examples: usize = unknown.iter().map(|c| c.examples).sum();
    let area = if m.auc.is_none() { ", and there is no area under the ROC curve" } else { "" };
    report::warn(&format!(
        "the model does not know the label{} {}{more}; {examples} of {} examples count as errors for that{area}",
        if unknown.len() == 1 { "" } else { "s" },
        named.join(", "),
        m.n
    ));
}

/// Coverage and size of regions, as JSON and for people.
type Covered = (Value, Vec<(&'static str, String)>);

/// The share of truths that the regions of a conformal model hold, where it has some.
fn covered(predictor: &Predictor, examples: &Dataset, flags: &ArgMatches) -> Result<Option<Covered>, Failure> {
    let model = predictor.model();
    let Some(conformer) = model.conformal() else { return Ok(None) };
    let coverage = flags.get_one::<f64>("conformal").copied().unwrap_or(conformal::DEFAULT_COVERAGE);
    let regions = batches::regions(predictor, examples, coverage, flags)?;
    let measured = regions.measure(examples.target())?;
    let mut told = conformal::proven(model, conformer, coverage);
    told["measured"] = json!(measured);
    Ok(Some((told, conformal::measured(&measured, &regions, coverage))))
}

/// A detector of novelties: the share of outliers, and errors where the target can be read as usual and unusual.
fn novelty(
    model: &Model,
    output: &Output,
    (truth, seen): (Option<&Target>, Option<Seen>),
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
    let trained = seen.is_some_and(|seen| seen.spoils());
    let metrics = if trained { metrics.map(Metrics::without_intervals) } else { metrics };
    if json {
        let mut document = metrics.as_ref().map_or_else(|| json!({"n": output.len()}), |m| json!(m));
        document["machine"] = json!(model.machine());
        for (name, value) in seen_document(seen) {
            document[name.as_str()] = value;
        }
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
        report::print(&report::metrics(metrics, seen));
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
        return Err(Failure::usage(format!("{} has no clusters", model.machine())));
    };
    let mut sizes = vec![0_usize; labels.len()];
    codes.iter().for_each(|&c| sizes[c as usize] += 1);
    let metrics = truth.map(|truth| agreement(output, truth)).transpose()?;
    if json {
        let mut document =
            metrics.as_ref().map_or_else(|| json!({"n": output.len(), "clusters": labels}), |m| json!(m));
        document["machine"] = json!(model.machine());
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
