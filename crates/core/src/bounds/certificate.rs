//! Certificates: what a theorem says about a fit.

use super::BoundEntry;
use serde::Serialize;
use std::fmt;

/// The quantity that is bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Quantity {
    /// The probability that a new example is misclassified.
    #[serde(rename = "0-1 risk")]
    ZeroOneRisk,
    /// The probability that a classifier drawn at random, from a distribution that the bound names, misclassifies a new example.
    #[serde(rename = "Gibbs risk")]
    GibbsRisk,
    /// The probability that a new example has y f(x) < 1.
    #[serde(rename = "margin violation")]
    MarginViolation,
    /// The probability that a new value lies outside the tube |y − f(x)| ≤ ε.
    #[serde(rename = "tube misses")]
    TubeMisses,
    /// The probability that a new example of the same kind is called a novelty.
    #[serde(rename = "novelty rate")]
    NoveltyRate,
    /// The probability that a vote of all classifiers of a set misclassifies a new example; the model is not that vote.
    #[serde(rename = "risk of a vote")]
    VoteRisk,
    /// The probability that a new example lies outside of a region that is wider than that of the model.
    #[serde(rename = "outside a wider region")]
    OutsideWiderRegion,
    /// The mean loss of new examples.
    #[serde(rename = "expected loss")]
    ExpectedLoss,
    /// Excess of risk over the best of its class.
    #[serde(rename = "regret")]
    Regret,
    /// A measure of capacity, no probability.
    #[serde(rename = "capacity")]
    Capacity,
    /// The share of training examples.
    #[serde(rename = "share of examples")]
    Share,
}

impl Quantity {
    /// The word on all surfaces.
    pub fn word(self) -> &'static str {
        match self {
            Self::ZeroOneRisk => "0-1 risk",
            Self::GibbsRisk => "Gibbs risk",
            Self::MarginViolation => "margin violation",
            Self::TubeMisses => "tube misses",
            Self::NoveltyRate => "novelty rate",
            Self::VoteRisk => "risk of a vote",
            Self::OutsideWiderRegion => "outside a wider region",
            Self::ExpectedLoss => "expected loss",
            Self::Regret => "regret",
            Self::Capacity => "capacity",
            Self::Share => "share of examples",
        }
    }

    /// True if it lies between 0 and 1, so that a bound of 1 says nothing.
    pub fn is_probability(self) -> bool {
        !matches!(self, Self::Capacity | Self::ExpectedLoss)
    }
}

/// The kind of statement that a bound is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Guarantee {
    /// True of this very model, whatever the distribution.
    #[serde(rename = "exact")]
    Exact,
    /// Holds with probability 1 − δ over the draw of the examples.
    #[serde(rename = "high probability")]
    HighProbability,
    /// Holds on average over the draw of the examples; a single draw may do worse.
    #[serde(rename = "expectation")]
    Expectation,
    /// No guarantee: a number that tends to order models as their risks do.
    #[serde(rename = "score")]
    Score,
}

impl Guarantee {
    /// The word on all surfaces.
    pub fn word(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::HighProbability => "high probability",
            Self::Expectation => "expectation",
            Self::Score => "score",
        }
    }
}

/// True if a condition was seen to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Computed and true.
    Checked,
    /// Nothing in the data can show it: the user vouches for it.
    Declared,
}

/// A condition of a theorem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Condition {
    /// The condition that must hold.
    pub what: String,
    /// The ground on which it is known.
    pub state: State,
}

/// The value of a theorem, before it is capped and named.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The upper end; may be above 1.
    pub value: f64,
    /// The lower end, where the theorem has one.
    pub lower: Option<f64>,
    /// The most that a loss can be, where it is one.
    pub most: Option<f64>,
    /// The quantity that is bounded, where the entry covers several.
    pub quantity: Option<Quantity>,
    /// Conditions it rests on, beyond examples that are drawn independently from one distribution.
    pub conditions: Vec<Condition>,
    /// The numbers that went in.
    pub inputs: Vec<(&'static str, f64)>,
    /// What would make it sharper, in a sentence; empty if nothing is known.
    pub sharper: &'static str,
}

impl Claim {
    /// An upper end.
    pub fn new(value: f64) -> Self {
        Self { value, lower: None, most: None, quantity: None, conditions: Vec::new(), inputs: Vec::new(), sharper: "" }
    }

    /// With a remark on what would make it sharper, where that was not done.
    #[must_use]
    pub fn sharper(mut self, done: bool, how: &'static str) -> Self {
        self.sharper = if done { "" } else { how };
        self
    }

    /// With a lower end.
    #[must_use]
    pub fn above(mut self, lower: f64) -> Self {
        self.lower = Some(lower);
        self
    }

    /// Of a loss that cannot be more than so much.
    #[must_use]
    pub fn at_most(mut self, most: f64) -> Self {
        self.most = Some(most);
        self
    }

    /// Of another quantity than the entry's.
    #[must_use]
    pub fn of(mut self, quantity: Quantity) -> Self {
        self.quantity = Some(quantity);
        self
    }

    /// With a number that went in.
    #[must_use]
    pub fn given(mut self, name: &'static str, value: f64) -> Self {
        self.inputs.push((name, value));
        self
    }

    /// With the dimension of the feature space; where it was read off the examples, the claim holds for every number of coordinates at once.
    #[must_use]
    pub fn in_dimension(self, dimension: f64, nats: f64) -> Self {
        let claim = self.given("dimension", dimension);
        if nats == 0.0 {
            return claim;
        }
        claim.checked(format!(
            "the number of coordinates of sparse vectors was read off these examples, which costs {nats:.1} nats"
        ))
    }

    /// With a condition that was computed and holds.
    #[must_use]
    pub fn checked(mut self, what: impl Into<String>) -> Self {
        self.conditions.push(Condition { what: what.into(), state: State::Checked });
        self
    }

    /// With a condition that is only declared.
    #[must_use]
    pub fn declared(mut self, what: impl Into<String>) -> Self {
        self.conditions.push(Condition { what: what.into(), state: State::Declared });
        self
    }
}

/// Why a theorem says nothing about this fit, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotApplicable(pub String);

impl NotApplicable {
    /// A reason.
    pub fn because(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl fmt::Display for NotApplicable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A certificate: what a theorem says about a fit, with its price and its conditions; or why it says nothing.
#[derive(Clone, Debug, Serialize)]
pub struct Certificate {
    /// The bound's name.
    pub bound: &'static str,
    /// The quantity that is bounded.
    pub quantity: Quantity,
    /// The bound, at most 1 for probabilities; `None` where it does not apply.
    pub value: Option<f64>,
    /// The lower end, where the theorem has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower: Option<f64>,
    /// The kind of statement.
    pub guarantee: Guarantee,
    /// The probability of failure; `None` where no probability is spent.
    pub delta: Option<f64>,
    /// Nats paid for what was chosen by the same examples.
    pub price: f64,
    /// True if the theorem's conditions hold.
    pub applicable: bool,
    /// Why it does not apply, or what makes it weak; empty where nothing is to be said.
    pub reason: String,
    /// True if it says nothing, though it applies.
    pub vacuous: bool,
    /// Of a bound that says nothing: the number of examples from which it would be below 1, ½ and 1/10 at the same
    /// complexity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub examples_needed: Option<super::Needed>,
    /// The theorem.
    pub source: String,
    /// Conditions it rests on.
    pub conditions: Vec<Condition>,
    /// The numbers that went in, by name.
    pub inputs: serde_json::Map<String, serde_json::Value>,
}

impl Certificate {
    /// The certificate of an entry at a price.
    pub fn of(entry: &'static BoundEntry, facts: &super::Facts, delta: f64) -> Self {
        let spends = entry.guarantee == Guarantee::HighProbability;
        let price = if spends { facts.penalty.nats(entry) } else { 0.0 };
        let said = facts.refuses(entry).map_or_else(|| (entry.claim)(facts, price - delta.ln()), Err);
        // what cannot be computed is no certificate
        let said = said.and_then(|claim| {
            if claim.value.is_nan() || claim.value < 0.0 {
                return Err(NotApplicable::because("its formula has no meaning for these numbers"));
            }
            Ok(claim)
        });
        // a mean over samples says nothing of the least of several candidates
        let chosen = entry.guarantee == Guarantee::Expectation && facts.penalty.candidates.is_some_and(|n| n > 1);
        let mut found = Self {
            bound: entry.name,
            quantity: entry.quantity,
            value: None,
            lower: None,
            guarantee: if chosen { Guarantee::Score } else { entry.guarantee },
            delta: spends.then_some(delta),
            price,
            applicable: false,
            reason: String::new(),
            vacuous: false,
            examples_needed: None,
            source: entry.source.to_string(),
            conditions: Vec::new(),
            inputs: serde_json::Map::new(),
        };
        match said {
            Err(NotApplicable(reason)) => found.reason = reason,
            Ok(claim) => {
                found.quantity = claim.quantity.unwrap_or(entry.quantity);
                let probability = found.quantity.is_probability();
                found.applicable = true;
                let most = if probability { Some(1.0) } else { claim.most };
                found.vacuous = most.is_some_and(|most| claim.value >= most);
                found.value = Some(most.map_or(claim.value, |most| claim.value.clamp(0.0, most)));
                claim.sharper.clone_into(&mut found.reason);
                if found.vacuous && !probability {
                    "says no more than that a loss cannot be larger".clone_into(&mut found.reason);
                }
                found.lower = claim.lower.map(|l| l.clamp(0.0, 1.0));
                found.conditions = facts.common_conditions(entry);
                if chosen {
                    "a score only: the model was chosen among candidates, which a mean over samples does not allow for"
                        .clone_into(&mut found.reason);
                }
                found.conditions.extend(claim.conditions);
                found.inputs = claim.inputs.iter().map(|(n, v)| ((*n).to_owned(), serde_json::json!(v))).collect();
            }
        }
        found
    }

    /// True if it says nothing, or bounds a probability by a number that four decimals, rounded up, show as 1.
    pub fn says_next_to_nothing(&self) -> bool {
        self.vacuous || (self.quantity.is_probability() && self.value.is_some_and(|value| value > 0.9999))
    }

    /// The certificate of an entry; a bound of high probability that says nothing tells how many examples it would need. `few` are the facts with
    /// few margins, see [`super::Facts::thinned`]: the search evaluates the bound a hundred times.
    pub fn told(entry: &'static BoundEntry, facts: &super::Facts, few: &super::Facts, delta: f64) -> Self {
        let mut found = Self::of(entry, facts, delta);
        if found.vacuous && found.quantity.is_probability() && entry.guarantee == Guarantee::HighProbability {
            let needed = super::needed(entry, few, delta);
            let sharper = if found.reason.is_empty() { String::new() } else { format!("; {}", found.reason) };
            found.reason = match needed.below_one {
                Some(m) => {
                    format!("says nothing at {} examples; it would from {m} on, at the same complexity", facts.examples)
                }
                None => "says nothing, and would not with any number of examples".to_owned(),
            } + &sharper;
            found.examples_needed = Some(needed);
        }
        found
    }
}
