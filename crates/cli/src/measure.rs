//! `mercer measure`: lengths, distances, spectrum and alignment of a kernel on data, and tests with kernels.

mod dependence;
mod stability;
mod two_sample;

use crate::{Verb, arguments, input, report};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use mercer::data::{DataError, Dataset, Repeats, Schema, Target};
use mercer::formula::Formula;
use mercer::geometry::{self, Labels, Measures};
use mercer::hypothesis_tests::{Dependence, Stability};
use mercer::machines::Learns;
use mercer::plot::{SpectrumFigure, at_most, digits_at_most, short_formula, trimmed};
use mercer_terminal::{Failure, Watch};
use serde_json::json;
use std::path::PathBuf;

pub(crate) const VERB: Verb = Verb { command, run };

/// Number of eigenvalues that are printed.
const PRINTED_EIGENVALUES: usize = 5;

/// Flags of the measures that tests do not have.
const OF_MEASURES: [&str; 5] = ["output", "ridge", "farthest", "stability", "theme"];

fn command() -> Command {
    let command = Command::new("measure")
        .about("Measure a kernel on data: norms, spread, outliers, spectrum, alignment; test two samples or dependence")
        .after_help(
            "Examples:\n  mercer measure data.csv --kernel 'rbf(gamma=median)'\n  \
             mercer measure data.csv -k 'rbf(gamma=0.1)' --farthest 10 -o spectrum.svg\n  \
             mercer measure may.csv --versus june.csv --kernel 'rbf(gamma=median)'\n  \
             mercer measure data.csv --dependence target\n  \
             mercer measure data.csv --kernel 'rbf(gamma=0.1)' --stability",
        )
        .arg(arguments::path("DATA", "Data file; its target column, if any, is what alignment is measured with"))
        .arg(arguments::kernel())
        .arg(arguments::output("FIG", "Draw the spectrum, as .svg or .png"))
        .arg(arguments::theme())
        .arg(
            Arg::new("ridge")
                .long("ridge")
                .value_name("MU")
                .value_parser(value_parser!(f64))
                .value_delimiter(',')
                .default_value("1")
                .help("μ > 0 of the effective dimension Σ λ/(λ + μ); several with commas"),
        )
        .arg(
            Arg::new("farthest")
                .long("farthest")
                .value_name("N")
                .value_parser(value_parser!(usize))
                .default_value("3")
                .help("How many examples far from the centre to name"),
        )
        .arg(
            Arg::new("stability")
                .long("stability")
                .action(ArgAction::SetTrue)
                .help("Also tell what of the spectrum holds beyond the sample"),
        )
        .arg(
            Arg::new("delta")
                .long("delta")
                .value_name("P")
                .allow_negative_numbers(true)
                .value_parser(value_parser!(f64))
                .requires("stability")
                .help("The probability with which each statement of --stability may fail [default: 0.05]"),
        );
    arguments::common(arguments::reading(tests(command)))
}

fn tests(command: Command) -> Command {
    command
        .next_help_heading("Tests")
        .arg(
            Arg::new("versus")
                .long("versus")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .conflicts_with_all(OF_MEASURES)
                .help("Test whether the examples of this file come from the same distribution; all columns count unless --target names one to leave out"),
        )
        .arg(
            Arg::new("groups")
                .long("groups")
                .value_name("NAME|INDEX")
                .allow_hyphen_values(true)
                .conflicts_with_all(OF_MEASURES)
                .conflicts_with_all(["versus", "target"])
                .help("The same for the two groups that a column tells apart"),
        )
        .arg(
            Arg::new("statistic")
                .long("statistic")
                .value_name("NAME")
                .value_parser(["unbiased", "biased", "bootstrap", "linear"])
                .help("MMD² without bias or with it, by permutations; with it, by a wild bootstrap; or in linear time [default: unbiased]"),
        )
        .arg(
            Arg::new("dependence")
                .long("dependence")
                .value_name("FORMULA|target")
                .conflicts_with_all(OF_MEASURES)
                .conflicts_with_all(["versus", "groups", "statistic"])
                .help("Test whether what --kernel compares depends on what this kernel compares: the target, or columns (linear@target, rbf@height)"),
        )
        .arg(
            Arg::new("permutations")
                .long("permutations")
                .value_name("N")
                .value_parser(value_parser!(u32).range(1..=1_000_000))
                .help("Random draws of a test [default: 1000]; without a test, a p-value of the alignment by so many"),
        )
        .arg(
            Arg::new("radius")
                .long("radius")
                .value_name("R")
                .allow_negative_numbers(true)
                .value_parser(value_parser!(f64))
                .help("R with √κ(x, x) ≤ R for every example that could come, for bounds [default: what the formula gives]"),
        )
}

/// Draws of a test.
fn draws(flags: &ArgMatches) -> usize {
    flags.get_one::<u32>("permutations").map_or(1000, |&n| n as usize)
}

/// R as the formula gives it or as it was declared, never as the sample has it.
fn declared_radius(flags: &ArgMatches, formula: &Formula) -> Result<Option<f64>, Failure> {
    match flags.get_one::<f64>("radius") {
        Some(&radius) if radius > 0.0 && radius.is_finite() => Ok(Some(radius)),
        Some(_) => Err(Failure::usage("--radius needs a number above 0")),
        None => Ok(formula.radius()),
    }
}

/// Why the kernel knows the data, which bounds forbid; permutations do not.
fn learned(formula: &Formula, schema: &Schema) -> Option<&'static str> {
    if !formula.is_resolved() || formula.needs_all_examples() {
        Some("the kernel's parameters were taken from the data; write them as numbers")
    } else if schema.views().iter().any(|view| view.scaler().is_some()) {
        Some("the columns were scaled by the data; use --scale none")
    } else if schema.learned_bits() > 0.0 {
        Some(
            "what is missing was filled in, or words were coded, by what the data hold; leave such rows and columns out",
        )
    } else {
        None
    }
}

/// A probability in as many digits as it has a use for, rounded up: it is the bound of one.
fn p_text(p: f64) -> String {
    if p >= 0.0001 || p == 0.0 { trimmed(&at_most(p, 4)) } else { digits_at_most(p, 2) }
}

/// The alignment of centred matrices by permutations of the target.
fn by_chance(
    flags: &ArgMatches,
    gram: &dyn mercer::gram::Gram,
    labels: Option<&Labels>,
    watch: &Watch,
) -> Result<Option<Dependence>, Failure> {
    if flags.get_one::<u32>("permutations").is_none() {
        return Ok(None);
    }
    let Some(labels) = labels else { return Err(DataError::NoTarget.into()) };
    let Some(ideal) = geometry::target_gram(labels) else {
        return Err(Failure::usage("--permutations needs 20 000 examples or fewer; leave it out"));
    };
    let seed = arguments::seed(flags);
    Ok(Some(mercer::hypothesis_tests::dependence(
        gram,
        ideal.as_ref(),
        draws(flags),
        seed,
        arguments::budget(flags)?,
        watch,
    )?))
}

fn run(flags: &ArgMatches) -> Result<(), Failure> {
    let Some(path) = flags.get_one::<PathBuf>("DATA") else { return Err(Failure::usage("DATA is needed")) };
    if flags.contains_id("versus") || flags.contains_id("groups") {
        return two_sample::run(flags, path);
    }
    if flags.contains_id("statistic") {
        return Err(Failure::usage("--statistic is for --versus and --groups"));
    }
    if flags.contains_id("radius") && !flags.get_flag("stability") {
        return Err(Failure::usage("--radius is for --stability, --versus and --groups"));
    }
    if flags.contains_id("dependence") {
        return dependence::run(flags, path);
    }
    let formula = arguments::formula(flags)?;
    let ridges: Vec<f64> = flags.get_many::<f64>("ridge").into_iter().flatten().copied().collect();
    let ridge = ridges.first().copied().unwrap_or(1.0);
    if ridges.iter().any(|ridge| !(*ridge > 0.0 && ridge.is_finite())) {
        return Err(Failure::usage("--ridge needs numbers above 0"));
    }
    let picture = arguments::target(flags)?;
    if let Some(file) = picture {
        arguments::picture(file)?;
    }
    let training = input::training(path, flags, &formula, Learns::Unsupervised)?;
    let labels = labels(&training.data);
    let watch = Watch::new(flags);
    let learned = learned(&formula, &training.schema);
    // a length that the examples have had a say in bounds nothing
    let radius = if learned.is_none() { declared_radius(flags, &formula)? } else { None };
    let (text, stable, chance, found) = watch.heeded(|| -> Result<_, Failure> {
        let kernel = formula.resolve(&training.data, arguments::seed(flags))?;
        let gram = kernel.training_gram(&training.data)?;
        let stable = flags.get_flag("stability").then(|| stability::of(flags, &formula, gram.as_ref(), &watch));
        let chance = by_chance(flags, gram.as_ref(), labels.as_ref(), &watch)?;
        let found = Measures::of(&gram, labels.as_ref(), ridge, radius, arguments::budget(flags)?)?;
        Ok((kernel.to_string(), stable.transpose()?, chance, found))
    })?;
    watch.finish();
    if let Some(file) = picture {
        let note = format!("effective rank {:.4} of {}", found.spectrum.effective_rank(), found.n);
        let figure =
            SpectrumFigure { title: short_formula(&text), values: found.spectrum.values.clone(), note: Some(note) };
        arguments::save_picture(file, &figure.draw(arguments::chosen_theme(flags)))?;
    }
    let wanted = flags.get_one::<usize>("farthest").copied().unwrap_or(0);
    let farthest: Vec<usize> = found.centre.farthest().into_iter().take(wanted).collect();
    // measures of these examples themselves rest on nothing
    let beyond = stable.is_some() || chance.is_some();
    let repeats = if beyond { training.data.repeats() } else { Repeats::default() };
    // nothing is said of the distribution where examples were not drawn from it
    let stable = stable.filter(|_| !repeats.repeated);
    if flags.get_flag("json") {
        report::print_json(&json!({
            "kernel": text, "n": found.n, "copies": repeats.told(),
            "norms": {"smallest": found.norms[0], "mean": found.norms[1], "largest": found.norms[2],
                      "without_length": found.without_length},
            "centre": {"norm": found.centre.squared_norm.max(0.0).sqrt(), "within": found.centre_within,
                       "spread": found.centre.spread},
            "farthest": farthest.iter().map(|&i| json!({"row": i + 1, "distance": found.centre.distances[i]})).collect::<Vec<_>>(),
            "spectrum": {"values": found.spectrum.values, "trace": found.spectrum.trace, "whole": found.spectrum.is_whole(),
                         "rank": found.spectrum.rank(), "effective_rank": found.spectrum.effective_rank()},
            "effective_dimension": found.effective_dimension, "ridge": ridge,
            "effective_dimensions": ridges.iter().map(|&r| json!({"ridge": r, "dimension": found.spectrum.effective_dimension(r)})).collect::<Vec<_>>(),
            "stability": stable.as_ref().map(|s| stability::document(s, learned)), "alignment_p": chance.as_ref().map(|c| c.p.value), "positive_semi_definite": found.definite,
            "smallest_eigenvalue": found.spectrum.values.last().filter(|_| found.spectrum.is_whole()),
            "alignment": found.alignment.map(|a| a[0]), "centred_alignment": found.alignment.map(|a| a[1]),
            "output": picture.map(|p| p.display().to_string()),
        }));
    } else {
        let stable = stable.as_ref().map(|s| (s, learned));
        let mut rows = facts(&text, &found, &ridges, &farthest, stable, chance.as_ref());
        rows.extend(repeats.told().map(|told| ("copies", told)));
        report::print(&report::facts(&rows));
        if let Some(file) = picture {
            report::print(&report::facts(&[("picture", file.display().to_string())]));
        }
    }
    Ok(())
}

/// The target as classes or numbers; none where there is none or it is several.
pub(crate) fn labels(data: &Dataset) -> Option<Labels> {
    let target: &Target = data.target()?;
    if target.is_numeric() {
        let numbers = target.numbers().ok()?;
        return (numbers.names.len() == 1).then(|| Labels::numbers(numbers.values));
    }
    target.classes().ok().map(|c| Labels::classes(c.codes))
}

/// The lengths of the examples, of those that have one.
fn norms(found: &Measures) -> String {
    let [smallest, mean, largest] = found.norms;
    let told = format!("{smallest:.4} to {largest:.4}, mean {mean:.4}");
    match found.without_length {
        0 => told,
        all if all == found.n => "none: κ(x, x) is below zero for every example".to_owned(),
        some => format!("{told}; {some} examples have no length, since their κ(x, x) is below zero"),
    }
}

fn facts(
    kernel: &str,
    found: &Measures,
    ridges: &[f64],
    farthest: &[usize],
    stable: Option<(&Stability, Option<&str>)>,
    chance: Option<&Dependence>,
) -> Vec<(&'static str, String)> {
    let dimension = |&ridge: &f64| format!("{:.4} at a ridge of {ridge}", found.spectrum.effective_dimension(ridge));
    let spectrum = &found.spectrum;
    let leading: Vec<String> = spectrum.values.iter().take(PRINTED_EIGENVALUES).map(|v| format!("{v:.4}")).collect();
    let rank = if spectrum.is_whole() {
        format!("{} of {}, effective {:.2}", spectrum.rank(), found.n, spectrum.effective_rank())
    } else {
        format!("at least {}; the leading {} eigenvalues were computed", spectrum.rank(), spectrum.values.len())
    };
    let smallest = spectrum.values.last().copied().unwrap_or(0.0);
    let definite = match (found.definite, spectrum.is_whole()) {
        (true, true) => format!("yes: no eigenvalue is below zero but for rounding (the smallest is {smallest:.3e})"),
        (true, false) => "no leading eigenvalue is below zero; the others were not computed".to_owned(),
        (false, _) => format!("no: the smallest eigenvalue is {smallest:.3e}; mercer gram --repair mends the matrix"),
    };
    let mut rows = vec![
        ("kernel", kernel.to_owned()),
        ("examples", found.n.to_string()),
        ("norms", norms(found)),
        (
            "centre",
            format!(
                "norm {:.4}{}",
                found.centre.squared_norm.max(0.0).sqrt(),
                found.centre_within.map_or(String::new(), |within| format!(
                    ", within {} of the mean of the distribution (95 %)",
                    at_most(within, 4)
                ))
            ),
        ),
        ("spread", format!("{:.4} (mean squared distance from the centre)", found.centre.spread)),
        (
            "eigenvalues",
            format!("{}{}", leading.join(", "), if spectrum.values.len() > PRINTED_EIGENVALUES { ", …" } else { "" }),
        ),
        (
            "explained",
            format!(
                "{:.1} % by the first, {:.1} % by {PRINTED_EIGENVALUES}{}",
                100.0 * spectrum.explained(1),
                100.0 * spectrum.explained(PRINTED_EIGENVALUES),
                if spectrum.is_indefinite() { ", of the sum of the eigenvalues above zero" } else { "" }
            ),
        ),
        ("rank", rank),
        ("effective dimension", ridges.iter().map(dimension).collect::<Vec<_>>().join(", ")),
        ("positive semi-definite", definite),
    ];
    if let Some([plain, centred]) = found.alignment {
        let p = chance.map(|c| format!("; centred, p = {} by {}", p_text(c.p.value), c.p.null)).unwrap_or_default();
        rows.push(("alignment with target", format!("{plain:.4}, centred {centred:.4}{p}")));
    }
    if !farthest.is_empty() {
        let words: Vec<String> =
            farthest.iter().map(|&i| format!("row {} ({:.4})", i + 1, found.centre.distances[i])).collect();
        rows.push(("farthest from centre", words.join(", ")));
    }
    rows.extend(stable.map(|(s, learned)| stability::facts(s, learned)).unwrap_or_default());
    rows
}
