//! Regression by a network of radial basis functions.

use super::net::NetOptions;
use super::rbf_network::regress;
use crate::machines::{FitError, Fitted, Learns, Machine, MachineEntry, Order, Reads, Task, Traits};
use crate::params::{Params, Visit};
use crate::sources::{RAETSCH, Source};
use crate::watch::Monitor;
use std::cmp::Ordering;

const NAME: &str = "rbf_network_regression";

/// f_c(x) = Σ_k w_kc exp(−‖x − μ_k‖² / 2σ_k²) + b_c by least squares
///
/// Centres start at k means and are refined with their widths by `steps` of conjugate gradients; output weights are always
/// those of least squares with the penalty ½ λ ‖w‖² beside ½ the mean square. All targets share the centres. A method for
/// comparisons, on the coordinates of the linear kernel. The report's objective is the sum of both terms.
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
pub struct RbfNetworkRegression {
    /// Centres, penalty, widths and steps.
    pub net: NetOptions,
}

/// The catalogue's entry.
pub(super) static ENTRY: MachineEntry = MachineEntry {
    name: NAME,
    aliases: &["rbf_net_regression"],
    summary: "a network of radial basis functions with adaptive centres that predicts numbers; for comparisons",
    formula: "f_c(x) = Σ_k w_kc exp(−‖x − μ_k‖² / 2σ_k²) + b_c",
    learns: Learns::Numbers,
    source: Source::new(&RAETSCH, "appendix on RBF nets"),
    use_when: "another method is to be compared with a classical network on few coordinates",
    cost: "k means, then n k (d + k) multiplications for each step and each look of its line search.",
    make: || Box::new(RbfNetworkRegression::default()),
};

impl Params for RbfNetworkRegression {
    fn visit(&mut self, v: &mut dyn Visit) {
        self.net.visit(v);
    }
}

impl Machine for RbfNetworkRegression {
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
        regress(NAME, &self.net, task, watch)
    }
}
