//! `mercer reproduce guarantees`: certificates of real data beside the errors they bound.
//!
//! Each set is cut at random into a training part, a held-out part and a test part. Parameters are chosen by certificates
//! alone, from a small grid that is paid for; then every certificate is set beside the error on the test part, which stands
//! for the risk.

use super::benchmark;
use super::mnist_bounds::Digits;
use clap::{Arg, ArgAction, ArgMatches, Command};
use mercer::certify::{self, Certified, Options};
use mercer::data::read::{ReadOptions, read};
use mercer::data::{Dataset, Scale, Schema, SchemaOptions};
use mercer::formula::Formula;
use mercer::machines;
use mercer::seed::Seed;
use mercer::select::{Choose, Grid, Search};
use mercer_terminal::{Failure, Verb, Watch, arguments, report};
use serde_json::json;
use std::path::Path;

pub(super) const EXPERIMENT: Verb = Verb { command, run };

/// A set, how many of its examples are for training and to be held out, and the grid.
struct Case {
    name: &'static str,
    parts: (usize, usize),
    grid: &'static str,
}

const CASES: [Case; 5] = [
    Case { name: "banana", parts: (1300, 2000), grid: "c=0.1|1|10, gamma=0.3|1|3" },
    Case { name: "ringnorm", parts: (1200, 5000), grid: "c=0.1|1|10, gamma=0.02|0.05|0.1" },
    Case { name: "image", parts: (1300, 400), grid: "c=1|10|100, gamma=0.03|0.1|0.3" },
    Case { name: "a9a", parts: (22_561, 10_000), grid: "c=0.1|1, gamma=0.01|0.05" },
    Case { name: "mnist", parts: (50_000, 10_000), grid: "c=10, gamma=0.01|0.02" },
];

fn command() -> Command {
    let command = Command::new("guarantees")
        .about("Certificates on real data beside the errors they bound")
        .after_help("Example:\n  mercer reproduce guarantees --data benchmarks --sets banana,ringnorm,image")
        .arg(benchmark::flag())
        .arg(
            Arg::new("sets")
                .long("sets")
                .value_name("LIST")
                .value_delimiter(',')
                .action(ArgAction::Append)
                .value_parser(["banana", "ringnorm", "image", "a9a", "mnist"])
                .help("Sets, with commas [default: all]"),
        );
    arguments::common(command)
}

/// A set's parts.
struct Parts {
    training: Dataset,
    held_out: Dataset,
    test: Dataset,
}

impl Case {
    fn read(&self, root: &Path) -> Result<Parts, Failure> {
        let plain = SchemaOptions { scale: Some(Scale::None), ..SchemaOptions::default() };
        let (pool, test) = match self.name {
            "a9a" => {
                let sparse = ReadOptions { format: Some("libsvm".to_owned()), ..ReadOptions::default() };
                let file = |name: &str| read(&root.join("libsvm").join(name), &sparse);
                let (schema, pool) = Schema::learn_and_apply(&file("a9a.svm.gz")?, &plain)?;
                (pool, Some(schema.apply(&file("a9a.t.svm.gz")?)?))
            }
            "mnist" => {
                let folder = root.join("mnist");
                let digits = |part: &str, most| Digits::read(&folder, part, most)?.against(0);
                (digits("train", 60_000)?, Some(digits("t10k", 10_000)?))
            }
            name => {
                let options =
                    ReadOptions { format: Some("csv".to_owned()), header: Some(false), ..ReadOptions::default() };
                let table = read(&root.join("raetsch").join(format!("{name}.csv.gz")), &options)?;
                let last = SchemaOptions { target: Some(vec!["-1".to_owned()]), ..plain };
                (Schema::learn_and_apply(&table, &last)?.1, None)
            }
        };
        let order = Seed(0).stream(self.name).permutation(pool.len());
        let (m, h) = self.parts;
        if order.len() < m + h + usize::from(test.is_none()) {
            return Err(Failure { message: format!("{} has only {} examples", self.name, order.len()), code: 3 });
        }
        let rest = &order[m + h..];
        Ok(Parts {
            training: pool.select(&order[..m]),
            held_out: pool.select(&order[m..m + h]),
            test: test.unwrap_or_else(|| pool.select(rest)),
        })
    }
}

fn run(flags: &ArgMatches) -> Result<(), Failure> {
    let root = benchmark::root(flags)?;
    let asked: Vec<&String> = flags.get_many::<String>("sets").into_iter().flatten().collect();
    let watch = Watch::new(flags).keeping_all();
    let entry = machines::find("svc").ok_or_else(|| Failure::usage("there is no svc"))?;
    let kernel: Formula = "rbf(gamma=1)".parse().map_err(mercer::Error::from)?;
    let (mut rows, mut documents) = (Vec::new(), Vec::new());
    let mut text = String::new();
    for case in CASES.iter().filter(|c| asked.is_empty() || asked.iter().any(|a| *a == c.name)) {
        let parts = case.read(&root)?;
        let grid: Grid = case.grid.parse().map_err(|e: mercer::select::GridError| Failure::usage(e.to_string()))?;
        let search = Search {
            score: None,
            machine: entry,
            settings: &[],
            kernel: &kernel,
            grid: &grid,
            folds: 5,
            choose: Choose::Best,
            probabilities: None,
            calibration_folds: 0,
            budget: arguments::budget(flags)?,
            seed: Seed(0),
        };
        let options =
            Options { budget: search.budget, held_out: Some(&parts.held_out), informed: true, ..Options::default() };
        let training_only = Options { held_out: None, ..options };
        let selection = certify::select(&search, &parts.training, &training_only, &watch)?;
        let certified = selection.model.certify(&parts.training, &options, &watch)?;
        let test =
            selection.model.certify(&parts.training, &Options { held_out: Some(&parts.test), ..options }, &watch)?;
        let test_error = test.held_out_error.unwrap_or(f64::NAN);
        text.push_str(&detail(
            case,
            &certified,
            test_error,
            parts.test.len(),
            &selection.candidates[selection.best].point,
        ));
        let best = &selection.certificate;
        let held_out = certified.certificates.iter().find(|c| c.bound == "held_out");
        let percent = |v: Option<f64>| v.map_or_else(String::new, |v| format!("{:.2}", 100.0 * v));
        rows.push(vec![
            case.name.to_owned(),
            parts.training.len().to_string(),
            percent(certified.facts.error_rate()),
            format!("{} ({})", percent(best.value), best.bound),
            parts.held_out.len().to_string(),
            percent(certified.held_out_error),
            percent(held_out.and_then(|c| c.value)),
            format!("{:.2} ({})", 100.0 * test_error, parts.test.len()),
        ]);
        documents.push(json!({
            "set": case.name, "training": parts.training.len(), "held_out": parts.held_out.len(), "test": parts.test.len(),
            "test_error": test_error, "held_out_error": certified.held_out_error, "best_of_training": best,
            "certificates": certified.certificates,
        }));
    }
    watch.finish();
    if flags.get_flag("json") {
        report::print_json(&json!(documents));
        return Ok(());
    }
    let header = [
        "set",
        "examples",
        "training error %",
        "best of training alone %",
        "held out",
        "its error %",
        "held-out bound %",
        "test error % (of)",
    ];
    report::print(&report::table(&header, &rows, true));
    report::print(&text);
    Ok(())
}

/// All certificates of a set that say something.
fn detail(
    case: &Case,
    certified: &Certified,
    test_error: f64,
    tested: usize,
    point: &[(String, mercer::params::Setting)],
) -> String {
    let chosen: Vec<String> = point.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let mut text = format!(
        "\n{}: {} ({} candidates paid for); test error {:.2} % of {tested}\n\n",
        case.name,
        chosen.join(", "),
        certified.facts.penalty.candidates.unwrap_or(1),
        100.0 * test_error
    );
    let rows: Vec<Vec<String>> = certified
        .certificates
        .iter()
        .filter(|c| c.applicable && !c.vacuous && c.quantity.is_probability())
        .map(|c| {
            vec![
                c.bound.to_owned(),
                c.quantity.word().to_owned(),
                c.value.map_or_else(String::new, |v| format!("{v:.4}")),
                c.guarantee.word().to_owned(),
            ]
        })
        .collect();
    text.push_str(&report::table(&["bound", "of", "value", "guarantee"], &rows, true));
    text
}
