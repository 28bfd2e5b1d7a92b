//! Reports: tables for people, documents for programs.

use crate::conformal;
use clap::{Arg, ArgAction, Command};
use mercer::calibrate::{Calibration, Curve};
use mercer::machines::find;
use mercer::metrics::{ClassMetrics, Metrics, OneClass};
use mercer::model::{Model, Seen};
use mercer::params::Setting;
use mercer::plot::{percent_at_least, percent_at_most};
use serde_json::{Map, Value, json};

pub(crate) use mercer_terminal::report::{
    facts, folded, folded_facts, note, page, print, print_file, print_json, say, short, table, warn,
};

/// A parameter as JSON.
pub(crate) fn setting(value: &Setting) -> Value {
    match value {
        Setting::Number(x) => json!(x),
        Setting::Switch(b) => json!(b),
        Setting::Word(w) => json!(w),
        Setting::Numbers(xs) => json!(xs),
    }
}

/// Named parameters as JSON.
pub(crate) fn settings(values: &[(String, Setting)]) -> Value {
    Value::Object(values.iter().map(|(name, value)| (name.clone(), setting(value))).collect::<Map<_, _>>())
}

/// The mark where a file from elsewhere is silent.
pub(crate) const NOT_TOLD: &str = "not told by its file";

/// A number of examples or candidates, of which there is at least one; a file from elsewhere does not tell.
pub(crate) fn known(count: usize) -> Option<usize> {
    (count > 0).then_some(count)
}

/// Description of a model, as JSON.
pub(crate) fn model(model: &Model) -> Map<String, Value> {
    let report = &model.fitted().report;
    let width: Option<usize> = model.examples().views().iter().filter_map(|v| v.values.width()).reduce(|a, b| a + b);
    let width = model
        .schema()
        .and_then(|s| s.views().iter().filter_map(mercer::data::ViewSchema::width).reduce(|a, b| a + b))
        .or(width);
    let document = json!({
        "machine": model.machine(),
        "parameters": settings(model.settings()),
        "kernel": model.kernel().to_string(),
        "n": known(model.trained_on()),
        "n_set_apart": model.provenance().and_then(|p| p.set_apart()).map(<[u32]>::len),
        "d": width,
        "iterations": report.iterations,
        "status": known(model.trained_on()).map(|_| report.status),
        "objective": report.objective,
        "duality_gap": report.duality_gap,
        "violation": report.violation,
        "n_support": report.support,
        "storage": report.storage,
        "notes": Value::Object(report.notes.iter().map(|(k, v)| (k.clone(), json!(v))).collect()),
        "candidates": known(model.models_tried()),
        "candidates_paid_for": known(model.candidates()),
        "advice": report.advice,
        "scaling": scaling(model).into_iter().collect::<Map<_, _>>(),
        "categories": categories(model).into_iter().collect::<Map<_, _>>(),
        "calibration": model.fitted().calibration.as_ref().map(|c| {
            json!({"method": c.method, "folds": c.folds, "curves": c.curves.len(), "label_has_the_largest": c.agrees})
        }),
        "conformal": model.conformal().map(|c| conformal::proven(model, c, conformal::DEFAULT_COVERAGE)),
    });
    match document {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// `--verbose` and `--quiet` of verbs that report on a fit.
pub(crate) fn verbosity(command: Command) -> Command {
    command
        .arg(
            Arg::new("verbose")
                .long("verbose")
                .action(ArgAction::SetTrue)
                .hide_short_help(true)
                .help("Report all parameters, the memory and the notes of the solver as well"),
        )
        .arg(
            Arg::new("quiet")
                .long("quiet")
                .short('q')
                .hide_short_help(true)
                .action(ArgAction::SetTrue)
                .conflicts_with_all(["verbose", "json"])
                .help("Print no report; notes and warnings stay"),
        )
}

/// The machine with those of its parameters that have not their default.
pub(crate) fn machine_in_short(model: &Model) -> String {
    let usual = find(model.machine()).map(|entry| (entry.make)().settings()).unwrap_or_default();
    let changed = |(name, value): &&(String, Setting)| !usual.iter().any(|(n, v)| n == name && v == value);
    let parameters: Vec<String> =
        model.settings().iter().filter(changed).map(|(name, value)| format!("{name}={value}")).collect();
    if parameters.is_empty() {
        model.machine().to_owned()
    } else {
        format!("{} ({})", model.machine(), parameters.join(", "))
    }
}

/// Description of a model, for people.
pub(crate) fn model_facts(model: &Model) -> Vec<(&'static str, String)> {
    let report = &model.fitted().report;
    let parameters: Vec<String> = model.settings().iter().map(|(k, v)| format!("{k}={v}")).collect();
    let mut rows = vec![
        (
            "machine",
            if parameters.is_empty() {
                model.machine().to_owned()
            } else {
                format!("{} ({})", model.machine(), parameters.join(", "))
            },
        ),
        ("kernel", model.kernel().to_string()),
        ("examples", known(model.trained_on()).map_or_else(|| NOT_TOLD.to_owned(), |n| n.to_string())),
    ];
    let told = |of: Vec<(String, Value)>| {
        let one = |(name, value): (String, Value)| {
            format!("{name}: {}", value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        };
        of.into_iter().map(one).collect::<Vec<_>>().join(", ")
    };
    if let Some(others) = model.provenance().and_then(|p| p.set_apart()) {
        rows.push(("prepared by", format!("{} others, drawn at random, that it has not learned from", others.len())));
    }
    let (scaling, categories) = (scaling(model), categories(model));
    if !scaling.is_empty() {
        rows.push(("scaling", told(scaling)));
    }
    if !categories.is_empty() {
        rows.push(("categories", format!("{} (a coordinate each)", told(categories))));
    }
    rows.extend([(
        "status",
        match known(model.trained_on()) {
            None => NOT_TOLD.to_owned(),
            Some(_) if report.iterations > 0 => {
                format!("{} after {} iterations", report.status, report.iterations)
            }
            Some(_) => report.status.to_string(),
        },
    )]);
    if let Some(objective) = report.objective {
        let gap = report.duality_gap.map(|g| format!(", duality gap {g:.3e}")).unwrap_or_default();
        rows.push(("objective", format!("{objective:.6}{gap}")));
    }
    if let Some(support) = report.support {
        let share = |n: usize| format!(" ({:.1} %)", 100.0 * support as f64 / n as f64);
        let share = known(model.trained_on()).map(share).unwrap_or_default();
        rows.push(("support", format!("{support} examples carry weight{share}")));
    }
    if let Some(calibration) = &model.fitted().calibration {
        rows.push(("probabilities", probabilities(calibration)));
    }
    if let Some(conformal) = model.conformal() {
        rows.push(("conformal", conformal::sentence(model, conformal, conformal::DEFAULT_COVERAGE)));
    }
    rows.push(("memory", report.storage.clone()));
    let notes: Vec<String> = report.notes.iter().map(|(k, v)| format!("{k} {}", short(*v))).collect();
    if !notes.is_empty() {
        rows.push(("notes", notes.join(", ")));
    }
    for advice in &report.advice {
        rows.push(("advice", advice.clone()));
    }
    rows
}

/// The scaling of each view of vectors, in a word.
fn scaling(model: &Model) -> Vec<(String, Value)> {
    let Some(schema) = model.schema() else { return Vec::new() };
    let asked = model.job().and_then(|job| job.columns.scale);
    schema.views().iter().filter_map(|v| Some((v.name.clone(), json!(v.scaling(asked)?)))).collect()
}

/// The number of categories of each column of words.
fn categories(model: &Model) -> Vec<(String, Value)> {
    let views = model.schema().map(mercer::data::Schema::views).unwrap_or_default();
    views.iter().flat_map(mercer::data::ViewSchema::categories).map(|(name, n)| (name.to_owned(), json!(n))).collect()
}

/// The way in which a model comes to its probabilities.
fn probabilities(calibration: &Calibration) -> String {
    let curves = match calibration.curves.as_slice() {
        [Curve::Platt { a, b }] => format!(": 1 / (1 + exp({} f {} {}))", short(*a), sign(*b), short(b.abs())),
        [Curve::Isotonic { knots }] => format!(": a rising curve with {} knots", knots.len()),
        [Curve::Gaussian { square, slope, offset }] => format!(
            ": 1 / (1 + exp(−({} f² {} {} f {} {})))",
            short(*square),
            sign(*slope),
            short(slope.abs()),
            sign(*offset),
            short(offset.abs())
        ),
        several => format!(", {} curves", several.len()),
    };
    if calibration.folds == 0 {
        return "those of the model itself, not learned from scores held out".to_owned();
    }
    let label = if calibration.agrees {
        ""
    } else {
        "; the label follows the weights of the classes, not the largest probability"
    };
    format!("{}, learned from scores held out in {} folds{curves}{label}", calibration.method, calibration.folds)
}

fn sign(x: f64) -> char {
    if x < 0.0 { '−' } else { '+' }
}

/// The error that can be had without learning, in words.
pub(crate) fn baseline(metrics: &Metrics) -> String {
    match metrics {
        Metrics::Classes(m) => format!("error {:.2} % by always predicting {}", 100.0 * m.base_error, m.base_label),
        Metrics::Numbers(m) => format!("RMSE {} by always predicting the mean", short(m.base_rmse)),
    }
}

/// Measures of predictions as lines of a report; `seen` tells how many of the examples are training examples.
pub(crate) fn metrics(metrics: &Metrics, seen: Option<Seen>) -> String {
    let n =
        |n: usize| seen.map_or_else(|| n.to_string(), |seen| seen.to_string().trim_end_matches(" examples").to_owned());
    // a training error has no interval
    let told = |value: String, sure: &str, interval: Option<String>| match interval {
        Some(interval) => format!("{value}  ({sure} interval {interval})"),
        None => value,
    };
    match metrics {
        Metrics::Classes(m) => {
            let interval =
                m.error_interval.map(|(l, h)| format!("{} % to {} %", percent_at_least(l, 2), percent_at_most(h, 2)));
            let mut rows = vec![
                ("examples", n(m.n)),
                ("error", told(format!("{:.2} %", 100.0 * m.error), "95 %", interval)),
                ("baseline", baseline(metrics)),
                ("balanced error", format!("{:.2} %", 100.0 * m.balanced_error)),
            ];
            if let Some(matthews) = m.matthews {
                rows.push(("Matthews correlation", format!("{matthews:.4}")));
            }
            if let Some(auc) = m.auc {
                let mean = if m.labels.len() > 2 { "  (mean of each class against the rest)" } else { "" };
                rows.push(("AUC", format!("{auc:.4}{mean}")));
            }
            if let Some(p) = &m.probability {
                let unknown = || "infinite: a label is one the model does not know".to_owned();
                rows.push(("log loss", p.log_loss.map_or_else(unknown, |l| format!("{l:.4}"))));
                rows.push(("Brier score", format!("{:.4}", p.brier)));
                rows.push(("calibration error", format!("{:.4}", p.calibration_error)));
            }
            let mut text = facts(&rows);
            if m.labels.len() <= 20 {
                text.push('\n');
                text.push_str(&confusion(m));
            }
            text.push('\n');
            text.push_str(&by_class(m));
            text
        }
        Metrics::Numbers(m) => {
            let interval = m.rmse_interval.map(|(l, h)| format!("{} to {}", short(l), short(h)));
            let mut rows = vec![
                ("examples", n(m.n)),
                ("RMSE", told(short(m.rmse), "approximate 95 %", interval)),
                ("baseline", baseline(metrics)),
                ("mean absolute error", short(m.mae)),
            ];
            if let Some(r2) = m.r2 {
                rows.push(("R²", format!("{r2:.4}")));
            }
            facts(&rows)
        }
    }
}

/// True labels against predicted ones.
fn confusion(m: &ClassMetrics) -> String {
    let header: Vec<&str> = std::iter::once("true \\ predicted").chain(m.labels.iter().map(String::as_str)).collect();
    let line = |(label, row): (&String, &Vec<usize>)| {
        std::iter::once(label.clone()).chain(row.iter().map(ToString::to_string)).collect()
    };
    let lines: Vec<Vec<String>> = m.labels.iter().zip(&m.confusion).map(line).collect();
    table(&header, &lines, true)
}

/// Each class by itself.
fn by_class(m: &ClassMetrics) -> String {
    let share = |x: Option<f64>| x.map_or_else(|| "–".to_owned(), |x| format!("{x:.4}"));
    let several = m.labels.len() > 2;
    let mut header = vec!["class", "examples", "recall", "precision", "F1"];
    header.extend(several.then_some("AUC"));
    let line = |c: &OneClass| {
        let mut line = vec![c.label.clone(), c.examples.to_string(), share(c.recall), share(c.precision), share(c.f1)];
        line.extend(several.then(|| share(c.auc)));
        line
    };
    table(&header, &m.by_class.iter().map(line).collect::<Vec<_>>(), true)
}
