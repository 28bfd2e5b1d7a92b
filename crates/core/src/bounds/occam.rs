//! Occam's razor: a prior over countably many classifiers, those that so many bits describe.
//!
//! A model on explicit features is its numbers, and each of them has 64 bits. Described by the number of weights that are not zero (one
//! of n + 1), their places, 64 bits for each number and the order of the labels, it has the prior probability
//! ```text
//! ln(1/P(h)) = ln n + 2 ln(n + 1) + ln C(n, s) + 64 (s + b) ln 2 + ln k!
//! ```
//! for s of n weights, b offsets and k labels. The first terms are those of 1/(n (n + 1)), a prior over n, and 1/(n + 1), one over s; all
//! together sum to 1 at most, so that the data choose nothing that is not paid for.
//!
//! # Source
//! Herbrich (2002), §5.1, Thm. 5.1 and 5.6 (one of countably many classifiers); Langford (2005), Thm. 3.3: R ≤ max { p : P(Bin(m, p) ≤ k)
//! ≥ δ P(h) }, which is never larger than either.

use super::{BoundEntry, ChosenBy, Claim, Facts, Guarantee, NotApplicable, Quantity, Task, example};
use crate::distributions::{binomial_upper, ln_choose};
use crate::sources::{HERBRICH, Source};
use std::f64::consts::LN_2;

/// Bits of a number.
const BITS: f64 = 64.0;

/// ln(1/P(h)) of a model of so many weights, of which so many are not zero, offsets and labels.
pub fn description(weights: f64, not_zero: f64, offsets: f64, labels: usize) -> f64 {
    let orders: f64 = (1..=labels).map(|k| (k as f64).ln()).sum();
    let number = weights.max(1.0).ln() + 2.0 * (weights + 1.0).ln();
    number + ln_choose(weights, not_zero) + BITS * LN_2 * (not_zero + offsets) + orders
}

/// max { p : P(Bin(m, p) ≤ k) ≥ e^{−nats} P(h) }.
pub fn occam(errors: f64, m: f64, description: f64, nats: f64) -> f64 {
    binomial_upper(errors, m, description + nats)
}

fn occam_claim(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    let quantity = match facts.task {
        Task::Classes(_) => Quantity::ZeroOneRisk,
        Task::Numbers => Quantity::TubeMisses,
        Task::Novelty => Quantity::NoveltyRate,
        Task::Nothing => return Err(NotApplicable::because("the model predicts nothing that could be wrong")),
    };
    let description = facts.description.ok_or_else(|| {
        NotApplicable::because(
            "needs a model that is a list of numbers on features known before the data: a linear machine on a few columns",
        )
    })?;
    let errors = facts.errors.ok_or_else(|| NotApplicable::because("there is no error to be counted"))?;
    Ok(Claim::new(occam(errors, facts.examples, description, nats))
        .of(quantity)
        .given("description_nats", description)
        .given("training_errors", errors)
        .checked("the model is a list of numbers of 64 bits, and its probability was fixed before the data"))
}

/// The catalogue.
pub const ENTRIES: &[BoundEntry] = &[BoundEntry {
    name: "occam",
    summary: "One of the countably many models that so many numbers of 64 bits describe",
    formula: "max { p : P(Bin(m, p) ≤ k) ≥ δ P(h) }, ln(1/P(h)) = ln n + 2 ln(n + 1) + ln C(n, s) + 64 (s + b) ln 2 + ln k!",
    quantity: Quantity::ZeroOneRisk,
    guarantee: Guarantee::HighProbability,
    source: Source::corrected(
        &HERBRICH,
        "Thm. 5.1 and 5.6",
        "the binomial tail itself is inverted (Langford, Thm. 3.3)",
    ),
    use_when: "A linear machine has few weights for its examples, some hundred to one.",
    uses_held_out: false,
    chosen_by: ChosenBy::Nobody,
    example: example::COORDINATES,
    claim: occam_claim,
}];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::pac_bayes::{single, single_with_errors};

    #[test]
    fn descriptions_sum_to_one_at_most_and_the_tail_is_below_both_theorems() {
        // over all n, s and places, and 2⁶⁴ values of each number, which cancel 64 bits a number
        let places = |n: f64, s: f64| (ln_choose(n, s) - description(n, s, 0.0, 0) + BITS * LN_2 * s).exp();
        let sum: f64 =
            (1..2000).map(f64::from).map(|n| (0..=n as usize).map(|s| places(n, s as f64)).sum::<f64>()).sum();
        assert!(sum < 1.0 && sum > 0.999, "{sum}");
        // both orders of two labels
        assert!((description(3.0, 2.0, 1.0, 2) - description(3.0, 2.0, 1.0, 0) - LN_2).abs() < 1e-12);
        let nats = 20.0_f64.ln();
        let priced = description(2.0, 2.0, 1.0, 2);
        for (k, m) in [(0.0, 500.0), (0.0, 5000.0), (30.0, 3000.0), (400.0, 3000.0)] {
            let value = occam(k, m, priced, nats);
            assert!(value > k / m && value <= single_with_errors(k / m, -priced, m, nats), "{k} of {m}: {value}");
            assert!(k > 0.0 || value <= single(-priced, m, nats));
        }
        // without errors the tail is (1 − p)^m
        let exact = -(-(priced + nats) / 500.0).exp_m1();
        assert!((occam(0.0, 500.0, priced, nats) - exact).abs() < 1e-9);
    }
}
