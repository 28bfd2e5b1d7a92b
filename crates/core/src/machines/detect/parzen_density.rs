//! Novelty by the density of a window estimate.

use crate::data::DataError;
use crate::gram::apply;
use crate::gram::views::Hollow;
use crate::machines::{
    Coefficients, Expansion, FitError, Fitted, Learns, Machine, MachineEntry, Readout, SolverReport, Task, Tolerates,
    Traits,
};
use crate::params::{Params, Rule, Visit};
use crate::solvers::conjugate_gradient::not_finite;
use crate::sources::{PARZEN, Source};
use crate::watch::{Monitor, Phase};
use std::sync::Arc;

const NAME: &str = "parzen_density";

/// f(x) = (1/n) Σ_i κ(x_i, x) − t: an example is novel where the density is below t.
///
/// t is the ν-quantile of the densities p₋ᵢ(x_i) of the training examples, each estimated from the others: at most a share ν of them
/// is below. Among the examples that it learned from the share is smaller, since each stands in its own window; on new ones it is near
/// ν. The density is one up to the constant ∫κ, which shifts no decision. The report's notes are `threshold` (t), `left_out_below` (the
/// share of p₋ᵢ below it) and `mean_log_density` (of the p₋ᵢ that are positive, with their share as `positive`): the higher, the better
/// the width of the kernel, once −½d ln(π/γ) is added for an rbf kernel.
///
/// # Source
/// Parzen (1962), eq. (1.5), for the estimate; the quantile is that of the examples left out one by one.
///
/// # Use when
/// Rare examples are to be separated from common ones, whose region may have any shape. For many examples use `one_class`,
/// which keeps few.
///
/// # Cost
/// n² kernel values, none stored; predictions need all examples.
#[derive(Clone, Debug, PartialEq)]
pub struct ParzenDensity {
    /// ν.
    pub nu: f64,
}

impl Default for ParzenDensity {
    fn default() -> Self {
        Self { nu: 0.1 }
    }
}

impl Params for ParzenDensity {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.real(
            "nu",
            &mut self.nu,
            Rule::Inside(0.0, 1.0),
            "share ν of examples, left out, with a density below the threshold",
        );
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: NAME,
    aliases: &["kernel_density"],
    summary: "what has a density below a quantile, estimated by windows around the examples",
    formula: "f(x) = (1/n) Σᵢ κ(xᵢ, x) − t",
    learns: Learns::Unsupervised,
    source: Source::new(&PARZEN, "eq. (1.5)"),
    use_when: "what is rare is to be told from what is common, and the region of the common has any shape",
    cost: "n² kernel values, none stored; predictions need all examples.",
    make: || Box::new(ParzenDensity::default()),
};

impl Machine for ParzenDensity {
    fn entry(&self) -> &'static MachineEntry {
        &ENTRY
    }

    fn traits(&self) -> Traits {
        Traits { tolerates: Tolerates::WithoutTheory, ..Traits::default() }
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let n = task.len();
        if n == 0 {
            let error = DataError::Empty { place: "the training data".to_owned() };
            return Err(FitError::Target { machine: NAME, error });
        }
        if n == 1 {
            let finding = "one sample leaves none to estimate its density from; give at least two".to_owned();
            return Err(FitError::Param { machine: NAME, finding });
        }
        watch.alive(Phase::new("densities").into()).map_err(|reason| FitError::stopped(NAME, reason))?;
        let alpha = vec![1.0 / n as f64; n];
        // without the example's own window, which would leave nothing but its rounding of windows that are narrow
        let mut left_out = vec![0.0; n];
        let others = Hollow { inner: Arc::clone(&task.gram) };
        apply(&others, &vec![1.0 / (n - 1) as f64; n], 1, &mut left_out);
        if left_out.iter().any(|p| !p.is_finite()) {
            return Err(FitError::Solve { machine: NAME, error: not_finite(&*task.gram) });
        }
        let mut sorted = left_out.clone();
        sorted.sort_by(f64::total_cmp);
        // ⌊νn⌋ of them are below the next one
        let threshold = sorted[((self.nu * n as f64) as usize).min(n - 1)];
        let below = left_out.iter().filter(|p| **p < threshold).count();
        let logs: Vec<f64> = left_out.iter().filter(|p| **p > 0.0).map(|p| p.ln()).collect();
        let mut notes = vec![
            ("threshold".to_owned(), threshold),
            ("left_out_below".to_owned(), below as f64 / n as f64),
            ("positive".to_owned(), logs.len() as f64 / n as f64),
        ];
        if !logs.is_empty() {
            notes.push(("mean_log_density".to_owned(), logs.iter().sum::<f64>() / logs.len() as f64));
        }
        let advice = (threshold == 0.0).then(|| {
            format!(
                "the threshold is 0, below which no density is, so that nothing is novel: κ is 0 between {} of {n} examples and all others; \
                 make the kernel wider",
                left_out.iter().filter(|p| **p == 0.0).count()
            )
        });
        Ok(Fitted::new(
            Expansion {
                coefficients: Coefficients::Dual { points: (0..n).collect(), alpha },
                offsets: vec![-threshold],
            },
            Readout::Novelty,
            SolverReport { support: Some(n), notes, advice: advice.into_iter().collect(), ..SolverReport::direct() },
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::{Dataset, Fit, Rows, Seed, linear, rbf};

    fn normal(n: usize, seed: u64) -> (Vec<f64>, Dataset) {
        let mut random = Seed(seed).stream("density");
        let x: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        (x.clone(), Dataset::new(Rows::new(x, n, 1).unwrap()))
    }

    #[test]
    fn the_threshold_is_the_quantile_of_densities_without_the_example() {
        let (x, data) = normal(101, 1);
        for nu in [0.05, 0.3, 0.999] {
            let model = ParzenDensity { nu }.fit(&rbf(2.0), &data).unwrap();
            let window = |a: f64, b: f64| (-2.0 * (a - b) * (a - b)).exp();
            let without = |i: usize| (0..101).filter(|&j| j != i).map(|j| window(x[i], x[j])).sum::<f64>() / 100.0;
            let mut wanted: Vec<f64> = (0..101).map(without).collect();
            wanted.sort_by(f64::total_cmp);
            let t = wanted[(nu * 101.0) as usize];
            let note = |name: &str| model.fitted.report.notes.iter().find(|(k, _)| k == name).unwrap().1;
            assert!((note("threshold") - t).abs() < 1e-12);
            assert!((note("left_out_below") - (nu * 101.0).floor() / 101.0).abs() < 1e-12);
            let mean = wanted.iter().map(|p| p.ln()).sum::<f64>() / 101.0;
            assert!((note("mean_log_density") - mean).abs() < 1e-9);
            for (i, s) in model.scores(&data).unwrap().iter().enumerate() {
                let p = (0..101).map(|j| window(x[i], x[j])).sum::<f64>() / 101.0;
                assert!((s - (p - t)).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn narrow_windows_keep_their_digits_and_windows_that_reach_nobody_are_told() {
        let (x, data) = normal(40, 4);
        let fit = |gamma: f64| ParzenDensity::default().fit(&rbf(gamma), &data).unwrap().fitted.report;
        let note = |report: &SolverReport, name: &str| report.notes.iter().find(|(k, _)| k == name).map(|n| n.1);
        for gamma in [100.0, 1e3, 1e4] {
            let window = |i: usize, j: usize| (-gamma * (x[i] - x[j]).powi(2)).exp();
            let without = |i: usize| (0..40).filter(|&j| j != i).map(|j| window(i, j)).sum::<f64>() / 39.0;
            let logs: Vec<f64> = (0..40).map(without).filter(|p| *p > 0.0).map(f64::ln).collect();
            let mean = logs.iter().sum::<f64>() / logs.len() as f64;
            let told = note(&fit(gamma), "mean_log_density").unwrap();
            assert!((told - mean).abs() < 1e-9 * mean.abs(), "{gamma}: {told} {mean}");
            assert_eq!(note(&fit(gamma), "positive").unwrap(), logs.len() as f64 / 40.0);
        }
        let lost = fit(1e12);
        assert_eq!(note(&lost, "threshold"), Some(0.0));
        assert!(lost.advice[0].contains("nothing is novel") && lost.advice[0].contains("wider"), "{:?}", lost.advice);
        assert!(fit(2.0).advice.is_empty());
    }

    #[test]
    fn fresh_examples_fall_below_as_often_as_was_asked_for() {
        let (_, data) = normal(2000, 2);
        let model = ParzenDensity { nu: 0.2 }.fit(&rbf(5.0), &data).unwrap();
        let (_, fresh) = normal(4000, 3);
        let novel = model.scores(&fresh).unwrap().iter().filter(|s| **s < 0.0).count() as f64 / 4000.0;
        // the standard deviation of both draws together is about 0.011
        assert!((novel - 0.2).abs() < 0.04, "{novel}");
    }

    #[test]
    fn what_has_no_density_is_refused() {
        let one = Dataset::new(Rows::new(vec![1.0], 1, 1).unwrap());
        let said = ParzenDensity::default().fit(&rbf(1.0), &one).unwrap_err().to_string();
        assert!(said.contains("at least two"), "{said}");
        let huge = Dataset::new(Rows::new(vec![1e200, 1.0], 2, 1).unwrap());
        assert!(ParzenDensity::default().fit(&linear(), &huge).is_err());
    }
}
