//! ε-support vector regression.

use crate::machines::Fact;
use crate::machines::support::{Effort, Sub, Subs, broke, prove, solve, weights, within};
use crate::machines::{
    Coefficients, Compresses, ConvexLoss, Cost, Expansion, FitError, Fitted, Learns, Machine, MachineEntry, Path,
    Readout, Reads, Task, Theory, Tolerates, Traits,
};
use crate::params::{Choice, Params, Rule, Visit};
use crate::solvers::smo::{Equality, Solution};
use crate::sources::{LIBSVM, Source};
use crate::watch::Monitor;
use std::cmp::Ordering;

/// min ½‖w‖² + C Σ w_i max(0, |z_i − ⟨w, φ(x_i)⟩ − b| − ε), or the squares of these losses
///
/// # Source
/// Chang & Lin (2011), §2.4; Herbrich (2002), (2.51), for the form without bias. Solved with one variable β = α − α* for
/// each example, whose objective has a bend ε|β| (`solvers::smo`).
///
/// # Use when
/// Numbers are to be predicted with a sparse expansion, and outliers must not pull it: errors below ε cost nothing, larger
/// ones their size.
///
/// # Cost
/// As `svc`, for each output.
#[derive(Clone, Debug, PartialEq)]
pub struct Svr {
    /// C, the price of an error beyond the tube; infinite for a tube that holds every example.
    pub c: f64,
    /// Half the width of the tube.
    pub epsilon: f64,
    /// The loss beyond the tube.
    pub loss: TubeLoss,
    /// True if the function has an offset b.
    pub bias: bool,
    /// Sharpness and cost.
    pub effort: Effort,
}

/// The loss of an error that leaves the tube by ξ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TubeLoss {
    /// ξ.
    EpsilonInsensitive,
    /// ξ².
    SquaredEpsilonInsensitive,
}

impl Choice for TubeLoss {
    fn options(&self) -> &'static [&'static str] {
        &["epsilon_insensitive", "squared_epsilon_insensitive"]
    }
    fn get(&self) -> usize {
        *self as usize
    }
    fn set(&mut self, position: usize) {
        *self = [Self::EpsilonInsensitive, Self::SquaredEpsilonInsensitive][position];
    }
}

impl Default for Svr {
    fn default() -> Self {
        Self { c: 1.0, epsilon: 0.1, loss: TubeLoss::EpsilonInsensitive, bias: true, effort: Effort::default() }
    }
}

impl Params for Svr {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.real("c", &mut self.c, Rule::AboveOrInfinite(0.0), "price C of an error beyond the tube");
        v.real("epsilon", &mut self.epsilon, Rule::AtLeast(0.0), "half the width ε of the tube");
        v.choice("loss", &mut self.loss, "loss beyond the tube");
        v.switch("bias", &mut self.bias, "whether the function has an offset");
        self.effort.visit(v);
    }
}

impl Svr {
    fn sub(&self, target: Vec<f64>, weights: &[f64], start: Option<Vec<f64>>) -> Sub {
        let squared = self.loss == TubeLoss::SquaredEpsilonInsensitive;
        let bound = |w: f64| match (w == 0.0, squared) {
            (true, _) => 0.0,
            (false, true) => f64::INFINITY,
            (false, false) => self.c * w,
        };
        let upper: Vec<f64> = weights.iter().map(|&w| bound(w)).collect();
        let ridge = (squared && self.c.is_finite()).then(|| weights.iter().map(|&w| self.ridge(w)).collect());
        Sub {
            columns: vec![0..target.len()],
            lower: upper.iter().map(|u| -u).collect(),
            start: start.map(|beta| within(&beta, &upper)),
            upper,
            linear: target,
            epsilon: self.epsilon,
            ridge,
            folds: None,
            equality: if self.bias { Equality::Sum } else { Equality::None },
        }
    }

    /// 1/2C_i, which a squared loss adds to the diagonal.
    fn ridge(&self, weight: f64) -> f64 {
        if self.loss == TubeLoss::SquaredEpsilonInsensitive && weight > 0.0 { 0.5 / (self.c * weight) } else { 0.0 }
    }

    /// z − f(x) = s + Dβ − b of example t.
    fn error(&self, t: usize, weight: f64, solution: &Solution) -> f64 {
        solution.state[t] + self.ridge(weight) * solution.beta[t] - solution.offsets[0]
    }

    /// Primal minus dual objective.
    fn gap(&self, weights: &[f64], solution: &Solution) -> f64 {
        let mut losses = 0.0;
        for (t, &w) in weights.iter().enumerate() {
            let error = self.error(t, w, solution);
            let beyond = (error.abs() - self.epsilon).max(0.0);
            losses += match self.loss {
                _ if self.c.is_infinite() || w == 0.0 => 0.0,
                TubeLoss::EpsilonInsensitive => self.c * w * beyond,
                TubeLoss::SquaredEpsilonInsensitive => self.c * w * beyond * beyond,
            };
        }
        0.5 * solution.squared_norm + losses + solution.objective
    }
}

impl Machine for Svr {
    fn entry(&self) -> &'static MachineEntry {
        &ENTRY
    }

    fn traits(&self) -> Traits {
        let theory = {
            let cost = match self.loss {
                TubeLoss::EpsilonInsensitive => Cost::Tube { epsilon: self.epsilon },
                TubeLoss::SquaredEpsilonInsensitive => Cost::SquaredTube { epsilon: self.epsilon },
            };
            Theory {
                compression: Compresses::Tube { epsilon: self.epsilon },
                homogeneous: !self.bias,
                loss: Ok(ConvexLoss { c: self.c, cost, free_offset: self.bias, scale: 1.0 }),
                ..Theory::default()
            }
        };
        Traits {
            reads: Reads::Rows,
            weights: true,
            tolerates: Tolerates::with_offset(self.bias),
            path: Some(Path::along("c")),
            regularised_by: &[("c", Ordering::Less)],
            searched: "c=0.1..1000:log5, epsilon=0.01|0.1|1",
            theory,
            without_offset: !self.bias,
            ..Traits::default()
        }
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let y = task.numbers(ENTRY.name)?;
        let (n, outputs) = (task.len(), y.names.len());
        let weights = weights(task);
        let column = |k: usize| -> Vec<f64> { (0..n).map(|i| y.values[i * outputs + k]).collect() };
        let make = |k: usize| self.sub(column(k), &weights, earlier(task, k));
        let subs = Subs { sizes: vec![n; outputs], make: &make };
        let solutions = solve(&task.gram, &subs, &self.effort, task, watch).map_err(broke(ENTRY.name))?;
        let gap = solutions.iter().map(|s| self.gap(&weights, s)).sum();
        let at_bound = |b: f64, w: f64| b != 0.0 && b.abs() == self.c * w;
        let bounded: usize =
            solutions.iter().map(|s| s.beta.iter().zip(&weights).filter(|&(&b, &w)| at_bound(b, w)).count()).sum();
        let (coefficients, support) = join(&solutions);
        let notes = vec![Fact::BoundedMultipliers.note(bounded as f64)];
        let report = prove(&solutions, self.c.is_finite().then_some(gap), support, &self.effort, task, notes);
        let training_scores = solutions.iter().all(|s| s.whole).then(|| {
            let of = |i: usize, k: usize| y.values[i * outputs + k] - self.error(i, weights[i], &solutions[k]);
            (0..n).flat_map(|i| (0..outputs).map(move |k| (i, k))).map(|(i, k)| of(i, k)).collect()
        });
        Ok(Fitted::new(
            Expansion { coefficients, offsets: solutions.iter().map(|s| s.offsets[0]).collect() },
            Readout::Values { names: y.names },
            report,
        )
        .with_training_scores(training_scores))
    }
}

/// The multipliers of an output in an earlier fit.
fn earlier(task: &Task<'_>, output: usize) -> Option<Vec<f64>> {
    let expansion = &task.start?.expansion;
    let Coefficients::Dual { points, alpha } = &expansion.coefficients else { return None };
    if output >= expansion.outputs() || points.iter().any(|&i| i >= task.len()) {
        return None;
    }
    let mut beta = vec![0.0; task.len()];
    points.iter().enumerate().for_each(|(p, &i)| beta[i] = alpha[p * expansion.outputs() + output]);
    Some(beta)
}

/// One output for each solution, over the examples that carry weight in any; with their number.
pub(super) fn join(solutions: &[Solution]) -> (Coefficients, usize) {
    let n = solutions.first().map_or(0, |s| s.beta.len());
    let points: Vec<usize> = (0..n).filter(|&i| solutions.iter().any(|s| s.beta[i] != 0.0)).collect();
    let alpha = points.iter().flat_map(|&i| solutions.iter().map(move |s| s.beta[i])).collect();
    let support = points.len();
    (Coefficients::Dual { points, alpha }, support)
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: "svr",
    aliases: &["epsilon_svr"],
    summary: "support vector regression with a tube of fixed width",
    formula: "min ½‖w‖² + C Σ max(0, |z_i − f(x_i)| − ε)",
    learns: Learns::Numbers,
    source: Source::new(&LIBSVM, "§2.4"),
    use_when: "numbers are to be predicted by a sparse rule that outliers cannot pull",
    cost: "As `svc`, for each output.",
    make: || Box::new(Svr::default()),
};
