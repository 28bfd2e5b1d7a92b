//! The Parzen window classifier.

use crate::data::{Classes, DataError};
use crate::gram::views::Hollow;
use crate::gram::{Side, diagonal};
use crate::machines::Fact;
use crate::machines::class_weight::ClassWeight;
use crate::machines::{
    Coefficients, Expansion, FitError, Fitted, Learns, Machine, MachineEntry, Readout, SolverReport, Task, Tolerates,
    Traits,
};
use crate::params::{Params, Visit};
use crate::solvers::conjugate_gradient::not_finite;
use crate::sources::{PARZEN, Source};
use crate::watch::{Monitor, Phase};
use std::sync::Arc;

const NAME: &str = "parzen";
/// The values that a prior may have.
const WANTED: &str = "equal, frequency or label:weight,label:weight with weights above zero";

/// p_c(x) = π_c (1/l_c) Σ_{i∈c} κ(x_i, x): the class with the largest estimated density times its prior.
///
/// Every example carries a window κ(x_i, ·), and the density of a class is the mean of its windows, up to a constant that all
/// classes share. `prior` gives π_c: `frequency` takes l_c/l, `equal` the same for all, and weights for labels (a label that is not
/// named has 1) are divided by their sum. A kernel that is negative somewhere is no density; the rule is still what it says. Without
/// the norms of the means it is not `nearest_mean`, which asks for a distance. The report's note `loo_error` is the exact error of
/// leaving each example out.
///
/// # Source
/// Parzen (1962), eq. (1.5), for the estimate of a density; that the largest π_c p_c decides is Bayes's rule.
///
/// # Use when
/// Densities overlap and a rule is wanted that nothing but the width of the kernel is to be chosen for.
///
/// # Cost
/// n² kernel values for the leave-one-out error, none stored; predictions need all examples.
#[derive(Clone, Debug, PartialEq)]
pub struct Parzen {
    /// `equal`, `frequency`, or `label:weight,label:weight`.
    pub prior: String,
}

impl Default for Parzen {
    fn default() -> Self {
        Self { prior: "frequency".to_owned() }
    }
}

impl Params for Parzen {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.text("prior", &mut self.prior, check, "frequency, equal or label:weight,…: how likely each class is");
    }
}

fn check(text: &str) -> Result<(), String> {
    match text.trim() {
        "equal" | "frequency" => Ok(()),
        // words of class weights that mean nothing here
        "none" | "balanced" => Err(WANTED.to_owned()),
        other => ClassWeight::check(other).map_err(|_| WANTED.to_owned()),
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: NAME,
    aliases: &["parzen_window"],
    summary: "the class with the largest density, a mean of windows around its examples",
    formula: "p_c(x) = π_c (1/l_c) Σ_{i∈c} κ(xᵢ, x)",
    learns: Learns::Classes,
    source: Source::new(&PARZEN, "eq. (1.5)"),
    use_when: "densities overlap, and nothing but the width of the kernel is to be chosen",
    cost: "n² kernel values for the leave-one-out error, none stored; predictions need all examples.",
    make: || Box::new(Parzen::default()),
};

impl Parzen {
    /// π_c, which sum to one.
    fn priors(&self, classes: &Classes, counts: &[f64]) -> Result<Vec<f64>, FitError> {
        let parts = match self.prior.trim() {
            "frequency" => counts.to_vec(),
            "equal" => vec![1.0; counts.len()],
            weights => {
                check(weights).map_err(|wanted| FitError::Param {
                    machine: NAME,
                    finding: format!("prior = {weights} must be {wanted}"),
                })?;
                ClassWeight::factors(NAME, weights, classes).map_err(|error| match error {
                    FitError::Param { machine, finding } => {
                        FitError::Param { machine, finding: finding.replacen("class_weight", "prior", 1) }
                    }
                    other => other,
                })?
            }
        };
        let sum: f64 = parts.iter().sum();
        Ok(parts.into_iter().map(|p| p / sum).collect())
    }
}

impl Machine for Parzen {
    fn entry(&self) -> &'static MachineEntry {
        &ENTRY
    }

    fn traits(&self) -> Traits {
        Traits { tolerates: Tolerates::WithoutTheory, ..Traits::default() }
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let classes = task.classes(NAME)?;
        let (n, count) = (task.len(), classes.labels.len());
        if classes.codes.len() != n {
            let (what, other) = ("the target".to_owned(), "the kernel matrix".to_owned());
            let error = DataError::Lengths { what, got: classes.codes.len(), other, wanted: n };
            return Err(FitError::Target { machine: NAME, error });
        }
        watch.alive(Phase::new("densities").into()).map_err(|reason| FitError::stopped(NAME, reason))?;
        let mut counts = vec![0.0; count];
        classes.codes.iter().for_each(|&c| counts[c as usize] += 1.0);
        let priors = self.priors(&classes, &counts)?;
        let mut alpha = vec![0.0; n * count];
        for (row, &c) in alpha.chunks_exact_mut(count).zip(&classes.codes) {
            row[c as usize] = priors[c as usize] / counts[c as usize];
        }
        let expansion = Expansion {
            coefficients: Coefficients::Dual { points: (0..n).collect(), alpha },
            offsets: vec![0.0; count],
        };
        // without its own window, which would leave nothing but its rounding of windows that are narrow
        let mut scores = expansion.scores(&Hollow { inner: Arc::clone(&task.gram) });
        if scores.iter().any(|s| !s.is_finite()) {
            return Err(FitError::Solve { machine: NAME, error: not_finite(&*task.gram) });
        }
        let frequency = self.prior.trim() == "frequency";
        let is_wrong = |i: usize| {
            let (c, row) = (classes.codes[i] as usize, &scores[i * count..(i + 1) * count]);
            // of a class with one example fewer: with the prior l_c/l the counts cancel
            let alone = if frequency { row[c] } else { row[c] * counts[c] / (counts[c] - 1.0) };
            // a class of one example is not there without it; ties go to the first
            counts[c] < 2.0 || (0..count).any(|d| if d < c { row[d] >= alone } else { d > c && row[d] > alone })
        };
        let wrong = (0..n).filter(|&i| is_wrong(i)).count();
        let own = task.gram.self_similarities(Side::Rows).unwrap_or_else(|| diagonal(&*task.gram));
        for (i, &c) in classes.codes.iter().enumerate() {
            scores[i * count + c as usize] += own[i] * priors[c as usize] / counts[c as usize];
        }
        let loo_error = wrong as f64 / n as f64;
        let mut notes: Vec<(String, f64)> =
            priors.iter().enumerate().map(|(c, p)| (format!("prior_{}", c + 1), *p)).collect();
        notes.push(Fact::LeftOutError.note(loo_error));
        Ok(Fitted::new(
            expansion,
            Readout::ArgMax { labels: classes.labels },
            SolverReport { support: Some(n), notes, ..SolverReport::direct() },
        )
        .with_training_scores(Some(scores)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::{Dataset, Fit, Rows, Seed, Target, rbf};

    fn overlapping(n: usize) -> (Vec<f64>, Vec<String>) {
        let mut random = Seed(2).stream("overlap");
        let codes: Vec<usize> = (0..n).map(|i| if i % 5 == 0 { 0 } else { 1 + i % 2 }).collect();
        let x = codes.iter().map(|&c| c as f64 + random.normal()).collect();
        (x, codes.iter().map(|c| format!("c{c}")).collect())
    }

    fn data(x: &[f64], labels: &[String]) -> Dataset {
        let rows = Rows::new(x.to_vec(), x.len(), 1).unwrap();
        Dataset::new(rows).with_target(Target::from(labels.to_vec())).unwrap()
    }

    #[test]
    fn scores_are_priors_times_means_of_windows() {
        let (x, labels) = overlapping(50);
        let data = data(&x, &labels);
        for (prior, shares) in
            [("frequency", [0.2, 0.4, 0.4]), ("equal", [1.0 / 3.0; 3]), ("c0:6,c2:3", [0.6, 0.1, 0.3])]
        {
            let model = Parzen { prior: prior.to_owned() }.fit(&rbf(0.7), &data).unwrap();
            let scores = model.scores(&data).unwrap();
            for (i, row) in scores.chunks_exact(3).enumerate() {
                for (c, score) in row.iter().enumerate() {
                    let of: Vec<usize> = (0..50).filter(|&j| labels[j] == format!("c{c}")).collect();
                    let mean = of.iter().map(|&j| (-0.7 * (x[i] - x[j]).powi(2)).exp()).sum::<f64>() / of.len() as f64;
                    assert!((score - shares[c] * mean).abs() < 1e-12, "{prior}");
                }
            }
        }
    }

    #[test]
    fn the_error_of_leaving_one_out_is_that_of_fits_without_it() {
        let (x, mut labels) = overlapping(60);
        labels[7] = "alone".to_owned();
        // windows of a width that all share, and such that nearly all of a sum is the example's own
        for (prior, gamma) in [("frequency", 1.3), ("equal", 1.3), ("frequency", 3e4), ("equal", 3e4)] {
            let machine = Parzen { prior: prior.to_owned() };
            let told = machine.fit(&rbf(gamma), &data(&x, &labels)).unwrap();
            let note = told.fitted.report.notes.last().unwrap().clone();
            let wrong = (0..60)
                .filter(|&i| {
                    let rest: Vec<usize> = (0..60).filter(|&j| j != i).collect();
                    let all = data(&x, &labels);
                    let model = machine.fit(&rbf(gamma), &all.select(&rest)).unwrap();
                    model.predict(&all.select(&[i])).unwrap().labels() != [labels[i].as_str()]
                })
                .count();
            assert_eq!(note, ("loo_error".to_owned(), wrong as f64 / 60.0), "{prior} {gamma}");
            assert!(wrong > 5 && wrong < 45, "the test can fail: {wrong}");
        }
    }

    #[test]
    fn words_that_are_no_priors_are_refused() {
        for text in ["balanced", "none", "c0", "c0:-1", ""] {
            assert!(check(text).unwrap_err().contains("equal, frequency"), "{text}");
        }
        let (x, labels) = overlapping(10);
        let said = Parzen { prior: "d:2".into() }.fit(&rbf(1.0), &data(&x, &labels)).unwrap_err().to_string();
        assert!(said.contains("prior = d:2") && said.contains("no class d"), "{said}");
    }
}
