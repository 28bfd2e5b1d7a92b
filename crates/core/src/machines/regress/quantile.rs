//! Kernel quantile regression.

use super::svr::join;
use crate::machines::support::{Effort, Sub, Subs, broke, prove, solve, weights};
use crate::machines::{
    ConvexLoss, Cost, Expansion, FitError, Fitted, Learns, Machine, MachineEntry, Readout, Reads, Task, Theory,
    Tolerates, Traits,
};
use crate::params::{Params, Rule, Visit};
use crate::solvers::smo::Equality;
use crate::sources::{Source, TAKEUCHI};
use crate::watch::Monitor;
use std::cmp::Ordering;

/// min ½‖w‖² + C Σ w_i ρ_τ(z_i − ⟨w, φ(x_i)⟩ − b), ρ_τ(e) = max(τe, (τ − 1)e)
///
/// The dual is that of support vector regression without a tube and with bounds that differ: C(τ − 1) ≤ β_i ≤ Cτ, Σβ = 0. At
/// most a share τ of the examples lies below the function, and at most a share 1 − τ above it. The report's notes are
/// `below` and `above`, their numbers. Quantiles that are fitted one by one may cross.
///
/// # Source
/// I. Takeuchi, Q. V. Le, T. D. Sears & A. J. Smola (2006), §2 and lemma 3.
///
/// # Use when
/// Not the middle but a level is wanted that a given share of the numbers stays below: bands, risks, stocks.
///
/// # Cost
/// As `svr`.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantile {
    /// τ, the share below.
    pub tau: f64,
    /// C, the price of an error.
    pub c: f64,
    /// Sharpness and cost.
    pub effort: Effort,
}

impl Default for Quantile {
    fn default() -> Self {
        Self { tau: 0.5, c: 1.0, effort: Effort::default() }
    }
}

impl Params for Quantile {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.real("tau", &mut self.tau, Rule::Inside(0.0, 1.0), "share τ of the numbers that lies below");
        v.real("c", &mut self.c, Rule::Above(0.0), "price C of an error");
        self.effort.visit(v);
    }
}

impl Machine for Quantile {
    fn entry(&self) -> &'static MachineEntry {
        &ENTRY
    }

    fn traits(&self) -> Traits {
        Traits {
            reads: Reads::Rows,
            weights: true,
            regularised_by: &[("c", Ordering::Less)],
            searched: "c=0.1..1000:log5",
            level: Some((self.tau, "quantile")),
            theory: Theory {
                loss: Ok(ConvexLoss {
                    c: self.c,
                    cost: Cost::Pinball { tau: self.tau },
                    free_offset: true,
                    scale: 1.0,
                }),
                ..Theory::default()
            },
            tolerates: Tolerates::ConditionallyDefinite,
            ..Traits::default()
        }
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let y = task.numbers(ENTRY.name)?;
        let (n, outputs) = (task.len(), y.names.len());
        let weights = weights(task);
        let make = |k: usize| Sub {
            columns: vec![0..n],
            linear: (0..n).map(|i| y.values[i * outputs + k]).collect(),
            lower: weights.iter().map(|w| self.c * w * (self.tau - 1.0)).collect(),
            upper: weights.iter().map(|w| self.c * w * self.tau).collect(),
            epsilon: 0.0,
            ridge: None,
            equality: Equality::Sum,
            start: None,
            folds: None,
        };
        let subs = Subs { sizes: vec![n; outputs], make: &make };
        let solutions = solve(&task.gram, &subs, &self.effort, task, watch).map_err(broke(ENTRY.name))?;
        let (mut gap, mut below, mut above) = (0.0, 0, 0);
        for solution in &solutions {
            let mut losses = 0.0;
            for (t, w) in weights.iter().enumerate() {
                // z − f(x) = s − b
                let error = solution.state[t] - solution.offsets[0];
                losses += self.c * w * (self.tau * error).max((self.tau - 1.0) * error);
                below += usize::from(error < -self.effort.tolerance);
                above += usize::from(error > self.effort.tolerance);
            }
            gap += 0.5 * solution.squared_norm + losses + solution.objective;
        }
        let (coefficients, support) = join(&solutions);
        let notes = vec![("below".to_owned(), below as f64), ("above".to_owned(), above as f64)];
        let report = prove(&solutions, Some(gap), support, &self.effort, task, notes);
        Ok(Fitted::new(
            Expansion { coefficients, offsets: solutions.iter().map(|s| s.offsets[0]).collect() },
            Readout::Values { names: y.names },
            report,
        ))
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: "quantile",
    aliases: &["quantile_regression"],
    summary: "the level that a given share of the numbers stays below",
    formula: "min ½‖w‖² + C Σ max(τeᵢ, (τ − 1)eᵢ), eᵢ = zᵢ − f(xᵢ)",
    learns: Learns::Numbers,
    source: Source::new(&TAKEUCHI, "§2"),
    use_when: "a level is wanted that a given share of the numbers stays below, and not the middle",
    cost: "As `svr`.",
    make: || Box::new(Quantile::default()),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::{Dataset, Fit, Rows, Seed, Svr, Target, rbf};

    fn data(n: usize) -> Dataset {
        let mut random = Seed(4).stream("quantile");
        let x: Vec<f64> = (0..n).map(|i| 6.0 * i as f64 / n as f64).collect();
        let y: Vec<f64> = x.iter().map(|x| x.sin() + (0.2 + 0.1 * x) * random.normal()).collect();
        Dataset::new(Rows::new(x, n, 1).unwrap()).with_target(Target::from(y)).unwrap()
    }

    fn fit(tau: f64, n: usize) -> crate::model::Model {
        let mut machine = Quantile { tau, c: 10.0, ..Quantile::default() };
        machine.effort.tolerance = 1e-6;
        machine.fit(&rbf(0.5), &data(n)).unwrap()
    }

    #[test]
    fn the_shares_below_and_above_are_those_asked_for() {
        for tau in [0.1, 0.5, 0.83] {
            let model = fit(tau, 300);
            let note = |name: &str| model.fitted.report.notes.iter().find(|(n, _)| n == name).unwrap().1;
            assert!(note("below") <= tau * 300.0 + 1e-9, "{tau}: {} below", note("below"));
            assert!(note("above") <= (1.0 - tau) * 300.0 + 1e-9, "{tau}: {} above", note("above"));
            assert!(model.fitted.report.duality_gap.unwrap() < 1e-3);
        }
    }

    #[test]
    fn the_median_is_support_vector_regression_without_a_tube() {
        let ours = fit(0.5, 120);
        let mut svr = Svr { c: 5.0, epsilon: 0.0, ..Svr::default() };
        svr.effort.tolerance = 1e-6;
        let theirs = svr.fit(&rbf(0.5), &data(120)).unwrap();
        for (a, b) in ours.scores(&data(120)).unwrap().iter().zip(theirs.scores(&data(120)).unwrap()) {
            assert!((a - b).abs() < 1e-4, "{a} {b}");
        }
    }
}
