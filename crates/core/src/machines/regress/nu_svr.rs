//! ν-support vector regression.

use super::svr::join;
use crate::machines::Fact;
use crate::machines::support::{Effort, Sub, Subs, broke, fill, prove, solve, weights};
use crate::machines::{
    Compresses, Expansion, FitError, Fitted, Learns, Machine, MachineEntry, Readout, Reads, Task, Theory, Tolerates,
    Traits,
};
use crate::params::{Params, Rule, Visit};
use crate::solvers::smo::{Equality, Start};
use crate::sources::{LIBSVM, Source};
use crate::watch::Monitor;
use std::cmp::Ordering;

/// min ½‖w‖² + C (ν Σw_i ε + Σ w_i max(0, |z_i − ⟨w, φ(x_i)⟩ − b| − ε)) over w, b and ε
///
/// # Source
/// Chang & Lin (2011), §2.5: Σα = Σα* = C ν Σw / 2, 0 ≤ α, α* ≤ C w_i. The tube finds its own width, told as `epsilon`;
/// `svr` with that ε gives the same function.
///
/// # Use when
/// The share of examples outside the tube is known better than its width.
///
/// # Cost
/// As `svr`.
#[derive(Clone, Debug, PartialEq)]
pub struct NuSvr {
    /// C, the price of an error beyond the tube.
    pub c: f64,
    /// ν: at least the share of examples outside the tube, at most that of support vectors.
    pub nu: f64,
    /// Sharpness and cost.
    pub effort: Effort,
}

impl Default for NuSvr {
    fn default() -> Self {
        Self { c: 1.0, nu: 0.5, effort: Effort::default() }
    }
}

impl Params for NuSvr {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.real("c", &mut self.c, Rule::Above(0.0), "price C of an error beyond the tube");
        let help = "share ν: at least that outside the tube, at most that of support vectors";
        v.real("nu", &mut self.nu, Rule::AboveUpTo(0.0, 1.0), help);
        self.effort.visit(v);
    }
}

impl Machine for NuSvr {
    fn entry(&self) -> &'static MachineEntry {
        &ENTRY
    }

    fn traits(&self) -> Traits {
        Traits {
            reads: Reads::Rows,
            weights: true,
            tolerates: Tolerates::ConditionallyDefinite,
            regularised_by: &[("c", Ordering::Less)],
            searched: "c=0.1..1000:log5, nu=0.25|0.5|0.75",
            theory: Theory {
                compression: Compresses::Not(
                    "the width of the tube is found with the model from a share of all examples, so a part of them gives another one: svr has a fixed width",
                ),
                loss: Err("the width of the tube is found with the model, so no loss is fixed before: svr has one"),
                outlier_share: Some(self.nu),
                ..Theory::default()
            },
            ..Traits::default()
        }
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let y = task.numbers(ENTRY.name)?;
        let (n, outputs) = (task.len(), y.names.len());
        let weights = weights(task);
        let total: f64 = weights.iter().sum();
        let upper: Vec<f64> = weights.iter().map(|w| self.c * w).collect();
        let shares = fill(&upper, 0.5 * self.c * self.nu * total).unwrap_or_else(|| upper.clone());
        let negative = |values: &[f64]| values.iter().map(|v| -v).collect::<Vec<_>>();
        let make = |k: usize| Sub {
            columns: vec![0..n],
            linear: (0..n).map(|i| y.values[i * outputs + k]).collect(),
            lower: negative(&upper),
            upper: upper.clone(),
            epsilon: 0.0,
            ridge: None,
            equality: Equality::Signs,
            start: Some(Start { plus: shares.clone(), minus: negative(&shares), known: None }),
            folds: None,
        };
        let subs = Subs { sizes: vec![n; outputs], make: &make };
        let solutions = solve(&task.gram, &subs, &self.effort, task, watch).map_err(broke(ENTRY.name))?;
        let (mut gap, mut offsets, mut notes) = (0.0, Vec::new(), Vec::new());
        for (k, solution) in solutions.iter().enumerate() {
            // free α stand at b + ε, free α* at b − ε
            let [high, low] = solution.offsets;
            let (b, epsilon) = (f64::midpoint(low, high), (0.5 * (high - low)).max(0.0));
            let beyond: f64 = (0..n).map(|t| weights[t] * ((solution.state[t] - b).abs() - epsilon).max(0.0)).sum();
            let primal = 0.5 * solution.squared_norm + self.c * (self.nu * total * epsilon + beyond);
            gap += primal + solution.objective;
            offsets.push(b);
            notes.push(Fact::Tube { output: k, outputs }.note(epsilon));
        }
        let (coefficients, support) = join(&solutions);
        let report = prove(&solutions, Some(gap), support, &self.effort, task, notes);
        Ok(Fitted::new(Expansion { coefficients, offsets }, Readout::Values { names: y.names }, report))
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: "nu_svr",
    aliases: &[],
    summary: "support vector regression whose tube finds its own width",
    formula: "min ½‖w‖² + C (ν m ε + Σ max(0, |z_i − f(x_i)| − ε))",
    learns: Learns::Numbers,
    source: Source::new(&LIBSVM, "§2.5"),
    use_when: "the share of examples outside the tube is known better than its width",
    cost: "As `svr`.",
    make: || Box::new(NuSvr::default()),
};
