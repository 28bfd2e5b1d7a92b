//! Training again on a few examples so that the others certify the model: sample compression for every machine.
//!
//! # Source
//! Langford (2005), Thm. 4.5: for all subsets of all sizes d at once, R ≤ max { p : P(Bin(m − d, p) ≤ q) ≥ δ/(m C(m, d)) }, q the
//! errors on the others. The subset may be chosen in any way, so sizes are tried and the best bound wins at no further price.

use super::plan::between;
use super::{Options, facts};
use crate::bounds::compression::binomial;
use crate::data::{DataError, Dataset, Kind};
use crate::error::Error;
use crate::formula::Formula;
use crate::job::Job;
use crate::linalg::SolveError;
use crate::machines::{Coefficients, FitError};
use crate::model::{Model, Provenance};
use crate::watch::Monitor;
use std::sync::Arc;

/// Sizes tried.
const SIZES: usize = 24;

/// A model that was trained on a part of the examples, with the bound that the others give.
pub struct Certified {
    /// The model.
    pub model: Model,
    /// The bound.
    pub bound: f64,
    /// The number of training examples.
    pub size: usize,
    /// The places of the training examples, in rising order.
    pub places: Vec<usize>,
    /// Errors on the others.
    pub errors: usize,
    /// Sizes and bounds of all that were tried.
    pub tried: Vec<(usize, f64)>,
    /// What the bound rests on where some examples are equal.
    pub condition: Option<String>,
}

/// Fits on all examples, orders them by their weight in that fit or at random, and trains again on the first d, for the d whose
/// bound is least; or, where a bound is wanted, for the least d that reaches it.
///
/// # Errors
/// As [`Job::run`]; if probabilities or companions are wanted as well, the matrix is precomputed, the wanted bound or δ is not
/// between 0 and 1, no prediction of the machine is right or wrong, or rows were repeated.
pub fn fit(
    job: &Job,
    data: &Dataset,
    options: &Options<'_>,
    wanted: Option<f64>,
    watch: &dyn Monitor,
) -> Result<Certified, Error> {
    let usage = |finding: String| Err(DataError::Usage { finding }.into());
    if job.probabilities.is_some() || job.auxiliary.as_ref().is_some_and(|c| !c.is_empty()) {
        return usage(
            "a certified fit trains again on a part, without probabilities, noise, copies or points; leave these out"
                .to_owned(),
        );
    }
    if job.kernel.views().iter().any(|(_, kind)| *kind == Kind::Precomputed) {
        return usage(
            "a precomputed matrix has a column for every example, also for those left out; a certified fit needs a kernel on the data"
                .to_owned(),
        );
    }
    wanted.map_or(Ok(()), |wanted| between("certified", wanted))?;
    between("delta", options.delta)?;
    let data = &*job.set_apart(data)?;
    let condition = unrepeated(data)?;
    let whole = job.run(data, watch)?;
    // the heaviest examples may be the odd ones, so as many at random are tried as well: the choice is free
    let orders = [by_weight(&whole, data, job), job.seed.stream("any examples").permutation(data.len())];
    let kernel = whole.kernel.clone();
    let provenance = Provenance::new(data, None, (&job.kernel, &kernel), job.numbers_taken);
    let m = data.len();
    let mut sizes: Vec<usize> = (0..SIZES)
        .map(|i| (4.0 * (m as f64 / 8.0).max(1.0).powf(i as f64 / (SIZES - 1) as f64)).round() as usize)
        .filter(|&d| d < m)
        .collect();
    sizes.dedup();
    let mut best: Option<Certified> = None;
    let mut tried = Vec::new();
    for (d, order) in sizes.iter().flat_map(|&d| orders.iter().map(move |order| (d, order))) {
        let Some((model, errors, bound)) = at(job, &kernel, data, &order[..d], &provenance, options, watch)? else {
            continue;
        };
        tried.push((d, bound));
        if best.as_ref().is_none_or(|b| bound < b.bound) {
            let mut places = order[..d].to_vec();
            places.sort_unstable();
            best = Some(Certified { model, bound, size: d, places, errors, tried: Vec::new(), condition: None });
        }
        if wanted.is_some_and(|w| bound <= w) {
            break;
        }
    }
    let mut best = match best {
        Some(best) => best,
        // nothing smaller can be learned from: all examples, and a bound that says nothing
        None => {
            let (places, tried) = ((0..m).collect(), Vec::new());
            Certified { model: whole, bound: 1.0, size: m, places, errors: 0, tried, condition: None }
        }
    };
    (best.tried, best.condition) = (tried, condition);
    Ok(best)
}

/// What certificates of a fit on these examples rest on, where some are equal.
///
/// # Errors
/// If rows were repeated.
pub(super) fn unrepeated(data: &Dataset) -> Result<Option<String>, Error> {
    let repeats = data.repeats();
    match repeats.refusal("training ") {
        Some(finding) => Err(DataError::Usage { finding: format!("nothing can be certified: {finding}") }.into()),
        None => Ok(repeats.condition("training ")),
    }
}

/// Trains on the examples at the given places and judges the others; `None` where nothing can be learned from so few.
fn at(
    job: &Job,
    kernel: &Formula,
    data: &Dataset,
    part: &[usize],
    provenance: &Provenance,
    options: &Options<'_>,
    watch: &dyn Monitor,
) -> Result<Option<(Model, usize, f64)>, Error> {
    let mut part = part.to_vec();
    part.sort_unstable();
    let small = data.select(&part);
    // every class must be there, or another problem would be learned
    if let (Some(all), Some(few)) = (data.target(), small.target())
        && let (Ok(all), Ok(few)) = (all.classes(), few.classes())
        && job.machine.learns == crate::machines::Learns::Classes
        && all.labels.len() != few.labels.len()
    {
        return Ok(None);
    }
    let again = Job { kernel: kernel.clone(), probabilities: None, auxiliary: None, ..job.clone() };
    let mut model = match again.run(&small, watch) {
        Ok(model) => model,
        Err(stop @ Error::Fit(FitError::Solve { error: SolveError::Stopped { .. }, .. })) => return Err(stop),
        // too few examples for this machine and its parameters
        Err(Error::Fit(_) | Error::Data(_)) => return Ok(None),
        Err(other) => return Err(other),
    };
    // which part is kept depends on all examples, also on those that regions were learned from
    if let Some(conformal) = &mut model.conformal {
        conformal.withdraw_proof();
    }
    model.provenance = Some(provenance.clone().with_part(&part));
    model.job = Some(Arc::new(Job { auxiliary: None, ..job.clone() }));
    model.trained_on = data.len();
    model.fitted.training_scores = None;
    model.places = model.places.iter().map(|&p| part[p]).collect();
    let facts = facts(&model, data, options, watch)?;
    let Some(set) = facts.compression else {
        let finding = format!("{} cannot be certified: {}", model.machine, facts.no_compression);
        return Err(DataError::Usage { finding }.into());
    };
    let price = facts.penalty.choice() + facts.penalty.learned;
    let bound = binomial(facts.examples, set.size, set.errors_outside, price - options.delta.ln());
    Ok(Some((model, set.errors_outside as usize, bound)))
}

/// Places of all examples, those with most weight in the fit first, the others in random order after them.
fn by_weight(model: &Model, data: &Dataset, job: &Job) -> Vec<usize> {
    let mut weight = vec![0.0; data.len()];
    if let Coefficients::Dual { points, alpha } | Coefficients::Pairwise { points, alpha, .. } =
        &model.fitted.expansion.coefficients
    {
        let width = alpha.len() / points.len().max(1);
        for (p, row) in points.iter().zip(alpha.chunks_exact(width.max(1))) {
            weight[model.places[*p]] = row.iter().map(|a| a.abs()).sum();
        }
    }
    let mut order = job.seed.stream("part of the examples").permutation(data.len());
    crate::order::falling(&mut order, &weight);
    order
}
