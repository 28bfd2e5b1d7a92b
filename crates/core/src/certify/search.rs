//! Choosing parameters by their certificates: every candidate is fitted on all examples, no example is held out, and the
//! certificate that is told pays for all candidates and for all bounds that were looked at.
//!
//! # Source
//! Herbrich (2002), §4.2.3 (structural risk minimisation): bounds at δ p_j with Σ p_j ≤ 1 hold all at once; Freund (1998) for
//! self-bounding learners.

use super::{Options, facts};
use crate::bounds::{self, Certificate, ChosenBy};
use crate::data::Dataset;
use crate::error::Error;
use crate::job::Job;
use crate::model::Model;
use crate::params::Setting;
use crate::select::Search;
use crate::watch::{Monitor, Status};

/// The bounds that models are judged by, the last only where a prior is learned; each costs its part of δ.
pub fn judges(informed: bool) -> Vec<&'static str> {
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
    /// The least bound, all prices paid; 1 where none says anything.
    pub value: f64,
    /// Which bound it is.
    pub bound: &'static str,
}

/// What a search found.
pub struct CertifiedSelection {
    /// All candidates in the order of the grid.
    pub candidates: Vec<CertifiedCandidate>,
    /// The place of the best; the first of equals.
    pub best: usize,
    /// Its model, which knows how many candidates there were.
    pub model: Model,
    /// Its certificate.
    pub certificate: Certificate,
    /// How the search ended.
    pub status: Status,
}

/// How many hypotheses so many candidates are, each judged by each of [`judges`], a learned prior among them.
pub fn judged_candidates(candidates: usize) -> usize {
    candidates * judges(true).len()
}

/// The least certificate of one of so many candidates, all of them paid for; `None` where no bound applies to it.
///
/// # Errors
/// As [`Model::certify`].
pub fn judge(
    model: &Model,
    data: &Dataset,
    candidates: usize,
    options: &Options<'_>,
    watch: &dyn Monitor,
) -> Result<Option<Certificate>, Error> {
    let options = &Options { candidates: Some(judged_candidates(candidates)), informed: true, ..*options };
    let known = facts(model, data, options, watch)?;
    let judged = judges(true).into_iter().filter_map(bounds::find).map(|e| Certificate::of(e, &known, options.delta));
    Ok(judged.filter(|c| c.applicable).min_by(|a, b| a.value.unwrap_or(1.0).total_cmp(&b.value.unwrap_or(1.0))))
}

/// Fits every point of the grid on all examples and keeps the one with the least certificate.
///
/// # Errors
/// As [`Job::run`]; if no bound applies to any candidate.
pub fn select(
    search: &Search<'_>,
    data: &Dataset,
    options: &Options<'_>,
    watch: &dyn Monitor,
) -> Result<CertifiedSelection, Error> {
    let points = search.grid.kernel_first(search.kernel).points();
    let tried = points.len();
    let mut candidates = Vec::new();
    let mut kept: Option<(usize, Model, Certificate)> = None;
    let mut status = Status::Converged;
    for point in points {
        let (machine, kernel) = search.at(&point)?;
        let job = Job { budget: search.budget, seed: search.seed, ..Job::new(machine.as_ref(), &kernel) };
        let model = job.run(data, watch)?;
        if !matches!(model.fitted.report.status, Status::Converged | Status::IterationLimit) {
            status = model.fitted.report.status;
            break;
        }
        let best = judge(&model, data, tried, options, watch)?;
        let (value, bound) = best.as_ref().map_or((1.0, "none"), |c| (c.value.unwrap_or(1.0), c.bound));
        let place = candidates.len();
        candidates.push(CertifiedCandidate { point, kernel: model.kernel.to_string(), value, bound });
        if let Some(certificate) = best
            && kept.as_ref().is_none_or(|(_, _, k)| value < k.value.unwrap_or(1.0))
        {
            kept = Some((place, model, certificate));
        }
    }
    let Some((best, mut model, certificate)) = kept else {
        return Err(crate::data::DataError::Usage {
            finding: format!(
                "no bound applies to {}: choose by cross-validation, or fit with --certified, which works for every machine",
                search.machine.name
            ),
        }
        .into());
    };
    model.chosen_among(judged_candidates(candidates.len()));
    Ok(CertifiedSelection { candidates, best, model, certificate, status })
}
