//! The weighted degree kernel: substrings that two sequences have at the same place.

use super::degree::{self, by_runs, share_runs, weights};
use super::side::gram_of;
use super::{Text, TextKernel};
use crate::data::{Examples, Kind};
use crate::gram::Gram;
use crate::kernels::{Definite, Domain, Kernel, KernelEntry, KernelError, KernelFacts, Prepared};
use crate::params::{Params, Rule, Visit};
use crate::sources::{self, Source};
use std::sync::Arc;

/// κ(s, t) = Σ_{k=1..d} β_k Σ_i \[s_i…s_{i+k−1} = t_i…t_{i+k−1}\], β_k = 2(d − k + 1)/(d(d + 1))
///
/// Windows of 1 to d letters that match at the same place; β adds up to 1. A run of r matching letters holds r − k + 1
/// windows of length k, so long runs count most. Sequences of different lengths are compared from their beginnings to
/// the end of the shorter one.
///
/// # Source
/// Rätsch & Sonnenburg, Accurate Splice Site Detection for Caenorhabditis elegans (2004).
///
/// # Use when
/// Sequences are aligned, so that the same place means the same: windows of DNA around a signal (splice sites, starts of
/// transcription), codes of fixed length.
///
/// # Cost
/// O(|s|) for each pair, sixty-four places in a step; the degree costs nothing beyond the longest common run.
///
/// # Example
/// ```
/// use mercer::kernels::{Kernel, text::WeightedDegree};
///
/// // β = 2/3, 1/3: three letters match, and the window "AC"
/// let kernel = WeightedDegree { degree: 2 };
/// assert!((kernel.eval("ACGT", "ACTT") - (3.0 * 2.0 / 3.0 + 1.0 / 3.0)).abs() < 1e-15);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightedDegree {
    /// d, the length of the longest windows; at least 1.
    pub degree: usize,
}

impl Default for WeightedDegree {
    fn default() -> Self {
        Self { degree: 20 }
    }
}

impl Params for WeightedDegree {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.count("degree", &mut self.degree, Rule::AtLeast(1.0), "length d of the longest windows that may match");
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "weighted_degree",
    aliases: &[],
    formula: "κ(s, t) = Σ_{k=1..d} β_k Σ_i [s_i…s_{i+k−1} = t_i…t_{i+k−1}], β_k = 2(d − k + 1)/(d(d + 1))",
    definite: Definite::Positive,
    domain: Domain::Any,
    kind: Kind::Text,
    source: Source::new(&sources::WEIGHTED_DEGREE, "the weighted degree kernel"),
    use_when: "sequences are aligned, so that pieces count at the same place only: DNA around a signal",
    cost: "O(|s|) for each pair, sixty-four places in a step; the degree costs nothing beyond the longest common run.",
    make: || Box::new(Text(WeightedDegree::default())),
};

impl TextKernel for WeightedDegree {
    fn entry() -> &'static KernelEntry {
        &ENTRY
    }

    fn facts(&self) -> KernelFacts {
        KernelFacts::default().searched("degree=2|5|10|20")
    }

    fn prepare(
        &self,
        strings: &Arc<dyn Examples<str>>,
        like: Option<&Arc<dyn Prepared>>,
    ) -> Result<Arc<dyn Prepared>, KernelError> {
        degree::prepare(strings.as_ref(), like, ENTRY.name)
    }

    fn prepared_gram(&self, rows: &Arc<dyn Prepared>, cols: &Arc<dyn Prepared>) -> Result<Arc<dyn Gram>, KernelError> {
        degree::gram(self.degree, 0, rows, cols, ENTRY.name)
    }

    fn shares(&self, x: &str, y: &str, out: &mut [f64]) -> bool {
        let (x, y): (Vec<char>, Vec<char>) = (x.chars().collect(), y.chars().collect());
        share_runs(&x, &y, &weights(self.degree, x.len().min(y.len())), 1.0, 0, out);
        true
    }
}

impl Kernel<str> for WeightedDegree {
    fn eval(&self, x: &str, y: &str) -> f64 {
        let (x, y): (Vec<char>, Vec<char>) = (x.chars().collect(), y.chars().collect());
        by_runs(&x, &y, &weights(self.degree, x.len().min(y.len())))
    }

    fn gram(self: Arc<Self>, rows: Arc<dyn Examples<str>>, cols: Arc<dyn Examples<str>>) -> Arc<dyn Gram> {
        gram_of(self.as_ref(), &rows, &cols)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::text::testing::{check_matrix, check_shares, random_strings};

    /// The definition, window by window.
    fn by_windows(x: &str, y: &str, degree: usize) -> f64 {
        let (x, y): (Vec<char>, Vec<char>) = (x.chars().collect(), y.chars().collect());
        let d = degree as f64;
        let n = x.len().min(y.len());
        (1..=degree.min(n))
            .map(|k| {
                let count = (0..=n - k).filter(|&i| x[i..i + k] == y[i..i + k]).count();
                2.0 * (d - k as f64 + 1.0) / (d * (d + 1.0)) * count as f64
            })
            .sum()
    }

    #[test]
    fn values_are_those_of_the_definition() {
        for (letters, degree, longest) in
            [(1, 3, 200), (2, 1, 90), (2, 8, 300), (4, 20, 141), (300, 2, 70), (2, 70, 130)]
        {
            let mut strings = random_strings(30, longest, letters, "degree");
            strings.push(String::new());
            // equal over words of 64, but for one letter
            strings.push(strings[0].chars().map(|_| 'a').collect());
            let kernel = WeightedDegree { degree };
            for x in &strings {
                for y in &strings {
                    let wanted = by_windows(x, y, degree);
                    assert!((kernel.eval(x, y) - wanted).abs() <= 1e-12 * wanted, "{x} {y}");
                }
            }
            check_matrix(&kernel, &strings, 1e-12);
            check_shares(&kernel, &strings, 1e-12);
        }
    }
}
