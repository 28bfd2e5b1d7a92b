//! Bounds: theorems that turn facts about a fit into certificates.
//!
//! Each file holds a family: the formula of every theorem as a function of numbers, and its entry, which says what it needs
//! of the [`Facts`], refuses what its conditions rule out, and states the rest. Prices are nats: a bound at δ for one of J
//! candidates, any of which might have been looked at, is the bound at δ/J, ln J nats more than ln(1/δ). Nothing here sees
//! data or kernels; [`crate::certify`] gathers the facts.
//!
//! # Source
//! Herbrich (2002), chapters 4 and 5; the entries name the theorem, and where its print had to be corrected.

pub mod betting;
#[cfg(test)]
mod certain;
mod certificate;
pub mod compression;
mod conditions;
pub mod covering;
mod example;
mod facts;
pub mod leave_one_out;
mod linear;
pub mod luckiness;
pub mod margin;
pub mod novelty;
pub mod occam;
pub mod online;
pub mod pac_bayes;
pub mod posteriors;
pub mod rademacher;
mod sample_size;
pub mod scenario;
pub mod stability;
pub mod test_set;
mod theorem;
pub mod vc;
pub mod vote;

pub use certificate::{Certificate, Claim, Condition, Guarantee, NotApplicable, Quantity, State};
pub use conditions::{DECLARED_RADIUS, GIVEN_MATRIX, NOT_RECOGNISED, WEIGHTED};
pub use example::Example;
pub use facts::{
    ComplexityPenalty, Compression, Evidence, Facts, HeldOutErrors, HeldOutLoss, Informed, KernelFacts, LeaveOneOut,
    Novelty, NuProperty, Online, Regularised, Task,
};
pub(crate) use leave_one_out::wrong_without;
pub use linear::{Dual, Linear, Multiplier, Posterior};
pub use sample_size::{Needed, curve, examples_for, needed};
pub use theorem::{Given, Input, THEOREMS, Theorem, theorem, theorems};

use crate::sources::Source;

/// A line of the catalogue of bounds.
pub struct BoundEntry {
    /// The name on all surfaces.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// The formula.
    pub formula: &'static str,
    /// The quantity that it bounds.
    pub quantity: Quantity,
    /// The kind of statement.
    pub guarantee: Guarantee,
    /// The work it is taken from.
    pub source: Source,
    /// One sentence on when it helps.
    pub use_when: &'static str,
    /// True if it speaks of examples that training has not seen: it pays for models compared on these, and nothing for what training
    /// chose.
    pub uses_held_out: bool,
    /// The searches whose best certificate is chosen among this bound and others, each at its part of δ.
    pub chosen_by: ChosenBy,
    /// A fit to which it applies.
    pub example: &'static Example,
    /// The theorem, at a price in nats: ln(1/δ) and what was paid for choices.
    pub claim: fn(&Facts, f64) -> Result<Claim, NotApplicable>,
}

impl BoundEntry {
    /// True if it is the certificate of a model wherever it applies, so that no other is looked at and nothing is paid for a choice.
    pub fn stands_alone(&self) -> bool {
        self.chosen_by == ChosenBy::HeldOut
    }
}

/// The cases in which a bound is among those of which the least is the certificate of a model. They are named before the data, since each
/// costs its part of δ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChosenBy {
    /// Never: it is told, and no choice is made among it and others.
    Nobody,
    /// Always.
    Everybody,
    /// If a prior is learned from a part of the examples.
    LearnedPriors,
    /// It stands alone, without a choice, where examples were held out.
    HeldOut,
}

/// The bounds by family, which is the name of their file.
pub static FAMILIES: &[(&str, &[BoundEntry])] = &[
    ("test_set", test_set::ENTRIES),
    ("scenario", scenario::ENTRIES),
    ("compression", compression::ENTRIES),
    ("pac_bayes", pac_bayes::ENTRIES),
    ("leave_one_out", leave_one_out::ENTRIES),
    ("rademacher", rademacher::ENTRIES),
    ("stability", stability::ENTRIES),
    ("margin", margin::ENTRIES),
    ("luckiness", luckiness::ENTRIES),
    ("vc", vc::ENTRIES),
    ("occam", occam::ENTRIES),
    ("novelty", novelty::ENTRIES),
    ("online", online::ENTRIES),
    #[cfg(test)]
    ("certain", certain::ENTRIES),
];

/// All bounds, by family.
pub fn all() -> impl Iterator<Item = &'static BoundEntry> {
    FAMILIES.iter().flat_map(|(_, entries)| *entries)
}

/// The entry of a name.
pub fn find(name: &str) -> Option<&'static BoundEntry> {
    all().find(|e| e.name == name)
}

/// log₂.
pub(crate) const LD: f64 = std::f64::consts::LOG2_E;

#[cfg(test)]
mod tests;
