//! Full conformal regression: every candidate is learned from as if it were one of the examples, in closed form.
//!
//! The fit on the n examples and on a candidate (x, y) has residuals proportional to
//! ```text
//! α_i − r u_i  for the examples,   r = (y − f(x)) / s  for the candidate
//! ```
//! with u and s of a [`Smoother`]. The candidate is in the region where
//! ```text
//! 1 + #{i : |α_i − r u_i| ≥ |r|} > α (n + 1)
//! ```
//! As r moves from 0 to either side, an example counts up to a first point and, where |u_i| > 1, from a second one on. Between
//! these points nothing changes, so the ends of the region are among them. It may have gaps; the reported interval is the smallest one
//! that holds it, which covers no less. An end is infinite where too many examples count for ever.
//!
//! # Source
//! Nouretdinov, Melluish & Vovk (2001), ridge regression confidence machine; Vovk, Gammerman & Shafer (2005), §2.3.

use super::rank;
use crate::linalg::dot;
use crate::machines::Smoother;
use rayon::prelude::*;

/// Columns that are solved for at a time: a triangle that is read serves all of them.
const COLUMNS_PER_SOLVE: usize = 64;

/// The fit and the examples that full conformal regression compares a candidate with.
///
/// # Cost
/// n²/2 numbers in the file, and n² in memory; a prediction takes n² multiplications and the sorting of 2n numbers for each output.
#[derive(Clone, Debug, PartialEq)]
pub struct Full {
    /// The fit on all examples.
    pub smoother: Smoother,
    /// The examples that are compared with a candidate, rising: those that had no part in what was learned before the fit.
    pub compared: Vec<usize>,
}

impl Full {
    /// The ends of the intervals of new examples and outputs, row by row, from κ between new examples and those of the fit (m × n row by
    /// row) and κ(x, x). Without a `definite` kernel the fit on one example more may not exist; its interval then holds everything.
    pub fn intervals(&self, cross: &[f64], own: &[f64], definite: bool, coverage: f64) -> (Vec<f64>, Vec<f64>) {
        let Smoother { lambda, factor, alpha } = &self.smoother;
        let (n, lambda) = (factor.len().max(1), *lambda);
        let outputs = alpha.len() / n;
        let block = |(rows, own): (&[f64], &[f64])| {
            let mut columns = rows.to_vec();
            factor.forward(&mut columns);
            // s = κ(x, x) + λ − ‖U⁻ᵀk‖², which is λ at least for a positive definite kernel, but for rounding
            let least = if definite { lambda } else { f64::NEG_INFINITY };
            let s: Vec<f64> =
                columns.chunks(n).zip(own).map(|(w, own)| (own + lambda - dot(w, w)).max(least)).collect();
            factor.backward(&mut columns);
            let of = |((k, u), s): ((&[f64], &[f64]), f64)| {
                let f = |c: usize| k.iter().enumerate().map(|(i, k)| k * alpha[i * outputs + c]).sum::<f64>();
                (0..outputs).map(|c| self.ends(c, (f(c), s), u, coverage)).collect::<Vec<_>>()
            };
            rows.chunks(n).zip(columns.chunks(n)).zip(s).flat_map(of).collect::<Vec<_>>()
        };
        cross.par_chunks(COLUMNS_PER_SOLVE * n).zip(own.par_chunks(COLUMNS_PER_SOLVE)).flat_map_iter(block).unzip()
    }

    /// The ends for one new example and output: f(x) − s ρ₋ and f(x) + s ρ₊.
    fn ends(&self, output: usize, (f, s): (f64, f64), u: &[f64], coverage: f64) -> (f64, f64) {
        let n = self.compared.len();
        // 1 + count > α(n + 1), told in whole numbers
        let wanted = n + 1 - rank(n, coverage);
        // a matrix that has become indefinite has no fit
        if wanted == 0 || s.is_nan() || s <= 0.0 {
            return (f64::NEG_INFINITY, f64::INFINITY);
        }
        let outputs = self.smoother.alpha.len() / self.smoother.factor.len().max(1);
        let side = |sign: f64| {
            let spans = self.compared.iter().map(|&i| span(self.smoother.alpha[i * outputs + output], sign * u[i]));
            farthest(&spans.collect::<Vec<_>>(), wanted)
        };
        let (low, high) = (f - s * side(-1.0), f + s * side(1.0));
        // what overflows tells nothing
        if low.is_nan() || high.is_nan() { (f64::NEG_INFINITY, f64::INFINITY) } else { (low, high) }
    }
}

/// The range of |α − ρu| ≥ ρ for ρ ≥ 0: up to the first number, and from the second on.
fn span(alpha: f64, u: f64) -> (f64, f64) {
    // turned round so that α ≥ 0; of α = 0 only |u| matters
    let (a, v) = (alpha.abs(), if alpha == 0.0 { u.abs() } else { u * alpha.signum() });
    // a − vρ ≥ ρ
    let first = if v > -1.0 { a / (1.0 + v) } else { f64::INFINITY };
    // vρ − a ≥ ρ
    let second = match v {
        v if v > 1.0 => a / (v - 1.0),
        v if v >= 1.0 && a == 0.0 => 0.0,
        _ => f64::INFINITY,
    };
    if second <= first { (f64::INFINITY, f64::INFINITY) } else { (first, second) }
}

/// The largest ρ that at least so many spans hold, who all hold 0; infinite where there is none.
fn farthest(spans: &[(f64, f64)], wanted: usize) -> f64 {
    let mut count = spans.iter().filter(|(first, second)| first.is_infinite() || second.is_finite()).count();
    if count >= wanted {
        return f64::INFINITY;
    }
    let firsts = spans.iter().map(|s| (s.0, true));
    let mut points: Vec<(f64, bool)> =
        firsts.chain(spans.iter().map(|s| (s.1, false))).filter(|p| p.0.is_finite()).collect();
    // from above; at one point a span that begins to hold comes before one that ceases to, since both hold the point
    points.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    for (place, begins) in points {
        if begins {
            count += 1;
            if count >= wanted {
                return place;
            }
        } else {
            count -= 1;
        }
    }
    0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Cholesky;
    use crate::seed::Seed;

    /// True if ρ counts, by the definition.
    fn counts(alpha: f64, u: f64, rho: f64) -> bool {
        (alpha - rho * u).abs() >= rho
    }

    #[test]
    fn spans_are_those_of_the_definition() {
        for alpha in [0.0, 0.5, -0.5, 2.0, -3.0] {
            for u in [-3.0, -1.0, -0.25, 0.0, 0.25, 0.5, 1.0, 1.5, 3.0] {
                let (first, second) = span(alpha, u);
                for step in 0..400 {
                    // no multiple of these points is an end
                    let rho = 0.0137 * f64::from(step);
                    assert_eq!(counts(alpha, u, rho), rho <= first || rho >= second, "{alpha} {u} {rho}");
                }
            }
        }
    }

    #[test]
    fn the_farthest_point_is_that_of_a_search() {
        let mut random = Seed(4).stream("spans");
        let mut infinite = 0;
        for trial in 0..3000 {
            let n = 1 + trial % 9;
            // coarse numbers, so that many points are equal
            let mut coarse = || (4.0 * random.normal()).round() / 2.0;
            let pairs: Vec<(f64, f64)> = (0..n).map(|_| (coarse(), coarse())).collect();
            let spans: Vec<(f64, f64)> = pairs.iter().map(|&(a, u)| span(a, u)).collect();
            for wanted in 1..=n {
                let holds = |rho: f64| spans.iter().filter(|s| rho <= s.0 || rho >= s.1).count() >= wanted;
                let found = farthest(&spans, wanted);
                if holds(1e9) {
                    infinite += 1;
                    assert_eq!(found, f64::INFINITY);
                    continue;
                }
                // what counts changes at these points alone
                let points = spans.iter().flat_map(|s| [s.0, s.1]).filter(|p| p.is_finite());
                let best = points.chain([0.0]).filter(|&p| holds(p)).fold(0.0, f64::max);
                assert_eq!(found, best, "{pairs:?} {wanted}");
                assert!(!holds(found * (1.0 + 1e-9) + 1e-9), "{pairs:?} {wanted}");
            }
        }
        assert!(infinite > 500, "{infinite}");
    }

    #[test]
    fn a_matrix_that_becomes_indefinite_gives_everything() {
        let factor = Cholesky::factor(vec![1.5], 1).unwrap().into_triangle();
        let full = Full { smoother: Smoother { lambda: 0.5, factor, alpha: vec![2.0] }, compared: vec![0] };
        // κ(x, x) + λ − k²/1.5 = 0.7 + 0.5 − 9/1.5 < 0
        let everything = (vec![f64::NEG_INFINITY], vec![f64::INFINITY]);
        assert_eq!(full.intervals(&[3.0], &[0.7], false, 0.5), everything);
        // s = 1.5 − 0.25/1.5 = 4/3, u = 1/3, f = 1: |2 − r/3| ≥ |r| for −3 ≤ r ≤ 1.5
        let (lower, upper) = full.intervals(&[0.5], &[1.0], true, 0.5);
        assert!((lower[0] - (1.0 - 4.0)).abs() < 1e-12 && (upper[0] - (1.0 + 2.0)).abs() < 1e-12);
        // one example is too few for 0.9
        assert_eq!(full.intervals(&[0.5], &[1.0], true, 0.9), everything);
    }
}
