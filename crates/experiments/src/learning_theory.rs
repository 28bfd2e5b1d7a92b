//! `mercer reproduce learning-theory`: the figures of learning theory's chapters, drawn again with our numbers.
//!
//! Closed forms are the functions of the catalogue of bounds; where a text prints a number, it stands beside ours.
//!
//! # Source
//! R. Herbrich, Learning Kernel Classifiers (2002): Figures 4.2, 4.4, 4.5, 4.7, 4.8, 5.1, 5.2 and C.5; J. Shawe-Taylor,
//! tutorial slides on generalisation (errors over random training sets of the Wisconsin breast cancer data).

mod closed_forms;
mod covering;
mod errors;
mod normalisation;
mod structural;

use super::benchmark;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use mercer::plot::Theme;
use mercer::seed::Seed;
use mercer_terminal::{Failure, Verb, Watch, arguments, report};
use serde_json::json;
use std::path::PathBuf;

pub(super) const EXPERIMENT: Verb = Verb { command, run };

/// A number of ours, beside one that was worked out before, or that the book prints, where there is one.
struct Number {
    what: String,
    ours: f64,
    reference: Option<f64>,
}

impl Number {
    fn new(what: impl Into<String>, ours: f64, reference: Option<f64>) -> Self {
        Self { what: what.into(), ours, reference }
    }
}

/// A picture with the text of its file, and numbers that are seen in it.
struct Drawn {
    file: String,
    svg: String,
    numbers: Vec<Number>,
}

/// Settings of the pictures.
struct Request<'a> {
    theme: Theme,
    seed: Seed,
    /// Random splits or training sets.
    splits: usize,
    /// The data folder; an error says how to name it.
    data: Result<PathBuf, Failure>,
    watch: &'a Watch,
}

impl Request<'_> {
    /// The data folder, for pictures that need it.
    fn folder(&self) -> Result<PathBuf, Failure> {
        match &self.data {
            Ok(folder) => Ok(folder.clone()),
            Err(failure) => Err(Failure { message: failure.message.clone(), code: failure.code }),
        }
    }
}

/// A figure: a name, and how it is drawn.
struct Figure {
    name: &'static str,
    draw: fn(&Request<'_>) -> Result<Vec<Drawn>, Failure>,
}

static FIGURES: [Figure; 9] = [
    Figure { name: "growth", draw: closed_forms::growth },
    Figure { name: "margins", draw: closed_forms::margins },
    Figure { name: "caps", draw: closed_forms::caps },
    Figure { name: "losses", draw: closed_forms::losses },
    Figure { name: "structural", draw: structural::draw },
    Figure { name: "covering", draw: covering::cover },
    Figure { name: "shattering", draw: covering::shatter },
    Figure { name: "normalisation", draw: normalisation::draw },
    Figure { name: "errors", draw: errors::draw },
];

fn command() -> Command {
    let command = Command::new("learning-theory")
        .about("Figures of learning theory drawn again: growth, margins, caps, covers, normalisation, errors (Herbrich 2002)")
        .after_help("Example:\n  mercer reproduce learning-theory --data benchmarks -o figures")
        .arg(benchmark::flag())
        .arg(
            Arg::new("figures")
                .long("figures")
                .value_name("LIST")
                .value_delimiter(',')
                .action(ArgAction::Append)
                .value_parser(PossibleValuesParser::new(FIGURES.iter().map(|f| f.name)))
                .help("Figures, with commas [default: all]; normalisation and errors need data"),
        )
        .arg(
            Arg::new("splits")
                .long("splits")
                .value_name("N")
                .value_parser(value_parser!(u16).range(2..))
                .default_value("100")
                .help("Random splits of normalisation; errors has five times as many training sets"),
        )
        .arg(arguments::output("DIR", "Folder of the pictures").default_value("learning-theory"))
        .arg(arguments::theme());
    arguments::common(command)
}

fn run(flags: &ArgMatches) -> Result<(), Failure> {
    let Some(folder) = arguments::OutputFile::given(flags, "output") else {
        return Err(Failure::usage("-o DIR is needed"));
    };
    let asked: Option<Vec<&str>> = flags.get_many::<String>("figures").map(|f| f.map(String::as_str).collect());
    let wanted = |name: &str| asked.as_ref().is_none_or(|a| a.contains(&name));
    let watch = Watch::new(flags);
    let request = Request {
        theme: arguments::chosen_theme(flags),
        seed: arguments::seed(flags),
        splits: flags.get_one::<u16>("splits").map_or(100, |&n| usize::from(n)),
        data: benchmark::root(flags),
        watch: &watch,
    };
    // what could not be drawn is told before any work
    if FIGURES.iter().any(|f| wanted(f.name) && ["normalisation", "errors"].contains(&f.name)) {
        request.folder()?;
    }
    std::fs::create_dir_all(folder).map_err(|e| Failure::file(folder, &e))?;
    let mut all = Vec::new();
    for figure in FIGURES.iter().filter(|f| wanted(f.name)) {
        for drawn in (figure.draw)(&request).inspect_err(|_| watch.finish())? {
            arguments::save_picture(&folder.join(&drawn.file), &drawn.svg)?;
            all.push(drawn);
        }
    }
    watch.finish();
    if flags.get_flag("json") {
        let number = |n: &Number| json!({"what": n.what, "ours": n.ours, "reference": n.reference});
        let document = |d: &Drawn| json!({"file": d.file, "numbers": d.numbers.iter().map(number).collect::<Vec<_>>()});
        report::print_json(&json!(all.iter().map(document).collect::<Vec<_>>()));
    } else {
        let row = |d: &Drawn, n: &Number| {
            let reference = n.reference.map_or_else(|| "–".to_owned(), |p| format!("{p}"));
            let ours = if n.ours.abs() >= 100.0 { format!("{:.0}", n.ours) } else { format!("{:.4}", n.ours) };
            vec![d.file.clone(), n.what.clone(), ours, reference]
        };
        let rows: Vec<Vec<String>> = all.iter().flat_map(|d| d.numbers.iter().map(|n| row(d, n))).collect();
        report::print(&report::table(&["picture", "what", "ours", "reference"], &rows, false));
        report::print(&report::facts(&[("folder", folder.display().to_string())]));
    }
    Ok(())
}
