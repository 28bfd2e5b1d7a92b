//! The p-spectrum kernel: how many substrings of length p two strings share.

pub(super) mod counts;
pub(super) mod holders;
pub(super) mod matrix;

use super::pieces::{Piece, key_of};
use super::sequences::Sequences;
use super::side::gram_of;
use super::{Text, TextKernel};
use crate::data::{Examples, Kind};
use crate::gram::Gram;
use crate::kernels::prepared::{Sided, downcast};
use crate::kernels::{Definite, Domain, Kernel, KernelEntry, KernelError, KernelFacts, Prepared};
use crate::params::{Params, Rule, Visit};
use crate::sources::{self, Source};
use counts::{Counts, Substrings};
use matrix::SpectrumGram;
use std::collections::HashMap;
use std::sync::Arc;

/// κ(s, t) = Σ_{u ∈ Σᵖ} count_s(u) · count_t(u), where count_s(u) is how often u stands in s, overlaps included.
///
/// Strings shorter than p have no substring of length p: their values are 0.
///
/// # Source
/// Leslie, Eskin & Noble, The Spectrum Kernel (2002), section 2; Shawe-Taylor & Cristianini, Kernel Methods for
/// Pattern Analysis (2004), chapter 11.
///
/// # Use when
/// Strings are alike when they share pieces, wherever these stand: proteins, DNA, languages, file types. Normalise it,
/// for the value grows with the lengths of the strings.
///
/// # Cost
/// Preparation: O(Σ|s| log p) for all strings together. Each pair then costs the number of substrings that both
/// strings hold, or |t|/32 vector operations where most substrings are common.
///
/// # Example
/// ```
/// use mercer::kernels::{Kernel, text::Spectrum};
///
/// // "tat" and "ati" stand once in each
/// assert_eq!(Spectrum { length: 3 }.eval("statistics", "computation"), 2.0);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spectrum {
    /// p, the length of the substrings in characters; at least 1.
    pub length: usize,
}

impl Default for Spectrum {
    fn default() -> Self {
        Self { length: 3 }
    }
}

impl Params for Spectrum {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.count("length", &mut self.length, Rule::AtLeast(1.0), "length p of the shared substrings, in characters");
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "spectrum",
    aliases: &["p_spectrum"],
    formula: "κ(s, t) = Σ_{u ∈ Σᵖ} count_s(u) · count_t(u)",
    definite: Definite::Positive,
    domain: Domain::Any,
    kind: Kind::Text,
    source: Source::new(&sources::LESLIE, "section 2"),
    use_when: "strings are alike when they share short pieces, wherever these stand",
    cost: "Preparation: O(Σ|s| log p) for all strings together. Each pair then costs the number of substrings that both strings hold, or |t|/32 vector operations where most substrings are common.",
    make: || Box::new(Text(Spectrum::default())),
};

impl TextKernel for Spectrum {
    fn entry() -> &'static KernelEntry {
        &ENTRY
    }

    fn facts(&self) -> KernelFacts {
        KernelFacts::default().searched("length=2|3|4|5|6")
    }

    fn prepare(
        &self,
        strings: &Arc<dyn Examples<str>>,
        like: Option<&Arc<dyn Prepared>>,
    ) -> Result<Arc<dyn Prepared>, KernelError> {
        let characters = Sequences::characters(strings.as_ref());
        let Some(like) = like else {
            let (shared, named) = Substrings::learn(&characters, self.length.max(1));
            let examples = Arc::new(Counts::of(&named, shared.distinct()));
            return Ok(Arc::new(Side { examples, shared: Arc::new(shared) }));
        };
        let like: Arc<Side> = downcast(like, ENTRY.name)?;
        let (named, distinct) = like.shared.name(&characters);
        let examples = Arc::new(Counts::of(&named, distinct));
        Ok(Arc::new(Side { examples, shared: Arc::clone(&like.shared) }))
    }

    fn prepared_gram(&self, rows: &Arc<dyn Prepared>, cols: &Arc<dyn Prepared>) -> Result<Arc<dyn Gram>, KernelError> {
        let (rows, cols) = Side::pair(rows, cols, ENTRY.name)?;
        Ok(Arc::new(SpectrumGram::of(&rows.examples, &cols.examples)))
    }

    fn pieces(&self, string: &str, emit: &mut dyn FnMut(Piece)) -> bool {
        let length = self.length.max(1);
        let characters: Vec<char> = string.chars().collect();
        for (start, piece) in characters.windows(length).enumerate() {
            emit(Piece { start, len: length, key: key_of(piece), value: 1.0 });
        }
        true
    }
}

impl Kernel<str> for Spectrum {
    fn eval(&self, x: &str, y: &str) -> f64 {
        let (x, y): (Vec<char>, Vec<char>) = (x.chars().collect(), y.chars().collect());
        let length = self.length.max(1);
        let mut counts: HashMap<&[char], u64> = HashMap::new();
        for piece in x.windows(length) {
            *counts.entry(piece).or_default() += 1;
        }
        // Σ_u count_x(u) count_y(u), each occurrence in y adding one count_x(u)
        y.windows(length).filter_map(|piece| counts.get(piece)).sum::<u64>() as f64
    }

    fn gram(self: Arc<Self>, rows: Arc<dyn Examples<str>>, cols: Arc<dyn Examples<str>>) -> Arc<dyn Gram> {
        gram_of(self.as_ref(), &rows, &cols)
    }
}

/// Counts of substrings, and how these are named.
type Side = Sided<Counts, Substrings>;

#[cfg(test)]
mod tests;
