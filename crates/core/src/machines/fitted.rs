//! The result of a fit: an expansion, its readout, and the report of the solver.

use super::{Expansion, FitError, HeldOutAnswer, Order, Output, Part, PartNames, Posterior, Readout, Variances};
use crate::calibrate::Calibration;
use crate::gram::{Gram, Side, diagonal};
use crate::linalg::SolveError;
use crate::watch::Status;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A fitted machine, before it is joined with its kernel and data to a model.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The expansion, which gives the scores of an example.
    pub expansion: Expansion,
    /// The readout, which turns scores into predictions.
    pub readout: Readout,
    /// The report of the solver.
    pub report: SolverReport,
    /// The calibration, which turns scores into probabilities, where one was learned.
    pub calibration: Option<Calibration>,
    /// The posterior, which gives the variances of scores, where the machine has one.
    pub posterior: Option<Posterior>,
    /// Scores of the training examples, row by row, where the solver has them anyway; they are not saved.
    pub training_scores: Option<Vec<f64>>,
    /// The held-out answers that the task asked for, where the machine has them without learning again; they are not saved.
    pub held_out: Option<HeldOutAnswer>,
    /// The part that the order of the examples had in this fit, where the machine chose its solver by the memory there was; it is not saved.
    pub order: Order,
}

impl Fitted {
    /// A fit with the three parts that every machine has; the others are added by the machines that have them.
    pub const fn new(expansion: Expansion, readout: Readout, report: SolverReport) -> Self {
        Self {
            expansion,
            readout,
            report,
            calibration: None,
            posterior: None,
            training_scores: None,
            held_out: None,
            order: Order::Irrelevant,
        }
    }

    /// A fit of several parts, each with its names.
    pub fn of_parts(parts: Vec<(PartNames, Part)>, report: SolverReport) -> Self {
        let (names, parts) = parts.into_iter().unzip();
        Self::new(Expansion::of_parts(parts), Readout::Parts(names), report)
    }

    /// The same, with a calibration.
    #[must_use]
    pub fn with_calibration(self, calibration: Option<Calibration>) -> Self {
        Self { calibration, ..self }
    }

    /// The same, with a posterior.
    #[must_use]
    pub fn with_posterior(self, posterior: Option<Posterior>) -> Self {
        Self { posterior, ..self }
    }

    /// The same, with the scores of the training examples, row by row, where they are known.
    #[must_use]
    pub fn with_training_scores(self, training_scores: Option<Vec<f64>>) -> Self {
        Self { training_scores, ..self }
    }

    /// The same, unless it cannot score the example with the largest κ(x, x): for machines that compute no score in learning, so that a
    /// kernel whose values overflow would be noticed by predictions only.
    ///
    /// # Errors
    /// If a score of that example is not finite.
    pub(super) fn scorable(self, machine: &'static str, gram: &Arc<dyn Gram>) -> Result<Self, FitError> {
        let own = gram.self_similarities(Side::Rows).unwrap_or_else(|| diagonal(gram.as_ref()));
        let Some(at) = (0..own.len()).max_by(|&a, &b| own[a].total_cmp(&own[b])) else { return Ok(self) };
        let cross = Arc::clone(gram).restrict(&[at], self.expansion.points());
        if self.expansion.scores(cross.as_ref()).iter().all(|score| score.is_finite()) {
            return Ok(self);
        }
        Err(FitError::Solve { machine, error: SolveError::ScoreNotFinite { example: at + 1 } })
    }

    /// The same, with held-out answers, where the task asked for some and they are known.
    #[must_use]
    pub fn with_held_out(self, held_out: Option<HeldOutAnswer>) -> Self {
        Self { held_out, ..self }
    }

    /// The same, with the part that the order of the examples had in it.
    #[must_use]
    pub fn with_order(self, order: Order) -> Self {
        Self { order, ..self }
    }

    /// Reads a batch of scores, row by row: predictions, with probabilities where they were learned. The label is the
    /// same with and without them, and has the largest unless classes were weighed.
    pub fn read(&self, scores: Vec<f64>) -> Output {
        let calibrated = self.calibration.as_ref().zip(self.readout.form());
        let Some((calibration, (form, labels))) = calibrated else { return self.readout.read(scores) };
        let mut output = self.readout.read(scores.clone());
        if let Output::Labels { codes, probabilities, .. } = &mut output {
            *probabilities = Some(calibration.probabilities(form, labels, &scores, codes));
        }
        output
    }

    /// Reads a batch of scores with their variances; predicted numbers keep these.
    pub(crate) fn read_uncertain(&self, scores: Vec<f64>, known: Option<Variances>) -> Output {
        let mut output = self.read(scores);
        if let Output::Values { variances, .. } = &mut output {
            *variances = known;
        }
        output
    }
}

/// The report of a solver about its solution; a field is `None` where it has no meaning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SolverReport {
    /// The status at the end.
    pub status: Status,
    /// Steps taken; 0 for direct solvers.
    pub iterations: usize,
    /// Steps of each sub-problem (pairs of classes in their order); empty where there is a single one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub iterations_of_each: Vec<usize>,
    /// The value of the problem that was minimised (summed over sub-problems).
    pub objective: Option<f64>,
    /// Primal minus dual objective.
    pub duality_gap: Option<f64>,
    /// The largest violation of the optimality conditions.
    pub violation: Option<f64>,
    /// The number of examples that carry weight.
    pub support: Option<usize>,
    /// The storage of kernel values, in words.
    pub storage: String,
    /// Further numbers that only some machines have, by name; they are printed, never read back.
    pub notes: Vec<(String, f64)>,
    /// Advice in sentences: why the fit took long, and what could be changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advice: Vec<String>,
}

/// The steps of several sub-problems; empty for a single one, whose steps are the sum.
pub(super) fn each(iterations: impl Iterator<Item = usize>) -> Vec<usize> {
    let all: Vec<usize> = iterations.collect();
    if all.len() > 1 { all } else { Vec::new() }
}

impl SolverReport {
    /// The report of a direct solver that has nothing more to say.
    pub fn direct() -> Self {
        Self {
            status: Status::Converged,
            iterations: 0,
            iterations_of_each: Vec::new(),
            objective: None,
            duality_gap: None,
            violation: None,
            support: None,
            storage: "kernel matrix streamed".to_owned(),
            notes: Vec::new(),
            advice: Vec::new(),
        }
    }
}
