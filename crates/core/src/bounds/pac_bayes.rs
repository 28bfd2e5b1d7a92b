//! PAC-Bayes bounds: a prior over classifiers fixed before the data, and any distribution Q around the model.
//!
//! # Source
//! Herbrich (2002), §5.1; Langford & Shawe-Taylor (2003) for Gaussians in feature space; Maurer (2004) for ξ(m). A classifier
//! drawn from Q is Gibbs'; for Q symmetric around w, h_w errs only where at least half of Q does: R(h_w) ≤ 2 R(Gibbs).
//! Without training errors, E 1[R̂(h) = 0] (1 − R(h))^{−m} = 1 for every h, so Markov's inequality and a change of measure
//! give R(Gibbs) ≤ 1 − exp(−(KL + ln(1/δ))/m) for all Q without training error.

use super::linear::evenly;
use super::{
    BoundEntry, ChosenBy, Claim, Evidence, Facts, Guarantee, Linear, NotApplicable, Posterior, Quantity, Task, example,
};
use crate::distributions::{kl_inverse, ln_beta_tails, ln_maurer, upper_normal};
use crate::parallel;
use crate::sources::{AMBROLADZE, HERBRICH, LANGFORD_SHAWE_TAYLOR, MCALLESTER, Source};
use std::f64::consts::LN_2;

/// (ln(1/P(h)) + nats)/m, one of countably many classifiers without training error (Thm. 5.1).
pub fn single(ln_prior: f64, m: f64, nats: f64) -> f64 {
    (nats - ln_prior) / m
}

/// R̂ + √((ln(1/P(h)) + nats)/2m), with training errors (Thm. 5.6).
pub fn single_with_errors(rate: f64, ln_prior: f64, m: f64, nats: f64) -> f64 {
    rate + ((nats - ln_prior) / (2.0 * m)).sqrt()
}

/// (1/m)(−ln P(V) + 2 ln m + nats + 1): Gibbs on the version space (Thm. 5.2).
pub fn version_space(evidence: f64, m: f64, nats: f64) -> f64 {
    (evidence + 2.0 * m.ln() + nats + 1.0) / m
}

/// 1 − exp(−(KL + nats)/m): Gibbs on classifiers without training error.
pub fn realisable(divergence: f64, m: f64, nats: f64) -> f64 {
    -(-(divergence + nats) / m).exp_m1()
}

/// R̂ + √((−ln P(H) + 2 ln m + nats)/2m) + 1/m: Gibbs on a subset, with training errors (5.8).
pub fn subset(rate: f64, evidence: f64, m: f64, nats: f64) -> f64 {
    rate + ((evidence + 2.0 * m.ln() + nats) / (2.0 * m)).sqrt() + 1.0 / m
}

/// E_Q R̂ + √((KL + ln m + nats + 2)/(2m − 1)): any Q (5.9).
pub fn mcallester(rate: f64, divergence: f64, m: f64, nats: f64) -> f64 {
    rate + ((divergence + m.ln() + nats + 2.0) / (2.0 * m - 1.0)).sqrt()
}

/// max { R : kl(E_Q R̂ ‖ R) ≤ (KL + ln ξ(m) + nats)/m }.
pub fn pac_bayes_kl(rate: f64, divergence: f64, m: f64, nats: f64) -> f64 {
    kl_inverse(rate, (divergence + ln_maurer(m) + nats) / m)
}

/// −ln of the share of the sphere in d dimensions that a cap of angle arcsin Γ has: ½ I_{Γ²}((d − 1)/2, ½) is the mass of
/// the cap of half-angle arcsin Γ around w; all of its members classify the sample as w does.
pub fn ln_cap(gamma: f64, d: f64) -> f64 {
    let gamma = gamma.clamp(0.0, 1.0);
    if d <= 1.0 {
        // a line has two directions
        return -LN_2;
    }
    ln_beta_tails(gamma * gamma, (d - 1.0) / 2.0, 0.5).0 - LN_2
}

/// d ln(1/(1 − √(1 − Γ²))) + ln 2 bounds −[`ln_cap`] (C.14).
pub fn cap_bound(gamma: f64, d: f64) -> f64 {
    d * (1.0 / (1.0 - (1.0 - gamma * gamma).max(0.0).sqrt())).ln() + LN_2
}

/// (2/m)(d ln(1/(1 − √(1 − Γ²))) + 2 ln m + nats + 2), d = min(m, n) (Thm. 5.10).
pub fn margin(gamma: f64, d: f64, m: f64, nats: f64) -> f64 {
    2.0 / m * (cap_bound(gamma, d) - LN_2 + 2.0 * m.ln() + nats + 2.0)
}

/// 2 (1 − exp(−(−ln cap + nats)/m)): the exact cap without training errors.
pub fn cap(gamma: f64, d: f64, m: f64, nats: f64) -> f64 {
    2.0 * realisable(-ln_cap(gamma, d), m, nats)
}

/// The Gibbs training error (1/m) Σ Φ̄(μ Γ_i) of N(μ w/‖w‖, I).
pub fn gibbs_error(gammas: &[f64], mu: f64) -> f64 {
    // parts of one size, so that the sum does not depend on how many threads share them
    let of = |part: &[f64]| part.iter().map(|g| upper_normal(mu * g)).sum::<f64>();
    let parts: Vec<f64> =
        parallel::map(gammas.len().div_ceil(2048), |i| of(&gammas[i * 2048..gammas.len().min((i + 1) * 2048)]));
    parts.iter().sum::<f64>() / gammas.len().max(1) as f64
}

/// The least [`pac_bayes_kl`] over μ, KL = ½μ²: (bound, μ, Gibbs training error). The bound holds for all μ at once.
pub fn gaussian(gammas: &[f64], m: f64, nats: f64) -> (f64, f64, f64) {
    gaussian_from(gammas, |mu| 0.5 * mu * mu, m, nats)
}

/// The same with another prior, whose divergence depends on μ.
fn gaussian_from(gammas: &[f64], divergence: impl Fn(f64) -> f64, m: f64, nats: f64) -> (f64, f64, f64) {
    // margins by which μ is chosen; the bound itself is that of all
    let some = evenly(gammas);
    let constant = ln_maurer(m) + nats;
    let bound = |rate: f64, mu: f64| kl_inverse(rate, (divergence(mu) + constant) / m);
    let value = |mu: f64| {
        let rate = gibbs_error(&some, mu);
        (bound(rate, mu), mu, rate)
    };
    // one valley on the scale of logarithms: downhill by factors of two, then golden sections
    let (mut place, mut least) = (4, value(16.0));
    for step in [-1, 1] {
        loop {
            let next = value(2.0_f64.powi(place + step));
            if next.0 >= least.0 || !(-4..=12).contains(&(place + step)) {
                break;
            }
            (place, least) = (place + step, next);
        }
    }
    let (mut low, mut high) = (0.5 * least.1, 2.0 * least.1);
    let golden = 0.618_033_988_749_894_9;
    let (mut left, mut right) = (value(high - golden * (high - low)), value(low + golden * (high - low)));
    for _ in 0..8 {
        // one of the two inner places serves again
        if left.0 < right.0 {
            high = right.1;
            right = left;
            left = value(high - golden * (high - low));
        } else {
            low = left.1;
            left = right;
            right = value(low + golden * (high - low));
        }
    }
    let (_, mu, _) = [left, right].into_iter().fold(least, |best, found| if found.0 < best.0 { found } else { best });
    let rate = gibbs_error(gammas, mu);
    (bound(rate, mu), mu, rate)
}

/// KL of N(μ w, I) from a prior N(η w_r, I) that was learned from other examples: ½(μ² + η² − 2μη cos).
pub fn informed_divergence(mu: f64, eta: f64, cosine: f64) -> f64 {
    0.5 * (mu * mu + eta * eta - 2.0 * mu * eta * cosine)
}

/// Lengths η of the centre of an informed prior: powers of √2, chosen before the data.
const LENGTHS: std::ops::Range<i32> = -2..24;

/// The least [`pac_bayes_kl`] with a prior N(η w_r, I) over μ and the lengths η on a grid, which is paid for: (bound, μ, η).
pub fn informed(gammas: &[f64], cosine: f64, m: f64, nats: f64) -> (f64, f64, f64) {
    let nats = nats + f64::from(LENGTHS.end - LENGTHS.start).ln();
    let at = |i: i32| {
        let eta = 2.0_f64.powf(f64::from(i) / 2.0);
        let (value, mu, _) = gaussian_from(gammas, |mu| informed_divergence(mu, eta, cosine), m, nats);
        (value, mu, eta)
    };
    LENGTHS.map(at).fold((f64::INFINITY, 0.0, 0.0), |best, found| if found.0 < best.0 { found } else { best })
}

impl Facts {
    /// Chooses one posterior for all PAC-Bayes bounds of these facts at about this δ, so that its Gibbs error is summed once:
    /// they hold for every posterior.
    pub fn choose_posterior(&mut self, delta: f64) {
        let nats = self.penalty.nats(&ENTRIES[0]) - delta.ln();
        let Ok(gammas) = linear(self).map(|l| &l.gammas) else { return };
        let (_, mu, gibbs_error) = gaussian(gammas, self.examples, nats);
        if let Some(linear) = &mut self.linear {
            linear.posterior = Some(Posterior { mu, gibbs_error });
        }
    }
}

fn linear(facts: &Facts) -> Result<&Linear, NotApplicable> {
    if facts.task != Task::Classes(2) {
        return Err(NotApplicable::because("is for two classes"));
    }
    let linear = facts.linear.as_ref().ok_or_else(|| NotApplicable::because(facts.no_linear.clone()))?;
    if linear.squared_norm <= 0.0 {
        return Err(NotApplicable::because("the model's weight vector is zero"));
    }
    Ok(linear)
}

/// The smallest normalised margin, d = min(m, n), and the nats that d costs.
fn separated(facts: &Facts) -> Result<(f64, f64, f64), NotApplicable> {
    let least = linear(facts)?.least_gamma();
    if least.is_nan() || least <= 0.0 {
        return Err(NotApplicable::because(
            "needs a margin above zero: some training example is misclassified or on the plane",
        ));
    }
    let dimension = facts.kernel.dimension.unwrap_or(f64::INFINITY);
    // the number of examples is known before they are seen
    let more = if dimension < facts.examples { facts.kernel.dimension_nats } else { 0.0 };
    Ok((least, dimension.min(facts.examples), more))
}

const PRIOR: &str = "the prior, N(0, I) in feature space, is fixed before the data";

/// The posterior that was chosen, or else the best for the kl bound.
fn posterior(facts: &Facts, nats: f64) -> Result<Posterior, NotApplicable> {
    let linear = linear(facts)?;
    Ok(linear.posterior.unwrap_or_else(|| {
        let (_, mu, gibbs_error) = gaussian(&linear.gammas, facts.examples, nats);
        Posterior { mu, gibbs_error }
    }))
}

/// A claim about Gibbs' classifier by a bound of its training error and KL = ½μ².
fn gibbs_by(facts: &Facts, nats: f64, bound: fn(f64, f64, f64, f64) -> f64) -> Result<Claim, NotApplicable> {
    let Posterior { mu, gibbs_error } = posterior(facts, nats)?;
    let value = bound(gibbs_error, 0.5 * mu * mu, facts.examples, nats);
    Ok(Claim::new(value).given("mu", mu).given("gibbs_training_error", gibbs_error).checked(PRIOR))
}

fn gibbs(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    gibbs_by(facts, nats, pac_bayes_kl)
}

fn kl_vote(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    let mut claim = gibbs(facts, nats)?;
    claim.value *= 2.0;
    Ok(claim.checked("Q is symmetric around w, so its vote is the model"))
}

fn mcallester_vote(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    let mut claim = gibbs_by(facts, nats, mcallester)?;
    claim.value *= 2.0;
    Ok(claim)
}

fn informed_claim(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    linear(facts)?;
    let known = facts.informed.as_ref().ok_or_else(|| {
        NotApplicable::because(if facts.wants_prior {
            "half of the examples give no classifier that could be a prior"
        } else {
            "needs a prior that is learned from half of the examples: ask for it with --thorough"
        })
    })?;
    let (value, mu, eta) = informed(&known.gammas, known.cosine, known.examples, nats);
    Ok(Claim::new(2.0 * value)
        .given("mu", mu)
        .given("eta", eta)
        .given("cosine", known.cosine)
        .given("examples_left", known.examples)
        .checked("the prior, N(η w_r, I), rests on one half of the examples and the bound on the other")
        .declared("the seed, which divides the examples, was fixed before anybody looked at them or at a certificate")
        .checked("Q is symmetric around w, so its vote is the model"))
}

fn unlabelled_claim(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    linear(facts)?;
    if facts.unlabelled.is_empty() {
        return Err(NotApplicable::because(
            "needs a prior that is learned from unlabelled examples: give them with --unlabelled",
        ));
    }
    let nats = nats + (facts.unlabelled.len() as f64).ln();
    let each = facts.unlabelled.iter().map(|gammas| gaussian(gammas, facts.examples, nats));
    let (value, mu, error) = each.fold((f64::INFINITY, 0.0, 1.0), |best, one| if one.0 < best.0 { one } else { best });
    Ok(Claim::new(2.0 * value)
        .given("mu", mu)
        .given("gibbs_training_error", error)
        .given("priors", facts.unlabelled.len() as f64)
        .declared("the unlabelled examples were drawn by themselves, and are none of training")
        .checked("Q is symmetric around w, so its vote is the model"))
}

fn margin_claim(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    let (gamma, d, more) = separated(facts)?;
    Ok(Claim::new(margin(gamma, d, facts.examples, nats + more))
        .given("normalised_margin", gamma)
        .in_dimension(d, more)
        .checked("no training errors"))
}

fn cap_claim(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    let (gamma, d, more) = separated(facts)?;
    Ok(Claim::new(cap(gamma, d, facts.examples, nats + more))
        .given("normalised_margin", gamma)
        .in_dimension(d, more)
        .checked("no training errors"))
}

fn evidence(facts: &Facts) -> Result<(f64, Evidence), NotApplicable> {
    let found = facts.evidence.ok_or_else(|| {
        NotApplicable::because("needs the prior's mass of the version space by simulation: ask for it with --evidence")
    })?;
    Ok((found.least(), found))
}

/// Adds the numbers and conditions that the claim rests on.
fn told(claim: Claim, (nats, found): (f64, Evidence)) -> Claim {
    let claim = claim
        .given("evidence", nats)
        .given("draws", found.draws)
        .given("relative_error", found.relative_error)
        .checked(format!(
            "the prior is N(0, K) with a nugget of {:e}, so that classifiers drawn have that much noise of their own",
            found.nugget
        ));
    if !found.is_simulated() {
        return claim
            .checked("the cap of all classifiers within the margin's angle of the model, which needs no simulation");
    }
    claim
        .checked("the simulation is unbiased at each number of draws, so Markov's inequality bounds it; half of δ is spent on that")
        .declared("the number of draws was fixed before any of them was looked at")
}

fn evidence_gibbs(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    let found = evidence(facts)?;
    // the other half of δ is the simulation's
    Ok(told(Claim::new(realisable(found.0, facts.examples, nats + LN_2)), found))
}

fn evidence_bayes(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    let mut claim = evidence_gibbs(facts, nats)?;
    claim.value *= 2.0;
    Ok(claim.checked("of the Bayes vote over the version space, not of the model in hand"))
}

fn version_space_gibbs(facts: &Facts, nats: f64) -> Result<Claim, NotApplicable> {
    let found = evidence(facts)?;
    Ok(told(Claim::new(version_space(found.0, facts.examples, nats + LN_2)), found))
}

/// The catalogue.
pub const ENTRIES: &[BoundEntry] = &[
    BoundEntry {
        name: "pac_bayes_kl",
        summary: "A Gaussian around the weight vector, twice its Gibbs risk",
        formula: "2 kl⁻¹((1/m) Σ Φ̄(μΓ_i), (½μ² + ln(ξ(m)/δ))/m), least over μ",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::HighProbability,
        source: Source::new(&LANGFORD_SHAWE_TAYLOR, "Thm. 3.1"),
        use_when: "Dense classifiers with large normalised margins: small C, many support vectors.",
        uses_held_out: false,
        chosen_by: ChosenBy::Everybody,
        example: example::SEPARATED,
        claim: kl_vote,
    },
    BoundEntry {
        name: "pac_bayes_kl_gibbs",
        summary: "A classifier drawn from that Gaussian",
        formula: "kl⁻¹((1/m) Σ Φ̄(μΓ_i), (½μ² + ln(ξ(m)/δ))/m), least over μ",
        quantity: Quantity::GibbsRisk,
        guarantee: Guarantee::HighProbability,
        source: Source::new(&LANGFORD_SHAWE_TAYLOR, "Thm. 3.1"),
        use_when: "To see what the factor 2 of `pac_bayes_kl` costs.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::SEPARATED,
        claim: gibbs,
    },
    BoundEntry {
        name: "pac_bayes_mcallester",
        summary: "The same by McAllester's form",
        formula: "2 ((1/m) Σ Φ̄(μΓ_i) + √((½μ² + ln m + ln(1/δ) + 2)/(2m − 1)))",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::HighProbability,
        source: Source::new(&MCALLESTER, "Thm. 1"),
        use_when: "To compare with `pac_bayes_kl`.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::SEPARATED,
        claim: mcallester_vote,
    },
    BoundEntry {
        name: "pac_bayes_informed",
        summary: "The same with a prior around the model of one half of the examples, on the other half",
        formula: "2 kl⁻¹((1/m′) Σ Φ̄(μΓ_i), (½(μ² + η² − 2μη cos) + ln(Jξ(m′)/δ))/m′), least over μ and J lengths η",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::HighProbability,
        source: Source::new(&AMBROLADZE, "prior PAC-Bayes"),
        use_when: "Half of the examples already give nearly the same weight vector.",
        uses_held_out: false,
        chosen_by: ChosenBy::LearnedPriors,
        example: example::THOROUGH,
        claim: informed_claim,
    },
    BoundEntry {
        name: "pac_bayes_unlabelled",
        summary: "The same with a prior that knows from unlabelled examples in which directions examples lie",
        formula: "pac_bayes_kl with φ(x)ᵀSφ(x) for κ(x, x) and wᵀS⁻¹w for ‖w‖², S⁻¹ = I + (c/u) Σ φ(u_j)φ(u_j)ᵀ, c of a grid",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::HighProbability,
        source: Source::corrected(
            &HERBRICH,
            "Remark 5.13",
            "a Gaussian prior, in the bound of Langford & Shawe-Taylor (2003)",
        ),
        use_when: "Labels are dear and unlabelled examples are not, and the examples lie in few directions of the feature space.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::UNLABELLED,
        claim: unlabelled_claim,
    },
    BoundEntry {
        name: "pac_bayes_cap",
        summary: "All classifiers within the margin's angle, their share of the sphere exactly",
        formula: "2 (1 − exp(−(−ln ½I_{Γ²}((d − 1)/2, ½) + ln(1/δ))/m))",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::HighProbability,
        source: Source::corrected(&HERBRICH, "Thm. 5.10", "the exact cap, and no 2 ln m without training errors"),
        use_when: "Separable classes in few dimensions.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::SEPARATED,
        claim: cap_claim,
    },
    BoundEntry {
        name: "pac_bayes_margin",
        summary: "The same as it is printed",
        formula: "(2/m)(d ln(1/(1 − √(1 − Γ²))) + 2 ln m + ln(1/δ) + 2)",
        quantity: Quantity::ZeroOneRisk,
        guarantee: Guarantee::HighProbability,
        source: Source::new(&HERBRICH, "Thm. 5.10, (5.12)"),
        use_when: "To compare with `pac_bayes_cap`.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::SEPARATED,
        claim: margin_claim,
    },
    BoundEntry {
        name: "evidence",
        summary: "A classifier drawn from all without training error, by the prior's mass of these",
        formula: "1 − exp(−(−ln P(V) + ln(1/δ′) + ln(1/δ))/m)",
        quantity: Quantity::GibbsRisk,
        guarantee: Guarantee::HighProbability,
        source: Source::corrected(
            &HERBRICH,
            "Thm. 5.2",
            "no 2 ln m + 1 without training errors; P(V) by simulation, at a price",
        ),
        use_when: "Separable classes under a smooth kernel: a Gaussian process classifier or a Bayes point.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::SIMULATED,
        claim: evidence_gibbs,
    },
    BoundEntry {
        name: "evidence_vote",
        summary: "The Bayes vote of all classifiers without training error",
        formula: "2 (1 − exp(−(−ln P(V) + ln(1/δ′) + ln(1/δ))/m))",
        quantity: Quantity::VoteRisk,
        guarantee: Guarantee::HighProbability,
        source: Source::new(&HERBRICH, "Thm. 5.4"),
        use_when: "Separable classes under a smooth kernel, and a vote instead of a draw.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::SIMULATED,
        claim: evidence_bayes,
    },
    BoundEntry {
        name: "version_space",
        summary: "The evidence as it is printed",
        formula: "(1/m)(−ln P(V) + 2 ln m + ln(1/δ) + 1)",
        quantity: Quantity::GibbsRisk,
        guarantee: Guarantee::HighProbability,
        source: Source::new(&HERBRICH, "Thm. 5.2"),
        use_when: "To compare with `evidence`.",
        uses_held_out: false,
        chosen_by: ChosenBy::Nobody,
        example: example::SIMULATED,
        claim: version_space_gibbs,
    },
];
