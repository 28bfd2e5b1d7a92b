//! `mercer explain`: which columns, or views, the predictions of a model rest on.

use crate::{Verb, arguments, input, report};
use clap::{Arg, ArgMatches, Command, value_parser};
use mercer::machines::{Learns, Readout};
use mercer::metrics::Score;
use mercer::model::{Explain, Explanation, Importance, Model, Seen, Together};
use mercer_terminal::{Failure, Watch};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Instant;

pub(crate) const VERB: Verb = Verb { command, run };

fn command() -> Command {
    let command = Command::new("explain")
        .about("Shuffle one column after the other: how much worse does the model predict?")
        .after_help(
            "Examples:\n  mercer explain model.mercer test.csv\n  \
             mercer explain model.mercer test.csv --by views --repeats 30 --score auc --json\n\n\
             Permutation importance: the loss with the column shuffled among the examples, less the loss as they are; mean and\n\
             standard deviation over the permutations. Columns that tell the same thing share their importance.\n\
             Give examples that the model has not seen: on training examples the importance is also that of noise learned by heart.",
        )
        .arg(arguments::path("MODEL", "Model file"))
        .arg(arguments::path("DATA", "Data file with the target column"))
        .arg(
            Arg::new("by")
                .long("by")
                .value_name("WHAT")
                .value_parser(Together::WORDS.map(|w| w.0))
                .default_value("columns")
                .help("What is shuffled together: each column, with all its categories, or each view"),
        )
        .arg(
            Arg::new("repeats")
                .long("repeats")
                .value_name("N")
                .value_parser(value_parser!(u16).range(1..))
                .default_value("10")
                .help("Permutations of each"),
        )
        .arg(arguments::labels())
        .args(arguments::compared())
        .args(arguments::format());
    arguments::common(arguments::scoring(command))
}

fn run(flags: &ArgMatches) -> Result<(), Failure> {
    let started = Instant::now();
    let (Some(path), Some(data)) = (flags.get_one::<PathBuf>("MODEL"), flags.get_one::<PathBuf>("DATA")) else {
        return Err(Failure::usage("MODEL and DATA are needed"));
    };
    let model = Model::load(path)?;
    let learns = match &model.fitted().readout {
        Readout::ArgMax { .. } | Readout::Vote { .. } => Learns::Classes,
        Readout::Values { .. } => Learns::Numbers,
        _ => {
            let what = format!("{} predicts no target that predictions could be compared with", model.machine());
            return Err(Failure::usage(what));
        }
    };
    let positive = flags.get_one::<String>("positive").map(String::as_str);
    let score = match flags.get_one::<String>("score") {
        Some(name) => Some(Score::named(name, learns, positive).map_err(|e| Failure::usage(format!("--score: {e}")))?),
        None => None,
    };
    let by = flags.get_one::<String>("by").map_or("", String::as_str);
    let together = Together::WORDS.iter().find(|w| w.0 == by).map_or(Together::Columns, |w| w.1);
    let repeats = flags.get_one::<u16>("repeats").map_or(10, |&n| usize::from(n));
    let examples = input::for_model(&model, data, flags)?;
    let watch = Watch::new(flags);
    let asked = Explain { together, repeats, score, seed: arguments::seed(flags) };
    let outcome = model.explain(&examples, &asked, &watch);
    watch.finish();
    let told = outcome?;
    let seen = model.seen(&examples);
    if flags.get_flag("json") {
        let mut document = json!(told);
        document["machine"] = json!(model.machine());
        document["n"] = json!(examples.len());
        document["by"] = json!(by);
        document["training_examples"] = json!(seen.map(|seen| seen.most()));
        document["seen_in_training"] = json!(seen.map(|seen| seen.found));
        document["seconds"] = json!({"total": started.elapsed().as_secs_f64()});
        input::insert_told(&mut document, &examples);
        report::print_json(&Value::clone(&document));
    } else {
        report::print(&page(&told, &model, examples.len(), by));
    }
    if let Some(seen) = seen.filter(Seen::spoils) {
        let which = if seen.found == seen.examples {
            "these are training examples".to_owned()
        } else {
            format!("there are {seen}")
        };
        report::warn(&format!(
            "{which}: columns that the model has learned by heart look important, too. Give examples it has not seen"
        ));
    }
    Ok(())
}

/// Rows of the table.
const LISTED: usize = 40;

/// The importances as a table, the largest first.
fn page(told: &Explanation, model: &Model, n: usize, by: &str) -> String {
    let mut order: Vec<&Importance> = told.importances.iter().collect();
    order.sort_by(|a, b| b.mean.total_cmp(&a.mean));
    let several = by == "columns" && told.importances.iter().any(|one| one.view != told.importances[0].view);
    let rows: Vec<Vec<String>> = order
        .iter()
        .take(LISTED)
        .map(|one| {
            let mut row = vec![one.name.clone()];
            row.extend(several.then(|| one.view.clone()));
            row.extend([report::short(one.mean), report::short(one.deviation)]);
            row
        })
        .collect();
    let mut header = vec![if by == "views" { "view" } else { "column" }];
    header.extend(several.then_some("view"));
    header.extend(["importance", "± s.d."]);
    let repeats = told.importances.first().map_or(0, |one| one.repeats.len());
    let mut text = report::facts(&[
        ("machine", model.machine().to_owned()),
        ("examples", n.to_string()),
        (told.score, report::short(told.value)),
        (
            "importance",
            format!("what {} loses when the {} is shuffled, mean over {repeats} permutations", told.score, header[0]),
        ),
    ]);
    text.push('\n');
    text.push_str(&report::table(&header, &rows, true));
    if order.len() > LISTED {
        text.push_str(&format!("\nthe first {LISTED} of {}; --json has all", order.len()));
    }
    text
}
