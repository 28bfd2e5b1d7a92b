//! A classifier of two classes as a linear one in feature space: its margins, its length, and the problem it has solved.

use super::facts::weighted;
use super::seen::Seen;
use crate::bounds::{DECLARED_RADIUS, Dual, Facts, KernelFacts, Linear, Multiplier, Task};
use crate::data::{DataError, Dataset, Values};
use crate::error::Error;
use crate::gram::{Side, diagonal};
use crate::kernels::Definite;
use crate::machines::Fact;
use crate::machines::{Coefficients, Multipliers, Theory};
use crate::model::Model;
use crate::watch::Status;

/// The offset of a classifier of two classes.
pub(super) fn offset(model: &Model, seen: &Seen) -> f64 {
    match (model.fitted.expansion.offsets.as_slice(), seen.outputs) {
        ([b], 1) => *b,
        ([a, b], 2) => 0.5 * (a - b),
        _ => 0.0,
    }
}

/// Takes a radius that the caller declares, where the formula gives none that is smaller.
pub(super) fn declare(
    radius: f64,
    facts: &mut Facts,
    model: &Model,
    training: &Dataset,
    theory: &Theory,
) -> Result<(), Error> {
    let usage = |finding: String| Error::from(DataError::Usage { finding });
    if !(radius > 0.0 && radius.is_finite()) {
        return Err(usage(format!("radius = {radius} must be a number above 0")));
    }
    if model.kernel.definite() != Definite::Positive {
        return Ok(());
    }
    let lengths = lengths(model, training).map_err(&usage)?;
    let longest = lengths.iter().copied().fold(0.0, f64::max).sqrt();
    if longest > radius * (1.0 + 1e-9) {
        return Err(usage(format!(
            "radius = {radius}: a training example has length {longest}, so that is no length which none exceeds; give one that was known before the data"
        )));
    }
    let declared = (radius * radius + constant(theory)).sqrt();
    if facts.kernel.radius.is_none_or(|known| declared < known) {
        facts.kernel.radius = Some(declared);
        facts.assumes.push(DECLARED_RADIUS);
    }
    Ok(())
}

/// The number that an offset adds to κ: the 1 of a constant feature, whatever value the offset has found.
fn constant(theory: &Theory) -> f64 {
    if theory.homogeneous { 0.0 } else { 1.0 }
}

/// Facts that follow from the formula alone; the trace is added with the lengths of the examples.
pub(super) fn kernel_facts(model: &Model, training: &Dataset, theory: &Theory) -> KernelFacts {
    let free = constant(theory);
    let dimension = model.kernel.dimension(training).map(|d| d + free);
    KernelFacts {
        radius: model.kernel.radius().map(|r| (r * r + free).sqrt()),
        diameter: None,
        ball: None,
        dimension,
        dimension_nats: dimension.map_or(0.0, |_| width_nats(model, training)),
        trace: 0.0,
        // the rank of a matrix is at most the dimension
        rank: dimension.filter(|d| *d < training.len() as f64),
        rank_by_pivots: false,
        random_signs: None,
        never_negative: model.kernel.never_negative(),
    }
}

/// ln d + ln(d + 1) for each view of sparse vectors that the kernel looks at: files of them do not say of how many coordinates they are, so that d
/// is the largest index among the examples.
fn width_nats(model: &Model, training: &Dataset) -> f64 {
    let wanted = model.kernel.views();
    let looked_at = |name: &str| wanted.iter().any(|(view, _)| view.is_none_or(|view| view == name));
    let sparse = training
        .views()
        .iter()
        .filter(|view| looked_at(&view.name) && matches!(view.values, Values::Sparse(_) | Values::Sparse32(_)));
    sparse.filter_map(|view| view.values.width()).map(|d| (d.max(1) as f64).ln() + (d as f64 + 1.0).ln()).sum()
}

/// The coefficients of a classifier of two classes on the model's examples, in the orientation of the score.
pub(super) fn dual(model: &Model) -> Option<(&[usize], Vec<f64>)> {
    match &model.fitted.expansion.coefficients {
        Coefficients::Dual { points, alpha } if alpha.len() == points.len() => Some((points, alpha.clone())),
        Coefficients::Dual { points, alpha } if alpha.len() == 2 * points.len() => {
            Some((points, alpha.chunks_exact(2).map(|a| 0.5 * (a[0] - a[1])).collect()))
        }
        Coefficients::Pairwise { points, alpha, count: 2, .. } => Some((points, alpha.clone())),
        _ => None,
    }
}

/// tr K, with the 1 for an offset, and the weight vector.
pub(super) fn linear(model: &Model, training: &Dataset, seen: &Seen, theory: &Theory) -> Result<(f64, Linear), String> {
    let Some(decision) = seen.decision() else {
        return Err(match seen.task {
            Task::Classes(_) => "is for two classes".to_owned(),
            _ => "is for classifiers".to_owned(),
        });
    };
    if model.kernel.definite() != Definite::Positive {
        return Err("the kernel is not positive definite, so there is no weight vector".to_owned());
    }
    let b = offset(model, seen);
    let plus = constant(theory);
    let lengths = lengths(model, training)?;
    let mut dual_problem = None;
    let squared = match (&model.fitted.expansion.coefficients, dual(model)) {
        (_, Some((points, c))) => {
            let (values, own) = at_points(model, seen, &decision, &lengths, points)?;
            let squared = c.iter().zip(&values).map(|(c, f)| c * (f - b)).sum::<f64>();
            if let Some(multipliers) = theory.multipliers {
                let multipliers =
                    Multipliers { by_class: multipliers.by_class || weighted(model, training), ..multipliers };
                dual_problem = Some(problem(model, &multipliers, points, &c, &values, (&own, &lengths))?);
                if let Some(dual) = &mut dual_problem {
                    dual.squared_norm += squared.max(0.0);
                }
            }
            squared
        }
        (Coefficients::Primal { weights, scale, .. }, None) => {
            // f = ⟨scale · w, x⟩ and κ = c ⟨x, x'⟩, whose features are √c x
            let some = training.select(&[0]);
            let factor = model.kernel.features(&some).map_or(0.0, |(_, factor)| factor);
            if factor <= 0.0 {
                return Err("the kernel has no explicit features whose weights these are".to_owned());
            }
            let one = seen.outputs == 1;
            let difference = |w: &[f64]| scale * if one { w[0] } else { 0.5 * (w[0] - w[1]) };
            weights.chunks_exact(seen.outputs).map(|w| difference(w).powi(2)).sum::<f64>() / factor
        }
        _ => return Err(format!("{} is not a linear classifier in feature space", model.machine)),
    };
    let margins: Vec<f64> = decision.iter().zip(&seen.signs).map(|(f, y)| y * f).collect();
    let squared_norm = squared.max(0.0) + b * b;
    // |f(x)| ≤ ‖w‖ ‖x‖ (Cauchy and Schwarz); where it fails, w is not the weight vector of these scores
    let fits = |(f, k): (&f64, &f64)| f * f <= squared_norm * (k + plus) * (1.0 + 1e-6) + 1e-9;
    if !margins.iter().zip(&lengths).all(fits) {
        return Err("scores do not fit the length of the weight vector".to_owned());
    }
    let lengths: Vec<f64> = lengths.iter().map(|k| k + plus).collect();
    let slack = model.fitted.report.violation.unwrap_or(0.0).clamp(0.0, 0.1).min(1e-3);
    let at_no_bound = theory.multipliers.is_some() && model.fitted.report.fact(Fact::BoundedMultipliers) == Some(0.0);
    let squared_losses = theory.multipliers.is_some_and(|m| m.ridge > 0.0);
    if let Some(dual) = &mut dual_problem {
        // a fit that ended early may be far from the margin that no multiplier at C would mean
        let reached = squared_losses || model.kernel.tells_places() || margins.iter().all(|m| *m >= 0.9);
        let converged = model.fitted.report.status == Status::Converged;
        dual.hard = (theory.hard || at_no_bound || squared_losses) && converged && reached;
    }
    let linear = Linear {
        offset: b,
        homogeneous: theory.homogeneous,
        dual: dual_problem,
        from_optimum: from_optimum(model, theory),
        // over noise or a ridge the margin of predictions is not hard
        hard: (theory.hard || (at_no_bound && !squared_losses)) && !model.kernel.tells_places(),
        ..Linear::new(margins, &lengths, squared_norm, slack)
    };
    Ok((lengths.iter().sum(), linear))
}

/// The problem that a support vector machine has solved: y f(x) and κ(x, x) with what belongs to the examples alone, which makes
/// the first larger by α times as much. ‖w‖² is what this adds.
fn problem(
    model: &Model,
    multipliers: &Multipliers,
    points: &[usize],
    c: &[f64],
    values: &[f64],
    (own_lengths, lengths): (&[f64], &[f64]),
) -> Result<Dual, String> {
    let alone = if model.kernel.tells_places() {
        alone(model, &model.examples).ok_or("κ(x, x) of the examples is not known")?
    } else {
        vec![0.0; model.examples.len()]
    };
    let slack = model.fitted.report.violation.unwrap_or(1e-3).clamp(0.0, 0.1);
    let (mut support, mut added) = (Vec::with_capacity(c.len()), 0.0);
    for p in 0..c.len() {
        let (alpha, own) = (c[p].abs(), alone[points[p]] + multipliers.ridge);
        let margin = c[p].signum() * values[p] + alpha * own;
        added += alpha * alpha * own;
        // where classes have their own C, a margin that is missed tells
        let bounded = if multipliers.by_class { margin < 1.0 - slack } else { alpha >= multipliers.c * (1.0 - 1e-9) };
        let squared_length = own_lengths[p] + own;
        support.push(Multiplier { margin, alpha, squared_length, own, bounded });
    }
    // the largest that belongs to an example alone, of those with and without a multiplier: noise is the same for all
    let most = alone.iter().copied().fold(0.0, f64::max) + multipliers.ridge;
    Ok(Dual {
        support,
        squared_norm: added,
        longest: lengths.iter().copied().fold(0.0, f64::max) + most,
        ridge: multipliers.ridge,
        slack,
        hard: false,
        unknown_ridge: multipliers.by_class && multipliers.ridge > 0.0,
    })
}

/// κ(x, x) where both are the same example less that where they are equal ones: what `noise` adds.
fn alone(model: &Model, data: &Dataset) -> Option<Vec<f64>> {
    let same = model.kernel.training_gram(data).ok()?;
    let equal = model.kernel.cross(data, data).ok()?;
    let (same, equal) = (diagonal(same.as_ref()), diagonal(equal.as_ref()));
    Some(same.iter().zip(&equal).map(|(s, e)| (s - e).max(0.0)).collect())
}

/// κ(x, x) of examples.
fn lengths(model: &Model, data: &Dataset) -> Result<Vec<f64>, String> {
    if model.kernel.tells_places() {
        // of a prediction, which has no part in what belongs to a training example alone
        return model.kernel.cross(data, data).map(|g| diagonal(g.as_ref())).map_err(|e| e.to_string());
    }
    // a constant κ(x, x) follows from the formula, without a look at the examples
    if let Some(same) = model.kernel.self_similarity() {
        return Ok(vec![same; data.len()]);
    }
    let found = model.kernel.gram(data).ok().and_then(|g| g.self_similarities(Side::Rows));
    found.filter(|l| l.len() == data.len()).ok_or_else(|| "κ(x, x) of the examples is not known".to_owned())
}

/// f and κ(x, x) of the points that carry weight: from the training examples where their places are known, else computed.
fn at_points(
    model: &Model,
    seen: &Seen,
    decision: &[f64],
    lengths: &[f64],
    points: &[usize],
) -> Result<(Vec<f64>, Vec<f64>), String> {
    let placed = model.places.len() == model.examples.len() && model.places.iter().all(|&p| p < decision.len());
    if placed && !model.places.is_empty() {
        let at = |all: &[f64]| points.iter().map(|&p| all[model.places[p]]).collect();
        return Ok((at(decision), at(lengths)));
    }
    let all = self::lengths(model, &model.examples)?;
    let own: Vec<f64> = points.iter().map(|&p| all[p]).collect();
    let scores = model.scores(&model.examples).map_err(|e| e.to_string())?;
    let f = |p: usize| match seen.outputs {
        2 => 0.5 * (scores[2 * p] - scores[2 * p + 1]),
        _ => scores[p],
    };
    Ok((points.iter().map(|&p| f(p)).collect(), own))
}

/// A bound on the distance of the weight vector from the exact solution: √(2 · duality gap) of ½‖w‖² + C Σ l.
pub(super) fn from_optimum(model: &Model, theory: &Theory) -> f64 {
    let scale = theory.loss.map_or(1.0, |loss| loss.scale).max(f64::MIN_POSITIVE);
    (2.0 * model.fitted.report.duality_gap.unwrap_or(0.0).max(0.0) / scale).sqrt()
}
