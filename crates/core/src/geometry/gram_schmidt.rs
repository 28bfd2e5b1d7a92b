//! Gram–Schmidt in feature space: incomplete Cholesky with pivots.
//!
//! ```text
//! choose the example whose residual κ(x, x) − Σ_t r_t² is largest, ν = √residual
//! r_j = (κ(x_p, x_j) − Σ_{t<j} r_t(x_p) r_t(x_j)) / ν     for all examples; residuals fall by r_j²
//! ```
//! After T steps K ≈ RᵀR, exactly on the chosen examples; the trace of what is left is known at every step. Only T columns of
//! K are ever computed.
//!
//! # Source
//! KMPA, Algorithm 5.12 (partial Gram–Schmidt); S. Fine & K. Scheinberg, Efficient SVM training using low-rank kernel
//! representations, JMLR 2 (2001), §4.
//!
//! # How
//! A new column needs Σ_t r_t(x_p) r_t(·), a product that reads all coordinates for two operations each: bound by memory. So
//! the sums of the most promising examples, those with the largest residuals, are taken together as one product of
//! matrices; only the few coordinates found since are added one by one. The next example is always the one with the largest
//! residual of all: where it is no candidate, there is a new panel. The choice is therefore the same as without panels, and
//! kernel values are computed for chosen examples only. A panel that served is followed by a wider one, one that did not by a
//! narrower.

use super::lengths::selves;
use crate::error::Error;
use crate::gram::{BlockMut, Budget, Gram, Pick};
use crate::linalg::SolveError;
use crate::linalg::multiply_add;
use crate::vectorise::{Loops, vectorised};
use rayon::prelude::*;

/// Examples that one thread computes at a time; inside a strip coordinates stand column by column.
const STRIP: usize = 256;
/// Number of candidates of the first panel.
const FIRST_PANEL: usize = 8;
/// Number of candidates of the widest panel.
const MAX_PANEL: usize = 64;

/// Coordinates of the examples in the span of a few of them.
#[derive(Clone, Debug, PartialEq)]
pub struct GramSchmidt {
    /// The places of the chosen examples, in their order.
    pub pivots: Vec<usize>,
    /// Their distances from the span of those before, ν.
    pub lengths: Vec<f64>,
    /// Coordinates of all examples, n × rank row by row: inner products of rows approximate K.
    pub coordinates: Vec<f64>,
    /// κ(x, x) minus the squared length of the coordinates, of every example: below zero by rounding, or where the kernel
    /// is not positive semi-definite.
    pub residuals: Vec<f64>,
}

/// Told how many examples are chosen and the largest residual; whether to go on.
pub type Onward<'a> = dyn FnMut(usize, f64) -> bool + 'a;

impl GramSchmidt {
    /// Chooses examples until no residual is above `tolerance` or `most` are chosen.
    ///
    /// # Errors
    /// If the coordinates do not fit the memory budget, or a value is not finite.
    pub fn of(gram: &dyn Gram, tolerance: f64, most: usize, budget: Budget) -> Result<Self, Error> {
        budget.check(Self::bytes(gram.shape().0, most), "partial Gram–Schmidt")?;
        Ok(Self::watched(gram, tolerance, most, &mut |_, _| true)?)
    }

    /// The memory for `most` of n examples, in bytes.
    pub fn bytes(n: usize, most: usize) -> usize {
        let most = most.min(n);
        n.saturating_mul(most + most.min(MAX_PANEL) + 2).saturating_mul(8)
    }

    /// The same without a plan; stops early, with what it has, where `onward` says no.
    ///
    /// # Errors
    /// If a value is not finite.
    pub fn watched(gram: &dyn Gram, tolerance: f64, most: usize, onward: &mut Onward<'_>) -> Result<Self, SolveError> {
        Self::with_panels(gram, tolerance, most, MAX_PANEL, onward)
    }

    /// The same with panels of at most so many candidates; with one it is the algorithm as it is written above.
    fn with_panels(
        gram: &dyn Gram,
        tolerance: f64,
        most: usize,
        widest: usize,
        onward: &mut Onward<'_>,
    ) -> Result<Self, SolveError> {
        let residuals = selves(gram);
        if let Some(i) = residuals.iter().position(|r| !r.is_finite()) {
            return Err(SolveError::NotFinite { row: i + 1, column: i + 1 });
        }
        let (n, floor) = (residuals.len(), tolerance.max(0.0));
        let (mut pivots, mut lengths) = (Vec::new(), Vec::new());
        let mut work = Work::new(residuals, most.min(n), widest);
        let mut top = work.largest();
        while let Some((pivot, left)) = top.filter(|(_, left)| *left > floor && pivots.len() < work.most) {
            if !onward(pivots.len(), left) {
                break;
            }
            let place = match work.candidates.iter().position(|&c| c == pivot) {
                Some(place) => place,
                None => {
                    work.renew(pivots.len(), floor);
                    0 // the largest comes first
                }
            };
            work.served += 1;
            top = work.step(gram, pivot, place, pivots.len(), left.sqrt())?;
            pivots.push(pivot);
            lengths.push(left.sqrt());
        }
        let (coordinates, residuals) = work.finish(pivots.len());
        Ok(Self { pivots, lengths, coordinates, residuals })
    }

    /// The number of chosen examples.
    pub fn rank(&self) -> usize {
        self.pivots.len()
    }

    /// The coordinates of the chosen examples, rank × rank row by row: the lower triangle L with K = LLᵀ on them.
    pub fn triangle(&self) -> Vec<f64> {
        let rank = self.rank();
        let mut lower = vec![0.0; rank * rank];
        for (t, (&p, row)) in self.pivots.iter().zip(lower.chunks_exact_mut(rank.max(1))).enumerate() {
            // above the diagonal there is nothing but rounding
            row[..=t].copy_from_slice(&self.coordinates[p * rank..][..=t]);
        }
        lower
    }

    /// Coordinates of new examples, which are the rows of `cross`; its columns are the chosen examples in their order.
    pub fn map(&self, cross: &dyn Gram) -> Vec<f64> {
        let (m, rank) = (cross.shape().0, self.rank());
        let mut out = vec![0.0; m * rank];
        crate::gram::fill(cross, &mut out);
        for row in out.chunks_exact_mut(rank.max(1)) {
            for t in 0..rank {
                let pivot = &self.coordinates[self.pivots[t] * rank..(self.pivots[t] + 1) * rank];
                let known: f64 = row[..t].iter().zip(pivot).map(|(a, b)| a * b).sum();
                row[t] = (row[t] - known) / self.lengths[t];
            }
        }
        out
    }
}

/// Coordinates, the panel's sums, and residuals of some examples.
type Strip<'a> = ((&'a mut [f64], &'a [f64]), &'a mut [f64]);
/// An example and its residual.
type Top = Option<(usize, f64)>;

/// The state between two choices.
struct Work {
    most: usize,
    residuals: Vec<f64>,
    /// Strip by strip, in each of them column by column.
    coordinates: Vec<f64>,
    /// The panel: the examples that may be next, the one with the largest residual first.
    candidates: Vec<usize>,
    /// Σ_{t < from} r_t(candidate) r_t(x) for all x: strip by strip, in each of them candidate by candidate.
    known: Vec<f64>,
    /// The largest number of candidates.
    widest: usize,
    /// The present number of candidates.
    width: usize,
    /// Coordinates that the panel knows.
    from: usize,
    /// The number of candidates of the panel that were chosen.
    served: usize,
}

impl Work {
    fn new(residuals: Vec<f64>, most: usize, widest: usize) -> Self {
        let (n, widest) = (residuals.len(), most.min(widest));
        Self {
            most,
            residuals,
            coordinates: vec![0.0; n * most],
            candidates: Vec::new(),
            known: vec![0.0; n * widest],
            widest,
            width: widest.min(FIRST_PANEL),
            from: 0,
            served: 0,
        }
    }

    fn largest(&self) -> Top {
        largest(&self.residuals, 0)
    }

    /// r_t of one example, for t from `from` up to `to`.
    fn own(&self, example: usize, from: usize, to: usize) -> impl Iterator<Item = f64> + '_ {
        let start = example - example % STRIP;
        let count = STRIP.min(self.residuals.len() - start);
        (from..to).map(move |t| self.coordinates[start * self.most + t * count + example % STRIP])
    }

    /// A new panel of the examples with the largest residuals, t coordinates being known.
    fn renew(&mut self, t: usize, floor: f64) {
        if !self.candidates.is_empty() {
            if self.served == self.candidates.len() {
                self.width = (2 * self.width).min(self.widest);
            } else if 4 * self.served <= self.candidates.len() {
                self.width = (self.width / 2).max(1);
            }
        }
        (self.from, self.served) = (t, 0);
        let residuals = &self.residuals;
        // the first of equals, so that nothing depends on the threads
        let order = |a: &usize, b: &usize| residuals[*b].total_cmp(&residuals[*a]).then(a.cmp(b));
        let mut candidates: Vec<usize> = (0..residuals.len()).filter(|&i| residuals[i] > floor).collect();
        if candidates.len() > self.width {
            candidates.select_nth_unstable_by(self.width - 1, order);
            candidates.truncate(self.width);
        }
        candidates.sort_unstable_by(order);
        let own: Vec<f64> = candidates.iter().flat_map(|&c| self.own(c, 0, t)).collect();
        let (most, width) = (self.most, candidates.len());
        self.coordinates.par_chunks(STRIP * most).zip(self.known.par_chunks_mut(STRIP * self.widest)).for_each(
            |(strip, known)| {
                let count = strip.len() / most;
                let known = &mut known[..width * count];
                known.fill(0.0);
                multiply_add(&own, width, t, &strip[..t * count], count, known);
            },
        );
        self.candidates = candidates;
    }

    /// One more coordinate of all examples; the largest residual that is left.
    fn step(&mut self, gram: &dyn Gram, pivot: usize, place: usize, t: usize, nu: f64) -> Result<Top, SolveError> {
        let own: Vec<f64> = self.own(pivot, self.from, t).collect();
        let (most, from) = (self.most, self.from);
        let strip = |(strip, ((values, known), residuals)): (usize, Strip<'_>)| {
            let (start, count) = (strip * STRIP, residuals.len());
            let (before, rest) = values.split_at_mut(t * count);
            let column = &mut rest[..count];
            // a row of kernel values, since K is symmetric: rows are the fast way
            let row = Pick::Range(pivot..pivot + 1);
            gram.block(row, Pick::Range(start..start + count), BlockMut::new(column, 1, count));
            let known = &known[place * count..(place + 1) * count];
            vectorised(Deflate { column, known, before: &before[from * count..], own: &own, nu, residuals });
            if (start..start + count).contains(&pivot) {
                (column[pivot - start], residuals[pivot - start]) = (nu, 0.0);
            }
            match residuals.iter().position(|r| !r.is_finite()) {
                Some(i) => Err(SolveError::NotFinite { row: pivot + 1, column: start + i + 1 }),
                None => Ok(largest(residuals, start)),
            }
        };
        let tops: Vec<Result<Top, SolveError>> = self
            .coordinates
            .par_chunks_mut(STRIP * most)
            .zip(self.known.par_chunks(STRIP * self.widest))
            .zip(self.residuals.par_chunks_mut(STRIP))
            .enumerate()
            .map(strip)
            .collect();
        let mut best: Top = None;
        for top in tops {
            best = match (best, top?) {
                (Some(b), Some(t)) if t.1 > b.1 => Some(t),
                (None, top) => top,
                (best, _) => best,
            };
        }
        Ok(best)
    }

    /// Coordinates row by row, without room for what was not chosen, and what is left of κ(x, x).
    fn finish(self, rank: usize) -> (Vec<f64>, Vec<f64>) {
        if rank == 0 {
            return (Vec::new(), self.residuals);
        }
        let (most, n, mut values) = (self.most, self.residuals.len(), self.coordinates);
        values.par_chunks_mut(STRIP * most).for_each_init(Vec::new, |columns, strip| {
            let count = strip.len() / most;
            columns.clear();
            columns.extend_from_slice(&strip[..rank * count]);
            for (i, row) in strip.chunks_exact_mut(rank).take(count).enumerate() {
                row.iter_mut().enumerate().for_each(|(t, value)| *value = columns[t * count + i]);
            }
        });
        if rank < most {
            for start in (0..n).step_by(STRIP) {
                let count = STRIP.min(n - start);
                values.copy_within(start * most..start * most + count * rank, start * rank);
            }
            values.truncate(n * rank);
            values.shrink_to_fit();
        }
        (values, self.residuals)
    }
}

/// The largest of some residuals, the first of equals; places count from `start`.
fn largest(residuals: &[f64], start: usize) -> Top {
    let mut best: Top = None;
    for (i, &r) in residuals.iter().enumerate() {
        if best.is_none_or(|b| r > b.1) {
            best = Some((start + i, r));
        }
    }
    best
}

/// r = (κ − known − Σ own · before) / ν for a strip, and residuals − r².
struct Deflate<'a> {
    column: &'a mut [f64],
    known: &'a [f64],
    before: &'a [f64],
    own: &'a [f64],
    nu: f64,
    residuals: &'a mut [f64],
}

impl Loops for Deflate<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let count = self.column.len();
        for (c, k) in self.column.iter_mut().zip(self.known) {
            *c -= k;
        }
        for (line, a) in self.before.chunks_exact(count).zip(self.own) {
            for (c, r) in self.column.iter_mut().zip(line) {
                *c -= a * r;
            }
        }
        for (c, left) in self.column.iter_mut().zip(self.residuals) {
            *c /= self.nu;
            *left -= *c * *c;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{linear, points};
    use super::*;
    use crate::gram::Dense;

    fn gaussian(x: &[f64], d: usize) -> Dense<f64> {
        let n = x.len() / d;
        let value = |p: usize| {
            let (a, b) = (&x[p / n * d..][..d], &x[p % n * d..][..d]);
            (-0.5 * a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>()).exp()
        };
        Dense::new((0..n * n).map(value).collect(), n, n).unwrap()
    }

    fn inner(c: &[f64], rank: usize, i: usize, j: usize) -> f64 {
        (0..rank).map(|t| c[i * rank + t] * c[j * rank + t]).sum()
    }

    #[test]
    fn all_steps_reproduce_the_matrix_and_few_steps_its_residuals() {
        let n = 300;
        let gram = gaussian(&points(n, 2, 30), 2);
        let whole = GramSchmidt::of(&gram, 1e-12, n, Budget::default()).unwrap();
        let part = GramSchmidt::of(&gram, 0.0, 7, Budget::default()).unwrap();
        assert_eq!(part.rank(), 7);
        assert_eq!(part.pivots, whole.pivots[..7]);
        for i in 0..n {
            for j in [0, 5, 299] {
                assert!((inner(&whole.coordinates, whole.rank(), i, j) - gram.row(i)[j]).abs() < 1e-6);
            }
            let left = 1.0 - inner(&part.coordinates, 7, i, i);
            assert!((part.residuals[i] - left).abs() < 1e-12 && left > -1e-12);
        }
        assert!(whole.lengths.windows(2).all(|l| l[1] <= l[0] * (1.0 + 1e-9)), "residuals fall");
        for &p in &part.pivots {
            assert!((inner(&part.coordinates, 7, p, p) - 1.0).abs() < 1e-12, "chosen examples are exact");
        }
    }

    #[test]
    fn it_stops_at_the_rank_and_new_examples_that_are_old_have_their_coordinates() {
        let (n, d) = (50, 3);
        let gram = linear(&points(n, d, 31), d);
        let found = GramSchmidt::of(&gram, 1e-10, 40, Budget::default()).unwrap();
        assert_eq!((found.rank(), found.coordinates.len()), (d, n * d));
        let columns: Vec<f64> =
            (0..n).flat_map(|i| found.pivots.iter().map(move |&p| (i, p))).map(|(i, p)| gram.row(i)[p]).collect();
        let mapped = found.map(&Dense::new(columns, n, d).unwrap());
        for (a, b) in mapped.iter().zip(&found.coordinates) {
            assert!((a - b).abs() < 1e-9);
        }
        assert!(GramSchmidt::of(&gram, 0.0, 40, Budget { memory: 100 }).is_err());
    }

    #[test]
    fn panels_change_no_choice() {
        for (gram, most) in [(gaussian(&points(900, 5, 33), 5), 200), (linear(&points(300, 40, 34), 40), 60)] {
            let with = |widest| GramSchmidt::with_panels(&gram, 1e-9, most, widest, &mut |_, _| true).unwrap();
            let (plain, panels) = (with(1), with(MAX_PANEL));
            assert_eq!(plain.pivots, panels.pivots);
            for (a, b) in plain.coordinates.iter().zip(&panels.coordinates) {
                assert!((a - b).abs() < 1e-9, "{a} {b}");
            }
        }
    }

    #[test]
    fn nothing_is_chosen_of_nothing_and_broken_values_are_told() {
        let none = GramSchmidt::of(&Dense::new(vec![0.0; 9], 3, 3).unwrap(), 0.0, 3, Budget::default()).unwrap();
        assert_eq!((none.rank(), none.coordinates.len(), none.residuals), (0, 0, vec![0.0; 3]));
        let empty = GramSchmidt::of(&Dense::new(Vec::<f64>::new(), 0, 0).unwrap(), 0.0, 3, Budget::default()).unwrap();
        assert_eq!((empty.rank(), empty.triangle()), (0, Vec::new()));
        let broken = Dense::new(vec![1.0, f64::INFINITY, f64::INFINITY, 1.0], 2, 2).unwrap();
        let said = GramSchmidt::of(&broken, 0.0, 2, Budget::default()).unwrap_err().to_string();
        assert!(said.contains("row 1, column 2"), "{said}");
    }

    #[test]
    fn the_same_bits_for_any_number_of_threads() {
        let gram = gaussian(&points(700, 3, 32), 3);
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| GramSchmidt::of(&gram, 1e-6, 60, Budget::default()).unwrap())
        };
        assert_eq!(with(1), with(3));
    }
}
