//! `mercer show`: what is in a model or a data file.

use crate::catalogue::PARTS;
use crate::{Verb, arguments, input, report};
use clap::{ArgMatches, Command};
use mercer::data::{Field, FieldData, SchemaOptions, Table, Target};
use mercer::model::{Model, ModelPart, is_libsvm};
use mercer_terminal::Failure;
use serde_json::{Value, json};
use std::io::Read;
use std::path::{Path, PathBuf};

pub(crate) const VERB: Verb = Verb { command, run };

fn command() -> Command {
    Command::new("show")
        .about("Show what is in a model file or a data file")
        .after_help("Examples:\n  mercer show model.mercer\n  mercer show train.csv --json")
        .arg(arguments::path("FILE", "Model or data file"))
        .args(arguments::chosen())
        .args(arguments::format())
        .arg(arguments::memory())
        .arg(arguments::json())
}

fn run(flags: &ArgMatches) -> Result<(), Failure> {
    let Some(path) = flags.get_one::<PathBuf>("FILE") else { return Err(Failure::usage("FILE is needed")) };
    let json = flags.get_flag("json");
    let list = |id: &str| flags.get_one::<String>(id).map(|text| SchemaOptions::columns(text));
    let chosen =
        SchemaOptions { drop: list("drop").unwrap_or_default(), only: list("columns"), ..SchemaOptions::default() };
    if !path.exists()
        && let Some(name) = path.to_str().filter(|name| is_an_entry(name))
    {
        return Err(Failure::usage(format!(
            "there is no file {name}; `mercer help {name}` explains what is called so"
        )));
    }
    if looks_like_a_model(path) {
        if chosen != SchemaOptions::default() {
            return Err(Failure::usage(
                "--drop and --columns choose among the columns of a data file, and this is a model",
            ));
        }
        show_model(&Model::load(path)?, json);
    } else {
        show_data(&shown(input::read_table(path, &input::read_options(flags)?)?, chosen)?, json);
    }
    Ok(())
}

/// True for the name of something in the catalogue.
fn is_an_entry(name: &str) -> bool {
    PARTS.iter().flat_map(|part| (part.items)()).any(|item| item.is_called(name))
}

/// The columns that are asked for; a target that is not is left out like any other column.
fn shown(mut table: Table, mut chosen: SchemaOptions) -> Result<Table, Failure> {
    if chosen != SchemaOptions::default() {
        chosen.rejoin(&table);
        table = chosen.divided(&table).into_owned();
        let target = table.target.take();
        chosen.set_target("none");
        let name = target.map(|t| table.fields[t].name.clone());
        table = chosen.narrowed(table)?;
        table.target = name.and_then(|name| table.fields.iter().position(|f| f.name == name));
    }
    Ok(table)
}

/// A model starts with the length of its header, then the header in JSON; or it is LIBSVM's, or it is named like one.
pub(crate) fn looks_like_a_model(path: &Path) -> bool {
    if !path.is_file() {
        return false;
    }
    let mut head = [0; 9];
    let content = std::fs::File::open(path).and_then(|mut f| f.read_exact(&mut head)).is_ok();
    let ours = head[8] == b'{' && head[5..8] == [0, 0, 0];
    (content && (ours || is_libsvm(&head))) || path.extension().is_some_and(|e| e == "mercer")
}

fn show_model(model: &Model, json: bool) {
    let views: Vec<Value> = model
        .schema()
        .into_iter()
        .flat_map(mercer::data::Schema::views)
        .map(|v| json!({"name": v.name, "kind": v.kind(), "width": v.width(), "coordinates": v.coordinate_names()}))
        .collect();
    let targets: Vec<&str> = model.schema().into_iter().flat_map(|s| s.target_names()).collect();
    let parts = model.parts();
    if json {
        let mut document = report::model(model);
        document.insert("kind".to_owned(), json!("model"));
        document.insert("target".to_owned(), json!(targets));
        document.insert("views".to_owned(), json!(views));
        document.insert("readout".to_owned(), json!(model.fitted().readout));
        if !parts.is_empty() {
            document.insert("parts".to_owned(), json!(parts.iter().map(described).collect::<Vec<_>>()));
        }
        document.insert("calibration".to_owned(), json!(model.fitted().calibration));
        document.insert("job".to_owned(), json!(model.job()));
        document.insert("provenance".to_owned(), json!(model.provenance()));
        report::print_json(&Value::Object(document));
        return;
    }
    let mut rows = report::model_facts(model);
    for part in &parts {
        let what = format!("{}: {} with {}", part.names.name, part.names.coordinates.join(", "), part.kernel);
        rows.push(("part", what));
    }
    if let Some(schema) = model.schema() {
        for view in schema.views() {
            let width = view.width().map(|w| format!(", {w} coordinates")).unwrap_or_default();
            let scaled = if view.scaler().is_some() { ", scaled" } else { "" };
            rows.push(("view", format!("{}: {}{width}{scaled}", view.name, view.kind())));
        }
        rows.push(("target", targets.join(", ")));
    }
    let (tried, paid) = (model.models_tried(), model.candidates());
    let pairs =
        if paid > tried { format!("; with the bounds that judged them, {paid} are paid for") } else { String::new() };
    let told = match report::known(tried) {
        Some(tried) => format!("{tried} tried on the same examples{pairs}"),
        None => format!("unknown: how many were tried is {}", report::NOT_TOLD),
    };
    rows.push(("candidates", told));
    report::print(&report::facts(&rows));
}

/// A part of a model as JSON.
fn described(part: &ModelPart<'_>) -> Value {
    json!({"name": part.names.name, "coordinates": part.names.coordinates, "kernel": part.kernel.to_string()})
}

fn show_data(table: &Table, json: bool) {
    let fields: Vec<Value> = table.fields.iter().map(describe).collect();
    let target = table.target.map(|t| table.fields[t].name.clone());
    if json {
        report::print_json(&json!({
            "kind": "data", "file": table.file, "format": table.format, "n": table.len, "target": target, "fields": fields,
        }));
        return;
    }
    report::print(&report::facts(&[
        ("file", table.file.clone()),
        ("format", table.format.to_owned()),
        ("examples", table.len.to_string()),
        ("target", target.unwrap_or_else(|| "none".to_owned())),
    ]));
    let rows: Vec<Vec<String>> =
        fields.iter().take(40).map(|f| vec![text(&f["name"]), text(&f["kind"]), text(&f["summary"])]).collect();
    report::print(&report::table(&["field", "kind", "summary"], &rows, false));
    if fields.len() > 40 {
        report::print(&format!("and {} more fields", fields.len() - 40));
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn describe(field: &Field) -> Value {
    let (kind, summary) = match &field.data {
        FieldData::Numbers { values, spellings } => {
            let missing = values.iter().filter(|v| v.is_nan()).count();
            let known: Vec<f64> = values.iter().copied().filter(|v| !v.is_nan()).collect();
            let (low, high) = known.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &x| (l.min(x), h.max(x)));
            let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
            let mut summary = match known.len() {
                0 => "no value".to_owned(),
                _ => format!("{} to {}, mean {}", report::short(low), report::short(high), report::short(mean)),
            };
            let target = Target::from_numbers(&field.name, known).spelled(spellings.iter().map(|(v, s)| (*v, s)));
            if let Some(counts) = few_classes(&target) {
                summary = counts;
            }
            if missing > 0 {
                summary.push_str(&format!(", {missing} missing"));
            }
            ("numbers", summary)
        }
        FieldData::Words(words) => {
            let target = Target::from_words(&field.name, &words.iter().collect::<Vec<_>>());
            let missing = words.iter().filter(|w| w.is_empty()).count();
            let longest = words.iter().map(|w| w.chars().count()).max().unwrap_or(0);
            let mut summary = few_classes(&target).unwrap_or_else(|| format!("up to {longest} characters"));
            if missing > 0 {
                summary.push_str(&format!(", {missing} missing"));
            }
            ("words", summary)
        }
        FieldData::Mixed { cells, odd } => {
            ("mixed", format!("numbers and words; the first odd one is \"{}\"", &cells[*odd]))
        }
        FieldData::Matrix(rows) => ("dense", format!("{} × {}", rows.len(), rows.width())),
        FieldData::Matrix32(rows) => ("dense, f32", format!("{} × {}", rows.len(), rows.width())),
        FieldData::Sparse(rows) => {
            let share = 100.0 * rows.coordinates().len() as f64 / (rows.len() * rows.width()).max(1) as f64;
            ("sparse", format!("{} × {}, {share:.2} % stored", rows.len(), rows.width()))
        }
    };
    json!({"name": field.name, "kind": kind, "summary": summary})
}

/// Counts of at most ten distinct values.
fn few_classes(target: &Target) -> Option<String> {
    let classes = target.classes().ok().filter(|c| c.labels.len() <= 10 && c.codes.len() > c.labels.len())?;
    let mut counts = vec![0_usize; classes.labels.len()];
    classes.codes.iter().for_each(|&c| counts[c as usize] += 1);
    Some(classes.labels.iter().zip(counts).map(|(l, c)| format!("{l}: {c}")).collect::<Vec<_>>().join(", "))
}
