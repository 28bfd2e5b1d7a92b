//! Choosing parameters by their certificates: every candidate is fitted on all examples, no example is held out, and the
//! certificate that is told pays for all candidates and for all bounds that were looked at.
//!
//! # Source
//! Herbrich (2002), §4.2.3 (structural risk minimisation): bounds at δ p_j with Σ p_j ≤ 1 hold all at once; Freund (1998) for
//! self-bounding learners.

use super::Options;
use super::facts::facts_beside;
use super::informed::Half;
use crate::bounds::{self, Certificate, ChosenBy};
use crate::data::Dataset;
use crate::error::Error;
use crate::formula::Formula;
use crate::job::Job;
use crate::model::Model;
use crate::params::Setting;
use crate::resample::{KernelOnData, Point};
use crate::select::{PointsOfKernel, Search};
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
    /// The least bound, with all complexity penalties; 1 where none says anything.
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
}

/// The number of hypotheses of that many candidates, each certified by each of [`selection_bounds`], a learned prior among them.
pub fn hypotheses(candidates: usize) -> usize {
    candidates * selection_bounds(true).len()
}

/// Records that a model was chosen among that many candidates by their certificates.
pub fn judged(model: &mut Model, candidates: usize) {
    model.chosen_by_certificate(candidates, selection_bounds(true).len());
}

/// The least certificate of one of that many candidates, with the penalty for all of them; `None` where no bound applies to it.
///
/// # Errors
/// As [`Model::certify`].
pub fn least_certificate(
    model: &Model,
    data: &Dataset,
    candidates: usize,
    options: &Options<'_>,
    watch: &dyn Monitor,
) -> Result<Option<Certificate>, Error> {
    least_certificate_beside(model, data, candidates, options, None, watch)
}

/// The same beside other candidates with the kernel of this one.
fn least_certificate_beside(
    model: &Model,
    data: &Dataset,
    candidates: usize,
    options: &Options<'_>,
    half: Option<&Half>,
    watch: &dyn Monitor,
) -> Result<Option<Certificate>, Error> {
    let options = &Options { candidates: Some(hypotheses(candidates)), informed: true, ..*options };
    let known = facts_beside(model, data, options, half, watch)?;
    let certificates =
        selection_bounds(true).into_iter().filter_map(bounds::find).map(|e| Certificate::of(e, &known, options.delta));
    Ok(certificates.filter(|c| c.applicable).min_by(|a, b| a.value.unwrap_or(1.0).total_cmp(&b.value.unwrap_or(1.0))))
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
/// As [`Job::run`]; if no bound applies to any candidate.
pub fn select(
    search: &Search<'_>,
    data: &Dataset,
    options: &Options<'_>,
    watch: &dyn Monitor,
) -> Result<CertifiedSelection, Error> {
    let grid = search.grid.kernel_first(search.kernel).points();
    let tried = grid.len();
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
                let best = least_certificate_beside(&model, data, tried, options, Some(&shared.half), watch)?;
                let (value, bound) = best.as_ref().map_or((1.0, "none"), |c| (c.value.unwrap_or(1.0), c.bound));
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
        return Err(crate::data::DataError::Usage {
            finding: format!(
                "no bound applies to {}: choose by cross-validation, or fit with --certified, which works for every machine whose predictions are right or wrong",
                search.machine.name
            ),
        }
        .into());
    };
    judged(&mut model, candidates.len());
    Ok(CertifiedSelection { candidates, best, model, certificate, status })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gram::Budget;
    use crate::machines;
    use crate::prelude::{Scale, Schema, SchemaOptions, Seed};
    use crate::resample::BUILT;
    use crate::select::{Choose, Grid};
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
                    least_certificate(&job.run(&data, &Silent).unwrap(), &data, 6, &options, &Silent).unwrap().unwrap();
                assert_eq!(alone.value.unwrap_or(1.0).to_bits(), candidate.value.to_bits());
                assert_eq!(alone.bound, candidate.bound);
            }
        }
    }
}
