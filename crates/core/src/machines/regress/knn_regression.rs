//! The mean of the k nearest neighbours in feature space.

use super::ridge::targets;
use crate::machines::neighbours::{Weighting, look_up};
use crate::machines::{FitError, Fitted, Learns, Machine, MachineEntry, Order, Readout, Task, Tolerates, Traits};
use crate::params::{Params, Rule, Visit};
use crate::sources::{KMPA, Source};
use crate::watch::Monitor;

const NAME: &str = "knn_regression";

/// f(x) = Σ_{i∈N} a_i y_i / Σ_{i∈N} a_i over the k nearest, d²(x, x_i) = κ(x, x) − 2 κ(x, x_i) + κ(x_i, x_i)
///
/// a_i is the weight of the example, and with `weighting = distance` divided by d; examples at distance zero then decide
/// alone. Of equally near examples those that come first are taken. Several targets are averaged at once. Where there are
/// fewer than k examples, all are averaged.
///
/// # Source
/// Shawe-Taylor & Cristianini 2004, §5.1 (distances in feature space).
///
/// # Use when
/// A method without any assumption is wanted to compare with.
///
/// # Cost
/// n kernel values to learn; each prediction takes n more, none stored. The model keeps all examples.
#[derive(Clone, Debug, PartialEq)]
pub struct KnnRegression {
    /// k.
    pub k: usize,
    /// The weighting of the neighbours.
    pub weighting: Weighting,
}

impl Default for KnnRegression {
    fn default() -> Self {
        Self { k: 5, weighting: Weighting::Uniform }
    }
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: NAME,
    aliases: &["knn_regressor"],
    summary: "the mean of the k nearest examples in feature space",
    formula: "d²(x, xᵢ) = κ(x, x) − 2 κ(x, xᵢ) + κ(xᵢ, xᵢ); mean of the k smallest",
    learns: Learns::Numbers,
    source: Source::new(&KMPA, "§5.1"),
    use_when: "a method without assumptions is wanted to compare with",
    cost: "n kernel values to learn; each prediction takes n more, none stored. The model keeps all examples.",
    make: || Box::new(KnnRegression::default()),
};

impl Params for KnnRegression {
    fn visit(&mut self, v: &mut dyn Visit) {
        v.count("k", &mut self.k, Rule::AtLeast(1.0), "number of neighbours that are asked");
        v.choice("weighting", &mut self.weighting, "uniform, or distance: a neighbour counts 1/d");
    }
}

impl Machine for KnnRegression {
    fn entry(&self) -> &'static MachineEntry {
        &ENTRY
    }

    fn traits(&self) -> Traits {
        Traits {
            weights: true,
            // of equally near examples the first is taken
            order: Order::Matters,
            searched: "k=1|3|5|9|15|25",
            tolerates: Tolerates::ConditionallyDefinite,
            ..Traits::default()
        }
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let target = targets(NAME, task)?;
        look_up(NAME, task, (self.k, self.weighting), &target.values, Readout::Values { names: target.names }, watch)
    }
}
