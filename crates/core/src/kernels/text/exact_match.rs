//! The kernel of equal strings.

use super::pieces::{Piece, hash};
use super::spectrum::counts::{Counts, Entry};
use super::spectrum::matrix::SpectrumGram;
use super::{Text, TextKernel};
use crate::data::{Examples, Kind};
use crate::gram::Gram;
use crate::kernels::{Definite, Domain, Kernel, KernelEntry, KernelFacts};
use crate::params::{Params, Visit};
use crate::sources::{self, Source};
use std::collections::HashMap;
use std::sync::Arc;

/// κ(s, t) = 1 if s = t, else 0
///
/// Every string is a feature of its own, so nothing is learned about strings that were never seen.
///
/// # Source
/// Herbrich, Learning Kernel Classifiers (2002), section 2.3.2.
///
/// # Use when
/// Strings are names of things and not texts (a shop, a gene), as a factor or a term beside other kernels; or as the
/// worst case that another kernel on strings has to beat.
///
/// # Cost
/// Each string is hashed once; a pair is one comparison of numbers.
///
/// # Example
/// ```
/// use mercer::kernels::{Kernel, text::ExactMatch};
///
/// assert_eq!(ExactMatch.eval("cat", "cat"), 1.0);
/// assert_eq!(ExactMatch.eval("cat", "car"), 0.0);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExactMatch;

impl Params for ExactMatch {
    fn visit(&mut self, _: &mut dyn Visit) {}
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "exact_match",
    aliases: &[],
    formula: "κ(s, t) = 1 if s = t, else 0",
    definite: Definite::Positive,
    domain: Domain::Any,
    kind: Kind::Text,
    source: Source::new(&sources::HERBRICH, "section 2.3.2"),
    use_when: "strings are names of things, equal or not, beside other kernels",
    cost: "Each string is hashed once; a pair is one comparison of numbers.",
    make: || Box::new(Text(ExactMatch)),
};

impl TextKernel for ExactMatch {
    fn entry() -> &'static KernelEntry {
        &ENTRY
    }

    fn facts(&self) -> KernelFacts {
        KernelFacts::unit_and_never_negative()
    }

    fn pieces(&self, string: &str, emit: &mut dyn FnMut(Piece)) -> bool {
        let key = hash(string.chars().map(|c| u64::from(u32::from(c))));
        emit(Piece { start: 0, len: string.chars().count(), key, value: 1.0 });
        true
    }
}

impl Kernel<str> for ExactMatch {
    fn eval(&self, x: &str, y: &str) -> f64 {
        f64::from(u8::from(x == y))
    }

    fn gram(self: Arc<Self>, rows: Arc<dyn Examples<str>>, cols: Arc<dyn Examples<str>>) -> Arc<dyn Gram> {
        let mut names: HashMap<String, u32> = HashMap::new();
        let mut named = |side: &dyn Examples<str>| -> Vec<u32> {
            let name = |i| {
                let next = names.len() as u32;
                *names.entry(side.get(i).to_owned()).or_insert(next)
            };
            (0..side.len()).map(name).collect()
        };
        let same = std::ptr::addr_eq(Arc::as_ptr(&rows), Arc::as_ptr(&cols));
        let (first, second) = (named(rows.as_ref()), (!same).then(|| named(cols.as_ref())));
        let distinct = names.len();
        let counts = |side: Vec<u32>| {
            Arc::new(Counts::from_lists(side.into_iter().map(|key| vec![Entry { key, count: 1 }]), distinct))
        };
        let rows = counts(first);
        let cols = second.map_or_else(|| Arc::clone(&rows), counts);
        Arc::new(SpectrumGram::new(rows, cols))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::text::testing::{check_features, check_matrix, random_strings};

    #[test]
    fn equal_strings_and_no_others() {
        let mut strings = random_strings(60, 3, 2, "exact");
        strings.push("äb".to_owned());
        check_matrix(&ExactMatch, &strings, 0.0);
        check_features(&ExactMatch, &strings, 0.0);
        assert_eq!(ExactMatch.eval("", ""), 1.0);
    }
}
