//! Facts: the numbers about a fit that theorems ask for. A field is `None` where the fit has no such thing, or where nobody
//! has computed it; the reasons are the bounds' to tell.

use super::linear::{Linear, evenly};
use super::{BoundEntry, NotApplicable};
use crate::data::{Repeats, RepeatsBeside};

/// The task: what is predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// So many classes.
    Classes(usize),
    /// Numbers.
    Numbers,
    /// Novelties: examples that are unlike the others.
    Novelty,
    /// Nothing that could be wrong.
    Nothing,
}

/// The complexity penalty for everything that was chosen by looking at the same examples.
#[derive(Clone, Debug, PartialEq)]
pub struct ComplexityPenalty {
    /// The number of candidates that were tried, this one included; `None` where it is not known.
    pub candidates: Option<usize>,
    /// The number of candidates that were compared on the held-out examples.
    pub held_out_candidates: usize,
    /// ln(1/p) of this model under a prior over the candidates that was fixed before the data; `None` where all are alike.
    pub candidate_nats: Option<f64>,
    /// Nats for the numbers that schema, kernel and machine took from the examples before the fit.
    pub learned: f64,
    /// Those of them that would be left if a share of the examples prepared the others.
    pub unprepared: f64,
    /// The sources of these nats, in words; empty if there is none.
    pub learned_what: String,
}

impl Default for ComplexityPenalty {
    fn default() -> Self {
        Self {
            candidates: Some(1),
            held_out_candidates: 1,
            candidate_nats: None,
            learned: 0.0,
            unprepared: 0.0,
            learned_what: String::new(),
        }
    }
}

impl ComplexityPenalty {
    /// The penalty of a bound in nats.
    pub fn nats(&self, entry: &BoundEntry) -> f64 {
        if entry.uses_held_out {
            return (self.held_out_candidates.max(1) as f64).ln();
        }
        self.choice() + self.learned
    }

    /// Nats for the choice among candidates.
    pub fn choice(&self) -> f64 {
        self.candidate_nats.unwrap_or_else(|| (self.candidates.unwrap_or(1).max(1) as f64).ln())
    }
}

/// The smallest part of the examples from which the same model comes out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compression {
    /// Number of examples, counted on the safe side.
    pub size: f64,
    /// Number of those that are beyond doubt.
    pub surely: f64,
    /// Misclassified examples (values outside the tube, novelties) that are not among them.
    pub errors_outside: f64,
    /// True if leaving out any of the others changes nothing.
    pub stable: bool,
    /// True if the theorem of observed complexity holds: the problem can also be stated for any number of examples.
    pub scenario: bool,
    /// True if a share of the examples is a constant of the problem: the same number of examples, not the same share, on a part of
    /// them.
    pub share_of_all: bool,
}

/// Facts about the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KernelFacts {
    /// sup √κ(x, x) over all x, where the formula tells; with the 1 for an offset.
    pub radius: Option<f64>,
    /// The diameter of the training examples in the problem that was solved, where it was computed.
    pub diameter: Option<f64>,
    /// The radius of the smallest ball that holds the training examples, around the origin without an offset and anywhere with one, where
    /// it was computed.
    pub ball: Option<f64>,
    /// Dimension of the feature space, where it is finite.
    pub dimension: Option<f64>,
    /// Nats for a dimension that was read off the examples, as that of sparse vectors is: ln d + ln(d + 1), since Σ 1/(d(d + 1)) = 1.
    pub dimension_nats: f64,
    /// Σ κ(x_i, x_i), with the 1 for an offset.
    pub trace: f64,
    /// The rank of the kernel matrix, where it was computed or bounded.
    pub rank: Option<f64>,
    /// True if the rank is that of pivots, of which those near rounding count for nothing.
    pub rank_by_pivots: bool,
    /// E_σ √(σᵀKσ), where it was simulated.
    pub random_signs: Option<f64>,
    /// True if κ(x, x′) ≥ 0 for all x and x′.
    pub never_negative: bool,
}

/// f = argmin (1/m) Σ l(f(x_i), y_i) + λ‖f‖².
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regularised {
    /// λ = 1/(2Cm).
    pub lambda: f64,
    /// Lipschitz constant of l in f; `None` for the square.
    pub lipschitz: Option<f64>,
    /// The mean loss of the training examples.
    pub mean_loss: f64,
    /// The mean loss of each example by the fit without it, where it has a closed form.
    pub left_out: Option<f64>,
    /// The mean of min(1, max(0, 1 − yf)) of each example by the fit without it, for classes, where it has a closed form.
    pub left_out_clipped: Option<f64>,
    /// True if there is an offset that is not penalised.
    pub free_offset: bool,
    /// True if the machine can be fitted without one.
    pub spares_offset: bool,
    /// The ends between which every target lies, for numbers.
    pub range: Option<[f64; 2]>,
    /// The largest distance of the weight vector from that of the exact solution.
    pub from_optimum: f64,
}

/// Errors on examples that training has not seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeldOutErrors {
    /// Number of examples.
    pub examples: f64,
    /// Number of errors: misclassified, outside the tube, or called novelties.
    pub errors: f64,
}

/// |y − f(x)| of examples that training has not seen, f cut off at the ends between which every target lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeldOutLoss {
    /// Number of examples.
    pub examples: f64,
    /// The mean.
    pub mean: f64,
    /// The variance, with n − 1.
    pub variance: f64,
    /// The largest there can be.
    pub range: f64,
}

/// A classifier that was learned from a part of the examples, as the centre of a prior for the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Informed {
    /// Number of examples that are left.
    pub examples: f64,
    /// The cosine of the angle between its weight vector and that of the model.
    pub cosine: f64,
    /// Γ_i of the model at the examples that are left.
    pub gammas: Vec<f64>,
}

/// Leaving out one example after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LeaveOneOut {
    /// Errors of the fits without the example, where that has a closed form.
    pub errors: Option<f64>,
    /// Support vectors whose span is too long: α_p S_p² ≥ y_p f(x_p).
    pub span: Option<f64>,
    /// (1/m) Σ (y − f)²/(1 − tr H/m)², f = Hy, where it was computed.
    pub generalised: Option<f64>,
}

/// The prior's probability of all classifiers without training error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// −ln of the estimate.
    pub nats: f64,
    /// Nats that turn the estimate into a lower end: the estimate is unbiased, so Markov's inequality does.
    pub confidence: f64,
    /// The standard deviation of the estimate over the estimate, as the draws show it.
    pub relative_error: f64,
    /// The number of draws.
    pub draws: f64,
    /// −ln of the mass of all classifiers within the margin's angle of the model, which is a part of it, where there is a margin.
    pub cap: Option<f64>,
    /// The number that was added to the diagonal of the prior's covariance.
    pub nugget: f64,
}

impl Evidence {
    /// −ln of a number that the probability is not below: by simulation with its confidence, or by the cap without any.
    pub fn least(&self) -> f64 {
        self.cap.map_or(f64::INFINITY, |cap| cap).min(self.nats + self.confidence)
    }

    /// True if that number is the simulation's.
    pub fn is_simulated(&self) -> bool {
        self.cap.is_none_or(|cap| cap > self.nats + self.confidence)
    }

    /// True if few of the draws carry the estimate, so that others would give another one.
    pub fn is_rough(&self) -> bool {
        self.is_simulated() && self.relative_error > 0.5
    }
}

/// A detector of novelties.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Novelty {
    /// Training examples called novelties.
    pub outliers: f64,
    /// True if its problem leaves no training example outside, whatever they are: ν m ≤ 1.
    pub hard: bool,
    /// ‖w‖ of a hyperplane detector.
    pub norm: Option<f64>,
    /// Σ max(0, ρ − f(x_i)).
    pub shortfall: f64,
    /// ρ.
    pub rho: f64,
    /// The slack's δ, if the detector is the largest distance from the centre and a slack.
    pub centre_delta: Option<f64>,
}

/// ν and the two shares of the training examples that it lies between.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NuProperty {
    /// ν.
    pub nu: f64,
    /// Examples inside the margin, outside the tube or outside the region.
    pub outside: f64,
    /// Examples that carry weight.
    pub support: f64,
}

/// A pass of an on-line learner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Online {
    /// Mistakes in the first pass.
    pub mistakes: f64,
    /// Different examples that ever changed the model.
    pub updated: f64,
    /// A bound of the mistakes in any number of passes, (ς/γ)² with the margin reached by any classifier of the sample.
    pub mistake_bound: Option<f64>,
}

/// All facts.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "facts are independent of each other, and each holds or not")]
pub struct Facts {
    /// The machine's name.
    pub machine: String,
    /// m.
    pub examples: f64,
    /// The task: what is predicted.
    pub task: Task,
    /// The complexity penalty.
    pub penalty: ComplexityPenalty,
    /// Training errors.
    pub errors: Option<f64>,
    /// ln(1/P(h)) of the model's numbers, where it is a list of them on features that are known before the data.
    pub description: Option<f64>,
    /// See [`Compression`].
    pub compression: Option<Compression>,
    /// Why there is none.
    pub no_compression: String,
    /// See [`Linear`].
    pub linear: Option<Linear>,
    /// The reason why the classifier is not one in feature space.
    pub no_linear: String,
    /// See [`KernelFacts`].
    pub kernel: KernelFacts,
    /// See [`Regularised`].
    pub regularised: Option<Regularised>,
    /// Why there is none.
    pub no_regularised: String,
    /// See [`HeldOutErrors`].
    pub held_out: Option<HeldOutErrors>,
    /// See [`HeldOutLoss`].
    pub held_out_loss: Option<HeldOutLoss>,
    /// See [`Informed`].
    pub informed: Option<Informed>,
    /// Γ_i of the model under each prior of a grid that was learned from unlabelled examples; empty where there are none.
    pub unlabelled: Vec<Vec<f64>>,
    /// True if a learned prior was asked for, found or not.
    pub wants_prior: bool,
    /// Training examples that are equal to one another, and their target too.
    pub repeats: Repeats,
    /// Held-out examples that are equal to one another or to those of training.
    pub held_out_repeats: RepeatsBeside,
    /// True if the held-out examples are those that the model remembers to have been held out before its search.
    pub held_out_before: bool,
    /// True if what takes m² to m³ operations was computed.
    pub thorough: bool,
    /// True if two examples are the same but for their target.
    pub copies: bool,
    /// Conditions of statements about the training examples on this fit, beyond those that all statements have.
    pub assumes: Vec<&'static str>,
    /// See [`LeaveOneOut`].
    pub leave_one_out: LeaveOneOut,
    /// See [`Evidence`].
    pub evidence: Option<Evidence>,
    /// See [`Novelty`].
    pub novelty: Option<Novelty>,
    /// See [`NuProperty`].
    pub nu: Option<NuProperty>,
    /// See [`Online`].
    pub online: Option<Online>,
}

impl Facts {
    /// Nothing known but the number of examples.
    pub fn bare(examples: f64, task: Task) -> Self {
        Self {
            machine: String::new(),
            examples,
            task,
            penalty: ComplexityPenalty::default(),
            errors: None,
            description: None,
            compression: None,
            no_compression: "no compression set is known".to_owned(),
            linear: None,
            no_linear: "no linear classifier is known".to_owned(),
            kernel: KernelFacts::default(),
            regularised: None,
            no_regularised: "no loss is known that was minimised together with λ‖f‖²".to_owned(),
            held_out: None,
            held_out_loss: None,
            informed: None,
            unlabelled: Vec::new(),
            wants_prior: false,
            repeats: Repeats::default(),
            held_out_repeats: RepeatsBeside::default(),
            held_out_before: false,
            thorough: false,
            copies: false,
            assumes: Vec::new(),
            leave_one_out: LeaveOneOut::default(),
            evidence: None,
            novelty: None,
            nu: None,
            online: None,
        }
    }

    /// The same facts for m examples: rates, margins and complexities stay, what is summed over the examples grows.
    #[must_use]
    pub fn at(&self, m: f64) -> Self {
        let grow = m / self.examples.max(1.0);
        let mut facts = self.clone();
        facts.examples = m;
        facts.errors = self.errors.map(|e| e * grow);
        facts.kernel.trace *= grow;
        facts.kernel.random_signs = self.kernel.random_signs.map(|s| s * grow.sqrt());
        if let Some(linear) = &mut facts.linear {
            // more examples afford another scale
            linear.posterior = None;
        }
        if let Some(held_out) = &mut facts.held_out {
            // a whole number of errors would flatter some m, and the bound would rise after it; tails take any number
            let grow = m / held_out.examples.max(1.0);
            held_out.errors *= grow;
            held_out.examples = m;
        }
        if let Some(loss) = &mut facts.held_out_loss {
            loss.examples = m;
        }
        if let Some(informed) = &mut facts.informed {
            informed.examples *= grow;
        }
        if let Some(compression) = &mut facts.compression {
            compression.errors_outside *= grow;
            // every example that is wrong determines the model: their share does not shrink
            if compression.stable {
                compression.size = compression.size.max(facts.errors.unwrap_or(0.0).floor());
            }
        }
        if let Some(novelty) = &mut facts.novelty {
            novelty.outliers *= grow;
            novelty.shortfall *= grow;
        }
        if let Some(nu) = &mut facts.nu {
            nu.outside *= grow;
            nu.support *= grow;
        }
        if let Some(online) = &mut facts.online {
            online.mistakes *= grow;
        }
        facts
    }

    /// The same facts with at most a hundred margins, evenly spaced in their order: enough for what is only imagined.
    #[must_use]
    pub fn thinned(&self) -> Self {
        // the long lists are not copied to be thrown away
        let linear = self.linear.as_ref().map(|l| Linear {
            margins: evenly(&l.margins),
            gammas: evenly(&l.gammas),
            dual: l.dual.clone(),
            posterior: None,
            ..*l
        });
        let informed = self.informed.as_ref().map(|i| Informed { gammas: evenly(&i.gammas), ..*i });
        Self {
            machine: self.machine.clone(),
            penalty: self.penalty.clone(),
            assumes: self.assumes.clone(),
            no_compression: self.no_compression.clone(),
            no_linear: self.no_linear.clone(),
            no_regularised: self.no_regularised.clone(),
            linear,
            informed,
            unlabelled: self.unlabelled.iter().map(|gammas| evenly(gammas)).collect(),
            ..*self
        }
    }

    /// Refuses where two examples are the same, since then points have positive probability.
    pub fn without_copies(&self) -> Result<(), NotApplicable> {
        if self.copies {
            return Err(NotApplicable::because(
                "two examples are the same, so points have positive probability, which it rules out",
            ));
        }
        Ok(())
    }

    /// Training errors as a share.
    pub fn error_rate(&self) -> Option<f64> {
        self.errors.map(|e| e / self.examples.max(1.0))
    }
}
