//! `mercer measure`: lengths, distances, spectrum and alignment of a kernel on data.

use crate::failure::Failure;
use crate::{Verb, arguments, input, report};
use clap::{Arg, ArgMatches, Command, value_parser};
use mercer::data::{Dataset, Target};
use mercer::geometry::{Labels, Measures};
use mercer::machines::Learns;
use mercer::plot::{SpectrumFigure, short_formula};
use serde_json::json;
use std::path::PathBuf;

pub(crate) const VERB: Verb = Verb { command, run };

/// Eigenvalues that are printed.
const PRINTED: usize = 5;

fn command() -> Command {
    let command = Command::new("measure")
        .about("Measure a kernel on data: norms, spread, outliers, rank, spectrum, alignment with the target")
        .after_help(
            "Examples:\n  mercer measure data.csv --kernel 'rbf(gamma=median)'\n  \
             mercer measure data.csv --kernel 'rbf(gamma=0.1)' --farthest 10 -o spectrum.svg",
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
                .default_value("1")
                .help("μ > 0 of the effective dimension Σ λ/(λ + μ)"),
        )
        .arg(
            Arg::new("farthest")
                .long("farthest")
                .value_name("N")
                .value_parser(value_parser!(usize))
                .default_value("3")
                .help("How many examples far from the centre to name"),
        );
    arguments::common(arguments::reading(command))
}

fn run(flags: &ArgMatches) -> Result<(), Failure> {
    let formula = arguments::formula(flags)?;
    let Some(path) = flags.get_one::<PathBuf>("DATA") else { return Err(Failure::usage("DATA is needed")) };
    let ridge = flags.get_one::<f64>("ridge").copied().unwrap_or(1.0);
    if !(ridge > 0.0 && ridge.is_finite()) {
        return Err(Failure::usage("--ridge needs a number above 0"));
    }
    let picture = arguments::target(flags)?;
    if let Some(file) = picture {
        arguments::picture(file)?;
    }
    let training = input::training(path, flags, &formula, Learns::Unsupervised)?;
    let kernel = formula.resolve(&training.data, arguments::seed(flags))?;
    let gram = kernel.training_gram(&training.data)?;
    let labels = labels(&training.data);
    let found = Measures::of(&gram, labels.as_ref(), ridge, arguments::plan(flags)?)?;
    let text = kernel.to_string();
    if let Some(file) = picture {
        let note = format!("effective rank {:.4} of {}", found.spectrum.effective_rank(), found.n);
        let figure =
            SpectrumFigure { title: short_formula(&text), values: found.spectrum.values.clone(), note: Some(note) };
        arguments::save_picture(file, &figure.draw(arguments::chosen_theme(flags)))?;
    }
    let wanted = flags.get_one::<usize>("farthest").copied().unwrap_or(0);
    let farthest: Vec<usize> = found.centre.farthest().into_iter().take(wanted).collect();
    if flags.get_flag("json") {
        report::print_json(&json!({
            "kernel": text, "n": found.n,
            "norms": {"smallest": found.norms[0], "mean": found.norms[1], "largest": found.norms[2]},
            "centre": {"norm": found.centre.squared_norm.max(0.0).sqrt(), "within": found.centre_within,
                       "spread": found.centre.spread},
            "farthest": farthest.iter().map(|&i| json!({"row": i + 1, "distance": found.centre.distances[i]})).collect::<Vec<_>>(),
            "spectrum": {"values": found.spectrum.values, "trace": found.spectrum.trace, "whole": found.spectrum.is_whole(),
                         "rank": found.spectrum.rank(), "effective_rank": found.spectrum.effective_rank()},
            "effective_dimension": found.effective_dimension, "ridge": ridge, "positive_semi_definite": found.definite,
            "smallest_eigenvalue": found.spectrum.values.last().filter(|_| found.spectrum.is_whole()),
            "alignment": found.alignment.map(|a| a[0]), "centred_alignment": found.alignment.map(|a| a[1]),
            "output": picture.map(|p| p.display().to_string()),
        }));
    } else {
        report::print(&report::facts(&facts(&text, &found, ridge, &farthest)));
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

fn facts(kernel: &str, found: &Measures, ridge: f64, farthest: &[usize]) -> Vec<(&'static str, String)> {
    let spectrum = &found.spectrum;
    let leading: Vec<String> = spectrum.values.iter().take(PRINTED).map(|v| format!("{v:.4}")).collect();
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
        ("norms", format!("{:.4} to {:.4}, mean {:.4}", found.norms[0], found.norms[2], found.norms[1])),
        (
            "centre",
            format!(
                "norm {:.4}, within {:.4} of the mean of the distribution (95 %)",
                found.centre.squared_norm.max(0.0).sqrt(),
                found.centre_within
            ),
        ),
        ("spread", format!("{:.4} (mean squared distance from the centre)", found.centre.spread)),
        ("eigenvalues", format!("{}{}", leading.join(", "), if spectrum.values.len() > PRINTED { ", …" } else { "" })),
        (
            "explained",
            format!(
                "{:.1} % by the first, {:.1} % by {PRINTED}",
                100.0 * spectrum.explained(1),
                100.0 * spectrum.explained(PRINTED)
            ),
        ),
        ("rank", rank),
        ("effective dimension", format!("{:.4} at a ridge of {ridge}", found.effective_dimension)),
        ("positive semi-definite", definite),
    ];
    if let Some([plain, centred]) = found.alignment {
        rows.push(("alignment with target", format!("{plain:.4}, centred {centred:.4}")));
    }
    if !farthest.is_empty() {
        let words: Vec<String> =
            farthest.iter().map(|&i| format!("row {} ({:.4})", i + 1, found.centre.distances[i])).collect();
        rows.push(("farthest from centre", words.join(", ")));
    }
    rows
}
