//! The blended spectrum kernel: shared substrings of all lengths up to p.

use super::pieces::{Piece, key_of};
use super::sequences::{Sequences, sides};
use super::spectrum::counts::{Counts, substrings};
use super::{Text, TextKernel, linear_gram};
use crate::data::{Coordinate, Examples, Kind, SparseRows};
use crate::gram::Gram;
use crate::kernels::derivatives::KnownDerivatives;
use crate::kernels::{Definite, Derivatives, Domain, Kernel, KernelEntry};
use crate::params::{Params, Rule, Visit};
use crate::sources::{self, Source};
use std::sync::Arc;

/// κ(s, t) = Σ_{k=1..p} λ²ᵏ Σ_{u ∈ Σᵏ} count_s(u) · count_t(u)
///
/// The sum of the spectrum kernels of all lengths up to p: φ_u(s) = λ^{|u|} count_s(u). Below 1 the weight λ favours
/// short substrings, above 1 long ones; 1 takes all alike.
///
/// # Source
/// Shawe-Taylor & Cristianini, Kernel Methods for Pattern Analysis (2004), section 11.2; Herbrich, Learning Kernel
/// Classifiers (2002), (2.25).
///
/// # Use when
/// Strings are alike when they share pieces, and no single length of the pieces is known to be right. Normalise it, for
/// the value grows with the lengths of the strings.
///
/// # Cost
/// Preparation: O(p Σ|s|) for all strings together. Each pair then costs a product of two sparse vectors of up to
/// p|s| and p|t| entries.
///
/// # Example
/// ```
/// use mercer::kernels::{Kernel, text::BlendedSpectrum};
///
/// // c and a once in each, and "ca"
/// assert_eq!(BlendedSpectrum { length: 3, decay: 0.5 }.eval("cat", "car"), 2.0 / 4.0 + 1.0 / 16.0);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct BlendedSpectrum {
    /// p, the length of the longest substrings in characters; at least 1.
    pub length: usize,
    /// λ, the weight of each character of a substring; above 0.
    pub decay: f64,
}

impl Default for BlendedSpectrum {
    fn default() -> Self {
        Self { length: 3, decay: 1.0 }
    }
}

impl Params for BlendedSpectrum {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.count("length", &mut self.length, Rule::AtLeast(1.0), "length p of the longest shared substrings");
        v.real(
            "decay",
            &mut self.decay,
            Rule::Above(0.0),
            "weight λ of each character of a substring; 1: plain counts",
        );
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "blended_spectrum",
    aliases: &[],
    formula: "κ(s, t) = Σ_{k=1..p} λ²ᵏ Σ_{u ∈ Σᵏ} count_s(u) · count_t(u)",
    definite: Definite::Positive,
    domain: Domain::Any,
    kind: Kind::Text,
    source: Source::new(&sources::KMPA, "section 11.2"),
    use_when: "strings are alike when they share pieces, and no single length of these is known to be right",
    cost: "Preparation: O(p Σ|s|) for all strings together. Each pair then costs a product of two sparse vectors of up to p|s| and p|t| entries.",
    make: || Box::new(Text(BlendedSpectrum::default())),
};

impl TextKernel for BlendedSpectrum {
    fn entry() -> &'static KernelEntry {
        &ENTRY
    }

    fn derivatives(
        &self,
        rows: &Arc<dyn Examples<str>>,
        cols: &Arc<dyn Examples<str>>,
    ) -> Option<Arc<dyn Derivatives>> {
        let gram = self.weighted(rows, cols, |k| self.decay.powi(k));
        // (λ²ᵏ)′ = 2k λ²ᵏ⁻¹, half of it on either side
        let by_decay = self.weighted(rows, cols, |k| (2.0 * f64::from(k) * self.decay.powi(2 * k - 1)).sqrt());
        Some(Arc::new(KnownDerivatives { gram, partials: vec![by_decay] }))
    }

    fn pieces(&self, string: &str, emit: &mut dyn FnMut(Piece)) -> bool {
        let characters: Vec<char> = string.chars().collect();
        let mut value = 1.0;
        for len in 1..=self.length.max(1).min(characters.len()) {
            value *= self.decay;
            for (start, piece) in characters.windows(len).enumerate() {
                emit(Piece { start, len, key: key_of(piece), value });
            }
        }
        true
    }
}

impl BlendedSpectrum {
    /// The matrix of inner products of the counts, those of k characters times `weight(k)` on either side.
    fn weighted(
        &self,
        rows: &Arc<dyn Examples<str>>,
        cols: &Arc<dyn Examples<str>>,
        weight: impl Fn(i32) -> f64,
    ) -> Arc<dyn Gram> {
        let (first, second) = sides(rows, cols);
        let plain: Vec<Sequences> = std::iter::once(first).chain(second).collect();
        let longest = plain.iter().flat_map(Sequences::iter).map(<[u32]>::len).max().unwrap_or(0);
        // names of each length follow those of the shorter ones
        let (mut levels, mut width) = (Vec::new(), 0);
        for len in 1..=self.length.max(1).min(longest) {
            let mut sides = plain.clone();
            let distinct = substrings(&mut sides, len);
            let counts: Vec<Counts> = sides.iter().map(|side| Counts::of(side, distinct)).collect();
            levels.push((width as u32, weight(len as i32), counts));
            width += distinct;
        }
        let side = |k: usize| {
            let mut vectors = SparseRows::new(width);
            for i in 0..plain[k].len() {
                let row: Vec<Coordinate<f64>> = levels
                    .iter()
                    .flat_map(|(first, weight, counts)| {
                        let entries = counts[k].get(i).iter();
                        entries.map(move |e| Coordinate { index: first + e.key, value: weight * f64::from(e.count) })
                    })
                    .collect();
                vectors.push(&row);
            }
            vectors
        };
        linear_gram(side(0), (plain.len() > 1).then(|| side(1)))
    }
}

impl Kernel<str> for BlendedSpectrum {
    /// Σ over pairs of places of W(length of the common run from there), W(l) = Σ_{k ≤ min(l, p)} λ²ᵏ.
    fn eval(&self, x: &str, y: &str) -> f64 {
        let (x, y): (Vec<char>, Vec<char>) = (x.chars().collect(), y.chars().collect());
        let longest = self.length.max(1).min(x.len()).min(y.len());
        let mut weights = vec![0.0; longest + 1];
        let square = self.decay * self.decay;
        (1..=longest).fold(1.0, |power, k| {
            weights[k] = weights[k - 1] + power * square;
            power * square
        });
        let (mut sum, mut below) = (0.0, vec![0_usize; y.len() + 1]);
        for a in x.iter().rev() {
            // runs from (a, b) continue those from (a + 1, b + 1)
            for j in 0..y.len() {
                below[j] = if *a == y[j] { below[j + 1] + 1 } else { 0 };
                sum += weights[below[j].min(longest)];
            }
        }
        sum
    }

    fn gram(self: Arc<Self>, rows: Arc<dyn Examples<str>>, cols: Arc<dyn Examples<str>>) -> Arc<dyn Gram> {
        self.weighted(&rows, &cols, |k| self.decay.powi(k))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::text::Spectrum;
    use crate::kernels::text::testing::{check_features, check_matrix, check_shares, random_strings};

    #[test]
    fn is_the_sum_of_the_spectra() {
        for (letters, length, decay) in [(2, 5, 0.5), (4, 3, 1.0), (26, 2, 1.7), (1, 4, 0.9), (3, 1, 2.0)] {
            let mut strings = random_strings(30, 25, letters, "blended");
            strings.push(String::new());
            let kernel = BlendedSpectrum { length, decay };
            for x in &strings {
                for y in &strings {
                    let terms = (1..=length).map(|k| decay.powi(2 * k as i32) * Spectrum { length: k }.eval(x, y));
                    let wanted: f64 = terms.sum();
                    assert!((kernel.eval(x, y) - wanted).abs() <= 1e-12 * wanted, "{x} {y}");
                }
            }
            check_matrix(&kernel, &strings, 1e-12);
            check_features(&kernel, &strings, 1e-12);
            check_shares(&kernel, &strings, 1e-12);
        }
    }

    #[test]
    fn fixtures() {
        // S2 of the specification by hand: "aa" and "aaa", up to 2 characters: 6 λ² + 2 λ⁴
        assert_eq!(BlendedSpectrum { length: 2, decay: 0.5 }.eval("aa", "aaa"), 6.0 / 4.0 + 2.0 / 16.0);
        assert_eq!(BlendedSpectrum { length: 9, decay: 1.0 }.eval("äö", "äö"), 3.0, "longer than the strings");
        assert_eq!(BlendedSpectrum::default().eval("", "abc"), 0.0);
    }
}
