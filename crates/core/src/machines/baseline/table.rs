//! Explicit features as a table of the coordinates that occur.

use crate::data::Vectors;
use crate::gram::Budget;
use crate::linalg::SolveError;
use crate::machines::ensemble::gather;
use crate::machines::{FitError, Task};
use crate::parallel;

/// Rows that one thread takes at a time.
const STRIP: usize = 64;

/// A column varies if its spread is above so many units of rounding of its values.
pub(super) const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// n rows of d coordinates.
pub(super) struct Table {
    /// Row by row.
    pub(super) rows: Vec<f64>,
    /// n.
    pub(super) n: usize,
    /// d, at least one.
    pub(super) d: usize,
    /// The coordinates of the examples, rising: all of dense ones, those that are not always zero of sparse ones.
    pub(super) used: Vec<usize>,
    /// The number of coordinates of the examples.
    pub(super) width: usize,
}

impl Table {
    /// The features of a task, if they are finite and fit into memory with `copies` more numbers for each.
    pub(super) fn of(
        machine: &'static str,
        instead: &'static str,
        task: &Task<'_>,
        copies: usize,
    ) -> Result<Self, FitError> {
        // a multiple changes nothing that is learned from coordinates
        let features = task.features.as_ref().filter(|f| f.scale > 0.0);
        let rows = &features.ok_or(FitError::NoFeatures { machine, instead })?.rows;
        let (n, width) = (rows.len(), rows.width());
        let used: Vec<usize> = match rows {
            Vectors::Dense(_) => (0..width).collect(),
            Vectors::Sparse(rows) => {
                let mut used: Vec<usize> = rows.coordinates().iter().map(|c| c.index as usize).collect();
                used.sort_unstable();
                used.dedup();
                used
            }
        };
        let d = used.len();
        if d == 0 {
            let finding = "no example has a coordinate that is not zero, so there is nothing to learn from";
            return Err(FitError::Param { machine, finding: finding.to_owned() });
        }
        let bytes = n.saturating_mul(d).saturating_mul(8 * (1 + copies));
        task.budget.check(bytes, "a table of all coordinates that occur")?;
        let mut table = vec![0.0; n * d];
        parallel::strips(&mut table, STRIP * d, |strip, out| {
            out.chunks_exact_mut(d).enumerate().for_each(|(i, out)| gather(rows, strip * STRIP + i, &used, out));
        });
        if let Some(place) = table.iter().position(|x| !x.is_finite()) {
            let error = SolveError::NotFinite { row: place / d + 1, column: used[place % d] + 1 };
            return Err(FitError::Solve { machine, error });
        }
        Ok(Self { rows: table, n, d, used, width })
    }

    /// One row.
    pub(super) fn row(&self, i: usize) -> &[f64] {
        &self.rows[i * self.d..(i + 1) * self.d]
    }

    /// Some of the rows.
    pub(super) fn select(&self, keep: &[usize]) -> Self {
        let rows = keep.iter().flat_map(|&i| self.row(i)).copied().collect();
        Self { rows, n: keep.len(), d: self.d, used: self.used.clone(), width: self.width }
    }

    /// Refuses weights of all coordinates that would not fit: a model has one for each, used or not.
    pub(super) fn check_weights(&self, machine: &str, budget: Budget, outputs: usize) -> Result<(), FitError> {
        let bytes = self.width.saturating_mul(outputs).saturating_mul(8 * 2);
        let what = format!("{machine}: weights of {} coordinates", self.width);
        Ok(budget.check(bytes, what).map_err(|e| e.remedy("renumber the coordinates, or raise --memory"))?)
    }

    /// Weights of the used coordinates (d × outputs) at their places among all.
    pub(super) fn spread(&self, weights: &[f64], outputs: usize) -> Vec<f64> {
        let mut all = vec![0.0; self.width * outputs];
        for (&j, row) in self.used.iter().zip(weights.chunks_exact(outputs)) {
            all[j * outputs..(j + 1) * outputs].copy_from_slice(row);
        }
        all
    }
}

/// The weight of each example, n in all.
pub(super) fn shares(machine: &'static str, task: &Task<'_>) -> Result<Vec<f64>, FitError> {
    let n = task.len();
    let Some(weights) = task.weights else { return Ok(vec![1.0; n]) };
    let sum: f64 = weights.iter().sum();
    if sum > 0.0 && sum.is_finite() {
        return Ok(weights.iter().map(|w| w * n as f64 / sum).collect());
    }
    let finding = "the weights of the examples must have a finite sum above zero".to_owned();
    Err(FitError::Param { machine, finding })
}

/// The weighted mean of each column, with the rounding of the first sum taken away by a second.
pub(super) fn means(rows: &[f64], d: usize, shares: &[f64]) -> Vec<f64> {
    let total: f64 = shares.iter().sum();
    let mut means = vec![0.0; d];
    for _ in 0..2 {
        let mut sums = vec![0.0; d];
        for (row, v) in rows.chunks_exact(d).zip(shares) {
            sums.iter_mut().zip(row).zip(&means).for_each(|((s, x), m)| *s += v * (x - m));
        }
        means.iter_mut().zip(&sums).for_each(|(m, s)| *m += s / total);
    }
    means
}
