//! Facts that take m² to m³ operations, and the simulation of the version space's mass; asked for explicitly.

use super::Options;
use crate::bounds::{Evidence, Facts, GIVEN_MATRIX, Task};
use crate::data::{DataError, Dataset};
use crate::distributions::ln_orthant;
use crate::error::Error;
use crate::gram::{Gram, apply, fill};
use crate::linalg::Cholesky;
use crate::linalg::SolveError;
use crate::machines::Coefficients;
use crate::model::Model;
use crate::watch::{Monitor, Phase, Progress, Stop};
use std::f64::consts::LN_2;

/// Number of draws of random signs.
const SIGN_DRAWS: usize = 1000;
/// Largest number of examples whose eigenvalues and orthants are computed.
const MAX_EXAMPLES_FOR_EIGENVALUES: usize = 5000;

fn stopped(reason: Stop) -> Error {
    SolveError::Stopped { reason }.into()
}

pub(super) fn add(
    facts: &mut Facts,
    model: &Model,
    training: &Dataset,
    options: &Options<'_>,
    watch: &dyn Monitor,
) -> Result<(), Error> {
    let gram = model.kernel.training_gram(training)?;
    if facts.assumes.contains(&GIVEN_MATRIX) && training.len() <= MAX_EXAMPLES_FOR_EIGENVALUES {
        facts.assumes.retain(|what| *what != GIVEN_MATRIX);
        if !semi_definite(gram.as_ref()) {
            let reason = "the given matrix is not positive semi-definite; mercer gram --repair mends it".to_owned();
            (facts.linear, facts.no_linear) = (None, reason.clone());
            (facts.compression, facts.no_compression) = (None, reason);
            facts.regularised = None;
        }
    }
    let with_offset = facts.linear.as_ref().is_some_and(|l| l.offset != 0.0);
    if facts.linear.is_some() {
        facts.kernel.random_signs = Some(random_signs(gram.as_ref(), facts, with_offset, options, watch)?);
    }
    facts.leave_one_out.span = span(model, facts);
    Ok(())
}

/// True if a matrix has no eigenvalue below zero but for rounding: then a trace of it on the diagonal makes a factor possible.
fn semi_definite(gram: &dyn Gram) -> bool {
    let n = gram.shape().0;
    let mut values = vec![0.0; n * n];
    fill(gram, &mut values);
    let top = (0..n).map(|i| values[i * n + i]).fold(0.0, f64::max);
    (0..n).for_each(|i| values[i * n + i] += 1e-10 * top * n as f64);
    Cholesky::factor(values, n).is_ok()
}

/// E_σ √(σᵀKσ) from draws, and what their mean may be too small by: a sign changes the root by at most 2√κ(x, x), so the mean
/// of T draws exceeds its expectation less √(2 tr K ln(2/δ)/T) with probability 1 − δ/2.
fn random_signs(
    gram: &dyn Gram,
    facts: &Facts,
    with_offset: bool,
    options: &Options<'_>,
    watch: &dyn Monitor,
) -> Result<f64, Error> {
    let n = gram.shape().0;
    let mut random = options.seed.stream("random signs");
    let mut sum = 0.0;
    let at_once = 100;
    for round in 0..SIGN_DRAWS / at_once {
        watch
            .alive(Progress::new(Phase::new("random signs"), round).of(SIGN_DRAWS / at_once))
            .map_err(SolveError::from)?;
        let signs: Vec<f64> = (0..n * at_once).map(|_| if random.uniform() < 0.5 { -1.0 } else { 1.0 }).collect();
        let mut product = vec![0.0; n * at_once];
        apply(gram, &signs, at_once, &mut product);
        for t in 0..at_once {
            let squared: f64 = (0..n).map(|i| signs[i * at_once + t] * product[i * at_once + t]).sum();
            let total: f64 = if with_offset { (0..n).map(|i| signs[i * at_once + t]).sum() } else { 0.0 };
            sum += (squared + total * total).max(0.0).sqrt();
        }
    }
    let doubt =
        (2.0 * facts.kernel.trace * (LN_2 - options.delta.ln() + facts.penalty.learned) / SIGN_DRAWS as f64).sqrt();
    Ok(sum / SIGN_DRAWS as f64 + doubt)
}

/// Support vectors with α_p S_p² ≥ y_p f(x_p): S_p² = 1/[K̃⁻¹]_pp among those strictly between the bounds (K̃ bordered by ones
/// where there is an offset), the distance from their span for those at C.
fn span(model: &Model, facts: &Facts) -> Option<f64> {
    let linear =
        facts.linear.as_ref().filter(|l| !l.support.is_empty() && l.support.len() <= MAX_EXAMPLES_FOR_EIGENVALUES)?;
    let c = model.remade().ok()??.traits().theory.multipliers?;
    if !matches!(model.fitted.expansion.coefficients, Coefficients::Dual { .. } | Coefficients::Pairwise { .. }) {
        return None;
    }
    let points = model.fitted.expansion.points();
    let free: Vec<usize> = (0..linear.support.len()).filter(|&p| linear.support[p].alpha < c * (1.0 - 1e-9)).collect();
    let gram = model.kernel.gram(&model.examples).ok()?;
    let picked: Vec<usize> = free.iter().map(|&p| points[p]).collect();
    let v = free.len();
    if v == 0 {
        return None;
    }
    // rows: all support vectors; columns: the free ones
    let cross = gram.restrict(points, &picked);
    let mut values = vec![0.0; points.len() * v];
    fill(cross.as_ref(), &mut values);
    let scale = (0..v).map(|i| values[free[i] * v + i]).fold(0.0, f64::max);
    let ridge = |i: usize, j: usize| if i == j { 1e-10 * scale } else { 0.0 };
    let inner = (0..v * v).map(|p| values[free[p / v] * v + p % v] + ridge(p / v, p % v)).collect();
    let factor = Cholesky::factor(inner, v).ok()?;
    // K̃⁻¹ = K⁻¹ − uuᵀ/s beside the border, u = K⁻¹1 and s = 1ᵀu
    let mut u = vec![1.0; v];
    factor.solve(&mut u, 1);
    let s: f64 = u.iter().sum();
    let bordered = linear.offset != 0.0;
    let diagonal = factor.inverse_diagonal();
    let norms = factor.inverse_norms(&values);
    let mut count = 0;
    for (p, multiplier) in linear.support.iter().enumerate() {
        let squared = match free.binary_search(&p) {
            Ok(i) => 1.0 / (diagonal[i] - if bordered { u[i] * u[i] / s } else { 0.0 }),
            Err(_) => {
                let along: f64 = values[p * v..(p + 1) * v].iter().zip(&u).map(|(k, u)| k * u).sum();
                let off = if bordered { (1.0 - along).powi(2) / s } else { 0.0 };
                multiplier.squared_length - norms[p] + off
            }
        };
        count += usize::from(multiplier.alpha * squared >= multiplier.margin - linear.slack);
    }
    // examples without weight count where they are wrong
    let wrong = linear.margins.iter().filter(|f| **f <= 0.0).count();
    let wrong_with = linear.support.iter().filter(|s| s.margin <= 0.0).count();
    Some((count + wrong.saturating_sub(wrong_with)) as f64)
}

/// −ln P(all y_i f(x_i) > 0) for f ~ N(0, K), by simulation.
pub(super) fn evidence(
    facts: &mut Facts,
    model: &Model,
    training: &Dataset,
    signs: &[f64],
    options: &Options<'_>,
    watch: &dyn Monitor,
) -> Result<(), Error> {
    let n = training.len();
    if facts.task != Task::Classes(2) || signs.len() != n {
        return Err(DataError::Usage { finding: "the evidence is for two classes".to_owned() }.into());
    }
    if n > MAX_EXAMPLES_FOR_EIGENVALUES {
        let finding = format!(
            "the evidence of {n} examples takes n² operations a draw and n³ before; at most {MAX_EXAMPLES_FOR_EIGENVALUES} are taken"
        );
        return Err(DataError::Usage { finding }.into());
    }
    let gram = model.kernel.training_gram(training)?;
    let with_offset = facts.linear.as_ref().is_some_and(|l| l.offset != 0.0);
    let mut k = vec![0.0; n * n];
    fill(gram.as_ref(), &mut k);
    let top = (0..n).map(|i| k[i * n + i]).fold(0.0, f64::max);
    for i in 0..n {
        for j in 0..n {
            k[i * n + j] = signs[i] * signs[j] * (k[i * n + j] + if with_offset { 1.0 } else { 0.0 });
        }
        // a nugget in the prior: the classifiers drawn have that much noise
        k[i * n + i] += 1e-8 * top.max(1e-300);
    }
    let factor = Cholesky::factor(k, n).map_err(|_| DataError::Usage {
        finding: "the kernel matrix has no Cholesky factor even with a nugget of 1e-8; use a kernel that is positive definite"
            .to_owned(),
    })?;
    let mut stop = None;
    let found = ln_orthant(&factor.factor_rows(), n, options.evidence, options.seed, |done| {
        match watch.alive(Progress::new(Phase::new("evidence"), done).of(options.evidence)) {
            Ok(()) => true,
            Err(reason) => {
                stop = Some(reason);
                false
            }
        }
    });
    match found {
        Some(found) => {
            // half of δ for the simulation: with probability 1 − δ/2 the mass is at least δ/2 of the estimate
            facts.evidence = Some(Evidence { nats: -found.ln_probability, confidence: LN_2 - options.delta.ln() });
            Ok(())
        }
        None => Err(stopped(stop.unwrap_or(Stop::Interrupted))),
    }
}
