//! The number of examples that a bound needs: the facts of a fit, imagined for more or fewer examples at the same complexity.

use super::{BoundEntry, Facts};
use serde::Serialize;

/// Largest number of examples that the search considers.
const MAX_EXAMPLES: f64 = 1e12;

/// Values from this on say next to nothing: 1 − exp(−x) is below 1 for every x, until it is rounded.
const NEXT_TO_NOTHING: f64 = 0.99;

/// Numbers of examples from which a bound lies below 1 (by a hundredth), ½ and 1/10; `None` where none does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Needed {
    /// Below 0.99: some bounds are below 1 for any number of examples, and say nothing all the same.
    pub below_one: Option<u64>,
    /// Below ½.
    pub below_half: Option<u64>,
    /// Below 1/10.
    pub below_tenth: Option<u64>,
}

/// The numbers of examples a bound needs at the complexity of these facts.
pub fn needed(entry: &BoundEntry, facts: &Facts, delta: f64) -> Needed {
    let least = |target| examples_for(entry, facts, delta, target);
    Needed { below_one: least(NEXT_TO_NOTHING), below_half: least(0.5), below_tenth: least(0.1) }
}

/// The value at m examples and the complexity of these facts; `None` where the theorem does not apply there.
pub fn curve(entry: &BoundEntry, facts: &Facts, delta: f64, m: f64) -> Option<f64> {
    let imagined = facts.at(m);
    (entry.claim)(&imagined, imagined.penalty.nats(entry) - delta.ln()).ok().map(|c| c.value).filter(|v| !v.is_nan())
}

/// The least m above which the bound stays below the target: the last crossing, found by doubling from the right, since some
/// bounds rise before they fall.
pub fn examples_for(entry: &BoundEntry, facts: &Facts, delta: f64, target: f64) -> Option<u64> {
    let good = |m: f64| curve(entry, facts, delta, m).is_some_and(|v| v < target);
    let mut high = MAX_EXAMPLES;
    if !good(high) {
        return None;
    }
    while high > 2.0 && good((high / 2.0).floor()) {
        high = (high / 2.0).floor();
    }
    let mut low = (high / 2.0).floor().max(1.0);
    if good(low) {
        return Some(low as u64);
    }
    while high - low > 1.0 {
        let middle = f64::midpoint(low, high).floor();
        if good(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high as u64)
}
