//! The best stump: one coordinate, one threshold, the least weighted error.
//!
//! ```text
//! h(x) = s if x_j > θ, else −s         error = Σ_{h(x_i) ≠ y_i} w_i = ½ (1 − Σ_i w_i y_i h(x_i)),  Σ w = 1
//! ```
//! Every coordinate is sorted once. With the examples in that order, moving θ past one of them moves 2 w_i y_i from one side
//! to the other, so a round costs d n additions.

use super::table::Table;
use crate::parallel;
use rayon::prelude::*;

/// Stumps whose sums Σ w y h differ by no more than this are equally good: rounding decides nothing.
const TIE: f64 = 1e-12;

/// Coordinates in rising order.
pub(super) struct Sorted {
    /// d × n places of examples, coordinate by coordinate.
    order: Vec<u32>,
    /// d × n values in that order.
    values: Vec<f64>,
    n: usize,
}

/// A stump and what it says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Best {
    /// The coordinate and the threshold; `None`: the same answer for all.
    pub(super) cut: Option<(usize, f64)>,
    /// s = ±1.
    pub(super) sign: f64,
}

impl Best {
    /// h(x), ±1.
    pub(super) fn says(&self, x: &[f64]) -> f64 {
        match self.cut {
            Some((j, threshold)) if x[j] <= threshold => -self.sign,
            _ => self.sign,
        }
    }
}

impl Sorted {
    /// Sorts a table of fewer than 2³² rows.
    pub(super) fn of(table: &Table) -> Self {
        let (n, d) = (table.n, table.d);
        let column = |j: usize| {
            let mut order: Vec<u32> = (0..n as u32).collect();
            let value = |i: u32| table.rows[i as usize * d + j];
            order.sort_by(|&a, &b| value(a).total_cmp(&value(b)));
            let values = order.iter().map(|&i| value(i)).collect();
            (order, values)
        };
        let columns: Vec<(Vec<u32>, Vec<f64>)> = parallel::map(d, column);
        let (order, values): (Vec<_>, Vec<Vec<f64>>) = columns.into_iter().unzip();
        Self { order: order.concat(), values: values.concat(), n }
    }

    /// The stump with the least error for weights w, which add up to one, and signs y; of equal ones the first coordinate and lowest threshold.
    pub(super) fn best(&self, weights: &[f64], signs: &[f64]) -> Best {
        let n = self.n;
        // w_i y_i once, not once for each coordinate
        let pulls: Vec<f64> = weights.iter().zip(signs).map(|(w, y)| w * y).collect();
        let total: f64 = pulls.iter().sum();
        let column = |(order, values): (&[u32], &[f64])| {
            // Σ w y h of all above the threshold minus that of all below it
            let (mut edge, mut best) = (total, (0.0, 0.0_f64));
            for p in 0..n - 1 {
                edge -= 2.0 * pulls[order[p] as usize];
                if edge.abs() > best.1.abs() + TIE && values[p] < values[p + 1] {
                    best = (between(values[p], values[p + 1]), edge);
                }
            }
            best
        };
        let columns: Vec<(f64, f64)> =
            self.order.par_chunks_exact(n).zip(self.values.par_chunks_exact(n)).map(column).collect();
        let sign = |edge: f64| if edge < 0.0 { -1.0 } else { 1.0 };
        let (mut best, mut most) = (Best { cut: None, sign: sign(total) }, total.abs());
        for (j, (threshold, edge)) in columns.into_iter().enumerate() {
            if edge.abs() > most + TIE {
                most = edge.abs();
                best = Best { cut: Some((j, threshold)), sign: sign(edge) };
            }
        }
        best
    }
}

/// A number from a up to b, b excluded: the middle, unless rounding forbids it.
fn between(a: f64, b: f64) -> f64 {
    let middle = 0.5 * a + 0.5 * b;
    if a <= middle && middle < b { middle } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    #[test]
    fn the_best_stump_is_that_of_all_thresholds() {
        let mut random = Seed(2).stream("stumps");
        for n in [2, 3, 10, 40] {
            for _ in 0..10 {
                // few values, so that many are equal
                let rows: Vec<f64> = (0..n * 3).map(|_| random.below(6) as f64).collect();
                let table = Table { rows, n, d: 3, used: vec![0, 1, 2], width: 3 };
                let signs: Vec<f64> = (0..n).map(|_| if random.uniform() < 0.4 { 1.0 } else { -1.0 }).collect();
                let weights: Vec<f64> = (0..n).map(|_| random.uniform() / n as f64).collect();
                let error = |stump: &Best| {
                    (0..n).filter(|&i| stump.says(table.row(i)) != signs[i]).map(|i| weights[i]).sum::<f64>()
                };
                let mut least = f64::INFINITY;
                for sign in [1.0, -1.0] {
                    least = least.min(error(&Best { cut: None, sign }));
                    for j in 0..3 {
                        for threshold in 0..6 {
                            least = least.min(error(&Best { cut: Some((j, f64::from(threshold))), sign }));
                        }
                    }
                }
                let found = error(&Sorted::of(&table).best(&weights, &signs));
                assert!((found - least).abs() < 1e-12, "{found} {least}");
            }
        }
    }

    #[test]
    fn a_threshold_separates_neighbouring_numbers() {
        for (a, b) in [(1.0, 1.0_f64.next_up()), (-f64::MAX, f64::MAX), (0.0, f64::MIN_POSITIVE), (-2.0, 5.0)] {
            let middle = between(a, b);
            assert!(a <= middle && middle < b, "{a} {b}");
        }
    }
}
