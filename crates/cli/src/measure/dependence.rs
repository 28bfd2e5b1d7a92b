//! `mercer measure --dependence`: does the target, or a second set of columns, depend on the first?

use crate::input::{self, Training};
use crate::{arguments, report};
use clap::ArgMatches;
use mercer::data::{DataError, Dataset, Repeats, Rows, Values};
use mercer::formula::Formula;
use mercer::hypothesis_tests::{Dependence, PValue, dependence};
use mercer::machines::Learns;
use mercer_terminal::Failure;
use mercer_terminal::Watch;
use serde_json::json;
use std::path::Path;

/// The level at which a dependence is called one.
const LEVEL: f64 = 0.05;
/// The name under which formulas look at the target.
const TARGET: &str = "target";

pub(super) fn run(flags: &ArgMatches, path: &Path) -> Result<(), Failure> {
    let formula = arguments::formula(flags)?;
    let asked = flags.get_one::<String>("dependence").map_or(TARGET, String::as_str);
    let second = if asked == TARGET { None } else { Some(asked.parse::<Formula>()?) };
    let of_target = second.as_ref().is_none_or(|f| f.views().iter().any(|(view, _)| *view == Some(TARGET)));
    // both formulas name columns; the target is no column of its own
    let both = match &second {
        Some(second) if !of_target => formula.clone() + second.clone(),
        _ => formula.clone(),
    };
    let Training { data, .. } = input::training(path, flags, &both, Learns::Unsupervised)?;
    let (data, usual) = if of_target { with_target(data)? } else { (data, "") };
    let second = match second {
        Some(second) => second,
        None => usual.parse()?,
    };
    let twice = seen_by(&formula, &data).into_iter().find(|view| seen_by(&second, &data).contains(view));
    if let Some(view) = twice {
        return Err(Failure::usage(format!(
            "both kernels look at {view}, and a part depends on itself whatever the rest does: {formula} and {second}; give each columns of its own, as in --kernel rbf@height --dependence linear@weight"
        )));
    }
    let seed = arguments::seed(flags);
    let watch = Watch::new(flags);
    let (k, l, found) = watch.heeded(|| -> Result<_, Failure> {
        let k = formula.resolve(&data, seed)?;
        let x = k.training_gram(&data)?;
        // permuted is what the second kernel compares
        let (l, y) = second.of_pool(&data, seed)?;
        let found = dependence(x.as_ref(), y.as_ref(), super::draws(flags), seed, arguments::budget(flags)?, &watch)?;
        Ok((k, l, found))
    })?;
    watch.finish();
    tell(flags, &[k.to_string(), l.to_string()], &found, data.repeats());
    Ok(())
}

/// The views that a kernel looks at: those that it names, and the only one of its kind where it names none.
fn seen_by<'a>(formula: &'a Formula, data: &'a Dataset) -> Vec<&'a str> {
    let only = |kind| data.views().iter().find(|view| view.values.kind() == kind).map(|view| view.name.as_str());
    formula.views().into_iter().filter_map(|(name, kind)| name.or_else(|| only(kind))).collect()
}

/// The data with their target as a view of its own, and the usual kernel on it.
fn with_target(data: Dataset) -> Result<(Dataset, &'static str), Failure> {
    let Some(target) = data.target() else { return Err(DataError::NoTarget.into()) };
    let labels = super::labels(&data);
    if target.is_numeric() && labels.is_none_or(|l| l.classes.is_none()) {
        let numbers = target.numbers()?;
        let (n, width) = (data.len(), numbers.names.len());
        let finding = || DataError::Unfit { finding: "the target is not one number for each example".to_owned() };
        let rows = Rows::new(numbers.values, n, width).ok_or_else(finding)?;
        return Ok((data.with_view(TARGET, rows)?, "rbf(gamma=median)@target"));
    }
    let classes = target.classes()?;
    if classes.labels.len() == data.len() && data.len() > 1 {
        return Err(Failure::usage(
            "every label of the target stands once only, so that no permutation would change anything; name a kernel that compares them, say --dependence 'spectrum(length=2)@target', or a target with classes",
        ));
    }
    let words: Vec<String> = classes.codes.iter().map(|&c| classes.labels[c as usize].clone()).collect();
    Ok((data.with_view(TARGET, Values::from(words))?, "exact_match@target"))
}

fn tell(flags: &ArgMatches, kernels: &[String; 2], found: &Dependence, repeats: Repeats) {
    let p = found.p;
    let measured = format!("HSIC = {}, p = {} by {}", report::short(found.biased), super::p_text(p.value), p.null);
    let depend = p.value <= LEVEL;
    let sentence = if depend {
        format!("The two parts depend on each other ({measured})")
    } else {
        format!("No dependence was found ({measured})")
    };
    if flags.get_flag("json") {
        report::print_json(&json!({
            "kernels": kernels, "n": found.n, "hsic": found.biased, "hsic_unbiased": found.unbiased,
            "alignment": found.alignment.is_finite().then_some(found.alignment),
            "p": p.value, "by": p.null.to_string(), "guarantee": repeats.qualified(p.null.guarantee().words()), "copies": repeats.told(),
            "p_unbiased": found.p_unbiased.value, "p_gamma": found.gamma.value, "depend": depend, "level": LEVEL,
        }));
        return;
    }
    let gamma = found.gamma;
    let told = |p: PValue| {
        format!("{} by {} ({})", super::p_text(p.value), p.null, repeats.qualified(p.null.guarantee().words()))
    };
    let mut rows = vec![
        ("kernels", kernels.join("  and  ")),
        ("examples", found.n.to_string()),
        ("HSIC", format!("{} biased, {} unbiased", report::short(found.biased), report::short(found.unbiased))),
        ("centred alignment", format!("{:.4} (0 is none, 1 is all)", found.alignment)),
        ("p", told(p)),
    ];
    rows.extend(repeats.told().map(|told| ("copies", told)));
    rows.push(("without any draws", format!("p = {}", told(gamma))));
    report::print(&format!("{sentence}.\n{}", report::facts(&rows)));
}
