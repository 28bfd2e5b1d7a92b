//! The quadratic discriminant: Gaussian clouds, each of a shape of its own, of a common one, or of one in between.

use super::clouds::{Clouds, check_priors, log_determinant, log_priors, odds};
use super::table::{Table, shares};
use crate::machines::multiclass::pairs;
use crate::machines::{
    Coefficients, Ensemble, Expansion, FitError, Fitted, Learns, Machine, MachineEntry, Quadric, Reads, SolverReport,
    Task, Traits,
};
use crate::params::{Params, Rule, Visit};
use crate::sources::{FRIEDMAN, Source};
use crate::watch::{Monitor, Phase, Progress};
use std::cmp::Ordering;

const NAME: &str = "quadratic_discriminant";

/// s_c(x) = −½ (x − m_c)ᵀ Σ_c⁻¹ (x − m_c) − ½ ln|Σ_c| + ln π_c, the odds of two classes being s_a − s_b
///
/// Σ_c = ((1 − λ) S_c + λ S) / ((1 − λ) n_c + λ n) mixes the scatter of a class with that of all, and (1 − γ) Σ_c + γ (tr Σ_c / d) I
/// rounds it off. λ = 0, γ = 0 is the quadratic discriminant, λ = 1, γ = 0 the linear one, λ = 1, γ = 1 the nearest mean but
/// for the priors. Scores are logarithms of the odds of every two classes, probabilities the posterior ones under `priors`,
/// without calibration, none of two classes below 10⁻⁷. Weights of examples count them several times. A method for comparisons, on the coordinates of the
/// linear kernel.
///
/// # Source
/// Friedman (1989), Σ_k(λ, γ).
///
/// # Use when
/// Another method is to be compared with Gaussian clouds whose shapes differ.
///
/// # Cost
/// n d² for the scatters and d³/3 for each class, d² numbers for each class; a prediction takes d²/2 for each class.
#[derive(Clone, Debug, PartialEq)]
pub struct QuadraticDiscriminant {
    /// The part of the scatter of all classes.
    pub lambda: f64,
    /// The part of the identity.
    pub gamma: f64,
    /// Prior probabilities of the classes: `data`, `equal`, or `label:share,label:share`.
    pub priors: String,
}

impl Default for QuadraticDiscriminant {
    fn default() -> Self {
        Self { lambda: 0.0, gamma: 0.0, priors: "data".to_owned() }
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: NAME,
    aliases: &["qda", "rda", "regularised_discriminant"],
    summary: "the odds of Gaussian classes, each with a covariance of its own or partly shared; for comparisons",
    formula: "−½ (x − m)ᵀΣ⁻¹(x − m) − ½ ln|Σ| + ln π, Σ from own (λ = 0) to pooled (λ = 1), to round (γ = 1)",
    learns: Learns::Classes,
    source: Source::new(&FRIEDMAN, "Σ_k(λ, γ)"),
    use_when: "another method is to be compared with Gaussian clouds whose shapes differ",
    cost: "n d² for the scatters and d³/3 for each class, d² numbers for each class; a prediction takes d²/2 for each class.",
    make: || Box::new(QuadraticDiscriminant::default()),
};

impl Params for QuadraticDiscriminant {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.real("lambda", &mut self.lambda, Rule::Between(0.0, 1.0), "from a covariance of each class to one of all");
        v.real("gamma", &mut self.gamma, Rule::Between(0.0, 1.0), "how far covariances shrink to the identity");
        v.text("priors", &mut self.priors, check_priors, "data, equal or label:share,… for all classes");
    }
}

impl Machine for QuadraticDiscriminant {
    fn entry(&self) -> &'static MachineEntry {
        &ENTRY
    }

    fn traits(&self) -> Traits {
        Traits {
            reads: Reads::Features,
            weights: true,
            regularised_by: &[("lambda", Ordering::Greater), ("gamma", Ordering::Greater)],
            searched: "lambda=0|0.1|0.5|1, gamma=0|0.01|0.1|0.3",
            ..Traits::default()
        }
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let classes = task.classes(NAME)?;
        let table = Table::of(NAME, "svc", task, 2)?;
        let (d, k) = (table.d, classes.labels.len());
        task.budget.check(d.saturating_mul(d).saturating_mul(8 * (2 * k + 3)), "the scatter of each class")?;
        let clouds = Clouds::new(NAME, &table, &shares(NAME, task)?, &classes)?;
        let mut scores = log_priors(NAME, &self.priors, &classes, &clouds.counts)?;
        let mut quadrics = Vec::with_capacity(k);
        for (c, label) in classes.labels.iter().enumerate() {
            watch
                .alive(Progress::new(Phase::new("covariances"), c).of(k))
                .map_err(|reason| FitError::stopped(NAME, reason))?;
            let root = clouds.shape(c, self.lambda, self.gamma, label)?.root();
            scores[c] -= 0.5 * log_determinant(&root, d);
            let part = |(a, b): (usize, usize)| if a == c { 1.0 } else { -f64::from(u8::from(b == c)) };
            quadrics.push(Quadric { weights: pairs(k).map(part).collect(), centre: clouds.mean(c).to_vec(), root });
        }
        let offsets: Vec<f64> = pairs(k).map(|(a, b)| scores[a] - scores[b]).collect();
        let (readout, calibration) = odds(classes.labels);
        let ensemble = Ensemble { width: table.width, used: table.used, quadrics, ..Ensemble::default() };
        Ok(Fitted::new(
            Expansion { coefficients: Coefficients::Ensemble(ensemble), offsets },
            readout,
            SolverReport { storage: "explicit features, no kernel matrix".to_owned(), ..SolverReport::direct() },
        )
        .with_calibration(Some(calibration)))
    }
}

#[cfg(test)]
#[path = "quadratic_discriminant_tests.rs"]
mod tests;
