//! Sets, intervals and p-values of new examples, by the conformal predictor of a model.

use super::Model;
use super::predictor::Support;
use crate::calibrate::Form;
use crate::conformal::{Conformal, Full, Measure, Method, Regions, checked, nonconformities};
use crate::data::{DataError, Dataset, RepeatsBeside, Target, places_of_labels};
use crate::error::Error;
use crate::gram::{Side, fill};
use crate::kernels::Definite;
use crate::linalg::SolveError;
use crate::machines::{Output, Readout};
use std::borrow::Cow;

/// Largest number of scores of members that are held at a time: 32 MiB of them.
const MAX_SCORES_HELD: usize = 1 << 22;
/// Slices are whole tiles, so that the bits are those of one batch.
const TILE: usize = 512;

impl Model {
    /// The conformal predictor of the model.
    ///
    /// # Errors
    /// If it has none, with what would give it one.
    pub fn needs_conformal(&self) -> Result<&Conformal, Error> {
        self.conformal().ok_or_else(|| {
            let finding = "this model has learned no conformal regions; fit with --conformal split, cross, jackknife or full, or give held-out examples with --calibration".to_owned();
            DataError::Usage { finding }.into()
        })
    }

    /// The regions of new examples at a coverage between 0 and 1: sets of labels, intervals, or alarms.
    ///
    /// ```
    /// use mercer::conformal::{Method, Recipe, Regions};
    /// use mercer::prelude::*;
    /// let table = mercer::datasets::load("noisy_sinc", Some(200), Seed(1))?;
    /// let (machine, kernel) = (Ridge { lambda: 0.1.into(), ..Ridge::default() }, rbf(1.0));
    /// let job = Job { conformal: Some(Recipe::new(Method::Jackknife)), ..Job::new(&machine, &kernel) };
    /// // columns are scaled by examples that are never held out, so that the coverage is proven
    /// let data = job.prepare(table)?;
    /// let model = job.run(&data, &mercer::watch::Silent)?;
    /// let Regions::Intervals { lower, upper, .. } = model.regions(&data, 0.9)? else { unreachable!() };
    /// assert!(lower.iter().zip(&upper).all(|(l, u)| l < u));
    /// assert!(model.needs_conformal()?.is_proven());
    /// # Ok::<(), mercer::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the model has learned none, the coverage is out of range, or the data do not fit.
    pub fn regions(&self, data: &Dataset, coverage: f64) -> Result<Regions, Error> {
        Support::default().regions(self, data, coverage)
    }
}

impl Support {
    /// The regions of new examples by a model.
    pub(super) fn regions(&self, model: &Model, data: &Dataset, coverage: f64) -> Result<Regions, Error> {
        let coverage = checked(coverage)?;
        let conformal = model.needs_conformal()?;
        let kept = conformal.full.as_ref().map_or(0, |full| full.smoother.factor.len());
        let width: usize = kept.max(conformal.members() * model.fitted.readout.outputs().max(conformal.columns));
        let slice = (MAX_SCORES_HELD / width.max(1) / TILE * TILE).max(TILE);
        let mut whole: Option<Regions> = None;
        for start in (0..data.len().max(1)).step_by(slice) {
            let places: Vec<usize> = (start..data.len().min(start + slice)).collect();
            let part = if places.len() == data.len() {
                self.regions_of(model, conformal, data, coverage)?
            } else {
                self.regions_of(model, conformal, &data.select(&places), coverage)?
            };
            match &mut whole {
                Some(whole) => whole.append(part),
                None => whole = Some(part),
            }
        }
        whole.ok_or_else(|| DataError::Empty { place: "the data".to_owned() }.into())
    }

    fn regions_of(
        &self,
        model: &Model,
        conformal: &Conformal,
        data: &Dataset,
        coverage: f64,
    ) -> Result<Regions, Error> {
        if let (Some(full), Readout::Values { names }) = (&conformal.full, &model.fitted.readout) {
            let (lower, upper) = self.by_candidates(model, full, data, coverage)?;
            return Ok(Regions::Intervals { names: names.clone(), lower, upper });
        }
        let numbers = self.by_members(model, conformal, data)?;
        Ok(match &model.fitted.readout {
            Readout::Novelty => {
                let inside = conformal.inside(&numbers, 1, coverage);
                let alarms = inside.into_iter().map(|inside| !inside).collect();
                Regions::Alarms { p_values: conformal.p_values(&numbers, 1), alarms }
            }
            Readout::Values { names } => {
                let (lower, upper) = conformal.intervals(&numbers, coverage);
                Regions::Intervals { names: names.clone(), lower, upper }
            }
            readout => {
                let labels = labels_of(readout);
                let k = labels.len();
                let (inside, p_values) = (conformal.inside(&numbers, k, coverage), conformal.p_values(&numbers, k));
                let unknown = conformal.holds_unknown(coverage);
                Regions::Sets { labels: labels.to_vec(), inside, p_values, unknown }
            }
        })
    }

    /// The ends of intervals by fits on every candidate.
    fn by_candidates(
        &self,
        model: &Model,
        full: &Full,
        data: &Dataset,
        coverage: f64,
    ) -> Result<(Vec<f64>, Vec<f64>), Error> {
        let pool = self.pool(model)?;
        let cross = model.kernel.gram_between(&model.kernel.prepare_like(data, pool)?, pool)?;
        let own = cross.self_similarities(Side::Rows).ok_or_else(|| DataError::Usage {
            finding: "full conformal regression needs κ(x, x) of every new example, which a precomputed matrix does not tell; use --conformal cross or jackknife".to_owned(),
        })?;
        let (n, mut values) = (full.smoother.factor.len(), vec![0.0; data.len() * full.smoother.factor.len()]);
        fill(cross.as_ref(), &mut values);
        let strange = values.iter().position(|k| !k.is_finite()).map(|place| place / n.max(1));
        if let Some(example) = strange.or_else(|| own.iter().position(|k| !k.is_finite())) {
            return Err(SolveError::ScoreNotFinite { example: example + 1 }.into());
        }
        Ok(full.intervals(&values, &own, model.kernel.definite() == Definite::Positive, coverage))
    }

    /// By every member: the nonconformity of each label, or of the example; or predicted numbers. n × members × labels or outputs.
    fn by_members(&self, model: &Model, conformal: &Conformal, data: &Dataset) -> Result<Vec<f64>, Error> {
        if conformal.method == Method::Split {
            return self.by_itself(model, conformal.measure, data);
        }
        let form = model.fitted.readout.form();
        // labels, outputs, or the one score of a detector
        let each = form.map_or(conformal.columns, |(_, k)| k);
        let members = conformal.members();
        let mut all = vec![0.0; data.len() * members * each];
        let mut first = 0;
        for (at, panel) in conformal.panels.iter().enumerate() {
            let scores = self.panel_scores(model, at, data)?;
            let outputs = panel.expansion.outputs() / panel.members.max(1);
            if let Some(place) = scores.iter().position(|s| !s.is_finite()) {
                let example = place / panel.expansion.outputs().max(1) + 1;
                return Err(SolveError::ScoreNotFinite { example }.into());
            }
            for (p, row) in scores.chunks_exact(outputs.max(1)).enumerate() {
                let (i, member) = (p / panel.members, first + p % panel.members);
                let out = &mut all[(i * members + member) * each..][..each];
                match (form, &panel.known) {
                    (Some((form, k)), None) => out.copy_from_slice(&nonconformities(form, k, row)),
                    (Some((form, _)), Some(known)) => {
                        out.fill(f64::INFINITY);
                        for (r, &c) in nonconformities(form, known.len(), row).into_iter().zip(known) {
                            out[c as usize] = r;
                        }
                    }
                    (None, _) if conformal.measure == Measure::Novelty => out[0] = -row[0],
                    (None, _) => out.copy_from_slice(row),
                }
            }
            first += panel.members;
        }
        Ok(all)
    }

    /// The same by the model itself.
    fn by_itself(&self, model: &Model, measure: Measure, data: &Dataset) -> Result<Vec<f64>, Error> {
        let scores = self.scores(model, data)?;
        Ok(match (measure, model.fitted.readout.form()) {
            (Measure::Probability, Some(_)) => match model.fitted.read(scores) {
                Output::Labels { probabilities: Some(p), .. } => p.into_iter().map(|p| 1.0 - p).collect(),
                _ => Vec::new(),
            },
            (_, Some((form, k))) => of_labels(form, k, model.fitted.readout.outputs(), &scores),
            (Measure::Novelty, None) => scores.into_iter().map(|f| -f).collect(),
            (_, None) => scores,
        })
    }
}

impl Model {
    /// Learns conformal regions from examples that the model has not seen: split, after the fact. Where the model has learned
    /// probabilities they are what is measured; each class by itself if `mondrian`.
    ///
    /// Some training examples among the others are left out, where each is recognised; where only their share is, nothing is proven, nor where
    /// rows were repeated ([`Dataset::repeats`]). The number of those that were left out is returned.
    ///
    /// # Errors
    /// If the model predicts coordinates or clusters, many of the examples are those of training, or they have no target that fits.
    pub fn calibrate_on(&mut self, held_out: &Dataset, mondrian: bool) -> Result<usize, Error> {
        if self.provenance.as_ref().is_some_and(|p| p.knows_many_of(held_out)) {
            let finding = "many of the examples to calibrate with are those of training; give examples that the model has not seen";
            return Err(DataError::Usage { finding: finding.to_owned() }.into());
        }
        // columns that these examples have scaled themselves are not those of new examples
        let by_model =
            held_out.preparation().is_none_or(|p| p.learned_bits() == 0.0 || self.schema() == Some(p.schema()));
        let (unseen, doubtful) = self.unseen(held_out);
        // of the others those that are equal by chance
        let left_out = held_out.len() - unseen.len();
        let equal = self.seen(held_out).map_or(0, |seen| seen.equal.saturating_sub(left_out));
        let repeats = RepeatsBeside { within: unseen.repeats(), equal, divided: false };
        let mut conformal = self.regions_from(&unseen, mondrian)?.with_proof(by_model && !doubtful, repeats);
        conformal.holds_training = doubtful;
        self.conformal = Some(conformal);
        Ok(left_out)
    }

    /// The examples without those that the model has learned from, where each is recognised, and whether there are others. Those that
    /// are equal to a training example by chance stay: new examples are so, too.
    fn unseen<'d>(&self, held_out: &'d Dataset) -> (Cow<'d, Dataset>, bool) {
        match (self.seen(held_out).filter(|seen| seen.found > 0), &self.provenance) {
            (Some(seen), Some(provenance)) if seen.exact => {
                (Cow::Owned(held_out.select(&provenance.places_outside(held_out))), false)
            }
            (seen, _) => (Cow::Borrowed(held_out), seen.is_some()),
        }
    }

    /// Conformal regions from held-out examples, of which nothing is proven yet.
    pub(crate) fn regions_from(&self, held_out: &Dataset, mondrian: bool) -> Result<Conformal, Error> {
        let members = vec![0; held_out.len()];
        let readout = &self.fitted.readout;
        let form = readout.form();
        if mondrian && form.is_none() {
            let finding =
                format!("{} predicts no classes, so none can be judged by itself; leave out --mondrian", self.machine);
            return Err(DataError::Usage { finding }.into());
        }
        let measure = match readout {
            Readout::Values { .. } => Measure::Residual,
            Readout::Novelty => Measure::Novelty,
            Readout::ArgMax { .. } | Readout::Vote { .. } if self.fitted.calibration.is_some() => Measure::Probability,
            Readout::ArgMax { .. } | Readout::Vote { .. } => Measure::Margin,
            Readout::LabelSets { .. } | Readout::Order => {
                let finding = format!("{} predicts sets or orders, of which no regions are made", self.machine);
                return Err(DataError::Usage { finding }.into());
            }
            Readout::Coordinates { .. } | Readout::Clusters { .. } | Readout::Parts(_) => {
                let finding = format!("{} predicts no target, so there are no sets or intervals of it", self.machine);
                return Err(DataError::Usage { finding }.into());
            }
        };
        let numbers = Support::default().by_itself(self, measure, held_out)?;
        let target = || held_out.target().ok_or(DataError::NoTarget);
        let kind = (Method::Split, mondrian, measure);
        Ok(match readout {
            Readout::Novelty => Conformal::new(kind, &numbers, 1, &[], &members),
            Readout::Values { names } => {
                let residuals = residuals(&numbers, target()?)?;
                Conformal::new(kind, &residuals, names.len(), &[], &members)
            }
            readout => {
                let labels = labels_of(readout);
                let codes = codes_of(labels, target()?)?;
                let own = own_scores(&numbers, labels.len(), &codes);
                let columns = if mondrian { labels.len() } else { 1 };
                Conformal::new(kind, &own, columns, &codes, &members)
            }
        })
    }
}

/// The labels of a classifier.
pub(crate) fn labels_of(readout: &Readout) -> &[String] {
    match readout {
        Readout::ArgMax { labels } | Readout::Vote { labels } => labels,
        _ => &[],
    }
}

/// The nonconformity of every label of every example.
pub(crate) fn of_labels(form: Form, k: usize, outputs: usize, scores: &[f64]) -> Vec<f64> {
    scores.chunks_exact(outputs.max(1)).flat_map(|row| nonconformities(form, k, row)).collect()
}

/// The place of each example's label among those of a model; past the end where the model does not know it.
pub(crate) fn codes_of(labels: &[String], target: &Target) -> Result<Vec<u32>, DataError> {
    let classes = target.classes()?;
    let places = places_of_labels(labels, &classes.labels);
    Ok(classes.codes.iter().map(|&c| places[c as usize].unwrap_or(labels.len()) as u32).collect())
}

/// The nonconformity of each example's own label; infinite where the model does not know it.
pub(crate) fn own_scores(numbers: &[f64], k: usize, codes: &[u32]) -> Vec<f64> {
    let own = |(row, &c): (&[f64], &u32)| row.get(c as usize).copied().unwrap_or(f64::INFINITY);
    numbers.chunks_exact(k.max(1)).zip(codes).map(own).collect()
}

/// |y − f(x)| of every example and output.
pub(crate) fn residuals(values: &[f64], target: &Target) -> Result<Vec<f64>, DataError> {
    let truth = target.numbers()?;
    if truth.values.len() != values.len() {
        let finding = format!(
            "the held-out examples have {} target columns, the model predicts {}",
            truth.names.len(),
            values.len() / target.len().max(1)
        );
        return Err(DataError::Unfit { finding });
    }
    if let Some(place) = truth.values.iter().position(|y| !y.is_finite()) {
        let finding =
            format!("the target of held-out example {} is not a finite number", place / truth.names.len() + 1);
        return Err(DataError::Unfit { finding });
    }
    Ok(truth.values.iter().zip(values).map(|(y, f)| (y - f).abs()).collect())
}
