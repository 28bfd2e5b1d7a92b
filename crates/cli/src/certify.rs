//! `mercer certify`: what learning theory guarantees about a model.

use crate::{Verb, arguments, input, report, select};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use mercer::bounds::{Certificate, Evidence, Guarantee, State};
use mercer::certify::{Certified, Options};
use mercer::machines::Readout;
use mercer::model::Model;
use mercer::plot::{at_least, at_most, short_formula, trimmed};
use mercer_terminal::{Failure, Watch};
use std::fmt::Write;
use std::path::PathBuf;

pub(crate) const VERB: Verb = Verb { command, run };

fn command() -> Command {
    let number = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).allow_negative_numbers(true).help(help)
    };
    let command = Command::new("certify")
        .about("Turn a fit into guarantees: how wrong can this model be, by which theorem, on what conditions")
        .after_help(
            "Examples:\n  mercer certify model.mercer train.csv\n  \
             mercer certify model.mercer train.csv --held-out test.csv -o certificates.svg\n  \
             mercer certify model.mercer train.csv --folds 5 -o certificates.svg\n  \
             mercer certify model.mercer train.csv --evidence 1000 --thorough --json\n\n\
             The training file is recognised by its hash; of a model of `mercer select --held-out` it is the file that was\n\
             searched on, of which the rows that were held out judge the model. What was chosen by the training examples is paid for: the\n\
             candidates of `mercer select`, and 64 bits for each number that scaling and kernel took from them. Fit with\n\
             --preparation-share 0.2, or with --scale none and numbers in the kernel, to pay nothing.\n\
             `mercer list bounds` explains each bound; `mercer plan` tells how many examples one needs.",
        )
        .arg(arguments::path("MODEL", "Model file"))
        .arg(arguments::path("DATA", "The training file"))
        .arg(
            Arg::new("held-out")
                .long("held-out")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("Labelled examples that training has not seen"),
        )
        .arg(
            Arg::new("held-out-labels")
                .long("held-out-labels")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .requires("held-out")
                .hide_short_help(true)
                .help("File with the labels of --held-out, for IDX and NPY data; --labels belongs to DATA"),
        )
        .arg(
            Arg::new("unlabelled")
                .long("unlabelled")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("Examples of which only the inputs are looked at, drawn beside those of training: a prior is learned from them"),
        )
        .arg(
            number("folds", "K", "Also estimate the error by cross-validation in K folds, or loo to leave out one example at a time: K fits, and no guarantee")
                .allow_negative_numbers(true)
                .value_parser(select::folds),
        )
        .arg(
            number("delta", "P", "Probability with which each certificate may fail")
                .value_parser(value_parser!(f64))
                .default_value("0.05"),
        )
        .arg(
            number("candidates", "N", "How many models were tried on the training examples, where the model does not know")
                .value_parser(value_parser!(usize)),
        )
        .arg(
            number("held-out-candidates", "N", "How many models were compared on the held-out examples")
                .value_parser(value_parser!(usize))
                .default_value("1"),
        )
        .arg(
            Arg::new("thorough")
                .long("thorough")
                .action(ArgAction::SetTrue)
                .help("Also what takes m² to m³ operations: random signs, spans, the rank of the examples, the widest margin, and a prior learned from half of the examples"),
        )
        .arg(
            number("evidence", "DRAWS", "Also the prior's mass of all classifiers without training error, by so many draws, and up to 64 times as many while they differ much")
                .value_parser(value_parser!(usize))
                .default_value("0"),
        )
        .arg(
            number("radius", "R", "A length √κ(x, x) that no example exceeds, known before the data, where the kernel's formula gives none")
                .value_parser(value_parser!(f64)),
        )
        .arg(number("target-range", "LOW,HIGH", "Ends between which every target lies, for bounds of regression").allow_hyphen_values(true))
        .arg(
            Arg::new("all")
                .long("all")
                .action(ArgAction::SetTrue)
                .help("Tell the conditions of every certificate, and why others do not apply"),
        )
        .arg(Arg::new("markdown").long("markdown").action(ArgAction::SetTrue).help("Print the table as Markdown"))
        .arg(arguments::output("FIG", "Draw all certificates beside the errors, as .svg or .png"))
        .arg(arguments::theme())
        .arg(arguments::labels())
        .args(arguments::compared())
        .args(arguments::format());
    arguments::common(command)
}

fn run(flags: &ArgMatches) -> Result<(), Failure> {
    let (Some(path), Some(data)) = (flags.get_one::<PathBuf>("MODEL"), flags.get_one::<PathBuf>("DATA")) else {
        return Err(Failure::usage("MODEL and DATA are needed"));
    };
    let picture = arguments::target(flags)?;
    if let Some(file) = picture {
        arguments::picture(file)?;
    }
    let model = Model::load(path)?;
    if matches!(model.fitted().readout, Readout::Coordinates { .. } | Readout::Clusters { .. } | Readout::Parts(_)) {
        return Err(Failure::usage(format!(
            "{} predicts nothing that could be wrong; see measure --stability",
            model.machine()
        )));
    }
    let training = input::training_of_model(&model, data, flags)?;
    let labels = flags.get_one::<PathBuf>("held-out-labels");
    let beside = |id: &str, labels: Option<&PathBuf>| {
        let file = flags.get_one::<PathBuf>(id);
        file.map(|file| input::beside_data(&model, (file, labels), flags)).transpose()
    };
    let (held_out, unlabelled) = (beside("held-out", labels)?, beside("unlabelled", None)?);
    let watch = Watch::new(flags);
    let options = Options {
        delta: flags.get_one::<f64>("delta").copied().unwrap_or(0.05),
        held_out: held_out.as_ref(),
        unlabelled: unlabelled.as_ref(),
        held_out_candidates: flags.get_one::<usize>("held-out-candidates").copied().unwrap_or(1),
        candidates: flags.get_one::<usize>("candidates").copied(),
        candidate_nats: None,
        judges: &[],
        candidate_prior: None,
        thorough: flags.get_flag("thorough"),
        informed: false,
        evidence: flags.get_one::<usize>("evidence").copied().unwrap_or(0),
        target_range: target_range(flags)?,
        radius: flags.get_one::<f64>("radius").copied(),
        folds: flags.get_one::<usize>("folds").copied(),
        budget: arguments::budget(flags)?,
        seed: arguments::seed(flags),
    };
    let certified = watch.heeded(|| model.certify(&training, &options, &watch))?;
    watch.finish();
    if let Some(file) = picture {
        let title = format!("{}, {}", model.machine(), short_formula(&model.kernel().to_string()));
        let svg = certified.figure(&title, &[], arguments::chosen_theme(flags));
        arguments::save_picture(file, &svg)?;
    }
    if let Some(evidence) = certified.facts.evidence.filter(Evidence::is_rough) {
        report::warn(&format!(
            "the evidence has a relative error of {} after {} draws: its bounds hold, but few draws carry them; more with --evidence, named before \
             looking at these, would tell more",
            trimmed(&at_most(evidence.relative_error, 4)),
            evidence.draws
        ));
    }
    if flags.get_flag("json") {
        report::print_json(&serde_json::json!(certified.certificates));
        // the array holds certificates alone, and this is none
        if let Some(found) = &certified.cross_validated {
            report::say("cross-validated error", &found.to_string());
        }
        return Ok(());
    }
    report::print(&told(&certified, flags.get_flag("markdown"), flags.get_flag("all")));
    if let Some(file) = picture {
        report::print(&report::facts(&[("picture", file.display().to_string())]));
    }
    Ok(())
}

pub(crate) fn target_range(flags: &ArgMatches) -> Result<Option<[f64; 2]>, Failure> {
    let Some(text) = flags.get_one::<String>("target-range") else { return Ok(None) };
    let ends: Option<Vec<f64>> = text.split(',').map(|e| e.trim().parse().ok()).collect();
    match ends.unwrap_or_default().as_slice() {
        [low, high] if low < high && high.is_finite() && low.is_finite() => Ok(Some([*low, *high])),
        _ => Err(Failure::usage(format!("--target-range {text} needs two numbers, the lower first: 0,100"))),
    }
}

/// The table, the sentence and what is to be said beside them.
fn told(certified: &Certified, markdown: bool, all: bool) -> String {
    let mut text = String::new();
    let head = certified.summary();
    if markdown {
        for (name, value) in &head {
            let _ = writeln!(text, "- {name}: {value}");
        }
        text.push('\n');
    } else {
        text.push_str(&report::facts(&head));
        text.push_str("\n\n");
    }
    let (apply, others): (Vec<&Certificate>, Vec<&Certificate>) =
        certified.certificates.iter().partition(|c| c.applicable);
    let header = ["bound", "of", "value", "guarantee", "source"];
    let rows: Vec<Vec<String>> = apply.iter().map(|c| row(c)).collect();
    if markdown {
        let _ = writeln!(text, "| {} |\n|{}", header.join(" | "), "---|".repeat(header.len()));
        for row in &rows {
            let _ = writeln!(text, "| {} |", row.join(" | "));
        }
    } else {
        text.push_str(&report::table(&header, &rows, false));
        text.push('\n');
    }
    if all {
        for c in &apply {
            let _ = writeln!(text, "\n{}: {}", c.bound, c.source);
            for condition in &c.conditions {
                let state = if condition.state == State::Checked { "checked" } else { "declared" };
                let _ = writeln!(text, "  {state}: {}", condition.what);
            }
            if !c.reason.is_empty() {
                let _ = writeln!(text, "  {}", c.reason);
            }
        }
        text.push_str("\nDo not apply:\n");
        for c in &others {
            let _ = writeln!(text, "  {}: {}", c.bound, c.reason);
        }
    } else {
        let _ = writeln!(
            text,
            "\n{} more bounds do not apply; --all tells why, and on what the others rest.",
            others.len()
        );
    }
    let _ = writeln!(text, "\n{}", certified.sentence());
    text
}

fn row(c: &Certificate) -> Vec<String> {
    let value = match (c.value, c.lower) {
        (Some(_), _) if c.vacuous => "says nothing".to_owned(),
        (Some(_), None) if c.says_next_to_nothing() => "says next to nothing".to_owned(),
        (Some(v), Some(l)) => format!("{} to {}", at_least(l, 4), at_most(v, 4)),
        (Some(v), None) => at_most(v, 4),
        (None, _) => String::new(),
    };
    let guarantee = match (c.guarantee, c.delta) {
        (Guarantee::HighProbability, Some(delta)) => {
            let spent = if delta >= 1e-4 { delta.to_string() } else { format!("{delta:e}") };
            format!("{} ({spent})", c.guarantee.word())
        }
        _ => c.guarantee.word().to_owned(),
    };
    let needed = c.examples_needed.and_then(|n| n.below_one).filter(|_| c.vacuous);
    let value = needed.map_or(value.clone(), |m| format!("{value} below {m} examples"));
    let place = c.source.split(" [corrected").next().unwrap_or_default().to_owned();
    vec![c.bound.to_owned(), c.quantity.word().to_owned(), value, guarantee, short_source(&place)]
}

/// Authors, year and place; the title is in `mercer list bounds`.
fn short_source(source: &str) -> String {
    let year = source.match_indices(" (").find(|(at, _)| {
        let rest = &source.as_bytes()[at + 2..];
        rest.len() > 4 && rest[..4].iter().all(u8::is_ascii_digit) && rest[4] == b')'
    });
    let Some((at, _)) = year else { return source.to_owned() };
    let authors = source[..at].split(", ").next().unwrap_or_default();
    format!("{authors}{}", &source[at..])
}
