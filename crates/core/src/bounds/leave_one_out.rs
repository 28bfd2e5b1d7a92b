//! Leaving out one example after the other: right on average, with no promise for the model in hand.
//!
//! # Source
//! Herbrich (2002), §2.5 (Luntz & Brailovsky; Jaakkola & Haussler); Vapnik (1998) for the number of support vectors and the
//! radius; Vapnik & Chapelle (2000) for the span; Joachims (2000) for ξα.

use super::{
    BoundEntry, ChosenBy, Claim, Dual, Facts, Guarantee, Linear, Multiplier, NotApplicable, Quantity, Task, example,
};
use crate::sources::{GOLUB, HERBRICH, JOACHIMS, LWK, SPAN, Source, VAPNIK};

fn linear(facts: &Facts) -> Result<&Linear, NotApplicable> {
    if facts.task != Task::Classes(2) {
        return Err(NotApplicable::because("is for two classes"));
    }
    facts.linear.as_ref().ok_or_else(|| NotApplicable::because(facts.no_linear.clone()))
}

fn untouched(facts: &Facts) -> Result<(), NotApplicable> {
    if facts.penalty.learned > 0.0 {
        return Err(NotApplicable::because(format!(
            "{}: leaving one out would change that too",
            facts.penalty.learned_what
        )));
    }
    Ok(())
}

fn dual(facts: &Facts) -> Result<(&Linear, &Dual), NotApplicable> {
    let linear = linear(facts)?;
    let dual = linear.dual.as_ref().filter(|d| !d.support.is_empty());
    let dual = dual.ok_or_else(|| {
        NotApplicable::because("the machine has no multipliers 0 ≤ α ≤ C of a support vector machine")
    })?;
    Ok((linear, dual))
}

/// Examples without a multiplier count where they are wrong.
pub(crate) fn wrong_without(linear: &Linear, dual: &Dual) -> usize {
    let wrong = linear.margins.iter().filter(|f| **f <= 0.0).count();
    wrong.saturating_sub(dual.support.iter().filter(|s| s.errs()).count())
}

/// Refuses where the lengths of examples in the problem are not known.
fn lengths_known(dual: &Dual) -> Result<(), NotApplicable> {
    if dual.unknown_ridge {
        return Err(NotApplicable::because(
            "squared losses with weights of classes or examples put a ridge of its own under each, which is not known here",
        ));
    }
    Ok(())
}

fn closed_form(facts: &Facts, _: f64) -> Result<Claim, NotApplicable> {
    let errors = facts.leave_one_out.errors.ok_or_else(|| {
        NotApplicable::because("the machine has no closed form for it; `mercer select --folds loo` fits it m times")
    })?;
    untouched(facts)?;
    Ok(Claim::new(errors / facts.examples).given("errors", errors))
}

fn jaakkola_haussler(facts: &Facts, _: f64) -> Result<Claim, NotApplicable> {
    let (linear, dual) = dual(facts)?;
    untouched(facts)?;
    if !linear.homogeneous {
        return Err(NotApplicable::because(
            "is not true of machines with an offset, even one of zero: fit with bias = false, or see support_vectors",
        ));
    }
    let errs = |s: &&Multiplier| s.margin - dual.slack - s.alpha * s.squared_length <= 0.0;
    let count = (dual.support.iter().filter(errs).count() + wrong_without(linear, dual)) as f64;
    Ok(Claim::new(count / linear.margins.len().max(1) as f64)
        .given("examples_counted", count)
        .checked("the machine has no offset"))
}

fn support_vectors(facts: &Facts, _: f64) -> Result<Claim, NotApplicable> {
    let set = super::compression::set(facts)?;
    untouched(facts)?;
    if !set.stable || !set.scenario || !matches!(facts.task, Task::Classes(_)) {
        return Err(NotApplicable::because(
            "is for classifiers whose problem stays the same when an example without weight is left out",
        ));
    }
    Ok(Claim::new(set.size / facts.examples).given("support_vectors", set.size))
}

fn xi_alpha(facts: &Facts, _: f64) -> Result<Claim, NotApplicable> {
    let (linear, dual) = dual(facts)?;
    untouched(facts)?;
    lengths_known(dual)?;
    // an offset that was fixed by few examples moves far without one of them: the theorem is about stable solutions, and at small C
    // with even classes every function that has not seen an example is wrong about it
    if !linear.homogeneous {
        return Err(NotApplicable::because(
            "is about solutions that hardly move without one example, and an offset may: fit with bias = false, or see support_vectors",
        ));
    }
    // ρ = 2; R_Δ² bounds κ(x, x) − κ(x, x'): the largest κ(x, x) of the examples for kernels that
    // are never negative, and twice that for others
    let range = if facts.kernel.never_negative { 1.0 } else { 2.0 } * dual.longest;
    let errs = |s: &&Multiplier| 2.0 * s.alpha * range + (1.0 - s.margin + dual.slack).max(0.0) >= 1.0;
    let count = (dual.support.iter().filter(errs).count() + wrong_without(linear, dual)) as f64;
    Ok(Claim::new(count / linear.margins.len().max(1) as f64)
        .given("examples_counted", count)
        .given("largest_difference", range))
}

fn span(facts: &Facts, _: f64) -> Result<Claim, NotApplicable> {
    let count = facts.leave_one_out.span.ok_or_else(|| {
        NotApplicable::because("needs the inverse of the support vectors' kernel matrix: ask for it with --thorough")
    })?;
    untouched(facts)?;
    Ok(Claim::new(count / facts.examples)
        .given("examples_counted", count)
        .declared("support vectors stay the same when one is left out"))
}

fn generalised(facts: &Facts, _: f64) -> Result<Claim, NotApplicable> {
    let value = facts.leave_one_out.generalised.ok_or_else(|| {
        NotApplicable::because(
            "needs the trace of the matrix from targets to predictions, which squared errors without an offset have: ask for it with --thorough",
        )
    })?;
    untouched(facts)?;
    Ok(Claim::new(value))
}

/// An error without p means α_p D² ≥ 1, and Σα = ‖w‖²: D is the radius around the origin without an offset, since the score of p
/// loses α_p κ(x_p, x_p), and with one the diameter of the examples, which their span does not exceed (Vapnik & Chapelle, Lemma 3).
fn radius_margin(facts: &Facts, _: f64) -> Result<Claim, NotApplicable> {
    let (linear, dual) = dual(facts)?;
    untouched(facts)?;
    lengths_known(dual)?;
    if !dual.hard {
        return Err(NotApplicable::because(
            "is for a hard margin that the fit has reached: it has converged, no multiplier is at C, and every margin is 1 or more",
        ));
    }
    // ‖x − x'‖² = κ(x, x) + κ(x', x') − 2κ(x, x')
    let squared = match (linear.homogeneous, facts.kernel.never_negative) {
        (true, _) => dual.longest,
        (false, true) => 2.0 * dual.longest,
        (false, false) => 4.0 * dual.longest,
    };
    let squared = facts.kernel.diameter.filter(|_| !linear.homogeneous).map_or(squared, |d| squared.min(d * d));
    Ok(Claim::new(squared * dual.squared_norm / facts.examples)
        .given(if linear.homogeneous { "radius" } else { "diameter" }, squared.sqrt())
        .given("norm", dual.squared_norm.sqrt()))
}

/// The catalogue.
pub const ENTRIES: &[BoundEntry] = &[
    BoundEntry {
        name: "leave_one_out",
        summary: "Errors of the fits without one example each, in closed form",
        formula: "(1/m) Σ 1[f_{−i}(x_i) errs]",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::Expectation,
        source: Source::new(&HERBRICH, "Thm. 2.36"),
        use_when: "Ridge and Fisher machines, where it costs one fit.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::SQUARES_OF_CLASSES,
        claim: closed_form,
    },
    BoundEntry {
        name: "jaakkola_haussler",
        summary: "Examples that would be misclassified without their own weight",
        formula: "(1/m) #{ i : y_i f(x_i) − α_i κ(x_i, x_i) ≤ 0 }",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::Expectation,
        source: Source::new(&HERBRICH, "Thm. 2.37"),
        use_when: "A support vector machine without an offset.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::NO_OFFSET,
        claim: jaakkola_haussler,
    },
    BoundEntry {
        name: "support_vectors",
        summary: "The share of support vectors",
        formula: "#SV/m",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::Expectation,
        source: Source::new(&VAPNIK, "Thm. 10.5"),
        use_when: "A sparse support vector machine, with an offset or without.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::SEPARATED,
        claim: support_vectors,
    },
    BoundEntry {
        name: "xi_alpha",
        summary: "Joachims' ξα estimate",
        formula: "(1/m) #{ i : 2α_iR_Δ² + ξ_i ≥ 1 }, κ(x_i, x_i) − κ(x_i, x_j) ≤ R_Δ²",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::Expectation,
        source: Source::new(&JOACHIMS, "Def. 1, ρ = 2"),
        use_when: "A support vector machine without an offset.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::NO_OFFSET,
        claim: xi_alpha,
    },
    BoundEntry {
        name: "span",
        summary: "The span of support vectors: what f(x_p) loses without x_p while the others stay support vectors",
        formula: "(1/m) #{ p : α_p S_p² ≥ y_p f(x_p) }",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::Score,
        source: Source::new(&SPAN, "Thm. 3"),
        use_when: "Models are to be compared closely without fitting them again.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::THOROUGH,
        claim: span,
    },
    BoundEntry {
        name: "gcv",
        summary: "Generalised cross-validation: squared errors of the fits without one example, all of the same leverage",
        formula: "(1/m) Σ (y − f)²/(1 − tr H/m)², f = Hy",
        quantity: Quantity::ExpectedLoss,
        guarantee: Guarantee::Score,
        source: Source::new(&GOLUB, "(1.4)"),
        use_when: "Ridge regressions and least-squares classifiers without an offset are to be compared.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::TRACE,
        claim: generalised,
    },
    BoundEntry {
        name: "radius_margin",
        summary: "The radius over the margin of a hard margin machine",
        formula: "D²‖w‖²/m, D the largest √κ(x_i, x_i) without an offset, else the diameter of the examples",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::Expectation,
        source: Source::new(&LWK, "§12.1"),
        use_when: "A hard margin.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::SEPARATED,
        claim: radius_margin,
    },
];
