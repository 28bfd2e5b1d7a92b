//! The linear support vector regressor.

use super::ridge::targets;
use crate::machines::linear::Linear;
use crate::machines::theory::SCALED_BIAS;
use crate::machines::{
    Compresses, ConvexLoss, Cost, FitError, Fitted, Learns, Machine, MachineEntry, Readout, Reads, Task, Theory, Traits,
};
use crate::params::{Choice, Params, Rule, Visit};
use crate::solvers::coordinate_descent::LinearLoss;
use crate::sources::{HO, Source};
use crate::watch::Monitor;
use std::cmp::Ordering;

/// min ½‖w‖² + C Σ max(0, |y_i − ⟨w, x_i⟩| − ε), or the sum of its squares; one problem for each output
///
/// The bias is the weight of a constant feature of value `bias_scale`, and is part of ‖w‖²; a larger value regularises it
/// less. The report's objective is the primal one, summed over the outputs; its note `dual_objective` is the dual one.
///
/// # Source
/// Ho & Lin (2012); solved by `solvers::newton` where the loss is squared and coordinates are few, else by
/// `solvers::coordinate_descent`.
///
/// # Use when
/// Numbers are to be predicted by a linear rule from many examples or coordinates. No kernel value is computed.
///
/// # Cost
/// A pass reads the data once for each output; some tens of passes, and more the larger C is.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearSvr {
    /// C, the price of a loss.
    pub c: f64,
    /// The loss.
    pub loss: InsensitiveLoss,
    /// ε, the error that costs nothing.
    pub epsilon: f64,
    /// The summed violations of a pass, as a part of those of the first, at which passes end.
    pub tolerance: f64,
    /// The most passes, or steps of Newton, of a problem; 0 for no limit.
    pub max_iterations: usize,
    /// True if there is a bias.
    pub bias: bool,
    /// The value of the constant feature that carries the bias.
    pub bias_scale: f64,
}

/// The losses of linear regressors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InsensitiveLoss {
    /// max(0, |y − f| − ε).
    #[default]
    EpsilonInsensitive,
    /// max(0, |y − f| − ε)².
    SquaredEpsilonInsensitive,
}

impl Choice for InsensitiveLoss {
    fn options(&self) -> &'static [&'static str] {
        &["epsilon_insensitive", "squared_epsilon_insensitive"]
    }
    fn get(&self) -> usize {
        *self as usize
    }
    fn set(&mut self, position: usize) {
        *self = if position == 0 { Self::EpsilonInsensitive } else { Self::SquaredEpsilonInsensitive };
    }
}

impl Default for LinearSvr {
    fn default() -> Self {
        Self {
            c: 1.0,
            loss: InsensitiveLoss::EpsilonInsensitive,
            epsilon: 0.1,
            tolerance: 1e-4,
            max_iterations: 1000,
            bias: true,
            bias_scale: 1.0,
        }
    }
}

impl Params for LinearSvr {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.real("c", &mut self.c, Rule::Above(0.0), "price C of a loss");
        v.choice("loss", &mut self.loss, "what an error costs");
        v.real("epsilon", &mut self.epsilon, Rule::AtLeast(0.0), "error ε that costs nothing");
        v.real("tolerance", &mut self.tolerance, Rule::Above(0.0), "violations at the end, as a part of the first");
        v.count("max_iterations", &mut self.max_iterations, Rule::AtLeast(0.0), "most passes, 0 for no limit");
        v.switch("bias", &mut self.bias, "whether there is a bias, the weight of a constant feature");
        v.real("bias_scale", &mut self.bias_scale, Rule::Above(0.0), "value of the constant feature");
    }
}

impl Machine for LinearSvr {
    fn entry(&self) -> &'static MachineEntry {
        &ENTRY
    }

    fn traits(&self) -> Traits {
        let theory = {
            let cost = match self.loss {
                InsensitiveLoss::SquaredEpsilonInsensitive => Cost::SquaredTube { epsilon: self.epsilon },
                InsensitiveLoss::EpsilonInsensitive => Cost::Tube { epsilon: self.epsilon },
            };
            let loss = if self.bias && self.bias_scale != 1.0 {
                Err(SCALED_BIAS)
            } else {
                Ok(ConvexLoss { c: self.c, cost, free_offset: false, scale: 1.0 })
            };
            Theory {
                compression: Compresses::Tube { epsilon: self.epsilon },
                homogeneous: !self.bias,
                loss,
                ..Theory::default()
            }
        };
        Traits {
            reads: Reads::Features,
            weights: true,
            regularised_by: &[("c", Ordering::Less)],
            searched: "c=0.001..100:log6, epsilon=0|0.1|1",
            theory,
            ..Traits::default()
        }
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let y = targets(ENTRY.name, task)?;
        let linear = Linear {
            machine: ENTRY.name,
            instead: "svr",
            task,
            loss: match self.loss {
                InsensitiveLoss::EpsilonInsensitive => LinearLoss::Insensitive(self.epsilon),
                InsensitiveLoss::SquaredEpsilonInsensitive => LinearLoss::SquaredInsensitive(self.epsilon),
            },
            tolerance: self.tolerance,
            max_iterations: self.max_iterations,
            bias: self.bias.then_some(self.bias_scale),
            costs: (0..task.len()).map(|i| self.c * task.weights.map_or(1.0, |w| w[i])).collect(),
        };
        let outputs = y.names.len();
        let column = |k: usize, i: usize| y.values[i * outputs + k];
        let (expansion, report) = linear.solve(outputs, &column, watch)?;
        Ok(Fitted::new(expansion, Readout::Values { names: y.names }, report))
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: "linear_svr",
    aliases: &[],
    summary: "linear support vector regression on explicit features",
    formula: "min ½‖w‖² + C Σ max(0, |y_i − ⟨w, x_i⟩| − ε)",
    learns: Learns::Numbers,
    source: Source::new(&HO, "§3.2, algorithm 4"),
    use_when: "numbers are to be predicted by a linear rule from many examples or coordinates",
    cost: "A pass reads the data once for each output; some tens of passes, and more the larger C is.",
    make: || Box::new(LinearSvr::default()),
};
