//! The linear Fisher discriminant: Gaussian clouds of one shape.

use super::clouds::{Clouds, check_priors, log_priors, odds};
use super::table::{Table, shares};
use crate::machines::multiclass::pairs;
use crate::machines::{
    Coefficients, Expansion, FitError, Fitted, Learns, Machine, MachineEntry, Reads, SolverReport, Task, Traits,
};
use crate::params::{Params, Rule, Visit};
use crate::sources::{MIKA, Source};
use crate::watch::{Monitor, Phase};
use std::cmp::Ordering;

const NAME: &str = "linear_fisher";

/// w = Σ⁻¹(m_a − m_b), b = ½ m_bᵀΣ⁻¹m_b − ½ m_aᵀΣ⁻¹m_a + ln(π_a/π_b): the odds of Gaussian classes of one covariance
///
/// For two classes w is Fisher's direction S_W⁻¹(m₁ − m₂), the largest quotient of the distance of means and the scatter inside
/// classes, and also that of least squares on ±1. Σ is the scatter about the class means over the number of examples,
/// shrunk towards a multiple of the identity by `gamma`. Scores are logarithms of the odds of every two classes, probabilities
/// the posterior ones under `priors`, without calibration, none of two classes below 10⁻⁷. Weights of examples count them several times. A method for
/// comparisons, on the coordinates of the linear kernel. The report's note `separation` is the least squared distance of two
/// class means, measured by Σ⁻¹.
///
/// # Source
/// Mika 2002, 3.1–3.2.2, with variances in place of the scatter sums of (3.3) and the least squares equation (3.15) corrected.
///
/// # Use when
/// Another method is to be compared with the plain direction that is best for Gaussian clouds of one shape.
///
/// # Cost
/// n d² for the scatter and d³/3 for its factor, d² numbers for each class.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearFisher {
    /// The part of the covariance that is replaced by (tr Σ / d) I.
    pub gamma: f64,
    /// Prior probabilities of the classes: `data`, `equal`, or `label:share,label:share`.
    pub priors: String,
}

impl Default for LinearFisher {
    fn default() -> Self {
        Self { gamma: 0.0, priors: "data".to_owned() }
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: NAME,
    aliases: &["lda", "linear_discriminant"],
    summary: "the odds of Gaussian classes of one covariance, whose direction is Fisher's; for comparisons",
    formula: "w = Σ⁻¹(m₁ − m₂), b = ½ m₂ᵀΣ⁻¹m₂ − ½ m₁ᵀΣ⁻¹m₁ + ln(π₁/π₂)",
    learns: Learns::Classes,
    source: Source::corrected(
        &MIKA,
        "3.1–3.2.2",
        "scatters are divided by the number of examples; the right side of (3.15) is (2M₁M₂/M)(m₂ − m₁)",
    ),
    use_when: "another method is to be compared with the direction that is best for Gaussian clouds of one shape",
    cost: "n d² for the scatter and d³/3 for its factor, d² numbers for each class.",
    make: || Box::new(LinearFisher::default()),
};

impl Params for LinearFisher {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.real("gamma", &mut self.gamma, Rule::Between(0.0, 1.0), "how far the covariance shrinks to the identity");
        v.text("priors", &mut self.priors, check_priors, "data, equal or label:share,… for all classes");
    }
}

impl Machine for LinearFisher {
    fn entry(&self) -> &'static MachineEntry {
        &ENTRY
    }

    fn traits(&self) -> Traits {
        Traits {
            reads: Reads::Features,
            weights: true,
            regularised_by: &[("gamma", Ordering::Greater)],
            searched: "gamma=0|0.01|0.1|0.3|1",
            ..Traits::default()
        }
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let classes = task.classes(NAME)?;
        let table = Table::of(NAME, "regularised_fisher", task, 2)?;
        let (d, k) = (table.d, classes.labels.len());
        task.budget.check(d.saturating_mul(d).saturating_mul(8 * (k + 3)), "the scatter of each class")?;
        table.check_weights(NAME, task.budget, k)?;
        watch.alive(Phase::new("scatter").into()).map_err(|reason| FitError::stopped(NAME, reason))?;
        let clouds = Clouds::new(NAME, &table, &shares(NAME, task)?, &classes)?;
        let priors = log_priors(NAME, &self.priors, &classes, &clouds.counts)?;
        let shape = clouds.shape(0, 1.0, self.gamma, &classes.labels[0])?;
        // from the middle of the means, so that what they have in common cancels before and not after
        let middle: Vec<f64> = (0..d).map(|j| (0..k).map(|c| clouds.mean(c)[j]).sum::<f64>() / k as f64).collect();
        let gaps: Vec<f64> = (0..d * k).map(|p| clouds.mean(p % k)[p / k] - middle[p / k]).collect();
        let mut solved = gaps.clone();
        shape.factor.solve(&mut solved, k);
        let product = |a: usize, b: usize| (0..d).map(|j| gaps[j * k + a] * solved[j * k + b]).sum::<f64>();
        let outputs = k * (k - 1) / 2;
        let (mut weights, mut offsets) = (vec![0.0; d * outputs], vec![0.0; outputs]);
        let mut separation = f64::INFINITY;
        for (p, (a, b)) in pairs(k).enumerate() {
            for j in 0..d {
                let w = solved[j * k + a] - solved[j * k + b];
                weights[j * outputs + p] = w;
                offsets[p] -= w * middle[j];
            }
            offsets[p] += 0.5 * (product(b, b) - product(a, a)) + priors[a] - priors[b];
            separation = separation.min(product(a, a) + product(b, b) - 2.0 * product(a, b));
        }
        let (readout, calibration) = odds(classes.labels);
        Ok(Fitted::new(
            Expansion {
                coefficients: Coefficients::Primal {
                    weights: table.spread(&weights, outputs),
                    width: table.width,
                    scale: 1.0,
                },
                offsets,
            },
            readout,
            SolverReport {
                storage: "explicit features, no kernel matrix".to_owned(),
                notes: vec![("separation".to_owned(), separation)],
                ..SolverReport::direct()
            },
        )
        .with_calibration(Some(calibration)))
    }
}

#[cfg(test)]
#[path = "linear_fisher_tests.rs"]
mod tests;
