//! Predictions and regions batch by batch: with a bar, within the memory, and so that they can be stopped.

use crate::arguments;
use clap::ArgMatches;
use mercer::conformal::Regions;
use mercer::data::{DataError, Dataset};
use mercer::linalg::SolveError;
use mercer::machines::Output;
use mercer::model::Predictor;
use mercer::watch::{Monitor, Phase, Progress};
use mercer_terminal::{Failure, Watch};

/// Examples that are predicted at a time; whole tiles, so that the bits are those of one batch.
const BATCH: usize = 8192;

/// Predicts batch by batch: with a bar, within the memory, and so that it can be stopped.
pub(crate) fn predict(predictor: &Predictor, data: &Dataset, flags: &ArgMatches) -> Result<Output, Failure> {
    let outputs = predictor.model().fitted().expansion.outputs();
    arguments::budget(flags)?.check(data.len().saturating_mul(outputs).saturating_mul(16), "the scores")?;
    let watch = Watch::new(flags);
    if data.is_empty() {
        watch.finish();
        return Ok(predictor.predict(data)?);
    }
    let mut whole: Option<Output> = None;
    for start in (0..data.len()).step_by(BATCH) {
        watch
            .alive(Progress::new(Phase::new("predicting"), start).of(data.len()))
            .map_err(|stop| mercer::Error::from(SolveError::from(stop)))?;
        let part: Vec<usize> = (start..(start + BATCH).min(data.len())).collect();
        let output = watch.heeded(|| {
            if part.len() == data.len() { predictor.predict(data) } else { predictor.predict(&data.select(&part)) }
        })?;
        match &mut whole {
            Some(whole) => whole.append(output),
            None => whole = Some(output),
        }
    }
    watch.finish();
    whole.ok_or_else(|| DataError::Empty { place: "the data".to_owned() }.into())
}

/// The regions of a conformal predictor batch by batch: with a bar, and so that it can be stopped.
pub(crate) fn regions(
    predictor: &Predictor,
    data: &Dataset,
    coverage: f64,
    flags: &ArgMatches,
) -> Result<Regions, Failure> {
    let watch = Watch::new(flags);
    if data.is_empty() {
        watch.finish();
        return Ok(predictor.regions(data, coverage)?);
    }
    let mut whole: Option<Regions> = None;
    for start in (0..data.len()).step_by(BATCH) {
        watch
            .alive(Progress::new(Phase::CONFORMAL, start).of(data.len()))
            .map_err(|stop| mercer::Error::from(SolveError::from(stop)))?;
        let part: Vec<usize> = (start..(start + BATCH).min(data.len())).collect();
        let regions = watch.heeded(|| predictor.regions(&data.select(&part), coverage))?;
        match &mut whole {
            Some(whole) => whole.append(regions),
            None => whole = Some(regions),
        }
    }
    watch.finish();
    whole.ok_or_else(|| DataError::Empty { place: "the data".to_owned() }.into())
}
