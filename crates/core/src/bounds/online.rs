//! Bounds from one pass of an on-line learner.
//!
//! # Source
//! Cesa-Bianchi, Conconi & Gentile (2004): the hypotheses of a pass have average risk at most M/m + √(ln(1/δ)/2m).

use super::{BoundEntry, ChosenBy, Claim, Facts, Guarantee, NotApplicable, Quantity, example};
use crate::sources::{CESA_BIANCHI, Source};

/// M/m + √(nats/2m).
pub fn online_to_batch(mistakes: f64, m: f64, nats: f64) -> f64 {
    mistakes / m + (nats / (2.0 * m)).sqrt()
}

fn pass(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    let online = facts.online.ok_or_else(|| {
        NotApplicable::because(
            "needs a learner that goes through the examples once and counts its mistakes: perceptron",
        )
    })?;
    Ok(Claim::new(online_to_batch(online.mistakes, facts.examples, nats))
        .given("mistakes", online.mistakes)
        .checked("mistakes of the first pass, each example judged before it was learned from"))
}

/// The catalogue.
pub const ENTRIES: &[BoundEntry] = &[BoundEntry {
    name: "online_to_batch",
    summary: "A hypothesis drawn from those of the first pass",
    formula: "M/m + √(ln(1/δ)/2m)",
    quantity: Quantity::GibbsRisk,
    guarantee: Guarantee::HighProbability,
    source: Source::new(&CESA_BIANCHI, "Prop. 1"),
    use_when: "A perceptron has gone through the examples at least once.",
    uses_held_out: false,
    chosen_by: ChosenBy::Nobody,
    example: example::ONLINE,
    claim: pass,
}];
