//! The blended spectrum kernel: shared substrings of all lengths up to p.

use super::pieces::{Piece, key_of};
use super::sequences::Sequences;
use super::side::{FeatureSide, gram_of, sparse};
use super::spectrum::counts::{Counts, Substrings};
use super::{Text, TextKernel};
use crate::data::{Coordinate, Examples, Kind};
use crate::gram::Gram;
use crate::kernels::derivatives::KnownDerivatives;
use crate::kernels::prepared::downcast;
use crate::kernels::{Definite, Derivatives, Domain, Kernel, KernelEntry, KernelError, KernelFacts, Prepared};
use crate::memory::check;
use crate::params::{Params, Rule, Visit};
use crate::sources::{self, Source};
use std::collections::HashMap;
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

/// Names of the substrings of each length, and their coordinates.
struct Lengths {
    levels: Vec<Level>,
    /// Number of coordinates.
    width: usize,
}

/// The substrings of one length.
struct Level {
    /// The coordinate of the first.
    first: u32,
    names: Substrings,
}

impl BlendedSpectrum {
    /// The count of every substring of a string times the weight of its length, at the coordinate of its length and name.
    fn row(
        i: usize,
        counts: &[Counts],
        weight: &dyn Fn(i32) -> f64,
        mut coordinate: impl FnMut(usize, u32) -> u32,
    ) -> Vec<Coordinate<f64>> {
        let mut row = Vec::new();
        for (level, counts) in counts.iter().enumerate() {
            let weight = weight(level as i32 + 1);
            let entries = counts.get(i).iter();
            row.extend(
                entries.map(|e| Coordinate { index: coordinate(level, e.key), value: weight * f64::from(e.count) }),
            );
        }
        row
    }

    /// Strings as vectors of counts, those of k characters times `weight(k)`.
    fn weighted(
        &self,
        strings: &Arc<dyn Examples<str>>,
        like: Option<&Arc<dyn Prepared>>,
        weight: &dyn Fn(i32) -> f64,
    ) -> Result<Arc<dyn Prepared>, KernelError> {
        let plain = Sequences::characters(strings.as_ref());
        let longest = self.length.max(1).min(plain.iter().map(<[u32]>::len).max().unwrap_or(0));
        let Some(like) = like else {
            // names of each length follow those of the shorter ones
            let (mut levels, mut width) = (Vec::new(), 0);
            let mut counts = Vec::new();
            for len in 1..=longest {
                let (names, named) = Substrings::learn(&plain, len);
                counts.push(Counts::of(&named, names.distinct()));
                let first = width;
                width += names.distinct();
                levels.push(Level { first: first as u32, names });
            }
            let lengths = Lengths { levels, width };
            let row = |i| Self::row(i, &counts, weight, |level, key| lengths.levels[level].first + key);
            let vectors = sparse((0..plain.len()).map(row), width);
            return Ok(FeatureSide::of(&vectors.into(), None, Arc::new(lengths)));
        };
        let like: Arc<FeatureSide<Lengths>> = downcast(like, ENTRY.name)?;
        let lengths = like.shared.as_ref();
        let level = |len: usize| match lengths.levels.get(len - 1) {
            Some(level) => level.names.name(&plain),
            // no training string is as long as that
            None => {
                let (names, named) = Substrings::learn(&plain, len);
                (named, names.distinct())
            }
        };
        let counts: Vec<Counts> = (1..=longest)
            .map(|len| {
                let (named, distinct) = level(len);
                Counts::of(&named, distinct)
            })
            .collect();
        let mut strange: HashMap<(usize, u32), u32> = HashMap::new();
        let mut coordinate = |at: usize, key: u32| match lengths.levels.get(at) {
            Some(level) if (key as usize) < level.names.distinct() => level.first + key,
            _ => {
                let next = (lengths.width + strange.len()) as u32;
                *strange.entry((at, key)).or_insert(next)
            }
        };
        let rows: Vec<_> = (0..plain.len()).map(|i| Self::row(i, &counts, weight, &mut coordinate)).collect();
        let vectors = sparse(rows.into_iter(), lengths.width);
        Ok(FeatureSide::of(&vectors.into(), Some(&like), Arc::clone(&like.shared)))
    }
}

impl TextKernel for BlendedSpectrum {
    fn entry() -> &'static KernelEntry {
        &ENTRY
    }

    fn facts(&self) -> KernelFacts {
        KernelFacts::default().searched("length=2|3|5|8")
    }

    fn derivatives(
        &self,
        rows: &Arc<dyn Examples<str>>,
        cols: &Arc<dyn Examples<str>>,
    ) -> Option<Arc<dyn Derivatives>> {
        let between = |weight: &dyn Fn(i32) -> f64| {
            let right = self.weighted(cols, None, weight).ok()?;
            let same = std::ptr::addr_eq(Arc::as_ptr(rows), Arc::as_ptr(cols));
            let left = if same { Arc::clone(&right) } else { self.weighted(rows, Some(&right), weight).ok()? };
            self.prepared_gram(&left, &right).ok()
        };
        let gram = between(&|k| self.decay.powi(k))?;
        // (λ²ᵏ)′ = 2k λ²ᵏ⁻¹, its root on either side
        let by_decay = between(&|k| (2.0 * f64::from(k) * self.decay.powi(2 * k - 1)).sqrt())?;
        Some(Arc::new(KnownDerivatives { gram, partials: vec![by_decay] }))
    }

    fn prepare(
        &self,
        strings: &Arc<dyn Examples<str>>,
        like: Option<&Arc<dyn Prepared>>,
    ) -> Result<Arc<dyn Prepared>, KernelError> {
        self.weighted(strings, like, &|k| self.decay.powi(k))
    }

    fn fits(&self, strings: &dyn Examples<str>) -> Result<(), KernelError> {
        // each place begins one substring of each length
        let pieces = (0..strings.len()).map(|i| strings.get(i).chars().count()).map(|len| match self.length.min(len) {
            lengths if lengths == len => len.saturating_mul(len + 1) / 2,
            lengths => len.saturating_mul(lengths),
        });
        let bytes = pieces.fold(0, usize::saturating_add).saturating_mul(size_of::<Coordinate<f64>>());
        Ok(check(bytes, "all substrings of all lengths")
            .map_err(|e| e.remedy("take a smaller length, cut the strings, or raise --memory"))?)
    }

    fn prepared_gram(&self, rows: &Arc<dyn Prepared>, cols: &Arc<dyn Prepared>) -> Result<Arc<dyn Gram>, KernelError> {
        FeatureSide::<Lengths>::products(rows, cols, ENTRY.name)
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
        gram_of(self.as_ref(), &rows, &cols)
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
