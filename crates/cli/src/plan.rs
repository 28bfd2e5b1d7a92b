//! `mercer plan`: how many examples a wanted certificate needs.

use crate::{Verb, arguments, input, report};
use clap::{Arg, ArgMatches, Command, value_parser};
use mercer::certify::{self, Expected, Facts, Options, PlannedBound};
use mercer::model::Model;
use mercer::plot::at_most;
use mercer_terminal::{Failure, Watch};
use std::path::PathBuf;

pub(crate) const VERB: Verb = Verb { command, run };

/// Numbers of examples in the table, and their spelling.
const SIZES: [(f64, &str); 5] =
    [(100.0, "at 100"), (1e3, "1 000"), (1e4, "10 000"), (1e5, "100 000"), (1e6, "1 000 000")];

fn command() -> Command {
    let number = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name(value)
            .allow_negative_numbers(true)
            .value_parser(value_parser!(f64))
            .help(help)
    };
    let command = Command::new("plan")
        .about("How many examples a wanted certificate needs, bound by bound")
        .after_help(
            "Examples:\n  mercer plan --certificate 0.1 --support 50\n  \
             mercer plan --certificate 0.05 --held-out-error 0.03\n  \
             mercer plan model.mercer train.csv --certificate 0.1 -o curves.svg\n\n\
             With a model, complexities are those of its fit: margins, support vectors and error rates stay as they are\n\
             while the number of examples grows. Without one, say what you expect; bounds that need something else are\n\
             left out.",
        )
        .arg(Arg::new("MODEL").value_parser(value_parser!(PathBuf)).help("Model file"))
        .arg(Arg::new("DATA").value_parser(value_parser!(PathBuf)).requires("MODEL").help("The training file"))
        .arg(number("certificate", "P", "The wanted bound, between 0 and 1").default_value("0.1"))
        .arg(number("delta", "P", "Probability with which it may fail").default_value("0.05"))
        .arg(number("support", "N", "Examples that determine the model: support vectors"))
        .arg(number("held-out-error", "P", "Share of errors on held-out examples"))
        .arg(number("training-error", "P", "Share of training errors [default: 0]"))
        .arg(number("dimension", "D", "Coordinates of the feature space"))
        .arg(number("margin", "G", "Normalised margin between 0 and 1: y f(x)/(‖w‖ ‖φ(x)‖)"))
        .arg(number("lambda", "L", "λ of (1/m) Σ loss + λ‖w‖², λ = 1/(2Cm)"))
        .arg(
            Arg::new("candidates")
                .long("candidates")
                .value_name("N")
                .value_parser(value_parser!(usize))
                .help("How many models will be tried on the same examples [default: 1, or what the model knows]"),
        )
        .arg(Arg::new("bound").long("bound").value_name("NAMES").value_delimiter(',').help("Only these bounds"))
        .arg(arguments::output("FIG", "Draw the curves, as .svg or .png"))
        .arg(arguments::theme())
        .arg(arguments::labels().requires("DATA"))
        .args(arguments::compared().map(|flag| flag.requires("DATA")))
        .args(arguments::format());
    arguments::common(command)
}

fn run(flags: &ArgMatches) -> Result<(), Failure> {
    let get = |name: &str| flags.get_one::<f64>(name).copied();
    let (wanted, delta) = (get("certificate").unwrap_or(0.1), get("delta").unwrap_or(0.05));
    let names: Vec<&str> = flags.get_many::<String>("bound").into_iter().flatten().map(String::as_str).collect();
    let picture = arguments::target(flags)?;
    if let Some(file) = picture {
        arguments::picture(file)?;
    }
    let expected = Expected {
        support: get("support"),
        held_out_error: get("held-out-error"),
        training_error: get("training-error"),
        dimension: get("dimension"),
        margin: get("margin"),
        lambda: get("lambda"),
        candidates: flags.get_one::<usize>("candidates").copied(),
    };
    let facts = match (flags.get_one::<PathBuf>("MODEL"), flags.get_one::<PathBuf>("DATA")) {
        (Some(model), Some(data)) => {
            let model = Model::load(model)?;
            let training = input::for_model(&model, data, flags)?;
            let watch = Watch::new(flags);
            let facts = expected.facts_of(&model, &training, &Options::default(), &watch);
            watch.finish();
            facts?
        }
        (Some(_), None) => {
            return Err(Failure::usage("a model needs its training file beside it: mercer plan MODEL DATA"));
        }
        (None, _) => expected.facts()?,
    };
    let planned = certify::plan(&facts, wanted, delta, &names)?;
    if let Some(file) = picture {
        arguments::save_picture(file, &certify::sample_size_figure(&planned, arguments::chosen_theme(flags)))?;
    }
    if flags.get_flag("json") {
        report::print_json(&serde_json::json!(planned));
        return Ok(());
    }
    let mut header = vec!["bound", "of", "examples"];
    header.extend(SIZES.map(|(_, spelled)| spelled));
    let rows: Vec<Vec<String>> = planned.iter().map(row).collect();
    report::print(&format!("Examples needed for a certificate of {wanted} at δ = {delta}:\n\n"));
    report::print(&report::table(&header, &rows, true));
    if let Some(why) = out_of_reach(&planned, &facts, wanted) {
        report::print(&why);
    }
    if let Some(file) = picture {
        report::print(&report::facts(&[("picture", file.display().to_string())]));
    }
    Ok(())
}

/// Why no number of examples is enough, where none is.
fn out_of_reach(planned: &[PlannedBound], facts: &Facts, wanted: f64) -> Option<String> {
    if planned.is_empty() || planned.iter().any(|p| p.examples.is_some()) {
        return None;
    }
    let points = || planned.iter().flat_map(|p| p.curve.iter().map(|c| (p.bound, c)));
    let most = points().map(|(_, c)| c.examples).fold(0.0, f64::max);
    let (bound, lowest) =
        points().min_by(|(_, a), (_, b)| a.value.total_cmp(&b.value)).filter(|(_, c)| c.value < 1.0)?;
    // the share of errors that this one rests on
    let held_out = mercer::bounds::find(bound).is_some_and(|entry| entry.uses_held_out);
    let own = if held_out { facts.held_out.map(|h| h.errors / h.examples.max(1.0)) } else { facts.error_rate() };
    let rate = own.unwrap_or(0.0);
    let (cause, remedy) = if rate >= wanted {
        (
            format!(", because the share of errors stays what it is here, {rate:.4}"),
            "Ask for more than that, or for a better model.",
        )
    } else {
        (" at the complexity that is expected here".to_owned(), "Ask for more than that, or for a simpler model.")
    };
    Some(format!(
        "\nNo bound comes down to {wanted} with up to {most} examples{cause}: the lowest is {} at {}. {remedy}",
        at_most(lowest.value, 4),
        lowest.examples
    ))
}

fn row(p: &PlannedBound) -> Vec<String> {
    let needed = p.examples.map_or_else(|| "never".to_owned(), |m| m.to_string());
    let mut row = vec![p.bound.to_owned(), p.quantity.word().to_owned(), needed];
    row.extend(SIZES.iter().map(|(m, _)| match p.curve.iter().find(|c| c.examples == *m) {
        Some(c) if c.value < 1.0 => at_most(c.value, 4),
        _ => "–".to_owned(),
    }));
    row
}
