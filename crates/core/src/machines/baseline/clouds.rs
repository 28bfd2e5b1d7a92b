//! Gaussian clouds: the mean and covariance of every class, how likely it is beforehand, and the odds of classes that follow.
//!
//! ```text
//! s_c(x) = −½ (x − m_c)ᵀ Σ_c⁻¹ (x − m_c) − ½ ln|Σ_c| + ln π_c        ln P(a | x)/P(b | x) = s_a(x) − s_b(x)
//! ```
//! Covariances are scatters divided by the number of examples: the sum itself, as the thesis has it in (3.3), is no variance.
//!
//! # Source
//! S. Mika, Kernel Fisher Discriminants (2002), 3.2.2; Friedman (1989) for what lies between pooled, own and round covariances.

use super::table::{ROUNDING, Table, means};
use crate::calibrate::Calibration;
use crate::data::Classes;
use crate::linalg::{Cholesky, gram_of_columns};
use crate::machines::class_weight::ClassWeight;
use crate::machines::multiclass::pairs;
use crate::machines::{FitError, Readout};

/// The classes as clouds.
pub(super) struct Clouds {
    machine: &'static str,
    /// The total weight of each class.
    pub(super) counts: Vec<f64>,
    /// The mean of each class, class after class.
    pub(super) means: Vec<f64>,
    /// Σ v (x − m_c)(x − m_c)ᵀ of each class.
    pub(super) scatters: Vec<Vec<f64>>,
    /// The number of coordinates.
    pub(super) d: usize,
    /// The first coordinate that does not vary inside any class.
    still: Option<usize>,
}

/// A covariance that was factorised.
pub(super) struct Shape {
    pub(super) factor: Cholesky,
    d: usize,
}

impl Clouds {
    /// Means and scatters of weighted rows.
    pub(super) fn new(
        machine: &'static str,
        table: &Table,
        shares: &[f64],
        classes: &Classes,
    ) -> Result<Self, FitError> {
        let (d, k) = (table.d, classes.labels.len());
        let (mut counts, mut centres, mut scatters) = (Vec::new(), Vec::new(), Vec::new());
        for c in 0..k {
            let own: Vec<usize> = (0..table.n).filter(|&i| classes.codes[i] as usize == c && shares[i] > 0.0).collect();
            if own.is_empty() {
                let finding = format!("no example of the class {} has a weight above zero", classes.labels[c]);
                return Err(FitError::Param { machine, finding });
            }
            let part = table.select(&own);
            let weights: Vec<f64> = own.iter().map(|&i| shares[i]).collect();
            let mean = means(&part.rows, d, &weights);
            let mut rows = part.rows;
            for (row, v) in rows.chunks_exact_mut(d).zip(&weights) {
                row.iter_mut().zip(&mean).for_each(|(x, m)| *x = v.sqrt() * (*x - m));
            }
            scatters.push(gram_of_columns(&rows, own.len(), d));
            counts.push(weights.iter().sum());
            centres.extend(mean);
        }
        let total: f64 = counts.iter().sum();
        let most = |j: usize| table.rows.iter().skip(j).step_by(d).fold(0.0_f64, |most, x| most.max(x.abs()));
        let spread = |j: usize| (scatters.iter().map(|s: &Vec<f64>| s[j * d + j]).sum::<f64>() / total).sqrt();
        let still = (0..d).find(|&j| spread(j) <= ROUNDING * most(j));
        Ok(Self { machine, counts, means: centres, scatters, d, still: still.map(|j| table.used[j]) })
    }

    /// ((1 − λ) S_c + λ S) / ((1 − λ) n_c + λ n), then (1 − γ) Σ + γ (tr Σ / d) I; S and n are the sums over all classes.
    pub(super) fn shape(&self, class: usize, lambda: f64, gamma: f64, label: &str) -> Result<Shape, FitError> {
        let d = self.d;
        let own = 1.0 - lambda;
        let total: f64 = self.counts.iter().sum();
        let count = own * self.counts[class] + lambda * total;
        let entry = |p: usize| own * self.scatters[class][p] + lambda * self.scatters.iter().map(|s| s[p]).sum::<f64>();
        let mut matrix: Vec<f64> = (0..d * d).map(|p| entry(p) / count).collect();
        let round = (0..d).map(|j| matrix[j * (d + 1)]).sum::<f64>() / d as f64;
        matrix.iter_mut().for_each(|m| *m *= 1.0 - gamma);
        matrix.iter_mut().step_by(d + 1).for_each(|m| *m += gamma * round);
        let whose = if lambda == 1.0 { "the classes".to_owned() } else { format!("the class {label}") };
        let singular = || FitError::Param {
            machine: self.machine,
            finding: format!(
                "the covariance of {whose} is singular: {}; give gamma above zero, for example 0.01, or leave coordinates out",
                match self.still {
                    Some(j) => format!("coordinate {} does not vary inside any class", j + 1),
                    None =>
                        "there are too few examples for so many coordinates, or coordinates that follow from others"
                            .to_owned(),
                }
            ),
        };
        if gamma == 0.0 && self.still.is_some() {
            return Err(singular());
        }
        let factor = Cholesky::factor(matrix, d).map_err(|_| singular())?;
        match factor.least_pivot() {
            Some((_, part)) if part <= 8.0 * d as f64 * f64::EPSILON => Err(singular()),
            _ => Ok(Shape { factor, d }),
        }
    }

    /// The mean of a class.
    pub(super) fn mean(&self, class: usize) -> &[f64] {
        &self.means[class * self.d..(class + 1) * self.d]
    }
}

impl Shape {
    /// L⁻¹ of Σ = LLᵀ, the rows of its triangle end to end: (x − m)ᵀΣ⁻¹(x − m) = ‖L⁻¹(x − m)‖².
    pub(super) fn root(&self) -> Vec<f64> {
        let d = self.d;
        let mut turned = vec![0.0; d * d];
        turned.iter_mut().step_by(d + 1).for_each(|t| *t = 1.0);
        self.factor.unwhiten(&mut turned, d);
        (0..d).flat_map(|i| (0..=i).map(move |j| (i, j))).map(|(i, j)| turned[j * d + i]).collect()
    }
}

/// ln|Σ| from the root: minus twice the sum of the logarithms of its diagonal.
pub(super) fn log_determinant(root: &[f64], d: usize) -> f64 {
    -2.0 * (0..d).map(|i| root[i * (i + 3) / 2].ln()).sum::<f64>()
}

/// The rule of the parameter `priors`.
pub(super) fn check_priors(text: &str) -> Result<(), String> {
    given(text).map(|_| ())
}

/// The pairs of a label and its weight, if there are any.
fn given(text: &str) -> Result<Vec<(String, f64)>, String> {
    match text.trim() {
        "data" | "equal" => Ok(Vec::new()),
        _ => match ClassWeight::parse(text) {
            Ok(ClassWeight::Given(pairs)) => Ok(pairs),
            _ => Err("data, equal or label:share,label:share with shares above zero for all classes".to_owned()),
        },
    }
}

/// ln π_c: as often as in the data, all alike, or as given, whatever the sum.
pub(super) fn log_priors(
    machine: &'static str,
    text: &str,
    classes: &Classes,
    counts: &[f64],
) -> Result<Vec<f64>, FitError> {
    let k = classes.labels.len();
    let pairs =
        given(text).map_err(|w| FitError::Param { machine, finding: format!("priors = {text}: it takes {w}") })?;
    let shares = match text.trim() {
        "data" => counts.to_vec(),
        "equal" => vec![1.0; k],
        _ if pairs.len() < k => {
            let finding = format!("priors = {text}: each of the {k} classes needs a share");
            return Err(FitError::Param { machine, finding });
        }
        _ => ClassWeight::factors(machine, text, classes)?,
    };
    let sum: f64 = shares.iter().sum();
    Ok(shares.into_iter().map(|s| (s / sum).ln()).collect())
}

/// Scores of pairs are logarithms of odds: they are read as votes, which the likeliest class wins, and their probabilities are
/// the posterior ones without anything to be learned, but none of a pair is below 10⁻⁷.
pub(super) fn odds(labels: Vec<String>) -> (Readout, Calibration) {
    let calibration = Calibration::of_log_odds(pairs(labels.len()).count());
    (Readout::Vote { labels }, calibration)
}
