//! Bounds for detectors of novelties.
//!
//! # Source
//! Schölkopf, Platt, Shawe-Taylor, Smola & Williamson (2001), Thm. 7 and Prop. 3; Shawe-Taylor & Cristianini (2004), §5.1.

use super::{BoundEntry, ChosenBy, Claim, Facts, Guarantee, NotApplicable, Novelty, Quantity, example};
use crate::sources::{KMPA, ONE_CLASS, Source};

/// (2/m)(k + log₂(m²/2δ)), k = c₁ log₂(c₂γ̂²m)/γ̂² + (2D/γ̂) log₂(e((2m − 1)γ̂/2D + 1)) + 2, c₁ = 16c², c₂ = ln 2/4c²,
/// c = 103; infinite where c₂γ̂²m ≤ 1.
pub fn one_class(gamma: f64, shortfall: f64, m: f64, nats: f64) -> f64 {
    const C: f64 = 103.0;
    let (c1, c2) = (16.0 * C * C, std::f64::consts::LN_2 / (4.0 * C * C));
    let inside = c2 * gamma * gamma * m;
    if inside <= 1.0 {
        return f64::INFINITY;
    }
    let short = if shortfall > 0.0 {
        2.0 * shortfall / gamma * (std::f64::consts::E * ((2.0 * m - 1.0) * gamma / (2.0 * shortfall) + 1.0)).log2()
    } else {
        0.0
    };
    let k = c1 * inside.log2() / (gamma * gamma) + short + 2.0;
    2.0 / m * (k + (m * m / 2.0).log2() + nats * super::LD)
}

/// (R/√m)(1 + √(2 nats)): how far the centre of mass is from the mean of the distribution at most.
pub fn centre_radius(radius: f64, m: f64, nats: f64) -> f64 {
    radius / m.sqrt() * (1.0 + (2.0 * nats).sqrt())
}

/// √(2R²/m)(√2 + √nats): the same as it is printed (5.5).
pub fn centre_radius_printed(radius: f64, m: f64, nats: f64) -> f64 {
    (2.0 * radius * radius / m).sqrt() * (std::f64::consts::SQRT_2 + nats.sqrt())
}

/// 1 − δ′^{1/m}: how often a new example lies farther out than all of m, with probability 1 − δ′.
pub fn farthest(m: f64, nats: f64) -> f64 {
    -(-nats / m).exp_m1()
}

fn detector(facts: &Facts) -> Result<Novelty, NotApplicable> {
    facts.novelty.ok_or_else(|| NotApplicable::because("is for detectors of novelties"))
}

fn one_class_claim(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    let novelty = detector(facts)?;
    let norm = novelty
        .norm
        .filter(|n| *n > 0.0)
        .ok_or_else(|| NotApplicable::because("is for one_class, whose region a hyperplane bounds"))?;
    if novelty.rho <= 0.0 {
        return Err(NotApplicable::because("the plane passes through the origin"));
    }
    facts.without_copies()?;
    // all of ρ would widen the region to f ≥ 0, which is everything where κ is never negative; in units of ‖w‖, of which neither
    // margin nor shortfall may depend
    let gamma = 0.5 * novelty.rho / norm;
    Ok(Claim::new(one_class(gamma, novelty.shortfall / norm, facts.examples, nats))
        .given("margin", gamma)
        .given("shortfall", novelty.shortfall / norm)
        .declared("no point has positive probability"))
}

fn centre_claim(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    let novelty = detector(facts)?;
    let delta = novelty.centre_delta.ok_or_else(|| {
        NotApplicable::because(
            "needs the farthest example and a proven slack as threshold: the machine centre_of_mass with guarantee = true, and a kernel \
             with a length that no image exceeds (a Gaussian, or normalise(…))",
        )
    })?;
    if novelty.outliers > 0.0 {
        return Err(NotApplicable::because("needs the threshold at or above the farthest training example"));
    }
    // the slack spends the δ that the detector was fitted with; the farthest example gets what is left
    let left = (-nats).exp() - delta;
    // what rounding leaves of two equal numbers is no probability
    if left <= 1e-9 * delta {
        return Err(NotApplicable::because(format!(
            "the detector's own slack may fail with probability {delta}, which leaves nothing: fit it with a smaller delta"
        )));
    }
    Ok(Claim::new(farthest(facts.examples, -left.ln()))
        .given("slack_delta", delta)
        .checked("every training example lies within the threshold"))
}

fn nu_claim(facts: &Facts, _: f64) -> Result<Claim, NotApplicable> {
    let found =
        facts.nu.ok_or_else(|| NotApplicable::because("the machine has no ν, or no two classes or one number"))?;
    if found.outside > found.nu * facts.examples * (1.0 + 1e-9) + 1e-9 {
        return Err(NotApplicable::because(
            "more than a share ν lies outside: the fit ended early, the tube or the margin has no width, or examples weigh differently",
        ));
    }
    if found.support < found.nu * facts.examples * (1.0 - 1e-9) - 1e-9 {
        return Err(NotApplicable::because(
            "less than a share ν carries weight: the fit ended early or examples weigh differently",
        ));
    }
    Ok(Claim::new(found.nu)
        .given("outliers", found.outside / facts.examples)
        .given("support", found.support / facts.examples)
        .checked("at most a share ν of the examples lies outside, and at least ν carries weight"))
}

/// The catalogue.
pub const ENTRIES: &[BoundEntry] = &[
    BoundEntry {
        name: "novelty_centre",
        summary: "New examples farther from the centre than all training examples",
        formula: "1 − (δ − δ_s)^{1/m}, δ_s that of the slack",
        quantity: Quantity::NoveltyRate,
        guarantee: Guarantee::HighProbability,
        source: Source::corrected(
            &KMPA,
            "Prop. 5.5",
            "1/(m + 1) is the mean over samples; of one sample it holds with probability about 1 − 1/e only",
        ),
        use_when: "The centre-of-mass detector.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::BALL,
        claim: centre_claim,
    },
    BoundEntry {
        name: "one_class_margin",
        summary: "New examples outside the region of one_class, widened to half of its threshold",
        formula: "(2/m)(k + log₂(m²/2δ)), k of covering numbers with c = 103 at γ = ρ/2‖w‖ and D = Σ max(0, ρ − f)/‖w‖",
        quantity: Quantity::OutsideWiderRegion,
        guarantee: Guarantee::HighProbability,
        source: Source::new(&ONE_CLASS, "Thm. 7"),
        use_when: "For teaching: it needs millions of examples; `scenario` does not.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::REGION,
        claim: one_class_claim,
    },
    BoundEntry {
        name: "nu_property",
        summary: "What ν means on the training examples",
        formula: "outside/m ≤ ν ≤ support vectors/m, outside the margin, the tube or the region",
        quantity: Quantity::Share,
        guarantee: Guarantee::Exact,
        source: Source::new(&ONE_CLASS, "Prop. 3"),
        use_when: "To check that the solver has done its work.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::REGION,
        claim: nu_claim,
    },
];
