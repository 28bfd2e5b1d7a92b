//! Choosing parameters by their certificates: every candidate is fitted on all examples, no example is held out, and the
//! certificate that is told pays for all candidates and for all bounds that were looked at.
//!
//! Candidate j and bound b have the part p_j q_b of δ, Σ p_j ≤ 1 and Σ q_b ≤ 1, both fixed before the data: all these bounds then hold at
//! once with probability 1 − δ, so that the least of them may be taken, at ln(1/p_j) + ln(1/q_b) nats.
//!
//! # Source
//! Herbrich (2002), §4.2.3, Lemma 4.14 (structural risk minimisation); Freund (1998) for self-bounding learners; with `stability`,
//! `stability_regression` or `stability_squares` as the only bound, a choice of λ by stability (Herbrich, §5.3).

use super::Options;
use super::facts::facts_beside;
use super::informed::Half;
use super::part::unrepeated;
use super::prior::CandidatePrior;
use crate::bounds::{self, BoundEntry, Certificate, ChosenBy, Guarantee, Quantity};
use crate::data::{DataError, Dataset};
use crate::error::Error;
use crate::formula::Formula;
use crate::job::Job;
use crate::model::Model;
use crate::params::{Setting, nearest};
use crate::resample::{KernelOnData, Point};
use crate::select::{Grid, PointsOfKernel, Search};
use crate::watch::{Monitor, Status};

/// The bounds that a search compares models by, the last only where a prior is learned; each takes its part of δ.
pub fn selection_bounds(informed: bool) -> Vec<&'static str> {
    let among = |chosen_by: ChosenBy| bounds::all().filter(move |b| b.chosen_by == chosen_by).map(|b| b.name);
    among(ChosenBy::Everybody).chain(among(ChosenBy::LearnedPriors).filter(|_| informed)).collect()
}

/// A candidate and its least certificate.
#[derive(Clone, Debug)]
pub struct CertifiedCandidate {
    /// The grid's parameters here.
    pub point: Vec<(String, Setting)>,
    /// The kernel here, with numbers resolved.
    pub kernel: String,
    /// The least bound, with all complexity penalties; 1, or infinite for losses, where none applies.
    pub value: f64,
    /// The bound.
    pub bound: &'static str,
}

/// The result of a search.
pub struct CertifiedSelection {
    /// All candidates in the order of the grid.
    pub candidates: Vec<CertifiedCandidate>,
    /// The place of the best; the first of equals.
    pub best: usize,
    /// Its model, which knows how many candidates there were.
    pub model: Model,
    /// Its certificate.
    pub certificate: Certificate,
    /// The status of the search.
    pub status: Status,
    /// What the certificate rests on where some examples are equal.
    pub condition: Option<String>,
}

/// The bounds that a search judges by, each with nats for its part of δ.
///
/// # Errors
/// If a bound that was asked for is no statement of high probability about the model in hand by its training examples, if some speak of shares
/// and others of losses, or if a part is not above 0.
fn judged_by(options: &Options<'_>) -> Result<Vec<(&'static BoundEntry, f64)>, Error> {
    let usage = |finding: String| Err(DataError::Usage { finding }.into());
    if options.judges.is_empty() {
        let usual: Vec<_> = selection_bounds(true).into_iter().filter_map(bounds::find).collect();
        let nats = (usual.len() as f64).ln();
        return Ok(usual.into_iter().map(|entry| (entry, nats)).collect());
    }
    let sum: f64 = options.judges.iter().map(|(_, part)| part).sum();
    for (place, (entry, part)) in options.judges.iter().enumerate() {
        let name = entry.name;
        if !(*part > 0.0 && part.is_finite()) {
            return usage(format!("the part of {name} is {part}, and each must be a number above 0"));
        }
        if options.judges[..place].iter().any(|(other, _)| other.name == name) {
            return usage(format!("{name} is named twice; name each bound once"));
        }
        let of_model = !matches!(
            entry.quantity,
            Quantity::GibbsRisk | Quantity::VoteRisk | Quantity::Regret | Quantity::OutsideWiderRegion
        );
        if entry.guarantee != Guarantee::HighProbability || entry.uses_held_out || !of_model {
            return usage(format!(
                "{name} cannot choose among candidates: a bound must hold with high probability, of the model in hand, by the examples it was fitted on"
            ));
        }
        if entry.quantity.is_probability() != options.judges[0].0.quantity.is_probability() {
            return usage(format!(
                "{name} and {} speak of different quantities, which cannot be compared",
                options.judges[0].0.name
            ));
        }
    }
    Ok(options.judges.iter().map(|(entry, part)| (*entry, (sum / part).ln().max(0.0))).collect())
}

/// Bounds by their names, each with its part of δ: `stability`, or `scenario:3`.
///
/// # Errors
/// If there is no such bound, or a part is no number.
pub fn judges(names: &[&str]) -> Result<Vec<(&'static BoundEntry, f64)>, Error> {
    let usage = |finding: String| Error::from(DataError::Usage { finding });
    let read = |text: &&str| {
        let (name, part) = text.split_once(':').map_or((*text, None), |(name, part)| (name, Some(part)));
        let part = part.map_or(Ok(1.0), |part| {
            part.trim().parse().map_err(|_| usage(format!("the part of {name} is {part}, which is no number")))
        })?;
        let name = name.trim();
        let entry = bounds::find(name).ok_or_else(|| {
            let close = nearest(name, bounds::all().map(|b| b.name));
            let close = close.map(|close| format!("; did you mean {close}?")).unwrap_or_default();
            usage(format!("there is no bound called {name}{close} (mercer list bounds)"))
        })?;
        Ok((entry, part))
    };
    names.iter().map(read).collect()
}

/// True if candidates or bounds have parts of δ that the caller has chosen.
fn is_weighed(options: &Options<'_>) -> bool {
    options.candidate_prior.is_some() || !options.judges.is_empty()
}

/// ln(1/p) of each of so many candidates, in the order of their grid.
fn candidate_nats(options: &Options<'_>, candidates: usize) -> Result<Vec<f64>, Error> {
    Ok(options.candidate_prior.unwrap_or(&CandidatePrior::Uniform).nats(candidates)?)
}

/// The least certificate of one of that many candidates, the one at a place of the grid, with the penalty for all of them; `None` where no bound
/// applies to it.
///
/// # Errors
/// As [`Model::certify`]; if the prior over the candidates or the bounds to judge by cannot be, or rows were repeated.
pub fn least_certificate(
    model: &Model,
    data: &Dataset,
    (place, candidates): (usize, usize),
    options: &Options<'_>,
    watch: &dyn Monitor,
) -> Result<Option<Certificate>, Error> {
    unrepeated(data)?;
    let nats = candidate_nats(options, candidates)?;
    let nats = nats.get(place).copied().unwrap_or(f64::INFINITY);
    least_certificate_beside(model, data, (nats, candidates), &judged_by(options)?, options, None, watch)
}

/// The same beside other candidates with the kernel of this one.
fn least_certificate_beside(
    model: &Model,
    data: &Dataset,
    (nats, candidates): (f64, usize),
    judges: &[(&'static BoundEntry, f64)],
    options: &Options<'_>,
    half: Option<&Half>,
    watch: &dyn Monitor,
) -> Result<Option<Certificate>, Error> {
    let informed = judges.iter().any(|(entry, _)| entry.chosen_by == ChosenBy::LearnedPriors);
    let weighed = is_weighed(options);
    let options = &Options { candidates: Some(candidates * judges.len()), informed, ..*options };
    let mut known = facts_beside(model, data, options, half, watch)?;
    let mut least: Option<Certificate> = None;
    for (entry, part) in judges {
        // where all are alike, the logarithm of their number
        known.penalty.candidate_nats = weighed.then_some(nats + part);
        let found = Certificate::of(entry, &known, options.delta);
        let value = |c: &Certificate| c.value.unwrap_or(f64::INFINITY);
        if found.applicable && least.as_ref().is_none_or(|least| value(&found) < value(least)) {
            least = Some(found);
        }
    }
    Ok(least)
}

/// Records that a model was chosen by a bound from so many candidates, this one at a place of their grid: certificates from then on pay what that
/// of the search has paid.
///
/// # Errors
/// As [`least_certificate`].
pub fn record(
    model: &mut Model,
    (place, candidates): (usize, usize),
    bound: &str,
    options: &Options<'_>,
) -> Result<(), Error> {
    let judges = judged_by(options)?;
    let part = judges.iter().find(|(entry, _)| entry.name == bound).map(|(_, part)| *part);
    let own = candidate_nats(options, candidates)?.get(place).copied();
    let nats = part.zip(own).filter(|_| is_weighed(options)).map(|(part, own)| part + own);
    model.chosen_by_certificate(candidates, judges.len(), nats);
    Ok(())
}

/// Quantities that candidates with one kernel share.
struct Shared {
    /// The kernel on all examples.
    kernel: KernelOnData,
    /// The half of the examples that priors are learned from.
    half: Half,
}

impl Shared {
    fn new(
        search: &Search<'_>,
        kernel: &Formula,
        points: &[(usize, Point)],
        data: &Dataset,
        options: &Options<'_>,
    ) -> Result<Self, Error> {
        let several = points.len() > 1;
        let on_data =
            KernelOnData::new(kernel.resolve(data, search.seed)?, points[0].1.machine.as_ref(), data, search.budget)?;
        let kernel = if several { on_data.memoised() } else { on_data };
        Ok(Self { kernel, half: Half::new(data, options.seed, several) })
    }
}

/// Fits every point of the grid on all examples and keeps the one with the least certificate. Points with the same kernel share its
/// values, and each has the bits of a fit of its own; none starts from another, which would change the last digits.
///
/// # Errors
/// As [`Job::run`]; if no bound applies to any candidate, or rows were repeated.
pub fn select(
    search: &Search<'_>,
    data: &Dataset,
    options: &Options<'_>,
    watch: &dyn Monitor,
) -> Result<CertifiedSelection, Error> {
    let condition = unrepeated(data)?;
    let judges = judged_by(options)?;
    let grid = search.grid.kernel_first(search.kernel).points();
    let tried = grid.len();
    // the prior is one over the grid as it was written
    let written = places(search.grid, &grid);
    let prior = candidate_nats(options, tried)?;
    let mut candidates = Vec::new();
    let mut kept: Option<(usize, Model, Certificate)> = None;
    let mut status = Status::Converged;
    'search: for PointsOfKernel { kernel, points } in search.by_kernel(&grid)? {
        for same in points.chunk_by(|a, b| a.1.machine.traits().reads == b.1.machine.traits().reads) {
            let shared = Shared::new(search, &kernel, same, data, options)?;
            for (place, Point { machine, .. }) in same {
                let job = Job { budget: search.budget, seed: search.seed, ..Job::new(machine.as_ref(), &kernel) };
                let model = job.run_on(&shared.kernel, data, watch)?;
                if !matches!(model.fitted.report.status, Status::Converged | Status::IterationLimit) {
                    status = model.fitted.report.status;
                    break 'search;
                }
                let (nats, half) = (prior[written[*place]], Some(&shared.half));
                let best = least_certificate_beside(&model, data, (nats, tried), &judges, options, half, watch)?;
                let none = if judges[0].0.quantity.is_probability() { 1.0 } else { f64::INFINITY };
                let (value, bound) = best.as_ref().map_or((none, "none"), |c| (c.value.unwrap_or(none), c.bound));
                let point = grid[*place].clone();
                candidates.push(CertifiedCandidate { point, kernel: model.kernel.to_string(), value, bound });
                if let Some(certificate) = best
                    && kept.as_ref().is_none_or(|(_, _, k)| value < k.value.unwrap_or(1.0))
                {
                    kept = Some((*place, model, certificate));
                }
            }
        }
    }
    let Some((best, mut model, certificate)) = kept else {
        return Err(DataError::Usage {
            finding: format!(
                "no bound applies to {}: choose by cross-validation, or fit with --certified, which works for every machine whose predictions are right or wrong",
                search.machine.name
            ),
        }
        .into());
    };
    record(&mut model, (written[best], tried), certificate.bound, options)?;
    Ok(CertifiedSelection { candidates, best, model, certificate, status, condition })
}

/// The place in the grid as it was written of each point of the same grid in another order of its axes.
fn places(grid: &Grid, points: &[Vec<(String, Setting)>]) -> Vec<usize> {
    let place = |point: &Vec<(String, Setting)>| {
        grid.axes.iter().fold(0, |place, axis| {
            let own = point.iter().find(|(name, _)| *name == axis.name).map(|(_, value)| value);
            let at = axis.values.iter().position(|value| Some(value) == own).unwrap_or(0);
            place * axis.values.len() + at
        })
    };
    points.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gram::Budget;
    use crate::machines;
    use crate::prelude::{Scale, Schema, SchemaOptions, Seed};
    use crate::resample::BUILT;
    use crate::select::Choose;
    use crate::watch::Silent;

    #[test]
    fn a_kernel_is_put_on_the_data_once_and_candidates_are_fits_of_their_own() {
        let table = crate::datasets::load("two_moons", Some(60), Seed(2)).unwrap();
        let plain = SchemaOptions { scale: Some(Scale::None), ..SchemaOptions::default() };
        let data = Schema::learn_and_apply(&table, &plain).unwrap().1;
        for (machine, grid) in [("svc", "c=1|10|100, gamma=0.5|2"), ("kfd", "lambda=0.1|1|10, gamma=0.5|2")] {
            let (kernel, grid): (Formula, Grid) = ("rbf(gamma=1)".parse().unwrap(), grid.parse().unwrap());
            let search = Search {
                score: None,
                machine: machines::find(machine).unwrap(),
                settings: &[],
                kernel: &kernel,
                grid: &grid,
                folds: 5,
                choose: Choose::Best,
                probabilities: None,
                calibration_folds: 0,
                budget: Budget::default(),
                seed: Seed(0),
            };
            let options = Options::default();
            BUILT.set(0);
            let found = select(&search, &data, &options, &Silent).unwrap();
            // two kernels, each on all examples and on the half that priors are learned from
            assert_eq!((found.candidates.len(), BUILT.get()), (6, 4), "{machine}");
            for candidate in &found.candidates {
                let (machine, kernel) = search.at(&candidate.point).unwrap();
                let job = Job { budget: search.budget, seed: search.seed, ..Job::new(machine.as_ref(), &kernel) };
                let alone =
                    least_certificate(&job.run(&data, &Silent).unwrap(), &data, (0, 6), &options, &Silent).unwrap();
                let alone = alone.unwrap();
                assert_eq!(alone.value.unwrap_or(1.0).to_bits(), candidate.value.to_bits());
                assert_eq!(alone.bound, candidate.bound);
            }
        }
    }
}
