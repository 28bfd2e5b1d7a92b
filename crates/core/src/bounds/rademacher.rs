//! Bounds from how well the class could fit random signs: E_σ sup_{‖w‖≤B} (2/m) Σ σ_i f(x_i) ≤ (2B/m) √(tr K).
//!
//! # Source
//! Shawe-Taylor & Cristianini (2004), Thm. 4.9 and 4.17; Bartlett & Mendelson (2002). The norm of the fit is not known before
//! the data: norms 2^{j/2} get δ/(j(j + 1)) each.

use super::theorem::{ALWAYS, AMOUNT, EXAMPLES, Input, Theorem};
use super::{BoundEntry, ChosenBy, Claim, Facts, Guarantee, NotApplicable, Quantity, Task, example};
use crate::params::Rule;
use crate::sources::{BARTLETT, CORTES, KMPA, MENDELSON, Source};
use std::f64::consts::LN_2;

/// mean slack + (c B/m) √(tr K) + 3 √(ln(2/δ)/2m): slacks ξ/γ at the margin γ = 1/B; c = 4 as printed, 2 with the
/// contraction of a clipped loss by its Lipschitz constant.
pub fn rademacher(mean_slack: f64, norm: f64, signs: f64, constant: f64, m: f64, nats: f64) -> f64 {
    mean_slack + constant * norm * signs / m + 3.0 * ((nats + LN_2) / (2.0 * m)).sqrt()
}

/// √((2/m) Σ_j min(r, λ_j/m)): the local complexity at radius r from the eigenvalues of the matrix.
pub fn local(eigenvalues: &[f64], r: f64, m: f64) -> f64 {
    (2.0 / m * eigenvalues.iter().map(|l| r.min(l.max(0.0) / m)).sum::<f64>()).sqrt()
}

/// 2 √(η₀ e ⌈ln p⌉ Λ²R²/(ρ²m)), η₀ = 23/22: the complexity of combinations of p kernels, each with κ(x, x) ≤ R².
pub fn many_kernels(kernels: f64, norm: f64, radius: f64, margin: f64, m: f64) -> f64 {
    2.0 * (23.0 / 22.0 * std::f64::consts::E * kernels.ln().ceil() * (norm * radius / margin).powi(2) / m).sqrt()
}

/// The least grid norm B = 2^{j/2} at or above the norm, with the nats of δ/(j(j + 1)); norms below 1 take j = 1... and are
/// counted from 2^{−20}.
fn grid(norm: f64) -> (f64, f64) {
    let j = (2.0 * norm.max(f64::MIN_POSITIVE).log2()).ceil().max(-40.0);
    let place = j + 41.0;
    (2.0_f64.powf(j / 2.0), (place * (place + 1.0)).ln())
}

fn claim(facts: &Facts, nats: f64, constant: f64, simulated: bool) -> Result<Claim, NotApplicable> {
    if facts.task != Task::Classes(2) {
        return Err(NotApplicable::because("is for two classes"));
    }
    let linear = facts.linear.as_ref().ok_or_else(|| NotApplicable::because(facts.no_linear.clone()))?;
    let m = facts.examples;
    let signs = if simulated {
        facts.kernel.random_signs.ok_or_else(|| {
            NotApplicable::because(
                "needs random signs on the kernel matrix, m² operations each: ask for it with --thorough",
            )
        })?
    } else {
        facts.kernel.trace.max(0.0).sqrt()
    };
    // the margin may be any 1/B of the grid: slack at margin ρ of the scaled classifier is 1 − y f/ρ with ‖w‖/ρ = B
    let norm = linear.squared_norm.max(0.0).sqrt();
    let mut best = (f64::INFINITY, 0.0, 0.0);
    for factor in -12..=12 {
        let (b, extra) = grid(norm * 2.0_f64.powf(f64::from(factor) / 2.0));
        // no slack at all would not help here, nor at larger norms
        if rademacher(0.0, b, signs, constant, m, nats) >= best.0 {
            break;
        }
        let stretch = if norm > 0.0 { b / norm } else { 1.0 };
        let slack = linear.mean(|f| (1.0 - stretch * (f - linear.slack)).clamp(0.0, 1.0));
        let value = rademacher(slack, b, signs, constant, m, nats + extra);
        if value < best.0 {
            best = (value, b, slack);
        }
    }
    Ok(Claim::new(best.0)
        .given("norm", norm)
        .given("grid_norm", best.1)
        .given("mean_slack", best.2)
        .checked("the norm is taken from a grid fixed before the data, which is paid for"))
}

fn printed(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    claim(facts, nats, 4.0, false)
}

fn contraction(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    claim(facts, nats, 2.0, false)
}

fn signs(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    // half of δ for the simulation's error
    let claim = claim(facts, nats + LN_2, 2.0, true)?;
    Ok(claim.declared("the seed, which draws the signs, was fixed before anybody looked at a certificate"))
}

/// The catalogue.
pub const ENTRIES: &[BoundEntry] = &[
    BoundEntry {
        name: "rademacher",
        summary: "How well classifiers of this norm could fit random signs",
        formula: "mean ξ + (4B/m) √(tr K) + 3 √(ln(2/δ)/2m)",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::HighProbability,
        source: Source::corrected(&KMPA, "Thm. 4.17", "the norm comes from a grid 2^(j/2) at δ/(j(j + 1))"),
        use_when: "To compare with `rademacher_contraction`.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::SEPARATED,
        claim: printed,
    },
    BoundEntry {
        name: "rademacher_contraction",
        summary: "The same with the sharper contraction",
        formula: "mean ξ + (2B/m) √(tr K) + 3 √(ln(2/δ)/2m)",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::HighProbability,
        source: Source::new(&BARTLETT, "Thm. 7 and 21"),
        use_when: "Short weight vectors: large margins or a small C.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::SEPARATED,
        claim: contraction,
    },
    BoundEntry {
        name: "rademacher_signs",
        summary: "The same with random signs that were drawn instead of the trace",
        formula: "mean ξ + (2B/m) E_σ √(σᵀKσ) + 3 √(ln(4/δ)/2m)",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::HighProbability,
        source: Source::new(&BARTLETT, "Thm. 11"),
        use_when: "The spectrum falls fast; it gains at most a factor √2.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::THOROUGH,
        claim: signs,
    },
];

/// A matrix between m examples has m eigenvalues.
fn one_for_each(eigenvalues: usize, m: f64) -> Result<(), String> {
    if eigenvalues as f64 <= m {
        return Ok(());
    }
    Err(format!(
        "eigenvalues has {eigenvalues} numbers, and the kernel matrix between {m} examples has {m} of them; give those of the matrix, or the number of its examples"
    ))
}

/// Theorems as functions of numbers.
pub(super) const THEOREMS: &[Theorem] = &[
    Theorem {
        name: "local_rademacher",
        summary: "The complexity of the functions of a kernel's unit ball whose variance is small",
        formula: "√((2/m) Σ_j min(r, λ_j(K)/m))",
        source: Source::new(&MENDELSON, "Thm. 2.1"),
        use_when: "the eigenvalues of the kernel matrix fall fast",
        inputs: &[
            Input::list("eigenvalues", Rule::Any, "eigenvalues of the kernel matrix; those below 0 count as 0"),
            Input::number("radius", AMOUNT, "largest variance r"),
            EXAMPLES,
        ],
        // (2/4)(0.5 + 0.25 + 0.05)
        example: (&[("eigenvalues", "4,1,0.2"), ("radius", "0.5"), ("examples", "4")], 0.632_455_532_033_675_9),
        possible: |g| one_for_each(g.list(0).len(), g.number(2)),
        value: |g| local(g.list(0), g.number(1), g.number(2)),
    },
    Theorem {
        name: "many_kernels",
        summary: "The complexity of a learned sum of kernels",
        formula: "2 √(η₀ e ⌈ln p⌉ Λ²R²/(ρ²m)), η₀ = 23/22",
        source: Source::new(&CORTES, "Thm. 2"),
        use_when: "a kernel is learned as a sum of p given ones, with weights that add to 1",
        inputs: &[
            Input::count("kernels", 2.0, "number p of kernels"),
            Input::number("norm", AMOUNT, "largest length Λ of the weight vector"),
            Input::number("radius", AMOUNT, "length R that no example exceeds in any kernel"),
            Input::number("margin", Rule::Above(0.0), "margin ρ"),
            EXAMPLES,
        ],
        example: (
            &[("kernels", "10"), ("norm", "1"), ("radius", "1"), ("margin", "1"), ("examples", "1000")],
            0.184_667_487_990_355_3,
        ),
        possible: ALWAYS,
        value: |g| many_kernels(g.number(0), g.number(1), g.number(2), g.number(3), g.number(4)),
    },
];
