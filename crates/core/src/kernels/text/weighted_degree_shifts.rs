//! The weighted degree kernel with shifts: substrings that two sequences have at nearly the same place.

use super::degree::{self, by_runs, share_runs, shift_weight, weights};
use super::side::gram_of;
use super::{Text, TextKernel};
use crate::data::{Examples, Kind};
use crate::gram::Gram;
use crate::kernels::{Definite, Domain, Kernel, KernelEntry, KernelError, KernelFacts, Prepared};
use crate::params::{Params, Rule, Visit};
use crate::sources::{self, Source};
use std::sync::Arc;

/// κ(s, t) = Σ_{k=1..d} β_k Σ_i Σ_{j=0..S} δ_j (\[s_{i+j}… = t_i…\] + \[s_i… = t_{i+j}…\]), δ_j = 1/(2(j + 1))
///
/// Windows of k letters, β_k = 2(d − k + 1)/(d(d + 1)), that match at the same place (which counts 1, as δ_0 is taken
/// twice) or up to S places apart, which counts less the further they are. It is positive: for every substring it is a
/// quadratic form in the places where that stands, whose matrix has the symbol 1 + Σ_{j=1..S} cos(jθ)/(j + 1), at
/// least ½ for every S (Rogosinski & Szegő 1928).
///
/// # Source
/// Rätsch, Sonnenburg & Schölkopf, RASE: Recognition of Alternatively Spliced Exons in C. elegans (2005).
///
/// # Use when
/// Sequences are aligned, but what matters may stand a few places earlier or later: signals in DNA near a site.
///
/// # Cost
/// O((2S + 1) |s|) for each pair, sixty-four places in a step.
///
/// # Example
/// ```
/// use mercer::kernels::{Kernel, text::WeightedDegreeShifts};
///
/// // no letter at the same place; C and G one place apart
/// let kernel = WeightedDegreeShifts { degree: 1, shift: 1 };
/// assert_eq!(kernel.eval("ACG", "CGT"), 2.0 / 4.0);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightedDegreeShifts {
    /// d, the length of the longest windows; at least 1.
    pub degree: usize,
    /// S, how many places apart windows may stand.
    pub shift: usize,
}

impl Default for WeightedDegreeShifts {
    fn default() -> Self {
        Self { degree: 20, shift: 3 }
    }
}

impl Params for WeightedDegreeShifts {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.count("degree", &mut self.degree, Rule::AtLeast(1.0), "length d of the longest windows that may match");
        v.count("shift", &mut self.shift, Rule::AtLeast(0.0), "how many places apart they may stand");
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: KernelEntry = KernelEntry {
    name: "weighted_degree_shifts",
    aliases: &[],
    formula: "κ(s, t) = Σ_{k=1..d} β_k Σ_i Σ_{j=0..S} ([s_{i+j}… = t_i…] + [s_i… = t_{i+j}…])/(2(j + 1))",
    definite: Definite::Positive,
    domain: Domain::Any,
    kind: Kind::Text,
    source: Source::new(&sources::RASE, "the weighted degree kernel with shifts"),
    use_when: "sequences are aligned, but pieces may stand a few places earlier or later",
    cost: "O((2S + 1) |s|) for each pair, sixty-four places in a step.",
    make: || Box::new(Text(WeightedDegreeShifts::default())),
};

impl TextKernel for WeightedDegreeShifts {
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
        degree::gram(self.degree, self.shift, rows, cols, ENTRY.name)
    }

    fn shares(&self, x: &str, y: &str, out: &mut [f64]) -> bool {
        let (x, y): (Vec<char>, Vec<char>) = (x.chars().collect(), y.chars().collect());
        let beta = weights(self.degree, x.len().min(y.len()));
        for shift in 0..=self.shift.min(x.len().max(y.len())) {
            let delta = shift_weight(shift);
            share_runs(&x, y.get(shift..).unwrap_or_default(), &beta, delta, 0, out);
            share_runs(x.get(shift..).unwrap_or_default(), &y, &beta, delta, shift, out);
        }
        true
    }
}

impl Kernel<str> for WeightedDegreeShifts {
    fn eval(&self, x: &str, y: &str) -> f64 {
        let (x, y): (Vec<char>, Vec<char>) = (x.chars().collect(), y.chars().collect());
        let beta = weights(self.degree, x.len().min(y.len()));
        let shifted = |a: &[char], b: &[char], by: usize| by_runs(a, b.get(by..).unwrap_or_default(), &beta);
        let shifts = 0..=self.shift.min(x.len().max(y.len()));
        shifts.map(|j| shift_weight(j) * (shifted(&x, &y, j) + shifted(&y, &x, j))).sum()
    }

    fn gram(self: Arc<Self>, rows: Arc<dyn Examples<str>>, cols: Arc<dyn Examples<str>>) -> Arc<dyn Gram> {
        gram_of(self.as_ref(), &rows, &cols)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::text::WeightedDegree;
    use crate::kernels::text::testing::{check_matrix, check_shares, random_strings};

    /// The definition, window by window.
    fn by_windows(x: &str, y: &str, degree: usize, shift: usize) -> f64 {
        let (x, y): (Vec<char>, Vec<char>) = (x.chars().collect(), y.chars().collect());
        let d = degree as f64;
        let mut sum = 0.0;
        for k in 1..=degree {
            for a in 0..(x.len() + 1).saturating_sub(k) {
                for b in 0..(y.len() + 1).saturating_sub(k) {
                    let apart = a.abs_diff(b);
                    if apart <= shift && x[a..a + k] == y[b..b + k] {
                        let delta = if apart == 0 { 1.0 } else { 0.5 / (apart + 1) as f64 };
                        sum += delta * 2.0 * (d - k as f64 + 1.0) / (d * (d + 1.0));
                    }
                }
            }
        }
        sum
    }

    #[test]
    fn values_are_those_of_the_definition() {
        for (letters, degree, shift, longest) in
            [(2, 4, 3, 140), (4, 20, 1, 100), (300, 2, 70, 80), (1, 3, 2, 66), (4, 66, 5, 90)]
        {
            let mut strings = random_strings(24, longest, letters, "shifts");
            strings.push(String::new());
            let kernel = WeightedDegreeShifts { degree, shift };
            for x in &strings {
                for y in &strings {
                    let wanted = by_windows(x, y, degree, shift);
                    assert!((kernel.eval(x, y) - wanted).abs() <= 1e-12 * wanted, "{x} {y}");
                }
            }
            check_matrix(&kernel, &strings, 1e-12);
            check_shares(&kernel, &strings, 1e-12);
        }
    }

    #[test]
    fn without_shifts_it_is_the_weighted_degree_kernel() {
        let strings = random_strings(20, 150, 4, "none");
        let (plain, shifted) = (WeightedDegree { degree: 5 }, WeightedDegreeShifts { degree: 5, shift: 0 });
        for x in &strings {
            for y in &strings {
                assert!((plain.eval(x, y) - shifted.eval(x, y)).abs() < 1e-12);
            }
        }
        check_matrix(&shifted, &strings, 1e-12);
    }
}
