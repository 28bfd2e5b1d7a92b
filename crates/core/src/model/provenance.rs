//! Provenance: what was learned for a model, from which examples, and among how many candidates it was chosen.
//!
//! Coverage and certificates are computed from it. Its fields are private: jobs and searches write them, and the only public call that
//! changes them, [`Model::chosen_among`], can make a claim weaker, never stronger.

use super::Model;
use super::sample::Sample;
use crate::data::{Copies, Dataset, PreparationSet, Scope};
use crate::formula::{Formula, State};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A step that learns something before the machine runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Scaling, filling and coding of the columns of a table.
    Columns,
    /// Numbers of the kernel, such as `gamma=median`, or numbers that the caller took from the examples for it.
    KernelNumbers,
    /// Weights of the words or coordinates of a kernel, such as inverse document frequencies.
    KernelWeights,
    /// Examples that the kernel keeps as landmarks.
    Landmarks,
    /// The centre of the examples in feature space.
    Centre,
    /// Weights that balance the classes by their numbers.
    ClassBalance,
}

/// A step that has learned something from examples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LearnedFrom {
    /// The step.
    pub step: Step,
    /// The number of bits that describe what it has learned, where they can be counted: 64 for a number, 8 for a byte of a word.
    pub bits: f64,
    /// The examples that it has learned from.
    pub from: Scope,
}

/// The provenance of a model: its training examples, and the steps that learned from them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// [`Dataset::fingerprint`] of the training examples.
    fingerprint: String,
    /// A sample by which the training examples are recognised in any order; empty in older files, and in some of these
    /// where many occur more than once.
    #[serde(default, skip_serializing_if = "Sample::is_empty", alias = "recognised")]
    sample: Sample,
    /// True if the examples had weights.
    #[serde(default)]
    weighted: bool,
    /// Places of the examples that the machine was given, where it was given only a part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    part: Option<Vec<u32>>,
    /// Places of the examples that were set apart to prepare the others, among all of both: the machine has not learned from them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    set_apart: Option<Vec<u32>>,
    /// The examples that were held out before the search that chose the model, where that is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    held_out: Option<HeldOutPlaces>,
    /// The steps before the fit; `None` in older files, which have the two fields below instead.
    #[serde(default)]
    learned: Option<Vec<LearnedFrom>>,
    /// The number of parameters of the kernel that were computed from the examples, as older files have it.
    #[serde(default)]
    numbers_chosen: usize,
    /// True if weights balanced the classes, as older files have it.
    #[serde(default)]
    balanced: bool,
    /// The number of bounds that judged each candidate of a search by certificates; 0 where none did.
    #[serde(default, skip_serializing_if = "is_zero")]
    judges: usize,
}

/// The examples that were held out before anything was learned or searched, and judged the chosen model once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct HeldOutPlaces {
    /// [`Dataset::fingerprint`] of these examples.
    pub(crate) fingerprint: String,
    /// Their places among all examples of the file, in rising order.
    pub(crate) places: Vec<u32>,
}

/// True for a number that files leave out.
#[allow(clippy::trivially_copy_pass_by_ref)] // serde gives references
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Provenance {
    /// The provenance of a fit on all of `data`, whose examples at places `kept` are never held out: `asked` is the kernel of the job,
    /// `resolved` the kernel with everything learned, and the caller took `numbers_taken` numbers from the examples before.
    pub(crate) fn new(
        data: &Dataset,
        kept: Option<&[usize]>,
        (asked, resolved): (&Formula, &Formula),
        numbers_taken: usize,
    ) -> Self {
        let kernel = match (data.preparation_set(), kept) {
            // a centre belongs to the training examples, and so does what is learned on top of it
            (Some(_), _) if !resolved.needs_all_examples() => Scope::SetApart,
            (_, Some(_)) => Scope::Kept,
            (_, None) => Scope::All,
        };
        let mut learned = Vec::new();
        if let Some(columns) = data.preparation().filter(|p| p.learned_bits() > 0.0) {
            let from = columns.scope(kept.unwrap_or_default());
            learned.push(LearnedFrom { step: Step::Columns, bits: columns.learned_bits(), from });
        }
        learned.extend(of_kernel(resolved, asked.numbers_chosen(resolved, data), kernel));
        if numbers_taken > 0 {
            let bits = 64.0 * numbers_taken as f64;
            learned.push(LearnedFrom { step: Step::KernelNumbers, bits, from: Scope::All });
        }
        if data.is_balanced() {
            learned.push(LearnedFrom { step: Step::ClassBalance, bits: 0.0, from: Scope::All });
        }
        let (fingerprint, examples) = data.fingerprint_and_examples();
        Self {
            fingerprint,
            sample: Sample::of(examples),
            weighted: data.weights().is_some(),
            part: None,
            set_apart: data.preparation_set().and_then(PreparationSet::places).map(narrow),
            held_out: None,
            learned: Some(learned),
            numbers_chosen: 0,
            balanced: false,
            judges: 0,
        }
    }

    /// The same, with a machine that was given the examples at some places only.
    #[must_use]
    pub(crate) fn with_part(self, part: &[usize]) -> Self {
        Self { part: Some(narrow(part)), ..self }
    }

    /// [`Dataset::fingerprint`] of the training examples.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// The number of training examples, where the fingerprint tells.
    pub fn examples(&self) -> Option<usize> {
        self.fingerprint.split('-').next()?.parse().ok()
    }

    /// True if the examples had weights.
    pub fn weighted(&self) -> bool {
        self.weighted
    }

    /// Places of the examples that the machine was given, where it was given only a part.
    pub fn part(&self) -> Option<&[u32]> {
        self.part.as_deref()
    }

    /// Places of the examples that were set apart to prepare the others, among all of both, in rising order.
    pub fn set_apart(&self) -> Option<&[u32]> {
        self.set_apart.as_deref()
    }

    /// The examples that were held out before the search.
    pub(crate) fn held_out(&self) -> Option<&HeldOutPlaces> {
        self.held_out.as_ref()
    }

    /// Places of the examples that were held out before the search, among all examples of the file, in rising order.
    pub fn held_out_places(&self) -> Option<&[u32]> {
        self.held_out.as_ref().map(|held_out| held_out.places.as_slice())
    }

    /// True if so many of others are training examples, or of the training examples stand among them, that they are no new ones.
    pub(crate) fn knows_many_of(&self, others: &Dataset) -> bool {
        let n = others.len() as f64;
        self.copies_among(others).is_some_and(|(found, _)| {
            found.same || found.share * n > 0.05 * n + 3.0 || (found.share_of_known > 0.5 && found.share > 0.0)
        })
    }

    /// How many of others are copies of training examples, and whether that is counted rather than estimated; `None` if nothing tells.
    pub(super) fn copies_among(&self, others: &Dataset) -> Option<(Copies, bool)> {
        if self.fingerprint == others.fingerprint() {
            let all = Copies { share: 1.0, share_of_known: 1.0, equal: 1.0, deviations: f64::INFINITY, same: true };
            return Some((all, true));
        }
        self.sample.copies_among(others, self.examples())
    }

    /// The places of others that are equal to no training example, where all training examples are recognised one by one.
    pub(super) fn places_outside(&self, others: &Dataset) -> Vec<usize> {
        self.sample.places_outside(others)
    }

    /// The steps before the fit.
    pub fn learned(&self) -> &[LearnedFrom] {
        self.learned.as_deref().unwrap_or_default()
    }

    /// True if no step has learned from examples that may be held out: without that no coverage is proven.
    pub fn spares_held_out(&self) -> bool {
        self.learned().iter().all(|l| l.from != Scope::All)
    }

    /// Fills in the steps of an older file from its other fields, its kernel and its schema.
    pub(super) fn completed(mut self, kernel: &Formula, columns: Option<f64>) -> Self {
        if self.learned.is_none() {
            let mut learned = of_columns(columns);
            learned.extend(of_kernel(kernel, self.numbers_chosen, Scope::All));
            if self.balanced {
                learned.push(LearnedFrom { step: Step::ClassBalance, bits: 0.0, from: Scope::All });
            }
            self.learned = Some(learned);
        }
        self
    }
}

/// Places as files keep them.
fn narrow(places: &[usize]) -> Vec<u32> {
    places.iter().map(|&p| p as u32).collect()
}

/// The steps of columns that have learned so many bits.
fn of_columns(bits: Option<f64>) -> Vec<LearnedFrom> {
    let bits = bits.filter(|bits| *bits > 0.0);
    bits.map(|bits| LearnedFrom { step: Step::Columns, bits, from: Scope::All }).into_iter().collect()
}

/// The steps of a kernel with everything learned, of whose numbers so many were chosen by the examples.
fn of_kernel(kernel: &Formula, numbers_chosen: usize, from: Scope) -> Vec<LearnedFrom> {
    let mut learned = Vec::new();
    if numbers_chosen > 0 {
        learned.push(LearnedFrom { step: Step::KernelNumbers, bits: 64.0 * numbers_chosen as f64, from });
    }
    for state in kernel.state() {
        let (step, bits) = match state {
            State::Kernel(part) => {
                let words = part.words.iter().map(|w| w.len() + 1).sum::<usize>();
                (Step::KernelWeights, 64.0 * part.numbers.len() as f64 + 8.0 * words as f64)
            }
            State::Landmarks(_) => (Step::Landmarks, 0.0),
            // every centred kernel is one step, below
            State::Centre(_) => continue,
        };
        learned.push(LearnedFrom { step, bits, from });
    }
    if kernel.needs_all_examples() {
        learned.push(LearnedFrom { step: Step::Centre, bits: 0.0, from });
    }
    learned
}

impl Model {
    /// The provenance: the steps that learned before the fit, and from which examples; `None` where the file of another program or an older one does not have it.
    pub fn provenance(&self) -> Option<&Provenance> {
        self.provenance.as_ref()
    }

    /// The steps that learned something before the fit. A model of unknown provenance has those that its kernel and its schema show.
    pub(crate) fn learned(&self) -> Vec<LearnedFrom> {
        match &self.provenance {
            Some(provenance) => provenance.learned().to_vec(),
            None => {
                let mut learned = of_columns(self.schema.as_ref().map(crate::data::Schema::learned_bits));
                learned.extend(of_kernel(&self.kernel, 0, Scope::All));
                learned
            }
        }
    }

    /// The number of models that were tried on the same examples, this one included; 0 where the file of another program does not have it.
    pub fn candidates(&self) -> usize {
        self.candidates
    }

    /// The number of models that a search tried, where it judged each by several bounds: [`Model::candidates`] counts pairs then.
    pub fn models_tried(&self) -> usize {
        let judges = self.provenance.as_ref().map_or(0, |provenance| provenance.judges);
        self.candidates.checked_div(judges).unwrap_or(self.candidates)
    }

    /// Records that the model was chosen among so many by their certificates, each the least of some bounds; with a prior over candidates, this
    /// one pays so many nats.
    pub(crate) fn chosen_by_certificate(&mut self, candidates: usize, bounds: usize, nats: Option<f64>) {
        if let Some(provenance) = self.provenance.as_mut().filter(|_| self.candidates <= 1) {
            provenance.judges = bounds;
        }
        self.chosen_at(candidates * bounds, nats);
    }

    /// The nats that certificates pay for the choice among the candidates that are recorded.
    pub(crate) fn paid_for_choice(&self) -> f64 {
        self.candidate_nats.unwrap_or_else(|| (self.candidates.max(1) as f64).ln())
    }

    /// Records the examples that were held out before the search, by their places among all examples of the file, in rising order: a
    /// certificate that is given that file then knows which of its rows the model has learned from, and judges it by the others. That nobody
    /// has looked at these before is the caller's word, as for other held-out examples.
    pub fn remember_held_out(&mut self, held_out: &Dataset, places: &[usize]) {
        if let Some(provenance) = &mut self.provenance {
            let held_out = HeldOutPlaces { fingerprint: held_out.fingerprint(), places: narrow(places) };
            provenance.held_out = Some(held_out);
        }
    }

    /// Records that the model was chosen among so many, this one included, with the help of its training examples: certificates pay for
    /// all of them, and regions that were learned from the same examples lose their proof. A number that was recorded before is
    /// never lowered, and neither is what has been paid for it.
    pub fn chosen_among(&mut self, candidates: usize) {
        self.chosen_at(candidates, None);
    }

    /// The same at a price of its own, ln(1/p) under a prior over the candidates.
    pub(crate) fn chosen_at(&mut self, candidates: usize, nats: Option<f64>) {
        // an equal part of δ for each of a larger number is one that each may take; the larger of two prices holds at both
        let paid = nats.filter(|nats| *nats >= 0.0).map(|nats| nats.max(self.paid_for_choice()));
        let kept = self.candidate_nats.filter(|nats| candidates <= self.candidates || *nats > (candidates as f64).ln());
        self.candidates = self.candidates.max(candidates);
        self.candidate_nats = paid.or(kept);
        self.tell_job(candidates);
        if let Some(conformal) = self.conformal.as_mut().filter(|_| candidates > 1) {
            conformal.withdraw_proof();
        }
    }

    /// The job knows what a fit of it must pay, too.
    pub(super) fn tell_job(&mut self, candidates: usize) {
        let nats = self.candidate_nats;
        if let Some(job) = self.job.as_mut().filter(|job| job.candidates < candidates || job.candidate_nats != nats) {
            let job = Arc::make_mut(job);
            (job.candidates, job.candidate_nats) = (job.candidates.max(candidates), nats);
        }
    }
}
