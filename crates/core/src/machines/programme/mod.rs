//! Mathematical programmes: one loss, one penalty, one machine for each pair of them.
//!
//! ```text
//! min Σ_i w_i ℓ(y_i, f_i) + λ P(α),   f = Kα + b,   P = ½ αᵀKα,  ½ ‖α‖²  or  ‖α‖₁
//! ```
//! A machine of this family is a cell of the table of losses and penalties ([`Cell`]); those with a name of their own have a
//! file beside the other classifiers or regressions, with nothing but their declaration.
//!
//! # Source
//! Mika (2002), §3.4.7, §3.4.8, §3.6 and Tables 2.1, 3.1.

mod classes;
mod distinct;
mod numbers;
mod solve;
#[cfg(test)]
mod tests;

use super::class_weight::ClassWeight;
use super::multiclass::Strategy;
use super::support::Effort;
use super::theory::WEIGHED_CLASSES;
use super::{
    Compresses, ConvexLoss, Cost, FitError, Fitted, Learns, Machine, MachineEntry, Multipliers, Reads, Task, Theory,
    Threshold, Tolerates, Traits,
};
use crate::params::{Choice, Params, Rule, Visit};
use crate::solvers::{Loss, Penalty};
use crate::watch::Monitor;
use std::cmp::Ordering;

/// A cell of the table of losses and penalties.
pub struct Cell {
    /// The machine it is known as.
    pub entry: &'static MachineEntry,
    /// ℓ.
    pub loss: LossName,
    /// P.
    pub penalty: Penalty,
    /// The parameters among the two: (ℓ, P).
    pub free: (bool, bool),
    /// True if ν stands in the place of λ.
    pub by_nu: bool,
}

impl Cell {
    /// The cell of a loss and a penalty, both fixed, with λ.
    pub const fn new(entry: &'static MachineEntry, loss: LossName, penalty: Penalty) -> Self {
        Self { entry, loss, penalty, free: (false, false), by_nu: false }
    }

    /// The same with a loss that is a parameter; the one given is its default.
    #[must_use]
    pub const fn free_loss(mut self) -> Self {
        self.free.0 = true;
        self
    }

    /// The same with a penalty that is a parameter; the one given is its default.
    #[must_use]
    pub const fn free_penalty(mut self) -> Self {
        self.free.1 = true;
        self
    }

    /// The same with ν in the place of λ.
    #[must_use]
    pub const fn by_nu(mut self) -> Self {
        self.by_nu = true;
        self
    }
}

impl PartialEq for Cell {
    fn eq(&self, other: &Self) -> bool {
        self.entry.name == other.entry.name
    }
}

impl std::fmt::Debug for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.entry.name)
    }
}

/// min Σ w_i ℓ(y_i, f(x_i)) + λ P(α)
///
/// # Source
/// Mika (2002), §3.6; see the entry of each cell.
///
/// # Use when
/// A loss and a penalty are wanted that have no machine of their own, or several are to be compared.
///
/// # Cost
/// P = ½‖w‖²: as `svc`, or some ten factorisations for the logistic loss. P = ½‖α‖²: the same on K², which is stored. P = ‖α‖₁:
/// K is stored; see `solvers::sparse`.
#[derive(Clone, Debug, PartialEq)]
pub struct Programme {
    /// The cell it was made from, which says which of the rest are parameters.
    pub cell: &'static Cell,
    /// ℓ.
    pub loss: LossName,
    /// P.
    pub penalty: Penalty,
    /// λ > 0.
    pub lambda: f64,
    /// ν, where the cell has it in the place of λ: about the share of examples on the wrong side of the margin.
    pub nu: f64,
    /// ε of the insensitive loss.
    pub epsilon: f64,
    /// s of Huber's loss.
    pub width: f64,
    /// True if the function has an offset b.
    pub bias: bool,
    /// The place where two classes part.
    pub threshold: Threshold,
    /// Added to the score, for mistakes of unequal cost.
    pub shift: f64,
    /// The reduction of several classes to problems of two.
    pub strategy: Strategy,
    /// Weights of the classes: `none`, `balanced`, or `label:weight,label:weight`.
    pub class_weight: String,
    /// Sharpness and cost.
    pub effort: Effort,
}

impl Programme {
    /// The machine of a cell, with its default parameters.
    pub fn of(cell: &'static Cell) -> Self {
        Self {
            cell,
            loss: cell.loss,
            penalty: cell.penalty,
            lambda: 1.0,
            nu: 0.5,
            epsilon: 0.1,
            width: 1.0,
            bias: !cell.by_nu,
            threshold: if (cell.loss as usize) < MARGINS { Threshold::Programme } else { Threshold::Margin },
            shift: 0.0,
            strategy: Strategy::OneVsRest,
            class_weight: "none".to_owned(),
            effort: Effort::default(),
        }
    }

    /// ℓ with its parameter.
    fn loss(&self) -> Loss {
        match self.loss {
            LossName::Hinge => Loss::Hinge,
            LossName::SquaredHinge => Loss::SquaredHinge,
            LossName::Logistic => Loss::Logistic,
            LossName::Squared => Loss::Squared,
            LossName::Absolute => Loss::Absolute,
            LossName::EpsilonInsensitive => Loss::EpsilonInsensitive { epsilon: self.epsilon },
            LossName::Huber => Loss::Huber { width: self.width },
        }
    }

    fn name(&self) -> &'static str {
        self.cell.entry.name
    }

    fn wrong(&self, finding: &str) -> FitError {
        FitError::Param { machine: self.name(), finding: finding.to_owned() }
    }
}

/// The losses by name; ε and s are parameters of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossName {
    /// max(0, 1 − yf).
    Hinge,
    /// max(0, 1 − yf)².
    SquaredHinge,
    /// log(1 + exp(−yf)).
    Logistic,
    /// ½ (y − f)².
    Squared,
    /// |y − f|.
    Absolute,
    /// max(0, |y − f| − ε).
    EpsilonInsensitive,
    /// (y − f)²/2s up to s, then straight on.
    Huber,
}

/// In the order of the words; losses of margins, which only classes have, stand first.
const LOSSES: [LossName; 7] = [
    LossName::Hinge,
    LossName::SquaredHinge,
    LossName::Logistic,
    LossName::Squared,
    LossName::Absolute,
    LossName::EpsilonInsensitive,
    LossName::Huber,
];
const WORDS: &[&str] = &["hinge", "squared_hinge", "logistic", "squared", "absolute", "epsilon_insensitive", "huber"];
const MARGINS: usize = 3;

/// A loss as a choice among the last words.
struct Named<'a> {
    loss: &'a mut LossName,
    options: &'static [&'static str],
}

impl Choice for Named<'_> {
    fn options(&self) -> &'static [&'static str] {
        self.options
    }
    fn get(&self) -> usize {
        (*self.loss as usize).saturating_sub(LOSSES.len() - self.options.len())
    }
    fn set(&mut self, position: usize) {
        *self.loss = LOSSES[(position + LOSSES.len() - self.options.len()).min(LOSSES.len() - 1)];
    }
}

/// Why another threshold than the programme's leaves no theorem about its minimum.
const MOVED: &str = "the threshold is placed after the minimum is found, and the theorem is about the minimum: fit with threshold = solver and shift = 0";

impl Programme {
    /// True if the rule that predicts is the programme's minimum itself.
    fn unmoved(&self) -> bool {
        self.cell.entry.learns == Learns::Numbers || (self.threshold == Threshold::Programme && self.shift == 0.0)
    }

    /// The theory that its minimum allows: that of ½‖w‖² + C Σ ℓ with C = 1/λ where the penalty is the norm.
    fn theory(&self) -> Theory {
        let classes = self.cell.entry.learns == Learns::Classes;
        let theory = Theory {
            balances_classes: self.class_weight == ClassWeight::BALANCED,
            homogeneous: !self.bias && self.unmoved(),
            ..Theory::default()
        };
        if self.cell.by_nu || self.penalty != Penalty::Norm {
            return Theory {
                loss: Err(
                    "its penalty is on the coefficients, and the theorem is about the length ‖f‖ in feature space",
                ),
                ..theory
            };
        }
        if !self.unmoved() {
            return Theory { loss: Err(MOVED), compression: Compresses::Not(MOVED), ..theory };
        }
        let (c, free_offset, scale) = (1.0 / self.lambda, self.bias, self.lambda);
        let minimised = |cost: Cost| match self.class_weight.as_str() {
            "none" => Ok(ConvexLoss { c, cost, free_offset, scale }),
            _ => Err(WEIGHED_CLASSES),
        };
        let margins = Compresses::Margin { any_size: true };
        match self.loss {
            LossName::Hinge => Theory {
                loss: minimised(Cost::Hinge),
                compression: margins,
                multipliers: Some(Multipliers { c, ridge: 0.0, by_class: self.class_weight != "none" }),
                ..theory
            },
            LossName::SquaredHinge => Theory { loss: minimised(Cost::SquaredHinge), compression: margins, ..theory },
            LossName::Logistic => Theory { loss: minimised(Cost::Logistic), ..theory },
            // ½ (y − f)²
            LossName::Squared => {
                Theory { loss: minimised(Cost::Squared).map(|loss| ConvexLoss { c: 0.5 * c, ..loss }), ..theory }
            }
            LossName::Absolute => Theory { loss: minimised(Cost::Tube { epsilon: 0.0 }), ..theory },
            LossName::EpsilonInsensitive => {
                let tube = Compresses::Tube { epsilon: self.epsilon };
                let compression = if classes { theory.compression } else { tube };
                Theory { loss: minimised(Cost::Tube { epsilon: self.epsilon }), compression, ..theory }
            }
            LossName::Huber => Theory { loss: minimised(Cost::Huber { width: self.width }), ..theory },
        }
    }
}

impl Params for Programme {
    fn visit(&mut self, v: &mut dyn Visit) {
        let classes = self.cell.entry.learns == Learns::Classes;
        if self.cell.by_nu {
            v.real("nu", &mut self.nu, Rule::AboveUpTo(0.0, 1.0), "share ν of examples that may miss the margin");
        } else {
            v.real("lambda", &mut self.lambda, Rule::Above(0.0), "weight λ of the penalty; larger is smoother");
        }
        if self.cell.free.0 {
            let options = if classes { WORDS } else { &WORDS[MARGINS..] };
            v.choice("loss", &mut Named { loss: &mut self.loss, options }, "what an error costs");
        }
        if self.cell.free.1 {
            v.choice("penalty", &mut self.penalty, "norm ½‖w‖², coefficients ½‖α‖² or sparse ‖α‖₁");
        }
        // a loss that is free may become any, so its parameters are always there
        if self.cell.free.0 || self.loss == LossName::EpsilonInsensitive {
            v.real(
                "epsilon",
                &mut self.epsilon,
                Rule::AtLeast(0.0),
                "half the width ε of the tube of epsilon_insensitive",
            );
        }
        if self.cell.free.0 || self.loss == LossName::Huber {
            v.real("width", &mut self.width, Rule::Above(0.0), "error at which huber's square becomes a line");
        }
        v.switch("bias", &mut self.bias, "whether the function has an offset");
        if classes {
            v.choice("threshold", &mut self.threshold, "where two classes part");
            v.real("shift", &mut self.shift, Rule::Any, "added to the score of the first of two classes");
            v.choice("strategy", &mut self.strategy, "how several classes become problems of two");
            v.text("class_weight", &mut self.class_weight, ClassWeight::check, "none, balanced or label:weight,…");
        }
        self.effort.visit(v);
    }
}

impl Machine for Programme {
    fn entry(&self) -> &'static MachineEntry {
        self.cell.entry
    }

    fn traits(&self) -> Traits {
        Traits {
            reads: if self.penalty == Penalty::Norm && self.loss != LossName::Logistic {
                Reads::Rows
            } else {
                Reads::Blocks
            },
            weights: true,
            weighs_classes: ClassWeight::weighs(&self.class_weight),
            regularised_by: &[("lambda", Ordering::Greater)],
            searched: if self.cell.by_nu { "nu=0.05|0.1|0.2|0.4" } else { "lambda=0.001..100:log6" },
            theory: self.theory(),
            tolerates: match self.penalty {
                // Newton's method and factorisations go through α whose sum is not zero
                Penalty::Norm => {
                    let pairs = !matches!(self.loss, LossName::Logistic | LossName::Squared);
                    Tolerates::with_offset(self.bias && pairs)
                }
                Penalty::Coefficients | Penalty::Sparse => Tolerates::Any,
            },
            without_offset: !self.bias,
            ..Traits::default()
        }
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        match self.cell.entry.learns {
            Learns::Classes => self.on_classes(task, watch),
            _ => self.on_numbers(task, watch),
        }
    }
}
