//! The scenario bound: k of N examples determine the model, and a new one changes it with probability at most ε(k).
//!
//! # Source
//! Garatti & Campi (2022), Thm. 1; Campi & Garatti (2021) for support vector machines; Campi & Garatti (2008) for the bound
//! before the data. For a support vector classifier, a new example that would change the model is one with y f(x) < 1; for
//! regression one outside the tube, for detectors one outside the region. No radius, margin, dimension or kernel matters.

use super::compression::{quantity, set};
use super::{BoundEntry, ChosenBy, Claim, Facts, Guarantee, NotApplicable, Quantity, Task, example};
use crate::distributions::{ln_beta_tails, ln_choose, ln_sum_exp, rising_root};
use crate::sources::{CAMPI_GARATTI, GARATTI_CAMPI, Source};

/// ln Σ_{i=k}^{N−1} C(i, k) (1 − ε)^{i−k} = ln I_ε(k + 1, N − k) − (k + 1) ln ε: the terms are those of the waiting time for
/// k + 1 events of probability ε.
fn ln_below(n: f64, k: f64, epsilon: f64) -> f64 {
    ln_beta_tails(epsilon, k + 1.0, n - k).0 - (k + 1.0) * epsilon.ln()
}

/// ln Σ_{i=N+1}^{4N} C(i, k) (1 − ε)^{i−k}, in the same way.
fn ln_above(n: f64, k: f64, epsilon: f64) -> f64 {
    if epsilon <= 0.0 {
        // Σ C(i, k) = C(4N + 1, k + 1) − C(N + 1, k + 1)
        return ln_difference(ln_choose(4.0 * n + 1.0, k + 1.0), ln_choose(n + 1.0, k + 1.0));
    }
    let late = ln_beta_tails(epsilon, k + 1.0, 4.0 * n - k + 1.0);
    let early = ln_beta_tails(epsilon, k + 1.0, n - k + 1.0);
    // of two numbers near 1 the complements are subtracted
    let ln = if early.0 < -0.7 { ln_difference(late.0, early.0) } else { ln_difference(early.1, late.1) };
    ln - (k + 1.0) * epsilon.ln()
}

/// ln(eᵃ − eᵇ) for a ≥ b.
fn ln_difference(a: f64, b: f64) -> f64 {
    if b == f64::NEG_INFINITY || a == f64::NEG_INFINITY {
        return a;
    }
    a + (-(b - a).min(0.0).exp_m1()).ln()
}

/// ε(k) = 1 − t with C(N, k) t^{N−k} = (β/N) Σ_{i=k}^{N−1} C(i, k) t^{i−k}, β = e^{−nats}; 1 for k ≥ N.
pub fn scenario(n: f64, k: f64, nats: f64) -> f64 {
    if k >= n || n < 1.0 {
        return 1.0;
    }
    let left = |epsilon: f64| ln_choose(n, k) + (n - k) * (-epsilon).ln_1p();
    // the right side over the left rises in ε: below 1 at 0, without bound at 1
    rising_root(0.0, 1.0, |epsilon| ln_below(n, k, epsilon) - nats - n.ln() - left(epsilon))
}

/// The right side over the left, in logarithms, of C(N, k) t^{N−k} = (β/2N) Σ_{i=k}^{N−1} C(i, k) t^{i−k} +
/// (β/6N) Σ_{i=N+1}^{4N} C(i, k) t^{i−k}, t = 1 − ε. Between its roots, where k/N lies, it is below 0.
fn excess(n: f64, k: f64, nats: f64) -> impl Fn(f64) -> f64 {
    let ln_left = ln_choose(n, k);
    move |epsilon| {
        let above = ln_above(n, k, epsilon) - nats - (6.0 * n).ln();
        let below =
            if k < n && epsilon > 0.0 { ln_below(n, k, epsilon) - nats - (2.0 * n).ln() } else { f64::NEG_INFINITY };
        let right = ln_sum_exp([above, below].into_iter());
        right - ln_left - if k < n { (n - k) * (-epsilon).ln_1p() } else { 0.0 }
    }
}

/// A place between the roots.
fn between(n: f64, k: f64) -> f64 {
    (k / n).min(1.0 - 1e-12)
}

/// The lower end of the probability at k of N examples: max(0, 1 − t_up) with the larger root t_up of `excess`.
pub fn scenario_lower(n: f64, k: f64, nats: f64) -> f64 {
    let k = k.min(n);
    let excess = excess(n, k, nats);
    if n < 1.0 || excess(0.0) <= 0.0 { 0.0 } else { rising_root(0.0, between(n, k), |epsilon| -excess(epsilon)) }
}

/// The upper end: 1 − t_low with the smaller root t_low of `excess`.
pub fn scenario_upper(n: f64, k: f64, nats: f64) -> f64 {
    if n < 1.0 || k >= n { 1.0 } else { rising_root(between(n, k), 1.0, excess(n, k, nats)) }
}

/// The 1 − δ quantile of Beta(n, m − n + 1) for n unknowns, before the data; exact where n examples always support.
pub fn a_priori(m: f64, unknowns: f64, nats: f64) -> f64 {
    if unknowns >= m + 1.0 || unknowns < 1.0 {
        return if unknowns < 1.0 { 0.0 } else { 1.0 };
    }
    rising_root(0.0, 1.0, |x| -nats - ln_beta_tails(x, unknowns, m - unknowns + 1.0).1)
}

fn wanted(facts: &Facts) -> Result<super::Compression, NotApplicable> {
    let set = set(facts)?;
    if !(set.stable && set.scenario) {
        return Err(NotApplicable::because(format!(
            "{} solves a problem that changes with the number of examples, so that its size says nothing about new ones",
            facts.machine
        )));
    }
    Ok(set)
}

fn told(facts: &Facts, claim: Claim, size: f64) -> Claim {
    // ½‖w‖² − Mρ + Σ max(0, ρ − f(xᵢ)) with M = ν m for a constant is a problem for any number of examples; below M of them it has
    // no minimum, and the decision of the theorem is one that every example changes
    let constant = facts.compression.is_some_and(|set| set.share_of_all);
    claim.of(quantity(facts.task)).given("compression_set", size).declared(if constant {
        "an example outside the compression set, new or old, leaves the model as it is, but for the solver's tolerance, where the number ν m is a constant of the problem: on d examples the share is ν m/d"
    } else {
        "an example outside the compression set, new or old, leaves the model as it is, but for the solver's tolerance"
    })
}

fn scenario_claim(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    let set = wanted(facts)?;
    Ok(told(facts, Claim::new(scenario(facts.examples, set.size, nats)), set.size))
}

fn margin_violation(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    let set = wanted(facts)?;
    facts.without_copies()?;
    // each end at the count that makes it safe
    let lower = scenario_lower(facts.examples, set.surely.min(set.size), nats);
    let upper = scenario_upper(facts.examples, set.size, nats);
    let claim = told(facts, Claim::new(upper).above(lower), set.size);
    let claim = if matches!(facts.task, Task::Classes(_)) { claim.of(Quantity::MarginViolation) } else { claim };
    Ok(claim.declared("no point has positive probability"))
}

fn a_priori_claim(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    let set = wanted(facts)?;
    let dimension = facts.kernel.dimension.ok_or_else(|| {
        NotApplicable::because("the kernel's feature space has no finite dimension that is known before the data")
    })?;
    // a ball has its centre and its radius for unknowns, as a plane has its weights and its offset: `dimension` counts both
    let hard = match facts.task {
        Task::Classes(2) if facts.linear.as_ref().is_some_and(|l| l.hard) => "no multiplier is at C",
        Task::Novelty if facts.novelty.is_some_and(|n| n.hard) => "ν m ≤ 1, so that no example is left outside",
        _ => {
            return Err(NotApplicable::because(
                "is for two classes and a hard margin, where no multiplier may be at C, and for regions that hold all examples: ν = 1/m",
            ));
        }
    };
    let more = facts.kernel.dimension_nats;
    let claim = told(facts, Claim::new(a_priori(facts.examples, dimension, nats + more)), set.size);
    let claim = if facts.task == Task::Novelty { claim } else { claim.of(Quantity::MarginViolation) };
    Ok(claim.in_dimension(dimension, more).checked(hard))
}

/// The catalogue.
pub const ENTRIES: &[BoundEntry] = &[
    BoundEntry {
        name: "scenario",
        summary: "The observed number of examples that determine the model",
        formula: "1 − t, C(N, k) t^{N−k} = (δ/N) Σ_{i=k}^{N−1} C(i, k) t^{i−k}",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::HighProbability,
        source: Source::new(&GARATTI_CAMPI, "Thm. 1"),
        use_when: "A sparse support vector machine and no examples to spare: by far the best of what training alone can show.",
        uses_held_out: false,
        chosen_by: ChosenBy::Everybody,
        example: example::SEPARATED,
        claim: scenario_claim,
    },
    BoundEntry {
        name: "scenario_interval",
        summary: "Both ends for the probability of a margin violation, a miss of the tube or a novelty",
        formula: "the two roots of C(N, k) t^{N−k} = (δ/2N) Σ_{i<N} … + (δ/6N) Σ_{i=N+1}^{4N} …",
        quantity: Quantity::MarginViolation,
        guarantee: Guarantee::HighProbability,
        source: Source::new(&GARATTI_CAMPI, "Thm. 2"),
        use_when: "It shall be known how many new examples lie inside the margin, not only how many at most.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::SEPARATED,
        claim: margin_violation,
    },
    BoundEntry {
        name: "scenario_a_priori",
        summary: "The dimension of the weight vector, before any example is seen",
        formula: "BetaInv(1 − δ; n, m − n + 1)",
        quantity: Quantity::MarginViolation,
        guarantee: Guarantee::HighProbability,
        source: Source::new(&CAMPI_GARATTI, "Thm. 1"),
        use_when: "A hard margin, or the smallest ball around all examples, in few dimensions; exact where every problem has as many support vectors as unknowns.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::FINITE,
        claim: a_priori_claim,
    },
];
