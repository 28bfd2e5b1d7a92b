//! `mercer measure --stability`: what of a spectrum holds beyond the sample.

use crate::{arguments, report};
use clap::ArgMatches;
use mercer::formula::Formula;
use mercer::gram::Gram;
use mercer::hypothesis_tests::{Judgement, Stability};
use mercer::plot::at_most;
use mercer::watch::Monitor;
use mercer_terminal::Failure;
use serde_json::{Value, json};

/// Draws of the bootstrap.
const DRAWS: usize = 200;
/// Number of eigenvectors that are printed.
const PRINTED_EIGENVECTORS: usize = 5;

/// Judges the spectrum; a kernel without a known radius needs one that is declared.
pub(super) fn of(
    flags: &ArgMatches,
    formula: &Formula,
    gram: &dyn Gram,
    watch: &dyn Monitor,
) -> Result<Stability, Failure> {
    let Some(radius) = super::declared_radius(flags, formula)? else {
        return Err(Failure::usage(format!(
            "{formula} has no known radius R with κ(x, x) ≤ R² for every x; declare one with --radius, or normalise the kernel. \
             The largest of this sample would not do: the bounds are about examples that were not seen"
        )));
    };
    let delta = flags.get_one::<f64>("delta").copied().unwrap_or(0.05);
    if !(delta > 0.0 && delta < 1.0) {
        return Err(Failure::usage("--delta needs a number between 0 and 1"));
    }
    let how = Judgement { radius, delta, draws: DRAWS, seed: arguments::seed(flags) };
    Ok(Stability::of(gram, how, arguments::budget(flags)?, watch)?)
}

/// For programs.
pub(super) fn document(found: &Stability, learned: Option<&str>) -> Value {
    json!({
        "assumes": learned,
        "radius": found.radius, "delta": found.delta, "eigenvalues": found.eigenvalues,
        "sums_within": found.sums_within, "printed_sums_within": found.printed_sums_within,
        "operator_within": found.operator_within, "rho": found.rho,
        "beyond_rho": found.beyond_rho.iter().map(|i| i + 1).collect::<Vec<_>>(),
        "vectors": found.vectors.iter().map(|(gap, sine)| json!({"gap": gap, "sine": sine})).collect::<Vec<_>>(),
        "residuals": found.residuals.iter().map(|(k, sample, bound)| json!({"kept": k, "sample": sample, "bound": bound})).collect::<Vec<_>>(),
        "intervals": found.intervals.iter().map(|i| json!({"value": i.value, "low": i.low, "high": i.high})).collect::<Vec<_>>(),
    })
}

/// For people; every line holds by itself with probability 1 − δ.
pub(super) fn facts(found: &Stability, learned: Option<&str>) -> Vec<(&'static str, String)> {
    let percent = report::short(100.0 * (1.0 - found.delta));
    let epsilon = found.operator_within;
    let mut rows = vec![
        (
            "beyond the sample",
            format!("λ(K)/n in {percent} % of samples at least, where every ‖φ(x)‖ ≤ {}", report::short(found.radius)),
        ),
        (
            "sums of eigenvalues",
            format!(
                "within {} of their expectation; {} for the centred covariance (Mika, theorem 4.2, one side)",
                at_most(found.sums_within, 4),
                at_most(found.printed_sums_within, 4)
            ),
        ),
        ("each eigenvalue", format!("within {} of the true one", at_most(epsilon, 4))),
        ("eigenvectors", vectors(found)),
        ("by theorem 4.5", beyond_rho(found)),
    ];
    if let Some(why) = learned {
        rows.push(("taken as fixed", format!("the kernel, though {why}")));
    }
    if let Some((kept, sample, bound)) = found.residuals.iter().min_by(|a, b| a.2.total_cmp(&b.2)) {
        let told = if *bound < found.radius * found.radius {
            ""
        } else {
            ", which says nothing: no residual is larger than R²"
        };
        rows.push((
            "residual",
            format!("of {kept} directions {sample:.4} on the sample, at most {} beyond{told}", at_most(*bound, 4)),
        ));
    }
    if !found.intervals.is_empty() {
        let all: Vec<String> =
            found.intervals.iter().map(|i| format!("{:.4} ({:.4} to {:.4})", i.value, i.low, i.high)).collect();
        rows.push(("bootstrap", format!("{}; approximate, {percent} % each", all.join(", "))));
    }
    rows
}

fn vectors(found: &Stability) -> String {
    let told: Vec<String> = (found.vectors.iter().enumerate())
        .filter_map(|(i, (_, sine))| {
            sine.map(|sine| format!("{} within {}°", i + 1, at_most(sine.min(1.0).asin().to_degrees(), 1)))
        })
        .take(PRINTED_EIGENVECTORS)
        .collect();
    let widest = found.vectors.iter().map(|(gap, _)| *gap).fold(0.0, f64::max);
    if told.is_empty() {
        return format!(
            "none is certain: the widest gap of the leading eigenvalues is {widest:.4}, and {:.4} is needed",
            2.0 * found.operator_within
        );
    }
    format!("{} of the true ones (Davis–Kahan)", told.join(", "))
}

fn beyond_rho(found: &Stability) -> String {
    if found.beyond_rho.is_empty() {
        return format!("none: no gap reaches ρ = {:.4}", found.rho);
    }
    let places: Vec<String> = found.beyond_rho.iter().map(|i| (i + 1).to_string()).collect();
    format!("eigenvectors {} have gaps above ρ = {:.4}", places.join(", "), found.rho)
}
