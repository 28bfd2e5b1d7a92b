//! Conformal prediction: sets and intervals that hold the truth as often as they say, whatever the model.
//!
//! A *nonconformity* R says how badly an example fits a model that has not seen it. With n such numbers, the p-value of a
//! candidate y at a new x is
//! ```text
//! p(y) = (1 + #{i : R_i ≥ R₋ᵢ(x, y)}) / (n + 1)
//! ```
//! where R₋ᵢ is measured by the model that has not seen example i: one and the same for all held-out examples (split), the model
//! without the fold of i (cross), or the model without i alone (jackknife+). Where a fit on the candidate as well has a closed form, one model
//! that has seen all of them measures R_i and R alike (full). The region at level 1 − α holds every y with p(y) > α.
//! The only assumption is that examples are exchangeable; model and distribution may be any. [`Guarantee`] states the proven
//! coverage.
//!
//! # Source
//! Vovk, Gammerman & Shafer (2005), chapters 2 and 4 (p-values, split, Mondrian); Barber, Candès, Ramdas & Tibshirani (2021)
//! for jackknife+ and CV+, whose intervals hold the region above; Vovk (2015) for cross-conformal sets.

mod full;
mod guarantee;
mod nonconformity;
mod panel;
mod region;

pub use full::Full;
pub use guarantee::{Beta, Guarantee};
pub use nonconformity::{Measure, nonconformities};
pub use panel::{MAX_PANEL_COEFFICIENTS, Panel, merged};
pub use region::{Measured, Regions};

use crate::data::{DataError, Dataset, RepeatsBeside};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Methods of holding out examples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// A part of the examples is only for calibration, and the model learns from the rest.
    Split,
    /// Each fold is measured by the model without it (CV+, cross-conformal).
    Cross,
    /// Each example is measured by the model without it (jackknife+).
    Jackknife,
    /// No example is held out: the model also learns from each candidate (ridge regression).
    Full,
}

impl Method {
    /// All methods, as the command line spells them.
    pub const WORDS: [(&'static str, Self); 4] =
        [("split", Self::Split), ("cross", Self::Cross), ("jackknife", Self::Jackknife), ("full", Self::Full)];
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Split => "split",
            Self::Cross => "cross",
            Self::Jackknife => "jackknife",
            Self::Full => "full",
        })
    }
}

/// A request for a conformal predictor.
///
/// Held-out examples may have no part in anything that is learned before the fit. Split learns data-driven parameters of the kernel
/// (`gamma=scale`), vocabularies and centres from the examples that it does not set aside. The other methods learn them once, so that one matrix
/// serves every model, from a part of the examples that is chosen by chance, is in every model and never held out: given that part,
/// the others and a new example are exchangeable, and the guarantees hold with the number of the others for n. Where a kernel has
/// nothing to learn, there is no such part. The columns of a table are scaled by the same part ([`Job::prepare`](crate::job::Job::prepare)).
///
/// # Use when
/// Split: there are many examples, or fits are expensive. Cross: every example should be learned from. Jackknife: ridge and kfd, up
/// to some thousand examples. Full: ridge, up to some thousand examples, where 1 − α should be proven and every example learned
/// from.
///
/// # Cost
/// Split: one fit. Cross: one fit for each fold, and as many models in the file. Jackknife: a few fits and n × n coefficients; n
/// fits where the machine has no closed form. Full: a few fits and n²/2 numbers, and n² multiplications for a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The method of holding out examples.
    pub method: Method,
    /// The share of examples that split sets aside, between 0 and 1. With the other methods: the share that scales columns and
    /// resolves data-driven parameters of the kernel, where there is something to learn, and is never held out.
    pub share: f64,
    /// The number of folds of cross.
    pub folds: usize,
    /// True if each class is compared with its own examples only, and covered by itself (Mondrian).
    pub mondrian: bool,
    /// True if jackknife may fit once for each example, where the machine has no closed form.
    pub retrain: bool,
}

impl Recipe {
    /// A method with a quarter set aside, or ten folds.
    pub fn new(method: Method) -> Self {
        Self { method, share: 0.25, folds: 10, mondrian: false, retrain: false }
    }
}

/// Nonconformities of examples that were held out, and the models that have not seen them.
///
/// ```compile_fail,E0616
/// fn larger(conformal: &mut mercer::conformal::Conformal) {
///     conformal.groups = vec![vec![0.0; 1000]];
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Conformal {
    pub(crate) method: Method,
    pub(crate) mondrian: bool,
    pub(crate) measure: Measure,
    pub(crate) groups: Vec<Vec<f64>>,
    pub(crate) columns: usize,
    pub(crate) panels: Vec<Panel>,
    pub(crate) full: Option<Full>,
    pub(crate) pool: Option<Dataset>,
    /// True if no held-out example had a part in what was learned before the fits: without that no coverage is proven. Jobs write it
    /// from the provenance of the model.
    pub(crate) proven: bool,
    /// True if some of the held-out examples are known to be those of training, but not which: then nothing is proven.
    pub(crate) holds_training: bool,
    /// Equal examples among those that were learned from or held out, and those of a file of their own that are equal to training examples.
    pub(crate) repeats: RepeatsBeside,
}

/// ⌈(n + 1) · coverage⌉. A product that misses a whole number by rounding is that number: 0.55 · 100 is 55.
pub fn rank(n: usize, coverage: f64) -> usize {
    let exact = (n as f64 + 1.0) * coverage;
    ((exact * (1.0 - 8.0 * f64::EPSILON)).ceil() as usize).clamp(1, n + 1)
}

/// A coverage between 0 and 1, both excluded.
///
/// # Errors
/// If it is not.
pub fn checked(coverage: f64) -> Result<f64, DataError> {
    if coverage > 0.0 && coverage < 1.0 {
        return Ok(coverage);
    }
    let finding = format!(
        "a coverage of {coverage} is not between 0 and 1; 0.9 asks for regions that hold the truth nine times in ten"
    );
    Err(DataError::Usage { finding })
}

impl Conformal {
    /// From the nonconformities of every held-out example, n × columns row by row, or n of them with the classes of the
    /// examples if it is Mondrian. `members` says which member has not seen each example.
    pub fn new(
        (method, mondrian, measure): (Method, bool, Measure),
        scores: &[f64],
        columns: usize,
        classes: &[u32],
        members: &[usize],
    ) -> Self {
        let count = members.iter().max().map_or(1, |m| m + 1);
        let mut groups = vec![Vec::new(); count * columns];
        for (i, &member) in members.iter().enumerate() {
            if mondrian {
                // a class that the model does not know has no column, and is in every set
                if let Some(&class) = classes.get(i).filter(|c| (**c as usize) < columns) {
                    groups[member * columns + class as usize].push(scores[i]);
                }
            } else {
                (0..columns).for_each(|c| groups[member * columns + c].push(scores[i * columns + c]));
            }
        }
        groups.iter_mut().for_each(|group| group.sort_by(f64::total_cmp));
        Self {
            method,
            mondrian,
            measure,
            groups,
            columns,
            panels: Vec::new(),
            full: None,
            pool: None,
            proven: false,
            holds_training: false,
            repeats: RepeatsBeside::default(),
        }
    }

    /// The predictor that also learns from every candidate.
    pub fn full(full: Full, columns: usize) -> Self {
        let none = Self::new((Method::Full, false, Measure::Residual), &[], columns, &[], &[]);
        Self { groups: Vec::new(), full: Some(full), ..none }
    }

    /// The method of holding out examples.
    pub fn method(&self) -> Method {
        self.method
    }

    /// True if each class is compared with its own examples only (Mondrian).
    pub fn is_mondrian(&self) -> bool {
        self.mondrian
    }

    /// The nonconformity measure.
    pub fn measure(&self) -> Measure {
        self.measure
    }

    /// Nonconformities of the examples that a member has not seen, rising: a list for each member and column, column by column
    /// in each member. Columns are the classes of a Mondrian predictor, the outputs of a regression, else one.
    pub fn groups(&self) -> &[Vec<f64>] {
        &self.groups
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The models without a fold or an example; none for split, whose only member is the model itself, and for full.
    pub fn panels(&self) -> &[Panel] {
        &self.panels
    }

    /// The closed form of full, in place of lists and panels.
    pub fn closed_form(&self) -> Option<&Full> {
        self.full.as_ref()
    }

    /// The examples that panels or full need; `None`: those of the model.
    pub fn pool(&self) -> Option<&Dataset> {
        self.pool.as_ref()
    }

    /// True if a coverage is proven: no held-out example had a part in what was learned before the fits.
    pub fn is_proven(&self) -> bool {
        self.proven
    }

    /// True if some of the held-out examples are those of training, which cannot be told one by one.
    pub fn holds_training(&self) -> bool {
        self.holds_training
    }

    /// Takes the proof back, since held-out examples had a part in a choice.
    pub fn withdraw_proof(&mut self) {
        self.proven = false;
    }

    /// The same predictor, whose coverage is proven if `proven`, and no rows were repeated.
    pub(crate) fn with_proof(self, proven: bool, repeats: RepeatsBeside) -> Self {
        Self { proven: proven && repeats.refusal("").is_none(), repeats, ..self }
    }

    /// Why nothing is proven, where rows were repeated.
    pub fn refusal(&self) -> Option<String> {
        self.repeats.refusal("")
    }

    /// What the coverage rests on, where some examples are equal.
    pub fn condition(&self) -> Option<String> {
        self.repeats.condition("")
    }

    /// The number of models that measure nonconformities.
    pub fn members(&self) -> usize {
        if self.full.is_some() { 1 } else { self.groups.len() / self.columns.max(1) }
    }

    /// The number of held-out examples of a column; of full, the number of examples that a candidate is compared with.
    pub fn held_out(&self, column: usize) -> usize {
        if let Some(full) = &self.full {
            return full.compared.len();
        }
        (0..self.members()).map(|m| self.groups[m * self.columns + column].len()).sum()
    }

    /// True if every set at a coverage holds a label that the model does not know. Such a label is infinitely strange to every
    /// member, and in the region if held-out examples are so often enough. A Mondrian predictor has no example to exclude one by.
    pub fn holds_unknown(&self, coverage: f64) -> bool {
        if !self.measure.is_of_labels() {
            return false;
        }
        let n = self.held_out(0);
        self.mondrian || self.at_least(0, |_| f64::INFINITY) + rank(n, coverage) > n
    }

    /// #{i : R_i ≥ R₋ᵢ(x, y)} in a column, from the nonconformity by each member.
    fn at_least(&self, column: usize, own: impl Fn(usize) -> f64) -> usize {
        let count = |m: usize| {
            let (group, r) = (&self.groups[m * self.columns + column], own(m));
            group.len() - group.partition_point(|s| *s < r)
        };
        (0..self.members()).map(count).sum()
    }

    /// The p-values of k candidates for every example, from n × members × k nonconformities.
    pub fn p_values(&self, nonconformities: &[f64], k: usize) -> Vec<f64> {
        self.each(nonconformities, k, |count, n| (count + 1) as f64 / (n + 1) as f64)
    }

    /// The candidates, of k, in the region of every example, from n × members × k nonconformities.
    pub fn inside(&self, nonconformities: &[f64], k: usize, coverage: f64) -> Vec<bool> {
        // p > α is 1 + count > α(n + 1), in whole numbers
        self.each(nonconformities, k, |count, n| count + rank(n, coverage) > n)
    }

    fn each<T: Send>(&self, nonconformities: &[f64], k: usize, tell: impl Fn(usize, usize) -> T + Sync) -> Vec<T> {
        let sizes: Vec<usize> = (0..self.columns).map(|c| self.held_out(c)).collect();
        let tell = &tell;
        let sizes = &sizes;
        let row = |row: &[f64]| {
            let row = row.to_vec();
            (0..k).map(move |y| {
                let column = if self.mondrian { y } else { 0 };
                tell(self.at_least(column, |m| row[m * k + y]), sizes[column])
            })
        };
        nonconformities.par_chunks_exact((self.members() * k).max(1)).flat_map_iter(row).collect()
    }

    /// The ends of the intervals of every example and output, from n × members × outputs predictions.
    ///
    /// The upper end is the ⌈(n + 1)(1 − α)⌉-th smallest of f₋ᵢ(x) + R_i, the lower end that of −f₋ᵢ(x) + R_i with its sign
    /// turned; both are infinite where there are too few.
    pub fn intervals(&self, values: &[f64], coverage: f64) -> (Vec<f64>, Vec<f64>) {
        let (k, members) = (self.columns, self.members());
        let ends = |row: &[f64], c: usize| {
            let (n, f) = (self.held_out(c), |m: usize| row[m * k + c]);
            let place = rank(n, coverage);
            if place > n {
                return (f64::NEG_INFINITY, f64::INFINITY);
            }
            if members == 1 {
                let r = self.groups[c][place - 1];
                return (f(0) - r, f(0) + r);
            }
            let end = |sign: f64| {
                let group = |m: usize| self.groups[m * k + c].iter().map(move |r| sign * row[m * k + c] + r);
                let mut all: Vec<f64> = (0..members).flat_map(group).collect();
                *all.select_nth_unstable_by(place - 1, f64::total_cmp).1
            };
            let (low, high) = (-end(-1.0), end(1.0));
            // below a coverage of one half the ends may cross: the region is empty, and a point contains it
            if low <= high { (low, high) } else { (f64::midpoint(low, high), f64::midpoint(low, high)) }
        };
        let rows = values.par_chunks_exact((members * k).max(1));
        rows.flat_map_iter(|row| (0..k).map(|c| ends(row, c)).collect::<Vec<_>>()).unzip()
    }
}

#[cfg(test)]
mod tests;
