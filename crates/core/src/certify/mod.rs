//! Certificates: statements of learning theory about the risk of a model, from its training examples or from held-out ones.
//!
//! [`facts()`] reads the numbers that theorems ask for off a model; the module `bounds` has the theorems, as functions of these
//! numbers. A certificate that rests on training examples pays a complexity penalty for everything that was chosen by looking at
//! them: ln of the number of candidates of a search, and 64 bits for each number that scaling and kernel took from them, so that
//! the statement holds for all numbers they might have taken (Occam's razor, a union bound over the choices).

mod ball;
mod cross_validation;
mod facts;
mod held_out;
mod informed;
mod left_out;
mod linear;
pub mod part;
mod plan;
mod prior;
mod report;
mod search;
mod seen;
mod thorough;
mod unlabelled;

pub use crate::bounds::{BoundEntry, Certificate, Claim, Condition, Facts, Guarantee, NotApplicable, Quantity, State};
pub use cross_validation::CrossValidated;
pub use facts::facts;
pub use plan::{CurvePoint, Expected, PlannedBound, plan, sample_size_figure};
pub use prior::CandidatePrior;
pub use report::statement;
pub use search::{CertifiedCandidate, CertifiedSelection, judges, least_certificate, record, select, selection_bounds};

use crate::bounds::{self, ComplexityPenalty};
use crate::data::Dataset;
use crate::error::Error;
use crate::gram::Budget;
use crate::model::Model;
use crate::parallel;
use crate::seed::Seed;
use crate::watch::Monitor;

/// Options of a certification.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// δ, the probability with which each certificate may fail.
    pub delta: f64,
    /// Labelled examples that training has not seen.
    pub held_out: Option<&'a Dataset>,
    /// Examples without labels, or whose labels nobody has looked at, drawn beside those of training: a prior is learned from them.
    pub unlabelled: Option<&'a Dataset>,
    /// The number of models that were compared on the held-out examples, this one included.
    pub held_out_candidates: usize,
    /// The number of candidates that were tried on the training examples, where the user knows better than the model.
    pub candidates: Option<usize>,
    /// ln(1/p) of this model under a prior over the candidates that was fixed before the data, in place of the logarithm of their number.
    pub candidate_nats: Option<f64>,
    /// The bounds that a search judges by and their parts of δ, in any proportion, both fixed before the data; empty for
    /// [`selection_bounds`] at equal parts.
    pub judges: &'a [(&'static BoundEntry, f64)],
    /// The prior over the candidates of a search.
    pub candidate_prior: Option<&'a CandidatePrior>,
    /// True to compute quantities that take m² to m³ operations: random signs, spans, the rank and the diameter of the examples, the
    /// widest margin, and a prior from one half.
    pub thorough: bool,
    /// True to learn a prior from one half of the examples, for one more fit.
    pub informed: bool,
    /// Draws of the simulation of the prior's mass of the version space, doubled up to six times while they differ much; 0 for none.
    /// They are always the same draws.
    pub evidence: usize,
    /// Ends between which every target lies, for regression.
    pub target_range: Option<[f64; 2]>,
    /// A number that √κ(x, x) does not exceed for any x, for kernels whose formula gives none: known before the data, not taken from
    /// them.
    pub radius: Option<f64>,
    /// In how many folds the error is also estimated by cross-validation, as many fits; 0 leaves out one example at a time.
    pub folds: Option<usize>,
    /// The memory that matrices may take.
    pub budget: Budget,
    /// Randomness of folds, halves and random signs.
    pub seed: Seed,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            delta: 0.05,
            held_out: None,
            unlabelled: None,
            held_out_candidates: 1,
            candidates: None,
            candidate_nats: None,
            judges: &[],
            candidate_prior: None,
            thorough: false,
            informed: false,
            evidence: 0,
            target_range: None,
            radius: None,
            folds: None,
            budget: Budget::default(),
            seed: Seed(0),
        }
    }
}

/// All certificates of a model.
#[derive(Clone, Debug)]
pub struct Certified {
    /// The facts that the certificates rest on.
    pub facts: Facts,
    /// The certificates: those that apply and say something first, by value; then those that say nothing; then those that do
    /// not apply.
    pub certificates: Vec<Certificate>,
    /// See [`Certified::best`].
    best: Option<Certificate>,
    /// The value of [`Certified::best`] if nothing were paid for what was learned before the fit; where something is paid.
    unpaid: Option<f64>,
    /// δ of each.
    pub delta: f64,
    /// The share of errors on the held-out examples.
    pub held_out_error: Option<f64>,
    /// The error of cross-validation where it was asked for: an estimate, not a guarantee.
    pub cross_validated: Option<CrossValidated>,
}

impl Model {
    /// The certificates of this model, given its training examples.
    ///
    /// ```
    /// use mercer::prelude::*;
    /// use mercer::watch::Silent;
    /// let table = mercer::datasets::load("two_moons", Some(400), Seed(1))?;
    /// let options = SchemaOptions { scale: Some(Scale::None), ..SchemaOptions::default() };
    /// let (_, data) = Schema::learn_and_apply(&table, &options)?;
    /// let model = Svc { c: 10.0, ..Svc::default() }.fit(&rbf(2.0), &data)?;
    /// let certified = model.certify(&data, &mercer::certify::Options::default(), &Silent)?;
    /// let best = certified.best().expect("a sparse model has a certificate");
    /// assert!(best.value.unwrap() < 0.5);
    /// println!("{}", certified.sentence());
    /// # Ok::<(), mercer::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the examples are not those of training, alone or with those that were held out before the search, have no target, or do not fit the kernel; if δ is not between 0 and 1; if
    /// folds are wanted of a model that they cannot judge.
    pub fn certify(&self, training: &Dataset, options: &Options<'_>, watch: &dyn Monitor) -> Result<Certified, Error> {
        let facts = facts(self, training, options, watch)?;
        let (training, _) = facts::without_held_out(self, training);
        let training = &*facts::learned_from(self, &training);
        let ways = (options.budget, options.seed);
        let folds =
            options.folds.map(|k| cross_validation::cross_validate(self, training, k, ways, watch)).transpose()?;
        Ok(Certified { cross_validated: folds, ..certify(facts, options.delta) })
    }
}

/// The certificates of facts.
pub fn certify(mut facts: Facts, delta: f64) -> Certified {
    facts.choose_posterior(delta);
    let few = facts.thinned();
    let entries: Vec<_> = bounds::all().collect();
    let told = |entry: &&'static BoundEntry| Certificate::told(entry, &facts, &few, delta);
    let mut certificates: Vec<Certificate> = parallel::map(entries.len(), |i| told(&entries[i]));
    certificates.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
    let held_out_error = facts.held_out.map(|h| h.errors / h.examples.max(1.0));
    let best = chosen(&facts, &certificates, delta);
    let unpaid = (facts.penalty.unprepared < facts.penalty.learned).then(|| {
        let penalty = ComplexityPenalty { learned: facts.penalty.unprepared, ..facts.penalty.clone() };
        chosen(&Facts { penalty, ..facts.clone() }, &certificates, delta)?.value
    });
    Certified { facts, certificates, best, unpaid: unpaid.flatten(), delta, held_out_error, cross_validated: None }
}

/// The order of usefulness: high probability before expectation before scores; what says nothing and what does not apply last.
fn rank(c: &Certificate) -> f64 {
    let kind = match (c.applicable, c.vacuous, c.guarantee) {
        (false, ..) => 5.0,
        (true, true, _) => 4.0,
        (_, _, Guarantee::HighProbability) => 0.0,
        (_, _, Guarantee::Expectation) => 1.0,
        (_, _, Guarantee::Exact) => 2.0,
        (_, _, Guarantee::Score) => 3.0,
    };
    10.0 * kind + c.value.unwrap_or(1.0).min(9.0)
}

impl Certified {
    /// The certificate to go by: of wrong predictions of the model in hand, with high probability, and true although it was
    /// chosen. Held-out examples have one bound; without them the least of [`selection_bounds`] is taken, each at its part of δ, and where
    /// none of those applies, the least of all others in the same way.
    pub fn best(&self) -> Option<&Certificate> {
        self.best.as_ref()
    }
}

fn chosen(facts: &Facts, all: &[Certificate], delta: f64) -> Option<Certificate> {
    let of_risk = |c: &&Certificate| {
        c.applicable
            && c.guarantee == Guarantee::HighProbability
            && matches!(c.quantity, Quantity::ZeroOneRisk | Quantity::TubeMisses | Quantity::NoveltyRate)
    };
    let useful: Vec<&Certificate> = all.iter().filter(of_risk).collect();
    let named = |names: &[&str]| names.iter().filter(|n| useful.iter().any(|c| c.bound == **n)).count();
    let alone: Vec<&str> = bounds::all().filter(|b| b.stands_alone()).map(|b| b.name).collect();
    let names: Vec<&str> = if named(&alone) > 0 {
        alone
    } else if named(&selection_bounds(facts.wants_prior)) > 0 {
        selection_bounds(facts.wants_prior)
    } else {
        useful.iter().map(|c| c.bound).collect()
    };
    let share = delta / names.len().max(1) as f64;
    let entries: Vec<_> = names.iter().filter_map(|name| bounds::find(name)).collect();
    let certificates: Vec<_> = parallel::map(entries.len(), |i| Certificate::of(entries[i], facts, share));
    let least = certificates
        .into_iter()
        .filter(|c| c.applicable && !c.vacuous)
        .min_by(|a, b| a.value.unwrap_or(1.0).total_cmp(&b.value.unwrap_or(1.0)))?;
    let looked = names.len() as f64;
    Some(Certificate { delta: Some(delta), price: least.price + looked.ln(), ..least })
}
