//! Bounds from the number of ways a class of functions can label examples: ln N(2m) ≤ ln Σ_{i ≤ ϑ} C(2m, i) (Sauer).
//!
//! # Source
//! Herbrich (2002), §4.2; Vapnik (1998) for the constants of [`vapnik`].

use super::{BoundEntry, ChosenBy, Claim, Facts, Guarantee, LD, NotApplicable, Quantity, Task, example};
use crate::distributions::ln_sauer;
use crate::sources::{HERBRICH, LWK, Source, VAPNIK};
use std::f64::consts::LN_2;

/// R̂ + √((8/m)(ln(4/δ) + ln N(2m))), all classifiers of the class at once (Thm. 4.7).
pub fn vc(rate: f64, m: f64, dimension: f64, nats: f64) -> f64 {
    rate + (8.0 / m * (nats + 2.0 * LN_2 + ln_sauer(2.0 * m, dimension))).sqrt()
}

/// (4/m)(ln(2/δ) + ln N(2m)) without training errors (4.15).
pub fn pac(m: f64, dimension: f64, nats: f64) -> f64 {
    4.0 / m * (nats + LN_2 + ln_sauer(2.0 * m, dimension))
}

/// (2/m)(log₂ N(2m) + log₂(2/δ)): what the proof of (4.12) ends with before it is rounded.
pub fn pac_sharp(m: f64, dimension: f64, nats: f64) -> f64 {
    2.0 / m * LD * (nats + LN_2 + ln_sauer(2.0 * m, dimension))
}

/// √((32/m)(ln(4/δ) + ln N(2m))): how much worse than the best of the class the one with least training error is (4.13).
pub fn regret(m: f64, dimension: f64, nats: f64) -> f64 {
    (32.0 / m * (nats + 2.0 * LN_2 + ln_sauer(2.0 * m, dimension))).sqrt()
}

/// R̂ + √((h(ln(2m/h) + 1) + ln(4/δ))/m) + 1/m for m > h; infinite otherwise.
pub fn vapnik(rate: f64, m: f64, h: f64, nats: f64) -> f64 {
    if m <= h {
        return f64::INFINITY;
    }
    let growth = if h > 0.0 { h * ((2.0 * m / h).ln() + 1.0) } else { 0.0 };
    rate + ((growth + nats + 2.0 * LN_2) / m).sqrt() + 1.0 / m
}

/// The feature space's dimension and the training errors of a classifier of two classes, and nats with what the dimension costs.
fn finite(facts: &Facts, nats: f64) -> Result<(f64, f64, f64), NotApplicable> {
    if facts.task != Task::Classes(2) {
        return Err(NotApplicable::because("is for two classes"));
    }
    if facts.linear.is_none() {
        return Err(NotApplicable::because(facts.no_linear.clone()));
    }
    let dimension = facts.kernel.dimension.ok_or_else(|| {
        NotApplicable::because(
            "the kernel's feature space has no finite dimension that is known: any labels could be learned",
        )
    })?;
    let errors = facts.errors.ok_or_else(|| NotApplicable::because("training errors are unknown"))?;
    Ok((dimension, errors, nats + facts.kernel.dimension_nats))
}

fn consistent(facts: &Facts, nats: f64) -> Result<(f64, f64), NotApplicable> {
    let (dimension, errors, nats) = finite(facts, nats)?;
    if errors > 0.0 {
        return Err(NotApplicable::because(format!("needs zero training errors, and there are {errors}")));
    }
    Ok((dimension, nats))
}

fn vc_claim(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    let (dimension, errors, nats) = finite(facts, nats)?;
    let m = facts.examples;
    Ok(Claim::new(vc(errors / m, m, dimension, nats))
        .in_dimension(dimension, facts.kernel.dimension_nats)
        .given("training_errors", errors))
}

fn pac_claim(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    let (dimension, nats) = consistent(facts, nats)?;
    Ok(Claim::new(pac(facts.examples, dimension, nats))
        .in_dimension(dimension, facts.kernel.dimension_nats)
        .checked("no training errors"))
}

fn pac_sharp_claim(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    let (dimension, nats) = consistent(facts, nats)?;
    Ok(Claim::new(pac_sharp(facts.examples, dimension, nats))
        .in_dimension(dimension, facts.kernel.dimension_nats)
        .checked("no training errors"))
}

fn vapnik_claim(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    let (dimension, errors, nats) = finite(facts, nats)?;
    let m = facts.examples;
    Ok(Claim::new(vapnik(errors / m, m, dimension, nats))
        .in_dimension(dimension, facts.kernel.dimension_nats)
        .given("training_errors", errors))
}

fn regret_claim(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    let (dimension, nats) = consistent(facts, nats)?;
    // without training errors the model is one with least training error
    let claim =
        Claim::new(regret(facts.examples, dimension, nats)).in_dimension(dimension, facts.kernel.dimension_nats);
    Ok(claim.checked("the model has the least training error of its class, which is zero"))
}

fn capacity(facts: &Facts, _: f64) -> Result<Claim, NotApplicable> {
    let linear = facts.linear.as_ref().ok_or_else(|| NotApplicable::because(facts.no_linear.clone()))?;
    // the theorem is about the points in hand, so that their own ball will do
    if let Some(ball) = facts.kernel.ball {
        let dimension = facts.kernel.dimension.unwrap_or(f64::INFINITY);
        // that of the kernel's own feature space, which the offset adds one to
        let offset = if linear.homogeneous { 0.0 } else { linear.offset };
        let more = if linear.homogeneous { 0.0 } else { 1.0 };
        let squared_norm = (linear.squared_norm - offset * offset).max(0.0);
        return Ok(Claim::new((ball * ball * squared_norm + more).min(dimension))
            .given("radius", ball)
            .given("norm", squared_norm.sqrt()));
    }
    let radius = facts.kernel.radius.ok_or_else(|| {
        NotApplicable::because(
            "the kernel has no largest length that is known before the data: --thorough finds the ball of the examples",
        )
    })?;
    Ok(Claim::new(radius * radius * linear.squared_norm)
        .given("radius", radius)
        .given("norm", linear.squared_norm.sqrt())
        .sharper(facts.thorough, "--thorough takes the ball of the examples, which may be smaller"))
}

/// The catalogue.
pub const ENTRIES: &[BoundEntry] = &[
    BoundEntry {
        name: "vc",
        summary: "Vapnik and Chervonenkis' bound, with training errors",
        formula: "R̂ + √((8/m)(ln(4/δ) + ln Σ_{i≤ϑ} C(2m, i)))",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::HighProbability,
        source: Source::new(&HERBRICH, "Thm. 4.7, (4.14)"),
        use_when: "The feature space is small and the examples are many.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::FINITE,
        claim: vc_claim,
    },
    BoundEntry {
        name: "pac",
        summary: "The same without training errors",
        formula: "(4/m)(ln(2/δ) + ln Σ_{i≤ϑ} C(2m, i))",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::HighProbability,
        source: Source::new(&HERBRICH, "(4.15)"),
        use_when: "The feature space is small and no training example is misclassified.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::FINITE,
        claim: pac_claim,
    },
    BoundEntry {
        name: "pac_sharp",
        summary: "The same with the exponent that its proof ends with",
        formula: "(2/m)(log₂ Σ_{i≤ϑ} C(2m, i) + log₂(2/δ))",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::HighProbability,
        source: Source::corrected(&HERBRICH, "(4.12)", "the proof's 2^(−mε/2) is kept instead of e^(−mε/4)"),
        use_when: "Wherever `pac` applies: it is never larger.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::FINITE,
        claim: pac_sharp_claim,
    },
    BoundEntry {
        name: "vapnik",
        summary: "Vapnik's form of the bound, with a smaller constant",
        formula: "R̂ + √((h(ln(2m/h) + 1) + ln(4/δ))/m) + 1/m",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::HighProbability,
        source: Source::corrected(&VAPNIK, "(4.25)", "the term 1/m, which slides drop, is kept"),
        use_when: "The feature space is small and some training examples are misclassified.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::FINITE,
        claim: vapnik_claim,
    },
    BoundEntry {
        name: "regret",
        summary: "How much worse than the best classifier of its class",
        formula: "√((32/m)(ln(4/δ) + ln Σ_{i≤ϑ} C(2m, i)))",
        quantity: Quantity::Regret,
        guarantee: Guarantee::HighProbability,
        source: Source::new(&HERBRICH, "(4.13)"),
        use_when: "To know what more examples could still bring.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::FINITE,
        claim: regret_claim,
    },
    BoundEntry {
        name: "canonical_hyperplanes",
        summary: "The capacity of hyperplanes as short as this one; the class depends on the data, so it certifies nothing",
        formula: "R²‖w‖² without an offset, min(R²‖w‖² + 1, n + 1) with one and R of the smallest ball around the examples",
        quantity: Quantity::Capacity,
        guarantee: Guarantee::Score,
        source: Source::new(&LWK, "Thm. 5.5"),
        use_when: "Models with the same kernel are compared.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::SEPARATED,
        claim: capacity,
    },
];
