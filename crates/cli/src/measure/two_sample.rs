//! `mercer measure --versus` and `--groups`: do two samples differ?

use crate::{arguments, input, report};
use clap::ArgMatches;
use clap::parser::ValueSource;
use mercer::data::{DataError, Dataset, Repeats, Schema};
use mercer::formula::Formula;
use mercer::hypothesis_tests::{
    Chance, PValue, Statistic, TwoSample, linear_two_sample, mmd_bound, mmd_bound_p, two_sample,
};
use mercer_terminal::{Failure, Watch};
use serde_json::json;
use std::path::{Path, PathBuf};

/// The level at which a difference is called one.
const LEVEL: f64 = 0.05;
/// Largest number of groups that an error lists.
const MAX_LISTED_GROUPS: usize = 6;

/// Two samples, the first before the second.
struct Samples {
    data: Dataset,
    first: Vec<bool>,
    names: [String; 2],
    /// What the columns mean, with what the data gave for it.
    schema: Schema,
}

/// The p-value of a statistic, and the statistics that were computed.
struct Outcome {
    sizes: [usize; 2],
    /// The name and value of the one that was tested, and of another.
    tested: (&'static str, f64),
    other: Option<(&'static str, f64)>,
    p: PValue,
    critical: Option<f64>,
    whole: Option<TwoSample>,
}

pub(super) fn run(flags: &ArgMatches, path: &Path) -> Result<(), Failure> {
    let formula = arguments::formula(flags)?;
    let samples = match flags.get_one::<PathBuf>("versus") {
        Some(other) => from_files(flags, &formula, path, other)?,
        None => from_groups(flags, &formula, path)?,
    };
    let radius = super::declared_radius(flags, &formula)?;
    let watch = Watch::new(flags);
    let (draws, seed, budget) = (super::draws(flags), arguments::seed(flags), arguments::budget(flags)?);
    let word = flags.get_one::<String>("statistic").map_or("unbiased", String::as_str);
    if word == "linear" && flags.value_source("permutations") == Some(ValueSource::CommandLine) {
        return Err(Failure::usage("--statistic linear takes no permutations; leave out --permutations"));
    }
    let (kernel, outcome) = watch.heeded(|| -> Result<_, Failure> {
        let (kernel, gram) = formula.of_pool(&samples.data, seed)?;
        if word == "linear" {
            let found = linear_two_sample(gram.as_ref(), &samples.first, seed, &watch)?;
            let tested = ("in linear time", found.value);
            let outcome = Outcome { sizes: found.sizes, tested, other: None, p: found.p, critical: None, whole: None };
            return Ok((kernel, outcome));
        }
        let chance = match word {
            "biased" => Chance::Permute(Statistic::Biased),
            "bootstrap" => Chance::WildBootstrap,
            _ => Chance::Permute(Statistic::Unbiased),
        };
        let found = two_sample(gram.as_ref(), &samples.first, chance, draws, seed, budget, &watch)?;
        let both = [("unbiased", found.unbiased), ("biased", found.biased)];
        let [tested, other] = if word == "unbiased" { both } else { [both[1], both[0]] };
        let (sizes, p, critical) = (found.sizes, found.p, Some(found.critical));
        Ok((kernel, Outcome { sizes, tested, other: Some(other), p, critical, whole: Some(found) }))
    })?;
    watch.finish();
    let learned = super::learned(&formula, &samples.schema);
    tell(flags, &kernel, (&samples.names, samples.data.repeats()), &outcome, radius, learned);
    Ok(())
}

/// The examples of two files; what their columns mean is learned of both together, so that no permutation changes it.
fn from_files(flags: &ArgMatches, formula: &Formula, path: &Path, other: &Path) -> Result<Samples, Failure> {
    let (schema, one, two) = input::pooled(path, other, flags, formula)?;
    let first = (0..one.len() + two.len()).map(|i| i < one.len()).collect();
    let data = one.without_target().joined(&two.without_target())?;
    Ok(Samples { data, first, names: [path, other].map(|p| p.display().to_string()), schema })
}

/// The two classes of a column.
fn from_groups(flags: &ArgMatches, formula: &Formula, path: &Path) -> Result<Samples, Failure> {
    let training = input::training(path, flags, formula, mercer::machines::Learns::Classes)?;
    let Some(target) = training.data.target() else { return Err(DataError::NoTarget.into()) };
    let classes = target.classes()?;
    let [one, two] = classes.labels.as_slice() else {
        let count = classes.labels.len();
        let more = if count > MAX_LISTED_GROUPS { ", …" } else { "" };
        let named: Vec<&str> = classes.labels.iter().take(MAX_LISTED_GROUPS).map(String::as_str).collect();
        let finding =
            format!("--groups needs a column with two values, and this one has {count}: {}{more}", named.join(", "));
        return Err(DataError::Unfit { finding }.into());
    };
    let column = flags.get_one::<String>("groups").map_or("", String::as_str);
    let names = [one, two].map(|label| format!("{column} = {label}"));
    let first = classes.codes.iter().map(|&c| c == 0).collect();
    Ok(Samples { data: training.data.without_target(), first, names, schema: training.schema })
}

fn tell(
    flags: &ArgMatches,
    kernel: &Formula,
    (names, repeats): (&[String; 2], Repeats),
    found: &Outcome,
    radius: Option<f64>,
    learned: Option<&'static str>,
) {
    let (text, p) = (kernel.to_string(), found.p);
    let bound = match (&found.whole, radius, learned) {
        (Some(whole), Some(radius), None) => {
            Some((whole.biased.sqrt(), mmd_bound(whole.sizes, radius, LEVEL), mmd_bound_p(whole, radius)))
        }
        _ => None,
    };
    let measured = format!("MMD² = {}, p = {} by {}", report::short(found.tested.1), super::p_text(p.value), p.null);
    let differ = p.value <= LEVEL;
    let sentence = if differ {
        format!("The two samples differ ({measured})")
    } else {
        format!("No difference between the two samples was found ({measured})")
    };
    if flags.get_flag("json") {
        let mut document = json!({
            "kernel": text, "samples": [{"name": names[0], "n": found.sizes[0]}, {"name": names[1], "n": found.sizes[1]}],
            "statistic": found.tested.0, "mmd2": found.tested.1, "p": p.value, "by": p.null.to_string(),
            "guarantee": repeats.qualified(p.null.guarantee().words()), "copies": repeats.told(), "critical": found.critical.filter(|c| c.is_finite()),
            "differ": differ, "level": LEVEL, "radius": radius,
            "bound": bound.map(|(mmd, limit, p)| json!({"mmd": mmd, "limit": limit, "p": p.value})),
        });
        if let Some((name, value)) = found.other {
            document[name] = json!(value);
            document[found.tested.0] = json!(found.tested.1);
        }
        report::print_json(&document);
        return;
    }
    let value = |(name, value): (&str, f64)| format!("{} {name}", report::short(value));
    let mut rows = vec![
        ("kernel", text),
        ("samples", format!("{} ({}), {} ({})", names[0], found.sizes[0], names[1], found.sizes[1])),
        ("MMD²", [Some(found.tested), found.other].into_iter().flatten().map(value).collect::<Vec<_>>().join(", ")),
        ("p", format!("{} by {} ({})", super::p_text(p.value), p.null, repeats.qualified(p.null.guarantee().words()))),
    ];
    rows.extend(repeats.told().map(|told| ("copies", told)));
    if let Some(edge) = found.critical.filter(|c| c.is_finite()) {
        rows.push(("by chance", format!("above {} in 5 % of the draws", report::short(edge))));
    }
    rows.push(("without any draws", bound_text((bound, repeats), found.whole.as_ref(), radius, learned)));
    report::print(&format!("{sentence}.\n{}", report::facts(&rows)));
}

/// The distribution-free bound, or the reason why it says nothing.
fn bound_text(
    (bound, repeats): (Option<(f64, f64, PValue)>, Repeats),
    whole: Option<&TwoSample>,
    radius: Option<f64>,
    learned: Option<&'static str>,
) -> String {
    match (bound, whole, radius, learned) {
        (Some((mmd, limit, p)), ..) => {
            let side = if mmd > limit { "above" } else { "not above" };
            let words = repeats.qualified(p.null.guarantee().words());
            format!("MMD = {mmd:.4} is {side} {limit:.4}, its limit at 5 %; p ≤ {} ({words})", super::p_text(p.value))
        }
        (None, None, ..) => "no bound in linear time".to_owned(),
        (None, _, None, _) => {
            "no bound: the kernel has no known radius; declare one that holds for all examples with --radius".to_owned()
        }
        (None, _, _, why) => format!("no bound: {}", why.unwrap_or_default()),
    }
}
