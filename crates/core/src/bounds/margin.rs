//! Bounds from margins by covering numbers. True for any linear classifier; small only for very many examples.
//!
//! # Source
//! Herbrich (2002), §4.4; Zhang (2002) for the covering numbers of [`zhang_margin`].

use super::covering::{covering_bound, fat, zhang_cover};
use super::theorem::{ALWAYS, AMOUNT, DELTA, EXAMPLES, Input, Theorem};
use super::{BoundEntry, ChosenBy, Claim, Facts, Guarantee, LD, Linear, NotApplicable, Quantity, Task, example};
use crate::sources::{HERBRICH, Source, ZHANG};

/// (2/m)(⌈64θ log₂(em/8θ) log₂(32m)⌉ + log₂(2m/δ)), θ = (ς/γ)², for γ ≥ ς√(32/m) and no training errors (Thm. 4.32).
pub fn margin(m: f64, complexity: f64, nats: f64) -> f64 {
    if complexity * 32.0 > m {
        return f64::INFINITY;
    }
    fat(m, 64.0 * complexity, LD * ((2.0 * m).ln() + nats))
}

/// log₂ N ≤ 36 (ab/ε)² log₂(2⌈4ab/ε + 2⌉n + 1) with ab/ε = 2ς/γ on 2m examples, in Cor. 4.26.
pub fn zhang_margin(m: f64, complexity: f64, nats: f64) -> f64 {
    covering_bound(zhang_cover(2.0 * complexity.sqrt(), 2.0 * m), m, nats)
}

/// d(Δ) = 64 (1 + D²/Δ²)(ς² + Δ²)/γ² for a Δ fixed before the data (Lemma 4.34).
pub fn margin_distribution(m: f64, effective: f64, nats: f64) -> f64 {
    fat(m, effective, LD * ((2.0 * m).ln() + nats))
}

/// (2/m)(⌈d log₂(8em/d) log₂(32m)⌉ + log₂((16 + log₂ m) m/δ)), d = 65 (ς + 3D)²/γ² (Thm. 4.35).
pub fn robust_margin(m: f64, effective: f64, nats: f64) -> f64 {
    fat(m, effective, LD * (((16.0 + m.log2()) * m).ln() + nats))
}

fn linear(facts: &Facts) -> Result<(&Linear, f64), NotApplicable> {
    if facts.task != Task::Classes(2) {
        return Err(NotApplicable::because("is for two classes"));
    }
    let linear = facts.linear.as_ref().ok_or_else(|| NotApplicable::because(facts.no_linear.clone()))?;
    let radius = facts.kernel.radius.ok_or_else(|| {
        NotApplicable::because(
            "needs a length that no example can exceed, known before the data: use normalise(…) or a kernel with κ(x, x) = 1, or declare it with --radius",
        )
    })?;
    if linear.squared_norm <= 0.0 {
        return Err(NotApplicable::because("the model's weight vector is zero"));
    }
    Ok((linear, radius))
}

/// (ς/γ)² for the smallest margin, lowered by the solver's tolerance.
fn hard(facts: &Facts) -> Result<f64, NotApplicable> {
    let (linear, radius) = linear(facts)?;
    let least = linear.least_margin();
    if facts.errors != Some(0.0) || least <= 0.0 {
        return Err(NotApplicable::because("needs zero training errors and a margin above zero"));
    }
    Ok(radius * radius * linear.squared_norm / (least * least))
}

fn margin_claim(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    let complexity = hard(facts)?;
    Ok(Claim::new(margin(facts.examples, complexity, nats))
        .given("complexity", complexity)
        .checked("no training errors"))
}

fn zhang_claim(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    let complexity = hard(facts)?;
    let value = zhang_margin(facts.examples, complexity, nats);
    Ok(Claim::new(value).given("complexity", complexity).checked("no training errors"))
}

impl Linear {
    /// The smallest y f(x), lowered by the solver's tolerance.
    pub fn least_margin(&self) -> f64 {
        self.margins.iter().copied().fold(f64::INFINITY, f64::min) - self.slack
    }

    /// D² = Σ max(0, γ − y_i f(x_i)/‖w‖)², and the same summed for m examples.
    fn shortfall(&self, gamma: f64, m: f64) -> f64 {
        let norm = self.squared_norm.sqrt();
        let reached = gamma * norm + self.slack;
        self.mean(|f| (reached - f).max(0.0).powi(2)) * m / (norm * norm)
    }
}

/// Margins at which the bound is tried, falling: it holds for all at once.
fn margins_tried(radius: f64) -> impl Iterator<Item = f64> {
    (0..60).map(move |i| radius * 0.9_f64.powi(i))
}

fn distribution_claim(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    let (linear, radius) = linear(facts)?;
    facts.without_copies()?;
    let m = facts.examples;
    // Δ from a grid fixed before the data, each at an equal part of δ
    let count = (8.0 + 0.5 * m.log2()).floor().max(1.0);
    let nats = nats + count.ln();
    let mut best = (f64::INFINITY, f64::INFINITY);
    for gamma in margins_tried(radius) {
        // no shortfall at all would not help here, nor at smaller margins
        if margin_distribution(m, 64.0 * (radius / gamma).powi(2), nats) >= best.0 {
            break;
        }
        let squared = linear.shortfall(gamma, m);
        // (1 + D²/Δ²)(ς² + Δ²) has one valley, at Δ = √(ςD): the grid's places on both sides of it are enough
        let valley = 1.0 + (2.0 * radius * m.sqrt() / (radius * squared.sqrt()).sqrt()).log2();
        let first = valley.floor().clamp(1.0, count);
        for i in [first, (first + 1.0).min(count)] {
            let delta = 2.0 * radius * m.sqrt() * (1.0 - i).exp2();
            let effective =
                64.0 * (1.0 + squared / (delta * delta)) * (radius * radius + delta * delta) / (gamma * gamma);
            let value = margin_distribution(m, effective, nats);
            if value < best.0 {
                best = (value, effective);
            }
        }
    }
    Ok(Claim::new(best.0).given("effective_dimension", best.1).declared("no point has positive probability"))
}

fn robust_claim(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    let (linear, radius) = linear(facts)?;
    facts.without_copies()?;
    let m = facts.examples;
    let mut best = (f64::INFINITY, f64::INFINITY);
    for gamma in margins_tried(radius) {
        if 65.0 * (radius / gamma).powi(2) >= best.1 {
            break;
        }
        let effective = 65.0 * (radius + 3.0 * linear.shortfall(gamma, m).sqrt()).powi(2) / (gamma * gamma);
        // the bound does not fall while the dimension rises, so the least of one is the least of the other
        if effective < best.1 {
            best = (robust_margin(m, effective, nats), effective);
        }
    }
    Ok(Claim::new(best.0).given("effective_dimension", best.1).declared("no point has positive probability"))
}

/// d = 65 (ς‖w‖ + 3 Σ max(0, ξ_i − λ α_i κ_ii))², to be put into [`robust_margin`] (Thm. 4.37).
pub fn adaptive_margin_dimension(radius: f64, norm: f64, excess: f64) -> f64 {
    65.0 * (radius * norm + 3.0 * excess).powi(2)
}

/// The catalogue.
pub const ENTRIES: &[BoundEntry] = &[
    BoundEntry {
        name: "margin",
        summary: "The fat-shattering bound for the smallest margin",
        formula: "(2/m)(⌈64θ log₂(em/8θ) log₂(32m)⌉ + log₂(2m/δ)), θ = (ς/γ)²",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::HighProbability,
        source: Source::new(&HERBRICH, "Thm. 4.32"),
        use_when: "For teaching: it needs tens of thousands of examples even at the best margin.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::SEPARATED,
        claim: margin_claim,
    },
    BoundEntry {
        name: "margin_zhang",
        summary: "The same with sharper covering numbers of linear functions",
        formula: "(2/m)(⌈144θ log₂(4⌈8√θ + 2⌉m + 1)⌉ + log₂(m/δ))",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::HighProbability,
        source: Source::new(&ZHANG, "Thm. 4"),
        use_when: "A large margin is reached on tens of thousands of examples.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::SEPARATED,
        claim: zhang_claim,
    },
    BoundEntry {
        name: "margin_distribution",
        summary: "All margins instead of the smallest, at the best of a grid of shifts",
        formula: "fat-shattering with d = 64 (1 + D²/Δ²)(ς² + Δ²)/γ²",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::HighProbability,
        source: Source::new(&HERBRICH, "Lemma 4.34"),
        use_when: "For teaching: margins with exceptions, at more than a hundred thousand examples.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::SEPARATED,
        claim: distribution_claim,
    },
    BoundEntry {
        name: "robust_margin",
        summary: "All margins, in the form that motivates soft margins",
        formula: "fat-shattering with d = 65 (ς + 3D)²/γ²",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::HighProbability,
        source: Source::new(&HERBRICH, "Thm. 4.35"),
        use_when: "For teaching: it shows what slack costs.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::SEPARATED,
        claim: robust_claim,
    },
];

/// Theorems as functions of numbers.
pub(super) const THEOREMS: &[Theorem] = &[Theorem {
    name: "adaptive_margin",
    summary: "The robust margin bound of adaptive margin machines",
    formula: "fat-shattering with d = 65 (ς‖w‖ + 3 Σ max(0, ξ_i − λα_iκ_ii))²",
    source: Source::new(&HERBRICH, "Thm. 4.37"),
    use_when: "a machine was trained by the linear programme (2.57)",
    inputs: &[
        Input::number("radius", AMOUNT, "length ς that no example exceeds"),
        Input::number("norm", AMOUNT, "length ‖w‖ of the weight vector"),
        Input::number("excess", AMOUNT, "Σ max(0, ξ_i − λα_iκ_ii)"),
        EXAMPLES,
        DELTA,
    ],
    example: (&[("radius", "1"), ("norm", "1"), ("excess", "0"), ("examples", "1000000")], 0.059_540_841_353_351_456),
    possible: ALWAYS,
    value: |g| robust_margin(g.number(3), adaptive_margin_dimension(g.number(0), g.number(1), g.number(2)), g.nats(4)),
}];
