//! Facts that take m² to m³ operations, and the simulation of the version space's mass; asked for explicitly.

use super::Options;
use super::seen::Seen;
use crate::bounds::pac_bayes::ln_cap;
use crate::bounds::{Evidence, Facts, GIVEN_MATRIX, Online, Task, wrong_without};
use crate::data::{DataError, Dataset};
use crate::distributions::ln_orthant;
use crate::error::Error;
use crate::geometry::GramSchmidt;
use crate::gram::{Gram, apply, diagonal, fill};
use crate::job::Job;
use crate::linalg::Cholesky;
use crate::linalg::SolveError;
use crate::machines::classify::Svc;
use crate::machines::{Coefficients, Machine, Theory};
use crate::model::Model;
use crate::seed::Seed;
use crate::watch::{Monitor, Phase, Progress, Stop};
use std::f64::consts::LN_2;

/// Number of draws of random signs.
const SIGN_DRAWS: usize = 1000;
/// Largest number of examples whose eigenvalues and orthants are computed.
const MAX_EXAMPLES_FOR_EIGENVALUES: usize = 5000;

/// The part of the largest κ(x, x) that is added to the prior's variances.
const NUGGET: f64 = 1e-8;
/// One more than the number of times that the draws of the evidence may double.
const EVIDENCE_LEVELS: usize = 7;
/// The share of the simulation's part of δ that all larger numbers of draws have together.
const SHARE_OF_MORE_DRAWS: f64 = 1.0 / 64.0;
/// The relative error of the evidence with which no more draws are taken.
const WANTED_RELATIVE_ERROR: f64 = 0.25;
/// Pivots below this part of the largest κ(x, x), for each example, are taken for rounding.
const RANK_TOLERANCE: f64 = 1e-15;

fn stopped(reason: Stop) -> Error {
    SolveError::Stopped { reason }.into()
}

pub(super) fn add(
    facts: &mut Facts,
    model: &Model,
    training: &Dataset,
    (seen, theory): (&Seen, &Theory),
    options: &Options<'_>,
    watch: &dyn Monitor,
) -> Result<(), Error> {
    let gram = model.kernel.training_gram(training)?;
    if facts.assumes.contains(&GIVEN_MATRIX) && training.len() <= MAX_EXAMPLES_FOR_EIGENVALUES {
        facts.assumes.retain(|what| *what != GIVEN_MATRIX);
        if !semi_definite(gram.as_ref()) {
            let reason = "the given matrix is not positive semi-definite; mercer gram --repair mends it".to_owned();
            (facts.linear, facts.no_linear) = (None, reason.clone());
            (facts.compression, facts.no_compression) = (None, reason.clone());
            (facts.regularised, facts.no_regularised) = (None, reason);
        }
    }
    let with_offset = facts.linear.as_ref().is_some_and(|l| !l.homogeneous);
    if facts.linear.is_some() {
        facts.kernel.random_signs = Some(random_signs(gram.as_ref(), facts, with_offset, options, watch)?);
    }
    if facts.linear.is_some() && training.len() <= MAX_EXAMPLES_FOR_EIGENVALUES {
        facts.kernel.diameter = diameter(gram.as_ref(), facts);
        rank(gram.as_ref(), facts, options, watch)?;
        super::ball::ball(facts, model, training, options, watch)?;
    }
    if training.len() <= MAX_EXAMPLES_FOR_EIGENVALUES {
        super::left_out::left_out(facts, gram.as_ref(), seen, theory);
    }
    facts.leave_one_out.span = span(model, facts);
    widest_margin(facts, model, training, options, watch)?;
    Ok(())
}

/// The mistakes of a perceptron are bounded by any margin that a classifier without offset reaches on the examples: by that of a
/// support vector machine, which is the widest.
fn widest_margin(
    facts: &mut Facts,
    model: &Model,
    training: &Dataset,
    options: &Options<'_>,
    watch: &dyn Monitor,
) -> Result<(), Error> {
    let Some(known) = facts.online.and_then(|o| o.mistake_bound) else { return Ok(()) };
    let Some(radius) = facts.kernel.radius.filter(|_| !model.kernel.tells_places()) else { return Ok(()) };
    let machine = Svc { c: f64::INFINITY, bias: false, ..Svc::default() };
    let job = Job { budget: options.budget, seed: options.seed, ..Job::new(&machine, &model.kernel) };
    let widest = job.run(training, watch)?;
    let theory = machine.traits().theory;
    let seen = Seen::new(&widest, training, &theory)?;
    // whatever the solver's tolerance has left of it, it is a margin that is reached
    let Ok((_, linear)) = super::linear::linear(&widest, training, &seen, &theory) else { return Ok(()) };
    let least = linear.margins.iter().copied().fold(f64::INFINITY, f64::min);
    if least > 0.0 && linear.squared_norm > 0.0 {
        let bound = radius * radius * linear.squared_norm / (least * least);
        facts.online = facts.online.map(|o| Online { mistake_bound: Some(bound.min(known)), ..o });
    }
    Ok(())
}

/// The largest distance of two examples in the problem that a support vector machine has solved.
fn diameter(gram: &dyn Gram, facts: &Facts) -> Option<f64> {
    let dual = facts.linear.as_ref()?.dual.as_ref()?;
    let n = gram.shape().0;
    let mut values = vec![0.0; n * n];
    fill(gram, &mut values);
    let mut most = 0.0_f64;
    for i in 0..n {
        for j in 0..i {
            most = most.max(values[i * n + i] + values[j * n + j] - 2.0 * values[i * n + j]);
        }
    }
    // noise is on the diagonal of the matrix; a ridge comes on top for both
    Some((most + 2.0 * dual.ridge).max(0.0).sqrt())
}

/// The rank of the kernel matrix, by Gram-Schmidt with pivots. Only a feature space of finite dimension has examples that depend on one
/// another but for copies; in any other, small pivots are not zeros, and the rank is the number of different examples.
fn rank(gram: &dyn Gram, facts: &mut Facts, options: &Options<'_>, watch: &dyn Monitor) -> Result<(), Error> {
    let Some(dimension) = facts.kernel.dimension.filter(|d| d.is_finite()) else { return Ok(()) };
    let n = gram.shape().0;
    let most = (dimension as usize).min(n);
    let top = diagonal(gram).into_iter().fold(0.0, f64::max);
    if options.budget.memory < GramSchmidt::bytes(n, most) {
        return Ok(());
    }
    let mut stop = None;
    let found = GramSchmidt::watched(gram, RANK_TOLERANCE * n as f64 * top, most, &mut |done, _| {
        stop = watch.alive(Progress::new(Phase::new("rank"), done).of(most)).err();
        stop.is_none()
    });
    if let Some(reason) = stop {
        return Err(stopped(reason));
    }
    // the offset is one coordinate more
    let plus = if facts.linear.as_ref().is_some_and(|l| !l.homogeneous) { 1.0 } else { 0.0 };
    let found = found?.rank() as f64 + plus;
    if found < facts.kernel.rank.unwrap_or(n as f64) {
        facts.kernel.rank = Some(found);
        facts.kernel.rank_by_pivots = true;
    }
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
        (2.0 * facts.kernel.trace * (LN_2 - options.delta.ln() + facts.penalty.learned + facts.penalty.choice())
            / SIGN_DRAWS as f64)
            .sqrt();
    Ok(sum / SIGN_DRAWS as f64 + doubt)
}

/// Support vectors with α_p S_p² ≥ y_p f(x_p): S_p² = 1/[K̃⁻¹]_pp among those strictly between the bounds (K̃ bordered by ones
/// where there is an offset), the distance from their span for those at C.
fn span(model: &Model, facts: &Facts) -> Option<f64> {
    let linear = facts.linear.as_ref()?;
    let dual = linear
        .dual
        .as_ref()
        .filter(|d| !d.support.is_empty() && !d.unknown_ridge && d.support.len() <= MAX_EXAMPLES_FOR_EIGENVALUES)?;
    if !matches!(model.fitted.expansion.coefficients, Coefficients::Dual { .. } | Coefficients::Pairwise { .. }) {
        return None;
    }
    let points = model.fitted.expansion.points();
    let free: Vec<usize> = (0..dual.support.len()).filter(|&p| !dual.support[p].bounded).collect();
    let gram = model.kernel.cross(&model.examples, &model.examples).ok()?;
    let picked: Vec<usize> = free.iter().map(|&p| points[p]).collect();
    let v = free.len();
    if v == 0 {
        return None;
    }
    // rows: all support vectors; columns: the free ones
    let cross = gram.restrict(points, &picked);
    let mut values = vec![0.0; points.len() * v];
    fill(cross.as_ref(), &mut values);
    // what belongs to an example alone is on the diagonal of the problem
    (0..v).for_each(|i| values[free[i] * v + i] += dual.support[free[i]].own);
    let scale = (0..v).map(|i| values[free[i] * v + i]).fold(0.0, f64::max);
    let ridge = |i: usize, j: usize| if i == j { 1e-10 * scale } else { 0.0 };
    let inner = (0..v * v).map(|p| values[free[p / v] * v + p % v] + ridge(p / v, p % v)).collect();
    let factor = Cholesky::factor(inner, v).ok()?;
    // K̃⁻¹ = K⁻¹ − uuᵀ/s beside the border, u = K⁻¹1 and s = 1ᵀu
    let mut u = vec![1.0; v];
    factor.solve(&mut u, 1);
    let s: f64 = u.iter().sum();
    let bordered = !linear.homogeneous;
    let diagonal = factor.inverse_diagonal();
    let norms = factor.inverse_norms(&values);
    let mut count = 0;
    for (p, multiplier) in dual.support.iter().enumerate() {
        let squared = match free.binary_search(&p) {
            Ok(i) => 1.0 / (diagonal[i] - if bordered { u[i] * u[i] / s } else { 0.0 }),
            Err(_) => {
                let along: f64 = values[p * v..(p + 1) * v].iter().zip(&u).map(|(k, u)| k * u).sum();
                let off = if bordered { (1.0 - along).powi(2) / s } else { 0.0 };
                multiplier.squared_length - norms[p] + off
            }
        };
        count += usize::from(multiplier.alpha * squared >= multiplier.margin - dual.slack);
    }
    Some((count + wrong_without(linear, dual)) as f64)
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
    let with_offset = facts.linear.as_ref().is_some_and(|l| !l.homogeneous);
    let mut k = vec![0.0; n * n];
    fill(gram.as_ref(), &mut k);
    let top = (0..n).map(|i| k[i * n + i]).fold(0.0, f64::max);
    // a nugget in the prior: the classifiers drawn have that much noise
    let nugget = NUGGET * top.max(1e-300);
    for i in 0..n {
        for j in 0..n {
            k[i * n + j] = signs[i] * signs[j] * (k[i * n + j] + if with_offset { 1.0 } else { 0.0 });
        }
        k[i * n + i] += nugget;
    }
    let cap = inscribed(facts, &(0..n).map(|i| k[i * n + i]).collect::<Vec<_>>());
    let factor = Cholesky::factor(k, n).map_err(|_| DataError::Usage {
        finding: "the kernel matrix has no Cholesky factor even with a nugget of 1e-8; use a kernel that is positive definite"
            .to_owned(),
    })?;
    let rows = factor.factor_rows();
    let mut draws = options.evidence;
    let mut level = 0;
    loop {
        options
            .budget
            .check(draws.saturating_mul(size_of::<f64>()), format!("the evidence by {draws} draws"))
            .map_err(|e| e.remedy("ask for fewer draws, or raise --memory"))?;
        let mut stop = None;
        // the draws are those of one stream, whatever the seed of other things: seeds are not to be tried until one flatters
        let found = ln_orthant(&rows, n, draws, Seed(0), |done| {
            match watch.alive(Progress::new(Phase::new("evidence"), done).of(draws)) {
                Ok(()) => true,
                Err(reason) => {
                    stop = Some(reason);
                    false
                }
            }
        });
        let Some(found) = found else { return Err(stopped(stop.unwrap_or(Stop::Interrupted))) };
        let last = level + 1 == EVIDENCE_LEVELS;
        // few draws may all miss where the mass is: more of them are taken while they differ much
        if !last && found.relative_error > WANTED_RELATIVE_ERROR {
            (level, draws) = (level + 1, draws.saturating_mul(2));
            continue;
        }
        // half of δ for the simulation, divided among the numbers of draws at which it may end, nearly all of it for the first: an
        // estimate at a part δ′ is at most 1/δ′ times too large with probability 1 − δ′
        let share =
            if level == 0 { 1.0 - SHARE_OF_MORE_DRAWS } else { SHARE_OF_MORE_DRAWS / (EVIDENCE_LEVELS - 1) as f64 };
        facts.evidence = Some(Evidence {
            nats: -found.ln_probability,
            confidence: LN_2 - options.delta.ln() - share.ln(),
            relative_error: found.relative_error,
            draws: draws as f64,
            cap,
            nugget,
        });
        return Ok(());
    }
}

/// −ln of the prior's mass of all classifiers within the angle of the model's smallest margin, under the same prior: they have no
/// training error either. The nugget is a coordinate for each example, so that there are as many dimensions as examples.
fn inscribed(facts: &Facts, lengths: &[f64]) -> Option<f64> {
    let linear = facts.linear.as_ref().filter(|_| facts.errors == Some(0.0))?;
    let norm = linear.squared_norm.sqrt();
    let gamma = |(f, k): (&f64, &f64)| (f - linear.slack) / (norm * k.sqrt());
    let least = linear.margins.iter().zip(lengths).map(gamma).fold(f64::INFINITY, f64::min);
    (least > 0.0 && linear.margins.len() == lengths.len()).then(|| -ln_cap(least.min(1.0), lengths.len() as f64))
}
