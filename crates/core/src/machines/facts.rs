//! Facts about a fit: the numbers of a report that other code reads, each by its own name.

use super::SolverReport;
use std::borrow::Cow;

/// A number about a fit that is not only told but also read: by certificates, figures, other machines or exports.
///
/// A machine that has one puts [`Fact::note`] among the notes of its report; who needs it asks [`SolverReport::fact`]. Both
/// name the fact by its type, so that writer and reader cannot differ. What is printed and saved is [`Fact::name`] with the
/// number, like any other note; notes without a fact are for readers of reports only, and no code looks them up.
///
/// The names stand in saved models: changing one makes older files lose that fact, and their certificates get weaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// The number of multipliers at their upper bound.
    BoundedMultipliers,
    /// 1 for a model that was to have probabilities, but was stopped before they were learned.
    CalibrationCutShort,
    /// 1 for a model that was to have conformal regions, but was stopped before they were learned.
    ConformalCutShort,
    /// The share of the variance along one principal direction, counted from 0.
    Explained(usize),
    /// The scale of the Laplace distribution that LIBSVM finds for the errors of a regression.
    LaplaceScale,
    /// λ, given or chosen by the machine.
    Lambda,
    /// The share of examples that a fit without them gets wrong.
    LeftOutError,
    /// The root of the mean squared error of each example by a fit without it.
    LeftOutRootMeanSquare,
    /// The number of offsets that the solution does not determine: any in an interval would do.
    LooseOffsets,
    /// Mistakes of a machine that goes through the examples in their order, the first time through.
    MistakesInFirstPass,
    /// The number of training examples outside the region, as predictions tell it.
    Outside,
    /// The largest residual of a linear system, relative to its right-hand side.
    RelativeResidual,
    /// ρ, the margin that a ν machine found; the smallest of several problems.
    Rho,
    /// ‖w‖², summed over problems.
    SquaredNorm,
    /// Half the width ε of the tube that ν led to.
    Tube {
        /// The output, counted from 0.
        output: usize,
        /// The number of outputs; a single one is not numbered.
        outputs: usize,
    },
}

impl Fact {
    /// The name in reports and files.
    pub fn name(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::BoundedMultipliers => "bounded_multipliers",
            Self::CalibrationCutShort => "calibration_cut_short",
            Self::ConformalCutShort => "conformal_cut_short",
            Self::Explained(direction) => return Cow::Owned(format!("explained_{}", direction + 1)),
            Self::LaplaceScale => "laplace_scale",
            Self::Lambda => "lambda",
            Self::LeftOutError => "loo_error",
            Self::LeftOutRootMeanSquare => "loo_rmse",
            Self::LooseOffsets => "loose_offsets",
            Self::MistakesInFirstPass => "mistakes_in_first_pass",
            Self::Outside => "outside",
            Self::RelativeResidual => "relative_residual",
            Self::Rho => "rho",
            Self::SquaredNorm => "squared_norm",
            Self::Tube { outputs: 1, .. } => "epsilon",
            Self::Tube { output, .. } => return Cow::Owned(format!("epsilon_{}", output + 1)),
        })
    }

    /// The fact with its number, as a note of a report.
    pub fn note(self, value: f64) -> (String, f64) {
        (self.name().into_owned(), value)
    }
}

impl SolverReport {
    /// The number of a fact, where the machine told it.
    pub fn fact(&self, fact: Fact) -> Option<f64> {
        let name = fact.name();
        self.notes.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_is_read_as_it_was_told() {
        let tube = |output, outputs| Fact::Tube { output, outputs };
        let facts = [Fact::Lambda, Fact::Explained(0), Fact::Explained(1), tube(0, 2), tube(1, 2), Fact::SquaredNorm];
        let notes = facts.iter().enumerate().map(|(place, fact)| fact.note(place as f64)).collect();
        let report = SolverReport { notes, ..SolverReport::direct() };
        for (place, fact) in facts.into_iter().enumerate() {
            assert_eq!(report.fact(fact), Some(place as f64), "{fact:?}");
        }
        assert_eq!((report.fact(Fact::Rho), report.fact(tube(0, 1))), (None, None));
    }

    #[test]
    fn names_in_saved_models_stay() {
        let names = [
            (Fact::BoundedMultipliers, "bounded_multipliers"),
            (Fact::LooseOffsets, "loose_offsets"),
            (Fact::MistakesInFirstPass, "mistakes_in_first_pass"),
            (Fact::LeftOutError, "loo_error"),
            (Fact::LeftOutRootMeanSquare, "loo_rmse"),
            (Fact::Outside, "outside"),
            (Fact::Rho, "rho"),
            (Fact::SquaredNorm, "squared_norm"),
            (Fact::Tube { output: 0, outputs: 1 }, "epsilon"),
            (Fact::Tube { output: 1, outputs: 2 }, "epsilon_2"),
            (Fact::Explained(2), "explained_3"),
        ];
        names.into_iter().for_each(|(fact, name)| assert_eq!(fact.name(), name));
    }
}
