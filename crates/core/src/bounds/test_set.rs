//! Bounds from examples that training has not seen: k errors of n.
//!
//! # Source
//! Langford (2005), Tutorial on Practical Prediction Theory for Classification; Clopper & Pearson (1934).

use super::betting::upper_end;
use super::theorem::{ALWAYS, DELTA, Input, SHARE, Theorem};
use super::{BoundEntry, ChosenBy, Claim, Facts, Guarantee, HeldOutErrors, NotApplicable, Quantity, Task, example};
use crate::distributions::{binomial_lower, binomial_upper, kl_inverse};
use crate::sources::{HERBRICH, HOEFFDING, LANGFORD, MAURER_PONTIL, Source, WAUDBY_SMITH};

/// R̂ + √(nats / 2n).
pub fn hoeffding(rate: f64, n: f64, nats: f64) -> f64 {
    rate + (nats / (2.0 * n)).sqrt()
}

/// R̂ + √(2 V̂ ln(2/δ)/n) + 7 b ln(2/δ) / 3(n − 1) for losses in [0, b] with sample variance V̂; infinite for n < 2.
pub fn empirical_bernstein(mean: f64, variance: f64, range: f64, n: f64, nats: f64) -> f64 {
    if n < 2.0 {
        return f64::INFINITY;
    }
    let nats = nats + std::f64::consts::LN_2;
    mean + (2.0 * variance * nats / n).sqrt() + 7.0 * range * nats / (3.0 * (n - 1.0))
}

/// R̂ + √((ln |H| + ln(2/δ)) / 2m): the best of |H| finished models (Thm. 4.6).
pub fn finite_class(rate: f64, m: f64, ln_models: f64, nats: f64) -> f64 {
    hoeffding(rate, m, ln_models + nats + std::f64::consts::LN_2)
}

fn seen(facts: &Facts) -> Result<(HeldOutErrors, Quantity), NotApplicable> {
    let quantity = match facts.task {
        Task::Classes(_) => Quantity::ZeroOneRisk,
        Task::Numbers => Quantity::TubeMisses,
        Task::Novelty => Quantity::NoveltyRate,
        Task::Nothing => return Err(NotApplicable::because("the model predicts nothing that could be wrong")),
    };
    match facts.held_out {
        Some(held_out) if held_out.examples >= 1.0 => Ok((held_out, quantity)),
        _ if facts.task == Task::Numbers => Err(NotApplicable::because(
            "needs held-out examples (--held-out) and a machine with a tube, so that a value can be right or wrong",
        )),
        _ => Err(NotApplicable::because("needs held-out examples: give a file with --held-out")),
    }
}

fn told(claim: Claim, h: HeldOutErrors, quantity: Quantity) -> Claim {
    claim.of(quantity).given("held_out_examples", h.examples).given("held_out_errors", h.errors)
}

fn held_out(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    let (h, quantity) = seen(facts)?;
    let upper = binomial_upper(h.errors, h.examples, nats);
    // an end of its own: both together fail with probability 2δ
    Ok(told(Claim::new(upper), h, quantity).given("lower_end_at_delta", binomial_lower(h.errors, h.examples, nats)))
}

fn held_out_kl(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    let (h, quantity) = seen(facts)?;
    Ok(told(Claim::new(kl_inverse(h.errors / h.examples, nats / h.examples)), h, quantity))
}

fn held_out_hoeffding(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    let (h, quantity) = seen(facts)?;
    Ok(told(Claim::new(hoeffding(h.errors / h.examples, h.examples, nats)), h, quantity))
}

fn held_out_finite_class(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    let (h, quantity) = seen(facts)?;
    Ok(told(Claim::new(finite_class(h.errors / h.examples, h.examples, 0.0, nats)), h, quantity))
}

fn held_out_loss(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    if facts.task != Task::Numbers {
        return Err(NotApplicable::because("is for numbers"));
    }
    let loss = facts.held_out_loss.ok_or_else(|| {
        NotApplicable::because(
            "needs held-out examples (--held-out), one target, and a range that it cannot leave, known before the data (--target-range LOW,HIGH)",
        )
    })?;
    Ok(Claim::new(empirical_bernstein(loss.mean, loss.variance, loss.range, loss.examples, nats))
        .at_most(loss.range)
        .given("held_out_examples", loss.examples)
        .given("mean_loss", loss.mean)
        .given("variance", loss.variance)
        .checked("of |y − f(x)|, predictions cut off at the ends of the range")
        .declared("every target lies in the range"))
}

/// The catalogue.
pub const ENTRIES: &[BoundEntry] = &[
    BoundEntry {
        name: "held_out",
        summary: "Errors on held-out examples, by the exact binomial tail",
        formula: "max { p : P(Bin(n, p) ≤ k) ≥ δ }",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::HighProbability,
        source: Source::new(&LANGFORD, "Thm. 3.3"),
        use_when: "Examples can be spared that training does not see: nothing is tighter.",
        uses_held_out: true,
        chosen_by: ChosenBy::HeldOut,
        example: example::HELD_OUT,
        claim: held_out,
    },
    BoundEntry {
        name: "held_out_kl",
        summary: "The same by the divergence of coins",
        formula: "max { p : kl(k/n ‖ p) ≤ ln(1/δ)/n }",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::HighProbability,
        source: Source::new(&LANGFORD, "Cor. 3.7"),
        use_when: "To see what the closed form costs against the exact tail.",
        uses_held_out: true,
        chosen_by: ChosenBy::Nobody,
        example: example::HELD_OUT,
        claim: held_out_kl,
    },
    BoundEntry {
        name: "held_out_hoeffding",
        summary: "The same by Hoeffding's inequality",
        formula: "k/n + √(ln(1/δ) / 2n)",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::HighProbability,
        source: Source::new(&HOEFFDING, "Thm. 1"),
        use_when: "To see what the textbook's form costs against the exact tail.",
        uses_held_out: true,
        chosen_by: ChosenBy::Nobody,
        example: example::HELD_OUT,
        claim: held_out_hoeffding,
    },
    BoundEntry {
        name: "held_out_finite_class",
        summary: "The best of finitely many models on held-out examples, uniformly and on both sides",
        formula: "k/n + √((ln |H| + ln(2/δ)) / 2n)",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::HighProbability,
        source: Source::new(&HERBRICH, "Thm. 4.6"),
        use_when: "Several finished models were compared on the same held-out examples.",
        uses_held_out: true,
        chosen_by: ChosenBy::Nobody,
        example: example::HELD_OUT,
        claim: held_out_finite_class,
    },
    BoundEntry {
        name: "held_out_loss",
        summary: "The mean absolute error on held-out examples, by their mean and variance",
        formula: "mean + √(2V ln(2/δ)/n) + 7b ln(2/δ)/(3(n − 1))",
        quantity: Quantity::ExpectedLoss,
        guarantee: Guarantee::HighProbability,
        source: Source::new(&MAURER_PONTIL, "Thm. 4"),
        use_when: "Numbers are predicted whose range is known, and examples can be spared.",
        uses_held_out: true,
        chosen_by: ChosenBy::Nobody,
        example: example::HELD_OUT_NUMBERS,
        claim: held_out_loss,
    },
];

/// Theorems as functions of numbers.
pub(super) const THEOREMS: &[Theorem] = &[Theorem {
    name: "betting",
    summary: "The mean of losses in [0, 1] that come one after the other, at every number of them at once",
    formula: "max { p : Π (1 + λ_s(p − X_s)) < 1/δ at all times }",
    source: Source::new(&WAUDBY_SMITH, "§4"),
    use_when: "losses of new examples come in, and testing shall end as soon as they say enough",
    inputs: &[Input::list("losses", SHARE, "losses in the order in which they came"), DELTA],
    example: (&[("losses", "0,0.1,0,0.2,0,0,0.1,0,0,0.1,0,0"), ("delta", "0.2")], 0.329_643_947_704_620_6),
    possible: ALWAYS,
    value: |g| upper_end(g.list(0), g.nats(1)),
}];
