//! Bounds from a complexity that is observed on the examples.
//!
//! # Source
//! Herbrich (2002), §4.3, Thm. 4.19: R ≤ (2/m)(d + log₂(4/δ)) where the luckiness allows 2^d labellings and R̂ = 0.

use super::{BoundEntry, ChosenBy, Claim, Facts, Guarantee, LD, NotApplicable, Quantity, Task, example};
use crate::sources::{HERBRICH, Source};
use std::f64::consts::{E, LN_2};

/// (2/m)(ϑ log₂(2em/ϑ) + log₂(4/δ)) for ϑ ≤ 2m: a dimension above that allows every labelling of 2m examples.
pub fn pac_luckiness(m: f64, dimension: f64, nats: f64) -> f64 {
    if dimension >= 2.0 * m {
        return f64::INFINITY;
    }
    let growth = if dimension > 0.0 { dimension * (2.0 * E * m / dimension).ln() } else { 0.0 };
    2.0 / m * LD * (growth + nats + 2.0 * LN_2)
}

/// (2/m)(⌈4q log₂(em/2q)⌉ + log₂(4/δ)), q = rank + ln(4/δ), for a rank that was fixed before the data; infinite where 4q
/// exceeds 2m, where nothing is bounded.
pub fn empirical_vc(m: f64, rank: f64, nats: f64) -> f64 {
    let q = rank + nats + 2.0 * LN_2;
    if 2.0 * q >= m {
        return f64::INFINITY;
    }
    2.0 / m * ((4.0 * q * (E * m / (2.0 * q)).log2()).ceil() + LD * (nats + 2.0 * LN_2))
}

fn consistent(facts: &Facts) -> Result<(), NotApplicable> {
    if facts.task != Task::Classes(2) {
        return Err(NotApplicable::because("is for two classes"));
    }
    if facts.linear.is_none() {
        return Err(NotApplicable::because(facts.no_linear.clone()));
    }
    match facts.errors {
        Some(0.0) => Ok(()),
        Some(errors) => Err(NotApplicable::because(format!("needs zero training errors, and there are {errors}"))),
        None => Err(NotApplicable::because("training errors are unknown")),
    }
}

fn luckiness(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    consistent(facts)?;
    let dimension = facts
        .kernel
        .dimension
        .ok_or_else(|| NotApplicable::because("the kernel's feature space has no finite dimension that is known"))?;
    let more = facts.kernel.dimension_nats;
    Ok(Claim::new(pac_luckiness(facts.examples, dimension, nats + more))
        .in_dimension(dimension, more)
        .checked("no training errors"))
}

fn rank(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    consistent(facts)?;
    let rank = facts.kernel.rank.ok_or_else(|| {
        NotApplicable::because(
            "the rank of the kernel matrix is as large as the number of examples, as far as the formula tells; --thorough computes it where the feature space has a finite dimension",
        )
    })?;
    // the rank is observed: each of its 2m possible values gets an equal part of δ
    let nats = nats + (2.0 * facts.examples).ln();
    let claim = Claim::new(empirical_vc(facts.examples, rank, nats)).given("rank", rank).checked("no training errors");
    let claim = claim.sharper(
        facts.thorough,
        "--thorough computes the rank of the examples, which may be less than that of the feature space",
    );
    Ok(if facts.kernel.rank_by_pivots {
        claim.declared("pivots of the kernel matrix that are as small as rounding are zeros: the examples span no more")
    } else {
        claim
    })
}

/// The catalogue.
pub const ENTRIES: &[BoundEntry] = &[
    BoundEntry {
        name: "pac_luckiness",
        summary: "The luckiness bound for a dimension known before the data",
        formula: "(2/m)(ϑ log₂(2em/ϑ) + log₂(4/δ))",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::HighProbability,
        source: Source::new(&HERBRICH, "Ex. 4.21"),
        use_when: "To compare with `pac_sharp`, which counts exactly.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::FINITE,
        claim: luckiness,
    },
    BoundEntry {
        name: "empirical_vc",
        summary: "The dimension that the examples have: the rank of their kernel matrix",
        formula: "(2/m)(⌈4q log₂(em/2q)⌉ + log₂(4/δ′)), q = rank K + ln(4/δ′), δ′ = δ/2m",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::HighProbability,
        source: Source::corrected(
            &HERBRICH,
            "Ex. 4.22, Thm. C.6",
            "the rank is observed, so δ is divided among its values",
        ),
        use_when: "The kernel matrix has a small rank though the feature space is large.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::FINITE,
        claim: rank,
    },
];
