//! Certificates in words.

use super::Certified;
use crate::bounds::{self, Certificate, Evidence, Guarantee, Quantity, Task};
use crate::plot::{
    CertificateBar, CertificateFigure, Theme, at_most, digits_at_most, percent_at_least, percent_at_most, trimmed,
};

impl Certified {
    /// The best certificate as a sentence, and the remedy where what was learned before the fit is what spoils it.
    pub fn sentence(&self) -> String {
        format!("{}{}", self.verdict(), self.remedy())
    }

    /// The way to pay nothing for what was learned before the fit, where that alone makes the certificate void or nearly so.
    fn remedy(&self) -> String {
        let value = self.best().and_then(|best| best.value).unwrap_or(1.0);
        let on_training = self.best().is_none_or(|best| !on_held_out(best));
        let Some(unpaid) = self.unpaid.filter(|unpaid| on_training && value > 0.5 && *unpaid < 0.5 * value) else {
            return String::new();
        };
        let price = self.facts.penalty.learned;
        let cost = if price.is_finite() { format!(", which costs {price:.0} nats") } else { String::new() };
        format!(
            " {}{cost}; without that the certificate would be about {}. Fit with a preparation share (--preparation-share 0.2), which learns such things from a share of the examples and pays nothing; the others alone are certified, so that it comes out somewhat larger.",
            sentence_case(&self.facts.penalty.learned_what),
            at_most(unpaid, 4)
        )
    }

    /// The bound of the mean loss on held-out examples, if it says something.
    fn loss_bound(&self) -> Option<&Certificate> {
        let is_one = |c: &&Certificate| {
            c.applicable
                && !c.vacuous
                && on_held_out(c)
                && c.quantity == Quantity::ExpectedLoss
                && c.guarantee == Guarantee::HighProbability
        };
        self.certificates.iter().find(is_one)
    }

    /// Why nothing is certified at all, where rows were repeated.
    fn refused(&self) -> Option<String> {
        let facts = &self.facts;
        let held_out = facts.held_out.is_some() || facts.held_out_loss.is_some();
        let why = if held_out { facts.held_out_repeats.refusal("held-out ") } else { None };
        why.or_else(|| facts.repeats.refusal("training "))
    }

    fn verdict(&self) -> String {
        match self.best() {
            Some(best) if on_held_out(best) => {
                let copies = but(self.facts.held_out_repeats.condition("held-out "));
                format!("{} ({}).{copies}", statement(best), best.bound)
            }
            Some(best) => {
                let copies = but(self.facts.repeats.condition("training "));
                format!("{} ({}; that it was chosen among several is paid for).{copies}", statement(best), best.bound)
            }
            // of numbers, a bound of the mean loss is all that there may be
            None if self.loss_bound().is_some() => {
                let copies = but(self.facts.held_out_repeats.condition("held-out "));
                let told = |bound: &Certificate| format!("{} ({}).{copies}", statement(bound), bound.bound);
                self.loss_bound().map_or_else(String::new, told)
            }
            None if self.refused().is_some() => {
                self.refused().map_or_else(String::new, |why| format!("Nothing is certified: {why}."))
            }
            None => {
                let near = self
                    .certificates
                    .iter()
                    .filter(|c| c.vacuous)
                    .find_map(|c| c.examples_needed.and_then(|n| n.below_one).map(|m| (c.bound, m)));
                let more = near.map_or(String::new(), |(bound, m)| {
                    format!("; {bound} would say something from {m} examples on, at the same complexity")
                });
                let remedy = if self.facts.held_out.is_some() || self.facts.held_out_loss.is_some() {
                    ""
                } else if self.facts.task == Task::Numbers {
                    " Held-out examples would: of a machine with a tube, or with the range of the targets."
                } else {
                    " Held-out examples would."
                };
                format!("No certificate says anything about this model{more}.{remedy}")
            }
        }
    }
}

impl Certified {
    /// Facts of the model besides the certificates, by name: errors, candidates, and complexity penalties.
    pub fn summary(&self) -> Vec<(&'static str, String)> {
        let facts = &self.facts;
        let mut lines = vec![("examples", facts.examples.to_string())];
        lines.extend(facts.error_rate().map(|e| ("training error", format!("{e:.4}"))));
        lines.extend(self.cross_validated.map(|c| ("cross-validated error", c.to_string())));
        let held_out = facts.held_out.map_or(0.0, |h| h.examples);
        lines.extend(self.held_out_error.map(|e| ("held-out error", format!("{e:.4} of {held_out}"))));
        let before = &facts.held_out_repeats;
        lines.extend(
            before.refusal("held-out ").or_else(|| before.condition("held-out ")).map(|told| ("seen before", told)),
        );
        let copies = &facts.repeats;
        lines
            .extend(copies.refusal("training ").or_else(|| copies.condition("training ")).map(|told| ("copies", told)));
        lines.extend(facts.evidence.filter(Evidence::is_simulated).map(|e| {
            let rough =
                if e.is_rough() { ": few draws carry the estimate, and others would give another one" } else { "" };
            let told = format!(
                "−ln P = {:.1} by {} draws, with a relative error of {}{rough}",
                e.nats,
                e.draws,
                trimmed(&at_most(e.relative_error, 4))
            );
            ("evidence", told)
        }));
        match facts.penalty.candidates {
            None => lines.push((
                "candidates",
                "unknown: nothing is paid for a choice by these examples; tell how many candidates were tried"
                    .to_owned(),
            )),
            Some(1) => {}
            Some(n) => lines.push((
                "candidates",
                format!(
                    "{n} (or pairs of a candidate and a bound), which costs {:.1} nats{}",
                    facts.penalty.choice(),
                    if facts.penalty.candidate_nats.is_some() { " by the prior over them" } else { "" }
                ),
            )),
        }
        if facts.penalty.learned > 0.0 && facts.penalty.learned.is_finite() {
            lines.push(("paid for", format!("{}: {:.0} nats", facts.penalty.learned_what, facts.penalty.learned)));
        }
        lines
    }

    /// All certificates of probabilities that say something, beside the errors of training, cross-validation and held-out examples,
    /// as far as they are known, and others by name.
    pub fn figure(&self, title: &str, errors: &[(String, f64)], theme: Theme) -> String {
        let shown = |c: &&Certificate| {
            c.applicable && c.quantity.is_probability() && c.quantity != Quantity::Share && !c.says_next_to_nothing()
        };
        let bar = |c: &Certificate| CertificateBar {
            name: c.bound.to_owned(),
            lower: c.lower.unwrap_or(0.0),
            value: c.value.unwrap_or(1.0),
            note: match c.guarantee {
                Guarantee::HighProbability => c.quantity.word().to_owned(),
                Guarantee::Expectation => format!("{}, mean", c.quantity.word()),
                other => format!("{}, {}", c.quantity.word(), other.word()),
            },
            kind: match c.guarantee {
                Guarantee::HighProbability => 0,
                Guarantee::Expectation => 1,
                Guarantee::Exact | Guarantee::Score => 2,
            },
        };
        let mut lines = Vec::new();
        lines.extend(self.facts.error_rate().map(|e| ("training error".to_owned(), e)));
        lines.extend(self.cross_validated.map(|c| ("cross-validated error (an estimate)".to_owned(), c.error)));
        lines.extend(self.held_out_error.map(|e| ("held-out error".to_owned(), e)));
        lines.extend(errors.iter().cloned());
        let note = format!(
            "{} examples; each high-probability bound (first colour) fails with probability {} at most",
            self.facts.examples, self.delta
        );
        CertificateFigure {
            title: title.to_owned(),
            note: Some(note),
            bars: self.certificates.iter().filter(shown).map(bar).collect(),
            errors: lines,
        }
        .draw(theme)
    }
}

/// What a statement rests on, as a sentence after it.
fn but(condition: Option<String>) -> String {
    condition.map_or_else(String::new, |told| format!(" But {told}."))
}

/// The statement of a high-probability certificate.
pub fn statement(c: &Certificate) -> String {
    // the sentence is never stronger than the theorem
    let share = percent_at_most(c.value.unwrap_or(1.0), 1);
    let delta = c.delta.unwrap_or(0.0);
    // 1 − δ in so many digits that it is not rounded to all
    let sure = if delta >= 1e-4 {
        format!("{} %", trimmed(&percent_at_least(1.0 - delta, 4)))
    } else {
        format!("1 − {delta:e}")
    };
    let sample = if on_held_out(c) { "held-out sample" } else { "training sample" };
    if c.quantity == Quantity::ExpectedLoss {
        // so many digits that rounding up is hardly weaker
        let most = digits_at_most(c.value.unwrap_or(f64::INFINITY), 4);
        return format!("With probability {sure} over the {sample}, the mean loss of new examples is at most {most}");
    }
    let what = match c.quantity {
        Quantity::TubeMisses => "of new values lie outside the tube",
        Quantity::NoveltyRate => "of new examples of the same kind are called novelties",
        Quantity::MarginViolation => "of new examples lie inside the margin or on the wrong side",
        Quantity::GibbsRisk => "of new examples are misclassified by a classifier drawn at random as the bound says",
        Quantity::VoteRisk => "of new examples are misclassified by a vote, which is not the model",
        Quantity::OutsideWiderRegion => "of new examples lie outside a region wider than that of the model",
        _ => "of new examples are misclassified",
    };
    format!("With probability {sure} over the {sample}, at most {share} % {what}")
}

/// The same with a capital at the beginning.
fn sentence_case(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// True if a certificate speaks of examples that training has not seen.
fn on_held_out(c: &Certificate) -> bool {
    bounds::find(c.bound).is_some_and(|b| b.uses_held_out)
}
