//! Conditions that all theorems on the same examples have in common, and what rules all of them out.

use super::{BoundEntry, Condition, Facts, Guarantee, NotApplicable, State};

/// The condition of a model whose file does not say which examples it was trained on.
pub const NOT_RECOGNISED: &str =
    "these are the examples that the model was trained on, and its fit is that of its machine: it does not know";
/// The condition where kernel values were given as a matrix, and nobody has looked.
pub const GIVEN_MATRIX: &str = "the given matrix is positive semi-definite: certify thoroughly to have it checked";
/// The condition where examples have weights.
pub const WEIGHTED: &str = "the weight of an example was drawn with it, and not chosen by looking at others";
/// The condition where a search is paid for.
pub(super) const LISTED_BEFORE: &str =
    "the candidates, and the bounds that judged them, were listed before these examples were looked at";
/// The condition where candidates or bounds have parts of δ of their own.
pub(super) const PRIOR_BEFORE: &str =
    "the prior over the candidates, and the parts of the bounds, were fixed before these examples were looked at";

/// The condition where the caller has given a radius that the formula does not.
pub const DECLARED_RADIUS: &str =
    "no example is longer than the radius that was given, which was known before the data";

impl Facts {
    /// The condition that every theorem on these examples needs; `None` where it holds.
    pub fn refuses(&self, entry: &BoundEntry) -> Option<NotApplicable> {
        if entry.uses_held_out {
            return self.held_out_repeats.refusal("held-out ").map(NotApplicable::because);
        }
        if let Some(repeated) = self.repeats.refusal("training ") {
            return Some(NotApplicable::because(repeated));
        }
        if self.penalty.learned == f64::INFINITY {
            return Some(NotApplicable::because(self.penalty.learned_what.clone()));
        }
        if self.examples < 1.0 {
            return Some(NotApplicable::because("there are no examples"));
        }
        None
    }

    /// Conditions that every theorem on these examples rests on.
    pub fn common_conditions(&self, entry: &BoundEntry) -> Vec<Condition> {
        let declared = |what: &str| Condition { what: what.to_owned(), state: State::Declared };
        let checked = |what: String| Condition { what, state: State::Checked };
        let mut conditions = vec![declared("examples are drawn independently from one distribution, new ones too")];
        if entry.uses_held_out {
            conditions.push(match self.penalty.held_out_candidates {
                0 | 1 => declared("the held-out examples were not used to fit or choose the model"),
                n => declared(&format!(
                    "the held-out examples were used for nothing but to compare {n} models, which is paid for"
                )),
            });
            if self.held_out_before {
                let what = "the held-out examples are those that the model remembers as held out before the search, recognised by their hash";
                conditions.push(checked(what.to_owned()));
            }
            conditions.extend(self.held_out_repeats.condition("held-out ").map(|what| declared(&what)));
            return conditions;
        }
        conditions.extend(self.repeats.condition("training ").map(|what| declared(&what)));
        conditions.extend(self.assumes.iter().map(|what| declared(what)));
        match self.penalty.candidates {
            None => conditions
                .push(declared("nothing was chosen by these examples: how many candidates were tried is unknown")),
            Some(1) => conditions.push(declared("machine, kernel and parameters were not chosen by these examples")),
            Some(n) => {
                let paid =
                    if entry.guarantee == Guarantee::HighProbability { "is paid for" } else { "is not paid for" };
                conditions.push(checked(format!(
                    "{n} candidates, or pairs of a candidate and a bound, were tried on these examples, which {paid}"
                )));
                conditions.push(declared(LISTED_BEFORE));
            }
        }
        if self.penalty.candidate_nats.is_some() {
            conditions.push(declared(PRIOR_BEFORE));
        }
        if self.penalty.learned > 0.0 {
            conditions
                .push(checked(format!("{}, which costs {:.0} nats", self.penalty.learned_what, self.penalty.learned)));
        }
        conditions
    }
}
