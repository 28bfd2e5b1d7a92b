//! The kernel of equal strings.

use super::pieces::{Piece, hash};
use super::side::gram_of;
use super::spectrum::counts::{Counts, Entry};
use super::spectrum::matrix::SpectrumGram;
use super::{Text, TextKernel};
use crate::data::{Examples, Kind};
use crate::gram::Gram;
use crate::kernels::prepared::{Sided, downcast};
use crate::kernels::{Definite, Domain, Kernel, KernelEntry, KernelError, KernelFacts, Prepared};
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

    fn prepare(
        &self,
        strings: &Arc<dyn Examples<str>>,
        like: Option<&Arc<dyn Prepared>>,
    ) -> Result<Arc<dyn Prepared>, KernelError> {
        let strings = (0..strings.len()).map(|i| strings.get(i));
        let mut names: HashMap<String, u32> = HashMap::new();
        let like = like.map(|like| downcast::<Side>(like, ENTRY.name)).transpose()?;
        let known = like.as_ref().map(|like| &like.shared);
        let first = known.map_or(0, |known| known.len());
        let mut name = |string: &str| {
            if let Some(&name) = known.and_then(|known| known.get(string)) {
                return name;
            }
            let next = (first + names.len()) as u32;
            *names.entry(string.to_owned()).or_insert(next)
        };
        let keys: Vec<u32> = strings.map(&mut name).collect();
        let lists = keys.into_iter().map(|key| vec![Entry { key, count: 1 }]);
        let examples = Arc::new(Counts::from_lists(lists, first + names.len()));
        let shared = like.map_or_else(|| Arc::new(names), |like| Arc::clone(&like.shared));
        Ok(Arc::new(Side { examples, shared }))
    }

    fn prepared_gram(&self, rows: &Arc<dyn Prepared>, cols: &Arc<dyn Prepared>) -> Result<Arc<dyn Gram>, KernelError> {
        let (rows, cols) = Side::pair(rows, cols, ENTRY.name)?;
        Ok(Arc::new(SpectrumGram::of(&rows.examples, &cols.examples)))
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
        gram_of(self.as_ref(), &rows, &cols)
    }
}

/// One count for each string, and how strings are named.
type Side = Sided<Counts, HashMap<String, u32>>;

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
