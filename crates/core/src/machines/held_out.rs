//! Held-out answers: scores and models of fits that have not seen some examples, by machines that need not learn again for them.

use super::Expansion;
use crate::calibrate::Layout;

/// Held-out answers that a task asks for beside the fit.
///
/// A machine that can give the answer for less than learning again puts it into [`Fitted::held_out`](super::Fitted::held_out); any
/// other leaves that empty, and who asks learns again ([`crate::resample`]). A machine may take another of its solvers for the sake of
/// the answer; the problem that is solved stays the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeldOutRequest<'a> {
    /// The fit alone.
    #[default]
    Nothing,
    /// The score of every example by a fit without its fold, for probabilities to be learned from. Scores near those of fits without
    /// the fold are enough; examples in no fold may have scores as well. A score without a meaning is not a number: that of a class
    /// which the rest of the examples does not have.
    Scores(&'a [Vec<usize>]),
    /// The score of every example by the fit without it, exactly.
    LeaveOneOutScores,
    /// The models without each example in turn, and their scores of it, exactly.
    LeaveOneOutModels,
}

impl HeldOutRequest<'_> {
    /// True if one example is left out at a time.
    pub fn leaves_one_out(self) -> bool {
        matches!(self, Self::LeaveOneOutScores | Self::LeaveOneOutModels)
    }
}

/// The answer to a [`HeldOutRequest`].
#[derive(Clone, Debug)]
pub struct HeldOutAnswer {
    /// The score of every example by a fit that has not seen it.
    pub scores: Vec<f64>,
    /// The layout of the scores.
    pub layout: Layout,
    /// The n models without each example in one expansion, where they were asked for: n × outputs outputs, model by model. Points are
    /// places among the examples.
    pub models: Option<Expansion>,
}

impl HeldOutAnswer {
    /// Scores alone, n × outputs row by row.
    pub(super) fn outputs(scores: Vec<f64>) -> Self {
        Self { scores, layout: Layout::Outputs, models: None }
    }
}
