//! The gap-weighted subsequence kernel.

mod matrix;

use super::sequences::Sequences;
use super::side::gram_of;
use super::{Text, TextKernel, longest};
use crate::data::{Examples, Kind};
use crate::gram::Gram;
use crate::gram::between::Between;
use crate::kernels::derivatives::KnownDerivatives;
use crate::kernels::prepared::{Sided, downcast};
use crate::kernels::{Definite, Derivatives, Domain, Kernel, KernelEntry, KernelError, KernelFacts, Prepared};
use crate::memory::check;
use crate::params::{Params, Rule, Visit};
use crate::sources::{self, Source};
use matrix::GapWeighted;
use std::sync::Arc;

/// κ(s, t) = Σ_{u ∈ Σʳ} φ_u(s) φ_u(t), φ_u(s) = Σ_{i: s\[i\] = u} λ^{l(i)}, where l(i) = i_r − i_1 + 1 counts the gaps.
///
/// All subsequences of exactly r characters, contiguous or not; the more room one takes, the less it weighs. Strings
/// shorter than r have none: their values are 0.
///
/// # Source
/// Lodhi et al., Text Classification using String Kernels (2002), section 4; Herbrich, Learning Kernel Classifiers
/// (2002), (2.28)–(2.30), where the exponent |v| − j of (2.30) is corrected to |v| − t.
///
/// # Use when
/// Strings are alike when they share characters in the same order, with insertions and deletions between: words in
/// different spellings, short documents, noisy sequences. Normalise it, for the value grows with the lengths.
///
/// # Cost
/// O(r |s| |t|) for each pair; many pairs advance side by side in the lanes of vector registers.
///
/// # Example
/// ```
/// use mercer::kernels::{Kernel, text::Subsequence};
///
/// // "ca" is the only shared pair of letters, two places wide in both words
/// let kernel = Subsequence { length: 2, decay: 0.5 };
/// assert_eq!(kernel.eval("cat", "car"), 0.5_f64.powi(4));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Subsequence {
    /// r, the number of characters of the subsequences; at least 1.
    pub length: usize,
    /// λ, the weight of each place that a subsequence spans; above 0, at most 1.
    pub decay: f64,
}

impl Default for Subsequence {
    fn default() -> Self {
        Self { length: 3, decay: 0.5 }
    }
}

impl Params for Subsequence {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.count("length", &mut self.length, Rule::AtLeast(1.0), "length r of the shared subsequences, in characters");
        v.real("decay", &mut self.decay, Rule::AboveUpTo(0.0, 1.0), "weight λ of each place that a subsequence spans");
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "subsequence",
    aliases: &["gap_weighted"],
    formula: "κ(s, t) = Σ_{u ∈ Σʳ} φ_u(s) φ_u(t), φ_u(s) = Σ_{i: s[i] = u} λ^{l(i)}",
    definite: Definite::Positive,
    domain: Domain::Any,
    kind: Kind::Text,
    source: Source::corrected(&sources::HERBRICH, "(2.28)–(2.30)", "the exponent |v| − j of (2.30) is |v| − t"),
    use_when: "strings are alike when they share characters in the same order, with gaps between",
    cost: "O(r |s| |t|) for each pair; many pairs advance side by side in the lanes of vector registers.",
    make: || Box::new(Text(Subsequence::default())),
};

impl TextKernel for Subsequence {
    fn entry() -> &'static KernelEntry {
        &ENTRY
    }

    fn facts(&self) -> KernelFacts {
        KernelFacts::default().searched("length=2|3|4")
    }

    fn derivatives(
        &self,
        rows: &Arc<dyn Examples<str>>,
        cols: &Arc<dyn Examples<str>>,
    ) -> Option<Arc<dyn Derivatives>> {
        let (r, c) = (|| Arc::clone(rows), || Arc::clone(cols));
        let gram = Arc::new(self.clone()).gram(r(), c());
        let partials = vec![Arc::new(ByDecay(self.clone())).gram(r(), c())];
        Some(Arc::new(KnownDerivatives { gram, partials }))
    }

    fn prepare(
        &self,
        strings: &Arc<dyn Examples<str>>,
        like: Option<&Arc<dyn Prepared>>,
    ) -> Result<Arc<dyn Prepared>, KernelError> {
        if let Some(like) = like {
            downcast::<Side>(like, ENTRY.name)?;
        }
        let examples = Arc::new(Sequences::characters(strings.as_ref()));
        Ok(Arc::new(Side { examples, shared: Arc::new(()) }))
    }

    fn fits(&self, strings: &dyn Examples<str>) -> Result<(), KernelError> {
        let longest = longest(strings);
        if self.length > longest {
            // no string has such a subsequence, and no table is made
            return Ok(());
        }
        Ok(check(
            matrix::table_bytes(self.length, longest),
            "the tables of the subsequence kernel for the longest string",
        )
        .map_err(|e| e.remedy("take a smaller length, cut the strings, or raise --memory"))?)
    }

    fn prepared_gram(&self, rows: &Arc<dyn Prepared>, cols: &Arc<dyn Prepared>) -> Result<Arc<dyn Gram>, KernelError> {
        let (rows, cols): (Arc<Side>, Arc<Side>) = (downcast(rows, ENTRY.name)?, downcast(cols, ENTRY.name)?);
        let how = GapWeighted { length: self.length.max(1), decay: self.decay };
        Ok(Arc::new(Between::new(how, Arc::clone(&rows.examples), Arc::clone(&cols.examples))))
    }
}

/// ∂κ/∂λ, pair by pair.
struct ByDecay(Subsequence);

impl Kernel<str> for ByDecay {
    /// The recursion of the kernel with the derivative of every number beside it.
    fn eval(&self, x: &str, y: &str) -> f64 {
        let (x, y): (Vec<char>, Vec<char>) = (x.chars().collect(), y.chars().collect());
        let (r, decay) = (self.0.length.max(1), self.0.decay);
        if x.len().min(y.len()) < r {
            return 0.0;
        }
        let width = y.len() + 1;
        // (aλ)′ = a′λ + a, (aλ²)′ = a′λ² + 2aλ
        let once = |(a, da): (f64, f64)| (decay * a, decay * da + a);
        let twice = |a: (f64, f64)| once(once(a));
        let plus = |a: (f64, f64), b: (f64, f64)| (a.0 + b.0, a.1 + b.1);
        let mut above = vec![(1.0, 0.0); (x.len() + 1) * width];
        for _ in 1..r {
            let mut table = vec![(0.0, 0.0); above.len()];
            for a in 1..=x.len() {
                let mut q = (0.0, 0.0);
                for b in 1..=y.len() {
                    q = once(q);
                    if x[a - 1] == y[b - 1] {
                        q = plus(q, twice(above[(a - 1) * width + b - 1]));
                    }
                    table[a * width + b] = plus(once(table[(a - 1) * width + b]), q);
                }
            }
            above = table;
        }
        let mut sum = 0.0;
        for a in 0..x.len() {
            for b in 0..y.len() {
                if x[a] == y[b] {
                    sum += twice(above[a * width + b]).1;
                }
            }
        }
        sum
    }
}

impl Kernel<str> for Subsequence {
    /// The recursion (2.29)–(2.30) with its inner sum cached.
    fn eval(&self, x: &str, y: &str) -> f64 {
        let (x, y): (Vec<char>, Vec<char>) = (x.chars().collect(), y.chars().collect());
        let r = self.length.max(1);
        if x.len().min(y.len()) < r {
            return 0.0;
        }
        let square = self.decay * self.decay;
        // κ' of the prefixes of x and y: above[a][b] for one character less than `table`, which it becomes
        let width = y.len() + 1;
        let mut above = vec![1.0; (x.len() + 1) * width];
        for _ in 1..r {
            let mut table = vec![0.0; above.len()];
            for a in 1..=x.len() {
                let mut q = 0.0;
                for b in 1..=y.len() {
                    q *= self.decay;
                    if x[a - 1] == y[b - 1] {
                        q += square * above[(a - 1) * width + b - 1];
                    }
                    table[a * width + b] = self.decay * table[(a - 1) * width + b] + q;
                }
            }
            above = table;
        }
        let mut sum = 0.0;
        for a in 0..x.len() {
            for b in 0..y.len() {
                if x[a] == y[b] {
                    sum += square * above[a * width + b];
                }
            }
        }
        sum
    }

    fn gram(self: Arc<Self>, rows: Arc<dyn Examples<str>>, cols: Arc<dyn Examples<str>>) -> Arc<dyn Gram> {
        gram_of(self.as_ref(), &rows, &cols)
    }
}

/// Characters; new strings share nothing with training strings.
type Side = Sided<Sequences, ()>;

#[cfg(test)]
mod tests;
