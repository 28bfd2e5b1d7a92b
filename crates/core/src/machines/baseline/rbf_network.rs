//! Classification by a network of radial basis functions.

use super::net::{NetOptions, NetProblem, TrainedNet};
use super::table::{Table, shares};
use crate::data::Numbers;
use crate::machines::multiclass::{OneVsRest, Reduction};
use crate::machines::regress::ridge::targets;
use crate::machines::{
    Coefficients, Ensemble, Expansion, FitError, Fitted, Learns, Machine, MachineEntry, Order, Readout, Reads,
    SolverReport, Task, Traits, WeightedNet,
};
use crate::params::{Params, Visit};
use crate::sources::{RAETSCH, Source};
use crate::watch::Monitor;
use std::cmp::Ordering;

const NAME: &str = "rbf_network";

/// f_c(x) = Σ_k w_kc exp(−‖x − μ_k‖² / 2σ_k²) + b_c with the targets ±1, one class against the rest
///
/// Centres start at k means and are refined with their widths by `steps` of conjugate gradients; output weights are always
/// those of least squares with the penalty ½ λ ‖w‖² beside ½ the mean square. All classes share the centres; two classes are
/// one function. A method for comparisons, on the coordinates of the linear kernel. The report's objective is the sum of
/// both terms.
///
/// # Source
/// Rätsch, Onoda & Müller (2001), Soft margins for AdaBoost, appendix.
///
/// # Use when
/// Another method is to be compared with a classical network on few coordinates.
///
/// # Cost
/// k means, then n k (d + k) multiplications for each step and each look of its line search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RbfNetwork {
    /// Centres, penalty, widths and steps.
    pub net: NetOptions,
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: NAME,
    aliases: &["rbf_net"],
    summary: "a network of radial basis functions with adaptive centres; for comparisons",
    formula: "f_c(x) = Σ_k w_kc exp(−‖x − μ_k‖² / 2σ_k²) + b_c",
    learns: Learns::Classes,
    source: Source::new(&RAETSCH, "appendix on RBF nets"),
    use_when: "another method is to be compared with a classical network on few coordinates",
    cost: "k means, then n k (d + k) multiplications for each step and each look of its line search.",
    make: || Box::new(RbfNetwork::default()),
};

impl Params for RbfNetwork {
    fn visit(&mut self, v: &mut dyn Visit) {
        self.net.visit(v);
    }
}

impl Machine for RbfNetwork {
    fn entry(&self) -> &'static MachineEntry {
        &ENTRY
    }

    fn traits(&self) -> Traits {
        Traits {
            reads: Reads::Features,
            weights: true,
            // k means start at examples that are drawn by their places
            order: Order::Matters,
            regularised_by: &[("lambda", Ordering::Greater)],
            searched: "centres=2|5|10|20, lambda=1e-6..0.01:log3",
            ..Traits::default()
        }
    }

    fn run(&self, task: &Task<'_>, watch: &dyn Monitor) -> Result<Fitted, FitError> {
        let classes = task.classes(NAME)?;
        let rest = OneVsRest::new(&classes);
        train_network((NAME, "svc"), &self.net, task, &rest.whole().signs, rest.readout(), watch)
    }
}

/// One network for all outputs (n × outputs targets).
fn train_network(
    (machine, instead): (&'static str, &'static str),
    options: &NetOptions,
    task: &Task<'_>,
    values: &[f64],
    readout: Readout,
    watch: &dyn Monitor,
) -> Result<Fitted, FitError> {
    // hidden values, plain and weighted, now and at the next point
    let table = Table::of(machine, instead, task, 0)?;
    let hidden = table.n.saturating_mul(options.centres.saturating_add(1)).saturating_mul(32);
    task.budget.check(hidden, "the hidden layer of a network")?;
    let weights = shares(machine, task)?;
    let outputs = readout.outputs();
    let lesson = NetProblem { table: &table, targets: values, outputs, weights: &weights };
    let taught = lesson.learn(options, &mut task.seed.stream("network"), watch);
    let TrainedNet { net, objective, steps, status, .. } =
        taught.map_err(|error| FitError::Solve { machine, error })?;
    let notes = vec![("centres".to_owned(), net.widths.len() as f64)];
    let nets = vec![WeightedNet { output: 0, vote: None, net }];
    let ensemble = Ensemble { width: table.width, used: table.used, nets, ..Ensemble::default() };
    Ok(Fitted::new(
        Expansion { coefficients: Coefficients::Ensemble(ensemble), offsets: vec![0.0; outputs] },
        readout,
        SolverReport {
            status,
            iterations: steps,
            objective: Some(objective),
            storage: "explicit features, no kernel matrix".to_owned(),
            notes,
            ..SolverReport::direct()
        },
    ))
}

/// The same for numbers.
pub(super) fn regress(
    machine: &'static str,
    options: &NetOptions,
    task: &Task<'_>,
    watch: &dyn Monitor,
) -> Result<Fitted, FitError> {
    let Numbers { names, values } = targets(machine, task)?;
    train_network((machine, "ridge"), options, task, &values, Readout::Values { names }, watch)
}
