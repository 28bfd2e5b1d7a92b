//! `mercer reproduce certificates`: all certificates of the same models side by side, beside figures computed elsewhere.
//!
//! Classes are N(±(s, 0, …), I). Three tables: a soft margin that errs, a hard margin of unit vectors, and the prior's mass of
//! the version space. A cell agrees if our mean differs from the reference one by at most three standard errors of both,
//! and half a unit of its last digit. Reference figures were worked out from the theorems before, on draws of their own; no book
//! prints them.

mod evidence;
mod hard;
mod soft;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use mercer::seed::Seed;
use mercer::watch::{Monitor, Phase};
use mercer_terminal::{Failure, Verb, Watch, arguments, report};
use rayon::prelude::*;
use serde_json::{Value, json};

pub(super) const EXPERIMENT: Verb = Verb { command, run };

/// δ of every certificate.
const DELTA: f64 = 0.05;
const TABLES: [&str; 3] = ["soft", "hard", "evidence"];

/// A figure that was worked out before, its last digit's unit, and the draws it is the mean of.
#[derive(Clone, Copy)]
struct Reference {
    value: f64,
    unit: f64,
    draws: usize,
}

/// A figure with so many decimals.
const fn reference(value: f64, unit: f64, draws: usize) -> Option<Reference> {
    Some(Reference { value, unit, draws })
}

/// A figure of ours beside the reference one.
struct Cell {
    table: &'static str,
    column: &'static str,
    row: &'static str,
    mean: f64,
    /// Of a draw.
    deviation: f64,
    draws: usize,
    reference: Option<Reference>,
}

impl Cell {
    /// The mean of some draws; a row that is infinite in a draw is infinite.
    fn of(
        table: &'static str,
        column: &'static str,
        row: &'static str,
        values: &[f64],
        reference: Option<Reference>,
    ) -> Self {
        let n = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / n;
        let spread = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
        let deviation = if mean.is_finite() { spread.sqrt() } else { 0.0 };
        Self { table, column, row, mean, deviation, draws: values.len(), reference }
    }

    fn error(&self) -> f64 {
        self.deviation / (self.draws.max(1) as f64).sqrt()
    }

    /// True if the reference figure is within the errors of both; `None` where there is none.
    fn agrees(&self) -> Option<bool> {
        let p = self.reference?;
        if !self.mean.is_finite() || !p.value.is_finite() {
            return Some(self.mean == p.value);
        }
        let theirs = self.deviation / (p.draws.max(1) as f64).sqrt();
        let allowed = 3.0 * self.error().hypot(theirs) + 0.5001 * p.unit;
        Some((self.mean - p.value).abs() <= allowed)
    }

    fn verdict(&self) -> &'static str {
        match self.agrees() {
            Some(true) => "agrees",
            Some(false) => "differs",
            None => "–",
        }
    }
}

fn command() -> Command {
    let command = Command::new("certificates")
        .about("All certificates of the same models side by side, means over draws beside ones worked out before")
        .after_help("Example:\n  mercer reproduce certificates --draws 100")
        .arg(
            Arg::new("draws")
                .long("draws")
                .value_name("N")
                .value_parser(value_parser!(u16).range(10..))
                .default_value("100")
                .help("Draws of small samples, 10 or more; large ones have a tenth"),
        )
        .arg(
            Arg::new("tables")
                .long("tables")
                .value_name("LIST")
                .value_delimiter(',')
                .action(ArgAction::Append)
                .value_parser(PossibleValuesParser::new(TABLES))
                .help("Tables, with commas [default: all]"),
        );
    arguments::common(command)
}

fn run(flags: &ArgMatches) -> Result<(), Failure> {
    let draws = flags.get_one::<u16>("draws").map_or(100, |&n| usize::from(n));
    let asked: Option<Vec<&str>> = flags.get_many::<String>("tables").map(|t| t.map(String::as_str).collect());
    let watch = Watch::new(flags);
    let request = Request { draws, seed: arguments::seed(flags), watch: &watch };
    let mut cells = Vec::new();
    for table in TABLES.into_iter().filter(|t| asked.as_ref().is_none_or(|a| a.contains(t))) {
        let made = match table {
            "soft" => soft::cells(&request),
            "hard" => hard::cells(&request),
            _ => evidence::cells(&request),
        };
        cells.extend(made.inspect_err(|_| watch.finish())?);
    }
    watch.finish();
    if flags.get_flag("json") {
        report::print_json(&json!(cells.iter().map(document).collect::<Vec<_>>()));
    } else {
        let header = ["table", "column", "certificate", "ours", "± error", "reference", "verdict"];
        report::print(&report::table(&header, &cells.iter().map(line).collect::<Vec<_>>(), false));
        let (agree, all) = counts(&cells);
        report::print(&report::facts(&[("agree", format!("{agree} of {all} reference cells"))]));
    }
    Ok(())
}

fn counts(cells: &[Cell]) -> (usize, usize) {
    let judged: Vec<bool> = cells.iter().filter_map(Cell::agrees).collect();
    (judged.iter().filter(|a| **a).count(), judged.len())
}

fn document(c: &Cell) -> Value {
    json!({
        "table": c.table, "column": c.column, "certificate": c.row, "mean": c.mean, "standard_error": c.error(),
        "draws": c.draws, "reference": c.reference.map(|p| p.value), "verdict": c.verdict(),
    })
}

fn line(c: &Cell) -> Vec<String> {
    let number = |v: f64| {
        if !v.is_finite() {
            "∞".to_owned()
        } else if v.abs() >= 10.0 {
            format!("{v:.1}")
        } else {
            format!("{v:.4}")
        }
    };
    vec![
        c.table.to_owned(),
        c.column.to_owned(),
        c.row.to_owned(),
        number(c.mean),
        number(c.error()),
        c.reference
            .map_or_else(|| "–".to_owned(), |p| if p.value.is_finite() { p.value.to_string() } else { "∞".to_owned() }),
        c.verdict().to_owned(),
    ]
}

/// Settings of the tables.
struct Request<'a> {
    draws: usize,
    seed: Seed,
    watch: &'a Watch,
}

impl Request<'_> {
    /// So many draws of a column, each with randomness of its own, in parallel.
    fn repeat<T: Send>(
        &self,
        column: &'static str,
        draws: usize,
        one: impl Fn(Seed) -> Result<T, Failure> + Sync,
    ) -> Result<Vec<T>, Failure> {
        self.watch
            .alive(Phase::new(column).into())
            .map_err(|_| Failure { message: "stopped before the tables were done".to_owned(), code: 130 })?;
        (0..draws).into_par_iter().map(|d| one(Seed(self.seed.0.wrapping_add(d as u64)))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_agrees_within_three_errors_of_both_and_the_rounding() {
        let cell = |reference| Cell::of("t", "c", "r", &[1.0, 2.0, 3.0, 2.0], reference);
        // deviation √(2/3); errors 0.41 here and 0.82 of the single draw there
        assert_eq!(cell(reference(4.7, 0.1, 1)).agrees(), Some(true));
        assert_eq!(cell(reference(4.9, 0.1, 1)).agrees(), Some(false));
        assert_eq!(cell(None).agrees(), None);
        assert_eq!(Cell::of("t", "c", "r", &[f64::INFINITY], reference(f64::INFINITY, 1.0, 1)).agrees(), Some(true));
        assert_eq!(Cell::of("t", "c", "r", &[0.3], reference(0.5, 0.1, 9)).agrees(), Some(false));
    }
}
