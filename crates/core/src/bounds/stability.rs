//! Bounds from how little a model changes when one example is left out.
//!
//! # Source
//! Herbrich (2002), §5.3, after Bousquet & Elisseeff (2002): f = argmin (1/m) Σ l + λ‖f‖² changes by at most
//! β = l²κ²/(2λm) at any place, l the Lipschitz constant of the loss and κ² = sup κ(x, x). Deviations have McDiarmid's true
//! constant, half of the book's.

use super::{BoundEntry, ChosenBy, Claim, Facts, Guarantee, NotApplicable, Quantity, Regularised, Task, example};
use crate::sources::{BOUSQUET_ELISSEEFF, HERBRICH, Source};

/// β_m = l²κ²/(2λm) (Thm. 5.31).
pub fn beta(lipschitz: f64, radius: f64, lambda: f64, m: f64) -> f64 {
    lipschitz * lipschitz * radius * radius / (2.0 * lambda * m)
}

/// R̂ + 2β + (4mβ + b) √(nats/2m) for losses in [0, b] (Thm. 5.32).
pub fn stability(mean_loss: f64, beta: f64, range: f64, m: f64, nats: f64) -> f64 {
    mean_loss + 2.0 * beta + (4.0 * m * beta + range) * (nats / (2.0 * m)).sqrt()
}

/// R_loo + β_m + (2m(β_m + β_{m−1}) + b) √(nats/2m) (Thm. 5.32).
pub fn stability_loo(loo_loss: f64, beta: f64, beta_before: f64, range: f64, m: f64, nats: f64) -> f64 {
    loo_loss + beta + (2.0 * m * (beta + beta_before) + range) * (nats / (2.0 * m)).sqrt()
}

/// R̂_τ + κ²/(λmτ) + (2κ²/(λτ) + 1) √(nats/2m): the clipped loss at τ of a machine trained with the hinge (Thm. 5.34).
pub fn classification(clipped: f64, radius: f64, lambda: f64, tau: f64, m: f64, nats: f64) -> f64 {
    let c = radius * radius / (lambda * tau);
    clipped + c / m + (2.0 * c + 1.0) * (nats / (2.0 * m)).sqrt()
}

/// Thm. 5.34 as it is printed, whose deviation is twice as large.
pub fn classification_printed(clipped: f64, radius: f64, lambda: f64, tau: f64, m: f64, nats: f64) -> f64 {
    let c = radius * radius / (lambda * tau * tau);
    clipped + c / m + (2.0 * c + 1.0) * (2.0 * nats / m).sqrt()
}

/// mean loss + κ²/(λm) + (2κ²/λ + b) √(nats/2m), b = B + κ√(B/λ) for targets in a range B (Ex. 5.33).
pub fn regression(mean_loss: f64, radius: f64, lambda: f64, range: f64, m: f64, nats: f64) -> f64 {
    let b = range + radius * (range / lambda).sqrt();
    let c = radius * radius / lambda;
    mean_loss + c / m + (2.0 * c + b) * (nats / (2.0 * m)).sqrt()
}

/// [`stability`] of the squared loss for targets within ±B: |f| ≤ κB/√λ, so no loss is above b = (B + κB/√λ)² and its slope is
/// at most 2√b (Bousquet & Elisseeff 2002).
pub fn squares(mean_loss: f64, radius: f64, lambda: f64, largest: f64, m: f64, nats: f64) -> f64 {
    let reach = largest + radius * largest / lambda.sqrt();
    stability(mean_loss, beta(2.0 * reach, radius, lambda, m), reach * reach, m, nats)
}

/// [`stability_loo`] of the squared loss, see [`squares`]. The fits without an example have the same λm, so β is the same.
pub fn squares_left_out(loo_loss: f64, radius: f64, lambda: f64, largest: f64, m: f64, nats: f64) -> f64 {
    let reach = largest + radius * largest / lambda.sqrt();
    let beta = beta(2.0 * reach, radius, lambda, m);
    stability_loo(loo_loss, beta, beta, reach * reach, m, nats)
}

/// R_loo + √((b² + 6bmβ)/(2mδ)) for losses in [0, b] (Bousquet & Elisseeff 2002, Thm. 11): the second moment of the difference and
/// Chebyshev's inequality, where [`stability_loo`] has McDiarmid's. Less where β is large and δ is not small.
pub fn hypothesis_stability(loo_loss: f64, beta: f64, range: f64, m: f64, nats: f64) -> f64 {
    loo_loss + ((range * range + 6.0 * range * m * beta) / (2.0 * m) * nats.exp()).sqrt()
}

/// The largest slope of the machine's loss at what it can predict, of classes: (1/m) Σ l + λ‖f‖² is 1 or less at its minimum, since it is at
/// most 1 at f = 0, so that |f| ≤ κ/√λ and the slope of squares is at most 2(1 + κ/√λ).
fn slope_of_classes(r: Regularised, radius: f64) -> f64 {
    r.lipschitz.unwrap_or_else(|| 2.0 * (1.0 + radius / r.lambda.sqrt()))
}

/// [`hypothesis_stability`] of the squared loss, see [`squares`].
pub fn squares_by_hypothesis(loo_loss: f64, radius: f64, lambda: f64, largest: f64, m: f64, nats: f64) -> f64 {
    let reach = largest + radius * largest / lambda.sqrt();
    hypothesis_stability(loo_loss, beta(2.0 * reach, radius, lambda, m), reach * reach, m, nats)
}

fn untold() -> NotApplicable {
    NotApplicable::because(
        "the machine has not told its errors without one example each; --thorough computes them for squared errors without an offset",
    )
}

fn minimiser(facts: &Facts) -> Result<(Regularised, f64), NotApplicable> {
    let r = facts.regularised.ok_or_else(|| NotApplicable::because(facts.no_regularised.clone()))?;
    if r.free_offset {
        let remedy = if r.spares_offset {
            "fit with bias = false".to_owned()
        } else {
            format!("{} always has one", facts.machine)
        };
        return Err(NotApplicable::because(format!(
            "the offset is not penalised, so one example may move it: {remedy}"
        )));
    }
    if !(r.lambda > 0.0 && r.lambda.is_finite()) {
        return Err(NotApplicable::because("a hard margin has λ = 0, and no stability"));
    }
    let radius = facts.kernel.radius.ok_or_else(|| {
        NotApplicable::because(
            "needs a length that no example can exceed, known before the data: declare one with --radius",
        )
    })?;
    Ok((r, radius))
}

/// Places τ at which the loss is clipped, with ln of one over their part of δ: 2^i for |i| ≤ 10, at 2^(−|i|)/3, which are less than 1 in all.
fn taus() -> impl Iterator<Item = (f64, f64)> {
    (-10..=10_i32).map(|i| (2.0_f64.powi(i), 3.0_f64.ln() + f64::from(i.abs()) * std::f64::consts::LN_2))
}

fn stability_claim(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    let (r, radius) = minimiser(facts)?;
    if facts.task != Task::Classes(2) {
        return Err(NotApplicable::because("is for two classes"));
    }
    let slope = slope_of_classes(r, radius);
    let linear = facts.linear.as_ref().ok_or_else(|| NotApplicable::because(facts.no_linear.clone()))?;
    // the theorem is about the exact minimiser f*: |f − f*| ≤ κ √(2 gap), once for the risk and once for the training loss
    let shift = 2.0 * radius * linear.from_optimum;
    let mut best = (f64::INFINITY, f64::INFINITY, 1.0);
    for (tau, part) in taus() {
        // R̂_τ, the mean of the hinge clipped at 0 and τ
        let clip = |f: &f64| (1.0 - (f - shift) / tau).clamp(0.0, 1.0);
        let clipped = linear.margins.iter().map(clip).sum::<f64>() / linear.margins.len().max(1) as f64;
        // scores move by at most κ² slope/(2λm)
        let value = classification(clipped, radius * slope.sqrt(), r.lambda, tau, facts.examples, nats + part);
        if value < best.0 {
            best = (value, clipped, tau);
        }
    }
    Ok(Claim::new(best.0)
        .given("lambda", r.lambda)
        .given("radius", radius)
        .given("clipped_loss", best.1)
        .given("tau", best.2)
        .checked("a convex loss of bounded slope with a penalty on the whole weight vector"))
}

/// β of the clipped hinge and the mean of it over the fits without one example each; they have the same λm, so β is the same.
fn left_out_classes(facts: &Facts) -> Result<(f64, f64, Regularised, f64), NotApplicable> {
    let (r, radius) = minimiser(facts)?;
    let clipped = r.left_out_clipped.ok_or_else(|| {
        NotApplicable::because(
            "needs the scores of the fits without one example each, which machines with squared errors and no offset have in closed form: ask for them with --thorough",
        )
    })?;
    let beta = radius * radius * slope_of_classes(r, radius) / (2.0 * r.lambda * facts.examples);
    Ok((clipped, beta, r, radius))
}

fn left_out_clipped_claim(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    if facts.task != Task::Classes(2) {
        return Err(NotApplicable::because("is for two classes"));
    }
    let (clipped, beta, r, radius) = left_out_classes(facts)?;
    Ok(Claim::new(stability_loo(clipped, beta, beta, 1.0, facts.examples, nats))
        .given("lambda", r.lambda)
        .given("radius", radius)
        .given("left_out_loss", clipped)
        .checked("the squared loss with a penalty on the whole weight vector"))
}

fn hypothesis_claim(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    let m = facts.examples;
    if facts.task == Task::Classes(2) {
        let (clipped, beta, r, radius) = left_out_classes(facts)?;
        return Ok(Claim::new(hypothesis_stability(clipped, beta, 1.0, m, nats))
            .of(Quantity::ZeroOneRisk)
            .given("lambda", r.lambda)
            .given("radius", radius)
            .given("left_out_loss", clipped)
            .checked("the squared loss with a penalty on the whole weight vector"));
    }
    squares_by(facts, nats, "left_out_loss", squares_by_hypothesis, |r| r.left_out.ok_or_else(untold))
}

/// The ends between which every target lies.
fn ends(r: Regularised) -> Result<[f64; 2], NotApplicable> {
    r.range.ok_or_else(|| {
        NotApplicable::because(
            "needs a range that no target can leave, known before the data: give it with --target-range LOW,HIGH",
        )
    })
}

fn squares_claim(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    squares_by(facts, nats, "mean_loss", squares, |r| Ok(r.mean_loss))
}

fn left_out_claim(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    squares_by(facts, nats, "left_out_loss", squares_left_out, |r| r.left_out.ok_or_else(untold))
}

/// A bound of the squared loss by a mean of it over the training examples.
fn squares_by(
    facts: &Facts,
    nats: f64,
    name: &'static str,
    bound: fn(f64, f64, f64, f64, f64, f64) -> f64,
    mean: fn(&Regularised) -> Result<f64, NotApplicable>,
) -> Result<Claim, NotApplicable> {
    let (r, radius) = minimiser(facts)?;
    if facts.task != Task::Numbers {
        return Err(NotApplicable::because("is for numbers"));
    }
    if r.lipschitz.is_some() {
        return Err(NotApplicable::because("is for squared losses: see stability_regression"));
    }
    let largest = ends(r)?.iter().fold(0.0, |most: f64, end| most.max(end.abs()));
    // the theorem is about the exact minimiser: see stability
    let slope = 2.0 * (largest + radius * largest / r.lambda.sqrt());
    let mean = mean(&r)?;
    let value = bound(mean + 2.0 * slope * radius * r.from_optimum, radius, r.lambda, largest, facts.examples, nats);
    Ok(Claim::new(value)
        .at_most((largest + radius * largest / r.lambda.sqrt()).powi(2))
        .given("lambda", r.lambda)
        .given("radius", radius)
        .given(name, mean)
        .checked("a squared loss with a penalty on the whole weight vector")
        .declared("every target lies in the range"))
}

fn regression_claim(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    let (r, radius) = minimiser(facts)?;
    if facts.task != Task::Numbers {
        return Err(NotApplicable::because("is for numbers"));
    }
    let slope =
        r.lipschitz.ok_or_else(|| NotApplicable::because("is for losses of bounded slope: see stability_squares"))?;
    // the zero function has no loss above the largest target
    let range = ends(r)?.iter().fold(0.0, |most: f64, end| most.max(end.abs()));
    // the theorem is about the exact minimiser: see stability
    let mean_loss = r.mean_loss + 2.0 * slope * radius * r.from_optimum;
    let value = regression(mean_loss, radius * slope, r.lambda, range, facts.examples, nats);
    Ok(Claim::new(value)
        .at_most(range + radius * (range / r.lambda).sqrt())
        .given("lambda", r.lambda)
        .given("radius", radius)
        .given("mean_loss", r.mean_loss)
        .checked("a convex Lipschitz loss with a penalty on the whole weight vector")
        .declared("every target lies in the range"))
}

/// The catalogue.
pub const ENTRIES: &[BoundEntry] = &[
    BoundEntry {
        name: "stability",
        summary: "How little one example can change a strongly regularised classifier",
        formula: "R̂_τ + κ²/(λτm) + (2κ²/(λτ) + 1) √(ln(3·2^|i|/δ)/2m), λ = 1/(2Cm), least over τ = 2^i, |i| ≤ 10",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::HighProbability,
        source: Source::corrected(
            &HERBRICH,
            "Thm. 5.34",
            "McDiarmid's constant is exp(−2ε²/Σc²), which halves the deviation; κ is the supremum of √κ(x, x)",
        ),
        use_when: "C is below 1/√m, where every example is a support vector.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::NO_OFFSET,
        claim: stability_claim,
    },
    BoundEntry {
        name: "stability_regression",
        summary: "The mean ε-insensitive loss of a strongly regularised support vector regression",
        formula: "mean ξ + κ²/(λm) + (2κ²/λ + b) √(ln(1/δ)/2m), b = B + κ√(B/λ)",
        quantity: Quantity::ExpectedLoss,
        guarantee: Guarantee::HighProbability,
        source: Source::corrected(
            &HERBRICH,
            "Ex. 5.33",
            "b bounds the loss, not the targets; McDiarmid's true constant",
        ),
        use_when: "The range of the targets is known and C is small.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::TUBE,
        claim: regression_claim,
    },
    BoundEntry {
        name: "stability_squares",
        summary: "The mean squared error of a strongly regularised regression, beyond a tube where it has one",
        formula: "mean (y − f)² + 2β + (4mβ + b) √(ln(1/δ)/2m), β = 2bκ²/(λm), b = (B + κB/√λ)²",
        quantity: Quantity::ExpectedLoss,
        guarantee: Guarantee::HighProbability,
        source: Source::new(&BOUSQUET_ELISSEEFF, "Thm. 12 and 22"),
        use_when: "The range of the targets is known and λ is a large part of the number of examples.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::SQUARES_OF_NUMBERS,
        claim: squares_claim,
    },
    BoundEntry {
        name: "stability_left_out",
        summary: "The same from the errors of the fits without one example each",
        formula: "mean (y − f₋ᵢ)² + β + (4mβ + b) √(ln(1/δ)/2m), β = 2bκ²/(λm), b = (B + κB/√λ)²",
        quantity: Quantity::ExpectedLoss,
        guarantee: Guarantee::HighProbability,
        source: Source::new(&BOUSQUET_ELISSEEFF, "Thm. 12 and 22"),
        use_when: "A ridge regression fits its examples better than new ones.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::SQUARES_OF_NUMBERS,
        claim: left_out_claim,
    },
    BoundEntry {
        name: "stability_left_out_clipped",
        summary: "How little one example can change a classifier of squared errors, from the fits without one each",
        formula: "mean (1 − y f₋ᵢ)₀¹ + β + (4mβ + 1) √(ln(1/δ)/2m), β = (1 + κ/√λ)κ²/(λm)",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::HighProbability,
        source: Source::corrected(&HERBRICH, "Thm. 5.32, Remark 5.35", "McDiarmid's true constant"),
        use_when: "A least-squares classifier without an offset, at a large λ.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::SQUARES_OF_CLASSES,
        claim: left_out_clipped_claim,
    },
    BoundEntry {
        name: "hypothesis_stability",
        summary: "The errors of the fits without one example each, and their second moment",
        formula: "R_loo + √((b² + 6bmβ)/(2mδ)), b and β of squared errors or of the clipped loss",
        quantity: Quantity::ExpectedLoss,
        guarantee: Guarantee::HighProbability,
        source: Source::new(&BOUSQUET_ELISSEEFF, "Thm. 11"),
        use_when: "Squared errors without an offset, where β is large and δ is not small.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::SQUARES_OF_NUMBERS,
        claim: hypothesis_claim,
    },
];
