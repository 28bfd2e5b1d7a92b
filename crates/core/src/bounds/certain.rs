//! The certain statement: a bound for tests, which says nothing.

use super::{BoundEntry, ChosenBy, Claim, Facts, Guarantee, NotApplicable, Quantity, example};
use crate::sources::{HERBRICH, Source};

fn certain(facts: &Facts, _: f64) -> Result<Claim, NotApplicable> {
    let errors = facts.errors.ok_or_else(|| NotApplicable::because("needs the errors on the training examples"))?;
    Ok(Claim::new(1.0).given("errors", errors).checked("a probability is at most 1"))
}

/// The catalogue.
pub(crate) const ENTRIES: &[BoundEntry] = &[BoundEntry {
    name: "certain",
    summary: "No risk is larger than 1",
    formula: "1",
    quantity: Quantity::ZeroOneRisk,
    guarantee: Guarantee::Exact,
    source: Source::new(&HERBRICH, "definition 2.4"),
    use_when: "Something is to be tested.",
    uses_held_out: false,
    chosen_by: ChosenBy::Nobody,
    example: example::SEPARATED,
    claim: certain,
}];
