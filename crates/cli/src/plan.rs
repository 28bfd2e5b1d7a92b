//! `mercer plan`: how many examples a wanted certificate needs.

use crate::failure::Failure;
use crate::watch::Watch;
use crate::{Verb, arguments, input, report};
use clap::{Arg, ArgMatches, Command, value_parser};
use mercer::bounds::{
    self, Compression, Facts, Guarantee, HeldOut, KernelFacts, Linear, Online, Price, Quantity, Regularised, Task,
};
use mercer::certify::{self, Options};
use mercer::model::Model;
use mercer::plot::{BoundCurve, SampleSizeFigure};
use serde_json::json;
use std::path::PathBuf;

pub(crate) const VERB: Verb = Verb { command, run };

/// Examples at which curves are told, per factor of ten.
const STEPS: i32 = 4;

fn command() -> Command {
    let number = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).value_parser(value_parser!(f64)).help(help)
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
                .default_value("1")
                .help("How many models will be tried on the same examples"),
        )
        .arg(Arg::new("bound").long("bound").value_name("NAMES").value_delimiter(',').help("Only these bounds"))
        .arg(arguments::output("FIG", "Draw the curves, as .svg or .png"))
        .arg(arguments::theme())
        .arg(arguments::labels())
        .args(arguments::format());
    arguments::common(command)
}

fn run(flags: &ArgMatches) -> Result<(), Failure> {
    let get = |name: &str| flags.get_one::<f64>(name).copied();
    let wanted = get("certificate").unwrap_or(0.1);
    let delta = get("delta").unwrap_or(0.05);
    for (name, value) in [("certificate", wanted), ("delta", delta)] {
        if !(value > 0.0 && value < 1.0) {
            return Err(Failure::usage(format!("--{name} {value} must lie between 0 and 1")));
        }
    }
    let names: Vec<&String> = flags.get_many::<String>("bound").into_iter().flatten().collect();
    if let Some(unknown) = names.iter().find(|n| bounds::find(n).is_none()) {
        return Err(Failure::usage(format!("there is no bound called {unknown}; mercer list bounds shows all")));
    }
    let picture = arguments::target(flags)?;
    if let Some(file) = picture {
        arguments::picture(file)?;
    }
    let facts = match flags.get_one::<PathBuf>("MODEL") {
        Some(model) => of_model(model, flags)?,
        None => expected(flags)?,
    };
    let mut lines = Vec::new();
    for entry in bounds::all() {
        let asked = names.is_empty() || names.iter().any(|n| *n == entry.name);
        if entry.guarantee != Guarantee::HighProbability || entry.quantity == Quantity::Regret || !asked {
            continue;
        }
        let at = |m: f64| bounds::curve(entry, &facts, delta, m);
        let sizes = (STEPS..=8 * STEPS).map(|i| 10.0_f64.powf(f64::from(i) / f64::from(STEPS)).round());
        let points: Vec<(f64, f64)> = sizes.filter_map(|m| at(m).map(|v| (m, v.min(1.0)))).collect();
        let needed = bounds::examples_for(entry, &facts, delta, wanted);
        if !points.is_empty() || needed.is_some() {
            lines.push((entry, needed, points));
        }
    }
    lines.sort_by_key(|(_, needed, _)| needed.unwrap_or(u64::MAX));
    if lines.is_empty() {
        return Err(Failure::usage(
            "nothing is known that a bound could use; give --support, --held-out-error, --dimension, --margin, --lambda, or a model and its training file",
        ));
    }
    if let Some(file) = picture {
        let curves = lines
            .iter()
            .take(8)
            .map(|(entry, _, points)| BoundCurve { name: entry.name.to_owned(), points: points.clone() });
        let figure = SampleSizeFigure {
            title: "Certificates over the number of examples".to_owned(),
            note: Some(format!("δ = {delta}, at the same complexity; the line is at {wanted}")),
            curves: curves.collect(),
            wanted,
        };
        arguments::save_picture(file, &figure.draw(arguments::chosen_theme(flags)))?;
    }
    if flags.get_flag("json") {
        let object = |(entry, needed, points): &(&bounds::BoundEntry, Option<u64>, Vec<(f64, f64)>)| {
            let curve: Vec<_> = points.iter().map(|(m, v)| json!({"examples": m, "value": v})).collect();
            json!({"bound": entry.name, "quantity": entry.quantity, "certificate": wanted, "delta": delta,
                   "examples": needed, "curve": curve, "source": entry.source.to_string()})
        };
        report::print_json(&json!(lines.iter().map(object).collect::<Vec<_>>()));
        return Ok(());
    }
    let sizes = [100.0, 1e3, 1e4, 1e5, 1e6];
    let header = ["bound", "of", "examples", "at 100", "1 000", "10 000", "100 000", "1 000 000"];
    let rows: Vec<Vec<String>> = lines
        .iter()
        .map(|(entry, needed, _)| {
            let told = needed.map_or_else(|| "never".to_owned(), |m| m.to_string());
            let mut row = vec![entry.name.to_owned(), entry.quantity.word().to_owned(), told];
            row.extend(sizes.iter().map(|&m| match bounds::curve(entry, &facts, delta, m) {
                Some(v) if v < 1.0 => format!("{v:.4}"),
                _ => "–".to_owned(),
            }));
            row
        })
        .collect();
    report::print(&format!("Examples needed for a certificate of {wanted} at δ = {delta}:\n\n"));
    report::print(&report::table(&header, &rows, true));
    if let Some(file) = picture {
        report::print(&report::facts(&[("picture", file.display().to_string())]));
    }
    Ok(())
}

fn of_model(path: &PathBuf, flags: &ArgMatches) -> Result<Facts, Failure> {
    let Some(data) = flags.get_one::<PathBuf>("DATA") else {
        return Err(Failure::usage("a model needs its training file beside it: mercer plan MODEL DATA"));
    };
    let model = Model::load(path)?;
    let training = input::for_model(&model, data, flags)?;
    let watch = Watch::new(flags);
    let mut facts = certify::facts(&model, &training, &Options::default(), &watch)?;
    watch.finish();
    if let (None, Some(rate)) = (facts.held_out, flags.get_one::<f64>("held-out-error").copied().or(facts.error_rate()))
    {
        facts.held_out = Some(HeldOut { examples: 1e6, errors: (rate * 1e6).round() });
    }
    Ok(facts)
}

/// What the user expects.
fn expected(flags: &ArgMatches) -> Result<Facts, Failure> {
    let get = |name: &str| flags.get_one::<f64>(name).copied();
    for name in ["held-out-error", "training-error", "margin"] {
        if let Some(value) = get(name).filter(|v| !(0.0..=1.0).contains(v)) {
            return Err(Failure::usage(format!("--{name} {value} must lie between 0 and 1")));
        }
    }
    for name in ["support", "dimension", "lambda"] {
        if let Some(value) = get(name).filter(|v| !(*v >= 0.0 && v.is_finite())) {
            return Err(Failure::usage(format!("--{name} {value} must be a number at or above 0")));
        }
    }
    // rates are kept when the number of examples changes
    let m = 1e6;
    let mut facts = Facts::bare(m, Task::Classes(2));
    let error = get("training-error").unwrap_or(0.0);
    let candidates = flags.get_one::<usize>("candidates").copied().unwrap_or(1);
    facts.price =
        Price { candidates: Some(candidates.max(1)), held_out_candidates: candidates.max(1), ..Price::default() };
    facts.errors = Some((error * m).round());
    facts.held_out = get("held-out-error").map(|rate| HeldOut { examples: m, errors: (rate * m).round() });
    facts.compression = get("support").map(|size| Compression {
        size,
        surely: size,
        errors_outside: 0.0,
        stable: true,
        scenario: true,
    });
    facts.kernel = KernelFacts {
        radius: Some(1.0),
        dimension: get("dimension"),
        trace: m,
        rank: get("dimension"),
        random_signs: None,
        never_negative: false,
    };
    let margin = get("margin");
    if margin.is_some() || get("dimension").is_some() || get("lambda").is_some() {
        // a hundred examples stand for all: so many of them are wrong as are expected
        let gamma = margin.unwrap_or(0.0);
        let wrong = (100.0 * error).ceil() as usize;
        let margins: Vec<f64> = (0..100).map(|i| if i < wrong { -gamma } else { gamma }).collect();
        facts.linear = Some(Linear {
            squared_lengths: vec![1.0; margins.len()],
            margins,
            squared_norm: 1.0,
            offset: 0.0,
            support: Vec::new(),
            slack: 0.0,
            from_optimum: 0.0,
            hard: error == 0.0,
        });
        let complexity = margin.filter(|g| *g > 0.0 && error == 0.0).map(|g| 1.0 / (g * g));
        facts.online = complexity.map(|bound| Online { mistakes: bound, updated: bound, mistake_bound: Some(bound) });
    }
    facts.regularised = get("lambda").map(|lambda| Regularised {
        lambda,
        lipschitz: Some(1.0),
        mean_loss: error,
        free_offset: false,
        range: None,
        from_optimum: 0.0,
    });
    Ok(facts)
}
