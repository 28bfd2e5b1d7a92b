//! Bounds from a small part of the examples that gives the same model.
//!
//! # Source
//! Herbrich (2002), §5.2; Langford (2005) for the exact tail; Bousquet, Hanneke, Moran & Zhivotovskiy (2020) for stable
//! compression. Three improvements that cost nothing: 1 − exp(−·) is exact where the book bounds it; only the examples outside
//! the set have to be classified rightly, so soft margins count as lossless, since every misclassified example is a support
//! vector; and learners that list examples in increasing order need no d!.

use super::theorem::{AMOUNT, DELTA, EXAMPLES, Input, Theorem};
use super::{BoundEntry, ChosenBy, Claim, Compression, Facts, Guarantee, NotApplicable, Quantity, Task, example};
use crate::distributions::{binomial_upper, ln_choose};
use crate::sources::{BOUSQUET, HERBRICH, LANGFORD, Source};

/// (ln C(m, d) + ln m + nats)/(m − d) without errors outside the set (Thm. 5.17); infinite for d ≥ m.
pub fn lossless(m: f64, d: f64, nats: f64) -> f64 {
    if d >= m {
        return f64::INFINITY;
    }
    (ln_choose(m, d) + m.ln() + nats) / (m - d)
}

/// 1 − exp(−·) of [`lossless`]: never above 1.
pub fn lossless_exact(m: f64, d: f64, nats: f64) -> f64 {
    -(-lossless(m, d, nats)).exp_m1()
}

/// (m/(m − d)) R̂ + √((ln C(m, d) + 2 ln m + nats)/2(m − d)) (Thm. 5.18).
pub fn lossy(rate: f64, m: f64, d: f64, nats: f64) -> f64 {
    if d >= m {
        return f64::INFINITY;
    }
    m / (m - d) * rate + ((ln_choose(m, d) + 2.0 * m.ln() + nats) / (2.0 * (m - d))).sqrt()
}

/// The exact binomial tail of q errors among the m − d examples outside the set, at δ/(m C(m, d)).
pub fn binomial(m: f64, d: f64, errors: f64, nats: f64) -> f64 {
    if d >= m {
        return 1.0;
    }
    binomial_upper(errors, m - d, ln_choose(m, d) + m.ln() + nats)
}

/// (2/(m − 2k))(k ln 4 + nats) where leaving out any other example changes nothing; infinite for 2k ≥ m.
pub fn stable(m: f64, k: f64, nats: f64) -> f64 {
    if 2.0 * k >= m {
        return f64::INFINITY;
    }
    2.0 / (m - 2.0 * k) * (k * 4.0_f64.ln() + nats)
}

/// 1 − exp(−(ln C(B, k) + nats)/((B − k)⌊m/B⌋)): the sample is cut into B blocks, a number fixed before the data; the set
/// touches at most k of them. B = m is Thm. 5.17 and B = 2k the published form.
pub fn stable_blocks(m: f64, k: f64, blocks: f64, nats: f64) -> f64 {
    if k >= blocks || blocks > m || blocks < 1.0 {
        return 1.0;
    }
    -(-(ln_choose(blocks, k) + nats) / ((blocks - k) * (m / blocks).floor())).exp_m1()
}

/// (2/m)(M ln(em) + ln m + nats) for a learner that makes at most M mistakes in any number of passes (Thm. 5.23).
pub fn mistakes(m: f64, mistakes: f64, nats: f64) -> f64 {
    2.0 / m * (mistakes * (1.0 + m.ln()) + m.ln() + nats)
}

/// [`lossless_exact`] where b bits are sent with the set: b ln 2 more nats.
pub fn with_bits(m: f64, d: f64, bits: f64, nats: f64) -> f64 {
    lossless_exact(m, d, nats + bits * std::f64::consts::LN_2)
}

/// The quantity that is bounded for a task.
pub(super) fn quantity(task: Task) -> Quantity {
    match task {
        Task::Numbers => Quantity::TubeMisses,
        Task::Novelty => Quantity::NoveltyRate,
        Task::Classes(_) | Task::Nothing => Quantity::ZeroOneRisk,
    }
}

pub(super) fn set(facts: &Facts) -> Result<Compression, NotApplicable> {
    facts.compression.ok_or_else(|| NotApplicable::because(facts.no_compression.clone()))
}

fn clean(facts: &Facts) -> Result<Compression, NotApplicable> {
    let set = set(facts)?;
    if set.errors_outside > 0.0 {
        return Err(NotApplicable::because(format!(
            "needs the {} examples outside the compression set to be right, and {} are not",
            facts.examples - set.size,
            set.errors_outside
        )));
    }
    Ok(set)
}

fn told(facts: &Facts, value: f64, set: &Compression) -> Claim {
    let claim = Claim::new(value)
        .of(quantity(facts.task))
        .given("compression_set", set.size)
        .given("errors_outside", set.errors_outside);
    if !set.stable {
        return claim.checked("training on the compression set alone gives the same model");
    }
    // nobody has trained on the set: its solution is the same but for what the solver left undone
    claim.declared(if set.share_of_all {
        "the problem of m examples on the compression set alone has the same solution, but for the solver's tolerance; a share of the examples means a share of m"
    } else {
        "training on the compression set alone gives the same model, but for the solver's tolerance"
    })
}

fn lossless_claim(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    let set = clean(facts)?;
    Ok(told(facts, lossless(facts.examples, set.size, nats), &set))
}

fn exact_claim(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    let set = clean(facts)?;
    Ok(told(facts, lossless_exact(facts.examples, set.size, nats), &set))
}

fn lossy_claim(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    let set = set(facts)?;
    let rate = facts.error_rate().ok_or_else(|| NotApplicable::because("training errors are unknown"))?;
    Ok(told(facts, lossy(rate, facts.examples, set.size, nats), &set).given("training_error", rate))
}

fn binomial_claim(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    let set = set(facts)?;
    Ok(told(facts, binomial(facts.examples, set.size, set.errors_outside, nats), &set))
}

fn stable_set(facts: &Facts) -> Result<Compression, NotApplicable> {
    let set = clean(facts)?;
    if !set.stable {
        return Err(NotApplicable::because(
            "leaving out an example that is not in the compression set may change the model",
        ));
    }
    Ok(set)
}

fn stable_claim(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    let set = stable_set(facts)?;
    // the size is observed: each of m gets an equal part of δ
    let nats = nats + facts.examples.ln();
    Ok(told(facts, stable(facts.examples, set.size, nats), &set))
}

fn blocks_claim(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    let set = stable_set(facts)?;
    let m = facts.examples;
    // the number of blocks depends on m and on the size alone, so it is fixed with the part of δ that the size gets
    let blocks = (2.5 * set.size).ceil().max(set.size + 1.0).min(m.max(1.0));
    Ok(told(facts, stable_blocks(m, set.size, blocks, nats + m.ln()), &set).given("blocks", blocks))
}

fn mistakes_claim(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    let bound = facts.online.and_then(|o| o.mistake_bound).ok_or_else(|| {
        NotApplicable::because("needs a learner that changes by mistakes only, and a margin that bounds their number")
    })?;
    if facts.errors != Some(0.0) {
        return Err(NotApplicable::because("needs a learner that has come to make no more mistakes"));
    }
    let claim = Claim::new(mistakes(facts.examples, bound, nats)).given("mistake_bound", bound);
    Ok(claim.checked("no training errors").sharper(
        facts.thorough,
        "--thorough bounds the mistakes by the widest margin that any classifier reaches on the examples",
    ))
}

const SAME: &str = "A sparse model: whose support vectors alone give it again.";

/// The catalogue.
pub const ENTRIES: &[BoundEntry] = &[
    BoundEntry {
        name: "compression_exact",
        summary: "Few examples give the same model and all others are right",
        formula: "1 − exp(−(ln C(m, d) + ln m + ln(1/δ))/(m − d))",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::HighProbability,
        source: Source::corrected(&HERBRICH, "Thm. 5.17", "(1 − ε)^(m−d) is kept; errors inside the set do not matter"),
        use_when: SAME,
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::SEPARATED,
        claim: exact_claim,
    },
    BoundEntry {
        name: "compression",
        summary: "The same as it is printed",
        formula: "(ln C(m, d) + ln m + ln(1/δ))/(m − d)",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::HighProbability,
        source: Source::new(&HERBRICH, "Thm. 5.17, (5.16)"),
        use_when: SAME,
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::SEPARATED,
        claim: lossless_claim,
    },
    BoundEntry {
        name: "compression_binomial",
        summary: "Few examples give the same model; errors among the others by the exact tail",
        formula: "max { p : P(Bin(m − d, p) ≤ q) ≥ δ/(m C(m, d)) }",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::HighProbability,
        source: Source::new(&LANGFORD, "Thm. 4.5"),
        use_when: "A model trained on a chosen part of the examples: any machine, errors on the rest are counted.",
        uses_held_out: false,
        chosen_by: ChosenBy::Everybody,
        example: example::SEPARATED,
        claim: binomial_claim,
    },
    BoundEntry {
        name: "compression_lossy",
        summary: "Few examples give the same model; all training errors count",
        formula: "(m/(m − d)) R̂ + √((ln C(m, d) + 2 ln m + ln(1/δ))/2(m − d))",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::HighProbability,
        source: Source::new(&HERBRICH, "Thm. 5.18"),
        use_when: "To compare with `compression_binomial`, which is never larger in practice.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::SEPARATED,
        claim: lossy_claim,
    },
    BoundEntry {
        name: "compression_stable",
        summary: "Stable compression: no logarithm of m for the choice of examples",
        formula: "(2/(m − 2k))(k ln 4 + ln(m/δ))",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::HighProbability,
        source: Source::corrected(&BOUSQUET, "Thm. 15", "k is observed, so δ is divided among its values"),
        use_when: SAME,
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::SEPARATED,
        claim: stable_claim,
    },
    BoundEntry {
        name: "compression_blocks",
        summary: "Stable compression with the sample cut into blocks",
        formula: "1 − exp(−(ln C(B, k) + ln(m/δ))/((B − k)⌊m/B⌋)), B = ⌈2.5 k⌉",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::HighProbability,
        source: Source::corrected(&BOUSQUET, "Thm. 15", "any number of blocks that is fixed before the data"),
        use_when: SAME,
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::SEPARATED,
        claim: blocks_claim,
    },
    BoundEntry {
        name: "mistake_bound",
        summary: "The number of mistakes a learner can ever make",
        formula: "(2/m)(M ln(em) + ln m + ln(1/δ)), M = (ς/γ)²",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::HighProbability,
        source: Source::corrected(
            &HERBRICH,
            "Thm. 5.23, Ex. 5.24",
            "M is the smallest (ς/γ)² over weight vectors, not the largest",
        ),
        use_when: "A perceptron without errors: certified by its own margin, or with --thorough by that of a support vector machine.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::ONLINE,
        claim: mistakes_claim,
    },
];

/// A set of examples is a part of all.
pub(super) fn among(size: f64, m: f64) -> Result<(), String> {
    if size <= m {
        return Ok(());
    }
    Err(format!("size = {size} is no number of the {m} examples; give {m} at most"))
}

/// Theorems as functions of numbers.
pub(super) const THEOREMS: &[Theorem] = &[Theorem {
    name: "compression_with_bits",
    summary: "Few examples and a message of some bits give the same model, and all other examples are right",
    formula: "1 − exp(−(ln C(m, d) + ln m + b ln 2 + ln(1/δ))/(m − d))",
    source: Source::corrected(&HERBRICH, "§5.4", "(1 − ε)^(m−d) is kept"),
    use_when: "a model is given by some examples and a few numbers that were chosen with the help of all",
    inputs: &[
        EXAMPLES,
        Input::count("size", 0.0, "number d of examples in the set"),
        Input::number("bits", AMOUNT, "length b of the message"),
        DELTA,
    ],
    example: (&[("examples", "500"), ("size", "25"), ("bits", "0")], 0.199_947_288_275_547_75),
    possible: |g| among(g.number(1), g.number(0)),
    value: |g| with_bits(g.number(0), g.number(1), g.number(2), g.nats(3)),
}];
