//! The ν-support vector classifier.

use crate::machines::Fact;
use crate::machines::multiclass::{Column, Keep, OneVsOne, Reduction, SignedProblem};
use crate::machines::support::{Effort, Sub, Subs, broke, fill, prove, solve, weights};
use crate::machines::{
    Compresses, Expansion, FitError, Fitted, Learns, Machine, MachineEntry, Reads, SolverReport, Task, Theory,
    Tolerates, Traits,
};
use crate::params::{Params, Rule, Visit};
use crate::solvers::smo::{Equality, Start};
use crate::sources::{LIBSVM, Source};
use crate::watch::{Monitor, Status};
use std::ops::Range;

/// min ½‖w‖² − ν Σw_i ρ + Σ w_i max(0, ρ − y_i (⟨w, φ(x_i)⟩ + b)), then everything divided by ρ
///
/// # Source
/// Chang & Lin (2011), §2.2: 0 ≤ α_i ≤ w_i, yᵀα = 0, Σα = ν Σw. The result is that of `svc` with C = 1/ρ.
///
/// # Use when
/// The share of margin errors is known better than a price: ν is at least the share of margin errors and at most the share
/// of support vectors.
///
/// # Cost
/// As `svc`.
#[derive(Clone, Debug, PartialEq)]
pub struct NuSvc {
    /// ν, at most twice the share of the smaller class.
    pub nu: f64,
    /// Sharpness and cost.
    pub effort: Effort,
}

impl Default for NuSvc {
    fn default() -> Self {
        Self { nu: 0.5, effort: Effort::default() }
    }
}

impl Params for NuSvc {
    fn visit(&mut self, v: &mut dyn Visit) {
        let help = "share ν: at least that of margin errors, at most that of support vectors";
        v.real("nu", &mut self.nu, Rule::AboveUpTo(0.0, 1.0), help);
        self.effort.visit(v);
    }
}

impl Machine for NuSvc {
    fn entry(&self) -> &'static MachineEntry {
        &ENTRY
    }

    fn traits(&self) -> Traits {
        let theory = {
            // ν is a share of the examples, so the problem changes with their number
            Theory {
                compression: Compresses::Margin { any_size: false },
                loss: Err(
                    "the margin of which losses are measured is found with the model, so no loss is fixed before: svc has one",
                ),
                divides_by_margin: true,
                outlier_share: Some(self.nu),
                ..Theory::default()
            }
        };
        Traits {
            reads: Reads::Rows,
            weights: true,
            searched: "nu=0.05|0.1|0.2|0.4",
            tolerates: Tolerates::ConditionallyDefinite,
            theory,
            ..Traits::default()
        }
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let classes = task.classes(ENTRY.name)?;
        let weights = weights(task);
        let pairs = OneVsOne::new(&classes);
        let labels = |p: usize| {
            let (a, b) = pairs.pair(p);
            (classes.labels[a].as_str(), classes.labels[b].as_str())
        };
        for p in 0..pairs.problems() {
            self.feasible(&pairs.problem(p), &weights, labels(p))?;
        }
        let sizes = (0..pairs.problems()).map(|p| pairs.ranges(p).iter().map(Range::len).sum()).collect();
        let make = |p: usize| self.sub(&pairs.problem(p), pairs.ranges(p), &weights);
        let subs = Subs { sizes, make: &make };
        let mut solutions =
            solve(&pairs.arranged(task), &subs, &self.effort, task, watch).map_err(broke(ENTRY.name))?;
        let (mut gap, mut offsets, mut margins, mut advice) = (0.0, Vec::new(), Vec::new(), Vec::new());
        for (p, solution) in solutions.iter_mut().enumerate() {
            // free α of the first class stand at b − ρ, those of the second at b + ρ
            let [low, high] = solution.offsets;
            let (b, rho) = (f64::midpoint(low, high), 0.5 * (high - low));
            let problem = pairs.problem(p);
            let weights = problem.pick(&weights);
            let mut slack = 0.0;
            for (t, (&y, &w)) in problem.signs.iter().zip(&weights).enumerate() {
                // f(x_t) = −s_t + b
                slack += w * (rho - y * (b - solution.state[t])).max(0.0);
            }
            let total: f64 = weights.iter().sum();
            let own_gap = solution.squared_norm - self.nu * total * rho + slack;
            gap += own_gap;
            // w cannot be told from zero: the hulls of the classes, reduced by ν, meet (Crisp & Burges 2000, §4); of a solution that is
            // none, ν is not to blame
            let solved = solution.status == Status::Converged;
            if solved && 0.5 * solution.squared_norm <= own_gap && advice.is_empty() {
                advice.push(self.without_margin(labels(p)));
            }
            // a margin of nothing cannot be made one: such a rule decides by b alone
            let factor = if rho > 0.0 { 1.0 / rho } else { 1.0 };
            solution.beta.iter_mut().for_each(|beta| *beta *= factor);
            offsets.push(b * factor);
            margins.push(rho);
        }
        let found = Column::of_problems(solutions.iter().map(|s| s.beta.as_slice()));
        let expansion = Expansion { coefficients: pairs.coefficients(&found, Keep::NonZero), offsets };
        let smallest = margins.into_iter().fold(f64::INFINITY, f64::min);
        let notes = vec![Fact::Rho.note(smallest)];
        let support = expansion.points().len();
        let report = SolverReport { advice, ..prove(&solutions, Some(gap), support, &self.effort, task, notes) };
        Ok(Fitted::new(expansion, pairs.readout(), report))
    }
}

impl NuSvc {
    /// Both classes of a pair must hold half of ν Σw.
    fn feasible(&self, problem: &SignedProblem, weights: &[f64], (a, b): (&str, &str)) -> Result<(), FitError> {
        let weights = problem.pick(weights);
        let sum = |sign: f64| -> f64 {
            problem.signs.iter().zip(&weights).filter(|(y, _)| **y == sign).map(|(_, w)| w).sum()
        };
        let (plus, minus) = (sum(1.0), sum(-1.0));
        let most = 2.0 * plus.min(minus) / (plus + minus);
        if self.nu <= most * (1.0 + 1e-12) {
            return Ok(());
        }
        let finding = format!(
            "nu = {} is too large for the classes {a} and {b}; give at most {most:.4}, twice the share of the smaller",
            self.nu
        );
        Err(FitError::Param { machine: ENTRY.name, finding })
    }

    /// The advice for classes that overlap by more than ν allows.
    fn without_margin(&self, (a, b): (&str, &str)) -> String {
        format!(
            "the classes {a} and {b} overlap too much for a margin at nu = {}, and their rule is arbitrary; give a larger nu",
            self.nu
        )
    }

    fn sub(&self, problem: &SignedProblem, columns: Vec<Range<usize>>, weights: &[f64]) -> Sub {
        let weights = problem.pick(weights);
        let bounds = |sign: f64| -> Vec<f64> {
            problem.signs.iter().zip(&weights).map(|(&y, &w)| if y == sign { w } else { 0.0 }).collect()
        };
        let (upper, lower) = (bounds(1.0), bounds(-1.0));
        let half = 0.5 * self.nu * weights.iter().sum::<f64>();
        let negative = |values: Vec<f64>| values.into_iter().map(|v| -v).collect::<Vec<_>>();
        let start = Start {
            plus: fill(&upper, half).unwrap_or_else(|| upper.clone()),
            minus: negative(fill(&lower, half).unwrap_or_else(|| lower.clone())),
            known: None,
        };
        Sub {
            columns,
            linear: vec![0.0; upper.len()],
            lower: negative(lower),
            upper,
            epsilon: 0.0,
            ridge: None,
            equality: Equality::Signs,
            start: Some(start),
            folds: None,
        }
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: "nu_svc",
    aliases: &[],
    summary: "support vector classification with a share of errors instead of a price",
    formula: "min ½‖w‖² − ν m ρ + Σ max(0, ρ − y_i f(x_i))",
    learns: Learns::Classes,
    source: Source::new(&LIBSVM, "§2.2"),
    use_when: "the share of margin errors is known better than a price",
    cost: "As `svc`.",
    make: || Box::new(NuSvc::default()),
};
